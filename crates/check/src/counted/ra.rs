//! `robust` under RA: the monitors of [`crate::ra::scm::monitor`], with the part of each copy in its local.
//!
//! All copies are there from the beginning: one that came later would have missed that others write. A write changes what every other thread knows, which
//! is a broadcast.

use palisade_lang::{LocationId, Program, Value};
use palisade_threads::{ActionKind, LocalId, View};
use rustc_hash::FxHashMap;

use super::{Asked, CopyStep, Count, Numbers, Places, System, code_reductions};
use crate::certificate::put_local;
use crate::ra::TOO_MANY_LOCATIONS;
use crate::ra::blocks::{Block, Blocks};
use crate::ra::facts::{Facts, Fences, Future};
use crate::ra::scm::monitor::{Access, Layout, Slots};
use crate::ra::scm::theorem::{Monitored, could_be_stale};
use crate::ra::sets::{members, remove};
use crate::ra::step::AccessType;
use crate::ra::unreduced::Written;
use crate::sc::execute;
use crate::state::Frame;
use crate::{Options, Refusal};

/// Room for so many slots at first: as many as are free of charge.
const FIRST_SLOTS: usize = 64;

/// Builds the system and asks it.
pub(super) fn ask<R>(
    program: &Program,
    options: &Options,
    ask: &mut dyn FnMut(&mut dyn System) -> R,
) -> Result<Asked<R>, Refusal> {
    crate::ra::check_meaning(program, options)?;
    let mut program = program.clone();
    program.nevers.clear();
    // Two copies access whatever a thread accesses from different threads, as more copies do.
    let instance = program.with_copies(2);
    let frame = Frame::new(&instance, &code_reductions(options));
    let facts = match options.reductions.monitors {
        true => Facts::new(&instance, Fences::Updates),
        false => Facts::plain(&instance, Fences::Updates),
    };
    let mut room = FIRST_SLOTS;
    loop {
        let places = Places::new(&program, &instance);
        let threads = places.fixed.len() + 1;
        let layout = Layout::new(threads, facts.tracked_count, room);
        if !layout.fits(options) {
            return Ok(Asked::OnlyInstances(TOO_MANY_LOCATIONS.to_owned()));
        }
        let mut system = RaSystem {
            frame: &frame,
            view: frame.threads.view(),
            facts: &facts,
            layout,
            slots: Slots::new(facts.tracked_count, room),
            blocks: Blocks::default(),
            places,
            shared: Numbers::new(),
            bases: Numbers::new(),
            base_of: Vec::new(),
            locals: Numbers::new(),
            broadcasts: Numbers::new(),
            looked_at: FxHashMap::default(),
            scratch: Vec::new(),
            forget: options.reductions.monitors,
        };
        let answer = ask(&mut system);
        if !system.slots.overflowed {
            return Ok(Asked::Answered(answer));
        }
        room *= 2;
    }
}

/// A shared part: a row of the instance with 0 for all copies, and the monitor without their parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Shared {
    row: Box<[u32]>,
    monitor: Box<[u64]>,
    /// A copy is stuck inside `atomic`, and nothing happens any more.
    stuck: bool,
}

/// A copy: its code, its local state, and its part of the monitor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Local {
    code: usize,
    local: LocalId,
    part: Box<[u64]>,
}

/// What a write does to all other threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Broadcast {
    location: usize,
    slot: usize,
    plain: bool,
}

/// What a thread is about to do, as far as violations go.
#[derive(Clone, Debug, Default)]
struct Next {
    stale: bool,
    /// `nonatomic` locations, and whether they are written.
    plain: Vec<(LocationId, bool)>,
}

/// What a step does to memory, and where it leads.
struct Way {
    access: Option<Access>,
    written: Option<(LocationId, Value)>,
    nexts: Vec<LocalId>,
}

