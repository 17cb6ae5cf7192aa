//! The search for one stale access at a time.
//!
//! SCM keeps, for all threads and locations at once, what could be stale. But what it says about one stale write *w* does not depend on
//! what it says about others. So this search guesses: a *culprit* τ, a location x, the write w of x that τ will find stale, and the
//! last write `w_max_x` of x before that. Before the guess it is nothing but the SC walk; behind it a few bits are enough:
//!
//! - for each thread and location what it knows of w's successor, a bit for each view (`views`; for release/acquire, one slot of V and W
//!   in Figure 6);
//! - for each thread whether it is *aware* of `w_max_x` (one column of V_SC in Figure 5).
//!
//! The program is not robust if and only if a culprit that is aware and has not seen w's successor is about to access x in a way that could be
//! stale (Theorem 5.1). It is enough to look at few runs:
//!
//! 1. What is not hb_SC-before an event of the culprit can be left out of the execution graph: the rest is still a run under SC, and
//!    the culprit still stands where it stood.
//! 2. Runs with the same graph are equivalent, so w's successor w′ comes as late as possible, and then `w_max_x`: all events behind w′ are
//!    hb_SC-behind w′, and all events behind `w_max_x` are hb_SC-behind `w_max_x`. No other thread moves any more. So M_SC and W_SC are
//!    simple: the locations that were accessed, and those that were written, since then.
//! 3. If w is not the write just before `w_max_x`, then that one would not do: its value is not the one that the culprit needs, or a
//!    read-modify-write follows it and the culprit writes.
//!
//! All three use equality of graphs, prefixes that are closed under `po ∪ rf ∪ mo ∪ fr`, and that a later w forbids less. Nothing of that depends on
//! what synchronises, so they hold for C++20 as for release/acquire; what the two models differ in is which bits a step changes.
//!
//! Data races are looked for in the same way: a suspicion guesses the first of the two accesses, and one bit for each view says whether it happens before what
//! comes there. Where every read acquires and every write releases that is not needed, because then some SC run has a state
//! in which both accesses are next (Lahav and Margalit 2019, Section 6).
//!
//! For `observational` the program has blind loads (`observe`). A suspicion of a load ends with the blind one, and the SC walk goes on from there until the value
//! is used (`Aim::Using`). So whatever is left out before must still be there afterwards: states are not brought into a smaller form.

mod findings;
mod moved;
mod prospects;
mod settle;
mod steps;
mod views;
mod whole;

use std::cmp::Ordering;
use std::sync::atomic::AtomicBool;

use palisade_explore::{Names, Numbers, Space, Successors};
use palisade_lang::{Order, Program, Value};
use palisade_threads::{LocalId, View};

use super::blocks::Blocks;
use super::critical::Critical;
use super::differences::Differences;
use super::facts::{Facts, Horizon};
use super::observe::Roles;
use super::step::{AccessType, StepTaken};
use crate::Reductions;
use crate::checkpoint::{Kept, keep_flags, recall_flags};
use crate::names::RowNames;
use crate::sc::StepLabel;
use crate::state::Frame;
pub use moved::Moved;
use prospects::{Futures, MASK_BITS, Mask, Standing};
pub use whole::Whole;

/// Of a thread: one of its events is hb_SC-behind `w_max_x` (w′ before that is there).
pub const AWARE: u32 = 1;
/// Of a thread: it is the culprit.
pub const CULPRIT: u32 = 2;
/// Of a thread, alone: it does not matter any more, and stands for ever where it began.
pub const OUT: u32 = 4;
/// Of a location: it was read since.
pub const READ: u32 = 1;
/// Of a location: it was written since.
pub const WRITTEN: u32 = 2;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Accesses that could be stale, and data races.
    StaleOrRacing,
    /// Data races in SC runs.
    Racing,
    /// Stale values that are used, accesses other than loads that could be stale, and data races.
    Observed,
}

/// Which access of the culprit is suspected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// Any: w is the write just before `w_max_x`.
    Any,
    /// One that looks at the value, and needs another one than those that came behind w.
    Choosing,
    /// A store, or an update of any value: w is the last write that no update follows.
    Writing,
    /// Not a stale access: one that races with the access that began the suspicion.
    Racing,
    /// A load was stale, and its value may be used.
    Using,
}

impl Aim {
    const ALL: [Aim; 5] = [
        Aim::Any,
        Aim::Choosing,
        Aim::Writing,
        Aim::Racing,
        Aim::Using,
    ];
}

