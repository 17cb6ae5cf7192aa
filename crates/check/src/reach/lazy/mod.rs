//! Algorithm 1 of *Lazy TSO Reachability*: SC reachability of a program that is extended, round after round, by TSO behaviour that an oracle says SC lacks.
//!
//! A round walks the program under SC. What is found is a run of the original program under TSO ([`witness`]). Otherwise the [`oracle`] names
//! sequences of stores and loads, and the program is extended by them ([`extend`]). If it names none, SC has all that TSO has.
//!
//! - **Loop-free programs** are extended by section 3 of the paper: the delayed store is replaced, so the same sequence cannot be named again, and the
//!   search ends.
//! - **Programs with loops** are extended by section 5: the sequence is added, the store stays. The oracle is told which
//!   sequences it has named before. Where it names no other, that says nothing (the store is still there, and robust the program is not), and
//!   this search gives up. Where a thread can store again and again, each round also asks for a sequence with twice as many stores as the round before.
//!
//! All sequences that the oracle names at once are tried one by one first, side by side, and then all together.

mod extend;
mod oracle;
mod witness;

use palisade_memory::Witness;

use super::exact::wrong_with_two;
use super::{Context, Round, as_tso_run};
use crate::note::{How, Note};
use crate::projection::Sharing;
use crate::state::Frame;
use crate::{Answer, Options, Route, Stats, Verdict};
use extend::{Extended, Sequence, Variant};
use oracle::Known;

/// More sequences than this are not tried one by one.
const MOST_ALONE: usize = 8;

/// Where there are more states than these, few threads at a time are tried before all states are walked: the more states there are, the more views are worth looking at.
const FEW_STATES: [(u64, Sharing); 2] = [(1 << 18, Sharing::Common), (1 << 22, Sharing::All)];

/// The lazy search.
#[derive(Clone)]
pub(crate) struct Lazy {
    extended: Extended,
    variant: Variant,
    /// Whether longer and longer sequences are asked for.
    longer: bool,
    known: Known,
    /// What the oracle has named and is not part of the program yet.
    named: Vec<Sequence>,
    /// How many rounds are over.
    rounds: u32,
    /// How the program was shown to be safe under SC, if not by a walk.
    shown: Option<How>,
}

/// What a walk under SC has come to.
fn under_sc(mut answer: Answer) -> Round {
    match answer.verdict {
        Verdict::Holds => Round::Undecided,
        Verdict::Unknown(_) => Round::Decided(answer),
        Verdict::Violated => {
            answer.witnesses.iter_mut().for_each(as_tso_run);
            answer.notes.push(Note::HappensUnderSc);
            Round::Decided(answer)
        }
    }
}

impl Lazy {
    pub fn new(context: &Context<'_, '_>) -> Self {
        let variant = match oracle::is_cyclic(context.program) {
            true => Variant::Add,
            false => Variant::Replace,
        };
        Lazy {
            extended: Extended::new(context.program),
            variant,
            longer: variant == Variant::Add && oracle::stores_without_end(context.program),
            known: Known::default(),
            named: Vec::new(),
            rounds: 0,
            shown: None,
        }
    }

    /// Lines 3 to 10 of the algorithm.
    pub fn round(&mut self, context: &mut Context<'_, '_>) -> Round {
        context.count_round();
        self.rounds += 1;
        let walked = match self.rounds {
            1 => self.walk_original(context),
            _ => self.extend(context),
        };
        match walked {
            Round::Undecided => self.ask(context),
            other => other,
        }
    }

    /// The program as it was given.
    fn walk_original(&mut self, context: &mut Context<'_, '_>) -> Round {
        if let Some(round) = self.walk_a_little(context) {
            return round;
        }
        let answer = crate::safe::check(context.program, &context.remaining(), context.control);
        context.add(&answer);
        under_sc(answer)
    }

    /// Where there are many states, a few threads at a time may show as much; `None` where all have to be walked.
    fn walk_a_little(&mut self, context: &mut Context<'_, '_>) -> Option<Round> {
        let options = context.options;
        let plain = options.reductions.static_filter
            && options.checkpoints.is_none()
            && options.disk.is_none()
            && !options.all;
        if !plain {
            return None;
        }
        let frame = Frame::new(context.program, &options.reductions);
        for (states, sharing) in FEW_STATES {
            let options = context.remaining();
            if options.most_states.is_some_and(|most| most <= states) {
                return None;
            }
            let few = Options {
                most_states: Some(states),
                ..options.clone()
            };
            let mut answer = crate::safe::check(context.program, &few, context.control);
            context.add(&answer);
            if !matches!(answer.verdict, Verdict::Unknown(_)) || answer.stats.states < states {
                return Some(under_sc(answer));
            }
            if sharing == Sharing::Common
                && context.options.route == Route::Any
                && let Some(answer) = wrong_with_two(context)
            {
                return Some(Round::Decided(answer));
            }
            let options = context.remaining();
            let shown = crate::projection::shows_safe(&frame, sharing, &options, context.control);
            answer.stats = Stats {
                states: shown.states,
                ..Stats::default()
            };
            context.add(&answer);
            if shown.safe {
                self.shown = Some(How::FewThreads);
                return Some(Round::Undecided);
            }
        }
        None
    }

