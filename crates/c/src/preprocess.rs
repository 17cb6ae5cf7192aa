//! Directives and macros. Every token keeps the place that it comes from.

use crate::condition;
use crate::headers;
use crate::lex::{self, Hidden, Kind, Token};
use palisade_lang::{Diagnostic, Span};
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// How files are read: the text, or why there is none.
pub type ReadFile<'a> = &'a dyn Fn(&Path) -> Result<String, String>;

/// Files that include each other deeper than this are refused.
const MOST_FILES_DEEP: usize = 64;
/// Programs of more tokens are refused.
const MOST_TOKENS: usize = 4_000_000;
/// Macros in macros, deeper than this, are refused.
const MOST_NESTED: usize = 100;
/// Steps of macro expansion; more are refused.
const MOST_EXPANSIONS: usize = 2_000_000;

/// What a macro stands for.
#[derive(Clone, Debug)]
struct Macro {
    /// `None`: not like a function.
    parameters: Option<Vec<Rc<str>>>,
    variadic: bool,
    body: Rc<[Token]>,
}

/// The arguments of a macro.
type Arguments = Vec<Vec<Token>>;

/// Files with their texts.
pub type Files = Vec<(String, String)>;

/// The preprocessed program.
pub struct Preprocessed {
    /// Its tokens, the last one [`Kind::End`].
    pub tokens: Vec<Token>,
    /// How many of them are of headers that are read before the text.
    pub of_headers: usize,
    /// The files that it includes, with their texts, in the order of their offsets.
    pub files: Files,
    /// For each `"name.h"` that it includes: where `name.c` would be.
    pub companions: Vec<PathBuf>,
}

struct Cursor {
    tokens: Rc<[Token]>,
    next: usize,
    directory: Option<PathBuf>,
    name: String,
    /// How many conditions were open where it began.
    conditions: usize,
}

struct Condition {
    active: bool,
    taken: bool,
    outer: bool,
    span: Span,
}

/// The lines of a file.
struct Lines {
    /// The offset at which the file begins.
    base: usize,
    /// The offsets at which lines end.
    ends: Vec<usize>,
}

/// The work so far.
pub struct Preprocessor<'a> {
    read: ReadFile<'a>,
    include: &'a [PathBuf],
    macros: HashMap<Rc<str>, Macro>,
    /// Macros that `#pragma push_macro` has kept.
    pushed: Vec<(Rc<str>, Option<Macro>)>,
    files: Vec<(String, String)>,
    /// The tokens of a file that was included before.
    lexed: HashMap<String, Rc<[Token]>>,
    once: Vec<String>,
    companions: Vec<PathBuf>,
    next_offset: usize,
    /// Where each file begins, and its lines.
    lines: Vec<Lines>,
    /// Where `#line` stands, and how much larger the numbers of the lines behind it are.
    renumbered: Vec<(usize, i64)>,
    cursors: Vec<Cursor>,
    conditions: Vec<Condition>,
    pending: VecDeque<Token>,
    expansions: usize,
    counter: i64,
    /// How deep arguments of macros are in arguments of macros.
    depth: usize,
    pub errors: Vec<Diagnostic>,
}

