//! Checkpoints as files: `--checkpoint` and `--resume`.
//!
//! A file has a line each for what it is, the version, the program and the question; behind an empty line what
//! [`palisade_check::Checkpoints`] has written; and at the end a checksum of all that.
//!
//! Of several processes (`--hosts`), number N writes a part of its own, `OUT.N`. Parts that belong together have a number in common. Each is written as `OUT.N.part`; when all are there,
//! each process renames its own, and keeps the one before as `OUT.N.old`. So whenever a process ends, all parts of one checkpoint are there under some of these names.

use crate::args::{CheckpointArgs, InputArgs};
use crate::input;
use palisade_check::{Checkpoints, Options};
use palisade_lang::Program;
use palisade_report::Failure;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
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
    place: Option<Place>,
}

/// Which of several processes this is.
#[derive(Clone, Copy)]
pub struct Place {
    pub process: usize,
    pub processes: usize,
}

impl<'a> Wanted<'a> {
    /// What the flags say, or what is wrong with it.
    pub fn new(
        args: &'a CheckpointArgs,
        input: &InputArgs,
        place: Option<Place>,
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
        let written = match place {
            None => path.to_owned(),
            Some(place) => numbered(path, place.process),
        };
        // Better to know now than in an hour. What an earlier search has left as a part may be all that there is of it.
        let begins = place.is_none() || resume != Some(path);
        if begins {
            create(&part(&written))
                .and_then(|_| std::fs::remove_file(part(&written)))
                .map_err(|error| cannot_be_written(path, &error))?;
        }
        if let (Some(place), true) = (place, begins) {
            forget_parts(path, place);
        }
        Ok(Some(Wanted {
            path,
            every: args.checkpoint_every,
            resume,
            place,
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
            None => Kept::Nothing,
            Some(path) => Kept::find(path, &header, self.place).map_err(|why| {
                Failure::Message(format!("the checkpoint `{}` {why}", path.display()))
            })?,
        };
        let path = match self.place {
            None => self.path.to_owned(),
            Some(place) => numbered(self.path, place.process),
        };
        let (own, in_parts) = (path.clone(), self.place.is_some());
        let mut warned = false;
        let sink = move |content: &mut dyn FnMut(&mut dyn Write) -> Result<()>| {
            let written = match in_parts {
                true => write_beside(&path, &header, content),
                false => write(&path, &header, content),
            };
            match written {
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
        if let Some(place) = self.place {
            let settle = move || {
                // What fails here leaves the part where it is, under a name under which it is looked for, too.
                let _ = std::fs::rename(&own, with_suffix(&own, ".old"));
                let _ = std::fs::rename(part(&own), &own);
            };
            checkpoints.write_parts(place.processes, Box::new(settle));
        }
        let read = match kept {
            Kept::Nothing => Ok(()),
            Kept::Whole(kept) => checkpoints.resume(kept),
            Kept::Parts { sources, last } => {
                let own = self.place.map_or(0, |place| place.process);
                let own = own.min(sources.len() - 1);
                checkpoints.resume_parts(sources, own, last)
            }
        };
        read.map_err(|error| Failure::Message(format!("the checkpoint is unusable: {error}")))?;
        Ok(Arc::new(checkpoints))
    }
}

/// What there is to go on with.
enum Kept {
    Nothing,
    /// The checkpoint of one process.
    Whole(Box<dyn Read + Send>),
    /// All parts of the last checkpoint of several processes that is whole, behind their beginnings, and the largest number that any part has.
    Parts {
        sources: Vec<Box<dyn Read + Send>>,
        last: u64,
    },
}

impl Kept {
    /// Finds it, or says what is wrong with the checkpoint.
    fn find(
        path: &Path,
        header: &[String],
        place: Option<Place>,
    ) -> std::result::Result<Kept, String> {
        let parts = parts_of(path);
        if place.is_none() && (path.exists() || parts.is_empty()) {
            return Ok(Kept::Whole(Box::new(read(path, header)?)));
        }
        if parts.is_empty() && path.exists() {
            return Err(
                "was written by one process: go on with it without `--hosts`, or begin anew"
                    .to_owned(),
            );
        }
        if parts.is_empty() {
            return Err("cannot be read: there is none, and no part of one".to_owned());
        }
        // By generation and number of processes, the part of each process. What is wrong with one matters only if no others are whole.
        let mut found: BTreeMap<(u64, u64), BTreeMap<usize, PathBuf>> = BTreeMap::new();
        let mut complaint = None;
        for (process, file) in parts {
            let begins = read(&file, header).and_then(|mut source| {
                Checkpoints::beginning_of_part(&mut source).map_err(|_| "is damaged".to_owned())
            });
            match begins {
                Ok((processes, generation)) => {
                    let together = found.entry((generation, processes)).or_default();
                    together.entry(process).or_insert(file);
                }
                Err(why) => complaint = Some(format!("has a part `{}` that {why}", file.display())),
            }
        }
        let last = found.keys().next_back().map_or(0, |&(last, _)| last);
        let whole = |found: &(&(u64, u64), &BTreeMap<usize, PathBuf>)| {
            let (&(_, processes), parts) = *found;
            parts.len() as u64 == processes && parts.keys().copied().eq(0..parts.len())
        };
        let Some((_, parts)) = found.iter().rev().find(whole) else {
            return Err(complaint.unwrap_or_else(|| {
                "is not whole: the parts that all processes have written must be there".to_owned()
            }));
        };
        let mut sources: Vec<Box<dyn Read + Send>> = Vec::new();
        for file in parts.values() {
            let mut source = read(file, header)?;
            Checkpoints::beginning_of_part(&mut source).map_err(|_| "is damaged".to_owned())?;
            sources.push(Box::new(source));
        }
        Ok(Kept::Parts { sources, last })
    }
}

/// The part of a process.
fn numbered(path: &Path, process: usize) -> PathBuf {
    with_suffix(path, &format!(".{process}"))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The files in which parts of a checkpoint may be, each with the number of its process.
fn parts_of(path: &Path) -> Vec<(usize, PathBuf)> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Vec::new();
    };
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut parts: Vec<(usize, PathBuf)> = entries
        .filter_map(|entry| {
            let file = entry.file_name();
            let rest = file.to_str()?.strip_prefix(name)?.strip_prefix('.')?;
            let number = rest
                .strip_suffix(".part")
                .or_else(|| rest.strip_suffix(".old"))
                .unwrap_or(rest);
            let process: usize = number.parse().ok()?;
            // `07` and `+7` are no names that we give.
            (process.to_string() == number).then(|| (process, entry.path()))
        })
        .collect();
    parts.sort();
    parts
}

/// Takes away what an earlier search has left here, so that its parts are not taken for parts of this one.
fn forget_parts(path: &Path, place: Place) {
    for (process, file) in parts_of(path) {
        if process == place.process || place.process == 0 && process >= place.processes {
            let _ = std::fs::remove_file(file);
        }
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
    with_suffix(path, ".part")
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
    write_beside(path, header, content)?;
    let part = part(path);
    std::fs::rename(&part, path).inspect_err(|_| {
        let _ = std::fs::remove_file(&part);
    })
}

/// Writes beside the file.
fn write_beside(
    path: &Path,
    header: &[String],
    content: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let part = part(path);
    write_to(&part, header, content).inspect_err(|_| {
        let _ = std::fs::remove_file(&part);
    })
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
