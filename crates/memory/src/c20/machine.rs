//! C++20 and RC11 as a builder of execution graphs: each step adds one event in any way that the model allows.
//!
//! The state is the program's state and the graph so far. Since `po ∪ rf` has no cycle in a consistent graph, and what is left of one without its
//! last events is consistent too, every consistent graph is built event by event through consistent ones.
//!
//! An `atomic` block is one event: the load that its first access makes, which becomes a read-modify-write at the block's first store.

use super::definition::Relations;
use super::graph::{EventId, Graph, Write, event_order};
use crate::Model;
use crate::machine::{At, Choosing, Machine, Step, StepKind};
use crate::ra_accepts::{Refused, block_refusal, order_and_default};
use crate::thread::{Action, Code, Local, Outcome};
use palisade_lang::{LocationId, Op, Order, Program, RegisterId, Relation, RmwAction, Value};

/// The first thing in the program that has no meaning under C++20 and RC11, if there is one.
///
/// That is an `atomic` block that is no read-modify-write of one location (as under RA), has an access with an order other than the default one (the
/// block is one read-modify-write, with the order `acqrel`), or has a fence of any order.
pub fn refusal(program: &Program) -> Option<Refused> {
    block_refusal(program).or_else(|| {
        program.threads.iter().find_map(|thread| {
            let inside = |point: palisade_lang::PointId| thread.points[point.index()].atomic;
            let mut of_blocks = thread.transitions.iter().filter(|t| inside(t.from));
            of_blocks.find_map(|transition| {
                let is_fence = matches!(transition.op, Op::Fence(_));
                let (order, default) = order_and_default(&transition.op).unzip();
                let fails_otherwise = matches!(
                    transition.op,
                    Op::Rmw { action: RmwAction::CompareAndSwap { failure, .. }, .. } if failure != Order::Acquire
                );
                (is_fence || order != default || fails_otherwise).then(|| Refused {
                    message: format!(
                        "`{}` stands in an atomic block: a block is one read-modify-write with the order acqrel, and has no other orders and no fences in it",
                        program.source.slice(transition.span)
                    ),
                    span: transition.span,
                })
            })
        })
    })
}

/// The machine of C++20 or RC11 with execution graphs.
#[derive(Clone, Debug)]
pub struct C20Graph<'p> {
    code: Code<'p>,
    initial: Vec<Value>,
    model: Model,
    /// Whether each graph is judged when it is made.
    judges: bool,
}

/// A state of [`C20Graph`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The threads.
    pub locals: Vec<Local>,
    /// The graph.
    pub graph: Graph,
    /// The event of the `atomic` block that some thread is in, once it has one.
    pub block: Option<EventId>,
    /// Whether the graph has a data race: nothing follows.
    pub raced: bool,
}

impl<'p> C20Graph<'p> {
    /// The machine for a program, unless the program uses what the model does not know. Every model but RC11 stands for C++20.
    pub fn new(program: &'p Program, model: Model) -> Result<Self, Refused> {
        if let Some(refused) = refusal(program) {
            return Err(refused);
        }
        let code = Code::new(program);
        let initial = code.initial_memory();
        Ok(C20Graph {
            code,
            initial,
            model,
            judges: true,
        })
    }

    /// The same machine, but with steps to graphs that are not consistent too: for a run whose graph is judged at its end, which is enough.
    pub fn without_judging(program: &'p Program, model: Model) -> Result<Self, Refused> {
        let mut machine = Self::new(program, model)?;
        machine.judges = false;
        Ok(machine)
    }

    /// What stands for a write in [`Step::message`] and [`Step::made`]; 0 for an initialisation.
    fn message(&self, write: Write) -> u32 {
        let threads = self.code.instances.len() as u32;
        write.map_or(0, |id| 1 + id.thread + id.index * threads)
    }

    /// Of each location the value that is last in modification order.
    pub fn newest(&self, state: &State) -> Vec<Value> {
        let last = |(index, writes): (usize, &Vec<EventId>)| {
            let location = LocationId(index as u32);
            let write = writes.last().copied();
            state.graph.value(location, write, &self.initial)
        };
        state.graph.mo.iter().enumerate().map(last).collect()
    }

