//! Other orders written into the user's own text, with everything else kept: what [`Program::with_orders`] does to the program, done to its text.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::equal::same_program;
use crate::fenced::{
    Edit, applied, apply, at_block_end, before_statement, skip_blanks, top_level, without_fence,
    without_statement, word_length,
};
use crate::ordered::{OrderChange, OrderSite, Ordered};
use crate::parse::{ParseOptions, parse};
use crate::program::{Language, Op, Order, PlaceKind, Program};
use crate::source::Span;

/// How a language writes an order.
fn name(language: Language, order: Order) -> &'static str {
    match (language, order) {
        (Language::Tpl, Order::Relaxed) => "rlx",
        (Language::Tpl, Order::Acquire) => "acq",
        (Language::Tpl, Order::Release) => "rel",
        (Language::Tpl, Order::AcqRel) => "acq_rel",
        (Language::Tpl, Order::SeqCst) => "seq_cst",
        (Language::C, Order::Relaxed) => "memory_order_relaxed",
        (Language::C, Order::Acquire) => "memory_order_acquire",
        (Language::C, Order::Release) => "memory_order_release",
        (Language::C, Order::AcqRel) => "memory_order_acq_rel",
        (Language::C, Order::SeqCst) => "memory_order_seq_cst",
        (Language::Rust, Order::Relaxed) => "Relaxed",
        (Language::Rust, Order::Acquire) => "Acquire",
        (Language::Rust, Order::Release) => "Release",
        (Language::Rust, Order::AcqRel) => "AcqRel",
        (Language::Rust, Order::SeqCst) => "SeqCst",
        (_, order) => order.name(),
    }
}

/// The fence with an order, as a statement.
pub(crate) fn fence_statement(language: Language, order: Order) -> String {
    let order_name = name(language, order);
    match (language, order) {
        (Language::C, _) => format!("atomic_thread_fence({order_name});"),
        (Language::Rust, _) => {
            format!("std::sync::atomic::fence(std::sync::atomic::Ordering::{order_name});")
        }
        (_, Order::SeqCst) => "fence;".to_owned(),
        _ => format!("fence({order_name});"),
    }
}

/// The files of the program that these changes change, with their new texts: those that a C program includes count, too, unless they are headers of our own.
pub fn reordered_files(
    program: &Program,
    changes: &[OrderChange],
) -> Result<Vec<(String, String)>, String> {
    if program.language != Language::C {
        let text = reordered_text(program, changes)?;
        return Ok(vec![(program.source.name().to_owned(), text)]);
    }
    let edits = edits(program, changes)?;
    let mut changed = Vec::new();
    for file in program.source.files() {
        let (start, end) = (file.start as usize, file.start as usize + file.text.len());
        let here = edits.iter().filter(|edit| (start..=end).contains(&edit.at));
        let here: Vec<Edit> = here.map(|edit| edit.moved_by(start)).collect();
        if here.is_empty() {
            continue;
        }
        if file.name.starts_with('<') {
            return Err(format!("{} is a header that is not changed", file.name));
        }
        changed.push((file.name.to_owned(), apply(file.text, &here)));
    }
    Ok(changed)
}

/// The program's text with these changes. On failure, says why the language, or this text, has no way to write one.
pub fn reordered_text(program: &Program, changes: &[OrderChange]) -> Result<String, String> {
    let text = with_changes(program, changes)?;
    let speaks_of_orders = crate::tpl::writes_orders;
    if program.language != Language::Tpl
        || speaks_of_orders(program.source.text())
        || !speaks_of_orders(&text)
    {
        return Ok(text);
    }
    // Once one access of a `.tpl` has an order, those without one are relaxed: so all get theirs.
    let is_changed = |site: &OrderSite| {
        let mut others = changes.iter().filter_map(OrderChange::site);
        others.any(|other| (other.span, other.what) == (site.span, site.what))
    };
    let sites = program.order_sites().into_iter();
    let others = sites.filter(|site| site.what != Ordered::Fence && !is_changed(site));
    let others = others.map(|site| OrderChange::Order(site, site.order));
    let all: Vec<OrderChange> = changes.iter().copied().chain(others).collect();
    with_changes(program, &all)
}

