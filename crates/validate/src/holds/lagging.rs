//! `safe` under TSO, with load buffers: a store reaches memory at once, and each thread lags behind.
//!
//! A thread has a first-in first-out buffer of messages that it may still read. A store to x appends an *own* message; at any time a thread appends a *plain* message with
//! what memory holds, or drops its oldest message. A load reads the newest own message of its location, and otherwise the oldest message, which must be one of its location.
//! Whatever drains a store buffer under TSO needs this buffer empty and works on memory itself, and so does everything inside a block, while no other thread
//! does anything. Threads and memory get into the same states as under TSO with empty store buffers: a store happens here where it leaves the
//! store buffer there (Abdulla, Atig, Bouajjani, Ngo 2016). Own messages that a newer one hides, and plain ones of x before an own one of x, can never be read: they are left out.
//!
//! A certificate has *nodes*, threads and memory with all messages that each buffer may hold; and *minimal configurations*, threads and memory with a word for each buffer. One
//! word is above another if, without some of its oldest messages, it has the same own messages and at least the plain ones in the same places. What is above
//! can do what is below it does, once it has dropped them. So it is a proof that nothing forbidden can be reached, if
//!
//! * the beginning is among the nodes, and steps lead from nodes to nodes;
//! * the beginning is not above a minimal configuration;
//! * where something is forbidden in a node, its configuration with empty buffers is above a minimal one;
//! * every configuration of a node from which a step leads above a minimal one is above a minimal one.

mod copies;

use super::live::Live;
use super::patterns::forbidden;
use super::states::{self, Taken};
use super::{Rejected, invalid};
use palisade_certificate::{Reader, decode};
use palisade_lang::Value;
use palisade_memory::sc::State;
use palisade_memory::thread::{Outcome, Request};
use palisade_memory::{Code, Local, Machine, Sc};
use std::collections::{BTreeSet, HashMap};
use std::io::BufRead;

pub use copies::LaggingCopies;

/// A location, a value, and whether the thread itself stored it.
type Message = (usize, Value, bool);

/// A buffer, the oldest message first.
type Word = Vec<Message>;

/// The rules.
pub struct Lagging<'p, 'l> {
    machine: Sc<'p>,
    live: &'l Live,
    /// By the numbers of threads and memory.
    numbers: HashMap<Vec<i64>, usize>,
    nodes: Vec<Node>,
}

/// Threads and memory.
struct Node {
    state: State,
    /// What the buffer of each thread may hold; `None` where only minimal configurations have spoken of it.
    holds: Option<Vec<BTreeSet<Message>>>,
    /// What each thread has in its buffer, in each minimal configuration.
    minimal: Vec<Vec<Word>>,
    /// Steps that lead here: from which node, of which thread, and what they do with its buffer.
    steps: Vec<(usize, usize, Use)>,
}

/// What a step does with the buffer of its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Nothing,
    NeedsEmpty,
    Reads(usize, Value),
    Stores(usize, Value),
}

