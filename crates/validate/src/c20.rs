//! Witnesses of C++20 and RC11: the run builds an execution graph, and the model's definition judges that.
//!
//! The run is followed without looking at the model: what remains of a consistent graph without its last events is consistent, so judging the whole
//! graph at the end is enough.

use crate::cycle::Trace;
use crate::observing::Observing;
use crate::replay::{Candidate, Matched, Replay};
use crate::{Invalid, any, is_forbidden};
use palisade_lang::{Order, Program};
use palisade_memory::c20::{C20Graph, EventId, Graph, Relations, State};
use palisade_memory::{Criterion, EventKind, Machine, Model, OrderName, PatternKind, Witness};
use std::collections::HashMap;

/// Relations over more events than this take too much time and memory.
const MOST_EVENTS: usize = 5_000;

/// Whether the witness shows that the criterion is violated.
pub fn check(program: &Program, witness: &Witness) -> Result<(), Invalid> {
    if witness.events.len() > MOST_EVENTS {
        return Err(Invalid::new(format!(
            "there are more than {MOST_EVENTS} events: their graph is too large to be judged"
        )));
    }
    let (judge, machine) = machines(program, witness)?;
    let kind = witness.pattern.as_ref().map(|p| p.kind);
    if (witness.criterion, kind) == (Criterion::Observational, None) {
        return observed_cycle(program, witness, &judge, Observing::new(machine));
    }
    let replay = Replay::new(&machine, program, &witness.events, false);
    let candidates = replay.follow(replay.start(), witness.events.len())?;
    match (witness.criterion, kind) {
        (Criterion::Robust, None) => any(&candidates, |candidate| {
            let history = replay.history(candidate);
            judged(&judge, witness, &candidate.state, &history)?;
            Trace::of_messages(&witness.events, &history).check(witness)
        }),
        (
            Criterion::Robust
            | Criterion::Observational
            | Criterion::Drf
            | Criterion::Safe
            | Criterion::Live,
            Some(PatternKind::Race),
        ) => any(&candidates, |candidate| {
            race(witness, &candidate.state, &replay.history(candidate))
        }),
        (Criterion::Safe, Some(PatternKind::Error)) => any(&candidates, |candidate| {
            let history = replay.history(candidate);
            consistent(witness.model, &candidate.state.graph)?;
            right_orders(witness, &candidate.state.graph, &history)?;
            let named = witness.pattern.as_ref().map_or(&[][..], |p| &p.events);
            match (history.last(), named) {
                (Some(last), [event]) if last.is_error && *event + 1 == history.len() => Ok(()),
                _ => Err(Invalid::new("nothing goes wrong at the last event")),
            }
        }),
        (Criterion::Safe, Some(PatternKind::Never)) => never(witness, &judge, &replay, candidates),
        (criterion, kind) => Err(Invalid::new(format!(
            "a run of {} with {} does not show that `{}` is violated",
            witness.model.name(),
            kind.map_or("a cycle".to_string(), |k| format!("the pattern {k:?}")),
            criterion.name()
        ))),
    }
}

/// The machine that judges each step, and the one that follows a run.
pub fn machines<'p>(
    program: &'p Program,
    witness: &Witness,
) -> Result<(C20Graph<'p>, C20Graph<'p>), Invalid> {
    let refused = |refused: palisade_memory::ra_accepts::Refused| Invalid::new(refused.message);
    let judge = C20Graph::new(program, witness.model).map_err(refused)?;
    let machine = C20Graph::without_judging(program, witness.model).map_err(refused)?;
    Ok((judge, machine))
}

/// Those whose graph is one of the model, with the orders that the witness names.
pub fn right_ones<'a>(
    witness: &Witness,
    replay: &Replay<'a, C20Graph<'a>>,
    mut candidates: Vec<Candidate<State>>,
) -> Result<Vec<Candidate<State>>, Invalid> {
    let mut reason = None;
    candidates.retain(|candidate| {
        let history = replay.history(candidate);
        let right = consistent(witness.model, &candidate.state.graph)
            .and_then(|()| right_orders(witness, &candidate.state.graph, &history));
        let is_right = right.is_ok();
        reason = reason.take().or(right.err());
        is_right
    });
    match candidates.is_empty() {
        true => Err(reason.unwrap_or_else(|| Invalid::new("the program cannot run like this"))),
        false => Ok(candidates),
    }
}

/// Whether the graph is one of the model.
fn consistent(model: Model, graph: &Graph) -> Result<(), Invalid> {
    match Relations::new(graph).are_consistent(graph, model) {
        true => Ok(()),
        false => Err(Invalid::new(format!(
            "the execution graph of this run is none of {}",
            model.name()
        ))),
    }
}

/// Whether the run is one of the model, with the orders that the witness says, and no block in it has read what it cannot have read.
fn judged(
    judge: &C20Graph<'_>,
    witness: &Witness,
    state: &State,
    history: &[Matched],
) -> Result<(), Invalid> {
    consistent(witness.model, &state.graph)?;
    right_orders(witness, &state.graph, history)?;
    match judge.is_real(state) {
        true => Ok(()),
        false => Err(Invalid::new(
            "the last block reads what no read-modify-write can read",
        )),
    }
}

