//! A run as people read runs: one column per thread, time downwards, the user's statements and what they read and wrote.

use crate::look::{Look, Tone, cut, harmless, pad, width, wrap};
use crate::words;
use palisade_lang::{Language, LineColumn, PlaceKind, Program, Span};
use palisade_memory::{Event, EventKind, EventRef, PatternKind, Witness};
use std::collections::BTreeSet;

/// Longer runs are shown with the middle left out.
const LONGEST_RUN: usize = 120;
/// How much of the beginning and the end of a longer run is shown.
const KEPT_AT_ENDS: usize = 40;
/// A column narrower than this says too little: then the run becomes a list.
const NARROWEST_COLUMN: usize = 22;
/// Between columns.
const GAP: usize = 3;

/// The run of a witness. Steps are counted from 1; those that the cycle or pattern speaks of are marked.
pub(crate) fn render(witness: &Witness, program: &Program, look: Look) -> String {
    let run = Run::new(witness, program);
    let mut out = String::new();
    match run.layout(look.width) {
        Layout::Columns { widths, stacked } => run.columns(&widths, stacked, look, &mut out),
        Layout::List => run.list(look, &mut out),
    }
    out
}

/// The threads that do something, in the program's order.
pub(crate) fn threads<'a>(witness: &'a Witness, program: &Program) -> Vec<&'a str> {
    let instances = match witness.copies {
        Some(copies) => program.with_copies(copies).instances(),
        None => program.instances(),
    };
    let busy: BTreeSet<&str> = witness.events.iter().map(|e| e.thread.as_str()).collect();
    let rank = |name: &str| {
        let known = instances.iter().position(|i| i.name == name);
        (known.unwrap_or(usize::MAX), name.to_owned())
    };
    let mut threads: Vec<&str> = busy.into_iter().collect();
    threads.sort_by_cached_key(|name| rank(name));
    threads
}

/// What an event does to memory, in words.
pub(crate) fn effect(event: &Event) -> String {
    let location = location(event);
    let value = event.value.map_or("?".to_owned(), |v| event.shown(v));
    match event.kind {
        EventKind::Load => format!("reads {location} = {value}"),
        EventKind::Store => format!("writes {location} = {value}"),
        EventKind::Issue => format!("buffers {location} = {value}"),
        EventKind::Flush => format!("{location} = {value} reaches memory"),
        EventKind::Rmw => match event.read {
            Some(read) => format!("swaps {location}: {} to {value}", event.shown(read)),
            None => format!("swaps {location} to {value}"),
        },
        EventKind::Fence => match event.order {
            Some(order) => format!("fence({})", order.name()),
            None => "fence".to_owned(),
        },
        EventKind::Local => String::new(),
    }
}

/// The location of an event; an address that has no name is put into brackets, so that it is not taken for a value.
pub(crate) fn location(event: &Event) -> String {
    match event.location.as_deref() {
        None => "?".to_owned(),
        Some(name) if name.parse::<i64>().is_ok() => format!("[{name}]"),
        Some(name) => harmless(name),
    }
}

/// The line of an event, with the name of its file where that is not the program's own.
pub(crate) fn line_of(event: &Event) -> String {
    match &event.file {
        None => event.line.to_string(),
        Some(file) => {
            let name = file.rsplit('/').next().unwrap_or(file);
            format!("{}:{}", harmless(name), event.line)
        }
    }
}

/// The user's statement at an event, on one line.
pub(crate) fn statement(event: &Event, program: &Program) -> String {
    let source = &program.source;
    let at = LineColumn {
        line: event.line,
        column: event.column,
    };
    let offset = source.offset(event.file.as_deref(), at);
    let line = source.line_text_at(offset);
    // A statement of several lines is shown by the one that the number speaks of.
    let begins_here = |span: &Span| {
        !source
            .slice(Span {
                end: offset,
                ..*span
            })
            .contains('\n')
    };
    let found = smallest_around(program, offset).filter(begins_here);
    let text = found.map(|span| source.slice(span));
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or(line);
    one_line(text, program.language)
}

