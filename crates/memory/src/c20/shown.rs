//! What synchronises in the run of a witness, by the definition.

use palisade_lang::{LocationId, Order};

use super::{EventId, Graph, Relations, Write};
use crate::{EventKind, EventRef, Model, Witness};

/// Of larger graphs nothing is said: the relations take too long.
const MOST_EVENTS: usize = 400;

/// Pairs of events of a witness, by index, of different threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Synchronisation {
    /// The second one takes over what the first one has published.
    pub sw: Vec<(usize, usize)>,
    /// `seqcst` events that come in this order, without those that follow from others.
    pub psc: Vec<(usize, usize)>,
}

/// What synchronises. Nothing is said under other models, where an `atomic` block takes part, and where the witness is none.
pub fn synchronisation(witness: &Witness) -> Synchronisation {
    pairs(witness).unwrap_or_default()
}

fn pairs(witness: &Witness) -> Option<Synchronisation> {
    let events = &witness.events;
    let knows_orders = matches!(witness.model, Model::C20 | Model::Rc11);
    if !knows_orders || events.len() > MOST_EVENTS || events.iter().any(|e| e.atomic) {
        return None;
    }
    let mut threads: Vec<&str> = Vec::new();
    let mut locations: Vec<&str> = Vec::new();
    let number = |names: &mut Vec<&str>, name| names.iter().position(|n| *n == name);
    for event in events {
        if number(&mut threads, &*event.thread).is_none() {
            threads.push(&event.thread);
        }
        if let Some(location) = &event.location
            && number(&mut locations, &**location).is_none()
        {
            locations.push(location);
        }
    }
    let mut graph = Graph::new(threads.len(), locations.len());
    // By index in the witness.
    let mut ids: Vec<Option<EventId>> = Vec::new();
    for event in events {
        let write = |reference: Option<EventRef>| -> Option<Write> {
            match reference? {
                EventRef::Initial(_) => Some(None),
                EventRef::Event(index) => Some(Some((*ids.get(index)?)?)),
            }
        };
        let thread = number(&mut threads, &*event.thread)?;
        let order = event.order.map(Order::from);
        let place = event
            .location
            .as_deref()
            .and_then(|l| number(&mut locations, l));
        let location = place.map(|place| LocationId(place as u32));
        let value = event.value.unwrap_or(0);
        ids.push(match event.kind {
            EventKind::Local => None,
            EventKind::Fence => Some(graph.fence(thread, order?)),
            EventKind::Load => Some(graph.read(thread, order?, location?, write(event.rf)?)),
            EventKind::Store | EventKind::Rmw => {
                let behind = graph.mo_index(location?, write(event.after)?)? + 1;
                Some(match event.kind {
                    EventKind::Rmw => graph.update(thread, order?, location?, value, behind),
                    _ => graph.write(thread, order?, location?, value, behind),
                })
            }
            EventKind::Issue | EventKind::Flush => return None,
        });
    }
    let relations = Relations::new(&graph);
    let index_of = |number: usize| {
        let id = relations.ids[number];
        ids.iter().position(|known| *known == Some(id))
    };
    let between_threads = |pairs: &mut dyn Iterator<Item = (usize, usize)>| {
        let mut found: Vec<(usize, usize)> = pairs
            .filter(|&(a, b)| relations.ids[a].thread != relations.ids[b].thread)
            .filter_map(|(a, b)| Some((index_of(a)?, index_of(b)?)))
            .collect();
        found.sort_unstable();
        found
    };
    let psc = relations.psc(&graph, witness.model);
    let follows = psc.then(&psc);
    Some(Synchronisation {
        sw: between_threads(&mut relations.sw.pairs()),
        psc: between_threads(&mut psc.pairs().filter(|&(a, b)| !follows.contains(a, b))),
    })
}
