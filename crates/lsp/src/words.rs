//! What is said about a word of a text, and which words can stand at a place.

use crate::document::Document;
use lsp_types::{CompletionItem, CompletionItemKind, Position};
use palisade_lang::pal::{Symbol, SymbolKind, Symbols, symbols};
use palisade_lang::{Address, Copies, Language, Op, Program};
use std::fmt::Write;

/// The orders, by all their names, and what each does.
const ORDERS: &[(&[&str], &str)] = &[
    (
        &[
            "relaxed",
            "Relaxed",
            "memory_order_relaxed",
            "__ATOMIC_RELAXED",
        ],
        "the access is atomic, and orders nothing else: other threads may see it before or after what stands around it.",
    ),
    (
        &[
            "acquire",
            "Acquire",
            "memory_order_acquire",
            "__ATOMIC_ACQUIRE",
        ],
        "a load that reads what a release stored sees everything that was done before that release. Nothing after it moves before it.",
    ),
    (
        &[
            "release",
            "Release",
            "memory_order_release",
            "__ATOMIC_RELEASE",
        ],
        "everything before this store is seen by an acquire that reads it. Nothing before it moves behind it.",
    ),
    (
        &[
            "acqrel",
            "AcqRel",
            "memory_order_acq_rel",
            "__ATOMIC_ACQ_REL",
        ],
        "a read-modify-write that acquires what it reads and releases what it writes.",
    ),
    (
        &[
            "seqcst",
            "SeqCst",
            "memory_order_seq_cst",
            "__ATOMIC_SEQ_CST",
        ],
        "as acquire and release, and besides all seqcst accesses of the program are in one order that every thread agrees on. On x86, a seqcst store is followed by a fence.",
    ),
    (
        &["nonatomic"],
        "a plain access: two of them at once, one a store, are a data race, which is an error under release/acquire and C++20.",
    ),
];

/// The words of the language, and what each means.
const WORDS: &[(&str, &str)] = &[
    (
        "fence",
        "waits until the thread's stores have reached memory (TSO); a seqcst fence under release/acquire and C++20. `fence(order);` is a weaker one.",
    ),
    (
        "wait",
        "`wait(p rel e);` loads p and goes on only with a value that satisfies the relation.",
    ),
    (
        "bcas",
        "`bcas(p, a, b);` waits until p holds a, and atomically writes b.",
    ),
    (
        "cas",
        "`cas(p, a, b)` returns the value it read; it wrote b exactly if that was a.",
    ),
    (
        "fadd",
        "`fadd(p, e)` atomically adds, and returns the old value.",
    ),
    (
        "xchg",
        "`xchg(p, e)` atomically writes, and returns the old value.",
    ),
    ("assume", "`assume e;` blocks the thread where e is false."),
    (
        "assert",
        "`assert e;` must hold: `safe` asks whether it can fail.",
    ),
    (
        "never",
        "`never e;`: e is true in no reachable state. `T@L` is thread T about to execute what is labelled L, `T.r` a register of it.",
    ),
    (
        "atomic",
        "`atomic { … }`: no other thread touches memory from its beginning to its end.",
    ),
    (
        "choose",
        "`choose { … } or { … }` takes any of its branches.",
    ),
    (
        "select",
        "as `choose`, but only a branch whose first step is possible is taken.",
    ),
    (
        "shared",
        "locations of memory that all threads see; initially 0, or as given.",
    ),
    (
        "nonatomic",
        "locations that take plain loads and stores: a data race on one is a violation under release/acquire and C++20.",
    ),
    (
        "thread",
        "`thread t { … }`; `thread t[3] { … }` is three copies, in which `me` is the copy's number; `thread t[*] { … }` is any number of copies.",
    ),
    ("domain", "`domain N;`: values are taken modulo N."),
    ("me", "the number of this copy of the thread."),
    (
        "deadlock",
        "in a `never`: no thread can move, and not all have ended.",
    ),
    ("end", "in a `never`: the thread has ended."),
    ("skip", "does nothing."),
    (
        "goto",
        "`goto L;` goes on at the label L of this thread or function.",
    ),
    ("loop", "`loop { … }` for ever, or until a `break`."),
];

const MORE_WORDS: &[&str] = &[
    "const", "fn", "let", "if", "else", "while", "for", "in", "break", "continue", "or", "return",
    "struct", "enum", "include", "program", "true", "false", "null",
];

