//! As much of HTTP/1.1 as a page on this machine needs: one request per connection, everything limited.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// Request line and headers together are no longer than this.
const MOST_HEAD: u64 = 16 << 10;
/// A body is no longer than this.
pub const MOST_BODY: u64 = 256 << 10;
/// A request is here within this time.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request.
#[derive(Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// The header's values, by its name in small letters.
    pub fn header<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers
            .iter()
            .filter(move |(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }
}

/// A response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub kind: &'static str,
    pub body: String,
}

impl Response {
    /// Plain words.
    pub fn words(status: u16, text: &str) -> Self {
        Response {
            status,
            kind: "text/plain; charset=utf-8",
            body: format!("{text}\n"),
        }
    }
}

/// Answers one connection: reads a request, lets `allow` refuse it before its body is read, and sends what `answer` says.
pub fn serve(
    stream: &TcpStream,
    allow: impl Fn(&Request) -> Result<(), Response>,
    answer: impl Fn(&Request) -> Response,
) {
    let limits = stream
        .set_read_timeout(Some(PATIENCE))
        .and(stream.set_write_timeout(Some(PATIENCE)));
    if limits.is_err() {
        return;
    }
    let response = match read(stream, allow) {
        Ok(Some(request)) => answer(&request),
        Ok(None) => return,
        Err(response) => response,
    };
    let _ = write(stream, &response);
    // What is still on its way is read, though not for ever: closing before that would throw our words away at the other end.
    let _ = stream.shutdown(Shutdown::Write);
    let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
    let _ = std::io::copy(&mut stream.take(4 * MOST_BODY), &mut std::io::sink());
}

/// A request; none where nobody says anything.
fn read(
    stream: &TcpStream,
    allow: impl Fn(&Request) -> Result<(), Response>,
) -> Result<Option<Request>, Response> {
    let wrong = |what: &str| Response::words(400, what);
    let until = Instant::now() + PATIENCE;
    let mut reader = BufReader::new(stream.take(MOST_HEAD));
    let mut lines = Vec::new();
    loop {
        let mut line = Vec::new();
        match reader.read_until(b'\n', &mut line) {
            Ok(0) if lines.is_empty() => return Ok(None),
            Ok(_) if line.ends_with(b"\n") && Instant::now() < until => {}
            Ok(_) if reader.get_ref().limit() == 0 => {
                return Err(Response::words(431, "these headers are too long"));
            }
            Ok(_) => return Err(wrong("this is no request")),
            Err(_) if lines.is_empty() => return Ok(None),
            Err(_) => return Err(Response::words(408, "the request did not come in time")),
        }
        let line = String::from_utf8(line).map_err(|_| wrong("this is no request"))?;
        let line = line.trim_end_matches(['\r', '\n']);
        match (line.is_empty(), lines.is_empty()) {
            (true, true) => return Err(wrong("this is no request")),
            (true, false) => break,
            _ => lines.push(line.to_owned()),
        }
    }
    let mut words = lines[0].split(' ');
    let (Some(method), Some(path), Some("HTTP/1.1" | "HTTP/1.0"), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(wrong("this is no request"));
    };
    let mut headers = Vec::new();
    for line in &lines[1..] {
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| wrong("this is no header"))?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        headers,
        body: Vec::new(),
    };
    allow(&request)?;
    if request.method == "POST" {
        request.body = body(&request, &mut reader, until)?;
    }
    Ok(Some(request))
}

fn body(
    request: &Request,
    reader: &mut BufReader<std::io::Take<&TcpStream>>,
    until: Instant,
) -> Result<Vec<u8>, Response> {
    if request.header("transfer-encoding").next().is_some() {
        return Err(Response::words(411, "say how long the body is"));
    }
    let lengths: Vec<&str> = request.header("content-length").collect();
    let [length] = lengths[..] else {
        return Err(Response::words(411, "say how long the body is"));
    };
    let digits = !length.is_empty() && length.bytes().all(|b| b.is_ascii_digit());
    let length = match length.parse::<u64>() {
        Ok(length) if digits && length <= MOST_BODY => length,
        _ if digits => return Err(Response::words(413, "this is too long for a program")),
        _ => return Err(Response::words(400, "this is no length")),
    };
    reader.get_mut().set_limit(length);
    let mut body = Vec::new();
    let mut piece = [0; 8 << 10];
    while (body.len() as u64) < length {
        let rest = length - body.len() as u64;
        let most = piece.len().min(usize::try_from(rest).unwrap_or(usize::MAX));
        match reader.read(&mut piece[..most]) {
            Ok(count) if count > 0 && Instant::now() < until => {
                body.extend_from_slice(&piece[..count]);
            }
            _ => return Err(Response::words(408, "the request did not come in time")),
        }
    }
    Ok(body)
}

fn write(mut stream: &TcpStream, response: &Response) -> std::io::Result<()> {
    let reason = match response.status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Error",
    };
    // Nothing is fetched from elsewhere, nothing runs but the page's own script, and nobody may frame the page.
    let head = format!(
        "HTTP/1.1 {} {reason}\r\n\
         Content-Type: {}\r\n\
         Content-Length: {}\r\n\
         Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
         X-Content-Type-Options: nosniff\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\
         Referrer-Policy: no-referrer\r\n\
         Cache-Control: no-store\r\n\
         Connection: close\r\n\r\n",
        response.status,
        response.kind,
        response.body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(response.body.as_bytes())?;
    stream.flush()
}
