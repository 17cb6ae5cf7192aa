//! Release/acquire as C++20 with other fences: there an sc fence is a read-modify-write of one extra location.

use crate::witness::InitialName;
use crate::{EventKind, EventRef, Model, Witness};
use palisade_lang::{
    Address, Expr, Location, LocationId, Op, Order, Program, RmwAction, Span, Value,
};

/// The program with its sc fences as read-modify-writes of a location that nothing else uses, as release/acquire has them, and without weaker fences; and the
/// name of that location.
pub fn with_fences_as_updates(program: &Program) -> (Program, String) {
    let mut updates = program.clone();
    let mut name = "fence".to_owned();
    while program.locations.iter().any(|l| l.name == name) {
        name.push('\'');
    }
    let location = LocationId(program.locations.len() as u32);
    updates.locations.push(Location {
        name: name.clone(),
        // No pointer of a program has this value.
        address: Value::MAX,
        initial: 0,
        nonatomic: false,
        array: None,
        span: Span::default(),
    });
    for transition in updates.threads.iter_mut().flat_map(|t| &mut t.transitions) {
        match transition.op {
            Op::Fence(Order::SeqCst) => {
                transition.op = Op::Rmw {
                    register: None,
                    address: Address::Direct(location),
                    action: RmwAction::Exchange(Expr::Const(0)),
                    order: Order::AcqRel,
                };
            }
            Op::Fence(_) => transition.op = Op::Skip,
            _ => {}
        }
    }
    (updates, name)
}

/// A witness of such a program, under C++20, as one of the program itself, under release/acquire.
pub fn with_updates_as_fences(witness: &mut Witness, name: &str) {
    witness.model = Model::Ra;
    for event in &mut witness.events {
        if event.location.as_deref() == Some(name) {
            event.kind = EventKind::Fence;
            (event.location, event.value, event.read) = (None, None, None);
            (event.rf, event.after) = (None, None);
        }
    }
}

/// The other way round: each fence is behind the one that comes before it in the run.
pub fn with_fence_events_as_updates(witness: &Witness, name: &str) -> Witness {
    let mut updates = witness.clone();
    updates.model = Model::C20;
    let mut newest = EventRef::Initial(InitialName::Init);
    for (index, event) in updates.events.iter_mut().enumerate() {
        if event.kind == EventKind::Fence {
            event.kind = EventKind::Rmw;
            event.location = Some(name.to_owned());
            (event.value, event.read, event.order) = (Some(0), Some(0), None);
            (event.rf, event.after) = (Some(newest), Some(newest));
            newest = EventRef::Event(index);
        }
    }
    updates
}
