//! How long buffers can get, from the text alone: the most stores on any way on which nothing waits for the buffer.

use palisade_lang::{Op, PointId, Program, Thread};

use crate::tso::overtake::drains;

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
    let component = components(points + 1, &edges);
    if edges
        .iter()
        .any(|&(from, to, stores)| stores > 0 && component[from] == component[to])
    {
        return None;
    }
    // Components are numbered so that edges lead from higher to lower numbers: the longest way from each follows from the lower ones.
    let count = component.iter().max().map_or(0, |c| c + 1);
    let mut longest = vec![0usize; count];
    let mut sorted = edges;
    sorted.sort_by_key(|&(from, _, _)| component[from]);
    for (from, to, stores) in sorted {
        let (from, to) = (component[from], component[to]);
        if from != to {
            longest[from] = longest[from].max(longest[to] + stores);
        }
    }
    Some(longest.into_iter().max().unwrap_or(0))
}

/// For each node the number of its strongly connected component; edges between components lead from higher to lower numbers. (Tarjan's
/// algorithm, without recursion.)
fn components(nodes: usize, edges: &[(usize, usize, usize)]) -> Vec<usize> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for &(from, to, _) in edges {
        next[from].push(to);
    }
    const NEW: usize = usize::MAX;
    let mut order = vec![NEW; nodes];
    let mut low = vec![0; nodes];
    let mut component = vec![NEW; nodes];
    let mut open = Vec::new();
    let (mut time, mut count) = (0, 0);
    for root in 0..nodes {
        if order[root] != NEW {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some(&mut (node, ref mut at)) = path.last_mut() {
            if *at == 0 {
                order[node] = time;
                low[node] = time;
                time += 1;
                open.push(node);
            }
            if let Some(&to) = next[node].get(*at) {
                *at += 1;
                if order[to] == NEW {
                    path.push((to, 0));
                } else if component[to] == NEW {
                    low[node] = low[node].min(order[to]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == order[node] {
                while let Some(member) = open.pop() {
                    component[member] = count;
                    if member == node {
                        break;
                    }
                }
                count += 1;
            }
        }
    }
    component
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
