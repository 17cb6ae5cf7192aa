//! Walks with something special about them: deep ones, wide numbers, limits, panics.

use palisade_explore::{Limits, Outcome, Reason, Space, Successors, Walk};
use std::cmp::Ordering;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// A space given by a function that pushes the successors of a row. Numbers mean themselves.
struct Given<F> {
    initial: Vec<Vec<u32>>,
    width: usize,
    expand: F,
}

impl<F: Fn(&[u32], &mut Successors<'_>) + Sync> Space for Given<F> {
    type Worker = ();
    fn worker(&self) {}
    fn width(&self) -> usize {
        self.width
    }
    fn initial(&self, _: &mut (), out: &mut Successors<'_>) {
        for (i, row) in self.initial.iter().enumerate() {
            out.push(i as u64, row);
        }
    }
    fn expand(&self, _: &mut (), row: &[u32], out: &mut Successors<'_>) {
        (self.expand)(row, out);
    }
    fn compare(&self, a: &[u32], b: &[u32]) -> Ordering {
        a.cmp(b)
    }
}

fn given<F: Fn(&[u32], &mut Successors<'_>) + Sync>(first: &[u32], expand: F) -> Given<F> {
    Given {
        initial: vec![first.to_vec()],
        width: first.len(),
        expand,
    }
}

/// Every component can grow by one, up to `end`.
fn count_up(row: &[u32], end: u32, out: &mut Successors<'_>) {
    for (i, &number) in row.iter().enumerate() {
        if number < end {
            out.patch(i as u64, &[(i, number + 1)]);
        }
    }
}

/// Three counters without end.
fn endless() -> Given<impl Fn(&[u32], &mut Successors<'_>) + Sync> {
    given(&[0, 0, 0], |row, out| {
        count_up(row, u32::MAX, out);
    })
}

#[test]
fn nothing_to_walk() {
    let space = Given {
        initial: vec![],
        width: 3,
        expand: |_: &[u32], _: &mut Successors<'_>| {},
    };
    let outcome = Walk::new(&space).jobs(2).run();
    assert!(outcome.complete && outcome.states.is_empty() && outcome.findings.is_empty());
    assert_eq!(
        (
            outcome.stats.states,
            outcome.stats.levels,
            outcome.stats.transitions
        ),
        (0, 0, 0)
    );
}

#[test]
fn a_state_without_components() {
    let space = given(&[], |_, out| {
        out.patch(1, &[]);
        out.push(2, &[]);
        out.report(5);
        out.report_step(3, 6);
    });
    let outcome = Walk::new(&space).run();
    assert!(outcome.complete);
    assert_eq!(
        (
            outcome.stats.states,
            outcome.stats.levels,
            outcome.stats.transitions
        ),
        (1, 1, 2)
    );
    assert!(outcome.states.contains(&[]));
    let kinds: Vec<_> = outcome
        .findings
        .iter()
        .map(|f| (f.kind, f.path.len(), f.step))
        .collect();
    assert_eq!(kinds, [(5, 1, None), (6, 1, Some(3))]);
}

/// As many levels as states: no thread may have to wait for another at every level, nothing may recurse,
/// and the path is as long as the space is deep.
#[test]
fn deep_chains() {
    let end = 1_000_000;
    let space = given(&[0], |row, out| {
        if row[0] < end {
            out.patch(u64::from(row[0] % 10), &[(0, row[0] + 1)]);
        } else {
            out.report(1);
        }
    });
    for jobs in [1, 4] {
        let outcome = Walk::new(&space).jobs(jobs).run();
        assert!(outcome.complete);
        assert_eq!(outcome.stats.states, u64::from(end) + 1);
        assert_eq!(outcome.stats.levels, u64::from(end) + 1);
        let path = &outcome.findings[0].path;
        assert_eq!(path.len(), end as usize + 1);
        for (i, step) in path.iter().enumerate() {
            assert_eq!(step.row, [i as u32]);
            assert_eq!(step.label, if i == 0 { 0 } else { (i as u64 - 1) % 10 });
        }
    }
}

/// Levels that are sometimes narrow and sometimes wide, so that threads come and go.
#[test]
fn changing_widths() {
    let space = given(&[0, 0], |row, out| {
        let [phase, x] = *row else { return };
        match phase % 3 {
            0 => (0..5000).for_each(|x| out.push(1, &[phase + 1, x])),
            1 => out.push(2, &[phase + 1, x / 2]),
            _ if phase < 60 => out.push(3, &[phase + 1, 0]),
            _ => out.report(u64::from(x % 4)),
        }
    });
    let outcomes: Vec<Outcome> = [1, 2, 4]
        .map(|jobs| Walk::new(&space).jobs(jobs).run())
        .into();
    for outcome in &outcomes {
        assert!(outcome.complete);
        assert_eq!(outcome.stats.states, 21 * (1 + 5000 + 2500));
        assert_eq!(outcome.findings, outcomes[0].findings);
        assert_eq!(outcome.stats.transitions, outcomes[0].stats.transitions);
    }
}

