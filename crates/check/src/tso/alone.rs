//! One thread runs while all others stand still: what `trf` and `persistent` look at in a state of the SC walk.
//!
//! Both ask for a pivot that delays a store and goes on alone to a load of another location, and for another thread that is about to write that location.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use palisade_lang::{LocationId, Order};
use palisade_memory::{Event, EventKind};
use palisade_threads::{ActionKind, LocalId, View};
use rustc_hash::FxHashSet;

use crate::run::{Run, push_tso_events, step};
use crate::sc::execute;
use crate::state::Frame;

/// How many states of one thread alone are tried before giving up: a block that never ends must not stop the walk.
const MOST_STATES: usize = 1 << 20;

/// Why there is no answer where a look at a state was given up.
pub(crate) const RUNS_ON_FOR_EVER: &str = "some thread can run on for ever without touching memory that others share, or inside an `atomic` block";

/// A step: the action and its outcome.
pub(crate) type Taken = (usize, usize);

/// The locations that a thread has written, in order, each with the number of the last value.
type Written = Vec<(LocationId, u32)>;

/// Where one thread can get while all others stand still.
pub(crate) struct Alone<'a> {
    frame: &'a Frame<'a>,
    instance: usize,
    start: &'a [u32],
    /// The state of the entry that is looked at, as the thread sees it.
    row: Vec<u32>,
    at: usize,
    seen: FxHashSet<(LocalId, Written, bool)>,
    entries: Vec<Entry>,
}

/// How far the thread has come.
struct Entry {
    local: LocalId,
    written: Written,
    /// Whether it has stored more than once.
    several: bool,
    /// The step that led here, and the entry before it.
    step: Taken,
    before: usize,
}

/// A load that the pivot is about to execute, and that overtakes its stores.
pub(crate) struct Overtaking {
    pub action: usize,
    pub transition: u32,
    pub location: LocationId,
    /// Whether it overtakes more than one store.
    pub several: bool,
}

impl<'a> Alone<'a> {
    fn new(frame: &'a Frame<'a>, start: &'a [u32], instance: usize) -> Self {
        Alone {
            frame,
            instance,
            start,
            row: start.to_vec(),
            at: 0,
            seen: FxHashSet::default(),
            entries: vec![Entry {
                local: LocalId(start[instance]),
                written: Vec::new(),
                several: false,
                step: (0, 0),
                before: 0,
            }],
        }
    }

    /// Looks at an entry; whether there is one.
    fn look_at(&mut self, at: usize, gave_up: &AtomicBool) -> bool {
        if self.entries.len() > MOST_STATES {
            gave_up.store(true, Relaxed);
            return false;
        }
        let Some(entry) = self.entries.get(at) else {
            return false;
        };
        for (location, _) in &self.entries[self.at].written {
            let component = self.frame.component(*location);
            self.row[component] = self.start[component];
        }
        for (location, value) in &entry.written {
            self.row[self.frame.component(*location)] = *value;
        }
        self.row[self.instance] = entry.local.0;
        self.at = at;
        true
    }

    /// Adds the states to which an action leads, if it can be taken and they are new.
    fn take(&mut self, view: &mut View<'_>, action: usize) {
        let entry = &self.entries[self.at];
        let (code, local) = (self.frame.codes[self.instance], entry.local);
        let kind = view.action(code, local, action).kind;
        let Ok(Some(access)) = execute(self.frame, view, &self.row, kind) else {
            return;
        };
        let (mut written, mut several) = (entry.written.clone(), entry.several);
        if let Some((location, value)) = access.written {
            several |= !written.is_empty();
            let value = view.value_id(value);
            match written.binary_search_by_key(&location, |w| w.0) {
                Ok(place) => written[place].1 = value,
                Err(place) => written.insert(place, (location, value)),
            }
        }
        let nexts = view.resume(code, local, action, access.read.unwrap_or(0));
        for (outcome, &local) in nexts.iter().enumerate() {
            if self.seen.insert((local, written.clone(), several)) {
                self.entries.push(Entry {
                    local,
                    written: written.clone(),
                    several,
                    step: (action, outcome),
                    before: self.at,
                });
            }
        }
    }

    /// The steps to the entry that is looked at.
    fn steps(&self) -> Vec<Taken> {
        let mut steps = Vec::new();
        let mut at = self.at;
        while at != 0 {
            steps.push(self.entries[at].step);
            at = self.entries[at].before;
        }
        steps.reverse();
        steps
    }

    /// The steps to a load, and the load.
    pub fn steps_to(&self, load: &Overtaking) -> Vec<Taken> {
        let mut steps = self.steps();
        steps.push((load.action, 0));
        steps
    }
}

