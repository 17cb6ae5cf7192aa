//! `robust` under TSO: no attack succeeds (Bouajjani, Derevenetc, Meyer, *Checking and Enforcing Robustness against TSO*, Theorem 1).
//!
//! An attack is a run `τ1 · isu(st_A) · τ2 · ld_A · τ3 · st_A`: after a run `τ1` under SC, a thread, the attacker, delays a store, and further
//! stores, past a load `ld_A` from memory; all others, the helpers, run as under SC. Between the first load of the attacker from memory and the end,
//! helpers take only steps that *happen after* a load of the attacker (those that do not could be taken before); in `τ3`, after `ld_A` itself.
//! By Lemma 3 of the paper a helper's step happens after one of those if
//!
//! * its thread has taken such a step before, or
//! * it accesses a location that such a step has stored to, or stores to one that such a step has loaded.
//!
//! So a role for each thread and an access level for each location say it all. The attack succeeds if such a step accesses the location of `st_A`.
//! The attacker's buffer is one value for each location, because it sees its most recent store to each, and no other thread sees any.
//!
//! An `atomic` block is one action: it joins as a whole, as soon as one of its accesses happens after what has joined. What it has accessed
//! until then has a level of its own, which counts if it joins; and if it does not, it does not belong to the attack.

use super::patterns::danger;
use super::{Rules, states};
use palisade_lang::{LocationId, Op, Order, Value};
use palisade_memory::thread::Request;
use palisade_memory::{Machine, Sc, Step, StepKind, sc};

const ALONE: i64 = 1;
const LOADED: i64 = 2;
pub const STOPPED: i64 = 3;

pub const ORIGINAL: i64 = 0;
const JOINED: i64 = 1;
const PENDING: i64 = 2;
pub const ATTACKER: i64 = 3;

const NONE: i64 = 0;
const LOAD: i64 = 1;
const STORE: i64 = 2;
const PENDING_LOAD: i64 = 3;
const PENDING_STORE: i64 = 4;

/// An attack on its way.
#[derive(Clone)]
pub struct Attack {
    pub phase: i64,
    pub attacker: usize,
    /// The location of `st_A`.
    pub target: usize,
    pub roles: Vec<i64>,
    pub buffer: Vec<Option<Value>>,
    pub levels: Vec<i64>,
}

impl Attack {
    /// Whether its numbers mean something.
    pub fn is_right(&self) -> bool {
        (ALONE..=STOPPED).contains(&self.phase)
            && self.attacker < self.roles.len()
            && self.target < self.levels.len()
            && (self.roles.iter().enumerate()).all(|(t, role)| {
                (ORIGINAL..=ATTACKER).contains(role) && (*role == ATTACKER) == (t == self.attacker)
            })
            && (self.levels.iter()).all(|l| (NONE..=PENDING_STORE).contains(l))
    }
}

/// The rules of attacks.
pub struct Attacks<'p> {
    machine: Sc<'p>,
    /// Whether states of SC must be safe: a robust program does under TSO what it does under SC.
    safe: bool,
}

/// Takes a step: the thread that makes it, and what is behind it.
pub type Next<'a> = dyn FnMut(usize, &sc::State, Option<&Attack>) + 'a;

impl<'p> Attacks<'p> {
    pub fn new(machine: Sc<'p>, safe: bool) -> Self {
        Attacks { machine, safe }
    }

    fn op(&self, step: &Step) -> &Op {
        &self.machine.code().thread(step.thread).transitions[step.transition].op
    }

