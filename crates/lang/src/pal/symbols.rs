//! The names of a text: where each is declared and where it is used. For editors, also while the text is not yet a program.
//!
//! Only tokens are looked at, so that a half-written statement costs its own names and no others.

use std::collections::HashMap;

use crate::source::Span;

use super::diagnostics::Diagnostics;
use super::include;
use super::lexer::{self, Tok, Token};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// `const`, or a name of an `enum`.
    Constant,
    /// `shared`: a location, or several.
    Shared,
    /// `fn`
    Function,
    /// `thread`
    Thread,
    /// `struct`
    Struct,
    /// A field of a struct.
    Field,
    /// `let`, or the counter of a `for`.
    Register,
    /// A parameter of a function.
    Parameter,
    /// A label of a statement.
    Label,
}

/// A name that is declared in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// What it stands for.
    pub kind: SymbolKind,
    /// Where it is declared: the name alone.
    pub definition: Span,
    /// The whole declaration, as far as it stands before a block.
    pub declaration: Span,
    /// Where it is used, without the declaration.
    pub uses: Vec<Span>,
    /// The thread, function or struct that it belongs to, by index.
    pub owner: Option<usize>,
}

/// All names of a text, in the order of their declarations.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// The names.
    pub all: Vec<Symbol>,
    /// The files that it includes, as paths from where the file's own name leads.
    pub includes: Vec<String>,
}

impl Symbols {
    /// The name that stands at an offset, by index, and its place there.
    pub fn at(&self, offset: u32) -> Option<(usize, Span)> {
        let holds = |span: &Span| span.start <= offset && offset <= span.end;
        self.all.iter().enumerate().find_map(|(index, symbol)| {
            let places = std::iter::once(&symbol.definition).chain(&symbol.uses);
            places
                .into_iter()
                .find(|s| holds(s))
                .map(|span| (index, *span))
        })
    }

    /// A name outside of threads and functions.
    pub fn global(&self, name: &str) -> Option<&Symbol> {
        let mut all = self.all.iter();
        all.find(|s| s.owner.is_none() && s.name == name)
    }
}

