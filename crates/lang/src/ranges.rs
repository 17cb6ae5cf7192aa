//! Which values registers may hold at each point, and locations at any time: intervals.
//!
//! Finer than [`crate::values`] where a program counts up to a bound that it tests; coarser where values are few but far apart. Both are
//! sound, so what both allow is.

use crate::expr::{BinaryOp, Domain, Expr, UnaryOp, Value};
use crate::program::{
    Address, Copies, LocationId, Op, PointId, Program, RegisterExpr, RegisterId, RmwAction, Thread,
    ThreadId,
};

/// The least and the largest value.
pub type Range = (i128, i128);

/// Every value there is.
pub const ALL: Range = (Value::MIN as i128, Value::MAX as i128);

/// A range that has grown more often than this jumps to the next number that the program mentions.
const MAX_GROWTH: u8 = 3;
/// Numbers of the program that count as such bounds.
const MAX_BOUNDS: usize = 100;
/// Registers looked at before the analysis gives up.
const BUDGET: usize = 20_000_000;

/// What is known. `None` inside: the point is never reached.
pub struct Ranges {
    points: Vec<Vec<Option<Vec<Range>>>>,
    locations: Vec<Range>,
    gave_up: bool,
}

impl Ranges {
    /// Analyses a program.
    pub fn new(program: &Program) -> Self {
        let mut analysis = Analysis::new(program);
        let gave_up = !analysis.run();
        Ranges {
            points: analysis.points,
            locations: analysis.locations,
            gave_up,
        }
    }

    /// What a register may hold at a point.
    pub fn register_at(&self, thread: ThreadId, point: PointId, register: RegisterId) -> Range {
        if self.gave_up {
            return ALL;
        }
        match &self.points[thread.index()][point.index()] {
            Some(registers) => registers[register.index()],
            None => (0, 0),
        }
    }

    /// What a register may hold anywhere.
    pub fn register(&self, thread: ThreadId, register: RegisterId) -> Range {
        if self.gave_up {
            return ALL;
        }
        let points = self.points[thread.index()].iter().flatten();
        points.fold((0, 0), |all, registers| {
            join(all, registers[register.index()])
        })
    }

    /// What a location may hold.
    pub fn location(&self, location: LocationId) -> Range {
        match self.gave_up {
            true => ALL,
            false => self.locations[location.index()],
        }
    }
}

struct Analysis<'p> {
    program: &'p Program,
    points: Vec<Vec<Option<Vec<Range>>>>,
    growth: Vec<Vec<u8>>,
    locations: Vec<Range>,
    location_growth: Vec<u8>,
    /// Numbers at which ranges that grow stop for a while, ascending.
    bounds: Vec<i128>,
    work: usize,
}

impl<'p> Analysis<'p> {
    fn new(program: &'p Program) -> Self {
        let domain = program.domain;
        let mut points = Vec::new();
        for thread in &program.threads {
            let mut states = vec![None; thread.points.len()];
            let mut registers = vec![(0, 0); thread.registers.len()];
            if let (Some(me), Copies::Fixed(copies)) = (thread.me, thread.copies) {
                registers[me.index()] = (0, i128::from(copies.saturating_sub(1)));
            }
            states[thread.initial.index()] = Some(registers);
            points.push(states);
        }
        let initial = |l: &crate::program::Location| i128::from(domain.reduce(l.initial));
        let locations = program.locations.iter().map(|l| (initial(l), initial(l)));
        let threads = program.threads.iter();
        Analysis {
            program,
            points,
            growth: threads.map(|t| vec![0; t.points.len()]).collect(),
            locations: locations.collect(),
            location_growth: vec![0; program.locations.len()],
            bounds: bounds(program),
            work: 0,
        }
    }

    /// Until nothing changes; `false` where that takes too long.
    fn run(&mut self) -> bool {
        loop {
            let mut changed = false;
            for number in 0..self.program.threads.len() {
                let thread = &self.program.threads[number];
                for transition in &thread.transitions {
                    let from = &self.points[number][transition.from.index()];
                    let Some(mut registers) = from.clone() else {
                        continue;
                    };
                    self.work += registers.len() + 1;
                    if self.execute(&transition.op, &mut registers, &mut changed) {
                        changed |= self.arrive(number, thread, transition.to, &registers);
                    }
                }
                if self.work > BUDGET {
                    return false;
                }
            }
            if !changed {
                return true;
            }
        }
    }

