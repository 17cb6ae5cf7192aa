//! Brute force on small programs whose verdicts are well known.

use palisade_testkit::{oracle, program};

/// The verdicts of a program: robust (TSO), persistent, trf, drf, robust (RA); `+` holds, `-` does not, `?` has no meaning.
#[track_caller]
fn verdicts(text: &str) -> String {
    let program = program(text);
    let answers = [
        oracle::tso_robust(&program),
        oracle::tso_persistent(&program),
        oracle::tso_trf(&program),
        oracle::sc_drf(&program),
        oracle::ra_robust(&program),
    ];
    let sign = |answer: Option<bool>| match answer {
        Some(true) => '+',
        Some(false) => '-',
        None => '?',
    };
    answers.into_iter().map(sign).collect()
}

#[test]
fn store_buffering() {
    let sb = |between: &str| {
        verdicts(&format!(
            "shared x, y; thread a {{ x = 1; {between} let r = y; }} thread b {{ y = 1; {between} let r = x; }}"
        ))
    };
    assert_eq!(sb(""), "-----");
    assert_eq!(sb("fence;"), "+++-+");
    assert_eq!(sb("fence(acqrel);"), "-----");
    assert_eq!(sb("let z = 1;"), "-----");
    let seqcst = "shared x, y; thread a { x.store(1, seqcst); let r = y; } thread b { y.store(1, seqcst); let r = x; }";
    assert_eq!(verdicts(seqcst), "+++-?");
    let loads = "shared x, y; thread a { x = 1; let r = y.load(seqcst); } thread b { y = 1; let r = x.load(seqcst); }";
    assert_eq!(verdicts(loads), "----?");
    let one = "shared x, y; thread a { x = 1; fence; let r = y; } thread b { y = 1; let r = x; }";
    assert_eq!(verdicts(one), "-----");
}

#[test]
fn message_passing_is_robust() {
    let mp = "shared x, y; thread a { x = 1; y = 1; } thread b { let r = y; let s = x; }";
    assert_eq!(verdicts(mp), "+++-+");
}

#[test]
fn independent_reads_are_a_matter_of_ra() {
    let iriw = "shared x, y;
        thread a { x = 1; } thread b { let r = x; let s = y; }
        thread c { let r = y; let s = x; } thread d { y = 1; }";
    assert_eq!(verdicts(iriw), "+++--");
}

#[test]
fn two_plus_two_writes_is_a_matter_of_ra() {
    let text = "shared x, y; thread a { x = 1; y = 2; } thread b { y = 1; x = 2; }";
    assert_eq!(verdicts(text), "+++--");
}

#[test]
fn two_read_modify_writes() {
    let text = "shared x; thread a { let r = cas(x, 0, 1); } thread b { let r = cas(x, 0, 1); }";
    assert_eq!(verdicts(text), "+++++");
}

#[test]
fn blocking_reads_make_the_barrier_robust() {
    let wait = "shared x, y; thread a { x = 1; wait(y == 1); } thread b { y = 1; wait(x == 1); }";
    assert_eq!(verdicts(wait), "+++++");
    let load = "shared x, y; thread a { x = 1; assume y == 1; } thread b { y = 1; assume x == 1; }";
    assert_eq!(verdicts(load), "-----");
}

#[test]
fn a_block_is_one_node() {
    // Access by access this looks robust, yet only TSO reaches r = s = 0.
    let text = "shared x, y; thread a { x = 1; let r = y; } thread b { atomic { let s = x; if s == 0 { y = 1; } } }";
    assert_eq!(verdicts(text), "----?");
    // With two pending stores: the block sees neither of them.
    let text = "shared x, w, y; thread a { x = 1; w = 1; let r = y; }
        thread b { atomic { let s = x; let t = w; if s == 0 && t == 0 { y = 1; } } }";
    assert_eq!(verdicts(text), "----?");
    // A block that never ends keeps the buffers from becoming empty: such a run is no computation.
    let stuck = "shared x, y; thread a { x = 1; let r = y; } thread b { atomic { y = 1; let s = x; assume s == 5; } }";
    assert_eq!(verdicts(stuck), "+++-?");
}

#[test]
fn persistence_counts_read_modify_writes_of_others() {
    let text = "shared x, y; thread a { x = 1; let r = y; } thread b { bcas(y, 0, 1); }";
    assert_eq!(verdicts(text), "+---+");
    // A failed cas of the pivot ends the pattern like a fence.
    let text = "shared x, y, z; thread a { x = 1; cas(z, 5, 6); let r = y; } thread b { y = 1; }";
    assert_eq!(verdicts(text), "+++-+");
    // The same value again makes no difference to persistence.
    let same = "shared x, y = 1; thread a { x = 1; let r = y; } thread b { y = 1; }";
    assert_eq!(verdicts(same), "++--+");
}

