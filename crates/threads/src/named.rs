//! Which registers and locations hold numbers of threads.
//!
//! Copies of a code that uses `me` are interchangeable as long as their numbers are only stored, compared for equality and used to find what belongs to a copy: an element of an
//! array, or what a pointer leads to. Then a state in which the copies have exchanged their places, their numbers wherever these are held, and what belongs to them,
//! is as good as the one before: every step of one is a step of the other.
//!
//! What holds numbers is found by following `me` through the code, and every use is judged by whether the exchange changes what comes of it. A number that is mentioned
//! (`if me == 0`, `flag[1] = 0`) makes its copy a special one, which keeps its place; a use that the exchange would change (`me < 2`, `me % 2`) makes all copies of that code special. What registers
//! and memory hold at the beginning does not matter: the runs from a state and from one with exchanged copies correspond to each other.

use std::collections::{BTreeMap, BTreeSet};

use palisade_lang::{
    Address, BinaryOp, CopyRef, Domain, Expr, LocationId, Op, PointId, Program, RegisterExpr,
    RegisterId, Relation, RmwAction, StateAtom, UnaryOp, Value,
};

use crate::{Threads, visit_state_atoms};

/// More different constants than this are any number.
const MOST_CONSTANTS: usize = 32;
/// Rounds after which the search for what holds what is given up.
const MOST_ROUNDS: usize = 200;

/// How numbers of the copies of a code are written: copy `i` as `first + step * i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Numbering {
    /// The code.
    pub code: usize,
    first: Value,
    step: Value,
}

impl Numbering {
    /// How a copy is written.
    pub fn value(self, copy: u32) -> Value {
        self.first
            .wrapping_add(self.step.wrapping_mul(Value::from(copy)))
    }

    /// Which copy a value stands for.
    pub fn copy(self, value: Value) -> Option<u32> {
        let distance = value.checked_sub(self.first)?;
        match distance.checked_rem(self.step)? {
            0 => u32::try_from(distance.checked_div(self.step)?).ok(),
            _ => None,
        }
    }
}

/// Copies of a code that can be exchanged for each other.
#[derive(Clone, Debug)]
pub struct NamedGroup {
    /// The code.
    pub code: usize,
    /// Their numbers, ascending.
    pub copies: Vec<u32>,
    /// The running threads that they are.
    pub instances: Vec<usize>,
}

/// What is exchanged together with copies.
#[derive(Clone, Debug)]
pub struct Named {
    /// The groups of copies.
    pub groups: Vec<NamedGroup>,
    /// For each code and register, whose numbers it may hold.
    pub registers: Vec<Vec<Option<Numbering>>>,
    /// The same for each location.
    pub locations: Vec<Option<Numbering>>,
    /// What belongs to copies: the code, and for each of its copies the location.
    pub families: Vec<(usize, Vec<LocationId>)>,
}

/// What a register, a location or an expression may hold.
#[derive(Clone, Debug, Default, PartialEq)]
struct Held {
    /// Numbers of threads, written so.
    name: Option<Numbering>,
    constants: BTreeSet<Value>,
    /// Anything else, but no number of a thread.
    other: bool,
}

impl Held {
    fn constant(value: Value) -> Held {
        Held {
            constants: BTreeSet::from([value]),
            ..Held::default()
        }
    }

    fn truth() -> Held {
        Held {
            constants: BTreeSet::from([0, 1]),
            ..Held::default()
        }
    }

    fn anything() -> Held {
        Held {
            other: true,
            ..Held::default()
        }
    }

    fn bounded(mut self) -> Held {
        if self.constants.len() > MOST_CONSTANTS {
            self.constants.clear();
            self.other = true;
        }
        self
    }

    /// The only value, if it is known.
    fn only(&self) -> Option<Value> {
        match (self.name, self.other, self.constants.len()) {
            (None, false, 1) => self.constants.first().copied(),
            _ => None,
        }
    }

    /// Nothing is known yet.
    fn is_nothing(&self) -> bool {
        self.name.is_none() && !self.other && self.constants.is_empty()
    }
}

