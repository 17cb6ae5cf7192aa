//! Reachability under TSO, as *Lazy TSO Reachability* (Bouajjani et al. 2015) measures it: the programs of Fig. 6, and three series that grow (Figs. 7 to 9);
//! Figs. 10 and 11 show the same programs, larger ones among them.
//!
//! The paper's graphs have no numbers but for those in its text, in the captions and at the axes; only these are compared with. SPIN is run on the
//! question that the algorithm asks in every round: whether the program is robust, as an instrumented program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bench::output::{Series, Table, fitted, fitted_seconds, growth, plot, scatter};
use bench::tool::{Palisade, times};
use bench::verifier::{self, Spin};

use crate::measure::{house, limit, shortest};

/// A program of Fig. 6: what the paper calls it, our file, whether the goal is reachable, and Trencher's queries and milliseconds (on 16 virtual
/// cores) there. The robust ones have no goal in the paper; here they have one, and it is out of reach.
type Row = (&'static str, &'static str, bool, Option<(u32, f64)>);

const FIG_6: &[Row] = &[
    ("Parker", "lazy/parker-goal", true, Some((4, 5.0))),
    ("Peterson", "mutex/peterson-sc", true, Some((12, 13.0))),
    ("Dekker", "mutex/dekker-sc", true, Some((30, 70.0))),
    ("Lamport", "mutex/lamport1-3", true, Some((27, 694.0))),
    ("MCS Lock", "locks/mcs-lock", false, Some((30, 61.0))),
    ("CLH Lock", "locks/clh-lock", false, Some((70, 7.0))),
    (
        "Lock-Free Stack",
        "queues/lock-free-stack",
        false,
        Some((14, 7.0)),
    ),
    // Fig. 12, in the appendix.
    ("never leaves", "lazy/never-leaves", false, None),
];

/// A series: its name, and what makes its programs.
type Family = (&'static str, fn(u32) -> String);

const LAMPORT: Family = ("lamport", lamport);
const DIAMOND: Family = ("diamond", diamond);
const LOOP: Family = ("loop", length_loop);

/// What the paper says about programs of the series: which, how large, the tool, and its seconds; none where memory ran out.
const SAID: &[(&str, u32, &str, Option<f64>)] = &[
    ("lamport", 4, "Trencher", Some(39.0)),
    ("lamport", 4, "Memorax", Some(23.0)),
    ("lamport", 5, "Trencher", None),
    ("lamport", 5, "Memorax", None),
    ("diamond", 50, "Memorax", Some(84.0)),
    ("loop", 20, "CBMC", Some(515.0)),
];

/// A figure: its name here, its title, the rows of Fig. 6 that it shows, and its series with their sizes.
struct Figure {
    name: &'static str,
    title: &'static str,
    rows: fn(&Row) -> bool,
    series: &'static [(Family, &'static [u32])],
}

/// The robustness of larger programs is not asked of SPIN: building the verifier alone takes minutes.
const LARGEST_FOR_SPIN: u32 = 20;

/// Fig. 6: statistics of Trencher.
pub fn figure_6(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let figure = Figure {
        name: "lazy-fig6",
        title: "Reachability under TSO: Bouajjani et al. 2015, Fig. 6",
        rows: |_| true,
        series: &[],
    };
    figure.run(palisade, arguments)
}

/// Fig. 7: Lamport's fast mutual exclusion for more and more threads.
pub fn figure_7(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let figure = Figure {
        name: "lazy-fig7",
        title: "Lamport's fast mutex: Bouajjani et al. 2015, Fig. 7",
        rows: |_| false,
        series: &[(LAMPORT, &[2, 3, 4, 5])],
    };
    figure.run(palisade, arguments)
}

/// Fig. 8: Dekker's algorithm with diamonds.
pub fn figure_8(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let figure = Figure {
        name: "lazy-fig8",
        title: "Dekker with diamonds: Bouajjani et al. 2015, Fig. 8",
        rows: |_| false,
        series: &[(DIAMOND, &[2, 5, 10, 20, 30, 40, 50])],
    };
    figure.run(palisade, arguments)
}

/// Fig. 9: a loop that must be run twice.
pub fn figure_9(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let figure = Figure {
        name: "lazy-fig9",
        title: "A loop of length N, twice: Bouajjani et al. 2015, Fig. 9",
        rows: |_| false,
        series: &[(LOOP, &[3, 5, 7, 9, 11, 13, 20])],
    };
    figure.run(palisade, arguments)
}

/// Fig. 10: the programs of Fig. 6 that are not robust, and the diamonds, for several tools.
pub fn figure_10(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let figure = Figure {
        name: "lazy-fig10",
        title: "Dekker with diamonds: Bouajjani et al. 2015, Fig. 10 (right)",
        rows: |row| row.2,
        series: &[(DIAMOND, &[2, 4, 6, 8, 10, 20, 50])],
    };
    figure.run(palisade, arguments)
}

