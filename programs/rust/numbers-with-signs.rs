// What functions of numbers give for numbers below zero and at the ends of their types, known before and known by a run alone.
// expect c20 safe: holds
use std::cmp::Ordering::Less;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicI8, Ordering::*};
use std::thread;

static SMALL: AtomicI8 = AtomicI8::new(0);
static NUMBER: AtomicI32 = AtomicI32::new(0);
static LARGE: AtomicI64 = AtomicI64::new(0);

fn small(x: i8) {
    match x {
        0 => assert_eq!(x.saturating_sub(1), -1),
        i8::MIN => {
            assert_eq!(x.saturating_sub(1), i8::MIN);
            assert_eq!(x.saturating_add(-1), i8::MIN);
            assert_eq!(x.checked_neg(), None);
            assert_eq!(x.unsigned_abs(), 128);
            assert_eq!(x.abs_diff(127), 255);
            assert_eq!(x.leading_zeros(), 0);
            assert_eq!(x.rotate_left(1), 1);
        }
        _ => unreachable!(),
    }
}

fn number(x: i32) {
    match x {
        0 => assert_eq!(x.saturating_sub(5), -5),
        -7 => {
            assert_eq!((x.rem_euclid(3), x.rem_euclid(-3), x % 3), (2, 2, -1));
            assert_eq!((x.div_euclid(3), x.div_euclid(-3), x / 3), (-3, 3, -2));
            assert_eq!((x.signum(), x.cmp(&0)), (-1, Less));
            assert_eq!(u32::try_from(x).ok(), None);
            assert_eq!(x as u32, u32::MAX - 6);
        }
        _ => unreachable!(),
    }
}

fn large(x: i64) {
    match x {
        0 => assert_eq!(usize::try_from(x), Ok(0)),
        -1 => {
            assert!(usize::try_from(x).is_err());
            assert!(i64::try_from(x as u64).is_err());
            assert_eq!(i8::try_from(x), Ok(-1));
        }
        _ => unreachable!(),
    }
}

fn main() {
    small(i8::MIN);
    number(-7);
    large(-1);
    thread::spawn(|| {
        SMALL.store(i8::MIN, Relaxed);
        NUMBER.store(-7, Relaxed);
        LARGE.store(-1, Relaxed);
    });
    small(SMALL.load(Relaxed));
    number(NUMBER.load(Relaxed));
    large(LARGE.load(Relaxed));
}
