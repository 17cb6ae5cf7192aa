//! Several tests of a file as one program: a run begins with the choice of a test, and then is a run of that test.

use palisade_lang::{
    Address, Expr, Location, LocationId, Op, Order, PlaceId, Program, RmwAction, Span, StateAtom,
    ThreadId,
};

/// One program that does what any of these does. There is at least one.
pub fn together(programs: Vec<(String, Program)>) -> Program {
    let single = programs.len() == 1;
    let mut all = programs.into_iter();
    let Some((_, mut whole)) = all.next() else {
        unreachable!("a file without a root is refused before");
    };
    if single {
        return whole;
    }
    let first = whole.name.take().unwrap_or_default();
    let mut tests = vec![(first, whole.clone())];
    tests.extend(all);
    whole.locations.clear();
    whole.threads.clear();
    whole.nevers.clear();
    whole.bounds.clear();
    whole.places.clear();
    whole.faults.clear();
    whole.locations.push(Location {
        name: "test".to_owned(),
        address: 1,
        initial: 0,
        nonatomic: false,
        array: None,
        span: Span::default(),
    });
    for (number, (name, program)) in tests.into_iter().enumerate() {
        add(&mut whole, number as i64 + 1, &name, program);
    }
    whole
}

fn add(whole: &mut Program, number: i64, name: &str, program: Program) {
    let name = name.rsplit("::").next().unwrap_or(name);
    let locations = whole.locations.len() as u32;
    let threads = whole.threads.len() as u32;
    let test = LocationId(0);
    for mut location in program.locations {
        location.name = format!("{name}_{}", location.name);
        location.address = whole.locations.len() as i64 + 1;
        whole.locations.push(location);
    }
    for (at, mut thread) in program.threads.into_iter().enumerate() {
        thread.name = format!("{name}_{}", thread.name);
        for transition in &mut thread.transitions {
            let address = match &mut transition.op {
                Op::Load { address, .. }
                | Op::Store { address, .. }
                | Op::Rmw { address, .. }
                | Op::Wait { address, .. } => Some(address),
                _ => None,
            };
            if let Some(Address::Direct(location)) = address {
                location.0 += locations;
            }
            // The first thread of a test takes the choice, and the others that would begin at once wait for it.
            if transition.from == thread.initial && matches!(transition.op, Op::Skip) {
                transition.op = match at {
                    0 => Op::Rmw {
                        register: None,
                        address: Address::Direct(test),
                        action: RmwAction::BlockingCompareAndSwap {
                            expected: Expr::Const(0),
                            desired: Expr::Const(number),
                        },
                        order: Order::AcqRel,
                    },
                    _ => Op::Wait {
                        register: None,
                        address: Address::Direct(test),
                        relation: palisade_lang::Relation::Equal,
                        value: Expr::Const(number),
                        order: Order::Acquire,
                    },
                };
            }
        }
        whole.threads.push(thread);
    }
    // A statement that several tests come to is one place.
    let mut places = Vec::new();
    for mut place in program.places {
        place.thread = place.thread.map(|of| ThreadId(of.0 + threads));
        let known = whole.places.iter().position(|p| p.span == place.span);
        let number = known.unwrap_or(whole.places.len());
        match known {
            Some(known) => whole.places[known].thread = None,
            None => whole.places.push(place),
        }
        places.push(PlaceId(number as u32));
    }
    for thread in &mut whole.threads[threads as usize..] {
        for point in &mut thread.points {
            point.place = point.place.map(|place| places[place.index()]);
        }
    }
    for mut fault in program.faults {
        fault.thread.0 += threads;
        whole.faults.push(fault);
    }
    for mut bound in program.bounds {
        for (thread, _) in &mut bound.at {
            thread.0 += threads;
        }
        whole.bounds.push(bound);
    }
    for mut never in program.nevers {
        for condition in &mut never.conditions {
            let moved = condition.map_atoms(&mut |atom| {
                Expr::Atom(match atom {
                    StateAtom::At(copy, label) => {
                        let mut copy = *copy;
                        copy.thread = ThreadId(copy.thread.0 + threads);
                        StateAtom::At(copy, *label)
                    }
                    other => other.clone(),
                })
            });
            let chosen = Expr::binary(
                palisade_lang::BinaryOp::Equal,
                Expr::Atom(StateAtom::Memory(Box::new(Address::Direct(test)))),
                Expr::Const(number),
            );
            *condition = Expr::binary(palisade_lang::BinaryOp::And, moved, chosen);
        }
        whole.nevers.push(never);
    }
}
