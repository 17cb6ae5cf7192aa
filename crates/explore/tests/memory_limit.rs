//! The memory limit, as the operating system counts. Alone in its process, because the limit is for all
//! of the process.

use palisade_explore::{Limits, Reason, Space, Successors, Walk};
use std::cmp::Ordering;

/// Up to four counters without end.
struct Endless {
    width: usize,
}

impl Endless {
    fn counters(&self) -> usize {
        self.width.min(4)
    }
}

impl Space for Endless {
    type Worker = ();
    fn worker(&self) {}
    fn width(&self) -> usize {
        self.width
    }
    fn initial(&self, _: &mut (), out: &mut Successors<'_>) {
        out.push(0, &vec![0; self.width]);
    }
    fn expand(&self, _: &mut (), row: &[u32], out: &mut Successors<'_>) {
        for (i, number) in row[..self.counters()].iter().enumerate() {
            // The other components follow the counters, to make the rows wide.
            let same = (i..self.width).step_by(4);
            out.patch(
                0,
                &same
                    .map(|component| (component, number + 1))
                    .collect::<Vec<_>>(),
            );
        }
    }
    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        a.cmp(b)
    }
}

fn resident() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(statm.split_whitespace().nth(1)?.parse::<u64>().ok()? * 4096)
}

#[test]
fn the_limit_is_kept() {
    // A chain (width 1), and wider ones. What an earlier walk used may not yet be given back to the
    // operating system, so the limits grow.
    for (width, jobs, megabytes) in [(1, 2, 40), (6, 1, 50), (40, 2, 60), (12, 2, 80)] {
        let limit = megabytes << 20;
        let limits = Limits {
            memory: Some(limit),
            ..Limits::default()
        };
        let space = Endless { width };
        let outcome = Walk::new(&space).jobs(jobs).limits(limits).run();
        assert_eq!(outcome.stopped, Some(Reason::Memory));
        assert!(!outcome.complete);
        let mut states = 0;
        outcome
            .states
            .for_each(|level, row| {
                assert_eq!(
                    u64::from(row[..space.counters()].iter().sum::<u32>()),
                    level
                );
                states += 1;
            })
            .unwrap();
        assert_eq!(states, outcome.stats.states);
        if let Some(resident) = resident() {
            println!(
                "limit {limit}, resident {resident}, peak {}",
                outcome.stats.peak_memory_bytes
            );
            let peak = outcome.stats.peak_memory_bytes.max(resident);
            assert!(peak as f64 <= limit as f64 * 1.1, "{peak} of {limit}");
            assert!(
                peak as f64 >= limit as f64 * 0.8,
                "{peak} of {limit} is too timid"
            );
        }
    }
}
