//! Races and triangular races, by their definitions.

use crate::replay::{Candidate, Matched, Replay};
use crate::{Invalid, any, flushed_ones};
use palisade_lang::{Op, Order, Program};
use palisade_memory::{Event, EventKind, EventRef, Machine, Ra, Sc, StepKind, Tso, Witness, sc};

fn named<const N: usize>(witness: &Witness) -> Result<[usize; N], Invalid> {
    let events = witness.pattern.as_ref().map_or(&[][..], |p| &p.events);
    events
        .try_into()
        .map_err(|_| Invalid::new(format!("the pattern must name {N} events")))
}

fn require(condition: bool, message: &str) -> Result<(), Invalid> {
    if condition {
        Ok(())
    } else {
        Err(Invalid::new(message))
    }
}

fn writes(event: &Event) -> bool {
    matches!(event.kind, EventKind::Store | EventKind::Rmw)
}

/// `[a, b]`: two conflicting accesses of different threads that were enabled at the same time.
pub fn race(program: &Program, witness: &Witness) -> Result<(), Invalid> {
    let machine = Sc::new(program);
    let events = &witness.events;
    let replay = Replay::new(&machine, program, events, true);
    let [a, b] = named::<2>(witness)?;
    let (first, second) = (&events[a], &events[b]);
    require(
        a < b && b + 1 == events.len(),
        "the second access must be the last event",
    )?;
    let (first_thread, second_thread) = (replay.thread(a)?, replay.thread(b)?);
    require(
        first_thread != second_thread,
        "the accesses are of one thread",
    )?;
    require(
        first.location.is_some() && first.location == second.location,
        "the accesses are to different locations",
    )?;
    require(writes(first) || writes(second), "neither of them writes")?;
    require(
        !second.atomic || !writes(first),
        "the second access is inside a block, which must be shown on memory without the first",
    )?;
    // From the first access on there are only the two accesses and the rest of the blocks that they are in.
    for (index, event) in events.iter().enumerate().skip(a) {
        let one_of_both = event.thread == first.thread || event.thread == second.thread;
        require(
            index == a || index == b || (one_of_both && in_block_or_border(event)),
            "other steps are between the accesses",
        )?;
    }
    let before = replay.follow(replay.start(), a)?;
    let before = replay.silently(before, &[first_thread, second_thread]);
    any(&before, |candidate| {
        race_from(&replay, candidate, a, b, second_thread)
    })
}

fn in_block_or_border(event: &Event) -> bool {
    event.atomic || event.kind == EventKind::Local
}

fn race_from(
    replay: &Replay<'_, Sc<'_>>,
    before: &Candidate<sc::State>,
    a: usize,
    b: usize,
    second_thread: usize,
) -> Result<(), Invalid> {
    let events = replay.events;
    let machine = replay.machine;
    let after_first = replay.follow(vec![before.clone()], a + 1)?;
    let first_locked = |c: &Candidate<sc::State>| {
        let matched = replay.event(c, a);
        events[a].atomic || matched.is_some_and(|m| replay.is_rmw(&m))
    };
    if events[b].atomic {
        // The second thread's block, on the same memory: the first access only read it.
        let all = replay.follow(after_first, b + 1)?;
        let begins = machine
            .steps_of(&before.state, second_thread)
            .iter()
            .any(|(step, _)| step.kind == StepKind::AtomicBegin);
        require(begins, "the second access was not enabled before the first")?;
        return any(&all, |c| {
            require(!first_locked(c), "both accesses are locked")
        });
    }
    for (step, _) in machine.unhindered_steps_of(&before.state, second_thread) {
        let same_place = replay.is_at(&events[b], &step)
            && step.location.map(|l| &replay.program.location(l).name)
                == events[b].location.as_ref();
        if !same_place || !(writes(&events[a]) || step.is_write()) {
            continue;
        }
        let transition = machine.code().thread(second_thread).transitions[step.transition].clone();
        let locked = matches!(transition.op, Op::Rmw { .. });
        let free = after_first.iter().any(|c| !(locked && first_locked(c)));
        if !free {
            continue;
        }
        // With the values that it had before the first access, or those that it has behind it.
        let alternative = replay.matches(before, b, &step).is_ok();
        if alternative && replay.follow(after_first.clone(), b).is_ok() {
            return Ok(());
        }
        let behind = replay.follow(after_first.clone(), b + 1);
        if behind.is_ok_and(|all| {
            all.iter()
                .filter_map(|c| replay.event(c, b))
                .any(|m| m.transition == step.transition)
        }) {
            return Ok(());
        }
    }
    Err(Invalid::at(
        b,
        "this access was not enabled before the other one",
    ))
}

