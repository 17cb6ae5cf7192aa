//! The rules of the models one by one, each with the smallest program that shows it: which models reach the state that the program's `never` describes.

use crate::{C20Graph, Local, Machine, Model, Ra, Sc, Tso, is_deadlock, never_is_true};
use palisade_lang::{ParseOptions, Program, Source, Value};
use std::collections::HashSet;

/// The models that reach the state of the program's `never`, of `sc`, `tso`, `ra` and `c20`; those that refuse the program are left out.
fn reached_under(text: &str) -> String {
    reached(text, true)
}

/// The same without `c20`, whose graphs grow with each round of a loop.
fn reached_in_loops(text: &str) -> String {
    reached(text, false)
}

fn reached(text: &str, graphs: bool) -> String {
    let source = Source::new("test.pal", text);
    let parsed = palisade_lang::parse(&source, &ParseOptions::default());
    let program = parsed.expect("a program").program;
    let mut models = Vec::new();
    if some_state(&Sc::new(&program), &program, |_, s| Some(s.memory.clone())) {
        models.push("sc");
    }
    if some_state(&Tso::new(&program), &program, |_, s| {
        let empty = s.buffers.iter().all(|buffer| buffer.is_empty());
        empty.then(|| s.memory.clone())
    }) {
        models.push("tso");
    }
    if let Ok(ra) = Ra::new(&program)
        && some_state(&ra, &program, |_, s| Some(Ra::newest(s)))
    {
        models.push("ra");
    }
    if graphs
        && let Ok(c20) = C20Graph::new(&program, Model::C20)
        && some_state(&c20, &program, |machine, s| Some(machine.newest(s)))
    {
        models.push("c20");
    }
    models.join(" ")
}

/// `memory` is what a `never` sees, in the states in which it is asked.
fn some_state<M: Machine>(
    machine: &M,
    program: &Program,
    memory: impl Fn(&M, &M::State) -> Option<Vec<Value>>,
) -> bool {
    let mut seen = HashSet::from([machine.initial()]);
    let mut todo = vec![machine.initial()];
    while let Some(state) = todo.pop() {
        let locals: &[Local] = machine.locals(&state);
        if let Some(memory) = memory(machine, &state) {
            let deadlock = is_deadlock(machine.code(), locals, &memory, None) == Some(true);
            let mut nevers = program.nevers.iter();
            if nevers.any(|n| never_is_true(machine.code(), n, locals, &memory, deadlock)) {
                return true;
            }
        }
        for (_, next) in machine.steps(&state) {
            if seen.insert(next.clone()) {
                todo.push(next);
            }
        }
    }
    false
}

mod store_buffering {
    use super::reached_under;

    fn both_read_old(a: &str, b: &str) -> String {
        reached_under(&format!(
            "shared x, y; thread a {{ {a} }} thread b {{ {b} }} never a@end && b@end && a.r == 0 && b.r == 0;"
        ))
    }

    #[test]
    fn a_load_overtakes_a_store_that_waits() {
        let reached = both_read_old("x = 1; let r = y;", "y = 1; let r = x;");
        assert_eq!(reached, "tso ra c20");
    }

    #[test]
    fn a_fence_waits_for_the_buffer() {
        let reached = both_read_old("x = 1; fence; let r = y;", "y = 1; fence; let r = x;");
        assert_eq!(reached, "");
        // One is not enough.
        let reached = both_read_old("x = 1; fence; let r = y;", "y = 1; let r = x;");
        assert_eq!(reached, "tso ra c20");
    }

    #[test]
    fn a_read_modify_write_waits_under_tso_alone() {
        let reached = both_read_old("fadd(x, 1); let r = y;", "fadd(y, 1); let r = x;");
        assert_eq!(reached, "ra c20");
    }

    #[test]
    fn a_seqcst_store_is_followed_by_a_fence_under_tso_and_needs_a_seqcst_load_under_c20() {
        let store_only = both_read_old(
            "x.store(1, seqcst); let r = y;",
            "y.store(1, seqcst); let r = x;",
        );
        assert_eq!(store_only, "c20");
        let both = both_read_old(
            "x.store(1, seqcst); let r = y.load(seqcst);",
            "y.store(1, seqcst); let r = x.load(seqcst);",
        );
        assert_eq!(both, "");
    }

