//! Optimal fences, and other repairs, for any criterion.
//!
//! The main functions are [`fences`] and, for C++20, [`orders()`]. [`fences`] returns the cheapest set of repairs that makes the criterion hold, with the certainty that nothing
//! cheaper does. [`Candidates`] says what may be changed, [`Costs`] what that costs.
//!
//! It searches by implicit hitting sets: an integer program proposes the cheapest set that prevents every violation known so far; the checker
//! confirms it, or yields one more violation, whose run says which repairs would have prevented it (`learn.rs`).
//!
//! Where the checker has to look at many states for that, there are cheaper ways to both ends: violations in which few threads move, many of them for one proposal
//! (`few.rs`), and a set about which nothing has to be searched for, because the text alone shows that it is enough. Such a set bounds the cost, and once no set that
//! prevents all known violations is cheaper, it is the answer.

mod candidates;
mod costs;
mod cover;
mod execution;
mod few;
mod graph;
mod learn;
pub mod orders;
mod passed;
mod prices;

use std::sync::atomic::Ordering;
use web_time::{Duration, Instant};

pub use candidates::{Candidate, Candidates, Kinds};
pub use costs::{CostFile, Costs, Profile};
use cover::{Clause, cheapest};
use few::{Few, Moving};
pub use orders::{Assignment, Choices, Freedom, Needed, Orders, OrdersResult, Slot, orders};
use palisade_check::note::{Note, add_new};
use palisade_check::{
    Answer, Control, Criterion, Options, Progress, Refusal, Rounds, Stats, Verdict, Witness,
};
use palisade_lang::{Language, Program, Repair};
use palisade_param::check;
pub use prices::{OrderCosts, Prices, SHIPPED};

/// What is wanted beside the cheapest set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FenceOptions {
    /// Every set from which nothing can be left out.
    pub all: Option<Bounds>,
    /// For each repair a violation that returns without it.
    pub explain: bool,
}

/// How far sets are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Sets that cost more are not listed.
    pub cost: Option<u64>,
    /// No more than so many are listed.
    pub sets: usize,
}

/// A set of repairs that makes the criterion hold: the checker has confirmed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairSet {
    /// The repairs.
    pub repairs: Vec<Candidate>,
    /// What they cost together.
    pub cost: u64,
}

/// The answer to the question for the cheapest fences.
#[derive(Clone, Debug)]
pub struct Fences {
    /// What was found.
    pub result: FenceResult,
    /// Where no set helps: a violation that no repair prevents.
    pub witness: Option<Witness>,
    /// Where all were wanted: every set from which nothing can be left out, the cheapest first.
    pub all: Option<AllSets>,
    /// Where explanations were wanted: repairs of the cheapest set, each with a violation that returns when just it is left out. One is missing only
    /// where the check came to a limit.
    pub explanations: Vec<(Repair, Witness)>,
    /// How many proposals were checked: `queries`; the states of all checks together.
    pub stats: Stats,
    /// What the user should know beside it.
    pub notes: Vec<Note>,
}

/// Sets from which nothing can be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllSets {
    /// The cheapest first.
    pub sets: Vec<RepairSet>,
    /// Whether there are no others, or why there may be others.
    pub complete: Result<(), String>,
}

/// What came out of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FenceResult {
    /// With these repairs the criterion holds, and with no cheaper set.
    Optimal(RepairSet),
    /// No set of allowed repairs makes it hold.
    None,
    /// Not decided, and why; every set that makes it hold costs at least `lower_bound`.
    Unknown {
        /// What stopped the search.
        reason: String,
        /// What is known about the cost.
        lower_bound: u64,
        /// The best set that was confirmed, if any was.
        confirmed: Option<RepairSet>,
    },
}