struct Analysis<'a, 'p> {
    threads: &'a Threads<'p>,
    program: &'p Program,
    /// For each code the number of its copies.
    copies: Vec<u32>,
    registers: Vec<Vec<Held>>,
    locations: Vec<Held>,
    families: Vec<(usize, Vec<LocationId>)>,
    /// For each location the family that it belongs to.
    owner: Vec<Option<usize>>,
    /// Locations that are accessed by their own names, or by an index that says nothing about threads.
    mentioned: Vec<bool>,
    /// For each code, copies that keep their places.
    special: Vec<Vec<bool>>,
    changed: bool,
}

impl<'p> Threads<'p> {
    /// The copies that are interchangeable though their code uses `me`; `None` where there are none.
    pub fn named(&self) -> Option<Named> {
        let program = self.program;
        let uses_me = |code: usize| program.threads[code].me.is_some();
        if !(0..self.codes.len()).any(|code| uses_me(code) && self.codes[code].copies > 1) {
            return None;
        }
        let mut first = Analysis::new(self, None);
        let settled = first.settle();
        let mut analysis = Analysis::new(self, Some(&first));
        if !settled || !analysis.settle() {
            return None;
        }
        analysis.judge();
        let groups: Vec<NamedGroup> = (0..self.codes.len())
            .filter_map(|code| analysis.group(code))
            .collect();
        if !groups.iter().any(|group| uses_me(group.code)) {
            return None;
        }
        let name = |held: &Held| held.name;
        Some(Named {
            groups,
            registers: (analysis.registers.iter())
                .map(|registers| registers.iter().map(name).collect())
                .collect(),
            locations: analysis.locations.iter().map(name).collect(),
            families: analysis.families,
        })
    }

    /// Registers whose values are a part of the local states at a point, in this order.
    pub fn live_at(&self, code: usize, point: PointId) -> &[RegisterId] {
        (self.codes[code].control.live.get(point.index())).map_or(&[], |live| live)
    }
}

impl<'a, 'p> Analysis<'a, 'p> {
    /// Knows what holds names from an earlier one: what is there at the beginning is no constant where names are held.
    fn new(threads: &'a Threads<'p>, known: Option<&Analysis<'_, '_>>) -> Self {
        let program = threads.program;
        let copies: Vec<u32> = threads.codes.iter().map(|c| c.copies as u32).collect();
        let stands_for_copy = |name: Numbering, value| {
            (name.copy(value)).is_some_and(|copy| copy < copies[name.code])
        };
        let begin = |name: Option<Numbering>, value: Value| {
            let value = program.domain.reduce(value);
            match name {
                Some(name) if stands_for_copy(name, value) => Held {
                    name: Some(name),
                    ..Held::default()
                },
                name => Held {
                    name,
                    ..Held::constant(value)
                },
            }
        };
        let registers = (program.threads.iter().enumerate())
            .map(|(code, thread)| {
                (0..thread.registers.len())
                    .map(|register| {
                        let known = known.and_then(|known| known.registers[code][register].name);
                        let me = thread.me.map(RegisterId::index) == Some(register);
                        let name = known.or(me.then_some(Numbering {
                            code,
                            first: 0,
                            step: 1,
                        }));
                        begin(name, 0)
                    })
                    .collect()
            })
            .collect();
        let locations = (program.locations.iter().enumerate())
            .map(|(index, location)| {
                let known = known.and_then(|known| known.locations[index].name);
                begin(known, location.initial)
            })
            .collect();
        Analysis {
            threads,
            program,
            registers,
            locations,
            families: Vec::new(),
            owner: vec![None; program.locations.len()],
            mentioned: vec![false; program.locations.len()],
            special: copies.iter().map(|&n| vec![false; n as usize]).collect(),
            copies,
            changed: false,
        }
    }

    /// Follows everything until nothing changes; whether that was soon enough.
    fn settle(&mut self) -> bool {
        for _ in 0..MOST_ROUNDS {
            self.changed = false;
            for (code, thread) in self.program.threads.iter().enumerate() {
                for transition in &thread.transitions {
                    self.follow(code, transition.to, &transition.op);
                }
            }
            if !self.changed {
                return true;
            }
        }
        false
    }

    /// The copies of this code are not interchangeable.
    fn give_up(&mut self, code: usize) {
        self.special[code].fill(true);
    }

    fn give_up_name(&mut self, name: Option<Numbering>) {
        if let Some(name) = name {
            self.give_up(name.code);
        }
    }

