//! One thread's code as a `proctype`.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use super::before::{Before, nowhere};
use super::steps::{self, ThreadStep, Visible};
use super::text::{self, Text, Unwritable};
use super::{Locations, Model, WatchKind, describe, points_of, type_for};
use palisade_lang::{
    Address, BinaryOp, Copies, Expr, Op, PointId, RegisterExpr, RegisterId, RmwAction, Thread,
    ThreadId, Transition, ranges,
};

/// Guards longer than this are not written: a stop is put before them.
pub(super) const MAX_GUARD: usize = 300;

/// Where a register lives.
#[derive(Clone)]
enum Home {
    /// In the process.
    Local(String),
    /// Only within a step.
    Hidden(String),
    /// Where a `never` sees it.
    Global(String),
    /// It is the copy's number.
    Copy,
}

/// A thread on its way to a `proctype`.
pub(super) struct Proctype {
    id: ThreadId,
    name: String,
    stops: BTreeSet<PointId>,
    steps: Vec<ThreadStep>,
    homes: Vec<Home>,
    live: HashMap<PointId, BTreeSet<RegisterId>>,
    watched: BTreeSet<RegisterId>,
    takes_copy: bool,
    stops_in_block: bool,
    /// The stops that can be reached.
    reached: BTreeSet<PointId>,
}

/// One way to leave a stop.
struct Alternative {
    guards: Vec<String>,
    body: Vec<String>,
    to: PointId,
    /// The text of the program that it comes from.
    comment: String,
}

/// Why a step cannot be written as it is.
enum Trouble {
    /// There must be a stop at this point.
    Stop(PointId),
    /// There is nothing to be done.
    Unwritable(String),
}

impl Proctype {
    pub(super) fn new(model: &mut Model<'_>, id: ThreadId) -> Result<Self, String> {
        let code = model.program.thread(id);
        let ats = model.ats.iter().filter(|a| a.thread == id);
        let points: BTreeSet<PointId> = ats
            .flat_map(|a| points_of(model.program, id, a.label))
            .collect();
        let globals = model.global_registers.iter().filter(|g| g.thread == id);
        let watched: BTreeSet<RegisterId> = globals.map(|g| g.register).collect();
        let reads_memory = |w: &super::Watch| match &w.locations {
            Locations::These(locations) => !locations.is_empty(),
            Locations::Any => true,
        };
        let visible = Visible {
            points: &points,
            registers: &watched,
            memory: model.watches.iter().any(reads_memory),
        };
        let wants_copy = code.copies != Copies::One
            && (code.me.is_some() || !points.is_empty() || !watched.is_empty());
        let mut proctype = Proctype {
            id,
            name: model.names.fresh(&code.name),
            stops: steps::first_stops(code, &visible),
            steps: Vec::new(),
            homes: Vec::new(),
            live: liveness(code),
            watched,
            takes_copy: wants_copy,
            stops_in_block: false,
            reached: BTreeSet::new(),
        };
        loop {
            match steps::enumerate(code, &proctype.stops) {
                Err(point) => {
                    if !proctype.stops.insert(point) {
                        return Err("this thread's steps cannot be told apart".to_string());
                    }
                    continue;
                }
                Ok(steps) => proctype.steps = steps,
            }
            proctype.settle(model, code);
            let mut trouble = None;
            for step in &proctype.steps {
                if let Err(found) = proctype.alternatives(model, step, false) {
                    trouble = Some(found);
                    break;
                }
            }
            match trouble {
                None => return Ok(proctype),
                Some(Trouble::Unwritable(why)) => return Err(why),
                Some(Trouble::Stop(point)) => {
                    if !proctype.stops.insert(point) {
                        return Err("this thread's steps cannot be told apart".to_string());
                    }
                }
            }
        }
    }

