//! Locations have the user's names: what an `Arc` shares is called by its type, and the counts beside it say that they are counts.

use palisade_lang::Source;

const SHARED: &str = "use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
struct Mailbox { state: AtomicU8 }
fn main() {
    let first = Arc::new(Mailbox { state: AtomicU8::new(0) });
    let second = first.clone();
    std::thread::spawn(move || second.state.store(1, Relaxed));
    first.state.load(Relaxed);
}
";

#[test]
fn what_an_arc_shares_is_called_by_its_type() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("names.rs");
    std::fs::write(&path, SHARED).expect("it can be written");
    let source = Source::new(path.to_string_lossy(), SHARED);
    let loaded = match palisade_rust::load(&path, &source, &palisade_rust::Options::default()) {
        Ok(loaded) => loaded,
        Err(not) if not.diagnostics[0].message.contains("cannot be run") => {
            palisade_testkit::skipped("Rust compiler");
            return;
        }
        Err(not) => panic!("{:?}", not.diagnostics),
    };
    let locations = &loaded.programs[0].1.locations;
    let names: Vec<&str> = locations.iter().map(|l| l.name.as_str()).collect();
    assert!(names.contains(&"Mailbox_state"), "{names:?}");
    assert!(names.contains(&"Mailbox_strong"), "{names:?}");
    assert!(
        !names.iter().any(|name| name.contains("Inner")),
        "{names:?}"
    );
}
