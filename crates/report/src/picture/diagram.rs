//! Boxes in columns, one row each, and arrows between them: from what there is to where it stands.
//!
//! Each box has its row for itself. So an arrow can leave its box sideways along the row, go up or down between two columns, and enter the
//! other box along that one's row, and never comes near another box. What goes up or down between two columns gets tracks of its own.

use super::scene::{Anchor, Frame, Ink, Piece, Rect, Scene, Words, text_rect, tracks};
use crate::look::{cut, wrap};

const MARGIN: i32 = 24;
/// Between the border of a box and its text.
const PADDING: i32 = 10;
/// Between the number of a line and its text.
const AFTER_LINE: i32 = 9;
const ROW_GAP: i32 = 18;
const TALL: i32 = 46;
const LOW: i32 = 28;
/// Between two tracks: the name of an arrow, put on its track, does not reach the next one.
const TRACK: i32 = 17;
/// Between a column and the first track.
const BESIDE: i32 = 20;
/// Between two stores that wait in the same buffer.
const LANE: i32 = 13;
const MOST_LANES: usize = 8;
const MOST_TRACKS: usize = 24;
const NARROWEST: i32 = 560;
const HEAD: i32 = 30;

/// A box.
pub(crate) struct Node {
    pub column: usize,
    pub row: usize,
    pub frame: Frame,
    /// The number of the source line.
    pub line: String,
    /// The user's text; empty for a store that leaves the buffer.
    pub code: String,
    pub effect: String,
    pub badge: Option<(Frame, String)>,
    /// The steps of the run that it stands for, first and last.
    pub steps: (usize, usize),
}

/// An arrow.
pub(crate) struct Link {
    pub from: usize,
    pub to: usize,
    pub ink: Ink,
    pub bold: bool,
    /// Heads at both ends.
    pub both: bool,
}

/// A store that waits from one box to another, or to the end.
pub(crate) struct Lane {
    pub from: usize,
    pub to: Option<usize>,
    pub bold: bool,
}

/// A row.
pub(crate) enum Row {
    /// Of a box, with the number of its step.
    Node(String),
    /// Across all columns.
    Across(Frame, String),
}

/// What there is.
#[derive(Default)]
pub(crate) struct Diagram {
    pub title: String,
    pub captions: Vec<String>,
    pub columns: Vec<String>,
    pub rows: Vec<Row>,
    pub nodes: Vec<Node>,
    pub links: Vec<Link>,
    pub lanes: Vec<Lane>,
    /// First and last box of an `atomic` block.
    pub blocks: Vec<(usize, usize)>,
    /// What the legend says beside arrows: a word as it stands in the picture, and its meaning.
    pub legend: Vec<(Option<Frame>, String, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// How an arrow runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Straight down (or up) the column.
    Straight,
    /// By a track to the right of this column.
    Gutter(usize, Side, Side),
}

/// Everything that is known about places before the height of the title is.
struct Layout<'a> {
    diagram: &'a Diagram,
    /// Top and height of each row, from the first one.
    rows: Vec<(i32, i32)>,
    ways: Vec<Way>,
    /// Where the ends of each arrow are, by height.
    ends: Vec<(i32, i32)>,
    track: Vec<usize>,
    lane: Vec<usize>,
    /// Left and width of each column's boxes.
    boxes: Vec<(i32, i32)>,
    /// Where the tracks right of each column begin.
    gutters: Vec<i32>,
    width: i32,
    /// Where the first row is.
    top: i32,
}

/// Draws it.
pub(crate) fn draw(diagram: &Diagram) -> Scene {
    let mut layout = Layout {
        diagram,
        rows: Vec::new(),
        ways: Vec::new(),
        ends: Vec::new(),
        track: Vec::new(),
        lane: Vec::new(),
        boxes: Vec::new(),
        gutters: Vec::new(),
        width: 0,
        top: 0,
    };
    layout.place_rows();
    layout.choose_ways();
    layout.choose_ends();
    layout.place_columns();
    layout.draw()
}