    /// A constant where this is expected: the copy that it stands for is special.
    fn mention(&mut self, name: Numbering, value: Value) {
        if let Some(copy) = name.copy(value)
            && let Some(special) = self.special[name.code].get_mut(copy as usize)
        {
            *special = true;
        }
    }

    /// A numbering whose numbers all are values; otherwise the code is given up.
    fn checked(&mut self, code: usize, first: Option<Value>, step: Option<Value>) -> Held {
        let domain = self.program.domain;
        let last = Value::from(self.copies[code].saturating_sub(1));
        if let (Some(first), Some(step)) = (first, step)
            && step != 0
            && let Some(end) = step.checked_mul(last).and_then(|d| first.checked_add(d))
            && domain.reduce(first) == first
            && domain.reduce(end) == end
        {
            let name = Numbering { code, first, step };
            return Held {
                name: Some(name),
                ..Held::default()
            };
        }
        self.give_up(code);
        Held::anything()
    }

    fn join(&mut self, to: &mut Held, from: &Held) {
        match (to.name, from.name) {
            (None, Some(name)) => {
                to.name = Some(name);
                self.changed = true;
            }
            (Some(one), Some(other)) if one != other => {
                self.give_up(one.code);
                self.give_up(other.code);
            }
            _ => {}
        }
        let domain = self.program.domain;
        for &constant in &from.constants {
            if !to.other {
                self.changed |= to.constants.insert(domain.reduce(constant));
            }
        }
        if from.other && !to.other {
            to.other = true;
            self.changed = true;
        }
        if to.constants.len() > MOST_CONSTANTS {
            to.constants.clear();
            to.other = true;
            self.changed = true;
        }
        if to.other {
            to.constants.clear();
            self.give_up_name(to.name);
        }
    }

    fn join_register(&mut self, code: usize, to: PointId, register: RegisterId, held: &Held) {
        // What is not read again is no part of a state.
        if !self.threads.live_at(code, to).contains(&register) {
            return;
        }
        let mut node = std::mem::take(&mut self.registers[code][register.index()]);
        self.join(&mut node, held);
        self.registers[code][register.index()] = node;
    }

    /// What belongs to copies is alike for all of them.
    fn join_location(&mut self, location: usize, held: &Held) {
        let all = match self.owner[location] {
            Some(family) => self.families[family].1.clone(),
            None => vec![LocationId(location as u32)],
        };
        for location in all {
            let mut node = std::mem::take(&mut self.locations[location.index()]);
            self.join(&mut node, held);
            self.locations[location.index()] = node;
        }
    }

    /// These locations belong to the copies of a code, one to each.
    fn claim(&mut self, code: usize, locations: Vec<LocationId>) {
        let known = |family: &(usize, Vec<LocationId>)| *family == (code, locations.clone());
        if self.families.iter().any(known) {
            return;
        }
        self.changed = true;
        let family = self.families.len();
        let different: BTreeSet<LocationId> = locations.iter().copied().collect();
        if different.len() < locations.len() {
            self.give_up(code);
        }
        for location in &locations {
            match self.owner[location.index()] {
                None => self.owner[location.index()] = Some(family),
                Some(other) => {
                    self.give_up(code);
                    self.give_up(self.families[other].0);
                }
            }
        }
        self.families.push((code, locations.clone()));
        let held: Vec<Held> = (locations.iter())
            .map(|location| self.locations[location.index()].clone())
            .collect();
        for held in &held {
            // What is there at the beginning does not count, and was put down as a constant.
            let name = Held {
                constants: BTreeSet::new(),
                ..held.clone()
            };
            self.join_location(locations[0].index(), &name);
        }
    }

    /// What an expression may be.
    fn held(&mut self, code: usize, expr: &RegisterExpr) -> Held {
        match expr {
            Expr::Const(value) => Held::constant(*value),
            Expr::Atom(register) => self.registers[code][register.index()].clone(),
            Expr::Unary(UnaryOp::Not, operand) => {
                let operand = self.held(code, operand);
                self.tested(&operand);
                Held::truth()
            }
            Expr::Unary(op, operand) => {
                let operand = self.held(code, operand);
                self.give_up_name(operand.name);
                let domain = self.program.domain;
                Held {
                    constants: (operand.constants.iter())
                        .map(|&value| domain.unary(*op, value))
                        .collect(),
                    other: operand.other || operand.name.is_some(),
                    name: None,
                }
                .bounded()
            }
            Expr::Binary(op, left, right) => {
                let left = self.held(code, left);
                let right = self.held(code, right);
                self.binary(*op, &left, &right)
            }
            Expr::Element {
                first,
                length,
                index,
            } => {
                let index = self.held(code, index);
                self.element(*first, *length, &index)
            }
        }
    }

