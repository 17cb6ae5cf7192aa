//! Programs, and what can be wrong with them.

use crate::read::{Reading, file_text, read};
use palisade_lang::{Diagnostic, Language, Source};
use palisade_memory::Witness;
use palisade_report::{Failure, Look, diagnostics, picture, text};
use std::fmt;
use std::path::Path;

/// A concurrent program: threads, and the memory that they share.
///
/// ```
/// use palisade::{Language, Program};
///
/// let program = Program::parse("shared x; thread t[2] { x = x + 1; }")?;
/// assert_eq!(program.threads(), ["t[0]", "t[1]"]);
///
/// // Other languages are named, or known by a file's name: see `Program::read`.
/// let automaton = "thread t initial q transition q r write 1 0 end";
/// let program = Program::parse_as(automaton, Language::Trencher)?;
/// assert_eq!(program.threads(), ["t"]);
/// # Ok::<(), palisade::NotAProgram>(())
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) inner: palisade_lang::Program,
    reading: Reading,
    warnings: Vec<Problem>,
}

impl Program {
    /// Reads a program in Palisade's own language.
    ///
    /// ```
    /// use palisade::Program;
    ///
    /// let wrong = Program::parse("shared flag;\nthread t { flga = 1; }").unwrap_err();
    /// assert_eq!((wrong.problems[0].line, wrong.problems[0].column), (2, 12));
    /// assert_eq!(wrong.problems[0].help.as_deref(), Some("did you mean `flag`?"));
    /// ```
    pub fn parse(text: &str) -> Result<Program, NotAProgram> {
        Program::parse_as(text, Language::Pal)
    }

    /// Reads a program in some language.
    pub fn parse_as(text: &str, language: Language) -> Result<Program, NotAProgram> {
        let reading = Reading {
            language: Some(language),
            ..Reading::default()
        };
        Program::parse_with("program", text, &reading)
    }

    /// Reads a program as the command reads the file of this name, with everything that can be said about how.
    ///
    /// ```
    /// use palisade::{Program, Reading};
    ///
    /// let text = "#include <stdatomic.h>\n#include <pthread.h>\natomic_int x;\n\
    ///     void *run(void *p) { x = N; return 0; }\n\
    ///     int main() { pthread_t t; pthread_create(&t, 0, run, 0); return 0; }";
    /// let defines = vec![("N".to_owned(), "1".to_owned())];
    /// let program = Program::parse_with("a.c", text, &Reading { defines, ..Reading::default() })?;
    /// assert_eq!(program.threads().len(), 1);
    /// # Ok::<(), palisade::NotAProgram>(())
    /// ```
    pub fn parse_with(name: &str, text: &str, reading: &Reading) -> Result<Program, NotAProgram> {
        let input = read(name, text.to_owned(), reading);
        let input = input
            .and_then(crate::Input::whole)
            .map_err(NotAProgram::new)?;
        Ok(Program {
            warnings: problems(&input.program.source, &input.warnings),
            inner: input.program,
            reading: reading.clone(),
        })
    }

    /// Reads a file. Its language follows from its name, or else from a look at its contents.
    ///
    /// ```no_run
    /// let program = palisade::Program::read("lock.pal")?;
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn read(
        path: impl AsRef<Path>,
    ) -> Result<Program, Box<dyn std::error::Error + Send + Sync>> {
        let path = path.as_ref();
        let text = file_text(path)?;
        let reading = Reading::default();
        Ok(Program::parse_with(
            &path.to_string_lossy(),
            &text,
            &reading,
        )?)
    }

    /// The same program with values taken modulo `size`, as if it said `domain size;`: for languages that cannot say it.
    ///
    /// ```
    /// use palisade::Program;
    ///
    /// let counter = Program::parse("shared x; thread t { loop { x = x + 1; } }")?;
    /// assert!(counter.with_domain(16).is_ok());
    /// assert!(counter.with_domain(1).is_err());
    /// # Ok::<(), palisade::NotAProgram>(())
    /// ```
    pub fn with_domain(&self, size: i64) -> Result<Program, NotAProgram> {
        let reading = Reading {
            language: Some(self.inner.language),
            domain: Some(size),
            ..self.reading.clone()
        };
        Program::parse_with(self.inner.source.name(), self.text(), &reading)
    }

