//! Clients that look at what calls return: does some order of the calls explain it?
//!
//! Each thread makes a number of calls and adds up what they were and what they returned in one number, which is its result. When all have ended, the first
//! thread looks for an order of the calls by which a sequential model returns the same (`models/history.rs`). Nothing is recorded where another thread could see
//! it while threads run, so recording orders nothing that the program does not order itself.
//!
//! There is no clock under C++20. What comes before what, for such an order, is what happens before: a thread's own calls, and calls that threads put in order
//! by themselves. For the latter one thread may wait, before one of its calls, for another thread to have made one of its own: which call waits for which, if
//! any, is chosen at the beginning. A thread that waits acquires what the other has released, so in such a run the type has it easier, too; runs without waiting
//! are always among those that are looked at. That the type's own code makes one call happen before another is not used: `holds` says no more than the notes do.

use super::shape::{Instance, Shape, made};
use super::text::{Block, By, Call, Line, Opening, Root, Writer, braces, choice, keyed, line};
use std::rc::Rc;

/// The models, and how an order is looked for.
const HISTORY: &str = include_str!("../models/history.rs");
/// The type of numbers that is written once, for all of them.
const NUMBERS: [&str; 9] = [
    "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize",
];
/// All calls of a thread, and what they returned, are one number below 2 to the power of this.
const BITS: f64 = 62.0;
/// Room in the models.
const MOST_VALUES: usize = 16;
/// Combinations of arguments of one function.
const MOST_ARGUMENTS: usize = 8;

/// What calls are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Model {
    /// The last that was put in is taken first; with room for so many.
    Stack(Option<usize>),
    /// The first that was put in is taken first.
    Queue(Option<usize>),
    /// What was written last is read.
    Register,
    /// A number that is added to.
    Counter,
    /// One owner at a time, who sees what the one before it has left.
    Mutex,
    /// A type of the crate with functions of the same names.
    Own(String),
}

impl Model {
    /// The model of this name; anything that is no name of ours is a type.
    pub fn of(text: &str) -> Result<Model, String> {
        let (name, room) = match text.split_once(':') {
            Some((name, room)) if !room.starts_with(':') => (name, Some(room)),
            _ => (text, None),
        };
        let room = match room.map(str::parse::<usize>) {
            None => None,
            Some(Ok(room)) if (1..=MOST_VALUES).contains(&room) => Some(room),
            Some(_) => {
                return Err(format!(
                    "the room of a model is a number from 1 to {MOST_VALUES}"
                ));
            }
        };
        let model = match name {
            "stack" => return Ok(Model::Stack(room)),
            "queue" => return Ok(Model::Queue(room)),
            "register" => Model::Register,
            "counter" => Model::Counter,
            "mutex" => Model::Mutex,
            _ if syn::parse_str::<syn::Type>(text).is_ok()
                && text.contains(|c: char| c.is_ascii_uppercase()) =>
            {
                Model::Own(text.to_owned())
            }
            _ => {
                return Err(format!(
                    "there is no model `{text}`: stack, queue, register, counter and mutex are known, and types of the file"
                ));
            }
        };
        match room {
            None => Ok(model),
            Some(_) => Err(format!("a {name} has no room: leave out the number")),
        }
    }

    /// How it is spoken of.
    pub fn name(&self) -> String {
        match self {
            Model::Stack(None) => "a stack".to_owned(),
            Model::Stack(Some(room)) => format!("a stack with room for {room}"),
            Model::Queue(None) => "a queue".to_owned(),
            Model::Queue(Some(room)) => format!("a queue with room for {room}"),
            Model::Register => "a register".to_owned(),
            Model::Counter => "a counter".to_owned(),
            Model::Mutex => "a lock".to_owned(),
            Model::Own(ty) => format!("`{ty}`"),
        }
    }

