//! Cycles: the relations of a run, derived from its events again, and whether the claimed edges are in them.

use crate::Invalid;
use crate::replay::Matched;
use palisade_memory::{Event, EventKind, EventRef, RelationName, Witness};
use std::collections::HashMap;

/// The trace of a run: which load reads from which store, and the order of the stores to each location.
pub struct Trace<'a> {
    events: &'a [Event],
    matched: &'a [Matched],
    /// For what reads: the store that it reads from, `None` for the initial value.
    source: HashMap<usize, Option<usize>>,
    /// For each location (the fences' own has no name) its stores, in order.
    stores: HashMap<Option<&'a str>, Vec<usize>>,
}

/// A node of happens-before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Event(usize),
    Block(usize),
}

impl<'a> Trace<'a> {
    /// The trace of a run of SC or TSO: what reaches memory later is later in store order, and loads see the own buffer first.
    pub fn of_buffers(events: &'a [Event], matched: &'a [Matched]) -> Self {
        let mut trace = Trace::empty(events, matched);
        let mut pending: Vec<usize> = Vec::new();
        for (index, event) in events.iter().enumerate() {
            let location = event.location.as_deref();
            let newest = trace.stores.get(&location).and_then(|s| s.last()).copied();
            match event.kind {
                EventKind::Load => {
                    let own = pending.iter().rev().copied().find(|&store| {
                        matched[store].thread == matched[index].thread
                            && events[store].location == event.location
                    });
                    trace.source.insert(index, own.or(newest));
                }
                EventKind::Issue => pending.push(index),
                EventKind::Flush => {
                    let store = matched[index].issue;
                    pending.retain(|&p| Some(p) != store);
                    trace.stores.entry(location).or_default().extend(store);
                }
                EventKind::Store => trace.stores.entry(location).or_default().push(index),
                EventKind::Rmw => {
                    trace.source.insert(index, newest);
                    trace.stores.entry(location).or_default().push(index);
                }
                EventKind::Fence | EventKind::Local => {}
            }
        }
        trace
    }

    /// The trace of a run of RA: `rf` and `after` say it, and the machine has checked them.
    pub fn of_messages(events: &'a [Event], matched: &'a [Matched]) -> Self {
        let mut trace = Trace::empty(events, matched);
        for (index, event) in events.iter().enumerate() {
            let location = event.location.as_deref();
            let named = |reference: Option<EventRef>| match reference {
                Some(EventRef::Event(store)) => Some(trace.message(store)),
                _ => None,
            };
            let (rf, after) = (named(event.rf), named(event.after));
            let stores = trace.stores.entry(location).or_default();
            match event.kind {
                EventKind::Load => {
                    trace.source.insert(index, rf);
                }
                EventKind::Fence => {
                    let last = stores.last().copied();
                    stores.push(index);
                    trace.source.insert(index, last);
                }
                EventKind::Store | EventKind::Rmw => {
                    let predecessor = if event.kind == EventKind::Rmw {
                        rf
                    } else {
                        after
                    };
                    if event.kind == EventKind::Rmw {
                        trace.source.insert(index, rf);
                    }
                    // A later store of a block changes the message that is there already.
                    let is_new = trace.message(index) == index;
                    let stores = trace.stores.entry(location).or_default();
                    if is_new {
                        let place = predecessor
                            .and_then(|p| stores.iter().position(|&s| s == p))
                            .map_or(0, |place| place + 1);
                        stores.insert(place, index);
                    }
                }
                _ => {}
            }
        }
        trace
    }

    fn empty(events: &'a [Event], matched: &'a [Matched]) -> Self {
        Trace {
            events,
            matched,
            source: HashMap::new(),
            stores: HashMap::new(),
        }
    }

    /// The event that made the message that this event made or changed.
    fn message(&self, store: usize) -> usize {
        let made = self.matched[store].made;
        let first = self
            .matched
            .iter()
            .position(|m| made.is_some() && m.made == made);
        first.unwrap_or(store)
    }

    /// The event that stands for a store in program order: its issue.
    fn issued(&self, event: usize) -> usize {
        self.matched[event].issue.unwrap_or(event)
    }

    fn node(&self, event: usize) -> Node {
        let event = self.issued(event);
        match self.matched[event].block {
            Some(block) => Node::Block(block),
            None => Node::Event(event),
        }
    }

    fn is_node(&self, event: usize) -> bool {
        match self.events[event].kind {
            EventKind::Local => false,
            EventKind::Fence => self.matched[event].made.is_some(),
            _ => true,
        }
    }

    /// The place in store order, from 1.
    fn place(&self, store: usize) -> Option<(Option<&str>, usize)> {
        let store = self.message(self.issued(store));
        let location = self.events[store].location.as_deref();
        let order = self.stores.get(&location)?;
        let place = order.iter().position(|&s| s == store)?;
        Some((location, place + 1))
    }

    fn relates(&self, from: usize, to: usize, relation: RelationName) -> bool {
        let (from, to) = (self.issued(from), self.issued(to));
        match relation {
            RelationName::Po => {
                let same_thread = self.matched[from].thread == self.matched[to].thread;
                from != to && same_thread && (from < to || self.node(from) == self.node(to))
            }
            RelationName::Rf => {
                let source = self.source.get(&to).copied().flatten();
                source.is_some_and(|s| s == self.message(from))
            }
            RelationName::Co => match (self.place(from), self.place(to)) {
                (Some(a), Some(b)) => a.0 == b.0 && a.1 < b.1,
                _ => false,
            },
            RelationName::Fr => {
                let Some(source) = self.source.get(&from) else {
                    return false;
                };
                let location = self.events[from].location.as_deref();
                let before = match source {
                    Some(store) => match self.place(*store) {
                        Some((_, place)) => place,
                        None => return false,
                    },
                    None => 0,
                };
                self.message(to) != self.message(from)
                    && self
                        .place(to)
                        .is_some_and(|(there, place)| there == location && before < place)
            }
        }
    }

    /// Whether the witness's cycle is one, of relations that hold.
    pub fn check(&self, witness: &Witness) -> Result<(), Invalid> {
        let Witness { cycle, edges, .. } = witness;
        if cycle.len() < 2 || cycle.len() != edges.len() {
            return Err(Invalid::new(
                "a cycle needs at least two events, and as many edges as events",
            ));
        }
        let named = edges.iter().flat_map(|e| [e.from, e.to]);
        if let Some(wrong) = cycle
            .iter()
            .copied()
            .chain(named)
            .find(|&e| e >= self.events.len())
        {
            return Err(Invalid::new(format!("there is no event {wrong}")));
        }
        for (index, edge) in edges.iter().enumerate() {
            let next = cycle[(index + 1) % cycle.len()];
            if ![edge.from, edge.to].into_iter().all(|e| self.is_node(e)) {
                return Err(Invalid::new(format!(
                    "edge {index} joins what is no access"
                )));
            }
            if self.node(edge.from) != self.node(cycle[index])
                || self.node(edge.to) != self.node(next)
            {
                return Err(Invalid::new(format!(
                    "edge {index} does not lead from event {} to event {next}",
                    cycle[index]
                )));
            }
            if !self.relates(edge.from, edge.to, edge.relation) {
                return Err(Invalid::new(format!(
                    "edge {index}: {} and {} are not related by {:?}",
                    edge.from, edge.to, edge.relation
                )));
            }
        }
        let first = self.node(cycle[0]);
        if cycle.iter().all(|&e| self.node(e) == first) {
            return Err(Invalid::new("all events of the cycle belong to one node"));
        }
        Ok(())
    }
}
