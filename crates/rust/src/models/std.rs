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
    pub fn atomic_cas<T>(p: *const T, current: T, new: T, success: Ordering, failure: Ordering) -> (T, bool) { loop {} }
    pub fn atomic_cas_weak<T>(p: *const T, current: T, new: T, success: Ordering, failure: Ordering) -> (T, bool) { loop {} }
    /// Waits until `current` is there and writes `new`, with acquire.
    pub fn wait_cas<T>(p: *const T, current: T, new: T) { loop {} }
    /// Waits until `value` is there, with acquire.
    pub fn wait_equal<T>(p: *const T, value: T) { loop {} }
    pub fn wait_not_equal<T>(p: *const T, value: T) { loop {} }
    pub fn fence(order: Ordering) { loop {} }
    pub fn choose() -> bool { loop {} }
    pub fn assume(condition: bool) { loop {} }
    pub fn fail() -> ! { loop {} }
    pub fn bound() -> ! { loop {} }
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
    pub fn min<T: PartialOrd>(a: T, b: T) -> T { if b < a { b } else { a } }
    pub fn max<T: PartialOrd>(a: T, b: T) -> T { if b < a { a } else { b } }
    impl Ordering {
        pub fn is_eq(self) -> bool { match self { Ordering::Equal => true, _ => false } }
        pub fn is_lt(self) -> bool { match self { Ordering::Less => true, _ => false } }
        pub fn is_gt(self) -> bool { match self { Ordering::Greater => true, _ => false } }
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
        pub fn replace(&mut self, value: T) -> Option<T> { crate::mem::replace(self, Some(value)) }
        pub fn insert(&mut self, value: T) -> &mut T { *self = Some(value); match self { Some(x) => x, None => fail() } }
        pub fn get_or_insert_with<F: FnOnce() -> T>(&mut self, f: F) -> &mut T {
            if let None = self { *self = Some(f()); }
            match self { Some(x) => x, None => fail() }
        }
    }
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
    pub fn inside<T>(p: *mut MaybeUninit<T>) -> *const T { unsafe { &raw const (*p).value } }
    pub fn first_of<T, const N: usize>(kept: &ManuallyDrop<[T; N]>) -> *const T { palisade::offset(&raw const kept.value as *const T, 0) }
    pub fn forget<T>(value: T) { let _kept = ManuallyDrop::new(value); }
    pub unsafe fn transmute<T, U>(value: T) -> U { palisade::transmute(value) }
    pub unsafe fn zeroed<T>() -> T { palisade::zeroed() }
    pub fn needs_drop<T>() -> bool { true }
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
    pub fn slice_iter<T>(s: &[T]) -> crate::slice::Iter<'_, T> { crate::slice::Iter { slice: s, at: 0, end: palisade::len(s) } }
    pub fn slice_iter_mut<T>(s: &mut [T]) -> crate::slice::IterMut<'_, T> { let end = palisade::len(s); crate::slice::IterMut { slice: s, at: 0, end } }
    pub fn slice_as_ptr<T>(s: &[T]) -> *const T { &raw const s[0] }
    pub fn slice_as_mut_ptr<T>(s: &mut [T]) -> *mut T { &raw mut s[0] }
    pub fn array_as_slice<T>(s: &[T]) -> &[T] { s }
}

pub mod slice {
    use crate::option::Option;
    pub struct Iter<'a, T> { pub slice: &'a [T], pub at: usize, pub end: usize }
    pub struct IterMut<'a, T> { pub slice: &'a mut [T], pub at: usize, pub end: usize }
    impl<'a, T> crate::iter::Iterator for Iter<'a, T> {
        type Item = &'a T;
        fn next(&mut self) -> Option<&'a T> {
            if self.at < self.end {
                let item = &self.slice[self.at];
                self.at += 1;
                Option::Some(item)
            } else {
                Option::None
            }
        }
    }
    impl<'a, T> crate::iter::Iterator for IterMut<'a, T> {
        type Item = &'a mut T;
        fn next(&mut self) -> Option<&'a mut T> {
            if self.at < self.end {
                let item = crate::palisade::same(&raw mut self.slice[self.at]);
                self.at += 1;
                Option::Some(item)
            } else {
                Option::None
            }
        }
    }
    pub fn from_raw_parts<'a, T>(p: *const T, length: usize) -> &'a [T] { crate::palisade::slice(p, length) }
    pub fn from_raw_parts_mut<'a, T>(p: *mut T, length: usize) -> &'a mut [T] { crate::palisade::slice(p, length) }
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
    }
}