    /// Whether it is 0 is asked.
    fn tested(&mut self, held: &Held) {
        if let Some(name) = held.name {
            self.mention(name, 0);
        }
    }

    /// Whether they are equal is asked.
    fn compared(&mut self, left: &Held, right: &Held) {
        let (name, others) = match (left.name, right.name) {
            (None, None) => return,
            (Some(left), Some(right)) if left != right => {
                self.give_up(left.code);
                self.give_up(right.code);
                return;
            }
            (Some(name), _) => (name, right),
            (None, Some(name)) => (name, left),
        };
        if others.other {
            self.give_up(name.code);
        }
        for &constant in &others.constants {
            self.mention(name, constant);
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Held, right: &Held) -> Held {
        match op {
            BinaryOp::And | BinaryOp::Or => {
                self.tested(left);
                self.tested(right);
                return Held::truth();
            }
            BinaryOp::Equal | BinaryOp::NotEqual => {
                self.compared(left, right);
                return Held::truth();
            }
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
                self.give_up_name(left.name);
                self.give_up_name(right.name);
                return Held::truth();
            }
            _ => {}
        }
        if left.is_nothing() || right.is_nothing() {
            return Held::default();
        }
        let (name, amount, named) = match (left.name, right.name) {
            (Some(name), None) => (Some(name), right.only(), left),
            (None, Some(name)) => (Some(name), left.only(), right),
            (None, None) => (None, None, left),
            (Some(one), Some(other)) => {
                self.give_up(one.code);
                self.give_up(other.code);
                return Held::anything();
            }
        };
        let Some(name) = name else {
            return self.compute(op, left, right);
        };
        let Numbering { code, first, step } = name;
        let mirrored = left.name.is_none();
        let (new_first, new_step) = match (op, amount) {
            (BinaryOp::Add, Some(amount)) => (first.checked_add(amount), Some(step)),
            (BinaryOp::Subtract, Some(amount)) if mirrored => {
                (amount.checked_sub(first), step.checked_neg())
            }
            (BinaryOp::Subtract, Some(amount)) => (first.checked_sub(amount), Some(step)),
            (BinaryOp::Multiply, Some(amount)) => {
                (first.checked_mul(amount), step.checked_mul(amount))
            }
            _ => (None, None),
        };
        let mut result = self.checked(code, new_first, new_step);
        // Constants among them come along.
        if let (Some(amount), false) = (amount, result.other) {
            let constants = Held {
                name: None,
                ..named.clone()
            };
            let amount = Held::constant(amount);
            let rest = match mirrored {
                true => self.compute(op, &amount, &constants),
                false => self.compute(op, &constants, &amount),
            };
            result.constants = rest.constants;
            result.other |= rest.other;
        }
        result
    }

    /// What comes of constants and of numbers that are none of threads.
    fn compute(&mut self, op: BinaryOp, left: &Held, right: &Held) -> Held {
        if left.other || right.other {
            return Held::anything();
        }
        let domain: Domain = self.program.domain;
        let mut result = Held::default();
        for &left in &left.constants {
            for &right in &right.constants {
                let expr: Expr<RegisterId> = Expr::Binary(
                    op,
                    Box::new(Expr::Const(left)),
                    Box::new(Expr::Const(right)),
                );
                // Without a value there is an error, and no step.
                result
                    .constants
                    .extend(expr.eval(domain, &mut |_| Ok(0)).ok());
            }
        }
        result.bounded()
    }

    fn element(&mut self, first: Value, length: u32, index: &Held) -> Held {
        let inside = |index: &Value| (0..Value::from(length)).contains(index);
        let mut result = Held {
            other: index.other,
            ..Held::default()
        };
        let within: Vec<Value> = index.constants.iter().copied().filter(inside).collect();
        result.constants = within.iter().map(|i| first.wrapping_add(*i)).collect();
        if let Some(name) = index.name {
            if !self.all_inside(name, length) {
                self.give_up(name.code);
                return Held::anything();
            }
            let address = self.checked(name.code, name.first.checked_add(first), Some(name.step));
            result.name = address.name;
            result.other |= address.other;
        }
        result
    }

