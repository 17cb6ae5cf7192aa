//! The litmus tests of the literature, by all graphs.

use super::*;
use crate::{Machine, Model, never_is_true};
use palisade_lang::{Op, Order, ParseOptions, Program, RmwAction, Source};
use std::collections::HashSet;

const BOTH: [Model; 2] = [Model::C20, Model::Rc11];

fn program(text: &str) -> Program {
    let source = Source::new("test.pal", text);
    match palisade_lang::parse(&source, &ParseOptions::default()) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("{errors:?}\n{text}"),
    }
}

/// Whether some reached state is as wanted.
fn some_state(
    program: &Program,
    model: Model,
    mut wanted: impl FnMut(&C20Graph<'_>, &State) -> bool,
) -> bool {
    let machine = C20Graph::new(program, model).expect("it has a meaning");
    let mut seen = HashSet::from([machine.initial()]);
    let mut todo = vec![machine.initial()];
    while let Some(state) = todo.pop() {
        if wanted(&machine, &state) {
            return true;
        }
        for (_, next) in machine.steps(&state) {
            if seen.insert(next.clone()) {
                todo.push(next);
            }
        }
    }
    false
}

/// Whether the state that the program's `never` describes is reached without a race.
fn reached(text: &str, model: Model) -> bool {
    let program = program(text);
    some_state(&program, model, |machine, state| {
        let memory = machine.newest(state);
        let nevers = &program.nevers;
        !state.raced
            && nevers
                .iter()
                .any(|n| never_is_true(machine.code(), n, &state.locals, &memory, false))
    })
}

fn robust(text: &str, model: Model) -> bool {
    robust_program(&program(text), model)
}

fn robust_program(program: &Program, model: Model) -> bool {
    !some_state(program, model, |machine, state| {
        let inside = machine.code().holder(&state.locals).is_some();
        state.raced || !(inside || is_sc(&state.graph))
    })
}

/// Robust under both models, or under none.
#[track_caller]
fn is_robust(text: &str) -> bool {
    let answers = BOTH.map(|model| robust(text, model));
    assert_eq!(answers[0], answers[1], "{text}");
    answers[0]
}

/// Reached under both models, or under none.
#[track_caller]
fn is_allowed(text: &str) -> bool {
    let answers = BOTH.map(|model| reached(text, model));
    assert_eq!(answers[0], answers[1], "{text}");
    answers[0]
}

/// The orders of a store, and of a load.
const ORDERS: [(&str, &str); 3] = [
    ("relaxed", "relaxed"),
    ("release", "acquire"),
    ("seqcst", "seqcst"),
];

#[test]
fn store_buffering() {
    for (store, load) in ORDERS {
        for fence in ["", "fence(acqrel);", "fence;"] {
            let text = format!(
                "shared x, y;
                 thread a {{ x.store(1, {store}); {fence} let r = y.load({load}); }}
                 thread b {{ y.store(1, {store}); {fence} let r = x.load({load}); }}
                 never a@end && b@end && a.r == 0 && b.r == 0;"
            );
            let allowed = store != "seqcst" && fence != "fence;";
            assert_eq!(is_allowed(&text), allowed, "{text}");
            assert_eq!(is_robust(&text), !allowed, "{text}");
        }
    }
}

#[test]
fn message_passing() {
    for (store, load) in [
        ("relaxed", "relaxed"),
        ("release", "relaxed"),
        ("relaxed", "acquire"),
        ("release", "acquire"),
    ] {
        for (before, after) in [
            ("", ""),
            ("fence(release);", ""),
            ("", "fence(acquire);"),
            ("fence(release);", "fence(acquire);"),
        ] {
            let body = format!(
                "thread a {{ d.DSTORE; {before} f.store(1, {store}); }}
                 thread b {{ if f.load({load}) == 1 {{ {after} let r = d.DLOAD; seen: skip; if r == 0 {{ stale: skip; }} }} }}
                 never b@stale;"
            );
            let published = store == "release" || !before.is_empty();
            let taken = load == "acquire" || !after.is_empty();
            let allowed = !(published && taken);
            let atomic = body
                .replace("DSTORE", "store(1, relaxed)")
                .replace("DLOAD", "load(relaxed)");
            assert_eq!(
                is_allowed(&format!("shared d, f; {atomic}")),
                allowed,
                "{atomic}"
            );
            let plain = body.replace("d.DSTORE", "d = 1").replace("d.DLOAD", "d");
            assert_eq!(
                is_robust(&format!("nonatomic shared d; shared f; {plain}")),
                !allowed,
                "{plain}"
            );
        }
    }
}

#[test]
fn load_buffering_is_no_behaviour() {
    let text = "shared x, y; thread a { let r = y.load(relaxed); x.store(1, relaxed); }
                thread b { let r = x.load(relaxed); y.store(1, relaxed); }
                never a.r == 1 && b.r == 1;";
    assert!(!is_allowed(text) && is_robust(text));
}

#[test]
fn two_plus_two_writes() {
    for (store, _) in ORDERS {
        let text = format!(
            "shared x, y; thread a {{ x.store(1, {store}); y.store(2, {store}); }}
             thread b {{ y.store(1, {store}); x.store(2, {store}); }}
             never a@end && b@end && x == 1 && y == 1;"
        );
        assert_eq!(is_allowed(&text), store != "seqcst");
        assert_eq!(is_robust(&text), store == "seqcst");
    }
}

#[test]
fn independent_reads_of_independent_writes() {
    let iriw = |store: &str, load: &str, between: &str| {
        format!(
            "shared x, y; thread a {{ x.store(1, {store}); }} thread d {{ y.store(1, {store}); }}
             thread b {{ let r = x.load({load}); {between} let s = y.load({load}); }}
             thread c {{ let r = y.load({load}); {between} let s = x.load({load}); }}
             never b@end && c@end && b.r == 1 && b.s == 0 && c.r == 1 && c.s == 0;"
        )
    };
    assert!(is_allowed(&iriw("relaxed", "relaxed", "")));
    assert!(is_allowed(&iriw("release", "acquire", "")));
    assert!(is_allowed(&iriw("release", "acquire", "fence(acqrel);")));
    assert!(!is_allowed(&iriw("seqcst", "seqcst", "")));
    assert!(!is_allowed(&iriw("release", "acquire", "fence;")));
    assert!(!is_allowed(&iriw("relaxed", "relaxed", "fence;")));
    // Sequentially consistent reads of release writes: C++20 is stronger than RC11.
    let mixed = iriw("release", "seqcst", "");
    assert!(!reached(&mixed, Model::C20) && reached(&mixed, Model::Rc11));
    assert!(robust(&mixed, Model::C20) && !robust(&mixed, Model::Rc11));
}

#[test]
fn release_sequences() {
    let text = |middle: &str| {
        format!(
            "shared f; nonatomic shared d; thread a {{ d = 1; f.store(1, release); }}
             thread b {{ {middle} }} thread c {{ if f.load(acquire) == 2 {{ let r = d; }} }}"
        )
    };
    // A read-modify-write carries the sequence on, whatever its order is; another thread's store does not.
    for order in ["relaxed", "acquire", "release", "acqrel", "seqcst"] {
        assert!(is_robust(&text(&format!("cas(f, 1, 2, {order});"))));
    }
    assert!(!is_robust(&text(
        "if f.load(relaxed) == 1 { f.store(2, relaxed); }"
    )));
    // Since C++20 neither does a later store of the same thread.
    let same = "shared f; nonatomic shared d; thread a { d = 1; f.store(1, release); f.store(2, relaxed); }
                thread c { if f.load(acquire) == 2 { let r = d; } }";
    assert!(!is_robust(same));
    // The reference count: the last one to leave sees what the others did, if the decrement releases.
    let count = |order: &str, fence: &str| {
        format!(
            "shared n = 2; nonatomic shared d;
             thread a {{ d = 1; if fadd(n, -1, {order}) == 1 {{ {fence} d = 3; }} }}
             thread b {{ if fadd(n, -1, {order}) == 1 {{ {fence} d = 3; }} }}"
        )
    };
    assert!(is_robust(&count("acqrel", "")));
    assert!(is_robust(&count("release", "fence(acquire);")));
    assert!(!is_robust(&count("release", "")));
    assert!(!is_robust(&count("relaxed", "")));
}

#[test]
fn z6_u() {
    // Lahav et al. 2017, section 2: what C11 forbids and compilation to POWER would show.
    let text = "shared x, y;
        thread a { x.store(1, seqcst); y.store(1, release); }
        thread b { let r = fadd(y, 1, seqcst); let s = y.load(relaxed); }
        thread c { y.store(3, seqcst); let r = x.load(seqcst); }
        never a@end && b@end && c@end && b.r == 1 && b.s == 3 && c.r == 0;";
    assert!(is_allowed(text));
    assert!(!is_robust(text));
}

/// Reading a seq_cst access as fence, access, fence is neither sound nor complete.
#[test]
fn seqcst_accesses_are_not_accesses_between_fences() {
    let violated = "shared x, y;
        thread a { x.store(1, seqcst); y.store(1, release); }
        thread b { fadd(y, 1, seqcst); let r = y.load(acquire); }
        thread c { y.store(3, seqcst); let r = x.load(seqcst); }";
    assert!(!is_robust(violated));
    let fenced = |text: &str| {
        let mut text = text.to_owned();
        for access in [
            "x.store(1, seqcst);",
            "y.store(3, seqcst);",
            "fadd(y, 1, seqcst);",
            "let r = x.load(seqcst);",
            "y.store(2, seqcst);",
        ] {
            let plain = access.replace(", seqcst", "").replace("seqcst", "");
            text = text.replace(access, &format!("fence; {plain} fence;"));
        }
        text
    };
    assert!(is_robust(&fenced(violated)));
    let holds = "shared x, y; thread a { x.store(1, seqcst); } thread b { x = 2; y = 1; } thread c { y.store(2, seqcst); }";
    assert!(is_robust(holds));
    // Fences are no read-modify-writes of a hidden location.
    assert!(is_robust(
        "shared x, y; thread a { fence; x = 1; } thread b { x = 2; y = 1; } thread c { y = 2; fence; }"
    ));
}

#[test]
fn write_to_read_causality_and_chains() {
    let wrwc = |fence: &str, load: &str| {
        format!(
            "shared x, y; thread a {{ x.store(1, relaxed); }}
             thread b {{ let r = x.load({load}); {fence} let s = y.load(relaxed); }}
             thread c {{ y.store(1, relaxed); {fence} let r = x.load(relaxed); }}
             never b@end && c@end && b.r == 1 && b.s == 0 && c.r == 0;"
        )
    };
    assert!(is_allowed(&wrwc("", "acquire")));
    assert!(is_allowed(&wrwc("fence(acqrel);", "acquire")));
    assert!(!is_allowed(&wrwc("fence;", "relaxed")));
    let isa2 = |store: &str, load: &str| {
        format!(
            "shared x, y, z; thread a {{ x.store(1, relaxed); y.store(1, {store}); }}
             thread b {{ let r = y.load({load}); z.store(1, {store}); }}
             thread c {{ let r = z.load({load}); let s = x.load(relaxed); }}
             never c@end && b.r == 1 && c.r == 1 && c.s == 0;"
        )
    };
    assert!(is_allowed(&isa2("relaxed", "relaxed")));
    assert!(is_allowed(&isa2("release", "relaxed")));
    assert!(!is_allowed(&isa2("release", "acquire")));
    assert!(!is_allowed(&isa2("seqcst", "seqcst")));
}

#[test]
fn coherence() {
    let relaxed = |body: &str| body.replace("RLX", "relaxed");
    let tests = [
        // CoRR, CoWW, CoRW1, CoRW2, CoWR
        "shared x; thread a { x.store(1, RLX); } thread b { let r = x.load(RLX); let s = x.load(RLX); } never b@end && b.r == 1 && b.s == 0;",
        "shared x; thread a { x.store(1, RLX); x.store(2, RLX); } never a@end && x == 1;",
        "shared x; thread a { let r = x.load(RLX); x.store(1, RLX); } never a.r == 1;",
        "shared x; thread a { let r = x.load(RLX); x.store(1, RLX); } thread b { x.store(2, RLX); } never a@end && b@end && a.r == 2 && x == 2;",
        "shared x; thread a { x.store(1, RLX); let r = x.load(RLX); } thread b { x.store(2, RLX); } never a@end && b@end && a.r == 2 && x == 1;",
        // Read-modify-writes lose no update.
        "shared x; thread a { fadd(x, 1, RLX); } thread b { fadd(x, 1, RLX); } never a@end && b@end && x == 1;",
        "shared x; thread a { let r = cas(x, 0, 1, RLX); } thread b { let r = cas(x, 0, 1, RLX); } never a@end && b@end && a.r == 0 && b.r == 0;",
    ];
    for text in tests {
        assert!(!is_allowed(&relaxed(text)), "{text}");
        assert!(is_robust(&relaxed(text)), "{text}");
    }
}

#[test]
fn a_failed_cas_is_a_load_with_its_own_order() {
    let with_failure = |order: Order| {
        let mut program = program(
            "shared f; nonatomic shared d; thread a { d = 1; f.store(1, release); }
             thread b { if cas(f, 0, 7, acqrel) == 1 { let r = d; } }",
        );
        for transition in &mut program.threads[1].transitions {
            if let Op::Rmw {
                action: RmwAction::CompareAndSwap { failure, .. },
                ..
            } = &mut transition.op
            {
                *failure = order;
            }
        }
        BOTH.map(|model| robust_program(&program, model))
    };
    assert_eq!(with_failure(Order::Acquire), [true, true]);
    assert_eq!(with_failure(Order::SeqCst), [true, true]);
    assert_eq!(with_failure(Order::Relaxed), [false, false]);
}

#[test]
fn races_by_happens_before() {
    let racy = program("nonatomic shared d; thread a { d = 1; } thread b { d = 2; }");
    let found = some_state(&racy, Model::C20, |_, s| races(&s.graph).len() == 1);
    assert!(found);
    // No state of SC has both accesses enabled at once.
    assert!(!is_robust(
        "nonatomic shared d; shared f; thread a { d = 1; f.store(1, relaxed); } thread b { if f.load(relaxed) == 1 { let r = d; } }"
    ));
    assert!(is_robust(
        "nonatomic shared d; thread a { let r = d; } thread b { let r = d; }"
    ));
}

#[test]
fn blocks() {
    let update = "shared x, y; thread a { x = 1; atomic { let r = y; y = r + 1; } let s = x; }
                  thread b { atomic { let r = y; y = r + 1; } x = 2; }";
    assert!(is_robust(update));
    let refused = |text: &str| refusal(&program(text)).is_some();
    assert!(refused(
        "shared x, y; thread a { atomic { x = 1; y = 1; } }"
    ));
    assert!(refused(
        "shared x; thread a { atomic { let r = x.load(relaxed); x = r + 1; } }"
    ));
    assert!(refused(
        "shared x; thread a { atomic { let r = x; fence(release); x = r + 1; } }"
    ));
    assert!(!refused(update));
}
