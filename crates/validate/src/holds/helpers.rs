//! Attacks where threads have any number of copies: one of them may attack, and all others help.
//!
//! The shared part is what is there once: whether a copy is inside `atomic`, the threads without copies, the memory, and the attack, with the attacker if it is a copy.
//! All other copies have, behind their registers, their role. The rules are those of [`Attacks`], for the program with two copies of each: one in
//! whose place the attacker stands, and one in whose place stands the copy that moves. A copy that is not there is stopped, and does nothing.

use super::Rejected;
use super::attacks::{ATTACKER, Attack, Attacks, ORIGINAL, STOPPED};
use super::copies::{Change, Copy, Counted, Move};
use super::states::Taken;
use palisade_lang::PointId;
use palisade_memory::{Local, Machine, sc};

/// Among the places of a thread: that of the attacker, and that of the copy that moves.
const ATTACKS: usize = 0;
const MOVES: usize = 1;

/// The rules.
pub struct Helpers<'p> {
    attacks: Attacks<'p>,
    /// The places of threads that are there once.
    fixed: Vec<usize>,
    /// For each other thread its two places.
    copied: Vec<(usize, [usize; 2])>,
}

/// What a shared part says.
struct Shared {
    inside: bool,
    state: sc::State,
    attack: Option<Attack>,
}

impl<'p> Helpers<'p> {
    pub fn new(attacks: Attacks<'p>, fixed: Vec<usize>, copied: Vec<(usize, [usize; 2])>) -> Self {
        Helpers {
            attacks,
            fixed,
            copied,
        }
    }

    /// How many numbers a shared part takes.
    fn width(&self) -> usize {
        let code = self.attacks.machine().code();
        let length = |place: usize| 1 + code.thread(place).registers.len();
        let fixed: usize = self.fixed.iter().map(|&p| length(p) + 1).sum();
        let copied: usize = self.copied.iter().map(|(_, p)| length(p[ATTACKS])).sum();
        4 + fixed + copied + 4 * code.program.locations.len()
    }

    fn put(&self, shared: &Shared) -> Vec<i64> {
        let mut numbers = vec![i64::from(shared.inside)];
        let attack = shared.attack.as_ref();
        let attacker = attack.map(|a| a.attacker);
        let gone = attack.filter(|a| a.phase == STOPPED).map(|a| a.attacker);
        let put = |place: usize, is_there: bool, numbers: &mut Vec<i64>| {
            let local = &shared.state.locals[place];
            match is_there {
                true => {
                    numbers.push(local.point.0.into());
                    numbers.extend_from_slice(&local.registers);
                }
                false => {
                    numbers.push(-1);
                    numbers.resize(numbers.len() + local.registers.len(), 0);
                }
            }
        };
        for &place in &self.fixed {
            put(place, gone != Some(place), &mut numbers);
        }
        numbers.extend_from_slice(&shared.state.memory);
        for (_, places) in &self.copied {
            let place = places[ATTACKS];
            let is_there = attacker == Some(place) && gone != Some(place);
            put(place, is_there, &mut numbers);
        }
        let Some(attack) = attack else {
            numbers.resize(self.width(), 0);
            return numbers;
        };
        numbers.extend([attack.phase, attack.attacker as i64, attack.target as i64]);
        numbers.extend(self.fixed.iter().map(|&place| attack.roles[place]));
        for buffered in &attack.buffer {
            numbers.extend(buffered.map_or([0, 0], |value| [1, value]));
        }
        numbers.extend_from_slice(&attack.levels);
        numbers
    }

    /// What numbers say, if they are a shared part.
    fn take(&self, numbers: &[i64]) -> Option<Shared> {
        let code = self.attacks.machine().code();
        let locations = code.program.locations.len();
        let mut taken = Taken(numbers);
        let inside = taken.next()? != 0;
        let mut locals = code.initial_locals();
        for local in &mut locals {
            local.stopped = true;
        }
        for &place in &self.fixed {
            taken.stand(code, place, &mut locals)?;
        }
        let memory = taken.several(locations)?.to_vec();
        for (_, places) in &self.copied {
            taken.stand(code, places[ATTACKS], &mut locals)?;
        }
        let phase = taken.next()?;
        let (attacker, target) = (taken.next()?, taken.next()?);
        let mut roles = vec![ORIGINAL; locals.len()];
        for &place in &self.fixed {
            roles[place] = taken.next()?;
        }
        let buffer = taken.several(2 * locations)?;
        let levels = taken.several(locations)?.to_vec();
        let mut attack = None;
        if phase != 0 {
            let attacker = usize::try_from(attacker).ok()?;
            *roles.get_mut(attacker)? = ATTACKER;
            attack = Some(Attack {
                phase,
                attacker,
                target: usize::try_from(target).ok()?,
                roles,
                buffer: buffer
                    .chunks_exact(2)
                    .map(|pair| (pair[0] == 1).then_some(pair[1]))
                    .collect(),
                levels,
            });
        }
        let may_attack = |place: &usize| {
            self.fixed.contains(place) || self.copied.iter().any(|(_, p)| p[ATTACKS] == *place)
        };
        let right = attack
            .as_ref()
            .is_none_or(|attack| attack.is_right() && may_attack(&attack.attacker));
        let state = sc::State { locals, memory };
        let shared = Shared {
            inside,
            state,
            attack,
        };
        // There is one way to write it.
        (right && taken.0.is_empty() && self.put(&shared) == numbers).then_some(shared)
    }

