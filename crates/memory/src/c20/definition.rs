//! Which execution graphs a model has: the definition, relation by relation.
//!
//! With C++20's release sequences (no later writes of the same thread), for both models. `hb ; eco?` irreflexive is coherence; that `po ∪ rf` has no
//! cycle (no load buffering) is an assumption that RC11 (Lahav et al. 2017) makes and C++ does not.

use super::graph::{Event, EventId, Graph};
use super::relation::{Relation, Set};
use crate::Model;

/// The relations of a graph. An event's number is its place in [`Graph::ids`].
#[derive(Clone, Debug)]
pub struct Relations {
    /// The events, by number.
    pub ids: Vec<EventId>,
    /// Program order.
    pub po: Relation,
    /// Reads-from.
    pub rf: Relation,
    /// Modification order, location by location.
    pub mo: Relation,
    /// From-reads: a read comes before the writes that are later in modification order than what it reads.
    pub fr: Relation,
    /// `(rf ∪ mo ∪ fr)⁺`
    pub eco: Relation,
    /// Synchronises-with.
    pub sw: Relation,
    /// `(po ∪ sw)⁺`
    pub hb: Relation,
}

impl Relations {
    /// Computes them.
    pub fn new(graph: &Graph) -> Self {
        let ids: Vec<EventId> = graph.ids().collect();
        let mut first_of = Vec::new();
        let mut size = 0;
        for events in &graph.events {
            first_of.push(size);
            size += events.len();
        }
        let number = |id: EventId| first_of[id.thread as usize] + id.index as usize;
        let mut po = Relation::empty(size);
        let mut rf = Relation::empty(size);
        let mut mo = Relation::empty(size);
        let mut fr = Relation::empty(size);
        for (first, events) in first_of.iter().zip(&graph.events) {
            for b in 0..events.len() {
                for a in 0..b {
                    po.add(first + a, first + b);
                }
            }
        }
        for writes in &graph.mo {
            for (index, &later) in writes.iter().enumerate() {
                for &earlier in &writes[..index] {
                    mo.add(number(earlier), number(later));
                }
            }
        }
        for (read, &id) in ids.iter().enumerate() {
            let event = graph.event(id);
            let (Some(location), Some(write)) = (event.location, event.rf) else {
                continue;
            };
            let newer = match write {
                None => &graph.mo[location.index()][..],
                Some(write) => {
                    rf.add(number(write), read);
                    let place = graph.mo_index(location, Some(write)).unwrap_or(0);
                    &graph.mo[location.index()][place..]
                }
            };
            for &write in newer.iter().filter(|&&write| write != id) {
                fr.add(read, number(write));
            }
        }
        let eco = (&(&rf | &mo) | &fr).plus();
        let sw = synchronises_with(graph, &ids, &po, &rf);
        let hb = (&po | &sw).plus();
        Relations {
            ids,
            po,
            rf,
            mo,
            fr,
            eco,
            sw,
            hb,
        }
    }

    /// The events for which `contains` says so.
    pub fn set(&self, graph: &Graph, contains: impl Fn(&Event) -> bool) -> Set {
        set(graph, &self.ids, contains)
    }

    /// The partial order of sequentially consistent events, as the model has it.
    pub fn psc(&self, graph: &Graph, model: Model) -> Relation {
        match model {
            Model::Rc11 => self.psc_of_rc11(graph),
            _ => self.psc_of_c20(graph),
        }
    }

    /// `shb = po ∪ po;hb;po ∪ [S];sw;[S]`, and
    /// `psc = [S];(shb ∪ eco);[S] ∪ [Fs];hb;eco;[Es] ∪ [Es];eco;hb;[Fs] ∪ [Fs];hb;eco;hb;[Fs]`.
    fn psc_of_c20(&self, graph: &Graph) -> Relation {
        let Relations {
            po, eco, sw, hb, ..
        } = self;
        let all = self.set(graph, Event::is_sc);
        let fences = self.set(graph, |e| e.is_sc() && e.is_fence());
        let accesses = self.set(graph, |e| e.is_sc() && !e.is_fence());
        let between = |relation: Relation, a: &Set, b: &Set| relation.from(a).to(b);
        let shb = po | &po.then(hb).then(po);
        let shb = shb | between(sw.clone(), &all, &all);
        let hb_eco = hb.then(eco);
        between(&shb | eco, &all, &all)
            | between(hb_eco.clone(), &fences, &accesses)
            | between(eco.then(hb), &accesses, &fences)
            | between(hb_eco.then(hb), &fences, &fences)
    }