    /// Whether the numbers of all copies are indices of an array.
    fn all_inside(&self, name: Numbering, length: u32) -> bool {
        (0..self.copies[name.code]).all(|copy| (0..Value::from(length)).contains(&name.value(copy)))
    }

    /// The locations that an access may touch.
    fn touched(&mut self, code: usize, address: &Address<RegisterId>) -> Vec<usize> {
        let (held, locate): (Held, Box<dyn Fn(Value) -> Option<LocationId>>) = match address {
            Address::Direct(location) => {
                self.mentioned[location.index()] = true;
                return vec![location.index()];
            }
            Address::Element {
                first,
                length,
                index,
            } => {
                let held = self.held(code, index);
                let (first, length) = (*first, *length);
                let locate = move |index: Value| {
                    let inside = (0..Value::from(length)).contains(&index);
                    inside.then(|| LocationId(first.0 + index as u32))
                };
                (held, Box::new(locate))
            }
            Address::Pointer(pointer) => {
                let held = self.held(code, pointer);
                let program = self.program;
                (held, Box::new(|address| program.location_at(address)))
            }
        };
        let mut touched = BTreeSet::new();
        if let Some(name) = held.name {
            let copies = 0..self.copies[name.code];
            let family: Option<Vec<LocationId>> =
                copies.map(|copy| locate(name.value(copy))).collect();
            match family {
                Some(family) => {
                    touched.extend(family.iter().map(|location| location.index()));
                    self.claim(name.code, family);
                }
                None => self.give_up(name.code),
            }
        }
        let all: Vec<Value> = match (held.other, address) {
            (false, _) => held.constants.into_iter().collect(),
            (true, Address::Element { length, .. }) => (0..Value::from(*length)).collect(),
            (true, _) => (self.program.locations.iter()).map(|l| l.address).collect(),
        };
        for location in all.into_iter().filter_map(locate) {
            self.mentioned[location.index()] = true;
            touched.insert(location.index());
        }
        touched.into_iter().collect()
    }

    fn follow(&mut self, code: usize, to: PointId, op: &Op) {
        let touched = match op.address() {
            Some(address) => self.touched(code, address),
            None => Vec::new(),
        };
        match op {
            Op::Assign(register, value) => {
                let held = self.held(code, value);
                self.join_register(code, to, *register, &held);
            }
            Op::Assume(condition) | Op::Assert(condition) => {
                let held = self.held(code, condition);
                self.tested(&held);
            }
            Op::Load { .. } => {}
            Op::Store { value, .. } => {
                let held = self.held(code, value);
                (touched.iter()).for_each(|&location| self.join_location(location, &held));
            }
            Op::Rmw { action, .. } => {
                for &location in &touched {
                    self.update(code, location, action);
                }
            }
            Op::Wait {
                relation, value, ..
            } => {
                let value = self.held(code, value);
                for &location in &touched {
                    let found = self.locations[location].clone();
                    match relation {
                        Relation::Equal | Relation::NotEqual => self.compared(&found, &value),
                        _ => {
                            self.give_up_name(found.name);
                            self.give_up_name(value.name);
                        }
                    }
                }
            }
            Op::Skip | Op::Jump | Op::Fence(_) | Op::AtomicBegin | Op::AtomicEnd => {}
        }
        if let (Some(register), false) = (op.target(), touched.is_empty()) {
            for &location in &touched {
                let held = self.locations[location].clone();
                self.join_register(code, to, register, &held);
            }
        }
    }

    fn update(&mut self, code: usize, location: usize, action: &RmwAction) {
        let found = self.locations[location].clone();
        let written = match action {
            RmwAction::CompareAndSwap {
                expected, desired, ..
            }
            | RmwAction::BlockingCompareAndSwap { expected, desired } => {
                let expected = self.held(code, expected);
                self.compared(&found, &expected);
                self.held(code, desired)
            }
            RmwAction::Fetch(op, operand) => {
                let operand = self.held(code, operand);
                self.binary(*op, &found, &operand)
            }
            RmwAction::Exchange(value) => self.held(code, value),
        };
        self.join_location(location, &written);
    }

