//! Every request of the protocol that is offered, as an editor makes it.

use lsp_server::{Connection, Message, Notification, Request, RequestId, Response};
use palisade_lsp::{Settings, serve};
use serde_json::{Value, json};
use std::thread::JoinHandle;
use std::time::Duration;

/// The longest that a test waits for a message that must come.
const PATIENCE: Duration = Duration::from_secs(120);

struct Editor {
    connection: Connection,
    server: Option<JoinHandle<()>>,
    requests: i32,
    /// What came while something else was waited for.
    kept: Vec<Message>,
    /// The version of the text that was sent last.
    version: std::cell::Cell<i32>,
}

impl Editor {
    fn new(options: Value) -> Editor {
        let (connection, theirs) = Connection::memory();
        let server = std::thread::spawn(move || serve(&theirs, Settings::default()).unwrap());
        let mut editor = Editor {
            connection,
            server: Some(server),
            requests: 0,
            kept: Vec::new(),
            version: 1.into(),
        };
        let capabilities = json!({ "workspace": { "codeLens": { "refreshSupport": true } } });
        let answer = editor.ask(
            "initialize",
            json!({ "capabilities": capabilities, "initializationOptions": options }),
        );
        assert_eq!(answer["serverInfo"]["name"], "palisade");
        for offered in [
            "hoverProvider",
            "definitionProvider",
            "renameProvider",
            "completionProvider",
            "documentFormattingProvider",
            "codeActionProvider",
            "codeLensProvider",
        ] {
            assert!(!answer["capabilities"][offered].is_null(), "{offered}");
        }
        editor.tell("initialized", json!({}));
        editor
    }

    fn tell(&self, method: &str, params: Value) {
        let message = Notification::new(method.to_owned(), params);
        self.connection.sender.send(message.into()).unwrap();
    }

    fn respond(&mut self, method: &str, params: Value) -> Response {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        let request = Request::new(id.clone(), method.to_owned(), params);
        self.connection.sender.send(request.into()).unwrap();
        self.wait(|message| match message {
            Message::Response(response) if response.id == id => Some(response.clone()),
            _ => None,
        })
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let response = self.respond(method, params);
        assert!(response.error.is_none(), "{method}: {:?}", response.error);
        response.result.unwrap_or(Value::Null)
    }

    fn refused(&mut self, method: &str, params: Value) -> String {
        let error = self.respond(method, params).error;
        error.unwrap_or_else(|| panic!("{method}")).message
    }

    fn wait<T>(&mut self, wanted: impl Fn(&Message) -> Option<T>) -> T {
        if let Some(at) = self.kept.iter().position(|m| wanted(m).is_some()) {
            return wanted(&self.kept.remove(at)).unwrap();
        }
        loop {
            let message = self.connection.receiver.recv_timeout(PATIENCE);
            let message = message.expect("a message");
            match wanted(&message) {
                Some(found) => return found,
                None => self.kept.push(message),
            }
        }
    }

    /// What is said about the text, once it is what is waited for.
    fn problems(&mut self, about: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let about = about.to_owned();
        // What is said about an older text may still come.
        let version = self.version.get();
        self.wait(|message| match message {
            Message::Notification(n)
                if n.method == "textDocument/publishDiagnostics"
                    && n.params["uri"] == *about
                    && (n.params["version"].is_null() || n.params["version"] == version) =>
            {
                let list = n.params["diagnostics"].as_array().unwrap().clone();
                wanted(&list).then_some(list)
            }
            _ => None,
        })
    }

    fn open(&self, uri: &str, text: &str) {
        self.version.set(1);
        self.tell(
            "textDocument/didOpen",
            json!({ "textDocument": { "uri": uri, "languageId": "pal", "version": 1, "text": text } }),
        );
    }

    fn change(&self, uri: &str, version: i32, text: &str) {
        self.version.set(version);
        self.tell(
            "textDocument/didChange",
            json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": [{ "text": text }] }),
        );
    }

