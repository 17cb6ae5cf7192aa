//! Memory that is never freed, looked for where that is asked.
//!
//! A run has ended when every thread that was started has ended. Memory that was allocated in it, was not freed and is not reached from a `static` is a
//! leak then, as Miri and the leak checkers of C compilers have it.
//!
//! Memory that only one thread ever sees is in that thread's state. It is lost where nothing points to it any more ([`State::lost`]), or where the thread
//! ends: no other thread has its address, so nobody can free it.
//!
//! For memory that threads share there is one more cell each: 1 from its allocation to its end. The first thread, when it has done everything else, waits for the
//! ends of the others, in the order of their numbers: a thread's number is greater than that of the thread that starts it, so whether it was started is settled when
//! it is asked. Waiting acquires what each thread's end releases; so everything that was done in the run happens before what the first thread reads
//! now, and it reads the last values. The cells are accessed with relaxed order, and order nothing that the program does itself. An allocation happens before the end of
//! the same memory, or else the program races on the memory itself; so the last value is what it seems to be. It follows pointers from the statics, and what it does
//! not reach that way must have ended. A run in which some thread never ends has no end, and nothing is said about it.

use super::arith;
use super::knowledge::{Kind, ObjectKey, Shape};
use super::machine::Machine;
use super::memory::part_step;
use super::need::{Need, Run};
use super::state::State;
use super::value::{Loc, ObjectId, Step, Val};
use crate::mir::IntTy;
use palisade_lang::{BinaryOp, Expr, Order, Relation};
use std::rc::Rc;

/// What is said of it.
pub const LEAK: &str = "memory that is allocated here is never freed";

