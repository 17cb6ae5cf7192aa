//! How all runs of a program are walked through, and how far.

use palisade_lang::never::mentions_deadlock;
use palisade_lang::{LocationId, Op, PointId, Program, Thread};
use web_time::Instant;

use super::ahead::Ahead;
use super::messages::Pool;
use super::{MOST_MESSAGES, RaSpace, Rules, SeqCst, TOO_MANY, witness};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::certificate::{NoCertificate, Take, finished, hand_over, put_state};
use crate::live::rounds::Hangs;
use crate::note::{How, Note};
use crate::ra::check_meaning;
use crate::search::search_within;
use crate::state::Frame;
use crate::{Answer, Control, Criterion, Options, Reductions, Verdict};

/// So many states are looked at where there may be no end to them and no time limit was given.
const MOST_STATES: u64 = 30_000;

/// So many states are looked at before anything else.
const FIRST_STATES: u64 = 20_000;

/// Where these were not enough, runs of few spells are looked at …
const MOST_SPELLS: std::ops::RangeInclusive<u32> = 2..=4;

/// … and so many states of them each time.
const STATES_IN_SPELLS: u64 = 100_000;

/// Looks at all runs of a program, as far as it gets.
pub(crate) fn check(
    program: &Program,
    options: &Options,
    seqcst: SeqCst,
    control: &Control<'_>,
) -> Walked {
    let errors = options.criterion != Criterion::Live;
    follow(program, options, seqcst, control, errors)
}

/// The same, for data races alone.
pub(crate) fn races(
    program: &Program,
    options: &Options,
    seqcst: SeqCst,
    control: &Control<'_>,
) -> Walked {
    let mut stated_nothing = program.clone();
    stated_nothing.nevers.clear();
    follow(&stated_nothing, options, seqcst, control, false)
}

/// What a walk came to.
pub(crate) struct Walked {
    pub answer: Answer,
    /// Whether what was found is wrong in a graph that the model has.
    pub is_real: bool,
    /// There was no end to what may be read: no longer walk comes further.
    too_many: bool,
}

/// Walks through all states. Where there are many, those first that runs of few spells come to (steps of one thread, with none of others between them). What is wrong in a
/// program often needs one thread that does much while another one stands still: such runs are long, but few. Finding nothing in them says nothing.
fn follow(
    program: &Program,
    options: &Options,
    seqcst: SeqCst,
    control: &Control<'_>,
    errors: bool,
) -> Walked {
    let start = Instant::now();
    let endless = program.threads.iter().any(writes_in_a_loop);
    let most = most_states(endless, options);
    let walk = |spells: Option<u32>, most: Option<u64>| {
        let left = Options {
            timeout: options.timeout.map(|t| t.saturating_sub(start.elapsed())),
            ..options.clone()
        };
        let question = Question {
            program,
            options: &left,
            seqcst,
            errors,
            endless,
            spells,
        };
        question.walk(control, most)
    };
    // Where all that is wrong is wanted, one walk finds it.
    let is_live = options.criterion == Criterion::Live;
    if options.all || is_live {
        return walk(None, most);
    }
    let mut walked = walk(None, most.into_iter().chain([FIRST_STATES]).min());
    if !matches!(walked.answer.verdict, Verdict::Unknown(_)) {
        return walked;
    }
    let mut stats = walked.answer.stats;
    for spells in MOST_SPELLS {
        let mut found = walk(Some(spells), Some(STATES_IN_SPELLS));
        stats.add(&found.answer.stats);
        if found.answer.verdict == Verdict::Violated && found.is_real {
            found.answer.stats = stats;
            return found;
        }
    }
    if !walked.too_many && most.is_none_or(|most| most > FIRST_STATES) {
        walked = walk(None, most);
        stats.add(&walked.answer.stats);
    }
    walked.answer.stats = stats;
    walked
}

/// What is asked of a walk.
struct Question<'a> {
    program: &'a Program,
    options: &'a Options,
    seqcst: SeqCst,
    errors: bool,
    /// Whether threads write in loops.
    endless: bool,
    /// Only runs of so many spells.
    spells: Option<u32>,
}

