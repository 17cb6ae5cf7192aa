//! Whether two programs are the same but for how they are written down: what is printed and parsed again must be.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::Hash;

use crate::expr::{BinaryOp, Domain, Expr, UnaryOp, Value};
use crate::program::{
    Address, CopyRef, LabelRef, LocationId, Op, PointId, Program, RegisterExpr, RegisterId,
    RmwAction, StateAtom, Thread, ThreadId, Transition,
};

/// Checks that two programs are the same up to
/// - chains of jumps and `skip`s (except where a `never` looks at a label), and copies of points that cannot be told apart;
/// - the numbers of points, registers and locations, and all names, spans and places for fences;
/// - the end of a thread inside an `atomic` block, which is an `assume 0`;
/// - `-5` as a literal or an operation on one, and constant indices and addresses;
/// - computed addresses written as `*e` or as elements of one array that is the whole memory, `mem[e - lowest]`.
///
/// On failure, says what differs.
pub fn same_program(a: &Program, b: &Program) -> Result<(), String> {
    if a.domain != b.domain {
        return Err(format!("domains differ: {:?} and {:?}", a.domain, b.domain));
    }
    same_number("threads", a.threads.len(), b.threads.len())?;
    let mut comparison = Comparison {
        a,
        b,
        domain: a.domain,
        locations: Pairs::default(),
        threads: Vec::new(),
    };
    for (x, y) in a.threads.iter().zip(&b.threads) {
        let index = comparison.threads.len();
        comparison.threads.push(PairedThread {
            collapsed: (
                collapse(x, &seen_points(a, index)),
                collapse(y, &seen_points(b, index)),
            ),
            registers: Pairs::default(),
            points: HashSet::new(),
        });
        comparison
            .thread(index, x, y)
            .map_err(|difference| format!("thread `{}`: {difference}", x.name))?;
    }
    let conditions = |program: &Program| -> Vec<Expr<StateAtom>> {
        let nevers = program.nevers.iter();
        nevers.flat_map(|n| n.conditions.clone()).collect()
    };
    let (of_a, of_b) = (conditions(a), conditions(b));
    same_number("nevers", of_a.len(), of_b.len())?;
    for (x, y) in of_a.iter().zip(&of_b) {
        let (x, y) = (
            comparison.state_condition(a, x),
            comparison.state_condition(b, y),
        );
        comparison
            .state_expr(&x, &y)
            .map_err(|difference| format!("never: {difference}"))?;
    }
    comparison.remaining_locations()
}

/// Where a thread that arrives at each point really stands, when jumps and `skip`s do not count: the point behind the chain of points
/// that have no other transition. Points for which `keep` is set stay.
pub(crate) fn collapse(thread: &Thread, keep: &[bool]) -> Vec<PointId> {
    const UNKNOWN: PointId = PointId(u32::MAX);
    let mut result = vec![UNKNOWN; thread.points.len()];
    let mut on_path = vec![false; thread.points.len()];
    for start in 0..thread.points.len() {
        let mut path = Vec::new();
        let mut point = PointId(start as u32);
        let end = loop {
            if result[point.index()] != UNKNOWN {
                break result[point.index()];
            }
            // A circle of nothing but skips: any of its points will do.
            if on_path[point.index()] {
                break point;
            }
            on_path[point.index()] = true;
            path.push(point);
            match thread.outgoing(point) {
                [
                    Transition {
                        op: Op::Skip | Op::Jump,
                        to,
                        ..
                    },
                ] if !keep[point.index()] => point = *to,
                _ => break point,
            }
        };
        for point in path {
            on_path[point.index()] = false;
            result[point.index()] = end;
        }
    }
    result
}

/// The points of a thread that some `never` looks at.
fn seen_points(program: &Program, thread: usize) -> Vec<bool> {
    let mut seen = vec![false; program.threads[thread].points.len()];
    for condition in program.nevers.iter().flat_map(|n| &n.conditions) {
        visit_atoms(condition, &mut |atom| {
            if let StateAtom::At(copy, LabelRef::Label(label)) = atom
                && copy.thread.index() == thread
            {
                for point in &program.threads[thread].labels[label.index()].points {
                    seen[point.index()] = true;
                }
            }
        });
    }
    seen
}

/// Calls `visit` for every atom, also for those inside addresses.
pub(crate) fn visit_atoms(expr: &Expr<StateAtom>, visit: &mut impl FnMut(&StateAtom)) {
    // `for_each_atom` wants one closure type at every depth, so nested addresses are worked off from a list.
    let mut nested: Vec<&Expr<StateAtom>> = vec![expr];
    while let Some(expr) = nested.pop() {
        collect(expr, &mut |atom| {
            visit(atom);
            if let StateAtom::Memory(address) = atom {
                nested.extend(address.expr());
            }
        });
    }
}

