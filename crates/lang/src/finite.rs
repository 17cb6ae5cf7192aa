//! Whether a program's data is finite.

use crate::program::{LocationId, Program, RegisterId, ThreadId};
use crate::ranges::{ALL, Range, Ranges};
use crate::source::Span;
use crate::values::{Analysis, Memory, Values};

/// A variable that may hold any number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unbounded {
    /// As the user writes it.
    pub name: String,
    /// Where it is declared, or the expression whose value it holds.
    pub span: Span,
    /// Whether it is a location of memory (and not a register).
    pub shared: bool,
}

/// A location or register for which no bound can be shown; `None` if all data is finite.
///
/// With a `domain` it always is. Otherwise, two analyses are asked, neither of which is exact: a bound that a program keeps in a way that they do not
/// see does not count.
pub fn unbounded(program: &Program) -> Option<Unbounded> {
    if program.domain.size().is_some() {
        return None;
    }
    let values = Analysis::new(program, Memory::Declared);
    let ranges = Ranges::new(program);
    let is_unbounded = |values: &Values, range: Range| {
        values.range().is_none() && (range.0 == ALL.0 || range.1 == ALL.1)
    };
    for (index, location) in program.locations.iter().enumerate() {
        let id = LocationId(index as u32);
        if is_unbounded(&values.location(id), ranges.location(id)) {
            return Some(Unbounded {
                name: location.name.clone(),
                span: location.span,
                shared: true,
            });
        }
    }
    let mut without_name = None;
    for (index, thread) in program.threads.iter().enumerate() {
        for (number, register) in thread.registers.iter().enumerate() {
            let (of, id) = (ThreadId(index as u32), RegisterId(number as u32));
            if !is_unbounded(values.register(of, id), ranges.register(of, id)) {
                continue;
            }
            let found = |name: &str| Unbounded {
                name: name.trim().to_owned(),
                span: register.span,
                shared: false,
            };
            match &register.name {
                Some(name) => return Some(found(name)),
                None => {
                    let text = program.source.slice(register.span);
                    without_name = without_name.or(Some(found(text)));
                }
            }
        }
    }
    without_name
}

#[cfg(test)]
mod tests {
    use super::unbounded;
    use crate::{ParseOptions, Source, parse};

    fn name(text: &str) -> Option<String> {
        let source = Source::new("test.pal", text);
        let parsed = parse(&source, &ParseOptions::default()).expect("a program");
        unbounded(&parsed.program).map(|u| u.name)
    }

    #[test]
    fn counting_without_end_is_unbounded() {
        let text = "shared x; thread t[*] { loop { x = x + 1; } }";
        assert_eq!(name(text).as_deref(), Some("x"));
        let text = "shared x; thread t[*] { let i = 0; loop { x = 1; i = i + 1; } }";
        assert_eq!(name(text).as_deref(), Some("i"));
        let text = "domain 4; shared x; thread t[*] { loop { x = x + 1; } }";
        assert_eq!(name(text), None);
    }

    #[test]
    fn counting_to_a_bound_is_finite() {
        let text = "shared x; thread t[*] { let i = 0; while i < 3 { x = i; i = i + 1; } }";
        assert_eq!(name(text), None);
        let text = "shared x; thread t[*] { loop { let n = x; assume n < 3; cas(x, n, n + 1); } }";
        assert_eq!(name(text), None);
        let text = "shared x[2]; thread t[*] { loop { let p = &x[1]; *p = 1 - *p; } }";
        assert_eq!(name(text), None);
    }
}
