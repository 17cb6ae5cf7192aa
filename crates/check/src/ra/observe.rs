//! What `observational` adds to a program: loads that learn nothing, and what becomes of their values.
//!
//! A load whose value is never used does no harm, however stale it is (Margalit and Lahav 2021). So beside every plain atomic load of the program stands a
//! second one, the *blind* load. It leaves memory and views as they are, and marks its register. There are two marks: *stale*, for the one load that
//! the search suspects, and *skipped*, for loads that are blind so that their thread does not learn what would forbid the suspected one. Marks flow
//! through assignments. An instruction that uses a register marked stale leads to the thread's *use point*: there the criterion is violated. One that uses
//! a register marked only as skipped is not executed: whether that load could be stale is asked by a suspicion of its own.
//!
//! It is used where a branch, an `assert`, an address, a stored value, an operand of a read-modify-write or `wait`, or an expression that can fail
//! depends on it, and where a `never` mentions the register. An `atomic` block uses whatever some block of the thread reads.
//!
//! Why that is sound: take a consistent graph with the fewest events that SC does not show in this sense, and leave out the loads whose values are not used
//! and that close a cycle. What is left before its last event is a graph of SC, and its runs are runs of the program with blind loads. The last event
//! is stale itself and no load, or uses a stale value. It is not complete the other way round: a real stale load still learns something, a blind one does
//! not. So a violation counts only once an execution graph of the model shows it (`observed`).

use palisade_lang::{
    Address, BinaryOp, Expr, Instance, Op, Order, Point, PointId, Program, Register, RegisterExpr,
    RegisterId, Span, StateAtom, Thread, Transition, UnaryOp,
};

use palisade_threads::visit_state_atoms;

use super::Origin;
use crate::values::cannot_fail;

/// What an instruction of the new program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role {
    /// The instruction of the user's program that it comes from.
    pub original: u32,
    /// It is a blind load.
    pub blind: bool,
    /// It is a load beside which a blind one stands.
    pub may_be_blind: bool,
}

/// What the new program's instructions, points and registers are.
#[derive(Debug, Default)]
pub struct Roles {
    codes: Vec<CodeRoles>,
}

#[derive(Debug, Default)]
struct CodeRoles {
    by_transition: Vec<Role>,
    use_point: Option<PointId>,
    /// The registers that hold the mark *stale* of others, or are about to give it.
    stale_marks: Vec<RegisterId>,
}

impl Roles {
    /// What an instruction is.
    pub fn of(&self, code: usize, transition: u32) -> Role {
        self.codes[code].by_transition[transition as usize]
    }

    /// The thread's use point.
    pub fn use_point(&self, code: usize) -> Option<PointId> {
        self.codes[code].use_point
    }

    /// The registers that say which others are marked as stale.
    pub fn stale_marks(&self, code: usize) -> &[RegisterId] {
        &self.codes[code].stale_marks
    }
}

/// The program with blind loads. What its running threads are in the user's program, which has the `never`s, is in `origins`.
pub fn with_blind_loads(plain: &Program, user: &Program, origins: &[Origin]) -> (Program, Roles) {
    let mut program = plain.clone();
    let mut roles = Roles::default();
    let instances = plain.instances();
    let users = user.instances();
    for (code, thread) in program.threads.iter_mut().enumerate() {
        let mut mentioned = vec![false; thread.registers.len()];
        let of_code = instances.iter().zip(origins);
        for (_, origin) in of_code.filter(|(i, _)| i.thread.index() == code) {
            for instance in users.iter().filter(|i| i.name == origin.name) {
                for (register, mentioned) in mentioned.iter_mut().enumerate() {
                    *mentioned |= is_mentioned(user, instance, RegisterId(register as u32));
                }
            }
        }
        let (new, of_thread) = Weaver::new(plain, thread, mentioned).weave();
        *thread = new;
        roles.codes.push(of_thread);
    }
    (program, roles)
}

/// Whether a `never` mentions a register of a running thread.
pub fn is_mentioned(program: &Program, instance: &Instance, register: RegisterId) -> bool {
    let mut found = false;
    for never in &program.nevers {
        visit_state_atoms(&never.conditions, &mut |atom| {
            if let StateAtom::Register(copy, mentioned) = atom {
                let same =
                    copy.thread == instance.thread && copy.copy.is_none_or(|c| c == instance.copy);
                found |= same && *mentioned == register;
            }
        });
    }
    found
}

/// Makes one thread anew.
struct Weaver<'a> {
    program: &'a Program,
    old: &'a Thread,
    new: Thread,
    made: Vec<(Transition, Role)>,
    /// By register: a `never` looks at it.
    mentioned: Vec<bool>,
    /// By register: those that hold its marks, stale and skipped, if it may have any.
    marks: Vec<Option<(RegisterId, RegisterId)>>,
    /// Gets what a blind load is told: 1 if it is the suspected one.
    told: Option<RegisterId>,
    use_point: Option<PointId>,
    /// What is being made: the old instruction.
    current: u32,
    span: Span,
}