impl Layout<'_> {
    fn place_rows(&mut self) {
        let mut y = 0;
        for (index, row) in self.diagram.rows.iter().enumerate() {
            let of_row = self.diagram.nodes.iter().filter(|node| node.row == index);
            let height = match row {
                // The lines of the text are known once the width is.
                Row::Across(..) => LOW,
                Row::Node(_) => of_row.map(node_height).max().unwrap_or(LOW),
            };
            self.rows.push((y, height));
            y += height + ROW_GAP;
        }
    }

    fn choose_ways(&mut self) {
        let nodes = &self.diagram.nodes;
        let mut straight: Vec<(usize, usize)> = Vec::new();
        for link in &self.diagram.links {
            let (from, to) = (&nodes[link.from], &nodes[link.to]);
            let (a, b) = (from.column, to.column);
            let low = from.row.min(to.row);
            let high = from.row.max(to.row);
            let free = !nodes
                .iter()
                .any(|n| n.column == a && low < n.row && n.row < high);
            let pair = (link.from.min(link.to), link.from.max(link.to));
            let way = if a == b && free && low != high && !straight.contains(&pair) {
                straight.push(pair);
                Way::Straight
            } else if a == b {
                Way::Gutter(a, Side::Right, Side::Right)
            } else if a < b {
                Way::Gutter(b - 1, Side::Right, Side::Left)
            } else {
                Way::Gutter(b, Side::Left, Side::Right)
            };
            self.ways.push(way);
        }
    }

    /// Spreads the ends of arrows over the sides of the boxes.
    fn choose_ends(&mut self) {
        let diagram = self.diagram;
        self.ends = vec![(0, 0); diagram.links.len()];
        for (index, node) in diagram.nodes.iter().enumerate() {
            let (top, height) = (self.rows[node.row].0, node_height(node));
            for side in [Side::Left, Side::Right] {
                let mut here: Vec<(usize, usize, bool)> = Vec::new();
                for (number, link) in diagram.links.iter().enumerate() {
                    let Way::Gutter(_, leaves, enters) = self.ways[number] else {
                        continue;
                    };
                    if link.from == index && leaves == side {
                        here.push((diagram.nodes[link.to].row, number, true));
                    }
                    if link.to == index && enters == side {
                        here.push((diagram.nodes[link.from].row, number, false));
                    }
                }
                here.sort_unstable();
                let count = here.len() as i32;
                for (at, (_, number, leaves)) in here.into_iter().enumerate() {
                    let y = top + height * (at as i32 + 1) / (count + 1);
                    match leaves {
                        true => self.ends[number].0 = y,
                        false => self.ends[number].1 = y,
                    }
                }
            }
        }
    }

    fn place_columns(&mut self) {
        let diagram = self.diagram;
        // Which lane a store waits in: the innermost that is free.
        let mut lanes_of = vec![0; diagram.columns.len()];
        self.lane = vec![0; diagram.lanes.len()];
        for (column, count) in lanes_of.iter_mut().enumerate() {
            let here: Vec<usize> = (0..diagram.lanes.len())
                .filter(|&l| diagram.nodes[diagram.lanes[l].from].column == column)
                .collect();
            let intervals: Vec<(i32, i32)> = here
                .iter()
                .map(|&l| {
                    let lane = &diagram.lanes[l];
                    let begin = diagram.nodes[lane.from].row as i32;
                    let end = lane
                        .to
                        .map_or(diagram.rows.len(), |to| diagram.nodes[to].row);
                    (begin, end as i32)
                })
                .collect();
            let (of, used) = tracks(&intervals, 0, MOST_LANES);
            for (&lane, track) in here.iter().zip(of) {
                self.lane[lane] = track;
            }
            *count = used;
        }
        let mut tracks_of = Vec::new();
        self.track = vec![0; diagram.links.len()];
        for column in 0..diagram.columns.len() {
            let here: Vec<usize> = (0..diagram.links.len())
                .filter(|&l| matches!(self.ways[l], Way::Gutter(c, ..) if c == column))
                .collect();
            let intervals: Vec<(i32, i32)> = here
                .iter()
                .map(|&l| {
                    let (a, b) = self.ends[l];
                    (a.min(b), a.max(b))
                })
                .collect();
            let (of, used) = tracks(&intervals, 4, MOST_TRACKS);
            for (&link, track) in here.iter().zip(of) {
                self.track[link] = track;
            }
            tracks_of.push(used as i32);
        }
        let step = |row: &Row| match row {
            Row::Node(step) => Words::Step.width(step),
            Row::Across(..) => 0,
        };
        let steps = diagram.rows.iter().map(step).max().unwrap_or(0);
        let mut x = MARGIN + steps + 16;
        let last = diagram.columns.len().saturating_sub(1);
        for (column, name) in diagram.columns.iter().enumerate() {
            if lanes_of[column] > 0 {
                x += lanes_of[column] as i32 * LANE + 8;
            }
            let of_column = diagram.nodes.iter().filter(|n| n.column == column);
            let widest = of_column.map(node_width).max().unwrap_or(0);
            let width = widest.max(Words::Head.width(name) + 2 * PADDING).max(110);
            self.boxes.push((x, width));
            x += width;
            self.gutters.push(x + BESIDE);
            let tracks = tracks_of[column];
            x += match (tracks, column == last) {
                (0, true) => 0,
                (0, false) => 36,
                _ => 2 * BESIDE + (tracks - 1) * TRACK,
            };
        }
        self.width = (x + MARGIN).max(NARROWEST);
        // Few columns stand in the middle.
        let spare = (self.width - x - MARGIN) / 2;
        for (x, _) in &mut self.boxes {
            *x += spare;
        }
        for x in &mut self.gutters {
            *x += spare;
        }
    }

    fn rect(&self, index: usize) -> Rect {
        let node = &self.diagram.nodes[index];
        let (x, width) = self.boxes[node.column];
        let mut rect = Rect {
            x,
            y: self.top + self.rows[node.row].0,
            width,
            height: node_height(node),
        };
        // A store that leaves the buffer: its box reaches out to where it waited.
        if let Some(lane) = self.diagram.lanes.iter().position(|l| l.to == Some(index)) {
            let left = self.lane_x(lane) - 10;
            rect.width += rect.x - left;
            rect.x = left;
        }
        rect
    }

    fn lane_x(&self, lane: usize) -> i32 {
        let node = &self.diagram.nodes[self.diagram.lanes[lane].from];
        self.boxes[node.column].0 - 12 - self.lane[lane] as i32 * LANE
    }

    fn spine_x(&self, column: usize) -> i32 {
        let (x, width) = self.boxes[column];
        x + width / 2
    }

    /// The points of an arrow.
    fn points(&self, number: usize) -> Vec<(i32, i32)> {
        let link = &self.diagram.links[number];
        let (from, to) = (self.rect(link.from), self.rect(link.to));
        match self.ways[number] {
            Way::Straight => {
                let x = self.spine_x(self.diagram.nodes[link.from].column);
                match from.y < to.y {
                    true => vec![(x, from.bottom()), (x, to.y)],
                    false => vec![(x, from.y), (x, to.bottom())],
                }
            }
            Way::Gutter(gutter, leaves, enters) => {
                let x = self.gutters[gutter] + self.track[number] as i32 * TRACK;
                let side = |rect: &Rect, side: Side| match side {
                    Side::Left => rect.x,
                    Side::Right => rect.right(),
                };
                let (y1, y2) = self.ends[number];
                let (y1, y2) = (self.top + y1, self.top + y2);
                vec![
                    (side(&from, leaves), y1),
                    (x, y1),
                    (x, y2),
                    (side(&to, enters), y2),
                ]
            }
        }
    }

    fn draw(&mut self) -> Scene {
        let diagram = self.diagram;
        let inner = self.width - 2 * MARGIN;
        let mut scene = Scene {
            width: self.width,
            title: diagram.title.clone(),
            description: diagram.captions.join(" "),
            ..Scene::default()
        };
        scene.frame(
            Rect {
                x: 0,
                y: 0,
                width: 0,
                height: 0,
            },
            Frame::Ground,
        );
        let mut y = MARGIN;
        y = paragraph(&mut scene, y, inner, Words::Title, &diagram.title);
        for caption in &diagram.captions {
            y = paragraph(&mut scene, y, inner, Words::Caption, caption);
        }
        y += 12;
        self.heads(&mut scene, y);
        self.top = y + HEAD + ROW_GAP;
        self.grow_rows(inner);
        self.bands(&mut scene);
        self.spines(&mut scene, y + HEAD);
        for &(first, last) in &diagram.blocks {
            let (first, last) = (self.rect(first), self.rect(last));
            let height = last.bottom() - first.y;
            let rect = Rect { height, ..first }.grown(6);
            scene.frame(rect, Frame::Block);
        }
        self.lanes(&mut scene);
        for index in 0..diagram.nodes.len() {
            self.node(&mut scene, index);
        }
        self.links(&mut scene);
        let bottom = self.rows.last().map_or(0, |(y, height)| y + height);
        let y = self.legend(&mut scene, self.top + bottom + ROW_GAP + 8);
        scene.height = y + MARGIN;
        if let Some(Piece::Frame { rect, .. }) = scene.pieces.first_mut() {
            (rect.width, rect.height) = (scene.width, scene.height);
        }
        scene
    }

    /// Rows across all columns take as many lines as their text needs. Only the last row of a run has a long one.
    fn grow_rows(&mut self, inner: i32) {
        let mut more = 0;
        for (index, row) in self.diagram.rows.iter().enumerate() {
            self.rows[index].0 += more;
            if let Row::Across(_, text) = row {
                let lines = wrap(text, Words::Caption.columns(inner - 24)).len() as i32;
                let extra = (lines.max(1) - 1) * 19;
                self.rows[index].1 += extra;
                debug_assert!(extra == 0 || index + 1 == self.diagram.rows.len());
                more += extra;
            }
        }
    }

    fn heads(&self, scene: &mut Scene, y: i32) {
        for (name, &(x, width)) in self.diagram.columns.iter().zip(&self.boxes) {
            let rect = Rect {
                x,
                y,
                width,
                height: HEAD,
            };
            scene.frame(rect, Frame::Head);
            scene.text(rect.middle(), Anchor::Middle, Words::Head, name.clone());
        }
    }

    fn bands(&self, scene: &mut Scene) {
        for (index, row) in self.diagram.rows.iter().enumerate() {
            let (y, height) = (self.top + self.rows[index].0, self.rows[index].1);
            let band = Rect {
                x: MARGIN / 2,
                y: y - ROW_GAP / 2,
                width: self.width - MARGIN,
                height: height + ROW_GAP,
            };
            if index % 2 == 0 && matches!(row, Row::Node(_)) {
                scene.frame(band, Frame::Band);
            }
        }
        for (index, row) in self.diagram.rows.iter().enumerate() {
            let (y, height) = (self.top + self.rows[index].0, self.rows[index].1);
            match row {
                Row::Node(step) => {
                    scene.text(
                        (MARGIN, y + height / 2),
                        Anchor::Start,
                        Words::Step,
                        step.clone(),
                    );
                }
                Row::Across(frame, text) => {
                    let rect = Rect {
                        x: MARGIN,
                        y,
                        width: self.width - 2 * MARGIN,
                        height,
                    };
                    scene.frame(rect, *frame);
                    let lines = wrap(text, Words::Caption.columns(rect.width - 24));
                    for (at, line) in lines.into_iter().enumerate() {
                        let y = y + LOW / 2 + at as i32 * 19;
                        scene.text((rect.x + 12, y), Anchor::Start, Words::Caption, line);
                    }
                }
            }
        }
    }

    fn spines(&self, scene: &mut Scene, from: i32) {
        for column in 0..self.diagram.columns.len() {
            let of_column = self.diagram.nodes.iter().filter(|n| n.column == column);
            if let Some(last) = of_column.map(|n| n.row).max() {
                let x = self.spine_x(column);
                scene.pieces.push(Piece::Spine {
                    from: (x, from),
                    to: (x, self.top + self.rows[last].0),
                });
            }
        }
    }

    fn lanes(&self, scene: &mut Scene) {
        for (number, lane) in self.diagram.lanes.iter().enumerate() {
            let from = self.rect(lane.from);
            let x = self.lane_x(number);
            let y = from.bottom() - 9;
            let end = match lane.to {
                Some(to) => self.rect(to).y,
                None => {
                    let (y, height) = self.rows.last().copied().unwrap_or_default();
                    self.top + y + height
                }
            };
            scene.pieces.push(Piece::Wait {
                points: vec![(from.x, y), (x, y), (x, end)],
                bold: lane.bold,
                ends: lane.to.is_some(),
            });
        }
    }

    fn node(&self, scene: &mut Scene, index: usize) {
        let node = &self.diagram.nodes[index];
        let rect = self.rect(index);
        let (left, _) = self.boxes[node.column];
        scene.pieces.push(Piece::Open { steps: node.steps });
        scene.frame(rect, node.frame);
        let mut x = left + PADDING;
        let (first, second) = match (node.code.is_empty(), node.effect.is_empty()) {
            (false, false) => (rect.y + 14, rect.y + 32),
            _ => (rect.middle().1, rect.middle().1),
        };
        if !node.code.is_empty() {
            scene.text((x, first), Anchor::Start, Words::Line, node.line.clone());
            if !node.line.is_empty() {
                x += Words::Line.width(&node.line) + AFTER_LINE;
            }
            scene.text((x, first), Anchor::Start, Words::Code, node.code.clone());
        }
        scene.text(
            (x, second),
            Anchor::Start,
            Words::Effect,
            node.effect.clone(),
        );
        if let Some((frame, text)) = &node.badge {
            let width = Words::Badge.width(text);
            let y = if node.effect.is_empty() {
                first
            } else {
                second
            };
            let ground = Rect {
                x: rect.right() - PADDING - width - 4,
                y: y - 8,
                width: width + 8,
                height: 16,
            };
            scene.frame(ground, *frame);
            scene.text(ground.middle(), Anchor::Middle, Words::Badge, text.clone());
        }
        scene.pieces.push(Piece::Close);
    }

    fn links(&self, scene: &mut Scene) {
        let all: Vec<Vec<(i32, i32)>> = (0..self.diagram.links.len())
            .map(|number| self.points(number))
            .collect();
        for bold in [false, true] {
            for (link, points) in self.diagram.links.iter().zip(&all) {
                if link.bold == bold {
                    scene.pieces.push(Piece::Arrow {
                        points: points.clone(),
                        ink: link.ink,
                        bold,
                        both: link.both,
                    });
                }
            }
        }
        let mut taken: Vec<Rect> = (0..self.diagram.nodes.len())
            .map(|index| self.rect(index))
            .collect();
        taken.extend(scene.texts().map(|(rect, _)| rect));
        // Names of bold arrows find their places first.
        for bold in [true, false] {
            for (number, link) in self.diagram.links.iter().enumerate() {
                if link.bold == bold
                    && let Some(at) = self.name_place(number, &all, &taken)
                {
                    let name = link.ink.names().0;
                    let words = Words::Arrow(link.ink);
                    let rect = text_rect(at, Anchor::Middle, words, name);
                    taken.push(rect.grown(2));
                    scene.frame(rect.grown(1), Frame::Blank);
                    scene.text(at, Anchor::Middle, words, name);
                }
            }
        }
    }

    /// Where the name of an arrow goes: on the way up or down, where it covers no other text and, if that can be, no other line.
    fn name_place(
        &self,
        number: usize,
        all: &[Vec<(i32, i32)>],
        taken: &[Rect],
    ) -> Option<(i32, i32)> {
        let link = &self.diagram.links[number];
        let name = link.ink.names().0;
        if name.is_empty() {
            return None;
        }
        let points = &all[number];
        let words = Words::Arrow(link.ink);
        let room = |at| text_rect(at, Anchor::Middle, words, name).grown(1);
        let (a, b, x) = match points[..] {
            [(x, a), (_, b)] => (a, b, x + words.width(name) / 2 + 7),
            [_, (x, a), (_, b), _] => (a, b, x),
            _ => return None,
        };
        let (low, high) = (a.min(b), a.max(b));
        let middle = (low + high) / 2;
        let mut places: Vec<(i32, i32)> = Vec::new();
        let mut away = 0;
        while middle - away >= low || places.is_empty() {
            places.push((x, middle - away));
            places.push((x, middle + away));
            away += 3;
        }
        // Where there is no room on the way, along the rows.
        if let [(x1, y1), (x2, _), (_, y2), (x3, _)] = points[..] {
            for (from, to, y) in [(x1, x2, y1), (x3, x2, y2)] {
                let half = words.width(name) / 2 + 4;
                let along = (from.min(to) + half..=from.max(to) - half).step_by(8);
                places.extend(along.map(|x| (x, y)));
            }
        }
        let crossed = |rect: &Rect| {
            let others = all.iter().enumerate().filter(|(n, _)| *n != number);
            others
                .flat_map(|(_, points)| points.windows(2))
                .filter(|pair| segment(pair[0], pair[1]).overlaps(rect))
                .count()
        };
        places
            .into_iter()
            .filter(|&at| !taken.iter().any(|rect| rect.overlaps(&room(at))))
            .min_by_key(|&at| crossed(&room(at)))
    }

    fn legend(&self, scene: &mut Scene, top: i32) -> i32 {
        let mut inks: Vec<Ink> = self.diagram.links.iter().map(|link| link.ink).collect();
        inks.sort_unstable();
        inks.dedup();
        let (mut x, mut y) = (MARGIN, top);
        let height = 22;
        // Each entry moves on to the next line where it does not fit.
        let mut room = |width: i32| {
            if x > MARGIN && x + width > self.width - MARGIN {
                (x, y) = (MARGIN, y + height);
            }
            let at = (x, y);
            x += width + 22;
            at
        };
        let mut entries = Vec::new();
        for ink in inks {
            let (name, meaning) = ink.names();
            let text = format!("{name}: {meaning}");
            let at = room(48 + Words::Legend.width(&text));
            let both = ink == Ink::Race;
            entries.push(Piece::Arrow {
                points: vec![at, (at.0 + 40, at.1)],
                ink,
                bold: false,
                both,
            });
            entries.push(legend_text((at.0 + 48, at.1), text));
        }
        if !self.diagram.lanes.is_empty() {
            let text = "a store waits in its buffer, where only its own thread sees it";
            let at = room(48 + Words::Legend.width(text));
            entries.push(Piece::Wait {
                points: vec![at, (at.0 + 40, at.1)],
                bold: false,
                ends: true,
            });
            entries.push(legend_text((at.0 + 48, at.1), text));
        }
        for (frame, word, meaning) in &self.diagram.legend {
            let sample = match frame {
                Some(_) => Words::Badge.width(word) + 8,
                None => 0,
            };
            let gap = if sample > 0 { 8 } else { 0 };
            let at = room(sample + gap + Words::Legend.width(meaning));
            if let Some(frame) = frame {
                let rect = Rect {
                    x: at.0,
                    y: at.1 - 8,
                    width: sample,
                    height: 16,
                };
                entries.push(Piece::Frame {
                    rect,
                    frame: *frame,
                });
                if !word.is_empty() {
                    entries.push(Piece::Text {
                        at: rect.middle(),
                        anchor: Anchor::Middle,
                        words: Words::Badge,
                        text: word.clone(),
                    });
                }
            }
            entries.push(legend_text((at.0 + sample + gap, at.1), meaning.clone()));
        }
        let empty = entries.is_empty();
        scene.pieces.extend(entries);
        if empty { top - height } else { y }
    }
}

