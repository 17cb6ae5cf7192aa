//! Vectors that threads share, read with room for a few elements first: the answer is the same where that is enough, and a limit where it is not.

#[allow(dead_code)]
#[path = "../../lower/tests/expected/mod.rs"]
mod expected;

use palisade_check::{Criterion, Model, check};
use palisade_lang::{Program, Source};

fn read(pushes: u32, few_elements: bool) -> Program {
    let text = format!(
        "use std::sync::Mutex;\n\
         static ALL: Mutex<Vec<u32>> = Mutex::new(Vec::new());\n\
         fn main() {{\n\
             let other = std::thread::spawn(|| {{ for n in 0..{pushes} {{ ALL.lock().unwrap().push(n); }} }});\n\
             ALL.lock().unwrap().push(7);\n\
             other.join().unwrap();\n\
             assert_eq!(ALL.lock().unwrap().len(), {pushes} + 1);\n\
         }}\n"
    );
    read_text(&text, few_elements)
}

fn read_text(text: &str, few_elements: bool) -> Program {
    let file = tempfile::Builder::new().suffix(".rs").tempfile();
    let file = file.expect("a scratch file");
    std::fs::write(file.path(), text).expect("a scratch file that can be written");
    let options = palisade_rust::Options {
        few_elements,
        ..palisade_rust::Options::default()
    };
    let source = Source::new(&*file.path().to_string_lossy(), text);
    let loaded = palisade_rust::load(file.path(), &source, &options);
    let loaded = loaded.unwrap_or_else(|not| panic!("{:?}", not.diagnostics));
    palisade_rust::together(loaded.programs)
}

fn verdict(program: &Program) -> String {
    expected::ask(check, program, Model::C20, Criterion::Safe)
}

#[test]
fn few_elements_are_enough_where_few_are_pushed() {
    let compiler = palisade_rust::compile::Compiler::default();
    if palisade_rust::compile::version(&compiler).is_none() {
        palisade_testkit::skipped("Rust compiler");
        return;
    }
    let (few, all) = (read(1, true), read(1, false));
    assert_eq!(verdict(&few), "holds");
    let points = |program: &Program| -> usize {
        let threads = program.threads.iter();
        threads.map(|thread| thread.transitions.len()).sum()
    };
    assert!(points(&few) * 3 < points(&all), "the program is no smaller");
    let few = read(4, true);
    assert_eq!(verdict(&few), "unknown");
    let limits = |program: &Program| {
        let mut bounds = program.bounds.iter();
        bounds.any(|bound| palisade_rust::is_too_few(&bound.message))
    };
    assert!(limits(&few) && !limits(&all));
}
