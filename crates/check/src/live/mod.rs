//! `live`: under a fair scheduler no thread is stuck for ever.
//!
//! A run is *fair* if each thread moves again and again, or again and again cannot move (it has ended, or waits), and if a choice that the program has
//! again and again in the same state is made each way again and again. A thread is *stuck* in a fair run if it never ends, no error stops it, and from some point on it
//! stays in one loop that has a way out (`palisade_lang::loops`), or does not move at all. A program is *live* if no thread is stuck in any fair run.
//!
//! Under TSO the same is asked of runs with buffers, each of which is like a thread that has to move again and again while it has something to do: no
//! store stays in its buffer for ever. Under release/acquire and C++20 no write stays invisible for ever: of each location only finitely many reads see
//! anything older than a given write. In these runs a program that is robust does what it does in fair runs of SC (a run without end that is not
//! like one of SC would have a beginning that is not). `tso` and `weak` say what is decided for other programs.
//!
//! A thread that is stuck *waits* if from some point on it could not get out even if it alone went on. Otherwise it is
//! *starved*: it could, again and again, but always comes at the wrong moment. Where every thread that goes on is stuck itself, that is a *livelock*.

mod fair;
mod graph;
mod lasso;
pub(crate) mod rounds;
mod tso;
mod weak;
mod words;

use web_time::Instant;

use palisade_lang::{Instance, Program};

use crate::note::Note;
use crate::reach::{Beyond, Buffers, TsoSpace};
use crate::state::Frame;
use crate::{Answer, Control, Model, Options, Reductions, Refusal, Stats, Verdict};
use fair::{Stay, Stuck};
use graph::{Graph, Stop, Watch};

/// What is stuck, and in what way.
pub(crate) enum Hang {
    /// It could not get out even alone.
    Waits,
    /// It could, and so could each thread that moves; all of them are stuck.
    Livelock,
    /// It could, but others always come first.
    Starved,
}

/// After so many states the graph is looked at for the first time; then after some times as many.
const FIRST_LOOK: usize = 1 << 12;
const NEXT_LOOK: usize = 8;

/// Said where the states with longer buffers are not known.
const TOO_LONG: &str = "no thread is stuck as long as buffers are short, but they can get longer";

/// Decides `live`.
pub(crate) fn check(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    if let Some(name) = &options.thread
        && !program
            .instances()
            .iter()
            .any(|i| is_meant(program, i, name))
    {
        return Err(Refusal {
            message: format!("there is no thread `{name}`"),
            span: None,
        });
    }
    match options.model {
        Model::Sc => Ok(under_sc(program, options, control)),
        Model::Tso => Ok(tso::check(program, options, control)),
        _ => weak::check(program, options, control),
    }
}

/// Whether a running thread, or all copies of its thread, are called this.
fn is_meant(program: &Program, instance: &Instance, name: &str) -> bool {
    instance.name == *name || program.thread(instance.thread).name == *name
}

/// Decides `live` under SC.
fn under_sc(program: &Program, options: &Options, control: &Control<'_>) -> Answer {
    with_buffers(program, options, control, None).answer
}

/// What was found with buffers of some length.
struct Looked {
    answer: Answer,
    /// No thread is stuck as far as was seen, but a store did not fit.
    too_short: bool,
}

/// Decides `live` under SC, or under TSO with buffers of this length: then a state in which a store does not fit is cut off.
fn with_buffers(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    bound: Option<usize>,
) -> Looked {
    let start = Instant::now();
    let forgets = options.reductions.dead_registers;
    let mut looked = decide(program, options, control, forgets, bound);
    let answer = &mut looked.answer;
    if answer.verdict == Verdict::Violated && options.reductions.dead_registers {
        // The cycle of the run is to close with all registers, also those that are not read again.
        let rest = Options {
            timeout: options.timeout.map(|t| t.saturating_sub(start.elapsed())),
            ..options.clone()
        };
        let exact = decide(program, &rest, control, false, bound).answer;
        answer.stats.add(&exact.stats);
        answer.witnesses = exact.witnesses;
        if answer.witnesses.is_empty() {
            answer.notes.push(Note::NoClosedRun);
        }
    }
    looked
}