impl<'a> Preprocessor<'a> {
    /// Reads a program whose first file has this text; the files `more` follow it.
    pub fn run(
        path: &Path,
        text: &str,
        before: &[&str],
        more: &[PathBuf],
        include: &'a [PathBuf],
        defines: &[(String, String)],
        read: ReadFile<'a>,
    ) -> Result<Preprocessed, (Vec<Diagnostic>, Files)> {
        let mut this = Preprocessor {
            read,
            include,
            macros: HashMap::new(),
            pushed: Vec::new(),
            files: Vec::new(),
            lexed: HashMap::new(),
            once: Vec::new(),
            companions: Vec::new(),
            next_offset: 0,
            lines: Vec::new(),
            renumbered: Vec::new(),
            cursors: Vec::new(),
            conditions: Vec::new(),
            pending: VecDeque::new(),
            expansions: 0,
            counter: 0,
            depth: 0,
            errors: Vec::new(),
        };
        this.add_lines(text);
        let mut tokens = Vec::new();
        for name in before {
            this.define_all(&[]);
            if let Some(text) = headers::find(name) {
                let shown = format!("<{name}>");
                let read = this.add_file(shown.clone(), text.to_string());
                this.enter(read, None, shown);
                this.read_tokens(&mut tokens);
            }
        }
        let of_headers = tokens.len();
        // What the headers define is no business of a text that has its macros behind it. Those that it includes itself define their macros again.
        this.macros.clear();
        this.lexed.clear();
        this.define_all(defines);
        let read = lex::tokens(text, 0, &mut this.errors);
        this.cursors.push(Cursor {
            tokens: read.into(),
            next: 0,
            directory: path.parent().map(Path::to_owned),
            name: path.to_string_lossy().into_owned(),
            conditions: 0,
        });
        let mut more = more.iter();
        loop {
            this.read_tokens(&mut tokens);
            let next = match this.errors.is_empty() && this.conditions.is_empty() {
                true => more.next(),
                false => None,
            };
            let Some(path) = next else { break };
            if let Ok(text) = (this.read)(path) {
                let shown = path.to_string_lossy().into_owned();
                let tokens = this.add_file(shown.clone(), text);
                this.enter(tokens, path.parent().map(Path::to_owned), shown);
            }
        }
        if tokens.len() > MOST_TOKENS {
            let message = "the program is too large when its macros are expanded";
            this.errors
                .push(Diagnostic::error(Span::default(), message));
        }
        if let Some(open) = this.conditions.first()
            && this.errors.is_empty()
        {
            let message = "this condition has no `#endif`";
            this.errors.push(Diagnostic::error(open.span, message));
        }
        if !this.errors.is_empty() {
            return Err((this.errors, this.files));
        }
        let end = text.len();
        tokens.push(Token {
            kind: Kind::End,
            text: "".into(),
            span: Span::new(end, end),
            space: true,
            first: true,
            hidden: None,
        });
        // What the text includes is there already.
        let lexed = this.lexed;
        let is_read = |path: &PathBuf| lexed.contains_key(&*path.to_string_lossy());
        let mut companions = this.companions;
        companions.retain(|path| !is_read(path));
        Ok(Preprocessed {
            tokens,
            of_headers,
            files: this.files,
            companions,
        })
    }

    fn read_tokens(&mut self, tokens: &mut Vec<Token>) {
        while let Some(token) = self.next_expanded() {
            // Only where it is read: `#warning` and what is left out may hold any text.
            if token.kind == Kind::Other && matches!(&*token.text, "\"" | "'") {
                self.error(token.span, "this quote has no end");
            }
            tokens.push(token);
            if tokens.len() > MOST_TOKENS || !self.errors.is_empty() {
                break;
            }
        }
    }

    /// What is defined before the first line.
    fn define_all(&mut self, defines: &[(String, String)]) {
        for (name, value) in headers::PREDEFINED {
            self.define_text(name, value);
        }
        for (name, value) in defines {
            self.define_text(name, value);
        }
    }

    fn define_text(&mut self, name: &str, value: &str) {
        let (name, parameters) = match name.split_once('(') {
            Some((name, rest)) => {
                let names = rest.trim_end_matches(')').split(',');
                (name, Some(names.map(|n| Rc::from(n.trim())).collect()))
            }
            None => (name, None),
        };
        let mut body = lex::tokens(value, 0, &mut self.errors);
        body.iter_mut()
            .for_each(|token| token.span = Span::default());
        let definition = Macro {
            parameters,
            variadic: false,
            body: body.into(),
        };
        self.macros.insert(name.into(), definition);
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.errors.push(Diagnostic::error(span, message));
    }

