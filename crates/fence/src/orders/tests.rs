//! The cost that is found is the least of all choices that are enough, by trying every choice: for random programs, prices and criteria.

use std::sync::atomic::AtomicBool;

use fastrand::Rng;
use palisade_check::{Model, check};
use palisade_lang::{Program, reordered_text, same_program};
use palisade_testkit::program;

use super::*;
use crate::prices::{OrderCosts, Prices};

static NEVER: AtomicBool = AtomicBool::new(false);

const QUIET: Control<'static> = Control {
    cancel: &NEVER,
    progress: &|_| {},
};

fn holds(program: &Program, options: &Options) -> bool {
    match check(program, options, &QUIET).unwrap().verdict {
        Verdict::Holds => true,
        Verdict::Violated => false,
        Verdict::Unknown(reason) => panic!("{reason}\n{}", program.source.text()),
    }
}

/// No price falls as orders become stronger; some are the same.
fn random_prices(rng: &mut Rng) -> Prices {
    let mut next = |from: u64| from + rng.u64(..4);
    let load = (next(0), next(4), next(8));
    let mut text = format!(
        "source = \"made up\"\n[load]\nrelaxed = {}\nacquire = {}\nseqcst = {}\n",
        load.0, load.1, load.2
    );
    text.push_str(&format!(
        "[store]\nrelaxed = 0\nrelease = {}\nseqcst = {}\n",
        next(0),
        next(3)
    ));
    text.push_str(&format!(
        "[failure]\nrelaxed = 0\nacquire = {}\nseqcst = {}\n",
        next(0),
        next(3)
    ));
    for name in ["rmw", "exchange", "fence"] {
        let relaxed = match name {
            "fence" => String::new(),
            _ => format!("relaxed = {}\n", next(0)),
        };
        text.push_str(&format!(
            "[{name}]\n{relaxed}acquire = {}\nrelease = {}\nacqrel = {}\nseqcst = {}\n",
            next(3),
            next(3),
            next(6),
            next(9)
        ));
    }
    Prices::parse(&text).unwrap()
}

