//! `palisade fence` as scripts call it: costs, other repairs, all sets, explanations, existing fences, limits, and what is written back.

#[allow(dead_code)]
mod common;

use common::{Files, palisade};
use palisade_testkit::corpus_dir;
use serde_json::Value;
use std::path::Path;

/// The line of JSON for one file, which must have been answered with this exit status.
#[track_caller]
fn json(code: i32, arguments: &[&str]) -> Value {
    common::json(code, "fence", arguments)
}

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(path)).unwrap()
}

fn lines_of(fences: &Value) -> Vec<u64> {
    let fences = fences.as_array().expect("a list of fences");
    fences.iter().map(|f| f["line"].as_u64().unwrap()).collect()
}

/// The load of `b` is overtaken either way; the loop is expensive.
const HOT: &str = "shared x, y;
thread a {
  x = 1;
  let i;
  while i < 50 {
    i = i + 1;
    let r = y;
  }
}
thread b {
  y = 1;
  first: let s = x;
}
";

#[test]
fn a_profile_keeps_fences_out_of_loops() {
    let files = Files::new();
    let file = files.file("hot.pal", HOT);
    let line = json(0, &["--cost", "profile", &file]);
    assert_eq!(lines_of(&line["fences"]), [4, 12]);
    assert_eq!(line["optimal"], true);
    let costs: u64 = line["fences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["cost"].as_u64().unwrap())
        .sum();
    assert_eq!(line["cost"].as_u64(), Some(costs));
    let again = json(0, &["--cost", "profile", &file]);
    assert_eq!(line["cost"], again["cost"]);
}

#[test]
fn costs_from_a_file() {
    let files = Files::new();
    let file = files.file("hot.pal", HOT);
    let costs = files.file(
        "costs.toml",
        "[threads]\na = 3\n[labels]\nfirst = 7\n[lines]\n4 = \"forbidden\"\n5 = 9\n",
    );
    let line = json(0, &["--cost", &costs, &file]);
    assert_eq!(line["cost"], 10);
    let lines = lines_of(&line["fences"]);
    assert!(!lines.contains(&4) && lines.contains(&12), "{lines:?}");

    let everything = files.file("costs.toml", "default = \"forbidden\"");
    let line = json(1, &["--cost", &everything, &file]);
    assert_eq!(line["verdict"], "violated");
    assert!(line["fences"].is_null());
}

#[test]
fn what_is_wrong_with_costs_is_said() {
    let files = Files::new();
    let file = files.file("hot.pal", HOT);
    for (text, said) in [
        ("default = -1", "a cost from 1"),
        ("[lines]\nmany = 1", "no line such as 12"),
        ("[threads]\nc = 1", "but the program has `a`, `b`"),
        ("[prices]", "unknown field `prices`"),
        ("this is no TOML", "costs.toml: line 1"),
    ] {
        let costs = files.file("costs.toml", text);
        let done = palisade(&["fence", "--cost", &costs, &file]);
        assert_eq!(done.code, 2);
        assert!(done.stderr.contains(said), "{text}: {}", done.stderr);
    }
    let done = palisade(&["fence", "--cost", "nothing.toml", &file]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("`nothing.toml` cannot be read"));
    for wrong in [
        &["fence", "--model=ra", "--repairs=order", &file][..],
        &["fence", "--repairs=prayer", &file],
        &["fence", "--reduce", "--repairs=rmw", &file],
        &["fence", "--bound=3", &file],
    ] {
        assert_eq!(palisade(wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn all_sets_and_explanations() {
    let files = Files::new();
    let text = "shared x, y;\nthread a {\n  x = 1;\n  skip;\n  let r = y;\n}\nthread b {\n  y = 1;\n  let s = x;\n}\n";
    let file = files.file("sb.pal", text);
    let line = json(0, &["--all", "--explain", &file]);
    let sets = line["sets"].as_array().unwrap();
    let mut listed: Vec<_> = sets.iter().map(|set| lines_of(&set["fences"])).collect();
    listed.sort();
    assert_eq!(listed, [[4, 9], [5, 9]]);
    assert_eq!(line["sets_complete"], true);
    for fence in line["fences"].as_array().unwrap() {
        assert_eq!(fence["witness"]["criterion"], "robust");
        assert!(!fence["witness"]["cycle"].as_array().unwrap().is_empty());
    }
    let line = json(0, &["--all", "--most=1", &file]);
    assert_eq!(line["sets"].as_array().unwrap().len(), 1);
    assert_eq!(line["sets_complete"], false);
    let line = json(0, &["--all", "--bound=1", &file]);
    assert_eq!(line["sets"], serde_json::json!([]));

    let done = palisade(&["fence", "--all", "--explain", &file]);
    for said in [
        "Set 2 of 2, at cost 2:",
        "Without the fence of thread b, line 9",
    ] {
        assert!(done.stdout.contains(said), "{}", done.stdout);
    }
}

#[test]
fn fences_that_are_not_needed_go() {
    let files = Files::new();
    let pal = "shared x, y;\nthread a {\n  fence; // for luck\n  x = 1;\n  fence;\n  let r = y;\n}\nthread b { y = 1; fence; fence; let s = x; }\n";
    let file = files.file("sb.pal", pal);
    let line = json(0, &["--reduce", &file]);
    assert_eq!(lines_of(&line["fences"]), [5, 8]);
    assert_eq!(lines_of(&line["removed"]), [3, 8]);
    assert_eq!(json(0, &["--reduce", "--write", &file])["written"], true);
    let written = read(&file);
    assert!(
        written.contains("  // for luck\n  x = 1;\n  fence;\n"),
        "{written}"
    );
    assert!(
        written.contains("{ y = 1; fence; let s = x; }"),
        "{written}"
    );
    assert_eq!(palisade(&["check", &file]).code, 0);
    assert_eq!(
        json(0, &["--reduce", &file])["removed"],
        serde_json::json!([])
    );

    let automaton = "thread a\ninitial p\ntransition p q mfence # no\ntransition q r write 1 0\ntransition r s mfence # yes\ntransition s t read v 1\nend\n\
                     thread b\ninitial p\ntransition p q write 1 1\ntransition q r mfence\ntransition r s read v 0\nend\n";
    let file = files.file("sb.txt", automaton);
    json(0, &["--reduce", "--write", &file]);
    assert_eq!(read(&file), automaton.replace("mfence # no", "noop # no"));

    let toy = "global x, y;\nfn a {\n  local r;\n  fence;\n  x.store(1);\n  fence;\n  r = y.load();\n}\nfn b {\n  local r;\n  y.store(1);\n  fence;\n  r = x.load();\n}\n";
    let file = files.file("sb.tpl", toy);
    json(0, &["--model=ra", "--reduce", "--write", &file]);
    assert_eq!(read(&file), toy.replacen("  fence;\n", "", 1));

    // What is broken with all its fences stays broken.
    let file = files.file(
        "none.pal",
        "shared x, y;\nthread a { x = 1; let r = y; fence; }\nthread b { y = 1; let s = x; }\n",
    );
    let line = json(1, &["--reduce", &file]);
    assert_eq!(line["verdict"], "violated");
}

#[test]
fn other_repairs_are_found_and_written() {
    let files = Files::new();
    // Peterson's lock under release/acquire: two exchanges do what four fences do.
    let text = "shared flag[2], turn;\nthread t[2] {\n  flag[me] = 1;\n  turn = 1 - me; // after you\n  while flag[1 - me] == 1 && turn == 1 - me { }\n  cs: skip;\n  flag[me] = 0;\n}\n";
    let file = files.file("peterson.pal", text);
    let line = json(0, &["--model=ra", "--repairs=fence,rmw", &file]);
    assert_eq!(line["cost"], 1);
    assert_eq!(line["fences"][0]["repair"], "rmw");
    assert_eq!(lines_of(&line["fences"]), [4]);
    json(0, &["--model=ra", "--repairs=fence,rmw", "--write", &file]);
    assert!(read(&file).contains("  xchg(turn, 1 - me); // after you\n"));
    assert_eq!(palisade(&["check", "--model=ra", &file]).code, 0);

    let file = files.file("peterson.pal", text);
    let line = json(0, &["--repairs=order", "--write", &file]);
    assert_eq!(line["fences"][0]["repair"], "order");
    assert!(read(&file).contains("seqcst"), "{}", read(&file));
    assert_eq!(
        palisade(&["check", "--model=tso", "--criterion=robust", &file]).code,
        0
    );
}

#[test]
fn accesses_of_automata_are_locked_or_fenced() {
    let files = Files::new();
    let text = "thread a\ninitial p\n  transition p q write 1 0 # mine\n  transition q r read v 1\nend\n\
                thread b\ninitial p\ntransition p q write 1 1\ntransition q r read v 0\nend\n";
    for (kind, word) in [("rmw", " lock"), ("order", " mfence")] {
        let file = files.file("sb.txt", text);
        let line = json(0, &["--repairs", kind, "--write", &file]);
        assert_eq!(line["cost"], 2);
        assert_eq!(line["fences"][0]["repair"], kind);
        assert!(read(&file).contains(word) && read(&file).contains("mine"));
        assert_eq!(palisade(&["check", &file]).code, 0, "{}", read(&file));
    }
}

#[test]
fn what_a_language_cannot_say_is_refused() {
    let files = Files::new();
    let litmus = files.file(
        "sb.litmus",
        "X86 SB\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0)\n",
    );
    let automaton = files.file(
        "w.txt",
        "thread a\ninitial p\ntransition p q write 1 0\nend\n",
    );
    let toy = files.file("w.tpl", "global x;\nfn a {\n  x.store(1);\n}\n");
    for (arguments, said) in [
        (
            &["--repairs=rmw", &litmus][..],
            "cannot rewrite litmus tests",
        ),
        (
            &["--repairs=fence,order", &litmus],
            "cannot rewrite litmus tests",
        ),
        (&["--write", &litmus], "cannot be written into litmus tests"),
        (
            &["--repairs=order", &toy],
            "which Rocker's language does not have",
        ),
        (
            &["--model=ra", "--repairs=rmw", &automaton],
            "meant for `--model tso`",
        ),
    ] {
        let done = palisade(&[&["fence"], arguments].concat());
        assert_eq!(done.code, 2, "{arguments:?}: {}", done.stdout);
        assert!(done.stderr.contains(said), "{arguments:?}: {}", done.stderr);
    }
}

/// What is stated is kept by the same two fences however often it is asked and whatever the limits are.
#[test]
fn the_minimum_for_what_is_stated() {
    let files = Files::new();
    let text = "shared x, y;\nthread a {\n  x = 1;\n  let r = y;\n}\nthread b {\n  y = 1;\n  let s = x;\n}\nnever a@end && b@end && a.r == 0 && b.s == 0;\n";
    let file = files.file("sb.pal", text);
    for model in ["--model=ra", "--model=c20"] {
        let limits: [&[&str]; 4] = [&[], &[], &["--timeout=60s"], &["--jobs=2"]];
        for limits in limits {
            let asked = ["--criterion=safe", model, &file];
            let line = json(0, &[&asked[..], limits].concat());
            assert_eq!(lines_of(&line["fences"]), [4, 8], "{model} {limits:?}");
            assert_eq!(line["optimal"], true);
        }
    }
}

/// A program with many states: at a limit there is no answer, but a set that is known to be enough.
#[test]
fn at_a_limit_only_what_is_confirmed() {
    let files = Files::new();
    // What stands in the `if` never happens, but only a long walk shows it.
    let text = "domain 200;\nshared a, b, x[3];\nthread t[3] {\n  let z;\n  loop {\n    let r = fadd(a, 1 + me);\n    let s = fadd(b, r);\n    \
                if (r + s) * 2 == 51 {\n      x[me] = 1;\n      z = x[2 - me];\n    }\n  }\n}\n";
    let file = files.file("many.pal", text);
    let line = json(3, &["--timeout=1500ms", &file]);
    assert_eq!(line["verdict"], "unknown");
    assert_eq!(line["optimal"], false);
    let bound = line["bound"].as_u64().unwrap();
    let fences = line["fences"].as_array().expect("a set that was confirmed");
    assert!(line["cost"].as_u64().unwrap() >= bound);
    assert_eq!(line["cost"].as_u64().unwrap(), fences.len() as u64);
    assert!(line["reason"].as_str().unwrap().contains("time limit"));
}

#[test]
fn fences_are_written_into_every_language() {
    let files = Files::new();
    let automaton = "thread a\ninitial p\n  transition p q write 1 0 # mine\n  transition q r read v 1\nend\n\
                     thread b\ninitial p\ntransition p q write 1 1\ntransition q r read v 0\nend\n";
    let toy = "global x, y; // two\nfn a {\n  local r;\n  x.store(1); // mine\n  r = y.load();\n}\nfn b {\n  local r;\n  y.store(1);\n  r = x.load();\n}\n";
    for (name, text) in [("sb.txt", automaton), ("sb.tpl", toy)] {
        for question in [&["--model=tso"][..], &["--model=ra"]] {
            let file = files.file(name, text);
            let line = json(0, &[question, &["--write", &file]].concat());
            assert_eq!(line["cost"], 2);
            assert!(read(&file).contains("mine"));
            let done = palisade(&[&["check"], question, &[&file]].concat());
            assert_eq!(done.code, 0, "{}", read(&file));
        }
    }
}

/// The same for programs from elsewhere.
#[test]
fn what_is_written_holds() {
    let Some(corpus) = corpus_dir() else {
        return;
    };
    let files = Files::new();
    for (name, model, criterion) in [
        ("trencher/peterson.txt", "tso", "robust"),
        ("trencher/lamport-fast-mutex-alg1.txt", "tso", "trf"),
        ("trencher/clh-lock.txt", "tso", "persistent"),
        ("persist/scaling/burns3.txt", "tso", "robust"),
        ("persist/sb+detours.txt", "tso", "persistent"),
        ("rocker/submission/peterson-sc.tpl", "ra", "robust"),
        ("rocker/submission/dekker-sc.tpl", "ra", "robust"),
        ("rocker/submission/lamport2-sc.tpl", "tso", "robust"),
        ("rocker/litmus/iriw.tpl", "ra", "robust"),
    ] {
        let text = read(corpus.join(name).to_str().unwrap());
        let file = files.file(
            Path::new(name).file_name().unwrap().to_str().unwrap(),
            &text,
        );
        let question = ["--model", model, "--criterion", criterion];
        let line = json(0, &[&question[..], &["--write", &file]].concat());
        assert_eq!(line["written"], true, "{name}");
        assert_ne!(read(&file), text);
        let done = palisade(&[&["check"], &question[..], &[&file]].concat());
        assert_eq!(done.code, 0, "{name}: {}{}", done.stdout, done.stderr);
        // Nothing else has changed: without the fences it is the text from before, but for the states of automata.
        if name.ends_with(".tpl") {
            let rest = |text: &str| {
                text.replace("fence;", "")
                    .split_whitespace()
                    .collect::<String>()
            };
            assert_eq!(rest(&read(&file)), rest(&text), "{name}");
        }
    }
}
