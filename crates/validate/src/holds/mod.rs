//! Certificates: sets of states that show that a criterion holds.
//!
//! [`validate_certificate`] believes nothing that a certificate says. It takes each state, derives all its steps by rules as plain as the
//! papers', looks at whether it violates, and then checks that the initial state and everything that a step leads to is in the set, or a state that covers it.
//! Successors are sorted and merged with the certificate, on disk where memory ends, so that it works for sets of any size. (Those for any number of threads
//! are kept in memory.)

mod attacks;
mod buffers;
mod choices;
mod copies;
mod helpers;
mod lagging;
mod listeners;
mod live;
mod messages;
mod monitors;
mod patterns;
mod places;
mod states;
mod suspects;

use crate::Invalid;
use live::Live;
use palisade_certificate::{
    Header, Locations, Proof, Reader, Sorted, Sorter, Unusable, decode, encode,
};
use palisade_lang::Program;
use palisade_memory::ra_accepts::{blocks_end, refusal};
use palisade_memory::{Criterion, Machine, Model, Ra, Sc};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::BufRead;

/// What is to be shown about a program. All of it comes from the caller, and nothing from the certificate: a proof does not choose what it proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Under this model …
    pub model: Model,
    /// … this criterion holds.
    pub criterion: Criterion,
    /// On which locations races count.
    pub locations: Locations,
}

impl Asked {
    /// Whether a criterion holds under a model; races count on the locations that are declared for them.
    pub fn new(model: Model, criterion: Criterion) -> Self {
        Asked {
            model,
            criterion,
            locations: Locations::Declared,
        }
    }

    fn in_words(self) -> String {
        let (model, criterion) = (self.model.name(), self.criterion.name());
        match self.locations {
            Locations::Declared => format!("`{criterion}` under `{model}`"),
            Locations::All => {
                format!("`{criterion}` under `{model}` with races on all locations")
            }
        }
    }
}

/// What a valid certificate shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certified {
    /// This holds.
    pub asked: Asked,
    /// What its states are.
    pub proof: Proof,
    /// How many states it has; for any number of threads: how many ideals and minimal states.
    pub states: u64,
}

/// Why a certificate shows nothing.
#[derive(Debug)]
pub enum Rejected {
    /// It is one, and it is wrong.
    Invalid(Invalid),
    /// It cannot be read, or nothing is known about such certificates.
    Unusable(String),
}

impl From<Unusable> for Rejected {
    fn from(Unusable(message): Unusable) -> Self {
        Rejected::Unusable(message)
    }
}

impl From<std::io::Error> for Rejected {
    fn from(error: std::io::Error) -> Self {
        Rejected::Unusable(format!("its states cannot be sorted: {error}"))
    }
}

fn invalid(message: impl Into<String>) -> Rejected {
    Rejected::Invalid(Invalid::new(message))
}

/// The rules by which a set of states is judged.
trait Rules {
    /// The state at the beginning.
    fn initial(&self) -> Vec<i64>;

    /// Calls `next` with everything that a step leads to; or says what is wrong with the state.
    fn visit(&self, state: &[i64], next: &mut dyn FnMut(&[i64])) -> Result<(), String>;

    /// So many numbers are the same in a state and in one that covers it; `None` where all are.
    fn base(&self) -> Option<usize> {
        None
    }

    /// What a state says beyond its base. One of two states with the same base covers the other if it says all that the other one does: then it
    /// violates if that one does, and can make the same steps, to states that cover those that the other one leads to.
    /// `None` where nothing covers anything.
    fn facts(&self, _state: &[i64]) -> Option<Vec<Fact>> {
        None
    }
}

/// Something that a state says: what kind of thing, and about what.
type Fact = [i64; 5];

/// Sets of facts as bits, of which many are compared with many.
#[derive(Default)]
struct FactSets(HashMap<Fact, usize>);

impl FactSets {
    fn of(&mut self, rules: &dyn Rules, state: &[i64]) -> Option<Vec<u64>> {
        let mut set = Vec::new();
        for fact in rules.facts(state)? {
            let next = self.0.len();
            let bit = *self.0.entry(fact).or_insert(next);
            if set.len() <= bit / 64 {
                set.resize(bit / 64 + 1, 0);
            }
            set[bit / 64] |= 1 << (bit % 64);
        }
        Some(set)
    }
}

