//! The search for TSO witnesses of attacks (Fig. 4 of the paper), on the fly. What is searched and why it is enough: see the module above.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use palisade_explore::{Names, Numbers, Space, Successors};
use palisade_lang::{LocationId, Order, Program};
use palisade_threads::{ActionKind, Flags, Footprint, LocalId, OtherStep, Standing, Step, View};

use super::guide::Guide;
use super::overtake::overtaking_loads;
use crate::checkpoint::{Kept, keep_flags, recall_flags};
use crate::names::RowNames;
use crate::sc::{StepLabel, patch_group, persistent_set};
use crate::state::{Frame, Standings};
use crate::symmetry::{Part, Symmetry};

/// What part of `τ1 · isu(st_A) · τ2 · ld_A · τ3` a row belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// `τ1`: a run under SC; nothing has been delayed.
    Prefix,
    /// `τ2`, and the attacker runs alone until its next load from memory.
    Alone,
    /// `τ2`, after a load of the attacker: helpers may go on, and so may the attacker.
    Overtaking,
    /// `τ3`: the attacker has stopped behind `ld_A`.
    Chain,
}

impl Phase {
    /// The phase with this number in a row.
    pub(crate) fn of(number: u32) -> Phase {
        match number {
            0 => Phase::Prefix,
            1 => Phase::Alone,
            2 => Phase::Overtaking,
            _ => Phase::Chain,
        }
    }
}

/// What a thread does in an attack: its number in a row.
pub(crate) mod role {
    /// It has taken no step that happens after a load of the attacker (the original code, `H0` and `H1` of Fig. 7).
    pub const ORIGINAL: u32 = 0;
    /// It has (the helper's copy of the code, `H2`).
    pub const JOINED: u32 = 1;
    /// It is inside a block of which no access happens after a load of the attacker, so far.
    pub const PENDING: u32 = 2;
    /// It is the attacker.
    pub const ATTACKER: u32 = 3;
}

/// Which accesses to a location happen after a load of the attacker (or are that load).
pub(crate) mod level {
    /// None.
    pub const NONE: u32 = 0;
    /// Loads.
    pub const LOAD: u32 = 1;
    /// A store.
    pub const STORE: u32 = 2;
    /// Loads by the block that a thread is inside of, if that block joins.
    pub const PENDING_LOAD: u32 = 3;
    /// A store by that block.
    pub const PENDING_STORE: u32 = 4;
}

/// Where what stands in a row, behind the threads and the memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// For each running thread its role.
    pub roles: usize,
    /// For each location what the attacker has buffered: 0, or one more than the number of the value.
    pub buffer: usize,
    /// For each location its access level.
    pub levels: usize,
    /// One more than the location of `st_A`; 0 where no thread attacks.
    pub target: usize,
    /// The phase.
    pub phase: usize,
    /// Where all attacks are wanted: one more than the store's instruction, counted over all codes; and the same for the load.
    pub store: usize,
    /// See `store`.
    pub load: usize,
    /// What the guide remembers of the attacker's way, if there is one.
    pub history: usize,
    /// The number of components.
    pub width: usize,
}

impl Layout {
    pub fn new(frame: &Frame<'_>) -> Self {
        let threads = frame.thread_count();
        let locations = frame.program().locations.len();
        let roles = frame.width();
        let buffer = roles + threads;
        let levels = buffer + locations;
        let target = levels + locations;
        Layout {
            roles,
            buffer,
            levels,
            target,
            phase: target + 1,
            store: target + 2,
            load: target + 3,
            history: target + 4,
            width: target + 5,
        }
    }
}

/// The states of a program under SC, and behind each of them all attacks.
pub(crate) struct AttackSpace<'f, 'p> {
    pub frame: &'f Frame<'p>,
    pub layout: Layout,
    /// For each code and point, what may be loaded before the buffer has to be empty.
    overtaking: Vec<Vec<u64>>,
    /// For each code, how many instructions the codes before it have.
    first_instruction: Vec<u32>,
    /// For each running thread and instruction, whether an attack may begin with this store.
    may_begin: Vec<Vec<bool>>,
    /// There is an `atomic` block.
    has_blocks: bool,
    /// Explore independent accesses of `τ1` in one order only.
    partial_order: bool,
    /// Give up attacks whose cycle cannot be closed by what threads may still access.
    look_ahead: bool,
    /// Tell attacks apart, to find each.
    all: bool,
    /// Which ways from `st_A` to `ld_A` are wanted; all of them without it.
    pub guide: Option<&'f Guide>,
    /// Whether an error of the program was seen in `τ1`.
    pub error_seen: AtomicBool,
}

