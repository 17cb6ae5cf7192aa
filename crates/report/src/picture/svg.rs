//! A picture as SVG: one file, no scripts, nothing fetched, light or dark as the reader's system is.

use super::scene::{Anchor, Piece, Scene, Words};
use std::fmt::Write;

/// How pieces look, with the names of colours after `$`. `hot` is what the cycle or the pattern speaks of; `now` is set by the player of
/// a report.
const STYLE: &str = include_str!("style.css");

/// The colours on a light and on a dark ground. Variables of CSS would do the same, but not every program that draws SVG knows them.
const COLOURS: &[(&str, &str, &str)] = &[
    ("ground", "#fff", "#14171c"),
    ("band", "#f6f7f9", "#1a1e25"),
    ("ink", "#1b1f24", "#e7eaee"),
    ("faint", "#6a737d", "#9aa4b1"),
    ("line", "#9aa4b1", "#59636e"),
    ("box", "#fff", "#20252d"),
    ("head", "#e8ecf1", "#2b323c"),
    ("hotbox", "#fff7e0", "#3a3113"),
    ("po", "#24292f", "#f0f3f6"),
    ("rf", "#c4162a", "#ff7b86"),
    ("co", "#1f5fd0", "#79b0ff"),
    ("fr", "#b35900", "#ffb057"),
    ("race", "#8a2be2", "#d3a2ff"),
    ("wait", "#7a5c00", "#f2c94c"),
    ("bed", "#f3e2ae", "#4d4015"),
    ("warn", "#b00020", "#ff8a94"),
    ("warntext", "#fff", "#14171c"),
    ("end", "#fdecec", "#3b1f22"),
];

/// The style sheet of every picture: light, and dark where the reader's system is.
pub(crate) fn style() -> String {
    let coloured = |dark: bool| {
        let mut text = String::new();
        for line in STYLE.lines().filter(|line| !dark || line.contains('$')) {
            let mut parts = line.split('$');
            text.push_str(parts.next().unwrap_or(""));
            for part in parts {
                let end = part.find(|c: char| !c.is_ascii_alphabetic());
                let (name, rest) = part.split_at(end.unwrap_or(part.len()));
                let colour = COLOURS.iter().find(|(n, ..)| *n == name);
                text.push_str(colour.map_or("inherit", |c| if dark { c.2 } else { c.1 }));
                text.push_str(rest);
            }
            text.push('\n');
        }
        text
    };
    format!(
        "\n{}@media (prefers-color-scheme:dark){{\n{}}}\n",
        coloured(false),
        coloured(true)
    )
}

/// A page around a picture has its ground, so that no edge is seen.
pub(crate) fn ground_of_page() -> String {
    let ground = COLOURS.iter().find(|(name, ..)| *name == "ground");
    let (light, dark) = ground.map_or(("#fff", "#000"), |(_, light, dark)| (*light, *dark));
    format!(
        "html{{background:{light}}}@media (prefers-color-scheme:dark){{html{{background:{dark}}}}}"
    )
}

/// The picture as a document of its own.
pub(crate) fn document(scene: &Scene) -> String {
    let style = format!("<style>{}</style>\n", style());
    element(scene, &style)
}

/// The picture as part of a page that has the [`style`].
pub(crate) fn inline(scene: &Scene) -> String {
    element(scene, "")
}

fn element(scene: &Scene, style: &str) -> String {
    let mut out = String::new();
    let (width, height) = (scene.width, scene.height);
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"palisade\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">"
    );
    let _ = writeln!(out, "<title>{}</title>", escape(&scene.title));
    if !scene.description.is_empty() {
        let _ = writeln!(out, "<desc>{}</desc>", escape(&scene.description));
    }
    out.push_str(style);
    for piece in &scene.pieces {
        draw(piece, &mut out);
    }
    out.push_str("</svg>\n");
    out
}

