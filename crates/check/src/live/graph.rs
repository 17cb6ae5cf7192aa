//! The states of a program under SC, or under TSO with bounded buffers, with all steps between them, kept for questions about runs without end.
//!
//! What moves are the threads and, under TSO, their buffers: behind `n` threads, number `n + i` is the buffer of thread `i`, which moves when a store leaves
//! it. A state in which a store does not fit into its buffer is *cut off*: it has steps that are not here.
//!
//! No symmetry and no partial order here: which thread moves again and again is the question. One reduction is sound for it: a thread whose next
//! step touches no memory and goes forward in its code takes it at once. Such a step commutes with all steps of others and a fair run cannot leave it out,
//! so that each fair run is, but for the moments of these steps, one in which they come at once; there are only finitely many in a row.
//! A choice among such steps is made earlier than it would have to be, which only gives the scheduler more to know.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, Ordering};
use web_time::{Duration, Instant};

use hashbrown::HashTable;
use palisade_lang::loops::Loops;
use palisade_threads::{ActionKind, LocalId, Status, View};
use rustc_hash::FxBuildHasher;

use crate::reach::{BufferView, FLUSH, TsoSpace};
use crate::sc::execute;
use crate::state::Frame;
use crate::{Control, Options, Progress};

/// A step that leads from one state to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    /// Where it leads.
    pub to: u32,
    /// Which of the thread's actions.
    pub action: u16,
    /// Whether the thread stays in the loop that it is in.
    pub stays: bool,
}

/// All that one thread can do in one state. Where there are several edges, the program has a choice.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    /// The thread, or the buffer.
    pub thread: u16,
    /// Its edges: from here …
    pub begin: usize,
    /// … to here.
    pub end: usize,
}

/// What moves in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// Any thread that can.
    None,
    /// Only this one, because it is inside a block.
    Block(u16),
    /// Only this one is looked at: its step touches no memory.
    First(u16),
}

/// The graph, as far as it is known.
pub(super) struct Graph<'f, 'p> {
    pub frame: &'f Frame<'p>,
    /// Under TSO, what a step does with the buffers.
    pub tso: Option<&'f TsoSpace<'f, 'p>>,
    /// For each code its loops.
    pub loops: Vec<Loops>,
    rows: Vec<u32>,
    index: HashTable<u32>,
    /// For each state that is expanded: its first turn. One more at the end.
    first_turn: Vec<usize>,
    pub turns: Vec<Turn>,
    pub edges: Vec<Edge>,
    pub holders: Vec<Holder>,
    /// For each state: it is cut off.
    pub cut: Vec<bool>,
    /// For each state the one that it was found from, and the edge.
    pub parents: Vec<(u32, usize)>,
    /// Whether a step that touches no memory may be made before everything else. An error inside an `atomic` block keeps the other threads out for ever, each where it is then:
    /// in a program with blocks, steps that touch no memory may come too late, so that they take their turns like all others.
    local_first: bool,
    /// A step that is an error of the program was seen.
    pub errors: bool,
}

/// Why the graph is not whole.
pub(super) enum Stop {
    /// A limit is reached.
    Limit(&'static str),
    /// As many states as were asked for now are expanded.
    Enough,
}

/// When to stop.
pub(super) struct Watch<'a> {
    pub start: Instant,
    pub timeout: Option<Duration>,
    pub cancel: &'a AtomicBool,
    /// Seconds that looking for hangs took last, for each state.
    pub look: f64,
}

impl Watch<'_> {
    /// An error if there is no more time.
    pub fn check(&self) -> Result<(), Stop> {
        self.check_before(0)
    }

    /// An error if there is no more time than it takes to look for hangs among so many states; some states are slower than others.
    fn check_before(&self, states: usize) -> Result<(), Stop> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Stop::Limit("it was interrupted"));
        }
        let spent = self.start.elapsed().as_secs_f64() + 1.5 * self.look * states as f64;
        match self.timeout {
            Some(limit) if spent > limit.as_secs_f64() => {
                Err(Stop::Limit("the time limit is reached"))
            }
            _ => Ok(()),
        }
    }
}

impl<'f, 'p> Graph<'f, 'p> {
    pub fn new(frame: &'f Frame<'p>, tso: Option<&'f TsoSpace<'f, 'p>>) -> Self {
        let program = frame.program();
        let mut graph = Graph {
            frame,
            tso,
            loops: (program.threads.iter())
                .map(|thread| Loops::of(thread, program.domain))
                .collect(),
            rows: Vec::new(),
            index: HashTable::new(),
            first_turn: vec![0],
            turns: Vec::new(),
            edges: Vec::new(),
            holders: Vec::new(),
            cut: Vec::new(),
            parents: Vec::new(),
            local_first: !(program.threads.iter()).any(|t| t.points.iter().any(|p| p.atomic)),
            errors: false,
        };
        let mut view = frame.threads.view();
        for mut row in frame.initial_rows(&mut view) {
            row.resize(graph.width(), 0);
            graph.state(&row, (u32::MAX, 0));
        }
        graph
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.parents.len()
    }

