//! Which variables of a function must be in memory: those whose address is taken, and those that nothing sets, so that it is seen when they are used.

use crate::ast::*;
use std::collections::HashSet;
use std::rc::Rc;

/// What is found, by names. Names that several variables share count for all of them.
#[derive(Default)]
struct Found {
    /// Those whose address is taken.
    addressed: HashSet<Rc<str>>,
    /// Those that are declared without a value.
    bare: HashSet<Rc<str>>,
    /// Those that get a value later.
    set: HashSet<Rc<str>>,
}

/// Adds the names of all variables that must be in memory.
pub(crate) fn find(statements: &[Stmt], into: &mut HashSet<Rc<str>>) {
    let mut found = Found::default();
    in_statements(statements, &mut found);
    into.extend(found.addressed);
    into.extend(found.bare.difference(&found.set).cloned());
}

fn in_statements(statements: &[Stmt], into: &mut Found) {
    for statement in statements {
        in_statement(statement, into);
    }
}

fn in_statement(statement: &Stmt, into: &mut Found) {
    let mut expr = |expr: &Expr| in_expr(expr, into);
    match &statement.kind {
        StmtKind::Expr(e) => expr(e),
        StmtKind::Declare(declarations) => {
            for declaration in declarations {
                match &declaration.init {
                    Some(init) => in_init(init, into),
                    None if declaration.is_static || declaration.is_extern => {}
                    None => {
                        into.bare.insert(declaration.name.clone());
                    }
                }
            }
        }
        StmtKind::Block(inner) => in_statements(inner, into),
        StmtKind::If(condition, then, otherwise) => {
            expr(condition);
            in_statement(then, into);
            if let Some(otherwise) = otherwise {
                in_statement(otherwise, into);
            }
        }
        StmtKind::While(condition, body) | StmtKind::DoWhile(body, condition) => {
            expr(condition);
            in_statement(body, into);
        }
        StmtKind::For(first, condition, step, body) => {
            condition.iter().chain(step).for_each(expr);
            if let Some(first) = first {
                in_statement(first, into);
            }
            in_statement(body, into);
        }
        StmtKind::Switch(value, body) => {
            expr(value);
            in_statement(body, into);
        }
        StmtKind::Case(_, _, inner) | StmtKind::Default(inner) | StmtKind::Label(_, inner) => {
            in_statement(inner, into);
        }
        StmtKind::Return(Some(value)) => expr(value),
        StmtKind::Asm(_, operands) => {
            for (constraint, operand) in operands {
                if constraint.contains(['=', '+']) {
                    into.set.extend(base(operand).cloned());
                }
                in_expr(operand, into);
            }
        }
        _ => {}
    }
}

fn in_init(init: &Init, into: &mut Found) {
    match init {
        Init::Expr(expr) => in_expr(expr, into),
        Init::List(entries, _) => entries.iter().for_each(|(_, init)| in_init(init, into)),
    }
}

/// Arguments of these functions through which they give a value back: a variable's address there does not stay.
fn gives_back(function: &str) -> Option<usize> {
    match function {
        "pthread_create" | "thrd_create" => Some(0),
        "pthread_join" | "thrd_join" => Some(1),
        name if name
            .trim_start_matches('_')
            .starts_with("atomic_compare_exchange")
            || name.starts_with("__c11_atomic_compare_exchange") =>
        {
            Some(1)
        }
        _ => None,
    }
}

fn in_expr(expr: &Expr, into: &mut Found) {
    match &expr.kind {
        ExprKind::Unary(Unary::AddressOf, operand) => {
            if let Some(name) = base(operand) {
                into.addressed.insert(name.clone());
            }
            in_expr(operand, into);
        }
        ExprKind::Step { place, .. } => {
            into.set.extend(base(place).cloned());
            in_expr(place, into);
        }
        ExprKind::Unary(_, operand)
        | ExprKind::Cast(_, operand)
        | ExprKind::Member(operand, _)
        | ExprKind::Arrow(operand, _) => in_expr(operand, into),
        ExprKind::Assign(_, place, value) => {
            into.set.extend(base(place).cloned());
            in_expr(place, into);
            in_expr(value, into);
        }
        ExprKind::Binary(_, left, right)
        | ExprKind::Comma(left, right)
        | ExprKind::Index(left, right) => {
            in_expr(left, into);
            in_expr(right, into);
        }
        ExprKind::Conditional(condition, yes, no) => {
            in_expr(condition, into);
            if let Some(yes) = yes {
                in_expr(yes, into);
            }
            in_expr(no, into);
        }
        ExprKind::Call(callee, arguments) => {
            let given_back = match &callee.kind {
                ExprKind::Name(name) => gives_back(name),
                _ => None,
            };
            in_expr(callee, into);
            for (index, argument) in arguments.iter().enumerate() {
                let plain = matches!(
                    &argument.kind,
                    ExprKind::Unary(Unary::AddressOf, operand)
                        if matches!(operand.kind, ExprKind::Name(_))
                );
                match &argument.kind {
                    ExprKind::Unary(_, operand) if given_back == Some(index) && plain => {
                        into.set.extend(base(operand).cloned());
                    }
                    _ => in_expr(argument, into),
                }
            }
        }
        ExprKind::Compound(_, init) => in_init(init, into),
        ExprKind::Statements(statements) => in_statements(statements, into),
        ExprKind::Generic(value, choices) => {
            in_expr(value, into);
            choices.iter().for_each(|(_, choice)| in_expr(choice, into));
        }
        _ => {}
    }
}

/// The variable that a place is in.
fn base(expr: &Expr) -> Option<&Rc<str>> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Member(inner, _) | ExprKind::Index(inner, _) | ExprKind::Cast(_, inner) => {
            base(inner)
        }
        _ => None,
    }
}
