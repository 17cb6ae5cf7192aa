//! Criteria that ask for a pattern in a state under SC.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use palisade_lang::Program;
use palisade_threads::{ActionKind, LocalId, View};
use rustc_hash::FxHashSet;

use super::never::{NeverOfCopies, Present};
use super::{Asked, CopyStep, Count, MANY, Numbers, Places, System, code_reductions};
use crate::certificate::put_local;
use crate::drf::Races;
use crate::persistent::Fragility;
use crate::sc::execute;
use crate::state::Frame;
use crate::tso::trf::Triangles;
use crate::{Criterion, Options};

/// What makes a state bad.
enum Pattern {
    /// A `never` is true, or a step is an error.
    Never(Vec<NeverOfCopies>),
    Race(Races),
    Triangle(Triangles),
    Fragile(Fragility),
}

/// Builds the system and asks it.
pub(super) fn ask<R>(
    program: &Program,
    options: &Options,
    ask: &mut dyn FnMut(&mut dyn System) -> R,
) -> Asked<R> {
    let mut program = program.clone();
    if options.criterion != Criterion::Safe {
        program.nevers.clear();
    }
    // What else is looked for takes two threads.
    let mut instance = program.with_copies(2);
    instance.nevers.clone_from(&program.nevers);
    let pattern = match options.criterion {
        Criterion::Drf => Pattern::Race(Races::new(&instance, options.all_locations)),
        // A third copy has nothing to offer that the second has not: the filter says the same for more copies.
        Criterion::Trf => match Triangles::anywhere(&instance, options.reductions.static_filter) {
            Ok(triangles) => Pattern::Triangle(triangles),
            Err(pairs) => return Asked::Dismissed(pairs),
        },
        Criterion::Persistent => {
            match Fragility::anywhere(&instance, options.reductions.static_filter) {
                Ok(fragility) => Pattern::Fragile(fragility),
                Err(pairs) => return Asked::Dismissed(pairs),
            }
        }
        _ => {
            let conditions = program.nevers.iter().flat_map(|n| &n.conditions);
            Pattern::Never(
                conditions
                    .map(|c| NeverOfCopies::new(&program, c))
                    .collect(),
            )
        }
    };
    let frame = Frame::new(&instance, &code_reductions(options));
    let places = Places::new(&program, &instance);
    let mut system = ScSystem {
        view: frame.threads.view(),
        frame: &frame,
        fixed_thread: places.fixed.iter().map(|&c| (c, frame.codes[c])).collect(),
        places,
        pattern,
        shared: Numbers::new(),
        locals: Numbers::new(),
        harmless: FxHashSet::default(),
    };
    Asked::Answered(ask(&mut system))
}

/// A state under SC, with its copies counted.
///
/// A shared part is a row of the instance in which the copies' components are 0, and behind it whether a copy is inside `atomic`.
struct ScSystem<'f, 'p> {
    frame: &'f Frame<'p>,
    view: View<'f>,
    places: Places,
    /// Component and code of each fixed thread.
    fixed_thread: Vec<(usize, usize)>,
    pattern: Pattern,
    shared: Numbers<Box<[u32]>>,
    /// Code and local state.
    locals: Numbers<(usize, LocalId)>,
    /// Shared parts with up to two copies that are known not to be bad.
    harmless: FxHashSet<(u32, u32, u32)>,
}

/// In the place of a copy in a key: no copy.
const NOBODY: u32 = u32::MAX;

impl ScSystem<'_, '_> {
    /// Adds the steps of the thread in a component of a row.
    fn steps_of(
        &mut self,
        row: &mut [u32],
        component: usize,
        is_copy: bool,
        steps: &mut Vec<CopyStep>,
    ) {
        let (frame, view) = (self.frame, &mut self.view);
        let (code, local) = (frame.codes[component], LocalId(row[component]));
        let width = frame.width();
        for action in 0..view.actions(code, local) {
            let kind = view.action(code, local, action).kind;
            let access = match execute(frame, view, &row[..width], kind) {
                Ok(Some(access)) => access,
                Ok(None) => continue,
                Err(_) => {
                    if let Pattern::Never(_) = self.pattern {
                        steps.push(CopyStep {
                            shared: 0,
                            to: None,
                            broadcast: None,
                            violates: true,
                        });
                    }
                    continue;
                }
            };
            let violates =
                matches!(kind, ActionKind::Error(_)) && matches!(self.pattern, Pattern::Never(_));
            let written = access
                .written
                .map(|(location, value)| (frame.component(location), view.value_id(value)));
            let nexts = view
                .resume(code, local, action, access.read.unwrap_or(0))
                .to_vec();
            for next in nexts {
                let mut after: Box<[u32]> = row.into();
                if let Some((component, value)) = written {
                    after[component] = value;
                }
                let to = if is_copy {
                    after[component] = 0;
                    after[width] = u32::from(view.is_atomic(code, next));
                    Some(self.locals.number((code, next)))
                } else {
                    after[component] = next.0;
                    None
                };
                steps.push(CopyStep {
                    shared: self.shared.number(after),
                    to,
                    broadcast: None,
                    violates,
                });
            }
        }
    }