    /// When the steps are known: which stops are reached, and where registers live.
    fn settle(&mut self, model: &mut Model<'_>, code: &Thread) {
        self.reached = self.steps.iter().flat_map(|s| [s.from, s.to]).collect();
        self.reached.insert(code.behind_jumps(code.initial));
        let is_atomic = |p: &PointId| code.points[p.index()].atomic;
        self.stops_in_block = self.reached.iter().any(is_atomic);
        let mut live_somewhere: BTreeSet<RegisterId> = BTreeSet::new();
        for stop in &self.reached {
            live_somewhere.extend(&self.live[stop]);
        }
        let first_time = self.homes.is_empty();
        for (index, register) in code.registers.iter().enumerate() {
            let id = RegisterId(index as u32);
            let is_global = model
                .global_registers
                .iter()
                .find(|g| g.thread == self.id && g.register == id);
            let home = if code.me == Some(id) {
                Home::Copy
            } else if let Some(global) = is_global {
                Home::Global(match code.copies {
                    Copies::One => global.name.clone(),
                    _ => format!("{}[copy]", global.name),
                })
            } else {
                let name = match self.homes.get(index) {
                    Some(Home::Local(name) | Home::Hidden(name)) => name.clone(),
                    _ => {
                        // One hidden variable of a name would do for all threads, but names must not clash with locations.
                        let name = register.name.as_deref().unwrap_or("tmp");
                        model.names.fresh(name)
                    }
                };
                match live_somewhere.contains(&id) {
                    true => Home::Local(name),
                    false => Home::Hidden(name),
                }
            };
            match first_time {
                true => self.homes.push(home),
                false => self.homes[index] = home,
            }
        }
    }