fn legend_text(at: (i32, i32), text: impl Into<String>) -> Piece {
    Piece::Text {
        at,
        anchor: Anchor::Start,
        words: Words::Legend,
        text: text.into(),
    }
}

/// A piece of a line as a rectangle.
fn segment(a: (i32, i32), b: (i32, i32)) -> Rect {
    Rect {
        x: a.0.min(b.0),
        y: a.1.min(b.1),
        width: (a.0 - b.0).abs(),
        height: (a.1 - b.1).abs(),
    }
    .grown(1)
}

fn node_height(node: &Node) -> i32 {
    match node.code.is_empty() || node.effect.is_empty() {
        true => LOW,
        false => TALL,
    }
}

fn node_width(node: &Node) -> i32 {
    let line = match node.line.is_empty() || node.code.is_empty() {
        true => 0,
        false => Words::Line.width(&node.line) + AFTER_LINE,
    };
    let badge = node
        .badge
        .as_ref()
        .map_or(0, |(_, text)| Words::Badge.width(text) + 16);
    let (code, effect) = (
        Words::Code.width(&node.code),
        Words::Effect.width(&node.effect),
    );
    let text = match node.effect.is_empty() {
        true => code + badge,
        false => code.max(effect + badge),
    };
    line + text + 2 * PADDING
}

/// Lines of text below each other; returns where the next may stand.
fn paragraph(scene: &mut Scene, mut y: i32, width: i32, words: Words, text: &str) -> i32 {
    let columns = words.columns(width);
    for line in wrap(text, columns) {
        let line = cut(&line, columns);
        let step = words.size() + 7;
        scene.text((MARGIN, y + step / 2), Anchor::Start, words, line);
        y += step;
    }
    y
}
