//! What is asked of release/acquire, C++20 and RC11 beside robustness: `safe` and `drf`; and robustness against RC11 with seq_cst accesses.
//!
//! A robust program does what it does under SC, so that SC decides. Of other programs the SC runs are looked at first (each is a run of the model), and then
//! all that the model has, as far as one gets: messages and views (`ra::runs`), and where these are not enough execution graphs (`graphs`).

use web_time::Instant;

use palisade_lang::never::mentions_deadlock;
use palisade_lang::{
    BinaryOp, Copies, CopyRef, Expr, LabelRef, Op, Order, PointId, Program, RmwAction, StateAtom,
    Thread, UnaryOp,
};
use palisade_memory::c20::updates::{with_fences_as_updates, with_updates_as_fences};
use palisade_memory::ra_accepts::blocks_end;

use palisade_threads::visit_state_atoms;

use crate::idle::without_idle_locations;
use crate::open::{Shown, counting_locations, safe_whatever_is_read};
use crate::ra::runs::{SeqCst, Walked};
use crate::{
    Answer, Control, Criterion, Model, Note, Options, Refusal, Stats, Verdict, graphs, ra,
    safe as under_sc,
};

/// At least so many states are looked at with some values left open, and never many more than were seen of the program itself.
const MOST_TRIED: u64 = 50_000;

/// A question in parts, which share one limit of time.
struct Asked<'a> {
    options: &'a Options,
    start: Instant,
}

impl Asked<'_> {
    fn part(&self, model: Model, criterion: Criterion) -> Options {
        let spent = self.start.elapsed();
        Options {
            model,
            criterion,
            timeout: self.options.timeout.map(|t| t.saturating_sub(spent)),
            ..self.options.clone()
        }
    }
}

fn asked(options: &Options) -> Asked<'_> {
    Asked {
        options,
        start: Instant::now(),
    }
}

/// Decides `robust`.
pub(crate) fn robust(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    match options.model {
        Model::Rc11 if has_seqcst_accesses(program) => rc11_robust(program, options, control),
        _ => ra::robust(program, options, control),
    }
}

/// Decides `observational`.
pub(crate) fn observational(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    ra::check_meaning(program, options)?;
    let asked = asked(options);
    let part = |model| asked.part(model, Criterion::Observational);
    let mut answer = match options.model {
        Model::Ra => {
            // There an sc fence is a read-modify-write of one extra location.
            let (updates, name) = with_fences_as_updates(program);
            let mut answer = ra::observational(&updates, &part(Model::C20), control)?;
            for witness in &mut answer.witnesses {
                with_updates_as_fences(witness, &name);
            }
            answer
        }
        Model::Rc11 if has_seqcst_accesses(program) => {
            // As for robustness, between two questions that can be decided.
            let weaker = with_weaker_accesses(program);
            let mut answer = ra::observational(&weaker, &part(Model::Rc11), control)?;
            if answer.verdict != Verdict::Holds {
                let total = answer.stats;
                answer = ra::observational(program, &part(Model::C20), control)?;
                answer.stats.add(&total);
                for witness in &mut answer.witnesses {
                    witness.model = Model::Rc11;
                }
                if answer.verdict == Verdict::Holds {
                    answer.verdict = Verdict::Unknown(
                        "it holds under c20, which allows less than rc11, and not with the seqcst accesses as acquire and release ones, which allows more".to_owned(),
                    );
                }
            }
            answer
        }
        model => ra::observational(program, &part(model), control)?,
    };
    match answer.verdict {
        Verdict::Holds if answer.stats.states > 0 => answer.notes.push(Note::Observed),
        Verdict::Violated if is_race(&answer) => answer.notes.push(Note::Race),
        Verdict::Violated => answer.notes.push(Note::StaleValueUsed),
        _ => {}
    }
    answer.stats.wall = asked.start.elapsed();
    Ok(answer)
}

