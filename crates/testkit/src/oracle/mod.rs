//! Brute force by the definitions: what searches are tested against.
//!
//! Every function answers "does the criterion hold?" for a small program, by running the plain machines of `palisade-memory` through all
//! their runs and looking at each. `None` means that the program is too large (more than [`LIMIT`] states, see [`within`]) or has no meaning in the
//! model; nothing else is ever a reason not to answer.
//!
//! The only thing done for speed is to look at runs that have led to the same state *and the same trace so far* once, and to let local
//! steps (which touch no memory and commute with every step of other threads) go first where the difference cannot be observed.

mod c20;
mod fair;
mod live;
mod looping;
mod observed;
mod ra;
pub mod ra_graph;
mod sc;
mod tso;
mod waiting;

pub use c20::{
    Shown, c20_drf, c20_robust, c20_safe, rc11_drf, rc11_robust, rc11_safe, shown, shown_by_views,
};
pub use fair::{c20_live, polled, ra_live};
pub use live::{c20_hangs, sc_live, tso_live};
pub use looping::{ra_robust_looping, tso_persistent_looping, tso_robust_looping};
pub use observed::{
    c20_observational, c20_shows_what_sc_shows, ra_observational, rc11_observational,
};
pub use ra::{ra_robust, ra_safe};
pub use sc::{sc_drf, sc_drf_all_locations, sc_safe, tso_trf};
pub use tso::{tso_persistent, tso_reach, tso_robust, tso_safe};
pub use waiting::is_deadlock;

use palisade_lang::{Op, Program};
use palisade_memory::{Machine, Step, StepKind};
use rustc_hash::FxHashSet;
use std::cell::Cell;
use std::collections::VecDeque;
use std::hash::Hash;
use std::rc::Rc;

/// The most states that brute force looks at, if nothing else is said by [`within`].
pub const LIMIT: usize = 1_000_000;

thread_local! {
    static LIMIT_NOW: Cell<usize> = const { Cell::new(LIMIT) };
}

/// Decides something by brute force, but looks at no more than this many states: for programs with loops. States are visited breadth
/// first, so that a violation that needs few steps is found.
pub fn within<T>(states: usize, decide: impl FnOnce() -> T) -> T {
    let before = LIMIT_NOW.replace(states);
    let answer = decide();
    LIMIT_NOW.set(before);
    answer
}

/// What the visit of a state says.
enum Visit<S> {
    /// The answer is known: the criterion does not hold.
    Violated,
    /// The program is too large.
    TooLarge,
    /// Nothing yet; these states come next.
    Next(Vec<S>),
}

/// Visits every state that can be reached. `Some(false)` at a violation, `Some(true)` if there is none.
fn holds_everywhere<S: Eq + Hash>(
    initial: S,
    mut visit: impl FnMut(&S) -> Visit<S>,
) -> Option<bool> {
    let mut seen = FxHashSet::default();
    let initial = Rc::new(initial);
    seen.insert(initial.clone());
    let limit = LIMIT_NOW.get();
    let mut todo = VecDeque::from([initial]);
    while let Some(state) = todo.pop_front() {
        match visit(&state) {
            Visit::Violated => return Some(false),
            Visit::TooLarge => return None,
            Visit::Next(next) => {
                for state in next {
                    let state = Rc::new(state);
                    if seen.insert(state.clone()) {
                        todo.push_back(state);
                    }
                }
            }
        }
        if seen.len() > limit {
            return None;
        }
    }
    Some(true)
}

/// The runs of a machine, local steps first where that changes nothing.
struct Runs<M> {
    machine: M,
    local_first: bool,
}

impl<M: Machine> Runs<M> {
    fn new(machine: M) -> Self {
        // A thread that goes around in local steps would keep the others from ever moving.
        let local_first = is_loop_free(machine.code().program);
        Runs {
            machine,
            local_first,
        }
    }

    /// All steps, but where some thread can only make local steps, just those: they commute with everything that others (and its own
    /// buffer) do, and no trace contains them.
    fn steps(&self, state: &M::State) -> Vec<(Step, M::State)> {
        let code = self.machine.code();
        if self.local_first {
            for (thread, local) in self.machine.locals(state).iter().enumerate() {
                let only_local = code.next(thread, local).all(|(_, t)| {
                    matches!(
                        t.op,
                        Op::Skip | Op::Jump | Op::Assign(..) | Op::Assume(_) | Op::Assert(_)
                    )
                });
                if only_local && !code.has_ended(thread, local) {
                    let mut steps = self.machine.steps_of(state, thread);
                    steps.retain(|(s, _)| matches!(s.kind, StepKind::Local | StepKind::Error(_)));
                    if !steps.is_empty() {
                        return steps;
                    }
                }
            }
        }
        self.machine.steps(state)
    }
}

/// Whether no thread of the program can come to the same point twice.
pub fn is_loop_free(program: &Program) -> bool {
    program.threads.iter().all(|thread| {
        // Take away transitions to points that nothing leaves any more, until nothing changes: what is left leads into a cycle.
        let mut left: Vec<_> = thread.transitions.iter().map(|t| (t.from, t.to)).collect();
        loop {
            let before = left.len();
            let sources: FxHashSet<_> = left.iter().map(|edge| edge.0).collect();
            left.retain(|(_, to)| sources.contains(to));
            if left.len() == before {
                return left.is_empty();
            }
        }
    })
}
