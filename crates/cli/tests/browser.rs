//! The report in a real browser: Chromium without a window, driven through its debugging pipe, with real keys and a real mouse.
//!
//! Where there is no Chromium, a line says so and the test passes.

#![cfg(unix)]

use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Far longer than anything here takes, so that a browser that hangs fails the test instead of stopping it for ever.
const PATIENCE: Duration = Duration::from_secs(120);

fn find_browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    ];
    std::env::split_paths(&path)
        .flat_map(|directory| names.map(|name| directory.join(name)))
        .find(|program| program.is_file())
}

/// A browser with one page open.
struct Browser {
    child: Child,
    pipe: File,
    messages: Receiver<Value>,
    session: Option<String>,
    number: u64,
    /// What the browser reported by itself.
    events: Vec<Value>,
}

impl Browser {
    fn start(program: &Path, directory: &Path) -> Browser {
        let pipes = ["to", "from"].map(|name| directory.join(name));
        let made = Command::new("mkfifo").args(&pipes).status().unwrap();
        assert!(made.success());
        // The browser reads commands from descriptor 3 and answers on descriptor 4.
        let child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<\"$TO\" 4>\"$FROM\""])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args(["--disable-dev-shm-usage", "--remote-debugging-pipe"])
            .arg(format!(
                "--user-data-dir={}",
                directory.join("profile").display()
            ))
            .env("TO", &pipes[0])
            .env("FROM", &pipes[1])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let pipe = File::options().write(true).open(&pipes[0]).unwrap();
        let answers = File::open(&pipes[1]).unwrap();
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(answers).split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).unwrap_or(Value::Null);
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Browser {
            child,
            pipe,
            messages,
            session: None,
            number: 0,
            events: Vec::new(),
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    fn next(&mut self) -> Value {
        let message = self.messages.recv_timeout(PATIENCE);
        message.expect("the browser answers")
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        write!(self.pipe, "{message}\0").unwrap();
        self.pipe.flush().unwrap();
        loop {
            let answer = self.next();
            if answer["id"] == self.number {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    /// Opens a file and waits until it is there.
    fn open(&mut self, path: &Path) {
        self.events.clear();
        let url = format!("file://{}", path.display());
        self.call("Page.navigate", json!({ "url": url }));
        let start = Instant::now();
        while self.evaluate("document.readyState") != "complete"
            || self.evaluate("location.href") == "about:blank"
        {
            assert!(start.elapsed() < PATIENCE, "the page does not load");
        }
    }

    fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", parameters);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    fn text(&mut self, expression: &str) -> String {
        self.evaluate(expression)
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    fn key(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let parameters = json!({
                "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code,
            });
            self.call("Input.dispatchKeyEvent", parameters);
        }
    }

    /// Clicks on the middle of an element.
    fn click(&mut self, element: &str) {
        let place = self.evaluate(&format!(
            "(() => {{ const e = {element}; e.scrollIntoView({{ block: 'center' }}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let parameters = json!({
                "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1,
            });
            self.call("Input.dispatchMouseEvent", parameters);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = write!(self.pipe, "{{\"id\":0,\"method\":\"Browser.close\"}}\0");
        let start = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if start.elapsed() > Duration::from_secs(5) {
                let _ = self.child.kill();
                let _ = self.child.wait();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

const PROGRAM: &str =
    "// </code></td><script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>
shared x, y;
thread p { x = 1; let r = y; }
thread q { y = 1; let s = x; }
";

/// Writes a report about the program under an unfriendly name, and opens it.
fn opened(name: &str) -> Option<(tempfile::TempDir, Browser)> {
    let Some(program) = find_browser() else {
        palisade_testkit::skipped("Chromium");
        return None;
    };
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(name), PROGRAM).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .args(["report", name, "-o", "report.html"])
        .current_dir(directory.path())
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let mut browser = Browser::start(&program, directory.path());
    browser.open(&directory.path().join("report.html"));
    Some((directory, browser))
}

const STEP: &str = "document.querySelector('#file1-tso-robust output').textContent";
const BUFFER: &str =
    "document.querySelector('#file1-tso-robust [data-thread=q] .buffer').textContent";
const MEMORY: &str = "document.querySelector('#file1-tso-robust .memory').textContent";
const NOW: &str = "document.querySelectorAll('#file1-tso-robust .event.now').length";

#[test]
fn the_player_obeys_keys_and_mouse() {
    let Some((_directory, mut browser)) = opened("sb.pal") else {
        return;
    };
    assert_eq!(browser.text(STEP), "step 0 of 6");
    assert_eq!(browser.text(BUFFER), "empty");

    // The mouse: the button for the next step.
    browser.click("document.querySelector('#file1-tso-robust [data-go=on]')");
    assert_eq!(browser.text(STEP), "step 1 of 6");
    assert_eq!(browser.text(BUFFER), "y = 1");
    assert_eq!(browser.evaluate(NOW), 1);

    // The keyboard, which now acts on this player.
    browser.key("ArrowRight", 39);
    assert_eq!(browser.text(STEP), "step 2 of 6");
    browser.key("ArrowLeft", 37);
    assert_eq!(browser.text(STEP), "step 1 of 6");
    browser.key("End", 35);
    assert_eq!(browser.text(STEP), "step 6 of 6");
    assert_eq!(browser.text(BUFFER), "empty");
    assert_eq!(browser.text(MEMORY), "memoryx1y1");
    browser.key("ArrowRight", 39);
    assert_eq!(
        browser.text(STEP),
        "step 6 of 6",
        "there is nothing behind the end"
    );
    browser.key("Home", 36);
    assert_eq!(browser.text(STEP), "step 0 of 6");

    // A click on a box of the picture goes to its step; the line in the program lights up.
    browser.click("document.querySelector('#file1-tso-robust .event[data-first=\"1\"]')");
    assert_eq!(browser.text(STEP), "step 2 of 6");
    // The program stands beside the run, and once more in its own section.
    let lit = "[...new Set([...document.querySelectorAll('.source tr.now')].map(r => r.dataset.line))].join()";
    assert_eq!(browser.text(lit), "4");

    // The slider.
    browser.click("document.querySelector('#file1-tso-robust input')");
    assert_eq!(browser.text(STEP), "step 3 of 6");

    // Other players have not moved.
    let other = "document.querySelector('#file1-tso-persistent output').textContent";
    assert!(browser.text(other).starts_with("step 0 of"));
    quiet(&browser);
}

#[test]
fn names_and_comments_do_not_run() {
    for name in [
        "<img src=x onerror=window.pwned=1>.pal",
        "<script>window.pwned=1<!--.pal",
        "\"onmouseover='window.pwned=1'.pal",
    ] {
        let Some((_directory, mut browser)) = opened(name) else {
            return;
        };
        assert_eq!(
            browser.text("document.querySelector('h2').textContent"),
            name
        );
        let listing = browser.text("document.querySelector('.source code').textContent");
        assert!(listing.starts_with("// </code></td><script>"), "{listing}");
        // Whatever wants to run has run by now: the browser has answered twice.
        assert!(browser.evaluate("window.pwned").is_null());
        assert_eq!(browser.evaluate("document.images.length"), 0);
        quiet(&browser);
    }
}

/// Nothing was fetched but the page, no dialog was opened, nothing went wrong.
fn quiet(browser: &Browser) {
    for event in &browser.events {
        let method = event["method"].as_str().unwrap_or_default();
        assert_ne!(method, "Runtime.exceptionThrown", "{event}");
        assert_ne!(method, "Page.javascriptDialogOpening", "{event}");
        assert_ne!(method, "Log.entryAdded", "{event}");
        if method == "Network.requestWillBeSent" {
            let url = event["params"]["request"]["url"]
                .as_str()
                .unwrap_or_default();
            assert!(
                url.starts_with("file://") && url.ends_with("/report.html"),
                "{url}"
            );
        }
    }
}

/// The page fits on a telephone: nothing but the boxes that scroll by themselves is wider than the window.
#[test]
fn the_page_fits_a_narrow_window() {
    let Some((_directory, mut browser)) = opened("sb.pal") else {
        return;
    };
    for width in [360, 800, 1280] {
        let size =
            json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false });
        browser.call("Emulation.setDeviceMetricsOverride", size);
        let scroll = browser.evaluate("document.documentElement.scrollWidth");
        assert!(scroll.as_i64().unwrap_or(0) <= width, "{scroll} in {width}");
    }
}

/// The widths that the layout of pictures counts with are enough for the fonts that are really there.
#[test]
fn no_text_overlaps_on_the_screen() {
    let Some((_directory, mut browser)) = opened("sb.pal") else {
        return;
    };
    let overlaps = "[...document.querySelectorAll('svg')].flatMap(svg => {
        const boxes = [...svg.querySelectorAll('text')].map(t => [t.textContent, t.getBBox()]);
        return boxes.flatMap(([a, p], i) => boxes.slice(i + 1)
            .filter(([b, q]) => p.x < q.x + q.width && q.x < p.x + p.width
                && p.y + 3 < q.y + q.height && q.y + 3 < p.y + p.height)
            .map(([b]) => a + ' / ' + b));
    }).join('; ')";
    assert_eq!(browser.text(overlaps), "");
}

