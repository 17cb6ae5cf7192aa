//! Many threads: what would take millions of states is found among those of few threads, and by what the text alone shows.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use palisade_check::{Control, Criterion, Model, Options, Verdict, check};
use palisade_fence::{Candidates, Costs, FenceOptions, FenceResult, Kinds, fences};
use palisade_lang::{Language, ParseOptions, Program, Source, parse};

static NEVER: AtomicBool = AtomicBool::new(false);

const QUIET: Control<'static> = Control {
    cancel: &NEVER,
    progress: &|_| {},
};

/// Szymanski's lock as automata, one for each thread: no two of them have the same code.
fn szymanski(threads: usize) -> Program {
    let mut text = format!("memory_size {threads}\n");
    for thread in 0..threads {
        let others: Vec<usize> = (0..threads).filter(|&other| other != thread).collect();
        let joined = |operator: &str, test: &dyn Fn(usize) -> String| {
            let tests = others.iter().map(|&other| test(other));
            tests
                .reduce(|left, right| format!("{operator} {left} {right}"))
                .unwrap()
        };
        let mut steps = String::new();
        let mut step = |from: &str, to: &str, what: &str| {
            writeln!(steps, "transition {from} {to} {what}").unwrap();
        };
        // In state `at` all others are read, one after the other; then either `again` or `on`.
        let mut looks = |at: &str, again: (&str, String), on: (&str, String)| {
            let mut from = at.to_owned();
            for other in &others {
                let to = format!("{at}_{other}");
                step(&from, &to, &format!("read f{other} {other}"));
                from = to;
            }
            step(&from, again.0, &format!("check {}", again.1));
            step(&from, on.0, &format!("check {}", on.1));
        };
        let some = |relation: &'static str, value: u32| {
            joined("||", &move |other| format!("{relation} f{other} {value}"))
        };
        let all = |relation: &'static str, value: u32| {
            joined("&&", &move |other| format!("{relation} f{other} {value}"))
        };
        looks("wait", ("wait", some(">=", 3)), ("doorway", all("<", 3)));
        looks("look", ("give", some("==", 1)), ("enter", all("!=", 1)));
        looks("held", ("enter", some("==", 4)), ("held", all("!=", 4)));
        let between = joined("||", &|o| format!("|| == f{o} 2 == f{o} 3"));
        let apart = joined("&&", &|o| format!("&& != f{o} 2 != f{o} 3"));
        looks("cs", ("cs", between), ("leave", apart));
        step("start", "wait", &format!("write 1 {thread}"));
        step("doorway", "look", &format!("write 3 {thread}"));
        step("give", "held", &format!("write 2 {thread}"));
        step("enter", "cs", &format!("write 4 {thread}"));
        step("leave", "start", &format!("write 0 {thread}"));
        writeln!(text, "thread t{thread}\ninitial start\n{steps}end").unwrap();
    }
    let options = ParseOptions {
        language: Some(Language::Trencher),
        ..ParseOptions::default()
    };
    parse(&Source::new("szymanski.txt", text), &options)
        .unwrap()
        .program
}

fn least_cost(program: &Program, criterion: Criterion, most_states: u64) -> u64 {
    let candidates = Candidates::new(program, Kinds::FENCES, &Costs::Unit);
    let options = Options::new(Model::Tso, criterion);
    let found = fences(&candidates, &options, &FenceOptions::default(), &QUIET).unwrap();
    let FenceResult::Optimal(set) = found.result else {
        panic!("{criterion:?}: {:?}", found.result);
    };
    let states = found.stats.states;
    assert!(states < most_states, "{criterion:?}: {states} states");
    set.cost
}

/// The last fences were found among ever more states: 67 million for six threads, and seven were too many.
#[test]
fn szymanski_needs_four_fences_in_each_thread() {
    for threads in [2, 3, 4, 6, 7] {
        let program = szymanski(threads);
        for criterion in [Criterion::Robust, Criterion::Persistent, Criterion::Trf] {
            let cost = least_cost(&program, criterion, 3_000_000);
            assert_eq!(cost, 4 * threads as u64, "{criterion:?} {threads}");
        }
    }
}

/// Two fences, but in most of the places that prevent all violations only a walk of all states shows that they are enough.
#[test]
fn a_set_that_needs_no_search_is_taken() {
    let fenced = include_str!("../../../programs/large/dijkstra-6-fenced.pal");
    let lines = fenced.lines().filter(|line| line.trim() != "fence;");
    let text = lines.collect::<Vec<_>>().join("\n");
    let source = Source::new("dijkstra.pal", text);
    let program = parse(&source, &ParseOptions::default()).unwrap().program;
    let options = Options::new(Model::Tso, Criterion::Robust);
    let answer = check(&program, &options, &QUIET).unwrap();
    assert_eq!(answer.verdict, Verdict::Violated);
    for criterion in [Criterion::Robust, Criterion::Persistent, Criterion::Trf] {
        assert_eq!(least_cost(&program, criterion, 2_000_000), 2);
    }
}
