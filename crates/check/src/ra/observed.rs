//! From what the search for used stale values finds to an execution graph that shows it.
//!
//! The search tells which thread does what, and which loads are blind (`observe`). Here the program itself is run like that, by the plain machine of
//! `palisade-memory`: every blind load reads some write other than the newest, so that the graph is one of the model; everything else is read from, and
//! stored behind, the newest write. Which writes the blind loads read is tried out.

use palisade_lang::{LocationId, Op, Program, RegisterId};
use palisade_memory::c20::{C20Graph, EventId, Graph, Relations, State, consistent};
use palisade_memory::{Machine, Step, StepKind, Witness};

use super::step::Violation;
use super::witness::cycle_through;
use crate::graphs::{last_node, race_pattern, told};
use crate::{Criterion, Model};

/// So many steps are tried.
const MOST_STEPS: usize = 30_000;

/// With more events than this, a graph takes too long to judge.
const MOST_EVENTS: usize = 2_000;

/// How an instruction is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It reads from, or stores behind, the newest write.
    Newest,
    /// A load of another write, whose value is not used.
    Skipped,
    /// The load of another write whose value will be used.
    Suspect,
    /// The access that could be stale and is no load: any but the newest.
    Stale,
}

/// An instruction that touches memory, or a fence, or a whole block.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// The running thread, in the user's program.
    pub thread: usize,
    /// The instruction there.
    pub transition: u32,
    /// How it is executed.
    pub how: How,
}

/// What the run ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The thread uses what the suspected load has read.
    Use(usize),
    /// The last access.
    Access,
    /// A data race.
    Race,
}

impl End {
    /// What a violation ends with.
    pub fn of(violation: &Violation) -> Self {
        match violation {
            Violation::Used { thread } => End::Use(*thread),
            Violation::Stale { .. } => End::Access,
            Violation::Race { .. } | Violation::Unordered { .. } => End::Race,
        }
    }
}

/// A state on the way.
#[derive(Clone)]
struct Node {
    step: Option<Step>,
    state: State,
    /// How many items have been executed.
    done: usize,
    skipped: Vec<EventId>,
    suspect: Option<EventId>,
    /// The registers of the suspected load's thread that depend on it.
    dependent: Vec<RegisterId>,
    used: bool,
}

/// What is to be shown.
pub struct Wish<'a> {
    /// The user's program.
    pub program: &'a Program,
    /// The model.
    pub model: Model,
    /// What is executed.
    pub items: &'a [Item],
    /// What it ends with.
    pub end: End,
    /// Whether a `never` mentions a register of a running thread.
    pub mentioned: &'a dyn Fn(usize, RegisterId) -> bool,
}

