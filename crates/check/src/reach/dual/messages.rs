//! Messages, the words that load buffers hold, and sets of messages: everything by number.

use palisade_lang::LocationId;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A message in a load buffer: a location, the number of a value, and whether the thread itself wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Message(u32);

impl Message {
    /// Whether the thread whose buffer it is in wrote it.
    pub fn is_own(self) -> bool {
        self.0 & 1 == 1
    }

    /// The same location and value, written by the thread itself.
    pub fn own(self) -> Message {
        Message(self.0 | 1)
    }

    /// The same location and value, as every thread can get it from memory.
    pub fn plain(self) -> Message {
        Message(self.0 & !1)
    }
}

/// All pairs of a location and the number of a value that were met.
#[derive(Debug, Default)]
pub(super) struct Messages {
    contents: Vec<(LocationId, u32)>,
    numbers: FxHashMap<(LocationId, u32), u32>,
}

impl Messages {
    /// The plain message with this content.
    pub fn of(&mut self, location: LocationId, value: u32) -> Message {
        let next = self.contents.len() as u32;
        let number = *self.numbers.entry((location, value)).or_insert(next);
        if number == next {
            self.contents.push((location, value));
        }
        Message(2 * number)
    }

    /// The location and the number of the value.
    pub fn content(&self, message: Message) -> (LocationId, u32) {
        self.contents[(message.0 / 2) as usize]
    }

    pub fn location(&self, message: Message) -> LocationId {
        self.content(message).0
    }
}

/// The number of a word; 0 is the empty one.
pub(super) type WordId = u32;

/// The empty buffer.
pub(super) const EMPTY: WordId = 0;

/// The words that buffers hold, the oldest message first.
///
/// Of the own messages of a location only the newest is kept, and no plain message of a location stands before an own one: it could never be read.
#[derive(Debug)]
pub(super) struct Words {
    words: Vec<Rc<[Message]>>,
    ids: FxHashMap<Rc<[Message]>, WordId>,
    /// How many own messages each word has.
    own: Vec<u32>,
}

impl Default for Words {
    fn default() -> Self {
        let empty: Rc<[Message]> = Rc::new([]);
        Words {
            words: vec![empty.clone()],
            ids: [(empty, EMPTY)].into_iter().collect(),
            own: vec![0],
        }
    }
}

impl Words {
    pub fn get(&self, word: WordId) -> Rc<[Message]> {
        self.words[word as usize].clone()
    }

    pub fn len_of(&self, word: WordId) -> usize {
        self.words[word as usize].len()
    }

    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// How many own messages a word has.
    pub fn own_count(&self, word: WordId) -> u32 {
        self.own[word as usize]
    }

    pub fn intern(&mut self, word: &[Message]) -> WordId {
        if let Some(&id) = self.ids.get(word) {
            return id;
        }
        let own = word.iter().filter(|m| m.is_own()).count() as u32;
        let id = self.words.len() as WordId;
        let word: Rc<[Message]> = word.into();
        self.words.push(word.clone());
        self.own.push(own);
        self.ids.insert(word, id);
        id
    }

    /// Whether one word is at most another: without some of the oldest messages, the other one has the same own messages, and the plain ones between them are
    /// among the other's, in the same order.
    pub fn is_below(&self, smaller: WordId, greater: WordId) -> bool {
        if smaller == greater || smaller == EMPTY {
            return true;
        }
        let (own, own_of_greater) = (self.own_count(smaller), self.own_count(greater));
        if own > own_of_greater || self.len_of(smaller) > self.len_of(greater) {
            return false;
        }
        let mut rest = self.words[greater as usize].iter();
        // What stands behind all own messages that are too many.
        for _ in own..own_of_greater {
            rest.find(|message| message.is_own());
        }
        // As many own messages are left as there must be, each of them once: so each is matched with itself.
        let mut smaller = self.words[smaller as usize].iter();
        smaller.all(|message| rest.any(|other| other == message))
    }
}

/// The number of a set; 0 is the empty one.
pub(super) type SetId = u32;

/// The empty set.
pub(super) const NONE: SetId = 0;

