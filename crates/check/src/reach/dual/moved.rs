//! What the thread that takes a step has in its load buffer before and after it.

use palisade_lang::LocationId;

use super::messages::{EMPTY, Message, Messages, NONE, SetId, Sets, WordId, Words};
use super::overview::Kind;

/// A step of a thread, and the messages that its buffer may hold before and behind it.
pub(super) struct Moved<'a> {
    pub messages: &'a Messages,
    pub sets: &'a Sets,
    pub kind: Kind,
    pub held: SetId,
    pub held_behind: SetId,
}

impl Moved<'_> {
    /// The words that the thread may have before its step, so that it has at least this one after it.
    pub fn words_before(&self, words: &mut Words, word: WordId) -> Vec<WordId> {
        let letters = words.get(word);
        match self.kind {
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
                let mut found = vec![words.intern(rest)];
                let location = self.messages.location(written);
                // Or an older own store to the same location was pending, anywhere.
                let older = self.sets.iter(self.held);
                for older in older.filter(|m| m.is_own() && self.messages.location(*m) == location)
                {
                    for at in 0..=rest.len() {
                        let mut longer = rest.to_vec();
                        longer.insert(at, older);
                        found.push(words.intern(&longer));
                    }
                }
                found
            }
            Kind::Reads(read) => {
                // Every message before the step must be possible there, and what was dropped behind it, there too.
                let possible = |m: Message| self.sets.contains(self.held, m);
                let dropped = self.sets.iter(self.held_behind);
                let own: Vec<Message> = dropped.filter(|m| m.is_own() && possible(*m)).collect();
                self.words_before_read(words, read, possible(read), &own, word)
            }
        }
    }

    fn words_before_read(
        &self,
        words: &mut Words,
        read: Message,
        from_memory: bool,
        own: &[Message],
        word: WordId,
    ) -> Vec<WordId> {
        let letters = words.get(word);
        let place = |m: &Message| self.messages.location(*m);
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
                found.push(words.intern(&in_front(read)));
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
                    found.push(words.intern(&in_front(message)));
                }
            }
        }
        found
    }
}

/// What the thread that moves may hold behind its step.
pub(super) fn held_behind(messages: &Messages, sets: &mut Sets, held: SetId, kind: Kind) -> SetId {
    match kind {
        Kind::Ignores => held,
        Kind::NeedsEmpty => NONE,
        Kind::Reads(read) => {
            // Either it was the newest own store, or there was no own store to the location.
            let location = messages.location(read);
            let by_own = sets.contains(held, read.own());
            sets.filter(held, |m| {
                !m.is_own() || messages.location(m) != location || (by_own && m == read.own())
            })
        }
        Kind::Writes(written) => {
            // What stands before an own store to the same location can never be read.
            let location = messages.location(written);
            let rest = sets.filter(held, |m| messages.location(m) != location);
            let written = sets.of([written]);
            sets.union(rest, written)
        }
    }
}

/// The values that a load may find, as messages.
pub(super) fn readable(
    messages: &Messages,
    sets: &Sets,
    held: SetId,
    location: LocationId,
) -> Vec<Message> {
    let mut found: Vec<Message> = (sets.iter(held))
        .filter(|m| messages.location(*m) == location)
        .map(Message::plain)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// A word without what stands at its end and is in memory: that can have been appended just now, so that nothing smaller is left out.
pub(super) fn without_offered(
    words: &mut Words,
    word: WordId,
    in_memory: impl Fn(Message) -> bool,
) -> WordId {
    let all = words.get(word);
    let mut letters = &all[..];
    while let Some((last, rest)) = letters.split_last()
        && !last.is_own()
        && in_memory(*last)
    {
        letters = rest;
    }
    match letters.len() == all.len() {
        true => word,
        false => words.intern(letters),
    }
}
