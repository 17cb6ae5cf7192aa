//! The machine: one statement after the other.

use super::knowledge::{Knowledge, ObjectKey, Shape};
use super::need::{Need, Run, refuse};
use super::state::{Code, DropItem, Frame, State};
use super::value::{Loc, ObjectId, Step, Val};
use crate::index::Index;
use crate::mir::{
    FnPath, IntTy, Operand, Place, Projection, Rvalue, SourceSpan, Statement, Substitution,
    Terminator, Ty,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;

/// No function calls deeper than this.
const MAX_DEPTH: usize = 120;

/// What is said of a panic that says no more of itself.
pub const PANIC: &str = "the thread panics";

/// Executes threads of a program.
pub struct Machine<'a> {
    /// The code.
    pub index: &'a Index,
    /// What has been learned.
    pub know: Knowledge,
    /// The thread that is executed.
    pub thread: u32,
    /// Whether it does something that another thread with the same code would not do: it asks who it is, or starts a thread.
    pub personal: bool,
    /// Whether numbers that take ever new values go into registers.
    pub widens: bool,
    /// Which states are one control point.
    pub merging: super::build::Merging,
    /// Whether a constant is computed.
    pub constant: bool,
    /// Whether the first thread is before everything that happens beside others: it sets initial values.
    pub initial: bool,
    /// Whether it has spawned a thread already.
    pub spawned: bool,
    /// Objects made since the last thread was spawned.
    pub fresh: FxHashSet<ObjectId>,
    /// Objects that were written in the initial part.
    pub touched: FxHashSet<ObjectId>,
    /// Initial values of cells.
    pub init: FxHashMap<Loc, Val>,
    /// Threads that begin at once, not when another starts them.
    pub at_once: FxHashSet<u32>,
    /// Threads that are spawned in this round.
    pub started: FxHashSet<u32>,
    /// Statics whose initial values are set.
    pub statics: FxHashSet<ObjectId>,
    /// The types of allocations.
    pub types: FxHashMap<ObjectId, Ty>,
    /// What the call that was just executed drops.
    pub pending_drop: Option<Loc>,
    /// Whether what is written is memory just allocated.
    pub allocating: bool,
    /// Results of the present statement that were used already.
    pub position: usize,
    /// Values of constants.
    pub evaluated: FxHashMap<(u32, Rc<Substitution>), Val>,
    /// How many constants are being computed, each for the one before it.
    pub constants_within: usize,
    /// How many types are being found out, each for the one before it.
    pub types_within: std::cell::Cell<usize>,
    /// What is live at the beginning of each block, by body.
    pub live: FxHashMap<u32, Rc<Vec<Vec<bool>>>>,
    /// The functions that drop values of types, as they were found.
    pub drops: RefCell<FxHashMap<Ty, Option<(usize, Substitution)>>>,
    /// How types lie in memory, where that is known.
    pub layouts: FxHashMap<Ty, Option<super::layout::Layout>>,
    /// The bodies that paths stand for, as they were found.
    pub functions: RefCell<FxHashMap<FnPath, Option<(usize, Substitution)>>>,
    /// Whether numbers that only a run knows are told apart where they are compared.
    pub tells_apart: bool,
    /// No thread has more control points than this.
    pub max_points: usize,
    /// Whether memory that is never freed is looked for.
    pub leaks: bool,
    /// Whether vectors that threads share have room for a few elements only.
    pub few_elements: bool,
    /// Whether the first thread has done everything that it does, and looks for such memory.
    pub ending: bool,
    /// Whether a test library's model is executed, in which every thread has to end.
    pub whole: bool,
    /// What is not supported of what was met in this round.
    pub trouble: Option<super::build::Trouble>,
    /// Functions that were left out because they do nothing that matters here.
    pub ignored: FxHashSet<String>,
}

