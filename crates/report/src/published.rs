//! Why C++20 lets a thread miss what another one has written: the order that does not publish it, in a sentence for newcomers.

use crate::columns::location;
use palisade_memory::{Event, EventKind, EventRef, OrderName, Witness};

/// Why the load at this step may still read an old value.
pub(crate) fn stale(witness: &Witness, load: usize) -> String {
    let event = &witness.events[load];
    let newer = (0..load).rev().find(|&write| {
        let other = &witness.events[write];
        writes(other) && other.location == event.location && other.thread != event.thread
    });
    let what = format!("may still read the old {}", location(event));
    newer
        .and_then(|write| unpublished(witness, write, load, &what))
        .unwrap_or_else(|| {
            format!(
                "C++20 allows that as long as nothing that {} has synchronised with tells it of the newer one.",
                event.thread
            )
        })
}

/// Why two accesses are not ordered, where one thread has heard of the other, but by an order that says nothing.
pub(crate) fn race(witness: &Witness, a: usize, b: usize) -> Option<String> {
    let later = witness.events.get(b)?;
    let what = format!("may touch {} at the same time", location(later));
    unpublished(witness, a, b, &what)
}

/// The sentence about a message that tells `later`'s thread of `earlier`, but does not publish it.
fn unpublished(witness: &Witness, earlier: usize, later: usize, what: &str) -> Option<String> {
    let events = &witness.events;
    let (first, second) = (events.get(earlier)?, events.get(later)?);
    let data = location(first);
    // The thread has read something that the other one wrote after it.
    let (store, load) = (0..later)
        .filter(|&load| events[load].thread == second.thread)
        .find_map(|load| match events[load].rf {
            Some(EventRef::Event(store))
                if store > earlier && events.get(store)?.thread == first.thread =>
            {
                Some((store, load))
            }
            _ => None,
        })?;
    let (stored, loaded) = (&events[store], &events[load]);
    let (writer, reader) = (&first.thread, &second.thread);
    let flag = location(stored);
    let releases =
        stored.order.is_some_and(releases) || fence_between(witness, earlier, store, releases);
    if stored.order.is_some() && !releases {
        return Some(format!(
            "{writer}'s {} {} of {flag} in step {} does not publish {data}: {reader} reads it in step {} but {what}. With the order release it would be published.",
            name(stored),
            noun(stored),
            store + 1,
            load + 1,
        ));
    }
    let acquires =
        loaded.order.is_some_and(acquires) || fence_between(witness, load, later, acquires);
    if loaded.order.is_some() && !acquires {
        return Some(format!(
            "{writer} publishes {data} with {flag} in step {}, but {reader}'s {} {} of {flag} in step {} does not take it over: {reader} {what}. With the order acquire it would not.",
            store + 1,
            name(loaded),
            noun(loaded),
            load + 1,
        ));
    }
    None
}

/// Whether the thread of the first event has such a fence between the two steps.
fn fence_between(
    witness: &Witness,
    from: usize,
    to: usize,
    wanted: impl Fn(OrderName) -> bool,
) -> bool {
    let thread = &witness.events[from].thread;
    let mut between = witness.events[from..to].iter();
    between
        .any(|e| e.kind == EventKind::Fence && e.thread == *thread && e.order.is_some_and(&wanted))
}

fn releases(order: OrderName) -> bool {
    palisade_lang::Order::from(order).releases()
}

fn acquires(order: OrderName) -> bool {
    palisade_lang::Order::from(order).acquires()
}

fn writes(event: &Event) -> bool {
    matches!(event.kind, EventKind::Store | EventKind::Rmw)
}

fn name(event: &Event) -> &'static str {
    event.order.map_or("", OrderName::name)
}

fn noun(event: &Event) -> &'static str {
    match event.kind {
        EventKind::Load => "load",
        EventKind::Store => "store",
        _ => "read-modify-write",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_memory::witness::InitialName;
    use palisade_memory::{Criterion, Model};

    fn event(thread: &str, kind: EventKind, location: &str, order: OrderName) -> Event {
        Event {
            thread: thread.to_owned(),
            kind,
            location: Some(location.to_owned()),
            value: Some(1),
            read: None,
            file: None,
            line: 1,
            column: 1,
            issue: None,
            order: Some(order),
            rf: None,
            after: None,
            atomic: false,
            addresses: Default::default(),
        }
    }

    /// Message passing: data, flag, flag, data.
    fn message_passing(store: OrderName, load: OrderName) -> Witness {
        let init = Some(EventRef::Initial(InitialName::Init));
        let mut events = vec![
            event("a", EventKind::Store, "data", OrderName::Relaxed),
            event("a", EventKind::Store, "flag", store),
            event("b", EventKind::Load, "flag", load),
            event("b", EventKind::Load, "data", OrderName::Relaxed),
        ];
        events[0].after = init;
        events[1].after = init;
        events[2].rf = Some(EventRef::Event(1));
        events[3].rf = init;
        Witness {
            model: Model::C20,
            criterion: Criterion::Robust,
            events,
            cycle: Vec::new(),
            edges: Vec::new(),
            pattern: None,
            loop_start: None,
            copies: None,
        }
    }

    #[test]
    fn the_order_that_publishes_nothing_is_named() {
        let store = stale(&message_passing(OrderName::Relaxed, OrderName::Acquire), 3);
        assert_eq!(
            store,
            "a's relaxed store of flag in step 2 does not publish data: b reads it in step 3 but may still read the old data. With the order release it would be published."
        );
        let load = stale(&message_passing(OrderName::Release, OrderName::Relaxed), 3);
        assert!(load.contains("b's relaxed load of flag in step 3 does not take it over"));
        let race = race(
            &message_passing(OrderName::Relaxed, OrderName::Relaxed),
            0,
            3,
        );
        assert!(race.is_some_and(|text| text.contains("does not publish data")));
        // Nothing is claimed where it is not that simple.
        let strong = stale(&message_passing(OrderName::Release, OrderName::Acquire), 3);
        assert!(strong.starts_with("C++20 allows that"));
        let mut fenced = message_passing(OrderName::Relaxed, OrderName::Acquire);
        let mut fence = event("a", EventKind::Fence, "", OrderName::Release);
        fence.location = None;
        fenced.events.insert(1, fence);
        fenced.events[3].rf = Some(EventRef::Event(2));
        assert!(stale(&fenced, 4).starts_with("C++20 allows that"));
    }
}
