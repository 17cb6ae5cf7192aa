//! The server of the page: HTTP by hyper, one request for each connection, deadlines and bounds for everything that a client could draw out.
#![allow(
    clippy::result_large_err,
    reason = "a refusal is an answer like any other, and there is one for each connection"
)]

use super::answer::{self, Asked, Kind};
use super::built::{self, Built};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN,
    TRANSFER_ENCODING,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::Value;
use std::collections::HashMap;
use std::convert::Infallible;
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

const PAGE: &str = include_str!("page.html");
const SCRIPT: &str = include_str!("page.js");
const STYLE: &str = include_str!("page.css");

/// Request line and headers together are no longer than this.
const MOST_HEAD: usize = 16 << 10;
/// A body is no longer than this.
pub const MOST_BODY: usize = 256 << 10;
/// An answer is no longer than this: a picture of a long run is a few megabytes.
const MOST_ANSWER: u64 = 32 << 20;
/// The head of a request is here within this time, and so is its body.
const DEADLINE: Duration = Duration::from_secs(10);
/// So many connections are served at once; others wait for the operating system to hand them over.
const MOST_CONNECTIONS: usize = 512;
/// So many questions wait while others are answered; more get 503.
const MOST_WAITING: usize = 16;

/// Nothing is fetched from elsewhere, nothing runs but the page's own script, and no other page may frame this one.
const HEADERS: &[(&str, &str)] = &[
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
    ("connection", "close"),
];

type Answer = Response<Full<Bytes>>;

/// A socket that listens, and how questions are answered.
pub struct Server {
    listener: TcpListener,
    desk: Desk,
}

/// What all connections share.
struct Desk {
    port: u16,
    timeout: Duration,
    memory: u64,
    /// Processes that search at the same time: one for each core.
    searching: Semaphore,
    /// Questions that wait for such a process.
    waiting: AtomicUsize,
    /// For each open page its last question, by number: dropping the sender ends it. Once a page's text has changed, the old answer is of no use.
    pages: Mutex<HashMap<String, (u64, oneshot::Sender<()>)>>,
    questions: AtomicU64,
    /// The page that answers by itself, where it was built.
    built: Option<Built>,
}

impl Server {
    pub fn new(
        listener: TcpListener,
        timeout: Duration,
        memory: u64,
        built: Option<Built>,
    ) -> std::io::Result<Self> {
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let desk = Desk {
            port,
            timeout,
            memory,
            searching: Semaphore::new(cores),
            waiting: AtomicUsize::new(0),
            pages: Mutex::default(),
            questions: AtomicU64::new(0),
            built,
        };
        Ok(Server { listener, desk })
    }

    pub fn port(&self) -> u16 {
        self.desk.port
    }

    /// Serves until the process ends.
    pub fn run(self) -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let desk = Arc::new(self.desk);
            let connections = Arc::new(Semaphore::new(MOST_CONNECTIONS));
            loop {
                let place = connections.clone().acquire_owned().await;
                match listener.accept().await {
                    Ok((stream, _)) => {
                        let desk = desk.clone();
                        tokio::spawn(async move {
                            desk.serve(stream).await;
                            drop(place);
                        });
                    }
                    // Too many open files, say: that passes.
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        })
    }
}

impl Desk {
    /// How long a process may take until it is ended from outside: it keeps its own limit, and this is for when it does not.
    fn longest_search(&self) -> Duration {
        self.timeout
            .saturating_mul(2)
            .saturating_add(Duration::from_secs(3))
    }

