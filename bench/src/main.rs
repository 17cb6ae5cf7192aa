//! One command for every table.
fn main() {}
