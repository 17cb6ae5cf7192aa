//! Whether and where the width of an operation matters.

use super::{SizedAccess, instruction_text, number, plain_mnemonic, split_operands, split_word};
use crate::expr::Expr;
use crate::expr::Value;
use crate::lex::{Errors, quote};
use crate::litmus::Test;
use crate::litmus::x86::flags::zero_extended;
use crate::source::{Diagnostic, Span};

/// Numbers in a test below this are small.
const SMALL: Value = 1 << 16;
/// Operations that at most double a value; this many of them keep small values within 31 bits.
const DOUBLINGS: usize = 14;

/// Whether some value of the test can be negative or leave 31 bits. Where none can, no operation wraps and signs make no difference, and
/// the program is written without widths: that is so for nearly every test that is about memory.
pub(super) fn matter(test: &Test<'_>, rows: &[Vec<Span>]) -> bool {
    let is_small = |value: Value| (0..SMALL).contains(&value);
    let mut initial = test.memory.locations.iter().map(|l| l.initial);
    let mut registers = test.registers.iter().map(|r| r.value);
    if !initial.all(is_small) || !registers.all(is_small) {
        return true;
    }
    let mut doublings = 0;
    let mut labels = Vec::new();
    let mut has_loop = false;
    for (column, cell) in rows.iter().flat_map(|row| row.iter().enumerate()) {
        let (before, text) = instruction_text(test.text, *cell);
        labels.extend(before.into_iter().map(|label| (column, label)));
        let (mut word, mut operands) = split_word(text);
        if word.eq_ignore_ascii_case("lock") {
            (word, operands) = split_word(operands);
        }
        let mnemonic = word.to_ascii_lowercase();
        let (name, size) = plain_mnemonic(&mnemonic);
        match name {
            // Shifts to the right make no value larger, but which bit they leave in the carry is known only with widths.
            "sub" | "dec" | "neg" | "not" | "shl" | "sal" | "shr" | "sar" => return true,
            "add" | "inc" | "xadd" | "and" | "or" | "xor" => doublings += 1,
            _ if name.starts_with('j') => {
                has_loop |= labels.contains(&(column, operands.trim()));
            }
            _ => {}
        }
        let is_large = |text: &str| {
            let value = number(text.strip_prefix('$').unwrap_or(text));
            value.is_some_and(|value| !is_small(value))
        };
        let is_short = size.is_some_and(|size| size < 4);
        if is_short || split_operands(operands).iter().any(|o| is_large(o.1)) {
            return true;
        }
    }
    doublings > DOUBLINGS || doublings > 0 && has_loop
}

/// How many bytes each location has: as many as are accessed, which must always be the same number. Initial values are taken to it.
pub(super) fn settle(test: &mut Test<'_>, accesses: &[SizedAccess], errors: &mut Errors) {
    let mut sizes: Vec<Option<u32>> = vec![None; test.memory.locations.len()];
    let computed = accesses.iter().find(|access| access.location.is_none());
    for access in accesses {
        let expected = match access.location {
            Some(id) => {
                let expected = *sizes[id.index()].get_or_insert(access.size);
                computed.map_or(expected, |computed| computed.size)
            }
            None => computed.map_or(access.size, |computed| computed.size),
        };
        if expected != access.size {
            let text = &test.text[access.span.start as usize..access.span.end as usize];
            let message = format!(
                "{} is accessed with {} bytes here and with {expected} elsewhere, which is not modelled",
                quote(text),
                access.size
            );
            errors.error(Diagnostic::error(access.span, message).label("another size"));
        }
    }
    for (location, size) in test.memory.locations.iter_mut().zip(&mut sizes) {
        if size.is_none() {
            *size = computed.map(|access| access.size);
        }
        if let (true, Some(size)) = (test.exact, *size)
            && let Expr::Const(value) = zero_extended::<()>(Expr::Const(location.initial), size)
        {
            location.initial = value;
        }
    }
    test.sizes = sizes;
}
