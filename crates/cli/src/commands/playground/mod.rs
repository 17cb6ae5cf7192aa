//! `palisade playground`: a page on this machine with an editor, and the verdict and the picture beside it.
//!
//! It listens on the loopback address only, and answers nobody who came by another name (a page elsewhere could have its own name lead
//! here) or from another page. It writes no file and contacts nobody.

mod http;

use crate::args::PlaygroundArgs;
use crate::limits;
use crate::output::Output;
use crate::pairs;
use http::{Request, Response};
use palisade_check::{Control, Options, QUESTIONS};
use palisade_fence::{Candidates, Costs, FenceResult, Kinds, Wishes, fences};
use palisade_lang::{ParseOptions, Program, Repair, Source, parse, repaired_text};
use palisade_memory::{Criterion, Model, Witness};
use palisade_param::check;
use palisade_report::{
    Failure, FenceFindings, FileReport, Findings, Look, Question, Status, picture, text,
};
use serde_json::{Value, json};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const PAGE: &str = include_str!("page.html");
const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");

/// Programs to begin with: what they are, and their texts.
const EXAMPLES: &[(&str, &str)] = &[
    (
        "Store buffering",
        include_str!("../../../../../programs/litmus/sb.pal"),
    ),
    (
        "Message passing",
        include_str!("../../../../../programs/litmus/mp.pal"),
    ),
    (
        "Peterson's lock",
        include_str!("../../../../../programs/mutex/peterson-sc.pal"),
    ),
    (
        "Dekker's lock",
        include_str!("../../../../../programs/mutex/dekker-sc.pal"),
    ),
    (
        "Bakery lock",
        include_str!("../../../../../programs/mutex/bakery-2.pal"),
    ),
    (
        "Ticket lock",
        include_str!("../../../../../programs/locks/ticketlock.pal"),
    ),
    (
        "Sequence lock",
        include_str!("../../../../../programs/sync/seqlock.pal"),
    ),
    (
        "Work-stealing queue",
        include_str!("../../../../../programs/queues/chase-lev-sc.pal"),
    ),
    (
        "A lost wake-up",
        include_str!("../../../../../programs/bugs/postgresql-latch.pal"),
    ),
    (
        "Your own",
        "shared x;\n\nthread p {\n  x = 1;\n}\n\nthread q {\n  let r = x;\n}\n",
    ),
];

/// More connections at once are turned away.
const MOST_CONNECTIONS: usize = 32;
/// Parsers and searches of the command have the stack of a main thread.
const STACK: usize = 16 << 20;
/// Longer runs are told, not drawn.
const MOST_EVENTS: usize = 400;

pub fn run(args: &PlaygroundArgs, output: &mut Output) -> Status {
    let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)) {
        Ok(listener) => listener,
        Err(error) => {
            return output.complain(&format!(
                "port {} cannot be used: {error}; `--port 0` takes any that is free",
                args.port
            ));
        }
    };
    let port = match listener.local_addr() {
        Ok(address) => address.port(),
        Err(error) => return output.complain(&format!("there is no port: {error}")),
    };
    let said = output.answer(&format!(
        "The playground is at http://127.0.0.1:{port}/ for as long as this runs; Ctrl-C ends it.\n"
    ));
    if said.is_err() {
        return Status::Error;
    }
    let playground = Arc::new(Playground {
        port,
        timeout: args.timeout,
        memory: args.memory,
        searching: Mutex::new(()),
        pages: Mutex::new(Vec::new()),
    });
    let connections = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Too many open files, say: that passes.
            std::thread::sleep(Duration::from_millis(100));
            continue;
        };
        if connections.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
            connections.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (playground, counter) = (playground.clone(), connections.clone());
        let started = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || {
                let serve = AssertUnwindSafe(|| playground.serve(&stream));
                let _ = std::panic::catch_unwind(serve);
                counter.fetch_sub(1, Ordering::Relaxed);
            });
        if started.is_err() {
            connections.fetch_sub(1, Ordering::Relaxed);
        }
    }
    Status::Holds
}

struct Playground {
    port: u16,
    timeout: Duration,
    memory: u64,
    /// One search at a time.
    searching: Mutex<()>,
    /// For each open page the flag that ends its last search: once its text has changed, nobody wants the old answer.
    pages: Mutex<Vec<(String, Arc<AtomicBool>)>>,
}

/// What the page asks.
struct Asked {
    text: String,
    model: Model,
    criterion: Criterion,
    page: String,
}

impl Playground {
    fn serve(&self, stream: &TcpStream) {
        http::serve(stream, |r| self.allow(r), |r| self.answer(r));
    }