    /// Joins what is known at a point with what arrives there; whether that is more.
    fn arrive(&mut self, number: usize, _: &Thread, to: PointId, registers: &[Range]) -> bool {
        let state = &mut self.points[number][to.index()];
        let Some(known) = state else {
            *state = Some(registers.to_vec());
            return true;
        };
        if known.iter().zip(registers).all(|(k, r)| contains(*k, *r)) {
            return false;
        }
        let growth = &mut self.growth[number][to.index()];
        *growth = growth.saturating_add(1);
        let widen = *growth > MAX_GROWTH;
        for (known, new) in known.iter_mut().zip(registers) {
            *known = grown(*known, *new, widen, &self.bounds);
        }
        true
    }

    /// The registers after an instruction; `false` where it is never executed from here.
    fn execute(&mut self, op: &Op, registers: &mut [Range], changed: &mut bool) -> bool {
        let domain = self.program.domain;
        match op {
            Op::Assume(condition) | Op::Assert(condition) => {
                return refine(domain, condition, true, registers);
            }
            Op::Assign(register, value) => {
                registers[register.index()] = reduced(domain, eval(domain, value, registers));
            }
            Op::Load {
                register, address, ..
            } => match self.read(address, registers) {
                Some(range) => registers[register.index()] = range,
                None => return false,
            },
            Op::Store { address, value, .. } => {
                let value = reduced(domain, eval(domain, value, registers));
                return self.write(address, value, registers, changed);
            }
            Op::Wait {
                register, address, ..
            } => match (self.read(address, registers), register) {
                (None, _) => return false,
                (Some(range), Some(register)) => registers[register.index()] = range,
                (Some(_), None) => {}
            },
            Op::Rmw {
                register,
                address,
                action,
                ..
            } => {
                let Some(old) = self.read(address, registers) else {
                    return false;
                };
                let value = match action {
                    RmwAction::CompareAndSwap { desired, .. }
                    | RmwAction::BlockingCompareAndSwap { desired, .. }
                    | RmwAction::Exchange(desired) => eval(domain, desired, registers),
                    RmwAction::Fetch(op, operand) => {
                        let operand = eval(domain, operand, registers);
                        reduced(domain, binary(*op, old, operand))
                    }
                };
                let value = reduced(domain, value);
                if !self.write(address, value, registers, changed) {
                    return false;
                }
                if let Some(register) = register {
                    registers[register.index()] = old;
                }
            }
            Op::Skip | Op::Jump | Op::Fence(_) | Op::AtomicBegin | Op::AtomicEnd => {}
        }
        true
    }

    /// The locations that an access may go to. An index that was right stays so.
    fn targets(&self, address: &Address<RegisterId>, registers: &mut [Range]) -> Vec<usize> {
        let domain = self.program.domain;
        match address {
            Address::Direct(location) => vec![location.index()],
            Address::Element {
                first,
                length,
                index,
            } => {
                let inside = (0, i128::from(*length) - 1);
                let Some(range) = meet(eval(domain, index, registers), inside) else {
                    return Vec::new();
                };
                if let Expr::Atom(register) = index {
                    registers[register.index()] = range;
                }
                let first = first.index();
                (first + range.0 as usize..=first + range.1 as usize).collect()
            }
            Address::Pointer(pointer) => {
                let range = eval(domain, pointer, registers);
                let locations = self.program.locations.iter().enumerate();
                let inside = locations.filter(|(_, l)| {
                    let address = i128::from(l.address);
                    range.0 <= address && address <= range.1
                });
                inside.map(|(index, _)| index).collect()
            }
        }
    }

    fn read(&mut self, address: &Address<RegisterId>, registers: &mut [Range]) -> Option<Range> {
        let targets = self.targets(address, registers);
        self.work += targets.len();
        targets.iter().map(|t| self.locations[*t]).reduce(join)
    }

    fn write(
        &mut self,
        address: &Address<RegisterId>,
        value: Range,
        registers: &mut [Range],
        changed: &mut bool,
    ) -> bool {
        let targets = self.targets(address, registers);
        self.work += targets.len();
        for target in &targets {
            if contains(self.locations[*target], value) {
                continue;
            }
            *changed = true;
            let growth = &mut self.location_growth[*target];
            *growth = growth.saturating_add(1);
            let widen = *growth > MAX_GROWTH;
            self.locations[*target] = grown(self.locations[*target], value, widen, &self.bounds);
        }
        !targets.is_empty()
    }
}

