//! `palisade validate`

use crate::args::ValidateArgs;
use crate::output::Output;
use palisade_report::Status;

pub fn run(_args: &ValidateArgs, output: &mut Output) -> Status {
    output.complain("witnesses cannot be replayed yet")
}
