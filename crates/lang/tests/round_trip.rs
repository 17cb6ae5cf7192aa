//! What is printed and read again is the same program; and no text makes a parser panic.

mod common;

use std::path::{Path, PathBuf};

use common::{Random, random_program};
use palisade_lang::print::to_pal;
use palisade_lang::{Expr, Op, ParseOptions, Program, Source, parse, same_program};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files with this extension below a directory.
fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![directory.to_path_buf()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(name: &str, text: &str) -> Program {
    let source = Source::new(name, text);
    match parse(&source, &ParseOptions::default()) {
        Ok(parsed) => parsed.program,
        Err(errors) => {
            let messages: Vec<String> = errors
                .iter()
                .map(|e| format!("{}: {}", source.line_column(e.span.start), e.message))
                .collect();
            panic!("{name}:\n{}\n{text}", messages.join("\n"));
        }
    }
}

/// What `program.rs` promises about every program.
fn assert_well_formed(name: &str, program: &Program) {
    for thread in &program.threads {
        assert!(
            thread.transitions.is_sorted_by_key(|t| t.from),
            "{name}: transitions are sorted"
        );
        assert!(
            !thread.points[thread.initial.index()].atomic,
            "{name}: threads begin outside"
        );
        for transition in &thread.transitions {
            let from = &thread.points[transition.from.index()];
            let to = &thread.points[transition.to.index()];
            let expected = match transition.op {
                Op::AtomicBegin => (false, true),
                Op::AtomicEnd => (true, false),
                _ => (from.atomic, from.atomic),
            };
            assert_eq!((from.atomic, to.atomic), expected, "{name}: {transition:?}");
            if transition.op == Op::Jump {
                let alone = thread.outgoing(transition.from).len() == 1;
                assert!(alone, "{name}: nothing else leaves from a jump");
                let labelled = thread
                    .labels
                    .iter()
                    .any(|l| l.points.contains(&transition.from));
                assert!(!labelled, "{name}: nobody stands at a jump");
            }
            for operand in transition.op.operands() {
                assert!(height(operand) <= palisade_lang::expr::MAX_HEIGHT);
            }
        }
        for point in 0..thread.points.len() as u32 {
            let mut behind = palisade_lang::PointId(point);
            for _ in 0..=thread.points.len() {
                match thread.outgoing(behind) {
                    [only] if only.op == Op::Jump => behind = only.to,
                    _ => break,
                }
            }
            let ends = thread.outgoing(behind).first().map(|t| &t.op) != Some(&Op::Jump);
            assert!(ends, "{name}: jumps form no circle");
        }
        for point in &thread.points {
            assert!(
                !point.atomic || point.place.is_none(),
                "{name}: no fence inside"
            );
            assert!(point.place.is_none_or(|p| p.index() < program.places.len()));
        }
    }
}

fn height<A>(expr: &Expr<A>) -> usize {
    1 + match expr {
        Expr::Const(_) | Expr::Atom(_) => 0,
        Expr::Unary(_, operand) => height(operand),
        Expr::Binary(_, left, right) => height(left).max(height(right)),
        Expr::Element { index, .. } => height(index),
    }
}

fn assert_round_trip(name: &str, program: &Program) {
    assert_well_formed(name, program);
    let printed = to_pal(program);
    let again = read("printed.pal", &printed);
    if let Err(difference) = same_program(program, &again) {
        panic!(
            "{name}: {difference}\n{}\n---\n{printed}",
            program.source.text()
        );
    }
    // Printing what was printed changes nothing that a program is.
    let twice = read("printed.pal", &to_pal(&again));
    if let Err(difference) = same_program(&again, &twice) {
        panic!("{name}, the second time: {difference}\n{printed}");
    }
}

#[test]
fn random_programs() {
    for seed in 0..1500 {
        let text = random_program(&mut Random::new(seed));
        assert_round_trip(&format!("seed {seed}"), &read("random.pal", &text));
    }
}

#[test]
fn fenced_programs() {
    for seed in 0..200 {
        let text = random_program(&mut Random::new(seed));
        let program = read("random.pal", &text);
        let places: Vec<_> = (0..program.places.len() as u32)
            .step_by(3)
            .map(palisade_lang::PlaceId)
            .collect();
        assert_round_trip(&format!("seed {seed}"), &program.with_fences(&places));
    }
}

#[test]
fn bundled_programs() {
    for path in files(&workspace().join("programs"), "pal") {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).expect("a readable file");
        assert_round_trip(&name, &read(&name, &text));
    }
}

#[test]
fn programs_of_the_corpus() {
    let Some(corpus) = palisade_testkit::corpus_dir() else {
        return;
    };
    for (directory, extension) in [
        ("trencher", "txt"),
        ("persist", "txt"),
        ("rocker", "tpl"),
        ("litmus", "litmus"),
    ] {
        for path in files(&corpus.join(directory), extension) {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(&path).expect("a readable file");
            assert_round_trip(&name, &read(&name, &text));
        }
    }
}

