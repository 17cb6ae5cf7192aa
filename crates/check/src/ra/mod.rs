//! Robustness against release/acquire (Lahav and Margalit 2019) and C++20.
//!
//! There are two searches. `suspects` looks for one stale access at a time: it is the one that is used. `scm` keeps monitors for all
//! threads and locations at once, as the paper has it: it is used for certificates, and for release/acquire where the other one is
//! switched off; the tests hold the two against each other, and both against brute force.
//!
//! `observe` and `observed` are what `observational` adds: loads whose values may not be used, and execution graphs that show one that is.
//!
//! `critical` dismisses what needs no search, `forget` leaves out values where a program has many states, `differences` looks only at how far counters are apart, `facts` says what is known before one, `blocks` takes an `atomic` block as the read-modify-write that it is, `step` is what searches
//! find, and `witness` turns it into an execution graph. `runs` looks at all runs of a program that is not robust, for `safe`.

pub(crate) mod blocks;
pub(crate) mod critical;
mod differences;
pub(crate) mod facts;
mod forget;
mod heights;
mod observe;
mod observed;
pub(crate) mod runs;
pub(crate) mod scm;
pub(crate) mod sets;
pub(crate) mod step;
pub(crate) mod suspects;
pub(crate) mod unreduced;
pub(crate) mod witness;

use std::sync::atomic::Ordering;
use web_time::{Duration, Instant};

use palisade_explore::{Quotient, Space};
use palisade_lang::{Copies, Op, Order, Program, Span, Thread, ThreadId};
use palisade_memory::ra_accepts::refusal;
use palisade_memory::witness::InitialName;
use palisade_memory::{EventKind, EventRef, Witness};
use palisade_threads::View;
use rustc_hash::FxHashMap;

use crate::search::{search, search_within};
use crate::state::Frame;
use crate::{Abstraction, Answer, Control, Model, Note, Options, Refusal, Stats, Verdict};
use blocks::Blocks;
use critical::Critical;
use differences::Differences;
use facts::{Facts, Fences};
use forget::{without_large_values, without_unused_values};
use observe::{Roles, is_mentioned, with_blind_loads};
use observed::{End, Wish};
use scm::search::{End as Ended, Search};
use suspects::{Moved, Suspects, Wanted};
use witness::Replay;

/// Room for so many slots at first; it doubles when that is not enough.
const FIRST_SLOTS: usize = 8;

/// Said where not even a few states fit into memory.
pub(crate) const TOO_MANY_LOCATIONS: &str =
    "what has to be kept of so many locations in each state takes more memory than there is";

/// Decides `robust` under RA and C++20, and under RC11 without seq_cst accesses.
pub(crate) fn robust(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    let wanted = Wanted::StaleOrRacing;
    let whole = Prepared::new(program, options);
    let used = whole.without_unused_values(&|_, _| false);
    let plain = used.as_ref().map_or(&whole.plain, |used| &used.plain);
    let counting = |moves| counting(program, plain, moves, control);
    let mut proofs = vec![counting(true)];
    for most_values in VALUES_KEPT {
        proofs.push(Box::new(move |options| {
            let Some((forgetful, names)) = without_large_values(program, most_values) else {
                return Ok(None);
            };
            let question = Options {
                most_states: Some(options.most_states.unwrap_or(MANY_STATES).min(MANY_STATES)),
                ..options.clone()
            };
            let prepared = Prepared::new(&forgetful, options);
            let mut answer = stale_or_racing(&forgetful, &prepared, &question, control, wanted)?;
            if !names.is_empty() {
                answer.notes = vec![Note::RobustWhateverIsIn(names)];
            }
            Ok(Some(answer))
        }));
    }
    // Last, because only these have no bound.
    proofs.push(counting(false));
    proofs.push(Box::new(|options| {
        let used = used.as_ref();
        used.map(|used| stale_or_racing(program, used, options, control, wanted))
            .transpose()
    }));
    let exactly = |options: &Options| stale_or_racing(program, &whole, options, control, wanted);
    small_first(options, FEW_STATES, &exactly, &proofs)
}

/// The proof that a program is robust by what its counters differ in; `plain` is the program as the search sees it.
fn counting<'a>(
    program: &'a Program,
    plain: &'a Program,
    moves: bool,
    control: &'a Control<'_>,
) -> Box<Proof<'a>> {
    Box::new(move |options| {
        check_meaning(program, options)?;
        Ok(by_differences(plain, moves, options, control))
    })
}

