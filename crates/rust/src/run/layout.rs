//! How large types are, and what they are if all their bytes are zero.

use super::call::last;
use super::machine::Machine;
use super::need::{Run, refuse};
use super::value::{Agg, Step, Val};
use crate::index::{Repr, Struct};
use crate::mir::{BodyKind, Constant, IntTy, Ty};
use std::rc::Rc;

/// Types nest no deeper than this.
const MAX_DEPTH: usize = 40;

/// How a type lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes.
    pub size: usize,
    /// What its address is a multiple of.
    pub align: usize,
    /// How many patterns of bits no value has, in the part that has most of them: an enum around it may mean its other variants by them.
    niche: u128,
}

impl Layout {
    fn new(size: usize, align: usize) -> Layout {
        Layout {
            size,
            align: align.max(1),
            niche: 0,
        }
    }

    fn with_niche(self, niche: u128) -> Layout {
        Layout { niche, ..self }
    }
}

/// Fields in the order that takes least room, as the compiler puts them where nothing is said: those with the largest alignment first, so that there is no room between them.
fn together(fields: &[Layout]) -> Layout {
    of_struct(fields, Repr::default())
}

/// A struct.
fn of_struct(fields: &[Layout], repr: Repr) -> Layout {
    let aligned = |field: &Layout| {
        repr.packed
            .map_or(field.align, |most| field.align.min(most))
    };
    let align = fields.iter().map(aligned).max().unwrap_or(1);
    let align = align.max(repr.align);
    let size: usize = match repr.c {
        true => fields.iter().fold(0, |at: usize, field| {
            at.next_multiple_of(aligned(field))
                .saturating_add(field.size)
        }),
        false => fields
            .iter()
            .fold(0, |at: usize, field| at.saturating_add(field.size)),
    };
    let niche = fields.iter().map(|field| field.niche).max().unwrap_or(0);
    Layout::new(rounded(size, align), align).with_niche(niche)
}

/// A union. It may have any bits.
fn of_union(fields: &[Layout], repr: Repr) -> Layout {
    let aligned = |field: &Layout| {
        repr.packed
            .map_or(field.align, |most| field.align.min(most))
    };
    let align = fields.iter().map(aligned).max().unwrap_or(1);
    let align = align.max(repr.align);
    let size = fields.iter().map(|field| field.size).max().unwrap_or(0);
    Layout::new(rounded(size, align), align)
}

fn rounded(size: usize, align: usize) -> usize {
    size.checked_next_multiple_of(align).unwrap_or(size)
}

/// The fewest bytes that hold all these numbers.
fn bytes_for(least: i128, most: i128) -> usize {
    let fits = |bytes: &usize| {
        let bits = 8 * *bytes as u32;
        match least < 0 {
            true => least >= -(1 << (bits - 1)) && most < 1 << (bits - 1),
            false => most < 1 << bits,
        }
    };
    [1usize, 2, 4]
        .into_iter()
        .find(|bytes| fits(bytes))
        .unwrap_or(8)
}

/// An enum whose variants have these fields and numbers, as the compiler lays it out. `None`: that is not known here.
fn of_enum(variants: &[Vec<Layout>], numbers: &[i128], repr: Repr) -> Option<Layout> {
    let (least, most) = (*numbers.iter().min()?, *numbers.iter().max()?);
    let range = u128::try_from(most.checked_sub(least)?).ok()? + 1;
    let free = |bytes: usize| (1u128 << (8 * bytes)).saturating_sub(range);
    let wide = |layout: Layout| {
        let align = layout.align.max(repr.align);
        Layout::new(rounded(layout.size, align), align).with_niche(layout.niche)
    };
    let all = || variants.iter().flatten();
    let align = all().map(|field| field.align).max().unwrap_or(1);
    if repr.c || repr.int.is_some() {
        let tag = repr.int.unwrap_or_else(|| bytes_for(least, most).max(4));
        let align = align.max(tag);
        // With `repr(C)`, the fields are a union behind the number; otherwise each variant is a struct that begins with it.
        let begin = if repr.c {
            rounded(tag, all().map(|f| f.align).max().unwrap_or(1))
        } else {
            tag
        };
        let ends = variants.iter().map(|fields| {
            fields.iter().fold(begin, |at: usize, field| {
                rounded(at, field.align).saturating_add(field.size)
            })
        });
        let size = ends.max().unwrap_or(tag);
        return Some(wide(
            Layout::new(rounded(size, align), align).with_niche(free(tag)),
        ));
    }
    let structs: Vec<Layout> = variants.iter().map(|fields| together(fields)).collect();
    if let [only] = structs.as_slice() {
        return Some(wide(*only));
    }
    let with_number = with_number(variants, bytes_for(least, most), free);
    // The largest variant, and the last of those.
    let largest = (0..structs.len()).max_by_key(|&at| structs[at].size)?;
    let others = || (0..structs.len()).filter(|&at| at != largest);
    let count = others().max()? - others().min()? + 1;
    let found = structs[largest];
    let left = match found.niche.checked_sub(count as u128) {
        Some(left) if found.size > 0 => left,
        _ => return Some(wide(with_number)),
    };
    // Another variant of the same size has no room beside what says which variant it is.
    if others().any(|at| structs[at].size == found.size) {
        return Some(wide(with_number));
    }
    // Whether a smaller one has depends on the order of the fields.
    if others().any(|at| structs[at].size > 0 || structs[at].align > found.align) {
        return None;
    }
    let better =
        with_number.size > found.size || with_number.size == found.size && with_number.niche < left;
    Some(wide(match better {
        true => found.with_niche(left),
        false => with_number,
    }))
}

