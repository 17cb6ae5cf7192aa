//! Where several processes walk together: each state belongs to one of them, by a hash of what it means, and the others send it there.
//!
//! Processes number things (local states, values) in the order in which they find them, so the same row means something else in another process. Each tells the others what its
//! new numbers stand for, once, and everybody puts its own numbers in place of those that come. What belongs together so is the state, not the row:
//! which process has it, which is the least of several findings, and which step leads there is decided by what rows mean.
//!
//! A level is expanded in *turns*, each of some thousand states, so that what is on its way does not need much memory. After each turn, states are exchanged.

use super::{BATCH, Engine, Walker, lock};
use crate::any::{AnySpace, AnyWorker, Expand};
use crate::best::{Best, keep_best};
use crate::hosts::{Batch, Hosts, Lost, WaitLimit};
use crate::levels::{Span, shard_of};
use crate::names::{Names, Numbers};
use crate::pack::{Layout, bits_of, factor, hash_of};
use crate::path::{Found, Targets, step_to};
use crate::space::{Emitted, Successors};
use crate::walk::{Limits, Reason, Stats};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// States that a process expands in a turn, about.
const TURN: i64 = 1 << 15;
/// Numbers of rows that are sent at once.
const PARCEL: usize = 1 << 14;
/// How much longer than its own time limit a process waits for what the others say about it.
const GRACE: Duration = Duration::from_secs(10);

/// What a batch is.
mod kind {
    /// What new numbers stand for.
    pub(super) const TOLD: u64 = 1;
    /// States.
    pub(super) const STATES: u64 = 2;
    /// What everybody says in each round: what the round is for, why it has stopped (or 0), and more.
    pub(super) const SUMMARY: u64 = 3;
    /// The best findings.
    pub(super) const FINDINGS: u64 = 4;
    /// The best steps to rows.
    pub(super) const STEPS: u64 = 5;
}

/// What a round is for.
mod purpose {
    /// States of a turn.
    pub(super) const TURN: u64 = 1;
    /// Whether there is another level.
    pub(super) const LEVEL: u64 = 2;
    /// Whether all can go on in some way.
    pub(super) const AGREE: u64 = 3;
    /// What has come out.
    pub(super) const CONCLUDE: u64 = 4;
    /// The way to a finding.
    pub(super) const WAY: u64 = 5;
}

/// The part of a walk that has to do with other processes.
pub(crate) struct Spread<'a> {
    hosts: &'a Hosts,
    names: Box<dyn Names + 'a>,
    wait_limit: WaitLimit<'a>,
    /// Something that is different for walks of other spaces.
    signature: u64,
    numbers: Vec<Numbers>,
    /// For each component, what a number's hash is multiplied with.
    factors: Vec<u64>,
    dictionary: Mutex<Dictionary>,
    /// How many states may be expanded before the others are heard.
    turn: AtomicI64,
}

/// What numbers stand for.
struct Dictionary {
    /// For each table, how many of its numbers the others know.
    told: Vec<u32>,
    /// For each process and table, our numbers in place of theirs.
    theirs: Vec<Vec<Vec<u32>>>,
}

/// What all processes together have.
pub(super) struct All {
    /// States of the level that comes next.
    pub(super) new: u64,
    pub(super) states: u64,
    /// Something was found.
    pub(super) found: bool,
    /// A checkpoint is due.
    pub(super) due: bool,
    /// All of them stop.
    pub(super) stopped: bool,
}

/// Rows that are about to be sent to other processes. Each walking thread has its own.
#[derive(Default)]
pub(super) struct Away {
    /// For each process.
    rows: Vec<Vec<u32>>,
    row: Vec<u32>,
    /// For each table, the hashes of what its numbers stand for.
    hashes: Vec<Vec<u64>>,
}

impl Away {
    /// Whether a packed row belongs to this process. Otherwise it is on its way.
    pub(super) fn keeps(&mut self, spread: &Spread<'_>, layout: &Layout, words: &[u64]) -> bool {
        let mut row = std::mem::take(&mut self.row);
        row.resize(layout.width(), 0);
        layout.unpack(words, &mut row);
        let owner = self.owner(spread, &row);
        let is_own = owner == spread.hosts.process();
        if !is_own {
            self.rows.resize_with(spread.hosts.processes(), Vec::new);
            let rows = &mut self.rows[owner];
            rows.extend_from_slice(&row);
            if rows.len() >= PARCEL {
                spread.send_rows(owner, rows);
                rows.clear();
            }
        }
        self.row = row;
        is_own
    }