/// RC11 with seq_cst accesses lies between two questions that can be decided: with their orders weakened to acquire and release it has more graphs, and
/// C++20 has fewer. Where these two differ, the graphs themselves are looked at.
fn rc11_robust(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    let asked = asked(options);
    let rc11 = || asked.part(Model::Rc11, Criterion::Robust);
    let weaker = ra::robust(&with_weaker_accesses(program), &rc11(), control)?;
    let mut stats = weaker.stats;
    if weaker.verdict == Verdict::Holds {
        return Ok(weaker);
    }
    let c20 = asked.part(Model::C20, Criterion::Robust);
    let mut stronger = ra::robust(program, &c20, control)?;
    stats.add(&stronger.stats);
    let mut answer = match stronger.verdict {
        Verdict::Violated => {
            for witness in &mut stronger.witnesses {
                witness.model = Model::Rc11;
            }
            stronger
        }
        _ => {
            let answer = graphs::check(program, &rc11(), control)?;
            stats.add(&answer.stats);
            answer
        }
    };
    answer.stats = stats;
    Ok(answer)
}

pub(crate) fn has_seqcst_accesses(program: &Program) -> bool {
    let mut found = false;
    for_each_order(&mut program.clone(), |order| {
        found |= *order == Order::SeqCst;
    });
    found
}

/// The program with `seqcst` accesses as `acquire`, `release` or `acqrel` ones.
pub(crate) fn with_weaker_accesses(program: &Program) -> Program {
    let mut weaker = program.clone();
    for_each_order(&mut weaker, |order| {
        if *order == Order::SeqCst {
            // What a load has of it beyond acquiring, or a store beyond releasing, counts for nothing.
            *order = Order::AcqRel;
        }
    });
    weaker
}

/// Visits the orders of all accesses.
fn for_each_order(program: &mut Program, mut visit: impl FnMut(&mut Order)) {
    let threads = program.threads.iter_mut();
    for transition in threads.flat_map(|thread| &mut thread.transitions) {
        match &mut transition.op {
            Op::Load { order, .. } | Op::Store { order, .. } | Op::Wait { order, .. } => {
                visit(order);
            }
            Op::Rmw { action, order, .. } => {
                visit(order);
                if let RmwAction::CompareAndSwap { failure, .. } = action {
                    visit(failure);
                }
            }
            _ => {}
        }
    }
}

/// What an answer has cost, which is then counted elsewhere: the answer may be a part of one whose costs are added once more.
pub(crate) fn taken(answer: &mut Answer) -> Stats {
    std::mem::take(&mut answer.stats)
}

/// Decides `safe`: no error, no `never`, no data race.
pub(crate) fn safe(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    Ok(safe_and_ways(program, options, control)?.0)
}