/// Fig. 11: the diamonds and the loop as far as they go.
pub fn figure_11(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let figure = Figure {
        name: "lazy-fig11",
        title: "Diamonds and loop: Bouajjani et al. 2015, Fig. 11",
        rows: |_| false,
        series: &[
            (DIAMOND, &[5, 10, 20, 50, 100, 150, 200]),
            (LOOP, &[5, 10, 20, 40, 60, 80, 100]),
        ],
    };
    figure.run(palisade, arguments)
}

/// One answer of `palisade reach`.
struct Reached {
    seconds: f64,
    states: f64,
}

impl Figure {
    /// Prints the table, writes it as CSV and the series as plots. A number sets the limit in seconds for each row; `--no-spin` leaves SPIN out.
    fn run(&self, palisade: &Palisade, arguments: &[String]) -> ExitCode {
        let name = format!("palisade-{}-{}", self.name, std::process::id());
        let directory = std::env::temp_dir().join(name);
        if let Err(error) = std::fs::create_dir_all(&directory) {
            eprintln!("cannot make {}: {error}", directory.display());
            return ExitCode::FAILURE;
        }
        let fine = self.measure_all(palisade, &directory, arguments);
        let _ = std::fs::remove_dir_all(&directory);
        ExitCode::from(u8::from(!fine))
    }

    fn measure_all(&self, palisade: &Palisade, directory: &Path, arguments: &[String]) -> bool {
        let spin = Spin::find(arguments);
        let mut table = Table::new(&[
            ("program", 18),
            ("answer", 12),
            ("rounds", 6),
            ("states", 9),
            ("seconds", 8),
            ("MiB", 7),
            ("pan states", 10),
            ("pan s", 10),
            ("pan/ours", 8),
            ("paper RQ", 8),
            ("paper s", 36),
            ("paper/ours", 20),
            ("remarks", 0),
        ]);
        let mut ask = |title: &str, file: &Path, reachable: bool, with_spin: bool, paper: Paper| {
            let spin = spin.as_ref().filter(|_| with_spin);
            measure(
                palisade, spin, &mut table, arguments, title, file, reachable, paper,
            )
        };
        let mut fine = true;
        let mut pairs = Vec::new();
        for (title, file, reachable, said) in FIG_6.iter().filter(|row| (self.rows)(row)) {
            let paper = Paper {
                queries: said.map(|(queries, _)| queries),
                seconds: said
                    .map(|(_, ms)| ("", Some(ms / 1000.0)))
                    .into_iter()
                    .collect(),
            };
            let measured = ask(title, &house(file), *reachable, true, paper);
            fine &= measured.is_some();
            if let (Some(measured), Some((_, ms))) = (measured, said) {
                pairs.push((ms / 1000.0, measured.seconds));
            }
        }
        let (mut times, mut states) = (Vec::new(), Vec::new());
        for &((name, text), sizes) in self.series {
            let (mut seconds, mut seen) = (Vec::new(), Vec::new());
            for &size in sizes {
                let file: PathBuf = directory.join(format!("{name}-{size}.pal"));
                if let Err(error) = std::fs::write(&file, text(size)) {
                    eprintln!("cannot write {}: {error}", file.display());
                    return false;
                }
                let said = SAID.iter().filter(|(n, s, _, _)| *n == name && *s == size);
                let paper = Paper {
                    queries: None,
                    seconds: said
                        .map(|(_, _, tool, seconds)| (*tool, *seconds))
                        .collect(),
                };
                let with_spin = size <= LARGEST_FOR_SPIN;
                match ask(&format!("{name} {size}"), &file, true, with_spin, paper) {
                    Some(measured) => {
                        seconds.push((f64::from(size), measured.seconds));
                        seen.push((f64::from(size), measured.states));
                    }
                    None => fine = false,
                }
            }
            times.push((name, seconds));
            states.push((name, seen));
        }
        for ((name, seconds), (_, seen)) in times.iter().zip(&states) {
            let (space, time) = (fitted(seen), fitted_seconds(seconds));
            table.note(format!("{name}: states {space}; seconds {time}"));
            // Lamport's lock has N threads; the others are one program of size N.
            fine &= *name == "lamport" || growth(seen).is_none_or(|g| g.exponent <= 2.1);
        }
        table.save(self.name);
        if !pairs.is_empty() {
            let series = Series {
                name: "Trencher".to_owned(),
                points: pairs,
            };
            let name = match self.series {
                [] => self.name.to_owned(),
                _ => format!("{}-left", self.name),
            };
            let title = "Reachability under TSO: Bouajjani et al. 2015, Fig. 6";
            scatter(&name, title, "Trencher's seconds in the paper", &[series]);
        }
        if !self.series.is_empty() {
            let series = |of: Vec<(&str, Vec<(f64, f64)>)>, what: &str| -> Vec<Series> {
                of.into_iter()
                    .map(|(name, points)| Series {
                        name: format!("{name}: {what}"),
                        points,
                    })
                    .collect()
            };
            let seconds = ("N", "seconds, process start included");
            plot(
                self.name,
                self.title,
                seconds,
                true,
                &series(times, "seconds"),
            );
            let name = format!("{}-states", self.name);
            let of_states = ("N", "states, over all rounds");
            plot(
                &name,
                self.title,
                of_states,
                true,
                &series(states, "states"),
            );
        }
        fine
    }
}

