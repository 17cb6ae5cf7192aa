//! What each construct becomes, and what is said about each mistake.

use std::fmt::Write;

use crate::expr::{Domain, ProgramError};
use crate::program::{Copies, PlaceKind, Program};
use crate::source::{Diagnostic, Source};

fn parse(text: &str) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    super::parse(&Source::new("test.pal", text), None).map(|p| (p.program, p.warnings))
}

fn program(text: &str) -> Program {
    match parse(text) {
        Ok((program, _)) => program,
        Err(errors) => panic!("{}", told(text, &errors)),
    }
}

fn told(text: &str, diagnostics: &[Diagnostic]) -> String {
    let source = Source::new("test.pal", text);
    let mut out = String::new();
    for d in diagnostics {
        let at = source.line_column(d.span.start);
        let excerpt = source.slice(d.span).replace('\n', " ");
        let _ = writeln!(out, "{at} `{excerpt}` {:?}: {}", d.severity, d.message);
        if !d.label.is_empty() {
            let _ = writeln!(out, "    ^ {}", d.label);
        }
        if let Some(help) = &d.help {
            let _ = writeln!(out, "    help: {help}");
        }
    }
    out
}

/// The errors of a text, as a snapshot shows them.
fn errors(text: &str) -> String {
    match parse(text) {
        Ok(_) => "no error".into(),
        Err(errors) => told(text, &errors),
    }
}

/// The errors of the body of a thread `t`, beside a few declarations.
fn errors_in(body: &str) -> String {
    errors(&format!(
        "const K = 3; shared x, y, flag[2]; nonatomic shared data; fn one(a) {{ return a; }}\nthread t {{ {body} }}"
    ))
}

/// Orders and fences by the names that they have in other languages.
#[test]
fn names_from_other_languages_are_translated() {
    for (body, help) in [
        (
            "x.load(memory_order_seq_cst);",
            "it is called `seqcst` here",
        ),
        ("x.store(1, Relaxed);", "it is called `relaxed` here"),
        ("fadd(x, 1, AcqRel);", "it is called `acqrel` here"),
        ("atomic_thread_fence();", "it is `fence;` here"),
        ("atomic_store(x, 1);", "methods of places"),
    ] {
        let found = errors_in(body);
        assert!(found.contains(help), "{body}: {found}");
    }
}

#[test]
fn a_file_is_included_once_and_where_it_stands() {
    let others = [
        (
            "d/b.pal",
            "program b; include \"c.pal\"; include \"../a.pal\"; shared y; fn f() { z = 1; }",
        ),
        ("d/c.pal", "shared z; include \"b.pal\";"),
    ];
    let others = others.map(|(name, text)| (name.to_string(), text.to_string()));
    let text = "shared x; include \"d/b.pal\"; include \"d/./c.pal\"; shared w; thread t { f(); }";
    let source = Source::of_files("a.pal", text, others, []);
    let program = match super::parse(&source, None) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("{errors:?}"),
    };
    let names: Vec<&str> = program.locations.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["x", "z", "y", "w"]);
    let store = &program.threads[0].transitions[0];
    assert_eq!(source.file_at(store.span.start).name, "d/b.pal");
    assert_eq!(source.place(store.span.start), "d/b.pal:1:68");

    let missing = [("b.pal".to_string(), "it is away".to_string())];
    let source = Source::of_files(
        "a.pal",
        "include \"b.pal\"; thread t { q = 1; }",
        [],
        missing,
    );
    let errors = super::parse(&source, None).expect_err("a file is missing");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].message, "`b.pal` cannot be included: it is away");
}

fn warnings(text: &str) -> String {
    match parse(text) {
        Ok((_, warnings)) => told(text, &warnings),
        Err(errors) => panic!("{}", told(text, &errors)),
    }
}