pub mod hint {
    pub fn spin_loop() {}
    pub fn black_box<T>(x: T) -> T { x }
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

pub mod iter {
    use crate::option::Option;
    pub trait Iterator: Sized {
        type Item;
        fn next(&mut self) -> Option<Self::Item>;
        fn map<B, F: FnMut(Self::Item) -> B>(self, f: F) -> Map<Self, F> { Map { iter: self, f } }
        fn filter<F: FnMut(&Self::Item) -> bool>(self, f: F) -> Filter<Self, F> { Filter { iter: self, f } }
        fn enumerate(self) -> Enumerate<Self> { Enumerate { iter: self, count: 0 } }
        fn zip<U: Iterator>(self, other: U) -> Zip<Self, U> { Zip { a: self, b: other } }
        fn take(self, n: usize) -> Take<Self> { Take { iter: self, n } }
        fn rev(self) -> Rev<Self> { Rev { iter: self } }
        fn by_ref(&mut self) -> &mut Self { self }
        fn for_each<F: FnMut(Self::Item)>(mut self, mut f: F) {
            loop {
                match self.next() { Option::Some(x) => f(x), Option::None => return }
            }
        }
        fn fold<B, F: FnMut(B, Self::Item) -> B>(mut self, init: B, mut f: F) -> B {
            let mut value = init;
            loop {
                match self.next() { Option::Some(x) => value = f(value, x), Option::None => return value }
            }
        }
        fn count(mut self) -> usize {
            let mut n = 0;
            loop {
                match self.next() { Option::Some(_) => n += 1, Option::None => return n }
            }
        }
        fn sum<S>(mut self) -> S {
            let mut total: S = crate::palisade::zeroed();
            loop {
                match self.next() { Option::Some(x) => total = crate::palisade::binary("Add", total, x), Option::None => return total }
            }
        }
        fn all<F: FnMut(Self::Item) -> bool>(&mut self, mut f: F) -> bool {
            loop {
                match self.next() { Option::Some(x) => if !f(x) { return false }, Option::None => return true }
            }
        }
        fn any<F: FnMut(Self::Item) -> bool>(&mut self, mut f: F) -> bool {
            loop {
                match self.next() { Option::Some(x) => if f(x) { return true }, Option::None => return false }
            }
        }
        fn find<F: FnMut(&Self::Item) -> bool>(&mut self, mut f: F) -> Option<Self::Item> {
            loop {
                match self.next() { Option::Some(x) => if f(&x) { return Option::Some(x) }, Option::None => return Option::None }
            }
        }
        fn nth(&mut self, n: usize) -> Option<Self::Item> {
            let mut k = n;
            loop {
                let item = self.next();
                if k == 0 { return item }
                k -= 1;
            }
        }
        fn collect<B: FromIterator<Self::Item>>(self) -> B { <B as FromIterator<Self::Item>>::from_iter(self) }
    }
    pub trait FromIterator<A> {
        fn from_iter<I: Iterator<Item = A>>(iter: I) -> Self;
    }
    pub trait IntoIterator {
        type Item;
        type IntoIter;
        fn into_iter(self) -> Self::IntoIter;
    }
    impl<I: Iterator> IntoIterator for I {
        type Item = I::Item;
        type IntoIter = I;
        fn into_iter(self) -> I { self }
    }
    pub struct Map<I, F> { iter: I, f: F }
    impl<B, I: Iterator, F: FnMut(I::Item) -> B> Iterator for Map<I, F> {
        type Item = B;
        fn next(&mut self) -> Option<B> {
            match self.iter.next() { Option::Some(x) => Option::Some((self.f)(x)), Option::None => Option::None }
        }
    }
    pub struct Filter<I, F> { iter: I, f: F }
    impl<I: Iterator, F: FnMut(&I::Item) -> bool> Iterator for Filter<I, F> {
        type Item = I::Item;
        fn next(&mut self) -> Option<I::Item> {
            loop {
                match self.iter.next() {
                    Option::Some(x) => if (self.f)(&x) { return Option::Some(x) },
                    Option::None => return Option::None,
                }
            }
        }
    }
    pub struct Enumerate<I> { iter: I, count: usize }
    impl<I: Iterator> Iterator for Enumerate<I> {
        type Item = (usize, I::Item);
        fn next(&mut self) -> Option<(usize, I::Item)> {
            match self.iter.next() {
                Option::Some(x) => { let n = self.count; self.count += 1; Option::Some((n, x)) }
                Option::None => Option::None,
            }
        }
    }
    pub struct Zip<A, B> { a: A, b: B }
    impl<A: Iterator, B: Iterator> Iterator for Zip<A, B> {
        type Item = (A::Item, B::Item);
        fn next(&mut self) -> Option<(A::Item, B::Item)> {
            match self.a.next() {
                Option::Some(x) => match self.b.next() { Option::Some(y) => Option::Some((x, y)), Option::None => Option::None },
                Option::None => Option::None,
            }
        }
    }
    pub struct Take<I> { iter: I, n: usize }
    impl<I: Iterator> Iterator for Take<I> {
        type Item = I::Item;
        fn next(&mut self) -> Option<I::Item> {
            if self.n == 0 { return Option::None }
            self.n -= 1;
            self.iter.next()
        }
    }
    pub struct Rev<I> { iter: I }
    impl<T: Copy> Iterator for Rev<crate::ops::Range<T>> {
        type Item = T;
        fn next(&mut self) -> Option<T> {
            if crate::palisade::binary("Lt", self.iter.start, self.iter.end) {
                let one: usize = 1;
                self.iter.end = crate::palisade::binary("Sub", self.iter.end, one);
                Option::Some(self.iter.end)
            } else {
                Option::None
            }
        }
    }
    impl<T: Copy> Iterator for crate::ops::Range<T> {
        type Item = T;
        fn next(&mut self) -> Option<T> {
            if crate::palisade::binary("Lt", self.start, self.end) {
                let item = self.start;
                let one: usize = 1;
                self.start = crate::palisade::binary("Add", item, one);
                Option::Some(item)
            } else {
                Option::None
            }
        }
    }
    impl<T: Copy> Iterator for crate::ops::RangeFrom<T> {
        type Item = T;
        fn next(&mut self) -> Option<T> {
            let item = self.start;
            let one: usize = 1;
            self.start = crate::palisade::binary("Add", item, one);
            Option::Some(item)
        }
    }
    impl<T: Copy> Iterator for crate::ops::RangeInclusive<T> {
        type Item = T;
        fn next(&mut self) -> Option<T> {
            if self.exhausted { return Option::None }
            if crate::palisade::binary("Lt", self.start, self.end) {
                let item = self.start;
                let one: usize = 1;
                self.start = crate::palisade::binary("Add", item, one);
                return Option::Some(item);
            }
            self.exhausted = true;
            if crate::palisade::binary("Eq", self.start, self.end) { Option::Some(self.start) } else { Option::None }
        }
    }
    pub struct Repeat<T> { value: T }
    pub fn from_fn<T, F: FnMut() -> Option<T>>(f: F) -> FromFn<F> { FromFn { f } }
    pub struct FromFn<F> { f: F }
    impl<T, F: FnMut() -> Option<T>> Iterator for FromFn<F> {
        type Item = T;
        fn next(&mut self) -> Option<T> { (self.f)() }
    }
}

pub mod array {
    use crate::option::Option;
    use crate::palisade;
    pub struct IntoIter<T> { p: *const T, at: usize, end: usize }
    impl<T, const N: usize> crate::iter::IntoIterator for [T; N] {
        type Item = T;
        type IntoIter = IntoIter<T>;
        fn into_iter(self) -> IntoIter<T> {
            let p = palisade::allocate_array::<T>(N);
            let kept = crate::mem::ManuallyDrop::new(self);
            let from: *const T = crate::mem::first_of(&kept);
            let mut at = 0;
            while at < N {
                palisade::write(palisade::offset(p, at), palisade::read(palisade::offset(from, at)));
                at += 1;
            }
            IntoIter { p, at: 0, end: N }
        }
    }
    impl<T> crate::iter::Iterator for IntoIter<T> {
        type Item = T;
        fn next(&mut self) -> Option<T> {
            if self.at < self.end {
                let item = palisade::read(palisade::offset(self.p, self.at));
                self.at += 1;
                Option::Some(item)
            } else {
                Option::None
            }
        }
    }
    pub fn from_fn<T, const N: usize, F: FnMut(usize) -> T>(mut f: F) -> [T; N] {
        let array: crate::mem::MaybeUninit<[T; N]> = crate::mem::MaybeUninit::uninit();
        let p: *mut T = palisade::offset(array.as_ptr() as *const T, 0);
        let mut at = 0;
        while at < N {
            palisade::write(palisade::offset(p, at), f(at));
            at += 1;
        }
        unsafe { array.assume_init() }
    }
}

pub mod vec {
    use crate::option::Option;
    use crate::palisade;
    pub struct Vec<T> { p: *mut T, capacity: usize, length: usize }
    impl<T> Vec<T> {
        pub const fn new() -> Self { Vec { p: std::ptr::null_mut(), capacity: 0, length: 0 } }
        pub fn with_capacity(capacity: usize) -> Self {
            let mut v = Vec::new();
            v.grow(capacity);
            v
        }
        fn grow(&mut self, capacity: usize) {
            if capacity <= self.capacity { return }
            let p = palisade::allocate_array::<T>(capacity);
            let mut at = 0;
            while at < self.length {
                palisade::write(palisade::offset(p, at), palisade::read(palisade::offset(self.p, at)));
                at += 1;
            }
            if self.capacity > 0 { palisade::free(self.p); }
            self.p = p;
            self.capacity = capacity;
        }
        pub fn push(&mut self, value: T) {
            if self.length == self.capacity {
                let capacity = if self.capacity == 0 { 4 } else { self.capacity * 2 };
                self.grow(capacity);
            }
            palisade::write(palisade::offset(self.p, self.length), value);
            self.length += 1;
        }
        pub fn pop(&mut self) -> Option<T> {
            if self.length == 0 { return Option::None }
            self.length -= 1;
            Option::Some(palisade::read(palisade::offset(self.p, self.length)))
        }
        pub fn len(&self) -> usize { self.length }
        pub fn capacity(&self) -> usize { self.capacity }
        pub fn is_empty(&self) -> bool { self.length == 0 }
        pub fn as_slice(&self) -> &[T] { palisade::slice(self.p, self.length) }
        pub fn as_mut_slice(&mut self) -> &mut [T] { palisade::slice(self.p, self.length) }
        pub fn as_ptr(&self) -> *const T { self.p }
        pub fn as_mut_ptr(&mut self) -> *mut T { self.p }
        pub fn clear(&mut self) { while let Option::Some(x) = self.pop() {} }
        pub fn remove(&mut self, at: usize) -> T {
            let item = palisade::read(palisade::offset(self.p, at));
            let mut k = at + 1;
            while k < self.length {
                palisade::write(palisade::offset(self.p, k - 1), palisade::read(palisade::offset(self.p, k)));
                k += 1;
            }
            self.length -= 1;
            item
        }
        pub fn swap_remove(&mut self, at: usize) -> T {
            let item = palisade::read(palisade::offset(self.p, at));
            self.length -= 1;
            if at < self.length {
                palisade::write(palisade::offset(self.p, at), palisade::read(palisade::offset(self.p, self.length)));
            }
            item
        }
        pub fn into_boxed_slice(self) -> crate::boxed::Box<[T]> {
            let kept = crate::mem::ManuallyDrop::new(self);
            let (p, length) = crate::vec::parts(&kept);
            unsafe { crate::boxed::Box::from_raw(palisade::slice(p, length)) }
        }
        pub fn drain<R>(&mut self, range: R) -> IntoIter<T> {
            let v = crate::mem::replace(self, Vec::new());
            crate::iter::IntoIterator::into_iter(v)
        }
    }
    pub fn parts<T>(v: &crate::mem::ManuallyDrop<Vec<T>>) -> (*mut T, usize) { let v: &Vec<T> = palisade::same(v); (v.p, v.length) }
    impl<T> Drop for Vec<T> {
        fn drop(&mut self) {
            let mut at = 0;
            while at < self.length {
                palisade::drop(palisade::offset(self.p, at));
                at += 1;
            }
            if self.capacity > 0 { palisade::free(self.p); }
        }
    }
    impl<T> Default for Vec<T> { fn default() -> Self { Vec::new() } }
    impl<T> std::ops::Deref for Vec<T> { type Target = [T]; fn deref(&self) -> &[T] { palisade::slice(self.p, self.length) } }
    impl<T> std::ops::DerefMut for Vec<T> { fn deref_mut(&mut self) -> &mut [T] { palisade::slice(self.p, self.length) } }
    impl<T> std::ops::Index<usize> for Vec<T> { type Output = T; fn index(&self, at: usize) -> &T { if at >= self.length { palisade::fail() } palisade::same(palisade::offset(self.p, at)) } }
    impl<T> std::ops::IndexMut<usize> for Vec<T> { fn index_mut(&mut self, at: usize) -> &mut T { if at >= self.length { palisade::fail() } palisade::same(palisade::offset(self.p, at)) } }
    impl<T: Clone> Clone for Vec<T> {
        fn clone(&self) -> Self {
            let mut v = Vec::new();
            let mut at = 0;
            while at < self.length {
                let item: &T = palisade::same(palisade::offset(self.p, at));
                v.push(item.clone());
                at += 1;
            }
            v
        }
    }
    impl<T> crate::iter::FromIterator<T> for Vec<T> {
        fn from_iter<I: crate::iter::Iterator<Item = T>>(mut iter: I) -> Self {
            let mut v = Vec::new();
            loop {
                match iter.next() { Option::Some(x) => v.push(x), Option::None => return v }
            }
        }
    }
    pub struct IntoIter<T> { p: *mut T, at: usize, end: usize, capacity: usize }
    impl<T> crate::iter::IntoIterator for Vec<T> {
        type Item = T;
        type IntoIter = IntoIter<T>;
        fn into_iter(self) -> IntoIter<T> {
            let capacity = self.capacity;
            let kept = crate::mem::ManuallyDrop::new(self);
            let (p, end) = parts(&kept);
            IntoIter { p, at: 0, end, capacity }
        }
    }
    impl<'a, T> crate::iter::IntoIterator for &'a Vec<T> {
        type Item = &'a T;
        type IntoIter = crate::slice::Iter<'a, T>;
        fn into_iter(self) -> crate::slice::Iter<'a, T> { let s: &'a [T] = palisade::slice(self.p, self.length); crate::slice::Iter { slice: s, at: 0, end: self.length } }
    }
    impl<T> crate::iter::Iterator for IntoIter<T> {
        type Item = T;
        fn next(&mut self) -> Option<T> {
            if self.at < self.end {
                let item = palisade::read(palisade::offset(self.p, self.at));
                self.at += 1;
                Option::Some(item)
            } else {
                Option::None
            }
        }
    }
    impl<T> Drop for IntoIter<T> {
        fn drop(&mut self) {
            while self.at < self.end {
                palisade::drop(palisade::offset(self.p, self.at));
                self.at += 1;
            }
            if self.capacity > 0 { palisade::free(self.p); }
        }
    }
    pub fn from_elem<T: Clone>(value: T, n: usize) -> Vec<T> {
        let mut v = Vec::new();
        let mut at = 0;
        while at < n {
            v.push(value.clone());
            at += 1;
        }
        v
    }
}