    pub(super) fn id(&self) -> ThreadId {
        self.id
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn takes_copy(&self) -> bool {
        self.takes_copy
    }

    pub(super) fn stops_in_block(&self) -> bool {
        self.stops_in_block
    }

    pub(super) fn hidden(&self) -> impl Iterator<Item = &String> {
        self.homes.iter().filter_map(|home| match home {
            Home::Hidden(name) => Some(name),
            _ => None,
        })
    }

    pub(super) fn print(
        &self,
        model: &mut Model<'_>,
        uses_lock: bool,
        out: &mut String,
    ) -> Result<(), String> {
        let code = model.program.thread(self.id);
        let argument = if self.takes_copy { "byte copy" } else { "" };
        let _ = writeln!(out, "\nproctype {}({argument}) {{", self.name);
        for (index, home) in self.homes.iter().enumerate() {
            if let Home::Local(name) = home {
                let register = RegisterId(index as u32);
                let (least, largest) = model.register_range(self.id, register)?;
                let _ = writeln!(out, "  {} {name};", type_for(least, largest));
            }
        }
        let initial = code.behind_jumps(code.initial);
        let others = self.reached.iter().filter(|p| **p != initial);
        for stop in std::iter::once(&initial).chain(others) {
            let _ = writeln!(out, "{}:", self.label(model, *stop));
            if code.is_end(*stop) {
                out.push_str("  false;\n");
                continue;
            }
            let mut alternatives = Vec::new();
            let mut first_seen = BTreeSet::new();
            for step in self.steps.iter().filter(|s| s.from == *stop) {
                let with_errors = first_seen.insert(step.path[0]);
                let found = self.alternatives(model, step, with_errors);
                alternatives.extend(found.map_err(|trouble| match trouble {
                    Trouble::Unwritable(why) => why,
                    Trouble::Stop(_) => "this thread's steps cannot be told apart".to_string(),
                })?);
            }
            if uses_lock && !code.points[stop.index()].atomic {
                for alternative in &mut alternatives {
                    alternative.guards.insert(0, "!locked".to_string());
                }
            }
            if alternatives.is_empty() {
                out.push_str("  false;\n");
                continue;
            }
            self.print_alternatives(model, *stop, &alternatives, out);
        }
        out.push_str("}\n");
        Ok(())
    }

    fn print_alternatives(
        &self,
        model: &Model<'_>,
        stop: PointId,
        alternatives: &[Alternative],
        out: &mut String,
    ) {
        // SPIN refuses to jump to a `d_step` that stands alone.
        let is_one_statement = |a: &Alternative| {
            a.body.len() + usize::from(!a.guards.is_empty()) < 2
                && !a.body.iter().any(|s| is_compound(s))
        };
        let single = alternatives.len() == 1 && alternatives.iter().all(is_one_statement);
        if !single {
            out.push_str("  if\n");
        }
        for alternative in alternatives {
            let mut statements: Vec<String> = Vec::new();
            match alternative.guards.as_slice() {
                [] => {}
                [one] => statements.push(one.clone()),
                more => statements.push(format!("({})", more.join(" && "))),
            }
            statements.extend(alternative.body.iter().cloned());
            let text = match statements.as_slice() {
                // The verifier refuses a step that always leads nowhere, unless it looks like a condition.
                [] if alternative.to == stop => "(_pid >= 0)".to_string(),
                [] => "true".to_string(),
                [one] if !is_compound(one) => one.clone(),
                more => format!("d_step {{ {} }}", more.join("; ")),
            };
            let goto = self.label(model, alternative.to);
            let comment = match alternative.comment.is_empty() {
                true => String::new(),
                false => format!(" /* {} */", alternative.comment),
            };
            let _ = match single {
                true => writeln!(out, "  {text}; goto {goto};{comment}"),
                false => writeln!(out, "  :: {text} -> goto {goto}{comment}"),
            };
        }
        if !single {
            out.push_str("  fi;\n");
        }
    }

    fn label(&self, model: &Model<'_>, stop: PointId) -> String {
        let code = model.program.thread(self.id);
        let may_end = code.is_end(stop) || model.every_stop_may_end();
        let prefix = if may_end { "end_" } else { "s" };
        let point = &code.points[stop.index()];
        let labels = code.labels.iter().find(|l| l.points.contains(&stop));
        let name = point.name.as_deref().or(labels.map(|l| l.name.as_str()));
        let name: String = name
            .unwrap_or("")
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        match name.is_empty() {
            true => format!("{prefix}{}", stop.0),
            false => format!("{prefix}{}_{name}", stop.0),
        }
    }

    /// A step as text; with its own alternative for what can go wrong in its first instruction, where that is wanted.
    fn alternatives(
        &self,
        model: &mut Model<'_>,
        step: &ThreadStep,
        with_errors: bool,
    ) -> Result<Vec<Alternative>, Trouble> {
        let code = model.program.thread(self.id);
        let path: Vec<&Transition> = step.path.iter().map(|i| &code.transitions[*i]).collect();
        let well = self.op_goes_well(model, step.from, &path[0].op);
        let well = well.map_err(|u| Trouble::Unwritable(describe(u)))?;
        let comment = comment_of(model.program.source.slice(path[0].span));
        let mut found = Vec::new();
        if with_errors && let Some(well) = &well {
            found.push(Alternative {
                guards: vec![format!("!{well}")],
                body: vec!["assert(false)".to_string()],
                to: step.from,
                comment: format!("an error: {comment}"),
            });
        }
        let mut guards: Vec<String> = well.into_iter().collect();
        self.guards(model, &path, &mut guards)?;
        guards.retain(|guard| guard != "1");
        if guards.iter().any(|guard| guard == "0") {
            // This way is never taken.
            return Ok(found);
        }
        let mut body = self.body(model, step, &path)?;
        self.finish(model, step, &path, &mut body);
        found.push(Alternative {
            guards,
            body,
            to: step.to,
            comment,
        });
        Ok(found)
    }

    /// The text of a register in the process.
    pub(super) fn register(
        &self,
        model: &Model<'_>,
        register: RegisterId,
    ) -> Result<Text, Unwritable> {
        let range = model.register_range(self.id, register);
        let range = range.map_err(Unwritable::Anywhere)?;
        Ok(match &self.homes[register.index()] {
            Home::Local(name) | Home::Hidden(name) | Home::Global(name) => {
                Text::new(name.clone(), range)
            }
            Home::Copy if self.takes_copy => Text::new("copy", range),
            Home::Copy => Text::new("0", (0, 0)),
        })
    }

    /// The same at a stop, where more may be known.
    fn register_at(
        &self,
        model: &Model<'_>,
        stop: PointId,
        register: RegisterId,
    ) -> Result<Text, Unwritable> {
        let mut text = self.register(model, register)?;
        let here = model.ranges.register_at(self.id, stop, register);
        if let Some((least, largest)) = ranges::meet((text.least, text.largest), here) {
            (text.least, text.largest) = (least, largest);
        }
        Ok(text)
    }

    fn expr(&self, model: &Model<'_>, expr: &RegisterExpr) -> Result<Text, Unwritable> {
        text::expr(model.program.domain, expr, &mut |r| {
            self.register(model, *r)
        })
    }

    fn reduced(&self, model: &Model<'_>, expr: &RegisterExpr) -> Result<Text, Unwritable> {
        text::reduce(model.program.domain, self.expr(model, expr)?)
    }

    /// What an address means.
    fn place(&self, model: &Model<'_>, address: &Address<RegisterId>) -> Result<Text, Unwritable> {
        Ok(match address {
            Address::Direct(location) => model.layout.location(*location),
            Address::Element { first, index, .. } => {
                model.layout.element(*first, &self.expr(model, index)?)
            }
            Address::Pointer(pointer) => {
                let pointer = self.expr(model, pointer)?;
                model.layout.pointer(&pointer).unwrap_or_else(nowhere)
            }
        })
    }

    /// The condition under which an instruction is no error of the program.
    fn op_goes_well(
        &self,
        model: &mut Model<'_>,
        from: PointId,
        op: &Op,
    ) -> Result<Option<String>, Unwritable> {
        let domain = model.program.domain;
        let mut conditions = Vec::new();
        let (address, is_plain) = (op.address(), op.is_plain());
        let well = |model: &Model<'_>, expr: &RegisterExpr| {
            let register = &mut |r: &RegisterId| self.register_at(model, from, *r);
            text::goes_well(domain, expr, register, &mut |_| Ok(None))
        };
        match address {
            Some(Address::Element { length, index, .. }) => {
                conditions.push(well(model, index)?);
                let index = text::expr(domain, index, &mut |r| self.register_at(model, from, *r))?;
                conditions.push(text::index_goes_well(&index, *length));
            }
            Some(Address::Pointer(pointer)) => {
                conditions.push(well(model, pointer)?);
                let known = model.analysis.value(self.id, pointer);
                let locations = model.program.locations.iter();
                let allowed = locations.filter(|l| is_plain || !l.nonatomic);
                let allowed = allowed.map(|l| l.address).collect();
                let pointer =
                    text::expr(domain, pointer, &mut |r| self.register_at(model, from, *r))?;
                conditions.push(model.layout.pointer_goes_well(&pointer, &known, allowed));
            }
            Some(Address::Direct(_)) | None => {}
        }
        match op {
            Op::Assign(_, e) | Op::Assume(e) | Op::Assert(e) => conditions.push(well(model, e)?),
            Op::Store { value, .. } | Op::Wait { value, .. } => {
                conditions.push(well(model, value)?)
            }
            Op::Rmw { action, .. } => match action {
                RmwAction::CompareAndSwap {
                    expected, desired, ..
                }
                | RmwAction::BlockingCompareAndSwap { expected, desired } => {
                    conditions.push(well(model, expected)?);
                    conditions.push(well(model, desired)?);
                }
                RmwAction::Exchange(value) => conditions.push(well(model, value)?),
                RmwAction::Fetch(op, operand) => {
                    conditions.push(well(model, operand)?);
                    if matches!(op, BinaryOp::Divide | BinaryOp::Remainder) {
                        let divisor = self.expr(model, operand)?;
                        conditions.push(Some(format!("({} != 0)", divisor.text)));
                    }
                }
            },
            _ => {}
        }
        Ok(text::all(conditions))
    }

