//! The loop: messages from the editor, and answers from the background.

use crate::actions;
use crate::document::Document;
use crate::settings::Settings;
use crate::verdict::{self, Task, Verdict};
use crate::words;
use crossbeam_channel::{Receiver, Sender, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    DidChangeConfiguration, DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument,
    DidSaveTextDocument, Notification as _, PublishDiagnostics,
};
use lsp_types::request::{
    ApplyWorkspaceEdit, CodeActionRequest, CodeActionResolveRequest, CodeLensRefresh,
    CodeLensRequest, Completion, DocumentSymbolRequest, ExecuteCommand, Formatting, GotoDefinition,
    HoverRequest, PrepareRenameRequest, References, Rename, Request as _,
};
use lsp_types::*;
use palisade::Seeks;
use palisade_lang::pal::{self, SymbolKind, Symbols};
use palisade_lang::{Language, Program};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

/// The commands that an editor can call, besides those that it has itself.
const CHECK: &str = "palisade.check";
const FENCES: &str = "palisade.fences";
const ORDERS: &str = "palisade.orders";
const RUN: &str = "palisade.run";
/// What editors with a panel have: the server names it in lenses, the client shows the run.
const SHOW: &str = "palisade.showRun";

const RUST_IS_NOT_ALLOWED: &str =
    "Rust files are looked at only where the setting `rust` allows it: that runs the Rust compiler";

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Serves one editor until it says that it ends. `settings` are those to begin with.
pub fn serve(connection: &Connection, settings: Settings) -> Result<(), Failed> {
    let (id, start) = connection.initialize_start()?;
    let start: InitializeParams = serde_json::from_value(start)?;
    connection.initialize_finish(
        id,
        json!({
            "capabilities": capabilities(),
            "serverInfo": { "name": "palisade", "version": env!("CARGO_PKG_VERSION") },
        }),
    )?;
    let settings = match &start.initialization_options {
        Some(options) if options.is_object() => Settings::read(options),
        _ => settings,
    };
    let workspace = start.capabilities.workspace.unwrap_or_default();
    let refresh = workspace.code_lens.and_then(|lens| lens.refresh_support);
    let (sender, receiver) = unbounded();
    let mut server = Server {
        connection,
        settings,
        documents: HashMap::new(),
        verdicts: HashMap::new(),
        tasks: Vec::new(),
        done: sender,
        asked: 0,
        refreshes_lenses: refresh.unwrap_or(false),
    };
    server.serve(&receiver)
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::INCREMENTAL),
                save: Some(TextDocumentSyncSaveOptions::Supported(true)),
                ..TextDocumentSyncOptions::default()
            },
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some([".", "@", ">", "("].map(str::to_owned).into()),
            ..CompletionOptions::default()
        }),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![
                CodeActionKind::QUICKFIX,
                CodeActionKind::REFACTOR_REWRITE,
            ]),
            resolve_provider: Some(true),
            ..CodeActionOptions::default()
        })),
        code_lens_provider: Some(CodeLensOptions {
            resolve_provider: Some(false),
        }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: [CHECK, FENCES, ORDERS, RUN].map(str::to_owned).into(),
            ..ExecuteCommandOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}

/// What the background has found.
enum Done {
    Verdict(Uri, Verdict),
    /// The text with fences or other orders, for an action that is resolved.
    Action(RequestId, Box<CodeAction>, Seeks, Verdict),
    /// The same for a command: the change is sent to the editor.
    Command(RequestId, Uri, Seeks, Verdict),
}

struct Server<'c> {
    connection: &'c Connection,
    settings: Settings,
    documents: HashMap<String, Document>,
    verdicts: HashMap<String, Verdict>,
    tasks: Vec<Task>,
    done: Sender<Done>,
    /// Requests of our own so far.
    asked: i32,
    refreshes_lenses: bool,
}

/// What a request comes to: an answer now, or later.
enum Reply {
    Now(Value),
    Wrong(String),
    Later,
}

