//! From a path of the search to the execution graph that RA allows and SC does not.

use palisade_lang::{LocationId, Order, Program, Value};
use palisade_memory::witness::InitialName;
use palisade_memory::{
    Edge, Event, EventKind, EventRef, Pattern, PatternKind, RelationName, Witness,
};
use palisade_threads::{ActionKind, Effect, LocalId, View};

use super::Origin;
use super::blocks::{Block, Blocks, Way};
use super::step::{StepTaken, Violation};
use crate::sc::{Access, execute};
use crate::state::Frame;
use crate::{Criterion, Model};

/// A node of the execution graph: an access, or a block.
#[derive(Clone, Debug)]
struct Node {
    thread: usize,
    /// The location; the number of locations for a fence.
    place: usize,
    /// For what reads: the place in modification order of the write that is read; 0 is the initial one.
    rf: Option<usize>,
    /// For what writes: the value.
    written: Option<Value>,
    /// hb-before it: nodes by number, itself included.
    past: Vec<bool>,
    /// The event that reads, and the one that writes (the same but in a block).
    read_event: usize,
    write_event: usize,
}

/// The graph as it is built.
struct Graph<'a> {
    program: &'a Program,
    original: &'a Program,
    origins: &'a [Origin],
    nodes: Vec<Node>,
    /// By place: the writes in modification order, behind the initial one.
    mo: Vec<Vec<usize>>,
    events: Vec<Event>,
    /// Two accesses of a nonatomic location are not in order: what comes behind them has no meaning.
    racy: bool,
}

/// Everything that is needed to replay a path.
pub struct Replay<'a, 'f, 'p> {
    /// The program and its rows.
    pub frame: &'a Frame<'p>,
    /// The automata.
    pub view: &'a mut View<'f>,
    /// The ways through blocks.
    pub blocks: &'a mut Blocks,
    /// The user's program.
    pub original: &'a Program,
    /// What the running threads are there.
    pub origins: &'a [Origin],
}

/// One step to be put into the graph.
struct Done {
    thread: usize,
    transition: u32,
    kind: ActionKind,
    access: Access,
    /// The steps of a block.
    way: Option<Way>,
}

impl<'a> Graph<'a> {
    fn new(program: &'a Program, original: &'a Program, origins: &'a [Origin]) -> Self {
        Graph {
            program,
            original,
            origins,
            nodes: Vec::new(),
            mo: vec![Vec::new(); program.locations.len() + 1],
            events: Vec::new(),
            racy: false,
        }
    }

    fn reference(&self, place: usize, position: usize) -> EventRef {
        match position.checked_sub(1) {
            None => EventRef::Initial(InitialName::Init),
            Some(index) => EventRef::Event(self.nodes[self.mo[place][index]].write_event),
        }
    }

    fn value_at(&self, place: usize, position: usize) -> Value {
        match position.checked_sub(1) {
            None => self
                .program
                .locations
                .get(place)
                .map_or(0, |l| self.program.domain.reduce(l.initial)),
            Some(index) => self.nodes[self.mo[place][index]].written.unwrap_or(0),
        }
    }

    /// hb-before the end of a thread.
    fn past(&self, thread: usize) -> Vec<bool> {
        let last = self.nodes.iter().rev().find(|n| n.thread == thread);
        last.map_or(Vec::new(), |n| n.past.clone())
    }

    /// The first position in modification order that the thread may still read: the newest write that it has seen.
    fn newest_seen(&self, thread: usize, place: usize) -> usize {
        let past = self.past(thread);
        self.mo[place]
            .iter()
            .rposition(|&w| past.get(w) == Some(&true))
            .map_or(0, |index| index + 1)
    }

    /// Whether a write can be put directly behind this position.
    fn has_gap(&self, place: usize, position: usize) -> bool {
        self.mo[place]
            .get(position)
            .is_none_or(|&next| self.nodes[next].rf.is_none())
    }

