//! What people read, as snapshots.

use palisade_check::note::Note;
use palisade_lang::{Domain, Language, Program, Source};
use palisade_memory::{Edge, Event, EventKind, Pattern, PatternKind, RelationName};
use palisade_report::{
    Answer, Criterion, FileReport, Findings, Look, Model, Question, Refusal, Stats, Verdict,
    Witness, json, sarif, text,
};
use std::time::Duration;

const SB: &str = "shared x, y;\n\nthread p0 {\n  x = 1;\n  let r = y;\n}\nthread p1 {\n  y = 1;\n  let s = x;\n}\n";

fn program(text: &str) -> Program {
    Program {
        name: None,
        source: Source::new("sb.pal", text),
        language: Language::Pal,
        domain: Domain::FULL,
        locations: Vec::new(),
        threads: Vec::new(),
        nevers: Vec::new(),
        places: Vec::new(),
        bounds: Vec::new(),
        faults: Vec::new(),
    }
}

fn event(thread: &str, kind: EventKind, location: &str, value: i64, line: u32) -> Event {
    Event {
        thread: thread.to_owned(),
        kind,
        location: (!location.is_empty()).then(|| location.to_owned()),
        value: (!location.is_empty()).then_some(value),
        read: None,
        file: None,
        line,
        column: 3,
        issue: None,
        order: None,
        rf: None,
        after: None,
        atomic: false,
        addresses: Default::default(),
    }
}

fn edge(from: usize, relation: RelationName, to: usize) -> Edge {
    Edge { from, to, relation }
}

fn store_buffering() -> Witness {
    use EventKind::{Flush, Issue, Load};
    use RelationName::{Fr, Po};
    let mut late = event("p0", Flush, "x", 1, 4);
    late.issue = Some(0);
    let mut soon = event("p1", Flush, "y", 1, 8);
    soon.issue = Some(2);
    Witness {
        model: Model::Tso,
        criterion: Criterion::Robust,
        events: vec![
            event("p0", Issue, "x", 1, 4),
            event("p0", Load, "y", 0, 5),
            event("p1", Issue, "y", 1, 8),
            soon,
            event("p1", Load, "x", 0, 9),
            late,
        ],
        cycle: vec![0, 1, 2, 4],
        edges: vec![
            edge(0, Po, 1),
            edge(1, Fr, 2),
            edge(2, Po, 4),
            edge(4, Fr, 0),
        ],
        pattern: None,
        loop_start: None,
        copies: None,
    }
}

fn pattern(kind: PatternKind, events: Vec<Event>, message: &str) -> Witness {
    Witness {
        model: Model::Sc,
        criterion: Criterion::Safe,
        cycle: Vec::new(),
        edges: Vec::new(),
        pattern: Some(Pattern {
            kind,
            events: vec![events.len() - 2, events.len() - 1],
            message: message.to_owned(),
        }),
        events,
        loop_start: None,
        copies: None,
    }
}

fn answer(verdict: Verdict, witness: Option<Witness>) -> Answer {
    Answer {
        verdict,
        witnesses: witness.into_iter().collect(),
        stats: Stats {
            states: 1234,
            transitions: 5678,
            queries: 2,
            pruned: 1,
            iterations: 0,
            level: None,
            wall: Duration::from_millis(120),
            peak_memory_bytes: 25 << 20,
        },
        notes: Vec::new(),
        harm: None,
    }
}

fn report(model: Model, question: Question, answer: Answer) -> FileReport {
    FileReport {
        file: "sb.pal".to_owned(),
        model,
        question,
        program: Some(program(SB)),
        result: Ok(Findings::One(answer)),
    }
}

fn robust(answer: Answer) -> FileReport {
    report(Model::Tso, Question::Check(Criterion::Robust), answer)
}

#[test]
fn a_tso_cycle() {
    let report = robust(answer(Verdict::Violated, Some(store_buffering())));
    insta::assert_snapshot!(text::render(&report, Look::PLAIN));
}

#[test]
fn a_tso_cycle_in_a_narrow_window() {
    let report = robust(answer(Verdict::Violated, Some(store_buffering())));
    let look = Look {
        colour: false,
        width: 60,
        ..Look::PLAIN
    };
    insta::assert_snapshot!(text::render(&report, look));
}

#[test]
fn a_tso_cycle_as_json() {
    let report = robust(answer(Verdict::Violated, Some(store_buffering())));
    insta::assert_snapshot!(json::line(&report));
}

#[test]
fn holds_and_undecided() {
    let mut undecided = answer(
        Verdict::Unknown("the time limit of 60s was reached".into()),
        None,
    );
    undecided.notes.push(Note::Said(
        "the program has an assertion that can fail".to_owned(),
    ));
    let shown = [answer(Verdict::Holds, None), undecided]
        .map(robust)
        .map(|report| {
            format!(
                "{}{}\n",
                text::render(&report, Look::PLAIN),
                json::line(&report)
            )
        })
        .concat();
    insta::assert_snapshot!(shown);
}

