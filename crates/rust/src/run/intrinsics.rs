//! What the models are made of: atomic accesses, threads, allocation, choice; and functions that do nothing that matters here.

use super::arith;
use super::knowledge::{Kind, ObjectKey, Shape, ThreadKey};
use super::machine::{Machine, PANIC};
use super::need::{Need, Run, Taking, refuse};
use super::state::{Frame, State};
use super::value::{Agg, Loc, ObjectId, Pointer, Step, Val};
use crate::mir::{FnPath, IntTy, Ty};
use palisade_lang::{BinaryOp, Expr, FREED, Order, Relation, RmwAction, UNSET};
use std::cmp::Ordering;
use std::rc::Rc;

/// No allocation site makes more shared objects in one thread than this.
const MAX_ALLOCATIONS: u32 = 16;
/// A range whose end only a run knows has no more numbers than this.
const MAX_ROUNDS: i128 = 16;
/// No program has more threads than this.
const MAX_THREADS: usize = 128;

impl Machine<'_> {
    fn order(&self, value: Option<&Val>) -> Run<Order> {
        let variant = match value {
            Some(Val::Agg(agg)) => agg.variant,
            _ => None,
        };
        Ok(match variant {
            Some(0) => Order::Relaxed,
            Some(1) => Order::Release,
            Some(2) => Order::Acquire,
            Some(3) => Order::AcqRel,
            Some(4) => Order::SeqCst,
            _ => return refuse("an order that is not known where it is used"),
        })
    }

    fn target(&mut self, state: &State, value: Option<&Val>) -> Run<Loc> {
        let value = value.cloned().unwrap_or(Val::Uninit);
        match self.to_pointer(state, value)? {
            Val::Ptr(pointer) if pointer.tag != 0 => {
                refuse("a pointer with bits in its address is followed")
            }
            Val::Ptr(pointer) => Ok(pointer.loc.clone()),
            Val::Int(0, _) => Err(Need::Fail("a null pointer is followed".to_owned())),
            _ => Err(Need::Fail(
                "a pointer that points nowhere is followed".to_owned(),
            )),
        }
    }

    /// What an intrinsic of the models gives; `None`: the path is none.
    pub fn intrinsic(
        &mut self,
        state: &mut State,
        path: &FnPath,
        arguments: &[Val],
        result: &Ty,
    ) -> Run<Option<Val>> {
        if path.qualified.is_some() {
            return Ok(None);
        }
        let plain = path.plain();
        let Some(name) = plain.strip_prefix("std::palisade::") else {
            return Ok(None);
        };
        let argument = |at: usize| arguments.get(at).cloned().unwrap_or(Val::Uninit);
        if name.starts_with("atomic_") || name == "read" {
            let of = path.segments.last().and_then(|(_, args)| args.first());
            if let (Some(of), Some(Val::Ptr(pointer))) = (of, arguments.first()) {
                self.expect_type(&pointer.loc, of);
            }
        }
        Ok(Some(match name {
            "atomic_load" => {
                let loc = self.target(state, arguments.first())?;
                let order = self.order(arguments.get(1))?;
                self.atomic_load(state, &loc, order)?
            }
            "atomic_store" => {
                let loc = self.target(state, arguments.first())?;
                let order = self.order(arguments.get(2))?;
                self.atomic_store(state, &loc, argument(1), order)?;
                Val::unit()
            }
            "atomic_exchange" => {
                let loc = self.target(state, arguments.first())?;
                let order = self.order(arguments.get(2))?;
                self.atomic_rmw(state, &loc, "Xchg", argument(1), order)?
            }
            "atomic_fetch_add" | "atomic_fetch_sub" | "atomic_fetch_and" | "atomic_fetch_or"
            | "atomic_fetch_xor" | "atomic_fetch_max" | "atomic_fetch_min" => {
                let loc = self.target(state, arguments.first())?;
                let order = self.order(arguments.get(2))?;
                let op = match name {
                    "atomic_fetch_add" => "Add",
                    "atomic_fetch_sub" => "Sub",
                    "atomic_fetch_and" => "BitAnd",
                    "atomic_fetch_or" => "BitOr",
                    "atomic_fetch_max" => "Max",
                    "atomic_fetch_min" => "Min",
                    _ => "BitXor",
                };
                self.atomic_rmw(state, &loc, op, argument(1), order)?
            }
            "atomic_cas" | "atomic_cas_weak" => {
                let loc = self.target(state, arguments.first())?;
                let success = self.order(arguments.get(3))?;
                let failure = self.order(arguments.get(4))?;
                let weak = name == "atomic_cas_weak";
                self.atomic_cas(
                    state,
                    &loc,
                    argument(1),
                    argument(2),
                    success,
                    failure,
                    weak,
                )?
            }
            "wait_cas" => {
                let loc = self.target(state, arguments.first())?;
                self.wait_cas(state, &loc, &argument(1), &argument(2))?
            }
            "wait_step" => {
                let loc = self.target(state, arguments.first())?;
                let bounds = (
                    argument(1).known(),
                    argument(2).known(),
                    argument(3).known(),
                );
                let (Some(from), Some(to), Some(by)) = bounds else {
                    return refuse("a step between numbers that are not known");
                };
                self.wait_step(state, &loc, from, to, by)?
            }
            "wait_equal" => {
                let loc = self.target(state, arguments.first())?;
                self.wait(state, &loc, Relation::Equal, &argument(1))?;
                Val::unit()
            }
            "wait_not_equal" => {
                let loc = self.target(state, arguments.first())?;
                self.wait(state, &loc, Relation::NotEqual, &argument(1))?;
                Val::unit()
            }
            "fence" => {
                let order = self.order(arguments.first())?;
                if order == Order::Relaxed {
                    return Err(Need::Fail(
                        "there is no such thing as a relaxed fence".to_owned(),
                    ));
                }
                if !self.initial {
                    self.ask(state, Need::Fence(order))?;
                }
                Val::unit()
            }
            "choose" => {
                if self.constant {
                    return refuse("a choice in a constant");
                }
                let choices = vec![Val::bool(false), Val::bool(true)];
                self.ask(state, Need::Choose(choices))?
            }
            "assume" => {
                if !self.truth(state, &argument(0))? {
                    return Err(Need::Skip);
                }
                Val::unit()
            }
            "fail" => return Err(self.panic(state, PANIC)),
            "bound" => {
                let what = match argument(0) {
                    Val::Text(what) => what.to_string(),
                    _ => "a limit of the models is met".to_owned(),
                };
                return Err(Need::Bound(what));
            }
            "alone" => Val::bool(self.initial || self.constant),
            "little_room" => Val::bool(self.few_elements),
            "has_few" => {
                let shared = match argument(0) {
                    Val::Ptr(pointer) => self.know.is_shared(pointer.loc.object),
                    _ => false,
                };
                Val::bool(self.few_elements && shared)
            }
            "spawn" => self.spawn(state, argument(0))?,
            "join" => {
                let threads: Vec<i64> = (0..self.know.threads.len() as i64).collect();
                let thread = self.one_of(state, &argument(0), &threads)?;
                let Some(thread) = thread.known() else {
                    return refuse("a thread is joined that is not known");
                };
                let end = self.thread_cell(thread as u32, 1);
                self.wait(state, &end, Relation::Equal, &Val::usize(1))?;
                Val::unit()
            }
            "current" => {
                self.personal = true;
                Val::usize(self.thread as usize)
            }
            "token" => {
                let threads: Vec<i64> = (0..self.know.threads.len() as i64).collect();
                let thread = self.one_of(state, &argument(0), &threads)?;
                let Some(thread) = thread.known() else {
                    return refuse("a thread is unparked that is not known");
                };
                let cell = self.thread_cell(thread as u32, 2);
                Val::pointer(cell)
            }
            "end" => {
                let threads: Vec<i64> = (0..self.know.threads.len() as i64).collect();
                let thread = self.one_of(state, &argument(0), &threads)?;
                let Some(thread) = thread.known() else {
                    return refuse("the end of a thread that is not known");
                };
                Val::pointer(self.thread_cell(thread as u32, 1))
            }
            "allocate" | "allocate_own" => {
                // The type's first generic argument says what it is for; nothing is written yet.
                let ty = path
                    .segments
                    .last()
                    .and_then(|(_, args)| args.first().cloned());
                let again = match &ty {
                    Some(ty) => self.allocate_again(state, ty)?,
                    None => None,
                };
                let object = match again {
                    Some(object) => object,
                    None => self.allocate(state, Val::Uninit)?,
                };
                // What has no size is at no place of its own.
                let empty = match &ty {
                    Some(ty) => self.is_empty(ty)?,
                    None => false,
                };
                if name == "allocate_own" || empty {
                    self.know.of_models.insert(object);
                }
                if let Some(ty) = ty {
                    self.types.insert(object, ty.clone());
                    let name = short(&ty);
                    self.know.names.entry(object).or_insert(name);
                }
                Val::pointer(Loc {
                    object,
                    path: Vec::new(),
                })
            }
            "allocate_array" => {
                let Some(count) = argument(0).known() else {
                    return Err(Need::Bound(
                        "an array of a size that is not known is allocated".to_owned(),
                    ));
                };
                if count > 4096 {
                    return Err(Need::Bound(
                        "an allocation of more than 4096 elements".to_owned(),
                    ));
                }
                let fields = vec![Val::Uninit; count as usize];
                let value = Val::Agg(Rc::new(Agg {
                    ty: Ty::Array(Rc::new(Ty::Never), Rc::new(Ty::Const(count))),
                    variant: None,
                    fields,
                }));
                let object = self.allocate(state, value)?;
                let ty = path
                    .segments
                    .last()
                    .and_then(|(_, args)| args.first().cloned());
                if let Some(ty) = ty {
                    if count == 0 || self.is_empty(&ty)? {
                        self.know.of_models.insert(object);
                    }
                    let name = short(&ty);
                    self.know.names.entry(object).or_insert(name);
                }
                Val::pointer(Loc {
                    object,
                    path: vec![Step::Index(0)],
                })
            }
            "free" => {
                let loc = self.target(state, arguments.first())?;
                self.free(state, &loc)?;
                Val::unit()
            }
            "drop" => {
                let loc = self.target(state, arguments.first())?;
                self.pending_drop = Some(loc);
                Val::unit()
            }
            "read" => {
                let loc = self.target(state, arguments.first())?;
                self.read(state, &loc)?
            }
            "write" => {
                let loc = self.target(state, arguments.first())?;
                self.write(state, &loc, argument(1))?;
                Val::unit()
            }
            "len" => match argument(0) {
                Val::Ptr(pointer) => Val::usize(self.slice_length(state, &pointer)? as usize),
                _ => return refuse("the length of something that is no slice"),
            },
            "slice" => {
                let pointer = self.to_pointer(state, argument(0))?;
                let numbers: Vec<i64> = (0..=16).collect();
                let limit = "a slice of more than 16 elements whose length only a run knows";
                let length = self.one_of_or(state, &argument(1), &numbers, limit)?;
                let length = length.known().and_then(|n| u32::try_from(n).ok());
                let length = length.unwrap_or(u32::MAX);
                match pointer {
                    Val::Ptr(pointer) => Val::Ptr(Rc::new(Pointer {
                        length: Some(length),
                        ..(*pointer).clone()
                    })),
                    // A vector without elements has no memory: what its slice leads to is an array of none.
                    _ if length == 0 => self.empty_slice(),
                    other => other,
                }
            }
            "offset" | "offset_back" => {
                let pointer = self.to_pointer(state, argument(0))?;
                let of = path.segments.last().and_then(|(_, args)| args.first());
                let of = of.cloned().unwrap_or(Ty::Never);
                self.offset_of(state, &pointer, &argument(1), name == "offset_back", &of)?
            }
            "uninit" => Val::Uninit,
            "initialized" => {
                let value = argument(0);
                let ty = path.segments.last().and_then(|(_, args)| args.first());
                if value == Val::Uninit && ty.is_some_and(|ty| self.has_contents(ty)) {
                    return Err(Need::Fail(
                        "memory is read before anything was written to it".to_owned(),
                    ));
                }
                value
            }
            "is_unit" => {
                let ty = path.segments.last().and_then(|(_, args)| args.first());
                Val::bool(matches!(ty, Some(Ty::Tuple(parts)) if parts.is_empty()))
            }
            "zeroed" => self.zeroed(result, 0)?,
            "few" => match (argument(0).known(), argument(1)) {
                (Some(begin), end @ Val::Sym(..)) => {
                    let numbers = (1..=MAX_ROUNDS).map(|n| arith::stored(begin + n));
                    let numbers: Vec<i64> = numbers.collect();
                    let limit = format!(
                        "a loop of more than {MAX_ROUNDS} rounds, whose number only a run knows"
                    );
                    self.one_of_or(state, &end, &numbers, &limit)?
                }
                (_, end) => end,
            },
            "needs_drop" => {
                let of = path.segments.last().and_then(|(_, args)| args.first());
                Val::bool(self.type_needs_drop(of.unwrap_or(&Ty::Never), 0))
            }
            "cast" => {
                let args = path.segments.last().map(|(_, args)| args.as_slice());
                match (argument(0), args) {
                    (Val::Ptr(pointer), Some([from, to])) => {
                        let way = self.way_into(from, to).unwrap_or_default();
                        let mut pointer = (*pointer).clone();
                        pointer.loc.path.extend(way);
                        Val::Ptr(Rc::new(pointer))
                    }
                    (value, _) => value,
                }
            }
            "size_of" | "align_of" => {
                let of = path.segments.last().and_then(|(_, args)| args.first());
                self.size_or_align(of.unwrap_or(&Ty::Never), name == "size_of")?
            }
            "discriminant" => {
                let loc = self.target(state, arguments.first())?;
                self.discriminant(state, &loc)?
            }
            "size_of_val" | "align_of_val" => {
                let of = path.segments.last().and_then(|(_, args)| args.first());
                let of = of.cloned().unwrap_or(Ty::Never);
                let size = name == "size_of_val";
                match (&of, argument(0)) {
                    (Ty::Slice(element), Val::Ptr(pointer)) => {
                        let one = self.size_or_align(element, size)?;
                        match (size, one.known()) {
                            (true, Some(one)) => {
                                let count = i128::from(self.slice_length(state, &pointer)?);
                                Val::Int(one * count, IntTy::USIZE)
                            }
                            _ => one,
                        }
                    }
                    _ => self.size_or_align(&of, size)?,
                }
            }
            "transmute" => self.transmute(state, argument(0), result)?,
            "same" => argument(0),
            "binary" => {
                let Val::Text(op) = argument(0) else {
                    return refuse("an operation without a name");
                };
                self.binary(state, &op, &argument(1), &argument(2))?
            }
            "bits" => match result_bits(&argument(0)) {
                Some(bits) => Val::Int(
                    i128::from(bits),
                    IntTy {
                        bits: 32,
                        signed: false,
                    },
                ),
                None => return refuse("the width of a value that is no number"),
            },
            "same_value" => {
                let left = self.plain_value(state, arguments.first())?;
                let right = self.plain_value(state, arguments.get(1))?;
                self.equal(state, &left, &right)?
            }
            "text_len" => match self.plain_value(state, arguments.first())? {
                Val::Text(text) if is_known(&text) => Val::usize(text.len()),
                _ => return refuse("the length of a text that is not known here"),
            },
            "text_count" => match self.plain_value(state, arguments.first())? {
                Val::Text(text) if is_known(&text) => Val::usize(text.chars().count()),
                _ => return refuse("the characters of a text that is not known here"),
            },
            "text_char" => {
                let text = self.plain_value(state, arguments.first())?;
                let at = argument(1).known().and_then(|at| usize::try_from(at).ok());
                let found = match (&text, at) {
                    (Val::Text(text), Some(at)) if is_known(text) => text.chars().nth(at),
                    _ => None,
                };
                match (found, result) {
                    (Some(c), Ty::Int(int)) => Val::Int(i128::from(u32::from(c)), *int),
                    _ => return refuse("a character of a text that is not known here"),
                }
            }
            "text_input" => Val::Text(Rc::from(ANY_TEXT)),
            "text_join" => {
                let text = self.plain_value(state, arguments.first())?;
                let more = self.plain_value(state, arguments.get(1))?;
                Val::Text(Rc::from(joined(&text, &more)))
            }
            "plain" => self.plain_value(state, arguments.first())?,
            "capacity" => match self.to_pointer(state, argument(0))? {
                Val::Ptr(pointer) => {
                    let root = Loc {
                        object: pointer.loc.object,
                        path: Vec::new(),
                    };
                    let count = match self.know.shape(&root) {
                        Some(Shape::Parts(_, count)) if !self.is_private(&root) => *count,
                        _ => match state.heap.get(&root.object) {
                            Some(Val::Agg(agg)) => agg.fields.len(),
                            _ => return refuse("the size of an allocation that is not known"),
                        },
                    };
                    Val::usize(count)
                }
                _ => Val::usize(0),
            },
            "in_model" => Val::bool(self.whole),
            "beside" => {
                let place = self.target(state, arguments.first())?;
                let place = self.cell_of(&place);
                let object = self.know.object(ObjectKey::Beside(place));
                for field in 0..3 {
                    let cell = Loc {
                        object,
                        path: vec![Step::Field(field)],
                    };
                    self.know.learn(&cell, Shape::Cell(Kind::Int(IntTy::USIZE)));
                    self.init.entry(cell).or_insert(Val::usize(0));
                }
                Val::pointer(Loc {
                    object,
                    path: Vec::new(),
                })
            }
            "container" => {
                let mut loc = self.target(state, arguments.first())?;
                let field = argument(1).known().and_then(|n| u16::try_from(n).ok());
                if loc.path.pop() != field.map(Step::Field) {
                    return Err(Need::Fail(
                        "a pointer that does not point into such a value is taken for one"
                            .to_owned(),
                    ));
                }
                Val::pointer(loc)
            }
            _ => return refuse(format!("the intrinsic {name} is not known")),
        }))
    }

    /// Whether a value of this type has to be written before it is read: not those without parts, nor what may stay unset.
    fn has_contents(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Int(_) | Ty::Ptr(_) | Ty::Ref(_) => true,
            Ty::Array(of, _) => self.has_contents(of),
            Ty::Tuple(parts) => parts.iter().any(|part| self.has_contents(part)),
            Ty::Adt(path, _) => {
                !path.starts_with("std::mem::MaybeUninit")
                    && self
                        .index
                        .fields
                        .get(&**path)
                        .is_some_and(|f| !f.is_empty())
            }
            _ => false,
        }
    }

    fn empty_slice(&mut self) -> Val {
        let object = self.know.constant(Val::Agg(Rc::new(Agg {
            ty: Ty::Array(Rc::new(Ty::Never), Rc::new(Ty::Const(0))),
            variant: None,
            fields: Vec::new(),
        })));
        Val::Ptr(Rc::new(Pointer {
            loc: Loc {
                object,
                path: vec![Step::Index(0)],
            },
            length: Some(0),
            tag: 0,
        }))
    }

    fn thread_cell(&mut self, thread: u32, which: u32) -> Loc {
        let object = self.know.object(ObjectKey::Thread(thread, which));
        let loc = Loc {
            object,
            path: Vec::new(),
        };
        self.know.learn(&loc, Shape::Cell(Kind::Int(IntTy::USIZE)));
        self.init.entry(loc.clone()).or_insert(Val::usize(0));
        loc
    }

    /// Where a thread waits for its start.
    pub fn start_cell(&mut self, thread: u32) -> Loc {
        self.thread_cell(thread, 0)
    }

    /// Where a thread says that it has ended.
    pub fn end_cell(&mut self, thread: u32) -> Loc {
        self.thread_cell(thread, 1)
    }

    fn is_private(&self, loc: &Loc) -> bool {
        !self.know.is_shared(loc.object)
    }

    fn atomic_load(&mut self, state: &State, loc: &Loc, order: Order) -> Run<Val> {
        if matches!(order, Order::Release | Order::AcqRel) {
            return Err(Need::Fail(
                "there is no such thing as a release load".to_owned(),
            ));
        }
        if self.is_private(loc) {
            return self.read(state, loc);
        }
        self.read_with(state, loc, order)
    }

    fn atomic_store(&mut self, state: &mut State, loc: &Loc, value: Val, order: Order) -> Run<()> {
        if matches!(order, Order::Acquire | Order::AcqRel) {
            return Err(Need::Fail(
                "there is no such thing as an acquire store".to_owned(),
            ));
        }
        self.write_with(state, loc, value, order)
    }

    fn atomic_rmw(
        &mut self,
        state: &mut State,
        loc: &Loc,
        op: &str,
        operand: Val,
        order: Order,
    ) -> Run<Val> {
        let old = if self.is_private(loc) {
            Some(self.read(state, loc)?)
        } else {
            self.initial_cell(loc)
        };
        if let Some(old) = old {
            let new = match op {
                "Xchg" => operand,
                "Max" | "Min" => {
                    let less = self.binary(state, "Lt", &old, &operand)?;
                    let less = self.truth(state, &less)?;
                    match less == (op == "Max") {
                        true => operand,
                        false => old.clone(),
                    }
                }
                _ => self.binary(state, op, &old, &operand)?,
            };
            self.write(state, loc, new)?;
            return Ok(old);
        }
        let (cell, kind) = self.atomic_cell(loc, Some(&operand));
        if op == "Xchg" {
            let value = self.to_cell(&operand, &cell)?;
            return self.update(state, &cell, kind, RmwAction::Exchange(value), order);
        }
        let Some(term) = arith::term(&operand) else {
            return refuse("arithmetic with a pointer in shared memory");
        };
        let mut leaves = Vec::new();
        if kind == Kind::Pointer {
            let Expr::Const(number) = term else {
                return refuse(
                    "arithmetic with a number that is not known, on a pointer in shared memory",
                );
            };
            let mut leave = Vec::new();
            for code in self.know.holds(&cell) {
                let new = match op {
                    "Add" => code.wrapping_add(number),
                    "Sub" => code.wrapping_sub(number),
                    "BitAnd" => code & number,
                    "BitOr" => code | number,
                    "BitXor" => code ^ number,
                    _ => return refuse("the larger of two pointers"),
                };
                let is_pointer = self.know.decode(code).is_some();
                let low = (0..=i64::from(arith::MAX_TAG)).contains(&number);
                let exact = match op {
                    "BitAnd" if is_pointer => low || number | i64::from(arith::MAX_TAG) == -1,
                    "BitAnd" => true,
                    "Add" | "Sub" => self.know.is_same_address(code, new),
                    _ => (low || !is_pointer) && self.know.is_same_address(code, new),
                };
                match exact {
                    true => self.know.may_hold(&cell, new),
                    false => leave.push(code),
                }
            }
            // What the others become is no address that is known: a run that gets there is followed no further.
            leaves = leave;
        }
        let op = match op {
            "Add" => BinaryOp::Add,
            "Sub" => BinaryOp::Subtract,
            "BitAnd" => BinaryOp::BitAnd,
            "BitOr" => BinaryOp::BitOr,
            "Max" => BinaryOp::Max,
            "Min" => BinaryOp::Min,
            _ => BinaryOp::BitXor,
        };
        let narrow = match kind {
            Kind::Int(ty) if ty.bits < 64 && matches!(op, BinaryOp::Add | BinaryOp::Subtract) => {
                Some(ty)
            }
            _ => None,
        };
        let old = self.update(
            state,
            &cell,
            kind,
            RmwAction::Fetch(op, term.clone()),
            order,
        )?;
        if !leaves.is_empty() {
            let code = match &old {
                Val::Ptr(pointer) => self.know.known_code(pointer),
                other => other.known().map(arith::stored),
            };
            if code.is_none_or(|code| leaves.contains(&code)) {
                return Err(Need::Bound(
                    "arithmetic on an address changes more than its low three bits".to_owned(),
                ));
            }
        }
        // Memory compares numbers with a sign.
        if let Kind::Int(ty) = kind
            && matches!(op, BinaryOp::Max | BinaryOp::Min)
            && !ty.signed
            && ty.bits == 64
        {
            for number in [arith::term(&old), Some(term.clone())]
                .into_iter()
                .flatten()
            {
                let small = Expr::binary(BinaryOp::GreaterEqual, number, Expr::Const(0));
                if !self.truth(state, &arith::simplify(&small, IntTy::BOOL))? {
                    return Err(Need::Bound(
                        "a number of 2^63 or more is compared".to_owned(),
                    ));
                }
            }
        }
        // Memory holds 64-bit numbers: a narrow counter that passes its limits is where the translation ends.
        if let (Some(ty), Some(before)) = (narrow, arith::term(&old)) {
            let after = Expr::binary(op, before, term);
            let fits = Expr::binary(BinaryOp::Equal, after.clone(), arith::wrap(after, ty));
            if !self.truth(state, &arith::simplify(&fits, IntTy::BOOL))? {
                return Err(Need::Bound(format!(
                    "a counter of {} bits wraps round",
                    ty.bits
                )));
            }
        }
        Ok(old)
    }

    #[allow(clippy::too_many_arguments)]
    fn atomic_cas(
        &mut self,
        state: &mut State,
        loc: &Loc,
        expected: Val,
        desired: Val,
        success: Order,
        failure: Order,
        weak: bool,
    ) -> Run<Val> {
        if matches!(failure, Order::Release | Order::AcqRel) {
            return Err(Need::Fail(
                "there is no such thing as a release failure order".to_owned(),
            ));
        }
        let pair = |old: Val, done: bool| Val::tuple(vec![old, Val::bool(done)]);
        let known = if self.is_private(loc) {
            Some(self.read(state, loc)?)
        } else {
            self.initial_cell(loc)
        };
        if let Some(old) = known {
            let equal = self.binary(state, "Eq", &old, &expected)?;
            let equal = self.truth(state, &equal)?;
            if equal {
                self.write(state, loc, desired)?;
            }
            return Ok(pair(old, equal));
        }
        let hint = if matches!(expected, Val::Ptr(_)) {
            &expected
        } else {
            &desired
        };
        let (cell, kind) = self.atomic_cell(loc, Some(hint));
        if weak {
            let choices = vec![Val::bool(false), Val::bool(true)];
            if self.ask(state, Need::Choose(choices))?.known() == Some(1) {
                let old = self.read_with(state, &cell, failure)?;
                return Ok(pair(old, false));
            }
        }
        let expected_number = match &expected {
            Val::Ptr(pointer) => {
                self.know.compare();
                self.escape(pointer)?;
                Expr::Const(self.know.code(pointer))
            }
            other => match arith::term(other) {
                Some(term) => term,
                None => {
                    return Err(Need::Fail(
                        "memory is compared that nothing was written to".to_owned(),
                    ));
                }
            },
        };
        let desired = self.to_cell(&desired, &cell)?;
        let action = RmwAction::CompareAndSwap {
            expected: expected_number,
            desired,
            failure,
        };
        let old = self.update(state, &cell, kind, action, success)?;
        let equal = self.binary(state, "Eq", &old, &expected)?;
        let done = self.truth(state, &equal)?;
        Ok(pair(old, done))
    }

    fn wait_cas(
        &mut self,
        state: &mut State,
        loc: &Loc,
        expected: &Val,
        desired: &Val,
    ) -> Run<Val> {
        let known = if self.is_private(loc) {
            Some(self.read(state, loc)?)
        } else {
            self.initial_cell(loc)
        };
        if let Some(old) = known {
            if old.known() != expected.known() {
                return Err(Need::Skip);
            }
            self.write(state, loc, desired.clone())?;
            return Ok(Val::unit());
        }
        let (cell, kind) = self.atomic_cell(loc, Some(desired));
        let (Some(expected), Some(desired)) = (arith::term(expected), arith::term(desired)) else {
            return refuse("a lock that is no number");
        };
        let action = RmwAction::BlockingCompareAndSwap { expected, desired };
        let need = Need::Rmw {
            cell,
            kind,
            action,
            order: Order::Acquire,
        };
        self.ask(state, need)?;
        Ok(Val::unit())
    }

    /// Waits until one of the numbers from `from` to `to` is there, and adds `by` to it.
    fn wait_step(
        &mut self,
        state: &mut State,
        loc: &Loc,
        from: i128,
        to: i128,
        by: i128,
    ) -> Run<Val> {
        let known = if self.is_private(loc) {
            Some(self.read(state, loc)?)
        } else {
            self.initial_cell(loc)
        };
        if let Some(Val::Int(old, ty)) = known {
            if !(from..=to).contains(&old) {
                return Err(Need::Skip);
            }
            self.write(state, loc, Val::Int(ty.wrap(old + by), ty))?;
            return Ok(Val::unit());
        }
        let (cell, _) = self.atomic_cell(loc, Some(&Val::usize(0)));
        let choice = |number: i128| {
            let taking = Taking {
                cell: cell.clone(),
                expected: arith::stored(number),
                desired: arith::stored(number + by),
            };
            (Some(taking), Val::unit())
        };
        self.ask(state, Need::Take((from..=to).map(choice).collect()))
    }

    fn wait(&mut self, state: &State, loc: &Loc, relation: Relation, value: &Val) -> Run<()> {
        if self.is_private(loc) {
            // No other thread will change it.
            let found = self.read(state, loc)?;
            let equal = self.equal(state, &found, value)?;
            return match self.truth(state, &equal)? == (relation == Relation::Equal) {
                true => Ok(()),
                false => Err(Need::Skip),
            };
        }
        let (cell, _) = self.atomic_cell(loc, Some(value));
        let Some(value) = arith::term(value) else {
            return refuse("a wait for something that is no number");
        };
        let need = Need::Wait {
            cell,
            relation,
            value,
            order: Order::Acquire,
        };
        self.ask(state, need)?;
        Ok(())
    }

    /// Where the thread is, by the calls that led there.
    fn site(&mut self, state: &State) -> u32 {
        let calls = state.frames.iter().filter_map(|frame| match &**frame {
            Frame::Code(code) => Some((code.number, code.block)),
            Frame::Drop(_) => None,
        });
        let calls = calls.collect();
        self.know.site(calls)
    }

    fn spawn(&mut self, state: &mut State, closure: Val) -> Run<Val> {
        self.escape_all(&closure)?;
        let mut symbolic = false;
        closure.for_each(&mut |value| symbolic |= matches!(value, Val::Sym(..)));
        if symbolic {
            return refuse(
                "a thread is spawned with a number that is only known when the program runs",
            );
        }
        let site = self.site(state);
        let count = state.counts.get(&site).copied().unwrap_or(0);
        let key = ThreadKey {
            parent: self.thread,
            site,
            count,
            closure,
        };
        let thread = self.know.thread(key);
        if self.know.threads.len() > MAX_THREADS {
            return Err(Need::Bound(format!("more than {MAX_THREADS} threads")));
        }
        self.personal = true;
        self.started.insert(thread);
        if self.initial {
            self.spawned = true;
            self.fresh.clear();
            self.at_once.insert(thread);
        } else {
            let cell = self.start_cell(thread);
            let need = Need::Store {
                cell,
                value: Expr::Const(1),
                order: Order::Release,
            };
            self.ask(state, need)?;
        }
        Rc::make_mut(&mut state.counts).insert(site, count + 1);
        Ok(Val::usize(thread as usize))
    }

    /// New memory.
    fn allocate(&mut self, state: &mut State, value: Val) -> Run<ObjectId> {
        let site = self.site(state);
        for count in 0..=MAX_ALLOCATIONS {
            let object = self.know.object(ObjectKey::Heap(self.thread, site, count));
            if self.know.is_shared(object) {
                // Shared memory is not used again: another thread may still hold its address.
                if state.counts.get(&site).copied().unwrap_or(0) > count {
                    continue;
                }
                if count == MAX_ALLOCATIONS {
                    break;
                }
                Rc::make_mut(&mut state.counts).insert(site, count + 1);
                if self.initial {
                    self.touched.insert(object);
                    self.fresh.insert(object);
                }
                self.made(state, object)?;
                let loc = Loc {
                    object,
                    path: Vec::new(),
                };
                if let Val::Agg(agg) = &value {
                    self.know
                        .learn(&loc, Shape::Parts(agg.ty.clone(), agg.fields.len()));
                }
                return Ok(object);
            }
            // Where the thread still holds the address of memory that it gave back, new memory may be elsewhere: using the old address is an error then.
            // It may be there, too, which only a comparison of addresses can tell.
            if !state.heap.contains_key(&object)
                && (!state.points_to(object) || self.takes_the_same_again(state)?)
            {
                self.made(state, object)?;
                Rc::make_mut(&mut state.heap).insert(object, value);
                return Ok(object);
            }
        }
        Err(Need::Bound(format!(
            "more than {MAX_ALLOCATIONS} allocations at one place"
        )))
    }

    /// Whether the allocator gives out an address that the thread still has from before: both are tried where the program could tell.
    fn takes_the_same_again(&mut self, state: &State) -> Run<bool> {
        if self.initial || self.constant || !self.know.compared {
            return Ok(false);
        }
        let choices = vec![Val::bool(false), Val::bool(true)];
        Ok(self.ask(state, Need::Choose(choices))?.known() == Some(1))
    }

    /// Where a thread says that it has given an object back.
    fn free_cell(&mut self, object: ObjectId) -> Loc {
        let object = self.know.object(ObjectKey::Free(object));
        let loc = Loc {
            object,
            path: Vec::new(),
        };
        self.know.learn(&loc, Shape::Cell(Kind::Int(IntTy::USIZE)));
        self.init.entry(loc.clone()).or_insert(Val::usize(0));
        loc
    }

    /// Memory of this type that was given back, if the allocator takes it again: it may, or it may not. Only where the program compares pointers can
    /// that be seen; otherwise everything that goes wrong with an old pointer does so because its memory is freed.
    fn allocate_again(&mut self, state: &State, ty: &Ty) -> Run<Option<ObjectId>> {
        if self.initial || self.constant {
            return Ok(None);
        }
        self.know.allocates(ty);
        if !self.know.compared {
            return Ok(None);
        }
        let mut freed: Vec<ObjectId> = self.know.freed.iter().copied().collect();
        freed.retain(|object| self.types.get(object) == Some(ty));
        freed.sort_unstable();
        if freed.is_empty() {
            return Ok(None);
        }
        let mut choices = vec![(None, Val::Uninit)];
        for object in freed {
            let taking = Taking {
                cell: self.free_cell(object),
                expected: 1,
                desired: 0,
            };
            choices.push((Some(taking), Val::usize(object as usize)));
        }
        let chosen = self.ask(state, Need::Take(choices))?;
        let Some(object) = chosen.known() else {
            return Ok(None);
        };
        let object = object as ObjectId;
        for (path, _) in self.know.cells(object) {
            let need = Need::Store {
                cell: Loc { object, path },
                value: Expr::Const(UNSET),
                order: Order::NonAtomic,
            };
            self.ask(state, need)?;
        }
        self.made(state, object)?;
        Ok(Some(object))
    }

    /// Memory that the thread alone sees.
    pub fn allocate_private(&mut self, state: &mut State, value: Val) -> Run<ObjectId> {
        let object = self.allocate(state, value.clone())?;
        self.know.of_models.insert(object);
        if self.know.is_shared(object) {
            let loc = Loc {
                object,
                path: Vec::new(),
            };
            self.write(state, &loc, value)?;
        }
        Ok(object)
    }

    /// Gives memory back.
    pub fn free(&mut self, state: &mut State, loc: &Loc) -> Run<()> {
        let object = loc.object;
        // A box of no elements has no memory.
        if let ObjectKey::Constant(number) = self.know.key(object)
            && let Val::Agg(constant) = &self.know.constants[*number as usize]
            && matches!(constant.ty, Ty::Array(..))
            && constant.fields.is_empty()
        {
            return Ok(());
        }
        if !matches!(self.know.key(object), ObjectKey::Heap(..)) {
            return Err(Need::Fail(
                "memory is freed that was not allocated".to_owned(),
            ));
        }
        if !self.know.is_shared(object) {
            return match Rc::make_mut(&mut state.heap).remove(&object) {
                Some(_) => Ok(()),
                None => Err(Need::Fail("memory is freed twice".to_owned())),
            };
        }
        if self.know.freed.insert(object) {
            self.know.grew = true;
        }
        let freed = Val::Int(i128::from(FREED), IntTy::ISIZE);
        for (path, kind) in self.know.cells(object) {
            let cell = Loc { object, path };
            if self.initial && self.initial_cell(&cell).is_some() {
                self.init.insert(cell, freed.clone());
                continue;
            }
            let order = Order::NonAtomic;
            let need = Need::Load {
                cell: cell.clone(),
                kind,
                order,
            };
            let old = self.ask(state, need)?;
            if let Some(term) = arith::term(&old) {
                let lives = Expr::binary(BinaryOp::NotEqual, term, Expr::Const(FREED));
                if !self.truth(state, &arith::simplify(&lives, IntTy::BOOL))? {
                    return Err(Need::Fail("memory is freed twice".to_owned()));
                }
            }
            let need = Need::Store {
                cell,
                value: Expr::Const(FREED),
                order,
            };
            self.ask(state, need)?;
        }
        self.unmade(state, object)?;
        // The allocator may take it again, and the thread that gets it then comes after everything that was done with it.
        let again = self.types.get(&object).cloned();
        if !self.initial
            && self.know.compared
            && again.is_some_and(|ty| self.know.is_allocated(&ty))
        {
            let need = Need::Store {
                cell: self.free_cell(object),
                value: Expr::Const(1),
                order: Order::Release,
            };
            self.ask(state, need)?;
        }
        Ok(())
    }

    /// Copies elements.
    pub fn copy(&mut self, state: &mut State, target: &Val, source: &Val, count: &Val) -> Run<()> {
        let Some(count) = count.known() else {
            return refuse("a number of elements to copy that is not known");
        };
        for at in 0..count {
            let by = Val::usize(at as usize);
            let from = self.offset(state, source, &by, false)?;
            let to = self.offset(state, target, &by, false)?;
            let (Val::Ptr(from), Val::Ptr(to)) = (from, to) else {
                return refuse("memory is copied from or to a place that is not known");
            };
            let value = self.read(state, &from.loc)?;
            self.write(state, &to.loc, value)?;
        }
        Ok(())
    }

    /// Functions without a body that can do without one: what prints and formats, and copies of plain values.
    pub fn fallback(
        &mut self,
        state: &mut State,
        path: &FnPath,
        arguments: &[Val],
        result: &Ty,
    ) -> Run<Option<Val>> {
        let plain = path.plain();
        let trait_name = match &path.qualified {
            Some((_, Some(Ty::Adt(path, _)))) => path.rsplit("::").next().unwrap_or("").to_owned(),
            _ => String::new(),
        };
        if plain.starts_with("std::fmt::")
            || plain.starts_with("std::io::")
            || trait_name == "Debug"
            || trait_name == "Display"
        {
            self.ignored.insert(plain);
            return Ok(Some(match result {
                Ty::Adt(name, _) if name.ends_with("Result") => Val::Uninit,
                Ty::Tuple(parts) if parts.is_empty() => Val::unit(),
                Ty::Adt(name, _) if &**name == "std::string::String" => unknown_string(),
                _ => Val::Text(Rc::from(UNKNOWN_TEXT)),
            }));
        }
        if plain.starts_with("std::panicking::")
            || plain.starts_with("std::rt::") && plain.contains("panic")
        {
            return Err(self.panic(state, PANIC));
        }
        match (trait_name.as_str(), path.name()) {
            // What was in the box was moved out of it already.
            ("Drop", "drop") => {
                let loc = self.target(state, arguments.first())?;
                let inner = self.read(state, &loc)?;
                if let Val::Ptr(pointer) = self.to_pointer(state, inner)? {
                    self.free(state, &pointer.loc)?;
                }
                Ok(Some(Val::unit()))
            }
            ("ToString", "to_string") | ("ToOwned", "to_owned") => {
                let value = self.plain_value(state, arguments.first())?;
                let text = match &value {
                    // A fraction is kept as it is written, which is not how it is shown.
                    Val::Text(_) if matches!(path.qualified, Some((Ty::Float(_), _))) => {
                        Val::Text(Rc::from(UNKNOWN_TEXT))
                    }
                    Val::Text(_) => value,
                    Val::Agg(agg) if trait_name == "ToOwned" => {
                        return Ok(Some(Val::Agg(agg.clone())));
                    }
                    Val::Agg(agg) if is_string(&agg.ty) => return Ok(Some(value)),
                    _ => Val::Text(Rc::from(UNKNOWN_TEXT)),
                };
                Ok(Some(string_of(text)))
            }
            ("Clone", "clone") => {
                let loc = self.target(state, arguments.first())?;
                Ok(Some(self.read(state, &loc)?))
            }
            ("PartialEq", "eq" | "ne") => {
                let left = self.plain_value(state, arguments.first())?;
                let right = self.plain_value(state, arguments.get(1))?;
                self.compares_itself(&left)?;
                let equal = self.equal(state, &left, &right)?;
                match path.name() {
                    "eq" => Ok(Some(equal)),
                    _ => Ok(arith::not(&equal)),
                }
            }
            ("PartialOrd", "lt" | "le" | "gt" | "ge") => {
                let left = self.plain_value(state, arguments.first())?;
                let right = self.plain_value(state, arguments.get(1))?;
                self.compares_itself(&left)?;
                let op = match path.name() {
                    "lt" => "Lt",
                    "le" => "Le",
                    "gt" => "Gt",
                    _ => "Ge",
                };
                Ok(Some(self.in_order(state, op, &left, &right)?))
            }
            ("Ord", "cmp") | ("PartialOrd", "partial_cmp") => {
                let left = self.plain_value(state, arguments.first())?;
                let right = self.plain_value(state, arguments.get(1))?;
                self.compares_itself(&left)?;
                let order = self.in_order(state, "Cmp", &left, &right)?;
                Ok(Some(match path.name() {
                    "cmp" => order,
                    _ => Val::Agg(Rc::new(Agg {
                        ty: Ty::Adt(Rc::from("std::option::Option"), Vec::new()),
                        variant: Some(1),
                        fields: vec![order],
                    })),
                }))
            }
            ("Ord", "max" | "min") => {
                let [left, right] = arguments else {
                    return Ok(None);
                };
                self.compares_itself(left)?;
                let below = self.in_order(state, "Lt", right, left)?;
                let below = self.truth(state, &below)?;
                let chosen = match below == (path.name() == "max") {
                    true => left,
                    false => right,
                };
                Ok(Some(chosen.clone()))
            }
            // Operators whose operands are references to numbers: those of numbers themselves are no calls.
            (trait_name, _) if operator(trait_name).is_some() => {
                let (Some((op, assigns)), [left, right]) = (operator(trait_name), arguments) else {
                    return Ok(None);
                };
                let right = self.plain_value(state, Some(right))?;
                let left_value = self.plain_value(state, Some(left))?;
                let is_number = |value: &Val| matches!(value, Val::Int(..) | Val::Sym(..));
                let divides = matches!(op, "Div" | "Rem");
                let can_divide = matches!(right, Val::Int(number, _) if number != 0);
                if !is_number(&left_value) || !is_number(&right) || divides && !can_divide {
                    return Ok(None);
                }
                let value = self.binary(state, op, &left_value, &right)?;
                if !assigns {
                    return Ok(Some(value));
                }
                let loc = self.target(state, Some(left))?;
                self.write(state, &loc, value)?;
                Ok(Some(Val::unit()))
            }
            ("From", "from") => match (arguments.first(), result, &path.qualified) {
                (Some(value @ (Val::Int(..) | Val::Sym(..))), Ty::Int(int), _) => {
                    Ok(arith::convert(value, *int))
                }
                // Each type is made from itself; errors and texts are only printed.
                (Some(value), _, Some((to, Some(Ty::Adt(_, from)))))
                    if from.first() == Some(to) || matches!(value, Val::Text(_)) =>
                {
                    Ok(Some(value.clone()))
                }
                (Some(Val::Agg(agg)), _, Some((Ty::Adt(to, _), _)))
                    if is_string(&agg.ty) && &**to == "std::boxed::Box" =>
                {
                    Ok(agg.fields.first().cloned())
                }
                _ => Ok(None),
            },
            ("TryFrom", "try_from") => match (arguments.first(), &path.qualified) {
                (Some(value @ (Val::Int(..) | Val::Sym(..))), Some((Ty::Int(int), _))) => {
                    let Some(converted) = arith::convert(value, *int) else {
                        return Ok(None);
                    };
                    let fits = self.binary(state, "Eq", value, &converted)?;
                    let mut fits = self.truth(state, &fits)?;
                    // What is below 0 on one side alone is another number, though its bits are the same.
                    let signed = match value {
                        Val::Int(_, from) | Val::Sym(_, from) if from.signed == int.signed => None,
                        Val::Int(_, from) | Val::Sym(_, from) if from.signed => Some(value),
                        _ => Some(&converted),
                    };
                    if let (true, Some(signed)) = (fits, signed) {
                        let least = Val::Int(0, IntTy::ISIZE);
                        let positive = self.binary(state, "Ge", signed, &least)?;
                        fits = self.truth(state, &positive)?;
                    }
                    Ok(Some(Val::Agg(Rc::new(Agg {
                        ty: Ty::Adt(Rc::from("std::result::Result"), Vec::new()),
                        variant: Some(i32::from(!fits)),
                        fields: vec![if fits { converted } else { Val::unit() }],
                    }))))
                }
                _ => Ok(None),
            },
            ("Default", "default") => match result {
                Ty::Int(int) => Ok(Some(Val::Int(0, *int))),
                Ty::Tuple(parts) if parts.is_empty() => Ok(Some(Val::unit())),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// How two values are ordered: tuples, `Option` and `Result` by the first of their parts that differ, texts by their letters.
    fn in_order(&mut self, state: &mut State, op: &str, left: &Val, right: &Val) -> Run<Val> {
        let numbered = |order: Ordering| match order {
            Ordering::Less => (Val::usize(0), Val::usize(1)),
            Ordering::Equal => (Val::usize(0), Val::usize(0)),
            Ordering::Greater => (Val::usize(1), Val::usize(0)),
        };
        let by_parts = |ty: &Ty| match ty {
            Ty::Tuple(_) => true,
            Ty::Adt(path, _) => {
                matches!(&**path, "std::option::Option" | "std::result::Result")
            }
            _ => false,
        };
        match (left, right) {
            (Val::Text(a), Val::Text(b)) if is_known(a) && is_known(b) => {
                let (left, right) = numbered(a.cmp(b));
                self.binary(state, op, &left, &right)
            }
            (Val::Agg(a), Val::Agg(b)) if by_parts(&a.ty) && by_parts(&b.ty) => {
                if a.variant != b.variant || a.fields.is_empty() {
                    let (left, right) = numbered(a.variant.cmp(&b.variant));
                    return self.binary(state, op, &left, &right);
                }
                let last = a.fields.len() - 1;
                for (at, (a, b)) in a.fields.iter().zip(&b.fields).enumerate() {
                    let a = self.plain_value(state, Some(a))?;
                    let b = self.plain_value(state, Some(b))?;
                    self.compares_itself(&a)?;
                    if at == last {
                        return self.in_order(state, op, &a, &b);
                    }
                    let equal = self.equal(state, &a, &b)?;
                    if !self.truth(state, &equal)? {
                        let op = match op {
                            "Le" => "Lt",
                            "Ge" => "Gt",
                            op => op,
                        };
                        return self.in_order(state, op, &a, &b);
                    }
                }
                refuse("an order of values without parts")
            }
            _ => self.binary(state, op, left, right),
        }
    }

    /// A type that says itself how it is compared is not compared part by part, where only references lead to it.
    fn compares_itself(&self, value: &Val) -> Run<()> {
        let Val::Agg(agg) = value else { return Ok(()) };
        let Ty::Adt(path, _) = &agg.ty else {
            return Ok(());
        };
        // These are compared as their parts are.
        if matches!(&**path, "std::option::Option" | "std::result::Result") {
            return Ok(());
        }
        let name = path.rsplit("::").next().unwrap_or(path);
        let of = |ty: &Ty| matches!(ty, Ty::Adt(p, _) if p.rsplit("::").next() == Some(name));
        let says = |found: &crate::index::Impl| {
            of(&found.self_ty)
                && ["eq", "cmp", "partial_cmp"]
                    .iter()
                    .any(|function| found.functions.contains_key(*function))
        };
        if self.index.impls.iter().any(says) {
            return refuse(format!("a comparison of references to {name}"));
        }
        Ok(())
    }

    /// Whether two values are equal, part by part.
    fn equal(&mut self, state: &State, left: &Val, right: &Val) -> Run<Val> {
        match (left, right) {
            (Val::Text(a), Val::Text(b)) if **a == *ANY_TEXT || **b == *ANY_TEXT => {
                let choices = vec![Val::bool(false), Val::bool(true)];
                self.ask(state, Need::Choose(choices))
            }
            (Val::Text(a), Val::Text(b)) if is_known(a) && is_known(b) => Ok(Val::bool(a == b)),
            (Val::Text(_), Val::Text(_)) => Err(Need::Refuse(super::need::Refusal {
                message: "a comparison with a text or a fraction that is not known here".to_owned(),
                help: Some(
                    "what formatting makes is not followed: compare what the text was made of"
                        .to_owned(),
                ),
            })),
            (Val::Agg(a), Val::Agg(b)) => {
                if a.variant != b.variant || a.fields.len() != b.fields.len() {
                    return Ok(Val::bool(false));
                }
                for (a, b) in a.fields.iter().zip(&b.fields) {
                    let a = self.plain_value(state, Some(a))?;
                    let b = self.plain_value(state, Some(b))?;
                    self.compares_itself(&a)?;
                    let equal = self.equal(state, &a, &b)?;
                    if !self.truth(state, &equal)? {
                        return Ok(Val::bool(false));
                    }
                }
                Ok(Val::bool(true))
            }
            _ => self.binary(state, "Eq", left, right),
        }
    }

    /// What references, however many, lead to.
    fn plain_value(&mut self, state: &State, value: Option<&Val>) -> Run<Val> {
        let mut value = value.cloned().unwrap_or(Val::Uninit);
        for _ in 0..4 {
            match &value {
                Val::Ptr(pointer) => {
                    let pointer = pointer.clone();
                    value = match pointer.length {
                        None => self.read(state, &pointer.loc)?,
                        Some(length) => {
                            let mut fields = Vec::new();
                            for at in 0..length {
                                let Some(loc) = super::place::element(&pointer.loc, at) else {
                                    return refuse("an element of something that is no array");
                                };
                                fields.push(self.read(state, &loc)?);
                            }
                            return Ok(Val::tuple(fields));
                        }
                    };
                }
                _ => break,
            }
        }
        Ok(value)
    }
}

/// What formatting gives, and fractions: nothing can be asked about it.
pub const UNKNOWN_TEXT: &str = "\0";

/// What comes from outside: it may be equal to any text.
const ANY_TEXT: &str = "\0any";

pub fn is_known(text: &str) -> bool {
    !text.contains('\0')
}

fn is_string(ty: &Ty) -> bool {
    matches!(ty, Ty::Adt(path, _) if &**path == "std::string::String")
}

fn string_of(text: Val) -> Val {
    Val::Agg(Rc::new(Agg {
        ty: Ty::Adt(Rc::from("std::string::String"), Vec::new()),
        variant: None,
        fields: vec![text],
    }))
}

fn unknown_string() -> Val {
    string_of(Val::Text(Rc::from(UNKNOWN_TEXT)))
}

/// A text with a text or a letter behind it.
fn joined(text: &Val, more: &Val) -> String {
    let part = |value: &Val| match value {
        Val::Text(text) => text.to_string(),
        Val::Int(letter, _) => {
            let letter = u32::try_from(*letter).ok().and_then(char::from_u32);
            letter.map_or(UNKNOWN_TEXT.to_owned(), String::from)
        }
        _ => UNKNOWN_TEXT.to_owned(),
    };
    let all = part(text) + &part(more);
    match is_known(&all) {
        true => all,
        false => UNKNOWN_TEXT.to_owned(),
    }
}

fn result_bits(value: &Val) -> Option<u8> {
    match value {
        Val::Int(_, ty) | Val::Sym(_, ty) => Some(ty.bits),
        _ => None,
    }
}

/// Whether this is what an `Arc` or an `Rc` points to: counts, and the value.
pub fn is_counted(path: &str) -> bool {
    matches!(path, "std::sync::ArcInner" | "std::rc::RcBox")
}

/// A type's name without its modules.
fn short(ty: &Ty) -> String {
    match ty {
        // What is counted has the name, not the counts around it.
        Ty::Adt(path, arguments) if is_counted(path) && !arguments.is_empty() => {
            short(&arguments[0])
        }
        Ty::Adt(path, _) => path.rsplit("::").next().unwrap_or(path).to_owned(),
        ty => ty.to_string(),
    }
}

/// The operation of an operator's trait, and whether it is one that assigns. Shifts are left out: what is shifted and by how much are of different widths.
fn operator(trait_name: &str) -> Option<(&'static str, bool)> {
    let (name, assigns) = match trait_name.strip_suffix("Assign") {
        Some(name) => (name, true),
        None => (trait_name, false),
    };
    let all = [
        "Add", "Sub", "Mul", "Div", "Rem", "BitAnd", "BitOr", "BitXor",
    ];
    let op = all.into_iter().find(|op| *op == name)?;
    Some((op, assigns))
}
