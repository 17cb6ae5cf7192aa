//! From a path of the search to the execution graph that the model allows and SC does not.

use std::collections::VecDeque;

use palisade_lang::{LocationId, Order, Program, Value};
use palisade_memory::c20::graph::event_order;
use palisade_memory::c20::{EventId, Graph, Relations, Write, consistent};
use palisade_memory::witness::InitialName;
use palisade_memory::{
    Edge, Event, EventKind, EventRef, Pattern, PatternKind, RelationName, Witness,
};
use palisade_threads::{ActionKind, Effect, LocalId, View};

use super::Origin;
use super::blocks::{Block, Blocks, Way};
use super::facts::Fences;
use super::observe::Roles;
use super::observed::{How, Item};
use super::step::{StepTaken, Violation};
use crate::graphs::race_with_free;
use crate::sc::{Access, execute};
use crate::state::Frame;
use crate::{Criterion, Model};

/// The graph as it is built, and the witness's events.
#[derive(Clone)]
struct Story<'a> {
    program: &'a Program,
    original: &'a Program,
    origins: &'a [Origin],
    fences: Fences,
    graph: Graph,
    events: Vec<Event>,
    /// By thread and place in its program order: the event that reads, and the one that writes (the same but in a block).
    of_node: Vec<Vec<(usize, usize)>>,
}

/// Everything that is needed to replay a path.
pub(super) struct Replay<'a, 'f, 'p> {
    /// The model that was asked about.
    pub model: Model,
    /// What fences are there.
    pub fences: Fences,
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

impl Done {
    /// The location that is accessed.
    fn location(&self) -> Option<LocationId> {
        match &self.way {
            Some(way) => way.steps.iter().find_map(|(_, kind, _)| kind.location()),
            None => self.kind.location(),
        }
    }
}

impl<'a> Story<'a> {
    fn new(
        program: &'a Program,
        original: &'a Program,
        origins: &'a [Origin],
        fences: Fences,
    ) -> Self {
        Story {
            program,
            original,
            origins,
            fences,
            // One more location, for fences that are updates of it.
            graph: Graph::new(origins.len(), program.locations.len() + 1),
            events: Vec::new(),
            of_node: vec![Vec::new(); origins.len()],
        }
    }

    fn events_of(&self, node: EventId) -> (usize, usize) {
        self.of_node[node.thread as usize][node.index as usize]
    }

    fn reference(&self, write: Write) -> EventRef {
        match write {
            None => EventRef::Initial(InitialName::Init),
            Some(node) => EventRef::Event(self.events_of(node).1),
        }
    }

