//! The same for any number of threads.
//!
//! A *node* is the threads that are there once, memory, and the copy that is inside a block, with all messages that each thread's buffer may hold; and all places (a thread, a
//! control point, registers) at which there may be copies, any number at each, with all messages that a buffer may hold there. A *minimal configuration* is a node with a word for each thread
//! that is there once, and some copies, each at a place and with a word. One configuration is above another if each of these words is above the other one's, and each of
//! the other one's copies has one of its own here that is at the same place and has a word above its word. More copies can do no less, and a step depends on
//! memory and the thread that makes it alone. So the conditions are those for a given number of threads, where
//!
//! * at the beginning there are any number of copies at the beginning of each thread, with empty buffers;
//! * what a `never` or an error takes are the copies that it speaks of, with empty buffers;
//! * a copy that steps to above a minimal configuration is one of those that it has at the place behind the step, or one more.

use super::super::choices::Choices;
use super::super::copies::Copy;
use super::super::live::Live;
use super::super::states::Taken;
use super::super::{Rejected, invalid};
use super::{Message, Use, Word, all_before, is_above, kept, moves, take_word};
use palisade_certificate::{Reader, decode};
use palisade_lang::{Copies, Program};
use palisade_memory::sc::State;
use palisade_memory::{Local, Machine, Sc};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::BufRead;

/// The thread that makes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mover {
    /// One that is there once, by its number among these.
    Fixed(usize),
    /// A copy at a place.
    Copy(usize),
    /// The copy inside a block.
    Inside,
}

/// What buffers hold: a word for each thread that is there once, and for each copy its place and its word.
#[derive(Clone, Debug)]
struct Words {
    fixed: Vec<Word>,
    copies: Vec<(usize, Word)>,
}

/// What buffers may hold.
struct Held {
    fixed: Vec<BTreeSet<Message>>,
    copies: BTreeMap<usize, BTreeSet<Message>>,
}

/// A step that leads to a node.
struct Arrival {
    from: usize,
    before: Mover,
    after: Mover,
    used: Use,
}

struct Node {
    /// The threads that are there once, and memory; copies are stopped, but for the one inside a block, which takes the first place of its thread.
    state: State,
    inside: Option<usize>,
    held: Option<Held>,
    minimal: Vec<Words>,
    steps: Vec<Arrival>,
}

/// The rules.
pub struct LaggingCopies<'p> {
    program: &'p Program,
    machine: Sc<'p>,
    live: Live,
    /// For each thread its places among the running ones of the instance.
    places: Vec<Vec<usize>>,
    /// The places of threads that are there once.
    fixed: Vec<usize>,
    /// Where copies stand, by number.
    copies: Vec<Copy>,
    copy_numbers: HashMap<Copy, usize>,
    /// By their numbers in the certificate.
    node_numbers: HashMap<Vec<i64>, usize>,
    nodes: Vec<Node>,
}

static NOTHING: BTreeSet<Message> = BTreeSet::new();

impl<'p> LaggingCopies<'p> {
    /// `instance` is the program with one copy of each thread that may have any number, and its `never`s are those of the program.
    pub fn new(program: &'p Program, instance: &'p Program) -> Self {
        let machine = Sc::new(instance);
        let mut places = vec![Vec::new(); program.threads.len()];
        for (place, running) in machine.code().instances.iter().enumerate() {
            places[running.thread.index()].push(place);
        }
        let fixed = |thread: &usize| program.threads[*thread].copies != Copies::Any;
        LaggingCopies {
            program,
            live: Live::new(machine.code(), true),
            machine,
            fixed: (0..places.len())
                .filter(fixed)
                .flat_map(|thread| places[thread].iter().copied())
                .collect(),
            places,
            copies: Vec::new(),
            copy_numbers: HashMap::new(),
            node_numbers: HashMap::new(),
            nodes: Vec::new(),
        }
    }

    /// Reads the certificate, and judges it. How many nodes and minimal configurations it has.
    pub fn judge<R: BufRead>(mut self, mut reader: Reader<R>) -> Result<u64, Rejected> {
        let mut numbers = Vec::new();
        let mut count = 0;
        while let Some(bytes) = reader.next_state()? {
            count += 1;
            let read = decode(bytes, &mut numbers).and_then(|()| self.take(&numbers));
            if read.is_none() {
                return Err(invalid(format!("state {count} is none of this program")));
            }
        }
        if self.nodes.iter().any(|node| node.held.is_none()) {
            return Err(invalid("a minimal configuration belongs to no node"));
        }
        self.begins_well()?;
        for node in 0..self.nodes.len() {
            self.leads_on(node)?;
        }
        for node in 0..self.nodes.len() {
            self.comes_from_above(node)?;
        }
        Ok(count)
    }

