//! The backward search: minimal configurations from which something that must not be can be reached.
//!
//! An element is a node of the [`Overview`] and a word for each thread; it stands for every configuration of that node whose words are at least these, or
//! become so when threads drop some of their oldest messages.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::messages::{EMPTY, Message, SetId, WordId, Words};
use super::moved::{Moved, without_offered};
use super::overview::{Edge, Goal, Overview};
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
            if expanded.is_multiple_of(64)
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
                let moved = Moved {
                    messages: &overview.messages,
                    sets: &overview.sets,
                    kind: edge.kind,
                    held: overview.held(edge.from, component),
                    held_behind: held,
                };
                for word in moved.words_before(&mut self.words, words[mover]) {
                    all.extend(self.before(frame, overview, &edge, words, mover, word));
                }
            }
        }
        all
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
            let word = without_offered(&mut self.words, needed, |m| offers && memory(m));
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
