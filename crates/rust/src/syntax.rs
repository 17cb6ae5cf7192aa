//! Reading the source, within the stack.
//!
//! The parser of `syn` and everything that visits its trees recurses as deep as expressions, types and blocks are nested, also along chains such as `1 + 1 + …` and `else if`. A text that is nested
//! deeper than people write is refused before it is parsed: an overflow of the stack could not be caught.

use proc_macro2::Span;

/// So deep may a text be nested. A bracket counts as much as [`BRACKET`] links of a chain: it takes as many more calls.
const DEEPEST: usize = 4_000;
const BRACKET: usize = 8;

/// A file, if it is not nested too deeply.
pub fn parse_file(text: &str) -> syn::Result<syn::File> {
    if is_too_deep(text) {
        let message = "expressions, types or blocks are nested too deeply here to be read";
        return Err(syn::Error::new(Span::call_site(), message));
    }
    syn::parse_file(text)
}

/// Whether brackets, and what stands in a row between them without a comma or a semicolon, may be nested deeper than allowed. More than that is not known about the language here: texts
/// and comments count as if they were code, but for line comments.
fn is_too_deep(text: &str) -> bool {
    // For each bracket that is open: how long the chain in it is.
    let mut chains = vec![0];
    let mut depth = 0;
    // A statement begins behind these, and whatever chain there was has ended; but for `else`, and what goes on behind a block.
    let mut at_begin = true;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
            continue;
        }
        // A bracket as a character is none.
        if let [b'\'', _, b'\'', ..] = rest.as_bytes() {
            rest = &rest[3..];
            continue;
        }
        let mut end = c.len_utf8();
        let last = chains.len() - 1;
        match c {
            '(' | '[' | '{' => {
                chains.push(0);
                depth += BRACKET;
                at_begin = true;
            }
            ')' | ']' | '}' => {
                depth -= chains[last];
                match last {
                    0 => chains[0] = 0,
                    _ => {
                        chains.pop();
                        depth -= BRACKET;
                    }
                }
                at_begin = c == '}';
            }
            ';' | ',' => {
                depth -= std::mem::take(&mut chains[last]);
                at_begin = true;
            }
            _ if c.is_whitespace() => {}
            _ => {
                let is_word = |c: char| c.is_alphanumeric() || c == '_';
                if is_word(c) {
                    end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                }
                if at_begin && is_word(c) && &rest[..end] != "else" {
                    depth -= std::mem::take(&mut chains[last]);
                }
                at_begin = false;
                chains[last] += 1;
                depth += 1;
            }
        }
        if depth > DEEPEST {
            return true;
        }
        rest = &rest[end..];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nested_without_end_is_refused() {
        let deep = |open: &str, close: &str| {
            format!(
                "fn main() {{ let r = {}1{}; }}",
                open.repeat(50_000),
                close.repeat(50_000)
            )
        };
        let texts = [
            deep("(", ")"),
            deep("{", "}"),
            deep("-", ""),
            deep("&&", ""),
            deep("1 + ", ""),
            deep("(-", ")"),
            deep("return ", ""),
            deep("if ", "{1}"),
            deep("x.f().", ""),
            deep("[[", "]]"),
            deep("{let a = ", "}"),
            deep("if a { b; } else ", ""),
            format!(
                "fn f() -> {}u8{} {{}}",
                "Option<".repeat(50_000),
                ">".repeat(50_000)
            ),
            format!("fn f() -> {}u8 {{}}", "&".repeat(50_000)),
        ];
        for text in texts {
            assert!(is_too_deep(&text), "{}", &text[..60]);
        }
    }

    #[test]
    fn what_is_long_is_not() {
        let texts = [
            "fn f() -> u8 { a.b(c)?; if a { b } else { c } }\n".repeat(20_000),
            format!("static A: [u8; 50000] = [{}];", "1 + 2, ".repeat(50_000)),
            format!("fn f() {{ {} }}", "if a == b { c; }\n".repeat(20_000)),
            format!(
                "fn f() {{ match a {{ {} }} }}",
                "1 => { c; }\n".repeat(20_000)
            ),
            format!("{}fn f() {{}}", "// ((((((((((\n".repeat(20_000)),
        ];
        for text in texts {
            assert!(!is_too_deep(&text), "{}", &text[..60]);
        }
    }
}