impl<'a> Weaver<'a> {
    fn new(program: &'a Program, old: &'a Thread, mentioned: Vec<bool>) -> Self {
        let mut new = old.clone();
        new.transitions.clear();
        Weaver {
            program,
            old,
            new,
            made: Vec::new(),
            mentioned,
            marks: vec![None; old.registers.len()],
            told: None,
            use_point: None,
            current: 0,
            span: Span::default(),
        }
    }

    fn weave(mut self) -> (Thread, CodeRoles) {
        self.find_marked();
        for (index, transition) in self.old.transitions.iter().enumerate() {
            self.current = index as u32;
            self.span = transition.span;
            self.weave_one(transition);
        }
        self.made.sort_by_key(|(transition, _)| transition.from);
        let (transitions, by_transition) = self.made.into_iter().unzip();
        self.new.transitions = transitions;
        let marks = self.marks.iter().flatten().map(|(stale, _)| *stale);
        let roles = CodeRoles {
            by_transition,
            use_point: self.use_point,
            stale_marks: marks.chain(self.told).collect(),
        };
        (self.new, roles)
    }

    fn is_inside(&self, point: PointId) -> bool {
        self.old.points[point.index()].atomic
    }

    /// Whether a blind load may stand beside this one.
    fn may_be_blind(&self, transition: &Transition) -> bool {
        let Op::Load { address, order, .. } = &transition.op else {
            return false;
        };
        let nonatomic = match address {
            Address::Direct(location) => self.program.location(*location).nonatomic,
            _ => false,
        };
        *order != Order::NonAtomic && !nonatomic && !self.is_inside(transition.from)
    }

    /// Gives marks to the registers that may need them.
    fn find_marked(&mut self) {
        let mut marked = vec![false; self.old.registers.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for transition in &self.old.transitions {
                let target = match &transition.op {
                    Op::Load { register, .. } if self.may_be_blind(transition) => *register,
                    Op::Assign(register, value)
                        if cannot_fail(value) && !self.is_inside(transition.from) =>
                    {
                        let mut flows = false;
                        value.for_each_atom(&mut |r| flows |= marked[r.index()]);
                        if !flows {
                            continue;
                        }
                        *register
                    }
                    _ => continue,
                };
                changed |= !std::mem::replace(&mut marked[target.index()], true);
            }
        }
        for (register, marked) in marked.into_iter().enumerate() {
            if marked {
                let marks = (self.register(), self.register());
                self.marks[register] = Some(marks);
            }
        }
    }

    fn register(&mut self) -> RegisterId {
        self.new.registers.push(Register {
            name: None,
            span: Span::default(),
        });
        RegisterId(self.new.registers.len() as u32 - 1)
    }

    fn point(&mut self, atomic: bool) -> PointId {
        self.new.points.push(Point {
            name: None,
            atomic,
            place: None,
            span: self.span,
        });
        PointId(self.new.points.len() as u32 - 1)
    }

    fn edge(&mut self, from: PointId, to: PointId, op: Op) {
        self.edge_with(from, to, op, false, false);
    }

    fn edge_with(&mut self, from: PointId, to: PointId, op: Op, blind: bool, may_be_blind: bool) {
        let transition = Transition {
            from,
            to,
            op,
            span: self.span,
        };
        let role = Role {
            original: self.current,
            blind,
            may_be_blind,
        };
        self.made.push((transition, role));
    }

    /// The registers that may be marked among those that an instruction reads.
    fn marked_operands(&self, op: &Op) -> Vec<RegisterId> {
        let mut operands = Vec::new();
        op.for_each_register(&mut |r| {
            if self.marks[r.index()].is_some() && !operands.contains(&r) {
                operands.push(r);
            }
        });
        operands
    }

    /// Whether one of these is marked: as stale, or in any way.
    fn is_marked(&self, registers: &[RegisterId], only_stale: bool) -> RegisterExpr {
        let mut any = Expr::Const(0);
        for (stale, skipped) in registers.iter().filter_map(|r| self.marks[r.index()]) {
            any = Expr::binary(BinaryOp::Or, any, Expr::Atom(stale));
            if !only_stale {
                any = Expr::binary(BinaryOp::Or, any, Expr::Atom(skipped));
            }
        }
        any
    }

    fn not(expr: RegisterExpr) -> RegisterExpr {
        Expr::unary(UnaryOp::Not, expr)
    }

    /// From here, where one of these is marked as stale, to the use point.
    fn leads_to_use(&mut self, from: PointId, registers: &[RegisterId]) {
        let use_point = match self.use_point {
            Some(point) => point,
            None => self.point(false),
        };
        self.use_point = Some(use_point);
        let stale = self.is_marked(registers, true);
        self.edge(from, use_point, Op::Assume(stale));
    }

    /// The point behind the question whether one of these is marked: if so, there is no way on.
    fn guarded(&mut self, from: PointId, registers: &[RegisterId]) -> PointId {
        if registers.is_empty() {
            return from;
        }
        self.leads_to_use(from, registers);
        let behind = self.point(false);
        let free = Self::not(self.is_marked(registers, false));
        self.edge(from, behind, Op::Assume(free));
        behind
    }

