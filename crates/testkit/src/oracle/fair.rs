//! `live` under release/acquire and C++20 by its definition: explicit graphs of messages and views, and the fair runs without end in them.
//!
//! Memory is fair: of each location a thread overlooks a given write only finitely often, whether it reads something older or writes before it. So for each thread and
//! location one write is kept in mind that the thread does not know yet; it is *passed* when the thread comes to know it or a later one, and then the newest one takes its place. A
//! run is fair to memory exactly if each thread that accesses a location again and again also passes, or knows what is newest, again and again.
//!
//! States would go on for ever, as messages are never taken away: here those are that no thread can read any more, and what has grown too long all the same
//! is cut off. A run that is found without what is cut off is one of the program; that there is none says nothing then.
//!
//! What is waited for is asked for again and again, so that programs are to be given with loops in place of `wait` and `bcas`: see [`polled`].

use palisade_lang::components::components;
use palisade_lang::loops::Loops;
use palisade_lang::{Address, Op, Program, RmwAction, Thread};
use palisade_memory::{C20Views, Machine, Ra, StepKind, c20, ra};
use rustc_hash::FxHashMap;

use super::LIMIT_NOW;

/// More messages of one location than these are cut off.
const MOST_MESSAGES: usize = 4;

/// `live` under release/acquire. `None` also where the program waits other than in loops, or has nonatomic data.
pub fn ra_live(program: &Program) -> Option<bool> {
    live(&Ra::new(program).ok()?, program)
}

/// `live` under C++20 for programs without `seqcst` events. `None` as in [`ra_live`].
pub fn c20_live(program: &Program) -> Option<bool> {
    live(&C20Views::new(program).ok()?, program)
}

/// A text of a random program with loops in place of `wait` and `bcas`, each of which has a line of its own.
pub fn polled(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let statement = line.trim();
        let inside = |name: &str| {
            let rest = statement.strip_prefix(name)?;
            rest.strip_suffix(");")
        };
        if let Some(awaited) = inside("wait(") {
            let (condition, order) = match awaited.split_once(", ") {
                Some((condition, order)) => (condition, Some(order)),
                None => (awaited, None),
            };
            let mut words = condition.splitn(3, ' ');
            let [place, relation, value] =
                [(); 3].map(|()| words.next().expect("a relation of two"));
            let read = match order {
                Some(order) => format!("{place}.load({order})"),
                None => place.to_owned(),
            };
            out += &format!("loop {{ w = {read}; if w {relation} {value} {{ break; }} }}\n");
        } else if let Some(arguments) = inside("bcas(") {
            let expected = arguments.split(", ").nth(1).expect("an expected value");
            out += &format!("loop {{ w = cas({arguments}); if w == {expected} {{ break; }} }}\n");
        } else {
            out += line;
            out.push('\n');
            if statement.starts_with("thread ") {
                out += "let w;\n";
            }
        }
    }
    out
}

/// A machine whose states hold messages.
trait Messages: Machine {
    /// How many messages a location has.
    fn count(&self, state: &Self::State, location: usize) -> usize;
    /// Which of them is the newest that a thread knows.
    fn known(&self, state: &Self::State, thread: usize, location: usize) -> usize;
    /// Takes the oldest ones away.
    fn take_away(&self, state: &mut Self::State, location: usize, count: usize);
    /// Makes states equal that differ in nothing that matters. These threads do not run any more.
    fn strip(&self, state: &mut Self::State, gone: &[bool]);
}

impl Messages for Ra<'_> {
    fn count(&self, state: &ra::State, location: usize) -> usize {
        state.messages[location].len()
    }

    fn known(&self, state: &ra::State, thread: usize, location: usize) -> usize {
        state.views[thread][location]
    }

    fn take_away(&self, state: &mut ra::State, location: usize, count: usize) {
        state.messages[location].drain(..count);
        let views = state.messages.iter_mut().flatten().map(|m| &mut m.view);
        for view in views.chain(&mut state.views) {
            if let Some(time) = view.get_mut(location) {
                *time = time.saturating_sub(count);
            }
        }
        if let Some(block) = &mut state.block
            && block.location.index() == location
        {
            block.time -= count;
        }
        state.messages[location][0].rmw = false;
    }

    fn strip(&self, state: &mut ra::State, gone: &[bool]) {
        // A fence always takes the newest message of the fences' own location.
        let fences = state.messages.len() - 1;
        let count = state.messages[fences].len() - 1;
        self.take_away(state, fences, count);
        state.made = 0;
        for message in state.messages.iter_mut().flatten() {
            message.id = 0;
        }
        for (view, _) in state.views.iter_mut().zip(gone).filter(|(_, gone)| **gone) {
            view.fill(0);
        }
    }
}