/// Everything that was made of a text.
fn lowered(text: &str) -> String {
    let program = program(text);
    let mut out = String::new();
    for location in &program.locations {
        let _ = writeln!(
            out,
            "{} at {} = {}{}",
            location.name,
            location.address,
            location.initial,
            if location.nonatomic { " nonatomic" } else { "" }
        );
    }
    for thread in &program.threads {
        let _ = writeln!(out, "thread {} {:?}", thread.name, thread.copies);
        let registers: Vec<_> = thread
            .registers
            .iter()
            .map(|r| r.name.as_deref().unwrap_or("_"))
            .collect();
        let _ = writeln!(out, "  registers {}", registers.join(" "));
        for transition in &thread.transitions {
            let from = &thread.points[transition.from.index()];
            let place = match from.place.map(|p| &program.places[p.index()]) {
                None => "".to_string(),
                Some(place) => {
                    let text = program.source.slice(place.span);
                    let line: String = text.lines().next().unwrap_or("").chars().take(24).collect();
                    let whose = if place.thread.is_none() { " in fn" } else { "" };
                    match place.kind {
                        PlaceKind::BlockEnd => format!("   (block end{whose})"),
                        _ => format!("   (before `{line}`{whose})"),
                    }
                }
            };
            let _ = writeln!(
                out,
                "  {}{} -> {}  {}{place}",
                transition.from.0,
                if from.atomic { "a" } else { "" },
                transition.to.0,
                short(&format!("{:?}", transition.op)),
            );
        }
        for label in &thread.labels {
            let points: Vec<String> = label.points.iter().map(|p| p.0.to_string()).collect();
            let _ = writeln!(out, "  {} at {}", label.name, points.join(" "));
        }
    }
    for condition in program.nevers.iter().flat_map(|n| &n.conditions) {
        let _ = writeln!(out, "never {}", short(&format!("{condition:?}")));
    }
    out
}

/// Debug output without the words that say nothing.
fn short(debug: &str) -> String {
    let mut text = debug.to_string();
    for (long, short) in [
        ("RegisterId(", "r("),
        ("LocationId(", "l("),
        ("ThreadId(", "t("),
        ("LabelId(", "label("),
        ("Atom(r(", "(r("),
        ("Direct(l(", "(l("),
        (", order: Acquire", ""),
        (", order: Release", ""),
        (", order: AcqRel", ""),
    ] {
        text = text.replace(long, short);
    }
    text
}

macro_rules! snapshot {
    ($name:ident, $of:expr) => {
        #[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($name), $of);
        }
    };
}

// ---- what constructs become ----

