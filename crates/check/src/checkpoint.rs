//! Checkpoints: what a check has found out so far, so that another process can go on with it.
//!
//! Most of the time of a check is spent in walks, one after the other. A checkpoint has what came out of the walks that are over, and the walk
//! that is under way as it stood between two levels. A check that goes on asks the same question again: walks that are over are answered from the
//! checkpoint, the next one goes on where it stood, and what happens between walks is done again, with the same outcome. So verdict, runs and statistics
//! (but for time and memory) are what they would have been.

use std::hash::{Hash, Hasher};
use std::io::{ErrorKind, Read, Result, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use web_time::{Duration, Instant};

use palisade_explore::{Keeper, Outcome, Reason, Space, read_number, write_number};
use palisade_lang::Program;
use rustc_hash::FxHasher;

use crate::symmetry::Symmetry;

/// Writing takes at most this part of the time.
const SHARE: u32 = 10;

/// Where checkpoints go: it is called with what writes one.
pub type Sink = Box<dyn FnMut(&mut dyn FnMut(&mut dyn Write) -> Result<()>) + Send>;

/// Keeps what is needed to go on with a check, and has it from an earlier one.
pub struct Checkpoints(Mutex<State>);

struct State {
    sink: Sink,
    /// Of several processes: this makes the parts that all have written count. Without it, a checkpoint is whole.
    settle: Option<Box<dyn FnMut() + Send>>,
    /// How many processes there are.
    processes: u64,
    /// Which checkpoint of several processes came last.
    generation: u64,
    every: Duration,
    due: Instant,
    /// What came out of the walks that are over, each with what its numbers stand for.
    finished: Vec<Vec<u8>>,
    /// How many walks have begun.
    begun: usize,
    /// Where the walk that was under way is written: whole, or its parts.
    under_way: Vec<Box<dyn Read + Send>>,
    in_parts: bool,
    /// Something was found in what was kept that no search writes.
    damaged: bool,
}

impl std::fmt::Debug for Checkpoints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Checkpoints")
    }
}

/// Where a walk begins.
pub(crate) enum From<'a> {
    /// At its initial states.
    Beginning,
    /// Where it was written down.
    Whole(&'a mut dyn Read),
    /// Where several processes have each written down a part.
    Parts(Vec<Box<dyn Read + Send>>),
}

/// A space whose rows can be understood by another process.
pub(crate) trait Kept: Space {
    /// The program whose states these are.
    fn program(&self) -> &Program;

    /// Appends what the numbers in rows stand for, and what was noticed beside the findings.
    fn keep(&self, out: &mut Vec<i64>);

    /// Makes it so again; `None` where that cannot be.
    fn recall(&self, numbers: &mut dyn Iterator<Item = i64>) -> Option<()>;

    /// Why a state that was not said to be a violation may be one all the same.
    fn doubt(&self) -> Option<&'static str> {
        None
    }

    /// The exchanges of threads after which a state is as good as before, where the space leaves them to others.
    fn symmetry(&self) -> Option<Symmetry<'_, '_>> {
        None
    }
}

/// Keeps whether things were noticed.
pub(crate) fn keep_flags(flags: &[&AtomicBool], out: &mut Vec<i64>) {
    out.extend(flags.iter().map(|flag| i64::from(flag.load(Relaxed))));
}

/// Makes it so again.
pub(crate) fn recall_flags(
    flags: &[&AtomicBool],
    numbers: &mut dyn Iterator<Item = i64>,
) -> Option<()> {
    for flag in flags {
        flag.store(numbers.next()? != 0, Relaxed);
    }
    Some(())
}

impl Checkpoints {
    /// Has checkpoints written now and then: when so much time has passed, and when a limit stops a walk.
    pub fn new(every: Duration, sink: Sink) -> Self {
        Checkpoints(Mutex::new(State {
            sink,
            settle: None,
            processes: 1,
            generation: 0,
            every,
            due: Instant::now() + every,
            finished: Vec::new(),
            begun: 0,
            under_way: Vec::new(),
            in_parts: false,
            damaged: false,
        }))
    }

