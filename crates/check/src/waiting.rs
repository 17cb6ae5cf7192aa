//! `deadlock` in the searches: what `palisade_memory::waiting` defines, on rows.
//!
//! A row of a [`Frame`] has for each location the value that a thread which waits comes to see: what memory holds under SC and (with empty buffers) under
//! TSO, the newest value under release/acquire.
//!
//! What makes searches smaller agrees with it. Registers that are not read any more are forgotten in a local state, so that a loop without effect comes back to it. Local
//! steps that are run at once hide no deadlock: a loop has a stop, and from any point of a loop without effect the thread gets to a stop of it,
//! passing nothing that a `never` looks at. Where all other threads are put off for steps that go forward and that no `never` sees, a run to a deadlock either
//! has such a step, which may as well come first, or its thread waits at the end: then the step has no effect there and leads along the loop, and the deadlock is still one
//! behind it.

use std::sync::atomic::Ordering::Relaxed;

use palisade_lang::{Op, Program};
use palisade_threads::{ActionKind, LocalId, Status, View};
use rustc_hash::FxHashSet;

use crate::Note;
use crate::sc::execute;
use crate::state::Frame;

/// So many local states of one thread are looked at before it is said that nothing is known.
const MOST_LOCAL_STATES: usize = 20_000;

/// What comes of a thread that is left alone.
#[derive(PartialEq, Eq)]
enum Alone {
    /// It will change memory, end, go wrong, or at least get to another place for good.
    Moves,
    /// It waits, and is not always inside an `atomic` block.
    Waits,
    /// It waits inside a block for ever.
    WaitsInBlock,
}

/// Whether no thread moves any more and not all have ended. Only where a `never` wants to know.
pub(crate) fn is_deadlock(frame: &Frame<'_>, view: &mut View<'_>, row: &[u32]) -> bool {
    frame.asks_deadlock && nothing_moves(frame, view, row, false)
}

/// The same under release/acquire, where a thread may be inside a block that has read an old value, which stands in the row: once it is out of the
/// block it will see what is newest.
pub(crate) fn is_deadlock_in_old_block(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    row: &[u32],
) -> bool {
    frame.asks_deadlock && nothing_moves(frame, view, row, true)
}

fn nothing_moves(frame: &Frame<'_>, view: &mut View<'_>, row: &[u32], in_old_block: bool) -> bool {
    let status = |view: &mut View<'_>, i: usize| view.status(frame.codes[i], LocalId(row[i]));
    if (0..frame.thread_count()).all(|i| status(view, i) == Status::Ended) {
        return false;
    }
    if let Some(holder) = frame.atomic_thread(view, row) {
        match alone(frame, view, row, holder) {
            Alone::Moves => return false,
            Alone::WaitsInBlock => return true,
            Alone::Waits if in_old_block => return false,
            Alone::Waits => {}
        }
    }
    (0..frame.thread_count()).all(|i| {
        let same = i > 0 && frame.codes[i] == frame.codes[i - 1] && row[i] == row[i - 1];
        same || status(view, i) != Status::Running || alone(frame, view, row, i) != Alone::Moves
    })
}

fn alone(frame: &Frame<'_>, view: &mut View<'_>, row: &[u32], thread: usize) -> Alone {
    let code = frame.codes[thread];
    let start = LocalId(row[thread]);
    let mut seen = FxHashSet::default();
    let mut work = vec![start];
    let (mut steps, mut comes_back, mut outside) = (false, false, false);
    while let Some(here) = work.pop() {
        // Once it is not known somewhere, there is no proof any more; what else is found is found with less.
        let most = match frame.doubt() {
            None => MOST_LOCAL_STATES,
            Some(_) => MOST_LOCAL_STATES / 100,
        };
        if seen.len() > most {
            frame.unsure_of_deadlock.store(true, Relaxed);
            return Alone::Moves;
        }
        if view.status(code, here) != Status::Running {
            return Alone::Moves;
        }
        outside |= !view.is_atomic(code, here);
        for action in 0..view.actions(code, here) {
            let kind = view.action(code, here, action).kind;
            if matches!(kind, ActionKind::Error(_)) {
                return Alone::Moves;
            }
            let access = match execute(frame, view, row, kind) {
                Ok(Some(access)) => access,
                Ok(None) => continue,
                Err(_) => return Alone::Moves,
            };
            if let Some((location, value)) = access.written
                && view.value(row[frame.component(location)]) != value
            {
                return Alone::Moves;
            }
            steps |= here == start;
            let read = access.read.unwrap_or(0);
            let nexts: Vec<LocalId> = view.resume(code, here, action, read).to_vec();
            for next in nexts {
                comes_back |= frame.is_same_place(view, code, next, start);
                if seen.insert(next) && next != start {
                    work.push(next);
                }
            }
        }
    }
    match comes_back || !steps {
        true if outside => Alone::Waits,
        true => Alone::WaitsInBlock,
        false => Alone::Moves,
    }
}

/// Said where a walk met a thread whose loop has too many local states.
pub(crate) const UNSURE: &str = "a thread may go round in a loop with so many different values in its registers that it was not found out whether it waits there for ever";

/// What `never deadlock` does not say about a program: loops that change memory may go on for ever, too.
pub(crate) fn note(program: &Program) -> Option<Note> {
    if !palisade_lang::never::mentions_deadlock(program) {
        return None;
    }
    let mut lines: Vec<u32> = Vec::new();
    for thread in &program.threads {
        let loops = palisade_lang::loops::Loops::of(thread, program.domain);
        for index in 0..loops.len() {
            let points = loops.points(index);
            let inside = |point| points.contains(&point);
            let mut steps = (thread.transitions.iter()).filter(|t| inside(t.from) && inside(t.to));
            let changes = steps.any(|t| matches!(t.op, Op::Store { .. } | Op::Rmw { .. }));
            let places = (thread.transitions.iter())
                .filter(|t| inside(t.from) && t.span.start < t.span.end)
                .map(|t| program.source.line_column(t.span.start).line);
            if let Some(line) = places.min().filter(|_| changes) {
                lines.extend((!lines.contains(&line)).then_some(line));
            }
        }
    }
    lines.sort_unstable();
    (!lines.is_empty()).then_some(Note::SpinsWithEffect(lines))
}
