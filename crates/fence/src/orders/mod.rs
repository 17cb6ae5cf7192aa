//! The cheapest orders.
//!
//! The main function is [`orders`]: of all choices of orders for the accesses and fences of a program (and of new fences) it finds a cheapest one
//! with which the criterion holds, and shows that no cheaper one is enough.
//!
//! It searches like [`crate::fences`]: an integer program proposes the cheapest choice that prevents every violation known so far; the checker confirms it, or yields
//! one more violation. What that says about all choices is in `execution`: every choice that is nowhere above a strongest one that
//! leaves the violation's graph in the model has that violation. So some access or fence must be stronger than there: that is the clause. (That a single
//! one were strong enough by itself is not said: two may be needed together, and then the next proposal has this graph again, and gives another clause.)

mod slots;
#[cfg(test)]
mod tests;

pub use slots::{Choices, Slot};

use palisade_check::note::{Note, add_new};
use palisade_check::{
    Answer, Control, Criterion, Options, Progress, Refusal, Rounds, Stats, Verdict, Witness,
};
use palisade_lang::never::mentions_deadlock;
use palisade_lang::{Instance, Order, OrderChange, Ordered};
use palisade_memory::PatternKind;
use palisade_param::check;

use crate::cover::{Clause, cheapest_of_groups};
use crate::execution::{Execution, Shows, Strength};
use crate::passed::Passed;
use slots::order_of;
use web_time::{Duration, Instant};

/// What may be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Freedom {
    /// Orders may become weaker, and fences may go.
    pub weaken: bool,
    /// Orders may become stronger.
    pub strengthen: bool,
    /// New fences may be put in, where orders may become stronger.
    pub fences: bool,
    /// Stores may become exchanges.
    pub exchanges: bool,
    /// Lines in which nothing is changed.
    pub keep: Vec<u32>,
}

impl Freedom {
    /// Everything but exchanges.
    pub const ORDERS: Freedom = Freedom {
        weaken: true,
        strengthen: true,
        fences: true,
        exchanges: false,
        keep: Vec::new(),
    };

    /// Whether something may not be changed that usually may.
    pub fn is_restricted(&self) -> bool {
        let usual = self.weaken && self.strengthen && self.fences;
        !usual || !self.keep.is_empty()
    }
}

/// Orders with which the criterion holds: the checker has confirmed them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// What differs from the text, in its order.
    pub changes: Vec<OrderChange>,
    /// What all orders cost together, changed or not.
    pub cost: u64,
}

/// What came out of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrdersResult {
    /// With these orders the criterion holds, and with no cheaper ones.
    Optimal(Assignment),
    /// No orders make it hold.
    None,
    /// Not decided, and why; all orders that make it hold cost at least `lower_bound`.
    Unknown {
        /// What stopped the search.
        reason: String,
        /// What is known about the cost.
        lower_bound: u64,
        /// The best orders that were confirmed, if any were.
        confirmed: Option<Assignment>,
    },
}

/// Why an order of the answer is as strong as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Needed {
    /// What has the order.
    pub slot: Slot,
    /// The order of the answer.
    pub order: Order,
    /// One step weaker; `None`: without the fence.
    pub weaker: Option<Order>,
    /// The violation that is there with the weaker one; `None` where there is none, and the order costs nothing.
    pub witness: Option<Witness>,
}

/// The answer to the question for the cheapest orders.
#[derive(Clone, Debug)]
pub struct Orders {
    /// What was found.
    pub result: OrdersResult,
    /// Whether the criterion holds for the text as it is, where that is known, and what its orders cost.
    pub written: (Option<bool>, u64),
    /// Where no orders help: a violation that all have.
    pub witness: Option<Witness>,
    /// Where it was wanted: for each order of the answer that is not `relaxed` what goes wrong one step below.
    pub needed: Vec<Needed>,
    /// How many proposals were checked: `queries`; the states of all checks together.
    pub stats: Stats,
    /// What the user should know beside it.
    pub notes: Vec<Note>,
}