/// What is suspected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspicion {
    /// x, by its number among the monitored locations; for a race the place that is raced for.
    pub location: usize,
    /// The access.
    pub aim: Aim,
    /// `w_max_x` is there: x is not written any more. Always set for a race.
    pub last: bool,
    /// w′ is a plain store: a write can go between w and w′. For a race: the first access writes.
    pub plain: bool,
    /// Only for a race: the first access is nonatomic.
    pub nonatomic: bool,
}

impl Suspicion {
    fn encode(self) -> u32 {
        let flags = [self.nonatomic, self.last, self.plain];
        let flags = flags.into_iter().fold(0, |n, flag| n * 2 + u32::from(flag));
        1 + (self.location as u32 * 5 + self.aim as u32) * 8 + flags
    }

    /// x as a set, which is empty for a race.
    fn mask(self) -> Mask {
        self.stale_location().map_or(0, |x| 1 << x)
    }

    /// x, where an access of it is suspected to be stale.
    fn stale_location(self) -> Option<usize> {
        (!matches!(self.aim, Aim::Racing | Aim::Using)).then_some(self.location)
    }

    fn decode(number: u32) -> Option<Self> {
        let number = number.checked_sub(1)?;
        Some(Suspicion {
            location: number as usize / 40,
            aim: Aim::ALL[number as usize / 8 % 5],
            nonatomic: number & 4 != 0,
            last: number & 2 != 0,
            plain: number & 1 != 0,
        })
    }
}

/// The state space: a row of the SC walk, and behind it what is suspected.
pub struct Suspects<'f, 'p> {
    frame: &'f Frame<'p>,
    facts: &'f Facts,
    critical: &'f Critical,
    reductions: Reductions,
    wanted: Wanted,
    /// The only thread that is suspected of anything, where there is one; its races are then all found by suspicions.
    only_culprit: Option<usize>,
    /// Where only differences of counters matter: one that does not matter any more is put where the base is, which stays.
    pub counters: Option<&'f Differences>,
    /// Where the program has blind loads.
    roles: Option<&'f Roles>,
    /// None where there are too many locations or threads for sets of bits: then no state is brought into a smaller form.
    futures: Option<Futures>,
    /// The places of the monitored locations.
    places: Vec<usize>,
    /// A row at the beginning: where what does not matter stands.
    beginning: Vec<u32>,
    /// An assertion failed or another error of the program was reached.
    pub error_seen: AtomicBool,
}

/// What a walking thread carries along.
pub struct Worker<'t> {
    /// The automata.
    pub view: View<'t>,
    /// The ways through blocks.
    pub blocks: Blocks,
    horizons: Vec<Horizon>,
    standing: Standing,
    row: Vec<u32>,
    fresh: Vec<u32>,
    from: Vec<usize>,
    outcomes: Vec<Outcome>,
}

/// An access to memory.
#[derive(Clone, Copy, Debug)]
struct Access {
    /// The place.
    place: usize,
    /// Its number among the monitored locations.
    location: Option<usize>,
    kind: AccessType,
    /// As it counts for this location.
    order: Order,
    /// The number of the value that was there.
    old: u32,
}

/// An access to a monitored location, in a search for a stale access.
#[derive(Clone, Copy, Debug)]
struct Monitored {
    location: usize,
    kind: AccessType,
    order: Order,
    old: u32,
}

impl Access {
    fn monitored(self) -> Option<Monitored> {
        let Access {
            kind, order, old, ..
        } = self;
        Some(Monitored {
            location: self.location?,
            kind,
            order,
            old,
        })
    }
}

impl Monitored {
    fn as_views_see_it(self) -> views::Sync {
        views::Sync {
            reads: self.kind != AccessType::Write,
            writes: self.kind != AccessType::Read,
            order: self.order,
        }
    }
}

/// What a step of a thread does.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    action: usize,
    outcome: usize,
    local: LocalId,
    written: Option<(usize, u32)>,
    access: Option<Access>,
    /// The order of a fence, where fences are events of their own.
    fence: Option<Order>,
    /// A blind load: the suspected one, or one that is skipped.
    blind: Option<Blind>,
}

/// What a blind load is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blind {
    Skipped,
    Suspected,
}

/// A step, and for each component of the new row the one of the old row that it was.
struct Taken<'a> {
    step: StepTaken,
    point: u32,
    from: &'a [usize],
}

