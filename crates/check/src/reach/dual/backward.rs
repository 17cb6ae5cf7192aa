//! The backward search: minimal configurations from which something that must not be can be reached.
//!
//! An element is a node of the [`Overview`] and a word for each thread; it stands for every configuration of that node whose words are at least these, or
//! become so when threads drop some of their oldest messages.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::messages::{EMPTY, Message, SetId, WordId, Words};
use super::overview::{Edge, Goal, Kind, Overview};
use crate::state::Frame;

/// An element.
#[derive(Debug)]
pub(super) struct Element {
    pub node: u32,
    /// In the order of the node's row.
    pub words: Box<[WordId]>,
    /// The element that a step leads to, or the number of the goal.
    pub next: Next,
    /// No smaller element is known.
    alive: bool,
}

/// What an element leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Something that must not be: an index into [`Overview::goals`].
    Goal(u32),
    /// Another element.
    Element(u32),
}

/// How the search has ended, if it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// No goal can be reached.
    Unreachable,
    /// A goal can be reached from this element, at which the program begins.
    Reachable(u32),
    /// It was allowed to add no more. It can go on.
    TooMany,
    /// A limit was hit.
    Stopped(String),
}

/// A configuration from which a step leads above an element.
pub(super) struct Before {
    pub edge: Edge,
    /// The component of the thread that moves, in the row behind the step.
    pub mover: usize,
    /// For each component of the row before the step: the component behind it, and the word before and after messages that memory still offers were
    /// taken from its end.
    pub threads: Vec<Thread>,
}

/// One thread of a [`Before`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    local: u32,
    pub behind: usize,
    pub needed: WordId,
    pub word: WordId,
}

/// The search.
#[derive(Default)]
pub(super) struct Backward {
    pub words: Words,
    pub elements: Vec<Element>,
    /// By node: only those are comparable.
    buckets: FxHashMap<u32, Vec<u32>>,
    /// The smallest first: it may be below others.
    queue: BinaryHeap<Reverse<(u32, u32)>>,
    reached: Option<u32>,
    /// Whether a buffer may hold a word, by set and word.
    allowed: FxHashMap<(SetId, WordId), bool>,
    pub transitions: u64,
    bytes: u64,
}

impl Backward {
    /// Begins with the goals.
    pub fn new(frame: &Frame<'_>, overview: &Overview) -> Self {
        let mut search = Backward::default();
        for (number, &(node, _)) in overview.goals.iter().enumerate() {
            let words = vec![EMPTY; frame.thread_count()];
            search.add(overview, node, words.into(), Next::Goal(number as u32));
        }
        search
    }

    pub fn bytes(&self) -> u64 {
        self.bytes + 120 * self.words.len() as u64 + 24 * self.allowed.len() as u64
    }

    /// The minimal elements.
    pub fn minimal(&self) -> impl Iterator<Item = &Element> {
        self.elements.iter().filter(|element| element.alive)
    }

    /// Goes on until everything is known, or so many predecessors more were looked at.
    pub fn search(
        &mut self,
        frame: &Frame<'_>,
        overview: &Overview,
        most: u64,
        stop: &mut dyn FnMut(u64, u64) -> Option<String>,
    ) -> End {
        let last = self.transitions.saturating_add(most);
        let mut expanded = 0u64;
        loop {
            if let Some(element) = self.reached {
                return End::Reachable(element);
            }
            if self.transitions >= last {
                return End::TooMany;
            }
            let Some(Reverse((size, number))) = self.queue.pop() else {
                return End::Unreachable;
            };
            if !self.elements[number as usize].alive {
                continue;
            }
            if expanded % 64 == 0
                && let Some(why) = stop(self.elements.len() as u64, self.bytes())
            {
                self.queue.push(Reverse((size, number)));
                return End::Stopped(why);
            }
            expanded += 1;
            self.transitions += 1;
            let (node, words) = {
                let element = &self.elements[number as usize];
                (element.node, element.words.clone())
            };
            for before in self.all_before(frame, overview, node, &words) {
                self.transitions += 1;
                let words = before.threads.iter().map(|thread| thread.word).collect();
                self.add(overview, before.edge.from, words, Next::Element(number));
                if !self.elements[number as usize].alive {
                    break;
                }
            }
        }
    }

