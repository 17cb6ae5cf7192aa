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

/// Writing takes at most this part of the time.
const SHARE: u32 = 10;

/// Where checkpoints go: it is called with what writes one.
pub type Sink = Box<dyn FnMut(&mut dyn FnMut(&mut dyn Write) -> Result<()>) + Send>;

/// Keeps what is needed to go on with a check, and has it from an earlier one.
pub struct Checkpoints(Mutex<State>);

struct State {
    sink: Sink,
    every: Duration,
    due: Instant,
    /// What came out of the walks that are over, each with what its numbers stand for.
    finished: Vec<Vec<u8>>,
    /// How many walks have begun.
    begun: usize,
    /// Where the walk that was under way is written.
    under_way: Option<Box<dyn Read + Send>>,
    /// Something was found in what was kept that no search writes.
    damaged: bool,
}

impl std::fmt::Debug for Checkpoints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Checkpoints")
    }
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
            every,
            due: Instant::now() + every,
            finished: Vec::new(),
            begun: 0,
            under_way: None,
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
        state.under_way = Some(source);
        Ok(())
    }

    /// Whether something was found in what was kept that no search writes. Then there is no answer.
    pub fn is_damaged(&self) -> bool {
        self.lock().damaged
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What comes out of a walk over a space: what came out of it, or what `walk` comes to, which is given where to go on, if there is such a place.
    pub(crate) fn run<S: Kept>(
        &self,
        space: &S,
        walk: impl FnOnce(&mut dyn Keeper, Option<&mut dyn Read>) -> Outcome,
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
                    state.under_way = None;
                }
                Err(Misfit::Damaged) => {
                    state.damaged = true;
                    return Outcome::damaged(space.width());
                }
            }
        }
        let source = state.under_way.take();
        drop(state);
        let mut source = source.filter(|_| number == self.lock().finished.len());
        match source.as_mut().map(|kept| recall_numbers(space, kept)) {
            None | Some(Ok(())) => {}
            Some(Err(Misfit::Other)) => source = None,
            Some(Err(Misfit::Damaged)) => {
                self.lock().damaged = true;
                return Outcome::damaged(space.width());
            }
        }
        let mut keeper = SpaceKeeper {
            checkpoints: self,
            space,
        };
        let outcome = match &mut source {
            None => walk(&mut keeper, None),
            Some(kept) => walk(&mut keeper, Some(kept)),
        };
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

fn recall<S: Kept>(space: &S, record: &[u8]) -> std::result::Result<Outcome, Misfit> {
    let mut source = record;
    recall_numbers(space, &mut source)?;
    let outcome = Outcome::read(&mut source, space.width()).map_err(|_| Misfit::Damaged)?;
    // What it says to have found must be there: everything else is believed.
    let mut worker = space.worker();
    match (outcome.findings.iter()).all(|finding| finding.is_of(space, &mut worker)) {
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
        let State { sink, finished, .. } = &mut *state;
        sink(&mut |out| {
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
}