/// `[a, b]`: two conflicting accesses of a `nonatomic` location that two threads are about to make in a state that RA reaches. Whoever
/// goes second then does not know what the first one did (Lahav and Margalit 2019, Def. 6.1).
pub fn ra_race(program: &Program, witness: &Witness) -> Result<(), Invalid> {
    let machine = Ra::new(program).map_err(|refused| Invalid::new(refused.message))?;
    let events = &witness.events;
    let replay = Replay::new(&machine, program, events, false);
    let [a, b] = named::<2>(witness)?;
    require(
        a + 1 == b && b + 1 == events.len(),
        "the accesses must be the last two events",
    )?;
    let threads = [replay.thread(a)?, replay.thread(b)?];
    require(threads[0] != threads[1], "the accesses are of one thread")?;
    require(
        events[a].location == events[b].location,
        "the accesses are to different locations",
    )?;
    require(
        writes(&events[a]) || writes(&events[b]),
        "neither of them writes",
    )?;
    let location = events[a].location.as_ref();
    let nonatomic = program
        .locations
        .iter()
        .any(|l| l.nonatomic && Some(&l.name) == location);
    require(nonatomic, "the location is not nonatomic")?;
    let before = replay.silently(replay.follow(replay.start(), a)?, &threads);
    any(&before, |candidate| {
        for (index, thread) in [(a, threads[0]), (b, threads[1])] {
            let is_about_to = machine
                .steps_of(&candidate.state, thread)
                .iter()
                .any(|(step, _)| {
                    let op = &machine.code().thread(thread).transitions[step.transition].op;
                    let right_kind = match events[index].kind {
                        EventKind::Store => matches!(op, Op::Store { .. }),
                        EventKind::Load => matches!(op, Op::Load { .. }),
                        _ => false,
                    };
                    let right_value = op_is_load(op) || step.written == events[index].value;
                    right_kind
                        && right_value
                        && !events[index].atomic
                        && replay.is_at(&events[index], step)
                        && step.location.map(|l| &program.location(l).name) == location
                });
            if !is_about_to {
                return Err(Invalid::at(index, "the thread is not about to do this"));
            }
            refers_rightly(program, events, index)?;
        }
        Ok(())
    })
}

/// A race on a `nonatomic` location under RA in which one access has happened, and the other one comes without knowing of it.
pub fn ra_late_race(program: &Program, witness: &Witness) -> Result<(), Invalid> {
    let machine = Ra::new(program).map_err(|refused| Invalid::new(refused.message))?;
    let events = &witness.events;
    let replay = Replay::new(&machine, program, events, false);
    let [store, late] = named::<2>(witness)?;
    require(
        store < late && late + 1 == events.len(),
        "the late access must be the last event",
    )?;
    let location = events[late].location.as_ref();
    let newest =
        (0..late).rfind(|&e| writes(&events[e]) && events[e].location.as_ref() == location);
    require(newest == Some(store), "that is not the newest store")?;
    require(
        events[late].rf.is_none() && events[late].after.is_none(),
        "a racing access that comes late reads nothing, and comes behind nothing",
    )?;
    let thread = replay.thread(late)?;
    let before = replay.silently(replay.follow(replay.start(), late)?, &[thread]);
    any(&before, |candidate| {
        let races = |step: &palisade_memory::Step| {
            let right_kind = match events[late].kind {
                EventKind::Store => step.written.is_some(),
                EventKind::Load => step.written.is_none(),
                _ => false,
            };
            right_kind
                && step.kind == StepKind::Race
                && step.written == events[late].value
                && replay.is_at(&events[late], step)
                && step.location.map(|l| &program.location(l).name) == location
        };
        let steps = machine.steps_of(&candidate.state, thread);
        if steps.iter().any(|(step, _)| races(step)) {
            Ok(())
        } else {
            Err(Invalid::at(late, "this does not race"))
        }
    })
}

