//! The text of a client: threads that choose freely among the calls that the types of a crate allow.

use super::api::{Api, Function};
use super::shape::{Instance, Scope, Shape, inside, made};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A line of the client. Where the compiler refuses it, what its key names is left out.
#[derive(Clone, Debug)]
pub struct Line {
    pub depth: usize,
    pub text: String,
    pub key: Option<Rc<str>>,
}

pub type Block = Vec<Line>;

/// What is always there. Comparisons of times come out either way: that is the free choice.
const HEADER: &str = "\
#![allow(warnings)]
extern crate std;
use crate::*;
fn choose() -> bool { std::time::Instant::now().elapsed().is_zero() }
fn pick(count: u8) -> u8 { let mut at = 0; while at + 1 < count { if choose() { return at; } at += 1; } at }
fn look<T: Copy>(at: &T) { let _seen = *at; }
fn is_sync<T: Sync>(_: &T) {}
fn is_send<T: Send>(_: &T) {}
fn is_clone<T: Clone>(_: &T) {}
fn same_type<P, F: Fn(P)>(_: &P, f: F) -> F { f }
";

/// A number for a function that wants one.
pub const NUMBER: &str = "pick(3) as _";

/// How a function takes the value that it is called on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Shared,
    Mut,
    Value,
    Nothing,
}

/// A call that a client can make.
#[derive(Clone, Debug)]
pub struct Call {
    pub key: Rc<str>,
    pub by: By,
    /// With `@` for the value that it is called on.
    pub expression: String,
    pub result: Shape,
}

/// How threads come to have the values.
#[derive(Clone, Debug)]
pub struct Opening {
    key: Rc<str>,
    pub setup: Block,
    pub parts: Vec<(String, Instance)>,
}

/// A function to begin with.
#[derive(Clone, Debug)]
pub struct Root {
    pub name: String,
    /// Whether guards can be leaked or kept: then waiting for ever is no mistake of the type.
    pub free: bool,
    /// Whether threads only have references: then there can be any number of them.
    pub shared: bool,
}

/// Everything that decides the text.
pub struct Writer<'a> {
    pub api: &'a Api,
    pub subject: Instance,
    /// The type as the client writes it.
    pub subject_type: String,
    pub threads: usize,
    pub calls: Option<usize>,
    /// What the compiler has refused, with its words.
    pub refused: FxHashMap<String, String>,
    /// What is left out, and why.
    pub left_out: BTreeMap<String, String>,
    /// What is called.
    pub called: BTreeMap<String, By>,
}

pub fn path_to(module: &str, name: &str) -> String {
    match module.is_empty() {
        true => format!("crate::{name}"),
        false => format!("crate::{module}::{name}"),
    }
}

pub fn line(text: impl Into<String>) -> Line {
    Line {
        depth: 0,
        text: text.into(),
        key: None,
    }
}

pub fn keyed(text: impl Into<String>, key: &Rc<str>) -> Line {
    Line {
        key: Some(key.clone()),
        ..line(text)
    }
}

fn deeper(block: Block) -> Block {
    let deeper = |line: Line| Line {
        depth: line.depth + 1,
        ..line
    };
    block.into_iter().map(deeper).collect()
}

pub fn braces(head: &str, block: Block, tail: &str) -> Block {
    let mut all = vec![line(head)];
    all.extend(deeper(block));
    all.push(line(tail));
    all
}

/// One of the blocks, or `last`.
pub fn choice(blocks: Vec<Block>, last: &str) -> Block {
    let mut inner = Vec::new();
    let count = blocks.len() + 1;
    for (at, block) in blocks.into_iter().enumerate() {
        inner.extend(braces(&format!("{at} => {{"), block, "}"));
    }
    inner.push(line(format!("_ => {last},")));
    braces(&format!("match pick({count}) {{"), inner, "}")
}

/// What a call gives, without `Option` and `Result` around it, if it is a type of the crate.
fn payload(shape: &Shape) -> Option<&Instance> {
    match shape {
        Shape::Local(instance) => Some(instance),
        Shape::Option(inner) | Shape::Result(inner) => match &**inner {
            Shape::Local(instance) => Some(instance),
            _ => None,
        },
        _ => None,
    }
}

fn as_option(shape: &Shape, expression: &str) -> String {
    match shape {
        Shape::Option(_) => expression.to_owned(),
        Shape::Result(_) => format!("{expression}.ok()"),
        _ => format!("Some({expression})"),
    }
}