const METHODS: &[(&str, &str)] = &[
    ("load", "load(order)"),
    ("store", "store(value, order)"),
    ("swap", "swap(value, order)"),
    ("fetch_add", "fetch_add(value, order)"),
    ("fetch_sub", "fetch_sub(value, order)"),
    ("fetch_and", "fetch_and(value, order)"),
    ("fetch_or", "fetch_or(value, order)"),
    ("fetch_xor", "fetch_xor(value, order)"),
    ("fetch_max", "fetch_max(value, order)"),
    ("fetch_min", "fetch_min(value, order)"),
    (
        "compare_exchange",
        "compare_exchange(expected, new, success, failure)",
    ),
    (
        "compare_exchange_weak",
        "compare_exchange_weak(expected, new, success, failure)",
    ),
];

/// What an order means, by any of its names.
pub fn order(word: &str) -> Option<&'static str> {
    let found = ORDERS.iter().find(|(names, _)| names.contains(&word));
    found.map(|(_, meaning)| *meaning)
}

/// The names of a text.
pub fn names(document: &Document) -> Symbols {
    match document.language() {
        Language::Pal => symbols(&document.name, &document.text),
        _ => Symbols::default(),
    }
}

/// What is said about the word at a place, as Markdown. `program` where the text is one.
pub fn hover(document: &Document, at: Position, program: Option<&Program>) -> Option<String> {
    let (word, span) = document.word(at)?;
    let names = names(document);
    let symbol = names.at(span.start).map(|(index, _)| &names.all[index]);
    if let Some(symbol) = symbol {
        return Some(about(document, symbol, &names, program));
    }
    let language = document.language();
    if let Some(meaning) = order(word) {
        return Some(format!("**{word}**: {meaning}"));
    }
    if language == Language::Pal {
        let found = WORDS.iter().find(|(name, _)| *name == word);
        if let Some((_, meaning)) = found {
            return Some(format!("**{word}**: {meaning}"));
        }
        let found = METHODS.iter().find(|(name, _)| *name == word);
        if let Some((_, form)) = found {
            return Some(format!("`{form}`: every order may be left out"));
        }
    }
    let program = program?;
    if let Some(text) = location(word, program) {
        return Some(text);
    }
    let thread = program.threads.iter().find(|t| t.name == word)?;
    Some(format!("thread `{}`", thread.name))
}

fn about(
    document: &Document,
    symbol: &Symbol,
    names: &Symbols,
    program: Option<&Program>,
) -> String {
    let declaration = symbol.declaration.start as usize..symbol.declaration.end as usize;
    let declaration = document.text.get(declaration).unwrap_or(&symbol.name);
    let first: Vec<&str> = declaration.lines().take(3).map(str::trim_end).collect();
    let mut text = format!("```pal\n{}\n```\n", first.join("\n"));
    let owner = symbol.owner.map(|owner| names.all[owner].name.as_str());
    let what = match (symbol.kind, owner) {
        (SymbolKind::Constant, _) => "a constant".to_owned(),
        (SymbolKind::Shared, _) => "shared memory".to_owned(),
        (SymbolKind::Function, _) => "a function, inlined where it is called".to_owned(),
        (SymbolKind::Thread, _) => "a thread".to_owned(),
        (SymbolKind::Struct, _) => {
            "a struct: its fields are locations that follow each other".to_owned()
        }
        (SymbolKind::Field, Some(owner)) => format!("a field of `{owner}`"),
        (SymbolKind::Register, Some(owner)) => {
            format!("a register of `{owner}`: no other thread sees it")
        }
        (SymbolKind::Parameter, Some(owner)) => format!("a parameter of `{owner}`: a value"),
        (SymbolKind::Label, Some(owner)) => format!(
            "a label in `{owner}`: `{owner}@{}` in a `never`",
            symbol.name
        ),
        (_, None) => String::new(),
    };
    text.push_str(&what);
    let Some(program) = program else {
        return text;
    };
    match symbol.kind {
        SymbolKind::Shared => {
            if let Some(more) = location(&symbol.name, program) {
                let _ = write!(text, "\n\n{more}");
            }
        }
        SymbolKind::Thread => {
            let copies = program.threads.iter().find(|t| t.name == symbol.name);
            let copies = copies.map(|thread| match thread.copies {
                Copies::One => "runs once".to_owned(),
                Copies::Fixed(number) => format!("{number} copies run"),
                Copies::Any => "any number of copies run".to_owned(),
            });
            if let Some(copies) = copies {
                let _ = write!(text, "\n\n{copies}");
            }
        }
        _ => {}
    }
    text
}