/// Finds the cheapest set of repairs that makes `options.criterion` hold under `options.model`.
pub fn fences(
    candidates: &Candidates,
    options: &Options,
    fence_options: &FenceOptions,
    control: &Control<'_>,
) -> Result<Fences, Refusal> {
    let mut search = Search::new(candidates, options, control);
    search.begin_with_robust()?;
    let mut fences = Fences {
        result: FenceResult::None,
        witness: None,
        all: None,
        explanations: Vec::new(),
        stats: Stats::default(),
        notes: Vec::new(),
    };
    let found = match search.next_set()? {
        // What is found at a limit may be as cheap as anything can be.
        Proposal::Stopped(reason) => {
            search.upper_bound()?;
            let known = search.known_at_this_cost();
            known.map_or(Proposal::Stopped(reason), Proposal::Confirmed)
        }
        found => found,
    };
    match found {
        Proposal::Confirmed(chosen) => {
            if fence_options.explain {
                fences.explanations = search.explanations(&chosen)?;
            }
            fences.result = FenceResult::Optimal(search.repair_set(&chosen));
            if let Some(bounds) = fence_options.all {
                fences.all = Some(search.all_sets(chosen, bounds)?);
            }
        }
        Proposal::NoMore if candidates.base.language == Language::Rust => {
            fences.result = FenceResult::Unknown {
                reason: "no fences before the statements of this file mend it: `palisade orders` looks at its orders as well".to_owned(),
                lower_bound: search.lower_bound,
                confirmed: None,
            };
        }
        Proposal::NoMore => {
            fences.witness = search.last_witness.take();
            fences.all = fence_options.all.map(|_| AllSets {
                sets: Vec::new(),
                complete: Ok(()),
            });
        }
        Proposal::Stopped(reason) => {
            fences.result = FenceResult::Unknown {
                reason,
                lower_bound: search.lower_bound,
                confirmed: search.confirmed.as_ref().map(|c| search.repair_set(c)),
            };
        }
    }
    fences.stats = Stats {
        wall: search.start.elapsed(),
        ..search.stats
    };
    fences.notes = search.notes;
    Ok(fences)
}

/// At a limit, the part of the time that is left for a set that is enough though not the cheapest: a tenth, and no more than this.
const MOST_RESERVE: Duration = Duration::from_secs(5);

/// A question that is not decided within so many states is a large one: then cheaper ways to learn something come first.
const FEW_STATES: u64 = 1 << 14;

/// Within so few states only what needs no search is decided.
const NO_SEARCH: u64 = 1;

struct Search<'a> {
    candidates: &'a Candidates,
    costs: Vec<u64>,
    options: &'a Options,
    control: &'a Control<'a>,
    start: Instant,
    /// What every set that makes the criterion hold meets; and, once sets are listed, that it contains none of those.
    clauses: Vec<Clause>,
    violations: u64,
    lower_bound: u64,
    /// The cheapest set that is known to be enough.
    confirmed: Option<Vec<usize>>,
    /// A set about which it is known that it cannot be decided, and why.
    undecided: Option<(Vec<usize>, String)>,
    last_witness: Option<Witness>,
    /// Which threads may be looked at by themselves.
    few: Few,
    /// How many states a question may have that is asked as it is.
    few_states: u64,
    /// Whether a set was looked for that the text alone shows to be enough.
    easy_tried: bool,
    stats: Stats,
    notes: Vec<Note>,
}

/// How the search for the next set ends.
enum Proposal {
    /// The cheapest set that meets all clauses is enough.
    Confirmed(Vec<usize>),
    /// No set meets all clauses.
    NoMore,
    /// A limit.
    Stopped(String),
}

impl<'a> Search<'a> {
    fn new(candidates: &'a Candidates, options: &'a Options, control: &'a Control<'a>) -> Self {
        Search {
            candidates,
            costs: candidates.all.iter().map(|c| c.cost).collect(),
            options,
            control,
            start: Instant::now(),
            clauses: Vec::new(),
            violations: 0,
            lower_bound: 0,
            confirmed: None,
            undecided: None,
            last_witness: None,
            few: Few::new(&candidates.base, options.criterion),
            few_states: FEW_STATES,
            easy_tried: false,
            stats: Stats::default(),
            notes: Vec::new(),
        }
    }

    /// Whether a program that is robust under the model is decided by what it does under SC, while others may not be decided at all.
    fn robust_is_easier(&self) -> bool {
        self.options.model.has_messages() && self.options.criterion == Criterion::Safe
    }

    /// `safe` under RA, C++20 and RC11: the cheapest set that makes the program robust is a set that makes it safe, if any does. It bounds the cost.
    fn begin_with_robust(&mut self) -> Result<(), Refusal> {
        if !self.robust_is_easier() || self.is_settled(&[], self.options.timeout.map(|t| t / 3))? {
            return Ok(());
        }
        let options = Options {
            criterion: Criterion::Robust,
            timeout: self.options.timeout.map(|t| t / 3),
            ..self.options.clone()
        };
        let mut robust = Search::new(self.candidates, &options, self.control);
        let found = robust.next_set()?;
        self.stats.add(&robust.stats);
        if let Proposal::Confirmed(set) = found {
            self.is_settled(&set, self.options.timeout.map(|t| t * 4 / 5))?;
        }
        Ok(())
    }