fn with_changes(program: &Program, changes: &[OrderChange]) -> Result<String, String> {
    applied(program, &edits(program, changes)?)
}

/// What these changes change in the text of all files.
fn edits(program: &Program, changes: &[OrderChange]) -> Result<Vec<Edit>, String> {
    let mut edits = Vec::new();
    // A compare-and-swap has two orders, which are written together.
    let mut by_text: BTreeMap<Span, Vec<OrderChange>> = BTreeMap::new();
    for change in changes {
        match change {
            OrderChange::Fence(id, order) => {
                let place = &program.places[id.index()];
                let statement = fence_statement(program.language, *order);
                edits.push(match (program.language, place.kind) {
                    (Language::Litmus | Language::Trencher, _) | (_, PlaceKind::State) => {
                        return Err("fences with orders cannot be written into it".to_owned());
                    }
                    (_, PlaceKind::BeforeStatement) => {
                        before_statement(program, place.span, &statement)
                    }
                    (_, PlaceKind::BlockEnd) => at_block_end(program, place.span, &statement),
                });
            }
            OrderChange::NoFence(site) if program.language != Language::Rust => {
                edits.push(without_fence(program, site.span)?);
            }
            OrderChange::Order(site, _)
            | OrderChange::Exchange(site, _)
            | OrderChange::NoFence(site) => by_text.entry(site.span).or_default().push(*change),
        }
    }
    for (span, changes) in by_text {
        let cannot = || {
            format!(
                "`{}` at {} cannot be written with another order",
                program.source.slice(span).trim(),
                program.source.line_column(span.start)
            )
        };
        edits.extend(access(program, span, &changes).ok_or_else(cannot)?);
    }
    edits.sort_by_key(|edit| (edit.at, edit.order));
    Ok(edits)
}

impl Program {
    /// Whether the text with this change alone says what the program with it does: every language has its limits. Texts that only a compiler reads (C, Rust)
    /// are not read again here.
    pub fn order_can_be_written(&self, change: &OrderChange) -> bool {
        if self.language == Language::C {
            return reordered_files(self, &[*change]).is_ok();
        }
        let Ok(text) = reordered_text(self, &[*change]) else {
            return false;
        };
        if self.language == Language::Rust {
            return true;
        }
        let options = ParseOptions {
            language: Some(self.language),
            domain: self.domain.size(),
        };
        parse(&self.source.with_text(text), &options)
            .is_ok_and(|again| same_program(&self.with_orders(&[*change]), &again.program).is_ok())
    }
}

/// A call that ends a text: `name(arguments)`.
struct Call {
    name: Range<usize>,
    open: usize,
    close: usize,
    arguments: Vec<Range<usize>>,
}