    /// Whether an attack has succeeded here.
    fn succeeds(&self, numbers: &[i64]) -> bool {
        self.take(numbers).is_some_and(|shared| {
            let attack = shared.attack.as_ref();
            !shared.inside && attack.is_some_and(|a| self.attacks.succeeds(&shared.state, a))
        })
    }
}

impl Counted for Helpers<'_> {
    fn shared(&self, numbers: &[i64]) -> Option<usize> {
        let shared = numbers.get(..self.width())?;
        self.take(shared).map(|_| shared.len())
    }

    /// A role.
    fn more(&self, _thread: usize, _point: PointId, numbers: &[i64]) -> Option<usize> {
        (!numbers.is_empty()).then_some(1)
    }

    fn initial(&self) -> (Vec<i64>, Vec<Copy>) {
        let state = self.attacks.machine().initial();
        let copy = |&(thread, places): &(usize, [usize; 2])| {
            let local = &state.locals[places[MOVES]];
            let mut numbers = local.registers.clone();
            numbers.push(ORIGINAL);
            (thread, local.point, numbers)
        };
        let copies = self.copied.iter().map(copy).collect();
        let shared = Shared {
            inside: false,
            state,
            attack: None,
        };
        (self.put(&shared), copies)
    }

    fn steps(&self, numbers: &[i64], mover: Option<&Copy>) -> Vec<Move> {
        // Where an attack has succeeded, nothing more matters.
        let Some(mut shared) = self.take(numbers).filter(|_| !self.succeeds(numbers)) else {
            return Vec::new();
        };
        let mut place = None;
        let mut in_block = false;
        if let Some((thread, point, registers)) = mover {
            let Some((_, places)) = self.copied.iter().find(|(t, _)| t == thread) else {
                return Vec::new();
            };
            let (&role, registers) = registers.split_last().unwrap_or((&ORIGINAL, &[]));
            let local = Local {
                point: *point,
                registers: registers.to_vec(),
                stopped: false,
            };
            in_block = self
                .attacks
                .machine()
                .code()
                .in_block(places[MOVES], &local);
            shared.state.locals[places[MOVES]] = local;
            if let Some(attack) = &mut shared.attack {
                attack.roles[places[MOVES]] = role;
            }
            place = Some(*places);
        }
        // A thread inside `atomic` keeps all others out.
        if shared.inside != in_block {
            return Vec::new();
        }
        let before = shared.attack.as_ref().map(|a| a.phase);
        let mut found = Vec::new();
        let (state, attack) = (&shared.state, shared.attack.as_ref());
        self.attacks
            .steps(state, attack, &mut |who, state, attack| {
                // The other places make their steps another time.
                if place.map(|p| p[MOVES]) != Some(who) && place.is_some() {
                    return;
                }
                let mut after = Shared {
                    inside: false,
                    state: state.clone(),
                    attack: attack.cloned(),
                };
                let mut to = None;
                if let (Some(places), Some((thread, ..))) = (place, mover) {
                    let local = state.locals[places[MOVES]].clone();
                    match &mut after.attack {
                        Some(attack) if attack.attacker == places[MOVES] => {
                            attack.attacker = places[ATTACKS];
                            attack.roles.swap(places[ATTACKS], places[MOVES]);
                            after.state.locals[places[ATTACKS]] = local;
                        }
                        _ => {
                            let code = self.attacks.machine().code();
                            after.inside = code.in_block(places[MOVES], &local);
                            let role = attack.map_or(ORIGINAL, |a| a.roles[places[MOVES]]);
                            let mut numbers = local.registers;
                            numbers.push(role);
                            to = Some((*thread, local.point, numbers));
                        }
                    }
                }
                let phase = after.attack.as_ref().map(|a| a.phase);
                found.push(Move {
                    shared: self.put(&after),
                    to,
                    change: (phase == Some(STOPPED) && before != Some(STOPPED))
                        .then_some(Change::Forget),
                });
            });
        found
    }

    fn changed(&self, _change: &Change, (thread, point, registers): &Copy) -> Copy {
        let mut registers = registers.clone();
        if let Some(role) = registers.last_mut() {
            *role = ORIGINAL;
        }
        (*thread, *point, registers)
    }

    fn violations(
        &self,
        shared: &[i64],
        _copies: &[&Copy],
        found: &mut dyn FnMut(&[usize]) -> Result<(), Rejected>,
    ) -> Result<(), Rejected> {
        match self.succeeds(shared) {
            true => found(&[]),
            false => Ok(()),
        }
    }
}
