//! The steps of a state.

use palisade_lang::Order;
use palisade_threads::{ActionKind, LocalId};

use super::monitor::Access;
use super::search::{Search, Target};
use crate::ra::blocks::Block;
use crate::ra::step::StepTaken;
use crate::sc::execute;

impl Search<'_, '_> {
    /// Whether only this thread has to be explored in this state.
    ///
    /// It has to be able to move; whatever it does next must not conflict with anything that another thread may ever do, and must not go
    /// back in the code (so that every cycle has a state in which all threads are explored). Then what it does next changes no check of
    /// another thread's access, now or later: it is the last event of its thread and nothing follows it in hb_SC. And others can
    /// not change the check of its own next access: they do not write its location, and only its own steps make it aware of more.
    pub(super) fn may_go_alone(&mut self, row: &[u32], thread: usize) -> bool {
        let (code, local) = (self.frame.codes[thread], LocalId(row[thread]));
        let actions = self.view.actions(code, local);
        if actions == 0 || self.view.may_close_loop(code, local) {
            return false;
        }
        let mut can_move = false;
        for action in 0..actions {
            let kind = self.view.action(code, local, action).kind;
            let (place, writes) = match kind {
                ActionKind::Local | ActionKind::Error(_) => {
                    can_move = true;
                    continue;
                }
                ActionKind::Fence(Order::SeqCst) => (self.facts.fence_place(), true),
                ActionKind::Fence(_) => {
                    can_move = true;
                    continue;
                }
                ActionKind::AtomicBegin | ActionKind::AtomicEnd => return false,
                ActionKind::Load { location, .. } | ActionKind::Wait { location, .. } => {
                    (location.index(), false)
                }
                ActionKind::Store { location, .. } | ActionKind::Rmw { location, .. } => {
                    (location.index(), true)
                }
            };
            for (other, &future) in self.futures.iter().enumerate() {
                if other == thread {
                    continue;
                }
                let future = &self.facts.futures[future as usize];
                if future.writes(place) || writes && future.touches(place) {
                    return false;
                }
            }
            can_move |= !matches!(execute(self.frame, &mut self.view, row, kind), Ok(None));
        }
        can_move
    }

