//! States as numbers.

use palisade_lang::PointId;
use palisade_memory::{Code, Local, sc};

/// Numbers, of which some are taken off the front.
pub struct Taken<'n>(pub &'n [i64]);

impl<'n> Taken<'n> {
    pub fn next(&mut self) -> Option<i64> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    pub fn several(&mut self, count: usize) -> Option<&'n [i64]> {
        let (first, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(first)
    }

    /// A control point and registers, and puts a thread there; it stays where it is for -1 (for callers that see to it that only the right ones are).
    pub fn stand(&mut self, code: &Code<'_>, place: usize, locals: &mut [Local]) -> Option<()> {
        let thread = code.thread(place);
        let point = self.next()?;
        let registers = self.several(thread.registers.len())?;
        if point >= 0 {
            let point = PointId(u32::try_from(point).ok()?);
            if point.index() >= thread.points.len() || thread.behind_jumps(point) != point {
                return None;
            }
            locals[place] = Local {
                point,
                registers: registers.to_vec(),
                stopped: false,
            };
        }
        Some(())
    }
}

/// How many numbers threads and memory take.
pub fn width(code: &Code<'_>) -> usize {
    let threads = (0..code.instances.len()).map(|t| 1 + code.thread(t).registers.len());
    threads.sum::<usize>() + code.program.locations.len()
}

/// Appends threads and memory.
pub fn put(state: &sc::State, numbers: &mut Vec<i64>) {
    for local in &state.locals {
        numbers.push(local.point.0.into());
        numbers.extend_from_slice(&local.registers);
    }
    numbers.extend_from_slice(&state.memory);
}

/// Threads and memory, and what stands behind them; `None` where they are none. The thread `gone` stands nowhere: it is skipped, and a thread
/// that stands at its beginning takes its place.
pub fn take<'n>(
    code: &Code<'_>,
    numbers: &'n [i64],
    gone: Option<usize>,
) -> Option<(sc::State, &'n [i64])> {
    let mut rest = numbers;
    let mut locals = code.initial_locals();
    for (thread, local) in locals.iter_mut().enumerate() {
        let (&point, behind) = rest.split_first()?;
        let (registers, behind) = behind.split_at_checked(local.registers.len())?;
        rest = behind;
        if gone == Some(thread) {
            if point != -1 || registers.iter().any(|&r| r != 0) {
                return None;
            }
            continue;
        }
        let code = code.thread(thread);
        let point = PointId(u32::try_from(point).ok()?);
        if point.index() >= code.points.len() || code.behind_jumps(point) != point {
            return None;
        }
        *local = Local {
            point,
            registers: registers.to_vec(),
            stopped: false,
        };
    }
    let (memory, rest) = rest.split_at_checked(code.program.locations.len())?;
    let memory = memory.to_vec();
    Some((sc::State { locals, memory }, rest))
}
