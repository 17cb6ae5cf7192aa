//! Which stale accesses lie on a critical cycle with an unprotected step: all others are dismissed without a search.
//!
//! A graph that is not one of SC has a cycle of `po` and of conflicts (rf, mo, fr) between different threads, and a shortest one visits each thread once,
//! with one access or with two, `a po c`, of different locations (Shasha and Snir 1988). The access that made the graph leave SC is on every cycle, and leaves it by mo or
//! fr. Call an edge of the cycle a *link* if it is part of happens-before: an rf whose write releases and whose read acquires, or an mo at a location
//! that is only ever updated by such read-modify-writes. The other edges, the *breaks*, cut the cycle into *blocks*; within a block everything is ordered by
//! happens-before. With less than two breaks, the cycle contradicts coherence (`hb ; eco?` is irreflexive). It also cannot be if every block is *protected*:
//!
//! - It holds an sc fence. Then, under release/acquire, take the fences F and F′ of two blocks that follow each other, `F hb? c eco a hb? F′`:
//!   since fences are ordered by happens-before, and `F′ hb F` would contradict coherence, they are ordered as the cycle goes, round and round. Under C++20,
//!   `[Fs] ; hb ; eco ; hb ; [Fs]` is part of psc.
//! - Under C++20: all its steps `a po c` are between seq_cst accesses; these are in psc, and so is what leads from one to the next block's (or to its fence).
//! - It has no step `a po c` at all: then it is part of the conflicts around it, since eco is transitive.
//!
//! So a stale access is possible only on a cycle with an unprotected block. Cycles are looked for among instructions, over the locations that each may access,
//! whatever values are read; nothing that is possible is left out. Nonatomic locations are left out: where nothing races, their conflicts are
//! ordered by happens-before through other accesses, and races are looked for in any case.

use std::cell::Cell;

use palisade_lang::{Op, Order, PointId, Program, Relation, RmwAction, Thread, Value};
use rustc_hash::FxHashSet;

use super::facts::{Facts, Fences, constants, effective, locations};

/// With more instructions than this in all running threads, nothing is dismissed.
const MOST_INSTRUCTIONS: usize = 20_000;

/// With more kinds of accesses than this in one thread, nothing is dismissed either.
const MOST_ACCESSES: usize = 400;

/// So many partial cycles are looked at for one access; then it counts as lying on one.
const MOST_PARTIAL_CYCLES: usize = 400_000;

/// So many steps are taken for all accesses together; then each of the rest counts as lying on a cycle. With many threads that touch one location, a search for
/// cycles would take longer than the search that it is to spare.
const MOST_STEPS: usize = 1_000_000;

/// What an access is to a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct CycleAccess {
    place: usize,
    reads: bool,
    writes: bool,
    acquires: bool,
    releases: bool,
    seqcst: bool,
    /// It reads what the only write of the location has stored: no write comes behind that.
    last: bool,
}

/// From one access of a thread to a later one.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    /// There is a way without an sc fence.
    open: bool,
    /// There is a way with one.
    fenced: bool,
}

/// The accesses of a running thread.
#[derive(Clone, Debug, Default)]
struct Summary {
    accesses: Vec<CycleAccess>,
    /// By the numbers of two accesses.
    steps: Vec<Vec<Way>>,
}

/// What is dismissed.
#[derive(Debug)]
pub struct Critical {
    /// By running thread and place: whether an access of it may be stale. None where everything may.
    may_be_stale: Option<Vec<Vec<bool>>>,
    /// How many pairs of thread and place there are, and how many of them are dismissed.
    pub pairs: u64,
    /// See `pairs`.
    pub dismissed: u64,
}

impl Critical {
    /// Nothing is dismissed.
    pub fn everything() -> Self {
        Critical {
            may_be_stale: None,
            pairs: 0,
            dismissed: 0,
        }
    }

