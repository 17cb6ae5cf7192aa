//! For each lock and queue of programs/: what its orders cost as they were published, and that the cheapest ones cost what its header says. Each has such a line:
//!
//! `// orders CRITERION COST: published N, least N`; `wrong N` where the published orders are not enough, `none` where no orders are. `least N, in minutes` takes
//! too long for a test that is always run: `cargo test --release -p palisade-fence --test published -- --ignored`.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use palisade_check::{Control, Criterion, Model, Options};
use palisade_fence::{Choices, Freedom, OrderCosts, OrdersResult, Prices, orders};
use palisade_testkit::{program, workspace_dir};

struct Stated<'a> {
    criterion: Criterion,
    cost: &'a str,
    /// What the orders of the text cost, and whether they are enough.
    written: (Option<bool>, u64),
    least: Least,
    /// The search takes minutes.
    is_long: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Least {
    Cost(u64),
    None,
}

fn stated(line: &str) -> Option<Stated<'_>> {
    let (question, answer) = line.strip_prefix("// orders ")?.split_once(": ")?;
    let (criterion, cost) = question.split_once(' ')?;
    let criterion = [Criterion::Safe, Criterion::Robust, Criterion::Drf]
        .into_iter()
        .find(|c| c.name() == criterion)?;
    let (written, least) = answer.split_once(", ")?;
    let written = match written.split_once(' ')? {
        ("published", cost) => (Some(true), cost.parse().ok()?),
        ("wrong", cost) => (Some(false), cost.parse().ok()?),
        _ => return None,
    };
    let (least, is_long) = match least.strip_suffix(", in minutes") {
        Some(least) => (least, true),
        None => (least, false),
    };
    let least = match least {
        "none" => Least::None,
        _ => Least::Cost(least.strip_prefix("least ")?.parse().ok()?),
    };
    Some(Stated {
        criterion,
        cost,
        written,
        least,
        is_long,
    })
}

#[test]
fn nothing_published_is_cheaper() {
    ask_about(false);
}

#[test]
#[ignore = "takes minutes"]
fn nothing_published_is_cheaper_where_it_takes_minutes() {
    ask_about(true);
}

/// Asks again about those whose search takes minutes, or about all others.
fn ask_about(long_ones: bool) {
    let never = AtomicBool::new(false);
    let control = Control {
        cancel: &never,
        progress: &|_| {},
    };
    let mut files: Vec<PathBuf> = Vec::new();
    for directory in ["locks", "queues", "c20", "orders"] {
        let directory = workspace_dir().join("programs").join(directory);
        let entries = std::fs::read_dir(directory).expect("it is part of the project");
        files.extend(entries.map(|entry| entry.unwrap().path()));
    }
    files.sort();
    let mut asked = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let program = program(&text);
        let name = file.display();
        let mut lines = text.lines().filter(|line| line.starts_with("// orders "));
        let line = lines.next();
        let line = line.unwrap_or_else(|| panic!("{name} does not say what its orders cost"));
        let stated = stated(line).unwrap_or_else(|| panic!("{name}: {line}"));
        if let (Some(true), Least::Cost(least)) = (stated.written.0, stated.least) {
            assert!(least <= stated.written.1, "{name}: {line}");
        }
        if stated.is_long != long_ones {
            continue;
        }
        asked += 1;
        let costs = OrderCosts {
            prices: Prices::shipped(stated.cost).expect("prices that are shipped"),
            profile: None,
        };
        let choices = Choices::new(&program, &Freedom::ORDERS, &costs);
        // Without a limit, searches that may have no end are short.
        let minutes = if long_ones { 30 } else { 5 };
        let options = Options {
            timeout: Some(Duration::from_secs(60 * minutes)),
            ..Options::new(Model::C20, stated.criterion)
        };
        let found = orders(&choices, &options, false, &control).unwrap();
        let (questions, wall) = (found.stats.queries, found.stats.wall);
        println!("{name}: {questions} questions, {wall:?}");
        let least = match &found.result {
            OrdersResult::Optimal(best) => Least::Cost(best.cost),
            OrdersResult::None => Least::None,
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(
            (found.written, least),
            (stated.written, stated.least),
            "{name}: {line}"
        );
    }
    assert!(asked >= if long_ones { 1 } else { 50 }, "only {asked}");
}
