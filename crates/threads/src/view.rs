//! One searching thread's window on the automata: what it has asked, and what was found.

use palisade_lang::{LocationId, Op, PointId, RegisterId, Thread, Value};
use rustc_hash::FxHashMap;

use crate::action::{
    Action, ActionKind, Effect, Update, action_of, evaluate, footprint_of, local_step,
};
use crate::by_number::ByNumber;
use crate::control::Footprint;
use crate::pages::Pages;
use crate::steps::{Nexts, OtherStep, Step, Steps, Written};
use crate::table::STOPPED;
use crate::{LocalId, Status, Threads, read, write};

const SMALL_VALUES: usize = 1024;

/// What one code's steps were found to be; forgotten when it grows too large (a state that counts to millions is rarely seen twice).
const REMEMBERED_LOCALS: usize = 1 << 19;
/// Numbers of values that are found without asking the others. Asking is cheap enough for more.
const REMEMBERED_VALUES: usize = 1 << 15;

/// One searching thread's window on the automata.
#[derive(Debug)]
pub struct View<'t> {
    threads: &'t Threads<'t>,
    memories: Vec<Memory>,
    /// Some of the memories is too large.
    full: bool,
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
    footprints: Pages<Footprints>,
    actions: Pages<RememberedAction>,
    steps: Steps,
    nexts: Vec<LocalId>,
}

impl Memory {
    /// Remembers successors; where they stand in `nexts`.
    fn keep(&mut self, found: &[LocalId]) -> (u32, u32) {
        let begin = self.nexts.len() as u32;
        self.nexts.extend_from_slice(found);
        (begin, self.nexts.len() as u32)
    }

    fn is_full(&self) -> bool {
        let most = self.locals.len().max(self.nexts.len() / 4);
        most.max(self.steps.len() / 16) >= REMEMBERED_LOCALS
    }
}

/// What is known about a local state.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    point: PointId,
    first_action: u32,
    /// How many actions it has.
    pub actions: u32,
    /// Where it stands in `footprints`.
    index: u32,
    flags: Flags,
}

impl Default for Standing {
    /// A place to write another one to.
    fn default() -> Self {
        Standing {
            point: STOPPED,
            first_action: 0,
            actions: 0,
            index: 0,
            flags: Flags(0),
        }
    }
}

/// What else there is to say about a local state, a bit for each: so much is said about several at a glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(u32);

impl Flags {
    const ENDED: Flags = Flags(1 << 0);
    const STOPPED: Flags = Flags(1 << 1);
    const MAY_CLOSE_LOOP: Flags = Flags(1 << 2);
    const VISIBLE: Flags = Flags(1 << 3);
    const MAY_ERR: Flags = Flags(1 << 4);
    /// None of the others.
    pub const NONE: Flags = Flags(0);
    /// All of the others.
    pub const ALL: Flags = Flags(u32::MAX);
    /// The thread is inside `atomic`.
    pub const ATOMIC: Flags = Flags(1 << 5);
    /// It is at a label that some `never` mentions.
    pub const MENTIONED: Flags = Flags(1 << 6);
    /// It has actions.
    pub const ACTS: Flags = Flags(1 << 7);
    /// Putting off all other threads for a step from here is worth a thought: it does not go back in the code, is not visible, and does
    /// not enter `atomic`. (A block that cannot be finished keeps all others out: entering it is never independent.)
    pub const MAY_BE_REDUCED: Flags = Flags(1 << 8);
    /// The same, and there is a thread that the next step is not in conflict with for sure, wherever that thread stands, as long as it has actions.
    pub const REDUCIBLE_AMONG_ALL: Flags = Flags(1 << 9);

    /// Whether it has one of these.
    #[inline(always)]
    pub fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 != 0
    }

    /// What one of them has.
    #[inline(always)]
    pub fn or(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// What both of them have.
    #[inline(always)]
    pub fn and(self, other: Flags) -> Flags {
        Flags(self.0 & other.0)
    }
}

/// What a thread may touch.
#[derive(Clone, Copy, Debug)]
pub struct Footprints {
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

    fn set(&mut self, flag: Flags, is: bool) {
        if is {
            self.flags = self.flags.or(flag);
        }
    }

    /// What else there is to say.
    #[inline]
    pub fn flags(&self) -> Flags {
        self.flags
    }

