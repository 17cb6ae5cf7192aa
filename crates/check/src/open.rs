//! Locations whose values are left open: a proof of `safe` that does not depend on what is read there.
//!
//! A counter by which waiting threads are woken, or a hint that a thread waits, decides when a lock goes on, not whether it is one. Such locations are what makes many
//! locks not robust, and where threads count in a loop there is no end to the messages. Here all accesses of such locations are left out, and every way
//! that depends on a value from there may be taken or not. That adds runs and loses none: an execution without the events of some
//! locations satisfies all conditions that the models have (each forbids a cycle, and with fewer events there are fewer edges), and there is less
//! that happens before something else, so that no race is lost either. So `safe` is shown by it, and never refuted.
//!
//! Which locations are worth it, the cycles say that keep the program from being robust.

use palisade_lang::{
    Address, Bound, Expr, LocationId, Op, Order, PointId, Program, RegisterId, RmwAction,
    StateAtom, Thread,
};
use palisade_memory::Witness;
use palisade_threads::visit_state_atoms;

use crate::idle::{can_err, direct, is_partial};
use crate::{Answer, Criterion, Model, Note, Refusal, Verdict};

/// Asks a question about a program.
pub type Ask<'a> = dyn FnMut(&Program, Model, Criterion) -> Result<Answer, Refusal> + 'a;

/// A program that was shown to be safe whatever is read from some locations.
#[derive(Debug)]
pub struct Shown {
    /// What is left of it.
    pub program: Program,
    /// What to say about it.
    pub note: Note,
}

/// Tries to show that a program is safe under a model whatever is read from some locations: these, and others from the cycles that keep it from being robust.
/// `robust` is what is known already about the program with these.
pub fn safe_whatever_is_read(
    program: &Program,
    model: Model,
    mut open: Vec<LocationId>,
    mut robust: Option<Answer>,
    ask: &mut Ask<'_>,
) -> Result<Option<Shown>, Refusal> {
    let Some(mut left) = with_open_locations(program, &open) else {
        return Ok(None);
    };
    if !open.is_empty() && ask(&left, Model::Sc, Criterion::Safe)?.verdict != Verdict::Holds {
        return Ok(None);
    }
    loop {
        let answer = match robust.take() {
            Some(answer) => answer,
            None => ask(&left, model, Criterion::Robust)?,
        };
        match (answer.verdict, answer.witnesses.first()) {
            (Verdict::Holds, _) => {
                let names = open.iter().map(|l| program.location(*l).name.clone());
                let note = Note::SafeWhateverIsRead(names.collect());
                return Ok(Some(Shown {
                    program: left,
                    note,
                }));
            }
            (Verdict::Violated, Some(witness)) => {
                let mut next = None;
                for location in on_the_cycle(program, witness) {
                    if open.contains(&location) {
                        continue;
                    }
                    let more: Vec<LocationId> = open.iter().copied().chain([location]).collect();
                    if let Some(fewer) = with_open_locations(program, &more)
                        && ask(&fewer, Model::Sc, Criterion::Safe)?.verdict == Verdict::Holds
                    {
                        next = Some((fewer, more));
                        break;
                    }
                }
                let Some(found) = next else {
                    return Ok(None);
                };
                (left, open) = found;
            }
            _ => return Ok(None),
        }
    }
}