    /// What is special is, now that it is known what holds names.
    fn judge(&mut self) {
        let nodes = self.registers.iter().flatten().chain(&self.locations);
        let nodes: Vec<Held> = nodes.cloned().collect();
        for node in nodes {
            if let Some(name) = node.name {
                if node.other {
                    self.give_up(name.code);
                }
                for constant in node.constants {
                    self.mention(name, constant);
                }
            }
        }
        for (code, locations) in self.families.clone() {
            let alike = |location: &LocationId| {
                let location = self.program.location(*location);
                let first = self.program.location(locations[0]);
                location.nonatomic == first.nonatomic
            };
            if !locations.iter().all(alike) {
                self.give_up(code);
            }
            for (copy, location) in locations.iter().enumerate() {
                if self.mentioned[location.index()] {
                    self.special[code][copy] = true;
                }
            }
        }
        self.judge_nevers();
    }

    /// What a `never` speaks of is special, unless it says the same of all.
    fn judge_nevers(&mut self) {
        let program = self.program;
        let mut copies: Vec<(usize, usize)> = Vec::new();
        let mut hopeless: Vec<usize> = Vec::new();
        for never in &program.nevers {
            visit_state_atoms(&never.conditions, &mut |atom| match atom {
                StateAtom::Deadlock => {}
                StateAtom::At(copy, _) => {
                    copies.extend(copy.copy.map(|c| (copy.thread.index(), c as usize)));
                }
                StateAtom::Register(copy, register) => {
                    let code = copy.thread.index();
                    match copy.copy {
                        Some(number) => copies.push((code, number as usize)),
                        None => hopeless.push(code),
                    }
                    let name = self.registers[code][register.index()].name;
                    hopeless.extend(name.map(|name| name.code));
                }
                StateAtom::Memory(address) => match &**address {
                    Address::Direct(location) => {
                        let name = self.locations[location.index()].name;
                        hopeless.extend(name.map(|name| name.code));
                        if let Some(family) = self.owner[location.index()] {
                            let (code, locations) = &self.families[family];
                            let copy = locations.iter().position(|l| l == location);
                            copies.extend(copy.map(|copy| (*code, copy)));
                        }
                    }
                    _ => hopeless.extend(0..program.threads.len()),
                },
            });
        }
        hopeless.into_iter().for_each(|code| self.give_up(code));
        let mut by_code: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (code, copy) in copies {
            by_code.entry(code).or_default().insert(copy);
        }
        for (code, mentioned) in by_code {
            if self.is_fair(code) {
                continue;
            }
            for copy in mentioned {
                if let Some(special) = self.special[code].get_mut(copy) {
                    *special = true;
                }
            }
        }
    }

    /// Whether all `never`s say the same of all copies that are not special yet.
    fn is_fair(&self, code: usize) -> bool {
        let special = &self.special[code];
        let free: Vec<u32> = (0..special.len() as u32)
            .filter(|&copy| !special[copy as usize])
            .collect();
        let said = |exchange: Option<(u32, u32)>| -> Option<Vec<Vec<String>>> {
            let nevers = self.program.nevers.iter();
            nevers
                .map(|never| {
                    let conditions = never.conditions.iter();
                    let said: Option<Vec<String>> = conditions
                        .map(|condition| self.normal(condition, code, exchange))
                        .collect();
                    said.map(|mut said| {
                        said.sort();
                        said
                    })
                })
                .collect()
        };
        let Some(plain) = said(None) else {
            return false;
        };
        (free.windows(2)).all(|pair| said(Some((pair[0], pair[1]))).as_ref() == Some(&plain))
    }

