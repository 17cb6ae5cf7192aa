//! `palisade export`

use super::ask::{cancel, guarded};
use crate::args::{CriterionName, ExportArgs, Target};
use crate::input::{self, Input};
use crate::output::Output;
use palisade::limits::{Limits, within};
use palisade_lang::Program;
use palisade_lang::meter::is_exhausted;
use palisade_lang::print;
use palisade_report::{Failure, Status, diagnostics, picture};

pub fn run(args: &'static ExportArgs, output: &mut Output) -> Status {
    let file = input::display_name(&args.file);
    let limits = Limits {
        timeout: args.timeout,
        memory: args.memory,
    };
    let printed = within(limits, cancel(), |_| {
        let printed = guarded(|| printed(args));
        (printed, is_exhausted())
    });
    let printed = match printed {
        Ok((Err(_), true)) => Err("the memory limit is reached"),
        Ok((printed, _)) => Ok(printed),
        Err(reason) => Err(reason),
    };
    match printed {
        Ok(Ok((input, text))) => {
            let look = output.error_look();
            output.remark(&diagnostics::render(
                &input.program.source,
                &input.warnings,
                look,
            ));
            let _ = output.answer(&text);
            Status::Holds
        }
        Ok(Err(Failure::Text(source, problems))) => {
            let look = output.error_look();
            output.remark(&diagnostics::render(&source, &problems, look));
            Status::Error
        }
        Ok(Err(failure)) => output.complain(&format!("{file}: {}", failure.reason())),
        Err(reason) => {
            output.complain(&format!("{file}: {reason}"));
            Status::Unknown
        }
    }
}

/// The program as it was read, and as it is printed.
fn printed(args: &ExportArgs) -> Result<(Input, String), Failure> {
    let input = input::read(&args.file, &args.reading)?.whole()?;
    let file = input::display_name(&args.file);
    let text = match args.instrumented {
        _ if args.to == Target::Client => {
            let none = || "there is no client without `--client TYPE`".to_owned();
            input.client.clone().ok_or_else(none)
        }
        true => {
            let program = instrumented(args, &input.program).map_err(Failure::Message)?;
            print(&program, args.to, &file)
        }
        false => print(&input.program, args.to, &file),
    };
    Ok((input, text.map_err(Failure::Message)?))
}

/// The instrumented program of a check, or what is wrong with asking for it.
fn instrumented(args: &ExportArgs, program: &Program) -> Result<Program, String> {
    match (args.criterion, &args.attack) {
        (CriterionName::Robust, None) => Ok(palisade_export::instrument(program, None)),
        (CriterionName::Robust, Some(wanted)) => {
            let attacks = palisade_export::attacks(program);
            let name = |attack: &palisade_export::Attack| {
                let thread = &program.thread(attack.thread).name;
                format!("{thread}:{}:{}", attack.lines.0, attack.lines.1)
            };
            match attacks.iter().find(|attack| name(attack) == *wanted) {
                Some(attack) => Ok(palisade_export::instrument(program, Some(attack))),
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
        (CriterionName::Persistent, None) => Ok(palisade_export::instrument_persistence(program)),
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
        Target::Promela => palisade_export::to_promela(program),
        Target::Dot => Ok(print::to_dot(program)),
        Target::Svg => Ok(picture::flow(program, file).svg()),
        Target::Client => Err("a client is printed as it is".to_owned()),
    }
}