    /// The step that makes this state, if its graph is consistent; a race where it has one.
    fn judged(&self, step: Step, next: State) -> Option<(Step, State)> {
        match self.judges {
            true => self.judgement(step, next),
            false => Some((step, next)),
        }
    }

    fn judgement(&self, step: Step, mut next: State) -> Option<(Step, State)> {
        let relations = Relations::new(&next.graph);
        if !relations.are_consistent(&next.graph, self.model) {
            return None;
        }
        let mut step = step;
        if !relations.races(&next.graph).is_empty() {
            next.raced = true;
            step.kind = StepKind::Race;
        }
        Some((step, next))
    }

    fn order(&self, at: &At<'_, Self>, location: LocationId, writes: bool) -> Order {
        let order = event_order(self.code.program, at.transition, Some(location), writes);
        order.unwrap_or(Order::SeqCst)
    }

    /// The places of modification order, the initialisation's included.
    fn places(&self, graph: &Graph, location: LocationId) -> std::ops::RangeInclusive<usize> {
        0..=graph.mo[location.index()].len()
    }

    fn value_at(&self, graph: &Graph, location: LocationId, place: usize) -> Value {
        graph.value(location, graph.write_at(location, place), &self.initial)
    }

    /// The thread reads the write at this place of modification order.
    fn reading(
        &self,
        mut next: State,
        at: &At<'_, Self>,
        order: Order,
        location: LocationId,
        place: usize,
    ) -> State {
        let from = next.graph.write_at(location, place);
        let id = next.graph.read(at.thread, order, location, from);
        next.block = at.atomic.then_some(id);
        next
    }

    /// The write whose value the block sees.
    fn block_source(&self, graph: &Graph, id: EventId) -> Write {
        let event = graph.event(id);
        match event.is_write() {
            true => Some(id),
            false => event.rf.flatten(),
        }
    }

    /// The value that the block sees: what it wrote, or else what it read.
    fn block_value(&self, graph: &Graph, id: EventId) -> Value {
        let event = graph.event(id);
        let read = || Some(graph.value(event.location?, event.rf?, &self.initial));
        event.written.or_else(read).unwrap_or(0)
    }

    /// The block's load becomes a read-modify-write, or its read-modify-write writes something else.
    fn write_in_block(&self, mut next: State, id: EventId, value: Value) -> State {
        let event = next.graph.event(id);
        if let (Some(location), Some(from), None) = (event.location, event.rf, event.written) {
            let place = next.graph.mo_index(location, from).unwrap_or(0);
            next.graph.mo[location.index()].insert(place, id);
            next.graph.event_mut(id).order = Order::AcqRel;
        }
        next.graph.event_mut(id).written = Some(value);
        next
    }
}

