//! From text to [`Program`]: which front end reads which file.

use crate::expr::{Domain, Value};
use crate::program::{Copies, Language, Program, Thread};
use crate::source::{Diagnostic, Source};

/// What the caller knows beyond the text.
#[derive(Clone, Debug, Default)]
pub struct ParseOptions {
    /// The language, where the file's name does not tell it.
    pub language: Option<Language>,
    /// As if the program said `domain N;`. A program that says it itself must say the same.
    pub domain: Option<Value>,
}

/// A program, and what should be said about it all the same.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The program.
    pub program: Program,
    /// What looks like a mistake but is none.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a program. On failure, everything that is wrong with it.
pub fn parse(source: &Source, options: &ParseOptions) -> Result<Parsed, Vec<Diagnostic>> {
    let domain = match options.domain {
        None => None,
        Some(size) => Some(Domain::modulo(size).ok_or_else(|| {
            vec![Diagnostic::error(
                crate::source::Span::default(),
                format!("a domain of {size} values makes no sense: it must be at least 2"),
            )]
        })?),
    };
    let parsed = match options.language.unwrap_or_else(|| guess_language(source)) {
        Language::Pal => crate::pal::parse(source, domain),
        Language::Trencher => crate::trencher::parse(source, domain),
        Language::Tpl => crate::tpl::parse(source, domain),
        Language::Litmus => crate::litmus::parse(source, domain),
        Language::C => Err(vec![Diagnostic::error(
            crate::source::Span::default(),
            "a C program may include other files, and is not read as a text alone",
        )]),
        Language::Rust => Err(vec![Diagnostic::error(
            crate::source::Span::default(),
            "Rust is read by the compiler, which needs a file: it cannot be read from here",
        )]),
    }?;
    let nothing_runs = |thread: &Thread| thread.copies == Copies::Fixed(0);
    match parsed.program.threads.iter().all(nothing_runs) {
        true => Err(vec![no_thread(source)]),
        false => Ok(parsed),
    }
}

/// A text in which nothing runs: whatever is asked about it would hold.
fn no_thread(source: &Source) -> Diagnostic {
    let message = match source.text().trim().is_empty() {
        true => "there is no program here",
        false => "there is no thread in this program",
    };
    Diagnostic::error(crate::lex::end_of(source.text()), message).label("expected a thread")
}

/// The language by the file's extension, otherwise by a look at the contents.
pub fn guess_language(source: &Source) -> Language {
    let extension = source.name().rsplit_once('.').map(|(_, e)| e);
    match extension {
        Some("pal") => Language::Pal,
        Some("txt" | "trencher") => Language::Trencher,
        Some("tpl") => Language::Tpl,
        Some("litmus") => Language::Litmus,
        Some("c" | "i") => Language::C,
        Some("rs") => Language::Rust,
        _ => guess_by_contents(source.text()),
    }
}

fn guess_by_contents(text: &str) -> Language {
    let mut words = text
        .lines()
        .map(|line| line.split(['#']).next().unwrap_or("").trim())
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .flat_map(str::split_whitespace);
    match (words.next(), words.next(), words.next()) {
        (Some("X86" | "X86_64" | "C"), _, _) => Language::Litmus,
        (Some("max_value" | "global" | "track"), _, _) => Language::Tpl,
        (Some("memory_size"), _, _) => Language::Trencher,
        (Some("thread"), Some(name), Some(next))
            if !name.contains('{') && next != "{" && !next.starts_with('[') =>
        {
            Language::Trencher
        }
        _ => Language::Pal,
    }
}