/// What a searching thread carries along.
pub(crate) struct Worker<'t> {
    view: View<'t>,
    row: Vec<u32>,
    changes: Vec<(usize, u32)>,
    standings: Standings,
}

/// The labels of a thread's steps, but for the number of the action and of the outcome.
fn labels_of(component: usize, standing: &Standing) -> u64 {
    let first = StepLabel {
        component,
        action: 0,
        outcome: 0,
    };
    first.encode(standing.point().map_or(0, |p| p.0))
}

impl<'f, 'p> AttackSpace<'f, 'p> {
    pub fn new(
        frame: &'f Frame<'p>,
        partial_order: bool,
        look_ahead: bool,
        all: bool,
        may_begin: Vec<Vec<bool>>,
    ) -> Self {
        let threads = &frame.program().threads;
        let mut instructions = 0;
        // What one of several interchangeable copies may do, each may after an exchange.
        let mut may_begin = may_begin;
        for group in frame.named.iter().flat_map(|named| &named.groups) {
            let mut all = may_begin[group.instances[0]].clone();
            for &instance in &group.instances {
                (all.iter_mut().zip(&may_begin[instance])).for_each(|(all, may)| *all |= may);
            }
            for &instance in &group.instances {
                may_begin[instance].clone_from(&all);
            }
        }
        AttackSpace {
            frame,
            layout: Layout::new(frame),
            overtaking: threads
                .iter()
                .map(|thread| match look_ahead {
                    true => overtaking_loads(thread),
                    false => vec![u64::MAX; thread.points.len()],
                })
                .collect(),
            first_instruction: threads
                .iter()
                .map(|thread| {
                    let first = instructions;
                    instructions += thread.transitions.len() as u32;
                    first
                })
                .collect(),
            may_begin,
            has_blocks: threads
                .iter()
                .any(|thread| thread.points.iter().any(|point| point.atomic)),
            partial_order,
            look_ahead,
            all,
            guide: None,
            error_seen: AtomicBool::new(false),
        }
    }

    /// The thread that is inside `atomic`.
    fn inside(&self, view: &mut View<'_>, row: &[u32]) -> Option<usize> {
        if !self.has_blocks {
            return None;
        }
        (0..self.frame.thread_count()).find(|&i| {
            row[self.layout.roles + i] != role::ATTACKER
                && view.is_atomic(self.frame.codes[i], LocalId(row[i]))
        })
    }

    fn attacker(&self, row: &[u32]) -> Option<usize> {
        (0..self.frame.thread_count()).find(|&i| row[self.layout.roles + i] == role::ATTACKER)
    }

    /// What the attacker may still load before a fence, if it stands here.
    fn may_overtake(&self, view: &mut View<'_>, code: usize, local: LocalId) -> u64 {
        view.point(code, local)
            .map_or(0, |point| self.overtaking[code][point.index()])
    }

    /// Puts interchangeable threads into order, by their roles and local states.
    fn sort_group_of(&self, row: &mut [u32], instance: usize) {
        let Some(group) = self.frame.group_of[instance] else {
            return;
        };
        let group = &self.frame.groups[group];
        let (first, end) = (group[0], group[0] + group.len());
        let roles = self.layout.roles;
        // Insertion: at most a few members are out of place.
        for at in first + 1..end {
            let mut to = at;
            while to > first && (row[roles + to], row[to]) < (row[roles + to - 1], row[to - 1]) {
                row.swap(to, to - 1);
                row.swap(roles + to, roles + to - 1);
                to -= 1;
            }
        }
    }