/// The program with the values of these locations left open; `None` where something else depends on them than which way a thread takes.
pub fn with_open_locations(program: &Program, open: &[LocationId]) -> Option<Program> {
    if open
        .iter()
        .any(|location| program.location(*location).nonatomic)
    {
        return None;
    }
    let is_open = |location: LocationId| open.contains(&location);
    let mut left = program.clone();
    let mut unknown = Vec::with_capacity(program.threads.len());
    for (index, (thread, left)) in program.threads.iter().zip(&mut left.threads).enumerate() {
        let wrapping = wrapping_points(program, index);
        if thread.points.iter().any(|point| point.atomic) {
            return None;
        }
        let registers = unknown_registers(thread, &is_open);
        for transition in &mut left.transitions {
            let op = &transition.op;
            let mut depends = false;
            op.for_each_register(&mut |register| depends |= registers[register.index()]);
            let gone = match op {
                _ if op.address().is_some() => match direct(op) {
                    Some(location) if is_open(location) => {
                        if !can_be_left_out(op) {
                            return None;
                        }
                        true
                    }
                    Some(_) => false,
                    None if may_touch(op.address()?, &is_open) => return None,
                    None => false,
                },
                Op::Assign(_, value) => depends && !can_err(value),
                Op::Assume(condition) => depends && !can_err(condition),
                _ => false,
            };
            // Where only an open number wraps around, nothing is lost by going on with any number.
            let wraps = gone
                && matches!(op, Op::Assume(_))
                && wrapping.contains(&thread.behind_jumps(transition.to));
            match gone {
                true if wraps => transition.op = Op::Assume(Expr::Const(0)),
                true => transition.op = Op::Skip,
                false if depends => return None,
                false => {}
            }
        }
        unknown.push(registers);
    }
    let threads = &left.threads;
    for bound in &mut left.bounds {
        bound.at.retain(|(thread, label)| {
            let thread = &threads[thread.index()];
            let points = &thread.labels[label.index()].points;
            points.contains(&thread.behind_jumps(thread.initial))
                || thread.transitions.iter().any(|t| {
                    let leads_there = points.contains(&thread.behind_jumps(t.to));
                    leads_there && !matches!(t.op, Op::Jump | Op::Assume(Expr::Const(0)))
                })
        });
    }
    left.bounds.retain(|bound| !bound.at.is_empty());
    let mut stated = true;
    let conditions = program.nevers.iter().flat_map(|never| &never.conditions);
    visit_state_atoms(conditions, &mut |atom| {
        stated &= match atom {
            StateAtom::At(..) => true,
            StateAtom::Register(copy, register) => !unknown[copy.thread.index()][register.index()],
            StateAtom::Memory(address) => match **address {
                Address::Direct(location) => !is_open(location),
                _ => false,
            },
            // With less to wait for there may be fewer of these.
            StateAtom::Deadlock => false,
        }
    });
    stated.then_some(left)
}

/// The points where a thread has met a number that wraps around.
fn wrapping_points(program: &Program, thread: usize) -> Vec<PointId> {
    let labels = &program.threads[thread].labels;
    let wraps = program.bounds.iter().filter(|b| b.message == Bound::WRAPS);
    let here = wraps.flat_map(|bound| &bound.at);
    let here = here.filter(|(id, _)| id.index() == thread);
    here.flat_map(|(_, label)| labels[label.index()].points.iter().copied())
        .collect()
}

/// The locations whose numbers are only followed until they wrap around, as far as they can be left open.
pub(crate) fn counting_locations(program: &Program) -> Vec<LocationId> {
    let mut found: Vec<LocationId> = Vec::new();
    for (index, thread) in program.threads.iter().enumerate() {
        let wrapping = wrapping_points(program, index);
        let mut met = vec![false; thread.registers.len()];
        for transition in &thread.transitions {
            if wrapping.contains(&thread.behind_jumps(transition.to)) {
                transition
                    .op
                    .for_each_register(&mut |r| met[r.index()] = true);
            }
        }
        for op in thread.transitions.iter().map(|t| &t.op) {
            if let (Some(location), Some(target)) = (direct(op), op.target())
                && met[target.index()]
                && !found.contains(&location)
                && with_open_locations(program, &[location]).is_some()
            {
                found.push(location);
            }
        }
    }
    found
}

/// Whether an access can be left out: it is atomic, and nothing about it is an error.
fn can_be_left_out(op: &Op) -> bool {
    match op {
        Op::Load { order, .. } => *order != Order::NonAtomic,
        Op::Store { order, value, .. } | Op::Wait { order, value, .. } => {
            *order != Order::NonAtomic && !can_err(value)
        }
        Op::Rmw { action, order, .. } => {
            let harmless = match action {
                RmwAction::CompareAndSwap {
                    expected, desired, ..
                }
                | RmwAction::BlockingCompareAndSwap { expected, desired } => {
                    !can_err(expected) && !can_err(desired)
                }
                RmwAction::Fetch(op, value) => !is_partial(*op) && !can_err(value),
                RmwAction::Exchange(value) => !can_err(value),
            };
            *order != Order::NonAtomic && harmless
        }
        _ => false,
    }
}

