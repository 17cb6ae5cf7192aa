//! From executed threads to a [`Program`], with the user's names and places.

use crate::mir::{SourceSpan, Ty, source_span};
use crate::run::arith::stored;
use crate::run::build::{Automaton, Edge, Execution, Instruction};
use crate::run::intrinsics::is_counted;
use crate::run::knowledge::{ObjectKey, Shape};
use crate::run::machine::{Machine, PANIC, is_of_library};
use crate::run::value::{Loc, Step, Val};
use crate::statements::{Placing, Statements};
use palisade_lang::{
    Address, BinaryOp, Bound, Copies, CopyNaming, CopyRef, Domain, Expr, Fault, Label, LabelId,
    LabelRef, Language, Location, LocationId, Never, Op, Order, Point, PointId, Program, Register,
    RegisterId, Source, Span, StateAtom, Thread, ThreadId, Transition, UNSET, UnaryOp,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Finds places of the compiler in the source.
pub struct Places<'a> {
    source: &'a Source,
    /// The names under which the compiler knows the files, with where they start in the source.
    files: FxHashMap<String, u32>,
    /// The assertions of the first file.
    assertions: Vec<Span>,
    /// Its macros that panic.
    panics: Vec<Span>,
}

/// Finds assertions, and macros that panic.
#[derive(Default)]
struct Assertions(Vec<Span>, Vec<Span>);

impl<'a> syn::visit::Visit<'a> for Assertions {
    fn visit_macro(&mut self, found: &'a syn::Macro) {
        let name = found.path.segments.last().map(|s| s.ident.to_string());
        let range = syn::spanned::Spanned::span(found).byte_range();
        let span = Span::new(range.start, range.end);
        match name.as_deref() {
            Some(name) if name.starts_with("assert") => self.0.push(span),
            Some("panic" | "unreachable" | "todo" | "unimplemented") => self.1.push(span),
            _ => {}
        }
    }
}

impl<'a> Places<'a> {
    /// `names`: how the compiler calls each file of the source, in order.
    pub fn new(source: &'a Source, names: &[String]) -> Self {
        let starts = source.files().map(|file| file.start);
        let files = names.iter().cloned().zip(starts).collect();
        let mut assertions = Assertions::default();
        if let Ok(file) = crate::syntax::parse_file(source.text()) {
            syn::visit::Visit::visit_file(&mut assertions, &file);
        }
        Places {
            source,
            files,
            assertions: assertions.0,
            panics: assertions.1,
        }
    }

    /// The assertion that a place is in, the macro behind it where the library's own code panics, or the place itself.
    fn assertion(&self, span: Span, in_library: bool) -> Span {
        let around = |a: &&Span| a.start <= span.start && span.end <= a.end;
        let found = match span == Span::default() {
            true => None,
            false => self.assertions.iter().find(around),
        };
        let behind = |p: &&Span| in_library && span.start <= p.start;
        let found = found.or_else(|| self.panics.iter().find(behind));
        found.copied().unwrap_or(span)
    }

    /// The place, if it is in the user's files.
    pub fn find(&self, span: &SourceSpan) -> Option<Span> {
        let start = *self.files.get(&*span.file)?;
        let file = self.source.file_at(start);
        let offset = |(line, column): (u32, u32)| -> Option<usize> {
            let mut at = 0;
            for _ in 1..line {
                at += file.text[at..].find('\n')? + 1;
            }
            let rest = &file.text[at..];
            let skip = rest.char_indices().nth(column as usize - 1);
            Some(at + skip.map_or(rest.len(), |(at, _)| at))
        };
        let from = offset(span.start)?;
        let to = offset(span.end)?;
        Some(Span::new(
            start as usize + from,
            start as usize + to.max(from),
        ))
    }

    /// The innermost place that is the user's.
    pub fn innermost(&self, spans: &[SourceSpan]) -> Span {
        spans
            .iter()
            .find_map(|span| self.find(span))
            .unwrap_or_default()
    }
}

