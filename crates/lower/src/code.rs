//! The code of one thread: its function with everything that it calls, inlined.

mod access;
mod calls;
mod heap;

use crate::copies::{Binding, Copy};
use crate::fold;
use crate::memory::function_number;
use crate::program::{
    ArgumentCell, CLIENT_HANDLE, Lowering, MAIN_HANDLE, MOST_POINTS, announce, height, wait_for,
};
use crate::start::{Beginning, Frame, Visible};
use crate::unit::{
    Action, Atom, Block, BlockId, End, Function, FunctionId, ObjectId, Step, Storage, ValueExpr,
};
use palisade_lang::build::ThreadBuilder;
use palisade_lang::expr::MAX_HEIGHT;
use palisade_lang::meter;
use palisade_lang::{
    Address, BinaryOp, Diagnostic, Expr, FREED, Op, Order, PlaceId, PlaceKind, PointId,
    RegisterExpr, RegisterId, RmwAction, Span, ThreadId, Value,
};
use std::collections::HashMap;

/// About what a point takes with everything that is derived from it, compared with a part of an expression.
const NODES_OF_A_POINT: u64 = 5;
/// Deeper chains of calls are not inlined.
const MOST_CALLS: usize = 150;

/// A thread's code under construction.
pub struct Code<'l, 'u> {
    pub(crate) lowering: &'l mut Lowering<'u>,
    pub(crate) thread: ThreadBuilder,
    id: ThreadId,
    name: String,
    /// The addresses of this thread's own copies of objects.
    thread_locals: HashMap<ObjectId, Value>,
    /// What other threads know this one by.
    handle: Value,
    /// Where the thread's function returns to.
    exit: PointId,
    /// Gets the result of the thread's function.
    result: Option<RegisterId>,
    /// The points that a fence can stand at.
    placed: HashMap<PointId, PlaceId>,
    /// Inside an atomic block.
    atomic: bool,
    /// Of each function that is being inlined, outermost first: its variables that others may know the address of, as ranges of addresses.
    /// They are gone when it returns.
    known: Vec<Vec<(Value, Value)>>,
}

impl<'l, 'u> Code<'l, 'u> {
    /// A thread that begins with nothing.
    pub fn new(lowering: &'l mut Lowering<'u>, id: ThreadId, name: &str, main: FunctionId) -> Self {
        let span = lowering.unit.functions[main.index()].span;
        let mut thread = ThreadBuilder::new(id, name, span);
        let exit = thread.point(span);
        Code {
            lowering,
            thread,
            id,
            name: name.to_string(),
            thread_locals: HashMap::new(),
            handle: MAIN_HANDLE,
            exit,
            result: None,
            placed: HashMap::new(),
            atomic: false,
            known: Vec::new(),
        }
    }

    /// Whether the rest of the first thread touches anything that is not its own, or could fail.
    pub fn does_something(lowering: &Lowering<'_>, frames: &[Frame]) -> bool {
        let unit = lowering.unit;
        // Where no thread was created, a join is wrong.
        let joins = !lowering.instances.is_empty();
        frames.iter().any(|frame| {
            let function = &unit.functions[frame.function.index()];
            let reached = crate::shape::reachable(
                function,
                &crate::shape::successors(&function.blocks[frame.block.index()].end),
            );
            let harmless = |step: &Step| {
                matches!(step.action, Action::Assign(..) | Action::Statement)
                    || joins && matches!(step.action, Action::Join { to: None, .. })
                    || matches!(&step.action, Action::Load { address, .. } if is_own_variable(address))
            };
            let rest = &function.blocks[frame.block.index()].steps[frame.step..];
            let later = function.blocks.iter().zip(&reached);
            let later = later.filter(|(_, reached)| **reached);
            !rest.iter().all(harmless) || !later.into_iter().all(|(b, _)| b.steps.iter().all(harmless))
        })
    }

