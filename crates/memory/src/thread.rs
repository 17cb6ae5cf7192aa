//! The part of every machine that is the same in all models: what a copy of a thread knows by itself, and what its next instruction asks of
//! memory.

use palisade_lang::{
    Address, BinaryOp, Instance, LocationId, Op, Order, PointId, Program, ProgramError,
    RegisterExpr, RegisterId, Relation, RmwAction, StateAtom, Thread, Transition, Value,
};
use std::sync::OnceLock;

use crate::waiting::live_registers;

/// What one copy of a thread knows by itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Local {
    /// Where it stands: always behind jumps.
    pub point: PointId,
    /// Its registers.
    pub registers: Vec<Value>,
    /// Whether a failed assertion or another program error has stopped it. It then stands before the instruction that failed.
    pub stopped: bool,
}

/// The running copies of a program's threads.
#[derive(Clone, Debug)]
pub struct Code<'p> {
    /// The program.
    pub program: &'p Program,
    /// Its running copies. Everywhere in the machines a thread is an index into this list.
    pub instances: Vec<Instance>,
    /// By code: see [`Code::live_registers`].
    live: OnceLock<Vec<Vec<Vec<bool>>>>,
}

/// What an instruction asks of memory, its operands evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Nothing: this is the thread afterwards.
    Local(Local),
    /// It cannot go on: an `assume` whose condition is false.
    Blocked,
    /// A load; a `wait` has a condition.
    Load {
        /// From here …
        location: LocationId,
        /// … into this register …
        register: Option<RegisterId>,
        /// … once the value is in this relation to that value.
        condition: Option<(Relation, Value)>,
    },
    /// A store.
    Store {
        /// To here.
        location: LocationId,
        /// This value, taken into the domain.
        value: Value,
        /// Whether its order is `seqcst`.
        seqcst: bool,
    },
    /// A read-modify-write.
    Rmw {
        /// Of this location.
        location: LocationId,
        /// Gets the value read.
        register: Option<RegisterId>,
        /// What is done.
        action: Action,
    },
    /// `fence` (weaker fences are local).
    Fence,
    /// The beginning of an `atomic` block.
    AtomicBegin,
    /// The end of an `atomic` block.
    AtomicEnd,
}

/// A read-modify-write with its operands evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// `cas`
    CompareAndSwap {
        /// What must be there.
        expected: Value,
        /// What is written.
        desired: Value,
    },
    /// `bcas`
    BlockingCompareAndSwap {
        /// What must be there.
        expected: Value,
        /// What is written.
        desired: Value,
    },
    /// `fadd` and relatives.
    Fetch(BinaryOp, Value),
    /// `xchg`
    Exchange(Value),
}

/// What a read-modify-write does with a value that it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Writes this value.
    Writes(Value),
    /// Writes nothing: a `cas` that fails is a load.
    Loads,
    /// Waits: a `bcas` that does not find what it expects.
    Waits,
    /// The operation itself goes wrong.
    Fails(ProgramError),
}

impl<'p> Code<'p> {
    /// The running copies of a program.
    pub fn new(program: &'p Program) -> Self {
        Code {
            program,
            instances: program.instances(),
            live: OnceLock::new(),
        }
    }

    /// By code, by control point, by register: whether its value is still read, or a `never` reads it.
    pub fn live_registers(&self) -> &[Vec<Vec<bool>>] {
        self.live.get_or_init(|| {
            let threads = self.program.threads.iter().enumerate();
            threads
                .map(|(index, thread)| {
                    let mut always = vec![false; thread.registers.len()];
                    for never in &self.program.nevers {
                        never.for_each_atom(&mut |atom| match atom {
                            StateAtom::Register(copy, register) if copy.thread.index() == index => {
                                always[register.index()] = true;
                            }
                            _ => {}
                        });
                    }
                    live_registers(thread, &always)
                })
                .collect()
        })
    }