/// An enum that begins with the number of its variant.
fn with_number(variants: &[Vec<Layout>], tag: usize, free: impl Fn(usize) -> u128) -> Layout {
    let (mut size, mut align) = (tag, tag);
    // The number may take all the room before the first field.
    let mut room = usize::MAX;
    for fields in variants {
        let most = fields.iter().map(|field| field.align).max().unwrap_or(1);
        let niches = fields.iter().any(|field| field.niche > 0);
        // Small fields come first: an array counts as what has its size.
        let group = |field: &Layout| {
            let group = field.align.max(field.size).trailing_zeros();
            match niches {
                true => group.min(most.trailing_zeros()),
                false => group,
            }
        };
        let mut fields = fields.clone();
        fields.sort_by_key(|field| (group(field), field.niche));
        let mut at = tag;
        for field in &fields {
            at = rounded(at, field.align).saturating_add(field.size);
        }
        let first = fields
            .iter()
            .find(|field| field.size > 0 || field.align > 1);
        if let Some(first) = first {
            room = room.min(first.align);
        }
        size = size.max(at);
        align = align.max(most);
    }
    let tag = match room {
        2 | 4 | 8 => tag.max(room),
        16.. if room != usize::MAX => tag.max(8),
        _ => tag,
    };
    Layout::new(rounded(size, align), align).with_niche(free(tag))
}