impl Wish<'_> {
    /// The run as a witness, if there is one.
    pub fn witness(&self) -> Option<Witness> {
        let machine = C20Graph::without_judging(self.program, self.model).ok()?;
        let mut tries = 0;
        let first = Node {
            step: None,
            state: machine.initial(),
            done: 0,
            skipped: Vec::new(),
            suspect: None,
            dependent: Vec::new(),
            used: false,
        };
        // Depth first: the way here, and for each state on it what is left to be tried behind it.
        let mut path = vec![first];
        let mut left: Vec<Vec<Node>> = Vec::new();
        loop {
            let node = path.last()?;
            if self.is_the_end(node) {
                if let Some(witness) = self.told(&path) {
                    return Some(witness);
                }
                left.push(Vec::new());
            } else {
                left.push(self.next(&machine, node));
            }
            loop {
                if let Some(next) = left.last_mut()?.pop() {
                    path.push(next);
                    break;
                }
                left.pop();
                path.pop();
            }
            tries += 1;
            if tries > MOST_STEPS {
                return None;
            }
        }
    }

    fn is_the_end(&self, node: &Node) -> bool {
        node.done == self.items.len() && (node.used || !matches!(self.end, End::Use(_)))
    }

    fn next(&self, machine: &C20Graph<'_>, node: &Node) -> Vec<Node> {
        if node.state.graph.len() > MOST_EVENTS {
            return Vec::new();
        }
        let item = self.items.get(node.done);
        let thread = match (item, self.end) {
            (Some(item), _) => item.thread,
            (None, End::Use(thread)) => thread,
            (None, _) => return Vec::new(),
        };
        let inside = machine.code().holder(&node.state.locals).is_some();
        let mut all = Vec::new();
        for (step, state) in machine.steps_of(&node.state, thread) {
            let is_next = item.is_none_or(|item| step.transition == item.transition as usize);
            let how = item.map_or(How::Newest, |item| item.how);
            let (goes_on, done) = match step.kind {
                StepKind::Local => (true, 0),
                // The use itself may be what fails.
                StepKind::Error(_) => (item.is_none(), 0),
                StepKind::Race => (false, 0),
                StepKind::AtomicBegin => (is_next, 0),
                StepKind::AtomicEnd => (true, 1),
                _ if inside && how == How::Stale => (true, 0),
                _ if inside => (is_newest(&state.graph, thread), 0),
                _ if how == How::Newest => (is_next && is_newest(&state.graph, thread), 1),
                _ => {
                    let stale = is_next && !is_newest(&state.graph, thread);
                    (stale && consistent(&state.graph, self.model), 1)
                }
            };
            if !goes_on {
                continue;
            }
            let done = if item.is_some() { done } else { 0 };
            let mut next = Node {
                step: None,
                state,
                done: node.done + done,
                ..node.clone()
            };
            self.observe(machine, &step, how, done == 1, &mut next);
            if item.is_none() && !next.used && !matches!(step.kind, StepKind::Local) {
                continue;
            }
            next.step = Some(step);
            all.push(next);
        }
        all
    }

    /// Follows what becomes of the value that the suspected load has read.
    fn observe(
        &self,
        machine: &C20Graph<'_>,
        step: &Step,
        how: How,
        counts: bool,
        node: &mut Node,
    ) {
        let op = &machine.code().thread(step.thread).transitions[step.transition].op;
        if counts && how == How::Skipped {
            node.skipped.extend(last_node(step.thread, &node.state));
        }
        if counts && how == How::Suspect {
            node.suspect = last_node(step.thread, &node.state);
            node.dependent = op.target().into_iter().collect();
        } else {
            if node.suspect.map(|s| s.thread as usize) != Some(step.thread) {
                return;
            }
            let mut depends = false;
            op.for_each_register(&mut |r| depends |= node.dependent.contains(&r));
            let fails = matches!(step.kind, StepKind::Error(_));
            let flows = matches!(op, Op::Assign(..)) && !fails;
            node.used |= depends && !flows;
            if let Some(target) = op.target() {
                node.dependent.retain(|&r| r != target);
                if depends && flows {
                    node.dependent.push(target);
                }
            }
        }
        let seen = |r: &RegisterId| (self.mentioned)(step.thread, *r);
        node.used |= node.dependent.iter().any(seen);
    }

    fn told(&self, path: &[Node]) -> Option<Witness> {
        let last = path.last()?;
        let graph = &last.state.graph;
        if !consistent(graph, self.model) {
            return None;
        }
        let steps: Vec<(&Step, &State)> = path
            .iter()
            .filter_map(|node| Some((node.step.as_ref()?, &node.state)))
            .collect();
        let (events, of_node) = told(self.program, &steps)?;
        let events_of = |id: EventId| of_node[id.thread as usize][id.index as usize];
        let mut witness = Witness {
            model: self.model,
            criterion: Criterion::Observational,
            events,
            cycle: Vec::new(),
            edges: Vec::new(),
            pattern: None,
            loop_start: None,
            copies: None,
        };
        let through = match self.end {
            End::Use(_) => last.suspect?,
            End::Access => last_node(self.items.last()?.thread, &last.state)?,
            End::Race => {
                let (a, b) = Relations::new(graph).races(graph).into_iter().next()?;
                let mut pair = [events_of(a).0, events_of(b).0];
                pair.sort_unstable();
                witness.pattern = Some(race_pattern(&witness.events, pair));
                return Some(witness);
            }
        };
        (witness.cycle, witness.edges) = cycle_through(graph, through, &last.skipped, events_of)?;
        Some(witness)
    }
}

/// Whether the last event of a thread reads from, or is, the newest write.
fn is_newest(graph: &Graph, thread: usize) -> bool {
    let Some(event) = graph.events[thread].last() else {
        return true;
    };
    let newest = |l: LocationId| graph.mo[l.index()].last().copied();
    let id = EventId {
        thread: thread as u32,
        index: graph.events[thread].len() as u32 - 1,
    };
    match event.location {
        None => true,
        Some(location) if event.is_write() => newest(location) == Some(id),
        Some(location) => event.rf == Some(newest(location)),
    }
}
