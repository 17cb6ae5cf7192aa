//! `palisade lsp`

use crate::args::LspArgs;
use crate::output::Output;
use palisade_lsp::{Connection, Settings, serve};
use palisade_report::Status;

pub fn run(args: &LspArgs, output: &mut Output) -> Status {
    let settings = Settings {
        timeout: args.timeout.as_secs_f64(),
        memory: (args.memory >> 20).max(1),
        rust: args.rust,
        ..Settings::default()
    };
    let (connection, threads) = Connection::stdio();
    let served = serve(&connection, settings);
    // The threads that read and write end once nothing can be sent to them any more.
    drop(connection);
    match served {
        Ok(()) => match threads.join() {
            Ok(()) => Status::Holds,
            Err(error) => output.complain(&format!("the editor can no longer be reached: {error}")),
        },
        Err(error) => output.complain(&format!("the editor said something unexpected: {error}")),
    }
}
