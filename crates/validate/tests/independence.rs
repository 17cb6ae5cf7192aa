//! The code that checks answers shares none with the code that finds them.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The crates that search.
const SEARCHES: [&str; 5] = [
    "palisade-check",
    "palisade-explore",
    "palisade-threads",
    "palisade-fence",
    "palisade-param",
];

/// The platform that this was built on: crates of other platforms have not been fetched.
fn platform() -> String {
    let output = Command::new(env!("CARGO")).arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.unwrap().to_owned()
}

/// Every crate that `validate` is made of, as cargo resolves it, with the directory of each that is ours.
fn made_of() -> Vec<(String, Option<String>)> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline"])
        .args(["--filter-platform", &platform()])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let packages = metadata["packages"].as_array().unwrap();
    let package = |id: &str| packages.iter().find(|p| p["id"] == id).unwrap();
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let is_validate = |p: &&Value| p["name"] == "palisade-validate";
    let validate = packages.iter().find(is_validate).unwrap();
    let mut todo = vec![text(&validate["id"])];
    let mut seen = BTreeSet::new();
    while let Some(id) = todo.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        let node = nodes.iter().find(|n| n["id"] == id.as_str()).unwrap();
        for dependency in node["deps"].as_array().unwrap() {
            let mut kinds = dependency["dep_kinds"].as_array().unwrap().iter();
            // What only tests depend on has the kind `dev`.
            if kinds.any(|kind| kind["kind"] != "dev") {
                todo.push(text(&dependency["pkg"]));
            }
        }
    }
    seen.iter()
        .map(|id| {
            let package = package(id);
            let ours = package["source"].is_null();
            (
                text(&package["name"]),
                ours.then(|| text(&package["manifest_path"])),
            )
        })
        .collect()
}

#[test]
fn validate_knows_no_search() {
    let made_of = made_of();
    let names: Vec<&str> = made_of.iter().map(|(name, _)| name.as_str()).collect();
    for expected in ["palisade-memory", "palisade-certificate", "palisade-lang"] {
        assert!(names.contains(&expected), "{names:?}");
    }
    for search in SEARCHES {
        assert!(!names.contains(&search), "`{search}` searches: {names:?}");
    }
    // Nor does the text of any of these crates mention one.
    let mut files = 0;
    for (name, manifest) in &made_of {
        let Some(manifest) = manifest else {
            continue;
        };
        let mut directories = vec![Path::new(manifest).with_file_name("src")];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                files += 1;
                for search in SEARCHES {
                    let used = format!("{}::", search.replace('-', "_"));
                    assert!(!text.contains(&used), "{name}: {path:?} uses {used}");
                }
            }
        }
    }
    assert!(files > 20, "{files}");
}
