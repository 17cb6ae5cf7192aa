//! What is wrong with a run, told edge by edge and in one sentence that needs no theory.

use crate::columns::{effect, is_stale, line_of, location};
use crate::look::{Look, Tone, wrap};
use crate::{published, shape};
use palisade_memory::{Edge, Event, EventKind, Model, Pattern, PatternKind, RelationName, Witness};

/// The cycle or the pattern of a witness.
pub(crate) fn render(witness: &Witness, look: Look) -> String {
    let mut out = String::new();
    if let Some(pattern) = &witness.pattern {
        paragraph(
            &mut out,
            &sentence(&pattern.message, witness),
            Tone::Strong,
            look,
        );
        for text in told(witness) {
            paragraph(&mut out, &text, Tone::Plain, look);
        }
    }
    if !witness.edges.is_empty() {
        let title = match shape::name(witness) {
            Some(shape) => format!("The cycle, known as {} ({}):", shape.name, shape.meaning),
            None => "The cycle:".to_owned(),
        };
        out.push_str(&look.paint(Tone::Strong, &title));
        out.push('\n');
        let digits = witness.events.len().to_string().len();
        for edge in &witness.edges {
            edge_line(&mut out, witness, edge, digits, look);
        }
        for text in explained(witness) {
            out.push('\n');
            paragraph(&mut out, &text, Tone::Plain, look);
        }
    }
    out
}

/// What a newcomer should know about the run, a paragraph each.
pub(crate) fn told(witness: &Witness) -> Vec<String> {
    match &witness.pattern {
        Some(pattern) => {
            let mut told: Vec<String> = pattern_explained(pattern).into_iter().collect();
            if let (PatternKind::Race, &[a, b]) = (pattern.kind, &pattern.events[..])
                && matches!(witness.model, Model::C20 | Model::Rc11)
            {
                told.extend(published::race(witness, a, b));
            }
            told
        }
        None => explained(witness),
    }
}

/// Why a run should not be, in one sentence or two.
pub(crate) fn reason(witness: &Witness) -> String {
    let overtaken = witness.edges.iter().find_map(|edge| {
        let store = witness.events.get(edge.from)?;
        let load = witness.events.get(edge.to)?;
        overtaken(witness, edge)?;
        Some(format!(
            "{}'s store {} can still wait in its buffer when {} loads {}.",
            store.thread,
            location_value(store, store.value),
            load.thread,
            location(load)
        ))
    });
    let summary = summary(witness);
    match overtaken {
        Some(overtaken) => format!("{overtaken} This makes {summary}."),
        None => sentence(&summary, witness),
    }
}

