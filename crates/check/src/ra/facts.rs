//! What can be known before the search: which locations need monitors, which values need to be told apart, and what each thread may
//! still do from each control point on.

use palisade_lang::components::components;
use palisade_lang::{
    Address, LocationId, Op, Order, PointId, Program, RegisterId, Relation, RmwAction, Thread,
    Transition, Value,
};
use palisade_threads::Status;
use palisade_threads::{LocalId, View};
use rustc_hash::FxHashMap;

use std::sync::Arc;

use super::sets::Set;

/// A predicate on values that some instruction depends on: `value REL operand`.
pub type Predicate = (Relation, Value);

/// Which values of a location instructions can tell apart when they read stale: critical values (Def. 5.5), as classes.
///
/// Two values are in the same class if every instruction that may access the location treats them alike: it is enabled for both or for
/// neither, and writes for both or for neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Classes {
    /// Every value is a class of its own (`cas` with a computed expectation, an `atomic` block).
    Single,
    /// Values are told apart by these predicates only.
    By(Vec<Predicate>),
}

/// With more predicates than this, values are not put into classes at all.
const MOST_PREDICATES: usize = 64;

impl Classes {
    /// The class of a value, as a number that other values of the class share.
    pub fn class(&self, value: Value) -> i64 {
        match self {
            Classes::Single => value,
            Classes::By(predicates) => {
                predicates
                    .iter()
                    .enumerate()
                    .fold(0u64, |class, (bit, (relation, operand))| {
                        class | u64::from(relation.holds(value, *operand)) << bit
                    }) as i64
            }
        }
    }

    /// A value that stands for all values of the class.
    pub fn representative(&self, value: Value) -> Value {
        let Classes::By(predicates) = self else {
            return value;
        };
        let class = self.class(value);
        let operands = predicates.iter().map(|(_, operand)| *operand);
        let near = operands.flat_map(|o| [o, o.saturating_add(1), o.saturating_sub(1)]);
        let mut candidates = std::iter::once(0).chain(near);
        candidates
            .find(|&v| self.class(v) == class)
            .unwrap_or(value)
    }

    fn add(&mut self, relation: Relation, operand: Option<Value>) {
        match (operand, &mut *self) {
            (_, Classes::Single) => {}
            (None, _) => *self = Classes::Single,
            (Some(operand), Classes::By(predicates)) => {
                // `==` and `!=` tell the same values apart.
                let relation = match relation {
                    Relation::NotEqual => Relation::Equal,
                    other => other,
                };
                if !predicates.contains(&(relation, operand)) {
                    predicates.push((relation, operand));
                }
                if predicates.len() > MOST_PREDICATES {
                    *self = Classes::Single;
                }
            }
        }
    }
}

/// What a thread may still do: sets of places (locations, and behind them the fences' own).
#[derive(Clone, Debug, PartialEq)]
pub struct Future {
    /// Locations that it may read without writing: load, `wait`, a `cas` that fails.
    pub reads: Set,
    /// Locations that it may store to.
    pub stores: Set,
    /// Locations that it may read-modify-write.
    pub updates: Set,
    /// What its reads accept: numbers in [`Facts::accepts`].
    pub read_accepts: Set,
    /// What its stores and updates accept to be followed.
    pub write_accepts: Set,
    /// Places where what it does depends on the value that it finds: `wait`, `cas`, a block.
    pub chooses: Set,
    /// Places that it may read without acquiring.
    pub loose_reads: Set,
    /// Places that it may write without releasing.
    pub loose_writes: Set,
    /// Whether it may execute a fence that acquires.
    pub acquire_fence: bool,
}

/// The values of a place that some instruction accepts when it reads (or, for a store, follows) them; all without a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Accept {
    /// The place.
    pub place: usize,
    /// Which values.
    pub predicate: Option<Predicate>,
    /// Whether what the instruction does depends on the value: then it may not accept all, even without a predicate.
    pub chooses: bool,
}

impl Accept {
    /// Whether a value is accepted.
    pub fn accepts(&self, value: Value) -> bool {
        self.predicate
            .is_none_or(|(relation, operand)| relation.holds(value, operand))
    }
}

impl Future {
    fn nothing(places: usize) -> Self {
        Future {
            reads: Set::empty(places),
            stores: Set::empty(places),
            updates: Set::empty(places),
            read_accepts: Set::empty(0),
            write_accepts: Set::empty(0),
            chooses: Set::empty(places),
            loose_reads: Set::empty(places),
            loose_writes: Set::empty(places),
            acquire_fence: false,
        }
    }

