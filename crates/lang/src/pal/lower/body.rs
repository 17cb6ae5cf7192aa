//! The code of a thread: statements become points and transitions.
//!
//! `current` is the point at which the code written so far ends. A statement begins there, and that point is its place for a fence and the
//! target of its labels.

mod statements;

use rustc_hash::FxHashMap as HashMap;

use crate::expr::{Expr, UnaryOp, Value};
use crate::program::{
    Copies, CopyNaming, Label, Op, PlaceKind, Point, PointId, Register, RegisterExpr, RegisterId,
    Thread, ThreadId, Transition,
};
use crate::source::{Diagnostic, Span};

use super::super::ast::*;
use super::super::parser::shorten;
use super::{Globals, LoweredThread};

/// Functions call each other at most this deep.
const MAX_CALL_DEPTH: usize = 64;

/// At most this many statements come from inlined functions.
const MAX_INLINED: usize = 1_000_000;

/// An array of registers has at most this many: an index that is not known makes as many branches.
const MAX_REGISTER_ARRAY: u32 = 256;

/// How deep lowering may recurse, counting expressions, blocks and calls together.
const MAX_DEPTH: usize = 1_000;

/// The target of a jump that is not known yet.
const NOWHERE: PointId = PointId(u32::MAX);

/// Lowers a thread.
pub(super) fn thread<'a>(
    globals: &mut Globals<'a, '_>,
    id: ThreadId,
    item: &'a ThreadItem<'a>,
    copies: Copies,
) -> LoweredThread<'a> {
    let mut body = Body::new(globals, Some(id), item.name, copies);
    body.push_frame(None, item.name.span, None);
    body.leading = true;
    body.block(&item.body);
    let frame = body.pop_frame();
    if let Some(exit) = frame.exit {
        body.connect(Op::Jump, exit, item.body.close);
    }
    body.finish(item)
}

/// Lowers a function that is never called, only to find what is wrong with it.
pub(super) fn check_function(globals: &mut Globals<'_, '_>, index: usize) {
    let function = &globals.ast.fns[index];
    let mut body = Body::new(globals, None, function.name, Copies::Fixed(1));
    body.only_checked = true;
    let arguments = function
        .parameters
        .iter()
        .map(|parameter| parameter.name)
        .map(|name| Expr::Atom(body.register(Some(name.text), name.span)))
        .collect();
    body.inline(index, arguments, function.name.span, None);
}

/// A name of a register, or of a parameter.
#[derive(Clone, Copy)]
pub(super) enum Binding {
    Register(RegisterId),
    /// A parameter that is never assigned to, and whose argument is a constant.
    Constant(Value),
    /// An array of registers, one after the other.
    Array {
        first: RegisterId,
        length: u32,
    },
}

/// One declaration of a name.
struct Declared {
    /// How many blocks are around it.
    depth: usize,
    binding: Binding,
    /// The struct that the value points to.
    pointee: Option<usize>,
}

struct Loop {
    head: PointId,
    exit: PointId,
    region: u32,
}

struct LabelSite {
    point: PointId,
    region: u32,
    span: Span,
}

struct Goto<'a> {
    transition: usize,
    region: u32,
    label: Name<'a>,
}

/// What belongs to one body of code: the thread's, or one inlined copy of a function's.
pub(super) struct Frame<'a> {
    function: Option<usize>,
    /// The call.
    call: Span,
    /// The open declarations of each name, with the number of blocks around each.
    names: HashMap<&'a str, Vec<Declared>>,
    /// The names that each open block declares.
    scopes: Vec<Vec<&'a str>>,
    /// Names whose block has ended.
    ended: HashMap<&'a str, Span>,
    loops: Vec<Loop>,
    labels: HashMap<&'a str, LabelSite>,
    gotos: Vec<Goto<'a>>,
    /// Gets the value of `return`.
    result: Option<RegisterId>,
    /// Where `return` goes, once there is one.
    exit: Option<PointId>,
    exit_region: u32,
}

