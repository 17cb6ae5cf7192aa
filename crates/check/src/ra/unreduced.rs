//! The states of SC with monitors, without any reduction, for a certificate.

use std::io;
use std::time::Instant;

use palisade_lang::{Program, Value};

use super::facts::{Classes, Facts};
use super::scm::monitor::{Layout, Slots};
use super::scm::search::{End, Search};
use super::sets::{has, members};
use super::{FIRST_SLOTS, check_meaning};
use crate::certificate::{NoCertificate, put_state, violated};
use crate::state::Frame;
use crate::{Control, Options};

/// Walks and hands every state to `take`.
pub(crate) fn states(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
    take: &mut dyn FnMut(&[i64]) -> io::Result<()>,
) -> Result<(), NoCertificate> {
    let mut program = check_meaning(program, options).map_err(NoCertificate::Refused)?;
    program.nevers.clear();
    let frame = Frame::new(&program, &options.reductions);
    let facts = Facts::plain(&program);
    let start = Instant::now();
    let mut slots = FIRST_SLOTS;
    loop {
        let mut search = Search::new(&frame, &facts, options, slots, false);
        match search.run(start, control) {
            End::TooManySlots => slots *= 2,
            End::Violated(..) => return Err(violated()),
            End::Stopped(stopped) => {
                let reason = format!("{}; {} states were seen", stopped.why(), search.states());
                return Err(NoCertificate::Unfinished(reason));
            }
            End::Robust => {
                let mut numbers = Vec::new();
                let handed = search.for_each_state(|view, row, layout, slots, monitor| {
                    numbers.clear();
                    // Nobody moves any more where a thread got stuck in a block.
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

/// A monitor as numbers.
fn put_monitor(
    facts: &Facts,
    layout: &Layout,
    slots: &Slots,
    monitor: &[u64],
    numbers: &mut Vec<i64>,
) {
    let places = layout.locations;
    let mut put_places = |words: &[u64], itself: Option<usize>| {
        for first in (0..places).step_by(32) {
            let members = first..places.min(first + 32);
            let members = members.filter(|&x| has(words, x) || itself == Some(x));
            numbers.push(members.map(|x| 1i64 << (x - first)).sum());
        }
    };
    for thread in 0..layout.threads {
        put_places(&monitor[layout.v_sc(thread)], None);
    }
    for y in 0..places {
        put_places(&monitor[layout.m_sc(y)], Some(y));
    }
    for y in 0..places {
        put_places(&monitor[layout.w_sc(y)], Some(y));
    }
    // For each slot the critical value that it is; `None` for one that is not.
    let classes: Vec<&Classes> = (facts.tracked.iter().zip(&facts.classes))
        .filter(|(tracked, _)| tracked.is_some())
        .map(|(_, classes)| classes)
        .collect();
    let critical = |slot: usize| -> Option<Value> {
        let value = slots.value(slot);
        match classes[slots.location(slot)] {
            Classes::Single => Some(value),
            Classes::By(predicates) => predicates.iter().any(|p| p.1 == value).then_some(value),
        }
    };
    let mut put_slots = |words: &[u64]| {
        let mut old: Vec<(usize, Option<Value>)> = members(words)
            .map(|slot| (slots.location(slot), critical(slot)))
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
    };
    for thread in 0..layout.threads {
        put_slots(&monitor[layout.v(thread)]);
    }
    for thread in 0..layout.threads {
        put_slots(&monitor[layout.v_rmw(thread)]);
    }
    for y in 0..places {
        put_slots(&monitor[layout.w(y)]);
    }
    for y in 0..places {
        put_slots(&monitor[layout.w_rmw(y)]);
    }
}