/// What is done with each step: it is told the new row.
type Visit<'v> = dyn FnMut(&Taken<'_>, &[u32]) + 'v;

impl<'f, 'p> Suspects<'f, 'p> {
    /// The space of a program.
    pub fn new(
        frame: &'f Frame<'p>,
        facts: &'f Facts,
        critical: &'f Critical,
        reductions: Reductions,
        wanted: Wanted,
        roles: Option<&'f Roles>,
    ) -> Self {
        let fit = frame.thread_count() <= MASK_BITS && facts.tracked_count <= MASK_BITS;
        let futures = (fit && reductions.monitors && roles.is_none())
            .then(|| Futures::new(facts, frame.thread_count()));
        Suspects {
            frame,
            facts,
            critical,
            reductions,
            wanted,
            only_culprit: None,
            counters: None,
            roles,
            futures,
            places: facts.tracked_places(),
            beginning: frame
                .initial_rows(&mut frame.threads.view())
                .into_iter()
                .next()
                .unwrap_or_default(),
            error_seen: AtomicBool::new(false),
        }
    }

    /// The same for one culprit alone, where threads may have any number of copies: nothing is made smaller.
    pub fn of_one_culprit(
        frame: &'f Frame<'p>,
        facts: &'f Facts,
        critical: &'f Critical,
        culprit: usize,
    ) -> Self {
        let wanted = Wanted::StaleOrRacing;
        let none = Reductions::NONE;
        let mut space = Suspects::new(frame, facts, critical, none, wanted, None);
        space.only_culprit = Some(culprit);
        space
    }

    fn culprits(&self) -> std::ops::Range<usize> {
        match self.only_culprit {
            Some(culprit) => culprit..culprit + 1,
            None => 0..self.frame.thread_count(),
        }
    }

    /// Whether the culprit is about to do what it is suspected of.
    pub fn is_violation(&self, worker: &mut Worker<'f>, row: &[u32]) -> bool {
        row[self.suspicion_at()] != 0 && !self.violations(worker, row).is_empty()
    }

    /// Where the row says what a thread knows.
    pub fn status_at(&self, thread: usize) -> usize {
        self.thread_at(thread)
    }

    /// Whether a step from one row to another begins to look for the threads that are aware of a later write: no other thread is any more.
    pub fn forgets_who_is_aware(&self, before: &[u32], after: &[u32]) -> bool {
        let [before, after] =
            [before, after].map(|row| Suspicion::decode(row[self.suspicion_at()]));
        matches!((before, after), (Some(before), Some(after)) if !before.last && after.last)
    }

    fn suspicion_at(&self) -> usize {
        self.frame.width()
    }

    fn value_at(&self) -> usize {
        self.frame.width() + 1
    }

    fn thread_at(&self, thread: usize) -> usize {
        self.frame.width() + 2 + thread
    }

    fn location_at(&self, location: usize) -> usize {
        self.frame.width() + 2 + self.frame.thread_count() + location
    }

    fn threads_of<'r>(&self, row: &'r [u32]) -> &'r [u32] {
        &row[self.thread_at(0)..self.location_at(0)]
    }

    fn culprit(&self, row: &[u32]) -> usize {
        let threads = self.threads_of(row).iter();
        threads.clone().position(|s| s & CULPRIT != 0).unwrap_or(0)
    }

    /// The value of w, if it matters.
    fn value(&self, view: &mut View<'_>, row: &[u32]) -> Option<Value> {
        let id = row[self.value_at()].checked_sub(1)?;
        Some(view.value(id))
    }

    fn look_ahead(&self, view: &mut View<'_>, row: &[u32], horizons: &mut Vec<Horizon>) {
        horizons.clear();
        for (instance, &code) in self.frame.codes.iter().enumerate() {
            let local = LocalId(row[instance]);
            let out = row[self.thread_at(instance)] == OUT;
            horizons.push(if out {
                Horizon::default()
            } else {
                self.facts.horizon(view, instance, code, local)
            });
        }
    }
}

fn label(taken: &Taken<'_>) -> u64 {
    StepLabel {
        component: taken.step.thread,
        action: taken.step.action,
        outcome: taken.step.outcome,
    }
    .encode(taken.point)
}

impl Kept for Suspects<'_, '_> {
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
}

