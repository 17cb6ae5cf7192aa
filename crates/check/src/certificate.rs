//! The states of an unreduced walk, for a certificate that somebody else can check (see `palisade-certificate` for the form).
//!
//! Nothing here has to be believed: whoever checks a certificate derives steps and violations again. Threads that an error has stopped are left
//! out: one that stands before the error can do no less, so their states prove nothing more (and where errors matter, there are none).

use std::io;

use palisade_explore::{Outcome, Successors};
use palisade_lang::{Program, RegisterId};
use palisade_threads::{LocalId, View};

use crate::sc::{Observer, ScSpace};
use crate::search::search;
use crate::state::Frame;
use crate::tso::attack::{AttackSpace, Layout, Phase, role};
use crate::tso::filter::attacks;
use crate::{Control, Criterion, Model, Options, Reductions, Refusal, Verdict};

/// The questions whose answer "holds" can be certified.
pub const CERTIFIED: &[(Model, Criterion)] = &[
    (Model::Sc, Criterion::Drf),
    (Model::Sc, Criterion::Safe),
    (Model::Tso, Criterion::Drf),
    (Model::Tso, Criterion::Trf),
    (Model::Tso, Criterion::Robust),
    (Model::Tso, Criterion::Persistent),
];

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

/// Walks without any reduction and hands every state to `take`, in no particular order.
pub fn certificate(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    take: &mut dyn FnMut(&[i64]) -> io::Result<()>,
) -> Result<(), NoCertificate> {
    let question = (options.model, options.criterion);
    if !CERTIFIED.contains(&question) || program.is_parameterised() {
        let (model, criterion) = question;
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
    let mut program = program.clone();
    program.nevers.clear();
    let options = Options {
        reductions: Reductions::NONE,
        all: false,
        // All states of the walk are needed, and those of a walk that is over are not kept.
        checkpoints: None,
        ..options.clone()
    };
    let frame = Frame::new(&program, &options.reductions);
    let attacked = question == (Model::Tso, Criterion::Robust);
    let (outcome, answer) = if attacked {
        let may_begin = attacks(&program, false).may_begin;
        let may_begin = may_begin.iter().map(|of| vec![true; of.len()]).collect();
        let space = AttackSpace::new(&frame, false, false, false, may_begin);
        search(&space, &options, control)
    } else {
        let space = ScSpace {
            frame: &frame,
            observer: Nothing,
            partial_order: false,
        };
        search(&space, &options, control)
    };
    if let Verdict::Unknown(reason) = answer.verdict {
        return Err(NoCertificate::Unfinished(reason));
    }
    if !outcome.findings.is_empty() {
        return Err(NoCertificate::Unfinished(
            "the walk without reductions found a violation; please report this, with the program"
                .to_owned(),
        ));
    }
    hand_over(&frame, &outcome, attacked, take).map_err(NoCertificate::Failed)
}

/// Looks at states, and sees nothing.
struct Nothing;

impl Observer for Nothing {
    fn observe(
        &self,
        _frame: &Frame<'_>,
        _view: &mut View<'_>,
        _row: &[u32],
        _deadlock: bool,
        _out: &mut Successors<'_>,
    ) {
    }

    fn error(&self, _code: usize, _transition: u32, _label: u64, _out: &mut Successors<'_>) {}

    fn watched_writes(&self) -> u64 {
        0
    }
}

fn hand_over(
    frame: &Frame<'_>,
    outcome: &Outcome,
    attacked: bool,
    take: &mut dyn FnMut(&[i64]) -> io::Result<()>,
) -> io::Result<()> {
    let mut view = frame.threads.view();
    let mut numbers = Vec::new();
    let mut result = Ok(());
    outcome.states.for_each(|_, row| {
        if result.is_ok() && numbers_of(frame, &mut view, row, attacked, &mut numbers).is_some() {
            result = take(&numbers);
        }
    });
    result
}

/// A row as the numbers of a state; `None` where a thread has been stopped by an error.
fn numbers_of(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    row: &[u32],
    attacked: bool,
    numbers: &mut Vec<i64>,
) -> Option<()> {
    numbers.clear();
    let program = frame.program();
    let layout = Layout::new(frame);
    view.begin_state();
    for (instance, &code) in frame.codes.iter().enumerate() {
        let registers = program.threads[code].registers.len();
        let stands_for_nothing = attacked
            && Phase::of(row[layout.phase]) == Phase::Chain
            && row[layout.roles + instance] == role::ATTACKER;
        if stands_for_nothing {
            numbers.push(-1);
            numbers.resize(numbers.len() + registers, 0);
            continue;
        }
        let local = LocalId(row[instance]);
        numbers.push(view.point(code, local)?.0.into());
        for register in 0..registers {
            numbers.push(view.register(code, local, RegisterId(register as u32)));
        }
    }
    let threads = frame.thread_count();
    let memory = &row[threads..frame.width()];
    numbers.extend(memory.iter().map(|&id| view.value(id)));
    if !attacked {
        return Some(());
    }
    let roles = &row[layout.roles..layout.buffer];
    let attacker = roles.iter().position(|&r| r == role::ATTACKER);
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
