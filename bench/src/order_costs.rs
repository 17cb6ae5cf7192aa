//! What orders cost on this machine, as a table of prices that `palisade orders --cost FILE` takes.
//!
//! Each operation is repeated on a location that only this thread touches, and the time of the same with `relaxed` is subtracted: what is left is what the order
//! costs by itself, in tenths of a nanosecond. Traffic between cores, which the order may cause, is not in it.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::Instant;

use bench::tool::Palisade;

const ROUNDS: u32 = 7;
const REPETITIONS: u32 = 2_000_000;

/// The least time of some rounds, in tenths of a nanosecond for each repetition.
fn time(mut operation: impl FnMut()) -> f64 {
    let round = |operation: &mut dyn FnMut()| {
        let start = Instant::now();
        for _ in 0..REPETITIONS {
            operation();
        }
        start.elapsed().as_secs_f64() * 1e10 / f64::from(REPETITIONS)
    };
    (0..ROUNDS)
        .map(|_| round(&mut operation))
        .fold(f64::INFINITY, f64::min)
}

fn row(name: &str, prices: &[(&str, f64)]) {
    println!("\n[{name}]");
    let (mut relaxed, mut most) = (0, 0);
    for (order, price) in prices {
        // A stronger order never counts as cheaper: what is measured has noise.
        let floor = match *order {
            "relaxed" | "acquire" | "release" => relaxed,
            _ => most,
        };
        let price = (price.max(0.0).round() as u64).max(floor);
        if *order == "relaxed" {
            relaxed = price;
        }
        most = most.max(price);
        println!("{order} = {price}");
    }
}

pub fn table(_: &Palisade, _: &[String]) -> ExitCode {
    let (x, y) = (&AtomicU64::new(0), &AtomicU64::new(0));
    // A store before and a load behind it, so that an order has something to wait for.
    let load = |order| {
        time(move || {
            y.store(1, Ordering::Relaxed);
            black_box(x.load(order));
        })
    };
    let store = |order| {
        time(move || {
            x.store(black_box(1), order);
            black_box(y.load(Ordering::Relaxed));
        })
    };
    let add = |order| {
        time(move || {
            black_box(x.fetch_add(1, order));
        })
    };
    let swap = |order| {
        time(move || {
            black_box(x.swap(1, order));
            black_box(y.load(Ordering::Relaxed));
        })
    };
    let fail = |order| {
        time(move || {
            let _ = black_box(y.compare_exchange(u64::MAX, 0, Ordering::Relaxed, order));
        })
    };
    let fenced = |order| {
        time(move || {
            x.store(1, Ordering::Relaxed);
            fence(order);
            black_box(y.load(Ordering::Relaxed));
        })
    };
    use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    println!(
        "source = \"Measured on this machine ({}), without contention, in tenths of a nanosecond above a relaxed access.\"",
        std::env::consts::ARCH
    );
    let base = load(Relaxed);
    let prices = [
        ("relaxed", 0.0),
        ("acquire", load(Acquire) - base),
        ("seqcst", load(SeqCst) - base),
    ];
    row("load", &prices);
    let plain = store(Relaxed);
    let prices = [
        ("relaxed", 0.0),
        ("release", store(Release) - plain),
        ("seqcst", store(SeqCst) - plain),
    ];
    row("store", &prices);
    let base = add(Relaxed);
    let prices = [
        ("relaxed", 0.0),
        ("acquire", add(Acquire) - base),
        ("release", add(Release) - base),
        ("acqrel", add(AcqRel) - base),
        ("seqcst", add(SeqCst) - base),
    ];
    row("rmw", &prices);
    let base = fail(Relaxed);
    let prices = [
        ("relaxed", 0.0),
        ("acquire", fail(Acquire) - base),
        ("seqcst", fail(SeqCst) - base),
    ];
    row("failure", &prices);
    let prices = [
        ("acquire", fenced(Acquire) - plain),
        ("release", fenced(Release) - plain),
        ("acqrel", fenced(AcqRel) - plain),
        ("seqcst", fenced(SeqCst) - plain),
    ];
    row("fence", &prices);
    let prices = [
        ("relaxed", swap(Relaxed) - plain),
        ("acquire", swap(Acquire) - plain),
        ("release", swap(Release) - plain),
        ("acqrel", swap(AcqRel) - plain),
        ("seqcst", swap(SeqCst) - plain),
    ];
    row("exchange", &prices);
    ExitCode::SUCCESS
}