/// The names of the text of the file `name`.
pub fn symbols(name: &str, text: &str) -> Symbols {
    let mut unsaid = Diagnostics::default();
    let tokens = lexer::tokens(text, 0..text.len(), &mut unsaid);
    let mut reader = Reader {
        text,
        tokens: &tokens,
        all: Vec::new(),
        globals: HashMap::new(),
    };
    let items = reader.items();
    for item in &items {
        match item.kind {
            ItemKind::Body(owner) => reader.body(item, owner),
            ItemKind::Never => reader.never(item),
            ItemKind::Other => reader.expressions(item),
        }
    }
    Symbols {
        all: reader.all,
        includes: include::included_files(name, text),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum ItemKind {
    /// Of a thread or function, by its symbol.
    Body(usize),
    Never,
    Other,
}

/// Tokens from one to before another.
struct Item {
    from: usize,
    to: usize,
    kind: ItemKind,
}

struct Reader<'a> {
    text: &'a str,
    tokens: &'a [Token],
    all: Vec<Symbol>,
    globals: HashMap<&'a str, usize>,
}

impl<'a> Reader<'a> {
    fn kind(&self, at: usize) -> Tok {
        self.tokens.get(at).map_or(Tok::End, |t| t.kind)
    }

    fn word(&self, at: usize) -> &'a str {
        let span = self.tokens.get(at).map_or(Span::default(), |t| t.span);
        let range = span.start as usize..span.end as usize;
        self.text.get(range).unwrap_or("")
    }

    fn span(&self, at: usize) -> Span {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens[at.min(last)].span
    }

    fn is_name(&self, at: usize) -> bool {
        self.kind(at) == Tok::Name
    }

    fn declare(
        &mut self,
        at: usize,
        kind: SymbolKind,
        declaration: Span,
        owner: Option<usize>,
    ) -> usize {
        let index = self.all.len();
        self.all.push(Symbol {
            name: self.word(at).to_owned(),
            kind,
            definition: self.span(at),
            declaration,
            uses: Vec::new(),
            owner,
        });
        if owner.is_none() {
            self.globals.entry(self.word(at)).or_insert(index);
        }
        index
    }

    /// The token after the one that ends what begins at `from`: a `;`, or the `}` of its first block.
    fn end_of_item(&self, from: usize, with_block: bool) -> usize {
        let mut depth = 0_usize;
        for at in from..self.tokens.len() {
            match self.kind(at) {
                Tok::OpenBrace => depth += 1,
                Tok::CloseBrace if depth <= 1 => return at + 1,
                Tok::CloseBrace => depth -= 1,
                Tok::Semicolon if depth == 0 && !with_block => return at + 1,
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// What is declared outside of blocks.
    fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            let word = self.word(at);
            let has_block = matches!(self.kind(at), Tok::Fn | Tok::Thread)
                || (self.is_name(at) && matches!(word, "struct" | "enum"));
            let end = self.end_of_item(at, has_block).max(at + 1);
            let mut item = Item {
                from: at,
                to: end,
                kind: ItemKind::Other,
            };
            let whole = |from: usize, to: usize, this: &Self| {
                let open = (from..to).find(|&i| this.kind(i) == Tok::OpenBrace);
                let last = open.unwrap_or(to).saturating_sub(1).max(from);
                this.span(from).to(this.span(last))
            };
            match self.kind(at) {
                Tok::Const if self.is_name(at + 1) => {
                    let declaration = whole(at, end - 1, self);
                    self.declare(at + 1, SymbolKind::Constant, declaration, None);
                }
                Tok::Shared => self.shared(at, end),
                // `nonatomic shared`: the next token.
                Tok::Nonatomic => {
                    at += 1;
                    continue;
                }
                Tok::Fn | Tok::Thread if self.is_name(at + 1) => {
                    let kind = match self.kind(at) {
                        Tok::Fn => SymbolKind::Function,
                        _ => SymbolKind::Thread,
                    };
                    let declaration = whole(at, end, self);
                    let owner = self.declare(at + 1, kind, declaration, None);
                    item.kind = ItemKind::Body(owner);
                }
                Tok::Never => item.kind = ItemKind::Never,
                Tok::Name if word == "struct" && self.is_name(at + 1) => {
                    let owner = self.declare(at + 1, SymbolKind::Struct, self.span(at + 1), None);
                    self.list(at + 2, end, SymbolKind::Field, Some(owner));
                }
                Tok::Name if word == "enum" => {
                    let from = at + 1 + usize::from(self.is_name(at + 1));
                    self.list(from, end, SymbolKind::Constant, None);
                }
                _ => {}
            }
            items.push(item);
            at = end;
        }
        items
    }

    fn shared(&mut self, from: usize, end: usize) {
        let before = from.checked_sub(1).map(|b| self.kind(b));
        let start = match before {
            Some(Tok::Nonatomic) => from - 1,
            _ => from,
        };
        let mut fresh = true;
        let mut depth = 0_usize;
        let mut at = from + 1;
        while at < end {
            match self.kind(at) {
                Tok::OpenBracket | Tok::OpenParen => depth += 1,
                Tok::CloseBracket | Tok::CloseParen => depth = depth.saturating_sub(1),
                Tok::Comma if depth == 0 => fresh = true,
                Tok::Name if fresh && depth == 0 => {
                    at += usize::from(self.is_name(at + 1));
                    let mut last = at;
                    let mut inside = 0_usize;
                    while last + 1 < end {
                        match self.kind(last + 1) {
                            Tok::OpenBracket | Tok::OpenParen => inside += 1,
                            Tok::CloseBracket | Tok::CloseParen => {
                                inside = inside.saturating_sub(1)
                            }
                            Tok::Comma | Tok::Semicolon if inside == 0 => break,
                            _ => {}
                        }
                        last += 1;
                    }
                    let declaration = match at == from + 1 {
                        true => self.span(start).to(self.span(last)),
                        false => self.span(at).to(self.span(last)),
                    };
                    self.declare(at, SymbolKind::Shared, declaration, None);
                    fresh = false;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// The names in the braces of a struct or an enum.
    fn list(&mut self, from: usize, end: usize, kind: SymbolKind, owner: Option<usize>) {
        let mut fresh = false;
        let mut depth = 0_usize;
        for at in from..end {
            match self.kind(at) {
                Tok::OpenBrace => fresh = true,
                Tok::OpenBracket | Tok::OpenParen => depth += 1,
                Tok::CloseBracket | Tok::CloseParen => depth = depth.saturating_sub(1),
                Tok::Comma if depth == 0 => fresh = true,
                Tok::Nonatomic => {}
                Tok::Name if fresh && depth == 0 => {
                    self.declare(at, kind, self.span(at), owner);
                    fresh = false;
                }
                _ => {}
            }
        }
    }

    fn use_of(&mut self, symbol: Option<usize>, at: usize) {
        let span = self.span(at);
        if let Some(symbol) = symbol
            && self.all[symbol].definition != span
        {
            self.all[symbol].uses.push(span);
        }
    }

    /// The field of that name, where there is one alone.
    fn field(&self, name: &str) -> Option<usize> {
        let is_it = |s: &Symbol| s.kind == SymbolKind::Field && s.name == name;
        let mut found = (0..self.all.len()).filter(|&i| is_it(&self.all[i]));
        match (found.next(), found.next()) {
            (Some(field), None) => Some(field),
            _ => None,
        }
    }

    fn label(&self, owner: Option<usize>, name: &str) -> Option<usize> {
        let is_it = |s: &Symbol| s.kind == SymbolKind::Label && s.name == name;
        let all = || (0..self.all.len()).filter(|&i| is_it(&self.all[i]));
        match owner {
            Some(owner) => all().find(|&i| self.all[i].owner == Some(owner)),
            None => all().next(),
        }
    }

    fn expressions(&mut self, item: &Item) {
        for at in item.from..item.to {
            if !self.is_name(at) {
                continue;
            }
            let symbol = match at.checked_sub(1).map(|b| self.kind(b)) {
                Some(Tok::Dot | Tok::Arrow) => self.field(self.word(at)),
                _ => self.globals.get(self.word(at)).copied(),
            };
            self.use_of(symbol, at);
        }
    }

    /// `T@L`, `T[k]@L`, `T.r`, `T[k].r`, and everything that stands in expressions.
    fn never(&mut self, item: &Item) {
        for at in item.from..item.to {
            if !self.is_name(at) {
                continue;
            }
            let before = at.checked_sub(1).map_or(Tok::End, |b| self.kind(b));
            let symbol = match before {
                Tok::At => {
                    let thread = self.thread_before(at - 1);
                    let own = thread.and_then(|t| self.label(Some(t), self.word(at)));
                    own.or_else(|| self.label(None, self.word(at)))
                }
                Tok::Dot => match self.thread_before(at - 1) {
                    Some(thread) => {
                        let name = self.word(at);
                        (0..self.all.len()).find(|&i| {
                            let s = &self.all[i];
                            s.owner == Some(thread)
                                && s.kind == SymbolKind::Register
                                && s.name == name
                        })
                    }
                    None => self.field(self.word(at)),
                },
                Tok::Arrow => self.field(self.word(at)),
                _ => self.globals.get(self.word(at)).copied(),
            };
            self.use_of(symbol, at);
        }
    }

    /// The thread whose name, perhaps with a number in brackets, stands before a token.
    fn thread_before(&self, at: usize) -> Option<usize> {
        let mut name = at.checked_sub(1)?;
        if self.kind(name) == Tok::CloseBracket {
            while self.kind(name) != Tok::OpenBracket {
                name = name.checked_sub(1)?;
            }
            name = name.checked_sub(1)?;
        }
        let symbol = *self.globals.get(self.word(name))?;
        (self.all[symbol].kind == SymbolKind::Thread).then_some(symbol)
    }

    /// The body of a thread or a function: labels first, as a `goto` may stand before its label.
    fn body(&mut self, item: &Item, owner: usize) {
        let begins = |this: &Self, at: usize| {
            let before = at.checked_sub(1).map_or(Tok::End, |b| this.kind(b));
            let label = before == Tok::Colon
                && at >= 3
                && matches!(
                    this.kind(at - 3),
                    Tok::OpenBrace | Tok::CloseBrace | Tok::Semicolon | Tok::Colon
                );
            label || matches!(before, Tok::OpenBrace | Tok::CloseBrace | Tok::Semicolon)
        };
        for at in item.from..item.to {
            if self.is_name(at) && self.kind(at + 1) == Tok::Colon && begins(self, at) {
                self.declare(at, SymbolKind::Label, self.span(at), Some(owner));
            }
        }
        let mut scopes: Vec<Vec<(&'a str, usize)>> = vec![Vec::new()];
        // Declared, and known from the next `;` or `{` on.
        let mut waiting: Vec<(&'a str, usize)> = Vec::new();
        let mut in_head = true;
        let mut depth = 0_usize;
        for at in item.from..item.to {
            match self.kind(at) {
                Tok::OpenBrace => {
                    in_head = false;
                    depth += 1;
                    scopes.push(std::mem::take(&mut waiting));
                }
                Tok::CloseBrace => {
                    depth = depth.saturating_sub(1);
                    scopes.pop();
                    if scopes.is_empty() {
                        scopes.push(Vec::new());
                    }
                }
                Tok::Semicolon => {
                    if let Some(scope) = scopes.last_mut() {
                        scope.append(&mut waiting);
                    }
                }
                Tok::Name => {
                    let word = self.word(at);
                    let before = at.checked_sub(1).map_or(Tok::End, |b| self.kind(b));
                    let is_for = at > 0 && self.is_name(at - 1) && self.word(at - 1) == "for";
                    let is_parameter = in_head
                        && self.all[owner].kind == SymbolKind::Function
                        && matches!(before, Tok::OpenParen | Tok::Comma);
                    if is_parameter {
                        let index =
                            self.declare(at, SymbolKind::Parameter, self.span(at), Some(owner));
                        waiting.push((word, index));
                    } else if before == Tok::Let || is_for {
                        let from = self.span(at - 1);
                        let end = (at..item.to)
                            .find(|&i| matches!(self.kind(i), Tok::Semicolon | Tok::OpenBrace))
                            .unwrap_or(at + 1);
                        let declaration = from.to(self.span(end - 1));
                        let index =
                            self.declare(at, SymbolKind::Register, declaration, Some(owner));
                        waiting.push((word, index));
                    } else {
                        let is_label = before == Tok::Goto
                            || (self.kind(at + 1) == Tok::Colon && begins(self, at));
                        let symbol = match before {
                            _ if is_label => self.label(Some(owner), word),
                            Tok::Dot | Tok::Arrow => self.field(word),
                            _ => scopes
                                .iter()
                                .rev()
                                .find_map(|scope| {
                                    let mut scope = scope.iter().rev();
                                    scope.find(|(name, _)| *name == word).map(|(_, s)| *s)
                                })
                                .or_else(|| self.globals.get(word).copied()),
                        };
                        self.use_of(symbol, at);
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
const N = 2;
struct Node { next, value }
shared Node pool[N], head = null;
fn pop(p: *Node) { let q = p; again: goto again; return q->value; }
thread t[2] {
  let r = 1;
  let r = r + head;
  for i in 0..N { r += i; }
  cs: pop(&pool[r]);
}
never t[0]@cs && t[1].r == N;
";

    /// The text of every place of the name at the first occurrence of `at`, as lines.
    fn lines(at: &str) -> Vec<usize> {
        let symbols = symbols("a.pal", TEXT);
        let offset = TEXT.find(at).unwrap() as u32;
        let (index, _) = symbols.at(offset).unwrap_or_else(|| panic!("{at}"));
        let symbol = &symbols.all[index];
        let places = std::iter::once(&symbol.definition).chain(&symbol.uses);
        let mut lines: Vec<usize> = places
            .map(|span| {
                let range = span.start as usize..span.end as usize;
                assert_eq!(&TEXT[range], symbol.name);
                TEXT[..span.start as usize].matches('\n').count() + 1
            })
            .collect();
        lines.sort_unstable();
        lines
    }

    #[test]
    fn names_are_found_where_they_are_used() {
        assert_eq!(lines("N = 2"), [1, 3, 8, 11]);
        assert_eq!(lines("Node {"), [2, 3, 4]);
        assert_eq!(lines("value }"), [2, 4]);
        assert_eq!(lines("head = null"), [3, 7]);
        assert_eq!(lines("pop(p"), [4, 9]);
        assert_eq!(lines("again: "), [4, 4]);
        // The first `r` is used once more in the second one's value, and named by the `never`.
        assert_eq!(lines("r = 1"), [6, 7, 11]);
        assert_eq!(lines("r = r"), [7, 8, 9]);
        assert_eq!(lines("i in"), [8, 8]);
        assert_eq!(lines("cs: "), [9, 11]);
        assert_eq!(lines("t[2]"), [5, 11, 11]);
    }

    #[test]
    fn half_a_text_has_its_names() {
        let all = symbols("a.pal", "shared x; thread t { let r = x; if r { x.store(");
        let names: Vec<&str> = all.all.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["x", "t", "r"]);
        assert_eq!(all.all[0].uses.len(), 2);
        symbols(
            "a.pal",
            "}}}} shared ; let never @ . never t@ fn fn( { for for in",
        );
    }
}
