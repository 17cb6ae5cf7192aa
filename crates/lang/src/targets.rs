//! Which locations each access may go to: a flow-insensitive analysis of values, as sets while they are small and as intervals beyond.
//!
//! A pointer in a program can be any number, but in most programs it is one of a few. What is found is sound: no run accesses anything else
//! there. A condition that was tested just before an access, such as that of an index, counts for it.

use std::collections::VecDeque;

use crate::expr::{BinaryOp, Domain, Expr, Value};
use crate::program::{
    Address, Copies, LocationId, Op, Program, RegisterExpr, RegisterId, RmwAction, Thread,
};
use crate::ranges::{self, ALL, Range};

/// More values than this are an interval.
const MAX_VALUES: usize = 512;
/// A set that grows more often than this is an interval, and an interval that does is everything on the side on which it grows.
const MAX_GROWTH: u32 = 24;
/// Values looked at before the analysis gives up.
const BUDGET: usize = 4_000_000;
/// With more locations nothing is analysed.
const MAX_LOCATIONS: usize = 20_000;
/// So many conditions before an access are looked at.
const MAX_CONDITIONS: usize = 8;

/// What an access may go to.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// The locations, ascending. None for what accesses no memory.
    pub locations: Vec<LocationId>,
    /// The address may also be no location's, which is an error of the program.
    pub may_err: bool,
}

/// For each thread, for each of its transitions, what it may access.
#[derive(Clone, Debug)]
pub struct Targets {
    threads: Vec<Vec<Target>>,
}

impl Targets {
    /// Analyses a program; `None` where that takes too long.
    pub fn of(program: &Program) -> Option<Self> {
        if program.locations.len() > MAX_LOCATIONS {
            return None;
        }
        let mut analysis = Analysis::new(program);
        analysis.run().then_some(())?;
        let mut threads = Vec::new();
        for (number, thread) in program.threads.iter().enumerate() {
            let mut found = Vec::new();
            for (index, transition) in thread.transitions.iter().enumerate() {
                let tested = std::mem::take(&mut analysis.tested[number][index]);
                found.push(match transition.op.address() {
                    Some(address) => analysis.target(number, address, &tested),
                    None => Target::default(),
                });
                (analysis.work <= 2 * BUDGET).then_some(())?;
            }
            threads.push(found);
        }
        Some(Targets { threads })
    }

    /// What a transition of a thread may access.
    pub fn of_transition(&self, thread: usize, transition: usize) -> &Target {
        &self.threads[thread][transition]
    }
}

/// What a variable may hold.
#[derive(Clone, Debug, PartialEq)]
enum Known {
    /// These values, ascending.
    Some(Vec<Value>),
    /// Anything from here to there.
    Range(Range),
}

impl Known {
    fn from_range(range: Range) -> Self {
        match range.1 - range.0 < MAX_VALUES as i128 {
            true => Known::Some((range.0 as Value..=range.1 as Value).collect()),
            false => Known::Range(range),
        }
    }

    fn collect(values: impl Iterator<Item = Value>) -> Self {
        let mut values: Vec<Value> = values.collect();
        values.sort_unstable();
        values.dedup();
        Known::Some(values).shortened()
    }

    fn shortened(self) -> Self {
        match &self {
            Known::Some(values) if values.len() > MAX_VALUES => {
                Known::Range(self.range().unwrap_or(ALL))
            }
            _ => self,
        }
    }

    /// The least and the largest; `None` where there is no value.
    fn range(&self) -> Option<Range> {
        match self {
            Known::Some(values) => Some(((*values.first()?).into(), (*values.last()?).into())),
            Known::Range(range) => Some(*range),
        }
    }

    fn size(&self) -> usize {
        match self {
            Known::Some(values) => values.len() + 1,
            Known::Range(_) => 1,
        }
    }