fn collect<'e, A>(expr: &'e Expr<A>, visit: &mut impl FnMut(&'e A)) {
    match expr {
        Expr::Const(_) => {}
        Expr::Atom(atom) => visit(atom),
        Expr::Unary(_, operand) => collect(operand, visit),
        Expr::Binary(_, left, right) => {
            collect(left, visit);
            collect(right, visit);
        }
        Expr::Element { index, .. } => collect(index, visit),
    }
}

fn same_number(what: &str, a: usize, b: usize) -> Result<(), String> {
    match a == b {
        true => Ok(()),
        false => Err(format!("{a} {what} on one side, {b} on the other")),
    }
}

fn different<T: fmt::Debug>(a: &T, b: &T) -> String {
    format!("{a:?} on one side, {b:?} on the other")
}

/// A one-to-one correspondence that is found step by step.
struct Pairs<T> {
    forth: HashMap<T, T>,
    back: HashMap<T, T>,
}

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Pairs {
            forth: HashMap::new(),
            back: HashMap::new(),
        }
    }
}

impl<T: Copy + Eq + Hash + fmt::Debug> Pairs<T> {
    fn pair(&mut self, a: T, b: T) -> Result<(), String> {
        let there = *self.forth.entry(a).or_insert(b);
        let here = *self.back.entry(b).or_insert(a);
        match there == b && here == a {
            true => Ok(()),
            false => Err(format!(
                "{a:?} corresponds to {there:?}, and not also to {b:?}"
            )),
        }
    }
}

struct PairedThread {
    collapsed: (Vec<PointId>, Vec<PointId>),
    registers: Pairs<RegisterId>,
    points: HashSet<(PointId, PointId)>,
}

/// What a `never` says, with labels replaced by the points that they stand for.
#[derive(Clone, Debug)]
enum Seen {
    At(CopyRef, Vec<PointId>),
    End(CopyRef),
    Register(CopyRef, RegisterId),
    Memory(Box<Address<Seen>>),
    Deadlock,
}

struct Comparison<'p> {
    a: &'p Program,
    b: &'p Program,
    domain: Domain,
    locations: Pairs<LocationId>,
    threads: Vec<PairedThread>,
}