    fn save(&self, uri: &str) {
        self.tell(
            "textDocument/didSave",
            json!({ "textDocument": { "uri": uri } }),
        );
    }

    fn end(mut self) {
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        self.server.take().unwrap().join().unwrap();
    }
}

const FLAGS: &str = "\
shared flag[2];

thread t[2] {
  flag[me] = 1;
  if flag[1 - me] == 0 {
    cs: skip;
  }
}

never t[0]@cs && t[1]@cs;
";
const URI: &str = "file:///flags.pal";

fn at(uri: &str, line: u32, character: u32) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } })
}

fn is_verdict(list: &[Value]) -> bool {
    let mut messages = list.iter().filter_map(|p| p["message"].as_str());
    messages.any(|m| m.starts_with("violated") || m.starts_with("unknown"))
}

/// Applies edits as an editor does.
fn edited(text: &str, edits: &Value) -> String {
    let offset = |at: &Value| {
        let line = at["line"].as_u64().unwrap() as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        start + at["character"].as_u64().unwrap() as usize
    };
    let mut edits: Vec<(usize, usize, &str)> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            let text = edit["newText"].as_str().unwrap();
            (offset(&range["start"]), offset(&range["end"]), text)
        })
        .collect();
    edits.sort_unstable();
    let mut text = text.to_owned();
    for (from, to, new) in edits.into_iter().rev() {
        text.replace_range(from..to, new);
    }
    text
}

#[test]
fn mistakes_are_shown_as_you_type() {
    let mut editor = Editor::new(json!({ "checkOnSave": false }));
    editor.open(URI, "shared flag;\nthread t { flga = 1; }\n");
    let problems = editor.problems(URI, |list| !list.is_empty());
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0]["severity"], 1);
    assert_eq!(
        problems[0]["range"]["start"],
        json!({ "line": 1, "character": 11 })
    );
    assert!(
        problems[0]["message"]
            .as_str()
            .unwrap()
            .contains("did you mean `flag`?")
    );
    // A change of a range.
    let range =
        json!({ "start": { "line": 1, "character": 11 }, "end": { "line": 1, "character": 15 } });
    editor.tell(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": URI, "version": 2 }, "contentChanges": [{ "range": range, "text": "flag" }] }),
    );
    editor.version.set(2);
    editor.problems(URI, <[Value]>::is_empty);
    // Included files are looked for beside the file.
    editor.change(URI, 3, "include \"nowhere.pal\";\nthread t { skip; }\n");
    let problems = editor.problems(URI, |list| !list.is_empty());
    assert!(
        problems[0]["message"]
            .as_str()
            .unwrap()
            .contains("nowhere.pal"),
        "{problems:?}"
    );
    editor.tell(
        "textDocument/didClose",
        json!({ "textDocument": { "uri": URI } }),
    );
    editor.problems(URI, <[Value]>::is_empty);
    editor.end();
}