    /// The thread that a creator starts.
    pub fn instance(mut self, index: usize) -> ThreadBuilder {
        let instance = &self.lowering.instances[index];
        let (function, span, done) = (instance.function, instance.span, instance.done);
        let (start, arguments) = (instance.start, instance.arguments.clone());
        self.handle = done;
        let mut at = self.thread.initial();
        if let Some(start) = start {
            let start = self.direct(start);
            at = self.step(at, wait_for(start), span);
        }
        let mut values = Vec::new();
        for argument in arguments {
            values.push(match argument {
                Expr::Atom(ArgumentCell(cell)) => {
                    let register = self.thread.register(None, span);
                    let load = Op::Load {
                        register,
                        address: self.direct(cell),
                        order: Order::NonAtomic,
                    };
                    at = self.step(at, load, span);
                    Expr::Atom(register)
                }
                Expr::Const(value) => Expr::Const(value),
                _ => Expr::Const(0),
            });
        }
        if self.lowering.results {
            self.result = Some(self.thread.register(None, span));
        }
        let exit = self.exit;
        self.call(at, function, &values, self.result, exit, &[], false, span);
        if self.lowering.joins {
            let mut at = exit;
            if let Some(result) = self.result {
                let store = Op::Store {
                    address: self.direct(done + self.lowering.memory.stride),
                    value: Expr::Atom(result),
                    order: Order::NonAtomic,
                };
                at = self.step(at, store, span);
            }
            let done = self.direct(done);
            self.step(at, announce(done), span);
        }
        self.thread
    }

    /// A thread of which there is any number. No other thread knows one of them by its handle.
    pub fn client(mut self, index: usize) -> ThreadBuilder {
        let client = &self.lowering.clients[index];
        let (function, span) = (client.function, client.span);
        self.handle = CLIENT_HANDLE + index as Value;
        let mut values = Vec::new();
        for argument in &client.arguments {
            values.push(match argument {
                Expr::Const(value) => Expr::Const(*value),
                _ => Expr::Const(0),
            });
        }
        let (at, exit) = (self.thread.initial(), self.exit);
        self.call(at, function, &values, None, exit, &[], false, span);
        self.thread.any_number();
        self.thread
    }

    /// The first thread, from where its beginning has led.
    pub fn rest_of(mut self, beginning: &Beginning) -> ThreadBuilder {
        let frames = &beginning.frames;
        let mut at = self.thread.initial();
        for visible in &beginning.visible {
            at = match visible {
                Visible::Statement(span) => self.statement(at, *span),
                Visible::Step(op, span) => self.step(at, op.clone(), *span),
            };
        }
        let mut exit = self.exit;
        let mut result = None;
        let mut chain = Vec::new();
        let mut entry = None;
        for (depth, frame) in frames.iter().enumerate() {
            let mut copy = Copy::resume(self.lowering, &mut self.thread, frame, &mut at);
            copy.chain.clone_from(&chain);
            copy.exit = exit;
            copy.result = result;
            chain.push(frame.function);
            let innermost = depth + 1 == frames.len();
            let span = self.function(frame.function).span;
            let here = self.thread.point(span);
            // Where the first thread's first function returns, the program ends.
            self.known.push(match depth {
                0 => Vec::new(),
                _ => self.known_variables(&copy),
            });
            self.steps(&mut copy, here, frame.block, frame.step);
            self.blocks(&mut copy);
            exit = here;
            result = frames
                .get(depth + 1)
                .and_then(|inner| inner.result)
                .and_then(|local| copy.register(local));
            if innermost {
                entry = Some(here);
            }
        }
        if let Some(entry) = entry {
            let span = self.function(frames[0].function).span;
            self.thread.edge(at, entry, Op::Jump, span);
        }
        self.thread
    }

