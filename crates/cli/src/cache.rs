//! Answers that are kept from run to run: `--cache DIR`.
//!
//! What is kept is a proof: a run that shows a violation, a certificate for what holds. It is judged anew, by code that shares nothing with the search, before it is
//! believed; a proof that does not fit is no answer, and the search begins. So the directory does not have to be trusted.

use crate::commands::certificate;
use crate::files::write_whole;
use palisade::included_text;
use palisade_certificate::{Claim, Header, Locations};
use palisade_check::note::Note;
use palisade_check::{CERTIFIED, Control, Options, Stats};
use palisade_lang::Program;
use palisade_memory::Witness;
use palisade_report::{Answer, Verdict};
use palisade_validate::{Asked, validate, validate_certificate};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A certificate takes more than the answer: so many times as long as the search did, and at least …
const EFFORT: u32 = 20;
/// … this long.
const LEAST: Duration = Duration::from_secs(2);

/// The directory.
pub struct Cache<'a> {
    directory: &'a Path,
}

/// What is kept beside a certificate, or with the run.
#[derive(Serialize, Deserialize)]
struct Entry {
    notes: Vec<String>,
    witness: Option<Witness>,
}

impl<'a> Cache<'a> {
    /// Makes the directory, where it is not there yet.
    pub fn new(directory: &'a Path) -> Result<Self, String> {
        std::fs::create_dir_all(directory)
            .map_err(|error| format!("{}: cannot be a cache: {error}", directory.display()))?;
        Ok(Cache { directory })
    }

    /// The answer that is kept, if there is one and its proof is still one.
    pub fn answer(&self, program: &Program, options: &Options) -> Option<Answer> {
        let begin = Instant::now();
        // As in `keep`: of these none is kept.
        if options.all || !program.bounds.is_empty() {
            return None;
        }
        let key = key(program, options);
        let text = included_text(&self.path(&key, "json")).ok()?;
        let entry: Entry = serde_json::from_str(&text).ok()?;
        let (verdict, proof) = match &entry.witness {
            Some(witness) => {
                let about = (witness.model, witness.criterion);
                if about != (options.model, options.criterion) {
                    return None;
                }
                validate(program, witness).ok()?;
                (Verdict::Violated, "the run was replayed")
            }
            None => {
                let path = self.path(&key, "certificate");
                if !path.metadata().is_ok_and(|about| about.is_file()) {
                    return None;
                }
                let file = certificate::certificate(&path).ok()??;
                let asked = Asked {
                    model: options.model,
                    criterion: options.criterion,
                    locations: locations(options),
                };
                validate_certificate(program, asked, || certificate::open(&file)).ok()?;
                (Verdict::Holds, "its certificate was checked")
            }
        };
        let mut notes = vec![Note::Said(format!("the answer is from the cache: {proof}"))];
        // A proof says nothing about what was said beside it.
        notes.extend(entry.notes.iter().map(|note| {
            let note = note.replace(char::is_control, " ");
            Note::Said(format!("kept beside the answer, and not checked: {note}"))
        }));
        Some(Answer {
            verdict,
            witnesses: entry.witness.into_iter().collect(),
            stats: Stats {
                wall: begin.elapsed(),
                ..Stats::default()
            },
            notes,
            harm: None,
        })
    }

    /// Keeps an answer, if there is a proof for it that can be had with reasonable effort. Where it cannot be kept, that changes nothing.
    pub fn keep(
        &self,
        program: &Program,
        options: &Options,
        control: &Control<'_>,
        answer: &Answer,
    ) {
        // What holds only up to bounds has no certificate of its own.
        let proof = match &answer.verdict {
            _ if options.all || !program.bounds.is_empty() => return,
            Verdict::Unknown(_) => return,
            Verdict::Violated => answer.witnesses.first().cloned(),
            Verdict::Holds => None,
        };
        let about = |w: &Witness| (w.model, w.criterion) == (options.model, options.criterion);
        if answer.verdict == Verdict::Violated && !proof.as_ref().is_some_and(about) {
            return;
        }
        let key = key(program, options);
        if answer.verdict == Verdict::Holds {
            if !CERTIFIED.contains(&(options.model, options.criterion)) {
                return;
            }
            let most = (answer.stats.wall * EFFORT).max(LEAST);
            let left = options.timeout.map(|t| t.saturating_sub(answer.stats.wall));
            let options = Options {
                timeout: Some(left.map_or(most, |left| left.min(most))),
                checkpoints: None,
                ..options.clone()
            };
            let path = self.path(&key, "certificate");
            if certificate::write_certificate(&path, program, &options, control).is_err() {
                return;
            }
        }
        let entry = Entry {
            notes: palisade_report::notes::sentences(&answer.notes),
            witness: proof,
        };
        if let Ok(text) = serde_json::to_string(&entry) {
            let _ = write_whole(&self.path(&key, "json"), text.as_bytes());
        }
    }

    fn path(&self, key: &str, extension: &str) -> PathBuf {
        self.directory.join(format!("{key}.{extension}"))
    }
}

fn locations(options: &Options) -> Locations {
    match options.all_locations {
        true => Locations::All,
        false => Locations::Declared,
    }
}

/// The program as it was read, the question, and this version.
fn key(program: &Program, options: &Options) -> String {
    let claim = Claim {
        locations: locations(options),
        ..Claim::new(options.model, options.criterion)
    };
    let mut hash = Sha256::new();
    hash.update(env!("CARGO_PKG_VERSION"));
    hash.update(Header::new(program, claim).hash);
    // Of a C file its macros, and of a Rust file the test that was chosen, are not in the text.
    hash.update(format!(
        "{:?} {:?} {:?}",
        program.threads, program.locations, program.nevers
    ));
    let digest = hash.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
