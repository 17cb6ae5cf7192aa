//! `--picture OUT`: which format, and how it gets into the file.

use crate::files::write_whole;
use palisade_lang::Program;
use palisade_memory::Witness;
use palisade_report::picture::{self, Picture};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A picture that is wanted.
#[derive(Clone, Debug)]
pub struct PictureFile {
    path: PathBuf,
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Svg,
    Html,
    Dot,
    Png,
}

/// Programs that turn an SVG on their standard input into a PNG on their standard output, with their arguments. The first that is
/// installed is used.
const RENDERERS: &[(&str, &[&str])] = &[
    ("rsvg-convert", &["--format=png", "--zoom=2"]),
    ("resvg", &["--zoom", "2", "-", "-c"]),
    (
        "inkscape",
        &["--pipe", "--export-type=png", "--export-filename=-"],
    ),
];

impl PictureFile {
    /// The format follows from the name.
    pub fn new(path: &Path) -> Result<Self, String> {
        let extension = path.extension().and_then(|e| e.to_str());
        let format = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => Format::Svg,
            Some("html" | "htm") => Format::Html,
            Some("dot" | "gv") => Format::Dot,
            Some("png") => Format::Png,
            _ => {
                return Err(format!(
                    "`{}` does not say what kind of picture it is to be: its name must end in .svg, .html, .dot or .png",
                    path.display()
                ));
            }
        };
        Ok(PictureFile {
            path: path.to_owned(),
            format,
        })
    }

    /// Draws the run of a witness. The error says what went wrong, with the file's name.
    pub fn write(&self, witness: &Witness, program: &Program, file: &str) -> Result<(), String> {
        let drawn = || picture::run(witness, program, file);
        let content = match self.format {
            Format::Svg => drawn().svg().into_bytes(),
            Format::Html => drawn().html().into_bytes(),
            Format::Dot => picture::run_dot(witness, program, file).into_bytes(),
            Format::Png => self.rendered(&drawn())?,
        };
        write_whole(&self.path, &content).map_err(|error| self.trouble(&error.to_string()))
    }

    fn trouble(&self, what: &str) -> String {
        format!("{}: cannot be written: {what}", self.path.display())
    }

    fn rendered(&self, picture: &Picture) -> Result<Vec<u8>, String> {
        let svg = picture.svg();
        for (program, arguments) in RENDERERS {
            match render(program, arguments, &svg) {
                Ok(png) => return Ok(png),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.trouble(&format!("{program}: {error}"))),
            }
        }
        let names: Vec<&str> = RENDERERS.iter().map(|(name, _)| *name).collect();
        Err(self.trouble(&format!(
            "a .png needs one of {} (Debian: apt-get install librsvg2-bin), and none is installed; .svg needs nothing",
            names.join(", ")
        )))
    }
}

/// Runs a renderer. `NotFound` where it is not installed.
fn render(program: &str, arguments: &[&str], svg: &str) -> std::io::Result<Vec<u8>> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        // Both pipes at once: neither side may wait for the other for ever.
        let write = move || stdin.map(|mut pipe| pipe.write_all(svg.as_bytes()));
        std::thread::Builder::new().spawn_scoped(scope, write)?;
        child.wait_with_output()
    })?;
    if output.status.success() && output.stdout.starts_with(b"\x89PNG") {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim();
    Err(std::io::Error::other(match said.is_empty() {
        true => "made no picture",
        false => said,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_follows_from_the_name() {
        let format = |name: &str| PictureFile::new(Path::new(name)).map(|p| p.format);
        assert_eq!(format("a.svg"), Ok(Format::Svg));
        assert_eq!(format("dir.d/a.PNG"), Ok(Format::Png));
        assert_eq!(format("a.gv"), Ok(Format::Dot));
        for wrong in ["svg", "a.jpg", "a.", "-"] {
            assert!(format(wrong).unwrap_err().contains(".svg"), "{wrong}");
        }
    }
}
