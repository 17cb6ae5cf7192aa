//! What the constructs of the language mean, by assertions that hold and assertions that fail.

use std::sync::atomic::AtomicBool;

use palisade_check::{Control, Criterion, Model, Options, Verdict, check};
use palisade_testkit::program;

fn verdict(text: &str) -> Verdict {
    let program = program(text);
    let control = Control {
        cancel: &AtomicBool::new(false),
        progress: &|_| {},
    };
    let options = Options::new(Model::Sc, Criterion::Safe);
    let answer = check(&program, &options, &control).expect("it can be asked");
    for witness in &answer.witnesses {
        if let Err(invalid) = palisade_validate::validate(&program, witness) {
            panic!("{invalid:?}\n{text}");
        }
    }
    answer.verdict
}

/// With these declarations: the code runs to its end, and only without an error.
const DECLARED: &str = "struct S { f = 1, g, h[2] = [5, 6], next: *S } shared S s, S many[3], x, y = 7, grid[2][3] = [0, 1, 2, 10, 11, 12]; \
    enum { RED, GREEN, BLUE } fn twice(p: *S) { p->f += p->f; return p->f; }";

#[track_caller]
fn holds(body: &str) {
    for domain in ["", "domain 40;"] {
        let text = format!("{domain} {DECLARED} thread t {{ {body} }}");
        assert_eq!(verdict(&text), Verdict::Holds, "{text}");
        // (The end is reached.)
        let text = format!("{text} never t@end;");
        assert_eq!(verdict(&text), Verdict::Violated, "{text}");
    }
}

#[track_caller]
fn fails(body: &str) {
    for domain in ["", "domain 40;"] {
        let text = format!("{domain} {DECLARED} thread t {{ {body} }}");
        assert_eq!(verdict(&text), Verdict::Violated, "{text}");
    }
}

#[test]
fn structs_are_locations_one_after_the_other() {
    holds("assert s.f == 1 && s.g == 0 && s.h[0] == 5 && s.h[1] == 6 && many[2].h[1] == 6;");
    holds(
        "assert &s == 1 && &s.g == 2 && &s.h[1] == 4 && &s.next == 5 && &many[1] == 11 && &many[1].f == &many[1];",
    );
    holds(
        "s.g = 3; let p: *S = &s; assert p->g == 3; p->h[1] = 9; assert s.h[1] == 9 && *(p + 3) == 9;",
    );
    holds(
        "let i = x; many[i].next = &many[1]; let p: *S = &many[i]; p->next->g = 4; assert many[1].g == 4; assert many[0].next->g == 4;",
    );
    holds(
        "assert twice(&s) == 2 && s.f == 2; assert twice(&many[x + 1]) == 2 && many[1].f == 2 && many[0].f == 1;",
    );
    holds(
        "for i in 0..3 { many[i].g = i * i; } let p: *S = &many[2]; assert p->g == 4 && (*p).g == 4;",
    );
}

#[test]
fn wrong_pointers_are_errors() {
    fails("let p: *S = null; p->f = 1;");
    fails("let p: *S = null; let r = p->g;");
    fails("let p: *S = &x; p->g = 1;");
    fails("let p: *S = x; let r = p->h[1];");
    fails("let p: *S = &s.g; p->f = 1;");
    fails("let r = s.next->f;");
}

#[test]
fn every_dimension_has_its_own_bounds() {
    holds(
        "let i = y - 6; let j = y - 5; assert grid[i][j] == 12 && grid[1][0] == 10 && grid[x][j] == 2;",
    );
    holds("for i in 0..2 { for j in 0..3 { assert grid[i][j] == i * 10 + j; } }");
    holds(
        "let i = y - 6; grid[i][i] += 5; assert grid[1][1] == 16 && &grid[i][0] == &grid[0][0] + 3;",
    );
    fails("let j = y - 4; let r = grid[0][j];");
    fails("let i = y - 5; let r = grid[i][0];");
    fails("let i = y - 4; many[i].f = 1;");
    fails("let i = x + 2; s.h[i] = 1;");
    // A domain may be smaller than the memory.
    let text = "domain 3; shared g[2][2], x = 1; thread t { let i = x; g[i][i] = 2; assert g[1][1] == 2 && g[0][1] == 0; }";
    assert_eq!(verdict(text), Verdict::Holds);
}

#[test]
fn counting() {
    holds("let sum; for i in 0..5 { sum += i; } assert sum == 10;");
    holds("let n; for i in 2..2 { n += 1; } for i in 3..x { n += 1; } assert n == 0;");
    holds(
        "let n; for i in x..y { y = 1; n += 1; if i == 3 { continue; } if i == 5 { break; } } assert n == 6;",
    );
    let text = "domain 4; shared x; thread t { let n; for i in 0..4 { n += 1; x = i; } assert x == 3 && n == 0; }";
    assert_eq!(verdict(text), Verdict::Holds);
    let text =
        "domain 4; shared x; thread t { let n = x; for i in 0..3 { n += 1; } assert n == 3; }";
    assert_eq!(verdict(text), Verdict::Holds);
}

#[test]
fn registers_in_arrays() {
    holds(
        "let a[3]; let i = x; a[i] = 4; a[i + 1] += 2; a[2] = a[i] + a[1]; assert a[2] == 6 && a[y - 5] == 6;",
    );
    holds("for i in 0..2 { let a[2]; assert a[i] == 0; a[i] = 1; }");
    fails("let a[3]; let i = y; a[i] = 1;");
    fails("let a[3]; let r = a[y];");
}

#[test]
fn methods_give_the_old_value() {
    holds("assert y.swap(3) == 7 && y.fetch_add(2) == 3 && y.fetch_sub(1) == 5 && y == 4;");
    holds("assert y.fetch_and(3) == 7 && y.fetch_or(8) == 3 && y.fetch_xor(1) == 11 && y == 10;");
    holds(
        "assert y.fetch_max(9) == 7 && y.fetch_max(3) == 9 && y.fetch_min(4) == 9 && y.fetch_min(5) == 4 && y == 4;",
    );
    holds(
        "assert y.compare_exchange(1, 2) == 7 && y == 7 && y.compare_exchange(7, 2, acqrel, acquire) == 7 && y == 2;",
    );
    holds(
        "s.g |= 6; s.g &= 3; s.g ^= 1; s.g -= 1; assert s.g == 2 && true && !false && BLUE == 2;",
    );
    // The weak one succeeds, or not.
    holds("y.compare_exchange_weak(7, 2); assert y == 7 || y == 2;");
    fails("y.compare_exchange_weak(7, 2); assert y == 2;");
    fails("y.compare_exchange_weak(7, 2); assert y == 7;");
    holds("assert y.compare_exchange_weak(3, 2) == 7 && y == 7;");
}

#[test]
fn an_update_of_shared_memory_is_two_events() {
    let text = "shared x; thread t[2] { x += 1; } never t[0]@end && t[1]@end && x == 1;";
    assert_eq!(verdict(text), Verdict::Violated);
}

#[test]
fn a_never_follows_pointers() {
    let text = "struct S { f, g } shared S s[2], h: *S; thread t { let p: *S = &s[1]; h = p; s[1].g = 3; } ";
    assert_eq!(
        verdict(&format!("{text} never h->g == 3;")),
        Verdict::Violated
    );
    assert_eq!(
        verdict(&format!("{text} never t.p->g == 3;")),
        Verdict::Violated
    );
    assert_eq!(verdict(&format!("{text} never h->f == 3;")), Verdict::Holds);
    assert_eq!(
        verdict(&format!("{text} never s[1].g == 4;")),
        Verdict::Holds
    );
}
