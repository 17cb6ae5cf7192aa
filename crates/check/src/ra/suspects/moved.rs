//! States whose counters are moved to one place, or nearer to the others: see [`crate::ra::differences`].

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use palisade_explore::{Quotient, StandIns};
use palisade_lang::{PointId, Program, Value};
use rustc_hash::FxHashMap;

use super::{OUT, Suspects, Suspicion};
use crate::checkpoint::Kept;
use crate::ra::differences::Differences;

/// Which state stands for those that are it, moved, or that lag further behind.
pub struct Moved<'a, 'f, 'p> {
    space: &'a Suspects<'f, 'p>,
    differences: &'a Differences,
    margin: Value,
    /// The largest value that the base may have.
    most: Value,
    /// Something came too near to what is far behind: nothing is proved.
    lost: AtomicBool,
}

/// What a walking thread remembers.
#[derive(Default)]
pub struct Remembered {
    /// By code, local state, distance and the least value that is not far behind.
    locals: FxHashMap<(usize, u32, Value, Value), MovedLocal>,
    from: Vec<usize>,
}

/// A local state, moved.
#[derive(Clone, Copy)]
struct MovedLocal {
    local: u32,
    /// How many registers are far behind.
    far: usize,
    /// The least counter that is not one of these.
    least: Value,
}

/// So many local states are remembered.
const REMEMBERED: usize = 1 << 19;

impl<'a, 'f, 'p> Moved<'a, 'f, 'p> {
    /// None where states are moved and a thread begins with a counter in a register. The space must keep the base as it is.
    pub fn new(
        space: &'a Suspects<'f, 'p>,
        differences: &'a Differences,
        margin: Value,
    ) -> Option<Self> {
        let frame = space.frame;
        let begins_with_counter = |code: usize, local: u32| {
            let mut spelled = Vec::new();
            frame.threads.spell_local(code, local, &mut spelled);
            let live = frame.threads.live_at(code, PointId(spelled[0] as u32));
            live.iter().any(|r| differences.registers[code][r.index()])
        };
        let rows = frame.initial_rows(&mut frame.threads.view());
        let mut locals = (rows.iter()).flat_map(|row| frame.codes.iter().zip(row));
        if differences.moves && locals.any(|(&code, &local)| begins_with_counter(code, local)) {
            return None;
        }
        let largest = match differences.program.domain.size() {
            Some(size) => Value::try_from(size).ok()?.checked_sub(1)?,
            None => Value::MAX,
        };
        Some(Moved {
            space,
            differences,
            margin,
            most: largest.checked_sub(differences.most_added)?,
            lost: AtomicBool::new(false),
        })
    }

