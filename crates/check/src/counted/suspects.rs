//! `robust` under C++20 (and RC11 without seq_cst accesses): the suspicions of [`crate::ra::suspects`], with what each copy knows in its local.
//!
//! One thread is suspected, the culprit. If it is a copy, it leaves the multiset before anything else happens. So the violation
//! is a matter of the shared part alone. A copy carries a few bits for the suspicion beside its local state; they change by its own steps, and once by
//! a broadcast, when the last write of the suspected location comes and it is forgotten which threads were aware of an earlier one.
//!
//! The rows are those of the program with two copies of each such thread: the first is the one that is looked at, the second is the culprit.

use palisade_lang::Program;
use palisade_threads::LocalId;

use super::{Asked, CopyStep, Count, Numbers, Places, System, code_reductions};
use crate::ra::critical::Critical;
use crate::ra::facts::{Facts, Fences};
use crate::ra::suspects::{AWARE, Suspects, Worker};
use crate::state::Frame;
use crate::{Options, Refusal};
use palisade_explore::Space;

/// Builds the system and asks it.
pub(super) fn ask<R>(
    program: &Program,
    options: &Options,
    ask: &mut dyn FnMut(&mut dyn System) -> R,
) -> Result<Asked<R>, Refusal> {
    crate::ra::check_meaning(program, options)?;
    let mut program = program.clone();
    program.nevers.clear();
    // Two copies access whatever a thread accesses from different threads, as more copies do; for cycles of more threads than that, nothing is dismissed.
    let instance = program.with_copies(2);
    let frame = Frame::new(&instance, &code_reductions(options));
    let facts = Facts::new(&instance, Fences::Fences);
    let everything = Critical::everything();
    let places = Places::new(&program, &instance);
    let copies = places.copies.iter().filter_map(|of_code| of_code.get(1));
    let culprits: Vec<usize> = places.fixed.iter().chain(copies).copied().collect();
    let spaces: Vec<Suspects<'_, '_>> = culprits
        .iter()
        .map(|&culprit| Suspects::of_one_culprit(&frame, &facts, &everything, culprit))
        .collect();
    let workers = spaces.iter().map(Space::worker).collect();
    let mut system = SuspectSystem {
        frame: &frame,
        spaces: &spaces,
        workers,
        culprits,
        places,
        shared: Numbers::new(),
        locals: Numbers::new(),
    };
    Ok(Asked::Answered(ask(&mut system)))
}

/// A shared part: which thread is suspected, and a row with nothing in the places of copies but the culprit's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Shared {
    /// A number in [`SuspectSystem::culprits`].
    culprit: usize,
    /// The culprit is to be a copy, and it has not left the multiset yet: nothing else happens before that.
    waiting: bool,
    row: Box<[u32]>,
}

/// A copy: its code, its local state, and what it knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Local {
    code: usize,
    local: LocalId,
    status: u32,
}

struct SuspectSystem<'f, 'p> {
    frame: &'f Frame<'p>,
    /// For each culprit.
    spaces: &'f [Suspects<'f, 'p>],
    workers: Vec<Worker<'f>>,
    culprits: Vec<usize>,
    places: Places,
    shared: Numbers<Shared>,
    locals: Numbers<Local>,
}

impl SuspectSystem<'_, '_> {
    /// Where a copy of this code is put when it is looked at.
    fn slot(&self, code: usize) -> usize {
        self.places.copies[code][0]
    }

    /// Adds the steps of the thread at a place of a row. Where it is a copy, that place is empty in the shared part.
    fn steps_at(&mut self, culprit: usize, row: &[u32], thread: usize, steps: &mut Vec<CopyStep>) {
        let space = &self.spaces[culprit];
        let worker = &mut self.workers[culprit];
        worker.view.begin_state();
        let mut after: Vec<Vec<u32>> = Vec::new();
        space.steps_of(worker, row, thread, &mut |row| after.push(row.to_vec()));
        let code = self.frame.codes[thread];
        let is_copy = !self.places.fixed.contains(&thread) && thread != self.culprits[culprit];
        for mut next in after {
            let local = LocalId(next[thread]);
            // Stuck in a block: no thread moves any more, and nothing is left to be found.
            if self.workers[culprit].view.is_atomic(code, local) {
                continue;
            }
            let broadcast = space.forgets_who_is_aware(row, &next).then_some(0);
            let mut to = None;
            if is_copy {
                let status = space.status_at(thread);
                to = Some(self.locals.number(Local {
                    code,
                    local,
                    status: next[status],
                }));
                (next[thread], next[status]) = (0, 0);
            }
            let shared = self.shared.number(Shared {
                culprit,
                waiting: false,
                row: next.into(),
            });
            steps.push(CopyStep {
                shared,
                to,
                broadcast,
                violates: false,
            });
        }
    }
}

