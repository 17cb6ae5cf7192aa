//! `palisade export`

use crate::args::{ExportArgs, Target};
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
        true => palisade_check::instrument(&input.program),
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
