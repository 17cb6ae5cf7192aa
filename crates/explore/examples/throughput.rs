//! How fast the walk is when expanding a state costs next to nothing.
//!
//! ```text
//! cargo run --release -p palisade-explore --example throughput            # all of the below
//! cargo run --release -p palisade-explore --example throughput grid 7     # 7^8 states of 12 bytes
//! cargo run --release -p palisade-explore --example throughput grid 7 2   # the same with two threads
//! cargo run --release -p palisade-explore --example throughput twice 7    # two such walks at once
//! cargo run --release -p palisade-explore --example throughput chain 10000000 2
//! cargo run --release -p palisade-explore --example throughput tiny 1000  # many short walks
//! cargo run --release -p palisade-explore --example throughput disk 7 20 /var/tmp/walk        # a grid, with 20 MiB for its states and the rest on disk
//! cargo run --release -p palisade-explore --example throughput deep 10000000 20 /var/tmp/walk # a chain in the same way
//! cargo run --release -p palisade-explore --example throughput only 12 1000 /var/tmp/walk     # a grid that memory may have no room for, on disk alone
//! ```

use palisade_explore::{Disk, Limits, Outcome, Space, Successors, Walk};
use std::cmp::Ordering;
use std::time::{Duration, Instant};

/// Eight counters up to `size` - 1, and four numbers that follow from them, to have rows as wide as those
/// of a program: 12 components of 8 bits.
struct Grid {
    size: u32,
}

/// What a counter is multiplied with, so that it takes 8 bits.
const SCALE: u32 = 31;

impl Space for Grid {
    type Worker = ();
    fn worker(&self) {}
    fn width(&self) -> usize {
        12
    }
    fn initial(&self, _: &mut (), out: &mut Successors<'_>) {
        out.push(0, &[0; 12]);
    }
    fn expand(&self, _: &mut (), row: &[u32], out: &mut Successors<'_>) {
        for i in 0..8 {
            let value = row[i] + SCALE;
            if value < self.size * SCALE {
                let partner = row[i ^ 1];
                let derived = if i % 2 == 0 {
                    value * 5 + partner * 3
                } else {
                    partner * 5 + value * 3
                };
                out.patch(i as u64, &[(i, value), (8 + i / 2, derived % 251)]);
            }
        }
    }
    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        a.cmp(b)
    }
}

/// One counter: as many levels as states.
struct Chain {
    length: u32,
}

impl Space for Chain {
    type Worker = ();
    fn worker(&self) {}
    fn width(&self) -> usize {
        2
    }
    fn initial(&self, _: &mut (), out: &mut Successors<'_>) {
        out.push(0, &[0, 0]);
    }
    fn expand(&self, _: &mut (), row: &[u32], out: &mut Successors<'_>) {
        if row[0] + 1 < self.length {
            out.patch(0, &[(0, row[0] + 1), (1, row[0] % 7)]);
        }
    }
    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        a.cmp(b)
    }
}

fn walk(space: &impl Space, jobs: usize) -> (Outcome, Duration) {
    let start = Instant::now();
    let outcome = Walk::new(space).jobs(jobs).run();
    (outcome, start.elapsed())
}

fn print(name: &str, outcome: &Outcome, time: Duration) {
    let stats = outcome.stats;
    println!(
        "{name:24} {:>9} states {:>9} successors {:>8} levels {:>7.3} s {:>6.2} M successors/s {:>6.2} M \
         states/s {:>6.2} bytes/state",
        stats.states,
        stats.transitions,
        stats.levels,
        time.as_secs_f64(),
        stats.transitions as f64 / time.as_secs_f64() / 1e6,
        stats.states as f64 / time.as_secs_f64() / 1e6,
        outcome.states.bytes() as f64 / stats.states as f64,
    );
}

/// Two independent walks at the same time; the time that one of them takes.
fn twice(size: u32) -> Duration {
    std::thread::scope(|scope| {
        let run = || {
            let (outcome, time) = walk(&Grid { size }, 1);
            print(&format!("grid {size}, one of two"), &outcome, time);
            time
        };
        let other = scope.spawn(run);
        let here = run();
        other.join().map_or(here, |there| here.max(there))
    })
}

/// Seconds of the processor that this process has used, where the operating system tells.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields = after_name.split_ascii_whitespace().skip(11).take(2);
    let ticks: f64 = fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    ticks / 100.0
}

/// The same walk in memory and with little of it: how much dearer it is on disk.
fn beside_disk(name: &str, space: &impl Space, megabytes: u64, directory: &str, in_memory: bool) {
    let mut plain = f64::NAN;
    let begin = processor();
    if in_memory {
        let (outcome, time) = walk(space, 1);
        plain = processor() - begin;
        print(&format!("{name} in memory"), &outcome, time);
    }
    let disk = Disk::new(directory).with_room(megabytes << 20);
    let limits = Limits {
        disk: Some(&disk),
        ..Limits::default()
    };
    let (start, begin) = (Instant::now(), processor());
    let outcome = Walk::new(space).limits(limits).run();
    let used = processor() - begin;
    print(&format!("{name} on disk"), &outcome, start.elapsed());
    println!(
        "{:.2} bytes of disk a state, {used:.1} s of the processor, {:.2} times as much as in memory; {:?}",
        outcome.states.disk_bytes() as f64 / outcome.stats.states as f64,
        used / plain,
        outcome.stopped
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| arguments.get(i).and_then(|text| text.parse::<u32>().ok());
    match (arguments.first().map(String::as_str), number(1)) {
        (Some("grid"), Some(size)) => {
            let jobs = number(2).unwrap_or(1) as usize;
            let (outcome, time) = walk(&Grid { size: size.min(8) }, jobs);
            print(&format!("grid {size}, {jobs} threads"), &outcome, time);
        }
        (Some("twice"), Some(size)) => {
            twice(size.min(8));
        }
        (Some("chain"), Some(length)) => {
            let jobs = number(2).unwrap_or(1) as usize;
            let (outcome, time) = walk(&Chain { length }, jobs);
            print(&format!("chain, {jobs} threads"), &outcome, time);
        }
        (Some(what @ ("disk" | "deep" | "only")), Some(size)) => {
            let room = u64::from(number(2).unwrap_or(64));
            let directory = arguments.get(3).map_or("walk", String::as_str);
            match what {
                "deep" => beside_disk("chain", &Chain { length: size }, room, directory, true),
                "disk" => beside_disk("grid", &Grid { size }, room, directory, true),
                _ => beside_disk("grid", &Grid { size }, room, directory, false),
            }
        }
        (Some("tiny"), Some(times)) => {
            let start = Instant::now();
            for _ in 0..times {
                walk(&Grid { size: 2 }, 2);
            }
            let time = start.elapsed().as_secs_f64() * 1e6 / f64::from(times.max(1));
            println!("a walk over 256 states takes {time:.1} microseconds");
        }
        _ => {
            for size in [6, 7] {
                let (outcome, time) = walk(&Grid { size }, 1);
                print(&format!("grid {size}, 1 thread"), &outcome, time);
            }
            let independent = twice(7);
            let (outcome, time) = walk(&Grid { size: 7 }, 2);
            print("grid 7, 2 threads", &outcome, time);
            println!(
                "two threads have {:.0} % of the throughput of two independent walks at the same time",
                independent.as_secs_f64() / time.as_secs_f64() / 2.0 * 100.0
            );
            for jobs in [1, 2] {
                let (outcome, time) = walk(&Chain { length: 10_000_000 }, jobs);
                print(&format!("chain, {jobs} threads"), &outcome, time);
            }
        }
    }
}
