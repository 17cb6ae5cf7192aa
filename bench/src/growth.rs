//! How time and states grow with the number of threads, of locations and of values: one series for each, in which nothing else grows.
//!
//! All programs satisfy what is asked, so all states must be seen; for persistence two of them need a fence. The static filter, which would dismiss
//! some of them without a search, is off.

use std::fmt::Write as _;
use std::process::ExitCode;

use bench::output::{Series, Table, fitted, fitted_seconds, plot};
use bench::tool::Palisade;

use crate::measure::{check, limit};

/// What grows, what makes its programs (with a fence or without), and the sizes.
type Axis = (&'static str, fn(u32, &str) -> String, &'static [u32]);

const AXES: [Axis; 3] = [
    ("threads", ticket_lock, &[2, 3, 4, 5, 6, 7]),
    ("locations", messages, &[4, 8, 16, 24, 32, 48, 64, 96]),
    ("values", copies, &[8, 16, 32, 48, 64, 96, 128, 192]),
];

/// What is asked.
const QUESTIONS: [(&str, &[&str]); 3] = [
    ("robust, TSO", &["--no-static-filter"]),
    (
        "persistent, TSO",
        &[
            "--criterion",
            "persistent",
            "--abstract",
            "off",
            "--no-static-filter",
        ],
    ),
    ("robust, RA", &["--model", "ra", "--no-static-filter"]),
];

/// Prints the table, and the exponents. A number sets the limit in seconds for each measurement.
pub fn table(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let limit = limit(arguments, 5);
    let mut table = Table::new(&[
        ("growing", 10),
        ("N", 4),
        ("question", 16),
        ("verdict", 9),
        ("states", 9),
        ("seconds", 8),
        ("MiB", 7),
    ]);
    let scratch = std::env::temp_dir().join(format!("palisade-growth-{}.pal", std::process::id()));
    let mut fine = true;
    let mut fits = Vec::new();
    for (axis, text, sizes) in AXES {
        let (mut by_time, mut by_states) = (Vec::new(), Vec::new());
        for (question, flags) in QUESTIONS {
            let fence = match flags.contains(&"persistent") {
                true => "fence; ",
                false => "",
            };
            let (mut times, mut states) = (Vec::new(), Vec::new());
            for &size in sizes {
                if let Err(error) = std::fs::write(&scratch, text(size, fence)) {
                    eprintln!("cannot write {}: {error}", scratch.display());
                    return ExitCode::FAILURE;
                }
                let measured = match check(palisade, &scratch, flags, limit) {
                    Ok(measured) => measured,
                    Err(why) => {
                        println!("{axis} {size}, {question}: {why}");
                        fine = false;
                        break;
                    }
                };
                table.row(&[
                    axis.to_owned(),
                    size.to_string(),
                    question.to_owned(),
                    measured.verdict.clone(),
                    measured.states.to_string(),
                    measured.time(),
                    measured.mebibytes(),
                ]);
                fine &= measured.verdict != "violated";
                if measured.verdict != "holds" {
                    break;
                }
                times.push((f64::from(size), measured.seconds));
                states.push((f64::from(size), measured.states as f64));
            }
            fits.push(format!(
                "{question:16} over {axis:10}: states {}; seconds {}",
                fitted(&states),
                fitted_seconds(&times)
            ));
            let series = |points| Series {
                name: question.to_owned(),
                points,
            };
            by_time.push(series(times));
            by_states.push(series(states));
        }
        let title = format!("Growth with the number of {axis}");
        // A number of threads is an exponent, the others are bases.
        let logarithmic = axis != "threads";
        let name = format!("growth-{axis}");
        plot(
            &format!("{name}-seconds"),
            &title,
            (axis, "seconds"),
            logarithmic,
            &by_time,
        );
        plot(
            &format!("{name}-states"),
            &title,
            (axis, "states"),
            logarithmic,
            &by_states,
        );
    }
    let _ = std::fs::remove_file(&scratch);
    table.note("growth as a power and as an exponential:");
    for fit in fits {
        table.note(fit);
    }
    table.save("growth");
    ExitCode::from(u8::from(!fine))
}

/// A ticket lock with so many threads, which write their names into what it guards.
fn ticket_lock(threads: u32, _: &str) -> String {
    format!(
        "const N = {threads};
domain N + 2;
shared next, serving, owner;
thread t[N] {{
  loop {{
    let ticket = fadd(next, 1);
    wait(serving == ticket);
    owner = me;
    assert owner == me;
    serving = ticket + 1;
  }}
}}
"
    )
}

/// A message of so many locations to two readers, which read it backwards and say that they did.
fn messages(locations: u32, fence: &str) -> String {
    let mut text = String::from("shared ack");
    for location in 0..locations {
        let _ = write!(text, ", x{location}");
    }
    text.push_str(";\nthread writer {\n");
    for location in 0..locations {
        let _ = writeln!(text, "  x{location} = 1;");
    }
    let _ = writeln!(
        text,
        "  {fence}let r = ack;\n}}\nthread reader[2] {{\n  let r;"
    );
    for location in (0..locations).rev() {
        let _ = writeln!(text, "  r = x{location};");
    }
    text.push_str("  ack = 1;\n}\n");
    text
}

/// A counter with so many values, a thread that copies it for ever, and a thread that looks at the copy.
fn copies(values: u32, fence: &str) -> String {
    format!(
        "const N = {values};
shared x, y;
thread writer {{
  let r = 0;
  while r < N {{ x = r; r = r + 1; }}
}}
thread copier {{
  loop {{ let r = x; y = r; {fence}}}
}}
thread reader {{
  loop {{ let r = y; }}
}}
"
    )
}