impl Comparison<'_> {
    fn thread(&mut self, index: usize, a: &Thread, b: &Thread) -> Result<(), String> {
        if a.copies != b.copies {
            return Err(different(&a.copies, &b.copies));
        }
        match (a.me, b.me) {
            (Some(x), Some(y)) => self.threads[index].registers.pair(x, y)?,
            (None, None) => {}
            // A number that is not looked at.
            (Some(me), None) if !reads(a, me) => {}
            (None, Some(me)) if !reads(b, me) => {}
            _ => return Err("only one side uses `me`".into()),
        }
        let paired = &self.threads[index];
        let at =
            |x: PointId, y: PointId| (paired.collapsed.0[x.index()], paired.collapsed.1[y.index()]);
        let mut work = vec![at(a.initial, b.initial)];
        while let Some((x, y)) = work.pop() {
            if !self.threads[index].points.insert((x, y)) {
                continue;
            }
            if a.points[x.index()].atomic != b.points[y.index()].atomic {
                return Err(format!("only one of {x:?} and {y:?} is atomic"));
            }
            let (out_x, out_y) = (a.outgoing(x), b.outgoing(y));
            if a.points[x.index()].atomic && is_stuck(out_x) && is_stuck(out_y) {
                continue;
            }
            same_number("transitions", out_x.len(), out_y.len())
                .map_err(|e| format!("at {x:?} and {y:?}: {e}"))?;
            for (s, t) in out_x.iter().zip(out_y) {
                self.op(index, &s.op, &t.op)
                    .map_err(|e| format!("at {x:?} and {y:?}: {e}"))?;
                let paired = &self.threads[index];
                work.push((
                    paired.collapsed.0[s.to.index()],
                    paired.collapsed.1[t.to.index()],
                ));
            }
        }
        Ok(())
    }

    fn op(&mut self, thread: usize, a: &Op, b: &Op) -> Result<(), String> {
        let same = |equal: bool| match equal {
            true => Ok(()),
            false => Err(different(a, b)),
        };
        match (a, b) {
            (Op::Skip | Op::Jump, Op::Skip | Op::Jump)
            | (Op::AtomicBegin, Op::AtomicBegin)
            | (Op::AtomicEnd, Op::AtomicEnd) => Ok(()),
            (Op::Assign(r, e), Op::Assign(s, f)) => {
                self.register(thread, *r, *s)?;
                self.expr(thread, e, f)
            }
            (Op::Assume(e), Op::Assume(f)) | (Op::Assert(e), Op::Assert(f)) => {
                self.expr(thread, e, f)
            }
            (
                Op::Load {
                    register: r,
                    address: x,
                    order: o,
                },
                Op::Load {
                    register: s,
                    address: y,
                    order: p,
                },
            ) => {
                same(o == p)?;
                self.register(thread, *r, *s)?;
                self.address(thread, x, y)
            }
            (
                Op::Store {
                    address: x,
                    value: e,
                    order: o,
                },
                Op::Store {
                    address: y,
                    value: f,
                    order: p,
                },
            ) => {
                same(o == p)?;
                self.address(thread, x, y)?;
                self.expr(thread, e, f)
            }
            (
                Op::Rmw {
                    register: r,
                    address: x,
                    action: m,
                    order: o,
                },
                Op::Rmw {
                    register: s,
                    address: y,
                    action: n,
                    order: p,
                },
            ) => {
                same(o == p && r.is_some() == s.is_some())?;
                if let (Some(r), Some(s)) = (r, s) {
                    self.register(thread, *r, *s)?;
                }
                self.address(thread, x, y)?;
                match (m, n) {
                    (
                        RmwAction::CompareAndSwap {
                            expected: e,
                            desired: d,
                            failure: o,
                        },
                        RmwAction::CompareAndSwap {
                            expected: f,
                            desired: g,
                            failure: p,
                        },
                    ) => {
                        same(o == p)?;
                        self.expr(thread, e, f)?;
                        self.expr(thread, d, g)
                    }
                    (
                        RmwAction::BlockingCompareAndSwap {
                            expected: e,
                            desired: d,
                        },
                        RmwAction::BlockingCompareAndSwap {
                            expected: f,
                            desired: g,
                        },
                    ) => {
                        self.expr(thread, e, f)?;
                        self.expr(thread, d, g)
                    }
                    (RmwAction::Fetch(op, e), RmwAction::Fetch(other, f)) => {
                        same(op == other)?;
                        self.expr(thread, e, f)
                    }
                    (RmwAction::Exchange(e), RmwAction::Exchange(f)) => self.expr(thread, e, f),
                    _ => same(false),
                }
            }
            (
                Op::Wait {
                    register: r,
                    address: x,
                    relation: k,
                    value: e,
                    order: o,
                },
                Op::Wait {
                    register: s,
                    address: y,
                    relation: l,
                    value: f,
                    order: p,
                },
            ) => {
                same(o == p && k == l && r.is_some() == s.is_some())?;
                if let (Some(r), Some(s)) = (r, s) {
                    self.register(thread, *r, *s)?;
                }
                self.address(thread, x, y)?;
                self.expr(thread, e, f)
            }
            (Op::Fence(o), Op::Fence(p)) => same(o == p),
            _ => same(false),
        }
    }

    fn register(&mut self, thread: usize, a: RegisterId, b: RegisterId) -> Result<(), String> {
        self.threads[thread].registers.pair(a, b)
    }

    fn location(&mut self, a: LocationId, b: LocationId) -> Result<(), String> {
        self.locations.pair(a, b)?;
        let (x, y) = (self.a.location(a), self.b.location(b));
        match x.initial == y.initial && x.nonatomic == y.nonatomic {
            true => Ok(()),
            false => Err(different(x, y)),
        }
    }

    fn expr(&mut self, thread: usize, a: &RegisterExpr, b: &RegisterExpr) -> Result<(), String> {
        let mut atoms =
            |this: &mut Self, r: &RegisterId, s: &RegisterId| this.register(thread, *r, *s);
        self.compare(a, b, &mut atoms)
    }

    fn address(
        &mut self,
        thread: usize,
        a: &Address<RegisterId>,
        b: &Address<RegisterId>,
    ) -> Result<(), String> {
        let mut atoms =
            |this: &mut Self, r: &RegisterId, s: &RegisterId| this.register(thread, *r, *s);
        self.compare_address(a, b, &mut atoms)
    }

    /// Compares two expressions; `atoms` compares what they are about. Recursion is bounded by the height of expressions.
    fn compare<A: fmt::Debug>(
        &mut self,
        a: &Expr<A>,
        b: &Expr<A>,
        atoms: &mut dyn FnMut(&mut Self, &A, &A) -> Result<(), String>,
    ) -> Result<(), String> {
        if let (Some(x), Some(y)) = (literal(a, self.domain), literal(b, self.domain)) {
            return match x == y {
                true => Ok(()),
                false => Err(different(a, b)),
            };
        }
        match (a, b) {
            (Expr::Atom(x), Expr::Atom(y)) => atoms(self, x, y),
            (Expr::Unary(op, x), Expr::Unary(other, y)) if op == other => self.compare(x, y, atoms),
            (Expr::Binary(op, x, v), Expr::Binary(other, y, w)) if op == other => {
                self.compare(x, y, atoms)?;
                self.compare(v, w, atoms)
            }
            (
                Expr::Element {
                    first: f,
                    length: l,
                    index: x,
                },
                Expr::Element {
                    first: g,
                    length: m,
                    index: y,
                },
            ) if f == g && l == m => self.compare(x, y, atoms),
            _ => Err(different(a, b)),
        }
    }

    fn compare_address<A: fmt::Debug>(
        &mut self,
        a: &Address<A>,
        b: &Address<A>,
        atoms: &mut dyn FnMut(&mut Self, &A, &A) -> Result<(), String>,
    ) -> Result<(), String> {
        if let (Some(x), Some(y)) = (known(a, self.a), known(b, self.b)) {
            return self.location(x, y);
        }
        match (a, b) {
            (
                Address::Element {
                    first: f,
                    length: l,
                    index: x,
                },
                Address::Element {
                    first: g,
                    length: m,
                    index: y,
                },
            ) if l == m => {
                for i in 0..*l {
                    self.location(LocationId(f.0 + i), LocationId(g.0 + i))?;
                }
                self.compare(x, y, atoms)
            }
            (Address::Pointer(x), Address::Pointer(y)) => {
                same_number("locations", self.a.locations.len(), self.b.locations.len())?;
                for i in 0..self.a.locations.len() {
                    let id = LocationId(i as u32);
                    self.location(id, id)?;
                    if self.a.location(id).address != self.b.location(id).address {
                        return Err(different(self.a.location(id), self.b.location(id)));
                    }
                }
                self.compare(x, y, atoms)
            }
            (
                Address::Pointer(x),
                Address::Element {
                    first,
                    length,
                    index,
                },
            ) => {
                let lowest = self.a.locations.first().map_or(0, |l| l.address);
                for i in 0..self.a.locations.len() {
                    let id = LocationId(i as u32);
                    let offset = self.a.location(id).address.wrapping_sub(lowest);
                    let offset = u32::try_from(offset).unwrap_or(u32::MAX);
                    if offset >= *length {
                        return Err(different(a, b));
                    }
                    self.location(id, LocationId(first.0 + offset))?;
                }
                match (lowest, index) {
                    (0, index) => self.compare(x, index, atoms),
                    (_, Expr::Binary(BinaryOp::Subtract, y, low))
                        if literal(low, self.domain) == Some(lowest) =>
                    {
                        self.compare(x, y, atoms)
                    }
                    (_, Expr::Binary(BinaryOp::Add, y, low))
                        if literal(low, self.domain) == Some(lowest.wrapping_neg()) =>
                    {
                        self.compare(x, y, atoms)
                    }
                    _ => Err(different(a, b)),
                }
            }
            _ => Err(different(a, b)),
        }
    }

    /// What a condition says about points. A disjunction of labels of one copy is one set of points.
    fn state_condition(&self, program: &Program, expr: &Expr<StateAtom>) -> Expr<Seen> {
        let is_a = std::ptr::eq(program, self.a);
        match expr {
            Expr::Const(value) => Expr::Const(*value),
            Expr::Atom(StateAtom::At(copy, LabelRef::Label(label))) => {
                let collapsed = &self.threads[copy.thread.index()].collapsed;
                let collapsed = if is_a { &collapsed.0 } else { &collapsed.1 };
                let mut points: Vec<PointId> = program.threads[copy.thread.index()].labels
                    [label.index()]
                .points
                .iter()
                .map(|p| collapsed[p.index()])
                .collect();
                points.sort();
                match points.is_empty() {
                    true => Expr::Const(0),
                    false => Expr::Atom(Seen::At(*copy, points)),
                }
            }
            Expr::Atom(StateAtom::At(copy, LabelRef::End)) => Expr::Atom(Seen::End(*copy)),
            Expr::Atom(StateAtom::Register(copy, register)) => {
                Expr::Atom(Seen::Register(*copy, *register))
            }
            Expr::Atom(StateAtom::Deadlock) => Expr::Atom(Seen::Deadlock),
            Expr::Atom(StateAtom::Memory(address)) => {
                let seen = address.map(|expr| self.state_condition(program, expr));
                Expr::Atom(Seen::Memory(Box::new(seen)))
            }
            Expr::Unary(op, operand) => Expr::unary(*op, self.state_condition(program, operand)),
            Expr::Binary(op, left, right) => {
                let left = self.state_condition(program, left);
                let right = self.state_condition(program, right);
                match (op, left, right) {
                    (
                        BinaryOp::Or,
                        Expr::Atom(Seen::At(copy, mut points)),
                        Expr::Atom(Seen::At(other, more)),
                    ) if copy == other => {
                        points.extend(more);
                        points.sort();
                        Expr::Atom(Seen::At(copy, points))
                    }
                    (op, left, right) => Expr::binary(*op, left, right),
                }
            }
            Expr::Element {
                first,
                length,
                index,
            } => Expr::Element {
                first: *first,
                length: *length,
                index: Box::new(self.state_condition(program, index)),
            },
        }
    }

    fn state_expr(&mut self, a: &Expr<Seen>, b: &Expr<Seen>) -> Result<(), String> {
        self.compare(a, b, &mut |this, x, y| this.seen(x, y))
    }

    fn seen(&mut self, a: &Seen, b: &Seen) -> Result<(), String> {
        let same = |equal: bool| match equal {
            true => Ok(()),
            false => Err(different(a, b)),
        };
        match (a, b) {
            (Seen::At(copy, x), Seen::At(other, y)) => {
                same(copy == other)?;
                let ThreadId(thread) = copy.thread;
                let agree = self.threads[thread as usize]
                    .points
                    .iter()
                    .all(|(p, q)| x.contains(p) == y.contains(q));
                same(agree)
            }
            (Seen::End(copy), Seen::End(other)) => same(copy == other),
            (Seen::Register(copy, x), Seen::Register(other, y)) => {
                same(copy == other)?;
                self.register(copy.thread.index(), *x, *y)
            }
            (Seen::Memory(x), Seen::Memory(y)) => {
                self.compare_address(x, y, &mut |this, x, y| this.seen(x, y))
            }
            (Seen::Deadlock, Seen::Deadlock) => Ok(()),
            _ => same(false),
        }
    }

    /// Locations that are not mentioned must be as many and start alike, where both sides have the same number of them.
    fn remaining_locations(&mut self) -> Result<(), String> {
        if self.a.locations.len() != self.b.locations.len() {
            let unpaired = (0..self.a.locations.len() as u32)
                .find(|l| !self.locations.forth.contains_key(&LocationId(*l)));
            return match unpaired {
                None => Ok(()),
                Some(l) => Err(format!(
                    "`{}` is on one side only",
                    self.a.location(LocationId(l)).name
                )),
            };
        }
        for l in 0..self.a.locations.len() as u32 {
            if !self.locations.forth.contains_key(&LocationId(l)) {
                self.location(LocationId(l), LocationId(l))?;
            }
        }
        Ok(())
    }
}