/// The program of an execution.
pub fn program(
    execution: &Execution<'_>,
    source: &Source,
    places: &Places<'_>,
    name: &str,
) -> Program {
    let machine = &execution.machine;
    let mut plain: BTreeMap<Loc, bool> = BTreeMap::new();
    for edge in execution.automata.iter().flat_map(|a| &a.edges) {
        let (cell, order) = match &edge.instruction {
            Instruction::Load(_, cell, order) | Instruction::Store(cell, _, order) => {
                (cell, *order)
            }
            Instruction::Rmw(_, cell, _, order) | Instruction::Wait(cell, _, _, order) => {
                (cell, *order)
            }
            _ => continue,
        };
        *plain.entry(cell.clone()).or_insert(true) &= order == Order::NonAtomic;
    }
    let mut names = Names::default();
    let mut numbers = FxHashMap::default();
    let mut locations = Vec::new();
    for (cell, plain) in &plain {
        let id = LocationId(locations.len() as u32);
        numbers.insert(cell.clone(), id);
        locations.push(Location {
            name: names.of(machine, cell),
            address: i64::from(id.0) + 1,
            initial: initial(machine, cell),
            nonatomic: *plain,
            array: None,
            span: Span::default(),
        });
    }
    let mut program = Program {
        name: Some(name.to_owned()),
        source: source.clone(),
        language: Language::Rust,
        domain: Domain::FULL,
        locations,
        threads: Vec::new(),
        nevers: Vec::new(),
        places: Vec::new(),
        bounds: Vec::new(),
        faults: Vec::new(),
    };
    let mut used = FxHashSet::default();
    // Where the first thread has ended, but looks for what was not freed.
    let mut ended = Vec::new();
    let automata = with_copies(&execution.automata);
    let statements = Statements::new(source.text());
    let mut placing = Placing::new(&statements, places);
    for &(automaton, copies) in &automata {
        let id = ThreadId(program.threads.len() as u32);
        let base = thread_name(machine, automaton.thread);
        let mut name = base.clone();
        let mut number = 1;
        while !used.insert(name.clone()) {
            number += 1;
            name = format!("{base}_{number}");
        }
        let begin = closure_place(machine, automaton.thread);
        let begin = begin.and_then(|span| places.find(&span));
        let (mut thread, bounds) = thread(automaton, name, begin, &numbers, places);
        thread.copies = copies;
        if !automaton.ended.is_empty() {
            ended.push((id, LabelId(thread.labels.len() as u32)));
            thread.labels.push(Label {
                name: "ended".to_owned(),
                points: automaton.ended.iter().map(|p| PointId(*p as u32)).collect(),
                span: thread.span,
            });
        }
        placing.add(id, automaton);
        for edge in &automaton.edges {
            if let Instruction::Fail(message) = &edge.instruction
                && !is_assertion(&thread, edge, places)
            {
                program.faults.push(Fault {
                    thread: id,
                    from: PointId(edge.from as u32),
                    message: message.clone(),
                });
            }
        }
        program.threads.push(thread);
        for (message, label, span) in bounds {
            match program.bounds.iter_mut().find(|b| b.message == message) {
                Some(bound) => bound.at.push((id, label)),
                None => program.bounds.push(Bound {
                    message,
                    at: vec![(id, label)],
                    span,
                }),
            }
        }
    }
    let automata: Vec<&Automaton> = automata.iter().map(|(automaton, _)| *automaton).collect();
    program.places = placing.place(&mut program.threads, &automata);
    for thread in &mut program.threads {
        thread.sort_transitions();
    }
    program
        .nevers
        .push(deadlock(&program, execution.machine.whole, &ended));
    program
}

/// Whether an edge is a panic of one of the user's own assertions.
fn is_assertion(thread: &Thread, edge: &Edge, places: &Places<'_>) -> bool {
    let from = PointId(edge.from as u32);
    let mut here = thread.transitions.iter().filter(|t| t.from == from);
    matches!(&edge.instruction, Instruction::Fail(message) if message == PANIC)
        && here.any(|t| places.assertions.contains(&t.span))
}

/// The threads, those that do the same as one with its copies: which of them does it is no difference.
fn with_copies(automata: &[Automaton]) -> Vec<(&Automaton, Copies)> {
    let mut threads: Vec<(&Automaton, u32)> = Vec::new();
    for automaton in automata {
        let same = |(first, _): &&mut (&Automaton, u32)| {
            first.thread != 0
                && first.points == automaton.points
                && first.edges == automaton.edges
                && first.bounds == automaton.bounds
        };
        match threads.iter_mut().find(same) {
            Some((_, count)) => *count += 1,
            None => threads.push((automaton, 1)),
        }
    }
    let copies = |count| match count {
        1 => Copies::One,
        _ => Copies::Fixed(count),
    };
    threads
        .into_iter()
        .map(|(automaton, count)| (automaton, copies(count)))
        .collect()
}