#[test]
fn a_verdict_its_lens_its_run_and_its_fences() {
    let mut editor = Editor::new(json!({ "timeout": 60 }));
    editor.open(URI, FLAGS);
    let problems = editor.problems(URI, is_verdict);
    assert!(
        problems[0]["message"]
            .as_str()
            .unwrap()
            .contains("not safe under TSO"),
        "{problems:?}"
    );
    assert_eq!(problems[0]["severity"], 2);
    editor.wait(|m| {
        matches!(m, Message::Request(r) if r.method == "workspace/codeLens/refresh").then_some(())
    });

    let lenses = editor.ask(
        "textDocument/codeLens",
        json!({ "textDocument": { "uri": URI } }),
    );
    assert_eq!(lenses.as_array().unwrap().len(), 1);
    assert_eq!(lenses[0]["range"]["start"]["line"], 2);
    assert_eq!(lenses[0]["command"]["command"], "palisade.showRun");
    assert!(
        lenses[0]["command"]["title"]
            .as_str()
            .unwrap()
            .starts_with("✗ violated")
    );

    let run = editor.ask("palisade/run", json!({ "uri": URI }));
    assert_eq!(run["verdict"], "violated");
    assert!(run["svg"].as_str().unwrap().starts_with("<svg"));
    let html = run["html"].as_str().unwrap();
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("class=\"player\""));
    let same = editor.ask(
        "workspace/executeCommand",
        json!({ "command": "palisade.run", "arguments": [URI] }),
    );
    assert_eq!(same, run);

    let range =
        json!({ "start": { "line": 3, "character": 0 }, "end": { "line": 3, "character": 0 } });
    let actions = editor.ask(
        "textDocument/codeAction",
        json!({ "textDocument": { "uri": URI }, "range": range, "context": { "diagnostics": [] } }),
    );
    assert!(
        actions[0]["title"].as_str().unwrap().contains("fences"),
        "{actions}"
    );
    let action = editor.ask("codeAction/resolve", actions[0].clone());
    let fenced = edited(FLAGS, &action["edit"]["changes"][URI]);
    assert!(fenced.contains("flag[me] = 1;\n  fence;\n"), "{fenced}");

    let command = json!({ "command": "palisade.fences", "arguments": [URI] });
    editor.ask("workspace/executeCommand", command);
    let edit = editor.wait(|m| match m {
        Message::Request(r) if r.method == "workspace/applyEdit" => Some(r.params["edit"].clone()),
        _ => None,
    });
    assert_eq!(edited(FLAGS, &edit["changes"][URI]), fenced);

    // With them it holds, and the lens says so once it was saved.
    editor.change(URI, 2, &fenced);
    let lenses = editor.ask(
        "textDocument/codeLens",
        json!({ "textDocument": { "uri": URI } }),
    );
    assert!(
        lenses[0]["command"]["title"]
            .as_str()
            .unwrap()
            .contains("before the last change")
    );
    editor.save(URI);
    editor.wait(|m| {
        matches!(m, Message::Request(r) if r.method == "workspace/codeLens/refresh").then_some(())
    });
    let lenses = editor.ask(
        "textDocument/codeLens",
        json!({ "textDocument": { "uri": URI } }),
    );
    assert!(
        lenses[0]["command"]["title"]
            .as_str()
            .unwrap()
            .starts_with("✓ holds"),
        "{lenses}"
    );
    // No fences are needed now, and the command says so.
    let command = json!({ "command": "palisade.fences", "arguments": [URI] });
    editor.refused("workspace/executeCommand", command);
    editor.ask(
        "workspace/executeCommand",
        json!({ "command": "palisade.check", "arguments": [URI] }),
    );
    editor.end();
}

