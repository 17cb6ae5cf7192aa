//! A crate with one module more: its files stay where they are, and a directory of links stands in for theirs.

use std::path::{Path, PathBuf};

/// The most directories above the root file that a package can have.
const MOST_LEVELS: usize = 4;

/// The directory of links, and the files in it that are none.
pub struct Mirror {
    _scratch: tempfile::TempDir,
    /// The root file as the compiler gets it.
    pub root: PathBuf,
    /// Its text.
    pub root_text: String,
    /// The client's file.
    pub client: PathBuf,
    /// The compiler's argument that calls the files what they are called outside.
    pub remap: String,
}

impl Mirror {
    /// The crate of this root file, with the module `module` in a file that is yet to be written.
    pub fn new(path: &Path, text: &str, module: &str) -> Result<Mirror, String> {
        let failed = |e: std::io::Error| format!("no scratch directory can be used: {e}");
        let scratch = tempfile::tempdir().map_err(failed)?;
        let client = super::client_file(scratch.path());
        let root_text = format!(
            "{text}\n#[path = {:?}]\nmod {module};\n",
            client.to_string_lossy()
        );
        let whole = std::fs::canonicalize(path).map_err(failed)?;
        let directory = whole.parent().unwrap_or(Path::new("/"));
        // Up to the package's directory: what a file includes may be beside its directory.
        let above: Vec<&Path> = directory.ancestors().take(MOST_LEVELS).collect();
        let package = above.iter().position(|d| d.join("Cargo.toml").is_file());
        let levels = &above[..=package.unwrap_or(0)];
        let mut here = scratch.path().join("crate");
        std::fs::create_dir(&here).map_err(failed)?;
        for (at, level) in levels.iter().enumerate().rev() {
            let next = match at {
                0 => whole.file_name(),
                _ => levels[at - 1].file_name(),
            };
            for entry in std::fs::read_dir(level).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                if Some(entry.file_name().as_os_str()) != next {
                    link(&entry.path(), &here.join(entry.file_name())).map_err(failed)?;
                }
            }
            let Some(next) = next else { continue };
            here.push(next);
            if at > 0 {
                std::fs::create_dir(&here).map_err(failed)?;
            }
        }
        std::fs::write(&here, &root_text).map_err(failed)?;
        let inside = here.parent().unwrap_or(Path::new(""));
        let outside = path.parent().unwrap_or(Path::new(""));
        let remap = match outside.as_os_str().is_empty() {
            true => format!("--remap-path-prefix={}/=", inside.display()),
            false => format!(
                "--remap-path-prefix={}={}",
                inside.display(),
                outside.display()
            ),
        };
        Ok(Mirror {
            root: here,
            root_text,
            client,
            remap,
            _scratch: scratch,
        })
    }
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(windows)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    match from.is_dir() {
        true => std::os::windows::fs::symlink_dir(from, to),
        false => std::os::windows::fs::symlink_file(from, to),
    }
}

#[cfg(not(any(unix, windows)))]
fn link(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
