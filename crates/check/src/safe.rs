//! `safe` under SC: no assertion fails, no `never` becomes true, no error of the program is reached.

use palisade_explore::{Finding, Outcome, Successors};
use palisade_lang::{Language, Never, Program};
use palisade_memory::{Pattern, PatternKind, Witness};
use palisade_threads::View;

use crate::run::{events_with_all_fences, name_copies, replay};
use crate::sc::{Observed, Observer, ScSpace};
use crate::search::search;
use crate::state::Frame;
use crate::waiting::is_deadlock;
use crate::{Answer, Control, Criterion, Model, Options};

/// Looks for true `never`s and for errors.
struct Safety;

/// The kind of an error's finding: which instruction. A `never`'s kind is its number.
pub(crate) const ERROR: u64 = 1 << 63;

impl Observer for Safety {
    fn observe(
        &self,
        frame: &Frame<'_>,
        view: &mut View<'_>,
        state: Observed<'_>,
        out: &mut Successors<'_>,
    ) {
        frame.true_nevers(view, state, |index| out.report(index as u64));
    }

    fn error(&self, code: usize, transition: u32, label: u64, out: &mut Successors<'_>) {
        out.report_step(label, ERROR | (code as u64) << 32 | u64::from(transition));
    }

    fn watched_writes(&self) -> u64 {
        0
    }
}

/// Decides `safe` under SC.
pub(crate) fn check(program: &Program, options: &Options, control: &Control<'_>) -> Answer {
    let frame = Frame::for_search(program, options);
    let (outcome, mut answer) = walk(&frame, options, control);
    let mut view = frame.threads.view();
    answer.tell(&outcome, options, |finding| {
        Some(witness(program, &frame, &mut view, finding))
    });
    answer
}

/// Walks the states under SC and looks for errors and true `never`s.
pub(crate) fn walk(
    frame: &Frame<'_>,
    options: &Options,
    control: &Control<'_>,
) -> (Outcome, Answer) {
    let space = ScSpace {
        frame,
        observer: Safety,
        partial_order: options.reductions.partial_order,
    };
    search(&space, options, control)
}

/// What to say where a `never`, or what a litmus test asks for, has become true.
pub(crate) fn never_in_words(program: &Program, never: &Never) -> String {
    let text = program.source.slice(never.span).trim();
    let words = |word| {
        let rest: &str = text.strip_prefix(word)?;
        Some(rest.trim_end_matches(';').trim())
    };
    if program.language == Language::Rust {
        // Nobody has written it: it is what no Rust program may come to.
        "now no thread can go on, and the program has not come to its end".to_owned()
    } else if program.language != Language::Litmus {
        let condition = words("never").unwrap_or(text);
        format!("now `{condition}` is true, which must never be")
    } else if let Some(condition) = words("forall") {
        format!("now `{condition}` is false, though `forall` wants it at the end of every run")
    } else if let Some(condition) = words("exists") {
        format!("now `{condition}` is true, as `exists` asks")
    } else {
        let condition = text
            .split_once("exists")
            .map_or(text, |(_, rest)| rest.trim());
        format!("now `{condition}` is true, which `~exists` rules out")
    }
}

fn witness(
    program: &Program,
    frame: &Frame<'_>,
    view: &mut View<'_>,
    finding: &Finding,
) -> Witness {
    let mut run = replay(frame, view, finding);
    let (kind, message) = if finding.kind & ERROR != 0 {
        let code = (finding.kind & !ERROR) >> 32;
        let transition = finding.kind as u32;
        let words = |e| program.error_in_words(code as usize, transition as usize, e);
        (
            PatternKind::Error,
            run.error.map_or_else(String::new, words),
        )
    } else {
        let never = &program.nevers[finding.kind as usize];
        let deadlock = is_deadlock(frame, view, &run.row);
        let names = name_copies(frame, view, &run.row, never, deadlock);
        for step in &mut run.steps {
            step.instance = names[step.instance];
        }
        (PatternKind::Never, never_in_words(program, never))
    };
    let names: Vec<String> = program.instances().into_iter().map(|i| i.name).collect();
    let events = events_with_all_fences(program, &run, &names);
    let last = events.len().checked_sub(1);
    Witness {
        model: Model::Sc,
        criterion: Criterion::Safe,
        pattern: Some(Pattern {
            kind,
            events: last.into_iter().collect(),
            message,
        }),
        events,
        cycle: Vec::new(),
        edges: Vec::new(),
        loop_start: None,
        copies: None,
    }
}
