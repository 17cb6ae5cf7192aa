use super::*;

use crate::expr::Relation;
use crate::program::{Order, RmwAction};

fn read_test(text: &str) -> Program {
    match parse(&Source::new("test.litmus", text), None) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("{errors:#?}"),
    }
}

fn errors(text: &str) -> Vec<Diagnostic> {
    parse(&Source::new("test.litmus", text), None).expect_err("this must be refused")
}

fn ops(program: &Program, thread: usize) -> Vec<Op> {
    let transitions = &program.threads[thread].transitions;
    let ops = transitions.iter().map(|t| t.op.clone());
    ops.filter(|op| *op != Op::Jump).collect()
}

fn names(program: &Program) -> Vec<&str> {
    program.locations.iter().map(|l| l.name.as_str()).collect()
}

fn load(register: u32, location: u32) -> Op {
    Op::Load {
        register: RegisterId(register),
        address: Address::Direct(LocationId(location)),
        order: Order::Acquire,
    }
}

fn store(location: u32, value: Value) -> Op {
    Op::Store {
        address: Address::Direct(LocationId(location)),
        value: Expr::Const(value),
        order: Order::Release,
    }
}

const SB: &str = "X86 SB\n\"Fre PodWR Fre PodWR\"\nCycle=Fre { PodWR\n";

#[test]
fn store_buffering_in_three_dialects() {
    let intel = "X86 SB\n\"Fre { PodWR\"\nCycle=Fre PodWR\n{ x=0; [y]=0; }\n P0          | P1          ;\n MOV [x],$1  | MOV [y],$1  ;\n \
                 MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";
    let att = "X86_64 SB (* c *)\n{ }\n P0 | P1 ;\n movl $1,(x) | movl $1,(y) ; (* a ; comment | *)\n movl (y),%eax | movl (x),%eax ;\n\
               exists (0:rax=0 /\\ 1:rax=0)";
    let c = "C SB\n{}\nP0 (volatile int* x, int* y) { *x = 1; // first\n int r0 = READ_ONCE(*y); }\n\
             P1 (volatile int* x, int* y) { WRITE_ONCE(*y, 1); int r0; r0 = *x; }\nexists (0:r0=0 /\\ 1:r0=0)";
    for text in [intel, att, c] {
        let program = read_test(text);
        assert_eq!(program.name.as_deref(), Some("SB"));
        assert_eq!(names(&program), ["x", "y"]);
        assert_eq!(ops(&program, 0), [store(0, 1), load(0, 1)]);
        assert_eq!(ops(&program, 1), [store(1, 1), load(0, 0)]);
        assert_eq!(program.threads[1].name, "P1");
        assert_eq!(program.nevers.len(), 1);
        assert!(program.locations.iter().all(|l| !l.nonatomic));
        let places: Vec<_> = program.places.iter().map(|p| p.thread).collect();
        assert_eq!(
            places.iter().filter(|t| **t == Some(ThreadId(0))).count(),
            places.len() / 2
        );
    }
    assert!(errors(SB)[0].message.contains("no init section"));
}