/// The numbers of the program and their neighbours, and the bounds of usual types.
fn bounds(program: &Program) -> Vec<i128> {
    let mut bounds = Vec::new();
    let mut add = |expr: &RegisterExpr| for_each_constant(expr, &mut bounds);
    for transition in program.threads.iter().flat_map(|t| &t.transitions) {
        match &transition.op {
            Op::Assign(_, e) | Op::Assume(e) | Op::Assert(e) => add(e),
            Op::Store { value, .. } | Op::Wait { value, .. } => add(value),
            Op::Rmw { action, .. } => match action {
                RmwAction::CompareAndSwap {
                    expected, desired, ..
                }
                | RmwAction::BlockingCompareAndSwap { expected, desired } => {
                    add(expected);
                    add(desired);
                }
                RmwAction::Fetch(_, e) | RmwAction::Exchange(e) => add(e),
            },
            _ => {}
        }
    }
    bounds.sort_unstable();
    bounds.dedup();
    let step = bounds.len().div_ceil(MAX_BOUNDS).max(1);
    let mut bounds: Vec<i128> = bounds
        .into_iter()
        .step_by(step)
        .flat_map(|b| [b - 1, b, b + 1])
        .collect();
    bounds.extend([
        -32768,
        0,
        1,
        255,
        32767,
        i128::from(i32::MIN),
        i128::from(i32::MAX),
    ]);
    bounds.extend([ALL.0, ALL.1]);
    bounds.retain(|b| contains(ALL, (*b, *b)));
    bounds.sort_unstable();
    bounds.dedup();
    bounds
}

fn for_each_constant(expr: &RegisterExpr, found: &mut Vec<i128>) {
    match expr {
        Expr::Const(value) => found.push(i128::from(*value)),
        Expr::Atom(_) => {}
        Expr::Unary(_, operand) => for_each_constant(operand, found),
        Expr::Binary(_, left, right) => {
            for_each_constant(left, found);
            for_each_constant(right, found);
        }
        Expr::Element { index, .. } => for_each_constant(index, found),
    }
}

fn join(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.max(b.1))
}

/// What both allow, if anything.
pub fn meet(a: Range, b: Range) -> Option<Range> {
    let both = (a.0.max(b.0), a.1.min(b.1));
    (both.0 <= both.1).then_some(both)
}

fn contains(outer: Range, inner: Range) -> bool {
    outer.0 <= inner.0 && inner.1 <= outer.1
}

fn grown(known: Range, new: Range, widen: bool, bounds: &[i128]) -> Range {
    let all = join(known, new);
    if !widen {
        return all;
    }
    let least = match all.0 < known.0 {
        true => {
            let above = bounds.partition_point(|b| *b <= all.0);
            bounds[..above].last().copied().unwrap_or(ALL.0)
        }
        false => all.0,
    };
    let largest = match all.1 > known.1 {
        true => {
            let below = bounds.partition_point(|b| *b < all.1);
            bounds.get(below).copied().unwrap_or(ALL.1)
        }
        false => all.1,
    };
    (least, largest)
}

/// A result taken into the domain.
fn reduced(domain: Domain, range: Range) -> Range {
    match domain.size() {
        None if contains(ALL, range) => range,
        None => ALL,
        Some(size) => {
            let inside = (0, i128::from(size) - 1);
            if contains(inside, range) {
                range
            } else {
                inside
            }
        }
    }
}

fn eval(domain: Domain, expr: &RegisterExpr, registers: &[Range]) -> Range {
    match expr {
        Expr::Const(value) => (i128::from(*value), i128::from(*value)),
        Expr::Atom(register) => registers[register.index()],
        Expr::Unary(op, operand) => reduced(domain, unary(*op, eval(domain, operand, registers))),
        Expr::Binary(op, left, right) => {
            let left = eval(domain, left, registers);
            let right = eval(domain, right, registers);
            reduced(domain, binary(*op, left, right))
        }
        Expr::Element { first, length, .. } => {
            let first = i128::from(*first);
            (first, first + i128::from(*length) - 1)
        }
    }
}