pub(super) struct Body<'g, 'a, 'd> {
    pub globals: &'g mut Globals<'a, 'd>,
    thread: Option<ThreadId>,
    pub thread_name: Name<'a>,
    pub copies: Copies,
    registers: Vec<Register>,
    pub me: Option<RegisterId>,
    points: Vec<Point>,
    transitions: Vec<Transition>,
    labels: Vec<Label>,
    label_ids: HashMap<&'a str, usize>,
    pub current: PointId,
    /// The `atomic` block that we are in, by number; 0 for none.
    region: u32,
    /// The region of each point.
    regions: Vec<u32>,
    /// Where the jump at each point goes, if there is one.
    jumps: Vec<Option<PointId>>,
    /// Whether each point has a label.
    labelled: Vec<bool>,
    last_region: u32,
    frames: Vec<Frame<'a>>,
    depth: usize,
    outer: HashMap<&'a str, RegisterId>,
    /// The structs that these point to.
    outer_pointees: HashMap<&'a str, usize>,
    /// Nothing but declarations so far: registers still hold 0.
    leading: bool,
    /// The point of a `select`, at which its branches begin without a place of their own.
    select_at: Option<PointId>,
    /// Nothing of this is run: functions that have been looked at need not be looked at again.
    only_checked: bool,
}

impl<'g, 'a, 'd> Body<'g, 'a, 'd> {
    fn new(
        globals: &'g mut Globals<'a, 'd>,
        thread: Option<ThreadId>,
        thread_name: Name<'a>,
        copies: Copies,
    ) -> Self {
        let mut body = Body {
            globals,
            thread,
            thread_name,
            copies,
            registers: Vec::new(),
            me: None,
            points: Vec::new(),
            transitions: Vec::new(),
            labels: Vec::new(),
            label_ids: HashMap::default(),
            current: PointId(0),
            region: 0,
            regions: Vec::new(),
            jumps: Vec::new(),
            labelled: Vec::new(),
            last_region: 0,
            frames: Vec::new(),
            depth: 0,
            only_checked: false,
            outer: HashMap::default(),
            outer_pointees: HashMap::default(),
            leading: false,
            select_at: None,
        };
        body.current = body.point(thread_name.span);
        body
    }

    // ---- building ----

    pub fn point(&mut self, span: Span) -> PointId {
        self.points.push(Point {
            name: None,
            atomic: self.region != 0,
            place: None,
            span,
        });
        self.regions.push(self.region);
        self.jumps.push(None);
        self.labelled.push(false);
        PointId(self.points.len() as u32 - 1)
    }

    pub fn register(&mut self, name: Option<&str>, span: Span) -> RegisterId {
        self.registers.push(Register {
            name: name.map(str::to_string),
            span,
        });
        RegisterId(self.registers.len() as u32 - 1)
    }

    /// An instruction from the current point to a given one. The current point stays.
    pub fn connect(&mut self, mut op: Op, to: PointId, span: Span) {
        let from = self.current;
        if op == Op::Jump {
            // No thread ever stands before a jump, and nothing else leaves from there.
            if self.labelled[from.index()] || self.select_at == Some(from) {
                op = Op::Skip;
            } else {
                self.jumps[from.index()] = Some(to);
            }
        }
        self.charge(&op, span);
        self.transitions.push(Transition { from, to, op, span });
    }

    /// Counts an instruction against what the program may become.
    fn charge(&mut self, op: &Op, span: Span) {
        let parts = match op {
            Op::Assign(_, value)
            | Op::Assume(value)
            | Op::Assert(value)
            | Op::Store { value, .. } => value.size(),
            _ => 1,
        };
        if crate::meter::charge(1 + parts) || std::mem::replace(&mut self.globals.too_large, true) {
            return;
        }
        let span = self.frames.last().map_or(span, |frame| frame.call);
        let message =
            "the program is too large for the limits that are set, once its functions are inlined";
        self.error(Diagnostic::error(span, message).label("here at the latest"));
    }

    /// Goes back to the head of a loop: a jump, unless nothing but jumps led from there to here.
    fn jump_back(&mut self, head: PointId, span: Span) {
        let mut point = head;
        while let Some(next) = self.jumps[point.index()] {
            point = next;
        }
        let op = if point == self.current {
            Op::Skip
        } else {
            Op::Jump
        };
        self.connect(op, head, span);
    }

    /// An instruction to a new point, where the code goes on.
    pub fn emit(&mut self, op: Op, span: Span) {
        let next = self.point(span);
        self.connect(op, next, span);
        self.current = next;
    }

