//! `cargo palisade` for a package that is made here: with its features, and a dependency that cargo compiles.

use std::path::Path;
use std::process::{Command, Output};

const LOCK: &str = r#"
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

pub struct Lock<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

unsafe impl<T: Send> Sync for Lock<T> {}

pub struct Guard<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Lock<T> {
    pub fn new(value: T) -> Self {
        Lock { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    pub fn lock(&self) -> Guard<'_, T> {
        while self.held.swap(true, Ordering::Acquire) {}
        Guard { lock: self }
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.lock.held.store(false, chosen::release!());
    }
}
"#;

const CHOSEN: &str = r#"
#[cfg(feature = "strong")]
#[macro_export]
macro_rules! release { () => { Ordering::Release }; }
#[cfg(not(feature = "strong"))]
#[macro_export]
macro_rules! release { () => { Ordering::Relaxed }; }
"#;

fn package(directory: &Path) {
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "Cargo.toml",
        "[package]\nname = \"locks\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
         [features]\nstrong = [\"chosen/strong\"]\n\
         [dependencies]\nchosen = { path = \"chosen\" }\n[workspace]\n",
    );
    write("src/lib.rs", "pub mod lock;\n");
    write("src/lock.rs", LOCK);
    write(
        "chosen/Cargo.toml",
        "[package]\nname = \"chosen\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[features]\nstrong = []\n",
    );
    write("chosen/src/lib.rs", CHOSEN);
}

fn ask(directory: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(env!("CARGO_BIN_EXE_cargo-palisade"))
        .args(["palisade", "check", "--offline", "--timeout", "60s"])
        .args(arguments)
        .current_dir(directory)
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let text = [stdout, stderr].concat();
    (status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn a_package_with_its_features() {
    if Command::new("rustc").arg("--version").output().is_err() {
        palisade_testkit::skipped("Rust compiler");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    package(directory.path());
    let client = ["--client", "lock::Lock<T>"];
    let (code, said) = ask(directory.path(), &client);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("lock.rs"), "{said}");
    let (code, said) = ask(
        directory.path(),
        &["--client", "lock::Lock<T>", "--features", "strong"],
    );
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("2 threads that call lock"), "{said}");
    let (code, said) = ask(directory.path(), &["--client", "Absent"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("there is no type `Absent`"), "{said}");
}

const BELL: &str = r#"
mod imp {
    use std::marker::PhantomData;
    use std::sync::atomic::{AtomicBool, Ordering};
    pub trait Order { const RAISE: Ordering; }
    pub struct Usual;
    #[cfg(feature = "strong")]
    impl Order for Usual { const RAISE: Ordering = Ordering::Release; }
    #[cfg(not(feature = "strong"))]
    impl Order for Usual { const RAISE: Ordering = Ordering::Relaxed; }
    pub struct Bell<O = Usual> { rung: AtomicBool, order: PhantomData<O> }
    impl<O: Order> Bell<O> {
        pub const fn new() -> Self { Bell { rung: AtomicBool::new(false), order: PhantomData } }
        pub fn ring(&self) { self.rung.store(true, O::RAISE); }
        pub fn was_rung(&self) -> bool { self.rung.load(Ordering::Acquire) }
    }
}
pub use imp::Bell;
"#;

const GUEST: &str = r#"
static BELL: bell::Bell = bell::Bell::new();
static mut GUEST: u8 = 0;
fn main() {
    let t = std::thread::spawn(|| {
        unsafe { GUEST = 1 };
        BELL.ring();
    });
    if BELL.was_rung() {
        assert!(unsafe { GUEST } == 1);
    }
    t.join().unwrap();
}
"#;

#[test]
fn the_code_of_a_dependency() {
    if Command::new("rustc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no Rust compiler to run");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "Cargo.toml",
        "[package]\nname = \"house\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
         [features]\nstrong = [\"bell/strong\"]\n\
         [dependencies]\nbell = { path = \"bell\" }\n[workspace]\n",
    );
    write("src/main.rs", GUEST);
    write(
        "bell/Cargo.toml",
        "[package]\nname = \"bell\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[features]\nstrong = []\n",
    );
    write("bell/src/lib.rs", BELL);
    let (code, said) = ask(directory.path(), &["--features", "strong"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = ask(directory.path(), &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("GUEST"), "{said}");
}