/// A question about a program that may do more than the given one: only that it holds counts. None where there is no such program.
type Proof<'a> = dyn Fn(&Options) -> Result<Option<Answer>, Refusal> + 'a;

/// Asks exactly, as long as there are few states; then tries the proofs, and asks exactly again if none of them is one.
fn small_first(
    options: &Options,
    few_states: u64,
    exactly: &dyn Fn(&Options) -> Result<Answer, Refusal>,
    proofs: &[Box<Proof<'_>>],
) -> Result<Answer, Refusal> {
    // Checkpoints know one walk after the other, not which of them are made.
    let first = match options.abstraction {
        _ if options.checkpoints.is_some() => return exactly(options),
        _ if !options.reductions.static_filter => return exactly(options),
        Abstraction::Off => return exactly(options),
        Abstraction::From(_) => None,
        Abstraction::Auto => {
            let enough = options.most_states.is_some_and(|most| most <= few_states);
            let most = options.most_states.unwrap_or(few_states).min(few_states);
            let few = Options {
                most_states: Some(most),
                ..options.clone()
            };
            let answer = exactly(&few)?;
            if enough || answer.stats.states < few_states || !is_unknown(&answer) {
                return Ok(answer);
            }
            Some(answer)
        }
    };
    let mut spent = first.as_ref().map_or(Stats::default(), |a| a.stats);
    let left = |spent: &Stats| options.timeout.map(|t| t.saturating_sub(spent.wall));
    for proof in proofs {
        let question = Options {
            all: false,
            timeout: left(&spent),
            ..options.clone()
        };
        let Some(mut answer) = proof(&question)? else {
            continue;
        };
        spent.add(&answer.stats);
        if answer.verdict == Verdict::Holds {
            answer.stats = spent;
            let mut notes = first.map_or(Vec::new(), |a| a.notes);
            notes.extend(answer.notes.into_iter().filter(|n| *n != Note::ProgramErrs));
            answer.notes = notes;
            return Ok(answer);
        }
    }
    let question = Options {
        timeout: left(&spent),
        ..options.clone()
    };
    let mut answer = exactly(&question)?;
    spent.add(&answer.stats);
    answer.stats = spent;
    Ok(answer)
}

/// With no more states than this, the program is small enough as it is.
const FEW_STATES: u64 = 400_000;

/// The same for `drf` and `observational`, where the proof is little cheaper than the program itself.
const SOME_STATES: u64 = 1_000_000;

/// No more states of a program that has forgotten values are looked at.
const MANY_STATES: u64 = 8_000_000;

/// What takes more values than this forgets them: at first nearly everything, then less.
const VALUES_KEPT: [usize; 2] = [2, 4];

fn is_unknown(answer: &Answer) -> bool {
    matches!(answer.verdict, Verdict::Unknown(_))
}

/// Whether no SC run has a data race by happens-before of the model.
pub(crate) fn races(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    if !has_nonatomic_accesses(program) {
        check_meaning(program, options)?;
        return Ok(Answer::dismissed(1, Duration::ZERO));
    }
    let whole = Prepared::new(program, options);
    let asked = |prepared: &Prepared, options: &Options| {
        stale_or_racing(program, prepared, options, control, Wanted::Racing)
    };
    let proof: Box<Proof<'_>> = Box::new(|options| {
        let used = whole.without_unused_values(&|_, _| false);
        used.map(|used| asked(&used, options)).transpose()
    });
    small_first(
        options,
        SOME_STATES,
        &|options| asked(&whole, options),
        &[proof],
    )
}

/// Whether some access of the program is nonatomic.
pub(crate) fn has_nonatomic_accesses(program: &Program) -> bool {
    let threads = program.threads.iter();
    let mut ops = threads.flat_map(|t| &t.transitions).map(|t| &t.op);
    program.locations.iter().any(|l| l.nonatomic)
        || ops.any(|op| {
            matches!(
                op,
                Op::Load { order, .. } | Op::Store { order, .. } if *order == Order::NonAtomic
            )
        })
}

