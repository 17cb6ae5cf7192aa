//! Witnesses written by hand, one for each thing that a witness can show.

use palisade_lang::Program;
use palisade_memory::Witness;
use palisade_validate::validate;

/// A witness from a short notation, one event per line: `thread kind location value line`, then words such as `atomic`, `rf=3`,
/// `after=init`, `read=1`. Every statement of the programs here begins in
/// column 3, and what `let r = …` loads stands in column 11.
fn witness(model: &str, criterion: &str, events: &str, rest: &str) -> Witness {
    let events: Vec<String> = events
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .map(event)
        .collect();
    let text = format!(
        r#"{{"model": "{model}", "criterion": "{criterion}", "events": [{}], {rest}}}"#,
        events.join(", ")
    );
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn event(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let column = words[5..]
        .iter()
        .find_map(|word| word.strip_prefix("column="));
    let column = column.unwrap_or(if words[1] == "load" { "11" } else { "3" });
    let mut fields = vec![format!(
        r#""thread": "{}", "kind": "{}", "line": {}, "column": {column}"#,
        words[0], words[1], words[4]
    )];
    if words[2] != "-" {
        fields.push(format!(
            r#""location": "{}", "value": {}"#,
            words[2], words[3]
        ));
    }
    for word in words[5..]
        .iter()
        .filter(|word| !word.starts_with("column="))
    {
        fields.push(match word.split_once('=') {
            None => format!(r#""{word}": true"#),
            Some((key, "init")) => format!(r#""{key}": "init""#),
            Some((key, value)) => format!(r#""{key}": {value}"#),
        });
    }
    format!("{{{}}}", fields.join(", "))
}

fn cycle(events: &[usize], relations: &[&str]) -> String {
    let edges: Vec<String> = relations
        .iter()
        .enumerate()
        .map(|(i, relation)| {
            let (from, to) = (events[i], events[(i + 1) % events.len()]);
            format!(r#"{{"from": {from}, "to": {to}, "relation": "{relation}"}}"#)
        })
        .collect();
    format!(r#""cycle": {events:?}, "edges": [{}]"#, edges.join(", "))
}

fn pattern(kind: &str, events: &[usize]) -> String {
    format!(r#""pattern": {{"kind": "{kind}", "events": {events:?}, "message": ""}}"#)
}

fn program(text: &str) -> Program {
    palisade_testkit::program(text)
}

#[track_caller]
fn valid(program: &Program, witness: &Witness) {
    assert_eq!(validate(program, witness), Ok(()));
}

#[track_caller]
fn invalid(program: &Program, witness: &Witness, why: &str) {
    match validate(program, witness) {
        Ok(()) => panic!("it is accepted"),
        Err(invalid) => assert!(invalid.to_string().contains(why), "{invalid}"),
    }
}

const SB: &str = "shared x, y;
thread a {
  x = 1;
  let r = y;
}
thread b {
  y = 1;
  let r = x;
}";

const SB_RUN: &str = "
    a issue x 1 3
    a load y 0 4
    b issue y 1 7
    b flush y 1 7 issue=2
    b load x 0 8
    a flush x 1 3 issue=0";

#[test]
fn store_buffering_under_tso() {
    let sb = program(SB);
    valid(
        &sb,
        &witness(
            "tso",
            "robust",
            SB_RUN,
            &cycle(&[0, 1, 2, 4], &["po", "fr", "po", "fr"]),
        ),
    );
    // An issue and its flush are the same node.
    valid(
        &sb,
        &witness(
            "tso",
            "robust",
            SB_RUN,
            &cycle(&[5, 1, 3, 4], &["po", "fr", "po", "fr"]),
        ),
    );
    invalid(
        &sb,
        &witness(
            "tso",
            "robust",
            SB_RUN,
            &cycle(&[0, 1, 2, 4], &["po", "rf", "po", "fr"]),
        ),
        "not related",
    );
    invalid(
        &sb,
        &witness(
            "tso",
            "robust",
            SB_RUN,
            &cycle(&[0, 1, 2], &["po", "fr", "co"]),
        ),
        "not related",
    );
    let unfinished = SB_RUN.replace("a flush x 1 3 issue=0", "");
    invalid(
        &sb,
        &witness(
            "tso",
            "robust",
            &unfinished,
            &cycle(&[0, 1, 2, 4], &["po", "fr", "po", "fr"]),
        ),
        "left in the buffers",
    );
    let fenced = program(&SB.replace("let r = y", "fence; let r = y"));
    let moved = SB_RUN.replace("a load y 0 4", "a load y 0 4 column=18");
    invalid(
        &fenced,
        &witness(
            "tso",
            "robust",
            &moved,
            &cycle(&[0, 1, 2, 4], &["po", "fr", "po", "fr"]),
        ),
        "event 1",
    );
    invalid(
        &sb,
        &witness(
            "sc",
            "robust",
            SB_RUN,
            &cycle(&[0, 1, 2, 4], &["po", "fr", "po", "fr"]),
        ),
        "does not show",
    );
    let no_edges = r#""cycle": [], "edges": []"#;
    invalid(
        &sb,
        &witness("tso", "robust", SB_RUN, no_edges),
        "at least two",
    );
}

#[test]
fn a_run_without_a_cycle_is_no_violation() {
    let sb = program(SB);
    let sc_run = "
        a issue x 1 3
        a flush x 1 3 issue=0
        a load y 0 4
        b issue y 1 7
        b flush y 1 7 issue=3
        b load x 1 8";
    for last in ["fr", "rf", "po", "co"] {
        invalid(
            &sb,
            &witness(
                "tso",
                "robust",
                sc_run,
                &cycle(&[0, 2, 3, 5], &["po", "fr", "po", last]),
            ),
            "not related",
        );
    }
}

const BLOCK: &str = "shared x, y;
thread a {
  x = 1;
  let r = y;
}
thread b {
  atomic {
  let s = x;
  if s == 0 {
  y = 1;
  }
  }
}";

#[test]
fn a_block_is_one_node() {
    let program = program(BLOCK);
    let run = "
        a issue x 1 3
        a load y 0 4
        b load x 0 8 atomic
        b store y 1 10 atomic
        a flush x 1 3";
    // ld y -fr-> the block -fr-> st x; the edges name different events of the block.
    let edges = r#""cycle": [0, 1, 3], "edges": [
        {"from": 0, "to": 1, "relation": "po"},
        {"from": 1, "to": 3, "relation": "fr"},
        {"from": 2, "to": 0, "relation": "fr"}]"#;
    valid(&program, &witness("tso", "robust", run, edges));
    // Inside a block program order holds both ways.
    valid(
        &program,
        &witness(
            "tso",
            "robust",
            run,
            &cycle(&[0, 1, 3, 2], &["po", "fr", "po", "fr"]),
        ),
    );
    let outside = run.replace(" atomic", "");
    invalid(
        &program,
        &witness("tso", "robust", &outside, edges),
        "event 2",
    );
    // The same run is fragile, and a triangular race of a block that does not see the store.
    valid(
        &program,
        &witness(
            "tso",
            "persistent",
            run,
            &pattern("fragile", &[0, 1, 3, 3, 4]),
        ),
    );
    valid(
        &program,
        &witness("tso", "trf", run, &pattern("triangular-race", &[0, 1, 3])),
    );
    invalid(
        &program,
        &witness("tso", "trf", run, &pattern("triangular-race", &[0, 2, 3])),
        "different threads",
    );
}

#[test]
fn fragile_runs() {
    let text = "shared x, y;
thread a {
  x = 1;
  let r = y;
}
thread b {
  y = 1;
}";
    let program = program(text);
    let run = "
        a issue x 1 3
        a load y 0 4
        b issue y 1 7
        b flush y 1 7
        a flush x 1 3";
    valid(
        &program,
        &witness(
            "tso",
            "persistent",
            run,
            &pattern("fragile", &[0, 1, 2, 3, 4]),
        ),
    );
    invalid(
        &program,
        &witness(
            "tso",
            "persistent",
            run,
            &pattern("fragile", &[0, 1, 2, 4, 3]),
        ),
        "out of order",
    );
    // With the stores the other way round an SC run does the same.
    let persistent = "
        a issue x 1 3
        a load y 0 4
        a flush x 1 3
        b issue y 1 7
        b flush y 1 7";
    invalid(
        &program,
        &witness(
            "tso",
            "persistent",
            persistent,
            &pattern("fragile", &[0, 1, 3, 4, 4]),
        ),
        "out of order",
    );
    let same_value = palisade_testkit::program(&text.replace("x, y;", "x, y = 1;"));
    let run = run.replace("a load y 0 4", "a load y 1 4");
    invalid(
        &same_value,
        &witness(
            "tso",
            "persistent",
            &run,
            &pattern("fragile", &[0, 1, 2, 3, 4]),
        ),
        "an SC run has the same",
    );
}

#[test]
fn triangular_races() {
    let program = program(
        "shared x, y;
thread a {
  x = 1;
  let r = y;
}
thread b {
  bcas(y, 0, 1);
}
thread c {
  x = 1;
  fence;
  let r = y;
}",
    );
    let run = "
        a store x 1 3
        a load y 0 4
        b rmw y 1 7 read=0";
    valid(
        &program,
        &witness("sc", "trf", run, &pattern("triangular-race", &[0, 1, 2])),
    );
    invalid(
        &program,
        &witness("sc", "drf", run, &pattern("triangular-race", &[0, 1, 2])),
        "does not show",
    );
    // The fence need not be mentioned, but it is there.
    let fenced = "
        c store x 1 10
        c load y 0 12
        b rmw y 1 7 read=0";
    invalid(
        &program,
        &witness("sc", "trf", fenced, &pattern("triangular-race", &[0, 1, 2])),
        "more than loads",
    );
}

#[test]
fn races() {
    let race = |text: &str, run: &str, events: &[usize]| {
        let criterion = witness("sc", "drf", run, &pattern("race", events));
        validate(&program(text), &criterion)
    };
    let text = "shared x;
thread a {
  x = 1;
}
thread b {
  let r = x;
}
thread c {
  wait(x == 1);
  x = 2;
}";
    let load_first = "
        b load x 0 6
        a store x 1 3";
    assert_eq!(race(text, load_first, &[0, 1]), Ok(()));
    // With the value before the store, or after it.
    assert_eq!(race(text, "a store x 1 3\n b load x 0 6", &[0, 1]), Ok(()));
    assert_eq!(race(text, "a store x 1 3\n b load x 1 6", &[0, 1]), Ok(()));
    assert!(race(text, "a store x 1 3\n b load x 5 6", &[0, 1]).is_err());
    // The wait is not enabled before the store.
    assert!(race(text, "a store x 1 3\n c load x 1 9 column=3", &[0, 1]).is_err());
    assert!(race(text, load_first, &[1, 0]).is_err());
    let locked = "shared x;
thread a {
  fadd(x, 1);
}
thread b {
  cas(x, 5, 6);
}
thread c {
  atomic {
  x = 3;
  }
}
thread d {
  let r = x;
}";
    assert!(
        race(
            locked,
            "b load x 0 6 column=3\n a rmw x 1 3 read=0",
            &[0, 1]
        )
        .is_err()
    );
    assert!(
        race(
            locked,
            "a rmw x 1 3 read=0\n c store x 3 10 atomic",
            &[0, 1]
        )
        .is_err()
    );
    assert_eq!(
        race(locked, "d load x 0 14\n c store x 3 10 atomic", &[0, 1]),
        Ok(())
    );
    assert_eq!(
        race(locked, "c store x 3 10 atomic\n d load x 0 14", &[0, 1]),
        Ok(())
    );
    assert_eq!(race(locked, "d load x 0 14\n a rmw x 1 3", &[0, 1]), Ok(()));
}

#[test]
fn safety() {
    let text = "shared x, y;
thread a {
  skip;
  x = 1;
  let r = y;
}
thread b {
  skip;
  y = 1;
  let r = x;
  assert r == 1;
}
never a@end && a.r == 0 && b.r == 0 && y == 1;";
    let program = program(text);
    let run = "
        a issue x 1 4
        a load y 0 5
        b issue y 1 9
        b load x 0 10
        b local - - 11";
    valid(
        &program,
        &witness("tso", "safe", run, &pattern("error", &[4])),
    );
    invalid(
        &program,
        &witness("tso", "safe", run, &pattern("never", &[])),
        "no `never`",
    );
    let flushed = format!("{run}\n a flush x 1 4\n b flush y 1 9");
    valid(
        &program,
        &witness("tso", "safe", &flushed, &pattern("never", &[])),
    );
    let fine = run.replace("b load x 0 10", "a flush x 1 4\n b load x 1 10");
    invalid(
        &program,
        &witness("tso", "safe", &fine, &pattern("error", &[5])),
        "nothing goes wrong",
    );
}

#[test]
fn release_acquire() {
    let sb = program(SB);
    let run = "
        a store x 1 3 after=init
        a load y 0 4 rf=init
        b store y 1 7 after=init
        b load x 0 8 rf=init";
    valid(
        &sb,
        &witness(
            "ra",
            "robust",
            run,
            &cycle(&[0, 1, 2, 3], &["po", "fr", "po", "fr"]),
        ),
    );
    let silent = run.replace(" rf=init", "");
    invalid(
        &sb,
        &witness(
            "ra",
            "robust",
            &silent,
            &cycle(&[0, 1, 2, 3], &["po", "fr", "po", "fr"]),
        ),
        "event 1",
    );
    let fresh = run.replace("load x 0 8 rf=init", "load x 1 8 rf=0");
    invalid(
        &sb,
        &witness(
            "ra",
            "robust",
            &fresh,
            &cycle(&[0, 1, 2, 3], &["po", "fr", "po", "fr"]),
        ),
        "not related",
    );
    let two = program(
        "shared x, y;
thread a {
  x = 1;
  y = 2;
}
thread b {
  y = 1;
  x = 2;
}",
    );
    let run = "
        a store x 1 3 after=init
        a store y 2 4 after=init
        b store y 1 7 after=1
        b store x 2 8 after=init";
    valid(
        &two,
        &witness(
            "ra",
            "robust",
            run,
            &cycle(&[0, 1, 2, 3], &["po", "co", "po", "co"]),
        ),
    );
    let last = run.replace("x 2 8 after=init", "x 2 8 after=0");
    invalid(
        &two,
        &witness(
            "ra",
            "robust",
            &last,
            &cycle(&[0, 1, 2, 3], &["po", "co", "po", "co"]),
        ),
        "not related",
    );
    // Message passing cannot read the old data.
    let mp = program(
        "shared x, y;
thread a {
  x = 1;
  y = 1;
}
thread b {
  let r = y;
  let s = x;
}",
    );
    let run = "
        a store x 1 3 after=init
        a store y 1 4 after=init
        b load y 1 7 rf=1
        b load x 0 8 rf=init";
    invalid(
        &mp,
        &witness(
            "ra",
            "robust",
            run,
            &cycle(&[0, 1, 2, 3], &["po", "rf", "po", "fr"]),
        ),
        "event 3",
    );
}

#[test]
fn release_acquire_fences_and_races() {
    let fenced = program(
        "shared x, y;
nonatomic shared d;
thread a {
  x = 1;
  fence;
  let r = y;
  d = 1;
}
thread b {
  y = 1;
  fence;
  let r = x;
  let s = d;
}",
    );
    let run = "
        a store x 1 4 after=init
        a fence - - 5
        a load y 0 6 rf=init
        b store y 1 10 after=init
        b fence - - 11
        b load x 0 12 rf=init";
    invalid(
        &fenced,
        &witness(
            "ra",
            "robust",
            run,
            &cycle(&[0, 2, 3, 5], &["po", "fr", "po", "fr"]),
        ),
        "event 5",
    );
    let run = run.replace("b load x 0 12 rf=init", "b load x 1 12 rf=0");
    let race = format!("{run}\n a store d 1 7 after=init\n b load d 0 13 rf=init");
    valid(
        &fenced,
        &witness("ra", "robust", &race, &pattern("race", &[6, 7])),
    );
    let early = format!(
        "{}\n a store d 1 7 after=init\n b load x 1 12 rf=0",
        run.replace("b load x 1 12 rf=0", "")
    );
    invalid(
        &fenced,
        &witness("ra", "robust", &early, &pattern("race", &[5, 6])),
        "different locations",
    );
}

#[test]
fn any_number_of_copies() {
    let program = program(
        "shared x, y;
thread a[*] {
  x = 1;
  let r = y;
}
thread b[*] {
  y = 1;
  let r = x;
}",
    );
    let run = SB_RUN.replace("a ", "a[0] ").replace("b ", "b[0] ");
    let cycle = cycle(&[0, 1, 2, 4], &["po", "fr", "po", "fr"]);
    valid(
        &program,
        &witness("tso", "robust", &run, &format!(r#"{cycle}, "copies": 1"#)),
    );
    invalid(
        &program,
        &witness("tso", "robust", &run, &cycle),
        "how many copies",
    );
    invalid(
        &program,
        &witness("tso", "robust", &run, &format!(r#"{cycle}, "copies": 0"#)),
        "no thread",
    );
}

#[test]
fn a_thread_that_goes_round_an_empty_block_is_followed_to_an_end() {
    let program = program(
        "shared x;
thread a {
  loop { atomic { skip; } }
}
thread b {
  x = 1;
}
never x == 1;",
    );
    valid(
        &program,
        &witness("sc", "safe", "b store x 1 6", &pattern("never", &[0])),
    );
}

/// Ways that are not mentioned and have no end: they must not use up memory or time.
#[test]
fn endless_steps_that_are_not_mentioned() {
    let fences = program(
        "shared x;
thread a[2] {
  loop { fence; }
}
thread b {
  x = 1;
}
never x == 1;",
    );
    let sc = "b store x 1 6";
    let tso = "b issue x 1 6
        b flush x 1 6";
    let ra = "b store x 1 6 after=init";
    for (model, run) in [("sc", sc), ("tso", tso), ("ra", ra)] {
        let forbidden = witness(model, "safe", run, &pattern("never", &[0]));
        valid(&fences, &forbidden);
    }
    let nothing = witness("ra", "safe", "", &pattern("never", &[]));
    invalid(&fences, &nothing, "no `never`");
    // Forbidden after a few rounds of a loop that counts for ever, inside a block and outside.
    for (begin, end) in [("", ""), ("atomic {", "}")] {
        let counts = program(&format!(
            "shared x;
thread a {{
  let r = 0; {begin} loop {{ r = r + 1; }} {end}
}}
thread b {{
  x = 1;
}}
never a.r == 3 && x == 1;"
        ));
        for (model, run) in [("sc", sc), ("tso", tso), ("ra", ra)] {
            let forbidden = witness(model, "safe", run, &pattern("never", &[0]));
            valid(&counts, &forbidden);
        }
        let not_yet = witness("sc", "safe", "", &pattern("never", &[]));
        invalid(&counts, &not_yet, "too many ways");
    }
}

/// What each message of release/acquire knows of 20,000 locations takes gigabytes if every message says it.
#[test]
fn many_locations() {
    let program = program(
        "shared a[20000], x;
thread p {
  x = 1;
}
never x == 1;",
    );
    for (model, after) in [("sc", ""), ("ra", "after=init")] {
        let run = format!("p store x 1 3 {after}");
        let forbidden = witness(model, "safe", &run, &pattern("never", &[0]));
        valid(&program, &forbidden);
    }
}
