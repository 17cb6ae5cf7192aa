//! Certificates as files: written by `check --certificate`, read by `validate`.

use crate::args::InputArgs;
use crate::files::write_whole_with;
use crate::input::{self, is_stdin};
use crate::output::Output;
use palisade_certificate::{Header, NAME, Reader, Sorter, Unusable, encode, write};
use palisade_check::note::Note;
use palisade_check::{CERTIFIED, Control, NoCertificate, Options};
use palisade_lang::Program;
use palisade_memory::{Criterion, Model};
use palisade_report::{Answer, Status, Verdict};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;
use std::sync::Mutex;

/// Complains where there are no certificates for a question.
pub fn exists(model: Model, criterion: Criterion) -> Result<(), String> {
    if CERTIFIED.contains(&(model, criterion)) {
        return Ok(());
    }
    let known: Vec<String> = CERTIFIED
        .iter()
        .map(|(model, criterion)| format!("{} under {}", criterion.name(), model.name()))
        .collect();
    Err(format!(
        "there is no certificate for `{}` under `{}` yet; there is one for: {}",
        criterion.name(),
        model.name(),
        known.join(", ")
    ))
}

/// A certificate that is wanted.
pub struct Wanted<'a> {
    path: &'a Path,
    /// What went wrong, and what that means for the exit status.
    trouble: Mutex<Option<(Status, String)>>,
}

impl<'a> Wanted<'a> {
    /// What is wrong with wanting one.
    pub fn new(path: &'a Path, input: &InputArgs) -> Result<Self, String> {
        let files = input::expand(&input.files).len();
        if files != 1 {
            return Err(format!(
                "`--certificate` is about one program, so it needs one FILE; there are {files}"
            ));
        }
        Ok(Wanted {
            path,
            trouble: Mutex::new(None),
        })
    }

    /// Writes the certificate where the answer is that the criterion holds, and adds a note about it.
    pub fn write(
        &self,
        program: &Program,
        mut options: Options,
        control: &Control<'_>,
        answer: &mut Answer,
    ) {
        if answer.verdict != Verdict::Holds {
            let note = "no certificate is written: there is one only where the criterion holds";
            answer.notes.push(Note::Said(note.to_owned()));
            return;
        }
        // The limit is on the answer and the certificate together.
        options.timeout = options.timeout.map(|t| t.saturating_sub(answer.stats.wall));
        match write_certificate(self.path, program, &options, control) {
            Ok(states) => answer.notes.push(Note::Said(format!(
                "the certificate `{}` has {}; `palisade validate` checks it, with `--model {} --criterion {}`",
                self.path.display(),
                palisade_report::words::counted(states, "state", "states"),
                options.model.name(),
                options.criterion.name()
            ))),
            Err(NoCertificate::Refused(refusal)) => self.note(Status::Error, refusal.message),
            Err(NoCertificate::Unfinished(reason)) => self.note(
                Status::Unknown,
                format!("no certificate is written: in the walk without reductions {reason}"),
            ),
            Err(NoCertificate::Failed(error)) => self.note(
                Status::Error,
                format!("{}: cannot be written: {error}", self.path.display()),
            ),
        }
    }

    fn note(&self, status: Status, message: String) {
        *self.trouble.lock().unwrap_or_else(|e| e.into_inner()) = Some((status, message));
    }

    /// Complains where something went wrong, and says what that means.
    pub fn status(&self, output: &Output) -> Status {
        match &*self.trouble.lock().unwrap_or_else(|e| e.into_inner()) {
            None => Status::Holds,
            Some((status, message)) => {
                output.complain(message);
                *status
            }
        }
    }
}

/// Walks without reductions, and writes what it finds as a certificate; how many states it has.
pub fn write_certificate(
    path: &Path,
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<u64, NoCertificate> {
    let mut sorter = Sorter::default();
    let mut bytes = Vec::new();
    let claim = palisade_param::certificate(program, options, control, &mut |state| {
        bytes.clear();
        encode(state, &mut bytes);
        sorter.push(&bytes)
    })?;
    let header = Header::new(program, claim);
    let mut states = sorter.finish().map_err(NoCertificate::Failed)?;
    write_whole_with(path, |out| write(&header, &mut states, out)).map_err(NoCertificate::Failed)
}

/// The file, if it is a certificate. It is read twice, so what comes from a pipe is kept on disk.
pub fn certificate(path: &Path) -> Result<Option<File>, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let file = match is_stdin(path) {
        true => None,
        false => Some(File::open(path).map_err(unreadable)?),
    };
    let is_file = file
        .as_ref()
        .is_some_and(|f| f.metadata().is_ok_and(|m| m.is_file()));
    match file {
        Some(file) if is_file => {
            let mut reader = BufReader::new(file);
            let begins = reader.fill_buf().map_err(unreadable)?;
            let is_one = begins.starts_with(NAME.as_bytes());
            Ok(is_one.then(|| reader.into_inner()))
        }
        // A pipe can be looked into without taking anything from it only where it is standard input.
        Some(_) => Ok(None),
        None => {
            let mut stdin = std::io::stdin().lock();
            let begins = stdin.fill_buf().map_err(unreadable)?;
            if !begins.starts_with(NAME.as_bytes()) {
                return Ok(None);
            }
            let mut file = tempfile::tempfile().map_err(unreadable)?;
            std::io::copy(&mut stdin, &mut file).map_err(unreadable)?;
            Ok(Some(file))
        }
    }
}

/// Begins to read a certificate.
pub fn open(mut file: &File) -> Result<Reader<BufReader<&File>>, Unusable> {
    file.seek(SeekFrom::Start(0))?;
    Reader::new(BufReader::with_capacity(1 << 18, file))
}