    /// The program with what the oracle has named.
    fn extend(&mut self, context: &mut Context<'_, '_>) -> Round {
        let named = std::mem::take(&mut self.named);
        let mut all: Option<Extended> = None;
        let mut alone = Vec::new();
        for sequence in &named {
            if let Some(extended) = self.extended.extend(sequence, self.variant) {
                alone.push(extended);
            }
            // Another sequence may have replaced a store of this one. Then it is not a sequence of the program any more.
            let base = all.as_ref().unwrap_or(&self.extended);
            if let Some(extended) = base.extend(sequence, self.variant) {
                all = Some(extended);
            }
        }
        let Some(all) = all else {
            return Round::GaveUp("a sequence of stores and loads cannot be emulated".into());
        };
        if alone.len() > 1 && alone.len() <= MOST_ALONE {
            match side_by_side(context, &alone) {
                Round::Undecided => {}
                other => return other,
            }
        }
        let walked = walk(context, &all, &context.remaining());
        self.extended = all;
        conclude(context, walked)
    }

    /// Asks the oracle for more.
    fn ask(&mut self, context: &mut Context<'_, '_>) -> Round {
        let mut guides = Vec::new();
        match self.variant {
            Variant::Replace => guides.push(None),
            Variant::Add if self.rounds == 1 => guides.push(None),
            Variant::Add => {
                guides.push(Some(self.known.guide(&self.extended, 0)));
                if self.longer && self.rounds < 20 {
                    let least = 1 << (self.rounds - 1);
                    guides.push(Some(self.known.guide(&self.extended, least)));
                }
            }
        }
        for guide in &guides {
            let options = context.remaining();
            let (mut answer, named) =
                oracle::ask(&self.extended, guide.as_ref(), &options, context.control);
            context.add(&answer);
            match answer.verdict {
                Verdict::Holds if guide.is_none() => {
                    answer.notes.extend(self.shown.clone().map(Note::How));
                    answer.notes.push(match self.rounds {
                        1 => Note::RobustAndSafe(crate::Model::Tso),
                        rounds => Note::How(How::DelaysEmulated { rounds }),
                    });
                    return Round::Decided(answer);
                }
                Verdict::Unknown(_) => return Round::Decided(answer),
                Verdict::Holds | Verdict::Violated => {}
            }
            for sequence in named {
                if !self.named.contains(&sequence) {
                    self.known.learn(&self.extended, &sequence);
                    self.named.push(sequence);
                }
            }
        }
        match self.named.is_empty() {
            true => Round::GaveUp(
                "every sequence of stores and loads that makes a difference has been tried".into(),
            ),
            false => Round::Undecided,
        }
    }
}

/// What the walk of an extended program has come to: its answer, and the run if it found one.
type Walked = (Answer, Option<Option<Witness>>);

/// Walks extended programs, as many at once as there are searching threads. What counts is the first in order that finds something, so the
/// answer does not depend on how many there are.
fn side_by_side(context: &mut Context<'_, '_>, programs: &[Extended]) -> Round {
    let options = Options {
        jobs: 1,
        ..context.remaining()
    };
    // Checkpoints need walks one after the other.
    let at_once = match options.checkpoints {
        Some(_) => 1,
        None => palisade_explore::threads(context.options.jobs),
    };
    for chunk in programs.chunks(at_once) {
        let shared: &Context<'_, '_> = context;
        let options = &options;
        let walked: Vec<Walked> = std::thread::scope(|scope| {
            let walks: Vec<_> = chunk
                .iter()
                .map(|extended| {
                    let work = move || walk(shared, extended, options);
                    // Where the machine has no thread for it, it is done here.
                    let thread = std::thread::Builder::new().spawn_scoped(scope, work);
                    thread.map_err(|_| Box::new(work()))
                })
                .collect();
            // A walk that fell over has not shown that there is nothing.
            let join =
                |walk: Result<std::thread::ScopedJoinHandle<'_, Walked>, Box<Walked>>| match walk {
                    Ok(thread) => thread
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                    Err(walked) => *walked,
                };
            walks.into_iter().map(join).collect()
        });
        for walked in walked {
            match conclude(context, walked) {
                Round::Undecided => {}
                other => return other,
            }
        }
    }
    Round::Undecided
}

/// Walks an extended program under SC.
fn walk(context: &Context<'_, '_>, extended: &Extended, options: &Options) -> Walked {
    let frame = Frame::new(&extended.program, &options.reductions);
    let (outcome, answer) = crate::safe::walk(&frame, options, context.control);
    let witness = outcome.findings.first().map(|finding| {
        let mut view = frame.threads.view();
        witness::witness(context.program, extended, &frame, &mut view, finding)
    });
    (answer, witness)
}

fn conclude(context: &mut Context<'_, '_>, (mut answer, witness): Walked) -> Round {
    context.add(&answer);
    match witness {
        Some(Some(witness)) => {
            answer.verdict = Verdict::Violated;
            answer.witnesses.push(witness);
            Round::Decided(answer)
        }
        Some(None) => {
            debug_assert!(
                false,
                "a path of an extended program is a run of the original one"
            );
            Round::GaveUp("what was found under SC could not be made into a run under TSO".into())
        }
        None => match answer.verdict {
            Verdict::Unknown(_) => Round::Decided(answer),
            _ => Round::Undecided,
        },
    }
}
