//! Threads on one memory: sequential consistency, as steps from row to row.
//!
//! A row is a state: for each running thread its control point and its registers, in the order of the text, and then the value of each location.

use crate::value::{Wrong, binary, reduce, value};
use palisade_lang::{
    Address, Copies, Expr, LabelRef, Never, Op, Order, PointId, Program, RegisterId, Relation,
    RmwAction, StateAtom, Thread, Value,
};

/// A running thread.
pub struct Running<'p> {
    /// Which of the program's threads it is a copy of, and which copy.
    index: usize,
    copy: u32,
    pub code: &'p Thread,
    /// Its control point in a row; its registers are behind it.
    pub at: usize,
    /// By control point: the instructions that begin there.
    from: Vec<Vec<usize>>,
    /// By control point: the registers whose values still matter there.
    live: Vec<Vec<bool>>,
}

/// What a step does besides going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Local,
    Load,
    Store { seqcst: bool },
    Update,
    Fence,
    Begin,
    End,
    Wrong,
}

/// A step that a thread can make.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub effect: Effect,
    pub location: Option<usize>,
    pub written: Option<Value>,
    /// Whether it is a read-modify-write, even one that fails, or inside a block.
    pub locked: bool,
    set: Option<(RegisterId, Value)>,
    to: PointId,
}

/// A program's threads on one memory.
pub struct Machine<'p> {
    pub program: &'p Program,
    pub threads: Vec<Running<'p>>,
    /// Where memory begins in a row, and where it ends.
    pub memory: usize,
    pub width: usize,
}

impl<'p> Machine<'p> {
    /// `nevers`: what a `never` says about registers matters.
    pub fn new(program: &'p Program, nevers: bool) -> Self {
        let mut threads = Vec::new();
        let mut at = 0;
        for (index, code) in program.threads.iter().enumerate() {
            let copies = match code.copies {
                Copies::One => 1,
                Copies::Fixed(copies) => copies,
                Copies::Any => 0,
            };
            let always = match nevers {
                true => read_by_nevers(program, index),
                false => vec![false; code.registers.len()],
            };
            for copy in 0..copies {
                let mut from = vec![Vec::new(); code.points.len()];
                for (number, transition) in code.transitions.iter().enumerate() {
                    from[transition.from.index()].push(number);
                }
                threads.push(Running {
                    index,
                    copy,
                    code,
                    at,
                    from,
                    live: live(code, &always),
                });
                at += 1 + code.registers.len();
            }
        }
        Machine {
            program,
            threads,
            memory: at,
            width: at + program.locations.len(),
        }
    }

    /// The state at the beginning.
    pub fn initial(&self) -> Vec<Value> {
        let mut row = vec![0; self.width];
        for thread in &self.threads {
            row[thread.at] = thread.behind_jumps(thread.code.initial).0.into();
            if let Some(me) = thread.code.me {
                row[thread.at + 1 + me.index()] = thread.copy.into();
            }
        }
        for (index, location) in self.program.locations.iter().enumerate() {
            row[self.memory + index] = reduce(self.program.domain, location.initial);
        }
        row
    }

    /// Whether the numbers of a thread are a place where it can stand.
    pub fn stands(&self, row: &[Value], thread: usize) -> bool {
        let thread = &self.threads[thread];
        let point = u32::try_from(row[thread.at]).map(PointId);
        point.is_ok_and(|p| p.index() < thread.from.len() && thread.behind_jumps(p) == p)
    }

    fn point(&self, row: &[Value], thread: usize) -> PointId {
        PointId(row[self.threads[thread].at] as u32)
    }

    /// Whether the thread is inside an `atomic` block.
    pub fn in_block(&self, row: &[Value], thread: usize) -> bool {
        let point = self.point(row, thread).index();
        self.threads[thread].code.points[point].atomic
    }

    /// The thread that is inside a block, while no other thread moves.
    pub fn holder(&self, row: &[Value]) -> Option<usize> {
        (0..self.threads.len()).find(|&t| self.in_block(row, t))
    }

    /// Which threads may move.
    pub fn movers(&self, row: &[Value]) -> Vec<usize> {
        match self.holder(row) {
            Some(holder) => vec![holder],
            None => (0..self.threads.len()).collect(),
        }
    }

