//! Writing files whole or not at all.

use std::io::{BufWriter, Write};
use std::path::Path;

/// Writes beside the file and renames, so that half a file is never seen.
pub fn write_whole(path: &Path, content: &[u8]) -> std::io::Result<()> {
    write_whole_with(path, |out| out.write_all(content))
}

/// The same for content that is made while it is written. Where that fails, the file stays as it was.
pub fn write_whole_with<T>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<T>,
) -> std::io::Result<T> {
    // A link stays a link: what it leads to is replaced.
    let target = match path.canonicalize() {
        Ok(target) => target,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let old = std::fs::metadata(&target).ok();
    if old.as_ref().is_some_and(|old| old.is_dir()) {
        return Err(std::io::Error::other("it is a directory"));
    }
    // A device or a pipe cannot be replaced, only written to.
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        let mut out = BufWriter::new(std::fs::File::create(&target)?);
        let written = write(&mut out)?;
        out.flush()?;
        return Ok(written);
    }
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    // A process that is killed leaves a file by which it can be known what it is.
    builder.prefix(".palisade-").suffix(".part");
    #[cfg(unix)]
    {
        // What any new file gets; the process' mask is applied to it.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(directory).map_err(without_path)?;
    let mut out = BufWriter::new(file);
    let written = write(&mut out).map_err(without_path)?;
    let file = (out.into_inner().map_err(std::io::Error::from)).map_err(without_path)?;
    if let Some(old) = old {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&target)?;
    Ok(written)
}

/// The name of the file beside it means nothing to the user, and is gone by the time that it is read.
fn without_path(error: std::io::Error) -> std::io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((what, _)) => std::io::Error::new(error.kind(), what),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_beside_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.svg");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        let failed = write_whole_with(&path, |out| {
            out.write_all(b"half of")?;
            Err::<(), _>(std::io::Error::other("no more room"))
        });
        assert!(failed.is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        assert!(write_whole(directory.path(), b"x").is_err());
        let nowhere = write_whole(&directory.path().join("no/where"), b"x").unwrap_err();
        assert_eq!(nowhere.kind(), std::io::ErrorKind::NotFound);
        assert!(!nowhere.to_string().contains(".part"), "{nowhere}");
    }
}
