//! The cost that is found is the least of all sets that are enough, by trying every set; for random programs and criteria, and for costs that
//! differ. Every explanation goes through validation.

use std::sync::atomic::AtomicBool;

use fastrand::Rng;
use palisade_check::{Control, Criterion, Model, Options, Verdict, check};
use palisade_fence::{
    Bounds, Candidates, CostFile, Costs, FenceOptions, FenceResult, Fences, Kinds, RepairSet,
    fences,
};
use palisade_lang::print::to_trencher;
use palisade_lang::{Language, ParseOptions, Program, Repair, Source, parse};
use palisade_testkit::{Shape, program, random_sketch};

static NEVER: AtomicBool = AtomicBool::new(false);

const QUIET: Control<'static> = Control {
    cancel: &NEVER,
    progress: &|_| {},
};

/// Programs with more candidates are left out: there are too many sets.
const MOST_CANDIDATES: usize = 11;

fn holds(program: &Program, options: &Options) -> bool {
    match check(program, options, &QUIET).unwrap().verdict {
        Verdict::Holds => true,
        Verdict::Violated => false,
        Verdict::Unknown(reason) => panic!("{reason}\n{}", program.source.text()),
    }
}

/// All sets of `count` things.
fn sets(count: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..1u32 << count).map(move |bits| (0..count).filter(|c| bits >> c & 1 == 1).collect())
}

/// The cost of the cheapest set that is enough, by trying all sets, the cheap ones first.
fn least_cost(candidates: &Candidates, options: &Options) -> Option<u64> {
    let mut all: Vec<_> = sets(candidates.all().len()).collect();
    all.sort_by_key(|set| candidates.cost(set));
    all.iter()
        .find(|set| holds(&candidates.program(set), options))
        .map(|set| candidates.cost(set))
}

/// What the search says; the set that it names is enough.
fn search(candidates: &Candidates, options: &Options, fence_options: &FenceOptions) -> Fences {
    let found = fences(candidates, options, fence_options, &QUIET).unwrap();
    if let FenceResult::Optimal(set) = &found.result {
        assert!(holds(&chosen(candidates, set), options));
    }
    found
}

fn chosen(candidates: &Candidates, set: &RepairSet) -> Program {
    candidates.program(&numbers(candidates, set, None))
}

/// The numbers of a set's repairs, but for one.
fn numbers(candidates: &Candidates, set: &RepairSet, without: Option<Repair>) -> Vec<usize> {
    let all = candidates.all().iter();
    let in_set = |repair: Repair| set.repairs.iter().any(|c| c.repair == repair);
    all.enumerate()
        .filter(|(_, c)| in_set(c.repair) && Some(c.repair) != without)
        .map(|(index, _)| index)
        .collect()
}

/// The same cost everywhere, or other costs in every line. Where nothing happens (a register is declared, the thread ends) nothing can be
/// put, so that there are not too many sets.
fn random_costs(rng: &mut Rng, program: &Program) -> Costs {
    let unit = rng.bool();
    let mut text = String::from("[lines]\n");
    for (line, written) in program.source.text().lines().enumerate() {
        let nothing = written == "}" || written.starts_with("  let ") && !written.contains('=');
        let price = match rng.u32(..12) {
            _ if nothing => "\"forbidden\"".to_owned(),
            _ if unit => "1".to_owned(),
            0 => "\"forbidden\"".to_owned(),
            _ => rng.u32(1..5).to_string(),
        };
        text.push_str(&format!("{} = {price}\n", line + 1));
    }
    Costs::File(CostFile::parse(&text).unwrap())
}

#[derive(Debug, Default)]
struct Seen {
    programs: u64,
    needed: u64,
    hopeless: u64,
}

/// Compares the least cost with that of all sets.
fn agree(seen: &mut Seen, candidates: &Candidates, options: &Options, text: &str) {
    if candidates.all().len() > MOST_CANDIDATES {
        return;
    }
    let found = search(candidates, options, &FenceOptions::default());
    let cost = match &found.result {
        FenceResult::Optimal(set) => Some(set.cost),
        FenceResult::None => None,
        FenceResult::Unknown { reason, .. } => panic!("{reason}\n{text}"),
    };
    let least = least_cost(candidates, options);
    assert_eq!(cost, least, "{:?}\n{text}", candidates.all());
    seen.programs += 1;
    seen.needed += u64::from(least.is_some_and(|cost| cost > 0));
    seen.hopeless += u64::from(least.is_none());
}