    /// Goes on from what was written to the sink of a check that asked the same question. Nothing may have been asked yet.
    pub fn resume(&self, mut source: Box<dyn Read + Send>) -> Result<()> {
        let mut state = self.lock();
        let mut finished = Vec::new();
        for _ in 0..read_number(&mut source)? {
            finished.push(read_part(&mut source)?);
        }
        state.finished = finished;
        state.under_way = vec![source];
        Ok(())
    }

    /// This is one of several processes: what the sink is given is its part, which counts when `settle` is called. A part begins with the number of processes, and with
    /// a number that is the same for parts that belong together, and larger for later ones.
    pub fn write_parts(&self, processes: usize, settle: Box<dyn FnMut() + Send>) {
        let mut state = self.lock();
        state.processes = processes as u64;
        state.settle = Some(settle);
    }

    /// With which numbers a part begins: that of the processes, and the one that parts have in common which belong together.
    pub fn beginning_of_part(source: &mut dyn Read) -> Result<(u64, u64)> {
        Ok((read_number(source)?, read_number(source)?))
    }

    /// Goes on from all parts of what several processes have written, each behind its [beginning](Self::beginning_of_part). One of them, `own`, says what came out of the
    /// walks that are over: that is the same in all. Parts that are written from now on have a larger number than `generation`.
    pub fn resume_parts(
        &self,
        sources: Vec<Box<dyn Read + Send>>,
        own: usize,
        generation: u64,
    ) -> Result<()> {
        let mut state = self.lock();
        state.generation = generation;
        for (number, mut source) in sources.into_iter().enumerate() {
            let mut finished = Vec::new();
            for _ in 0..read_number(&mut source)? {
                finished.push(read_part(&mut source)?);
            }
            if number == own {
                state.finished = finished;
            }
            state.under_way.push(source);
        }
        state.in_parts = true;
        Ok(())
    }

