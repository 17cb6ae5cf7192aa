//! What reading a program may cost.
//!
//! Inlining makes programs that are much larger than their texts. The caller says how large one may become, and when to stop; front
//! ends charge what they make, and give up where the answer is no.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// How much may be made, and what may call it off.
#[derive(Clone, Debug)]
pub struct Meter {
    /// Instructions and parts of expressions, at most.
    pub nodes: u64,
    /// How many bytes may be held, also by a compiler that is asked.
    pub memory: Option<u64>,
    /// Set by another thread where reading is to stop.
    pub stop: Arc<AtomicBool>,
}

thread_local! {
    static CURRENT: RefCell<Option<Meter>> = const { RefCell::new(None) };
}

/// Does something in which what is read by this thread is charged.
pub fn charged<T>(meter: Meter, work: impl FnOnce() -> T) -> T {
    let before = CURRENT.replace(Some(meter));
    let result = work();
    CURRENT.set(before);
    result
}

/// Whether what this thread reads has become larger than it may, or was called off.
pub fn is_exhausted() -> bool {
    !charge(0)
}

/// How many bytes what is read may take, where there is a limit.
pub fn memory() -> Option<u64> {
    CURRENT.with_borrow(|current| current.as_ref()?.memory)
}

/// Says that what is read is larger than it may be.
pub fn exhaust() {
    charge(u64::MAX);
}

/// Takes so many nodes; `false` where there are not as many left, or reading is to stop. Then that is so from now on.
pub fn charge(nodes: u64) -> bool {
    CURRENT.with_borrow_mut(|current| {
        let Some(meter) = current else {
            return true;
        };
        match meter.nodes.checked_sub(nodes) {
            Some(left) if !meter.stop.load(Relaxed) => {
                meter.nodes = left;
                true
            }
            _ => {
                meter.stop.store(true, Relaxed);
                false
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ParseOptions, Source, parse};

    /// Functions that call each other twice: 2 to the power of 20 statements, each with a long expression.
    fn doubling() -> String {
        let sum = vec!["a"; 200].join(" + ");
        let mut text = format!("shared x;\nfn f0(a) {{ x = {sum}; }}\n");
        for level in 1..20 {
            text += &format!("fn f{level}(a) {{ f{0}(a); f{0}(a); }}\n", level - 1);
        }
        text
    }

    fn read(text: &str, nodes: u64) -> Result<(), String> {
        let meter = Meter {
            nodes,
            memory: None,
            stop: Arc::default(),
        };
        let source = Source::new("large.pal", text);
        let parsed = charged(meter, || parse(&source, &ParseOptions::default()));
        parsed
            .map(|_| ())
            .map_err(|errors| errors[0].message.clone())
    }

    #[test]
    fn what_is_too_large_is_refused_early() {
        let text = doubling() + "thread t { f19(1); }\n";
        let message = read(&text, 100_000).unwrap_err();
        assert!(message.contains("too large"), "{message}");
    }

    /// Locations count, too, before there are any.
    #[test]
    fn large_arrays_are_refused_early() {
        for text in [
            "shared a[1000000]; thread t { a[1] = 1; }",
            "struct S { f[1000] } shared S a[1000]; thread t { a[1].f[1] = 1; }",
            "shared a[1000][1000]; thread t { a[1][1] = 1; }",
        ] {
            let message = read(text, 100_000).unwrap_err();
            assert!(message.contains("too large"), "{message}");
        }
    }

    #[test]
    fn what_is_not_called_is_not_expanded() {
        let text = doubling() + "thread t { x = 1; }\n";
        assert_eq!(read(&text, 100_000), Ok(()));
        // What is wrong there is still found.
        let text =
            "shared x; fn f() { g(); } fn g() { h(); } fn h() { g(); x = y; } thread t { x = 1; }";
        let source = Source::new("wrong.pal", text);
        let errors = parse(&source, &ParseOptions::default()).unwrap_err();
        assert_eq!(errors.len(), 2, "{errors:#?}");
    }

    #[test]
    fn reading_can_be_called_off() {
        let meter = Meter {
            nodes: u64::MAX,
            memory: None,
            stop: Arc::new(AtomicBool::new(true)),
        };
        let text = doubling() + "thread t { f19(1); }\n";
        let source = Source::new("large.pal", &*text);
        assert!(charged(meter, || parse(&source, &ParseOptions::default())).is_err());
    }
}
