//! Threads as small automata: interned local states with remembered steps.
//!
//! A thread's local state, its control point and its live registers, is a number ([`LocalId`]). What a thread can do next is a list of
//! [`Action`]s whose addresses and values are computed already; where it is afterwards is a look-up. Steps that touch no memory
//! are run together with the step before them, so that a search interleaves only what others can see.
//!
//! [`Threads`] holds the tables that all searching threads share; each of them works with a [`View`], which
//! remembers what it has asked.
//!
//! ```
//! use palisade_lang::{parse, ParseOptions, Source};
//! use palisade_threads::{ActionKind, Settings, Threads};
//!
//! let source = Source::new("first.pal", "shared x; thread t { x = 1 + 1; }");
//! let program = parse(&source, &ParseOptions::default()).unwrap().program;
//! let threads = Threads::new(&program, Settings::default());
//! let mut view = threads.view();
//! let start = view.initial(0)[0];
//! let action = view.action(0, start, 0);
//! assert!(matches!(action.kind, ActionKind::Store { value: 2, .. }));
//! let end = view.next(0, start, 0)[0];
//! assert_eq!(view.status(0, end), palisade_threads::Status::Ended);
//! ```

mod action;
mod by_number;
mod control;
mod kept;
mod named;
mod pages;
mod steps;
mod table;
mod view;

use std::cmp::Ordering;
use std::sync::RwLock;

use palisade_lang::targets::Targets;
use palisade_lang::{Address, Instance, Program, ThreadId, Value};

pub use action::{Action, ActionKind, Effect, Update};
use control::Control;
pub use control::{Footprint, visit_state_atoms};
pub use named::{Named, NamedGroup, Numbering};
pub use steps::{Nexts, OtherStep, Step, Written};
use table::{LocalTable, ValueTable};
pub use view::{Flags, Footprints, Standing, View};

/// A local state of a thread's code. Copies of the same code share their local states. Numbers are given in the order of discovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// What is made smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Run local steps together with the step before them.
    pub local_steps: bool,
    /// Forget registers that will not be read again.
    pub dead_registers: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            local_steps: true,
            dead_registers: true,
        }
    }
}

/// How a thread stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It has not ended (though it may be blocked).
    Running,
    /// It is at its end.
    Ended,
    /// A program error stopped it.
    Stopped,
}

/// The automata of all threads of a program.
#[derive(Debug)]
pub struct Threads<'p> {
    program: &'p Program,
    instances: Vec<Instance>,
    codes: Vec<Code>,
    values: RwLock<ValueTable>,
}

/// One thread's code.
#[derive(Debug)]
struct Code {
    control: Control,
    /// How many threads run it.
    copies: usize,
    locals: RwLock<LocalTable>,
}

impl<'p> Threads<'p> {
    /// Analyses the code; nothing is run yet.
    pub fn new(program: &'p Program, settings: Settings) -> Self {
        let instances = program.instances();
        let mut copies = vec![0; program.threads.len()];
        for instance in &instances {
            copies[instance.thread.index()] += 1;
        }
        // Only what an access by a pointer may go to is not written in the program.
        let ops = program.threads.iter().flat_map(|t| &t.transitions);
        let points = ops
            .map(|t| t.op.address())
            .any(|a| matches!(a, Some(Address::Pointer(_))));
        let targets = points.then(|| Targets::of(program)).flatten();
        Threads {
            program,
            instances,
            codes: (copies.into_iter().enumerate())
                .map(|(index, copies)| Code {
                    control: Control::new(
                        program,
                        ThreadId(index as u32),
                        &settings,
                        targets.as_ref(),
                    ),
                    copies,
                    locals: RwLock::default(),
                })
                .collect(),
            values: RwLock::default(),
        }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The running threads.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// A view for one searching thread.
    pub fn view(&self) -> View<'_> {
        View::new(self)
    }

    /// An order of local states by what they are, not by when they were found.
    pub fn compare_locals(&self, code: usize, a: LocalId, b: LocalId) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        let locals = read(&self.codes[code].locals);
        locals.get(a).cmp(&locals.get(b))
    }

    /// The value that a number stands for.
    pub fn value(&self, id: u32) -> Value {
        read(&self.values).get(id)
    }

    /// Whether a step of a thread with this code is in conflict with what every other thread may still do, wherever that thread stands; all of them
    /// must be running.
    fn meets_all(&self, code: usize, step: Footprint) -> bool {
        (self.codes.iter().enumerate()).all(|(index, other)| {
            let others = other.copies - usize::from(index == code).min(other.copies);
            others == 0 || step.conflicts(other.control.always)
        })
    }

    /// Groups of running threads that are interchangeable: copies of the same code without `me`. Indices of instances; groups of one are left out.
    pub fn interchangeable(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); self.program.threads.len()];
        for (index, instance) in self.instances.iter().enumerate() {
            if self.program.thread(instance.thread).me.is_none() {
                groups[instance.thread.index()].push(index);
            }
        }
        groups.retain(|group| group.len() > 1);
        groups
    }
}

/// A poisoned lock only says that another searching thread panicked; the table itself is append-only and whole.
fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(|e| e.into_inner())
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(|e| e.into_inner())
}