    /// How the thread stands.
    #[inline]
    pub fn status(&self) -> Status {
        match self.flags {
            flags if flags.has(Flags::STOPPED) => Status::Stopped,
            flags if flags.has(Flags::ENDED) => Status::Ended,
            _ => Status::Running,
        }
    }

    /// Whether the thread is inside `atomic`.
    #[inline]
    pub fn atomic(&self) -> bool {
        self.flags.has(Flags::ATOMIC)
    }

    /// Whether one of the actions is an error of the program, or may become one with the value that it reads.
    #[inline]
    pub fn may_err(&self) -> bool {
        self.flags.has(Flags::MAY_ERR)
    }
}

#[derive(Debug)]
struct RememberedAction {
    action: Action,
    /// By value read (0 where nothing is read): where the successors stand in `nexts`.
    resumes: ByNumber<(u32, u32)>,
}

#[derive(Debug, Default)]
struct Scratch {
    found: Vec<LocalId>,
    work: Vec<(PointId, Vec<Value>)>,
    seen: Vec<(PointId, Vec<Value>)>,
}

impl<'t> View<'t> {
    pub(crate) fn new(threads: &'t Threads<'t>) -> Self {
        View {
            threads,
            memories: threads.codes.iter().map(|_| Memory::default()).collect(),
            full: false,
            values: Vec::new(),
            small_values: vec![u32::MAX; SMALL_VALUES],
            other_values: Default::default(),
            registers: Vec::new(),
            scratch: Scratch::default(),
        }
    }
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

    /// Where a thread stands that an error has stopped outside of `atomic`: it does nothing any more, and no other thread notices it.
    pub fn stopped(&mut self, code: usize) -> LocalId {
        self.intern(code, STOPPED, &[0])
    }

    /// Where a running thread, by its index among the instances, can stand at the beginning.
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

    /// The same, for a caller that has asked for the [`Standing`] since the last [`View::begin_state`].
    #[inline]
    pub fn action_from(&self, code: usize, standing: &Standing, action: usize) -> Action {
        self.memories[code].actions[standing.first_action as usize + action].action
    }

    /// How the thread stands.
    #[inline]
    pub fn status(&mut self, code: usize, local: LocalId) -> Status {
        self.standing(code, local).status()
    }

    /// Whether the thread is inside `atomic`.
    #[inline]
    pub fn is_atomic(&mut self, code: usize, local: LocalId) -> bool {
        self.standing(code, local).atomic()
    }

    /// What the next step may touch (of all actions; for the beginning of `atomic`, of the whole block).
    #[inline]
    pub fn next_footprint(&mut self, code: usize, local: LocalId) -> Footprint {
        self.footprints(code, local).next
    }

    /// What the thread may touch from here on.
    #[inline]
    pub fn future_footprint(&mut self, code: usize, local: LocalId) -> Footprint {
        self.footprints(code, local).future
    }

    fn footprints(&mut self, code: usize, local: LocalId) -> &Footprints {
        let index = self.standing(code, local).index;
        &self.memories[code].footprints[index as usize]
    }

    /// What a thread may touch; for a caller that has asked for the [`Standing`] since the last [`View::begin_state`].
    #[inline]
    pub fn footprints_from(&self, code: usize, standing: &Standing) -> &Footprints {
        &self.memories[code].footprints[standing.index as usize]
    }

    /// Whether a step from here may change what a `never` says about the thread's position or registers.
    #[inline]
    pub fn is_visible(&mut self, code: usize, local: LocalId) -> bool {
        self.standing(code, local).flags.has(Flags::VISIBLE)
    }

    /// Whether a step from here may go back in the code.
    #[inline]
    pub fn may_close_loop(&mut self, code: usize, local: LocalId) -> bool {
        self.standing(code, local).flags.has(Flags::MAY_CLOSE_LOOP)
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
        let standing = self.standing(code, local);
        self.resume_from(code, local, &standing, action, value)
    }

    /// The same, for a caller that has asked for the [`Standing`] since the last [`View::begin_state`].
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

    /// What an action does when it reads the value with the number that `read` says for a location. For a caller that has asked for the
    /// [`Standing`] since the last [`View::begin_state`].
    #[inline(always)]
    pub fn step_from(
        &mut self,
        code: usize,
        local: LocalId,
        standing: &Standing,
        action: usize,
        read: impl FnOnce(LocationId) -> u32,
    ) -> Step {
        let index = standing.first_action as usize + action;
        match self.memories[code].steps.find(index, read) {
            Ok(step) => step,
            Err(number) => self.find_step(code, local, index, number),
        }
    }