    /// Only our own page may ask: it is here by one of our own names, and so is whoever sent the request.
    fn allow(&self, request: &Request) -> Result<(), Response> {
        let names = [
            format!("127.0.0.1:{}", self.port),
            format!("localhost:{}", self.port),
        ];
        let hosts: Vec<&str> = request.header("host").collect();
        let known = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let is_ours = matches!(hosts[..], [host] if known(host));
        if !is_ours {
            return Err(Response::words(403, "there is nothing here by that name"));
        }
        let mut origins = request.header("origin");
        if !origins.all(|origin| origin.strip_prefix("http://").is_some_and(known)) {
            return Err(Response::words(403, "another page may not ask here"));
        }
        Ok(())
    }

    fn answer(&self, request: &Request) -> Response {
        let page = |kind, body: &str| Response {
            status: 200,
            kind,
            body: body.to_owned(),
        };
        let path = request.path.split('?').next().unwrap_or_default();
        match (request.method.as_str(), path) {
            ("GET", "/") => page("text/html; charset=utf-8", PAGE),
            ("GET", "/page.js") => page("text/javascript; charset=utf-8", SCRIPT),
            ("GET", "/page.css") => page("text/css; charset=utf-8", STYLE),
            ("GET", "/setup") => json_response(&setup()),
            ("POST", "/check" | "/fence") => self.ask(request, path == "/fence"),
            (_, "/" | "/page.js" | "/page.css" | "/setup" | "/check" | "/fence") => {
                Response::words(405, "not like this")
            }
            _ => Response::words(404, "there is nothing here"),
        }
    }

    fn ask(&self, request: &Request, wants_fences: bool) -> Response {
        let kinds: Vec<&str> = request.header("content-type").collect();
        if !matches!(kinds[..], [kind] if kind.starts_with("application/json")) {
            return Response::words(415, "questions are asked in JSON");
        }
        let asked = match Asked::read(&request.body) {
            Ok(asked) => asked,
            Err(what) => return Response::words(400, &what),
        };
        let cancel = self.supersede(&asked.page);
        let _alone = self
            .searching
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let report = AssertUnwindSafe(|| self.report(&asked, wants_fences, &cancel));
        let answer = std::panic::catch_unwind(report).unwrap_or_else(|_| {
            json!({
                "verdict": "error",
                "headline": "palisade itself went wrong here; please report this, with the program",
            })
        });
        json_response(&answer)
    }

    /// Ends the search that the page has under way, and begins anew.
    fn supersede(&self, page: &str) -> Arc<AtomicBool> {
        let flag = Arc::new(AtomicBool::new(false));
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|(name, old)| {
            if name == page {
                old.store(true, Ordering::Relaxed);
            }
            // Nobody else holds the flag of a search that has ended.
            name != page && Arc::strong_count(old) > 1
        });
        pages.push((page.to_owned(), flag.clone()));
        flag
    }

    fn report(&self, asked: &Asked, wants_fences: bool, cancel: &AtomicBool) -> Value {
        let control = Control {
            cancel,
            progress: &|_| {},
        };
        let room = limits::held().saturating_add(self.memory);
        let options = Options {
            timeout: Some(self.timeout),
            memory: Some(room),
            machine: Some(limits::machine),
            ..Options::new(asked.model, asked.criterion)
        };
        // A name without an extension: the language follows from a look at the text.
        let source = Source::new("program", asked.text.as_str());
        let (program, result) = match parse(&source, &ParseOptions::default()) {
            Err(problems) => (None, Err(Failure::Text(source, problems))),
            Ok(parsed) => {
                let result = match wants_fences {
                    true => search_fences(&parsed.program, &options, &control),
                    false => check(&parsed.program, &options, &control).map(Findings::One),
                };
                (Some(parsed.program), result.map_err(Failure::Refused))
            }
        };
        let report = FileReport {
            file: "program".to_owned(),
            model: asked.model,
            question: match wants_fences {
                true => Question::Fence(asked.criterion),
                false => Question::Check(asked.criterion),
            },
            program,
            result,
        };
        told(&report)
    }
}

impl Asked {
    fn read(body: &[u8]) -> Result<Asked, String> {
        let value: Value =
            serde_json::from_slice(body).map_err(|error| format!("this is no JSON: {error}"))?;
        let field = |name: &str| {
            let text = value[name].as_str().map(str::to_owned);
            text.ok_or_else(|| format!("`{name}` is missing"))
        };
        let (model, criterion) = (field("model")?, field("criterion")?);
        let pair = QUESTIONS
            .iter()
            .find(|(m, c)| m.name() == model && c.name() == criterion);
        let Some(&(model, criterion)) = pair else {
            return Err(format!(
                "the criterion {criterion:?} has no meaning under the model {model:?}"
            ));
        };
        Ok(Asked {
            text: field("text")?,
            model,
            criterion,
            page: field("page")?,
        })
    }
}

