//! `palisade playground`, over loopback with a plain socket: what it serves, whom it refuses, and that nothing gets out of hand.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

struct Playground {
    child: Child,
    port: u16,
    directory: tempfile::TempDir,
}

impl Playground {
    fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_palisade"))
            .args(["playground", "--port=0", "--timeout=2s", "--memory=64MiB"])
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let (_, rest) = line.split_once("http://127.0.0.1:").unwrap();
        let port = rest.split('/').next().unwrap().parse().unwrap();
        Playground {
            child,
            port,
            directory,
        }
    }

    /// Sends bytes, and returns status, head and body of what comes back.
    fn send(&self, request: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(120)))
            .unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), body.to_owned())
    }

    fn get(&self, path: &str) -> (u16, String, String) {
        let port = self.port;
        self.send(&format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
        ))
    }

    fn post(&self, path: &str, more: &str, body: &str) -> (u16, String, String) {
        let port = self.port;
        let length = body.len();
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n{more}\r\n{body}"
        ))
    }

    fn ask(&self, path: &str, text: &str, criterion: &str) -> Value {
        let body = json!({
            "text": text, "model": "tso", "criterion": criterion, "page": "1",
        });
        let origin = format!("Origin: http://localhost:{}\r\n", self.port);
        let (status, _, answer) = self.post(path, &origin, &body.to_string());
        assert_eq!(status, 200, "{answer}");
        serde_json::from_str(&answer).unwrap()
    }
}

impl Drop for Playground {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const STORE_BUFFERING: &str =
    "shared x, y;\nthread p { x = 1; let r = y; }\nthread q { y = 1; let s = x; }\n";

#[test]
fn the_page_and_its_answers() {
    let playground = Playground::start();
    let (status, head, body) = playground.get("/");
    assert_eq!(status, 200);
    assert!(head.contains("Content-Security-Policy: default-src 'none'"));
    assert!(body.contains("<textarea"));
    assert!(!body.contains("://"), "nothing comes from elsewhere");
    for path in ["/page.js", "/page.css", "/setup"] {
        assert_eq!(playground.get(path).0, 200, "{path}");
    }
    assert_eq!(playground.get("/etc/passwd").0, 404);
    assert_eq!(playground.get("/../Cargo.toml").0, 404);
    assert_eq!(playground.get("/check").0, 405);

    let answer = playground.ask("/check", STORE_BUFFERING, "robust");
    assert_eq!(answer["verdict"], "violated");
    assert_eq!(answer["headline"], "violated: not robust against TSO");
    assert_eq!(answer["lines"], json!([2, 3]));
    assert!(answer["svg"].as_str().unwrap().starts_with("<svg"));
    assert!(answer["text"].as_str().unwrap().contains("buffers x = 1"));

    let answer = playground.ask("/fence", STORE_BUFFERING, "robust");
    assert_eq!(answer["verdict"], "holds");
    let fenced = answer["changed"].as_str().unwrap();
    assert_eq!(fenced.matches("fence;").count(), 2);
    let answer = playground.ask("/check", fenced, "robust");
    assert_eq!(answer["verdict"], "holds");

    let answer = playground.ask("/check", "shared x;\nthread t { y = 1; }\n", "robust");
    assert_eq!(answer["verdict"], "error");
    assert_eq!(answer["lines"], json!([2]));
    assert!(answer["text"].as_str().unwrap().contains("not declared"));

    let endless =
        "shared x, y;\nthread p { loop { x = x + 1; } }\nthread q { loop { y = y + 1; } }\n";
    let answer = playground.ask("/check", endless, "safe");
    assert_eq!(answer["verdict"], "unknown");

    let files = std::fs::read_dir(playground.directory.path()).unwrap();
    assert_eq!(files.count(), 0, "a file was written");
}

#[test]
fn whatever_is_called_like_markup_stays_text() {
    let playground = Playground::start();
    // A location of a litmus test, and a comment, that look like markup.
    let text = "shared x, y; // <script>alert(1)</script>\nthread p { x = 1; let r = y; /* <img src=x> */ }\nthread q { y = 1; let s = x; }\n";
    let answer = playground.ask("/check", text, "robust");
    assert_eq!(answer["verdict"], "violated");
    let svg = answer["svg"].as_str().unwrap();
    assert!(!svg.contains("<script") && !svg.contains("<img"), "{svg}");
    let (_, head, _) = playground.get("/setup");
    assert!(head.contains("application/json") && head.contains("nosniff"));
}

#[test]
fn strangers_are_refused() {
    let playground = Playground::start();
    let port = playground.port;
    let body = json!({ "text": "", "model": "tso", "criterion": "robust", "page": "1" });
    let body = body.to_string();
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "127.0.0.1".to_owned(),
        format!("127.0.0.1:{}", u32::from(port) + 1),
        format!("localhost.evil.example:{port}"),
        format!("127.0.0.1:{port}\r\nHost: evil.example"),
        String::new(),
    ] {
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert_eq!(playground.send(&request).0, 403, "{host}");
    }
    assert_eq!(playground.send("GET / HTTP/1.1\r\n\r\n").0, 403);
    for origin in [
        "http://evil.example".to_owned(),
        format!("https://127.0.0.1:{port}"),
        format!("http://127.0.0.1:{}", u32::from(port) + 1),
        "null".to_owned(),
        format!("http://localhost:{port}.evil.example"),
    ] {
        let header = format!("Origin: {origin}\r\n");
        assert_eq!(playground.post("/check", &header, &body).0, 403, "{origin}");
    }
    assert_eq!(playground.post("/check", "", &body).0, 200);
}