/// Whether an access that is not of one location by its name may touch one of these.
fn may_touch(address: &Address<RegisterId>, is_open: &impl Fn(LocationId) -> bool) -> bool {
    match address {
        Address::Direct(location) => is_open(*location),
        Address::Element { first, length, .. } => {
            (first.0..first.0.saturating_add(*length)).any(|at| is_open(LocationId(at)))
        }
        Address::Pointer(_) => true,
    }
}

/// The registers whose values may depend on what is left open.
fn unknown_registers(thread: &Thread, is_open: &impl Fn(LocationId) -> bool) -> Vec<bool> {
    let mut unknown = vec![false; thread.registers.len()];
    loop {
        let mut changed = false;
        for transition in &thread.transitions {
            let op = &transition.op;
            let Some(target) = op.target() else {
                continue;
            };
            let mut depends = direct(op).is_some_and(is_open);
            if matches!(op, Op::Assign(..)) {
                op.for_each_register(&mut |register| depends |= unknown[register.index()]);
            }
            changed |= depends && !std::mem::replace(&mut unknown[target.index()], true);
        }
        if !changed {
            return unknown;
        }
    }
}

/// The locations of a violation's cycle that are no data.
fn on_the_cycle(program: &Program, witness: &Witness) -> Vec<LocationId> {
    let mut found = Vec::new();
    for &index in &witness.cycle {
        let name = witness.events.get(index).and_then(|e| e.location.as_ref());
        let place = program.locations.iter().position(|l| Some(&l.name) == name);
        let Some(place) = place.filter(|place| !program.locations[*place].nonatomic) else {
            continue;
        };
        let location = LocationId(place as u32);
        if !found.contains(&location) {
            found.push(location);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_lang::{ParseOptions, Source, parse};
    use palisade_testkit::oracle::{c20_safe, within};
    use palisade_testkit::{Shape, compare};

    /// Where the program is safe whatever is read, brute force says so of the program, too.
    #[test]
    fn what_is_shown_without_them_holds() {
        let shown = |program: &Program| {
            let mut locations = (0..program.locations.len()).map(|at| LocationId(at as u32));
            let shown = locations.any(|location| {
                with_open_locations(program, &[location])
                    .is_some_and(|open| within(500, || c20_safe(&open)) == Some(true))
            });
            shown.then_some(true)
        };
        let expected = |program: &Program| within(2_000, || c20_safe(program));
        for (shape, seeds) in [
            (Shape::RC11, 70_000..72_000),
            (Shape::C20_METHODS, 80_000..81_000),
        ] {
            let stating = Shape {
                properties: true,
                ..shape
            };
            let compared = compare(&stating, seeds, expected, shown);
            assert!(compared.programs >= 50, "{compared:?}");
        }
    }

    fn opens(text: &str, name: &str) -> bool {
        let source = Source::new("a.pal", text);
        let program = parse(&source, &ParseOptions::default()).unwrap().program;
        let place = program.locations.iter().position(|l| l.name == name);
        with_open_locations(&program, &[LocationId(place.unwrap() as u32)]).is_some()
    }

    #[test]
    fn only_ways_may_depend_on_it() {
        let waits = "shared x; shared y; thread a { x.store(1, release); } thread b { let r = x.load(acquire); if r == 1 { y = 1; } }";
        assert!(opens(waits, "x"));
        let stored =
            "shared x; shared y; thread a { x = 1; } thread b { let r = x; let s = r + 1; y = s; }";
        assert!(!opens(stored, "x"));
        assert!(opens(stored, "y"));
        let asserted = "shared x; thread a { x = 1; } thread b { let r = x; assert r == 0; }";
        assert!(!opens(asserted, "x"));
        let divided =
            "shared x; thread a { x = 1; } thread b { let r = x; if 1 / r == 1 { skip; } }";
        assert!(!opens(divided, "x"));
        let stated = "shared x; thread a { x = 1; } never x == 1;";
        assert!(!opens(stated, "x"));
        let plain =
            "nonatomic shared x; shared y; thread a { x = 1; } thread b { y = 1; let r = x; }";
        assert!(!opens(plain, "x"));
    }
}