    /// What a function of this name does, if this is one of ours.
    fn meaning(&self, name: &str) -> Option<Meaning> {
        use Meaning::*;
        Some(match self {
            Model::Stack(_) | Model::Queue(_) => match name {
                "push" | "try_push" | "push_back" | "enqueue" | "try_enqueue" | "send"
                | "try_send" | "offer" | "put" | "insert" | "add" => Put,
                "pop" | "try_pop" | "pop_front" | "dequeue" | "try_dequeue" | "recv"
                | "try_recv" | "receive" | "poll" | "take" | "remove" => Take,
                "peek" | "top" | "front" => Look,
                "len" => Len,
                "is_empty" => Empty,
                _ => return None,
            },
            Model::Register => match name {
                "read" | "get" | "load" => Read,
                "write" | "set" | "store" => Write,
                "swap" | "replace" | "exchange" => Swap,
                _ => return None,
            },
            Model::Counter => match name {
                "read" | "get" | "load" | "value" | "count" => Read,
                "increment" | "inc" | "add" | "add_one" | "up" | "fetch_add"
                | "fetch_increment" | "next" => Add(1),
                "decrement" | "dec" | "sub" | "down" | "fetch_sub" => Add(-1),
                _ => return None,
            },
            Model::Mutex | Model::Own(_) => return None,
        })
    }

    /// The model at the beginning, in Rust. `first`: what a constructor was given.
    fn made(&self, first: usize) -> String {
        match self {
            Model::Stack(room) | Model::Queue(room) => {
                format!("Row::new({})", room.unwrap_or(MOST_VALUES))
            }
            Model::Register | Model::Counter | Model::Mutex => format!("Single::new({first})"),
            Model::Own(_) => "<Model as std::default::Default>::default()".to_owned(),
        }
    }

    fn ty(&self) -> &str {
        match self {
            Model::Stack(_) | Model::Queue(_) => "Row",
            Model::Own(ty) => ty,
            _ => "Single",
        }
    }
}

/// What a function does, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Put,
    Take,
    Look,
    Len,
    Empty,
    Read,
    Write,
    Swap,
    Add(i64),
}

/// A call that threads make.
struct Operation {
    key: Rc<str>,
    by: By,
    /// An expression that makes the call and is the number of what happened, with `@` for the value that it is called on.
    run: String,
    /// Whether it may wait for calls of others.
    waits: bool,
}

/// What the clients are made of.
pub struct Plan {
    /// By which calls are explained.
    pub model: Model,
    /// How many calls each thread makes.
    pub calls: usize,
}

