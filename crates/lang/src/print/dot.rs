//! Control-flow graphs for Graphviz.

use std::fmt::Write;

use crate::expr::Expr;
use crate::program::{
    Address, Copies, Op, Order, PointId, Program, RegisterExpr, RegisterId, RmwAction, Thread,
    Transition,
};

/// Prints the control-flow graphs of a program's threads, one cluster for each.
pub fn to_dot(program: &Program) -> String {
    let mut out = String::from(
        "digraph program {\n  graph [fontname=\"sans-serif\", rankdir=TB];\n  \
         node [shape=circle, fontname=\"sans-serif\", fontsize=10, width=0.3, height=0.3, margin=0.03];\n  \
         edge [fontname=\"monospace\", fontsize=10];\n",
    );
    for (number, thread) in program.threads.iter().enumerate() {
        let title = match thread.copies {
            Copies::One => thread.name.clone(),
            Copies::Fixed(copies) => format!("{}[{copies}]", thread.name),
            Copies::Any => format!("{}[*]", thread.name),
        };
        let _ = writeln!(out, "  subgraph cluster_{number} {{");
        let _ = writeln!(out, "    label=\"{}\"; color=gray;", escape(&title));
        print_thread(program, thread, number, &mut out);
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn print_thread(program: &Program, thread: &Thread, number: usize, out: &mut String) {
    // Jumps only join pieces: edges lead behind them.
    let initial = thread.behind_jumps(thread.initial);
    let mut reached = vec![false; thread.points.len()];
    let mut todo = vec![initial];
    reached[initial.index()] = true;
    while let Some(point) = todo.pop() {
        for transition in thread.outgoing(point) {
            let to = thread.behind_jumps(transition.to);
            if !std::mem::replace(&mut reached[to.index()], true) {
                todo.push(to);
            }
        }
    }
    let _ = writeln!(out, "    start_{number} [shape=point, width=0.1];");
    let _ = writeln!(out, "    start_{number} -> p{number}_{};", initial.0);
    for (index, point) in thread.points.iter().enumerate() {
        if !reached[index] {
            continue;
        }
        let id = PointId(index as u32);
        let labels: Vec<&str> = thread
            .labels
            .iter()
            .filter(|l| l.points.iter().any(|p| thread.behind_jumps(*p) == id))
            .map(|l| l.name.as_str())
            .collect();
        let name = match (&point.name, labels.is_empty()) {
            (Some(name), _) => name.clone(),
            (None, false) => labels.join(", "),
            (None, true) => index.to_string(),
        };
        let shape = if thread.is_end(id) {
            ", shape=doublecircle"
        } else {
            ""
        };
        let fill = if point.atomic {
            ", style=filled, fillcolor=lightgray"
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "    p{number}_{index} [label=\"{}\"{shape}{fill}];",
            escape(&name)
        );
    }
    for transition in &thread.transitions {
        if !reached[transition.from.index()] || transition.op == Op::Jump {
            continue;
        }
        let to = thread.behind_jumps(transition.to);
        let style = match touches_memory(&transition.op) {
            true => "",
            false => ", color=gray40, fontcolor=gray30",
        };
        let _ = writeln!(
            out,
            "    p{number}_{} -> p{number}_{} [label=\"{}\"{style}];",
            transition.from.0,
            to.0,
            escape(&instruction(program, thread, transition))
        );
    }
}

fn touches_memory(op: &Op) -> bool {
    matches!(
        op,
        Op::Load { .. }
            | Op::Store { .. }
            | Op::Rmw { .. }
            | Op::Wait { .. }
            | Op::Fence(_)
            | Op::AtomicBegin
            | Op::AtomicEnd
    )
}

/// An instruction in one line.
pub fn instruction(program: &Program, thread: &Thread, transition: &Transition) -> String {
    let register = |r: &RegisterId| register_name(thread, *r);
    let expr = |e: &RegisterExpr| expr_text(thread, e, 0);
    let place = |a: &Address<RegisterId>| match a {
        Address::Direct(location) => location_name(&program.location(*location).name),
        Address::Element { first, index, .. } => {
            let array = program
                .location(*first)
                .name
                .split('[')
                .next()
                .unwrap_or("");
            format!("{array}[{}]", expr(index))
        }
        Address::Pointer(pointer) => format!("[{}]", expr(pointer)),
    };
    let ordered = |order: &Order, usual: Order| match *order == usual {
        true => String::new(),
        false => format!(" ({})", order.name()),
    };
    match &transition.op {
        Op::Skip => "skip".to_string(),
        Op::Jump => String::new(),
        Op::Assign(r, value) => format!("{} = {}", register(r), expr(value)),
        Op::Assume(condition) => format!("[{}]", expr(condition)),
        Op::Assert(condition) => format!("assert {}", expr(condition)),
        Op::Load {
            register: r,
            address,
            order,
        } => format!(
            "{} = {}{}",
            register(r),
            place(address),
            ordered(order, Order::Acquire)
        ),
        Op::Store {
            address,
            value,
            order,
        } => format!(
            "{} = {}{}",
            place(address),
            expr(value),
            ordered(order, Order::Release)
        ),
        Op::Rmw {
            register: r,
            address,
            action,
            order,
        } => {
            let target = match r {
                Some(r) => format!("{} = ", register(r)),
                None => String::new(),
            };
            let place = place(address);
            let call = match action {
                RmwAction::CompareAndSwap {
                    expected,
                    desired,
                    failure,
                } => {
                    let usual = order.without_release();
                    let failure = match *failure == usual {
                        true => String::new(),
                        false => format!(", {} where it fails", failure.name()),
                    };
                    format!(
                        "cas({place}, {}, {}{failure})",
                        expr(expected),
                        expr(desired)
                    )
                }
                RmwAction::BlockingCompareAndSwap { expected, desired } => {
                    format!("bcas({place}, {}, {})", expr(expected), expr(desired))
                }
                RmwAction::Fetch(op, operand) => {
                    format!("fetch({place} {} {})", op.symbol(), expr(operand))
                }
                RmwAction::Exchange(value) => format!("xchg({place}, {})", expr(value)),
            };
            format!("{target}{call}{}", ordered(order, Order::AcqRel))
        }
        Op::Wait {
            address,
            relation,
            value,
            order,
            ..
        } => format!(
            "wait({} {} {}){}",
            place(address),
            relation.symbol(),
            expr(value),
            ordered(order, Order::Acquire)
        ),
        Op::Fence(order) => format!("fence{}", ordered(order, Order::SeqCst)),
        Op::AtomicBegin => "atomic {".to_string(),
        Op::AtomicEnd => "}".to_string(),
    }
}

/// Addresses are shown in brackets.
fn location_name(name: &str) -> String {
    match name.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        true => format!("[{name}]"),
        false => name.to_string(),
    }
}

fn register_name(thread: &Thread, register: RegisterId) -> String {
    match &thread.registers[register.index()].name {
        Some(name) => name.clone(),
        None => format!("r{}", register.0),
    }
}

/// An expression with as few parentheses as C needs.
fn expr_text(thread: &Thread, expr: &RegisterExpr, outer: u8) -> String {
    match expr {
        Expr::Const(value) => value.to_string(),
        Expr::Atom(register) => register_name(thread, *register),
        Expr::Unary(op, operand) => format!("{}{}", op.symbol(), expr_text(thread, operand, 20)),
        Expr::Binary(op, left, right) => {
            let precedence = op.precedence();
            let left = expr_text(thread, left, precedence);
            let right = expr_text(thread, right, precedence + 1);
            let text = format!("{left} {} {right}", op.symbol());
            match precedence < outer {
                true => format!("({text})"),
                false => text,
            }
        }
        Expr::Element {
            first: 0,
            length,
            index,
        } => format!("index({}, {length})", expr_text(thread, index, 0)),
        Expr::Element { first, index, .. } => {
            format!("&[{first} + {}]", expr_text(thread, index, 0))
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', " ")
}
