//! One module per command; each ends with the status that the process exits with.

mod ask;
pub(crate) mod certificate;
mod check;
mod export;
mod fence;
mod fmt;
mod jobs;
mod lsp;
mod manual;
pub mod orders;
pub mod playground;
mod reach;
mod report;
mod test;
mod validate;

use crate::args::Command;
use crate::output::Output;
use palisade_report::Status;

/// Runs a command.
pub fn run(command: Command, output: &mut Output) -> Status {
    match command {
        // Searches may outlive the wait for them, so their flags live as long as the process.
        Command::Check(args) => check::run(Box::leak(Box::new(args.0)), output),
        Command::Test(args) => test::run(Box::leak(Box::new(args.0)), output),
        Command::Fence(args) => fence::run(Box::leak(Box::new(args.0)), output),
        Command::Fmt(args) => fmt::run(&args.0, output),
        Command::Lsp(args) => lsp::run(&args.0, output),
        Command::Orders(args) => orders::run(Box::leak(Box::new(args.0)), output),
        Command::Reach(args) => reach::run(Box::leak(Box::new(args.0)), output),
        Command::Export(args) => export::run(Box::leak(Box::new(args.0)), output),
        Command::Report(args) => report::run(&args.0, output),
        Command::Validate(args) => validate::run(Box::leak(Box::new(args.0)), output),
        Command::Plan(args) => jobs::plan(&args.0, output),
        Command::Job(args) => jobs::job(&args.0, output),
        Command::Merge(args) => jobs::merge(&args.0, output),
        Command::Playground(args) => playground::run(&args.0, output),
        Command::Completions(args) => manual::completions(&args.0, output),
        Command::Man(args) => manual::man(&args.0, output),
    }
}