    fn join(&mut self, other: &Future) -> bool {
        let changed = self.reads.join(&other.reads);
        let changed = self.stores.join(&other.stores) | changed;
        let changed = self.read_accepts.join(&other.read_accepts) | changed;
        let changed = self.write_accepts.join(&other.write_accepts) | changed;
        let changed = self.chooses.join(&other.chooses) | changed;
        let changed = self.loose_reads.join(&other.loose_reads) | changed;
        let changed = self.loose_writes.join(&other.loose_writes) | changed;
        let changed = (other.acquire_fence && !self.acquire_fence) | changed;
        self.acquire_fence |= other.acquire_fence;
        self.updates.join(&other.updates) | changed
    }

    /// Whether it may write the place.
    pub fn writes(&self, place: usize) -> bool {
        self.stores.has(place) || self.updates.has(place)
    }

    /// Whether it may access the place in a way that conflicts with an access which writes or only reads.
    pub fn conflicts(&self, place: usize, other_writes: bool) -> bool {
        self.writes(place) || other_writes && self.touches(place)
    }

    /// Whether it may access the place.
    pub fn touches(&self, place: usize) -> bool {
        self.reads.has(place) || self.writes(place)
    }
}

/// What fences are to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fences {
    /// Release/acquire: an sc fence is a read-modify-write of one extra place, other fences are nothing.
    Updates,
    /// C++20: a fence is an event without a place, and what it does depends on its order.
    Fences,
}

/// The facts about a program.
#[derive(Debug)]
pub struct Facts {
    /// What fences are.
    pub fences: Fences,
    /// Some access that is not nonatomic reads without acquiring, or writes without releasing.
    pub loose: bool,
    /// There is a seq_cst access or fence (only where orders count).
    pub seqcst: bool,
    /// By place: some access of it is nonatomic.
    pub nonatomic: Vec<bool>,
    /// Locations, and one more place for the fences.
    pub places: usize,
    /// For each place that needs monitors, its number among these.
    pub tracked: Vec<Option<usize>>,
    /// How many there are.
    pub tracked_count: usize,
    /// By place.
    pub classes: Vec<Classes>,
    /// What instructions accept.
    pub accepts: Vec<Accept>,
    accept_numbers: FxHashMap<Accept, usize>,
    /// All different futures; number 0 is the one of a thread that has ended.
    pub futures: Vec<Future>,
    /// For each running thread.
    threads: Vec<Analysed>,
}

/// An instruction of a running thread.
#[derive(Clone, Debug)]
pub struct Edge {
    /// From this control point …
    pub from: u32,
    /// … to this one.
    pub to: u32,
    /// What it may do: a number in [`Facts::futures`].
    pub does: u32,
}

/// The different futures of a thread, each once: there are far fewer of them than control points.
struct Different {
    futures: Vec<Future>,
}

impl Different {
    /// The number of this future, which is likely to be that of another one.
    fn number(&mut self, future: Future, likely: usize) -> usize {
        if self.futures[likely] == future {
            return likely;
        }
        let known = self.futures.iter().position(|known| *known == future);
        known.unwrap_or_else(|| {
            self.futures.push(future);
            self.futures.len() - 1
        })
    }
}

/// What is known about the control points of a running thread.
#[derive(Clone, Debug)]
struct Analysed {
    /// For each point the number of the future.
    by_point: Vec<u32>,
    edges: Arc<Vec<Edge>>,
}

/// Where a running thread stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Horizon {
    /// What it may still do: a number in [`Facts::futures`].
    pub future: u32,
    /// Its control point; it means nothing for a thread that has ended, whose future is 0.
    pub point: u32,
}

