//! `safe` under TSO: is a state that a `never` forbids, or an error of the program, reachable with store buffers?
//!
//! Three ways lead to an answer, and take turns:
//!
//! - [`lazy`]: SC reachability of the program, extended again and again by what robustness says that SC lacks (Algorithm 1 of *Lazy TSO
//!   Reachability*). The first round asks SC and robustness, and decides every robust program.
//! - [`exact`]: walks with the buffers as they are, exact up to a length, as sets beyond it.
//! - [`dual`]: backwards from what must not be, with load buffers in place of store buffers; it decides every program with finite data.
//!
//! Each can be asked alone ([`Route`](crate::Route)), so that they can judge each other.

mod bounded;
pub(crate) mod buffers;
mod dual;
mod exact;
mod lazy;
mod replay;
mod walk;

use std::cell::OnceCell;

use web_time::Instant;

use palisade_lang::Program;
use palisade_memory::{Event, EventKind, Witness};

use crate::{Answer, Control, Model, Options, Route, Stats, Verdict};
pub(crate) use bounded::most_pending_stores;
pub(crate) use buffers::{Beyond, Buffer, BufferView, Buffers};
use dual::Dual;
pub(crate) use dual::load_buffer_states;
pub use dual::{WithCopies, load_buffer_copies, with_any_number_of_copies};
use exact::Exact;
use lazy::Lazy;
pub(crate) use walk::{FLUSH, TsoSpace};

/// What all rounds of a search share.
pub(crate) struct Context<'p, 'c> {
    pub program: &'p Program,
    pub options: &'p Options,
    pub control: &'p Control<'c>,
    start: Instant,
    total: Stats,
    /// Where the way whose turn it is has to stop, counted in all states so far.
    turn_ends: Option<u64>,
}

/// What a round has come to.
pub(crate) enum Round {
    /// An answer, be it that a limit is reached.
    Decided(Answer),
    /// Another round may tell.
    Undecided,
    /// Another round would not tell either; why.
    GaveUp(String),
}

impl<'p, 'c> Context<'p, 'c> {
    fn new(program: &'p Program, options: &'p Options, control: &'p Control<'c>) -> Self {
        Context {
            program,
            options,
            control,
            start: Instant::now(),
            total: Stats::default(),
            turn_ends: None,
        }
    }

    /// The options with the time that is left.
    pub fn remaining(&self) -> Options {
        let spent = self.start.elapsed();
        let most_states = [self.options.most_states, self.turn_ends];
        Options {
            timeout: self.options.timeout.map(|t| t.saturating_sub(spent)),
            most_states: (most_states.into_iter().flatten())
                .map(|most| most.saturating_sub(self.total.states))
                .min(),
            ..self.options.clone()
        }
    }

    /// One round of one way, over about so many states. `None`: it would have needed more.
    fn turn(&mut self, states: u64, round: impl FnOnce(&mut Self) -> Round) -> Option<Round> {
        let end = self.total.states.saturating_add(states);
        self.turn_ends = Some(end);
        let round = round(self);
        self.turn_ends = None;
        match &round {
            Round::Decided(answer)
                if matches!(answer.verdict, Verdict::Unknown(_))
                    && self.total.states >= end
                    && self.options.most_states.is_none_or(|most| end < most) =>
            {
                None
            }
            _ => Some(round),
        }
    }

    /// Counts what a search has taken.
    pub fn add(&mut self, answer: &Answer) {
        self.total.add(&answer.stats);
    }

    /// Counts a round.
    pub fn count_round(&mut self) {
        self.total.iterations += 1;
    }

    fn finish(&self, mut answer: Answer) -> Answer {
        answer.stats = Stats {
            wall: self.start.elapsed(),
            ..self.total
        };
        answer
    }
}

