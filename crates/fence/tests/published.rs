//! For each program of programs/orders and programs/c20 that says so: what its published orders cost, and that the cheapest ones cost what its header says.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use palisade_check::{Control, Criterion, Model, Options};
use palisade_fence::{Choices, Freedom, OrderCosts, OrdersResult, Prices, orders};
use palisade_testkit::{program, workspace_dir};

/// `// orders CRITERION COST: published N, least N`
fn stated(line: &str) -> Option<(Criterion, &str, u64, u64)> {
    let (question, answer) = line.strip_prefix("// orders ")?.split_once(": ")?;
    let (criterion, cost) = question.split_once(' ')?;
    let criterion = [Criterion::Safe, Criterion::Robust, Criterion::Drf]
        .into_iter()
        .find(|c| c.name() == criterion)?;
    let (published, least) = answer.split_once(", ")?;
    let published = published.strip_prefix("published ")?.parse().ok()?;
    let least = least.strip_prefix("least ")?.parse().ok()?;
    Some((criterion, cost, published, least))
}

#[test]
fn nothing_published_is_cheaper() {
    let never = AtomicBool::new(false);
    let control = Control {
        cancel: &never,
        progress: &|_| {},
    };
    let mut files: Vec<PathBuf> = Vec::new();
    for directory in ["programs/orders", "programs/c20"] {
        let directory = workspace_dir().join(directory);
        let entries = std::fs::read_dir(directory).expect("it is part of the project");
        files.extend(entries.map(|entry| entry.unwrap().path()));
    }
    files.sort();
    let mut seen = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let program = program(&text);
        for line in text.lines().filter(|line| line.starts_with("// orders ")) {
            let (criterion, cost, published, least) =
                stated(line).unwrap_or_else(|| panic!("{}: {line}", file.display()));
            let costs = OrderCosts {
                prices: Prices::shipped(cost).expect("prices that are shipped"),
                profile: None,
            };
            let choices = Choices::new(&program, &Freedom::ORDERS, &costs);
            let options = Options::new(Model::C20, criterion);
            let found = orders(&choices, &options, false, &control).unwrap();
            let cost = match &found.result {
                OrdersResult::Optimal(best) => best.cost,
                other => panic!("{}: {other:?}", file.display()),
            };
            println!(
                "{}: {} questions, {:?}",
                file.display(),
                found.stats.queries,
                found.stats.wall
            );
            assert_eq!(
                (found.written, cost),
                ((Some(true), published), least),
                "{}: {line}",
                file.display()
            );
            seen += 1;
        }
    }
    assert!(seen >= 17);
}
