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

mod control;
mod table;

use std::cmp::Ordering;
use std::sync::RwLock;

use palisade_lang::{
    Address, BinaryOp, Domain, Instance, LocationId, Op, Order, PointId, Program, ProgramError,
    RegisterExpr, RegisterId, Relation, RmwAction, Thread, ThreadId, Transition, Value,
};

use rustc_hash::FxHashMap;

use control::{Control, is_local, written_register};
pub use control::{Footprint, visit_state_atoms};
use table::{LocalTable, STOPPED, ValueTable};

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

/// What a thread can do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// What it does.
    pub kind: ActionKind,
    /// The instruction, as an index into `Thread::transitions`.
    pub transition: u32,
}

/// The kinds of actions. Operands are values: nothing is left to compute but what depends on the value read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// A step that touches no memory, left single because it closes a loop, is a choice beside accesses, or is visible to a `never`.
    Local,
    /// The thread stops with an error of the program.
    Error(ProgramError),
    /// Reads.
    Load {
        /// The location.
        location: LocationId,
        /// The order as written.
        order: Order,
    },
    /// Writes.
    Store {
        /// The location.
        location: LocationId,
        /// The value.
        value: Value,
        /// The order as written.
        order: Order,
    },
    /// Reads and writes in one step.
    Rmw {
        /// The location.
        location: LocationId,
        /// What is written, given what is read.
        update: Update,
        /// The order as written.
        order: Order,
    },
    /// Reads, once the value is right.
    Wait {
        /// The location.
        location: LocationId,
        /// The relation that the value read must have …
        relation: Relation,
        /// … to this one.
        value: Value,
        /// The order as written.
        order: Order,
    },
    /// A fence.
    Fence(Order),
    /// Enters `atomic`.
    AtomicBegin,
    /// Leaves it.
    AtomicEnd,
}

/// A read-modify-write with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// Writes `desired` if `expected` was read; otherwise it is a load.
    CompareAndSwap {
        /// What must be there.
        expected: Value,
        /// What is written.
        desired: Value,
    },
    /// Waits for `expected`.
    BlockingCompareAndSwap {
        /// What must be there.
        expected: Value,
        /// What is written.
        desired: Value,
    },
    /// Writes `old OP operand`.
    Fetch(BinaryOp, Value),
    /// Writes the value.
    Exchange(Value),
}

/// What a read-modify-write does when it reads a certain value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It waits.
    Blocks,
    /// It writes this value.
    Writes(Value),
    /// It is a load.
    Fails,
}

impl Update {
    /// What happens when `read` is read.
    #[inline]
    pub fn effect(self, domain: Domain, read: Value) -> Result<Effect, ProgramError> {
        Ok(match self {
            Update::CompareAndSwap { expected, desired } if read == expected => {
                Effect::Writes(desired)
            }
            Update::CompareAndSwap { .. } => Effect::Fails,
            Update::BlockingCompareAndSwap { expected, desired } if read == expected => {
                Effect::Writes(desired)
            }
            Update::BlockingCompareAndSwap { .. } => Effect::Blocks,
            Update::Fetch(op, operand) => Effect::Writes(domain.binary(op, read, operand)?),
            Update::Exchange(value) => Effect::Writes(value),
        })
    }
}

impl ActionKind {
    /// The location that is touched.
    #[inline]
    pub fn location(self) -> Option<LocationId> {
        match self {
            ActionKind::Load { location, .. }
            | ActionKind::Store { location, .. }
            | ActionKind::Rmw { location, .. }
            | ActionKind::Wait { location, .. } => Some(location),
            _ => None,
        }
    }