/// Makes registers smaller where a condition has this truth; `false` where it cannot have it.
fn refine(domain: Domain, condition: &RegisterExpr, truth: bool, registers: &mut [Range]) -> bool {
    match condition {
        Expr::Unary(UnaryOp::Not, inner) => return refine(domain, inner, !truth, registers),
        Expr::Binary(BinaryOp::And, left, right) if truth => {
            return refine(domain, left, true, registers) && refine(domain, right, true, registers);
        }
        Expr::Binary(BinaryOp::Or, left, right) if !truth => {
            return refine(domain, left, false, registers)
                && refine(domain, right, false, registers);
        }
        Expr::Binary(op, left, right) => {
            let op = match truth {
                true => Some(*op),
                false => negated(*op),
            };
            if let Some(op) = op {
                let (l, r) = (
                    eval(domain, left, registers),
                    eval(domain, right, registers),
                );
                if let Some(allowed) = allowed_left(op, l, r) {
                    let Some(allowed) = allowed else { return false };
                    if let Expr::Atom(register) = &**left {
                        registers[register.index()] = allowed;
                    }
                }
                if let Some(op) = mirrored(op)
                    && let Some(allowed) = allowed_left(op, r, l)
                {
                    let Some(allowed) = allowed else { return false };
                    if let Expr::Atom(register) = &**right {
                        registers[register.index()] = allowed;
                    }
                }
                return true;
            }
        }
        Expr::Atom(register) => {
            let range = registers[register.index()];
            let op = if truth {
                BinaryOp::NotEqual
            } else {
                BinaryOp::Equal
            };
            return match allowed_left(op, range, (0, 0)) {
                Some(Some(allowed)) => {
                    registers[register.index()] = allowed;
                    true
                }
                _ => false,
            };
        }
        _ => {}
    }
    let value = eval(domain, condition, registers);
    if truth {
        value != (0, 0)
    } else {
        contains(value, (0, 0))
    }
}

/// What `left` may be where `left op right` holds. `None`: this is no comparison; `Some(None)`: it cannot hold.
fn allowed_left(op: BinaryOp, left: Range, right: Range) -> Option<Option<Range>> {
    Some(match op {
        BinaryOp::Equal => meet(left, right),
        BinaryOp::Less => meet(left, (i128::MIN, right.1 - 1)),
        BinaryOp::LessEqual => meet(left, (i128::MIN, right.1)),
        BinaryOp::Greater => meet(left, (right.0 + 1, i128::MAX)),
        BinaryOp::GreaterEqual => meet(left, (right.0, i128::MAX)),
        BinaryOp::NotEqual if right.0 == right.1 => {
            let mut range = left;
            if range.0 == right.0 {
                range.0 += 1;
            }
            if range.1 == right.0 {
                range.1 -= 1;
            }
            (range.0 <= range.1).then_some(range)
        }
        BinaryOp::NotEqual => Some(left),
        _ => return None,
    })
}

fn negated(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        BinaryOp::Less => BinaryOp::GreaterEqual,
        BinaryOp::GreaterEqual => BinaryOp::Less,
        BinaryOp::Greater => BinaryOp::LessEqual,
        BinaryOp::LessEqual => BinaryOp::Greater,
        _ => return None,
    })
}

fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Equal | BinaryOp::NotEqual => op,
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        _ => return None,
    })
}

/// The results of an operator with one operand, before they are taken into the domain.
pub fn unary(op: UnaryOp, operand: Range) -> Range {
    match op {
        UnaryOp::Not if operand == (0, 0) => (1, 1),
        UnaryOp::Not if !contains(operand, (0, 0)) => (0, 0),
        UnaryOp::Not => (0, 1),
        UnaryOp::Negate => (-operand.1, -operand.0),
        UnaryOp::Complement => (-operand.1 - 1, -operand.0 - 1),
    }
}

