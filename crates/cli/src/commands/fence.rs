//! `palisade fence`

use super::ask::Asking;
use crate::args::FenceArgs;
use crate::output::Output;
use crate::pairs;
use palisade_check::{Control, Refusal};
use palisade_lang::Program;
use palisade_memory::Model;
use palisade_report::{Failure, Findings, Question, Status};

pub fn run(args: &FenceArgs, output: &mut Output) -> Status {
    let model = Model::from(args.model);
    let Some(criterion) = args.criterion.criterion() else {
        return output.complain(
            "fences are found for one criterion at a time: `--criterion all` has no meaning here",
        );
    };
    if let Some(complaint) = pairs::complaint(model, criterion) {
        return output.complain(&complaint);
    }
    let answer = |_: &Program, _: &Control<'_>| -> Result<Findings, Failure> {
        Err(Failure::Refused(Refusal {
            message: "fences cannot be computed yet".to_owned(),
            span: None,
        }))
    };
    Asking {
        model,
        question: Question::Fence(criterion),
        input: &args.input,
        format: args.format.format,
        answer: &answer,
    }
    .run(output)
}