/// The first line of a statement, without what only takes room: comments, and in automata tabs and the word that begins every line.
pub(crate) fn one_line(text: &str, language: Language) -> String {
    let line = text.lines().next().unwrap_or("");
    let comment = match language {
        Language::Trencher => "#",
        Language::Pal | Language::Tpl | Language::Litmus | Language::C | Language::Rust => "//",
    };
    let line = harmless(line.split(comment).next().unwrap_or("").trim());
    if language == Language::Trencher {
        let words: Vec<&str> = line.split_whitespace().collect();
        let words = words.strip_prefix(&["transition"]).unwrap_or(&words);
        return words.join(" ");
    }
    line
}

/// The statement around an offset: in languages with nested statements the smallest one, in automata the transition.
fn smallest_around(program: &Program, offset: u32) -> Option<Span> {
    let smallest = |spans: &mut dyn Iterator<Item = Span>| {
        spans
            .filter(|span| span.start <= offset && offset < span.end)
            .min_by_key(|span| span.end - span.start)
    };
    let statements = program.places.iter();
    let statements = statements.filter(|place| place.kind == PlaceKind::BeforeStatement);
    let transitions = program.threads.iter().flat_map(|t| &t.transitions);
    smallest(&mut statements.map(|place| place.span))
        .or_else(|| smallest(&mut transitions.map(|transition| transition.span)))
}

/// Everything that is shown of a run.
struct Run<'a> {
    witness: &'a Witness,
    /// The threads that do something, in the program's order.
    threads: Vec<&'a str>,
    rows: Vec<Row>,
    /// Whether stores wait in buffers, so that the delay is drawn.
    buffered: bool,
}

/// A line of the table.
enum Row {
    Step {
        index: usize,
        thread: usize,
        statement: String,
        effect: String,
        marked: bool,
        /// For each thread, how its buffer looks at this step.
        lanes: Vec<char>,
    },
    /// So many steps are left out.
    Gap(usize),
    /// What follows is repeated for ever.
    Cycle,
}

enum Layout {
    Columns { widths: Vec<usize>, stacked: bool },
    List,
}

impl<'a> Run<'a> {
    fn new(witness: &'a Witness, program: &Program) -> Self {
        let threads = threads(witness, program);
        let marked = marked(witness);
        let shown = shown(witness.events.len(), &marked);
        let mut rows = Vec::new();
        let mut pending = vec![0usize; threads.len()];
        let mut left_out = 0;
        for (index, event) in witness.events.iter().enumerate() {
            let thread = threads
                .iter()
                .position(|name| *name == event.thread)
                .unwrap_or(0);
            let lanes = lanes(&mut pending, thread, event.kind);
            let begins_cycle = witness.loop_start == Some(index);
            if left_out > 0 && (begins_cycle || shown.contains(&index)) {
                rows.push(Row::Gap(std::mem::take(&mut left_out)));
            }
            if begins_cycle {
                rows.push(Row::Cycle);
            }
            if !shown.contains(&index) {
                left_out += 1;
                continue;
            }
            rows.push(Row::Step {
                index,
                thread,
                statement: match event.kind {
                    // Its statement was shown where it was issued.
                    EventKind::Flush => String::new(),
                    _ => format!("{}: {}", line_of(event), statement(event, program)),
                },
                effect: effect_here(witness, index),
                marked: marked.contains(&index),
                lanes,
            });
        }
        if left_out > 0 {
            rows.push(Row::Gap(left_out));
        }
        Run {
            witness,
            threads,
            rows,
            buffered: witness.events.iter().any(|e| e.kind == EventKind::Issue),
        }
    }

    /// How wide the numbers of the steps are, with the mark.
    fn gutter(&self) -> usize {
        self.witness.events.len().to_string().len().max(3) + 3
    }

    fn lane_width(&self) -> usize {
        if self.buffered { 2 } else { 0 }
    }