    /// The next token, of whatever is pending or of the files, with directives obeyed.
    fn next_raw(&mut self) -> Option<Token> {
        if let Some(token) = self.pending.pop_front() {
            return Some(token);
        }
        loop {
            let cursor = self.cursors.last_mut()?;
            let Some(token) = cursor.tokens.get(cursor.next).cloned() else {
                let depth = cursor.conditions;
                self.cursors.pop();
                if self.conditions.len() > depth && !self.cursors.is_empty() {
                    let span = self.conditions[depth].span;
                    self.error(span, "this condition has no `#endif`");
                    self.conditions.truncate(depth);
                }
                if self.cursors.is_empty() {
                    return None;
                }
                continue;
            };
            cursor.next += 1;
            if token.first && token.is("#") {
                let line = self.rest_of_line();
                self.directive(token.span, line);
                if !self.errors.is_empty() {
                    return None;
                }
                continue;
            }
            if self.conditions.last().is_none_or(|c| c.active) {
                return Some(token);
            }
        }
    }

    fn rest_of_line(&mut self) -> Vec<Token> {
        let mut line = Vec::new();
        if let Some(cursor) = self.cursors.last_mut() {
            while let Some(token) = cursor.tokens.get(cursor.next) {
                if token.first {
                    break;
                }
                line.push(token.clone());
                cursor.next += 1;
            }
        }
        line
    }

    fn next_expanded(&mut self) -> Option<Token> {
        loop {
            let token = self.next_raw()?;
            if !self.expand(&token) {
                return Some(token);
            }
            if self.expansions > MOST_EXPANSIONS {
                self.error(token.span, "macros are expanded without end here");
                return None;
            }
        }
    }

    /// Replaces a token that is a macro, in front of what is pending. `false`: it is none.
    fn expand(&mut self, token: &Token) -> bool {
        if token.kind != Kind::Name {
            return false;
        }
        let number = |text: String| Token {
            kind: Kind::Number,
            text: text.into(),
            ..token.clone()
        };
        match &*token.text {
            "__COUNTER__" => {
                self.counter += 1;
                self.pending
                    .push_front(number((self.counter - 1).to_string()));
                return true;
            }
            "__LINE__" => {
                let (_, line) = self.line_at(token.span.start as usize);
                self.pending.push_front(number(line.to_string()));
                return true;
            }
            "__FILE__" => {
                self.pending.push_front(Token {
                    kind: Kind::String,
                    ..number("\"\"".to_string())
                });
                return true;
            }
            _ => {}
        }
        let Some(definition) = self.macros.get(&token.text).cloned() else {
            return false;
        };
        if token.hides(&token.text) {
            return false;
        }
        let mut span = token.span;
        let mut arguments = Vec::new();
        let mut hidden = token.hidden.clone();
        if let Some(parameters) = &definition.parameters {
            let Some((found, close)) = self.arguments(token, &mut span) else {
                return false;
            };
            arguments = found;
            // Where the bracket comes from behind a macro, what is made here does not come from that macro alone.
            hidden = Hidden::both(&hidden, &close);
            if parameters.is_empty() && arguments.len() == 1 && arguments[0].is_empty() {
                arguments.clear();
            }
            if definition.variadic {
                // What is left is one argument, commas and all.
                while arguments.len() > parameters.len() + 1 {
                    let last = arguments.pop().unwrap_or_default();
                    if let Some(before) = arguments.last_mut() {
                        let comma = Token {
                            kind: Kind::Punct,
                            text: ",".into(),
                            ..token.clone()
                        };
                        before.push(comma);
                        before.extend(last);
                    }
                }
                while arguments.len() < parameters.len() + 1 {
                    arguments.push(Vec::new());
                }
            } else if arguments.len() != parameters.len() {
                let message = format!(
                    "the macro `{}` takes {} arguments, not {}",
                    token.text,
                    parameters.len(),
                    arguments.len()
                );
                self.error(span, message);
                return true;
            }
        }
        self.expansions += 1;
        let body = self.substitute(&definition, &arguments, span);
        let hidden = Hidden::with(token.text.clone(), hidden);
        if hidden.count > MOST_NESTED {
            self.error(span, "macros are nested too deeply here");
            return true;
        }
        for (index, mut made) in body.into_iter().enumerate().rev() {
            made.hidden = Some(match made.hidden.take() {
                None => hidden.clone(),
                Some(own) => Hidden::either(own, &hidden),
            });
            if index == 0 {
                made.space = token.space;
            }
            made.first = false;
            self.pending.push_front(made);
        }
        true
    }