struct RaSystem<'f, 'p> {
    frame: &'f Frame<'p>,
    view: View<'f>,
    facts: &'f Facts,
    /// For the fixed threads, and behind them one copy: the one that is looked at.
    layout: Layout,
    slots: Slots,
    blocks: Blocks,
    places: Places,
    shared: Numbers<Shared>,
    /// Rows.
    bases: Numbers<(Box<[u32]>, bool)>,
    base_of: Vec<u32>,
    locals: Numbers<Local>,
    broadcasts: Numbers<Broadcast>,
    looked_at: FxHashMap<(u32, Option<u32>), Next>,
    scratch: Vec<u64>,
    forget: bool,
}

impl RaSystem<'_, '_> {
    /// The number of the copy in monitors.
    fn copy(&self) -> usize {
        self.places.fixed.len()
    }

    /// A whole monitor with this copy.
    fn monitor(&self, shared: &Shared, copy: Option<&Local>) -> Vec<u64> {
        let part = self.layout.thread(self.copy());
        let mut monitor = Vec::with_capacity(self.layout.words);
        monitor.extend_from_slice(&shared.monitor[..part.start]);
        match copy {
            Some(copy) => monitor.extend_from_slice(&copy.part),
            None => monitor.resize(part.end, 0),
        }
        monitor.extend_from_slice(&shared.monitor[part.start..]);
        monitor
    }

    fn number(&mut self, shared: Shared) -> u32 {
        let base = (shared.row.clone(), shared.stuck);
        let number = self.shared.number(shared);
        if number as usize == self.base_of.len() {
            let base = self.bases.number(base);
            self.base_of.push(base);
        }
        number
    }

    fn future(&mut self, component: usize, local: LocalId) -> u32 {
        let code = self.frame.codes[component];
        let horizon = self.facts.horizon(&mut self.view, component, code, local);
        horizon.future
    }

    /// Clears bits of a thread's part that can never matter: values that the thread can neither read nor hand on to one that can. (Rules 1 and 2 of
    /// [`Layout::forget`], where nothing is known about the other threads.)
    fn forget(&mut self, part: &mut [u64], future: u32) {
        if !self.forget {
            return;
        }
        let (facts, slots) = (self.facts, &self.slots);
        let future: &Future = &facts.futures[future as usize];
        let tracked = |touches: &dyn Fn(usize) -> bool| {
            (0..facts.places).any(|place| facts.tracked[place].is_some() && touches(place))
        };
        let hands_on = tracked(&|place| future.writes(place));
        let accepted = |numbers: &crate::ra::sets::Set, slot: usize| {
            numbers.members().any(|number| {
                let accept = &facts.accepts[number];
                facts.tracked[accept.place] == Some(slots.location(slot))
                    && accept.accepts(slots.value(slot))
            })
        };
        let [aware, reads, writes] = self.layout.pieces(part);
        if !tracked(&|place| future.touches(place)) {
            aware.fill(0);
        }
        for slot in members(reads).collect::<Vec<_>>() {
            if !hands_on && !accepted(&future.read_accepts, slot) {
                remove(reads, slot);
            }
        }
        for slot in members(writes).collect::<Vec<_>>() {
            if !hands_on && !accepted(&future.write_accepts, slot) {
                remove(writes, slot);
            }
        }
    }

