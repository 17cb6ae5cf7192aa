//! The line that moves while a search runs: on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use palisade_check::Progress;
use palisade_report::words;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Shows how far a search has come; nothing at all in a pipe.
pub struct ProgressLine {
    bar: Option<ProgressBar>,
    started: Instant,
}

impl ProgressLine {
    /// A line for the search in one FILE.
    pub fn new(file: &str) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {wide_msg}") {
                bar.set_style(style);
            }
            bar.set_prefix(file.to_owned());
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        ProgressLine {
            bar,
            started: Instant::now(),
        }
    }

    /// Nothing to be seen.
    pub fn none() -> Self {
        ProgressLine {
            bar: None,
            started: Instant::now(),
        }
    }

    /// Shows the latest figures.
    pub fn show(&self, progress: &Progress) {
        if let Some(bar) = &self.bar {
            bar.set_message(in_words(progress, self.started.elapsed()));
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Shows how many of several FILEs have been looked at; nothing at all in a pipe.
pub struct FilesLine {
    bar: Option<ProgressBar>,
}

impl FilesLine {
    /// A line for so many FILEs; none where there is but one.
    pub fn new(files: usize) -> Self {
        let bar = (files > 1 && std::io::stderr().is_terminal()).then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(5);
            let bar = ProgressBar::with_draw_target(Some(files as u64), target);
            if let Ok(style) = ProgressStyle::with_template("{pos} of {len} files, {elapsed}") {
                bar.set_style(style);
            }
            bar
        });
        FilesLine { bar }
    }

    /// One more has been looked at.
    pub fn advance(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Takes the line away while something is printed.
    pub fn pause<R>(&self, print: impl FnOnce() -> R) -> R {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

impl Drop for FilesLine {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn in_words(progress: &Progress, elapsed: Duration) -> String {
    let per_second = progress.states as f64 / elapsed.as_secs_f64().max(0.001);
    let mut text = format!(
        "{}, {} per second, frontier {}, {}",
        words::counted(progress.states, "state", "states"),
        words::number(per_second as u64),
        words::number(progress.frontier),
        words::bytes(progress.memory_bytes),
    );
    let (done, all) = progress.queries;
    if all > 1 {
        text.push_str(&format!(", question {} of {}", (done + 1).min(all), all));
    }
    if let Some(rounds) = &progress.rounds {
        let upper = match rounds.upper_bound {
            Some(bound) => format!(" and at most {}", words::number(bound)),
            None => String::new(),
        };
        text = format!(
            "{} known, cost at least {}{upper}; {text}",
            words::counted(rounds.violations, "violation", "violations"),
            words::number(rounds.lower_bound)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_check::Rounds;

    #[test]
    fn figures_in_words() {
        let progress = Progress {
            states: 2_000_000,
            frontier: 1500,
            memory_bytes: 64 << 20,
            queries: (2, 7),
            rounds: None,
        };
        assert_eq!(
            in_words(&progress, Duration::from_secs(4)),
            "2,000,000 states, 500,000 per second, frontier 1,500, 64 MiB, question 3 of 7"
        );
        let progress = Progress {
            rounds: Some(Rounds {
                violations: 3,
                lower_bound: 2,
                upper_bound: Some(5),
            }),
            ..progress
        };
        assert!(
            in_words(&progress, Duration::from_secs(4))
                .starts_with("3 violations known, cost at least 2 and at most 5; 2,000,000 states")
        );
    }
}
