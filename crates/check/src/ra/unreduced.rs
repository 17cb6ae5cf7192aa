//! The states of SC with monitors, all monitors whole, and those of SC with suspicions, for a certificate.

use std::io;
use std::ops::Range;
use web_time::Instant;

use palisade_lang::{Program, Value};

use super::critical::Critical;
use super::facts::{Classes, Facts, Fences};
use super::scm::monitor::{Layout, Slots};
use super::scm::search::{End, Search};
use super::sets::{has, members};
use super::suspects::{Suspects, Wanted, Whole};
use super::{FIRST_SLOTS, TOO_MANY_LOCATIONS, check_meaning};
use crate::certificate::{NoCertificate, finished, hand_over, put_state, violated};
use crate::search::search;
use crate::state::Frame;
use crate::{Control, Options, Reductions};

/// Walks and hands every state to `take`.
pub(crate) fn states(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    take: &mut dyn FnMut(&[i64]) -> io::Result<()>,
) -> Result<(), NoCertificate> {
    check_meaning(program, options).map_err(NoCertificate::Refused)?;
    let frame = Frame::new(program, &options.reductions);
    let facts = Facts::plain(program, Fences::Updates);
    let start = Instant::now();
    let mut slots = FIRST_SLOTS;
    loop {
        let search = Search::new(&frame, &facts, options, slots, false);
        let too_many = || NoCertificate::Unfinished(TOO_MANY_LOCATIONS.to_owned());
        let mut search = search.ok_or_else(too_many)?;
        match search.run(start, control) {
            End::TooManySlots => slots *= 2,
            End::Violated(..) => return Err(violated()),
            End::Stopped(stopped) => {
                let reason = format!(
                    "{}; {} states were seen",
                    stopped.why(),
                    crate::number_in_words(search.states())
                );
                return Err(NoCertificate::Unfinished(reason));
            }
            End::Robust => {
                let mut numbers = Vec::new();
                let handed = search.for_each_state(|view, row, layout, slots, monitor| {
                    numbers.clear();
                    // No thread moves any more where a thread got stuck in a block.
                    if frame.atomic_thread(view, row).is_some()
                        || put_state(&frame, view, row, None, &mut numbers).is_none()
                    {
                        return Ok(());
                    }
                    put_monitor(&facts, layout, slots, monitor, &mut numbers);
                    take(&numbers)
                });
                return handed.map_err(NoCertificate::Failed);
            }
        }
    }
}

/// Walks with suspicions of all kinds, and hands every state to `take`. What it says about a program that is not robust is no proof.
pub(crate) fn suspicions(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    take: &mut dyn FnMut(&[i64]) -> io::Result<()>,
) -> Result<(), NoCertificate> {
    check_meaning(program, options).map_err(NoCertificate::Refused)?;
    let frame = Frame::new(program, &options.reductions);
    let facts = Facts::plain(program, Fences::Fences);
    let (critical, none) = (Critical::everything(), Reductions::NONE);
    let wanted = Wanted::StaleOrRacing;
    let suspects = Suspects::new(&frame, &facts, &critical, none, wanted, None);
    let whole = Whole(&suspects);
    let (outcome, answer) = search(&whole, options, control);
    finished(&outcome, answer)?;
    let mut view = frame.threads.view();
    hand_over(&outcome, take, |row, numbers| {
        whole.put(&mut view, row, numbers)
    })
}

/// A monitor as numbers.
fn put_monitor(
    facts: &Facts,
    layout: &Layout,
    slots: &Slots,
    monitor: &[u64],
    numbers: &mut Vec<i64>,
) {
    let monitor = Written::new(facts, layout, slots, monitor);
    let (threads, places) = (0..layout.threads, 0..layout.locations);
    for thread in threads.clone() {
        monitor.put_places(layout.v_sc(thread), None, numbers);
    }
    for y in places.clone() {
        monitor.put_places(layout.m_sc(y), Some(y), numbers);
    }
    for y in places.clone() {
        monitor.put_places(layout.w_sc(y), Some(y), numbers);
    }
    for thread in threads.clone() {
        monitor.put_slots(layout.v(thread), numbers);
    }
    for thread in threads {
        monitor.put_slots(layout.v_rmw(thread), numbers);
    }
    for y in places.clone() {
        monitor.put_slots(layout.w(y), numbers);
    }
    for y in places {
        monitor.put_slots(layout.w_rmw(y), numbers);
    }
}

/// A monitor that is written as numbers.
pub(crate) struct Written<'m> {
    layout: &'m Layout,
    slots: &'m Slots,
    monitor: &'m [u64],
    /// For each monitored location which of its values are told apart.
    classes: Vec<&'m Classes>,
}

impl<'m> Written<'m> {
    pub(crate) fn new(
        facts: &'m Facts,
        layout: &'m Layout,
        slots: &'m Slots,
        monitor: &'m [u64],
    ) -> Self {
        let classes = (facts.tracked.iter().zip(&facts.classes))
            .filter(|(tracked, _)| tracked.is_some())
            .map(|(_, classes)| classes)
            .collect();
        Written {
            layout,
            slots,
            monitor,
            classes,
        }
    }

    /// V_SC, V and V_RMW of a thread.
    pub(crate) fn put_thread(&self, thread: usize, numbers: &mut Vec<i64>) {
        self.put_places(self.layout.v_sc(thread), None, numbers);
        self.put_slots(self.layout.v(thread), numbers);
        self.put_slots(self.layout.v_rmw(thread), numbers);
    }

    /// M_SC, W_SC, W and W_RMW of a place.
    pub(crate) fn put_place(&self, y: usize, numbers: &mut Vec<i64>) {
        self.put_places(self.layout.m_sc(y), Some(y), numbers);
        self.put_places(self.layout.w_sc(y), Some(y), numbers);
        self.put_slots(self.layout.w(y), numbers);
        self.put_slots(self.layout.w_rmw(y), numbers);
    }

    fn put_places(&self, words: Range<usize>, itself: Option<usize>, numbers: &mut Vec<i64>) {
        let words = &self.monitor[words];
        let places = self.layout.locations;
        for first in (0..places).step_by(32) {
            let members = first..places.min(first + 32);
            let members = members.filter(|&x| has(words, x) || itself == Some(x));
            numbers.push(members.map(|x| 1i64 << (x - first)).sum());
        }
    }

    fn put_slots(&self, words: Range<usize>, numbers: &mut Vec<i64>) {
        let slots = self.slots;
        let mut old: Vec<(usize, Option<Value>)> = members(&self.monitor[words])
            .map(|slot| (slots.location(slot), self.critical(slot)))
            .collect();
        old.sort_unstable();
        let of_places: Vec<&[(usize, Option<Value>)]> = old.chunk_by(|a, b| a.0 == b.0).collect();
        numbers.push(of_places.len() as i64);
        for values in of_places {
            let critical = values.iter().filter_map(|(_, value)| *value);
            let others = values.iter().any(|(_, value)| value.is_none());
            numbers.push(values[0].0 as i64);
            numbers.push(2 * critical.clone().count() as i64 + i64::from(others));
            numbers.extend(critical);
        }
    }

    /// The critical value that a slot is; `None` for one that is not.
    fn critical(&self, slot: usize) -> Option<Value> {
        let value = self.slots.value(slot);
        match self.classes[self.slots.location(slot)] {
            Classes::Single => Some(value),
            Classes::By(predicates) => predicates.iter().any(|p| p.1 == value).then_some(value),
        }
    }
}