/// Whether a racing access refers to a store that it could have read, or come behind, and has read its value.
fn refers_rightly(program: &Program, events: &[Event], index: usize) -> Result<(), Invalid> {
    let event = &events[index];
    let (reference, other) = match event.kind {
        EventKind::Load => (event.rf, event.after),
        _ => (event.after, event.rf),
    };
    let location = event.location.as_ref();
    let value = match reference {
        Some(EventRef::Initial(_)) => {
            let all = &program.locations;
            let found = all.iter().find(|l| Some(&l.name) == location);
            found.map(|l| Some(l.initial))
        }
        Some(EventRef::Event(store)) => {
            let earlier = events[..index].get(store);
            let found = earlier.filter(|e| writes(e) && e.location.as_ref() == location);
            found.map(|e| e.value)
        }
        None => None,
    };
    let right = match (event.kind, value) {
        (_, None) => false,
        (EventKind::Load, Some(value)) => value == event.value,
        (_, Some(_)) => true,
    };
    require(
        right && other.is_none(),
        "a racing access does not refer to a store of its location, or to another value",
    )
}

fn op_is_load(op: &Op) -> bool {
    matches!(op, Op::Load { .. })
}

/// Between its store and its load the pivot alone moves, by plain loads.
fn only_plain_loads_between<M: Machine>(
    replay: &Replay<'_, M>,
    candidate: &Candidate<M::State>,
    history: &[Matched],
    store: usize,
    load: usize,
) -> bool {
    let pivot = history[store].thread;
    let is_plain_load = |index: usize| {
        let matched = &history[index];
        let event = &replay.events[index];
        event.kind == EventKind::Local
            || (event.kind == EventKind::Load && !event.atomic && !replay.is_rmw(matched))
    };
    (store + 1..=load).all(|index| history[index].thread == pivot && is_plain_load(index))
        && candidate.barrier[pivot].is_none_or(|at| at <= store)
}

fn is_plain_store<M: Machine>(replay: &Replay<'_, M>, matched: &Matched) -> bool {
    match replay.transition(matched).op {
        Op::Store { order, .. } => order != Order::SeqCst && matched.block.is_none(),
        _ => false,
    }
}

/// `[store, load, other]` in an SC run.
pub fn triangular_race(program: &Program, witness: &Witness) -> Result<(), Invalid> {
    let machine = Sc::new(program);
    let events = &witness.events;
    let replay = Replay::new(&machine, program, events, true);
    let [store, load, other] = named::<3>(witness)?;
    require(store < load && load < other, "the events are out of order")?;
    require(
        events[store].kind == EventKind::Store,
        "the first event is no store",
    )?;
    require(
        events[load].kind == EventKind::Load,
        "the second event is no load",
    )?;
    require(writes(&events[other]), "the third event is no store")?;
    require(
        events[store].thread == events[load].thread,
        "store and load are of different threads",
    )?;
    require(
        events[other].thread != events[load].thread,
        "load and third event are of one thread",
    )?;
    require(
        events[store].location != events[load].location,
        "store and load are of one location",
    )?;
    require(
        events[other].location == events[load].location,
        "load and third event are of different locations",
    )?;
    let other_thread = replay.thread(other)?;
    for (index, event) in events.iter().enumerate().skip(load + 1) {
        let in_its_block = event.thread == events[other].thread && in_block_or_border(event);
        require(
            index == other || in_its_block,
            "other steps are behind the load",
        )?;
    }
    let candidates = replay.follow(replay.start(), events.len())?;
    any(&candidates, |candidate| {
        let history = replay.history(candidate);
        require(
            is_plain_store(&replay, &history[store]),
            "the store is followed by a fence",
        )?;
        require(
            only_plain_loads_between(&replay, candidate, &history, store, load),
            "between store and load there is more than loads",
        )?;
        block_ends(&replay, candidate, other_thread)
    })
}

