//! Release/acquire as a builder of execution graphs (Lahav and Margalit 2019, section 4.2: RAG; `nonatomic` locations: section 6).
//!
//! The state is the program's state and the graph so far: each thread's events in program order, where each read reads from, and the
//! modification order of each location. It has the same runs as [`palisade_memory::ra`] (Lemma 4.8), which a test checks.

use palisade_lang::{LocationId, Program, RegisterId, Relation, Value};
use palisade_memory::machine::{At, Choosing, Machine, Step, StepKind};
use palisade_memory::ra_accepts::{Refused, refusal};
use palisade_memory::thread::{Action, Code, Local, Outcome};

/// No thread may have more events than this …
pub const MAX_EVENTS: usize = 16;
/// … and no program more threads than this; larger ones are not for brute force.
pub const MAX_THREADS: usize = 8;

/// An event: thread, and place in its program order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId {
    /// The thread.
    pub thread: u8,
    /// From 0.
    pub index: u8,
}

impl EventId {
    /// The event's bit in sets of events.
    pub fn bit(self) -> u128 {
        1 << (usize::from(self.thread) * MAX_EVENTS + usize::from(self.index))
    }
}

/// A write: an event, or the initialisation of the location.
pub type Write = Option<EventId>;

/// An event of an execution graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The location; the number of locations stands for the fences' own.
    pub location: usize,
    /// For reads (load, read-modify-write): where from.
    pub rf: Option<Write>,
    /// For writes (store, read-modify-write): what.
    pub written: Option<Value>,
    /// Everything that happens before it by `hb = (po ∪ rf on atomic locations)+`, and itself.
    pub past: u128,
}

impl Event {
    /// Whether it reads and writes.
    pub fn is_rmw(&self) -> bool {
        self.rf.is_some() && self.written.is_some()
    }
}

/// An execution graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Graph {
    /// Each thread's events in program order.
    pub events: Vec<Vec<Event>>,
    /// Each location's writes in modification order, behind the initialisation.
    pub mo: Vec<Vec<EventId>>,
}

impl Graph {
    /// An event.
    pub fn event(&self, id: EventId) -> &Event {
        &self.events[usize::from(id.thread)][usize::from(id.index)]
    }

    /// What has happened before the end of a thread.
    fn past(&self, thread: usize) -> u128 {
        self.events[thread].last().map_or(0, |e| e.past)
    }

    /// The place of a write in modification order; 0 is the initialisation.
    pub fn mo_index(&self, location: usize, write: Write) -> usize {
        match write {
            None => 0,
            Some(id) => 1 + self.mo[location].iter().position(|&w| w == id).unwrap_or(0),
        }
    }

    /// The write at a place of modification order.
    fn write_at(&self, location: usize, index: usize) -> Write {
        index.checked_sub(1).map(|i| self.mo[location][i])
    }

    /// The places of the writes `w ∉ dom(mo ; hb? ; [E_τ])`: those that the thread may still read or write behind.
    fn observable(&self, thread: usize, location: usize) -> std::ops::RangeInclusive<usize> {
        let past = self.past(thread);
        let newest_known = self.mo[location]
            .iter()
            .rposition(|w| w.bit() & past != 0)
            .map_or(0, |i| i + 1);
        newest_known..=self.mo[location].len()
    }

    /// `w ∉ dom(mo|imm ; [RMW])`
    fn has_gap(&self, location: usize, index: usize) -> bool {
        self.mo[location]
            .get(index)
            .is_none_or(|&next| !self.event(next).is_rmw())
    }

    /// `add(G, τ, l, w)`, with w given by its place in modification order.
    fn add(
        &mut self,
        thread: usize,
        location: usize,
        w: usize,
        reads: bool,
        written: Option<Value>,
        synchronises: bool,
    ) -> EventId {
        let id = EventId {
            thread: thread as u8,
            index: self.events[thread].len() as u8,
        };
        let write = self.write_at(location, w);
        let mut past = self.past(thread) | id.bit();
        if reads && synchronises {
            past |= write.map_or(0, |w| self.event(w).past);
        }
        self.events[thread].push(Event {
            location,
            rf: reads.then_some(write),
            written,
            past,
        });
        if written.is_some() {
            self.mo[location].insert(w, id);
        }
        id
    }
}

/// The release/acquire machine with execution graphs.
#[derive(Clone, Debug)]
pub struct RaGraph<'p> {
    code: Code<'p>,
    initial: Vec<Value>,
}

