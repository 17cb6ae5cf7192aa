//! Programs with counters that only grow: what counts is how far others are behind, and often only how far all of them are apart.
//!
//! A deque, a ring or a ticket lock counts up and up, and looks at its counters by comparing them: `b < t`, `cas(top, t, t + 1)`. **Counters** are the locations and registers that may hold more than a
//! few values. One of them, the *base*, is a location that every write leaves as it is or makes larger. There are two ways to have fewer states, each with an argument of its own.
//!
//! **What lags behind.** A thread that sleeps keeps a counter in a register while the others count on. Let such a register be used for nothing but comparisons with registers that get their values from
//! counters in memory and from nowhere else, and as what a `cas` or `wait` expects there. As soon as all counters in memory and all other counters of its thread are at least
//! base − margin, and the register is below that, every comparison has one outcome, whatever the register holds, and so on for ever, since the base never goes back. So it may as well hold base − margin − 1. Where
//! a counter falls below base − margin while some register is below that (two of the same thread, also), nothing is proved (`Moved::is_lost`). All else stays as it is: a state with another value in such a register is one
//! of the same program, and every step of one is a step of the other, as long as nothing is lost. Nor may the base wrap around; where it comes near to that, all is lost, too.
//!
//! **What is apart.** Where values have no bound and every counter is only compared with counters, nothing changes if all of them are moved by the same distance; states are moved to where the base
//! holds what it began with. As in `forget`, graphs do not have values, so what is proved of a program that can do more is proved: a condition that compares a counter with anything
//! else (`b < 200`) may be true or false. Every instruction is looked at: what is stored, assigned or expected where a counter is must be a sum with exactly one counter more
//! added than subtracted, what stands elsewhere must be one with as many added as subtracted, and a comparison must have the same on both sides. Then every step from a state is one from
//! the moved state, moved. No thread begins with a counter in a register. Values are integers here: that none of them passes 2^63 is said in the answer.
//!
//! With a **domain**, nothing may wrap around, or a moved state would do something else. Up to the first time that something does, the program is one over integers: there the base gets no
//! higher than [`heights`] says, and every state is one of those that were seen, moved by no more than from where the base began to there. So in each state that is seen, all counters in
//! memory, and all sums with a counter that the next step of a thread computes, must be at least 0, and far enough below the size of the domain (`Room`); otherwise all is lost. Local steps are taken one by one here, so that no sum
//! is computed between states, and what is subtracted from a counter must be a number.

use palisade_lang::{
    Address, BinaryOp, Expr, LocationId, Op, Program, RegisterExpr, RegisterId, RmwAction, UnaryOp,
    Value,
};

use super::forget::places;
use super::heights::{heights, sum};
use crate::values::{Values, cannot_fail, possible_values_by_code};

/// What takes more values than this is a counter.
const FEW_VALUES: usize = 24;

/// A program with counters.
#[derive(Debug)]
pub struct Differences {
    /// The program; where states are moved, without the conditions that compare counters with something else.
    pub program: Program,
    /// States are moved to where the base began.
    pub moves: bool,
    /// By location: it is a counter.
    pub locations: Vec<bool>,
    /// By code and register: it holds a counter.
    pub registers: Vec<Vec<bool>>,
    /// By code and register: it may be far behind.
    pub may_be_far: Vec<Vec<bool>>,
    /// The location that never goes back.
    pub base: usize,
    /// The most that is added to it at once.
    pub most_added: Value,
    /// Where states are moved and values have a domain: what keeps them from wrapping around.
    pub room: Option<Room>,
}

/// Which values must not leave the domain.
#[derive(Debug)]
pub struct Room {
    /// The most that a counter may be in a state that was moved to where the base began.
    pub most: Value,
    /// By code and point: what the next step adds to which register.
    pub sums: Vec<Vec<Vec<(RegisterId, Value)>>>,
}

impl Room {
    /// Whether what the next step computes from a register stays in the domain.
    pub fn has(&self, code: usize, point: usize, register: RegisterId, value: Value) -> bool {
        let mut sums = self.sums[code][point].iter().filter(|s| s.0 == register);
        sums.all(|(_, added)| {
            let sum = value.checked_add(*added);
            sum.is_some_and(|sum| (0..=self.most).contains(&sum))
        })
    }
}

