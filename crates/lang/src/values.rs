//! Which values registers and memory may ever hold: a flow-insensitive analysis.
//!
//! For each register and each cell of memory it collects the values that it may hold at any time. A variable that takes too many values, or
//! keeps on growing, is given up as "any value". What is found is sound: a run never produces a value outside it.

use std::collections::{HashMap, VecDeque};

use crate::expr::{BinaryOp, Domain, Expr, Value};
use crate::program::{
    Address, Copies, LocationId, Op, Program, RegisterExpr, RegisterId, RmwAction, ThreadId,
};

/// A variable with more values than this is given up.
const MAX_VALUES: usize = 4096;
/// So is one that grows more often than this: it counts.
const MAX_GROWTH: u32 = 64;
/// Operands with more combinations than this are not combined one by one.
const MAX_COMBINATIONS: usize = 1 << 16;
/// When the whole analysis has looked at this many values, it gives up every variable.
const BUDGET: usize = 20_000_000;

/// A set of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// These, ascending.
    Some(Vec<Value>),
    /// Nothing is known.
    Any,
}

impl Values {
    /// Adds everything in `other`; whether that made a difference.
    fn grow(&mut self, other: &Values) -> bool {
        match (&mut *self, other) {
            (Values::Any, _) => false,
            (_, Values::Any) => {
                *self = Values::Any;
                true
            }
            (Values::Some(mine), Values::Some(more)) => {
                let before = mine.len();
                for value in more {
                    if let Err(at) = mine.binary_search(value) {
                        mine.insert(at, *value);
                    }
                }
                mine.len() > before
            }
        }
    }

    fn size(&self) -> usize {
        match self {
            Values::Some(values) => values.len(),
            Values::Any => 1,
        }
    }

    /// The least and the largest value; `None` where nothing is known.
    pub fn range(&self) -> Option<(Value, Value)> {
        match self {
            Values::Some(values) => Some((*values.first()?, *values.last()?)),
            Values::Any => None,
        }
    }
}

/// What addresses there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Those of [`Program::locations`]; all else is an error of the program.
    Declared,
    /// Every integer, and memory starts as 0: an automaton whose locations are still to be found.
    EveryInteger,
}

/// A register or a cell of memory.
#[derive(Debug)]
struct Variable {
    values: Values,
    growth: u32,
    /// The instructions that read it.
    readers: Vec<u32>,
}

impl Variable {
    fn holding(value: Value) -> Self {
        Variable {
            values: Values::Some(vec![value]),
            growth: 0,
            readers: Vec::new(),
        }
    }
}

/// The analysis of one program.
#[derive(Debug)]
pub struct Analysis<'p> {
    program: &'p Program,
    memory_kind: Memory,
    domain: Domain,
    instructions: Vec<(usize, &'p Op)>,
    variables: Vec<Variable>,
    /// The number of each thread's first register among the variables.
    registers: Vec<usize>,
    cells: HashMap<Value, usize>,
    /// What may have been written to an address of which nothing is known.
    anywhere: usize,
    /// The union of all cells.
    memory: usize,
    queue: VecDeque<u32>,
    queued: Vec<bool>,
    work: usize,
    gave_up: bool,
}

impl<'p> Analysis<'p> {
    /// Analyses a program.
    pub fn new(program: &'p Program, memory_kind: Memory) -> Self {
        let mut variables = vec![Variable::holding(0), Variable::holding(0)];
        let mut registers = Vec::with_capacity(program.threads.len());
        let mut instructions = Vec::new();
        for (number, thread) in program.threads.iter().enumerate() {
            registers.push(variables.len());
            variables.extend(thread.registers.iter().map(|_| Variable::holding(0)));
            if let (Some(me), Copies::Fixed(copies)) = (thread.me, thread.copies) {
                let values = (0..Value::from(copies)).collect();
                variables[registers[number] + me.index()].values = Values::Some(values);
            }
            let ops = thread.transitions.iter().map(|t| &t.op);
            let ops = ops.filter(|op| sets_something(op));
            instructions.extend(ops.map(|op| (number, op)));
        }
        for (number, (thread, op)) in instructions.iter().enumerate() {
            op.for_each_register(&mut |register| {
                let readers = &mut variables[registers[*thread] + register.index()].readers;
                if readers.last() != Some(&(number as u32)) {
                    readers.push(number as u32);
                }
            });
        }
        let mut analysis = Analysis {
            program,
            memory_kind,
            domain: program.domain,
            queue: (0..instructions.len() as u32).collect(),
            queued: vec![true; instructions.len()],
            instructions,
            variables,
            registers,
            cells: HashMap::new(),
            anywhere: 0,
            memory: 1,
            work: 0,
            gave_up: false,
        };
        for location in &program.locations {
            let initial = program.domain.reduce(location.initial);
            let cell = analysis.variables.len();
            analysis.variables.push(Variable::holding(initial));
            analysis.cells.insert(location.address, cell);
            analysis.variables[analysis.memory]
                .values
                .grow(&Values::Some(vec![initial]));
        }
        analysis.run();
        analysis
    }

