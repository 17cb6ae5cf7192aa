// One trait for one type with several arguments, and two traits of one name: each use means its own implementation.
// expect c20 safe: holds
use std::ops::{Add, AddAssign};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

#[derive(Clone, Copy, PartialEq)]
struct Ticks(u32);

impl Add for Ticks {
    type Output = Ticks;
    fn add(self, other: Ticks) -> Ticks {
        Ticks(self.0 + other.0)
    }
}

impl Add<u8> for Ticks {
    type Output = u32;
    fn add(self, steps: u8) -> u32 {
        self.0 + 10 * u32::from(steps)
    }
}

impl AddAssign<u8> for Ticks {
    fn add_assign(&mut self, steps: u8) {
        self.0 = *self + steps;
    }
}

impl AddAssign for Ticks {
    fn add_assign(&mut self, other: Ticks) {
        self.0 += other.0;
    }
}

impl PartialEq<u32> for Ticks {
    fn eq(&self, number: &u32) -> bool {
        self.0 == 100 + number
    }
}

/// Usually converts into the type itself.
trait Turn<To = Self> {
    fn turn(&self) -> To;
}

impl Turn<bool> for Ticks {
    fn turn(&self) -> bool {
        self.0 > 0
    }
}

impl Turn for Ticks {
    fn turn(&self) -> Ticks {
        Ticks(self.0 + 1)
    }
}

impl Turn<char> for Ticks {
    fn turn(&self) -> char {
        'x'
    }
}

impl Turn<u32> for Ticks {
    fn turn(&self) -> u32 {
        7
    }
}

mod first {
    pub trait Named {
        fn number(&self) -> u32;
    }
}

mod second {
    pub trait Named {
        fn number(&self) -> u32;
    }
}

impl first::Named for Ticks {
    fn number(&self) -> u32 {
        1
    }
}

impl second::Named for Ticks {
    fn number(&self) -> u32 {
        2
    }
}

fn sum<A: Add<B>, B>(a: A, b: B) -> A::Output {
    a + b
}

static SUM: AtomicU32 = AtomicU32::new(0);

fn main() {
    let worker = thread::spawn(|| SUM.fetch_add(Ticks(1) + 2, Relaxed));
    SUM.fetch_add((Ticks(1) + Ticks(2)).0, Relaxed);
    worker.join().unwrap();
    assert_eq!(SUM.load(Relaxed), 24);

    assert!(sum(Ticks(1), 1u8) == 11 && sum(Ticks(1), Ticks(1)) == Ticks(2));
    assert!(Ticks(101) == 1 && Ticks(1) != 1);
    let mut ticks = Ticks(0);
    ticks += 1;
    ticks += Ticks(5);
    assert!(ticks == Ticks(15));
    let (positive, next): (bool, Ticks) = (ticks.turn(), ticks.turn());
    assert!(positive && next == Ticks(16));
    let (letter, number): (char, u32) = (ticks.turn(), ticks.turn());
    assert!(letter == 'x' && number == 7);
    assert_eq!(first::Named::number(&ticks), 1);
    assert_eq!(second::Named::number(&ticks), 2);
}
