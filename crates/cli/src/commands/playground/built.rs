//! The page that needs no server, where it was built (`web/build`): its files, as they are served.

use std::collections::HashMap;
use std::path::Path;

/// Beyond this it is not the page.
const MOST_BYTES: u64 = 64 << 20;
const MOST_FILES: usize = 100;

/// What a browser may do on that page: it runs WebAssembly, styles itself, shows the pictures it made, and has the player in a frame of its own.
pub const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; \
     object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// The files by their paths, each with its kind.
pub struct Built(HashMap<String, (&'static str, Vec<u8>)>);

impl Built {
    /// The page in a directory, or why it is none.
    pub fn read(directory: &Path) -> Result<Built, String> {
        let wrong = |what: &str| format!("{}: {what}", directory.display());
        let mut files = HashMap::new();
        let mut bytes = 0;
        for entry in walkdir::WalkDir::new(directory).max_depth(3) {
            let entry = entry.map_err(|error| wrong(&format!("cannot be read: {error}")))?;
            let kind = entry
                .path()
                .extension()
                .and_then(|e| e.to_str())
                .and_then(kind);
            let (Some(kind), true) = (kind, entry.file_type().is_file()) else {
                continue;
            };
            bytes += entry.metadata().map_or(MOST_BYTES, |about| about.len());
            if bytes > MOST_BYTES || files.len() >= MOST_FILES {
                return Err(wrong("is too large to be the page that `web/build` makes"));
            }
            let content = std::fs::read(entry.path())
                .map_err(|error| wrong(&format!("cannot be read: {error}")))?;
            let relative = entry.path().strip_prefix(directory).unwrap_or(entry.path());
            let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
            files.insert(format!("/{}", parts.join("/")), (kind, content));
        }
        match files.contains_key("/index.html") && files.contains_key("/palisade.wasm") {
            true => Ok(Built(files)),
            false => Err(wrong("is not the page that `web/build` makes")),
        }
    }

    /// Where an installation keeps it: beside the directory of the command.
    pub fn installed() -> Option<Built> {
        let command = std::env::current_exe().ok()?;
        let directory = command.parent()?.parent()?.join("share/palisade/web");
        Built::read(&directory).ok()
    }

    /// The file at a path, with its kind.
    pub fn file(&self, path: &str) -> Option<(&'static str, &[u8])> {
        let path = if path == "/" { "/index.html" } else { path };
        self.0
            .get(path)
            .map(|(kind, content)| (*kind, content.as_slice()))
    }
}

fn kind(extension: &str) -> Option<&'static str> {
    Some(match extension {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_the_page_or_not() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(directory.path().join(name), "x").unwrap();
        assert!(Built::read(&directory.path().join("no")).is_err());
        write("index.html");
        assert!(Built::read(directory.path()).is_err());
        write("palisade.wasm");
        std::fs::create_dir(directory.path().join("assets")).unwrap();
        write("assets/a.js");
        write("secret.txt");
        let built = Built::read(directory.path()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(built.file("/").unwrap().0, "text/html; charset=utf-8");
        assert_eq!(
            built.file("/assets/a.js").unwrap().0,
            "text/javascript; charset=utf-8"
        );
        assert!(built.file("/secret.txt").is_none());
        assert!(built.file("/../index.html").is_none());
    }
}