#[test]
fn the_cheapest_orders_are_a_change() {
    const TOO_STRONG: &str = "shared f;\nnonatomic shared d;\nthread p { d = 1; f.store(1, seqcst); }\n\
                              thread q { if f.load(seqcst) == 1 { let r = d; } }\n";
    let too_weak = TOO_STRONG.replace("seqcst", "relaxed");
    let mut editor = Editor::new(json!({ "timeout": 60 }));
    let range =
        json!({ "start": { "line": 2, "character": 0 }, "end": { "line": 2, "character": 0 } });
    let action_about_orders = |editor: &mut Editor| {
        let params = json!({ "textDocument": { "uri": URI }, "range": range, "context": { "diagnostics": [] } });
        let actions = editor.ask("textDocument/codeAction", params);
        let actions = actions.as_array().unwrap();
        let title = |action: &&Value| {
            action["title"]
                .as_str()
                .unwrap()
                .contains("cheapest memory orders")
        };
        actions.iter().find(title).cloned()
    };
    let refreshed = |editor: &mut Editor| {
        editor.wait(|m| {
            matches!(m, Message::Request(r) if r.method == "workspace/codeLens/refresh")
                .then_some(())
        });
    };
    // What holds may have stronger orders than it needs …
    editor.open(URI, TOO_STRONG);
    refreshed(&mut editor);
    let action = action_about_orders(&mut editor).unwrap();
    assert_eq!(action["kind"], "refactor.rewrite");
    assert!(action["title"].as_str().unwrap().contains("keep it safe"));
    let action = editor.ask("codeAction/resolve", action);
    let cheapest = edited(TOO_STRONG, &action["edit"]["changes"][URI]);
    assert!(
        cheapest.contains("f.store(1, release)") && cheapest.contains("f.load(acquire)"),
        "{cheapest}"
    );
    // … and what does not hold too weak ones; the command does the same as the action.
    editor.change(URI, 2, &too_weak);
    editor.save(URI);
    refreshed(&mut editor);
    let action = action_about_orders(&mut editor).unwrap();
    assert_eq!(action["kind"], "quickfix");
    let command = json!({ "command": "palisade.orders", "arguments": [URI] });
    editor.ask("workspace/executeCommand", command.clone());
    let edit = editor.wait(|m| match m {
        Message::Request(r) if r.method == "workspace/applyEdit" => Some(r.params["edit"].clone()),
        _ => None,
    });
    assert_eq!(edited(&too_weak, &edit["changes"][URI]), cheapest);
    // Nothing is cheaper than those.
    editor.change(URI, 3, &cheapest);
    editor.save(URI);
    refreshed(&mut editor);
    editor.refused("workspace/executeCommand", command);
    // Under TSO there is nothing to choose.
    editor.change(URI, 4, FLAGS);
    editor.save(URI);
    refreshed(&mut editor);
    assert!(action_about_orders(&mut editor).is_none());
    editor.end();
}

#[test]
fn names_are_explained_found_and_changed() {
    let mut editor = Editor::new(json!({ "checkOnSave": false }));
    editor.open(URI, FLAGS);
    let hover = editor.ask("textDocument/hover", at(URI, 3, 3));
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(
        text.contains("shared flag[2]") && text.contains("2 locations"),
        "{text}"
    );
    assert!(text.contains("may be written by `t`"), "{text}");
    let hover = editor.ask("textDocument/hover", at(URI, 2, 8));
    assert!(
        hover["contents"]["value"]
            .as_str()
            .unwrap()
            .contains("2 copies run")
    );
    let hover = editor.ask("textDocument/hover", at(URI, 9, 0));
    assert!(
        hover["contents"]["value"]
            .as_str()
            .unwrap()
            .contains("never")
    );
    assert_eq!(editor.ask("textDocument/hover", at(URI, 1, 0)), Value::Null);

    let definition = editor.ask("textDocument/definition", at(URI, 9, 11));
    assert_eq!(
        definition["range"]["start"],
        json!({ "line": 5, "character": 4 })
    );
    let mut question = at(URI, 0, 8);
    question["context"] = json!({ "includeDeclaration": true });
    let places = editor.ask("textDocument/references", question);
    assert_eq!(places.as_array().unwrap().len(), 3);
    let outline = editor.ask(
        "textDocument/documentSymbol",
        json!({ "textDocument": { "uri": URI } }),
    );
    let names: Vec<&str> = outline
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["flag", "t"]);
    assert_eq!(outline[1]["children"][0]["name"], "cs");

    let range = editor.ask("textDocument/prepareRename", at(URI, 5, 5));
    assert_eq!(range["end"], json!({ "line": 5, "character": 6 }));
    assert_eq!(
        editor.ask("textDocument/prepareRename", at(URI, 2, 1)),
        Value::Null
    );
    let mut question = at(URI, 5, 5);
    question["newName"] = json!("inside");
    let edit = editor.ask("textDocument/rename", question.clone());
    let renamed = edited(FLAGS, &edit["changes"][URI]);
    assert_eq!(renamed, FLAGS.replace("cs", "inside"));
    for wrong in ["", "a b", "while", "1x"] {
        question["newName"] = json!(wrong);
        editor.refused("textDocument/rename", question.clone());
    }
    // A register must not become what another name means.
    let text = "shared x, y;\nthread t { let r = x; y = r; }\n";
    editor.change(URI, 2, text);
    let mut question = at(URI, 1, 15);
    question["newName"] = json!("y");
    editor.refused("textDocument/rename", question);
    editor.end();
}