    /// Whether something came too near to what is far behind: then the walk says nothing.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Relaxed)
    }

    fn moved(
        &self,
        remembered: &mut Remembered,
        (code, local): (usize, u32),
        by: Value,
        least: Value,
    ) -> MovedLocal {
        if let Some(known) = remembered.locals.get(&(code, local, by, least)) {
            return *known;
        }
        let threads = &self.space.frame.threads;
        let mut spelled = Vec::new();
        threads.spell_local(code, local, &mut spelled);
        let live = threads.live_at(code, PointId(spelled[0] as u32));
        let mut moved = MovedLocal {
            local,
            far: 0,
            least: Value::MAX,
        };
        let point = spelled[0] as usize;
        for (register, value) in live.iter().zip(&mut spelled[1..]) {
            if !self.differences.registers[code][register.index()] {
                continue;
            }
            *value = value.saturating_sub(by);
            if *value < least && self.differences.may_be_far[code][register.index()] {
                *value = least - 1;
                moved.far += 1;
            } else {
                moved.least = moved.least.min(*value);
                let room = self.differences.room.as_ref();
                if room.is_some_and(|room| !room.has(code, point, *register, *value)) {
                    self.lost.store(true, Relaxed);
                }
            }
        }
        match threads.local_spelled(code, &spelled) {
            Some(local) => moved.local = local,
            None => self.lost.store(true, Relaxed),
        }
        if remembered.locals.len() >= REMEMBERED {
            remembered.locals.clear();
        }
        remembered.locals.insert((code, local, by, least), moved);
        moved
    }

    /// Moves a row; whether that is still one which stands for it.
    fn move_row(&self, remembered: &mut Remembered, row: &mut [u32]) -> bool {
        let (space, frame) = (self.space, self.space.frame);
        let threads = &frame.threads;
        let base = frame.thread_count() + self.differences.base;
        let base_value = threads.value(row[base]);
        if base_value > self.most {
            return false;
        }
        let by = match self.differences.moves {
            true => base_value.saturating_sub(threads.value(space.beginning[base])),
            false => 0,
        };
        let limit = base_value.saturating_sub(by).saturating_sub(self.margin);
        let mut least = Value::MAX;
        let room = self.differences.room.as_ref();
        let mut move_value = |number: &mut u32| {
            let value = threads.value(*number).saturating_sub(by);
            least = least.min(value);
            if room.is_some_and(|room| !(0..=room.most).contains(&value)) {
                self.lost.store(true, Relaxed);
            }
            if by != 0 {
                *number = threads.value_number(value);
            }
        };
        for location in self.differences.counters() {
            move_value(&mut row[frame.component(location)]);
        }
        let suspicion = Suspicion::decode(row[space.suspicion_at()]);
        let stale = suspicion.and_then(Suspicion::stale_location);
        let value = row[space.value_at()].checked_sub(1);
        if let (Some(location), Some(mut value)) = (stale, value)
            && self.differences.locations.get(space.places[location]) == Some(&true)
        {
            move_value(&mut value);
            row[space.value_at()] = value + 1;
        }
        let mut is_one = true;
        for thread in 0..frame.thread_count() {
            // What does not matter any more stays where it began.
            if row[space.thread_at(thread)] == OUT {
                continue;
            }
            let local = (frame.codes[thread], row[thread]);
            let moved = self.moved(remembered, local, by, limit);
            row[thread] = moved.local;
            is_one &= match moved.far {
                0 => true,
                1 => moved.least.min(least) >= limit,
                _ => false,
            };
        }
        space.sort_groups(row, &mut remembered.from);
        is_one
    }
}

impl StandIns for Moved<'_, '_, '_> {
    type Worker = Remembered;

    fn worker(&self) -> Remembered {
        Remembered::default()
    }

    /// Nothing is exchanged.
    fn exchange_for(&self, _: &mut Remembered, _: &[u32]) -> Vec<usize> {
        Vec::new()
    }

    fn exchange(&self, _: &mut Remembered, _: &[usize], _: &mut [u32]) {}

    fn label(&self, _: &[usize], label: u64) -> u64 {
        label
    }

    fn kind(&self, _: &[usize], kind: u64) -> u64 {
        kind
    }

    fn replace(&self, remembered: &mut Remembered, row: &mut [u32]) {
        if !self.is_lost() && !self.move_row(remembered, row) {
            self.lost.store(true, Relaxed);
        }
        if self.is_lost() {
            // The walk ends soon.
            let beginning = &self.space.beginning;
            row.fill(0);
            row[..beginning.len()].copy_from_slice(beginning);
        }
    }
}

impl Kept for Quotient<'_, Suspects<'_, '_>, Moved<'_, '_, '_>> {
    fn program(&self) -> &Program {
        self.space().program()
    }

    fn keep(&self, out: &mut Vec<i64>) {
        Kept::keep(self.space(), out);
    }

    fn recall(&self, numbers: &mut dyn Iterator<Item = i64>) -> Option<()> {
        Kept::recall(self.space(), numbers)
    }

    fn doubt(&self) -> Option<&'static str> {
        self.space().doubt()
    }
}
