//! Reachability under TSO, as *Lazy TSO Reachability* measures it: the programs of Fig. 6, and three series that grow (Figs. 7 to 9).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use bench::output::{Series, Table, growth, plot};
use bench::tool::{Palisade, workspace};

/// The programs of Fig. 6 that are in `programs/`, and whether the paper reaches the goal. The robust ones have no goal state there; here they have one, and
/// it is out of reach.
const FIG_6: &[(&str, bool)] = &[
    ("lazy/parker-goal", true),
    ("mutex/peterson-sc", true),
    ("mutex/dekker-sc", true),
    ("mutex/lamport1-3", true),
    ("locks/mcs-lock", false),
    ("locks/clh-lock", false),
    ("queues/lock-free-stack", false),
    ("lazy/never-leaves", false),
];

/// Nothing may take longer.
const LIMIT: Duration = Duration::from_secs(60);

/// A series: its name, what makes its programs, and the sizes.
type Family = (&'static str, fn(u32) -> String, &'static [u32]);

const FAMILIES: &[Family] = &[
    ("lamport", lamport, &[2, 3, 4, 5]),
    ("diamond", diamond, &[5, 10, 20, 50, 100, 150, 200]),
    ("loop", length_loop, &[5, 10, 20, 40, 60, 80, 100]),
];

/// Prints the table, writes it as CSV and the series as plots. Arguments: flags that are passed on to `palisade reach`.
pub fn table(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let directory = std::env::temp_dir().join(format!("palisade-lazy-{}", std::process::id()));
    if let Err(error) = std::fs::create_dir_all(&directory) {
        eprintln!("cannot make {}: {error}", directory.display());
        return ExitCode::FAILURE;
    }
    let fine = measure_all(palisade, &directory, arguments);
    let _ = std::fs::remove_dir_all(&directory);
    match fine {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn measure_all(palisade: &Palisade, directory: &Path, flags: &[String]) -> bool {
    let mut table = Table::new(&[
        ("program", 24),
        ("answer", 12),
        ("rounds", 7),
        ("states", 10),
        ("seconds", 9),
        ("MiB", 8),
    ]);
    let mut fine = true;
    for &(name, reachable) in FIG_6 {
        let file = workspace().join("programs").join(format!("{name}.pal"));
        fine &= measure(palisade, &mut table, name, &file, flags, reachable).is_some();
    }
    let mut times = Vec::new();
    let mut states = Vec::new();
    for &(name, text, sizes) in FAMILIES {
        let mut seconds = Vec::new();
        let mut seen = Vec::new();
        for &size in sizes {
            let file: PathBuf = directory.join(format!("{name}-{size}.pal"));
            if let Err(error) = std::fs::write(&file, text(size)) {
                eprintln!("cannot write {}: {error}", file.display());
                return false;
            }
            let title = format!("{name} {size}");
            match measure(palisade, &mut table, &title, &file, flags, true) {
                Some((took, many)) => {
                    seconds.push((f64::from(size), took));
                    seen.push((f64::from(size), many));
                }
                None => fine = false,
            }
        }
        times.push((name, seconds));
        states.push((name, seen));
    }
    table.save("lazy");
    println!();
    for ((name, seconds), (_, seen)) in times.iter().zip(&states) {
        if let (Some(time), Some(space)) = (growth(seconds), growth(seen)) {
            println!("{name}: time grows like {time}, states like {space}");
            // Lamport's lock has N threads; the others are one program of size N.
            fine &= *name == "lamport" || (time.exponent <= 2.0 && space.exponent <= 2.0);
        }
    }
    let series = |of: Vec<(&str, Vec<(f64, f64)>)>| -> Vec<Series> {
        of.into_iter()
            .map(|(name, points)| Series {
                name: name.to_owned(),
                points,
            })
            .collect()
    };
    let axes = |what| ("N", what);
    plot(
        "lazy-seconds",
        "Reachability under TSO: time",
        axes("seconds, process start included"),
        true,
        &series(times),
    );
    plot(
        "lazy-states",
        "Reachability under TSO: states",
        axes("states, over all rounds"),
        true,
        &series(states),
    );
    fine
}

/// Asks about one program; the seconds and states that it took, unless the answer is wrong.
fn measure(
    palisade: &Palisade,
    table: &mut Table,
    title: &str,
    file: &Path,
    flags: &[String],
    reachable: bool,
) -> Option<(f64, f64)> {
    let file = file.display().to_string();
    let mut arguments = vec!["reach", "--model", "tso", "--timeout", "60s"];
    arguments.extend(flags.iter().map(String::as_str));
    arguments.push(&file);
    let (json, finished) = match palisade.json(&arguments, LIMIT) {
        Ok(measured) => measured,
        Err(why) => {
            println!("{title:24} {why}");
            return None;
        }
    };
    let verdict = json["verdict"].as_str().unwrap_or("none");
    let states = json["stats"]["states"].as_u64().unwrap_or(0);
    table.row(&[
        title.to_owned(),
        verdict.to_owned(),
        json["iterations"].to_string(),
        states.to_string(),
        format!("{:.3}", finished.seconds),
        format!("{:.1}", finished.peak_bytes as f64 / (1 << 20) as f64),
    ]);
    let expected = if reachable {
        "reachable"
    } else {
        "unreachable"
    };
    if verdict != expected {
        println!("{title:24} should be {expected}");
        return None;
    }
    Some((finished.seconds, states as f64))
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
