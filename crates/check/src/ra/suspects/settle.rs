//! States with the same prospects in one form, and those without any dropped.

use palisade_lang::{LocationId, Order, Value};
use palisade_threads::{ActionKind, LocalId, View};

use super::prospects::{MASK_BITS, Mask, Next};
use super::{AWARE, Aim, OUT, Suspects, Suspicion, Worker};
use crate::ra::blocks::Blocks;
use crate::ra::facts::{Fences, Horizon};
use crate::sc::execute;

impl<'f> Suspects<'f, '_> {
    /// Finds out what the threads of a row can do.
    pub(super) fn survey(&self, worker: &mut Worker<'f>, row: &[u32]) {
        let Worker {
            view,
            blocks,
            standing,
            ..
        } = worker;
        self.look_ahead(view, row, &mut standing.horizons);
        standing.memory.clear();
        for &place in &self.places {
            let component = self.frame.component(LocationId(place as u32));
            let fence = place == self.facts.fence_place();
            standing
                .memory
                .push(if fence { 0 } else { view.value(row[component]) });
        }
        standing.nexts.clear();
        for thread in 0..self.frame.thread_count() {
            let asleep = row[self.thread_at(thread)] & (AWARE | OUT) == 0;
            standing.nexts.push(if asleep {
                self.next(view, blocks, row, thread)
            } else {
                Next::default()
            });
        }
    }

    /// The class of the value of w, as the row has it: only if the culprit looks at it.
    pub(super) fn class_of(
        &self,
        view: &mut View<'_>,
        suspicion: Suspicion,
        culprit: Horizon,
        value: Option<Value>,
    ) -> u32 {
        let place = match suspicion.stale_location() {
            Some(x) if suspicion.aim != Aim::Writing => self.places[x],
            _ => return 0,
        };
        let may = &self.facts.futures[culprit.future as usize];
        let classes = &self.facts.classes[place];
        match value.filter(|_| may.chooses.has(place)) {
            Some(value) => 1 + view.value_id(classes.representative(value)),
            None => 0,
        }
    }

    /// Brings the new row, which was surveyed, into a form that rows with the same prospects share; `false` if it has none.
    pub(super) fn settle(
        &self,
        worker: &mut Worker<'f>,
        suspicion: Suspicion,
        culprit: usize,
    ) -> bool {
        let Some(futures) = &self.futures else {
            return true;
        };
        let Worker {
            view,
            blocks,
            row,
            standing,
            ..
        } = worker;
        standing.culprit_is_there = suspicion.aim == Aim::Racing
            && self.accesses(view, blocks, row, culprit, suspicion.location);
        if suspicion.aim == Aim::Racing {
            let may = &self.facts.futures[standing.horizons[culprit].future as usize];
            if !may.conflicts(suspicion.location, suspicion.plain) {
                return false;
            }
        }
        let value = self.value(view, row);
        let class = self.class_of(view, suspicion, standing.horizons[culprit], value);
        row[self.value_at()] = class;
        let value = self.value(view, row);
        standing.threads.clear();
        standing.threads.extend_from_slice(self.threads_of(row));
        standing.locations.clear();
        standing
            .locations
            .extend_from_slice(&row[self.location_at(0)..]);
        let Some(places) = standing.settle(futures, suspicion, culprit, value) else {
            return false;
        };
        for (thread, &status) in standing.threads.iter().enumerate() {
            row[self.thread_at(thread)] = status;
            if status == OUT {
                row[thread] = self.beginning[thread];
            }
        }
        if self.facts.places <= MASK_BITS {
            for place in (0..self.facts.fence_place()).filter(|place| places >> place & 1 == 0) {
                let component = self.frame.component(LocationId(place as u32));
                row[component] = match self.counters.filter(|counters| counters.locations[place]) {
                    Some(counters) => row[self.frame.component(LocationId(counters.base as u32))],
                    None => self.beginning[component],
                };
            }
        }
        row[self.location_at(0)..].copy_from_slice(&standing.locations);
        true
    }

    /// Whether some next action of a thread accesses a place.
    fn accesses(
        &self,
        view: &mut View<'_>,
        blocks: &mut Blocks,
        row: &[u32],
        thread: usize,
        place: usize,
    ) -> bool {
        let (code, local) = (self.frame.codes[thread], LocalId(row[thread]));
        (0..view.actions(code, local)).any(|action| {
            let kind = view.action(code, local, action).kind;
            let location = match kind {
                ActionKind::AtomicBegin => blocks.location(view, code, local, action),
                _ => kind.location(),
            };
            location.is_some_and(|l| l.index() == place)
        })
    }

    /// What a thread can do next to monitored locations.
    pub(super) fn next(
        &self,
        view: &mut View<'_>,
        blocks: &mut Blocks,
        row: &[u32],
        thread: usize,
    ) -> Next {
        let mut next = Next::default();
        let (code, local) = (self.frame.codes[thread], LocalId(row[thread]));
        for action in 0..view.actions(code, local) {
            let kind = view.action(code, local, action).kind;
            let place = match kind {
                ActionKind::Fence(Order::SeqCst) if self.facts.fences == Fences::Updates => {
                    Some(self.facts.fence_place())
                }
                ActionKind::AtomicBegin => blocks
                    .location(view, code, local, action)
                    .map(LocationId::index),
                _ => kind.location().map(LocationId::index),
            };
            let Some(location) = place.and_then(|place| self.facts.tracked[place]) else {
                continue;
            };
            let bit: Mask = 1 << location;
            match kind {
                ActionKind::Store { .. } => next.ever.stores |= bit,
                ActionKind::Fence(_) => {
                    next.ever.updates |= bit;
                    next.now.updates |= bit;
                }
                ActionKind::AtomicBegin => {
                    next.ever.reads |= bit;
                    next.ever.updates |= bit;
                    next.now.reads |= bit;
                    next.now.updates |= bit;
                }
                _ => {
                    next.ever.reads |= bit;
                    if matches!(kind, ActionKind::Rmw { .. }) {
                        next.ever.updates |= bit;
                    }
                    match execute(self.frame, view, row, kind) {
                        Ok(Some(done)) if done.written.is_some() => next.now.updates |= bit,
                        Ok(Some(_)) => next.now.reads |= bit,
                        _ => {}
                    }
                }
            }
        }
        next
    }
}