    /// Adds everything in `other`; whether that made a difference.
    fn grow(&mut self, other: &Known, widen: bool) -> bool {
        if let (Known::Some(mine), Known::Some(more)) = (&mut *self, other) {
            let before = mine.len();
            for value in more {
                if let Err(at) = mine.binary_search(value) {
                    mine.insert(at, *value);
                }
            }
            let grown = mine.len() > before;
            if mine.len() > MAX_VALUES {
                *self = Known::Range(self.range().unwrap_or(ALL));
            }
            return grown;
        }
        let (Some(mine), Some(more)) = (self.range(), other.range()) else {
            if matches!(self, Known::Some(mine) if mine.is_empty()) && other.range().is_some() {
                *self = other.clone();
                return true;
            }
            return false;
        };
        let mut both = (mine.0.min(more.0), mine.1.max(more.1));
        if widen && both.0 < mine.0 {
            both.0 = ALL.0;
        }
        if widen && both.1 > mine.1 {
            both.1 = ALL.1;
        }
        let grown = both != mine || matches!(self, Known::Some(_));
        *self = Known::Range(both);
        grown
    }

    /// What of it lies in an interval.
    fn within(&self, range: Range) -> Known {
        match self {
            Known::Some(values) => {
                let inside = |v: &&Value| (range.0..=range.1).contains(&i128::from(**v));
                Known::Some(values.iter().filter(inside).copied().collect())
            }
            Known::Range(mine) => match ranges::meet(*mine, range) {
                Some(range) => Known::from_range(range),
                None => Known::Some(Vec::new()),
            },
        }
    }
}

/// An expression that was found to be in an interval just before.
type Tested<'p> = Vec<(&'p RegisterExpr, Range)>;

struct Variable {
    known: Known,
    growth: u32,
    /// The instructions to be looked at again when it grows.
    readers: Vec<u32>,
}

impl Variable {
    fn holding(known: Known) -> Self {
        Variable {
            known,
            growth: 0,
            readers: Vec::new(),
        }
    }
}

struct Analysis<'p> {
    program: &'p Program,
    domain: Domain,
    /// First a variable for each location, then those of each thread's registers.
    variables: Vec<Variable>,
    registers: Vec<usize>,
    /// Which transition of which thread.
    instructions: Vec<(usize, usize)>,
    tested: Vec<Vec<Tested<'p>>>,
    queue: VecDeque<u32>,
    queued: Vec<bool>,
    work: usize,
}

impl<'p> Analysis<'p> {
    fn new(program: &'p Program) -> Self {
        let domain = program.domain;
        let initial = |l: &crate::program::Location| Known::Some(vec![domain.reduce(l.initial)]);
        let locations = program.locations.iter();
        let mut variables: Vec<Variable> = locations
            .map(|location| Variable::holding(initial(location)))
            .collect();
        let mut registers = Vec::new();
        let mut instructions = Vec::new();
        let mut tested = Vec::new();
        for (number, thread) in program.threads.iter().enumerate() {
            let first = variables.len();
            registers.push(first);
            // The 0 that a register begins with counts where it can be read.
            let begins = read_at_the_beginning(thread)
                .into_iter()
                .map(|read| match read {
                    true => Known::Some(vec![0]),
                    false => Known::Some(Vec::new()),
                });
            variables.extend(begins.map(Variable::holding));
            if let (Some(me), Copies::Fixed(copies)) = (thread.me, thread.copies) {
                let numbers = (0, i128::from(copies).max(1) - 1);
                variables[first + me.index()].known = Known::from_range(numbers);
            }
            tested.push(conditions_before(thread));
            for (index, transition) in thread.transitions.iter().enumerate() {
                let instruction = instructions.len() as u32;
                transition.op.for_each_register(&mut |register| {
                    let readers = &mut variables[first + register.index()].readers;
                    if readers.last() != Some(&instruction) {
                        readers.push(instruction);
                    }
                });
                instructions.push((number, index));
            }
        }
        Analysis {
            program,
            domain,
            variables,
            registers,
            queue: (0..instructions.len() as u32).collect(),
            queued: vec![true; instructions.len()],
            instructions,
            tested,
            work: 0,
        }
    }

