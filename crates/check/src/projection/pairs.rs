//! Pairs of threads, beside which every third one does only what it can beside both.
//!
//! A location that one thread alone stores to belongs to that thread; those that several store to are *common*. A *view* is two threads with what belongs to them, and what is common. Three threads
//! may be there at once if each two of them are in a view with the same common part. Then one of them moves:
//!
//! - Two threads of which one moves are a view behind its step. Where it reads what belongs to a third one, that one must be there, too.
//! - Two threads beside a third one that stores to a common location are a view with the new common part.
//!
//! Nothing else changes a view. So all views that a run of the program comes by are found, and others, too (this is view abstraction with views of two: Abdulla, Haziza, Holík 2013, for
//! threads that are not alike). There are as many as pairs of states of threads, not as many as states of all threads.
//!
//! Where what a thread has announced must still be true of *some* thread while two others look elsewhere (Szymanski's waiting room), that says too little. With [`Sharing::All`] every
//! location is common: a view is two threads and all of memory, and only where the others stand is left out.

use std::cell::RefCell;
use std::rc::Rc;

use palisade_lang::LocationId;
use palisade_threads::LocalId;
use rustc_hash::FxHashMap;

use super::{Place, Projection};

/// So many times three threads are looked at together.
const MOST_TRIPLES: u64 = 1 << 28;

/// What views of two threads have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// The locations that several threads store to.
    Common,
    /// All locations.
    All,
}

/// Rows by number.
#[derive(Default)]
struct Rows {
    ids: FxHashMap<Rc<[u32]>, u32>,
    rows: Vec<Rc<[u32]>>,
}

impl Rows {
    fn number(&mut self, row: &[u32]) -> u32 {
        if let Some(&id) = self.ids.get(row) {
            return id;
        }
        let (id, row): (u32, Rc<[u32]>) = (self.rows.len() as u32, row.into());
        self.rows.push(row.clone());
        self.ids.insert(row, id);
        id
    }
}

/// To whom a location belongs.
#[derive(Clone, Copy)]
enum Belongs {
    /// To this thread, which keeps it there in its row.
    To(usize, usize),
    /// To all: its place in the common row. (Those that no thread stores to are there, too.)
    Common(usize),
}

/// For two threads, or for one and nothing: sets of numbers, 64 of them in a word.
#[derive(Default)]
struct Sets(FxHashMap<(u32, u32, u32, u32), u64>);

