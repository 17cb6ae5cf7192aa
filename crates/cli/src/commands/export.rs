//! `palisade export`

use crate::args::{CriterionName, ExportArgs, Target};
use crate::input;
use crate::output::Output;
use palisade_lang::Program;
use palisade_lang::print::{self, PromelaOptions};
use palisade_report::{Failure, Status, diagnostics, picture};

pub fn run(args: &ExportArgs, output: &mut Output) -> Status {
    let file = input::display_name(&args.file);
    let input = match input::read(&args.file, &args.reading) {
        Ok(input) => input,
        Err(Failure::Text(source, problems)) => {
            output.remark(&diagnostics::render(
                &source,
                &problems,
                output.error_look(),
            ));
            return Status::Error;
        }
        Err(failure) => return output.complain(&format!("{file}: {}", failure.reason())),
    };
    output.remark(&diagnostics::render(
        &input.program.source,
        &input.warnings,
        output.error_look(),
    ));
    let program = match args.instrumented {
        true => match instrumented(args, &input.program) {
            Ok(program) => program,
            Err(complaint) => return output.complain(&complaint),
        },
        false => input.program,
    };
    match print(&program, args.to, &file) {
        Ok(text) => {
            let _ = output.answer(&text);
            Status::Holds
        }
        Err(message) => output.complain(&format!("{file}: {message}")),
    }
}

/// The instrumented program of a check, or what is wrong with asking for it.
fn instrumented(args: &ExportArgs, program: &Program) -> Result<Program, String> {
    match (args.criterion, &args.attack) {
        (CriterionName::Robust, None) => Ok(palisade_check::instrument(program, None)),
        (CriterionName::Robust, Some(wanted)) => {
            let attacks = palisade_check::attacks(program);
            let name = |attack: &palisade_check::Attack| {
                let thread = &program.thread(attack.thread).name;
                format!("{thread}:{}:{}", attack.lines.0, attack.lines.1)
            };
            match attacks.iter().find(|attack| name(attack) == *wanted) {
                Some(attack) => Ok(palisade_check::instrument(program, Some(attack))),
                None if attacks.is_empty() => Err("the program has no attacks".to_owned()),
                None => {
                    let names: Vec<String> = attacks.iter().map(name).collect();
                    Err(format!(
                        "there is no attack `{wanted}` (THREAD:LINE OF THE STORE:LINE OF THE LOAD); there are {}",
                        names.join(", ")
                    ))
                }
            }
        }
        (CriterionName::Persistent, None) => Ok(palisade_check::instrument_persistence(program)),
        (CriterionName::Persistent, Some(_)) => {
            Err("`--attack` goes with `--criterion robust`".to_owned())
        }
        _ => Err(
            "`--instrumented` goes with `--criterion robust` and `--criterion persistent`"
                .to_owned(),
        ),
    }
}

/// The program in another language.
fn print(program: &Program, target: Target, file: &str) -> Result<String, String> {
    match target {
        Target::Pal => Ok(print::to_pal(program)),
        Target::Trencher => print::to_trencher(program),
        Target::Promela => print::to_promela(program, &PromelaOptions::default()),
        Target::Dot => Ok(print::to_dot(program)),
        Target::Svg => Ok(picture::flow(program, file).svg()),
    }
}
