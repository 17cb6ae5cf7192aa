// Threads, time, and the entries of test libraries.

/// Time does not pass here, and so any comparison with what a clock says may come out either way.
pub mod time {
    use crate::palisade::choose;
    /// Times that the program names are known; what a clock says is not.
    pub struct Duration { nanos: u64, known: bool }
    pub struct Instant { nanos: u64 }
    const UNKNOWN: Duration = Duration { nanos: 0, known: false };
    /// A time as a number, where a clock was asked: nothing, or very much.
    fn number(time: &Duration, unit: u64) -> u64 { if time.known { time.nanos / unit } else if choose() { 0 } else { 1_000_000_000 } }
    impl Duration {
        pub const ZERO: Duration = Duration { nanos: 0, known: true };
        pub const MAX: Duration = UNKNOWN;
        pub const fn new(secs: u64, nanos: u32) -> Self { Duration { nanos: secs * 1_000_000_000 + nanos as u64, known: true } }
        pub const fn from_secs(n: u64) -> Self { Duration { nanos: n * 1_000_000_000, known: n <= 4_000_000_000 } }
        pub const fn from_millis(n: u64) -> Self { Duration { nanos: n * 1_000_000, known: n <= 4_000_000_000_000 } }
        pub const fn from_micros(n: u64) -> Self { Duration { nanos: n * 1000, known: n <= 4_000_000_000_000_000 } }
        pub const fn from_nanos(n: u64) -> Self { Duration { nanos: n, known: true } }
        pub fn is_zero(&self) -> bool { number(self, 1) == 0 }
        pub fn as_secs(&self) -> u64 { number(self, 1_000_000_000) }
        pub fn as_millis(&self) -> u128 { number(self, 1_000_000) as u128 }
        pub fn as_micros(&self) -> u128 { number(self, 1000) as u128 }
        pub fn as_nanos(&self) -> u128 { number(self, 1) as u128 }
    }
    impl Instant {
        pub fn now() -> Self { Instant { nanos: 0 } }
        pub fn elapsed(&self) -> Duration { UNKNOWN }
        pub fn duration_since(&self, other: Instant) -> Duration { UNKNOWN }
        pub fn saturating_duration_since(&self, other: Instant) -> Duration { UNKNOWN }
    }
    impl Clone for Duration { fn clone(&self) -> Self { Duration { nanos: self.nanos, known: self.known } } }
    impl Clone for Instant { fn clone(&self) -> Self { Instant { nanos: 0 } } }
    impl std::ops::Add<Duration> for Instant { type Output = Instant; fn add(self, by: Duration) -> Instant { Instant { nanos: 0 } } }
    impl std::ops::Sub<Instant> for Instant { type Output = Duration; fn sub(self, other: Instant) -> Duration { UNKNOWN } }
    impl std::ops::Sub<Duration> for Instant { type Output = Instant; fn sub(self, by: Duration) -> Instant { Instant { nanos: 0 } } }
    impl std::ops::AddAssign<Duration> for Instant { fn add_assign(&mut self, by: Duration) {} }
    impl std::ops::Div<u32> for Duration { type Output = Duration; fn div(self, by: u32) -> Duration { if by == 0 { crate::palisade::fail() } Duration { nanos: self.nanos / by as u64, known: self.known } } }
    impl std::ops::Mul<u32> for Duration { type Output = Duration; fn mul(self, by: u32) -> Duration { Duration { nanos: self.nanos * by as u64, known: self.known } } }
    impl std::ops::Add<Duration> for Duration { type Output = Duration; fn add(self, by: Duration) -> Duration { Duration { nanos: self.nanos + by.nanos, known: self.known && by.known } } }
    impl std::ops::Sub<Duration> for Duration { type Output = Duration; fn sub(self, by: Duration) -> Duration { Duration { nanos: if self.nanos > by.nanos { self.nanos - by.nanos } else { 0 }, known: self.known && by.known } } }
    impl std::ops::AddAssign<Duration> for Duration { fn add_assign(&mut self, by: Duration) { self.nanos += by.nanos; self.known = self.known && by.known; } }
    impl PartialEq for Duration {
        fn eq(&self, other: &Self) -> bool { if self.known && other.known { self.nanos == other.nanos } else { choose() } }
        fn ne(&self, other: &Self) -> bool { !(self == other) }
    }
    impl PartialEq for Instant { fn eq(&self, other: &Self) -> bool { choose() } fn ne(&self, other: &Self) -> bool { choose() } }
    impl PartialOrd for Duration {
        fn partial_cmp(&self, other: &Self) -> std::option::Option<std::cmp::Ordering> { loop {} }
        fn lt(&self, other: &Self) -> bool { if self.known && other.known { self.nanos < other.nanos } else { choose() } }
        fn le(&self, other: &Self) -> bool { if self.known && other.known { self.nanos <= other.nanos } else { choose() } }
        fn gt(&self, other: &Self) -> bool { if self.known && other.known { self.nanos > other.nanos } else { choose() } }
        fn ge(&self, other: &Self) -> bool { if self.known && other.known { self.nanos >= other.nanos } else { choose() } }
    }
    impl PartialOrd for Instant {
        fn partial_cmp(&self, other: &Self) -> std::option::Option<std::cmp::Ordering> { loop {} }
        fn lt(&self, other: &Self) -> bool { choose() }
        fn le(&self, other: &Self) -> bool { choose() }
        fn gt(&self, other: &Self) -> bool { choose() }
        fn ge(&self, other: &Self) -> bool { choose() }
    }
}