    fn layout(&self, columns: usize) -> Layout {
        let count = self.threads.len();
        let available = columns.saturating_sub(self.gutter() + GAP * count.saturating_sub(1));
        let natural = |side_by_side: bool| -> Vec<usize> {
            let mut widths: Vec<usize> = self.threads.iter().map(|name| width(name)).collect();
            for row in &self.rows {
                if let Row::Step {
                    thread,
                    statement,
                    effect,
                    ..
                } = row
                {
                    let wanted = if side_by_side && !effect.is_empty() {
                        self.statement_width(*thread) + 2 + width(effect)
                    } else if side_by_side {
                        width(statement)
                    } else {
                        width(statement).max(3 + width(effect))
                    };
                    widths[*thread] = widths[*thread].max(self.lane_width() + wanted);
                }
            }
            widths
        };
        let side_by_side = natural(true);
        if side_by_side.iter().sum::<usize>() <= available {
            return Layout::Columns {
                widths: side_by_side,
                stacked: false,
            };
        }
        let stacked = natural(false);
        match shared_out(&stacked, available) {
            Some(widths) => Layout::Columns {
                widths,
                stacked: true,
            },
            None => Layout::List,
        }
    }

    /// The widest statement of a thread, if that is not absurd.
    fn statement_width(&self, of: usize) -> usize {
        self.rows
            .iter()
            .map(|row| match row {
                Row::Step {
                    thread, statement, ..
                } if *thread == of => width(statement),
                _ => 0,
            })
            .max()
            .unwrap_or(0)
    }

    fn columns(&self, widths: &[usize], stacked: bool, look: Look, out: &mut String) {
        let gutter = self.gutter();
        let between = " ".repeat(GAP);
        let mut head: Vec<String> = Vec::new();
        for (name, &columns) in self.threads.iter().zip(widths) {
            let name = format!("{}{name}", " ".repeat(self.lane_width()));
            let name = cut(&name, columns);
            head.push(look.paint(Tone::Strong, &pad(&name, columns)));
        }
        push_line(out, &pad("step", gutter), &head.join(&between));
        for row in &self.rows {
            let Row::Step {
                index,
                thread,
                statement,
                effect,
                marked,
                lanes,
            } = row
            else {
                self.gap_row(row, look, out);
                continue;
            };
            let step = self.step_number(*index, *marked, look);
            let cells = |text: &str, tone: Tone, first: bool| -> String {
                let mut line = Vec::new();
                for (at, &columns) in widths.iter().enumerate() {
                    let lane = match (self.buffered, first) {
                        (false, _) => String::new(),
                        (true, true) => format!("{} ", lanes[at]),
                        (true, false) => format!("{} ", below(lanes[at])),
                    };
                    let room = columns - width(&lane).min(columns);
                    let text = if at == *thread {
                        cut(text, room)
                    } else {
                        String::new()
                    };
                    let blanks = " ".repeat(room - width(&text));
                    line.push(format!(
                        "{}{}{blanks}",
                        look.paint(Tone::Doubt, &lane),
                        look.paint(tone, &text)
                    ));
                }
                line.join(&between)
            };
            if stacked {
                if statement.is_empty() {
                    let effect = format!("   {effect}");
                    push_line(out, &step, &cells(&effect, Tone::Access, true));
                    continue;
                }
                push_line(out, &step, &cells(statement, Tone::Plain, true));
                if !effect.is_empty() {
                    let effect = format!("   {effect}");
                    push_line(
                        out,
                        &" ".repeat(gutter),
                        &cells(&effect, Tone::Access, false),
                    );
                }
            } else {
                let columns = self.statement_width(*thread) + 2;
                let text = format!("{}{effect}", pad(statement, columns));
                push_line(out, &step, &cells(text.trim_end(), Tone::Plain, true));
            }
        }
    }