pub mod collections {
    use crate::option::Option;
    use crate::palisade;
    /// A queue of at most eight elements; more is a limit of the model.
    pub struct VecDeque<T> { p: *mut T, head: usize, length: usize }
    impl<T> VecDeque<T> {
        pub const fn new() -> Self { VecDeque { p: std::ptr::null_mut(), head: 0, length: 0 } }
        pub fn with_capacity(capacity: usize) -> Self { VecDeque::new() }
        pub fn len(&self) -> usize { self.length }
        pub fn is_empty(&self) -> bool { self.length == 0 }
        pub fn push_back(&mut self, value: T) {
            if self.length == 8 { palisade::bound() }
            if palisade::binary("Eq", self.p, 0usize) { self.p = palisade::allocate_array::<T>(8); }
            let at = (self.head + self.length) & 7;
            palisade::write(palisade::offset(self.p, at), value);
            self.length += 1;
        }
        pub fn push_front(&mut self, value: T) {
            if self.length == 8 { palisade::bound() }
            if palisade::binary("Eq", self.p, 0usize) { self.p = palisade::allocate_array::<T>(8); }
            self.head = (self.head + 7) & 7;
            palisade::write(palisade::offset(self.p, self.head), value);
            self.length += 1;
        }
        pub fn pop_front(&mut self) -> Option<T> {
            if self.length == 0 { return Option::None }
            let item = palisade::read(palisade::offset(self.p, self.head));
            self.head = (self.head + 1) & 7;
            self.length -= 1;
            Option::Some(item)
        }
        pub fn pop_back(&mut self) -> Option<T> {
            if self.length == 0 { return Option::None }
            self.length -= 1;
            Option::Some(palisade::read(palisade::offset(self.p, (self.head + self.length) & 7)))
        }
        pub fn front(&self) -> Option<&T> {
            if self.length == 0 { return Option::None }
            Option::Some(palisade::same(palisade::offset(self.p, self.head)))
        }
    }
    impl<T> Default for VecDeque<T> { fn default() -> Self { VecDeque::new() } }
    impl<T> Drop for VecDeque<T> {
        fn drop(&mut self) {
            while let Option::Some(x) = self.pop_front() {}
            if palisade::binary("Ne", self.p, 0usize) { palisade::free(self.p); }
        }
    }
    pub mod vec_deque { pub use super::VecDeque; }
}