/// A state of [`RaGraph`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The threads.
    pub locals: Vec<Local>,
    /// The graph.
    pub graph: Graph,
    /// The event of the `atomic` block that some thread is in, once it has one.
    pub block: Option<EventId>,
    /// ⊥: a race on a `nonatomic` location has happened.
    pub raced: bool,
}

impl<'p> RaGraph<'p> {
    /// Of each location of the program the value that is last in modification order.
    pub fn newest(&self, state: &State) -> Vec<Value> {
        (0..self.initial.len())
            .map(|location| {
                let last = state.graph.mo[location].last().copied();
                self.value(&state.graph, location, last)
            })
            .collect()
    }

    /// The machine for a program, unless the program uses what RA does not know.
    pub fn new(program: &'p Program) -> Result<Self, Refused> {
        if let Some(refused) = refusal(program) {
            return Err(refused);
        }
        let code = Code::new(program);
        let mut initial = code.initial_memory();
        initial.push(0);
        Ok(RaGraph { code, initial })
    }

    /// Whether the state is too large for this machine.
    pub fn is_too_large(&self, state: &State) -> bool {
        state.locals.len() > MAX_THREADS || state.graph.events.iter().any(|e| e.len() >= MAX_EVENTS)
    }

    fn value(&self, graph: &Graph, location: usize, write: Write) -> Value {
        write
            .and_then(|w| graph.event(w).written)
            .unwrap_or(self.initial[location])
    }

    fn is_nonatomic(&self, location: LocationId) -> bool {
        self.code.program.location(location).nonatomic
    }

    /// The transition to ⊥, where the newest write to a `nonatomic` location is not known to the thread.
    fn race(&self, at: &At<'_, Self>, location: LocationId) -> Option<(Step, State)> {
        let graph = &at.state.graph;
        let newest = graph.mo[location.index()].len();
        let knows_newest = *graph.observable(at.thread, location.index()).start() == newest;
        (self.is_nonatomic(location) && !knows_newest).then(|| {
            let mut next = at.state.clone();
            next.raced = true;
            (at.step(StepKind::Race).access(location, None, None), next)
        })
    }

    /// The value that the block sees: what it wrote, or else what it read.
    fn block_value(&self, graph: &Graph, id: EventId) -> Value {
        let event = graph.event(id);
        event
            .written
            .unwrap_or_else(|| self.value(graph, event.location, event.rf.flatten()))
    }

    /// The block's load becomes a read-modify-write, or its read-modify-write writes something else.
    fn write_in_block(&self, mut next: State, id: EventId, value: Value) -> Option<State> {
        let event = next.graph.event(id);
        let place = event.location;
        if event.written.is_none() {
            let w = next.graph.mo_index(place, event.rf.flatten());
            if !next.graph.has_gap(place, w) {
                return None;
            }
            next.graph.mo[place].insert(w, id);
        }
        next.graph.events[usize::from(id.thread)][usize::from(id.index)].written = Some(value);
        Some(next)
    }
}

impl Machine for RaGraph<'_> {
    type State = State;

    fn code(&self) -> &Code<'_> {
        &self.code
    }

    fn initial(&self) -> State {
        State {
            locals: self.code.initial_locals(),
            graph: Graph {
                events: vec![Vec::new(); self.code.instances.len()],
                mo: vec![Vec::new(); self.initial.len()],
            },
            block: None,
            raced: false,
        }
    }

    fn seen_by_block(&self, state: &State) -> Option<(LocationId, Value)> {
        let id = state.block?;
        let place = state.graph.event(id).location;
        Some((LocationId(place as u32), self.block_value(&state.graph, id)))
    }

    fn may_end_dead(&self, _state: &State) -> bool {
        true
    }

    fn is_dead_end(&self, state: &State) -> bool {
        let Some(id) = state.block else {
            return false;
        };
        let event = state.graph.event(id);
        let Some(source) = event.rf.filter(|_| event.written.is_none()) else {
            return false;
        };
        let thread = usize::from(id.thread);
        let local = &state.locals[thread];
        let value = self.value(&state.graph, event.location, source);
        let has_gap = state
            .graph
            .has_gap(event.location, state.graph.mo_index(event.location, source));
        !has_gap && self.code.may_write(thread, local, value)
    }

    fn bytes_of_memory(&self, state: &State) -> usize {
        let events = state.graph.events.iter();
        let of_events: usize = events.map(|e| size_of_val(e) + size_of_val(&e[..])).sum();
        let orders = state.graph.mo.iter();
        let of_orders: usize = orders.map(|o| size_of_val(o) + size_of_val(&o[..])).sum();
        of_events + of_orders
    }

    fn locals<'s>(&self, state: &'s State) -> &'s [Local] {
        &state.locals
    }

    fn locals_mut<'s>(&self, state: &'s mut State) -> &'s mut [Local] {
        &mut state.locals
    }

    fn unhindered_steps_of(&self, state: &State, thread: usize) -> Vec<(Step, State)> {
        self.chosen_steps_of(state, thread)
    }
}

