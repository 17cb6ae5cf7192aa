// A write goes to the other copy and turns. All is relaxed: a read may see the turn and still the old value there.
// linearizable Register register: violated
use std::sync::atomic::{AtomicU32, Ordering::*};

pub struct Register {
    turn: AtomicU32,
    copies: [AtomicU32; 2],
}

impl Register {
    pub const fn new() -> Self {
        Register {
            turn: AtomicU32::new(0),
            copies: [AtomicU32::new(0), AtomicU32::new(0)],
        }
    }

    pub fn read(&self) -> u32 {
        let turn = self.turn.load(Relaxed);
        self.copies[(turn % 2) as usize].load(Relaxed)
    }

    pub fn write(&self, value: u32) {
        let turn = self.turn.load(Relaxed);
        self.copies[((turn + 1) % 2) as usize].store(value, Relaxed);
        self.turn.store(turn + 1, Relaxed);
    }
}
