//! How long buffers can get, from the text alone: the most stores on any way on which nothing waits for the buffer.

use palisade_lang::components::components_of_edges;
use palisade_lang::{Op, PointId, Program, Thread};

use palisade_memory::tso::drains;

/// The most stores that any thread can have pending; `None` where there is no bound (a loop with a store in it and nothing that waits).
pub(crate) fn most_pending_stores(program: &Program) -> Option<usize> {
    let mut of_threads = program.threads.iter().map(most_pending_stores_of);
    of_threads.try_fold(0, |most, bound| Some(most.max(bound?)))
}

fn most_pending_stores_of(thread: &Thread) -> Option<usize> {
    let points = thread.points.len();
    let outside = |point: PointId| !thread.points[point.index()].atomic;
    let is_store = |op: &Op| usize::from(matches!(op, Op::Store { .. }));
    // Only what is executed outside blocks and does not wait for an empty buffer lets it grow. A `seqcst` store waits behind itself.
    let edges: Vec<(usize, usize, usize)> = thread
        .transitions
        .iter()
        .filter(|t| outside(t.from) && (!drains(&t.op) || is_store(&t.op) == 1))
        .map(|t| {
            // Behind a store that drains, the buffer is empty: it leads nowhere, but it is pending itself.
            let end = if drains(&t.op) { points } else { t.to.index() };
            (t.from.index(), end, is_store(&t.op))
        })
        .collect();
    let ways: Vec<(usize, usize)> = edges.iter().map(|&(from, to, _)| (from, to)).collect();
    let component = components_of_edges(points + 1, &ways);
    if edges
        .iter()
        .any(|&(from, to, stores)| stores > 0 && component[from] == component[to])
    {
        return None;
    }
    // Components are numbered so that edges lead from higher to lower numbers: the longest way from each follows from the lower ones.
    let count = component.iter().max().map_or(0, |c| c + 1) as usize;
    let mut longest = vec![0usize; count];
    let mut sorted = edges;
    sorted.sort_by_key(|&(from, _, _)| component[from]);
    for (from, to, stores) in sorted {
        let (from, to) = (component[from] as usize, component[to] as usize);
        if from != to {
            longest[from] = longest[from].max(longest[to] + stores);
        }
    }
    Some(longest.into_iter().max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(text: &str) -> Option<usize> {
        most_pending_stores(&palisade_testkit::program(text))
    }

    #[test]
    fn a_fence_a_block_and_a_locked_instruction_end_a_delay() {
        assert_eq!(bound("shared x; thread t { x = 1; x = 2; }"), Some(2));
        assert_eq!(
            bound("shared x; thread t { x = 1; fence; x = 2; }"),
            Some(1)
        );
        assert_eq!(
            bound("shared x; thread t { x = 1; fadd(x, 1); x = 2; }"),
            Some(1)
        );
        let block = "shared x; thread t { x = 1; atomic { x = 2; x = 3; } x = 2; x = 3; }";
        assert_eq!(bound(block), Some(2));
        let drained = "shared x; thread t { x = 1; x.store(2, seqcst); x = 3; }";
        assert_eq!(bound(drained), Some(2));
    }

    #[test]
    fn the_longest_branch_counts() {
        let text = "shared x; thread t { x = 1; choose { x = 2; x = 3; } or { fence; } x = 4; }";
        assert_eq!(bound(text), Some(4));
    }

    #[test]
    fn a_loop_with_a_store_has_no_bound_unless_it_waits() {
        assert_eq!(bound("shared x; thread t { loop { x = 1; } }"), None);
        assert_eq!(
            bound("shared x; thread t { loop { x = 1; fence; } }"),
            Some(1)
        );
        assert_eq!(
            bound("shared x; thread t { x = 1; while x == 0 { } x = 2; }"),
            Some(2)
        );
    }
}