/// Sets of messages.
#[derive(Debug)]
pub(super) struct Sets {
    /// As bits, without zeros at the end.
    sets: Vec<Rc<[u64]>>,
    ids: FxHashMap<Rc<[u64]>, SetId>,
    unions: FxHashMap<(SetId, SetId), SetId>,
}

impl Default for Sets {
    fn default() -> Self {
        let empty: Rc<[u64]> = Rc::new([]);
        Sets {
            sets: vec![empty.clone()],
            ids: [(empty, NONE)].into_iter().collect(),
            unions: FxHashMap::default(),
        }
    }
}

impl Sets {
    pub fn contains(&self, set: SetId, message: Message) -> bool {
        let words = &self.sets[set as usize];
        words
            .get(message.0 as usize / 64)
            .is_some_and(|word| word >> (message.0 % 64) & 1 == 1)
    }

    pub fn iter(&self, set: SetId) -> impl Iterator<Item = Message> + use<> {
        let words = self.sets[set as usize].clone();
        (0..words.len() as u32 * 64)
            .filter(move |bit| words[*bit as usize / 64] >> (bit % 64) & 1 == 1)
            .map(Message)
    }

    pub fn of(&mut self, messages: impl IntoIterator<Item = Message>) -> SetId {
        let mut words = Vec::new();
        for message in messages {
            let at = message.0 as usize / 64;
            if words.len() <= at {
                words.resize(at + 1, 0);
            }
            words[at] |= 1 << (message.0 % 64);
        }
        self.intern(&words)
    }

    pub fn union(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b || b == NONE {
            return a;
        }
        if a == NONE {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&known) = self.unions.get(&key) {
            return known;
        }
        let (one, other) = (self.sets[a as usize].clone(), self.sets[b as usize].clone());
        let words: Vec<u64> = (0..one.len().max(other.len()))
            .map(|at| one.get(at).unwrap_or(&0) | other.get(at).unwrap_or(&0))
            .collect();
        let union = self.intern(&words);
        self.unions.insert(key, union);
        union
    }

    /// The messages of a set that are wanted.
    pub fn filter(&mut self, set: SetId, wanted: impl Fn(Message) -> bool) -> SetId {
        let left: Vec<Message> = self.iter(set).filter(|m| wanted(*m)).collect();
        self.of(left)
    }

    fn intern(&mut self, words: &[u64]) -> SetId {
        if let Some(&id) = self.ids.get(words) {
            return id;
        }
        let id = self.sets.len() as SetId;
        let words: Rc<[u64]> = words.into();
        self.sets.push(words.clone());
        self.ids.insert(words, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_by_own_messages_and_what_is_between() {
        let (mut messages, mut words) = (Messages::default(), Words::default());
        let x = messages.of(LocationId(0), 1);
        let y = messages.of(LocationId(1), 1);
        let z = messages.of(LocationId(2), 1);
        let mut word = |letters: &[Message]| words.intern(letters);
        let between = word(&[y, x.own(), z]);
        let more = word(&[z, y, x.own(), y, z]);
        let elsewhere = word(&[x.own(), y, z]);
        let without = word(&[y, z]);
        assert!(words.is_below(between, more));
        assert!(!words.is_below(more, between));
        assert!(!words.is_below(between, elsewhere));
        assert!(!words.is_below(elsewhere, between));
        assert!(words.is_below(EMPTY, without));
        // The oldest messages can be dropped, own ones too.
        assert!(words.is_below(without, more));
        assert!(!words.is_below(without, between));
        assert!(words.is_below(EMPTY, elsewhere));
    }

    #[test]
    fn a_union_has_what_both_have() {
        let (mut messages, mut sets) = (Messages::default(), Sets::default());
        let all: Vec<Message> = (0..100).map(|n| messages.of(LocationId(n), 0)).collect();
        let (few, many) = (sets.of([all[3]]), sets.of([all[99].own(), all[3]]));
        let union = sets.union(few, many);
        assert_eq!(union, many);
        assert!(sets.contains(union, all[99].own()) && !sets.contains(union, all[99]));
        assert_eq!(
            sets.filter(union, Message::is_own),
            sets.of([all[99].own()])
        );
    }
}