    /// Asks about a set, and keeps what is learned. Whether nothing else needs to be asked: the set is enough, or no set is.
    fn is_settled(&mut self, set: &[usize], until: Option<Duration>) -> Result<bool, Refusal> {
        let answer = self.ask(set, until)?;
        match answer.verdict {
            Verdict::Holds => {
                self.confirm(set);
                add_new(&mut self.notes, answer.notes);
                Ok(true)
            }
            Verdict::Violated => {
                // What it says is true, also where nothing can be learned from it.
                let _ = self.learn(set, answer);
                Ok(self.clauses.contains(&Clause::default()))
            }
            Verdict::Unknown(reason) => {
                self.undecided = Some((set.to_vec(), reason));
                Ok(false)
            }
        }
    }

    /// The cheapest set that makes the criterion hold and meets the clauses.
    fn next_set(&mut self) -> Result<Proposal, Refusal> {
        loop {
            let chosen = match cheapest(&self.costs, &self.clauses) {
                Ok(Some(chosen)) => chosen,
                Ok(None) => return Ok(Proposal::NoMore),
                Err(reason) => return Ok(Proposal::Stopped(reason)),
            };
            self.lower_bound = self.candidates.cost(&chosen);
            // A set that is enough, and nothing is cheaper.
            if let Some(known) = self.known_at_this_cost() {
                return Ok(Proposal::Confirmed(known));
            }
            if let Some((set, reason)) = &self.undecided
                && *set == chosen
            {
                return Ok(Proposal::Stopped(reason.clone()));
            }
            let until = self.options.timeout.map(|t| t - reserve(t));
            let answer = match self.at_once(&chosen, until)? {
                Some(answer) => answer,
                None if self.learn_from_few(&chosen, until)? => continue,
                None if self.has_easy_set(&chosen, until)? => continue,
                None => self.ask(&chosen, until)?,
            };
            match answer.verdict {
                Verdict::Holds => {
                    self.confirm(&chosen);
                    add_new(&mut self.notes, answer.notes);
                    return Ok(Proposal::Confirmed(chosen));
                }
                Verdict::Unknown(reason) => {
                    add_new(&mut self.notes, answer.notes);
                    return Ok(Proposal::Stopped(reason));
                }
                Verdict::Violated => {
                    if let Err(reason) = self.learn(&chosen, answer) {
                        return Ok(Proposal::Stopped(reason));
                    }
                }
            }
        }
    }

    /// A set that is known to be enough, if it costs no more than any can and meets all clauses.
    fn known_at_this_cost(&self) -> Option<Vec<usize>> {
        let known = self.confirmed.as_ref()?;
        let is_cheapest = self.candidates.cost(known) == self.lower_bound;
        let is_new = self.clauses.iter().all(|clause| clause.is_met(known));
        (is_cheapest && is_new).then(|| known.clone())
    }

    /// The answer about a set, if it takes few states. Where nothing cheaper can be tried, nothing is asked.
    fn at_once(
        &mut self,
        chosen: &[usize],
        until: Option<Duration>,
    ) -> Result<Option<Answer>, Refusal> {
        if self.few.sizes.is_empty() {
            return Ok(None);
        }
        let repaired = self.candidates.program(chosen);
        let answer = self.ask_within(&repaired, until, Some(self.few_states))?;
        Ok(Some(answer).filter(|answer| !matches!(answer.verdict, Verdict::Unknown(_))))
    }