    /// What a register may hold.
    pub fn register(&self, thread: ThreadId, register: RegisterId) -> &Values {
        &self.variables[self.register_variable(thread.index(), register)].values
    }

    /// What a location may hold.
    pub fn location(&self, location: LocationId) -> Values {
        if self.gave_up {
            return any(self.domain);
        }
        let address = self.program.location(location).address;
        let mut values = match self.cells.get(&address) {
            Some(&cell) => self.variables[cell].values.clone(),
            None => Values::Some(vec![0]),
        };
        // Whatever was written through a pointer of which nothing is known may be here; if nothing was, this is only the first 0.
        let anywhere = &self.variables[self.anywhere];
        if anywhere.growth > 0 || anywhere.values.size() > 1 || anywhere.values == Values::Any {
            values.grow(&anywhere.values);
        }
        values
    }

    /// The value of an expression of a thread.
    pub fn value(&mut self, thread: ThreadId, expr: &RegisterExpr) -> Values {
        self.eval(thread.index(), expr)
    }

    /// The addresses that an access may go to.
    pub fn addresses(&mut self, thread: ThreadId, address: &Address<RegisterId>) -> Values {
        self.targets(thread.index(), address)
    }

    fn run(&mut self) {
        while let Some(number) = self.queue.pop_front() {
            self.queued[number as usize] = false;
            let (thread, op) = self.instructions[number as usize];
            self.execute(number, thread, op);
            if self.work > BUDGET {
                self.gave_up = true;
                for variable in &mut self.variables {
                    variable.values = any(self.domain);
                }
                return;
            }
        }
    }

