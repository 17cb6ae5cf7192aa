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
    /// `end`, told apart where `begin` is known: a loop from one to the other comes to an end.
    pub fn few<T>(begin: T, end: T) -> T { loop {} }
    pub fn assume(condition: bool) { loop {} }
    pub fn fail() -> ! { loop {} }
    /// A limit of the models is met: its name.
    pub fn bound(what: &'static str) -> ! { loop {} }
    /// Whether there is one thread so far.
    pub fn alone() -> bool { loop {} }
    /// Whether there should be room for a few elements only.
    pub fn little_room() -> bool { loop {} }
    /// Whether what this points to is shared by threads and should have a few elements only.
    pub fn has_few<T>(p: *const T) -> bool { loop {} }
    pub fn spawn<F: FnOnce()>(f: F) -> usize { loop {} }
    pub fn join(thread: usize) { loop {} }
    pub fn current() -> usize { loop {} }
    pub fn token(thread: usize) -> *const usize { loop {} }
    /// Where 1 stands when a thread has ended.
    pub fn end(thread: usize) -> *const usize { loop {} }
    pub fn allocate<T>() -> *mut T { loop {} }
    /// Memory of the models themselves, in which no leak is looked for.
    pub fn allocate_own<T>() -> *mut T { loop {} }
    pub fn allocate_array<T>(count: usize) -> *mut T { loop {} }
    pub fn free<T: ?Sized>(p: *mut T) { loop {} }
    pub fn drop<T: ?Sized>(p: *mut T) { loop {} }
    pub fn read<T>(p: *const T) -> T { loop {} }
    pub fn write<T>(p: *mut T, value: T) { loop {} }
    pub fn len<T>(s: &[T]) -> usize { loop {} }
    pub fn slice<T, S>(p: *const T, length: usize) -> S { loop {} }
    pub fn offset<T, N>(p: *const T, by: N) -> *mut T { loop {} }
    pub fn offset_back<T>(p: *const T, by: usize) -> *mut T { loop {} }
    pub fn uninit<T>() -> T { loop {} }
    /// The same value; it is an error if nothing was written there.
    pub fn initialized<T>(value: T) -> T { loop {} }
    /// Whether the type is `()`.
    pub fn is_unit<T>() -> bool { loop {} }
    pub fn zeroed<T>() -> T { loop {} }
    pub fn size_of<T: ?Sized>() -> usize { loop {} }
    pub fn size_of_val<T: ?Sized>(value: &T) -> usize { loop {} }
    pub fn align_of_val<T: ?Sized>(value: &T) -> usize { loop {} }
    pub fn discriminant<T>(value: &T) -> isize { loop {} }
    pub fn needs_drop<T: ?Sized>() -> bool { loop {} }
    /// A pointer to an array is one to its first element.
    pub fn cast<T: ?Sized, U>(p: *const T) -> *mut U { loop {} }
    pub fn align_of<T: ?Sized>() -> usize { loop {} }
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
    /// How many characters it has, and which stands at a place.
    pub fn text_count(s: &str) -> usize { loop {} }
    pub fn text_char(s: &str, at: usize) -> char { loop {} }
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
    /// What references do of these traits; other types say it themselves.
    pub trait Deref { type Target: ?Sized; fn deref(&self) -> &Self::Target; }
    pub trait DerefMut: Deref { fn deref_mut(&mut self) -> &mut Self::Target; }
    impl<'a, T: ?Sized> Deref for &'a T { type Target = T; fn deref(&self) -> &T { *self } }
    impl<'a, T: ?Sized> Deref for &'a mut T { type Target = T; fn deref(&self) -> &T { *self } }
    impl<'a, T: ?Sized> DerefMut for &'a mut T { fn deref_mut(&mut self) -> &mut T { *self } }
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
    pub struct RangeToInclusive<T> { pub end: T }
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
    pub struct Reverse<T>(pub T);
    impl<T: std::cmp::PartialEq> std::cmp::PartialEq for Reverse<T> { fn eq(&self, other: &Self) -> bool { self.0 == other.0 } }
    impl<T: std::cmp::PartialOrd> std::cmp::PartialOrd for Reverse<T> {
        fn partial_cmp(&self, other: &Self) -> std::option::Option<std::cmp::Ordering> { other.0.partial_cmp(&self.0) }
    }
    impl<T: Ord> Ord for Reverse<T> { fn cmp(&self, other: &Self) -> Ordering { other.0.cmp(&self.0) } }
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
        pub fn unzip<A, B>(self) -> (Option<A>, Option<B>) where T: Into<(A, B)> {
            match self { Some(pair) => { let (a, b): (A, B) = crate::palisade::same(pair); (Some(a), Some(b)) } None => (None, None) }
        }
        pub fn get_or_insert_default(&mut self) -> &mut T where T: Default { if let None = self { *self = Some(<T as Default>::default()); } match self { Some(x) => x, None => fail() } }
        pub fn get_or_insert(&mut self, value: T) -> &mut T {
            if let None = self { *self = Some(value); }
            match self { Some(x) => x, None => fail() }
        }
        pub fn iter(&self) -> Iter<'_, T> { Iter { item: self.as_ref() } }
        pub fn iter_mut(&mut self) -> IterMut<'_, T> { IterMut { item: self.as_mut() } }
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
    pub struct Iter<'a, T> { pub item: Option<&'a T> }
    impl<'a, T> crate::iter::Iterator for Iter<'a, T> {
        type Item = &'a T;
        fn next(&mut self) -> Option<&'a T> { self.item.take() }
    }
    pub struct IterMut<'a, T> { item: Option<&'a mut T> }
    impl<'a, T> crate::iter::Iterator for IterMut<'a, T> {
        type Item = &'a mut T;
        fn next(&mut self) -> Option<&'a mut T> { self.item.take() }
    }
    impl<'a, T> crate::iter::IntoIterator for &'a Option<T> {
        type Item = &'a T;
        type IntoIter = Iter<'a, T>;
        fn into_iter(self) -> Iter<'a, T> { self.iter() }
    }
    impl<'a, T> crate::iter::IntoIterator for &'a mut Option<T> {
        type Item = &'a mut T;
        type IntoIter = IterMut<'a, T>;
        fn into_iter(self) -> IterMut<'a, T> { self.iter_mut() }
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
    impl<T: PartialOrd> PartialOrd for Option<T> {
        fn partial_cmp(&self, other: &Self) -> std::option::Option<std::cmp::Ordering> {
            match (self, other) {
                (Some(a), Some(b)) => a.partial_cmp(b),
                (a, b) => crate::palisade::same(Some(crate::palisade::same::<crate::cmp::Ordering, std::cmp::Ordering>(if a.is_some() { crate::cmp::Ordering::Greater } else if b.is_some() { crate::cmp::Ordering::Less } else { crate::cmp::Ordering::Equal }))),
            }
        }
    }
    impl<T> Default for Option<T> {
        fn default() -> Self { None }
    }
}

