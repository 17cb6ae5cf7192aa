// Reference counts, atomics, locks, channels.

pub mod rc {
    use crate::palisade;
    use crate::result::Result;
    use crate::sync::atomic::Ordering;
    pub struct Rc<T: ?Sized> { p: *mut RcBox<T> }
    /// `weak` counts one for all owners.
    pub struct RcBox<T: ?Sized> { strong: usize, weak: usize, value: T }
    pub struct Weak<T: ?Sized> { p: *mut RcBox<T> }
    /// Threads of loom may share an `Rc`: it executes one at a time.
    fn count(strong: *const usize, by: isize) -> usize {
        if palisade::in_model() { return palisade::atomic_fetch_add::<usize, isize>(strong, by, Ordering::AcqRel) }
        let old = palisade::read(strong);
        palisade::write(strong as *mut usize, palisade::binary("Add", old, by));
        old
    }
    impl<T> Rc<T> {
        pub fn new(value: T) -> Self {
            let p = palisade::allocate::<RcBox<T>>();
            palisade::write(p, RcBox { strong: 1, weak: 1, value });
            Rc { p }
        }
        pub fn new_cyclic<F: FnOnce(&Weak<T>) -> T>(f: F) -> Self {
            let p = palisade::allocate::<RcBox<T>>();
            unsafe {
                palisade::write(&raw mut (*p).strong, 0);
                palisade::write(&raw mut (*p).weak, 1);
                let weak = Weak { p };
                palisade::write(&raw mut (*p).value, f(&weak));
                crate::mem::forget(weak);
                palisade::write(&raw mut (*p).strong, 1);
            }
            Rc { p }
        }
        pub fn into_inner(this: Self) -> crate::option::Option<T> { Rc::try_unwrap(this).ok() }
        pub fn unwrap_or_clone(this: Self) -> T where T: Clone { match Rc::try_unwrap(this) { Result::Ok(x) => x, Result::Err(this) => unsafe { (*this.p).value.clone() } } }
        pub fn make_mut(this: &mut Self) -> &mut T where T: Clone {
            if Rc::get_mut(this).is_none() { let copy = unsafe { (*this.p).value.clone() }; *this = Rc::new(copy); }
            unsafe { &mut (*this.p).value }
        }
        pub fn try_unwrap(this: Self) -> Result<T, Self> {
            if Rc::strong_count(&this) != 1 { return Result::Err(this) }
            let kept = crate::mem::ManuallyDrop::new(this);
            let p = crate::mem::kept(&kept).p;
            let value = unsafe { palisade::read(&raw const (*p).value) };
            unsafe { count(&raw const (*p).strong, -1); }
            crate::mem::drop(Weak { p });
            Result::Ok(value)
        }
        pub fn get_mut(this: &mut Self) -> crate::option::Option<&mut T> {
            if Rc::strong_count(this) == 1 && Rc::weak_count(this) == 0 { crate::option::Option::Some(unsafe { &mut (*this.p).value }) } else { crate::option::Option::None }
        }
    }
    impl<T: ?Sized> Rc<T> {
        pub fn strong_count(this: &Self) -> usize {
            unsafe { if palisade::in_model() { palisade::atomic_load(&raw const (*this.p).strong, Ordering::Acquire) } else { (*this.p).strong } }
        }
        pub fn weak_count(this: &Self) -> usize {
            unsafe { if palisade::in_model() { palisade::atomic_load(&raw const (*this.p).weak, Ordering::Acquire) - 1 } else { (*this.p).weak - 1 } }
        }
        pub fn downgrade(this: &Self) -> Weak<T> { unsafe { count(&raw const (*this.p).weak, 1); } Weak { p: this.p } }
        pub fn ptr_eq(a: &Self, b: &Self) -> bool { palisade::binary("Eq", a.p, b.p) }
        pub fn as_ptr(this: &Self) -> *const T { unsafe { &raw const (*this.p).value } }
    }
    impl<T: ?Sized> Clone for Rc<T> { fn clone(&self) -> Self { unsafe { count(&raw const (*self.p).strong, 1); } Rc { p: self.p } } }
    impl<T: ?Sized> std::ops::Deref for Rc<T> { type Target = T; fn deref(&self) -> &T { unsafe { &(*self.p).value } } }
    impl<T: ?Sized + PartialEq> PartialEq for Rc<T> {
        fn eq(&self, other: &Self) -> bool { unsafe { (*self.p).value == (*other.p).value } }
        fn ne(&self, other: &Self) -> bool { unsafe { (*self.p).value != (*other.p).value } }
    }
    impl<T: Default> Default for Rc<T> { fn default() -> Self { Rc::new(<T as Default>::default()) } }
    impl<T: ?Sized> Drop for Rc<T> {
        fn drop(&mut self) {
            unsafe {
                if count(&raw const (*self.p).strong, -1) == 1 {
                    palisade::drop(&raw mut (*self.p).value);
                    crate::mem::drop(Weak { p: self.p });
                }
            }
        }
    }
    impl<T> From<T> for Rc<T> { fn from(value: T) -> Self { Rc::new(value) } }
    impl<T: ?Sized> AsRef<T> for Rc<T> { fn as_ref(&self) -> &T { unsafe { &(*self.p).value } } }
    impl<T> Weak<T> { pub fn new() -> Weak<T> { Weak { p: palisade::same(0usize) } } }
    impl<T> Default for Weak<T> { fn default() -> Self { Weak::new() } }
    impl<T: ?Sized> Weak<T> {
        pub fn upgrade(&self) -> crate::option::Option<Rc<T>> {
            if palisade::binary("Eq", self.p, 0usize) { return crate::option::Option::None }
            unsafe {
                if palisade::in_model() {
                    let mut n = palisade::atomic_load(&raw const (*self.p).strong, Ordering::Acquire);
                    loop {
                        if n == 0 { return crate::option::Option::None }
                        let (seen, done) = palisade::atomic_cas(&raw const (*self.p).strong, n, n + 1, Ordering::AcqRel, Ordering::Acquire);
                        if done { return crate::option::Option::Some(Rc { p: self.p }) }
                        n = seen;
                    }
                }
                if (*self.p).strong == 0 { return crate::option::Option::None }
                count(&raw const (*self.p).strong, 1);
            }
            crate::option::Option::Some(Rc { p: self.p })
        }
        pub fn strong_count(&self) -> usize { if palisade::binary("Eq", self.p, 0usize) { 0 } else { unsafe { if palisade::in_model() { palisade::atomic_load(&raw const (*self.p).strong, Ordering::Acquire) } else { (*self.p).strong } } } }
        pub fn ptr_eq(&self, other: &Weak<T>) -> bool { palisade::binary("Eq", self.p, other.p) }
    }
    impl<T: ?Sized> Clone for Weak<T> { fn clone(&self) -> Self { if palisade::binary("Ne", self.p, 0usize) { unsafe { count(&raw const (*self.p).weak, 1); } } Weak { p: self.p } } }
    impl<T: ?Sized> Drop for Weak<T> {
        fn drop(&mut self) {
            if palisade::binary("Eq", self.p, 0usize) { return }
            unsafe { if count(&raw const (*self.p).weak, -1) == 1 { palisade::free(self.p); } }
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
            pub fn fetch_nand(&self, value: bool, order: Ordering) -> bool {
                let mut old = atomic_load(&raw const self.v, Ordering::Relaxed);
                loop {
                    let (seen, done) = atomic_cas(&raw const self.v, old, !(old & value), order, Ordering::Relaxed);
                    if done { return seen }
                    old = seen;
                }
            }
            pub fn fetch_update<F: FnMut(bool) -> Option<bool>>(&self, set: Ordering, fetch: Ordering, mut f: F) -> Result<bool, bool> {
                let mut old = atomic_load(&raw const self.v, fetch);
                while let Option::Some(new) = f(old) {
                    let (seen, done) = atomic_cas_weak(&raw const self.v, old, new, set, fetch);
                    if done { return Ok(seen) }
                    old = seen;
                }
                Err(old)
            }
            pub fn as_ptr(&self) -> *mut bool { &raw const self.v as *mut bool }
            pub unsafe fn unsync_load(&self) -> bool { self.v }
            pub fn with_mut<R, F: FnOnce(&mut bool) -> R>(&mut self, f: F) -> R { f(&mut self.v) }
            pub fn fetch_not(&self, order: Ordering) -> bool { atomic_fetch_xor(&raw const self.v, true, order) }
            pub fn get_mut(&mut self) -> &mut bool { &mut self.v }
            pub fn into_inner(self) -> bool { self.v }
        }
        impl From<bool> for AtomicBool { fn from(v: bool) -> Self { AtomicBool::new(v) } }
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
            pub unsafe fn unsync_load(&self) -> *mut T { self.v }
            pub fn with_mut<R, F: FnOnce(&mut *mut T) -> R>(&mut self, f: F) -> R { f(&mut self.v) }
            pub fn fetch_update<F: FnMut(*mut T) -> Option<*mut T>>(&self, set: Ordering, fetch: Ordering, mut f: F) -> Result<*mut T, *mut T> {
                let mut old = atomic_load(&raw const self.v, fetch);
                while let Option::Some(new) = f(old) {
                    let (seen, done) = atomic_cas_weak(&raw const self.v, old, new, set, fetch);
                    if done { return Ok(seen) }
                    old = seen;
                }
                Err(old)
            }
            pub fn into_inner(self) -> *mut T { self.v }
            pub fn as_ptr(&self) -> *mut *mut T { &raw const self.v as *mut *mut T }
        }
        impl<T> From<*mut T> for AtomicPtr<T> { fn from(v: *mut T) -> Self { AtomicPtr::new(v) } }
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
            let this: &Arc<T> = crate::mem::kept(&kept);
            unsafe { &raw const (*this.p).data }
        }
        pub fn new_cyclic<F: FnOnce(&Weak<T>) -> T>(f: F) -> Self {
            let p = palisade::allocate::<ArcInner<T>>();
            unsafe {
                palisade::write(&raw mut (*p).strong, AtomicUsize::new(0));
                palisade::write(&raw mut (*p).weak, AtomicUsize::new(1));
                let weak = Weak { p };
                palisade::write(&raw mut (*p).data, f(&weak));
                (*p).strong.fetch_add(1, Ordering::Release);
                crate::mem::forget(weak);
            }
            Arc { p }
        }
        pub unsafe fn from_raw(p: *const T) -> Self { Arc { p: palisade::container(p, 2usize) } }
        pub unsafe fn increment_strong_count(p: *const T) {
            let inner: *mut ArcInner<T> = palisade::container(p, 2usize);
            (*inner).strong.fetch_add(1, Ordering::Relaxed);
        }
        pub unsafe fn decrement_strong_count(p: *const T) { crate::mem::drop(Arc::<T>::from_raw(p)) }
        pub fn make_mut(this: &mut Self) -> &mut T where T: Clone {
            if Arc::get_mut(this).is_none() {
                let copy = unsafe { (*this.p).data.clone() };
                *this = Arc::new(copy);
            }
            unsafe { &mut (*this.p).data }
        }
        pub fn unwrap_or_clone(this: Self) -> T where T: Clone {
            match Arc::try_unwrap(this) { Result::Ok(x) => x, Result::Err(this) => unsafe { (*this.p).data.clone() } }
        }
        pub fn pin(data: T) -> Self { Arc::new(data) }
        pub fn try_unwrap(this: Self) -> Result<T, Self> {
            unsafe {
                if (*this.p).strong.compare_exchange(1, 0, Ordering::Relaxed, Ordering::Relaxed).is_err() {
                    return Result::Err(this);
                }
                atomic::fence(Ordering::Acquire);
                let kept = crate::mem::ManuallyDrop::new(this);
                let this: &Arc<T> = crate::mem::kept(&kept);
                let value = palisade::read(&raw const (*this.p).data);
                crate::mem::drop(Weak { p: this.p });
                Result::Ok(value)
            }
        }
        pub fn into_inner(this: Self) -> Option<T> {
            unsafe {
                let kept = crate::mem::ManuallyDrop::new(this);
                let this: &Arc<T> = crate::mem::kept(&kept);
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
    impl<T: ?Sized + PartialEq> PartialEq for Arc<T> {
        fn eq(&self, other: &Self) -> bool { unsafe { (*self.p).data == (*other.p).data } }
        fn ne(&self, other: &Self) -> bool { unsafe { (*self.p).data != (*other.p).data } }
    }
    impl<T> Default for Arc<T> where T: Default { fn default() -> Self { Arc::new(<T as Default>::default()) } }
    impl<T> From<T> for Arc<T> { fn from(value: T) -> Self { Arc::new(value) } }
    impl<T> Weak<T> {
        pub fn new() -> Weak<T> { Weak { p: palisade::same(0usize) } }
    }
    impl<T: ?Sized> Weak<T> {
        pub fn strong_count(&self) -> usize { unsafe { (*self.p).strong.load(Ordering::Relaxed) } }
        pub fn ptr_eq(&self, other: &Weak<T>) -> bool { palisade::binary("Eq", self.p, other.p) }
        pub fn upgrade(&self) -> Option<Arc<T>> {
            unsafe {
                if palisade::binary("Eq", self.p, 0usize) { return Option::None }
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
        fn clone(&self) -> Self {
            if palisade::binary("Ne", self.p, 0usize) { unsafe { (*self.p).weak.fetch_add(1, Ordering::Relaxed); } }
            Weak { p: self.p }
        }
    }
    impl<T: ?Sized> Drop for Weak<T> {
        fn drop(&mut self) {
            if palisade::binary("Eq", self.p, 0usize) { return }
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
    impl<T> PoisonError<T> {
        pub fn into_inner(self) -> T { self.data }
        pub fn get_ref(&self) -> &T { &self.data }
    }

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
        pub fn clear_poison(&self) {}
        pub fn is_poisoned(&self) -> bool { false }
    }
    impl<T> From<T> for Mutex<T> { fn from(value: T) -> Self { Mutex::new(value) } }
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
            palisade::wait_step(&raw const self.state, 0, 16, 1);
            Result::Ok(RwLockReadGuard { lock: self })
        }
        pub fn write(&self) -> Result<RwLockWriteGuard<'_, T>, PoisonError<RwLockWriteGuard<'_, T>>> {
            palisade::wait_cas(&raw const self.state, 0, 1000);
            Result::Ok(RwLockWriteGuard { lock: self })
        }
        pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError<RwLockReadGuard<'_, T>>> {
            let mut n = palisade::atomic_load(&raw const self.state, Ordering::Relaxed);
            loop {
                if n == 1000 { return Result::Err(TryLockError::WouldBlock) }
                let (old, done) = palisade::atomic_cas(&raw const self.state, n, n + 1, Ordering::Acquire, Ordering::Relaxed);
                if done { return Result::Ok(RwLockReadGuard { lock: self }) }
                n = old;
            }
        }
        pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError<RwLockWriteGuard<'_, T>>> {
            let (_, done) = palisade::atomic_cas(&raw const self.state, 0, 1000, Ordering::Acquire, Ordering::Relaxed);
            if done { Result::Ok(RwLockWriteGuard { lock: self }) } else { Result::Err(TryLockError::WouldBlock) }
        }
        pub fn get_mut(&mut self) -> Result<&mut T, PoisonError<&mut T>> { Result::Ok(self.data.get_mut()) }
        pub fn clear_poison(&self) {}
        pub fn is_poisoned(&self) -> bool { false }
    }
    impl<T: Default> Default for RwLock<T> { fn default() -> Self { RwLock::new(<T as Default>::default()) } }
    impl<T> From<T> for RwLock<T> { fn from(value: T) -> Self { RwLock::new(value) } }
    impl<'a, T: ?Sized> std::ops::Deref for RwLockReadGuard<'a, T> { type Target = T; fn deref(&self) -> &T { unsafe { &*self.lock.data.get() } } }
    impl<'a, T: ?Sized> std::ops::Deref for RwLockWriteGuard<'a, T> { type Target = T; fn deref(&self) -> &T { unsafe { &*self.lock.data.get() } } }
    impl<'a, T: ?Sized> std::ops::DerefMut for RwLockWriteGuard<'a, T> { fn deref_mut(&mut self) -> &mut T { unsafe { &mut *self.lock.data.get() } } }
    impl<'a, T: ?Sized> Drop for RwLockReadGuard<'a, T> {
        fn drop(&mut self) { palisade::atomic_fetch_sub::<usize, usize>(&raw const self.lock.state, 1, Ordering::Release); }
    }
    impl<'a, T: ?Sized> Drop for RwLockWriteGuard<'a, T> {
        fn drop(&mut self) { palisade::atomic_store(&raw const self.lock.state, 0, Ordering::Release); }
    }

    /// Threads that sleep until another wakes them. `waiting` and `permits` change together under `lock`.
    pub struct Sleepers { lock: usize, waiting: usize, permits: usize }
    impl Sleepers {
        pub const fn new() -> Self { Sleepers { lock: 0, waiting: 0, permits: 0 } }
        pub fn enter(&self) { palisade::wait_cas(&raw const self.lock, 0, 1) }
        pub fn leave(&self) { palisade::atomic_store(&raw const self.lock, 0, Ordering::Release) }
        /// Between `enter` and `leave`: this thread will sleep. Those that were woken before take their permits first: they are not for it.
        pub fn announce(&self) {
            palisade::wait_equal(&raw const self.permits, 0);
            let n = palisade::atomic_load(&raw const self.waiting, Ordering::Relaxed);
            palisade::atomic_store(&raw const self.waiting, n + 1, Ordering::Relaxed);
        }
        pub fn sleep(&self) { palisade::wait_step(&raw const self.permits, 1, 16, -1) }
        pub fn wake(&self, all: bool) {
            self.enter();
            let n = palisade::atomic_load(&raw const self.waiting, Ordering::Relaxed);
            if n > 0 {
                let woken = if all { n } else { 1 };
                palisade::atomic_store(&raw const self.waiting, n - woken, Ordering::Relaxed);
                palisade::atomic_fetch_add::<usize, usize>(&raw const self.permits, woken, Ordering::Relaxed);
            }
            self.leave();
        }
    }

    /// loom's: a wait takes the one permit that a notification leaves.
    pub struct Notify { permit: usize }
    impl Notify {
        pub fn new() -> Self { Notify { permit: 0 } }
        pub fn notify(&self) { palisade::atomic_exchange::<usize>(&raw const self.permit, 1, Ordering::Release); }
        pub fn wait(&self) { palisade::wait_cas(&raw const self.permit, 1, 0) }
    }

    /// A wait returns for a notification, or at any time without a reason.
    pub struct Condvar { sleepers: Sleepers }
    pub struct WaitTimeoutResult(bool);
    impl WaitTimeoutResult { pub fn timed_out(&self) -> bool { self.0 } }
    impl Condvar {
        pub const fn new() -> Self { Condvar { sleepers: Sleepers::new() } }
        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> Result<MutexGuard<'a, T>, PoisonError<MutexGuard<'a, T>>> {
            let lock = guard.lock;
            if palisade::choose() {
                crate::mem::drop(guard);
            } else {
                self.sleepers.enter();
                self.sleepers.announce();
                self.sleepers.leave();
                crate::mem::drop(guard);
                self.sleepers.sleep();
            }
            lock.lock()
        }
        pub fn wait_while<'a, T, F: FnMut(&mut T) -> bool>(&self, guard: MutexGuard<'a, T>, mut condition: F) -> Result<MutexGuard<'a, T>, PoisonError<MutexGuard<'a, T>>> {
            let mut guard = guard;
            while condition(unsafe { &mut *guard.lock.data.get() }) {
                guard = self.wait(guard).unwrap();
            }
            Result::Ok(guard)
        }
        pub fn wait_timeout<'a, T>(&self, guard: MutexGuard<'a, T>, time: crate::time::Duration) -> Result<(MutexGuard<'a, T>, WaitTimeoutResult), PoisonError<(MutexGuard<'a, T>, WaitTimeoutResult)>> {
            let lock = guard.lock;
            crate::mem::drop(guard);
            let late = palisade::choose();
            match lock.lock() {
                Result::Ok(guard) => Result::Ok((guard, WaitTimeoutResult(late))),
                Result::Err(_) => palisade::fail(),
            }
        }
        pub fn wait_timeout_while<'a, T, F: FnMut(&mut T) -> bool>(&self, guard: MutexGuard<'a, T>, time: crate::time::Duration, mut condition: F) -> Result<(MutexGuard<'a, T>, WaitTimeoutResult), PoisonError<(MutexGuard<'a, T>, WaitTimeoutResult)>> {
            let mut guard = guard;
            loop {
                if !condition(&mut *guard) { return Result::Ok((guard, WaitTimeoutResult(false))) }
                if palisade::choose() { return Result::Ok((guard, WaitTimeoutResult(true))) }
                // Nobody sleeps for ever here: what a wait does is that others may have the lock.
                match self.wait_timeout(guard, crate::time::Duration::ZERO) { Result::Ok((again, _)) => guard = again, Result::Err(_) => palisade::fail() }
            }
        }
        pub fn notify_one(&self) { self.sleepers.wake(false) }
        pub fn notify_all(&self) { self.sleepers.wake(true) }
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
        pub fn wait(&self) { palisade::wait_equal(&raw const self.state, 2) }
        pub fn wait_force(&self) { self.wait() }
        pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) { self.call_once(|| f(&OnceState { unused: 0 })) }
        pub fn is_completed(&self) -> bool { palisade::atomic_load(&raw const self.state, Ordering::Acquire) == 2 }
    }
    pub struct OnceState { unused: usize }
    impl OnceState { pub fn is_poisoned(&self) -> bool { false } }
    impl<T> Default for OnceLock<T> { fn default() -> Self { OnceLock::new() } }
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
        pub fn get_mut(&mut self) -> Option<&mut T> { self.value.get_mut().as_mut() }
        pub fn into_inner(self) -> Option<T> { self.value.into_inner() }
        pub fn take(&mut self) -> Option<T> { self.once = Once::new(); self.value.get_mut().take() }
        pub fn wait(&self) -> &T { self.once.wait(); unsafe { (*self.value.get()).as_ref().unwrap() } }
        pub fn set(&self, value: T) -> Result<(), T> {
            let mut value = Option::Some(value);
            self.get_or_init(|| value.take().unwrap());
            match value { Option::None => Result::Ok(()), Option::Some(v) => Result::Err(v) }
        }
    }
    impl<T> From<T> for OnceLock<T> { fn from(value: T) -> Self { let cell = OnceLock::new(); cell.get_or_init(|| value); cell } }
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
        use super::Arc;
        use super::atomic::{AtomicUsize, Ordering};
        use crate::option::Option;
        use crate::palisade;
        use crate::result::Result;
        /// Senders take turns by `lock`, and there is one receiver: `tail` is theirs, `head` is its own. `signal` is twice the number of messages, odd when
        /// all senders are gone, and `GONE` more when the receiver is; `room` is how many more fit.
        pub struct Shared<T> { slots: *mut T, lock: usize, ends: Ends, signal: usize, senders: AtomicUsize, bounded: bool, room: usize }
        pub struct Ends { tail: usize, head: usize }
        const GONE: usize = 1000;
        pub struct Sender<T> { shared: Arc<Shared<T>> }
        pub struct SyncSender<T> { shared: Arc<Shared<T>> }
        pub struct Receiver<T> { shared: Arc<Shared<T>> }
        pub struct SendError<T>(pub T);
        pub struct RecvError;
        pub enum TryRecvError { Empty, Disconnected }
        pub enum RecvTimeoutError { Timeout, Disconnected }
        pub enum TrySendError<T> { Full(T), Disconnected(T) }
        impl PartialEq for RecvError { fn eq(&self, other: &Self) -> bool { true } fn ne(&self, other: &Self) -> bool { false } }
        impl PartialEq for TryRecvError {
            fn eq(&self, other: &Self) -> bool { match (self, other) { (TryRecvError::Empty, TryRecvError::Empty) => true, (TryRecvError::Disconnected, TryRecvError::Disconnected) => true, _ => false } }
            fn ne(&self, other: &Self) -> bool { !(self == other) }
        }
        fn shared<T>(bounded: bool, room: usize) -> Arc<Shared<T>> {
            Arc::new(Shared { slots: palisade::allocate_array::<T>(if palisade::little_room() { 4 } else { 8 }), lock: 0, ends: Ends { tail: 0, head: 0 }, signal: 0, senders: AtomicUsize::new(1), bounded, room })
        }
        pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
            let shared = shared(false, 0);
            (Sender { shared: shared.clone() }, Receiver { shared })
        }
        pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
            if bound == 0 { palisade::bound("a channel without room, where sender and receiver meet") }
            let shared = shared(true, bound);
            (SyncSender { shared: shared.clone() }, Receiver { shared })
        }
        fn next(at: usize) -> usize { (at + 1) & if palisade::little_room() { 3 } else { 7 } }
        /// The value comes back where there is no receiver any more.
        fn put<T>(shared: &Shared<T>, value: T) -> Option<T> {
            palisade::wait_cas(&raw const shared.lock, 0, 1);
            let signal = palisade::atomic_load(&raw const shared.signal, Ordering::Acquire);
            if signal >= GONE {
                palisade::atomic_store(&raw const shared.lock, 0, Ordering::Release);
                return Option::Some(value);
            }
            if palisade::little_room() {
                if signal >= 8 { palisade::bound("a channel with more than 4 messages") }
            } else if signal >= 16 {
                palisade::bound("a channel with more than 8 messages")
            }
            let tail = shared.ends.tail;
            palisade::write(palisade::offset(shared.slots, tail), value);
            palisade::write(&raw const shared.ends.tail as *mut usize, next(tail));
            palisade::atomic_fetch_add::<usize, usize>(&raw const shared.signal, 2, Ordering::AcqRel);
            palisade::atomic_store(&raw const shared.lock, 0, Ordering::Release);
            Option::None
        }
        fn get<T>(shared: &Shared<T>) -> T {
            let head = shared.ends.head;
            let value = palisade::read(palisade::offset(shared.slots, head));
            palisade::write(&raw const shared.ends.head as *mut usize, next(head));
            palisade::atomic_fetch_sub::<usize, usize>(&raw const shared.signal, 2, Ordering::AcqRel);
            value
        }
        impl<T> Drop for Shared<T> {
            fn drop(&mut self) {
                let mut left = self.signal;
                while left >= GONE { left -= GONE; }
                while left >= 2 { crate::mem::drop(get(self)); left -= 2; }
                palisade::free(self.slots);
            }
        }
        fn gone<T>(shared: &Shared<T>) {
            if shared.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
                palisade::atomic_fetch_add::<usize, usize>(&raw const shared.signal, 1, Ordering::Release);
            }
        }
        impl<T> Sender<T> {
            pub fn send(&self, value: T) -> Result<(), SendError<T>> {
                match put(&self.shared, value) { Option::None => Result::Ok(()), Option::Some(value) => Result::Err(SendError(value)) }
            }
        }
        impl<T> Clone for Sender<T> {
            fn clone(&self) -> Self { self.shared.senders.fetch_add(1, Ordering::Relaxed); Sender { shared: self.shared.clone() } }
        }
        impl<T> Drop for Sender<T> { fn drop(&mut self) { gone(&self.shared); } }
        impl<T> SyncSender<T> {
            pub fn send(&self, value: T) -> Result<(), SendError<T>> {
                palisade::wait_step(&raw const self.shared.room, 1, 16, -1);
                match put(&self.shared, value) { Option::None => Result::Ok(()), Option::Some(value) => Result::Err(SendError(value)) }
            }
            pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
                let mut n = palisade::atomic_load(&raw const self.shared.room, Ordering::Relaxed);
                loop {
                    if n == 0 { return Result::Err(TrySendError::Full(value)) }
                    let (old, done) = palisade::atomic_cas(&raw const self.shared.room, n, n - 1, Ordering::Acquire, Ordering::Relaxed);
                    if done { break }
                    n = old;
                }
                match put(&self.shared, value) { Option::None => Result::Ok(()), Option::Some(value) => Result::Err(TrySendError::Disconnected(value)) }
            }
        }
        impl<T> Clone for SyncSender<T> {
            fn clone(&self) -> Self { self.shared.senders.fetch_add(1, Ordering::Relaxed); SyncSender { shared: self.shared.clone() } }
        }
        impl<T> Drop for SyncSender<T> { fn drop(&mut self) { gone(&self.shared); } }
        impl<T> Receiver<T> {
            fn get(&self) -> T {
                let value = get(&self.shared);
                if self.shared.bounded { palisade::atomic_fetch_add::<usize, usize>(&raw const self.shared.room, 1, Ordering::Release); }
                value
            }
            pub fn try_recv(&self) -> Result<T, TryRecvError> {
                let signal = palisade::atomic_load(&raw const self.shared.signal, Ordering::Acquire);
                if signal > 1 { return Result::Ok(self.get()) }
                if signal == 1 { Result::Err(TryRecvError::Disconnected) } else { Result::Err(TryRecvError::Empty) }
            }
            pub fn recv(&self) -> Result<T, RecvError> {
                palisade::wait_not_equal(&raw const self.shared.signal, 0);
                let signal = palisade::atomic_load(&raw const self.shared.signal, Ordering::Acquire);
                if signal > 1 { Result::Ok(self.get()) } else { Result::Err(RecvError) }
            }
            pub fn recv_timeout(&self, time: crate::time::Duration) -> Result<T, RecvTimeoutError> {
                let signal = palisade::atomic_load(&raw const self.shared.signal, Ordering::Acquire);
                if signal > 1 { return Result::Ok(self.get()) }
                if signal == 1 { Result::Err(RecvTimeoutError::Disconnected) } else { Result::Err(RecvTimeoutError::Timeout) }
            }
            pub fn iter(&self) -> Iter<'_, T> { Iter { receiver: self } }
            pub fn try_iter(&self) -> TryIter<'_, T> { TryIter { receiver: self } }
        }
        impl<T> Drop for Receiver<T> {
            fn drop(&mut self) {
                if crate::mem::needs_drop::<T>() {
                    // Nobody adds a message any more, and those that are there are dropped.
                    palisade::wait_cas(&raw const self.shared.lock, 0, 1);
                    let mut left = palisade::atomic_fetch_add::<usize, usize>(&raw const self.shared.signal, GONE, Ordering::AcqRel);
                    palisade::atomic_store(&raw const self.shared.lock, 0, Ordering::Release);
                    while left >= 2 { crate::mem::drop(get(&self.shared)); left -= 2; }
                } else {
                    palisade::atomic_fetch_add::<usize, usize>(&raw const self.shared.signal, GONE, Ordering::AcqRel);
                }
                if self.shared.bounded { palisade::atomic_fetch_add::<usize, usize>(&raw const self.shared.room, 12, Ordering::Release); }
            }
        }
        pub struct Iter<'a, T> { receiver: &'a Receiver<T> }
        impl<'a, T> crate::iter::Iterator for Iter<'a, T> {
            type Item = T;
            fn next(&mut self) -> Option<T> { self.receiver.recv().ok() }
        }
        pub struct TryIter<'a, T> { receiver: &'a Receiver<T> }
        impl<'a, T> crate::iter::Iterator for TryIter<'a, T> {
            type Item = T;
            fn next(&mut self) -> Option<T> { self.receiver.try_recv().ok() }
        }
        pub struct IntoIter<T> { receiver: Receiver<T> }
        impl<T> crate::iter::Iterator for IntoIter<T> {
            type Item = T;
            fn next(&mut self) -> Option<T> { self.receiver.recv().ok() }
        }
        impl<T> crate::iter::IntoIterator for Receiver<T> {
            type Item = T;
            type IntoIter = IntoIter<T>;
            fn into_iter(self) -> IntoIter<T> { IntoIter { receiver: self } }
        }
        impl<'a, T> crate::iter::IntoIterator for &'a Receiver<T> {
            type Item = T;
            type IntoIter = Iter<'a, T>;
            fn into_iter(self) -> Iter<'a, T> { Iter { receiver: self } }
        }
    }
}