/// The playground: the verdict follows what is typed, whatever is typed stays text, and nothing is fetched from elsewhere.
#[test]
fn the_playground_answers_as_you_type() {
    let Some(program) = find_browser() else {
        palisade_testkit::skipped("Chromium");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    /// Ends with the test, also where that fails.
    struct Playground(Child);
    impl Drop for Playground {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
    let playground = Command::new(env!("CARGO_BIN_EXE_palisade"))
        // A busy machine is no reason for another answer.
        .args(["playground", "--port=0", "--timeout=60s"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut playground = Playground(playground);
    let mut line = String::new();
    let mut said = BufReader::new(playground.0.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    let url = line
        .split(' ')
        .find(|word| word.starts_with("http://"))
        .unwrap();
    let mut browser = Browser::start(&program, directory.path());
    let wait_for = |browser: &mut Browser, expression: &str| {
        let start = Instant::now();
        while browser.evaluate(expression) != true {
            if start.elapsed() > PATIENCE {
                let shown = browser.text("document.body.innerText");
                panic!("{expression}\nThe page shows:\n{shown}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    browser.call("Page.navigate", json!({ "url": url }));
    let verdict = "document.getElementById('verdict')?.textContent";
    // The first example says by `never` what must not happen: nothing else is asked of it then.
    wait_for(
        &mut browser,
        &format!("{verdict} === 'violated: not safe under TSO'"),
    );
    wait_for(
        &mut browser,
        "document.getElementById('picture').naturalWidth > 100",
    );
    browser.click("document.getElementById('text')");
    let markup = "<img src=x onerror='window.pwned = 1'><script>window.pwned = 1</script>";
    browser.call("Input.insertText", json!({ "text": markup }));
    wait_for(
        &mut browser,
        &format!("{verdict} === 'This is no program yet.'"),
    );
    let words = browser.text("document.getElementById('words').textContent");
    assert!(words.contains("<img src=x"), "{words}");
    // A program whose lines are shown with the run, and a test that is called like markup.
    for (text, property) in [
        (
            "shared x, y;\nthread p { x = 1; let r = y; } // <img src=x onerror='window.pwned = 1'>\nthread q { y = 1; let s = x; }\n",
            "robust against",
        ),
        (
            "X86 <script>window.pwned=1</script>\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n",
            "safe under",
        ),
    ] {
        // By the keyboard's focus: where the mouse would have to go moves while an answer comes in.
        browser.evaluate("document.getElementById('text').focus()");
        browser.evaluate("document.getElementById('text').select()");
        browser.call("Input.insertText", json!({ "text": text }));
        assert_eq!(
            browser.text("document.getElementById('text').value"),
            text,
            "what was typed is there"
        );
        wait_for(
            &mut browser,
            &format!("{verdict} === 'violated: not {property} TSO'"),
        );
        assert_eq!(
            browser.evaluate("document.querySelector('img[src=x]')"),
            Value::Null
        );
    }
    browser.click("document.getElementById('reset')");
    wait_for(&mut browser, &format!("{verdict}.startsWith('violated')"));
    browser.click("document.getElementById('fence')");
    wait_for(&mut browser, "!document.getElementById('take').hidden");
    browser.click("document.getElementById('apply')");
    wait_for(
        &mut browser,
        &format!("{verdict}.startsWith('holds: safe')"),
    );
    assert_eq!(browser.evaluate("window.pwned === undefined"), true);
    for event in &browser.events {
        let asked = event["params"]["request"]["url"].as_str().unwrap_or(url);
        assert!(
            asked.starts_with(url) || asked.starts_with("data:"),
            "{asked}"
        );
        assert_ne!(event["method"], "Log.entryAdded", "{event}");
        assert_ne!(event["method"], "Runtime.exceptionThrown", "{event}");
    }
}