    /// Adds an element, unless a smaller one is known.
    fn add(&mut self, overview: &Overview, node: u32, words: Box<[WordId]>, next: Next) {
        let Backward {
            words: table,
            elements,
            buckets,
            ..
        } = self;
        let is_below = |a: &[WordId], b: &[WordId]| {
            (a.iter().zip(b)).all(|(&smaller, &greater)| table.is_below(smaller, greater))
        };
        let bucket = buckets.entry(node).or_default();
        if (bucket.iter()).any(|&known| is_below(&elements[known as usize].words, &words)) {
            return;
        }
        bucket.retain(|&known| {
            let element = &mut elements[known as usize];
            element.alive = !is_below(&words, &element.words);
            element.alive
        });
        let number = elements.len() as u32;
        bucket.push(number);
        let length: usize = words.iter().map(|&word| table.len_of(word)).sum();
        if length == 0 && overview.initial.contains(&node) && self.reached.is_none() {
            self.reached = Some(number);
        }
        self.bytes += 120 + 12 * words.len() as u64;
        elements.push(Element {
            node,
            words,
            next,
            alive: true,
        });
        self.queue.push(Reverse((length as u32, number)));
    }

    /// The minimal configurations from which a step leads above this one.
    pub fn all_before(
        &mut self,
        frame: &Frame<'_>,
        overview: &Overview,
        node: u32,
        words: &[WordId],
    ) -> Vec<Before> {
        let mut all = Vec::new();
        let row = overview.row(node).clone();
        for number in overview.edges_to(node) {
            let edge = overview.edge(number);
            let component = edge.component as usize;
            let own_place = [component];
            let places = match frame.group_of[component] {
                Some(group) => &frame.groups[group][..],
                None => &own_place,
            };
            let mut tried: Vec<WordId> = Vec::new();
            for &mover in places {
                // Interchangeable threads in the same state are the same.
                if row[mover] != edge.next.0 || tried.contains(&words[mover]) {
                    continue;
                }
                tried.push(words[mover]);
                let held = overview.held(node, mover);
                for word in self.words_before(overview, &edge, held, words[mover]) {
                    all.extend(self.before(frame, overview, &edge, words, mover, word));
                }
            }
        }
        all
    }

    /// The words that the thread that moves may have before its step, so that it has at least this one after it.
    fn words_before(
        &mut self,
        overview: &Overview,
        edge: &Edge,
        held_behind: SetId,
        word: WordId,
    ) -> Vec<WordId> {
        let held = overview.held(edge.from, edge.component as usize);
        let letters = self.words.get(word);
        match edge.kind {
            Kind::Ignores => vec![word],
            Kind::NeedsEmpty => match word {
                EMPTY => vec![EMPTY],
                _ => Vec::new(),
            },
            Kind::Writes(written) => {
                // Where the buffer is empty, the message is dropped right after the store.
                let rest = match letters.split_last() {
                    None => &[][..],
                    Some((last, rest)) if *last == written => rest,
                    Some(_) => return Vec::new(),
                };
                let mut found = vec![self.words.intern(rest)];
                let location = overview.messages.location(written);
                // Or an older own store to the same location was pending, anywhere.
                let older = overview.sets.iter(held);
                for older in
                    older.filter(|m| m.is_own() && overview.messages.location(*m) == location)
                {
                    for at in 0..=rest.len() {
                        let mut longer = rest.to_vec();
                        longer.insert(at, older);
                        found.push(self.words.intern(&longer));
                    }
                }
                found
            }
            Kind::Reads(read) => {
                // Every message before the step must be possible there, and what was dropped behind it, there too.
                let possible = |m: Message| overview.sets.contains(held, m);
                let dropped = overview.sets.iter(held_behind);
                let own: Vec<Message> = dropped.filter(|m| m.is_own() && possible(*m)).collect();
                self.words_before_read(overview, read, possible(read), &own, word)
            }
        }
    }