    /// How many of them are expanded: the first ones.
    pub fn expanded(&self) -> usize {
        self.first_turn.len() - 1
    }

    /// How many numbers a state has.
    fn width(&self) -> usize {
        let buffers = self.tso.map_or(0, |_| self.frame.thread_count());
        self.frame.width() + buffers
    }

    /// How many there are that move: threads, and buffers.
    pub fn movers(&self) -> usize {
        self.frame.thread_count() * if self.tso.is_some() { 2 } else { 1 }
    }

    /// The thread whose buffer this is, or which it is itself.
    pub fn owner(&self, mover: usize) -> usize {
        mover % self.frame.thread_count()
    }

    /// A state.
    pub fn row(&self, state: usize) -> &[u32] {
        let width = self.width();
        &self.rows[state * width..(state + 1) * width]
    }

    /// The turns of a state.
    pub fn turns_of(&self, state: usize) -> std::ops::Range<usize> {
        self.first_turn[state]..self.first_turn[state + 1]
    }

    /// The edges of a turn.
    pub fn edges_of(&self, turn: usize) -> &[Edge] {
        let turn = &self.turns[turn];
        &self.edges[turn.begin..turn.end]
    }

    /// Whether a thread or buffer cannot move in a state. One that another's block keeps from moving can, once the block is over.
    pub fn cannot_move(&self, state: usize, thread: usize) -> bool {
        let hindered = match self.holders[state] {
            Holder::None => false,
            Holder::Block(holder) => holder as usize != self.owner(thread),
            Holder::First(first) => first as usize != thread,
        };
        let moves = |turn: usize| self.turns[turn].thread as usize == thread;
        !hindered && !self.turns_of(state).any(moves)
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() * 4
            + self.index.capacity() * 5
            + self.turns.capacity() * size_of::<Turn>()
            + self.edges.capacity() * size_of::<Edge>()
            + self.parents.capacity() * 40
    }

    fn state(&mut self, row: &[u32], from: (u32, usize)) -> u32 {
        let width = self.width();
        let rows = &mut self.rows;
        let hash = FxBuildHasher.hash_one(row);
        let same = |&at: &u32| &rows[at as usize * width..(at as usize + 1) * width] == row;
        if let Some(&found) = self.index.find(hash, same) {
            return found;
        }
        let new = self.parents.len() as u32;
        rows.extend_from_slice(row);
        self.parents.push(from);
        let again = |&at: &u32| {
            FxBuildHasher.hash_one(&rows[at as usize * width..(at as usize + 1) * width])
        };
        self.index.insert_unique(hash, new, again);
        new
    }

    /// Expands states, the ones found first before the others, until all or this many are expanded.
    pub fn grow(
        &mut self,
        most: usize,
        watch: &Watch<'_>,
        options: &Options,
        control: &Control<'_>,
    ) -> Result<(), Stop> {
        let frame = self.frame;
        let mut view = frame.threads.view();
        let mut buffers = self.tso.map(|space| BufferView::new(space.buffers));
        let memory = options.memory_limit();
        while self.expanded() < self.states() {
            let at = self.expanded();
            if at >= most {
                return Err(Stop::Enough);
            }
            if options.most_states.is_some_and(|most| at as u64 >= most) {
                return Err(Stop::Limit("as many states as were wanted are seen"));
            }
            if self.states() >= (u32::MAX - 1) as usize {
                return Err(Stop::Limit("there are more states than can be numbered"));
            }
            if at.is_multiple_of(1024) {
                watch.check_before(at)?;
                // Growing takes both the old and the new tables, and the analysis as much again as the edges.
                let bytes = self.bytes();
                if memory.is_some_and(|limit| bytes as u64 > limit / 3) {
                    return Err(Stop::Limit("the memory limit is reached"));
                }
                (control.progress)(&Progress {
                    states: self.states() as u64,
                    frontier: (self.states() - at) as u64,
                    memory_bytes: bytes as u64,
                    ..Progress::default()
                });
            }
            self.expand(at, &mut view, &mut buffers);
        }
        Ok(())
    }