    /// Calls `visit` for every step of a state.
    pub(super) fn expand(
        &mut self,
        row: &[u32],
        monitor: u32,
        visit: &mut dyn FnMut(&mut Self, Target<'_>),
    ) {
        let threads = self.frame.thread_count();
        if self.frame.atomic_thread(&mut self.view, row).is_some() {
            return;
        }
        let outlook = self.outlook(row);
        let alone = if self.options.reductions.partial_order {
            (0..threads).find(|&thread| self.may_go_alone(row, thread))
        } else {
            None
        };
        let mut new_row = row.to_vec();
        let mut from = Vec::new();
        for thread in 0..threads {
            if alone.is_some_and(|alone| alone != thread) || self.has_twin(row, thread) {
                continue;
            }
            let (code, local) = (self.frame.codes[thread], LocalId(row[thread]));
            for action in 0..self.view.actions(code, local) {
                let kind = self.view.action(code, local, action).kind;
                if kind == ActionKind::AtomicBegin {
                    self.expand_block(row, monitor, thread, action, visit);
                    continue;
                }
                let Ok(done) = execute(self.frame, &mut self.view, row, kind) else {
                    self.error_seen = true;
                    continue;
                };
                let Some(done) = done else {
                    continue;
                };
                self.error_seen |= matches!(kind, ActionKind::Error(_));
                let access = self
                    .slots
                    .access_of(self.facts, thread, kind, &done, |location| {
                        self.view.value(row[self.frame.component(location)])
                    });
                let written = done.written.map(|(location, value)| {
                    (self.frame.component(location), self.view.value_id(value))
                });
                let read = done.read.unwrap_or(0);
                let outcomes = self.view.resume(code, local, action, read).len();
                for outcome in 0..outcomes {
                    let next = self.view.resume(code, local, action, read)[outcome];
                    new_row.copy_from_slice(row);
                    new_row[thread] = next.0;
                    if let Some((component, value)) = written {
                        new_row[component] = value;
                    }
                    let taken = StepTaken {
                        thread,
                        action,
                        outcome,
                    };
                    self.arrive(
                        taken,
                        outlook,
                        monitor,
                        access,
                        &mut new_row,
                        &mut from,
                        visit,
                    );
                }
            }
        }
    }

    pub(super) fn expand_block(
        &mut self,
        row: &[u32],
        monitor: u32,
        thread: usize,
        action: usize,
        visit: &mut dyn FnMut(&mut Self, Target<'_>),
    ) {
        let (code, local) = (self.frame.codes[thread], LocalId(row[thread]));
        let location = self.blocks.location(&mut self.view, code, local, action);
        let old = location.map_or(0, |location| self.memory(row, location));
        let domain = self.frame.program().domain;
        let block = Block {
            code,
            local,
            action,
        };
        let ways = self.blocks.ways(&mut self.view, domain, block, old);
        let outlook = self.outlook(row);
        let mut new_row = row.to_vec();
        let mut from = Vec::new();
        for (outcome, way) in ways.iter().enumerate() {
            self.error_seen |= way.error;
            let access = self
                .slots
                .access_of_block(self.facts, thread, location, way, old);
            new_row.copy_from_slice(row);
            new_row[thread] = way.local.0;
            if let (Some(location), Some(value)) = (location, way.written) {
                new_row[self.frame.component(location)] = self.view.value_id(value);
            }
            let taken = StepTaken {
                thread,
                action,
                outcome,
            };
            self.arrive(
                taken,
                outlook,
                monitor,
                access,
                &mut new_row,
                &mut from,
                visit,
            );
        }
    }

    /// A step leads to `row`: finds the monitor there, sorts interchangeable threads, and tells the visitor.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn arrive(
        &mut self,
        taken: StepTaken,
        outlook_before: u32,
        monitor: u32,
        access: Option<Access>,
        row: &mut [u32],
        from: &mut Vec<usize>,
        visit: &mut dyn FnMut(&mut Self, Target<'_>),
    ) {
        let outlook = self.outlook(row);
        let mut next = if access.is_none() && outlook == outlook_before {
            monitor
        } else {
            self.next_monitor(monitor, access, outlook)
        };
        from.clear();
        from.extend(0..self.frame.thread_count());
        if !self.frame.groups.is_empty() {
            next = self.sort_threads(row, next, from);
        }
        visit(
            self,
            Target {
                taken,
                row,
                monitor: next,
                from,
            },
        );
    }

    /// Puts interchangeable threads into a canonical order, by local state and by what the monitor says of them.
    pub(super) fn sort_threads(
        &mut self,
        row: &mut [u32],
        monitor: u32,
        from: &mut [usize],
    ) -> u32 {
        self.monitors.get(monitor, &mut self.unsorted);
        let (layout, unsorted) = (&self.layout, &self.unsorted);
        for group in &self.frame.groups {
            from[group[0]..group[0] + group.len()].sort_by(|&a, &b| {
                row[a]
                    .cmp(&row[b])
                    .then_with(|| unsorted[layout.thread(a)].cmp(&unsorted[layout.thread(b)]))
            });
        }
        if from.iter().enumerate().all(|(to, &from)| to == from) {
            return monitor;
        }
        self.monitor.clone_from(unsorted);
        let mut locals = row[..from.len()].to_vec();
        for (to, &from) in from.iter().enumerate() {
            locals[to] = row[from];
            self.monitor[layout.thread(to)].copy_from_slice(&unsorted[layout.thread(from)]);
        }
        row[..locals.len()].copy_from_slice(&locals);
        self.monitors.number(&self.monitor)
    }

    /// Whether the thread before this one is interchangeable with it and in the same state: then both do the same.
    pub(super) fn has_twin(&self, row: &[u32], thread: usize) -> bool {
        self.frame.group_of[thread].is_some_and(|group| {
            let monitor = &self.current;
            thread > self.frame.groups[group][0]
                && row[thread] == row[thread - 1]
                && monitor[self.layout.thread(thread)] == monitor[self.layout.thread(thread - 1)]
        })
    }
}
