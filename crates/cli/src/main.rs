//! The palisade command: flags, files and exit codes. What is decided, and how it is shown, live elsewhere.

mod args;
mod batch;
mod cache;
mod checkpoint;
mod commands;
mod config;
mod expect;
mod files;
mod input;
mod limits;
mod output;
mod pairs;
mod picture;
mod progress;

use clap::{CommandFactory, FromArgMatches};
use output::Output;
use palisade_lang::Source;
use palisade_report::{Status, diagnostics};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = parse();
    let mut output = Output::new(cli.color);
    let cli = match with_defaults(cli, &output) {
        Ok(cli) => cli,
        Err(status) => return ExitCode::from(status.code()),
    };
    output = Output::new(cli.color);
    let status = commands::run(cli.command, &mut output);
    ExitCode::from(output.finish(status).code())
}

/// What the command line says.
fn parse() -> args::Cli {
    let mut command = args::Cli::command();
    let cli = command
        .try_get_matches_from_mut(std::env::args_os())
        .and_then(|mut matches| args::Cli::from_arg_matches_mut(&mut matches))
        .unwrap_or_else(|error| error.format(&mut command).exit());
    // Taking the description of all flags apart takes longer than some answers.
    std::mem::forget(command);
    cli
}

/// The command line once more, with the project's defaults where it says nothing itself.
fn with_defaults(cli: args::Cli, output: &Output) -> Result<args::Cli, Status> {
    let Some(path) = config_file(&cli) else {
        return Ok(cli);
    };
    let name = input::display_name(&path);
    if cli.config.is_none()
        && let Some(complaint) = config::distrust(&path)
    {
        return Err(output.complain(&complaint));
    }
    let text =
        input::read_text(&path).map_err(|error| output.complain(&format!("{name}: {error}")))?;
    let source = Source::new(name, text);
    let directory = path.parent().map(PathBuf::from).unwrap_or_default();
    let command = config::apply(args::whole(), &source, &directory).map_err(|problems| {
        let look = output.error_look();
        output.remark(&diagnostics::render(&source, &problems, look));
        Status::Error
    })?;
    let mut whole = command.clone();
    let matches = command.get_matches();
    whole.build();
    if let Some(command) = matches.subcommand_name()
        && let Some(command) = whole.find_subcommand(command)
    {
        config::remember(&source, command);
    }
    Ok(args::Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()))
}

/// The file with the project's defaults, where one counts.
fn config_file(cli: &args::Cli) -> Option<PathBuf> {
    use args::Command;
    let has_none = matches!(
        cli.command,
        Command::Completions(_) | Command::Man(_) | Command::Playground(_) | Command::Lsp(_)
    );
    if cli.no_config || has_none {
        return None;
    }
    if let Some(path) = &cli.config {
        return Some(path.clone());
    }
    let here = std::env::current_dir().ok()?;
    let path = config::find(&here)?;
    // A short name reads better.
    Some(path.strip_prefix(&here).map(PathBuf::from).unwrap_or(path))
}
