//! From a path in a state space back to a run of the program.

use std::sync::Arc;

use palisade_explore::Finding;
use palisade_lang::{LocationId, Never, Order, Program, ProgramError, StateAtom};
use palisade_memory::{Addresses, Event, EventKind, Witness};
use palisade_threads::{ActionKind, LocalId, View, visit_state_atoms};
use rustc_hash::FxHashSet;

use crate::sc::{Access, StepLabel, execute};
use crate::state::Frame;

/// One step of a run under SC.
#[derive(Clone, Debug)]
pub struct RunStep {
    /// The running thread, as an index into the instances.
    pub instance: usize,
    /// The instruction, as an index into its code's transitions.
    pub transition: u32,
    /// What it was.
    pub kind: ActionKind,
    /// What it did to memory.
    pub access: Access,
    /// Whether it happened inside `atomic`.
    pub atomic: bool,
}

/// A run under SC, and the state that it leads to, in which threads stand at their own places (not sorted).
#[derive(Clone, Debug)]
pub struct Run {
    /// The steps.
    pub steps: Vec<RunStep>,
    /// The last state.
    pub row: Vec<u32>,
    /// An error of the program that the last step is.
    pub error: Option<ProgramError>,
}

/// Replays a path of an SC search. Interchangeable threads were sorted in every state: here each gets its identity back.
pub fn replay(frame: &Frame<'_>, view: &mut View<'_>, finding: &Finding) -> Run {
    let mut run = Run {
        steps: Vec::new(),
        row: finding.path.get(0).map_or(Vec::new(), |s| s.row.to_vec()),
        error: None,
    };
    // Which running thread stands in which component of the sorted row.
    let mut instance_at: Vec<usize> = (0..frame.thread_count()).collect();
    for (before, after) in finding.path.iter().zip(finding.path.iter().skip(1)) {
        take(
            frame,
            view,
            before.row,
            after.label,
            &mut instance_at,
            &mut run,
        );
    }
    if let (Some(last), Some(label)) = (finding.path.last(), finding.step) {
        take(frame, view, last.row, label, &mut instance_at, &mut run);
    }
    run
}

/// Takes one step of a path.
pub(crate) fn take(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    sorted: &[u32],
    label: u64,
    instance_at: &mut [usize],
    run: &mut Run,
) {
    let label = StepLabel::decode(label);
    let instance = instance_at[label.component];
    step(frame, view, run, instance, label.action, label.outcome);
    let mut row = sorted.to_vec();
    row[label.component] = run.row[instance];
    for group in &frame.groups {
        let range = group[0]..group[0] + group.len();
        let mut members: Vec<(u32, usize)> =
            range.clone().map(|c| (row[c], instance_at[c])).collect();
        // Of several in the same state, the first thread comes first, whatever way led there.
        members.sort_unstable();
        for (component, member) in range.zip(members) {
            instance_at[component] = member.1;
        }
    }
}

/// Lets a thread of a run take a step.
pub fn step(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    run: &mut Run,
    instance: usize,
    action: usize,
    outcome: usize,
) {
    let (code, local) = (frame.codes[instance], LocalId(run.row[instance]));
    let taken = view.action(code, local, action);
    let atomic = view.is_atomic(code, local);
    let access = match execute(frame, view, &run.row, taken.kind) {
        Ok(access) => access.unwrap_or(Access {
            read: None,
            written: None,
        }),
        Err(error) => {
            run.error = Some(error);
            return;
        }
    };
    if let ActionKind::Error(error) = taken.kind {
        run.error = Some(error);
    }
    let next = view
        .resume(code, local, action, access.read.unwrap_or(0))
        .get(outcome)
        .copied();
    if let Some(next) = next {
        run.row[instance] = next.0;
    }
    if let Some((location, value)) = access.written {
        run.row[frame.component(location)] = view.value_id(value);
    }
    run.steps.push(RunStep {
        instance,
        transition: taken.transition,
        kind: taken.kind,
        access,
        atomic,
    });
}

/// For each running thread, the name (as an index) that it must get so that a `never` about certain copies is true in a state. The search
/// has shown that it is true for some choice among interchangeable copies.
pub fn name_copies(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    row: &[u32],
    never: &Never,
    deadlock: bool,
) -> Vec<usize> {
    let instances = frame.threads.instances();
    let mut mentioned: Vec<usize> = Vec::new();
    visit_state_atoms(&never.conditions, &mut |atom| {
        if let StateAtom::At(copy, _) | StateAtom::Register(copy, _) = atom {
            let named = instances
                .iter()
                .position(|i| i.thread == copy.thread && Some(i.copy) == copy.copy);
            if let Some(named) = named
                && frame.group_of[named].is_some()
                && !mentioned.contains(&named)
            {
                mentioned.push(named);
            }
        }
    });
    let mut players: Vec<usize> = (0..instances.len()).collect();
    choose_names(
        frame,
        view,
        row,
        never,
        deadlock,
        &mentioned,
        0,
        &mut players,
    );
    let mut new_names = vec![0; players.len()];
    for (name, &instance_at) in players.iter().enumerate() {
        new_names[instance_at] = name;
    }
    new_names
}