fn stale_or_racing(
    program: &Program,
    prepared: &Prepared,
    options: &Options,
    control: &Control<'_>,
    wanted: Wanted,
) -> Result<Answer, Refusal> {
    let start = Instant::now();
    let Prepared { plain, origins, .. } = prepared;
    check_meaning(program, options)?;
    let frame = Frame::new(plain, &options.reductions);
    let fences = match options.model {
        Model::C20 | Model::Rc11 => Fences::Fences,
        _ => Fences::Updates,
    };
    let facts = Facts::new(plain, fences);
    let critical = match options.reductions.static_filter && wanted != Wanted::Racing {
        true => Critical::new(plain, &facts),
        false => Critical::everything(),
    };
    if critical.all_dismissed() && !has_nonatomic_accesses(plain) {
        return Ok(Answer::dismissed(critical.pairs, start.elapsed()));
    }
    let question = Question {
        model: options.model,
        frame: &frame,
        facts: &facts,
        original: program,
        origins,
    };
    let one_at_a_time =
        options.reductions.suspects || fences == Fences::Fences || wanted == Wanted::Racing;
    let mut answer = match one_at_a_time {
        true => {
            let reductions = options.reductions;
            let space = Suspects::new(&frame, &facts, &critical, reductions, wanted, None);
            if prepared.only_a_proof {
                return Ok(found_or_not(&space, options, control));
            }
            question.one_at_a_time(&space, options, control)
        }
        false => question.with_all_monitors(options, control),
    };
    let unshown = answer.verdict == Verdict::Violated && answer.witnesses.is_empty();
    if unshown && options.reductions.partial_order {
        // All that was found lies behind a race. Where every order is explored, the race comes first.
        let mut every_order = options.clone();
        every_order.reductions.partial_order = false;
        return stale_or_racing(program, prepared, &every_order, control, wanted);
    }
    debug_assert!(!unshown, "a violation without a witness");
    answer.stats.pruned += critical.dismissed;
    Ok(answer)
}

/// The answer of a search of which nothing is shown.
fn found_or_not(space: &Suspects<'_, '_>, options: &Options, control: &Control<'_>) -> Answer {
    let (outcome, mut answer) = search(space, options, control);
    if !outcome.findings.is_empty() {
        answer.verdict = Verdict::Violated;
    }
    answer
}

/// Whether a program is robust, where it has counters of which only differences matter: with states that are moved, or as far as they lag behind. None where it
/// has none.
fn by_differences(
    plain: &Program,
    moves: bool,
    options: &Options,
    control: &Control<'_>,
) -> Option<Answer> {
    // Several processes would have to tell each other that nothing is proved.
    if options.hosts.is_some() {
        return None;
    }
    let start = Instant::now();
    let mut last = None;
    let all = Differences::all(plain).into_iter();
    for differences in all.filter(|differences| differences.moves == moves) {
        for margin in MARGINS {
            let question = Options {
                timeout: (options.timeout).map(|t| t.saturating_sub(start.elapsed())),
                ..options.clone()
            };
            let (mut answer, lost) = apart(&differences, margin, &question, control)?;
            if answer.verdict == Verdict::Holds {
                answer.stats.wall = start.elapsed();
                return Some(answer);
            }
            // How many states were seen before it was noticed may be another number next time.
            answer.stats = Stats {
                wall: start.elapsed(),
                peak_memory_bytes: answer.stats.peak_memory_bytes,
                ..Stats::default()
            };
            last = Some(answer);
            if !lost {
                break;
            }
        }
    }
    last
}

/// One try: the answer, which is `holds` or says nothing, and whether more may come of a larger margin.
fn apart(
    differences: &Differences,
    margin: palisade_lang::Value,
    options: &Options,
    control: &Control<'_>,
) -> Option<(Answer, bool)> {
    let program = &differences.program;
    let fences = match options.model {
        Model::C20 | Model::Rc11 => Fences::Fences,
        _ => Fences::Updates,
    };
    let mut reductions = options.reductions;
    // What is computed on the way to a state would not be looked at.
    reductions.local_steps &= differences.room.is_none();
    let frame = Frame::new(program, &reductions);
    let facts = Facts::new(program, fences);
    let critical = Critical::new(program, &facts);
    let wanted = Wanted::StaleOrRacing;
    let mut space = Suspects::new(&frame, &facts, &critical, reductions, wanted, None);
    space.counters = Some(differences);
    let moved = Moved::new(&space, differences, margin)?;
    // What may count without end need not come to one.
    let most = differences.moves.then_some(SOME_STATES);
    let quotient = Quotient::new(&space, &moved);
    let (outcome, mut answer) = search_within(&quotient, options, control, most);
    let lost = moved.is_lost();
    if !outcome.findings.is_empty() || lost {
        answer.verdict = Verdict::Unknown(NOT_BY_DIFFERENCES.to_owned());
    }
    if differences.moves && differences.room.is_none() {
        answer.notes = vec![Note::RobustHoweverFar(differences.names())];
    }
    Some((answer, lost && outcome.findings.is_empty()))
}