    /// For many threads, or long statements: one line per step, with the thread's name.
    fn list(&self, look: Look, out: &mut String) {
        let names = self
            .threads
            .iter()
            .map(|name| width(name))
            .max()
            .unwrap_or(0);
        let names = names.min(look.width / 4);
        let effects = self
            .rows
            .iter()
            .map(|row| match row {
                Row::Step { effect, .. } => width(effect),
                Row::Gap(_) | Row::Cycle => 0,
            })
            .max()
            .unwrap_or(0);
        if effects > look.width / 3 {
            return self.narrow_list(names, look, out);
        }
        let room = look
            .width
            .saturating_sub(self.gutter() + names + effects + 2 * GAP)
            .max(10);
        let head = format!(
            "{}   {}   statement",
            pad("thread", names.max(6)),
            pad("effect", effects.max(6))
        );
        push_line(out, &pad("step", self.gutter()), &head);
        for row in &self.rows {
            let Row::Step {
                index,
                thread,
                statement,
                effect,
                marked,
                ..
            } = row
            else {
                self.gap_row(row, look, out);
                continue;
            };
            let name = cut(self.threads[*thread], names.max(6));
            let effect = pad(&cut(effect, effects.max(6)), effects.max(6));
            let line = format!(
                "{}   {}   {}",
                look.paint(Tone::Strong, &pad(&name, names.max(6))),
                look.paint(Tone::Access, &effect),
                cut(statement, room)
            );
            push_line(out, &self.step_number(*index, *marked, look), &line);
        }
    }

    /// Where there is no room for what a step does beside its statement: below it.
    fn narrow_list(&self, names: usize, look: Look, out: &mut String) {
        let names = names.max(6);
        let room = look
            .width
            .saturating_sub(self.gutter() + names + GAP)
            .max(10);
        let head = format!("{}{}statement", pad("thread", names), " ".repeat(GAP));
        push_line(out, &pad("step", self.gutter()), &head);
        let indent = " ".repeat(self.gutter() + names + GAP);
        for row in &self.rows {
            let Row::Step {
                index,
                thread,
                statement,
                effect,
                marked,
                ..
            } = row
            else {
                self.gap_row(row, look, out);
                continue;
            };
            let name = pad(&cut(self.threads[*thread], names), names);
            let mut begin = format!(
                "{}{}{}",
                self.step_number(*index, *marked, look),
                look.paint(Tone::Strong, &name),
                " ".repeat(GAP)
            );
            let statements = wrap(statement, room)
                .into_iter()
                .map(|line| (Tone::Plain, line));
            let effects = wrap(effect, room.saturating_sub(3));
            let effects = effects
                .iter()
                .map(|line| (Tone::Access, format!("   {line}")));
            for (tone, line) in statements.chain(effects) {
                push_line(out, &begin, &look.paint(tone, &line));
                begin.clone_from(&indent);
            }
        }
    }

    fn step_number(&self, index: usize, marked: bool, look: Look) -> String {
        let digits = self.gutter() - 3;
        let mark = if marked { "*" } else { " " };
        let tone = if marked { Tone::Bad } else { Tone::Faint };
        format!(
            "{}  ",
            look.paint(tone, &format!("{:>digits$}{mark}", index + 1))
        )
    }

    fn gap_row(&self, row: &Row, look: Look, out: &mut String) {
        let text = match row {
            Row::Step { .. } => return,
            Row::Gap(count) => format!("… {} …", words::counted(*count as u64, "step", "steps")),
            Row::Cycle => words::FOR_EVER.to_owned(),
        };
        let indent = " ".repeat(self.gutter());
        push_line(out, &indent, &look.paint(Tone::Faint, &text));
    }
}

/// Whether an event reads a value although a newer one is there already: in the run, an earlier event wrote one that comes later in
/// modification order. Only models with messages have such loads.
pub(crate) fn is_stale(witness: &Witness, index: usize) -> bool {
    let Some(event) = witness.events.get(index) else {
        return false;
    };
    let Some(read_from) = event.rf else {
        return false;
    };
    (0..index).any(|write| {
        witness.events[write].location == event.location && comes_after(witness, write, read_from)
    })
}

/// For a write that takes its place in modification order before one that was there already: that one.
fn slipped_before(witness: &Witness, index: usize) -> Option<usize> {
    let event = &witness.events[index];
    let predecessor = event.after?;
    (0..index).find(|&write| {
        let other = &witness.events[write];
        other.location == event.location && other.after == Some(predecessor)
    })
}