impl Choosing for RaGraph<'_> {
    fn has_raced(&self, state: &State) -> bool {
        state.raced
    }

    fn load(
        &self,
        at: &At<'_, Self>,
        location: LocationId,
        register: Option<RegisterId>,
        condition: Option<(Relation, Value)>,
    ) -> Vec<(Step, State)> {
        if let Some(race) = self.race(at, location) {
            return vec![race];
        }
        let graph = &at.state.graph;
        let place = location.index();
        let satisfies =
            |value| condition.is_none_or(|(relation, right)| relation.holds(value, right));
        let step = |value| at.step(StepKind::Load).access(location, Some(value), None);
        if let Some(id) = at.state.block {
            let value = self.block_value(graph, id);
            return if satisfies(value) {
                vec![(step(value), at.after(register.map(|r| (r, value))))]
            } else {
                Vec::new()
            };
        }
        let mut steps = Vec::new();
        for w in graph.observable(at.thread, place) {
            let value = self.value(graph, place, graph.write_at(place, w));
            if !satisfies(value) {
                continue;
            }
            let mut next = at.after(register.map(|r| (r, value)));
            let id = next.graph.add(
                at.thread,
                place,
                w,
                true,
                None,
                !self.is_nonatomic(location),
            );
            next.block = at.atomic.then_some(id);
            steps.push((step(value), next));
        }
        steps
    }

    fn store(&self, at: &At<'_, Self>, location: LocationId, value: Value) -> Vec<(Step, State)> {
        if let Some(race) = self.race(at, location) {
            return vec![race];
        }
        let step = at.step(StepKind::Store).access(location, None, Some(value));
        if let Some(id) = at.state.block {
            return self
                .write_in_block(at.after(None), id, value)
                .map(|next| (step, next))
                .into_iter()
                .collect();
        }
        let place = location.index();
        let mut steps = Vec::new();
        for w in at.state.graph.observable(at.thread, place) {
            if at.state.graph.has_gap(place, w) {
                let mut next = at.after(None);
                next.graph
                    .add(at.thread, place, w, false, Some(value), false);
                steps.push((step.clone(), next));
            }
        }
        steps
    }

    fn rmw(
        &self,
        at: &At<'_, Self>,
        location: LocationId,
        register: Option<RegisterId>,
        action: Action,
    ) -> Vec<(Step, State)> {
        let place = location.index();
        let graph = &at.state.graph;
        let mut steps = Vec::new();
        let choices = match at.state.block {
            Some(_) => 0..=0,
            None => graph.observable(at.thread, place),
        };
        for w in choices {
            let old = match at.state.block {
                Some(id) => self.block_value(graph, id),
                None => self.value(graph, place, graph.write_at(place, w)),
            };
            let mut next = at.after(register.map(|r| (r, old)));
            match self.code.outcome(action, old) {
                Outcome::Waits => {}
                Outcome::Fails(error) => steps.push(at.stopped(error)),
                Outcome::Loads => {
                    if at.state.block.is_none() {
                        let id = next.graph.add(at.thread, place, w, true, None, true);
                        next.block = at.atomic.then_some(id);
                    }
                    steps.push((
                        at.step(StepKind::Load).access(location, Some(old), None),
                        next,
                    ));
                }
                Outcome::Writes(new) => {
                    let step = at
                        .step(StepKind::Rmw)
                        .access(location, Some(old), Some(new));
                    if let Some(id) = at.state.block {
                        steps.extend(self.write_in_block(next, id, new).map(|next| (step, next)));
                    } else if graph.has_gap(place, w) {
                        let id = next.graph.add(at.thread, place, w, true, Some(new), true);
                        next.block = at.atomic.then_some(id);
                        steps.push((step, next));
                    }
                }
            }
        }
        steps
    }

    fn fence(&self, at: &At<'_, Self>) -> Option<(Step, State)> {
        let place = self.code.program.locations.len();
        let mut next = at.after(None);
        let w = next.graph.mo[place].len();
        next.graph.add(at.thread, place, w, true, Some(0), true);
        Some((at.step(StepKind::Fence), next))
    }

    fn leave_block(&self, state: &mut State) {
        state.block = None;
    }
}
