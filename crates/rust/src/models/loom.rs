//! The names of loom for the compiler. What is called here is executed by the models of the standard library.
#![allow(dead_code, unused_variables)]

pub fn model<F: Fn() + Sync + Send + 'static>(f: F) {
    loop {}
}

pub mod model {
    pub struct Builder {
        pub max_threads: usize,
        pub max_branches: usize,
        pub max_permutations: Option<usize>,
        pub max_duration: Option<std::time::Duration>,
        pub preemption_bound: Option<usize>,
        pub checkpoint_interval: usize,
        pub expect_explicit_explore: bool,
        pub location: bool,
        pub log: bool,
    }
    impl Builder {
        pub fn new() -> Self { loop {} }
        pub fn check<F: Fn() + Sync + Send + 'static>(&self, f: F) { loop {} }
    }
}

pub fn stop_exploring() {}
pub fn explore() {}
pub fn skip_branch() {}

pub mod cell {
    pub use std::cell::Cell;
    pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);
    impl<T> UnsafeCell<T> {
        pub const fn new(value: T) -> Self { UnsafeCell(std::cell::UnsafeCell::new(value)) }
        pub fn into_inner(self) -> T { loop {} }
    }
    impl<T: ?Sized> UnsafeCell<T> {
        pub fn with<R, F: FnOnce(*const T) -> R>(&self, f: F) -> R { loop {} }
        pub fn with_mut<R, F: FnOnce(*mut T) -> R>(&self, f: F) -> R { loop {} }
        pub fn get(&self) -> ConstPtr<T> { loop {} }
        pub fn get_mut(&self) -> MutPtr<T> { loop {} }
    }
    impl<T: Default> Default for UnsafeCell<T> {
        fn default() -> Self { loop {} }
    }
    pub struct ConstPtr<T: ?Sized>(*const T);
    impl<T: ?Sized> ConstPtr<T> {
        pub unsafe fn deref(&self) -> &T { loop {} }
        pub fn with<R, F: FnOnce(*const T) -> R>(&self, f: F) -> R { loop {} }
    }
    pub struct MutPtr<T: ?Sized>(*mut T);
    impl<T: ?Sized> MutPtr<T> {
        #[allow(clippy::mut_from_ref)]
        pub unsafe fn deref(&self) -> &mut T { loop {} }
        pub fn with<R, F: FnOnce(*mut T) -> R>(&self, f: F) -> R { loop {} }
    }
}

pub mod hint {
    pub use std::hint::*;
}

pub mod sync {
    pub use std::sync::*;
    pub mod atomic {
        pub use std::sync::atomic::*;
    }
    pub mod mpsc {
        pub use std::sync::mpsc::*;
    }
    pub struct Notify(std::cell::Cell<usize>);
    unsafe impl Sync for Notify {}
    impl Notify {
        pub fn new() -> Self { loop {} }
        pub fn notify(&self) { loop {} }
        pub fn wait(&self) { loop {} }
    }
}

pub mod thread {
    pub use std::thread::{Builder, JoinHandle, LocalKey, Thread, ThreadId, current, panicking, park, yield_now};
    pub fn spawn<F: FnOnce() -> T + 'static, T: 'static>(f: F) -> JoinHandle<T> { loop {} }
}

pub mod alloc {
    pub use std::alloc::Layout;
}

#[macro_export]
macro_rules! thread_local {
    ($($t:tt)*) => { ::std::thread_local! { $($t)* } };
}