/// A thread that is inside a block can leave it by steps that need not be mentioned.
fn block_ends<M: Machine>(
    replay: &Replay<'_, M>,
    candidate: &Candidate<M::State>,
    thread: usize,
) -> Result<(), Invalid> {
    let ends = replay.silently(vec![candidate.clone()], &[thread]);
    let ended = |c: &Candidate<M::State>| {
        let locals = replay.machine.locals(&c.state);
        replay.machine.code().holder(locals).is_none()
    };
    require(ends.iter().any(ended), "the block does not come to its end")
}

/// `[store, load, other]` in a TSO run: a block overtakes stores that are still in the buffer.
pub fn triangular_race_of_block(program: &Program, witness: &Witness) -> Result<(), Invalid> {
    let machine = Tso::new(program);
    let events = &witness.events;
    let replay = Replay::new(&machine, program, events, true);
    let [store, load, other] = named::<3>(witness)?;
    require(store < load && load < other, "the events are out of order")?;
    require(
        events[store].kind == EventKind::Issue,
        "the first event is no issue",
    )?;
    require(
        events[load].kind == EventKind::Load,
        "the second event is no load",
    )?;
    require(
        events[other].atomic && writes(&events[other]),
        "the third event is no store of a block",
    )?;
    require(
        events[store].thread == events[load].thread,
        "store and load are of different threads",
    )?;
    require(
        events[other].thread != events[load].thread,
        "load and third event are of one thread",
    )?;
    require(
        events[other].location == events[load].location,
        "load and third event are of different locations",
    )?;
    let pivot = replay.thread(load)?;
    let candidates = flushed_ones(replay.follow(replay.start(), events.len())?)?;
    any(&candidates, |candidate| {
        let history = replay.history(candidate);
        let flush_of = |issue: usize| {
            let place = history.iter().position(|m| m.issue == Some(issue));
            place.unwrap_or(usize::MAX)
        };
        let is_pending =
            |index: &usize| events[*index].kind == EventKind::Issue && flush_of(*index) > load;
        let pending: Vec<usize> = (0..load).filter(is_pending).collect();
        let first = pending.first().copied().unwrap_or(load);
        require(
            pending.contains(&store),
            "the store has left the buffer before the load",
        )?;
        require(
            flush_of(store) > other,
            "the store has left the buffer before the block",
        )?;
        let same_place = |&p: &usize| events[p].location == events[load].location;
        require(
            !pending.iter().any(same_place),
            "the load reads a pending store",
        )?;
        for index in 0..events.len() {
            let (event, matched) = (&events[index], &history[index]);
            let right = if index < first {
                // An SC run: every store is flushed at once.
                event.kind != EventKind::Issue || flush_of(index) == index + 1
            } else if index <= load {
                let plain = match event.kind {
                    EventKind::Issue => is_plain_store(&replay, matched),
                    EventKind::Load => !replay.is_rmw(matched) && !event.atomic,
                    kind => kind == EventKind::Local,
                };
                matched.thread == pivot && plain
            } else {
                let of_block = event.thread == events[other].thread && in_block_or_border(event);
                of_block || (event.kind == EventKind::Flush && index > other)
            };
            if !right {
                return Err(Invalid::at(
                    index,
                    "this step does not belong to a triangular race",
                ));
            }
        }
        Ok(())
    })
}