snapshot!(
    declarations,
    lowered(
        "program demo; const N = 2 + 1; domain N * 4; shared x, y = -1, a[N] = 5, b[2] = [&a[1], N];
         nonatomic shared d = 7; thread t { d = a[N - 1] + *b[0] + x + y; }"
    )
);
snapshot!(
    loads_from_left_to_right,
    lowered("shared x, y, a[4]; thread t { a[x] = a[y + 1] * x - y; let r = x; r = a[r]; }")
);
snapshot!(
    pointers,
    lowered(
        "shared x, y, a[2]; thread t { let p = &x; *p = *p + 1; *(p + 1) = **p; let q = &a[p]; q = &*p; *3 = 0;
         p = *q.load(relaxed); *p.store(1, seqcst); (*p).store(2); }"
    )
);
snapshot!(
    right_sides_only_when_needed,
    lowered(
        "shared x, y; thread t { let r = x == 1 && y == 1; r = r || r == 2; r = !(x || y && r); }"
    )
);
snapshot!(
    conditions,
    lowered(
        "shared x, y; thread t { if x == 1 && y == 2 { skip; } else if !(x == 3 || y == 4) { x = 1; } else { y = 1; }
         assume x == 1 || y == 1; assert x == 1 && y == 1; }"
    )
);
snapshot!(
    loops,
    lowered(
        "shared x; thread t { while x == 0 { if x == 2 { break; } if x == 3 { continue; } x = 1; } loop { } }"
    )
);
snapshot!(
    read_modify_writes,
    lowered(
        "shared x, y; thread t { cas(x, 0, 1); let r = cas(x, y, r0(2), relaxed); r = fadd(x, 1) + xchg(y, 2); bcas(x, 0, 1, seqcst);
         wait(x == y + 1); wait(y != (r && x)); r = fetch_sub(x, 1); r = wait(x > 0, seqcst); fetch_or(x, 4); }
         fn r0(a) { return a; }"
    )
);
snapshot!(
    orders_and_fences,
    lowered(
        "shared x; thread t { x.store(1); x.store(2, relaxed); let r = x.load(); r = x.load(seqcst); fence; fence(acquire); x.load(); }"
    )
);
snapshot!(
    orders_of_the_second_round,
    lowered(
        "shared x; nonatomic shared d; thread t { let r = cas(x, 0, 1, acqrel, relaxed); cas(x, 0, 1, seqcst, acquire); r = fetch_min(x, 2);
         fetch_max(x, r, relaxed); x.store(1, nonatomic); r = x.load(nonatomic); d.store(r, nonatomic); r = *(&d).load(nonatomic); }"
    )
);
snapshot!(
    structs_and_dimensions,
    lowered(
        "struct Node { value = 1, nonatomic data[2], next: *Node }
         shared Node pool[2], head, grid[2][2] = [1, 2, 3, 4], at = &pool[1].data[0];
         thread t { let i = head; pool[1].value = 2; pool[i].next = &pool[0]; grid[i][1] = grid[1][i]; let p: *Node = head; p->data[i] = 1;
           i = p->next->value; }
         never pool[t.i].value == grid[1][t.i] && t.p->value == 3;"
    )
);
snapshot!(
    counting_and_updating,
    lowered(
        "domain 4; shared x; thread t { let a[2]; let r; for i in 0..4 { r += i; if r == 3 { continue; } a[r] = x; } for j in r..x { x ^= j; }
           a[1] -= r; r = a[0]; }"
    )
);
snapshot!(
    methods_and_constants,
    lowered(
        "enum { IDLE, BUSY } shared x, n = null; thread t { let r = x.swap(BUSY); x.fetch_add(1, relaxed); x.fetch_sub(1); x.fetch_and(3); x.fetch_max(2);
           r = x.compare_exchange(IDLE, BUSY, acqrel, acquire); r = x.compare_exchange_weak(0, 1, release); x.compare_exchange_weak(0, 1); assert true != false; }"
    )
);
snapshot!(
    mistakes_of_the_second_round,
    errors(
        "struct S { f, f, h[2] } struct S { a } struct E { } struct T { z[0] } shared S s = 1, U u, S many[2], x, nul;
         fn go(p: *V) { p->f = 1; }
         thread t { let p: *S = &s; let a[0]; let b[2]; s = 1; x = s; s.q = 1; p->q = 2; x->f = 1; many.f = 1; many[0] = 1; x[1][2] = 3; s.h = 1; b = 1;
           x = b; x.exchange(1); x.cmpxchg(0, 1); x.fetch_mul(2); for i in 0..3 x = 1; for i on 0 { } x *= 2; x = NULL; include \"b.pal\"; }"
    )
);
snapshot!(
    orders_where_they_mean_nothing,
    errors_in(
        "cas(x, 0, 1, acqrel, release); cas(x, 0, 1, relaxed, seqcst, acquire); fadd(x, 1, nonatomic); fence(nonatomic); xchg(x, 1, relaxed, relaxed);"
    )
);
snapshot!(
    functions,
    lowered(
        "shared x, y; fn get(p, n) { if n == 0 { return *p; } n = n - 1; } fn put(v) { x = v; done: return; }
         thread t { let r = get(&x, y) + get(&y, 0); put(r); put(r + 1); r = get(&x, 1); }"
    )
);
snapshot!(
    choices,
    lowered(
        "shared x; thread t { choose { x = 1; } or { } or { x = 2; } select { assume x == 1; } or { bcas(x, 2, 3); } or { } }"
    )
);
snapshot!(
    atomic_blocks,
    lowered(
        "shared x; fn f() { atomic { if x == 1 { return 1; } x = 2; } } thread t { a: loop { atomic { atomic { x = 1; } if x == 1 { break; }
         if x == 2 { continue; } goto a; } } atomic { f(); } let r = f(); }"
    )
);
snapshot!(
    labels_and_gotos,
    lowered(
        "shared x; fn f() { cs: skip; } thread t { a: b: if x == 1 { goto c; } goto a; c: while x { } f(); f(); }
         never t@cs || t@a || t@end;"
    )
);
snapshot!(
    block_scopes,
    lowered(
        "thread t { let r; let s; let r = 1; { let r = r + 1; r = 2; } r = 3; loop { let q; q = r; } }"
    )
);
snapshot!(
    copies_and_me,
    lowered(
        "shared a[3]; thread t[1 + 2] { let r; a[me] = 1; r = me; l: skip; } thread u[*] { l: skip; }
         never t[1]@l && t@l && u[0]@l && u[1]@l && t[2].r == 1 && a[t[0].r] == 1 && !deadlock && u@end;"
    )
);
snapshot!(
    failing_operations_in_order,
    lowered("shared x, y; thread t { let r = x / y + x; r = 1 / 2 + x; x = (r << y) + 1; }")
);