    /// Whether an interchangeable thread before this one stands exactly like it.
    fn has_twin(&self, row: &[u32], instance: usize) -> bool {
        self.frame.group_of[instance].is_some_and(|group| {
            instance > self.frame.groups[group][0]
                && row[instance] == row[instance - 1]
                && row[self.layout.roles + instance] == row[self.layout.roles + instance - 1]
        })
    }

    /// The bit of the location of `st_A`.
    fn target_bit(&self, row: &[u32]) -> u64 {
        Footprint::bit(LocationId(row[self.layout.target].wrapping_sub(1)))
    }

    /// Whether helpers could still make a path from an access in `loaded` (or from what the row says has been accessed) to the location
    /// of `st_A`, as far as can be told from what each may access from now on.
    fn can_close(&self, view: &mut View<'_>, row: &[u32], loaded: u64, target: u64) -> bool {
        if !self.look_ahead {
            return true;
        }
        let mut on_path = Footprint {
            reads: loaded,
            writes: 0,
        };
        for (location, &level) in row[self.layout.levels..self.layout.target]
            .iter()
            .enumerate()
        {
            let bit = Footprint::bit(LocationId(location as u32));
            match level {
                level::LOAD | level::PENDING_LOAD => on_path.reads |= bit,
                level::STORE | level::PENDING_STORE => on_path.writes |= bit,
                _ => {}
            }
        }
        if row[self.layout.phase] == Phase::Chain as u32
            && (on_path.reads | on_path.writes) & target != 0
        {
            return true;
        }
        let count = self.frame.thread_count();
        // With more threads than bits, those beyond count again and again, which changes nothing.
        let mut joined = 0u64;
        loop {
            let mut changed = false;
            for helper in 0..count {
                let role = row[self.layout.roles + helper];
                let bit = if helper < 64 { 1 << helper } else { 0 };
                if joined & bit != 0 || role == role::ATTACKER {
                    continue;
                }
                let future = view.future_footprint(self.frame.codes[helper], LocalId(row[helper]));
                if role != role::ORIGINAL || future.conflicts(on_path) {
                    joined |= bit;
                    let before = on_path;
                    on_path = on_path.union(future);
                    changed |= on_path != before;
                    if (future.reads | future.writes) & target != 0 {
                        return true;
                    }
                }
            }
            if !changed {
                return false;
            }
        }
    }

    /// `τ1`, and the beginnings of attacks.
    fn expand_prefix(&self, worker: &mut Worker<'f>, row: &[u32], out: &mut Successors<'_>) {
        let frame = self.frame;
        let Worker {
            view,
            row: to,
            changes,
            standings,
        } = worker;
        frame.standings(view, row, standings);
        let inside = match standings.one.has(Flags::ATOMIC) {
            true => standings.each.iter().position(|standing| standing.atomic()),
            false => None,
        };
        let set = match inside {
            Some(_) => 0,
            None if self.partial_order => {
                persistent_set(frame, view, row, standings, |view, instance| {
                    !self.may_attack_now(view, row, instance)
                })
            }
            None => u64::MAX,
        };
        for (instance, standing) in standings.each.iter().enumerate() {
            let chosen = match inside {
                Some(only) => only == instance,
                None => set >> (instance % 64) & 1 == 1,
            };
            if !chosen || self.has_twin(row, instance) {
                continue;
            }
            let (code, local) = (frame.codes[instance], LocalId(row[instance]));
            let labels = labels_of(instance, standing);
            let group = frame.group_of[instance].map(|group| &frame.groups[group][..]);
            let group = group.unwrap_or(std::slice::from_ref(&instance));
            for action in 0..standing.actions as usize {
                let read = |location| row[frame.component(location)];
                let step = view.step_from(code, local, standing, action, read);
                if standing.may_err() {
                    self.note_error(view, code, standing, action, step);
                }
                let Some((written, outcomes)) = view.effect_of(code, step) else {
                    continue;
                };
                for outcome in 0..outcomes {
                    let next = view.outcome_of(code, step, outcome);
                    let label = labels | StepLabel::of_action(action) | outcome as u64;
                    changes.clear();
                    changes.extend(written.map(|w| (frame.component(w.location), w.value)));
                    patch_group(row, group, instance, next.0, changes, label, out);
                    if written.is_none() || inside.is_some() {
                        continue;
                    }
                    let taken = view.action_from(code, standing, action);
                    let ActionKind::Store {
                        location, order, ..
                    } = taken.kind
                    else {
                        continue;
                    };
                    if order == Order::SeqCst
                        || !self.may_begin[instance][taken.transition as usize]
                        || !self.may_pass(view, code, next)
                    {
                        continue;
                    }
                    let loads = self.may_overtake(view, code, next);
                    to.clear();
                    to.extend_from_slice(row);
                    to[instance] = next.0;
                    to[self.layout.roles + instance] = role::ATTACKER;
                    let target = Footprint::bit(location);
                    if loads == 0 || !self.can_close(view, to, loads, target) {
                        continue;
                    }
                    let value = written.map_or(0, |written| written.value);
                    to[self.layout.buffer + location.index()] = value + 1;
                    to[self.layout.target] = location.0 + 1;
                    to[self.layout.phase] = Phase::Alone as u32;
                    if let Some(guide) = self.guide {
                        to[self.layout.history] = guide.begin(code, taken.transition);
                    }
                    if self.all {
                        to[self.layout.store] = self.first_instruction[code] + taken.transition + 1;
                    }
                    self.sort_group_of(to, instance);
                    out.push(label, to);
                }
            }
        }
    }