/// What is wrong with a question.
pub type Wrong = (String, &'static str);

impl Plan {
    /// The clients of a type, one for each way to come to values of it.
    pub fn roots(&self, writer: &mut Writer<'_>) -> Result<(Vec<Line>, Vec<Root>), Wrong> {
        writer.called.clear();
        let mut all = writer.head();
        all.extend(history().lines().map(line));
        all.push(line(format!("type Model = {};", self.model.ty())));
        let mut roots = Vec::new();
        for opening in writer.openings() {
            if let Some((text, made)) = self.of_opening(writer, &opening, roots.len())? {
                all.extend(text);
                roots.push(made);
            }
        }
        Ok((all, roots))
    }

    /// What is said with every answer. `text`: the clients'.
    pub fn notes(&self, name: &str, functions: &str, text: &str) -> Vec<String> {
        let mut counts: Vec<&str> = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("const THREADS: usize = "))
            .map(|rest| rest.trim_end_matches(';'))
            .collect();
        counts.dedup();
        vec![
            format!(
                "the client of {name}: {} threads that call {functions} in any order, {} times each; in every run in which all calls return, some order of them has to explain what they returned, as {} does",
                counts.join(" or "),
                self.calls,
                self.model.name(),
            ),
            "that order keeps each thread's own, and puts a call behind another thread's if it waited for that: at most one call of a run does"
                .to_owned(),
            "whether threads wait for ever is asked without `--linearizable`".to_owned(),
        ]
    }

    fn of_opening(
        &self,
        writer: &mut Writer<'_>,
        opening: &Opening,
        number: usize,
    ) -> Result<Option<(Block, Root)>, Wrong> {
        let single = opening.parts.len() == 1;
        let owned = !single;
        for (name, _) in &opening.parts {
            let fits = match single {
                true => writer.is(opening, name, "sync"),
                false => writer.is(opening, name, "send"),
            };
            if !fits {
                return Ok(None);
            }
        }
        // Of a pair, each half belongs to one thread; what is shared is called by all.
        let mut steps: Vec<String> = Vec::new();
        let mut checks = Vec::new();
        let mut operations: Vec<Vec<Operation>> = Vec::new();
        for (_, instance) in &opening.parts {
            let mut bys = vec![By::Shared];
            if owned {
                bys.push(By::Mut);
            }
            let found = self.operations(writer, instance, &bys, &mut steps, &mut checks);
            operations.push(found);
        }
        if operations.iter().any(Vec::is_empty) {
            return Ok(None);
        }
        for operation in operations.iter().flatten() {
            let (key, by) = (operation.key.to_string(), operation.by);
            writer.called.insert(key, by);
        }
        let threads = match single {
            true => writer.threads,
            false => opening.parts.len(),
        };
        // A call of a lock is two: it is taken, and it is left.
        let parts = self.parts();
        let entries = self.calls * parts;
        let codes = 2048_f64 * (steps.len() + 1) as f64;
        let room = (BITS / codes.log2()) as usize;
        if self.calls > room || threads * self.calls > MOST_VALUES {
            let most = room.min(MOST_VALUES / threads);
            return Err((
                format!("of {threads} threads, {most} calls of each can be looked at"),
                "say `--calls 2`",
            ));
        }
        let module = format!("shape_{number}");
        let mut text = vec![
            line(format!("const THREADS: usize = {threads};")),
            line(format!("const PARTS: usize = {parts};")),
            line(format!("const ENTRIES: usize = {entries};")),
            line(format!("const RADIX: i64 = {} * CODES;", steps.len() + 1)),
            line(
                "fn value(thread: usize, at: usize) -> i64 { (thread * ENTRIES + at / PARTS + 2) as i64 }",
            ),
            line("/// A call, the call that waits for it, and whether it was made."),
            line("static FIRST: AtomicUsize = AtomicUsize::new(0);"),
            line("static SECOND: AtomicUsize = AtomicUsize::new(0);"),
            line("static MADE: AtomicUsize = AtomicUsize::new(0);"),
        ];
        text.extend(checks);
        text.extend(self.decoding(&steps));
        let name = format!("client_{}", number + 1);
        let waits = waits(threads, self.calls, single);
        let body = self.body(opening, &operations, threads, &waits, single);
        text.extend(braces(&format!("pub fn {name}() {{"), body, "}"));
        let root = Root {
            name: format!("{module}::{name}"),
            free: true,
            shared: false,
        };
        let mut inner = vec![
            line("use super::*;"),
            line("use std::sync::atomic::{AtomicUsize, Ordering::{Acquire, Relaxed, Release}};"),
        ];
        inner.extend(text);
        Ok(Some((
            braces(&format!("pub mod {module} {{"), inner, "}"),
            root,
        )))
    }

    /// What a thread's number stands for, and what the model does for each kind of call.
    fn decoding(&self, steps: &[String]) -> Block {
        let mut arms = vec![line("0 => Entry { kind: 0, code },")];
        for kind in 1..=steps.len() {
            let head = match kind == steps.len() {
                true => "_".to_owned(),
                false => kind.to_string(),
            };
            arms.push(line(format!("{head} => Entry {{ kind: {kind}, code }},")));
        }
        let mut inner = vec![
            line("let this = rest % RADIX;"),
            line("rest = rest / RADIX;"),
            line("let code = this % CODES;"),
        ];
        inner.extend(braces("log[at] = match this / CODES {", arms, "};"));
        inner.push(line(
            "if PARTS == 2 && log[at].kind == 1 { log[at + 1] = Entry { kind: 3, code: 0 }; }",
        ));
        inner.push(line("at += PARTS;"));
        let mut body = vec![
            line("let mut log = [Entry { kind: 0, code: 0 }; ENTRIES];"),
            line("let mut rest = number;"),
            line("let mut at = 0;"),
        ];
        body.extend(braces("while at < ENTRIES {", inner, "}"));
        body.push(line("log"));
        let mut all = braces("fn log(number: i64) -> [Entry; ENTRIES] {", body, "}");
        let mut arms: Block = Vec::new();
        for (kind, step) in steps.iter().enumerate() {
            arms.push(line(format!("{} => {step},", kind + 1)));
        }
        arms.push(line("_ => 0,"));
        let head = "fn step(model: &mut Model, kind: usize, t: usize, at: usize) -> i64 {";
        all.extend(braces(head, braces("match kind {", arms, "}"), "}"));
        all
    }

    /// The client's first thread. At the beginning it chooses which call waits for which other one, if any.
    fn body(
        &self,
        opening: &Opening,
        operations: &[Vec<Operation>],
        threads: usize,
        waits: &[Wait],
        single: bool,
    ) -> Block {
        let number = match self.model {
            Model::Stack(room) | Model::Queue(room) => room.unwrap_or(MOST_VALUES),
            Model::Own(_) => 2,
            _ => 0,
        };
        let mut block = opening.setup.clone();
        for line in &mut block {
            let number = format!("{number} as _");
            line.text = line.text.replace(super::text::NUMBER, &number);
        }
        let setup: String = block.iter().map(|l| l.text.as_str()).collect();
        let given = usize::from(setup.contains("(1)"));
        let number = |(thread, call): (usize, usize)| thread * self.calls + call + 1;
        let choices = waits.iter().map(|wait| {
            let (first, second) = (number(wait.first), number(wait.second));
            vec![
                line(format!("FIRST.store({first}, Relaxed);")),
                line(format!("SECOND.store({second}, Relaxed);")),
            ]
        });
        block.extend(choice(choices.collect(), "{}"));
        let mut inner = Vec::new();
        if single {
            inner.push(line("let subject = &subject;"));
        }
        for thread in 0..threads {
            let (value, of) = match single {
                true => ("(*subject)".to_owned(), &operations[0]),
                false => (opening.parts[thread].0.clone(), &operations[thread]),
            };
            let may_stop = of.iter().any(|operation| operation.waits);
            let mut body = vec![line(format!("let t = {thread};"))];
            body.push(line("let mut all: i64 = 0;"));
            if waits.iter().any(|wait| wait.first.0 == thread) {
                body.push(line("let first = FIRST.load(Relaxed);"));
            }
            if waits.iter().any(|wait| wait.second.0 == thread) {
                body.push(line("let second = SECOND.load(Relaxed);"));
            }
            let mut calls = Vec::new();
            for call in 0..self.calls {
                let mut one = Vec::new();
                if waits.iter().any(|wait| wait.second == (thread, call)) {
                    one.push(line(format!(
                        "if second == {} {{ while MADE.load(Acquire) == 0 {{}} }}",
                        number((thread, call))
                    )));
                }
                one.push(line(format!("let at = {call} * PARTS;")));
                let mut arms = Vec::new();
                for (at, operation) in of.iter().enumerate() {
                    let head = match at + 1 == of.len() && !may_stop {
                        true => "_".to_owned(),
                        false => at.to_string(),
                    };
                    let run = operation.run.replace('@', &value);
                    arms.push(keyed(format!("{head} => {run},"), &operation.key));
                }
                let count = of.len() + usize::from(may_stop);
                if may_stop {
                    arms.push(line("_ => break,"));
                }
                let head = format!("let one: i64 = match pick({count}) {{");
                one.extend(braces(&head, arms, "};"));
                let mut scale = "one".to_owned();
                for _ in 0..call {
                    scale.push_str(" * RADIX");
                }
                one.push(line(format!("all = all + {scale};")));
                if waits.iter().any(|wait| wait.first == (thread, call)) {
                    one.push(line(format!(
                        "if first == {} {{ MADE.store(1, Release); }}",
                        number((thread, call))
                    )));
                }
                calls.extend(one);
            }
            calls.push(line("break;"));
            body.extend(braces("loop {", calls, "}"));
            body.push(line("all"));
            let head = format!("let thread_{thread} = scope.spawn(move || {{");
            inner.extend(braces(&head, body, "});"));
        }
        let joined: Vec<String> = (0..threads)
            .map(|thread| format!("thread_{thread}.join().unwrap()"))
            .collect();
        inner.push(line(format!("[{}]", joined.join(", "))));
        block.extend(braces(
            "let results = std::thread::scope(|scope| {",
            inner,
            "});",
        ));
        let logs: Vec<String> = (0..threads)
            .map(|thread| format!("log(results[{thread}])"))
            .collect();
        block.push(line(format!("let logs = [{}];", logs.join(", "))));
        let mut pairs: Vec<String> = waits
            .iter()
            .map(|wait| format!("(t == {} && other == {})", wait.second.0, wait.first.0))
            .collect();
        pairs.dedup();
        let pairs = match pairs.is_empty() {
            true => "false".to_owned(),
            false => pairs.join(" || "),
        };
        block.push(line(
            "let (first, second) = (FIRST.load(Relaxed), SECOND.load(Relaxed));",
        ));
        let calls = self.calls;
        block.push(line(
            "// Not while a call that this one has waited for is yet to come.",
        ));
        block.extend(braces(
            "let ready = |t: usize, at: usize, other: usize, done: usize| {",
            vec![
                line(format!("if !({pairs}) {{ return true; }}")),
                line(format!(
                    "if second <= t * {calls} || second > t * {calls} + at / PARTS + 1 {{ return true; }}"
                )),
                line(format!(
                    "first <= other * {calls} + done / PARTS || first > (other + 1) * {calls}"
                )),
            ],
            "};",
        ));
        let model = self.model.made(given);
        block.push(line(format!("let model: Model = {model};")));
        block.push(line(
            "let step = |model: &mut Model, kind: usize, t: usize, at: usize| step(model, kind, t, at);",
        ));
        block.push(line(
            "let some_order_explains_what_they_returned = explained(&logs, [0; THREADS], &model, &ready, &step);",
        ));
        // The condition is what the answer shows.
        block.push(line("assert!(some_order_explains_what_they_returned);"));
        if single {
            block.push(line("drop(subject);"));
        }
        block
    }

    fn parts(&self) -> usize {
        if self.model == Model::Mutex { 2 } else { 1 }
    }

    /// The calls that threads make of a value, with the model's step of each kind.
    fn operations(
        &self,
        writer: &mut Writer<'_>,
        instance: &Instance,
        bys: &[By],
        steps: &mut Vec<String>,
        checks: &mut Block,
    ) -> Vec<Operation> {
        let api = writer.api;
        let mut found = Vec::new();
        for function in &api.types[instance.adt].functions {
            let name = function.sig.ident.to_string();
            let meaning = self.model.meaning(&name);
            let own = matches!(self.model, Model::Own(_));
            let mut combinations = 1;
            let mut at = 0;
            while at < combinations {
                let mut index = at;
                let mut count = 1;
                let mut values = Vec::new();
                let call = writer.call_with(function, instance, &mut |shape| {
                    let choices = match (own, meaning) {
                        (true, _) => any_of(api, shape)?,
                        (false, Some(Meaning::Add(_))) => vec![one(shape)?],
                        (false, _) => vec![value(shape)?],
                    };
                    let chosen = choices[index % choices.len()].clone();
                    index /= choices.len();
                    count *= choices.len();
                    values.push(chosen.clone());
                    Ok(chosen)
                });
                at += 1;
                let Some(call) = call else { break };
                if !bys.contains(&call.by) {
                    if call.by == By::Mut || call.by == By::Value {
                        leave_out(writer, &call.key, "it needs the value alone");
                    }
                    break;
                }
                if count > MOST_ARGUMENTS {
                    leave_out(
                        writer,
                        &call.key,
                        "it can be called with too many arguments",
                    );
                    break;
                }
                combinations = count;
                let made = match (&self.model, meaning) {
                    (Model::Own(_), _) => {
                        let checked = own_step(&call, &name, &values, steps.len());
                        checked.map(|(run, step, check)| {
                            checks.extend(check);
                            (run, vec![step], false)
                        })
                    }
                    (Model::Mutex, _) => locking(writer, &call, steps.is_empty()),
                    (_, Some(meaning)) => {
                        self.known_step(&call, meaning, &name, values.len(), steps.len())
                    }
                    _ => Err(format!("{} has no such function", self.model.name())),
                };
                match made {
                    Ok((run, new, waits)) => {
                        steps.extend(new);
                        found.push(Operation {
                            key: call.key.clone(),
                            by: call.by,
                            run,
                            waits,
                        });
                    }
                    Err(why) => {
                        leave_out(writer, &call.key, &why);
                        break;
                    }
                }
            }
        }
        found
    }

    /// A function that one of our models knows.
    fn known_step(
        &self,
        call: &Call,
        meaning: Meaning,
        name: &str,
        arguments: usize,
        kinds: usize,
    ) -> Result<(String, Vec<String>, bool), String> {
        let expression = &call.expression;
        let no = || "what it returns cannot be compared with the model".to_owned();
        let wanted = usize::from(matches!(
            meaning,
            Meaning::Put | Meaning::Write | Meaning::Swap
        ));
        let more = matches!(meaning, Meaning::Add(_)) && arguments == 1;
        if arguments != wanted && !more {
            return Err(format!(
                "as a function of {}, it has other arguments",
                self.model.name()
            ));
        }
        let mut waits = false;
        let stack = matches!(self.model, Model::Stack(_));
        let (run, step) = match meaning {
            Meaning::Put => {
                let run = match &call.result {
                    Shape::Unit => format!("{{ {expression}; true }}"),
                    Shape::Bool => expression.clone(),
                    Shape::Result(_) => format!("{expression}.is_ok()"),
                    Shape::Option(_) => format!("{expression}.is_none()"),
                    _ => return Err(no()),
                };
                waits = call.result == Shape::Unit
                    && matches!(self.model, Model::Stack(Some(_)) | Model::Queue(Some(_)));
                (run, "model.put(value(t, at))".to_owned())
            }
            Meaning::Take | Meaning::Look => {
                let run = match &call.result {
                    Shape::Option(inner) => {
                        let value = read("value", inner).ok_or_else(no)?;
                        format!("{expression}.map(|value| {value})")
                    }
                    Shape::Result(inner) => {
                        let value = read("value", inner).ok_or_else(no)?;
                        format!("{expression}.ok().map(|value| {value})")
                    }
                    inner => {
                        waits = true;
                        let value = read(expression, inner).ok_or_else(no)?;
                        format!("std::option::Option::Some({value})")
                    }
                };
                let step = match (meaning, stack) {
                    (Meaning::Take, true) => "model.take_back()",
                    (Meaning::Take, false) => "model.take_front()",
                    (_, true) => "model.back()",
                    (_, false) => "model.front()",
                };
                (run, step.to_owned())
            }
            Meaning::Len if call.result == Shape::Number => {
                (expression.clone(), "model.len()".to_owned())
            }
            Meaning::Empty if call.result == Shape::Bool => {
                (expression.clone(), "model.len() == 0".to_owned())
            }
            Meaning::Read => {
                let run = read(expression, &call.result).ok_or_else(no)?;
                (run, "model.value".to_owned())
            }
            Meaning::Write if call.result == Shape::Unit => (
                expression.clone(),
                "{ model.swap(value(t, at)); }".to_owned(),
            ),
            Meaning::Write | Meaning::Swap => {
                let run = read(expression, &call.result).ok_or_else(no)?;
                (run, "model.swap(value(t, at))".to_owned())
            }
            Meaning::Add(number) => match &call.result {
                Shape::Unit => (expression.clone(), format!("{{ model.add({number}); }}")),
                Shape::Number if name.starts_with("fetch_") || name == "next" => {
                    (expression.clone(), format!("model.add({number})"))
                }
                Shape::Number => {
                    return Err("whether it returns the number before or after is not known: write a model of your own".to_owned());
                }
                _ => return Err(no()),
            },
            _ => return Err(no()),
        };
        Ok((
            entry(kinds + 1, &run),
            vec![format!("expected({step})")],
            waits,
        ))
    }
}

