//! `live` by its definition, on the explicit graph of the plain machine.

use palisade_lang::Program;
use palisade_lang::loops::Loops;
use palisade_memory::{Machine, Sc, StepKind};
use rustc_hash::FxHashMap;

use super::LIMIT_NOW;

/// All that one thread can do in one state: a choice where there are several ways.
struct Turn {
    from: usize,
    thread: usize,
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
    let machine = Sc::new(program);
    let graph = explicit(&machine, program)?;
    let threads = machine.code().instances.len();
    Some((0..threads).all(|thread| !can_be_stuck(&machine, &graph, thread)))
}

fn explicit<'p>(
    machine: &Sc<'p>,
    program: &Program,
) -> Option<Explicit<<Sc<'p> as Machine>::State>> {
    let loops: Vec<Loops> = (program.threads.iter())
        .map(|thread| Loops::of(thread, program.domain))
        .collect();
    let code = machine.code();
    let limit = LIMIT_NOW.get();
    let mut graph = Explicit {
        states: vec![machine.initial()],
        turns: Vec::new(),
    };
    let mut known = FxHashMap::default();
    known.insert(machine.initial(), 0);
    let mut from = 0;
    while from < graph.states.len() {
        let state = graph.states[from].clone();
        for thread in 0..code.instances.len() {
            let loops = &loops[code.instances[thread].thread.index()];
            let mut ways = Vec::new();
            for (step, next) in machine.steps_of(&state, thread) {
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
                graph.turns.push(Turn { from, thread, ways });
            }
        }
        from += 1;
        if graph.states.len() > limit {
            return None;
        }
    }
    Some(graph)
}

fn can_be_stuck<'p>(
    machine: &Sc<'p>,
    graph: &Explicit<<Sc<'p> as Machine>::State>,
    thread: usize,
) -> bool {
    let code = machine.code();
    let runs: Vec<bool> = (graph.states.iter())
        .map(|s| !s.locals[thread].stopped && !code.has_ended(thread, &s.locals[thread]))
        .collect();
    let mut taken: Vec<&Turn> = (graph.turns.iter())
        .filter(|t| runs[t.from] && t.ways.iter().all(|w| runs[w.0]))
        .filter(|t| t.thread != thread || t.ways.iter().all(|w| w.1))
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
        let holders = part.iter().map(|&s| code.holder(&graph.states[s].locals));
        let mut holders: Vec<Option<usize>> = holders.collect();
        holders.dedup();
        (0..code.instances.len()).all(|other| {
            let moves = taken.iter().any(|t| t.thread == other && together(&t.from));
            let kept_out = matches!(holders[..], [Some(holder)] if holder != other);
            let cannot_move = part.iter().any(|&s| {
                let state = &graph.states[s];
                let holder = code.holder(&state.locals);
                holder.is_none_or(|h| h == other) && machine.steps_of(state, other).is_empty()
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
