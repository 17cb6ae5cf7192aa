//! `orders` for C programs of several files: the files with the new orders are programs for a compiler, where there is one, and safe.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use palisade_check::{Control, Criterion, Model, Options, Verdict, check};
use palisade_fence::{Freedom, OrdersResult};
use palisade_lang::{Op, Order, Program};

fn read(path: &Path) -> Program {
    let text = std::fs::read_to_string(path).expect("a file");
    let options = palisade_c::Options::default();
    match palisade_c::parse(&path.to_string_lossy(), &text, &options) {
        Ok(parsed) => parsed.program,
        Err((_, errors)) => panic!("{}: {}", path.display(), errors[0].message),
    }
}

fn asked(program: &Program) -> Verdict {
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_| {},
    };
    let options = Options::new(Model::C20, Criterion::Safe);
    check(program, &options, &control)
        .expect("a question")
        .verdict
}

/// The program with the strongest order for every atomic access.
fn strongest(mut program: Program) -> Program {
    for transition in program.threads.iter_mut().flat_map(|t| &mut t.transitions) {
        match &mut transition.op {
            Op::Load { order, .. } | Op::Store { order, .. } | Op::Rmw { order, .. }
                if *order != Order::NonAtomic =>
            {
                *order = Order::SeqCst;
            }
            _ => {}
        }
    }
    program
}

/// The files that change; `None` where no orders help.
fn mended(program: &Program) -> Option<Vec<(String, String)>> {
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_| {},
    };
    let options = Options {
        timeout: Some(Duration::from_secs(60)),
        ..Options::new(Model::C20, Criterion::Safe)
    };
    let (costs, name) = palisade::unit_costs();
    let found = palisade::ordered(
        program,
        &Freedom::ORDERS,
        (&costs, name),
        false,
        &options,
        &control,
    );
    let found = found.expect("a question");
    match found.orders.result {
        OrdersResult::Optimal(_) => Some(found.text.expect("changes").expect("can be written")),
        OrdersResult::None => None,
        OrdersResult::Unknown { reason, .. } => panic!("{}: {reason}", program.source.name()),
    }
}

/// Whether a compiler takes the file; where there is none, that is said.
fn compiles(path: &Path) -> bool {
    let mut command = Command::new("cc");
    command.args(["-std=gnu11", "-fsyntax-only"]).arg(path);
    match command.stderr(Stdio::piped()).output() {
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "{}: {said}", path.display());
            true
        }
        Err(_) => {
            eprintln!("no C compiler is here: {} is not compiled", path.display());
            false
        }
    }
}

/// Writes the changed files in the place of the old ones, and judges the program again.
fn judge(root: &Path, program: &Path, changed: &[(String, String)]) {
    for (name, text) in changed {
        let path = PathBuf::from(name);
        assert!(path.starts_with(root), "{name}");
        std::fs::write(path, text).expect("written");
    }
    compiles(program);
    assert_eq!(asked(&read(program)), Verdict::Holds, "{changed:?}");
}

#[test]
fn orders_of_included_files_change() {
    let directory = tempfile::tempdir().expect("a directory");
    let body = "int data;\natomic_int ready;\nvoid *writer(void *unused) {\n  data = 1;\n  atomic_store_explicit(&ready, 1, memory_order_relaxed);\n  return 0;\n}\n\
                void *reader(void *unused) {\n  if (atomic_load_explicit(&ready, memory_order_relaxed))\n    return (void *)(long)data;\n  return 0;\n}\n";
    let main = "#include <pthread.h>\n#include <stdatomic.h>\n#include \"body.h\"\nint main(void) {\n  pthread_t a, b;\n  pthread_create(&a, 0, writer, 0);\n  \
                pthread_create(&b, 0, reader, 0);\n  return 0;\n}\n";
    let file = directory.path().join("main.c");
    std::fs::write(directory.path().join("body.h"), body).expect("written");
    std::fs::write(&file, main).expect("written");
    let program = read(&file);
    assert_eq!(asked(&program), Verdict::Violated);
    let changed = mended(&program).expect("release and acquire are enough");
    assert_eq!(changed.len(), 1);
    assert!(changed[0].0.ends_with("body.h"));
    judge(directory.path(), &file, &changed);
}

/// A fence that a macro stands for has no order that can be written: it goes, and a weaker one comes before where it was.
#[test]
fn fences_of_macros_are_replaced() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = "#include <pthread.h>\n#include <stdatomic.h>\n#define FULL() atomic_thread_fence(memory_order_seq_cst)\nint data;\natomic_int ready;\n\
                void *writer(void *unused) {\n  data = 1;\n  FULL(); ready_store;\n  return 0;\n}\nvoid *reader(void *unused) {\n  \
                if (atomic_load_explicit(&ready, memory_order_acquire))\n    return (void *)(long)data;\n  return 0;\n}\n\
                int main(void) {\n  pthread_t a, b;\n  pthread_create(&a, 0, writer, 0);\n  pthread_create(&b, 0, reader, 0);\n  return 0;\n}\n";
    // The store is a macro's, too.
    let text = text.replace("ready_store", "PUT(ready)").replace(
        "int data;",
        "#define PUT(x) atomic_store_explicit(&(x), 1, memory_order_relaxed)\nint data;",
    );
    let file = directory.path().join("macros.c");
    std::fs::write(&file, text).expect("written");
    let program = read(&file);
    assert_eq!(asked(&program), Verdict::Holds);
    let changed = mended(&program).expect("a release fence is enough");
    judge(directory.path(), &file, &changed);
}

/// GenMC's racy programs, where they are present.
#[test]
fn racy_programs_are_mended_where_orders_can() {
    let Some(corpus) = palisade_testkit::corpus_dir() else {
        return;
    };
    let mut rows = Vec::new();
    for entry in std::fs::read_dir(corpus.join("c/genmc/racy")).expect("a directory") {
        let from = entry.expect("an entry").path();
        let directory = tempfile::tempdir().expect("a directory");
        let variants = directory.path().join("variants");
        std::fs::create_dir(&variants).expect("a directory");
        let mut files = Vec::new();
        for (from, to) in [
            (from.clone(), directory.path()),
            (from.join("variants"), &variants),
        ] {
            for file in std::fs::read_dir(from).into_iter().flatten().flatten() {
                if file.path().is_file() {
                    let copy = to.join(file.file_name());
                    std::fs::copy(file.path(), &copy).expect("copied");
                    let is_program = to == variants && copy.extension().is_some_and(|e| e == "c");
                    files.extend(is_program.then_some(copy));
                }
            }
        }
        files.sort();
        let Some(file) = files.first() else { continue };
        let program = read(file);
        let name = from
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        match mended(&program) {
            Some(changed) => {
                judge(directory.path(), file, &changed);
                rows.push(format!("{name}: mended"));
            }
            None => {
                assert_eq!(asked(&strongest(program)), Verdict::Violated, "{name}");
                rows.push(format!("{name}: the strongest orders do not mend it"));
            }
        }
    }
    rows.sort();
    println!("{}", rows.join("\n"));
    assert!(rows.len() >= 20, "{rows:?}");
}