    /// Notes an action that is an error, or becomes one with what it reads.
    #[cold]
    fn note_error(
        &self,
        view: &View<'_>,
        code: usize,
        standing: &Standing,
        action: usize,
        step: Step,
    ) {
        let errs = match step {
            Step::Other(number) => view.other_step(code, number) == OtherStep::Errs,
            _ => false,
        };
        let taken = view.action_from(code, standing, action);
        if errs || matches!(taken.kind, ActionKind::Error(_)) {
            self.error_seen.store(true, Relaxed);
        }
    }

    /// Whether the guide lets an attacker stand here.
    fn may_pass(&self, view: &mut View<'_>, code: usize, local: LocalId) -> bool {
        self.guide.is_none_or(|guide| {
            view.point(code, local)
                .is_none_or(|point| guide.may_pass(code, point))
        })
    }

    /// Whether an attack by this thread may begin with its next step, and others may take part.
    fn may_attack_now(&self, view: &mut View<'_>, row: &[u32], instance: usize) -> bool {
        let frame = self.frame;
        let (code, local) = (frame.codes[instance], LocalId(row[instance]));
        let mut stores = 0;
        for action in 0..view.actions(code, local) {
            let taken = view.action(code, local, action);
            if let ActionKind::Store {
                location, order, ..
            } = taken.kind
                && order != Order::SeqCst
                && self.may_begin[instance][taken.transition as usize]
            {
                let to = frame.program().threads[code].transitions[taken.transition as usize].to;
                if self.overtaking[code][to.index()] != 0 {
                    stores |= Footprint::bit(location);
                }
            }
        }
        stores != 0
            && (0..frame.thread_count()).any(|other| {
                let future = view.future_footprint(frame.codes[other], LocalId(row[other]));
                other != instance && (future.reads | future.writes) & stores != 0
            })
    }