    fn execute(&mut self, number: u32, thread: usize, op: &Op) {
        match op {
            Op::Assign(register, value) => {
                let values = self.reduced_value(thread, value);
                self.grow(self.register_variable(thread, *register), &values);
            }
            Op::Load {
                register, address, ..
            } => self.load(number, thread, Some(*register), address),
            Op::Wait {
                register, address, ..
            } => self.load(number, thread, *register, address),
            Op::Store { address, value, .. } => {
                let values = self.reduced_value(thread, value);
                self.store(thread, address, &values);
            }
            Op::Rmw {
                register,
                address,
                action,
                ..
            } => {
                self.load(number, thread, *register, address);
                match action {
                    RmwAction::CompareAndSwap { desired, .. }
                    | RmwAction::BlockingCompareAndSwap { desired, .. }
                    | RmwAction::Exchange(desired) => {
                        let values = self.reduced_value(thread, desired);
                        self.store(thread, address, &values);
                    }
                    RmwAction::Fetch(op, operand) => {
                        let operand = self.eval(thread, operand);
                        let targets = self.targets(thread, address);
                        for cell in self.sources(&targets) {
                            let old = self.variables[cell].values.clone();
                            let new = self.combine(*op, &old, &operand);
                            self.watch(cell, number);
                            self.store(thread, address, &new);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn load(
        &mut self,
        number: u32,
        thread: usize,
        register: Option<RegisterId>,
        address: &Address<RegisterId>,
    ) {
        let Some(register) = register else { return };
        let target = self.register_variable(thread, register);
        let targets = self.targets(thread, address);
        for cell in self.sources(&targets) {
            self.watch(cell, number);
            let values = self.variables[cell].values.clone();
            self.grow(target, &values);
        }
    }

    fn store(&mut self, thread: usize, address: &Address<RegisterId>, values: &Values) {
        self.grow(self.memory, values);
        match self.targets(thread, address) {
            Values::Any => self.grow(self.anywhere, values),
            Values::Some(addresses) => {
                for address in addresses {
                    if let Some(cell) = self.cell(address) {
                        self.grow(cell, values);
                    }
                }
            }
        }
    }

    /// The variables whose values a load from these addresses may see.
    fn sources(&mut self, addresses: &Values) -> Vec<usize> {
        match addresses {
            Values::Any => vec![self.memory],
            Values::Some(addresses) => {
                let mut cells = vec![];
                if self.memory_kind == Memory::EveryInteger
                    || self.variables[self.anywhere].growth > 0
                    || self.variables[self.anywhere].values == Values::Any
                {
                    cells.push(self.anywhere);
                }
                cells.extend(addresses.iter().filter_map(|a| self.cell(*a)));
                cells
            }
        }
    }

    fn targets(&mut self, thread: usize, address: &Address<RegisterId>) -> Values {
        match address {
            Address::Direct(location) => {
                Values::Some(vec![self.program.location(*location).address])
            }
            Address::Element {
                first,
                length,
                index,
            } => {
                let first = self.program.location(*first).address;
                let index = self.eval(thread, index);
                elements(first, *length, &index)
            }
            Address::Pointer(pointer) => self.eval(thread, pointer),
        }
    }

    fn register_variable(&self, thread: usize, register: RegisterId) -> usize {
        self.registers[thread] + register.index()
    }

    fn cell(&mut self, address: Value) -> Option<usize> {
        if let Some(&cell) = self.cells.get(&address) {
            return Some(cell);
        }
        if self.memory_kind == Memory::Declared {
            return None;
        }
        self.variables.push(Variable::holding(0));
        self.cells.insert(address, self.variables.len() - 1);
        Some(self.variables.len() - 1)
    }

    /// `reader` is to be looked at again whenever the variable grows.
    fn watch(&mut self, variable: usize, reader: u32) {
        let readers = &mut self.variables[variable].readers;
        self.work += readers.len();
        if !readers.contains(&reader) {
            readers.push(reader);
        }
    }

    fn grow(&mut self, variable: usize, values: &Values) {
        self.work += values.size();
        let is_anywhere = variable == self.anywhere;
        let variable = &mut self.variables[variable];
        let first_write = is_anywhere && variable.growth == 0;
        if !variable.values.grow(values) && !first_write {
            return;
        }
        variable.growth += 1;
        if variable.growth > MAX_GROWTH || variable.values.size() > MAX_VALUES {
            variable.values = any(self.domain);
        }
        self.work += variable.readers.len();
        for &reader in &variable.readers {
            if !std::mem::replace(&mut self.queued[reader as usize], true) {
                self.queue.push_back(reader);
            }
        }
        if first_write {
            // Loads that saw no reason to look here have one now.
            for number in 0..self.instructions.len() as u32 {
                if !std::mem::replace(&mut self.queued[number as usize], true) {
                    self.queue.push_back(number);
                }
            }
        }
    }

    fn reduced_value(&mut self, thread: usize, expr: &RegisterExpr) -> Values {
        match self.eval(thread, expr) {
            Values::Any => any(self.domain),
            Values::Some(values) => collect(values.iter().map(|v| self.domain.reduce(*v))),
        }
    }

    fn eval(&mut self, thread: usize, expr: &RegisterExpr) -> Values {
        let result = match expr {
            Expr::Const(value) => Values::Some(vec![*value]),
            Expr::Atom(register) => self.variables[self.register_variable(thread, *register)]
                .values
                .clone(),
            Expr::Unary(op, operand) => match self.eval(thread, operand) {
                Values::Some(values) => collect(values.iter().map(|v| self.domain.unary(*op, *v))),
                Values::Any => any(self.domain),
            },
            Expr::Binary(op, left, right) => {
                let left = self.eval(thread, left);
                let right = self.eval(thread, right);
                self.combine(*op, &left, &right)
            }
            Expr::Element {
                first,
                length,
                index,
            } => {
                let index = self.eval(thread, index);
                elements(*first, *length, &index)
            }
        };
        self.work += result.size();
        result
    }

    fn combine(&mut self, op: BinaryOp, left: &Values, right: &Values) -> Values {
        if let (Values::Some(left), Values::Some(right)) = (left, right)
            && left.len() * right.len() <= MAX_COMBINATIONS
        {
            self.work += left.len() * right.len();
            let pairs = left.iter().flat_map(|l| right.iter().map(move |r| (l, r)));
            let domain = self.domain;
            return collect(pairs.filter_map(|(l, r)| domain.binary(op, *l, *r).ok()));
        }
        match op {
            BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
            | BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::And
            | BinaryOp::Or => Values::Some(vec![0, 1]),
            // A mask bounds the result from both sides.
            BinaryOp::BitAnd => match mask(left).or(mask(right)) {
                Some(mask) => collect((0..=mask).map(|v| self.domain.reduce(v))),
                None => any(self.domain),
            },
            _ => any(self.domain),
        }
    }
}

/// Whether an instruction changes a register or memory.
fn sets_something(op: &Op) -> bool {
    matches!(
        op,
        Op::Assign(..) | Op::Load { .. } | Op::Store { .. } | Op::Rmw { .. } | Op::Wait { .. }
    )
}

/// The addresses of an array's elements with these indices; indices outside it are errors of the program.
fn elements(first: Value, length: u32, index: &Values) -> Values {
    let length = Value::from(length);
    match index {
        Values::Some(values) => {
            let inside = values.iter().filter(|i| (0..length).contains(*i));
            Values::Some(inside.map(|i| first + i).collect())
        }
        Values::Any => Values::Some((0..length).map(|i| first + i).collect()),
    }
}

/// All ones up to the highest bit of the largest value, where all values are known, small and not negative.
fn mask(values: &Values) -> Option<Value> {
    let (first, last) = values.range()?;
    let bits = (last as u64).checked_add(1)?.checked_next_power_of_two()? as Value - 1;
    (first >= 0 && bits < MAX_VALUES as Value).then_some(bits)
}

/// Any value that an operation or a store can result in.
fn any(domain: Domain) -> Values {
    match domain.size() {
        Some(size) if size <= MAX_VALUES as Value => Values::Some((0..size).collect()),
        _ => Values::Any,
    }
}

fn collect(values: impl Iterator<Item = Value>) -> Values {
    let mut values: Vec<Value> = values.collect();
    values.sort_unstable();
    values.dedup();
    Values::Some(values)
}