    /// Whether a row belongs to this process.
    pub(super) fn is_own(&mut self, spread: &Spread<'_>, row: &[u32]) -> bool {
        self.owner(spread, row) == spread.hosts.process()
    }

    /// The process that a row belongs to, by a hash of what it means.
    #[inline]
    fn owner(&mut self, spread: &Spread<'_>, row: &[u32]) -> usize {
        self.hashes.resize_with(spread.names.tables(), Vec::new);
        let mut key: u64 = 0;
        for ((&number, numbers), factor) in (row.iter().zip(&spread.numbers)).zip(&spread.factors) {
            let hash = match *numbers {
                Numbers::Plain => u64::from(number),
                Numbers::Of(table) => hash_in(&mut self.hashes, spread, table, number),
                Numbers::OneMoreThan(table) => match number.checked_sub(1) {
                    Some(number) => hash_in(&mut self.hashes, spread, table, number),
                    None => 0,
                },
            };
            key = key.wrapping_add(hash.wrapping_mul(*factor));
        }
        let processes = spread.hosts.processes();
        ((u128::from(hash_of(key)) * processes as u128) >> u64::BITS) as usize
    }

    /// Sends what is left.
    pub(super) fn flush(&mut self, spread: &Spread<'_>) {
        for (to, rows) in self.rows.iter_mut().enumerate() {
            if !rows.is_empty() {
                spread.send_rows(to, rows);
                rows.clear();
            }
        }
    }
}

/// The hash of what a number stands for.
#[inline]
fn hash_in(hashes: &mut [Vec<u64>], spread: &Spread<'_>, table: usize, number: u32) -> u64 {
    let known = &mut hashes[table];
    while known.len() <= number as usize {
        let mut meaning = Vec::new();
        spread.names.spell(table, known.len() as u32, &mut meaning);
        let hash = meaning.iter().fold(1, |hash: u64, &number| {
            hash_of(hash.wrapping_mul(31).wrapping_add(number as u64))
        });
        known.push(hash);
    }
    known[number as usize]
}

/// Rows in as few bits as they need.
pub(super) fn pack_rows(rows: &[u32], width: usize) -> Vec<u64> {
    let mut most = vec![0; width];
    for row in rows.chunks_exact(width) {
        for (most, &number) in most.iter_mut().zip(row) {
            *most |= number;
        }
    }
    let bits: Vec<u32> = most.iter().map(|&number| bits_of(number)).collect();
    let layout = Layout::new(&bits);
    let mut out: Vec<u64> = bits
        .chunks(8)
        .map(|some| {
            some.iter()
                .rev()
                .fold(0, |word, &bits| word << 8 | u64::from(bits))
        })
        .collect();
    for row in rows.chunks_exact(width) {
        let start = out.len();
        out.resize(start + layout.words(), 0);
        // It was made to fit.
        let _ = layout.pack(row, &mut out[start..]);
    }
    out
}

/// The rows that [`pack_rows`] has packed.
pub(super) fn unpack_rows(
    words: &[u64],
    width: usize,
    mut visit: impl FnMut(&mut [u32]),
) -> Result<(), Lost> {
    let head = width.div_ceil(8);
    let packed = words.get(head..).ok_or(Lost)?;
    let bits: Vec<u32> = (0..width)
        .map(|i| (words[i / 8] >> (i % 8 * 8) & 0xff) as u32)
        .collect();
    if bits.iter().any(|&bits| bits > u32::BITS) {
        return Err(Lost);
    }
    let layout = Layout::new(&bits);
    let mut row = vec![0; width];
    for words in packed.chunks_exact(layout.words()) {
        layout.unpack(words, &mut row);
        visit(&mut row);
    }
    Ok(())
}

/// Puts our numbers into another process's row, in place of `theirs`.
pub(super) fn translate(
    theirs: &[Vec<u32>],
    numbers: &[Numbers],
    names: &dyn Names,
    row: &mut [u32],
) -> Result<(), Lost> {
    let ours = |table: usize, number: u32| theirs[table].get(number as usize).copied();
    for (number, numbers) in row.iter_mut().zip(numbers) {
        *number = match *numbers {
            Numbers::Plain => *number,
            Numbers::Of(table) => ours(table, *number).ok_or(Lost)?,
            Numbers::OneMoreThan(table) => match number.checked_sub(1) {
                Some(number) => ours(table, number).ok_or(Lost)? + 1,
                None => 0,
            },
        };
    }
    names.arrange(row);
    Ok(())
}