    #[test]
    fn a_weaker_fence_does_nothing_here() {
        let reached = both_read_old(
            "x = 1; fence(acqrel); let r = y;",
            "y = 1; fence(acqrel); let r = x;",
        );
        assert_eq!(reached, "tso ra c20");
    }

    #[test]
    fn what_a_block_stores_is_there_at_once() {
        let reached = both_read_old(
            "atomic { let s = x; x = s + 1; } let r = y;",
            "atomic { let s = y; y = s + 1; } let r = x;",
        );
        assert_eq!(reached, "ra c20");
    }
}

mod message_passing {
    use super::reached_under;

    fn old_data(writer: &str, reader: &str) -> String {
        reached_under(&format!(
            "shared x, y; thread a {{ {writer} }} thread b {{ {reader} }} never b@end && b.r == 1 && b.s == 0;"
        ))
    }

    #[test]
    fn release_and_acquire_publish() {
        let reached = old_data("x = 1; y = 1;", "let r = y; let s = x;");
        assert_eq!(reached, "");
    }

    #[test]
    fn a_relaxed_store_publishes_nothing_and_a_relaxed_load_learns_nothing() {
        let reached = old_data(
            "x = 1; y.store(1, relaxed);",
            "let r = y.load(acquire); let s = x;",
        );
        assert_eq!(reached, "c20");
        let reached = old_data(
            "x = 1; y.store(1, release);",
            "let r = y.load(relaxed); let s = x;",
        );
        assert_eq!(reached, "c20");
    }

    #[test]
    fn fences_make_relaxed_accesses_publish_and_learn() {
        let reached = old_data(
            "x.store(1, relaxed); fence(release); y.store(1, relaxed);",
            "let r = y.load(relaxed); fence(acquire); let s = x.load(relaxed);",
        );
        assert_eq!(reached, "");
        // On the wrong side they do not.
        let reached = old_data(
            "x.store(1, relaxed); y.store(1, relaxed); fence(release);",
            "let r = y.load(relaxed); fence(acquire); let s = x.load(relaxed);",
        );
        assert_eq!(reached, "c20");
    }

    #[test]
    fn a_release_sequence_goes_on_through_read_modify_writes_only() {
        let by_update = "shared x, y;
            thread a { x.store(1, relaxed); y.store(1, release); }
            thread u { fadd(y, 1, relaxed); }
            thread b { let r = y.load(acquire); let s = x.load(relaxed); }
            never b@end && b.r == 2 && b.s == 0;";
        assert_eq!(reached_under(by_update), "");
        let by_own_store = "shared x, y;
            thread a { x.store(1, relaxed); y.store(1, release); y.store(2, relaxed); }
            thread b { let r = y.load(acquire); let s = x.load(relaxed); }
            never b@end && b.r == 2 && b.s == 0;";
        assert_eq!(reached_under(by_own_store), "c20");
    }
}

mod one_location {
    use super::reached_under;

    #[test]
    fn a_thread_reads_its_own_newest_store() {
        let own = "shared x; thread a { x = 1; x = 2; let r = x; } never a@end && a.r != 2;";
        assert_eq!(reached_under(own), "");
        // … which the others do not see yet.
        let early = "shared x, y; thread a { x = 1; let r = x; let s = y; } thread b { y = 1; let r = y; let s = x; }
            never a@end && b@end && a.r == 1 && a.s == 0 && b.r == 1 && b.s == 0;";
        assert_eq!(reached_under(early), "tso ra c20");
    }

    #[test]
    fn a_thread_never_goes_back_in_one_location() {
        let back = "shared x; thread a { x.store(1, relaxed); } thread b { let r = x.load(relaxed); let s = x.load(relaxed); }
            never b@end && b.r == 1 && b.s == 0;";
        assert_eq!(reached_under(back), "");
    }