/// Decides `safe` under TSO, where it can.
pub(crate) fn check(program: &Program, options: &Options, control: &Control<'_>) -> Answer {
    let context = &mut Context::new(program, options, control);
    let answer = match options.route {
        Route::Any => any(context),
        Route::Lazy => {
            let mut lazy = Lazy::new(context);
            rounds(context, |context| lazy.round(context))
        }
        Route::Buffers => {
            let mut exact = Exact::new(context);
            rounds(context, |context| {
                context.count_round();
                exact.round(context)
            })
        }
        Route::Bounded => match Exact::bounded(context) {
            Some(mut exact) => rounds(context, |context| {
                context.count_round();
                exact.round(context)
            }),
            None => unknown("a loop stores without ever waiting for the buffer".into()),
        },
        Route::Dual => {
            let by_class = OnceCell::new();
            let mut dual = Dual::new(context, &by_class);
            rounds(context, |context| {
                context.count_round();
                dual.round(context, u64::MAX)
            })
        }
    };
    let mut answer = context.finish(answer);
    // Asked for a few states only, the reason is that they were few.
    if let Verdict::Unknown(reason) = &mut answer.verdict
        && options.most_states.is_none()
        && let Some(unbounded) = palisade_lang::finite::unbounded(program)
    {
        let what = match unbounded.shared {
            true => "the shared location",
            false => "the register",
        };
        *reason += &format!(
            "; {what} `{}` may hold any number, so that there may be no end of states: with a domain (`--domain 4`, say) every program is decided",
            unbounded.name
        );
    }
    answer
}

/// About how many states each way may look at in the second round; four times as many in each further one.
const FIRST_TURN: u64 = 1 << 18;

/// All ways in turn, each over about as many states as the others. The lazy one has a start: its first round decides what is robust or goes
/// wrong under SC already, and a delay that does harm is nearly always found in the second, in fewer states than with buffers.
fn any(context: &mut Context<'_, '_>) -> Answer {
    let mut lazy = Some(Lazy::new(context));
    let mut exact: Option<Exact<'_>> = None;
    let by_class = OnceCell::new();
    let mut dual: Option<Dual<'_>> = None;
    let mut backward = true;
    let (mut round, mut states) = (0, FIRST_TURN);
    rounds(context, |context| {
        round += 1;
        if round == 1 {
            return match lazy.as_mut().map(|lazy| lazy.round(context)) {
                Some(Round::Decided(answer)) => Round::Decided(answer),
                Some(Round::GaveUp(_)) => {
                    lazy = None;
                    Round::Undecided
                }
                Some(Round::Undecided) | None => Round::Undecided,
            };
        }
        if let Some(way) = &mut lazy {
            let before = way.clone();
            match context.turn(states, |context| way.round(context)) {
                Some(Round::Decided(answer)) => return Round::Decided(answer),
                Some(Round::GaveUp(_)) => lazy = None,
                Some(Round::Undecided) => {}
                // The same again when it is allowed more.
                None => *way = before,
            }
        }
        let way = exact.get_or_insert_with(|| Exact::new(context));
        if let Some(Round::Decided(answer)) = context.turn(states, |context| way.round(context)) {
            return Round::Decided(answer);
        }
        if backward {
            let way = dual.get_or_insert_with(|| Dual::new(context, &by_class));
            match way.round(context, states) {
                Round::Decided(answer) => return Round::Decided(answer),
                Round::GaveUp(_) => backward = false,
                Round::Undecided => {}
            }
        }
        states = states.saturating_mul(4);
        Round::Undecided
    })
}

/// Round after round, until one is the last.
fn rounds<'p, 'c>(
    context: &mut Context<'p, 'c>,
    mut round: impl FnMut(&mut Context<'p, 'c>) -> Round,
) -> Answer {
    loop {
        match round(context) {
            Round::Decided(answer) => return answer,
            Round::Undecided => {}
            Round::GaveUp(reason) => return unknown(reason),
        }
    }
}

fn unknown(reason: String) -> Answer {
    Answer {
        verdict: Verdict::Unknown(reason),
        witnesses: Vec::new(),
        stats: Stats::default(),
        notes: Vec::new(),
        harm: None,
    }
}

/// A run under SC as TSO executes it: every store is flushed as soon as it is issued.
pub(crate) fn as_tso_run(witness: &mut Witness) {
    let mut events: Vec<Event> = Vec::new();
    let mut new_index = Vec::new();
    for event in &witness.events {
        if event.kind == EventKind::Store && !event.atomic {
            let issue = events.len();
            events.push(Event {
                kind: EventKind::Issue,
                ..event.clone()
            });
            events.push(Event {
                kind: EventKind::Flush,
                issue: Some(issue),
                ..event.clone()
            });
        } else {
            events.push(event.clone());
        }
        new_index.push(events.len() - 1);
    }
    if let Some(pattern) = &mut witness.pattern {
        for event in &mut pattern.events {
            *event = new_index[*event];
        }
    }
    if let Some(start) = &mut witness.loop_start {
        *start = match start.checked_sub(1) {
            Some(before) => new_index.get(before).map_or(*start, |last| last + 1),
            None => 0,
        };
    }
    witness.events = events;
    witness.model = Model::Tso;
}
