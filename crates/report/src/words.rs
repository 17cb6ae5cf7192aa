//! What things are called.

use palisade_check::{Harm, Level, Stats, Verdict};
use palisade_memory::{Criterion, Model};

/// Stands before the cycle of a run without end.
pub(crate) const FOR_EVER: &str = "— again and again, for ever: —";

/// The model's name in a sentence.
pub fn model(model: Model) -> &'static str {
    match model {
        Model::Sc => "sequential consistency",
        Model::Tso => "TSO",
        Model::Ra => "release/acquire",
        Model::C20 => "C++20",
        Model::Rc11 => "RC11",
    }
}

/// The model's name at the top of a column, with what it is the model of.
pub fn model_with_use(model: Model) -> &'static str {
    match model {
        Model::Sc => "sequential consistency",
        Model::Tso => "TSO (x86)",
        Model::Ra => "release/acquire",
        Model::C20 => "C++20 (C, C++, Rust)",
        Model::Rc11 => "RC11",
    }
}

/// What a program is for which the criterion holds.
pub fn holds(model: Model, criterion: Criterion) -> String {
    let name = self::model(model);
    match criterion {
        Criterion::Safe => format!("safe under {name}"),
        Criterion::Drf => "free of data races".to_owned(),
        Criterion::Trf => "free of triangular races".to_owned(),
        Criterion::Robust => format!("robust against {name}"),
        Criterion::Persistent => format!("persistent under {name}"),
        Criterion::Observational => format!("observationally robust against {name}"),
        Criterion::Live => format!("live under {name}"),
    }
}

/// What a program is that violates the criterion.
pub fn violated(model: Model, criterion: Criterion) -> String {
    match criterion {
        Criterion::Safe
        | Criterion::Live
        | Criterion::Robust
        | Criterion::Persistent
        | Criterion::Observational => {
            format!("not {}", holds(model, criterion))
        }
        Criterion::Drf => "has a data race".to_owned(),
        Criterion::Trf => "has a triangular race".to_owned(),
    }
}

/// What a violation of robustness means for what the program states.
pub fn harm(harm: &Harm) -> String {
    match harm {
        Harm::Broken(message) => format!(
            "This does harm: `palisade reach` shows a run at whose end {}.",
            message.strip_prefix("now ").unwrap_or(message)
        ),
        Harm::None => {
            "This does no harm: no `assert` fails and no `never` comes true because of it.".into()
        }
        Harm::NothingStated => {
            "Whether this does harm is not known: the program has neither `assert` nor `never`."
                .into()
        }
        Harm::Unknown(reason) => format!(
            "Whether an `assert` or a `never` can break because of this is not known: {reason}."
        ),
    }
}

/// The verdict as JSON spells it.
pub fn verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated => "violated",
        Verdict::Unknown(_) => "unknown",
    }
}

/// The verdict of `reach` as JSON spells it.
pub fn reach_verdict(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "unreachable",
        Verdict::Violated => "reachable",
        Verdict::Unknown(_) => "unknown",
    }
}

/// What a search took, in one line; where it came to no end, it was needed.
pub fn stats(stats: &Stats, verbose: bool, decided: bool) -> String {
    let mut parts = Vec::new();
    if stats.states > 0 {
        parts.push(counted(stats.states, "state", "states"));
        parts.push(counted(stats.transitions, "step", "steps"));
    } else if decided {
        parts.push("no search needed".to_owned());
    }
    // How the answer was found is for those who ask for it.
    if stats.queries > 1 && verbose {
        parts.push(counted(stats.queries, "question", "questions"));
    }
    if stats.pruned > 0 && verbose {
        parts.push(format!(
            "{} dismissed without a search",
            number(stats.pruned)
        ));
    }
    if let Some(Level::Abstract(steps)) = stats.level
        && verbose
    {
        let steps = counted(u64::from(steps), "step", "steps");
        parts.push(format!("the abstraction with {steps} was enough"));
    }
    parts.push(format!("{:.2} s", stats.wall.as_secs_f64()));
    if stats.peak_memory_bytes > 0 {
        parts.push(bytes(stats.peak_memory_bytes));
    }
    parts.join(", ")
}

/// A number with its noun.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { many })
}

pub use palisade_check::number_in_words as number;

/// An amount of memory.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value < 10.0 {
        format!("{value:.1} {}", UNITS[unit])
    } else {
        format!("{value:.0} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(number(0), "0");
        assert_eq!(number(999), "999");
        assert_eq!(number(1000), "1,000");
        assert_eq!(number(1234567), "1,234,567");
    }

    #[test]
    fn memory_has_a_unit() {
        assert_eq!(bytes(512), "0.5 KiB");
        assert_eq!(bytes(25 << 20), "25 MiB");
        assert_eq!(bytes(3 << 29), "1.5 GiB");
    }
}
