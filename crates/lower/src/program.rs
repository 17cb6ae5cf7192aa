//! From a [`Unit`] to a [`Program`]: its threads one after the other.

use crate::code::Code;
use crate::escape;
use crate::memory::Memory;
use crate::shape::Shape;
use crate::start::{self, Visible};
use crate::tidy;
use crate::unit::{Action, Cell, FunctionId, Storage, Unit};
use palisade_lang::build::ThreadBuilder;
use palisade_lang::program::Bound;
use palisade_lang::{
    Address, Diagnostic, Domain, Expr, LabelId, LocationId, Op, Order, Parsed, Place, PlaceId,
    PointId, Program, RegisterExpr, RegisterId, Relation, RmwAction, Span, Thread, ThreadId, UNSET,
    Value, block_state,
};
use std::collections::HashMap;

/// More points are not made: the program is refused.
pub const MOST_POINTS: usize = 400_000;
/// The first thread's handle: none that another thread has.
pub const MAIN_HANDLE: Value = 1 << 40;
/// The handles of threads of which there is any number, which have one together.
pub const CLIENT_HANDLE: Value = 1 << 41;
/// Nor more threads.
const MOST_THREADS: usize = 64;

/// A thread that is created somewhere.
pub struct Instance {
    /// Where it begins.
    pub function: FunctionId,
    /// Its arguments: constants, or the number of the location that holds it.
    pub arguments: Vec<Expr<ArgumentCell>>,
    /// The location that its creator sets to 1, unless it is there from the beginning.
    pub start: Option<Value>,
    /// The location that it sets to 1 at its end, where threads are ever waited for.
    pub done: Value,
    /// Where it is created.
    pub span: Span,
}

/// The address of a location that holds an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentCell(pub Value);

/// A place where memory is taken: blocks that were given back, whichever they are, can be had here.
pub struct Allocation {
    pub thread: usize,
    pub from: PointId,
    pub to: PointId,
    pub register: RegisterId,
    pub cells: u32,
    pub span: Span,
}

/// The work so far.
pub struct Lowering<'u> {
    pub unit: &'u Unit,
    pub memory: Memory,
    pub shapes: Vec<Shape>,
    pub instances: Vec<Instance>,
    /// Threads of which there is any number.
    pub clients: Vec<Instance>,
    pub places: Vec<Place>,
    pub place_of: HashMap<Span, PlaceId>,
    pub bounds: Vec<Bound>,
    pub allocations: Vec<Allocation>,
    pub errors: Vec<Diagnostic>,
    /// Whether threads are waited for, and whether their results are used.
    pub joins: bool,
    pub results: bool,
    pub points: usize,
    /// Which variables of each function may be known elsewhere.
    pub escaping: Vec<Vec<bool>>,
    /// Whether there is memory that begins without a value, or can go …
    pub loose: bool,
    /// … and whether any goes.
    pub vanishes: bool,
}

/// Makes a program.
pub fn lower(unit: &Unit) -> Result<Parsed, Vec<Diagnostic>> {
    let actions = || {
        let blocks = unit.functions.iter().flat_map(|f| &f.blocks);
        blocks.flat_map(|b| &b.steps).map(|s| &s.action)
    };
    let frees = actions().any(|action| matches!(action, Action::Free(_)));
    let escaping = escape::of(unit);
    let allocates = actions().any(|action| {
        matches!(
            action,
            Action::Allocate { .. } | Action::AllocateArray { .. }
        )
    });
    let locals = unit.functions.iter().flat_map(|f| &f.locals);
    let variables = locals.filter(|l| matches!(l.storage, Storage::Memory(_)));
    let mut lowering = Lowering {
        loose: allocates || variables.count() > 0,
        vanishes: frees || escaping.iter().flatten().any(|escapes| *escapes),
        escaping,
        unit,
        memory: Memory::new(unit, frees),
        shapes: unit.functions.iter().map(Shape::of).collect(),
        instances: Vec::new(),
        clients: Vec::new(),
        places: Vec::new(),
        place_of: HashMap::new(),
        bounds: Vec::new(),
        allocations: Vec::new(),
        errors: Vec::new(),
        joins: actions().any(|action| matches!(action, Action::Join { .. })),
        results: actions().any(|action| matches!(action, Action::Join { to: Some(_), .. })),
        points: 0,
    };
    let mut beginning = start::run(&mut lowering);
    let mut threads = Vec::new();
    let mut created = 0;
    if !Code::does_something(&lowering, &beginning.frames) {
        beginning.frames.clear();
        // That it waits at its end is not noticed by others.
        while let Some(last) = beginning.visible.last()
            && !matches!(last, Visible::Step(Op::Store { .. }, _))
        {
            beginning.visible.pop();
        }
    }
    if !beginning.frames.is_empty() || !beginning.visible.is_empty() {
        let name = unit.functions[unit.entry.index()].name.clone();
        let code = Code::new(&mut lowering, ThreadId(0), &name, unit.entry);
        threads.push(code.rest_of(&beginning));
    }
    while created < lowering.instances.len() && lowering.errors.is_empty() {
        if lowering.instances.len() > MOST_THREADS {
            let span = lowering.instances[created].span;
            let message = format!("more than {MOST_THREADS} threads are created");
            lowering.errors.push(Diagnostic::error(span, message));
            break;
        }
        let name = lowering.instance_name(created);
        let function = lowering.instances[created].function;
        let id = ThreadId(threads.len() as u32);
        let code = Code::new(&mut lowering, id, &name, function);
        threads.push(code.instance(created));
        created += 1;
    }
    for index in 0..lowering.clients.len() {
        let (function, span) = (
            lowering.clients[index].function,
            lowering.clients[index].span,
        );
        let name = unit.functions[function.index()].name.clone();
        let id = ThreadId(threads.len() as u32);
        let before = lowering.memory.locations.len();
        let code = Code::new(&mut lowering, id, &name, function);
        threads.push(code.client(index));
        if let Some(own) = lowering.memory.locations.get(before) {
            let message = format!(
                "of this thread there is any number, so it can have no memory of its own, such as `{}`",
                own.name
            );
            lowering.errors.push(Diagnostic::error(span, message));
        }
    }
    // Numbers that wrap around may make no difference; the search finds out.
    let mut limits = lowering.bounds.iter().filter(|b| b.message != Bound::WRAPS);
    if let (false, Some(bound)) = (lowering.clients.is_empty(), limits.next()) {
        let message = format!(
            "with any number of threads it is not known whether a limit is met: {}",
            bound.message
        );
        let error = Diagnostic::error(bound.span, message);
        lowering.errors.push(error);
    }
    if !lowering.errors.is_empty() {
        return Err(lowering.errors);
    }
    lowering.reuse_blocks(&mut threads);
    let threads: Vec<Thread> = threads.into_iter().map(ThreadBuilder::finish).collect();
    let mut program = Program {
        name: unit.name.clone(),
        source: unit.source.clone(),
        language: unit.language,
        domain: Domain::FULL,
        locations: lowering.memory.locations,
        threads,
        nevers: Vec::new(),
        places: lowering.places,
        bounds: lowering.bounds,
        faults: Vec::new(),
    };
    tidy::tidy(&mut program);
    Ok(Parsed {
        program,
        warnings: Vec::new(),
    })
}

