//! The orders of accesses in answers: what an answer does not look at, it says, and the events of its witnesses have theirs.

use palisade_lang::{
    Language, LocationId, Op, Order, PointId, Program, RegisterId, RmwAction, Thread, Transition,
};
use palisade_memory::c20::{self, graph::event_order};
use palisade_memory::{EventKind, Model, OrderName, Witness};
use std::collections::{BTreeSet, HashSet};

use crate::Note;

/// What must be said about the orders that the program's text has, whatever the verdict under this model is.
pub fn note(program: &Program, model: Model) -> Option<Note> {
    match model {
        Model::Sc if program.language == Language::C && c20::refusal(program).is_some() => {
            Some(Note::BlocksUnderSc)
        }
        Model::Sc if has(program, |written, default| written != default) => {
            Some(Note::OrdersWithoutEffect(model))
        }
        // A `seqcst` store is followed by a fence, and x86 needs nothing else for what is stronger than the default.
        Model::Tso if has(program, is_weaker) => Some(Note::OrdersWithoutEffect(model)),
        Model::C20 | Model::Rc11 => load_buffering(program),
        Model::Sc | Model::Tso | Model::Ra => None,
    }
}

/// Whether some access or fence has an order of which this is true, given also the one that it has if none is written.
fn has(program: &Program, wanted: impl Fn(Order, Order) -> bool) -> bool {
    let mut transitions = program.threads.iter().flat_map(|t| &t.transitions);
    transitions.any(|transition| {
        let (order, default) = match &transition.op {
            Op::Load { order, .. } | Op::Wait { order, .. } => (*order, Order::Acquire),
            Op::Store { order, .. } => (*order, Order::Release),
            Op::Rmw { order, .. } => (*order, Order::AcqRel),
            Op::Fence(order) => (*order, Order::SeqCst),
            _ => return false,
        };
        // A plain access has no order.
        order != Order::NonAtomic && wanted(order, default)
    })
}

fn is_weaker(order: Order, default: Order) -> bool {
    order != default && order != Order::SeqCst
}

/// A load after which nothing is ordered, and a store behind it that it could overtake: C++ and ARM let it, RC11 and we do not.
fn load_buffering(program: &Program) -> Option<Note> {
    program.threads.iter().find_map(|thread| {
        let mut loads = thread.transitions.iter().filter(|t| is_relaxed_read(t));
        loads.find_map(|load| {
            let store = independent_store(thread, load)?;
            let line = |t: &Transition| program.source.line_column(t.span.start).line;
            Some(Note::LoadBuffering {
                store: line(store),
                load: line(load),
            })
        })
    })
}

fn is_relaxed_read(transition: &Transition) -> bool {
    match &transition.op {
        Op::Load { order, .. } => !order.acquires() && *order != Order::NonAtomic,
        // What waits for a value goes on only because of it.
        Op::Rmw { order, action, .. } => {
            let waits = matches!(action, RmwAction::BlockingCompareAndSwap { .. });
            !order.acquires() && !waits
        }
        _ => false,
    }
}

/// A relaxed store of another place that some way from the load leads to, with no fence between them that keeps the load before it, and that neither
/// depends on the loaded value nor on a branch on it.
fn independent_store<'t>(thread: &'t Thread, load: &Transition) -> Option<&'t Transition> {
    /// Ways differ in the registers that depend on the load; there are few in a text of people, and many in none.
    const MOST: usize = 10_000;
    let from = load.op.address()?;
    let tainted: BTreeSet<RegisterId> = load.op.target().into_iter().collect();
    let mut todo: Vec<(PointId, BTreeSet<RegisterId>)> = vec![(load.to, tainted)];
    let mut seen = HashSet::new();
    while let Some((point, tainted)) = todo.pop() {
        if seen.len() > MOST || !seen.insert((point, tainted.clone())) {
            continue;
        }
        for next in thread.outgoing(point) {
            let mut depends = false;
            next.op
                .for_each_register(&mut |register| depends |= tainted.contains(&register));
            let mut tainted = tainted.clone();
            match &next.op {
                Op::Fence(order) if order.acquires() || order.releases() => continue,
                Op::Assume(_) | Op::Assert(_) | Op::Wait { .. } if depends => continue,
                Op::Store { address, order, .. }
                    // What is not atomic is seen early in a race only.
                    if !depends
                        && !order.releases()
                        && *order != Order::NonAtomic
                        && address != from =>
                {
                    return Some(next);
                }
                _ => {}
            }
            if let Some(target) = next.op.target() {
                match depends {
                    true => tainted.insert(target),
                    false => tainted.remove(&target),
                };
            }
            todo.push((next.to, tainted));
        }
    }
    None
}