const SMALL: Shape = Shape {
    threads: (2, 3),
    accesses: 5,
    locked: 12,
    store_buffering: 75,
    pointers: false,
    ..Shape::TSO
};

fn random_programs(model: Model, criterion: Criterion, shape: &Shape, kinds: Kinds, wanted: u64) {
    let options = Options::new(model, criterion);
    let mut seen = Seen::default();
    let mut seed = 0;
    while seen.programs < wanted {
        seed += 1;
        let text = random_sketch(seed, shape).to_string();
        let program = program(&text);
        let costs = random_costs(&mut Rng::with_seed(seed), &program);
        let candidates = Candidates::new(&program, kinds, &costs);
        agree(&mut seen, &candidates, &options, &text);
    }
    println!("{seen:?} of {seed}");
    assert!(seen.needed * 20 >= seen.programs, "{seen:?}");
}

#[test]
fn robust() {
    random_programs(Model::Tso, Criterion::Robust, &SMALL, Kinds::FENCES, 2500);
}

#[test]
fn triangular_races() {
    random_programs(Model::Tso, Criterion::Trf, &SMALL, Kinds::FENCES, 2500);
}

#[test]
fn persistent() {
    random_programs(
        Model::Tso,
        Criterion::Persistent,
        &SMALL,
        Kinds::FENCES,
        2500,
    );
}

/// Where fences alone can help: some assertions and `never`s fail under SC already.
#[test]
fn safe() {
    let shape = Shape {
        accesses: 4,
        threads: (2, 2),
        properties: true,
        store_buffering: 90,
        ..SMALL
    };
    let options = Options::new(Model::Tso, Criterion::Safe);
    let mut seen = Seen::default();
    for seed in 0..1500 {
        let text = random_sketch(seed, &shape).to_string();
        let program = program(&text);
        let costs = random_costs(&mut Rng::with_seed(seed), &program);
        let candidates = Candidates::new(&program, Kinds::FENCES, &costs);
        if candidates.all().len() <= 7 {
            agree(&mut seen, &candidates, &options, &text);
        }
    }
    // What matters most, in a program of its own.
    let sb = "shared x, y;\nthread a {\n  x = 1;\n  let r = y;\n}\nthread b {\n  y = 1;\n  let s = x;\n}\nnever a@end && b@end && a.r == 0 && b.s == 0;\n";
    let candidates = Candidates::new(&program(sb), Kinds::FENCES, &Costs::Unit);
    agree(&mut seen, &candidates, &options, sb);
    println!("{seen:?}");
    assert!(seen.needed > 0 && seen.hopeless > 10, "{seen:?}");
}

#[test]
fn release_acquire() {
    let shape = Shape {
        blocks: false,
        rmw_blocks: true,
        orders: false,
        ..SMALL
    };
    random_programs(Model::Ra, Criterion::Robust, &shape, Kinds::FENCES, 2500);
}

