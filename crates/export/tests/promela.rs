//! What SPIN says about a program in Promela is what its SC states say. Where SPIN or a C compiler is missing, this says so and passes.

use palisade_export::to_promela;
use palisade_lang::{ParseOptions, Program, Source};
use palisade_testkit::{Shape, compare, oracle, spin};

/// What the verifier says: whether there is no error. Panics with the model where SPIN or the C compiler refuses it.
fn verify(model: &str) -> bool {
    match spin::verify(model, &["-m1000000"]) {
        Ok(Some(holds)) => holds,
        other => panic!("{other:?}\n{model}"),
    }
}

fn model(program: &Program) -> String {
    to_promela(program).unwrap_or_else(|why| panic!("{why}"))
}

#[track_caller]
fn agrees(program: &Program, safe: bool) {
    assert_eq!(
        oracle::sc_safe(program),
        Some(safe),
        "the expectation itself"
    );
    assert_eq!(verify(&model(program)), safe, "{}", model(program));
}

fn pal(text: &str) -> Program {
    palisade_testkit::program(text)
}

const PETERSON: &str = "domain 4; shared flag[2], turn; fn enter(i) { flag[i] = 1; turn = 1 - i; \
    while flag[1 - i] == 1 && turn == 1 - i { } }\n\
    thread p0 { loop { enter(0); cs: skip; flag[0] = 0; } } thread p1 { loop { enter(1); cs: skip; flag[1] = 0; } }\n";

#[test]
fn mutual_exclusion_and_deadlock() {
    if !spin::is_installed() {
        return;
    }
    agrees(
        &pal(&format!("{PETERSON} never p0@cs && p1@cs; never deadlock;")),
        true,
    );
    let broken = PETERSON.replace("flag[i] = 1; turn = 1 - i;", "turn = 1 - i; flag[i] = 1;");
    agrees(&pal(&format!("{broken} never p0@cs && p1@cs;")), false);
    let stuck = "shared x; thread t[2] { let a = fadd(x, 1); if a == 1 { wait(x == 5); } }";
    agrees(&pal(stuck), true);
    agrees(&pal(&format!("{stuck} never deadlock;")), false);
    agrees(&pal(&format!("{stuck} never deadlock && x == 3;")), true);
    agrees(&pal(&format!("{stuck} never deadlock && x == 2;")), false);
}

#[test]
fn errors_of_the_program() {
    if !spin::is_installed() {
        return;
    }
    agrees(
        &pal("shared a[2], i; thread t { i = 2; } thread u { a[i] = 1; }"),
        false,
    );
    agrees(
        &pal("shared a[2], i; thread t { i = 1; } thread u { a[i] = 1; }"),
        true,
    );
    agrees(
        &pal("shared x = 1; thread t { x = 0; } thread u { let r = 6 / x; }"),
        false,
    );
    agrees(
        &pal("shared x = 1; thread t { let p = &x; *p = 2; assert x == 2; }"),
        true,
    );
    agrees(
        &pal("shared x = 1; thread t { let p = x; *(p + 3) = 2; }"),
        false,
    );
}

#[test]
fn memory_begins_as_declared() {
    if !spin::is_installed() {
        return;
    }
    let text = "shared a[3] = [1, -2, 0], b = -3, c[2] = 4; thread t { let i = 1; assert a[i] == -2 && a[0] == 1 && a[2] == 0; \
        i = c[i] - 4; assert a[i] + b == -2 && c[0] == 4; }";
    agrees(&pal(text), true);
    agrees(&pal(&text.replace("b == -2", "b == 2")), false);
}

#[test]
fn blocks_keep_others_out() {
    if !spin::is_installed() {
        return;
    }
    let count = "shared x, done; thread t[3] { atomic { let r = x; x = r + 1; } let d = fadd(done, 1); if d == 2 { assert x == 3; } }";
    agrees(&pal(count), true);
    agrees(&pal(&count.replace("atomic", "")), false);
    // A thread that blocks inside keeps all others out: `y` is never 1 then.
    let blocks = "shared x, y; thread t { atomic { x = 1; assume y == 1; } assert 0; } thread u { wait(x == 1); y = 1; }";
    agrees(&pal(blocks), true);
    agrees(&pal(&format!("{blocks} never deadlock;")), false);
    // What a block writes can be seen inside it.
    agrees(
        &pal("shared x; thread t { atomic { x = 1; x = 0; } } never x == 1;"),
        false,
    );
}

#[test]
fn read_modify_writes_are_one_step() {
    if !spin::is_installed() {
        return;
    }
    // A `cas` whose result is not used is one step all the same.
    let reader = "thread r { let a = x; let b = x; assert !(a == 1 && b == 2); }";
    let cas = "shared x; thread t { cas(x, 0, 1); } thread u { cas(x, 0, 2); }";
    agrees(&pal(&format!("{cas} {reader}")), true);
    let fadd = "shared x, done; thread t[2] { fadd(x, 1); let d = fadd(done, 1); if d == 1 { assert x == 2; } }";
    agrees(&pal(fadd), true);
    let own = "shared x = 3; thread t { let r = 3; r = cas(x, r, r + 1); assert r == 3 && x == 4; r = 2; r = fadd(x, r); assert x == 6; }";
    agrees(&pal(own), true);
    let xchg = "shared x; thread t { let r = xchg(x, 1); assert r != 1; } thread u { let r = xchg(x, 2); assert r != 2; }";
    agrees(&pal(xchg), true);
}

#[test]
fn automata_and_toy_programs() {
    if !spin::is_installed() {
        return;
    }
    let read = |name: &str, text: &str| {
        let source = Source::new(name, text);
        let parsed = palisade_lang::parse(&source, &ParseOptions::default());
        parsed.expect("a program").program
    };
    let toy = read(
        "t.tpl",
        "max_value 3; global x, y; fn a { local r; lock(x); r = y.load(); y.store(r + 1); unlock(x); r = y.load(); assert(r != 3); }\n\
         fn b { local r, s; lock(x); r = FADD(y, 1); s = CAS(y, 2, 0); unlock(x); assume(r == s); r = wait(x, 0, 2); assert(r == 0); }",
    );
    agrees(&toy, true);
    let automata = read(
        "t.txt",
        "thread t 2 initial a transition a b lock transition b c read r 0 transition c d check == r 0 transition d e write 1 0 \
         transition e f unlock transition f g read q + 1 r transition g a write - q 1 + r 1 end",
    );
    agrees(&automata, true);
}

#[test]
fn spin_agrees_on_random_programs() {
    if !spin::is_installed() {
        return;
    }
    let seeds = |default: u64| match std::env::var("PALISADE_SPIN_SEEDS") {
        Ok(text) => 0..text.parse().unwrap_or(default),
        Err(_) => 0..default,
    };
    let actual = |program: &Program| {
        let text = to_promela(program);
        match text {
            Ok(text) => Some(verify(&text)),
            Err(why) => {
                println!("left out: {why}");
                None
            }
        }
    };
    let compared = compare(&Shape::SC, seeds(8), oracle::sc_safe, actual);
    assert!(compared.programs > 0);
    let compared = compare(&Shape::LOOPS, seeds(6), oracle::sc_safe, actual);
    assert!(compared.programs > 0);
}
