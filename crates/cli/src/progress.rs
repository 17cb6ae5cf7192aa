//! The line that moves while a search runs: on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use palisade_check::Progress;
use palisade_report::words;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Shows how far a search has come; nothing at all in a pipe.
pub struct ProgressLine {
    bar: Option<ProgressBar>,
    /// What stands before the figures takes so many columns.
    before: usize,
    started: Instant,
}

impl ProgressLine {
    /// A line for the search in one FILE.
    pub fn new(file: &str) -> Self {
        let file = short_name(file, columns() / 3);
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {wide_msg}") {
                bar.set_style(style);
            }
            bar.set_prefix(file.clone());
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        ProgressLine {
            bar,
            before: file.chars().count() + "x : ".len(),
            started: Instant::now(),
        }
    }

    /// Nothing to be seen.
    pub fn none() -> Self {
        ProgressLine {
            bar: None,
            before: 0,
            started: Instant::now(),
        }
    }

    /// Shows the latest figures.
    pub fn show(&self, progress: &Progress) {
        if let Some(bar) = &self.bar {
            let room = columns().saturating_sub(self.before);
            bar.set_message(in_words(progress, self.started.elapsed(), room));
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

/// How wide the window is.
fn columns() -> usize {
    let size = terminal_size::terminal_size_of(std::io::stderr());
    size.map_or(80, |(width, _)| usize::from(width.0))
}

/// The end of a path, in so many columns.
fn short_name(file: &str, columns: usize) -> String {
    let all = file.chars().count();
    if all <= columns {
        return file.to_owned();
    }
    let kept: String = file.chars().skip(all - columns.saturating_sub(1)).collect();
    format!("…{kept}")
}

/// The figures, the most telling ones first; those that there is no room for are left out.
fn in_words(progress: &Progress, elapsed: Duration, room: usize) -> String {
    let per_second = progress.states as f64 / elapsed.as_secs_f64().max(0.001);
    let seconds = elapsed.as_secs();
    let mut figures = vec![match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }];
    if let Some(rounds) = &progress.rounds {
        let violations = words::counted(rounds.violations, "violation", "violations");
        figures.push(format!("{violations} known"));
        let upper = match rounds.upper_bound {
            Some(bound) => format!(" and at most {}", words::number(bound)),
            None => String::new(),
        };
        let lower = words::number(rounds.lower_bound);
        figures.push(format!("cost at least {lower}{upper}"));
    }
    figures.push(words::counted(progress.states, "state", "states"));
    figures.push(words::bytes(progress.memory_bytes));
    let (done, all) = progress.queries;
    if all > 1 {
        let (this, all) = (words::number((done + 1).min(all)), words::number(all));
        figures.push(format!("question {this} of {all}"));
    }
    figures.push(format!("{} per second", words::number(per_second as u64)));
    figures.push(format!("frontier {}", words::number(progress.frontier)));
    let mut text = String::new();
    for figure in figures {
        let separator = if text.is_empty() { "" } else { ", " };
        if text.len() + separator.len() + figure.len() > room {
            break;
        }
        text.push_str(separator);
        text.push_str(&figure);
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
            in_words(&progress, Duration::from_secs(4), 100),
            "4 s, 2,000,000 states, 64 MiB, question 3 of 7, 500,000 per second, frontier 1,500"
        );
        assert_eq!(
            in_words(&progress, Duration::from_secs(3 * 60 + 4), 33),
            "3 min 4 s, 2,000,000 states"
        );
        assert_eq!(in_words(&progress, Duration::from_secs(4), 0), "");
        let progress = Progress {
            rounds: Some(Rounds {
                violations: 3,
                lower_bound: 2,
                upper_bound: Some(5),
            }),
            ..progress
        };
        assert_eq!(
            in_words(&progress, Duration::from_secs(4000), 80),
            "1 h 6 min, 3 violations known, cost at least 2 and at most 5, 2,000,000 states"
        );
        assert_eq!(
            short_name("programs/large/bakery-3.pal", 12),
            "…akery-3.pal"
        );
        assert_eq!(short_name("sb.pal", 12), "sb.pal");
    }
}