impl Lowering<'_> {
    /// A thread that is created; its handle.
    pub fn add_instance(&mut self, mut instance: Instance) -> Value {
        let name = self.unit.functions[instance.function.index()].name.clone();
        let span = instance.span;
        let handle = match self.joins {
            true => {
                let number = self.instances.len() + 1;
                // One object: the result is found behind the end, however far objects are apart.
                let mut cells = vec![Cell::new(format!("end of {name}#{number}"))];
                if self.results {
                    cells.push(Cell::new(format!("result of {name}#{number}")));
                }
                self.memory.add("", &cells, span)
            }
            false => self.instances.len() as Value + 1,
        };
        instance.done = handle;
        self.instances.push(instance);
        handle
    }

    /// The function's name, with a number where it is created more than once.
    fn instance_name(&self, index: usize) -> String {
        let function = self.instances[index].function;
        let name = &self.unit.functions[function.index()].name;
        let same = |i: &&Instance| i.function == function;
        match self.instances.iter().filter(same).count() {
            1 => name.clone(),
            _ => {
                let before = self.instances[..index].iter().filter(same).count();
                format!("{name}[{before}]")
            }
        }
    }

    /// A thread that arrives here goes beyond what is followed.
    pub fn bound(&mut self, thread: ThreadId, label: LabelId, message: String, span: Span) {
        match self.bounds.iter_mut().find(|b| b.message == message) {
            Some(bound) => bound.at.push((thread, label)),
            None => self.bounds.push(Bound {
                message,
                at: vec![(thread, label)],
                span,
            }),
        }
    }

    /// Wherever memory is taken, any block of that size that was given back can be had.
    fn reuse_blocks(&mut self, threads: &mut [ThreadBuilder]) {
        if !self.memory.frees {
            return;
        }
        for allocation in &self.allocations {
            let thread = &mut threads[allocation.thread];
            for block in &self.memory.heap {
                if block.cells != allocation.cells {
                    continue;
                }
                let Some(state) = self.memory.at(block.address - self.memory.stride) else {
                    continue;
                };
                let taken = thread.point(allocation.span);
                let in_use = block_state::in_use(block.cells);
                let take = Op::Rmw {
                    register: None,
                    address: Address::Direct(state),
                    action: RmwAction::BlockingCompareAndSwap {
                        expected: Expr::Const(in_use + block_state::GIVEN_BACK),
                        desired: Expr::Const(in_use),
                    },
                    order: Order::Acquire,
                };
                thread.edge(allocation.from, taken, take, allocation.span);
                // Whatever it held before is not there any more.
                let mut at = taken;
                for cell in 0..block.cells as usize {
                    let Some(location) = self.memory.at(block.address) else {
                        continue;
                    };
                    let unset = Op::Store {
                        address: Address::Direct(LocationId(location.0 + cell as u32)),
                        value: Expr::Const(UNSET),
                        order: Order::NonAtomic,
                    };
                    at = thread.step(at, unset, allocation.span);
                }
                let address = Op::Assign(allocation.register, Expr::Const(block.address));
                thread.edge(at, allocation.to, address, allocation.span);
            }
        }
    }
}

/// Waits until the location holds 1: the start or the end of a thread.
pub fn wait_for(address: Address<RegisterId>) -> Op {
    Op::Wait {
        register: None,
        address,
        relation: Relation::Equal,
        value: Expr::Const(1),
        order: Order::Acquire,
    }
}

/// Says that a thread may start, or has ended.
pub fn announce(address: Address<RegisterId>) -> Op {
    Op::Store {
        address,
        value: Expr::Const(1),
        order: Order::Release,
    }
}

/// The height of an expression.
pub fn height(expr: &RegisterExpr) -> usize {
    match expr {
        Expr::Const(_) | Expr::Atom(_) => 1,
        Expr::Unary(_, operand) => 1 + height(operand),
        Expr::Binary(_, left, right) => 1 + height(left).max(height(right)),
        Expr::Element { index, .. } => 1 + height(index),
    }
}
