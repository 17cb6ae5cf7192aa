//! The flattening abstraction (Abdulla et al. 2015, section 10), made sound.
//!
//! For a pivot, the other threads take their first K steps as they are. After that a thread keeps only its stores and read-modify-writes
//! to locations that matter: those that the pivot reads, or that some other thread may read in its first K steps. Everything
//! else is skipped, and then
//!
//! * a register that a skipped statement sets may hold any value: wherever one is used, every value is tried that the program's analysis of
//!   values allows (`tso/values.rs`);
//! * a condition on such a register goes both ways;
//! * an address that depends on one is any location.
//!
//! Skips are then left out altogether, and points from which the same can be done become one: a flattened thread is small.
//!
//! Registers that are only ever computed from constants and `me` are computed on. So every SC run of the program has a run of the abstract program
//! in which the pivot does the same and the locations that matter hold the same values: if the pivot has no pattern in the
//! abstract program, it has none in the program.

use palisade_lang::{
    Address, Copies, Expr, LocationId, Op, Point, PointId, Program, RegisterExpr, RegisterId,
    RmwAction, Thread, Transition, Value,
};

use rustc_hash::FxHashMap;

use crate::values::Possible;

/// More ways than this to execute one instruction are not tried.
const MOST_WAYS: usize = 1024;
/// More points than this are not made of one thread.
const MOST_POINTS: usize = 100_000;

/// The abstract program for a pivot, which is its first thread. `None` where some value that is needed may be any of too many.
pub(crate) fn flatten(
    program: &Program,
    possible: &Possible,
    pivot: usize,
    steps: u32,
) -> Option<Program> {
    let instances = program.instances();
    let code = |instance: usize| program.thread(instances[instance].thread);
    let others: Vec<usize> = (0..instances.len()).filter(|&i| i != pivot).collect();
    let mut matters = vec![false; program.locations.len()];
    let mut read = |instance: usize, op: &Op| {
        if !matches!(op, Op::Load { .. } | Op::Wait { .. } | Op::Rmw { .. }) {
            return;
        }
        match op
            .address()
            .map(|a| possible.locations(program, instance, a))
        {
            Some(Some(locations)) => locations.iter().for_each(|l| matters[l.index()] = true),
            Some(None) => matters.fill(true),
            None => {}
        }
    };
    for transition in &code(pivot).transitions {
        read(pivot, &transition.op);
    }
    for &other in &others {
        let depths = depths(code(other));
        for transition in &code(other).transitions {
            if depths[transition.from.index()] < steps {
                read(other, &transition.op);
            }
        }
    }
    let flattening = |instance: usize| Flattening {
        program,
        possible,
        instance,
        thread: code(instance),
        matters: &matters,
        steady: steady(code(instance)),
    };
    let mut threads = vec![flattening(pivot).pivot()];
    for &other in &others {
        threads.push(flattening(other).flatten(steps)?);
    }
    for (thread, &instance) in threads.iter_mut().zip([pivot].iter().chain(&others)) {
        thread.name = instances[instance].name.clone();
        stand_alone(thread, instances[instance].copy);
    }
    let mut flat = program.clone();
    flat.threads = threads;
    flat.nevers.clear();
    flat.places.clear();
    Some(flat)
}

/// The least number of steps to each point.
fn depths(thread: &Thread) -> Vec<u32> {
    let mut depths = vec![u32::MAX; thread.points.len()];
    depths[thread.initial.index()] = 0;
    let mut work = std::collections::VecDeque::from([thread.initial]);
    while let Some(point) = work.pop_front() {
        for transition in thread.outgoing(point) {
            let depth = depths[point.index()] + u32::from(transition.op != Op::Jump);
            if depth < depths[transition.to.index()] {
                depths[transition.to.index()] = depth;
                work.push_back(transition.to);
            }
        }
    }
    depths
}

/// Makes a copy of a thread a thread of its own.
fn stand_alone(thread: &mut Thread, copy: u32) {
    thread.copies = Copies::One;
    thread.labels.clear();
    thread.points.iter_mut().for_each(|p| p.place = None);
    if let Some(me) = thread.me.take() {
        let first = PointId(thread.points.len() as u32);
        thread.points.push(Point {
            name: None,
            atomic: false,
            place: None,
            span: thread.span,
        });
        thread.transitions.push(Transition {
            from: first,
            to: thread.initial,
            op: Op::Assign(me, Expr::Const(Value::from(copy))),
            span: thread.span,
        });
        thread.initial = first;
    }
    thread.sort_transitions();
}