    /// The attacker's steps in `τ2`, and `ld_A`.
    fn expand_attacker(
        &self,
        worker: &mut Worker<'f>,
        row: &[u32],
        attacker: usize,
        out: &mut Successors<'_>,
    ) {
        let frame = self.frame;
        let layout = &self.layout;
        let view = &mut worker.view;
        let (code, local) = (frame.codes[attacker], LocalId(row[attacker]));
        let standing = view.standing(code, local);
        let labels = labels_of(attacker, &standing);
        for action in 0..standing.actions as usize {
            let taken = view.action_from(code, &standing, action);
            let mut read = 0;
            let mut from_memory = None;
            let mut buffered = None;
            match taken.kind {
                ActionKind::Load { location, .. } | ActionKind::Wait { location, .. } => {
                    read = match row[layout.buffer + location.index()] {
                        0 => {
                            from_memory = Some(location);
                            view.value(row[frame.component(location)])
                        }
                        value => view.value(value - 1),
                    };
                    if let ActionKind::Wait {
                        relation, value, ..
                    } = taken.kind
                        && !relation.holds(read, value)
                    {
                        continue;
                    }
                }
                ActionKind::Store {
                    location,
                    value,
                    order,
                } if order != Order::SeqCst => {
                    buffered = Some((location, view.value_id(value) + 1));
                }
                ActionKind::Fence(order) if order != Order::SeqCst => {}
                ActionKind::Local => {}
                // These wait for the empty buffer, so no load behind them can be `ld_A`.
                ActionKind::Store { .. }
                | ActionKind::Fence(_)
                | ActionKind::Rmw { .. }
                | ActionKind::AtomicBegin
                | ActionKind::AtomicEnd
                | ActionKind::Error(_) => continue,
            }
            let label = labels | StepLabel::of_action(action);
            let mut history = row[layout.history];
            let mut may_end = true;
            if let Some(guide) = self.guide
                && taken.kind.location().is_some()
            {
                history = guide.go_on(history, code, taken.transition, buffered.is_some());
                may_end = guide.may_end(history);
            }
            if let Some(location) = from_memory
                && may_end
            {
                self.begin_chain(view, &mut worker.row, row, attacker, location);
                if self.all {
                    worker.row[layout.load] = self.first_instruction[code] + taken.transition + 1;
                }
                let target = self.target_bit(row);
                if self.can_close(view, &worker.row, 0, target) {
                    self.sort_group_of(&mut worker.row, attacker);
                    self.push_helped(view, label, &worker.row, out);
                }
            }
            let outcomes = view.resume_from(code, local, &standing, action, read).len();
            for outcome in 0..outcomes {
                let next = view.resume_from(code, local, &standing, action, read)[outcome];
                let loads = self.may_overtake(view, code, next);
                if loads == 0 || !self.may_pass(view, code, next) {
                    continue;
                }
                worker.row.clear();
                worker.row.extend_from_slice(row);
                worker.row[attacker] = next.0;
                worker.row[layout.history] = history;
                worker.row[layout.phase] = Phase::Alone as u32;
                if let Some((location, value)) = buffered {
                    worker.row[layout.buffer + location.index()] = value;
                }
                if let Some(location) = from_memory {
                    worker.row[layout.phase] = Phase::Overtaking as u32;
                    let level = &mut worker.row[layout.levels + location.index()];
                    *level = (*level).max(level::LOAD);
                }
                let target = self.target_bit(row);
                if self.can_close(view, &worker.row, loads, target) {
                    self.sort_group_of(&mut worker.row, attacker);
                    out.push(label | outcome as u64, &worker.row);
                }
            }
        }
    }

    /// The state behind `ld_A`: the attacker stops; all that matters of it is the location of `st_A` and that of `ld_A`.
    fn begin_chain(
        &self,
        _view: &mut View<'_>,
        to: &mut Vec<u32>,
        row: &[u32],
        attacker: usize,
        loaded: LocationId,
    ) {
        let layout = &self.layout;
        to.clear();
        to.extend_from_slice(row);
        to[layout.roles..layout.target].fill(0);
        to[layout.roles + attacker] = role::ATTACKER;
        to[attacker] = 0;
        to[layout.levels + loaded.index()] = level::LOAD;
        to[layout.phase] = Phase::Chain as u32;
        to[layout.history] = 0;
        // With roles gone, all groups may be out of order.
        for group in &self.frame.groups {
            self.sort_group_of(to, group[0]);
        }
    }