    /// The steps of a thread that no block of another one hinders, where `read` says what a location holds for it.
    pub fn steps(&self, row: &[Value], thread: usize, read: &dyn Fn(usize) -> Value) -> Vec<Step> {
        let running = &self.threads[thread];
        let point = self.point(row, thread);
        let inside = self.in_block(row, thread);
        let instructions = running.from[point.index()].iter();
        instructions
            .filter_map(|&number| {
                let transition = &running.code.transitions[number];
                let mut step = Step {
                    effect: Effect::Local,
                    location: None,
                    written: None,
                    locked: inside || matches!(transition.op, Op::Rmw { .. }),
                    set: None,
                    to: running.behind_jumps(transition.to),
                };
                let registers = &row[running.at + 1..];
                match self.execute(&transition.op, registers, read, &mut step) {
                    Ok(true) => Some(step),
                    Ok(false) => None,
                    Err(Wrong) => Some(Step {
                        effect: Effect::Wrong,
                        location: None,
                        written: None,
                        ..step
                    }),
                }
            })
            .collect()
    }

    /// What an instruction does; `false` where it has to wait.
    fn execute(
        &self,
        op: &Op,
        registers: &[Value],
        read: &dyn Fn(usize) -> Value,
        step: &mut Step,
    ) -> Result<bool, Wrong> {
        let domain = self.program.domain;
        let eval = |e: &Expr<RegisterId>| value(e, domain, &|r| Ok(registers[r.index()]));
        match op {
            Op::Skip | Op::Jump => {}
            Op::Fence(order) if *order != Order::SeqCst => {}
            Op::Fence(_) => step.effect = Effect::Fence,
            Op::AtomicBegin => step.effect = Effect::Begin,
            Op::AtomicEnd => step.effect = Effect::End,
            Op::Assign(register, e) => step.set = Some((*register, reduce(domain, eval(e)?))),
            Op::Assume(e) => return Ok(eval(e)? != 0),
            Op::Assert(e) => {
                if eval(e)? == 0 {
                    return Err(Wrong);
                }
            }
            Op::Load {
                register,
                address,
                order,
            } => {
                let plain = matches!(order, Order::Acquire | Order::NonAtomic);
                let location = self.locate(address, &eval, plain)?;
                step.effect = Effect::Load;
                step.location = Some(location);
                step.set = Some((*register, read(location)));
            }
            Op::Wait {
                register,
                address,
                relation,
                value: right,
                ..
            } => {
                let location = self.locate(address, &eval, false)?;
                let (left, right) = (read(location), eval(right)?);
                step.effect = Effect::Load;
                step.location = Some(location);
                step.set = register.map(|r| (r, left));
                return Ok(match relation {
                    Relation::Equal => left == right,
                    Relation::NotEqual => left != right,
                    Relation::Less => left < right,
                    Relation::LessEqual => left <= right,
                    Relation::Greater => left > right,
                    Relation::GreaterEqual => left >= right,
                });
            }
            Op::Store {
                address,
                value: stored,
                order,
            } => {
                let plain = matches!(order, Order::Release | Order::NonAtomic);
                step.location = Some(self.locate(address, &eval, plain)?);
                step.written = Some(reduce(domain, eval(stored)?));
                step.effect = Effect::Store {
                    seqcst: *order == Order::SeqCst,
                };
            }
            Op::Rmw {
                register,
                address,
                action,
                ..
            } => {
                let location = self.locate(address, &eval, false)?;
                let old = read(location);
                step.location = Some(location);
                step.set = register.map(|r| (r, old));
                step.written = match action {
                    RmwAction::CompareAndSwap {
                        expected, desired, ..
                    } => {
                        let (expected, desired) = (eval(expected)?, eval(desired)?);
                        (old == expected).then(|| reduce(domain, desired))
                    }
                    RmwAction::BlockingCompareAndSwap { expected, desired } => {
                        let (expected, desired) = (eval(expected)?, eval(desired)?);
                        if old != expected {
                            return Ok(false);
                        }
                        Some(reduce(domain, desired))
                    }
                    RmwAction::Fetch(op, operand) => {
                        Some(binary(*op, domain, old, eval(operand)?)?)
                    }
                    RmwAction::Exchange(new) => Some(reduce(domain, eval(new)?)),
                };
                step.effect = match step.written {
                    Some(_) => Effect::Update,
                    None => Effect::Load,
                };
            }
        }
        Ok(true)
    }