    /// The arguments of a macro that is like a function, and the macros that the closing bracket comes from; `None` where no bracket follows its name.
    fn arguments(
        &mut self,
        name: &Token,
        span: &mut Span,
    ) -> Option<(Arguments, Option<Rc<Hidden>>)> {
        let open = self.next_raw();
        match open {
            Some(token) if token.is("(") => {}
            Some(token) => {
                self.pending.push_front(token);
                return None;
            }
            None => return None,
        }
        let mut arguments = vec![Vec::new()];
        let mut depth = 0;
        loop {
            let Some(token) = self.next_raw() else {
                let message = format!("the arguments of the macro `{}` have no end", name.text);
                self.error(name.span, message);
                return Some((arguments, None));
            };
            if token.is("(") {
                depth += 1;
            } else if token.is(")") {
                if depth == 0 {
                    // Only where both are in the same text.
                    if token.span.start >= span.start && token.span.end - span.start < 4096 {
                        *span = span.to(token.span);
                    }
                    return Some((arguments, token.hidden));
                }
                depth -= 1;
            } else if token.is(",") && depth == 0 {
                arguments.push(Vec::new());
                continue;
            }
            if let Some(argument) = arguments.last_mut() {
                argument.push(token);
            }
        }
    }

    fn substitute(
        &mut self,
        definition: &Macro,
        arguments: &[Vec<Token>],
        span: Span,
    ) -> Vec<Token> {
        let parameters = definition.parameters.as_deref().unwrap_or(&[]);
        let index_of = |token: &Token| {
            if token.kind != Kind::Name {
                return None;
            }
            if definition.variadic && &*token.text == "__VA_ARGS__" {
                return Some(parameters.len());
            }
            parameters.iter().position(|p| *p == token.text)
        };
        let body = &definition.body;
        let mut result: Vec<Token> = Vec::new();
        let mut at = 0;
        let mut paste = false;
        while at < body.len() {
            let token = &body[at];
            at += 1;
            if token.is("##") && !result.is_empty() {
                paste = true;
                continue;
            }
            let pasted_next = body.get(at).is_some_and(|t| t.is("##"));
            let mut piece: Vec<Token> = Vec::new();
            if token.is("#")
                && definition.parameters.is_some()
                && let Some(index) = body.get(at).and_then(index_of)
            {
                at += 1;
                piece.push(stringed(&arguments[index], token, span));
            } else if let Some(index) = index_of(token) {
                if paste || pasted_next {
                    piece = arguments[index].clone();
                    // `, ## __VA_ARGS__` without arguments takes the comma away.
                    let rest = definition.variadic && index == parameters.len();
                    if paste && rest && result.last().is_some_and(|t| t.is(",")) {
                        paste = false;
                        if piece.is_empty() {
                            result.pop();
                        }
                    } else if piece.is_empty() {
                        // Something must stand there, or what is beside it would be joined with what is beyond.
                        piece.push(Token {
                            kind: Kind::Other,
                            text: "".into(),
                            ..token.clone()
                        });
                    }
                } else {
                    piece = self.expanded(arguments[index].clone());
                }
                if let Some(first) = piece.first_mut() {
                    first.space = token.space;
                }
            } else {
                let mut token = token.clone();
                token.span = span;
                piece.push(token);
            }
            if paste && !piece.is_empty() {
                paste = false;
                if let Some(left) = result.pop() {
                    let right = piece.remove(0);
                    result.extend(self.pasted(left, right, span));
                }
            }
            result.extend(piece);
        }
        result.retain(|token| !token.text.is_empty());
        result
    }

    fn pasted(&mut self, left: Token, right: Token, span: Span) -> Vec<Token> {
        if left.text.is_empty() || right.text.is_empty() {
            return vec![if left.text.is_empty() { right } else { left }];
        }
        let text = format!("{}{}", left.text, right.text);
        let mut made = lex::tokens(&text, 0, &mut self.errors);
        for token in &mut made {
            token.span = span;
            token.first = false;
            token.space = left.space;
        }
        made
    }