    /// Whether something was found in what was kept that no search writes. Then there is no answer.
    pub fn is_damaged(&self) -> bool {
        self.lock().damaged
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What comes out of a walk over a space: what came out of it, or what `walk` comes to, which is given where to go on, if there is such a place. `together` says
    /// whether several processes do it, each a part.
    pub(crate) fn run<S: Kept>(
        &self,
        space: &S,
        together: bool,
        walk: impl FnOnce(Option<&mut dyn Keeper>, From<'_>) -> Outcome,
    ) -> Outcome {
        let mut state = self.lock();
        let number = state.begun;
        state.begun += 1;
        if let Some(record) = state.finished.get(number) {
            match recall(space, record) {
                Ok(outcome) => return outcome,
                // What was kept is about another walk, and so is everything behind it.
                Err(Misfit::Other) => {
                    state.finished.truncate(number);
                    state.under_way.clear();
                }
                Err(Misfit::Damaged) => {
                    state.damaged = true;
                    return Outcome::damaged(space.width());
                }
            }
        }
        let mut sources = std::mem::take(&mut state.under_way);
        let (in_parts, writes_parts) = (state.in_parts, state.settle.is_some());
        // A limit has ended a walk before this one: what is kept is about that one, and says nothing about later ones.
        let is_next = number == state.finished.len();
        if !is_next {
            sources.clear();
        }
        drop(state);
        for source in &mut sources {
            let numbers = match in_parts {
                true => skip_numbers(space, source),
                false => recall_numbers(space, source),
            };
            match numbers {
                Ok(()) => {}
                Err(Misfit::Other) => {
                    sources.clear();
                    break;
                }
                Err(Misfit::Damaged) => {
                    self.lock().damaged = true;
                    return Outcome::damaged(space.width());
                }
            }
        }
        let from = match in_parts {
            true if !sources.is_empty() => From::Parts(std::mem::take(&mut sources)),
            _ => sources
                .first_mut()
                .map_or(From::Beginning, |source| From::Whole(source)),
        };
        let mut keeper = SpaceKeeper {
            checkpoints: self,
            space,
        };
        // What each of several processes does by itself is not kept while it is under way: they would not be at the same place.
        let keeper: Option<&mut dyn Keeper> = match writes_parts && !together || !is_next {
            true => None,
            false => Some(&mut keeper),
        };
        let outcome = walk(keeper, from);
        if outcome.stopped == Some(Reason::Damaged) {
            self.lock().damaged = true;
        }
        if matches!(outcome.stopped, None | Some(Reason::States)) {
            let mut record = numbers_of(space);
            // Writing to memory does not fail.
            let _ = outcome.write(&mut record);
            self.lock().finished.push(record);
        }
        outcome
    }
}

fn read_part(source: &mut dyn Read) -> Result<Vec<u8>> {
    let length = read_number(source)?;
    let mut part = Vec::new();
    // Bit by bit, because a wrong length must not ask for all memory at once.
    source.take(length).read_to_end(&mut part)?;
    match part.len() as u64 == length {
        true => Ok(part),
        false => Err(ErrorKind::UnexpectedEof.into()),
    }
}

/// A number that is different for other walks, most probably. Walks come in the same order each time; this is there to notice where they do not.
fn signature<S: Kept>(space: &S) -> i64 {
    let mut hasher = FxHasher::default();
    std::any::type_name::<S>().hash(&mut hasher);
    space.width().hash(&mut hasher);
    format!("{:?}", space.program()).hash(&mut hasher);
    hasher.finish() as i64
}

/// What a space keeps, as bytes with their number before them.
fn numbers_of<S: Kept>(space: &S) -> Vec<u8> {
    let mut numbers = vec![signature(space)];
    space.keep(&mut numbers);
    let mut bytes = Vec::with_capacity(8 * numbers.len() + 8);
    bytes.extend((8 * numbers.len() as u64).to_le_bytes());
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}

/// Why something that was kept cannot be gone on with.
enum Misfit {
    /// It is about another walk.
    Other,
    /// No search has written it.
    Damaged,
}

fn recall_numbers<S: Kept>(space: &S, source: &mut dyn Read) -> std::result::Result<(), Misfit> {
    let bytes = read_part(source).map_err(|_| Misfit::Damaged)?;
    let mut numbers = bytes.chunks_exact(8).map(|chunk| {
        let mut number = [0; 8];
        number.copy_from_slice(chunk);
        i64::from_le_bytes(number)
    });
    if numbers.next() != Some(signature(space)) {
        return Err(Misfit::Other);
    }
    space.recall(&mut numbers).ok_or(Misfit::Damaged)?;
    match numbers.next() {
        None => Ok(()),
        Some(_) => Err(Misfit::Damaged),
    }
}

/// The same where the numbers are other ones now: only what walk it is matters.
fn skip_numbers<S: Kept>(space: &S, source: &mut dyn Read) -> std::result::Result<(), Misfit> {
    let bytes = read_part(source).map_err(|_| Misfit::Damaged)?;
    match bytes.get(..8) {
        Some(first) if first == signature(space).to_le_bytes() => Ok(()),
        _ => Err(Misfit::Other),
    }
}

fn recall<S: Kept>(space: &S, record: &[u8]) -> std::result::Result<Outcome, Misfit> {
    let mut source = record;
    recall_numbers(space, &mut source)?;
    let outcome = Outcome::read(&mut source, space.width()).map_err(|_| Misfit::Damaged)?;
    // What it says to have found must be there: everything else is believed.
    match (outcome.findings.iter()).all(|finding| finding.is_of(space)) {
        true => Ok(outcome),
        false => Err(Misfit::Damaged),
    }
}

/// Keeps one walk.
struct SpaceKeeper<'a, S> {
    checkpoints: &'a Checkpoints,
    space: &'a S,
}

impl<S: Kept> Keeper for SpaceKeeper<'_, S> {
    fn is_due(&mut self) -> bool {
        Instant::now() >= self.checkpoints.lock().due
    }

    fn keep(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> Result<()>) {
        let begin = Instant::now();
        let mut state = self.checkpoints.lock();
        state.generation += 1;
        let State {
            sink,
            finished,
            settle,
            processes,
            generation,
            ..
        } = &mut *state;
        sink(&mut |out| {
            if settle.is_some() {
                write_number(out, *processes)?;
                write_number(out, *generation)?;
            }
            write_number(out, finished.len() as u64)?;
            for record in finished.iter() {
                write_number(out, record.len() as u64)?;
                out.write_all(record)?;
            }
            out.write_all(&numbers_of(self.space))?;
            write(out)
        });
        let now = Instant::now();
        state.due = now + state.every.max((now - begin) * (SHARE - 1));
    }

    fn agreed(&mut self) {
        if let Some(settle) = &mut self.checkpoints.lock().settle {
            settle();
        }
    }
}
