//! How high the counters of a program get: an upper bound for each, by what threads compare before they write.
//!
//! A deque pushes only where `b < 200`, and a thief takes only where `t < b`: so neither of its ends passes 200. That is seen with *zones*: at each point of a thread, upper bounds of
//! its registers and of their differences (`x - y <= c`), with one bound for each location at all times. Numbers are integers here, without a domain: where one has a
//! domain, the bounds hold as long as nothing wraps around.

use palisade_lang::{BinaryOp, Domain, Expr, Op, Program, RegisterExpr, RegisterId, RmwAction};
use palisade_lang::{Thread, UnaryOp, Value};

use super::forget::places;

/// A thread with more registers is not looked at: what is known of it grows with their square.
const MOST_REGISTERS: usize = 32;
/// So often a bound may grow by a little; then it grows to the next number of the program, and then without end.
const MOST_GROWTH: u32 = 3;
/// Nothing is known.
const NONE: Value = Value::MAX;

/// The most that each location ever holds, where something is known: `looked_at` says of which locations that is asked.
pub fn heights(program: &Program, looked_at: &[bool]) -> Option<Vec<Option<Value>>> {
    let threads = program.threads.iter();
    if threads
        .clone()
        .any(|t| t.registers.len() > MOST_REGISTERS || t.points.iter().any(|p| p.atomic))
    {
        return None;
    }
    let numbers = numbers(program);
    let initial = program.locations.iter().zip(looked_at);
    let mut memory: Vec<Value> = initial
        .map(|(location, asked)| match asked {
            true => program.domain.reduce(location.initial),
            false => NONE,
        })
        .collect();
    let mut growth = vec![0u32; memory.len()];
    loop {
        let mut written = memory.clone();
        for thread in threads.clone() {
            write(program, thread, &memory, &mut written);
        }
        let mut grows = false;
        for (place, (height, written)) in memory.iter_mut().zip(written).enumerate() {
            if written > *height {
                grows = true;
                growth[place] += 1;
                let next = numbers.iter().find(|&&n| n >= written);
                *height = match growth[place] > MOST_GROWTH {
                    true => *next.unwrap_or(&NONE),
                    false => written,
                };
            }
        }
        if !grows {
            let known = |&height: &Value| (height != NONE).then_some(height);
            return Some(memory.iter().map(known).collect());
        }
    }
}