    /// Goes to `target`; what follows cannot be reached except by a label.
    fn jump(&mut self, target: PointId, target_region: u32, span: Span) {
        let op = match target_region == self.region {
            true => Op::Skip,
            false => Op::AtomicEnd,
        };
        self.connect(op, target, span);
        self.current = self.point(span);
    }

    /// Makes the current point the place for a fence before what comes now.
    fn mark(&mut self, kind: PlaceKind, span: Span, name: Option<&str>) {
        if self.select_at == Some(self.current) {
            return;
        }
        if self.points[self.current.index()].place.is_some() {
            self.emit(Op::Jump, span);
        }
        let in_function = self.frame().function.is_some();
        let thread = self.thread.filter(|_| !in_function);
        let current = self.current.index();
        if self.region == 0 {
            self.points[current].place = Some(self.globals.place(thread, kind, span, name));
        }
        self.points[current].span = span;
    }

    pub fn error(&mut self, diagnostic: Diagnostic) {
        self.globals.diagnostics.push(diagnostic);
    }

    pub fn frame(&self) -> &Frame<'a> {
        &self.frames[self.frames.len() - 1]
    }

    fn frame_mut(&mut self) -> &mut Frame<'a> {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn push_frame(&mut self, function: Option<usize>, call: Span, result: Option<RegisterId>) {
        self.frames.push(Frame {
            function,
            call,
            names: HashMap::default(),
            scopes: Vec::new(),
            ended: HashMap::default(),
            loops: Vec::new(),
            labels: HashMap::default(),
            gotos: Vec::new(),
            result,
            exit: None,
            exit_region: self.region,
        });
    }

    /// Ends a body: its gotos get their targets.
    fn pop_frame(&mut self) -> Frame<'a> {
        let gotos = std::mem::take(&mut self.frame_mut().gotos);
        for goto in gotos {
            self.resolve(goto);
        }
        self.frames
            .pop()
            .unwrap_or_else(|| unreachable!("frames are pushed before"))
    }

    /// Runs `work` one level deeper, unless that is too deep.
    pub fn deeper<T>(&mut self, span: Span, otherwise: T, work: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= MAX_DEPTH {
            self.error(
                Diagnostic::error(span, "expressions, blocks and calls are nested too deeply")
                    .label("here, together with what calls it")
                    .help("compute a part of it first, into a register"),
            );
            return otherwise;
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        result
    }

    // ---- names ----

    pub fn binding(&self, name: &str) -> Option<Binding> {
        Some(self.frame().names.get(name)?.last()?.binding)
    }

    /// The struct that a register points to.
    pub fn pointee(&self, name: &str) -> Option<usize> {
        self.frame().names.get(name)?.last()?.pointee
    }

    fn bind(&mut self, name: &'a str, binding: Binding, pointee: Option<usize>) {
        let frame = self.frame_mut();
        let depth = frame.scopes.len();
        frame.names.entry(name).or_default().push(Declared {
            depth,
            binding,
            pointee,
        });
        if let Some(scope) = frame.scopes.last_mut() {
            scope.push(name);
        }
    }

    /// The names of registers that can be used here.
    pub fn visible(&self) -> impl Iterator<Item = &'a str> {
        self.frame()
            .names
            .iter()
            .filter(|(_, bindings)| !bindings.is_empty())
            .map(|(name, _)| *name)
    }

    /// Whether the register's block has ended.
    pub fn has_ended(&self, name: &str) -> bool {
        self.frame().ended.contains_key(name)
    }

    /// Declares a register. A second declaration in the same block is the same register again.
    fn declare(&mut self, name: Name<'a>) -> (RegisterId, bool) {
        let frame = self.frame();
        if let Some(declared) = frame.names.get(name.text).and_then(|n| n.last())
            && let Binding::Register(register) = declared.binding
            && declared.depth == frame.scopes.len()
        {
            return (register, false);
        }
        (self.register(Some(name.text), name.span), true)
    }

    // ---- labels ----

    fn label(&mut self, label: Name<'a>) {
        if label.text == "end" {
            self.error(
                Diagnostic::warning(
                    label.span,
                    "in a `never`, `end` means the end of the thread and not this label",
                )
                .label("choose another name"),
            );
        }
        let site = LabelSite {
            point: self.current,
            region: self.region,
            span: label.span,
        };
        if let Some(first) = self.frame_mut().labels.insert(label.text, site) {
            let line = self.globals.line(first.span);
            self.error(
                Diagnostic::error(
                    label.span,
                    format!("the label `{}` is defined twice", shorten(label.text)),
                )
                .label("defined again here")
                .help(format!("the first one is in line {line}")),
            );
        }
        let index = *self.label_ids.entry(label.text).or_insert_with(|| {
            self.labels.push(Label {
                name: label.text.to_string(),
                points: Vec::new(),
                span: label.span,
            });
            self.labels.len() - 1
        });
        self.labels[index].points.push(self.current);
        self.labelled[self.current.index()] = true;
    }

    fn resolve(&mut self, goto: Goto<'a>) {
        let frame = self.frame();
        match frame.labels.get(goto.label.text) {
            Some(site) if site.region == goto.region => {
                self.transitions[goto.transition].to = site.point;
            }
            Some(site) if site.region == 0 => {
                let point = site.point;
                let transition = &mut self.transitions[goto.transition];
                transition.to = point;
                transition.op = Op::AtomicEnd;
            }
            Some(_) => self.error(
                Diagnostic::error(
                    goto.label.span,
                    format!(
                        "`{}` is a label inside an `atomic` block, and a `goto` cannot go into one",
                        shorten(goto.label.text)
                    ),
                )
                .label("jumps into an `atomic` block")
                .help("put the label in front of the block"),
            ),
            None => {
                let text = goto.label.text;
                let mut diagnostic = Diagnostic::error(
                    goto.label.span,
                    format!("there is no label `{}` here", shorten(text)),
                )
                .label("not defined");
                let names = frame.labels.keys().copied();
                diagnostic.help = match self.label_ids.contains_key(text) {
                    true => Some("a `goto` stays inside its own `fn` or `thread`".into()),
                    false => self.globals.diagnostics.suggest(text, names),
                };
                self.error(diagnostic);
            }
        }
    }

    // ---- calls ----

    /// Puts a copy of a function's body here. Its `return` sets `result`.
    pub fn inline(
        &mut self,
        index: usize,
        arguments: Vec<RegisterExpr>,
        call: Span,
        result: Option<RegisterId>,
    ) {
        let ast = self.globals.ast;
        let function = &ast.fns[index];
        if self.report_recursion(index, call) {
            return;
        }
        if self.frames.len() > MAX_CALL_DEPTH {
            return self.error(
                Diagnostic::error(
                    call,
                    format!("calls are nested more than {MAX_CALL_DEPTH} deep"),
                )
                .label("this call is too deep"),
            );
        }
        if self.globals.inlined > MAX_INLINED || self.globals.too_large {
            return;
        }
        let called = std::mem::replace(&mut self.globals.function_facts[index].called, true);
        if called && self.only_checked {
            return;
        }
        let mut bindings = Vec::with_capacity(arguments.len());
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            let name = parameter.name;
            let pointee = parameter
                .pointee
                .and_then(|of| self.globals.struct_named(of));
            let fixed = !self.globals.function_facts[index]
                .assigned
                .contains(name.text);
            let binding = match (argument.constant(self.globals.domain), &argument) {
                (Some(value), _) if fixed => Binding::Constant(self.globals.domain.reduce(value)),
                // The function cannot assign to its caller's registers.
                (None, Expr::Atom(register)) if fixed => Binding::Register(*register),
                _ => {
                    let register = self.register(Some(name.text), name.span);
                    self.emit(Op::Assign(register, argument), call);
                    Binding::Register(register)
                }
            };
            bindings.push((name.text, binding, pointee));
        }
        self.push_frame(Some(index), call, result);
        self.frame_mut().scopes.push(Vec::new());
        for (name, binding, pointee) in bindings {
            self.bind(name, binding, pointee);
        }
        self.deeper(call, (), |body| body.block(&function.body));
        if let Some(result) = result {
            self.emit(Op::Assign(result, Expr::Const(0)), function.body.close);
        }
        let frame = self.pop_frame();
        if let Some(exit) = frame.exit {
            self.connect(Op::Jump, exit, function.body.close);
            self.current = exit;
        }
    }

    fn report_recursion(&mut self, index: usize, call: Span) -> bool {
        let ast = self.globals.ast;
        let Some(start) = self.frames.iter().position(|f| f.function == Some(index)) else {
            return false;
        };
        let name = ast.fns[index].name.text;
        let mut chain: Vec<String> = self.frames[start..]
            .iter()
            .filter_map(|f| f.function)
            .map(|f| shorten(ast.fns[f].name.text))
            .collect();
        chain.push(shorten(name));
        self.error(
            Diagnostic::error(call, format!("`{}` calls itself", shorten(name)))
                .label("functions are inlined, so recursion is not possible")
                .help(format!("the chain of calls is {}", chain.join(" → "))),
        );
        true
    }

    // ---- conditions ----

    /// Goes on at `yes` or at `no`; without one of them, the thread blocks in that case. The current point has no meaning afterwards.
    pub fn condition(&mut self, id: ExprId, yes: Option<PointId>, no: Option<PointId>) {
        let expr = self.globals.ast.expr(id);
        self.deeper(expr.span, (), |body| body.condition_here(id, yes, no));
    }

    fn condition_here(&mut self, id: ExprId, yes: Option<PointId>, no: Option<PointId>) {
        use crate::expr::BinaryOp::{And, Or};
        let ast = self.globals.ast;
        let expr = ast.expr(id);
        match expr.kind {
            ExprKind::Binary(op @ (And | Or), left, right) if self.has_effects(right) => {
                let middle = self.point(expr.span);
                match op {
                    And => self.condition(left, Some(middle), no),
                    _ => self.condition(left, yes, Some(middle)),
                }
                self.current = middle;
                self.condition(right, yes, no);
            }
            ExprKind::Unary(UnaryOp::Not, operand) if self.is_lazy(operand) => {
                self.condition(operand, no, yes);
            }
            _ => {
                let value = self.value(id).expr;
                if let Some(yes) = yes {
                    self.connect(Op::Assume(value.clone()), yes, expr.span);
                }
                if let Some(no) = no {
                    self.connect(Op::Assume(Expr::unary(UnaryOp::Not, value)), no, expr.span);
                }
            }
        }
    }

    // ---- the end ----

    /// Leaves out what cannot be reached, and makes the thread.
    fn finish(mut self, item: &ThreadItem<'a>) -> LoweredThread<'a> {
        self.transitions.retain(|t| t.to != NOWHERE);
        // Transitions are large: their places are sorted, and each is moved once.
        self.transitions.sort_by_cached_key(|t| t.from);
        let mut begin = vec![0; self.points.len() + 1];
        for transition in &self.transitions {
            begin[transition.from.index() + 1] += 1;
        }
        for point in 0..self.points.len() {
            begin[point + 1] += begin[point];
        }
        let mut reached = vec![false; self.points.len()];
        reached[0] = true;
        let mut stack = vec![PointId(0)];
        while let Some(point) = stack.pop() {
            let range = begin[point.index()]..begin[point.index() + 1];
            for transition in &self.transitions[range] {
                if !std::mem::replace(&mut reached[transition.to.index()], true) {
                    stack.push(transition.to);
                }
            }
        }
        let mut numbers = Vec::with_capacity(self.points.len());
        let mut next = 0;
        for reached in &reached {
            numbers.push(PointId(next));
            next += *reached as u32;
        }
        let mut keep = reached.iter();
        self.points.retain(|_| keep.next() == Some(&true));
        self.transitions.retain(|t| reached[t.from.index()]);
        for transition in &mut self.transitions {
            transition.from = numbers[transition.from.index()];
            transition.to = numbers[transition.to.index()];
        }
        for label in &mut self.labels {
            label.points.retain(|p| reached[p.index()]);
            for point in &mut label.points {
                *point = numbers[point.index()];
            }
        }
        // The new numbers are in the order of the old ones: the transitions stay sorted.
        let thread = Thread {
            name: item.name.text.to_string(),
            copies: self.copies,
            copy_naming: CopyNaming::Bracket,
            registers: self.registers,
            me: self.me,
            points: self.points,
            initial: PointId(0),
            transitions: self.transitions,
            labels: self.labels,
            span: item.name.span,
        };
        LoweredThread {
            thread,
            outer: self.outer,
            outer_pointees: self.outer_pointees,
        }
    }
}