    /// A node or a minimal configuration.
    fn take(&mut self, numbers: &[i64]) -> Option<()> {
        let (&kind, numbers) = numbers.split_first()?;
        let mut rest = Taken(numbers);
        let mut state = self.without_copies();
        let code = self.machine.code();
        for &place in &self.fixed {
            // -1 would leave it where it is.
            (*rest.0.first()? >= 0).then_some(())?;
            rest.stand(code, place, &mut state.locals)?;
        }
        let locations = state.memory.len();
        state.memory = rest.several(locations)?.to_vec();
        let inside = match rest.next()? {
            0 => None,
            thread => {
                let (thread, local) = self.take_copy(thread.checked_sub(1)?, &mut rest)?;
                let place = self.places[thread][0];
                self.machine.code().in_block(place, &local).then_some(())?;
                state.locals[place] = local;
                Some(thread)
            }
        };
        let key = &numbers[..numbers.len() - rest.0.len()];
        if self.key(&state, inside) != key {
            return None;
        }
        let mut fixed = Vec::new();
        for _ in &self.fixed {
            fixed.push(take_word(&mut rest, locations)?);
        }
        let mut copies = Vec::new();
        while let Some(thread) = rest.next() {
            let (thread, local) = self.take_copy(thread, &mut rest)?;
            let given = local.registers.clone();
            let copy = self.copy(thread, local);
            (self.copies[copy].2 == given).then_some(())?;
            copies.push((copy, take_word(&mut rest, locations)?));
        }
        let count = self.nodes.len();
        let node = *self.node_numbers.entry(key.to_vec()).or_insert(count);
        if node == count {
            self.nodes.push(Node {
                state,
                inside,
                held: None,
                minimal: Vec::new(),
                steps: Vec::new(),
            });
        }
        let node = &mut self.nodes[node];
        match kind {
            0 if node.held.is_none() => {
                let set = |word: Word| word.into_iter().collect();
                let places = copies.len();
                let held = Held {
                    fixed: fixed.into_iter().map(set).collect(),
                    copies: copies.into_iter().map(|(c, w)| (c, set(w))).collect(),
                };
                (held.copies.len() == places).then_some(())?;
                node.held = Some(held);
            }
            1 => node.minimal.push(Words { fixed, copies }),
            _ => return None,
        }
        Some(())
    }

    /// The control point and the registers of a copy.
    fn take_copy(&self, thread: i64, rest: &mut Taken<'_>) -> Option<(usize, Local)> {
        let thread = usize::try_from(thread).ok()?;
        if self.program.threads.get(thread)?.copies != Copies::Any {
            return None;
        }
        let place = self.places[thread][0];
        (*rest.0.first()? >= 0).then_some(())?;
        let mut locals = self.machine.code().initial_locals();
        rest.stand(self.machine.code(), place, &mut locals)?;
        Some((thread, locals.swap_remove(place)))
    }

    /// The number of the place at which a copy stands, whose other registers do not matter.
    fn copy(&mut self, thread: usize, local: Local) -> usize {
        let mut registers = local.registers;
        self.live
            .forget(self.places[thread][0], local.point, &mut registers);
        let copy = (thread, local.point, registers);
        let next = self.copies.len();
        let number = *self.copy_numbers.entry(copy.clone()).or_insert(next);
        if number == next {
            self.copies.push(copy);
        }
        number
    }

    /// The beginning, all copies stopped.
    fn without_copies(&self) -> State {
        let mut state = self.machine.initial();
        for (place, local) in state.locals.iter_mut().enumerate() {
            local.stopped = !self.fixed.contains(&place);
        }
        state
    }

    /// The numbers of a node.
    fn key(&self, state: &State, inside: Option<usize>) -> Vec<i64> {
        let mut numbers = Vec::new();
        let put = |numbers: &mut Vec<i64>, place: usize| {
            let local = &state.locals[place];
            let mut registers = local.registers.clone();
            self.live.forget(place, local.point, &mut registers);
            numbers.push(local.point.0.into());
            numbers.extend(registers);
        };
        for &place in &self.fixed {
            put(&mut numbers, place);
        }
        numbers.extend_from_slice(&state.memory);
        match inside {
            None => numbers.push(0),
            Some(thread) => {
                numbers.push(thread as i64 + 1);
                put(&mut numbers, self.places[thread][0]);
            }
        }
        numbers
    }

