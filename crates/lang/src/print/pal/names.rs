//! Legal and distinct names.

use std::collections::HashSet;

/// Words that cannot be names, or would be confusing ones.
const RESERVED: [&str; 44] = [
    "const",
    "nonatomic",
    "shared",
    "fn",
    "thread",
    "never",
    "let",
    "bcas",
    "wait",
    "fence",
    "skip",
    "assume",
    "assert",
    "if",
    "else",
    "while",
    "loop",
    "break",
    "continue",
    "choose",
    "or",
    "atomic",
    "goto",
    "return",
    "me",
    "cas",
    "fadd",
    "xchg",
    "end",
    "deadlock",
    "select",
    "program",
    "domain",
    "load",
    "store",
    "relaxed",
    "acquire",
    "release",
    "acqrel",
    "seqcst",
    "true",
    "false",
    "null",
    "index",
];

/// The names that are taken.
#[derive(Clone, Default)]
pub(super) struct Names {
    taken: HashSet<String>,
    /// Where counting goes on for the names that are made up.
    next: usize,
}

impl Names {
    /// A name like `wanted` that is legal and was not given before; `prefix` is put before what does not begin like a name.
    pub fn fresh(&mut self, wanted: &str, prefix: &str) -> String {
        let mut name = legal(wanted, prefix);
        if self.taken.contains(&name) {
            let base = name
                .trim_end_matches(|c: char| c.is_ascii_digit())
                .to_string();
            let joint = if base.len() < name.len() || base.len() == 1 {
                ""
            } else {
                "_"
            };
            let mut number = match base.len() == 1 {
                true => self.next.max(1),
                false => 2,
            };
            loop {
                let candidate = format!("{base}{joint}{number}");
                number += 1;
                if !self.taken.contains(&candidate) {
                    name = candidate;
                    break;
                }
            }
            if base.len() == 1 {
                self.next = number;
            }
        }
        self.taken.insert(name.clone());
        name
    }
}

/// The name with everything that is not allowed replaced.
pub(super) fn legal(wanted: &str, prefix: &str) -> String {
    let mut name: String = wanted
        .chars()
        .filter(|c| *c != ']')
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let begins_well = name
        .chars()
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if !begins_well {
        name.insert_str(0, prefix);
    }
    if RESERVED.contains(&name.as_str()) {
        name.push('_');
    }
    name
}