pub mod string {
    /// A text: how long it is, and no more.
    pub struct String { length: usize }
    impl String {
        pub const fn new() -> Self { String { length: 0 } }
        pub fn push(&mut self, c: char) { self.length += 1; }
        pub fn push_str(&mut self, s: &str) { self.length += 1; }
        pub fn len(&self) -> usize { self.length }
        pub fn is_empty(&self) -> bool { self.length == 0 }
    }
    impl Clone for String { fn clone(&self) -> Self { String { length: self.length } } }
    impl Default for String { fn default() -> Self { String { length: 0 } } }
    impl<'a> From<&'a str> for String { fn from(s: &'a str) -> Self { String { length: 1 } } }
}

pub mod time {
    pub struct Duration { nanos: u64 }
    pub struct Instant { nanos: u64 }
    impl Duration {
        pub const fn from_secs(n: u64) -> Self { Duration { nanos: 0 } }
        pub const fn from_millis(n: u64) -> Self { Duration { nanos: 0 } }
        pub const fn from_micros(n: u64) -> Self { Duration { nanos: 0 } }
        pub const fn from_nanos(n: u64) -> Self { Duration { nanos: 0 } }
    }
    impl Instant {
        pub fn now() -> Self { Instant { nanos: 0 } }
    }
}

pub mod thread {
    use crate::mem::MaybeUninit;
    use crate::palisade;
    use crate::result::Result;
    pub struct ThreadId(usize);
    impl PartialEq for ThreadId { fn eq(&self, other: &Self) -> bool { self.0 == other.0 } fn ne(&self, other: &Self) -> bool { self.0 != other.0 } }
    impl Clone for ThreadId { fn clone(&self) -> Self { ThreadId(self.0) } }
    pub struct Thread { id: usize }
    impl Thread {
        pub fn unpark(&self) {
            palisade::atomic_exchange::<usize>(palisade::token(self.id), 1, crate::sync::atomic::Ordering::Release);
        }
        pub fn id(&self) -> ThreadId { ThreadId(self.id) }
        pub fn name(&self) -> crate::option::Option<&str> { crate::option::Option::None }
    }
    impl Clone for Thread { fn clone(&self) -> Self { Thread { id: self.id } } }
    pub fn current() -> Thread { Thread { id: palisade::current() } }
    /// Returns with the token, or without it and without a reason, as it may.
    pub fn park() {
        if palisade::choose() {
            palisade::wait_cas(palisade::token(palisade::current()), 1, 0);
        }
    }
    pub fn park_timeout(time: crate::time::Duration) { park() }
    pub fn yield_now() {}
    pub fn sleep(time: crate::time::Duration) {}
    pub fn panicking() -> bool { false }
    pub struct JoinHandle<T> { thread: Thread, packet: *mut T }
    pub fn spawn<F: FnOnce() -> T, T>(f: F) -> JoinHandle<T> {
        let packet = palisade::allocate::<T>();
        let id = palisade::spawn(move || palisade::write(packet, f()));
        JoinHandle { thread: Thread { id }, packet }
    }
    impl<T> JoinHandle<T> {
        pub fn join(self) -> Result<T, crate::boxed::Box<dyn std::any::Any + Send>> {
            palisade::join(self.thread.id);
            Result::Ok(palisade::read(self.packet))
        }
        pub fn thread(&self) -> &Thread { &self.thread }
        pub fn is_finished(&self) -> bool { palisade::choose() }
    }
    pub struct Builder { x: usize }
    impl Builder {
        pub fn new() -> Self { Builder { x: 0 } }
        pub fn spawn<F: FnOnce() -> T, T>(self, f: F) -> Result<JoinHandle<T>, ()> { Result::Ok(spawn(f)) }
    }
    pub struct Scope { count: usize, first: usize, threads: [usize; 12] }
    pub struct ScopedJoinHandle<T> { thread: Thread, packet: *mut T }
    pub fn scope<F: FnOnce(&Scope) -> T, T>(f: F) -> T {
        let scope = Scope { count: 0, first: 0, threads: [0; 12] };
        let result = f(&scope);
        let mut at = 0;
        while at < scope.count {
            palisade::join(scope.threads[at]);
            at += 1;
        }
        result
    }
    impl Scope {
        pub fn spawn<F: FnOnce() -> T, T>(&self, f: F) -> ScopedJoinHandle<T> {
            let packet = palisade::allocate::<T>();
            let id = palisade::spawn(move || palisade::write(packet, f()));
            let me: &mut Scope = palisade::same(self);
            me.threads[me.count] = id;
            me.count += 1;
            ScopedJoinHandle { thread: Thread { id }, packet }
        }
    }
    impl<T> ScopedJoinHandle<T> {
        pub fn join(self) -> Result<T, crate::boxed::Box<dyn std::any::Any + Send>> {
            palisade::join(self.thread.id);
            Result::Ok(palisade::read(self.packet))
        }
        pub fn thread(&self) -> &Thread { &self.thread }
        pub fn is_finished(&self) -> bool { palisade::choose() }
    }
}

/// loom's entry: the closure is executed once here, by all schedules.
pub mod model {
    pub fn model<F: Fn()>(f: F) { f() }
    pub struct Builder { pub preemption_bound: crate::option::Option<usize>, pub max_branches: usize, pub max_threads: usize }
    impl Builder {
        pub fn new() -> Self { Builder { preemption_bound: crate::option::Option::None, max_branches: 0, max_threads: 0 } }
        pub fn check<F: Fn()>(&self, f: F) { f() }
    }
}

pub mod rc {
    use crate::palisade;
    pub struct Rc<T: ?Sized> { p: *mut RcBox<T> }
    pub struct RcBox<T: ?Sized> { strong: usize, value: T }
    impl<T> Rc<T> {
        pub fn new(value: T) -> Self {
            let p = palisade::allocate::<RcBox<T>>();
            palisade::write(p, RcBox { strong: 1, value });
            Rc { p }
        }
    }
    impl<T: ?Sized> Rc<T> {
        pub fn strong_count(this: &Self) -> usize { unsafe { (*this.p).strong } }
        pub fn ptr_eq(a: &Self, b: &Self) -> bool { palisade::binary("Eq", a.p, b.p) }
    }
    impl<T: ?Sized> Clone for Rc<T> { fn clone(&self) -> Self { unsafe { (*self.p).strong += 1; } Rc { p: self.p } } }
    impl<T: ?Sized> std::ops::Deref for Rc<T> { type Target = T; fn deref(&self) -> &T { unsafe { &(*self.p).value } } }
    impl<T: ?Sized> Drop for Rc<T> {
        fn drop(&mut self) {
            unsafe {
                (*self.p).strong -= 1;
                if (*self.p).strong == 0 {
                    palisade::drop(&raw mut (*self.p).value);
                    palisade::free(self.p);
                }
            }
        }
    }
}

pub mod sync {
    use crate::cell::UnsafeCell;
    use crate::option::Option;
    use crate::palisade;
    use crate::result::Result;
    use atomic::{AtomicUsize, Ordering};

