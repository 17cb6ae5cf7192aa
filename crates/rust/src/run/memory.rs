//! Reading and writing places: a thread's own ones at once, shared ones by instructions.

use super::arith::{self, Term};
use super::knowledge::{Kind, ObjectKey, Shape};
use super::machine::Machine;
use super::need::{Need, Run, refuse};
use super::state::{Frame, State};
use super::value::{Agg, Loc, Path, Pointer, Step, Val};
use crate::mir::{IntTy, Ty};
use palisade_lang::{BinaryOp, Expr, FREED, Order, RmwAction, UNSET};
use std::rc::Rc;

/// How many sizes a collection has that threads share.
const MAX_SIZES: usize = 32;

/// How many texts a place that threads share may hold.
const MAX_TEXTS: usize = 16;

/// What the program does wrong where it reads one of these.
fn wrong_read(number: i64) -> Option<Need> {
    match number {
        UNSET => Some(Need::Fail(
            "memory is read before anything was written to it".to_owned(),
        )),
        FREED => Some(Need::Fail("memory is read after it was freed".to_owned())),
        _ => None,
    }
}

impl Machine<'_> {
    /// Asks for an instruction: its result, if it was done already.
    pub fn ask(&mut self, state: &State, need: Need) -> Run<Val> {
        if self.constant {
            return refuse("this is not known while the compiler computes a constant");
        }
        if self.initial {
            return Err(Need::Concurrent);
        }
        match &need {
            Need::Store { cell, .. } | Need::Rmw { cell, .. } => self.know.write(cell),
            Need::Take(choices) => {
                for (taking, _) in choices {
                    if let Some(taking) = taking {
                        self.know.write(&taking.cell);
                    }
                }
            }
            _ => {}
        }
        self.position += 1;
        match state.replay.get(self.position - 1) {
            Some(value) => Ok(value.clone()),
            None => Err(need),
        }
    }

    /// What a cell holds for ever, if no thread writes it.
    fn unchanging(&self, cell: &Loc) -> Option<&Val> {
        match self.initial || self.know.is_written(cell) {
            true => None,
            false => self.init.get(cell),
        }
    }

    /// Whether the first thread can still set initial values of this object.
    pub fn sets_initial(&mut self, object: u32) -> bool {
        self.initial && (!self.spawned || self.fresh.contains(&object))
    }

    /// A text or a function in shared memory: a pointer to a constant stands for it, with a step that no other pointer has.
    fn stands_for(&mut self, value: &Val) -> Val {
        let object = self.know.constant(value.clone());
        Val::pointer(Loc {
            object,
            path: vec![Step::Tag],
        })
    }

    /// The text or the function that a value from shared memory stands for; every other value is itself.
    fn itself(&self, value: Val) -> Val {
        if let Val::Ptr(pointer) = &value
            && pointer.loc.path == [Step::Tag]
            && let ObjectKey::Constant(number) = self.know.key(pointer.loc.object)
        {
            return self.know.constants[*number as usize].clone();
        }
        value
    }

    fn decoded(&self, number: &Val) -> Val {
        let Some(code) = number.known() else {
            return number.clone();
        };
        match self.know.decode(arith::stored(code)) {
            Some(pointer) => self.itself(Val::Ptr(Rc::new(pointer))),
            None => Val::Int(IntTy::USIZE.wrap(code), IntTy::USIZE),
        }
    }

    /// A number that is to be a pointer.
    pub fn to_pointer(&mut self, state: &State, value: Val) -> Run<Val> {
        match &value {
            Val::Agg(agg) if agg.fields.len() == 1 || matches!(agg.ty, Ty::Adt(..)) => {
                match agg.fields.first() {
                    Some(field) => self.to_pointer(state, field.clone()),
                    None => Ok(value),
                }
            }
            Val::Sym(..) => {
                let mut codes = self.know.all_codes();
                codes.insert(0, 0);
                let other = "a number that is no address is used as a pointer";
                let chosen = self.one_of_or(state, &value, &codes, other)?;
                Ok(self.decoded(&chosen))
            }
            _ => Ok(value),
        }
    }

    /// Whether the numbers in a cell are told apart when it is read, as pointers are: sizes and places within a collection, so that its loops are
    /// finite.
    fn is_told_apart(&self, cell: &Loc) -> bool {
        let mut whole = cell.clone();
        matches!(whole.path.pop(), Some(Step::Field(_)))
            && matches!(self.know.shape(&whole), Some(Shape::Parts(Ty::Adt(path, _), _))
                if matches!(&**path, "std::vec::Vec" | "std::vec::IntoIter" | "std::collections::VecDeque" | "std::sync::mpsc::Ends"))
    }

    /// The number that a value is in memory. Pointers that get there make their objects shared.
    pub fn to_cell(&mut self, value: &Val, cell: &Loc) -> Run<Term> {
        match value {
            Val::Ptr(pointer) => {
                self.escape(pointer)?;
                let code = self.know.code(pointer);
                if pointer.loc.path == [Step::Tag] {
                    let known = self.know.holds(cell);
                    if known.len() >= MAX_TEXTS && !known.contains(&code) {
                        return Err(Need::Bound(format!(
                            "a text that threads share with more than {MAX_TEXTS} contents"
                        )));
                    }
                }
                self.know.may_hold(cell, code);
                Ok(Expr::Const(code))
            }
            Val::Int(number, _) => {
                let number = arith::stored(*number);
                if self.know.shape(cell) == Some(&Shape::Cell(Kind::Pointer)) {
                    // It would be read as the pointer whose code it is.
                    if self.know.looks_like_address(number) {
                        return Err(Need::Bound(
                            "a number that could be an address is stored where pointers are"
                                .to_owned(),
                        ));
                    }
                    self.know.may_hold(cell, number);
                } else if self.is_told_apart(cell) {
                    let known = self.know.holds(cell);
                    if known.len() >= MAX_SIZES && !known.contains(&number) {
                        return Err(Need::Bound(format!(
                            "a collection that threads share with more than {MAX_SIZES} elements"
                        )));
                    }
                    self.know.may_hold(cell, number);
                }
                Ok(Expr::Const(number))
            }
            Val::Sym(term, _) => {
                if self.is_told_apart(cell) {
                    return refuse("the size of a collection that only a run knows");
                }
                if self.know.shape(cell) == Some(&Shape::Cell(Kind::Pointer)) {
                    return refuse("a number that is not known is stored where pointers are");
                }
                Ok((**term).clone())
            }
            Val::Agg(agg) if agg.fields.len() == 1 => self.to_cell(&agg.fields[0], cell),
            Val::Uninit => Err(Need::Fail(
                "memory that nothing was written to is stored".to_owned(),
            )),
            _ => refuse("a value of this kind is stored where threads share memory"),
        }
    }

    /// The object gets known to other threads.
    pub fn escape(&mut self, pointer: &Pointer) -> Run<()> {
        let object = pointer.loc.object;
        if let ObjectKey::Local(thread, ..) = self.know.key(object)
            && *thread == u32::MAX
        {
            return Ok(());
        }
        if self.know.share(object) {
            return Err(Need::Restart);
        }
        Ok(())
    }

    /// Everything that a value points to gets known to other threads.
    pub fn escape_all(&mut self, value: &Val) -> Run<()> {
        let mut pointers = Vec::new();
        value.for_each(&mut |part| {
            if let Val::Ptr(pointer) = part {
                pointers.push(pointer.clone());
            }
        });
        let mut again = false;
        for pointer in pointers {
            again |= self.escape(&pointer).is_err();
        }
        if again { Err(Need::Restart) } else { Ok(()) }
    }

    /// The value of a place.
    pub fn read(&mut self, state: &State, loc: &Loc) -> Run<Val> {
        self.read_with(state, loc, Order::NonAtomic)
    }

    /// The value of a place, where shared cells are read with this order.
    pub fn read_with(&mut self, state: &State, loc: &Loc, order: Order) -> Run<Val> {
        if self.know.is_shared(loc.object) {
            return self.read_shared(state, loc, order);
        }
        match self.know.key(loc.object).clone() {
            ObjectKey::Constant(number) => Ok(self.know.constants[number as usize].at(&loc.path)),
            ObjectKey::Local(_, depth, local, _) => {
                match state.frames.get(depth as usize).map(|f| &**f) {
                    Some(Frame::Code(code)) => Ok(code.locals[local as usize].at(&loc.path)),
                    _ => Err(Need::Fail(
                        "a variable is read after its function has returned".to_owned(),
                    )),
                }
            }
            _ => match state.heap.get(&loc.object) {
                Some(value) => Ok(value.at(&loc.path)),
                None => Err(Need::Fail("memory is read after it was freed".to_owned())),
            },
        }
    }

    /// What is at a place that only this thread sees.
    pub fn own(&self, state: &State, loc: &Loc) -> Option<Val> {
        if self.know.is_shared(loc.object) {
            return None;
        }
        match self.know.key(loc.object) {
            ObjectKey::Constant(number) => {
                Some(self.know.constants[*number as usize].at(&loc.path))
            }
            ObjectKey::Local(_, depth, local, _) => match &**state.frames.get(*depth as usize)? {
                Frame::Code(code) => Some(code.locals[*local as usize].at(&loc.path)),
                Frame::Drop(_) => None,
            },
            _ => Some(state.heap.get(&loc.object)?.at(&loc.path)),
        }
    }

    /// Where the cell of a place is: a wrapper and what it wraps are at the same place.
    pub fn cell_of(&self, loc: &Loc) -> Loc {
        let mut loc = loc.clone();
        if self.know.shape(&loc).is_none() {
            let mut outer = loc.clone();
            while self.know.shape(&outer).is_none() && outer.path.last() == Some(&Step::Field(0)) {
                outer.path.pop();
            }
            return match self.know.shape(&outer) {
                Some(Shape::Cell(_)) => outer,
                _ => loc,
            };
        }
        while let Some(Shape::Parts(ty, 1..)) = self.know.shape(&loc) {
            let step = part_step(ty, 0);
            loc = loc.then(step);
        }
        loc
    }

    /// A shared place of this type is read: where it is a pointer, so is what the cell holds, even if it was null so far.
    pub fn expect_type(&mut self, loc: &Loc, ty: &Ty) {
        if matches!(ty, Ty::Ptr(_) | Ty::Ref(_)) && self.know.is_shared(loc.object) {
            let cell = self.cell_of(loc);
            if let Some(Shape::Cell(Kind::Int(_))) = self.know.shape(&cell) {
                self.know.learn(&cell, Shape::Cell(Kind::Pointer));
            }
        }
    }

    fn read_shared(&mut self, state: &State, loc: &Loc, order: Order) -> Run<Val> {
        match self.know.shape(loc).cloned() {
            None => {
                let mut outer = loc.clone();
                while self.know.shape(&outer).is_none()
                    && outer.path.last() == Some(&Step::Field(0))
                {
                    outer.path.pop();
                }
                match self.know.shape(&outer) {
                    Some(Shape::Cell(kind)) => {
                        let kind = *kind;
                        self.read_cell(state, &outer, kind, order)
                    }
                    _ => Ok(Val::Uninit),
                }
            }
            Some(Shape::Cell(kind)) => self.read_cell(state, loc, kind, order),
            Some(Shape::Parts(ty, count)) => {
                let mut fields = Vec::with_capacity(count);
                for at in 0..count {
                    let step = part_step(&ty, at);
                    fields.push(self.read_shared(state, &loc.then(step), order)?);
                }
                Ok(Val::Agg(Rc::new(Agg {
                    ty,
                    variant: None,
                    fields,
                })))
            }
            Some(Shape::Variants(ty, variants)) => {
                let variant = self.read_tag(state, loc, &variants)?;
                let Some((_, count)) = variants.iter().find(|(v, _)| *v == variant) else {
                    return Ok(Val::Uninit);
                };
                let inner = loc.then(Step::Variant(variant));
                let mut fields = Vec::with_capacity(*count);
                for at in 0..*count {
                    let part = inner.then(Step::Field(at as u16));
                    fields.push(self.read_shared(state, &part, order)?);
                }
                Ok(Val::Agg(Rc::new(Agg {
                    ty,
                    variant: Some(variant),
                    fields,
                })))
            }
        }
    }

    /// Which variant a shared enum is.
    pub fn read_tag(&mut self, state: &State, loc: &Loc, variants: &[(i32, usize)]) -> Run<i32> {
        let cell = loc.then(Step::Tag);
        let kind = Kind::Int(IntTy::ISIZE);
        if self.sets_initial(loc.object) {
            return match self.init.get(&cell) {
                Some(value) => Ok(value.known().unwrap_or(0) as i32),
                None => Err(Need::Fail(
                    "memory is read before anything is written".to_owned(),
                )),
            };
        }
        if let Some(tag) = self.unchanging(&cell).and_then(Val::known) {
            return Ok(tag as i32);
        }
        let order = Order::NonAtomic;
        let tag = self.ask(
            state,
            Need::Load {
                cell: cell.clone(),
                kind,
                order,
            },
        )?;
        if let Some(tag) = tag.known() {
            return match wrong_read(arith::stored(tag)) {
                Some(wrong) => Err(wrong),
                None => Ok(tag as i32),
            };
        }
        let numbers = variants.iter().map(|(v, _)| i64::from(*v));
        let numbers: Vec<i64> = numbers.chain(self.wrong_values(&cell, true)).collect();
        let chosen = self.one_of(state, &tag, &numbers)?;
        let chosen = arith::stored(chosen.known().unwrap_or(0));
        match wrong_read(chosen) {
            Some(wrong) => Err(wrong),
            None => Ok(chosen as i32),
        }
    }

    /// What must not be read from a cell, but can be.
    fn wrong_values(&self, cell: &Loc, plain: bool) -> Vec<i64> {
        let mut wrong = Vec::new();
        let freed = self.know.freed.contains(&cell.object);
        if plain && (freed || !self.init.contains_key(cell)) {
            wrong.push(UNSET);
        }
        if freed {
            wrong.push(FREED);
        }
        wrong
    }

    /// Which of these numbers a register holds; where it is none of them, a limit is met.
    pub fn one_of_or(
        &mut self,
        state: &State,
        number: &Val,
        numbers: &[i64],
        limit: &str,
    ) -> Run<Val> {
        let Val::Sym(term, _) = number else {
            return Ok(number.clone());
        };
        let known = |number: &i64| arith::equal((**term).clone(), *number);
        let known = numbers
            .iter()
            .map(known)
            .reduce(|a, b| Expr::binary(BinaryOp::Or, a, b));
        let known = known.unwrap_or(Expr::Const(0));
        let known = arith::simplify(&known, IntTy::BOOL);
        if !self.truth(state, &known)? {
            return Err(Need::Bound(limit.to_owned()));
        }
        self.one_of(state, number, numbers)
    }

    /// Which of these numbers a register holds, which is one of them.
    pub fn one_of(&mut self, state: &State, number: &Val, numbers: &[i64]) -> Run<Val> {
        let Val::Sym(term, ty) = number else {
            return Ok(number.clone());
        };
        let choice = |number: &i64| {
            let value = Val::Int(ty.wrap(i128::from(*number)), *ty);
            (arith::equal((**term).clone(), *number), value)
        };
        let choices: Vec<_> = numbers.iter().map(choice).collect();
        if choices.is_empty() {
            // Nothing was stored there so far; a later round knows more.
            return Err(Need::Skip);
        }
        self.ask(state, Need::Fork(choices))
    }

    fn read_cell(&mut self, state: &State, cell: &Loc, kind: Kind, order: Order) -> Run<Val> {
        if self.sets_initial(cell.object) {
            let value = self.init.get(cell).cloned().unwrap_or(Val::Uninit);
            return Ok(self.itself(value));
        }
        if let Some(value) = self.unchanging(cell) {
            return Ok(self.itself(value.clone()));
        }
        let need = Need::Load {
            cell: cell.clone(),
            kind,
            order,
        };
        let value = self.ask(state, need)?;
        self.read_value(state, cell, kind, value, order == Order::NonAtomic)
    }

    /// What was read from a cell as a value: pointers are told apart, and memory that nothing was written to is an error.
    fn read_value(
        &mut self,
        state: &State,
        cell: &Loc,
        kind: Kind,
        value: Val,
        plain: bool,
    ) -> Run<Val> {
        let wrong = self.wrong_values(cell, plain);
        if let Some(number) = value.known()
            && let Some(wrong) = wrong_read(arith::stored(number))
        {
            return Err(wrong);
        }
        if kind == Kind::Pointer {
            let mut codes = self.know.holds(cell);
            codes.extend(wrong);
            let value = self.one_of(state, &value, &codes)?;
            if let Some(wrong) = value.known().and_then(|n| wrong_read(arith::stored(n))) {
                return Err(wrong);
            }
            return Ok(self.decoded(&value));
        }
        if self.is_told_apart(cell) {
            let mut numbers = self.know.holds(cell);
            numbers.extend(wrong);
            let value = self.one_of(state, &value, &numbers)?;
            return match value.known().and_then(|n| wrong_read(arith::stored(n))) {
                Some(wrong) => Err(wrong),
                None => Ok(value),
            };
        }
        let Val::Sym(term, _) = &value else {
            return Ok(value);
        };
        if wrong.is_empty() {
            return Ok(value);
        }
        let mut right = Expr::Const(1);
        let mut choices = Vec::new();
        for number in wrong {
            let differs = Expr::binary(BinaryOp::NotEqual, (**term).clone(), Expr::Const(number));
            right = match right {
                Expr::Const(_) => differs,
                right => Expr::binary(BinaryOp::And, right, differs),
            };
            let value = Val::Int(i128::from(number), IntTy::ISIZE);
            choices.push((arith::equal((**term).clone(), number), value));
        }
        choices.insert(0, (right, Val::bool(true)));
        let chosen = self.ask(state, Need::Fork(choices))?;
        match wrong_read(arith::stored(chosen.known().unwrap_or(0))) {
            Some(wrong) => Err(wrong),
            None => Ok(value),
        }
    }

    /// Writes a place.
    pub fn write(&mut self, state: &mut State, loc: &Loc, value: Val) -> Run<()> {
        self.write_with(state, loc, value, Order::NonAtomic)
    }

    /// Writes a place, where shared cells are written with this order.
    pub fn write_with(
        &mut self,
        state: &mut State,
        loc: &Loc,
        value: Val,
        order: Order,
    ) -> Run<()> {
        if self.know.is_shared(loc.object) {
            if self.initial && !self.touched.contains(&loc.object) {
                self.touched.insert(loc.object);
                self.fresh.insert(loc.object);
            }
            return self.write_shared(state, loc, &value, order);
        }
        match self.know.key(loc.object).clone() {
            ObjectKey::Local(_, depth, local, _) => {
                let Some(frame) = state.frames.get_mut(depth as usize) else {
                    return Err(Need::Fail(
                        "a variable is written after its function has returned".to_owned(),
                    ));
                };
                if let Frame::Code(code) = Rc::make_mut(frame) {
                    write_part(&mut code.locals[local as usize], &loc.path, value);
                }
                Ok(())
            }
            ObjectKey::Heap(..) | ObjectKey::Static(_) => {
                match Rc::make_mut(&mut state.heap).get_mut(&loc.object) {
                    Some(old) => {
                        write_part(old, &loc.path, value);
                        Ok(())
                    }
                    None => Err(Need::Fail(
                        "memory is written after it was freed".to_owned(),
                    )),
                }
            }
            _ => refuse("a constant is written"),
        }
    }

    fn write_shared(&mut self, state: &State, loc: &Loc, value: &Val, order: Order) -> Run<()> {
        match value {
            Val::Uninit => Ok(()),
            Val::Int(_, ty) | Val::Sym(_, ty) => {
                self.write_cell(state, loc, Kind::Int(*ty), value, order)
            }
            Val::Ptr(_) => self.write_cell(state, loc, Kind::Pointer, value, order),
            Val::Fn(..) | Val::Text(_) => {
                let value = self.stands_for(value);
                self.write_cell(state, loc, Kind::Pointer, &value, order)
            }
            Val::Agg(agg) => {
                let count = agg.fields.len();
                if let Some(variant) = agg.variant {
                    let shape = Shape::Variants(agg.ty.clone(), vec![(variant, count)]);
                    if !self.know.learn(loc, shape) {
                        return refuse("a place that threads share is used as two types");
                    }
                    let tag = Val::Int(i128::from(variant), IntTy::ISIZE);
                    self.write_at(
                        state,
                        &loc.then(Step::Tag),
                        Kind::Int(IntTy::ISIZE),
                        &tag,
                        order,
                    )?;
                    let inner = loc.then(Step::Variant(variant));
                    for (at, field) in agg.fields.iter().enumerate() {
                        self.write_shared(
                            state,
                            &inner.then(Step::Field(at as u16)),
                            field,
                            order,
                        )?;
                    }
                    return Ok(());
                }
                if !self.know.learn(loc, Shape::Parts(agg.ty.clone(), count)) {
                    // A wrapper is written where what it wraps was.
                    return match agg.fields.as_slice() {
                        [only] => self.write_shared(state, loc, only, order),
                        _ => refuse("a place that threads share is used as two types"),
                    };
                }
                for (at, field) in agg.fields.iter().enumerate() {
                    let step = part_step(&agg.ty, at);
                    self.write_shared(state, &loc.then(step), field, order)?;
                }
                Ok(())
            }
        }
    }

    fn write_cell(
        &mut self,
        state: &State,
        loc: &Loc,
        kind: Kind,
        value: &Val,
        order: Order,
    ) -> Run<()> {
        let cell = self.cell_of(loc);
        if !self.know.learn(&cell, Shape::Cell(kind)) {
            return refuse("a place that threads share is used as two types");
        }
        self.write_at(state, &cell, kind, value, order)
    }

    fn write_at(
        &mut self,
        state: &State,
        cell: &Loc,
        kind: Kind,
        value: &Val,
        order: Order,
    ) -> Run<()> {
        let told;
        let value = match value {
            Val::Sym(..) if self.is_told_apart(cell) => {
                let sizes: Vec<i64> = (0..MAX_SIZES as i64).collect();
                let limit =
                    format!("a collection that threads share with more than {MAX_SIZES} elements");
                told = self.one_of_or(state, value, &sizes, &limit)?;
                &told
            }
            value => value,
        };
        let number = self.to_cell(value, cell)?;
        if self.sets_initial(cell.object) {
            self.init.insert(cell.clone(), value.clone());
            return Ok(());
        }
        if self.know.freed.contains(&cell.object) && !self.allocating {
            // The check that the memory still lives; where the write is atomic, so is the check.
            let check = if order == Order::NonAtomic {
                order
            } else {
                Order::Relaxed
            };
            let need = Need::Load {
                cell: cell.clone(),
                kind,
                order: check,
            };
            let old = self.ask(state, need)?;
            if let Some(term) = arith::term(&old) {
                let freed = arith::equal(term.clone(), FREED);
                let lives = Expr::binary(BinaryOp::NotEqual, term, Expr::Const(FREED));
                let choices = vec![(lives, Val::bool(true)), (freed, Val::bool(false))];
                if self.ask(state, Need::Fork(choices))?.known() == Some(0) {
                    return Err(Need::Fail(
                        "memory is written after it was freed".to_owned(),
                    ));
                }
            }
        }
        let need = Need::Store {
            cell: cell.clone(),
            value: number,
            order,
        };
        self.ask(state, need)?;
        Ok(())
    }

    /// The cell behind a pointer to an atomic, and what it holds.
    pub fn atomic_cell(&mut self, loc: &Loc, value: Option<&Val>) -> (Loc, Kind) {
        let cell = self.cell_of(loc);
        let kind = match value {
            Some(Val::Ptr(_)) => Kind::Pointer,
            Some(Val::Int(_, ty) | Val::Sym(_, ty)) => Kind::Int(*ty),
            _ => Kind::Int(IntTy::USIZE),
        };
        let kind = match self.know.shape(&cell) {
            Some(Shape::Cell(known)) if kind != Kind::Pointer => *known,
            _ => kind,
        };
        self.know.learn(&cell, Shape::Cell(kind));
        (cell, kind)
    }

    /// A read-modify-write of a shared cell: the old value.
    pub fn update(
        &mut self,
        state: &State,
        cell: &Loc,
        kind: Kind,
        action: RmwAction,
        order: Order,
    ) -> Run<Val> {
        let need = Need::Rmw {
            cell: cell.clone(),
            kind,
            action,
            order,
        };
        let value = self.ask(state, need)?;
        self.read_value(state, cell, kind, value, false)
    }

    /// Whether the first thread still sets the initial values of this place.
    pub fn initial_cell(&mut self, loc: &Loc) -> Option<Val> {
        if !self.know.is_shared(loc.object) || !self.sets_initial(loc.object) {
            return None;
        }
        let cell = self.cell_of(loc);
        Some(self.init.get(&cell).cloned().unwrap_or(Val::Uninit))
    }
}

/// How the parts of a type are reached.
pub fn part_step(ty: &Ty, at: usize) -> Step {
    match ty {
        Ty::Array(..) => Step::Index(at as u32),
        _ => Step::Field(at as u16),
    }
}

/// Writes into a value, through wrappers.
fn write_part(whole: &mut Val, path: &Path, value: Val) {
    // A number written where its wrapper is goes into the wrapper.
    if !matches!(value, Val::Agg(_) | Val::Uninit)
        && let Val::Agg(agg) = whole.at(path)
        && !agg.fields.is_empty()
        && !matches!(agg.ty, Ty::Never)
        && agg.variant.is_none()
    {
        let mut inner = path.clone();
        inner.push(part_step(&agg.ty, 0));
        return write_part(whole, &inner, value);
    }
    whole.set(path, value);
}