    /// Looks for cycles.
    pub fn new(program: &Program, facts: &Facts) -> Self {
        let Some(summaries) = summaries(program, facts) else {
            return Critical::everything();
        };
        let search = Search {
            only_updates: where_writes(facts, &summaries, |a| a.reads && a.acquires && a.releases),
            only_joined: where_writes(facts, &summaries, |a| a.reads),
            fence_place: (facts.fences == Fences::Updates).then(|| facts.fence_place()),
            summaries,
            steps: Cell::new(0),
        };
        let mut critical = Critical::everything();
        let mut table = Vec::new();
        for (thread, summary) in search.summaries.iter().enumerate() {
            // Threads with the same accesses have the same answers.
            let same = |other: &Summary| other.is_the_same(summary);
            let known = search.summaries[..thread].iter().position(same);
            let row = match known {
                Some(known) => {
                    let known: &Vec<bool> = &table[known];
                    known.clone()
                }
                None => {
                    let places = 0..facts.places;
                    places
                        .map(|place| search.may_be_stale(thread, place))
                        .collect()
                }
            };
            for (place, may) in row.iter().enumerate() {
                if summary.accesses.iter().any(|a| a.place == place) {
                    critical.pairs += 1;
                    critical.dismissed += u64::from(!may);
                }
            }
            table.push(row);
        }
        critical.may_be_stale = Some(table);
        critical
    }

    /// Whether an access of a place by a running thread may be stale.
    pub fn may_be_stale(&self, thread: usize, place: usize) -> bool {
        let table = self.may_be_stale.as_ref();
        table.is_none_or(|table| table[thread][place])
    }

    /// Whether no access of the program can be stale.
    pub fn all_dismissed(&self) -> bool {
        self.may_be_stale.is_some() && self.dismissed == self.pairs
    }
}

impl Summary {
    fn is_the_same(&self, other: &Summary) -> bool {
        let bits = |s: &Summary| -> Vec<(bool, bool)> {
            let all = s.steps.iter().flatten();
            all.map(|step| (step.open, step.fenced)).collect()
        };
        self.accesses == other.accesses && bits(self) == bits(other)
    }
}

/// For each place whether all writes are such.
fn where_writes(
    facts: &Facts,
    summaries: &[Summary],
    such: impl Fn(&CycleAccess) -> bool,
) -> Vec<bool> {
    let mut only = vec![true; facts.places];
    for access in summaries.iter().flat_map(|s| &s.accesses) {
        only[access.place] &= !access.writes || such(access);
    }
    only
}

fn summaries(program: &Program, facts: &Facts) -> Option<Vec<Summary>> {
    let instances = program.instances();
    let instructions = instances
        .iter()
        .map(|i| program.thread(i.thread).transitions.len());
    if instructions.sum::<usize>() > MOST_INSTRUCTIONS {
        return None;
    }
    let mut known: Vec<((usize, Option<u32>), Summary)> = Vec::new();
    let mut all = Vec::new();
    let only = only_stores(program);
    for instance in &instances {
        let code = instance.thread.index();
        let thread = &program.threads[code];
        let key = (code, thread.me.map(|_| instance.copy));
        let summary = match known.iter().find(|(other, _)| *other == key) {
            Some((_, summary)) => summary.clone(),
            None => {
                let summary = summary(program, facts, thread, key.1, &only)?;
                known.push((key, summary.clone()));
                summary
            }
        };
        all.push(summary);
    }
    Some(all)
}