pub mod thread {
    use crate::mem::MaybeUninit;
    use crate::palisade;
    use crate::result::Result;
    use crate::sync::atomic::Ordering;
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
    /// Returns at any time; a token that is there by then is taken.
    pub fn park_timeout(time: crate::time::Duration) { palisade::atomic_exchange::<usize>(palisade::token(palisade::current()), 0, Ordering::Acquire); }
    pub fn yield_now() {}
    pub fn sleep(time: crate::time::Duration) {}
    pub fn panicking() -> bool { false }
    /// How many processors there are is not known: two.
    pub fn available_parallelism() -> Result<crate::num::NonZero<usize>, crate::io::Error> { Result::Ok(crate::num::NonZero::of(2)) }
    pub fn sleep_ms(ms: u32) {}
    pub mod local_impl {
        use crate::option::Option;
        pub struct EagerStorage<T> { value: T }
        impl<T> EagerStorage<T> {
            pub const fn new(value: T) -> Self { EagerStorage { value } }
            pub fn get(&self) -> *const T { &raw const self.value }
        }
        pub struct LazyStorage<T, D> { value: Option<T>, unused: Option<D> }
        impl<T, D> LazyStorage<T, D> {
            pub const fn new() -> Self { LazyStorage { value: Option::None, unused: Option::None } }
            pub fn get_or_init<F: FnOnce() -> T>(&self, given: Option<&mut Option<T>>, f: F) -> *const T {
                let me: &mut LazyStorage<T, D> = crate::palisade::same(self);
                if let Option::None = me.value { me.value = Option::Some(f()); }
                match &me.value { Option::Some(x) => x, Option::None => crate::palisade::fail() }
            }
        }
    }
    pub struct LocalKey<T> { inner: fn(crate::option::Option<&mut crate::option::Option<T>>) -> *const T }
    pub struct AccessError;
    impl<T> LocalKey<T> {
        pub const fn new(inner: fn(crate::option::Option<&mut crate::option::Option<T>>) -> *const T) -> Self { LocalKey { inner } }
        pub fn with<R, F: FnOnce(&T) -> R>(&self, f: F) -> R { f(palisade::same((self.inner)(crate::option::Option::None))) }
        pub fn try_with<R, F: FnOnce(&T) -> R>(&self, f: F) -> Result<R, AccessError> { Result::Ok(self.with(f)) }
    }
    impl<T> LocalKey<crate::cell::Cell<T>> {
        pub fn set(&self, value: T) { self.with(|cell| cell.set(value)) }
        pub fn get(&self) -> T { self.with(|cell| cell.get()) }
        pub fn replace(&self, value: T) -> T { self.with(|cell| cell.replace(value)) }
        pub fn take(&self) -> T where T: Default { self.with(|cell| cell.take()) }
    }
    impl<T> LocalKey<crate::cell::RefCell<T>> {
        pub fn with_borrow<R, F: FnOnce(&T) -> R>(&self, f: F) -> R { self.with(|cell| f(&*cell.borrow())) }
        pub fn with_borrow_mut<R, F: FnOnce(&mut T) -> R>(&self, f: F) -> R { self.with(|cell| f(&mut *cell.borrow_mut())) }
        pub fn set(&self, value: T) { self.with(|cell| *cell.borrow_mut() = value) }
        pub fn replace(&self, value: T) -> T { self.with(|cell| cell.replace(value)) }
        pub fn take(&self) -> T where T: Default { self.with(|cell| cell.replace(<T as Default>::default())) }
    }
    /// Where a thread leaves its result, if there is any.
    fn packet<T>() -> *mut T { if palisade::is_unit::<T>() { palisade::same(0usize) } else { palisade::allocate_own::<T>() } }
    fn leave<T>(packet: *mut T, result: T) { if !palisade::is_unit::<T>() { palisade::write(packet, result) } }
    fn take<T>(packet: *mut T) -> T { if palisade::is_unit::<T>() { palisade::same(()) } else { palisade::read(packet) } }
    pub struct JoinHandle<T> { thread: Thread, packet: *mut T }
    pub fn spawn<F: FnOnce() -> T, T>(f: F) -> JoinHandle<T> {
        let packet = packet::<T>();
        let id = palisade::spawn(move || leave(packet, f()));
        JoinHandle { thread: Thread { id }, packet }
    }
    impl<T> JoinHandle<T> {
        pub fn join(self) -> Result<T, crate::boxed::Box<dyn std::any::Any + Send>> {
            palisade::join(self.thread.id);
            Result::Ok(take(self.packet))
        }
        pub fn thread(&self) -> &Thread { &self.thread }
        pub fn is_finished(&self) -> bool { palisade::atomic_load(palisade::end(self.thread.id), Ordering::Relaxed) == 1 }
    }
    pub struct Builder { x: usize }
    impl Builder {
        pub fn new() -> Self { Builder { x: 0 } }
        pub fn name(self, name: crate::string::String) -> Self { self }
        pub fn stack_size(self, size: usize) -> Self { self }
        pub fn spawn_scoped<F: FnOnce() -> T, T>(self, scope: &Scope, f: F) -> Result<ScopedJoinHandle<T>, ()> { Result::Ok(scope.spawn(f)) }
        pub fn spawn<F: FnOnce() -> T, T>(self, f: F) -> Result<JoinHandle<T>, ()> { Result::Ok(spawn(f)) }
    }
    /// How many threads were spawned, and where those that have ended are counted.
    pub struct Scope { count: usize, ended: *const usize }
    pub struct ScopedJoinHandle<T> { thread: Thread, packet: *mut T }
    pub fn scope<F: FnOnce(&Scope) -> T, T>(f: F) -> T {
        let ended_of_scope: usize = 0;
        let scope = Scope { count: 0, ended: &raw const ended_of_scope };
        let result = f(&scope);
        // A thread of the scope may have spawned another before it ended.
        let mut count = palisade::atomic_load(&raw const scope.count, Ordering::Relaxed);
        loop {
            palisade::wait_equal(scope.ended, count);
            let now = palisade::atomic_load(&raw const scope.count, Ordering::Relaxed);
            if now == count { return result }
            count = now;
        }
    }
    impl Scope {
        pub fn spawn<F: FnOnce() -> T, T>(&self, f: F) -> ScopedJoinHandle<T> {
            let packet = packet::<T>();
            let ended = self.ended;
            palisade::atomic_fetch_add::<usize, usize>(&raw const self.count, 1, Ordering::Relaxed);
            let id = palisade::spawn(move || {
                leave(packet, f());
                palisade::atomic_fetch_add::<usize, usize>(ended, 1, Ordering::Release);
            });
            ScopedJoinHandle { thread: Thread { id }, packet }
        }
    }
    impl<T> ScopedJoinHandle<T> {
        pub fn join(self) -> Result<T, crate::boxed::Box<dyn std::any::Any + Send>> {
            palisade::join(self.thread.id);
            Result::Ok(take(self.packet))
        }
        pub fn thread(&self) -> &Thread { &self.thread }
        pub fn is_finished(&self) -> bool { palisade::atomic_load(palisade::end(self.thread.id), Ordering::Relaxed) == 1 }
    }
}