#[test]
fn literals() {
    let text =
        "shared a = 0x10, b = -9223372036854775808, c = ~0, d = 7 / -2, e = -7 % 2; thread t { }";
    let program = program(text);
    let values: Vec<i64> = program.locations.iter().map(|l| l.initial).collect();
    assert_eq!(values, [16, i64::MIN, -1, -3, -1]);
}

#[test]
fn constants_in_any_order_and_with_a_domain() {
    // As a size, N is 8; as a value it is 0.
    let program = program(
        "domain 4; const N = 2 * M; const M = 4; shared a[N] = N; thread t[N] { a[0] = N; }",
    );
    assert_eq!(program.locations.len(), 8);
    assert_eq!(program.threads[0].copies, Copies::Fixed(8));
    assert_eq!(program.locations[0].initial, 0);
}

#[test]
fn a_domain_that_is_given_must_be_the_same() {
    let source = Source::new("test.pal", "domain 4; shared x; thread t { x = 1; }");
    assert!(super::parse(&source, Domain::modulo(4)).is_ok());
    assert!(super::parse(&source, Domain::modulo(5)).is_err());
    let source = Source::new("test.pal", "shared x = 7; thread t { x = 1; }");
    let parsed = super::parse(&source, Domain::modulo(4)).expect("a program");
    assert_eq!(parsed.program.locations[0].initial, 3);
}

#[test]
fn an_index_out_of_range_is_an_error_of_the_program() {
    let (program, warnings) = parse("shared a[2]; thread t { a[2] = 1; }").expect("a program");
    assert_eq!(warnings.len(), 1);
    let error = ProgramError::IndexOutOfRange(2, 2);
    assert!(warnings[0].message.starts_with("index 2 is outside"));
    assert!(error.to_string().starts_with("index 2 is outside"));
    assert!(matches!(
        program.threads[0].transitions[0].op,
        crate::Op::Store {
            address: crate::Address::Element { .. },
            ..
        }
    ));
}

#[test]
fn places_are_passed_exactly_when_control_reaches_the_statement() {
    let program = program("shared x; thread t { while x == 0 { x = 1; } x = 2; }");
    let places: Vec<(PlaceKind, &str)> = program
        .places
        .iter()
        .map(|p| (p.kind, program.source.slice(p.span)))
        .collect();
    assert_eq!(
        places,
        [
            (PlaceKind::BeforeStatement, "while x == 0 { x = 1; }"),
            (PlaceKind::BeforeStatement, "x = 1;"),
            (PlaceKind::BlockEnd, "}"),
            (PlaceKind::BeforeStatement, "x = 2;"),
            (PlaceKind::BlockEnd, "}"),
        ]
    );
}

