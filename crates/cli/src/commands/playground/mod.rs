//! `palisade playground`: a page on this machine with an editor, and the verdict and the picture beside it.
//!
//! It listens on the loopback address only, and refuses requests that came by another name (a page elsewhere could have its own name lead
//! here) or from another page. It writes no file and contacts no other host. Each question is answered by a process of its own
//! ([`answer`]), which has hard limits: nothing that a text does can end the server ([`server`]).

mod answer;
mod built;
mod server;

use crate::args::PlaygroundArgs;
use crate::output::Output;
use answer::Asked;
pub use answer::Kind;
use built::Built;
use palisade_report::Status;
use server::{MOST_BODY, Server};
use std::io::Read;
use std::net::{Ipv4Addr, TcpListener};

pub fn run(args: &PlaygroundArgs, output: &mut Output) -> Status {
    if let Some(kind) = args.answer {
        return answer_one(kind, args, output);
    }
    let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)) {
        Ok(listener) => listener,
        Err(error) => {
            return output.complain(&format!(
                "port {} cannot be used: {error}; `--port 0` takes any that is free",
                args.port
            ));
        }
    };
    let built = match &args.page {
        Some(directory) => match Built::read(directory) {
            Ok(built) => Some(built),
            Err(complaint) => return output.complain(&complaint),
        },
        None => Built::installed(),
    };
    let server = match Server::new(listener, args.timeout, args.memory, built) {
        Ok(server) => server,
        Err(error) => return output.complain(&format!("the page cannot be served: {error}")),
    };
    let said = output.answer(&format!(
        "The playground is at http://127.0.0.1:{}/ for as long as this runs; Ctrl-C ends it.\n",
        server.port()
    ));
    if said.is_err() {
        return Status::Error;
    }
    match server.run() {
        Ok(()) => Status::Holds,
        Err(error) => output.complain(&format!("the page cannot be served any longer: {error}")),
    }
}

/// The process of one question: reads it from standard input, and prints the answer.
fn answer_one(kind: Kind, args: &PlaygroundArgs, output: &mut Output) -> Status {
    limit_address_space(args.memory);
    let mut body = Vec::new();
    let read = std::io::stdin()
        .take(MOST_BODY as u64)
        .read_to_end(&mut body);
    let asked = match read {
        Ok(_) => Asked::read(kind, &body),
        Err(error) => Err(error.to_string()),
    };
    match asked {
        Err(what) => output.complain(&what),
        Ok(asked) => {
            let answer = answer::answer(asked, args.timeout, args.memory);
            match output.answer(&answer.to_string()) {
                Ok(()) => Status::Holds,
                Err(_) => Status::Error,
            }
        }
    }
}

/// Whatever a search does, this process gets no more. Address space is used up faster than memory (stacks and arenas are reserved whole), so there is
/// more of it than of memory; a search that keeps its own limit never meets this one.
#[cfg(unix)]
fn limit_address_space(memory: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let old = getrlimit(Resource::As);
    let most = memory.saturating_mul(2).saturating_add(1 << 30);
    let most = old.maximum.map_or(most, |old| old.min(most));
    let new = Rlimit {
        current: Some(most),
        maximum: Some(most),
    };
    // Where it cannot be set, the time limit and the limit that a search keeps by itself are left.
    let _ = setrlimit(Resource::As, new);
}

#[cfg(not(unix))]
fn limit_address_space(_memory: u64) {}