/// A call, and one of another thread that waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wait {
    first: (usize, usize),
    second: (usize, usize),
}

/// All ways in which a thread may wait for another. Threads that are all alike have no numbers.
fn waits(threads: usize, calls: usize, alike: bool) -> Vec<Wait> {
    let mut all = Vec::new();
    for first in 0..threads {
        for second in 0..threads {
            if first == second || (alike && (first, second) != (0, 1)) {
                continue;
            }
            for before in 0..calls {
                for after in 0..calls {
                    all.push(Wait {
                        first: (first, before),
                        second: (second, after),
                    });
                }
            }
        }
    }
    all
}

fn entry(kind: usize, expression: &str) -> String {
    format!("{kind} * CODES + coded({expression})")
}

fn leave_out(writer: &mut Writer<'_>, key: &Rc<str>, why: &str) {
    let known = writer.left_out.entry(key.to_string());
    known.or_insert_with(|| why.to_owned());
}

/// The models' text, with all numbers.
fn history() -> String {
    let begin = "// BEGIN NUMBER\n";
    let end = "// END NUMBER\n";
    let parts = HISTORY.split_once(begin);
    let parts = parts.and_then(|(before, rest)| Some((before, rest.split_once(end)?)));
    let Some((before, (number, after))) = parts else {
        unreachable!("the models have a number");
    };
    let all: String = NUMBERS
        .iter()
        .map(|name| number.replace("for i64", &format!("for {name}")))
        .collect();
    format!("{before}{all}{after}")
}

