//! `// expect tso robust: violated, fences 2`: a question about a program and the answer that it must get, in the program's own text.

use palisade_memory::{Criterion, Model};

/// One such line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Where it stands, from 1.
    pub line: u32,
    pub model: Model,
    pub criterion: Criterion,
    pub verdict: Expected,
    /// How many fences make the criterion hold.
    pub fences: Option<usize>,
    /// As if the program said `domain N;`.
    pub domain: Option<i64>,
    /// How many copies a violation with any number of threads has.
    pub copies: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    Holds,
    Violated,
    Unknown,
    /// The program cannot be analysed.
    Error,
}

impl Expected {
    pub fn name(self) -> &'static str {
        match self {
            Expected::Holds => "holds",
            Expected::Violated => "violated",
            Expected::Unknown => "unknown",
            Expected::Error => "error",
        }
    }
}

const CRITERIA: [Criterion; 7] = [
    Criterion::Safe,
    Criterion::Live,
    Criterion::Drf,
    Criterion::Trf,
    Criterion::Robust,
    Criterion::Persistent,
    Criterion::Observational,
];

/// The expectations of a text; those that cannot be read with their line and what is wrong.
pub fn expectations(text: &str) -> Vec<Result<Expectation, (u32, String)>> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let comment = ["//", "#", "(*"]
            .into_iter()
            .find_map(|sign| line.strip_prefix(sign));
        let Some(rest) = comment.and_then(|c| c.trim_start().strip_prefix("expect ")) else {
            continue;
        };
        let rest = rest.trim_end().trim_end_matches("*)").trim();
        // Other sentences may begin with the same word.
        let Some((question, answer)) = rest.split_once(':') else {
            continue;
        };
        if question.split_whitespace().count() != 2 {
            continue;
        }
        let number = index as u32 + 1;
        found.push(read(number, question, answer).map_err(|why| (number, why)));
    }
    found
}

fn read(line: u32, question: &str, answer: &str) -> Result<Expectation, String> {
    let mut words = question.split_whitespace();
    let (model, criterion) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let mut models = Model::ALL.into_iter();
    let model = models
        .find(|m| m.name() == model)
        .ok_or_else(|| format!("there is no model `{model}`"))?;
    let mut criteria = CRITERIA.into_iter();
    let criterion = criteria
        .find(|c| c.name() == criterion)
        .ok_or_else(|| format!("there is no criterion `{criterion}`"))?;
    let mut parts = answer.split(',').map(str::trim);
    let verdict = match parts.next().unwrap_or("") {
        "holds" => Expected::Holds,
        "violated" => Expected::Violated,
        "unknown" => Expected::Unknown,
        "error" => Expected::Error,
        other => {
            return Err(format!(
                "`{other}` is no verdict: it is `holds`, `violated`, `unknown` or `error`"
            ));
        }
    };
    let mut expectation = Expectation {
        line,
        model,
        criterion,
        verdict,
        fences: None,
        domain: None,
        copies: None,
    };
    for part in parts {
        let wrong = || format!("`{part}` is none of `fences N`, `domain N` and `copies N`");
        let (what, number) = part.split_once(' ').ok_or_else(wrong)?;
        match what {
            "fences" => expectation.fences = Some(number.parse().map_err(|_| wrong())?),
            "domain" => expectation.domain = Some(number.parse().map_err(|_| wrong())?),
            "copies" => expectation.copies = Some(number.parse().map_err(|_| wrong())?),
            _ => return Err(wrong()),
        }
    }
    Ok(expectation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let text = "// expect tso robust: violated, fences 2, domain 4\n# expect c20 safe: holds\n// expect the worst: nothing\n\
            // expect that all is well\n  // expect sc drf: perhaps\n// expect tso roobust: holds\n// expect ra robust: violated, copies two\n";
        let found = expectations(text);
        assert_eq!(
            found[0],
            Ok(Expectation {
                line: 1,
                model: Model::Tso,
                criterion: Criterion::Robust,
                verdict: Expected::Violated,
                fences: Some(2),
                domain: Some(4),
                copies: None,
            })
        );
        assert!(
            found[1]
                .as_ref()
                .is_ok_and(|e| e.model == Model::C20 && e.line == 2)
        );
        let wrong: Vec<u32> = found
            .iter()
            .filter_map(|e| e.as_ref().err())
            .map(|e| e.0)
            .collect();
        assert_eq!(wrong, [3, 5, 6, 7]);
    }
}
