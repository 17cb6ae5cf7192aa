//! The backward search on its own: with a forward walk that tells little apart, it has to find out everything itself.

use std::sync::atomic::AtomicBool;

use palisade_certificate::{Claim, Header, Locations, Proof, Reader, Sorter, encode, write};
use palisade_lang::{LocationId, Program, RegisterId};
use palisade_testkit::{Shape, oracle, program};
use palisade_threads::{LocalId, Status};

use super::*;
use crate::{Criterion, Model, Reductions, Route};

mod copies;

static NEVER: AtomicBool = AtomicBool::new(false);
const CONTROL: Control<'static> = Control {
    cancel: &NEVER,
    progress: &|_| {},
};

const ASKED: palisade_validate::Asked = palisade_validate::Asked {
    model: Model::Tso,
    criterion: Criterion::Safe,
    locations: Locations::Declared,
};

/// Whether the program is safe, and by how many minimal configurations.
fn decide(program: &Program, options: &Options, detail: Detail) -> (Option<bool>, usize) {
    let mut context = Context::new(program, options, &CONTROL);
    // As it is asked for elsewhere, with values by class.
    let by_class = OnceCell::new();
    let mut dual = match detail {
        Detail::Needed => Dual::new(&context, &by_class),
        _ => Dual::with_detail(&context, program, detail),
    };
    let Round::Decided(answer) = dual.round(&mut context, u64::MAX) else {
        return (None, 0);
    };
    for witness in &answer.witnesses {
        if let Err(invalid) = palisade_validate::validate(program, witness) {
            panic!("{invalid:?}\n{witness:#?}\n{}", program.source.text());
        }
    }
    let minimal = dual.backward.as_ref().map_or(0, |b| b.minimal().count());
    match answer.verdict {
        Verdict::Holds => (Some(true), minimal),
        Verdict::Violated => (Some(false), minimal),
        Verdict::Unknown(_) => (None, minimal),
    }
}

fn options() -> Options {
    Options {
        most_states: Some(100_000),
        ..Options::new(Model::Tso, Criterion::Safe)
    }
}

/// Stores and loads without much between them, so that the order of stores matters.
const LOOP_FREE: Shape = Shape {
    accesses: 7,
    nonatomic: false,
    store_buffering: 15,
    locked: 12,
    ..Shape::TSO
};
const LOOPING: Shape = Shape {
    loops: true,
    threads: (2, 3),
    ..LOOP_FREE
};

/// Random programs, each with a `never` that forbids something that the forward walk with little detail takes for possible: some are, many are not.
fn with_plausible_nevers(shape: &Shape, seeds: std::ops::Range<u64>) -> Vec<Program> {
    let options = Options {
        reductions: Reductions::NONE,
        ..options()
    };
    let mut programs = Vec::new();
    for seed in seeds {
        let text = palisade_testkit::random_sketch(seed, shape).to_string();
        let base = program(&text);
        let context = Context::new(&base, &options, &CONTROL);
        let mut dual = Dual::with_detail(&context, &base, Detail::Little);
        let Dual {
            frame, overview, ..
        } = &mut dual;
        if overview.walk(frame, 20_000, &mut |_, _| None).is_err() || !overview.is_complete() {
            continue;
        }
        let mut view = frame.threads.view();
        let nodes: Vec<u32> = (0..overview.nodes() as u32)
            .filter(|&node| {
                let row = overview.row(node);
                let ended =
                    |i: usize| view.status(frame.codes[i], LocalId(row[i])) == Status::Ended;
                shape.loops || (0..frame.thread_count()).all(ended)
            })
            .collect();
        for part in 0..4 {
            let Some(&node) =
                nodes.get((seed as usize * 7919 + part * nodes.len() / 4) % nodes.len().max(1))
            else {
                continue;
            };
            let row = overview.row(node);
            let mut condition = "1".to_owned();
            for (at, instance) in frame.threads.instances().iter().enumerate() {
                let (code, local) = (frame.codes[at], LocalId(row[at]));
                let (name, thread) = (&instance.name, base.thread(instance.thread));
                if view.status(code, local) == Status::Ended {
                    condition += &format!(" && {name}@end");
                }
                for (number, register) in thread.registers.iter().enumerate() {
                    let value = view.register(code, local, RegisterId(number as u32));
                    if let Some(register @ ("r0" | "r1")) = register.name.as_deref() {
                        condition += &format!(" && {name}.{register} == {value}");
                    }
                }
            }
            for (at, location) in base.locations.iter().enumerate() {
                let value = view.value(row[frame.component(LocationId(at as u32))]);
                condition += &format!(" && {} == {value}", location.name);
            }
            programs.push(program(&format!("{text}never {condition};\n")));
        }
    }
    programs
}

/// Each program must be decided as by brute force, and most of those that are safe by a basis: otherwise this tests little.
#[test]
fn it_agrees_with_brute_force() {
    let plain = Options {
        reductions: Reductions::NONE,
        ..options()
    };
    let (mut safe, mut by_basis, mut violated) = (0, 0, 0);
    for program in with_plausible_nevers(&LOOP_FREE, 0..3_000) {
        let Some(expected) = oracle::tso_safe(&program) else {
            continue;
        };
        let text = program.source.text();
        for (options, detail) in [
            (&options(), Detail::Needed),
            (&options(), Detail::Little),
            (&plain, Detail::All),
        ] {
            let (found, minimal) = decide(&program, options, detail);
            assert_eq!(found, Some(expected), "{detail:?}\n{text}");
            by_basis += usize::from(expected && minimal > 0 && detail == Detail::Little);
        }
        safe += usize::from(expected);
        violated += usize::from(!expected);
    }
    println!("{safe} safe, {by_basis} by a basis, {violated} violated");
    assert!(by_basis > 500 && violated > 1_000);
}