impl Messages for C20Views<'_> {
    fn count(&self, state: &c20::views::State, location: usize) -> usize {
        state.messages[location].len()
    }

    fn known(&self, state: &c20::views::State, thread: usize, location: usize) -> usize {
        state.views[thread].cur.times[location]
    }

    fn take_away(&self, state: &mut c20::views::State, location: usize, count: usize) {
        state.messages[location].drain(..count);
        let of_messages = state.messages.iter_mut().flatten().map(|m| &mut m.view);
        let of_threads = state.views.iter_mut();
        let of_threads = of_threads.flat_map(|v| [&mut v.cur, &mut v.acq, &mut v.rel]);
        for view in of_messages.chain(of_threads) {
            if let Some(time) = view.times.get_mut(location) {
                *time = time.saturating_sub(count);
            }
        }
        if let Some(block) = &mut state.block
            && block.location.index() == location
        {
            block.time -= count;
        }
        state.messages[location][0].rmw = false;
    }

    fn strip(&self, state: &mut c20::views::State, gone: &[bool]) {
        // How often was accessed what is only good for races.
        state.counts.fill(0);
        state.accesses = self.initial().accesses;
        for message in state.messages.iter_mut().flatten() {
            message.view.clock.fill(0);
        }
        for (views, gone) in state.views.iter_mut().zip(gone) {
            for view in [&mut views.cur, &mut views.acq, &mut views.rel] {
                view.clock.fill(0);
                if *gone {
                    view.times.fill(0);
                }
            }
        }
    }
}

/// A state, and for each thread and location the message that the thread is to pass.
type Node<S> = (S, Vec<Option<usize>>);

struct Edge {
    from: usize,
    to: usize,
    thread: usize,
    /// Which instruction: a choice of the program.
    transition: usize,
    /// The thread stays in the loop that it is in.
    stays: bool,
    location: Option<usize>,
    /// For each thread and location: it passes, or has nothing to pass.
    passes: Vec<bool>,
}

/// What a thread can do in a state.
struct Turn {
    /// Choices that the program has.
    transitions: Vec<usize>,
    /// The edges, as far as they are known.
    edges: std::ops::Range<usize>,
}

struct Explicit<S> {
    nodes: Vec<Node<S>>,
    edges: Vec<Edge>,
    turns: Vec<Turn>,
    /// Something is not known.
    cut: bool,
}

fn live<M: Messages>(machine: &M, program: &Program) -> Option<bool> {
    let waits = |op: &Op| match op {
        Op::Wait { .. } => true,
        Op::Rmw { action, .. } => matches!(action, RmwAction::BlockingCompareAndSwap { .. }),
        _ => false,
    };
    let mut transitions = program.threads.iter().flat_map(|t| &t.transitions);
    let nonatomic = program.locations.iter().any(|l| l.nonatomic);
    if nonatomic || transitions.any(|t| waits(&t.op)) {
        return None;
    }
    let graph = explicit(machine, program);
    let threads = machine.code().instances.len();
    if (0..threads).any(|thread| can_be_stuck(machine, program, &graph, thread)) {
        return Some(false);
    }
    (!graph.cut).then_some(true)
}

/// For each code, point and location whether something on a way from the point accesses the location.
fn accesses(program: &Program) -> Vec<Vec<Vec<bool>>> {
    let locations = program.locations.len();
    let of_thread = |thread: &Thread| {
        let mut found = vec![vec![false; locations]; thread.points.len()];
        loop {
            let before = found.clone();
            for transition in &thread.transitions {
                let accessed = |location: usize| match transition.op.address() {
                    Some(Address::Direct(l)) => l.index() == location,
                    Some(_) => true,
                    None => false,
                };
                let later = found[transition.to.index()].clone();
                let here = found[transition.from.index()].iter_mut();
                for (location, (here, later)) in here.zip(later).enumerate() {
                    *here |= accessed(location) || later;
                }
            }
            if found == before {
                return found;
            }
        }
    };
    program.threads.iter().map(of_thread).collect()
}