/// What of crossbeam-utils lock-free code uses.
pub mod crossbeam_utils {
    pub struct CachePadded<T> { value: T }
    impl<T> CachePadded<T> {
        pub const fn new(value: T) -> Self { CachePadded { value } }
        pub fn into_inner(self) -> T { self.value }
    }
    impl<T> std::ops::Deref for CachePadded<T> { type Target = T; fn deref(&self) -> &T { &self.value } }
    impl<T> std::ops::DerefMut for CachePadded<T> { fn deref_mut(&mut self) -> &mut T { &mut self.value } }
    impl<T> From<T> for CachePadded<T> { fn from(value: T) -> Self { CachePadded { value } } }
    /// Waiting a little is nothing here; when it has gone on for long enough is open.
    pub struct Backoff { unused: usize }
    impl Backoff {
        pub fn new() -> Self { Backoff { unused: 0 } }
        pub fn reset(&self) {}
        pub fn spin(&self) {}
        pub fn snooze(&self) {}
        pub fn is_completed(&self) -> bool { crate::palisade::choose() }
    }
}

/// The futex of the crate atomic-wait: a wait returns at once where the value is another, for a wake, or at any time without a reason.
pub mod atomic_wait {
    use crate::palisade;
    use crate::sync::Sleepers;
    use crate::sync::atomic::{AtomicU32, Ordering};
    pub fn wait(atomic: &AtomicU32, value: u32) {
        if palisade::choose() { return }
        let sleepers: &Sleepers = palisade::beside(atomic as *const AtomicU32);
        sleepers.enter();
        if atomic.load(Ordering::Relaxed) != value {
            sleepers.leave();
            return;
        }
        sleepers.announce();
        sleepers.leave();
        sleepers.sleep();
    }
    pub fn wake_one(atomic: *const AtomicU32) { let sleepers: &Sleepers = palisade::beside(atomic); sleepers.wake(false) }
    pub fn wake_all(atomic: *const AtomicU32) { let sleepers: &Sleepers = palisade::beside(atomic); sleepers.wake(true) }
}

/// The system call that a futex is: `FUTEX_WAKE` wakes one or, for any other number, all.
pub mod libc {
    use crate::sync::atomic::AtomicU32;
    pub const SYS_futex: i64 = 202;
    pub const FUTEX_WAIT: i32 = 0;
    pub const FUTEX_WAKE: i32 = 1;
    pub const FUTEX_PRIVATE_FLAG: i32 = 128;
    pub const FUTEX_WAIT_PRIVATE: i32 = 128;
    pub const FUTEX_WAKE_PRIVATE: i32 = 129;
    pub fn futex(number: i64, atomic: &AtomicU32, operation: i32, value: u32) -> i64 {
        if number != 202 { crate::palisade::bound("a system call that is no futex") }
        match operation {
            0 | 128 => crate::atomic_wait::wait(atomic, value),
            1 | 129 => if value == 1 { crate::atomic_wait::wake_one(atomic) } else { crate::atomic_wait::wake_all(atomic) },
            _ => crate::palisade::bound("an operation on a futex that neither waits nor wakes"),
        }
        0
    }
}