/// A value that no other call puts in.
fn value(shape: &Shape) -> Result<String, String> {
    match shape {
        Shape::Token | Shape::Number => Ok("value(t, at) as _".to_owned()),
        Shape::Wrapped(function, inner) => Ok(format!("{function}({})", value(inner)?)),
        _ => Err("that is put in".to_owned()),
    }
}

/// The number one.
fn one(shape: &Shape) -> Result<String, String> {
    match shape {
        Shape::Number => Ok("1".to_owned()),
        _ => Err("that is added".to_owned()),
    }
}

/// A value that was put in, as something that has a number; nothing if it is none.
fn read(expression: &str, shape: &Shape) -> Option<String> {
    match shape {
        Shape::Token | Shape::Number => Some(expression.to_owned()),
        Shape::Ref(_, inner) if matches!(**inner, Shape::Token | Shape::Number) => {
            Some(format!("*{expression}"))
        }
        Shape::Wrapped(function, inner) if *function != "std::cell::Cell::new" => {
            read(&format!("*{expression}"), inner)
        }
        _ => None,
    }
}

/// Every argument of a type, as expressions that are the same each time.
fn any_of(api: &super::api::Api, shape: &Shape) -> Result<Vec<String>, String> {
    Ok(match shape {
        Shape::Token => vec!["value(t, at) as _".to_owned()],
        Shape::Bool => vec!["false".to_owned(), "true".to_owned()],
        Shape::Number => (0..3).map(|number| format!("{number} as _")).collect(),
        Shape::Option(inner) => {
            let mut all = vec!["std::option::Option::None".to_owned()];
            let inner = any_of(api, inner)?.into_iter();
            all.extend(inner.map(|value| format!("std::option::Option::Some({value})")));
            all
        }
        Shape::Wrapped(function, inner) => {
            let inner = any_of(api, inner)?.into_iter();
            inner.map(|value| format!("{function}({value})")).collect()
        }
        Shape::Local(instance) if !api.types[instance.adt].variants.is_empty() => {
            let adt = &api.types[instance.adt];
            let path = super::text::path_to(&adt.module, &adt.name);
            let variants = adt.variants.iter();
            variants
                .map(|variant| format!("{path}::{variant}"))
                .collect()
        }
        Shape::Unit | Shape::Time(_) => vec![made(api, shape, None)?],
        Shape::Other(text) => return Err(text.clone()),
        _ => return Err("of one of its arguments".to_owned()),
    })
}