/// What the paper says about a program: Trencher's queries, and the seconds of tools, none where memory ran out.
struct Paper {
    queries: Option<u32>,
    seconds: Vec<(&'static str, Option<f64>)>,
}

/// Asks about one program; what that took, unless the answer is wrong.
#[expect(clippy::too_many_arguments, reason = "one row of a table")]
fn measure(
    palisade: &Palisade,
    spin: Option<&Spin>,
    table: &mut Table,
    arguments: &[String],
    title: &str,
    file: &Path,
    reachable: bool,
    paper: Paper,
) -> Option<Reached> {
    let name = file.display().to_string();
    let question = ["reach", &name, "--model", "tso"];
    let (json, finished) = match shortest(palisade, &question, limit(arguments, 60)) {
        Ok(measured) => measured,
        Err(why) => {
            println!("{title:24} {why}");
            return None;
        }
    };
    let verdict = json["verdict"].as_str().unwrap_or("none");
    let states = json["stats"]["states"].as_u64().unwrap_or(0);
    let expected = if reachable {
        "reachable"
    } else {
        "unreachable"
    };
    let instrumented = ["--instrumented", "--criterion", "robust"];
    let verified = spin.map(|spin| spin.verify(palisade, file, &instrumented));
    let [pan_states, pan_seconds, pan_ratio] = verifier::cells(verified.as_ref(), finished.seconds);
    let say = |what: &dyn Fn(f64) -> String, none: &str| {
        let each = paper.seconds.iter().map(|(tool, seconds)| {
            let said = seconds.map_or(none.to_owned(), what);
            format!("{tool} {said}").trim().to_owned()
        });
        each.collect::<Vec<_>>().join("; ")
    };
    table.row(&[
        title.to_owned(),
        verdict.to_owned(),
        json["iterations"].to_string(),
        states.to_string(),
        format!("{:.4}", finished.seconds),
        format!("{:.1}", finished.peak_bytes as f64 / f64::from(1 << 20)),
        pan_states,
        pan_seconds,
        pan_ratio,
        paper.queries.map_or(String::new(), |n| n.to_string()),
        say(&|seconds| seconds.to_string(), "out of memory"),
        say(&|seconds| times(seconds, finished.seconds), "-"),
        match verdict == expected {
            true => String::new(),
            false => format!("should be {expected}"),
        },
    ]);
    (verdict == expected).then_some(Reached {
        seconds: finished.seconds,
        states: states as f64,
    })
}

/// Fig. 7: Lamport's fast mutual exclusion with so many threads.
fn lamport(threads: u32) -> String {
    format!(
        "const N = {threads};
shared x, y;
thread t[N] {{
  loop {{
    x = me + 1;
    if y != 0 {{ continue; }}
    y = me + 1;
    if x == me + 1 {{ break; }}
    assume y != me + 1;
  }}
  cs: skip;
  y = 0;
}}
never t[0]@cs && t[1]@cs;
"
    )
}

/// Fig. 8: Dekker's core with a diamond of so many branches between the store and the load of each thread.
fn diamond(branches: u32) -> String {
    let mut text = String::from("shared x, y, a, b;\n");
    for (thread, mine, other, counter) in [("p0", "x", "y", "a"), ("p1", "y", "x", "b")] {
        let _ = writeln!(
            text,
            "thread {thread} {{\n  {mine} = 1;\n  let r = {counter};"
        );
        // A choice with one guard for each branch, as in the figure: a chain of `else` would be as deep as there are branches.
        for branch in 0..branches {
            let word = if branch == 0 { "  choose" } else { " or" };
            let next = (branch + 1) % branches;
            let _ = write!(
                text,
                "{word} {{ assume r == {branch}; {counter} = {next}; }}"
            );
        }
        let _ = writeln!(text, "\n  assume {other} == 0;\n  goal: skip;\n}}");
    }
    text.push_str("never p0@goal && p1@goal;\n");
    text
}

/// Fig. 9: a loop of so many stores that must be run twice.
fn length_loop(length: u32) -> String {
    format!(
        "const N = {length};
shared x, y;
thread p0 {{
  loop {{
    let r = 0;
    while r < N {{
      x = r;
      r = r + 1;
    }}
    choose {{ break; }} or {{ skip; }}
  }}
  assume y == 0;
  goal: skip;
}}
thread p1 {{
  y = 1;
  assume x == 1;
  assume x == 0;
  goal: skip;
}}
never p0@goal && p1@goal;
"
    )
}