    /// Until nothing grows; `false` where that takes too long.
    fn run(&mut self) -> bool {
        let program = self.program;
        while let Some(number) = self.queue.pop_front() {
            self.queued[number as usize] = false;
            let (thread, index) = self.instructions[number as usize];
            let op = &program.threads[thread].transitions[index].op;
            self.execute(number, thread, index, op);
            self.work += 1;
            if self.work > BUDGET {
                return false;
            }
        }
        true
    }

    fn execute(&mut self, number: u32, thread: usize, index: usize, op: &Op) {
        let tested = std::mem::take(&mut self.tested[thread][index]);
        match op {
            Op::Assign(register, value) => {
                let value = self.eval(thread, value, &tested);
                self.grow(self.registers[thread] + register.index(), &value);
            }
            Op::Load {
                register, address, ..
            } => {
                self.read(number, thread, Some(*register), address, &tested);
            }
            Op::Wait {
                register, address, ..
            } => {
                self.read(number, thread, *register, address, &tested);
            }
            Op::Store { address, value, .. } => {
                let value = self.eval(thread, value, &tested);
                self.write(thread, address, &value, &tested);
            }
            Op::Rmw {
                register,
                address,
                action,
                ..
            } => {
                let old = self.read(number, thread, *register, address, &tested);
                let value = match action {
                    RmwAction::CompareAndSwap { desired, .. }
                    | RmwAction::BlockingCompareAndSwap { desired, .. }
                    | RmwAction::Exchange(desired) => self.eval(thread, desired, &tested),
                    RmwAction::Fetch(op, operand) => {
                        let operand = self.eval(thread, operand, &tested);
                        self.combine(*op, &old, &operand)
                    }
                };
                self.write(thread, address, &value, &tested);
            }
            _ => {}
        }
        self.tested[thread][index] = tested;
    }

    /// What a read may find; the register that gets it grows.
    fn read(
        &mut self,
        number: u32,
        thread: usize,
        register: Option<RegisterId>,
        address: &Address<RegisterId>,
        tested: &Tested<'_>,
    ) -> Known {
        let mut found = Known::Some(Vec::new());
        for location in self.locations(thread, address, tested) {
            let cell = &mut self.variables[location];
            self.work += cell.known.size();
            if let Err(at) = cell.readers.binary_search(&number) {
                cell.readers.insert(at, number);
            }
            found.grow(&self.variables[location].known, false);
        }
        if let Some(register) = register {
            self.grow(self.registers[thread] + register.index(), &found);
        }
        found
    }

    fn write(
        &mut self,
        thread: usize,
        address: &Address<RegisterId>,
        value: &Known,
        tested: &Tested<'_>,
    ) {
        let value = match self.domain.size() {
            None => value.clone(),
            Some(_) => self.reduced(value.clone()),
        };
        for location in self.locations(thread, address, tested) {
            self.grow(location, &value);
        }
    }

    fn grow(&mut self, variable: usize, value: &Known) {
        self.work += value.size();
        let variable = &mut self.variables[variable];
        if !variable.known.grow(value, variable.growth > MAX_GROWTH) {
            return;
        }
        variable.growth += 1;
        if let (true, Known::Some(_)) = (variable.growth > MAX_GROWTH, &variable.known) {
            variable.known = Known::Range(variable.known.range().unwrap_or(ALL));
            variable.growth = 0;
        }
        for reader in &variable.readers {
            if !std::mem::replace(&mut self.queued[*reader as usize], true) {
                self.queue.push_back(*reader);
            }
        }
    }