/// Whether a write comes after another in modification order. Each write names a predecessor that is older than itself in the run.
fn comes_after(witness: &Witness, write: usize, other: EventRef) -> bool {
    let mut at = write;
    while let Some(before) = witness.events[at].after {
        if before == other {
            return true;
        }
        match before {
            EventRef::Event(before) if before < at => at = before,
            _ => return false,
        }
    }
    false
}

/// The effect of an event; what goes wrong at the last one is said there.
pub(crate) fn effect_here(witness: &Witness, index: usize) -> String {
    let event = &witness.events[index];
    let mut text = effect(event);
    if let Some(order) = event.order.filter(|_| event.kind != EventKind::Fence) {
        text.push_str(&format!(", {}", order.name()));
    }
    if is_stale(witness, index) {
        text.push_str(" (stale)");
    }
    if let Some(newer) = slipped_before(witness, index) {
        text.push_str(&format!(" (before step {})", newer + 1));
    }
    let fails = witness
        .pattern
        .as_ref()
        .is_some_and(|p| p.kind == PatternKind::Error && p.events.last() == Some(&index));
    match (text.is_empty(), fails) {
        (true, true) => "goes wrong".to_owned(),
        _ => text,
    }
}

/// The steps that the cycle or the pattern speaks of; a flush together with its issue.
pub(crate) fn marked(witness: &Witness) -> BTreeSet<usize> {
    let pattern = witness.pattern.iter().flat_map(|p| p.events.iter());
    let mut marked: BTreeSet<usize> = witness.cycle.iter().chain(pattern).copied().collect();
    for (index, event) in witness.events.iter().enumerate() {
        if let Some(issue) = event.issue
            && (marked.contains(&issue) || marked.contains(&index))
        {
            marked.insert(issue);
            marked.insert(index);
        }
    }
    marked
}

/// Which steps of a long run are shown: its ends, and what matters.
pub(crate) fn shown(length: usize, marked: &BTreeSet<usize>) -> BTreeSet<usize> {
    if length <= LONGEST_RUN {
        return (0..length).collect();
    }
    let mut shown: BTreeSet<usize> = (0..KEPT_AT_ENDS).collect();
    shown.extend(length - KEPT_AT_ENDS..length);
    for &index in marked {
        shown.extend(index.saturating_sub(1)..(index + 2).min(length));
    }
    shown
}

/// How the buffers look at a step: `┌` where one gets its first store, `└` where the last one leaves, `│` where something waits.
fn lanes(pending: &mut [usize], thread: usize, kind: EventKind) -> Vec<char> {
    let before = pending[thread];
    match kind {
        EventKind::Issue => pending[thread] += 1,
        EventKind::Flush => pending[thread] = before.saturating_sub(1),
        _ => {}
    }
    let after = pending[thread];
    pending
        .iter()
        .enumerate()
        .map(|(at, &waiting)| match (before, after) {
            (0, 1..) if at == thread => '┌',
            (1.., 0) if at == thread => '└',
            _ if at == thread && before != after => '├',
            _ if waiting > 0 => '│',
            _ => ' ',
        })
        .collect()
}

/// What stands below a lane's sign, in the second line of a step.
fn below(lane: char) -> char {
    match lane {
        '┌' | '├' | '│' => '│',
        _ => ' ',
    }
}

/// Takes columns that are too wide down to a fair share. `None` where not even that fits.
fn shared_out(natural: &[usize], available: usize) -> Option<Vec<usize>> {
    let mut widths = natural.to_vec();
    let total = |widths: &[usize]| widths.iter().sum::<usize>();
    if total(&widths) <= available {
        return Some(widths);
    }
    let mut left = available;
    let mut order: Vec<usize> = (0..widths.len()).collect();
    order.sort_by_key(|&at| widths[at]);
    for (done, &at) in order.iter().enumerate() {
        let share = left / (order.len() - done);
        if widths[at] > share {
            if share < NARROWEST_COLUMN {
                return None;
            }
            widths[at] = share;
        }
        left -= widths[at];
    }
    Some(widths)
}

fn push_line(out: &mut String, gutter: &str, text: &str) {
    let line = format!("{gutter}{text}");
    out.push_str(line.trim_end());
    out.push('\n');
}