    pub mod atomic {
        use crate::option::Option;
        use crate::palisade::*;
        use crate::result::Result::{self, Err, Ok};
        #[derive(Clone, Copy)]
        pub enum Ordering { Relaxed, Release, Acquire, AcqRel, SeqCst }
        pub fn fence(order: Ordering) { crate::palisade::fence(order) }
        pub fn compiler_fence(order: Ordering) {}
        pub fn spin_loop_hint() {}
// ATOMIC INTEGERS
        pub struct AtomicBool { v: bool }
        impl AtomicBool {
            pub const fn new(v: bool) -> Self { AtomicBool { v } }
            pub fn load(&self, order: Ordering) -> bool { atomic_load(&raw const self.v, order) }
            pub fn store(&self, value: bool, order: Ordering) { atomic_store(&raw const self.v, value, order) }
            pub fn swap(&self, value: bool, order: Ordering) -> bool { atomic_exchange(&raw const self.v, value, order) }
            pub fn compare_exchange(&self, current: bool, new: bool, success: Ordering, failure: Ordering) -> Result<bool, bool> {
                let (old, done) = atomic_cas(&raw const self.v, current, new, success, failure);
                if done { Ok(old) } else { Err(old) }
            }
            pub fn compare_exchange_weak(&self, current: bool, new: bool, success: Ordering, failure: Ordering) -> Result<bool, bool> {
                let (old, done) = atomic_cas_weak(&raw const self.v, current, new, success, failure);
                if done { Ok(old) } else { Err(old) }
            }
            pub fn compare_and_swap(&self, current: bool, new: bool, order: Ordering) -> bool {
                let failure = match order { Ordering::Release => Ordering::Relaxed, Ordering::AcqRel => Ordering::Acquire, other => other };
                let (old, _) = atomic_cas(&raw const self.v, current, new, order, failure);
                old
            }
            pub fn fetch_or(&self, value: bool, order: Ordering) -> bool { atomic_fetch_or(&raw const self.v, value, order) }
            pub fn fetch_and(&self, value: bool, order: Ordering) -> bool { atomic_fetch_and(&raw const self.v, value, order) }
            pub fn fetch_xor(&self, value: bool, order: Ordering) -> bool { atomic_fetch_xor(&raw const self.v, value, order) }
            pub fn fetch_not(&self, order: Ordering) -> bool { atomic_fetch_xor(&raw const self.v, true, order) }
            pub fn get_mut(&mut self) -> &mut bool { &mut self.v }
            pub fn into_inner(self) -> bool { self.v }
        }
        impl Default for AtomicBool { fn default() -> Self { AtomicBool::new(false) } }
        pub struct AtomicPtr<T> { v: *mut T }
        impl<T> AtomicPtr<T> {
            pub const fn new(v: *mut T) -> Self { AtomicPtr { v } }
            pub fn load(&self, order: Ordering) -> *mut T { atomic_load(&raw const self.v, order) }
            pub fn store(&self, value: *mut T, order: Ordering) { atomic_store(&raw const self.v, value, order) }
            pub fn swap(&self, value: *mut T, order: Ordering) -> *mut T { atomic_exchange(&raw const self.v, value, order) }
            pub fn compare_exchange(&self, current: *mut T, new: *mut T, success: Ordering, failure: Ordering) -> Result<*mut T, *mut T> {
                let (old, done) = atomic_cas(&raw const self.v, current, new, success, failure);
                if done { Ok(old) } else { Err(old) }
            }
            pub fn compare_exchange_weak(&self, current: *mut T, new: *mut T, success: Ordering, failure: Ordering) -> Result<*mut T, *mut T> {
                let (old, done) = atomic_cas_weak(&raw const self.v, current, new, success, failure);
                if done { Ok(old) } else { Err(old) }
            }
            pub fn compare_and_swap(&self, current: *mut T, new: *mut T, order: Ordering) -> *mut T {
                let failure = match order { Ordering::Release => Ordering::Relaxed, Ordering::AcqRel => Ordering::Acquire, other => other };
                let (old, _) = atomic_cas(&raw const self.v, current, new, order, failure);
                old
            }
            pub fn get_mut(&mut self) -> &mut *mut T { &mut self.v }
            pub fn into_inner(self) -> *mut T { self.v }
        }
        impl<T> Default for AtomicPtr<T> { fn default() -> Self { AtomicPtr::new(std::ptr::null_mut()) } }
    }

