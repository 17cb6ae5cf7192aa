//! Programs in which threads have any number of copies, as systems that only count: what the criteria look like from there.
//!
//! Copies of a thread are alike, so of a state it matters only how many of them stand where. A state is a *shared* part (memory, the fixed threads, what
//! instrumentation keeps once for all) and a multiset of *locals* (the control point and registers of a copy, and what instrumentation keeps for it). A
//! step is made by a fixed thread or by one copy, and depends on the shared part and that copy alone. It changes the shared part and the copy; under RA, and
//! where an attack forgets which copies have taken part, it also changes all other copies, each as a function of its own local: a *broadcast*.
//!
//! More copies can only do more ([`System::is_bad`] is upward closed): these are well-structured systems. `palisade-param` decides for them whether a
//! bad state can be covered. Here is what they are, one file for each kind of instrumentation:
//!
//! * `sc`: none. `safe`, `drf`, `trf` and `persistent` ask for a pattern in a state under SC that takes one or two threads, or those that a `never` names.
//! * `attack`: the attack of `tso::attack`. Exactly one thread attacks; if it is a copy, it leaves the multiset for the shared part.
//! * `ra`: the monitors of `ra::scm`. All copies are there from the beginning and hear every broadcast.
//! * `suspects`: the suspicions of `ra::suspects`, for C++20. One thread is suspected; if it is a copy, it is in the shared part from the beginning.
//!
//! All of them run on the program with so many copies as a pattern needs, whose rows have a place for each; what is in no place is only counted.

mod attack;
mod never;
mod ra;
mod sc;
mod suspects;

pub(crate) use never::NeverOfCopies;
use std::hash::Hash;
use std::rc::Rc;

use palisade_lang::{Address, BinaryOp, Copies, Expr, Program, StateAtom};
use palisade_threads::visit_state_atoms;
use rustc_hash::FxHashMap;

use crate::weak::has_seqcst_accesses;
use crate::{Criterion, Model, Options, Refusal};

/// How many copies there are; [`MANY`] stands for any number.
pub type Count = u8;

/// Any number of copies.
pub const MANY: Count = Count::MAX;

/// A step of a fixed thread or of one copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyStep {
    /// The shared part behind it.
    pub shared: u32,
    /// Where the copy is then; `None` where a fixed thread moved, or where the copy has become a part of the shared part.
    pub to: Option<u32>,
    /// What happens to all other copies: to be given to [`System::transfer`]. `None`: nothing.
    pub broadcast: Option<u32>,
    /// Whether the step itself is a violation.
    pub violates: bool,
}

/// A system that counts. Shared parts and locals are numbers that the system gives in the order of discovery.
pub trait System {
    /// The shared parts at the beginning, and the locals of which there is any number then.
    fn initial(&mut self) -> (Vec<u32>, Vec<u32>);

    /// The steps of a copy that stands there, or (`None`) of the fixed threads.
    fn steps(&mut self, shared: u32, mover: Option<u32>) -> Vec<CopyStep>;

    /// Where a broadcast brings a copy that did not make the step.
    fn transfer(&mut self, broadcast: u32, local: u32) -> u32;

    /// Whether a state with (at least) so many copies is a violation. Of each code there is some local with [`MANY`] copies.
    fn is_bad(&mut self, shared: u32, copies: &[(u32, Count)]) -> bool;

    /// The choices of copies that make a state with this shared part a violation, all of them in some of these locals: each a list with repetitions. All that
    /// are minimal are among them. (What [`CopyStep::violates`] says comes on top.)
    fn bad_choices(&mut self, shared: u32, locals: &[u32]) -> Vec<Vec<u32>>;

    /// Shared parts can only cover others with the same base.
    fn base(&self, shared: u32) -> u32 {
        shared
    }

    /// Whether everything that can be found from `smaller` can be found from `greater`, with the same copies.
    fn shared_covers(&self, greater: u32, smaller: u32) -> bool {
        greater == smaller
    }

    /// Whether a copy at `greater` can do all that one at `smaller` can.
    fn local_covers(&self, greater: u32, smaller: u32) -> bool {
        greater == smaller
    }

    /// Why a state that was said not to be bad may be bad all the same.
    fn doubt(&self) -> Option<String> {
        None
    }

    /// A shared part as the numbers of a certificate; `None` where an error has stopped a thread, or where there are no certificates.
    fn shared_numbers(&mut self, _shared: u32) -> Option<Vec<i64>> {
        None
    }

    /// A local as the numbers of a certificate; `None` likewise.
    fn local_numbers(&mut self, _local: u32) -> Option<Vec<i64>> {
        None
    }

    /// Bytes held, roughly.
    fn bytes(&self) -> u64;
}

/// What can be said about all numbers of copies at once.
#[derive(Debug)]
pub enum Asked<R> {
    /// The system was built, and this is what was found out about it.
    Answered(R),
    /// The criterion holds; so many questions were dismissed without a search.
    Dismissed(u64),
    /// It cannot be asked for all numbers at once, and why.
    OnlyInstances(String),
}