#[test]
fn what_can_stand_here_and_how_it_is_written() {
    let mut editor = Editor::new(json!({ "checkOnSave": false }));
    let text = "shared x;\nthread t { x.store(1,relaxed);\n  goto here; here:skip; }\n";
    editor.open(URI, text);
    let labels = |list: &Value| -> Vec<String> {
        let list = list.as_array().unwrap();
        list.iter()
            .map(|item| item["label"].as_str().unwrap().to_owned())
            .collect()
    };
    let methods = labels(&editor.ask("textDocument/completion", at(URI, 1, 13)));
    assert!(methods.contains(&"fetch_add".to_owned()) && !methods.contains(&"thread".to_owned()));
    let orders = labels(&editor.ask("textDocument/completion", at(URI, 1, 21)));
    assert!(orders.contains(&"seqcst".to_owned()) && orders.contains(&"x".to_owned()));
    assert_eq!(
        labels(&editor.ask("textDocument/completion", at(URI, 2, 7))),
        ["here"]
    );

    let options = json!({ "textDocument": { "uri": URI }, "options": { "tabSize": 2, "insertSpaces": true } });
    let edits = editor.ask("textDocument/formatting", options.clone());
    let formatted = edited(text, &edits);
    assert_eq!(
        formatted,
        "shared x;\nthread t {\n  x.store(1, relaxed);\n  goto here;\n  here: skip;\n}\n"
    );
    editor.change(URI, 2, &formatted);
    assert_eq!(editor.ask("textDocument/formatting", options), json!([]));

    let range =
        json!({ "start": { "line": 2, "character": 15 }, "end": { "line": 2, "character": 15 } });
    let actions = editor.ask(
        "textDocument/codeAction",
        json!({ "textDocument": { "uri": URI }, "range": range, "context": { "diagnostics": [] } }),
    );
    let release = &actions[0];
    assert_eq!(release["title"], "Change the order to release");
    assert!(edited(&formatted, &release["edit"]["changes"][URI]).contains("x.store(1, release);"));
    editor.end();
}

#[test]
fn other_languages_limits_and_settings() {
    let mut editor = Editor::new(json!({ "timeout": 0.3 }));
    // A search without an end is stopped by the limit.
    let endless = "shared x, y;\nthread p { loop { x = y + 1; } }\nthread q { loop { y = x + 1; } }\nnever x == 0 - 7;\n";
    editor.open(URI, endless);
    let problems = editor.problems(URI, is_verdict);
    assert!(
        problems
            .iter()
            .any(|p| p["message"].as_str().unwrap().starts_with("unknown"))
    );
    // A change ends what is under way; the settings can change.
    editor.tell("workspace/didChangeConfiguration", json!({ "settings": { "palisade": { "timeout": 60, "model": "ra", "criterion": "robust" } } }));
    editor.change(URI, 2, FLAGS);
    editor.save(URI);
    let problems = editor.problems(URI, is_verdict);
    assert!(
        problems[0]["message"]
            .as_str()
            .unwrap()
            .contains("release/acquire"),
        "{problems:?}"
    );

    editor.tell(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "palisade": { "timeout": 60 } } }),
    );
    let c = "#include <stdatomic.h>\n#include <pthread.h>\natomic_int x;\nint d;\nvoid *a(void *p) { d = 1; atomic_store_explicit(&x, 1, memory_order_relaxed); return 0; }\nint main(void) { pthread_t t; pthread_create(&t, 0, a, 0); if (atomic_load_explicit(&x, memory_order_relaxed)) { d = 2; } return 0; }\n";
    editor.open("file:///race.c", c);
    let problems = editor.problems("file:///race.c", is_verdict);
    assert!(
        problems[0]["message"].as_str().unwrap().contains("C++20"),
        "{problems:?}"
    );
    let hover = editor.ask("textDocument/hover", at("file:///race.c", 4, 65));
    assert!(
        hover["contents"]["value"]
            .as_str()
            .unwrap()
            .contains("orders nothing else"),
        "{hover}"
    );
    let lenses = editor.ask(
        "textDocument/codeLens",
        json!({ "textDocument": { "uri": "file:///race.c" } }),
    );
    assert_eq!(lenses[0]["range"]["start"]["line"], 5);

    let litmus = "X86 SB\n{ x=0; y=0; }\n P0          | P1          ;\n MOV [x],$1  | MOV [y],$1  ;\n MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";
    editor.open("file:///sb.litmus", litmus);
    editor.problems("file:///sb.litmus", is_verdict);

    // Rust runs the compiler: only where that is allowed.
    editor.open("file:///a.rs", "fn main() {}\n");
    let command = json!({ "command": "palisade.check", "arguments": ["file:///a.rs"] });
    assert!(
        editor
            .refused("workspace/executeCommand", command)
            .contains("compiler")
    );
    assert_eq!(
        editor.ask(
            "textDocument/codeLens",
            json!({ "textDocument": { "uri": "file:///a.rs" } })
        ),
        json!([])
    );
    editor.end();
}

