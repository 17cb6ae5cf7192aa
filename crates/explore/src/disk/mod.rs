//! States on disk: a directory of a walk's own ([`folder`]), sorted runs of states in it ([`run`], read level by level by [`shelf`]), and what says without looking that a state is in none of
//! them ([`filter`]).

pub(crate) mod filter;
pub(crate) mod folder;
pub(crate) mod run;
pub(crate) mod shelf;
pub(crate) mod sorted;

use std::path::{Path, PathBuf};

/// Where a walk may put states that memory has no room for.
#[derive(Clone, Debug)]
pub struct Disk {
    directory: PathBuf,
    room: Option<u64>,
}

impl Disk {
    /// A directory in which each walk makes one of its own and removes it when its states are no longer needed. What walks have left behind there that were
    /// killed is removed, too.
    pub fn new(directory: impl Into<PathBuf>) -> Disk {
        Disk {
            directory: directory.into(),
            room: None,
        }
    }

    /// Takes it that there is room in memory for so many bytes of states, whatever limit there is otherwise.
    pub fn with_room(mut self, bytes: u64) -> Disk {
        self.room = Some(bytes);
        self
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// How many bytes of states there is room for, if that was said.
    pub(crate) fn room(&self) -> Option<u64> {
        self.room
    }
}