    /// A condition as a text that is the same for sums, conjunctions and comparisons in any order; with two copies exchanged. `None` where its parts may go wrong.
    fn normal(
        &self,
        condition: &Expr<StateAtom>,
        code: usize,
        exchange: Option<(u32, u32)>,
    ) -> Option<String> {
        let exchanged = |copy: u32| match exchange {
            Some((one, other)) if copy == one => other,
            Some((one, other)) if copy == other => one,
            _ => copy,
        };
        let copy_of = |copy: &CopyRef| CopyRef {
            copy: match copy.thread.index() == code {
                true => copy.copy.map(exchanged),
                false => copy.copy,
            },
            ..*copy
        };
        Some(match condition {
            Expr::Const(value) => value.to_string(),
            Expr::Atom(StateAtom::At(copy, label)) => format!("{:?}@{label:?}", copy_of(copy)),
            Expr::Atom(StateAtom::Register(copy, register)) => {
                format!("{:?}.{register:?}", copy_of(copy))
            }
            Expr::Atom(StateAtom::Deadlock) => "deadlock".into(),
            Expr::Atom(StateAtom::Memory(address)) => match &**address {
                Address::Direct(location) => {
                    let mut location = *location;
                    if let Some(family) = self.owner[location.index()]
                        && let (owner, locations) = &self.families[family]
                        && *owner == code
                        && let Some(copy) = locations.iter().position(|l| *l == location)
                    {
                        location = locations[exchanged(copy as u32) as usize];
                    }
                    format!("{location:?}")
                }
                _ => return None,
            },
            Expr::Unary(op, operand) => {
                format!("{}({})", op.symbol(), self.normal(operand, code, exchange)?)
            }
            Expr::Binary(op, left, right) => match op {
                BinaryOp::Add
                | BinaryOp::Multiply
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::BitAnd
                | BinaryOp::BitOr
                | BinaryOp::BitXor => {
                    let mut parts = Vec::new();
                    let mut work = vec![left, right];
                    while let Some(part) = work.pop() {
                        match &**part {
                            Expr::Binary(same, left, right) if same == op => {
                                work.extend([left, right]);
                            }
                            part => parts.push(self.normal(part, code, exchange)?),
                        }
                    }
                    parts.sort();
                    format!("({})", parts.join(op.symbol()))
                }
                BinaryOp::Divide
                | BinaryOp::Remainder
                | BinaryOp::ShiftLeft
                | BinaryOp::ShiftRight => return None,
                op => {
                    let mut parts = [
                        self.normal(left, code, exchange)?,
                        self.normal(right, code, exchange)?,
                    ];
                    if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) {
                        parts.sort();
                    }
                    format!("({})", parts.join(op.symbol()))
                }
            },
            Expr::Element { .. } => return None,
        })
    }

    /// The interchangeable copies of a code, if there are several.
    fn group(&self, code: usize) -> Option<NamedGroup> {
        let instances = self.threads.instances.iter().enumerate();
        let free = instances.filter(|(_, instance)| {
            instance.thread.index() == code && !self.special[code][instance.copy as usize]
        });
        let (copies, instances): (Vec<u32>, Vec<usize>) =
            free.map(|(index, instance)| (instance.copy, index)).unzip();
        (copies.len() > 1).then_some(NamedGroup {
            code,
            copies,
            instances,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use palisade_lang::{ParseOptions, Source, parse};

    /// The copies of the first code that can be exchanged.
    fn free(text: &str) -> Vec<u32> {
        let source = Source::new("a.pal", text);
        let program = parse(&source, &ParseOptions::default()).unwrap().program;
        let threads = Threads::new(&program, Settings::default());
        let named = threads.named();
        named.map_or_else(Vec::new, |named| named.groups[0].copies.clone())
    }

    #[test]
    fn numbers_that_are_only_names() {
        for (body, copies) in [
            ("x = me;", vec![0, 1, 2]),
            ("x = me + 1; if x == 0 { a[me] = 1; }", vec![0, 1, 2]),
            ("let p = &a[me]; *p = 1; x = p;", vec![0, 1, 2]),
            ("if me == 1 { x = 7; }", vec![0, 2]),
            ("a[me] = 1; a[0] = 2;", vec![1, 2]),
            ("x = me; x = 2;", vec![0, 1]),
            ("if me < 1 { x = 7; }", vec![]),
            ("x = me; fadd(x, 1);", vec![]),
            ("a[me] = 1; let r = x; a[r] = 1; x = r + 1;", vec![]),
            ("x = me; x = me + 1;", vec![]),
            (
                "let r; loop { r = x; x = me; a[r] = 1; r = 0; }",
                vec![0, 1, 2],
            ),
        ] {
            let text = format!("shared x, a[3]; thread t[3] {{ {body} }}");
            assert_eq!(free(&text), copies, "{body}");
        }
    }
}