/// What threads do, the model's step, and lines that the compiler accepts if both are of one type.
type OwnStep = (String, String, Block);

/// A function that the user's model has to have, too.
fn own_step(call: &Call, name: &str, values: &[String], kinds: usize) -> Result<OwnStep, String> {
    if !call.expression.starts_with("@.") {
        return Err("it takes self in another way".to_owned());
    }
    let step = format!("model.{name}({})", values.join(", "));
    let subject = call.expression.replace('@', "subject");
    let text = format!(
        "fn same_{kinds}(subject: &mut Subject, model: &mut Model, t: usize, at: usize) {{ let mut both = {subject}; both = {step}; coded(both); }}"
    );
    let check = vec![keyed(text, &call.key)];
    let step = format!("expected({step})");
    Ok((entry(kinds + 1, &call.expression), step, check))
}

/// A function that takes a lock: what is behind its guard is read and written.
fn locking(
    writer: &mut Writer<'_>,
    call: &Call,
    first: bool,
) -> Result<(String, Vec<String>, bool), String> {
    let no = || Err("it gives no guard with a value behind it".to_owned());
    let given = match &call.result {
        Shape::Local(instance) => Some(instance),
        Shape::Option(inner) | Shape::Result(inner) => match &**inner {
            Shape::Local(instance) => Some(instance),
            _ => None,
        },
        _ => None,
    };
    let Some(guard) = given else { return no() };
    let target = writer.target(guard);
    let simple = matches!(target, Some(Shape::Token | Shape::Number));
    if !simple || !writer.has(guard, "DerefMut") {
        return no();
    }
    let expression = &call.expression;
    let option = match &call.result {
        Shape::Option(_) => expression.clone(),
        Shape::Result(_) => format!("{expression}.ok()"),
        _ => format!("std::option::Option::Some({expression})"),
    };
    // Taken with what is seen, not taken, and left: the last follows from the first.
    let run = format!(
        "match {option} {{ std::option::Option::Some(mut guard) => {{ let seen = *guard; *guard = value(t, at) as _; drop(guard); CODES + coded(seen) }} std::option::Option::None => 2 * CODES }}"
    );
    let steps = match first {
        true => vec![
            "model.take()".to_owned(),
            "model.refuse()".to_owned(),
            "model.leave(value(t, at))".to_owned(),
        ],
        false => Vec::new(),
    };
    Ok((run, steps, false))
}
