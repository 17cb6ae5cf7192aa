use super::*;
use palisade_check::{Control, Options, check};
use palisade_testkit::program;
use std::sync::atomic::AtomicBool;

fn page(text: &str, file: &str) -> String {
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: &cancel,
        progress: &|_| {},
    };
    let program = program(text);
    let answers = QUESTIONS
        .iter()
        .map(|&(model, criterion)| Asked {
            model,
            criterion,
            answer: check(&program, &Options::new(model, criterion), &control),
            fences: None,
        })
        .collect();
    let found = Found { program, answers };
    let pages = [FilePage {
        file: file.to_owned(),
        result: Ok(found),
    }];
    render(&pages, "0")
}

const SB: &str = "shared x, y;\nthread p { x = 1; let r = y; }\nthread q { y = 1; let r = x; }\n";

#[test]
fn a_page_has_everything() {
    let page = page(SB, "sb.pal");
    assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
    for part in [
        "✗ violated",
        "✓ holds",
        "<svg",
        "class=\"player\"",
        "\"buffers\":[[\"x = 1\"],[]]",
        "What it took",
    ] {
        assert!(page.contains(part), "no {part}");
    }
}

/// Nothing is fetched, and what the user wrote stays text.
#[test]
fn names_and_comments_are_text() {
    let text = format!("// <script>alert('comment')</script> <img src=x onerror=alert(1)>\n{SB}");
    let page = page(&text, "<script>alert('name')</script>\"'&.pal");
    assert!(!page.contains("<script>alert"));
    assert!(!page.contains("<img"));
    assert!(page.contains("&lt;script&gt;alert"));
    for fetched in ["http-equiv=\"refresh\"", "src=\"", "@import", "url("] {
        assert!(!page.contains(fetched), "{fetched}");
    }
    // The only address in it is the name of the language of pictures.
    for address in page.split("://").skip(1) {
        assert!(address.starts_with("www.w3.org/2000/svg"), "{address:.40}");
    }
}

#[test]
fn a_file_that_cannot_be_read_has_its_place() {
    let pages = [FilePage {
        file: "a.pal".to_owned(),
        result: Err(Failure::Message("no such <file>".to_owned())),
    }];
    let page = render(&pages, "0");
    assert!(page.contains("Not analysed") && page.contains("no such &lt;file&gt;"));
}
