//! Checkpoints as files: `--checkpoint` and `--resume`.
//!
//! A file has a line each for what it is, the version, the program and the question; behind an empty line what
//! [`palisade_check::Checkpoints`] has written; and at the end a checksum of all that.

use crate::args::{CheckpointArgs, InputArgs};
use crate::input;
use palisade_check::{Checkpoints, Options};
use palisade_lang::Program;
use palisade_report::Failure;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const MAGIC: &str = "palisade checkpoint 1";
const DIGEST: usize = 32;

/// Checkpoints that are wanted.
pub struct Wanted<'a> {
    path: &'a Path,
    every: Duration,
    resume: Option<&'a Path>,
}

impl<'a> Wanted<'a> {
    /// What the flags say, or what is wrong with it.
    pub fn new(
        args: &'a CheckpointArgs,
        input: &InputArgs,
    ) -> std::result::Result<Option<Self>, String> {
        let resume = args.resume.as_deref();
        // A check that goes on should not lose more the next time.
        let Some(path) = args.checkpoint.as_deref().or(resume) else {
            return Ok(None);
        };
        let files = input::expand(&input.files).len();
        if files != 1 {
            return Err(format!(
                "a checkpoint is about one program, so it needs one FILE; there are {files}"
            ));
        }
        // Better to know now than in an hour.
        create(&part(path))
            .and_then(|_| std::fs::remove_file(part(path)))
            .map_err(|error| cannot_be_written(path, &error))?;
        Ok(Some(Wanted {
            path,
            every: args.checkpoint_every,
            resume,
        }))
    }

    /// The checkpoints of a question about a program; `question` says all of it that makes a difference.
    pub fn open(
        &self,
        program: &Program,
        question: &str,
    ) -> std::result::Result<Arc<Checkpoints>, Failure> {
        let header = header(program, question);
        let kept = match self.resume {
            None => None,
            Some(path) => Some(read(path, &header).map_err(|why| {
                Failure::Message(format!("the checkpoint `{}` {why}", path.display()))
            })?),
        };
        let path = self.path.to_owned();
        let mut warned = false;
        let sink = move |content: &mut dyn FnMut(&mut dyn Write) -> Result<()>| {
            match write(&path, &header, content) {
                Ok(()) => warned = false,
                Err(_) if warned => {}
                // That is no reason to give up the search. Said once, until it works again.
                Err(error) => {
                    warned = true;
                    let warning = cannot_be_written(&path, &error);
                    let _ = writeln!(std::io::stderr(), "warning: {warning}");
                }
            }
        };
        let checkpoints = Checkpoints::new(self.every, Box::new(sink));
        if let Some(kept) = kept {
            checkpoints.resume(Box::new(kept)).map_err(|error| {
                Failure::Message(format!("the checkpoint is unusable: {error}"))
            })?;
        }
        Ok(Arc::new(checkpoints))
    }
}

/// What to say about an answer that rests on a checkpoint; or that the checkpoint is none.
pub fn judge(
    wanted: Option<&Wanted<'_>>,
    checkpoints: Option<&Checkpoints>,
) -> std::result::Result<Option<String>, Failure> {
    let (Some(path), Some(checkpoints)) = (wanted.and_then(|w| w.resume), checkpoints) else {
        return Ok(None);
    };
    let path = path.display();
    if checkpoints.is_damaged() {
        return Err(Failure::Message(format!(
            "the checkpoint `{path}` has content that no search writes"
        )));
    }
    Ok(Some(format!(
        "this answer rests on the checkpoint `{path}`: what it says was found before is believed, not proved"
    )))
}

/// All that makes a difference for what a search comes to, and in how many states. Not how many threads search, nor how long.
pub fn question(command: &str, options: &[Options]) -> String {
    let mut text = command.to_owned();
    for o in options {
        let (model, criterion) = (o.model.name(), o.criterion.name());
        text.push_str(&format!(
            "; {criterion} under {model}, {:?}, all {} {}, {:?}, {:?}, {:?}",
            o.reductions, o.all, o.all_locations, o.abstraction, o.route, o.thread
        ));
    }
    text
}