    fn held(&self, node: usize, who: Mover) -> &BTreeSet<Message> {
        let held = self.nodes[node].held.as_ref();
        let of = held.and_then(|held| match who {
            Mover::Fixed(at) => held.fixed.get(at),
            Mover::Copy(copy) => held.copies.get(&copy),
            Mover::Inside => None,
        });
        of.unwrap_or(&NOTHING)
    }

    /// The places at which there may be copies.
    fn copies_at(&self, node: usize) -> Vec<usize> {
        let held = self.nodes[node].held.as_ref();
        held.map_or(Vec::new(), |held| held.copies.keys().copied().collect())
    }

    /// Whether a thread is inside a block.
    fn is_held(&self, node: usize) -> bool {
        let code = self.machine.code();
        code.holder(&self.nodes[node].state.locals).is_some()
    }

    fn is_above(&self, node: usize, words: &Words) -> bool {
        let mut minimal = self.nodes[node].minimal.iter();
        minimal.any(|smaller| {
            let mut fixed = smaller.fixed.iter().zip(&words.fixed);
            fixed.all(|(smaller, word)| is_above(word, smaller))
                && has_each(&words.copies, &smaller.copies)
        })
    }

    fn begins_well(&mut self) -> Result<(), Rejected> {
        let state = self.without_copies();
        let key = self.key(&state, None);
        let Some(&node) = self.node_numbers.get(&key) else {
            return Err(invalid("the beginning is missing"));
        };
        let initial = self.machine.initial();
        let mut beginning = Vec::new();
        for thread in 0..self.places.len() {
            if self.program.threads[thread].copies == Copies::Any {
                let local = initial.locals[self.places[thread][0]].clone();
                beginning.push(self.copy(thread, local));
            }
        }
        let all = self.copies_at(node);
        if !beginning.iter().all(|copy| all.contains(copy)) {
            return Err(invalid("copies at the beginning are missing"));
        }
        let above = self.nodes[node].minimal.iter().any(|smaller| {
            smaller.fixed.iter().all(Vec::is_empty)
                && (smaller.copies.iter())
                    .all(|(copy, word)| word.is_empty() && beginning.contains(copy))
        });
        match above {
            true => Err(invalid("the beginning is above a minimal configuration")),
            false => Ok(()),
        }
    }

    /// What memory offers is held, what is forbidden is above a minimal configuration, and steps lead to nodes that hold enough.
    fn leads_on(&mut self, node: usize) -> Result<(), Rejected> {
        let (state, inside) = (self.nodes[node].state.clone(), self.nodes[node].inside);
        let copies = self.copies_at(node);
        let fixed = (0..self.fixed.len()).map(Mover::Fixed);
        let all: Vec<Mover> = fixed
            .chain(copies.iter().map(|&c| Mover::Copy(c)))
            .collect();
        if !self.is_held(node) {
            for (location, &value) in state.memory.iter().enumerate() {
                let offered = (location, value, false);
                if !all.iter().all(|&w| self.held(node, w).contains(&offered)) {
                    let message = "a thread of a node may hold more than is said";
                    return Err(invalid(message));
                }
            }
        }
        self.nevers_are_above(node, &state, inside, &copies)?;
        let code = self.machine.code();
        let holder = (0..self.fixed.len())
            .find(|&at| code.in_block(self.fixed[at], &state.locals[self.fixed[at]]));
        let movers = match (inside, holder) {
            (Some(_), _) => vec![Mover::Inside],
            (None, Some(holder)) => vec![Mover::Fixed(holder)],
            (None, None) => all,
        };
        for mover in movers {
            self.moves_on(node, &state, inside, mover)?;
        }
        Ok(())
    }