pub mod result {
    use crate::palisade::fail;
    use crate::option::Option;
    pub enum Result<T, E> { Ok(T), Err(E) }
    pub struct Iter<'a, T> { item: Option<&'a T> }
    impl<'a, T> crate::iter::Iterator for Iter<'a, T> { type Item = &'a T; fn next(&mut self) -> Option<&'a T> { self.item.take() } }
    pub struct IntoIter<T> { item: Option<T> }
    impl<T> crate::iter::Iterator for IntoIter<T> { type Item = T; fn next(&mut self) -> Option<T> { self.item.take() } }
    impl<T, E> crate::iter::IntoIterator for Result<T, E> { type Item = T; type IntoIter = IntoIter<T>; fn into_iter(self) -> IntoIter<T> { IntoIter { item: self.ok() } } }
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
        pub fn inspect<F: FnOnce(&T)>(self, f: F) -> Self { if let Result::Ok(x) = &self { f(x); } self }
        pub fn iter(&self) -> Iter<'_, T> { match self { Result::Ok(x) => Iter { item: Option::Some(x) }, Result::Err(_) => Iter { item: Option::None } } }
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
        pub fn zeroed() -> Self { MaybeUninit { value: palisade::zeroed() } }
        pub fn write(&mut self, value: T) -> &mut T { palisade::write(&raw mut self.value, value); &mut self.value }
        pub fn as_ptr(&self) -> *const T { &raw const self.value }
        pub fn as_mut_ptr(&mut self) -> *mut T { &raw mut self.value }
        pub unsafe fn assume_init(self) -> T { palisade::initialized(palisade::read(&raw const self.value)) }
        pub unsafe fn assume_init_read(&self) -> T { palisade::initialized(palisade::read(&raw const self.value)) }
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
    pub unsafe fn uninitialized<T>() -> T { palisade::uninit() }
    pub fn needs_drop<T: ?Sized>() -> bool { palisade::needs_drop::<T>() }
    pub fn size_of<T>() -> usize { palisade::size_of::<T>() }
    pub fn align_of<T>() -> usize { palisade::align_of::<T>() }
    /// Which variant a value is.
    pub struct Discriminant<T> { number: isize, of: *const T }
    pub fn discriminant<T>(value: &T) -> Discriminant<T> { Discriminant { number: palisade::discriminant(value), of: 0 as *const T } }
    impl<T> crate::cmp::PartialEq<Discriminant<T>> for Discriminant<T> { fn eq(&self, other: &Discriminant<T>) -> bool { self.number == other.number } }
    pub fn size_of_val<T: ?Sized>(value: &T) -> usize { palisade::size_of_val::<T>(value) }
    pub fn align_of_val<T: ?Sized>(value: &T) -> usize { palisade::align_of_val::<T>(value) }
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
        pub fn cast<U>(self) -> NonNull<U> { NonNull { pointer: palisade::cast(self.pointer) } }
        pub unsafe fn sub(self, by: usize) -> Self { NonNull { pointer: palisade::offset_back(self.pointer, by) } }
        pub unsafe fn byte_add(self, by: usize) -> Self { NonNull { pointer: crate::prim::ptr_byte_add(self.pointer, by) } }
        pub fn addr(self) -> usize { palisade::same(self.pointer) }
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
    pub unsafe fn write_bytes<T>(p: *mut T, byte: u8, count: usize) {
        if byte != 0 { palisade::bound("bytes that are not zero are written as they are") }
        let mut at = 0;
        while at < count {
            palisade::write(palisade::offset(p, at), palisade::zeroed::<T>());
            at += 1;
        }
    }
    /// All is read before anything is written: the places may overlap.
    pub unsafe fn copy<T>(from: *const T, to: *mut T, count: usize) {
        let mut items = crate::vec::Vec::new();
        let mut at = 0;
        while at < count { items.push(palisade::read(palisade::offset(from, at))); at += 1; }
        at = 0;
        while at < count { palisade::write(palisade::offset(to, at), palisade::read(&raw const items[at])); at += 1; }
        unsafe { items.set_len(0) }
    }
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
    /// What is written is nothing.
    pub trait Write {
        fn write_fmt<A>(&mut self, text: A) -> Result<(), Error> { Result::Ok(()) }
        fn write_all(&mut self, bytes: &[u8]) -> Result<(), Error> { Result::Ok(()) }
        fn flush(&mut self) -> Result<(), Error> { Result::Ok(()) }
    }
    pub struct Stdout;
    pub struct Stderr;
    pub struct StdoutLock;
    pub fn stdout() -> Stdout { Stdout }
    pub fn stderr() -> Stderr { Stderr }
    impl Stdout { pub fn lock(&self) -> StdoutLock { StdoutLock } }
    impl Stderr { pub fn lock(&self) -> StdoutLock { StdoutLock } }
    impl Write for Stdout {}
    impl Write for StdoutLock {}
    impl Write for Stderr {}
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