fn order(rng: &mut Rng, of: &[&'static str]) -> &'static str {
    of[rng.usize(..of.len())]
}

const LOAD: &[&str] = &["relaxed", "acquire", "seqcst"];
const STORE: &[&str] = &["relaxed", "release", "seqcst"];
const RMW: &[&str] = &["relaxed", "acquire", "release", "acqrel", "seqcst"];

/// Threads of well-known tests, as kinds of accesses and locations.
const SHAPES: &[&[&[&str]]] = &[
    &[&["W x", "R y"], &["W y", "R x"]],
    &[&["W x", "W y"], &["R y", "R x"]],
    &[&["W x", "W y"], &["W y", "W x"]],
    &[&["W x", "W y"], &["W y", "R x"]],
    &[&["W x", "W y"], &["R y", "W x"]],
    &[&["W x"], &["R x", "W y"], &["R y", "R x"]],
    &[&["W x"], &["R x", "R y"], &["W y", "R x"]],
    &[&["W x"], &["W y"], &["R x", "R y"], &["R y", "R x"]],
    &[&["W x", "W y"], &["U y"], &["R y", "R x"]],
    &[&["U x", "R y"], &["U y", "R x"]],
    &[&["W x", "U y"], &["U y", "R x"]],
];

/// What is done with the values that loads read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Nothing,
    /// A `never` speaks of them.
    Stated,
    /// Some decide a branch.
    Some,
}

/// A shape with random orders, changed here and there.
fn shaped(rng: &mut Rng, of_values: Use) -> String {
    let shape = SHAPES[rng.usize(..SHAPES.len())];
    let mut text = String::from("shared x, y;\n");
    let mut conditions = Vec::new();
    for (number, thread) in shape.iter().enumerate() {
        text.push_str(&format!("thread t{number} {{\n"));
        conditions.push(format!("t{number}@end"));
        for (at, access) in thread.iter().enumerate() {
            let (kind, location) = access.split_once(' ').unwrap();
            if rng.u32(..10) == 0 {
                text.push_str(&format!("  fence({});\n", order(rng, &RMW[1..])));
            }
            let kind = match rng.u32(..14) {
                0 => "U",
                1 if kind == "R" => "C",
                2 if kind == "R" => "wait",
                _ => kind,
            };
            let line = match kind {
                "W" => format!("{location}.store(1, {});", order(rng, STORE)),
                "U" => format!("let r{at} = fadd({location}, 1, {});", order(rng, RMW)),
                "C" => format!(
                    "let r{at} = cas({location}, 1, 2, {}, {});",
                    order(rng, RMW),
                    order(rng, LOAD)
                ),
                "wait" => format!("wait({location} == 1, {});", order(rng, LOAD)),
                _ => format!("let r{at} = {location}.load({});", order(rng, LOAD)),
            };
            if line.starts_with("let") {
                conditions.push(format!("t{number}.r{at} == {}", rng.u32(..2)));
            }
            text.push_str(&format!("  {line}\n"));
            if of_values == Use::Some && line.starts_with("let") && rng.u32(..3) > 0 {
                text.push_str(&format!("  if r{at} == {} {{ skip; }}\n", rng.u32(..2)));
            }
        }
        text.push_str("}\n");
    }
    if of_values == Use::Stated {
        text.push_str(&format!("never {};\n", conditions.join(" && ")));
    }
    text
}

/// Data that one thread writes and another one reads once it has seen a flag, perhaps through a third.
fn passing_data(rng: &mut Rng) -> String {
    let mut text = String::from("shared f, g;\nnonatomic shared d;\nthread a {\n  d = 1;\n");
    if rng.u32(..6) == 0 {
        text.push_str(&format!("  fence({});\n", order(rng, &RMW[1..])));
    }
    text.push_str(&match rng.u32(..4) {
        0 => format!("  let o = xchg(f, 1, {});\n", order(rng, RMW)),
        _ => format!("  f.store(1, {});\n", order(rng, STORE)),
    });
    if rng.u32(..4) == 0 {
        text.push_str(&format!("  f.store(1, {});\n", order(rng, STORE)));
    }
    text.push_str("}\n");
    let seen = match rng.u32(..3) {
        0 => {
            text.push_str(&format!(
                "thread b {{\n  let r = f.load({});\n  if r == 1 {{ g.store(1, {}); }}\n}}\n",
                order(rng, LOAD),
                order(rng, STORE)
            ));
            "g"
        }
        1 => {
            let rmw = order(rng, RMW);
            text.push_str(&format!("thread b {{\n  let r = fadd(f, 0, {rmw});\n}}\n"));
            "f"
        }
        _ => "f",
    };
    let read = match rng.u32(..4) {
        0 => format!(
            "cas({seen}, 1, 2, {}, {})",
            order(rng, RMW),
            order(rng, LOAD)
        ),
        _ => format!("{seen}.load({})", order(rng, LOAD)),
    };
    let fence = match rng.u32(..6) {
        0 => format!("fence({}); ", order(rng, &RMW[1..])),
        _ => String::new(),
    };
    let use_it = ["let s = d;", "d = 2;"][rng.usize(..2)];
    text.push_str(&format!(
        "thread c {{\n  let r = {read};\n  if r == 1 {{ {fence}{use_it} }}\n}}\n"
    ));
    text
}

fn freedom(rng: &mut Rng, lines: u32) -> Freedom {
    let (weaken, strengthen) = match rng.u32(..6) {
        0 => (true, false),
        1 => (false, true),
        _ => (true, true),
    };
    Freedom {
        weaken,
        strengthen,
        fences: rng.u32(..3) > 0,
        exchanges: rng.u32(..5) == 0,
        keep: (1..=lines).filter(|_| rng.u32(..5) == 0).collect(),
    }
}

/// With more choices than this a program is left out.
const MOST: usize = 1200;

/// Every choice.
fn everything(choices: &Choices) -> Option<Vec<Vec<Strength>>> {
    let mut all = vec![Vec::new()];
    for choice in &choices.all {
        let mut longer = Vec::new();
        for chosen in &all {
            for strength in choice.strengths() {
                let mut chosen: Vec<Strength> = chosen.clone();
                chosen.push(strength);
                longer.push(chosen);
            }
        }
        if longer.len() > MOST {
            return None;
        }
        all = longer;
    }
    Some(all)
}

#[derive(Debug, Default)]
struct Seen {
    programs: u64,
    weakened: u64,
    strengthened: u64,
    hopeless: u64,
}

fn agree(seen: &mut Seen, text: &str, rng: &mut Rng, options: &Options) {
    let program = program(text);
    let costs = OrderCosts {
        prices: match rng.bool() {
            true => Prices::shipped("unit").unwrap(),
            false => random_prices(rng),
        },
        profile: None,
    };
    let mut freedom = freedom(rng, text.lines().count() as u32);
    freedom.exchanges &= options.criterion != Criterion::Observational;
    let choices = Choices::new(&program, &freedom, &costs);
    let Some(mut all) = everything(&choices) else {
        return;
    };
    all.sort_by_key(|chosen| choices.cost(chosen));
    let found = orders(&choices, options, false, &QUIET).unwrap();
    let cost = match &found.result {
        OrdersResult::Optimal(assignment) => {
            let changed = program.with_orders(&assignment.changes);
            assert!(holds(&changed, options), "{text}\n{assignment:?}");
            let written = reordered_text(&program, &assignment.changes).unwrap();
            let again = palisade_testkit::program(&written);
            same_program(&changed, &again).unwrap_or_else(|e| panic!("{e}\n{text}\n{written}"));
            Some(assignment.cost)
        }
        OrdersResult::None => None,
        OrdersResult::Unknown { reason, .. } => panic!("{reason}\n{text}"),
    };
    let least = all
        .iter()
        .find(|chosen| holds(&choices.program(chosen), options))
        .map(|chosen| choices.cost(chosen));
    assert_eq!(cost, least, "{freedom:?}\n{:?}\n{text}", found.result);
    let as_written = choices.cost(&choices.written());
    seen.programs += 1;
    seen.hopeless += u64::from(least.is_none());
    seen.weakened += u64::from(least.is_some_and(|cost| cost < as_written));
    seen.strengthened += u64::from(found.written.0 == Some(false) && least.is_some());
}

fn random_programs(criterion: Criterion, wanted: u64, make: impl Fn(&mut Rng) -> String) {
    let options = Options::new(Model::C20, criterion);
    let mut seen = Seen::default();
    let mut rng = Rng::with_seed(criterion as u64 + 1);
    while seen.programs < wanted {
        let text = make(&mut rng);
        agree(&mut seen, &text, &mut rng, &options);
    }
    println!("{criterion:?}: {seen:?}");
    assert!(seen.weakened * 10 >= seen.programs, "{seen:?}");
    assert!(seen.strengthened * 20 >= seen.programs, "{seen:?}");
}

#[test]
fn robust() {
    random_programs(Criterion::Robust, 2000, |rng| shaped(rng, Use::Nothing));
}

#[test]
fn safe() {
    let sc = Options::new(Model::Sc, Criterion::Safe);
    random_programs(Criterion::Safe, 2000, |rng| {
        loop {
            // Where SC has the values, nothing helps: some such programs are enough.
            let text = shaped(rng, Use::Stated);
            if rng.u32(..10) == 0 || holds(&program(&text), &sc) {
                return text;
            }
        }
    });
}

/// With exchanges the cheapest choice was missed: it is refused.
#[test]
fn observational_without_exchanges() {
    let text = "shared x, y;
thread t0 { x.store(1, relaxed); let r1 = y.load(acquire); }
thread t1 { y.store(1, release); let r1 = fadd(x, 1, acqrel); if r1 == 0 { skip; } }
";
    let costs = OrderCosts {
        prices: Prices::shipped("unit").unwrap(),
        profile: None,
    };
    let options = Options::new(Model::C20, Criterion::Observational);
    let with = |exchanges| {
        let freedom = Freedom {
            weaken: true,
            strengthen: true,
            fences: false,
            exchanges,
            keep: Vec::new(),
        };
        let choices = Choices::new(&program(text), &freedom, &costs);
        orders(&choices, &options, false, &QUIET).is_ok()
    };
    assert!(with(false) && !with(true));
}

#[test]
fn observational() {
    random_programs(Criterion::Observational, 2000, |rng| shaped(rng, Use::Some));
}

#[test]
fn race_free() {
    random_programs(Criterion::Drf, 2000, passing_data);
}