fn includes(one: &[u64], other: &[u64]) -> bool {
    let word = |at: usize| one.get(at).copied().unwrap_or(0);
    (other.iter().enumerate()).all(|(at, bits)| bits & !word(at) == 0)
}

/// Bytes of states with the same base that are compared in memory, however little there is.
const LEAST_GROUP: usize = 16 << 20;

/// Bytes of states that are sorted in memory before they go to disk.
const SORTED_IN_MEMORY: usize = 64 << 20;

/// Whether the certificate shows what is asked about the program. `open` begins to read it, and is called twice; both readings must see the same bytes.
pub fn validate_certificate<R: BufRead>(
    program: &Program,
    asked: Asked,
    open: impl FnMut() -> Result<Reader<R>, Unusable>,
) -> Result<Certified, Rejected> {
    validate_certificate_within(program, asked, SORTED_IN_MEMORY, open)
}

/// The same, sorting on disk what is more than about this many bytes.
pub fn validate_certificate_within<R: BufRead>(
    program: &Program,
    asked: Asked,
    bytes: usize,
    mut open: impl FnMut() -> Result<Reader<R>, Unusable>,
) -> Result<Certified, Rejected> {
    let reader = open()?;
    let header = reader.header.clone();
    let claim = header.claim;
    let claimed = Asked {
        model: claim.model,
        criterion: claim.criterion,
        locations: claim.locations,
    };
    if claimed != asked {
        return Err(invalid(format!(
            "it is about {}, and {} is asked",
            claimed.in_words(),
            asked.in_words()
        )));
    }
    if header != Header::new(program, claim) {
        return Err(invalid("it was made for another program or question"));
    }
    // From here on the certificate says how it proves, and nothing else.
    let proof = claim.proof;
    let certified = |states| Certified {
        asked,
        proof,
        states,
    };
    if program.is_parameterised() {
        return judge_copies(program, asked, proof, reader).map(certified);
    }
    let (model, criterion) = (asked.model, asked.criterion);
    let machine = Sc::new(program);
    let safe = criterion == Criterion::Safe;
    let live = Live::new(machine.code(), safe);
    if (model, criterion, proof) == (Model::Tso, Criterion::Safe, Proof::LoadBuffers) {
        return lagging::Lagging::new(machine, &live)
            .judge(reader)
            .map(certified);
    }
    let rules: &dyn Rules = match (model, criterion, proof) {
        (Model::Sc, Criterion::Safe, Proof::States)
        | (Model::Sc | Model::Tso, Criterion::Drf, Proof::States)
        | (Model::Tso, Criterion::Trf | Criterion::Persistent, Proof::States) => {
            &patterns::Patterns::new(machine, criterion, asked.locations)
        }
        (Model::Tso, Criterion::Robust | Criterion::Safe, Proof::Attacks) => {
            &attacks::Attacks::new(machine, safe)
        }
        (Model::Tso, Criterion::Safe, Proof::Buffers(exact)) => {
            &buffers::Buffered::new(machine, exact)
        }
        (Model::Ra, Criterion::Robust | Criterion::Safe, Proof::Monitors) => {
            if let Some(refused) = refusal(program) {
                return Err(Rejected::Unusable(refused.message));
            }
            if safe && !blocks_end(program) {
                let why = "a block may not end: then SC does not tell what RA does";
                return Err(Rejected::Unusable(why.to_owned()));
            }
            &monitors::Monitors::new(machine, safe)
        }
        (Model::C20 | Model::Rc11, Criterion::Robust | Criterion::Safe, Proof::Suspects) => {
            if let Some(refused) = palisade_memory::c20::refusal(program) {
                return Err(Rejected::Unusable(refused.message));
            }
            if safe && !blocks_end(program) {
                let why = "a block may not end: then SC does not tell what the model does";
                return Err(Rejected::Unusable(why.to_owned()));
            }
            &suspects::Suspects::new(machine, model, safe)
        }
        (Model::Ra, Criterion::Safe, Proof::Messages) => {
            let machine = Ra::new(program);
            &messages::Messages::new(machine.map_err(|r| Rejected::Unusable(r.message))?)
        }
        _ => {
            return Err(Rejected::Unusable(format!(
                "such certificates for `{}` under `{}` are not known here",
                criterion.name(),
                model.name()
            )));
        }
    };
    judge(rules, &live, reader, bytes, &mut open).map(certified)
}