/// Finds the cheapest orders that make `options.criterion` hold under `options.model` (`c20` or `rc11`).
pub fn orders(
    choices: &Choices,
    options: &Options,
    explain: bool,
    control: &Control<'_>,
) -> Result<Orders, Refusal> {
    // An exchange reads, and under this criterion it matters what is done with what is read: a graph with the store says nothing about one with the exchange.
    if options.criterion == Criterion::Observational && choices.may_exchange() {
        return Err(Refusal {
            message: "for `observational` no store can become an exchange: leave `--exchanges` out"
                .to_owned(),
            span: None,
        });
    }
    let mut search = Search::new(choices, options, control);
    let mut found = Orders {
        result: OrdersResult::None,
        written: (None, choices.cost(&choices.written())),
        witness: None,
        needed: Vec::new(),
        stats: Stats::default(),
        notes: Vec::new(),
    };
    found.written.0 = search.begin()?;
    match search.run()? {
        Ended::Confirmed(chosen) => {
            if explain {
                found.needed = search.needed(&chosen)?;
            }
            found.result = OrdersResult::Optimal(search.assignment(&chosen));
        }
        Ended::NoMore => found.witness = search.last_witness.take(),
        Ended::Stopped(reason) => {
            found.result = OrdersResult::Unknown {
                reason,
                lower_bound: search.lower_bound,
                confirmed: search.confirmed.as_ref().map(|c| search.assignment(c)),
            };
        }
    }
    found.stats = Stats {
        wall: search.start.elapsed(),
        ..search.stats
    };
    found.notes = search.notes;
    Ok(found)
}

enum Ended {
    /// The cheapest choice that meets all clauses is enough.
    Confirmed(Vec<Strength>),
    /// No choice meets all clauses.
    NoMore,
    /// A limit.
    Stopped(String),
}

struct Search<'a> {
    choices: &'a Choices,
    options: &'a Options,
    control: &'a Control<'a>,
    start: Instant,
    /// The integer program's variables: a choice and one of its levels. Each choice has one of its levels.
    variables: Vec<(usize, Strength)>,
    groups: Vec<Vec<usize>>,
    costs: Vec<u64>,
    clauses: Vec<Clause>,
    /// The violations so far.
    executions: Vec<Execution>,
    lower_bound: u64,
    confirmed: Option<Vec<Strength>>,
    /// What is known to be undecided, and why.
    undecided: Vec<(Vec<Strength>, String)>,
    last_witness: Option<Witness>,
    stats: Stats,
    notes: Vec<Note>,
}

impl<'a> Search<'a> {
    fn new(choices: &'a Choices, options: &'a Options, control: &'a Control<'a>) -> Self {
        let mut variables = Vec::new();
        let mut groups = Vec::new();
        let mut costs = Vec::new();
        // Of choices that cost the same, one that changes less: that counts less than any difference of costs.
        let scale = choices.all.len() as u64 + 1;
        for (index, choice) in choices.all.iter().enumerate() {
            let mut group = Vec::new();
            for level in &choice.levels {
                group.push(variables.len());
                variables.push((index, level.strength));
                costs.push(level.cost * scale + u64::from(level.strength != choice.written));
            }
            groups.push(group);
        }
        Search {
            choices,
            options,
            control,
            start: Instant::now(),
            variables,
            groups,
            costs,
            clauses: Vec::new(),
            executions: Vec::new(),
            lower_bound: 0,
            confirmed: None,
            undecided: Vec::new(),
            last_witness: None,
            stats: Stats::default(),
            notes: Vec::new(),
        }
    }

    /// Asks about the strongest orders, with which it holds if with any, and about those of the text. Says whether it holds for the text.
    fn begin(&mut self) -> Result<Option<bool>, Refusal> {
        let written = self.choices.written();
        let until = self.options.timeout.map(|t| t / 4);
        let text = self.learn_about(&written, until)?;
        if text != Some(true) {
            let strongest = self.choices.strongest();
            let settled = self.learn_about(&strongest, self.options.timeout.map(|t| t / 3))?;
            if settled == Some(false) {
                return Ok(text);
            }
        }
        // What makes the program robust makes it safe, if anything does; and robust programs are easier to decide.
        if self.options.criterion == Criterion::Safe {
            let options = Options {
                criterion: Criterion::Robust,
                timeout: self.options.timeout.map(|t| t / 4),
                ..self.options.clone()
            };
            let mut robust = Search::new(self.choices, &options, self.control);
            let ended = robust.run()?;
            self.stats.add(&robust.stats);
            if let Ended::Confirmed(chosen) = ended {
                self.learn_about(&chosen, self.options.timeout.map(|t| t * 3 / 4))?;
            }
        }
        Ok(text)
    }

