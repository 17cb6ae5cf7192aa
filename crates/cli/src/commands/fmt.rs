//! `palisade fmt`

use super::ask::cancel;
use crate::args::FmtArgs;
use crate::files::write_whole;
use crate::input::{self, Job};
use crate::output::{Closed, Output};
use palisade::limits::{Limits, within};
use palisade_lang::parse::guess_language;
use palisade_lang::{Language, Source, pal};
use palisade_report::{Status, diagnostics, difference};
use std::path::Path;

pub fn run(args: &FmtArgs, output: &mut Output) -> Status {
    let mut status = Status::Holds;
    for job in input::expand(&args.paths) {
        let (path, trouble) = match job {
            Job::File(path) => (path, None),
            Job::Trouble(path, trouble) => (path, Some(trouble)),
        };
        let named = args.paths.contains(&path);
        let one = match trouble {
            Some(trouble) => Ok(unusable(&path, &trouble, output)),
            None => format(&path, named, args, output),
        };
        match one {
            Ok(one) => status = status.max(one),
            Err(Closed) => return Status::Error,
        }
    }
    status
}

fn unusable(path: &Path, trouble: &str, output: &Output) -> Status {
    output.complain(&format!("{}: {trouble}", input::display_name(path)))
}

fn format(path: &Path, named: bool, args: &FmtArgs, output: &mut Output) -> Result<Status, Closed> {
    let file = input::display_name(path);
    let limits = Limits {
        timeout: args.timeout,
        memory: args.memory,
    };
    let from = path.to_owned();
    let done = within(limits, cancel(), move |_| {
        let text = input::read_text(&from)?;
        let formatted = pal::format(&text);
        Ok::<_, String>((text, formatted))
    });
    let (text, formatted) = match done.map_err(str::to_owned).and_then(|done| done) {
        Ok(done) => done,
        Err(trouble) => return Ok(unusable(path, &trouble, output)),
    };
    let source = Source::new(file.as_str(), text);
    if guess_language(&source) != Language::Pal {
        let trouble = "only Palisade's own language (.pal) can be formatted";
        // In a tree, the others are simply not meant.
        return Ok(match named {
            true => unusable(path, trouble, output),
            false => Status::Holds,
        });
    }
    let formatted = match formatted {
        Ok(formatted) => formatted,
        Err(problems) => {
            let look = output.error_look();
            output.remark(&diagnostics::render(&source, &problems, look));
            return Ok(Status::Error);
        }
    };
    let same = formatted == source.text();
    match (input::is_stdin(path), args.check) {
        (true, false) => output.answer(&formatted)?,
        _ if same => {}
        (_, true) => {
            let changes = difference(source.text(), &formatted, output.look());
            output.answer(&format!("{file}: would be written like this\n{changes}\n"))?;
            return Ok(Status::Violated);
        }
        (false, false) => {
            if let Err(error) = write_whole(path, formatted.as_bytes()) {
                return Ok(unusable(
                    path,
                    &format!("cannot be written: {error}"),
                    output,
                ));
            }
            output.answer(&format!("{file}: written\n"))?;
        }
    }
    Ok(Status::Holds)
}