    /// Adds the steps of one thread: the fixed one with this number, or the copy.
    fn steps_of(
        &mut self,
        shared: &Shared,
        copy: Option<&Local>,
        thread: usize,
        component: usize,
        steps: &mut Vec<CopyStep>,
    ) {
        let frame = self.frame;
        let code = frame.codes[component];
        let local = copy.map_or(LocalId(shared.row[component]), |copy| copy.local);
        let domain = frame.program().domain;
        for action in 0..self.view.actions(code, local) {
            let kind = self.view.action(code, local, action).kind;
            let mut ways: Vec<Way> = Vec::new();
            if kind == ActionKind::AtomicBegin {
                let block = Block {
                    code,
                    local,
                    action,
                };
                let location = self.blocks.location(&mut self.view, code, local, action);
                let old = location.map_or(0, |location| {
                    self.view.value(shared.row[frame.component(location)])
                });
                let found = self.blocks.ways(&mut self.view, domain, block, old);
                for way in found.iter() {
                    let access = self
                        .slots
                        .access_of_block(self.facts, thread, location, way, old);
                    ways.push(Way {
                        access,
                        written: location.zip(way.written),
                        nexts: vec![way.local],
                    });
                }
            } else {
                let Ok(Some(done)) = execute(frame, &mut self.view, &shared.row, kind) else {
                    continue;
                };
                let access = self
                    .slots
                    .access_of(self.facts, thread, kind, &done, |location| {
                        self.view.value(shared.row[frame.component(location)])
                    });
                let read = done.read.unwrap_or(0);
                let nexts = self.view.resume(code, local, action, read).to_vec();
                ways.push(Way {
                    access,
                    written: done.written,
                    nexts,
                });
            }
            if self.slots.overflowed {
                return;
            }
            for way in ways {
                for &next in &way.nexts {
                    let step = self.arrive(shared, copy, component, &way, next);
                    steps.push(step);
                }
            }
        }
    }

    fn arrive(
        &mut self,
        shared: &Shared,
        copy: Option<&Local>,
        component: usize,
        way: &Way,
        next: LocalId,
    ) -> CopyStep {
        let mut monitor = self.monitor(shared, copy);
        let mut broadcast = None;
        if let Some(access) = way.access {
            self.layout.apply(
                &mut monitor,
                access,
                self.slots.of(access.location),
                &mut self.scratch,
            );
            // That x ∈ M_SC(x) is not kept.
            let m_sc = self.layout.m_sc(access.location);
            remove(&mut monitor[m_sc], access.location);
            if access.kind != AccessType::Read {
                broadcast = Some(self.broadcasts.number(Broadcast {
                    location: access.location,
                    slot: access.slot,
                    plain: access.kind == AccessType::Write,
                }));
            }
        }
        let mut after = shared.clone();
        if let Some((location, value)) = way.written {
            after.row[self.frame.component(location)] = self.view.value_id(value);
        }
        let code = self.frame.codes[component];
        let to = match copy {
            Some(_) => {
                let mut part: Box<[u64]> = monitor[self.layout.thread(self.copy())].into();
                let future = self.future(component, next);
                self.forget(&mut part, future);
                after.stuck = self.view.is_atomic(code, next);
                Some(self.locals.number(Local {
                    code,
                    local: next,
                    part,
                }))
            }
            None => {
                after.row[component] = next.0;
                None
            }
        };
        for number in 0..self.places.fixed.len() {
            let fixed = self.places.fixed[number];
            let future = self.future(fixed, LocalId(after.row[fixed]));
            let range = self.layout.thread(number);
            self.forget(&mut monitor[range], future);
        }
        monitor.drain(self.layout.thread(self.copy()));
        after.monitor = monitor.into();
        CopyStep {
            shared: self.number(after),
            to,
            broadcast,
            violates: false,
        }
    }

    /// What one thread is about to do.
    fn look_at(
        &mut self,
        shared: u32,
        local: Option<u32>,
        thread: usize,
        component: usize,
    ) -> Next {
        let whole = self.shared.get(shared).clone();
        let copy = local.map(|local| self.locals.get(local).clone());
        let monitor = self.monitor(&whole, copy.as_deref());
        let code = self.frame.codes[component];
        let local = copy.map_or(LocalId(whole.row[component]), |copy| copy.local);
        let program = self.frame.program();
        let mut next = Next::default();
        for action in 0..self.view.actions(code, local) {
            let kind = self.view.action(code, local, action).kind;
            if let Some(location) = kind.location()
                && program.location(location).nonatomic
            {
                let writes = matches!(kind, ActionKind::Store { .. });
                next.plain.push((location, writes));
                continue;
            }
            next.stale |= could_be_stale(
                &Monitored {
                    facts: self.facts,
                    layout: &self.layout,
                    slots: &self.slots,
                    monitor: &monitor,
                    domain: program.domain,
                },
                &mut self.view,
                &mut self.blocks,
                thread,
                Block {
                    code,
                    local,
                    action,
                },
            );
        }
        next
    }

