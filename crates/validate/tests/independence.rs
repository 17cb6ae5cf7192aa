//! Who checks answers must not share code with who finds them.

use std::path::Path;

const SEARCHES: [&str; 5] = ["check", "explore", "threads", "fence", "param"];

#[test]
fn validate_knows_no_search() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // What it depends on, and what these depend on in turn.
    let mut todo = vec!["validate".to_owned()];
    let mut seen = Vec::new();
    while let Some(name) = todo.pop() {
        if seen.contains(&name) {
            continue;
        }
        let manifest = root.join("..").join(&name).join("Cargo.toml");
        let manifest = std::fs::read_to_string(&manifest).unwrap();
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or("");
        let dependencies = dependencies.split("\n[").next().unwrap_or("");
        for line in dependencies.lines() {
            if let Some(rest) = line.strip_prefix("palisade-") {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
                let other = &rest[..end.unwrap_or(rest.len())];
                assert!(
                    !SEARCHES.contains(&other),
                    "`{name}` depends on `{other}`, which searches"
                );
                todo.push(other.to_owned());
            }
        }
        seen.push(name);
    }
    assert!(seen.contains(&"memory".to_owned()), "{seen:?}");
    let mut directories = vec![root.join("src")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for search in SEARCHES {
                let name = format!("palisade_{search}");
                assert!(!text.contains(&name), "{} uses {name}", path.display());
            }
        }
    }
}
