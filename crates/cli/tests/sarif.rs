//! `--format sarif` against the official schema of SARIF 2.1.0, and against what GitHub's code scanning asks for beyond it.
//!
//! The schema is the one that the package `serde-sarif` brings along, from which it makes its types.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// Asks the cargo that runs this test.
fn cargo(arguments: &[&str]) -> String {
    let done = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// The official schema, from the sources of `serde-sarif`.
static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    // What was not built for this machine need not be there, and is not asked for.
    let version = cargo(&["--version", "--verbose"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let platform = format!("--filter-platform={}", host.unwrap());
    let metadata = cargo(&["metadata", "--format-version=1", "--offline", &platform]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages
        .iter()
        .find(|p| p["name"] == "serde-sarif")
        .unwrap();
    let manifest = Path::new(package["manifest_path"].as_str().unwrap());
    let text = std::fs::read_to_string(manifest.with_file_name("src/schema.json")).unwrap();
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    // The one pattern in it that is no regular expression as everybody writes them (a bracket too much), for a property that we do not write.
    for owner in ["run", "toolComponent"] {
        let path = format!("/definitions/{owner}/properties/language/pattern");
        *schema.pointer_mut(&path).unwrap() = "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$".into();
    }
    jsonschema::validator_for(&schema).unwrap()
});

/// What GitHub wants of a rule, though the schema does not.
const RULE: &[&str] = &["shortDescription", "fullDescription", "help"];

/// Every `uri` of a document.
fn judge_uris(value: &Value, path: &str) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let path = format!("{path}.{name}");
                match value.as_str() {
                    Some(uri) if name == "uri" => judge_uri(uri, &path),
                    _ => judge_uris(value, &path),
                }
            }
        }
        Value::Array(list) => {
            for (at, item) in list.iter().enumerate() {
                judge_uris(item, &format!("{path}[{at}]"));
            }
        }
        _ => {}
    }
}

/// A relative reference, or a `file:` URI; escaped.
fn judge_uri(uri: &str, path: &str) {
    let rest = uri.strip_prefix("file://").unwrap_or(uri);
    assert!(!rest.is_empty(), "{path}");
    assert!(!rest.starts_with("./"), "{path}: {uri}");
    let mut bytes = rest.bytes();
    while let Some(byte) = bytes.next() {
        let plain = byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
        if byte == b'%' {
            let digits = [bytes.next(), bytes.next()];
            let hex = digits
                .iter()
                .all(|d| d.is_some_and(|d| d.is_ascii_hexdigit()));
            assert!(hex, "{path}: {uri}");
        } else {
            assert!(plain, "{path}: {uri}");
        }
    }
}

/// What holds between the parts of a document.
fn judge_document(text: &str) -> Value {
    let document: Value = serde_json::from_str(text).unwrap();
    let wrong: Vec<String> = SCHEMA
        .iter_errors(&document)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    serde_json::from_value::<serde_sarif::sarif::Sarif>(document.clone()).unwrap();
    judge_uris(&document, "");
    for run in document["runs"].as_array().unwrap() {
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        let ids: Vec<&str> = rules.iter().map(|r| r["id"].as_str().unwrap()).collect();
        let mut unique = ids.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
        for rule in rules {
            let missing = RULE
                .iter()
                .find(|name| rule[**name]["text"].as_str().is_none_or(str::is_empty));
            assert_eq!(missing, None, "{rule}");
        }
        for result in run["results"].as_array().unwrap() {
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(result["ruleId"], ids[index]);
            // GitHub shows the first location, and there must be one.
            let locations = result["locations"].as_array().unwrap();
            assert_eq!(locations.len(), 1);
            let region = &locations[0]["physicalLocation"]["region"];
            assert!(region["startLine"].is_u64(), "{result}");
        }
    }
    document
}

fn ask(directory: &Path, arguments: &[&str]) -> Value {
    let done = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .args(arguments)
        .arg("--format=sarif")
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    judge_document(&String::from_utf8(done.stdout).unwrap())
}

const RACY: &str =
    "shared x, y;\nthread p { x = 1; let r = y; }\nthread q { y = 1; let s = x; assert s == 0; }\n";

#[test]
fn every_document_is_as_the_schema_says() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("dir/a b/ü,%.pal", RACY);
    write("dir/fine.pal", "shared x;\nthread p { x = 1; }\n");
    write("dir/wrong.pal", "shared x\nthread p { y = ; }\n");
    write(
        "dir/endless.pal",
        "shared x, y;\nthread p { loop { x = x + 1; } }\nthread q { loop { y = y + 1; } }\n",
    );
    let here = directory.path();

    let document = ask(here, &["check", "dir/fine.pal"]);
    assert_eq!(document["runs"][0]["results"].as_array().unwrap().len(), 0);

    let document = ask(here, &["check", "--criterion=all", "./dir/a b/ü,%.pal"]);
    let results = document["runs"][0]["results"].as_array().unwrap();
    assert!(results.len() >= 4, "{results:?}");
    let place = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(place["uri"], "dir/a%20b/%C3%BC%2C%25.pal");
    assert_eq!(place["uriBaseId"], "%SRCROOT%");

    let arguments = ["--model=sc", "--criterion=safe", "--timeout=200ms"];
    let document = ask(
        here,
        &[&["check", "dir", "gone.pal"], &arguments[..]].concat(),
    );
    let run = &document["runs"][0];
    assert_eq!(run["invocations"][0]["executionSuccessful"], false);
    let notifications = run["invocations"][0]["toolExecutionNotifications"].as_array();
    assert_eq!(notifications.unwrap().len(), 2, "{notifications:?}");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 2, "{rules:?}");

    let document = ask(here, &["fence", "dir/a b/ü,%.pal"]);
    let results = document["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0]["level"], "note");
    assert_eq!(results[0]["ruleId"], "tso/robust/fence");

    ask(here, &["reach", "--model=tso", "dir/a b/ü,%.pal"]);
    let absolute = here.join("dir/a b/ü,%.pal");
    ask(here, &["check", absolute.to_str().unwrap()]);
}

#[test]
fn the_schema_has_teeth() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("racy.pal"), RACY).unwrap();
    let fine = ask(directory.path(), &["check", "racy.pal"]);
    let changes: [(&str, Value); 4] = [
        ("/version", "2.0.0".into()),
        ("/runs/0/results/0/level", "bad".into()),
        ("/runs/0/results/0/message", "text".into()),
        (
            "/runs/0/results/0/locations/0/physicalLocation/region/startLine",
            0.into(),
        ),
    ];
    for (path, value) in changes {
        let mut document = fine.clone();
        *document.pointer_mut(path).unwrap() = value;
        assert!(!SCHEMA.is_valid(&document), "{path}");
    }
}