/// One of the numbers of a batch.
fn word(words: &[u64], at: usize) -> u64 {
    words.get(at).copied().unwrap_or(0)
}

impl<'a> Spread<'a> {
    /// Where a walk is to be spread, and its space can be.
    pub(super) fn new(space: AnySpace<'a>, limits: &Limits<'a>) -> Option<Spread<'a>> {
        let hosts = limits.hosts.filter(|hosts| hosts.processes() > 1)?;
        let names = space.names()?;
        let width = space.width();
        let end = limits.timeout.map(|timeout| timeout + GRACE);
        let wait_limit = WaitLimit {
            cancel: limits.cancel,
            deadline: end.and_then(|end| Instant::now().checked_add(end)),
        };
        let mut hasher = DefaultHasher::new();
        (space.kind, width, limits.question).hash(&mut hasher);
        let signature = hasher.finish();
        let tables = names.tables();
        // What goes wrong here is noticed in the first round.
        let meeting = WaitLimit {
            deadline: limits
                .timeout
                .and_then(|end| Instant::now().checked_add(end)),
            ..wait_limit
        };
        let _ = hosts.join(signature, meeting);
        Some(Spread {
            hosts,
            wait_limit,
            signature,
            numbers: (0..width).map(|i| names.numbers(i)).collect(),
            factors: (0..width).map(|i| factor(names.place(i))).collect(),
            dictionary: Mutex::new(Dictionary {
                told: vec![0; tables],
                theirs: vec![vec![Vec::new(); tables]; hosts.processes()],
            }),
            names,
            turn: AtomicI64::new(TURN),
        })
    }

    fn width(&self) -> usize {
        self.numbers.len()
    }

    /// What numbers stand for.
    pub(super) fn names(&self) -> &dyn Names {
        &*self.names
    }

    /// The number of this process.
    pub(super) fn process(&self) -> usize {
        self.hosts.process()
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let process = self.hosts.process();
        (0..self.hosts.processes()).filter(move |&other| other != process)
    }

    fn send_to_all(&self, kind: u64, words: &[u64]) {
        self.others()
            .for_each(|to| self.hosts.send(to, kind, words.to_vec()));
    }

    fn send_rows(&self, to: usize, rows: &[u32]) {
        let words = pack_rows(rows, self.width());
        self.hosts.send(to, kind::STATES, words);
    }

    /// Tells the others what numbers stand for that are new to them.
    fn tell(&self) {
        let mut dictionary = lock(&self.dictionary);
        let mut words = Vec::new();
        let mut meaning = Vec::new();
        for (table, told) in dictionary.told.iter_mut().enumerate() {
            let count = self.names.count(table);
            for number in *told..count {
                meaning.clear();
                self.names.spell(table, number, &mut meaning);
                words.extend([table as u64, meaning.len() as u64]);
                words.extend(meaning.iter().map(|&number| number as u64));
            }
            *told = count;
        }
        if !words.is_empty() {
            self.send_to_all(kind::TOLD, &words);
        }
    }

    /// Learns what another process's numbers stand for.
    fn learn(&self, from: usize, mut words: &[u64]) -> Result<(), Lost> {
        let mut dictionary = lock(&self.dictionary);
        let theirs = dictionary.theirs.get_mut(from).ok_or(Lost)?;
        while let [table, length, rest @ ..] = words {
            let (meaning, rest) = rest.split_at_checked(*length as usize).ok_or(Lost)?;
            let meaning: Vec<i64> = meaning.iter().map(|&word| word as i64).collect();
            let table = *table as usize;
            let ours = self.names.number(table, &meaning).ok_or(Lost)?;
            theirs.get_mut(table).ok_or(Lost)?.push(ours);
            words = rest;
        }
        Ok(())
    }

    /// Rows of other processes in a batch, in our numbers.
    fn translate_rows(
        &self,
        batch: &Batch,
        rows: &[u64],
        mut visit: impl FnMut(&[u32]),
    ) -> Result<(), Lost> {
        let dictionary = lock(&self.dictionary);
        let theirs = dictionary.theirs.get(batch.from).ok_or(Lost)?;
        let mut known = Ok(());
        unpack_rows(rows, self.width(), |row| {
            match translate(theirs, &self.numbers, &*self.names, row) {
                Ok(()) => visit(row),
                Err(Lost) => known = Err(Lost),
            }
        })?;
        known
    }

    /// A round: what this process says in it, and what all say, by their numbers, and everything else that was sent.
    fn round(
        &self,
        purpose: u64,
        stopped: Option<Reason>,
        says: &[u64],
    ) -> Result<(Vec<Vec<u64>>, Vec<Batch>), Lost> {
        self.tell();
        let mut words = vec![
            self.signature.wrapping_add(purpose),
            stopped.map_or(0, Reason::code).into(),
        ];
        words.extend(says);
        self.send_to_all(kind::SUMMARY, &words);
        let batches = self.hosts.round(self.wait_limit)?;
        let mut all = vec![Vec::new(); self.hosts.processes()];
        let mut others = Vec::new();
        let own = words[0];
        all[self.hosts.process()] = words;
        let heard: Result<(), Lost> = batches.into_iter().try_for_each(|batch| {
            match batch.kind {
                kind::TOLD => self.learn(batch.from, &batch.words)?,
                kind::SUMMARY => *all.get_mut(batch.from).ok_or(Lost)? = batch.words,
                _ => others.push(batch),
            }
            Ok(())
        });
        let alike = all.iter().all(|words| word(words, 0) == own);
        if heard.is_err() || !alike {
            return Err(self.give_up());
        }
        Ok((all, others))
    }

    /// What was heard makes no sense.
    fn give_up(&self) -> Lost {
        self.hosts
            .give_up("another process does something else, or has ended".into());
        Lost
    }

    /// Why all of them stop, if they do: the reason of the first that does.
    fn reason(all: &[Vec<u64>]) -> Option<Reason> {
        all.iter()
            .find_map(|words| Reason::of_code(word(words, 1) as u8))
    }

    /// What has come out of the walk for all of them together.
    pub(crate) fn conclude(
        &self,
        space: AnySpace<'_>,
        worker: Option<&mut AnyWorker<'_>>,
        stats: &mut Stats,
        best: &mut HashMap<u64, Best>,
        stopped: &mut Option<Reason>,
    ) {
        if let Err(Lost) = self.try_to_conclude(space, worker, stats, best, stopped) {
            stopped.get_or_insert(Reason::Hosts);
            best.clear();
        }
    }

    fn try_to_conclude(
        &self,
        space: AnySpace<'_>,
        worker: Option<&mut AnyWorker<'_>>,
        stats: &mut Stats,
        best: &mut HashMap<u64, Best>,
        stopped: &mut Option<Reason>,
    ) -> Result<(), Lost> {
        for (&kind, best) in best.iter() {
            let mut words = vec![kind, best.level, best.step.is_some().into()];
            words.extend(pack_rows(&best.row, self.width()));
            self.send_to_all(kind::FINDINGS, &words);
        }
        let noticed = self.names.noticed();
        let flags = (noticed.iter().enumerate()).fold(0, |flags, (i, flag)| {
            flags | u64::from(flag.load(Relaxed)) << (i % 64)
        });
        let says = [
            stats.states,
            stats.transitions,
            stats.levels,
            stats.peak_memory_bytes,
            flags,
        ];
        let (all, batches) = self.round(purpose::CONCLUDE, *stopped, &says)?;
        let sum = |at: usize| all.iter().map(|words| word(words, at)).sum();
        let most = |at: usize| all.iter().map(|words| word(words, at)).max().unwrap_or(0);
        *stats = Stats {
            states: sum(2),
            transitions: sum(3),
            levels: most(4),
            peak_memory_bytes: most(5),
        };
        *stopped = Spread::reason(&all);
        for (i, flag) in noticed.into_iter().enumerate() {
            let set = |words: &Vec<u64>| word(words, 6) >> (i % 64) & 1 == 1;
            flag.store(all.iter().any(set), Relaxed);
        }
        // A step's label may say at which place of a row a thread stands, and that may be another one here.
        let mut labels = StepsOf::new(space, worker.map(|worker| &mut **worker as &mut dyn Expand));
        for batch in batches.iter().filter(|batch| batch.kind == kind::FINDINGS) {
            let [kind, level, is_step, rows @ ..] = &batch.words[..] else {
                return Err(self.give_up());
            };
            self.translate_rows(batch, rows, |row| {
                let new = Best {
                    level: *level,
                    row: row.into(),
                    step: (*is_step != 0).then(|| labels.least(row, *kind)),
                };
                keep_best(best, *kind, new, space);
            })
            .map_err(|_| self.give_up())?;
        }
        Ok(())
    }

    /// The best steps to some rows, of those that all processes have found in their parts of a level.
    pub(crate) fn best_steps(
        &self,
        space: AnySpace<'_>,
        worker: &mut AnyWorker<'_>,
        targets: &Targets,
        found: Result<Found, Reason>,
    ) -> Result<Found, Reason> {
        let stopped = found.as_ref().err().copied();
        let mut found = found.unwrap_or_else(|_| vec![None; targets.len()]);
        for (target, found) in found.iter().enumerate() {
            if let Some((row, _)) = found {
                let mut words = vec![target as u64];
                words.extend(pack_rows(row, self.width()));
                self.send_to_all(kind::STEPS, &words);
            }
        }
        let lost = |_| Reason::Hosts;
        let (all, batches) = self.round(purpose::WAY, stopped, &[]).map_err(lost)?;
        if let Some(reason) = Spread::reason(&all) {
            return Err(reason);
        }
        for batch in batches.iter().filter(|batch| batch.kind == kind::STEPS) {
            let [target, rows @ ..] = &batch.words[..] else {
                return Err(lost(self.give_up()));
            };
            let target = *target as usize;
            let Some(best) = found.get_mut(target) else {
                return Err(lost(self.give_up()));
            };
            self.translate_rows(batch, rows, |row| {
                let better = |(best, _): &(Box<[u32]>, u64)| space.compare(row, best).is_lt();
                if best.as_ref().is_none_or(better)
                    && let Some(label) = step_to(space, worker, row, &targets[target])
                {
                    *best = Some((row.into(), label));
                }
            })
            .map_err(|_| lost(self.give_up()))?;
        }
        Ok(found)
    }
}