    #[test]
    fn two_read_modify_writes_never_read_the_same() {
        let lost = "shared x; thread a { let r = fadd(x, 1, relaxed); } thread b { let r = fadd(x, 1, relaxed); }
            never a@end && b@end && a.r == b.r;";
        assert_eq!(reached_under(lost), "");
        let two_steps =
            "shared x; thread a { let r = x; x = r + 1; } thread b { let r = x; x = r + 1; }
            never a@end && b@end && a.r == 0 && b.r == 0;";
        assert_eq!(reached_under(two_steps), "sc tso ra c20");
    }

    #[test]
    fn a_failed_cas_is_a_load_with_the_second_order() {
        let text = |failure: &str| {
            format!(
                "shared x, y; thread a {{ x.store(1, relaxed); y.store(1, release); }}
                thread b {{ let r = y.compare_exchange(7, 8, acquire, {failure}); let s = x.load(relaxed); }}
                never b@end && b.r == 1 && b.s == 0;"
            )
        };
        assert_eq!(reached_under(&text("acquire")), "");
        assert_eq!(reached_under(&text("relaxed")), "c20");
    }
}

mod several_locations {
    use super::reached_under;

    fn readers_disagree(order: &str) -> String {
        reached_under(&format!(
            "shared x, y; thread a {{ x.store(1, {store}); }} thread b {{ y.store(1, {store}); }}
            thread c {{ let r = x.load({order}); let s = y.load({order}); }} thread d {{ let r = y.load({order}); let s = x.load({order}); }}
            never c@end && d@end && c.r == 1 && c.s == 0 && d.r == 1 && d.s == 0;",
            store = if order == "acquire" { "release" } else { order },
        ))
    }

    #[test]
    fn readers_agree_on_the_order_of_independent_writes_under_tso_and_with_seqcst() {
        assert_eq!(readers_disagree("acquire"), "ra c20");
        assert_eq!(readers_disagree("seqcst"), "");
    }

    #[test]
    fn a_load_does_not_wait_for_a_later_store() {
        let lb = "shared x, y; thread a { let r = x.load(relaxed); y.store(1, relaxed); } thread b { let r = y.load(relaxed); x.store(1, relaxed); }
            never a.r == 1 && b.r == 1;";
        assert_eq!(reached_under(lb), "");
    }

    #[test]
    fn writes_of_two_threads_can_be_ordered_against_what_each_thread_saw() {
        // 2+2W: under SC and TSO one of the two locations ends with its first value overwritten.
        let two_plus_two = "shared x, y; thread a { x = 1; y = 2; } thread b { y = 1; x = 2; }
            never a@end && b@end && x == 1 && y == 1;";
        assert_eq!(reached_under(two_plus_two), "ra c20");
    }
}

mod waiting {
    use super::{reached_in_loops, reached_under};

    #[test]
    fn a_wait_that_is_never_served_is_a_deadlock() {
        let text = "shared x; thread a { wait(x == 1); } never deadlock;";
        assert_eq!(reached_under(text), "sc tso ra c20");
    }

    #[test]
    fn a_loop_without_effect_is_waiting() {
        let crossed = "shared x, y; thread a { while x == 0 { } y = 1; } thread b { while y == 0 { } x = 1; } never deadlock;";
        assert_eq!(reached_in_loops(crossed), "sc tso ra");
        let served = "shared x; thread a { while x == 0 { } } thread b { x = 1; } never deadlock;";
        assert_eq!(reached_in_loops(served), "");
    }

    #[test]
    fn a_failed_test_and_set_changes_nothing() {
        let twice = "shared lock; thread a { while xchg(lock, 1) != 0 { } while xchg(lock, 1) != 0 { } } never deadlock;";
        assert_eq!(reached_in_loops(twice), "sc tso ra");
    }

    #[test]
    fn a_lost_wake_up_needs_store_buffering() {
        // Each announces itself and then looks for the other; only where both look past each other do both wait.
        let text = "shared asleep, work, woken;
            thread sleeper { asleep = 1; if work == 0 { wait(woken == 1); } }
            thread worker { work = 1; if asleep == 1 { woken = 1; } }
            never deadlock;";
        assert_eq!(reached_under(text), "tso ra c20");
    }
}