    fn value(&self, location: LocationId, write: Write) -> Value {
        let written = write.and_then(|w| self.graph.event(w).written);
        let initial = self.program.location(location).initial;
        written.unwrap_or_else(|| self.program.domain.reduce(initial))
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
            order: None,
            rf: None,
            after: None,
            atomic,
            addresses: Default::default(),
        };
        event.value = access.written.map(|(_, value)| value).or(access.read);
        event.read = access.read.filter(|_| event_kind == EventKind::Rmw);
        self.events.push(event);
        self.events.len() - 1
    }

    /// Adds a step whose access follows the write at `place` of modification order (`None`: the last one).
    fn add(&mut self, done: &Done, place: Option<usize>) {
        if let ActionKind::Fence(order) = done.kind {
            self.add_fence(done, order);
            return;
        }
        let Some(location) = done.location() else {
            if let Some(way) = &done.way {
                self.add_events_of_block(done, way, None);
            }
            return;
        };
        let place = place.unwrap_or(self.graph.mo[location.index()].len());
        let from = self.graph.write_at(location, place);
        let (reads, written, order, events) = match &done.way {
            Some(way) => {
                let events = self.add_events_of_block(done, way, Some(from));
                if !way.reads {
                    return;
                }
                (true, way.written, way.order(), events)
            }
            None => {
                let event = self.push_event(done, (done.transition, done.kind, done.access), false);
                let reads = done.access.read.is_some();
                let written = done.access.written.map(|(_, value)| value);
                if reads {
                    self.events[event].rf = Some(self.reference(from));
                }
                if written.is_some() {
                    self.events[event].after = Some(self.reference(from));
                }
                let code = self.original.thread(self.origins[done.thread].thread);
                let transition = &code.transitions[done.transition as usize];
                let order =
                    event_order(self.program, transition, Some(location), written.is_some());
                (
                    reads,
                    written,
                    order.unwrap_or(Order::Relaxed),
                    (event, event),
                )
            }
        };
        match (reads, written) {
            (true, Some(value)) => {
                self.graph
                    .update(done.thread, order, location, value, place + 1)
            }
            (false, Some(value)) => {
                self.graph
                    .write(done.thread, order, location, value, place + 1)
            }
            (_, None) => self.graph.read(done.thread, order, location, from),
        };
        self.of_node[done.thread].push(events);
    }

    fn add_fence(&mut self, done: &Done, order: Order) {
        match self.fences {
            Fences::Fences => {
                self.graph.fence(done.thread, order);
            }
            Fences::Updates if order == Order::SeqCst => {
                let place = LocationId(self.program.locations.len() as u32);
                let last = self.graph.mo[place.index()].len();
                self.graph
                    .update(done.thread, Order::AcqRel, place, 0, last + 1);
            }
            Fences::Updates => return,
        }
        let event = self.push_event(done, (done.transition, done.kind, done.access), false);
        self.of_node[done.thread].push((event, event));
    }

    /// Adds what a block does, whose location had the value of `from` before: the event that reads first, and the one that writes last.
    fn add_events_of_block(
        &mut self,
        done: &Done,
        way: &Way,
        from: Option<Write>,
    ) -> (usize, usize) {
        let before = from.map(|from| self.reference(from));
        let mut own = None;
        let (mut read_event, mut write_event) = (None, None);
        for &step in &way.steps {
            if matches!(step.1, ActionKind::Local | ActionKind::Fence(_)) {
                continue;
            }
            let border = matches!(step.1, ActionKind::AtomicBegin | ActionKind::AtomicEnd);
            let event = self.push_event(done, step, !border);
            if step.2.read.is_some() {
                self.events[event].rf = own.map(EventRef::Event).or(before);
                read_event = read_event.or(Some(event));
            }
            if step.2.written.is_some() {
                self.events[event].after = before;
                own = Some(event);
                write_event = Some(event);
            }
        }
        let read = read_event.or(write_event).unwrap_or(0);
        (read, write_event.unwrap_or(read))
    }

    /// A race of the last event of a thread, as events.
    fn race(&self, thread: usize) -> Option<[usize; 2]> {
        let index = self.graph.events[thread].len().checked_sub(1)? as u32;
        let last = EventId {
            thread: thread as u32,
            index,
        };
        let event = self.graph.event(last);
        let accesses = self.graph.events.iter().flatten();
        let nonatomic = |e: &palisade_memory::c20::Event| !e.is_atomic();
        let mut others = accesses.filter(|e| e.location.is_some() && e.location == event.location);
        if !others.any(nonatomic) {
            return None;
        }
        let races = Relations::new(&self.graph).races(&self.graph);
        let (a, b) = races.into_iter().find(|&(a, b)| a == last || b == last)?;
        let other = if a == last { b } else { a };
        Some([self.events_of(other).0, self.events_of(last).0])
    }
}