/// Finds the labels of faulty steps.
pub(super) struct StepsOf<'s, 'w> {
    space: AnySpace<'s>,
    worker: Option<&'w mut (dyn Expand + 'w)>,
    emitted: Emitted,
    layout: Layout,
}

impl<'s, 'w> StepsOf<'s, 'w> {
    pub(super) fn new(space: AnySpace<'s>, worker: Option<&'w mut (dyn Expand + 'w)>) -> Self {
        StepsOf {
            space,
            worker,
            emitted: Emitted::that_keeps(),
            layout: Layout::unused(space.width()),
        }
    }

    /// The least label of a step from this row that is such a finding.
    pub(super) fn least(&mut self, row: &[u32], kind: u64) -> u64 {
        let Some(worker) = &mut self.worker else {
            return 0;
        };
        let mut out = Successors::new(row, &[], 0, &self.layout, &mut self.emitted);
        worker.expand(row, &mut out);
        let reports = self.emitted.reports.iter();
        let steps = reports.filter(|report| report.kind == kind);
        steps
            .filter_map(|report| report.step)
            .min_by(|&a, &b| self.space.compare_steps(row, a, b))
            .unwrap_or(0)
    }
}

impl Engine<'_> {
    /// Whether more states may be expanded before others are heard.
    #[inline]
    pub(super) fn has_turn(&self) -> bool {
        (self.spread.as_ref()).is_none_or(|spread| spread.turn.load(Relaxed) > 0)
    }

