//! The extension `R ⊕ σ` of a program by a sequence (section 3 and App. B of the paper): what the sequence does under TSO, made into code that does
//! it under SC.
//!
//! A sequence is given by its accesses: a store first, a load last, nothing between that waits for the buffer. From one access to the
//! next, the extension has *every* way over local instructions, not just one; the paper has one extension for each.
//!
//! | the paper | here |
//! |---|---|
//! | `q_i` | the copies of the points between the i-th access and the next |
//! | `ar_j`, `vr_j` | a [`Slot`]; registers only for what is not known from the text |
//! | (1) | [`Extension::store`] |
//! | (2)–(8) | [`Extension::load`] |
//! | (9), (10) | [`Extension::flush`] behind the last access |
//! | (11)–(13) | [`Extension::leave`] |
//! | (14)–(17) | [`Extension::flush_first`]; they lead to the point *behind* the load, which has been executed |
//!
//! A buffer that is not empty lives in registers as long as its thread stands in an extension. So a `never`, which is about
//! states with empty buffers, gets `&& !t@extension` for each thread that has one.

use palisade_lang::{
    Address, BinaryOp, CopyRef, Expr, Label, LabelId, LabelRef, LocationId, Never, Op, Order,
    Point, PointId, Program, Register, RegisterExpr, RegisterId, Relation, Span, StateAtom, Thread,
    ThreadId, Transition, UnaryOp,
};
use rustc_hash::FxHashMap;

use palisade_memory::tso::drains;

/// A sequence of one thread's accesses: a store, …, a load.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Sequence {
    /// Whose code it is.
    pub code: usize,
    /// The instructions, by [`Tag::id`].
    pub accesses: Vec<u32>,
}

/// How much is done to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    /// Section 3: the first store is deleted and what would be lost by that is added. The program reaches the same under TSO as before.
    Replace,
    /// Section 5: the store stays, only the sequence is added.
    Add,
}

/// What an instruction of an extended program stands for in the original one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    /// A number of its own, which it keeps in later extensions.
    pub id: u32,
    /// The original instruction that is executed here. One that is a store enters the buffer; it leaves it at once if it is a store here as well.
    pub runs: Option<u32>,
    /// The original instruction that this one is a part of.
    pub stands_for: u32,
    /// For a store that leaves the registers: the original load behind which it was put off.
    pub behind: Option<u32>,
}

/// A program that was extended, any number of times.
#[derive(Clone, Debug)]
pub(crate) struct Extended {
    /// The program as it is now.
    pub program: Program,
    /// For each code and instruction what it stands for.
    pub tags: Vec<Vec<Tag>>,
    /// For each code and point, whether stores wait in registers there that have not begun to leave.
    pub simulating: Vec<Vec<bool>>,
    /// For each code the label of the points that extensions have added.
    labels: Vec<Option<LabelId>>,
    /// The `never`s of the original program.
    nevers: Vec<Never>,
    /// The next [`Tag::id`].
    next_id: u32,
}

impl Extended {
    /// A program that has no extension yet.
    pub fn new(program: &Program) -> Self {
        let mut next_id = 0;
        let tags = program
            .threads
            .iter()
            .map(|thread| {
                (0..thread.transitions.len() as u32)
                    .map(|index| {
                        next_id += 1;
                        Tag {
                            id: next_id - 1,
                            runs: Some(index),
                            stands_for: index,
                            behind: None,
                        }
                    })
                    .collect()
            })
            .collect();
        Extended {
            program: program.clone(),
            tags,
            simulating: program
                .threads
                .iter()
                .map(|t| vec![false; t.points.len()])
                .collect(),
            labels: vec![None; program.threads.len()],
            nevers: program.nevers.clone(),
            next_id,
        }
    }