/// A shortest cycle of `po ∪ rf ∪ mo ∪ fr` through an event that does not go through others, as events of a witness: `events_of` says which of them reads
/// and which writes.
pub(crate) fn cycle_through(
    graph: &Graph,
    through: EventId,
    avoided: &[EventId],
    events_of: impl Fn(EventId) -> (usize, usize),
) -> Option<(Vec<usize>, Vec<Edge>)> {
    let relations = Relations::new(graph);
    let last = relations.ids.iter().position(|&id| id == through)?;
    let mut came: Vec<Option<(usize, Edge)>> = vec![None; relations.ids.len()];
    let mut queue = VecDeque::from([last]);
    while let Some(node) = queue.pop_front() {
        let (read, write) = events_of(relations.ids[node]);
        for (name, relation, from) in [
            (RelationName::Po, &relations.po, write),
            (RelationName::Co, &relations.mo, write),
            (RelationName::Rf, &relations.rf, write),
            (RelationName::Fr, &relations.fr, read),
        ] {
            for to in relation.after(node) {
                if came[to].is_some() || avoided.contains(&relations.ids[to]) {
                    continue;
                }
                let (its_read, its_write) = events_of(relations.ids[to]);
                let edge = Edge {
                    from,
                    to: match name {
                        RelationName::Po | RelationName::Rf => its_read,
                        _ => its_write,
                    },
                    relation: name,
                };
                came[to] = Some((node, edge));
                queue.push_back(to);
            }
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

impl Replay<'_, '_, '_> {
    /// Builds the witness; under release/acquire there is none behind a race. `row`: an initial row, with threads at their own places.
    pub fn witness(
        mut self,
        mut row: Vec<u32>,
        steps: &[StepTaken],
        violation: &Violation,
    ) -> Option<Witness> {
        let program = self.frame.program();
        let mut story = Story::new(program, self.original, self.origins, self.fences);
        let mut last = Vec::new();
        match *violation {
            Violation::Stale { .. } => {}
            Violation::Race { first, second } => last.extend([(first, 0), (second, 0)]),
            Violation::Unordered {
                thread,
                action,
                outcome,
            } => last.push(((thread, action), outcome)),
            Violation::Used { .. } => return None,
        }
        let last = last
            .into_iter()
            .map(|((thread, action), outcome)| StepTaken {
                thread,
                action,
                outcome,
            });
        let mut raced = None;
        let mut taken = 0;
        for step in steps.iter().cloned().chain(last) {
            let done = self.take(&mut row, &step)?;
            taken += 1;
            story.add(&done, None);
            raced = story.race(done.thread);
            if raced.is_some() {
                break;
            }
        }
        if self.model == Model::Ra && raced.is_some() && taken < steps.len() + 2 {
            // What lies behind a race has no meaning there; the race itself is found as well.
            return None;
        }
        let mut witness = Witness {
            model: self.model,
            criterion: Criterion::Robust,
            events: Vec::new(),
            cycle: Vec::new(),
            edges: Vec::new(),
            pattern: None,
            loop_start: None,
            copies: None,
        };
        match (raced, violation) {
            (Some(events), _) => {
                let [first, second] = events.map(|e| &story.events[e]);
                let place = second.location.as_deref().unwrap_or_default();
                let known = program.locations.iter().find(|l| l.name == place);
                let what = match known.is_some_and(|location| location.nonatomic) {
                    true => "the nonatomic location",
                    false => "the location",
                };
                let message = race_with_free([first, second]).unwrap_or_else(|| {
                    let (first, second) = (&first.thread, &second.thread);
                    format!("`{first}` and `{second}` race on {what} `{place}`")
                });
                witness.pattern = Some(Pattern {
                    kind: PatternKind::Race,
                    events: events.to_vec(),
                    message,
                });
            }
            (None, Violation::Stale { thread, action }) => {
                story = self.with_stale(&story, &row, *thread, *action)?;
                let index = story.graph.events[*thread].len().checked_sub(1)? as u32;
                let last = EventId {
                    thread: *thread as u32,
                    index,
                };
                let (cycle, edges) =
                    cycle_through(&story.graph, last, &[], |id| story.events_of(id))?;
                witness.cycle = cycle;
                witness.edges = edges;
            }
            (None, _) => return None,
        }
        witness.events = story.events;
        Some(witness)
    }

    /// What happens on a path of a program with blind loads, with threads as they are numbered here.
    pub fn items(
        mut self,
        roles: &Roles,
        mut row: Vec<u32>,
        steps: &[StepTaken],
        violation: &Violation,
    ) -> Option<Vec<Item>> {
        let frame = self.frame;
        let mut items = Vec::new();
        let mut steps = steps.to_vec();
        let last = |(thread, action): (usize, usize), outcome| StepTaken {
            thread,
            action,
            outcome,
        };
        let mut stale = None;
        match *violation {
            Violation::Stale { thread, action } => stale = Some((thread, action)),
            Violation::Race { first, second } => steps.extend([last(first, 0), last(second, 0)]),
            Violation::Unordered {
                thread,
                action,
                outcome,
            } => steps.push(last((thread, action), outcome)),
            Violation::Used { .. } => {}
        }
        for step in &steps {
            let (code, local) = (frame.codes[step.thread], LocalId(row[step.thread]));
            let taken = self.view.action(code, local, step.action);
            let role = roles.of(code, taken.transition);
            let mut how = How::Newest;
            if role.blind {
                let told = step.outcome % 2;
                how = [How::Skipped, How::Suspect][told];
                let next = self.view.resume(code, local, step.action, told as Value);
                row[step.thread] = next.get(step.outcome / 2)?.0;
            } else {
                self.take(&mut row, step)?;
            }
            if !matches!(taken.kind, ActionKind::Local | ActionKind::Error(_)) {
                items.push(Item {
                    thread: step.thread,
                    transition: role.original,
                    how,
                });
            }
        }
        if let Some((thread, action)) = stale {
            let (code, local) = (frame.codes[thread], LocalId(row[thread]));
            let taken = self.view.action(code, local, action);
            items.push(Item {
                thread,
                transition: roles.of(code, taken.transition).original,
                how: How::Stale,
            });
        }
        Some(items)
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

    /// The story with the access that leaves SC: it reads or follows the newest write that the model allows, but not the last one.
    fn with_stale<'s>(
        &mut self,
        story: &Story<'s>,
        row: &[u32],
        thread: usize,
        action: usize,
    ) -> Option<Story<'s>> {
        let frame = self.frame;
        let domain = frame.program().domain;
        let (code, local) = (frame.codes[thread], LocalId(row[thread]));
        let taken = self.view.action(code, local, action);
        let location = match taken.kind {
            ActionKind::AtomicBegin => self.blocks.location(self.view, code, local, action)?,
            other => other.location()?,
        };
        for place in (0..story.graph.mo[location.index()].len()).rev() {
            let value = story.value(location, story.graph.write_at(location, place));
            let mut access = Access {
                read: Some(value),
                written: None,
            };
            let mut ways = vec![None];
            match taken.kind {
                ActionKind::Wait {
                    relation,
                    value: operand,
                    ..
                } if !relation.holds(value, operand) => continue,
                ActionKind::Store { value, .. } => {
                    access = Access {
                        read: None,
                        written: Some((location, value)),
                    };
                }
                ActionKind::Rmw { update, .. } => match update.effect(domain, value) {
                    Ok(Effect::Fails) => {}
                    Ok(Effect::Writes(value)) => access.written = Some((location, value)),
                    _ => continue,
                },
                ActionKind::AtomicBegin => {
                    let all = self.block_ways(code, local, action, value);
                    ways = all.into_iter().filter(|w| w.reads).map(Some).collect();
                }
                _ => {}
            }
            for way in ways {
                let done = Done {
                    thread,
                    transition: taken.transition,
                    kind: taken.kind,
                    access,
                    way,
                };
                let mut longer = story.clone();
                longer.add(&done, Some(place));
                if consistent(&longer.graph, self.model) {
                    return Some(longer);
                }
            }
        }
        None
    }
}
