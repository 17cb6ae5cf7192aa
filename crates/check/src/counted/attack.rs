//! `robust` under TSO: one thread attacks, all others help.
//!
//! The steps are those of [`AttackSpace`], in a row that has, for each code with any number of copies, two places: one for a copy that attacks, one for the copy
//! that moves. A copy that attacks belongs to the shared part; all others are helpers, with their role as a part of their local.
//!
//! With `ld_A` roles begin anew, for all copies at once: that is the only broadcast.

use palisade_explore::{Space, for_each_successor};
use palisade_lang::Program;
use palisade_threads::{LocalId, View};

use super::{Asked, CopyStep, Count, Numbers, Places, System, code_reductions};
use crate::Options;
use crate::certificate::put_local;
use crate::sc::StepLabel;
use crate::state::Frame;
use crate::tso::attack::{AttackSpace, Phase, Worker, level, role};
use crate::tso::filter::attacks;

/// Builds the system and asks it.
pub(super) fn ask<R>(
    program: &Program,
    options: &Options,
    ask: &mut dyn FnMut(&mut dyn System) -> R,
) -> Asked<R> {
    let mut program = program.clone();
    // What a `never` says is no part of a trace.
    program.nevers.clear();
    // Whatever a third copy can add to a cycle of instructions, the second can: the filter says the same for more copies.
    let instance = program.with_copies(2);
    let mut attacks = attacks(&instance, options.reductions.static_filter);
    if !options.reductions.static_filter {
        // Nothing is dismissed beforehand.
        for may_begin in &mut attacks.may_begin {
            may_begin.fill(true);
        }
    } else if attacks.left == 0 {
        return Asked::Dismissed(attacks.all);
    }
    let frame = Frame::new(&instance, &code_reductions(options));
    let space = AttackSpace::new(&frame, false, false, false, attacks.may_begin);
    let mut view = frame.threads.view();
    let places = Places::new(&program, &instance);
    let fillers = (0..program.threads.len())
        .map(|code| match places.copies[code].is_empty() {
            true => Vec::new(),
            false => view.initial_of_copy(code, 0),
        })
        .collect();
    let mut system = AttackSystem {
        worker: space.worker(),
        view,
        frame: &frame,
        space: &space,
        places,
        starts: fillers,
        shared: Numbers::new(),
        bases: Numbers::new(),
        parts: Vec::new(),
        locals: Numbers::new(),
    };
    Asked::Answered(ask(&mut system))
}

/// A state of an attack, with its helpers counted.
///
/// A shared part is a row in which the components and roles of copies that do not attack are 0, and behind it whether a copy is inside `atomic`.
struct AttackSystem<'f, 'p> {
    frame: &'f Frame<'p>,
    space: &'f AttackSpace<'f, 'p>,
    worker: Worker<'f>,
    view: View<'f>,
    places: Places,
    /// For each code with any number of copies, where a copy begins; the first also stands in places that are not taken.
    starts: Vec<Vec<LocalId>>,
    shared: Numbers<Box<[u32]>>,
    /// Shared parts without what [`AttackSystem::order`] compares.
    bases: Numbers<Box<[u32]>>,
    /// For each shared part its base, and its levels and roles as bit sets.
    parts: Vec<(u32, Box<[u8]>)>,
    /// Code, local state, role.
    locals: Numbers<(usize, LocalId, u32)>,
}

/// The place of a copy that attacks.
const ATTACKER: usize = 0;
/// The place of the copy that moves.
const MOVER: usize = 1;

/// The only broadcast: roles begin anew.
const ROLES_BEGIN_ANEW: u32 = 0;

/// Roles as sets: a thread that has taken part can do all that others can.
fn role_bits(role: u32) -> u8 {
    match role {
        role::PENDING => 0b01,
        role::JOINED => 0b11,
        _ => 0,
    }
}

/// Levels as sets: more accesses on the path let more threads take part.
fn level_bits(level: u32) -> u8 {
    match level {
        level::PENDING_LOAD => 0b0001,
        level::LOAD => 0b0011,
        level::PENDING_STORE => 0b0101,
        level::STORE => 0b1111,
        _ => 0,
    }
}