/// How far a counter may be behind the one that all are moved with, while others are further behind than that.
const MARGINS: [palisade_lang::Value; 3] = [1, 4, 16];

/// Why a try says nothing.
const NOT_BY_DIFFERENCES: &str = "differences of counters prove nothing";

/// Decides `observational` under C++20, and under RC11 without seq_cst accesses.
pub(crate) fn observational(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    let whole = Prepared::new(program, options);
    let (woven, roles) = with_blind_loads(&whole.plain, program, &whole.origins);
    let woven = Prepared {
        plain: woven,
        ..whole
    };
    let asked = |woven: &Prepared, options: &Options| {
        used_stale_values(program, woven, &roles, options, control)
    };
    let unused: Box<Proof<'_>> = Box::new(|options| {
        let is_blind = |code, transition| roles.of(code, transition as u32).blind;
        let used = woven.without_unused_values(&is_blind);
        used.map(|used| asked(&used, options)).transpose()
    });
    // Where nothing is read stale, nothing stale is used.
    let robust = Prepared::new(program, options);
    let used = robust.without_unused_values(&|_, _| false);
    let plain = used.as_ref().map_or(&robust.plain, |used| &used.plain);
    let counting = |moves| counting(program, plain, moves, control);
    small_first(
        options,
        SOME_STATES,
        &|options| asked(&woven, options),
        &[counting(true), counting(false), unused],
    )
}

fn used_stale_values(
    program: &Program,
    woven: &Prepared,
    roles: &Roles,
    options: &Options,
    control: &Control<'_>,
) -> Result<Answer, Refusal> {
    let start = Instant::now();
    check_meaning(program, options)?;
    let Prepared { plain, origins, .. } = woven;
    let frame = Frame::new(plain, &options.reductions);
    let facts = Facts::new(plain, Fences::Fences);
    let critical = match options.reductions.static_filter {
        true => Critical::new(plain, &facts),
        false => Critical::everything(),
    };
    if critical.all_dismissed() && !has_nonatomic_accesses(plain) {
        return Ok(Answer::dismissed(critical.pairs, start.elapsed()));
    }
    let question = Question {
        model: options.model,
        frame: &frame,
        facts: &facts,
        original: program,
        origins,
    };
    let wanted = Wanted::Observed;
    let reductions = options.reductions;
    let space = Suspects::new(&frame, &facts, &critical, reductions, wanted, Some(roles));
    if woven.only_a_proof {
        return Ok(found_or_not(&space, options, control));
    }
    let mut answer = question.observed(&space, roles, options, control);
    if answer.verdict == Verdict::Violated && answer.witnesses.is_empty() {
        // The first thing that was found cannot be shown; another one may.
        let all = Options {
            all: true,
            timeout: options.timeout.map(|t| t.saturating_sub(start.elapsed())),
            checkpoints: None,
            ..options.clone()
        };
        answer = question.observed(&space, roles, &all, control);
        if answer.verdict == Verdict::Violated && answer.witnesses.is_empty() {
            answer.verdict = Verdict::Unknown(NOT_SHOWN.to_owned());
        }
        answer
            .witnesses
            .truncate(if options.all { usize::MAX } else { 1 });
    }
    answer.stats.pruned += critical.dismissed;
    Ok(answer)
}

/// Said where the search for used stale values finds what no execution graph shows.
const NOT_SHOWN: &str = "a stale value may be used as far as the search can tell, but no execution graph was found that shows it: the search takes a load whose value is not used as one from which its thread learns nothing";

/// What is asked.
struct Question<'a, 'p> {
    model: Model,
    frame: &'a Frame<'p>,
    facts: &'a Facts,
    original: &'a Program,
    origins: &'a [Origin],
}