    /// The helpers' steps that happen after a load of the attacker (Fig. 7).
    fn expand_helpers(
        &self,
        worker: &mut Worker<'f>,
        row: &[u32],
        inside: Option<usize>,
        out: &mut Successors<'_>,
    ) {
        let frame = self.frame;
        let layout = &self.layout;
        let target = self.target_bit(row);
        for helper in 0..frame.thread_count() {
            let role = row[layout.roles + helper];
            if role == role::ATTACKER
                || inside.is_some_and(|only| only != helper)
                || self.has_twin(row, helper)
            {
                continue;
            }
            let view = &mut worker.view;
            let (code, local) = (frame.codes[helper], LocalId(row[helper]));
            let standing = view.standing(code, local);
            let labels = labels_of(helper, &standing);
            for action in 0..standing.actions as usize {
                let taken = view.action_from(code, &standing, action);
                let mut new_role = role;
                match taken.kind {
                    ActionKind::Error(_) => continue,
                    // What touches no memory is done before `ld_A` unless it comes after something that is not.
                    ActionKind::Local | ActionKind::Fence(_) if role == role::ORIGINAL => continue,
                    ActionKind::AtomicBegin if role == role::ORIGINAL => new_role = role::PENDING,
                    // The block has nothing to do with the attack.
                    ActionKind::AtomicEnd if role == role::PENDING => continue,
                    _ => {}
                }
                let read = |location| row[frame.component(location)];
                let step = view.step_from(code, local, &standing, action, read);
                let Some((written, outcomes)) = view.effect_of(code, step) else {
                    continue;
                };
                let mut new_level = None;
                if let Some(location) = taken.kind.location() {
                    let level = row[layout.levels + location.index()];
                    let writes = written.is_some();
                    // Lemma 3, (ii) and (iii).
                    let happens_after = level == level::STORE || (writes && level == level::LOAD);
                    let joined = match (writes, level) {
                        (true, _) => level::STORE,
                        (false, level::NONE) => level::LOAD,
                        (false, level) => level,
                    };
                    new_level = Some(match role {
                        role::JOINED => joined,
                        _ if happens_after => {
                            new_role = role::JOINED;
                            joined
                        }
                        role::PENDING => match (writes, level) {
                            (true, _) => level::PENDING_STORE,
                            (false, level::NONE) => level::PENDING_LOAD,
                            (false, level) => level,
                        },
                        _ => continue,
                    });
                }
                for outcome in 0..outcomes {
                    let next = view.outcome_of(code, step, outcome);
                    let to = &mut worker.row;
                    to.clear();
                    to.extend_from_slice(row);
                    to[helper] = next.0;
                    to[layout.roles + helper] = new_role;
                    if let Some(written) = written {
                        to[frame.component(written.location)] = written.value;
                    }
                    if let (Some(level), Some(location)) = (new_level, taken.kind.location()) {
                        to[layout.levels + location.index()] = level;
                    }
                    if role == role::PENDING && new_role == role::JOINED {
                        for level in &mut to[layout.levels..layout.target] {
                            match *level {
                                level::PENDING_LOAD => *level = level::LOAD,
                                level::PENDING_STORE => *level = level::STORE,
                                _ => {}
                            }
                        }
                    }
                    let loads = match self.attacker(to) {
                        Some(attacker) if to[layout.phase] != Phase::Chain as u32 => {
                            self.may_overtake(view, frame.codes[attacker], LocalId(to[attacker]))
                        }
                        _ => 0,
                    };
                    if self.can_close(view, &worker.row, loads, target) {
                        self.sort_group_of(&mut worker.row, helper);
                        let label = labels | StepLabel::of_action(action) | outcome as u64;
                        self.push_helped(view, label, &worker.row, out);
                    }
                }
            }
        }
    }

    /// Pushes a row behind `ld_A`, or one to which a helper's step leads.
    fn push_helped(&self, view: &mut View<'_>, label: u64, row: &[u32], out: &mut Successors<'_>) {
        match self.succeeds(view, row) {
            true => out.push_found(label, row, self.kind(row)),
            false => out.push(label, row),
        }
    }

    /// Whether at most one thread stands elsewhere in `to`, as far as this is seen at a glance.
    fn one_thread_moves(&self, from: &[u32], to: &[u32]) -> bool {
        let roles = self.layout.roles;
        let chain_begins = from[self.layout.phase] != to[self.layout.phase]
            && to[self.layout.phase] == Phase::Chain as u32;
        let mut moved = 0;
        let mut at = 0;
        while at < self.frame.thread_count() {
            let Some(group) = self.frame.group_of[at] else {
                moved += u32::from(from[at] != to[at]);
                at += 1;
                continue;
            };
            let end = at + self.frame.groups[group].len();
            // Where roles begin anew, interchangeable threads are in another order.
            if !chain_begins {
                // Both are sorted: how many of those before are not there after.
                let standing = |row: &[u32], i: usize| (row[roles + i], row[i]);
                let mut after = at;
                for before in at..end {
                    let one = standing(from, before);
                    while after < end && standing(to, after) < one {
                        after += 1;
                    }
                    match after < end && standing(to, after) == one {
                        true => after += 1,
                        false => moved += 1,
                    }
                }
            }
            at = end;
        }
        moved <= 1
    }

