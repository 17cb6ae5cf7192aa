//! What a thread holds while it is being executed: numbers that are known, numbers that only a register knows, pointers that are known.

use crate::mir::{FnPath, IntTy, Substitution, Ty};
use palisade_lang::{Expr, RegisterId};
use std::rc::Rc;

/// Number of an object in [`super::knowledge::Knowledge`].
pub type ObjectId = u32;

/// A step into an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// A field of a struct, tuple, closure or variant.
    Field(u16),
    /// Into the variant with this number in values.
    Variant(i32),
    /// An element.
    Index(u32),
    /// Where an enum keeps which variant it is.
    Tag,
}

/// A way into an object.
pub type Path = Vec<Step>;

/// A place in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc {
    /// The object.
    pub object: ObjectId,
    /// The way into it.
    pub path: Path,
}

impl Loc {
    /// One step further.
    pub fn then(&self, step: Step) -> Loc {
        let mut path = self.path.clone();
        path.push(step);
        Loc {
            object: self.object,
            path,
        }
    }
}

/// A pointer whose target is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pointer {
    /// Where it points.
    pub loc: Loc,
    /// The length, for slices.
    pub length: Option<u32>,
    /// What was added to the address in its low bits.
    pub tag: u8,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Val {
    /// Nothing was written, or it was moved away.
    Uninit,
    /// A number that is known; null is one.
    Int(i128, IntTy),
    /// A number that registers know.
    Sym(Rc<Expr<RegisterId>>, IntTy),
    /// A pointer that is known.
    Ptr(Rc<Pointer>),
    /// A struct, tuple, array, closure, or an enum's variant.
    Agg(Rc<Agg>),
    /// A function or a type that is nothing but code.
    Fn(Rc<FnPath>, Rc<Substitution>),
    /// A text: only printing uses it.
    Text(Rc<str>),
}

/// A value with parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Agg {
    /// The type.
    pub ty: Ty,
    /// The variant's number, for enums.
    pub variant: Option<i32>,
    /// The parts.
    pub fields: Vec<Val>,
}

impl Val {
    /// `()`
    pub fn unit() -> Val {
        Val::Agg(Rc::new(Agg {
            ty: Ty::Tuple(Vec::new()),
            variant: None,
            fields: Vec::new(),
        }))
    }

    /// A `bool`.
    pub fn bool(value: bool) -> Val {
        Val::Int(i128::from(value), IntTy::BOOL)
    }

    /// A `usize`.
    pub fn usize(value: usize) -> Val {
        Val::Int(value as i128, IntTy::USIZE)
    }

    /// A tuple.
    pub fn tuple(fields: Vec<Val>) -> Val {
        Val::Agg(Rc::new(Agg {
            ty: Ty::Tuple(Vec::new()),
            variant: None,
            fields,
        }))
    }

    /// A pointer.
    pub fn pointer(loc: Loc) -> Val {
        Val::Ptr(Rc::new(Pointer {
            loc,
            length: None,
            tag: 0,
        }))
    }

    /// The number, if it is known.
    pub fn known(&self) -> Option<i128> {
        match self {
            Val::Int(value, _) => Some(*value),
            _ => None,
        }
    }

    /// Calls `visit` for every value inside, this one included.
    pub fn for_each(&self, visit: &mut impl FnMut(&Val)) {
        visit(self);
        if let Val::Agg(agg) = self {
            for field in &agg.fields {
                field.for_each(visit);
            }
        }
    }

    /// The same with `change` applied to every number that a register knows; `None` where nothing changes.
    pub fn map_symbols(
        &self,
        change: &impl Fn(&Expr<RegisterId>, IntTy) -> Option<Val>,
    ) -> Option<Val> {
        match self {
            Val::Sym(expr, ty) => change(expr, *ty),
            Val::Agg(agg) => {
                let mut changed: Option<Vec<Val>> = None;
                for (at, field) in agg.fields.iter().enumerate() {
                    if let Some(new) = field.map_symbols(change) {
                        changed.get_or_insert_with(|| agg.fields.clone())[at] = new;
                    }
                }
                changed.map(|fields| {
                    Val::Agg(Rc::new(Agg {
                        ty: agg.ty.clone(),
                        variant: agg.variant,
                        fields,
                    }))
                })
            }
            _ => None,
        }
    }

    /// The part at the end of a path, if the value has it.
    pub fn at(&self, path: &[Step]) -> Val {
        let mut value = self;
        for step in path {
            match (value, step) {
                (Val::Agg(agg), Step::Field(field)) => {
                    let Some(part) = agg.fields.get(*field as usize) else {
                        return Val::Uninit;
                    };
                    value = part;
                }
                (Val::Agg(agg), Step::Index(index)) => {
                    let Some(part) = agg.fields.get(*index as usize) else {
                        return Val::Uninit;
                    };
                    value = part;
                }
                (Val::Agg(agg), Step::Variant(variant)) => {
                    if agg.variant.is_some_and(|v| v != *variant) {
                        return Val::Uninit;
                    }
                }
                // A pointer to a wrapper is one to what it wraps.
                (_, Step::Field(0)) if !matches!(value, Val::Uninit) => {}
                _ => return Val::Uninit,
            }
        }
        value.clone()
    }

    /// Replaces the part at the end of a path, making parts on the way where there are none.
    pub fn set(&mut self, path: &[Step], new: Val) {
        let Some((step, rest)) = path.split_first() else {
            *self = new;
            return;
        };
        if !matches!(self, Val::Agg(_)) {
            let ty = match step {
                Step::Index(_) => Ty::Array(Rc::new(Ty::Never), Rc::new(Ty::Const(0))),
                _ => Ty::Never,
            };
            *self = Val::Agg(Rc::new(Agg {
                ty,
                variant: None,
                fields: Vec::new(),
            }));
        }
        let Val::Agg(agg) = self else { return };
        let agg = Rc::make_mut(agg);
        let at = match step {
            Step::Field(field) => *field as usize,
            Step::Index(index) => *index as usize,
            Step::Variant(variant) => {
                agg.variant = Some(*variant);
                return self.set(rest, new);
            }
            Step::Tag => {
                agg.variant = new.known().map(|v| v as i32);
                return;
            }
        };
        while agg.fields.len() <= at {
            agg.fields.push(Val::Uninit);
        }
        agg.fields[at].set(rest, new);
    }
}
