//! Backwards with load buffers: decides reachability under TSO for every program with finite data.
//!
//! After *The Benefits of Duality in Verifying Concurrent Programs under TSO* (Abdulla, Atig, Bouajjani, Ngo 2016). A store reaches memory at once; instead,
//! each thread has a first-in first-out buffer of *messages* that it may still read, and lags behind memory:
//!
//! - A store of v to x sets memory and appends the own message (x, v) to the thread's buffer.
//! - At any time a thread appends the plain message (x, v) for what memory holds, or drops its oldest message.
//! - A load of x reads the newest own message of x; if there is none, the oldest message, which must be one of x.
//! - A fence, a locked instruction, a `seqcst` store and the border of a block need the buffer empty; they, and all of a block, work on memory itself. While
//!   a thread is inside a block, no other thread does anything.
//!
//! The same control, registers and memory can be reached as under TSO with empty store buffers. Where one buffer holds more plain messages than another
//! it can do no less, and by Higman's lemma there is no endless sequence of configurations none of which is below a later one. So the configurations from
//! which a goal can be reached are those above finitely many *minimal* ones, and [`backward`] finds these, beginning with the goals.
//!
//! What makes it fast enough is to stay among configurations that exist as far as a cheap forward walk can tell ([`overview`]), and not to
//! keep intermediate configurations: messages that memory still holds are appended, and own messages dropped, as part of the next step. And values that
//! no operation tells apart are one ([`by_class`]); what is found that way is a run of the program itself, with its own values.

mod backward;
mod copies;
mod messages;
mod moved;
mod overview;
mod run;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::sync::atomic::Ordering::Relaxed;

use super::exact::witness;
use super::replay::with_other_values;
use super::walk::TsoSpace;
use super::{Context, Round, unknown};
use crate::certificate::{Take, put_state, violated};
use crate::classes::by_class;
use crate::note::{How, Note};
use crate::state::Frame;
use crate::{Answer, Control, NoCertificate, Options, Progress, Stats, Verdict};
use backward::{Backward, End};
pub use copies::{WithCopies, load_buffer_copies, with_any_number_of_copies};
use messages::Message;
use overview::{Detail, Overview};
use palisade_lang::Program;
use palisade_memory::Witness;

/// So many predecessors are looked at by the backward search in about the time that a walk takes for a state and its steps.
const PREDECESSORS_A_STATE: u64 = 8;

/// The search, which goes on where it has stopped.
pub(crate) struct Dual<'p> {
    frame: Frame<'p>,
    overview: Overview,
    backward: Option<Backward>,
    /// Values are by class.
    by_class: bool,
    /// What was counted already.
    counted: (u64, u64),
}

impl<'p> Dual<'p> {
    /// Searches the program with values by class, for which there is a place.
    pub fn new(context: &Context<'p, '_>, place: &'p OnceCell<Option<Program>>) -> Self {
        let merged = place.get_or_init(|| match context.options.reductions.dead_registers {
            true => by_class(context.program),
            false => None,
        });
        match merged {
            None => Self::with_detail(context, context.program, Detail::Needed),
            Some(program) => Dual {
                by_class: true,
                ..Self::with_detail(context, program, Detail::Needed)
            },
        }
    }

    fn with_detail(context: &Context<'_, '_>, program: &'p Program, detail: Detail) -> Self {
        let frame = Frame::new(program, &context.options.reductions);
        Dual {
            overview: Overview::new(&frame, detail),
            frame,
            backward: None,
            by_class: false,
            counted: (0, 0),
        }
    }

    /// Goes on for about the time that a walk takes for so many states.
    pub fn round(&mut self, context: &mut Context<'_, '_>, most: u64) -> Round {
        let end = self.search(context, most);
        let states = self.states();
        let steps = self.overview.steps + self.backward.as_ref().map_or(0, |b| b.transitions);
        let mut answer = unknown(String::new());
        answer.stats = Stats {
            states: states - self.counted.0,
            transitions: steps - self.counted.1,
            queries: 1,
            peak_memory_bytes: palisade_explore::resident_bytes().unwrap_or(0),
            ..Stats::default()
        };
        self.counted = (states, steps);
        context.add(&answer);
        match end {
            End::TooMany => Round::Undecided,
            End::Stopped(why) => {
                let nodes = self.overview.nodes();
                answer.verdict = Verdict::Unknown(match self.backward {
                    None => format!(
                        "{why}; going forward, {nodes} states without their buffers were seen"
                    ),
                    Some(_) => format!(
                        "{why}; going backward from what must not be, {} configurations were seen",
                        states - nodes as u64
                    ),
                });
                Round::Decided(answer)
            }
            End::Unreachable => {
                answer.verdict = Verdict::Holds;
                answer.notes.push(Note::How(match &self.backward {
                    None => How::LoadBuffersForward,
                    Some(backward) => How::LoadBuffersBackward {
                        minimal: backward.minimal().count(),
                    },
                }));
                Round::Decided(answer)
            }
            End::Reachable(first) => self.reachable(context, answer, first),
        }
    }

    fn states(&self) -> u64 {
        let elements = self.backward.as_ref().map_or(0, |b| b.elements.len());
        (self.overview.nodes() + elements) as u64
    }

