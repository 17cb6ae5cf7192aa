use super::*;

fn read(text: &str) -> Program {
    match parse(&Source::new("test.tpl", text), None) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("{errors:#?}"),
    }
}

fn errors(text: &str) -> Vec<Diagnostic> {
    parse(&Source::new("test.tpl", text), None).expect_err("this must be refused")
}

fn ops(program: &Program) -> Vec<Op> {
    let transitions = &program.threads[0].transitions;
    let ops = transitions.iter().map(|t| t.op.clone());
    ops.filter(|op| *op != Op::Jump).collect()
}

const X: Address<RegisterId> = Address::Direct(LocationId(0));
const R: RegisterId = RegisterId(0);

#[test]
fn values_wrap_around_after_the_largest() {
    assert_eq!(
        read("max_value 2; global x; fn t { }").domain.size(),
        Some(3)
    );
    assert_eq!(read("global x; fn t { }").domain.size(), Some(255));
    let source = Source::new("test.tpl", "max_value 2; global x; fn t { }");
    assert!(parse(&source, Domain::modulo(3)).is_ok());
    assert!(parse(&source, Domain::modulo(4)).is_err());
    assert!(
        errors("max_value 2; global x = 3; fn t { }")[0]
            .message
            .contains("largest")
    );
    assert!(
        errors("max_value 0; global x; fn t { }")[0]
            .message
            .contains("nothing")
    );
}

#[test]
fn accesses() {
    let program = read(
        "global x, y; na n = 1; fn t { local r; r = x.load(); x.store(r + 1); r = n.naload(); n.nastore(2); \
         r = FADD(x, 1); FADD(x, 1, rlx, rel); r = CAS(x, 0, 1); BCAS(x, 0, 1, acq, rlx); r = exchange(x, 2); lock(x); unlock(x); \
         fence; fence(acq_rel); r = x.load(rlx); x.store(1, rlx); }",
    );
    assert!(program.locations[2].nonatomic && program.locations[2].initial == 1);
    let r = || Expr::Atom(R);
    let rmw = |register, action, order| Op::Rmw {
        register,
        address: X,
        action,
        order,
    };
    let one = || Expr::Const(1);
    let zero = || Expr::Const(0);
    assert_eq!(
        ops(&program),
        [
            Op::Load {
                register: R,
                address: X,
                order: Order::Relaxed
            },
            Op::Store {
                address: X,
                value: Expr::binary(BinaryOp::Add, r(), one()),
                order: Order::Relaxed
            },
            Op::Load {
                register: R,
                address: Address::Direct(LocationId(2)),
                order: Order::Acquire
            },
            Op::Store {
                address: Address::Direct(LocationId(2)),
                value: Expr::Const(2),
                order: Order::Release
            },
            rmw(
                Some(R),
                RmwAction::Fetch(BinaryOp::Add, one()),
                Order::Relaxed
            ),
            rmw(None, RmwAction::Fetch(BinaryOp::Add, one()), Order::Release),
            rmw(
                Some(R),
                RmwAction::CompareAndSwap {
                    expected: zero(),
                    desired: one(),
                    failure: Order::Relaxed
                },
                Order::Relaxed
            ),
            rmw(
                None,
                RmwAction::BlockingCompareAndSwap {
                    expected: zero(),
                    desired: one()
                },
                Order::Acquire
            ),
            rmw(Some(R), RmwAction::Exchange(Expr::Const(2)), Order::Relaxed),
            rmw(
                None,
                RmwAction::BlockingCompareAndSwap {
                    expected: zero(),
                    desired: one()
                },
                Order::AcqRel
            ),
            Op::Store {
                address: X,
                value: zero(),
                order: Order::Release
            },
            Op::Fence(Order::SeqCst),
            Op::Fence(Order::AcqRel),
            Op::Load {
                register: R,
                address: X,
                order: Order::Relaxed
            },
            Op::Store {
                address: X,
                value: one(),
                order: Order::Relaxed
            },
        ]
    );
}

