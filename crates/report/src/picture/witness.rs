//! A witness as engineers draw it: a column per thread, time downwards, stores that wait drawn from issue to flush.

use super::diagram::{Diagram, Lane, Link, Node, Row};
use super::scene::{Frame, Ink};
use crate::columns::{effect_here, is_stale, line_of, marked, shown, statement, threads};
use crate::look::{cut, harmless};
use crate::{shape, words};
use palisade_lang::Program;
use palisade_memory::c20::shown::{Synchronisation, synchronisation};
use palisade_memory::{EventKind, EventRef, Pattern, PatternKind, RelationName, Witness};
use std::collections::BTreeMap;

/// More thin arrows than this hide more than they tell.
const MOST_THIN: usize = 16;
/// More locations than this are not listed.
const MOST_INITIAL: usize = 12;

/// What there is to draw.
pub(crate) fn diagram(witness: &Witness, program: &Program, file: &str) -> Diagram {
    let threads = threads(witness, program);
    let marked = marked(witness);
    let shown = shown(witness.events.len(), &marked);
    let columns = match threads.len() {
        0..=2 => 46,
        3 | 4 => 36,
        _ => 28,
    };
    let mut drawing = Drawing {
        witness,
        diagram: Diagram::default(),
        node_of: BTreeMap::new(),
        flush_of: BTreeMap::new(),
    };
    for (index, event) in witness.events.iter().enumerate() {
        if event.kind == EventKind::Flush
            && let Some(issue) = event.issue
        {
            drawing.flush_of.insert(issue, index);
        }
    }
    let mut left_out = 0;
    for (index, event) in witness.events.iter().enumerate() {
        if drawing.node_of.contains_key(&index) {
            continue;
        }
        let begins_cycle = witness.loop_start == Some(index);
        if begins_cycle || shown.contains(&index) {
            drawing.gap(std::mem::take(&mut left_out));
        }
        if begins_cycle {
            let row = Row::Across(Frame::Gap, words::FOR_EVER.to_owned());
            drawing.diagram.rows.push(row);
        }
        if !shown.contains(&index) {
            left_out += 1;
            continue;
        }
        // A store that reaches memory before any other thread does anything was not delayed: one box.
        let at_once = event.kind == EventKind::Issue
            && drawing.flush_of.get(&index) == Some(&(index + 1))
            && witness.loop_start != Some(index + 1)
            && shown.contains(&(index + 1));
        let last = index + usize::from(at_once);
        let number = drawing.diagram.nodes.len();
        drawing.node_of.insert(index, number);
        drawing.node_of.insert(last, number);
        let is_flush = event.kind == EventKind::Flush;
        let is_marked = marked.contains(&index);
        let frame = match (is_flush, is_marked) {
            (true, false) => Frame::Flush,
            (true, true) => Frame::MarkedFlush,
            (false, false) => Frame::Step,
            (false, true) if drawing.goes_wrong(index) => Frame::Wrong,
            (false, true) => Frame::Marked,
        };
        let effect = match at_once {
            true => effect_here(witness, index).replacen("buffers", "writes", 1) + " at once",
            false => effect_here(witness, index).replace(" (stale)", ""),
        };
        let badge = drawing.badge(index);
        drawing.diagram.nodes.push(Node {
            column: threads
                .iter()
                .position(|name| *name == event.thread)
                .unwrap_or(0),
            row: drawing.diagram.rows.len(),
            frame,
            line: line_of(event),
            code: match is_flush {
                true => String::new(),
                false => cut(&statement(event, program), columns),
            },
            // What is read and written must not be cut off lightly.
            effect: cut(&effect, columns.max(40)),
            badge,
            steps: (index, last),
        });
        drawing.diagram.rows.push(Row::Node(match at_once {
            true => format!("{}–{}", index + 1, last + 1),
            false => (index + 1).to_string(),
        }));
    }
    drawing.gap(left_out);
    drawing.links();
    drawing.lanes(&marked);
    drawing.blocks();
    drawing.around(program, file);
    let mut diagram = drawing.diagram;
    diagram.columns = threads
        .iter()
        .map(|name| cut(&harmless(name), 30))
        .collect();
    diagram
}

struct Drawing<'a> {
    witness: &'a Witness,
    diagram: Diagram,
    /// The box of each event that is drawn.
    node_of: BTreeMap<usize, usize>,
    /// For each issue its flush.
    flush_of: BTreeMap<usize, usize>,
}