/// Threads of well-known tests that release/acquire and sequential consistency tell apart, or nearly so.
const SHAPES: &[&[&[&str]]] = &[
    // RWC, and as it stands in the issue of fences that do harm
    &[&["W x"], &["R x", "R y"], &["W y", "R x"]],
    &[&["W x"], &["R y"], &["W y", "R x"]],
    &[&["W x", "R z"], &["R x", "R y"], &["W y", "R x"]],
    // W+RWC
    &[&["W x", "W z"], &["R z", "R y"], &["W y", "R x"]],
    // IRIW
    &[&["W x"], &["W y"], &["R x", "R y"], &["R y", "R x"]],
    &[
        &["W x"],
        &["W y"],
        &["R x", "R y"],
        &["R y", "R x"],
        &["R x", "R y"],
    ],
    &[
        &["W x"],
        &["W y"],
        &["W z"],
        &["R x", "R y"],
        &["R y", "R x"],
    ],
    // SB, in a ring of three and four
    &[&["W x", "R y"], &["W y", "R x"], &["R x", "R y"]],
    &[&["W x", "R y"], &["W y", "R z"], &["W z", "R x"]],
    &[
        &["W x", "R y"],
        &["W y", "R z"],
        &["W z", "R w"],
        &["W w", "R x"],
    ],
    // 2+2W, R, S, WRC, ISA2
    &[&["W x", "W y"], &["W y", "W x"], &["R x", "R y"]],
    &[&["W x", "W y"], &["W y", "R x"], &["R y"]],
    &[&["W x", "W y"], &["R y", "W x"], &["W y", "R x"]],
    &[&["W x"], &["R x", "W y"], &["R y", "R x"]],
    &[&["W x", "W y"], &["R y", "W z"], &["R z", "R x"]],
    // IRIW with a thread that does both
    &[&["W x"], &["W y", "R x"], &["R x", "R y"], &["R y", "R x"]],
    &[
        &["W x"],
        &["W y"],
        &["R x", "R y"],
        &["W z", "R y"],
        &["R z", "R x"],
    ],
];

/// A program of one of the shapes, changed here and there.
fn shaped(rng: &mut Rng) -> String {
    let shape = SHAPES[rng.usize(..SHAPES.len())];
    let mut text = String::from("shared x, y, z, w;\n");
    for (number, thread) in shape.iter().enumerate() {
        text.push_str(&format!("thread t{number} {{\n"));
        let mut registers = 0;
        let mut place = |kind: &str, location: &str, rng: &mut Rng| {
            registers += 1;
            match (kind, rng.u32(..10)) {
                ("W", 0) => format!("xchg({location}, 1);"),
                ("W", _) => format!("{location} = {};", rng.u32(1..3)),
                (_, 0) => format!("let r{registers} = fadd({location}, 0);"),
                (_, 1) => format!("let r{registers} = cas({location}, 1, 2);"),
                (_, 2) => format!("wait({location} == 1);"),
                _ => format!("let r{registers} = {location};"),
            }
        };
        for access in thread.iter() {
            let (kind, location) = access.split_once(' ').unwrap();
            if rng.u32(..12) == 0 {
                text.push_str("  fence;\n");
            }
            if rng.u32(..12) == 0 {
                let other = ["x", "y", "z"][rng.usize(..3)];
                let kind = ["R", "W"][rng.usize(..2)];
                text.push_str(&format!("  {}\n", place(kind, other, rng)));
            }
            text.push_str(&format!("  {}\n", place(kind, location, rng)));
        }
        text.push_str("}\n");
    }
    text
}

fn around_rwc_and_iriw(seed: u64, kinds: Kinds, wanted: u64) {
    let options = Options::new(Model::Ra, Criterion::Robust);
    let mut seen = Seen::default();
    let mut rng = Rng::with_seed(seed);
    while seen.programs < wanted {
        let text = shaped(&mut rng);
        let program = program(&text);
        let costs = random_costs(&mut rng, &program);
        let candidates = Candidates::new(&program, kinds, &costs);
        if candidates.all().len() < MOST_CANDIDATES - 2 {
            agree(&mut seen, &candidates, &options, &text);
        }
    }
    println!("{seen:?}");
    assert!(seen.needed * 4 >= seen.programs, "{seen:?}");
}

#[test]
fn release_acquire_around_rwc_and_iriw() {
    around_rwc_and_iriw(5, Kinds::FENCES, 1000);
    around_rwc_and_iriw(6, RMW, 300);
}

/// All orders, with fences added. Nothing is out of reach: a program has few runs.
const MIXED: Shape = Shape {
    threads: (2, 3),
    accesses: 5,
    locked: 15,
    store_buffering: 85,
    pointers: false,
    ..Shape::C20
};

#[test]
fn cpp20() {
    random_programs(Model::C20, Criterion::Robust, &MIXED, Kinds::FENCES, 800);
    let rc11 = Shape {
        seqcst_accesses: false,
        ..MIXED
    };
    random_programs(Model::Rc11, Criterion::Robust, &rc11, Kinds::FENCES, 300);
}