/// None where there are too many accesses.
fn summary(
    program: &Program,
    facts: &Facts,
    thread: &Thread,
    me: Option<u32>,
    only: &[Option<Value>],
) -> Option<Summary> {
    let constants = constants(program, thread, me);
    let mut summary = Summary::default();
    // By transition: the numbers of the accesses that it may be.
    let mut numbers: Vec<Vec<usize>> = vec![Vec::new(); thread.transitions.len()];
    for (index, transition) in thread.transitions.iter().enumerate() {
        let Some(registers) = &constants[transition.from.index()] else {
            continue;
        };
        let places = match (&transition.op, transition.op.address()) {
            (Op::Fence(Order::SeqCst), _) if facts.fences == Fences::Updates => {
                vec![facts.fence_place()]
            }
            (_, Some(address)) => locations(program, address, registers),
            _ => continue,
        };
        let inside = thread.points[transition.from.index()].atomic;
        for place in places.into_iter().filter(|&p| facts.tracked[p].is_some()) {
            for mut access in accesses(program, facts, &transition.op, inside, place) {
                access.last = !inside && waits_for_only_store(program, &transition.op, only, place);
                let position = summary.accesses.iter().position(|a| *a == access);
                let number = position.unwrap_or_else(|| {
                    summary.accesses.push(access);
                    summary.accesses.len() - 1
                });
                numbers[index].push(number);
            }
            if summary.accesses.len() > MOST_ACCESSES {
                return None;
            }
        }
    }
    let count = summary.accesses.len();
    summary.steps = vec![vec![Way::default(); count]; count];
    for (index, transition) in thread.transitions.iter().enumerate() {
        if numbers[index].is_empty() {
            continue;
        }
        let reached = reached_from(thread, transition.to, &constants);
        for (later, transition) in thread.transitions.iter().enumerate() {
            let [open, fenced] = reached[transition.from.index()];
            for &a in &numbers[index] {
                for &c in &numbers[later] {
                    let step = &mut summary.steps[a][c];
                    step.open |= open;
                    step.fenced |= fenced;
                }
            }
        }
    }
    Some(summary)
}

/// By location: what it holds in the end, where it is stored to but once in every run (the start or the end of a thread, say), and that is not what it
/// held before.
fn only_stores(program: &Program) -> Vec<Option<Value>> {
    let mut written = vec![0usize; program.locations.len()];
    let mut only = vec![None; program.locations.len()];
    if program.is_parameterised() {
        return only;
    }
    for instance in program.instances() {
        let thread = program.thread(instance.thread);
        let all = constants(program, thread, thread.me.map(|_| instance.copy));
        for transition in &thread.transitions {
            let writes = matches!(transition.op, Op::Store { .. } | Op::Rmw { .. });
            let (Some(registers), true) = (&all[transition.from.index()], writes) else {
                continue;
            };
            let Some(address) = transition.op.address() else {
                continue;
            };
            for place in locations(program, address, registers) {
                written[place] += 1;
                only[place] = match &transition.op {
                    Op::Store { value, .. } => value.constant(program.domain),
                    _ => None,
                };
            }
            let again = reached_from(thread, transition.to, &all)[transition.from.index()];
            if again != [false; 2] {
                for place in locations(program, address, registers) {
                    only[place] = None;
                    written[place] = 2;
                }
            }
        }
    }
    for (place, only) in only.iter_mut().enumerate() {
        let initial = program.domain.reduce(program.locations[place].initial);
        if written[place] != 1 || *only == Some(initial) {
            *only = None;
        }
    }
    only
}

/// Whether an instruction reads what the only store to a location has stored there.
fn waits_for_only_store(program: &Program, op: &Op, only: &[Option<Value>], place: usize) -> bool {
    let Op::Wait {
        relation: Relation::Equal,
        value,
        ..
    } = op
    else {
        return false;
    };
    let awaited = value.constant(program.domain);
    awaited.is_some() && only.get(place).is_some_and(|only| *only == awaited)
}

/// For each point whether it is reached from another one without, and with, an sc fence on the way.
fn reached_from(
    thread: &Thread,
    from: PointId,
    possible: &[Option<Vec<Option<Value>>>],
) -> Vec<[bool; 2]> {
    let mut reached = vec![[false; 2]; thread.points.len()];
    let mut work = vec![(from, false)];
    while let Some((point, fenced)) = work.pop() {
        let seen = &mut reached[point.index()][usize::from(fenced)];
        if possible[point.index()].is_none() || std::mem::replace(seen, true) {
            continue;
        }
        for transition in thread.outgoing(point) {
            let fence = transition.op == Op::Fence(Order::SeqCst);
            work.push((transition.to, fenced || fence));
        }
    }
    reached
}

