//! Copies that store their numbers are interchangeable too: with and without the exchanges the verdict is the same, for random programs of that kind; and every run that
//! is shown is one of the program.

use std::sync::atomic::AtomicBool;

use palisade_check::{Answer, Control, Criterion, Model, Options, Reductions, Verdict, check};
use palisade_lang::Program;
use palisade_testkit::{parse, program};

fn ask(program: &Program, options: &Options) -> Option<Answer> {
    let control = Control {
        cancel: &AtomicBool::new(false),
        progress: &|_| {},
    };
    let answer = check(program, options, &control).ok()?;
    for witness in &answer.witnesses {
        if let Err(invalid) = palisade_validate::validate(program, witness) {
            panic!("{invalid:?}\n{witness:#?}\n{}", program.source.text());
        }
    }
    Some(answer)
}

fn with(reductions: Reductions, model: Model, criterion: Criterion) -> Options {
    let mut options = Options::new(model, criterion);
    options.reductions = reductions;
    options.most_states = Some(60_000);
    options
}

const NO_SYMMETRY: Reductions = Reductions {
    symmetry: false,
    ..Reductions::ALL
};

/// A statement that uses numbers of threads: most of them in a way that knows no special one.
fn statement(random: &mut fastrand::Rng, depth: u32) -> String {
    let simple = [
        "owner = me;",
        "owner = me + 1;",
        "owner = r;",
        "owner = 0;",
        "owner = NONE;",
        "r = owner;",
        "r = me;",
        "r = next[me];",
        "r = xchg(owner, me);",
        "r = xchg(last, me + 1);",
        "last = me + 1;",
        "last = 0;",
        "s = last;",
        "s = cas(last, 0, me + 1);",
        "a[me] = 1;",
        "a[me] = 0;",
        "a[r] = 1;",
        "next[me] = r;",
        "next[r] = me;",
        "k = a[me];",
        "k = a[r];",
        "x = k;",
        "x = x + 1;",
        "k = x;",
        "q = &a[me];",
        "q = &next[me];",
        "*q = 1;",
        "p = &a[me]; *p = k;",
        "where = &a[me];",
        "p = where; if p != 0 { k = *p; }",
        "wait(a[me] == 1);",
        "wait(owner == me);",
        "wait(last != me + 1);",
        "bcas(last, 0, me + 1);",
        "fence;",
        "cs: skip;",
        "assert k != 2;",
        "assert owner != me || k == 0;",
        "assert r == me;",
    ];
    // These know one.
    let special = [
        "if me == 0 { x = 1; }",
        "r = 1;",
        "a[1] = 1;",
        "k = me;",
        "k = r % 2;",
        "if r < 1 { k = 1; }",
        "a[k] = 1;",
        "owner = 1;",
        "s = 2;",
    ];
    match random.u32(0..20) {
        0 => special[random.usize(0..special.len())].into(),
        1 if depth < 2 => format!("while owner != me {{ {} }}", block(random, depth + 1)),
        2 | 3 if depth < 2 => {
            let conditions = [
                "owner == me",
                "r == me",
                "s == me + 1",
                "a[me] == 1",
                "s == 0",
            ];
            let condition = conditions[random.usize(0..conditions.len())];
            let then = block(random, depth + 1);
            format!("if {condition} {{ {then} }}")
        }
        4 if depth < 2 => {
            let (one, other) = (block(random, depth + 1), block(random, depth + 1));
            format!("choose {{ {one} }} or {{ {other} }}")
        }
        _ => simple[random.usize(0..simple.len())].into(),
    }
}

fn block(random: &mut fastrand::Rng, depth: u32) -> String {
    let length = random.u32(1..4);
    let all: Vec<String> = (0..length).map(|_| statement(random, depth)).collect();
    all.join(" ")
}

fn random_program(seed: u64) -> Option<Program> {
    let mut random = fastrand::Rng::with_seed(seed);
    let copies = random.u32(2..5);
    let length = random.u32(2..6);
    let body: Vec<String> = (0..length).map(|_| statement(&mut random, 0)).collect();
    let mut body = body.join("\n  ");
    // A label stands once.
    if let Some(first) = body.find("cs: ") {
        let (head, tail) = body.split_at(first + 4);
        body = format!("{head}{}", tail.replace("cs: ", ""));
    }
    if random.bool() {
        body = format!("loop {{ {body} }}");
    }
    let nevers = [
        "",
        "never x == 2;",
        "never deadlock;",
        "never t[0]@cs && t[1]@cs;",
        "never t[0]@cs + t[1]@cs > 1;",
        "never t[1]@end && x == 1;",
        "never a[0] == 1 && a[1] == 1;",
        "never owner == 1;",
        "never t[0].k == 1;",
    ];
    let mut never = nevers[random.usize(0..nevers.len())];
    if never.contains("@cs") && !body.contains("cs: ") {
        never = "";
    }
    let other = match random.u32(0..4) {
        0 => "thread o { let w = owner; x = 1; owner = w; }",
        1 => "thread o[2] { let w = last; x = 1; last = w; }",
        _ => "",
    };
    let domain = random.choice(["", "domain 3;", "domain 16;"]).unwrap_or("");
    let text = format!(
        "{domain} const NONE = 9; shared owner = {}, last, x, a[{copies}], next[{copies}], where;
thread t[{copies}] {{
  let r; let s; let k; let p; let q;
  {body}
}}
{other}
{never}
",
        random.u32(0..3)
    );
    parse(&text)
}