#[test]
fn a_wait_for_several_values_is_a_choice() {
    let program = read("global x; fn t { local r; r = wait(x, 1, r); }");
    let thread = &program.threads[0];
    assert_eq!(thread.outgoing(thread.initial).len(), 2);
    assert_eq!(thread.transitions[0].to, thread.transitions[1].to);
}

#[test]
fn a_false_assumption_ends_the_thread() {
    let program = read("global x; fn t { local r; assume(r == 1); x.store(1); }");
    let thread = &program.threads[0];
    let [failing, passing] = thread.outgoing(thread.initial) else {
        panic!("two ways to go on");
    };
    assert!(thread.is_end(failing.to) && !thread.is_end(passing.to));
}

#[test]
fn precedence_is_as_in_c() {
    let program = read("global x; fn t { local a; a = a & 1 == 1 || !a + 2 * 3 < 4 - 5 - 6; }");
    let wanted = read(
        "global x; fn t { local a; a = (a & (1 == 1)) || (((!a) + (2 * 3)) < ((4 - 5) - 6)); }",
    );
    assert_eq!(ops(&program), ops(&wanted));
}

#[test]
fn places_are_before_statements_and_at_braces() {
    let text = "global x; fn t { l: while (1 == 1) { x.store(1); } skip; }";
    let program = read(text);
    let places: Vec<_> = program
        .places
        .iter()
        .map(|p| (p.kind, p.name.as_deref(), program.source.slice(p.span)))
        .collect();
    assert_eq!(
        places,
        [
            (
                PlaceKind::BeforeStatement,
                Some("l"),
                "while (1 == 1) { x.store(1); }"
            ),
            (PlaceKind::BeforeStatement, None, "x.store(1);"),
            (PlaceKind::BlockEnd, None, "}"),
            (PlaceKind::BeforeStatement, None, "skip;"),
            (PlaceKind::BlockEnd, None, "}"),
        ]
    );
    // A fence before the loop is not executed in every round: no way back leads to its point.
    let thread = &program.threads[0];
    assert!(thread.transitions.iter().all(|t| t.to != thread.initial));
}

#[test]
fn labels_choices_and_gotos() {
    let program = read(
        "global x; track x: 0; fn t { local a; end: again: a = 1; if (a) goto end; oneof({ skip; } { goto done; }); \
         if (a == 2) { a = 3; } else if (a) { a = 4; } else { a = 5; } done: }",
    );
    let thread = &program.threads[0];
    assert_eq!(thread.labels.len(), 3);
    assert_eq!(thread.labels[0].points, thread.labels[1].points);
}

#[test]
fn all_errors_are_found_at_once() {
    let found = errors(
        "global x, x; na n; fn t { local a; b = 1; a = x; x.load(); n.store(1); goto nowhere; a = 1 \
         skip; x.sotre(1); a = CAS(x, 1); wiat(x, 1); a = (1 + ; y.store(1); } fn t { skip }",
    );
    let messages: Vec<_> = found.iter().map(|e| e.message.as_str()).collect();
    for wanted in [
        "`x` is declared twice",
        "`b` is not a local variable",
        "`x` is not a local variable",
        "what is loaded here goes nowhere",
        "`n` is nonatomic",
        "no label `nowhere`",
        "`;` is missing before `skip`",
        "`sotre` stands where `store` or `nastore` should be",
        "`CAS` has the wrong number of arguments",
        "`wiat` begins no statement",
        "`;` stands where an expression should be",
        "`y` is not a location",
        "two threads called `t`",
        "`;` is missing before `}`",
    ] {
        let count = messages.iter().filter(|m| m.contains(wanted)).count();
        assert_eq!(count, 1, "{wanted}: {messages:#?}");
    }
    assert_eq!(messages.len(), 14, "{messages:#?}");
}