/// One thread on its way into the abstract program.
struct Flattening<'a> {
    program: &'a Program,
    possible: &'a Possible,
    instance: usize,
    thread: &'a Thread,
    matters: &'a [bool],
    /// Registers that are computed on.
    steady: Vec<bool>,
}

impl Flattening<'_> {
    /// The pivot as it is. What it writes where no thread looks does not matter, so it always writes the same.
    fn pivot(&self) -> Thread {
        let mut thread = self.thread.clone();
        for transition in &mut thread.transitions {
            if let Op::Store { address, value, .. } = &mut transition.op
                && let Some(locations) =
                    self.possible
                        .locations(self.program, self.instance, address)
                && locations.iter().all(|l| !self.matters[l.index()])
                && let Some(first) = locations.first()
            {
                let initial = |l: &LocationId| self.program.location(*l).initial;
                if locations.iter().all(|l| initial(l) == initial(first)) {
                    *value = Expr::Const(initial(first));
                }
            }
        }
        thread
    }

    fn flatten(&self, steps: u32) -> Option<Thread> {
        let points = self.thread.points.len();
        let copies = steps as usize + 1;
        if points.saturating_mul(copies) > MOST_POINTS {
            return None;
        }
        let mut flat = self.thread.clone();
        flat.transitions.clear();
        for _ in 0..steps {
            flat.points.extend_from_slice(&self.thread.points);
        }
        let at = |copy: usize, point: PointId| PointId((copy * points) as u32 + point.0);
        let forgotten = self.forgotten();
        let mut rest = Vec::new();
        for transition in &self.thread.transitions {
            for op in self.ways(&transition.op, &forgotten[transition.from.index()])? {
                rest.push(Transition {
                    op,
                    ..transition.clone()
                });
            }
        }
        // Where a thread stands that has taken its first K steps.
        let (rest, stands_for) = without_skips(&self.thread.points, rest);
        let last = copies - 1;
        let arrive = |copy: usize, point: PointId| match copy == last {
            true => at(copy, stands_for[point.index()]),
            false => at(copy, point),
        };
        for transition in rest {
            flat.transitions.push(Transition {
                from: at(last, transition.from),
                to: at(last, transition.to),
                ..transition
            });
        }
        for transition in &self.thread.transitions {
            let steps = usize::from(transition.op != Op::Jump);
            for copy in 0..last {
                flat.transitions.push(Transition {
                    from: at(copy, transition.from),
                    to: arrive(copy + steps, transition.to),
                    op: self.first_step(&transition.op),
                    span: transition.span,
                });
            }
        }
        flat.initial = arrive(0, self.thread.initial);
        Some(flat)
    }

    /// One of the first K steps.
    fn first_step(&self, op: &Op) -> Op {
        match op {
            Op::Assert(condition) => Op::Assume(condition.clone()),
            Op::Fence(_) => Op::Skip,
            Op::Store { .. } if !self.may_matter(op) => Op::Skip,
            _ => op.clone(),
        }
    }

    /// For each point, the registers that a skipped statement may have set.
    fn forgotten(&self) -> Vec<Vec<bool>> {
        let registers = self.thread.registers.len();
        let mut forgotten = vec![vec![false; registers]; self.thread.points.len()];
        let mut work: Vec<PointId> = (0..self.thread.points.len() as u32).map(PointId).collect();
        while let Some(point) = work.pop() {
            for transition in self.thread.outgoing(point) {
                let mut after = forgotten[point.index()].clone();
                if let Some(register) = transition.op.target() {
                    let kept = match &transition.op {
                        Op::Assign(..) => self.steady[register.index()],
                        op @ Op::Rmw { .. } => self.always_matters(op),
                        _ => false,
                    };
                    after[register.index()] = !kept;
                }
                let known = &mut forgotten[transition.to.index()];
                let mut grown = false;
                for (old, new) in known.iter_mut().zip(after) {
                    grown |= new && !*old;
                    *old |= new;
                }
                if grown {
                    work.push(transition.to);
                }
            }
        }
        forgotten
    }

    /// Whether an access may touch a location that matters.
    fn may_matter(&self, op: &Op) -> bool {
        let locations = self.locations(op);
        locations.is_none_or(|l| l.iter().any(|l| self.matters[l.index()]))
    }

    /// Whether an access can touch nothing else.
    fn always_matters(&self, op: &Op) -> bool {
        let locations = self.locations(op);
        match locations {
            Some(locations) => locations.iter().all(|l| self.matters[l.index()]),
            None => self.matters.iter().all(|m| *m),
        }
    }

    fn locations(&self, op: &Op) -> Option<Vec<LocationId>> {
        op.address()
            .and_then(|a| self.possible.locations(self.program, self.instance, a))
    }

    /// What an instruction may do after the first K steps, each way as an instruction.
    fn ways(&self, op: &Op, forgotten: &[bool]) -> Option<Vec<Op>> {
        let known: Vec<bool> = forgotten.iter().map(|f| !f).collect();
        Some(match op {
            Op::Jump | Op::AtomicBegin | Op::AtomicEnd => vec![op.clone()],
            Op::Assign(register, _) if self.steady[register.index()] => vec![op.clone()],
            Op::Assume(condition) | Op::Assert(condition) if uses_only(condition, &known) => {
                vec![Op::Assume(condition.clone())]
            }
            Op::Skip
            | Op::Assign(..)
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Load { .. }
            | Op::Wait { .. }
            | Op::Fence(_) => vec![Op::Skip],
            Op::Store { .. } | Op::Rmw { .. } => {
                let mut ways = Vec::new();
                for op in self.addresses(op, &known)? {
                    if op == Op::Skip {
                        ways.push(op);
                    } else {
                        ways.extend(self.operands(op, &known)?);
                    }
                    if ways.len() > MOST_WAYS {
                        return None;
                    }
                }
                ways
            }
        })
    }

    /// The access with each address that it may have; `Skip` stands for all that do not matter.
    fn addresses(&self, op: &Op, known: &[bool]) -> Option<Vec<Op>> {
        if !self.may_matter(op) {
            return Some(vec![Op::Skip]);
        }
        let address = op.address()?;
        let is_known = match address {
            Address::Direct(_) => true,
            Address::Element { index: e, .. } | Address::Pointer(e) => uses_only(e, known),
        };
        // A store to what is never read is harmless; a read-modify-write must not wait for what is not kept up to date.
        if is_known && (matches!(op, Op::Store { .. }) || self.always_matters(op)) {
            return Some(vec![op.clone()]);
        }
        let all = (0..self.program.locations.len() as u32).map(LocationId);
        let locations = self.locations(op).unwrap_or_else(|| all.collect());
        let mut ways = Vec::new();
        if locations.iter().any(|l| !self.matters[l.index()]) {
            ways.push(Op::Skip);
        }
        for location in locations.into_iter().filter(|l| self.matters[l.index()]) {
            let mut way = op.clone();
            if let Op::Store { address, .. } | Op::Rmw { address, .. } = &mut way {
                *address = Address::Direct(location);
            }
            ways.push(way);
        }
        Some(ways)
    }

    /// The access with each combination of values that its operands may have.
    fn operands(&self, op: Op, known: &[bool]) -> Option<Vec<Op>> {
        let mut ways = vec![op];
        for number in 0.. {
            let mut next = Vec::new();
            let mut some = false;
            for mut way in ways {
                let Some(operand) = operand_mut(&mut way, number) else {
                    next.push(way);
                    continue;
                };
                some = true;
                if uses_only(operand, known) {
                    next.push(way);
                    continue;
                }
                for value in self.values(operand)? {
                    if let Some(operand) = operand_mut(&mut way, number) {
                        *operand = Expr::Const(value);
                    }
                    next.push(way.clone());
                }
                if next.len() > MOST_WAYS {
                    return None;
                }
            }
            ways = next;
            if !some {
                break;
            }
        }
        Some(ways)
    }

    /// All values that an expression may have; `None` where they are too many.
    fn values(&self, expr: &RegisterExpr) -> Option<Vec<Value>> {
        match self.possible.evaluate(self.instance, expr) {
            Some(values) => Some(values),
            None => {
                let size = self.program.domain.size().filter(|s| *s <= 256)?;
                Some((0..size).collect())
            }
        }
    }
}