impl<'a> Writer<'a> {
    fn adt_name(&self, instance: &Instance) -> &'a str {
        &self.api.types[instance.adt].name
    }

    pub fn has(&self, instance: &Instance, name: &str) -> bool {
        let key = format!("{}: {name}", self.adt_name(instance));
        let traits = &self.api.types[instance.adt].traits;
        traits.iter().any(|t| t.name == name) && !self.refused.contains_key(&key)
    }

    fn scope(&self, function: &'a Function, instance: Option<&Instance>) -> Scope<'a> {
        let mut scope = match (&function.of, instance) {
            (Some(of), Some(instance)) => inside(self.api, of, instance),
            _ => Scope {
                api: self.api,
                parameters: FxHashMap::default(),
                self_: None,
                module: &function.module,
            },
        };
        if let Some(of) = &function.of {
            scope.add(&of.generics);
        }
        scope.add(&function.sig.generics);
        scope
    }

    /// The call of a function, if there is one.
    fn call(&mut self, function: &'a Function, instance: &Instance) -> Option<Call> {
        let api = self.api;
        self.call_with(function, instance, &mut |shape| {
            made(api, shape, Some((instance, "&@")))
        })
    }

    /// The call of a function with the arguments that are given for their types, or why there is none.
    pub fn call_with(
        &mut self,
        function: &'a Function,
        instance: &Instance,
        argument: &mut dyn FnMut(&Shape) -> Result<String, String>,
    ) -> Option<Call> {
        let api = self.api;
        let adt = &api.types[instance.adt];
        let name = function.sig.ident.to_string();
        let key: Rc<str> = Rc::from(match &function.of {
            Some(_) => format!("{}::{name}", adt.name),
            None => name.clone(),
        });
        if self.refused.contains_key(&*key) {
            return None;
        }
        let mut leave_out = |why: String| {
            self.left_out.entry(key.to_string()).or_insert(why);
        };
        if function.sig.unsafety.is_some() {
            leave_out("it is unsafe".to_owned());
            return None;
        }
        if function.sig.asyncness.is_some() {
            leave_out("it is async".to_owned());
            return None;
        }
        let subject = self.subject.clone();
        let mut scope = self.scope(function, Some(instance));
        if function.of.is_none() {
            // The parameters of a function of a module are those of the type that it makes.
            let parameters = function.sig.generics.type_params();
            for (parameter, (_, shape)) in parameters.zip(&subject.arguments) {
                let name = parameter.ident.to_string();
                scope.parameters.insert(name, shape.clone());
            }
        }
        let mut leave_out = |why: String| {
            self.left_out.entry(key.to_string()).or_insert(why);
        };
        let mut by = By::Nothing;
        let mut arguments = Vec::new();
        let mut this = None;
        for (at, input) in function.sig.inputs.iter().enumerate() {
            let ty = match input {
                syn::FnArg::Receiver(receiver) => {
                    by = match (&receiver.reference, &receiver.mutability) {
                        (Some(_), None) => By::Shared,
                        (Some(_), Some(_)) => By::Mut,
                        (None, _) => By::Value,
                    };
                    if receiver.colon_token.is_some() {
                        leave_out("it takes self in another way".to_owned());
                        return None;
                    }
                    continue;
                }
                syn::FnArg::Typed(typed) => &typed.ty,
            };
            let shape = scope.shape(ty);
            if at == 0 {
                let own = Shape::Local(instance.clone());
                let taken = match &shape {
                    shape if *shape == own => Some((By::Value, "@")),
                    Shape::Ref(false, inner) if **inner == own => Some((By::Shared, "&@")),
                    Shape::Ref(true, inner) if **inner == own => Some((By::Mut, "&mut @")),
                    _ => None,
                };
                if let Some((taken, text)) = taken {
                    by = taken;
                    this = Some(text);
                    arguments.push(text.to_owned());
                    continue;
                }
            }
            match argument(&shape) {
                Ok(argument) => arguments.push(argument),
                Err(what) => {
                    leave_out(format!("no value of the type {what} is made here"));
                    return None;
                }
            }
        }
        let result = match &function.sig.output {
            syn::ReturnType::Default => Shape::Unit,
            syn::ReturnType::Type(_, ty) => scope.shape(ty),
        };
        let list = arguments.join(", ");
        let expression = match (&function.of, by, this) {
            (None, ..) => format!("{}({list})", path_to(&function.module, &name)),
            (Some(_), By::Nothing, _) | (Some(_), _, Some(_)) => match *instance == subject {
                true => format!("Subject::{name}({list})"),
                false => format!("{}::{name}({list})", path_to(&adt.module, &adt.name)),
            },
            _ => format!("@.{name}({list})"),
        };
        Some(Call {
            key,
            by,
            expression,
            result,
        })
    }

    fn calls_of(&mut self, instance: &Instance, by: By) -> Vec<Call> {
        let api = self.api;
        let functions = &api.types[instance.adt].functions;
        let calls = functions.iter().filter_map(|f| self.call(f, instance));
        let mut calls: Vec<Call> = calls.collect();
        calls.retain(|call| call.by == by);
        if by == By::Mut && self.has(instance, "Iterator") {
            let traits = &api.types[instance.adt].traits;
            let item = traits.iter().find(|t| t.name == "Iterator");
            let item = item.and_then(|t| {
                let (_, ty) = t.types.iter().find(|(name, _)| name == "Item")?;
                Some(inside(api, &t.of, instance).shape(ty))
            });
            calls.push(Call {
                key: Rc::from(format!("{}: Iterator", api.types[instance.adt].name)),
                by,
                expression: "@.next()".to_owned(),
                result: Shape::Option(Rc::new(item.unwrap_or(Shape::Unit))),
            });
        }
        calls
    }

    pub fn target(&self, instance: &Instance) -> Option<Shape> {
        let traits = &self.api.types[instance.adt].traits;
        let deref = traits.iter().find(|t| t.name == "Deref")?;
        let (_, ty) = deref.types.iter().find(|(name, _)| name == "Target")?;
        Some(inside(self.api, &deref.of, instance).shape(ty))
    }

    pub fn note(&mut self, call: &Call) {
        self.called.insert(call.key.to_string(), call.by);
    }

    /// What can be done with a reference.
    fn with_reference(
        &mut self,
        mutable: bool,
        shape: &Shape,
        to: &str,
        depth: usize,
    ) -> Vec<Block> {
        let mut blocks = Vec::new();
        match shape {
            Shape::Token | Shape::Number | Shape::Bool => {
                blocks.push(vec![line(format!("look({to});"))]);
                if mutable && let Ok(value) = made(self.api, shape, None) {
                    blocks.push(vec![line(format!("*({to}) = {value};"))]);
                }
            }
            Shape::Wrapped("std::cell::Cell::new", inner) => {
                blocks.push(vec![line(format!("let _seen = ({to}).get();"))]);
                if let Ok(value) = made(self.api, inner, None) {
                    blocks.push(vec![line(format!("({to}).set({value});"))]);
                }
            }
            Shape::Wrapped(_, inner) => {
                let through = match mutable {
                    true => format!("&mut **({to})"),
                    false => format!("&**({to})"),
                };
                blocks.extend(self.with_reference(mutable, inner, &through, depth));
            }
            Shape::Local(instance) => {
                let value = format!("(*({to}))");
                blocks.extend(self.with_value(instance, &value, mutable, depth));
            }
            _ => {}
        }
        blocks
    }

    /// What can be done with a value of a type of the crate, without consuming it.
    fn with_value(
        &mut self,
        instance: &Instance,
        value: &str,
        mutable: bool,
        depth: usize,
    ) -> Vec<Block> {
        let mut blocks = Vec::new();
        if depth > 2 {
            return blocks;
        }
        let mut calls = self.calls_of(instance, By::Shared);
        if mutable {
            calls.extend(self.calls_of(instance, By::Mut));
        }
        for call in calls {
            self.note(&call);
            blocks.push(self.called_with(&call, value, depth));
        }
        if let Some(target) = self.target(instance) {
            let name = self.adt_name(instance);
            let writes = mutable && self.has(instance, "DerefMut");
            let to = match writes {
                true => format!("&mut *{value}"),
                false => format!("&*{value}"),
            };
            let key: Rc<str> = Rc::from(format!("{name}: Deref"));
            if !self.refused.contains_key(&*key) {
                for mut block in self.with_reference(writes, &target, &to, depth + 1) {
                    for line in &mut block {
                        line.key.get_or_insert(key.clone());
                    }
                    blocks.push(block);
                }
            }
        }
        blocks
    }

    /// A call, and what is done with its result.
    fn called_with(&mut self, call: &Call, value: &str, depth: usize) -> Block {
        let expression = call.expression.replace('@', value);
        let mut block = vec![keyed(format!("let mut got = {expression};"), &call.key)];
        let key = call.key.clone();
        let mut used = self.used(&call.result, "got", depth + 1);
        for line in &mut used {
            line.key.get_or_insert(key.clone());
        }
        block.extend(used);
        block
    }

    /// Uses a value, and lets it go.
    fn used(&mut self, shape: &Shape, value: &str, depth: usize) -> Block {
        if depth > 3 {
            return Vec::new();
        }
        let inner = format!("{value}_");
        match shape {
            Shape::Option(shape) => {
                let block = self.used(shape, &inner, depth);
                match block.is_empty() {
                    true => block,
                    false => braces(
                        &format!("if let Some(mut {inner}) = {value} {{"),
                        block,
                        "}",
                    ),
                }
            }
            Shape::Result(shape) => {
                let block = self.used(shape, &inner, depth);
                match block.is_empty() {
                    true => block,
                    false => braces(&format!("if let Ok(mut {inner}) = {value} {{"), block, "}"),
                }
            }
            Shape::Ref(mutable, shape) => {
                let blocks = self.with_reference(*mutable, shape, value, depth);
                match blocks.is_empty() {
                    true => Vec::new(),
                    false => choice(blocks, "{}"),
                }
            }
            Shape::Local(instance) => {
                let blocks = self.with_value(instance, value, true, depth);
                let mut all = match (blocks.is_empty(), depth) {
                    (true, _) => Vec::new(),
                    (false, 0 | 1) => braces("loop {", choice(blocks, "break"), "}"),
                    (false, _) => choice(blocks, "{}"),
                };
                all.extend(self.consumed(instance, value, depth, false));
                all
            }
            _ => Vec::new(),
        }
    }

    /// The end of a value: dropped, or given to a function that takes it.
    fn consumed(&mut self, instance: &Instance, value: &str, depth: usize, free: bool) -> Block {
        let mut ends = Vec::new();
        if depth < 3 {
            for call in self.calls_of(instance, By::Value) {
                self.note(&call);
                ends.push(self.called_with(&call, value, depth + 1));
            }
        }
        if free {
            ends.push(vec![line(format!("std::mem::forget({value});"))]);
        }
        match ends.is_empty() {
            true => vec![line(format!("drop({value});"))],
            false => choice(ends, &format!("drop({value})")),
        }
    }

    /// The body of a thread that uses these.
    fn body(&mut self, parts: &[(String, Instance)], owned: bool, free: bool) -> Block {
        let mut arms: Vec<Block> = Vec::new();
        let mut before = Vec::new();
        let mut groups: Vec<(Instance, Vec<(Call, String)>)> = Vec::new();
        for (name, instance) in parts {
            let value = match owned {
                true => name.clone(),
                false => format!("(*{name})"),
            };
            let mut calls = self.calls_of(instance, By::Shared);
            if owned {
                calls.extend(self.calls_of(instance, By::Mut));
            }
            for call in calls {
                self.note(&call);
                match payload(&call.result) {
                    // Of those that give the same, one is called, and the rest is the same for all.
                    Some(given) if given.adt != instance.adt && call.by == By::Shared => {
                        let found = groups.iter_mut().find(|(known, _)| known == given);
                        match found {
                            Some((_, calls)) => calls.push((call, value.clone())),
                            None => groups.push((given.clone(), vec![(call, value.clone())])),
                        }
                    }
                    _ => {
                        let block = self.called_with(&call, &value, 1);
                        arms.push(block);
                    }
                }
            }
            if let Some(target) = self.target(instance) {
                let key: Rc<str> = Rc::from(format!("{}: Deref", self.adt_name(instance)));
                let to = format!("&*{value}");
                for mut block in self.with_reference(false, &target, &to, 1) {
                    for line in &mut block {
                        line.key.get_or_insert(key.clone());
                    }
                    arms.push(block);
                }
            }
            if owned && self.has(instance, "Clone") {
                let key: Rc<str> = Rc::from(format!("{}: Clone", self.adt_name(instance)));
                let mut block = vec![keyed(format!("let mut other = {name}.clone();"), &key)];
                let ends = vec![vec![keyed(format!("{name} = other;"), &key)]];
                block.extend(choice(ends, "drop(other)"));
                arms.push(block);
            }
        }
        for (at, (given, calls)) in groups.into_iter().enumerate() {
            let last = calls.len() - 1;
            let mut inner = Vec::new();
            for (number, (call, name)) in calls.iter().enumerate() {
                let expression = call.expression.replace('@', name);
                let option = as_option(&call.result, &expression);
                let arm = match number == last {
                    true => format!("_ => {option},"),
                    false => format!("{number} => {option},"),
                };
                inner.push(keyed(arm, &call.key));
            }
            let head = format!("let mut got = match pick({}) {{", calls.len());
            let mut take = braces(&head, inner, "};");
            let used = self.used(
                &Shape::Option(Rc::new(Shape::Local(given.clone()))),
                "got",
                0,
            );
            if !free {
                take.extend(used);
                arms.push(take);
                continue;
            }
            let held = format!("held_{at}");
            before.push(line(format!("let mut {held} = None;")));
            // A leak is the last thing that a thread does: others go on in its place, and counts stay small.
            let ends = vec![
                vec![line(format!("{held} = got;"))],
                vec![line("std::mem::forget(got);"), line("break;")],
            ];
            let mut ends = choice(ends, "{");
            if let Some(open) = ends.iter().position(|l| l.text == "_ => {,") {
                ends[open].text = "_ => {".to_owned();
                let depth = ends[open].depth + 1;
                let mut used = used;
                used.iter_mut().for_each(|l| l.depth += depth);
                used.push(Line {
                    depth: depth - 1,
                    ..line("}")
                });
                ends.splice(open + 1..open + 1, used);
            }
            take.extend(ends);
            arms.push(take);
            let steps = self.with_value(&given, "(*kept)", true, 1);
            if !steps.is_empty() {
                let head = format!("if let Some(kept) = {held}.as_mut() {{");
                arms.push(braces(&head, choice(steps, "{}"), "}"));
            }
            arms.push(vec![line(format!("{held} = None;"))]);
        }
        let (head, count) = match self.calls {
            None => ("loop {".to_owned(), None),
            Some(most) => {
                before.push(line("let mut calls = 0;"));
                (
                    format!("while calls < {most} {{"),
                    Some(line("calls += 1;")),
                )
            }
        };
        let mut inner: Block = count.into_iter().collect();
        inner.extend(choice(arms, "break"));
        let mut all = before;
        all.extend(braces(&head, inner, "}"));
        if owned {
            for (name, instance) in parts {
                all.extend(self.consumed(instance, name, 0, free));
            }
        }
        all
    }

    /// The ways to come to values of the type.
    pub fn openings(&mut self) -> Vec<Opening> {
        let api = self.api;
        let subject = self.subject.clone();
        let adt = &api.types[subject.adt];
        let mut openings = Vec::new();
        let free: Vec<&Function> = api.functions.iter().collect();
        let functions = adt.functions.iter().chain(free);
        for function in functions {
            let module = function.of.is_none();
            if module && !self.makes_subject(function) {
                continue;
            }
            let Some(call) = self.call(function, &subject) else {
                continue;
            };
            if call.by != By::Nothing {
                continue;
            }
            if let Some(opening) = self.opening(&call) {
                openings.push(opening);
            }
        }
        if openings.is_empty() && self.has(&subject, "Default") {
            let call = Call {
                key: Rc::from(format!("{}: Default", adt.name)),
                by: By::Nothing,
                expression: "<Subject as Default>::default()".to_owned(),
                result: Shape::Local(subject.clone()),
            };
            openings.extend(self.opening(&call));
        }
        openings.extend(self.splits(&openings));
        openings
    }

    fn makes_subject(&self, function: &'a Function) -> bool {
        let syn::ReturnType::Type(_, ty) = &function.sig.output else {
            return false;
        };
        let scope = self.scope(function, None);
        fn contains(shape: &Shape, adt: usize) -> bool {
            match shape {
                Shape::Local(instance) => instance.adt == adt,
                Shape::Tuple(all) => all.iter().any(|shape| contains(shape, adt)),
                Shape::Option(inner) | Shape::Result(inner) => contains(inner, adt),
                _ => false,
            }
        }
        contains(&scope.shape(ty), self.subject.adt)
    }

    /// The values that a call gives, by name.
    fn opening(&mut self, call: &Call) -> Option<Opening> {
        let own = self.subject.clone();
        let mut shape = &call.result;
        let mut expression = call.expression.clone();
        while let Shape::Option(inner) | Shape::Result(inner) = shape {
            expression.push_str(".unwrap()");
            shape = inner;
        }
        let mut setup = Vec::new();
        let mut parts = Vec::new();
        match shape {
            Shape::Local(instance) if instance.adt == own.adt => {
                let text = format!("let mut subject: Subject = {expression};");
                setup.push(keyed(text, &call.key));
                parts.push(("subject".to_owned(), own));
            }
            Shape::Tuple(shapes) => {
                let mut names = Vec::new();
                for (at, shape) in shapes.iter().enumerate() {
                    match shape {
                        Shape::Local(instance) => {
                            names.push(format!("mut part_{at}"));
                            parts.push((format!("part_{at}"), instance.clone()));
                        }
                        _ => names.push("_".to_owned()),
                    }
                }
                let text = format!("let ({}) = {expression};", names.join(", "));
                setup.push(keyed(text, &call.key));
                let (name, _) = parts.iter().find(|(_, i)| i.adt == own.adt)?;
                setup.push(keyed(format!("let _: &Subject = &{name};"), &call.key));
            }
            _ => return None,
        }
        Some(Opening {
            key: call.key.clone(),
            setup,
            parts,
        })
    }

    /// Values that are taken apart into several, which threads then have.
    fn splits(&mut self, openings: &[Opening]) -> Vec<Opening> {
        let subject = self.subject.clone();
        let mut found = Vec::new();
        for by in [By::Shared, By::Mut, By::Value] {
            for call in self.calls_of(&subject, by) {
                let mut shape = &call.result;
                let mut expression = call.expression.replace('@', "subject");
                while let Shape::Option(inner) | Shape::Result(inner) = shape {
                    expression.push_str(".ok().unwrap()");
                    if matches!(shape, Shape::Option(_)) {
                        expression = call.expression.replace('@', "subject") + ".unwrap()";
                    }
                    shape = inner;
                }
                let Shape::Tuple(shapes) = shape else {
                    continue;
                };
                let local = |shape: &Shape| match shape {
                    Shape::Local(instance) => Some(instance.clone()),
                    _ => None,
                };
                let Some(instances) = shapes.iter().map(local).collect::<Option<Vec<_>>>() else {
                    continue;
                };
                let first = openings.iter().find(|o| o.parts.len() == 1);
                let Some(first) = first else { continue };
                let names: Vec<String> = (0..instances.len())
                    .map(|at| format!("mut part_{at}"))
                    .collect();
                let mut setup = first.setup.clone();
                let text = format!("let ({}) = {expression};", names.join(", "));
                setup.push(keyed(text, &call.key));
                let parts = instances
                    .into_iter()
                    .enumerate()
                    .map(|(at, instance)| (format!("part_{at}"), instance));
                self.note(&call);
                found.push(Opening {
                    key: call.key.clone(),
                    setup,
                    parts: parts.collect(),
                });
            }
        }
        found
    }

    pub fn head(&self) -> Block {
        let mut all: Block = HEADER.lines().map(line).collect();
        all.push(line(format!("type Subject = {};", self.subject_type)));
        all
    }

    /// The questions that the compiler answers: which types may be shared, sent, cloned.
    pub fn facts(&mut self) -> Vec<Line> {
        let mut all = self.head();
        let openings = self.openings();
        let mut number = 0;
        for opening in &openings {
            for (name, _) in &opening.parts {
                for what in ["sync", "send", "clone"] {
                    number += 1;
                    let mut block = opening.setup.clone();
                    let key: Rc<str> = Rc::from(fact(opening, name, what));
                    if self.refused.contains_key(&*key) {
                        continue;
                    }
                    block.push(keyed(format!("is_{what}(&{name});"), &key));
                    all.extend(braces(&format!("fn fact_{number}() {{"), block, "}"));
                }
            }
        }
        all
    }

    pub fn is(&self, opening: &Opening, part: &str, what: &str) -> bool {
        !self.refused.contains_key(&fact(opening, part, what))
    }

    /// The client itself.
    pub fn roots(&mut self) -> (Vec<Line>, Vec<Root>) {
        self.called.clear();
        let mut all = self.head();
        let mut roots = Vec::new();
        let mut seen = FxHashSet::default();
        let openings = self.openings();
        let split: Vec<Rc<str>> = openings
            .iter()
            .filter(|o| o.parts.len() > 1)
            .map(|o| o.key.clone())
            .collect();
        for opening in &openings {
            for owned in [false, true] {
                for free in [false, true] {
                    let Some((block, shared)) = self.root(opening, owned, free, &split) else {
                        continue;
                    };
                    let text: String = block.iter().map(|l| l.text.as_str()).collect();
                    if !seen.insert(text) {
                        continue;
                    }
                    let name = format!("client_{}", roots.len() + 1);
                    let head = format!("pub fn {name}() {{");
                    all.extend(braces(&head, block, "}"));
                    roots.push(Root { name, free, shared });
                }
            }
        }
        (all, roots)
    }

    /// A function that makes the values, starts the threads, and ends: `owned` says whether threads have values of their own where they can.
    fn root(
        &mut self,
        opening: &Opening,
        owned: bool,
        free: bool,
        split: &[Rc<str>],
    ) -> Option<(Block, bool)> {
        let single = opening.parts.len() == 1;
        let mut shared = Vec::new();
        let mut cloned = Vec::new();
        let mut alone = Vec::new();
        for (name, instance) in &opening.parts {
            let is = |what| self.is(opening, name, what);
            let (sync, send, clone) = (is("sync"), is("send"), is("clone"));
            let takes = |w: &mut Self, by| !w.calls_of(instance, by).is_empty();
            let by_reference = takes(self, By::Shared) || self.target(instance).is_some();
            let own_only = takes(self, By::Mut) || takes(self, By::Value);
            let part = (name.clone(), instance.clone());
            if owned && send && clone {
                cloned.push(part);
            } else if sync && by_reference && !(owned && !single && own_only && send) {
                shared.push(part);
            } else if send && clone {
                cloned.push(part);
            } else if send && !single {
                alone.push(part);
            }
        }
        if shared.is_empty() && cloned.is_empty() && alone.is_empty() {
            return None;
        }
        let mut block = opening.setup.clone();
        // What needs the value alone, before the threads and after them.
        let mut exclusive = Vec::new();
        if single && !free && cloned.is_empty() {
            let (name, instance) = &opening.parts[0];
            for call in self.calls_of(instance, By::Mut) {
                if !split.contains(&call.key) {
                    self.note(&call);
                    exclusive.push(self.called_with(&call, name, 1));
                }
            }
        }
        let phase = match (exclusive.is_empty(), self.calls) {
            (true, _) => Vec::new(),
            (false, None) => braces("loop {", choice(exclusive, "break"), "}"),
            (false, Some(_)) => choice(exclusive, "{}"),
        };
        block.extend(phase.clone());
        let mut threads = Vec::new();
        if !shared.is_empty() {
            for (name, _) in &shared {
                threads.push(line(format!("let {name} = &{name};")));
            }
            let body = self.body(&shared, false, free);
            threads.extend(braces("let client = move || {", body, "};"));
            for _ in 0..self.threads {
                threads.push(line("scope.spawn(client);"));
            }
        }
        for (name, instance) in cloned.iter().chain(&alone) {
            let several = cloned.iter().any(|(other, _)| other == name);
            let part = [(name.clone(), instance.clone())];
            let body = self.body(&part, true, free);
            let head = format!("let owner = same_type(&{name}, |mut {name}| {{");
            threads.extend(braces(&head, body, "});"));
            for _ in 1..if several { self.threads } else { 1 } {
                threads.push(line(format!("let other = {name}.clone();")));
                threads.push(line("scope.spawn(move || owner(other));"));
            }
            threads.push(line(format!("scope.spawn(move || owner({name}));")));
        }
        block.extend(braces("std::thread::scope(|scope| {", threads, "});"));
        if single && cloned.is_empty() {
            block.extend(phase);
            let (name, instance) = &opening.parts[0];
            match free {
                true => block.push(line(format!("std::mem::forget({name});"))),
                false => block.extend(self.consumed(instance, name, 0, false)),
            }
        }
        Some((block, cloned.is_empty() && alone.is_empty()))
    }
}

fn fact(opening: &Opening, part: &str, what: &str) -> String {
    format!("{} {part} is {what}", opening.key)
}

/// The text of lines.
pub fn text(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(&"    ".repeat(line.depth));
        text.push_str(&line.text);
        text.push('\n');
    }
    text
}
