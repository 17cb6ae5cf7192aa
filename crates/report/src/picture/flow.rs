//! Control-flow graphs: a column per thread, control points as circles, instructions as boxes in the order of the text.
//!
//! Below each point stand the instructions that leave it. What an instruction leads to stands just below it where that can be; to
//! other points an arrow leads on the right of the column.

use super::scene::{Anchor, Frame, Ink, Piece, Rect, Scene, Words, tracks};
use crate::look::{cut, harmless};
use palisade_lang::print::instruction;
use palisade_lang::{Copies, Op, PointId, Program, Thread};

const MARGIN: i32 = 24;
const ROW: i32 = 26;
const GAP: i32 = 10;
/// From the middle of a point to the boxes.
const INDENT: i32 = 34;
const POINT: i32 = 22;
const TRACK: i32 = 12;
const BESIDE: i32 = 18;
const BETWEEN: i32 = 40;
const HEAD: i32 = 30;
const MOST_TRACKS: usize = 40;
/// Longer instructions and names are cut.
const COLUMNS: usize = 48;

/// One row of a column.
enum Row {
    Point {
        point: PointId,
        name: String,
    },
    Box {
        to: PointId,
        line: u32,
        text: String,
    },
}

/// The control-flow graphs of all threads.
pub(crate) fn draw(program: &Program, title: &str) -> Scene {
    let mut scene = Scene {
        title: harmless(super::base_name(title)),
        ..Scene::default()
    };
    let nothing = Rect {
        x: 0,
        y: 0,
        width: 0,
        height: 0,
    };
    scene.frame(nothing, Frame::Ground);
    let text = cut(&scene.title, 60);
    let (mut right, mut bottom) = (MARGIN + Words::Title.width(&text), 0);
    scene.text((MARGIN, MARGIN + 10), Anchor::Start, Words::Title, text);
    let mut x = MARGIN;
    for thread in &program.threads {
        let (r, b) = column(&mut scene, program, thread, x, MARGIN + 34);
        (right, bottom) = (right.max(r), bottom.max(b));
        x = r + BETWEEN;
    }
    scene.width = right + MARGIN;
    scene.height = bottom.max(MARGIN + 34) + MARGIN;
    if let Some(Piece::Frame { rect, .. }) = scene.pieces.first_mut() {
        (rect.width, rect.height) = (scene.width, scene.height);
    }
    scene
}

/// Draws one thread; returns how far it reaches to the right and down.
fn column(
    scene: &mut Scene,
    program: &Program,
    thread: &Thread,
    left: i32,
    top: i32,
) -> (i32, i32) {
    let title = match thread.copies {
        Copies::One => thread.name.clone(),
        Copies::Fixed(copies) => format!("{}[{copies}]", thread.name),
        Copies::Any => format!("{}[*]", thread.name),
    };
    let title = cut(&harmless(&title), COLUMNS);
    let rows = rows(program, thread);
    let widest = rows.iter().map(row_width).max().unwrap_or(0);
    let width = widest.max(Words::Head.width(&title) + 24).max(120);
    let head = Rect {
        x: left,
        y: top,
        width,
        height: HEAD,
    };
    scene.frame(head, Frame::Head);
    scene.text(head.middle(), Anchor::Middle, Words::Head, title);

    let first = top + HEAD + 14;
    let y_of = |row: usize| first + row as i32 * (ROW + GAP) + ROW / 2;
    let axis = left + POINT / 2;
    let row_of = |point: PointId| {
        rows.iter()
            .position(|row| matches!(row, Row::Point { point: p, .. } if *p == point))
    };
    // What does not lead to the row just below goes round by a track.
    let mut round: Vec<(usize, usize)> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        if let Row::Box { to, .. } = row
            && let Some(target) = row_of(*to)
            && target != at + 1
        {
            round.push((at, target));
        }
    }
    let intervals: Vec<(i32, i32)> = round
        .iter()
        .map(|&(a, b)| (y_of(a).min(y_of(b)), y_of(a).max(y_of(b))))
        .collect();
    let (track, used) = tracks(&intervals, 0, MOST_TRACKS);
    let edge = left + width;
    let mut above: Option<usize> = None;
    for (at, row) in rows.iter().enumerate() {
        let y = y_of(at);
        match row {
            Row::Point { .. } => above = Some(at),
            Row::Box { to, .. } => {
                if let Some(above) = above {
                    let points = vec![
                        (axis, y_of(above) + POINT / 2),
                        (axis, y),
                        (left + INDENT, y),
                    ];
                    scene.pieces.push(flow(points));
                }
                if row_of(*to) == Some(at + 1) {
                    let x = left + INDENT + 14;
                    let below = y_of(at + 1);
                    let beside = left + point_width(&rows[at + 1]);
                    // Into the point from its right, or from above where it is wide.
                    scene.pieces.push(flow(match beside + 12 <= x {
                        true => vec![(x, y + ROW / 2), (x, below), (beside, below)],
                        false => vec![(x, y + ROW / 2), (x, below - POINT / 2)],
                    }));
                }
            }
        }
    }
    for (&(from, to), track) in round.iter().zip(&track) {
        let x = edge + BESIDE + *track as i32 * TRACK;
        let end = left + point_width(&rows[to]);
        let (a, b) = (y_of(from), y_of(to));
        let points = vec![(row_right(&rows[from], left), a), (x, a), (x, b), (end, b)];
        scene.pieces.push(flow(points));
    }
    for (at, row) in rows.iter().enumerate() {
        draw_row(scene, thread, row, left, y_of(at));
    }
    let right = match used {
        0 => edge,
        used => edge + BESIDE + used as i32 * TRACK,
    };
    (right, y_of(rows.len().saturating_sub(1)) + ROW / 2)
}