    /// Asks about a choice and keeps the answer.
    fn learn_about(
        &mut self,
        chosen: &[Strength],
        until: Option<Duration>,
    ) -> Result<Option<bool>, Refusal> {
        let answer = self.ask(chosen, until)?;
        Ok(match answer.verdict {
            Verdict::Holds => {
                self.confirm(chosen, answer.notes);
                Some(true)
            }
            Verdict::Violated => {
                if let Err(reason) = self.learn(chosen, answer) {
                    self.undecided.push((chosen.to_vec(), reason));
                }
                Some(false)
            }
            Verdict::Unknown(reason) => {
                self.undecided.push((chosen.to_vec(), reason));
                None
            }
        })
    }

    fn run(&mut self) -> Result<Ended, Refusal> {
        loop {
            let chosen = match cheapest_of_groups(&self.costs, &self.clauses, &self.groups) {
                Ok(Some(variables)) => self.chosen(&variables),
                Ok(None) => return Ok(Ended::NoMore),
                Err(reason) => return Ok(Ended::Stopped(reason)),
            };
            self.lower_bound = self.choices.cost(&chosen);
            if let Some(known) = &self.confirmed
                && self.choices.cost(known) == self.lower_bound
                && self.changed(known) <= self.changed(&chosen)
            {
                return Ok(Ended::Confirmed(known.clone()));
            }
            // A violation that is known already, and that no clause so far says everything about.
            let is_there = |e: &&Execution| e.is_violation(&|choice| chosen[choice]);
            if let Some(execution) = self.executions.iter().find(is_there) {
                let clauses = self.clauses_of(&execution.clone(), &chosen);
                self.add(clauses);
                continue;
            }
            if let Some((_, reason)) = self.undecided.iter().find(|u| u.0 == chosen) {
                let reason = reason.clone();
                return Ok(self.stopped(reason));
            }
            let answer = self.ask(&chosen, self.options.timeout)?;
            match answer.verdict {
                Verdict::Holds => {
                    self.confirm(&chosen, answer.notes);
                    return Ok(Ended::Confirmed(chosen));
                }
                Verdict::Unknown(reason) => return Ok(self.stopped(reason)),
                Verdict::Violated => {
                    if let Err(reason) = self.learn(&chosen, answer) {
                        return Ok(self.stopped(reason));
                    }
                }
            }
        }
    }

    /// Where nothing is left to be decided but which of two choices with the same cost changes less, one of them is known.
    fn stopped(&self, reason: String) -> Ended {
        match &self.confirmed {
            Some(known) if self.choices.cost(known) == self.lower_bound => {
                Ended::Confirmed(known.clone())
            }
            _ => Ended::Stopped(reason),
        }
    }

    fn changed(&self, chosen: &[Strength]) -> usize {
        let all = self.choices.all.iter().zip(chosen);
        all.filter(|(choice, strength)| choice.written != **strength)
            .count()
    }

    fn chosen(&self, variables: &[usize]) -> Vec<Strength> {
        let mut chosen = vec![Strength::NONE; self.choices.all.len()];
        for &variable in variables {
            let (choice, strength) = self.variables[variable];
            chosen[choice] = strength;
        }
        chosen
    }

    /// Whether the criterion holds with these orders. `until` is counted from the beginning of the search.
    fn ask(&mut self, chosen: &[Strength], until: Option<Duration>) -> Result<Answer, Refusal> {
        let rounds = Rounds {
            violations: self.executions.len() as u64,
            lower_bound: self.lower_bound,
            upper_bound: self.confirmed.as_ref().map(|c| self.choices.cost(c)),
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
            ..self.options.clone()
        };
        let control = Control {
            cancel: self.control.cancel,
            progress: &show,
        };
        let answer = check(&self.choices.program(chosen), &options, &control)?;
        self.stats.add(&Stats {
            queries: 1,
            ..answer.stats
        });
        Ok(answer)
    }

    /// Adds what a violation says.
    fn learn(&mut self, chosen: &[Strength], answer: Answer) -> Result<(), String> {
        let before = self.clauses.len();
        for witness in &answer.witnesses {
            let execution = self.execution(chosen, witness)?;
            let clauses = self.clauses_of(&execution, chosen);
            self.executions.push(execution);
            self.add(clauses);
        }
        self.last_witness = answer.witnesses.into_iter().next();
        match self.clauses.len() > before {
            true => Ok(()),
            false => Err("a violation does not say which orders would prevent it".to_owned()),
        }
    }