#[test]
fn a_race() {
    let events = vec![
        event("p0", EventKind::Store, "x", 1, 4),
        event("p1", EventKind::Store, "y", 1, 8),
        event("p0", EventKind::Load, "y", 1, 5),
    ];
    let mut witness = pattern(PatternKind::Race, events, "p0 and p1 race on y");
    witness.criterion = Criterion::Drf;
    let report = report(
        Model::Sc,
        Question::Check(Criterion::Drf),
        answer(Verdict::Violated, Some(witness)),
    );
    insta::assert_snapshot!(text::render(&report, Look::PLAIN));
}

#[test]
fn many_threads_become_a_list() {
    insta::assert_snapshot!(nine_threads(80));
}

/// On a telephone nothing is cut: what a step does stands below its statement.
#[test]
fn a_list_without_room_has_two_lines_for_a_step() {
    let text = nine_threads(40);
    assert!(
        text.lines().all(|line| line.chars().count() <= 40),
        "{text}"
    );
    insta::assert_snapshot!(text);
}

/// A run of nine threads, in so many columns.
fn nine_threads(columns: usize) -> String {
    let events: Vec<Event> = (0..9)
        .map(|n| {
            event(
                &format!("worker[{n}]"),
                EventKind::Store,
                "a_long_name[3]",
                n,
                4,
            )
        })
        .collect();
    let witness = pattern(PatternKind::Never, events, "`never` in line 2 is true here");
    let report = report(
        Model::Sc,
        Question::Reach,
        answer(Verdict::Violated, Some(witness)),
    );
    text::render(
        &report,
        Look {
            width: columns,
            window: true,
            ..Look::PLAIN
        },
    )
}

#[test]
fn a_long_run_is_cut_in_the_middle() {
    let events: Vec<Event> = (0..100_000)
        .map(|n| event("p0", EventKind::Store, "x", n, 4))
        .collect();
    let witness = pattern(PatternKind::Error, events, "the assertion fails");
    let report = report(
        Model::Sc,
        Question::Reach,
        answer(Verdict::Violated, Some(witness)),
    );
    let shown = text::render(&report, Look::PLAIN);
    assert!(shown.contains("… 99,920 steps …"), "{shown}");
    assert!(shown.lines().count() < 100);
}

#[test]
fn all_criteria_in_one_table() {
    let report = FileReport {
        file: "sb.pal".to_owned(),
        model: Model::Tso,
        question: Question::CheckAll,
        program: Some(program(SB)),
        result: Ok(Findings::All(vec![
            (Criterion::Drf, Ok(answer(Verdict::Holds, None))),
            (
                Criterion::Robust,
                Ok(answer(Verdict::Violated, Some(store_buffering()))),
            ),
            (
                Criterion::Safe,
                Err(Refusal {
                    message: "cannot be decided yet".to_owned(),
                    span: None,
                }),
            ),
        ])),
    };
    let shown = format!(
        "{}\n{}",
        text::render(&report, Look::PLAIN),
        json::line(&report)
    );
    insta::assert_snapshot!(shown);
}

#[test]
fn no_line_is_wider_than_the_window() {
    for width in 40..130 {
        let report = robust(answer(Verdict::Violated, Some(store_buffering())));
        let shown = text::render(
            &report,
            Look {
                width,
                ..Look::PLAIN
            },
        );
        for line in shown.lines() {
            assert!(line.chars().count() <= width.max(50), "{width}: {line}");
        }
    }
}

#[test]
fn colours_change_no_character() {
    let report = robust(answer(Verdict::Violated, Some(store_buffering())));
    let coloured = text::render(
        &report,
        Look {
            colour: true,
            width: 100,
            ..Look::PLAIN
        },
    );
    assert!(coloured.contains('\u{1b}'));
    let mut plain = String::new();
    let mut inside = false;
    for c in coloured.chars() {
        match (inside, c) {
            (false, '\u{1b}') => inside = true,
            (true, 'm') => inside = false,
            (false, c) => plain.push(c),
            (true, _) => {}
        }
    }
    let trimmed: Vec<&str> = plain.lines().map(str::trim_end).collect();
    let expected = text::render(&report, Look::PLAIN);
    assert_eq!(trimmed, expected.lines().collect::<Vec<_>>());
}

#[test]
fn a_tso_cycle_as_sarif() {
    let report = robust(answer(Verdict::Violated, Some(store_buffering())));
    insta::assert_snapshot!(sarif::document(&[report]));
}