fn decide(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    dead_registers: bool,
    bound: Option<usize>,
) -> Looked {
    let start = Instant::now();
    // Elsewhere the way to the cycle is a run like any other.
    let lists_all = matches!(options.model, Model::Sc | Model::Tso);
    let reductions = Reductions {
        dead_registers,
        ..Reductions::NONE
    };
    // What a `never` says is not asked here, so that it needs not be visible.
    let mut plain = program.clone();
    plain.nevers.clear();
    let frame = Frame::new(&plain, &reductions);
    let buffers = Buffers::new(bound.unwrap_or(0), Beyond::Refuse);
    let space = TsoSpace {
        frame: &frame,
        buffers: &buffers,
        moving: None,
        bound_met: Default::default(),
    };
    let mut graph = Graph::new(&frame, bound.map(|_| &space));
    let mut answer = Answer::dismissed(0, start.elapsed());
    let mut most = FIRST_LOOK;
    let mut too_short = false;
    let mut watch = Watch {
        start,
        timeout: options.timeout,
        cancel: control.cancel,
        look: 0.0,
    };
    let mut seen = 0;
    let why = loop {
        let grown = graph.grow(most, &watch, options, control);
        let begin = Instant::now();
        match first_hang(&graph, options, &watch) {
            Ok(Some((stay, hang))) => {
                answer.verdict = Verdict::Violated;
                let witness = lasso::witness(program, &graph, &stay, &hang, lists_all);
                answer.witnesses.push(witness);
                break None;
            }
            Ok(None) => seen = graph.expanded(),
            Err(stop) => break Some(stop),
        }
        watch.look = begin.elapsed().as_secs_f64() / seen.max(1) as f64;
        match grown {
            Ok(()) => {
                too_short = graph.cut.contains(&true);
                if too_short {
                    answer.verdict = Verdict::Unknown(TOO_LONG.to_owned());
                }
                break None;
            }
            Err(Stop::Enough) => most = most.saturating_mul(NEXT_LOOK),
            Err(stop) => break Some(stop),
        }
    };
    if let Some(Stop::Limit(why)) = why {
        let reason = format!("{why}; {seen} states were seen, and no thread is stuck in them");
        answer.verdict = Verdict::Unknown(reason);
    }
    if graph.errors {
        answer.notes.push(Note::ProgramErrs);
    }
    answer.stats = Stats {
        states: graph.states() as u64,
        transitions: graph.edges.len() as u64,
        queries: 1,
        wall: start.elapsed(),
        peak_memory_bytes: graph.bytes() as u64,
        ..Stats::default()
    };
    Looked { answer, too_short }
}

/// The nearest place where a thread waits for ever; if there is none, the nearest where one is starved.
fn first_hang(
    graph: &Graph<'_, '_>,
    options: &Options,
    watch: &Watch<'_>,
) -> Result<Option<(Stay, Hang)>, Stop> {
    let instances = graph.frame.threads.instances();
    let asked = |&thread: &usize| {
        let name = options.thread.as_ref();
        name.is_none_or(|name| is_meant(graph.frame.program(), &instances[thread], name))
    };
    let mut threads: Vec<Stuck<'_, '_, '_>> = Vec::new();
    for thread in (0..graph.frame.thread_count()).filter(asked) {
        watch.check()?;
        threads.push(Stuck::new(graph, thread, watch));
    }
    let nearest = |found: Vec<Option<Stay>>| {
        let found = found.into_iter().flatten();
        found.min_by_key(|stay| stay.states[0])
    };
    let waiting = threads.iter().map(|stuck| {
        watch.check()?;
        let gets_out = stuck.gets_out_alone();
        stuck.stay(|state| !gets_out[state])
    });
    if let Some(stay) = nearest(waiting.collect::<Result<_, Stop>>()?) {
        return Ok(Some((stay, Hang::Waits)));
    }
    let starved = threads.iter().map(|stuck| stuck.stay(|_| true));
    let Some(stay) = nearest(starved.collect::<Result<_, Stop>>()?) else {
        return Ok(None);
    };
    let hang = match lasso::all_are_stuck(graph, &stay) {
        true => Hang::Livelock,
        false => Hang::Starved,
    };
    Ok(Some((stay, hang)))
}