/// Tries, for each mentioned thread from number `at` on, every member of its group that no earlier one has taken.
#[allow(clippy::too_many_arguments)]
fn choose_names(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    row: &[u32],
    never: &Never,
    deadlock: bool,
    mentioned: &[usize],
    at: usize,
    names: &mut Vec<usize>,
) -> bool {
    let Some(&first) = mentioned.get(at) else {
        let mut renamed = row.to_vec();
        for (name, &instance_at) in names.iter().enumerate() {
            renamed[name] = row[instance_at];
        }
        return frame.is_true(view, &renamed, never, deadlock);
    };
    let Some(group) = frame.group_of[first] else {
        return false;
    };
    for &other in &frame.groups[group] {
        if mentioned[..at].contains(&other) {
            continue;
        }
        names.swap(first, other);
        if choose_names(frame, view, row, never, deadlock, mentioned, at + 1, names) {
            return true;
        }
        names.swap(first, other);
    }
    false
}

/// The steps of a run under SC as events. Local steps are left out unless they are an error or the border of a block, and so are fences that are
/// weaker than `seqcst`.
pub fn events(program: &Program, run: &Run, names: &[String]) -> Vec<Event> {
    events_with(program, run, names, false)
}

/// The same with all fences: under C++20 they are events, whatever their order is.
pub fn events_with_all_fences(program: &Program, run: &Run, names: &[String]) -> Vec<Event> {
    events_with(program, run, names, true)
}

fn events_with(program: &Program, run: &Run, names: &[String], weak_fences: bool) -> Vec<Event> {
    let mut events = Vec::new();
    let last = run.steps.len().wrapping_sub(1);
    for (index, step) in run.steps.iter().enumerate() {
        let kind = match step.kind {
            ActionKind::Fence(order) if order != Order::SeqCst && !weak_fences => continue,
            ActionKind::Local => continue,
            ActionKind::Error(_) if index != last => continue,
            ActionKind::Error(_) | ActionKind::AtomicBegin | ActionKind::AtomicEnd => {
                EventKind::Local
            }
            ActionKind::Load { .. } | ActionKind::Wait { .. } => EventKind::Load,
            ActionKind::Store { .. } => EventKind::Store,
            ActionKind::Rmw { .. } if step.access.written.is_none() => EventKind::Load,
            ActionKind::Rmw { .. } => EventKind::Rmw,
            ActionKind::Fence(_) => EventKind::Fence,
        };
        let mut event = event_at(
            program,
            step.instance,
            step.transition,
            kind,
            step.kind.location(),
            names,
        );
        event.value = step
            .access
            .written
            .map(|(_, value)| value)
            .or(step.access.read);
        event.read = step.access.read.filter(|_| kind == EventKind::Rmw);
        event.atomic = step.atomic;
        events.push(event);
    }
    events
}

/// An event of a running thread, at the place of its instruction.
pub fn event_at(
    program: &Program,
    instance: usize,
    transition: u32,
    kind: EventKind,
    location: Option<LocationId>,
    names: &[String],
) -> Event {
    let code = program.instances()[instance].thread;
    let span = program.thread(code).transitions[transition as usize].span;
    let place = program.source.line_column(span.start);
    Event {
        thread: names[instance].clone(),
        kind,
        location: location.map(|l| program.location(l).name.clone()),
        value: None,
        read: None,
        file: program.source.included_at(span.start).map(str::to_owned),
        line: place.line,
        column: place.column,
        issue: None,
        order: None,
        rf: None,
        after: None,
        atomic: false,
        addresses: Default::default(),
    }
}

/// Lets values that are addresses be shown as what they point at.
pub(crate) fn name_addresses(program: &Program, witnesses: &mut [Witness]) {
    if witnesses.is_empty() {
        return;
    }
    let holding = palisade_lang::pointers::holding_addresses(program);
    let holding: FxHashSet<&str> = holding
        .into_iter()
        .map(|location| program.location(location).name.as_str())
        .collect();
    if holding.is_empty() {
        return;
    }
    let locations = program.locations.iter();
    let names = Arc::new(locations.map(|l| (l.address, l.name.clone())).collect());
    for event in witnesses.iter_mut().flat_map(|w| &mut w.events) {
        let location = event.location.as_deref();
        if location.is_some_and(|location| holding.contains(location)) {
            event.addresses = Addresses(Some(Arc::clone(&names)));
        }
    }
}

/// A step of an SC run as TSO executes it: a plain store is issued and, if `flush`, flushed at once.
pub(crate) fn push_tso_events(
    program: &Program,
    names: &[String],
    step: &RunStep,
    flush: bool,
    events: &mut Vec<Event>,
) {
    let run = Run {
        steps: vec![step.clone()],
        row: Vec::new(),
        error: None,
    };
    let Some(mut event) = self::events(program, &run, names).pop() else {
        return;
    };
    if event.kind != EventKind::Store || step.atomic {
        // An error is a story of its own, told elsewhere.
        if !matches!(step.kind, ActionKind::Error(_)) {
            events.push(event);
        }
        return;
    }
    event.kind = EventKind::Issue;
    let issue = events.len();
    events.push(event.clone());
    if flush {
        event.kind = EventKind::Flush;
        event.issue = Some(issue);
        events.push(event);
    }
}