    /// Whether `τ3` is complete.
    fn succeeds(&self, view: &mut View<'_>, row: &[u32]) -> bool {
        row[self.layout.phase] == Phase::Chain as u32
            && self.is_closed(row)
            && self.inside(view, row).is_none()
    }

    /// Whether the path has come to the location of `st_A`.
    fn is_closed(&self, row: &[u32]) -> bool {
        let target = row[self.layout.target].wrapping_sub(1) as usize;
        matches!(row[self.layout.levels + target], level::LOAD | level::STORE)
    }

    /// Whether an attack has succeeded in a row in which no thread is inside `atomic`. Before `ld_A` that means that the attack with an earlier
    /// load is feasible.
    pub(crate) fn has_succeeded(&self, row: &[u32]) -> bool {
        let phase = Phase::of(row[self.layout.phase]);
        matches!(phase, Phase::Overtaking | Phase::Chain) && self.is_closed(row)
    }

    /// The kind of finding that a closed row is.
    fn kind(&self, row: &[u32]) -> u64 {
        let attacker = self.attacker(row).unwrap_or(0);
        // Interchangeable threads are all the same attacker.
        let attacker =
            self.frame.group_of[attacker].map_or(attacker, |group| self.frame.groups[group][0]);
        match self.all {
            false => 0,
            true => {
                (attacker as u64) << 48
                    | u64::from(row[self.layout.store]) << 24
                    | u64::from(row[self.layout.load])
            }
        }
    }
}

impl Kept for AttackSpace<'_, '_> {
    fn program(&self) -> &Program {
        self.frame.program()
    }

    fn keep(&self, out: &mut Vec<i64>) {
        keep_flags(&[&self.error_seen], out);
        self.frame.threads.keep_numbers(out);
    }

    fn recall(&self, numbers: &mut dyn Iterator<Item = i64>) -> Option<()> {
        recall_flags(&[&self.error_seen], numbers)?;
        self.frame.threads.recall_numbers(numbers)
    }

    fn symmetry(&self) -> Option<Symmetry<'_, '_>> {
        // A guide knows ways by their instructions, which are the same for all copies.
        let parts = [
            Part::OfEachThread,
            Part::ValueOfEachLocation,
            Part::OfEachLocation,
            Part::Location,
            Part::Plain(self.layout.width - self.layout.phase),
        ];
        Symmetry::new(self.frame, &parts)
    }
}

