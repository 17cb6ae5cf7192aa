//! The locations of an automaton: any integer is an address, so the memory of a program is what its accesses can reach.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::expr::{Expr, Value};
use crate::program::{Address, Location, Op, Program, RegisterExpr, ThreadId};
use crate::values::{Analysis, Memory, Values};

/// Every location that may be accessed. Constant addresses are plain to see; for computed ones, registers and memory are analysed. Where
/// nothing is known of an address, it stands for a range (see [`fallback_range`]); an access beyond it is an error of the program.
pub(super) fn find_locations(program: &Program, memory_size: Option<Value>) -> Vec<Location> {
    let mut found = BTreeMap::new();
    let mut analysis = None;
    let mut first_unknown = None;
    for (number, thread) in program.threads.iter().enumerate() {
        for transition in &thread.transitions {
            let (Op::Load { address, .. } | Op::Store { address, .. }) = &transition.op else {
                continue;
            };
            let constant = match address {
                Address::Pointer(pointer) => pointer.constant(program.domain),
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
