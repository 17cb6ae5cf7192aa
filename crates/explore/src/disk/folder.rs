//! The directory of one walk, inside the one that the user has named.
//!
//! Its name says whose it is (`palisade-walk-…`), and as long as the process lives it holds a lock on a file in it. So what a killed process has left behind is
//! recognised, and removed by the next walk there.

use super::Disk;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

const PREFIX: &str = "palisade-walk-";
/// The file that is locked.
const OWNER: &str = "owner";
/// A file that is there if a checkpoint rests on the others: then they stay.
const KEPT: &str = "kept-for-a-checkpoint";

pub(crate) struct Folder {
    path: PathBuf,
    _owner: File,
    /// The number of the next file.
    next: AtomicU64,
    kept: AtomicBool,
}

impl Folder {
    /// Makes a directory; and removes what others have left behind.
    pub(crate) fn create(disk: &Disk) -> Result<Folder> {
        let parent = disk.directory();
        fs::create_dir_all(parent)?;
        clean(parent);
        for attempt in 0..1000_u32 {
            let path = parent.join(format!("{PREFIX}{}-{attempt}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            // Another process may have taken the directory for a forgotten one just now.
            if let Ok(folder) = Folder::own(&path) {
                return Ok(folder);
            }
        }
        Err(Error::other("no directory can be made there"))
    }

    /// Takes over the directory that a checkpoint rests on; `None` where there is none: no other directory is touched, whatever a checkpoint says.
    pub(crate) fn open(path: &Path) -> Result<Option<Folder>> {
        let name = path.file_name().and_then(|name| name.to_str());
        if !name.is_some_and(|name| name.starts_with(PREFIX)) || !path.join(KEPT).is_file() {
            return Ok(None);
        }
        let folder = Folder::own(path)?;
        folder.kept.store(true, Relaxed);
        folder.next.store(first_free(path)?, Relaxed);
        Ok(Some(folder))
    }

    /// Removes the runs that are not among these.
    pub(crate) fn remove_others(&self, names: &HashSet<&str>) {
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_other = |name: &str| name.ends_with(".run") && !names.contains(name);
            if name.to_str().is_some_and(is_other) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn own(path: &Path) -> Result<Folder> {
        let name = path.join(OWNER);
        let owner = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&name)?;
        if !lock(&owner) {
            return Err(Error::new(
                ErrorKind::WouldBlock,
                "another process walks there",
            ));
        }
        fs::metadata(&name)?;
        Ok(Folder {
            path: path.to_owned(),
            _owner: owner,
            next: AtomicU64::new(0),
            kept: AtomicBool::new(false),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A name for another file.
    pub(crate) fn new_name(&self) -> String {
        format!("{}.run", self.next.fetch_add(1, Relaxed))
    }

    /// From now on a checkpoint rests on the files: they stay when the process ends.
    pub(crate) fn keep(&self) -> Result<()> {
        if !self.kept.swap(true, Relaxed) {
            File::create(self.path.join(KEPT))?.sync_all()?;
        }
        Ok(())
    }

    /// What the files were kept for is over.
    pub(crate) fn release(&self) {
        self.kept.store(false, Relaxed);
    }

    /// Whether a checkpoint rests on the files.
    pub(crate) fn is_kept(&self) -> bool {
        self.kept.load(Relaxed)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.is_kept() {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Whether no other process has locked the file; from now on, this process has.
fn lock(file: &File) -> bool {
    #[cfg(not(target_family = "wasm"))]
    return fs4::FileExt::try_lock(file).is_ok();
    #[cfg(target_family = "wasm")]
    {
        let _ = file;
        false
    }
}

/// A number that no file of this directory has, nor any behind it.
fn first_free(path: &Path) -> Result<u64> {
    let mut free = 0;
    for entry in fs::read_dir(path)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".run"));
        if let Some(number) = number.and_then(|number| number.parse::<u64>().ok()) {
            free = free.max(number.saturating_add(1));
        }
    }
    Ok(free)
}

/// Removes the directories of walks whose process is gone.
fn clean(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let is_walk = |name: &str| name.starts_with(PREFIX);
        if !entry.file_name().to_str().is_some_and(is_walk) || path.join(KEPT).exists() {
            continue;
        }
        let Ok(owner) = File::options().write(true).open(path.join(OWNER)) else {
            continue;
        };
        if lock(&owner) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_is_removed_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let disk = Disk::new(parent.path().join("new"));
        let walk = Folder::create(&disk).unwrap();
        let other = Folder::create(&disk).unwrap();
        assert_ne!(walk.path(), other.path());
        assert_ne!(walk.new_name(), walk.new_name());
        // As if its process had been killed.
        let forgotten = disk.directory().join("palisade-walk-0-0");
        let kept = disk.directory().join("palisade-walk-0-1");
        let foreign = disk.directory().join("other");
        for path in [&forgotten, &kept, &foreign] {
            fs::create_dir(path).unwrap();
            fs::write(path.join(OWNER), "").unwrap();
            fs::write(path.join("7.run"), "states").unwrap();
        }
        fs::write(kept.join(KEPT), "").unwrap();
        let third = Folder::create(&disk).unwrap();
        assert!(!forgotten.exists());
        for path in [walk.path(), other.path(), third.path(), &kept, &foreign] {
            assert!(path.exists());
        }
        for path in [&foreign, walk.path(), &forgotten] {
            assert!(Folder::open(path).unwrap().is_none());
        }
        let resumed = Folder::open(&kept).unwrap().unwrap();
        assert_eq!(resumed.new_name(), "8.run");
        assert!(Folder::open(&kept).is_err());
        resumed.remove_others(&HashSet::from(["7.run"]));
        assert!(kept.join("7.run").exists());
        resumed.remove_others(&HashSet::new());
        assert!(!kept.join("7.run").exists());
        drop(resumed);
        assert!(kept.exists());
        let resumed = Folder::open(&kept).unwrap().unwrap();
        resumed.release();
        drop((resumed, walk));
        assert!(!kept.exists());
    }
}
