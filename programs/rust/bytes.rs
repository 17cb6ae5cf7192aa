// Bytes and letters: literals with escapes, patterns, and numbers as addresses.
// expect c20 safe: holds
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering::Relaxed};
use std::thread;

static KIND: AtomicU8 = AtomicU8::new(0);
static TOP: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

fn kind(word: &[u8; 3]) -> u8 {
    match word {
        b"get" => 1,
        b"put" => 2,
        [b'\n', ..] => 3,
        _ => 4,
    }
}

fn is_end(word: &[u8]) -> bool {
    match word {
        b"" => true,
        b"end" => true,
        _ => false,
    }
}

enum Command {
    Put(u8),
    Get,
}

fn invalid(by: i8) -> *mut u8 {
    (by - 1) as *mut u8
}

fn main() {
    let worker = thread::spawn(|| {
        KIND.fetch_add(kind(b"put"), Relaxed);
        TOP.store(invalid(0), Relaxed);
    });
    KIND.fetch_add(kind(b"get") + kind(b"\n  ") + kind(b"set"), Relaxed);
    worker.join().unwrap();
    assert_eq!(KIND.load(Relaxed), 10);
    assert_eq!(TOP.load(Relaxed), !0usize as *mut u8);
    assert_eq!(("\n".len(), "\"\\".len(), "\u{200b}".len()), (1, 2, 3));
    assert_eq!(('\u{200b}' as u32, '\'' as u8, '\t' as u8), (0x200b, 39, 9));
    assert_eq!(b"a\tb"[1], 9);
    assert!(is_end(b"end") && is_end(b"") && !is_end(b"ends"));
    let variant = std::mem::discriminant(&Command::Put(1));
    assert!(variant == std::mem::discriminant(&Command::Put(2)));
    assert!(variant != std::mem::discriminant(&Command::Get));
}