    fn pattern_in(&mut self, row: &[u32]) -> bool {
        let (frame, view) = (self.frame, &mut self.view);
        match &self.pattern {
            Pattern::Never(_) => false,
            Pattern::Race(races) => races.is_race(frame, view, row),
            Pattern::Triangle(triangles) => triangles.is_race(frame, view, row),
            Pattern::Fragile(fragility) => fragility.is_fragile(frame, view, row),
        }
    }

    /// Tries all choices of up to two copies, with those from `copies[from..]` as further ones.
    fn choose(
        &mut self,
        shared: u32,
        row: &mut [u32],
        copies: &[(u32, Count)],
        from: usize,
        chosen: &mut Vec<u32>,
    ) -> bool {
        if self.is_bad_with(shared, row, chosen) {
            return true;
        }
        if chosen.len() == 2 {
            return false;
        }
        for at in from..copies.len() {
            let (local, count) = copies[at];
            let taken = chosen.iter().filter(|&&l| l == local).count();
            if count != MANY && taken >= usize::from(count) {
                continue;
            }
            let code = self.locals.get(local).0;
            let of_code = chosen.iter().filter(|&&l| self.locals.get(l).0 == code);
            if of_code.count() >= self.places.copies[code].len() {
                continue;
            }
            chosen.push(local);
            if self.choose(shared, row, copies, at, chosen) {
                return true;
            }
            chosen.pop();
        }
        false
    }

    /// Whether these copies make a pattern. All other places of the row are taken by copies of which there are many.
    fn is_bad_with(&mut self, shared: u32, row: &mut [u32], chosen: &[u32]) -> bool {
        let of_chosen = |at: usize| chosen.get(at).copied().unwrap_or(NOBODY);
        let key = (shared, of_chosen(0), of_chosen(1));
        if self.harmless.contains(&key) {
            return false;
        }
        if self.is_pattern_with(row, chosen) {
            return true;
        }
        self.harmless.insert(key);
        false
    }
}

impl ScSystem<'_, '_> {
    /// Whether these copies, in their places in a row, make a pattern.
    fn is_pattern_with(&mut self, row: &mut [u32], chosen: &[u32]) -> bool {
        let width = self.frame.width();
        let somebody_inside = row[width] == 1;
        let inside = somebody_inside
            && chosen.iter().any(|&l| {
                let (code, local) = **self.locals.get(l);
                self.view.is_atomic(code, local)
            });
        // A thread inside `atomic` keeps all others out; without it, the row would look as if they could move.
        let counts = match self.pattern {
            Pattern::Never(_) => false,
            Pattern::Race(_) => inside || !somebody_inside,
            Pattern::Triangle(_) | Pattern::Fragile(_) => !somebody_inside,
        };
        if counts {
            let mut changed = Vec::new();
            let mut next = vec![0; self.places.copies.len()];
            for &local in chosen {
                let (code, local) = **self.locals.get(local);
                let component = self.places.copies[code][next[code]];
                next[code] += 1;
                changed.push((component, std::mem::replace(&mut row[component], local.0)));
            }
            let found = self.pattern_in(&row[..width]);
            for (component, before) in changed.into_iter().rev() {
                row[component] = before;
            }
            return found;
        }
        false
    }

    /// Whether two copies can be the two of a pattern: one of them may do something now that the other one notices.
    fn may_meet(&mut self, one: u32, two: u32) -> bool {
        let [one, two] = [one, two].map(|local| **self.locals.get(local));
        let view = &mut self.view;
        let next = [one, two].map(|(code, local)| view.next_footprint(code, local));
        let future = [one, two].map(|(code, local)| view.future_footprint(code, local));
        match self.pattern {
            Pattern::Never(_) => false,
            Pattern::Race(_) => next[0].conflicts(next[1]),
            Pattern::Triangle(_) | Pattern::Fragile(_) => {
                next[0].writes & future[1].reads != 0 || next[1].writes & future[0].reads != 0
            }
        }
    }
}

impl System for ScSystem<'_, '_> {
    fn initial(&mut self) -> (Vec<u32>, Vec<u32>) {
        let mut rows = Vec::new();
        for mut row in self.frame.initial_rows(&mut self.view) {
            for &component in self.places.copies.iter().flatten() {
                row[component] = 0;
            }
            row.push(0);
            rows.push(self.shared.number(row.into()));
        }
        rows.sort_unstable();
        rows.dedup();
        let mut locals = Vec::new();
        for code in 0..self.places.copies.len() {
            if self.places.copies[code].is_empty() {
                continue;
            }
            for local in self.view.initial_of_copy(code, 0) {
                locals.push(self.locals.number((code, local)));
            }
        }
        (rows, locals)
    }

