//! Random Rust programs, translated with states as one that differ only in which register holds which number or in memory that nothing points to, and
//! without that: the verdicts must be the same.
//!
//! `MERGING_PROGRAMS` says how many programs, and `MERGING_SEED` where to begin.

use palisade_check::{Control, Criterion, Model, Options, Verdict, check};
use palisade_lang::{Program, Source};
use palisade_rust::run::build::Merging;
use std::fmt::Write;
use std::time::Duration;

/// So many programs are tests of one file: the compiler runs twice for all of them.
const IN_ONE_FILE: u64 = 30;
const USUALLY: u64 = 60;
const FIRST_SEED: u64 = 1;

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    fn of<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }

    fn chance(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }
}

const BEGINNING: &str = "#![allow(unused)]
use std::cell::UnsafeCell;
use std::mem::swap;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering::*, fence};
use std::thread;
struct Shared {
    a: AtomicU8,
    b: AtomicU8,
    cell: UnsafeCell<u8>,
    slot: AtomicPtr<u8>,
}
unsafe impl Sync for Shared {}
unsafe impl Send for Shared {}
fn shared() -> Arc<Shared> {
    Arc::new(Shared { a: AtomicU8::new(0), b: AtomicU8::new(1), cell: UnsafeCell::new(0), slot: AtomicPtr::new(null_mut()) })
}
struct Pair {
    left: u8,
    right: u8,
}
fn later(n: u8, by: u8) -> u8 {
    let old = n;
    if by == 0 { old } else { (old + by) & 3 }
}
";

const LOADS: [&str; 3] = ["Relaxed", "Acquire", "SeqCst"];
const STORES: [&str; 3] = ["Relaxed", "Release", "SeqCst"];
const UPDATES: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
const NUMBERS: [&str; 3] = ["x", "y", "z"];
/// Places of a thread's own that hold numbers.
const PLACES: [&str; 9] = [
    "x",
    "y",
    "z",
    "x",
    "*first",
    "*second",
    "**nested",
    "pair.left",
    "array[1]",
];

struct Writer {
    random: Random,
    text: String,
    /// Whether threads use the plain cell, or the pointer.
    cell: bool,
    slot: bool,
    loops: u32,
}

impl Writer {
    fn number(&mut self) -> String {
        let place = self.random.of(&PLACES);
        match self.random.below(6) {
            0 => self.random.below(4).to_string(),
            1 => format!("({place} + {}) & 3", 1 + self.random.below(3)),
            2 => format!("{place} ^ {}", self.random.of(&NUMBERS)),
            3 => format!("later({place}, {})", self.random.of(&["0", "1", "y", "2"])),
            _ => place.to_owned(),
        }
    }

    fn condition(&mut self) -> String {
        let place = self.random.of(&PLACES);
        match self.random.below(4) {
            0 => format!("{place} < {}", self.random.of(&NUMBERS)),
            1 => format!("{place} == {}", self.random.of(&PLACES)),
            _ => format!("{place} == {}", self.random.below(3)),
        }
    }