    /// What a copy is about to do.
    fn look_at_copy(&mut self, shared: u32, local: u32) -> Next {
        let key = (shared, Some(local));
        if let Some(next) = self.looked_at.get(&key) {
            return next.clone();
        }
        let component = self.places.copies[self.locals.get(local).code][0];
        let thread = self.copy();
        let next = self.look_at(shared, Some(local), thread, component);
        self.looked_at.insert(key, next.clone());
        next
    }

    fn is_stuck(&mut self, shared: &Shared) -> bool {
        shared.stuck
            || self.places.fixed.iter().any(|&component| {
                let code = self.frame.codes[component];
                self.view.is_atomic(code, LocalId(shared.row[component]))
            })
    }
}

/// Whether two threads race.
fn races(one: &Next, two: &Next) -> bool {
    one.plain.iter().any(|(place, writes)| {
        two.plain
            .iter()
            .any(|(other, other_writes)| place == other && (*writes || *other_writes))
    })
}

impl System for RaSystem<'_, '_> {
    fn initial(&mut self) -> (Vec<u32>, Vec<u32>) {
        let initial = self.layout.initial();
        let part = self.layout.thread(self.copy());
        let mut rest = initial.clone();
        rest.drain(part.clone());
        let mut rows = Vec::new();
        for mut row in self.frame.initial_rows(&mut self.view) {
            for &component in self.places.copies.iter().flatten() {
                row[component] = 0;
            }
            rows.push(self.number(Shared {
                row: row.into(),
                monitor: rest.clone().into(),
                stuck: false,
            }));
        }
        rows.sort_unstable();
        rows.dedup();
        let mut locals = Vec::new();
        for code in 0..self.places.copies.len() {
            if self.places.copies[code].is_empty() {
                continue;
            }
            for local in self.view.initial_of_copy(code, 0) {
                locals.push(self.locals.number(Local {
                    code,
                    local,
                    part: initial[part.clone()].into(),
                }));
            }
        }
        (rows, locals)
    }

    fn steps(&mut self, shared: u32, mover: Option<u32>) -> Vec<CopyStep> {
        self.view.begin_state();
        let shared = self.shared.get(shared).clone();
        let mut steps = Vec::new();
        if self.is_stuck(&shared) {
            return steps;
        }
        match mover {
            Some(local) => {
                let copy = self.locals.get(local).clone();
                let component = self.places.copies[copy.code][0];
                let thread = self.copy();
                self.steps_of(&shared, Some(&copy), thread, component, &mut steps);
            }
            None => {
                for thread in 0..self.places.fixed.len() {
                    let component = self.places.fixed[thread];
                    self.steps_of(&shared, None, thread, component, &mut steps);
                }
            }
        }
        steps
    }

    fn transfer(&mut self, broadcast: u32, local: u32) -> u32 {
        let Broadcast {
            location,
            slot,
            plain,
        } = **self.broadcasts.get(broadcast);
        let mut copy: Local = self.locals.get(local).as_ref().clone();
        self.layout.overtake(&mut copy.part, location, slot, plain);
        let component = self.places.copies[copy.code][0];
        let future = self.future(component, copy.local);
        self.forget(&mut copy.part, future);
        self.locals.number(copy)
    }

    fn is_bad(&mut self, shared: u32, copies: &[(u32, Count)]) -> bool {
        let whole = self.shared.get(shared).clone();
        if self.is_stuck(&whole) {
            return false;
        }
        let mut all: Vec<(Next, Count)> = Vec::new();
        for thread in 0..self.places.fixed.len() {
            let component = self.places.fixed[thread];
            all.push((self.look_at(shared, None, thread, component), 1));
        }
        for &(local, count) in copies {
            all.push((self.look_at_copy(shared, local), count));
        }
        all.iter().enumerate().any(|(at, (one, count))| {
            one.stale
                || *count > 1 && races(one, one)
                || all[at + 1..].iter().any(|(two, _)| races(one, two))
        })
    }