/// The node of the graph that each event of the witness is; none for local steps. The accesses of a block are one node.
fn nodes(witness: &Witness, history: &[Matched]) -> Vec<Option<EventId>> {
    let mut counts: HashMap<usize, u32> = HashMap::new();
    let mut blocks = HashMap::new();
    let of_event = |(event, matched): (&palisade_memory::Event, &Matched)| {
        let mut new = || {
            let count = counts.entry(matched.thread).or_default();
            *count += 1;
            EventId {
                thread: matched.thread as u32,
                index: *count - 1,
            }
        };
        match (event.kind, matched.block) {
            (EventKind::Local, _) => None,
            (_, Some(block)) => Some(*blocks.entry(block).or_insert_with(new)),
            (_, None) => Some(new()),
        }
    };
    witness.events.iter().zip(history).map(of_event).collect()
}

/// Whether the orders that the witness mentions are those of the events.
fn right_orders(witness: &Witness, graph: &Graph, history: &[Matched]) -> Result<(), Invalid> {
    let nodes = nodes(witness, history);
    for (index, event) in witness.events.iter().enumerate() {
        let Some(claimed) = event.order else {
            continue;
        };
        let of_node = nodes[index].map(|id| OrderName::from(graph.event(id).order));
        // Inside a block an access may also be mentioned with its own order.
        let of_access = match event.kind {
            EventKind::Load if event.atomic => Some(OrderName::from(Order::Acquire)),
            EventKind::Store if event.atomic => Some(OrderName::from(Order::Release)),
            _ => None,
        };
        if Some(claimed) != of_node && Some(claimed) != of_access {
            return Err(Invalid::at(index, "this has another order"));
        }
    }
    Ok(())
}

/// `[a, b]`: accesses that happens-before does not order, one of them nonatomic, one of them a write.
fn race(witness: &Witness, state: &State, history: &[Matched]) -> Result<(), Invalid> {
    let graph = &state.graph;
    let relations = Relations::new(graph);
    if !relations.are_consistent(graph, witness.model) {
        return consistent(witness.model, graph);
    }
    right_orders(witness, graph, history)?;
    let nodes = nodes(witness, history);
    let named = witness.pattern.as_ref().map_or(&[][..], |p| &p.events);
    let [a, b] = named else {
        return Err(Invalid::new("the pattern must name 2 events"));
    };
    let (Some(a), Some(b)) = (nodes[*a], nodes[*b]) else {
        return Err(Invalid::new("the pattern names what is no access"));
    };
    let races = relations.races(graph);
    match races.contains(&(a, b)) || races.contains(&(b, a)) {
        true => Ok(()),
        false => Err(Invalid::new("these accesses do not race")),
    }
}

/// A `never` is true at the end.
fn never<'a>(
    witness: &Witness,
    judge: &C20Graph<'_>,
    replay: &Replay<'a, C20Graph<'a>>,
    candidates: Vec<Candidate<State>>,
) -> Result<(), Invalid> {
    let candidates = right_ones(witness, replay, candidates)?;
    let forbidden = |candidate: &Candidate<State>| {
        let state = &candidate.state;
        let memory = judge.newest(state);
        is_forbidden(judge, state, &memory) && judge.is_real(state)
    };
    let threads: Vec<usize> = (0..judge.code().instances.len()).collect();
    let ends = replay.silently_until(candidates, &threads, forbidden);
    match ends.iter().any(forbidden) {
        true => Ok(()),
        false => {
            let invalid = Invalid::new("no `never` is true at the end of the run");
            Err(replay.as_far_as_followed(invalid))
        }
    }
}

/// A cycle on which no load lies that reads a stale value which is not used up to the end of the run.
fn observed_cycle(
    program: &Program,
    witness: &Witness,
    judge: &C20Graph<'_>,
    machine: Observing<'_>,
) -> Result<(), Invalid> {
    let replay = Replay::new(&machine, program, &witness.events, false);
    let candidates = replay.follow(replay.start(), witness.events.len())?;
    let shows = |candidate: &Candidate<crate::observing::State>| {
        let history = replay.history(candidate);
        let nodes = nodes(witness, &history);
        let ends = witness.edges.iter().flat_map(|edge| [edge.from, edge.to]);
        let unused = |&event: &usize| {
            let id = nodes.get(event).copied().flatten();
            id.is_some_and(|id| candidate.state.is_unused(id))
        };
        if let Some(event) = ends.chain(witness.cycle.iter().copied()).find(unused) {
            return Err(Invalid::at(
                event,
                "the stale value that is read is not used",
            ));
        }
        judged(judge, witness, &candidate.state.inner, &history)?;
        Trace::of_messages(&witness.events, &history).check(witness)
    };
    let threads: Vec<usize> = (0..judge.code().instances.len()).collect();
    let ends = replay.silently_until(candidates, &threads, |c| shows(c).is_ok());
    any(&ends, shows).map_err(|invalid| replay.as_far_as_followed(invalid))
}