    #[inline]
    pub(super) fn count_turn(&self, states: u64) {
        if let Some(spread) = &self.spread {
            spread.turn.fetch_sub(states as i64, Relaxed);
        }
    }

    /// What is true of all processes between two levels; these states of the next one are here.
    pub(super) fn all_together(&self, spans: &[Span], due: bool) -> All {
        let new = spans.iter().map(|span| span.range.len() as u64).sum();
        self.all_of(new, due)
    }

    /// The same, with so many states of the next level.
    pub(super) fn all_of(&self, new: u64, due: bool) -> All {
        let states = self.states.load(Relaxed);
        let found = !lock(&self.best).is_empty();
        let alone = All {
            new,
            states,
            found,
            due,
            stopped: self.stopped().is_some(),
        };
        let Some(spread) = &self.spread else {
            return alone;
        };
        let says = [new, states, found.into(), due.into()];
        match spread.round(purpose::LEVEL, self.stopped(), &says) {
            Ok((all, _)) => {
                self.stop_with(&all);
                let sum = |at: usize| all.iter().map(|words| word(words, at)).sum();
                All {
                    new: sum(2),
                    states: sum(3),
                    found: sum(4) > 0,
                    // The first process has the clock.
                    due: word(&all[0], 5) != 0,
                    stopped: self.stopped().is_some(),
                }
            }
            Err(Lost) => {
                self.stop(Reason::Hosts);
                All {
                    stopped: true,
                    ..alone
                }
            }
        }
    }