#[test]
fn functions_that_nobody_calls_have_no_places() {
    let program = program("shared x; fn f() { x = 1; g(); } fn g() { x = 2; } thread t { g(); }");
    let functions: Vec<&str> = program
        .places
        .iter()
        .filter(|p| p.thread.is_none())
        .map(|p| program.source.slice(p.span))
        .collect();
    assert_eq!(functions, ["x = 2;", "}"]);
}

// ---- what is said about mistakes ----

snapshot!(
    unknown_names,
    errors_in("flg[0] = 1; z = 1; let r = Turn; r = tru; on(1); goto nowhere; r = one; r = true;")
);
snapshot!(
    confusing_assignment_and_comparison,
    errors_in("if x = 1 { } while (x = 1) { } x == 1; assume x = y = 1; wait(x = 1);")
);
snapshot!(
    missing_semicolons,
    errors_in("x = 1\n y = 2\n skip\n fence\n let r = 1 }\nthread u { return")
);
snapshot!(
    keywords_as_names,
    errors("shared loop, x; thread if { let fence = 1; or: skip; x = thread; }")
);
snapshot!(
    registers_out_of_their_block,
    errors_in("{ let r = 1; } r = 2; while x { let s; } x = s;")
);
snapshot!(
    recursion,
    errors(
        "fn f(a) { return g(a); } fn g(a) { h(); return f(a); } fn h() { h(); } thread t { f(1); }"
    )
);
snapshot!(
    waiting_for_too_much,
    errors_in("wait(x == 1 && y == 2); wait(x); wait(1 == x); wait(x == 1 | 2); wait(x);")
);
snapshot!(
    nonatomic_locations,
    errors_in(
        "cas(data, 0, 1); wait(data == 1); data.store(1, release); let r = data.load(acquire); fadd(data, 1); data.store(2);"
    )
);
snapshot!(
    no_me_here,
    errors("fn f() { return me; } thread t { let r = me; } thread u[*] { f(); } never me == 1;")
);
snapshot!(
    jumps,
    errors_in(
        "break; continue; l: skip; l: skip; goto m; atomic { n: skip; } goto n; l2: skip; fn2(); end: skip; }\nfn fn2() { goto l2; "
    )
);
snapshot!(
    arrays_and_scalars,
    errors_in(
        "flag = 1; x[0] = 1; let r = flag + y[1]; r[0] = 1; r = &flag; K = 1; K[0] = 1; *K = 1; r.store(1);"
    )
);
snapshot!(
    declarations_that_do_not_fit,
    errors(
        "const A = B; const B = A; const C = x; const D = 1 / 0; domain 1; domain 4; shared x, x, e[0], f[-1], g[2] = [1, 2, 3], h = [1], i[];
         shared j[3] = [1]; fn f(a, a) { } fn f() { } thread t { } thread t { } thread u[-1] { }"
    )
);
snapshot!(
    addresses_beyond_the_domain,
    errors(
        "domain 4; shared a, b, c, d, e[2]; thread t { let p = &c; p = &d; p = &e[p]; p = &e[0]; }
         thread u[5] { a = me; } thread v[4] { b = me; }"
    )
);
snapshot!(
    calls,
    errors_in(
        "one(); one(1, 2); x.load(1); x.stor(1); cas(x, 1); cas(1, 2, 3); fadd(x); bcas(one(1), 1, 2); xchg(x, 1, fast); x.store(1, 2);"
    )
);
snapshot!(
    statements,
    errors_in(
        "x; 1; x + 1; ; else { } or { } mfence; whlie x { y = 1; } x += 1; x++; 3 = x; l: } thread u { if x skip; choose { } x = ; y = 1; "
    )
);
snapshot!(
    never_conditions,
    errors(
        "shared x; thread t { let r; { let s; } cs: skip; } thread u[2] { let r; l: skip; }
         never t@sc; never tt@cs; never t.q; never t.s; never u.r; never u[2]@l; never t[0]@cs; never r; never t; never cas(x, 1, 2); never dedlock; never (1)@l;"
    )
);
snapshot!(
    items,
    errors(
        "x = 1; thred t { } shared a b; const = 1; fn f { } thread { } } thread u { x = 1; never x;"
    )
);
snapshot!(
    strange_characters,
    errors(
        "shared x; # comment\nthread t { x = \"a\"; x = 1 ? 2; x = ü; x = 12ab; x = $; } /* no end"
    )
);
snapshot!(
    numbers_out_of_range,
    errors_in(
        "x = 9223372036854775808; x = 99999999999999999999; x = -9223372036854775808; x = 0xfffffffffffffffff; x = 0x;"
    )
);
snapshot!(selects, errors_in("select { l: x = 1; } or { skip; }"));
snapshot!(
    suspicious_things,
    warnings(
        "shared x, unused; fn f() { return 1; x = 2; } thread t { let x = 1; f(); loop { } skip; } thread u { x.store(1, acquire);
         let r = x.load(release); end: goto l; l: skip; return 1; }"
    )
);