    fn words_before_read(
        &mut self,
        overview: &Overview,
        read: Message,
        from_memory: bool,
        own: &[Message],
        word: WordId,
    ) -> Vec<WordId> {
        let letters = self.words.get(word);
        let place = |m: &Message| overview.messages.location(*m);
        let location = place(&read);
        if let Some(own) = letters.iter().find(|m| m.is_own() && place(m) == location) {
            return match *own == read.own() {
                true => vec![word],
                false => Vec::new(),
            };
        }
        let mut found = Vec::new();
        if letters.first() == Some(&read) {
            found.push(word);
        }
        // Own messages may have been dropped between this step and what comes next. They are put back in every order, and before the read: what is
        // put back in front of an own message that is read can as well be put back later.
        let mut work: Vec<Vec<Message>> = vec![letters.to_vec()];
        while let Some(letters) = work.pop() {
            let in_front = |message: Message| {
                let mut longer = Vec::with_capacity(letters.len() + 1);
                longer.push(message);
                longer.extend_from_slice(&letters);
                longer
            };
            if from_memory && letters.first() != Some(&read) {
                found.push(self.words.intern(&in_front(read)));
            }
            for &message in own {
                if letters
                    .iter()
                    .any(|l| l.is_own() && place(l) == place(&message))
                {
                    continue;
                }
                if place(&message) != location {
                    work.push(in_front(message));
                } else if message == read.own() {
                    found.push(self.words.intern(&in_front(message)));
                }
            }
        }
        found
    }

    /// The configuration before a step, where it may exist.
    fn before(
        &mut self,
        frame: &Frame<'_>,
        overview: &Overview,
        edge: &Edge,
        words: &[WordId],
        mover: usize,
        word: WordId,
    ) -> Option<Before> {
        let row = overview.row(edge.from).clone();
        let memory = |m: Message| {
            let (location, value) = overview.messages.content(m);
            row[frame.component(location)] == value
        };
        let offers = overview.holder(edge.from).is_none();
        let behind = overview.row(edge.to).clone();
        let mut threads = Vec::with_capacity(words.len());
        for (component, &needed) in words.iter().enumerate() {
            let (local, needed) = match component == mover {
                true => (row[edge.component as usize], word),
                false => (behind[component], needed),
            };
            // What stands at the end and is in memory can have been appended just now: nothing smaller is left out.
            let all = self.words.get(needed);
            let mut letters = &all[..];
            while let Some((last, rest)) = letters.split_last()
                && offers
                && !last.is_own()
                && memory(*last)
            {
                letters = rest;
            }
            let word = match letters.len() == all.len() {
                true => needed,
                false => self.words.intern(letters),
            };
            threads.push(Thread {
                local,
                behind: component,
                needed,
                word,
            });
        }
        for group in &frame.groups {
            let members = &mut threads[group[0]..group[0] + group.len()];
            members.sort_by_key(|t| (t.local, self.words.own_count(t.word), t.word));
        }
        for (component, thread) in threads.iter().enumerate() {
            debug_assert_eq!(thread.local, row[component]);
            let set = overview.held(edge.from, component);
            if !self.is_allowed(overview, set, thread.needed) {
                return None;
            }
        }
        Some(Before {
            edge: *edge,
            mover,
            threads,
        })
    }

    /// Whether a buffer that may hold these messages may hold this word.
    fn is_allowed(&mut self, overview: &Overview, set: SetId, word: WordId) -> bool {
        if word == EMPTY {
            return true;
        }
        let words = &self.words;
        *self.allowed.entry((set, word)).or_insert_with(|| {
            let letters = words.get(word);
            letters.iter().all(|&m| overview.sets.contains(set, m))
        })
    }

    /// From an element at which the program begins to a goal: the elements on the way, and the goal.
    pub fn way(&self, overview: &Overview, first: u32) -> (Vec<u32>, Goal) {
        let mut way = vec![first];
        let mut at = first;
        loop {
            match self.elements[at as usize].next {
                Next::Element(next) => {
                    way.push(next);
                    at = next;
                }
                Next::Goal(goal) => return (way, overview.goals[goal as usize].1),
            }
        }
    }
}