    /// Whether a walk ends here. What only this process knows (it has just run out of memory, say) the others hear of after their turn.
    pub(super) fn ends(&self, all: &All) -> bool {
        match self.spread {
            None => self.stopped().is_some(),
            Some(_) => all.stopped,
        }
    }

    /// Whether this is true of all processes.
    pub(super) fn all_agree(&self, is_so: bool) -> bool {
        let Some(spread) = &self.spread else {
            return is_so;
        };
        match spread.round(purpose::AGREE, None, &[is_so.into()]) {
            Ok((all, _)) => all.iter().all(|words| word(words, 2) != 0),
            Err(Lost) => false,
        }
    }

    /// All stop for the same reason.
    fn stop_with(&self, all: &[Vec<u64>]) {
        if let Some(reason) = Spread::reason(all) {
            self.stop.store(reason.code(), Relaxed);
            self.pause.store(true, Relaxed);
        }
    }

    /// Ends a turn: what others have sent is inserted. Whether some process has more to expand in this level, this one, perhaps; and no process stops.
    pub(super) fn exchange(
        &self,
        spread: &Spread<'_>,
        leader: &mut Walker<'_>,
        more: bool,
    ) -> bool {
        let round = spread.round(purpose::TURN, self.stopped(), &[more.into()]);
        spread.turn.store(TURN, Relaxed);
        let Ok((all, batches)) = round else {
            self.stop(Reason::Hosts);
            return false;
        };
        self.stop_with(&all);
        if self.stopped().is_some() {
            return false;
        }
        for batch in batches {
            if batch.kind == kind::STATES && self.insert_foreign(spread, leader, &batch).is_err() {
                spread.give_up();
                self.stop(Reason::Hosts);
                return false;
            }
        }
        self.insert_rest(&mut leader.sender);
        all.iter().any(|words| word(words, 2) != 0)
    }

    /// Inserts states that another process has found.
    fn insert_foreign(
        &self,
        spread: &Spread<'_>,
        leader: &mut Walker<'_>,
        batch: &Batch,
    ) -> Result<(), Lost> {
        let sender = &mut leader.sender;
        spread.translate_rows(batch, &batch.words, |row| self.insert_row(sender, row))
    }

    /// Inserts a row that is not packed yet. Without memory, the walk stops.
    pub(super) fn insert_row(&self, sender: &mut super::Sender, row: &[u32]) {
        let mut record = std::mem::take(&mut sender.record);
        // Without memory, the walk has stopped; but in this turn no process knows.
        loop {
            let layout = Arc::clone(&self.read_task().layout);
            record.clear();
            record.resize(layout.words() + 1, 0);
            if let Some(key) = layout.pack(row, &mut record[1..]) {
                record[0] = hash_of(key);
                break;
            }
            // What waits is packed as before.
            self.insert_rest(sender);
            let large = |(component, &number): (usize, &u32)| {
                let fits = layout.fits(component, number);
                if fits { 0 } else { number }
            };
            let too_large: Vec<u32> = row.iter().enumerate().map(large).collect();
            self.note_too_large(&too_large);
            if self.widen().is_err() {
                sender.record = record;
                return;
            }
        }
        let shard = shard_of(record[0]);
        sender.outgoing.push(shard, &record);
        if sender.outgoing.records[shard].len() >= BATCH * record.len()
            && self.flush_shard(sender, shard).is_err()
        {
            self.stop(Reason::Memory);
        }
        sender.record = record;
    }
}