/// Judges a certificate for any number of threads, and counts its sets.
fn judge_copies<R: BufRead>(
    program: &Program,
    asked: Asked,
    proof: Proof,
    reader: Reader<R>,
) -> Result<u64, Rejected> {
    let (model, criterion) = (asked.model, asked.criterion);
    let known = match proof {
        Proof::LoadBuffers => (model, criterion) == (Model::Tso, Criterion::Safe),
        Proof::Basis => matches!(
            (model, criterion),
            (Model::Sc, Criterion::Safe)
                | (Model::Ra, Criterion::Robust)
                | (Model::Sc | Model::Tso, Criterion::Drf)
                | (
                    Model::Tso,
                    Criterion::Trf | Criterion::Persistent | Criterion::Robust
                )
        ),
        _ => false,
    };
    if !known {
        return Err(Rejected::Unusable(format!(
            "certificates for `{}` under `{}` and any number of threads are not known here",
            criterion.name(),
            model.name()
        )));
    }
    if criterion == Criterion::Safe && choices::not_upward_closed(program) {
        return Err(Rejected::Unusable(
            "a `never` may be false again with more copies, and nothing is known about such certificates"
                .to_owned(),
        ));
    }
    if model == Model::Ra
        && let Some(refused) = refusal(program)
    {
        return Err(Rejected::Unusable(refused.message));
    }
    if proof == Proof::LoadBuffers {
        let mut instance = program.with_copies(1);
        instance.nevers.clone_from(&program.nevers);
        return lagging::LaggingCopies::new(program, &instance).judge(reader);
    }
    let instance = program.with_copies(2);
    copies::Copied::new(program, &instance, (model, criterion), asked.locations).judge(reader)
}

/// Judges a set by its rules, and counts it.
fn judge<R: BufRead>(
    rules: &dyn Rules,
    live: &Live,
    mut reader: Reader<R>,
    bytes_in_memory: usize,
    open: &mut dyn FnMut() -> Result<Reader<R>, Unusable>,
) -> Result<u64, Rejected> {
    let mut reached = Sorter::with_run_bytes(bytes_in_memory);
    let mut canonical = rules.initial();
    let mut bytes = Vec::new();
    live.forget_others(&mut canonical);
    encode(&canonical, &mut bytes);
    reached.push(&bytes)?;
    let mut numbers = Vec::new();
    let mut number = 0u64;
    while let Some(state) = reader.next_state()? {
        number += 1;
        if decode(state, &mut numbers).is_none() {
            return Err(invalid(format!("state {number} is none of this program")));
        }
        let mut pushed = Ok(());
        let visited = rules.visit(&numbers, &mut |next| {
            canonical.clear();
            canonical.extend_from_slice(next);
            live.forget_others(&mut canonical);
            bytes.clear();
            encode(&canonical, &mut bytes);
            if pushed.is_ok() {
                pushed = reached.push(&bytes);
            }
        });
        pushed?;
        visited.map_err(|message| invalid(format!("state {number}: {message}")))?;
    }
    let first = reader.digest();
    drop(reader);
    let mut reader = open()?;
    let states = compare(rules, reached.finish()?, &mut reader, bytes_in_memory)?;
    if reader.digest() != first {
        let message = "it changed while it was read";
        return Err(Rejected::Unusable(message.to_owned()));
    }
    Ok(states)
}

