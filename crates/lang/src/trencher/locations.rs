//! The locations of an automaton: any integer is an address, so the memory of a program is what its accesses can reach.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::expr::{Expr, Value};
use crate::program::{Address, Location, Op, Program, RegisterExpr, Thread, ThreadId};
use crate::values::{Analysis, Memory, Values};

/// Every location that may be accessed. Constant addresses are plain to see, also where they were put into a register before; for
/// computed ones, registers and memory are analysed. Where
/// nothing is known of an address, it stands for a range (see [`fallback_range`]); an access beyond it is an error of the program.
pub(super) fn find_locations(program: &Program, memory_size: Option<Value>) -> Vec<Location> {
    let mut found = BTreeMap::new();
    let mut analysis = None;
    let mut first_unknown = None;
    for (number, thread) in program.threads.iter().enumerate() {
        let constants = constants(program, thread);
        for transition in &thread.transitions {
            let (Op::Load { address, .. } | Op::Store { address, .. }) = &transition.op else {
                continue;
            };
            let constant = match address {
                Address::Pointer(pointer) => constant(
                    program,
                    pointer,
                    constants[transition.from.index()].as_deref(),
                ),
                _ => None,
            };
            let span = transition.span;
            if let Some(constant) = constant {
                found.entry(constant).or_insert(span);
                continue;
            }
            let analysis =
                analysis.get_or_insert_with(|| Analysis::new(program, Memory::EveryInteger));
            match analysis.addresses(ThreadId(number as u32), address) {
                Values::Some(addresses) => {
                    for address in addresses {
                        found.entry(address).or_insert(span);
                    }
                }
                Values::Any => {
                    first_unknown.get_or_insert(span);
                }
            }
        }
    }
    if let Some(span) = first_unknown {
        for address in fallback_range(program, memory_size) {
            found.entry(address).or_insert(span);
        }
    }
    let locations = found.into_iter().map(|(address, span)| Location {
        name: address.to_string(),
        address,
        initial: 0,
        nonatomic: false,
        array: None,
        span,
    });
    locations.collect()
}

/// For each point of a thread and each register: its value, if it is the same on every way there. `None` where no way leads.
fn constants(program: &Program, thread: &Thread) -> Vec<Option<Vec<Option<Value>>>> {
    let mut known: Vec<Option<Vec<Option<Value>>>> = vec![None; thread.points.len()];
    // The number of a copy is another for each.
    let first = (0..thread.registers.len())
        .map(|r| thread.me.is_none_or(|me| me.index() != r).then_some(0));
    known[thread.initial.index()] = Some(first.collect());
    let mut work = vec![thread.initial];
    while let Some(point) = work.pop() {
        for transition in thread.outgoing(point) {
            let Some(mut after) = known[point.index()].clone() else {
                continue;
            };
            if let Some(register) = transition.op.target() {
                after[register.index()] = match &transition.op {
                    Op::Assign(_, expr) => constant(program, expr, Some(&after[..]))
                        .map(|value| program.domain.reduce(value)),
                    _ => None,
                };
            }
            let changed = match &mut known[transition.to.index()] {
                unreached @ None => {
                    *unreached = Some(after);
                    true
                }
                Some(before) => {
                    let mut changed = false;
                    for (old, new) in before.iter_mut().zip(after) {
                        if *old != new && old.is_some() {
                            *old = None;
                            changed = true;
                        }
                    }
                    changed
                }
            };
            if changed {
                work.push(transition.to);
            }
        }
    }
    known
}

/// The value of an expression, if it can only be one.
fn constant(
    program: &Program,
    expr: &RegisterExpr,
    registers: Option<&[Option<Value>]>,
) -> Option<Value> {
    let registers = registers?;
    let mut all = true;
    expr.for_each_atom(&mut |r| all &= registers[r.index()].is_some());
    if !all {
        return None;
    }
    expr.eval(program.domain, &mut |r| {
        Ok(registers[r.index()].unwrap_or(0))
    })
    .ok()
}

/// The addresses that an access stands for about which nothing is known: `0` to the largest of `memory_size - 1`, the largest
/// constant in the program, the largest value of the domain, and 255 (but nothing beyond 65535 counts).
fn fallback_range(program: &Program, memory_size: Option<Value>) -> RangeInclusive<Value> {
    const MAX_FALLBACK: Value = 65_535;
    let mut last = 255;
    let mut consider = |value: Value| {
        if value <= MAX_FALLBACK {
            last = last.max(value);
        }
    };
    consider(memory_size.unwrap_or(0).saturating_sub(1));
    consider(program.domain.size().unwrap_or(0).saturating_sub(1));
    for transition in program.threads.iter().flat_map(|t| &t.transitions) {
        match &transition.op {
            Op::Assign(_, expr) | Op::Assume(expr) => for_each_constant(expr, &mut consider),
            Op::Load {
                address: Address::Pointer(pointer),
                ..
            } => for_each_constant(pointer, &mut consider),
            Op::Store {
                address: Address::Pointer(pointer),
                value,
                ..
            } => {
                for_each_constant(pointer, &mut consider);
                for_each_constant(value, &mut consider);
            }
            _ => {}
        }
    }
    0..=last
}

fn for_each_constant(expr: &RegisterExpr, visit: &mut impl FnMut(Value)) {
    match expr {
        Expr::Const(value) => visit(*value),
        Expr::Atom(_) => {}
        Expr::Unary(_, operand) => for_each_constant(operand, visit),
        Expr::Binary(_, left, right) => {
            for_each_constant(left, visit);
            for_each_constant(right, visit);
        }
        Expr::Element { index, .. } => for_each_constant(index, visit),
    }
}
