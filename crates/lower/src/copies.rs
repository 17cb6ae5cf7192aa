//! One inlined copy of a function.

use crate::fold;
use crate::memory::function_number;
use crate::program::Lowering;
use crate::shape;
use crate::start::Frame;
use crate::unit::{Action, Atom, BlockId, Function, FunctionId, LocalId, Storage};
use palisade_lang::build::ThreadBuilder;
use palisade_lang::{Expr, Op, PointId, RegisterExpr, RegisterId, Span, Value};
use std::collections::{HashMap, HashSet};

/// What a variable is in a copy.
#[derive(Clone, Debug)]
pub enum Binding {
    /// Always this value.
    Constant(Value),
    /// A register of the thread.
    Register(RegisterId),
    /// In memory, from this address.
    Memory(Value),
}

/// A copy.
pub struct Copy {
    pub function: FunctionId,
    pub bindings: Vec<Binding>,
    /// Registers to be set on entry.
    pub entry: Vec<(RegisterId, RegisterExpr)>,
    /// Where each block begins, as far as known.
    pub points: HashMap<BlockId, PointId>,
    /// The blocks still to be lowered …
    pub todo: Vec<BlockId>,
    /// … and those whose lowering has begun.
    pub done: HashSet<BlockId>,
    /// The blocks that begin inside an atomic block.
    pub atomic: HashSet<BlockId>,
    /// Where it returns to.
    pub exit: PointId,
    /// What gets its value.
    pub result: Option<RegisterId>,
    /// The functions that are being executed, outermost first, this one last.
    pub chain: Vec<FunctionId>,
    /// It may be executed more than once.
    pub in_loop: bool,
    /// Where its steps are shown, if that is not where they are.
    pub shown: Option<Span>,
}

impl Copy {
    fn empty(function: FunctionId) -> Self {
        Copy {
            function,
            bindings: Vec::new(),
            entry: Vec::new(),
            points: HashMap::new(),
            todo: Vec::new(),
            done: HashSet::new(),
            atomic: HashSet::new(),
            exit: PointId(0),
            result: None,
            chain: Vec::new(),
            in_loop: false,
            shown: None,
        }
    }

    /// A copy that is called with these arguments.
    pub fn new(
        lowering: &mut Lowering<'_>,
        thread: &mut ThreadBuilder,
        function: FunctionId,
        arguments: &[RegisterExpr],
        thread_name: &str,
    ) -> Self {
        let mut copy = Copy::empty(function);
        let code: &Function = &lowering.unit.functions[function.index()];
        let constants = constants(lowering, code, function, arguments);
        for (index, local) in code.locals.iter().enumerate() {
            let binding = match (&local.storage, constants[index]) {
                (Storage::Memory(cells), _) => {
                    let name = local.name.as_deref().unwrap_or("temporary");
                    let name = format!("{name} of {thread_name}");
                    Binding::Memory(lowering.memory.add_unset(&name, cells, local.span))
                }
                (Storage::Register, Some(value)) => Binding::Constant(value),
                (Storage::Register, None) => {
                    Binding::Register(thread.register(local.name.as_deref(), local.span))
                }
            };
            copy.bindings.push(binding);
        }
        for (index, parameter) in code.parameters.iter().enumerate() {
            if let Binding::Register(register) = copy.bindings[parameter.index()] {
                let value = arguments.get(index).cloned().unwrap_or(Expr::Const(0));
                copy.entry.push((register, value));
            }
        }
        copy
    }

    /// A copy in the middle of its execution; `at` is led through the values that its registers have.
    pub fn resume(
        lowering: &Lowering<'_>,
        thread: &mut ThreadBuilder,
        frame: &Frame,
        at: &mut PointId,
    ) -> Self {
        let mut copy = Copy::empty(frame.function);
        copy.shown = frame.shown;
        let code = &lowering.unit.functions[frame.function.index()];
        let block = &code.blocks[frame.block.index()];
        let reached = shape::reachable(code, &shape::successors(&block.end));
        let mut assigned = vec![false; code.locals.len()];
        let mut note = |action: &Action| {
            shape::for_each_target(action, &mut |local| assigned[local.index()] = true);
        };
        // The step before is a call that has not returned, for all but the last frame.
        let rest = block.steps[frame.step.saturating_sub(1)..].iter();
        rest.for_each(|step| note(&step.action));
        for (block, _) in code.blocks.iter().zip(&reached).filter(|(_, r)| **r) {
            block.steps.iter().for_each(|step| note(&step.action));
        }
        for (index, local) in code.locals.iter().enumerate() {
            let value = frame.values[index];
            copy.bindings.push(match (&local.storage, assigned[index]) {
                (Storage::Memory(_), _) => Binding::Memory(value),
                (Storage::Register, false) => Binding::Constant(value),
                (Storage::Register, true) => {
                    let register = thread.register(local.name.as_deref(), local.span);
                    if value != 0 {
                        let set = Op::Assign(register, Expr::Const(value));
                        *at = thread.step(*at, set, local.span);
                    }
                    Binding::Register(register)
                }
            });
        }
        copy
    }

    /// The register that a variable is.
    pub fn register(&self, local: LocalId) -> Option<RegisterId> {
        match self.bindings[local.index()] {
            Binding::Register(register) => Some(register),
            _ => None,
        }
    }
}

/// The variables that have one value throughout: parameters that are never set, and variables that one step sets to a constant.
fn constants(
    lowering: &Lowering<'_>,
    code: &Function,
    function: FunctionId,
    arguments: &[RegisterExpr],
) -> Vec<Option<Value>> {
    let assignments = &lowering.shapes[function.index()].assignments;
    let mut known: Vec<Option<Value>> = vec![None; code.locals.len()];
    for (index, parameter) in code.parameters.iter().enumerate() {
        if assignments[parameter.index()] == 0 {
            known[parameter.index()] = match arguments.get(index) {
                None => Some(0),
                Some(Expr::Const(value)) => Some(*value),
                Some(_) => None,
            };
        }
    }
    loop {
        let mut changed = false;
        for step in code.blocks.iter().flat_map(|b| &b.steps) {
            let Action::Assign(to, value) = &step.action else {
                continue;
            };
            let is_parameter = code.parameters.contains(to);
            if assignments[to.index()] != 1 || known[to.index()].is_some() || is_parameter {
                continue;
            }
            let mut unknown = false;
            let value = fold::replace::<_, Atom>(value, &mut |atom| {
                let value = match atom {
                    Atom::Local(local) => known[local.index()],
                    Atom::Object(object) => match lowering.memory.object(*object) {
                        0 => None,
                        address => Some(address),
                    },
                    Atom::Function(function) => Some(function_number(*function)),
                    Atom::AddressOf(_) => None,
                };
                unknown |= value.is_none();
                Expr::Const(value.unwrap_or(0))
            });
            if let (false, Expr::Const(value)) = (unknown, value) {
                known[to.index()] = Some(value);
                changed = true;
            }
        }
        if !changed {
            return known;
        }
    }
}
