//! The SC walk with monitors for all threads and locations at once, as the paper has it: SCM (Figures 5 and 6) is in `monitor`, the walk in
//! `search` and `expand`, what is looked for (Theorems 5.3 and 6.2) in `theorem`, what can be forgotten in `outlook`.

mod bases;
mod expand;
pub mod monitor;
mod outlook;
mod queue;
pub mod search;
mod table;
pub mod theorem;
