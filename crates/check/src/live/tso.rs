//! `live` under TSO.
//!
//! What hangs under SC hangs under TSO, with every store flushed at once. A robust program hangs under TSO only if it does under SC. Otherwise, where the
//! text bounds the buffers, the states with buffers are finitely many and are looked at as those of SC are. Where it does not, runs with short
//! buffers may still show a hang; that there is none is then not known.

use web_time::Instant;

use palisade_lang::Program;

use super::{under_sc, with_buffers};
use crate::note::Note;
use crate::reach::{as_tso_run, most_pending_stores};
use crate::{Answer, Control, Criterion, Model, Options, Verdict};

/// Buffers of these lengths are looked at where the text does not bound them.
const LENGTHS: [usize; 2] = [1, 3];

pub(super) fn check(program: &Program, options: &Options, control: &Control<'_>) -> Answer {
    let start = Instant::now();
    let part = |model, criterion| Options {
        model,
        criterion,
        timeout: options.timeout.map(|t| t.saturating_sub(start.elapsed())),
        ..options.clone()
    };
    let mut sc = under_sc(program, &part(Model::Sc, Criterion::Live), control);
    if sc.verdict == Verdict::Violated {
        sc.witnesses.iter_mut().for_each(as_tso_run);
        sc.notes.push(Note::HappensUnderSc);
        return sc;
    }
    let mut total = sc.stats;
    let mut answer = match sc.verdict {
        Verdict::Unknown(_) => sc,
        _ => {
            let question = part(Model::Tso, Criterion::Robust);
            let robust = crate::tso::robust::check(program, &question, control);
            total.add(&robust.stats);
            match robust.verdict {
                Verdict::Holds => {
                    sc.notes.push(Note::RobustAndLive);
                    sc
                }
                _ => buffered(program, &part(Model::Tso, Criterion::Live), control),
            }
        }
    };
    total.add(&answer.stats);
    total.wall = start.elapsed();
    answer.stats = total;
    answer
}

fn buffered(program: &Program, options: &Options, control: &Control<'_>) -> Answer {
    if let Some(most) = most_pending_stores(program) {
        let mut answer = with_buffers(program, options, control, Some(most.max(1))).answer;
        if answer.verdict == Verdict::Holds {
            answer.notes.push(Note::LiveWithBuffers);
        }
        return answer;
    }
    let start = Instant::now();
    let mut last = None;
    for length in LENGTHS {
        let options = Options {
            timeout: options.timeout.map(|t| t.saturating_sub(start.elapsed())),
            ..options.clone()
        };
        let looked = with_buffers(program, &options, control, Some(length));
        // If no store ever failed to fit, all runs were seen.
        if !looked.too_short {
            return looked.answer;
        }
        last = Some(looked.answer);
    }
    let mut answer = last.unwrap_or_else(|| Answer::dismissed(0, start.elapsed()));
    answer.verdict = Verdict::Unknown(
        "the program is not robust, and a loop stores without ever waiting for its buffer; with buffers of up to 3 stores no thread is stuck".to_owned(),
    );
    answer
}