    /// Counts as in std: an increment is relaxed, a decrement releases, and the last one acquires what all others released.
    pub struct Arc<T: ?Sized> { p: *mut ArcInner<T> }
    pub struct Weak<T: ?Sized> { p: *mut ArcInner<T> }
    pub struct ArcInner<T: ?Sized> { strong: AtomicUsize, weak: AtomicUsize, data: T }
    impl<T> Arc<T> {
        pub fn new(data: T) -> Self {
            let p = palisade::allocate::<ArcInner<T>>();
            palisade::write(p, ArcInner { strong: AtomicUsize::new(1), weak: AtomicUsize::new(1), data });
            Arc { p }
        }
        pub fn into_raw(this: Self) -> *const T {
            let kept = crate::mem::ManuallyDrop::new(this);
            let this: &Arc<T> = palisade::same(&kept);
            unsafe { &raw const (*this.p).data }
        }
        pub fn try_unwrap(this: Self) -> Result<T, Self> {
            unsafe {
                if (*this.p).strong.compare_exchange(1, 0, Ordering::Relaxed, Ordering::Relaxed).is_err() {
                    return Result::Err(this);
                }
                atomic::fence(Ordering::Acquire);
                let kept = crate::mem::ManuallyDrop::new(this);
                let this: &Arc<T> = palisade::same(&kept);
                let value = palisade::read(&raw const (*this.p).data);
                crate::mem::drop(Weak { p: this.p });
                Result::Ok(value)
            }
        }
        pub fn into_inner(this: Self) -> Option<T> {
            unsafe {
                let kept = crate::mem::ManuallyDrop::new(this);
                let this: &Arc<T> = palisade::same(&kept);
                if (*this.p).strong.fetch_sub(1, Ordering::Release) != 1 { return Option::None }
                atomic::fence(Ordering::Acquire);
                let value = palisade::read(&raw const (*this.p).data);
                crate::mem::drop(Weak { p: this.p });
                Option::Some(value)
            }
        }
    }
    impl<T: ?Sized> Arc<T> {
        pub fn strong_count(this: &Self) -> usize { unsafe { (*this.p).strong.load(Ordering::Relaxed) } }
        pub fn weak_count(this: &Self) -> usize { unsafe { (*this.p).weak.load(Ordering::Relaxed) - 1 } }
        pub fn ptr_eq(a: &Self, b: &Self) -> bool { palisade::binary("Eq", a.p, b.p) }
        pub fn as_ptr(this: &Self) -> *const T { unsafe { &raw const (*this.p).data } }
        pub fn downgrade(this: &Self) -> Weak<T> {
            unsafe {
                let mut n = (*this.p).weak.load(Ordering::Relaxed);
                loop {
                    if n == usize::MAX { n = (*this.p).weak.load(Ordering::Relaxed); continue }
                    match (*this.p).weak.compare_exchange_weak(n, n + 1, Ordering::Acquire, Ordering::Relaxed) {
                        Result::Ok(_) => return Weak { p: this.p },
                        Result::Err(old) => n = old,
                    }
                }
            }
        }
        pub fn get_mut(this: &mut Self) -> Option<&mut T> {
            unsafe {
                if (*this.p).weak.compare_exchange(1, usize::MAX, Ordering::Acquire, Ordering::Relaxed).is_err() { return Option::None }
                let unique = (*this.p).strong.load(Ordering::Acquire) == 1;
                (*this.p).weak.store(1, Ordering::Release);
                if unique { Option::Some(&mut (*this.p).data) } else { Option::None }
            }
        }
    }
    impl<T: ?Sized> Clone for Arc<T> {
        fn clone(&self) -> Self { unsafe { (*self.p).strong.fetch_add(1, Ordering::Relaxed); } Arc { p: self.p } }
    }
    impl<T: ?Sized> std::ops::Deref for Arc<T> { type Target = T; fn deref(&self) -> &T { unsafe { &(*self.p).data } } }
    impl<T: ?Sized> AsRef<T> for Arc<T> { fn as_ref(&self) -> &T { unsafe { &(*self.p).data } } }
    impl<T: ?Sized> Drop for Arc<T> {
        fn drop(&mut self) {
            unsafe {
                if (*self.p).strong.fetch_sub(1, Ordering::Release) != 1 { return }
                atomic::fence(Ordering::Acquire);
                palisade::drop(&raw mut (*self.p).data);
                crate::mem::drop(Weak { p: self.p });
            }
        }
    }
    impl<T> Default for Arc<T> where T: Default { fn default() -> Self { Arc::new(<T as Default>::default()) } }
    impl<T> From<T> for Arc<T> { fn from(value: T) -> Self { Arc::new(value) } }
    impl<T: ?Sized> Weak<T> {
        pub fn upgrade(&self) -> Option<Arc<T>> {
            unsafe {
                let mut n = (*self.p).strong.load(Ordering::Relaxed);
                loop {
                    if n == 0 { return Option::None }
                    match (*self.p).strong.compare_exchange_weak(n, n + 1, Ordering::Acquire, Ordering::Relaxed) {
                        Result::Ok(_) => return Option::Some(Arc { p: self.p }),
                        Result::Err(old) => n = old,
                    }
                }
            }
        }
    }
    impl<T: ?Sized> Clone for Weak<T> {
        fn clone(&self) -> Self { unsafe { (*self.p).weak.fetch_add(1, Ordering::Relaxed); } Weak { p: self.p } }
    }
    impl<T: ?Sized> Drop for Weak<T> {
        fn drop(&mut self) {
            unsafe {
                if (*self.p).weak.fetch_sub(1, Ordering::Release) == 1 {
                    atomic::fence(Ordering::Acquire);
                    palisade::free(self.p);
                }
            }
        }
    }