fn explicit<M: Messages>(machine: &M, program: &Program) -> Explicit<M::State> {
    let code = machine.code();
    let (threads, locations) = (code.instances.len(), program.locations.len());
    let loops: Vec<Loops> = (program.threads.iter())
        .map(|thread| Loops::of(thread, program.domain))
        .collect();
    let accesses = accesses(program);
    // Takes away what no thread can read any more, and says what has been passed.
    let settle = |(mut state, mut marks): Node<M::State>| -> (Node<M::State>, Vec<bool>) {
        let locals = machine.locals(&state);
        let gone: Vec<bool> = (locals.iter().enumerate())
            .map(|(t, local)| local.stopped || code.has_ended(t, local))
            .collect();
        let can_access: Vec<&Vec<bool>> = (locals.iter().enumerate())
            .map(|(t, l)| &accesses[code.instances[t].thread.index()][l.point.index()])
            .collect();
        let mut passes = vec![true; threads * locations];
        let accessing = |t: usize, x: usize| !gone[t] && can_access[t][x];
        for x in 0..locations {
            let least = (0..threads)
                .filter(|&t| accessing(t, x))
                .map(|t| machine.known(&state, t, x));
            let least = least.min().unwrap_or(machine.count(&state, x) - 1);
            // What a block has read stays.
            let in_block = code.holder(machine.locals(&state)).is_some();
            let least = if in_block { 0 } else { least };
            machine.take_away(&mut state, x, least);
            let newest = machine.count(&state, x) - 1;
            for t in 0..threads {
                let mark = &mut marks[t * locations + x];
                let known = machine.known(&state, t, x);
                *mark = mark.map(|m| m.saturating_sub(least));
                if !accessing(t, x) || known == newest {
                    *mark = None;
                } else if mark.is_none_or(|m| m <= known) {
                    *mark = Some(newest);
                } else {
                    passes[t * locations + x] = false;
                }
            }
        }
        machine.strip(&mut state, &gone);
        ((state, marks), passes)
    };
    let (first, _) = settle((machine.initial(), vec![None; threads * locations]));
    let mut known = FxHashMap::default();
    known.insert(first.clone(), 0);
    let mut graph = Explicit {
        nodes: vec![first],
        edges: Vec::new(),
        turns: Vec::new(),
        cut: false,
    };
    let mut from = 0;
    while from < graph.nodes.len() {
        if from > LIMIT_NOW.get() {
            graph.cut = true;
            break;
        }
        let (state, marks) = graph.nodes[from].clone();
        for thread in 0..threads {
            let loops = &loops[code.instances[thread].thread.index()];
            let mut steps = machine.steps_of(&state, thread);
            steps.retain(|(_, next)| machine.is_real(next));
            if steps.is_empty() {
                continue;
            }
            let mut transitions: Vec<usize> = steps.iter().map(|(s, _)| s.transition).collect();
            transitions.dedup();
            let begin = graph.edges.len();
            for (step, next) in steps {
                let location = step.location.map(|l| l.index());
                let mut marks = marks.clone();
                if let Some(x) = location
                    && machine.count(&next, x) > machine.count(&state, x)
                {
                    // The new message, and what has moved up behind it.
                    let new = machine.known(&next, thread, x);
                    for t in 0..threads {
                        if let Some(mark) = &mut marks[t * locations + x] {
                            *mark += usize::from(*mark >= new);
                        }
                    }
                }
                let nothing_to_pass: Vec<bool> = marks.iter().map(Option::is_none).collect();
                let (next, mut passes) = settle((next, marks));
                for (passes, nothing) in passes.iter_mut().zip(nothing_to_pass) {
                    *passes |= nothing;
                }
                if (0..locations).any(|x| machine.count(&next.0, x) > MOST_MESSAGES) {
                    graph.cut = true;
                    continue;
                }
                let new = graph.nodes.len();
                let to = *known.entry(next.clone()).or_insert(new);
                if to == new {
                    graph.nodes.push(next);
                }
                let error = matches!(step.kind, StepKind::Error(_));
                graph.edges.push(Edge {
                    from,
                    to,
                    thread,
                    transition: step.transition,
                    stays: loops.stays(step.transition) && !error,
                    location,
                    passes,
                });
            }
            let edges = begin..graph.edges.len();
            graph.turns.push(Turn { transitions, edges });
        }
        from += 1;
    }
    graph
}