impl Sets {
    /// Whether it was not there yet.
    fn insert(&mut self, of: usize, common: u32, one: u32, other: u32) -> bool {
        let word = self
            .0
            .entry((of as u32, common, one, other / 64))
            .or_default();
        let bit = 1 << (other % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn word(&self, of: usize, common: u32, one: u32, block: u32) -> u64 {
        let word = self.0.get(&(of as u32, common, one, block));
        word.copied().unwrap_or(0)
    }
}

/// What a thread can do next.
struct Next {
    is_atomic: bool,
    /// Whatever other threads are: the common part and the thread behind the step.
    alone: Vec<(u32, u32)>,
    /// If that thread has this value in this place of its row: the thread behind the step.
    reading: Vec<(usize, usize, u32, u32)>,
    /// Other common parts behind a step.
    common: Vec<u32>,
}

impl Next {
    /// Whether its steps matter to two threads of which it is not one, or depend on a third one.
    fn concerns_others(&self) -> bool {
        !self.common.is_empty() || !self.reading.is_empty()
    }
}

/// Two threads, the first with the lower number; the common part, and what they are.
type View = (usize, usize, u32, u32, u32);

struct Pairs {
    threads: usize,
    belongs: Vec<Belongs>,
    common: Rows,
    parts: Vec<Rows>,
    next: FxHashMap<(usize, u32, u32), Rc<Next>>,
    /// For each two threads, the first with the lower number: the views that were found.
    found: Sets,
    /// For each thread and each other one: what that one may be beside it, in views that were looked at.
    beside: Sets,
    /// For each thread: what it is where its steps concern others.
    moving: Sets,
    work: Vec<View>,
}

impl Projection<'_, '_, '_> {
    /// Whether the places of no set are taken at once, as far as views tell.
    pub(super) fn in_pairs(&mut self, sets: &[Vec<Place>], sharing: Sharing) -> Option<()> {
        let threads = self.frame.thread_count();
        let of_two = sets.iter().all(|set| {
            let first = set.first().map(|place| place.0);
            let others = set.iter().filter(|place| Some(place.0) != first);
            let others: Vec<usize> = others.map(|place| place.0).collect();
            !others.iter().any(|&other| other != others[0])
        });
        if threads < 3 || !of_two {
            return None;
        }
        let mut pairs = self.begin(sharing);
        let mut triples = 0u64;
        while let Some(view) = pairs.work.pop() {
            self.count()?;
            if self.is_forbidden(&pairs, view, sets) {
                return None;
            }
            let (one, two, common, a, b) = view;
            pairs.beside.insert(one * threads + two, common, a, b);
            pairs.beside.insert(two * threads + one, common, b, a);
            let mut concern = false;
            for (thread, part) in [(one, a), (two, b)] {
                if self
                    .next(&mut pairs, (thread, part), common)?
                    .concerns_others()
                {
                    pairs.moving.insert(thread, common, 0, part);
                    concern = true;
                }
            }
            self.two_move(&mut pairs, (one, a), (two, b), common)?;
            self.two_move(&mut pairs, (two, b), (one, a), common)?;
            for third in (0..threads).filter(|&t| t != one && t != two) {
                for block in 0..=pairs.parts[third].rows.len() as u32 / 64 {
                    let mut all = pairs.beside.word(one * threads + third, common, a, block);
                    if all != 0 {
                        all &= pairs.beside.word(two * threads + third, common, b, block);
                    }
                    if all != 0 && !concern {
                        all &= pairs.moving.word(third, common, 0, block);
                    }
                    while all != 0 {
                        let c = block * 64 + all.trailing_zeros();
                        all &= all - 1;
                        triples += 1;
                        if triples > MOST_TRIPLES {
                            return None;
                        }
                        let of_three = [(one, a), (two, b), (third, c)];
                        for mover in 0..3 {
                            let (x, y) = (of_three[(mover + 1) % 3], of_three[(mover + 2) % 3]);
                            self.three_move(&mut pairs, of_three[mover], x, y, common)?;
                        }
                    }
                }
            }
        }
        Some(())
    }

    fn begin(&mut self, sharing: Sharing) -> Pairs {
        let threads = self.frame.thread_count();
        let mut parts: Vec<Rows> = Vec::new();
        let mut owned: Vec<Vec<usize>> = vec![Vec::new(); threads];
        let mut common = Vec::new();
        let mut belongs = Vec::new();
        for location in 0..self.possible.len() {
            let mut storing = (0..threads).filter(|&t| !self.stored[t][location].is_empty());
            belongs.push(match (storing.next(), storing.next()) {
                (Some(owner), None) if sharing == Sharing::Common => {
                    owned[owner].push(location);
                    // Where the thread stands comes first.
                    Belongs::To(owner, owned[owner].len())
                }
                _ => {
                    common.push(location);
                    Belongs::Common(common.len() - 1)
                }
            });
        }
        let memory = self.initial_memory();
        let mut all_common = Rows::default();
        let row: Vec<u32> = common.iter().map(|&l| memory[l]).collect();
        let common = all_common.number(&row);
        let mut starts: Vec<Vec<u32>> = Vec::new();
        for (thread, owned) in owned.iter().enumerate() {
            let mut rows = Rows::default();
            let mut ids = Vec::new();
            for local in self.view.initial(thread) {
                let values = owned.iter().map(|&l| memory[l]);
                let row: Vec<u32> = std::iter::once(local.0).chain(values).collect();
                ids.push(rows.number(&row));
            }
            starts.push(ids);
            parts.push(rows);
        }
        let mut pairs = Pairs {
            threads,
            belongs,
            common: all_common,
            parts,
            next: FxHashMap::default(),
            found: Sets::default(),
            beside: Sets::default(),
            moving: Sets::default(),
            work: Vec::new(),
        };
        for one in 0..threads {
            for two in one + 1..threads {
                for &a in &starts[one] {
                    for &b in &starts[two] {
                        pairs.add((one, a), (two, b), common);
                    }
                }
            }
        }
        pairs
    }

    fn is_forbidden(&mut self, pairs: &Pairs, view: View, sets: &[Vec<Place>]) -> bool {
        let (one, two, _, a, b) = view;
        let local = |thread: usize, id: u32| pairs.parts[thread].rows[id as usize][0];
        let (threads, locals) = ([one, two], [local(one, a), local(two, b)]);
        self.is_taken(&threads, sets, &locals)
    }

    /// What a thread can do next.
    fn next(
        &mut self,
        pairs: &mut Pairs,
        (thread, part): (usize, u32),
        common: u32,
    ) -> Option<Rc<Next>> {
        if let Some(known) = pairs.next.get(&(thread, common, part)) {
            return Some(known.clone());
        }
        let row = pairs.parts[thread].rows[part as usize].clone();
        let all = pairs.common.rows[common as usize].clone();
        let local = LocalId(row[0]);
        let code = self.frame.codes[thread];
        let mut next = Next {
            is_atomic: self.view.is_atomic(code, local),
            alone: Vec::new(),
            reading: Vec::new(),
            common: Vec::new(),
        };
        // What others have is not known: each location of theirs that is read is tried with each of its values.
        let read: RefCell<Vec<LocationId>> = RefCell::default();
        let belongs = pairs.belongs.clone();
        let known = |location: LocationId| match belongs[location.index()] {
            Belongs::To(owner, at) if owner == thread => Some(row[at]),
            Belongs::To(..) => {
                read.borrow_mut().push(location);
                None
            }
            Belongs::Common(at) => Some(all[at]),
        };
        let any = self.steps(thread, local, &known)?;
        let mut asked = read.take();
        asked.sort_unstable();
        asked.dedup();
        // Where a choice reads several of them, each may have any value.
        let one = match asked[..] {
            [location] => Some(location),
            _ => None,
        };
        let mut cases = Vec::new();
        match one {
            None => cases.push((None, any)),
            Some(location) => {
                for value in self.possible[location.index()].clone() {
                    let with = |l: LocationId| match l == location {
                        true => Some(value),
                        false => known(l),
                    };
                    cases.push((Some(value), self.steps(thread, local, &with)?));
                }
            }
        }
        for (value, steps) in cases {
            for (local, written) in steps {
                let (mut part, mut behind) = (row.to_vec(), all.to_vec());
                part[0] = local.0;
                if let Some((location, value)) = written {
                    match belongs[location.index()] {
                        Belongs::To(_, at) => part[at] = value,
                        Belongs::Common(at) => behind[at] = value,
                    }
                }
                let behind = pairs.common.number(&behind);
                let part = pairs.parts[thread].number(&part);
                let read = one.and_then(|location| match belongs[location.index()] {
                    Belongs::To(owner, at) => Some((owner, at)),
                    Belongs::Common(_) => None,
                });
                match (read, value) {
                    (Some((owner, at)), Some(value)) if written.is_none() => {
                        next.reading.push((owner, at, value, part));
                    }
                    _ => {
                        next.alone.push((behind, part));
                        if behind != common && !next.common.contains(&behind) {
                            next.common.push(behind);
                        }
                    }
                }
            }
        }
        let next = Rc::new(next);
        pairs.next.insert((thread, common, part), next.clone());
        Some(next)
    }

    /// One of two threads moves; nothing else matters.
    fn two_move(
        &mut self,
        pairs: &mut Pairs,
        mover: (usize, u32),
        other: (usize, u32),
        common: u32,
    ) -> Option<()> {
        if self.next(pairs, other, common)?.is_atomic {
            return Some(());
        }
        let next = self.next(pairs, mover, common)?;
        for &(behind, part) in &next.alone {
            pairs.add((mover.0, part), other, behind);
        }
        for &(owner, at, value, part) in &next.reading {
            if owner == other.0 && pairs.parts[owner].rows[other.1 as usize][at] == value {
                pairs.add((mover.0, part), other, common);
            }
        }
        Some(())
    }

    /// One of three threads moves: what becomes of the two others, and of it and the one whose locations it does not read.
    fn three_move(
        &mut self,
        pairs: &mut Pairs,
        mover: (usize, u32),
        x: (usize, u32),
        y: (usize, u32),
        common: u32,
    ) -> Option<()> {
        let next = self.next(pairs, mover, common)?;
        if !next.concerns_others() {
            return Some(());
        }
        if self.next(pairs, x, common)?.is_atomic || self.next(pairs, y, common)?.is_atomic {
            return Some(());
        }
        for &behind in &next.common {
            pairs.add(x, y, behind);
        }
        for &(owner, at, value, part) in &next.reading {
            for (read, other) in [(x, y), (y, x)] {
                if owner == read.0 && pairs.parts[owner].rows[read.1 as usize][at] == value {
                    pairs.add((mover.0, part), other, common);
                }
            }
        }
        Some(())
    }
}

impl Pairs {
    fn add(&mut self, x: (usize, u32), y: (usize, u32), common: u32) {
        let ((one, a), (two, b)) = if x.0 < y.0 { (x, y) } else { (y, x) };
        if self.found.insert(one * self.threads + two, common, a, b) {
            self.work.push((one, two, common, a, b));
        }
    }
}