    pub struct PoisonError<T> { data: T }
    pub enum TryLockError<T> { Poisoned(PoisonError<T>), WouldBlock }
    impl<T> PoisonError<T> { pub fn into_inner(self) -> T { self.data } }

    pub struct Mutex<T: ?Sized> { locked: usize, data: UnsafeCell<T> }
    pub struct MutexGuard<'a, T: ?Sized> { lock: &'a Mutex<T> }
    impl<T> Mutex<T> {
        pub const fn new(data: T) -> Self { Mutex { locked: 0, data: UnsafeCell::new(data) } }
        pub fn into_inner(self) -> Result<T, PoisonError<T>> { Result::Ok(self.data.into_inner()) }
    }
    impl<T: ?Sized> Mutex<T> {
        pub fn lock(&self) -> Result<MutexGuard<'_, T>, PoisonError<MutexGuard<'_, T>>> {
            palisade::wait_cas(&raw const self.locked, 0, 1);
            Result::Ok(MutexGuard { lock: self })
        }
        pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError<MutexGuard<'_, T>>> {
            let (_, done) = palisade::atomic_cas(&raw const self.locked, 0, 1, Ordering::Acquire, Ordering::Relaxed);
            if done { Result::Ok(MutexGuard { lock: self }) } else { Result::Err(TryLockError::WouldBlock) }
        }
        pub fn get_mut(&mut self) -> Result<&mut T, PoisonError<&mut T>> { Result::Ok(self.data.get_mut()) }
        pub fn is_poisoned(&self) -> bool { false }
    }
    impl<T: Default> Default for Mutex<T> { fn default() -> Self { Mutex::new(<T as Default>::default()) } }
    impl<'a, T: ?Sized> std::ops::Deref for MutexGuard<'a, T> { type Target = T; fn deref(&self) -> &T { unsafe { &*self.lock.data.get() } } }
    impl<'a, T: ?Sized> std::ops::DerefMut for MutexGuard<'a, T> { fn deref_mut(&mut self) -> &mut T { unsafe { &mut *self.lock.data.get() } } }
    impl<'a, T: ?Sized> Drop for MutexGuard<'a, T> {
        fn drop(&mut self) { palisade::atomic_store(&raw const self.lock.locked, 0, Ordering::Release); }
    }

