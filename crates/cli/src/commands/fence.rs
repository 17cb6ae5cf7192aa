//! `palisade fence`

use super::ask::{Asking, options};
use crate::args::FenceArgs;
use crate::output::Output;
use crate::pairs;
use palisade_check::Control;
use palisade_fence::{Costs, fences};
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
    if args.write {
        return output.complain("`--write` cannot write programs back yet");
    }
    if args.all {
        return output.complain("`--all` cannot list other sets of fences yet");
    }
    if args.cost != "unit" {
        return output.complain("only `--cost unit` can be used yet");
    }
    let options = options(model, criterion, false, &args.search);
    let answer = |program: &Program, control: &Control<'_>| {
        let costs = Costs::unit(program);
        fences(program, &costs, &options, control)
            .map(|found| Findings::Fences(found, costs))
            .map_err(Failure::Refused)
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
