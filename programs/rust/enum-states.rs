// An enum with fields and a box behind a lock.
// expect c20 safe: holds
use std::sync::Mutex;
use std::thread;
#[derive(Debug, PartialEq, Clone)]
enum State {
    Idle,
    Busy { id: u32, left: u8 },
    Done(Option<Box<u32>>),
}
static S: Mutex<State> = Mutex::new(State::Idle);
fn step(id: u32) {
    let mut g = S.lock().unwrap();
    *g = match &*g {
        State::Idle => State::Busy { id, left: 1 },
        State::Busy { id: other, left: 1 } if *other == id => State::Done(None),
        State::Busy { id: other, .. } => State::Done(Some(Box::new(*other + id))),
        State::Done(x) => State::Done(x.clone()),
    };
}
fn main() {
    let a = thread::spawn(|| step(1));
    let b = thread::spawn(|| step(2));
    a.join().unwrap();
    b.join().unwrap();
    assert_eq!(*S.lock().unwrap(), State::Done(Some(Box::new(3))));
}
