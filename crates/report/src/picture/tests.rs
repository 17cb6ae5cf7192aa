//! No text covers another, whatever the run.

use super::scene::{Piece, Rect, Scene};
use super::{diagram, flow, run, witness};
use palisade_check::{Control, Criterion, Model, Options, QUESTIONS, check};
use palisade_lang::Program;
use palisade_memory::witness::InitialName;
use palisade_memory::{
    Edge, Event, EventKind, EventRef, Pattern, PatternKind, RelationName, Witness,
};
use palisade_testkit::{Shape, program, random_sketch};
use std::sync::atomic::AtomicBool;

/// No two texts overlap, and none leaves the picture.
#[track_caller]
fn assert_readable(scene: &Scene) {
    let texts: Vec<(Rect, &str)> = scene.texts().collect();
    let ground = Rect {
        x: 0,
        y: 0,
        width: scene.width,
        height: scene.height,
    };
    for (at, (rect, text)) in texts.iter().enumerate() {
        assert!(
            rect.x >= 0 && rect.y >= 0 && rect.right() <= ground.right(),
            "`{text}` leaves the picture: {rect:?} in {ground:?}"
        );
        assert!(rect.bottom() <= ground.bottom(), "`{text}` is cut off");
        for (other, said) in &texts[at + 1..] {
            assert!(
                !rect.overlaps(other),
                "`{text}` {rect:?} and `{said}` {other:?} overlap"
            );
        }
    }
}

/// No arrow runs through a box: each piece of a line may at most touch a box's border.
#[track_caller]
fn assert_no_arrow_through_a_box(scene: &Scene) {
    let boxes: Vec<Rect> = scene
        .pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Frame { rect, frame } if is_step(frame.class()) => Some(rect.grown(-1)),
            _ => None,
        })
        .collect();
    for piece in &scene.pieces {
        let Piece::Arrow { points, .. } = piece else {
            continue;
        };
        for pair in points.windows(2) {
            let line = Rect {
                x: pair[0].0.min(pair[1].0),
                y: pair[0].1.min(pair[1].1),
                width: (pair[0].0 - pair[1].0).abs().max(1),
                height: (pair[0].1 - pair[1].1).abs().max(1),
            };
            let hit = boxes.iter().find(|rect| rect.overlaps(&line));
            assert_eq!(hit, None, "{points:?} runs through a box");
        }
    }
}

fn is_step(class: &str) -> bool {
    class.starts_with("step") || class.starts_with("flush")
}

/// A run that no program has, but that is as awkward as any: threads and steps in any order, many stores that wait, arrows all over.
fn random_witness(random: &mut fastrand::Rng) -> Witness {
    let threads = random.usize(1..=6);
    let length = random.usize(1..=60);
    let model = [Model::Tso, Model::Ra, Model::Sc][random.usize(0..3)];
    let mut events: Vec<Event> = Vec::new();
    let mut pending: Vec<Vec<usize>> = vec![Vec::new(); threads];
    for index in 0..length {
        let thread = random.usize(0..threads);
        let location = ["x", "y", "flag[1]", "a_rather_long_name[12]", "17"][random.usize(0..5)];
        let mut event = Event {
            thread: format!("{}[{thread}]", ["t", "worker"][thread % 2]),
            kind: EventKind::Load,
            location: Some(location.to_owned()),
            value: Some(random.i64(-5..1_000_000)),
            read: None,
            file: None,
            line: random.u32(1..200),
            column: random.u32(1..40),
            issue: None,
            order: None,
            rf: None,
            after: None,
            atomic: random.u32(0..8) == 0,
            addresses: Default::default(),
        };
        let earlier = |random: &mut fastrand::Rng| match random.usize(0..=index) {
            0 => EventRef::Initial(InitialName::Init),
            before => EventRef::Event(before - 1),
        };
        match (random.u32(0..6), model) {
            (0 | 1, Model::Tso) => {
                event.kind = EventKind::Issue;
                pending[thread].push(index);
            }
            (2, Model::Tso) if !pending[thread].is_empty() => {
                let issue = pending[thread].remove(0);
                event = Event {
                    kind: EventKind::Flush,
                    issue: Some(issue),
                    ..events[issue].clone()
                };
            }
            (3, _) => {
                event.kind = EventKind::Rmw;
                event.read = Some(3);
            }
            (4, _) => event.kind = EventKind::Fence,
            (0 | 1, _) => {
                event.kind = EventKind::Store;
                event.after = (model == Model::Ra).then(|| earlier(random));
            }
            _ => event.rf = (model == Model::Ra).then(|| earlier(random)),
        }
        events.push(event);
    }
    let relations = [
        RelationName::Po,
        RelationName::Rf,
        RelationName::Co,
        RelationName::Fr,
    ];
    let edges: Vec<Edge> = (0..random.usize(0..12))
        .map(|_| Edge {
            from: random.usize(0..length),
            to: random.usize(0..length),
            relation: relations[random.usize(0..4)],
        })
        .collect();
    let kinds = [
        PatternKind::Race,
        PatternKind::TriangularRace,
        PatternKind::Fragile,
        PatternKind::Error,
        PatternKind::Never,
    ];
    let pattern = (random.bool() && length > 5).then(|| Pattern {
        kind: kinds[random.usize(0..5)],
        events: (0..random.usize(1..=5)).collect(),
        message: "a message that says at some length what has happened and why it should not"
            .repeat(random.usize(1..4)),
    });
    Witness {
        model,
        criterion: Criterion::Robust,
        cycle: edges.iter().map(|edge| edge.from).collect(),
        edges,
        events,
        pattern,
        loop_start: None,
        copies: random.bool().then_some(3),
    }
}

