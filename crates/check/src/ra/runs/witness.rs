//! A walk with messages and views as a run for people, and as the execution graph that the definition judges.

use palisade_explore::Finding;
use palisade_lang::{LocationId, Order, Program};
use palisade_memory::c20::{EventId, Graph, Relations};
use palisade_memory::witness::InitialName;
use palisade_memory::{Event, EventKind, EventRef, Pattern, PatternKind, Witness};
use palisade_threads::{ActionKind, LocalId};

use super::messages::Written;
use super::{ERROR, HANG, RACE, RaSpace, SeqCst, Turn};
use crate::graphs::race_pattern;
use crate::run::event_at;
use crate::safe::never_in_words;
use crate::sc::StepLabel;
use crate::{Criterion, Model, Options};

fn race_in_words(event: &Event) -> String {
    format!(
        "`{}` need not know of the newest store to the nonatomic location `{}`: a race, and what happens then has no meaning",
        event.thread,
        event.location.as_deref().unwrap_or_default()
    )
}

/// The run that leads to a finding, and whether the model has its graph: where sequentially consistent events are taken for less, it need not.
pub(super) fn witness(
    space: &RaSpace<'_, '_>,
    options: &Options,
    finding: &Finding,
) -> (Witness, bool) {
    let frame = space.frame;
    let program = frame.program();
    let view = &mut frame.threads.view();
    let names: Vec<String> = program.instances().into_iter().map(|i| i.name).collect();
    let mut events: Vec<Event> = Vec::new();
    // Where the messages that are not forgotten come from.
    let from_start = vec![EventRef::Initial(InitialName::Init)];
    let mut origins = vec![from_start; program.locations.len()];
    let mut error = None;
    let mut racing = None;
    // What the message of the block that a thread is in stands behind.
    let mut behind_block = None;
    let has_orders = space.rules.seqcst != SeqCst::Updates;
    let mut recorded: Vec<Recorded> = Vec::new();
    let labels = finding.path.iter().skip(1).map(|step| step.label);
    for (before, label) in finding.path.iter().zip(labels.chain(finding.step)) {
        let StepLabel {
            component: instance,
            action,
            outcome,
        } = StepLabel::decode(label);
        let row = before.row;
        let (code, local) = (frame.codes[instance], LocalId(row[instance]));
        let taken = view.action(code, local, action);
        let atomic = view.is_atomic(code, local);
        let messages = space.pool.get(row[space.component()]);
        // The turns in the order of their numbers, each as often as the thread can go on behind it.
        let mut left = outcome;
        let mut chosen = None;
        for turn in space.turns(&messages, instance, taken.kind, atomic) {
            let nexts = match &turn {
                Turn::Step { read, .. } => {
                    view.resume(code, local, action, read.unwrap_or(0)).to_vec()
                }
                Turn::Error(_) | Turn::Race { .. } => vec![local],
            };
            if let Some(next) = nexts.get(left) {
                chosen = Some((turn, *next));
                break;
            }
            left -= nexts.len();
        }
        let Some((turn, next)) = chosen else {
            debug_assert!(false, "a step that does not exist");
            break;
        };
        let location = taken.kind.location();
        let mut tell = |kind, value, read| {
            let order = match (taken.kind, location) {
                (ActionKind::Fence(order), _) => order,
                (kind_of_action, Some(location)) => {
                    let wrote = kind != EventKind::Load;
                    space.rules.order(program, location, kind_of_action, wrote)
                }
                _ => Order::Relaxed,
            };
            recorded.push(Recorded {
                thread: instance,
                location,
                order,
            });
            let mut event = event_at(program, instance, taken.transition, kind, location, &names);
            event.value = value;
            event.read = read;
            event.atomic = atomic;
            events.push(event);
            events.len() - 1
        };
        match turn {
            Turn::Error(what) => {
                error = Some(what);
                tell(EventKind::Local, None, None);
            }
            Turn::Race { read, written, at } => {
                let kind = match (read, written) {
                    (Some(_), Some(_)) => EventKind::Rmw,
                    (None, Some(_)) => EventKind::Store,
                    _ => EventKind::Load,
                };
                let of_rmw = read.filter(|_| kind == EventKind::Rmw);
                let event = tell(kind, written.or(read), of_rmw);
                racing = location.and_then(|l| origins[l.index()].last().copied());
                if let (Some(location), Some(at)) = (location, at) {
                    let source = Some(origins[location.index()][at]);
                    let event = &mut events[event];
                    match kind {
                        EventKind::Load => event.rf = source,
                        EventKind::Store => event.after = source,
                        _ => (event.rf, event.after) = (source, source),
                    }
                    racing = None;
                }
            }
            Turn::Step {
                read,
                written,
                at,
                made,
                mut messages,
            } => {
                let kind = match taken.kind {
                    ActionKind::Local | ActionKind::Error(_) => None,
                    ActionKind::Fence(order) if order != Order::SeqCst && !has_orders => None,
                    ActionKind::AtomicBegin | ActionKind::AtomicEnd => Some(EventKind::Local),
                    ActionKind::Fence(_) => Some(EventKind::Fence),
                    ActionKind::Load { .. } | ActionKind::Wait { .. } => Some(EventKind::Load),
                    ActionKind::Store { .. } => Some(EventKind::Store),
                    ActionKind::Rmw { .. } if written.is_none() => Some(EventKind::Load),
                    ActionKind::Rmw { .. } => Some(EventKind::Rmw),
                };
                if let Some(kind) = kind {
                    let read = read.filter(|_| kind == EventKind::Rmw || written.is_none());
                    let of_rmw = read.filter(|_| kind == EventKind::Rmw);
                    let event = tell(kind, written.or(read), of_rmw);
                    if let (Some(location), Some(at)) = (location, at) {
                        let of_location = &mut origins[location.index()];
                        // A block's further stores change what it wrote: that still stands behind the same one.
                        if let Some(Written::Inserted(_)) = made {
                            behind_block = Some(of_location[at]);
                        }
                        let event = &mut events[event];
                        match kind {
                            EventKind::Load => event.rf = Some(of_location[at]),
                            EventKind::Store => event.after = behind_block,
                            _ => (event.rf, event.after) = (behind_block, behind_block),
                        }
                    }
                    let this = EventRef::Event(events.len() - 1);
                    if let Some(location) = location {
                        let of_location = &mut origins[location.index()];
                        match made {
                            Some(Written::Inserted(at)) => of_location.insert(at, this),
                            Some(Written::Changed(at)) => of_location[at] = this,
                            None => {}
                        }
                    }
                }
                let mut after = row.to_vec();
                after[instance] = next.0;
                let gone = space.forget(view, &after, &mut messages);
                for (of_location, gone) in origins.iter_mut().zip(gone) {
                    for place in gone {
                        of_location.remove(place);
                    }
                }
            }
        }
    }
    let last = events.len().checked_sub(1);
    let mut named: Vec<usize> = last.into_iter().collect();
    let in_words = |error| {
        let code = (finding.kind & !(ERROR | RACE)) >> 32;
        let transition = finding.kind as u32;
        program.error_in_words(code as usize, transition as usize, error)
    };
    let (graph, ids) = graph_of(program, &events, &recorded);
    let relations = has_orders.then(|| Relations::new(&graph));
    let is_real = relations
        .as_ref()
        .is_none_or(|relations| relations.are_consistent(&graph, options.model));
    let pattern = if finding.kind & ERROR != 0 {
        let message = error.map_or_else(String::new, in_words);
        pattern(PatternKind::Error, named, message)
    } else if finding.kind & RACE != 0 {
        let raced = relations
            .iter()
            .flat_map(|relations| relations.races(&graph));
        let event_of = |id| ids.iter().position(|other| *other == Some(id));
        let mut pairs = raced.filter_map(|(a, b)| Some([event_of(a)?, event_of(b)?]));
        match pairs.next() {
            Some(mut pair) => {
                pair.sort_unstable();
                race_pattern(&events, pair)
            }
            None => {
                if let Some(EventRef::Event(store)) = racing {
                    named.insert(0, store);
                }
                let message = events.last().map_or_else(String::new, race_in_words);
                pattern(PatternKind::Race, named, message)
            }
        }
    } else if finding.kind & HANG != 0 {
        pattern(PatternKind::Stuck, named, String::new())
    } else {
        let never = &program.nevers[finding.kind as usize];
        pattern(PatternKind::Never, named, never_in_words(program, never))
    };
    let mut witness = Witness {
        model: options.model,
        criterion: match options.model {
            Model::Ra => Criterion::Safe,
            _ => options.criterion,
        },
        events,
        cycle: Vec::new(),
        edges: Vec::new(),
        pattern: Some(pattern),
        loop_start: None,
        copies: None,
    };
    if let (Some(hangs), Some(last)) = (&space.hangs, finding.path.last()) {
        let mut row = last.row.to_vec();
        let messages = space.pool.get(row[space.component()]);
        let seen = messages.seen_by_block();
        let old = seen.filter(|&(location, value)| value != messages.newest(location));
        if let Some((location, value)) = old {
            row[frame.component(location)] = view.value_id(value);
        }
        let init = EventRef::Initial(InitialName::Init);
        let newest = |l: LocationId| origins[l.index()].last().copied().unwrap_or(init);
        if let Some(hang) = hangs.find_in_row(frame, view, &row) {
            hangs.tell(&hang, old.is_some(), newest, &mut witness);
        }
    }
    (witness, is_real)
}