impl<'p, 'l> Lagging<'p, 'l> {
    pub fn new(machine: Sc<'p>, live: &'l Live) -> Self {
        Lagging {
            machine,
            live,
            numbers: HashMap::new(),
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
        if self.nodes.iter().any(|node| node.holds.is_none()) {
            let message = "a minimal configuration belongs to no node";
            return Err(invalid(message));
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
        let (state, rest) = states::take(self.machine.code(), numbers, None)?;
        let key = &numbers[..numbers.len() - rest.len()];
        let mut canonical = key.to_vec();
        self.live.forget_others(&mut canonical);
        if canonical != key {
            return None;
        }
        let mut rest = Taken(rest);
        let words = (0..state.locals.len()).map(|_| take_word(&mut rest, state.memory.len()));
        let words = words.collect::<Option<Vec<Word>>>()?;
        if !rest.0.is_empty() {
            return None;
        }
        let count = self.nodes.len();
        let node = *self.numbers.entry(canonical).or_insert(count);
        if node == count {
            self.nodes.push(Node {
                state,
                holds: None,
                minimal: Vec::new(),
                steps: Vec::new(),
            });
        }
        let node = &mut self.nodes[node];
        match kind {
            0 if node.holds.is_none() => {
                node.holds = Some(words.into_iter().map(|w| w.into_iter().collect()).collect());
            }
            1 => node.minimal.push(words),
            _ => return None,
        }
        Some(())
    }

    /// The node of a state.
    fn node(&self, state: &State) -> Option<usize> {
        let mut numbers = Vec::new();
        states::put(state, &mut numbers);
        self.live.forget_others(&mut numbers);
        self.numbers.get(&numbers).copied()
    }

    fn holds(&self, node: usize, thread: usize) -> &BTreeSet<Message> {
        static NOTHING: BTreeSet<Message> = BTreeSet::new();
        let holds = self.nodes[node].holds.as_ref();
        holds.map_or(&NOTHING, |holds| &holds[thread])
    }

    fn holder(&self, state: &State) -> Option<usize> {
        self.machine.code().holder(&state.locals)
    }

    fn is_above(&self, node: usize, words: &[Word]) -> bool {
        let mut minimal = self.nodes[node].minimal.iter();
        minimal.any(|smaller| {
            let mut both = smaller.iter().zip(words);
            both.all(|(smaller, word)| is_above(word, smaller))
        })
    }

    fn begins_well(&self) -> Result<(), Rejected> {
        let state = self.machine.initial();
        let Some(node) = self.node(&state) else {
            return Err(invalid("the initial state is missing"));
        };
        let empty = vec![Word::new(); state.locals.len()];
        match self.is_above(node, &empty) {
            true => Err(invalid("the beginning is above a minimal configuration")),
            false => Ok(()),
        }
    }

    /// What memory offers is held, what is forbidden is above a minimal configuration, and steps lead to nodes that hold enough.
    fn leads_on(&mut self, node: usize) -> Result<(), Rejected> {
        let state = self.nodes[node].state.clone();
        let threads = state.locals.len();
        let holder = self.holder(&state);
        if holder.is_none() {
            for (location, &value) in state.memory.iter().enumerate() {
                let offered = (location, value, false);
                if !(0..threads).all(|t| self.holds(node, t).contains(&offered)) {
                    let message = "a thread of a node may hold more than is said";
                    return Err(invalid(message));
                }
            }
        }
        let mut bad = forbidden(&self.machine, &state);
        for thread in 0..threads {
            if holder.is_some_and(|holder| holder != thread) {
                continue;
            }
            for (used, after) in self.steps_of(node, &state, thread, &mut bad) {
                let to = self.node(&after);
                let Some(to) = to.filter(|&to| self.holds_enough(node, to, thread, used)) else {
                    let message = "a step leads to a node that is missing or holds too little";
                    return Err(invalid(message));
                };
                self.nodes[to].steps.push((node, thread, used));
            }
        }
        match bad && !self.is_above(node, &vec![Word::new(); threads]) {
            true => Err(invalid(
                "something that is forbidden is not above a minimal configuration",
            )),
            false => Ok(()),
        }
    }

    /// Whether the threads of a node may hold what they may hold behind a step.
    fn holds_enough(&self, from: usize, to: usize, mover: usize, used: Use) -> bool {
        let threads = self.nodes[from].state.locals.len();
        (0..threads).all(|thread| {
            let (before, behind) = (self.holds(from, thread), self.holds(to, thread));
            match thread == mover {
                true => kept(before, used).is_subset(behind),
                false => before.is_subset(behind),
            }
        })
    }

    /// The steps of a thread, as far as its buffer may hold what they need; whether one of them is an error.
    fn steps_of(
        &self,
        node: usize,
        state: &State,
        thread: usize,
        errs: &mut bool,
    ) -> Vec<(Use, State)> {
        let held = self.holds(node, thread);
        let moves = moves(self.machine.code(), thread, state, held, errs);
        let after = |(used, local, memory)| {
            let mut locals = state.locals.clone();
            locals[thread] = local;
            (used, State { locals, memory })
        };
        moves.into_iter().map(after).collect()
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
        for words in minimal {
            for (thread, word) in words.iter().enumerate() {
                // The newest message may just have been taken from memory.
                if let Some(&(location, value, false)) = word.last()
                    && self.holder(state).is_none()
                    && state.memory[location] == value
                {
                    let mut before = words.clone();
                    before[thread].pop();
                    if !self.is_above(node, &before) {
                        return Err(missing());
                    }
                }
            }
            for &(from, thread, used) in steps {
                let holds = (self.holds(from, thread), self.holds(node, thread));
                let Some(all) = all_before(&words[thread], used, holds.0, holds.1) else {
                    let message = "there are too many orders in which a thread may have stored";
                    return Err(Rejected::Unusable(message.to_owned()));
                };
                for word in all {
                    let mut before = words.clone();
                    before[thread] = word;
                    // What cannot be does not have to be above anything.
                    let can_be = (before.iter().enumerate())
                        .all(|(t, word)| word.iter().all(|m| self.holds(from, t).contains(m)));
                    if can_be && !self.is_above(from, &before) {
                        return Err(missing());
                    }
                }
            }
        }
        Ok(())
    }
}

/// What a buffer that may have held these messages may hold behind a step of its thread.
fn kept(held: &BTreeSet<Message>, used: Use) -> BTreeSet<Message> {
    let mut kept = held.clone();
    match used {
        Use::Nothing => {}
        Use::NeedsEmpty => kept.clear(),
        // It was the newest own message, or there is no own one of the location.
        Use::Reads(location, value) => {
            kept.retain(|m| m.0 != location || !m.2 || m.1 == value);
        }
        Use::Stores(location, value) => {
            kept.retain(|m| m.0 != location);
            kept.insert((location, value, true));
        }
    }
    kept
}

/// The steps of a thread, as far as its buffer may hold what they need: what they do with it, and the thread and memory behind them. Whether one of them is an
/// error.
fn moves(
    code: &Code<'_>,
    thread: usize,
    state: &State,
    held: &BTreeSet<Message>,
    errs: &mut bool,
) -> Vec<(Use, Local, Vec<Value>)> {
    let local = &state.locals[thread];
    let inside = code.in_block(thread, local);
    let mut found = Vec::new();
    for (_, transition) in code.next(thread, local) {
        let go = |set| code.after(thread, local, transition, set);
        let with = |location: usize, value| {
            let mut memory = state.memory.clone();
            memory[location] = value;
            memory
        };
        let request = match code.request(thread, local, transition) {
            Ok(request) => request,
            Err(_) => {
                *errs = true;
                continue;
            }
        };
        match request {
            Request::Blocked => {}
            Request::Local(after) => found.push((Use::Nothing, after, state.memory.clone())),
            Request::Load {
                location,
                register,
                condition,
            } => {
                let location = location.index();
                let values: BTreeSet<Value> = match inside {
                    true => [state.memory[location]].into(),
                    false => (held.iter().filter(|m| m.0 == location))
                        .map(|m| m.1)
                        .collect(),
                };
                for value in values {
                    if condition.is_some_and(|(relation, to)| !relation.holds(value, to)) {
                        continue;
                    }
                    let used = match inside {
                        true => Use::NeedsEmpty,
                        false => Use::Reads(location, value),
                    };
                    let set = register.map(|register| (register, value));
                    found.push((used, go(set), state.memory.clone()));
                }
            }
            Request::Store {
                location,
                value,
                seqcst,
            } => {
                // Between a `seqcst` store and the moment at which it reaches memory its thread does nothing.
                let used = match inside || seqcst {
                    true => Use::NeedsEmpty,
                    false => Use::Stores(location.index(), value),
                };
                found.push((used, go(None), with(location.index(), value)));
            }
            Request::Rmw {
                location,
                register,
                action,
            } => {
                let old = state.memory[location.index()];
                let set = register.map(|register| (register, old));
                let memory = match code.outcome(action, old) {
                    Outcome::Waits => continue,
                    Outcome::Fails(_) => {
                        *errs = true;
                        continue;
                    }
                    Outcome::Loads => state.memory.clone(),
                    Outcome::Writes(new) => with(location.index(), new),
                };
                found.push((Use::NeedsEmpty, go(set), memory));
            }
            Request::Fence | Request::AtomicBegin | Request::AtomicEnd => {
                found.push((Use::NeedsEmpty, go(None), state.memory.clone()));
            }
        }
    }
    found
}

/// Takes a buffer off the front of some numbers: how many messages, and these.
fn take_word(rest: &mut Taken<'_>, locations: usize) -> Option<Word> {
    let mut word = Word::new();
    for _ in 0..rest.next()? {
        let location = usize::try_from(rest.next()?).ok()?;
        let (value, own) = (rest.next()?, rest.next()?);
        if location >= locations || !(0..=1).contains(&own) {
            return None;
        }
        word.push((location, value, own == 1));
    }
    Some(word)
}

/// Whether a word, without some of its oldest messages, has the same own messages as another one and at least its plain ones, in the same places.
fn is_above(word: &[Message], smaller: &[Message]) -> bool {
    let own = |word: &[Message]| word.iter().filter(|m| m.2).count();
    (0..=word.len()).any(|dropped| {
        let mut rest = word[dropped..].iter();
        own(&word[dropped..]) == own(smaller)
            && smaller.iter().all(|message| rest.any(|m| m == message))
    })
}

/// No buffer is looked at that may hold own messages in more orders.
const MOST_ORDERS: usize = 1 << 20;

/// The least words before a step, so that there is at least this word behind it once some of the oldest messages are dropped. `None`: there are too many.
///
/// What is dropped in front of messages that matter to the step could as well have been dropped before it, so only some of it has to be put back.
fn all_before(
    word: &[Message],
    used: Use,
    holds: &BTreeSet<Message>,
    holds_behind: &BTreeSet<Message>,
) -> Option<Vec<Word>> {
    match used {
        Use::Stores(location, value) if word.is_empty() => {
            Some(unused(&[(location, value, true)], used, holds))
        }
        Use::Reads(..) => {
            let both: Vec<Message> = holds.intersection(holds_behind).copied().collect();
            let words = put_back(word, &both)?;
            Some(words.iter().flat_map(|w| unused(w, used, holds)).collect())
        }
        _ => Some(unused(word, used, holds)),
    }
}

/// The words that become this one when own messages are dropped: of locations of which there is no own message behind them.
fn put_back(word: &[Message], holds: &[Message]) -> Option<Vec<Word>> {
    let mut all = vec![word.to_vec()];
    let mut at = 0;
    while at < all.len() {
        for message in holds.iter().filter(|m| m.2) {
            if !all[at].iter().any(|m| m.2 && m.0 == message.0) {
                let longer = [&[*message], &all[at][..]].concat();
                all.push(longer);
            }
        }
        if all.len() > MOST_ORDERS {
            return None;
        }
        at += 1;
    }
    Some(all)
}

/// The least words before a step, so that there is this word right behind it.
fn unused(word: &[Message], used: Use, holds: &BTreeSet<Message>) -> Vec<Word> {
    match used {
        Use::Nothing => vec![word.to_vec()],
        Use::NeedsEmpty if word.is_empty() => vec![Word::new()],
        Use::NeedsEmpty => Vec::new(),
        Use::Reads(location, value) => match word.iter().find(|m| m.2 && m.0 == location) {
            Some(own) if own.1 == value => vec![word.to_vec()],
            Some(_) => Vec::new(),
            None if word.first() == Some(&(location, value, false)) => vec![word.to_vec()],
            None => vec![[&[(location, value, false)], word].concat()],
        },
        Use::Stores(location, value) => {
            let Some((&(last, stored, true), rest)) = word.split_last() else {
                return Vec::new();
            };
            if (last, stored) != (location, value) {
                return Vec::new();
            }
            let mut all = vec![rest.to_vec()];
            // The store may have hidden an older one.
            for older in holds.iter().filter(|m| m.2 && m.0 == location) {
                for at in 0..=rest.len() {
                    let mut word = rest.to_vec();
                    word.insert(at, *older);
                    all.push(word);
                }
            }
            all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_messages_can_be_dropped() {
        let (x, y, own) = ((0, 1, false), (1, 1, false), (0, 1, true));
        assert!(is_above(&[x, own, y], &[y]));
        assert!(is_above(&[x, own, y], &[own]));
        assert!(!is_above(&[x, own, y], &[x]));
        assert!(!is_above(&[y], &[own, y]));
        assert!(is_above(&[own], &[]));
    }

    #[test]
    fn a_load_reads_the_own_message_or_the_oldest_one() {
        let (x, y, own) = ((0, 1, false), (1, 1, false), (0, 1, true));
        let holds = BTreeSet::new();
        let read = Use::Reads(0, 1);
        assert_eq!(unused(&[y], read, &holds), [vec![x, y]]);
        assert_eq!(unused(&[x, y], read, &holds), [vec![x, y]]);
        assert_eq!(unused(&[y, own], read, &holds), [vec![y, own]]);
        assert!(unused(&[y, own], Use::Reads(0, 2), &holds).is_empty());
    }

    #[test]
    fn a_store_is_the_newest_message() {
        let (y, own, older) = ((1, 1, false), (0, 1, true), (0, 2, true));
        let holds = BTreeSet::from([older]);
        let stored = Use::Stores(0, 1);
        let before = unused(&[y, own], stored, &holds);
        assert_eq!(before, [vec![y], vec![older, y], vec![y, older]]);
        assert!(unused(&[own, y], stored, &holds).is_empty());
    }
}
