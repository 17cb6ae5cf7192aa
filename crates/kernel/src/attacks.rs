//! Attacks: what `robust` under TSO is made of (Bouajjani, Derevenetc, Meyer, *Checking and Enforcing Robustness against TSO*, Theorem 1).
//!
//! A program is not robust if and only if some run has this form: after a run under sequential consistency one thread, the attacker, puts a store into its
//! buffer, and more stores behind it, and goes on up to a load from memory. The others, the helpers, run as under sequential consistency, and every step of
//! theirs *happens after* a load of the attacker: by a thread that has taken such a step before, or by an access to a location that such a step has
//! stored to, or by a store to one that such a step has loaded. At the end such a step has accessed the location of the first delayed store.
//!
//! So behind threads and memory a row says: the phase, the attacker, the location of the first delayed store; each thread's role; for each location whether
//! the attacker has a value in its buffer, and which; and how each location was accessed by what happens after the attacker's loads.
//! An `atomic` block is one action: until one of its accesses happens after the others, its accesses are put down as pending.

use crate::machine::{Effect, Machine, Step};
use palisade_lang::Value;

/// Phases.
const NOBODY_ATTACKS: Value = 0;
const GOES_ON: Value = 1;
const HAS_LOADED: Value = 2;
const HAS_STOPPED: Value = 3;

/// Roles of threads.
const ORIGINAL: Value = 0;
const JOINED: Value = 1;
const PENDING: Value = 2;
const ATTACKER: Value = 3;

/// How a location was accessed; added to this, by a block that has not joined so far.
const NOT: Value = 0;
const LOADED: Value = 1;
const STORED: Value = 2;
const BY_PENDING: Value = 2;

/// Where things stand in a row of an attack.
pub struct Attacks<'m, 'p> {
    pub machine: &'m Machine<'p>,
}

impl Attacks<'_, '_> {
    fn phase(&self) -> usize {
        self.machine.width
    }

    fn role(&self, thread: usize) -> usize {
        self.machine.width + 3 + thread
    }

    fn buffer(&self, location: usize) -> usize {
        self.role(self.machine.threads.len()) + 2 * location
    }

    fn level(&self, location: usize) -> usize {
        self.buffer(self.locations()) + location
    }

    fn locations(&self) -> usize {
        self.machine.program.locations.len()
    }

    fn width(&self) -> usize {
        self.level(self.locations())
    }

    pub fn initial(&self) -> Vec<Value> {
        let mut row = self.machine.initial();
        row.resize(self.width(), 0);
        row
    }

    /// Whether the numbers are a state of a run, or of an attack.
    pub fn is_state(&self, row: &[Value]) -> bool {
        let threads = self.machine.threads.len();
        if row.len() != self.width() {
            return false;
        }
        let [phase, attacker, target] = [0, 1, 2].map(|n| row[self.phase() + n]);
        if phase == NOBODY_ATTACKS {
            return row[self.phase()..].iter().all(|&n| n == 0)
                && (0..threads).all(|t| self.machine.stands(row, t));
        }
        let known = |number: Value, most: usize| usize::try_from(number).is_ok_and(|n| n < most);
        (GOES_ON..=HAS_STOPPED).contains(&phase)
            && known(attacker, threads)
            && known(target, self.locations())
            && (0..threads).all(|t| {
                let (role, is_attacker) = (row[self.role(t)], t == attacker as usize);
                (role == ATTACKER) == is_attacker
                    && (ORIGINAL..=ATTACKER).contains(&role)
                    && match is_attacker && phase == HAS_STOPPED {
                        true => row[self.machine.threads[t].at] == -1,
                        false => self.machine.stands(row, t),
                    }
            })
            && (0..self.locations()).all(|l| {
                (0..=1).contains(&row[self.buffer(l)])
                    && (NOT..=STORED + BY_PENDING).contains(&row[self.level(l)])
            })
    }

    pub fn is_attack(&self, row: &[Value]) -> bool {
        row[self.phase()] != NOBODY_ATTACKS
    }

    fn attacker(&self, row: &[Value]) -> usize {
        row[self.phase() + 1] as usize
    }

    /// The helper that is inside a block.
    fn holder(&self, row: &[Value]) -> Option<usize> {
        let attacker = self.attacker(row);
        (0..self.machine.threads.len()).find(|&t| t != attacker && self.machine.in_block(row, t))
    }

    /// Whether the attack has succeeded.
    pub fn succeeds(&self, row: &[Value]) -> bool {
        let target = row[self.phase() + 2] as usize;
        row[self.phase()] >= HAS_LOADED
            && (LOADED..=STORED).contains(&row[self.level(target)])
            && self.holder(row).is_none()
    }

    /// Everything that a row leads to.
    pub fn successors(&self, row: &[Value]) -> Vec<Vec<Value>> {
        let mut next = Vec::new();
        match row[self.phase()] {
            NOBODY_ATTACKS => self.before(row, &mut next),
            GOES_ON => self.attacker_goes_on(row, &mut next),
            phase => match self.holder(row) {
                Some(holder) => self.helper_goes_on(row, holder, &mut next),
                None => {
                    if phase == HAS_LOADED {
                        self.attacker_goes_on(row, &mut next);
                    }
                    for helper in 0..self.machine.threads.len() {
                        if helper != self.attacker(row) {
                            self.helper_goes_on(row, helper, &mut next);
                        }
                    }
                }
            },
        }
        next
    }

