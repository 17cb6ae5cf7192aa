//! What the models are made of: atomic accesses, threads, allocation, choice; and functions that do nothing that matters here.

use super::arith;
use super::knowledge::{Kind, ObjectKey, Shape, ThreadKey};
use super::machine::Machine;
use super::memory::FREED;
use super::need::{Need, Run, refuse};
use super::state::{Frame, State};
use super::value::{Agg, Loc, ObjectId, Pointer, Step, Val};
use crate::mir::{FnPath, IntTy, Ty};
use palisade_lang::{BinaryOp, Expr, Order, Relation, RmwAction};
use std::rc::Rc;

/// No allocation site makes more shared objects in one thread than this.
const MAX_ALLOCATIONS: u32 = 16;
/// No program has more threads than this.
const MAX_THREADS: usize = 12;

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
            | "atomic_fetch_xor" => {
                let loc = self.target(state, arguments.first())?;
                let order = self.order(arguments.get(2))?;
                let op = match name {
                    "atomic_fetch_add" => "Add",
                    "atomic_fetch_sub" => "Sub",
                    "atomic_fetch_and" => "BitAnd",
                    "atomic_fetch_or" => "BitOr",
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
            "fail" => return Err(Need::Fail("panic".to_owned())),
            "bound" => return Err(Need::Bound("a limit of the models is met".to_owned())),
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
            "current" => Val::usize(self.thread as usize),
            "token" => {
                let threads: Vec<i64> = (0..self.know.threads.len() as i64).collect();
                let thread = self.one_of(state, &argument(0), &threads)?;
                let Some(thread) = thread.known() else {
                    return refuse("a thread is unparked that is not known");
                };
                let cell = self.thread_cell(thread as u32, 2);
                Val::pointer(cell)
            }
            "allocate" => {
                // The type's first generic argument says what it is for; nothing is written yet.
                let object = self.allocate(state, Val::Uninit)?;
                let ty = path
                    .segments
                    .last()
                    .and_then(|(_, args)| args.first().cloned());
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
                if count > 256 {
                    return refuse("an allocation of more than 256 elements");
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
                Val::Ptr(pointer) => match pointer.length {
                    Some(length) => Val::usize(length as usize),
                    None => return refuse("the length of something that is no slice"),
                },
                _ => return refuse("the length of something that is no slice"),
            },
            "slice" => {
                let pointer = self.to_pointer(state, argument(0))?;
                let length = self.index_value(state, &argument(1), 16)?;
                match pointer {
                    Val::Ptr(pointer) => Val::Ptr(Rc::new(Pointer {
                        length: Some(length),
                        ..(*pointer).clone()
                    })),
                    other => other,
                }
            }
            "offset" => {
                let pointer = self.to_pointer(state, argument(0))?;
                self.offset(state, &pointer, &argument(1), false)?
            }
            "offset_back" => {
                let pointer = self.to_pointer(state, argument(0))?;
                self.offset(state, &pointer, &argument(1), true)?
            }
            "uninit" => Val::Uninit,
            "zeroed" => match result {
                Ty::Int(int) => Val::Int(0, *int),
                _ => return refuse(format!("zeroed memory as {result}")),
            },
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
            _ => return refuse(format!("the intrinsic {name} is not known")),
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
        if kind == Kind::Pointer {
            let Expr::Const(number) = term else {
                return refuse(
                    "arithmetic with a number that is not known, on a pointer in shared memory",
                );
            };
            for code in self.know.holds(&cell) {
                let new = match op {
                    "Add" => code.wrapping_add(number),
                    "Sub" => code.wrapping_sub(number),
                    "BitAnd" => code & number,
                    "BitOr" => code | number,
                    _ => code ^ number,
                };
                self.know.may_hold(&cell, new);
            }
        }
        let op = match op {
            "Add" => BinaryOp::Add,
            "Sub" => BinaryOp::Subtract,
            "BitAnd" => BinaryOp::BitAnd,
            "BitOr" => BinaryOp::BitOr,
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

    fn wait(&mut self, state: &State, loc: &Loc, relation: Relation, value: &Val) -> Run<()> {
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
        state.counts.insert(site, count + 1);
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
                state.counts.insert(site, count + 1);
                if self.initial {
                    self.touched.insert(object);
                    self.fresh.insert(object);
                }
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
            if let std::collections::btree_map::Entry::Vacant(free) = state.heap.entry(object) {
                free.insert(value);
                return Ok(object);
            }
        }
        Err(Need::Bound(format!(
            "more than {MAX_ALLOCATIONS} allocations at one place"
        )))
    }

    /// Memory that the thread alone sees.
    pub fn allocate_private(&mut self, state: &mut State, value: Val) -> Run<ObjectId> {
        let object = self.allocate(state, value.clone())?;
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
        if !matches!(self.know.key(object), ObjectKey::Heap(..)) {
            return Err(Need::Fail(
                "memory is freed that was not allocated".to_owned(),
            ));
        }
        if !self.know.is_shared(object) {
            return match state.heap.remove(&object) {
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
                _ => Val::Text(Rc::from("")),
            }));
        }
        if plain.starts_with("std::panicking::")
            || plain.starts_with("std::rt::") && plain.contains("panic")
        {
            return Err(Need::Fail("panic".to_owned()));
        }
        match (trait_name.as_str(), path.name()) {
            ("Clone", "clone") => {
                let loc = self.target(state, arguments.first())?;
                Ok(Some(self.read(state, &loc)?))
            }
            ("PartialEq", "eq" | "ne") => {
                let left = self.plain_value(state, arguments.first())?;
                let right = self.plain_value(state, arguments.get(1))?;
                let equal = self.equal(state, &left, &right)?;
                match path.name() {
                    "eq" => Ok(Some(equal)),
                    _ => Ok(arith::not(&equal)),
                }
            }
            ("PartialOrd", "lt" | "le" | "gt" | "ge") => {
                let left = self.plain_value(state, arguments.first())?;
                let right = self.plain_value(state, arguments.get(1))?;
                let op = match path.name() {
                    "lt" => "Lt",
                    "le" => "Le",
                    "gt" => "Gt",
                    _ => "Ge",
                };
                Ok(Some(self.binary(state, op, &left, &right)?))
            }
            ("Ord", "cmp") => {
                let left = self.plain_value(state, arguments.first())?;
                let right = self.plain_value(state, arguments.get(1))?;
                Ok(Some(self.binary(state, "Cmp", &left, &right)?))
            }
            ("From" | "Into", _) => match (arguments.first(), result) {
                (Some(value), Ty::Int(int)) => Ok(arith::convert(value, *int)),
                (Some(value), _) => Ok(Some(value.clone())),
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

    /// Whether two values are equal, part by part.
    fn equal(&mut self, state: &State, left: &Val, right: &Val) -> Run<Val> {
        match (left, right) {
            (Val::Text(a), Val::Text(b)) => Ok(Val::bool(a == b)),
            (Val::Agg(a), Val::Agg(b)) => {
                if a.variant != b.variant || a.fields.len() != b.fields.len() {
                    return Ok(Val::bool(false));
                }
                for (a, b) in a.fields.iter().zip(&b.fields) {
                    let a = self.plain_value(state, Some(a))?;
                    let b = self.plain_value(state, Some(b))?;
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

fn result_bits(value: &Val) -> Option<u8> {
    match value {
        Val::Int(_, ty) | Val::Sym(_, ty) => Some(ty.bits),
        _ => None,
    }
}

/// A type's name without its modules.
fn short(ty: &Ty) -> String {
    match ty {
        Ty::Adt(path, _) => path.rsplit("::").next().unwrap_or(path).to_owned(),
        ty => ty.to_string(),
    }
}