    pub struct RwLock<T: ?Sized> { state: usize, data: UnsafeCell<T> }
    pub struct RwLockReadGuard<'a, T: ?Sized> { lock: &'a RwLock<T> }
    pub struct RwLockWriteGuard<'a, T: ?Sized> { lock: &'a RwLock<T> }
    impl<T> RwLock<T> {
        pub const fn new(data: T) -> Self { RwLock { state: 0, data: UnsafeCell::new(data) } }
        pub fn into_inner(self) -> Result<T, PoisonError<T>> { Result::Ok(self.data.into_inner()) }
    }
    impl<T: ?Sized> RwLock<T> {
        pub fn read(&self) -> Result<RwLockReadGuard<'_, T>, PoisonError<RwLockReadGuard<'_, T>>> {
            loop {
                palisade::wait_not_equal(&raw const self.state, 1000);
                let n = palisade::atomic_load(&raw const self.state, Ordering::Relaxed);
                if n != 1000 {
                    let (_, done) = palisade::atomic_cas(&raw const self.state, n, n + 1, Ordering::Acquire, Ordering::Relaxed);
                    if done { return Result::Ok(RwLockReadGuard { lock: self }) }
                }
            }
        }
        pub fn write(&self) -> Result<RwLockWriteGuard<'_, T>, PoisonError<RwLockWriteGuard<'_, T>>> {
            palisade::wait_cas(&raw const self.state, 0, 1000);
            Result::Ok(RwLockWriteGuard { lock: self })
        }
    }
    impl<'a, T: ?Sized> std::ops::Deref for RwLockReadGuard<'a, T> { type Target = T; fn deref(&self) -> &T { unsafe { &*self.lock.data.get() } } }
    impl<'a, T: ?Sized> std::ops::Deref for RwLockWriteGuard<'a, T> { type Target = T; fn deref(&self) -> &T { unsafe { &*self.lock.data.get() } } }
    impl<'a, T: ?Sized> std::ops::DerefMut for RwLockWriteGuard<'a, T> { fn deref_mut(&mut self) -> &mut T { unsafe { &mut *self.lock.data.get() } } }
    impl<'a, T: ?Sized> Drop for RwLockReadGuard<'a, T> {
        fn drop(&mut self) { palisade::atomic_fetch_sub::<usize, usize>(&raw const self.lock.state, 1, Ordering::Release); }
    }
    impl<'a, T: ?Sized> Drop for RwLockWriteGuard<'a, T> {
        fn drop(&mut self) { palisade::atomic_store(&raw const self.lock.state, 0, Ordering::Release); }
    }

    /// A wait may return at any time without a reason, so notifying does nothing that safety could see.
    pub struct Condvar { unused: () }
    impl Condvar {
        pub const fn new() -> Self { Condvar { unused: () } }
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> Result<MutexGuard<'a, T>, PoisonError<MutexGuard<'a, T>>> {
            let lock = guard.lock;
            crate::mem::drop(guard);
            lock.lock()
        }
        pub fn wait_while<'a, T, F: FnMut(&mut T) -> bool>(&self, guard: MutexGuard<'a, T>, mut condition: F) -> Result<MutexGuard<'a, T>, PoisonError<MutexGuard<'a, T>>> {
            let mut guard = guard;
            while condition(unsafe { &mut *guard.lock.data.get() }) {
                guard = self.wait(guard).unwrap();
            }
            Result::Ok(guard)
        }
        pub fn notify_one(&self) {}
        pub fn notify_all(&self) {}
    }
    impl Default for Condvar { fn default() -> Self { Condvar::new() } }

    pub struct Once { state: usize }
    impl Once {
        pub const fn new() -> Self { Once { state: 0 } }
        pub fn call_once<F: FnOnce()>(&self, f: F) {
            if palisade::atomic_load(&raw const self.state, Ordering::Acquire) == 2 { return }
            let (old, done) = palisade::atomic_cas(&raw const self.state, 0, 1, Ordering::Acquire, Ordering::Acquire);
            if done {
                f();
                palisade::atomic_store(&raw const self.state, 2, Ordering::Release);
            } else if old != 2 {
                palisade::wait_equal(&raw const self.state, 2);
            }
        }
        pub fn is_completed(&self) -> bool { palisade::atomic_load(&raw const self.state, Ordering::Acquire) == 2 }
    }
    pub struct OnceLock<T> { once: Once, value: UnsafeCell<Option<T>> }
    impl<T> OnceLock<T> {
        pub const fn new() -> Self { OnceLock { once: Once::new(), value: UnsafeCell::new(Option::None) } }
        pub fn get(&self) -> Option<&T> {
            if self.once.is_completed() { unsafe { (*self.value.get()).as_ref() } } else { Option::None }
        }
        pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
            self.once.call_once(|| unsafe { *self.value.get() = Option::Some(f()) });
            unsafe { (*self.value.get()).as_ref().unwrap() }
        }
        pub fn set(&self, value: T) -> Result<(), T> {
            let mut value = Option::Some(value);
            self.get_or_init(|| value.take().unwrap());
            match value { Option::None => Result::Ok(()), Option::Some(v) => Result::Err(v) }
        }
    }
    pub struct LazyLock<T, F> { once: Once, f: F, value: UnsafeCell<Option<T>> }
    impl<T, F: Fn() -> T> LazyLock<T, F> {
        pub const fn new(f: F) -> Self { LazyLock { once: Once::new(), f, value: UnsafeCell::new(Option::None) } }
        pub fn force(this: &Self) -> &T {
            this.once.call_once(|| unsafe { *this.value.get() = Option::Some((this.f)()) });
            unsafe { (*this.value.get()).as_ref().unwrap() }
        }
    }
    impl<T, F: Fn() -> T> std::ops::Deref for LazyLock<T, F> { type Target = T; fn deref(&self) -> &T { LazyLock::force(self) } }

    pub struct Barrier { lock: usize, count: usize, generation: usize, n: usize }
    pub struct BarrierWaitResult(bool);
    impl Barrier {
        pub const fn new(n: usize) -> Self { Barrier { lock: 0, count: 0, generation: 0, n } }
        pub fn wait(&self) -> BarrierWaitResult {
            palisade::wait_cas(&raw const self.lock, 0, 1);
            let generation = palisade::atomic_load(&raw const self.generation, Ordering::Relaxed);
            let count = palisade::atomic_load(&raw const self.count, Ordering::Relaxed) + 1;
            if count >= self.n {
                palisade::atomic_store(&raw const self.count, 0, Ordering::Relaxed);
                palisade::atomic_store(&raw const self.generation, generation + 1, Ordering::Release);
                palisade::atomic_store(&raw const self.lock, 0, Ordering::Release);
                return BarrierWaitResult(true);
            }
            palisade::atomic_store(&raw const self.count, count, Ordering::Relaxed);
            palisade::atomic_store(&raw const self.lock, 0, Ordering::Release);
            palisade::wait_not_equal(&raw const self.generation, generation);
            BarrierWaitResult(false)
        }
    }
    impl BarrierWaitResult { pub fn is_leader(&self) -> bool { self.0 } }

    pub mod mpsc {
        use super::{Arc, Mutex};
        use super::atomic::{AtomicUsize, Ordering};
        use crate::collections::VecDeque;
        use crate::option::Option;
        use crate::palisade;
        use crate::result::Result;
        pub struct Shared<T> { queue: Mutex<VecDeque<T>>, length: usize, senders: AtomicUsize }
        pub struct Sender<T> { shared: Arc<Shared<T>> }
        pub struct Receiver<T> { shared: Arc<Shared<T>> }
        pub struct SendError<T>(pub T);
        pub struct RecvError;
        pub enum TryRecvError { Empty, Disconnected }
        pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
            let shared = Arc::new(Shared { queue: Mutex::new(VecDeque::new()), length: 0, senders: AtomicUsize::new(1) });
            (Sender { shared: shared.clone() }, Receiver { shared })
        }
        impl<T> Sender<T> {
            pub fn send(&self, value: T) -> Result<(), SendError<T>> {
                let mut queue = self.shared.queue.lock().unwrap();
                queue.push_back(value);
                Result::Ok(())
            }
        }
        impl<T> Clone for Sender<T> {
            fn clone(&self) -> Self { self.shared.senders.fetch_add(1, Ordering::Relaxed); Sender { shared: self.shared.clone() } }
        }
        impl<T> Drop for Sender<T> {
            fn drop(&mut self) { self.shared.senders.fetch_sub(1, Ordering::Release); }
        }
        impl<T> Receiver<T> {
            pub fn try_recv(&self) -> Result<T, TryRecvError> {
                let gone = self.shared.senders.load(Ordering::Acquire) == 0;
                let mut queue = self.shared.queue.lock().unwrap();
                match queue.pop_front() {
                    Option::Some(x) => Result::Ok(x),
                    Option::None => if gone { Result::Err(TryRecvError::Disconnected) } else { Result::Err(TryRecvError::Empty) },
                }
            }
            pub fn recv(&self) -> Result<T, RecvError> {
                loop {
                    match self.try_recv() {
                        Result::Ok(x) => return Result::Ok(x),
                        Result::Err(TryRecvError::Disconnected) => return Result::Err(RecvError),
                        Result::Err(TryRecvError::Empty) => {}
                    }
                }
            }
        }
    }
}