    /// `scb = po ∪ po≠loc;hb;po≠loc ∪ hb|loc ∪ mo ∪ fr`, and
    /// `psc = ([Es] ∪ [Fs];hb?);scb;([Es] ∪ hb?;[Fs]) ∪ [Fs];(hb ∪ hb;eco;hb);[Fs]`.
    fn psc_of_rc11(&self, graph: &Graph) -> Relation {
        let Relations {
            po,
            eco,
            hb,
            mo,
            fr,
            ..
        } = self;
        let size = self.ids.len();
        let fences = self.set(graph, |e| e.is_sc() && e.is_fence());
        let accesses = self.set(graph, |e| e.is_sc() && !e.is_fence());
        let location = |number: usize| graph.event(self.ids[number]).location;
        let same = |a: usize, b: usize| location(a).is_some() && location(a) == location(b);
        let elsewhere = po.filter(|a, b| !same(a, b));
        let scb = po | &elsewhere.then(hb).then(&elsewhere);
        let scb = scb | hb.filter(same) | mo | fr;
        let maybe_hb = hb.clone().maybe();
        let begin = Relation::identity(size, &accesses) | maybe_hb.clone().from(&fences);
        let end = Relation::identity(size, &accesses) | maybe_hb.to(&fences);
        let around = hb | &hb.then(eco).then(hb);
        begin.then(&scb).then(&end) | around.from(&fences).to(&fences)
    }

    /// Whether `po ∪ rf ∪ mo ∪ fr` has no cycle.
    pub fn is_sc(&self) -> bool {
        (&self.po | &self.eco).is_acyclic()
    }

    /// Whether the model has the graph.
    pub fn are_consistent(&self, graph: &Graph, model: Model) -> bool {
        self.is_coherent()
            && self.is_atomic(graph)
            && (&self.po | &self.rf).is_acyclic()
            && self.psc(graph, model).is_acyclic()
    }

    /// `hb ; eco?` is irreflexive.
    fn is_coherent(&self) -> bool {
        self.hb.is_irreflexive() && self.hb.then(&self.eco).is_irreflexive()
    }

    /// Each read-modify-write reads the write just before it in modification order.
    fn is_atomic(&self, graph: &Graph) -> bool {
        self.ids.iter().all(|&id| {
            let event = graph.event(id);
            match (event.location, event.rf, event.written) {
                (Some(location), Some(from), Some(_)) => {
                    let read = graph.mo_index(location, from);
                    let own = graph.mo_index(location, Some(id));
                    matches!((read, own), (Some(read), Some(own)) if read + 1 == own)
                }
                _ => true,
            }
        })
    }

    /// The data races: two accesses of one location by different threads, one of them a write, one of them nonatomic, not ordered by `hb`. Each pair
    /// once, the event with the smaller number first.
    pub fn races(&self, graph: &Graph) -> Vec<(EventId, EventId)> {
        let mut races = Vec::new();
        for (b, &second) in self.ids.iter().enumerate() {
            for (a, &first) in self.ids.iter().enumerate().take(b) {
                if conflict(graph, first, second)
                    && !self.hb.contains(a, b)
                    && !self.hb.contains(b, a)
                {
                    races.push((first, second));
                }
            }
        }
        races
    }
}

fn conflict(graph: &Graph, a: EventId, b: EventId) -> bool {
    let (first, second) = (graph.event(a), graph.event(b));
    a.thread != b.thread
        && first.location.is_some()
        && first.location == second.location
        && (first.is_write() || second.is_write())
        && (!first.is_atomic() || !second.is_atomic())
}

fn set(graph: &Graph, ids: &[EventId], contains: impl Fn(&Event) -> bool) -> Set {
    Set::new(ids.len(), |number| contains(graph.event(ids[number])))
}

/// `rs = [W⊒rlx] ; (rf ; [U])*`, and
/// `sw = [E⊒rel] ; ([F] ; po)? ; rs ; rf ; [R ∪ U] ; (po ; [F])? ; [E⊒acq]`, of atomic accesses only.
fn synchronises_with(graph: &Graph, ids: &[EventId], po: &Relation, rf: &Relation) -> Relation {
    let set = |contains: fn(&Event) -> bool| set(graph, ids, contains);
    let fences = set(Event::is_fence);
    let updates = set(Event::is_update);
    let atomic_writes = set(|e| e.is_write() && e.is_atomic());
    let atomic_reads = set(|e| e.is_read() && e.is_atomic());
    let releases = set(|e| e.order.releases());
    let acquires = set(|e| e.order.acquires());
    let sequence = rf.clone().to(&updates).plus().maybe().from(&atomic_writes);
    let before = po.clone().from(&fences).maybe().from(&releases);
    let after = po.clone().to(&fences).maybe().to(&acquires);
    let read = rf.clone().to(&atomic_reads);
    before.then(&sequence).then(&read).then(&after)
}

/// Whether the model (`c20` or `rc11`) has the graph.
pub fn consistent(graph: &Graph, model: Model) -> bool {
    Relations::new(graph).are_consistent(graph, model)
}

/// Whether SC has the graph: `po ∪ rf ∪ mo ∪ fr` has no cycle. Fences take part by `po` only.
pub fn is_sc(graph: &Graph) -> bool {
    Relations::new(graph).is_sc()
}

/// The data races of a graph: see [`Relations::races`].
pub fn races(graph: &Graph) -> Vec<(EventId, EventId)> {
    Relations::new(graph).races(graph)
}
