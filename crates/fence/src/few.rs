//! A few threads at a time: programs in which only some threads move.
//!
//! A run in which a thread is never scheduled is a run of the program, and it is wrong there for the same reason: what makes it violate robustness,
//! persistence, or freedom from races of either kind are its own events and how they are related, and a thread that does not move adds none. (That is not so
//! for what compares runs with *all* those of SC by what they show, nor for threads that must get on.) So a violation of a program in which few threads move says as
//! much about fences as one of the whole program, and it is found among far fewer states. That there is none says nothing.

use palisade_check::Criterion;
use palisade_lang::{Copies, Program};
use rustc_hash::FxHashSet;

/// How many threads move, one number after the other.
const SIZES: [u32; 2] = [2, 3];

/// More choices of threads than these are not tried for each size.
const MOST_CHOICES: usize = 256;

/// How many copies of each thread of the text move: those with the lowest numbers.
pub(crate) type Moving = Vec<u32>;

/// Which threads may be looked at by themselves, and where nothing was found.
#[derive(Debug, Default)]
pub(crate) struct Few {
    /// For each number of threads, the choices.
    pub sizes: Vec<Vec<Moving>>,
    /// Programs in which nothing was found: which threads move, and the repairs that these threads can meet.
    settled: FxHashSet<(Moving, Vec<usize>)>,
}

impl Few {
    /// The choices for a program; none where fewer threads than all of them say nothing about the criterion.
    pub fn new(program: &Program, criterion: Criterion) -> Few {
        let tells = matches!(
            criterion,
            Criterion::Robust | Criterion::Persistent | Criterion::Trf | Criterion::Drf
        );
        let most: Option<Vec<u32>> = program.threads.iter().map(|t| fixed(t.copies)).collect();
        let (true, Some(most)) = (tells, most) else {
            return Few::default();
        };
        let all: u32 = most.iter().fold(0, |sum, &n| sum.saturating_add(n));
        let sizes = SIZES.iter().filter(|&&size| size < all);
        Few {
            sizes: sizes.map(|&size| choices(&most, size)).collect(),
            settled: FxHashSet::default(),
        }
    }

    /// Whether it is known already that nothing is found there.
    pub fn is_settled(&self, moving: &Moving, repairs: &[usize]) -> bool {
        self.settled.contains(&(moving.clone(), repairs.to_vec()))
    }

    /// Nothing was found there.
    pub fn settle(&mut self, moving: &Moving, repairs: Vec<usize>) {
        self.settled.insert((moving.clone(), repairs));
    }
}

fn fixed(copies: Copies) -> Option<u32> {
    match copies {
        Copies::One => Some(1),
        Copies::Fixed(copies) => Some(copies),
        Copies::Any => None,
    }
}

/// The ways to choose `size` copies of threads, of each no more than there are; no more than [`MOST_CHOICES`].
fn choices(most: &[u32], size: u32) -> Vec<Moving> {
    let mut found = Vec::new();
    // Numbers in lexical order, the largest first; each step lowers one of them and fills up behind it.
    let mut now = vec![0; most.len()];
    let mut left = fill(&mut now, most, size);
    while left == 0 && found.len() < MOST_CHOICES {
        found.push(now.clone());
        let mut behind = 0;
        left = size;
        for at in (0..now.len()).rev() {
            let room: u32 = most[at + 1..].iter().sum();
            if now[at] > 0 && behind < room {
                now[at] -= 1;
                left = fill(&mut now[at + 1..], &most[at + 1..], behind + 1);
                break;
            }
            behind += now[at];
        }
    }
    found
}

/// As many as there is room for, from the left; what is left over.
fn fill(now: &mut [u32], most: &[u32], mut left: u32) -> u32 {
    for (now, &most) in now.iter_mut().zip(most) {
        *now = most.min(left);
        left -= *now;
    }
    left
}