impl Drawing<'_> {
    fn gap(&mut self, left_out: usize) {
        if left_out > 0 {
            let steps = words::counted(left_out as u64, "step", "steps");
            let text = format!("… {steps} left out …");
            self.diagram.rows.push(Row::Across(Frame::Gap, text));
        }
    }

    fn goes_wrong(&self, index: usize) -> bool {
        self.witness
            .pattern
            .as_ref()
            .is_some_and(|p| p.kind == PatternKind::Error && p.events.last() == Some(&index))
    }

    /// What is written on an event's box to be seen at a glance.
    fn badge(&self, index: usize) -> Option<(Frame, String)> {
        if self.goes_wrong(index) {
            return Some((Frame::Warning, "fails".to_owned()));
        }
        if is_stale(self.witness, index) || self.misses_buffered(index) {
            return Some((Frame::Warning, "stale".to_owned()));
        }
        None
    }

    /// Whether a load reads memory while a newer value waits in the buffer of another thread.
    fn misses_buffered(&self, index: usize) -> bool {
        let events = &self.witness.events;
        let load = &events[index];
        // A thread that has itself buffered a store to the location reads that one.
        let waits = |issue: usize| {
            let flushed = self.flush_of.get(&issue).is_some_and(|&f| f < index);
            events[issue].kind == EventKind::Issue
                && events[issue].location == load.location
                && !flushed
        };
        load.kind == EventKind::Load
            && (0..index).any(|i| waits(i) && events[i].thread != load.thread)
            && !(0..index).any(|i| waits(i) && events[i].thread == load.thread)
    }

    /// The box at which an arrow ends: orders of memory act where a store reaches memory, program order where it is issued.
    fn end(&self, event: usize, relation: RelationName) -> Option<usize> {
        let index = match relation {
            RelationName::Po => self.witness.events.get(event)?.issue.unwrap_or(event),
            _ => self.flush_of.get(&event).copied().unwrap_or(event),
        };
        let known = self
            .node_of
            .get(&index)
            .or_else(|| self.node_of.get(&event));
        known.copied()
    }

    fn link(&mut self, from: usize, to: usize, relation: RelationName, bold: bool) {
        let ink = match relation {
            RelationName::Po => Ink::Po,
            RelationName::Rf => Ink::Rf,
            RelationName::Co => Ink::Co,
            RelationName::Fr => Ink::Fr,
        };
        self.link_in(from, to, relation, (ink, bold));
    }

    fn link_in(
        &mut self,
        from: usize,
        to: usize,
        relation: RelationName,
        (ink, bold): (Ink, bool),
    ) {
        let events = &self.witness.events;
        // A thread that reads its own store does so from the buffer.
        let early = relation == RelationName::Rf && events[from].thread == events[to].thread;
        let (from, to) = match early {
            true => (self.node_of.get(&from).copied(), self.end(to, relation)),
            false => (self.end(from, relation), self.end(to, relation)),
        };
        let (Some(from), Some(to)) = (from, to) else {
            return;
        };
        let known = |l: &Link| l.from == from && l.to == to && (l.ink == ink || !bold);
        if from != to && !self.diagram.links.iter().any(known) {
            self.diagram.links.push(Link {
                from,
                to,
                ink,
                bold,
                both: false,
            });
        }
    }

    fn links(&mut self) {
        let witness = self.witness;
        let count = witness.events.len();
        for edge in &witness.edges {
            if edge.from < count && edge.to < count {
                self.link(edge.from, edge.to, edge.relation, true);
            }
        }
        if let Some(pattern) = &witness.pattern {
            self.pattern(pattern);
        }
        let Synchronisation { sw, psc } = synchronisation(witness);
        for (pairs, ink) in [(sw, Ink::Sw), (psc, Ink::Psc)] {
            for (from, to) in pairs.into_iter().take(MOST_THIN) {
                self.link_in(from, to, RelationName::Rf, (ink, false));
            }
        }
        // Where values come from, between threads. Many arrows hide more than they tell: then only those at marked steps.
        let marked = marked(witness);
        let mut thin: Vec<(usize, usize)> = (0..count)
            .filter_map(|to| Some((self.source(to)?, to)))
            .filter(|&(from, to)| witness.events[from].thread != witness.events[to].thread)
            .collect();
        if thin.len() > MOST_THIN {
            thin.retain(|(from, to)| marked.contains(from) || marked.contains(to));
        }
        thin.truncate(MOST_THIN);
        for (from, to) in thin {
            self.link(from, to, RelationName::Rf, false);
        }
    }

    /// The event whose value a read gets.
    fn source(&self, index: usize) -> Option<usize> {
        let events = &self.witness.events;
        let event = &events[index];
        if !matches!(event.kind, EventKind::Load | EventKind::Rmw) {
            return None;
        }
        if self.witness.model.has_messages() {
            return match event.rf {
                Some(EventRef::Event(from)) if from < events.len() => Some(from),
                _ => None,
            };
        }
        let own = (0..index).rev().find(|&i| {
            events[i].kind == EventKind::Issue
                && events[i].thread == event.thread
                && events[i].location == event.location
                && self.flush_of.get(&i).is_none_or(|&f| f > index)
        });
        own.or_else(|| {
            (0..index).rev().find(|&i| {
                let writes = [EventKind::Store, EventKind::Flush, EventKind::Rmw];
                writes.contains(&events[i].kind) && events[i].location == event.location
            })
        })
    }

    /// Arrows and badges of what is no cycle.
    fn pattern(&mut self, pattern: &Pattern) {
        let events = self.witness.events.len();
        if pattern.events.iter().any(|&e| e >= events) {
            return;
        }
        match (pattern.kind, &pattern.events[..]) {
            (PatternKind::Race, &[a, b]) => self.race(a, b),
            (PatternKind::TriangularRace, &[store, load, other]) => {
                self.link(store, load, RelationName::Po, true);
                self.race(load, other);
            }
            (PatternKind::Fragile, &[store, load, _, written, _]) => {
                self.link(store, load, RelationName::Po, true);
                self.link(load, written, RelationName::Fr, true);
            }
            _ => {}
        }
    }

    fn race(&mut self, a: usize, b: usize) {
        if let (Some(from), Some(to)) =
            (self.end(a, RelationName::Co), self.end(b, RelationName::Co))
        {
            self.diagram.links.push(Link {
                from,
                to,
                ink: Ink::Race,
                bold: true,
                both: true,
            });
        }
    }

    fn lanes(&mut self, marked: &std::collections::BTreeSet<usize>) {
        for (index, event) in self.witness.events.iter().enumerate() {
            let Some(&from) = self.node_of.get(&index) else {
                continue;
            };
            let flush = self.flush_of.get(&index);
            let to = flush.and_then(|flush| self.node_of.get(flush)).copied();
            if event.kind == EventKind::Issue && to != Some(from) {
                self.diagram.lanes.push(Lane {
                    from,
                    to,
                    bold: marked.contains(&index),
                });
            }
        }
    }

    /// Consecutive events of a thread inside `atomic`.
    fn blocks(&mut self) {
        let events = &self.witness.events;
        let mut begin: Option<usize> = None;
        for index in 0..events.len() {
            let first = *begin.get_or_insert(index);
            let next = events.get(index + 1);
            let goes_on = events[index].atomic
                && next.is_some_and(|n| n.atomic && n.thread == events[index].thread);
            if goes_on {
                continue;
            }
            begin = None;
            if let (true, true, Some(&first), Some(&last)) = (
                events[index].atomic,
                first < index,
                self.node_of.get(&first),
                self.node_of.get(&index),
            ) {
                self.diagram.blocks.push((first, last));
            }
        }
    }

    /// Title, captions, what happens at the end, legend.
    fn around(&mut self, program: &Program, file: &str) {
        let witness = self.witness;
        let diagram = &mut self.diagram;
        let verdict = words::violated(witness.model, witness.criterion);
        diagram.title = format!("{}: {verdict}", harmless(super::base_name(file)));
        if let Some(copies) = witness.copies {
            let copies = words::counted(u64::from(copies), "copy", "copies");
            let text = format!("With {copies} of each thread that may have any number.");
            diagram.captions.push(text);
        }
        let cycle = match shape::name(witness) {
            Some(shape) => Some(format!(
                "The bold arrows form the cycle {} ({}).",
                shape.name, shape.meaning
            )),
            None if !witness.edges.is_empty() => Some("The bold arrows form a cycle.".to_owned()),
            None => None,
        };
        diagram.captions.extend(cycle);
        let initial = initially(witness, program);
        diagram.captions.extend(initial);
        if let Some(pattern) = &witness.pattern {
            let message = harmless(&crate::cycle::sentence(&pattern.message, witness));
            diagram.rows.push(Row::Across(Frame::End, message));
        }
        if diagram.nodes.iter().any(|n| badge_is(n, "stale")) {
            diagram.legend.push((
                Some(Frame::Warning),
                "stale".to_owned(),
                "reads an old value although a newer one has been written".to_owned(),
            ));
        }
        if !diagram.blocks.is_empty() {
            diagram.legend.push((
                Some(Frame::Block),
                "   ".to_owned(),
                "an atomic block: one step for all others".to_owned(),
            ));
        }
    }
}

fn badge_is(node: &Node, word: &str) -> bool {
    node.badge.as_ref().is_some_and(|(_, text)| text == word)
}

/// The values of the locations that matter, before the first step.
fn initially(witness: &Witness, program: &Program) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for event in &witness.events {
        if let Some(name) = event.location.as_deref()
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    if names.is_empty() || names.len() > MOST_INITIAL {
        return None;
    }
    let values: Vec<String> = program
        .locations
        .iter()
        .filter(|location| names.contains(&location.name.as_str()))
        .map(|location| {
            let name = match location.name.parse::<i64>() {
                Ok(address) => format!("[{address}]"),
                Err(_) => harmless(&location.name),
            };
            let initial = program.domain.reduce(location.initial);
            format!("{name} = {}", palisade_lang::value_in_words(initial))
        })
        .collect();
    Some(format!("Initially {}.", values.join(", ")))
}
