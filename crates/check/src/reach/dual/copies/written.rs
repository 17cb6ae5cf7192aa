//! The nodes and minimal configurations of a search as numbers, for a certificate.

use palisade_threads::{LocalId, View};

use super::super::messages::{Message, SetId, WordId};
use super::{Local, Search};
use crate::certificate::put_local;

impl Search<'_, '_> {
    /// All nodes and minimal configurations as numbers (see `palisade-certificate`).
    pub(in super::super) fn written(&mut self) -> Vec<Vec<i64>> {
        let mut states = Vec::new();
        for node in 0..self.nodes.len() as u32 {
            let of = &self.nodes[node as usize];
            let set = |&set: &SetId| self.sets.iter(set).collect::<Vec<Message>>();
            let fixed = of.fixed.iter().map(set).collect();
            let copies = of.copies.iter().map(|(l, s)| (*l, set(s))).collect();
            states.extend(self.put(0, node, fixed, copies));
        }
        for number in 0..self.elements.len() {
            let of = &self.elements[number];
            if !of.alive {
                continue;
            }
            let word = |&word: &WordId| self.words.get(word).to_vec();
            let fixed = of.fixed.iter().map(word).collect();
            let copies = of.copies.iter().map(|(l, w)| (*l, word(w))).collect();
            states.extend(self.put(1, of.node, fixed, copies));
        }
        states
    }

    fn put(
        &mut self,
        kind: i64,
        node: u32,
        fixed: Vec<Vec<Message>>,
        copies: Vec<(Local, Vec<Message>)>,
    ) -> Option<Vec<i64>> {
        let frame = self.frame;
        let row = self.nodes[node as usize].row.clone();
        let inside = self.inside(node);
        let Search { view, messages, .. } = self;
        view.begin_state();
        let mut numbers = vec![kind];
        for &component in &self.fixed {
            let local = LocalId(row[component]);
            put_local(frame, view, frame.codes[component], local, &mut numbers)?;
        }
        let memory = &row[frame.thread_count()..frame.width()];
        numbers.extend(memory.iter().map(|&id| view.value(id)));
        match inside {
            None => numbers.push(0),
            Some((code, local)) => {
                numbers.push(i64::from(code) + 1);
                put_local(frame, view, code as usize, LocalId(local), &mut numbers)?;
            }
        }
        let put_messages = |view: &mut View<'_>, held: Vec<Message>, numbers: &mut Vec<i64>| {
            numbers.push(held.len() as i64);
            let mut all: Vec<[i64; 3]> = (held.into_iter())
                .map(|message| {
                    let (location, value) = messages.content(message);
                    let own = i64::from(message.is_own());
                    [i64::from(location.0), view.value(value), own]
                })
                .collect();
            if kind == 0 {
                all.sort_unstable();
            }
            numbers.extend(all.into_iter().flatten());
        };
        for held in fixed {
            put_messages(view, held, &mut numbers);
        }
        for ((code, local), held) in copies {
            numbers.push(code.into());
            put_local(frame, view, code as usize, LocalId(local), &mut numbers)?;
            put_messages(view, held, &mut numbers);
        }
        Some(numbers)
    }
}