    /// `self ⊕ sequence`; `None` where the sequence is none of this program (any more), or cannot be emulated.
    pub fn extend(&self, sequence: &Sequence, variant: Variant) -> Option<Extended> {
        let code = sequence.code;
        let accesses: Vec<usize> = sequence
            .accesses
            .iter()
            .map(|id| self.tags[code].iter().position(|tag| tag.id == *id))
            .collect::<Option<_>>()?;
        let extension = Extension::new(self, code, &accesses)?;
        let built = extension.build(variant)?;
        let mut extended = self.clone();
        extended.next_id = built.next_id;
        let added = self.program.threads[code].points.len()..built.points.len();
        let thread = &mut extended.program.threads[code];
        thread.points = built.points;
        thread.registers = built.registers;
        let mut transitions = built.transitions;
        transitions.sort_by_key(|(transition, _)| transition.from);
        (thread.transitions, extended.tags[code]) = transitions.into_iter().unzip();
        extended.simulating[code] = built.simulating;
        let label = *extended.labels[code].get_or_insert_with(|| {
            thread.labels.push(Label {
                name: String::new(),
                points: Vec::new(),
                span: thread.span,
            });
            LabelId(thread.labels.len() as u32 - 1)
        });
        let points = added.map(|point| PointId(point as u32));
        thread.labels[label.index()].points.extend(points);
        extended.guard_nevers();
        Some(extended)
    }

    /// Makes every `never` false while a thread stands in an extension.
    fn guard_nevers(&mut self) {
        let outside = |condition: Expr<StateAtom>, (code, label): (usize, LabelId)| {
            let some_copy = CopyRef {
                thread: ThreadId(code as u32),
                copy: None,
            };
            let inside = Expr::Atom(StateAtom::At(some_copy, LabelRef::Label(label)));
            Expr::binary(BinaryOp::And, Expr::unary(UnaryOp::Not, inside), condition)
        };
        let labels: Vec<(usize, LabelId)> = self
            .labels
            .iter()
            .enumerate()
            .filter_map(|(code, label)| label.map(|l| (code, l)))
            .collect();
        self.program.nevers = self
            .nevers
            .iter()
            .map(|never| Never {
                conditions: (never.conditions.iter().cloned())
                    .map(|c| labels.iter().fold(c, |c, &label| outside(c, label)))
                    .collect(),
                span: never.span,
            })
            .collect();
    }
}

/// Where a waiting store goes, as far as the text tells it; the rest is in a register.
#[derive(Clone, Copy, Debug)]
enum Place {
    Direct(LocationId),
    Element {
        first: LocationId,
        length: u32,
        index: RegisterId,
    },
    Pointer(RegisterId),
}

/// A store that waits.
#[derive(Clone, Debug)]
struct Slot {
    place: Place,
    value: RegisterExpr,
    order: Order,
    span: Span,
    /// The original instruction.
    stands_for: u32,
}

/// Whether two accesses go to the same location.
enum Same {
    No,
    Yes,
    If(RegisterExpr),
}

/// A thread's code while an extension is made.
struct Extension<'a> {
    base: &'a Extended,
    thread: &'a Thread,
    tags: &'a [Tag],
    /// The accesses of the sequence, as instructions of `thread`.
    accesses: &'a [usize],
    /// For each access but the last, the points between it and the next one, each with its copy. The first is the one behind the access.
    between: Vec<Vec<(PointId, PointId)>>,
    points: Vec<Point>,
    simulating: Vec<bool>,
    registers: Vec<Register>,
    transitions: Vec<(Transition, Tag)>,
    slots: Vec<Slot>,
    next_id: u32,
}

impl<'a> Extension<'a> {
    fn new(base: &'a Extended, code: usize, accesses: &'a [usize]) -> Option<Self> {
        let thread = &base.program.threads[code];
        let tags = &base.tags[code];
        let mut extension = Extension {
            base,
            thread,
            tags,
            accesses,
            between: Vec::new(),
            points: thread.points.clone(),
            simulating: base.simulating[code].clone(),
            registers: thread.registers.clone(),
            transitions: thread
                .transitions
                .iter()
                .cloned()
                .zip(tags.iter().copied())
                .collect(),
            slots: Vec::new(),
            next_id: base.next_id,
        };
        let [first, .., last] = accesses else {
            return None;
        };
        let op = |index: usize| &thread.transitions[index].op;
        let fits = accesses.iter().all(|&index| {
            let is_access = matches!(
                op(index),
                Op::Store { .. } | Op::Load { .. } | Op::Wait { .. }
            );
            let from = thread.transitions[index].from;
            is_access && !drains(op(index)) && !thread.points[from.index()].atomic
        });
        let ends = matches!(op(*first), Op::Store { .. }) && !matches!(op(*last), Op::Store { .. });
        if !fits || !ends {
            return None;
        }
        for pair in accesses.windows(2) {
            let from = thread.behind_jumps(thread.transitions[pair[0]].to);
            let to = thread.transitions[pair[1]].from;
            let points = points_between(thread, from, to);
            if points.is_empty() {
                return None;
            }
            let copies = points
                .into_iter()
                .map(|point| (point, extension.point(point, true)))
                .collect();
            extension.between.push(copies);
        }
        Some(extension)
    }

