//! Which addresses an automaton can touch.
//!
//! Any integer is an address, so the memory of a program is what its accesses can reach. Constant addresses are plain to see; for computed ones
//! a flow-insensitive analysis collects, for each register and each cell of memory, the values that it may ever hold. A variable that takes
//! too many values, or keeps on growing, is given up as "any value"; an access whose address may be any value stands for the addresses of
//! [`fallback_range`], and an access beyond these is an error of the analysed program.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::RangeInclusive;

use super::{Automaton, Instruction};
use crate::expr::{BinaryOp, Domain, Expr, Value};
use crate::program::{RegisterExpr, RegisterId};
use crate::source::Span;

/// A variable with more values than this is given up.
const MAX_VALUES: usize = 4096;
/// So is one that grows more often than this: it counts.
const MAX_GROWTH: u32 = 64;
/// Operands with more combinations than this are not combined one by one.
const MAX_COMBINATIONS: usize = 1 << 16;
/// When the whole analysis has looked at this many values, it gives up every variable.
const BUDGET: usize = 20_000_000;
/// No address of the fallback range is larger than this.
const MAX_FALLBACK: Value = 65_535;

/// Every address that may be accessed, with the first access to it.
pub(super) fn find(
    automata: &[Automaton],
    domain: Domain,
    memory_size: Option<Value>,
) -> BTreeMap<Value, Span> {
    let mut found = BTreeMap::new();
    let mut computed = Vec::new();
    for (thread, automaton) in automata.iter().enumerate() {
        for (transition, instruction) in automaton
            .thread
            .transitions
            .iter()
            .zip(&automaton.instructions)
        {
            let (Instruction::Read(_, address) | Instruction::Write(_, address)) = instruction
            else {
                continue;
            };
            match address.constant(domain) {
                Some(address) => {
                    found.entry(address).or_insert(transition.span);
                }
                None => computed.push((thread, address, transition.span)),
            }
        }
    }
    if computed.is_empty() {
        return found;
    }
    let mut analysis = Analysis::new(automata, domain);
    analysis.run();
    let mut first_unknown = None;
    for (thread, address, span) in computed {
        match analysis.eval(thread, address) {
            Values::Some(addresses) => {
                for address in addresses {
                    found.entry(address).or_insert(span);
                }
            }
            Values::Any => {
                first_unknown.get_or_insert(span);
            }
        }
    }
    if let Some(span) = first_unknown {
        for address in fallback_range(automata, domain, memory_size) {
            found.entry(address).or_insert(span);
        }
    }
    found
}

/// The addresses that an access stands for about which nothing is known: `0` to the largest of `memory_size - 1`, the largest
/// constant in the program, the largest value of the domain, and 255 (but never beyond 65535).
fn fallback_range(
    automata: &[Automaton],
    domain: Domain,
    memory_size: Option<Value>,
) -> RangeInclusive<Value> {
    let mut last = 255;
    let mut consider = |value: Value| {
        if value <= MAX_FALLBACK {
            last = last.max(value);
        }
    };
    consider(memory_size.unwrap_or(0).saturating_sub(1));
    consider(domain.size().unwrap_or(0).saturating_sub(1));
    for instruction in automata.iter().flat_map(|a| &a.instructions) {
        for expr in expressions(instruction) {
            for_each_constant(expr, &mut consider);
        }
    }
    0..=last
}

fn expressions(instruction: &Instruction) -> impl Iterator<Item = &RegisterExpr> {
    let (first, second) = match instruction {
        Instruction::Read(_, e) | Instruction::Local(_, e) | Instruction::Check(e) => {
            (Some(e), None)
        }
        Instruction::Write(value, address) => (Some(value), Some(address)),
        _ => (None, None),
    };
    first.into_iter().chain(second)
}

fn for_each_constant(expr: &RegisterExpr, visit: &mut impl FnMut(Value)) {
    match expr {
        Expr::Const(value) => visit(*value),
        Expr::Atom(_) => {}
        Expr::Unary(_, operand) => for_each_constant(operand, visit),
        Expr::Binary(_, left, right) => {
            for_each_constant(left, visit);
            for_each_constant(right, visit);
        }
        Expr::Element { index, .. } => for_each_constant(index, visit),
    }
}

/// A set of values.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Values {
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
}

/// A register or a cell of memory.
struct Variable {
    values: Values,
    growth: u32,
    /// The instructions that read it.
    readers: Vec<u32>,
}

struct Analysis<'a> {
    domain: Domain,
    instructions: Vec<(usize, &'a Instruction)>,
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
}