    fn steps_on_memory(&self, row: &[Value], thread: usize) -> Vec<Step> {
        let memory = self.machine.memory;
        let steps = self.machine.steps(row, thread, &|l| row[memory + l]);
        // A thread that stands before an error can do no less than one that the error has stopped.
        let right = |step: &Step| step.effect != Effect::Wrong;
        steps.into_iter().filter(right).collect()
    }

    /// A run under sequential consistency, and every way to end it by an attack.
    fn before(&self, row: &[Value], next: &mut Vec<Vec<Value>>) {
        let undisturbed = self.machine.holder(row).is_none();
        for thread in self.machine.movers(row) {
            for step in self.steps_on_memory(row, thread) {
                next.push(self.machine.after(row, thread, &step));
                // Nothing overtakes a `seqcst` store, nor one in a block.
                if undisturbed
                    && step.effect == (Effect::Store { seqcst: false })
                    && let (Some(location), Some(written)) = (step.location, step.written)
                {
                    let mut attack = self.machine.after_issue(row, thread, &step);
                    let begin = [GOES_ON, thread as Value, location as Value];
                    attack[self.phase()..self.phase() + 3].copy_from_slice(&begin);
                    attack[self.role(thread)] = ATTACKER;
                    self.put_into_buffer(&mut attack, location, written);
                    next.push(attack);
                }
            }
        }
    }

    fn put_into_buffer(&self, row: &mut [Value], location: usize, value: Value) {
        row[self.buffer(location)] = 1;
        row[self.buffer(location) + 1] = value;
    }

    fn attacker_goes_on(&self, row: &[Value], next: &mut Vec<Vec<Value>>) {
        let attacker = self.attacker(row);
        let buffered = |l: usize| row[self.buffer(l)] == 1;
        let sees = |l: usize| match buffered(l) {
            true => row[self.buffer(l) + 1],
            false => row[self.machine.memory + l],
        };
        for step in self.machine.steps(row, attacker, &sees) {
            let mut after = self.machine.after_issue(row, attacker, &step);
            after[self.phase()] = GOES_ON;
            match (step.effect, step.location, step.written) {
                (Effect::Local, ..) => {}
                (Effect::Store { seqcst: false }, Some(location), Some(written)) => {
                    self.put_into_buffer(&mut after, location, written);
                }
                (Effect::Load, Some(location), _) if !self.is_update(&step) => {
                    if !buffered(location) {
                        next.push(self.stopped(row, location));
                        after[self.phase()] = HAS_LOADED;
                        if row[self.level(location)] == NOT {
                            after[self.level(location)] = LOADED;
                        }
                    }
                }
                // What waits until the buffer is empty, or goes wrong.
                _ => continue,
            }
            next.push(after);
        }
    }

    /// A `cas` that fails loads, but waits for the buffer as one that does not. The attacker is in no block.
    fn is_update(&self, step: &Step) -> bool {
        step.locked
    }

    /// This load was the last one: from now on everything happens after it, and it does not matter where the attacker is.
    fn stopped(&self, row: &[Value], load: usize) -> Vec<Value> {
        let attacker = self.attacker(row);
        let thread = &self.machine.threads[attacker];
        let mut row = row.to_vec();
        row[thread.at] = -1;
        row[thread.at + 1..][..thread.code.registers.len()].fill(0);
        row[self.phase()] = HAS_STOPPED;
        let rest = self.role(0);
        row[rest..].fill(0);
        row[self.role(attacker)] = ATTACKER;
        row[self.level(load)] = LOADED;
        row
    }

    /// A step that happens after a load of the attacker, or one inside a block that may turn out to.
    fn helper_goes_on(&self, row: &[Value], helper: usize, next: &mut Vec<Vec<Value>>) {
        let role = row[self.role(helper)];
        for step in self.steps_on_memory(row, helper) {
            let mut after = self.machine.after(row, helper, &step);
            match step.location {
                Some(location) => {
                    let level = row[self.level(location)];
                    let writes = step.written.is_some();
                    let joins = role == JOINED || level == STORED || writes && level == LOADED;
                    if !joins && role != PENDING {
                        continue;
                    }
                    let pending = if joins { 0 } else { BY_PENDING };
                    if writes {
                        after[self.level(location)] = STORED + pending;
                    } else if level == NOT {
                        after[self.level(location)] = LOADED + pending;
                    }
                    if joins {
                        after[self.role(helper)] = JOINED;
                        for l in 0..self.locations() {
                            if after[self.level(l)] > STORED {
                                after[self.level(l)] -= BY_PENDING;
                            }
                        }
                    }
                }
                None => match (step.effect, role) {
                    (Effect::Begin, ORIGINAL) => after[self.role(helper)] = PENDING,
                    // The block has not joined, and so it is no part of the attack.
                    (Effect::End, PENDING) => continue,
                    // This could have been done before the attack.
                    (_, ORIGINAL) => continue,
                    _ => {}
                },
            }
            next.push(after);
        }
    }
}