impl Facts {
    /// Analyses the program.
    pub fn new(program: &Program, fences: Fences) -> Self {
        let instances = program.instances();
        let places = program.locations.len() + 1;
        let mut facts = Facts {
            fences,
            loose: false,
            seqcst: false,
            nonatomic: vec![false; places],
            places,
            tracked: vec![None; places],
            tracked_count: 0,
            classes: vec![Classes::By(Vec::new()); places],
            accepts: Vec::new(),
            accept_numbers: FxHashMap::default(),
            futures: vec![Future::nothing(places)],
            threads: Vec::new(),
        };
        let mut beginnings = Vec::new();
        let mut known: Vec<(usize, Option<u32>, Analysed)> = Vec::new();
        for instance in &instances {
            let code = instance.thread.index();
            let thread = &program.threads[code];
            let me = thread.me.map(|_| instance.copy);
            let found = known
                .iter()
                .find(|(c, m, _)| *c == code && *m == me)
                .map(|(_, _, analysed)| analysed.clone());
            let analysed = found.unwrap_or_else(|| {
                let analysed = facts.analyse(program, thread, me);
                known.push((code, me, analysed.clone()));
                analysed
            });
            beginnings.push(analysed.by_point[thread.initial.index()]);
            facts.threads.push(analysed);
        }
        for place in 0..places {
            let nonatomic = program.locations.get(place).is_some_and(|l| l.nonatomic);
            let futures = || beginnings.iter().map(|&f| &facts.futures[f as usize]);
            let accessed = futures().filter(|f| f.touches(place)).count() > 1;
            let written = futures().any(|f| f.writes(place));
            // What only one thread accesses, or none writes, orders nothing and is never stale.
            if !nonatomic && accessed && written {
                facts.tracked[place] = Some(facts.tracked_count);
                facts.tracked_count += 1;
            }
        }
        facts
    }

    /// What a running thread may do from its beginning on.
    pub fn future_of_thread(&self, program: &Program, instance: usize) -> &Future {
        let thread = program.thread(program.instances()[instance].thread);
        let number = self.threads[instance].by_point[thread.initial.index()];
        &self.futures[number as usize]
    }

    /// For each transition of a running thread what it may do; nothing where it is never executed.
    pub fn effects(&self, instance: usize, thread: &Thread) -> Vec<Option<&Future>> {
        let mut edges = self.threads[instance].edges.iter().peekable();
        let of = |transition: &palisade_lang::Transition| {
            let edge = edges.next_if(|e| (e.from, e.to) == (transition.from.0, transition.to.0))?;
            Some(&self.futures[edge.does as usize])
        };
        thread.transitions.iter().map(of).collect()
    }

    /// The same, but so plain that the validator can derive it again: every place has monitors unless it is `nonatomic`, values are
    /// told apart by what instructions compare with, wherever that is a constant and the relation is `==` or `!=`, and a plain access with a computed address may be of every
    /// location that the text lets it reach.
    pub fn plain(program: &Program, fences: Fences) -> Self {
        let mut facts = Facts::new(program, fences);
        facts.tracked_count = 0;
        for place in 0..facts.places {
            let has_monitors = match program.locations.get(place) {
                Some(location) => !location.nonatomic,
                None => fences == Fences::Updates,
            };
            facts.tracked[place] = has_monitors.then_some(facts.tracked_count);
            facts.tracked_count += usize::from(has_monitors);
            facts.classes[place] = Classes::By(Vec::new());
        }
        if fences == Fences::Fences {
            let locations = program.locations.iter().enumerate();
            for (place, location) in locations {
                facts.nonatomic[place] = location.nonatomic;
            }
            let transitions = program.threads.iter().flat_map(|t| &t.transitions);
            for op in transitions.map(|t| &t.op) {
                let (Op::Load { address, order, .. }
                | Op::Store { address, order, .. }
                | Op::Wait { address, order, .. }) = op
                else {
                    continue;
                };
                let reached = match address {
                    Address::Direct(location) => location.index()..location.index() + 1,
                    Address::Element { first, length, .. } => {
                        first.index()..first.index() + *length as usize
                    }
                    Address::Pointer(_) => 0..program.locations.len(),
                };
                if *order == Order::NonAtomic {
                    facts.nonatomic[reached].fill(true);
                }
            }
        }
        for thread in &program.threads {
            let unknown = vec![None; thread.registers.len()];
            for transition in &thread.transitions {
                let (address, mut relation, compared) = match &transition.op {
                    Op::Wait {
                        address,
                        relation,
                        value,
                        ..
                    } => (address, *relation, evaluate(program, value, &unknown)),
                    Op::Rmw {
                        address,
                        action:
                            RmwAction::CompareAndSwap { expected, .. }
                            | RmwAction::BlockingCompareAndSwap { expected, .. },
                        ..
                    } => (
                        address,
                        Relation::Equal,
                        evaluate(program, expected, &unknown),
                    ),
                    Op::Load { address, .. }
                    | Op::Store { address, .. }
                    | Op::Rmw { address, .. }
                        if thread.points[transition.from.index()].atomic =>
                    {
                        (address, Relation::Equal, None)
                    }
                    _ => continue,
                };
                let mut operand = compared;
                if thread.points[transition.from.index()].atomic
                    || !matches!(relation, Relation::Equal | Relation::NotEqual)
                {
                    (relation, operand) = (Relation::Equal, None);
                }
                for place in locations(program, address, &unknown) {
                    facts.classes[place].add(relation, operand);
                }
            }
        }
        facts
    }