/// The entries of loom and shuttle: the closure is executed once here, by all schedules.
pub fn model<F: Fn()>(f: F) { model::model(f) }
pub fn check<F: Fn()>(f: F) { model::model(f) }
pub fn check_dfs<F: Fn()>(f: F, iterations: crate::option::Option<usize>) { model::model(f) }
pub fn check_random<F: Fn()>(f: F, iterations: usize) { model::model(f) }
pub fn check_pct<F: Fn()>(f: F, iterations: usize, depth: usize) { model::model(f) }
pub fn stop_exploring() {}
pub fn explore() {}

pub mod model {
    pub fn model<F: Fn()>(f: F) { f() }
    use crate::option::Option;
    /// The fields are loom's, in its order; none of them limits anything here.
    pub struct Builder { max_threads: usize, max_branches: usize, max_permutations: Option<usize>, max_duration: Option<usize>, preemption_bound: Option<usize>, checkpoint_interval: usize, expect_explicit_explore: bool, location: bool, log: bool }
    impl Builder {
        pub fn new() -> Self { Builder { max_threads: 0, max_branches: 0, max_permutations: Option::None, max_duration: Option::None, preemption_bound: Option::None, checkpoint_interval: 0, expect_explicit_explore: false, location: false, log: false } }
        pub fn check<F: Fn()>(&self, f: F) { model(f) }
    }
}
