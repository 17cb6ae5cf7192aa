//! The oracle: which sequences of one thread should be emulated. Robustness makes a good one (section 4 of the paper): where no attack is
//! feasible, TSO reaches what SC reaches; where one is, the attacker's way from the delayed store to the load that overtakes it is such a sequence.

use rustc_hash::FxHashMap;

use super::extend::{Extended, Sequence, Tag};
use crate::search::search;
use crate::state::Frame;
use crate::tso::attack::AttackSpace;
use crate::tso::filter::attacks;
use crate::tso::guide::Guide;
use crate::tso::witness::replay;
use crate::{Answer, Control, Options, Stats, Verdict};
use palisade_lang::{Op, Program};

/// What the oracle has said before, and will not say again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// Numbers for what an access is in the original program (see [`key`]).
    keys: FxHashMap<(u32, Option<u32>, bool), u32>,
    /// Ways, by code.
    ways: Vec<(usize, Vec<u32>)>,
}

impl Known {
    fn key(&mut self, tag: &Tag) -> u32 {
        let next = self.keys.len() as u32;
        let what = (tag.stands_for, tag.behind, tag.runs.is_some());
        *self.keys.entry(what).or_insert(next)
    }

    /// Takes notice of a sequence of a program.
    pub fn learn(&mut self, extended: &Extended, sequence: &Sequence) {
        let tags = &extended.tags[sequence.code];
        let way = sequence
            .accesses
            .iter()
            .filter_map(|id| tags.iter().find(|tag| tag.id == *id))
            .map(|tag| self.key(tag))
            .collect();
        self.ways.push((sequence.code, way));
    }

    /// A guide to ways that are not known, with at least so many stores.
    ///
    /// A way need not lead into an extension: the original code is still there, and has it as well.
    pub fn guide(&mut self, extended: &Extended, least_stores: u32) -> Guide {
        let keys = extended
            .tags
            .iter()
            .map(|tags| tags.iter().map(|tag| self.key(tag)).collect())
            .collect();
        let mut guide = Guide::new(keys, extended.simulating.clone(), least_stores);
        for (code, way) in &self.ways {
            guide.learn(*code, way);
        }
        guide
    }
}

/// What the oracle says of a program: sequences, the shortest ones that there are, at most one for each pair of a store and a load. None at all
/// where the program is robust (as far as `guide` lets it look). The verdict is `Holds` or `Violated` accordingly, or `Unknown`.
pub(crate) fn ask(
    extended: &Extended,
    guide: Option<&Guide>,
    options: &Options,
    control: &Control<'_>,
) -> (Answer, Vec<Sequence>) {
    let start = web_time::Instant::now();
    let mut program: Program = extended.program.clone();
    program.nevers.clear();
    let attacks = attacks(&program, options.reductions.static_filter);
    if attacks.left == 0 {
        let answer = Answer {
            verdict: Verdict::Holds,
            witnesses: Vec::new(),
            stats: Stats {
                pruned: attacks.all,
                wall: start.elapsed(),
                ..Stats::default()
            },
            notes: Vec::new(),
            harm: None,
        };
        return (answer, Vec::new());
    }
    let frame = Frame::with_equal_threads(&program, &options.reductions);
    let mut space = AttackSpace::new(
        &frame,
        options.reductions.partial_order,
        options.reductions.static_filter,
        true,
        attacks.may_begin,
    );
    space.guide = guide;
    let first_only = Options {
        all: false,
        ..options.clone()
    };
    let (outcome, mut answer) = search(&space, &first_only, control);
    answer.stats.queries = attacks.left;
    answer.stats.pruned = attacks.all - attacks.left;
    let mut view = frame.threads.view();
    let mut sequences = Vec::new();
    for finding in &outcome.findings {
        let Some(run) = replay(&space, &mut view, finding) else {
            continue;
        };
        let code = frame.codes[run.attacker];
        let transitions: Vec<u32> = run.steps[run.store..=run.load]
            .iter()
            .filter(|step| step.instance == run.attacker && step.kind.location().is_some())
            .map(|step| step.transition)
            .collect();
        // Threads with the same code count as one in this search.
        for twin in code..program.threads.len() {
            if !same_code(&program, code, twin) {
                break;
            }
            let tags = &extended.tags[twin];
            let sequence = Sequence {
                code: twin,
                accesses: transitions.iter().map(|&t| tags[t as usize].id).collect(),
            };
            if !sequences.contains(&sequence) {
                sequences.push(sequence);
            }
        }
    }
    if !sequences.is_empty() {
        answer.verdict = Verdict::Violated;
    }
    (answer, sequences)
}

fn same_code(program: &Program, one: usize, other: usize) -> bool {
    one == other || crate::state::same_code(&program.threads[one], &program.threads[other])
}

/// Whether some thread's code has a loop.
pub(crate) fn is_cyclic(program: &Program) -> bool {
    program.threads.iter().any(|thread| {
        // Points without a predecessor are taken away until none is left, or only loops and what is behind them.
        let mut incoming = vec![0u32; thread.points.len()];
        for transition in &thread.transitions {
            incoming[transition.to.index()] += 1;
        }
        let mut work: Vec<usize> = (0..incoming.len()).filter(|&p| incoming[p] == 0).collect();
        let mut taken = 0;
        while let Some(point) = work.pop() {
            taken += 1;
            for transition in thread.outgoing(palisade_lang::PointId(point as u32)) {
                let to = transition.to.index();
                incoming[to] -= 1;
                if incoming[to] == 0 {
                    work.push(to);
                }
            }
        }
        taken < thread.points.len()
    })
}

/// Whether a delay can be as long as one likes: some thread can store again and again without ever waiting for its buffer.
pub(crate) fn stores_without_end(program: &Program) -> bool {
    super::super::bounded::most_pending_stores(program).is_none()
        && program.threads.iter().any(|t| {
            t.transitions
                .iter()
                .any(|t| matches!(t.op, Op::Store { .. }))
        })
}