    fn steps(&mut self, shared: u32, mover: Option<u32>) -> Vec<CopyStep> {
        self.view.begin_state();
        let mut row = self.shared.get(shared).to_vec();
        let mut steps = Vec::new();
        let copy_inside = row[self.frame.width()] == 1;
        let fixed_inside = self
            .fixed_thread
            .iter()
            .copied()
            .find(|&(component, code)| self.view.is_atomic(code, LocalId(row[component])));
        match mover {
            Some(local) => {
                let (code, local) = **self.locals.get(local);
                if fixed_inside.is_some() || copy_inside != self.view.is_atomic(code, local) {
                    return steps;
                }
                let component = self.places.copies[code][0];
                row[component] = local.0;
                self.steps_of(&mut row, component, true, &mut steps);
            }
            None if copy_inside => {}
            None => {
                for at in 0..self.places.fixed.len() {
                    let component = self.places.fixed[at];
                    if fixed_inside.is_none_or(|(only, _)| only == component) {
                        self.steps_of(&mut row, component, false, &mut steps);
                    }
                }
            }
        }
        steps
    }

    fn transfer(&mut self, _broadcast: u32, local: u32) -> u32 {
        local
    }

    fn is_bad(&mut self, shared: u32, copies: &[(u32, Count)]) -> bool {
        let row: Rc<Box<[u32]>> = self.shared.get(shared).clone();
        if let Pattern::Never(nevers) = &self.pattern {
            let present: Vec<Present> = copies
                .iter()
                .map(|&(local, count)| {
                    let (code, local) = **self.locals.get(local);
                    (code, local, count)
                })
                .collect();
            let (frame, view) = (self.frame, &mut self.view);
            let row = &row[..frame.width()];
            return nevers
                .iter()
                .any(|never| never.holds(frame, view, row, &present));
        }
        let mut row = row.to_vec();
        for code in 0..self.places.copies.len() {
            let many = copies.iter().find_map(|&(local, count)| {
                let (of, local) = **self.locals.get(local);
                (of == code && count == MANY && !self.view.is_atomic(of, local)).then_some(local)
            });
            for &component in &self.places.copies[code] {
                row[component] = many.map_or(0, |local| local.0);
            }
        }
        self.choose(shared, &mut row, copies, 0, &mut Vec::new())
    }

    fn bad_choices(&mut self, shared: u32, locals: &[u32]) -> Vec<Vec<u32>> {
        let row: Rc<Box<[u32]>> = self.shared.get(shared).clone();
        let mut choices = Vec::new();
        if let Pattern::Never(nevers) = &self.pattern {
            let present: Vec<Present> = locals
                .iter()
                .map(|&local| {
                    let (code, local) = **self.locals.get(local);
                    (code, local, MANY)
                })
                .collect();
            let (frame, view) = (self.frame, &mut self.view);
            let row = &row[..frame.width()];
            for never in nevers {
                never.for_each_choice(frame, view, row, &present, &mut |chosen| {
                    choices.push(chosen.iter().map(|&at| locals[at]).collect());
                    false
                });
            }
            return choices;
        }
        let mut row = row.to_vec();
        for code in 0..self.places.copies.len() {
            for &component in &self.places.copies[code] {
                row[component] = self.view.stopped(code).0;
            }
        }
        if self.is_pattern_with(&mut row, &[]) {
            return vec![Vec::new()];
        }
        let mut rest = Vec::new();
        for &local in locals {
            match self.is_pattern_with(&mut row, &[local]) {
                true => choices.push(vec![local]),
                false => rest.push(local),
            }
        }
        for (at, &one) in rest.iter().enumerate() {
            for &two in &rest[at..] {
                if self.may_meet(one, two) && self.is_pattern_with(&mut row, &[one, two]) {
                    choices.push(vec![one, two]);
                }
            }
        }
        choices
    }

    fn doubt(&self) -> Option<String> {
        let gave_up: Option<&AtomicBool> = match &self.pattern {
            Pattern::Never(_) | Pattern::Race(_) => None,
            Pattern::Triangle(triangles) => Some(&triangles.gave_up),
            Pattern::Fragile(fragility) => Some(&fragility.gave_up),
        };
        gave_up
            .filter(|gave_up| gave_up.load(Ordering::Relaxed))
            .map(|_| crate::tso::alone::RUNS_ON_FOR_EVER.to_owned())
    }

    fn shared_numbers(&mut self, shared: u32) -> Option<Vec<i64>> {
        let row: Rc<Box<[u32]>> = self.shared.get(shared).clone();
        let frame = self.frame;
        let mut numbers = vec![row[frame.width()].into()];
        for &(component, code) in &self.fixed_thread {
            put_local(
                frame,
                &mut self.view,
                code,
                LocalId(row[component]),
                &mut numbers,
            )?;
        }
        let memory = &row[frame.thread_count()..frame.width()];
        numbers.extend(memory.iter().map(|&id| self.view.value(id)));
        Some(numbers)
    }

    fn local_numbers(&mut self, local: u32) -> Option<Vec<i64>> {
        let (code, local) = **self.locals.get(local);
        let mut numbers = vec![code as i64];
        put_local(self.frame, &mut self.view, code, local, &mut numbers)?;
        Some(numbers)
    }

    fn bytes(&self) -> u64 {
        (self.shared.len() * (self.frame.width() * 4 + 64)
            + self.locals.len() * 64
            + self.harmless.capacity() * 16) as u64
    }
}