#[test]
fn odd_requests_get_an_answer_and_do_no_harm() {
    let playground = Playground::start();
    let host = format!("Host: 127.0.0.1:{}\r\n", playground.port);
    let json = "Content-Type: application/json\r\n";
    let post = |headers: &str, body: &str| {
        playground
            .send(&format!(
                "POST /check HTTP/1.1\r\n{host}{headers}\r\n{body}"
            ))
            .0
    };
    assert_eq!(post(&format!("{json}Content-Length: 1000000\r\n"), ""), 413);
    let huge = "99999999999999999999999999";
    assert_eq!(post(&format!("{json}Content-Length: {huge}\r\n"), ""), 400);
    assert_eq!(post(&format!("{json}Content-Length: -1\r\n"), ""), 400);
    assert_eq!(post(json, ""), 411);
    let chunked = format!("{json}Transfer-Encoding: chunked\r\n");
    assert_eq!(post(&chunked, "0\r\n\r\n"), 411);
    assert_eq!(post("Content-Length: 2\r\n", "{}"), 415);
    assert_eq!(
        post("Content-Type: text/plain\r\nContent-Length: 2\r\n", "{}"),
        415
    );
    assert_eq!(post(&format!("{json}Content-Length: 2\r\n"), "{}"), 400);
    assert_eq!(post(&format!("{json}Content-Length: 3\r\n"), "{{{"), 400);
    let pair = json!({ "text": "", "model": "sc", "criterion": "robust", "page": "1" });
    assert_eq!(playground.post("/check", "", &pair.to_string()).0, 400);
    assert_eq!(playground.send("nonsense\r\n\r\n").0, 400);
    assert_eq!(playground.send("GET / HTTP/9\r\n\r\n").0, 400);
    let long = format!("GET / HTTP/1.1\r\n{host}X: {}\r\n\r\n", "x".repeat(20_000));
    assert_eq!(playground.send(&long).0, 431);
    assert_eq!(playground.get("/").0, 200);
}

#[test]
fn only_this_machine_can_come_in() {
    let playground = Playground::start();
    // By which address others would come: nothing is sent.
    let probe = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    let outside = probe
        .connect("192.0.2.1:9")
        .and_then(|()| probe.local_addr());
    match outside {
        Ok(address) if !address.ip().is_loopback() => {
            let refused = TcpStream::connect_timeout(
                &(address.ip(), playground.port).into(),
                Duration::from_secs(10),
            );
            assert!(refused.is_err(), "{address} is answered");
        }
        _ => println!("this machine has no other address: that it is not answered is not tested"),
    }
    assert_eq!(playground.get("/").0, 200);
}

