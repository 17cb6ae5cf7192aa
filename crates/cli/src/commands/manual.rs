//! `palisade completions` and `palisade man`: made from the same definitions as the help.

use crate::args::{CompletionsArgs, ManArgs, whole};
use crate::output::Output;
use palisade_report::Status;

pub fn completions(args: &CompletionsArgs, output: &mut Output) -> Status {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut whole(), "palisade", &mut script);
    let _ = output.answer(&String::from_utf8_lossy(&script));
    Status::Holds
}

pub fn man(args: &ManArgs, output: &mut Output) -> Status {
    let written = std::fs::create_dir_all(&args.dir)
        .and_then(|()| clap_mangen::generate_to(whole(), &args.dir));
    match written {
        Ok(()) => Status::Holds,
        Err(error) => output.complain(&format!(
            "{}: cannot be written: {error}",
            args.dir.display()
        )),
    }
}