/// The whole story in one line, for tables.
pub(crate) fn summary(witness: &Witness) -> String {
    if let Some(pattern) = &witness.pattern {
        return pattern.message.clone();
    }
    let named = shape::name(witness).map(|shape| format!("a cycle of the shape {}", shape.name));
    let what = named.unwrap_or_else(|| format!("a cycle of {} steps", witness.cycle.len()));
    let mut places: Vec<String> = Vec::new();
    for &index in &witness.cycle {
        if let Some(event) = witness.events.get(index) {
            let place = format!("{}:{}", event.thread, line_of(event));
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    format!("{what} through {}", places.join(", "))
}

fn edge_line(out: &mut String, witness: &Witness, edge: &Edge, digits: usize, look: Look) {
    let (Some(from), Some(to)) = (witness.events.get(edge.from), witness.events.get(edge.to))
    else {
        return;
    };
    let head = format!(
        "  {:>digits$} → {:>digits$}  {}  ",
        edge.from + 1,
        edge.to + 1,
        shape::relation(edge.relation)
    );
    let indent = head.chars().count();
    let text = edge_in_words(witness.model, edge.relation, from, to);
    for (at, line) in wrap(&text, look.width.saturating_sub(indent))
        .iter()
        .enumerate()
    {
        if at == 0 {
            out.push_str(&look.paint(Tone::Bad, &head));
        } else {
            out.push_str(&" ".repeat(indent));
        }
        out.push_str(line);
        out.push('\n');
    }
}

pub(crate) fn edge_in_words(
    model: Model,
    relation: RelationName,
    from: &Event,
    to: &Event,
) -> String {
    let (first, second) = (&from.thread, &to.thread);
    match relation {
        RelationName::Po => format!(
            "program order: in {first}, {} comes before {}",
            access(from),
            access(to)
        ),
        RelationName::Rf => format!(
            "reads-from: {second} reads {} as {first} wrote it",
            location_value(to, to.read.or(to.value))
        ),
        RelationName::Co if model.has_messages() => format!(
            "modification order: {first}'s {} stands before {second}'s {}",
            location_value(from, from.value),
            location_value(to, to.value)
        ),
        RelationName::Co => format!(
            "store order: {first}'s {} reaches memory before {second}'s {}",
            location_value(from, from.value),
            location_value(to, to.value)
        ),
        RelationName::Fr => format!(
            "from-read: {first} reads {}, the value from before {second}'s {}",
            location_value(from, from.read.or(from.value)),
            location_value(to, to.value)
        ),
    }
}

fn location_value(event: &Event, value: Option<i64>) -> String {
    let location = location(event);
    match value {
        Some(value) => format!("{location} = {}", event.shown(value)),
        None => location,
    }
}

/// An access as a noun.
fn access(event: &Event) -> String {
    match event.kind {
        EventKind::Load => format!("the load {}", location_value(event, event.value)),
        EventKind::Store | EventKind::Issue | EventKind::Flush => {
            format!("the store {}", location_value(event, event.value))
        }
        EventKind::Rmw => format!("the read-modify-write of {}", location(event)),
        EventKind::Fence => "the fence".to_owned(),
        EventKind::Local => {
            let text = effect(event);
            if text.is_empty() {
                "a step".to_owned()
            } else {
                text
            }
        }
    }
}

/// What a newcomer should know about the cycle.
fn explained(witness: &Witness) -> Vec<String> {
    let mut result = Vec::new();
    for edge in &witness.edges {
        if let Some(text) = overtaken(witness, edge) {
            result.push(text);
        }
    }
    if let Some(&stale) = witness
        .cycle
        .iter()
        .find(|&&index| is_stale(witness, index))
    {
        let load = &witness.events[stale];
        let allows = match witness.model {
            Model::C20 | Model::Rc11 => published::stale(witness, stale),
            _ => format!(
                "Release/acquire allows that as long as nothing that {} has read so far tells it of the newer one.",
                load.thread
            ),
        };
        result.push(format!(
            "In step {}, {} reads an old value of {} although a newer one has been written. {allows}",
            stale + 1,
            load.thread,
            location(load),
        ));
    }
    result.push(
        "Read each arrow as \"must come before\": the arrows go round in a circle, so no order in which \
         these accesses happen one after the other, each at once, explains this run. Sequential consistency does not have it."
            .to_owned(),
    );
    result
}

/// The sentence about a store that a later load of its thread overtook, where the edge is about one.
fn overtaken(witness: &Witness, edge: &Edge) -> Option<String> {
    if edge.relation != RelationName::Po {
        return None;
    }
    let issue = witness.events.get(edge.from)?.issue.unwrap_or(edge.from);
    let store = witness.events.get(issue)?;
    let load = witness.events.get(edge.to)?;
    if store.kind != EventKind::Issue || load.kind != EventKind::Load {
        return None;
    }
    let flush = witness.events.iter().position(|e| e.issue == Some(issue));
    let until = match flush {
        Some(flush) if flush < edge.to => return None,
        Some(flush) => format!("until step {}", flush + 1),
        None => "to the end".to_owned(),
    };
    Some(format!(
        "{}'s store {} waits in its store buffer from step {} {until}, where nobody else can see it. Meanwhile, in step {}, {} \
         already loads {} from memory: the load overtakes the store. A fence between the two would make the load wait.",
        store.thread,
        location_value(store, store.value),
        issue + 1,
        edge.to + 1,
        load.thread,
        location(load),
    ))
}

/// What a newcomer should know about the pattern.
fn pattern_explained(pattern: &Pattern) -> Option<String> {
    let steps: Vec<String> = pattern.events.iter().map(|e| (e + 1).to_string()).collect();
    let step = |at: usize| steps.get(at).cloned().unwrap_or_default();
    match pattern.kind {
        PatternKind::Race if steps.len() == 2 => Some(format!(
            "Steps {} and {} touch the same location, at least one of them writes it, and either could have come first: nothing \
             in the program puts them in order.",
            step(0),
            step(1)
        )),
        PatternKind::TriangularRace if steps.len() == 3 => Some(format!(
            "Under TSO the store of step {} may still wait in its buffer when step {} loads, and the load may then miss the store \
             of step {}.",
            step(0),
            step(1),
            step(2)
        )),
        _ => None,
    }
}

/// With a capital letter and a full stop.
pub(crate) fn sentence(text: &str, witness: &Witness) -> String {
    let mut chars = text.chars();
    let first: String = chars
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    // A name or a quotation keeps its spelling.
    let names_thread = |word: &str| witness.events.iter().any(|event| event.thread == word);
    let begins_word = (text.split(' ').next())
        .is_some_and(|word| word.chars().all(char::is_alphabetic) && !names_thread(word));
    let mut result = if begins_word && text.contains(' ') {
        format!("{first}{}", chars.as_str())
    } else {
        text.to_owned()
    };
    if !result.ends_with(['.', '!', '?']) {
        result.push('.');
    }
    result
}

fn paragraph(out: &mut String, text: &str, tone: Tone, look: Look) {
    for line in wrap(text, look.width) {
        out.push_str(&look.paint(tone, &line));
        out.push('\n');
    }
}