impl AttackSystem<'_, '_> {
    fn number(&mut self, row: Box<[u32]>) -> u32 {
        let layout = &self.space.layout;
        let number = self.shared.number(row);
        if number as usize == self.parts.len() {
            let row = self.shared.get(number);
            let mut base: Box<[u32]> = row.as_ref().clone();
            let mut bits = Vec::new();
            for component in layout.roles..layout.buffer {
                if row[component] != role::ATTACKER {
                    bits.push(role_bits(row[component]));
                    base[component] = 0;
                }
            }
            for component in layout.levels..layout.target {
                bits.push(level_bits(row[component]));
                base[component] = 0;
            }
            let base = self.bases.number(base);
            self.parts.push((base, bits.into()));
        }
        number
    }

    /// A row in which the place of no thread holds something harmless.
    fn filled(&self, shared: u32) -> Vec<u32> {
        let roles = self.space.layout.roles;
        let mut row = self.shared.get(shared)[..self.space.layout.width].to_vec();
        for (code, places) in self.places.copies.iter().enumerate() {
            for &component in places {
                if row[roles + component] != role::ATTACKER {
                    row[component] = self.starts[code].first().map_or(0, |l| l.0);
                }
            }
        }
        row
    }
}

impl System for AttackSystem<'_, '_> {
    fn initial(&mut self) -> (Vec<u32>, Vec<u32>) {
        let mut rows = Vec::new();
        for mut row in self.frame.initial_rows(&mut self.view) {
            for &component in self.places.copies.iter().flatten() {
                row[component] = 0;
            }
            row.resize(self.space.layout.width + 1, 0);
            rows.push(self.number(row.into()));
        }
        rows.sort_unstable();
        rows.dedup();
        let mut locals = Vec::new();
        for code in 0..self.starts.len() {
            for local in self.starts[code].clone() {
                locals.push(self.locals.number((code, local, role::ORIGINAL)));
            }
        }
        (rows, locals)
    }

    fn steps(&mut self, shared: u32, mover: Option<u32>) -> Vec<CopyStep> {
        let layout = self.space.layout;
        let copy_inside = self.shared.get(shared)[layout.width] == 1;
        let mut row = self.filled(shared);
        let phase = row[layout.phase];
        let mover = match mover {
            None if copy_inside => return Vec::new(),
            None => None,
            Some(local) => {
                let (code, local, role) = **self.locals.get(local);
                if copy_inside != self.view.is_atomic(code, local) {
                    return Vec::new();
                }
                let component = self.places.copies[code][MOVER];
                row[component] = local.0;
                row[layout.roles + component] = role;
                Some((code, component))
            }
        };
        let mut found: Vec<(usize, Box<[u32]>)> = Vec::new();
        for_each_successor(self.space, &mut self.worker, &row, |label, after| {
            let who = StepLabel::decode(label).component;
            let wanted = match mover {
                Some((_, component)) => who == component,
                None => {
                    self.places.fixed.contains(&who) || row[layout.roles + who] == role::ATTACKER
                }
            };
            if wanted {
                found.push((who, after.into()));
            }
        });
        let mut steps = Vec::new();
        for (_, after) in found {
            let mut after = after.to_vec();
            after.push(u32::from(copy_inside));
            let mut to = None;
            if let Some((code, component)) = mover {
                let (local, role) = (LocalId(after[component]), after[layout.roles + component]);
                if role == role::ATTACKER {
                    let place = self.places.copies[code][ATTACKER];
                    after[place] = local.0;
                    after[layout.roles + place] = role::ATTACKER;
                    after[layout.roles + component] = 0;
                } else {
                    to = Some(self.locals.number((code, local, role)));
                    after[layout.width] = u32::from(self.view.is_atomic(code, local));
                    after[layout.roles + component] = 0;
                }
            }
            for &component in self.places.copies.iter().flatten() {
                if after[layout.roles + component] != role::ATTACKER {
                    after[component] = 0;
                }
            }
            let begins_chain =
                after[layout.phase] == Phase::Chain as u32 && phase != Phase::Chain as u32;
            steps.push(CopyStep {
                shared: self.number(after.into()),
                to,
                broadcast: begins_chain.then_some(ROLES_BEGIN_ANEW),
                violates: false,
            });
        }
        steps
    }

