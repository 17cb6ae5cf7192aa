//! The names of shuttle for the compiler. What is called here is executed by the models of the standard library.
#![allow(dead_code, unused_variables)]

pub fn check<F: Fn() + Send + Sync + 'static>(f: F) { loop {} }
pub fn check_dfs<F: Fn() + Send + Sync + 'static>(f: F, iterations: Option<usize>) { loop {} }
pub fn check_random<F: Fn() + Send + Sync + 'static>(f: F, iterations: usize) { loop {} }
pub fn check_pct<F: Fn() + Send + Sync + 'static>(f: F, iterations: usize, depth: usize) { loop {} }

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
}

pub mod thread {
    pub use std::thread::*;
}