fn compare(seeds: std::ops::Range<u64>) -> (u64, u64, u64) {
    let (mut programs, mut smaller, mut violated) = (0, 0, 0);
    for seed in seeds {
        let Some(program) = random_program(seed) else {
            continue;
        };
        for (model, criterion) in [
            (Model::Sc, Criterion::Safe),
            (Model::Sc, Criterion::Drf),
            (Model::Tso, Criterion::Robust),
        ] {
            let ask = |reductions| ask(&program, &with(reductions, model, criterion));
            let (Some(plain), Some(none), Some(all)) = (
                ask(NO_SYMMETRY),
                ask(Reductions::NONE),
                ask(Reductions::ALL),
            ) else {
                continue;
            };
            if [&plain, &none, &all]
                .iter()
                .any(|answer| matches!(answer.verdict, Verdict::Unknown(_)))
            {
                continue;
            }
            let text = program.source.text();
            assert_eq!(
                all.verdict, none.verdict,
                "seed {seed} {criterion:?}\n{text}"
            );
            assert_eq!(plain.verdict, none.verdict, "seed {seed}\n{text}");
            let [fewer, more] = [&all, &plain].map(|answer| answer.stats.states);
            // (Another state that stands for the same may be worse for putting off independent steps, so a few have more.)
            programs += 1;
            smaller += u64::from(fewer < more);
            violated += u64::from(all.verdict == Verdict::Violated);
        }
    }
    (programs, smaller, violated)
}

#[test]
fn exchanges_change_no_verdict() {
    let seeds = std::env::var("PALISADE_NAMED_SEEDS");
    let seeds = seeds.ok().and_then(|seeds| seeds.parse().ok());
    let (programs, smaller, violated) = compare(0..seeds.unwrap_or(400));
    eprintln!("{programs} answers, {smaller} with fewer states, {violated} violations");
    assert!(programs > 300 && smaller > 100 && violated > 50);
}

fn states(text: &str, reductions: Reductions) -> u64 {
    let program = program(text);
    let answer = ask(&program, &with(reductions, Model::Sc, Criterion::Safe)).unwrap();
    assert_eq!(answer.verdict, Verdict::Holds, "{text}");
    answer.stats.states
}

fn ticket(copies: u32, stored: &str) -> String {
    format!(
        "shared tickets, serving, owner;
thread t[{copies}] {{
  let mine = fadd(tickets, 1);
  wait(serving == mine);
  owner = {stored};
  cs: skip;
  assert owner == {stored};
  serving = mine + 1;
}}
never t[0]@cs && t[1]@cs;
"
    )
}

#[test]
fn a_ticket_lock_that_stores_its_holder() {
    // As many states as if nobody's number were stored.
    assert_eq!(
        states(
            &ticket(4, "me + 1").replace("never t[0]@cs && t[1]@cs;", ""),
            Reductions::ALL
        ),
        states(
            &ticket(4, "1").replace("never t[0]@cs && t[1]@cs;", ""),
            Reductions::ALL
        )
    );
    let all = states(&ticket(5, "me"), NO_SYMMETRY);
    assert!(3 * states(&ticket(5, "me"), Reductions::ALL) < all);
}

/// A queue lock: each waits at a place of its own, and knows who comes next.
#[test]
fn a_queue_lock() {
    let text = "
shared locked[4], next[4], tail;
thread t[4] {
  next[me] = 0;
  let before = xchg(tail, me + 1);
  if before != 0 {
    locked[me] = 1;
    next[before - 1] = me + 1;
    wait(locked[me] == 0);
  }
  cs: skip;
  if next[me] == 0 {
    if cas(tail, me + 1, 0) == me + 1 { return; }
    wait(next[me] != 0);
  }
  let after = next[me];
  locked[after - 1] = 0;
}
never t[0]@cs + t[1]@cs + t[2]@cs + t[3]@cs > 1;
";
    let (all, none) = (states(text, Reductions::ALL), states(text, NO_SYMMETRY));
    assert!(10 * all < none, "{all} of {none}");
}
