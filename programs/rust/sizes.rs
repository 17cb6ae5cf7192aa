// How many bytes types take and what they are aligned to.
// expect c20 safe: holds
use std::cell::{Cell, RefCell};
use std::mem::{MaybeUninit, align_of, needs_drop, size_of, size_of_val};
use std::num::NonZeroU32;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

struct Mixed {
    _a: u8,
    _b: u32,
    _c: u16,
}

#[repr(C)]
struct InOrder {
    _a: u8,
    _b: u32,
    _c: u16,
}

#[repr(C, packed(2))]
struct Packed {
    _a: u8,
    _b: u32,
    _c: u16,
}

#[repr(align(64))]
struct Padded<T>(T);

struct Ring<T, const N: usize> {
    _slots: [MaybeUninit<T>; N],
    _head: Padded<AtomicUsize>,
}

union Either {
    _word: u64,
    _bytes: [u8; 12],
}

enum Small {
    _A,
    _B,
    _C,
}

enum Signed {
    _Below = -200,
    _Above = 3,
}

#[repr(u16)]
enum Wide {
    _Only = 9,
}

#[repr(u8)]
enum Tagged {
    _Word(u32),
    _Nothing,
}

enum Link {
    _End,
    _Next(Box<Link>),
}

enum Request {
    _Put(u32),
    _Get(u32),
    _Stop,
}

enum Job {
    _Run(bool, u16),
    _Stop,
}

enum Nothing {}

const SLOTS: usize = 3;

struct Table {
    _slots: [AtomicPtr<Mixed>; SLOTS],
    _full: AtomicBool,
}

fn main() {
    assert_eq!((size_of::<Mixed>(), align_of::<Mixed>()), (8, 4));
    assert_eq!((size_of::<InOrder>(), align_of::<InOrder>()), (12, 4));
    assert_eq!((size_of::<Packed>(), align_of::<Packed>()), (8, 2));
    assert_eq!((size_of::<Padded<u8>>(), align_of::<Padded<u8>>()), (64, 64));
    assert_eq!(size_of::<Ring<u32, 5>>(), 128);
    assert_eq!((size_of::<Either>(), align_of::<Either>()), (16, 8));
    assert_eq!((size_of::<Small>(), size_of::<Option<Small>>()), (1, 1));
    assert_eq!((size_of::<Signed>(), size_of::<Wide>()), (2, 2));
    assert_eq!((size_of::<Tagged>(), size_of::<Option<Tagged>>()), (8, 8));
    assert_eq!((size_of::<Link>(), size_of::<Option<Link>>()), (8, 16));
    assert_eq!((size_of::<Request>(), size_of::<Option<Request>>()), (8, 8));
    assert_eq!((size_of::<Job>(), size_of::<Option<Job>>()), (4, 4));
    assert_eq!((size_of::<Table>(), align_of::<Table>()), (32, 8));
    assert_eq!((size_of::<char>(), size_of::<Option<char>>()), (4, 4));
    assert_eq!((size_of::<f32>(), size_of::<(f64, f32)>()), (4, 16));
    assert_eq!((size_of::<u128>(), align_of::<u128>()), (16, 16));
    assert_eq!(size_of::<Option<u32>>(), 8);
    assert_eq!(size_of::<Option<Option<bool>>>(), 1);
    assert_eq!(size_of::<Option<NonZeroU32>>(), 4);
    assert_eq!(size_of::<Option<NonNull<u8>>>(), size_of::<*mut u8>());
    assert_eq!(size_of::<Option<Arc<Mixed>>>(), 8);
    assert_eq!((size_of::<&[u8]>(), size_of::<Box<dyn Fn()>>()), (16, 16));
    assert_eq!(size_of::<Result<u64, ()>>(), 16);
    assert_eq!((size_of::<Cell<bool>>(), size_of::<Option<Cell<bool>>>()), (1, 2));
    assert_eq!((size_of::<RefCell<u8>>(), size_of::<Mutex<u64>>()), (16, 16));
    assert_eq!((size_of::<AtomicU16>(), align_of::<AtomicU16>()), (2, 2));
    assert_eq!(size_of::<()>() + size_of::<[u64; 0]>(), 0);
    let numbers = [1u16, 2, 3];
    assert_eq!((size_of_val(&numbers), size_of_val(&numbers[1..])), (6, 4));
    assert!(needs_drop::<String>() && needs_drop::<Option<Link>>());
    assert!(!needs_drop::<Small>() && !needs_drop::<Table>());
    let _: Option<Nothing> = None;

    let count = Arc::new(AtomicUsize::new(size_of::<Mixed>()));
    let other = count.clone();
    let worker = thread::spawn(move || other.fetch_add(align_of::<Mixed>(), Relaxed));
    worker.join().unwrap();
    assert_eq!(count.load(Relaxed), 12);
}