impl<'a> Machine<'a> {
    /// A machine that has learned nothing.
    pub fn new(index: &'a Index) -> Self {
        Machine {
            index,
            know: Knowledge::default(),
            thread: 0,
            personal: false,
            widens: false,
            merging: Default::default(),
            constant: false,
            initial: false,
            spawned: false,
            fresh: FxHashSet::default(),
            touched: FxHashSet::default(),
            init: FxHashMap::default(),
            at_once: FxHashSet::default(),
            started: FxHashSet::default(),
            statics: FxHashSet::default(),
            types: FxHashMap::default(),
            pending_drop: None,
            allocating: false,
            position: 0,
            evaluated: FxHashMap::default(),
            constants_within: 0,
            types_within: Default::default(),
            live: FxHashMap::default(),
            drops: RefCell::default(),
            layouts: FxHashMap::default(),
            functions: RefCell::default(),
            trouble: None,
            tells_apart: false,
            max_points: usize::MAX,
            whole: false,
            leaks: false,
            few_elements: false,
            ending: false,
            ignored: FxHashSet::default(),
        }
    }

    /// The frame on top, which is a function.
    pub fn code<'s>(&self, state: &'s State) -> Run<&'s Code> {
        match state.frames.last().map(|f| &**f) {
            Some(Frame::Code(code)) => Ok(code),
            _ => refuse("no function is executed"),
        }
    }

    fn code_mut<'s>(&self, state: &'s mut State) -> Run<&'s mut Code> {
        match state.frames.last_mut().map(Rc::make_mut) {
            Some(Frame::Code(code)) => Ok(code),
            _ => refuse("no function is executed"),
        }
    }

    /// The place that is a local of the function on top.
    pub fn local(&mut self, state: &State, local: usize) -> Run<Loc> {
        let depth = state.frames.len() as u32 - 1;
        let number = self.code(state)?.number;
        Ok(self.local_at(depth, local, number))
    }

    /// The place that is a local of a function at this depth.
    pub fn local_at(&mut self, depth: u32, local: usize, body: u32) -> Loc {
        let key = ObjectKey::Local(self.thread, depth, local as u32, body);
        let object = self.know.object(key);
        Loc {
            object,
            path: Vec::new(),
        }
    }

    /// The innermost place in the source, as the compiler gives it, followed by the calls that lead there.
    pub fn spans(&self, state: &State) -> Vec<SourceSpan> {
        let mut spans = Vec::new();
        for frame in state.frames.iter().rev() {
            if let Frame::Code(code) = &**frame {
                if let Some(block) = code.body.blocks.get(code.block as usize) {
                    let at = code.statement as usize;
                    let span = match block.statements.get(at) {
                        Some((_, span)) => Some(span),
                        None => block.terminator.as_ref().map(|(_, span)| span),
                    };
                    if spans.is_empty() || code.call == SourceSpan::default() {
                        spans.extend(span.cloned());
                        if span.is_some_and(is_of_library) {
                            spans.extend(written_before(&code.body, code.block, code.statement));
                        }
                    }
                }
                spans.push(code.call.clone());
            }
        }
        spans
    }

    /// One statement, terminator or piece of a drop. Where it needs something, the state stays as it was.
    pub fn step(&mut self, state: &mut State) -> Run<()> {
        self.pending_drop = None;
        self.position = 0;
        self.ending = false;
        let (body, block, statement) = match state.frames.last().map(|f| &**f) {
            None => return Err(Need::Finished),
            Some(Frame::Drop(items)) => {
                let items = items.clone();
                return self.on_a_copy(state, |machine, next| machine.drop_step(next, &items));
            }
            Some(Frame::Code(code)) => (code.body.clone(), code.block, code.statement),
        };
        let Some(block) = body.blocks.get(block as usize) else {
            return refuse("a call that does not return has returned");
        };
        match block.statements.get(statement as usize) {
            Some((statement @ Statement::CopyNonOverlapping(..), _)) => {
                self.on_a_copy(state, |machine, next| {
                    machine.statement(next, statement)?;
                    machine.code_mut(next)?.statement += 1;
                    Ok(())
                })?;
            }
            // The others change the state only when they need nothing any more.
            Some((statement, _)) => {
                self.statement(state, statement)?;
                self.code_mut(state)?.statement += 1;
            }
            None => match &block.terminator {
                Some((terminator @ (Terminator::Call(..) | Terminator::Asm(..)), span)) => {
                    self.on_a_copy(state, |machine, next| {
                        machine.terminator(next, terminator, span)
                    })?;
                }
                Some((terminator, span)) => self.terminator(state, terminator, span)?,
                None => return refuse("a block without an end"),
            },
        }
        state.done();
        Ok(())
    }

    /// Does something that may need more when it has already changed the state: then nothing has happened.
    fn on_a_copy(
        &mut self,
        state: &mut State,
        change: impl FnOnce(&mut Self, &mut State) -> Run<()>,
    ) -> Run<()> {
        let mut next = state.clone();
        change(self, &mut next)?;
        *state = next;
        Ok(())
    }

    fn statement(&mut self, state: &mut State, statement: &Statement) -> Run<()> {
        match statement {
            Statement::Nop | Statement::StorageLive(_) => Ok(()),
            Statement::StorageDead(local) => {
                self.code_mut(state)?.locals[*local] = Val::Uninit;
                Ok(())
            }
            Statement::Assign(place, rvalue) => {
                let mut moved = Vec::new();
                let target = self.place(state, place)?.loc;
                if let Rvalue::ThreadLocal(name) = rvalue {
                    self.begin_thread_local(state, name)?;
                }
                let value = self.rvalue(state, rvalue, &mut moved, Some(place))?;
                if let (Some(Projection::Deref), Val::Int(_, new) | Val::Sym(_, new)) =
                    (place.projection.last(), &value)
                {
                    let old = self.own(state, &target);
                    self.same_bits(state, old.as_ref(), *new)?;
                }
                self.write(state, &target, value)?;
                self.forget(state, moved, &target);
                Ok(())
            }
            Statement::SetDiscriminant(place, variant) => {
                let target = self.place(state, place)?.loc;
                let value = Val::Int(*variant, IntTy::ISIZE);
                self.write(state, &target.then(Step::Tag), value)
            }
            Statement::CopyNonOverlapping(target, source, count) => {
                let mut moved = Vec::new();
                let target = self.operand(state, target, &mut moved)?;
                let source = self.operand(state, source, &mut moved)?;
                let count = self.operand(state, count, &mut moved)?;
                self.copy(state, &target, &source, &count)
            }
        }
    }

    /// Places that were moved away hold nothing, so that states that differ only there are one.
    pub fn forget(&mut self, state: &mut State, moved: Vec<Loc>, except: &Loc) {
        for loc in moved {
            if loc != *except && !self.know.is_shared(loc.object) {
                let _ = self.write(state, &loc, Val::Uninit);
            }
        }
    }

    /// Goes on in this block.
    pub fn goto(&mut self, state: &mut State, block: usize) -> Run<()> {
        let top = state.frames.len() - 1;
        self.goto_at(state, top, block);
        Ok(())
    }

    /// The function at this depth goes on in this block.
    pub fn goto_at(&mut self, state: &mut State, depth: usize, block: usize) {
        let Some(Frame::Code(code)) = state.frames.get_mut(depth).map(Rc::make_mut) else {
            return;
        };
        code.block = block as u32;
        code.statement = 0;
        let live = super::live::live(&mut self.live, code.number, &code.body);
        if let Some(live) = live.get(block) {
            for (local, live) in live.iter().enumerate() {
                if !live && code.locals[local] != Val::Uninit {
                    code.locals[local] = Val::Uninit;
                }
            }
        }
    }

    fn terminator(
        &mut self,
        state: &mut State,
        terminator: &Terminator,
        span: &SourceSpan,
    ) -> Run<()> {
        match terminator {
            Terminator::Goto(block) => self.goto(state, *block),
            Terminator::Return => self.return_(state),
            Terminator::Unreachable => Err(Need::Fail(
                "code that cannot be reached is reached".to_owned(),
            )),
            Terminator::Unwind => Err(Need::Fail("a panic goes on".to_owned())),
            Terminator::Unsupported(text) => refuse(format!(
                "this is not supported: {}",
                text.chars().take(60).collect::<String>()
            )),
            Terminator::Switch(operand, values, otherwise) => {
                let mut moved = Vec::new();
                let value = self.operand(state, operand, &mut moved)?;
                let next = self.choose(state, &value, values, *otherwise)?;
                let target = Loc {
                    object: u32::MAX,
                    path: Vec::new(),
                };
                self.forget(state, moved, &target);
                self.goto(state, next)
            }
            Terminator::Assert(operand, expected, message, next) => {
                let mut moved = Vec::new();
                let value = self.operand(state, operand, &mut moved)?;
                let holds = self.truth(state, &value)?;
                if holds == *expected {
                    return self.goto(state, *next);
                }
                Err(self.panic(state, &format!("{PANIC}: {}", assertion_in_words(message))))
            }
            Terminator::Drop(place, next) => {
                let target = self.place(state, place)?;
                // What a pattern has left of an array.
                let part = place.projection.last();
                let count = match (part, target.length) {
                    (Some(crate::mir::Projection::Subslice(..)), Some(length)) => length,
                    _ => 1,
                };
                self.goto(state, *next)?;
                let each = (0..count).rev();
                let each = each.filter_map(|at| super::place::element(&target.loc, at));
                let each = each.filter(|loc| self.needs_drop(state, loc));
                let items: Vec<DropItem> = each.map(DropItem::Value).collect();
                if !items.is_empty() {
                    state.frames.push(Rc::new(Frame::Drop(items)));
                }
                Ok(())
            }
            Terminator::Asm(operand, next) => {
                // It may have changed what it was given, which no other thread sees.
                if let Some(operand) = operand {
                    let pointer = self.operand(state, operand, &mut Vec::new())?;
                    match self.to_pointer(state, pointer)? {
                        Val::Ptr(pointer) if !self.know.is_shared(pointer.loc.object) => {
                            self.write(state, &pointer.loc.clone(), Val::Uninit)?;
                        }
                        _ => return refuse("assembler that changes memory that threads share"),
                    }
                }
                if !self.initial {
                    self.ask(state, Need::Fence(palisade_lang::Order::SeqCst))?;
                }
                self.goto(state, *next)
            }
            Terminator::Call(place, callee, arguments, next) => {
                self.call(state, place, callee, arguments, *next, span)
            }
        }
    }

    /// A panic: an error of the program, but where the program catches it.
    pub fn panic(&self, state: &State, message: &str) -> Need {
        let catches = |frame: &Rc<Frame>| matches!(&**frame, Frame::Code(code) if code.body.path == "std::panic::catch_unwind");
        match state.frames.iter().any(catches) {
            true => Need::Bound(
                "a panic that catch_unwind stops, and what it unwinds is not followed".to_owned(),
            ),
            false => Need::Fail(message.to_owned()),
        }
    }

    /// Whether a condition holds.
    pub fn truth(&mut self, state: &State, value: &Val) -> Run<bool> {
        match value {
            Val::Int(value, _) => Ok(*value != 0),
            Val::Sym(term, crate::mir::IntTy::BOOL)
                if matches!(**term, palisade_lang::Expr::Atom(_)) =>
            {
                let choice = |value: bool| {
                    let is = super::arith::equal((**term).clone(), i64::from(value));
                    (is, Val::bool(value))
                };
                let choices = vec![choice(true), choice(false)];
                Ok(self.ask(state, Need::Fork(choices))?.known() == Some(1))
            }
            Val::Sym(term, _) => {
                let not = super::arith::not(&Val::Sym(term.clone(), crate::mir::IntTy::BOOL));
                let not = not.as_ref().and_then(super::arith::term);
                let Some(not) = not else {
                    return refuse("a condition that is no number");
                };
                let choices = vec![((**term).clone(), Val::bool(true)), (not, Val::bool(false))];
                Ok(self.ask(state, Need::Fork(choices))?.known() == Some(1))
            }
            Val::Uninit => Err(Need::Fail(
                "a condition reads memory that nothing was written to".to_owned(),
            )),
            _ => refuse("a condition that is no number"),
        }
    }

    /// Where a `match` goes on.
    fn choose(
        &mut self,
        state: &State,
        value: &Val,
        values: &[(i128, usize)],
        otherwise: Option<usize>,
    ) -> Run<usize> {
        use super::arith::{equal, stored};
        match value {
            Val::Int(value, ty) => {
                let known = values.iter().find(|(v, _)| ty.wrap(*v) == *value);
                match known.map(|(_, block)| *block).or(otherwise) {
                    Some(block) => Ok(block),
                    None => Err(Need::Fail("no case of a match fits".to_owned())),
                }
            }
            Val::Sym(term, ty) => {
                let mut choices = Vec::new();
                let mut others: Option<super::arith::Term> = None;
                for (at, (number, _)) in values.iter().enumerate() {
                    let choice = Val::usize(at);
                    // The compiler writes -1 of 8 bits as 255.
                    let number = stored(ty.wrap(*number));
                    choices.push((equal((**term).clone(), number), choice));
                    let differs = palisade_lang::Expr::binary(
                        palisade_lang::BinaryOp::NotEqual,
                        (**term).clone(),
                        palisade_lang::Expr::Const(number),
                    );
                    others = Some(match others {
                        None => differs,
                        Some(others) => palisade_lang::Expr::binary(
                            palisade_lang::BinaryOp::And,
                            others,
                            differs,
                        ),
                    });
                }
                if let (Some(_), Some(others)) = (otherwise, others) {
                    choices.push((others, Val::usize(values.len())));
                }
                let chosen = self.ask(state, Need::Fork(choices))?;
                let at = chosen.known().unwrap_or(0) as usize;
                match values.get(at).map(|(_, block)| *block).or(otherwise) {
                    Some(block) => Ok(block),
                    None => refuse("a match without a case"),
                }
            }
            Val::Ptr(_) => match otherwise {
                Some(block) => Ok(block),
                None => refuse("a match on a pointer"),
            },
            Val::Uninit => Err(Need::Fail(
                "a match reads memory that nothing was written to".to_owned(),
            )),
            _ => refuse("a match on something that is no number"),
        }
    }

    fn return_(&mut self, state: &mut State) -> Run<()> {
        let result = self.local(state, 0)?;
        let value = self.read(state, &result)?;
        let target = self.code(state)?.target.clone();
        if let Some(target) = target {
            self.write(state, &target, value)?;
        }
        if state.frames.len() == 1 {
            self.look_for_leaks(state)?;
            return Err(Need::Finished);
        }
        state.frames.pop();
        Ok(())
    }

    /// Puts a function on the stack. Its result goes to `target`.
    pub fn push(
        &mut self,
        state: &mut State,
        number: usize,
        generic: Rc<Substitution>,
        arguments: Vec<Val>,
        target: Option<Loc>,
        call: &SourceSpan,
    ) -> Run<()> {
        if state.frames.len() >= MAX_DEPTH {
            return Err(Need::Bound(format!("calls deeper than {MAX_DEPTH}")));
        }
        let body = self.index.bodies[number].clone();
        if let Some(unknown) = &body.unknown {
            return refuse(format!(
                "{}, which the compiler writes in a way that is not known here: {unknown}",
                body.path
            ));
        }
        if body.arguments != arguments.len() {
            return refuse(format!(
                "{} takes {} arguments, and gets {}",
                body.path,
                body.arguments,
                arguments.len()
            ));
        }
        self.whole |= body.path.starts_with("std::model::");
        let depth = state.frames.len() as u32;
        let mut locals = vec![Val::Uninit; body.locals.len()];
        for (at, value) in arguments.into_iter().enumerate() {
            let loc = self.local_at(depth, at + 1, number as u32);
            if self.know.is_shared(loc.object) {
                self.write(state, &loc, value)?;
            } else {
                locals[at + 1] = value;
            }
        }
        state.frames.push(Rc::new(Frame::Code(Code {
            body,
            number: number as u32,
            arguments: generic,
            locals,
            block: 0,
            statement: 0,
            target,
            call: call.clone(),
        })));
        Ok(())
    }

    /// A value that a statement uses.
    pub fn operand(&mut self, state: &State, operand: &Operand, moved: &mut Vec<Loc>) -> Run<Val> {
        match operand {
            Operand::Const(constant) => self.constant_value(state, constant),
            Operand::Copy(place) => self.read_place(state, place),
            Operand::Move(place) => {
                let found = self.place(state, place)?;
                self.expect_type(&found.loc, &found.ty);
                let value = self.read(state, &found.loc)?;
                if !place
                    .projection
                    .iter()
                    .any(|p| matches!(p, Projection::Deref))
                {
                    moved.push(found.loc);
                }
                Ok(value)
            }
        }
    }

    fn read_place(&mut self, state: &State, place: &Place) -> Run<Val> {
        let found = self.place(state, place)?;
        self.expect_type(&found.loc, &found.ty);
        let value = self.read(state, &found.loc)?;
        if let (Some(Projection::Deref), Ty::Int(ty)) = (place.projection.last(), &found.ty) {
            self.same_bits(state, Some(&value), *ty)?;
        }
        Ok(value)
    }

    /// A pointer to a number of other bits, or with another sign, sees a part of it, or something else. The models, whose pointers have any type, know what they do.
    fn same_bits(&self, state: &State, there: Option<&Val>, seen: IntTy) -> Run<()> {
        let Some(Val::Int(_, ty) | Val::Sym(_, ty)) = there else {
            return Ok(());
        };
        if *ty == seen || self.code(state)?.body.path.starts_with("std::") {
            return Ok(());
        }
        refuse(format!(
            "the bits of a {} as {}",
            Ty::Int(*ty),
            Ty::Int(seen)
        ))
    }

    /// Whether dropping what is there does anything.
    pub fn needs_drop(&mut self, state: &State, loc: &Loc) -> bool {
        if self.know.is_shared(loc.object) {
            return match self.know.shape(loc).cloned() {
                Some(Shape::Parts(ty, count)) => {
                    if keeps(&ty) {
                        return false;
                    }
                    is_box(&ty)
                        || self.drop_impl(&ty).is_some()
                        || (0..count).any(|at| {
                            self.needs_drop(state, &loc.then(super::memory::part_step(&ty, at)))
                        })
                }
                Some(Shape::Variants(ty, variants)) => {
                    self.drop_impl(&ty).is_some()
                        || variants.iter().any(|(variant, count)| {
                            let inner = loc.then(Step::Variant(*variant));
                            (0..*count).any(|at| {
                                self.needs_drop(state, &inner.then(Step::Field(at as u16)))
                            })
                        })
                }
                Some(Shape::Cell(_)) | None => false,
            };
        }
        match self.read(state, loc) {
            Ok(value) => self.value_needs_drop(&value),
            Err(_) => false,
        }
    }

    fn value_needs_drop(&mut self, value: &Val) -> bool {
        let Val::Agg(agg) = value else { return false };
        if keeps(&agg.ty) {
            return false;
        }
        is_box(&agg.ty)
            || self.drop_impl(&agg.ty).is_some()
            || agg.fields.iter().any(|field| self.value_needs_drop(field))
    }

    fn drop_step(&mut self, state: &mut State, items: &[DropItem]) -> Run<()> {
        let Some((item, rest)) = items.split_last() else {
            state.frames.pop();
            return Ok(());
        };
        let mut todo = rest.to_vec();
        let mut call = None;
        match item {
            DropItem::Free(loc) => {
                self.free(state, loc)?;
            }
            DropItem::Value(loc) | DropItem::Parts(loc) => {
                let whole = matches!(item, DropItem::Value(_));
                if self.needs_drop(state, loc) {
                    let (ty, parts) = self.parts(state, loc)?;
                    if whole && is_box(&ty) {
                        let inner = self.read(state, loc)?;
                        if let Val::Ptr(pointer) = self.to_pointer(state, inner)? {
                            // It would be dropped again and again.
                            if todo.contains(&DropItem::Free(pointer.loc.clone())) {
                                return Err(Need::Fail("memory is freed twice".to_owned()));
                            }
                            todo.push(DropItem::Free(pointer.loc.clone()));
                            match pointer.length {
                                None => todo.push(DropItem::Value(pointer.loc.clone())),
                                Some(length) => {
                                    for at in (0..length).rev() {
                                        if let Some(loc) = super::place::element(&pointer.loc, at) {
                                            todo.push(DropItem::Value(loc));
                                        }
                                    }
                                }
                            }
                        }
                    } else if whole && let Some((number, generic)) = self.drop_impl(&ty) {
                        todo.push(DropItem::Parts(loc.clone()));
                        call = Some((number, generic, Val::pointer(loc.clone())));
                    } else {
                        todo.extend(parts.into_iter().rev().map(DropItem::Value));
                    }
                }
            }
        }
        let depth = state.frames.len() - 1;
        if let Some((number, generic, pointer)) = call {
            self.push(
                state,
                number,
                Rc::new(generic),
                vec![pointer],
                None,
                &SourceSpan::default(),
            )?;
        }
        state.done();
        state.frames[depth] = Rc::new(Frame::Drop(todo));
        Ok(())
    }

    /// The type of what is there, and its parts.
    fn parts(&mut self, state: &State, loc: &Loc) -> Run<(Ty, Vec<Loc>)> {
        let (ty, variant, count) = if self.know.is_shared(loc.object) {
            match self.know.shape(loc).cloned() {
                Some(Shape::Parts(ty, count)) => (ty, None, count),
                Some(Shape::Variants(ty, variants)) => {
                    let variant = self.read_tag(state, loc, &variants)?;
                    let count = variants
                        .iter()
                        .find(|(v, _)| *v == variant)
                        .map_or(0, |(_, n)| *n);
                    (ty, Some(variant), count)
                }
                _ => return Ok((Ty::Never, Vec::new())),
            }
        } else {
            match self.read(state, loc)? {
                Val::Agg(agg) => (agg.ty.clone(), agg.variant, agg.fields.len()),
                _ => return Ok((Ty::Never, Vec::new())),
            }
        };
        let base = match variant {
            Some(variant) => loc.then(Step::Variant(variant)),
            None => loc.clone(),
        };
        let parts = (0..count).map(|at| base.then(super::memory::part_step(&ty, at)));
        Ok((ty.clone(), parts.collect()))
    }
}