/// The call that ends here, if one does. Offsets count from the beginning of the text.
fn last_call(text: &str) -> Option<Call> {
    let end = text.trim_end().trim_end_matches(';').trim_end().len();
    let bytes = text.as_bytes();
    // Brackets that are open, each with the beginnings of what stands between its commas.
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut at = 0;
    while at < end {
        let rest = &text[at..end];
        if rest.starts_with("//") || rest.starts_with("/*") {
            at = skip_blanks(text, at).max(at + 1);
            continue;
        }
        match bytes[at] {
            b'"' => at += rest[1..].find('"')? + 1,
            b'(' | b'[' | b'{' => open.push((at, vec![at + 1])),
            b',' => {
                if let Some((_, begins)) = open.last_mut() {
                    begins.push(at + 1);
                }
            }
            b')' | b']' | b'}' => {
                let (begin, begins) = open.pop()?;
                if at + 1 == end && bytes[at] == b')' && open.is_empty() {
                    let before = text[..begin].trim_end().len();
                    let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
                    let length = bytes[..before].iter().rev().take_while(|b| is_word(b));
                    let name = before - length.count()..before;
                    let ends = begins[1..].iter().map(|next| next - 1).chain([at]);
                    let trimmed = |(from, to): (usize, usize)| {
                        let part = &text[from..to];
                        let blanks = part.len() - part.trim_start().len();
                        from + blanks..from + part.trim_end().len().max(blanks)
                    };
                    let mut arguments: Vec<_> =
                        begins.iter().copied().zip(ends).map(trimmed).collect();
                    arguments.retain(|argument| !argument.is_empty());
                    return (!name.is_empty()).then_some(Call {
                        name,
                        open: begin,
                        close: at,
                        arguments,
                    });
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Whether an argument is an order in this language.
fn is_order(language: Language, argument: &str) -> bool {
    let last = argument.rsplit("::").next().unwrap_or(argument).trim();
    match language {
        Language::C => {
            ["memory_order_", "__ATOMIC_"]
                .iter()
                .any(|prefix| last.starts_with(prefix))
                && word_length(last) == last.len()
        }
        Language::Rust => ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"].contains(&last),
        Language::Tpl => [
            "rlx",
            "relaxed",
            "acq",
            "acquire",
            "rel",
            "release",
            "acq_rel",
            "acqrel",
            "acquire_release",
            "sc",
            "seq_cst",
            "seqcst",
        ]
        .contains(&last),
        _ => ["relaxed", "acquire", "release", "acqrel", "seqcst"].contains(&last),
    }
}

/// An order in the words in which another one is written.
fn in_words_of(language: Language, written: &str, order: Order) -> String {
    let new = name(language, order);
    match language {
        Language::C if written.contains("__ATOMIC_") => {
            let short = new.trim_start_matches("memory_order_");
            format!("__ATOMIC_{}", short.to_uppercase())
        }
        Language::C => new.to_owned(),
        Language::Rust => match written.rsplit_once("::") {
            Some((path, _)) => format!("{path}::{new}"),
            // What is imported by its name says nothing about the others.
            None => format!("std::sync::atomic::Ordering::{new}"),
        },
        _ => new.to_owned(),
    }
}

/// The edits for one access or fence.
fn access(program: &Program, span: Span, changes: &[OrderChange]) -> Option<Vec<Edit>> {
    let language = program.language;
    let text = program.source.slice(span);
    let base = span.start as usize;
    let replace = |range: Range<usize>, text: String| Edit {
        at: base + range.start,
        removed: range.len(),
        text,
        order: (3, 0),
    };
    let closer = |at: usize, text: String| Edit {
        at: base + at,
        removed: 0,
        text,
        order: (0, -i64::from(span.start)),
    };
    let opener = |at: usize, text: &str| Edit {
        at: base + at,
        removed: 0,
        text: text.to_owned(),
        order: (2, -i64::from(span.end)),
    };
    let call = last_call(text);
    let first = changes.first()?.site()?;
    if let Some(OrderChange::Exchange(_, to)) = changes.first() {
        return exchange(program, span, *to);
    }
    if let Some(OrderChange::NoFence(_)) = changes.first() {
        // Only Rust's come here: the call may be part of an expression. A fence inside a function of the standard library stands at the call of that
        // function, and is not the user's to remove.
        let call = call.filter(|call| &text[call.name.clone()] == "fence")?;
        call.arguments
            .iter()
            .find(|argument| is_order(language, &text[(*argument).clone()]))?;
        let call = text.trim_end_matches(';').len();
        let whole = program.source.whole_text();
        let before = whole[..base].trim_end();
        return Some(vec![match whole[base + call..].starts_with(';') {
            // A statement of its own.
            true if before.ends_with(['{', '}', ';']) => {
                without_statement(whole, base, base + call + 1)
            }
            _ => replace(0..call, "()".to_owned()),
        }]);
    }
    let wanted = |what: Ordered| {
        changes.iter().find_map(|change| match change {
            OrderChange::Order(site, to) if site.what == what => Some(*to),
            _ => None,
        })
    };
    match first.what {
        Ordered::Fence if language == Language::Pal || language == Language::Tpl => {
            let to = fence_statement(language, wanted(Ordered::Fence)?);
            let end = text.trim_end().len();
            let semicolon = text[..end].ends_with(';');
            let to = match semicolon {
                true => to,
                false => to.trim_end_matches(';').to_owned(),
            };
            return Some(vec![replace(0..end, to)]);
        }
        Ordered::Load if language == Language::Pal && !is_call_of(text, &call, "load") => {
            let end = text.trim_end().len();
            let order = wanted(Ordered::Load)?;
            // `wait(place == value)`
            if let Some(call) = call.filter(|call| &text[call.name.clone()] == "wait") {
                return Some(with_arguments(text, &call, language, &[order], base, span));
            }
            let is_pointer = text.starts_with('*');
            let closing = match is_pointer {
                true => format!(").load({})", order.name()),
                false => format!(".load({})", order.name()),
            };
            let mut edits = vec![closer(end, closing)];
            if is_pointer {
                edits.push(opener(0, "("));
            }
            return Some(edits);
        }
        Ordered::Store
            if matches!(language, Language::Pal) && !is_call_of(text, &call, "store") =>
        {
            let assign = top_level(text, "=")?;
            let end = text.trim_end().trim_end_matches(';').trim_end().len();
            let value = skip_blanks(text, assign + 1);
            let place = text[..assign].trim_end().len();
            let order = wanted(Ordered::Store)?;
            return Some(vec![
                replace(place..value, ".store(".to_owned()),
                closer(end, format!(", {})", order.name())),
            ]);
        }
        _ => {}
    }
    let call = call?;
    // The orders that it shall have, as many as are written.
    let all = program.threads.iter().flat_map(|t| &t.transitions);
    let now = |what: Ordered| {
        let mut sites = program.order_sites().into_iter();
        sites
            .find(|site| site.span == span && site.what == what)
            .map(|site| site.order)
    };
    let is_swap = all
        .clone()
        .any(|t| t.span == span && matches!(t.op, Op::Rmw { .. }))
        && now(Ordered::Failure).is_some();
    let orders = match is_swap {
        true => {
            let success = wanted(Ordered::Rmw).or_else(|| now(Ordered::Rmw))?;
            let failure = wanted(Ordered::Failure).or_else(|| now(Ordered::Failure))?;
            let written = call.arguments.iter().rev();
            let written = written.take_while(|a| is_order(language, &text[(*a).clone()]));
            match failure == success.without_release() && written.count() < 2 {
                true if language != Language::C => vec![success],
                _ => vec![success, failure],
            }
        }
        false => vec![wanted(first.what)?],
    };
    Some(with_arguments(text, &call, language, &orders, base, span)).filter(|e| !e.is_empty())
}

fn is_call_of(text: &str, call: &Option<Call>, name: &str) -> bool {
    let is_it = |call: &Call| {
        &text[call.name.clone()] == name && text[..call.name.start].trim_end().ends_with('.')
    };
    call.as_ref().is_some_and(is_it)
}

/// Writes orders as the last arguments of a call. Nothing where that has no meaning.
fn with_arguments(
    text: &str,
    call: &Call,
    language: Language,
    orders: &[Order],
    base: usize,
    span: Span,
) -> Vec<Edit> {
    let written: Vec<&Range<usize>> = {
        let last = call.arguments.iter().rev();
        let mut written: Vec<_> = last
            .take_while(|a| is_order(language, &text[(*a).clone()]))
            .collect();
        written.reverse();
        written
    };
    let mut edits = Vec::new();
    let mut replace = |range: Range<usize>, text: String| {
        edits.push(Edit {
            at: base + range.start,
            removed: range.len(),
            text,
            order: (3, 0),
        });
    };
    if written.len() == orders.len() {
        for (range, order) in written.iter().zip(orders) {
            let old = &text[(*range).clone()];
            let new = in_words_of(language, old, *order);
            if new != old {
                replace((*range).clone(), new);
            }
        }
        return edits;
    }
    let names: Vec<&str> = orders.iter().map(|o| name(language, *o)).collect();
    let joined = names.join(", ");
    match (language, written.first(), written.last()) {
        (Language::Rust, ..) => return Vec::new(),
        (Language::C, None, _) => {
            let called = &text[call.name.clone()];
            if !called.starts_with("atomic_") || called.ends_with("_explicit") {
                return Vec::new();
            }
            replace(call.name.end..call.name.end, "_explicit".to_owned());
        }
        (Language::C, ..) => return Vec::new(),
        (_, Some(first), Some(last)) => {
            replace(first.start..last.end, joined);
            return edits;
        }
        _ => {}
    }
    let joined = match call.arguments.is_empty() {
        true => joined,
        false => format!(", {joined}"),
    };
    edits.push(Edit {
        at: base + call.close,
        removed: 0,
        text: joined,
        order: (0, -i64::from(span.start)),
    });
    edits
}

/// A store as an exchange.
fn exchange(program: &Program, span: Span, to: Order) -> Option<Vec<Edit>> {
    let language = program.language;
    let text = program.source.slice(span);
    let base = span.start as usize;
    let call = last_call(text);
    let edit = |range: Range<usize>, text: String, order: (u8, i64)| Edit {
        at: base + range.start,
        removed: range.len(),
        text,
        order,
    };
    let order = name(language, to);
    let opening = match language {
        Language::Pal => "xchg(",
        Language::Tpl => "exchange(",
        Language::Rust => {
            let call = call.filter(|call| &text[call.name.clone()] == "store")?;
            let written = call.arguments.last()?.clone();
            let new = in_words_of(language, &text[written.clone()], to);
            return Some(vec![
                edit(call.name, "swap".to_owned(), (3, 0)),
                edit(written, new, (3, 0)),
            ]);
        }
        Language::C => {
            let call = call?;
            let called = &text[call.name.clone()];
            let new = match called {
                "atomic_store" | "atomic_store_explicit" => "atomic_exchange_explicit",
                _ => return None,
            };
            let mut edits = vec![edit(call.name.clone(), new.to_owned(), (3, 0))];
            match call.arguments.get(2) {
                Some(written) => edits.push(edit(written.clone(), order.to_owned(), (3, 0))),
                None => edits.push(edit(
                    call.close..call.close,
                    format!(", {order}"),
                    (0, -i64::from(span.start)),
                )),
            }
            return Some(edits);
        }
        _ => return None,
    };
    let closing_order = (0, -i64::from(span.start));
    let opening_edit = edit(0..0, opening.to_owned(), (2, -i64::from(span.end)));
    if is_call_of(text, &call, "store") {
        let call = call?;
        let dot = text[..call.name.start].trim_end().len() - 1;
        let mut edits = vec![
            opening_edit,
            edit(dot..call.open + 1, ", ".to_owned(), (3, 0)),
        ];
        match call.arguments.get(1) {
            Some(written) => edits.push(edit(written.clone(), order.to_owned(), (3, 0))),
            None => edits.push(edit(
                call.close..call.close,
                format!(", {order}"),
                closing_order,
            )),
        }
        return Some(edits);
    }
    let assign = top_level(text, "=")?;
    let end = text.trim_end().trim_end_matches(';').trim_end().len();
    let value = skip_blanks(text, assign + 1);
    let place = text[..assign].trim_end().len();
    Some(vec![
        opening_edit,
        edit(place..value, ", ".to_owned(), (3, 0)),
        edit(end..end, format!(", {order})"), closing_order),
    ])
}

/// What a change does, for people: what it is, the order before and the order after; `none` stands for no fence.
pub fn in_words(change: &OrderChange) -> (&'static str, &'static str, String) {
    let what = |site: &OrderSite| match site.what {
        Ordered::Load => "load",
        Ordered::Store => "store",
        Ordered::Rmw | Ordered::Failure => "rmw",
        Ordered::Fence => "fence",
    };
    match change {
        OrderChange::Order(site, to) => (what(site), site.order.name(), to.name().to_owned()),
        OrderChange::Exchange(site, to) => (
            what(site),
            site.order.name(),
            format!("exchange {}", to.name()),
        ),
        OrderChange::NoFence(site) => (what(site), site.order.name(), "none".to_owned()),
        OrderChange::Fence(_, to) => ("fence", "none", to.name().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;

    fn program(name: &str, text: &str) -> Program {
        match parse(&Source::new(name, text), &ParseOptions::default()) {
            Ok(parsed) => parsed.program,
            Err(errors) => panic!("{errors:?}\n{text}"),
        }
    }

    /// The text with every access and fence of this kind at another order.
    fn with(name: &str, text: &str, what: Ordered, to: Order) -> String {
        let program = program(name, text);
        let sites = program.order_sites().into_iter();
        let changes: Vec<OrderChange> = sites
            .filter(|site| site.what == what && site.order != to)
            .map(|site| OrderChange::Order(site, to))
            .collect();
        let written = reordered_text(&program, &changes).unwrap();
        let again = self::program(name, &written);
        same_program(&program.with_orders(&changes), &again).unwrap();
        written
    }

    fn body(text: &str, what: Ordered, to: Order) -> String {
        let whole = |body: &str| format!("shared x, y, a[2];\nthread t {{\n  {body}\n}}\n");
        let written = with("a.pal", &whole(text), what, to);
        let end = written.len() - "\n}\n".len();
        written[whole("").len() - "\n}\n".len()..end].to_owned()
    }

    #[test]
    fn loads() {
        let relaxed = |text: &str| body(text, Ordered::Load, Order::Relaxed);
        assert_eq!(relaxed("let r = x;"), "let r = x.load(relaxed);");
        assert_eq!(relaxed("let r = x.load();"), "let r = x.load(relaxed);");
        assert_eq!(
            relaxed("let r = x.load(seqcst) + y; // sum"),
            "let r = x.load(relaxed) + y.load(relaxed); // sum"
        );
        assert_eq!(
            relaxed("let r = a[x];"),
            "let r = a[x.load(relaxed)].load(relaxed);"
        );
        assert_eq!(relaxed("wait(x == 1);"), "wait(x == 1, relaxed);");
        assert_eq!(relaxed("wait(x == 1, acquire);"), "wait(x == 1, relaxed);");
    }

    #[test]
    fn stores_and_exchanges() {
        let relaxed = |text: &str| body(text, Ordered::Store, Order::Relaxed);
        assert_eq!(relaxed("x = 1;"), "x.store(1, relaxed);");
        assert_eq!(relaxed("a[1] = x + 1;"), "a[1].store(x + 1, relaxed);");
        assert_eq!(relaxed("x.store(1, seqcst);"), "x.store(1, relaxed);");
        assert_eq!(relaxed("x.store(1);"), "x.store(1, relaxed);");
        for (before, after) in [
            ("x = 1;", "xchg(x, 1, acqrel);"),
            ("x.store(1, seqcst);", "xchg(x, 1, acqrel);"),
            ("a[0].store(y);", "xchg(a[0], y, acqrel);"),
        ] {
            let program = program(
                "a.pal",
                &format!("shared x, y, a[2];\nthread t {{ {before} }}\n"),
            );
            let sites = program.order_sites();
            let store = sites.iter().find(|s| s.what == Ordered::Store).unwrap();
            let change = OrderChange::Exchange(*store, Order::AcqRel);
            assert!(program.order_can_be_written(&change), "{before}");
            let written = reordered_text(&program, &[change]).unwrap();
            assert!(written.contains(after), "{written}");
        }
    }

    #[test]
    fn read_modify_writes_and_fences() {
        let to = |text: &str, order| body(text, Ordered::Rmw, order);
        assert_eq!(
            to("let r = fadd(x, 1);", Order::Relaxed),
            "let r = fadd(x, 1, relaxed);"
        );
        assert_eq!(
            to("let r = x.fetch_add(1, seqcst);", Order::Acquire),
            "let r = x.fetch_add(1, acquire);"
        );
        // The order of the failure stays what it is.
        assert_eq!(
            to("let r = cas(x, 0, 1);", Order::Relaxed),
            "let r = cas(x, 0, 1, relaxed, acquire);"
        );
        assert_eq!(
            to("let r = cas(x, 0, 1, seqcst, relaxed);", Order::Release),
            "let r = cas(x, 0, 1, release, relaxed);"
        );
        assert_eq!(
            body("let r = cas(x, 0, 1);", Ordered::Failure, Order::Relaxed),
            "let r = cas(x, 0, 1, acqrel, relaxed);"
        );
        let fence = |text: &str, order| body(text, Ordered::Fence, order);
        assert_eq!(fence("fence;", Order::Release), "fence(release);");
        assert_eq!(fence("fence(acquire);", Order::SeqCst), "fence;");
    }

    #[test]
    fn the_toy_language() {
        let text = "max_value 2;\nglobal x;\nfn t {\n  local r;\n  r = x.load(acq);\n  x.store(1, rel);\n  r = CAS(x, 0, 1, acq, rel);\n  fence(seq_cst);\n}\n";
        let relaxed = with("a.tpl", text, Ordered::Load, Order::Relaxed);
        assert!(relaxed.contains("r = x.load(rlx);"), "{relaxed}");
        let relaxed = with("a.tpl", text, Ordered::Store, Order::Relaxed);
        assert!(relaxed.contains("x.store(1, rlx);"), "{relaxed}");
        let acquire = with("a.tpl", text, Ordered::Rmw, Order::Acquire);
        assert!(acquire.contains("CAS(x, 0, 1, acq"), "{acquire}");
        let acquire = with("a.tpl", text, Ordered::Fence, Order::Acquire);
        assert!(acquire.contains("fence(acq);"), "{acquire}");
    }

    /// The first order that is written makes accesses without one relaxed: all others are written with it.
    #[test]
    fn the_toy_language_without_orders() {
        let text = "max_value 2;\nglobal x;\nfn t {\n  local r;\n  r = x.load();\n  x.store(1);\n  r = FADD(x, 1);\n  wait(x, 1);\n  fence;\n}\n";
        let relaxed = with("a.tpl", text, Ordered::Store, Order::Relaxed);
        for line in [
            "r = x.load(acq);",
            "x.store(1, rlx);",
            "r = FADD(x, 1, acq_rel);",
            "wait(x, 1, acq);",
            "fence;",
        ] {
            assert!(relaxed.contains(line), "{relaxed}");
        }
        let program = program("a.tpl", text);
        for site in program.order_sites() {
            let change = OrderChange::Order(site, Order::SeqCst);
            assert!(program.order_can_be_written(&change), "{site:?}");
        }
        // A fence is no access: it says nothing about the others.
        let acquire = with("a.tpl", text, Ordered::Fence, Order::Acquire);
        assert!(acquire.contains("x.store(1);"), "{acquire}");
    }

    #[test]
    fn what_cannot_be_written_is_known() {
        let program = program("a.pal", "shared x;\nthread t { x += 1; }\n");
        for site in program.order_sites() {
            let change = OrderChange::Order(site, Order::Relaxed);
            assert!(!program.order_can_be_written(&change), "{site:?}");
        }
    }
}