    fn push_event(&mut self, done: &Done, step: (u32, ActionKind, Access), atomic: bool) -> usize {
        let (transition, kind, access) = step;
        let event_kind = match kind {
            ActionKind::Load { .. } | ActionKind::Wait { .. } => EventKind::Load,
            ActionKind::Store { .. } => EventKind::Store,
            ActionKind::Rmw { .. } if access.written.is_none() => EventKind::Load,
            ActionKind::Rmw { .. } => EventKind::Rmw,
            ActionKind::Fence(_) => EventKind::Fence,
            _ => EventKind::Local,
        };
        let origin = &self.origins[done.thread];
        let code = self.original.thread(origin.thread);
        let span = code.transitions[transition as usize].span;
        let place = self.original.source.line_column(span.start);
        let mut event = Event {
            thread: origin.name.clone(),
            kind: event_kind,
            location: kind
                .location()
                .map(|l| self.program.location(l).name.clone()),
            value: None,
            read: None,
            file: self
                .original
                .source
                .included_at(span.start)
                .map(str::to_owned),
            line: place.line,
            column: place.column,
            issue: None,
            rf: None,
            after: None,
            atomic,
        };
        event.value = access.written.map(|(_, value)| value).or(access.read);
        event.read = access.read.filter(|_| event_kind == EventKind::Rmw);
        self.events.push(event);
        self.events.len() - 1
    }

    /// Adds a step whose access follows the write at `position` (`None`: the last one).
    fn add(&mut self, done: &Done, position: Option<usize>) {
        let place = match (&done.way, done.kind) {
            (Some(way), _) => way.steps.iter().find_map(|(_, kind, _)| kind.location()),
            (None, kind) => kind.location(),
        }
        .map(LocationId::index);
        let place = match done.kind {
            ActionKind::Fence(Order::SeqCst) => Some(self.program.locations.len()),
            _ => place,
        };
        let Some(way) = &done.way else {
            let Some(place) = place else {
                return;
            };
            let position = position.unwrap_or(self.mo[place].len());
            let event = self.push_event(done, (done.transition, done.kind, done.access), false);
            let fence = matches!(done.kind, ActionKind::Fence(_));
            let reads = fence || done.access.read.is_some();
            let written = match done.access.written {
                Some((_, value)) => Some(value),
                None => fence.then_some(0),
            };
            if !fence {
                if reads {
                    self.events[event].rf = Some(self.reference(place, position));
                }
                if written.is_some() {
                    self.events[event].after = Some(self.reference(place, position));
                }
            }
            self.add_node(done.thread, place, position, reads, written, (event, event));
            return;
        };
        let position = place.map(|place| position.unwrap_or(self.mo[place].len()));
        let mut own: Option<usize> = None;
        let (mut read_event, mut write_event) = (None, None);
        for &step in &way.steps {
            if matches!(step.1, ActionKind::Local | ActionKind::Fence(_)) {
                continue;
            }
            let border = matches!(step.1, ActionKind::AtomicBegin | ActionKind::AtomicEnd);
            let event = self.push_event(done, step, !border);
            let (Some(place), Some(position)) = (place, position) else {
                continue;
            };
            let from = match own {
                Some(own) => EventRef::Event(own),
                None => self.reference(place, position),
            };
            if step.2.read.is_some() {
                self.events[event].rf = Some(from);
                read_event = read_event.or(Some(event));
            }
            if step.2.written.is_some() {
                self.events[event].after = Some(self.reference(place, position));
                own = Some(event);
                write_event = Some(event);
            }
        }
        if let (Some(place), Some(position)) = (place, position)
            && way.reads
        {
            let read = read_event.or(write_event).unwrap_or(0);
            let write = write_event.unwrap_or(read);
            self.add_node(
                done.thread,
                place,
                position,
                true,
                way.written,
                (read, write),
            );
        }
    }

    fn add_node(
        &mut self,
        thread: usize,
        place: usize,
        position: usize,
        reads: bool,
        written: Option<Value>,
        (read_event, write_event): (usize, usize),
    ) {
        let number = self.nodes.len();
        let mut past = self.past(thread);
        past.resize(number, false);
        past.push(true);
        let nonatomic = self
            .program
            .locations
            .get(place)
            .is_some_and(|l| l.nonatomic);
        if reads
            && !nonatomic
            && let Some(index) = position.checked_sub(1)
        {
            let from = self.mo[place][index];
            for (mine, theirs) in past.iter_mut().zip(&self.nodes[from].past) {
                *mine |= theirs;
            }
        }
        self.racy |= nonatomic
            && self.nodes.iter().zip(&past).any(|(other, seen)| {
                other.place == place && !seen && (written.is_some() || other.written.is_some())
            });
        self.nodes.push(Node {
            thread,
            place,
            rf: reads.then_some(position),
            written,
            past,
            read_event,
            write_event,
        });
        if written.is_some() {
            self.mo[place].insert(position, number);
        }
    }

