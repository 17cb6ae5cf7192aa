//! Every file of the corpus can be read, and nothing that looks like one makes a front end panic.

use std::path::{Path, PathBuf};

use palisade_lang::equal::same_program;
use palisade_lang::print::{to_dot, to_trencher};
use palisade_lang::{Language, ParseOptions, Program, Source, parse};

/// The corpus of other people's programs, where it is present.
fn corpus() -> Option<PathBuf> {
    palisade_testkit::corpus_dir()
}

fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![dir.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).expect("a directory that can be read") {
            let path = entry.expect("an entry that can be read").path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn source(path: &Path) -> Source {
    let text = std::fs::read_to_string(path).expect("a file that can be read");
    Source::new(path.display().to_string(), text)
}

/// Reads every file and returns how many there were.
fn read_all(dir: &Path, extension: &str) -> usize {
    let files = files(dir, extension);
    for path in &files {
        let source = source(path);
        match parse(&source, &ParseOptions::default()) {
            Ok(parsed) => well_formed(&parsed.program),
            Err(errors) => {
                let at = source.line_column(errors[0].span.start);
                panic!("{}:{at}: {errors:#?}", path.display());
            }
        }
    }
    files.len()
}

/// What every analysis relies on.
fn well_formed(program: &palisade_lang::Program) {
    for (a, b) in program
        .locations
        .iter()
        .zip(program.locations.iter().skip(1))
    {
        assert!(a.address < b.address);
    }
    for thread in &program.threads {
        assert!(thread.initial.index() < thread.points.len());
        assert!(thread.transitions.is_sorted_by_key(|t| t.from));
        for t in &thread.transitions {
            assert!(t.from.index() < thread.points.len());
            assert!(t.to.index() < thread.points.len());
            assert!(t.span.start < t.span.end, "{t:?}");
            let (from, to) = (&thread.points[t.from.index()], &thread.points[t.to.index()]);
            match t.op {
                palisade_lang::Op::AtomicBegin => assert!(!from.atomic && to.atomic),
                palisade_lang::Op::AtomicEnd => assert!(from.atomic && !to.atomic),
                _ => assert_eq!(from.atomic, to.atomic),
            }
        }
        for point in &thread.points {
            assert!(point.place.is_none_or(|p| p.index() < program.places.len()));
            assert!(point.place.is_none() || !point.atomic);
        }
    }
}

#[test]
fn every_automaton_of_the_corpus_is_read() {
    let Some(corpus) = corpus() else { return };
    assert!(read_all(&corpus.join("trencher"), "txt") > 0);
    assert!(read_all(&corpus.join("persist"), "txt") > 0);
}

/// A small generator of random numbers: tests must be the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

/// Cuts a text short, and exchanges, doubles and drops pieces of it: no front end may panic.
fn mutate_and_read(text: &str, language: Language, rounds: usize, random: &mut Random) {
    let options = ParseOptions {
        language: Some(language),
        domain: None,
    };
    let chars: Vec<char> = text.chars().collect();
    let junk: Vec<char> = "(){}[];:=!<>&|+-*/\\$%#\"'.,~^ \n0123456789xXé\u{0}"
        .chars()
        .collect();
    for _ in 0..rounds {
        let mut chars = chars.clone();
        match random.below(4) {
            0 => chars.truncate(random.below(chars.len() + 1)),
            1 => {
                for _ in 0..=random.below(4) {
                    let at = random.below(chars.len());
                    if let Some(c) = chars.get_mut(at) {
                        *c = junk[random.below(junk.len())];
                    }
                }
            }
            2 => {
                let at = random.below(chars.len());
                let end = (at + random.below(20)).min(chars.len());
                chars.drain(at..end);
            }
            _ => {
                let at = random.below(chars.len());
                let end = (at + random.below(20)).min(chars.len());
                let piece: Vec<char> = chars[at..end].to_vec();
                let to = random.below(chars.len());
                chars.splice(to..to, piece);
            }
        }
        let source = Source::new("mutant", chars.into_iter().collect::<String>());
        match parse(&source, &options) {
            Ok(parsed) => well_formed(&parsed.program),
            Err(errors) => {
                assert!(!errors.is_empty());
                for error in errors {
                    assert!(error.span.end as usize <= source.text().len());
                    assert!(error.span.start <= error.span.end);
                }
            }
        }
    }
}

const AUTOMATON: &str = "# both\nmemory_size 4\nthread t 2\ninitial q0\n\
    transition q0 q1 write + r 1 0\ntransition q1 q2 read r & r 3\ntransition q2 q3 lock\n\
    transition q3 q4 check && == r 0 ! != r 1\ntransition q4 q5 unlock\ntransition q5 q0 mfence\nend\n\
    thread s\ninitial a\ntransition a b local x - 0 1\ntransition b a noop\nend\n";

#[test]
fn broken_automata_make_no_panic() {
    let mut random = Random(1);
    mutate_and_read(AUTOMATON, Language::Trencher, 3000, &mut random);
    if let Some(corpus) = corpus() {
        for path in files(&corpus, "txt") {
            mutate_and_read(source(&path).text(), Language::Trencher, 30, &mut random);
        }
    }
}

#[test]
fn every_toy_program_of_the_corpus_is_read() {
    let Some(corpus) = corpus() else { return };
    assert!(read_all(&corpus.join("rocker"), "tpl") > 0);
}

const TOY: &str = "max_value 3; global x = 1, y; na n; track x: 0, 1;\nfn t { local a, b; l: a = x.load(rlx);\n\
    while (a == 0 || b < 2) { x.store(a + 1); if (b) { skip; } else { goto l; } }\n\
    oneof({ a = CAS(x, 0, 1); } { BCAS(y, a, b, acq, rel); });\nb = wait(x, 1, 2); fence; lock(y); n.nastore(1); unlock(y); \
    assume(a & 1 == 1); assert(a != 4); }\nfn u { FADD(x, 1); fence(acq); }\n";

#[test]
fn broken_toy_programs_make_no_panic() {
    let mut random = Random(2);
    mutate_and_read(TOY, Language::Tpl, 3000, &mut random);
    if let Some(corpus) = corpus() {
        for path in files(&corpus, "tpl") {
            mutate_and_read(source(&path).text(), Language::Tpl, 30, &mut random);
        }
    }
}

/// Printed as automata and read again, the program is the same.
#[track_caller]
fn round_trip(program: &Program) {
    let printed = to_trencher(program).unwrap_or_else(|why| panic!("{why}"));
    let source = Source::new("printed.txt", printed);
    let options = ParseOptions {
        language: Some(Language::Trencher),
        domain: program.domain.size(),
    };
    let again = parse(&source, &options);
    let again = again.unwrap_or_else(|errors| panic!("{errors:#?}\n{}", source.text()));
    if let Err(difference) = same_program(program, &again.program) {
        panic!(
            "{difference}\n{}\n\n{}",
            program.source.text(),
            source.text()
        );
    }
}

#[test]
fn automata_are_printed_as_they_were() {
    let read = |source: &Source| {
        let options = ParseOptions {
            language: Some(Language::Trencher),
            domain: None,
        };
        parse(source, &options).expect("an automaton").program
    };
    round_trip(&read(&Source::new("both.txt", AUTOMATON)));
    let mut random = Random(3);
    for _ in 0..300 {
        round_trip(&read(&Source::new(
            "random.txt",
            random_automata(&mut random),
        )));
    }
    if let Some(corpus) = corpus() {
        for path in files(&corpus, "txt") {
            round_trip(&read(&source(&path)));
        }
    }
}

fn random_automata(random: &mut Random) -> String {
    let mut text = String::new();
    for thread in 0..1 + random.below(3) {
        let count = if random.below(4) == 0 { " 2" } else { "" };
        text += &format!("thread t{thread}{count}\ninitial q0\n");
        for state in 0..1 + random.below(5) {
            for _ in 0..1 + random.below(2) {
                let to = random.below(6);
                let instruction = match random.below(9) {
                    0 => "lock".to_string(),
                    1 => "unlock".to_string(),
                    2 => "noop".to_string(),
                    3 => "mfence".to_string(),
                    4 => format!("check {}", random_expr(random, 2)),
                    5 => format!("local r{} {}", random.below(3), random_expr(random, 2)),
                    6 => format!(
                        "write {} {}",
                        random_expr(random, 2),
                        random_expr(random, 1)
                    ),
                    _ => format!("read r{} {}", random.below(3), random_expr(random, 1)),
                };
                text += &format!("transition q{state} q{to} {instruction}\n");
            }
        }
        text += "end\n";
    }
    text
}

fn random_expr(random: &mut Random, height: usize) -> String {
    match random.below(if height == 0 { 4 } else { 7 }) {
        0 | 1 => random.below(4).to_string(),
        2 | 3 => format!("r{}", random.below(3)),
        4 => format!("! {}", random_expr(random, height - 1)),
        _ => {
            let ops = [
                "==", "!=", "<", "<=", ">", ">=", "&&", "||", "+", "-", "*", "&",
            ];
            let op = ops[random.below(ops.len())];
            let left = random_expr(random, height - 1);
            format!("{op} {left} {}", random_expr(random, height - 1))
        }
    }
}

#[test]
fn graphs_name_every_instruction() {
    let source = Source::new("toy.tpl", TOY);
    let program = parse(&source, &ParseOptions::default())
        .expect("a program")
        .program;
    let dot = to_dot(&program);
    for wanted in [
        "a = x (relaxed)",
        "cas(x, 0, 1)",
        "wait(x == 1)",
        "label=\"u\"",
        "doublecircle",
    ] {
        assert!(dot.contains(wanted), "{wanted}\n{dot}");
    }
}

#[test]
fn every_litmus_test_of_the_corpus_is_read() {
    let Some(corpus) = corpus() else { return };
    assert!(read_all(&corpus.join("litmus"), "litmus") > 0);
}

const MACHINE: &str = "X86_64 t\n\"a text\" (* and *)\nKey=value\n{ int x=1; 0:rax=2; int64_t t[2]={1,-1}; int *p=&x; }\n\
    P0             | P1                     ;\n movl $1,(x)    | lock cmpxchgl (x),%ecx ;\n xchgl (y),%eax | jne L1 ;\n\
    mfence | movq 0(%rax,%rbx,8),%rcx ;\n incl (x) | L1: ;\n | ret ;\nlocations [x; 0:rax;]\n\
    exists (0:rax=0 /\\ not ([x]=1 \\/ 1:rcx=-1))\n";

const FUNCTIONS: &str = "C t\n(* a comment *)\n{ x=0; atomic_t y = ATOMIC_INIT(0); }\n\
    P0 (atomic_int* x, int* y) { // more\n int r0 = atomic_load_explicit(x,memory_order_relaxed); /* c */\n\
    if (r0 && *y == 1) { atomic_thread_fence(memory_order_seq_cst); } else *y = r0 + 1;\n\
    while (!atomic_compare_exchange_weak(x, &r0, 2)) { r0 = 0; } }\n\
    P1 (atomic_int* x) { int r1; r1 = __atomic_add_unless{mb}(x, 10, 0); return; }\nforall (0:r0=0 /\\ x=1)\n";

#[test]
fn broken_litmus_tests_make_no_panic() {
    let mut random = Random(4);
    mutate_and_read(MACHINE, Language::Litmus, 3000, &mut random);
    mutate_and_read(FUNCTIONS, Language::Litmus, 3000, &mut random);
    if let Some(corpus) = corpus() {
        for path in files(&corpus, "litmus") {
            mutate_and_read(source(&path).text(), Language::Litmus, 5, &mut random);
        }
    }
}