    /// The places of the monitored locations.
    pub fn tracked_places(&self) -> Vec<usize> {
        let places = 0..self.places;
        places.filter(|&p| self.tracked[p].is_some()).collect()
    }

    /// The place of the fences.
    pub fn fence_place(&self) -> usize {
        self.places - 1
    }

    /// Where a thread stands; [`Horizon::default`] if it has ended.
    pub fn horizon(
        &self,
        view: &mut View<'_>,
        instance: usize,
        code: usize,
        local: LocalId,
    ) -> Horizon {
        if view.status(code, local) != Status::Running {
            return Horizon::default();
        }
        let point = view.point(code, local);
        point.map_or(Horizon::default(), |point| Horizon {
            future: self.threads[instance].by_point[point.index()],
            point: point.0,
        })
    }

    /// The instructions of a running thread.
    pub fn edges(&self, instance: usize) -> &Arc<Vec<Edge>> {
        &self.threads[instance].edges
    }

    /// Finds the futures of one thread's points, and adds to the classes what its instructions tell apart.
    fn analyse(&mut self, program: &Program, thread: &Thread, me: Option<u32>) -> Analysed {
        let constants = constants(program, thread, me);
        let is_reached = |point: PointId| constants[point.index()].is_some();
        let reached = |t: &&Transition| is_reached(t.from);
        let transitions: Vec<&Transition> = thread.transitions.iter().filter(reached).collect();
        let mut different = Different {
            futures: vec![Future::nothing(self.places)],
        };
        let mut own = Vec::with_capacity(transitions.len());
        for transition in &transitions {
            let mut future = Future::nothing(self.places);
            if let Some(registers) = &constants[transition.from.index()] {
                let inside = thread.points[transition.from.index()].atomic;
                self.add_access(program, &transition.op, registers, inside, &mut future);
            }
            let before = own.last().copied().unwrap_or(0);
            own.push(different.number(future, before));
        }
        // Points that lead to each other have the same future. What a part of them leads to has a lower number, and its future is known.
        let mut first = vec![0; thread.points.len() + 1];
        for transition in &transitions {
            first[transition.from.index() + 1] += 1;
        }
        for point in 0..thread.points.len() {
            first[point + 1] += first[point];
        }
        let to: Vec<u32> = transitions.iter().map(|t| t.to.0).collect();
        let part = components(&first, &to);
        let mut by_part: Vec<usize> = (0..thread.points.len()).collect();
        by_part.sort_by_key(|&point| part[point]);
        let mut of_part: Vec<usize> = Vec::new();
        for points in by_part.chunk_by(|&a, &b| part[a] == part[b]) {
            let mut future = Future::nothing(self.places);
            let mut behind = 0;
            for edge in points.iter().flat_map(|&p| first[p]..first[p + 1]) {
                future.join(&different.futures[own[edge]]);
                if let Some(&known) = of_part.get(part[to[edge] as usize] as usize) {
                    future.join(&different.futures[known]);
                    behind = known;
                }
            }
            of_part.push(different.number(future, behind));
        }
        let mut numbers = vec![None; different.futures.len()];
        let mut number = |kind: usize| {
            *numbers[kind].get_or_insert_with(|| self.number(different.futures[kind].clone()))
        };
        let edges = transitions
            .iter()
            .zip(&own)
            .map(|(transition, &kind)| Edge {
                from: transition.from.0,
                to: transition.to.0,
                does: number(kind),
            });
        let edges = Arc::new(edges.collect());
        let by_point = part.iter().map(|&part| number(of_part[part as usize]));
        Analysed {
            by_point: by_point.collect(),
            edges,
        }
    }

    fn accept(&mut self, place: usize, predicate: Option<Predicate>, chooses: bool) -> usize {
        let accept = Accept {
            place,
            predicate,
            chooses,
        };
        let accepts = &mut self.accepts;
        *self.accept_numbers.entry(accept).or_insert_with(|| {
            accepts.push(accept);
            accepts.len() - 1
        })
    }

    fn number(&mut self, future: Future) -> u32 {
        if let Some(known) = self.futures.iter().position(|f| *f == future) {
            return known as u32;
        }
        self.futures.push(future);
        self.futures.len() as u32 - 1
    }

