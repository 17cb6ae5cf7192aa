//! The execution graph of a run under C++20 or RC11, and whether it stays a violation when accesses and fences are stronger.
//!
//! Orders change neither what a thread does next nor what a run says, only which graphs the model has. So the graph of a violation under one choice of
//! orders is a graph of the program under every other choice, and is a violation there exactly if the model has it with those orders (and, if
//! it is a race that is wrong, if happens-before still leaves it one). The stronger the orders, the fewer: all choices that leave it a violation are those
//! below some greatest ones ([`Execution::strongest`]), and a choice that makes the criterion hold is below none of these.

use palisade_check::{Model, Witness};
use palisade_lang::{Instance, LocationId, Op, Order, Program};
use palisade_memory::c20::graph::event_order;
use palisade_memory::c20::{Event, EventId, Graph, Relations, Write};
use palisade_memory::{EventKind, EventRef, PatternKind};

use crate::passed::{Passed, steps_until};

/// What an order says of an access or a fence, as a set: the larger, the stronger. A fence that says nothing is as good as none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Strength(pub(crate) u8);

impl Strength {
    /// Relaxed; no fence at all.
    pub const NONE: Strength = Strength(0);
    pub(crate) const ACQUIRE: Strength = Strength(1);
    pub(crate) const RELEASE: Strength = Strength(2);
    pub(crate) const ACQREL: Strength = Strength(3);
    /// What `seqcst` says beyond acquiring and releasing.
    pub(crate) const SEQCST: Strength = Strength(4);
    pub(crate) const FULL: Strength = Strength(7);
    /// A store that also reads: an exchange.
    pub(crate) const EXCHANGE: Strength = Strength(8);

    pub(crate) fn with(self, other: Strength) -> Strength {
        Strength(self.0 | other.0)
    }

    pub(crate) fn contains(self, other: Strength) -> bool {
        self.0 & other.0 == other.0
    }

    /// How much it says.
    pub(crate) fn size(self) -> u32 {
        self.0.count_ones()
    }

    /// What an order says.
    pub(crate) fn of(order: Order) -> Strength {
        match order {
            Order::NonAtomic | Order::Relaxed => Strength::NONE,
            Order::Acquire => Strength::ACQUIRE,
            Order::Release => Strength::RELEASE,
            Order::AcqRel => Strength::ACQREL,
            Order::SeqCst => Strength::FULL,
        }
    }

    /// The order that says this, of something that only reads, only writes, or may do both.
    pub(crate) fn order(self, reads: bool, writes: bool) -> Order {
        let acquires = reads && self.contains(Strength::ACQUIRE);
        let releases = writes && self.contains(Strength::RELEASE);
        match (acquires, releases) {
            _ if self.contains(Strength::SEQCST) => Order::SeqCst,
            (true, true) => Order::AcqRel,
            (true, false) => Order::Acquire,
            (false, true) => Order::Release,
            (false, false) => Order::Relaxed,
        }
    }
}

/// What a choice says about one step of a thread: the choice's number, and where it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// In the step itself, which has an order of its own beside it.
    Here(usize),
    /// In the step itself, whose order is what is chosen.
    Instead(usize),
    /// The same for a store, which the step is, or was before it became an exchange.
    Store(usize),
    /// It is a fence that would be executed before the step, and is not there now.
    Before(usize),
}

/// What is wrong with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    /// The graph is not one of SC.
    Cycle,
    /// Two accesses race.
    Race,
    /// What has happened, whatever the orders are.
    Happened,
}

/// A run as a graph.
#[derive(Clone, Debug)]
pub(crate) struct Execution {
    model: Model,
    graph: Graph,
    wrong: Wrong,
    /// The events that choices strengthen: what they say without, and the numbers of the choices.
    events: Vec<(EventId, Strength, Vec<usize>)>,
}