    /// The location that an address means. A `nonatomic` one takes plain accesses only.
    fn locate<A>(
        &self,
        address: &Address<A>,
        eval: &dyn Fn(&Expr<A>) -> Result<Value, Wrong>,
        plain: bool,
    ) -> Result<usize, Wrong> {
        let locations = &self.program.locations;
        let found = match address {
            Address::Direct(location) => location.index(),
            Address::Element {
                first,
                length,
                index,
            } => {
                let index = eval(index)?;
                if !(0..Value::from(*length)).contains(&index) {
                    return Err(Wrong);
                }
                first.index() + index as usize
            }
            Address::Pointer(pointer) => {
                let address = eval(pointer)?;
                let found = locations.binary_search_by_key(&address, |l| l.address);
                found.map_err(|_| Wrong)?
            }
        };
        match locations[found].nonatomic && !plain {
            true => Err(Wrong),
            false => Ok(found),
        }
    }

    /// The row behind a step, with what it writes in memory.
    pub fn after(&self, row: &[Value], thread: usize, step: &Step) -> Vec<Value> {
        let mut row = self.after_issue(row, thread, step);
        if let (Some(location), Some(written)) = (step.location, step.written) {
            row[self.memory + location] = written;
        }
        row
    }

    /// The same, where what it writes stays in a buffer.
    pub fn after_issue(&self, row: &[Value], thread: usize, step: &Step) -> Vec<Value> {
        let at = self.threads[thread].at;
        let mut row = row.to_vec();
        row[at] = step.to.0.into();
        if let Some((register, value)) = step.set {
            row[at + 1 + register.index()] = value;
        }
        row
    }

    /// Sets registers that do not matter any more to 0.
    pub fn forget(&self, row: &mut [Value]) {
        for thread in &self.threads {
            if let Ok(point) = usize::try_from(row[thread.at]) {
                for (register, live) in thread.live[point].iter().enumerate() {
                    if !live {
                        row[thread.at + 1 + register] = 0;
                    }
                }
            }
        }
    }

    /// Whether a `never` is true. One that runs into an error is not.
    pub fn is_forbidden(&self, row: &[Value]) -> bool {
        let conditions = |never: &'p Never| never.conditions.iter();
        let mut all = self.program.nevers.iter().flat_map(conditions);
        all.any(|condition| self.state_value(condition, row).is_ok_and(|v| v != 0))
    }

    fn state_value(&self, condition: &Expr<StateAtom>, row: &[Value]) -> Result<Value, Wrong> {
        value(condition, self.program.domain, &|atom| {
            let copies = |thread: usize, copy: Option<u32>| {
                let all = self.threads.iter().enumerate();
                all.filter(move |(_, t)| t.index == thread && copy.is_none_or(|c| c == t.copy))
            };
            Ok(match atom {
                StateAtom::At(of, label) => {
                    let is_there = |(t, running): (usize, &Running<'_>)| {
                        let point = self.point(row, t);
                        match label {
                            LabelRef::End => running.from[point.index()].is_empty(),
                            LabelRef::Label(label) => {
                                running.code.labels[label.index()].points.contains(&point)
                            }
                        }
                    };
                    copies(of.thread.index(), of.copy).any(is_there).into()
                }
                StateAtom::Register(of, register) => copies(of.thread.index(), of.copy)
                    .next()
                    .map_or(0, |(_, t)| row[t.at + 1 + register.index()]),
                StateAtom::Memory(address) => {
                    let location = self.locate(
                        address,
                        &|e: &Expr<StateAtom>| self.state_value(e, row),
                        true,
                    )?;
                    row[self.memory + location]
                }
                // Programs that speak of it are not judged here.
                StateAtom::Deadlock => return Err(Wrong),
            })
        })
    }
}

impl Running<'_> {
    /// Where a thread that comes to a point really stands. (A circle of jumps alone is none that a parser makes.)
    fn behind_jumps(&self, mut point: PointId) -> PointId {
        for _ in 0..self.from.len() {
            match self.from[point.index()][..] {
                [only] if matches!(self.code.transitions[only].op, Op::Jump) => {
                    point = self.code.transitions[only].to;
                }
                _ => break,
            }
        }
        point
    }
}

