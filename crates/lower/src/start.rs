//! The beginning of a program, before there is a second thread: it is run here and now, and memory begins as it leaves it.
//!
//! All that it stores happens before everything that another thread does, so no model can tell it from initial values. The run goes on
//! behind the creation of threads as long as what the first thread does is known without looking at memory that others may change: nothing can be
//! told from what it does with its own variables, and what others can see (a store, a thread that is created later, a wait for the end of one) is written
//! down, to be done by the first thread in this order ([`Visible`]).

use crate::fold;
use crate::memory::{array_cells, function_number, function_numbered};
use crate::owned;
use crate::program::{Instance, Lowering, MAIN_HANDLE, announce, wait_for};
use crate::shape;
use crate::unit::{Action, Atom, BlockId, End, FunctionId, LocalId, Storage, Unit, ValueExpr};
use palisade_lang::{
    Address, Domain, Expr, FREED, LocationId, Op, Order, Span, UNSET, Value, block_state,
};
use std::collections::BTreeMap;

/// A function that has been called and has not returned.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Which.
    pub function: FunctionId,
    /// The value of each variable; of one in memory, its address.
    pub values: Vec<Value>,
    /// The block that is executed …
    pub block: BlockId,
    /// … and the next step in it.
    pub step: usize,
    /// What gets the value that it returns, in the frame below.
    pub result: Option<LocalId>,
    /// Where its steps are shown, if that is not where they are.
    pub shown: Option<Span>,
}

/// What the first thread does after it has created another one, as far as others can tell.
#[derive(Clone, Debug)]
pub enum Visible {
    /// Here a statement of the user begins.
    Statement(Span),
    /// A step.
    Step(Op, Span),
}

/// The beginning of a program.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// What the first thread does first …
    pub visible: Vec<Visible>,
    /// … and where it stands then: nowhere where it has ended.
    pub frames: Vec<Frame>,
}

/// More visible steps are left to the search.
const MOST_VISIBLE: usize = 2_000;
/// Longer beginnings are left to the search.
const MOST_STEPS: usize = 2_000_000;
/// Deeper ones too.
const MOST_FRAMES: usize = 1_000;

/// Runs the beginning.
pub fn run(lowering: &mut Lowering<'_>) -> Beginning {
    let entry = lowering.unit.entry;
    let owned = owned::by_first_thread(lowering.unit);
    let ranges = (lowering.unit.objects.iter().zip(&lowering.memory.objects))
        .zip(owned)
        .filter(|(_, owned)| *owned)
        .map(|((object, address), _)| {
            let length = object.cells.len() as Value * lowering.memory.stride;
            (*address, *address + length)
        });
    let mut run = Run {
        stored_by_it: ranges.collect(),
        now: BTreeMap::new(),
        frames: Vec::new(),
        own: Vec::new(),
        escaping: Vec::new(),
        changed: BTreeMap::new(),
        visible: Vec::new(),
        statement: None,
        alone: true,
        lowering,
    };
    let span = run.lowering.unit.functions[entry.index()].span;
    run.enter(entry, &[], None, span);
    for _ in 0..MOST_STEPS {
        if !run.advance() {
            break;
        }
    }
    for range in std::mem::take(&mut run.escaping) {
        if run.own.contains(&range) {
            run.write_down(range);
        }
    }
    Beginning {
        visible: run.visible,
        frames: run.frames,
    }
}

struct Run<'l, 'u> {
    lowering: &'l mut Lowering<'u>,
    frames: Vec<Frame>,
    /// Variables in memory whose address only the first thread has: from, to (exclusive).
    own: Vec<(Value, Value)>,
    /// Objects that no other thread stores to: from, to (exclusive).
    stored_by_it: Vec<(Value, Value)>,
    /// What their cells hold now, where that is not what they held when the first thread was created.
    now: BTreeMap<usize, Value>,
    /// Those of its own variables whose address the rest of the program may make known.
    escaping: Vec<(Value, Value)>,
    /// Cells of such variables that were stored to since there is another thread: where, and what they held when it was created.
    changed: BTreeMap<usize, (Value, Span)>,
    visible: Vec<Visible>,
    /// The statement that is being executed, until something visible comes of it.
    statement: Option<Span>,
    /// No thread has been created yet.
    alone: bool,
}