impl System for SuspectSystem<'_, '_> {
    fn initial(&mut self) -> (Vec<u32>, Vec<u32>) {
        let mut rows = Vec::new();
        for number in 0..self.culprits.len() {
            let view = &mut self.workers[number].view;
            for mut row in self.frame.initial_rows(view) {
                row.resize(self.spaces[number].width(), 0);
                for &component in self.places.copies.iter().flatten() {
                    row[component] = 0;
                }
                rows.push(self.shared.number(Shared {
                    culprit: number,
                    waiting: !self.places.fixed.contains(&self.culprits[number]),
                    row: row.into(),
                }));
            }
        }
        rows.sort_unstable();
        rows.dedup();
        let mut locals = Vec::new();
        for code in 0..self.places.copies.len() {
            if self.places.copies[code].is_empty() {
                continue;
            }
            let Some(worker) = self.workers.first_mut() else {
                continue;
            };
            for local in worker.view.initial_of_copy(code, 0) {
                locals.push(self.locals.number(Local {
                    code,
                    local,
                    status: 0,
                }));
            }
        }
        (rows, locals)
    }

    fn steps(&mut self, shared: u32, mover: Option<u32>) -> Vec<CopyStep> {
        let shared = self.shared.get(shared).clone();
        let culprit = shared.culprit;
        let mut steps = Vec::new();
        let mut row = shared.row.to_vec();
        if shared.waiting {
            let place = self.culprits[culprit];
            let copy = mover.map(|local| self.locals.get(local).clone());
            if let Some(copy) = copy.filter(|c| c.code == self.frame.codes[place]) {
                row[place] = copy.local.0;
                steps.push(CopyStep {
                    shared: self.shared.number(Shared {
                        culprit,
                        waiting: false,
                        row: row.into(),
                    }),
                    to: None,
                    broadcast: None,
                    violates: false,
                });
            }
            return steps;
        }
        match mover {
            Some(local) => {
                let copy = self.locals.get(local).clone();
                let slot = self.slot(copy.code);
                row[slot] = copy.local.0;
                row[self.spaces[culprit].status_at(slot)] = copy.status;
                self.steps_at(culprit, &row, slot, &mut steps);
            }
            None => {
                let mut threads = self.places.fixed.clone();
                if !threads.contains(&self.culprits[culprit]) {
                    threads.push(self.culprits[culprit]);
                }
                for thread in threads {
                    self.steps_at(culprit, &row, thread, &mut steps);
                }
            }
        }
        steps
    }

    fn transfer(&mut self, _broadcast: u32, local: u32) -> u32 {
        let mut copy: Local = self.locals.get(local).as_ref().clone();
        copy.status &= !AWARE;
        self.locals.number(copy)
    }

    fn is_bad(&mut self, shared: u32, _copies: &[(u32, Count)]) -> bool {
        let shared = self.shared.get(shared).clone();
        let worker = &mut self.workers[shared.culprit];
        worker.view.begin_state();
        self.spaces[shared.culprit].is_violation(worker, &shared.row)
    }

    fn bad_choices(&mut self, shared: u32, _locals: &[u32]) -> Vec<Vec<u32>> {
        match self.is_bad(shared, &[]) {
            true => vec![Vec::new()],
            false => Vec::new(),
        }
    }

    fn bytes(&self) -> u64 {
        let width = self.spaces.first().map_or(0, Space::width);
        (self.shared.len() * (width * 4 + 96) + self.locals.len() * 64) as u64
    }
}
