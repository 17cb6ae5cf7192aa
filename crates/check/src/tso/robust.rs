//! `robust` under TSO: no attack is feasible.

use web_time::Instant;

use palisade_lang::Program;

use super::attack::AttackSpace;
use super::filter::attacks;
use super::witness::witness;
use crate::search::search;
use crate::state::Frame;
use crate::{Answer, Control, Options};

/// Decides `robust` under TSO.
pub(crate) fn check(program: &Program, options: &Options, control: &Control<'_>) -> Answer {
    // What a `never` says is no part of a trace.
    let start = Instant::now();
    let mut program = program.clone();
    program.nevers.clear();
    let program = &program;
    let attacks = attacks(program, options.reductions.static_filter);
    if attacks.left == 0 {
        return Answer::dismissed(attacks.all, start.elapsed());
    }
    // Where all violations are wanted, it does matter which thread it is.
    let frame = match options.all {
        true => Frame::new(program, &options.reductions),
        false => Frame::with_named_or_equal(program, &options.reductions),
    };
    let space = AttackSpace::new(
        &frame,
        options.reductions.partial_order,
        options.reductions.static_filter,
        options.all,
        attacks.may_begin,
    );
    let (outcome, mut answer) = search(&space, options, control);
    answer.stats.queries = attacks.left;
    answer.stats.pruned = attacks.all - attacks.left;
    let mut view = frame.threads.view();
    answer.tell(&outcome, options, |finding| {
        witness(&space, &mut view, finding)
    });
    answer.note_errors(&space.error_seen);
    answer
}