/// What an instruction may be at a place.
fn accesses(
    program: &Program,
    facts: &Facts,
    op: &Op,
    inside_block: bool,
    place: usize,
) -> Vec<CycleAccess> {
    let access = |reads: bool, writes: bool, order: Order| {
        let order = match facts.fences {
            Fences::Updates => Order::AcqRel,
            Fences::Fences => effective(program, place, order),
        };
        CycleAccess {
            place,
            reads,
            writes,
            acquires: reads && order.acquires(),
            releases: writes && order.releases(),
            seqcst: order == Order::SeqCst,
            last: false,
        }
    };
    match op {
        // A block is a read or a read-modify-write.
        _ if inside_block => vec![
            access(true, false, Order::AcqRel),
            access(true, true, Order::AcqRel),
        ],
        Op::Load { order, .. } | Op::Wait { order, .. } => vec![access(true, false, *order)],
        Op::Store { order, .. } => vec![access(false, true, *order)],
        Op::Fence(order) => vec![access(true, true, *order)],
        Op::Rmw { action, order, .. } => {
            let mut all = vec![access(true, true, *order)];
            if let RmwAction::CompareAndSwap { failure, .. } = action {
                all.push(access(true, false, *failure));
            }
            all
        }
        _ => Vec::new(),
    }
}

/// The block that a partial cycle is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Block {
    /// It holds an sc fence.
    fenced: bool,
    /// It has a step that is not between seq_cst accesses.
    open: bool,
}

/// A partial cycle: where it stands, and what it has met.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Partial {
    /// The threads that it has visited, the first one included.
    visited: Vec<u64>,
    thread: usize,
    /// The access by which it leaves the thread.
    access: usize,
    block: Block,
    /// A block that has ended is unprotected.
    unprotected: bool,
    /// There were two breaks.
    breaks: bool,
}

struct Search {
    summaries: Vec<Summary>,
    /// By place: every write is a read-modify-write that acquires and releases.
    only_updates: Vec<bool>,
    /// By place: every write is a read-modify-write.
    only_joined: Vec<bool>,
    /// The place of fences that are updates of it.
    fence_place: Option<usize>,
    /// How many steps were taken.
    steps: Cell<usize>,
}

impl Search {
    /// Whether an access of the place by a thread may leave a cycle with an unprotected block by mo or fr.
    fn may_be_stale(&self, first: usize, place: usize) -> bool {
        let accesses = &self.summaries[first].accesses;
        // Behind a write that only read-modify-writes follow, nothing can be put.
        let possible =
            |a: &CycleAccess| a.place == place && !a.last && !(a.writes && self.only_joined[place]);
        let ends: Vec<usize> = (0..accesses.len())
            .filter(|&access| possible(&accesses[access]))
            .collect();
        if ends.is_empty() {
            return false;
        }
        let mut seen: FxHashSet<Partial> = FxHashSet::default();
        let mut work: Vec<Partial> = Vec::new();
        for &end in &ends {
            // The edge that leaves the stale access is a break, whatever may be a link elsewhere: it does not go to what the access comes behind.
            let visited = vec![0u64; self.summaries.len().div_ceil(64)];
            let mut start = Partial {
                visited,
                thread: first,
                access: end,
                block: Block::default(),
                unprotected: false,
                breaks: false,
            };
            visit(&mut start.visited, first);
            for (thread, target) in self.conflicting(first, accesses[end]) {
                if self.summaries[thread].accesses[target].writes {
                    self.enter(&start, thread, target, Block::default(), &mut work);
                }
            }
        }
        while let Some(partial) = work.pop() {
            if seen.contains(&partial) {
                continue;
            }
            let enough = seen.len() >= MOST_PARTIAL_CYCLES || self.steps.get() >= MOST_STEPS;
            if enough || self.closes(&partial, first, &ends) {
                return true;
            }
            let access = self.summaries[partial.thread].accesses[partial.access];
            for (thread, target) in self.conflicting(partial.thread, access) {
                if has(&partial.visited, thread) {
                    continue;
                }
                for link in self.edges(access, self.summaries[thread].accesses[target]) {
                    let (block, after) = crossing(&partial, link);
                    self.enter(&after, thread, target, block, &mut work);
                }
            }
            seen.insert(partial);
        }
        false
    }