    /// The program as the crates behind this one know it.
    pub fn inner(&self) -> &palisade_lang::Program {
        &self.inner
    }

    /// The text it was read from.
    pub fn text(&self) -> &str {
        self.inner.source.text()
    }

    /// The language it was written in.
    pub fn language(&self) -> Language {
        self.inner.language
    }

    /// The names of its threads, each copy by itself, as events name them.
    pub fn threads(&self) -> Vec<String> {
        let instances = self.inner.instances();
        instances.iter().map(|i| i.name.to_string()).collect()
    }

    /// What looks like a mistake in the text but is none.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// The same program in Palisade's own language, whatever it was written in.
    pub fn to_pal(&self) -> String {
        palisade_lang::print::to_pal(&self.inner)
    }

    /// A witness as the command prints it: the run in columns, one for each thread, and what is wrong with it in words.
    pub fn explain(&self, witness: &Witness) -> String {
        text::render_witness(witness, &self.inner, Look::PLAIN)
    }

    /// A witness as a picture: an SVG file of its own.
    pub fn picture(&self, witness: &Witness) -> String {
        picture::run(witness, &self.inner, self.inner.source.name()).svg()
    }

    /// Replays a witness by the rules of its memory model, with code that shares nothing with the search.
    ///
    /// ```
    /// use palisade::{Criterion, Model, Options, Program, Verdict, check};
    ///
    /// let program = Program::parse("shared x; thread p { x = 1; } thread q { assert x == 0; }")?;
    /// let answer = check(&program, &Options::new(Model::Sc, Criterion::Safe))?;
    /// let Verdict::Violated(mut witness) = answer.verdict else { panic!() };
    /// assert!(program.replay(&witness).is_ok());
    ///
    /// witness.events[0].value = Some(7);
    /// assert!(program.replay(&witness).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn replay(&self, witness: &Witness) -> Result<(), Invalid> {
        palisade_validate::validate(&self.inner, witness).map_err(|invalid| Invalid {
            event: invalid.event,
            message: invalid.to_string(),
        })
    }
}

fn problems(source: &Source, diagnostics: &[Diagnostic]) -> Vec<Problem> {
    let problem = |diagnostic: &Diagnostic| {
        let at = source.line_column(diagnostic.span.start);
        Problem {
            message: diagnostic.message.clone(),
            line: at.line,
            column: at.column,
            help: diagnostic.help.clone(),
        }
    };
    diagnostics.iter().map(problem).collect()
}

/// Something that is, or may be, wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// Where: the line, from 1 …
    pub line: u32,
    /// … and the column, from 1, in characters.
    pub column: u32,
    /// What would be right, or was probably meant.
    pub help: Option<String>,
}

/// The text is no program. Shown, it is what the command prints: each problem with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotAProgram {
    /// Everything that is wrong with it, where it has a place in the text.
    pub problems: Vec<Problem>,
    text: String,
}

impl NotAProgram {
    fn new(failure: Failure) -> NotAProgram {
        match &failure {
            Failure::Text(source, found) => NotAProgram {
                problems: problems(source, found),
                text: diagnostics::render(source, found, Look::PLAIN),
            },
            _ => NotAProgram {
                problems: Vec::new(),
                text: failure.reason(),
            },
        }
    }
}

impl fmt::Display for NotAProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.trim_end())
    }
}

impl std::error::Error for NotAProgram {}

/// The question cannot be asked about this program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// Why not.
    pub message: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

/// Why a witness is none.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Invalid {
    /// The first event that is wrong, by index, where it is one.
    pub event: Option<usize>,
    message: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Invalid {}
