//! The execution graph of a run under release/acquire, and whether it stays allowed with more fences in it.

use palisade_lang::Program;
use palisade_memory::{EventKind, EventRef, Witness};
use rustc_hash::FxHashMap;

/// A run as the steps that build its graph (Lahav and Margalit 2019, section 4.2).
pub(crate) struct Graph {
    steps: Vec<Option<RunStep>>,
    threads: usize,
    locations: usize,
}

struct RunStep {
    thread: usize,
    /// `None` for a fence.
    location: Option<usize>,
    reads: bool,
    writes: bool,
    /// Whether reading orders what came before the write.
    synchronises: bool,
    /// The write that is read, or behind which is written; `None` for the initial value.
    source: Option<usize>,
}

/// A set of steps.
type Past = Vec<u64>;

fn contains(past: &Past, step: usize) -> bool {
    past[step / 64] >> (step % 64) & 1 == 1
}

fn join(past: &mut Past, other: &Past) {
    for (word, more) in past.iter_mut().zip(other) {
        *word |= more;
    }
}

impl Graph {
    /// The graph of a witness, whose threads have these names. `None` where it is more than single accesses and fences.
    pub fn new(program: &Program, witness: &Witness, names: &[&str]) -> Option<Graph> {
        let mut locations: FxHashMap<&str, usize> = FxHashMap::default();
        let mut steps = Vec::new();
        for event in &witness.events {
            if event.kind == EventKind::Local {
                steps.push(None);
                continue;
            }
            if event.atomic {
                return None;
            }
            let (reads, writes) = match event.kind {
                EventKind::Load => (true, false),
                EventKind::Store => (false, true),
                EventKind::Rmw | EventKind::Fence => (true, true),
                EventKind::Issue | EventKind::Flush | EventKind::Local => return None,
            };
            let source = match event.kind {
                EventKind::Fence => None,
                EventKind::Load => Some(event.rf?),
                _ => Some(event.after?),
            };
            let mut synchronises = true;
            let location = match event.kind {
                EventKind::Fence => None,
                _ => {
                    let name = event.location.as_deref()?;
                    let declared = program.locations.iter().find(|l| l.name == name)?;
                    synchronises = !declared.nonatomic;
                    let next = locations.len();
                    Some(*locations.entry(name).or_insert(next))
                }
            };
            steps.push(Some(RunStep {
                thread: names.iter().position(|name| *name == event.thread)?,
                location,
                reads,
                writes,
                synchronises,
                source: match source {
                    Some(EventRef::Event(index)) => Some(index),
                    _ => None,
                },
            }));
        }
        Some(Graph {
            steps,
            threads: names.len(),
            locations: locations.len(),
        })
    }

    /// Whether release/acquire allows the run with these changes.
    pub fn is_allowed(&self, changes: &Changes) -> bool {
        let count = self.steps.len();
        let empty: Past = vec![0; count.div_ceil(64).max(1)];
        let mut pasts: Vec<Past> = vec![empty.clone(); self.threads];
        let mut past_of: Vec<Past> = vec![empty.clone(); count];
        // Fences follow each other: each reads from the one before.
        let mut fences = empty;
        let mut modification: Vec<Vec<usize>> = vec![Vec::new(); self.locations];
        // What a load that has become a read-modify-write leaves behind is what it has read: the last one that did so.
        let mut same_value: FxHashMap<(usize, Option<usize>), usize> = FxHashMap::default();
        let is_changed = |step: usize| changes.rmws.contains(&step);
        let fence = |pasts: &mut Vec<Past>, fences: &mut Past, thread: usize| {
            join(&mut pasts[thread], fences);
            fences.clone_from(&pasts[thread]);
        };
        for at in 0..=count {
            for (_, thread) in changes.fences.iter().filter(|(slot, _)| *slot == at) {
                fence(&mut pasts, &mut fences, *thread);
            }
            let Some(Some(step)) = self.steps.get(at) else {
                continue;
            };
            pasts[step.thread][at / 64] |= 1 << (at % 64);
            let Some(location) = step.location else {
                fence(&mut pasts, &mut fences, step.thread);
                continue;
            };
            let order = &mut modification[location];
            // Places in modification order: 0 is the initial value.
            let known = order
                .iter()
                .rposition(|&write| contains(&pasts[step.thread], write))
                .map_or(0, |index| index + 1);
            let (reads, writes) = (step.reads || is_changed(at), step.writes || is_changed(at));
            let place = |write: Option<usize>| match write {
                None => Some(0),
                Some(write) => Some(order.iter().position(|&other| other == write)? + 1),
            };
            let Some(mut source) = place(step.source) else {
                return false;
            };
            let mut write = step.source;
            if (writes || source < known)
                && let Some(&same) = same_value.get(&(location, step.source))
                && let Some(behind) = place(Some(same))
            {
                (source, write) = (behind, Some(same));
            }
            if source < known {
                return false;
            }
            if writes {
                let is_rmw = |next: &usize| {
                    let next_reads = |next: &RunStep| next.reads;
                    is_changed(*next) || self.steps[*next].as_ref().is_some_and(next_reads)
                };
                if order.get(source).is_some_and(is_rmw) {
                    return false;
                }
                order.insert(source, at);
                if !step.writes {
                    same_value.insert((location, step.source), at);
                }
            }
            if let Some(write) = write
                && reads
                && step.synchronises
            {
                let past = past_of[write].clone();
                join(&mut pasts[step.thread], &past);
            }
            past_of[at].clone_from(&pasts[step.thread]);
        }
        true
    }
}

/// What is changed in a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// Fences more: each is executed by a thread (the second number) just before the step with the first number; of those with the same
    /// first number, the first in the list is executed first.
    pub fences: Vec<(usize, usize)>,
    /// Stores that are exchanges, and loads that add 0, by their numbers.
    pub rmws: Vec<usize>,
}
