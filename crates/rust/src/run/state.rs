//! The state of a thread that is being executed.

use super::value::{Loc, Val};
use crate::mir::{Body, IntTy, SourceSpan, Substitution};
use palisade_lang::{Expr, RegisterId};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// A function that is being executed, or a value that is being dropped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Frame {
    /// A function.
    Code(Code),
    /// What is still to be dropped, last first.
    Drop(Vec<DropItem>),
}

/// A thing to do while a value is dropped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum DropItem {
    /// The value there, with its parts.
    Value(Loc),
    /// Its parts only.
    Parts(Loc),
    /// The allocation itself.
    Free(Loc),
}

/// A function that is being executed.
#[derive(Clone, Debug)]
pub struct Code {
    /// The function.
    pub body: Rc<Body>,
    /// Its number.
    pub number: u32,
    /// Its generic arguments.
    pub arguments: Rc<Substitution>,
    /// The locals that no other thread sees.
    pub locals: Vec<Val>,
    /// The block.
    pub block: u32,
    /// The statement; behind the last one, the terminator.
    pub statement: u32,
    /// Where the result goes in the frame below.
    pub target: Option<Loc>,
    /// The call's place in the source.
    pub call: SourceSpan,
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
            && self.block == other.block
            && self.statement == other.statement
            && self.target == other.target
            && self.arguments == other.arguments
            && self.call == other.call
            && self.locals == other.locals
    }
}

impl Eq for Code {}

impl Hash for Code {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
        self.block.hash(state);
        self.statement.hash(state);
        self.target.hash(state);
        self.locals.hash(state);
    }
}

/// The state of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct State {
    /// The stack.
    pub frames: Vec<Rc<Frame>>,
    /// Allocations that no other thread sees.
    pub heap: Rc<BTreeMap<u32, Val>>,
    /// How many allocations and threads were made at each site.
    pub counts: Rc<BTreeMap<u32, u32>>,
    /// Results of what was done already of the present statement.
    pub replay: Vec<Val>,
    /// What the present statement has found out about registers. Values keep the registers until the statement is done: it is executed again
    /// after each instruction, and must ask the same questions then.
    pub found: Vec<(RegisterId, i64)>,
    /// Memory of the thread's own that it has lost without freeing it, where leaks are looked for.
    pub lost: Option<u32>,
}

impl State {
    fn for_each_value(&self, visit: &mut impl FnMut(&Val)) {
        for frame in &self.frames {
            if let Frame::Code(code) = &**frame {
                for local in &code.locals {
                    local.for_each(visit);
                }
            }
        }
        for value in self.heap.values().chain(&self.replay) {
            value.for_each(visit);
        }
    }

    /// The lowest register that no value needs.
    pub fn free_register(&self) -> RegisterId {
        let mut used = Vec::new();
        self.for_each_value(&mut |value| {
            if let Val::Sym(expr, _) = value {
                expr.for_each_atom(&mut |register| used.push(register.0));
            }
        });
        used.sort_unstable();
        used.dedup();
        let free = used
            .iter()
            .enumerate()
            .find(|(at, used)| *at as u32 != **used);
        RegisterId(free.map_or(used.len() as u32, |(at, _)| at as u32))
    }

    /// The registers that the state names, in the order in which it does.
    pub fn registers(&self) -> Vec<RegisterId> {
        let mut named: Vec<RegisterId> = Vec::new();
        let mut name = |register: RegisterId| {
            if !named.contains(&register) {
                named.push(register);
            }
        };
        self.for_each_value(&mut |value| {
            if let Val::Sym(expr, _) = value {
                expr.for_each_atom(&mut |register| name(*register));
            }
        });
        for (register, _) in &self.found {
            name(*register);
        }
        named
    }

    /// The same with the registers, given in the order in which they are named, numbered by that order; `None` where they are already.
    pub fn with_registers_in_order(&self, registers: &[RegisterId]) -> Option<State> {
        if registers.iter().enumerate().all(|(at, r)| r.0 == at as u32) {
            return None;
        }
        let new = |register: &RegisterId| {
            let at = registers.iter().position(|r| r == register).unwrap_or(0);
            RegisterId(at as u32)
        };
        let mut state = self.clone();
        state.map_symbols(&|expr: &Expr<RegisterId>, ty: IntTy| {
            let expr = expr.map_atoms(&mut |r| Expr::Atom(new(r)));
            Some(Val::Sym(Rc::new(expr), ty))
        });
        for value in &mut state.replay {
            let renamed = value.map_symbols(&|expr: &Expr<RegisterId>, ty: IntTy| {
                let expr = expr.map_atoms(&mut |r| Expr::Atom(new(r)));
                Some(Val::Sym(Rc::new(expr), ty))
            });
            if let Some(renamed) = renamed {
                *value = renamed;
            }
        }
        for (register, _) in &mut state.found {
            *register = new(register);
        }
        Some(state)
    }