fn json_response(value: &Value) -> Response {
    Response {
        status: 200,
        kind: "application/json",
        body: value.to_string(),
    }
}

/// What the page can offer.
fn setup() -> Value {
    let example = |(name, text): &(&str, &str)| json!({ "name": name, "text": shown(text) });
    let model = |model: Model| {
        let criteria: Vec<&str> = pairs::criteria(model).iter().map(|c| c.name()).collect();
        json!({ "name": model.name(), "criteria": criteria })
    };
    json!({
        "examples": EXAMPLES.iter().map(example).collect::<Vec<_>>(),
        "models": [model(Model::Tso), model(Model::Ra), model(Model::Sc)],
    })
}

/// An example without the lines that say which verdicts it must get: those would give the answer away.
fn shown(text: &str) -> String {
    let kept: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("// expect"))
        .collect();
    let text = kept.join("\n").replace("\n//\n\n", "\n\n");
    format!("{text}\n")
}

fn search_fences(
    program: &Program,
    options: &Options,
    control: &Control<'_>,
) -> Result<Findings, palisade_check::Refusal> {
    let candidates = Candidates::new(program, Kinds::FENCES, &Costs::Unit);
    let fences = fences(&candidates, options, &Wishes::default(), control)?;
    let text = match &fences.result {
        FenceResult::Optimal(set) if !set.repairs.is_empty() => {
            let repairs: Vec<Repair> = set.repairs.iter().map(|c| c.repair).collect();
            Some(repaired_text(program, &repairs))
        }
        _ => None,
    };
    Ok(Findings::Fences(Box::new(FenceFindings {
        fences,
        existing: None,
        text,
        written: false,
    })))
}

/// The report as the page shows it.
fn told(report: &FileReport) -> Value {
    let whole = text::render(report, Look::PLAIN);
    let (verdict, witness, fenced) = match &report.result {
        Err(_) => ("error", None, None),
        Ok(Findings::One(answer)) => (
            palisade_report::words::verdict(&answer.verdict),
            answer.witnesses.first(),
            None,
        ),
        Ok(Findings::Fences(found)) => {
            let verdict = match found.fences.result {
                FenceResult::Optimal(_) => "holds",
                FenceResult::None => "violated",
                FenceResult::Unknown { .. } => "unknown",
            };
            let text = found.text.as_ref().and_then(|text| text.as_ref().ok());
            (verdict, found.fences.witness.as_ref(), text)
        }
        Ok(Findings::All(_) | Findings::Models(_)) => ("error", None, None),
    };
    let mut lines: Vec<u32> = match &report.result {
        Ok(Findings::Fences(found)) if fenced.is_some() => fence_lines(report, found),
        Err(Failure::Text(source, problems)) => problems
            .iter()
            .map(|problem| source.line_column(problem.span.start).line)
            .collect(),
        _ => witness.map(involved).unwrap_or_default(),
    };
    lines.sort_unstable();
    lines.dedup();
    let svg = match (witness, &report.program) {
        (Some(witness), Some(program)) if witness.events.len() <= MOST_EVENTS => {
            Some(picture::run(witness, program, "program").svg())
        }
        _ => None,
    };
    let (headline, rest) = match verdict {
        "error" => ("", whole.as_str()),
        _ => whole.split_once('\n').unwrap_or((&whole, "")),
    };
    json!({
        "verdict": verdict,
        "headline": headline.strip_prefix("program: ").unwrap_or(headline),
        "text": rest.trim_matches('\n'),
        "lines": lines,
        "svg": svg,
        "fenced": fenced,
    })
}

/// The lines of what the fences go before.
fn fence_lines(report: &FileReport, found: &FenceFindings) -> Vec<u32> {
    let (Some(program), FenceResult::Optimal(set)) = (&report.program, &found.fences.result) else {
        return Vec::new();
    };
    let start = |repair| program.site(repair).span.start;
    set.repairs
        .iter()
        .map(|c| program.source.line_column(start(c.repair)).line)
        .collect()
}

/// The lines of what the cycle or pattern speaks of.
fn involved(witness: &Witness) -> Vec<u32> {
    let pattern = witness.pattern.iter().flat_map(|p| &p.events);
    witness
        .cycle
        .iter()
        .chain(pattern)
        .filter_map(|&index| witness.events.get(index))
        .map(|event| event.line)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_a_program_and_gives_nothing_away() {
        for (name, text) in EXAMPLES {
            let text = shown(text);
            assert!(!text.contains("expect"), "{name}");
            let source = Source::new("program", text);
            assert!(parse(&source, &ParseOptions::default()).is_ok(), "{name}");
        }
    }
}
