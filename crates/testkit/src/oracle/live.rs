//! `live` by its definition, on the explicit graph of the plain machine.

use palisade_lang::Program;
use palisade_lang::loops::Loops;
use palisade_memory::{C20Graph, Machine, Model, Sc, Step, StepKind, Tso, sc};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

use super::LIMIT_NOW;

/// All that one thread, or its buffer, can do in one state: a choice where there are several ways.
struct Turn {
    from: usize,
    thread: usize,
    /// A store leaves the thread's buffer.
    buffer: bool,
    /// Where it leads, and whether the thread stays in the loop that it is in.
    ways: Vec<(usize, bool)>,
}

/// The states of a program, all of them, and the turns.
struct Explicit<S> {
    states: Vec<S>,
    turns: Vec<Turn>,
}

/// `live` under SC: there is no fair run in which a thread is stuck.
///
/// A set of states and turns is what a fair run has again and again exactly if each turn has all its ways inside and every state is reached from every other
/// by the turns (choices are made each way), and each thread has a turn there or cannot move in one of the states. A thread that another's block keeps from moving can,
/// unless the block never ends. A thread is stuck there if it runs in all of the states, and either its turns stay in one loop with a way out
/// or it has none.
pub fn sc_live(program: &Program) -> Option<bool> {
    live(&Sc::new(program), program)
}

/// `live` under TSO: the same, where a buffer with a store in it is like a thread that can move.
pub fn tso_live(program: &Program) -> Option<bool> {
    live(&Tso::new(program), program)
}

/// Larger graphs are left out where hangs of C++20 are looked for.
const MOST_EVENTS: usize = 9;

/// `live` under C++20 with all orders, as far as hangs go that begin after few events and in which only what is newest is read from then on: `Some(false)` where there is one, and
/// otherwise nothing is known.
pub fn c20_hangs(program: &Program) -> Option<bool> {
    let machine = C20Graph::new(program, Model::C20).ok()?;
    let mut seen = FxHashSet::default();
    let mut work = VecDeque::from([machine.initial()]);
    let mut shown: Vec<sc::State> = Vec::new();
    while let Some(state) = work.pop_front() {
        if state.raced {
            return None;
        }
        if machine.code().holder(&state.locals).is_none() {
            let memory = machine.newest(&state);
            let locals = state.locals.clone();
            let of_sc = sc::State { locals, memory };
            if !shown.contains(&of_sc) {
                shown.push(of_sc);
            }
        }
        for (_, next) in machine.steps(&state) {
            let small = next.graph.len() <= MOST_EVENTS && seen.len() < LIMIT_NOW.get();
            if small && seen.insert(next.clone()) {
                work.push_back(next);
            }
        }
    }
    let sc = Sc::new(program);
    let graph = explicit(&sc, program, shown)?;
    let threads = sc.code().instances.len();
    let stuck = (0..threads).any(|thread| can_be_stuck(&sc, &graph, thread));
    stuck.then_some(false)
}

fn is_of(step: &Step, buffer: bool) -> bool {
    (step.kind == StepKind::Flush) == buffer
}

fn live<M: Machine>(machine: &M, program: &Program) -> Option<bool> {
    let graph = explicit(machine, program, vec![machine.initial()])?;
    let threads = machine.code().instances.len();
    Some((0..threads).all(|thread| !can_be_stuck(machine, &graph, thread)))
}

