//! What all machines have in common: steps, and what can be asked of a state.

use crate::thread::{Code, Local};
use palisade_lang::{
    CopyRef, Expr, LabelRef, LocationId, Never, ProgramError, Span, StateAtom, Value,
};
use std::collections::HashSet;
use std::hash::Hash;

/// A memory model as a small-step machine.
pub trait Machine {
    /// A state of threads and memory.
    type State: Clone + Eq + Hash;

    /// The running threads.
    fn code(&self) -> &Code<'_>;

    /// The state at the beginning.
    fn initial(&self) -> Self::State;

    /// The steps that one thread (its instructions and its buffer) could make if nobody else were inside an `atomic` block.
    fn unhindered_steps_of(&self, state: &Self::State, thread: usize) -> Vec<(Step, Self::State)>;

    /// All steps of one thread: none while another one is inside an `atomic` block.
    fn steps_of(&self, state: &Self::State, thread: usize) -> Vec<(Step, Self::State)> {
        match self.code().holder(self.locals(state)) {
            Some(holder) if holder != thread => Vec::new(),
            _ => self.unhindered_steps_of(state, thread),
        }
    }

    /// The threads' own part of a state.
    fn locals<'s>(&self, state: &'s Self::State) -> &'s [Local];

    /// All steps.
    fn steps(&self, state: &Self::State) -> Vec<(Step, Self::State)> {
        (0..self.code().instances.len())
            .flat_map(|thread| self.steps_of(state, thread))
            .collect()
    }

    /// Whether the block that some thread is in has read what no read-modify-write can read, and now is to store: a choice that leads
    /// nowhere, not a state of the program. (Only RA has choices of what is read.)
    fn is_dead_end(&self, _state: &Self::State) -> bool {
        false
    }

    /// Whether a state is one of the program: if a thread is inside a block, some way on does not come to a dead end.
    fn is_real(&self, state: &Self::State) -> bool {
        let Some(holder) = self.code().holder(self.locals(state)) else {
            return true;
        };
        // Depth first; what is on the way here is in `path`, and what leads to dead ends only is in `dead`.
        let mut path = vec![(state.clone(), self.steps_of(state, holder))];
        let mut dead = HashSet::new();
        while let Some((here, steps)) = path.last_mut() {
            let Some((step, next)) = steps.pop() else {
                dead.insert(here.clone());
                path.pop();
                continue;
            };
            let ends = matches!(step.kind, StepKind::Error(_) | StepKind::AtomicEnd);
            if ends || path.iter().any(|(state, _)| *state == next) {
                return true;
            }
            if dead.contains(&next) {
                continue;
            }
            let steps = self.steps_of(&next, holder);
            if steps.is_empty() && !self.is_dead_end(&next) {
                return true;
            }
            path.push((next, steps));
        }
        !self.is_dead_end(state) && self.steps_of(state, holder).is_empty()
    }

    /// The source text of a step.
    fn span(&self, step: &Step) -> Span {
        self.code().thread(step.thread).transitions[step.transition].span
    }
}

/// One step of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Whose step it is: an index into [`Code::instances`].
    pub thread: usize,
    /// The instruction, as an index into the thread's transitions; for a flush, the one that issued the store.
    pub transition: usize,
    /// What kind of step it is.
    pub kind: StepKind,
    /// The location that it touches.
    pub location: Option<LocationId>,
    /// The value that it reads.
    pub read: Option<Value>,
    /// The value that it writes (or will write, for an issue).
    pub written: Option<Value>,
    /// Whether the instruction is inside an `atomic` block (its beginning and end are not).
    pub atomic: bool,
    /// Under RA, with timestamps: the message that is read, or the one after which the new one is put.
    pub message: Option<u32>,
    /// Under RA, with timestamps: the message that is made (or, inside a block, changed).
    pub made: Option<u32>,
}

/// The kinds of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// A load; a `wait` that goes on; a `cas` that fails.
    Load,
    /// A store that reaches memory at once.
    Store,
    /// A store that enters the buffer (TSO).
    Issue,
    /// A store that leaves the buffer (TSO).
    Flush,
    /// A read-modify-write that writes.
    Rmw,
    /// A `fence`.
    Fence,
    /// A step that touches no memory.
    Local,
    /// The beginning of an `atomic` block.
    AtomicBegin,
    /// The end of an `atomic` block.
    AtomicEnd,
    /// A failed assertion or an error of the program: the thread stops.
    Error(ProgramError),
    /// A race on a `nonatomic` location (RA): the machine stops.
    Race,
}

impl Step {
    /// A step without an access.
    pub(crate) fn new(thread: usize, transition: usize, kind: StepKind, atomic: bool) -> Self {
        Step {
            thread,
            transition,
            kind,
            location: None,
            read: None,
            written: None,
            atomic,
            message: None,
            made: None,
        }
    }

    /// The same with an access.
    pub(crate) fn access(
        mut self,
        location: LocationId,
        read: Option<Value>,
        written: Option<Value>,
    ) -> Self {
        self.location = Some(location);
        self.read = read;
        self.written = written;
        self
    }

    /// Whether memory is read by it.
    pub fn is_read(&self) -> bool {
        matches!(self.kind, StepKind::Load | StepKind::Rmw)
    }

    /// Whether memory is changed by it (an issue changes only the buffer).
    pub fn is_write(&self) -> bool {
        matches!(self.kind, StepKind::Store | StepKind::Flush | StepKind::Rmw)
    }
}

/// Whether the condition of a `never` is true: threads, memory as all see it, and whether nobody can move.
///
/// A thread that was stopped by an error is about to execute nothing and has not ended. A program error inside a condition makes that one false.
pub fn never_is_true(
    code: &Code<'_>,
    never: &Never,
    locals: &[Local],
    memory: &[Value],
    stuck: bool,
) -> bool {
    let ended = |t: usize| code.has_ended(t, &locals[t]);
    let deadlock = stuck && !(0..locals.len()).all(ended);
    never.conditions.iter().any(|condition| {
        evaluate(code, condition, locals, memory, deadlock).is_ok_and(|value| value != 0)
    })
}

fn evaluate(
    code: &Code<'_>,
    condition: &Expr<StateAtom>,
    locals: &[Local],
    memory: &[Value],
    deadlock: bool,
) -> Result<Value, ProgramError> {
    let copies = |copy: &CopyRef| {
        let copy = *copy;
        code.instances
            .iter()
            .enumerate()
            .filter(move |(_, i)| i.thread == copy.thread && copy.copy.is_none_or(|c| c == i.copy))
            .map(|(index, _)| index)
    };
    condition.eval(code.program.domain, &mut |atom| {
        Ok(match atom {
            StateAtom::At(copy, label) => Value::from(copies(copy).any(|t| match label {
                LabelRef::End => code.has_ended(t, &locals[t]),
                LabelRef::Label(label) => {
                    let label = &code.thread(t).labels[label.index()];
                    !locals[t].stopped && label.points.contains(&locals[t].point)
                }
            })),
            StateAtom::Register(copy, register) => copies(copy)
                .next()
                .map_or(0, |t| locals[t].registers[register.index()]),
            StateAtom::Memory(address) => {
                let location = crate::thread::locate(code.program, address, &mut |e| {
                    evaluate(code, e, locals, memory, deadlock)
                })?;
                memory[location.index()]
            }
            StateAtom::Deadlock => Value::from(deadlock),
        })
    })
}
