//! What the numbers in rows stand for, for other processes that walk the same space.

use std::sync::atomic::AtomicBool;

use palisade_explore::{Names, Numbers};

use crate::reach::buffers::Buffers;
use crate::state::Frame;

/// Puts a row into the order that all processes use.
type Arrange<'a> = Box<dyn Fn(&mut [u32]) + Sync + 'a>;

/// The names of a row that begins with threads and memory, as a [`Frame`] has them. The tables are those of the codes' local states, that of the values, and
/// that of the buffers.
pub(crate) struct RowNames<'a, 'p> {
    frame: &'a Frame<'p>,
    /// What stands in the components behind threads and memory.
    rest: Vec<Numbers>,
    /// Where something begins of which each thread has one.
    columns: Vec<usize>,
    /// How interchangeable threads are put in order.
    arrange: Arrange<'a>,
    noticed: Vec<&'a AtomicBool>,
    buffers: Option<&'a Buffers>,
}

impl<'a, 'p> RowNames<'a, 'p> {
    /// Of rows that have nothing more.
    pub fn new(frame: &'a Frame<'p>, noticed: Vec<&'a AtomicBool>) -> Self {
        let mut noticed = noticed;
        noticed.push(&frame.unsure_of_deadlock);
        RowNames {
            frame,
            rest: Vec::new(),
            columns: Vec::new(),
            arrange: Box::new(|row| frame.sort_groups(row)),
            noticed,
            buffers: None,
        }
    }

    /// So many components follow, of this kind.
    pub fn then(mut self, count: usize, numbers: Numbers) -> Self {
        self.rest.resize(self.rest.len() + count, numbers);
        self
    }

    /// A component for each thread follows, of this kind.
    pub fn then_for_each_thread(mut self, numbers: Numbers) -> Self {
        self.columns.push(self.frame.width() + self.rest.len());
        let threads = self.frame.thread_count();
        self.then(threads, numbers)
    }

    /// Interchangeable threads are put in order in this way.
    pub fn arranged_by(mut self, arrange: impl Fn(&mut [u32]) + Sync + 'a) -> Self {
        self.arrange = Box::new(arrange);
        self
    }

    /// Some components are numbers of buffers.
    pub fn with_buffers(mut self, buffers: &'a Buffers) -> Self {
        self.buffers = Some(buffers);
        self
    }

    fn codes(&self) -> usize {
        self.frame.program().threads.len()
    }

    /// The table of values.
    pub fn values(frame: &Frame<'_>) -> usize {
        frame.program().threads.len()
    }

    /// The table of buffers.
    pub fn buffers(frame: &Frame<'_>) -> usize {
        RowNames::values(frame) + 1
    }
}

impl Names for RowNames<'_, '_> {
    fn numbers(&self, component: usize) -> Numbers {
        let frame = self.frame;
        match component.checked_sub(frame.width()) {
            Some(behind) => self.rest[behind],
            None => Numbers::Of(match frame.codes.get(component) {
                Some(&code) => code,
                None => self.codes(),
            }),
        }
    }

    fn tables(&self) -> usize {
        self.codes() + 1 + usize::from(self.buffers.is_some())
    }

    fn count(&self, table: usize) -> u32 {
        let codes = self.codes();
        match self.buffers {
            _ if table < codes => self.frame.threads.local_count(table),
            Some(buffers) if table > codes => buffers.count(),
            _ => self.frame.threads.value_count(),
        }
    }

    fn spell(&self, table: usize, number: u32, out: &mut Vec<i64>) {
        let codes = self.codes();
        match self.buffers {
            _ if table < codes => self.frame.threads.spell_local(table, number, out),
            Some(buffers) if table > codes => buffers.spell(number, out),
            _ => out.push(self.frame.threads.value(number)),
        }
    }

    fn number(&self, table: usize, meaning: &[i64]) -> Option<u32> {
        let codes = self.codes();
        match (self.buffers, meaning) {
            _ if table < codes => self.frame.threads.local_spelled(table, meaning),
            (Some(buffers), _) if table == codes + 1 => {
                buffers.number(self.frame.program().locations.len(), meaning)
            }
            (_, &[value]) if table == codes => Some(self.frame.threads.value_number(value)),
            _ => None,
        }
    }

    fn place(&self, component: usize) -> usize {
        let threads = self.frame.thread_count();
        let mut columns = std::iter::once(&0).chain(&self.columns);
        let column = columns.find(|&&first| (first..first + threads).contains(&component));
        let Some(&first) = column else {
            return component;
        };
        let group = self.frame.group_of[component - first];
        group.map_or(component, |group| first + self.frame.groups[group][0])
    }

    fn arrange(&self, row: &mut [u32]) {
        (self.arrange)(row);
    }

    fn noticed(&self) -> Vec<&AtomicBool> {
        self.noticed.clone()
    }
}
