//! The programs of programs/c, each with the verdicts that it must get, judged again by `validate` where a run violates.

#[allow(dead_code)]
#[path = "../../lower/tests/expected/mod.rs"]
mod expected;

use palisade_param::check;
use std::path::{Path, PathBuf};

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/c")
}

#[test]
fn verdicts_are_as_expected() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory())
        .expect("programs/c is part of the project")
        .map(|entry| entry.expect("a readable directory").path())
        .collect();
    files.sort();
    assert!(files.len() >= 30, "programs/c has lost programs");
    let mut wrong = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let name = file.to_string_lossy();
        let parsed = match palisade_c::parse(&name, &text, &palisade_c::Options::default()) {
            Ok(parsed) => parsed,
            Err((source, errors)) => {
                for error in errors {
                    let place = source.place(error.span.start);
                    wrong.push(format!("{name}:{place}: {}", error.message));
                }
                continue;
            }
        };
        wrong.extend(expected::wrong(check, &name, &text, &parsed.program));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Addresses have the alignment that every object has: a program that asks for more, and looks, would be told that it did not get it.
#[test]
fn alignments_that_addresses_do_not_have_are_refused() {
    let program = |alignment: &str| {
        let text = format!(
            "#include <assert.h>\n#include <stdint.h>\n#include <stdlib.h>\nint main(void) {{\n\
             int *p = aligned_alloc({alignment}, sizeof(int));\nassert(((uintptr_t)p & 15) == 0);\n}}\n"
        );
        palisade_c::parse("aligned.c", &text, &palisade_c::Options::default())
    };
    assert!(program("16").is_ok());
    let (_, errors) = program("64").expect_err("64 is more than there is");
    assert!(errors[0].message.contains("alignment"), "{errors:?}");
}

/// An initial value that cannot be told is an error wherever the variable is used, and never left away.
#[test]
fn initial_values_that_are_not_known_are_refused() {
    for variable in [
        "int values[2] = {UNKNOWN, 2};",
        "int values[] = {2, UNKNOWN};",
    ] {
        let text = format!("{variable}\nint main(void) {{ int i = 1; return values[i]; }}\n");
        let parsed = palisade_c::parse("unknown.c", &text, &palisade_c::Options::default());
        let (_, errors) = parsed.expect_err("a name that is not known");
        assert!(errors[0].message.contains("UNKNOWN"), "{errors:?}");
    }
}

/// What would be looked at as something that it is not, and so be told wrong, is refused.
#[test]
fn objects_that_are_looked_at_as_others_are_refused() {
    let shapes = "struct pair { int one, other; }; struct pair p = {1, 2}; long whole; double d = 1; _Atomic struct pair a; int x = 258;\n";
    for (statement, message) in [
        ("memcpy(&whole, &p, sizeof whole);", "different shapes"),
        ("memcpy(&whole, &d, sizeof whole);", "different shapes"),
        (
            "void *v = &p; memcpy(v, &p, sizeof p);",
            "a shape that is not known",
        ),
        ("memcpy(&p, &a, sizeof p);", "different shapes"),
        (
            "struct pair *q = (struct pair *)&a; p = *q;",
            "pointer to an atomic struct",
        ),
        ("p.one = a.one;", "a member of an atomic struct"),
        ("whole = *(long *)&d;", "floating-point"),
        ("whole = d;", "floating-point"),
        ("if (d < 2) whole = 1;", "floating-point"),
        (
            "unsigned char *bytes = (unsigned char *)&x; whole = bytes[0];",
            "single bytes",
        ),
        (
            "int n = x, array[n]; whole = sizeof array;",
            "the size of an array",
        ),
        ("whole = (char *)(&p + 1) - (char *)&p;", "in bytes"),
        (
            "char *c = (char *)&p; memset(c, 0, sizeof p);",
            "single bytes",
        ),
        ("void *v = &p; memset(v, 0, 8);", "not known"),
        ("asm(\"rdtsc\" : \"=a\"(x));", "assembly"),
        ("asm(\"rdtsc\");", "assembly"),
        ("whole = printf(\"\");", "nothing else can depend"),
        (
            "static _Atomic int n; x = atomic_load((_Atomic unsigned *)&n);",
            "another sign",
        ),
        (
            "__attribute__((cleanup(free))) int *q = &x;",
            "the attribute `cleanup`",
        ),
        ("x = memcmp(&p, &p, sizeof p);", "bytes of objects"),
        (
            "static long m[4]; long at = (long)m; long *q = (long *)(at + sizeof(long)); x = q == m + 1;",
            "kept as a number",
        ),
        (
            "static int m[4]; x = (int)((long)&m[3] - (long)&m[1]);",
            "kept as a number",
        ),
        (
            "struct wide { int n; } __attribute__((aligned(64))); x = _Alignof(struct wide);",
            "an alignment",
        ),
        ("int f(int n, int a[n++]);", "the length of a parameter"),
        ("x = 'ab';", "more than one character"),
        ("x = L\"a\"[0];", "wide strings"),
    ] {
        let text = format!(
            "#include <stdatomic.h>\n#include <stdio.h>\n#include <string.h>\n#include <time.h>\n{shapes}int main(void) {{ {statement} }}\n"
        );
        let parsed = palisade_c::parse("other.c", &text, &palisade_c::Options::default());
        let Err((_, errors)) = parsed else {
            panic!("`{statement}` is read");
        };
        assert!(
            errors[0].message.contains(message),
            "{statement}: {errors:?}"
        );
    }
}
