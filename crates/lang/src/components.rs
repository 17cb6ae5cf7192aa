//! Strongly connected components of any graph.

/// For each node the number of its strongly connected component; edges between components lead from higher to lower numbers. The edges of node
/// `n` lead to `to[first[n]..first[n + 1]]`. (Tarjan's algorithm, without recursion.)
///
/// ```
/// // 0 and 1 lead to each other, and 1 to 2.
/// let component = palisade_lang::components::components(&[0, 1, 3, 3], &[1, 0, 2]);
/// assert_eq!(component, [1, 1, 0]);
/// ```
pub fn components(first: &[usize], to: &[u32]) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let nodes = first.len().saturating_sub(1);
    let mut order = vec![NEW; nodes];
    let mut low = vec![0; nodes];
    let mut component = vec![NEW; nodes];
    let mut open = Vec::new();
    let mut path: Vec<(usize, usize)> = Vec::new();
    let (mut time, mut count) = (0, 0);
    for root in 0..nodes {
        if order[root] != NEW {
            continue;
        }
        path.push((root, first[root]));
        while let Some(&mut (node, ref mut at)) = path.last_mut() {
            if *at == first[node] {
                order[node] = time;
                low[node] = time;
                time += 1;
                open.push(node);
            }
            if *at < first[node + 1] {
                let next = to[*at] as usize;
                *at += 1;
                if order[next] == NEW {
                    path.push((next, first[next]));
                } else if component[next] == NEW {
                    low[node] = low[node].min(order[next]);
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

/// The same for edges in any order.
pub fn components_of_edges(nodes: usize, edges: &[(usize, usize)]) -> Vec<u32> {
    let mut first = vec![0; nodes + 1];
    for &(from, _) in edges {
        first[from + 1] += 1;
    }
    for node in 0..nodes {
        first[node + 1] += first[node];
    }
    let mut place = first.clone();
    let mut to = vec![0; edges.len()];
    for &(from, end) in edges {
        to[place[from]] = end as u32;
        place[from] += 1;
    }
    components(&first, &to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_lead_to_each_other_are_one_component() {
        let mut random = 12345u32;
        for _ in 0..500 {
            let mut draw = |below: usize| {
                random = random.wrapping_mul(1664525).wrapping_add(1013904223);
                (random >> 8) as usize % below
            };
            let nodes = 1 + draw(7);
            let edges: Vec<(usize, usize)> = (0..draw(2 * nodes + 1))
                .map(|_| (draw(nodes), draw(nodes)))
                .collect();
            let mut reaches = vec![vec![false; nodes]; nodes];
            for (node, row) in reaches.iter_mut().enumerate() {
                row[node] = true;
            }
            for _ in 0..nodes {
                for &(from, to) in &edges {
                    for row in &mut reaches {
                        row[to] |= row[from];
                    }
                }
            }
            let component = components_of_edges(nodes, &edges);
            for a in 0..nodes {
                for b in 0..nodes {
                    let together = reaches[a][b] && reaches[b][a];
                    assert_eq!(component[a] == component[b], together);
                    assert!(!reaches[a][b] || component[a] >= component[b]);
                }
            }
        }
    }
}