    /// The locations that an access may go to.
    fn locations(
        &mut self,
        thread: usize,
        address: &Address<RegisterId>,
        tested: &Tested<'_>,
    ) -> impl Iterator<Item = usize> + use<> {
        let target = self.target(thread, address, tested);
        target.locations.into_iter().map(LocationId::index)
    }

    fn target(
        &mut self,
        thread: usize,
        address: &Address<RegisterId>,
        tested: &Tested<'_>,
    ) -> Target {
        let number = |index: usize| LocationId(index as u32);
        let (locations, may_err): (Vec<LocationId>, bool) = match address {
            Address::Direct(location) => (vec![*location], false),
            Address::Element {
                first,
                length,
                index,
            } => {
                let index = self.eval(thread, index, tested);
                let inside = index.within((0, i128::from(*length) - 1));
                let may_err = inside != index;
                let element = |index: i128| number(first.index() + index as usize);
                match inside {
                    Known::Some(values) => {
                        let found = values.iter().map(|v| element(i128::from(*v)));
                        (found.collect(), may_err)
                    }
                    Known::Range(range) => ((range.0..=range.1).map(element).collect(), may_err),
                }
            }
            Address::Pointer(pointer) => match self.eval(thread, pointer, tested) {
                Known::Some(values) => {
                    let found = values.iter().filter_map(|v| self.program.location_at(*v));
                    let found: Vec<LocationId> = found.collect();
                    let may_err = found.len() < values.len();
                    (found, may_err)
                }
                Known::Range(range) => {
                    let before = |bound: i128| {
                        let locations = &self.program.locations;
                        locations.partition_point(|l| i128::from(l.address) < bound)
                    };
                    let found = before(range.0)..before(range.1 + 1);
                    (found.map(number).collect(), true)
                }
            },
        };
        self.work += locations.len();
        Target { locations, may_err }
    }

    fn reduced(&self, value: Known) -> Known {
        let Some(size) = self.domain.size() else {
            return match value {
                Known::Range(range) if range.0 < ALL.0 || range.1 > ALL.1 => Known::Range(ALL),
                other => other,
            };
        };
        match value {
            Known::Some(values) => Known::collect(values.iter().map(|v| self.domain.reduce(*v))),
            Known::Range(_) => Known::from_range((0, i128::from(size) - 1)),
        }
    }

    fn eval(&mut self, thread: usize, expr: &RegisterExpr, tested: &Tested<'_>) -> Known {
        let value = match expr {
            Expr::Const(value) => Known::Some(vec![*value]),
            Expr::Atom(register) => {
                let variable = self.registers[thread] + register.index();
                self.variables[variable].known.clone()
            }
            Expr::Unary(op, operand) => match self.eval(thread, operand, tested) {
                Known::Some(values) => {
                    Known::collect(values.iter().map(|v| self.domain.unary(*op, *v)))
                }
                Known::Range(range) => self.reduced(Known::Range(ranges::unary(*op, range))),
            },
            Expr::Binary(op, left, right) => {
                let left = self.eval(thread, left, tested);
                let right = self.eval(thread, right, tested);
                self.combine(*op, &left, &right)
            }
            Expr::Element {
                first,
                length,
                index,
            } => {
                let inside = (0, i128::from(*length) - 1);
                let index = self.eval(thread, index, tested).within(inside);
                let first = Known::Some(vec![*first]);
                self.combine(BinaryOp::Add, &first, &index)
            }
        };
        self.work += value.size();
        tested
            .iter()
            .filter(|(tested, _)| *tested == expr)
            .fold(value, |value, (_, range)| value.within(*range))
    }

