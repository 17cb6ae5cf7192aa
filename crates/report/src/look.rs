//! How text is to look.

use anstyle::{AnsiColor, Effects, Style};
use unicode_width::UnicodeWidthStr;

/// How text is to look: with colours or without, and how wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether colours are wanted.
    pub colour: bool,
    /// How many columns there are.
    pub width: usize,
    /// Whether it is said how an answer was found.
    pub verbose: bool,
    /// Whether it is read in a window, which breaks longer lines anywhere. In a file or a pipe a verdict is one line.
    pub window: bool,
}

/// What a piece of text is, and so how it is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Strong,
    Faint,
    Good,
    Bad,
    Doubt,
    Access,
}

impl Look {
    /// No colours, 100 columns: what a pipe gets.
    pub const PLAIN: Look = Look {
        colour: false,
        width: 100,
        verbose: false,
        window: false,
    };

    /// The text in its colour.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        if !self.colour || tone == Tone::Plain || text.is_empty() {
            return text.to_owned();
        }
        let colour = |c: AnsiColor| Style::new().fg_color(Some(c.into()));
        let style = match tone {
            Tone::Plain => Style::new(),
            Tone::Strong => Style::new().effects(Effects::BOLD),
            Tone::Faint => Style::new().effects(Effects::DIMMED),
            Tone::Good => colour(AnsiColor::Green).effects(Effects::BOLD),
            Tone::Bad => colour(AnsiColor::Red).effects(Effects::BOLD),
            Tone::Doubt => colour(AnsiColor::Yellow).effects(Effects::BOLD),
            Tone::Access => colour(AnsiColor::Cyan),
        };
        format!("{style}{text}{style:#}")
    }
}

/// How many columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The text cut to so many columns, with `…` where something is missing.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut result = String::new();
    let mut used = 0;
    for c in text.chars() {
        let w = width(c.encode_utf8(&mut [0; 4]));
        if used + w + 1 > columns {
            break;
        }
        used += w;
        result.push(c);
    }
    if columns > 0 {
        result.push('…');
    }
    result
}

/// The text filled with blanks to so many columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(blanks))
}

/// The text broken into lines of so many columns at blanks; a longer word stands alone.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && width(&line) + 1 + width(word) > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// The verdict about a file: a line; in a window as many as it takes, broken at blanks.
pub(crate) fn verdict_line(
    file: &str,
    tone: Tone,
    verdict: &str,
    what: &str,
    look: Look,
) -> String {
    let line = format!("{file}: {verdict}: {what}");
    if !look.window || width(&line) <= look.width {
        return format!("{file}: {}: {what}\n", look.paint(tone, verdict));
    }
    let mut out = format!("{file}: {}:", look.paint(tone, verdict));
    let mut used = width(file) + width(verdict) + 3;
    for word in what.split_whitespace() {
        if used + 1 + width(word) > look.width {
            out.push_str("\n ");
            used = 1;
        }
        out.push(' ');
        out.push_str(word);
        used += 1 + width(word);
    }
    out.push('\n');
    out
}

/// Control characters of the user's text would disturb the terminal: a tab becomes a blank, others become `�`.
pub(crate) fn harmless(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' => ' ',
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_counts_columns_not_bytes() {
        assert_eq!(cut("flag[0] = 1;", 20), "flag[0] = 1;");
        assert_eq!(cut("flag[0] = 1;", 6), "flag[…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn a_verdict_is_broken_between_words_in_a_window_alone() {
        let said = |file: &str, look: Look| {
            verdict_line(file, Tone::Good, "holds", "robust against TSO", look)
        };
        let narrow = Look {
            width: 25,
            ..Look::PLAIN
        };
        let window = Look {
            window: true,
            ..narrow
        };
        assert_eq!(said("a.pal", narrow), "a.pal: holds: robust against TSO\n");
        assert_eq!(said("a", window), "a: holds: robust against\n  TSO\n");
        let long = "a-name-that-is-long.pal";
        assert_eq!(
            said(long, window),
            format!("{long}: holds:\n  robust against TSO\n")
        );
    }

    #[test]
    fn wrapping_keeps_words_whole() {
        assert_eq!(wrap("a bb  ccc dddddddd", 6), ["a bb", "ccc", "dddddddd"]);
    }
}