/// What a location, or an array of them, holds at the beginning, and which threads touch it.
fn location(word: &str, program: &Program) -> Option<String> {
    let element = format!("{word}[");
    let own = |name: &str| name == word || name.starts_with(&element);
    let found: Vec<_> = program.locations.iter().filter(|l| own(&l.name)).collect();
    let first = found.first()?;
    let mut text = match found.len() {
        1 => format!(
            "location number {}, initially {}",
            first.address, first.initial
        ),
        number => format!(
            "{number} locations from number {} on, the first initially {}",
            first.address, first.initial
        ),
    };
    if first.nonatomic {
        text.push_str("; plain accesses only");
    }
    let ids: Vec<usize> = program
        .locations
        .iter()
        .enumerate()
        .filter(|(_, l)| own(&l.name))
        .map(|(index, _)| index)
        .collect();
    let mut touching: [Vec<&str>; 2] = [Vec::new(), Vec::new()];
    for thread in &program.threads {
        for transition in &thread.transitions {
            let (address, reads, writes) = match &transition.op {
                Op::Load { address, .. } | Op::Wait { address, .. } => (address, true, false),
                Op::Store { address, .. } => (address, false, true),
                Op::Rmw { address, .. } => (address, true, true),
                _ => continue,
            };
            // An address that is computed may be any location.
            let touches = match address {
                Address::Direct(id) => ids.contains(&id.index()),
                Address::Element { first, length, .. } => {
                    let elements = first.index()..first.index() + *length as usize;
                    ids.iter().any(|id| elements.contains(id))
                }
                Address::Pointer(_) => true,
            };
            for (side, does) in [(0, reads), (1, writes)] {
                if touches && does && !touching[side].contains(&thread.name.as_str()) {
                    touching[side].push(&thread.name);
                }
            }
        }
    }
    for (side, what) in [(0, "may be read by"), (1, "may be written by")] {
        if !touching[side].is_empty() {
            let names: Vec<String> = touching[side].iter().map(|n| format!("`{n}`")).collect();
            let _ = write!(text, "\n\n{what} {}", names.join(", "));
        }
    }
    Some(text)
}

/// What can stand at a place.
pub fn completions(document: &Document, at: Position) -> Vec<CompletionItem> {
    let offset = document.offset(at);
    let before =
        document.text[..offset].trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    let before = before.trim_end_matches([' ', '\t']);
    let item = |label: &str, kind, detail: Option<&str>| CompletionItem {
        label: label.to_owned(),
        kind: Some(kind),
        detail: detail.map(str::to_owned),
        ..CompletionItem::default()
    };
    if document.language() != Language::Pal {
        let of_c = |names: &[&'static str]| names.get(2).copied().unwrap_or(names[0]);
        return match document.language() {
            Language::C => ORDERS
                .iter()
                .map(|(names, meaning)| {
                    item(of_c(names), CompletionItemKind::CONSTANT, Some(meaning))
                })
                .collect(),
            _ => Vec::new(),
        };
    }
    let names = names(document);
    let orders = || {
        ORDERS
            .iter()
            .map(|(names, meaning)| item(names[0], CompletionItemKind::CONSTANT, Some(meaning)))
    };
    if before.ends_with('.') && !before.ends_with("..") || before.ends_with("->") {
        let fields = names.all.iter().filter(|s| s.kind == SymbolKind::Field);
        let fields = fields.map(|s| item(&s.name, CompletionItemKind::FIELD, None));
        let methods = METHODS
            .iter()
            .map(|(name, form)| item(name, CompletionItemKind::METHOD, Some(form)));
        return fields.chain(methods).collect();
    }
    if before.ends_with('@') || before.ends_with("goto") {
        let labels = names.all.iter().filter(|s| s.kind == SymbolKind::Label);
        let labels = labels.map(|s| item(&s.name, CompletionItemKind::REFERENCE, None));
        let end = before
            .ends_with('@')
            .then(|| item("end", CompletionItemKind::KEYWORD, None));
        return labels.chain(end).collect();
    }
    let mut items: Vec<CompletionItem> = Vec::new();
    for symbol in &names.all {
        let kind = match symbol.kind {
            SymbolKind::Constant => CompletionItemKind::CONSTANT,
            SymbolKind::Shared | SymbolKind::Register | SymbolKind::Parameter => {
                CompletionItemKind::VARIABLE
            }
            SymbolKind::Function => CompletionItemKind::FUNCTION,
            SymbolKind::Thread => CompletionItemKind::CLASS,
            SymbolKind::Struct => CompletionItemKind::STRUCT,
            SymbolKind::Field | SymbolKind::Label => continue,
        };
        if !items.iter().any(|known| known.label == symbol.name) {
            items.push(item(&symbol.name, kind, None));
        }
    }
    // An order comes last among arguments.
    if before.ends_with([',', '(']) {
        items.extend(orders());
    }
    let words = WORDS.iter().map(|(word, meaning)| (*word, Some(*meaning)));
    let words = words.chain(MORE_WORDS.iter().map(|word| (*word, None)));
    items.extend(words.map(|(word, meaning)| item(word, CompletionItemKind::KEYWORD, meaning)));
    items
}