    /// Notes what the orders of an access to a place say.
    fn add_orders(&mut self, program: &Program, op: &Op, place: usize, future: &mut Future) {
        let (read, write) = match op {
            Op::Load { order, .. } | Op::Wait { order, .. } => (Some(*order), None),
            Op::Store { order, .. } => (None, Some(*order)),
            Op::Rmw { action, order, .. } => {
                if let RmwAction::CompareAndSwap { failure, .. } = action {
                    self.add_order(program, place, Some(*failure), None, future);
                }
                (Some(*order), Some(*order))
            }
            _ => (None, None),
        };
        self.add_order(program, place, read, write, future);
    }

    fn add_order(
        &mut self,
        program: &Program,
        place: usize,
        read: Option<Order>,
        write: Option<Order>,
        future: &mut Future,
    ) {
        let mut note = |order: Order, orders: bool, loose: &mut Set| {
            let order = effective(program, place, order);
            if order == Order::NonAtomic {
                self.nonatomic[place] = true;
            } else {
                self.loose |= !orders;
            }
            self.seqcst |= order == Order::SeqCst;
            if !orders || order == Order::NonAtomic {
                loose.insert(place);
            }
        };
        if let Some(order) = read {
            note(order, order.acquires(), &mut future.loose_reads);
        }
        if let Some(order) = write {
            note(order, order.releases(), &mut future.loose_writes);
        }
    }

    fn add_access(
        &mut self,
        program: &Program,
        op: &Op,
        registers: &[Option<Value>],
        inside_block: bool,
        future: &mut Future,
    ) {
        let constant = |e: &palisade_lang::RegisterExpr| evaluate(program, e, registers);
        let (address, predicate) = match op {
            Op::Fence(order) => {
                match self.fences {
                    Fences::Updates if *order == Order::SeqCst => {
                        future.updates.insert(self.places - 1);
                    }
                    Fences::Updates => {}
                    Fences::Fences => {
                        future.acquire_fence |= order.acquires();
                        self.seqcst |= *order == Order::SeqCst;
                    }
                }
                return;
            }
            Op::Load { address, .. } | Op::Store { address, .. } => (address, None),
            Op::Wait {
                address,
                relation,
                value,
                ..
            } => (address, Some((*relation, constant(value)))),
            Op::Rmw {
                address, action, ..
            } => (
                address,
                match action {
                    RmwAction::CompareAndSwap { expected, .. }
                    | RmwAction::BlockingCompareAndSwap { expected, .. } => {
                        Some((Relation::Equal, constant(expected)))
                    }
                    RmwAction::Fetch(..) | RmwAction::Exchange(_) => None,
                },
            ),
            _ => return,
        };
        let predicate = if inside_block {
            // What a block does may depend on the value in any way.
            Some((Relation::Equal, None))
        } else {
            predicate
        };
        // What the instruction needs to read in order to be what it may be; `None` for any value.
        let needs = |relation| {
            predicate
                .and_then(|(_, operand)| operand)
                .map(|o| (relation, o))
        };
        for place in locations(program, address, registers) {
            let (mut reads, mut writes) = (None, None);
            match op {
                _ if inside_block => {
                    future.updates.insert(place);
                    (reads, writes) = (Some(None), Some(None));
                }
                Op::Load { .. } => reads = Some(None),
                Op::Wait { relation, .. } => reads = Some(needs(*relation)),
                Op::Store { .. } => {
                    future.stores.insert(place);
                    writes = Some(None);
                }
                Op::Rmw { action, .. } => {
                    future.updates.insert(place);
                    writes = Some(needs(Relation::Equal));
                    if matches!(action, RmwAction::CompareAndSwap { .. }) {
                        reads = Some(needs(Relation::NotEqual));
                    }
                }
                _ => {}
            }
            if let Some(needed) = reads {
                future.reads.insert(place);
                let accept = self.accept(place, needed, predicate.is_some());
                future.read_accepts.insert(accept);
            }
            if let Some(needed) = writes {
                let accept = self.accept(place, needed, predicate.is_some());
                future.write_accepts.insert(accept);
            }
            if self.fences == Fences::Fences {
                self.add_orders(program, op, place, future);
            } else {
                self.nonatomic[place] |= program.location(LocationId(place as u32)).nonatomic;
            }
            if let Some((relation, operand)) = predicate {
                future.chooses.insert(place);
                self.classes[place].add(relation, operand);
            }
        }
    }
}

/// The order that an access of a location really has.
pub fn effective(program: &Program, place: usize, order: Order) -> Order {
    match program.locations.get(place).is_some_and(|l| l.nonatomic) {
        true => Order::NonAtomic,
        false => order,
    }
}

