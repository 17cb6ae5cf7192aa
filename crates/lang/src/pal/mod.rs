//! `.pal`: the product's own language.
//!
//! Text → tokens ([`lexer`]) → tree ([`parser`], [`parse_expr`]) → [`crate::Program`] ([`lower`]). Each step goes on after an error, so
//! that one run tells everything that is wrong.
//!
//! Beyond the fixed language, these are accepted:
//! - a block as a statement of its own; numbers as `0x…`; parentheses around a place: `(*p).load()`;
//! - `bcas` and `wait` as expressions, whose value is the one that was read;
//! - `fetch_sub`, `fetch_and`, `fetch_or`, `fetch_xor` and so on, as `fadd`;
//! - `T[k].r` in a `never`; `&x` in the initial value of a location;
//! - `select { … } or { … }`: as `choose`, but only a branch whose first step is possible can be taken, so that
//!   `select { assume r == 1; … } or { assume r == 2; … }` never gets stuck in the wrong branch. (Automata of other languages need it.)

mod ast;
mod diagnostics;
mod format;
mod include;
mod lexer;
mod lower;
mod parse_expr;
mod parser;
mod symbols;
#[cfg(test)]
mod tests;

pub(crate) use ast::fetch_name;
pub use format::format;
pub use include::source_with_includes;
pub use symbols::{Symbol, SymbolKind, Symbols, symbols};

use crate::expr::Domain;
use crate::parse::Parsed;
use crate::source::{Diagnostic, Source, Span};

/// Reads a program in this language; `domain` as if the program said it.
pub fn parse(source: &Source, domain: Option<Domain>) -> Result<Parsed, Vec<Diagnostic>> {
    let mut diagnostics = diagnostics::Diagnostics::default();
    let tokens = include::tokens(source, &mut diagnostics);
    let why_missing = |name: &str, at: Span| include::why_missing(source, name, at);
    let ast = parser::parse(source.whole_text(), tokens, &why_missing, &mut diagnostics);
    let program = lower::lower(source, &ast, domain, &mut diagnostics);
    diagnostics
        .finish()
        .map(|warnings| Parsed { program, warnings })
}
