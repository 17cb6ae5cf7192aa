//! The loops of a thread that it is meant to leave.
//!
//! A loop is a strongly connected part of the control flow; inside it, what stays strongly connected once nothing goes back to its heads (the points by
//! which it is entered) is a loop again. A loop with a way out is one that the thread is meant to leave. One without (`loop { … }` without `break`) is
//! the life of the thread, and only the loops inside it are meant to be left. A `continue`, or a `goto` to the head, begins another round of the same loop.

use crate::components::components_of_edges;
use crate::{Domain, Op, PointId, Thread};

/// The outermost loops with a way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loops {
    /// For each point the loop that it is in.
    of_point: Vec<Option<u32>>,
    /// For each transition: whether it stays in the loop that it begins in, over all jumps behind it.
    stays: Vec<bool>,
    /// For each loop its points.
    points: Vec<Vec<PointId>>,
}

impl Loops {
    /// Those of a thread.
    pub fn of(thread: &Thread, domain: Domain) -> Self {
        let count = thread.points.len();
        // A condition that is always false is no way.
        let possible = |op: &Op| match op {
            Op::Assume(condition) => condition.constant(domain) != Some(0),
            _ => true,
        };
        let edges: Vec<(usize, usize)> = (thread.transitions.iter())
            .filter(|t| possible(&t.op))
            .map(|t| (t.from.index(), t.to.index()))
            .collect();
        let mut loops = Loops {
            of_point: vec![None; count],
            stays: Vec::new(),
            points: Vec::new(),
        };
        let outer = components_of_edges(count, &edges);
        let mut inner_edges = Vec::new();
        for members in cycles(&outer, &edges) {
            let inside = |point: usize| outer[point] == outer[members[0]];
            if edges.iter().any(|e| inside(e.0) && !inside(e.1)) {
                loops.add(&members);
                continue;
            }
            let mut is_head = vec![false; count];
            is_head[thread.initial.index()] = true;
            for edge in &edges {
                is_head[edge.1] |= !inside(edge.0);
            }
            let rest = edges.iter().filter(|e| inside(e.0) && !is_head[e.1]);
            inner_edges.extend(rest);
        }
        let inner = components_of_edges(count, &inner_edges);
        for members in cycles(&inner, &inner_edges) {
            loops.add(&members);
        }
        loops.stays = (thread.transitions.iter())
            .map(|t| {
                let here = loops.of_point[t.from.index()];
                let mut point = t.to;
                loop {
                    if loops.of_point[point.index()] != here {
                        return false;
                    }
                    match thread.outgoing(point) {
                        [jump] if jump.op == Op::Jump => point = jump.to,
                        _ => return here.is_some(),
                    }
                }
            })
            .collect();
        loops
    }

    fn add(&mut self, members: &[usize]) {
        for &member in members {
            self.of_point[member] = Some(self.points.len() as u32);
        }
        let points = members.iter().map(|&p| PointId(p as u32));
        self.points.push(points.collect());
    }

    /// The loop that a point is in.
    pub fn at(&self, point: PointId) -> Option<usize> {
        self.of_point[point.index()].map(|l| l as usize)
    }

    /// Whether a transition, by its index, stays in the loop that it begins in. It does not where it begins in none.
    pub fn stays(&self, transition: usize) -> bool {
        self.stays[transition]
    }

    /// The points of a loop.
    pub fn points(&self, index: usize) -> &[PointId] {
        &self.points[index]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }
}

/// The members of each component that has an edge inside.
fn cycles(component: &[u32], edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let count = component.iter().max().map_or(0, |c| *c as usize + 1);
    let mut is_cycle = vec![false; count];
    for &(from, to) in edges {
        is_cycle[component[from] as usize] |= component[from] == component[to];
    }
    let mut members = vec![Vec::new(); count];
    for (node, &number) in component.iter().enumerate() {
        members[number as usize].push(node);
    }
    let found = members.into_iter().zip(is_cycle);
    found.filter_map(|(m, is)| is.then_some(m)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ParseOptions, Source, parse};

    fn loops(body: &str) -> Vec<usize> {
        let text = format!("shared x, y; thread t {{ {body} }}");
        let source = Source::new("t.pal", &text);
        let program = parse(&source, &ParseOptions::default()).unwrap().program;
        let thread = &program.threads[0];
        let loops = Loops::of(thread, program.domain);
        let loads = |l: usize| {
            let inside = thread.transitions.iter().enumerate();
            let inside = inside.filter(|(i, t)| {
                loops.at(t.from) == Some(l) && matches!(t.op, Op::Load { .. }) && loops.stays(*i)
            });
            inside.count()
        };
        (0..loops.len()).map(loads).collect()
    }

    #[test]
    fn a_loop_without_a_way_out_is_the_life_of_the_thread() {
        assert_eq!(loops("loop { x = y; }"), []);
        assert_eq!(loops("while 1 { x = y; }"), []);
        assert_eq!(loops("loop { if y == 1 { continue; } x = 1; }"), []);
        assert_eq!(loops("loop { if y == 1 { break; } x = 1; }"), [1]);
    }

    #[test]
    fn loops_inside_it_are_meant_to_be_left() {
        assert_eq!(loops("loop { while y == 0 { } }"), [1]);
        assert_eq!(loops("loop { while y == 0 { } while y == 1 { } }").len(), 2);
        assert_eq!(loops("loop { loop { while y == 0 { } } }"), [1]);
    }

    #[test]
    fn the_outermost_loop_with_a_way_out_counts() {
        assert_eq!(loops("while x == 0 { while y == 0 { } }"), [2]);
        assert_eq!(loops("while x == 0 { } while y == 0 { }"), [1, 1]);
    }
}
