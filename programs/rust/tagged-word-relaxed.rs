// The note is published without order. A word that violated the address of a note and, in its low bits, flags that threads set on their own: each joins an address with bits that it has read.
// expect c20 safe: violated
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const CLOSED: usize = 1;
const SEEN: usize = 2;
const FLAGS: usize = 3;

struct Note {
    text: UnsafeCell<u32>,
}

struct Word {
    word: AtomicUsize,
}

impl Word {
    /// Puts a note there, and keeps the flags.
    fn put(&self, note: &Note) {
        let mut old = self.word.load(Ordering::Relaxed);
        loop {
            let new = (old & FLAGS) | note as *const Note as usize;
            match self
                .word
                .compare_exchange_weak(old, new, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return,
                Err(found) => old = found,
            }
        }
    }

    /// Sets a flag, and looks at the note that is there.
    fn mark(&self, flag: usize) -> Option<u32> {
        let old = self.word.fetch_or(flag, Ordering::Acquire);
        let note = (old & !FLAGS) as *const Note;
        match note.is_null() {
            true => None,
            false => Some(unsafe { *(*note).text.get() }),
        }
    }
}

static WORD: Word = Word {
    word: AtomicUsize::new(0),
};

fn main() {
    thread::scope(|scope| {
        scope.spawn(|| {
            let note = Box::leak(Box::new(Note {
                text: UnsafeCell::new(0),
            }));
            unsafe { *note.text.get() = 7 };
            WORD.put(note);
        });
        scope.spawn(|| {
            if let Some(text) = WORD.mark(CLOSED) {
                assert_eq!(text, 7);
            }
        });
        if let Some(text) = WORD.mark(SEEN) {
            assert_eq!(text, 7);
        }
    });
    assert_eq!(WORD.word.load(Ordering::Relaxed) & FLAGS, FLAGS);
    assert!(WORD.mark(0).is_some());
}