/// A shape with values that its loads may not have read together: some that SC has not and the model may have.
fn stated(rng: &mut Rng) -> String {
    let mut text = shaped(rng);
    let mut conditions = Vec::new();
    let mut thread = "";
    for line in text.lines() {
        if let Some(head) = line.strip_prefix("thread ") {
            thread = head.trim_end_matches(" {");
            conditions.push(format!("{thread}@end"));
        } else if let Some((register, _)) = line
            .strip_prefix("  let ")
            .and_then(|l| l.split_once(" = "))
        {
            conditions.push(format!("{thread}.{register} == {}", rng.u32(..2)));
        }
    }
    let never = format!("never {};\n", conditions.join(" && "));
    text.push_str(&never);
    text
}

/// What is stated, under the models whose robust programs are easier to decide.
#[test]
fn safe_on_weak_models() {
    let mut rng = Rng::with_seed(11);
    for model in [Model::C20, Model::Ra] {
        let options = Options::new(model, Criterion::Safe);
        let mut seen = Seen::default();
        while seen.programs < 250 {
            let text = stated(&mut rng);
            let program = program(&text);
            let costs = random_costs(&mut rng, &program);
            let candidates = Candidates::new(&program, Kinds::FENCES, &costs);
            // Where SC has the values, nothing helps, and where the model has them not, nothing needs to: some such programs are enough.
            let hopeless = !holds(&program, &Options::new(Model::Sc, Criterion::Safe));
            let interesting = !hopeless && !holds(&program, &options);
            if candidates.all().len() <= 7 && (interesting || rng.u32(..10) == 0) {
                agree(&mut seen, &candidates, &options, &text);
            }
        }
        println!("{model:?}: {seen:?}");
        assert!(seen.needed * 8 >= seen.programs, "{seen:?}");
    }
}

const RMW: Kinds = Kinds {
    fence: false,
    rmw: true,
    order: false,
};

/// Read-modify-writes and orders instead of fences, or beside them.
#[test]
fn other_repairs() {
    let few = Shape {
        accesses: 4,
        threads: (2, 2),
        ..SMALL
    };
    let all = Kinds {
        fence: true,
        rmw: true,
        order: true,
    };
    let tso = [Criterion::Robust, Criterion::Trf, Criterion::Persistent];
    for (criterion, programs) in tso.into_iter().zip([300, 300, 300]) {
        random_programs(Model::Tso, criterion, &few, all, programs);
        random_programs(Model::Tso, criterion, &SMALL, RMW, 2 * programs);
    }
    let ra = Shape {
        blocks: false,
        rmw_blocks: true,
        orders: false,
        ..few
    };
    random_programs(
        Model::Ra,
        Criterion::Robust,
        &ra,
        Kinds {
            order: false,
            ..all
        },
        300,
    );
    random_programs(Model::Ra, Criterion::Robust, &ra, RMW, 600);
}

/// In automata accesses are locked, and stores get a fence behind them.
#[test]
fn other_repairs_of_automata() {
    let shape = Shape {
        accesses: 4,
        threads: (2, 2),
        ..SMALL
    };
    for criterion in [Criterion::Robust, Criterion::Trf, Criterion::Persistent] {
        let options = Options::new(Model::Tso, criterion);
        let mut seen = Seen::default();
        let mut seed = 0;
        while seen.programs < 300 {
            seed += 1;
            let Ok(text) = to_trencher(&program(&random_sketch(seed, &shape).to_string())) else {
                continue;
            };
            let reading = ParseOptions {
                language: Some(Language::Trencher),
                ..ParseOptions::default()
            };
            let parsed = parse(&Source::new("a.txt", text.clone()), &reading).expect("it parses");
            let kinds = Kinds {
                fence: seed % 4 == 0,
                rmw: seed % 4 != 1,
                order: seed % 4 != 2,
            };
            let candidates = Candidates::new(&parsed.program, kinds, &Costs::Unit);
            if candidates.all().len() <= 9 {
                agree(&mut seen, &candidates, &options, &text);
            }
        }
        println!("{criterion:?}: {seen:?} of {seed}");
        assert!(seen.needed * 20 >= seen.programs, "{seen:?}");
    }
}