/// A program whose lines are long.
fn text_for_random_witnesses() -> Program {
    let mut text = String::from("shared x, y, flag[3];\nthread t[6] {\n  let r;\n");
    for line in 0..200 {
        let padding = "+ 1 ".repeat(line % 30);
        text.push_str(&format!("  r = x {padding}+ {line};\n"));
    }
    text.push_str("}\n");
    program(&text)
}

#[test]
fn no_text_overlaps_in_the_most_awkward_runs() {
    let program = text_for_random_witnesses();
    let mut unnamed = 0;
    let mut arrows = 0;
    for seed in 0..400 {
        let mut random = fastrand::Rng::with_seed(seed);
        let witness = random_witness(&mut random);
        let diagram = witness::diagram(&witness, &program, "a/file with a long name.pal");
        let scene = diagram::draw(&diagram);
        assert_readable(&scene);
        assert_no_arrow_through_a_box(&scene);
        let names = ["po", "rf", "co", "fr", "race"];
        let named = scene
            .texts()
            .filter(|(_, text)| names.contains(text))
            .count();
        arrows += diagram.links.len();
        unnamed += diagram.links.len() - named;
        assert_eq!(super::svg::document(&scene).matches("<svg").count(), 1);
    }
    // A name that has no room is left out rather than put over another text. That is rare.
    assert!(unnamed * 50 < arrows, "{unnamed} of {arrows} have no name");
}

/// The witnesses of random programs under every criterion.
fn for_every_witness(mut see: impl FnMut(&Program, &Witness)) -> usize {
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_| {},
    };
    let mut seen = 0;
    for (shape, seeds) in [
        (Shape::TSO, 0..60),
        (Shape::RA, 60..110),
        (Shape::SC, 110..140),
    ] {
        for seed in seeds {
            let program = program(&random_sketch(seed, &shape).to_string());
            for &(model, criterion) in QUESTIONS {
                let Ok(answer) = check(&program, &Options::new(model, criterion), &control) else {
                    continue;
                };
                for witness in &answer.witnesses {
                    see(&program, witness);
                    seen += 1;
                }
            }
        }
    }
    seen
}

#[test]
fn no_text_overlaps_in_the_runs_of_random_programs() {
    let seen = for_every_witness(|program, witness| {
        let scene = diagram::draw(&witness::diagram(witness, program, "test.pal"));
        assert_readable(&scene);
        assert_no_arrow_through_a_box(&scene);
        assert!(!run(witness, program, "test.pal").html().contains("<script"));
    });
    assert!(seen > 100, "only {seen} witnesses");
}

/// A `never` can be true before any thread has moved, and a run can be longer than what is shown of it.
#[test]
fn runs_of_no_step_and_of_very_many() {
    let program = text_for_random_witnesses();
    let mut witness = random_witness(&mut fastrand::Rng::with_seed(1));
    witness.edges.clear();
    witness.cycle.clear();
    witness.pattern = Some(Pattern {
        kind: PatternKind::Never,
        events: Vec::new(),
        message: "it is true at once".to_owned(),
    });
    let load = Event {
        kind: EventKind::Load,
        issue: None,
        order: None,
        rf: None,
        after: None,
        atomic: false,
        ..witness.events[0].clone()
    };
    for length in [0, 1, 500] {
        witness.events = vec![load.clone(); length];
        let scene = diagram::draw(&witness::diagram(&witness, &program, "test.pal"));
        assert_readable(&scene);
        let left_out = scene.texts().any(|(_, text)| text.contains("left out"));
        assert_eq!(left_out, length == 500);
    }
}

#[test]
fn no_text_overlaps_in_control_flow_graphs() {
    for seed in 0..100 {
        let program = program(&random_sketch(seed, &Shape::LOOPS).to_string());
        let scene = flow::draw(&program, "test.pal");
        assert_readable(&scene);
        assert_no_arrow_through_a_box(&scene);
    }
}