    fn build(mut self, variant: Variant) -> Option<Self> {
        let last = self.accesses.len() - 1;
        let end = self.point(self.thread.transitions[self.accesses[last]].to, false);
        for number in 0..=last {
            let transition = &self.thread.transitions[self.accesses[number]];
            let from = match number {
                0 => transition.from,
                _ => self.copy(number - 1, transition.from)?,
            };
            let to = match number == last {
                true => end,
                false => self.between[number][0].1,
            };
            match transition.op {
                Op::Store { .. } => self.store(number, from, to)?,
                _ => self.load(number, from, to)?,
            }
            if number < last {
                self.copy_local_steps(number);
            }
            if variant == Variant::Replace && number < last {
                self.leave(number);
                if number == 0 || !matches!(transition.op, Op::Store { .. }) {
                    self.flush_first(number);
                }
            }
        }
        let behind = self.tags[self.accesses[last]].stands_for;
        let to = self.thread.transitions[self.accesses[last]].to;
        let steps = self.flush(0, behind);
        self.chain(end, to, steps);
        if variant == Variant::Replace {
            let deleted = self.tags[self.accesses[0]].id;
            self.transitions.retain(|(_, tag)| tag.id != deleted);
        }
        Some(self)
    }

    fn copy(&self, number: usize, point: PointId) -> Option<PointId> {
        let copies = self.between[number].iter();
        copies.copied().find(|(p, _)| *p == point).map(|(_, c)| c)
    }

    /// A new point at the place of another one.
    fn point(&mut self, like: PointId, simulating: bool) -> PointId {
        self.points.push(Point {
            name: None,
            atomic: false,
            place: None,
            span: self.thread.points[like.index()].span,
        });
        self.simulating.push(simulating);
        PointId(self.points.len() as u32 - 1)
    }

    fn register(&mut self, span: Span) -> RegisterId {
        self.registers.push(Register { name: None, span });
        RegisterId(self.registers.len() as u32 - 1)
    }

    fn add(&mut self, from: PointId, to: PointId, op: Op, span: Span, tag: Tag) {
        let id = self.next_id;
        self.next_id += 1;
        let transition = Transition { from, to, op, span };
        self.transitions.push((transition, Tag { id, ..tag }));
    }

    /// One instruction after the other: stores that leave the registers, or what emulates one access.
    fn chain(&mut self, from: PointId, to: PointId, steps: Vec<(Op, Span, Tag)>) {
        let mut at = from;
        let leaves = matches!(steps.first(), Some((Op::Store { .. }, _, _)));
        let last = steps.len().saturating_sub(1);
        for (number, (op, span, tag)) in steps.into_iter().enumerate() {
            let next = match number == last {
                true => to,
                false => self.inner_point(from, !leaves),
            };
            self.add(at, next, op, span, tag);
            at = next;
        }
    }

    /// A new point somewhere behind `from`, which may be new itself.
    fn inner_point(&mut self, from: PointId, simulating: bool) -> PointId {
        let point = self.points[from.index()].clone();
        self.points.push(Point {
            name: None,
            atomic: false,
            place: None,
            ..point
        });
        self.simulating.push(simulating);
        PointId(self.points.len() as u32 - 1)
    }

    fn tag(&self, number: usize, runs: bool) -> Tag {
        let tag = self.tags[self.accesses[number]];
        Tag {
            runs: tag.runs.filter(|_| runs),
            behind: None,
            ..tag
        }
    }

