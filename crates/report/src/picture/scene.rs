//! What a picture is made of, before a format is chosen: boxes, lines and texts at places that are fixed already.
//!
//! All measures are pixels. How wide a text will be depends on the reader's fonts, so widths here are estimates that err on the wide
//! side: two texts whose rectangles do not overlap here do not overlap on a screen.

use crate::look::width as cells;

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rect {
    pub x: i32,
    pub y: i32,
    pub width: i32,
    pub height: i32,
}

impl Rect {
    pub fn right(&self) -> i32 {
        self.x + self.width
    }

    pub fn bottom(&self) -> i32 {
        self.y + self.height
    }

    pub fn middle(&self) -> (i32, i32) {
        (self.x + self.width / 2, self.y + self.height / 2)
    }

    /// Whether the two have some area in common.
    pub fn overlaps(&self, other: &Rect) -> bool {
        self.x < other.right()
            && other.x < self.right()
            && self.y < other.bottom()
            && other.y < self.bottom()
    }

    /// So much larger on every side.
    pub fn grown(&self, by: i32) -> Rect {
        Rect {
            x: self.x - by,
            y: self.y - by,
            width: self.width + 2 * by,
            height: self.height + 2 * by,
        }
    }
}

/// What a text is; its size and look follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// The first line of the picture.
    Title,
    /// A sentence around the run.
    Caption,
    /// The name of a thread.
    Head,
    /// The number of a step.
    Step,
    /// The number of a source line.
    Line,
    /// The user's text.
    Code,
    /// What a step does.
    Effect,
    /// A word on a coloured ground.
    Badge,
    /// The name of an arrow.
    Arrow(Ink),
    /// In the legend.
    Legend,
}

impl Words {
    /// The size of the letters.
    pub fn size(self) -> i32 {
        match self {
            Words::Title => 17,
            Words::Head => 14,
            Words::Caption | Words::Code => 13,
            Words::Effect | Words::Legend | Words::Line | Words::Step => 12,
            Words::Badge | Words::Arrow(_) => 11,
        }
    }

    /// How wide a letter is, in hundredths of its size. Fixed-width fonts take at most 62; of the others the wide ones come near 60 on
    /// average for a sentence, and bold ones near 66.
    fn share(self) -> i32 {
        match self {
            Words::Title => 66,
            Words::Caption => 60,
            _ => 62,
        }
    }

    /// How wide a text can be, with the widest of the usual fonts.
    pub fn width(self, text: &str) -> i32 {
        let share = self.share();
        let columns = i32::try_from(cells(text)).unwrap_or(i32::MAX / 4096);
        (columns.min(i32::MAX / 4096) * self.size() * share + 99) / 100
    }

    /// How many columns of text fit.
    pub fn columns(self, width: i32) -> usize {
        let share = self.share();
        usize::try_from(width.max(0) * 100 / (self.size() * share)).unwrap_or(0)
    }
}

/// The colour and dashes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Ink {
    Po,
    Rf,
    Co,
    Fr,
    /// Synchronises-with.
    Sw,
    /// The order of seqcst events.
    Psc,
    /// Two accesses that nothing puts in order.
    Race,
    /// A way of control.
    Flow,
}

impl Ink {
    /// Its class in the style sheet.
    pub fn class(self) -> &'static str {
        match self {
            Ink::Po => "po",
            Ink::Rf => "rf",
            Ink::Co => "co",
            Ink::Fr => "fr",
            Ink::Race => "race",
            // They are not what is wrong: faint.
            Ink::Sw | Ink::Psc | Ink::Flow => "flow",
        }
    }

    /// What is written beside it, and what that means.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            Ink::Po => ("po", "program order"),
            Ink::Rf => ("rf", "reads-from"),
            Ink::Co => ("co", "order of the stores to a location"),
            Ink::Fr => ("fr", "reads from before the store"),
            Ink::Sw => (
                "sw",
                "synchronises-with: what is published is visible behind it",
            ),
            Ink::Psc => ("psc", "order of the seqcst events"),
            Ink::Race => ("race", "either could come first"),
            Ink::Flow => ("", "next"),
        }
    }
}

/// What a box is, and so how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// A step.
    Step,
    /// A step that the cycle or the pattern speaks of.
    Marked,
    /// A step that goes wrong.
    Wrong,
    /// A store that leaves the buffer.
    Flush,
    /// The same, in the cycle or the pattern.
    MarkedFlush,
    /// An `atomic` block, around its steps.
    Block,
    /// Every second row.
    Band,
    /// The ground of the picture.
    Ground,
    /// Behind the name of a thread.
    Head,
    /// Behind the name of an arrow, so that lines do not run through it.
    Blank,
    /// Behind a badge.
    Warning,
    /// Steps that are left out, or what happens at the end.
    Gap,
    End,
    /// A control point.
    Point,
    /// A control point where the thread ends.
    LastPoint,
}