    /// The steps of one thread.
    fn moves_on(
        &mut self,
        node: usize,
        state: &State,
        inside: Option<usize>,
        mover: Mover,
    ) -> Result<(), Rejected> {
        let mut state = state.clone();
        let (place, thread) = match mover {
            Mover::Fixed(at) => (self.fixed[at], None),
            Mover::Inside => {
                let thread = inside.unwrap_or(0);
                (self.places[thread][0], Some(thread))
            }
            Mover::Copy(copy) => {
                let (thread, point, registers) = self.copies[copy].clone();
                let place = self.places[thread][0];
                state.locals[place] = Local {
                    point,
                    registers,
                    stopped: false,
                };
                (place, Some(thread))
            }
        };
        let mut errs = false;
        let held = self.held(node, mover);
        let moves = moves(self.machine.code(), place, &state, held, &mut errs);
        if errs {
            let copies = match mover {
                Mover::Copy(copy) => vec![copy],
                _ => Vec::new(),
            };
            self.must_be_above(node, copies)?;
        }
        for (used, local, memory) in moves {
            let mut behind = State {
                locals: state.locals.clone(),
                memory,
            };
            let (after, inside) = match thread {
                None => {
                    behind.locals[place] = local;
                    (mover, None)
                }
                Some(thread) if self.machine.code().in_block(place, &local) => {
                    behind.locals[place] = local;
                    (Mover::Inside, Some(thread))
                }
                Some(thread) => (Mover::Copy(self.copy(thread, local)), None),
            };
            let key = self.key(&behind, inside);
            let to = self.node_numbers.get(&key).copied();
            let Some(to) = to.filter(|&to| self.holds_enough(node, to, (mover, after), used))
            else {
                let message = "a step leads to a node that is missing or holds too little";
                return Err(invalid(message));
            };
            self.nodes[to].steps.push(Arrival {
                from: node,
                before: mover,
                after,
                used,
            });
        }
        Ok(())
    }

    /// Whether the threads of a node may hold what they may hold behind a step. A copy that moves leaves others behind.
    fn holds_enough(
        &self,
        from: usize,
        to: usize,
        (before, after): (Mover, Mover),
        used: Use,
    ) -> bool {
        let there = self.copies_at(to);
        let moved = kept(self.held(from, before), used);
        let arrives = match after {
            Mover::Inside => moved.is_empty(),
            Mover::Fixed(_) => moved.is_subset(self.held(to, after)),
            Mover::Copy(copy) => there.contains(&copy) && moved.is_subset(self.held(to, after)),
        };
        let stays = |who: Mover| self.held(from, who).is_subset(self.held(to, who));
        arrives
            && (0..self.fixed.len()).all(|at| before == Mover::Fixed(at) || stays(Mover::Fixed(at)))
            && (self.copies_at(from).into_iter())
                .all(|copy| there.contains(&copy) && stays(Mover::Copy(copy)))
    }

    /// Whatever a `never` forbids is above a minimal configuration.
    fn nevers_are_above(
        &self,
        node: usize,
        state: &State,
        inside: Option<usize>,
        copies: &[usize],
    ) -> Result<(), Rejected> {
        let choices = Choices {
            program: self.program,
            code: self.machine.code(),
            places: &self.places,
        };
        let mut all: Vec<Copy> = copies.iter().map(|&c| self.copies[c].clone()).collect();
        // The copy inside a block is there once.
        all.extend(inside.map(|thread| {
            let local = &state.locals[self.places[thread][0]];
            (thread, local.point, local.registers.clone())
        }));
        let all: Vec<&Copy> = all.iter().collect();
        choices.for_each(state, &all, &mut |chosen| {
            let is_inside = |&&at: &&usize| at >= copies.len();
            if chosen.iter().filter(is_inside).count() > 1 {
                return Ok(());
            }
            let others = chosen.iter().filter_map(|&at| copies.get(at).copied());
            self.must_be_above(node, others.collect())
        })
    }

    /// That these copies are there, all buffers empty, must not be reached.
    fn must_be_above(&self, node: usize, copies: Vec<usize>) -> Result<(), Rejected> {
        let words = Words {
            fixed: vec![Word::new(); self.fixed.len()],
            copies: copies.into_iter().map(|c| (c, Word::new())).collect(),
        };
        match self.is_above(node, &words) {
            true => Ok(()),
            false => Err(invalid(
                "something that is forbidden is not above a minimal configuration",
            )),
        }
    }