    /// The conditions along the path, in terms of what is known before the step.
    fn guards(
        &self,
        model: &Model<'_>,
        path: &[&Transition],
        guards: &mut Vec<String>,
    ) -> Result<(), Trouble> {
        let mut before = Before::new(self, model);
        for (number, transition) in path.iter().enumerate() {
            let result = before.run(&transition.op);
            let guard = match result {
                Ok(guard) => guard,
                Err(Unwritable::Here) => return Err(Trouble::Stop(transition.from)),
                Err(Unwritable::Anywhere(why)) => return Err(Trouble::Unwritable(why)),
            };
            let Some(guard) = guard else { continue };
            if number > 0 && guard.len() > MAX_GUARD {
                return Err(Trouble::Stop(transition.from));
            }
            guards.push(guard);
        }
        Ok(())
    }

    /// What the step does, one statement after the other.
    fn body(
        &self,
        model: &Model<'_>,
        step: &ThreadStep,
        path: &[&Transition],
    ) -> Result<Vec<String>, Trouble> {
        // What is set but not needed later need not be set.
        let mut live = self.live[&step.to].clone();
        live.extend(&self.watched);
        let mut needed = vec![false; path.len()];
        for (number, transition) in path.iter().enumerate().rev() {
            let sets = set_register(&transition.op);
            needed[number] = sets.is_some_and(|r| live.contains(&r));
            if let Some(register) = sets {
                live.remove(&register);
            }
            let has_effect = match &transition.op {
                Op::Assign(..) | Op::Load { .. } | Op::Wait { .. } => needed[number],
                Op::Assume(_) => false,
                _ => true,
            };
            if has_effect {
                transition.op.for_each_register(&mut |r| {
                    live.insert(r);
                });
            }
        }
        let mut body = Vec::new();
        for (transition, needed) in path.iter().zip(needed) {
            self.statement(model, &transition.op, needed, &mut body)
                .map_err(|unwritable| match unwritable {
                    Unwritable::Here => Trouble::Stop(transition.from),
                    Unwritable::Anywhere(why) => Trouble::Unwritable(why),
                })?;
        }
        Ok(body)
    }

