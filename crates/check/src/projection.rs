//! `safe` under SC shown with a few threads at a time.
//!
//! What a `never` forbids is often that two threads are somewhere at once, and often that follows from what these two do, whatever the others do. Then there is no need to
//! walk the product of all threads:
//!
//! - First, each thread by itself: a load may read any value that some thread may have stored there. So it is found where each thread may be and what it may
//!   store; all of it is there as soon as nothing is added any more (thread-modular reachability).
//! - A `never` that speaks of control points only is true only if all points of one of a few smallest sets are taken. For each set the threads in it are walked together, with the locations
//!   that they store to. Loads of other locations read any value that may be there, and other threads may store any of their values at any time,
//!   but for blocks that a walked thread is inside of.
//!
//! - Where that says too little, [`pairs`] of threads are looked at, beside which others do not do anything, but what they can beside each of the two: first without what belongs to others,
//!   and with all of memory, if so many states may be looked at.
//!
//! Every run of the program is a run of this, without the steps of the other threads. So where the points of no set are taken at once, and no thread comes to an error even by itself, the
//! program is safe. Where they are, nothing is known.

mod pairs;

pub(crate) use pairs::Sharing;

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;

use palisade_lang::{Expr, LabelRef, LocationId, StateAtom, Value};
use palisade_threads::{ActionKind, Effect, LocalId, View, visit_state_atoms};
use rustc_hash::{FxHashMap, FxHashSet};
use web_time::Instant;

use crate::state::Frame;
use crate::{Control, Options};

/// A `never` with more control points is not taken apart.
const MOST_POINTS: usize = 16;

/// So many threads are walked together at most.
const MOST_THREADS: usize = 3;

/// So many states are looked at for one set of threads, and in all; and so many where views have all of memory.
const MOST_STATES: u64 = 1 << 20;
const MOST_STATES_IN_ALL: u64 = 1 << 23;
const MOST_VIEWS: u64 = 1 << 25;

/// Limits are asked for after so many states.
const STATES_A_LOOK: u64 = 1 << 12;

/// A thread by its number, and where it must not be beside others.
type Place = (usize, LabelRef);

/// Whether a program is safe under SC, as far as this tells; and how many states were seen on the way.
pub(crate) fn shows_safe(
    frame: &Frame<'_>,
    sharing: Sharing,
    options: &Options,
    control: &Control<'_>,
) -> Shown {
    let mut projection = Projection::new(frame, options, control);
    let safe = match sharing {
        Sharing::Common => projection.run(),
        Sharing::All => projection.with_all_memory(),
    };
    let safe = safe.is_some();
    Shown {
        safe,
        states: projection.states,
    }
}

/// What came out.
pub(crate) struct Shown {
    pub safe: bool,
    pub states: u64,
}

struct Projection<'f, 'p, 'c> {
    frame: &'f Frame<'p>,
    view: View<'f>,
    /// For each location the numbers of the values that may be there.
    possible: Vec<BTreeSet<u32>>,
    /// For each thread and location the numbers of the values that it may store.
    stored: Vec<Vec<BTreeSet<u32>>>,
    states: u64,
    most_states: u64,
    start: Instant,
    options: &'c Options,
    control: &'c Control<'c>,
}

/// Where a thread is behind a step, and what it has stored.
type Move = (LocalId, Option<(LocationId, u32)>);

impl<'f, 'p, 'c> Projection<'f, 'p, 'c> {
    fn new(frame: &'f Frame<'p>, options: &'c Options, control: &'c Control<'c>) -> Self {
        Projection {
            frame,
            view: frame.threads.view(),
            possible: Vec::new(),
            stored: Vec::new(),
            states: 0,
            most_states: MOST_STATES_IN_ALL,
            start: Instant::now(),
            options,
            control,
        }
    }
}