    /// The code of a running copy.
    pub fn thread(&self, thread: usize) -> &'p Thread {
        self.program.thread(self.instances[thread].thread)
    }

    /// All threads at the beginning.
    pub fn initial_locals(&self) -> Vec<Local> {
        (0..self.instances.len())
            .map(|index| {
                let thread = self.thread(index);
                let mut registers = vec![0; thread.registers.len()];
                if let Some(me) = thread.me {
                    registers[me.index()] = Value::from(self.instances[index].copy);
                }
                Local {
                    point: thread.behind_jumps(thread.initial),
                    registers,
                    stopped: false,
                }
            })
            .collect()
    }

    /// Memory at the beginning.
    pub fn initial_memory(&self) -> Vec<Value> {
        let domain = self.program.domain;
        self.program
            .locations
            .iter()
            .map(|l| domain.reduce(l.initial))
            .collect()
    }

    /// The thread that stands inside an `atomic` block, if one does: no other thread moves then.
    pub fn holder(&self, locals: &[Local]) -> Option<usize> {
        (0..locals.len()).find(|&t| self.in_block(t, &locals[t]))
    }

    /// Whether the thread stands inside an `atomic` block.
    pub fn in_block(&self, thread: usize, local: &Local) -> bool {
        self.thread(thread).points[local.point.index()].atomic
    }

    /// Whether the thread has come to its end.
    pub fn has_ended(&self, thread: usize, local: &Local) -> bool {
        !local.stopped && self.thread(thread).is_end(local.point)
    }

    /// The instructions that the thread could execute next, with their indices in [`Thread::transitions`].
    pub fn next(
        &self,
        thread: usize,
        local: &Local,
    ) -> impl Iterator<Item = (usize, &'p Transition)> + use<'p> {
        let code = self.thread(thread);
        let transitions: &'p [Transition] = if local.stopped {
            &[]
        } else {
            code.outgoing(local.point)
        };
        let first = code.transitions.partition_point(|t| t.from < local.point);
        transitions
            .iter()
            .enumerate()
            .map(move |(i, t)| (first + i, t))
    }

    /// What an instruction asks of memory. Addresses come before other operands.
    pub fn request(
        &self,
        thread: usize,
        local: &Local,
        transition: &Transition,
    ) -> Result<Request, ProgramError> {
        let domain = self.program.domain;
        let eval =
            |e: &RegisterExpr| e.eval(domain, &mut |r: &RegisterId| Ok(local.registers[r.index()]));
        let goes_on = || Request::Local(self.after(thread, local, transition, None));
        Ok(match &transition.op {
            Op::Skip | Op::Jump => goes_on(),
            Op::Assign(register, value) => {
                let value = domain.reduce(eval(value)?);
                Request::Local(self.after(thread, local, transition, Some((*register, value))))
            }
            Op::Assume(condition) => {
                if eval(condition)? != 0 {
                    goes_on()
                } else {
                    Request::Blocked
                }
            }
            Op::Assert(condition) => {
                if eval(condition)? == 0 {
                    return Err(ProgramError::AssertionFailed);
                }
                goes_on()
            }
            Op::Load {
                register, address, ..
            } => Request::Load {
                location: self.plain(self.locate(local, address)?, transition.op.is_plain())?,
                register: Some(*register),
                condition: None,
            },
            Op::Store {
                address,
                value,
                order,
            } => {
                let location = self.locate(local, address)?;
                let value = domain.reduce(eval(value)?);
                Request::Store {
                    location: self.plain(location, transition.op.is_plain())?,
                    value,
                    seqcst: *order == Order::SeqCst,
                }
            }
            Op::Rmw {
                register,
                address,
                action,
                ..
            } => {
                let location = self.locate(local, address)?;
                let action = match action {
                    RmwAction::CompareAndSwap {
                        expected, desired, ..
                    } => Action::CompareAndSwap {
                        expected: eval(expected)?,
                        desired: domain.reduce(eval(desired)?),
                    },
                    RmwAction::BlockingCompareAndSwap { expected, desired } => {
                        Action::BlockingCompareAndSwap {
                            expected: eval(expected)?,
                            desired: domain.reduce(eval(desired)?),
                        }
                    }
                    RmwAction::Fetch(op, operand) => Action::Fetch(*op, eval(operand)?),
                    RmwAction::Exchange(value) => Action::Exchange(domain.reduce(eval(value)?)),
                };
                Request::Rmw {
                    location: self.plain(location, false)?,
                    register: *register,
                    action,
                }
            }
            Op::Wait {
                register,
                address,
                relation,
                value,
                ..
            } => {
                let location = self.locate(local, address)?;
                let value = eval(value)?;
                Request::Load {
                    location: self.plain(location, false)?,
                    register: *register,
                    condition: Some((*relation, value)),
                }
            }
            Op::Fence(Order::SeqCst) => Request::Fence,
            Op::Fence(_) => goes_on(),
            Op::AtomicBegin => Request::AtomicBegin,
            Op::AtomicEnd => Request::AtomicEnd,
        })
    }

    /// The location that an address means.
    fn locate(
        &self,
        local: &Local,
        address: &Address<RegisterId>,
    ) -> Result<LocationId, ProgramError> {
        address.locate(self.program, |e| {
            e.eval(self.program.domain, &mut |r: &RegisterId| {
                Ok(local.registers[r.index()])
            })
        })
    }

    /// `nonatomic` locations take plain accesses only.
    fn plain(&self, location: LocationId, is_plain: bool) -> Result<LocationId, ProgramError> {
        let target = self.program.location(location);
        if target.nonatomic && !is_plain {
            return Err(ProgramError::AtomicAccessToNonatomic(target.address));
        }
        Ok(location)
    }

    /// The thread behind an instruction, with a register set.
    pub fn after(
        &self,
        thread: usize,
        local: &Local,
        transition: &Transition,
        set: Option<(RegisterId, Value)>,
    ) -> Local {
        let mut local = local.clone();
        local.point = self.thread(thread).behind_jumps(transition.to);
        if let Some((register, value)) = set {
            local.registers[register.index()] = value;
        }
        local
    }

    /// What a read-modify-write does with the value `old`.
    pub fn outcome(&self, action: Action, old: Value) -> Outcome {
        match action {
            Action::CompareAndSwap { expected, desired } => {
                if old == expected {
                    Outcome::Writes(desired)
                } else {
                    Outcome::Loads
                }
            }
            Action::BlockingCompareAndSwap { expected, desired } => {
                if old == expected {
                    Outcome::Writes(desired)
                } else {
                    Outcome::Waits
                }
            }
            Action::Fetch(op, operand) => match self.program.domain.binary(op, old, operand) {
                Ok(new) => Outcome::Writes(new),
                Err(error) => Outcome::Fails(error),
            },
            Action::Exchange(new) => Outcome::Writes(new),
        }
    }

    /// Whether a thread may write now, if its next access is to a location with this value.
    pub fn may_write(&self, thread: usize, local: &Local, value: Value) -> bool {
        self.next(thread, local).any(|(_, transition)| {
            match self.request(thread, local, transition) {
                Ok(Request::Store { .. }) => true,
                Ok(Request::Rmw { action, .. }) => {
                    matches!(self.outcome(action, value), Outcome::Writes(_))
                }
                _ => false,
            }
        })
    }
}