    /// From where a step leads above a minimal configuration of a node, there is a minimal one below.
    fn comes_from_above(&self, node: usize) -> Result<(), Rejected> {
        let Node {
            state,
            minimal,
            steps,
            ..
        } = &self.nodes[node];
        let missing = || {
            invalid("a step leads above a minimal configuration, and not from above another one")
        };
        let is_held = self.is_held(node);
        for words in minimal {
            // The newest message may just have been taken from memory.
            let offered = |word: &Word| {
                word.last().is_some_and(|&(location, value, own)| {
                    !own && !is_held && state.memory[location] == value
                })
            };
            for at in 0..words.fixed.len() + words.copies.len() {
                let mut before = words.clone();
                let word = match at.checked_sub(words.fixed.len()) {
                    None => &mut before.fixed[at],
                    Some(copy) => &mut before.copies[copy].1,
                };
                if offered(word) {
                    word.pop();
                    if !self.is_above(node, &before) {
                        return Err(missing());
                    }
                }
            }
            for step in steps {
                for before in self.before(node, step, words)? {
                    // What cannot be does not have to be above anything.
                    if self.can_be(step.from, &before) && !self.is_above(step.from, &before) {
                        return Err(missing());
                    }
                }
            }
        }
        Ok(())
    }

    /// The least configurations from which a step leads above another one.
    fn before(&self, node: usize, step: &Arrival, words: &Words) -> Result<Vec<Words>, Rejected> {
        // The thread that has moved: the others, and its word.
        let mut ways: Vec<(Words, Word)> = Vec::new();
        match step.after {
            Mover::Fixed(at) => ways.push((words.clone(), words.fixed[at].clone())),
            Mover::Inside => ways.push((words.clone(), Word::new())),
            Mover::Copy(copy) => {
                for at in (0..words.copies.len()).filter(|&at| words.copies[at].0 == copy) {
                    let mut others = words.clone();
                    let (_, word) = others.copies.remove(at);
                    ways.push((others, word));
                }
                ways.push((words.clone(), Word::new()));
            }
        }
        let held = self.held(step.from, step.before);
        let held_behind = self.held(node, step.after);
        let mut found = Vec::new();
        for (others, word) in ways {
            let Some(all) = all_before(&word, step.used, held, held_behind) else {
                let message = "there are too many orders in which a thread may have stored";
                return Err(Rejected::Unusable(message.to_owned()));
            };
            for word in all {
                let mut before = others.clone();
                match step.before {
                    Mover::Fixed(at) => before.fixed[at] = word,
                    Mover::Copy(copy) => before.copies.push((copy, word)),
                    // It has nothing in its buffer.
                    Mover::Inside if !word.is_empty() => continue,
                    Mover::Inside => {}
                }
                found.push(before);
            }
        }
        Ok(found)
    }

    /// Whether buffers may hold these words at a node.
    fn can_be(&self, node: usize, words: &Words) -> bool {
        let there = self.copies_at(node);
        let may = |who: Mover, word: &Word| word.iter().all(|m| self.held(node, who).contains(m));
        (words.fixed.iter().enumerate()).all(|(at, word)| may(Mover::Fixed(at), word))
            && (words.copies.iter())
                .all(|(copy, word)| there.contains(copy) && may(Mover::Copy(*copy), word))
    }
}

/// Whether each copy of the smaller multiset has one of its own in the greater one that is above it.
fn has_each(greater: &[(usize, Word)], smaller: &[(usize, Word)]) -> bool {
    // Whose each of the greater one's copies is.
    let mut taken: Vec<Option<usize>> = vec![None; greater.len()];
    smaller.len() <= greater.len()
        && (0..smaller.len()).all(|one| {
            let mut asked = vec![false; greater.len()];
            give(one, smaller, greater, &mut taken, &mut asked)
        })
}

/// Finds one for this copy, where another one that has it must do with a different one. As deep as there are copies.
fn give(
    one: usize,
    smaller: &[(usize, Word)],
    greater: &[(usize, Word)],
    taken: &mut [Option<usize>],
    asked: &mut [bool],
) -> bool {
    for (at, (copy, word)) in greater.iter().enumerate() {
        if asked[at] || smaller[one].0 != *copy || !is_above(word, &smaller[one].1) {
            continue;
        }
        asked[at] = true;
        if taken[at].is_none_or(|other| give(other, smaller, greater, taken, asked)) {
            taken[at] = Some(one);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_make_way_for_each_other() {
        let (x, y) = ((0, 1, false), (1, 1, false));
        let two = [(0, vec![x, y]), (0, vec![x])];
        assert!(has_each(&two, &[(0, vec![x]), (0, vec![x, y])]));
        assert!(has_each(&two, &[(0, vec![x])]));
        assert!(!has_each(&two, &[(0, vec![y]), (0, vec![x, y])]));
        assert!(!has_each(&two, &[(1, vec![])]));
        assert!(!has_each(&two, &[(0, vec![]), (0, vec![]), (0, vec![])]));
    }
}
