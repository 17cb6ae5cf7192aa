//! The palisade command: flags, files and exit codes. What is decided, and how it is shown, live elsewhere.

mod args;
mod commands;
mod files;
mod input;
mod limits;
mod output;
mod pairs;
mod picture;
mod progress;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    let mut output = output::Output::new(cli.color);
    let status = commands::run(cli.command, &mut output);
    ExitCode::from(output.finish(status).code())
}
