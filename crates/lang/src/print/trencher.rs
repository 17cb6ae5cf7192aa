//! Trencher's automata.
//!
//! The format knows loads, stores, full fences, a lock and integers as addresses. Read-modify-writes become blocks under the lock; an
//! assertion becomes a choice between going on and stopping, and so does everything else that could be an error of the program. What waits
//! silently (`wait`, `bcas`) cannot be said: in this format every look at memory is an event.

use std::collections::HashSet;
use std::fmt::Write;

use crate::expr::{BinaryOp, Expr, UnaryOp, Value};
use crate::program::{
    Address, Copies, CopyNaming, Op, Order, PointId, Program, RegisterExpr, RegisterId, RmwAction,
    Thread, Transition,
};

/// Prints a program as Trencher's automata; where that cannot be done, why not.
pub fn to_trencher(program: &Program) -> Result<String, String> {
    if let Some(location) = program.locations.iter().find(|l| l.initial != 0) {
        return Err(format!(
            "`{}` begins as {}, but Trencher's memory begins as 0",
            location.name, location.initial
        ));
    }
    let mut out = String::new();
    if let Some(size) = program.domain.size() {
        let _ = writeln!(
            out,
            "# Values are taken modulo {size}: read this with --domain {size}"
        );
    }
    for never in &program.nevers {
        let text = one_line(program.source.slice(never.span));
        let _ = writeln!(out, "# {text}");
    }
    let named = program
        .locations
        .iter()
        .filter(|l| l.name != l.address.to_string());
    for location in named {
        let _ = writeln!(out, "# {} - {}", location.address, one_line(&location.name));
    }
    let mut names = HashSet::new();
    for thread in &program.threads {
        let copies = match thread.copies {
            Copies::One => 1,
            Copies::Fixed(copies) => copies,
            Copies::Any => {
                return Err(format!(
                    "the thread `{}` has any number of copies, but Trencher needs to know how many",
                    thread.name
                ));
            }
        };
        // Copies that know their number, or are not called as Persist calls them, are threads of their own.
        let as_one = thread.me.is_none()
            && (thread.copies == Copies::One || thread.copy_naming == CopyNaming::Underscore);
        if as_one {
            let count = match thread.copies {
                Copies::Fixed(copies) => Some(copies),
                _ => None,
            };
            let name = fresh(&mut names, &word(&thread.name));
            print_thread(program, thread, &name, count, None, &mut out)?;
            continue;
        }
        for copy in 0..copies {
            let name = fresh(&mut names, &word(&thread.copy_name(copy)));
            print_thread(program, thread, &name, None, Some(copy), &mut out)?;
        }
    }
    Ok(out)
}

fn print_thread(
    program: &Program,
    thread: &Thread,
    name: &str,
    count: Option<u32>,
    copy: Option<u32>,
    out: &mut String,
) -> Result<(), String> {
    let mut states = HashSet::new();
    let mut point_names = Vec::with_capacity(thread.points.len());
    for (number, point) in thread.points.iter().enumerate() {
        let wanted = match &point.name {
            Some(name) => word(name),
            None => format!("q{number}"),
        };
        point_names.push(fresh(&mut states, &wanted));
    }
    let mut registers = HashSet::new();
    let mut register_names = Vec::with_capacity(thread.registers.len());
    for register in &thread.registers {
        let name = register.name.as_deref().unwrap_or("tmp");
        let name = match name.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$') {
            true => word(name),
            false => format!("r{}", word(name)),
        };
        register_names.push(fresh(&mut registers, &name));
    }
    let _ = match count {
        Some(count) => writeln!(out, "\nthread {name} {count}"),
        None => writeln!(out, "\nthread {name}"),
    };
    let mut printer = Printer {
        program,
        point_names,
        register_names,
        registers,
        states,
        failed: None,
        out,
    };
    let initial = printer.point_names[thread.behind_jumps(thread.initial).index()].clone();
    match (thread.me, copy) {
        (Some(me), Some(copy)) if copy > 0 => {
            let start = fresh(&mut printer.states, "start");
            let me = printer.register_names[me.index()].clone();
            let _ = writeln!(printer.out, "initial {start}");
            printer.line(&start, &initial, &format!("local {me} {copy}"));
        }
        _ => {
            let _ = writeln!(printer.out, "initial {initial}");
        }
    }
    for transition in &thread.transitions {
        if transition.op != Op::Jump {
            printer.transition(thread, transition)?;
        }
    }
    printer.out.push_str("end\n");
    Ok(())
}