/// The results of an operator with two operands, before they are taken into the domain.
pub fn binary(op: BinaryOp, left: Range, right: Range) -> Range {
    match op {
        BinaryOp::Add => (left.0 + right.0, left.1 + right.1),
        BinaryOp::Subtract => (left.0 - right.1, left.1 - right.0),
        BinaryOp::Multiply => {
            let corners = [
                left.0.saturating_mul(right.0),
                left.0.saturating_mul(right.1),
                left.1.saturating_mul(right.0),
                left.1.saturating_mul(right.1),
            ];
            corners
                .iter()
                .fold((corners[0], corners[0]), |all, c| join(all, (*c, *c)))
        }
        BinaryOp::Divide => {
            let bound = left.0.abs().max(left.1.abs());
            let least = if left.0 >= 0 && right.0 >= 0 {
                0
            } else {
                -bound
            };
            (least, bound)
        }
        BinaryOp::Remainder => {
            let bound = (right.0.abs().max(right.1.abs()) - 1).max(0);
            let least = if left.0 >= 0 { 0 } else { -bound };
            let largest = if left.1 <= 0 { 0 } else { bound.min(left.1) };
            (least, largest)
        }
        BinaryOp::ShiftLeft if contains((0, 40), right) && contains(ALL, left) => (
            (left.0 << right.1).min(left.0),
            (left.1 << right.1).max(left.1),
        ),
        BinaryOp::ShiftLeft => (i128::from(Value::MIN) * 2, i128::from(Value::MAX) * 2),
        BinaryOp::ShiftRight => (left.0.min(0), left.1.max(0)),
        BinaryOp::BitAnd => match (left.0 >= 0, right.0 >= 0) {
            (true, true) => (0, left.1.min(right.1)),
            (true, false) => (0, left.1),
            (false, true) => (0, right.1),
            (false, false) => ALL,
        },
        BinaryOp::BitOr | BinaryOp::BitXor if left.0 >= 0 && right.0 >= 0 => {
            let largest = left.1.max(right.1) as u128;
            (0, (largest + 1).next_power_of_two() as i128 - 1)
        }
        BinaryOp::BitOr | BinaryOp::BitXor => ALL,
        BinaryOp::Min => (left.0.min(right.0), left.1.min(right.1)),
        BinaryOp::Max => (left.0.max(right.0), left.1.max(right.1)),
        BinaryOp::And => match (unary(UnaryOp::Not, left), unary(UnaryOp::Not, right)) {
            ((1, 1), _) | (_, (1, 1)) => (0, 0),
            ((0, 0), (0, 0)) => (1, 1),
            _ => (0, 1),
        },
        BinaryOp::Or => match (unary(UnaryOp::Not, left), unary(UnaryOp::Not, right)) {
            ((0, 0), _) | (_, (0, 0)) => (1, 1),
            ((1, 1), (1, 1)) => (0, 0),
            _ => (0, 1),
        },
        BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::Equal
        | BinaryOp::NotEqual => {
            let possible = |op| !matches!(allowed_left(op, left, right), Some(None));
            let can_hold = possible(op);
            let can_fail = negated(op).is_none_or(possible);
            match (can_hold, can_fail) {
                (true, false) => (1, 1),
                (false, true) => (0, 0),
                _ => (0, 1),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{ParseOptions, parse};
    use crate::source::Source;

    fn ranges(text: &str) -> (Program, Ranges) {
        let source = Source::new("test.tpl", text);
        let parsed = parse(&source, &ParseOptions::default());
        let mut program = parsed.expect("a program").program;
        program.domain = Domain::FULL;
        let ranges = Ranges::new(&program);
        (program, ranges)
    }

    #[test]
    fn a_counter_stays_below_its_bound() {
        let text = "global x; fn t { local a; while (a < 1000) { a = a + 1; x.store(a); } }";
        let (program, ranges) = ranges(text);
        let end = program.threads[0].points.len() as u32 - 1;
        assert_eq!(ranges.register(ThreadId(0), RegisterId(0)), (0, 1000));
        assert_eq!(ranges.location(LocationId(0)), (0, 1000));
        let at_end = (0..=end)
            .map(PointId)
            .find(|p| program.threads[0].is_end(*p))
            .expect("an end");
        assert_eq!(
            ranges.register_at(ThreadId(0), at_end, RegisterId(0)),
            (1000, 1000)
        );
    }

    #[test]
    fn what_counts_forever_has_no_bound() {
        let (_, ranges) =
            ranges("global x; fn t { local a; while (true) { a = x.load(); x.store(a + 1); } }");
        assert_eq!(ranges.location(LocationId(0)).1, ALL.1);
    }

    #[test]
    fn comparisons_of_known_ranges_are_known() {
        assert_eq!(binary(BinaryOp::Less, (0, 2), (3, 5)), (1, 1));
        assert_eq!(binary(BinaryOp::Equal, (0, 2), (3, 5)), (0, 0));
        assert_eq!(binary(BinaryOp::NotEqual, (3, 3), (3, 3)), (0, 0));
        assert_eq!(binary(BinaryOp::GreaterEqual, (0, 3), (3, 5)), (0, 1));
        assert_eq!(binary(BinaryOp::And, (0, 0), (0, 1)), (0, 0));
    }
}