/// A search takes as much memory as it may, and gives it back.
#[cfg(target_os = "linux")]
#[test]
fn a_search_has_an_end_in_memory() {
    let playground = Playground::start();
    // What must never be hangs on all threads: a few of them at a time do not show it.
    let large = "shared x[4];\nthread t[4] { let n; loop { n = (n + 1) % 100; x[me] = n; } }\nnever x[0] + x[1] + x[2] + x[3] == 397;\n";
    for _ in 0..3 {
        let answer = playground.ask("/check", large, "safe");
        assert_eq!(answer["verdict"], "unknown", "{answer}");
    }
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", playground.child.id())).unwrap();
    let peak = status
        .lines()
        .find_map(|l| l.strip_prefix("VmHWM:"))
        .unwrap();
    let kib: u64 = peak.trim().split(' ').next().unwrap().parse().unwrap();
    // 64 MiB were allowed, beside what the process holds anyway.
    assert!(kib < 256 << 10, "{kib} KiB");
}

/// Clients that send a byte now and then keep no other client out, and are cut off.
#[test]
fn clients_that_drip_are_cut_off() {
    let playground = Playground::start();
    let begin = || {
        let mut stream = TcpStream::connect(("127.0.0.1", playground.port)).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nX: ").unwrap();
        stream
    };
    let mut slow: Vec<TcpStream> = (0..100).map(|_| begin()).collect();
    assert_eq!(playground.get("/").0, 200);
    let cut_off = |stream: &mut TcpStream| {
        for _ in 0..300 {
            std::thread::sleep(Duration::from_millis(200));
            let mut byte = [0; 1];
            stream.set_nonblocking(true).unwrap();
            let closed = match stream.read(&mut byte) {
                Ok(0) => true,
                Ok(_) => false,
                Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
            };
            if closed || stream.write_all(b"x").is_err() {
                return true;
            }
        }
        false
    };
    assert!(cut_off(&mut slow[0]), "a slow client is never cut off");
    assert_eq!(playground.get("/").0, 200);
}

/// What cannot be answered at once is answered by 503, not by a connection that breaks.
#[test]
fn a_crowd_gets_answers_or_is_told_to_wait() {
    let playground = Playground::start();
    let endless = "shared x, y;\nthread p { loop { x = x + 1; } }\n";
    let ask = |page: usize| {
        let body = json!({
            "text": endless, "model": "tso", "criterion": "safe", "page": page.to_string(),
        });
        playground.post("/check", "", &body.to_string()).0
    };
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let ask = &ask;
        let asked: Vec<_> = (0..200)
            .map(|page| scope.spawn(move || ask(page)))
            .collect();
        asked.into_iter().map(|a| a.join().unwrap()).collect()
    });
    assert!(
        statuses.iter().all(|s| matches!(s, 200 | 503)),
        "{statuses:?}"
    );
    assert!(
        statuses.contains(&200) && statuses.contains(&503),
        "{statuses:?}"
    );
    assert_eq!(playground.get("/").0, 200);
}

/// A process that searches is killed: the page is told, and the next question is answered.
#[cfg(target_os = "linux")]
#[test]
fn a_search_that_dies_ends_nothing_else() {
    let playground = Playground::start();
    let endless = "shared x, y;\nthread p { loop { x = x + 1; } }\n";
    let answer = std::thread::scope(|scope| {
        let asked = scope.spawn(|| playground.ask("/check", endless, "safe"));
        let children = format!("/proc/{0}/task/{0}/children", playground.child.id());
        let child = (0..500).find_map(|_| {
            std::thread::sleep(Duration::from_millis(10));
            let text = std::fs::read_to_string(&children).unwrap_or_default();
            text.split_whitespace().next().map(str::to_owned)
        });
        let child = child.expect("no process searches");
        let killed = Command::new("kill").args(["-9", &child]).status().unwrap();
        assert!(killed.success());
        asked.join().unwrap()
    });
    assert_eq!(answer["verdict"], "unknown", "{answer}");
    let answer = playground.ask("/check", STORE_BUFFERING, "robust");
    assert_eq!(answer["verdict"], "violated");
}

/// A question of a page that has asked again does not hold up the new one.
#[test]
fn a_new_question_replaces_the_old_one() {
    let playground = Playground::start();
    let endless = "shared x, y;\nthread p { loop { x = x + 1; } }\n";
    std::thread::scope(|scope| {
        let old = scope.spawn(|| playground.ask("/check", endless, "safe"));
        std::thread::sleep(Duration::from_millis(300));
        let new = playground.ask("/check", STORE_BUFFERING, "robust");
        assert_eq!(new["verdict"], "violated");
        assert_eq!(old.join().unwrap()["verdict"], "unknown");
    });
}
