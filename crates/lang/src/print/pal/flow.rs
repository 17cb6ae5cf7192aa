//! The shape of an automaton: which points dominate which.

use std::collections::HashMap;

use crate::program::PointId;

/// A part of an automaton that is written as one piece of code: a whole thread, or the inside of an `atomic` block.
pub(super) struct Flow {
    numbers: HashMap<PointId, usize>,
    /// Points in reverse postorder.
    points: Vec<PointId>,
    /// How often each point is gone to.
    arrivals: Vec<usize>,
    dominator: Vec<usize>,
    /// Points that are immediately dominated, in reverse postorder.
    children: Vec<Vec<usize>>,
}

impl Flow {
    /// Everything that can be reached from `root`. Some successors may have to be written with a label: the second value says so.
    pub fn new(root: PointId, successors: impl Fn(PointId) -> Vec<(PointId, bool)>) -> Self {
        let points = reverse_postorder(root, &successors);
        let numbers: HashMap<PointId, usize> =
            points.iter().enumerate().map(|(n, p)| (*p, n)).collect();
        let mut arrivals = vec![0; points.len()];
        let mut predecessors = vec![Vec::new(); points.len()];
        for (number, point) in points.iter().enumerate() {
            for (next, labelled) in successors(*point) {
                let next = numbers[&next];
                arrivals[next] += 1 + labelled as usize;
                predecessors[next].push(number);
            }
        }
        let dominator = dominators(&predecessors);
        let mut children = vec![Vec::new(); points.len()];
        for number in 1..points.len() {
            children[dominator[number]].push(number);
        }
        Flow {
            numbers,
            points,
            arrivals,
            dominator,
            children,
        }
    }

    /// Whether the code of `point` can stand just where `from` goes to it: nobody else does.
    pub fn is_inline(&self, from: PointId, point: PointId) -> bool {
        let (from, point) = (self.numbers[&from], self.numbers[&point]);
        point != 0 && self.arrivals[point] == 1 && self.dominator[point] == from
    }

    /// The points whose code stands behind that of `point`, because several ways lead to them.
    pub fn joins(&self, point: PointId) -> Vec<PointId> {
        self.children[self.numbers[&point]]
            .iter()
            .filter(|child| self.arrivals[**child] > 1)
            .map(|child| self.points[*child])
            .collect()
    }
}

fn reverse_postorder(
    root: PointId,
    successors: &impl Fn(PointId) -> Vec<(PointId, bool)>,
) -> Vec<PointId> {
    let mut order = Vec::new();
    let mut seen = std::collections::HashSet::from([root]);
    // The last successor is visited first, so that the first one comes first in the end.
    let mut stack = vec![(root, successors(root))];
    while let Some((point, rest)) = stack.last_mut() {
        match rest.pop() {
            Some((next, _)) => {
                if seen.insert(next) {
                    stack.push((next, successors(next)));
                }
            }
            None => {
                order.push(*point);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Immediate dominators, by the algorithm of Cooper, Harvey and Kennedy; points are numbered in reverse postorder.
fn dominators(predecessors: &[Vec<usize>]) -> Vec<usize> {
    const UNKNOWN: usize = usize::MAX;
    let mut dominator = vec![UNKNOWN; predecessors.len()];
    dominator[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for number in 1..predecessors.len() {
            let mut new = UNKNOWN;
            for &other in &predecessors[number] {
                if dominator[other] == UNKNOWN {
                    continue;
                }
                new = match new {
                    UNKNOWN => other,
                    _ => {
                        let (mut x, mut y) = (new, other);
                        while x != y {
                            while x > y {
                                x = dominator[x];
                            }
                            while y > x {
                                y = dominator[y];
                            }
                        }
                        x
                    }
                };
            }
            if new != UNKNOWN && dominator[number] != new {
                dominator[number] = new;
                changed = true;
            }
        }
    }
    dominator
}