impl Question<'_> {
    /// Walks, but no further than so many states.
    fn walk(&self, control: &Control<'_>, most: Option<u64>) -> Walked {
        let Question {
            program,
            options,
            seqcst,
            errors,
            endless,
            spells,
        } = *self;
        let reductions = Reductions {
            symmetry: false,
            ..options.reductions
        };
        let frame = Frame::new(program, &reductions);
        let space = RaSpace {
            frame: &frame,
            rules: Rules::new(program, seqcst),
            pool: Pool::default(),
            ahead: Some(Ahead::new(program)),
            reduces: reductions.partial_order
                && seqcst != SeqCst::Updates
                && options.criterion != Criterion::Live
                && spells.is_none()
                && !mentions_deadlock(program),
            errors,
            hangs: Hangs::new(program, options),
            spells,
            stopped_in_block: AtomicBool::new(false),
        };
        let (mut outcome, mut answer) = search_within(&space, options, control, most);
        let model = options.model.name();
        let is_too_many = |kind: u64| kind & !u64::from(u32::MAX) == TOO_MANY;
        let mut kinds = outcome.findings.iter().map(|finding| finding.kind);
        let too_many = kinds.find(|&kind| is_too_many(kind));
        (outcome.findings).retain(|finding| !is_too_many(finding.kind));
        if let Some(kind) = too_many {
            let location = LocationId(kind as u32);
            answer.verdict = Verdict::Unknown(format!(
                "a thread may still read more than {MOST_MESSAGES} stores to `{}`",
                program.location(location).name
            ));
        }
        let stopped = space.stopped_in_block.load(Ordering::Relaxed);
        if stopped && options.criterion == Criterion::Live && answer.verdict == Verdict::Holds {
            answer.verdict = Verdict::Unknown(
                "an error inside an `atomic` block can keep the other threads out for ever"
                    .to_owned(),
            );
        }
        if let Verdict::Unknown(reason) = &mut answer.verdict {
            let with = if endless {
                "; threads write in loops, so there may be no end to it"
            } else {
                ""
            };
            *reason = format!("under {model}, with all that may be read: {reason}{with}");
        }
        let mut is_real = true;
        answer.tell(&outcome, options, |finding| {
            let (witness, real) = witness::witness(&space, options, finding);
            is_real &= real;
            Some(witness)
        });
        if answer.verdict == Verdict::Holds {
            answer.notes.push(Note::How(How::AllRuns(options.model)));
        }
        Walked {
            answer,
            is_real,
            too_many: too_many.is_some(),
        }
    }
}

fn most_states(endless: bool, options: &Options) -> Option<u64> {
    let most = (endless && options.timeout.is_none()).then_some(MOST_STATES);
    most.into_iter().chain(options.most_states).min()
}

/// Walks without forgetting anything and hands every state to `take`, for a certificate.
pub(crate) fn states(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    take: &mut Take<'_>,
) -> Result<(), NoCertificate> {
    check_meaning(program, options).map_err(NoCertificate::Refused)?;
    let frame = Frame::new(program, &options.reductions);
    let space = RaSpace {
        frame: &frame,
        rules: Rules::new(program, SeqCst::Updates),
        pool: Pool::default(),
        ahead: None,
        reduces: false,
        errors: true,
        hangs: None,
        spells: None,
        stopped_in_block: AtomicBool::new(false),
    };
    let endless = program.threads.iter().any(writes_in_a_loop);
    let most = most_states(endless, options);
    let (outcome, answer) = search_within(&space, options, control, most);
    finished(&outcome, answer)?;
    let mut view = frame.threads.view();
    hand_over(&outcome, take, |row, numbers| {
        put_state(&frame, &mut view, row, None, numbers)?;
        space.pool.get(row[space.component()]).put(numbers);
        Some(())
    })
}

/// Whether there is a loop with something in it that adds a message.
fn writes_in_a_loop(thread: &Thread) -> bool {
    let mut next: Vec<Vec<PointId>> = vec![Vec::new(); thread.points.len()];
    for transition in &thread.transitions {
        next[transition.from.index()].push(transition.to);
    }
    let comes_back = |from: PointId, to: PointId| {
        let mut seen = vec![false; next.len()];
        let mut work = vec![to];
        while let Some(point) = work.pop() {
            if point == from {
                return true;
            }
            if !std::mem::replace(&mut seen[point.index()], true) {
                work.extend(&next[point.index()]);
            }
        }
        false
    };
    let mut writes = thread
        .transitions
        .iter()
        .filter(|t| matches!(t.op, Op::Store { .. } | Op::Rmw { .. }));
    writes.any(|t| comes_back(t.from, t.to))
}

#[cfg(test)]
mod tests {
    use palisade_memory::Model;
    use palisade_testkit::{Shape, program, random_sketch};

    use super::*;

    /// Runs of few spells show nothing that is not there, and those of as many as there are steps show all.
    #[test]
    fn spells_agree_with_all_runs() {
        let never = AtomicBool::new(false);
        let control = Control {
            cancel: &never,
            progress: &|_| {},
        };
        let shape = Shape {
            properties: true,
            ..Shape::RC11
        };
        let options = Options::new(Model::C20, Criterion::Safe);
        let (mut compared, mut violated) = (0, 0);
        for seed in 0..600 {
            let program = program(&random_sketch(seed, &shape).to_string());
            if check_meaning(&program, &options).is_err() {
                continue;
            }
            let walk = |spells: Option<u32>| {
                let question = Question {
                    program: &program,
                    options: &options,
                    seqcst: SeqCst::Weaker,
                    errors: true,
                    endless: false,
                    spells,
                };
                question.walk(&control, None).answer.verdict
            };
            let all = walk(None);
            assert_eq!(walk(Some(30)), all, "{}", program.source.text());
            if walk(Some(2)) == Verdict::Violated {
                assert_eq!(all, Verdict::Violated, "{}", program.source.text());
            }
            compared += 1;
            violated += u32::from(all == Verdict::Violated);
        }
        println!("{violated} of {compared} violated");
        assert!(compared >= 300 && violated * 10 >= compared);
    }
}
