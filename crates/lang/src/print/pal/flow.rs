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
        let mut following = vec![Vec::new(); points.len()];
        for (number, point) in points.iter().enumerate() {
            for (next, labelled) in successors(*point) {
                let next = numbers[&next];
                arrivals[next] += 1 + labelled as usize;
                predecessors[next].push(number);
                following[number].push(next);
            }
        }
        let dominator = dominators(&following, &predecessors);
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

    /// Whether the code of `point` can stand just where `from` goes to it: no other point does.
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

/// The immediate dominator of each point, by the algorithm "semi-NCA" (Georgiadis): point 0 is the root, and all can be reached.
fn dominators(successors: &[Vec<usize>], predecessors: &[Vec<usize>]) -> Vec<usize> {
    const UNKNOWN: usize = usize::MAX;
    let size = successors.len();
    // Depth first: `order[i]` is the i-th point that is found, from the `parent[i]`-th.
    let mut number = vec![UNKNOWN; size];
    let mut order = Vec::with_capacity(size);
    let mut parent = Vec::with_capacity(size);
    let mut stack = vec![(0, 0)];
    while let Some((point, from)) = stack.pop() {
        if number[point] != UNKNOWN {
            continue;
        }
        number[point] = order.len();
        order.push(point);
        parent.push(from);
        stack.extend(successors[point].iter().map(|next| (*next, number[point])));
    }
    let mut dominator = parent.clone();
    let mut forest = Forest {
        parent,
        label: (0..size).collect(),
        semi: (0..size).collect(),
    };
    for i in (1..size).rev() {
        let mut semi = forest.parent[i];
        for other in &predecessors[order[i]] {
            let best = forest.best(number[*other], i + 1);
            semi = semi.min(forest.semi[best]);
        }
        forest.semi[i] = semi;
    }
    for i in 1..size {
        let mut above = dominator[i];
        while above > forest.semi[i] {
            above = dominator[above];
        }
        dominator[i] = above;
    }
    let mut result = vec![0; size];
    for (i, above) in dominator.into_iter().enumerate() {
        result[order[i]] = order[above];
    }
    result
}

/// The part of the depth-first tree that is linked so far, with compressed paths.
struct Forest {
    parent: Vec<usize>,
    label: Vec<usize>,
    semi: Vec<usize>,
}

impl Forest {
    /// The point with the smallest semidominator on the way up from `point`, among those numbered from `linked`.
    fn best(&mut self, point: usize, linked: usize) -> usize {
        let mut path = Vec::new();
        let mut top = point;
        while self.parent[top] >= linked {
            path.push(top);
            top = self.parent[top];
        }
        let mut best = self.label[top];
        let above = self.parent[top];
        for below in path.into_iter().rev() {
            self.parent[below] = above;
            if self.semi[best] < self.semi[self.label[below]] {
                self.label[below] = best;
            } else {
                best = self.label[below];
            }
        }
        self.label[point]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition: a point dominates those that cannot be reached without it.
    fn by_definition(successors: &[Vec<usize>]) -> Vec<usize> {
        let size = successors.len();
        let reach = |without: Option<usize>| {
            let mut seen = vec![false; size];
            let mut stack = if without == Some(0) { vec![] } else { vec![0] };
            while let Some(point) = stack.pop() {
                if Some(point) != without && !std::mem::replace(&mut seen[point], true) {
                    stack.extend(&successors[point]);
                }
            }
            seen
        };
        let without: Vec<Vec<bool>> = (0..size).map(|p| reach(Some(p))).collect();
        (0..size)
            .map(|point| {
                let above: Vec<usize> = (0..size)
                    .filter(|other| *other != point && !without[*other][point])
                    .collect();
                // The nearest one is dominated by all the others.
                above
                    .iter()
                    .copied()
                    .find(|d| above.iter().all(|o| o == d || !without[*o][*d]))
                    .unwrap_or(0)
            })
            .collect()
    }

    #[test]
    fn dominators_by_definition() {
        let mut state = 1_u64;
        let mut random = |bound: usize| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as usize % bound
        };
        for _ in 0..500 {
            let size = 1 + random(12);
            let mut successors = vec![Vec::new(); size];
            for point in 1..size {
                successors[random(point)].push(point);
            }
            for _ in 0..random(2 * size) {
                successors[random(size)].push(random(size));
            }
            let mut predecessors = vec![Vec::new(); size];
            for (point, next) in successors.iter().enumerate() {
                for next in next {
                    predecessors[*next].push(point);
                }
            }
            let found = dominators(&successors, &predecessors);
            assert_eq!(found, by_definition(&successors), "{successors:?}");
        }
    }
}