impl Machine<'_> {
    /// The length of an array, where it is a number or a constant with a name.
    fn length_of(&mut self, length: &Ty) -> Run<Option<i128>> {
        let Ty::Adt(path, _) = length else {
            return Ok(match length {
                Ty::Const(count) => Some(*count),
                _ => None,
            });
        };
        if let Some(Constant::Int(count, _)) = self.index.constants.get(&**path) {
            return Ok(Some(*count));
        }
        // A constant that is still to be computed.
        match self.index.by_path.get(&**path) {
            Some(&number) if self.index.bodies[number].kind == BodyKind::Constant => {
                Ok(self.evaluate(number, Rc::default())?.known())
            }
            _ => Ok(None),
        }
    }

    /// The types of what a definition has in it, for these arguments.
    fn types_of(&self, found: &Struct, args: &[Ty]) -> Vec<Ty> {
        let with = found.generics.iter().cloned().zip(args.iter().cloned());
        let with = Rc::new(with.collect());
        let fields = found.fields.iter();
        fields.map(|field| self.substitute(field, &with)).collect()
    }

    /// The types of a struct's fields.
    fn field_types(&self, ty: &Ty) -> Option<Vec<Ty>> {
        let Ty::Adt(path, args) = ty else { return None };
        let found = self.index.structs.get(&**path)?;
        Some(self.types_of(found, args))
    }

    /// Whether a type is known to take no memory.
    pub fn is_empty(&mut self, ty: &Ty) -> Run<bool> {
        Ok(self.layout(ty, 0)?.is_some_and(|found| found.size == 0))
    }

    /// How many bytes a type has and what it is aligned to, where the compiler promises it or is known to do it so on machines with 64 bits.
    pub fn layout(&mut self, ty: &Ty, depth: usize) -> Run<Option<Layout>> {
        if let Some(found) = self.layouts.get(ty) {
            return Ok(*found);
        }
        if depth > MAX_DEPTH {
            return Ok(None);
        }
        let found = self.compute_layout(ty, depth + 1)?;
        self.layouts.insert(ty.clone(), found);
        Ok(found)
    }

    fn compute_layout(&mut self, ty: &Ty, depth: usize) -> Run<Option<Layout>> {
        Ok(match ty {
            Ty::Int(int) => {
                let size = match *int {
                    IntTy::CHAR => 4,
                    int => usize::from(int.bits).div_ceil(8),
                };
                Some(Layout {
                    niche: match *int {
                        IntTy::BOOL => 254,
                        // From 0x110000 on.
                        IntTy::CHAR => (1 << 32) - 0x11_0000,
                        _ => 0,
                    },
                    ..Layout::new(size, size)
                })
            }
            Ty::Float(bits) => Some(Layout::new(usize::from(*bits) / 8, usize::from(*bits) / 8)),
            Ty::Tuple(parts) => self.layouts_of(parts, depth)?.map(|parts| together(&parts)),
            Ty::FnDef(_) => Some(Layout::new(0, 1)),
            Ty::FnPtr => Some(Layout::new(8, 8).with_niche(1)),
            Ty::Array(element, length) => {
                let count = self
                    .length_of(length)?
                    .and_then(|n| usize::try_from(n).ok());
                let element = self.layout(element, depth)?;
                element.zip(count).and_then(|(element, count)| {
                    let size = element.size.checked_mul(count)?;
                    let niche = if count == 0 { 0 } else { element.niche };
                    Some(Layout::new(size, element.align).with_niche(niche))
                })
            }
            Ty::Ref(inner) => self.pointer(inner, 0).map(|found| found.with_niche(1)),
            Ty::Ptr(inner) => self.pointer(inner, 0),
            Ty::Adt(path, args) if path.starts_with("std::") => {
                self.layout_of_std(path, args, depth)?
            }
            Ty::Adt(path, args) => {
                if let Some(found) = self.index.structs.get(&**path) {
                    let fields = self.types_of(found, args);
                    let repr = found.repr;
                    let fields = self.layouts_of(&fields, depth)?;
                    fields.map(|fields| of_struct(&fields, repr))
                } else if let Some(found) = self.index.union_fields.get(&**path) {
                    let fields = self.types_of(found, args);
                    let repr = found.repr;
                    let fields = self.layouts_of(&fields, depth)?;
                    fields.map(|fields| of_union(&fields, repr))
                } else if let Some(found) = self.index.variants.get(&**path) {
                    let variants = found.iter().map(|v| self.types_of(v, args)).collect();
                    let repr = found.first().map(|v| v.repr).unwrap_or_default();
                    let numbers = self.index.enums.get(&**path);
                    let numbers = numbers.into_iter().flatten().map(|v| v.discriminant);
                    let numbers: Vec<i128> = numbers.collect();
                    self.layout_of_enum(variants, &numbers, repr, depth)?
                } else {
                    None
                }
            }
            _ => None,
        })
    }

    /// How many bytes a type has, or what it is aligned to.
    pub fn size_or_align(&mut self, ty: &Ty, size: bool) -> Run<Val> {
        match self.layout(ty, 0)? {
            Some(found) => Ok(Val::usize(if size { found.size } else { found.align })),
            None => refuse(format!("how many bytes {ty} takes")),
        }
    }

    /// What a pointer to a type takes: two words where the type has no size of its own. `None`: that is not known.
    fn pointer(&self, inner: &Ty, depth: usize) -> Option<Layout> {
        match inner {
            Ty::Slice(_) | Ty::Str | Ty::Dyn(_) => Some(Layout::new(16, 8)),
            Ty::Projection(..) | Ty::Opaque(_) => None,
            _ if depth > MAX_DEPTH => None,
            // Wrappers have what they wrap at their end.
            Ty::Adt(path, args) if path.starts_with("std::") => {
                let pointer = matches!(
                    last(path),
                    "Box" | "Rc" | "Arc" | "Weak" | "NonNull" | "AtomicPtr" | "PhantomData"
                );
                match args.last() {
                    Some(last) if !pointer => self.pointer(last, depth + 1),
                    _ => Some(Layout::new(8, 8)),
                }
            }
            Ty::Adt(path, args) => match self.index.structs.get(&**path) {
                Some(found) => match self.types_of(found, args).last() {
                    Some(last) => self.pointer(last, depth + 1),
                    None => Some(Layout::new(8, 8)),
                },
                None if self.index.enums.contains_key(&**path)
                    || self.index.unions.contains_key(&**path) =>
                {
                    Some(Layout::new(8, 8))
                }
                None => None,
            },
            _ => Some(Layout::new(8, 8)),
        }
    }

    fn layouts_of(&mut self, parts: &[Ty], depth: usize) -> Run<Option<Vec<Layout>>> {
        parts.iter().map(|ty| self.layout(ty, depth)).collect()
    }

    /// The layout of the standard library's own types: the models have others.
    fn layout_of_std(&mut self, path: &str, args: &[Ty], depth: usize) -> Run<Option<Layout>> {
        let first = args.first().cloned().unwrap_or(Ty::Never);
        let name = last(path);
        if let Some(number) = path.strip_prefix("std::sync::atomic::Atomic") {
            let of = match number {
                "Bool" => 1,
                "Ptr" | "Usize" | "Isize" => 8,
                bits => match bits[1..].parse::<usize>() {
                    Ok(bits @ (8 | 16 | 32 | 64)) => bits / 8,
                    _ => return Ok(None),
                },
            };
            return Ok(Some(Layout::new(of, of)));
        }
        let fixed = |size, align, niche| Ok(Some(Layout::new(size, align).with_niche(niche)));
        // The capacity of a vector is below 2^63.
        let capacity = 1 << 63;
        // What a lock of the standard library has before what it guards, where the system has futexes.
        let (word, flag) = (Layout::new(4, 4), Layout::new(1, 1));
        let before: &[Layout] = match name {
            "PhantomData" | "PhantomPinned" => return fixed(0, 1, 0),
            "Vec" | "String" | "BinaryHeap" => return fixed(24, 8, capacity),
            "VecDeque" => return fixed(32, 8, capacity),
            "BTreeMap" | "BTreeSet" => return fixed(24, 8, 0),
            "HashMap" | "HashSet" if args.len() < 3 => return fixed(48, 8, 1),
            "Condvar" | "Once" => return fixed(4, 4, 0),
            // The nanoseconds are below 10^9.
            "Duration" | "Instant" | "SystemTime" => {
                return fixed(16, 8, (1 << 32) - 1_000_000_000);
            }
            "Ordering" if path == "std::cmp::Ordering" => return fixed(1, 1, 253),
            "Ordering" => return fixed(1, 1, 251),
            "Box" | "Rc" | "Arc" | "Weak" | "NonNull" => {
                return Ok(self.pointer(&first, 0).map(|found| found.with_niche(1)));
            }
            "NonZero" => {
                let found = self.layout(&first, depth)?;
                return Ok(found.map(|found| found.with_niche(1)));
            }
            "ManuallyDrop" | "Wrapping" | "Saturating" | "Pin" | "Reverse" => {
                return self.layout(&first, depth);
            }
            "Option" => {
                let variants = vec![Vec::new(), vec![first]];
                return self.layout_of_enum(variants, &[0, 1], Repr::default(), depth);
            }
            "Poll" => {
                let variants = vec![vec![first], Vec::new()];
                return self.layout_of_enum(variants, &[0, 1], Repr::default(), depth);
            }
            "Result" => {
                let Some(second) = args.get(1).cloned() else {
                    return Ok(None);
                };
                let variants = vec![vec![first], vec![second]];
                return self.layout_of_enum(variants, &[0, 1], Repr::default(), depth);
            }
            "Range" => {
                let found = self.layout(&first, depth)?;
                return Ok(found.map(|found| together(&[found, found])));
            }
            "Cell" | "UnsafeCell" | "MaybeUninit" => &[],
            "RefCell" => &[Layout::new(8, 8)],
            "Mutex" => &[word, flag],
            "RwLock" => &[word, word, flag],
            "OnceLock" => &[word],
            _ => return Ok(None),
        };
        // Values that a cell cannot have are nothing to others.
        let inner = self.layout(&first, depth)?;
        Ok(inner.map(|inner| {
            let mut parts = before.to_vec();
            parts.push(inner.with_niche(0));
            together(&parts)
        }))
    }

    fn layout_of_enum(
        &mut self,
        variants: Vec<Vec<Ty>>,
        numbers: &[i128],
        repr: Repr,
        depth: usize,
    ) -> Run<Option<Layout>> {
        let mut all = Vec::with_capacity(variants.len());
        for fields in &variants {
            let Some(fields) = self.layouts_of(fields, depth)? else {
                return Ok(None);
            };
            all.push(fields);
        }
        Ok(of_enum(&all, numbers, repr))
    }

    /// Whether values of a type do something when they are dropped. Of what is not known here, they do.
    pub fn type_needs_drop(&self, ty: &Ty, depth: usize) -> bool {
        let any = |parts: &[Ty]| parts.iter().any(|ty| self.type_needs_drop(ty, depth + 1));
        match ty {
            _ if depth > MAX_DEPTH => true,
            Ty::Int(_) | Ty::Float(_) | Ty::Str | Ty::Never | Ty::Ref(_) | Ty::Ptr(_) => false,
            Ty::FnDef(_) | Ty::FnPtr | Ty::Const(_) => false,
            Ty::Tuple(parts) => any(parts),
            Ty::Array(ty, _) | Ty::Slice(ty) => self.type_needs_drop(ty, depth + 1),
            Ty::Adt(path, args) if path.starts_with("std::") => match last(path) {
                "ManuallyDrop" | "MaybeUninit" | "PhantomData" | "PhantomPinned" | "NonNull"
                | "NonZero" | "Duration" | "Instant" | "SystemTime" | "Ordering" | "Condvar"
                | "Once" | "Barrier" | "ThreadId" | "TypeId" => false,
                "Box" | "Rc" | "Arc" | "Weak" | "Vec" | "VecDeque" | "BinaryHeap" | "String"
                | "HashMap" | "HashSet" | "BTreeMap" | "BTreeSet" | "LinkedList" => true,
                "Option" | "Result" | "Poll" | "Cell" | "UnsafeCell" | "RefCell" | "OnceCell"
                | "Mutex" | "RwLock" | "OnceLock" | "Wrapping" | "Pin" | "Reverse" | "Range" => {
                    any(args)
                }
                name if name.starts_with("Atomic") => false,
                _ => true,
            },
            _ if self.drop_impl(ty).is_some() => true,
            Ty::Adt(path, args) => {
                if let Some(found) = self.index.structs.get(&**path) {
                    any(&self.types_of(found, args))
                } else if let Some(variants) = self.index.variants.get(&**path) {
                    variants
                        .iter()
                        .any(|found| any(&self.types_of(found, args)))
                } else {
                    // The fields of a union are not dropped.
                    !self.index.unions.contains_key(&**path)
                }
            }
            _ => true,
        }
    }

    /// The way from a value of one type to the one of another type that begins at the same place, where it goes through an array.
    pub fn way_into(&self, from: &Ty, to: &Ty) -> Option<Vec<Step>> {
        let mut from = from.clone();
        let mut way = Vec::new();
        let mut array = false;
        while from != *to {
            if way.len() > MAX_DEPTH {
                return None;
            }
            from = match &from {
                Ty::Array(element, _) => {
                    array = true;
                    way.push(Step::Index(0));
                    (**element).clone()
                }
                _ => {
                    let first = self.field_types(&from)?.into_iter().next()?;
                    way.push(Step::Field(0));
                    first
                }
            };
        }
        array.then_some(way)
    }

    /// The value whose bytes are all zero.
    pub fn zeroed(&mut self, ty: &Ty, depth: usize) -> Run<Val> {
        let no = || refuse(format!("zeroed memory as {ty}"));
        if depth > MAX_DEPTH {
            return no();
        }
        let value = |fields, variant| {
            Ok(Val::Agg(Rc::new(Agg {
                ty: ty.clone(),
                variant,
                fields,
            })))
        };
        match ty {
            Ty::Int(int) => Ok(Val::Int(0, *int)),
            Ty::Ptr(_) => Ok(Val::Int(0, IntTy::USIZE)),
            Ty::Tuple(parts) => Ok(Val::tuple(self.all_zeroed(parts, depth)?)),
            Ty::Array(element, length) => {
                let Some(count @ 0..=4096) = self.length_of(length)? else {
                    return no();
                };
                let element = self.zeroed(element, depth + 1)?;
                Ok(Val::Agg(Rc::new(Agg {
                    ty: Ty::Array(Rc::new(Ty::Never), Rc::new(Ty::Const(count))),
                    variant: None,
                    fields: vec![element; count as usize],
                })))
            }
            Ty::Adt(path, args) => match &**path {
                "std::marker::PhantomData" => value(Vec::new(), None),
                // A pointer that may be missing is missing where it is null.
                "std::option::Option" => match args.first() {
                    Some(Ty::Ref(_)) => value(Vec::new(), Some(0)),
                    Some(Ty::Adt(inner, _))
                        if matches!(
                            &**inner,
                            "std::ptr::NonNull" | "std::boxed::Box" | "std::sync::Arc"
                        ) =>
                    {
                        value(Vec::new(), Some(0))
                    }
                    _ => no(),
                },
                "std::boxed::Box" | "std::sync::Arc" | "std::rc::Rc" | "std::ptr::NonNull"
                | "std::vec::Vec" => no(),
                _ => match self.field_types(ty) {
                    Some(fields) => value(self.all_zeroed(&fields, depth)?, None),
                    None => no(),
                },
            },
            _ => no(),
        }
    }
    fn all_zeroed(&mut self, parts: &[Ty], depth: usize) -> Run<Vec<Val>> {
        parts.iter().map(|ty| self.zeroed(ty, depth + 1)).collect()
    }
}
