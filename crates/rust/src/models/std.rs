//! What threads can see of the standard library. The module tree is that of `std`: a path in the user's code leads to the function of the same
//! path here. Functions of `palisade` are executed by the machine itself.
#![allow(dead_code, unused_variables, unused_mut, unused_unsafe, static_mut_refs, clippy::all)]

pub mod palisade {
    use crate::sync::atomic::Ordering;
    pub fn atomic_load<T>(p: *const T, order: Ordering) -> T { loop {} }
    pub fn atomic_store<T>(p: *const T, value: T, order: Ordering) { loop {} }
    pub fn atomic_exchange<T>(p: *const T, value: T, order: Ordering) -> T { loop {} }
    pub fn atomic_fetch_add<T, U>(p: *const T, value: U, order: Ordering) -> T { loop {} }
    pub fn atomic_fetch_sub<T, U>(p: *const T, value: U, order: Ordering) -> T { loop {} }
    pub fn atomic_fetch_and<T, U>(p: *const T, value: U, order: Ordering) -> T { loop {} }
    pub fn atomic_fetch_or<T, U>(p: *const T, value: U, order: Ordering) -> T { loop {} }
    pub fn atomic_fetch_xor<T, U>(p: *const T, value: U, order: Ordering) -> T { loop {} }
    pub fn atomic_fetch_max<T, U>(p: *const T, value: U, order: Ordering) -> T { loop {} }
    pub fn atomic_fetch_min<T, U>(p: *const T, value: U, order: Ordering) -> T { loop {} }
    pub fn atomic_cas<T>(p: *const T, current: T, new: T, success: Ordering, failure: Ordering) -> (T, bool) { loop {} }
    pub fn atomic_cas_weak<T>(p: *const T, current: T, new: T, success: Ordering, failure: Ordering) -> (T, bool) { loop {} }
    /// Waits until `current` is there and writes `new`, with acquire.
    pub fn wait_cas<T>(p: *const T, current: T, new: T) { loop {} }
    /// Waits until one of the numbers from `from` to `to` is there and adds `by`, with acquire.
    pub fn wait_step(p: *const usize, from: usize, to: usize, by: isize) { loop {} }
    /// Waits until `value` is there, with acquire.
    pub fn wait_equal<T>(p: *const T, value: T) { loop {} }
    pub fn wait_not_equal<T>(p: *const T, value: T) { loop {} }
    pub fn fence(order: Ordering) { loop {} }
    pub fn choose() -> bool { loop {} }
    pub fn assume(condition: bool) { loop {} }
    pub fn fail() -> ! { loop {} }
    /// A limit of the models is met: its name.
    pub fn bound(what: &'static str) -> ! { loop {} }
    /// Whether there is one thread so far.
    pub fn alone() -> bool { loop {} }
    pub fn spawn<F: FnOnce()>(f: F) -> usize { loop {} }
    pub fn join(thread: usize) { loop {} }
    pub fn current() -> usize { loop {} }
    pub fn token(thread: usize) -> *const usize { loop {} }
    pub fn allocate<T>() -> *mut T { loop {} }
    pub fn allocate_array<T>(count: usize) -> *mut T { loop {} }
    pub fn free<T: ?Sized>(p: *mut T) { loop {} }
    pub fn drop<T: ?Sized>(p: *mut T) { loop {} }
    pub fn read<T>(p: *const T) -> T { loop {} }
    pub fn write<T>(p: *mut T, value: T) { loop {} }
    pub fn len<T>(s: &[T]) -> usize { loop {} }
    pub fn slice<T, S>(p: *const T, length: usize) -> S { loop {} }
    pub fn offset<T>(p: *const T, by: usize) -> *mut T { loop {} }
    pub fn offset_back<T>(p: *const T, by: usize) -> *mut T { loop {} }
    pub fn uninit<T>() -> T { loop {} }
    pub fn zeroed<T>() -> T { loop {} }
    pub fn transmute<T, U>(value: T) -> U { loop {} }
    pub fn same<T, U>(value: T) -> U { loop {} }
    pub fn binary<T, U, R>(op: &'static str, left: T, right: U) -> R { loop {} }
    pub fn bits<T>(value: T) -> u32 { loop {} }
    /// How many elements the array has that this points to.
    pub fn capacity<T>(p: *const T) -> usize { loop {} }
    /// Whether a test library's model is executed.
    pub fn in_model() -> bool { loop {} }
    /// What belongs to a place in memory: the threads that sleep there.
    pub fn beside<T, U>(p: *const T) -> U { loop {} }
    /// The object whose field `field` this points to.
    pub fn container<T, U>(p: *const T, field: usize) -> *mut U { loop {} }
    /// The number that a number or references to it stand for.
    pub fn plain<T, U>(value: T) -> U { loop {} }
    pub fn same_value<T>(a: &T, b: &T) -> bool { loop {} }
    /// Texts, as far as they are known.
    pub fn text_len(s: &str) -> usize { loop {} }
    pub fn text_join<'a, T>(s: &str, more: T) -> &'a str { loop {} }
    /// A text that comes from outside: it may be any.
    pub fn text_input() -> &'static str { loop {} }
}

pub mod marker {
    pub struct PhantomData<T: ?Sized>(*const T);
    pub struct PhantomPinned;
}

pub mod convert {
    pub fn identity<T>(x: T) -> T { x }
    pub enum Infallible {}
}

pub mod ops {
    pub struct Range<T> { pub start: T, pub end: T }
    pub struct RangeFrom<T> { pub start: T }
    pub struct RangeInclusive<T> { pub start: T, pub end: T, pub exhausted: bool }
    impl<T> RangeInclusive<T> {
        pub fn new(start: T, end: T) -> Self {
            RangeInclusive { start, end, exhausted: false }
        }
    }
    impl<T: Copy> RangeInclusive<T> {
        pub fn contains(&self, item: &T) -> bool { crate::palisade::binary::<T, T, bool>("Ge", *item, self.start) && crate::palisade::binary::<T, T, bool>("Le", *item, self.end) }
        pub fn start(&self) -> &T { &self.start }
        pub fn end(&self) -> &T { &self.end }
    }
    impl<T: Copy> Range<T> {
        pub fn contains(&self, item: &T) -> bool { crate::palisade::binary::<T, T, bool>("Ge", *item, self.start) && crate::palisade::binary::<T, T, bool>("Lt", *item, self.end) }
        pub fn is_empty(&self) -> bool { crate::palisade::binary::<T, T, bool>("Ge", self.start, self.end) }
    }
    pub struct RangeTo<T> { pub end: T }
    pub struct RangeFull;
    impl<T: Clone> Clone for Range<T> { fn clone(&self) -> Self { Range { start: self.start.clone(), end: self.end.clone() } } }
    pub enum ControlFlow<B, C> { Continue(C), Break(B) }
    pub trait Try {
        type Output;
        type Residual;
        fn branch(self) -> ControlFlow<Self::Residual, Self::Output>;
        fn from_output(output: Self::Output) -> Self;
    }
    pub trait FromResidual<R> {
        fn from_residual(residual: R) -> Self;
    }
    use crate::convert::Infallible;
    use crate::option::Option;
    use crate::result::Result;
    impl<T, E> Try for Result<T, E> {
        type Output = T;
        type Residual = Result<Infallible, E>;
        fn branch(self) -> ControlFlow<Result<Infallible, E>, T> {
            match self { Result::Ok(v) => ControlFlow::Continue(v), Result::Err(e) => ControlFlow::Break(Result::Err(e)) }
        }
        fn from_output(output: T) -> Self { Result::Ok(output) }
    }
    impl<T, E, F: From<E>> FromResidual<Result<Infallible, E>> for Result<T, F> {
        fn from_residual(residual: Result<Infallible, E>) -> Self {
            match residual { Result::Err(e) => Result::Err(From::from(e)), Result::Ok(_) => crate::palisade::fail() }
        }
    }
    impl<T> Try for Option<T> {
        type Output = T;
        type Residual = Option<Infallible>;
        fn branch(self) -> ControlFlow<Option<Infallible>, T> {
            match self { Option::Some(v) => ControlFlow::Continue(v), Option::None => ControlFlow::Break(Option::None) }
        }
        fn from_output(output: T) -> Self { Option::Some(output) }
    }
    impl<T> FromResidual<Option<Infallible>> for Option<T> {
        fn from_residual(residual: Option<Infallible>) -> Self { Option::None }
    }
}

pub mod cmp {
    pub enum Ordering { Less = -1, Equal = 0, Greater = 1 }
    use crate::option::Option;
    /// What these traits do where a type does not say it itself.
    pub trait PartialEq<R: ?Sized> {
        fn eq(&self, other: &R) -> bool;
        fn ne(&self, other: &R) -> bool { !self.eq(other) }
    }
    pub trait PartialOrd<R: ?Sized> {
        fn partial_cmp(&self, other: &R) -> Option<Ordering>;
        fn lt(&self, other: &R) -> bool { match self.partial_cmp(other) { Option::Some(Ordering::Less) => true, _ => false } }
        fn le(&self, other: &R) -> bool { match self.partial_cmp(other) { Option::Some(Ordering::Less) => true, Option::Some(Ordering::Equal) => true, _ => false } }
        fn gt(&self, other: &R) -> bool { match self.partial_cmp(other) { Option::Some(Ordering::Greater) => true, _ => false } }
        fn ge(&self, other: &R) -> bool { match self.partial_cmp(other) { Option::Some(Ordering::Greater) => true, Option::Some(Ordering::Equal) => true, _ => false } }
    }
    pub trait Ord: Sized {
        fn cmp(&self, other: &Self) -> Ordering;
        fn max(self, other: Self) -> Self { match other.cmp(&self) { Ordering::Less => self, _ => other } }
        fn min(self, other: Self) -> Self { match other.cmp(&self) { Ordering::Less => other, _ => self } }
    }
    pub fn min<T: std::cmp::PartialOrd>(a: T, b: T) -> T { if b < a { b } else { a } }
    pub fn max<T: std::cmp::PartialOrd>(a: T, b: T) -> T { if b < a { a } else { b } }
    impl Ordering {
        pub fn is_eq(self) -> bool { match self { Ordering::Equal => true, _ => false } }
        pub fn is_lt(self) -> bool { match self { Ordering::Less => true, _ => false } }
        pub fn is_gt(self) -> bool { match self { Ordering::Greater => true, _ => false } }
        pub fn is_le(self) -> bool { match self { Ordering::Greater => false, _ => true } }
        pub fn is_ge(self) -> bool { match self { Ordering::Less => false, _ => true } }
        pub fn is_ne(self) -> bool { match self { Ordering::Equal => false, _ => true } }
        pub fn reverse(self) -> Ordering { match self { Ordering::Less => Ordering::Greater, Ordering::Equal => Ordering::Equal, Ordering::Greater => Ordering::Less } }
    }
}

pub mod panicking {
    use crate::palisade::fail;
    pub enum AssertKind { Eq, Ne, Match }
}

pub mod option {
    use crate::palisade::fail;
    use crate::result::Result;
    pub enum Option<T> { None, Some(T) }
    use Option::*;
    impl<T> Option<T> {
        pub fn is_some(&self) -> bool { match self { Some(_) => true, None => false } }
        pub fn is_none(&self) -> bool { match self { Some(_) => false, None => true } }
        pub fn is_some_and<F: FnOnce(T) -> bool>(self, f: F) -> bool { match self { Some(x) => f(x), None => false } }
        pub fn is_none_or<F: FnOnce(T) -> bool>(self, f: F) -> bool { match self { Some(x) => f(x), None => true } }
        pub fn unwrap(self) -> T { match self { Some(x) => x, None => fail() } }
        pub fn expect(self, message: &str) -> T { match self { Some(x) => x, None => fail() } }
        pub unsafe fn unwrap_unchecked(self) -> T { match self { Some(x) => x, None => fail() } }
        pub fn unwrap_or(self, other: T) -> T { match self { Some(x) => x, None => other } }
        pub fn unwrap_or_else<F: FnOnce() -> T>(self, f: F) -> T { match self { Some(x) => x, None => f() } }
        pub fn unwrap_or_default(self) -> T where T: Default { match self { Some(x) => x, None => <T as Default>::default() } }
        pub fn map<U, F: FnOnce(T) -> U>(self, f: F) -> Option<U> { match self { Some(x) => Some(f(x)), None => None } }
        pub fn map_or<U, F: FnOnce(T) -> U>(self, other: U, f: F) -> U { match self { Some(x) => f(x), None => other } }
        pub fn map_or_else<U, D: FnOnce() -> U, F: FnOnce(T) -> U>(self, other: D, f: F) -> U { match self { Some(x) => f(x), None => other() } }
        pub fn and_then<U, F: FnOnce(T) -> Option<U>>(self, f: F) -> Option<U> { match self { Some(x) => f(x), None => None } }
        pub fn or(self, other: Option<T>) -> Option<T> { match self { Some(x) => Some(x), None => other } }
        pub fn or_else<F: FnOnce() -> Option<T>>(self, f: F) -> Option<T> { match self { Some(x) => Some(x), None => f() } }
        pub fn filter<F: FnOnce(&T) -> bool>(self, f: F) -> Option<T> { match self { Some(x) => if f(&x) { Some(x) } else { None }, None => None } }
        pub fn ok_or<E>(self, e: E) -> Result<T, E> { match self { Some(x) => Result::Ok(x), None => Result::Err(e) } }
        pub fn ok_or_else<E, F: FnOnce() -> E>(self, f: F) -> Result<T, E> { match self { Some(x) => Result::Ok(x), None => Result::Err(f()) } }
        pub fn as_ref(&self) -> Option<&T> { match self { Some(x) => Some(x), None => None } }
        pub fn as_mut(&mut self) -> Option<&mut T> { match self { Some(x) => Some(x), None => None } }
        pub fn as_deref(&self) -> Option<&<T as std::ops::Deref>::Target> where T: std::ops::Deref { match self { Some(x) => Some(std::ops::Deref::deref(x)), None => None } }
        pub fn take(&mut self) -> Option<T> { crate::mem::replace(self, None) }
        pub fn take_if<P: FnOnce(&mut T) -> bool>(&mut self, f: P) -> Option<T> {
            let wanted = match self { Some(x) => f(x), None => false };
            if wanted { self.take() } else { None }
        }
        pub fn and<U>(self, other: Option<U>) -> Option<U> { match self { Some(_) => other, None => None } }
        pub fn xor(self, other: Option<T>) -> Option<T> { match (self, other) { (Some(x), None) => Some(x), (None, Some(x)) => Some(x), _ => None } }
        pub fn zip<U>(self, other: Option<U>) -> Option<(T, U)> { match (self, other) { (Some(x), Some(y)) => Some((x, y)), _ => None } }
        pub fn inspect<F: FnOnce(&T)>(self, f: F) -> Self { if let Some(x) = &self { f(x); } self }
        pub fn as_deref_mut(&mut self) -> Option<&mut <T as std::ops::Deref>::Target> where T: std::ops::DerefMut { match self { Some(x) => Some(std::ops::DerefMut::deref_mut(x)), None => None } }
        pub fn get_or_insert(&mut self, value: T) -> &mut T {
            if let None = self { *self = Some(value); }
            match self { Some(x) => x, None => fail() }
        }
        pub fn iter(&self) -> IntoIter<&T> { IntoIter { item: self.as_ref() } }
        pub fn replace(&mut self, value: T) -> Option<T> { crate::mem::replace(self, Some(value)) }
        pub fn insert(&mut self, value: T) -> &mut T { *self = Some(value); match self { Some(x) => x, None => fail() } }
        pub fn get_or_insert_with<F: FnOnce() -> T>(&mut self, f: F) -> &mut T {
            if let None = self { *self = Some(f()); }
            match self { Some(x) => x, None => fail() }
        }
    }
    pub struct IntoIter<T> { item: Option<T> }
    impl<T> crate::iter::Iterator for IntoIter<T> {
        type Item = T;
        fn next(&mut self) -> Option<T> { self.item.take() }
    }
    impl<T> crate::iter::IntoIterator for Option<T> {
        type Item = T;
        type IntoIter = IntoIter<T>;
        fn into_iter(self) -> IntoIter<T> { IntoIter { item: self } }
    }
    impl<T> Option<Option<T>> {
        pub fn flatten(self) -> Option<T> { match self { Some(x) => x, None => None } }
    }
    impl<T, E> Option<Result<T, E>> {
        pub fn transpose(self) -> Result<Option<T>, E> { match self { Some(Result::Ok(x)) => Result::Ok(Some(x)), Some(Result::Err(e)) => Result::Err(e), None => Result::Ok(None) } }
    }
    impl<T> From<T> for Option<T> { fn from(value: T) -> Self { Some(value) } }
    impl<T> Option<&T> {
        pub fn copied(self) -> Option<T> { match self { Some(x) => Some(crate::palisade::read(x)), None => None } }
        pub fn cloned(self) -> Option<T> where T: Clone { match self { Some(x) => Some(x.clone()), None => None } }
    }
    impl<T: PartialEq> PartialEq for Option<T> {
        fn eq(&self, other: &Self) -> bool {
            match (self, other) { (Some(a), Some(b)) => *a == *b, (None, None) => true, _ => false }
        }
        fn ne(&self, other: &Self) -> bool {
            match (self, other) { (Some(a), Some(b)) => *a != *b, (None, None) => false, _ => true }
        }
    }
    impl<T: Clone> Clone for Option<T> {
        fn clone(&self) -> Self { match self { Some(x) => Some(x.clone()), None => None } }
    }
    impl<T> Default for Option<T> {
        fn default() -> Self { None }
    }
}

pub mod result {
    use crate::palisade::fail;
    use crate::option::Option;
    pub enum Result<T, E> { Ok(T), Err(E) }
    use Result::*;
    impl<T, E> Result<T, E> {
        pub fn is_ok(&self) -> bool { match self { Ok(_) => true, Err(_) => false } }
        pub fn is_err(&self) -> bool { match self { Ok(_) => false, Err(_) => true } }
        pub fn is_ok_and<F: FnOnce(T) -> bool>(self, f: F) -> bool { match self { Ok(x) => f(x), Err(_) => false } }
        pub fn unwrap(self) -> T { match self { Ok(x) => x, Err(_) => fail() } }
        pub fn expect(self, message: &str) -> T { match self { Ok(x) => x, Err(_) => fail() } }
        pub fn unwrap_err(self) -> E { match self { Ok(_) => fail(), Err(e) => e } }
        pub fn expect_err(self, message: &str) -> E { match self { Ok(_) => fail(), Err(e) => e } }
        pub fn unwrap_or(self, other: T) -> T { match self { Ok(x) => x, Err(_) => other } }
        pub fn unwrap_or_else<F: FnOnce(E) -> T>(self, f: F) -> T { match self { Ok(x) => x, Err(e) => f(e) } }
        pub fn map<U, F: FnOnce(T) -> U>(self, f: F) -> Result<U, E> { match self { Ok(x) => Ok(f(x)), Err(e) => Err(e) } }
        pub fn map_err<U, F: FnOnce(E) -> U>(self, f: F) -> Result<T, U> { match self { Ok(x) => Ok(x), Err(e) => Err(f(e)) } }
        pub fn and_then<U, F: FnOnce(T) -> Result<U, E>>(self, f: F) -> Result<U, E> { match self { Ok(x) => f(x), Err(e) => Err(e) } }
        pub fn ok(self) -> Option<T> { match self { Ok(x) => Option::Some(x), Err(_) => Option::None } }
        pub fn err(self) -> Option<E> { match self { Ok(_) => Option::None, Err(e) => Option::Some(e) } }
        pub fn as_ref(&self) -> Result<&T, &E> { match self { Ok(x) => Ok(x), Err(e) => Err(e) } }
        pub fn as_mut(&mut self) -> Result<&mut T, &mut E> { match self { Ok(x) => Ok(x), Err(e) => Err(e) } }
        pub fn is_err_and<F: FnOnce(E) -> bool>(self, f: F) -> bool { match self { Ok(_) => false, Err(e) => f(e) } }
        pub fn map_or<U, F: FnOnce(T) -> U>(self, other: U, f: F) -> U { match self { Ok(x) => f(x), Err(_) => other } }
        pub fn map_or_else<U, D: FnOnce(E) -> U, F: FnOnce(T) -> U>(self, other: D, f: F) -> U { match self { Ok(x) => f(x), Err(e) => other(e) } }
        pub fn or_else<O, F: FnOnce(E) -> Result<T, O>>(self, f: F) -> Result<T, O> { match self { Ok(x) => Ok(x), Err(e) => f(e) } }
        pub fn and<U>(self, other: Result<U, E>) -> Result<U, E> { match self { Ok(_) => other, Err(e) => Err(e) } }
        pub fn or<F>(self, other: Result<T, F>) -> Result<T, F> { match self { Ok(x) => Ok(x), Err(_) => other } }
        pub fn unwrap_or_default(self) -> T where T: Default { match self { Ok(x) => x, Err(_) => <T as Default>::default() } }
        pub unsafe fn unwrap_unchecked(self) -> T { match self { Ok(x) => x, Err(_) => fail() } }
        pub fn inspect_err<F: FnOnce(&E)>(self, f: F) -> Self { if let Err(e) = &self { f(e); } self }
    }
    impl<T: PartialEq, E: PartialEq> PartialEq for Result<T, E> {
        fn eq(&self, other: &Self) -> bool {
            match (self, other) { (Ok(a), Ok(b)) => *a == *b, (Err(a), Err(b)) => *a == *b, _ => false }
        }
        fn ne(&self, other: &Self) -> bool { !(self == other) }
    }
}

pub mod mem {
    use crate::palisade;
    pub struct ManuallyDrop<T: ?Sized> { value: T }
    impl<T> ManuallyDrop<T> {
        pub const fn new(value: T) -> Self { ManuallyDrop { value } }
        pub fn into_inner(slot: ManuallyDrop<T>) -> T { palisade::read(&raw const slot.value) }
        pub unsafe fn take(slot: &mut ManuallyDrop<T>) -> T { palisade::read(&raw const slot.value) }
        pub unsafe fn drop(slot: &mut ManuallyDrop<T>) { palisade::drop(&raw mut slot.value) }
    }
    impl<T> std::ops::Deref for ManuallyDrop<T> {
        type Target = T;
        fn deref(&self) -> &T { &self.value }
    }
    impl<T> std::ops::DerefMut for ManuallyDrop<T> {
        fn deref_mut(&mut self) -> &mut T { &mut self.value }
    }
    pub struct MaybeUninit<T> { value: T }
    impl<T> MaybeUninit<T> {
        pub fn new(value: T) -> Self { MaybeUninit { value } }
        pub fn uninit() -> Self { MaybeUninit { value: palisade::uninit() } }
        pub fn write(&mut self, value: T) -> &mut T { palisade::write(&raw mut self.value, value); &mut self.value }
        pub fn as_ptr(&self) -> *const T { &raw const self.value }
        pub fn as_mut_ptr(&mut self) -> *mut T { &raw mut self.value }
        pub unsafe fn assume_init(self) -> T { palisade::read(&raw const self.value) }
        pub unsafe fn assume_init_read(&self) -> T { palisade::read(&raw const self.value) }
        pub unsafe fn assume_init_drop(&mut self) { palisade::drop(&raw mut self.value) }
        pub unsafe fn assume_init_ref(&self) -> &T { &self.value }
        pub unsafe fn assume_init_mut(&mut self) -> &mut T { &mut self.value }
    }
    pub fn replace<T>(place: &mut T, value: T) -> T {
        let old = palisade::read(place as *const T);
        palisade::write(place as *mut T, value);
        old
    }
    pub fn take<T: Default>(place: &mut T) -> T { replace(place, <T as Default>::default()) }
    pub fn swap<T>(a: &mut T, b: &mut T) {
        let x = palisade::read(a as *const T);
        let y = palisade::read(b as *const T);
        palisade::write(a as *mut T, y);
        palisade::write(b as *mut T, x);
    }
    pub fn drop<T>(value: T) {}
    pub fn kept<T>(slot: &ManuallyDrop<T>) -> &T { &slot.value }
    pub fn inside<T>(p: *mut MaybeUninit<T>) -> *const T { unsafe { &raw const (*p).value } }
    pub fn first_of<T, const N: usize>(kept: &ManuallyDrop<[T; N]>) -> *const T { palisade::offset(&raw const kept.value as *const T, 0) }
    pub fn forget<T>(value: T) { let _kept = ManuallyDrop::new(value); }
    pub unsafe fn transmute<T, U>(value: T) -> U { palisade::transmute(value) }
    pub unsafe fn zeroed<T>() -> T { palisade::zeroed() }
    pub fn needs_drop<T>() -> bool { true }
    pub unsafe fn transmute_copy<T, U>(value: &T) -> U { palisade::transmute(palisade::read(value as *const T)) }
}

pub mod ptr {
    use crate::palisade;
    use crate::option::Option;
    pub struct Unique<T: ?Sized> { pointer: NonNull<T>, marker: () }
    impl<T: ?Sized> Unique<T> {
        pub fn of(p: *mut T) -> Self { Unique { pointer: NonNull { pointer: p }, marker: () } }
        pub fn pointer(&self) -> *mut T { self.pointer.pointer as *mut T }
    }
    pub struct NonNull<T: ?Sized> { pointer: *const T }
    pub struct Alignment(usize);
    impl<T: ?Sized> NonNull<T> {
        pub const unsafe fn new_unchecked(pointer: *mut T) -> Self { NonNull { pointer } }
        pub const fn as_ptr(self) -> *mut T { self.pointer as *mut T }
        pub unsafe fn as_ref<'a>(&self) -> &'a T { &*self.pointer }
        pub unsafe fn as_mut<'a>(&mut self) -> &'a mut T { &mut *(self.pointer as *mut T) }
    }
    impl<T> NonNull<T> {
        pub fn new(pointer: *mut T) -> Option<Self> {
            if palisade::binary("Eq", pointer, 0usize) { Option::None } else { Option::Some(NonNull { pointer }) }
        }
        pub fn dangling() -> Self { NonNull { pointer: palisade::same(8usize) } }
        pub unsafe fn add(self, by: usize) -> Self { NonNull { pointer: palisade::offset(self.pointer, by) } }
        pub unsafe fn drop_in_place(self) { palisade::drop(self.pointer as *mut T) }
        pub unsafe fn replace(self, value: T) -> T { let old = palisade::read(self.pointer); palisade::write(self.pointer as *mut T, value); old }
        pub fn from_ref(value: &T) -> Self { NonNull { pointer: value } }
        pub fn from_mut(value: &mut T) -> Self { NonNull { pointer: value } }
        pub fn cast<U>(self) -> NonNull<U> { NonNull { pointer: self.pointer as *const U } }
        pub unsafe fn read(self) -> T { palisade::read(self.pointer) }
        pub unsafe fn write(self, value: T) { palisade::write(self.pointer as *mut T, value) }
    }
    impl<T: ?Sized> Clone for NonNull<T> { fn clone(&self) -> Self { NonNull { pointer: self.pointer } } }
    impl<T: ?Sized> Copy for NonNull<T> {}
    impl<T: ?Sized> From<&T> for NonNull<T> { fn from(value: &T) -> Self { NonNull { pointer: value } } }
    impl<T: ?Sized> From<&mut T> for NonNull<T> { fn from(value: &mut T) -> Self { NonNull { pointer: value } } }
    impl<T> PartialEq for NonNull<T> {
        fn eq(&self, other: &Self) -> bool { palisade::binary("Eq", self.pointer, other.pointer) }
        fn ne(&self, other: &Self) -> bool { palisade::binary("Ne", self.pointer, other.pointer) }
    }
    pub fn null<T>() -> *const T { palisade::same(0usize) }
    pub fn null_mut<T>() -> *mut T { palisade::same(0usize) }
    pub fn dangling<T>() -> *const T { palisade::same(8usize) }
    pub fn dangling_mut<T>() -> *mut T { palisade::same(8usize) }
    pub unsafe fn read<T>(p: *const T) -> T { palisade::read(p) }
    pub unsafe fn write<T>(p: *mut T, value: T) { palisade::write(p, value) }
    pub unsafe fn read_volatile<T>(p: *const T) -> T { palisade::read(p) }
    pub unsafe fn write_volatile<T>(p: *mut T, value: T) { palisade::write(p, value) }
    pub unsafe fn replace<T>(p: *mut T, value: T) -> T { let old = palisade::read(p); palisade::write(p, value); old }
    pub unsafe fn drop_in_place<T: ?Sized>(p: *mut T) { palisade::drop(p) }
    pub fn eq<T: ?Sized>(a: *const T, b: *const T) -> bool { palisade::binary("Eq", a, b) }
    pub fn addr_eq<T: ?Sized, U: ?Sized>(a: *const T, b: *const U) -> bool { palisade::binary("Eq", a, b) }
    pub fn from_ref<T: ?Sized>(p: &T) -> *const T { p }
    pub unsafe fn swap<T>(a: *mut T, b: *mut T) {
        let x = palisade::read(a);
        let y = palisade::read(b);
        palisade::write(a, y);
        palisade::write(b, x);
    }
    pub unsafe fn copy_nonoverlapping<T>(from: *const T, to: *mut T, count: usize) {
        let mut at = 0;
        while at < count {
            palisade::write(palisade::offset(to, at), palisade::read(palisade::offset(from, at)));
            at += 1;
        }
    }
    pub unsafe fn read_unaligned<T>(p: *const T) -> T { palisade::read(p) }
    pub unsafe fn write_unaligned<T>(p: *mut T, value: T) { palisade::write(p, value) }
    pub fn slice_from_raw_parts<T>(p: *const T, length: usize) -> *const [T] { palisade::slice(p, length) }
    pub fn slice_from_raw_parts_mut<T>(p: *mut T, length: usize) -> *mut [T] { palisade::slice(p, length) }
    pub fn without_provenance_mut<T>(address: usize) -> *mut T { palisade::same(address) }
    pub fn with_exposed_provenance_mut<T>(address: usize) -> *mut T { palisade::same(address) }
    pub fn with_exposed_provenance<T>(address: usize) -> *const T { palisade::same(address) }
    pub fn from_mut<T: ?Sized>(p: &mut T) -> *mut T { p }
}

/// Methods of primitive types: `ptr_add` is `<*mut T>::add`.
pub mod prim {
    use crate::palisade;
    use crate::option::Option;
    pub fn ptr_is_null<T>(p: *const T) -> bool { palisade::binary("Eq", p, 0usize) }
    pub fn ptr_add<T>(p: *const T, by: usize) -> *mut T { palisade::offset(p, by) }
    pub fn ptr_sub<T>(p: *const T, by: usize) -> *mut T { palisade::offset_back(p, by) }
    pub fn ptr_offset<T>(p: *const T, by: isize) -> *mut T { palisade::offset(p, by as usize) }
    pub fn ptr_wrapping_add<T>(p: *const T, by: usize) -> *mut T { palisade::offset(p, by) }
    pub fn ptr_cast<T, U>(p: *const T) -> *mut U { palisade::same(p) }
    pub fn ptr_cast_mut<T>(p: *const T) -> *mut T { palisade::same(p) }
    pub fn ptr_cast_const<T>(p: *const T) -> *const T { p }
    pub fn ptr_read<T>(p: *const T) -> T { palisade::read(p) }
    pub fn ptr_write<T>(p: *mut T, value: T) { palisade::write(p, value) }
    pub fn ptr_read_volatile<T>(p: *const T) -> T { palisade::read(p) }
    pub fn ptr_write_volatile<T>(p: *mut T, value: T) { palisade::write(p, value) }
    pub fn ptr_replace<T>(p: *mut T, value: T) -> T { let old = palisade::read(p); palisade::write(p, value); old }
    pub fn ptr_drop_in_place<T>(p: *mut T) { palisade::drop(p) }
    pub fn ptr_addr<T>(p: *const T) -> usize { palisade::same(p) }
    pub fn ptr_expose_provenance<T>(p: *const T) -> usize { palisade::same(p) }
    pub fn ptr_map_addr<T, F: FnOnce(usize) -> usize>(p: *const T, f: F) -> *mut T { palisade::same(f(palisade::same(p))) }
    pub fn ptr_as_ref<'a, T>(p: *const T) -> Option<&'a T> { if ptr_is_null(p) { Option::None } else { Option::Some(palisade::same(p)) } }
    pub fn ptr_as_mut<'a, T>(p: *mut T) -> Option<&'a mut T> { if ptr_is_null(p) { Option::None } else { Option::Some(palisade::same(p)) } }

    pub fn int_wrapping_add<T>(a: T, b: T) -> T { palisade::binary("Add", a, b) }
    pub fn int_wrapping_sub<T>(a: T, b: T) -> T { palisade::binary("Sub", a, b) }
    pub fn int_wrapping_mul<T>(a: T, b: T) -> T { palisade::binary("Mul", a, b) }
    pub fn int_unchecked_add<T>(a: T, b: T) -> T { palisade::binary("Add", a, b) }
    pub fn int_unchecked_sub<T>(a: T, b: T) -> T { palisade::binary("Sub", a, b) }
    pub fn int_overflowing_add<T>(a: T, b: T) -> (T, bool) { palisade::binary("AddWithOverflow", a, b) }
    pub fn int_overflowing_sub<T>(a: T, b: T) -> (T, bool) { palisade::binary("SubWithOverflow", a, b) }
    pub fn int_checked_add<T>(a: T, b: T) -> Option<T> {
        let (value, over): (T, bool) = palisade::binary("AddWithOverflow", a, b);
        if over { Option::None } else { Option::Some(value) }
    }
    pub fn int_checked_sub<T>(a: T, b: T) -> Option<T> {
        let (value, over): (T, bool) = palisade::binary("SubWithOverflow", a, b);
        if over { Option::None } else { Option::Some(value) }
    }
    pub fn int_saturating_sub<T: Copy>(a: T, b: T) -> T {
        if palisade::binary("Lt", a, b) { palisade::binary("Sub", a, a) } else { palisade::binary("Sub", a, b) }
    }
    pub fn int_is_power_of_two<T: Copy>(a: T) -> bool {
        let less: T = palisade::binary("Sub", a, 1usize);
        let low: T = palisade::binary("BitAnd", a, less);
        palisade::binary::<T, usize, bool>("Ne", a, 0usize) && palisade::binary::<T, usize, bool>("Eq", low, 0usize)
    }
    pub fn int_overflowing_mul<T>(a: T, b: T) -> (T, bool) { palisade::binary("MulWithOverflow", a, b) }
    pub fn int_checked_mul<T>(a: T, b: T) -> Option<T> {
        let (value, over): (T, bool) = palisade::binary("MulWithOverflow", a, b);
        if over { Option::None } else { Option::Some(value) }
    }
    pub fn int_checked_div<T: Copy>(a: T, b: T) -> Option<T> { if palisade::binary("Eq", b, 0usize) { Option::None } else { Option::Some(palisade::binary("Div", a, b)) } }
    pub fn int_checked_rem<T: Copy>(a: T, b: T) -> Option<T> { if palisade::binary("Eq", b, 0usize) { Option::None } else { Option::Some(palisade::binary("Rem", a, b)) } }
    pub fn int_rem_euclid<T: Copy>(a: T, b: T) -> T { palisade::binary("Rem", a, b) }
    pub fn int_div_ceil<T: Copy>(a: T, b: T) -> T {
        let less: T = palisade::binary("Sub", b, 1usize);
        let sum: T = palisade::binary("Add", a, less);
        palisade::binary("Div", sum, b)
    }
    pub fn int_is_multiple_of<T: Copy>(a: T, b: T) -> bool { let rest: T = palisade::binary("Rem", a, b); palisade::binary("Eq", rest, 0usize) }
    pub fn int_pow<T: Copy>(a: T, n: u32) -> T {
        let mut result: T = palisade::same(palisade::binary::<T, T, T>("Sub", a, a));
        result = palisade::binary("Add", result, 1usize);
        let mut k = 0;
        while k < n {
            result = palisade::binary("Mul", result, a);
            k += 1;
        }
        result
    }
    pub fn int_wrapping_neg<T: Copy>(a: T) -> T { let zero: T = palisade::binary("Sub", a, a); palisade::binary("Sub", zero, a) }
    pub fn int_wrapping_shl<T>(a: T, by: u32) -> T { palisade::binary("Shl", a, by) }
    pub fn int_wrapping_shr<T>(a: T, by: u32) -> T { palisade::binary("Shr", a, by) }
    pub fn int_saturating_add<T: Copy>(a: T, b: T) -> T {
        let (value, over): (T, bool) = palisade::binary("AddWithOverflow", a, b);
        if over { let zero: T = palisade::binary("Sub", a, a); palisade::binary("Sub", zero, 1usize) } else { value }
    }
    pub fn int_trailing_zeros<T: Copy>(a: T) -> u32 {
        let mut n = 0;
        let mut rest = a;
        while n < palisade::bits(a) {
            let low: T = palisade::binary("BitAnd", rest, 1usize);
            if palisade::binary("Ne", low, 0usize) { return n }
            rest = palisade::binary("Shr", rest, 1usize);
            n += 1;
        }
        n
    }
    pub fn int_count_ones<T: Copy>(a: T) -> u32 {
        let mut n = 0;
        let mut k = 0;
        let mut rest = a;
        while k < palisade::bits(a) {
            let low: T = palisade::binary("BitAnd", rest, 1usize);
            if palisade::binary("Ne", low, 0usize) { n += 1; }
            rest = palisade::binary("Shr", rest, 1usize);
            k += 1;
        }
        n
    }
    pub fn int_leading_zeros<T: Copy>(a: T) -> u32 {
        let mut n = palisade::bits(a);
        let mut rest = a;
        while palisade::binary("Ne", rest, 0usize) {
            rest = palisade::binary("Shr", rest, 1usize);
            n -= 1;
        }
        n
    }
    pub fn int_next_power_of_two<T: Copy>(a: T) -> T {
        let zero: T = palisade::binary("Sub", a, a);
        let mut power: T = palisade::binary("Add", zero, 1usize);
        while palisade::binary("Lt", power, a) { power = palisade::binary("Add", power, power); }
        power
    }
    pub fn int_abs<T: Copy>(a: T) -> T { let zero: T = palisade::binary("Sub", a, a); if palisade::binary("Lt", a, zero) { palisade::binary("Sub", zero, a) } else { a } }
    pub fn int_min<T: Copy>(a: T, b: T) -> T { if palisade::binary("Lt", b, a) { b } else { a } }
    pub fn int_max<T: Copy>(a: T, b: T) -> T { if palisade::binary("Lt", a, b) { b } else { a } }
    pub fn int_abs_diff<T: Copy>(a: T, b: T) -> T { if palisade::binary("Lt", a, b) { palisade::binary("Sub", b, a) } else { palisade::binary("Sub", a, b) } }
    pub fn bool_then<T, U, F: FnOnce() -> U>(condition: bool, f: F) -> Option<U> { if condition { Option::Some(f()) } else { Option::None } }
    pub fn bool_then_some<T, U>(condition: bool, value: U) -> Option<U> { if condition { Option::Some(value) } else { Option::None } }

    pub fn slice_len<T>(s: &[T]) -> usize { palisade::len(s) }
    pub fn slice_is_empty<T>(s: &[T]) -> bool { palisade::len(s) == 0 }
    pub fn slice_get<T, U>(s: &[T], at: usize) -> Option<&T> { if at < palisade::len(s) { Option::Some(&s[at]) } else { Option::None } }
    pub fn slice_get_mut<T, U>(s: &mut [T], at: usize) -> Option<&mut T> { if at < palisade::len(s) { Option::Some(&mut s[at]) } else { Option::None } }
    pub fn slice_get_unchecked<T, U>(s: &[T], at: usize) -> &T { &s[at] }
    pub fn slice_get_unchecked_mut<T, U>(s: &mut [T], at: usize) -> &mut T { &mut s[at] }
    pub fn slice_contains<T: PartialEq>(s: &[T], x: &T) -> bool {
        let mut at = 0;
        while at < palisade::len(s) {
            if s[at] == *x { return true }
            at += 1;
        }
        false
    }
    pub fn slice_first<T>(s: &[T]) -> Option<&T> { if palisade::len(s) > 0 { Option::Some(&s[0]) } else { Option::None } }
    pub fn slice_last<T>(s: &[T]) -> Option<&T> { let n = palisade::len(s); if n > 0 { Option::Some(&s[n - 1]) } else { Option::None } }
    pub fn slice_swap<T>(s: &mut [T], a: usize, b: usize) {
        let x = palisade::read(&raw const s[a]);
        let y = palisade::read(&raw const s[b]);
        palisade::write(&raw mut s[a], y);
        palisade::write(&raw mut s[b], x);
    }
    pub fn slice_fill<T: Clone>(s: &mut [T], value: T) {
        let mut at = 0;
        while at < palisade::len(s) {
            s[at] = value.clone();
            at += 1;
        }
    }
    pub fn slice_copy_from_slice<T: Copy>(s: &mut [T], other: &[T]) {
        let mut at = 0;
        while at < palisade::len(s) {
            s[at] = other[at];
            at += 1;
        }
    }
    pub fn slice_to_vec<T: Clone>(s: &[T]) -> crate::vec::Vec<T> {
        let mut v = crate::vec::Vec::new();
        let mut at = 0;
        while at < palisade::len(s) {
            v.push(s[at].clone());
            at += 1;
        }
        v
    }
    pub fn slice_into_vec<T>(b: crate::boxed::Box<[T]>) -> crate::vec::Vec<T> {
        let mut v = crate::vec::Vec::new();
        let p = crate::boxed::Box::into_raw(b);
        let s: &[T] = palisade::same(p);
        let mut at = 0;
        while at < palisade::len(s) {
            v.push(palisade::read(&raw const s[at]));
            at += 1;
        }
        palisade::free(p);
        v
    }
    fn slice_order<T: PartialOrd>(s: &mut [T]) {
        let mut end = palisade::len(s);
        while end > 1 {
            let mut at = 1;
            while at < end {
                if s[at] < s[at - 1] { slice_swap(s, at, at - 1); }
                at += 1;
            }
            end -= 1;
        }
    }
    pub fn slice_sort<T: PartialOrd>(s: &mut [T]) { slice_order(s) }
    pub fn slice_sort_unstable<T: PartialOrd>(s: &mut [T]) { slice_order(s) }
    pub fn slice_reverse<T>(s: &mut [T]) {
        let n = palisade::len(s);
        let mut at = 0;
        while at + at + 1 < n {
            slice_swap(s, at, n - 1 - at);
            at += 1;
        }
    }
    pub fn slice_split_at<T>(s: &[T], middle: usize) -> (&[T], &[T]) {
        let n = palisade::len(s);
        if middle > n { palisade::fail() }
        let p: *const T = &raw const s[0];
        (palisade::slice(p, middle), palisade::slice(palisade::offset(p, middle), n - middle))
    }
    pub fn slice_windows<T>(s: &[T], size: usize) -> crate::slice::Windows<'_, T> { if size == 0 { palisade::fail() } crate::slice::Windows { slice: s, at: 0, size } }
    pub fn slice_chunks<T>(s: &[T], size: usize) -> crate::slice::Chunks<'_, T> { crate::slice::Chunks { slice: s, at: 0, size } }
    pub fn array_map<T, const N: usize, F: FnMut(T) -> U, U>(a: [T; N], mut f: F) -> [U; N] {
        let kept = crate::mem::ManuallyDrop::new(a);
        let from: *const T = crate::mem::first_of(&kept);
        crate::array::from_fn(|at| f(palisade::read(palisade::offset(from, at))))
    }
    pub fn array_each_ref<T>(s: &[T]) -> &[T] { s }
    pub fn slice_iter<T>(s: &[T]) -> crate::slice::Iter<'_, T> { crate::slice::Iter { slice: s, at: 0, end: palisade::len(s) } }
    pub fn slice_iter_mut<T>(s: &mut [T]) -> crate::slice::IterMut<'_, T> { let end = palisade::len(s); crate::slice::IterMut { slice: s, at: 0, end } }
    pub fn slice_as_ptr<T>(s: &[T]) -> *const T { &raw const s[0] }
    pub fn slice_as_mut_ptr<T>(s: &mut [T]) -> *mut T { &raw mut s[0] }
    pub fn array_as_slice<T>(s: &[T]) -> &[T] { s }
}

pub mod cell {
    use crate::palisade;
    pub struct UnsafeCell<T: ?Sized> { value: T }
    impl<T> UnsafeCell<T> {
        pub const fn new(value: T) -> Self { UnsafeCell { value } }
        pub fn into_inner(self) -> T { self.value }
        /// loom's: an access while the pointer is used.
        pub fn with<R, F: FnOnce(*const T) -> R>(&self, f: F) -> R { f(&raw const self.value) }
        pub fn with_mut<R, F: FnOnce(*mut T) -> R>(&self, f: F) -> R { f(&raw const self.value as *mut T) }
    }
    impl<T: ?Sized> UnsafeCell<T> {
        pub const fn get(&self) -> *mut T { &raw const self.value as *mut T }
        pub fn get_mut(&mut self) -> &mut T { &mut self.value }
        pub const fn raw_get(this: *const Self) -> *mut T { unsafe { &raw const (*this).value as *mut T } }
    }
    /// loom's guards of a cell.
    pub struct ConstPtr<T: ?Sized> { p: *const T }
    impl<T: ?Sized> ConstPtr<T> {
        pub unsafe fn deref(&self) -> &T { &*self.p }
        pub fn with<R, F: FnOnce(*const T) -> R>(&self, f: F) -> R { f(self.p) }
    }
    pub struct MutPtr<T: ?Sized> { p: *mut T }
    impl<T: ?Sized> MutPtr<T> {
        pub unsafe fn deref(&self) -> &mut T { &mut *self.p }
        pub fn with<R, F: FnOnce(*mut T) -> R>(&self, f: F) -> R { f(self.p) }
    }
    impl<T: Default> Default for UnsafeCell<T> {
        fn default() -> Self { UnsafeCell::new(<T as Default>::default()) }
    }
    pub struct Cell<T> { value: T }
    impl<T> Cell<T> {
        pub const fn new(value: T) -> Self { Cell { value } }
        pub fn get(&self) -> T { palisade::read(&raw const self.value) }
        pub fn set(&self, value: T) { palisade::write(&raw const self.value as *mut T, value) }
        pub fn replace(&self, value: T) -> T { let old = palisade::read(&raw const self.value); self.set(value); old }
        pub fn take(&self) -> T where T: Default { self.replace(<T as Default>::default()) }
        pub fn as_ptr(&self) -> *mut T { &raw const self.value as *mut T }
        pub fn into_inner(self) -> T { self.value }
        pub fn get_mut(&mut self) -> &mut T { &mut self.value }
        pub fn update<F: FnOnce(T) -> T>(&self, f: F) { self.set(f(self.get())) }
        pub fn swap(&self, other: &Cell<T>) { let mine = self.get(); self.set(other.replace(mine)); }
    }
    impl<T: Default> Default for Cell<T> { fn default() -> Self { Cell::new(<T as Default>::default()) } }
    pub struct RefCell<T: ?Sized> { state: usize, value: T }
    pub struct Ref<'a, T: ?Sized> { cell: &'a RefCell<T> }
    pub struct RefMut<'a, T: ?Sized> { cell: &'a RefCell<T> }
    impl<T> RefCell<T> {
        pub const fn new(value: T) -> Self { RefCell { state: 0, value } }
        pub fn into_inner(self) -> T { self.value }
        pub fn replace(&self, value: T) -> T { let mut place = self.borrow_mut(); crate::mem::replace(&mut *place, value) }
        pub fn take(&self) -> T where T: Default { self.replace(<T as Default>::default()) }
        pub fn get_mut(&mut self) -> &mut T { &mut self.value }
    }
    impl<T: ?Sized> RefCell<T> {
        pub fn borrow(&self) -> Ref<'_, T> {
            let n = palisade::read(&raw const self.state);
            if n == 1000 { palisade::fail() }
            palisade::write(&raw const self.state as *mut usize, n + 1);
            Ref { cell: self }
        }
        pub fn borrow_mut(&self) -> RefMut<'_, T> {
            if palisade::read(&raw const self.state) != 0 { palisade::fail() }
            palisade::write(&raw const self.state as *mut usize, 1000);
            RefMut { cell: self }
        }
    }
    impl<'a, T: ?Sized> std::ops::Deref for Ref<'a, T> { type Target = T; fn deref(&self) -> &T { &self.cell.value } }
    impl<'a, T: ?Sized> std::ops::Deref for RefMut<'a, T> { type Target = T; fn deref(&self) -> &T { &self.cell.value } }
    impl<'a, T: ?Sized> std::ops::DerefMut for RefMut<'a, T> { fn deref_mut(&mut self) -> &mut T { palisade::same(&raw const self.cell.value) } }
    impl<'a, T: ?Sized> Drop for Ref<'a, T> {
        fn drop(&mut self) { let n = palisade::read(&raw const self.cell.state); palisade::write(&raw const self.cell.state as *mut usize, n - 1); }
    }
    impl<'a, T: ?Sized> Drop for RefMut<'a, T> {
        fn drop(&mut self) { palisade::write(&raw const self.cell.state as *mut usize, 0); }
    }
    impl<T: Default> Default for RefCell<T> { fn default() -> Self { RefCell::new(<T as Default>::default()) } }
}