fn draw(piece: &Piece, out: &mut String) {
    let _ = match piece {
        Piece::Frame { rect, frame } => {
            let radius = match frame.radius() {
                0 => String::new(),
                radius => format!(" rx=\"{}\"", radius.min(rect.height / 2)),
            };
            writeln!(
                out,
                "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{radius}/>",
                frame.class(),
                rect.x,
                rect.y,
                rect.width,
                rect.height
            )
        }
        Piece::Text {
            at,
            anchor,
            words,
            text,
        } => {
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
            };
            // The base line: letters stand about a third of their size below the middle.
            let y = at.1 + (words.size() * 35 + 50) / 100;
            writeln!(
                out,
                "<text class=\"{}\" x=\"{}\" y=\"{y}\"{anchor}>{}</text>",
                text_class(*words),
                at.0,
                escape(text)
            )
        }
        Piece::Arrow {
            points,
            ink,
            bold,
            both,
        } => {
            let class = format!("{}{}", ink.class(), if *bold { " hot" } else { "" });
            let size = if *bold { 9 } else { 7 };
            let mut heads = vec![head(points.iter().rev(), size)];
            if *both {
                heads.push(head(points.iter(), size));
            }
            writeln!(
                out,
                "<path class=\"arrow {class}\" d=\"{}\"/><path class=\"tip {class}\" d=\"{}\"/>",
                rounded(points, 8),
                heads.join("")
            )
        }
        Piece::Spine { from, to } => writeln!(
            out,
            "<path class=\"spine\" d=\"M{} {}L{} {}\"/>",
            from.0, from.1, to.0, to.1
        ),
        Piece::Wait { points, bold, ends } => {
            let hot = if *bold { " hot" } else { "" };
            let line = rounded(points, 6);
            let tip = match ends {
                true => format!(
                    "<path class=\"tip wait{hot}\" d=\"{}\"/>",
                    head(points.iter().rev(), 8)
                ),
                false => String::new(),
            };
            writeln!(
                out,
                "<path class=\"bed{hot}\" d=\"{line}\"/><path class=\"wait{hot}\" d=\"{line}\"/>{tip}"
            )
        }
        Piece::Open { steps } => writeln!(
            out,
            "<g class=\"event\" data-first=\"{}\" data-last=\"{}\">",
            steps.0, steps.1
        ),
        Piece::Close => writeln!(out, "</g>"),
    };
}

fn text_class(words: Words) -> String {
    match words {
        Words::Title => "title".to_owned(),
        Words::Caption => "caption".to_owned(),
        Words::Head => "headline".to_owned(),
        Words::Step => "number".to_owned(),
        Words::Line => "line".to_owned(),
        Words::Code => "code".to_owned(),
        Words::Effect => "effect".to_owned(),
        Words::Badge => "badge".to_owned(),
        Words::Arrow(ink) => format!("arrowname {}", ink.class()),
        Words::Legend => "legend".to_owned(),
    }
}

/// A line with round corners.
fn rounded(points: &[(i32, i32)], radius: i32) -> String {
    let mut out = String::new();
    for (index, &(x, y)) in points.iter().enumerate() {
        if index == 0 {
            let _ = write!(out, "M{x} {y}");
            continue;
        }
        let before = points[index - 1];
        let Some(&after) = points.get(index + 1) else {
            let _ = write!(out, "L{x} {y}");
            continue;
        };
        let reach = |other: (i32, i32)| {
            let length = (other.0 - x).abs() + (other.1 - y).abs();
            let by = radius.min(length / 2);
            (
                x + (other.0 - x).signum() * by,
                y + (other.1 - y).signum() * by,
            )
        };
        let (a, b) = (reach(before), reach(after));
        let _ = write!(out, "L{} {}Q{x} {y} {} {}", a.0, a.1, b.0, b.1);
    }
    out
}

/// A triangle at the first of the points, away from the next one. Lines are level or upright where they end.
fn head<'a>(mut points: impl Iterator<Item = &'a (i32, i32)>, size: i32) -> String {
    let (Some(&tip), Some(&next)) = (points.next(), points.next()) else {
        return String::new();
    };
    let (dx, dy) = ((next.0 - tip.0).signum(), (next.1 - tip.1).signum());
    let half = size / 2 + 1;
    let (x, y) = (tip.0 + dx * size, tip.1 + dy * size);
    format!(
        "M{} {}L{} {}L{} {}Z",
        tip.0,
        tip.1,
        x + dy * half,
        y + dx * half,
        x - dy * half,
        y - dx * half
    )
}

/// A text as XML takes it.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML has no way to write these.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(
            escape("</text><script>'\"&\u{1}"),
            "&lt;/text&gt;&lt;script&gt;&#39;&quot;&amp;\u{fffd}"
        );
    }

    #[test]
    fn heads_point_away_from_their_line() {
        assert_eq!(head([(10, 0), (0, 0)].iter(), 6), "M10 0L4 -4L4 4Z");
    }
}