/// The value of a literal, of `-literal`, and of the address of an element with a constant index.
fn literal<A>(expr: &Expr<A>, domain: Domain) -> Option<Value> {
    match expr {
        Expr::Const(value) => Some(*value),
        Expr::Unary(UnaryOp::Negate, operand) => {
            Some(domain.unary(UnaryOp::Negate, literal(operand, domain)?))
        }
        Expr::Element { .. } => expr.constant(domain),
        _ => None,
    }
}

/// The location, where it is known beforehand.
fn known<A>(address: &Address<A>, program: &Program) -> Option<LocationId> {
    let constant = match address.expr() {
        Some(expr) => expr.constant(program.domain)?,
        None => 0,
    };
    address.locate(program, |_| Ok(constant)).ok()
}

/// Nothing can be done here. (Inside an `atomic` block, where only automata can end, that is written `assume 0`.)
fn is_stuck(outgoing: &[Transition]) -> bool {
    outgoing
        .iter()
        .all(|t| matches!(t.op, Op::Assume(Expr::Const(0))))
}

/// Whether the thread's code reads a register.
fn reads(thread: &Thread, register: RegisterId) -> bool {
    let mut found = false;
    for transition in &thread.transitions {
        for expr in transition.op.operands() {
            expr.for_each_atom(&mut |r| found |= *r == register);
        }
    }
    found
}
