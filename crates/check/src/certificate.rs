//! The states of a walk without reductions, for a certificate that an independent program can check (see `palisade-certificate` for the form). Only registers that do not
//! matter any more are forgotten, and under RA states that another one covers: the validator knows why.
//!
//! Nothing here has to be believed: the validator derives steps and violations again. Threads that an error has stopped are left
//! out: one that stands before the error can do no less, so their states prove nothing more (and where errors matter, there are none).

use std::io;
use std::sync::atomic::Ordering::Relaxed;
use web_time::Instant;

use palisade_certificate::{Claim, Locations, Proof};
use palisade_explore::{Outcome, Reason, Successors};
use palisade_lang::{Program, RegisterId};
use palisade_memory::ra_accepts::blocks_end;
use palisade_threads::{LocalId, View};

use crate::reach::{Beyond, Buffer, Buffers, TsoSpace};
use crate::sc::{Observed, Observer, ScSpace};
use crate::search::{search, search_within};
use crate::state::Frame;
use crate::tso::attack::{AttackSpace, Layout, Phase, role};
use crate::tso::filter::attacks;
use crate::{Answer, Control, Criterion, Model, Options, Reductions, Refusal, Route, Verdict};

/// The questions whose answer "holds" can be certified.
pub const CERTIFIED: &[(Model, Criterion)] = &[
    (Model::Sc, Criterion::Drf),
    (Model::Sc, Criterion::Safe),
    (Model::Tso, Criterion::Drf),
    (Model::Tso, Criterion::Trf),
    (Model::Tso, Criterion::Robust),
    (Model::Tso, Criterion::Persistent),
    (Model::Tso, Criterion::Safe),
    (Model::Ra, Criterion::Robust),
    (Model::Ra, Criterion::Safe),
    (Model::C20, Criterion::Robust),
    (Model::C20, Criterion::Safe),
    (Model::Rc11, Criterion::Robust),
    (Model::Rc11, Criterion::Safe),
];

/// Where there are more states with store buffers, those with load buffers are tried.
const MOST_STATES: u64 = 4_000_000;

/// Why there is no certificate.
#[derive(Debug)]
pub enum NoCertificate {
    /// It cannot be asked for.
    Refused(Refusal),
    /// The walk met a limit, and which.
    Unfinished(String),
    /// The states could not be taken.
    Failed(io::Error),
}

/// Takes the states of a certificate, in no particular order.
pub(crate) type Take<'t> = dyn FnMut(&[i64]) -> io::Result<()> + 't;

/// Walks and hands every state to `take`, in no particular order. What the states show.
pub fn certificate(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    take: &mut Take<'_>,
) -> Result<Claim, NoCertificate> {
    let question = (options.model, options.criterion);
    let (model, criterion) = question;
    if !CERTIFIED.contains(&question) || program.is_parameterised() {
        return Err(NoCertificate::Refused(Refusal {
            message: format!(
                "there is no certificate for `{}` under `{}`{} yet",
                criterion.name(),
                model.name(),
                match program.is_parameterised() {
                    true => " and any number of threads",
                    false => "",
                }
            ),
            span: None,
        }));
    }
    let mut claim = Claim::new(model, criterion);
    if options.all_locations {
        claim.locations = Locations::All;
    }
    let start = Instant::now();
    let options = &Options {
        // All states of the walk are needed, and those of a walk that is over are not kept.
        checkpoints: None,
        ..options.clone()
    };
    if question == (Model::Tso, Criterion::Safe) && options.route == Route::Dual {
        claim.proof = Proof::Buffers(1);
    } else if question == (Model::Tso, Criterion::Safe) {
        let robust = Options {
            criterion: Criterion::Robust,
            all: false,
            ..options.clone()
        };
        match crate::tso::robust::check(program, &robust, control).verdict {
            Verdict::Holds => {}
            Verdict::Violated => claim.proof = Proof::Buffers(1),
            Verdict::Unknown(reason) => return Err(NoCertificate::Unfinished(reason)),
        }
    }
    if question == (Model::Ra, Criterion::Safe) {
        let robust = Options {
            criterion: Criterion::Robust,
            all: false,
            ..options.clone()
        };
        let answer =
            crate::ra::robust(program, &robust, control).map_err(NoCertificate::Refused)?;
        match answer.verdict {
            Verdict::Holds if blocks_end(program) => {}
            Verdict::Unknown(reason) => return Err(NoCertificate::Unfinished(reason)),
            Verdict::Holds | Verdict::Violated => claim.proof = Proof::Messages,
        }
    }
    // RC11 with `seqcst` accesses is robust where it is without what they add to the others.
    let mut program = match model {
        Model::Rc11 => crate::weak::with_weaker_accesses(program),
        _ => program.clone(),
    };
    if claim.proof == Proof::Suspects {
        robust_by_suspicions(&program, options, control)?;
        if criterion == Criterion::Safe && !blocks_end(&program) {
            return Err(NoCertificate::Unfinished(
                "a block may not end: then SC does not tell what the model does, and there is no certificate".to_owned(),
            ));
        }
    }
    let options = Options {
        reductions: Reductions {
            dead_registers: true,
            subsumption: true,
            ..Reductions::NONE
        },
        all: false,
        timeout: options.timeout.map(|t| t.saturating_sub(start.elapsed())),
        ..options.clone()
    };
    if criterion != Criterion::Safe {
        // What they mention would matter.
        program.nevers.clear();
    }
    let program = &program;
    match claim.proof {
        Proof::States => sc_states(program, &options, control, take)?,
        Proof::Attacks => attack_states(program, &options, control, take)?,
        Proof::Buffers(_) => claim.proof = buffer_states(program, &options, control, take)?,
        // `Claim::new` says nothing of the kind: one is for any number of threads, the other for what buffers do not show.
        Proof::Basis | Proof::LoadBuffers => {}
        Proof::Monitors => crate::ra::unreduced::states(program, &options, control, take)?,
        Proof::Messages => crate::ra::runs::states(program, &options, control, take)?,
        Proof::Suspects => crate::ra::unreduced::suspicions(program, &options, control, take)?,
    }
    Ok(claim)
}