struct Printer<'a> {
    program: &'a Program,
    point_names: Vec<String>,
    register_names: Vec<String>,
    registers: HashSet<String>,
    states: HashSet<String>,
    /// Where a thread goes that an error of the program stops.
    failed: Option<String>,
    out: &'a mut String,
}

impl Printer<'_> {
    fn line(&mut self, from: &str, to: &str, instruction: &str) {
        let _ = writeln!(self.out, "transition {from} {to} {instruction}");
    }

    /// One more instruction on the way; returns the state behind it.
    fn step(&mut self, from: &str, instruction: &str) -> String {
        let to = fresh(&mut self.states, &format!("{from}_"));
        self.line(from, &to, instruction);
        to
    }

    fn state(&self, point: PointId) -> String {
        self.point_names[point.index()].clone()
    }

    fn register(&self, register: RegisterId) -> String {
        self.register_names[register.index()].clone()
    }

    fn temporary(&mut self) -> String {
        fresh(&mut self.registers, "old")
    }

    /// Goes on where the condition holds, and stops otherwise. Returns the state behind it.
    fn guard(&mut self, from: &str, condition: &str) -> String {
        let failed = match &self.failed {
            Some(failed) => failed.clone(),
            None => {
                let failed = fresh(&mut self.states, "failed");
                self.failed = Some(failed.clone());
                failed
            }
        };
        self.line(from, &failed, &format!("check ! {condition}"));
        self.step(from, &format!("check {condition}"))
    }

    fn transition(&mut self, thread: &Thread, transition: &Transition) -> Result<(), String> {
        let mut from = self.state(transition.from);
        let to = self.state(thread.behind_jumps(transition.to));
        match &transition.op {
            Op::Jump => {}
            Op::Fence(Order::SeqCst) => self.line(&from, &to, "mfence"),
            Op::Skip | Op::Fence(_) => self.line(&from, &to, "noop"),
            Op::AtomicBegin => self.line(&from, &to, "lock"),
            Op::AtomicEnd => self.line(&from, &to, "unlock"),
            Op::Assign(register, value) => {
                let line = format!("local {} {}", self.register(*register), self.expr(value)?);
                self.line(&from, &to, &line);
            }
            Op::Assume(condition) => {
                let line = format!("check {}", self.expr(condition)?);
                self.line(&from, &to, &line);
            }
            Op::Assert(condition) => {
                let condition = self.expr(condition)?;
                let passed = self.guard(&from, &condition);
                self.line(&passed, &to, "noop");
            }
            Op::Load {
                register, address, ..
            } => {
                let address = self.address(&mut from, address)?;
                let line = format!("read {} {address}", self.register(*register));
                self.line(&from, &to, &line);
            }
            Op::Store {
                address,
                value,
                order,
            } => {
                let address = self.address(&mut from, address)?;
                let line = format!("write {} {address}", self.expr(value)?);
                match order {
                    // As compilers do on x86.
                    Order::SeqCst => {
                        let written = self.step(&from, &line);
                        self.line(&written, &to, "mfence");
                    }
                    _ => self.line(&from, &to, &line),
                }
            }
            Op::Rmw {
                register,
                address,
                action,
                ..
            } => {
                let address = self.address(&mut from, address)?;
                let was_atomic = thread.points[transition.from.index()].atomic;
                self.rmw(&from, &to, *register, &address, action, was_atomic)?;
            }
            Op::Wait { .. } => {
                return Err(format!(
                    "`{}` waits without an event, which Trencher's automata cannot say",
                    one_line(self.program.source.slice(transition.span))
                ));
            }
        }
        Ok(())
    }

    fn rmw(
        &mut self,
        from: &str,
        to: &str,
        register: Option<RegisterId>,
        address: &str,
        action: &RmwAction,
        was_atomic: bool,
    ) -> Result<(), String> {
        let old = self.temporary();
        let locked = match was_atomic {
            true => from.to_string(),
            false => self.step(from, "lock"),
        };
        let read = self.step(&locked, &format!("read {old} {address}"));
        let written = match action {
            RmwAction::BlockingCompareAndSwap { .. } => {
                return Err(
                    "`bcas` and `lock` wait without an event, which Trencher's automata cannot say"
                        .to_string(),
                );
            }
            RmwAction::CompareAndSwap {
                expected, desired, ..
            } => {
                let expected = self.expr(expected)?;
                let desired = self.expr(desired)?;
                let found = self.step(&read, &format!("check == {old} {expected}"));
                let written = self.step(&found, &format!("write {desired} {address}"));
                self.line(&read, &written, &format!("check != {old} {expected}"));
                written
            }
            RmwAction::Exchange(value) => {
                let value = self.expr(value)?;
                self.step(&read, &format!("write {value} {address}"))
            }
            RmwAction::Fetch(op, operand) => {
                let operand = self.expr(operand)?;
                let symbol = operator(*op)?;
                self.step(&read, &format!("write {symbol} {old} {operand} {address}"))
            }
        };
        let unlocked = match (was_atomic, register) {
            (true, _) => written,
            (false, None) => {
                self.line(&written, to, "unlock");
                return Ok(());
            }
            (false, Some(_)) => self.step(&written, "unlock"),
        };
        match register {
            Some(register) => {
                let register = self.register(register);
                self.line(&unlocked, to, &format!("local {register} {old}"));
            }
            None => self.line(&unlocked, to, "noop"),
        }
        Ok(())
    }

    /// An address; where it could be an error, `from` moves behind the test.
    fn address(
        &mut self,
        from: &mut String,
        address: &Address<RegisterId>,
    ) -> Result<String, String> {
        match address {
            Address::Direct(location) => Ok(self.program.location(*location).address.to_string()),
            Address::Element {
                first,
                length,
                index,
            } => {
                let first = self.program.location(*first).address;
                let index = self.expr(index)?;
                *from = self.guard(from, &format!("&& >= {index} 0 < {index} {length}"));
                Ok(match first {
                    0 => index,
                    _ => format!("+ {first} {index}"),
                })
            }
            Address::Pointer(pointer) => {
                let pointer = self.expr(pointer)?;
                // In an automaton, every integer is an address.
                if self.program.language != crate::program::Language::Trencher
                    && let (Some(first), Some(last)) = (
                        self.program.locations.first(),
                        self.program.locations.last(),
                    )
                {
                    let (first, last) = (first.address, last.address);
                    *from = self.guard(
                        from,
                        &format!("&& >= {pointer} {first} <= {pointer} {last}"),
                    );
                }
                Ok(pointer)
            }
        }
    }

    fn expr(&self, expr: &RegisterExpr) -> Result<String, String> {
        Ok(match expr {
            Expr::Const(value) => value.to_string(),
            Expr::Atom(register) => self.register(*register),
            Expr::Unary(UnaryOp::Not, operand) => format!("! {}", self.expr(operand)?),
            Expr::Unary(UnaryOp::Negate, operand) => format!("- 0 {}", self.expr(operand)?),
            Expr::Unary(UnaryOp::Complement, operand) => {
                format!("- - 0 {} 1", self.expr(operand)?)
            }
            Expr::Binary(op, left, right) => {
                let symbol = operator(*op)?;
                format!("{symbol} {} {}", self.expr(left)?, self.expr(right)?)
            }
            Expr::Element { first, index, .. } => format!("+ {first} {}", self.expr(index)?),
        })
    }
}

fn operator(op: BinaryOp) -> Result<&'static str, String> {
    match op {
        BinaryOp::Divide
        | BinaryOp::Remainder
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Min
        | BinaryOp::Max => Err(format!("Trencher's automata have no `{}`", op.symbol())),
        _ => Ok(op.symbol()),
    }
}

/// A name as one word of the format.
fn word(name: &str) -> String {
    let clean = |c: char| match c.is_whitespace() || c == '#' {
        true => '_',
        false => c,
    };
    name.chars().map(clean).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name that is not taken yet, and looks like `wanted`.
fn fresh(taken: &mut HashSet<String>, wanted: &str) -> String {
    let mut name = wanted.to_string();
    let mut number: Value = 1;
    while !taken.insert(name.clone()) {
        name = format!("{wanted}{number}");
        number += 1;
    }
    name
}