    /// Where an address leads, and what has to be executed to know it.
    fn locate(
        &mut self,
        address: &Address<RegisterId>,
        order_is_plain: bool,
        span: Span,
    ) -> Option<(Place, Vec<Op>)> {
        let program = &self.base.program;
        match address {
            Address::Direct(location) => Some((Place::Direct(*location), Vec::new())),
            Address::Element {
                first,
                length,
                index,
            } => {
                let (first, length) = (*first, *length);
                // An index out of range is an error of the program, here as there.
                let check = Op::Assume(Expr::Element {
                    first: 1,
                    length,
                    index: Box::new(index.clone()),
                });
                let register = self.register(span);
                let place = Place::Element {
                    first,
                    length,
                    index: register,
                };
                // A literal need not fit the domain, and so not a register.
                if let Expr::Const(index) = index {
                    let inside = (0..i64::from(length)).contains(index);
                    let location = LocationId(first.0.checked_add(u32::try_from(*index).ok()?)?);
                    return inside.then_some((Place::Direct(location), Vec::new()));
                }
                Some((place, vec![check, Op::Assign(register, index.clone())]))
            }
            Address::Pointer(pointer) => {
                let mixed = program.locations.iter().any(|l| l.nonatomic);
                if (mixed && !order_is_plain) || matches!(pointer, Expr::Const(_)) {
                    return None;
                }
                let register = self.register(span);
                let valid = Op::Assert(is_an_address(program, register)?);
                let place = Place::Pointer(register);
                Some((place, vec![Op::Assign(register, pointer.clone()), valid]))
            }
        }
    }

    /// (1): a store waits in registers.
    fn store(&mut self, number: usize, from: PointId, to: PointId) -> Option<()> {
        let transition = &self.thread.transitions[self.accesses[number]];
        let Op::Store {
            address,
            value,
            order,
        } = &transition.op
        else {
            return None;
        };
        let span = transition.span;
        let (place, mut ops) = self.locate(address, transition.op.is_plain(), span)?;
        let value = match value {
            Expr::Const(value) => Expr::Const(self.base.program.domain.reduce(*value)),
            value => {
                let register = self.register(span);
                ops.push(Op::Assign(register, value.clone()));
                Expr::Atom(register)
            }
        };
        if ops.is_empty() {
            ops.push(Op::Skip);
        }
        let steps = ops
            .into_iter()
            .enumerate()
            .map(|(at, op)| (op, span, self.tag(number, at == 0)))
            .collect();
        self.chain(from, to, steps);
        self.slots.push(Slot {
            place,
            value,
            order: *order,
            span,
            stands_for: self.tags[self.accesses[number]].stands_for,
        });
        Some(())
    }

    /// (2)–(8): a load looks at the waiting stores, the newest first, and then at memory.
    fn load(&mut self, number: usize, from: PointId, to: PointId) -> Option<()> {
        let transition = &self.thread.transitions[self.accesses[number]];
        let span = transition.span;
        let (Op::Load { address, .. } | Op::Wait { address, .. }) = &transition.op else {
            return None;
        };
        let is_plain = transition.op.is_plain();
        let (place, ops) = self.locate(address, is_plain, span)?;
        let mut at = from;
        if !ops.is_empty() {
            at = self.inner_point(from, true);
            let steps = ops
                .into_iter()
                .map(|op| (op, span, self.tag(number, false)))
                .collect();
            self.chain(from, at, steps);
        }
        for slot in self.slots.clone().iter().rev() {
            let same = same_location(&self.base.program, slot.place, place)?;
            let hit = match same {
                Same::No => continue,
                Same::Yes => at,
                Same::If(condition) => {
                    let (hit, next) = (self.inner_point(from, true), self.inner_point(from, true));
                    let tag = self.tag(number, false);
                    let not = Expr::unary(UnaryOp::Not, condition.clone());
                    self.add(at, hit, Op::Assume(condition), span, tag);
                    self.add(at, next, Op::Assume(not), span, tag);
                    at = next;
                    hit
                }
            };
            let steps = self.load_from_slot(&transition.op, slot, number, span);
            self.chain(hit, to, steps);
            if hit == at {
                return Some(());
            }
        }
        let tag = self.tag(number, true);
        self.add(at, to, transition.op.clone(), span, tag);
        Some(())
    }

    fn load_from_slot(
        &self,
        op: &Op,
        slot: &Slot,
        number: usize,
        span: Span,
    ) -> Vec<(Op, Span, Tag)> {
        let runs = self.tag(number, true);
        let value = slot.value.clone();
        match op {
            Op::Load { register, .. } => vec![(Op::Assign(*register, value), span, runs)],
            Op::Wait {
                register,
                relation,
                value: wanted,
                ..
            } => {
                let holds = Expr::binary(comparison(*relation), value.clone(), wanted.clone());
                let mut steps = vec![(Op::Assume(holds), span, runs)];
                if let Some(register) = register {
                    let rest = self.tag(number, false);
                    steps.push((Op::Assign(*register, value), span, rest));
                }
                steps
            }
            _ => Vec::new(),
        }
    }

