//! What all machines have in common: steps, and what can be asked of a state.

use crate::thread::{Action, Code, Local, Outcome, Request};
use palisade_lang::{
    CopyRef, Expr, LabelRef, LocationId, Never, Op, ProgramError, RegisterId, Relation, Span,
    StateAtom, Transition, Value,
};
use std::collections::HashSet;
use std::hash::Hash;

/// Steps inside a block after which its end is not waited for any more.
pub const ENDLESS: usize = 10_000;

/// A memory model as a small-step machine.
pub trait Machine {
    /// A state of threads and memory.
    type State: Clone + Eq + Hash;

    /// The running threads.
    fn code(&self) -> &Code<'_>;

    /// The state at the beginning.
    fn initial(&self) -> Self::State;

    /// The steps that one thread (its instructions and its buffer) could make if no other thread were inside an `atomic` block.
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

    /// The same, to change it.
    fn locals_mut<'s>(&self, state: &'s mut Self::State) -> &'s mut [Local];

    /// Whether fences that are weaker than `seqcst` are steps of their own kind, and not local ones.
    fn knows_weak_fences(&self) -> bool {
        false
    }

    /// About how many bytes a state's memory takes.
    fn bytes_of_memory(&self, state: &Self::State) -> usize;

    /// About how many bytes a state takes.
    fn bytes(&self, state: &Self::State) -> usize {
        let locals = self.locals(state).iter();
        let of_threads = locals.map(|l| size_of_val(l) + size_of_val(&l.registers[..]));
        size_of::<Self::State>() + of_threads.sum::<usize>() + self.bytes_of_memory(state)
    }

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

    /// Whether the block that some thread is in can come to a dead end from here.
    fn may_end_dead(&self, _state: &Self::State) -> bool {
        false
    }

    /// What the `atomic` block that some thread is in has read or written, and goes on seeing whatever is newest. (Only where threads may read old values.)
    fn seen_by_block(&self, _state: &Self::State) -> Option<(LocationId, Value)> {
        None
    }

    /// Whether a state is one of the program: if a thread is inside a block, some way on does not come to a dead end. A way that goes round in
    /// the block, or on and on for more steps than [`ENDLESS`], counts as one that does not.
    fn is_real(&self, state: &Self::State) -> bool {
        let Some(holder) = self.code().holder(self.locals(state)) else {
            return true;
        };
        // Depth first. What was seen is on the way here, or leads to dead ends only.
        let mut path = vec![(state.clone(), self.steps_of(state, holder))];
        let mut dead = HashSet::new();
        let mut on_the_way = HashSet::from([state.clone()]);
        while let Some((here, steps)) = path.last_mut() {
            if !self.may_end_dead(here) || on_the_way.len() > ENDLESS {
                return true;
            }
            let Some((step, next)) = steps.pop() else {
                on_the_way.remove(here);
                dead.insert(here.clone());
                path.pop();
                continue;
            };
            let ends = matches!(step.kind, StepKind::Error(_) | StepKind::AtomicEnd);
            if ends || on_the_way.contains(&next) {
                return true;
            }
            if dead.contains(&next) {
                continue;
            }
            on_the_way.insert(next.clone());
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

/// The steps by which a thread executes its next instruction. `access` says what comes of one that is not local.
pub fn executed<M: Machine + ?Sized>(
    machine: &M,
    state: &M::State,
    thread: usize,
    mut access: impl FnMut(&At<'_, M>, Request, &mut Vec<(Step, M::State)>),
) -> Vec<(Step, M::State)> {
    let code = machine.code();
    let local = &machine.locals(state)[thread];
    let atomic = code.in_block(thread, local);
    let mut steps = Vec::new();
    for (index, transition) in code.next(thread, local) {
        let at = At {
            machine,
            state,
            thread,
            index,
            transition,
            local,
            atomic,
        };
        if matches!(transition.op, Op::Fence(_)) && machine.knows_weak_fences() {
            access(&at, Request::Fence, &mut steps);
            continue;
        }
        match code.request(thread, local, transition) {
            Err(error) => steps.push(at.stopped(error)),
            Ok(Request::Blocked) => {}
            Ok(Request::Local(local)) => steps.push((at.step(StepKind::Local), at.with(local))),
            Ok(request) => access(&at, request, &mut steps),
        }
    }
    steps
}

/// A machine in which an access has a choice: which of the writes that were made it reads, or comes behind.
pub trait Choosing: Machine {
    /// Whether a race has ended the run.
    fn has_raced(&self, state: &Self::State) -> bool;

    /// The loads of a location by an instruction; where there is a condition, those of values that it is true for.
    fn load(
        &self,
        at: &At<'_, Self>,
        location: LocationId,
        register: Option<RegisterId>,
        condition: Option<(Relation, Value)>,
    ) -> Vec<(Step, Self::State)>;

    /// The stores.
    fn store(
        &self,
        at: &At<'_, Self>,
        location: LocationId,
        value: Value,
    ) -> Vec<(Step, Self::State)>;

    /// The read-modify-writes.
    fn rmw(
        &self,
        at: &At<'_, Self>,
        location: LocationId,
        register: Option<RegisterId>,
        action: Action,
    ) -> Vec<(Step, Self::State)>;

    /// The fence, if it may be executed.
    fn fence(&self, at: &At<'_, Self>) -> Option<(Step, Self::State)>;

    /// Forgets what the `atomic` block that ends here has seen.
    fn leave_block(&self, state: &mut Self::State);

    /// The steps of a thread, as [`Machine::unhindered_steps_of`] wants them.
    fn chosen_steps_of(&self, state: &Self::State, thread: usize) -> Vec<(Step, Self::State)> {
        if self.has_raced(state) {
            return Vec::new();
        }
        executed(self, state, thread, |at, request, steps| match request {
            Request::Blocked | Request::Local(_) => {}
            Request::Load {
                location,
                register,
                condition,
            } => steps.extend(self.load(at, location, register, condition)),
            Request::Store {
                location, value, ..
            } => steps.extend(self.store(at, location, value)),
            Request::Rmw {
                location,
                register,
                action,
            } => steps.extend(self.rmw(at, location, register, action)),
            Request::Fence => steps.extend(self.fence(at)),
            Request::AtomicBegin => steps.push(at.boundary(StepKind::AtomicBegin)),
            Request::AtomicEnd => {
                let (step, mut next) = at.boundary(StepKind::AtomicEnd);
                self.leave_block(&mut next);
                steps.push((step, next));
            }
        })
    }
}

/// One instruction of one thread, in a state.
pub struct At<'a, M: Machine + ?Sized> {
    machine: &'a M,
    /// The state.
    pub state: &'a M::State,
    /// The thread.
    pub thread: usize,
    /// Its index in the thread's transitions.
    pub index: usize,
    /// The instruction.
    pub transition: &'a Transition,
    local: &'a Local,
    /// Whether it is inside an `atomic` block.
    pub atomic: bool,
}

impl<M: Machine + ?Sized> At<'_, M> {
    /// A step by it.
    pub fn step(&self, kind: StepKind) -> Step {
        Step::new(self.thread, self.index, kind, self.atomic)
    }

    fn with(&self, local: Local) -> M::State {
        let mut next = self.state.clone();
        self.machine.locals_mut(&mut next)[self.thread] = local;
        next
    }

    /// The state in which the thread stands behind it, with a register set.
    pub fn after(&self, set: Option<(RegisterId, Value)>) -> M::State {
        let code = self.machine.code();
        self.with(code.after(self.thread, self.local, self.transition, set))
    }

    /// It goes wrong.
    pub fn stopped(&self, error: ProgramError) -> (Step, M::State) {
        let mut next = self.state.clone();
        self.machine.locals_mut(&mut next)[self.thread].stopped = true;
        (self.step(StepKind::Error(error)), next)
    }

    /// It is the beginning or the end of a block.
    pub fn boundary(&self, kind: StepKind) -> (Step, M::State) {
        let step = Step::new(self.thread, self.index, kind, false);
        (step, self.after(None))
    }

    /// It loads a value, unless it waits for another one.
    pub fn load(
        &self,
        location: LocationId,
        value: Value,
        register: Option<RegisterId>,
        condition: Option<(Relation, Value)>,
    ) -> Option<(Step, M::State)> {
        let goes_on = condition.is_none_or(|(relation, right)| relation.holds(value, right));
        goes_on.then(|| {
            let step = self.step(StepKind::Load);
            let step = step.access(location, Some(value), None);
            (step, self.after(register.map(|r| (r, value))))
        })
    }

    /// It stores to a memory that is part of the state.
    pub fn store_to(
        &self,
        memory: impl FnOnce(&mut M::State) -> &mut Vec<Value>,
        location: LocationId,
        value: Value,
    ) -> (Step, M::State) {
        let mut next = self.after(None);
        memory(&mut next)[location.index()] = value;
        let step = self.step(StepKind::Store);
        (step.access(location, None, Some(value)), next)
    }

    /// It reads and writes a memory that is part of the state.
    pub fn rmw_of(
        &self,
        memory: impl FnOnce(&mut M::State) -> &mut Vec<Value>,
        location: LocationId,
        old: Value,
        register: Option<RegisterId>,
        action: Action,
    ) -> Option<(Step, M::State)> {
        let mut next = self.after(register.map(|r| (r, old)));
        match self.machine.code().outcome(action, old) {
            Outcome::Waits => None,
            Outcome::Fails(error) => Some(self.stopped(error)),
            Outcome::Loads => {
                let step = self.step(StepKind::Load);
                Some((step.access(location, Some(old), None), next))
            }
            Outcome::Writes(new) => {
                memory(&mut next)[location.index()] = new;
                let step = self.step(StepKind::Rmw);
                Some((step.access(location, Some(old), Some(new)), next))
            }
        }
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
    /// Under RA with timestamps, and with graphs of C++20: the message that is read, or the one after which the new one is put.
    pub message: Option<u32>,
    /// Under RA with timestamps, and with graphs of C++20: the message that is made (or, inside a block, changed).
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
    pub fn new(thread: usize, transition: usize, kind: StepKind, atomic: bool) -> Self {
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
    pub fn access(
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

/// Whether the condition of a `never` is true, given threads, memory as all see it, and whether there is a deadlock ([`crate::is_deadlock`]).
///
/// A thread that was stopped by an error is about to execute nothing and has not ended. A program error inside a condition makes that one false.
pub fn never_is_true(
    code: &Code<'_>,
    never: &Never,
    locals: &[Local],
    memory: &[Value],
    deadlock: bool,
) -> bool {
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
                let location = address.locate(code.program, |e| {
                    evaluate(code, e, locals, memory, deadlock)
                })?;
                memory[location.index()]
            }
            StateAtom::Deadlock => Value::from(deadlock),
        })
    })
}
