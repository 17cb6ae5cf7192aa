//! One measurement: the tool run on one file like a user runs it, process start included.

use std::path::Path;
use std::time::Duration;

use bench::tool::{Palisade, workspace};

/// What the tool said and took.
pub struct Measured {
    /// `holds`, `violated`, `unknown` or `error`.
    pub verdict: String,
    /// States stored.
    pub states: u64,
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
        Some(theirs) if ours.is_decided() => format!("{:.0}", theirs / ours.seconds),
        _ => String::new(),
    }
}

/// A file of `programs/`.
pub fn house(name: &str) -> std::path::PathBuf {
    workspace().join("programs").join(format!("{name}.pal"))
}

/// Runs `palisade check` with these further arguments. Runs below a fifth of a second are repeated, so that the noise of
/// a busy machine does not count.
pub fn check(
    palisade: &Palisade,
    file: &Path,
    arguments: &[&str],
    limit: Duration,
) -> Result<Measured, String> {
    let file = file.to_string_lossy();
    let timeout = format!("{}ms", limit.as_millis());
    let mut all = vec!["check", &*file, "--timeout", &timeout, "--memory", "8GiB"];
    all.extend(arguments);
    let mut best: Option<Measured> = None;
    for _ in 0..5 {
        let (json, finished) = palisade.json(&all, limit + Duration::from_secs(10))?;
        let stats = &json["stats"];
        let number = |name: &str| stats[name].as_u64().unwrap_or(0);
        let measured = Measured {
            verdict: json["verdict"].as_str().unwrap_or("error").to_owned(),
            states: number("states"),
            seconds: finished.seconds,
            bytes: number("peak_memory_bytes").max(finished.peak_bytes),
            level: stats["level"].as_str().unwrap_or("").to_owned(),
        };
        let long = measured.seconds > 0.2;
        if best.as_ref().is_none_or(|b| measured.seconds < b.seconds) {
            best = Some(measured);
        }
        if long {
            break;
        }
    }
    best.ok_or_else(|| "nothing was measured".to_owned())
}