/// The run of a witness, drawn without the style sheet. The witness is fixed: which one a search finds is its own affair.
fn drawn(text: &str, witness: &str) -> String {
    let witness: Witness = serde_json::from_str(witness).unwrap();
    without_style(&run(&witness, &program(text), "test.pal").svg())
}

/// Without the style sheet, which is the same in all.
fn without_style(svg: &str) -> String {
    let (before, rest) = svg.split_once("<style>").unwrap();
    let (_, after) = rest.split_once("</style>").unwrap();
    format!("{before}{after}")
}

const SB: &str = "shared x, y;\nthread p { x = 1; let r = y; }\nthread q { y = 1; let r = x; }\n";

const IRIW: &str = "shared x, y;\nthread a { x = 1; }\nthread b { y = 1; }\n\
                    thread c { let r = x; let s = y; }\nthread d { let r = y; let s = x; }\n";

#[test]
fn store_buffering() {
    let witness = r#"{"model":"tso","criterion":"robust","events":[
        {"thread":"q","kind":"issue","location":"y","value":1,"line":3,"column":12},
        {"thread":"q","kind":"load","location":"x","value":0,"line":3,"column":27},
        {"thread":"p","kind":"issue","location":"x","value":1,"line":2,"column":12},
        {"thread":"p","kind":"flush","location":"x","value":1,"line":2,"column":12,"issue":2},
        {"thread":"p","kind":"load","location":"y","value":0,"line":2,"column":27},
        {"thread":"q","kind":"flush","location":"y","value":1,"line":3,"column":12,"issue":0}],"cycle":[0,1,2,4],"edges":[{"from":0,"to":1,"relation":"po"},
        {"from":1,"to":2,"relation":"fr"},
        {"from":2,"to":4,"relation":"po"},
        {"from":4,"to":0,"relation":"fr"}]}"#;
    insta::assert_snapshot!(drawn(SB, witness));
}

#[test]
fn independent_reads_of_independent_writes() {
    let witness = r#"{"model":"ra","criterion":"robust","events":[
        {"thread":"b","kind":"store","location":"y","value":1,"line":3,"column":12,"after":"init"},
        {"thread":"d","kind":"load","location":"y","value":1,"line":5,"column":20,"rf":0},
        {"thread":"d","kind":"load","location":"x","value":0,"line":5,"column":31,"rf":"init"},
        {"thread":"a","kind":"store","location":"x","value":1,"line":2,"column":12,"after":"init"},
        {"thread":"c","kind":"load","location":"x","value":1,"line":4,"column":20,"rf":3},
        {"thread":"c","kind":"load","location":"y","value":0,"line":4,"column":31,"rf":"init"}],"cycle":[5,0,1,2,3,4],"edges":[{"from":5,"to":0,"relation":"fr"},
        {"from":0,"to":1,"relation":"rf"},
        {"from":1,"to":2,"relation":"po"},
        {"from":2,"to":3,"relation":"fr"},
        {"from":3,"to":4,"relation":"rf"},
        {"from":4,"to":5,"relation":"po"}]}"#;
    insta::assert_snapshot!(drawn(IRIW, witness));
}

#[test]
fn a_data_race() {
    let witness = r#"{"model":"sc","criterion":"drf","events":[
        {"thread":"q","kind":"store","location":"y","value":1,"line":3,"column":12},
        {"thread":"p","kind":"store","location":"x","value":1,"line":2,"column":12},
        {"thread":"q","kind":"load","location":"x","value":1,"line":3,"column":27}],"pattern":{"kind":"race","events":[
        1,2],"message":"p and q are both about to access `x`, and one of them writes it"}}"#;
    insta::assert_snapshot!(drawn(SB, witness));
}

#[test]
fn a_fragile_run() {
    let witness = r#"{"model":"tso","criterion":"persistent","events":[
        {"thread":"p","kind":"issue","location":"x","value":1,"line":2,"column":12},
        {"thread":"p","kind":"load","location":"y","value":0,"line":2,"column":27},
        {"thread":"q","kind":"issue","location":"y","value":1,"line":3,"column":12},
        {"thread":"q","kind":"flush","location":"y","value":1,"line":3,"column":12,"issue":2},
        {"thread":"p","kind":"flush","location":"x","value":1,"line":2,"column":12,"issue":0}],"pattern":{"kind":"fragile","events":[
        0,1,2,3,4],"message":"p reads 0 from `y` while its store to `x` still waits, and then q writes 1: the order of the stores says that q wrote first, the order of p's own steps says that its store came first, and no SC run has both"}}"#;
    insta::assert_snapshot!(drawn(SB, witness));
}

/// Not every program that draws SVG knows variables of CSS, and a name that is not in the table would show.
#[test]
fn every_colour_is_a_number() {
    let style = super::style();
    assert!(!style.contains("var(") && !style.contains('$') && !style.contains("inherit"));
    assert!(style.contains("@media (prefers-color-scheme:dark)"));
}
