//! The names of libc that a futex needs, for the compiler. What is called here is executed by the models of the standard library.
#![allow(dead_code, non_camel_case_types, non_upper_case_globals)]

pub type c_int = i32;
pub type c_long = i64;
pub struct timespec { pub tv_sec: i64, pub tv_nsec: i64 }
pub const SYS_futex: c_long = 202;
pub const FUTEX_WAIT: c_int = 0;
pub const FUTEX_WAKE: c_int = 1;
pub const FUTEX_PRIVATE_FLAG: c_int = 128;
pub const FUTEX_WAIT_PRIVATE: c_int = 128;
pub const FUTEX_WAKE_PRIVATE: c_int = 129;
extern "C" { pub fn syscall(number: c_long, ...) -> c_long; }