/// Every state that is reached must be given, or one that covers it; and none is given that is not reached. Both are sorted, so those with
/// the same base stand together. Counts what is given.
fn compare<R: BufRead>(
    rules: &dyn Rules,
    mut reached: Sorted,
    reader: &mut Reader<R>,
    bytes_in_memory: usize,
) -> Result<u64, Rejected> {
    let missing = || {
        Err(invalid(
            "the initial state is missing, or a step leads to a state that is missing",
        ))
    };
    let unreached = |number: u64| Err(invalid(format!("no step leads to state {number}")));
    let base_of = |state: &[u8]| base(state, rules.base()).to_vec();
    let mut wanted = reached.next_string()?.map(<[u8]>::to_vec);
    let mut given = reader.next_state()?.map(<[u8]>::to_vec);
    // Those that are given with one base; whether they are reached.
    let mut group: Vec<(Vec<u8>, bool)> = Vec::new();
    let mut numbers = Vec::new();
    loop {
        let first = reader.count();
        let base = match (&wanted, &given) {
            (None, None) => return Ok(first),
            (Some(_), None) => return missing(),
            (None, Some(_)) => return unreached(first),
            (Some(wanted), Some(given)) => {
                let base = base_of(given);
                match base_of(wanted).cmp(&base) {
                    Ordering::Less => return missing(),
                    Ordering::Greater => return unreached(first),
                    Ordering::Equal => base,
                }
            }
        };
        group.clear();
        let mut held = 0;
        while let Some(state) = given.take_if(|state| base_of(state) == base) {
            held += state.len() + size_of::<(Vec<u8>, bool)>();
            if held > bytes_in_memory.max(LEAST_GROUP) {
                let message = "more states have the same base than fit into memory";
                return Err(Rejected::Unusable(message.to_owned()));
            }
            group.push((state, false));
            given = reader.next_state()?.map(<[u8]>::to_vec);
        }
        let mut sets = FactSets::default();
        let mut facts_of = |state: &[u8]| {
            decode(state, &mut numbers)?;
            sets.of(rules, &numbers)
        };
        // What those of the group say, once it is asked for.
        let mut said: Vec<Option<Vec<u64>>> = Vec::new();
        while let Some(state) = wanted.take_if(|state| base_of(state) == base) {
            match group.binary_search_by(|(given, _)| given.cmp(&state)) {
                Ok(at) => group[at].1 = true,
                Err(_) => {
                    if said.is_empty() {
                        said.extend(group.iter().map(|(given, _)| facts_of(given)));
                    }
                    let Some(wanted) = facts_of(&state) else {
                        return missing();
                    };
                    let covers = |given: &Vec<u64>| includes(given, &wanted);
                    if !said.iter().flatten().any(covers) {
                        return missing();
                    }
                }
            }
            wanted = reached.next_string()?.map(<[u8]>::to_vec);
        }
        if let Some(at) = group.iter().position(|(_, is_reached)| !is_reached) {
            return unreached(first + at as u64);
        }
    }
}

