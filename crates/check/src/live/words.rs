//! A hang in words.

use palisade_lang::{PointId, Program};
use palisade_threads::{LocalId, Status};

use super::Hang;
use super::fair::Stay;
use super::graph::Graph;

/// Which threads are stuck, where and in what way.
pub(super) fn hang(program: &Program, graph: &Graph<'_, '_>, stay: &Stay, hang: &Hang) -> String {
    let names: Vec<String> = program.instances().into_iter().map(|i| i.name).collect();
    let name = &names[stay.thread];
    let place = place(program, graph, stay, stay.thread);
    let others: Vec<String> = (0..names.len())
        .filter(|&other| other != stay.thread && is_stuck(graph, stay, other))
        .map(|other| {
            let place = self::place(program, graph, stay, other);
            format!("`{}` {place}", names[other])
        })
        .collect();
    let mut text = match hang {
        Hang::Waits => format!("`{name}` waits for ever {place}"),
        Hang::Livelock => format!(
            "livelock: `{name}` goes round for ever {place}; alone it would get out, but others that go round too undo it each time"
        ),
        Hang::Starved => format!(
            "`{name}` is starved {place}: again and again it could get out, but it always comes at the wrong moment"
        ),
    };
    if !others.is_empty() {
        text.push_str(&format!("; stuck as well: {}", others.join(", ")));
    }
    text
}

/// Every thread that has not ended waits: these are stuck, each with its place.
pub(super) fn all_wait(stuck: Vec<(&str, String)>) -> String {
    let mut stuck = stuck.into_iter();
    let Some((name, place)) = stuck.next() else {
        return String::new();
    };
    let mut text = format!("`{name}` waits for ever {place}")
        .trim_end()
        .to_owned();
    let others: Vec<String> = stuck
        .map(|(name, place)| format!("`{name}` {place}"))
        .collect();
    if !others.is_empty() {
        text.push_str(&format!("; stuck as well: {}", others.join(", ")));
    }
    text
}

/// Whether a thread that has not ended leaves nothing there.
fn is_stuck(graph: &Graph<'_, '_>, stay: &Stay, thread: usize) -> bool {
    let mut view = graph.frame.threads.view();
    let code = graph.frame.codes[thread];
    let local = LocalId(graph.row(stay.states[0])[thread]);
    let mut own = (stay.turns.iter()).filter(|&&turn| graph.turns[turn].thread as usize == thread);
    view.status(code, local) == Status::Running
        && own.all(|&turn| graph.edges_of(turn).iter().all(|e| e.stays))
}

/// Where a thread stands in these states: the loop, or the instruction, with its line.
fn place(program: &Program, graph: &Graph<'_, '_>, stay: &Stay, thread: usize) -> String {
    let mut view = graph.frame.threads.view();
    let code = graph.frame.codes[thread];
    let points: Vec<PointId> = (stay.states.iter())
        .filter_map(|&s| view.point(code, LocalId(graph.row(s)[thread])))
        .collect();
    place_of(program, code, points)
}

/// Where a thread stands that is at these points again and again.
pub(super) fn place_of(program: &Program, code: usize, mut points: Vec<PointId>) -> String {
    points.sort();
    points.dedup();
    let thread = &program.threads[code];
    let spans = points.iter().map(|&point| match points.len() {
        1 => thread.outgoing(point).first().map(|t| t.span),
        _ => None,
    });
    let spans = spans.zip(&points);
    let spans = spans.map(|(span, point)| span.unwrap_or(thread.points[point.index()].span));
    let Some(span) = spans.min_by_key(|span| span.start) else {
        return String::new();
    };
    let text = program.source.slice(span);
    let text = text.lines().next().unwrap_or("").trim();
    let line = program.source.line_column(span.start).line;
    format!("in line {line}, `{text}`")
}