/// A load that becomes a read-modify-write may do harm even under TSO.
#[test]
fn more_may_be_worse() {
    let program = program(
        "shared x, y;\nthread a {\n  x = 1;\n  let r = y;\n}\nthread b {\n  let s = y;\n  fence;\n  let t = x;\n}\n",
    );
    let options = Options::new(Model::Tso, Criterion::Robust);
    assert!(holds(&program, &options));
    let load = program.rmw_repairs()[2];
    assert!(!holds(&program.repaired(&[load]), &options));
}

/// `--all` finds exactly the sets from which nothing can be left out, `--explain` a violation for each fence, and a program that has fences loses
/// exactly those that it does not need.
#[test]
fn all_sets_and_explanations() {
    let mut rng = Rng::with_seed(3);
    let ra = Shape {
        blocks: false,
        rmw_blocks: true,
        orders: false,
        ..SMALL
    };
    for (model, criterion, shape) in [
        (Model::Tso, Criterion::Robust, &SMALL),
        (Model::Tso, Criterion::Trf, &SMALL),
        (Model::Tso, Criterion::Persistent, &SMALL),
        (Model::Ra, Criterion::Robust, &ra),
    ] {
        let options = Options::new(model, criterion);
        let (mut listed, mut explained, mut reduced) = (0, 0, 0);
        for seed in 0..250 {
            let text = random_sketch(seed, shape).to_string();
            let program = program(&text);
            let costs = random_costs(&mut rng, &program);
            let candidates = Candidates::new(&program, Kinds::FENCES, &costs);
            if candidates.all().len() > 9 {
                continue;
            }
            let fence_options = FenceOptions {
                all: Some(Bounds {
                    cost: None,
                    sets: 1000,
                }),
                explain: true,
            };
            let found = search(&candidates, &options, &fence_options);
            let enough: Vec<Vec<usize>> = sets(candidates.all().len())
                .filter(|set| holds(&candidates.program(set), &options))
                .collect();
            let within = |a: &Vec<usize>, b: &Vec<usize>| a != b && a.iter().all(|x| b.contains(x));
            let mut irreducible = enough.clone();
            irreducible.retain(|set| !enough.iter().any(|other| within(other, set)));
            irreducible.sort();
            let all = found.all.as_ref().unwrap();
            assert_eq!(all.complete, Ok(()), "{text}");
            assert!(all.sets.is_sorted_by_key(|set| set.cost));
            let mut listing: Vec<Vec<usize>> = all
                .sets
                .iter()
                .map(|set| numbers(&candidates, set, None))
                .collect();
            listing.sort();
            assert_eq!(listing, irreducible, "{:?}\n{text}", candidates.all());
            listed += usize::from(listing.len() > 1);
            if let FenceResult::Optimal(set) = &found.result {
                assert_eq!(found.explanations.len(), set.repairs.len(), "{text}");
                for (repair, witness) in &found.explanations {
                    let others = numbers(&candidates, set, Some(*repair));
                    let without = candidates.program(&others);
                    palisade_validate::validate(&without, witness)
                        .unwrap_or_else(|error| panic!("{error:?}\n{text}"));
                    explained += 1;
                }
            }
            // The same, written as a program with fences that has too many of them.
            let everywhere: Vec<Repair> = candidates.all().iter().map(|c| c.repair).collect();
            let fenced = palisade_lang::repaired_text(&program, &everywhere).unwrap();
            let fenced = palisade_testkit::program(&fenced);
            let existing = Candidates::existing(&fenced, &Costs::Unit);
            if existing.all().len() <= 10 {
                let found = search(&existing, &options, &FenceOptions::default());
                let cost = match &found.result {
                    FenceResult::Optimal(set) => Some(set.cost),
                    _ => None,
                };
                assert_eq!(cost, least_cost(&existing, &options), "{text}");
                reduced += usize::from(cost.is_some_and(|cost| cost > 0));
            }
        }
        println!("{model:?} {criterion:?}: {listed} {explained} {reduced}");
        assert!(listed > 10 && explained > 10 && reduced > 5);
    }
}