impl<'f> Space for AttackSpace<'f, '_> {
    type Worker = Worker<'f>;

    fn worker(&self) -> Worker<'f> {
        Worker {
            view: self.frame.threads.view(),
            row: Vec::new(),
            changes: Vec::new(),
            standings: Standings::default(),
        }
    }

    fn width(&self) -> usize {
        self.layout.width
    }

    fn bounds(&self) -> Option<Vec<u32>> {
        let frame = self.frame;
        let locations = frame.program().locations.len();
        let mut bounds = frame.bounds();
        bounds.resize(self.layout.buffer, role::ATTACKER + 1);
        bounds.resize(self.layout.levels, frame.threads.value_count() + 1);
        bounds.resize(self.layout.target, level::PENDING_STORE + 1);
        let instructions: usize = frame
            .program()
            .threads
            .iter()
            .map(|t| t.transitions.len())
            .sum();
        let instructions = instructions as u32 + 1;
        let history = self.guide.map_or(1, |guide| guide.histories());
        bounds.extend([locations as u32 + 1, 4, instructions, instructions, history]);
        Some(bounds)
    }

    fn names(&self) -> Option<Box<dyn Names + '_>> {
        let locations = self.frame.program().locations.len();
        let value = Numbers::OneMoreThan(RowNames::values(self.frame));
        let names = RowNames::new(self.frame, vec![&self.error_seen])
            .then_for_each_thread(Numbers::Plain)
            .then(locations, value)
            .then(self.layout.width - self.layout.levels, Numbers::Plain)
            .arranged_by(|row| {
                for group in &self.frame.groups {
                    self.sort_group_of(row, group[0]);
                }
            });
        Some(Box::new(names))
    }

    fn initial(&self, worker: &mut Worker<'f>, out: &mut Successors<'_>) {
        for mut row in self.frame.initial_rows(&mut worker.view) {
            row.resize(self.layout.width, 0);
            out.push(0, &row);
        }
    }

    fn expand(&self, worker: &mut Worker<'f>, row: &[u32], out: &mut Successors<'_>) {
        worker.view.begin_state();
        let phase = Phase::of(row[self.layout.phase]);
        if phase == Phase::Prefix {
            self.expand_prefix(worker, row, out);
            return;
        }
        let Some(attacker) = self.attacker(row) else {
            return;
        };
        if phase == Phase::Alone {
            self.expand_attacker(worker, row, attacker, out);
            return;
        }
        let inside = self.inside(&mut worker.view, row);
        if inside.is_none() && self.is_closed(row) {
            if phase == Phase::Chain {
                out.report(self.kind(row));
                return;
            }
            // The attack with an earlier load is feasible: that is enough, unless each attack is wanted, or a certain way.
            if !self.all && self.guide.is_none() {
                return;
            }
        }
        if phase == Phase::Overtaking && inside.is_none() {
            self.expand_attacker(worker, row, attacker, out);
        }
        self.expand_helpers(worker, row, inside, out);
    }

    fn compare_steps(&self, row: &[u32], a: u64, b: u64) -> Ordering {
        let role = |thread: usize| row[self.layout.roles + thread];
        let tell_apart = |i, j| role(i).cmp(&role(j));
        self.frame.compare_steps(row, a, b, tell_apart)
    }

    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        let frame = self.frame;
        let layout = &self.layout;
        let mut at = 0;
        while at < frame.thread_count() {
            let code = frame.codes[at];
            let length = frame.group_of[at].map_or(1, |group| frame.groups[group].len());
            let by_content = |x: &(u32, u32), y: &(u32, u32)| {
                let locals = || {
                    frame
                        .threads
                        .compare_locals(code, LocalId(x.1), LocalId(y.1))
                };
                x.0.cmp(&y.0).then_with(locals)
            };
            let same = |from: usize| a[from..from + length] == b[from..from + length];
            if same(at) && same(layout.roles + at) {
                at += length;
                continue;
            }
            let members = |row: &[u32]| {
                let mut members: Vec<(u32, u32)> = (at..at + length)
                    .map(|i| (row[layout.roles + i], row[i]))
                    .collect();
                members.sort_by(by_content);
                members
            };
            for (x, y) in members(a).iter().zip(&members(b)) {
                match by_content(x, y) {
                    Ordering::Equal => {}
                    other => return other,
                }
            }
            at += length;
        }
        let value = |id: u32| frame.threads.value(id);
        for component in frame.thread_count()..frame.width() {
            if a[component] != b[component] {
                return value(a[component]).cmp(&value(b[component]));
            }
        }
        for component in layout.buffer..layout.levels {
            if a[component] != b[component] {
                let content = |row: &[u32]| row[component].checked_sub(1).map(value);
                return content(a).cmp(&content(b));
            }
        }
        a[layout.levels..].cmp(&b[layout.levels..])
    }

    fn may_lead(&self, from: &[u32], to: &[u32]) -> bool {
        let layout = &self.layout;
        // An attack that has begun stays the same attack, and only goes on.
        let phase = |row: &[u32]| Phase::of(row[layout.phase]);
        let goes_on = match (phase(from), phase(to)) {
            (Phase::Prefix, after) => matches!(after, Phase::Prefix | Phase::Alone),
            (before, after) => {
                from[layout.target] == to[layout.target]
                    && after != Phase::Prefix
                    && (before != Phase::Chain || after == Phase::Chain)
            }
        };
        goes_on && self.frame.may_lead(from, to) && self.one_thread_moves(from, to)
    }
}