#[test]
fn nonsense_is_answered() {
    let mut editor = Editor::new(json!({}));
    for method in [
        "textDocument/hover",
        "textDocument/definition",
        "textDocument/references",
        "textDocument/documentSymbol",
        "textDocument/prepareRename",
        "textDocument/rename",
        "textDocument/completion",
        "textDocument/formatting",
        "textDocument/codeLens",
        "textDocument/codeAction",
        "codeAction/resolve",
        "workspace/executeCommand",
        "palisade/run",
        "no/such/method",
    ] {
        editor.refused(method, json!({ "what": 1 }));
    }
    editor.tell("textDocument/didChange", json!({}));
    editor.tell("textDocument/didOpen", json!([]));
    // Texts that are not open have nothing to say.
    assert_eq!(
        editor.ask("textDocument/hover", at("file:///no.pal", 0, 0)),
        Value::Null
    );
    let command = json!({ "command": "palisade.check", "arguments": ["file:///no.pal"] });
    editor.refused("workspace/executeCommand", command);
    // Places that are not there.
    editor.open(URI, "shared x\n");
    editor.problems(URI, |list| !list.is_empty());
    assert_eq!(
        editor.ask("textDocument/hover", at(URI, 900, 900)),
        Value::Null
    );
    let run = editor.ask("palisade/run", json!({ "uri": "file:///no.pal" }));
    assert_eq!(run["verdict"], "none");
    editor.end();
}

/// Ten thousand uses in one line are found and changed without counting the line's letters for each of them.
#[test]
fn a_name_with_many_uses_in_one_line_is_changed_at_once() {
    let mut editor = Editor::new(json!({}));
    let text = format!(
        "shared x;\nthread t {{ {}{{ x = 2; }} }}\n",
        "if x == 1 { x = 1; } else ".repeat(10_000)
    );
    editor.open(URI, &text);
    let mut question = at(URI, 0, 7);
    let begin = std::time::Instant::now();
    question["newName"] = json!("flag");
    let edit = editor.ask("textDocument/rename", question.clone());
    question["context"] = json!({ "includeDeclaration": true });
    let places = editor.ask("textDocument/references", question);
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
    assert_eq!(places.as_array().unwrap().len(), 20_002);
    let edits = edit["changes"][URI].as_array().unwrap();
    assert_eq!(edits.len(), 20_002);
    let last = &edits[20_001]["range"];
    assert_eq!(
        (last["start"]["line"].as_u64(), last["end"]["line"].as_u64()),
        (Some(1), Some(1))
    );
    let column = text.lines().nth(1).unwrap().rfind("x = 2").unwrap();
    assert_eq!(last["start"]["character"], column);
    editor.end();
}