#[test]
fn conditions_speak_of_the_end() {
    let text =
        |condition: &str| format!("X86_64 t\n{{ 0:rbx=3; }}\nP0 ;\n movl $1,(x) ;\n{condition}");
    let end = || {
        let thread = ThreadId(0);
        let copy = None;
        Expr::Atom(StateAtom::At(CopyRef { thread, copy }, LabelRef::End))
    };
    let x = || {
        let address = Address::Direct(LocationId(0));
        Expr::Atom(StateAtom::Memory(Box::new(address)))
    };
    let is_1 = || Expr::binary(BinaryOp::Equal, x(), Expr::Const(1));
    let both = |c| Expr::binary(BinaryOp::And, end(), c);
    let condition = |text: String| read_test(&text).nevers[0].conditions[0].clone();
    assert_eq!(condition(text("exists [x]=1")), both(is_1()));
    assert_eq!(condition(text("~exists x=1")), both(is_1()));
    let not = Expr::unary(UnaryOp::Not, is_1());
    assert_eq!(condition(text("forall (x=1)")), both(not.clone()));
    assert_eq!(condition(text("exists (not ([x]=1))")), both(not));
    let or = Expr::binary(
        BinaryOp::Or,
        is_1(),
        Expr::binary(BinaryOp::And, is_1(), is_1()),
    );
    assert_eq!(
        condition(text("locations [x; 0:rbx;]\nexists x=1 \\/ x=1 /\\ x=1")),
        both(or)
    );
    assert!(read_test(&text("")).nevers.is_empty());
    // A register that nothing sets, by another of its names.
    let program = read_test(&text("exists 0:ecx=0 /\\ 0:RBX=3"));
    assert_eq!(program.threads[0].registers.len(), 2);
    assert_eq!(
        ops(&program, 0)[0],
        Op::Assign(RegisterId(0), Expr::Const(3))
    );
    assert!(
        errors(&text("exists 1:rax=0"))[0]
            .message
            .contains("no thread 1")
    );
}

#[test]
fn locked_instructions() {
    let program = read_test(
        "X86_64 locks\n{}\nP0 ;\n lock incl (x) ;\n incl (x) ;\n xchgl %eax,(x) ;\n lock cmpxchgl %ecx,(x) ;\n jne L ;\n mfence ;\n\
         L: sfence ;\n lfence ;\n lock xaddl %ebx,(x) ;\n",
    );
    let ops = ops(&program, 0);
    let rmws: Vec<&RmwAction> = ops
        .iter()
        .filter_map(|op| match op {
            Op::Rmw { action, .. } => Some(action),
            _ => None,
        })
        .collect();
    assert_eq!(rmws.len(), 4);
    assert_eq!(*rmws[0], RmwAction::Fetch(BinaryOp::Add, Expr::Const(1)));
    assert!(matches!(rmws[1], RmwAction::Exchange(_)));
    assert!(matches!(rmws[2], RmwAction::CompareAndSwap { .. }));
    let fences: Vec<&Op> = ops.iter().filter(|op| matches!(op, Op::Fence(_))).collect();
    let orders = [Order::SeqCst, Order::Release, Order::Acquire];
    assert_eq!(fences, orders.map(Op::Fence).iter().collect::<Vec<_>>());
    // Without `lock`, an increment is a load and a store.
    assert_eq!(
        ops.iter()
            .filter(|op| matches!(op, Op::Load { .. }))
            .count(),
        1
    );
    assert_eq!(program.threads[0].labels[0].name, "L");
}

#[test]
fn arrays_and_pointers() {
    let program = read_test(
        "X86_64 p\n{ int64_t t[2]={1,-1}; 0:rax=t; 0:rbx=1; int *p=&y; }\nP0 ;\n movq 0(%rax,%rbx,8),%rcx ;\n movq 8(%rax),%rdx ;\n\
         forall 0:rcx=-1",
    );
    assert_eq!(names(&program), ["t[0]", "t[1]", "y", "p"]);
    assert_eq!(program.locations[1].initial, -1);
    assert_eq!(program.locations[3].initial, 3);
    assert!(matches!(
        ops(&program, 0)[2],
        Op::Load {
            address: Address::Pointer(_),
            ..
        }
    ));
}