/// Writes the orders of accesses and fences into a witness of C++20 or RC11. Where a place of the text stands for accesses with different orders
/// and it is not clear which one it was, nothing is written.
pub(crate) fn mark(program: &Program, witness: &mut Witness) {
    if !matches!(witness.model, Model::C20 | Model::Rc11) {
        return;
    }
    let instances = program.instances();
    for event in &mut witness.events {
        let Some(instance) = instances.iter().find(|i| i.name == event.thread) else {
            continue;
        };
        let named = |name: &String| program.locations.iter().position(|l| l.name == *name);
        let location = event.location.as_ref().and_then(named);
        let location = location.map(|index| LocationId(index as u32));
        let source = &program.source;
        let is_it = |transition: &&Transition| {
            let right_kind = matches!(
                (&transition.op, event.kind),
                (
                    Op::Load { .. } | Op::Wait { .. } | Op::Rmw { .. },
                    EventKind::Load
                ) | (Op::Store { .. }, EventKind::Store)
                    | (Op::Rmw { .. }, EventKind::Rmw)
                    | (Op::Fence(_), EventKind::Fence)
            );
            right_kind && {
                let start = transition.span.start;
                let place = source.line_column(start);
                (place.line, place.column) == (event.line, event.column)
                    && source.included_at(start) == event.file.as_deref()
            }
        };
        let transitions = &program.thread(instance.thread).transitions;
        let writes = event.kind != EventKind::Load;
        let mut orders = transitions
            .iter()
            .filter(is_it)
            .filter_map(|t| event_order(program, t, location, writes));
        let first = orders.next();
        if orders.all(|order| Some(order) == first) {
            event.order = first.map(OrderName::from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_lang::{ParseOptions, Source};

    fn note_of(text: &str, model: Model) -> Option<Note> {
        let source = Source::new("test.pal", text);
        let parsed = palisade_lang::parse(&source, &ParseOptions::default());
        note(&parsed.expect("a program").program, model)
    }

    #[test]
    fn ignored_orders_are_mentioned() {
        let relaxed = "shared x; thread a { x.store(1, relaxed); }";
        let seqcst = "shared x; thread a { x.store(1, seqcst); }";
        let none = "shared x; nonatomic shared d; thread a { d = 1; x = 1; fence; }";
        let ignored = |said: bool, model| said.then_some(Note::OrdersWithoutEffect(model));
        for (text, sc, tso) in [
            (relaxed, true, true),
            (seqcst, true, false),
            (none, false, false),
        ] {
            assert_eq!(note_of(text, Model::Sc), ignored(sc, Model::Sc), "{text}");
            assert_eq!(
                note_of(text, Model::Tso),
                ignored(tso, Model::Tso),
                "{text}"
            );
            assert_eq!(note_of(text, Model::C20), None);
        }
    }

    #[test]
    fn load_buffering_is_mentioned_where_nothing_prevents_it() {
        let body = |text: &str| {
            note_of(&format!("shared x, y; thread a {{ {text} }}"), Model::C20).is_some()
        };
        assert!(body("let r = x.load(relaxed); y.store(1, relaxed);"));
        assert!(body("let r = fadd(x, 1, relaxed); y.store(1, relaxed);"));
        assert!(body(
            "let s; let r = x.load(relaxed); s = r; s = 1; y.store(s, relaxed);"
        ));
        assert!(!body("let r = x.load(acquire); y.store(1, relaxed);"));
        assert!(!body("let r = x.load(relaxed); y.store(1, release);"));
        assert!(!body("let r = x.load(relaxed); x.store(1, relaxed);"));
        assert!(!body("let r = x.load(relaxed); y.store(r, relaxed);"));
        assert!(!body(
            "let r = x.load(relaxed); if r == 1 { y.store(1, relaxed); }"
        ));
        assert!(!body(
            "let r = x.load(relaxed); fence(acquire); y.store(1, relaxed);"
        ));
    }
}