    fn expand(&mut self, at: usize, view: &mut View<'_>, buffers: &mut Option<BufferView<'_>>) {
        let frame = self.frame;
        let row = self.row(at).to_vec();
        view.begin_state();
        self.cut.push(false);
        let threads = 0..frame.thread_count();
        let mut drains = |thread: usize| {
            let buffer = row.get(frame.width() + thread);
            buffer.is_some_and(|&b| buffers.as_mut().is_some_and(|buffers| buffers.drains(b)))
        };
        let holder = match frame.atomic_thread(view, &row) {
            Some(holder) => Holder::Block(holder as u16),
            None => (threads.clone())
                .find(|&t| self.local_first && !drains(t) && moves_first(frame, view, &row, t))
                .map_or(Holder::None, |first| Holder::First(first as u16)),
        };
        for thread in threads {
            match holder {
                Holder::Block(only) | Holder::First(only) if only as usize != thread => {}
                _ => self.expand_turn(at, view, buffers, &row, thread),
            }
        }
        if let (Holder::None, Some(buffers)) = (holder, buffers) {
            self.expand_buffers(at, view, buffers, &row);
        }
        self.holders.push(holder);
        self.first_turn.push(self.turns.len());
    }

    /// The oldest store of each buffer reaches memory.
    fn expand_buffers(
        &mut self,
        at: usize,
        view: &mut View<'_>,
        buffers: &mut BufferView<'_>,
        row: &[u32],
    ) {
        let (threads, width) = (self.frame.thread_count(), self.frame.width());
        for thread in 0..threads {
            let Some(&(location, value, rest)) = buffers.pops(row[width + thread]).first() else {
                continue;
            };
            let mut next = row.to_vec();
            next[width + thread] = rest;
            next[self.frame.component(location)] = view.value_id(value);
            let begin = self.edges.len();
            let to = self.state(&next, (at as u32, begin));
            self.edges.push(Edge {
                to,
                action: FLUSH as u16,
                stays: true,
            });
            self.turns.push(Turn {
                thread: (threads + thread) as u16,
                begin,
                end: begin + 1,
            });
        }
    }

    fn expand_turn(
        &mut self,
        at: usize,
        view: &mut View<'_>,
        buffers: &mut Option<BufferView<'_>>,
        row: &[u32],
        thread: usize,
    ) {
        let frame = self.frame;
        let (code, local) = (frame.codes[thread], LocalId(row[thread]));
        let begin = self.edges.len();
        for action in 0..view.actions(code, local) {
            let taken = view.action(code, local, action);
            let mut next = row.to_vec();
            let done = match (self.tso, &mut *buffers) {
                (Some(space), Some(buffers)) => {
                    let done = space.execute(view, buffers, row, thread, taken.kind);
                    if let Ok(Some(done)) = &done
                        && let Some(store) = done.issued
                    {
                        let buffer = frame.width() + thread;
                        match buffers.push(row[buffer], store) {
                            Some(longer) => next[buffer] = longer,
                            None => {
                                self.cut[at] = true;
                                continue;
                            }
                        }
                    }
                    done.map(|done| done.map(|done| done.access))
                }
                _ => execute(frame, view, row, taken.kind),
            };
            let locals = match done {
                Ok(None) => continue,
                Ok(Some(access)) => {
                    if let Some((location, value)) = access.written {
                        next[frame.component(location)] = view.value_id(value);
                    }
                    let read = access.read.unwrap_or(0);
                    view.resume(code, local, action, read).to_vec()
                }
                Err(_) => vec![view.stopped(code)],
            };
            self.errors |= matches!(taken.kind, ActionKind::Error(_));
            let stays = self.loops[code].stays(taken.transition as usize);
            for local in locals {
                next[thread] = local.0;
                let running = view.status(code, local) == Status::Running;
                let to = self.state(&next, (at as u32, self.edges.len()));
                self.edges.push(Edge {
                    to,
                    action: action as u16,
                    stays: stays && running,
                });
            }
        }
        if self.edges.len() > begin {
            self.turns.push(Turn {
                thread: thread as u16,
                begin,
                end: self.edges.len(),
            });
        }
    }
}

/// Whether all that a thread can do next touches no memory and goes forward in its code, and something can be done.
fn moves_first(frame: &Frame<'_>, view: &mut View<'_>, row: &[u32], thread: usize) -> bool {
    let (code, local) = (frame.codes[thread], LocalId(row[thread]));
    if view.may_close_loop(code, local) {
        return false;
    }
    let actions = view.actions(code, local);
    actions > 0 && (0..actions).all(|a| view.action(code, local, a).kind == ActionKind::Local)
}