/// The bytes of the first numbers of a state.
fn base(state: &[u8], numbers: Option<usize>) -> &[u8] {
    let Some(numbers) = numbers else {
        return state;
    };
    // Only the last byte of a number is less than 0x80.
    let mut ends = (0..state.len()).filter(|&at| state[at] < 0x80);
    match numbers.checked_sub(1) {
        None => &[],
        Some(last) => ends.nth(last).map_or(state, |end| &state[..=end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_certificate::Claim;
    use palisade_testkit::{Shape, compare, oracle};

    /// Decides by the rules alone: everything that they reach from the beginning is visited, unless something that was visited covers it.
    fn holds(rules: &dyn Rules, program: &Program, safe: bool) -> Option<bool> {
        let live = Live::new(Sc::new(program).code(), safe);
        let mut initial = rules.initial();
        live.forget_others(&mut initial);
        let mut sets = FactSets::default();
        // By base: states, and what they say.
        type Known = Vec<(Vec<i64>, Option<Vec<u64>>)>;
        let mut seen: HashMap<Vec<i64>, Known> = HashMap::new();
        let mut count = 0;
        let mut todo = vec![initial];
        while let Some(state) = todo.pop() {
            let base = state[..rules.base().unwrap_or(state.len())].to_vec();
            let known = seen.entry(base).or_default();
            let said = sets.of(rules, &state);
            let covered = |by: &Option<Vec<u64>>| match (by, &said) {
                (Some(by), Some(said)) => includes(by, said),
                _ => false,
            };
            if (known.iter()).any(|(known, by)| *known == state || covered(by)) {
                continue;
            }
            known.push((state.clone(), said));
            count += 1;
            let visited = rules.visit(&state, &mut |next| {
                let mut next = next.to_vec();
                live.forget_others(&mut next);
                todo.push(next);
            });
            if visited.is_err() {
                return Some(false);
            }
            if count > 200_000 {
                return None;
            }
        }
        Some(true)
    }

    fn by_pattern(program: &Program, criterion: Criterion) -> Option<bool> {
        let machine = Sc::new(program);
        let rules = patterns::Patterns::new(machine, criterion, Locations::Declared);
        holds(&rules, program, criterion == Criterion::Safe)
    }

    /// The rules say the same as the definitions: what is closed under these steps and has no violation does prove the criterion.
    #[test]
    fn the_rules_are_right() {
        type Decide = fn(&Program) -> Option<bool>;
        fn by_suspicion(p: &Program, model: Model) -> Option<bool> {
            match palisade_memory::c20::refusal(p) {
                None => holds(&suspects::Suspects::new(Sc::new(p), model, false), p, false),
                Some(_) => None,
            }
        }
        let questions: [(Shape, Decide, Decide); 10] = [
            (Shape::SC, oracle::sc_safe, |p| {
                by_pattern(p, Criterion::Safe)
            }),
            (Shape::SC, oracle::sc_drf, |p| by_pattern(p, Criterion::Drf)),
            (Shape::TSO, oracle::tso_trf, |p| {
                by_pattern(p, Criterion::Trf)
            }),
            (Shape::TSO, oracle::tso_persistent, |p| {
                by_pattern(p, Criterion::Persistent)
            }),
            (Shape::TSO, oracle::tso_robust, |p| {
                holds(&attacks::Attacks::new(Sc::new(p), false), p, false)
            }),
            (Shape::TSO_REACH, oracle::tso_safe, |p| {
                holds(&buffers::Buffered::new(Sc::new(p), 20), p, true)
            }),
            (Shape::RA, oracle::ra_robust, |p| match refusal(p) {
                None => holds(&monitors::Monitors::new(Sc::new(p), false), p, false),
                Some(_) => None,
            }),
            (Shape::C20, oracle::c20_robust, |p| {
                by_suspicion(p, Model::C20)
            }),
            (Shape::C20_METHODS, oracle::c20_robust, |p| {
                by_suspicion(p, Model::C20)
            }),
            (Shape::RC11, oracle::rc11_robust, |p| {
                by_suspicion(p, Model::Rc11)
            }),
        ];
        for (number, (shape, expected, found)) in questions.into_iter().enumerate() {
            let within = |p: &Program| oracle::within(50_000, || expected(p));
            let compared = compare(&shape, 0..400, within, found);
            assert!(compared.violated > 5, "{number}: {compared:?}");
            assert!(
                compared.programs - compared.violated > 5,
                "{number}: {compared:?}"
            );
        }
    }

    /// Where buffers lose the order of their stores, there are only more runs; and a robust program that is safe under SC is safe.
    #[test]
    fn what_is_coarser_is_sound() {
        let mut shown = [0; 3];
        let mut safe = 0;
        for seed in 0..600 {
            let sketch = palisade_testkit::random_sketch(seed, &Shape::TSO_REACH);
            let program = palisade_testkit::program(&sketch.to_string());
            let Some(expected) = oracle::within(50_000, || oracle::tso_safe(&program)) else {
                continue;
            };
            safe += usize::from(expected);
            let machine = || Sc::new(&program);
            let by: [&dyn Rules; 3] = [
                &buffers::Buffered::new(machine(), 0),
                &buffers::Buffered::new(machine(), 1),
                &attacks::Attacks::new(machine(), true),
            ];
            for (shown, rules) in shown.iter_mut().zip(by) {
                if holds(rules, &program, true) == Some(true) {
                    assert!(expected, "{sketch}");
                    *shown += 1;
                }
            }
        }
        assert!(
            safe > 50 && shown.iter().all(|&n| n > 20),
            "{safe} {shown:?}"
        );
    }

    /// No set of states shows what is not so: not the harmless ones among what is reached, and not what is reached where something that matters is forgotten.
    #[test]
    fn what_is_forged() {
        type MakeRules = fn(&Program) -> Box<dyn Rules + '_>;
        let questions: [(Shape, bool, MakeRules); 6] = [
            (Shape::SC, true, |p| {
                let machine = Sc::new(p);
                let locations = Locations::Declared;
                Box::new(patterns::Patterns::new(machine, Criterion::Safe, locations))
            }),
            (Shape::TSO, false, |p| {
                let machine = Sc::new(p);
                let locations = Locations::Declared;
                Box::new(patterns::Patterns::new(machine, Criterion::Trf, locations))
            }),
            (Shape::TSO, false, |p| {
                Box::new(attacks::Attacks::new(Sc::new(p), false))
            }),
            (Shape::TSO_REACH, true, |p| {
                Box::new(buffers::Buffered::new(Sc::new(p), 3))
            }),
            (Shape::RA, false, |p| {
                Box::new(monitors::Monitors::new(Sc::new(p), false))
            }),
            (Shape::C20, false, |p| {
                Box::new(suspects::Suspects::new(Sc::new(p), Model::C20, false))
            }),
        ];
        let mut hidden = 0;
        for (number, (shape, safe, rules)) in questions.into_iter().enumerate() {
            for seed in 0..150 {
                let sketch = palisade_testkit::random_sketch(seed, &shape);
                let program = palisade_testkit::program(&sketch.to_string());
                let rules = rules(&program);
                if number == 4 && refusal(&program).is_some()
                    || holds(&*rules, &program, safe) != Some(false)
                {
                    continue;
                }
                let machine = Sc::new(&program);
                let live = Live::new(machine.code(), safe);
                let width = states::width(machine.code());
                let memory = width - program.locations.len()..width;
                let initial = rules.initial();
                let registers: Vec<usize> = {
                    let locals = machine.initial().locals;
                    let mut at = 0;
                    let mut registers = Vec::new();
                    for local in locals {
                        registers.extend(at + 1..=at + local.registers.len());
                        at += 1 + local.registers.len();
                    }
                    registers
                };
                for forget in 0..5 {
                    let forge = |state: &mut Vec<i64>| match forget {
                        0 => {}
                        1 => registers.iter().for_each(|&r| state[r] = 0),
                        2 => state[memory.clone()].copy_from_slice(&initial[memory.clone()]),
                        3 => {
                            state.truncate(width);
                            state.extend_from_slice(&initial[width..]);
                        }
                        _ => registers.iter().for_each(|&r| state[r] = state[r].min(1)),
                    };
                    let (given, harmless) = forged(&*rules, &live, forge);
                    hidden += usize::from(harmless);
                    let header = Header::new(&program, Claim::new(Model::Sc, Criterion::Safe));
                    let mut sorter = Sorter::default();
                    for state in given {
                        let mut bytes = Vec::new();
                        encode(&state, &mut bytes);
                        sorter.push(&bytes).unwrap();
                    }
                    let mut file = Vec::new();
                    let mut sorted = sorter.finish().unwrap();
                    palisade_certificate::write(&header, &mut sorted, &mut file).unwrap();
                    let open = &mut || Reader::new(&file[..]);
                    let judged = judge(&*rules, &live, open().unwrap(), 1 << 20, open);
                    assert!(judged.is_err(), "{number} {forget}\n{sketch}");
                }
            }
        }
        // Forgetting did hide violations.
        assert!(hidden > 50, "{hidden}");
    }

    /// What is reached without what violates, where each state is changed by `forge`; and whether nothing that violates was reached.
    fn forged(
        rules: &dyn Rules,
        live: &Live,
        forge: impl Fn(&mut Vec<i64>),
    ) -> (Vec<Vec<i64>>, bool) {
        let mut seen = std::collections::BTreeSet::new();
        let mut given = Vec::new();
        let mut harmless = true;
        let mut todo = vec![rules.initial()];
        while let Some(mut state) = todo.pop() {
            forge(&mut state);
            live.forget_others(&mut state);
            if seen.len() > 3000 || !seen.insert(state.clone()) {
                continue;
            }
            let mut next = Vec::new();
            match rules.visit(&state, &mut |state| next.push(state.to_vec())) {
                Ok(()) => {
                    given.push(state);
                    todo.append(&mut next);
                }
                Err(_) => harmless = false,
            }
        }
        (given, harmless)
    }

    /// What is shown to be safe under RA is robust, and safe under SC: also inside `atomic` blocks.
    #[test]
    fn safe_under_ra() {
        let mut shown = [0; 2];
        for seed in 0..400 {
            let sketch = palisade_testkit::random_sketch(seed, &Shape::RA);
            let mut text = sketch.to_string();
            // Places inside blocks count.
            text = text.replacen("atomic {", "atomic { inside: skip;", 1);
            if let Some((before, name)) = text.split_once("thread t").filter(|_| seed % 2 == 0)
                && !before.is_empty()
            {
                let head: String = name.chars().take_while(|c| c.is_ascii_digit()).collect();
                let never = format!("never t{head}@inside;\n");
                if palisade_testkit::parse(&format!("{text}{never}")).is_some() {
                    text.push_str(&never);
                }
            }
            let program = palisade_testkit::program(&text);
            if refusal(&program).is_some() {
                continue;
            }
            let oracle = oracle::within(50_000, || {
                Some(oracle::ra_robust(&program)? && oracle::sc_safe(&program)?)
            });
            let rules = monitors::Monitors::new(Sc::new(&program), true);
            let found = holds(&rules, &program, true);
            if let (Some(expected), Some(found)) = (oracle, found) {
                assert_eq!(expected, found, "{text}");
                shown[usize::from(found)] += 1;
            }
        }
        assert!(shown.iter().all(|&n| n > 20), "{shown:?}");
    }
}
