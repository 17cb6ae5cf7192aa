//! Any text in any language: no panic, and what is printed and read again is the same program.
#![no_main]

#[allow(dead_code)]
#[path = "../../crates/testkit/examples/soak/bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Err(bodies::Mistake::Wrong(mistake)) = bodies::parsers(text) {
        panic!("{mistake}");
    }
});