impl Machine<'_> {
    /// Whether it is a leak if this memory is not freed.
    pub fn is_watched(&self, object: ObjectId) -> bool {
        self.leaks && !self.know.of_models.contains(&object)
    }

    /// Whether an object is allocated and not yet freed.
    fn alive_cell(&mut self, object: ObjectId) -> Loc {
        let loc = Loc {
            object: self.know.object(ObjectKey::Alive(object)),
            path: Vec::new(),
        };
        self.know.learn(&loc, Shape::Cell(Kind::Int(IntTy::USIZE)));
        self.init.entry(loc.clone()).or_insert(Val::usize(0));
        loc
    }

    /// An object was allocated.
    pub fn made(&mut self, state: &State, object: ObjectId) -> Run<()> {
        if !self.leaks {
            return Ok(());
        }
        if !self.know.made_at.contains_key(&object) {
            let spans = Rc::new(self.spans(state));
            self.know.made_at.insert(object, spans);
        }
        self.set_alive(state, object, true)
    }

    /// An object was freed.
    pub fn unmade(&mut self, state: &State, object: ObjectId) -> Run<()> {
        match self.leaks {
            true => self.set_alive(state, object, false),
            false => Ok(()),
        }
    }

    fn set_alive(&mut self, state: &State, object: ObjectId, alive: bool) -> Run<()> {
        if !self.know.is_shared(object) {
            return Ok(());
        }
        let cell = self.alive_cell(object);
        if self.sets_initial(object) {
            self.init.insert(cell, Val::usize(usize::from(alive)));
            return Ok(());
        }
        let need = Need::Store {
            cell,
            value: Expr::Const(i64::from(alive)),
            order: Order::Relaxed,
        };
        self.ask(state, need)?;
        Ok(())
    }

    /// The thread has done everything that it does.
    pub fn look_for_leaks(&mut self, state: &State) -> Run<()> {
        if !self.leaks || self.constant {
            return Ok(());
        }
        let left = state.heap.keys().copied().find(|o| self.is_watched(*o));
        if let Some(object) = state.lost.or(left) {
            return Err(Need::Leak(object));
        }
        if self.thread != 0 {
            return Ok(());
        }
        self.ending = true;
        for thread in 1..self.know.threads.len() as u32 {
            if !self.at_once.contains(&thread) {
                let start = self.start_cell(thread);
                if self.last(state, &start, &[0, 1])? != Some(1) {
                    continue;
                }
            }
            let cell = self.end_cell(thread);
            let need = Need::Wait {
                cell,
                relation: Relation::Equal,
                value: Expr::Const(1),
                order: Order::Acquire,
            };
            self.ask(state, need)?;
        }
        let reached = self.reached(state)?;
        let mut watched: Vec<ObjectId> = Vec::new();
        for (_, key) in self.know.objects() {
            if let ObjectKey::Alive(object) = key
                && self.is_watched(*object)
                && !reached.contains(object)
            {
                watched.push(*object);
            }
        }
        for object in watched {
            let cell = self.alive_cell(object);
            if self.last(state, &cell, &[0, 1])? == Some(1) {
                return Err(Need::Leak(object));
            }
        }
        Ok(())
    }

    /// What a cell holds at the end, if it is one of these.
    fn last(&mut self, state: &State, cell: &Loc, numbers: &[i64]) -> Run<Option<i64>> {
        let kind = Kind::Int(IntTy::ISIZE);
        // The program's own memory is read as plain memory, which makes no location an atomic one.
        let order = match self.know.key(cell.object) {
            ObjectKey::Alive(_) | ObjectKey::Thread(..) => Order::Relaxed,
            _ => Order::NonAtomic,
        };
        let need = Need::Load {
            cell: cell.clone(),
            kind,
            order,
        };
        let value = self.ask(state, need)?;
        let Some(term) = arith::term(&value) else {
            return Ok(None);
        };
        let mut none = Expr::Const(1);
        let mut choices = Vec::new();
        for (at, number) in numbers.iter().enumerate() {
            choices.push((arith::equal(term.clone(), *number), Val::usize(at)));
            let differs = Expr::binary(BinaryOp::NotEqual, term.clone(), Expr::Const(*number));
            none = match none {
                Expr::Const(_) => differs,
                sofar => Expr::binary(BinaryOp::And, sofar, differs),
            };
        }
        choices.push((none, Val::usize(numbers.len())));
        let chosen = self.ask(state, Need::Fork(choices))?.known();
        Ok(chosen.and_then(|at| numbers.get(at as usize)).copied())
    }

    /// The allocations to which a way leads from what lives to the end.
    fn reached(&mut self, state: &State) -> Run<Vec<ObjectId>> {
        let mut reached: Vec<ObjectId> = Vec::new();
        let mut todo: Vec<Loc> = Vec::new();
        for (object, key) in self.know.objects() {
            if matches!(key, ObjectKey::Static(_)) || self.know.of_models.contains(&object) {
                todo.push(Loc {
                    object,
                    path: Vec::new(),
                });
            }
        }
        while let Some(at) = todo.pop() {
            match self.know.shape(&at).cloned() {
                None | Some(Shape::Cell(Kind::Int(_))) => {}
                Some(Shape::Parts(ty, count)) => {
                    todo.extend((0..count).map(|part| at.then(part_step(&ty, part))));
                }
                Some(Shape::Variants(_, variants)) => {
                    let numbers: Vec<i64> = variants.iter().map(|(v, _)| i64::from(*v)).collect();
                    let tag = self.last(state, &at.then(Step::Tag), &numbers)?;
                    let found = variants.iter().find(|(v, _)| Some(i64::from(*v)) == tag);
                    if let Some((variant, count)) = found {
                        let inner = at.then(Step::Variant(*variant));
                        todo.extend((0..*count).map(|part| inner.then(Step::Field(part as u16))));
                    }
                }
                Some(Shape::Cell(Kind::Pointer)) => {
                    let codes = self.know.holds(&at);
                    let code = self.last(state, &at, &codes)?;
                    let Some(pointer) = code.and_then(|code| self.know.decode(code)) else {
                        continue;
                    };
                    let object = pointer.loc.object;
                    if matches!(self.know.key(object), ObjectKey::Heap(..))
                        && !reached.contains(&object)
                    {
                        reached.push(object);
                        todo.push(Loc {
                            object,
                            path: Vec::new(),
                        });
                    }
                }
            }
        }
        Ok(reached)
    }
}
