//! Witnesses that searches find are valid, and a valid witness with one thing changed is not.

use palisade_check::{Control, Options};
use palisade_memory::{Criterion, EventKind, EventRef, Model, PatternKind, RelationName, Witness};
use palisade_testkit::{Shape, program, random_sketch};
use palisade_validate::validate;
use std::sync::atomic::AtomicBool;

/// What a change is called, and the changed witness. `sure` ones can never be valid.
struct Mutation {
    name: &'static str,
    sure: bool,
    witness: Witness,
}

fn mutations(witness: &Witness) -> Vec<Mutation> {
    let mut all = Vec::new();
    let pattern = witness.pattern.as_ref().map(|p| p.kind);
    let is_race = pattern == Some(PatternKind::Race);
    let mut add = |name, sure, change: &dyn Fn(&mut Witness)| {
        let mut changed = witness.clone();
        change(&mut changed);
        if changed != *witness {
            all.push(Mutation {
                name,
                sure,
                witness: changed,
            });
        }
    };
    for index in 0..witness.events.len() {
        let event = &witness.events[index];
        let is_access = event.location.is_some();
        add("line", true, &|w| w.events[index].line += 1000);
        add("column", true, &|w| w.events[index].column += 1000);
        add("thread", true, &|w| w.events[index].thread += "?");
        add("location", is_access, &|w| {
            w.events[index].location = Some("?".into())
        });
        add("kind", is_access, &|w| {
            w.events[index].kind = match event.kind {
                EventKind::Load => EventKind::Store,
                EventKind::Issue => EventKind::Flush,
                EventKind::Local => EventKind::Fence,
                _ => EventKind::Load,
            };
        });
        add("atomic", is_access, &|w| w.events[index].atomic ^= true);
        // The last access of a race may have the value from before or behind the other one, and under RA it has none.
        add("value", is_access && !is_race, &|w| {
            w.events[index].value = event.value.map(|v| v + 1000);
        });
        add("value read", event.read.is_some() && !is_race, &|w| {
            w.events[index].read = event.read.map(|v| v + 1000);
        });
        add("issue", true, &|w| {
            w.events[index].issue = event.issue.map(|i| i + 1)
        });
        add(
            "rf",
            witness.criterion == Criterion::Robust && witness.pattern.is_none(),
            &|w| {
                w.events[index].rf = event.rf.map(|_| EventRef::Event(index));
            },
        );
        add("missing event", false, &|w| drop(w.events.remove(index)));
        add("event twice", false, &|w| {
            w.events.insert(index, event.clone())
        });
        if index > 0 {
            add("swapped events", false, &|w| {
                w.events.swap(index - 1, index)
            });
        }
    }
    for index in 0..witness.edges.len() {
        let edge = witness.edges[index];
        for relation in [
            RelationName::Po,
            RelationName::Rf,
            RelationName::Co,
            RelationName::Fr,
        ] {
            add("relation", false, &|w| w.edges[index].relation = relation);
        }
        add("edge turned", false, &|w| {
            (w.edges[index].from, w.edges[index].to) = (edge.to, edge.from);
        });
        add("edge out of range", true, &|w| {
            w.edges[index].to = w.events.len()
        });
        add("missing edge", true, &|w| {
            w.edges.remove(index);
        });
    }
    for index in 0..witness.cycle.len() {
        add("cycle out of range", true, &|w| {
            w.cycle[index] = w.events.len()
        });
        add("cycle", false, &|w| {
            w.cycle[index] = (w.cycle[index] + 1) % w.events.len()
        });
    }
    if let Some(pattern) = &witness.pattern {
        let counts = pattern.kind != PatternKind::Never;
        for index in 0..pattern.events.len() {
            let change = |w: &mut Witness, value: usize| {
                if let Some(pattern) = &mut w.pattern {
                    pattern.events[index] = value;
                }
            };
            add("pattern out of range", true, &|w| change(w, w.events.len()));
            add("pattern", false, &|w| {
                let next = (pattern.events[index] + 1) % w.events.len();
                change(w, if counts { next } else { pattern.events[index] });
            });
        }
        add("no pattern", true, &|w| w.pattern = None);
    }
    for model in [Model::Sc, Model::Tso, Model::Ra] {
        // A run of another model may be a run of this one, too.
        let sure =
            witness.criterion == Criterion::Robust || witness.criterion == Criterion::Persistent;
        add("model", sure, &|w| w.model = model);
    }
    add("copies", true, &|w| w.copies = Some(2));
    all
}

fn check_mutations(shape: &Shape, model: Model, criterion: Criterion, programs: u64) {
    let (mut witnesses, mut changed, mut accepted) = (0, 0, 0);
    for seed in 0..programs {
        let text = random_sketch(seed, shape).to_string();
        let program = program(&text);
        let options = Options::new(model, criterion);
        let control = Control {
            cancel: &AtomicBool::new(false),
            progress: &|_| {},
        };
        let Ok(answer) = palisade_check::check(&program, &options, &control) else {
            continue;
        };
        for witness in &answer.witnesses {
            if let Err(invalid) = validate(&program, witness) {
                panic!("seed {seed}: {invalid}\n{text}\n{witness:#?}");
            }
            witnesses += 1;
            for mutation in mutations(witness) {
                changed += 1;
                if validate(&program, &mutation.witness).is_ok() {
                    accepted += 1;
                    let what = mutation.name;
                    assert!(
                        !mutation.sure,
                        "seed {seed}: `{what}` is not noticed\n{text}\n{:#?}",
                        mutation.witness
                    );
                }
            }
        }
    }
    if witnesses == 0 {
        return println!("no search for `{}` yet", criterion.name());
    }
    println!("{witnesses} witnesses, {changed} changed ones, {accepted} of them still valid");
    assert!(
        accepted * 8 < changed,
        "{accepted} of {changed} changed witnesses are still valid"
    );
}

#[test]
fn robust_against_tso() {
    check_mutations(&Shape::TSO, Model::Tso, Criterion::Robust, 400);
}

#[test]
fn persistent() {
    check_mutations(&Shape::TSO, Model::Tso, Criterion::Persistent, 400);
}

#[test]
fn triangular_races() {
    check_mutations(&Shape::TSO, Model::Tso, Criterion::Trf, 400);
}

#[test]
fn robust_against_ra() {
    check_mutations(&Shape::RA, Model::Ra, Criterion::Robust, 400);
}

#[test]
fn safe() {
    check_mutations(&Shape::SC, Model::Sc, Criterion::Safe, 400);
}

#[test]
fn races() {
    check_mutations(&Shape::SC, Model::Sc, Criterion::Drf, 200);
}
