//! Where a fair run can stay for ever while one thread is stuck.
//!
//! The scheduler is against us and fair; choices of the program (`choose`, a weak `cas`) are like coins: a branch that is open again and again at the
//! same state is taken again and again. The states that such a run visits again and again, with the turns that are taken there, are an *end
//! component*: each turn has all its outcomes inside, and the turns connect all states. So the graph is cut into its largest end components: strongly
//! connected components, without the turns that can lead out, until nothing changes. Larger is better for being fair, so the largest decide.

use palisade_lang::components::components;
use palisade_threads::{LocalId, Status};

use super::graph::{Graph, Holder, Stop, Watch};

/// Where a run can stay while a thread is stuck.
#[derive(Clone, Debug)]
pub(super) struct Stay {
    /// The thread that is stuck.
    pub thread: usize,
    /// The states, in ascending order.
    pub states: Vec<usize>,
    /// The turns that are taken there.
    pub turns: Vec<usize>,
}

/// The parts of the graph in which a thread stays where it is: in one loop that has a way out, or at one point without moving.
pub(super) struct Stuck<'g, 'f, 'p> {
    pub graph: &'g Graph<'f, 'p>,
    pub thread: usize,
    /// For each state: the thread runs there, and all steps are known.
    running: Vec<bool>,
    watch: &'g Watch<'g>,
}

impl<'g, 'f, 'p> Stuck<'g, 'f, 'p> {
    pub fn new(graph: &'g Graph<'f, 'p>, thread: usize, watch: &'g Watch<'g>) -> Self {
        let code = graph.frame.codes[thread];
        let mut view = graph.frame.threads.view();
        let running = (0..graph.expanded())
            .map(|s| {
                let runs = view.status(code, LocalId(graph.row(s)[thread])) == Status::Running;
                runs && !graph.cut[s]
            })
            .collect();
        Stuck {
            graph,
            thread,
            running,
            watch,
        }
    }

    /// The first place, by the distance of its nearest state, where a fair run can stay, among states that are `allowed`.
    pub fn stay(&self, allowed: impl Fn(usize) -> bool) -> Result<Option<Stay>, Stop> {
        let graph = self.graph;
        let states = graph.expanded();
        let alive: Vec<bool> = (0..states).map(|s| self.running[s] && allowed(s)).collect();
        let is_alive = |state: u32| alive.get(state as usize) == Some(&true);
        let mut taken: Vec<bool> = vec![false; graph.turns.len()];
        for state in (0..states).filter(|&s| alive[s]) {
            for turn in graph.turns_of(state) {
                let own = graph.turns[turn].thread as usize == self.thread;
                let mut edges = graph.edges_of(turn).iter();
                taken[turn] = edges.all(|e| is_alive(e.to) && (!own || e.stays));
            }
        }
        let mut component;
        loop {
            self.watch.check()?;
            component = self.components(&taken);
            let mut changed = false;
            for state in 0..states {
                for turn in graph.turns_of(state) {
                    let inside = |to: u32| component[to as usize] == component[state];
                    if taken[turn] && !graph.edges_of(turn).iter().all(|e| inside(e.to)) {
                        taken[turn] = false;
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        let count = component.iter().max().map_or(0, |c| *c as usize + 1);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
        for state in (0..states).filter(|&s| alive[s]) {
            members[component[state] as usize].push(state);
        }
        members.retain(|states| !states.is_empty());
        members.sort_by_key(|states| states[0]);
        let stay = members.into_iter().find_map(|states| {
            let turns: Vec<usize> = (states.iter())
                .flat_map(|&s| graph.turns_of(s))
                .filter(|&turn| taken[turn])
                .collect();
            self.is_fair(&states, &turns).then_some(Stay {
                thread: self.thread,
                states,
                turns,
            })
        });
        Ok(stay)
    }

    fn components(&self, taken: &[bool]) -> Vec<u32> {
        let graph = self.graph;
        let mut first = vec![0];
        let mut to = Vec::new();
        for state in 0..graph.states() {
            if state < graph.expanded() {
                for turn in graph.turns_of(state).filter(|&turn| taken[turn]) {
                    to.extend(graph.edges_of(turn).iter().map(|e| e.to));
                }
            }
            first.push(to.len());
        }
        components(&first, &to)
    }

    /// Each thread, and each buffer, moves again and again, or again and again cannot.
    fn is_fair(&self, states: &[usize], turns: &[usize]) -> bool {
        let graph = self.graph;
        let mut moves = vec![false; graph.movers()];
        for &turn in turns {
            moves[graph.turns[turn].thread as usize] = true;
        }
        let block = self.endless_block(states);
        (0..moves.len()).all(|thread| {
            moves[thread]
                || block.is_some_and(|holder| holder != graph.owner(thread))
                || states.iter().any(|&s| graph.cannot_move(s, thread))
        })
    }

    /// The thread whose block all these states are inside.
    fn endless_block(&self, states: &[usize]) -> Option<usize> {
        let Holder::Block(holder) = self.graph.holders[states[0]] else {
            return None;
        };
        let same = |&s: &usize| self.graph.holders[s] == Holder::Block(holder);
        states.iter().all(same).then_some(holder as usize)
    }

    /// For each state: whether the thread, if it alone went on from there, could get out of where it is.
    pub fn gets_out_alone(&self) -> Vec<bool> {
        let graph = self.graph;
        let states = graph.expanded();
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); graph.states()];
        let mut work = Vec::new();
        for state in 0..states {
            for turn in graph.turns_of(state) {
                let own = graph.turns[turn].thread as usize == self.thread;
                // A step that touches no memory and comes first is in no thread's way, and stores that leave buffers are not to be kept from it.
                let buffer = graph.turns[turn].thread as usize >= graph.frame.thread_count();
                if !own && !buffer && !matches!(graph.holders[state], Holder::First(_)) {
                    continue;
                }
                for edge in graph.edges_of(turn) {
                    if own && !edge.stays {
                        work.push(state as u32);
                    } else {
                        before[edge.to as usize].push(state as u32);
                    }
                }
            }
        }
        let mut gets_out = vec![false; graph.states()];
        for &state in &work {
            gets_out[state as usize] = true;
        }
        while let Some(state) = work.pop() {
            for &earlier in &before[state as usize] {
                if !gets_out[earlier as usize] {
                    gets_out[earlier as usize] = true;
                    work.push(earlier);
                }
            }
        }
        gets_out
    }
}