pub mod process {
    pub fn abort() -> ! { crate::palisade::fail() }
    pub fn exit(code: i32) -> ! { crate::palisade::bound("the process ends by exit") }
}

/// What is read may be anything, or nothing.
pub mod io {
    use crate::option::Option;
    use crate::palisade;
    use crate::result::Result;
    use crate::string::String;
    pub struct Error;
    pub struct Stdin;
    pub struct StdinLock;
    pub struct Lines<B> { from: B }
    pub fn stdin() -> Stdin { Stdin }
    impl Stdin {
        pub fn lock(&self) -> StdinLock { StdinLock }
        pub fn lines(self) -> Lines<StdinLock> { Lines { from: StdinLock } }
        pub fn read_line(&self, line: &mut String) -> Result<usize, Error> {
            if palisade::choose() { return Result::Ok(0) }
            *line = String::from(palisade::text_input());
            Result::Ok(1)
        }
    }
    impl<B> crate::iter::Iterator for Lines<B> {
        type Item = Result<String, Error>;
        fn next(&mut self) -> Option<Result<String, Error>> {
            if palisade::choose() { Option::None } else { Option::Some(Result::Ok(String::from(palisade::text_input()))) }
        }
    }
}

pub mod panic {
    pub struct AssertUnwindSafe<T>(pub T);
    pub fn set_hook<F>(f: F) {}
    pub fn take_hook() -> usize { 0 }
    pub fn resume_unwind(payload: crate::boxed::Box<dyn std::any::Any + Send>) -> ! { crate::palisade::fail() }
    /// What comes here has not panicked: a panic below this is a limit of the translation.
    pub fn catch_unwind<F: FnOnce() -> R, R>(f: F) -> crate::result::Result<R, crate::boxed::Box<dyn std::any::Any + Send>> { crate::result::Result::Ok(f()) }
}

