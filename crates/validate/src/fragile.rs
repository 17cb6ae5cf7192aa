//! Fragile runs (Abdulla et al. 2015, section 6), by the definition: no SC run has the same program orders with values and the same store order.

use crate::replay::{Candidate, Matched, Replay};
use crate::{Invalid, any, flushed_ones};
use palisade_lang::{Program, Value};
use palisade_memory::{Event, EventKind, Machine, Tso, Witness, tso};
use std::collections::HashMap;

/// `[e1, e, e2, u2, u1]`
pub fn check(program: &Program, witness: &Witness) -> Result<(), Invalid> {
    let machine = Tso::new(program);
    let events = &witness.events;
    let replay = Replay::new(&machine, program, events, true);
    let named = witness.pattern.as_ref().map_or(&[][..], |p| &p.events);
    let &[e1, e, e2, u2, u1] = named else {
        return Err(Invalid::new("the pattern must name five events"));
    };
    let require = |right: bool, message: &str| {
        if right {
            Ok(())
        } else {
            Err(Invalid::new(message))
        }
    };
    require(
        e1 < e && e < e2 && e2 <= u2 && u2 < u1,
        "the events are out of order",
    )?;
    require(
        events[e1].kind == EventKind::Issue,
        "the first event is no issue",
    )?;
    require(
        events[e].kind == EventKind::Load,
        "the second event is no load",
    )?;
    require(
        events[e1].thread == events[e].thread,
        "store and load are of different threads",
    )?;
    require(
        events[e2].thread != events[e].thread,
        "the other store is of the same thread",
    )?;
    require(
        events[e1].location != events[e].location,
        "store and load are of one location",
    )?;
    require(
        events[e2].location == events[e].location,
        "load and other store are of different locations",
    )?;
    match events[e2].kind {
        EventKind::Issue => require(e2 < u2, "the other store is not flushed")?,
        EventKind::Rmw | EventKind::Store => {
            require(e2 == u2, "the other store reaches memory at once")?
        }
        _ => return Err(Invalid::at(e2, "this is no store")),
    }
    let candidates = flushed_ones(replay.follow(replay.start(), events.len())?)?;
    any(&candidates, |candidate| {
        let history = replay.history(candidate);
        let flushes = |flush: usize, issue: usize| history[flush].issue == Some(issue);
        require(flushes(u1, e1), "u1 does not flush e1")?;
        require(e2 == u2 || flushes(u2, e2), "u2 does not flush e2")?;
        let ends = replay.silently(vec![candidate.clone()], &[]);
        let no_holder =
            |c: &Candidate<tso::State>| machine.code().holder(&c.state.locals).is_none();
        require(
            ends.iter().any(no_holder),
            "a block does not come to its end",
        )?;
        let initial: HashMap<&str, Value> = program
            .locations
            .iter()
            .map(|l| (l.name.as_str(), program.domain.reduce(l.initial)))
            .collect();
        require(
            !is_persistent(events, &history, &initial),
            "an SC run has the same program orders and the same store order",
        )
    })
}

/// Whether some SC run has the program orders and the store order of this run.
///
/// In such a run the stores come in the given order, so memory after each number of stores is known. Everything else is a matter of each
/// thread alone: its accesses take place in program order, each store at its place, and each load (each run of loads of one block
/// together) somewhere between the thread's neighbouring stores where memory holds what it reads. Taking the first such place for each is
/// best.
fn is_persistent(events: &[Event], matched: &[Matched], initial: &HashMap<&str, Value>) -> bool {
    // The store order, as issues; and for each issue, store or read-modify-write its place in it, from 1.
    let mut order = Vec::new();
    let mut place = HashMap::new();
    for (index, event) in events.iter().enumerate() {
        match event.kind {
            EventKind::Flush => order.extend(matched[index].issue),
            EventKind::Store | EventKind::Rmw => order.push(index),
            _ => continue,
        }
        place.insert(order[order.len() - 1], order.len());
    }
    // For each location what is stored to it, by place in the store order.
    let mut stored: HashMap<&str, Vec<(usize, Option<Value>)>> = HashMap::new();
    for (index, &store) in order.iter().enumerate() {
        if let Some(location) = &events[store].location {
            let values = stored.entry(location).or_default();
            values.push((index + 1, events[store].value));
        }
    }
    let holds = |location: &str, stores: usize| -> Option<Value> {
        let values = stored.get(location).map_or(&[][..], |v| v);
        match values.partition_point(|(place, _)| *place <= stores) {
            0 => initial.get(location).copied(),
            count => values[count - 1].1,
        }
    };
    let threads = matched.iter().map(|m| m.thread).max().map_or(0, |t| t + 1);
    (0..threads).all(|thread| {
        let accesses: Vec<usize> = (0..events.len())
            .filter(|&i| matched[i].thread == thread)
            .filter(|&i| {
                matches!(
                    events[i].kind,
                    EventKind::Load | EventKind::Issue | EventKind::Store | EventKind::Rmw
                )
            })
            .collect();
        // How many stores have been made when the thread's next access takes place.
        let mut now = 0;
        let mut at = 0;
        while at < accesses.len() {
            let index = accesses[at];
            // The accesses that happen together: those of one block, or just one.
            let mut end = at + 1;
            if let Some(block) = matched[index].block {
                while end < accesses.len() && matched[accesses[end]].block == Some(block) {
                    end += 1;
                }
            }
            let group = &accesses[at..end];
            let first_store = group.iter().find_map(|a| place.get(a).copied());
            let begins = match first_store {
                Some(store) => (store - 1).max(now)..=store - 1,
                None => now..=order.len(),
            };
            let mut found = None;
            for begin in begins {
                let mut stores = begin;
                let fits = group.iter().all(|a| {
                    let event = &events[*a];
                    let read = matched[*a].read;
                    let location = event.location.as_deref().unwrap_or_default();
                    if read.is_some() && holds(location, stores) != read {
                        return false;
                    }
                    match place.get(a) {
                        Some(&p) => {
                            stores += 1;
                            p == stores
                        }
                        None => true,
                    }
                });
                if fits {
                    found = Some(stores);
                    break;
                }
            }
            match found {
                Some(stores) => now = stores,
                None => return false,
            }
            at = end;
        }
        true
    })
}