/// Longer code is left as it is.
const MOST_MERGED_POINTS: usize = 2_000;

/// The same code without skips, where points from which the same can be done are one; and for each point, which one it has become.
fn without_skips(
    points: &[Point],
    transitions: Vec<Transition>,
) -> (Vec<Transition>, Vec<PointId>) {
    let count = points.len();
    if count > MOST_MERGED_POINTS {
        return (transitions, (0..count as u32).map(PointId).collect());
    }
    let is_skip = |t: &Transition| matches!(t.op, Op::Skip | Op::Jump);
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (index, transition) in transitions.iter().enumerate() {
        leaving[transition.from.index()].push(index);
    }
    // What can be done from each point after any number of skips.
    let mut doable: Vec<Vec<usize>> = Vec::with_capacity(count);
    for point in 0..count {
        let mut seen = vec![false; count];
        seen[point] = true;
        let mut work = vec![point];
        let mut found = Vec::new();
        while let Some(at) = work.pop() {
            for &index in &leaving[at] {
                let transition = &transitions[index];
                if !is_skip(transition) {
                    found.push(index);
                } else if !std::mem::replace(&mut seen[transition.to.index()], true) {
                    work.push(transition.to.index());
                }
            }
        }
        doable.push(found);
    }
    // Points are told apart until what is left together can do the same.
    let mut numbers: FxHashMap<&Op, usize> = FxHashMap::default();
    let ops: Vec<usize> = transitions
        .iter()
        .map(|t| {
            let next = numbers.len();
            *numbers.entry(&t.op).or_insert(next)
        })
        .collect();
    let mut class: Vec<usize> = points.iter().map(|p| usize::from(p.atomic)).collect();
    let mut classes = 0;
    loop {
        let mut found: FxHashMap<(bool, Vec<(usize, usize)>), usize> = FxHashMap::default();
        let next: Vec<usize> = (0..count)
            .map(|point| {
                let mut can: Vec<(usize, usize)> = doable[point]
                    .iter()
                    .map(|&index| (ops[index], class[transitions[index].to.index()]))
                    .collect();
                can.sort_unstable();
                can.dedup();
                let number = found.len();
                *found.entry((points[point].atomic, can)).or_insert(number)
            })
            .collect();
        class = next;
        if found.len() == classes {
            break;
        }
        classes = found.len();
    }
    let mut first = vec![None; classes];
    for (point, &class) in class.iter().enumerate() {
        first[class].get_or_insert(PointId(point as u32));
    }
    let stands_for: Vec<PointId> = class
        .iter()
        .enumerate()
        .map(|(point, &class)| first[class].unwrap_or(PointId(point as u32)))
        .collect();
    let mut merged: Vec<Transition> = Vec::new();
    for point in (0..count).filter(|&p| stands_for[p].index() == p) {
        let begin = merged.len();
        for &index in &doable[point] {
            let to = stands_for[transitions[index].to.index()];
            let op = &transitions[index].op;
            if !merged[begin..].iter().any(|t| t.to == to && t.op == *op) {
                merged.push(Transition {
                    from: PointId(point as u32),
                    to,
                    ..transitions[index].clone()
                });
            }
        }
    }
    (merged, stands_for)
}

