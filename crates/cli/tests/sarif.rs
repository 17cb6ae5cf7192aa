//! `--format sarif` against SARIF 2.1.0: for every kind of object that we write, the properties that the schema knows, which of them it wants,
//! and what they may hold; and what GitHub's code scanning asks for beyond it.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a property may hold.
enum Holds {
    /// A text.
    Text,
    /// A text from a list.
    OneOf(&'static [&'static str]),
    /// A whole number from here on.
    From(u64),
    /// Yes or no.
    Flag,
    /// A reference to a file.
    Uri,
    /// An object of this kind.
    Object(&'static str),
    /// A list of objects of this kind.
    List(&'static str),
    /// A list of texts.
    Texts,
}

use Holds::{Flag, From, List, Object, OneOf, Text, Texts, Uri};

const LEVELS: &[&str] = &["none", "note", "warning", "error"];

/// A property: its name, whether it must be there, and what it holds.
type Property = (&'static str, bool, Holds);

/// The kinds of objects with their properties. The schema allows no others in them.
const KINDS: &[(&str, &[Property])] = &[
    (
        "sarifLog",
        &[
            ("$schema", false, Text),
            ("version", true, OneOf(&["2.1.0"])),
            ("runs", true, List("run")),
        ],
    ),
    (
        "run",
        &[
            ("tool", true, Object("tool")),
            ("invocations", false, List("invocation")),
            (
                "columnKind",
                false,
                OneOf(&["utf16CodeUnits", "unicodeCodePoints"]),
            ),
            ("results", false, List("result")),
        ],
    ),
    ("tool", &[("driver", true, Object("toolComponent"))]),
    (
        "toolComponent",
        &[
            ("name", true, Text),
            ("semanticVersion", false, Text),
            ("rules", false, List("reportingDescriptor")),
        ],
    ),
    (
        // GitHub wants the descriptions and the help too.
        "reportingDescriptor",
        &[
            ("id", true, Text),
            ("name", false, Text),
            ("shortDescription", true, Object("multiformatMessageString")),
            ("fullDescription", true, Object("multiformatMessageString")),
            ("help", true, Object("multiformatMessageString")),
            (
                "defaultConfiguration",
                false,
                Object("reportingConfiguration"),
            ),
            ("properties", false, Object("ruleProperties")),
        ],
    ),
    ("multiformatMessageString", &[("text", true, Text)]),
    ("reportingConfiguration", &[("level", false, OneOf(LEVELS))]),
    (
        "ruleProperties",
        &[
            ("tags", false, Texts),
            (
                "precision",
                false,
                OneOf(&["very-high", "high", "medium", "low"]),
            ),
        ],
    ),
    (
        "invocation",
        &[
            ("executionSuccessful", true, Flag),
            ("toolExecutionNotifications", false, List("notification")),
        ],
    ),
    (
        "notification",
        &[
            ("message", true, Object("message")),
            ("level", false, OneOf(LEVELS)),
            ("locations", false, List("location")),
        ],
    ),
    ("message", &[("text", true, Text)]),
    (
        "result",
        &[
            ("ruleId", true, Text),
            ("ruleIndex", true, From(0)),
            ("level", false, OneOf(LEVELS)),
            ("message", true, Object("message")),
            ("locations", true, List("location")),
            ("codeFlows", false, List("codeFlow")),
        ],
    ),
    ("codeFlow", &[("threadFlows", true, List("threadFlow"))]),
    (
        "threadFlow",
        &[("locations", true, List("threadFlowLocation"))],
    ),
    (
        "threadFlowLocation",
        &[
            ("location", false, Object("location")),
            ("executionOrder", false, From(0)),
        ],
    ),
    (
        "location",
        &[
            ("physicalLocation", true, Object("physicalLocation")),
            ("message", false, Object("message")),
        ],
    ),
    (
        "physicalLocation",
        &[
            ("artifactLocation", true, Object("artifactLocation")),
            ("region", true, Object("region")),
        ],
    ),
    (
        "artifactLocation",
        &[("uri", true, Uri), ("uriBaseId", false, Text)],
    ),
    (
        "region",
        &[
            ("startLine", true, From(1)),
            ("startColumn", false, From(1)),
        ],
    ),
];

/// Lists that may not be empty.
const NEVER_EMPTY: &[&str] = &["codeFlow", "threadFlow", "threadFlowLocation", "run"];

fn judge(value: &Value, kind: &str, path: &str) {
    let (_, properties) = KINDS.iter().find(|(name, _)| *name == kind).unwrap();
    let object = value
        .as_object()
        .unwrap_or_else(|| panic!("{path}: no object"));
    for (name, _) in object {
        let known = properties.iter().any(|(known, ..)| known == name);
        assert!(known, "{path}: a {kind} has no `{name}`");
    }
    for (name, wanted, holds) in *properties {
        let path = format!("{path}.{name}");
        let Some(value) = object.get(*name) else {
            assert!(!wanted, "{path} is missing");
            continue;
        };
        match holds {
            Text => assert!(value.as_str().is_some_and(|t| !t.is_empty()), "{path}"),
            OneOf(list) => assert!(value.as_str().is_some_and(|t| list.contains(&t)), "{path}"),
            From(least) => assert!(value.as_u64().is_some_and(|n| n >= *least), "{path}"),
            Flag => assert!(value.is_boolean(), "{path}"),
            Uri => judge_uri(value.as_str().unwrap(), &path),
            Object(kind) => judge(value, kind, &path),
            Texts => {
                let list = value.as_array().unwrap();
                assert!(list.iter().all(Value::is_string), "{path}");
            }
            List(kind) => {
                let list = value
                    .as_array()
                    .unwrap_or_else(|| panic!("{path}: no list"));
                assert!(!list.is_empty() || !NEVER_EMPTY.contains(kind), "{path}");
                for (at, item) in list.iter().enumerate() {
                    judge(item, kind, &format!("{path}[{at}]"));
                }
            }
        }
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
    judge(&document, "sarifLog", "");
    for run in document["runs"].as_array().unwrap() {
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        let ids: Vec<&str> = rules.iter().map(|r| r["id"].as_str().unwrap()).collect();
        let mut unique = ids.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
        for result in run["results"].as_array().unwrap() {
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(result["ruleId"], ids[index]);
            // GitHub shows the first location, and there must be one.
            assert_eq!(result["locations"].as_array().unwrap().len(), 1);
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