/// Numbers that need more and more bits, late and in all components, while several threads walk.
#[test]
fn numbers_that_outgrow_their_bits() {
    let space = given(&[0; 9], |row, out| {
        let step = row[0];
        if step < 60_000 {
            for choice in 0..2 {
                // A component that was small so far becomes large.
                let component = 1 + (step / 4 % 8) as usize;
                let shift = step / 2000;
                let value = if shift < 32 {
                    (step % 2 + 1) << shift
                } else {
                    u32::MAX - choice
                };
                out.patch(
                    u64::from(choice),
                    &[(0, 2 * step + choice + 1), (component, value)],
                );
            }
        }
        if step == 65_432 {
            out.report(9);
        }
    });
    let walk = |jobs| {
        let outcome = Walk::new(&space).jobs(jobs).run();
        let mut rows = Vec::new();
        outcome
            .states
            .for_each(|level, row| rows.push((level, row.to_vec())))
            .unwrap();
        rows.sort();
        assert!(rows.iter().all(|(_, row)| outcome.states.contains(row)));
        (
            outcome.complete,
            outcome.findings.clone(),
            outcome.stats.states,
            rows,
        )
    };
    let one = walk(1);
    assert!(one.0);
    assert_eq!(one.2, 120_001);
    assert_eq!(one.1.len(), 1);
    assert!(walk(2) == one);
    assert!(walk(4) == one);
}

#[test]
fn timeouts_and_cancelling() {
    for jobs in [1, 2] {
        let limits = Limits {
            timeout: Some(Duration::from_millis(50)),
            ..Limits::default()
        };
        let outcome = Walk::new(&endless()).jobs(jobs).limits(limits).run();
        assert_eq!(outcome.stopped, Some(Reason::Timeout));
        assert!(!outcome.complete);
        // What was covered is still there.
        let mut count = 0;
        outcome
            .states
            .for_each(|level, row| {
                assert_eq!(u64::from(row.iter().sum::<u32>()), level);
                count += 1;
            })
            .unwrap();
        assert_eq!(count, outcome.stats.states);

        let cancel = AtomicBool::new(false);
        let limits = Limits {
            cancel: Some(&cancel),
            ..Limits::default()
        };
        let reports = AtomicU64::new(0);
        let outcome = Walk::new(&endless())
            .jobs(jobs)
            .limits(limits)
            .progress(|progress| {
                assert!(progress.states >= progress.frontier && progress.frontier > 0);
                assert!(progress.states_per_second > 0.0 && progress.level > 0);
                reports.fetch_add(1, Relaxed);
                cancel.store(true, Relaxed);
            })
            .run();
        assert_eq!(outcome.stopped, Some(Reason::Cancelled));
        assert_eq!(reports.load(Relaxed), 1);
    }
}

/// What was found before the time was over is real.
#[test]
fn findings_before_a_timeout_are_kept() {
    let space = given(&[0], |row, out| {
        out.patch(0, &[(0, row[0] + 1)]);
        if row[0] == 10 {
            out.report_step(77, 5);
        }
    });
    let limits = Limits {
        timeout: Some(Duration::from_millis(50)),
        ..Limits::default()
    };
    let outcome = Walk::new(&space).limits(limits).run();
    assert_eq!(outcome.stopped, Some(Reason::Timeout));
    assert_eq!(outcome.findings.len(), 1);
    assert_eq!(outcome.findings[0].path.len(), 11);
    assert_eq!(outcome.findings[0].step, Some(77));
}

#[test]
fn stopping_at_the_first_finding_finishes_the_level() {
    // Level 3 has states with sum 3, of which three are reported; level 4 is found but not expanded.
    let space = given(&[0, 0, 0], |row, out| {
        count_up(row, u32::MAX, out);
        if row.contains(&3) {
            out.report(row.iter().position(|&x| x == 3).unwrap_or(0) as u64);
        }
    });
    for jobs in [1, 2] {
        let outcome = Walk::new(&space).jobs(jobs).stop_at_first(true).run();
        assert!(!outcome.complete);
        assert_eq!(outcome.stopped, None);
        assert_eq!(outcome.stats.levels, 5);
        assert_eq!(outcome.stats.states, 1 + 3 + 6 + 10 + 15);
        assert_eq!(outcome.stats.transitions, 3 * (1 + 3 + 6 + 10));
        assert_eq!(outcome.findings.len(), 3);
        assert!(
            outcome
                .findings
                .iter()
                .all(|finding| finding.path.len() == 4)
        );
    }
}

/// A space that panics must not leave threads that wait for each other.
#[test]
fn a_panic_ends_the_walk() {
    for jobs in [1, 2, 4] {
        let count = AtomicU64::new(0);
        let space = given(&[0, 0, 0], |row, out| {
            count_up(row, u32::MAX, out);
            assert!(count.fetch_add(1, Relaxed) < 100_000, "enough");
        });
        let walk = std::panic::AssertUnwindSafe(|| Walk::new(&space).jobs(jobs).run());
        assert!(std::panic::catch_unwind(walk).is_err());
    }
}

/// Two walks in two threads do not disturb each other.
#[test]
fn walks_can_run_at_the_same_time() {
    let space = given(&[0, 0, 0, 0], |row, out| {
        count_up(row, 15, out);
    });
    std::thread::scope(|scope| {
        for jobs in [1, 2, 3] {
            let space = &space;
            scope.spawn(move || {
                let outcome = Walk::new(space).jobs(jobs).run();
                assert_eq!(outcome.stats.states, 65_536);
                assert_eq!(outcome.stats.transitions, 4 * 15 * 16 * 16 * 16);
                assert_eq!(outcome.stats.levels, 61);
            });
        }
    });
}
