/// What one call did: its kind (0 is none) and, as a number, what it returned.
#[derive(Clone, Copy)]
pub struct Entry {
    pub kind: usize,
    pub code: i64,
}

/// What an operation returned, as a number that nothing else of its type has. `side`: 0 for what a call returned, 1 for what the model returns.
pub trait Code {
    /// No number is greater.
    fn most() -> i64;
    fn code(self, side: i64) -> i64;
}

/// Numbers from here on have no number of their own.
pub const MANY: i64 = 256;
/// What a model returns where there is nothing that an operation could return there.
pub const NEVER: i64 = -1;
/// Every number is below.
pub const CODES: i64 = 2048;

// BEGIN NUMBER
impl Code for i64 {
    fn most() -> i64 {
        MANY + 1
    }
    fn code(self, side: i64) -> i64 {
        let number = self as i64;
        if number >= 0 && number < MANY {
            number
        } else {
            MANY + side
        }
    }
}
// END NUMBER
impl Code for u8 {
    fn most() -> i64 {
        255
    }
    fn code(self, side: i64) -> i64 {
        self as i64
    }
}
impl Code for bool {
    fn most() -> i64 {
        1
    }
    fn code(self, side: i64) -> i64 {
        if self { 1 } else { 0 }
    }
}
impl Code for () {
    fn most() -> i64 {
        0
    }
    fn code(self, side: i64) -> i64 {
        0
    }
}
impl<T: Code> Code for std::boxed::Box<T> {
    fn most() -> i64 {
        T::most()
    }
    fn code(self, side: i64) -> i64 {
        (*self).code(side)
    }
}
impl<T: Code> Code for std::option::Option<T> {
    fn most() -> i64 {
        T::most() + 1
    }
    fn code(self, side: i64) -> i64 {
        match self {
            std::option::Option::Some(value) => value.code(side) + 1,
            std::option::Option::None => 0,
        }
    }
}
impl<T: Code, E: Code> Code for std::result::Result<T, E> {
    fn most() -> i64 {
        2 * (T::most() + E::most()) + 1
    }
    fn code(self, side: i64) -> i64 {
        match self {
            std::result::Result::Ok(value) => value.code(side) * 2,
            std::result::Result::Err(value) => value.code(side) * 2 + 1,
        }
    }
}

fn number_of<T: Code>(value: T, side: i64) -> i64 {
    if T::most() >= CODES {
        panic!("what an operation returns has too many values");
    }
    value.code(side)
}

/// What a thread's call returned.
pub fn coded<T: Code>(value: T) -> i64 {
    number_of(value, 0)
}

/// What the model returns. Of large numbers, none is the same as one that a call returned.
pub fn expected<T: Code>(value: T) -> i64 {
    number_of(value, 1)
}

/// How far a thread is, past what is no call.
pub fn past<const E: usize>(log: &[Entry; E], done: usize) -> usize {
    let mut at = done;
    while at < E && log[at].kind == 0 {
        at += 1;
    }
    at
}

/// Whether some order of all calls explains what they returned: one in which each thread's calls keep their order, none comes before a call that `ready` wants
/// before it, and the model returns the same.
pub fn explained<const T: usize, const E: usize, M, R, S>(
    log: &[[Entry; E]; T],
    done: [usize; T],
    model: &M,
    ready: &R,
    step: &S,
) -> bool
where
    M: Clone,
    R: Fn(usize, usize, usize, usize) -> bool,
    S: Fn(&mut M, usize, usize, usize) -> i64,
{
    let mut ended = true;
    let mut thread = 0;
    while thread < T {
        let at = past(&log[thread], done[thread]);
        if at < E {
            ended = false;
            let mut free = true;
            let mut other = 0;
            while other < T {
                if other != thread && !ready(thread, at, other, past(&log[other], done[other])) {
                    free = false;
                }
                other += 1;
            }
            if free {
                let mut next = model.clone();
                let entry = log[thread][at];
                let code = step(&mut next, entry.kind, thread, at);
                if code != NEVER && code == entry.code {
                    let mut then = done;
                    then[thread] = at + 1;
                    if explained(log, then, &next, ready, step) {
                        return true;
                    }
                }
            }
        }
        thread += 1;
    }
    ended
}

/// The most elements of a model.
const MOST: usize = 16;

/// Elements in a row, for stacks and queues. `most`: how many there is room for.
#[derive(Clone)]
pub struct Row {
    pub values: [i64; MOST],
    pub first: usize,
    pub end: usize,
    pub most: usize,
}

impl Row {
    pub fn new(most: usize) -> Row {
        Row {
            values: [0; MOST],
            first: 0,
            end: 0,
            most,
        }
    }
    pub fn len(&self) -> i64 {
        (self.end - self.first) as i64
    }
    /// Whether there was room.
    pub fn put(&mut self, value: i64) -> bool {
        if self.end - self.first == self.most {
            return false;
        }
        self.values[self.end] = value;
        self.end += 1;
        true
    }
    pub fn front(&self) -> std::option::Option<i64> {
        if self.first == self.end {
            return std::option::Option::None;
        }
        std::option::Option::Some(self.values[self.first])
    }
    pub fn back(&self) -> std::option::Option<i64> {
        if self.first == self.end {
            return std::option::Option::None;
        }
        std::option::Option::Some(self.values[self.end - 1])
    }
    pub fn take_front(&mut self) -> std::option::Option<i64> {
        let value = self.front();
        if self.first != self.end {
            self.first += 1;
        }
        value
    }
    pub fn take_back(&mut self) -> std::option::Option<i64> {
        let value = self.back();
        if self.first != self.end {
            self.end -= 1;
        }
        value
    }
}

/// One number, for registers and counters; and what a lock protects, with whether it is held.
#[derive(Clone)]
pub struct Single {
    pub value: i64,
    pub held: bool,
}

impl Single {
    pub fn new(value: i64) -> Single {
        Single { value, held: false }
    }
    pub fn swap(&mut self, value: i64) -> i64 {
        let old = self.value;
        self.value = value;
        old
    }
    pub fn add(&mut self, number: i64) -> i64 {
        let old = self.value;
        self.value = old.wrapping_add(number);
        old
    }
    /// The lock is taken: what its owner sees.
    pub fn take(&mut self) -> i64 {
        if self.held {
            return NEVER;
        }
        self.held = true;
        self.value
    }
    /// The lock is not taken, because somebody has it.
    pub fn refuse(&mut self) -> i64 {
        if self.held { 0 } else { NEVER }
    }
    /// The owner leaves this.
    pub fn leave(&mut self, value: i64) -> i64 {
        self.value = value;
        self.held = false;
        0
    }
}