    fn bad_choices(&mut self, shared: u32, locals: &[u32]) -> Vec<Vec<u32>> {
        if self.is_stuck(&self.shared.get(shared).clone()) {
            return Vec::new();
        }
        if self.is_bad(shared, &[]) {
            return vec![Vec::new()];
        }
        let mut choices = Vec::new();
        let mut rest: Vec<(u32, Next)> = Vec::new();
        for &local in locals {
            match self.is_bad(shared, &[(local, 1)]) {
                true => choices.push(vec![local]),
                false => rest.push((local, self.look_at_copy(shared, local))),
            }
        }
        rest.retain(|(_, next)| !next.plain.is_empty());
        for (at, (one, first)) in rest.iter().enumerate() {
            for (two, second) in &rest[at..] {
                if races(first, second) {
                    choices.push(vec![*one, *two]);
                }
            }
        }
        choices
    }

    fn base(&self, shared: u32) -> u32 {
        self.base_of[shared as usize]
    }

    fn shared_covers(&self, greater: u32, smaller: u32) -> bool {
        self.base(greater) == self.base(smaller)
            && covers(
                &self.shared.get(greater).monitor,
                &self.shared.get(smaller).monitor,
            )
    }

    fn local_covers(&self, greater: u32, smaller: u32) -> bool {
        let (greater, smaller) = (self.locals.get(greater), self.locals.get(smaller));
        greater.code == smaller.code
            && greater.local == smaller.local
            && covers(&greater.part, &smaller.part)
    }

    fn shared_numbers(&mut self, shared: u32) -> Option<Vec<i64>> {
        let shared = self.shared.get(shared).clone();
        // No thread moves any more where a thread got stuck in a block.
        if self.is_stuck(&shared) {
            return None;
        }
        let frame = self.frame;
        let mut numbers = Vec::new();
        for &component in &self.places.fixed {
            let (code, local) = (frame.codes[component], LocalId(shared.row[component]));
            put_local(frame, &mut self.view, code, local, &mut numbers)?;
        }
        let memory = &shared.row[frame.thread_count()..frame.width()];
        numbers.extend(memory.iter().map(|&id| self.view.value(id)));
        let whole = self.monitor(&shared, None);
        let monitor = Written::new(self.facts, &self.layout, &self.slots, &whole);
        for thread in 0..self.copy() {
            monitor.put_thread(thread, &mut numbers);
        }
        for place in 0..self.layout.locations {
            monitor.put_place(place, &mut numbers);
        }
        Some(numbers)
    }

    fn local_numbers(&mut self, local: u32) -> Option<Vec<i64>> {
        let copy = self.locals.get(local).clone();
        if self.view.is_atomic(copy.code, copy.local) {
            return None;
        }
        let mut numbers = vec![copy.code as i64];
        put_local(
            self.frame,
            &mut self.view,
            copy.code,
            copy.local,
            &mut numbers,
        )?;
        let thread = self.copy();
        let mut whole = vec![0; self.layout.words];
        whole[self.layout.thread(thread)].copy_from_slice(&copy.part);
        let monitor = Written::new(self.facts, &self.layout, &self.slots, &whole);
        monitor.put_thread(thread, &mut numbers);
        Some(numbers)
    }

    fn bytes(&self) -> u64 {
        (self.shared.len() * (self.frame.width() * 8 + self.layout.words * 8 + 160)
            + self.locals.len() * 128
            + self.looked_at.capacity() * 64) as u64
    }
}

/// Whether one monitor has all bits of another.
fn covers(greater: &[u64], smaller: &[u64]) -> bool {
    greater
        .iter()
        .zip(smaller)
        .all(|(greater, smaller)| smaller & !greater == 0)
}
