//! Execution graphs: events with their orders, `po`, `rf` and `mo`.

use palisade_lang::{LocationId, Op, Order, Program, RmwAction, Transition, Value};

/// An event: thread, and place in its program order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId {
    /// The thread.
    pub thread: u32,
    /// From 0.
    pub index: u32,
}

/// A write: an event, or the initialisation of the location.
pub type Write = Option<EventId>;

/// An event of an execution graph. One without a location is a fence.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The order that it has: see [`load_order`], [`store_order`].
    pub order: Order,
    /// The location; `None` for a fence.
    pub location: Option<LocationId>,
    /// For reads (R, U): where from.
    pub rf: Option<Write>,
    /// For writes (W, U): what.
    pub written: Option<Value>,
}

impl Event {
    /// Whether it is a fence (F).
    pub fn is_fence(&self) -> bool {
        self.location.is_none()
    }

    /// Whether it reads (R, U).
    pub fn is_read(&self) -> bool {
        self.rf.is_some()
    }

    /// Whether it writes (W, U).
    pub fn is_write(&self) -> bool {
        self.written.is_some()
    }

    /// Whether it is a read-modify-write (U).
    pub fn is_update(&self) -> bool {
        self.is_read() && self.is_write()
    }

    /// Whether it is an atomic access or a fence.
    pub fn is_atomic(&self) -> bool {
        self.order != Order::NonAtomic
    }

    /// Whether its order is `seqcst`.
    pub fn is_sc(&self) -> bool {
        self.order == Order::SeqCst
    }
}

/// An execution graph. Initialisations come before everything and are no events of their own: nothing leads to them, so they lie on no cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Graph {
    /// Each thread's events in program order.
    pub events: Vec<Vec<Event>>,
    /// Each location's writes in modification order, behind the initialisation.
    pub mo: Vec<Vec<EventId>>,
}

impl Graph {
    /// The graph of a program with this many threads and locations before its first event.
    pub fn new(threads: usize, locations: usize) -> Self {
        Graph {
            events: vec![Vec::new(); threads],
            mo: vec![Vec::new(); locations],
        }
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.events.iter().map(Vec::len).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An event.
    pub fn event(&self, id: EventId) -> &Event {
        &self.events[id.thread as usize][id.index as usize]
    }

    /// The same, to change it.
    pub fn event_mut(&mut self, id: EventId) -> &mut Event {
        &mut self.events[id.thread as usize][id.index as usize]
    }

    /// All events, thread after thread. A relation's numbers are places in this list.
    pub fn ids(&self) -> impl Iterator<Item = EventId> + '_ {
        self.events.iter().enumerate().flat_map(|(thread, events)| {
            (0..events.len()).map(move |index| EventId {
                thread: thread as u32,
                index: index as u32,
            })
        })
    }

    /// The place of a write in modification order; 0 is the initialisation.
    pub fn mo_index(&self, location: LocationId, write: Write) -> Option<usize> {
        match write {
            None => Some(0),
            Some(id) => {
                let place = self.mo[location.index()].iter().position(|&w| w == id)?;
                Some(place + 1)
            }
        }
    }

    /// The write at a place of modification order.
    pub fn write_at(&self, location: LocationId, place: usize) -> Write {
        place.checked_sub(1).map(|i| self.mo[location.index()][i])
    }

    /// The value of a write, given the initial values.
    pub fn value(&self, location: LocationId, write: Write, initial: &[Value]) -> Value {
        write
            .and_then(|w| self.event(w).written)
            .unwrap_or(initial[location.index()])
    }

    /// Adds an event to the end of a thread.
    pub fn push(&mut self, thread: usize, event: Event) -> EventId {
        let id = EventId {
            thread: thread as u32,
            index: self.events[thread].len() as u32,
        };
        self.events[thread].push(event);
        id
    }

    /// Adds a fence.
    pub fn fence(&mut self, thread: usize, order: Order) -> EventId {
        let event = Event {
            order,
            location: None,
            rf: None,
            written: None,
        };
        self.push(thread, event)
    }

    /// Adds a read of a write.
    pub fn read(
        &mut self,
        thread: usize,
        order: Order,
        location: LocationId,
        from: Write,
    ) -> EventId {
        let event = Event {
            order,
            location: Some(location),
            rf: Some(from),
            written: None,
        };
        self.push(thread, event)
    }

    /// Adds a write at a place of modification order: behind so many writes, the initialisation counted.
    pub fn write(
        &mut self,
        thread: usize,
        order: Order,
        location: LocationId,
        value: Value,
        place: usize,
    ) -> EventId {
        let event = Event {
            order,
            location: Some(location),
            rf: None,
            written: Some(value),
        };
        let id = self.push(thread, event);
        self.mo[location.index()].insert(place - 1, id);
        id
    }

    /// Adds a read-modify-write that reads the write at the place before `place` of modification order, and takes that place.
    pub fn update(
        &mut self,
        thread: usize,
        order: Order,
        location: LocationId,
        value: Value,
        place: usize,
    ) -> EventId {
        let event = Event {
            order,
            location: Some(location),
            rf: Some(self.write_at(location, place - 1)),
            written: Some(value),
        };
        let id = self.push(thread, event);
        self.mo[location.index()].insert(place - 1, id);
        id
    }
}

/// The order that a load with this order has, at this location: of an order that also releases only the acquiring part counts.
pub fn load_order(program: &Program, location: LocationId, order: Order) -> Order {
    match order {
        _ if program.location(location).nonatomic => Order::NonAtomic,
        Order::NonAtomic => Order::NonAtomic,
        Order::Relaxed | Order::Release => Order::Relaxed,
        Order::Acquire | Order::AcqRel => Order::Acquire,
        Order::SeqCst => Order::SeqCst,
    }
}

/// The order that a store with this order has, at this location: of an order that also acquires only the releasing part counts.
pub fn store_order(program: &Program, location: LocationId, order: Order) -> Order {
    match order {
        _ if program.location(location).nonatomic => Order::NonAtomic,
        Order::NonAtomic => Order::NonAtomic,
        Order::Relaxed | Order::Acquire => Order::Relaxed,
        Order::Release | Order::AcqRel => Order::Release,
        Order::SeqCst => Order::SeqCst,
    }
}

/// The order of the event that an instruction makes at this location (a fence at none). `writes` tells a read-modify-write that writes from a `cas`
/// that fails, which is a load.
pub fn event_order(
    program: &Program,
    transition: &Transition,
    location: Option<LocationId>,
    writes: bool,
) -> Option<Order> {
    Some(match &transition.op {
        Op::Load { order, .. } | Op::Wait { order, .. } => load_order(program, location?, *order),
        Op::Store { order, .. } => store_order(program, location?, *order),
        Op::Rmw { order, .. } if writes => *order,
        Op::Rmw {
            action: RmwAction::CompareAndSwap { failure, .. },
            ..
        } => load_order(program, location?, *failure),
        Op::Rmw { order, .. } => load_order(program, location?, *order),
        Op::Fence(order) => *order,
        _ => return None,
    })
}