    /// Tokens with every macro in them expanded, by themselves.
    fn expanded(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        if self.depth >= MOST_NESTED {
            let span = tokens.first().map_or(Span::default(), |token| token.span);
            self.error(span, "macros are nested too deeply here");
            return Vec::new();
        }
        self.depth += 1;
        let pending = std::mem::replace(&mut self.pending, tokens.into());
        let cursors = std::mem::take(&mut self.cursors);
        let mut result = Vec::new();
        while let Some(token) = self.next_expanded() {
            result.push(token);
            if self.expansions > MOST_EXPANSIONS {
                break;
            }
        }
        self.depth -= 1;
        self.pending = pending;
        self.cursors = cursors;
        result
    }

    fn directive(&mut self, hash: Span, line: Vec<Token>) {
        let Some(name) = line.first().cloned() else {
            return;
        };
        let span = hash.to(name.span);
        let active = self.conditions.last().is_none_or(|c| c.active);
        let rest = &line[1..];
        match &*name.text {
            "ifdef" | "ifndef" => {
                let defined = rest.first().is_some_and(|n| self.is_defined(&n.text));
                let holds = defined == (&*name.text == "ifdef");
                self.open(active, holds, span);
            }
            "if" => {
                let holds = active && self.condition(rest.to_vec(), span);
                self.open(active, holds, span);
            }
            "elif" => {
                let Some(last) = self.conditions.last() else {
                    return self.error(span, "there is no `#if` before this");
                };
                let (outer, taken) = (last.outer, last.taken);
                let holds = outer && !taken && self.condition(rest.to_vec(), span);
                if let Some(last) = self.conditions.last_mut() {
                    last.active = holds;
                    last.taken |= holds;
                }
            }
            "else" => match self.conditions.last_mut() {
                Some(last) => {
                    last.active = last.outer && !last.taken;
                    last.taken = true;
                }
                None => self.error(span, "there is no `#if` before this"),
            },
            "endif" => {
                if self.conditions.pop().is_none() {
                    self.error(span, "there is no `#if` before this");
                }
            }
            _ if !active => {}
            "include" | "include_next" => self.include(rest, span),
            "define" => self.define(rest, span),
            "undef" => {
                if let Some(name) = rest.first() {
                    self.macros.remove(&name.text);
                }
            }
            "error" => {
                let text = rest.iter().map(|t| &*t.text).collect::<Vec<_>>().join(" ");
                self.error(span, format!("the program refuses itself: {text}"));
            }
            "pragma" => {
                if rest.first().is_some_and(|t| t.is_name("once"))
                    && let Some(cursor) = self.cursors.last()
                {
                    self.once.push(cursor.name.clone());
                }
                let is_push = rest.first().is_some_and(|t| t.is_name("push_macro"));
                let is_pop = rest.first().is_some_and(|t| t.is_name("pop_macro"));
                if let Some(name) = rest.get(2).filter(|_| is_push || is_pop) {
                    let name: Rc<str> = name.text.trim_matches('"').into();
                    match is_push {
                        true => {
                            let now = self.macros.get(&name).cloned();
                            self.pushed.push((name, now));
                        }
                        false => self.pop_macro(&name),
                    }
                }
            }
            "warning" | "ident" => {}
            "line" => {
                let line = self.expanded(rest.to_vec());
                self.renumber(line.first(), span);
            }
            // Where a preprocessor has been: `# 1 "file.c"`.
            _ if name.kind == Kind::Number => self.renumber(Some(&name), span),
            other => {
                let message = format!("there is no directive `#{other}`");
                self.error(span, message);
            }
        }
    }

    /// `#pragma pop_macro("name")`: it is again what it was at the last `push_macro`.
    fn pop_macro(&mut self, name: &str) {
        let Some(at) = self
            .pushed
            .iter()
            .rposition(|(pushed, _)| &**pushed == name)
        else {
            return;
        };
        let (name, before) = self.pushed.remove(at);
        match before {
            Some(before) => self.macros.insert(name, before),
            None => self.macros.remove(&name),
        };
    }