impl<'a> Question<'a, '_> {
    fn replay<'b>(&self, view: &'b mut View<'a>, blocks: &'b mut Blocks) -> Replay<'b, 'a, '_>
    where
        'a: 'b,
    {
        Replay {
            model: self.model,
            fences: self.facts.fences,
            frame: self.frame,
            view,
            blocks,
            original: self.original,
            origins: self.origins,
        }
    }

    fn one_at_a_time(
        &self,
        space: &Suspects<'a, '_>,
        options: &Options,
        control: &Control<'_>,
    ) -> Answer {
        let (outcome, mut answer) = search(space, options, control);
        let mut worker = space.worker();
        for finding in &outcome.findings {
            answer.verdict = Verdict::Violated;
            let witness = space
                .story(&mut worker, finding)
                .and_then(|(row, steps, violation)| {
                    self.replay(&mut worker.view, &mut worker.blocks)
                        .witness(row, &steps, &violation)
                });
            // What lies behind a race has no meaning; the race itself is found as well.
            answer.witnesses.extend(witness);
            if !options.all && !answer.witnesses.is_empty() {
                break;
            }
        }
        if space.error_seen.load(Ordering::Relaxed) {
            answer.notes.push(Note::ProgramErrs);
        }
        answer
    }

    fn observed(
        &self,
        space: &Suspects<'a, '_>,
        roles: &Roles,
        options: &Options,
        control: &Control<'_>,
    ) -> Answer {
        let (outcome, mut answer) = search(space, options, control);
        let mut worker = space.worker();
        let names = self.original.instances();
        // By running thread: the same in the user's program.
        let user: Vec<usize> = self
            .origins
            .iter()
            .map(|o| names.iter().position(|i| i.name == o.name).unwrap_or(0))
            .collect();
        let mentioned =
            |thread: usize, register| is_mentioned(self.original, &names[thread], register);
        for finding in &outcome.findings {
            answer.verdict = Verdict::Violated;
            let Some((row, steps, violation)) = space.story(&mut worker, finding) else {
                continue;
            };
            let replay = self.replay(&mut worker.view, &mut worker.blocks);
            let Some(mut items) = replay.items(roles, row, &steps, &violation) else {
                continue;
            };
            for item in &mut items {
                item.thread = user[item.thread];
            }
            let end = match End::of(&violation) {
                End::Use(thread) => End::Use(user[thread]),
                other => other,
            };
            let wish = Wish {
                program: self.original,
                model: self.model,
                items: &items,
                end,
                mentioned: &mentioned,
            };
            answer.witnesses.extend(wish.witness());
            if !options.all && !answer.witnesses.is_empty() {
                break;
            }
        }
        if space.error_seen.load(Ordering::Relaxed) {
            answer.notes.push(Note::ProgramErrs);
        }
        answer
    }

    fn with_all_monitors(&self, options: &Options, control: &Control<'_>) -> Answer {
        let start = Instant::now();
        let mut answer = Answer {
            verdict: Verdict::Holds,
            witnesses: Vec::new(),
            stats: Stats {
                queries: 1,
                ..Stats::default()
            },
            notes: Vec::new(),
            harm: None,
        };
        let mut slots = FIRST_SLOTS;
        loop {
            let search = Search::new(self.frame, self.facts, options, slots, false);
            let Some(mut search) = search else {
                answer.verdict = Verdict::Unknown(TOO_MANY_LOCATIONS.to_owned());
                answer.stats.wall = start.elapsed();
                return answer;
            };
            let end = search.run(start, control);
            answer.stats.states = search.states();
            answer.stats.transitions = search.transitions;
            let held = palisade_explore::resident_bytes().unwrap_or_else(|| search.bytes());
            answer.stats.peak_memory_bytes = answer.stats.peak_memory_bytes.max(held);
            match end {
                Ended::TooManySlots => {
                    slots *= 2;
                    continue;
                }
                Ended::Robust => {}
                Ended::Violated(node, violation) => {
                    answer.verdict = Verdict::Violated;
                    let (row, steps, violation) = search.story(node, violation);
                    let (view, blocks) = search.tools();
                    let witness = self.replay(view, blocks).witness(row, &steps, &violation);
                    answer.witnesses.extend(witness);
                }
                Ended::Stopped(stopped) => {
                    answer.verdict = Verdict::Unknown(format!(
                        "{}; {} states were seen, and none of them is a violation",
                        stopped.why(),
                        crate::number_in_words(search.states())
                    ));
                }
            }
            if search.error_seen {
                answer.notes.push(Note::ProgramErrs);
            }
            answer.stats.wall = start.elapsed();
            return answer;
        }
    }
}

/// A run of SC is one of the model in which everything is read from, and stored after, the newest store.
pub(crate) fn sc_run_of(witness: &mut Witness, model: Model) {
    let mut newest: FxHashMap<String, EventRef> = FxHashMap::default();
    // What the store of the block that is under way stands behind: further stores of it change that one.
    let mut behind_block = None;
    for (index, event) in witness.events.iter_mut().enumerate() {
        if !event.atomic {
            behind_block = None;
        }
        let Some(location) = &event.location else {
            continue;
        };
        let before = newest.get(location).copied();
        let mut before = Some(before.unwrap_or(EventRef::Initial(InitialName::Init)));
        if event.atomic && event.kind != EventKind::Load {
            before = *behind_block.get_or_insert(before);
        }
        match event.kind {
            EventKind::Load => event.rf = before,
            EventKind::Store => event.after = before,
            EventKind::Rmw => (event.rf, event.after) = (before, before),
            _ => continue,
        }
        if event.kind != EventKind::Load {
            newest.insert(location.clone(), EventRef::Event(index));
        }
    }
    witness.model = model;
}