// ---- no input is too much ----

#[test]
fn nesting_without_end_is_one_error() {
    let deep = 100_000;
    for text in [
        format!(
            "shared x; thread t {{ x = {}1{}; }}",
            "(".repeat(deep),
            ")".repeat(deep)
        ),
        format!("shared x; thread t {{ x = {}1; }}", "!".repeat(deep)),
        format!("shared x; thread t {{ x = {}1; }}", "- ".repeat(deep)),
        format!("shared x; thread t {{ {}x = 1; }}", "*".repeat(deep)),
        format!("shared x; thread t {{ x = 1{}; }}", " + 1".repeat(deep)),
        format!("shared x; thread t {{ assume x{}; }}", " && x".repeat(deep)),
        format!("shared x; thread t {{ x = 1{}; }}", " + (1".repeat(deep)),
        format!(
            "shared x; thread t {{ {}{} }}",
            "{".repeat(deep),
            "}".repeat(deep)
        ),
        format!("shared x; thread t {{ {}", "if x { ".repeat(deep)),
        format!(
            "shared x[2]; thread t {{ {}1{} = 1; }}",
            "x[".repeat(deep),
            "]".repeat(deep)
        ),
        format!("shared x; never {}x;", "!".repeat(deep)),
        format!("const K = {}1;", "-".repeat(deep)),
    ] {
        let errors = parse(&text).expect_err("too deep");
        assert_eq!(errors.len(), 1, "{:.60}: {}", text, told(&text, &errors));
    }
}

#[test]
fn long_chains_are_fine() {
    let long = 20_000;
    let text = format!(
        "shared x; thread t {{ {}{{ }} }}",
        "if x == 1 { x = 2; } else ".repeat(long)
    );
    assert!(parse(&text).is_ok());
    let text = format!("shared x; thread t {{ {} }}", "x = 1; ".repeat(long));
    assert!(parse(&text).is_ok());
    let consts: String = (0..long)
        .map(|i| format!("const c{i} = c{} + 1; ", i + 1))
        .collect();
    let text = format!("{consts} const c{long} = 1; shared x = c0; thread t {{ x = 1; }}");
    assert_eq!(program(&text).locations[0].initial, long as i64 + 1);
    let high = format!("shared x; thread t {{ x = 1{}; }}", " + 1".repeat(498));
    assert!(parse(&high).is_ok());
}

#[test]
fn functions_that_call_too_much_are_refused() {
    let doubling: String = (0..40)
        .map(|i| format!("fn f{i}() {{ f{0}(); f{0}(); }} ", i + 1))
        .collect();
    let text = format!("{doubling} fn f40() {{ skip; }} thread t {{ f0(); }}");
    assert!(parse(&text).is_err());
    let deep: String = (0..500)
        .map(|i| format!("fn f{i}() {{ f{}(); }} ", i + 1))
        .collect();
    let text = format!("{deep} fn f500() {{ skip; }} thread t {{ f0(); }}");
    assert!(parse(&text).is_err());
}