    fn statement(
        &self,
        model: &Model<'_>,
        op: &Op,
        needed: bool,
        body: &mut Vec<String>,
    ) -> Result<(), Unwritable> {
        let mut assign = |to: &str, value: &str| {
            if to != value {
                body.push(format!("{to} = {value}"));
            }
        };
        match op {
            Op::Assign(register, value) if needed => {
                let value = self.reduced(model, value)?;
                assign(&self.register(model, *register)?.text, &value.text);
            }
            Op::Load {
                register, address, ..
            } if needed => {
                let place = self.place(model, address)?;
                assign(&self.register(model, *register)?.text, &place.text);
            }
            Op::Wait {
                register: Some(register),
                address,
                ..
            } if needed => {
                let place = self.place(model, address)?;
                assign(&self.register(model, *register)?.text, &place.text);
            }
            Op::Store { address, value, .. } => {
                let value = self.reduced(model, value)?;
                assign(&self.place(model, address)?.text, &value.text);
            }
            Op::Assert(condition) => {
                let condition = self.expr(model, condition)?.text;
                body.push(format!("assert({condition})"));
            }
            Op::Rmw {
                register,
                address,
                action,
                ..
            } => {
                let place = self.place(model, address)?;
                let register = match register {
                    Some(register) if needed => Some((*register, self.register(model, *register)?)),
                    _ => None,
                };
                self.rmw(model, &place, register, op, action, body)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn rmw(
        &self,
        model: &Model<'_>,
        place: &Text,
        register: Option<(RegisterId, Text)>,
        op: &Op,
        action: &RmwAction,
        body: &mut Vec<String>,
    ) -> Result<(), Unwritable> {
        let target = &place.text;
        // The old value is kept where the operands or the address need the register that receives it.
        let mut reads_register = false;
        op.for_each_register(&mut |r| {
            reads_register |= register.as_ref().is_some_and(|(id, _)| *id == r);
        });
        let write = match action {
            RmwAction::CompareAndSwap {
                expected, desired, ..
            } => {
                let expected = self.expr(model, expected)?.text;
                let desired = self.reduced(model, desired)?.text;
                format!("if :: ({target} == {expected}) -> {target} = {desired} :: else fi")
            }
            RmwAction::BlockingCompareAndSwap { desired, .. } | RmwAction::Exchange(desired) => {
                format!("{target} = {}", self.reduced(model, desired)?.text)
            }
            RmwAction::Fetch(op, operand) => {
                let new = self.fetched(model, place, *op, operand)?;
                format!("{target} = {}", new.text)
            }
        };
        match register {
            None => body.push(write),
            Some((_, register)) if !reads_register => {
                body.push(format!("{} = {target}", register.text));
                body.push(write);
            }
            Some((_, register)) => {
                body.push(format!("old = {target}"));
                body.push(write);
                body.push(format!("{} = old", register.text));
            }
        }
        Ok(())
    }

    fn fetched(
        &self,
        model: &Model<'_>,
        old: &Text,
        op: BinaryOp,
        operand: &RegisterExpr,
    ) -> Result<Text, Unwritable> {
        // The old value is an atom among registers.
        let operand = operand.map_atoms(&mut |r| Expr::Atom(Some(*r)));
        let expr = Expr::binary(op, Expr::Atom(None), operand);
        let new = text::expr(model.program.domain, &expr, &mut |atom| match atom {
            None => Ok(old.clone()),
            Some(register) => self.register(model, *register),
        })?;
        text::reduce(model.program.domain, new)
    }

    /// Dead registers, the lock, where the thread stands, and what must never be.
    fn finish(
        &self,
        model: &Model<'_>,
        step: &ThreadStep,
        path: &[&Transition],
        body: &mut Vec<String>,
    ) {
        let code = model.program.thread(self.id);
        let live = &self.live[&step.to];
        let set: BTreeSet<RegisterId> = path.iter().filter_map(|t| set_register(&t.op)).collect();
        for (index, home) in self.homes.iter().enumerate() {
            let register = RegisterId(index as u32);
            let Home::Local(name) = home else { continue };
            let was_there = self.live[&step.from].contains(&register);
            let is_set = body.iter().any(|s| s.starts_with(&format!("{name} = ")));
            if !live.contains(&register) && (was_there || is_set) {
                body.push(format!("{name} = 0"));
            }
        }
        let (from_block, to_block) = (
            code.points[step.from.index()].atomic,
            code.points[step.to.index()].atomic,
        );
        match (from_block, to_block) {
            (false, true) => body.push("locked = 1".to_string()),
            (true, false) => body.push("locked = 0".to_string()),
            _ => {}
        }
        let mut moved = Vec::new();
        for at in model.ats.iter().filter(|a| a.thread == self.id) {
            let points = points_of(model.program, self.id, at.label);
            let (was, is) = (points.contains(&step.from), points.contains(&step.to));
            if was != is {
                let name = match code.copies {
                    Copies::One => at.name.clone(),
                    _ => format!("{}[copy]", at.name),
                };
                body.push(format!("{name} = {}", u8::from(is)));
                moved.push(at.label);
            }
        }
        for watch in &model.watches {
            let touched = watch
                .labels
                .iter()
                .any(|(thread, label)| *thread == self.id && moved.contains(label))
                || watch
                    .registers
                    .iter()
                    .any(|(thread, register)| *thread == self.id && set.contains(register))
                || path.iter().any(|t| writes(&t.op, &watch.locations));
            if watch.kind == WatchKind::State && touched {
                body.push(format!("assert(!{})", watch.name));
            }
        }
    }
}

/// Whether a statement is more than one step by itself: a `cas` that writes or does not.
fn is_compound(statement: &str) -> bool {
    statement.starts_with("if ")
}

/// Whether an instruction may write one of these locations.
fn writes(op: &Op, locations: &Locations) -> bool {
    let (Op::Store { address, .. } | Op::Rmw { address, .. }) = op else {
        return false;
    };
    let Locations::These(locations) = locations else {
        return true;
    };
    match address {
        Address::Direct(location) => locations.contains(location),
        Address::Element { first, length, .. } => {
            let elements = first.0..first.0 + length;
            locations.iter().any(|l| elements.contains(&l.0))
        }
        Address::Pointer(_) => !locations.is_empty(),
    }
}

fn set_register(op: &Op) -> Option<RegisterId> {
    match op {
        Op::Assign(register, _) | Op::Load { register, .. } => Some(*register),
        Op::Rmw { register, .. } | Op::Wait { register, .. } => *register,
        _ => None,
    }
}

/// The beginning of a statement, as a comment.
fn comment_of(text: &str) -> String {
    let line = text.lines().next().unwrap_or("").trim();
    let words: Vec<&str> = line.split_whitespace().collect();
    let line = words.join(" ");
    let short: String = line.chars().take(60).collect();
    short
        .replace("*/", "* /")
        .replace("/*", "/ *")
        .replace('\\', "/")
}

/// The registers that each point may still need.
fn liveness(code: &Thread) -> HashMap<PointId, BTreeSet<RegisterId>> {
    let mut live: Vec<BTreeSet<RegisterId>> = vec![BTreeSet::new(); code.points.len()];
    let mut incoming: Vec<Vec<PointId>> = vec![Vec::new(); code.points.len()];
    for transition in &code.transitions {
        incoming[transition.to.index()].push(transition.from);
    }
    let mut todo: Vec<PointId> = (0..code.points.len() as u32).map(PointId).collect();
    while let Some(point) = todo.pop() {
        let mut before = BTreeSet::new();
        for transition in code.outgoing(point) {
            let mut needed = live[transition.to.index()].clone();
            if let Some(register) = set_register(&transition.op) {
                needed.remove(&register);
            }
            transition.op.for_each_register(&mut |r| {
                needed.insert(r);
            });
            before.append(&mut needed);
        }
        if before != live[point.index()] {
            live[point.index()] = before;
            todo.extend(&incoming[point.index()]);
        }
    }
    let points = (0..code.points.len() as u32).map(PointId);
    points.zip(live).collect()
}