impl Run<'_, '_> {
    fn enter(
        &mut self,
        function: FunctionId,
        arguments: &[Value],
        result: Option<LocalId>,
        span: Span,
    ) {
        let unit: &Unit = self.lowering.unit;
        let code = &unit.functions[function.index()];
        let mut values = Vec::with_capacity(code.locals.len());
        for (index, local) in code.locals.iter().enumerate() {
            values.push(match &local.storage {
                Storage::Register => 0,
                Storage::Memory(cells) => {
                    let name = local.name.as_deref().unwrap_or("temporary");
                    let address = self.lowering.memory.add_unset(name, cells, local.span);
                    let end = address + cells.len() as Value * self.lowering.memory.stride;
                    self.own.push((address, end));
                    if self.lowering.escaping[function.index()][index] {
                        self.escaping.push((address, end));
                    }
                    address
                }
            });
        }
        for (parameter, argument) in code.parameters.iter().zip(arguments) {
            values[parameter.index()] = *argument;
        }
        self.frames.push(Frame {
            function,
            values,
            block: BlockId(0),
            step: 0,
            result,
            shown: code.library.then_some(span),
        });
    }

    fn value(&self, expr: &ValueExpr) -> Option<Value> {
        let frame = self.frames.last()?;
        let memory = &self.lowering.memory;
        let mut thread_local = false;
        let value = fold::replace::<_, Atom>(expr, &mut |atom| {
            Expr::Const(match atom {
                Atom::Local(local) | Atom::AddressOf(local) => frame.values[local.index()],
                Atom::Object(object) => {
                    let address = memory.object(*object);
                    thread_local |= address == 0;
                    address
                }
                Atom::Function(function) => function_number(*function),
            })
        });
        if thread_local {
            return None;
        }
        value.constant(Domain::FULL)
    }

    fn set(&mut self, local: LocalId, value: Value) {
        if let Some(frame) = self.frames.last_mut() {
            frame.values[local.index()] = value;
        }
    }

    fn is_own(&self, address: Value) -> bool {
        self.own
            .iter()
            .any(|(from, to)| (*from..*to).contains(&address))
    }

    /// The cell at an address, if it may be touched now.
    fn cell(&self, address: &ValueExpr) -> Option<usize> {
        let address = self.value(address)?;
        let cell = self.lowering.memory.at(address)?;
        (self.alone || self.is_own(address)).then_some(cell.index())
    }

    /// What a cell holds, if that is known now.
    fn held(&self, address: &ValueExpr) -> Option<Value> {
        if let Some(cell) = self.cell(address) {
            return Some(self.lowering.memory.locations[cell].initial);
        }
        let address = self.value(address)?;
        let cell = self.lowering.memory.at(address)?.index();
        let stored_by_it = |(from, to): &(Value, Value)| (*from..*to).contains(&address);
        self.stored_by_it.iter().any(stored_by_it).then_some(())?;
        let initial = self.lowering.memory.locations[cell].initial;
        Some(self.now.get(&cell).copied().unwrap_or(initial))
    }

    /// This value can now be known elsewhere: if it is the address of a variable, that one is no longer the first thread's own.
    /// What it was set to before is visible from now on.
    fn give(&mut self, value: Value) {
        let given = |(from, to): &(Value, Value)| (*from..=*to).contains(&value);
        let ranges: Vec<_> = self.own.iter().copied().filter(given).collect();
        for range in ranges {
            self.write_down(range);
        }
        self.own.retain(|range| !given(range));
    }

    /// What was stored to these cells since there is another thread is done by steps of the first one.
    fn write_down(&mut self, (from, to): (Value, Value)) {
        let memory = &self.lowering.memory;
        let cells: Vec<usize> = (self.changed.keys().copied())
            .filter(|cell| (from..to).contains(&memory.locations[*cell].address))
            .collect();
        for cell in cells {
            let Some((before, span)) = self.changed.remove(&cell) else {
                continue;
            };
            let location = &mut self.lowering.memory.locations[cell];
            let value = std::mem::replace(&mut location.initial, before);
            let store = Op::Store {
                address: Address::Direct(LocationId(cell as u32)),
                value: Expr::Const(value),
                order: Order::NonAtomic,
            };
            self.show(store, span);
        }
    }

