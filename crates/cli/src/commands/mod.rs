//! One module per command; each ends with the status that the process exits with.

mod ask;
mod certificate;
mod check;
mod export;
mod fence;
mod papers;
mod playground;
mod reach;
mod report;
mod validate;

use crate::args::Command;
use crate::output::Output;
use palisade_report::Status;

/// Runs a command.
pub fn run(command: Command, output: &mut Output) -> Status {
    match command {
        // Searches may outlive the wait for them, so their flags live as long as the process.
        Command::Check(args) => check::run(Box::leak(Box::new(args)), output),
        Command::Fence(args) => fence::run(Box::leak(Box::new(args)), output),
        Command::Reach(args) => reach::run(Box::leak(Box::new(args)), output),
        Command::Export(args) => export::run(&args, output),
        Command::Report(args) => report::run(&args, output),
        Command::Validate(args) => validate::run(&args, output),
        Command::Playground(args) => playground::run(&args, output),
        Command::Completions(args) => papers::completions(&args, output),
        Command::Man(args) => papers::man(&args, output),
    }
}