/// The numbers that the program mentions, ascending.
fn numbers(program: &Program) -> Vec<Value> {
    let mut numbers = Vec::new();
    for transition in program.threads.iter().flat_map(|t| &t.transitions) {
        for expr in expressions(&transition.op) {
            collect(expr, &mut numbers);
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn collect(expr: &RegisterExpr, numbers: &mut Vec<Value>) {
    match expr {
        Expr::Const(value) => numbers.push(*value),
        Expr::Atom(_) => {}
        Expr::Unary(_, operand) | Expr::Element { index: operand, .. } => collect(operand, numbers),
        Expr::Binary(_, left, right) => {
            collect(left, numbers);
            collect(right, numbers);
        }
    }
}

fn expressions(op: &Op) -> Vec<&RegisterExpr> {
    match op {
        Op::Assign(_, value) | Op::Assume(value) | Op::Assert(value) => vec![value],
        Op::Store { value, .. } | Op::Wait { value, .. } => vec![value],
        Op::Rmw { action, .. } => match action {
            RmwAction::CompareAndSwap {
                expected, desired, ..
            }
            | RmwAction::BlockingCompareAndSwap { expected, desired } => vec![expected, desired],
            RmwAction::Exchange(value) | RmwAction::Fetch(_, value) => vec![value],
        },
        _ => Vec::new(),
    }
}

/// Raises `written` to what a thread may write, where memory is as high as given.
fn write(program: &Program, thread: &Thread, memory: &[Value], written: &mut [Value]) {
    let mut begin = Zone::unknown(thread.registers.len());
    for register in (0..thread.registers.len() as u32).map(RegisterId) {
        if thread.me != Some(register) {
            begin.assign(register, Some((None, 0)));
        }
    }
    let mut zones: Vec<Option<Zone>> = vec![None; thread.points.len()];
    zones[thread.initial.index()] = Some(begin);
    let mut work = vec![thread.initial];
    while let Some(point) = work.pop() {
        for transition in thread.transitions.iter().filter(|t| t.from == point) {
            let mut zone = zones[point.index()].clone().expect("it was reached");
            let op = &transition.op;
            if !zone.take(program, op, memory, written) {
                continue;
            }
            let changed = match &mut zones[transition.to.index()] {
                Some(known) => known.widen(&zone),
                none => {
                    *none = Some(zone);
                    true
                }
            };
            if changed && !work.contains(&transition.to) {
                work.push(transition.to);
            }
        }
    }
}

/// A register, if any, and what is added to it.
type Sum = (Option<RegisterId>, Value);

/// An expression as a register and a number, where it is one.
pub fn sum(expr: &RegisterExpr, domain: Domain) -> Option<Sum> {
    if let Some(value) = expr.constant(domain) {
        return Some((None, value));
    }
    match expr {
        Expr::Atom(register) => Some((Some(*register), 0)),
        Expr::Binary(BinaryOp::Add, left, right) => {
            let (left, right) = (sum(left, domain)?, sum(right, domain)?);
            let register = match (left.0, right.0) {
                (register, None) | (None, register) => register,
                _ => return None,
            };
            Some((register, left.1.checked_add(right.1)?))
        }
        Expr::Binary(BinaryOp::Subtract, left, right) => {
            match (sum(left, domain)?, sum(right, domain)?) {
                ((register, plus), (None, minus)) => Some((register, plus.checked_sub(minus)?)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// What is known of a thread's registers at a point.
#[derive(Clone, PartialEq)]
struct Zone {
    /// Registers, and one more: the number 0, which comes first.
    size: usize,
    /// `bounds[x * size + y]`: the most that x - y is.
    bounds: Vec<Value>,
    /// How often each of them has grown.
    growth: Vec<u32>,
}

impl Zone {
    fn unknown(registers: usize) -> Self {
        let size = registers + 1;
        let mut bounds = vec![NONE; size * size];
        bounds.iter_mut().step_by(size + 1).for_each(|b| *b = 0);
        Zone {
            size,
            growth: vec![0; bounds.len()],
            bounds,
        }
    }

    fn at(&self, x: usize, y: usize) -> Value {
        self.bounds[x * self.size + y]
    }

    /// x - y is at most `bound`. Whether that can be.
    fn bound(&mut self, x: usize, y: usize, bound: Value) -> bool {
        if bound >= self.at(x, y) {
            return true;
        }
        if plus(bound, self.at(y, x)) < 0 {
            return false;
        }
        // By way of x and y, others are nearer to each other.
        for from in 0..self.size {
            let to_y = plus(self.at(from, x), bound);
            for to in 0..self.size {
                let to = (from * self.size + to, plus(to_y, self.at(y, to)));
                self.bounds[to.0] = self.bounds[to.0].min(to.1);
            }
        }
        true
    }

    /// Nothing is known of a register any more.
    fn forget(&mut self, register: RegisterId) {
        let x = register.index() + 1;
        for y in (0..self.size).filter(|&y| y != x) {
            self.bounds[x * self.size + y] = NONE;
            self.bounds[y * self.size + x] = NONE;
        }
    }

    fn assign(&mut self, register: RegisterId, value: Option<Sum>) {
        let x = register.index() + 1;
        match value {
            Some((Some(from), added)) if from == register => {
                for y in (0..self.size).filter(|&y| y != x) {
                    let (up, down) = (self.at(x, y), self.at(y, x));
                    self.bounds[x * self.size + y] = plus(up, added);
                    self.bounds[y * self.size + x] = plus(down, added.saturating_neg());
                }
            }
            Some((from, added)) => {
                self.forget(register);
                let y = from.map_or(0, |r| r.index() + 1);
                self.bound(x, y, added);
                self.bound(y, x, added.saturating_neg());
            }
            None => self.forget(register),
        }
    }

    /// The most that an expression is.
    fn most(&self, value: Option<Sum>) -> Value {
        match value {
            Some((Some(register), added)) => plus(self.at(register.index() + 1, 0), added),
            Some((None, value)) => value,
            None => NONE,
        }
    }

    /// Takes a step, if it can be taken.
    fn take(
        &mut self,
        program: &Program,
        op: &Op,
        memory: &[Value],
        written: &mut [Value],
    ) -> bool {
        let domain = program.domain;
        let places = op.address().map_or(Vec::new(), |a| places(program, a));
        let held = places.iter().map(|&place| memory[place]).max();
        let value = match op {
            Op::Assume(condition) => return self.assume(condition, domain, true),
            Op::Assert(condition) => return self.assume(condition, domain, true),
            Op::Assign(register, value) => {
                self.assign(*register, sum(value, domain));
                return true;
            }
            Op::Store { value, .. } => Some(self.most(sum(value, domain))),
            Op::Rmw { action, .. } => Some(match action {
                RmwAction::CompareAndSwap { desired, .. }
                | RmwAction::BlockingCompareAndSwap { desired, .. } => {
                    self.most(sum(desired, domain))
                }
                RmwAction::Exchange(value) => self.most(sum(value, domain)),
                RmwAction::Fetch(BinaryOp::Add, added) => {
                    plus(held.unwrap_or(NONE), self.most(sum(added, domain)))
                }
                RmwAction::Fetch(..) => NONE,
            }),
            _ => None,
        };
        if let Some(value) = value {
            for &place in &places {
                written[place] = written[place].max(value);
            }
        }
        if let Some(register) = op.target() {
            self.forget(register);
            if let Some(held) = held {
                self.bound(register.index() + 1, 0, held);
            }
        }
        true
    }

    /// Takes a condition to be true, or false. Whether it can be so.
    fn assume(&mut self, condition: &RegisterExpr, domain: Domain, positive: bool) -> bool {
        use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        match condition {
            Expr::Unary(UnaryOp::Not, operand) => self.assume(operand, domain, !positive),
            Expr::Binary(BinaryOp::And, left, right) if positive => {
                self.assume(left, domain, true) && self.assume(right, domain, true)
            }
            Expr::Binary(BinaryOp::Or, left, right) if !positive => {
                self.assume(left, domain, false) && self.assume(right, domain, false)
            }
            Expr::Binary(op, left, right) => {
                let (Some(left), Some(right)) = (sum(left, domain), sum(right, domain)) else {
                    return true;
                };
                match (op, positive) {
                    (Less, true) | (GreaterEqual, false) => self.at_most(left, right, 1),
                    (LessEqual, true) | (Greater, false) => self.at_most(left, right, 0),
                    (Greater, true) | (LessEqual, false) => self.at_most(right, left, 1),
                    (GreaterEqual, true) | (Less, false) => self.at_most(right, left, 0),
                    (Equal, true) | (NotEqual, false) => {
                        self.at_most(left, right, 0) && self.at_most(right, left, 0)
                    }
                    _ => true,
                }
            }
            _ => true,
        }
    }

    /// One sum is smaller than another, by that much at least. Whether that can be.
    fn at_most(&mut self, smaller: Sum, larger: Sum, by: Value) -> bool {
        let index = |sum: Sum| sum.0.map_or(0, |r| r.index() + 1);
        let (x, y) = (index(smaller), index(larger));
        let Some(bound) = larger
            .1
            .checked_sub(smaller.1)
            .and_then(|b| b.checked_sub(by))
        else {
            return true;
        };
        match x == y {
            true => bound >= 0,
            false => self.bound(x, y, bound),
        }
    }

    /// Knows only what both know; whether that is less than before.
    fn widen(&mut self, other: &Zone) -> bool {
        let mut grows = false;
        let bounds = self.bounds.iter_mut().zip(&mut self.growth);
        for ((bound, growth), &other) in bounds.zip(&other.bounds) {
            if other > *bound {
                grows = true;
                *growth += 1;
                *bound = match *growth > MOST_GROWTH {
                    true => NONE,
                    false => other,
                };
            }
        }
        grows
    }
}

/// A sum, where nothing is known if nothing is known of one of both.
fn plus(a: Value, b: Value) -> Value {
    match (a, b) {
        (NONE, _) | (_, NONE) => NONE,
        _ => a.checked_add(b).unwrap_or(match a > 0 {
            true => NONE,
            false => Value::MIN,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_testkit::program;

    fn asked(text: &str) -> Vec<Option<Value>> {
        let program = program(text);
        heights(&program, &vec![true; program.locations.len()]).unwrap()
    }

    #[test]
    fn what_is_compared_before_it_is_written_bounds_what_is_written() {
        let ends = "domain 255; shared top = 1, bottom = 1;
            thread owner { loop { choose {
                let b = bottom - 1; bottom = b; let t = top;
                if b < t { bottom = t; } else if b == t { cas(top, t, t + 1); bottom = t + 1; }
            } or {
                let b = bottom; let t = top; if b < 200 { bottom = b + 1; }
            } } }
            thread thief { loop {
                let t = top; let b = bottom; if !(b <= t) { bcas(top, t, t + 1); }
            } }";
        assert_eq!(asked(ends), [Some(200), Some(200)]);
    }

    #[test]
    fn what_counts_without_end_has_no_height() {
        let text = "shared x, y, z; thread t { loop { fadd(x, 1); let r = y; y = r + 1; } }
            thread u { loop { let r = z; if r < 5 || r > 7 { z = 9; } } }";
        assert_eq!(asked(text), [None, None, Some(9)]);
    }
}
