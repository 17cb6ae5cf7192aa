//! What the actions of one code do, by the value that they read: a flat table, because a search does little else than look it up.

use palisade_lang::LocationId;

use crate::LocalId;

/// What becomes of an action that reads a certain value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It has to wait for another value.
    Waits,
    /// It writes nothing, and the thread is here afterwards: nearly every step is one of these two.
    To(LocalId),
    /// Something else ([`View::other_step`](crate::View::other_step)).
    Other(u32),
}

/// What else may become of an action that reads a certain value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherStep {
    /// It writes something, and the thread is here afterwards.
    Writes(Written, LocalId),
    /// It writes this, if anything, and the thread is at one of several places afterwards ([`View::nexts`](crate::View::nexts)).
    Branches(Option<Written>, Nexts),
    /// The program errs, in a way that only shows with the value read; there is no successor.
    Errs,
}

/// What a step writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Where.
    pub location: LocationId,
    /// The number of the value.
    pub value: u32,
}

/// Some of all successors that are remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nexts {
    pub(crate) begin: u32,
    pub(crate) end: u32,
}

/// The steps of one code that were found.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// For every action, the part of `entries` that belongs to it.
    regions: Vec<Region>,
    /// The number of the value read, and the step.
    entries: Vec<(u32, u32)>,
    /// Steps that do not fit into a number.
    others: Vec<OtherStep>,
}

/// A small hash table: an entry is at the place that its number names, or at the next one that is free.
#[derive(Clone, Copy, Debug)]
struct Region {
    /// The location that is read, or [`NOWHERE`].
    reads: u32,
    first: u32,
    /// Its size, a power of two, minus one.
    mask: u32,
    used: u32,
}

const NOWHERE: u32 = u32::MAX;

// Steps as numbers.
const UNKNOWN: u32 = 0;
const WAITS: u32 = 1;
/// From here on: writes nothing, and the thread is in this local state.
const ONE: u32 = 2;
/// From here on: an index into `others`.
const OTHER: u32 = 1 << 31;

impl Steps {
    /// Room for what another action does; `reads`: the location that it reads.
    pub(crate) fn add_action(&mut self, reads: Option<LocationId>) {
        // What reads nothing has one step. All others leave a free place, at which a search ends.
        let size = if reads.is_some() { 2 } else { 1 };
        let first = self.entries.len() as u32;
        self.entries.resize(self.entries.len() + size, (0, UNKNOWN));
        self.regions.push(Region {
            reads: reads.map_or(NOWHERE, |location| location.0),
            first,
            mask: size as u32 - 1,
            used: 0,
        });
    }

    /// Entries in all, as a measure of memory.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The step of an action, if it is known; `read` says the number of the value at a location. Otherwise that number, 0 where nothing is read.
    #[inline(always)]
    pub(crate) fn find(
        &self,
        action: usize,
        read: impl FnOnce(LocationId) -> u32,
    ) -> Result<Step, u32> {
        let region = &self.regions[action];
        let number = match region.reads {
            NOWHERE => 0,
            location => read(LocationId(location)),
        };
        let mut at = number & region.mask;
        loop {
            let (key, step) = self.entries[(region.first + at) as usize];
            if step == UNKNOWN {
                return Err(number);
            }
            if key == number {
                return Ok(Self::decode(step));
            }
            at = (at + 1) & region.mask;
        }
    }

    /// A step that is something else.
    #[inline]
    pub(crate) fn other(&self, number: u32) -> &OtherStep {
        &self.others[number as usize]
    }

    /// Makes room for another one.
    pub(crate) fn add_other(&mut self, step: OtherStep) -> Step {
        self.others.push(step);
        Step::Other((self.others.len() - 1) as u32)
    }

    #[inline(always)]
    fn decode(step: u32) -> Step {
        match step {
            WAITS => Step::Waits,
            ONE..OTHER => Step::To(LocalId(step - ONE)),
            _ => Step::Other(step - OTHER),
        }
    }

    /// Whether there may be a [`Step::To`] this one.
    pub(crate) fn can_go_to(next: LocalId) -> bool {
        next.0 < OTHER - ONE
    }

    fn encode(step: Step) -> u32 {
        match step {
            Step::Waits => WAITS,
            Step::To(next) => ONE + next.0,
            Step::Other(number) => OTHER + number,
        }
    }

    /// Adds a step that was not known.
    pub(crate) fn insert(&mut self, action: usize, number: u32, step: Step) {
        let step = Self::encode(step);
        let mut region = self.regions[action];
        if region.reads != NOWHERE && (region.used + 1) * 4 > (region.mask + 1) * 3 {
            let old = region;
            region.first = self.entries.len() as u32;
            region.mask = 2 * old.mask + 1;
            self.entries
                .resize(self.entries.len() + region.mask as usize + 1, (0, UNKNOWN));
            for at in old.first..=old.first + old.mask {
                let (number, step) = self.entries[at as usize];
                if step != UNKNOWN {
                    self.put(region, number, step);
                }
            }
        }
        self.put(region, number, step);
        region.used += 1;
        self.regions[action] = region;
    }

    fn put(&mut self, region: Region, number: u32, step: u32) {
        let mut at = number & region.mask;
        while self.entries[(region.first + at) as usize].1 != UNKNOWN {
            at = (at + 1) & region.mask;
        }
        self.entries[(region.first + at) as usize] = (number, step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_found() {
        let mut steps = Steps::default();
        let x = LocationId(7);
        steps.add_action(None);
        steps.add_action(Some(x));
        steps.add_action(Some(x));
        let step = |number: u32| match number % 3 {
            0 => Step::Waits,
            1 => Step::To(LocalId(number)),
            _ => Step::Other(number),
        };
        let nothing = |_| unreachable!();
        assert_eq!(steps.find(0, nothing), Err(0));
        steps.insert(0, 0, step(3));
        assert_eq!(steps.find(0, nothing), Ok(step(3)));
        let numbers: Vec<u32> = (0..40)
            .chain((0..60).map(|n| n * 64))
            .chain([u32::MAX >> 2])
            .collect();
        let written = Written {
            location: x,
            value: 5,
        };
        for other in [OtherStep::Errs, OtherStep::Writes(written, LocalId(3))] {
            let Step::Other(number) = steps.add_other(other) else {
                unreachable!()
            };
            assert_eq!(*steps.other(number), other);
        }
        let mut known = std::collections::HashSet::new();
        for number in numbers {
            for action in [1, 2] {
                if known.insert((action, number)) {
                    assert_eq!(steps.find(action, |_| number), Err(number));
                    steps.insert(action, number, step(number));
                }
            }
            for &(action, number) in &known {
                assert_eq!(steps.find(action, |_| number), Ok(step(number)));
            }
        }
    }
}
