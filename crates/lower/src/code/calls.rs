//! Calls, and threads that are created.

use super::Code;
use crate::copies::Copy;
use crate::fold;
use crate::memory::{function_number, function_numbered};
use crate::program::{ArgumentCell, Instance, announce};
use crate::unit::{Action, Step};
use palisade_lang::{BinaryOp, Diagnostic, Expr, Op, Order, PointId, Value};

impl Code<'_, '_> {
    pub(super) fn call_step(
        &mut self,
        copy: &mut Copy,
        mut at: PointId,
        step: &Step,
        in_loop: bool,
    ) -> Option<PointId> {
        let Action::Call {
            to,
            callee,
            arguments,
        } = &step.action
        else {
            return Some(at);
        };
        let span = copy.shown.unwrap_or(step.span);
        let callee = self.value(copy, &mut at, callee, span);
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(copy, &mut at, argument, span));
        }
        let result = to.and_then(|to| copy.register(to));
        let after = self.point(span);
        let chain = copy.chain.clone();
        if let Expr::Const(number) = callee {
            match function_numbered(number)
                .filter(|f| f.index() < self.lowering.unit.functions.len())
            {
                Some(function) => {
                    self.call(at, function, &values, result, after, &chain, in_loop, span);
                }
                None => {
                    self.thread
                        .edge(at, after, Op::Assert(Expr::Const(0)), span);
                }
            }
            return Some(after);
        }
        // One of the functions whose number the program uses as a value.
        let mut none = Expr::Const(1);
        for function in self.lowering.pointed_functions() {
            let number = Expr::Const(function_number(function));
            let is = Expr::binary(BinaryOp::Equal, callee.clone(), number);
            none = fold::binary(BinaryOp::And, none, fold::not(is.clone()));
            let here = self.step(at, Op::Assume(is), span);
            self.call(
                here, function, &values, result, after, &chain, in_loop, span,
            );
        }
        let nothing = self.step(at, Op::Assume(none), span);
        self.thread
            .edge(nothing, after, Op::Assert(Expr::Const(0)), span);
        Some(after)
    }

    pub(super) fn spawn(
        &mut self,
        copy: &mut Copy,
        mut at: PointId,
        step: &Step,
        in_loop: bool,
    ) -> Option<PointId> {
        let Action::Spawn {
            handle,
            callee,
            arguments,
        } = &step.action
        else {
            return Some(at);
        };
        let span = copy.shown.unwrap_or(step.span);
        let function = match self.value(copy, &mut at, callee, span) {
            Expr::Const(number) => function_numbered(number),
            _ => None,
        };
        let Some(function) = function.filter(|f| f.index() < self.lowering.unit.functions.len())
        else {
            let message = "which function this thread executes is not known";
            let label = "it must be the same for every run";
            self.lowering
                .errors
                .push(Diagnostic::error(span, message).label(label));
            return None;
        };
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(copy, &mut at, argument, span));
        }
        let instances = match in_loop {
            true => self.lowering.unit.limits.instances,
            false => 1,
        };
        let register = handle.and_then(|to| copy.register(to));
        let count = in_loop.then(|| self.thread.register(None, span));
        let after = self.point(span);
        let name = self.function(function).name.clone();
        for number in 0..instances {
            let mut here = at;
            if let Some(count) = count {
                let now = Expr::Const(Value::from(number));
                let now = Expr::binary(BinaryOp::Equal, Expr::Atom(count), now);
                here = self.step(here, Op::Assume(now), span);
                let next = Expr::Const(Value::from(number) + 1);
                here = self.step(here, Op::Assign(count, next), span);
            }
            let mut given = Vec::new();
            for value in &values {
                given.push(match value {
                    Expr::Const(value) => Expr::Const(*value),
                    value => {
                        let memory = &mut self.lowering.memory;
                        let cell = memory.add_one(&format!("argument of {name}"), span);
                        let store = Op::Store {
                            address: self.direct(cell),
                            value: value.clone(),
                            order: Order::NonAtomic,
                        };
                        here = self.step(here, store, span);
                        Expr::Atom(ArgumentCell(cell))
                    }
                });
            }
            let memory = &mut self.lowering.memory;
            let start = memory.add_one(&format!("start of {name}"), span);
            let id = self.lowering.add_instance(Instance {
                function,
                arguments: given,
                start: Some(start),
                done: 0,
                span,
            });
            let start = self.direct(start);
            here = self.step(here, announce(start), span);
            match register {
                Some(register) => {
                    let id = Op::Assign(register, Expr::Const(id));
                    self.thread.edge(here, after, id, span);
                }
                None => self.thread.edge(here, after, Op::Jump, span),
            }
        }
        if let Some(count) = count {
            let all = Expr::Const(Value::from(instances));
            let all = Expr::binary(BinaryOp::Equal, Expr::Atom(count), all);
            let beyond = self.step(at, Op::Assume(all), span);
            let message = format!("more than {instances} threads are created here");
            self.bound(beyond, message, span);
        }
        Some(after)
    }
}