    /// All edges of `po ∪ rf ∪ mo ∪ fr` from a node, as relation, target, and the events at both ends.
    fn edges(&self, from: usize) -> Vec<(RelationName, usize, usize, usize)> {
        let node = &self.nodes[from];
        let mut edges = Vec::new();
        // Modification order: where the node's own write, and the one that it read, stand.
        let order = &self.mo[node.place];
        let own = order.iter().position(|&w| w == from);
        for (to, other) in self.nodes.iter().enumerate() {
            if to == from {
                continue;
            }
            if other.thread == node.thread && to > from {
                edges.push((RelationName::Po, to, node.write_event, other.read_event));
            }
            if other.place != node.place {
                continue;
            }
            let position = order.iter().position(|&w| w == to);
            if let (Some(own), Some(position)) = (own, position)
                && own < position
            {
                edges.push((RelationName::Co, to, node.write_event, other.write_event));
            }
            // A position names the write before it: 1 is the first of `order`.
            if let (Some(own), Some(rf)) = (own, self.current_rf(to))
                && own + 1 == rf
            {
                edges.push((RelationName::Rf, to, node.write_event, other.read_event));
            }
            if let (Some(rf), Some(position)) = (self.current_rf(from), position)
                && position >= rf
            {
                edges.push((RelationName::Fr, to, node.read_event, other.write_event));
            }
        }
        edges
    }

    /// The position of the write that a node reads, in modification order as it is now.
    fn current_rf(&self, node: usize) -> Option<usize> {
        self.nodes[node].rf
    }

    /// A shortest cycle through the last node.
    fn cycle(&self) -> Option<(Vec<usize>, Vec<Edge>)> {
        let last = self.nodes.len().checked_sub(1)?;
        let mut came: Vec<Option<(usize, Edge)>> = vec![None; self.nodes.len()];
        let mut queue = std::collections::VecDeque::from([last]);
        while let Some(node) = queue.pop_front() {
            for (relation, to, event, to_event) in self.edges(node) {
                if came[to].is_some() {
                    continue;
                }
                came[to] = Some((
                    node,
                    Edge {
                        from: event,
                        to: to_event,
                        relation,
                    },
                ));
                if to == last {
                    break;
                }
                queue.push_back(to);
            }
        }
        let mut edges = Vec::new();
        let mut at = last;
        loop {
            let (before, edge) = came[at]?;
            edges.push(edge);
            at = before;
            if at == last {
                break;
            }
        }
        edges.reverse();
        let cycle = edges.iter().map(|edge| edge.from).collect();
        Some((cycle, edges))
    }
}