impl Frame {
    /// Its class in the style sheet.
    pub fn class(self) -> &'static str {
        match self {
            Frame::Step => "step",
            Frame::Marked => "step hot",
            Frame::Wrong => "step hot wrong",
            Frame::Flush => "flush",
            Frame::MarkedFlush => "flush hot",
            Frame::Block => "block",
            Frame::Band => "band",
            Frame::Ground => "ground",
            Frame::Head => "head",
            Frame::Blank => "blank",
            Frame::Warning => "warning",
            Frame::Gap => "gap",
            Frame::End => "end",
            Frame::Point => "point",
            Frame::LastPoint => "point last",
        }
    }

    /// How round its corners are.
    pub fn radius(self) -> i32 {
        match self {
            Frame::Ground | Frame::Band => 0,
            Frame::Flush | Frame::MarkedFlush | Frame::Point | Frame::LastPoint => 13,
            Frame::Blank | Frame::Warning => 3,
            Frame::Block => 10,
            _ => 6,
        }
    }
}

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
}

/// A piece of a picture. Later pieces are drawn over earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Frame {
        rect: Rect,
        frame: Frame,
    },
    Text {
        /// Where it is held, on its middle line.
        at: (i32, i32),
        anchor: Anchor,
        words: Words,
        text: String,
    },
    /// A line through these points, with a head at its end.
    Arrow {
        points: Vec<(i32, i32)>,
        ink: Ink,
        bold: bool,
        /// Heads at both ends.
        both: bool,
    },
    /// The way of time of a thread.
    Spine {
        from: (i32, i32),
        to: (i32, i32),
    },
    /// A store that waits in a buffer.
    Wait {
        points: Vec<(i32, i32)>,
        bold: bool,
        /// Whether it comes to an end.
        ends: bool,
    },
    /// From here to [`Piece::Close`]: what belongs to these steps (from 0), so that a page can light them up.
    Open {
        steps: (usize, usize),
    },
    Close,
}

/// A picture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    pub width: i32,
    pub height: i32,
    /// The description for people who cannot see the picture.
    pub title: String,
    pub description: String,
    pub pieces: Vec<Piece>,
}

impl Scene {
    pub fn frame(&mut self, rect: Rect, frame: Frame) {
        self.pieces.push(Piece::Frame { rect, frame });
    }

    pub fn text(&mut self, at: (i32, i32), anchor: Anchor, words: Words, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.pieces.push(Piece::Text {
                at,
                anchor,
                words,
                text,
            });
        }
    }

    /// The rectangles of all texts.
    pub fn texts(&self) -> impl Iterator<Item = (Rect, &str)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text {
                at,
                anchor,
                words,
                text,
            } => Some((text_rect(*at, *anchor, *words, text), text.as_str())),
            _ => None,
        })
    }
}

/// The room that a text takes.
pub(crate) fn text_rect(at: (i32, i32), anchor: Anchor, words: Words, text: &str) -> Rect {
    let width = words.width(text);
    let height = words.size() + 2;
    let x = match anchor {
        Anchor::Start => at.0,
        Anchor::Middle => at.0 - width / 2,
    };
    Rect {
        x,
        y: at.1 - height / 2,
        width,
        height,
    }
}

/// Gives each interval a track so that those on one track do not touch; the shortest come first and so lie innermost. No more than
/// `most` tracks are used: beyond that, intervals share the last one.
pub(crate) fn tracks(intervals: &[(i32, i32)], margin: i32, most: usize) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..intervals.len()).collect();
    order.sort_by_key(|&i| (intervals[i].1 - intervals[i].0, intervals[i].0, i));
    let mut taken: Vec<Vec<(i32, i32)>> = Vec::new();
    let mut result = vec![0; intervals.len()];
    for index in order {
        let (low, high) = (intervals[index].0 - margin, intervals[index].1 + margin);
        let free = taken
            .iter()
            .position(|used| used.iter().all(|&(l, h)| h <= low || high <= l));
        let track = free.unwrap_or(taken.len()).min(most.saturating_sub(1));
        if track == taken.len() {
            taken.push(Vec::new());
        }
        taken[track].push((low, high));
        result[index] = track;
    }
    (result, taken.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_on_one_track_do_not_touch() {
        let (of, count) = tracks(&[(0, 100), (10, 20), (30, 40), (15, 35)], 1, 8);
        assert_eq!(count, 3);
        assert_eq!(of, [2, 0, 0, 1]);
    }

    #[test]
    fn wide_letters_take_two_columns() {
        assert_eq!(Words::Code.width("ab"), Words::Code.width("語"));
    }
}
