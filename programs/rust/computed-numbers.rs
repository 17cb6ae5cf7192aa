// Numbers of variants that are computed from constants.
// expect c20 safe: holds
use std::sync::atomic::{AtomicU8, Ordering::*};
use std::thread;

const BASE: u8 = 4;

const fn twice(number: u8) -> u8 {
    2 * number
}

#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Empty = BASE,
    Filling,
    Full = twice(BASE) + 1,
    Closed,
    Letter = b'x',
}

static STATE: AtomicU8 = AtomicU8::new(State::Empty as u8);

fn state() -> State {
    // Only numbers of variants are stored there.
    unsafe { std::mem::transmute(STATE.load(Acquire)) }
}

fn main() {
    let worker = thread::spawn(|| {
        STATE.store(State::Filling as u8, Release);
        STATE.store(State::Full as u8, Release);
    });
    match state() {
        State::Empty | State::Filling | State::Full => {}
        State::Closed | State::Letter => unreachable!(),
    }
    worker.join().unwrap();
    assert_eq!(state(), State::Full);
    assert_eq!(STATE.load(Relaxed), 9);
    assert_eq!((State::Filling as u8, State::Closed as u8, State::Letter as u8), (5, 10, 120));
}