fn can_be_stuck<M: Messages>(
    machine: &M,
    program: &Program,
    graph: &Explicit<M::State>,
    thread: usize,
) -> bool {
    let code = machine.code();
    let (threads, locations) = (code.instances.len(), program.locations.len());
    let runs: Vec<bool> = (graph.nodes.iter())
        .map(|(s, _)| &machine.locals(s)[thread])
        .map(|local| !local.stopped && !code.has_ended(thread, local))
        .collect();
    let mut kept: Vec<bool> = (graph.edges.iter())
        .map(|e| runs[e.from] && runs[e.to] && (e.thread != thread || e.stays))
        .collect();
    let component = loop {
        let before = kept.clone();
        // Each choice of the program is made again and again, in some way that is left.
        for turn in &graph.turns {
            let possible = |&transition: &usize| {
                let mut edges = turn.edges.clone();
                edges.any(|e| kept[e] && graph.edges[e].transition == transition)
            };
            if !turn.transitions.iter().all(possible) {
                kept[turn.edges.clone()].fill(false);
            }
        }
        let component = components_of(graph, &kept);
        for (edge, kept) in graph.edges.iter().zip(&mut kept) {
            *kept &= component[edge.from] == component[edge.to];
        }
        let count = component.iter().max().map_or(0, |c| *c as usize + 1);
        let mut passed = vec![vec![false; threads * locations]; count];
        for (edge, _) in graph.edges.iter().zip(&kept).filter(|(_, kept)| **kept) {
            let passed = &mut passed[component[edge.from] as usize];
            for (passed, passes) in passed.iter_mut().zip(&edge.passes) {
                *passed |= passes;
            }
        }
        for (edge, kept) in graph.edges.iter().zip(&mut kept) {
            let passed = &passed[component[edge.from] as usize];
            *kept &= edge
                .location
                .is_none_or(|x| passed[edge.thread * locations + x]);
        }
        if kept == before {
            break component;
        }
    };
    let count = component.iter().max().map_or(0, |c| *c as usize + 1);
    let mut parts: Vec<Vec<usize>> = vec![Vec::new(); count];
    for node in (0..graph.nodes.len()).filter(|&n| runs[n]) {
        parts[component[node] as usize].push(node);
    }
    let mut moves = vec![vec![false; threads]; count];
    for (edge, _) in graph.edges.iter().zip(&kept).filter(|(_, kept)| **kept) {
        moves[component[edge.from] as usize][edge.thread] = true;
    }
    parts.iter().zip(&moves).any(|(part, moves)| {
        let state = |node: usize| &graph.nodes[node].0;
        let holder = |node: usize| code.holder(machine.locals(state(node)));
        let mut holders: Vec<Option<usize>> = part.iter().map(|&n| holder(n)).collect();
        holders.dedup();
        !part.is_empty()
            && (0..threads).all(|other| {
                let kept_out = matches!(holders[..], [Some(holder)] if holder != other);
                let cannot_move = || {
                    part.iter().any(|&node| {
                        holder(node).is_none_or(|h| h == other)
                            && machine.steps_of(state(node), other).is_empty()
                    })
                };
                moves[other] || kept_out || cannot_move()
            })
    })
}

fn components_of<S>(graph: &Explicit<S>, kept: &[bool]) -> Vec<u32> {
    let mut next = vec![Vec::new(); graph.nodes.len()];
    for (edge, _) in graph.edges.iter().zip(kept).filter(|(_, kept)| **kept) {
        next[edge.from].push(edge.to as u32);
    }
    let mut first = vec![0];
    for to in &next {
        first.push(first[first.len() - 1] + to.len());
    }
    components(&first, &next.concat())
}