    fn store(&mut self, cell: usize, value: Value, span: Span) -> Option<()> {
        // A store to what was given back is for the search to show.
        let before = self.lowering.memory.locations[cell].initial;
        (before != FREED).then_some(())?;
        if !self.is_own(self.lowering.memory.locations[cell].address) {
            self.give(value);
        } else if !self.alone {
            self.changed.entry(cell).or_insert((before, span)).1 = span;
        }
        self.lowering.memory.locations[cell].initial = value;
        Some(())
    }

    /// A store that other threads can see, with a value that is known: the first thread does it.
    fn visible_store(
        &mut self,
        address: Value,
        value: Value,
        order: Order,
        span: Span,
    ) -> Option<()> {
        let memory = &self.lowering.memory;
        let cell = memory.at(address)?;
        // Memory that may be gone is for the search to look after.
        (!memory.is_loose(cell) && self.visible.len() < MOST_VISIBLE).then_some(())?;
        self.give(value);
        let store = Op::Store {
            address: Address::Direct(cell),
            value: Expr::Const(value),
            order,
        };
        self.show(store, span);
        self.now.insert(cell.index(), value);
        Some(())
    }

    fn read(&self, cell: usize) -> Option<Value> {
        // What is wrong with this is for the search to show.
        let value = self.lowering.memory.locations[cell].initial;
        (value | 1 != UNSET).then_some(value)
    }

    /// Executes one step; `false` where that is not for this run to do.
    fn advance(&mut self) -> bool {
        self.try_advance().is_some()
    }

