//! The first byte says what is tried (a criterion against brute force, reductions, jobs, the instrumented program), the others are the seed of a random
//! program.
#![no_main]

#[allow(dead_code)]
#[path = "../../crates/testkit/examples/soak/bodies.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|input: (u8, u64)| {
    let (which, seed) = input;
    let name = bodies::ALL[usize::from(which) % bodies::ALL.len()];
    let Some((shape, trial)) = bodies::trial(name) else {
        return;
    };
    let text = palisade_testkit::random_sketch(seed, &shape).to_string();
    if let Some(program) = palisade_testkit::parse(&text)
        && let Err(bodies::Mistake::Wrong(mistake)) = trial(&program)
    {
        panic!("{name}: {mistake}\n{text}");
    }
});