#[test]
fn what_is_found_with_little_detail_is_found_with_more() {
    let (mut by_basis, mut violated) = (0, 0);
    for program in with_plausible_nevers(&LOOPING, 0..600) {
        let (found, minimal) = decide(&program, &options(), Detail::Little);
        let (expected, _) = decide(&program, &options(), Detail::Needed);
        let (Some(found), Some(expected)) = (found, expected) else {
            continue;
        };
        assert_eq!(found, expected, "{}", program.source.text());
        // Other ways may see it, too.
        let forward = Options {
            route: Route::Buffers,
            most_states: Some(5_000),
            ..options()
        };
        let answer = super::super::check(&program, &forward, &CONTROL);
        let contradicts = match answer.verdict {
            Verdict::Holds => !found,
            Verdict::Violated => found,
            Verdict::Unknown(_) => false,
        };
        assert!(!contradicts, "{}", program.source.text());
        by_basis += usize::from(found && minimal > 0);
        violated += usize::from(!found);
    }
    println!("{by_basis} safe by a basis, {violated} violated");
    assert!(by_basis > 40 && violated > 100);
}

/// What is found by it alone is a certificate, too, and its basis is needed.
#[test]
fn its_configurations_are_a_certificate() {
    let options = Options {
        reductions: Reductions {
            dead_registers: true,
            ..Reductions::NONE
        },
        ..options()
    };
    let claim = Claim {
        proof: Proof::LoadBuffers,
        ..Claim::new(Model::Tso, Criterion::Safe)
    };
    let mut programs = with_plausible_nevers(&LOOP_FREE, 0..900);
    programs.extend(with_plausible_nevers(&LOOPING, 0..200));
    let (mut valid, mut with_basis) = (0, 0);
    for (number, program) in programs.iter().enumerate() {
        let text = program.source.text();
        let context = Context::new(program, &options, &CONTROL);
        let dual = Dual::with_detail(&context, program, [Detail::All, Detail::Little][number % 2]);
        let (mut nodes, mut minimal) = (Vec::new(), Vec::new());
        let written = put_states(&context, dual, &mut |numbers| {
            let mut bytes = Vec::new();
            encode(numbers, &mut bytes);
            match numbers[0] {
                0 => nodes.push(bytes),
                _ => minimal.push(bytes),
            }
            Ok(())
        });
        if written.is_err() {
            continue;
        }
        let judged = |minimal: &[Vec<u8>]| {
            let mut sorter = Sorter::default();
            for state in nodes.iter().chain(minimal) {
                sorter.push(state).unwrap();
            }
            let mut file = Vec::new();
            let header = Header::new(program, claim);
            write(&header, &mut sorter.finish().unwrap(), &mut file).unwrap();
            palisade_validate::validate_certificate(program, ASKED, || Reader::new(&file[..]))
        };
        let whole = judged(&minimal);
        assert!(whole.is_ok(), "{whole:?}\n{text}");
        valid += 1;
        if !minimal.is_empty() {
            with_basis += 1;
            assert!(judged(&[]).is_err(), "{text}");
        }
    }
    println!("{valid} valid, {with_basis} with a basis");
    assert!(valid > 200 && with_basis > 100);
}

/// Shapes in which the order of messages matters, so that sets of them say too little.
#[test]
fn what_tso_keeps_in_order() {
    for (text, safe) in [
        (
            "shared x, y; thread a { x = 1; y = 1; } thread b { let r = y; let s = x; }
             never b@end && b.r == 1 && b.s == 0;",
            true,
        ),
        (
            "shared x, y; thread a { let r = y; x = 1; } thread b { let s = x; y = 1; }
             never a@end && b@end && a.r == 1 && b.s == 1;",
            true,
        ),
        (
            "shared x, y; thread a { x = 1; } thread b { y = 1; }
             thread c { let r = x; let s = y; } thread d { let t = y; let u = x; }
             never c@end && d@end && c.r == 1 && c.s == 0 && d.t == 1 && d.u == 0;",
            true,
        ),
        (
            "shared x; thread a { x = 1; x = 2; } thread b { let r = x; let s = x; }
             never b@end && b.r == 2 && b.s == 1;",
            true,
        ),
        (
            "shared x, y; thread a { x = 1; let r = x; let s = y; } thread b { y = 1; let t = y; let u = x; }
             never a@end && b@end && a.r == 1 && a.s == 0 && b.t == 1 && b.u == 0;",
            false,
        ),
        (
            "shared x, y; thread a { loop { x = 1; y = 1; wait(y == 0); x = 0; } }
             thread b { let r; loop { wait(y == 1); r = x; assert r == 1; y = 0; } }",
            true,
        ),
    ] {
        let program = program(text);
        for detail in [Detail::Needed, Detail::All, Detail::Little] {
            let (found, minimal) = decide(&program, &options(), detail);
            assert_eq!(found, Some(safe), "{detail:?}: {text}");
            println!("{detail:?}: {minimal} minimal configurations: {text}");
        }
    }
}