impl Execution {
    /// The graph of a witness of C++20 or RC11. `shows` says which choices show in a step of a thread; it is told whether the step writes.
    ///
    /// `None` where the run cannot be followed.
    pub fn new(
        program: &Program,
        witness: &Witness,
        shows: &dyn Fn(&Instance, &Passed, bool) -> Vec<Shows>,
    ) -> Option<Execution> {
        let instances = program.instances();
        let mut building = Building {
            graph: Graph::new(instances.len(), program.locations.len()),
            of_event: vec![None; witness.events.len()],
            reads: Vec::new(),
            events: Vec::new(),
        };
        for (thread, instance) in instances.iter().enumerate() {
            building.thread(program, witness, thread, instance, shows)?;
        }
        building.reads_from(witness)?;
        building.modification_order(witness)?;
        let wrong = match &witness.pattern {
            None => Wrong::Cycle,
            Some(pattern) if pattern.kind == PatternKind::Race => Wrong::Race,
            Some(_) => Wrong::Happened,
        };
        Some(Execution {
            model: witness.model,
            graph: building.graph,
            wrong,
            events: building.events,
        })
    }

    /// The choices that show in it, each once, in ascending order.
    pub fn choices(&self) -> Vec<usize> {
        let mut choices: Vec<usize> = self.events.iter().flat_map(|e| e.2.clone()).collect();
        choices.sort_unstable();
        choices.dedup();
        choices
    }

    /// Whether it is a violation with these choices, each by its number.
    pub fn is_violation(&self, chosen: &dyn Fn(usize) -> Strength) -> bool {
        let mut graph = self.graph.clone();
        for (id, own, choices) in &self.events {
            let all = choices.iter().map(|&choice| chosen(choice));
            let strength = all.fold(*own, Strength::with);
            let event = graph.event(*id);
            let (mut reads, writes) = (event.is_read(), event.is_write());
            if let (true, Some(location)) = (strength.contains(Strength::EXCHANGE), event.location)
                && !reads
            {
                let place = graph.mo_index(location, Some(*id)).unwrap_or(1);
                let before = graph.write_at(location, place - 1);
                graph.event_mut(*id).rf = Some(before);
                reads = true;
            }
            let fence = graph.event(*id).is_fence();
            graph.event_mut(*id).order = strength.order(fence || reads, fence || writes);
        }
        let relations = Relations::new(&graph);
        relations.are_consistent(&graph, self.model)
            && match self.wrong {
                Wrong::Cycle => !relations.is_sc(),
                Wrong::Race => !relations.races(&graph).is_empty(),
                Wrong::Happened => true,
            }
    }

    /// From a choice that leaves it a violation to a strongest one that does: for each of the choices in `order` the largest of its `levels`
    /// is taken, one after the other. What is not in `order` stays.
    pub fn strongest(
        &self,
        from: &[Strength],
        levels: &dyn Fn(usize) -> Vec<Strength>,
        order: &[usize],
    ) -> Vec<Strength> {
        let mut chosen = from.to_vec();
        for &choice in order {
            let now = chosen[choice];
            let mut stronger: Vec<Strength> = levels(choice);
            stronger.retain(|level| level.contains(now) && *level != now);
            stronger.sort_by_key(|level| (std::cmp::Reverse(level.size()), *level));
            for level in stronger {
                chosen[choice] = level;
                if self.is_violation(&|choice| chosen[choice]) {
                    break;
                }
                chosen[choice] = now;
            }
        }
        chosen
    }

    /// Some orders of its choices, so that not always the same ones come last: those of each thread come last once, forwards and backwards.
    pub fn orders(&self) -> Vec<Vec<usize>> {
        let all = self.choices();
        let mut orders = Vec::new();
        for thread in 0..self.graph.events.len() {
            let is_late = |choice: &usize| {
                let mut of = self.events.iter().filter(|e| e.2.contains(choice));
                of.any(|(id, ..)| id.thread as usize == thread)
            };
            let (late, early): (Vec<usize>, Vec<usize>) = all.iter().copied().partition(is_late);
            if late.is_empty() {
                continue;
            }
            orders.push(early.iter().chain(&late).copied().collect());
            orders.push(
                early
                    .iter()
                    .rev()
                    .chain(late.iter().rev())
                    .copied()
                    .collect(),
            );
        }
        orders.dedup();
        orders
    }
}

/// A graph that is being made.
struct Building {
    graph: Graph,
    /// For each event of the witness its node.
    of_event: Vec<Option<EventId>>,
    /// Nodes that read, each with the event of the witness that says from where.
    reads: Vec<(EventId, usize)>,
    events: Vec<(EventId, Strength, Vec<usize>)>,
}