/// Whether a program is robust against C++20: there is a certificate for nothing else, also of what is safe.
fn robust_by_suspicions(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<(), NoCertificate> {
    let robust = Options {
        criterion: Criterion::Robust,
        all: false,
        ..options.clone()
    };
    let answer = crate::ra::robust(program, &robust, control).map_err(NoCertificate::Refused)?;
    match answer.verdict {
        Verdict::Holds => Ok(()),
        Verdict::Unknown(reason) => Err(NoCertificate::Unfinished(reason)),
        Verdict::Violated => Err(NoCertificate::Unfinished(
            "it is found to be not robust, or only by what `seqcst` accesses add to others under RC11, for which there is no certificate".to_owned(),
        )),
    }
}

/// What is said where a certificate is wanted for something that is violated.
pub(crate) fn violated() -> NoCertificate {
    NoCertificate::Unfinished(
        "the walk without reductions found a violation; please report this, with the program"
            .to_owned(),
    )
}

/// Whether a walk has seen everything, and nothing wrong.
pub(crate) fn finished(outcome: &Outcome, answer: Answer) -> Result<(), NoCertificate> {
    match answer.verdict {
        Verdict::Unknown(reason) => Err(NoCertificate::Unfinished(reason)),
        _ if outcome.findings.is_empty() => Ok(()),
        _ => Err(violated()),
    }
}

fn sc_states(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    take: &mut Take<'_>,
) -> Result<(), NoCertificate> {
    let frame = Frame::new(program, &options.reductions);
    let space = ScSpace {
        frame: &frame,
        observer: Nothing,
        partial_order: false,
    };
    let (outcome, answer) = search(&space, options, control);
    finished(&outcome, answer)?;
    let mut view = frame.threads.view();
    hand_over(&outcome, take, |row, numbers| {
        put_state(&frame, &mut view, row, None, numbers)
    })
}

fn attack_states(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    take: &mut Take<'_>,
) -> Result<(), NoCertificate> {
    let frame = Frame::new(program, &options.reductions);
    // Nothing is dismissed beforehand.
    let may_begin = attacks(program, false).may_begin;
    let may_begin = may_begin.iter().map(|of| vec![true; of.len()]).collect();
    let space = AttackSpace::new(&frame, false, false, false, may_begin);
    let (outcome, answer) = search(&space, options, control);
    finished(&outcome, answer)?;
    let mut view = frame.threads.view();
    hand_over(&outcome, take, |row, numbers| {
        put_attack(&frame, &mut view, row, numbers)
    })
}

/// States with store buffers that are as they are up to a length and lose the order of their stores beyond it; where few of these do not tell, states with
/// load buffers, which always do. The proof that they are.
fn buffer_states(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    take: &mut Take<'_>,
) -> Result<Proof, NoCertificate> {
    let start = Instant::now();
    let remaining = || Options {
        timeout: options.timeout.map(|t| t.saturating_sub(start.elapsed())),
        ..options.clone()
    };
    let frame = Frame::new(program, &options.reductions);
    let lengths = match options.route {
        Route::Dual => &[][..],
        _ => &[1, 2],
    };
    for &exact in lengths {
        for beyond in [Beyond::Refuse, Beyond::Forget] {
            let buffers = Buffers::new(exact as usize, beyond);
            let space = TsoSpace {
                frame: &frame,
                buffers: &buffers,
                moving: None,
                bound_met: Default::default(),
            };
            let most = options.most_states.unwrap_or(u64::MAX).min(MOST_STATES);
            let (outcome, answer) = search_within(&space, &remaining(), control, Some(most));
            let inexact = beyond == Beyond::Refuse && space.bound_met.load(Relaxed);
            match finished(&outcome, answer) {
                // The run is real only where buffers are.
                Err(_) if beyond == Beyond::Forget && !outcome.findings.is_empty() => continue,
                Err(_) if outcome.stopped == Some(Reason::States) => continue,
                other => other?,
            }
            if inexact {
                continue;
            }
            let mut view = frame.threads.view();
            hand_over(&outcome, take, |row, numbers| {
                put_state(&frame, &mut view, row, None, numbers)?;
                for &id in &row[frame.width()..] {
                    put_buffer(&buffers.get(id), numbers);
                }
                Some(())
            })?;
            return Ok(Proof::Buffers(exact));
        }
    }
    crate::reach::load_buffer_states(program, &remaining(), control, take)?;
    Ok(Proof::LoadBuffers)
}

/// Looks at states, and sees nothing.
struct Nothing;

impl Observer for Nothing {
    fn observe(
        &self,
        _frame: &Frame<'_>,
        _view: &mut View<'_>,
        _state: Observed<'_>,
        _out: &mut Successors<'_>,
    ) {
    }

    fn error(&self, _code: usize, _transition: u32, _label: u64, _out: &mut Successors<'_>) {}

    fn watched_writes(&self) -> u64 {
        0
    }
}

/// Hands over the rows that `put` can write as numbers.
pub(crate) fn hand_over(
    outcome: &Outcome,
    take: &mut Take<'_>,
    mut put: impl FnMut(&[u32], &mut Vec<i64>) -> Option<()>,
) -> Result<(), NoCertificate> {
    let mut numbers = Vec::new();
    let mut result = Ok(());
    let read = outcome.states.for_each(|_, row| {
        numbers.clear();
        if result.is_ok() && put(row, &mut numbers).is_some() {
            result = take(&numbers);
        }
    });
    result.and(read).map_err(NoCertificate::Failed)
}

/// Threads and memory of a row as numbers; `None` where a thread has been stopped by an error. The thread `gone` stands nowhere any more.
pub(crate) fn put_state(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    row: &[u32],
    gone: Option<usize>,
    numbers: &mut Vec<i64>,
) -> Option<()> {
    view.begin_state();
    for (instance, &code) in frame.codes.iter().enumerate() {
        let registers = frame.program().threads[code].registers.len();
        if gone == Some(instance) {
            numbers.push(-1);
            numbers.resize(numbers.len() + registers, 0);
            continue;
        }
        let local = LocalId(row[instance]);
        put_local(frame, view, code, local, numbers)?;
    }
    let memory = &row[frame.thread_count()..frame.width()];
    numbers.extend(memory.iter().map(|&id| view.value(id)));
    Some(())
}

fn put_attack(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    row: &[u32],
    numbers: &mut Vec<i64>,
) -> Option<()> {
    let layout = Layout::new(frame);
    let roles = &row[layout.roles..layout.buffer];
    let attacker = roles.iter().position(|&r| r == role::ATTACKER);
    let gone = attacker.filter(|_| Phase::of(row[layout.phase]) == Phase::Chain);
    put_state(frame, view, row, gone, numbers)?;
    numbers.push(row[layout.phase].into());
    numbers.push(attacker.unwrap_or(0) as i64);
    numbers.push(row[layout.target].saturating_sub(1).into());
    numbers.extend(roles.iter().map(|&r| i64::from(r)));
    for &buffered in &row[layout.buffer..layout.levels] {
        match buffered.checked_sub(1) {
            None => numbers.extend([0, 0]),
            Some(id) => numbers.extend([1, view.value(id)]),
        }
    }
    let levels = &row[layout.levels..layout.target];
    numbers.extend(levels.iter().map(|&l| i64::from(l)));
    Some(())
}

fn put_buffer(buffer: &Buffer, numbers: &mut Vec<i64>) {
    match buffer {
        Buffer::Exact(stores) => {
            numbers.push(2 * stores.len() as i64 + i64::from(buffer.drains()));
            for store in stores {
                numbers.extend([store.location.index() as i64, store.value]);
            }
        }
        Buffer::Set { pending, newest } => {
            numbers.push(-(pending.len() as i64));
            let pair = |&(location, value): &(palisade_lang::LocationId, i64)| {
                [location.index() as i64, value]
            };
            numbers.extend(pending.iter().flat_map(pair));
            numbers.push(newest.len() as i64);
            numbers.extend(newest.iter().flat_map(pair));
        }
    }
}

/// Appends a thread's control point and all its registers; `None` where it has been stopped by an error.
pub(crate) fn put_local(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    code: usize,
    local: LocalId,
    numbers: &mut Vec<i64>,
) -> Option<()> {
    numbers.push(view.point(code, local)?.0.into());
    for register in 0..frame.program().threads[code].registers.len() {
        numbers.push(view.register(code, local, RegisterId(register as u32)));
    }
    Some(())
}
