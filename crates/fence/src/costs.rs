//! What a repair costs: the same everywhere, as often as the place is executed, or what a file says.

use std::collections::BTreeMap;
use std::fmt;

use fastrand::Rng;
use palisade_lang::{Op, PointId, Program, Repair, Span, Thread};
use palisade_memory::{Machine, Sc};
use rustc_hash::FxHashMap;
use serde::Deserialize;

/// What each repair costs.
#[derive(Clone, Debug)]
pub enum Costs {
    /// 1, wherever it is.
    Unit,
    /// One more than how often it is executed in some runs.
    Profile(Profile),
    /// What a file says.
    File(CostFile),
}

impl Costs {
    /// What a repair costs; `None` where it is forbidden.
    pub fn of(&self, program: &Program, repair: Repair) -> Option<u64> {
        match self {
            Costs::Unit => Some(1),
            Costs::Profile(profile) => Some(profile.cost(repair)),
            Costs::File(file) => file.cost(program, repair),
        }
    }
}

/// How many runs a profile is made of …
const RUNS: u64 = 20;
/// … and how many steps each has at most: a program may run for ever.
const STEPS: usize = 1000;

/// How often everything is executed in some runs under SC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    places: Vec<u64>,
    instructions: FxHashMap<Span, u64>,
}

impl Profile {
    /// Runs the program 20 times from its initial state under SC, for at most 1000 steps each.
    ///
    /// Before each step the scheduler chooses one of the threads that can move, each with the same probability, and then one of that thread's
    /// steps likewise. Run number k uses the random numbers of `fastrand` that begin with `seed` + k, so the same seed gives the same
    /// costs everywhere. A thread with any number of copies has two.
    pub fn measure(program: &Program, seed: u64) -> Profile {
        let program = &program.with_copies(2);
        let machine = Sc::new(program);
        let mut profile = Profile {
            places: vec![0; program.places.len()],
            instructions: FxHashMap::default(),
        };
        let threads = machine.code().instances.len();
        for run in 0..RUNS {
            let mut rng = Rng::with_seed(seed.wrapping_add(run));
            let mut state = machine.initial();
            for thread in 0..threads {
                let code = machine.code().thread(thread);
                profile.pass_jumps(code, code.initial);
            }
            for _ in 0..STEPS {
                let mut able: Vec<_> = (0..threads)
                    .map(|thread| (thread, machine.steps_of(&state, thread)))
                    .filter(|(_, steps)| !steps.is_empty())
                    .collect();
                if able.is_empty() {
                    break;
                }
                let (thread, mut steps) = able.swap_remove(rng.usize(..able.len()));
                let (step, next) = steps.swap_remove(rng.usize(..steps.len()));
                let code = machine.code().thread(thread);
                let transition = &code.transitions[step.transition];
                profile.pass(code, transition.from);
                *profile.instructions.entry(transition.span).or_default() += 1;
                profile.pass_jumps(code, transition.to);
                state = next;
            }
        }
        profile
    }

    fn pass(&mut self, thread: &Thread, point: PointId) {
        if let Some(place) = thread.points[point.index()].place {
            self.places[place.index()] += 1;
        }
    }

    /// No thread stands before a jump, but a fence there would be executed.
    fn pass_jumps(&mut self, thread: &Thread, mut point: PointId) {
        while let [transition] = thread.outgoing(point)
            && transition.op == Op::Jump
        {
            self.pass(thread, point);
            point = transition.to;
        }
    }

    pub(crate) fn cost(&self, repair: Repair) -> u64 {
        let count = match repair {
            Repair::Fence(place) => self.places.get(place.index()).copied(),
            Repair::Rmw(span) | Repair::SeqCst(span) | Repair::Keep(span) => {
                self.instructions.get(&span).copied()
            }
        };
        1 + count.unwrap_or(0)
    }
}

/// A file with costs. See [`CostFile::parse`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostFile {
    default: Option<Price>,
    #[serde(default)]
    threads: BTreeMap<String, Price>,
    #[serde(default)]
    labels: BTreeMap<String, Price>,
    #[serde(default)]
    lines: BTreeMap<String, Price>,
    #[serde(default)]
    repairs: BTreeMap<String, Price>,
}

/// A cost, or that it must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Price {
    Cost(u64),
    Forbidden,
}