impl Building {
    fn thread(
        &mut self,
        program: &Program,
        witness: &Witness,
        thread: usize,
        instance: &Instance,
        shows: &dyn Fn(&Instance, &Passed, bool) -> Vec<Shows>,
    ) -> Option<()> {
        let is_own =
            |e: &palisade_memory::Event| e.thread == instance.name && e.kind != EventKind::Local;
        let Some(last) = witness.events.iter().rposition(is_own) else {
            return Some(());
        };
        // The node of the `atomic` block that the thread is in.
        let mut block: Option<EventId> = None;
        for step in steps_until(program, witness, instance, last)? {
            let transition = &program.thread(instance.thread).transitions[step.transition];
            let event = step.event.map(|index| &witness.events[index]);
            let kind = event.map(|event| event.kind);
            let writes = matches!(kind, Some(EventKind::Store | EventKind::Rmw));
            let mut here = Vec::new();
            let (mut alone, mut was_store) = (false, false);
            for shown in shows(instance, &step, writes) {
                match shown {
                    Shows::Instead(choice) => {
                        alone = true;
                        here.push(choice);
                    }
                    Shows::Store(choice) => {
                        (alone, was_store) = (true, true);
                        here.push(choice);
                    }
                    Shows::Before(choice) => {
                        let id = self.graph.fence(thread, Order::Relaxed);
                        self.events.push((id, Strength::NONE, vec![choice]));
                    }
                    Shows::Here(choice) => here.push(choice),
                }
            }
            let own = |order: Order| match alone {
                true => Strength::NONE,
                false => Strength::of(order),
            };
            match &transition.op {
                Op::AtomicBegin | Op::AtomicEnd => block = None,
                Op::Fence(_) | Op::Skip => {
                    let order = match transition.op {
                        Op::Fence(order) => order,
                        _ if here.is_empty() => continue,
                        _ => Order::Relaxed,
                    };
                    let id = self.graph.fence(thread, order);
                    if !here.is_empty() {
                        self.events.push((id, own(order), here));
                    }
                }
                op if op.address().is_some() => {
                    let (index, event) = (step.event?, event?);
                    let location = location_of(program, event.location.as_deref()?)?;
                    let order = event_order(program, transition, Some(location), writes)?;
                    let written = match writes {
                        true => Some(event.value?),
                        false => None,
                    };
                    if let Some(id) = block {
                        if let Some(value) = written {
                            let node = self.graph.event_mut(id);
                            node.written = Some(value);
                            node.order = Order::AcqRel;
                        }
                        self.of_event[index] = Some(id);
                        continue;
                    }
                    let reads = kind != Some(EventKind::Store) && !was_store;
                    let id = self.graph.push(
                        thread,
                        Event {
                            order,
                            location: Some(location),
                            rf: reads.then_some(None),
                            written,
                        },
                    );
                    if reads {
                        self.reads.push((id, index));
                    }
                    self.of_event[index] = Some(id);
                    if event.atomic {
                        block = Some(id);
                    } else if order != Order::NonAtomic && !here.is_empty() {
                        self.events.push((id, own(order), here));
                    }
                }
                _ => {}
            }
        }
        Some(())
    }

    fn write(&self, reference: EventRef) -> Option<Write> {
        match reference {
            EventRef::Event(index) => Some(Some((*self.of_event.get(index)?)?)),
            EventRef::Initial(_) => Some(None),
        }
    }

    fn reads_from(&mut self, witness: &Witness) -> Option<()> {
        for (id, index) in std::mem::take(&mut self.reads) {
            let from = self.write(witness.events[index].rf?)?;
            self.graph.event_mut(id).rf = Some(from);
        }
        Some(())
    }

    fn modification_order(&mut self, witness: &Witness) -> Option<()> {
        for (index, event) in witness.events.iter().enumerate() {
            let (Some(id), Some(after)) = (self.of_event[index], event.after) else {
                continue;
            };
            let location = self.graph.event(id).location?;
            if self.graph.mo_index(location, Some(id)).is_some() {
                continue;
            }
            let before = self.write(after)?;
            let place = self.graph.mo_index(location, before)?;
            self.graph.mo[location.index()].insert(place, id);
        }
        Some(())
    }
}

fn location_of(program: &Program, name: &str) -> Option<LocationId> {
    let index = program.locations.iter().position(|l| l.name == name)?;
    Some(LocationId(index as u32))
}