    fn transfer(&mut self, _broadcast: u32, local: u32) -> u32 {
        let (code, local, _) = **self.locals.get(local);
        self.locals.number((code, local, role::ORIGINAL))
    }

    fn is_bad(&mut self, shared: u32, _copies: &[(u32, Count)]) -> bool {
        let row = self.shared.get(shared).clone();
        let inside = row[self.space.layout.width] == 1
            || self.places.fixed.iter().any(|&component| {
                row[self.space.layout.roles + component] != role::ATTACKER
                    && self
                        .view
                        .is_atomic(self.frame.codes[component], LocalId(row[component]))
            });
        !inside && self.space.has_succeeded(&row)
    }

    fn bad_choices(&mut self, shared: u32, _locals: &[u32]) -> Vec<Vec<u32>> {
        match self.is_bad(shared, &[]) {
            true => vec![Vec::new()],
            false => Vec::new(),
        }
    }

    fn base(&self, shared: u32) -> u32 {
        self.parts[shared as usize].0
    }

    fn shared_covers(&self, greater: u32, smaller: u32) -> bool {
        let (greater, smaller) = (&self.parts[greater as usize], &self.parts[smaller as usize]);
        greater.0 == smaller.0
            && greater
                .1
                .iter()
                .zip(&smaller.1)
                .all(|(greater, smaller)| smaller & !greater == 0)
    }

    fn local_covers(&self, greater: u32, smaller: u32) -> bool {
        let (greater, smaller) = (self.locals.get(greater), self.locals.get(smaller));
        greater.0 == smaller.0
            && greater.1 == smaller.1
            && role_bits(smaller.2) & !role_bits(greater.2) == 0
    }

    fn shared_numbers(&mut self, shared: u32) -> Option<Vec<i64>> {
        let layout = self.space.layout;
        let row = self.shared.get(shared).clone();
        let frame = self.frame;
        let view = &mut self.view;
        let attacker = (0..frame.thread_count()).find(|&c| row[layout.roles + c] == role::ATTACKER);
        let gone = attacker.filter(|_| Phase::of(row[layout.phase]) == Phase::Chain);
        let mut put = |component: usize, is_there: bool, numbers: &mut Vec<i64>| {
            let code = frame.codes[component];
            if is_there {
                return put_local(frame, view, code, LocalId(row[component]), numbers);
            }
            numbers.push(-1);
            let registers = frame.program().threads[code].registers.len();
            numbers.resize(numbers.len() + registers, 0);
            Some(())
        };
        let mut numbers = vec![row[layout.width].into()];
        for &component in &self.places.fixed {
            put(component, gone != Some(component), &mut numbers)?;
        }
        let mut copies = Vec::new();
        for places in self.places.copies.iter().filter(|p| !p.is_empty()) {
            let place = places[ATTACKER];
            let is_there = attacker == Some(place) && gone != Some(place);
            put(place, is_there, &mut copies)?;
        }
        let memory = &row[frame.thread_count()..frame.width()];
        numbers.extend(memory.iter().map(|&id| self.view.value(id)));
        numbers.extend(copies);
        numbers.push(row[layout.phase].into());
        numbers.push(attacker.unwrap_or(0) as i64);
        numbers.push(row[layout.target].saturating_sub(1).into());
        for &component in &self.places.fixed {
            numbers.push(row[layout.roles + component].into());
        }
        for &buffered in &row[layout.buffer..layout.levels] {
            match buffered.checked_sub(1) {
                None => numbers.extend([0, 0]),
                Some(id) => numbers.extend([1, self.view.value(id)]),
            }
        }
        let levels = &row[layout.levels..layout.target];
        numbers.extend(levels.iter().map(|&l| i64::from(l)));
        Some(numbers)
    }

    fn local_numbers(&mut self, local: u32) -> Option<Vec<i64>> {
        let (code, local, role) = **self.locals.get(local);
        let mut numbers = vec![code as i64];
        put_local(self.frame, &mut self.view, code, local, &mut numbers)?;
        numbers.push(role.into());
        Some(numbers)
    }

    fn bytes(&self) -> u64 {
        (self.shared.len() * (self.space.layout.width * 8 + 128) + self.locals.len() * 64) as u64
    }
}