pub mod hint {
    pub fn spin_loop() {}
    pub fn black_box<T>(x: T) -> T { x }
    pub fn must_use<T>(x: T) -> T { x }
    pub unsafe fn unreachable_unchecked() -> ! { crate::palisade::fail() }
}

pub mod boxed {
    use crate::palisade;
    use crate::ptr::{NonNull, Unique};
    pub struct Global;
    /// The machine drops what a box holds, and frees it.
    pub struct Box<T: ?Sized> { pointer: Unique<T>, alloc: Global }
    impl<T> Box<T> {
        pub fn new(value: T) -> Self {
            let p = palisade::allocate::<T>();
            palisade::write(p, value);
            unsafe { Box::from_raw(p) }
        }
        pub fn into_inner(b: Box<T>) -> T {
            let p = Box::into_raw(b);
            let value = palisade::read(p);
            palisade::free(p);
            value
        }
    }
    impl<T> Box<T> {
        pub fn new_uninit() -> Box<crate::mem::MaybeUninit<T>> {
            let p = palisade::allocate::<crate::mem::MaybeUninit<T>>();
            unsafe { Box::from_raw(p) }
        }
        pub fn pin(value: T) -> Box<T> { Box::new(value) }
    }
    impl<T> Box<crate::mem::MaybeUninit<T>> {
        pub unsafe fn assume_init(self) -> Box<T> { Box::from_raw(Box::into_raw(self) as *mut T) }
    }
    pub fn box_assume_init_into_vec_unsafe<T, const N: usize>(b: Box<crate::mem::MaybeUninit<[T; N]>>) -> crate::vec::Vec<T> {
        let p = Box::into_raw(b);
        let from: *const T = palisade::offset(crate::mem::inside(p) as *const T, 0);
        let mut v = crate::vec::Vec::with_capacity(N);
        let mut at = 0;
        while at < N {
            v.push(palisade::read(palisade::offset(from, at)));
            at += 1;
        }
        palisade::free(p);
        v
    }
    impl<T: ?Sized> Box<T> {
        pub unsafe fn from_raw(p: *mut T) -> Self { Box { pointer: Unique::of(p), alloc: Global } }
        pub unsafe fn from_non_null(p: NonNull<T>) -> Self { Box::from_raw(p.as_ptr()) }
        pub fn into_raw(b: Box<T>) -> *mut T { b.pointer.pointer() }
        pub fn into_non_null(b: Box<T>) -> NonNull<T> { unsafe { NonNull::new_unchecked(b.pointer.pointer()) } }
        pub fn leak<'a>(b: Box<T>) -> &'a mut T { palisade::same(b.pointer.pointer()) }
        pub fn as_ptr(b: &Box<T>) -> *const T { b.pointer.pointer() }
        pub fn as_mut_ptr(b: &mut Box<T>) -> *mut T { b.pointer.pointer() }
    }
    impl<T: Clone> Clone for Box<T> {
        fn clone(&self) -> Self { let inner: &T = palisade::same(self.pointer.pointer()); Box::new(inner.clone()) }
    }
    impl<T: PartialEq> PartialEq for Box<T> {
        fn eq(&self, other: &Self) -> bool { let (a, b): (&T, &T) = (palisade::same(self.pointer.pointer()), palisade::same(other.pointer.pointer())); a == b }
        fn ne(&self, other: &Self) -> bool { !(self == other) }
    }
    impl<T: Default> Default for Box<T> { fn default() -> Self { Box::new(<T as Default>::default()) } }
    impl<T: ?Sized> std::ops::Deref for Box<T> { type Target = T; fn deref(&self) -> &T { palisade::same(self.pointer.pointer()) } }
    impl<T: ?Sized> std::ops::DerefMut for Box<T> { fn deref_mut(&mut self) -> &mut T { palisade::same(self.pointer.pointer()) } }
    impl<T: ?Sized> AsRef<T> for Box<T> { fn as_ref(&self) -> &T { palisade::same(self.pointer.pointer()) } }
    impl<T: ?Sized> AsMut<T> for Box<T> { fn as_mut(&mut self) -> &mut T { palisade::same(self.pointer.pointer()) } }
}

pub mod alloc {
    pub struct Layout { size: usize }
    impl Layout {
        pub fn new<T>() -> Layout { Layout { size: 8 } }
    }
}