/// Whether the program has a meaning under the model.
pub(crate) fn check_meaning(program: &Program, options: &Options) -> Result<(), Refusal> {
    let refused = match options.model {
        Model::C20 | Model::Rc11 => palisade_memory::c20::refusal(program),
        _ => refusal(program),
    };
    match refused {
        None => Ok(()),
        Some(refused) => Err(Refusal {
            message: refused.message,
            span: Some(refused.span),
        }),
    }
}

/// What a running thread of the search is in the user's program.
#[derive(Clone, Debug)]
struct Origin {
    /// What it is called.
    name: String,
    /// Its code.
    thread: ThreadId,
}

/// The program as the search wants it, and what its running threads are in the user's program.
struct Prepared {
    plain: Program,
    origins: Vec<Origin>,
    /// Some values are left out: what is found then is no run of the user's program, and nothing is shown of it.
    only_a_proof: bool,
}

impl Prepared {
    /// What must never be is left out, because only `safe` asks for it and it would make steps visible. Threads that have the same code are
    /// made copies of one, so that they count as interchangeable.
    fn new(program: &Program, options: &Options) -> Self {
        let (plain, origins) = prepared(program, options.reductions.symmetry);
        Prepared {
            plain,
            origins,
            only_a_proof: false,
        }
    }

    /// The same without values that nothing depends on, if there are any.
    fn without_unused_values(&self, is_blind: &dyn Fn(usize, usize) -> bool) -> Option<Self> {
        Some(Prepared {
            plain: without_unused_values(&self.plain, is_blind)?,
            origins: self.origins.clone(),
            only_a_proof: true,
        })
    }
}

fn prepared(program: &Program, merge: bool) -> (Program, Vec<Origin>) {
    let mut prepared = program.clone();
    prepared.nevers.clear();
    let mut threads: Vec<(Thread, Thread, Vec<Origin>)> = Vec::new();
    for (index, thread) in program.threads.iter().enumerate() {
        let copies = match thread.copies {
            Copies::One => 1,
            Copies::Fixed(copies) => copies,
            Copies::Any => 0,
        };
        let origins = (0..copies).map(|copy| Origin {
            name: thread.copy_name(copy),
            thread: ThreadId(index as u32),
        });
        let bare = without_names(thread);
        let same = threads
            .iter_mut()
            .find(|(_, other, _)| merge && thread.me.is_none() && *other == bare);
        match same {
            Some((first, _, all)) => {
                all.extend(origins);
                first.copies = Copies::Fixed(all.len() as u32);
            }
            None => threads.push((thread.clone(), bare, origins.collect())),
        }
    }
    let mut origins = Vec::new();
    prepared.threads.clear();
    for (thread, _, of_copies) in threads {
        prepared.threads.push(thread);
        origins.extend(of_copies);
    }
    (prepared, origins)
}