impl<'f> Space for Suspects<'f, '_> {
    type Worker = Worker<'f>;

    fn worker(&self) -> Worker<'f> {
        Worker {
            view: self.frame.threads.view(),
            blocks: Blocks::default(),
            horizons: Vec::new(),
            standing: Standing::default(),
            row: Vec::new(),
            fresh: Vec::new(),
            from: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    fn width(&self) -> usize {
        self.location_at(self.facts.tracked_count)
    }

    fn bounds(&self) -> Option<Vec<u32>> {
        let mut bounds = self.frame.bounds();
        // A location is a number among the monitored ones, or for a race among all.
        let places = self
            .facts
            .tracked_count
            .max(self.frame.program().locations.len());
        let suspicions = 40 * places as u32 + 1;
        bounds.extend([suspicions, self.frame.threads.value_count() + 1]);
        // Behind them are sets of flags, any of which means something.
        bounds.resize(self.width(), u32::MAX);
        Some(bounds)
    }

    fn names(&self) -> Option<Box<dyn Names + '_>> {
        let value = Numbers::OneMoreThan(RowNames::values(self.frame));
        let names = RowNames::new(self.frame, vec![&self.error_seen])
            .then(1, Numbers::Plain)
            .then(1, value)
            .then_for_each_thread(Numbers::Plain)
            .then(self.facts.tracked_count, Numbers::Plain)
            .arranged_by(|row| self.sort_groups(row, &mut Vec::new()));
        Some(Box::new(names))
    }

    fn initial(&self, worker: &mut Worker<'f>, out: &mut Successors<'_>) {
        for mut row in self.frame.initial_rows(&mut worker.view) {
            row.resize(self.width(), 0);
            out.push(0, &row);
        }
    }

    fn expand(&self, worker: &mut Worker<'f>, row: &[u32], out: &mut Successors<'_>) {
        worker.view.begin_state();
        for violation in self.violations(worker, row) {
            let kind = self.kind(&mut worker.view, row, &violation);
            out.report(kind);
        }
        self.steps(worker, row, &mut |taken, row| out.push(label(taken), row));
    }

    fn compare_steps(&self, row: &[u32], a: u64, b: u64) -> Ordering {
        let status = |thread: usize| row[self.thread_at(thread)];
        let tell_apart = |i, j| status(i).cmp(&status(j));
        self.frame.compare_steps(row, a, b, tell_apart)
    }

    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        let threads = &self.frame.threads;
        let mut at = 0;
        while at < self.frame.thread_count() {
            let code = self.frame.codes[at];
            let length = self.frame.group_of[at].map_or(1, |g| self.frame.groups[g].len());
            let by_content = |x: &(u32, u32), y: &(u32, u32)| {
                threads
                    .compare_locals(code, LocalId(x.0), LocalId(y.0))
                    .then(x.1.cmp(&y.1))
            };
            let sorted = |row: &[u32]| {
                let mut members: Vec<(u32, u32)> = (at..at + length)
                    .map(|thread| (row[thread], row[self.thread_at(thread)]))
                    .collect();
                members.sort_by(by_content);
                members
            };
            for (x, y) in sorted(a).iter().zip(&sorted(b)) {
                match by_content(x, y) {
                    Ordering::Equal => {}
                    other => return other,
                }
            }
            at += length;
        }
        for component in self.frame.thread_count()..self.frame.width() {
            let value = |row: &[u32]| threads.value(row[component]);
            match value(a).cmp(&value(b)) {
                Ordering::Equal => {}
                other => return other,
            }
        }
        let value = |row: &[u32]| {
            row[self.value_at()]
                .checked_sub(1)
                .map(|id| threads.value(id))
        };
        let locations = self.location_at(0);
        a[self.suspicion_at()]
            .cmp(&b[self.suspicion_at()])
            .then_with(|| value(a).cmp(&value(b)))
            .then_with(|| a[locations..].cmp(&b[locations..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suspicions_come_back_as_they_were() {
        assert_eq!(Suspicion::decode(0), None);
        let mut numbers = Vec::new();
        for location in [0, 1, 63] {
            for aim in Aim::ALL {
                for flags in 0..8 {
                    let suspicion = Suspicion {
                        location,
                        aim,
                        last: flags & 1 != 0,
                        plain: flags & 2 != 0,
                        nonatomic: flags & 4 != 0,
                    };
                    let number = suspicion.encode();
                    assert_eq!(Suspicion::decode(number), Some(suspicion));
                    assert!(!numbers.contains(&number));
                    numbers.push(number);
                }
            }
        }
    }
}