impl Machine for C20Graph<'_> {
    type State = State;

    fn code(&self) -> &Code<'_> {
        &self.code
    }

    fn knows_weak_fences(&self) -> bool {
        true
    }

    fn initial(&self) -> State {
        State {
            locals: self.code.initial_locals(),
            graph: Graph::new(self.code.instances.len(), self.initial.len()),
            block: None,
            raced: false,
        }
    }

    fn seen_by_block(&self, state: &State) -> Option<(LocationId, Value)> {
        let id = state.block?;
        let location = state.graph.event(id).location?;
        Some((location, self.block_value(&state.graph, id)))
    }

    fn may_end_dead(&self, _state: &State) -> bool {
        true
    }

    fn is_dead_end(&self, state: &State) -> bool {
        let Some(id) = state.block else {
            return false;
        };
        if state.graph.event(id).is_write() {
            return false;
        }
        let thread = id.thread as usize;
        let local = &state.locals[thread];
        let value = self.block_value(&state.graph, id);
        let writes = self.code.may_write(thread, local, value);
        writes && {
            let next = self.write_in_block(state.clone(), id, value);
            !Relations::new(&next.graph).are_consistent(&next.graph, self.model)
        }
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

impl Choosing for C20Graph<'_> {
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
        let satisfies =
            |value| condition.is_none_or(|(relation, right)| relation.holds(value, right));
        let step = |value, from: Write| {
            let mut step = at.step(StepKind::Load).access(location, Some(value), None);
            step.message = Some(self.message(from));
            step
        };
        let graph = &at.state.graph;
        if let Some(id) = at.state.block {
            let value = self.block_value(graph, id);
            let next = || at.after(register.map(|r| (r, value)));
            return satisfies(value)
                .then(|| (step(value, self.block_source(graph, id)), next()))
                .into_iter()
                .collect();
        }
        let order = self.order(at, location, false);
        let mut steps = Vec::new();
        for place in self.places(graph, location) {
            let value = self.value_at(graph, location, place);
            if !satisfies(value) {
                continue;
            }
            let next = at.after(register.map(|r| (r, value)));
            let next = self.reading(next, at, order, location, place);
            let from = graph.write_at(location, place);
            steps.extend(self.judged(step(value, from), next));
        }
        steps
    }

    fn store(&self, at: &At<'_, Self>, location: LocationId, value: Value) -> Vec<(Step, State)> {
        let mut step = at.step(StepKind::Store).access(location, None, Some(value));
        if let Some(id) = at.state.block {
            step.message = Some(self.message(at.state.graph.event(id).rf.flatten()));
            step.made = Some(self.message(Some(id)));
            let next = self.write_in_block(at.after(None), id, value);
            return self.judged(step, next).into_iter().collect();
        }
        let order = self.order(at, location, true);
        let mut steps = Vec::new();
        for place in self.places(&at.state.graph, location) {
            let mut next = at.after(None);
            let predecessor = next.graph.write_at(location, place);
            let id = next
                .graph
                .write(at.thread, order, location, value, place + 1);
            let mut step = step.clone();
            step.message = Some(self.message(predecessor));
            step.made = Some(self.message(Some(id)));
            steps.extend(self.judged(step, next));
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
        let graph = &at.state.graph;
        let mut steps = Vec::new();
        let choices = match at.state.block {
            Some(_) => 0..=0,
            None => self.places(graph, location),
        };
        for place in choices {
            let old = match at.state.block {
                Some(id) => self.block_value(graph, id),
                None => self.value_at(graph, location, place),
            };
            let source = match at.state.block {
                Some(id) => self.block_source(graph, id),
                None => graph.write_at(location, place),
            };
            let next = at.after(register.map(|r| (r, old)));
            match self.code.outcome(action, old) {
                Outcome::Waits => {}
                Outcome::Fails(error) => {
                    // It stops before it writes, but only where it could have read the value.
                    let order = self.order(at, location, false);
                    let read = self.reading(next, at, order, location, place);
                    let step = at.step(StepKind::Load).access(location, Some(old), None);
                    match self.judgement(step, read) {
                        _ if at.state.block.is_some() => steps.push(at.stopped(error)),
                        Some(race) if race.1.raced => steps.push(race),
                        Some(_) => steps.push(at.stopped(error)),
                        None => {}
                    }
                }
                Outcome::Loads => {
                    let mut step = at.step(StepKind::Load).access(location, Some(old), None);
                    step.message = Some(self.message(source));
                    if at.state.block.is_some() {
                        steps.push((step, next));
                    } else {
                        let order = self.order(at, location, false);
                        let next = self.reading(next, at, order, location, place);
                        steps.extend(self.judged(step, next));
                    }
                }
                Outcome::Writes(new) => {
                    let mut step = at
                        .step(StepKind::Rmw)
                        .access(location, Some(old), Some(new));
                    step.message = Some(self.message(source));
                    let next = match at.state.block {
                        Some(id) => {
                            // What it reads may be what the block wrote: the message is the one before the block's.
                            step.message = Some(self.message(graph.event(id).rf.flatten()));
                            step.made = Some(self.message(Some(id)));
                            self.write_in_block(next, id, new)
                        }
                        None => {
                            let mut next = next;
                            let order = self.order(at, location, true);
                            let id = next
                                .graph
                                .update(at.thread, order, location, new, place + 1);
                            next.block = at.atomic.then_some(id);
                            step.made = Some(self.message(Some(id)));
                            next
                        }
                    };
                    steps.extend(self.judged(step, next));
                }
            }
        }
        steps
    }

    fn fence(&self, at: &At<'_, Self>) -> Option<(Step, State)> {
        let Op::Fence(order) = at.transition.op else {
            return None;
        };
        let mut next = at.after(None);
        next.graph.fence(at.thread, order);
        self.judged(at.step(StepKind::Fence), next)
    }

    fn leave_block(&self, state: &mut State) {
        state.block = None;
    }
}
