//! Shows what the machine makes of a Rust file: failures with their reasons, and how large the threads are.

use palisade_lang::Source;
use palisade_rust::run::build::Instruction;

fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let source = Source::new(path.clone(), text);
        let mut options = palisade_rust::Options::default();
        if let Ok(edition) = std::env::var("EDITION") {
            options.compiler.edition = edition;
        }
        match palisade_rust::executions(path.as_ref(), &source, &options, |name, execution| {
            for automaton in &execution.automata {
                println!(
                    "{name}: thread {}: {} points",
                    automaton.thread, automaton.points
                );
                if std::env::var_os("LINES").is_some() {
                    let mut by_line = std::collections::BTreeMap::new();
                    for edge in &automaton.edges {
                        let place = edge
                            .spans
                            .iter()
                            .map(|s| {
                                format!("{}:{}", s.file.rsplit('/').next().unwrap_or(""), s.start.0)
                            })
                            .collect::<Vec<_>>()
                            .join(" < ");
                        *by_line.entry(place).or_insert(0) += 1;
                    }
                    let mut lines: Vec<_> = by_line.into_iter().collect();
                    lines.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
                    for (place, count) in lines.iter().take(30) {
                        println!("  {count} edges at {place}");
                    }
                }
                for edge in &automaton.edges {
                    if std::env::var_os("EDGES").is_some() {
                        println!("  {} -> {}: {:?}", edge.from, edge.to, edge.instruction);
                    }
                    if let Instruction::Fail(message) = &edge.instruction {
                        let place = edge.spans.iter().find(|s| !s.file.is_empty());
                        println!("  may fail: {message} {place:?}");
                    }
                }
            }
        }) {
            Ok(()) => {}
            Err(found) => println!("{path}: {found:?}"),
        }
    }
}