/// That the program comes to an end or goes on for ever, but does not stop in between: no thread can move, and the first has not ended (with it, the
/// process ends), or, in a model of a test library, not all have. Where a limit of the translation is met, nothing is said.
fn deadlock(program: &Program, whole: bool, ended: &[(ThreadId, LabelId)]) -> Never {
    let at = |thread: u32, label| {
        let thread = ThreadId(thread);
        let at = StateAtom::At(CopyRef { thread, copy: None }, label);
        Expr::unary(UnaryOp::Not, Expr::Atom(at))
    };
    let mut condition = Expr::Atom(StateAtom::Deadlock);
    let mut and = |other| {
        let sofar = std::mem::replace(&mut condition, Expr::Const(1));
        condition = Expr::binary(BinaryOp::And, sofar, other);
    };
    if !whole {
        and(at(0, LabelRef::End));
        for (thread, label) in ended {
            and(at(thread.0, LabelRef::Label(*label)));
        }
    }
    for (thread, label) in program.bounds.iter().flat_map(|bound| &bound.at) {
        and(at(thread.0, LabelRef::Label(*label)));
    }
    Never {
        conditions: vec![condition],
        span: program.threads[0].span,
    }
}

fn initial(machine: &Machine<'_>, cell: &Loc) -> i64 {
    match machine.init.get(cell) {
        Some(Val::Int(value, _)) => stored(*value),
        Some(Val::Ptr(pointer)) => machine.know.known_code(pointer).unwrap_or(0),
        _ => UNSET,
    }
}

fn thread_name(machine: &Machine<'_>, thread: u32) -> String {
    match thread {
        0 => "main".to_owned(),
        _ => {
            let closure = machine.know.threads[thread as usize]
                .as_ref()
                .map(|key| &key.closure);
            // The user's closure is in the model's: the line where it stands says which thread it is.
            let mut name = None;
            if let Some(value) = closure {
                value.for_each(&mut |part| {
                    if let Val::Fn(path, _) = part {
                        name = name.take().or(Some(path.name().to_owned()));
                    }
                });
            }
            let line = closure_place(machine, thread).map(|span| format!("line{}", span.start.0));
            line.or(name).unwrap_or_else(|| format!("thread{thread}"))
        }
    }
}

/// Where the closure that a thread runs stands in the user's text.
fn closure_place(machine: &Machine<'_>, thread: u32) -> Option<SourceSpan> {
    let key = machine.know.threads[thread as usize].as_ref()?;
    let mut found = None;
    key.closure.for_each(&mut |part| {
        if let Val::Agg(agg) = part
            && let Ty::Closure(place, _) = &agg.ty
            && !place.starts_with("palisade_models")
        {
            // `a.rs:10:5: 10:20`, and behind `@` the function, where the place is that of several closures.
            let place = place.split('@').next().unwrap_or(place);
            found = found.take().or_else(|| source_span(place));
        }
    });
    found
}

type Met = (String, LabelId, Span);

fn thread(
    automaton: &Automaton,
    name: String,
    begin: Option<Span>,
    numbers: &FxHashMap<Loc, LocationId>,
    places: &Places<'_>,
) -> (Thread, Vec<Met>) {
    let mut registers = 0;
    let mut points: Vec<Point> = (0..automaton.points)
        .map(|_| Point {
            name: None,
            atomic: false,
            place: None,
            span: Span::default(),
        })
        .collect();
    let mut transitions = Vec::new();
    let mut found: FxHashMap<*const Vec<SourceSpan>, Span> = FxHashMap::default();
    let mut touch = |register: &RegisterId| registers = registers.max(register.0 + 1);
    for edge in &automaton.edges {
        let span = *found
            .entry(std::rc::Rc::as_ptr(&edge.spans))
            .or_insert_with(|| match places.innermost(&edge.spans) {
                // What the library does at a thread's beginning and end has the place of the thread's closure.
                span if span == Span::default() => begin.unwrap_or_default(),
                span => span,
            });
        let span = match edge.instruction {
            Instruction::Fail(_) => {
                places.assertion(span, edge.spans.first().is_some_and(is_of_library))
            }
            _ => span,
        };
        let at = |cell: &Loc| Address::Direct(numbers[cell]);
        let op = match &edge.instruction {
            Instruction::Load(register, cell, order) => Op::Load {
                register: *register,
                address: at(cell),
                order: *order,
            },
            Instruction::Store(cell, value, order) => Op::Store {
                address: at(cell),
                value: value.clone(),
                order: *order,
            },
            Instruction::Rmw(register, cell, action, order) => Op::Rmw {
                register: Some(*register),
                address: at(cell),
                action: action.clone(),
                order: *order,
            },
            Instruction::Wait(cell, relation, value, order) => Op::Wait {
                register: None,
                address: at(cell),
                relation: *relation,
                value: value.clone(),
                order: *order,
            },
            Instruction::Fence(order) => Op::Fence(*order),
            Instruction::Assign(register, term) => Op::Assign(*register, term.clone()),
            Instruction::Assume(term) => Op::Assume(term.clone()),
            Instruction::Skip => Op::Skip,
            Instruction::Fail(_) => Op::Assert(Expr::Const(0)),
        };
        op.for_each_register(&mut |register| touch(&register));
        if let Some(target) = op.target() {
            touch(&target);
        }
        let point = &mut points[edge.from];
        if point.span == Span::default() {
            point.span = span;
        }
        transitions.push(Transition {
            from: PointId(edge.from as u32),
            to: PointId(edge.to as u32),
            op,
            span,
        });
    }
    let span = transitions.first().map_or(Span::default(), |t| t.span);
    let mut labels = Vec::new();
    let mut bounds = Vec::new();
    for (point, message, spans) in &automaton.bounds {
        let span = places.innermost(spans);
        bounds.push((message.clone(), LabelId(labels.len() as u32), span));
        labels.push(Label {
            name: format!("bound{}", labels.len()),
            points: vec![PointId(*point as u32)],
            span,
        });
    }
    let register = Register {
        name: None,
        span: Span::default(),
    };
    let thread = Thread {
        name,
        copies: Copies::One,
        copy_naming: CopyNaming::Bracket,
        registers: vec![register; registers as usize],
        me: None,
        points,
        initial: PointId(0),
        transitions,
        labels,
        span,
    };
    (thread, bounds)
}