fn flow(points: Vec<(i32, i32)>) -> Piece {
    Piece::Arrow {
        points,
        ink: Ink::Flow,
        bold: false,
        both: false,
    }
}

fn draw_row(scene: &mut Scene, thread: &Thread, row: &Row, left: i32, y: i32) {
    match row {
        Row::Point { point, name } => {
            let rect = Rect {
                x: left,
                y: y - POINT / 2,
                width: point_width(row),
                height: POINT,
            };
            let frame = match thread.is_end(*point) {
                true => Frame::LastPoint,
                false => Frame::Point,
            };
            scene.frame(rect, frame);
            scene.text(rect.middle(), Anchor::Middle, Words::Line, name.clone());
        }
        Row::Box { line, text, .. } => {
            let rect = Rect {
                x: left + INDENT,
                y: y - ROW / 2,
                width: row_width(row) - INDENT,
                height: ROW,
            };
            scene.frame(rect, Frame::Step);
            let number = line.to_string();
            let x = rect.x + 10;
            scene.text((x, y), Anchor::Start, Words::Line, number.clone());
            let x = x + Words::Line.width(&number) + 9;
            scene.text((x, y), Anchor::Start, Words::Code, text.clone());
        }
    }
}

fn row_width(row: &Row) -> i32 {
    match row {
        Row::Point { .. } => point_width(row),
        Row::Box { line, text, .. } => {
            INDENT + Words::Line.width(&line.to_string()) + 29 + Words::Code.width(text)
        }
    }
}

/// A point is round, or as wide as its name.
fn point_width(row: &Row) -> i32 {
    match row {
        Row::Point { name, .. } if !name.is_empty() => (Words::Line.width(name) + 16).max(POINT),
        _ => POINT,
    }
}

fn row_right(row: &Row, left: i32) -> i32 {
    left + row_width(row)
}

/// Points and instructions from top to bottom.
fn rows(program: &Program, thread: &Thread) -> Vec<Row> {
    let order = order(thread);
    let mut rows = Vec::new();
    for (at, &point) in order.iter().enumerate() {
        let labels: Vec<&str> = thread
            .labels
            .iter()
            .filter(|l| l.points.iter().any(|p| thread.behind_jumps(*p) == point))
            .map(|l| l.name.as_str())
            .collect();
        let state = thread.points[point.index()].name.as_deref();
        let mut name = state.map_or_else(|| labels.join(", "), str::to_owned);
        if name.is_empty() && thread.is_end(point) {
            name = "end".to_owned();
        }
        let name = cut(&harmless(&name), COLUMNS);
        rows.push(Row::Point { point, name });
        let mut boxes: Vec<Row> = thread
            .outgoing(point)
            .iter()
            .filter(|transition| transition.op != Op::Jump)
            .map(|transition| Row::Box {
                to: thread.behind_jumps(transition.to),
                line: program.source.line_column(transition.span.start).line,
                text: cut(
                    &harmless(&instruction(program, thread, transition)),
                    COLUMNS,
                ),
            })
            .collect();
        // What leads to the next point stands just above it.
        let next = order.get(at + 1);
        let leads_on = |row: &Row| matches!(row, Row::Box { to, .. } if Some(to) == next);
        if let Some(index) = boxes.iter().rposition(leads_on) {
            let last = boxes.remove(index);
            boxes.push(last);
        }
        rows.extend(boxes);
    }
    rows
}

/// The points that can be reached, so that arrows lead down where they can: the reverse of the order in which a walk is done with them.
/// Of several ways, the one that comes first in the text is drawn first.
fn order(thread: &Thread) -> Vec<PointId> {
    let first = thread.behind_jumps(thread.initial);
    let mut seen = vec![false; thread.points.len()];
    let mut done = Vec::new();
    let mut path: Vec<(PointId, Vec<PointId>)> = Vec::new();
    let successors = |point: PointId| -> Vec<PointId> {
        // The last way of the text is walked first, so it is done first, and stands last once the order is reversed.
        let outgoing = thread.outgoing(point).iter();
        outgoing.map(|t| thread.behind_jumps(t.to)).collect()
    };
    seen[first.index()] = true;
    path.push((first, successors(first)));
    while let Some((point, todo)) = path.last_mut() {
        match todo.pop() {
            Some(next) if !seen[next.index()] => {
                seen[next.index()] = true;
                path.push((next, successors(next)));
            }
            Some(_) => {}
            None => {
                done.push(*point);
                path.pop();
            }
        }
    }
    done.reverse();
    done
}
