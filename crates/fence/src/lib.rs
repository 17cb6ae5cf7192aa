//! Optimal fences for any criterion.
//!
//! The main function is [`fences`]: it returns the cheapest set of places in the source where a fence makes the criterion
//! hold, with the certainty that nothing cheaper does.
//!
//! It searches by implicit hitting sets: an integer program proposes the cheapest set that prevents every violation known so far; the checker
//! confirms it, or yields one more violation, whose run says which fences would have prevented it.

mod cover;
mod passed;

use std::time::Instant;

use cover::{Clause, cheapest};
use palisade_check::{Answer, Control, Model, Options, Refusal, Stats, Verdict, Witness, check};
use palisade_lang::{PlaceId, Program};
use palisade_memory::EventKind;

/// What a fence costs at each place where one is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Costs(pub Vec<(PlaceId, u64)>);

impl Costs {
    /// Every fence costs 1.
    pub fn unit(program: &Program) -> Costs {
        Costs(
            (0..program.places.len() as u32)
                .map(|place| (PlaceId(place), 1))
                .collect(),
        )
    }
}

/// The answer to the question for the cheapest fences.
#[derive(Clone, Debug)]
pub struct Fences {
    /// What was found.
    pub result: FenceResult,
    /// Where no set helps: a violation that no fence prevents.
    pub witness: Option<Witness>,
    /// How many proposals were checked: `queries`; the states of all checks together.
    pub stats: Stats,
    /// What the user should know beside it.
    pub notes: Vec<String>,
}

/// What came out of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FenceResult {
    /// With these fences the criterion holds, and with no cheaper set.
    Optimal {
        /// Where they stand.
        places: Vec<PlaceId>,
        /// What they cost.
        cost: u64,
    },
    /// No set of allowed fences makes it hold.
    None,
    /// Not decided, and why; every set that makes it hold costs at least `lower_bound`.
    Unknown {
        /// What stopped the search.
        reason: String,
        /// What is known about the cost.
        lower_bound: u64,
    },
}

/// Finds the cheapest set of fences that makes `options.criterion` hold under `options.model`.
pub fn fences(
    program: &Program,
    costs: &Costs,
    options: &Options,
    control: &Control<'_>,
) -> Result<Fences, Refusal> {
    let start = Instant::now();
    let mut clauses: Vec<Clause> = Vec::new();
    let mut stats = Stats::default();
    let mut lower_bound = 0;
    let finish = |result, witness, mut stats: Stats, notes| {
        stats.wall = start.elapsed();
        Ok(Fences {
            result,
            witness,
            stats,
            notes,
        })
    };
    let mut last_witness = None;
    loop {
        let (places, cost) = match cheapest(&costs.0, &clauses) {
            Ok(Some(found)) => found,
            Ok(None) => return finish(FenceResult::None, last_witness, stats, Vec::new()),
            Err(reason) => {
                let result = FenceResult::Unknown {
                    reason,
                    lower_bound,
                };
                return finish(result, None, stats, Vec::new());
            }
        };
        lower_bound = cost;
        let fenced = program.with_fences(&places);
        let options = Options {
            timeout: options.timeout.map(|t| t.saturating_sub(start.elapsed())),
            all: false,
            ..options.clone()
        };
        let answer = check(&fenced, &options, control)?;
        add(&mut stats, &answer);
        match answer.verdict {
            Verdict::Holds => {
                let result = FenceResult::Optimal { places, cost };
                return finish(result, None, stats, answer.notes);
            }
            Verdict::Unknown(reason) => {
                let result = FenceResult::Unknown {
                    reason,
                    lower_bound,
                };
                return finish(result, None, stats, answer.notes);
            }
            Verdict::Violated => {
                let clause = answer
                    .witnesses
                    .first()
                    .and_then(|witness| learn(&fenced, witness, &places));
                match clause {
                    Some(clause) if !clauses.contains(&clause) => clauses.push(clause),
                    _ => {
                        let result = FenceResult::Unknown {
                            reason: "a violation does not say which fences would prevent it".into(),
                            lower_bound,
                        };
                        return finish(result, None, stats, answer.notes);
                    }
                }
                last_witness = answer.witnesses.into_iter().next();
            }
        }
    }
}

fn add(stats: &mut Stats, answer: &Answer) {
    stats.states += answer.stats.states;
    stats.transitions += answer.stats.transitions;
    stats.queries += 1;
    stats.pruned += answer.stats.pruned;
    stats.peak_memory_bytes = stats.peak_memory_bytes.max(answer.stats.peak_memory_bytes);
}

/// What a violation of the program with fences at `places` says about every set of fences that makes the criterion hold.
fn learn(fenced: &Program, witness: &Witness, places: &[PlaceId]) -> Option<Clause> {
    if witness.model == Model::Ra {
        return learn_from_whole_run(fenced, witness, places);
    }
    let (store, load) = delayed_store_and_load(witness)?;
    // Whatever else is fenced, the run stays possible and wrong as long as the thread does not wait between the two.
    let any = passed::places_between(fenced, witness, Some(store), load)?;
    Some(Clause {
        any,
        not_all: Vec::new(),
    })
}

/// Under RA fences are events: a run is the same for another set of fences only if that set has the fences that were executed and no
/// other that the run would pass.
fn learn_from_whole_run(fenced: &Program, witness: &Witness, places: &[PlaceId]) -> Option<Clause> {
    let mut passed = Vec::new();
    for instance in fenced.instances() {
        let last = witness
            .events
            .iter()
            .rposition(|e| e.thread == instance.name && e.kind != EventKind::Local);
        if let Some(last) = last {
            passed.extend(passed::places_between(fenced, witness, None, last)?);
        }
    }
    passed.sort();
    passed.dedup();
    let (not_all, any) = passed.into_iter().partition(|p| places.contains(p));
    Some(Clause { any, not_all })
}

/// The delayed store and the load that overtakes it, by event indices.
fn delayed_store_and_load(witness: &Witness) -> Option<(usize, usize)> {
    if let Some(pattern) = &witness.pattern {
        // Fragile: [e1, e, …]; triangular race: [store, load, …].
        return match pattern.events[..] {
            [store, load, ..] => Some((store, load)),
            _ => None,
        };
    }
    // A TSO run: the first store that waits in its buffer while its thread loads, and the last load before it leaves.
    witness
        .events
        .iter()
        .enumerate()
        .find_map(|(flush, event)| {
            let issue = event.issue.filter(|_| event.kind == EventKind::Flush)?;
            let load = (issue..flush).rev().find(|&i| {
                let between = &witness.events[i];
                between.thread == event.thread && between.kind == EventKind::Load
            })?;
            Some((issue, load))
        })
}