    /// The accesses of other threads that conflict with one.
    fn conflicting(
        &self,
        thread: usize,
        access: CycleAccess,
    ) -> impl Iterator<Item = (usize, usize)> + '_ {
        let others = self.summaries.iter().enumerate();
        others
            .filter(move |(other, _)| *other != thread)
            .flat_map(move |(other, summary)| {
                let accesses = summary.accesses.iter().enumerate();
                accesses
                    .filter(move |(_, a)| a.place == access.place && (a.writes || access.writes))
                    .map(move |(number, _)| (other, number))
            })
    }

    /// Which edges may lead from one access to a conflicting one: `true` for a link, `false` for a break.
    fn edges(&self, from: CycleAccess, to: CycleAccess) -> Vec<bool> {
        let mut edges = Vec::new();
        if from.writes && to.reads {
            edges.push(from.releases && to.acquires);
        }
        // mo, from a write; fr, from a read.
        if from.writes && to.writes {
            edges.push(self.only_updates[from.place]);
        }
        if from.reads && !from.writes && to.writes && !from.last {
            edges.push(false);
        }
        edges.dedup();
        edges
    }

    /// A partial cycle comes to a thread by one of its accesses, and leaves by the same or by a later one.
    fn enter(
        &self,
        before: &Partial,
        thread: usize,
        by: usize,
        block: Block,
        work: &mut Vec<Partial>,
    ) {
        let summary = &self.summaries[thread];
        let mut visited = before.visited.clone();
        visit(&mut visited, thread);
        self.steps.set(self.steps.get() + summary.accesses.len());
        for access in 0..summary.accesses.len() {
            for block in self.stepping(thread, by, access, block) {
                work.push(Partial {
                    visited: visited.clone(),
                    thread,
                    access,
                    block,
                    unprotected: before.unprotected,
                    breaks: before.breaks,
                });
            }
        }
    }

    /// The block behind a step from an access of a thread to the same or a later one, for each way that there is.
    fn stepping(&self, thread: usize, from: usize, to: usize, block: Block) -> Vec<Block> {
        let summary = &self.summaries[thread];
        let (a, c) = (summary.accesses[from], summary.accesses[to]);
        let at_fence = |access: CycleAccess| self.fence_place == Some(access.place);
        if from == to {
            return vec![Block {
                fenced: block.fenced || at_fence(a),
                ..block
            }];
        }
        // Two accesses of one location in a thread are a part of eco together with what is around them.
        if a.place == c.place {
            return Vec::new();
        }
        let Way { open, fenced } = summary.steps[from][to];
        let passes_fence = at_fence(a) || at_fence(c);
        let mut blocks = Vec::new();
        if fenced || open && passes_fence {
            blocks.push(Block {
                fenced: true,
                ..block
            });
        }
        if open && !passes_fence {
            blocks.push(Block {
                open: block.open || !(a.seqcst && c.seqcst),
                ..block
            });
        }
        blocks
    }

    /// Whether a partial cycle may come back to its first thread, by an access before the stale one, with what makes it possible.
    fn closes(&self, partial: &Partial, first: usize, ends: &[usize]) -> bool {
        let access = self.summaries[partial.thread].accesses[partial.access];
        let mut back = self.conflicting(partial.thread, access);
        back.any(|(thread, by)| {
            thread == first
                && self
                    .edges(access, self.summaries[first].accesses[by])
                    .into_iter()
                    .any(|link| {
                        let (block, after) = crossing(partial, link);
                        ends.iter().any(|&end| {
                            // The last step is by the stale access itself; where it is the access that the cycle comes back by, coherence forbids it.
                            by != end
                                && self
                                    .stepping(first, by, end, block)
                                    .into_iter()
                                    .any(|block| {
                                        after.breaks && (after.unprotected || is_unprotected(block))
                                    })
                        })
                    })
        })
    }
}

fn is_unprotected(block: Block) -> bool {
    block.open && !block.fenced
}

/// The block, and the partial cycle, behind an edge. The edge that leaves the stale access is the first break.
fn crossing(partial: &Partial, link: bool) -> (Block, Partial) {
    let mut after = partial.clone();
    if link {
        return (partial.block, after);
    }
    after.unprotected |= is_unprotected(partial.block);
    after.breaks = true;
    (Block::default(), after)
}

fn visit(set: &mut [u64], thread: usize) {
    set[thread / 64] |= 1 << (thread % 64);
}

fn has(set: &[u64], thread: usize) -> bool {
    set[thread / 64] >> (thread % 64) & 1 == 1
}