impl Differences {
    /// What there is to try, the most promising first: nothing where there are no counters, or none that only grows.
    pub fn all(program: &Program) -> Vec<Self> {
        let mut points = program.threads.iter().flat_map(|t| &t.points);
        if program.is_parameterised() || points.any(|p| p.atomic) {
            return Vec::new();
        }
        let possible = possible_values_by_code(program, FEW_VALUES);
        let large = |values: &Vec<Values>| values.iter().map(Option::is_none).collect();
        let locations: Vec<bool> = large(&possible.memory);
        let Some((base, most_added)) = (0..locations.len())
            .filter(|&place| locations[place])
            .find_map(|place| Some((place, grows_by(program, place)?)))
        else {
            return Vec::new();
        };
        let lagging = Differences {
            program: program.clone(),
            moves: false,
            locations,
            registers: possible.registers.iter().map(large).collect(),
            may_be_far: Vec::new(),
            base,
            most_added,
            room: None,
        };
        let moving = lagging.moving().map(Differences::with_far_registers);
        let lagging = Some(lagging.with_far_registers());
        let lagging = lagging.filter(|d| d.may_be_far.iter().flatten().any(|far| *far));
        moving.into_iter().chain(lagging).collect()
    }

    /// The same with states that are moved; none where a counter is used in another way.
    fn moving(&self) -> Option<Self> {
        let mut program = self.program.clone();
        for (code, thread) in program.threads.iter_mut().enumerate() {
            for transition in &mut thread.transitions {
                transition.op = self.judged(&self.program, code, &transition.op)?;
            }
        }
        let room = match self.program.domain.size() {
            Some(size) => Some(self.room(&program, size)?),
            None => None,
        };
        Some(Differences {
            program,
            room,
            moves: true,
            locations: self.locations.clone(),
            registers: self.registers.clone(),
            may_be_far: Vec::new(),
            base: self.base,
            most_added: self.most_added,
        })
    }

    /// What keeps values in their domain; none where that is not known of one of them.
    fn room(&self, program: &Program, size: Value) -> Option<Room> {
        let began = program.domain.reduce(program.locations[self.base].initial);
        // The conditions that were left out say how high counters get.
        let highest = heights(&self.program, &self.locations)?[self.base]?;
        let mut sums = Vec::new();
        for (code, thread) in program.threads.iter().enumerate() {
            let mut of_code = vec![Vec::new(); thread.points.len()];
            for transition in &thread.transitions {
                let sums = &mut of_code[transition.from.index()];
                self.sums(code, &transition.op, sums)?;
            }
            sums.push(of_code);
        }
        let most = size
            .checked_sub(1)?
            .checked_sub(highest.checked_sub(began)?)?;
        Some(Room { most, sums })
    }

    /// Collects what an instruction adds to which counters; none where it computes something else from one.
    fn sums(&self, code: usize, op: &Op, sums: &mut Vec<(RegisterId, Value)>) -> Option<()> {
        let kept = match op {
            Op::Assign(_, value) | Op::Store { value, .. } => Some(value),
            Op::Rmw { action, .. } => match action {
                RmwAction::CompareAndSwap {
                    expected, desired, ..
                }
                | RmwAction::BlockingCompareAndSwap { expected, desired } => {
                    self.sums_in(code, expected, sums)?;
                    Some(desired)
                }
                RmwAction::Exchange(value) | RmwAction::Fetch(_, value) => Some(value),
            },
            Op::Assume(value) | Op::Assert(value) | Op::Wait { value, .. } => {
                self.sums_in(code, value, sums)?;
                None
            }
            _ => None,
        };
        if let Some(value) = kept {
            self.sums_in(code, value, sums)?;
            // What is kept is taken into the domain, also where nothing is added.
            if let Expr::Atom(register) = value
                && self.registers[code][register.index()]
            {
                sums.push((*register, 0));
            }
        }
        match op.address() {
            Some(Address::Element { index: expr, .. } | Address::Pointer(expr)) => {
                (!self.has_counters(code, expr)).then_some(())
            }
            _ => Some(()),
        }
    }