/// What a thread does, without what things are called and where they stand.
fn without_names(thread: &Thread) -> Thread {
    let mut thread = thread.clone();
    thread.name.clear();
    thread.copies = Copies::One;
    thread.span = Span::default();
    thread.labels.clear();
    for point in &mut thread.points {
        point.name = None;
        point.place = None;
        point.span = Span::default();
    }
    for register in &mut thread.registers {
        register.name = None;
        register.span = Span::default();
    }
    for transition in &mut thread.transitions {
        transition.span = Span::default();
    }
    thread
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_testkit::oracle::{c20_robust, within};
    use palisade_testkit::program;
    use std::sync::atomic::AtomicBool;

    /// A program with counters: one that only grows, two others, and registers that are compared with each other.
    fn counting_program(random: &mut fastrand::Rng, bounded: bool) -> String {
        // Near the size of the domain, counters may wrap around; where writes are guarded, the first counter does not.
        let (size, begin) = [(255, 9), (26, 21), (30, 24)][random.usize(..3)];
        let guarded = bounded && random.bool();
        let mut text = match bounded {
            true => format!("domain {size};\n"),
            false => String::new(),
        };
        text += &format!("shared c = {begin}, d = {begin}, e = {begin}, flag, seen;\n");
        // Where nothing is computed from `t`, it may lag behind.
        let lags = random.bool();
        for thread in 0..random.usize(2..4) {
            text +=
                &format!("thread t{thread} {{ let t = c.load(relaxed); let b = d.load(relaxed);\n");
            for _ in 0..random.usize(1..5) {
                text += &statement(random, lags, guarded.then_some(begin));
            }
            text += "}\n";
        }
        text
    }

    fn statement(random: &mut fastrand::Rng, lags: bool, guarded: Option<usize>) -> String {
        let read = ["relaxed", "acquire", "seqcst"][random.usize(..3)];
        let write = ["relaxed", "release", "seqcst"][random.usize(..3)];
        let update = ["relaxed", "acquire", "release", "acqrel", "seqcst"][random.usize(..5)];
        let (register, other) = [("t", "b"), ("b", "t")][random.usize(..2)];
        let value = if lags { "b" } else { register };
        let place = ["c", "d", "e"][random.usize(..3)];
        let stored = ["d", "e"][random.usize(..2)];
        let added = random.usize(1..4);
        let relation = ["<", "<=", ">", "==", "!="][random.usize(..5)];
        let guard = match guarded {
            Some(begin) => format!("if {register} < {} ", begin + random.usize(..3)),
            None => String::new(),
        };
        let guarded = guarded.is_some();
        match random.usize(..10) {
            0 => format!("{register} = {place}.load({read});\n"),
            1 => format!("{stored}.store({value} + {added}, {write});\n"),
            2 => format!("{stored}.store({value}, {write});\n"),
            3 if !guarded => format!(
                "choose {{ fadd(c, {added}, {update}); }} or {{ fadd(c, 4, {update}); }} or {{ fadd(c, 6, {update}); }}\n"
            ),
            3 | 4 => {
                format!("{guard}{{ cas(c, {register}, {register} + {added}, {update}); }}\n")
            }
            5 => format!("{guard}{{ bcas(c, {register}, {register} + {added}, {update}); }}\n"),
            6 => {
                let inner = [
                    "flag.store(1, relaxed); let s = seen.load(relaxed);",
                    "t = c.load(relaxed);",
                    "fadd(c, 2, relaxed);",
                ];
                let inner = inner[random.usize(..if guarded { 2 } else { 3 })];
                format!("if {register} {relation} {other} {{ {inner} }}\n")
            }
            7 => format!("seen.store(1, {write}); let f = flag.load({read});\n"),
            8 => format!(
                "fence({});\n",
                ["acquire", "release", "seqcst"][random.usize(..3)]
            ),
            _ => format!("{stored}.store({value} - 1, {write});\n"),
        }
    }

    /// What differences of counters prove is so, and the reductions do not change it.
    #[test]
    fn counters_that_are_apart_prove_what_is_so() {
        let cancel = AtomicBool::new(false);
        let control = Control {
            cancel: &cancel,
            progress: &|_| {},
        };
        let exactly = Options {
            abstraction: Abstraction::Off,
            ..Options::new(Model::C20, crate::Criterion::Robust)
        };
        // How often something was proved, with states that are moved and without; and how often brute force agreed.
        let (mut proved, mut smaller, mut judged, mut violated) = ([0; 3], 0, 0, 0);
        let mut random = fastrand::Rng::with_seed(11);
        for number in 0..3_500 {
            let text = counting_program(&mut random, number % 2 == 0);
            let program = program(&text);
            let mut exact = None;
            let whole = Prepared::new(&program, &exactly);
            for differences in Differences::all(&whole.plain) {
                for margin in [0, 1, 3] {
                    let tried = apart(&differences, margin, &exactly, &control);
                    let exact =
                        exact.get_or_insert_with(|| robust(&program, &exactly, &control).unwrap());
                    violated += u32::from(exact.verdict == Verdict::Violated);
                    let Some((answer, _)) = tried.filter(|t| t.0.verdict == Verdict::Holds) else {
                        continue;
                    };
                    assert_eq!(exact.verdict, Verdict::Holds, "{text}");
                    // The last: moved, in a domain.
                    proved[match (differences.moves, &differences.room) {
                        (false, _) => 0,
                        (true, None) => 1,
                        (true, Some(_)) => 2,
                    }] += 1;
                    smaller += u32::from(answer.stats.states < exact.stats.states);
                    if judged < 1_000 {
                        let robust = within(20_000, || c20_robust(&program));
                        assert_ne!(robust, Some(false), "{text}");
                        judged += u32::from(robust.is_some());
                    }
                }
            }
        }
        println!(
            "{proved:?} proved, {smaller} with fewer states, {judged} judged, {violated} violated"
        );
        assert!(
            proved[0] > 500 && proved[1] > 500 && proved[2] > 100 && smaller > 20 && judged > 300
        );
        assert!(violated > 1_000);
    }

    /// Where something wraps around, differences prove nothing: here `d` begins again at 0, and only so does the first thread come to its stores.
    #[test]
    fn what_wraps_around_is_not_proved() {
        let cancel = AtomicBool::new(false);
        let control = Control {
            cancel: &cancel,
            progress: &|_| {},
        };
        let options = Options::new(Model::C20, crate::Criterion::Robust);
        let asked = |size: u32, lower: &str| {
            let program = program(&format!(
                "domain {size}; shared c = 20, d = 20, x, y;
                thread a {{
                    let t = c.load(relaxed); if t < 22 {{ bcas(c, t, t + 1); }}
                    t = c.load(relaxed); if t < 22 {{ bcas(c, t, t + 1); }}
                    let b = c.load(relaxed); d.store(b + 7, relaxed);
                    b = d.load(relaxed); t = c.load(relaxed);
                    if {lower} {{ x.store(1, relaxed); let r = y.load(relaxed); }}
                }}
                thread b {{ y.store(1, relaxed); let r = x.load(relaxed); }}
                thread more {{ let t = c.load(relaxed); let b = d.load(relaxed); if b > t {{ skip; }} }}"
            ));
            let exact = robust(&program, &options, &control).unwrap().verdict;
            let whole = Prepared::new(&program, &options);
            let all = Differences::all(&whole.plain);
            let moving: Vec<_> = all.iter().filter(|d| d.room.is_some()).collect();
            assert_eq!(moving.len(), 1, "{all:?}");
            let (tried, lost) = apart(moving[0], 4, &options, &control).unwrap();
            (exact, tried.verdict == Verdict::Holds, lost)
        };
        assert_eq!(asked(34, "b < t"), (Verdict::Holds, true, false));
        // What is stored wraps around.
        assert_eq!(asked(29, "b < t"), (Verdict::Violated, false, true));
        // Only what is compared does.
        assert_eq!(asked(34, "b + 3 < t"), (Verdict::Holds, true, false));
        assert_eq!(asked(32, "b + 3 < t"), (Verdict::Violated, false, true));
    }

    /// A deque whose thieves sleep: with each of them at most a little behind, it is robust; and without one of its fences it is not.
    #[test]
    fn a_deque_that_counts_for_ever_is_decided() {
        let deque = |fence: &str, domain: &str| {
            format!(
                "{domain} shared top = 1, bottom = 1;
                thread owner {{ loop {{ choose {{
                    let b = bottom.load(relaxed) - 1; bottom.store(b, release); fence;
                    let t = top.load(relaxed);
                    if b < t {{ bottom.store(t, relaxed); }}
                    else if b == t {{ cas(top, t, t + 1); bottom.store(t + 1, relaxed); }}
                }} or {{
                    let b = bottom.load(relaxed); fence; let t = top.load(acquire);
                    if b - t < 3 && b < 200 {{ bottom.store(b + 1, release); }}
                }} }} }}
                thread thief[2] {{ loop {{
                    fence; let t = top.load(relaxed); {fence} let b = bottom.load(relaxed);
                    if t < b {{ fence(acquire); bcas(top, t, t + 1, release); }}
                }} }}"
            )
        };
        let cancel = AtomicBool::new(false);
        let control = Control {
            cancel: &cancel,
            progress: &|_| {},
        };
        let options = Options {
            abstraction: Abstraction::From(0),
            ..Options::new(Model::C20, crate::Criterion::Robust)
        };
        let asked = |text: String| robust(&program(&text), &options, &control).unwrap();
        let answer = asked(deque("fence;", ""));
        assert_eq!(answer.verdict, Verdict::Holds);
        assert!(
            matches!(answer.notes[..], [Note::RobustHoweverFar(_)]),
            "{:?}",
            answer.notes
        );
        assert!(answer.stats.states < 100_000, "{}", answer.stats.states);
        let answer = asked(deque("fence;", "domain 255;"));
        assert_eq!(answer.verdict, Verdict::Holds);
        assert_eq!(asked(deque("", "")).verdict, Verdict::Violated);
    }
}