    fn atomic(&mut self) -> &'static str {
        self.random.of(&["shared.a", "shared.b"])
    }

    fn line(&mut self, depth: usize, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "    ".repeat(depth + 1));
    }

    fn statements(&mut self, count: u64, depth: usize) {
        for _ in 0..count {
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        let place = self.random.of(&PLACES);
        let atomic = self.atomic();
        let number = self.number();
        let line = match self.random.below(26) {
            0..=3 => format!("{place} = {atomic}.load({});", self.random.of(&LOADS)),
            4..=6 => format!("{atomic}.store({number}, {});", self.random.of(&STORES)),
            7 => {
                let how = self
                    .random
                    .of(&["swap", "fetch_or", "fetch_xor", "fetch_max"]);
                let order = self.random.of(&UPDATES);
                format!("{place} = {atomic}.{how}({number}, {order});")
            }
            8 => {
                let (success, failure) = (self.random.of(&UPDATES), self.random.of(&LOADS));
                let other = self.number();
                format!(
                    "{place} = match {atomic}.compare_exchange({number}, {other}, {success}, {failure}) {{ Ok(n) => n, Err(n) => n ^ 1 }};"
                )
            }
            9 => format!("{place} = {number};"),
            10 => self
                .random
                .of(&[
                    "swap(&mut x, &mut y);",
                    "(x, y, z) = (y, z, x);",
                    "swap(&mut *first, &mut z);",
                ])
                .to_owned(),
            11 => self
                .random
                .of(&[
                    "swap(&mut first, &mut second);",
                    "first = Box::new(x);",
                    "second = first.clone();",
                    "first = Box::new(*second);",
                    "pair = Pair { left: y, right: pair.left };",
                    "std::mem::forget(std::mem::replace(&mut first, Box::new(z)));",
                    "array.swap(0, 1);",
                    "swap(&mut *nested, &mut second);",
                    "nested = Box::new(Box::new(z));",
                    "kept = if x == 0 { None } else { Some(Box::new(y)) };",
                    "if let Some(number) = kept.take() { z = *number; }",
                ])
                .to_owned(),
            12 => format!("fence({});", self.random.of(&UPDATES[1..])),
            13..=14 if depth < 2 => {
                let condition = self.condition();
                self.line(depth, &format!("if {condition} {{"));
                let count = 1 + self.random.below(2);
                self.statements(count, depth + 1);
                if self.random.chance(2) {
                    self.line(depth, "} else {");
                    self.statements(1, depth + 1);
                }
                "}".to_owned()
            }
            15..=16 if depth < 2 => {
                self.loops += 1;
                let counter = format!("i{}", self.loops);
                self.line(depth, &format!("let mut {counter} = 0u8;"));
                let head = match self.random.below(4) {
                    0 => format!("while {atomic}.load({}) != 1 {{", self.random.of(&LOADS)),
                    1 => format!("while {counter} < 2 && {} {{", self.condition()),
                    _ => format!("while {counter} < 2 {{"),
                };
                self.line(depth, &head);
                let count = 1 + self.random.below(2);
                self.statements(count, depth + 1);
                // Without a counter, the loop comes back to where it was only if what it carries does.
                if !head.contains("load") {
                    self.line(depth, &format!("    {counter} += 1;"));
                }
                "}".to_owned()
            }
            17 if self.cell => match self.random.below(3) {
                0 => "unsafe { *shared.cell.get() = x };".to_owned(),
                1 => "y = unsafe { *shared.cell.get() };".to_owned(),
                _ => format!(
                    "if {atomic}.load(Acquire) == {} {{ z = unsafe {{ *shared.cell.get() }}; }}",
                    self.random.below(4)
                ),
            },
            18 | 19 if self.slot => {
                let order = self.random.of(&["AcqRel", "AcqRel", "SeqCst", "Relaxed"]);
                format!(
                    "{{ let old = shared.slot.swap(Box::into_raw(Box::new({number})), {order}); if !old.is_null() {{ x = *unsafe {{ Box::from_raw(old) }}; }} }}"
                )
            }
            20 => "{ let other = Arc::clone(&shared); z = other.b.load(Relaxed); }".to_owned(),
            // The same numbers, in other registers on each way, or carried around a loop.
            21..=22 => {
                let (one, other) = (self.random.of(&PLACES), self.random.of(&PLACES));
                let told = self.told(one, other);
                let order = self.random.of(&LOADS);
                let condition = match self.random.chance(3) {
                    true => self.condition(),
                    false => format!("{atomic}.load(Relaxed) == {}", self.random.below(2)),
                };
                let again =
                    self.random
                        .of(&["", "(x, y) = (y, x); ", "swap(&mut first, &mut second); "]);
                let left =
                    self.random
                        .of(&["", "std::mem::forget(Box::new(x)); ", "pair.right = z; "]);
                format!(
                    "if {condition} {{ {one} = shared.a.load({order}); {other} = shared.b.load(Relaxed); {left}}} else {{ {other} = shared.b.load(Relaxed); {one} = shared.a.load({order}); {again}}} {told}"
                )
            }
            23..=24 if depth < 2 => {
                let (one, other) = (self.random.of(&PLACES), self.random.of(&PLACES));
                let told = self.told(one, other);
                let step = self.random.of(&[
                    "swap(&mut x, &mut y);",
                    "(x, y, z) = (y, z, x);",
                    "swap(&mut first, &mut second);",
                    "std::mem::forget(std::mem::replace(&mut first, Box::new(x)));",
                    "first = Box::new(*second);",
                    "array.swap(0, 1);",
                ]);
                let order = self.random.of(&LOADS);
                format!(
                    "{one} = shared.a.load(Relaxed); {other} = shared.b.load({order}); while shared.b.load({order}) {} {{ {step} }} {told}",
                    self.random.of(&["== 0", "!= 1", "> 1", "== 3"])
                )
            }
            25 => {
                let (one, other) = (self.condition(), self.condition());
                format!("assert!(!({one}) || !({other}));")
            }
            _ => format!("{place} = {number};"),
        };
        self.line(depth, &line);
    }

    /// An assertion that tells two numbers from each other, or nothing.
    fn told(&mut self, one: &str, other: &str) -> String {
        let number = self.random.of(&["0", "1", "4", "5", "4", "8", "2"]);
        match self.random.chance(2) {
            true => format!("assert!({one} * 4 + {other} != {number});"),
            false => String::new(),
        }
    }

    fn body(&mut self, depth: usize) {
        self.line(depth, "let (mut x, mut y, mut z) = (0u8, 1u8, 2u8);");
        self.line(
            depth,
            "let (mut first, mut second) = (Box::new(0u8), Box::new(1u8));",
        );
        self.line(
            depth,
            "let (mut pair, mut array) = (Pair { left: 0, right: 1 }, [0u8, 1]);",
        );
        self.line(depth, "let mut kept: Option<Box<u8>> = None;");
        self.line(depth, "let mut nested = Box::new(Box::new(2u8));");
        let count = 2 + self.random.below(4);
        self.statements(count, depth);
        // Each of these tells which numbers ended up where.
        for _ in 0..2 {
            let (one, other) = (self.random.of(&PLACES), self.random.of(&PLACES));
            let line = self.told(one, other);
            self.line(depth, &line);
        }
    }

    fn program(&mut self, name: &str) {
        self.cell = self.random.chance(4);
        self.slot = self.random.chance(4);
        self.line(0, "let shared = shared();");
        self.text = format!(
            "#[test]\nfn {name}() {{\n{}",
            std::mem::take(&mut self.text)
        );
        let threads = 1 + self.random.below(2);
        for thread in 0..threads {
            self.line(0, &format!("let thread{thread} = {{"));
            self.line(0, "let shared = Arc::clone(&shared);");
            self.line(0, "thread::spawn(move || {");
            self.body(1);
            self.line(0, "})");
            self.line(0, "};");
        }
        self.body(0);
        for thread in 0..threads {
            self.line(0, &format!("thread{thread}.join().unwrap();"));
        }
        let condition = self.condition();
        let number = self.random.below(4);
        let atomic = self.atomic();
        let line = format!("assert!({atomic}.load(Relaxed) != {number} || !({condition}));");
        self.line(0, &line);
        self.text.push_str("}\n");
    }
}