    fn open(&mut self, outer: bool, holds: bool, span: Span) {
        self.conditions.push(Condition {
            active: outer && holds,
            taken: holds,
            outer,
            span,
        });
    }

    fn is_defined(&self, name: &str) -> bool {
        self.macros.contains_key(name)
    }

    fn condition(&mut self, line: Vec<Token>, span: Span) -> bool {
        let mut resolved = Vec::new();
        let mut at = 0;
        while at < line.len() {
            let token = &line[at];
            at += 1;
            if token.is_name("defined") || token.is_name("__has_include") {
                let bracket = line.get(at).is_some_and(|t| t.is("("));
                let name = line.get(at + usize::from(bracket));
                let value = match name {
                    Some(name) if token.is_name("defined") => self.is_defined(&name.text),
                    _ => false,
                };
                at += 1;
                if bracket {
                    while at < line.len() && !line[at - 1].is(")") {
                        at += 1;
                    }
                    if at < line.len() && line[at - 1].is("(") {
                        at += 1;
                    }
                }
                resolved.push(Token {
                    kind: Kind::Number,
                    text: if value { "1" } else { "0" }.into(),
                    ..token.clone()
                });
                continue;
            }
            resolved.push(token.clone());
        }
        let tokens = self.expanded(resolved);
        match condition::evaluate(&tokens) {
            Ok(value) => value != 0,
            Err(message) => {
                self.error(span, message);
                false
            }
        }
    }

    fn define(&mut self, line: &[Token], span: Span) {
        let Some(name) = line.first().filter(|t| t.kind == Kind::Name) else {
            return self.error(span, "a macro needs a name");
        };
        let mut rest = &line[1..];
        let mut parameters = None;
        let mut variadic = false;
        let mut own_rest: Option<Rc<str>> = None;
        if rest.first().is_some_and(|t| t.is("(") && !t.space) {
            let mut names = Vec::new();
            let mut at = 1;
            loop {
                match rest.get(at) {
                    Some(token) if token.is(")") => break,
                    Some(token) if token.is(",") => {}
                    Some(token) if token.is("...") => {
                        variadic = true;
                        // `args...` names what `__VA_ARGS__` is.
                        if rest[at - 1].kind == Kind::Name {
                            own_rest = names.pop();
                        }
                    }
                    Some(token) if token.kind == Kind::Name => names.push(token.text.clone()),
                    _ => return self.error(span, "the parameters of this macro have no end"),
                }
                at += 1;
            }
            rest = &rest[at + 1..];
            parameters = Some(names);
        }
        let mut body = rest.to_vec();
        if let Some(own) = own_rest {
            for token in &mut body {
                if token.kind == Kind::Name && token.text == own {
                    token.text = "__VA_ARGS__".into();
                }
            }
        }
        let definition = Macro {
            parameters,
            variadic,
            body: body.into(),
        };
        self.macros.insert(name.text.clone(), definition);
    }

