//! The names of atomic-wait for the compiler. What is called here is executed by the models of the standard library.
#![allow(dead_code, unused_variables)]

pub fn wait(atomic: &std::sync::atomic::AtomicU32, value: u32) { loop {} }
pub fn wake_one(atomic: *const std::sync::atomic::AtomicU32) { loop {} }
pub fn wake_all(atomic: *const std::sync::atomic::AtomicU32) { loop {} }