    /// One connection, which ends in any case.
    async fn serve(self: Arc<Self>, stream: TcpStream) {
        let queue = u32::try_from(MOST_WAITING).unwrap_or(u32::MAX);
        let longest = self
            .longest_search()
            .saturating_mul(queue)
            .saturating_add(4 * DEADLINE);
        let service = service_fn(|request| {
            let desk = self.clone();
            async move { Ok::<_, Infallible>(desk.answer(request).await) }
        });
        let Ok((stream, mut rest)) = twice(stream) else {
            return;
        };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(DEADLINE)
            .max_buf_size(MOST_HEAD)
            .keep_alive(false)
            .title_case_headers(true)
            .serve_connection(TokioIo::new(stream), service);
        // What was wrong with a request has been answered as far as it can be.
        let _ = timeout(longest, connection).await;
        // What is still on its way is read, though not for ever: closing before that would throw the answer away at the other end.
        let drained = async {
            rest.shutdown().await?;
            let mut rest = rest.take(4 * MOST_BODY as u64);
            tokio::io::copy(&mut rest, &mut tokio::io::sink()).await
        };
        let _ = timeout(Duration::from_millis(500), drained).await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        if let Err(refusal) = self.allow(&request) {
            return refusal;
        }
        let page = |kind, body: &'static str| reply(StatusCode::OK, kind, body);
        if request.method() == Method::GET
            && let Some(built) = &self.built
            && let Some((kind, content)) = built.file(request.uri().path())
        {
            let mut response = reply(StatusCode::OK, kind, content.to_vec());
            let policy = HeaderValue::from_static(built::POLICY);
            response
                .headers_mut()
                .insert(CONTENT_SECURITY_POLICY, policy);
            return response;
        }
        match (request.method(), request.uri().path()) {
            (&Method::GET, "/") => page("text/html; charset=utf-8", PAGE),
            (&Method::GET, "/page.js") => page("text/javascript; charset=utf-8", SCRIPT),
            (&Method::GET, "/page.css") => page("text/css; charset=utf-8", STYLE),
            (&Method::GET, "/setup") => json(&answer::setup()),
            (&Method::POST, "/check") => self.ask(Kind::Check, request).await,
            (&Method::POST, "/fence") => self.ask(Kind::Fence, request).await,
            (&Method::POST, "/orders") => self.ask(Kind::Orders, request).await,
            (_, "/" | "/page.js" | "/page.css" | "/setup" | "/check" | "/fence" | "/orders") => {
                words(StatusCode::METHOD_NOT_ALLOWED, "not like this")
            }
            _ => words(StatusCode::NOT_FOUND, "there is nothing here"),
        }
    }

    /// Only our own page may ask: the request came by one of our own names, and from a page that has one.
    fn allow(&self, request: &Request<Incoming>) -> Result<(), Answer> {
        let names = [
            format!("127.0.0.1:{}", self.port),
            format!("localhost:{}", self.port),
        ];
        let known = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let forbidden = |text| Err(words(StatusCode::FORBIDDEN, text));
        let hosts = values(request, HOST);
        if !matches!(hosts[..], [Some(host)] if known(host)) {
            return forbidden("there is nothing here by that name");
        }
        let is_ours = |origin: &Option<&str>| {
            origin.is_some_and(|origin| origin.strip_prefix("http://").is_some_and(known))
        };
        if !values(request, ORIGIN).iter().all(is_ours) {
            return forbidden("another page may not ask here");
        }
        Ok(())
    }

    async fn ask(&self, kind: Kind, request: Request<Incoming>) -> Answer {
        match self.try_to_answer(kind, request).await {
            Ok(answer) | Err(answer) => answer,
        }
    }

    async fn try_to_answer(
        &self,
        kind: Kind,
        request: Request<Incoming>,
    ) -> Result<Answer, Answer> {
        let kinds = values(&request, CONTENT_TYPE);
        if !matches!(kinds[..], [Some(kind)] if kind.starts_with("application/json")) {
            let problem = "questions are asked in JSON";
            return Err(words(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem));
        }
        let body = body(request).await?;
        let asked =
            Asked::read(kind, &body).map_err(|what| words(StatusCode::BAD_REQUEST, &what))?;
        let (number, ended) = self.supersede(&asked.page);
        let answer = tokio::select! {
            answer = self.search(kind, &body) => answer,
            _ = ended => Ok(json(&answer::unknown("another question came after this one"))),
        };
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if pages.get(&asked.page).is_some_and(|(n, _)| *n == number) {
            pages.remove(&asked.page);
        }
        answer
    }