#[test]
fn deep_nesting_is_refused() {
    let braces = |n: usize| {
        let open = "if (1) {".repeat(n);
        format!("global x; fn t {{ {open} {} }}", "}".repeat(n))
    };
    read(&braces(MAX_NESTING - 1));
    assert!(errors(&braces(100_000))[0].message.contains("nested"));
    let parens = |n: usize| {
        format!(
            "global x; fn t {{ local a; a = {}1{}; }}",
            "(".repeat(n),
            ")".repeat(n)
        )
    };
    read(&parens(400));
    assert!(errors(&parens(100_000))[0].message.contains("nested"));
    let chain = |n: usize| format!("global x; fn t {{ local a; a = 1{}; }}", " + 1".repeat(n));
    read(&chain(400));
    assert!(errors(&chain(100_000))[0].message.contains("nested"));
    let nots = format!(
        "global x; fn t {{ local a; a = {}1; }}",
        "!".repeat(100_000)
    );
    assert!(errors(&nots)[0].message.contains("nested"));
    let ifs = format!(
        "global x; fn t {{ if (1) {{ }} {} }}",
        "else if (1) { }".repeat(10_000)
    );
    assert!(errors(&ifs)[0].message.contains("nested"));
}

/// The newer files have fences that are updates of a location of their own.
#[test]
fn fences_that_are_updates() {
    let text = "max_value 2;\nglobal x, y;\nfn a { local r; x.store(1, rlx); fence(upd); r = y.load(rlx); }\nfn b { fence(upd); }\n";
    let parsed = parse(&Source::new("test.tpl", text), None).unwrap();
    let program = parsed.program;
    assert_eq!(program.locations.len(), 3);
    let updates = program.threads.iter().flat_map(|t| &t.transitions);
    let updates = updates.filter(|t| {
        matches!(
            t.op,
            Op::Rmw {
                order: Order::AcqRel,
                ..
            }
        )
    });
    assert_eq!(updates.count(), 2);
}

#[test]
fn verify_uses_a_register() {
    let text = "global x; fn t { local r; r = x.load(rlx); verify(r); }";
    let source = Source::new("t.tpl", text);
    let program = parse(&source, None).expect("it is a program").program;
    let uses = program.threads[0].transitions.iter().any(|t| {
        let mut used = false;
        t.op.for_each_register(&mut |_| used = true);
        matches!(t.op, Op::Assert(_)) && used
    });
    assert!(uses);
}

#[test]
fn accesses_without_an_order() {
    let orders = |text: &str| -> Vec<Order> {
        let parsed = parse(&Source::new("t.tpl", text), None).expect("it is a program");
        let transitions = parsed.program.threads.iter().flat_map(|t| &t.transitions);
        let order = |op: &Op| match op {
            Op::Load { order, .. } | Op::Store { order, .. } | Op::Wait { order, .. } => {
                Some(*order)
            }
            Op::Rmw { order, .. } => Some(*order),
            _ => None,
        };
        transitions.filter_map(|t| order(&t.op)).collect()
    };
    let text = |a: &str| {
        format!(
            "global x; fn t {{ local r; r = x.load(); x.store(1{a}); wait(x, 1); FADD(x, 1); lock(x); fence(acq); }}"
        )
    };
    let old = [
        Order::Acquire,
        Order::Release,
        Order::Acquire,
        Order::AcqRel,
        Order::AcqRel,
    ];
    assert_eq!(orders(&text("")), old);
    let relaxed = [Order::Relaxed; 4];
    let new = orders(&text(", rlx"));
    assert_eq!(new[..4], relaxed);
    assert_eq!(new[4], Order::AcqRel, "a lock is a lock");
    // A register may be called like an order.
    let register = "global x; fn t { local acq; acq = x.load(); CAS(x, 0, acq); }";
    assert_eq!(orders(register), [Order::Acquire, Order::AcqRel]);
}