    /// Whether a value is a pointer into this object.
    pub fn points_to(&self, object: u32) -> bool {
        let mut found = false;
        self.for_each_value(&mut |value| {
            found |= matches!(value, Val::Ptr(pointer) if pointer.loc.object == object);
        });
        found
    }

    /// Leaves out memory of the thread's own that nothing points to any more, so that states that differ only there are one. A pointer to such memory is
    /// nowhere but in the state: where it gets into shared memory, or to another thread, the memory is shared.
    /// `lost` says which of it matters where it was not freed, and `stays` what the thread can reach by a name.
    pub fn collect(&mut self, lost: impl Fn(u32) -> bool, stays: impl Fn(u32) -> bool) {
        if self.heap.is_empty() {
            return;
        }
        let mut reached: Vec<u32> = Vec::new();
        let mut reach = |object: u32| {
            if self.heap.contains_key(&object) && !reached.contains(&object) {
                reached.push(object);
            }
        };
        let by = |value: &Val, reach: &mut dyn FnMut(u32)| {
            value.for_each(&mut |value| {
                if let Val::Ptr(pointer) = value {
                    reach(pointer.loc.object);
                }
            });
        };
        let named: Vec<u32> = self.heap.keys().copied().filter(|o| stays(*o)).collect();
        named.into_iter().for_each(&mut reach);
        for value in &self.replay {
            by(value, &mut reach);
        }
        for frame in &self.frames {
            match &**frame {
                Frame::Code(code) => {
                    code.target.iter().for_each(|loc| reach(loc.object));
                    code.locals.iter().for_each(|local| by(local, &mut reach));
                }
                Frame::Drop(items) => {
                    for item in items {
                        let (DropItem::Value(loc) | DropItem::Parts(loc) | DropItem::Free(loc)) =
                            item;
                        reach(loc.object);
                    }
                }
            }
        }
        let mut done = 0;
        while let Some(object) = reached.get(done).copied() {
            done += 1;
            let mut reach = |object: u32| {
                if self.heap.contains_key(&object) && !reached.contains(&object) {
                    reached.push(object);
                }
            };
            by(&self.heap[&object], &mut reach);
        }
        if reached.len() < self.heap.len() {
            let mut gone = self.heap.keys().filter(|o| !reached.contains(o));
            self.lost = self.lost.or(gone.find(|o| lost(**o)).copied());
            Rc::make_mut(&mut self.heap).retain(|object, _| reached.contains(object));
        }
    }

    /// The present statement is done.
    pub fn done(&mut self) {
        self.replay.clear();
        for (register, value) in std::mem::take(&mut self.found) {
            self.know(register, value);
        }
    }

    /// Replaces a register by the value that it is now known to have.
    fn know(&mut self, register: RegisterId, value: i64) {
        let change = |expr: &Expr<RegisterId>, ty: IntTy| -> Option<Val> {
            let mut mentioned = false;
            expr.for_each_atom(&mut |r| mentioned |= *r == register);
            if !mentioned {
                return None;
            }
            Some(super::arith::simplify(
                &substitute(expr, register, value),
                ty,
            ))
        };
        self.map_symbols(&change);
    }

    /// Applies `change` to every number that a register knows, in locals and in memory of the thread's own.
    fn map_symbols(&mut self, change: &impl Fn(&Expr<RegisterId>, IntTy) -> Option<Val>) {
        for frame in &mut self.frames {
            let Frame::Code(code) = &**frame else {
                continue;
            };
            let mut changed: Vec<(usize, Val)> = Vec::new();
            for (at, local) in code.locals.iter().enumerate() {
                if let Some(new) = local.map_symbols(change) {
                    changed.push((at, new));
                }
            }
            if !changed.is_empty()
                && let Frame::Code(code) = Rc::make_mut(frame)
            {
                for (at, new) in changed {
                    code.locals[at] = new;
                }
            }
        }
        let mut changed: Vec<(u32, Val)> = Vec::new();
        for (object, value) in &*self.heap {
            if let Some(new) = value.map_symbols(change) {
                changed.push((*object, new));
            }
        }
        if !changed.is_empty() {
            Rc::make_mut(&mut self.heap).extend(changed);
        }
    }
}

fn substitute(expr: &Expr<RegisterId>, register: RegisterId, value: i64) -> Expr<RegisterId> {
    expr.map_atoms(&mut |r| match *r == register {
        true => Expr::Const(value),
        false => Expr::Atom(*r),
    })
}