    pub fn machine(&self) -> &Sc<'p> {
        &self.machine
    }

    /// `τ1`, and its ends.
    fn prefix(&self, state: &sc::State, next: &mut Next<'_>) {
        let undisturbed = self.machine.code().holder(&state.locals).is_none();
        for (step, after) in self.machine.steps(state) {
            // One that stands before an error can do no less than one that it has stopped.
            if matches!(step.kind, StepKind::Error(_)) {
                continue;
            }
            next(step.thread, &after, None);
            let (StepKind::Store, Some(location)) = (step.kind, step.location) else {
                continue;
            };
            // Nothing overtakes a `seqcst` store.
            let seqcst = Order::SeqCst;
            if !undisturbed || matches!(self.op(&step), Op::Store { order, .. } if *order == seqcst)
            {
                continue;
            }
            let mut attack = Attack {
                phase: ALONE,
                attacker: step.thread,
                target: location.index(),
                roles: vec![ORIGINAL; state.locals.len()],
                buffer: vec![None; state.memory.len()],
                levels: vec![NONE; state.memory.len()],
            };
            attack.roles[step.thread] = ATTACKER;
            attack.buffer[location.index()] = step.written;
            let issued = sc::State {
                locals: after.locals,
                memory: state.memory.clone(),
            };
            next(step.thread, &issued, Some(&attack));
        }
    }

    /// The attacker goes on: `τ2` and `ld_A`.
    fn attacker(&self, state: &sc::State, attack: &Attack, next: &mut Next<'_>) {
        let code = self.machine.code();
        let attacker = attack.attacker;
        let local = &state.locals[attacker];
        for (_, transition) in code.next(attacker, local) {
            let mut after = state.clone();
            let mut attack_after = attack.clone();
            attack_after.phase = ALONE;
            match code.request(attacker, local, transition) {
                Ok(Request::Local(local)) => after.locals[attacker] = local,
                Ok(Request::Load {
                    location,
                    register,
                    condition,
                }) => {
                    let at = location.index();
                    let value = attack.buffer[at].unwrap_or(state.memory[at]);
                    if condition.is_some_and(|(relation, right)| !relation.holds(value, right)) {
                        continue;
                    }
                    after.locals[attacker] =
                        code.after(attacker, local, transition, register.map(|r| (r, value)));
                    if attack.buffer[at].is_none() {
                        self.stop(state, attack, location, next);
                        attack_after.phase = LOADED;
                        if attack.levels[at] == NONE {
                            attack_after.levels[at] = LOAD;
                        }
                    }
                }
                Ok(Request::Store {
                    location,
                    value,
                    seqcst: false,
                }) => {
                    after.locals[attacker] = code.after(attacker, local, transition, None);
                    attack_after.buffer[location.index()] = Some(value);
                }
                // What waits for the buffer, for ever.
                _ => continue,
            }
            next(attacker, &after, Some(&attack_after));
        }
    }

    /// Behind `ld_A`: from now on everything happens after that load.
    fn stop(&self, state: &sc::State, attack: &Attack, load: LocationId, next: &mut Next<'_>) {
        let mut stopped = attack.clone();
        stopped.phase = STOPPED;
        stopped.roles.fill(ORIGINAL);
        stopped.roles[attack.attacker] = ATTACKER;
        stopped.buffer.fill(None);
        stopped.levels.fill(NONE);
        stopped.levels[load.index()] = LOAD;
        next(attack.attacker, state, Some(&stopped));
    }

    /// A helper goes on, by a step that happens after a load of the attacker, or in a block that may join.
    fn helper(&self, state: &sc::State, attack: &Attack, helper: usize, next: &mut Next<'_>) {
        for (step, after) in self.machine.unhindered_steps_of(state, helper) {
            let mut attack = attack.clone();
            let role = attack.roles[helper];
            match (step.kind, step.location) {
                (StepKind::Error(_), _) => continue,
                (_, Some(location)) => {
                    let level = attack.levels[location.index()];
                    let writes = step.is_write();
                    let joins = role == JOINED || level == STORE || (writes && level == LOAD);
                    if !joins && role != PENDING {
                        continue;
                    }
                    let (load, store) = match joins {
                        true => (LOAD, STORE),
                        false => (PENDING_LOAD, PENDING_STORE),
                    };
                    if writes {
                        attack.levels[location.index()] = store;
                    } else if level == NONE {
                        attack.levels[location.index()] = load;
                    }
                    if joins {
                        attack.roles[helper] = JOINED;
                        // If it is a block, then with all that it has done.
                        for level in &mut attack.levels {
                            *level = match *level {
                                PENDING_LOAD => LOAD,
                                PENDING_STORE => STORE,
                                level => level,
                            };
                        }
                    }
                }
                (StepKind::AtomicBegin, None) if role == ORIGINAL => {
                    attack.roles[helper] = PENDING;
                }
                // The block has not joined.
                (StepKind::AtomicEnd, None) if role == PENDING => continue,
                // This could be done before.
                (_, None) if role == ORIGINAL => continue,
                (_, None) => {}
            }
            next(helper, &after, Some(&attack));
        }
    }

    /// The helper that is inside a block: only it moves.
    fn holder(&self, state: &sc::State, attack: &Attack) -> Option<usize> {
        let code = self.machine.code();
        (0..state.locals.len())
            .find(|&t| t != attack.attacker && code.in_block(t, &state.locals[t]))
    }

    /// Whether an attack has succeeded.
    pub fn succeeds(&self, state: &sc::State, attack: &Attack) -> bool {
        attack.phase != ALONE
            && self.holder(state, attack).is_none()
            && matches!(attack.levels[attack.target], LOAD | STORE)
    }

    /// All steps, of an attack that has not succeeded or of `τ1`.
    pub fn steps(&self, state: &sc::State, attack: Option<&Attack>, next: &mut Next<'_>) {
        let Some(attack) = attack else {
            return self.prefix(state, next);
        };
        if attack.phase == ALONE {
            return self.attacker(state, attack, next);
        }
        if let Some(holder) = self.holder(state, attack) {
            return self.helper(state, attack, holder, next);
        }
        if attack.phase == LOADED {
            self.attacker(state, attack, next);
        }
        for helper in (0..state.locals.len()).filter(|&t| t != attack.attacker) {
            self.helper(state, attack, helper, next);
        }
    }

    fn put(&self, state: &sc::State, attack: Option<&Attack>, numbers: &mut Vec<i64>) {
        numbers.clear();
        states::put(state, numbers);
        let Some(attack) = attack else {
            let code = self.machine.code();
            let width = 3 + code.instances.len() + 3 * code.program.locations.len();
            numbers.resize(numbers.len() + width, 0);
            return;
        };
        if attack.phase == STOPPED {
            let code = self.machine.code();
            let length = |t: usize| 1 + code.thread(t).registers.len();
            let first: usize = (0..attack.attacker).map(length).sum();
            numbers[first] = -1;
            numbers[first + 1..first + length(attack.attacker)].fill(0);
        }
        numbers.extend([attack.phase, attack.attacker as i64, attack.target as i64]);
        numbers.extend_from_slice(&attack.roles);
        for buffered in &attack.buffer {
            numbers.extend(buffered.map_or([0, 0], |value| [1, value]));
        }
        numbers.extend_from_slice(&attack.levels);
    }

    fn take(&self, numbers: &[i64]) -> Option<(sc::State, Option<Attack>)> {
        let code = self.machine.code();
        let behind = numbers.get(states::width(code)..)?;
        let (threads, locations) = (code.instances.len(), code.program.locations.len());
        let &[phase, attacker, target, ref behind @ ..] = behind else {
            return None;
        };
        let (roles, behind) = behind.split_at_checked(threads)?;
        let (buffer, levels) = behind.split_at_checked(2 * locations)?;
        if levels.len() != locations {
            return None;
        }
        if phase == 0 {
            let nothing = numbers[states::width(code)..].iter().all(|&n| n == 0);
            let (state, _) = states::take(code, numbers, None)?;
            return nothing.then_some((state, None));
        }
        let attack = Attack {
            phase,
            attacker: usize::try_from(attacker).ok()?,
            target: usize::try_from(target).ok()?,
            roles: roles.to_vec(),
            buffer: buffer
                .chunks_exact(2)
                .map(|pair| (pair[0] == 1).then_some(pair[1]))
                .collect(),
            levels: levels.to_vec(),
        };
        let right = attack.is_right() && buffer.chunks_exact(2).all(|p| p[0] == 1 || p == [0, 0]);
        let gone = (phase == STOPPED).then_some(attack.attacker);
        let (state, _) = states::take(code, numbers, gone)?;
        right.then_some((state, Some(attack)))
    }
}

impl Rules for Attacks<'_> {
    fn initial(&self) -> Vec<i64> {
        let mut numbers = Vec::new();
        self.put(&self.machine.initial(), None, &mut numbers);
        numbers
    }

    fn visit(&self, numbers: &[i64], next: &mut dyn FnMut(&[i64])) -> Result<(), String> {
        let Some((state, attack)) = self.take(numbers) else {
            return Err("it is none of this program".to_owned());
        };
        let mut numbers = Vec::new();
        match &attack {
            Some(attack) if self.succeeds(&state, attack) => {
                let program = self.machine.code().program;
                let target = &program.location(LocationId(attack.target as u32)).name;
                return Err(format!("an attack on `{target}` succeeds"));
            }
            None if self.safe => {
                let danger = danger(&self.machine, &state, &self.machine.steps(&state));
                danger.map_or(Ok(()), Err)?;
            }
            _ => {}
        }
        self.steps(&state, attack.as_ref(), &mut |_, state, attack| {
            self.put(state, attack, &mut numbers);
            next(&numbers);
        });
        Ok(())
    }
}