/// By control point which registers matter: one does if it always does, or if some way from there reads it before it is set.
fn live(code: &Thread, always: &[bool]) -> Vec<Vec<bool>> {
    let mut live = vec![always.to_vec(); code.points.len()];
    loop {
        let before = live.clone();
        for transition in code.transitions.iter().rev() {
            let mut needed = live[transition.to.index()].clone();
            if let Some(set) = is_set_by(&transition.op) {
                needed[set.index()] = always[set.index()];
            }
            for expr in read_by(&transition.op) {
                for_each_atom(expr, &mut |register: &RegisterId| {
                    needed[register.index()] = true
                });
            }
            let here = &mut live[transition.from.index()];
            for (live, needed) in here.iter_mut().zip(needed) {
                *live |= needed;
            }
        }
        if live == before {
            return live;
        }
    }
}

fn is_set_by(op: &Op) -> Option<RegisterId> {
    match op {
        Op::Assign(register, _) | Op::Load { register, .. } => Some(*register),
        Op::Rmw { register, .. } | Op::Wait { register, .. } => *register,
        _ => None,
    }
}

/// The expressions of an instruction.
fn read_by(op: &Op) -> Vec<&Expr<RegisterId>> {
    let (address, mut exprs) = match op {
        Op::Assign(_, e) | Op::Assume(e) | Op::Assert(e) => (None, vec![e]),
        Op::Load { address, .. } => (Some(address), vec![]),
        Op::Store { address, value, .. } | Op::Wait { address, value, .. } => {
            (Some(address), vec![value])
        }
        Op::Rmw {
            address, action, ..
        } => match action {
            RmwAction::CompareAndSwap {
                expected, desired, ..
            }
            | RmwAction::BlockingCompareAndSwap { expected, desired } => {
                (Some(address), vec![expected, desired])
            }
            RmwAction::Fetch(_, e) | RmwAction::Exchange(e) => (Some(address), vec![e]),
        },
        Op::Skip | Op::Jump | Op::Fence(_) | Op::AtomicBegin | Op::AtomicEnd => (None, vec![]),
    };
    match address {
        Some(Address::Element { index, .. }) => exprs.push(index),
        Some(Address::Pointer(pointer)) => exprs.push(pointer),
        Some(Address::Direct(_)) | None => {}
    }
    exprs
}

/// Which registers of a thread some `never` reads.
fn read_by_nevers(program: &Program, thread: usize) -> Vec<bool> {
    let mut read = vec![false; program.threads[thread].registers.len()];
    for condition in program.nevers.iter().flat_map(|never| &never.conditions) {
        for_each_state_atom(condition, &mut |atom| match atom {
            StateAtom::Register(of, register) if of.thread.index() == thread => {
                read[register.index()] = true;
            }
            _ => {}
        });
    }
    read
}

/// Whether a `never` speaks of deadlocks.
pub fn mentions_deadlock(program: &Program) -> bool {
    let mut found = false;
    for condition in program.nevers.iter().flat_map(|never| &never.conditions) {
        for_each_state_atom(condition, &mut |atom| {
            found |= matches!(atom, StateAtom::Deadlock)
        });
    }
    found
}

/// Atoms of a condition, also those in addresses.
fn for_each_state_atom(condition: &Expr<StateAtom>, visit: &mut dyn FnMut(&StateAtom)) {
    for_each_atom(condition, &mut |atom: &StateAtom| {
        visit(atom);
        if let StateAtom::Memory(address) = atom {
            match &**address {
                Address::Element { index: e, .. } | Address::Pointer(e) => {
                    for_each_state_atom(e, visit);
                }
                Address::Direct(_) => {}
            }
        }
    });
}

fn for_each_atom<A>(expr: &Expr<A>, visit: &mut dyn FnMut(&A)) {
    match expr {
        Expr::Const(_) => {}
        Expr::Atom(atom) => visit(atom),
        Expr::Unary(_, e) | Expr::Element { index: e, .. } => for_each_atom(e, visit),
        Expr::Binary(_, left, right) => {
            for_each_atom(left, visit);
            for_each_atom(right, visit);
        }
    }
}
