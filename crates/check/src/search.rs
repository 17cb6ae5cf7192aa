//! One walk for every criterion: limits, progress, statistics, and what an unfinished walk means.

use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use web_time::Instant;

use palisade_explore::{Finding, Keeper, Limits, Outcome, Quotient, Reason, Walk};
use palisade_memory::Witness;

use crate::checkpoint::{From, Kept};
use crate::{Answer, Control, Options, Progress, Stats, Verdict};

/// Walks a space. The answer is `Holds` or `Unknown`; what the findings mean is for the caller to say.
pub(crate) fn search<S: Kept>(
    space: &S,
    options: &Options,
    control: &Control<'_>,
) -> (Outcome, Answer) {
    search_within(space, options, control, options.most_states)
}

/// The same, but no further than about this many states.
pub(crate) fn search_within<S: Kept>(
    space: &S,
    options: &Options,
    control: &Control<'_>,
    states: Option<u64>,
) -> (Outcome, Answer) {
    let start = Instant::now();
    let states = states.into_iter().chain(options.most_states).min();
    // With all findings, it matters whose they are.
    let outcome = match space.symmetry().filter(|_| !options.all) {
        None => walk(space, options, control, states),
        Some(symmetry) => {
            let quotient = Quotient::new(space, &symmetry);
            let mut outcome = walk(&quotient, options, control, states);
            let findings = outcome.findings.iter();
            let unfolded: Option<_> = findings.map(|f| quotient.unfold(f)).collect();
            // Each has a way; were that not so, nothing could be said.
            if unfolded.is_none() {
                outcome.stopped = Some(Reason::Damaged);
            }
            outcome.findings = unfolded.unwrap_or_default();
            outcome
        }
    };
    let verdict = match outcome.stopped {
        None => match space.doubt() {
            None => Verdict::Holds,
            Some(doubt) => Verdict::Unknown(doubt.to_owned()),
        },
        Some(reason) => {
            let trouble = options.hosts.as_ref().and_then(|hosts| hosts.trouble());
            Verdict::Unknown(match (reason, trouble) {
                (Reason::Hosts | Reason::Timeout, Some(trouble)) => trouble,
                _ => unfinished(reason, &outcome),
            })
        }
    };
    let answer = Answer {
        verdict,
        witnesses: Vec::new(),
        stats: Stats {
            states: outcome.stats.states,
            transitions: outcome.stats.transitions,
            queries: 1,
            wall: start.elapsed(),
            peak_memory_bytes: outcome.stats.peak_memory_bytes,
            ..Stats::default()
        },
        notes: Vec::new(),
        harm: None,
    };
    (outcome, answer)
}

/// Walks a space, or goes on with a walk that was kept.
fn walk<S: Kept>(
    space: &S,
    options: &Options,
    control: &Control<'_>,
    states: Option<u64>,
) -> Outcome {
    let walk = |keeper: Option<&mut dyn Keeper>, from: From<'_>| {
        let mut walk = Walk::new(space)
            .jobs(options.jobs)
            .limits(Limits {
                timeout: options.timeout,
                memory: options.memory,
                machine: options.machine,
                cancel: Some(control.cancel),
                states,
                disk: options.disk.as_ref(),
                hosts: options.hosts.as_deref(),
                question: options
                    .hosts
                    .as_ref()
                    .map_or(0, |_| question(space, options)),
            })
            .stop_at_first(!options.all)
            .progress(|progress| {
                (control.progress)(&Progress {
                    states: progress.states,
                    frontier: progress.frontier,
                    memory_bytes: progress.memory_bytes,
                    queries: (0, 0),
                    rounds: None,
                });
            });
        if let Some(keeper) = keeper {
            walk = walk.keeper(keeper);
        }
        match from {
            From::Beginning => walk.run(),
            From::Whole(kept) => walk.resume(kept).run(),
            From::Parts(parts) => walk.resume_parts(parts).run(),
        }
    };
    match &options.checkpoints {
        None => walk(None, From::Beginning),
        Some(checkpoints) => {
            let several = options.hosts.as_ref().is_some_and(|h| h.processes() > 1);
            checkpoints.run(space, several && space.names().is_some(), walk)
        }
    }
}

impl Answer {
    /// Says what a walk has found: with any finding the criterion is violated, and each that can be shown has a witness; one is enough
    /// unless all are wanted.
    pub(crate) fn tell(
        &mut self,
        outcome: &Outcome,
        options: &Options,
        mut witness: impl FnMut(&Finding) -> Option<Witness>,
    ) {
        for finding in &outcome.findings {
            self.verdict = Verdict::Violated;
            self.witnesses.extend(witness(finding));
            if !options.all {
                break;
            }
        }
    }

    /// Notes that the program has errors of its own, if the walk has seen one.
    pub(crate) fn note_errors(&mut self, seen: &AtomicBool) {
        if seen.load(Ordering::Relaxed) {
            self.notes.push(crate::Note::ProgramErrs);
        }
    }
}

/// A number with commas between thousands.
pub fn number_in_words(value: u64) -> String {
    let digits = value.to_string();
    let mut result = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            result.push(',');
        }
        result.push(digit);
    }
    result
}

/// A number that is different for other walks, most probably: for processes that are to do the same, with what each may take for itself.
fn question<S: Kept>(space: &S, options: &Options) -> u64 {
    // All of them write checkpoints together, or none does.
    let kept = options.checkpoints.is_some();
    let options = Options {
        jobs: 0,
        timeout: None,
        memory: None,
        machine: None,
        disk: None,
        hosts: None,
        checkpoints: None,
        ..options.clone()
    };
    let mut hasher = FxHasher::default();
    format!("{options:?} {kept} {:?}", space.program()).hash(&mut hasher);
    hasher.finish()
}

/// Why a walk is not finished, and what it has seen.
pub(crate) fn unfinished(reason: Reason, outcome: &Outcome) -> String {
    let why = match reason {
        Reason::Timeout => "the time limit is reached",
        Reason::Memory => "the memory limit is reached",
        Reason::Cancelled => "it was interrupted",
        Reason::States => "as many states as were wanted are seen",
        Reason::DiskFull => "there is no room left on the disk",
        Reason::Disk => "the disk that states were put on failed",
        Reason::Hosts => "another process is gone",
        Reason::Damaged => "the checkpoint is not one of this question",
    };
    format!(
        "{why}; {} states up to depth {} were seen, and none of them is a violation",
        number_in_words(outcome.stats.states),
        number_in_words(outcome.stats.levels)
    )
}