/// Addresses that are no addresses of `.pal`: computed ones keep their values.
#[test]
fn automata_with_pointers() {
    for addresses in ["0 1 2", "3 4 5", "0 7 9", "1 2 3"] {
        let [a, b, c]: [&str; 3] = addresses
            .split(' ')
            .collect::<Vec<_>>()
            .try_into()
            .expect("three");
        let text = format!(
            "thread p\ninitial q0\ntransition q0 q1 local r {b}\ntransition q1 q2 write {a} r\ntransition q2 q3 read s r\n\
             transition q3 q4 write 1 s\ntransition q3 q5 check == r {c}\ntransition q3 q0 check == r {b}\ntransition q4 q6 lock\n\
             transition q6 q7 write r {c}\ntransition q7 q8 unlock\ntransition q6 q9 unlock\nend\n"
        );
        assert_round_trip(addresses, &read("automaton.txt", &text));
    }
}

#[test]
fn differences_are_seen() {
    let text = "shared x, y; thread t { let r = x; if r == 1 { y = 2; } atomic { x = 1; } l: skip; } never t@l && t.r == 1;";
    let program = read("a.pal", text);
    for (from, to) in [
        ("= x", "= y"),
        ("r == 1 {", "r == 2 {"),
        ("y = 2", "y = 3"),
        ("y = 2", "x = 2"),
        ("atomic", ""),
        ("x = 1", "x.store(1, relaxed)"),
        ("l: skip", "skip; fence; l: skip"),
        ("t@l", "t@end"),
        ("t.r == 1", "t.r == 2"),
        ("x, y", "x, y = 1"),
        ("thread t", "thread t[1]"),
        ("t@l &&", "t@l ||"),
        ("{ y = 2; }", "{ } else { y = 2; }"),
        ("skip; }", "skip; fence; }"),
        ("shared x, y;", "domain 7; shared x, y;"),
    ] {
        let changed = text.replacen(from, to, 1);
        let changed = match to {
            "thread t[1]" => changed.replace("t@l", "t[0]@l").replace("t.r", "t[0].r"),
            _ => changed,
        };
        let other = read("b.pal", &changed);
        assert!(same_program(&program, &other).is_err(), "{from} → {to}");
    }
    let same = "shared x, y; thread t { let q; q = x; skip; if (q) == 1 { y = 2; goto m; } m: atomic { { x = 1; } } l: { } }
         never t@l && t.q == 1;";
    assert_eq!(same_program(&program, &read("c.pal", same)), Ok(()));
}

/// A fence at a place is the fence that is written there: before the statement and behind its labels, or before the closing brace.
#[test]
fn fences_written_into_the_text() {
    let mut written = 0;
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let text = random_program(&mut random);
        let mut program = read("random.pal", &text);
        // A `never` would see that a label is now before the fence, and no longer behind it.
        program.nevers.clear();
        let text = text.split("never").next().unwrap_or("");
        let mut places = Vec::new();
        let mut offsets = Vec::new();
        for (index, place) in program.places.iter().enumerate() {
            let statement = program.source.slice(place.span);
            // Functions may be called in `atomic` blocks, where no fence can be; and `let r;` at the beginning need not set anything.
            let unclear = place.thread.is_none() && text.contains("atomic");
            if !unclear && !statement.starts_with("let") && random.chance(30) {
                places.push(palisade_lang::PlaceId(index as u32));
                offsets.push(place.span.start as usize);
            }
        }
        written += places.len();
        let mut fenced = text.to_string();
        offsets.sort_unstable();
        for offset in offsets.into_iter().rev() {
            fenced.insert_str(offset, "fence; ");
        }
        let other = read("fenced.pal", &fenced);
        if let Err(difference) = same_program(&program.with_fences(&places), &other) {
            panic!("seed {seed}: {difference}\n{fenced}");
        }
    }
    assert!(written > 500, "{written}");
}

/// Bytes changed at random, pieces cut out or doubled: errors, or a program that can be printed again, but never a panic.
#[test]
fn damaged_texts() {
    let mut read_well = 0;
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let mut bytes = random_program(&mut random).into_bytes();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            match random.below(6) {
                0 => bytes[at] = random.below(256) as u8,
                1 => {
                    let end = (at + random.below(30)).min(bytes.len());
                    bytes.drain(at..end);
                }
                2 => bytes.truncate(at),
                3 => {
                    let sign = random.pick(&[
                        "{",
                        "}",
                        "(",
                        ")",
                        ";",
                        "[",
                        "]",
                        "*",
                        "&",
                        "=",
                        "==",
                        "\0",
                        "/*",
                        "//",
                        "é",
                        "\r\n",
                        "thread",
                        "atomic {",
                        "never",
                        "goto l0;",
                        "@",
                        ".",
                        "9999999999999999999",
                    ]);
                    bytes.splice(at..at, sign.bytes());
                }
                4 => {
                    let end = (at + random.below(60)).min(bytes.len());
                    let piece = bytes[at..end].to_vec();
                    let to = random.below(bytes.len());
                    bytes.splice(to..to, piece);
                }
                _ => {
                    let other = random.below(bytes.len());
                    bytes.swap(at, other);
                }
            }
            if bytes.is_empty() {
                bytes.push(b'x');
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let source = Source::new("damaged.pal", text);
        match parse(&source, &ParseOptions::default()) {
            Ok(parsed) => {
                read_well += 1;
                assert_round_trip(&format!("seed {seed}"), &parsed.program);
            }
            Err(errors) => {
                assert!(!errors.is_empty());
                for error in errors {
                    assert!(error.span.start <= error.span.end);
                    assert!(error.span.end as usize <= source.text().len());
                    assert!(!error.message.is_empty());
                }
            }
        }
    }
    assert!(read_well > 30, "{read_well}");
}
