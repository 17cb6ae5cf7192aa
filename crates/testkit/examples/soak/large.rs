//! Short texts that become large programs, or are nested deeply: whatever comes before a search keeps the limits, too.

use palisade::{Criterion, Model, Reading, SearchOptions, Wanted, report_on};
use std::fmt::Write;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_secs(1);
const MEMORY: u64 = 200 << 20;
/// A machine that does other things too is late now and then.
const LATE: Duration = Duration::from_secs(5);

/// Asks about random texts of that kind, each in a process of its own. No answer comes too late, takes several times the memory, or is a failure of ours.
pub fn soak(budget: Duration, first: u64) -> bool {
    let start = Instant::now();
    let (mut texts, mut most) = (0u64, 0);
    let itself = std::env::current_exe().expect("it runs");
    for seed in first.. {
        if start.elapsed() > budget {
            break;
        }
        let begin = Instant::now();
        let child = Command::new(&itself)
            .args(["large-one", "0", &seed.to_string()])
            .output();
        let (took, output) = (begin.elapsed(), child.expect("it runs once more"));
        let peak: Option<u64> = String::from_utf8_lossy(&output.stdout).trim().parse().ok();
        texts += 1;
        most = most.max(peak.unwrap_or(0));
        let right = output.status.success()
            && took <= TIMEOUT + LATE
            && peak.is_some_and(|peak| peak <= MEMORY + MEMORY / 2);
        if !right {
            let (_, text) = text(&mut fastrand::Rng::with_seed(seed));
            let shown = text.chars().take(3000).collect::<String>();
            let errors = String::from_utf8_lossy(&output.stderr);
            println!("large: seed {seed}: {took:?}, {peak:?} bytes: {shown}\n{errors}");
            return false;
        }
    }
    println!(
        "large: {texts} texts, at most {} MiB, no mistake",
        most >> 20
    );
    true
}

/// Asks about one of them, and prints how many bytes the process has held.
pub fn one(seed: u64) -> bool {
    let (name, text) = text(&mut fastrand::Rng::with_seed(seed));
    let mut options = SearchOptions::new(Model::Tso, Criterion::Robust);
    options.timeout = Some(TIMEOUT);
    options.memory = Some(MEMORY);
    let never = AtomicBool::new(false);
    let wanted = Wanted::One(None, None);
    let (report, _) = report_on(name, text, Reading::default(), wanted, options, &never);
    let answer = palisade_report::json::line(&report);
    let peak = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = peak.lines().find_map(|line| {
        let kilobytes = line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?;
        kilobytes.parse::<u64>().ok()
    });
    println!("{}", peak.unwrap_or(0) << 10);
    !answer.contains("palisade itself went wrong")
}

/// A few lines that say something large.
fn text(random: &mut fastrand::Rng) -> (&'static str, String) {
    match random.u8(0..4) {
        0 => ("calls.pal", calls(random)),
        1 => ("nested.pal", nested(random)),
        2 => ("many.pal", many(random)),
        _ => ("calls.c", in_c(random)),
    }
}

/// Functions that call each other several times, with long expressions.
fn calls(random: &mut fastrand::Rng) -> String {
    let long = vec!["a"; random.usize(1..400)].join(" + ");
    let mut text = format!("shared x, y;\nfn f0(a) {{ x = {long}; }}\n");
    let levels = random.usize(2..40);
    for level in 1..levels {
        let call = format!("f{}(a + {}); ", level - 1, random.u8(0..3));
        let calls = call.repeat(random.usize(1..6));
        writeln!(text, "fn f{level}(a) {{ {calls}}}").expect("in memory");
    }
    let called = random.usize(0..levels);
    text + &format!("thread t {{ f{called}(1); let r = y; }}\nthread u {{ y = 1; let s = x; }}\n")
}

/// Blocks in blocks, or operators in operators.
fn nested(random: &mut fastrand::Rng) -> String {
    let deep = random.usize(1..3000);
    let (open, close) = [
        ("if x == 0 { ", " }"),
        ("{ ", " }"),
        ("while x == 1 { ", " }"),
        ("atomic { ", " }"),
        ("choose { ", " } or { y = 1; }"),
    ][random.usize(0..5)];
    let inner = match random.bool() {
        true => "y = 1;".to_owned(),
        false => format!("y = {}1{};", "-(".repeat(deep), ")".repeat(deep)),
    };
    let blocks = random.usize(0..deep + 1);
    format!(
        "shared x, y;\nthread t {{ {}{inner}{} }}\nthread u {{ x = 1; let r = y; }}\n",
        open.repeat(blocks),
        close.repeat(blocks)
    )
}

/// Many threads, locations, elements or statements.
fn many(random: &mut fastrand::Rng) -> String {
    let size = 10usize.pow(random.u32(1..7)) * random.usize(1..10);
    match random.u8(0..4) {
        0 => format!(
            "shared a[{size}], x;\nthread t {{ a[x] = 1; let r = a[x]; }}\nthread u {{ x = 1; a[0] = 2; }}\n"
        ),
        1 => format!(
            "shared x, y;\nthread t[{size}] {{ x = 1; let r = y; }}\nthread u {{ y = 1; let s = x; }}\n"
        ),
        2 => {
            let names: Vec<String> = (0..size.min(50_000)).map(|i| format!("v{i}")).collect();
            format!(
                "shared {};\nthread t {{ v0 = 1; let r = v1; }}\nthread u {{ v1 = 1; let s = v0; }}\n",
                names.join(", ")
            )
        }
        _ => {
            let stores = "x = 1; let r = y; y = r; ".repeat(size.min(50_000));
            format!("shared x, y;\nthread t {{ {stores} }}\nthread u {{ y = 1; let s = x; }}\n")
        }
    }
}

/// The same in C, with macros that double.
fn in_c(random: &mut fastrand::Rng) -> String {
    let mut text = "#include <stdatomic.h>\n#include <pthread.h>\natomic_int x, y;\n".to_owned();
    match random.bool() {
        true => {
            text += "#define M0 atomic_store(&x, 1);\n";
            let levels = random.usize(1..30);
            for level in 1..=levels {
                writeln!(text, "#define M{level} M{0} M{0}", level - 1).expect("in memory");
            }
            writeln!(text, "void *t(void *p) {{ M{levels} return 0; }}").expect("in memory");
        }
        false => {
            text += "void f0(int a) { atomic_store(&x, a); }\n";
            let levels = random.usize(1..30);
            for level in 1..=levels {
                let call = format!("f{}(a + 1); ", level - 1).repeat(random.usize(1..4));
                writeln!(text, "void f{level}(int a) {{ {call}}}").expect("in memory");
            }
            writeln!(text, "void *t(void *p) {{ f{levels}(1); return 0; }}").expect("in memory");
        }
    }
    text + "int main(void) { pthread_t a; pthread_create(&a, 0, t, 0); atomic_store(&y, 1); int r = atomic_load(&x); pthread_join(a, 0); return r; }\n"
}
