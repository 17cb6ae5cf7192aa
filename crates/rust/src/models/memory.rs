
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
        pub fn pin(value: T) -> crate::pin::Pin<Box<T>> { crate::pin::Pin::of(Box::new(value)) }
        pub fn into_pin(b: Box<T>) -> crate::pin::Pin<Box<T>> { crate::pin::Pin::of(b) }
    }
    impl<T> Box<crate::mem::MaybeUninit<T>> {
        pub unsafe fn assume_init(self) -> Box<T> { Box::from_raw(Box::into_raw(self) as *mut T) }
        pub fn write(b: Box<crate::mem::MaybeUninit<T>>, value: T) -> Box<T> { let p = Box::into_raw(b) as *mut T; palisade::write(p, value); unsafe { Box::from_raw(p) } }
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
    impl<T> From<T> for UnsafeCell<T> { fn from(value: T) -> Self { UnsafeCell::new(value) } }
    impl<T> From<T> for Cell<T> { fn from(value: T) -> Self { Cell::new(value) } }
    impl<T> From<T> for RefCell<T> { fn from(value: T) -> Self { RefCell::new(value) } }
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
    pub struct BorrowError;
    pub struct BorrowMutError;
    impl<T: ?Sized> RefCell<T> {
        pub fn try_borrow(&self) -> crate::result::Result<Ref<'_, T>, BorrowError> { if palisade::read(&raw const self.state) == 1000 { crate::result::Result::Err(BorrowError) } else { crate::result::Result::Ok(self.borrow()) } }
        pub fn try_borrow_mut(&self) -> crate::result::Result<RefMut<'_, T>, BorrowMutError> { if palisade::read(&raw const self.state) != 0 { crate::result::Result::Err(BorrowMutError) } else { crate::result::Result::Ok(self.borrow_mut()) } }
        pub fn as_ptr(&self) -> *mut T { &raw const self.value as *mut T }
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
    /// Of one thread alone.
    pub struct OnceCell<T> { value: UnsafeCell<crate::option::Option<T>> }
    impl<T> OnceCell<T> {
        pub const fn new() -> Self { OnceCell { value: UnsafeCell::new(crate::option::Option::None) } }
        pub fn get(&self) -> crate::option::Option<&T> { unsafe { (*self.value.get()).as_ref() } }
        pub fn get_mut(&mut self) -> crate::option::Option<&mut T> { unsafe { (*self.value.get()).as_mut() } }
        pub fn set(&self, value: T) -> crate::result::Result<(), T> {
            if self.get().is_some() { return crate::result::Result::Err(value) }
            unsafe { *self.value.get() = crate::option::Option::Some(value); }
            crate::result::Result::Ok(())
        }
        pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
            if self.get().is_none() {
                let value = f();
                if self.set(value).is_err() { palisade::fail() }
            }
            self.get().unwrap()
        }
        pub fn into_inner(self) -> crate::option::Option<T> { self.value.into_inner() }
        pub fn take(&mut self) -> crate::option::Option<T> { unsafe { (*self.value.get()).take() } }
    }
    impl<T> Default for OnceCell<T> { fn default() -> Self { OnceCell::new() } }
    pub struct LazyCell<T, F> { cell: OnceCell<T>, make: F }
    impl<T, F: Fn() -> T> LazyCell<T, F> {
        pub const fn new(make: F) -> Self { LazyCell { cell: OnceCell::new(), make } }
        pub fn force(this: &Self) -> &T { this.cell.get_or_init(|| (this.make)()) }
    }
    impl<T, F: Fn() -> T> std::ops::Deref for LazyCell<T, F> { type Target = T; fn deref(&self) -> &T { LazyCell::force(self) } }
    impl<T: Default> Default for RefCell<T> { fn default() -> Self { RefCell::new(<T as Default>::default()) } }
}

/// Memory without a type: what makes it knows the type that it was asked for.
pub mod alloc {
    use crate::palisade;
    use crate::result::Result;
    // How large it is, is found out only where that is asked.
    pub struct Layout { make: fn(usize, bool) -> *mut u8, count: usize, size: fn() -> usize, align: fn() -> usize }
    pub struct LayoutError;
    fn size_one<T>() -> usize { palisade::size_of::<T>() }
    fn align_one<T>() -> usize { palisade::align_of::<T>() }
    fn make_one<T>(count: usize, zero: bool) -> *mut u8 {
        let p = palisade::allocate::<T>();
        if zero { palisade::write(p, palisade::zeroed::<T>()); }
        palisade::same(p)
    }
    fn make_many<T>(count: usize, zero: bool) -> *mut u8 {
        let p = palisade::allocate_array::<T>(count);
        if zero {
            let mut at = 0;
            while at < count {
                palisade::write(palisade::offset(p, at), palisade::zeroed::<T>());
                at += 1;
            }
        }
        palisade::same(p)
    }
    impl Layout {
        pub fn new<T>() -> Layout { Layout { make: make_one::<T>, count: 1, size: size_one::<T>, align: align_one::<T> } }
        pub fn for_value<T>(value: &T) -> Layout { Layout::new::<T>() }
        pub fn array<T>(count: usize) -> Result<Layout, LayoutError> { Result::Ok(Layout { make: make_many::<T>, count, size: size_one::<T>, align: align_one::<T> }) }
        pub fn size(&self) -> usize { (self.size)() * self.count }
        pub fn align(&self) -> usize { (self.align)() }
    }
    impl Clone for Layout { fn clone(&self) -> Self { Layout { make: self.make, count: self.count, size: self.size, align: self.align } } }
    pub unsafe fn alloc(layout: Layout) -> *mut u8 { (layout.make)(layout.count, false) }
    pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 { (layout.make)(layout.count, true) }
    pub unsafe fn dealloc(p: *mut u8, layout: Layout) { palisade::free(p) }
    pub fn handle_alloc_error(layout: Layout) -> ! { palisade::fail() }
}

pub mod borrow {
    use crate::palisade;
    pub trait Borrow<B: ?Sized> { fn borrow(&self) -> &B; }
    pub trait BorrowMut<B: ?Sized> { fn borrow_mut(&mut self) -> &mut B; }
    impl<T, const N: usize> Borrow<[T]> for [T; N] { fn borrow(&self) -> &[T] { self } }
    impl<T, const N: usize> BorrowMut<[T]> for [T; N] { fn borrow_mut(&mut self) -> &mut [T] { self } }
    impl<T> Borrow<[T]> for crate::vec::Vec<T> { fn borrow(&self) -> &[T] { self.as_slice() } }
    impl<T: ?Sized> Borrow<T> for crate::boxed::Box<T> { fn borrow(&self) -> &T { palisade::same(crate::boxed::Box::as_ptr(self)) } }
    impl<T: ?Sized> Borrow<T> for crate::sync::Arc<T> { fn borrow(&self) -> &T { std::ops::Deref::deref(self) } }
    impl<T> Borrow<T> for T { fn borrow(&self) -> &T { self } }
    impl<T> BorrowMut<T> for T { fn borrow_mut(&mut self) -> &mut T { self } }
}

pub mod default {
    pub trait Default { fn default() -> Self; }
    impl<T: Default, const N: usize> Default for [T; N] { fn default() -> Self { crate::array::from_fn(|at| <T as Default>::default()) } }
}

pub mod clone {
    /// What this trait does where a type does not say it itself.
    pub trait Clone: Sized {
        fn clone(&self) -> Self;
        fn clone_from(&mut self, source: &Self) { *self = <Self as Clone>::clone(source); }
    }
}
