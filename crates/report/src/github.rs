//! Annotations of a GitHub workflow: one line for each thing to be said about a place, which GitHub shows beside it.

use crate::findings::{Finding, Level, findings, steps};
use crate::outcome::FileReport;

/// The lines for one FILE; none where there is nothing to be said.
pub fn annotations(report: &FileReport) -> String {
    findings(report)
        .iter()
        .map(|finding| annotation(&report.file, finding))
        .collect()
}

fn annotation(file: &str, finding: &Finding<'_>) -> String {
    let command = match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    let mut message = finding.message.clone();
    if let Some((witness, program)) = finding.run {
        for (at, (place, step)) in steps(witness, program).iter().enumerate() {
            let line = match &place.file {
                None => place.at.line.to_string(),
                Some(file) => format!("{} of {file}", place.at.line),
            };
            message.push_str(&format!("\n{}. line {line}: {step}", at + 1));
        }
    }
    let file = finding.place.file.as_deref().unwrap_or(file);
    format!(
        "::{command} file={},line={},col={},title={}::{}\n",
        property(file.strip_prefix("./").unwrap_or(file)),
        finding.place.at.line,
        finding.place.at.column,
        property(&finding.rule.title()),
        data(&message)
    )
}

/// A message, in one line.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property: what separates properties is escaped too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Criterion, Failure, Model, Question};
    use palisade_lang::{Diagnostic, Source, Span};

    fn report(file: &str, failure: Failure) -> FileReport {
        FileReport {
            file: file.to_owned(),
            model: Model::Tso,
            question: Question::Check(Criterion::Robust),
            program: None,
            result: Err(failure),
        }
    }

    #[test]
    fn nothing_breaks_out_of_its_line() {
        let source = Source::new("x", "ab\ncd\n");
        let problem = Diagnostic::error(Span::new(4, 5), "100%\r\n::error::not, this: one");
        let report = report("./a,b:c%\n.pal", Failure::Text(source, vec![problem]));
        assert_eq!(
            annotations(&report),
            "::error file=a%2Cb%3Ac%25%0A.pal,line=2,col=2,title=not a program::100%25%0D%0A::error::not, this: one\n"
        );
    }

    #[test]
    fn a_file_without_text_is_named_at_its_beginning() {
        let report = report("gone.pal", Failure::Message("cannot be read".to_owned()));
        assert_eq!(
            annotations(&report),
            "::error file=gone.pal,line=1,col=1,title=no answer::cannot be read\n"
        );
    }
}