    /// Ends the question that the page has asked before, and begins anew.
    fn supersede(&self, page: &str) -> (u64, oneshot::Receiver<()>) {
        let number = self.questions.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.insert(page.to_owned(), (number, sender));
        (number, receiver)
    }

    /// Waits for its turn, and lets a process of its own answer.
    async fn search(&self, kind: Kind, question: &[u8]) -> Result<Answer, Answer> {
        let _waiting = Waiting::among(&self.waiting)?;
        let _turn = self.searching.acquire().await;
        let output = match timeout(self.longest_search(), self.child(kind, question)).await {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => {
                let what = format!("no search can be started: {error}");
                return Err(words(StatusCode::SERVICE_UNAVAILABLE, &what));
            }
            Err(_) => {
                return Ok(json(&answer::unknown(
                    "the time limit is reached, and the search was ended",
                )));
            }
        };
        Ok(match serde_json::from_slice::<Value>(&output) {
            Ok(answer) => json(&answer),
            Err(_) => json(&answer::unknown(
                "the search has ended early: it needed more memory than it may, or went wrong; if this happens with a small program, please report it",
            )),
        })
    }

    /// What the process prints that answers the question. It is killed where its answer is not wanted any longer.
    async fn child(&self, kind: Kind, question: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut child = tokio::process::Command::new(std::env::current_exe()?)
            .args(["playground", "--answer", kind.name()])
            .arg(format!("--timeout={}ms", self.timeout.as_millis()))
            .arg(format!("--memory={}B", self.memory))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A process that ends before it has read everything shows by its answer what was wrong.
            let _ = stdin.write_all(question).await;
        }
        let mut output = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            stdout.take(MOST_ANSWER).read_to_end(&mut output).await?;
        }
        child.kill().await?;
        Ok(output)
    }
}

/// A place in the queue of questions.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn among(waiting: &'a AtomicUsize) -> Result<Self, Answer> {
        let place = Waiting(waiting);
        if waiting.fetch_add(1, Ordering::Relaxed) >= MOST_WAITING {
            let what = "too many questions at once; try again in a moment";
            return Err(words(StatusCode::SERVICE_UNAVAILABLE, what));
        }
        Ok(place)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A second handle of the connection, which keeps it open when the first is dropped.
fn twice(stream: TcpStream) -> std::io::Result<(TcpStream, TcpStream)> {
    let stream = stream.into_std()?;
    let second = stream.try_clone()?;
    Ok((TcpStream::from_std(stream)?, TcpStream::from_std(second)?))
}

/// A header's values; none where one is no text.
fn values(request: &Request<Incoming>, name: HeaderName) -> Vec<Option<&str>> {
    let values = request.headers().get_all(name);
    values.iter().map(|value| value.to_str().ok()).collect()
}

/// The body, which says beforehand how long it is.
async fn body(request: Request<Incoming>) -> Result<Bytes, Answer> {
    let has_length = request.headers().contains_key(CONTENT_LENGTH);
    if !has_length || request.headers().contains_key(TRANSFER_ENCODING) {
        return Err(words(
            StatusCode::LENGTH_REQUIRED,
            "say how long the body is",
        ));
    }
    let too_long = || {
        words(
            StatusCode::PAYLOAD_TOO_LARGE,
            "this is too long for a program",
        )
    };
    let announced = hyper::body::Body::size_hint(request.body()).lower();
    if announced > MOST_BODY as u64 {
        return Err(too_long());
    }
    let whole = Limited::new(request.into_body(), MOST_BODY).collect();
    match timeout(DEADLINE, whole).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(_)) => Err(too_long()),
        Err(_) => Err(words(
            StatusCode::REQUEST_TIMEOUT,
            "the request did not come in time",
        )),
    }
}

fn reply(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Answer {
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    for &(name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn json(value: &Value) -> Answer {
    reply(StatusCode::OK, "application/json", value.to_string())
}

/// Plain words.
fn words(status: StatusCode, text: &str) -> Answer {
    reply(status, "text/plain; charset=utf-8", format!("{text}\n"))
}