fn pattern(kind: PatternKind, events: Vec<usize>, message: String) -> Pattern {
    Pattern {
        kind,
        events,
        message,
    }
}

/// What an event is in the graph.
struct Recorded {
    thread: usize,
    location: Option<LocationId>,
    order: Order,
}

/// The execution graph of a run, and of each event which node it is; the accesses of a block are one node, which its first access stands for.
fn graph_of(
    program: &Program,
    events: &[Event],
    recorded: &[Recorded],
) -> (Graph, Vec<Option<EventId>>) {
    let threads = program.instances().len();
    let mut graph = Graph::new(threads, program.locations.len());
    let mut ids: Vec<Option<EventId>> = Vec::new();
    // Where the message of an event is: of a block, where its node is.
    let mut node_of: Vec<Option<EventId>> = Vec::new();
    let mut block: Option<EventId> = None;
    for (event, recorded) in events.iter().zip(recorded) {
        let &Recorded {
            thread,
            location,
            order,
        } = recorded;
        if !event.atomic {
            block = None;
        }
        let source = |of: Option<EventRef>| match of {
            Some(EventRef::Event(index)) => node_of[index],
            _ => None,
        };
        let mut id = None;
        let mut node = None;
        match (location, block) {
            (None, _) if event.kind == EventKind::Fence => {
                id = Some(graph.fence(thread, order));
            }
            (None, _) => {}
            (Some(location), Some(of_block)) => {
                node = Some(of_block);
                if event.kind != EventKind::Load {
                    let first = graph.event(of_block);
                    if let (Some(from), None) = (first.rf, first.written) {
                        let place = graph.mo_index(location, from).unwrap_or(0);
                        graph.mo[location.index()].insert(place, of_block);
                        graph.event_mut(of_block).order = Order::AcqRel;
                    }
                    graph.event_mut(of_block).written = event.value;
                }
            }
            (Some(location), None) => {
                let value = event.value.unwrap_or(0);
                let behind = graph.mo_index(location, source(event.after)).unwrap_or(0);
                id = Some(match event.kind {
                    EventKind::Load => graph.read(thread, order, location, source(event.rf)),
                    EventKind::Store => graph.write(thread, order, location, value, behind + 1),
                    _ => graph.update(thread, order, location, value, behind + 1),
                });
                if event.atomic {
                    block = id;
                }
            }
        }
        ids.push(id);
        node_of.push(node.or(id));
    }
    (graph, ids)
}
