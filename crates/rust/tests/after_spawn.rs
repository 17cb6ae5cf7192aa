//! What the first thread does to a static after it has spawned another is an instruction, not an initial value.

use palisade_lang::{Op, Source};

const RACE: &str = "static mut NUMBER: u32 = 0;
fn main() {
    let t = std::thread::spawn(|| unsafe { NUMBER = 1 });
    unsafe { NUMBER = 2 };
    t.join().unwrap();
}
";

#[test]
fn a_store_after_a_spawn_is_a_store() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("race.rs");
    std::fs::write(&path, RACE).expect("it can be written");
    let source = Source::new(path.to_string_lossy(), RACE);
    let loaded = match palisade_rust::load(&path, &source, &palisade_rust::Options::default()) {
        Ok(loaded) => loaded,
        Err(not) if not.diagnostics[0].message.contains("cannot be run") => {
            palisade_testkit::skipped("Rust compiler");
            return;
        }
        Err(not) => panic!("{:?}", not.diagnostics),
    };
    let program = &loaded.programs[0].1;
    let number = program
        .locations
        .iter()
        .find(|l| l.name == "NUMBER")
        .expect("the static");
    assert_eq!(number.initial, 0);
    let stores = program.threads.iter().map(|thread| {
        let is_store = |op: &Op| matches!(op, Op::Store { .. });
        thread.transitions.iter().any(|t| is_store(&t.op))
    });
    assert_eq!(stores.collect::<Vec<_>>(), [true, true]);
}