/// Larger costs would not be exact in the integer program.
const MOST: u64 = 1_000_000_000;

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Clone, Copy)]
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Price;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a cost from 1 to {MOST}, or \"forbidden\"")
            }

            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Price, E> {
                let cost = u64::try_from(value).unwrap_or(0);
                self.visit_u64(cost)
                    .map_err(|_: E| E::invalid_value(serde::de::Unexpected::Signed(value), &self))
            }

            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Price, E> {
                if (1..=MOST).contains(&value) {
                    Ok(Price::Cost(value))
                } else {
                    let unexpected = serde::de::Unexpected::Unsigned(value);
                    Err(E::invalid_value(unexpected, &self))
                }
            }

            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Price, E> {
                if value == "forbidden" {
                    Ok(Price::Forbidden)
                } else {
                    Err(E::invalid_value(serde::de::Unexpected::Str(value), &self))
                }
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// The kinds of repairs, as `repairs` in the file and `--repairs` name them.
const KINDS: [&str; 3] = ["fence", "rmw", "order"];

impl CostFile {
    /// Reads a file with costs:
    ///
    /// ```toml
    /// default = 1            # where nothing else is said
    /// [threads]
    /// reader = 10            # everywhere in this thread
    /// [labels]
    /// spin = 100             # at statements with this label, and states with this name
    /// "writer@spin" = 5      # in one thread only
    /// [lines]
    /// 12 = "forbidden"
    /// "20-30" = 7            # from line 20 to line 30
    /// [repairs]
    /// rmw = 3                # a kind of repair: factor on what is said above
    /// ```
    ///
    /// The more special says it: a line over a label, a label over a thread. Where the file cannot be read, says why.
    pub fn parse(text: &str) -> Result<CostFile, String> {
        let file: CostFile = toml::from_str(text).map_err(|error| {
            let message = error.message().replace('\n', "; ");
            match error.span() {
                Some(span) => {
                    let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
                    format!("line {line}: {message}")
                }
                None => message,
            }
        })?;
        for line in file.lines.keys() {
            lines(line).ok_or_else(|| {
                format!("`{line}` in [lines] is no line such as 12, and no range such as \"20-30\"")
            })?;
        }
        for kind in file.repairs.keys() {
            if !KINDS.contains(&kind.as_str()) {
                return Err(format!(
                    "there is no kind of repair `{kind}`: [repairs] knows {}",
                    KINDS.join(", ")
                ));
            }
        }
        Ok(file)
    }

    /// Whether everything that the file names is in the program; says what is not.
    pub fn fits(&self, program: &Program) -> Result<(), String> {
        let threads: Vec<&str> = program.threads.iter().map(|t| t.name.as_str()).collect();
        let no_thread = |name: &str| {
            format!(
                "[threads] and [labels] speak of a thread `{name}`, but the program has {}",
                listed(&threads)
            )
        };
        for name in self.threads.keys() {
            if !threads.contains(&name.as_str()) {
                return Err(no_thread(name));
            }
        }
        for label in self.labels.keys() {
            let (thread, label) = split(label);
            if let Some(thread) = thread.filter(|thread| !threads.contains(thread)) {
                return Err(no_thread(thread));
            }
            let known = program.threads.iter().any(|t| {
                let labels = t.labels.iter().map(|l| l.name.as_str());
                let states = t.points.iter().filter_map(|p| p.name.as_deref());
                thread.is_none_or(|thread| thread == t.name)
                    && labels.chain(states).any(|name| name == label)
            });
            if !known {
                return Err(format!(
                    "[labels] speaks of `{label}`, but no statement has this label, and no state this name"
                ));
            }
        }
        let last = program.source.text().lines().count() as u32;
        for line in self.lines.keys() {
            if lines(line).is_some_and(|(first, _)| first > last) {
                return Err(format!(
                    "[lines] speaks of line {line}, but the program ends at line {last}"
                ));
            }
        }
        Ok(())
    }

    fn cost(&self, program: &Program, repair: Repair) -> Option<u64> {
        let site = program.site(repair);
        let line = program.source.line_column(site.span.start).line;
        let thread = site.thread.map(|t| program.thread(t).name.as_str());
        let by_line = || {
            let mut found = self.lines.iter().filter_map(|(written, price)| {
                let (first, last) = lines(written)?;
                (first..=last)
                    .contains(&line)
                    .then_some((last - first, *price))
            });
            // Of two ranges the smaller one is more special.
            let first = found.next()?;
            Some(found.fold(first, |a, b| if b.0 < a.0 { b } else { a }).1)
        };
        let by_label = || {
            let name = site.name.as_deref()?;
            let mut found = self
                .labels
                .iter()
                .filter(|(written, _)| match split(written) {
                    (None, label) => label == name,
                    (of, label) => label == name && of == thread,
                });
            let first = found.next()?;
            let with_thread = |a: &(&String, &Price)| split(a.0).0.is_some();
            let most_special = found.fold(first, |a, b| if with_thread(&a) { a } else { b });
            Some(*most_special.1)
        };
        let by_thread = || self.threads.get(thread?).copied();
        let price = by_line()
            .or_else(by_label)
            .or_else(by_thread)
            .or(self.default)
            .unwrap_or(Price::Cost(1));
        let kind = match repair {
            Repair::Fence(_) | Repair::Keep(_) => KINDS[0],
            Repair::Rmw(_) => KINDS[1],
            Repair::SeqCst(_) => KINDS[2],
        };
        let factor = self.repairs.get(kind).copied().unwrap_or(Price::Cost(1));
        match (price, factor) {
            (Price::Cost(cost), Price::Cost(factor)) => Some(cost.saturating_mul(factor).min(MOST)),
            _ => None,
        }
    }
}

/// `12` or `20-30`
fn lines(written: &str) -> Option<(u32, u32)> {
    let (first, last) = written.split_once('-').unwrap_or((written, written));
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    (1 <= first && first <= last).then_some((first, last))
}

/// `label` or `thread@label`
fn split(label: &str) -> (Option<&str>, &str) {
    match label.split_once('@') {
        Some((thread, label)) => (Some(thread), label),
        None => (None, label),
    }
}

fn listed(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().take(10).map(|n| format!("`{n}`")).collect();
    match names.len() {
        0 => "no threads".to_owned(),
        1 => format!("only {}", names[0]),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_lang::{PlaceId, PlaceKind};
    use palisade_testkit::program;

    fn place_at(program: &Program, line: u32, kind: PlaceKind) -> Repair {
        let place = program
            .places
            .iter()
            .position(|p| program.source.line_column(p.span.start).line == line && p.kind == kind);
        Repair::Fence(PlaceId(place.unwrap() as u32))
    }

    #[test]
    fn a_loop_costs_more_than_what_stands_before_it() {
        let program = program(
            "shared x, y;\nthread t {\n  x = 1;\n  loop {\n    y = 1;\n  }\n}\nthread u {\n  x = 2;\n}\n",
        );
        let profile = Profile::measure(&program, 1);
        let cost = |line, kind| profile.cost(place_at(&program, line, kind));
        assert_eq!(cost(3, PlaceKind::BeforeStatement), 21);
        assert_eq!(cost(9, PlaceKind::BeforeStatement), 21);
        assert!(cost(5, PlaceKind::BeforeStatement) > 1000);
        assert!(cost(6, PlaceKind::BlockEnd) > 1000);
        assert_eq!(profile, Profile::measure(&program, 1));
    }

    #[test]
    fn the_more_special_says_it() {
        let program = program(
            "shared x;\nthread t {\n  x = 1;\n  l: x = 2;\n  x = 3;\n}\nthread u {\n  l: x = 4;\n}\n",
        );
        let file = CostFile::parse(
            "default = 2\n[threads]\nt = 3\n[labels]\nl = 4\n\"u@l\" = 5\n[lines]\n\"4-9\" = 6\n5 = \"forbidden\"\n",
        )
        .unwrap();
        file.fits(&program).unwrap();
        let cost = |line| {
            let place = place_at(&program, line, PlaceKind::BeforeStatement);
            file.cost(&program, place)
        };
        assert_eq!(cost(3), Some(3));
        assert_eq!(cost(4), Some(6));
        assert_eq!(cost(5), None);
        assert_eq!(cost(8), Some(6));
        let file = CostFile::parse("[labels]\n\"u@l\" = 5\nl = 4\n[repairs]\nfence = 10").unwrap();
        let cost = |line| {
            let place = place_at(&program, line, PlaceKind::BeforeStatement);
            file.cost(&program, place)
        };
        assert_eq!((cost(3), cost(4), cost(8)), (Some(10), Some(40), Some(50)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |text: &str| CostFile::parse(text).unwrap_err();
        assert!(wrong("default = 0").contains("a cost from 1"));
        assert!(wrong("default = \"never\"").contains("forbidden"));
        assert!(wrong("\n[thread]\nt = 1").starts_with("line 2: unknown field"));
        assert!(wrong("[lines]\nx = 1").contains("no line such as 12"));
        assert!(wrong("[repairs]\nx = 1").contains("fence, rmw, order"));
        let program = program("shared x;\nthread t {\n  x = 1;\n}\n");
        let unfit = |text: &str| CostFile::parse(text).unwrap().fits(&program).unwrap_err();
        assert!(unfit("[threads]\nu = 1").contains("only `t`"));
        assert!(unfit("[labels]\nl = 1").contains("no statement has this label"));
        assert!(unfit("[lines]\n9 = 1").contains("ends at line 4"));
    }
}