    /// An instruction, and behind it its target has no marks.
    fn then_unmarked(&mut self, from: PointId, to: PointId, op: Op, may_be_blind: bool) {
        let inside = self.new.points[from.index()].atomic;
        let marks = op.target().and_then(|r| self.marks[r.index()]);
        let Some((stale, skipped)) = marks else {
            self.edge_with(from, to, op, false, may_be_blind);
            return;
        };
        let (first, second) = (self.point(inside), self.point(inside));
        self.edge_with(from, first, op, false, may_be_blind);
        self.edge(first, second, Op::Assign(stale, Expr::Const(0)));
        self.edge(second, to, Op::Assign(skipped, Expr::Const(0)));
    }

    /// From a point where a register was marked: on, unless a `never` looks at it.
    fn unless_mentioned(&mut self, from: PointId, to: PointId, register: RegisterId) {
        if self.mentioned[register.index()] {
            let behind = self.guarded(from, &[register]);
            self.edge(behind, to, Op::Jump);
        } else {
            self.edge(from, to, Op::Jump);
        }
    }

    fn weave_one(&mut self, transition: &Transition) {
        let Transition { from, to, op, .. } = transition;
        let (from, to) = (*from, *to);
        if self.is_inside(from) {
            self.then_unmarked(from, to, op.clone(), false);
            return;
        }
        let operands = match op {
            Op::AtomicBegin => self.read_in_blocks(),
            _ => self.marked_operands(op),
        };
        match op {
            Op::Jump | Op::Skip | Op::Fence(_) | Op::AtomicEnd => {
                self.edge(from, to, op.clone());
            }
            Op::Assume(condition) if !operands.is_empty() => {
                self.leads_to_use(from, &operands);
                let free = Self::not(self.is_marked(&operands, false));
                let both = Expr::binary(BinaryOp::And, free, condition.clone());
                self.edge(from, to, Op::Assume(both));
            }
            Op::Assign(register, value) if cannot_fail(value) => {
                let Some((stale, skipped)) = self.marks[register.index()] else {
                    self.edge(from, to, op.clone());
                    return;
                };
                let first_marks = operands.iter().filter_map(|r| self.marks[r.index()]);
                let either = |marks: Vec<RegisterId>| {
                    marks.into_iter().fold(Expr::Const(0), |any, mark| {
                        Expr::binary(BinaryOp::Or, any, Expr::Atom(mark))
                    })
                };
                let stales = either(first_marks.clone().map(|(s, _)| s).collect());
                let skips = either(first_marks.map(|(_, s)| s).collect());
                let (a, b, c) = (self.point(false), self.point(false), self.point(false));
                self.edge(from, a, Op::Assign(stale, stales));
                self.edge(a, b, Op::Assign(skipped, skips));
                let free = Self::not(self.is_marked(&[*register], false));
                let masked = Expr::binary(BinaryOp::Multiply, free, value.clone());
                self.edge(b, c, Op::Assign(*register, masked));
                self.unless_mentioned(c, to, *register);
            }
            Op::Load {
                register, address, ..
            } => {
                let at = self.guarded(from, &operands);
                let blind = self.may_be_blind(transition);
                self.then_unmarked(at, to, op.clone(), blind);
                let marks = self.marks[register.index()];
                if let (true, Some((stale, skipped))) = (blind, marks) {
                    self.blind_load(at, to, *register, address, (stale, skipped), op);
                }
            }
            _ => {
                let at = self.guarded(from, &operands);
                self.then_unmarked(at, to, op.clone(), false);
            }
        }
    }

    fn blind_load(
        &mut self,
        at: PointId,
        to: PointId,
        register: RegisterId,
        address: &Address<RegisterId>,
        (stale, skipped): (RegisterId, RegisterId),
        op: &Op,
    ) {
        let told = match self.told {
            Some(told) => told,
            None => self.register(),
        };
        self.told = Some(told);
        let order = match op {
            Op::Load { order, .. } => *order,
            _ => Order::Relaxed,
        };
        let points: Vec<PointId> = (0..4).map(|_| self.point(false)).collect();
        let load = Op::Load {
            register: told,
            address: address.clone(),
            order,
        };
        self.edge_with(at, points[0], load, true, false);
        self.edge(points[0], points[1], Op::Assign(stale, Expr::Atom(told)));
        let other = Self::not(Expr::Atom(told));
        self.edge(points[1], points[2], Op::Assign(skipped, other));
        self.edge(points[2], points[3], Op::Assign(register, Expr::Const(0)));
        self.unless_mentioned(points[3], to, register);
    }

    /// The registers that may be marked among those that some block of the thread reads.
    fn read_in_blocks(&self) -> Vec<RegisterId> {
        let mut all = Vec::new();
        for transition in &self.old.transitions {
            if self.is_inside(transition.from) {
                for register in self.marked_operands(&transition.op) {
                    if !all.contains(&register) {
                        all.push(register);
                    }
                }
            }
        }
        all
    }
}