impl Projection<'_, '_, '_> {
    fn run(&mut self) -> Option<()> {
        let sets = smallest_sets(self.frame)?;
        self.each_by_itself()?;
        let mut by_threads: FxHashMap<Vec<usize>, Vec<Vec<Place>>> = FxHashMap::default();
        for set in sets {
            let threads: BTreeSet<usize> = set.iter().map(|place| place.0).collect();
            let threads: Vec<usize> = threads.into_iter().collect();
            by_threads.entry(threads).or_default().push(set);
        }
        let mut by_threads: Vec<_> = by_threads.into_iter().collect();
        by_threads.sort_by(|a, b| a.0.cmp(&b.0));
        let mut open = Vec::new();
        for (threads, sets) in by_threads {
            if threads.len() > MOST_THREADS {
                return None;
            }
            if self.together(&threads, &sets).is_none() {
                open.extend(sets);
            }
        }
        match open.is_empty() {
            true => Some(()),
            false => self.in_pairs(&open, Sharing::Common),
        }
    }

    /// Pairs of threads, and all of memory.
    fn with_all_memory(&mut self) -> Option<()> {
        let sets = smallest_sets(self.frame)?;
        self.each_by_itself()?;
        self.most_states = MOST_VIEWS;
        self.in_pairs(&sets, Sharing::All)
    }

    /// Counts a state; `None` where a limit is met.
    fn count(&mut self) -> Option<()> {
        self.states += 1;
        if !self.states.is_multiple_of(STATES_A_LOOK) {
            return Some(());
        }
        let late = (self.options.timeout).is_some_and(|t| self.start.elapsed() >= t);
        let full = || {
            let used = palisade_explore::resident_bytes();
            (self.options.memory_limit().zip(used)).is_some_and(|(most, used)| used >= most)
        };
        let stop = late || self.control.cancel.load(Relaxed) || full();
        (!stop && self.states < self.most_states).then_some(())
    }

    /// The numbers of the values that locations have at the beginning.
    fn initial_memory(&mut self) -> Vec<u32> {
        let program = self.frame.program();
        let locations = program.locations.iter();
        let values = locations.map(|l| self.view.value_id(program.domain.reduce(l.initial)));
        values.collect()
    }

    /// What may be in memory, and what each thread may store; `None` where a thread may come to an error.
    fn each_by_itself(&mut self) -> Option<()> {
        let frame = self.frame;
        let (threads, locations) = (frame.thread_count(), frame.program().locations.len());
        self.possible = vec![BTreeSet::new(); locations];
        self.stored = vec![vec![BTreeSet::new(); locations]; threads];
        for (location, value) in self.initial_memory().into_iter().enumerate() {
            self.possible[location].insert(value);
        }
        let mut known: Vec<FxHashSet<LocalId>> = Vec::new();
        for thread in 0..threads {
            known.push(self.view.initial(thread).into_iter().collect());
        }
        loop {
            let before: usize = self.possible.iter().map(BTreeSet::len).sum();
            for (thread, known) in known.iter_mut().enumerate() {
                let mut work: Vec<LocalId> = known.iter().copied().collect();
                work.sort_unstable();
                while let Some(local) = work.pop() {
                    self.count()?;
                    for (next, written) in self.steps(thread, local, &|_| None)? {
                        if let Some((location, value)) = written {
                            self.stored[thread][location.index()].insert(value);
                            self.possible[location.index()].insert(value);
                        }
                        if known.insert(next) {
                            work.push(next);
                        }
                    }
                }
            }
            if self.possible.iter().map(BTreeSet::len).sum::<usize>() == before {
                return Some(());
            }
        }
    }

    /// The steps of a thread, where loads read what is known to be there, or else anything that may be. `None` where one is an error.
    fn steps(
        &mut self,
        thread: usize,
        local: LocalId,
        known: &dyn Fn(LocationId) -> Option<u32>,
    ) -> Option<Vec<Move>> {
        self.view.begin_state();
        let code = self.frame.codes[thread];
        let domain = self.frame.program().domain;
        let mut found = Vec::new();
        for action in 0..self.view.actions(code, local) {
            let kind = self.view.action(code, local, action).kind;
            // What is read, and what is stored.
            let mut outcomes: Vec<(Value, Option<(LocationId, u32)>)> = Vec::new();
            let readable = |location: LocationId| -> Vec<u32> {
                match known(location) {
                    Some(value) => vec![value],
                    None => self.possible[location.index()].iter().copied().collect(),
                }
            };
            match kind {
                ActionKind::Error(_) => return None,
                ActionKind::Local
                | ActionKind::Fence(_)
                | ActionKind::AtomicBegin
                | ActionKind::AtomicEnd => outcomes.push((0, None)),
                ActionKind::Store {
                    location, value, ..
                } => {
                    let value = self.view.value_id(value);
                    outcomes.push((0, Some((location, value))));
                }
                ActionKind::Load { location, .. } => {
                    for id in readable(location) {
                        outcomes.push((self.view.value(id), None));
                    }
                }
                ActionKind::Wait {
                    location,
                    relation,
                    value,
                    ..
                } => {
                    for id in readable(location) {
                        let read = self.view.value(id);
                        if relation.holds(read, value) {
                            outcomes.push((read, None));
                        }
                    }
                }
                ActionKind::Rmw {
                    location, update, ..
                } => {
                    for id in readable(location) {
                        let read = self.view.value(id);
                        match update.effect(domain, read).ok()? {
                            Effect::Blocks => {}
                            Effect::Fails => outcomes.push((read, None)),
                            Effect::Writes(value) => {
                                let value = self.view.value_id(value);
                                outcomes.push((read, Some((location, value))));
                            }
                        }
                    }
                }
            }
            for (read, written) in outcomes {
                let nexts = self.view.resume(code, local, action, read);
                found.extend(nexts.iter().map(|&next| (next, written)));
            }
        }
        Some(found)
    }

    /// Walks some threads together; `None` where the places of a set are taken at once.
    fn together(&mut self, threads: &[usize], sets: &[Vec<Place>]) -> Option<()> {
        let locations = self.possible.len();
        // What they store to is known; what others may store there, they may at any time.
        let tracked: Vec<usize> = (0..locations)
            .filter(|&l| threads.iter().any(|&t| !self.stored[t][l].is_empty()))
            .collect();
        let of_others = |location: &usize| {
            let others = (0..self.stored.len()).filter(|t| !threads.contains(t));
            let values = others.flat_map(|t| self.stored[t][*location].iter().copied());
            values.collect::<BTreeSet<u32>>()
        };
        let disturbed: Vec<BTreeSet<u32>> = tracked.iter().map(of_others).collect();
        let mut place_of = vec![None; locations];
        for (at, &location) in tracked.iter().enumerate() {
            place_of[location] = Some(threads.len() + at);
        }
        let mut seen: FxHashSet<Box<[u32]>> = FxHashSet::default();
        let mut work: Vec<Box<[u32]>> = Vec::new();
        let memory = self.initial_memory();
        let mut beginnings: Vec<Vec<u32>> = vec![Vec::new()];
        for &thread in threads {
            let starts = self.view.initial(thread);
            let with = |begun: &Vec<u32>| {
                let longer = |start: &LocalId| [&begun[..], &[start.0]].concat();
                starts.iter().map(longer).collect::<Vec<_>>()
            };
            beginnings = beginnings.iter().flat_map(with).collect();
        }
        for mut begin in beginnings {
            begin.extend(tracked.iter().map(|&l| memory[l]));
            let begin: Box<[u32]> = begin.into();
            seen.insert(begin.clone());
            work.push(begin);
        }
        let first = self.states;
        while let Some(state) = work.pop() {
            self.count()?;
            if self.states - first > MOST_STATES || self.is_taken(threads, sets, &state) {
                return None;
            }
            let mut go = |next: Box<[u32]>| {
                if !seen.contains(&next) {
                    seen.insert(next.clone());
                    work.push(next);
                }
            };
            let codes = &self.frame.codes;
            let holder = (0..threads.len())
                .find(|&at| self.view.is_atomic(codes[threads[at]], LocalId(state[at])));
            for (at, &thread) in threads.iter().enumerate() {
                if holder.is_some_and(|holder| holder != at) {
                    continue;
                }
                let known = |l: LocationId| place_of[l.index()].map(|place: usize| state[place]);
                for (local, written) in self.steps(thread, LocalId(state[at]), &known)? {
                    let mut next = state.clone();
                    next[at] = local.0;
                    if let Some((location, value)) = written
                        && let Some(place) = place_of[location.index()]
                    {
                        next[place] = value;
                    }
                    go(next);
                }
            }
            if holder.is_none() {
                for (at, values) in disturbed.iter().enumerate() {
                    for &value in values {
                        let mut next = state.clone();
                        next[threads.len() + at] = value;
                        go(next);
                    }
                }
            }
        }
        Some(())
    }

    fn is_taken(&mut self, threads: &[usize], sets: &[Vec<Place>], state: &[u32]) -> bool {
        let (frame, view) = (self.frame, &mut self.view);
        sets.iter().any(|set| {
            set.iter().all(|&(thread, label)| {
                let at = threads.iter().position(|&t| t == thread);
                at.is_some_and(|at| {
                    frame.stands_at(view, frame.codes[thread], LocalId(state[at]), label)
                })
            })
        })
    }
}