    /// The local instructions between an access and the next one.
    fn copy_local_steps(&mut self, number: usize) {
        for (point, copy) in self.between[number].clone() {
            for (index, transition) in outgoing(self.thread, point) {
                if let Some(to) = self.stays(number, transition) {
                    let tag = self.tags[index];
                    self.add(copy, to, transition.op.clone(), transition.span, tag);
                }
            }
        }
    }

    /// Where a local instruction between two accesses leads to, if it stays between them.
    fn stays(&self, number: usize, transition: &Transition) -> Option<PointId> {
        match is_passed(&transition.op) {
            true => self.copy(number, self.thread.behind_jumps(transition.to)),
            false => None,
        }
    }

    /// (9), (10): the waiting stores from number `first` on leave the registers.
    fn flush(&self, first: usize, behind: u32) -> Vec<(Op, Span, Tag)> {
        self.slots[first..]
            .iter()
            .map(|slot| {
                let address = match slot.place {
                    Place::Direct(location) => Address::Direct(location),
                    Place::Element {
                        first,
                        length,
                        index,
                    } => Address::Element {
                        first,
                        length,
                        index: Expr::Atom(index),
                    },
                    Place::Pointer(pointer) => Address::Pointer(Expr::Atom(pointer)),
                };
                let op = Op::Store {
                    address,
                    value: slot.value.clone(),
                    order: slot.order,
                };
                let tag = Tag {
                    id: 0,
                    runs: None,
                    stands_for: slot.stands_for,
                    behind: Some(behind),
                };
                (op, slot.span, tag)
            })
            .collect()
    }

    /// (11)–(13): whatever leaves the sequence between an access and the next one does so with all stores issued.
    fn leave(&mut self, number: usize) {
        let behind = self.tags[self.accesses[number]].stands_for;
        for (point, copy) in self.between[number].clone() {
            let leaving: Vec<usize> = outgoing(self.thread, point)
                .filter(|(index, transition)| {
                    *index != self.accesses[number + 1] && self.stays(number, transition).is_none()
                })
                .map(|(index, _)| index)
                .collect();
            if leaving.is_empty() {
                continue;
            }
            let flushed = self.point(point, false);
            let steps = self.flush(0, behind);
            self.chain(copy, flushed, steps);
            for index in leaving {
                let transition = &self.thread.transitions[index];
                let tag = self.tags[index];
                self.add(
                    flushed,
                    transition.to,
                    transition.op.clone(),
                    transition.span,
                    tag,
                );
            }
        }
    }

    /// (14)–(17): the first store has reached memory before the next access.
    fn flush_first(&mut self, number: usize) {
        let access = self.accesses[number];
        let transition = &self.thread.transitions[access];
        let behind = self.tags[access].stands_for;
        let mut steps = self.flush(0, behind);
        let fence = Tag {
            runs: None,
            ..steps[0].2
        };
        steps.insert(1, (Op::Fence(Order::SeqCst), steps[0].1, fence));
        self.chain(self.between[number][0].1, transition.to, steps);
    }
}

/// The instructions that leave a point, with their numbers.
fn outgoing(thread: &Thread, point: PointId) -> impl Iterator<Item = (usize, &Transition)> {
    let begin = thread.transitions.partition_point(|t| t.from < point);
    (begin..).zip(thread.outgoing(point))
}

/// Whether an instruction may stand between two accesses of a sequence: it neither touches memory nor waits for the buffer.
fn is_passed(op: &Op) -> bool {
    match op {
        Op::Skip | Op::Jump | Op::Assign(..) | Op::Assume(_) | Op::Assert(_) => true,
        Op::Fence(order) => *order != Order::SeqCst,
        _ => false,
    }
}