impl Server<'_> {
    fn serve(&mut self, done: &Receiver<Done>) -> Result<(), Failed> {
        loop {
            let message = select! {
                recv(self.connection.receiver) -> message => match message {
                    Ok(message) => message,
                    // The editor is gone.
                    Err(_) => return Ok(()),
                },
                recv(done) -> found => {
                    if let Ok(found) = found {
                        self.found(found)?;
                    }
                    continue;
                }
            };
            match message {
                Message::Request(request) => {
                    if self.connection.handle_shutdown(&request)? {
                        self.tasks.iter().for_each(Task::cancel);
                        return Ok(());
                    }
                    let id = request.id.clone();
                    match self.request(request) {
                        Reply::Now(value) => self.send(Response::new_ok(id, value))?,
                        Reply::Wrong(message) => {
                            let code = ErrorCode::InvalidParams as i32;
                            self.send(Response::new_err(id, code, message))?;
                        }
                        Reply::Later => {}
                    }
                }
                Message::Notification(notification) => self.notification(notification)?,
                Message::Response(_) => {}
            }
        }
    }

    fn send(&self, message: impl Into<Message>) -> Result<(), Failed> {
        Ok(self.connection.sender.send(message.into())?)
    }

    fn document(&self, uri: &Uri) -> Option<&Document> {
        self.documents.get(uri.as_str())
    }

    /// The program of a text, where it is one; Rust is not read for this.
    fn program(&self, document: &Document) -> Option<Program> {
        if document.language() == Language::Rust || document.text.len() > 1 << 16 {
            return None;
        }
        Some(document.read().ok()?.ok()?.program)
    }

    // ---- what the editor tells ----

    fn notification(&mut self, notification: Notification) -> Result<(), Failed> {
        match notification.method.as_str() {
            DidOpenTextDocument::METHOD => {
                let Some(opened) = params::<DidOpenTextDocumentParams>(notification.params) else {
                    return Ok(());
                };
                let text = opened.text_document;
                let document = Document::new(text.uri, text.text, text.version);
                let uri = document.uri.clone();
                self.documents.insert(uri.as_str().to_owned(), document);
                self.publish(&uri)?;
                if self.settings.check_on_save {
                    self.ask(&uri);
                }
            }
            DidChangeTextDocument::METHOD => {
                let Some(changed) = params::<DidChangeTextDocumentParams>(notification.params)
                else {
                    return Ok(());
                };
                let uri = changed.text_document.uri;
                self.cancel(&uri);
                if let Some(document) = self.documents.get_mut(uri.as_str()) {
                    document.version = changed.text_document.version;
                    for change in changed.content_changes {
                        document.change(change);
                    }
                    self.publish(&uri)?;
                }
            }
            DidSaveTextDocument::METHOD => {
                if let Some(saved) = params::<DidSaveTextDocumentParams>(notification.params)
                    && self.settings.check_on_save
                {
                    self.ask(&saved.text_document.uri);
                }
            }
            DidCloseTextDocument::METHOD => {
                if let Some(closed) = params::<DidCloseTextDocumentParams>(notification.params) {
                    let uri = closed.text_document.uri;
                    self.cancel(&uri);
                    self.documents.remove(uri.as_str());
                    self.verdicts.remove(uri.as_str());
                    self.say(&uri, Vec::new(), None)?;
                }
            }
            DidChangeConfiguration::METHOD => {
                if let Some(changed) = params::<DidChangeConfigurationParams>(notification.params)
                    && changed.settings.is_object()
                {
                    self.settings = Settings::read(&changed.settings);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Says what is wrong with a text, and what was found about it, where it is still the same text.
    fn publish(&self, uri: &Uri) -> Result<(), Failed> {
        let Some(document) = self.document(uri) else {
            return Ok(());
        };
        let mut problems = document.problems();
        if let Some(verdict) = self.verdicts.get(uri.as_str())
            && verdict.text == document.text
        {
            problems.extend(verdict.problems(document));
        }
        self.say(uri, problems, Some(document.version))
    }

    fn say(
        &self,
        uri: &Uri,
        problems: Vec<Diagnostic>,
        version: Option<i32>,
    ) -> Result<(), Failed> {
        let params = PublishDiagnosticsParams::new(uri.clone(), problems, version);
        let method = PublishDiagnostics::METHOD.to_owned();
        self.send(Notification::new(method, params))
    }

    /// Asks about a text in the background, instead of whatever was asked about it before.
    fn ask(&mut self, uri: &Uri) {
        self.cancel(uri);
        let Some(document) = self.document(uri) else {
            return;
        };
        if !verdict::allowed(document, &self.settings) {
            return;
        }
        let (done, about) = (self.done.clone(), uri.clone());
        let task = verdict::ask(document, &self.settings, Seeks::Verdict, move |found| {
            // The server has ended where this goes nowhere.
            let _ = done.send(Done::Verdict(about, found));
        });
        self.tasks.push(task);
    }

    fn cancel(&mut self, uri: &Uri) {
        self.tasks.retain(|task| {
            let same = task.uri.as_str() == uri.as_str();
            if same {
                task.cancel();
            }
            !same
        });
    }

    fn found(&mut self, found: Done) -> Result<(), Failed> {
        match found {
            Done::Verdict(uri, verdict) => {
                let current = self.document(&uri).is_some_and(|d| d.text == verdict.text);
                if current {
                    self.verdicts.insert(uri.as_str().to_owned(), verdict);
                    self.publish(&uri)?;
                    if self.refreshes_lenses {
                        self.request_of_ours(CodeLensRefresh::METHOD, Value::Null)?;
                    }
                }
                Ok(())
            }
            Done::Action(id, mut action, seeks, verdict) => {
                action.edit = self.changed(&verdict);
                match action.edit.is_some() {
                    true => self.send(Response::new_ok(id, *action)),
                    false => self.send(no_change(id, seeks, &verdict)),
                }
            }
            Done::Command(id, uri, seeks, verdict) => {
                let Some(edit) = self.changed_at(&uri, &verdict) else {
                    return self.send(no_change(id, seeks, &verdict));
                };
                let params = ApplyWorkspaceEditParams {
                    label: Some(sought(seeks).to_owned()),
                    edit,
                };
                self.request_of_ours(ApplyWorkspaceEdit::METHOD, serde_json::to_value(params)?)?;
                self.send(Response::new_ok(id, verdict.headline()))
            }
        }
    }

    fn request_of_ours(&mut self, method: &str, params: Value) -> Result<(), Failed> {
        self.asked += 1;
        let id = RequestId::from(format!("palisade-{}", self.asked));
        self.send(Request::new(id, method.to_owned(), params))
    }

    /// The change that puts fences or other orders in, where the text is still the one that they are for.
    fn changed(&self, verdict: &Verdict) -> Option<WorkspaceEdit> {
        let mut documents = self.documents.values();
        let document = documents.find(|document| document.text == verdict.text)?;
        self.changed_at(&document.uri.clone(), verdict)
    }

    fn changed_at(&self, uri: &Uri, verdict: &Verdict) -> Option<WorkspaceEdit> {
        let document = self.document(uri)?;
        let changed = verdict.shown["changed"].as_str()?;
        if document.text != verdict.text {
            return None;
        }
        let change = actions::replacement(document, changed)?;
        Some(actions::edit(document, change))
    }

    // ---- what the editor asks ----

    fn request(&mut self, request: Request) -> Reply {
        let Request { id, method, params } = request;
        match method.as_str() {
            HoverRequest::METHOD => answer(params, |p: HoverParams| self.hover(&p)),
            GotoDefinition::METHOD => answer(params, |p: GotoDefinitionParams| self.definition(&p)),
            References::METHOD => answer(params, |p: ReferenceParams| self.references(&p)),
            DocumentSymbolRequest::METHOD => {
                answer(params, |p: DocumentSymbolParams| self.outline(&p))
            }
            PrepareRenameRequest::METHOD => answer(params, |p: TextDocumentPositionParams| {
                self.prepare_rename(&p)
            }),
            Rename::METHOD => match self::params(params) {
                Some(params) => self.rename(&params),
                None => misunderstood(),
            },
            Completion::METHOD => answer(params, |p: CompletionParams| {
                let at = p.text_document_position;
                let document = self.document(&at.text_document.uri)?;
                Some(words::completions(document, at.position))
            }),
            Formatting::METHOD => answer(params, |p: DocumentFormattingParams| self.format(&p)),
            CodeLensRequest::METHOD => answer(params, |p: CodeLensParams| self.lenses(&p)),
            CodeActionRequest::METHOD => answer(params, |p: CodeActionParams| {
                let uri = &p.text_document.uri;
                let verdict = self.verdicts.get(uri.as_str());
                let document = self.document(uri)?;
                let found = actions::actions(document, p.range.start, verdict);
                let found = found.into_iter().map(CodeActionOrCommand::CodeAction);
                Some(found.collect::<Vec<_>>())
            }),
            CodeActionResolveRequest::METHOD => match self::params::<CodeAction>(params) {
                Some(action) => self.resolve(id, action),
                None => misunderstood(),
            },
            ExecuteCommand::METHOD => match self::params::<ExecuteCommandParams>(params) {
                Some(command) => self.execute(id, &command),
                None => misunderstood(),
            },
            "palisade/run" => match params["uri"].as_str() {
                Some(uri) => Reply::Now(verdict::run(self.verdicts.get(uri))),
                None => misunderstood(),
            },
            other => {
                let _ = self.send(Response::new_err(
                    id,
                    ErrorCode::MethodNotFound as i32,
                    format!("there is no {other}"),
                ));
                Reply::Later
            }
        }
    }

    fn hover(&self, params: &HoverParams) -> Option<Hover> {
        let at = &params.text_document_position_params;
        let document = self.document(&at.text_document.uri)?;
        let program = self.program(document);
        let text = words::hover(document, at.position, program.as_ref())?;
        let (_, span) = document.word(at.position)?;
        Some(Hover {
            contents: HoverContents::Markup(MarkupContent {
                kind: MarkupKind::Markdown,
                value: text,
            }),
            range: Some(document.range(span)),
        })
    }

    fn definition(&self, params: &GotoDefinitionParams) -> Option<Location> {
        let at = &params.text_document_position_params;
        let document = self.document(&at.text_document.uri)?;
        let (word, span) = document.word(at.position)?;
        let names = words::names(document);
        if let Some((index, _)) = names.at(span.start) {
            let range = document.range(names.all[index].definition);
            return Some(Location::new(document.uri.clone(), range));
        }
        if let Some(found) = included(&names, word) {
            return Some(found);
        }
        // Other languages: what a program knows about its locations and threads.
        let program = self.program(document)?;
        let element = format!("{word}[");
        let own = |name: &str| name == word || name.starts_with(&element);
        let location = program.locations.iter().find(|l| own(&l.name));
        let thread = program.threads.iter().find(|t| t.name == word);
        let span = location.map(|l| l.span).or(thread.map(|t| t.span))?;
        let is_here = program.source.included_at(span.start).is_none();
        is_here.then(|| Location::new(document.uri.clone(), document.range(span)))
    }

    fn references(&self, params: &ReferenceParams) -> Option<Vec<Location>> {
        let at = &params.text_document_position;
        let document = self.document(&at.text_document.uri)?;
        let names = words::names(document);
        let (index, _) = names.at(document.offset(at.position) as u32)?;
        let symbol = &names.all[index];
        let own = params
            .context
            .include_declaration
            .then_some(symbol.definition);
        let mut places: Vec<_> = own.into_iter().chain(symbol.uses.iter().copied()).collect();
        places.sort();
        let ranges = document.ranges(&places).into_iter();
        let location = |range| Location::new(document.uri.clone(), range);
        Some(ranges.map(location).collect())
    }

    // The protocol's type has a field that is no longer used, and no other way to make one.
    #[allow(deprecated)]
    fn outline(&self, params: &DocumentSymbolParams) -> Option<DocumentSymbolResponse> {
        let document = self.document(&params.text_document.uri)?;
        let names = words::names(document);
        let kind = |kind| match kind {
            SymbolKind::Constant => lsp_types::SymbolKind::CONSTANT,
            SymbolKind::Shared => lsp_types::SymbolKind::VARIABLE,
            SymbolKind::Function => lsp_types::SymbolKind::FUNCTION,
            SymbolKind::Thread => lsp_types::SymbolKind::CLASS,
            SymbolKind::Struct => lsp_types::SymbolKind::STRUCT,
            SymbolKind::Field => lsp_types::SymbolKind::FIELD,
            SymbolKind::Label => lsp_types::SymbolKind::KEY,
            SymbolKind::Register | SymbolKind::Parameter => lsp_types::SymbolKind::VARIABLE,
        };
        let symbol = |index: usize, children: Option<Vec<DocumentSymbol>>| {
            let symbol = &names.all[index];
            DocumentSymbol {
                name: symbol.name.clone(),
                detail: None,
                kind: kind(symbol.kind),
                tags: None,
                deprecated: None,
                range: document.range(symbol.declaration),
                selection_range: document.range(symbol.definition),
                children,
            }
        };
        let all = || 0..names.all.len();
        let top = all().filter(|&i| names.all[i].owner.is_none());
        let list = top.map(|index| {
            let inner = all().filter(|&i| names.all[i].owner == Some(index));
            symbol(index, Some(inner.map(|i| symbol(i, None)).collect()))
        });
        Some(DocumentSymbolResponse::Nested(list.collect()))
    }

    fn prepare_rename(&self, at: &TextDocumentPositionParams) -> Option<Range> {
        let document = self.document(&at.text_document.uri)?;
        let names = words::names(document);
        let (_, span) = names.at(document.offset(at.position) as u32)?;
        Some(document.range(span))
    }

    #[allow(clippy::mutable_key_type)]
    fn rename(&self, params: &RenameParams) -> Reply {
        let at = &params.text_document_position;
        let new = params.new_name.as_str();
        let Some(document) = self.document(&at.text_document.uri) else {
            return misunderstood();
        };
        let names = words::names(document);
        let Some((index, _)) = names.at(document.offset(at.position) as u32) else {
            return Reply::Wrong("there is no name here that can be changed".to_owned());
        };
        let symbol = &names.all[index];
        let places = std::iter::once(symbol.definition).chain(symbol.uses.iter().copied());
        let mut places: Vec<_> = places.collect();
        places.sort();
        places.dedup();
        let mut text = String::with_capacity(document.text.len());
        let mut at = 0;
        for place in &places {
            let between = document.text.get(at..place.start as usize);
            text.push_str(between.unwrap_or_default());
            text.push_str(new);
            at = place.end as usize;
        }
        text.push_str(document.text.get(at..).unwrap_or_default());
        let edits: Vec<TextEdit> = (document.ranges(&places).into_iter())
            .map(|range| TextEdit::new(range, new.to_owned()))
            .collect();
        let mut changed = document.clone();
        changed.text = text.into();
        // The names of the new text must be those of the old one, with this one changed: then nothing means something else now.
        let renamed = words::names(&changed);
        let same = renamed.all.len() == names.all.len()
            && names
                .all
                .iter()
                .zip(&renamed.all)
                .enumerate()
                .all(|(i, (old, now))| {
                    let name = if i == index { new } else { old.name.as_str() };
                    now.name == name && now.kind == old.kind && now.uses.len() == old.uses.len()
                });
        if !same
            || renamed
                .at(changed.offset(edits[0].range.start) as u32)
                .is_none()
        {
            let why =
                format!("`{new}` is no name that can stand here, or already means something else");
            return Reply::Wrong(why);
        }
        Reply::Now(json!(WorkspaceEdit {
            changes: Some(HashMap::from([(document.uri.clone(), edits)])),
            ..WorkspaceEdit::default()
        }))
    }

    fn format(&self, params: &DocumentFormattingParams) -> Option<Vec<TextEdit>> {
        let document = self.document(&params.text_document.uri)?;
        if document.language() != Language::Pal {
            return None;
        }
        let formatted = pal::format(&document.text).ok()?;
        Some(
            actions::replacement(document, &formatted)
                .into_iter()
                .collect(),
        )
    }

    /// The verdict above every thread, or above `main` and tests.
    fn lenses(&self, params: &CodeLensParams) -> Option<Vec<CodeLens>> {
        let uri = &params.text_document.uri;
        let document = self.document(uri)?;
        let argument = || Some(vec![json!(uri.as_str())]);
        let command = match self.verdicts.get(uri.as_str()) {
            _ if !verdict::allowed(document, &self.settings) => return Some(Vec::new()),
            None => Command::new("check".to_owned(), CHECK.to_owned(), argument()),
            Some(verdict) if verdict.text != document.text => {
                let title = format!("{} (before the last change)", verdict.headline());
                Command::new(title, CHECK.to_owned(), argument())
            }
            Some(verdict) => {
                let sign = match verdict.name() {
                    "holds" => "✓",
                    "violated" => "✗",
                    _ => "?",
                };
                let title = match verdict.name() {
                    "error" => "cannot be asked about".to_owned(),
                    _ => format!("{sign} {}", verdict.headline()),
                };
                let command = match verdict.shown.get("svg") {
                    Some(_) => SHOW,
                    None => CHECK,
                };
                Command::new(title, command.to_owned(), argument())
            }
        };
        let lens = |range| CodeLens {
            range,
            command: Some(command.clone()),
            data: None,
        };
        Some(self.tests(document).into_iter().map(lens).collect())
    }

    /// Where threads or tests are declared.
    fn tests(&self, document: &Document) -> Vec<Range> {
        let lines = |wanted: &dyn Fn(&str) -> bool| -> Vec<Range> {
            let numbered = (1..).zip(document.text.lines());
            let found = numbered.filter(|(_, line)| wanted(line.trim_start()));
            found.map(|(number, _)| document.line(number)).collect()
        };
        let mut found = match document.language() {
            Language::Pal => words::names(document)
                .all
                .iter()
                .filter(|symbol| symbol.kind == SymbolKind::Thread)
                .map(|symbol| document.range(symbol.declaration))
                .collect(),
            Language::C => lines(&|line| line.contains("main(")),
            Language::Rust => lines(&|line| line == "#[test]" || line.starts_with("fn main(")),
            Language::Tpl | Language::Trencher => lines(&|line| line.starts_with("thread")),
            Language::Litmus => Vec::new(),
        };
        if found.is_empty() {
            found.push(document.line(1));
        }
        found
    }

    fn resolve(&mut self, id: RequestId, action: CodeAction) -> Reply {
        let wanted = action.data.as_ref().and_then(|data| {
            let kinds = [("fences", Seeks::Fences), ("orders", Seeks::Orders)];
            let mut kinds = kinds.into_iter();
            kinds.find_map(|(kind, seeks)| Some((seeks, data[kind].as_str()?)))
        });
        let found = wanted.and_then(|(seeks, uri)| Some((seeks, self.documents.get(uri)?)));
        let Some((seeks, document)) = found else {
            return Reply::Now(json!(action));
        };
        if !verdict::allowed(document, &self.settings) {
            return Reply::Wrong(RUST_IS_NOT_ALLOWED.to_owned());
        }
        let done = self.done.clone();
        let action = Box::new(action);
        let task = verdict::ask(document, &self.settings, seeks, move |found| {
            let _ = done.send(Done::Action(id, action, seeks, found));
        });
        self.tasks.push(task);
        Reply::Later
    }

    fn execute(&mut self, id: RequestId, command: &ExecuteCommandParams) -> Reply {
        let first = command.arguments.first();
        let uri = first.and_then(|uri| uri.as_str()).map(str::to_owned);
        let Some(document) = uri.as_ref().and_then(|uri| self.documents.get(uri)) else {
            return Reply::Wrong("the first argument is the address of an open text".to_owned());
        };
        let uri = document.uri.clone();
        match command.command.as_str() {
            _ if !verdict::allowed(document, &self.settings) => {
                Reply::Wrong(RUST_IS_NOT_ALLOWED.to_owned())
            }
            CHECK => {
                self.ask(&uri);
                Reply::Now(Value::Null)
            }
            RUN => Reply::Now(verdict::run(self.verdicts.get(uri.as_str()))),
            FENCES | ORDERS => {
                let seeks = match command.command.as_str() {
                    FENCES => Seeks::Fences,
                    _ => Seeks::Orders,
                };
                let (done, about) = (self.done.clone(), uri);
                let task = verdict::ask(document, &self.settings, seeks, move |found| {
                    let _ = done.send(Done::Command(id, about, seeks, found));
                });
                self.tasks.push(task);
                Reply::Later
            }
            other => Reply::Wrong(format!("there is no command {other}")),
        }
    }
}

/// What a change consists of.
fn sought(seeks: Seeks) -> &'static str {
    match seeks {
        Seeks::Orders => "orders",
        Seeks::Fences | Seeks::Verdict => "fences",
    }
}

fn no_change(id: RequestId, seeks: Seeks, verdict: &Verdict) -> Response {
    let what = sought(seeks);
    let why = match (verdict.name(), verdict.shown["reason"].as_str(), seeks) {
        (_, Some(reason), _) => format!("no {what} were found: {reason}"),
        ("violated", None, Seeks::Orders) => "no choice of orders is enough".to_owned(),
        ("violated", None, _) => "no set of fences is enough".to_owned(),
        (_, None, Seeks::Orders) => {
            "the orders are the cheapest already, or the text has changed".to_owned()
        }
        _ => "no fences are needed, or the text has changed".to_owned(),
    };
    Response::new_err(id, ErrorCode::RequestFailed as i32, why)
}

fn misunderstood() -> Reply {
    Reply::Wrong("this request has the wrong form".to_owned())
}

fn params<T: DeserializeOwned>(value: Value) -> Option<T> {
    serde_json::from_value(value).ok()
}

/// An answer that is made at once; `null` where there is nothing to say.
fn answer<P: DeserializeOwned, T: serde::Serialize>(
    value: Value,
    make: impl FnOnce(P) -> Option<T>,
) -> Reply {
    match params::<P>(value) {
        None => misunderstood(),
        Some(params) => Reply::Now(serde_json::to_value(make(params)).unwrap_or(Value::Null)),
    }
}

/// A name that an included file declares.
fn included(names: &Symbols, word: &str) -> Option<Location> {
    let mut wanted = names.includes.clone();
    let mut seen = Vec::new();
    while let Some(file) = wanted.pop() {
        if seen.contains(&file) || seen.len() > 100 {
            continue;
        }
        let Ok(text) = palisade::included_text(Path::new(&file)) else {
            continue;
        };
        let theirs = pal::symbols(&file, &text);
        if let Some(symbol) = theirs.global(word) {
            let mut address = String::from("file://");
            for byte in file.bytes() {
                match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                        address.push(char::from(byte));
                    }
                    other => address.push_str(&format!("%{other:02X}")),
                }
            }
            let uri: Uri = address.parse().ok()?;
            let document = Document::new(uri, text.clone(), 0);
            let range = document.range(symbol.definition);
            return Some(Location::new(document.uri, range));
        }
        wanted.extend(theirs.includes);
        seen.push(file);
    }
    None
}