/// The smallest sets of places such that no `never` is true where none of them is taken whole; `None` where there are none, or too many.
fn smallest_sets(frame: &Frame<'_>) -> Option<Vec<Vec<Place>>> {
    let mut sets = Vec::new();
    for condition in frame.nevers.iter().flat_map(|n| &n.conditions) {
        let mut places: Vec<Place> = Vec::new();
        let mut only_points = true;
        visit_state_atoms([condition], &mut |atom| match atom {
            StateAtom::At(copy, label) => {
                for thread in frame.matching_instances(*copy) {
                    if !places.contains(&(thread, *label)) {
                        places.push((thread, *label));
                    }
                }
            }
            _ => only_points = false,
        });
        if !only_points || places.len() > MOST_POINTS {
            return None;
        }
        let mut smallest: Vec<u32> = Vec::new();
        let mut all: Vec<u32> = (0..1 << places.len()).collect();
        all.sort_by_key(|taken| taken.count_ones());
        for taken in all {
            let is_within = |known: u32| known & taken == known;
            if !smallest.iter().copied().any(is_within) && is_true(frame, condition, &places, taken)
            {
                smallest.push(taken);
            }
        }
        for taken in smallest {
            let chosen = (0..places.len()).filter(|at| taken >> at & 1 == 1);
            sets.push(chosen.map(|at| places[at]).collect());
        }
    }
    Some(sets)
}

