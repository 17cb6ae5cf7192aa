//! Loops that count: a number that takes ever new values at one place of a thread goes into a register, so that the loop comes back to where it was.

use super::state::{Frame, State};
use super::value::Val;
use crate::mir::IntTy;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// A thread with fewer control points is small enough with all its numbers known.
const FEW_POINTS: usize = 2_000;
/// In others a number may have so many values at one place.
const MANY_VALUES: u32 = 16;

/// How often a thread was at a place with other numbers.
#[derive(Default)]
pub struct Widening {
    /// By a hash of all but the numbers: a collision takes a number into a register that need not be there, which does no harm.
    seen: FxHashMap<u64, Seen>,
}

struct Seen {
    count: u32,
    first: Vec<i128>,
    varies: Vec<bool>,
}

impl Widening {
    /// Which number of this state should go into a register, counted as [`replace`] does.
    pub fn wanted(&mut self, state: &State, points: usize) -> Option<usize> {
        // A statement that is half done must ask the same questions again.
        if !state.replay.is_empty() {
            return None;
        }
        let mut hasher = FxHasher::default();
        let mut numbers = Vec::new();
        for frame in &state.frames {
            match &**frame {
                Frame::Code(code) => {
                    (code.number, code.block, code.statement).hash(&mut hasher);
                    code.target.hash(&mut hasher);
                    for local in &code.locals {
                        visit(local, &mut hasher, &mut numbers);
                    }
                }
                Frame::Drop(items) => items.hash(&mut hasher),
            }
        }
        for (object, value) in &*state.heap {
            object.hash(&mut hasher);
            visit(value, &mut hasher, &mut numbers);
        }
        state.counts.hash(&mut hasher);
        let seen = self.seen.entry(hasher.finish()).or_insert_with(|| Seen {
            count: 0,
            varies: vec![false; numbers.len()],
            first: numbers.clone(),
        });
        seen.count += 1;
        for (at, varies) in seen.varies.iter_mut().enumerate() {
            *varies |= seen.first.get(at) != numbers.get(at);
        }
        match points > FEW_POINTS && seen.count > MANY_VALUES {
            true => seen.varies.iter().position(|varies| *varies),
            false => None,
        }
    }
}

fn visit(value: &Val, hasher: &mut FxHasher, numbers: &mut Vec<i128>) {
    match value {
        Val::Int(number, ty) if *ty != IntTy::BOOL => {
            ty.hash(hasher);
            numbers.push(*number);
        }
        Val::Agg(agg) => {
            (agg.variant, agg.fields.len()).hash(hasher);
            for field in &agg.fields {
                visit(field, hasher, numbers);
            }
        }
        other => other.hash(hasher),
    }
}

/// Puts another value in the place of a number; the number.
pub fn replace(state: &mut State, at: usize, new: impl Fn(IntTy) -> Val) -> Option<i128> {
    let mut left = at;
    for frame in &mut state.frames {
        if let Frame::Code(code) = Rc::make_mut(frame) {
            for local in &mut code.locals {
                if let Some(number) = replace_in(local, &mut left, &new) {
                    return Some(number);
                }
            }
        }
    }
    let mut values = Rc::make_mut(&mut state.heap).values_mut();
    values.find_map(|value| replace_in(value, &mut left, &new))
}

fn replace_in(value: &mut Val, left: &mut usize, new: &impl Fn(IntTy) -> Val) -> Option<i128> {
    match value {
        Val::Int(number, ty) if *ty != IntTy::BOOL => {
            if *left > 0 {
                *left -= 1;
                return None;
            }
            let number = *number;
            *value = new(*ty);
            Some(number)
        }
        Val::Agg(agg) => {
            let fields = &mut Rc::make_mut(agg).fields;
            fields.iter_mut().find_map(|f| replace_in(f, left, new))
        }
        _ => None,
    }
}