/// Builds the system for a question and asks it.
///
/// `ask` may be called more than once, if it turns out that there was not enough room; its last result counts.
pub fn with_system<R>(
    program: &Program,
    options: &Options,
    ask: &mut dyn FnMut(&mut dyn System) -> R,
) -> Result<Asked<R>, Refusal> {
    match (options.model, options.criterion) {
        (Model::Sc, Criterion::Safe) => {
            if let Some(why) = not_upward_closed(program) {
                return Ok(Asked::OnlyInstances(why));
            }
            Ok(sc::ask(program, options, ask))
        }
        (Model::Sc | Model::Tso, Criterion::Drf)
        | (Model::Tso, Criterion::Trf | Criterion::Persistent) => {
            Ok(sc::ask(program, options, ask))
        }
        (Model::Tso, Criterion::Robust) => Ok(attack::ask(program, options, ask)),
        (Model::Ra, Criterion::Robust) => ra::ask(program, options, ask),
        (Model::Rc11, Criterion::Robust) if has_seqcst_accesses(program) => {
            Ok(Asked::OnlyInstances(
                "with seqcst accesses, RC11 is decided for given numbers of copies only".into(),
            ))
        }
        (Model::C20 | Model::Rc11, Criterion::Robust) => suspects::ask(program, options, ask),
        _ => Ok(Asked::OnlyInstances(
            "this criterion is decided for given numbers of copies only".into(),
        )),
    }
}

/// Why a `never` may become false when copies are added.
pub(crate) fn not_upward_closed(program: &Program) -> Option<String> {
    let may_vanish = |condition: &Expr<StateAtom>| {
        let mut found = false;
        visit_state_atoms([condition], &mut |atom| {
            found |= match atom {
                StateAtom::Deadlock => true,
                StateAtom::At(copy, _) => {
                    copy.copy.is_none() && program.thread(copy.thread).copies == Copies::Any
                }
                _ => false,
            };
        });
        found
    };
    // That some copy is at a label may only make a condition true, so nothing but `&&` and `||` may stand above it. And it must not lead to something that goes
    // wrong where the condition would be true without it, which is on the left of `||`.
    fn only_grows(
        condition: &Expr<StateAtom>,
        may_vanish: &dyn Fn(&Expr<StateAtom>) -> bool,
    ) -> bool {
        match condition {
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                only_grows(left, may_vanish)
                    && only_grows(right, may_vanish)
                    && !(*op == BinaryOp::Or && may_go_wrong(left) && may_vanish(left))
            }
            Expr::Atom(StateAtom::At(..)) => true,
            other => !may_vanish(other),
        }
    }
    let never = program
        .nevers
        .iter()
        .find(|never| !never.conditions.iter().all(|c| only_grows(c, &may_vanish)))?;
    Some(format!(
        "`{}` may be false again with more copies, so it cannot be asked for all numbers at once",
        program.source.slice(never.span).trim()
    ))
}

/// Whether evaluating a condition may be an error.
fn may_go_wrong(condition: &Expr<StateAtom>) -> bool {
    match condition {
        Expr::Const(_) => false,
        Expr::Atom(StateAtom::Memory(address)) => !matches!(**address, Address::Direct(_)),
        Expr::Atom(_) => false,
        Expr::Unary(_, operand) => may_go_wrong(operand),
        Expr::Binary(op, left, right) => {
            matches!(
                op,
                BinaryOp::Divide | BinaryOp::Remainder | BinaryOp::ShiftLeft | BinaryOp::ShiftRight
            ) || may_go_wrong(left)
                || may_go_wrong(right)
        }
        Expr::Element { .. } => true,
    }
}

/// Gives numbers to things.
#[derive(Debug)]
struct Numbers<T> {
    numbers: FxHashMap<Rc<T>, u32>,
    things: Vec<Rc<T>>,
}

impl<T: Hash + Eq> Numbers<T> {
    fn new() -> Self {
        Numbers {
            numbers: FxHashMap::default(),
            things: Vec::new(),
        }
    }

    fn number(&mut self, thing: T) -> u32 {
        if let Some(&number) = self.numbers.get(&thing) {
            return number;
        }
        let number = self.things.len() as u32;
        let thing = Rc::new(thing);
        self.things.push(thing.clone());
        self.numbers.insert(thing, number);
        number
    }

    fn get(&self, number: u32) -> &Rc<T> {
        &self.things[number as usize]
    }

    fn len(&self) -> usize {
        self.things.len()
    }
}

/// Where the copies of threads with any number of them stand in the rows of an instance.
#[derive(Debug)]
struct Places {
    /// The running threads that are no such copies.
    fixed: Vec<usize>,
    /// For each code the components of its copies; empty for fixed threads.
    copies: Vec<Vec<usize>>,
}

impl Places {
    /// For `instance`, which is `program` with some number of copies.
    fn new(program: &Program, instance: &Program) -> Self {
        let mut places = Places {
            fixed: Vec::new(),
            copies: vec![Vec::new(); program.threads.len()],
        };
        for (component, running) in instance.instances().iter().enumerate() {
            match program.thread(running.thread).copies {
                Copies::Any => places.copies[running.thread.index()].push(component),
                _ => places.fixed.push(component),
            }
        }
        places
    }
}

/// The reductions that work on the code of single threads; all else speaks of given numbers of threads.
pub(crate) fn code_reductions(options: &Options) -> crate::Reductions {
    crate::Reductions {
        local_steps: options.reductions.local_steps,
        dead_registers: options.reductions.dead_registers,
        ..crate::Reductions::NONE
    }
}