    fn search(&mut self, context: &Context<'_, '_>, most: u64) -> End {
        let options = context.remaining();
        let (start, memory) = (web_time::Instant::now(), options.memory_limit());
        let most_states = context.options.most_states;
        let mut stop = |states: u64, bytes: u64| {
            let resident = palisade_explore::resident_bytes().unwrap_or(bytes);
            (context.control.progress)(&Progress {
                states,
                memory_bytes: resident,
                ..Progress::default()
            });
            let why = match () {
                () if context.control.cancel.load(Relaxed) => "it was interrupted",
                () if options.timeout.is_some_and(|t| start.elapsed() >= t) => {
                    "the time limit is reached"
                }
                // Tables double when they grow.
                () if memory
                    .is_some_and(|m| resident.max(bytes).saturating_add(bytes / 2) >= m) =>
                {
                    "the memory limit is reached"
                }
                () if most_states.is_some_and(|most| states >= most) => {
                    "as many states as were wanted are seen"
                }
                () => return None,
            };
            Some(why.to_owned())
        };
        if !self.overview.is_complete() {
            if let Err(why) = self.overview.walk(&self.frame, most, &mut stop) {
                return End::Stopped(why);
            }
            if !self.overview.is_complete() {
                return End::TooMany;
            }
        }
        if let Some(doubt) = self.frame.doubt() {
            return End::Stopped(doubt.to_owned());
        }
        if self.overview.goals.is_empty() {
            return End::Unreachable;
        }
        let (frame, overview) = (&self.frame, &self.overview);
        let backward = (self.backward).get_or_insert_with(|| Backward::new(frame, overview));
        let most = most.saturating_mul(PREDECESSORS_A_STATE);
        backward.search(frame, overview, most, &mut |elements, bytes| {
            stop(overview.nodes() as u64 + elements, overview.bytes() + bytes)
        })
    }

    /// The chain of configurations as a run under TSO.
    fn reachable(&mut self, context: &Context<'_, '_>, mut answer: Answer, first: u32) -> Round {
        let Some(witness) = self.witness(context.program, first) else {
            debug_assert!(false, "a chain of configurations is a run under TSO");
            return Round::GaveUp(
                "what was found with load buffers could not be made into a run under TSO".into(),
            );
        };
        answer.verdict = Verdict::Violated;
        answer.witnesses.push(witness);
        Round::Decided(answer)
    }

    fn witness(&mut self, program: &Program, first: u32) -> Option<Witness> {
        let backward = self.backward.as_mut()?;
        let (finding, buffers) = run::run(&self.frame, &self.overview, backward, first)?;
        let space = TsoSpace {
            frame: &self.frame,
            buffers: &buffers,
            moving: None,
            bound_met: Default::default(),
        };
        match self.by_class {
            true => with_other_values(program, &space, &finding),
            false => Some(witness(program, &space, &finding)),
        }
    }
}

/// The states of a certificate: all nodes of the forward walk, and the minimal configurations.
pub(crate) fn load_buffer_states(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    take: &mut Take<'_>,
) -> Result<(), NoCertificate> {
    let context = Context::new(program, options, control);
    // What checks them does not know what a thread will read, nor which values are alike.
    let dual = Dual::with_detail(&context, program, Detail::All);
    put_states(&context, dual, take)
}

fn put_states(
    context: &Context<'_, '_>,
    mut dual: Dual<'_>,
    take: &mut Take<'_>,
) -> Result<(), NoCertificate> {
    match dual.search(context, u64::MAX) {
        End::Unreachable => {}
        End::Stopped(why) => return Err(NoCertificate::Unfinished(why)),
        End::Reachable(_) | End::TooMany => return Err(violated()),
    }
    let Dual {
        frame,
        overview,
        backward,
        ..
    } = &dual;
    let mut view = frame.threads.view();
    let mut numbers = Vec::new();
    let mut put = |kind: i64, node: u32, buffers: &mut dyn Iterator<Item = Vec<Message>>| {
        numbers.clear();
        numbers.push(kind);
        if put_state(frame, &mut view, overview.row(node), None, &mut numbers).is_none() {
            return Ok(());
        }
        for buffer in buffers {
            numbers.push(buffer.len() as i64);
            let mut messages: Vec<[i64; 3]> = (buffer.iter())
                .map(|&message| {
                    let (location, value) = overview.messages.content(message);
                    let own = i64::from(message.is_own());
                    [i64::from(location.0), view.value(value), own]
                })
                .collect();
            if kind == 0 {
                messages.sort_unstable();
            }
            numbers.extend(messages.into_iter().flatten());
        }
        take(&numbers).map_err(NoCertificate::Failed)
    };
    for node in 0..overview.nodes() as u32 {
        let threads = 0..frame.thread_count();
        let held = |thread| overview.sets.iter(overview.held(node, thread)).collect();
        put(0, node, &mut threads.map(held))?;
    }
    if let Some(backward) = backward {
        for element in backward.minimal() {
            let words = element.words.iter();
            put(
                1,
                element.node,
                &mut words.map(|&word| backward.words.get(word).to_vec()),
            )?;
        }
    }
    Ok(())
}