    /// Looks for violations with these repairs in which few threads move, of each choice of threads one. Whether any was found.
    fn learn_from_few(
        &mut self,
        chosen: &[usize],
        until: Option<Duration>,
    ) -> Result<bool, Refusal> {
        let repaired = self.candidates.program(chosen);
        for size in 0..self.few.sizes.len() {
            let mut learned = false;
            for choice in 0..self.few.sizes[size].len() {
                let moving = self.few.sizes[size][choice].clone();
                let met = self.repairs_of(&moving, chosen);
                let is_over = until.is_some_and(|until| self.start.elapsed() >= until);
                if is_over || self.few.is_settled(&moving, &met) {
                    continue;
                }
                let program = few::only(&repaired, &moving);
                let answer = self.ask_within(&program, until, Some(FEW_STATES))?;
                match answer.verdict {
                    Verdict::Violated => learned |= self.learn(chosen, answer).is_ok(),
                    Verdict::Holds | Verdict::Unknown(_) => self.few.settle(&moving, met),
                }
            }
            if learned {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Those of the chosen repairs that moving threads can meet.
    fn repairs_of(&self, moving: &Moving, chosen: &[usize]) -> Vec<usize> {
        let base = &self.candidates.base;
        let moves = |repair: Repair| match repair {
            Repair::Fence(place) => {
                let thread = base.places.get(place.index()).and_then(|p| p.thread);
                thread.is_none_or(|thread| moving[thread.index()] > 0)
            }
            Repair::Keep(_) | Repair::Rmw(_) | Repair::SeqCst(_) => true,
        };
        let chosen = chosen.iter().copied();
        chosen
            .filter(|&c| moves(self.candidates.all[c].repair))
            .collect()
    }

    /// Looks, once, for a set that the text alone shows to be enough. Whether one is known now that costs no more than any can.
    ///
    /// It begins with all repairs and leaves out what can be left out, those that are proposed last.
    fn has_easy_set(
        &mut self,
        proposed: &[usize],
        until: Option<Duration>,
    ) -> Result<bool, Refusal> {
        if std::mem::replace(&mut self.easy_tried, true) || self.few.sizes.is_empty() {
            return Ok(false);
        }
        let mut set: Vec<usize> = (0..self.candidates.all.len()).collect();
        set.sort_by_key(|c| (proposed.contains(c), std::cmp::Reverse(self.costs[*c])));
        self.leave_out(set, until, |search, set| {
            let mut set = set.to_vec();
            set.sort_unstable();
            if !search.clauses.iter().all(|clause| clause.is_met(&set)) {
                return Ok(false);
            }
            let repaired = search.candidates.program(&set);
            let answer = search.ask_within(&repaired, until, Some(NO_SEARCH))?;
            let holds = answer.verdict == Verdict::Holds;
            if holds {
                search.confirm(&set);
                add_new(&mut search.notes, answer.notes);
            }
            Ok(holds)
        })?;
        Ok(self.known_at_this_cost().is_some())
    }

    /// Whether the criterion holds with these repairs. `until` is counted from the beginning of the search.
    fn ask(&mut self, chosen: &[usize], until: Option<Duration>) -> Result<Answer, Refusal> {
        self.ask_within(&self.candidates.program(chosen), until, None)
    }

    /// Whether the criterion holds for a program, within so many states: the one way from here to the checker.
    fn ask_within(
        &mut self,
        program: &Program,
        until: Option<Duration>,
        most_states: Option<u64>,
    ) -> Result<Answer, Refusal> {
        let rounds = Rounds {
            violations: self.violations,
            lower_bound: self.lower_bound,
            upper_bound: self.confirmed.as_ref().map(|c| self.candidates.cost(c)),
        };
        let show = |progress: &Progress| {
            (self.control.progress)(&Progress {
                rounds: Some(rounds),
                ..*progress
            });
        };
        show(&Progress::default());
        let options = Options {
            timeout: until.map(|until| until.saturating_sub(self.start.elapsed())),
            all: false,
            most_states: most_states
                .into_iter()
                .chain(self.options.most_states)
                .min(),
            ..self.options.clone()
        };
        let control = Control {
            cancel: self.control.cancel,
            progress: &show,
        };
        let answer = check(program, &options, &control)?;
        self.stats.states += answer.stats.states;
        self.stats.transitions += answer.stats.transitions;
        self.stats.queries += 1;
        self.stats.pruned += answer.stats.pruned;
        let peak = &mut self.stats.peak_memory_bytes;
        *peak = (*peak).max(answer.stats.peak_memory_bytes);
        Ok(answer)
    }

    /// Adds what a violation says.
    fn learn(&mut self, chosen: &[usize], answer: Answer) -> Result<(), String> {
        self.violations += 1;
        let repaired = self.candidates.program(chosen);
        let before = self.clauses.len();
        for witness in &answer.witnesses {
            for clause in learn::learn(self.candidates, &repaired, chosen, witness) {
                if !self.clauses.contains(&clause) {
                    self.clauses.push(clause);
                }
            }
        }
        self.last_witness = answer.witnesses.into_iter().next();
        if self.clauses.len() == before {
            return Err("a violation does not say which fences would prevent it".to_owned());
        }
        Ok(())
    }

    fn confirm(&mut self, chosen: &[usize]) {
        let cost = |chosen: &[usize]| self.candidates.cost(chosen);
        let known = self.confirmed.as_ref();
        if known.is_none_or(|known| cost(chosen) < cost(known)) {
            self.confirmed = Some(chosen.to_vec());
        }
    }

    fn repair_set(&self, chosen: &[usize]) -> RepairSet {
        RepairSet {
            repairs: chosen.iter().map(|&c| self.candidates.all[c]).collect(),
            cost: self.candidates.cost(chosen),
        }
    }

    /// Every set from which nothing can be left out, `first` being the cheapest.
    ///
    /// Each set that is found forbids its supersets. The cheapest set that is then left has no smaller one inside that is enough: that
    /// would be cheaper, and contains no set that was found before.
    fn all_sets(&mut self, first: Vec<usize>, bounds: Bounds) -> Result<AllSets, Refusal> {
        let mut sets = Vec::new();
        let mut found = first;
        let complete = loop {
            let set = self.repair_set(&found);
            if bounds.cost.is_some_and(|most| set.cost > most) {
                break Err("others cost more than the bound".to_owned());
            }
            if sets.len() == bounds.sets {
                break Err(format!("there are more than {}", bounds.sets));
            }
            sets.push(set);
            self.clauses.push(Clause {
                any: Vec::new(),
                not_all: found,
            });
            match self.next_set()? {
                Proposal::Confirmed(chosen) => found = chosen,
                Proposal::NoMore => break Ok(()),
                Proposal::Stopped(reason) => break Err(reason),
            }
        };
        Ok(AllSets { sets, complete })
    }

    /// For each repair a violation that returns without it.
    fn explanations(&mut self, chosen: &[usize]) -> Result<Vec<(Repair, Witness)>, Refusal> {
        let mut explanations = Vec::new();
        for &repair in chosen {
            let mut others = chosen.to_vec();
            others.retain(|&other| other != repair);
            let answer = self.ask(&others, self.options.timeout)?;
            if let Some(witness) = answer.witnesses.into_iter().next() {
                explanations.push((self.candidates.all[repair].repair, witness));
            } else if let Verdict::Unknown(reason) = answer.verdict {
                add_new(&mut self.notes, [Note::RepairUnexplained(reason)]);
            }
        }
        Ok(explanations)
    }

    /// At a limit: tries to find some set that is enough, beginning with all repairs and leaving out what can be left out.
    fn upper_bound(&mut self) -> Result<(), Refusal> {
        if self.confirmed.is_some() || self.robust_is_easier() {
            return Ok(());
        }
        // Where there is no limit on the time, as much again as has been spent, but not for long.
        let spent = self.start.elapsed();
        let limit = self.options.timeout;
        let until = limit.unwrap_or_else(|| spent + spent.min(MOST_RESERVE));
        let set: Vec<usize> = (0..self.candidates.all.len()).collect();
        self.leave_out(set, Some(until), |search, set| search.is_enough(set, until))
    }

    /// Leaves out of a set what can be left out, from its beginning on: first many at a time, then fewer.
    fn leave_out(
        &mut self,
        mut set: Vec<usize>,
        until: Option<Duration>,
        mut is_enough: impl FnMut(&mut Self, &[usize]) -> Result<bool, Refusal>,
    ) -> Result<(), Refusal> {
        if !is_enough(self, &set)? {
            return Ok(());
        }
        let mut size = set.len().div_ceil(2);
        loop {
            let mut at = 0;
            while at < set.len() {
                if until.is_some_and(|until| self.start.elapsed() >= until) {
                    return Ok(());
                }
                let mut smaller = set.clone();
                smaller.drain(at..(at + size).min(set.len()));
                if is_enough(self, &smaller)? {
                    set = smaller;
                } else {
                    at += size;
                }
            }
            if size <= 1 {
                return Ok(());
            }
            size = size.div_ceil(2);
        }
    }

    /// Whether a set is enough, as far as that can be found out in time.
    fn is_enough(&mut self, chosen: &[usize], until: Duration) -> Result<bool, Refusal> {
        let cancelled = self.control.cancel.load(Ordering::Relaxed);
        if cancelled || !self.clauses.iter().all(|clause| clause.is_met(chosen)) {
            return Ok(false);
        }
        // No single question may use up all the time that is left.
        let now = self.start.elapsed();
        let half = now + until.saturating_sub(now) / 2;
        let answer = self.ask(chosen, Some(half))?;
        match answer.verdict {
            Verdict::Holds => {
                self.confirm(chosen);
                Ok(true)
            }
            Verdict::Violated => {
                // What it says is true, also where nothing can be learned from it.
                let _ = self.learn(chosen, answer);
                Ok(false)
            }
            Verdict::Unknown(_) => Ok(false),
        }
    }
}

fn reserve(timeout: Duration) -> Duration {
    (timeout / 10).min(MOST_RESERVE)
}