/// The same, and whether the program was seen to go no ways but those that it goes under SC.
pub(crate) fn safe_and_ways(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<(Answer, bool), Refusal> {
    // A program that has no meaning under the model has no verdict either.
    ra::check_meaning(program, options)?;
    let asked = asked(options);
    let model = options.model;
    // Checkpoints know one walk after the other, not which of them are made.
    let may = options.reductions.static_filter && options.checkpoints.is_none();
    // Under release/acquire every access has an order that others feel.
    let may = may && matches!(model, Model::C20 | Model::Rc11);
    if may && let Some((without, names)) = without_idle_locations(program) {
        let question = asked.part(model, Criterion::Safe);
        let (answer, as_sc) = safe_and_ways(&without, &question, control)?;
        if answer.verdict == Verdict::Holds {
            let mut answer = answer;
            answer.notes.push(Note::LeftOut(names));
            return Ok((answer, as_sc));
        }
    }
    let question = asked.part(Model::Sc, Criterion::Safe);
    let mut sc = under_sc::check(program, &question, control);
    let mut total = taken(&mut sc);
    let mut as_sc = false;
    let mut answer = if sc.verdict == Verdict::Violated {
        let drf = asked.part(model, Criterion::Drf);
        violated_under_sc(program, sc, &drf, control)?
    } else {
        let mut robust = robust(program, &asked.part(model, Criterion::Robust), control)?;
        total.add(&taken(&mut robust));
        let everything = || everything(program, &asked.part(model, Criterion::Safe), control);
        match (&robust.verdict, sc.verdict) {
            (Verdict::Unknown(_), _) => robust,
            (Verdict::Violated, _) if is_race(&robust) => raced(robust, Criterion::Safe),
            (Verdict::Violated, sc) => {
                // What is used of stale values, and only that, can make a difference.
                let may = !mentions_deadlock(program) && are_whole(program);
                let mut observed = None;
                let mut shown = None;
                if may && sc == Verdict::Holds && may_try(options) {
                    let most = Some(4 * total.states.max(MOST_TRIED));
                    let ask = &mut |program: &Program, model, criterion| {
                        let question = Options {
                            most_states: options.most_states.into_iter().chain(most).min(),
                            ..asked.part(model, criterion)
                        };
                        let answer = match model {
                            Model::Sc => under_sc::check(program, &question, control),
                            _ => self::robust(program, &question, control)?,
                        };
                        total.add(&answer.stats);
                        Ok(answer)
                    };
                    shown = safe_whatever_is_read(program, model, Vec::new(), Some(robust), ask)?;
                }
                if let Some(shown) = shown {
                    total.wall = asked.start.elapsed();
                    return Ok((shown_safe(shown, total), false));
                }
                if may && sc == Verdict::Holds {
                    let question = asked.part(model, Criterion::Observational);
                    let answer = observational(program, &question, control)?;
                    total.add(&answer.stats);
                    observed = Some(answer).filter(|a| a.verdict == Verdict::Holds);
                }
                as_sc = observed.is_some();
                match observed {
                    Some(answer) => safe_as_observed(answer, model),
                    None => everything()?,
                }
            }
            (Verdict::Holds, Verdict::Unknown(why)) => Answer {
                verdict: Verdict::Unknown(why),
                ..robust
            },
            (Verdict::Holds, _) => match are_whole(program) {
                true => {
                    as_sc = true;
                    safe_as_under_sc(robust, model)
                }
                false => everything()?,
            },
        }
    };
    total.add(&answer.stats);
    total.wall = asked.start.elapsed();
    answer.stats = total;
    Ok((answer, as_sc))
}

/// Tries to show `safe` with all numbers left open that the program only follows until they wrap around: then there is no such bound either.
pub(crate) fn safe_without_wrapping(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Option<Answer>, Refusal> {
    let weak = matches!(options.model, Model::Ra | Model::C20 | Model::Rc11);
    let may = may_try(options) && are_whole(program);
    if !weak || options.criterion != Criterion::Safe || !may {
        return Ok(None);
    }
    let open = counting_locations(program);
    if open.is_empty() {
        return Ok(None);
    }
    ra::check_meaning(program, options)?;
    let half = Options {
        timeout: options.timeout.map(|timeout| timeout / 2),
        ..options.clone()
    };
    let asked = asked(&half);
    let mut total = Stats::default();
    let ask = &mut |program: &Program, model, criterion| {
        let question = asked.part(model, criterion);
        let answer = match model {
            Model::Sc => under_sc::check(program, &question, control),
            _ => robust(program, &question, control)?,
        };
        total.add(&answer.stats);
        Ok(answer)
    };
    let shown = safe_whatever_is_read(program, options.model, open, None, ask)?;
    total.wall = asked.start.elapsed();
    Ok(shown
        .filter(|shown| shown.program.bounds.is_empty())
        .map(|shown| shown_safe(shown, total)))
}

/// Whether blocks count as a whole: each comes to its end, and no `never` looks at memory, or at a thread that may stand inside one, in a state that another
/// one has moved before. Under SC the block has read the newest values then; elsewhere it may have read old ones, so that even a robust program has states inside
/// its blocks that SC does not have.
fn are_whole(program: &Program) -> bool {
    let has_blocks = |thread: &Thread| thread.points.iter().any(|point| point.atomic);
    if !program.threads.iter().any(has_blocks) {
        return true;
    }
    let is_outside = |condition: &Expr<StateAtom>| {
        let mut is_outside = true;
        visit_state_atoms(std::slice::from_ref(condition), &mut |atom| match atom {
            StateAtom::At(copy, _) | StateAtom::Register(copy, _)
                if has_blocks(program.thread(copy.thread)) =>
            {
                is_outside &= is_inside(program, condition, *copy) == Some(false);
            }
            StateAtom::Memory(_) => is_outside = false,
            _ => {}
        });
        is_outside
    };
    let mut conditions = program.nevers.iter().flat_map(|never| &never.conditions);
    blocks_end(program) && conditions.all(is_outside)
}

/// What a condition is while the thread that it speaks of stands inside a block, if that is known: not at a label outside.
fn is_inside(program: &Program, condition: &Expr<StateAtom>, inside: CopyRef) -> Option<bool> {
    let thread = inside.thread;
    let is_one = inside.copy.is_some() || program.thread(thread).copies == Copies::One;
    let is_atomic = |points: &[PointId]| {
        let points = points.iter();
        points
            .clone()
            .any(|p| program.thread(thread).points[p.index()].atomic)
    };
    match condition {
        Expr::Atom(StateAtom::At(copy, label)) if is_one && *copy == inside => match label {
            LabelRef::End => Some(false),
            LabelRef::Label(label) => {
                let label = &program.thread(thread).labels[label.index()];
                (!is_atomic(&label.points)).then_some(false)
            }
        },
        Expr::Unary(UnaryOp::Not, operand) => is_inside(program, operand, inside).map(|is| !is),
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
            let decides = *op == BinaryOp::Or;
            match [left, right].map(|side| is_inside(program, side, inside)) {
                [Some(is), _] | [_, Some(is)] if is == decides => Some(decides),
                [Some(_), Some(_)] => Some(!decides),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a proof may be tried and given up. Which walks are made follows from what came out of those before, also for several processes and after a break.
fn may_try(options: &Options) -> bool {
    options.reductions.static_filter
}

fn shown_safe(shown: Shown, stats: Stats) -> Answer {
    Answer {
        notes: vec![shown.note],
        stats,
        ..Answer::dismissed(0, stats.wall)
    }
}

/// Looks at all that the model has, as far as one gets.
pub(crate) fn everything(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    let walk = |options: &Options, seqcst| ra::runs::check(program, options, seqcst, control);
    match options.model {
        Model::Ra => Ok(walk(options, SeqCst::Updates).answer),
        _ => with_views(program, options, control, walk),
    }
}

/// Looks at all that C++20 or RC11 have: with messages and views where these are enough, and at execution graphs otherwise.
fn with_views(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    walk: impl Fn(&Options, SeqCst) -> Walked,
) -> Result<Answer, Refusal> {
    let asked = asked(options);
    if let Some(seqcst) = exact_views(program) {
        let walked = walk(options, seqcst);
        debug_assert!(walked.is_real, "views allow what the definition forbids");
        if walked.is_real {
            return Ok(walked.answer);
        }
    }
    // Each of the ways gets a part of the time.
    let part = |share: u32| {
        let part = asked.part(options.model, options.criterion);
        Options {
            timeout: part.timeout.map(|left| left / share),
            ..part
        }
    };
    let more = walk(&part(3), SeqCst::Weaker);
    let mut stats = more.answer.stats;
    let decided = match more.answer.verdict {
        Verdict::Holds => true,
        Verdict::Violated => more.is_real,
        Verdict::Unknown(_) => false,
    };
    if decided {
        return Ok(more.answer);
    }
    if !has_seqcst_accesses(program) {
        let fewer = walk(&part(2), SeqCst::InOrder);
        stats.add(&fewer.answer.stats);
        if fewer.answer.verdict == Verdict::Violated && fewer.is_real {
            return Ok(Answer {
                stats,
                ..fewer.answer
            });
        }
    }
    let mut answer = graphs::check(program, &part(1), control)?;
    stats.add(&answer.stats);
    answer.stats = stats;
    Ok(answer)
}

/// What sc events have to be taken for so that messages and views show just what C++20 and RC11 have.
fn exact_views(program: &Program) -> Option<SeqCst> {
    match (has_seqcst_accesses(program), has_seqcst_fences(program)) {
        (false, false) => Some(SeqCst::Weaker),
        (false, true) if ra::runs::fences_in_order(program) => Some(SeqCst::InOrder),
        _ => None,
    }
}

fn has_seqcst_fences(program: &Program) -> bool {
    let mut transitions = program.threads.iter().flat_map(|t| &t.transitions);
    transitions.any(|t| matches!(t.op, Op::Fence(Order::SeqCst)))
}

/// What a violation under SC is under the model: the same run, unless a race has no meaning. `drf` is how to ask for races.
pub(crate) fn violated_under_sc(
    program: &Program,
    mut sc: Answer,
    drf: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    let races = ra::races(program, drf, control)?;
    if races.verdict == Verdict::Violated {
        // The run may have a race before what goes wrong; then nothing behind the race has a meaning.
        return Ok(raced(races, Criterion::Safe));
    }
    sc.stats.add(&races.stats);
    for witness in &mut sc.witnesses {
        ra::sc_run_of(witness, drf.model);
    }
    sc.notes.push(Note::HappensUnderSc);
    Ok(sc)
}

fn safe_as_under_sc(mut robust: Answer, model: Model) -> Answer {
    robust.notes.push(Note::RobustAndSafe(model));
    robust
}

fn safe_as_observed(mut observed: Answer, model: Model) -> Answer {
    observed.notes = vec![Note::ObservedAndSafe(model)];
    observed.stats = Stats::default();
    observed
}

/// Decides `drf`: no data race on nonatomic data.
pub(crate) fn drf(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    let asked = asked(options);
    let model = options.model;
    let mut races = ra::races(program, &asked.part(model, Criterion::Drf), control)?;
    let mut total = taken(&mut races);
    let mut answer = match races.verdict {
        Verdict::Violated => raced(races, Criterion::Drf),
        Verdict::Unknown(_) => races,
        Verdict::Holds if !ra::has_nonatomic_accesses(program) => {
            let mut answer = races;
            answer.notes.push(Note::NothingCanRace);
            answer
        }
        Verdict::Holds => {
            let mut robust = robust(program, &asked.part(model, Criterion::Robust), control)?;
            total.add(&taken(&mut robust));
            match (&robust.verdict, model) {
                (Verdict::Holds | Verdict::Unknown(_), _) => robust,
                (Verdict::Violated, Model::Ra) => {
                    let question = asked.part(model, Criterion::Safe);
                    let runs = ra::runs::races(program, &question, SeqCst::Updates, control);
                    raced(runs.answer, Criterion::Drf)
                }
                (Verdict::Violated, _) => {
                    let question = asked.part(model, Criterion::Drf);
                    with_views(program, &question, control, |options, seqcst| {
                        ra::runs::races(program, options, seqcst, control)
                    })?
                }
            }
        }
    };
    total.add(&answer.stats);
    total.wall = asked.start.elapsed();
    answer.stats = total;
    Ok(answer)
}

/// Whether a violation is a data race.
pub(crate) fn is_race(answer: &Answer) -> bool {
    answer.witnesses.iter().any(|w| w.pattern.is_some())
}

/// The same answer to the question whether a criterion holds that a race violates.
pub(crate) fn raced(mut answer: Answer, criterion: Criterion) -> Answer {
    if answer.verdict == Verdict::Violated && criterion == Criterion::Safe {
        answer.notes.push(Note::Race);
    }
    for witness in &mut answer.witnesses {
        witness.criterion = criterion;
    }
    answer
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use palisade_testkit::oracle::{c20_drf, c20_safe, within};
    use palisade_testkit::{Shape, compare};

    use super::*;

    fn seen(
        program: &Program,
        criterion: Criterion,
        walk: impl Fn(&Options, SeqCst, &Control<'_>) -> Option<Walked>,
        seqcst: SeqCst,
    ) -> Option<(bool, bool)> {
        let options = Options {
            most_states: Some(4_000),
            ..Options::new(Model::C20, criterion)
        };
        ra::check_meaning(program, &options).ok()?;
        let cancel = AtomicBool::new(false);
        let control = Control {
            cancel: &cancel,
            progress: &|_: &crate::Progress| {},
        };
        let walked = walk(&options, seqcst, &control)?;
        let holds = match walked.answer.verdict {
            Verdict::Holds => true,
            Verdict::Violated => false,
            // There may be no end to loops.
            Verdict::Unknown(_) => return None,
        };
        Some((holds, walked.is_real))
    }

    fn safe_with(program: &Program, seqcst: SeqCst) -> Option<(bool, bool)> {
        let walk = |options: &Options, seqcst, control: &Control<'_>| {
            Some(ra::runs::check(program, options, seqcst, control))
        };
        seen(program, Criterion::Safe, walk, seqcst)
    }

    fn drf_with(program: &Program, seqcst: SeqCst) -> Option<(bool, bool)> {
        let walk = |options: &Options, seqcst, control: &Control<'_>| {
            Some(ra::runs::races(program, options, seqcst, control))
        };
        seen(program, Criterion::Drf, walk, seqcst)
    }

    const STATING: Shape = Shape {
        properties: true,
        ..Shape::RC11
    };

    /// Whatever the program, robust or not, messages and views alone show what the definition allows, where they are said to be exact.
    #[test]
    fn views_agree_with_the_definition_where_they_are_exact() {
        let exact = |decide: fn(&Program, SeqCst) -> Option<(bool, bool)>| {
            move |program: &Program| {
                let (holds, is_real) = decide(program, exact_views(program)?)?;
                assert!(is_real, "{}", program.source.text());
                Some(holds)
            }
        };
        let safe = compare(&STATING, 0..3_000, c20_safe, exact(safe_with));
        assert!(safe.violated * 20 >= safe.programs, "{safe:?}");
        assert!(safe.programs >= 1_000, "{safe:?}");
        let methods = Shape {
            seqcst_accesses: false,
            properties: true,
            ..Shape::C20_METHODS
        };
        compare(&methods, 10_000..10_500, c20_safe, exact(safe_with));
        let drf = compare(&Shape::RC11, 20_000..21_000, c20_drf, exact(drf_with));
        assert!(drf.violated > 0, "{drf:?}");
        // What brute force finds in loops, as far as it gets.
        let shape = Shape {
            loops: true,
            threads: (2, 3),
            ..STATING
        };
        let unsafe_loops =
            |program: &Program| within(500, || c20_safe(program)).filter(|safe| !safe);
        let loops = compare(&shape, 50_000..50_600, unsafe_loops, exact(safe_with));
        assert!(loops.programs >= 50, "{loops:?}");
    }

    /// Elsewhere one way shows at least what the definition allows, and the other at most that.
    /// A `never` that is true only inside a block: a block may begin after a store, and read what was there before.
    #[test]
    fn states_inside_blocks_are_not_those_of_sc() {
        let text = "shared x;
            thread a { x.store(3, relaxed); }
            thread b { let r; let s; atomic { r = x; x = r + 1; s = x; } }
            never a@end && b.s == 1 && !(b@end);";
        let program = palisade_testkit::program(text);
        let cancel = std::sync::atomic::AtomicBool::new(false);
        let control = Control {
            cancel: &cancel,
            progress: &|_| {},
        };
        for model in [Model::Ra, Model::C20, Model::Rc11] {
            let options = Options::new(model, Criterion::Safe);
            let answer = safe_and_ways(&program, &options, &control).map(|a| a.0.verdict);
            assert_ne!(answer.ok(), Some(Verdict::Holds), "{model:?}");
        }
    }

    #[test]
    fn views_lie_on_both_sides_of_the_definition_elsewhere() {
        let shape = Shape {
            properties: true,
            ..Shape::C20
        };
        let weaker = |program: &Program| match safe_with(program, SeqCst::Weaker)? {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        };
        let compared = compare(&shape, 30_000..31_000, c20_safe, weaker);
        assert!(compared.skipped < compared.programs, "{compared:?}");
        let in_order = |program: &Program| match safe_with(program, SeqCst::InOrder)? {
            (false, is_real) => {
                assert!(is_real, "{}", program.source.text());
                Some(false)
            }
            _ => None,
        };
        compare(&STATING, 40_000..41_000, c20_safe, in_order);
    }
}
