//! `robust` under TSO: no attack is feasible.

use std::sync::atomic::Ordering;

use palisade_lang::Program;

use super::attack::AttackSpace;
use super::overtake::pairs;
use super::witness::witness;
use crate::search::search;
use crate::state::Frame;
use crate::{Answer, Control, Options, Verdict};

/// Decides `robust` under TSO.
pub(crate) fn check(program: &Program, options: &Options, control: &Control<'_>) -> Answer {
    // What a `never` says is no part of a trace.
    let mut program = program.clone();
    program.nevers.clear();
    let program = &program;
    let frame = Frame::new(program, &options.reductions);
    let mut all_pairs = 0;
    let mut open_pairs = 0;
    let mut may_begin: Vec<Vec<bool>> = Vec::new();
    for thread in &program.threads {
        let pairs = pairs(program, thread);
        all_pairs += pairs.all;
        open_pairs += pairs.open.len() as u64;
        let mut may = vec![false; thread.transitions.len()];
        for &(store, _) in &pairs.open {
            may[store as usize] = true;
        }
        may_begin.push(may);
    }
    let space = AttackSpace::new(
        &frame,
        options.reductions.partial_order,
        options.reductions.static_filter,
        options.all,
        may_begin,
    );
    let (outcome, mut answer) = search(&space, options, control);
    answer.stats.queries = open_pairs;
    answer.stats.pruned = all_pairs - open_pairs;
    let mut view = frame.threads.view();
    for finding in &outcome.findings {
        answer.verdict = Verdict::Violated;
        answer.witnesses.extend(witness(&space, &mut view, finding));
        if !options.all {
            break;
        }
    }
    if space.error_seen.load(Ordering::Relaxed) {
        answer.notes.push(crate::ERROR_NOTE.into());
    }
    answer
}