#[test]
fn c_accesses() {
    let program = read_test(
        "C c\n{ atomic_int x = 0; }\nP0 (atomic_int* x, int* d, atomic_int* y) {\n int r0 = atomic_load_explicit(x, memory_order_relaxed);\n\
         atomic_store(x, r0 + 1); *d = 2; *x = 3; r0 = atomic_fetch_add_explicit(x, 1, memory_order_acq_rel);\n\
         if (r0 == 1 && *x == 2) { atomic_thread_fence(memory_order_seq_cst); } else r0 = *d;\n\
         while (!atomic_compare_exchange_strong_explicit(x, &r0, 7, memory_order_release, memory_order_relaxed)) ;\n\
         do { r0 = r0 - 1; } while (r0 > 0); atomic_add_unless(y, 1, 5); return; }\n",
    );
    assert!(program.locations[1].nonatomic && !program.locations[0].nonatomic);
    let ops = ops(&program, 0);
    let count = |wanted: fn(&Op) -> bool| ops.iter().filter(|op| wanted(op)).count();
    assert_eq!(
        count(|op| matches!(
            op,
            Op::Load {
                order: Order::Relaxed,
                ..
            }
        )),
        1
    );
    assert_eq!(
        count(|op| matches!(
            op,
            Op::Store {
                order: Order::SeqCst,
                ..
            }
        )),
        2
    );
    assert_eq!(
        count(|op| matches!(
            op,
            Op::Rmw {
                order: Order::AcqRel,
                ..
            }
        )),
        1
    );
    assert_eq!(
        count(|op| matches!(
            op,
            Op::Rmw {
                order: Order::Release,
                ..
            }
        )),
        1
    );
    assert_eq!(count(|op| matches!(op, Op::AtomicBegin)), 1);
    // `*x` behind `&&` is loaded only when it is needed.
    assert_eq!(
        count(|op| matches!(
            op,
            Op::Load {
                order: Order::SeqCst,
                ..
            }
        )),
        1
    );
    assert!(!program.threads[0].registers.is_empty() && Relation::Equal.holds(1, 1));
}

#[test]
fn what_is_not_supported_is_named() {
    let one =
        errors("X86_64 t\n{}\nP0 ;\n movl $1,(x) ;\n vaddps %xmm0,%xmm1 ;\n frob ;\nexists x=1");
    assert!(
        one.iter()
            .any(|e| e.message.contains("`frob` is not supported"))
    );
    assert!(one.len() >= 2);
    let c = errors("C t\n{}\nP0 (int* x) { spin_lock(x); }\nexists x=1");
    assert!(c[0].message.contains("`spin_lock` is not supported"));
    assert!(
        errors("PPC t\n{}\nP0;\n li r1,1;\n")[0]
            .message
            .contains("`PPC` cannot be read")
    );
    assert!(
        errors("C t\n{}\nP0 (int* x) { r0 = 1; }\n")[0]
            .message
            .contains("`r0` is not a variable")
    );
    assert!(
        errors("X86 t\n{}\nP0;\n JE L ;\n")[0]
            .message
            .contains("no label `L`")
    );
}

#[test]
fn deep_nesting_is_refused() {
    let many = 100_000;
    let parens = format!(
        "C t\n{{}}\nP0 (int* x) {{ *x = {}1{}; }}\n",
        "(".repeat(many),
        ")".repeat(many)
    );
    assert!(errors(&parens)[0].message.contains("nested"));
    let blocks = format!(
        "C t\n{{}}\nP0 (int* x) {{ {} {} }}\n",
        "if (1) {".repeat(many),
        "}".repeat(many)
    );
    assert!(errors(&blocks)[0].message.contains("nested"));
    let condition = format!(
        "X86 t\n{{}}\nP0;\n MOV [x],$1;\nexists {}x=1",
        "(".repeat(many)
    );
    assert!(errors(&condition)[0].message.contains("nested"));
    let long = format!(
        "X86 t\n{{}}\nP0;\n MOV [x],$1;\nexists x=1{}",
        " /\\ x=1".repeat(many)
    );
    assert!(errors(&long)[0].message.contains("too many parts"));
    let sum = format!(
        "C t\n{{}}\nP0 (int* x) {{ *x = 1{}; }}\n",
        " + 1".repeat(many)
    );
    assert!(errors(&sum)[0].message.contains("too many parts"));
}