    /// Whether what happens depends on the value in memory.
    #[inline]
    pub fn reads(self) -> bool {
        matches!(
            self,
            ActionKind::Load { .. } | ActionKind::Rmw { .. } | ActionKind::Wait { .. }
        )
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
    locals: RwLock<LocalTable>,
}

impl<'p> Threads<'p> {
    /// Analyses the code; nothing is run yet.
    pub fn new(program: &'p Program, settings: Settings) -> Self {
        Threads {
            program,
            instances: program.instances(),
            codes: (0..program.threads.len())
                .map(|index| Code {
                    control: Control::new(program, ThreadId(index as u32), &settings),
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
        View {
            threads: self,
            memories: self.codes.iter().map(|_| Memory::default()).collect(),
            values: Vec::new(),
            small_values: vec![u32::MAX; SMALL_VALUES],
            other_values: Default::default(),
            registers: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// How many local states a thread's code has so far.
    pub fn local_states(&self, code: usize) -> usize {
        self.codes[code].locals.read().map_or(0, |l| l.len())
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

    /// What a thread may access from a control point on, whatever happens.
    pub fn future_of_point(&self, code: usize, point: PointId) -> Footprint {
        self.codes[code].control.future[point.index()]
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

const SMALL_VALUES: usize = 1024;

/// What one code's steps were found to be; forgotten when it grows too large (a state that counts to millions is rarely seen twice).
const REMEMBERED_LOCALS: usize = 1 << 19;

/// One searching thread's window on the automata.
#[derive(Debug)]
pub struct View<'t> {
    threads: &'t Threads<'t>,
    memories: Vec<Memory>,
    values: Vec<Value>,
    small_values: Vec<u32>,
    other_values: FxHashMap<Value, u32>,
    registers: Vec<Value>,
    scratch: Scratch,
}

/// What a view remembers of one code.
#[derive(Debug, Default)]
struct Memory {
    /// By local id: 0 if not known, else one more than the index into `locals`.
    known: Vec<u32>,
    locals: Vec<Standing>,
    actions: Vec<RememberedAction>,
    nexts: Vec<LocalId>,
}

/// What is known about a local state.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    point: PointId,
    first_action: u32,
    /// How many actions it has.
    pub actions: u32,
    /// How the thread stands.
    pub status: Status,
    /// Whether the thread is inside `atomic`.
    pub atomic: bool,
    /// Whether one of the actions begins `atomic`.
    pub enters_block: bool,
    /// Whether a step from here may go back in the code.
    pub may_close_loop: bool,
    /// Whether a step from here may change what a `never` says about the thread's position or registers.
    pub visible: bool,
    /// Whether it is at a label that some `never` mentions.
    pub mentioned: bool,
    /// What the next step may touch (of all actions; for the beginning of `atomic`, of the whole block).
    pub next: Footprint,
    /// What the thread may touch from here on.
    pub future: Footprint,
}

impl Standing {
    /// The control point; `None` for a stopped thread.
    #[inline]
    pub fn point(&self) -> Option<PointId> {
        (self.point != STOPPED).then_some(self.point)
    }
}

#[derive(Debug)]
struct RememberedAction {
    action: Action,
    /// By value read (0 where nothing is read): where the successors stand in `nexts`.
    resumes: Resumes,
}

/// The successors by value read. Few values are usual, so a list is searched; where there are many, a map.
#[derive(Debug, Default)]
struct Resumes {
    few: Vec<(Value, u32, u32)>,
    many: Option<Box<FxHashMap<Value, (u32, u32)>>>,
}

impl Resumes {
    const FEW: usize = 6;

    #[inline]
    fn find(&self, value: Value) -> Option<(u32, u32)> {
        if let Some(many) = &self.many {
            return many.get(&value).copied();
        }
        let entry = self.few.iter().find(|entry| entry.0 == value)?;
        Some((entry.1, entry.2))
    }

    fn insert(&mut self, value: Value, begin: u32, end: u32) {
        if self.few.len() < Self::FEW {
            self.few.push((value, begin, end));
            return;
        }
        let few = &self.few;
        let many = self
            .many
            .get_or_insert_with(|| Box::new(few.iter().map(|&(v, b, e)| (v, (b, e))).collect()));
        many.insert(value, (begin, end));
    }
}

#[derive(Debug, Default)]
struct Scratch {
    found: Vec<LocalId>,
    work: Vec<(PointId, Vec<Value>)>,
    seen: Vec<(PointId, Vec<Value>)>,
}

impl View<'_> {
    /// Where the code's thread can stand at the beginning, after its first local steps, for a copy with number `me`.
    pub fn initial_of_copy(&mut self, code: usize, me: u32) -> Vec<LocalId> {
        let thread = &self.threads.program.threads[code];
        let mut registers = vec![0; thread.registers.len()];
        if let Some(register) = thread.me {
            registers[register.index()] = Value::from(me);
        }
        let mut found = Vec::new();
        self.settle(code, thread.initial, registers, &mut found);
        found
    }

    /// The same for a running thread, by its index among the instances.
    pub fn initial(&mut self, instance: usize) -> Vec<LocalId> {
        let instance = &self.threads.instances[instance];
        let (code, copy) = (instance.thread.index(), instance.copy);
        self.initial_of_copy(code, copy)
    }

    /// How many actions a local state has.
    #[inline]
    pub fn actions(&mut self, code: usize, local: LocalId) -> usize {
        self.standing(code, local).actions as usize
    }

    /// An action of a local state.
    #[inline]
    pub fn action(&mut self, code: usize, local: LocalId, action: usize) -> Action {
        let first = self.standing(code, local).first_action as usize;
        self.memories[code].actions[first + action].action
    }

    /// The same, for somebody who has asked for the [`Standing`] since the last [`View::begin_state`].
    #[inline]
    pub fn action_from(&self, code: usize, standing: &Standing, action: usize) -> Action {
        self.memories[code].actions[standing.first_action as usize + action].action
    }

    /// How the thread stands.
    #[inline]
    pub fn status(&mut self, code: usize, local: LocalId) -> Status {
        self.standing(code, local).status
    }

    /// Whether the thread is inside `atomic`.
    #[inline]
    pub fn is_atomic(&mut self, code: usize, local: LocalId) -> bool {
        self.standing(code, local).atomic
    }

    /// What the next step may touch (of all actions; for the beginning of `atomic`, of the whole block).
    #[inline]
    pub fn next_footprint(&mut self, code: usize, local: LocalId) -> Footprint {
        self.standing(code, local).next
    }

    /// What the thread may touch from here on.
    #[inline]
    pub fn future_footprint(&mut self, code: usize, local: LocalId) -> Footprint {
        self.standing(code, local).future
    }

    /// Whether a step from here may go back in the code.
    #[inline]
    pub fn may_close_loop(&mut self, code: usize, local: LocalId) -> bool {
        self.standing(code, local).may_close_loop
    }

    /// Whether a step from here may change what a `never` says about the thread's position or registers.
    #[inline]
    pub fn is_visible(&mut self, code: usize, local: LocalId) -> bool {
        self.standing(code, local).visible
    }

    /// The control point; `None` for a stopped thread.
    #[inline]
    pub fn point(&mut self, code: usize, local: LocalId) -> Option<PointId> {
        self.standing(code, local).point()
    }

    /// The value of a register; 0 if it is not live.
    pub fn register(&mut self, code: usize, local: LocalId, register: RegisterId) -> Value {
        let table = read(&self.threads.codes[code].locals);
        let (point, values) = table.get(local);
        if point == STOPPED {
            return 0;
        }
        self.threads.codes[code].control.live[point.index()]
            .binary_search(&register)
            .map_or(0, |at| values[at])
    }

    /// Where the thread can be after an action that reads nothing.
    #[inline]
    pub fn next(&mut self, code: usize, local: LocalId, action: usize) -> &[LocalId] {
        self.resume(code, local, action, 0)
    }

    /// Where the thread can be after an action that read `value`. For a [`ActionKind::Wait`] and a blocking update the caller has checked that it goes on.
    #[inline]
    pub fn resume(
        &mut self,
        code: usize,
        local: LocalId,
        action: usize,
        value: Value,
    ) -> &[LocalId] {
        let standing = *self.standing(code, local);
        self.resume_from(code, local, &standing, action, value)
    }

    /// The same, for somebody who has asked for the [`Standing`] since the last [`View::begin_state`].
    #[inline]
    pub fn resume_from(
        &mut self,
        code: usize,
        local: LocalId,
        standing: &Standing,
        action: usize,
        value: Value,
    ) -> &[LocalId] {
        let index = standing.first_action as usize + action;
        let known = self.memories[code].actions[index].resumes.find(value);
        let (begin, end) = match known {
            Some(known) => known,
            None => self.find_resume(code, local, index, value),
        };
        &self.memories[code].nexts[begin as usize..end as usize]
    }

    /// The number of a value, to be stored in a row.
    #[inline]
    pub fn value_id(&mut self, value: Value) -> u32 {
        if let Some(&id) = usize::try_from(value)
            .ok()
            .and_then(|v| self.small_values.get(v))
            && id != u32::MAX
        {
            return id;
        }
        self.find_value_id(value)
    }

    /// The value that a number stands for.
    #[inline]
    pub fn value(&mut self, id: u32) -> Value {
        if id as usize >= self.values.len() {
            let table = read(&self.threads.values);
            let known = self.values.len() as u32;
            self.values.extend((known..=id).map(|id| table.get(id)));
        }
        self.values[id as usize]
    }

    fn find_value_id(&mut self, value: Value) -> u32 {
        if let Some(&id) = self.other_values.get(&value) {
            return id;
        }
        let found = read(&self.threads.values).find(value);
        let id = found.unwrap_or_else(|| write(&self.threads.values).intern(value));
        match usize::try_from(value) {
            Ok(small) if small < SMALL_VALUES => self.small_values[small] = id,
            _ => {
                if self.other_values.len() >= REMEMBERED_LOCALS {
                    self.other_values.clear();
                }
                self.other_values.insert(value, id);
            }
        }
        id
    }

    /// All that is known about a local state.
    #[inline]
    pub fn standing(&mut self, code: usize, local: LocalId) -> &Standing {
        let known = self.memories[code].known.get(local.0 as usize).copied();
        let index = match known {
            Some(index) if index != 0 => index - 1,
            _ => self.remember(code, local),
        };
        &self.memories[code].locals[index as usize]
    }

    /// Forgets everything that is remembered of a code. Only [`View::begin_state`] calls it, so that indices stay good within a state.
    fn forget(&mut self, code: usize) {
        self.memories[code] = Memory::default();
    }

    /// To be called before a global state is expanded: the only moment at which remembered steps may be dropped to save memory.
    #[inline]
    pub fn begin_state(&mut self) {
        for code in 0..self.memories.len() {
            let memory = &self.memories[code];
            if memory.locals.len().max(memory.nexts.len() / 4) > REMEMBERED_LOCALS {
                self.forget(code);
            }
        }
    }

    fn load_registers(&mut self, code: usize, local: LocalId) -> PointId {
        let registers = self.threads.program.threads[code].registers.len();
        self.registers.clear();
        self.registers.resize(registers, 0);
        let table = read(&self.threads.codes[code].locals);
        let (point, values) = table.get(local);
        if point != STOPPED {
            let live = &self.threads.codes[code].control.live[point.index()];
            for (register, value) in live.iter().zip(values) {
                self.registers[register.index()] = *value;
            }
        }
        point
    }

    #[cold]
    fn remember(&mut self, code: usize, local: LocalId) -> u32 {
        let threads = self.threads;
        let thread = &threads.program.threads[code];
        let control = &threads.codes[code].control;
        let point = self.load_registers(code, local);
        let memory = &mut self.memories[code];
        let first_action = memory.actions.len();
        let mut next = Footprint::default();
        let mut entry = Standing {
            point,
            status: Status::Stopped,
            atomic: false,
            enters_block: false,
            may_close_loop: false,
            visible: false,
            mentioned: false,
            next,
            future: Footprint::default(),
            first_action: first_action as u32,
            actions: 0,
        };
        if point != STOPPED {
            entry.status = if thread.is_end(point) {
                Status::Ended
            } else {
                Status::Running
            };
            entry.atomic = thread.points[point.index()].atomic;
            entry.may_close_loop = control.may_close_loop[point.index()];
            entry.visible = control.visible[point.index()];
            entry.mentioned = control.mentioned[point.index()];
            entry.future = control.future[point.index()];
            for index in control.outgoing(point) {
                let transition = &thread.transitions[index];
                let Some(kind) = action_of(threads.program, transition, &self.registers) else {
                    continue;
                };
                let footprint = match kind {
                    ActionKind::AtomicBegin => control.rest_of_block[transition.to.index()],
                    _ => footprint_of(kind),
                };
                next = next.union(footprint);
                entry.enters_block |= kind == ActionKind::AtomicBegin;
                memory.actions.push(RememberedAction {
                    action: Action {
                        kind,
                        transition: index as u32,
                    },
                    resumes: Resumes::default(),
                });
            }
            entry.next = next;
            // Two guards with the same error (`if 1 / 0 == 1`) are one error.
            let actions = &mut memory.actions;
            let mut errors = Vec::new();
            let mut at = first_action;
            while at < actions.len() {
                if let ActionKind::Error(error) = actions[at].action.kind {
                    let span = thread.transitions[actions[at].action.transition as usize].span;
                    if errors.contains(&(error, span)) {
                        actions.remove(at);
                        continue;
                    }
                    errors.push((error, span));
                }
                at += 1;
            }
            entry.actions = (actions.len() - first_action) as u32;
        } else {
            // A thread that stopped inside `atomic` keeps everybody out for good: where it stopped is remembered as its only value.
            let table = read(&threads.codes[code].locals);
            entry.atomic = table.get(local).1 == [1];
        }
        let index = memory.locals.len() as u32;
        memory.locals.push(entry);
        if memory.known.len() <= local.0 as usize {
            memory.known.resize(local.0 as usize + 1, 0);
        }
        memory.known[local.0 as usize] = index + 1;
        index
    }

    #[cold]
    fn find_resume(
        &mut self,
        code: usize,
        local: LocalId,
        action_index: usize,
        value: Value,
    ) -> (u32, u32) {
        let threads = self.threads;
        let thread: &Thread = &threads.program.threads[code];
        let action = self.memories[code].actions[action_index].action;
        let transition = &thread.transitions[action.transition as usize];
        let point = self.load_registers(code, local);
        let mut registers = std::mem::take(&mut self.registers);
        let mut found = std::mem::take(&mut self.scratch.found);
        found.clear();
        if let ActionKind::Error(_) = action.kind {
            let atomic = thread.points[point.index()].atomic;
            let stopped = [Value::from(atomic)];
            found.push(self.intern(code, STOPPED, &stopped));
        } else {
            match &transition.op {
                Op::Assign(register, expr) => {
                    // An error would have made this an `Error` action.
                    let result = evaluate(expr, threads.program.domain, &registers).unwrap_or(0);
                    registers[register.index()] = threads.program.domain.reduce(result);
                }
                op => {
                    if let Some(register) = written_register(op) {
                        registers[register.index()] = value;
                    }
                }
            }
            self.settle(code, transition.to, registers.clone(), &mut found);
        }
        self.registers = registers;
        let memory = &mut self.memories[code];
        let begin = memory.nexts.len() as u32;
        memory.nexts.extend_from_slice(&found);
        let end = memory.nexts.len() as u32;
        memory.actions[action_index]
            .resumes
            .insert(value, begin, end);
        self.scratch.found = found;
        (begin, end)
    }

    /// Runs local steps from `point` until every branch stands where it must stop.
    ///
    /// A run without branches (a loop over an array that skips an element, say) comes round a loop up to
    /// `LOCAL_ROUNDS` times; a run that branches stops at each loop's head.
    fn settle(
        &mut self,
        code: usize,
        point: PointId,
        registers: Vec<Value>,
        found: &mut Vec<LocalId>,
    ) {
        let threads = self.threads;
        let thread = &threads.program.threads[code];
        let control = &threads.codes[code].control;
        let domain = threads.program.domain;
        let mut work = std::mem::take(&mut self.scratch.work);
        let mut seen = std::mem::take(&mut self.scratch.seen);
        work.clear();
        seen.clear();
        work.push((point, registers));
        let mut rounds = 0;
        'branches: while let Some((point, registers)) = work.pop() {
            let point = control.behind_jumps[point.index()];
            let before = work.len();
            let mut stop = control.stops[point.index()];
            if control.pauses[point.index()] {
                stop |= rounds == LOCAL_ROUNDS || !seen.is_empty();
                rounds += u32::from(!stop);
            }
            if !stop {
                for index in control.outgoing(point).rev() {
                    let transition = &thread.transitions[index];
                    match local_step(&transition.op, domain, &registers) {
                        Ok(None) => {}
                        Ok(Some(assigned)) => {
                            let mut registers = registers.clone();
                            if let Some((register, value)) = assigned {
                                registers[register.index()] = value;
                            }
                            work.push((transition.to, registers));
                        }
                        Err(_) => {
                            work.truncate(before);
                            break;
                        }
                    }
                }
            }
            if work.len() > before {
                // Branches that meet again (`choose` after `choose`) are followed once.
                if work.len() > before + 1 || !seen.is_empty() {
                    for at in (before..work.len()).rev() {
                        if seen.contains(&work[at]) {
                            work.remove(at);
                        } else {
                            seen.push(work[at].clone());
                        }
                    }
                }
                continue 'branches;
            }
            let live: Vec<Value> = control.live[point.index()]
                .iter()
                .map(|r| registers[r.index()])
                .collect();
            let local = self.intern(code, point, &live);
            if !found.contains(&local) {
                found.push(local);
            }
        }
        self.scratch.work = work;
        self.scratch.seen = seen;
    }

    /// The local steps that lead to `to` once a copy with number `me` has begun (`None`), or once a local state has executed an instruction and read
    /// `value`: the instructions of the shortest such run, without jumps. `None` where there is no such run.
    ///
    /// Searches do not need it: it is for telling afterwards what happened on a path.
    pub fn way(
        &mut self,
        code: usize,
        me: u32,
        after: Option<(LocalId, u32, Value)>,
        to: LocalId,
    ) -> Option<Vec<u32>> {
        let threads = self.threads;
        let thread = &threads.program.threads[code];
        let control = &threads.codes[code].control;
        let domain = threads.program.domain;
        let (target, wanted) = {
            let table = read(&threads.codes[code].locals);
            let (point, values) = table.get(to);
            (point, values.to_vec())
        };
        if target == STOPPED {
            return Some(Vec::new());
        }
        let (point, registers) = match after {
            None => {
                let mut registers = vec![0; thread.registers.len()];
                if let Some(register) = thread.me {
                    registers[register.index()] = Value::from(me);
                }
                (thread.initial, registers)
            }
            Some((local, transition, value)) => {
                self.load_registers(code, local);
                let mut registers = self.registers.clone();
                let transition = &thread.transitions[transition as usize];
                match &transition.op {
                    Op::Assign(register, expr) => {
                        let result = evaluate(expr, domain, &registers).ok()?;
                        registers[register.index()] = domain.reduce(result);
                    }
                    op => {
                        if let Some(register) = written_register(op) {
                            registers[register.index()] = value;
                        }
                    }
                }
                (transition.to, registers)
            }
        };
        // Breadth first, so that endless local loops do no harm. Each entry knows the one before it and the step between.
        let first = (control.behind_jumps[point.index()], registers);
        let mut seen: rustc_hash::FxHashSet<_> = [first.clone()].into_iter().collect();
        let mut queue = vec![(first, usize::MAX, 0u32)];
        let mut at = 0;
        while at < queue.len() && at < MOST_LOCAL_STATES {
            let (point, registers) = queue[at].0.clone();
            let live = control.live[point.index()].iter();
            if point == target
                && live
                    .map(|r| registers[r.index()])
                    .eq(wanted.iter().copied())
            {
                let mut way = Vec::new();
                while queue[at].1 != usize::MAX {
                    way.push(queue[at].2);
                    at = queue[at].1;
                }
                way.reverse();
                return Some(way);
            }
            if !control.stops[point.index()] {
                for index in control.outgoing(point) {
                    let transition = &thread.transitions[index];
                    let Ok(Some(assigned)) = local_step(&transition.op, domain, &registers) else {
                        continue;
                    };
                    let mut registers = registers.clone();
                    if let Some((register, value)) = assigned {
                        registers[register.index()] = value;
                    }
                    let next = (control.behind_jumps[transition.to.index()], registers);
                    if seen.insert(next.clone()) {
                        queue.push((next, at, index as u32));
                    }
                }
            }
            at += 1;
        }
        None
    }

    fn intern(&mut self, code: usize, point: PointId, live: &[Value]) -> LocalId {
        let locals = &self.threads.codes[code].locals;
        let found = read(locals).find(point, live);
        found.unwrap_or_else(|| write(locals).intern(point, live))
    }
}

/// How often one local run comes round a loop before it pauses. More would save more states of threads that compute for long,
/// and lose time on a thread that never stops computing.
const LOCAL_ROUNDS: u32 = 64;

/// How many local states [`View::way`] looks at before it gives up.
const MOST_LOCAL_STATES: usize = 1 << 20;

/// Takes a local step: `Ok(None)` where it is not enabled, else the register that it sets.
fn local_step(
    op: &Op,
    domain: Domain,
    registers: &[Value],
) -> Result<Option<Option<(RegisterId, Value)>>, ProgramError> {
    debug_assert!(is_local(op));
    match op {
        Op::Assign(register, expr) => {
            let value = domain.reduce(evaluate(expr, domain, registers)?);
            Ok(Some(Some((*register, value))))
        }
        Op::Assume(condition) => Ok((evaluate(condition, domain, registers)? != 0).then_some(None)),
        Op::Assert(condition) => match evaluate(condition, domain, registers)? {
            0 => Err(ProgramError::AssertionFailed),
            _ => Ok(Some(None)),
        },
        _ => Ok(Some(None)),
    }
}

fn evaluate(
    expr: &RegisterExpr,
    domain: Domain,
    registers: &[Value],
) -> Result<Value, ProgramError> {
    expr.eval(domain, &mut |r| Ok(registers[r.index()]))
}

fn locate(
    program: &Program,
    address: &Address<RegisterId>,
    registers: &[Value],
) -> Result<LocationId, ProgramError> {
    match address {
        Address::Direct(location) => Ok(*location),
        Address::Element {
            first,
            length,
            index,
        } => {
            let index = evaluate(index, program.domain, registers)?;
            if (0..Value::from(*length)).contains(&index) {
                Ok(LocationId(first.0 + index as u32))
            } else {
                Err(ProgramError::IndexOutOfRange(index, *length))
            }
        }
        Address::Pointer(pointer) => {
            let address = evaluate(pointer, program.domain, registers)?;
            program
                .location_at(address)
                .ok_or(ProgramError::NoSuchLocation(address))
        }
    }
}

/// The action that an instruction amounts to; `None` where it is not enabled whatever memory holds.
fn action_of(
    program: &Program,
    transition: &Transition,
    registers: &[Value],
) -> Option<ActionKind> {
    let domain = program.domain;
    let kind = match &transition.op {
        op if is_local(op) => match local_step(op, domain, registers) {
            Ok(None) => return None,
            Ok(Some(_)) => Ok(ActionKind::Local),
            Err(error) => Err(error),
        },
        op => access_of(program, op, registers),
    };
    Some(kind.unwrap_or_else(ActionKind::Error))
}

fn access_of(program: &Program, op: &Op, registers: &[Value]) -> Result<ActionKind, ProgramError> {
    let domain = program.domain;
    let stored = |e: &RegisterExpr| Ok(domain.reduce(evaluate(e, domain, registers)?));
    let atomic_only = |location: LocationId, plain: bool| {
        let place = program.location(location);
        if place.nonatomic && !plain {
            Err(ProgramError::AtomicAccessToNonatomic(place.address))
        } else {
            Ok(location)
        }
    };
    Ok(match op {
        Op::Load { address, order, .. } => ActionKind::Load {
            location: atomic_only(
                locate(program, address, registers)?,
                *order == Order::Acquire,
            )?,
            order: *order,
        },
        Op::Store {
            address,
            value,
            order,
        } => ActionKind::Store {
            location: atomic_only(
                locate(program, address, registers)?,
                *order == Order::Release,
            )?,
            value: stored(value)?,
            order: *order,
        },
        Op::Wait {
            address,
            relation,
            value,
            order,
            ..
        } => ActionKind::Wait {
            location: atomic_only(locate(program, address, registers)?, false)?,
            relation: *relation,
            value: evaluate(value, domain, registers)?,
            order: *order,
        },
        Op::Rmw {
            address,
            action,
            order,
            ..
        } => ActionKind::Rmw {
            location: atomic_only(locate(program, address, registers)?, false)?,
            update: match action {
                RmwAction::CompareAndSwap { expected, desired } => Update::CompareAndSwap {
                    expected: evaluate(expected, domain, registers)?,
                    desired: stored(desired)?,
                },
                RmwAction::BlockingCompareAndSwap { expected, desired } => {
                    Update::BlockingCompareAndSwap {
                        expected: evaluate(expected, domain, registers)?,
                        desired: stored(desired)?,
                    }
                }
                RmwAction::Fetch(op, operand) => {
                    Update::Fetch(*op, evaluate(operand, domain, registers)?)
                }
                RmwAction::Exchange(value) => Update::Exchange(stored(value)?),
            },
            order: *order,
        },
        Op::Fence(order) => ActionKind::Fence(*order),
        Op::AtomicBegin => ActionKind::AtomicBegin,
        Op::AtomicEnd => ActionKind::AtomicEnd,
        Op::Skip | Op::Jump | Op::Assign(..) | Op::Assume(_) | Op::Assert(_) => ActionKind::Local,
    })
}

fn footprint_of(kind: ActionKind) -> Footprint {
    let bit = kind.location().map_or(0, Footprint::bit);
    match kind {
        ActionKind::Load { .. } | ActionKind::Wait { .. } => Footprint {
            reads: bit,
            writes: 0,
        },
        ActionKind::Store { .. } => Footprint {
            reads: 0,
            writes: bit,
        },
        ActionKind::Rmw { .. } => Footprint {
            reads: bit,
            writes: bit,
        },
        _ => Footprint::default(),
    }
}