/// Lets the pivot run on from a state (by a certain store, if one is given), and shows every load that overtakes its stores: nothing on the way waits for its
/// buffer, and there are further stores only with `past_stores`.
#[allow(clippy::too_many_arguments)]
pub(crate) fn run_pivot(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    row: &[u32],
    pivot: usize,
    store: Option<usize>,
    past_stores: bool,
    gave_up: &AtomicBool,
    mut show: impl FnMut(&mut View<'_>, &Alone<'_>, Overtaking),
) {
    let code = frame.codes[pivot];
    let mut alone = Alone::new(frame, row, pivot);
    let mut at = 0;
    if let Some(store) = store {
        alone.take(view, store);
        at = 1;
    }
    while alone.look_at(at, gave_up) {
        let local = alone.entries[at].local;
        for action in 0..view.actions(code, local) {
            let taken = view.action(code, local, action);
            match taken.kind {
                ActionKind::Load { location, .. } | ActionKind::Wait { location, .. } => {
                    let Entry {
                        written, several, ..
                    } = &alone.entries[at];
                    if !written.is_empty()
                        && !written.iter().any(|w| w.0 == location)
                        && matches!(execute(frame, view, &alone.row, taken.kind), Ok(Some(_)))
                    {
                        let load = Overtaking {
                            action,
                            transition: taken.transition,
                            location,
                            several: *several,
                        };
                        show(view, &alone, load);
                    }
                }
                ActionKind::Local => {}
                ActionKind::Fence(order) if order != Order::SeqCst => {}
                ActionKind::Store { order, .. } if past_stores && order != Order::SeqCst => {}
                _ => continue,
            }
            alone.take(view, action);
        }
        at += 1;
    }
}

/// A way on which a thread writes something now: one step, or a block to its end.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    pub instance: usize,
    pub steps: Vec<Taken>,
    pub written: Written,
    pub is_block: bool,
}

impl Writer {
    /// The number of the value that it leaves in a location that it writes.
    pub fn value_for(&self, location: LocationId) -> Option<u32> {
        let written = self.written.iter().find(|w| w.0 == location);
        written.map(|(_, value)| *value)
    }
}

/// All ways on which a thread writes something now.
pub(crate) fn writers(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    row: &[u32],
    instance: usize,
    gave_up: &AtomicBool,
) -> Vec<Writer> {
    let (code, local) = (frame.codes[instance], LocalId(row[instance]));
    let mut found: Vec<Writer> = Vec::new();
    for action in 0..view.actions(code, local) {
        match view.action(code, local, action).kind {
            kind @ (ActionKind::Store { .. } | ActionKind::Rmw { .. }) => {
                if let Ok(Some(access)) = execute(frame, view, row, kind)
                    && let Some((location, value)) = access.written
                {
                    found.push(Writer {
                        instance,
                        steps: vec![(action, 0)],
                        written: vec![(location, view.value_id(value))],
                        is_block: false,
                    });
                }
            }
            ActionKind::AtomicBegin => {
                run_block(frame, view, row, instance, action, gave_up, &mut found);
            }
            _ => {}
        }
    }
    found
}

/// Runs a block to each of its ends.
fn run_block(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    row: &[u32],
    instance: usize,
    begin: usize,
    gave_up: &AtomicBool,
    found: &mut Vec<Writer>,
) {
    let code = frame.codes[instance];
    let mut alone = Alone::new(frame, row, instance);
    alone.take(view, begin);
    let mut at = 1;
    while alone.look_at(at, gave_up) {
        let Entry { local, written, .. } = &alone.entries[at];
        let local = *local;
        if view.is_atomic(code, local) {
            for action in 0..view.actions(code, local) {
                let kind = view.action(code, local, action).kind;
                if !matches!(kind, ActionKind::Error(_)) {
                    alone.take(view, action);
                }
            }
        } else if !written.is_empty() && !found.iter().any(|w| w.is_block && w.written == *written)
        {
            found.push(Writer {
                instance,
                steps: alone.steps(),
                written: written.clone(),
                is_block: true,
            });
        }
        at += 1;
    }
}

/// A run under TSO in which a writer overtakes the pivot's stores: the events, and the places of the pivot's first one and of its load.
pub(crate) fn overtaken(
    frame: &Frame<'_>,
    view: &mut View<'_>,
    before: &Run,
    (pivot, steps): (usize, &[Taken]),
    writer: &Writer,
    names: &[String],
) -> (Vec<Event>, usize, usize) {
    let program = frame.program();
    let mut events = Vec::new();
    for step in &before.steps {
        push_tso_events(program, names, step, true, &mut events);
    }
    let first = events.len();
    // The pivot sees its own stores; the writer does not, so two runs go on from the same state.
    let run_on = |view: &mut View<'_>, instance: usize, steps: &[Taken]| {
        let mut run = Run {
            steps: Vec::new(),
            ..before.clone()
        };
        for &(action, outcome) in steps {
            step(frame, view, &mut run, instance, action, outcome);
        }
        run.steps
    };
    for step in run_on(view, pivot, steps) {
        push_tso_events(program, names, &step, false, &mut events);
    }
    let load = events.len() - 1;
    for step in run_on(view, writer.instance, &writer.steps) {
        push_tso_events(program, names, &step, true, &mut events);
    }
    for issue in first..load {
        if events[issue].kind == EventKind::Issue {
            events.push(Event {
                kind: EventKind::Flush,
                issue: Some(issue),
                ..events[issue].clone()
            });
        }
    }
    (events, first, load)
}