/// The text of a program with this seed.
fn text(name: &str, seed: u64) -> String {
    let mut writer = Writer {
        random: Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
        text: String::new(),
        cell: false,
        slot: false,
        loops: 0,
    };
    for _ in 0..4 {
        writer.random.below(2);
    }
    writer.program(name);
    writer.text
}

/// The verdict, judged again where it is a violation; `None` without one in time.
fn verdict(program: &Program) -> Option<bool> {
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_| {},
    };
    let mut options = Options::new(Model::C20, Criterion::Safe);
    options.timeout = Some(Duration::from_secs(2));
    let answer = check(program, &options, &control).ok()?;
    match answer.verdict {
        Verdict::Holds => Some(true),
        Verdict::Unknown(_) => None,
        Verdict::Violated => {
            let witness = answer.witnesses.first().expect("a violation has a run");
            palisade_validate::validate(program, witness).expect("the run is one");
            Some(false)
        }
    }
}

/// What the threads do: where that is equal, nothing was merged.
fn threads(program: &Program) -> String {
    let transitions = program.threads.iter().map(|thread| &thread.transitions);
    format!("{:?}", transitions.collect::<Vec<_>>())
}

fn number_from(variable: &str, usual: u64) -> u64 {
    let said = std::env::var(variable).ok();
    said.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn merging_alike_states_changes_no_verdict() {
    let compiler = palisade_rust::compile::Compiler::default();
    if palisade_rust::compile::version(&compiler).is_none() {
        palisade_testkit::skipped("Rust compiler");
        return;
    }
    let wanted = number_from("MERGING_PROGRAMS", USUALLY);
    let mut seed = number_from("MERGING_SEED", FIRST_SEED);
    let (mut hold, mut violated, mut open, mut differ, mut done) = (0, 0, 0, 0, 0);
    while done < wanted {
        let seeds = seed..seed + IN_ONE_FILE.min(wanted - done);
        seed = seeds.end;
        done += seeds.end - seeds.start;
        let mut file = BEGINNING.to_owned();
        for seed in seeds {
            file.push_str(&text(&format!("program{seed}"), seed));
        }
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("random.rs");
        std::fs::write(&path, &file).expect("it can be written");
        let source = Source::new(path.to_string_lossy(), &*file);
        let load = |merging| {
            let options = palisade_rust::Options::default();
            match palisade_rust::load_merging(&path, &source, &options, merging) {
                Ok(loaded) => loaded.programs,
                Err(not) => panic!("{:?}\n{file}", not.diagnostics),
            }
        };
        let both = load(Merging::Alike).into_iter().zip(load(Merging::Equal));
        for ((name, alike), (_, equal)) in both {
            if threads(&alike) == threads(&equal) {
                continue;
            }
            differ += 1;
            let found = (verdict(&alike), verdict(&equal));
            match found {
                (Some(one), Some(other)) if one == other => match one {
                    true => hold += 1,
                    false => violated += 1,
                },
                (Some(_), Some(_)) => panic!("{name}: {found:?}\n{}", text_of(&name)),
                _ => open += 1,
            }
        }
    }
    println!(
        "{done} programs, {differ} of them with other threads: {hold} hold, {violated} are violated, {open} are not decided"
    );
    assert!(8 * differ >= done, "merging makes no difference");
    assert!(10 * open <= 3 * differ && 10 * hold >= differ && 10 * violated >= differ);
}

fn text_of(name: &str) -> String {
    let seed = name.rsplit("program").next().and_then(|n| n.parse().ok());
    text(name, seed.unwrap_or(0))
}
