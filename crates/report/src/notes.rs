//! The sentences for what answers say beside their verdicts.

use palisade_check::{How, InMemory, Note};
use palisade_memory::Model;

use crate::words;

/// So many locations are named in a sentence.
const MOST_NAMED: usize = 8;

/// A note as a sentence, without its full stop.
pub fn sentence(note: &Note) -> String {
    match note {
        Note::ProgramErrs => "an assertion can fail or an error of the program can be reached (see the criterion `safe`)".to_owned(),
        Note::HappensUnderSc => "it happens under SC already".to_owned(),
        Note::RobustAndSafe(model) => format!(
            "the program is robust: under {} it does what it does under SC, and there it is safe",
            words::model(*model)
        ),
        Note::ObservedAndSafe(model) => format!(
            "the program is not robust, but observationally robust: under {} it goes the ways and stores the values that it does under SC, and there it is safe",
            words::model(*model)
        ),
        Note::RobustAndLive => {
            "the program is robust: its fair runs are those of SC, and there no thread is stuck".to_owned()
        }
        Note::LiveWithBuffers => {
            "not robust, but with all that can be in the buffers no thread is stuck".to_owned()
        }
        Note::NoClosedRun => {
            "within the limits no run was found that comes back to the same values of all registers".to_owned()
        }
        Note::Observed => "it goes the ways and stores the values that it does under SC; a load whose value is not used may still read what SC does not show".to_owned(),
        Note::StaleValueUsed => "what is used here differs from what SC shows in this order of events; whether it makes a difference for the program is the question `safe`".to_owned(),
        Note::Race => "a race on `nonatomic` data has no meaning: whatever follows it may go wrong".to_owned(),
        Note::LeftOut(names) => format!(
            "nothing depends on the values of these, which are only accessed relaxed, so that they were left out: {}",
            quoted(names).join(", ")
        ),
        Note::RobustHoweverFar(names) => format!(
            "it is robust however far it counts: only how far {} are apart was looked at, as integers; that none of them passes 2^63 is taken for granted",
            quoted(names).join(", ")
        ),
        Note::RobustWhateverIsIn(names) => format!(
            "it is robust whatever values are read from {}",
            quoted(names).join(", ")
        ),
        Note::SafeWhateverIsRead(names) => format!(
            "it is safe whatever is read from {}: with that left open it is robust, and under SC it is safe",
            quoted(names).join(", ")
        ),
        Note::OrdersWithoutEffect(Model::Tso) => "of the orders that were written only `seqcst` has an effect under `tso`; `--model c20` looks at all of them".to_owned(),
        Note::OrdersWithoutEffect(model) => format!(
            "the orders that were written have no effect under `{}`; `--model c20` looks at them",
            model.name()
        ),
        Note::BlocksUnderSc => "several accesses at once, as in `__VERIFIER_atomic_begin`, are no part of C: the models with orders, `c20` among them, do not have them. This answer is about sequential consistency, and not about data races".to_owned(),
        Note::LoadBuffering { store, load } => format!(
            "the relaxed store in line {store} does not depend on the relaxed load in line {load} before it: C++ and ARM allow it to be seen before the load happens (load buffering), which this model, like RC11, does not have"
        ),
        Note::OneThread => "the program starts no second thread, so no order of its accesses can be seen".to_owned(),
        Note::NothingCanRace => "no access is nonatomic, so nothing can race".to_owned(),
        Note::AllLocationsCount(names) => format!(
            "no location is declared `nonatomic`, so that races on all of them count ({}); where some are (`nonatomic shared x;`), only races on those do",
            the_first(names)
        ),
        Note::SpinsWithEffect(lines) => {
            let places = match &lines[..] {
                [line] => format!("the loop at line {line}"),
                [first, .., last] => format!("{} loops, at lines {first} to {last},", lines.len()),
                [] => "loops".to_owned(),
            };
            format!(
                "`deadlock` sees waiting, also in loops that change nothing; {places} may also spin while memory changes, which only `--criterion live` rules out"
            )
        }
        Note::InMemoryOnly(what) => in_memory(*what).to_owned(),
        Note::EveryNumber(threads) => format!(
            "this is so for every number of copies of {}",
            quoted(threads).join(" and ")
        ),
        Note::RepairUnexplained(why) => format!(
            "a repair could not be explained, because its violation was not found again: {why}"
        ),
        Note::OrderUnexplained(why) => format!(
            "an order could not be explained, because its violation was not found again: {why}"
        ),
        Note::How(how) => way(how),
        Note::Said(sentence) => sentence.clone(),
    }
}

fn in_memory(what: InMemory) -> &'static str {
    match what {
        InMemory::Live => {
            "`live` keeps its graph of states in memory: `--disk` is of no use for it"
        }
        InMemory::Backward => {
            "of the searches for `safe` under TSO, the backward one keeps its states in memory: `--disk` is of use for the others only"
        }
        InMemory::Weak => {
            "most searches under this model keep their states in memory: `--disk` is of use for walks over states of SC only"
        }
        InMemory::EveryNumber => {
            "searches for every number of threads at once keep their states in memory: `--disk` is of use for fixed numbers only"
        }
    }
}

fn way(how: &How) -> String {
    match how {
        How::DelaysEmulated { rounds } => format!(
            "with the delays that matter emulated in {rounds} rounds, safe under SC and robust: TSO adds no more"
        ),
        How::FewThreads => {
            "with a few threads at a time, whatever the others do, it is safe under SC".to_owned()
        }
        How::ShortBuffers { bound } => {
            format!("no buffer ever holds more than {bound} stores: all TSO runs were seen")
        }
        How::UnorderedBuffers { bound } => format!(
            "not even with buffers that lose the order of their stores beyond the first {bound}"
        ),
        How::LoadBuffersForward => {
            "no run comes near it, even where load buffers lose the order of their messages"
                .to_owned()
        }
        How::LoadBuffersBackward { minimal } => format!(
            "going backward from what must not be, {} with load buffers lead there, and the beginning is none of them",
            words::counted(
                *minimal as u64,
                "minimal configuration",
                "minimal configurations"
            )
        ),
        How::AllRuns(model) => format!(
            "all its runs under {} were seen, with every value that may be read",
            words::model(*model)
        ),
        How::AllGraphs(model) => {
            format!(
                "all its execution graphs under {} were seen",
                words::model(*model)
            )
        }
    }
}

fn quoted(names: &[String]) -> Vec<String> {
    names.iter().map(|name| format!("`{name}`")).collect()
}

/// The names, or the first of them and how many more there are.
fn the_first(names: &[String]) -> String {
    let quoted = quoted(names);
    match quoted.len() {
        ..=MOST_NAMED => quoted.join(", "),
        all => format!(
            "{} and {} more",
            quoted[..MOST_NAMED].join(", "),
            all - MOST_NAMED
        ),
    }
}

/// Notes as sentences.
pub fn sentences(notes: &[Note]) -> Vec<String> {
    notes.iter().map(sentence).collect()
}