#[test]
fn flattening_needs_skipped_loads() {
    let text =
        "shared x, w, z; thread a { x = 1; w = 1; let r = z; } thread b { let t = x; z = t; }";
    assert_eq!(oracle::tso_persistent(&program(text)), Some(false));
}

#[test]
fn nonatomic_races_are_violations_under_ra() {
    let racy = "shared f; nonatomic shared d; thread a { d = 1; f = 1; } thread b { let r = d; }";
    assert_eq!(verdicts(racy), "+++--");
    let synchronised = "shared f; nonatomic shared d; thread a { d = 1; f = 1; } thread b { wait(f == 1); let r = d; d = 2; }";
    assert_eq!(verdicts(synchronised), "+++++");
    // A read before a write that does not know of it.
    let late = "shared f; nonatomic shared d; thread a { let r = d; f = 1; } thread b { d = 1; }";
    assert_eq!(verdicts(late), "+++--");
}

#[test]
fn blocks_that_are_read_modify_writes_have_a_meaning_under_ra() {
    let fadd = "atomic { let r = x; x = r + 1; }";
    let text = format!("shared x; thread a {{ {fadd} }} thread b {{ {fadd} }}");
    assert_eq!(verdicts(&text), "+++++");
    // Blocks of one extra location are fences.
    let text = format!(
        "shared x, y, z; thread a {{ y = 1; {fadd} let s = z; }} thread b {{ z = 1; {fadd} let s = y; }}"
    );
    assert_eq!(verdicts(&text), "+++-+");
    for refused in [
        "atomic { let r = x; y = r; }",
        "atomic { x = 1; }",
        "atomic { let r = x; fence; }",
    ] {
        let text = format!("shared x, y; thread a {{ {refused} }}");
        assert_eq!(oracle::ra_robust(&program(&text)), None, "{refused}");
    }
}

#[test]
fn safety() {
    let sb = program(
        "shared x, y; thread a { let r; x = 1; r = y; } thread b { let r; y = 1; r = x; }
         never a@end && b@end && a.r == 0 && b.r == 0;",
    );
    assert_eq!(oracle::sc_safe(&sb), Some(true));
    assert_eq!(oracle::tso_reach(&sb), Some(true));
    let deadlock = program("shared x; thread a { wait(x == 1); } never deadlock;");
    assert_eq!(oracle::sc_safe(&deadlock), Some(false));
    assert_eq!(oracle::tso_safe(&deadlock), Some(false));
    for error in [
        "assert x == 1;",
        "let r = 1 / x;",
        "let r = a[2 + x];",
        "let r = *x;",
        "let r = 1 << (64 + x);",
    ] {
        let text = format!("shared x, a[2]; thread t {{ {error} }}");
        assert_eq!(oracle::sc_safe(&program(&text)), Some(false), "{error}");
    }
}

#[test]
fn races() {
    let drf = |text: &str| oracle::sc_drf(&program(text));
    assert_eq!(
        drf("shared x; thread a { fadd(x, 1); } thread b { cas(x, 5, 6); }"),
        Some(true)
    );
    assert_eq!(
        drf("shared x; thread a { fadd(x, 1); } thread b { let r = x; }"),
        Some(false)
    );
    assert_eq!(
        drf("shared x; thread a { atomic { x = 1; } } thread b { let r = x; }"),
        Some(false)
    );
    assert_eq!(
        drf("shared x; thread a { atomic { x = 1; } } thread b { fadd(x, 1); }"),
        Some(true)
    );
    assert_eq!(
        drf("shared x; thread a { x = 1; } thread b { wait(x == 1); }"),
        Some(true)
    );
    let nonatomic =
        "shared x; nonatomic shared d; thread a { x = 1; d = 1; } thread b { wait(x == 1); }";
    assert_eq!(drf(nonatomic), Some(true));
    // The lock makes the counter free of races, but for those on the lock itself.
    let lock = "bcas(l, 0, 1); c = c + 1; l = 0;";
    let text = format!("shared l, c; thread a {{ {lock} }} thread b {{ {lock} }}");
    assert_eq!(drf(&text), Some(true));
    let lock = "wait(l == 0); c = 1;";
    let text = format!("shared l; nonatomic shared c; thread a {{ {lock} }} thread b {{ {lock} }}");
    assert_eq!(drf(&text), Some(false));
}
