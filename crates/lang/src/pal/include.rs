//! `include "other.pal";`: the tokens of the other file stand where the `include` stands, once.
//!
//! Names of files are relative to the file that includes them. [`source_with_includes`] puts
//! all of them into one [`Source`].

use std::collections::HashSet;

use crate::source::{MAX_SOURCE_BYTES, Source, Span};

use super::diagnostics::Diagnostics;
use super::lexer::{self, Tok, Token};

/// The files that a file includes, each as a path from where the first file's name leads.
pub(super) fn included_files(name: &str, text: &str) -> Vec<String> {
    let mut unsaid = Diagnostics::default();
    let tokens = lexer::tokens(text, 0..text.len(), &mut unsaid);
    includes(text, &tokens)
        .into_iter()
        .map(|at| path(name, file_name(text, &tokens[at + 1])))
        .collect()
}

/// More files than this are not included.
const MAX_FILES: usize = 1000;

/// A program with all that it includes. `read` gives the text of a file, or says why it cannot be had.
pub fn source_with_includes(
    name: &str,
    text: String,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Source {
    let mut others: Vec<(String, String)> = Vec::new();
    let mut missing: Vec<(String, String)> = Vec::new();
    let mut bytes = text.len();
    let mut wanted = included_files(name, &text);
    wanted.reverse();
    while let Some(file) = wanted.pop() {
        let is_file = |(known, _): &(String, String)| *known == file;
        if file == name || others.iter().any(is_file) || missing.iter().any(is_file) {
            continue;
        }
        if others.len() >= MAX_FILES {
            missing.push((file, format!("more than {MAX_FILES} files are included")));
            continue;
        }
        match read(&file) {
            Ok(text) if bytes + text.len() > MAX_SOURCE_BYTES / 4 => {
                missing.push((file, "all files together are too large".to_string()));
            }
            Ok(text) => {
                bytes += text.len();
                let mut more = included_files(&file, &text);
                more.reverse();
                wanted.extend(more);
                others.push((file, text));
            }
            Err(reason) => missing.push((file, format!("it {reason}"))),
        }
    }
    Source::of_files(name, text, others, missing)
}

/// The tokens of all files, in the order in which they are read.
pub(super) fn tokens(source: &Source, diagnostics: &mut Diagnostics) -> Vec<Token> {
    let text = source.whole_text();
    let mut files = Vec::new();
    for file in source.files() {
        let start = file.start as usize;
        files.push(lexer::tokens(
            text,
            start..start + file.text.len(),
            diagnostics,
        ));
    }
    let names: Vec<&str> = source.files().map(|file| file.name).collect();
    if names.len() == 1 && includes(text, &files[0]).is_empty() {
        return files.swap_remove(0);
    }
    let places: Vec<HashSet<usize>> = files
        .iter()
        .map(|tokens| includes(text, tokens).into_iter().collect())
        .collect();
    let mut all = Vec::new();
    let mut seen = vec![false; files.len()];
    seen[0] = true;
    // The files that are open, each with its next token.
    let mut open = vec![(0, 0)];
    while let Some((file, at)) = open.pop() {
        let tokens: &[Token] = &files[file];
        let Some(token) = tokens.get(at).filter(|token| token.kind != Tok::End) else {
            continue;
        };
        if !places[file].contains(&at) {
            all.push(*token);
            open.push((file, at + 1));
            continue;
        }
        let wanted = path(names[file], file_name(text, &tokens[at + 1]));
        let Some(other) = names.iter().position(|name| *name == wanted) else {
            // The parser says why.
            all.push(*token);
            open.push((file, at + 1));
            continue;
        };
        open.push((file, at + 3));
        if !std::mem::replace(&mut seen[other], true) {
            let named = files[other].len() > 3
                && file_name(text, &files[other][0]) == "program"
                && files[other][1].kind == Tok::Name
                && files[other][2].kind == Tok::Semicolon;
            open.push((other, if named { 3 } else { 0 }));
        }
    }
    all.extend(files[0].last());
    all
}

/// Why the file that is included at a place is not there.
pub(super) fn why_missing(source: &Source, name: &str, at: Span) -> String {
    let wanted = path(source.file_at(at.start).name, name);
    match source.why_missing(&wanted) {
        Some(reason) => reason.to_string(),
        None if source.file_named(&wanted).is_some() => {
            "an `include` stands outside of threads and functions, and ends with `;`".to_string()
        }
        None => "this text has no other files beside it".to_string(),
    }
}

/// Where `include "…";` stands outside of blocks: the index of its first token.
pub(super) fn includes(text: &str, tokens: &[Token]) -> Vec<usize> {
    let mut depth = 0_usize;
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Tok::OpenBrace => depth += 1,
            Tok::CloseBrace => depth = depth.saturating_sub(1),
            Tok::Name if depth == 0 && file_name(text, token) == "include" => {
                let kind = |ahead: usize| tokens.get(at + ahead).map(|t| t.kind);
                if kind(1) == Some(Tok::Text) && kind(2) == Some(Tok::Semicolon) {
                    found.push(at);
                }
            }
            _ => {}
        }
    }
    found
}

fn file_name<'a>(text: &'a str, token: &Token) -> &'a str {
    let range = token.span.start as usize..token.span.end as usize;
    text.get(range).unwrap_or("").trim_matches('"')
}

/// The path of a file that `from` includes, without `.` and, where possible, without `..`.
fn path(from: &str, name: &str) -> String {
    let mut parts: Vec<&str> = match name.starts_with('/') {
        true => vec![""],
        false => {
            let mut parts: Vec<&str> = from.split('/').collect();
            parts.pop();
            parts
        }
    };
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." if parts
                .last()
                .is_some_and(|last| !["", ".", ".."].contains(last)) =>
            {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_begin_where_the_including_file_is() {
        assert_eq!(path("a.pal", "b.pal"), "b.pal");
        assert_eq!(path("x/a.pal", "b.pal"), "x/b.pal");
        assert_eq!(path("x/a.pal", "./y/../b.pal"), "x/b.pal");
        assert_eq!(path("x/a.pal", "../b.pal"), "b.pal");
        assert_eq!(path("a.pal", "../b.pal"), "../b.pal");
        assert_eq!(path("../a.pal", "../b.pal"), "../../b.pal");
        assert_eq!(path("/x/a.pal", "/y/b.pal"), "/y/b.pal");
        assert_eq!(path("/a.pal", "../b.pal"), "/../b.pal");
    }

    #[test]
    fn only_items_are_includes() {
        let text = "include \"a\"; thread t { include \"b\"; } include \"c.pal\";";
        assert_eq!(included_files("d/x.pal", text), ["d/a", "d/c.pal"]);
    }
}