    fn sums_in(
        &self,
        code: usize,
        expr: &RegisterExpr,
        sums: &mut Vec<(RegisterId, Value)>,
    ) -> Option<()> {
        if !self.has_counters(code, expr) {
            return Some(());
        }
        match expr {
            Expr::Atom(_) => return Some(()),
            Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, ..) => {
                let (register, added) = sum(expr, self.program.domain)?;
                sums.push((register?, added));
            }
            Expr::Binary(BinaryOp::And | BinaryOp::Or, ..) | Expr::Unary(UnaryOp::Not, _) => {}
            Expr::Binary(op, ..) if is_comparison(*op) => {}
            _ => return None,
        }
        match expr {
            Expr::Binary(_, left, right) => {
                self.sums_in(code, left, sums)?;
                self.sums_in(code, right, sums)
            }
            Expr::Unary(_, operand) => self.sums_in(code, operand, sums),
            _ => None,
        }
    }

    fn has_counters(&self, code: usize, expr: &RegisterExpr) -> bool {
        let mut has = false;
        expr.for_each_atom(&mut |r| has |= self.registers[code][r.index()]);
        has
    }

    fn with_far_registers(mut self) -> Self {
        let codes = 0..self.program.threads.len();
        self.may_be_far = codes.map(|code| self.far_registers(code)).collect();
        self
    }

    /// The names of the counters.
    pub fn names(&self) -> Vec<String> {
        let locations = self.program.locations.iter().zip(&self.locations);
        let counters = locations.filter(|(_, is_counter)| **is_counter);
        counters.map(|(l, _)| l.name.clone()).collect()
    }

    /// How many more counters an expression adds than it subtracts; none where it does something else with one.
    fn counters_in(&self, code: usize, expr: &RegisterExpr) -> Option<i64> {
        let same = |left, right| {
            let both = (
                self.counters_in(code, left)?,
                self.counters_in(code, right)?,
            );
            (both.0 == both.1).then_some(both.0)
        };
        match expr {
            Expr::Const(_) => Some(0),
            Expr::Atom(register) => Some(i64::from(self.registers[code][register.index()])),
            Expr::Unary(UnaryOp::Negate, operand) => self.counters_in(code, operand)?.checked_neg(),
            Expr::Unary(_, operand) => (self.counters_in(code, operand)? == 0).then_some(0),
            Expr::Binary(BinaryOp::Add, left, right) => {
                let left = self.counters_in(code, left)?;
                left.checked_add(self.counters_in(code, right)?)
            }
            Expr::Binary(BinaryOp::Subtract, left, right) => {
                let left = self.counters_in(code, left)?;
                left.checked_sub(self.counters_in(code, right)?)
            }
            Expr::Binary(op, left, right) if is_comparison(*op) => same(left, right).map(|_| 0),
            Expr::Binary(_, left, right) => same(left, right).filter(|&count| count == 0),
            Expr::Element { index, .. } => (self.counters_in(code, index)? == 0).then_some(0),
        }
    }

    /// An instruction, or a weaker one in its place; none where it uses counters in another way.
    fn judged(&self, program: &Program, code: usize, op: &Op) -> Option<Op> {
        let counts = |expr: &RegisterExpr, wanted: bool| {
            self.counters_in(code, expr) == Some(i64::from(wanted))
        };
        if let Some(Address::Element { index: expr, .. } | Address::Pointer(expr)) = op.address()
            && !counts(expr, false)
        {
            return None;
        }
        let mut at = op
            .address()
            .map_or(Vec::new(), |a| places(program, a))
            .into_iter();
        let at_counter = at.next().map(|place| self.locations[place]);
        // An instruction accesses counters, or no counter.
        if at.any(|place| Some(self.locations[place]) != at_counter) {
            return None;
        }
        let at_counter = at_counter.unwrap_or(false);
        let same = |expr: &RegisterExpr| counts(expr, at_counter);
        let fits = match op {
            Op::Assign(register, value) => counts(value, self.registers[code][register.index()]),
            Op::Assume(condition) if !counts(condition, false) => {
                return Some(Op::Assume(self.weaker(code, condition, true)?));
            }
            Op::Assert(condition) if !counts(condition, false) => {
                return cannot_fail(condition).then_some(Op::Skip);
            }
            Op::Store { value, .. } | Op::Wait { value, .. } => same(value),
            Op::Rmw { action, .. } => match action {
                RmwAction::CompareAndSwap {
                    expected, desired, ..
                }
                | RmwAction::BlockingCompareAndSwap { expected, desired } => {
                    same(expected) && same(desired)
                }
                RmwAction::Exchange(value) => same(value),
                RmwAction::Fetch(BinaryOp::Add | BinaryOp::Subtract, value) => counts(value, false),
                RmwAction::Fetch(BinaryOp::Min | BinaryOp::Max, value) => same(value),
                RmwAction::Fetch(_, value) => !at_counter && counts(value, false),
            },
            _ => true,
        };
        let target = match op {
            Op::Assign(..) => None,
            _ => op.target(),
        };
        let fits_target =
            target.is_none_or(|register| self.registers[code][register.index()] == at_counter);
        (fits && fits_target).then(|| op.clone())
    }

    /// A condition that is true whenever the given one is (`positive`), or false whenever that one is, and looks at counters in no other way.
    fn weaker(&self, code: usize, expr: &RegisterExpr, positive: bool) -> Option<RegisterExpr> {
        if self.counters_in(code, expr) == Some(0) {
            return Some(expr.clone());
        }
        // What may fail would stop the thread: nothing is put in its place.
        if !cannot_fail(expr) {
            return None;
        }
        Some(match expr {
            Expr::Unary(UnaryOp::Not, operand) => Expr::Unary(
                UnaryOp::Not,
                Box::new(self.weaker(code, operand, !positive)?),
            ),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let left = Box::new(self.weaker(code, left, positive)?);
                let right = Box::new(self.weaker(code, right, positive)?);
                Expr::Binary(*op, left, right)
            }
            _ => Expr::Const(i64::from(positive)),
        })
    }

    /// Registers that are only compared with what was read from counters, and expected there.
    fn far_registers(&self, code: usize) -> Vec<bool> {
        let thread = &self.program.threads[code];
        // What was computed may be further back than what it was computed from, and what is no counter says nothing about them.
        let mut only_read = self.registers[code].clone();
        let at_counters = |op: &Op| {
            let places = op
                .address()
                .map_or(Vec::new(), |a| places(&self.program, a));
            places.into_iter().all(|place| self.locations[place])
        };
        for transition in &thread.transitions {
            if let Some(register) = transition.op.target()
                && (matches!(transition.op, Op::Assign(..)) || !at_counters(&transition.op))
            {
                only_read[register.index()] = false;
            }
        }
        let mut may_be_far = self.registers[code].clone();
        for transition in &thread.transitions {
            let mut other_use = |expr: &RegisterExpr| {
                expr.for_each_atom(&mut |r| may_be_far[r.index()] = false);
            };
            if let Some(expr) = transition.op.address().and_then(Address::expr) {
                other_use(expr);
            }
            match &transition.op {
                Op::Assume(condition) => other_uses(condition, &only_read, &mut other_use),
                Op::Rmw { action, .. } => match action {
                    // What is to be written matters only where what is expected was there, and that is not far behind.
                    RmwAction::CompareAndSwap {
                        expected: Expr::Atom(register),
                        desired,
                        ..
                    }
                    | RmwAction::BlockingCompareAndSwap {
                        expected: Expr::Atom(register),
                        desired,
                    } if at_counters(&transition.op) => desired.for_each_atom(&mut |r| {
                        if r != register {
                            may_be_far[r.index()] = false;
                        }
                    }),
                    RmwAction::CompareAndSwap {
                        expected, desired, ..
                    }
                    | RmwAction::BlockingCompareAndSwap { expected, desired } => {
                        other_use(expected);
                        other_use(desired);
                    }
                    RmwAction::Exchange(value) | RmwAction::Fetch(_, value) => other_use(value),
                },
                Op::Wait {
                    value: Expr::Atom(_),
                    ..
                } if at_counters(&transition.op) => {}
                Op::Store { value, .. }
                | Op::Wait { value, .. }
                | Op::Assign(_, value)
                | Op::Assert(value) => other_use(value),
                _ => {}
            }
        }
        may_be_far
    }

    /// The counters in memory.
    pub fn counters(&self) -> impl Iterator<Item = LocationId> + '_ {
        let all = self.locations.iter().enumerate();
        let counters = all.filter(|(_, is_counter)| **is_counter);
        counters.map(|(place, _)| LocationId(place as u32))
    }
}

