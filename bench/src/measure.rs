//! One measurement: the tool run on one file like a user runs it, process start included.

use std::path::Path;
use std::time::Duration;

use bench::tool::{Finished, Palisade, corpus, times, workspace};

/// What the tool said and took.
pub struct Measured {
    /// `holds`, `violated`, `unknown` or `error`.
    pub verdict: String,
    /// States stored.
    pub states: u64,
    /// Searches.
    pub queries: u64,
    /// Seconds from start to end: the least of several runs, where they are short.
    pub seconds: f64,
    /// The most memory it held, in bytes.
    pub bytes: u64,
    /// The level that decided, for persistence.
    pub level: String,
}

impl Measured {
    /// Whether there is an answer.
    pub fn is_decided(&self) -> bool {
        matches!(self.verdict.as_str(), "holds" | "violated")
    }

    /// The seconds for a table.
    pub fn time(&self) -> String {
        format!("{:.4}", self.seconds)
    }

    /// The memory for a table, in MiB.
    pub fn mebibytes(&self) -> String {
        format!("{:.1}", self.bytes as f64 / f64::from(1 << 20))
    }
}

/// How other tools' seconds compare with ours.
pub fn ratio(theirs: Option<f64>, ours: &Measured) -> String {
    match theirs {
        Some(theirs) if ours.is_decided() => times(theirs, ours.seconds),
        _ => String::new(),
    }
}

/// A file of `programs/`.
pub fn house(name: &str) -> std::path::PathBuf {
    workspace().join("programs").join(format!("{name}.pal"))
}

/// A file of the corpus where that is present, one of `programs/` otherwise.
pub fn corpus_or_house(in_corpus: &str, in_house: &str) -> std::path::PathBuf {
    match corpus() {
        Some(corpus) => corpus.join(in_corpus),
        None => house(in_house),
    }
}

/// How often something that takes so many seconds is run: the shorter, the more of it the noise of a machine is.
fn rounds(seconds: f64) -> u32 {
    match seconds {
        _ if seconds > 0.2 => 1,
        _ if seconds > 0.02 => 5,
        _ => 30,
    }
}

/// Runs the tool with these arguments and the limits. Short runs are repeated, so that the noise of a busy machine does not count; the shortest
/// is kept.
pub fn shortest(
    palisade: &Palisade,
    arguments: &[&str],
    limit: Duration,
) -> Result<(serde_json::Value, Finished), String> {
    let timeout = format!("{}ms", limit.as_millis());
    let mut all = arguments.to_vec();
    all.extend(["--timeout", &timeout, "--memory", "8GiB"]);
    let mut best: Option<(serde_json::Value, Finished)> = None;
    let mut round = 0;
    while best
        .as_ref()
        .is_none_or(|(_, best)| round < rounds(best.seconds))
    {
        round += 1;
        let (json, finished) = palisade.json(&all, limit + Duration::from_secs(10))?;
        if best
            .as_ref()
            .is_none_or(|(_, best)| finished.seconds < best.seconds)
        {
            best = Some((json, finished));
        }
    }
    best.ok_or_else(|| "nothing was measured".to_owned())
}

/// Runs `palisade check` with these further arguments.
pub fn check(
    palisade: &Palisade,
    file: &Path,
    arguments: &[&str],
    limit: Duration,
) -> Result<Measured, String> {
    let file = file.to_string_lossy();
    let mut all = vec!["check", &*file];
    all.extend(arguments);
    let (json, finished) = shortest(palisade, &all, limit)?;
    let stats = &json["stats"];
    let number = |name: &str| stats[name].as_u64().unwrap_or(0);
    Ok(Measured {
        verdict: json["verdict"].as_str().unwrap_or("error").to_owned(),
        states: number("states"),
        queries: number("queries"),
        seconds: finished.seconds,
        bytes: number("peak_memory_bytes").max(finished.peak_bytes),
        level: stats["level"].as_str().unwrap_or("").to_owned(),
    })
}

/// Runs `palisade fence`: the seconds, and how many fences an optimal set has, if there is one within the limit.
pub fn fences(
    palisade: &Palisade,
    file: &Path,
    criterion: &str,
    limit: Duration,
) -> Result<(f64, Option<u64>), String> {
    let file = file.to_string_lossy();
    let all = ["fence", &*file, "--criterion", criterion];
    let (json, finished) = shortest(palisade, &all, limit)?;
    let optimal = json["optimal"] == true;
    let count = json["fences"].as_array().map(|fences| fences.len() as u64);
    Ok((finished.seconds, count.filter(|_| optimal)))
}

/// The limit in seconds for each row: the first number among the arguments.
pub fn limit(arguments: &[String], default: u64) -> Duration {
    let number = arguments.iter().find_map(|a| a.parse().ok());
    Duration::from_secs(number.unwrap_or(default))
}