/// What the compiler says of a check of its own, without the numbers that only a run knows.
fn assertion_in_words(message: &str) -> String {
    let text = message.split('"').next().unwrap_or(message);
    let text = text.split(": the length").next().unwrap_or(text);
    text.replace(" `{}`", "")
        .replace("`{} % {}`", "a remainder")
        .replace("`{} + {}`", "an addition")
        .replace("`{} - {}`", "a subtraction")
        .replace("`{} * {}`", "a multiplication")
        .replace("`{} / {}`", "a division")
        .trim()
        .to_owned()
}

/// Whether a place is in a macro of the standard library.
pub fn is_of_library(span: &SourceSpan) -> bool {
    span.file.starts_with("/rustc/") || span.file.contains("/rustlib/src/rust/library/")
}

/// What the user wrote last before a place that a macro of the standard library made, in the order of the compiler's blocks.
fn written_before(body: &crate::mir::Body, block: u32, statement: u32) -> Option<SourceSpan> {
    let mut seen = FxHashSet::default();
    let mut todo = std::collections::VecDeque::from([(block as usize, statement as usize)]);
    while let Some((block, statement)) = todo.pop_front() {
        let found = body.blocks.get(block)?;
        let terminator = found.terminator.as_ref().map(|(_, span)| span);
        let statements = found.statements.iter().map(|(_, span)| span);
        let before: Vec<&SourceSpan> = statements.chain(terminator).take(statement).collect();
        if let Some(span) = before.into_iter().rev().find(|span| !is_of_library(span)) {
            return Some(span.clone());
        }
        for (number, other) in body.blocks.iter().enumerate() {
            let leads = match &other.terminator {
                Some((Terminator::Goto(to), _)) => *to == block,
                Some((Terminator::Switch(_, values, otherwise), _)) => {
                    values.iter().any(|(_, to)| *to == block) || *otherwise == Some(block)
                }
                Some((Terminator::Call(_, _, _, to), _)) => *to == Some(block),
                Some((Terminator::Assert(_, _, _, to) | Terminator::Drop(_, to), _)) => {
                    *to == block
                }
                _ => false,
            };
            if leads && seen.insert(number) {
                todo.push_back((number, usize::MAX));
            }
        }
    }
    None
}

/// Types whose contents are not dropped with them.
fn keeps(ty: &Ty) -> bool {
    matches!(ty, Ty::Adt(path, _) if matches!(&**path, "std::mem::ManuallyDrop" | "std::mem::MaybeUninit"))
}

fn is_box(ty: &Ty) -> bool {
    matches!(ty, Ty::Adt(path, _) if &**path == "std::boxed::Box")
}