fn cannot_be_written(path: &Path, error: &std::io::Error) -> String {
    format!(
        "the checkpoint `{}` cannot be written: {error}",
        path.display()
    )
}

/// What stands before everything else: one line after the other.
fn header(program: &Program, question: &str) -> [String; 4] {
    let mut hash = Sha256::new();
    hash.update(program.source.whole_text().as_bytes());
    hash.update(format!("{:?} {:?}", program.language, program.domain));
    let hash = hash.finalize();
    let program: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    [
        MAGIC.to_owned(),
        format!("version {}", env!("CARGO_PKG_VERSION")),
        format!("program {program}"),
        format!("question {question}"),
    ]
}

/// Beside the file, always under the same name: a process that is killed leaves no more than one.
fn part(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

fn create(part: &Path) -> Result<File> {
    match std::fs::remove_file(part) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    File::options().write(true).create_new(true).open(part)
}

/// Writes beside the file and renames: there is always a whole checkpoint, the new or the old one.
fn write(
    path: &Path,
    header: &[String],
    content: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let part = part(path);
    let written = write_to(&part, header, content).and_then(|()| std::fs::rename(&part, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written
}

fn write_to(
    part: &Path,
    header: &[String],
    content: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let mut out = Hashing {
        inner: BufWriter::with_capacity(1 << 18, create(part)?),
        hash: Sha256::new(),
    };
    for line in header {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    content(&mut out)?;
    let Hashing { mut inner, hash } = out;
    inner.write_all(&hash.finalize())?;
    let file = inner.into_inner().map_err(std::io::Error::from)?;
    file.sync_all()
}

/// Opens a checkpoint behind its header, or says what is wrong with it.
fn read(path: &Path, header: &[String]) -> std::result::Result<impl Read + Send + 'static, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let mut reader = BufReader::with_capacity(1 << 18, file);
    let mut found = Vec::new();
    // The header is short; a file without an end of line may be large.
    let most: usize = header.iter().map(|line| line.len() + 1).sum::<usize>() + (1 << 16);
    let mut text = Vec::new();
    while found.len() < header.len() {
        let mut byte = [0];
        match reader.read(&mut byte).map_err(unreadable)? {
            1 if byte[0] == b'\n' => {
                found.push(String::from_utf8_lossy(&text).into_owned());
                text.clear();
            }
            1 if text.len() < most => text.push(byte[0]),
            _ => break,
        }
        if found.len() == 1 && found[0] != header[0] {
            break;
        }
    }
    if found.first() != header.first() {
        return Err("is no checkpoint of this format".to_owned());
    }
    // First whether it is whole, so that nothing else has to be believed.
    reader.seek(SeekFrom::Start(0)).map_err(unreadable)?;
    let damaged = || "is damaged".to_owned();
    let content = length.checked_sub(DIGEST as u64).ok_or_else(damaged)?;
    let mut hash = Sha256::new();
    let copied =
        std::io::copy(&mut reader.by_ref().take(content), &mut hash).map_err(unreadable)?;
    let mut digest = [0; DIGEST];
    reader.read_exact(&mut digest).map_err(|_| damaged())?;
    if copied != content || hash.finalize()[..] != digest || found.len() != header.len() {
        return Err(damaged());
    }
    if found[1] != header[1] {
        return Err(format!(
            "was written by another version: it says `{}`, and this is `{}`",
            found[1], header[1]
        ));
    }
    if found[2] != header[2] {
        return Err("is about another program".to_owned());
    }
    if found[3] != header[3] {
        return Err(format!(
            "is about another question; it says `{}`, and this is `{}`",
            found[3], header[3]
        ));
    }
    let begin = found.iter().map(|line| line.len() as u64 + 1).sum::<u64>() + 1;
    reader.seek(SeekFrom::Start(begin)).map_err(unreadable)?;
    Ok(reader.take(content.saturating_sub(begin)))
}

/// Hashes what is written.
struct Hashing<W> {
    inner: W,
    hash: Sha256,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }
}