/// Names of locations, each once.
#[derive(Default)]
struct Names {
    used: FxHashSet<String>,
    objects: FxHashMap<u32, String>,
    bases: FxHashSet<String>,
}

impl Names {
    fn object(&mut self, machine: &Machine<'_>, object: u32) -> String {
        if let Some(name) = self.objects.get(&object) {
            return name.clone();
        }
        let base = match machine.know.key(object) {
            ObjectKey::Thread(thread, which) => {
                let what = ["start", "end", "token"][(*which).min(2) as usize];
                format!("{what}_of_{}", thread_name(machine, *thread))
            }
            ObjectKey::Local(_, _, local, body) => {
                let body = &machine.index.bodies[*body as usize];
                let name = body.locals[*local as usize].name.clone();
                name.map_or_else(|| format!("_{local}"), |name| name.to_string())
            }
            ObjectKey::Free(object) => format!("free_{}", self.object(machine, *object)),
            ObjectKey::Alive(object) => format!("alive_{}", self.object(machine, *object)),
            ObjectKey::Beside(place) => format!("sleep_{}", self.object(machine, place.object)),
            ObjectKey::Static(path) => match path.split_once("::{") {
                // A thread's own static is in a constant with its name.
                Some((front, _)) if path.contains('@') => {
                    format!("{}_of_{}", front, path.rsplit('@').next().unwrap_or(""))
                }
                _ => path.rsplit("::").next().unwrap_or(path).to_owned(),
            },
            ObjectKey::Heap(..) | ObjectKey::Constant(_) => machine
                .know
                .names
                .get(&object)
                .cloned()
                .unwrap_or_else(|| "memory".to_owned()),
        };
        let base: String = base
            .chars()
            .map(|c| {
                if c.is_alphanumeric() || c == '_' {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        let mut name = base.clone();
        let mut number = 1;
        while !self.bases.insert(name.clone()) {
            number += 1;
            name = format!("{base}_{number}");
        }
        self.objects.insert(object, name.clone());
        name
    }

    fn of(&mut self, machine: &Machine<'_>, cell: &Loc) -> String {
        let mut name = self.object(machine, cell.object);
        let mut at = Loc {
            object: cell.object,
            path: Vec::new(),
        };
        let mut variant = None;
        for step in &cell.path {
            let shape = machine.know.shape(&at);
            match step {
                Step::Index(index) => name.push_str(&format!("_{index}")),
                Step::Tag => name.push_str("_variant"),
                Step::Variant(number) => variant = Some(*number),
                Step::Field(field) => {
                    let field = *field as usize;
                    let ty = match shape {
                        Some(Shape::Parts(ty, _)) => Some(ty),
                        _ => None,
                    };
                    // The insides of the standard library's types have no names for users.
                    let inner = matches!(ty, Some(Ty::Adt(path, _)) if path.starts_with("std::"));
                    let known = match ty {
                        Some(Ty::Adt(path, _)) => machine.index.fields.get(&**path),
                        _ => None,
                    };
                    let text = known
                        .and_then(|names| names.get(field))
                        .map(|n| n.to_string());
                    let counts = matches!(ty, Some(Ty::Adt(path, _)) if is_counted(path))
                        && matches!(text.as_deref(), Some("strong" | "weak"));
                    if variant.take().is_none() && (counts || !inner) {
                        let text = text.unwrap_or_else(|| field.to_string());
                        name.push_str(&format!("_{text}"));
                    }
                }
            }
            at.path.push(*step);
        }
        let base = name.clone();
        let mut number = 1;
        while !self.used.insert(name.clone()) {
            number += 1;
            name = format!("{base}_{number}");
        }
        name
    }
}