/// The most that is added to a location at once, if every write leaves it as it is or makes it larger.
fn grows_by(program: &Program, place: usize) -> Option<Value> {
    let mut most = 0;
    for transition in program.threads.iter().flat_map(|t| &t.transitions) {
        let address = transition.op.address();
        if !address.is_some_and(|a| places(program, a).contains(&place)) {
            continue;
        }
        let added = match &transition.op {
            Op::Store { .. } => return None,
            Op::Rmw { action, .. } => match action {
                RmwAction::CompareAndSwap {
                    expected, desired, ..
                }
                | RmwAction::BlockingCompareAndSwap { expected, desired } => {
                    match (expected, desired) {
                        (Expr::Atom(_), Expr::Binary(BinaryOp::Add, sum, added))
                            if **sum == *expected =>
                        {
                            added.constant(program.domain)?
                        }
                        _ => return None,
                    }
                }
                RmwAction::Fetch(BinaryOp::Add, added) => added.constant(program.domain)?,
                _ => return None,
            },
            _ => continue,
        };
        if added < 0 {
            return None;
        }
        most = most.max(added);
    }
    Some(most)
}

/// Tells of the parts of a condition that are no comparison of a register with one that is only read from counters.
fn other_uses(
    condition: &RegisterExpr,
    only_read: &[bool],
    other_use: &mut dyn FnMut(&RegisterExpr),
) {
    match condition {
        Expr::Unary(UnaryOp::Not, operand) => other_uses(operand, only_read, other_use),
        Expr::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
            other_uses(left, only_read, other_use);
            other_uses(right, only_read, other_use);
        }
        Expr::Binary(op, left, right) if is_comparison(*op) => match (&**left, &**right) {
            (Expr::Atom(a), Expr::Atom(b)) if a != b => {
                for (one, other) in [(a, b), (b, a)] {
                    if !only_read[other.index()] {
                        other_use(&Expr::Atom(RegisterId(one.0)));
                    }
                }
            }
            _ => other_use(condition),
        },
        _ => other_use(condition),
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    matches!(
        op,
        Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual
    )
}