fn evaluate(
    program: &Program,
    expr: &palisade_lang::RegisterExpr,
    registers: &[Option<Value>],
) -> Option<Value> {
    expr.eval(program.domain, &mut |r| {
        registers[r.index()].ok_or(palisade_lang::ProgramError::AssertionFailed)
    })
    .ok()
}

/// The locations that an address may name.
pub(super) fn locations(
    program: &Program,
    address: &Address<RegisterId>,
    registers: &[Option<Value>],
) -> Vec<usize> {
    let known = |expr: &palisade_lang::RegisterExpr| {
        evaluate(program, expr, registers).map(|value| vec![value])
    };
    match address.may_mean(program, known) {
        Some(locations) => locations.into_iter().map(LocationId::index).collect(),
        None => (0..program.locations.len()).collect(),
    }
}

/// For each point that can be reached, the registers that always hold the same value there. `None` for other points.
pub(super) fn constants(
    program: &Program,
    thread: &Thread,
    me: Option<u32>,
) -> Vec<Option<Vec<Option<Value>>>> {
    let mut known: Vec<Option<Vec<Option<Value>>>> = vec![None; thread.points.len()];
    let mut start = vec![Some(0); thread.registers.len()];
    if let (Some(register), Some(copy)) = (thread.me, me) {
        start[register.index()] = Some(Value::from(copy));
    }
    known[thread.initial.index()] = Some(start);
    let mut work = vec![thread.initial];
    while let Some(point) = work.pop() {
        let Some(registers) = known[point.index()].clone() else {
            continue;
        };
        for transition in thread.outgoing(point) {
            let mut after = registers.clone();
            match &transition.op {
                Op::Assign(register, expr) => {
                    after[register.index()] =
                        evaluate(program, expr, &registers).map(|v| program.domain.reduce(v));
                }
                Op::Assume(condition) | Op::Assert(condition)
                    if evaluate(program, condition, &registers) == Some(0) =>
                {
                    continue;
                }
                Op::Load { register, .. } => after[register.index()] = None,
                Op::Rmw { register, .. } | Op::Wait { register, .. } => {
                    if let Some(register) = register {
                        after[register.index()] = None;
                    }
                }
                _ => {}
            }
            if merge(&mut known[transition.to.index()], after) {
                work.push(transition.to);
            }
        }
    }
    known
}

fn merge(known: &mut Option<Vec<Option<Value>>>, new: Vec<Option<Value>>) -> bool {
    let Some(old) = known else {
        *known = Some(new);
        return true;
    };
    let mut changed = false;
    for (old, new) in old.iter_mut().zip(new) {
        if *old != new && old.is_some() {
            *old = None;
            changed = true;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_testkit::{Shape, program, random_sketch};

    #[test]
    fn a_representative_is_of_the_same_class() {
        let classes = Classes::By(vec![
            (Relation::Equal, 3),
            (Relation::Less, 7),
            (Relation::Equal, 0),
        ]);
        for value in -5..20 {
            let representative = classes.representative(value);
            assert_eq!(classes.class(representative), classes.class(value));
            assert_eq!(classes.representative(representative), representative);
        }
        // -5 … -1, 1, 2, 4 … 6 are one class.
        assert_eq!(classes.representative(-4), classes.representative(6));
        assert_ne!(classes.representative(3), classes.representative(4));
        assert_eq!(Classes::Single.representative(9), 9);
    }

    /// At each point it is what the instructions from there on do: the same as by going round until nothing is added.
    #[test]
    fn a_future_is_what_the_instructions_ahead_do() {
        let mut different = 0;
        for seed in 0..400 {
            let program = program(&random_sketch(seed, &Shape::C20_LOOPS).to_string());
            let facts = Facts::new(&program, Fences::Fences);
            for thread in &facts.threads {
                let mut futures = vec![Future::nothing(facts.places); thread.by_point.len()];
                let mut changed = true;
                while changed {
                    changed = false;
                    for edge in thread.edges.iter() {
                        let mut ahead = facts.futures[edge.does as usize].clone();
                        ahead.join(&futures[edge.to as usize]);
                        changed |= futures[edge.from as usize].join(&ahead);
                    }
                }
                for (future, &number) in futures.iter().zip(&thread.by_point) {
                    assert_eq!(*future, facts.futures[number as usize], "seed {seed}");
                }
            }
            different += facts.futures.len();
        }
        assert!(different > 1_000, "{different}");
    }
}