    fn combine(&mut self, op: BinaryOp, left: &Known, right: &Known) -> Known {
        if let (Known::Some(left), Known::Some(right)) = (left, right)
            && left.len() * right.len() <= MAX_VALUES * 8
        {
            self.work += left.len() * right.len();
            let pairs = left.iter().flat_map(|l| right.iter().map(move |r| (l, r)));
            let domain = self.domain;
            return Known::collect(pairs.filter_map(|(l, r)| domain.binary(op, *l, *r).ok()));
        }
        match (left.range(), right.range()) {
            (Some(left), Some(right)) => {
                match self.reduced(Known::Range(ranges::binary(op, left, right))) {
                    Known::Range(range) => Known::from_range(range),
                    known => known,
                }
            }
            _ => Known::Some(Vec::new()),
        }
    }
}

/// For each register of a thread: whether it may be read before it is set.
fn read_at_the_beginning(thread: &Thread) -> Vec<bool> {
    let words = thread.registers.len().div_ceil(64).max(1);
    let mut incoming = vec![Vec::new(); thread.points.len()];
    for (index, transition) in thread.transitions.iter().enumerate() {
        incoming[transition.to.index()].push(index);
    }
    let mut live = vec![0u64; words * thread.points.len()];
    let mut work: Vec<usize> = (0..thread.transitions.len()).collect();
    let mut needed = vec![0u64; words];
    while let Some(index) = work.pop() {
        let transition = &thread.transitions[index];
        let (from, to) = (transition.from.index(), transition.to.index());
        needed.copy_from_slice(&live[to * words..][..words]);
        if let Some(register) = transition.op.target() {
            needed[register.index() / 64] &= !(1 << (register.index() % 64));
        }
        transition.op.for_each_register(&mut |register| {
            needed[register.index() / 64] |= 1 << (register.index() % 64);
        });
        let mut changed = false;
        for (word, need) in live[from * words..][..words].iter_mut().zip(&needed) {
            changed |= need & !*word != 0;
            *word |= need;
        }
        if changed {
            work.extend(&incoming[from]);
        }
    }
    let start = &live[thread.initial.index() * words..][..words];
    (0..thread.registers.len())
        .map(|r| start[r / 64] >> (r % 64) & 1 == 1)
        .collect()
}

/// For each transition of a thread, what was tested on the only way to it since any register changed.
fn conditions_before(thread: &Thread) -> Vec<Tested<'_>> {
    // The only transition to each point, where there is just one.
    let mut only: Vec<Option<usize>> = vec![None; thread.points.len()];
    let mut several = vec![false; thread.points.len()];
    several[thread.initial.index()] = true;
    for (index, transition) in thread.transitions.iter().enumerate() {
        let to = transition.to.index();
        several[to] |= only[to].replace(index).is_some();
    }
    let mut all = Vec::new();
    for transition in &thread.transitions {
        let mut tested = Vec::new();
        let mut point = transition.from.index();
        for _ in 0..MAX_CONDITIONS {
            let (false, Some(before)) = (several[point], only[point]) else {
                break;
            };
            let before = &thread.transitions[before];
            match &before.op {
                Op::Assume(condition) | Op::Assert(condition) => intervals(condition, &mut tested),
                Op::Jump | Op::Skip => {}
                _ => break,
            }
            point = before.from.index();
        }
        all.push(tested);
    }
    all
}

/// What a condition that holds says about parts of it.
fn intervals<'p>(condition: &'p RegisterExpr, found: &mut Tested<'p>) {
    let Expr::Binary(op, left, right) = condition else {
        return;
    };
    if *op == BinaryOp::And {
        intervals(left, found);
        return intervals(right, found);
    }
    let (Expr::Const(bound), expr) = (&**right, &**left) else {
        return;
    };
    let bound = i128::from(*bound);
    let range = match op {
        BinaryOp::Equal => (bound, bound),
        BinaryOp::Less => (ALL.0, bound - 1),
        BinaryOp::LessEqual => (ALL.0, bound),
        BinaryOp::Greater => (bound + 1, ALL.1),
        BinaryOp::GreaterEqual => (bound, ALL.1),
        _ => return,
    };
    if range.0 <= range.1 {
        found.push((expr, range));
    }
}