/// The program in which only these move: copies with higher numbers are not there, and other threads stay where they begin.
pub(crate) fn only(program: &Program, moving: &[u32]) -> Program {
    let mut program = program.clone();
    // They may speak of copies that are not there, and none of the criteria asks for them.
    program.nevers.clear();
    for (thread, &copies) in program.threads.iter_mut().zip(moving) {
        match (copies, thread.copies) {
            (0, _) => thread.transitions.clear(),
            (_, Copies::Fixed(_)) => thread.copies = Copies::Fixed(copies),
            (_, Copies::One | Copies::Any) => {}
        }
    }
    program
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use palisade_check::{Control, Model, Options, Verdict, check};
    use palisade_testkit::{Shape, program, random_sketch};
    use palisade_validate::validate;

    use super::*;
    use crate::{Candidates, Costs, Kinds, Proposal, Search};

    static NEVER: AtomicBool = AtomicBool::new(false);

    const QUIET: Control<'static> = Control {
        cancel: &NEVER,
        progress: &|_| {},
    };

    const THREE: Shape = Shape {
        threads: (3, 4),
        accesses: 7,
        store_buffering: 75,
        ..Shape::TSO
    };

    /// With orders of their own.
    const WEAKER: Shape = Shape {
        threads: (3, 3),
        accesses: 6,
        nonatomic: false,
        store_buffering: 85,
        ..Shape::C20
    };

    const QUESTIONS: [(Model, Criterion, Shape, u64); 6] = [
        (Model::Tso, Criterion::Robust, THREE, 400),
        (Model::Tso, Criterion::Persistent, THREE, 400),
        (Model::Tso, Criterion::Trf, THREE, 400),
        (Model::Sc, Criterion::Drf, Shape::SC, 400),
        (
            Model::Ra,
            Criterion::Robust,
            Shape {
                blocks: false,
                rmw_blocks: true,
                nonatomic: false,
                orders: false,
                ..THREE
            },
            200,
        ),
        (Model::C20, Criterion::Robust, WEAKER, 200),
    ];

    /// What goes wrong where few threads move goes wrong in the whole program, by the same run.
    #[test]
    fn their_runs_are_runs_of_the_whole_program() {
        for (model, criterion, shape, programs) in QUESTIONS {
            let options = Options::new(model, criterion);
            let mut violated = 0;
            for seed in 0..programs {
                let text = random_sketch(seed, &shape).to_string();
                let program = program(&text);
                for moving in Few::new(&program, criterion).sizes.iter().flatten() {
                    let answer = check(&only(&program, moving), &options, &QUIET).unwrap();
                    for witness in &answer.witnesses {
                        violated += 1;
                        if let Err(error) = validate(&program, witness) {
                            panic!("{model:?} {criterion:?} {moving:?}: {error:?}\n{text}");
                        }
                    }
                }
            }
            assert!(
                violated * 10 > programs,
                "{model:?} {criterion:?} {violated}"
            );
        }
    }

    /// The least cost is the same whether or not few threads are looked at first, and sets that need no search.
    #[test]
    fn the_least_cost_is_the_same() {
        for (model, criterion, shape, programs) in QUESTIONS {
            let options = Options::new(model, criterion);
            let mut needed = 0;
            for seed in 0..programs {
                let text = random_sketch(seed, &shape).to_string();
                let program = program(&text);
                let candidates = Candidates::new(&program, Kinds::FENCES, &Costs::Unit);
                let cost = |first: bool| {
                    let mut search = Search::new(&candidates, &options, &QUIET);
                    match first {
                        true => search.few_states = 0,
                        false => search.few = Few::default(),
                    }
                    match search.next_set().unwrap() {
                        Proposal::Confirmed(set) => {
                            let repaired = candidates.program(&set);
                            let answer = check(&repaired, &options, &QUIET).unwrap();
                            assert_eq!(answer.verdict, Verdict::Holds, "{text}");
                            Some(candidates.cost(&set))
                        }
                        Proposal::NoMore => None,
                        Proposal::Stopped(reason) => panic!("{reason}\n{text}"),
                    }
                };
                let (with, without) = (cost(true), cost(false));
                assert_eq!(with, without, "{model:?} {criterion:?}\n{text}");
                needed += u64::from(without.is_none_or(|cost| cost > 0));
            }
            assert!(needed * 20 > programs, "{model:?} {criterion:?} {needed}");
        }
    }

    #[test]
    fn every_choice_once() {
        let of = |most: &[u32], size| choices(most, size);
        assert_eq!(of(&[1, 1, 1], 2), [[1, 1, 0], [1, 0, 1], [0, 1, 1]]);
        assert_eq!(of(&[6], 2), [[2]]);
        assert_eq!(of(&[3, 1], 2), [[2, 0], [1, 1]]);
        assert_eq!(of(&[1, 3, 1], 3).len(), 4);
        assert_eq!(of(&[0, 1, 1, 0], 2), [[0, 1, 1, 0]]);
        assert_eq!(of(&[1; 6], 3).len(), 20);
        assert_eq!(of(&[1; 40], 3).len(), MOST_CHOICES);
        assert!(of(&[1], 2).is_empty());
        assert!(of(&[], 2).is_empty());
    }
}