    fn execution(&self, chosen: &[Strength], witness: &Witness) -> Result<Execution, String> {
        let deadlock = mentions_deadlock(&self.choices.program);
        let is_never = |p: &palisade_memory::Pattern| p.kind == PatternKind::Never;
        if deadlock && witness.pattern.as_ref().is_some_and(is_never) {
            return Err("a `never` speaks of `deadlock`, which weaker orders may end and stronger ones may cause".to_owned());
        }
        let repaired = self.choices.program(chosen);
        let program = match witness.copies {
            None => repaired,
            Some(number) => repaired.with_copies(number),
        };
        let shows = |instance: &Instance, step: &Passed, writes: bool| {
            let thread = program.thread(instance.thread);
            let mut shown = Vec::new();
            let place = thread.points[step.point.index()].place;
            if let Some(choice) = place.and_then(|place| self.choices.at_place(place)) {
                if chosen[choice] != Strength::NONE {
                    return vec![Shows::Instead(choice)];
                }
                shown.push(Shows::Before(choice));
            }
            let transition = &thread.transitions[step.transition];
            let here = self
                .choices
                .of_instruction(&program, thread, transition, writes);
            shown.extend(here.map(|(choice, store)| match store {
                true => Shows::Store(choice),
                false => Shows::Instead(choice),
            }));
            shown
        };
        let lost = || "the run of a violation could not be followed".to_owned();
        let execution = Execution::new(&program, witness, &shows).ok_or_else(lost)?;
        match execution.is_violation(&|choice| chosen[choice]) {
            true => Ok(execution),
            false => Err(lost()),
        }
    }

    /// What a violation says, given orders that have it.
    fn clauses_of(&self, execution: &Execution, chosen: &[Strength]) -> Vec<Clause> {
        let levels = |choice: usize| self.choices.all[choice].strengths();
        let mut orders = execution.orders();
        if orders.is_empty() {
            orders.push(Vec::new());
        }
        let mut clauses = Vec::new();
        for order in orders {
            let strongest = execution.strongest(chosen, &levels, &order);
            let passed = execution.choices();
            let is_stronger = |&(choice, strength): &(usize, Strength)| {
                passed.binary_search(&choice).is_ok() && !strongest[choice].contains(strength)
            };
            let all = self.variables.iter().enumerate();
            let any = all.filter(|(_, v)| is_stronger(v)).map(|(index, _)| index);
            clauses.push(Clause {
                any: any.collect(),
                not_all: Vec::new(),
            });
        }
        clauses
    }

    fn add(&mut self, clauses: Vec<Clause>) {
        for clause in clauses {
            if !self.clauses.contains(&clause) {
                self.clauses.push(clause);
            }
        }
    }

    /// Keeps the best choice that is enough, with what was said about it: what was said about others is not about the answer.
    fn confirm(&mut self, chosen: &[Strength], notes: Vec<Note>) {
        let rank = |chosen: &[Strength]| (self.choices.cost(chosen), self.changed(chosen));
        let known = self.confirmed.as_ref();
        if known.is_none_or(|known| rank(chosen) < rank(known)) {
            self.confirmed = Some(chosen.to_vec());
            self.notes = notes;
        }
    }

    fn assignment(&self, chosen: &[Strength]) -> Assignment {
        Assignment {
            changes: self.choices.changes(chosen),
            cost: self.choices.cost(chosen),
        }
    }

    /// For each order that is not `relaxed` a violation that is there when just it is one step weaker.
    fn needed(&mut self, chosen: &[Strength]) -> Result<Vec<Needed>, Refusal> {
        let mut needed = Vec::new();
        for (index, choice) in self.choices.all.iter().enumerate() {
            let what = match choice.slot {
                Slot::Site(site) => site.what,
                Slot::Place(_) => Ordered::Fence,
            };
            for weaker in choice.weaker(chosen[index]) {
                let mut others = chosen.to_vec();
                others[index] = weaker;
                let answer = self.ask(&others, self.options.timeout)?;
                if let Verdict::Unknown(reason) = answer.verdict {
                    add_new(&mut self.notes, [Note::OrderUnexplained(reason)]);
                    continue;
                }
                let is_fence = what == Ordered::Fence;
                needed.push(Needed {
                    slot: choice.slot,
                    order: order_of(what, chosen[index]),
                    weaker: (!is_fence || weaker != Strength::NONE).then(|| order_of(what, weaker)),
                    witness: answer.witnesses.into_iter().next(),
                });
            }
        }
        Ok(needed)
    }
}