    fn try_advance(&mut self) -> Option<()> {
        let unit: &Unit = self.lowering.unit;
        let frame = self.frames.last()?;
        let block = &unit.functions[frame.function.index()].blocks[frame.block.index()];
        let Some(step) = block.steps.get(frame.step) else {
            return self.end(&block.end);
        };
        let span = frame.shown.unwrap_or(step.span);
        match &step.action {
            Action::Assign(to, value) => {
                let value = self.value(value)?;
                self.set(*to, value);
            }
            // Where a seq_cst access stands among others can be told.
            Action::Load {
                order: Order::SeqCst,
                address,
                ..
            } if self.cell(address).is_none() => return None,
            Action::Load { to, address, .. } => {
                let value = self.held(address)?;
                // What is wrong with this is for the search to show.
                (value | 1 != UNSET).then_some(())?;
                self.set(*to, value);
            }
            Action::Peek { to, address } => {
                let value = self.held(address)?;
                self.set(*to, value);
            }
            Action::Never {
                address,
                relation,
                value,
            } => {
                let held = self.lowering.memory.locations[self.cell(address)?].initial;
                (!relation.holds(held, self.value(value)?)).then_some(())?;
            }
            Action::ThisThread(to) => self.set(*to, MAIN_HANDLE),
            Action::Store {
                address,
                value,
                order,
            } => {
                let (address, value) = (self.value(address)?, self.value(value)?);
                match self.alone || self.is_own(address) {
                    true => self.store(self.lowering.memory.at(address)?.index(), value, span)?,
                    false => self.visible_store(address, value, *order, span)?,
                }
            }
            Action::Fetch {
                to,
                address,
                op,
                operand,
                ..
            } => {
                let cell = self.cell(address)?;
                let old = self.read(cell)?;
                let new = Domain::FULL.binary(*op, old, self.value(operand)?).ok()?;
                self.store(cell, new, span)?;
                to.iter().for_each(|to| self.set(*to, old));
            }
            Action::Exchange {
                to, address, value, ..
            } => {
                let (cell, value) = (self.cell(address)?, self.value(value)?);
                let old = self.read(cell)?;
                self.store(cell, value, span)?;
                to.iter().for_each(|to| self.set(*to, old));
            }
            Action::CompareExchange {
                old,
                success,
                address,
                expected,
                desired,
                weak: false,
                ..
            } => {
                let cell = self.cell(address)?;
                let read = self.read(cell)?;
                let (expected, desired) = (self.value(expected)?, self.value(desired)?);
                if read == expected {
                    self.store(cell, desired, span)?;
                }
                self.set(*old, read);
                self.set(*success, Value::from(read == expected));
            }
            Action::BlockingCompareExchange {
                address,
                expected,
                desired,
                ..
            } => {
                let cell = self.cell(address)?;
                let (expected, desired) = (self.value(expected)?, self.value(desired)?);
                (self.read(cell)? == expected).then_some(())?;
                self.store(cell, desired, span)?;
            }
            Action::Wait {
                to,
                address,
                relation,
                value,
                ..
            } => {
                let read = self.read(self.cell(address)?)?;
                relation.holds(read, self.value(value)?).then_some(())?;
                to.iter().for_each(|to| self.set(*to, read));
            }
            Action::Fence(order) if !self.alone => {
                self.show(Op::Fence(*order), span);
            }
            Action::Fence(_) => {}
            Action::AtomicBegin | Action::AtomicEnd => self.alone.then_some(())?,
            Action::Join { handle, to: None } => {
                let handle = self.value(handle)?;
                let mut instances = self.lowering.instances.iter();
                (self.lowering.joins && instances.any(|i| i.done == handle)).then_some(())?;
                let end = Address::Direct(self.lowering.memory.at(handle)?);
                self.show(wait_for(end), span);
            }
            Action::Assume(condition) | Action::Assert(condition) => {
                (self.value(condition)? != 0).then_some(())?;
            }
            Action::Call {
                to,
                callee,
                arguments,
            } => {
                let callee = function_numbered(self.value(callee)?)?;
                let function = unit.functions.get(callee.index())?;
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.value(argument)?);
                }
                if self.frames.len() >= MOST_FRAMES || function.blocks.is_empty() {
                    return None;
                }
                self.frames.last_mut()?.step += 1;
                self.enter(callee, &values, *to, span);
                return Some(());
            }
            Action::Spawn {
                handle,
                callee,
                arguments,
            } => {
                let callee = function_numbered(self.value(callee)?)?;
                unit.functions.get(callee.index())?;
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.value(argument)?);
                }
                for value in &values {
                    self.give(*value);
                }
                self.alone = false;
                if self.visible.is_empty()
                    && let Some(clients) = self.created_without_end()
                {
                    self.lowering.clients.extend(clients);
                    // The first thread does nothing else from here on.
                    self.frames.clear();
                    return None;
                }
                let arguments = values.into_iter().map(Expr::Const).collect();
                // What others can see comes before this thread.
                let start = match self.visible.is_empty() {
                    true => None,
                    false => {
                        let name = &unit.functions[callee.index()].name;
                        let memory = &mut self.lowering.memory;
                        let cell = memory.add_one(&format!("start of {name}"), span);
                        let start = announce(Address::Direct(memory.at(cell)?));
                        self.show(start, span);
                        Some(cell)
                    }
                };
                let number = self.lowering.add_instance(Instance {
                    function: callee,
                    arguments,
                    start,
                    done: 0,
                    span,
                });
                handle.iter().for_each(|to| self.set(*to, number));
            }
            Action::Allocate { to, name, cells } if self.alone => {
                let memory = &mut self.lowering.memory;
                let block = memory.allocate(name, cells, span);
                self.set(*to, block.address);
            }
            Action::AllocateArray {
                to,
                name,
                block,
                count,
                zeroed,
            } if self.alone => {
                let cells = array_cells(block, self.value(count)?)?;
                let memory = &mut self.lowering.memory;
                let block = memory.allocate(name, &cells, span);
                for cell in 0..cells.len() * usize::from(*zeroed) {
                    memory.set_initial(block.address, cell, 0);
                }
                self.set(*to, block.address);
            }
            Action::Free(address) if self.alone => {
                let address = self.value(address)?;
                if address != 0 {
                    let memory = &mut self.lowering.memory;
                    let block = *memory.heap.iter().find(|b| b.address == address)?;
                    let state = address - memory.stride;
                    let now = memory.location_mut(state, 0)?.initial;
                    let in_use = block_state::in_use(block.cells);
                    (now == in_use).then_some(())?;
                    memory.set_initial(state, 0, in_use + block_state::GIVEN_BACK);
                    for cell in 0..block.cells as usize {
                        memory.set_initial(address, cell, FREED);
                    }
                }
            }
            Action::Statement if frame.shown.is_some() => {}
            Action::Statement => {
                self.statement = Some(span);
            }
            Action::Choose(..)
            | Action::CompareExchange { .. }
            | Action::Join { .. }
            | Action::Allocate { .. }
            | Action::AllocateArray { .. }
            | Action::Free(_)
            | Action::Bound(_) => return None,
        }
        self.frames.last_mut()?.step += 1;
        Some(())
    }

    /// The first thread does this, and others can tell.
    fn show(&mut self, op: Op, span: Span) {
        if let Some(statement) = self.statement.take() {
            self.visible.push(Visible::Statement(statement));
        }
        self.visible.push(Visible::Step(op, span));
    }

    /// Where the first thread is in a loop without a way out that does nothing but create threads, the same in every round: which. Of each there
    /// is any number then.
    fn created_without_end(&self) -> Option<Vec<Instance>> {
        let unit: &Unit = self.lowering.unit;
        let frame = self.frames.last()?;
        let function = &unit.functions[frame.function.index()];
        let mut blocks = vec![frame.block];
        let (mut at, mut comes_back) = (0, false);
        while let Some(block) = blocks.get(at) {
            let next = match &function.blocks[block.index()].end {
                End::Goto(next) => vec![*next],
                End::Branch(condition, yes, no) => match condition.constant(Domain::FULL) {
                    Some(0) => vec![*no],
                    Some(_) => vec![*yes],
                    None => return None,
                },
                End::Return(_) | End::Finish(_) | End::Stop => return None,
            };
            comes_back |= next.contains(&frame.block);
            for next in next {
                if !blocks.contains(&next) {
                    blocks.push(next);
                }
            }
            at += 1;
        }
        let code = || {
            let blocks = blocks.iter().map(|b| &function.blocks[b.index()]);
            blocks.flat_map(|block| &block.steps)
        };
        let mut set = Vec::new();
        for step in code() {
            shape::for_each_target(&step.action, &mut |local| set.push(local));
        }
        let mut created = Vec::new();
        for step in code() {
            match &step.action {
                Action::Statement | Action::Assign(..) => {}
                // The handle, in a variable of its own.
                Action::Store { address, .. } if self.is_own(self.value(address)?) => {}
                Action::Spawn {
                    callee, arguments, ..
                } => {
                    let same = |expr: &ValueExpr| {
                        let mut same = true;
                        expr.for_each_atom(&mut |atom| {
                            same &= !matches!(atom, Atom::Local(local) if set.contains(local));
                        });
                        same.then(|| self.value(expr)).flatten()
                    };
                    let mut values = Vec::new();
                    for argument in arguments {
                        values.push(Expr::Const(same(argument)?));
                    }
                    created.push(Instance {
                        function: function_numbered(same(callee)?)?,
                        arguments: values,
                        start: None,
                        done: 0,
                        span: step.span,
                    });
                }
                _ => return None,
            }
        }
        comes_back.then_some(created)
    }

    /// The memory of a function's variables, where nothing else can know it, is no part of the program once it has returned.
    fn give_back(&mut self, frame: &Frame) {
        let unit: &Unit = self.lowering.unit;
        let locals = &unit.functions[frame.function.index()].locals;
        for (local, &address) in locals.iter().zip(&frame.values).rev() {
            let Storage::Memory(cells) = &local.storage else {
                continue;
            };
            let memory = &mut self.lowering.memory;
            let range = (address, address + cells.len() as Value * memory.stride);
            if let Some(at) = self.own.iter().position(|own| *own == range)
                && memory.remove_last(address, cells.len())
            {
                self.own.swap_remove(at);
                let left = memory.locations.len();
                self.changed.retain(|cell, _| *cell < left);
                self.escaping.retain(|escaping| *escaping != range);
            }
        }
    }

    fn end(&mut self, end: &End) -> Option<()> {
        let next = match end {
            End::Goto(block) => *block,
            End::Branch(condition, yes, no) => match self.value(condition)? {
                0 => *no,
                _ => *yes,
            },
            End::Return(value) => {
                let value = match value {
                    None => 0,
                    Some(value) => self.value(value)?,
                };
                let frame = self.frames.pop()?;
                self.give_back(&frame);
                if let Some(result) = frame.result {
                    self.set(result, value);
                }
                return Some(());
            }
            End::Finish(_) | End::Stop => {
                self.frames.clear();
                return None;
            }
        };
        let frame = self.frames.last_mut()?;
        (frame.block, frame.step) = (next, 0);
        Some(())
    }
}