    fn function(&self, function: FunctionId) -> &'u Function {
        &self.lowering.unit.functions[function.index()]
    }

    pub(crate) fn direct(&self, address: Value) -> Address<RegisterId> {
        match self.lowering.memory.at(address) {
            Some(location) => Address::Direct(location),
            None => Address::Pointer(Expr::Const(address)),
        }
    }

    fn point(&mut self, span: Span) -> PointId {
        self.lowering.points += 1;
        // Where there is no room for it, the next call is not followed.
        meter::charge(NODES_OF_A_POINT);
        match self.atomic {
            true => self.thread.point_in_block(span),
            false => self.thread.point(span),
        }
    }

    fn step(&mut self, from: PointId, op: Op, span: Span) -> PointId {
        let to = self.point(span);
        self.thread.edge(from, to, op, span);
        to
    }

    /// Inlines a call.
    #[allow(clippy::too_many_arguments)]
    fn call(
        &mut self,
        mut at: PointId,
        callee: FunctionId,
        arguments: &[RegisterExpr],
        result: Option<RegisterId>,
        exit: PointId,
        chain: &[FunctionId],
        in_loop: bool,
        span: Span,
    ) {
        let limit = self.lowering.unit.limits.recursion;
        let depth = chain.iter().filter(|f| **f == callee).count();
        let name = &self.function(callee).name;
        if depth >= limit as usize || chain.len() >= MOST_CALLS {
            let message = match depth >= limit as usize {
                true => format!("`{name}` calls itself more than {limit} deep"),
                false => format!("calls are nested more than {MOST_CALLS} deep"),
            };
            self.bound(at, message, span);
            return;
        }
        if self.lowering.points > MOST_POINTS || meter::is_exhausted() {
            if self.lowering.errors.is_empty() {
                let message = "the program becomes too large when its calls are inlined";
                self.lowering.errors.push(Diagnostic::error(span, message));
            }
            return;
        }
        let mut copy = Copy::new(
            self.lowering,
            &mut self.thread,
            callee,
            arguments,
            &self.name,
        );
        copy.exit = exit;
        copy.result = result;
        copy.in_loop = in_loop;
        copy.chain = chain.to_vec();
        copy.chain.push(callee);
        copy.shown = self.function(callee).library.then_some(span);
        for (register, value) in std::mem::take(&mut copy.entry) {
            at = self.step(at, Op::Assign(register, value), span);
        }
        copy.points.insert(BlockId(0), at);
        if self.atomic {
            copy.atomic.insert(BlockId(0));
        }
        copy.todo.push(BlockId(0));
        let atomic = self.atomic;
        let known = self.known_variables(&copy);
        self.known.push(known);
        self.blocks(&mut copy);
        self.known.pop();
        self.atomic = atomic;
    }

    /// The addresses of the variables of a copy that others may know.
    fn known_variables(&self, copy: &Copy) -> Vec<(Value, Value)> {
        let escaping = &self.lowering.escaping[copy.function.index()];
        let locals = &self.function(copy.function).locals;
        let mut known = Vec::new();
        for ((local, binding), escapes) in locals.iter().zip(&copy.bindings).zip(escaping) {
            if let (Binding::Memory(from), Storage::Memory(cells), true) =
                (binding, &local.storage, *escapes)
            {
                let length = cells.len() as Value * self.lowering.memory.stride;
                known.push((*from, *from + length));
            }
        }
        known
    }

    /// The function returns, and the variables of the innermost `frames` functions are gone: what still uses them is wrong.
    fn forget(&mut self, mut at: PointId, frames: usize, span: Span) -> PointId {
        let first = self.known.len().saturating_sub(frames);
        for (from, to) in self.known[first..].concat() {
            let mut address = from;
            while address < to {
                let gone = Op::Store {
                    address: self.direct(address),
                    value: Expr::Const(FREED),
                    order: Order::NonAtomic,
                };
                at = self.step(at, gone, span);
                address += self.lowering.memory.stride;
            }
        }
        at
    }

    fn blocks(&mut self, copy: &mut Copy) {
        while let Some(block) = copy.todo.pop() {
            let at = copy.points[&block];
            copy.done.insert(block);
            self.atomic = copy.atomic.contains(&block);
            self.steps(copy, at, block, 0);
        }
    }

    /// The rest of a block.
    fn steps(&mut self, copy: &mut Copy, mut at: PointId, block: BlockId, from: usize) {
        let body: &Block = &self.function(copy.function).blocks[block.index()];
        let in_loop =
            copy.in_loop || self.lowering.shapes[copy.function.index()].in_loop[block.index()];
        for (index, step) in body.steps.iter().enumerate().skip(from) {
            match self.action(copy, at, step, &body.steps[index + 1..], in_loop) {
                Some(next) => at = next,
                None => return,
            }
        }
        let span = copy.shown.unwrap_or(body.span);
        match &body.end {
            End::Goto(next) => self.goto(copy, at, *next, span),
            End::Branch(condition, yes, no) => {
                let condition = self.value(copy, &mut at, condition, span);
                match condition {
                    Expr::Const(0) => self.goto(copy, at, *no, span),
                    Expr::Const(_) => self.goto(copy, at, *yes, span),
                    condition => {
                        let opposite = fold::not(condition.clone());
                        let then = self.step(at, Op::Assume(condition), span);
                        self.goto(copy, then, *yes, span);
                        let otherwise = self.step(at, Op::Assume(opposite), span);
                        self.goto(copy, otherwise, *no, span);
                    }
                }
            }
            End::Return(value) => {
                let exit = copy.exit;
                self.leave(copy, at, value.as_ref(), copy.result, exit, 1, span);
            }
            End::Finish(value) => {
                let (result, exit, all) = (self.result, self.exit, self.known.len());
                self.leave(copy, at, value.as_ref(), result, exit, all, span);
            }
            End::Stop => {
                let nowhere = self.point(span);
                let never = Op::Assume(Expr::Const(0));
                self.thread.edge(at, nowhere, never, span);
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn leave(
        &mut self,
        copy: &mut Copy,
        mut at: PointId,
        value: Option<&ValueExpr>,
        result: Option<RegisterId>,
        exit: PointId,
        frames: usize,
        span: Span,
    ) {
        if let (Some(result), Some(value)) = (result, value) {
            let value = self.value(copy, &mut at, value, span);
            at = self.step(at, Op::Assign(result, value), span);
        }
        at = self.forget(at, frames, span);
        self.thread.edge(at, exit, Op::Jump, span);
    }

    fn goto(&mut self, copy: &mut Copy, at: PointId, to: BlockId, span: Span) {
        // A way back is a step, so that jumps form no cycle.
        let back = copy.done.contains(&to);
        let target = match copy.points.get(&to) {
            Some(point) => *point,
            None => {
                let first = &self.function(copy.function).blocks[to.index()];
                let span = first.steps.first().map_or(first.span, |s| s.span);
                let span = copy.shown.unwrap_or(span);
                let point = self.point(span);
                copy.points.insert(to, point);
                if self.atomic {
                    copy.atomic.insert(to);
                }
                copy.todo.push(to);
                point
            }
        };
        let op = if back { Op::Skip } else { Op::Jump };
        self.thread.edge(at, target, op, span);
    }

    /// A run that comes here goes beyond what is followed.
    fn bound(&mut self, at: PointId, message: String, span: Span) {
        let stop = self.point(span);
        self.thread.edge(at, stop, Op::Assume(Expr::Const(0)), span);
        let label = self.thread.label("bound", at, span);
        self.lowering.bound(self.id, label, message, span);
    }

    /// An expression with this copy's registers and addresses in it; its indices are checked in steps before.
    fn value(
        &mut self,
        copy: &mut Copy,
        at: &mut PointId,
        expr: &ValueExpr,
        span: Span,
    ) -> RegisterExpr {
        let value = self.resolve(copy, expr);
        self.checked(at, value, span)
    }

    fn resolve(&mut self, copy: &Copy, expr: &ValueExpr) -> RegisterExpr {
        let name = &self.name;
        let (lowering, own) = (&mut *self.lowering, &mut self.thread_locals);
        fold::replace(expr, &mut |atom| match atom {
            Atom::Local(local) => match &copy.bindings[local.index()] {
                Binding::Constant(value) | Binding::Memory(value) => Expr::Const(*value),
                Binding::Register(register) => Expr::Atom(*register),
            },
            Atom::AddressOf(local) => match &copy.bindings[local.index()] {
                Binding::Memory(address) => Expr::Const(*address),
                _ => Expr::Const(0),
            },
            Atom::Object(object) => match lowering.memory.object(*object) {
                0 => Expr::Const(*own.entry(*object).or_insert_with(|| {
                    let object = &lowering.unit.objects[object.index()];
                    lowering.memory.add_thread_local(name, object)
                })),
                address => Expr::Const(address),
            },
            Atom::Function(function) => Expr::Const(function_number(*function)),
        })
    }

    /// The expression without [`Expr::Element`]: each index is checked in a step of its own.
    fn checked(&mut self, at: &mut PointId, expr: RegisterExpr, span: Span) -> RegisterExpr {
        if height(&expr) >= MAX_HEIGHT - 10 {
            let message = "this expression is nested too deeply";
            self.lowering.errors.push(Diagnostic::error(span, message));
            return Expr::Const(0);
        }
        let mut checks = Vec::new();
        let plain = without_elements(&expr, &mut checks);
        for check in checks {
            *at = self.step(*at, Op::Assert(check), span);
        }
        plain
    }

    /// One step, before those that are `next` in its block; `None` where nothing comes behind it.
    fn action(
        &mut self,
        copy: &mut Copy,
        mut at: PointId,
        step: &Step,
        next: &[Step],
        in_loop: bool,
    ) -> Option<PointId> {
        let span = copy.shown.unwrap_or(step.span);
        match &step.action {
            Action::Statement if copy.shown.is_some() => {}
            Action::Statement => return Some(self.statement(at, span)),
            Action::Assign(to, value) => {
                if let Some(register) = copy.register(*to) {
                    let value = self.value(copy, &mut at, value, span);
                    at = self.step(at, Op::Assign(register, value), span);
                }
            }
            Action::Choose(to, values) => {
                let register = copy.register(*to)?;
                let after = self.point(span);
                for value in values {
                    let choice = Op::Assign(register, Expr::Const(*value));
                    self.thread.edge(at, after, choice, span);
                }
                at = after;
            }
            Action::Load { to, address, order } => {
                let register = copy.register(*to)?;
                let address = self.address(copy, &mut at, address, span);
                let load = Op::Load {
                    register,
                    address: address.clone(),
                    order: *order,
                };
                at = self.step(at, load, span);
                at = self.check_read(at, &address, Some(register), span);
            }
            Action::Peek { to, address } => {
                let register = copy.register(*to)?;
                let address = self.address(copy, &mut at, address, span);
                let load = Op::Load {
                    register,
                    address: address.clone(),
                    order: Order::NonAtomic,
                };
                at = self.step(at, load, span);
                at = self.check_copy(at, &address, register, span);
            }
            Action::Never {
                address,
                relation,
                value,
            } => {
                let address = self.address(copy, &mut at, address, span);
                let value = self.value(copy, &mut at, value, span);
                self.never(at, &address, *relation, value, span);
            }
            Action::ThisThread(to) => {
                if let Some(register) = copy.register(*to) {
                    let handle = Expr::Const(self.handle);
                    at = self.step(at, Op::Assign(register, handle), span);
                }
            }
            Action::Store {
                address,
                value,
                order,
            } => {
                let address = self.address(copy, &mut at, address, span);
                let value = self.value(copy, &mut at, value, span);
                self.check_memory(at, &address, false, span);
                let store = Op::Store {
                    address,
                    value,
                    order: *order,
                };
                at = self.step(at, store, span);
            }
            Action::Fetch {
                to,
                address,
                op,
                operand,
                order,
            } => {
                let address = self.address(copy, &mut at, address, span);
                let operand = self.value(copy, &mut at, operand, span);
                let register = to.and_then(|to| copy.register(to));
                let action = RmwAction::Fetch(*op, operand);
                at = self.rmw(at, register, address, action, *order, span);
            }
            Action::Exchange {
                to,
                address,
                value,
                order,
            } => {
                let address = self.address(copy, &mut at, address, span);
                let value = self.value(copy, &mut at, value, span);
                let register = to.and_then(|to| copy.register(to));
                let action = RmwAction::Exchange(value);
                at = self.rmw(at, register, address, action, *order, span);
            }
            Action::CompareExchange { .. } => {
                return self.compare_exchange(copy, at, &step.action, span);
            }
            Action::BlockingCompareExchange {
                address,
                expected,
                desired,
                order,
            } => {
                let address = self.address(copy, &mut at, address, span);
                let expected = self.value(copy, &mut at, expected, span);
                let desired = self.value(copy, &mut at, desired, span);
                let action = RmwAction::BlockingCompareAndSwap { expected, desired };
                at = self.rmw(at, None, address, action, *order, span);
            }
            Action::Wait {
                to,
                address,
                relation,
                value,
                order,
            } => {
                let address = self.address(copy, &mut at, address, span);
                let value = self.value(copy, &mut at, value, span);
                let register = to.and_then(|to| copy.register(to));
                self.check_memory(at, &address, true, span);
                let wait = Op::Wait {
                    register,
                    address: address.clone(),
                    relation: *relation,
                    value,
                    order: *order,
                };
                at = self.step(at, wait, span);
                at = self.check_read(at, &address, register, span);
            }
            Action::Fence(order) => at = self.step(at, Op::Fence(*order), span),
            Action::Assume(condition) => match self.value(copy, &mut at, condition, span) {
                Expr::Const(value) if value != 0 => {}
                condition => at = self.step(at, Op::Assume(condition), span),
            },
            Action::Assert(condition) => match self.value(copy, &mut at, condition, span) {
                Expr::Const(value) if value != 0 => {}
                condition => at = self.step(at, Op::Assert(condition), span),
            },
            Action::Call { .. } => return self.call_step(copy, at, step, in_loop),
            Action::Spawn { .. } => return self.spawn(copy, at, step, in_loop),
            Action::Join { handle, to } => {
                let handle = self.value(copy, &mut at, handle, span);
                // A thread that waits for itself is wrong.
                let itself = Expr::Const(self.handle);
                let other = fold::binary(BinaryOp::NotEqual, handle.clone(), itself);
                if !matches!(other, Expr::Const(1)) && self.handle != MAIN_HANDLE {
                    at = self.step(at, Op::Assert(other), span);
                }
                let done = match &handle {
                    Expr::Const(handle) => self.direct(*handle),
                    handle => Address::Pointer(handle.clone()),
                };
                at = self.step(at, wait_for(done), span);
                if let Some(register) = to.and_then(|to| copy.register(to)) {
                    let address = match fold::binary(
                        BinaryOp::Add,
                        handle,
                        Expr::Const(self.lowering.memory.stride),
                    ) {
                        Expr::Const(address) => self.direct(address),
                        address => Address::Pointer(address),
                    };
                    let load = Op::Load {
                        register,
                        address,
                        order: Order::NonAtomic,
                    };
                    at = self.step(at, load, span);
                }
            }
            Action::Allocate { to, name, cells } => {
                let register = copy.register(*to)?;
                let set = heap::set_at_once(*to, next, self.lowering.memory.stride);
                at = self.allocate(at, register, name, cells, &set, in_loop, span);
            }
            Action::AllocateArray {
                to,
                name,
                block,
                count,
                zeroed,
            } => {
                let register = copy.register(*to)?;
                let count = self.value(copy, &mut at, count, span);
                let set = match zeroed {
                    true => None,
                    false => Some(heap::set_at_once(*to, next, self.lowering.memory.stride)),
                };
                let array = heap::Wanted {
                    register,
                    name,
                    block,
                    set,
                    in_loop,
                };
                at = self.allocate_array(at, &array, &count, span)?;
            }
            Action::Free(address) => {
                let address = self.value(copy, &mut at, address, span);
                at = self.free(at, address, span);
            }
            Action::AtomicBegin => {
                self.atomic = true;
                at = self.step(at, Op::AtomicBegin, span);
            }
            Action::AtomicEnd => {
                self.atomic = false;
                at = self.step(at, Op::AtomicEnd, span);
            }
            Action::Bound(message) => {
                self.bound(at, message.clone(), span);
                return None;
            }
        }
        Some(at)
    }

    /// Here a statement begins.
    fn statement(&mut self, mut at: PointId, span: Span) -> PointId {
        if let Some(place) = self.placed.get(&at) {
            if self.lowering.places[place.index()].span == span {
                return at;
            }
            at = self.step(at, Op::Jump, span);
        }
        if !self.atomic {
            self.place(at, span);
        }
        at
    }

    fn place(&mut self, at: PointId, span: Span) {
        if let Some(place) = self.lowering.place_of.get(&span) {
            self.thread.set_place(at, *place, span);
            // The same text runs in another thread as well, or is inlined twice.
            let entry = &mut self.lowering.places[place.index()];
            if entry.thread != Some(self.id) {
                entry.thread = None;
            }
        } else {
            let place = PlaceId(self.lowering.places.len() as u32);
            let kind = PlaceKind::BeforeStatement;
            self.thread
                .place(&mut self.lowering.places, at, kind, None, span);
            self.lowering.place_of.insert(span, place);
        }
        self.placed.insert(at, self.lowering.place_of[&span]);
    }
}

impl Lowering<'_> {
    /// The functions whose number is used as a value anywhere.
    fn pointed_functions(&self) -> Vec<FunctionId> {
        let mut found: Vec<FunctionId> = Vec::new();
        let mut add = |expr: &ValueExpr| {
            expr.for_each_atom(&mut |atom| {
                if let Atom::Function(function) = atom
                    && !found.contains(function)
                {
                    found.push(*function);
                }
            });
        };
        let objects = self.unit.objects.iter().flat_map(|o| &o.cells);
        objects.for_each(|cell| add(&cell.initial));
        for step in self
            .unit
            .functions
            .iter()
            .flat_map(|f| &f.blocks)
            .flat_map(|b| &b.steps)
        {
            match &step.action {
                Action::Assign(_, value)
                | Action::Store { value, .. }
                | Action::Exchange { value, .. }
                | Action::CompareExchange { desired: value, .. } => add(value),
                Action::Call { arguments, .. } | Action::Spawn { arguments, .. } => {
                    arguments.iter().for_each(&mut add);
                }
                _ => {}
            }
        }
        let returned = self.unit.functions.iter().flat_map(|f| &f.blocks);
        for block in returned {
            if let End::Return(Some(value)) = &block.end {
                add(value);
            }
        }
        found
    }
}

/// The length and the index of an offset that is an element of an array of scalars.
fn element_of(offset: &RegisterExpr, stride: Value) -> Option<(u32, &RegisterExpr)> {
    match offset {
        Expr::Element {
            first: 0,
            length,
            index,
        } if stride == 1 => Some((*length, index)),
        Expr::Binary(BinaryOp::Multiply, element, by) if **by == Expr::Const(stride) => {
            match &**element {
                Expr::Element {
                    first: 0,
                    length,
                    index,
                } => Some((*length, index)),
                _ => None,
            }
        }
        _ => None,
    }
}

fn is_own_variable(address: &ValueExpr) -> bool {
    let mut own = false;
    let mut other = false;
    address.for_each_atom(&mut |atom| match atom {
        Atom::AddressOf(_) => own = true,
        Atom::Object(_) | Atom::Function(_) => other = true,
        Atom::Local(_) => {}
    });
    own && !other
}

/// The expression with indices in place of elements, and what must hold for that.
fn without_elements(expr: &RegisterExpr, checks: &mut Vec<RegisterExpr>) -> RegisterExpr {
    match expr {
        Expr::Const(_) | Expr::Atom(_) => expr.clone(),
        Expr::Unary(op, operand) => fold::unary(*op, without_elements(operand, checks)),
        Expr::Binary(op, left, right) => {
            let left = without_elements(left, checks);
            fold::binary(*op, left, without_elements(right, checks))
        }
        Expr::Element {
            first,
            length,
            index,
        } => {
            let index = without_elements(index, checks);
            let not_below = Expr::binary(BinaryOp::GreaterEqual, index.clone(), Expr::Const(0));
            let length = Expr::Const(Value::from(*length));
            let not_above = Expr::binary(BinaryOp::Less, index.clone(), length);
            checks.push(fold::binary(BinaryOp::And, not_below, not_above));
            fold::binary(BinaryOp::Add, index, Expr::Const(*first))
        }
    }
}