impl<'a> Analysis<'a> {
    fn new(automata: &'a [Automaton], domain: Domain) -> Self {
        let variable = || Variable {
            values: Values::Some(vec![0]),
            growth: 0,
            readers: Vec::new(),
        };
        let mut variables = vec![variable(), variable()];
        let mut registers = Vec::with_capacity(automata.len());
        let mut instructions = Vec::new();
        for (thread, automaton) in automata.iter().enumerate() {
            registers.push(variables.len());
            variables.extend(automaton.thread.registers.iter().map(|_| variable()));
            for instruction in &automaton.instructions {
                let matters = matches!(
                    instruction,
                    Instruction::Read(..) | Instruction::Write(..) | Instruction::Local(..)
                );
                if matters {
                    instructions.push((thread, instruction));
                }
            }
        }
        for (number, (thread, instruction)) in instructions.iter().enumerate() {
            for expr in expressions(instruction) {
                expr.for_each_atom(&mut |register| {
                    let readers = &mut variables[registers[*thread] + register.index()].readers;
                    if readers.last() != Some(&(number as u32)) {
                        readers.push(number as u32);
                    }
                });
            }
        }
        Analysis {
            domain,
            queue: (0..instructions.len() as u32).collect(),
            queued: vec![true; instructions.len()],
            instructions,
            variables,
            registers,
            cells: HashMap::new(),
            anywhere: 0,
            memory: 1,
            work: 0,
        }
    }

    fn run(&mut self) {
        while let Some(number) = self.queue.pop_front() {
            self.queued[number as usize] = false;
            let (thread, instruction) = self.instructions[number as usize];
            match instruction {
                Instruction::Local(register, value) => {
                    let values = self.eval(thread, value);
                    let values = self.reduced(values);
                    self.grow(self.register(thread, *register), &values);
                }
                Instruction::Read(register, address) => {
                    let target = self.register(thread, *register);
                    match self.eval(thread, address) {
                        Values::Any => self.flow(self.memory, target, number),
                        Values::Some(addresses) => {
                            self.flow(self.anywhere, target, number);
                            for address in addresses {
                                let cell = self.cell(address);
                                self.flow(cell, target, number);
                            }
                        }
                    }
                }
                Instruction::Write(value, address) => {
                    let values = self.eval(thread, value);
                    let values = self.reduced(values);
                    self.grow(self.memory, &values);
                    match self.eval(thread, address) {
                        Values::Any => self.grow(self.anywhere, &values),
                        Values::Some(addresses) => {
                            for address in addresses {
                                let cell = self.cell(address);
                                self.grow(cell, &values);
                            }
                        }
                    }
                }
                _ => {}
            }
            if self.work > BUDGET {
                for variable in &mut self.variables {
                    variable.values = Values::Any;
                }
                return;
            }
        }
    }

    fn register(&self, thread: usize, register: RegisterId) -> usize {
        self.registers[thread] + register.index()
    }

    fn cell(&mut self, address: Value) -> usize {
        *self.cells.entry(address).or_insert_with(|| {
            self.variables.push(Variable {
                values: Values::Some(vec![0]),
                growth: 0,
                readers: Vec::new(),
            });
            self.variables.len() - 1
        })
    }

    /// `reader` copies `from` into `to`, now and whenever `from` grows.
    fn flow(&mut self, from: usize, to: usize, reader: u32) {
        if !self.variables[from].readers.contains(&reader) {
            self.variables[from].readers.push(reader);
        }
        self.work += self.variables[from].readers.len();
        let values = self.variables[from].values.clone();
        self.grow(to, &values);
    }

    fn grow(&mut self, variable: usize, values: &Values) {
        self.work += values.size();
        let variable = &mut self.variables[variable];
        if !variable.values.grow(values) {
            return;
        }
        variable.growth += 1;
        if variable.growth > MAX_GROWTH || variable.values.size() > MAX_VALUES {
            variable.values = any(self.domain);
            variable.growth = 0;
        }
        for &reader in &variable.readers {
            if !std::mem::replace(&mut self.queued[reader as usize], true) {
                self.queue.push_back(reader);
            }
        }
        self.work += variable.readers.len();
    }

    fn reduced(&self, values: Values) -> Values {
        match values {
            Values::Any => any(self.domain),
            Values::Some(values) => collect(values.iter().map(|v| self.domain.reduce(*v))),
        }
    }

    fn eval(&mut self, thread: usize, expr: &RegisterExpr) -> Values {
        let result = match expr {
            Expr::Const(value) => Values::Some(vec![*value]),
            Expr::Atom(register) => self.variables[self.register(thread, *register)]
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
            Expr::Element { .. } => Values::Any,
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

/// The largest value, where all values are known, small and not negative.
fn mask(values: &Values) -> Option<Value> {
    match values {
        Values::Some(values) => {
            let (first, last) = (*values.first()?, *values.last()?);
            // The bits of a smaller value may exceed the largest one's only below its highest bit.
            let bits = (last as u64 + 1).checked_next_power_of_two()? as Value - 1;
            (first >= 0 && bits < MAX_VALUES as Value).then_some(bits)
        }
        Values::Any => None,
    }
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