/// Registers that are only ever computed from constants, `me` and each other without a circle: they have few values.
fn steady(thread: &Thread) -> Vec<bool> {
    let mut steady = vec![true; thread.registers.len()];
    for transition in &thread.transitions {
        if let Some(register) = transition.op.target() {
            steady[register.index()] = false;
        }
    }
    loop {
        let before = steady.clone();
        for register in (0..steady.len()).filter(|&r| !before[r]) {
            let mut writes = thread
                .transitions
                .iter()
                .map(|t| &t.op)
                .filter(|op| op.target().is_some_and(|target| target.index() == register));
            steady[register] =
                writes.all(|op| matches!(op, Op::Assign(_, e) if uses_only(e, &before)));
        }
        if steady == before {
            return steady;
        }
    }
}

/// Whether an expression mentions only registers of a set.
fn uses_only(expr: &RegisterExpr, set: &[bool]) -> bool {
    let mut only = true;
    expr.for_each_atom(&mut |r: &RegisterId| only &= set[r.index()]);
    only
}

/// An operand of a store or a read-modify-write other than its address, by number.
fn operand_mut(op: &mut Op, number: usize) -> Option<&mut RegisterExpr> {
    match (op, number) {
        (Op::Store { value, .. }, 0) => Some(value),
        (Op::Rmw { action, .. }, _) => match (action, number) {
            (
                RmwAction::CompareAndSwap { expected, .. }
                | RmwAction::BlockingCompareAndSwap { expected, .. },
                0,
            ) => Some(expected),
            (
                RmwAction::CompareAndSwap { desired, .. }
                | RmwAction::BlockingCompareAndSwap { desired, .. },
                1,
            ) => Some(desired),
            (RmwAction::Fetch(_, operand) | RmwAction::Exchange(operand), 0) => Some(operand),
            _ => None,
        },
        _ => None,
    }
}
