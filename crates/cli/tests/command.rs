//! The built command, as scripts call it: exit codes, JSON lines, standard input, errors.

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

struct Done {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Done {
    fn lines(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect("one object per line"))
            .collect()
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Done {
            code: output.status.code().expect("no signal"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.args(arguments).env_remove("NO_COLOR");
    command
}

fn palisade(arguments: &[&str]) -> Done {
    command(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
        .into()
}

fn palisade_with_stdin(arguments: &[&str], input: &[u8]) -> Done {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap().into()
}

struct Directory(tempfile::TempDir);

impl Directory {
    fn new() -> Self {
        Directory(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, contents).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    fn name(&self) -> String {
        self.path().to_str().unwrap().to_owned()
    }
}

#[test]
fn a_wrong_call_exits_with_2() {
    for arguments in [
        &["check"][..],
        &["chekc", "x.pal"],
        &["check", "--model", "arm", "x.pal"],
        &["check", "--timeout", "soon", "x.pal"],
        &["check", "--memory", "much", "x.pal"],
        &["check", "--jobs", "0", "x.pal"],
        &["reach", "--model", "ra", "x.pal"],
        &["export", "x.pal"],
        &["fence", "--criterion", "all", "x.pal"],
    ] {
        let done = palisade(arguments);
        assert_eq!(done.code, 2, "{arguments:?}");
        assert_eq!(done.stdout, "", "{arguments:?}");
        assert!(done.stderr.contains("error:"), "{arguments:?}");
    }
}

#[test]
fn pairs_without_a_meaning_are_named() {
    for (model, criterion) in [
        ("sc", "robust"),
        ("sc", "persistent"),
        ("sc", "trf"),
        ("ra", "persistent"),
        ("ra", "trf"),
        ("c20", "trf"),
    ] {
        for command in ["check", "fence"] {
            let arguments = [command, "--model", model, "--criterion", criterion, "x.pal"];
            let done = palisade(&arguments);
            assert_eq!(done.code, 2, "{arguments:?}");
            assert!(done.stderr.contains("--model tso"), "{}", done.stderr);
            assert!(done.stderr.contains("persistent"), "{}", done.stderr);
        }
    }
}

const SB: &[u8] = b"shared x, y;\nthread p { x = 1; let r = y; }\nthread q { y = 1; let s = x; }\n";

#[test]
fn the_abstraction_belongs_to_persistence() {
    for abstraction in ["off", "auto", "0", "3"] {
        let arguments = [
            "check",
            "--criterion",
            "persistent",
            "--format",
            "json",
            "-",
        ];
        let done =
            palisade_with_stdin(&[&arguments[..], &["--abstract", abstraction]].concat(), SB);
        assert_eq!(done.code, 1);
        assert_eq!(done.lines()[0]["stats"]["level"], "concrete");
    }
    for arguments in [
        &["check", "-", "--abstract", "2"][..],
        &[
            "check",
            "-",
            "--criterion",
            "persistent",
            "--abstract",
            "some",
        ],
        &["fence", "-", "--abstract", "2"],
        &["reach", "-", "--abstract", "2"],
    ] {
        let done = palisade_with_stdin(arguments, b"");
        assert_eq!(done.code, 2, "{arguments:?}");
        assert!(done.stderr.contains("abstract"), "{}", done.stderr);
    }
}

#[test]
fn instrumented_programs_are_programs() {
    let export = ["export", "-", "--instrumented", "--to"];
    for further in [
        &[][..],
        &["--criterion", "persistent"],
        &["--attack", "p:2:2"],
        &["--attack", "q:3:3"],
    ] {
        for language in ["pal", "promela"] {
            let done = palisade_with_stdin(&[&export[..], &[language], further].concat(), SB);
            assert_eq!(done.code, 0, "{}", done.stderr);
            if language == "pal" {
                let again = ["check", "--model", "sc", "--criterion", "safe", "-"];
                let done = palisade_with_stdin(&again, done.stdout.as_bytes());
                assert_eq!(done.code, 1, "{}", done.stderr);
            }
        }
    }
    for wrong in [
        &["--attack", "p:2:3"][..],
        &["--attack", "nobody"],
        &["--criterion", "trf"],
        &["--criterion", "persistent", "--attack", "p:2:2"],
    ] {
        let done = palisade_with_stdin(&[&export[..], &["pal"], wrong].concat(), SB);
        assert_eq!(done.code, 2, "{wrong:?}");
    }
    let done = palisade(&["export", "-", "--to", "pal", "--attack", "p:2:2"]);
    assert_eq!(done.code, 2);
}

#[test]
fn help_and_version_go_to_standard_output() {
    for arguments in [&["--help"][..], &["check", "--help"], &["--version"]] {
        let done = palisade(arguments);
        assert_eq!(done.code, 0);
        assert!(!done.stdout.is_empty());
    }
}

#[test]
fn a_file_that_is_not_there_still_gets_its_line() {
    let done = palisade(&["check", "--format", "json", "no-such.pal", "nor-this.pal"]);
    assert_eq!(done.code, 2);
    let lines = done.lines();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["file"], "no-such.pal");
    assert_eq!(lines[1]["file"], "nor-this.pal");
    for line in &lines {
        assert_eq!(line["verdict"], "error");
        assert_eq!(line["model"], "tso");
        assert_eq!(line["criterion"], "robust");
        assert!(line["reason"].as_str().unwrap().contains("cannot be read"));
    }
    let done = palisade(&["check", "no-such.pal"]);
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(done.stderr.contains("no-such.pal: cannot be read"));
}

#[test]
fn a_file_that_is_no_text_is_named_as_such() {
    let directory = Directory::new();
    let file = directory.file("binary.pal", b"shared x;\n\xff\xfe\x00");
    let done = palisade(&["check", "--format=json", &file]);
    assert_eq!(done.code, 2);
    let reason = done.lines()[0]["reason"].as_str().unwrap().to_owned();
    assert_eq!(reason, "is not a text: line 2 is not valid UTF-8");
}

#[test]
fn a_program_with_errors_gets_a_line_and_all_diagnostics() {
    let directory = Directory::new();
    let file = directory.file("wrong.pal", "shared x\nthread p { x = ; }\n");
    let done = palisade(&["check", "--format=json", &file]);
    assert_eq!(done.code, 2);
    let line = &done.lines()[0];
    assert_eq!(line["verdict"], "error");
    assert!(
        line["diagnostics"]
            .as_array()
            .is_some_and(|d| !d.is_empty())
    );
    let done = palisade(&["check", &file]);
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(done.stderr.contains("wrong.pal:"), "{}", done.stderr);
    assert!(!done.stderr.contains('\u{1b}'), "no colours in a pipe");
}

#[test]
fn a_directory_without_programs_is_an_error() {
    let directory = Directory::new();
    directory.file("notes.txt", "nothing to see here\n");
    directory.file(".hidden/lock.pal", "");
    let done = palisade(&["check", &directory.name()]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("no program in this directory"));
}

#[test]
fn a_directory_is_walked_in_the_order_of_names() {
    let directory = Directory::new();
    directory.file("b.pal", "");
    directory.file("a/z.tpl", "");
    directory.file("c.txt", "thread t initial q transition q q noop end");
    directory.file("readme.txt", "these are programs");
    directory.file("readme.md", "these are programs");
    let done = palisade(&["check", "--format=json", &directory.name()]);
    let names: Vec<String> = done
        .lines()
        .iter()
        .map(|line| {
            let path = Path::new(line["file"].as_str().unwrap()).to_owned();
            let name = path.strip_prefix(directory.path()).unwrap();
            name.to_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(names, ["a/z.tpl", "b.pal", "c.txt"]);
}

#[test]
fn standard_input_is_called_a_dash() {
    let done = palisade_with_stdin(&["check", "--format=json", "-"], b"\xff");
    assert_eq!(done.code, 2);
    assert_eq!(done.lines()[0]["file"], "-");
}

#[test]
fn a_closed_pipe_is_no_reason_to_complain() {
    let directory = Directory::new();
    let file = directory.file("wrong.pal", "?");
    let mut arguments = vec!["check", "--format=json"];
    arguments.extend(std::iter::repeat_n(file.as_str(), 5000));
    let mut child = command(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stderr), "");
    assert_eq!(done.status.code(), Some(2));
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let done = palisade(&["completions", shell]);
        assert_eq!(done.code, 0);
        assert!(done.stdout.contains("criterion"), "{shell}");
    }
}

#[test]
fn manual_pages_for_every_command() {
    let directory = Directory::new();
    let pages = directory.path().join("man");
    let done = palisade(&["man", pages.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for page in ["palisade.1", "palisade-check.1", "palisade-validate.1"] {
        assert!(pages.join(page).is_file(), "{page}");
    }
    let file = directory.file("file", "");
    let done = palisade(&["man", &file]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("cannot be written"));
}

const SAFE: &str = "shared x;\nthread p { x = 1; }\nthread q { let r = x; assert r <= 1; }\n";
const UNSAFE: &str = "shared x;\nthread p { x = 1; }\nthread q { let r = x; assert r == 0; }\n";
/// Never comes to an end, and never goes wrong.
const ENDLESS: &str =
    "shared x, y;\nthread p { loop { x = x + 1; } }\nthread q { loop { y = y + 1; } }\n";
/// Mutual exclusion with `never`.
const RACY_LOCK: &str = "shared lock;
thread t[2] {
  while lock != 0 { }
  lock = 1;
  cs: skip;
  lock = 0;
}
never t[0]@cs && t[1]@cs;
";

fn check_safe(directory: &Directory, text: &str, more: &[&str]) -> Done {
    let file = directory.file("program.pal", text);
    let mut arguments = vec!["check", "--model=sc", "--criterion=safe", &file];
    arguments.extend(more);
    palisade(&arguments)
}

#[test]
fn holds_exits_with_0_and_violated_with_1() {
    let directory = Directory::new();
    let done = check_safe(&directory, SAFE, &["--format=json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.stderr, "");
    let line = &done.lines()[0];
    assert_eq!(line["verdict"], "holds");
    assert_eq!(line["model"], "sc");
    assert_eq!(line["criterion"], "safe");
    assert!(line["witness"].is_null());
    for field in [
        "states",
        "transitions",
        "queries",
        "pruned",
        "wall_ms",
        "peak_memory_bytes",
    ] {
        assert!(line["stats"][field].is_u64(), "{field}");
    }

    let done = check_safe(&directory, UNSAFE, &["--format=json"]);
    assert_eq!(done.code, 1, "{}", done.stderr);
    let line = &done.lines()[0];
    assert_eq!(line["verdict"], "violated");
    let witness = &line["witness"];
    assert_eq!(witness["model"], "sc");
    assert_eq!(witness["pattern"]["kind"], "error");
    let events = witness["events"].as_array().unwrap();
    assert_eq!(events[0]["thread"], "p");
    assert_eq!(events[0]["kind"], "store");
    assert_eq!(events[0]["location"], "x");
    assert_eq!(events[0]["value"], 1);
    assert_eq!(events[0]["line"], 2);
    assert_eq!(events[0]["column"], 12);
}

#[test]
fn several_files_keep_their_order_and_the_worst_exit_status_wins() {
    let directory = Directory::new();
    let good = directory.file("good.pal", SAFE);
    let bad = directory.file("bad.pal", UNSAFE);
    let wrong = directory.file("wrong.pal", "thread {");
    let endless = directory.file("endless.pal", ENDLESS);
    let ask = |files: &[&String]| {
        let mut arguments = vec!["check", "--model=sc", "--criterion=safe", "--format=json"];
        arguments.extend(["--timeout=200ms", "--jobs=1"]);
        arguments.extend(files.iter().map(|f| f.as_str()));
        let done = palisade(&arguments);
        let lines = done.lines();
        let verdicts: Vec<String> = lines
            .iter()
            .map(|l| l["verdict"].as_str().unwrap().to_owned())
            .collect();
        (done.code, verdicts.join(" "))
    };
    assert_eq!(ask(&[&good, &good]), (0, "holds holds".to_owned()));
    assert_eq!(ask(&[&bad, &good]), (1, "violated holds".to_owned()));
    assert_eq!(
        ask(&[&good, &endless, &bad]),
        (3, "holds unknown violated".to_owned())
    );
    assert_eq!(
        ask(&[&wrong, &endless, &bad]),
        (2, "error unknown violated".to_owned())
    );
}

#[test]
fn people_get_a_summary_of_several_files() {
    let directory = Directory::new();
    directory.file("good.pal", SAFE);
    directory.file("bad.pal", UNSAFE);
    let done = palisade(&["check", "--model=sc", "--criterion=safe", &directory.name()]);
    assert_eq!(done.code, 1);
    let last = done.stdout.lines().last().unwrap();
    assert_eq!(last, "2 files: 1 hold, 1 violated");
}

#[test]
fn reach_has_verdicts_of_its_own() {
    let directory = Directory::new();
    let good = directory.file("good.pal", SAFE);
    let bad = directory.file("bad.pal", RACY_LOCK);
    let done = palisade(&["reach", "--model=sc", "--format=json", &good, &bad]);
    assert_eq!(done.code, 1);
    let lines = done.lines();
    assert_eq!(lines[0]["verdict"], "unreachable");
    assert_eq!(lines[1]["verdict"], "reachable");
    assert_eq!(lines[1]["iterations"], 1);
    assert_eq!(lines[1]["witness"]["pattern"]["kind"], "never");
    assert_eq!(palisade(&["reach", "--model=sc", &good]).code, 0);
}

#[test]
fn a_race_is_found_and_told() {
    let directory = Directory::new();
    let file = directory.file("race.pal", SAFE);
    for model in ["sc", "tso"] {
        let model = format!("--model={model}");
        let done = palisade(&["check", &model, "--criterion=drf", &file]);
        assert_eq!(done.code, 1);
        assert!(done.stdout.contains("has a data race"), "{}", done.stdout);
        assert!(!done.stdout.contains('\u{1b}'));
    }
    let done = palisade(&["check", "--criterion=drf", "--color=always", &file]);
    assert!(done.stdout.contains('\u{1b}'));
}

#[test]
fn all_criteria_in_one_line() {
    let directory = Directory::new();
    let file = directory.file("race.pal", SAFE);
    let done = palisade(&[
        "check",
        "--criterion=all",
        "--model=sc",
        "--format=json",
        &file,
    ]);
    assert_eq!(done.code, 1, "{}", done.stderr);
    let lines = done.lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["criterion"], "all");
    assert_eq!(lines[0]["criteria"]["safe"], "holds");
    assert_eq!(lines[0]["criteria"]["drf"], "violated");
}

#[test]
fn programs_come_from_standard_input_too() {
    let arguments = [
        "check",
        "--model=sc",
        "--criterion=safe",
        "--format=json",
        "-",
    ];
    let done = palisade_with_stdin(&arguments, UNSAFE.as_bytes());
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert_eq!(done.lines()[0]["file"], "-");
    let automaton = b"thread t initial q transition q r write 1 0 end";
    let done = palisade_with_stdin(&arguments, automaton);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let mut arguments = arguments.to_vec();
    arguments.push("--from=pal");
    let done = palisade_with_stdin(&arguments, automaton);
    assert_eq!(done.code, 2, "{}", done.stdout);
}

#[test]
fn a_domain_makes_a_counter_finite() {
    let directory = Directory::new();
    let text = "shared x;\nthread p { loop { x = x + 1; } }\n";
    let done = check_safe(&directory, text, &["--domain=16"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for domain in ["--domain=1", "--domain=-4", "--domain=0"] {
        let done = check_safe(&directory, text, &[domain]);
        assert_eq!(done.code, 2, "{domain}");
        assert!(done.stderr.contains("at least 2"), "{}", done.stderr);
    }
}

#[test]
fn limits_end_a_search_cleanly() {
    let directory = Directory::new();
    let done = check_safe(&directory, ENDLESS, &["--timeout=300ms", "--format=json"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    let line = &done.lines()[0];
    assert_eq!(line["verdict"], "unknown");
    assert!(line["reason"].as_str().unwrap().contains("time"));

    let limit: u64 = 24 << 20;
    let done = check_safe(&directory, ENDLESS, &["--memory=24MiB", "--format=json"]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    let line = &done.lines()[0];
    assert!(line["reason"].as_str().unwrap().contains("memory"));
    let peak = line["stats"]["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak <= limit + limit / 10, "{peak}");
}

#[cfg(unix)]
#[test]
fn interrupting_gives_an_answer() {
    let directory = Directory::new();
    let file = directory.file("endless.pal", ENDLESS);
    let arguments = ["check", "--model=sc", "--criterion=safe", "--format=json"];
    for signal in ["-INT", "-TERM"] {
        let child = command(&arguments)
            .args([&file, &file])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Long enough to have begun; were it not, the default action would show in the exit code.
        std::thread::sleep(std::time::Duration::from_secs(1));
        let killed = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status()
            .unwrap();
        assert!(killed.success());
        let done: Done = child.wait_with_output().unwrap().into();
        assert_eq!(done.code, 3, "{}", done.stderr);
        let lines = done.lines();
        assert_eq!(lines.len(), 2);
        for line in &lines {
            assert_eq!(line["verdict"], "unknown");
            assert!(line["reason"].as_str().unwrap().contains("interrupted"));
        }
    }
}

#[test]
fn switching_reductions_off_changes_no_verdict() {
    let directory = Directory::new();
    for (text, code) in [(SAFE, 0), (UNSAFE, 1), (RACY_LOCK, 1)] {
        for flag in [
            "--no-local-steps",
            "--no-dead-registers",
            "--no-symmetry",
            "--no-partial-order",
            "--no-static-filter",
            "--jobs=2",
        ] {
            let done = check_safe(&directory, text, &[flag]);
            assert_eq!(done.code, code, "{flag} {text}");
        }
    }
}

#[test]
fn sarif_is_one_document() {
    let directory = Directory::new();
    directory.file("bad.pal", UNSAFE);
    directory.file("good.pal", SAFE);
    directory.file("wrong.pal", "thread {");
    let name = directory.name();
    let done = palisade(&[
        "check",
        "--model=sc",
        "--criterion=safe",
        "--format=sarif",
        &name,
    ]);
    assert_eq!(done.code, 2);
    let document: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(document["version"], "2.1.0");
    let results = document["runs"][0]["results"].as_array().unwrap();
    let rules: Vec<&str> = results
        .iter()
        .map(|r| r["ruleId"].as_str().unwrap())
        .collect();
    assert_eq!(rules[0], "sc/safe");
    assert!(rules[1..].iter().all(|rule| *rule == "program-text"));
    assert!(results[0]["codeFlows"][0]["threadFlows"][0]["locations"].is_array());
}

#[test]
fn a_witness_can_be_replayed() {
    let directory = Directory::new();
    let program = directory.file("program.pal", RACY_LOCK);
    for criterion in ["safe", "drf"] {
        let done = palisade(&[
            "check",
            "--model=sc",
            "--criterion",
            criterion,
            "--format=json",
            &program,
        ]);
        assert_eq!(done.code, 1);
        let line = directory.file("line.json", &done.stdout);
        let done_again = palisade(&["validate", &program, &line]);
        assert_eq!(done_again.code, 0, "{}", done_again.stderr);
        assert!(done_again.stdout.contains(": valid:"));

        let mut witness = done.lines()[0]["witness"].clone();
        let bare = directory.file("bare.json", witness.to_string());
        assert_eq!(palisade(&["validate", &program, &bare]).code, 0);
        let done =
            palisade_with_stdin(&["validate", &program, "-"], witness.to_string().as_bytes());
        assert_eq!(done.code, 0);

        witness["events"][0]["value"] = 7.into();
        let forged = directory.file("forged.json", witness.to_string());
        let done = palisade(&["validate", "--format=json", &program, &forged]);
        assert_eq!(done.code, 1, "{}", done.stdout);
        assert_eq!(done.lines()[0]["verdict"], "invalid");
    }
}

#[test]
fn what_is_no_witness_is_unusable() {
    let directory = Directory::new();
    let program = directory.file("program.pal", RACY_LOCK);
    for text in [
        "",
        "{}",
        "[]",
        "7",
        "nonsense",
        "{\"events\": 3}",
        "{\"verdict\": \"holds\"}",
        "\u{0}",
    ] {
        let witness = directory.file("witness.json", text);
        let done = palisade(&["validate", &program, &witness]);
        assert_eq!(done.code, 2, "{text}: {}", done.stdout);
        assert!(done.stderr.contains("witness.json"), "{}", done.stderr);
    }
    assert_eq!(palisade(&["validate", &program, "no-such.json"]).code, 2);
    let witness = directory.file("witness.json", "{}");
    assert_eq!(palisade(&["validate", "no-such.pal", &witness]).code, 2);
}

const STORE_BUFFERING: &str = "// two flags\nshared x, y;\nthread p { x = 1; let r = y; }\nthread q {\n  y = 1; // mine\n  let s = x;\n}\n";

#[test]
fn fences_are_found_shown_and_written() {
    let directory = Directory::new();
    let file = directory.file("program.pal", STORE_BUFFERING);
    let done = palisade(&["fence", "--format=json", &file]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let line = &done.lines()[0];
    assert_eq!(line["verdict"], "holds");
    assert_eq!(line["optimal"], true);
    assert_eq!(line["cost"], 2);
    let fences = line["fences"].as_array().unwrap();
    assert_eq!(fences.len(), 2);
    assert_eq!(fences[1]["thread"], "q");
    assert_eq!(fences[1]["before"], "6:3");
    assert_eq!(fences[1]["line"], 6);
    assert_eq!(fences[1]["cost"], 1);

    let done = palisade(&["fence", &file]);
    assert!(done.stdout.contains("+  fence;"), "{}", done.stdout);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), STORE_BUFFERING);

    let done = palisade(&["fence", "--write", &file]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "// two flags\nshared x, y;\nthread p { x = 1; fence; let r = y; }\nthread q {\n  y = 1; // mine\n  fence;\n  let s = x;\n}\n"
    );
    assert_eq!(palisade(&["check", &file]).code, 0);
    let done = palisade(&["fence", "--format=json", &file]);
    assert_eq!(done.lines()[0]["fences"], serde_json::json!([]));
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_replaced_stays_as_it_is() {
    use std::os::unix::fs::PermissionsExt;
    let directory = Directory::new();
    let file = directory.file("inside/program.pal", STORE_BUFFERING);
    let inside = directory.path().join("inside");
    std::fs::set_permissions(&inside, std::fs::Permissions::from_mode(0o555)).unwrap();
    let done = palisade(&["fence", "--write", "--format=json", &file]);
    let may_write_anything = std::fs::write(inside.join("probe"), "").is_ok();
    std::fs::set_permissions(&inside, std::fs::Permissions::from_mode(0o755)).unwrap();
    if may_write_anything {
        palisade_testkit::skipped("user whom permissions bind");
        return;
    }
    assert_eq!(done.code, 2);
    assert!(
        done.lines()[0]["reason"]
            .as_str()
            .unwrap()
            .contains("cannot be written")
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), STORE_BUFFERING);
}

#[test]
fn no_fence_helps_where_release_acquire_is_not_to_blame() {
    let directory = Directory::new();
    let file = directory.file("race.pal", "nonatomic shared x;\nthread t[2] { x = 1; }\n");
    let done = palisade(&["fence", "--model=ra", "--format=json", &file]);
    assert_eq!(done.code, 1, "{} {}", done.stdout, done.stderr);
    let line = &done.lines()[0];
    assert_eq!(line["verdict"], "violated");
    assert!(line["fences"].is_null());
    assert!(line.as_object().unwrap().contains_key("fences"));
}

#[test]
fn many_files_side_by_side_keep_their_order() {
    let directory = Directory::new();
    let mut expected = Vec::new();
    for at in 0..150 {
        let (text, verdict) = match at % 5 {
            0 => (UNSAFE, "reachable"),
            3 => ("thread {", "error"),
            _ => (SAFE, "unreachable"),
        };
        directory.file(&format!("{at:03}.pal"), text);
        expected.push((format!("{at:03}.pal"), verdict));
    }
    // One that no glance decides, in the middle.
    directory.file("074b.pal", ENDLESS);
    expected.insert(75, ("074b.pal".to_owned(), "unknown"));
    let name = directory.name();
    for jobs in ["--jobs=1", "--jobs=4"] {
        let arguments = ["reach", "--model=sc", "--timeout=400ms", jobs, &name];
        let done = palisade(&[&arguments[..], &["--format=json"]].concat());
        assert_eq!(done.code, 2);
        let found: Vec<(String, String)> = done
            .lines()
            .iter()
            .map(|line| {
                let file = Path::new(line["file"].as_str().unwrap());
                let file = file.file_name().unwrap().to_str().unwrap();
                (
                    file.to_owned(),
                    line["verdict"].as_str().unwrap().to_owned(),
                )
            })
            .collect();
        assert_eq!(found.len(), expected.len());
        for ((file, verdict), (wanted_file, wanted)) in found.iter().zip(&expected) {
            assert_eq!((file, verdict.as_str()), (wanted_file, *wanted));
        }
        let done = palisade(&[&arguments[..], &["--brief"]].concat());
        let last = done.stdout.lines().last().unwrap();
        assert_eq!(
            last,
            "151 files: 90 unreachable, 30 reachable, 1 undecided, 30 not analysed"
        );
        assert_eq!(done.stdout.lines().count(), 90 + 30 + 1 + 1);
    }
}

#[test]
fn annotations_for_a_workflow() {
    let directory = Directory::new();
    let bad = directory.file("bad.pal", STORE_BUFFERING);
    let good = directory.file("good.pal", SAFE);
    let wrong = directory.file("wrong.pal", "shared flag;\nthread p { flga = 1; }\n");
    let done = palisade(&["check", "--format=github", &good]);
    assert_eq!((done.code, done.stdout.as_str()), (0, ""));
    let done = palisade(&["check", "--format=github", &bad, &wrong, "gone.pal"]);
    assert_eq!(done.code, 2);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert!(lines[0].starts_with(&format!("::error file={bad},line=")));
    assert!(lines[0].contains(",title=not robust against TSO::not robust"));
    assert!(lines[1].starts_with(&format!("::error file={wrong},line=2,col=12,title=")));
    assert!(lines[1].contains("did you mean `flag`?"));
    assert!(lines[2].starts_with("::error file=gone.pal,line=1,col=1,"));
    assert_eq!(lines[3], "3 files: 1 violated, 2 not analysed");
    let done = palisade(&["fence", "--format=github", &bad]);
    assert_eq!(done.code, 0);
    assert_eq!(done.stdout.matches("::notice file=").count(), 2);
    let done = palisade(&["reach", "--model=sc", "--format=github", &bad]);
    assert_eq!((done.code, done.stdout.as_str()), (0, ""));
}

#[test]
fn a_project_has_its_defaults() {
    let directory = Directory::new();
    directory.file("palisade.toml", "criterion = \"drf\"\nformat = \"json\"\n");
    directory.file("below/lock.pal", SAFE);
    let ask = |arguments: &[&str]| -> Done {
        command(arguments)
            .current_dir(directory.path().join("below"))
            .stdin(Stdio::null())
            .output()
            .unwrap()
            .into()
    };
    let done = ask(&["check", "lock.pal"]);
    assert_eq!(
        (done.code, done.lines()[0]["criterion"].as_str()),
        (1, Some("drf"))
    );
    let done = ask(&["check", "--criterion=robust", "lock.pal"]);
    assert_eq!(
        (done.code, done.lines()[0]["criterion"].as_str()),
        (0, Some("robust"))
    );
    // A file that changes what the answer means is named in it.
    assert!(
        done.stdout.contains("palisade.toml`: criterion = drf"),
        "{}",
        done.stdout
    );
    let done = ask(&["check", "--no-config", "lock.pal"]);
    assert_eq!(done.code, 0);
    assert!(!done.stdout.contains("palisade.toml"));
    assert!(done.stdout.starts_with("lock.pal: holds"));
    let other = directory.file("other.toml", "modle = \"tso\"\n");
    let done = ask(&["check", "--config", &other, "lock.pal"]);
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(done.stderr.contains("other.toml:1:1"), "{}", done.stderr);
    assert!(done.stderr.contains("did you mean `model`?"));
    assert_eq!(ask(&["check", "--config", "gone.toml", "lock.pal"]).code, 2);
    // A broken file is no reason not to help.
    assert_eq!(ask(&["completions", "bash", "--config", &other]).code, 0);
    // One that belongs to another user is not believed. Only a user that may give files away can try this.
    #[cfg(unix)]
    if std::os::unix::fs::chown(directory.path().join("palisade.toml"), Some(65534), None).is_ok() {
        let done = ask(&["check", "lock.pal"]);
        assert_eq!(done.code, 2);
        assert!(done.stderr.contains("another user"), "{}", done.stderr);
        assert_eq!(ask(&["check", "--no-config", "lock.pal"]).code, 0);
    } else {
        println!("files cannot be given to another user here");
    }
}

/// What a section says is said beside the answers that it counts for, and `validate` sees the program that `check` sees.
#[test]
fn sections_are_about_their_commands() {
    let directory = Directory::new();
    directory.file(
        "palisade.toml",
        "[check]\ndomain = 2\n[fence]\nmodel = \"ra\"\n",
    );
    let text = "shared x;\nthread a { x = x + 1; x = x + 1; assert x < 2; }\n";
    directory.file("counter.pal", text);
    let ask = |arguments: &[&str]| -> Done {
        let mut command = command(arguments);
        let command = command.current_dir(directory.path());
        command.stdin(Stdio::null()).output().unwrap().into()
    };
    let done = ask(&["check", "--certificate=cert", "counter.pal"]);
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert!(
        done.stdout
            .contains("`palisade.toml`: [check] domain = 2\n"),
        "{}",
        done.stdout
    );
    let done = ask(&["validate", "counter.pal", "cert"]);
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert!(done.stdout.contains("domain 2"), "{}", done.stdout);
    assert!(
        done.stdout
            .contains("`palisade.toml`: [check] domain = 2\n"),
        "{}",
        done.stdout
    );
    let done = ask(&["validate", "--format=json", "counter.pal", "cert"]);
    assert!(done.lines()[0]["claim"]["defaults"].is_string());
    assert_eq!(
        ask(&["validate", "--no-config", "counter.pal", "cert"]).code,
        1
    );
    // Its own section has the last word, and what only `check` knows is left to it.
    directory.file(
        "palisade.toml",
        "[validate]\ndomain = 3\n[check]\ndomain = 2\nmodel = \"all\"\n",
    );
    assert_eq!(ask(&["validate", "counter.pal", "cert"]).code, 1);
}

/// Which locations matter is not what a witness chooses.
#[test]
fn a_race_on_an_atomic_location_is_only_what_was_asked_about() {
    let directory = Directory::new();
    let text =
        "nonatomic shared n;\nshared x;\nthread a { x = 1; n = 1; }\nthread b { let r = x; }\n";
    let file = directory.file("race.pal", text);
    let drf = ["check", "--model=sc", "--criterion=drf", "--format=json"];
    assert_eq!(palisade(&[&drf[..], &[file.as_str()]].concat()).code, 0);
    let done = palisade(&[&drf[..], &["--all-locations", &file]].concat());
    assert_eq!(done.code, 1);
    let witness = directory.file("witness.json", &done.stdout);
    let done = palisade(&["validate", &file, &witness]);
    assert_eq!(done.code, 1, "{}", done.stdout);
    assert!(done.stdout.contains("`--all-locations`"), "{}", done.stdout);
    let done = palisade(&["validate", "--all-locations", &file, &witness]);
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert!(done.stdout.contains("locations all"), "{}", done.stdout);
}

/// The claim that is printed names everything that the caller has said about how the text is read.
#[test]
fn the_claim_says_how_the_text_was_read() {
    let directory = Directory::new();
    let text = "#include <stdatomic.h>\n#include <assert.h>\n#ifndef V\n#define V 0\n#endif\n\
        atomic_int x;\nint other(void) { assert(V == 1); return 0; }\n";
    let file = directory.file("other.c", text);
    let certificate = directory.file("cert", "");
    let read = ["--entry=other", "-DV=1", "--criterion=safe", "--model=c20"];
    let written = format!("--certificate={certificate}");
    let done = palisade(&[&["check", &written, &file], &read[..]].concat());
    assert_eq!(done.code, 0, "{}", done.stdout);
    let done = palisade(&[&["validate", &file, &certificate], &read[..]].concat());
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert!(
        done.stdout.contains("`-D V=1`, `--entry other`"),
        "{}",
        done.stdout
    );
}

#[test]
fn no_color_is_obeyed_and_overruled() {
    let directory = Directory::new();
    let file = directory.file("bad.pal", STORE_BUFFERING);
    let ask = |more: &[&str]| -> Done {
        command(&["check", &file])
            .args(more)
            .env("NO_COLOR", "1")
            .env("CLICOLOR_FORCE", "1")
            .output()
            .unwrap()
            .into()
    };
    assert!(!ask(&[]).stdout.contains('\u{1b}'));
    assert!(ask(&["--color=always"]).stdout.contains('\u{1b}'));
}

#[test]
fn standard_input_is_read_once() {
    let done = palisade_with_stdin(
        &["check", "-", "-", "--format=json"],
        b"shared x; thread t { x = 1; }\n",
    );
    assert_eq!(done.code, 2);
    let lines = done.lines();
    assert_eq!(lines[0]["verdict"], "holds");
    assert_eq!(lines[1]["verdict"], "error");
}

#[test]
fn other_criteria_mention_errors_of_the_program() {
    let failing = b"shared x; thread t { assert x == 1; }\n";
    let racy = b"shared x, y; thread p { x = 1; let r = y; assert r == 1; } thread q { y = 1; let s = x; }\n";
    let index = b"shared n, f[2]; thread a { n = 2; } thread b { let i = n; f[i] = 1; }\n";
    let pointer = b"shared p, x; thread t { let q = p; *q = 1; }\n";
    let division = b"shared x; thread t { let r = x; x = 1 / r; }\n";
    for program in [
        &failing[..],
        &racy[..],
        &index[..],
        &pointer[..],
        &division[..],
    ] {
        for criterion in ["robust", "persistent", "trf", "drf"] {
            let criterion = format!("--criterion={criterion}");
            let done = palisade_with_stdin(&["check", "-", &criterion], program);
            assert!(
                done.stdout.contains("an assertion can fail"),
                "{}",
                done.stdout
            );
        }
    }
    let fine = b"shared x; thread t { x = 1; assert x == 1; }\n";
    let in_range = b"shared n, f[2]; thread a { n = 1; } thread b { let i = n; f[i] = 1; }\n";
    for program in [&fine[..], &in_range[..]] {
        let done = palisade_with_stdin(&["check", "-"], program);
        assert!(
            !done.stdout.contains("an assertion can fail"),
            "{}",
            done.stdout
        );
    }
}

#[test]
fn threads_keep_their_names_at_the_beginning_of_a_sentence() {
    let program = b"shared x, y; thread t { x = 1; let r = y; } thread u { y = 1; }\n";
    for criterion in ["drf", "trf", "persistent"] {
        let criterion = format!("--criterion={criterion}");
        let done = palisade_with_stdin(&["check", "-", &criterion], program);
        assert!(!done.stdout.contains("T "), "{}", done.stdout);
    }
}

#[test]
fn an_unsafe_run_under_release_acquire_says_where_it_reads() {
    let directory = Directory::new();
    let file = directory.file(
        "f.pal",
        "shared x, y; thread p { x = 1; y = 2; fadd(x, 1); } thread q { let r = y; assert x < 2 || r < 2; }\n",
    );
    let done = palisade(&[
        "check",
        "--model=ra",
        "--criterion=safe",
        "--format=json",
        &file,
    ]);
    assert_eq!(done.code, 1, "{}", done.stdout);
    let witness = &done.lines()[0]["witness"];
    assert_eq!(witness["model"], "ra");
    let events = witness["events"].as_array().unwrap();
    for event in events {
        let [load, store] = ["rf", "after"].map(|field| !event[field].is_null());
        match event["kind"].as_str().unwrap() {
            "load" => assert!(load && !store, "{event}"),
            "store" => assert!(store && !load, "{event}"),
            "rmw" => assert!(load && store, "{event}"),
            _ => assert!(!load && !store, "{event}"),
        }
    }
    let valid = directory.file("w.json", witness.to_string());
    assert_eq!(palisade(&["validate", &file, &valid]).code, 0);
    let stale = events.iter().rposition(|e| e["kind"] == "load").unwrap();
    let mut changed = witness.clone();
    changed["events"][stale]["rf"] = "init".into();
    let invalid = directory.file("v.json", changed.to_string());
    assert_eq!(palisade(&["validate", &file, &invalid]).code, 1);
}

#[test]
fn a_race_under_release_acquire_is_believed_in_no_detail() {
    let directory = Directory::new();
    let file = directory.file(
        "f.pal",
        "nonatomic shared d; shared f;\nthread p { d = 1; f = 1; d = 2; }\nthread q { if f == 1 { let r = d; } }\n",
    );
    let done = palisade(&[
        "check",
        "--model=ra",
        "--criterion=robust",
        "--format=json",
        &file,
    ]);
    assert_eq!(done.code, 1, "{}", done.stdout);
    let witness = &done.lines()[0]["witness"];
    let valid = directory.file("w.json", witness.to_string());
    assert_eq!(palisade(&["validate", &file, &valid]).code, 0);
    let racing = witness["pattern"]["events"].as_array().unwrap();
    for event in racing.iter().map(|index| index.as_u64().unwrap() as usize) {
        for field in ["value", "rf", "after"] {
            if witness["events"][event][field].is_null() {
                continue;
            }
            for lie in [77.into(), Value::Null] {
                let mut changed = witness.clone();
                changed["events"][event][field] = lie;
                let changed = directory.file("v.json", changed.to_string());
                assert_eq!(palisade(&["validate", &file, &changed]).code, 1, "{field}");
            }
        }
    }
}

#[test]
fn expectations_are_compared_with_verdicts() {
    let directory = Directory::new();
    let sb = String::from_utf8_lossy(SB);
    let good = directory.file(
        "good.pal",
        format!("// expect tso robust: violated, fences 2\n// expect sc safe: holds\n{sb}"),
    );
    let bad = directory.file("bad.pal", format!("// expect tso robust: holds\n{sb}"));
    let wrong = directory.file("wrong.pal", format!("// expect tso robust: perhaps\n{sb}"));
    let none = directory.file("none.pal", sb.as_bytes());
    assert_eq!(palisade(&["test", &good]).code, 0);
    let done = palisade(&["test", &good, &bad]);
    assert_eq!(done.code, 1, "{}", done.stdout);
    assert!(
        done.stdout.contains("expected holds, but it is violated"),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout
            .contains("3 answers of 2 files: 2 as expected, 1 not"),
        "{}",
        done.stdout
    );
    assert_eq!(palisade(&["test", &wrong]).code, 2);
    assert_eq!(palisade(&["test", &none]).code, 2);
    assert_eq!(palisade(&["test", &directory.name()]).code, 2);
    let done = palisade(&["test", "--format=json", &good, &bad]);
    assert_eq!(done.lines().len(), 3);
    assert_eq!(done.lines()[2]["result"], "unexpected");
}

#[test]
fn without_flags_the_question_follows_from_the_program() {
    let directory = Directory::new();
    let sb = String::from_utf8_lossy(SB);
    let stated = directory.file("stated.pal", format!("{sb}never p.r == 7;\n"));
    let done = palisade(&["check", "--format=json", &stated]);
    assert_eq!(done.code, 0, "{}", done.stdout);
    assert_eq!(done.lines()[0]["model"], "tso");
    assert_eq!(done.lines()[0]["criterion"], "safe");
    let done = palisade(&["check", &stated]);
    assert!(
        done.stdout.contains("which is harmless for what"),
        "{}",
        done.stdout
    );
    let plain = directory.file("plain.pal", SB);
    let done = palisade(&["check", "--format=json", &plain]);
    assert_eq!(
        (done.code, &done.lines()[0]["criterion"]),
        (1, &Value::from("robust"))
    );
    let orders = directory.file(
        "orders.pal",
        "shared x; thread t { x.store(1, relaxed); }\n",
    );
    let done = palisade(&["check", "--format=json", &orders]);
    assert_eq!(done.lines()[0]["model"], "c20");
    let done = palisade(&["check", "--model=all", "--format=json", &plain]);
    assert_eq!(done.code, 1);
    assert_eq!(done.lines()[0]["models"]["tso"], "violated");
    assert_eq!(palisade(&["check", "--memory=8", &plain]).code, 2);
}

#[test]
fn what_is_wrong_in_an_included_file_is_said_there() {
    let directory = Directory::new();
    directory.file("lock.pal", "shared lock;\nfn take() { lcok = 1; }\n");
    let main = directory.file("main.pal", "include \"lock.pal\";\nthread t { take(); }\n");
    let done = palisade(&["check", &main]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("lock.pal:2:13"), "{}", done.stderr);
    let gone = directory.file("gone.pal", "include \"no.pal\";\nthread t { take(); }\n");
    let done = palisade(&["check", &gone]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("cannot be included"),
        "{}",
        done.stderr
    );
}