    /// What [`Step::Other`] stands for.
    #[inline]
    pub fn other_step(&self, code: usize, number: u32) -> OtherStep {
        *self.memories[code].steps.other(number)
    }

    /// What a step writes, if anything, and how many places there are where the thread can be afterwards; `None` where there is no step.
    #[inline]
    pub fn effect_of(&self, code: usize, step: Step) -> Option<(Option<Written>, usize)> {
        match step {
            Step::Waits => None,
            Step::To(_) => Some((None, 1)),
            Step::Other(number) => match self.other_step(code, number) {
                OtherStep::Writes(written, _) => Some((Some(written), 1)),
                OtherStep::Branches(written, nexts) => {
                    Some((written, (nexts.end - nexts.begin) as usize))
                }
                OtherStep::Errs => None,
            },
        }
    }

    /// One of these places.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn outcome_of(&self, code: usize, step: Step, outcome: usize) -> LocalId {
        let only = match step {
            Step::To(next) => Some(next),
            Step::Waits => None,
            Step::Other(number) => match self.other_step(code, number) {
                OtherStep::Writes(_, next) => Some(next),
                OtherStep::Branches(_, nexts) => return self.nexts(code, nexts)[outcome],
                OtherStep::Errs => None,
            },
        };
        match (only, outcome) {
            (Some(next), 0) => next,
            _ => unreachable!("a step that does not go there"),
        }
    }

    /// Where the thread can be after a step that branches.
    #[inline]
    pub fn nexts(&self, code: usize, nexts: Nexts) -> &[LocalId] {
        &self.memories[code].nexts[nexts.begin as usize..nexts.end as usize]
    }

    #[cold]
    fn find_step(&mut self, code: usize, local: LocalId, action: usize, read: u32) -> Step {
        let kind = self.memories[code].actions[action].action.kind;
        let value = if kind.reads() { self.value(read) } else { 0 };
        let mut written = None;
        let goes = match kind {
            ActionKind::Wait {
                relation,
                value: right,
                ..
            } if !relation.holds(value, right) => Err(Step::Waits),
            ActionKind::Store {
                location, value, ..
            } => {
                written = Some((location, value));
                Ok(())
            }
            ActionKind::Rmw {
                location, update, ..
            } => match update.effect(self.threads.program.domain, value) {
                Err(_) => Err(self.memories[code].steps.add_other(OtherStep::Errs)),
                Ok(Effect::Blocks) => Err(Step::Waits),
                Ok(Effect::Fails) => Ok(()),
                Ok(Effect::Writes(new)) => {
                    written = Some((location, new));
                    Ok(())
                }
            },
            _ => Ok(()),
        };
        let step = match goes {
            Err(step) => step,
            Ok(()) => {
                let written = written.map(|(location, value)| Written {
                    location,
                    value: self.value_id(value),
                });
                let found = self.successors(code, local, action, value);
                let step = match (written, &found[..]) {
                    (None, &[only]) if Steps::can_go_to(only) => Step::To(only),
                    (Some(written), &[only]) => {
                        let step = OtherStep::Writes(written, only);
                        self.memories[code].steps.add_other(step)
                    }
                    _ => {
                        let (begin, end) = self.memories[code].keep(&found);
                        let step = OtherStep::Branches(written, Nexts { begin, end });
                        self.memories[code].steps.add_other(step)
                    }
                };
                self.scratch.found = found;
                step
            }
        };
        let memory = &mut self.memories[code];
        memory.steps.insert(action, read, step);
        self.full |= memory.is_full();
        step
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
                if self.other_values.len() >= REMEMBERED_VALUES {
                    self.other_values.clear();
                }
                self.other_values.insert(value, id);
            }
        }
        id
    }

    /// All that is known about a local state.
    #[inline(always)]
    pub fn standing(&mut self, code: usize, local: LocalId) -> Standing {
        let memory = &self.memories[code];
        match memory.known.get(local.0 as usize) {
            Some(&index) if index != 0 => memory.locals[index as usize - 1],
            _ => self.remember(code, local),
        }
    }

    /// To be called before a global state is expanded: the only moment at which remembered steps may be dropped to save memory.
    #[inline]
    pub fn begin_state(&mut self) {
        if self.full {
            self.forget();
        }
    }

    /// Forgets what is remembered of the codes of which too much is. Only [`View::begin_state`] calls it, so that indices stay good within a state.
    #[cold]
    fn forget(&mut self) {
        self.full = false;
        for memory in &mut self.memories {
            if memory.is_full() {
                *memory = Memory::default();
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
    fn remember(&mut self, code: usize, local: LocalId) -> Standing {
        let threads = self.threads;
        let thread = &threads.program.threads[code];
        let control = &threads.codes[code].control;
        let point = self.load_registers(code, local);
        let memory = &mut self.memories[code];
        let first_action = memory.actions.len();
        let (mut next, mut future) = (Footprint::default(), Footprint::default());
        let mut entry = Standing {
            point,
            flags: Flags::NONE,
            index: memory.locals.len() as u32,
            first_action: first_action as u32,
            actions: 0,
        };
        if point != STOPPED {
            entry.set(Flags::ENDED, thread.is_end(point));
            entry.set(Flags::ATOMIC, thread.points[point.index()].atomic);
            entry.set(Flags::MAY_CLOSE_LOOP, control.may_close_loop[point.index()]);
            entry.set(Flags::VISIBLE, control.visible[point.index()]);
            entry.set(Flags::MENTIONED, control.mentioned[point.index()]);
            let mut enters_block = false;
            let mut errors = Vec::new();
            future = control.future[point.index()];
            for index in control.outgoing(point) {
                let transition = &thread.transitions[index];
                let Some(kind) = action_of(threads.program, transition, &self.registers) else {
                    continue;
                };
                // Two guards with the same error (`if 1 / 0 == 1`) are one error.
                if let ActionKind::Error(error) = kind {
                    if errors.contains(&(error, transition.span)) {
                        continue;
                    }
                    errors.push((error, transition.span));
                }
                let footprint = match kind {
                    ActionKind::AtomicBegin => control.rest_of_block[transition.to.index()],
                    _ => footprint_of(kind),
                };
                next = next.union(footprint);
                enters_block |= kind == ActionKind::AtomicBegin;
                let may_err = match kind {
                    ActionKind::Error(_) => true,
                    ActionKind::Rmw { update, .. } => matches!(update, Update::Fetch(..)),
                    _ => false,
                };
                entry.set(Flags::MAY_ERR, may_err);
                entry.actions += 1;
                memory
                    .steps
                    .add_action(kind.location().filter(|_| kind.reads()));
                memory.actions.push(RememberedAction {
                    action: Action {
                        kind,
                        transition: index as u32,
                    },
                    resumes: ByNumber::default(),
                });
            }
            entry.set(Flags::ACTS, entry.actions > 0);
            let bound = Flags::MAY_CLOSE_LOOP.or(Flags::VISIBLE);
            if !entry.flags.has(bound) && !enters_block {
                entry.set(Flags::MAY_BE_REDUCED, true);
                let meets_all = threads.meets_all(code, next);
                entry.set(Flags::REDUCIBLE_AMONG_ALL, !meets_all);
            }
        } else {
            // A thread that stopped inside `atomic` keeps all others out for good: where it stopped is remembered as its only value.
            entry.set(Flags::STOPPED, true);
            let table = read(&threads.codes[code].locals);
            entry.set(Flags::ATOMIC, table.get(local).1 == [1]);
        }
        let index = entry.index;
        memory.locals.push(entry);
        memory.footprints.push(Footprints { next, future });
        if memory.known.len() <= local.0 as usize {
            memory.known.resize(local.0 as usize + 1, 0);
        }
        memory.known[local.0 as usize] = index + 1;
        self.full |= memory.is_full();
        entry
    }

    #[cold]
    fn find_resume(
        &mut self,
        code: usize,
        local: LocalId,
        action_index: usize,
        value: Value,
    ) -> (u32, u32) {
        let found = self.successors(code, local, action_index, value);
        let memory = &mut self.memories[code];
        let range = memory.keep(&found);
        memory.actions[action_index].resumes.insert(value, range);
        self.full |= memory.is_full();
        self.scratch.found = found;
        range
    }

    /// Where the thread can be after an action that read `value`; to be given back to `scratch.found`.
    fn successors(
        &mut self,
        code: usize,
        local: LocalId,
        action_index: usize,
        value: Value,
    ) -> Vec<LocalId> {
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
                    if let Some(register) = op.target() {
                        registers[register.index()] = value;
                    }
                }
            }
            self.settle(code, transition.to, registers.clone(), &mut found);
        }
        self.registers = registers;
        found
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
                        if let Some(register) = op.target() {
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