/// Whether a condition is true where these places are taken and no others. An error makes it false.
fn is_true(frame: &Frame<'_>, condition: &Expr<StateAtom>, places: &[Place], taken: u32) -> bool {
    let value = condition.eval(frame.program().domain, &mut |atom| {
        Ok(match atom {
            StateAtom::At(copy, label) => Value::from(frame.matching_instances(*copy).any(|i| {
                let at = places.iter().position(|&place| place == (i, *label));
                at.is_some_and(|at| taken >> at & 1 == 1)
            })),
            _ => 0,
        })
    });
    value.is_ok_and(|value| value != 0)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::sync::atomic::AtomicBool;

    use palisade_lang::Program;
    use palisade_testkit::{Shape, program, random_sketch};

    use super::*;
    use crate::{Criterion, Model, Reductions, Verdict};

    static NEVER: AtomicBool = AtomicBool::new(false);
    const CONTROL: Control<'static> = Control {
        cancel: &NEVER,
        progress: &|_| {},
    };

    fn is_shown(program: &Program, reductions: Reductions) -> bool {
        let options = Options {
            reductions,
            ..Options::new(Model::Sc, Criterion::Safe)
        };
        let frame = Frame::new(program, &reductions);
        shows_safe(&frame, Sharing::Common, &options, &CONTROL).safe
    }

    /// Whether pairs show it, without threads that do anything at any time.
    fn pairs_show(program: &Program, sharing: Sharing) -> bool {
        let options = Options::new(Model::Sc, Criterion::Safe);
        let frame = Frame::new(program, &options.reductions);
        let mut projection = Projection::new(&frame, &options, &CONTROL);
        let Some(sets) = smallest_sets(&frame) else {
            return false;
        };
        projection.each_by_itself().is_some() && projection.in_pairs(&sets, sharing).is_some()
    }

    fn is_safe(program: &Program) -> bool {
        let options = Options {
            reductions: Reductions::NONE,
            ..Options::new(Model::Sc, Criterion::Safe)
        };
        crate::safe::check(program, &options, &CONTROL).verdict == Verdict::Holds
    }

    /// Three threads, each of which does something before its critical section; whether that keeps others out is left to chance.
    fn random_protocol(seed: u64) -> String {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = |n: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) % n
        };
        let threads = 2 + draw(3).min(1);
        let mut text = "shared f0, f1, f2, turn, lock;\n".to_owned();
        for me in 0..threads {
            let _ = write!(text, "thread t{me} {{ loop {{ ");
            for _ in 0..1 + draw(4) {
                let other = (me + 1 + draw(threads - 1)) % threads;
                let _ = match draw(9) {
                    0..3 => write!(text, "f{me} = 1; "),
                    3 => write!(text, "wait(f{other} == {}); ", draw(2)),
                    4 => {
                        let others = (0..threads).filter(|o| *o != me);
                        let waits: Vec<String> =
                            others.map(|o| format!("wait(f{o} == 0); ")).collect();
                        write!(text, "{}", waits.concat())
                    }
                    5 => {
                        let wait = format!("while turn != {me} && f{other} == 1 {{ }} ");
                        write!(text, "turn = {other}; {wait}")
                    }
                    6 => write!(
                        text,
                        "if f{other} == 1 {{ f{me} = 0; wait(f{other} == 0); f{me} = 1; }} "
                    ),
                    7 => write!(text, "bcas(lock, 0, 1); "),
                    _ => write!(text, "atomic {{ f{me} = 1; assume f{other} == 0; }} "),
                };
            }
            let _ = writeln!(
                text,
                "cs: skip; f{me} = 0; {}}} }}",
                ["", "lock = 0; "][draw(2) as usize]
            );
        }
        let places: Vec<String> = (0..threads).map(|t| format!("t{t}@cs")).collect();
        let _ = writeln!(text, "never {} > 1;", places.join(" + "));
        text
    }

    /// What is shown is so.
    #[test]
    fn it_agrees_with_a_walk_of_all_states() {
        let (mut shown, mut by_pairs, mut by_memory, mut safe, mut not_safe) = (0, 0, 0, 0, 0);
        for seed in 0..1_500 {
            let text = random_protocol(seed);
            let program = program(&text);
            let is_safe = is_safe(&program);
            for reductions in [Reductions::ALL, Reductions::NONE] {
                let is_shown = is_shown(&program, reductions);
                assert!(is_safe || !is_shown, "{text}");
                shown += u32::from(is_shown);
            }
            let by_common = pairs_show(&program, Sharing::Common);
            let by_all = pairs_show(&program, Sharing::All);
            assert!(is_safe || !by_common && !by_all, "{text}");
            assert!(by_all || !by_common, "more is known, less is shown: {text}");
            by_pairs += u32::from(by_common);
            by_memory += u32::from(by_all);
            safe += u32::from(is_safe);
            not_safe += u32::from(!is_safe);
        }
        println!(
            "{shown} shown of twice {safe} safe, {by_pairs} by pairs, {by_memory} with all of memory, {not_safe} not safe"
        );
        assert!(shown > 100 && by_pairs > 20 && by_memory > by_pairs && not_safe > 100);
    }

    /// The same for any programs: with pointers, blocks, errors and read-modify-writes.
    #[test]
    fn it_agrees_on_random_programs() {
        let shape = Shape {
            loops: true,
            properties: false,
            ..Shape::SC
        };
        let (mut shown, mut open) = (0, 0);
        for seed in 0..800 {
            let text = random_sketch(seed, &shape).to_string();
            let base = program(&text);
            let names: Vec<String> = base.instances().into_iter().map(|i| i.name).collect();
            let (one, other) = (
                seed as usize % names.len(),
                (seed as usize / 7) % names.len(),
            );
            let text = format!("{text}never {}@end && {}@end;\n", names[one], names[other]);
            let Some(program) = palisade_testkit::parse(&text) else {
                continue;
            };
            let by_pairs = [Sharing::Common, Sharing::All].map(|s| pairs_show(&program, s));
            match is_shown(&program, Reductions::ALL) || by_pairs.contains(&true) {
                true => {
                    assert!(is_safe(&program), "{text}");
                    shown += 1;
                }
                false => open += 1,
            }
        }
        println!("{shown} shown, {open} open");
        assert!(shown > 10);
    }

    /// Six threads, of which a walk sees more than thirty million states.
    #[test]
    fn large_programs() {
        for name in ["bakery-6-fenced", "dijkstra-6-fenced", "lamport2-6-fenced"] {
            let path = palisade_testkit::workspace_dir().join(format!("programs/large/{name}.pal"));
            let program = program(&std::fs::read_to_string(path).unwrap());
            assert!(is_shown(&program, Reductions::ALL), "{name}");
        }
    }

    /// A thread may go on because some third one is inside, whichever that is: pairs without its memory cannot say that.
    #[test]
    fn waiting_rooms_need_all_of_memory() {
        let path = palisade_testkit::workspace_dir().join("programs/mutex/szymanski-4-fenced.pal");
        let program = program(&std::fs::read_to_string(path).unwrap());
        assert!(!is_shown(&program, Reductions::ALL));
        assert!(pairs_show(&program, Sharing::All));
    }

    #[test]
    fn smallest_sets_of_places() {
        let places = |never: &str| {
            let text = format!(
                "shared x; thread a {{ p: x = 1; }} thread b {{ q: x = 2; }} thread c {{ r: x = 3; }} never {never};"
            );
            let program = program(&text);
            let frame = Frame::new(&program, &Reductions::ALL);
            let sets = smallest_sets(&frame)?;
            let mut threads: Vec<Vec<usize>> = (sets.iter())
                .map(|set| set.iter().map(|place| place.0).collect())
                .collect();
            threads.iter_mut().for_each(|set| set.sort_unstable());
            threads.sort();
            Some(threads)
        };
        assert_eq!(
            places("a@p + b@q + c@r > 1"),
            Some(vec![vec![0, 1], vec![0, 2], vec![1, 2]])
        );
        assert_eq!(
            places("a@p && (b@q || c@r)"),
            Some(vec![vec![0, 1], vec![0, 2]])
        );
        assert_eq!(places("a@p && !b@q"), Some(vec![vec![0]]));
        assert_eq!(places("a@p && x == 1"), None);
        assert_eq!(places("deadlock"), None);
    }
}