fn explicit<M: Machine>(
    machine: &M,
    program: &Program,
    initial: Vec<M::State>,
) -> Option<Explicit<M::State>> {
    let loops: Vec<Loops> = (program.threads.iter())
        .map(|thread| Loops::of(thread, program.domain))
        .collect();
    let code = machine.code();
    let limit = LIMIT_NOW.get();
    let known = initial.iter().cloned().enumerate();
    let mut known: FxHashMap<M::State, usize> = known.map(|(at, state)| (state, at)).collect();
    let mut graph = Explicit {
        states: initial,
        turns: Vec::new(),
    };
    let mut from = 0;
    while from < graph.states.len() {
        let state = graph.states[from].clone();
        let movers = (0..code.instances.len()).flat_map(|t| [(t, false), (t, true)]);
        for (thread, buffer) in movers {
            let loops = &loops[code.instances[thread].thread.index()];
            let mut ways = Vec::new();
            let steps = machine.steps_of(&state, thread).into_iter();
            for (step, next) in steps.filter(|(s, _)| is_of(s, buffer)) {
                let new = graph.states.len();
                let to = *known.entry(next.clone()).or_insert(new);
                if to == new {
                    graph.states.push(next);
                }
                let stays =
                    loops.stays(step.transition) && !matches!(step.kind, StepKind::Error(_));
                ways.push((to, stays));
            }
            if !ways.is_empty() {
                graph.turns.push(Turn {
                    from,
                    thread,
                    buffer,
                    ways,
                });
            }
        }
        from += 1;
        if graph.states.len() > limit {
            return None;
        }
    }
    Some(graph)
}

fn can_be_stuck<M: Machine>(machine: &M, graph: &Explicit<M::State>, thread: usize) -> bool {
    let code = machine.code();
    let runs: Vec<bool> = (graph.states.iter())
        .map(|s| &machine.locals(s)[thread])
        .map(|local| !local.stopped && !code.has_ended(thread, local))
        .collect();
    let mut taken: Vec<&Turn> = (graph.turns.iter())
        .filter(|t| runs[t.from] && t.ways.iter().all(|w| runs[w.0]))
        .filter(|t| t.thread != thread || t.buffer || t.ways.iter().all(|w| w.1))
        .collect();
    // Turns that need not come back are taken away, until all do.
    let reaches = loop {
        let reaches = reachability(graph.states.len(), &taken);
        let before = taken.len();
        taken.retain(|t| t.ways.iter().all(|w| has(&reaches[w.0], t.from)));
        if taken.len() == before {
            break reaches;
        }
    };
    let mut seen = vec![false; graph.states.len()];
    (0..graph.states.len()).filter(|&s| runs[s]).any(|state| {
        if seen[state] {
            return false;
        }
        let together = |&s: &usize| has(&reaches[state], s) && has(&reaches[s], state);
        let part: Vec<usize> = (0..graph.states.len()).filter(together).collect();
        for &member in &part {
            seen[member] = true;
        }
        let holders = part.iter();
        let holders = holders.map(|&s| code.holder(machine.locals(&graph.states[s])));
        let mut holders: Vec<Option<usize>> = holders.collect();
        holders.dedup();
        let mut movers = (0..code.instances.len()).flat_map(|t| [(t, false), (t, true)]);
        movers.all(|(other, buffer)| {
            let is_own = |t: &&Turn| t.thread == other && t.buffer == buffer;
            let moves = taken.iter().any(|t| is_own(t) && together(&t.from));
            let kept_out = matches!(holders[..], [Some(holder)] if holder != other);
            let cannot_move = part.iter().any(|&s| {
                let state = &graph.states[s];
                let holder = code.holder(machine.locals(state));
                let steps = || machine.steps_of(state, other);
                holder.is_none_or(|h| h == other)
                    && !steps().iter().any(|(step, _)| is_of(step, buffer))
            });
            moves || kept_out || cannot_move
        })
    })
}

fn has(set: &[u64], member: usize) -> bool {
    set[member / 64] >> (member % 64) & 1 == 1
}

/// For each state those that it reaches, itself included.
fn reachability(states: usize, turns: &[&Turn]) -> Vec<Vec<u64>> {
    let mut next = vec![Vec::new(); states];
    for turn in turns {
        next[turn.from].extend(turn.ways.iter().map(|w| w.0));
    }
    (0..states)
        .map(|start| {
            let mut reached = vec![0u64; states.div_ceil(64)];
            reached[start / 64] |= 1 << (start % 64);
            let mut work = vec![start];
            while let Some(state) = work.pop() {
                for &to in &next[state] {
                    if !has(&reached, to) {
                        reached[to / 64] |= 1 << (to % 64);
                        work.push(to);
                    }
                }
            }
            reached
        })
        .collect()
}