/// The points on ways over local instructions from one point to another; empty if there are none, else `from` comes first.
fn points_between(thread: &Thread, from: PointId, to: PointId) -> Vec<PointId> {
    let mut forward = vec![from];
    let mut before: FxHashMap<PointId, Vec<PointId>> = FxHashMap::default();
    before.insert(from, Vec::new());
    let mut at = 0;
    while at < forward.len() {
        let point = forward[at];
        at += 1;
        for transition in thread.outgoing(point) {
            if is_passed(&transition.op) {
                let next = thread.behind_jumps(transition.to);
                let known = before.contains_key(&next);
                before.entry(next).or_default().push(point);
                if !known {
                    forward.push(next);
                }
            }
        }
    }
    let mut backward: FxHashMap<PointId, ()> = FxHashMap::default();
    let mut work = Vec::new();
    if before.contains_key(&to) {
        backward.insert(to, ());
        work.push(to);
    }
    while let Some(point) = work.pop() {
        for &earlier in &before[&point] {
            if backward.insert(earlier, ()).is_none() {
                work.push(earlier);
            }
        }
    }
    forward.retain(|point| backward.contains_key(point));
    forward
}

/// Whether a register holds the address of a location; `None` if that would be a long story.
fn is_an_address(program: &Program, register: RegisterId) -> Option<RegisterExpr> {
    const MOST_RANGES: usize = 32;
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for location in &program.locations {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == location.address => *last += 1,
            _ => ranges.push((location.address, location.address)),
        }
    }
    if ranges.len() > MOST_RANGES {
        return None;
    }
    let value = || Box::new(Expr::Atom(register));
    ranges
        .into_iter()
        .map(|(first, last)| {
            let at_least = Expr::Binary(BinaryOp::LessEqual, Box::new(Expr::Const(first)), value());
            let at_most = Expr::Binary(BinaryOp::LessEqual, value(), Box::new(Expr::Const(last)));
            Expr::binary(BinaryOp::And, at_least, at_most)
        })
        .reduce(|one, other| Expr::binary(BinaryOp::Or, one, other))
}

/// Whether two places are the same location; `None` if it cannot be said in an expression.
fn same_location(program: &Program, one: Place, other: Place) -> Option<Same> {
    let equal = |left: RegisterExpr, right: RegisterExpr| {
        Some(Same::If(Expr::binary(BinaryOp::Equal, left, right)))
    };
    let end = |first: LocationId, length: u32| first.0 + length;
    match (one, other) {
        (Place::Direct(a), Place::Direct(b)) if a == b => Some(Same::Yes),
        (Place::Direct(_), Place::Direct(_)) => Some(Same::No),
        (
            Place::Direct(a),
            Place::Element {
                first,
                length,
                index,
            },
        )
        | (
            Place::Element {
                first,
                length,
                index,
            },
            Place::Direct(a),
        ) => match (first.0..end(first, length)).contains(&a.0) {
            true => equal(Expr::Atom(index), Expr::Const(i64::from(a.0 - first.0))),
            false => Some(Same::No),
        },
        (
            Place::Element {
                first: a,
                length: m,
                index: i,
            },
            Place::Element {
                first: b,
                length: n,
                index: j,
            },
        ) => {
            if a == b {
                equal(Expr::Atom(i), Expr::Atom(j))
            } else if a.0 >= end(b, n) || b.0 >= end(a, m) {
                Some(Same::No)
            } else {
                None
            }
        }
        (Place::Pointer(p), Place::Direct(a)) | (Place::Direct(a), Place::Pointer(p)) => {
            equal(Expr::Atom(p), Expr::Const(program.location(a).address))
        }
        (Place::Pointer(p), Place::Pointer(q)) => equal(Expr::Atom(p), Expr::Atom(q)),
        (
            Place::Pointer(p),
            Place::Element {
                first,
                length,
                index,
            },
        )
        | (
            Place::Element {
                first,
                length,
                index,
            },
            Place::Pointer(p),
        ) => {
            let address = program.location(first).address;
            let consecutive = (0..length).all(|k| {
                program.locations[(first.0 + k) as usize].address == address + i64::from(k)
            });
            let last = address + i64::from(length);
            let fits = program.domain.size().is_none_or(|size| last <= size);
            if !consecutive || !fits {
                return None;
            }
            let sum = Expr::binary(BinaryOp::Add, Expr::Const(address), Expr::Atom(index));
            equal(Expr::Atom(p), sum)
        }
    }
}

fn comparison(relation: Relation) -> BinaryOp {
    match relation {
        Relation::Equal => BinaryOp::Equal,
        Relation::NotEqual => BinaryOp::NotEqual,
        Relation::Less => BinaryOp::Less,
        Relation::LessEqual => BinaryOp::LessEqual,
        Relation::Greater => BinaryOp::Greater,
        Relation::GreaterEqual => BinaryOp::GreaterEqual,
    }
}