impl Replay<'_, '_, '_> {
    /// Builds the witness; there is none behind a race. `row`: an initial row, with threads at their own places.
    pub fn witness(
        mut self,
        mut row: Vec<u32>,
        steps: &[StepTaken],
        violation: &Violation,
    ) -> Option<Witness> {
        let program = self.frame.program();
        let origins = self.origins;
        let mut graph = Graph::new(program, self.original, origins);
        for step in steps {
            let done = self.take(&mut row, step)?;
            graph.add(&done, None);
        }
        if graph.racy {
            return None;
        }
        let mut witness = Witness {
            model: Model::Ra,
            criterion: Criterion::Robust,
            events: Vec::new(),
            cycle: Vec::new(),
            edges: Vec::new(),
            pattern: None,
            copies: None,
        };
        match *violation {
            Violation::Stale { thread, action } => {
                self.add_stale(&mut graph, &row, thread, action)?;
                let (cycle, edges) = graph.cycle()?;
                witness.cycle = cycle;
                witness.edges = edges;
            }
            Violation::Unordered { .. } => return None,
            Violation::Race { first, second } => {
                let mut place = None;
                for (thread, action) in [first, second] {
                    let step = StepTaken {
                        thread,
                        action,
                        outcome: 0,
                    };
                    let done = self.take(&mut row, &step)?;
                    place = done.kind.location();
                    graph.add(&done, None);
                }
                let count = graph.events.len();
                let name = |thread: usize| &origins[thread].name;
                witness.pattern = Some(Pattern {
                    kind: PatternKind::Race,
                    events: vec![count - 2, count - 1],
                    message: format!(
                        "`{}` and `{}` race on the nonatomic location `{}`",
                        name(first.0),
                        name(second.0),
                        place.map_or("", |l| &program.location(l).name)
                    ),
                });
            }
        }
        witness.events = graph.events;
        Some(witness)
    }

    /// Takes a step of the path under SC.
    fn take(&mut self, row: &mut [u32], step: &StepTaken) -> Option<Done> {
        let frame = self.frame;
        let (code, local) = (frame.codes[step.thread], LocalId(row[step.thread]));
        let taken = self.view.action(code, local, step.action);
        let mut done = Done {
            thread: step.thread,
            transition: taken.transition,
            kind: taken.kind,
            access: Access {
                read: None,
                written: None,
            },
            way: None,
        };
        if taken.kind == ActionKind::AtomicBegin {
            let location = self.blocks.location(self.view, code, local, step.action);
            let value = location.map_or(0, |l| self.view.value(row[frame.component(l)]));
            let way = self.block_ways(code, local, step.action, value)[step.outcome].clone();
            row[step.thread] = way.local.0;
            if let (Some(location), Some(value)) = (location, way.written) {
                row[frame.component(location)] = self.view.value_id(value);
            }
            done.way = Some(way);
            return Some(done);
        }
        done.access = execute(frame, self.view, row, taken.kind).ok()??;
        let read = done.access.read.unwrap_or(0);
        let next = self.view.resume(code, local, step.action, read);
        if let Some(next) = next.get(step.outcome) {
            row[step.thread] = next.0;
        }
        if let Some((location, value)) = done.access.written {
            row[frame.component(location)] = self.view.value_id(value);
        }
        Some(done)
    }

    fn block_ways(&mut self, code: usize, local: LocalId, action: usize, value: Value) -> Vec<Way> {
        let block = Block {
            code,
            local,
            action,
        };
        let domain = self.frame.program().domain;
        self.blocks.ways(self.view, domain, block, value).to_vec()
    }

    /// Adds the access that leaves SC: it reads or follows the newest write that it can, but not the last one.
    fn add_stale(
        &mut self,
        graph: &mut Graph<'_>,
        row: &[u32],
        thread: usize,
        action: usize,
    ) -> Option<()> {
        let frame = self.frame;
        let domain = frame.program().domain;
        let (code, local) = (frame.codes[thread], LocalId(row[thread]));
        let taken = self.view.action(code, local, action);
        let location = match taken.kind {
            ActionKind::AtomicBegin => self.blocks.location(self.view, code, local, action)?,
            other => other.location()?,
        };
        let place = location.index();
        for position in (graph.newest_seen(thread, place)..graph.mo[place].len()).rev() {
            let value = graph.value_at(place, position);
            let gap = graph.has_gap(place, position);
            let mut access = Access {
                read: Some(value),
                written: None,
            };
            let mut way = None;
            let possible = match taken.kind {
                ActionKind::Load { .. } => true,
                ActionKind::Wait {
                    relation,
                    value: operand,
                    ..
                } => relation.holds(value, operand),
                ActionKind::Store { value, .. } => {
                    access = Access {
                        read: None,
                        written: Some((location, value)),
                    };
                    gap
                }
                ActionKind::Rmw { update, .. } => match update.effect(domain, value) {
                    Ok(Effect::Fails) => true,
                    Ok(Effect::Writes(value)) => {
                        access.written = Some((location, value));
                        gap
                    }
                    _ => false,
                },
                ActionKind::AtomicBegin => {
                    way = self
                        .block_ways(code, local, action, value)
                        .into_iter()
                        .find(|way| way.reads && (way.written.is_none() || gap));
                    way.is_some()
                }
                _ => false,
            };
            if possible {
                let done = Done {
                    thread,
                    transition: taken.transition,
                    kind: taken.kind,
                    access,
                    way,
                };
                // Putting a write between others moves the later ones up.
                if done.access.written.is_some()
                    || done.way.as_ref().is_some_and(|w| w.written.is_some())
                {
                    for node in &mut graph.nodes {
                        if node.place == place
                            && let Some(rf) = &mut node.rf
                            && *rf > position
                        {
                            *rf += 1;
                        }
                    }
                }
                graph.add(&done, Some(position));
                return Some(());
            }
        }
        None
    }
}