    fn include(&mut self, line: &[Token], span: Span) {
        let line = match line.first() {
            Some(token) if token.kind == Kind::Name => self.expanded(line.to_vec()),
            _ => line.to_vec(),
        };
        let (name, angled) = match line.first() {
            Some(token) if token.kind == Kind::String => {
                (token.text.trim_matches('"').to_string(), false)
            }
            Some(token) if token.is("<") => {
                let inner = line[1..].iter().take_while(|t| !t.is(">"));
                (inner.map(|t| &*t.text).collect::<String>(), true)
            }
            _ => return self.error(span, "write `#include \"file\"` or `#include <file>`"),
        };
        let whole = line.last().map_or(span, |last| span.to(last.span));
        if self.cursors.len() >= MOST_FILES_DEEP {
            return self.error(whole, "files include each other without end here");
        }
        let own = match angled {
            true => None,
            false => self.cursors.last().and_then(|c| c.directory.clone()),
        };
        let mut tried = None;
        // Of a library's headers our own come before those in `-I`, which are for compilers.
        let elsewhere = match headers::find(&name) {
            Some(_) => &[],
            None => self.include,
        };
        for directory in own.iter().chain(elsewhere) {
            let path = directory.join(&name);
            let shown = path.to_string_lossy().into_owned();
            if let Some(tokens) = self.lexed.get(&shown) {
                if !self.once.contains(&shown) {
                    let tokens = tokens.clone();
                    self.enter(tokens, path.parent().map(Path::to_owned), shown);
                }
                return;
            }
            match (self.read)(&path) {
                Ok(text) => {
                    if !angled && name.ends_with(".h") {
                        self.companions.push(path.with_extension("c"));
                    }
                    let tokens = self.add_file(shown.clone(), text);
                    self.enter(tokens, path.parent().map(Path::to_owned), shown);
                    return;
                }
                Err(reason) => tried = tried.or(Some(format!("{shown}: {reason}"))),
            }
        }
        let shown = format!("<{name}>");
        // Headers of our own need no second look.
        if self.lexed.contains_key(&shown) {
            return;
        }
        if let Some(text) = headers::find(&name) {
            let tokens = self.add_file(shown.clone(), text.to_string());
            self.enter(tokens, None, shown);
            return;
        }
        let mut error = Diagnostic::error(whole, format!("there is no file `{name}`"));
        error = error.help(match tried {
            Some(tried) if !angled => format!("looked at {tried}; `-I DIR` adds a directory"),
            _ => "`-I DIR` adds a directory to look in".to_string(),
        });
        self.errors.push(error);
    }

    fn add_file(&mut self, name: String, text: String) -> Rc<[Token]> {
        let base = self.add_lines(&text);
        let tokens: Rc<[Token]> = lex::tokens(&text, base as u32, &mut self.errors).into();
        self.lexed.insert(name.clone(), tokens.clone());
        self.files.push((name, text));
        tokens
    }

    /// A file begins behind all others: its offset.
    fn add_lines(&mut self, text: &str) -> usize {
        let base = self.next_offset;
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let ends = ends.map(|(at, _)| base + at).collect();
        self.lines.push(Lines { base, ends });
        self.next_offset += text.len() + 1;
        base
    }

    /// The number of the line at this offset, as it is in the file and as `#line` has it.
    fn line_at(&self, offset: usize) -> (i64, i64) {
        let file = self.lines.partition_point(|file| file.base <= offset);
        let Some(file) = file.checked_sub(1).map(|file| &self.lines[file]) else {
            return (1, 1);
        };
        let line = 1 + file.ends.partition_point(|end| *end < offset) as i64;
        let mut before = self.renumbered.iter().rev();
        let before = before.find(|(at, _)| (file.base..offset).contains(at));
        let by = before.map_or(0, |(_, by)| *by);
        (line, line.wrapping_add(by))
    }

    /// `#line 7`, or `# 7` as a preprocessor writes it: the next line has that number.
    fn renumber(&mut self, number: Option<&Token>, span: Span) {
        let number = number.and_then(|token| condition::number(&token.text));
        if let Some(number) = number {
            let at = span.start as usize;
            let (line, _) = self.line_at(at);
            self.renumbered
                .push((at, number.value.wrapping_sub(line + 1)));
        }
    }

    fn enter(&mut self, tokens: Rc<[Token]>, directory: Option<PathBuf>, name: String) {
        self.cursors.push(Cursor {
            tokens,
            next: 0,
            directory,
            name,
            conditions: self.conditions.len(),
        });
    }
}

/// `#argument`
fn stringed(argument: &[Token], hash: &Token, span: Span) -> Token {
    let mut text = String::from("\"");
    for (index, token) in argument.iter().enumerate() {
        if index > 0 && token.space {
            text.push(' ');
        }
        for c in token.text.chars() {
            if c == '"' || c == '\\' {
                text.push('\\');
            }
            text.push(c);
        }
    }
    text.push('"');
    Token {
        kind: Kind::String,
        text: text.into(),
        span,
        ..hash.clone()
    }
}
