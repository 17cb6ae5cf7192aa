//! The code of a thread as statements.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::equal::collapse;
use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::program::{Op, PointId, RegisterExpr, RegisterId, StateAtom, Thread, Transition};

use super::expr::Piece as Text;
use super::flow::Flow;
use super::names::Names;
use super::{Loads, Printer};

/// Blocks nested deeper than this are written elsewhere, and gone to.
const MAX_DEPTH: usize = 40;

/// Writes the body of a thread. For each of its labels: the names under which it was written, one for each of its points.
pub(super) fn thread(printer: &Printer<'_>, index: usize, text: &mut String) -> Vec<Vec<String>> {
    let thread = &printer.program.threads[index];
    let mut labelled = vec![false; thread.points.len()];
    let mut labels_at: HashMap<PointId, Vec<usize>> = HashMap::new();
    for (number, label) in thread.labels.iter().enumerate() {
        for point in &label.points {
            labelled[point.index()] = true;
            labels_at.entry(*point).or_default().push(number);
        }
    }
    let mut code = Code {
        printer,
        index,
        thread,
        stands: collapse(thread, &labelled),
        labelled,
        labels_at,
        once: registers_used_once(printer, index),
        pending: Vec::new(),
        begin: None,
        folded: HashSet::new(),
        lines: Vec::new(),
        needed: HashMap::new(),
        names: HashMap::new(),
        label_names: Names::default(),
        user_labels: vec![Vec::new(); thread.labels.len()],
        pieces: 0,
        depth: 1,
    };
    let root = code.stands[thread.initial.index()];
    let piece = code.outer(root);
    code.write(piece, root, Follow::End);
    code.finish(text)
}

/// What comes behind the code that is being written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Follow {
    /// The code of this point.
    Point(PointId),
    /// The end of the thread.
    End,
    /// The end of the `atomic` block, and then this point.
    AtomicEnd(PointId),
    /// Something that must not be run into.
    Other,
}

/// A piece of code whose points have labels of their own: the thread, or one `atomic` block.
struct Piece {
    id: usize,
    flow: Flow,
    atomic: bool,
    /// Code that must be written behind everything else, because it was too deep where it belongs.
    later: VecDeque<PointId>,
    later_seen: HashSet<PointId>,
}

enum Line {
    /// Where a label can stand, if one is needed.
    Label(usize, PointId),
    Text(usize, String),
}

struct Code<'p> {
    printer: &'p Printer<'p>,
    index: usize,
    thread: &'p Thread,
    /// Behind the jumps and skips at each point.
    stands: Vec<PointId>,
    labelled: Vec<bool>,
    labels_at: HashMap<PointId, Vec<usize>>,
    /// Registers without a name that are loaded once and read once: they need not be written.
    once: Vec<bool>,
    /// Loads that will be written in the next statement, if they can.
    pending: Vec<(RegisterId, Text)>,
    /// The point at which the first of them stands.
    begin: Option<PointId>,
    /// The registers that were not written.
    folded: HashSet<RegisterId>,
    lines: Vec<Line>,
    /// How often each point is gone to.
    needed: HashMap<(usize, PointId), usize>,
    /// The labels' names, by piece and point; the user's and those that are made up.
    names: HashMap<(usize, PointId), Vec<String>>,
    label_names: Names,
    user_labels: Vec<Vec<String>>,
    pieces: usize,
    depth: usize,
}

/// The code of the thread itself is piece 0.
const OUTER: usize = 0;

impl<'p> Code<'p> {
    fn text(&mut self, text: impl Into<String>) {
        self.lines.push(Line::Text(self.depth, text.into()));
    }

    /// Registers start as 0, and declarations at the very beginning change nothing.
    fn declarations(&self, text: &mut String) {
        let mut used = vec![false; self.thread.registers.len()];
        for transition in &self.thread.transitions {
            if let Some(register) = transition.op.target() {
                used[register.index()] = true;
            }
            for operand in transition.op.operands() {
                operand.for_each_atom(&mut |r| used[r.index()] = true);
            }
        }
        for condition in self
            .printer
            .program
            .nevers
            .iter()
            .flat_map(|n| &n.conditions)
        {
            crate::equal::visit_atoms(condition, &mut |atom| {
                if let StateAtom::Register(copy, register) = atom
                    && copy.thread.index() == self.index
                {
                    used[register.index()] = true;
                }
            });
        }
        for (register, used) in used.into_iter().enumerate() {
            let me = self.thread.me.is_some_and(|me| me.index() == register);
            let folded = self.folded.contains(&RegisterId(register as u32));
            if used && !me && !folded {
                let name = &self.printer.registers[self.index][register];
                *text += &format!("  let {name};\n");
            }
        }
    }

    // ---- the shape ----

    fn out(&self, point: PointId) -> &'p [Transition] {
        self.thread.outgoing(point)
    }

    fn to(&self, transition: &Transition) -> PointId {
        self.stands[transition.to.index()]
    }

    /// The inside of the block that begins at `first`: where its ends lead, in the order in which they are found.
    fn exits(&self, first: PointId) -> Vec<PointId> {
        let mut exits = Vec::new();
        let mut seen = HashSet::from([first]);
        let mut queue = VecDeque::from([first]);
        while let Some(point) = queue.pop_front() {
            for transition in self.out(point) {
                let to = self.to(transition);
                if transition.op == Op::AtomicEnd {
                    if !exits.contains(&to) {
                        exits.push(to);
                    }
                } else if seen.insert(to) {
                    queue.push_back(to);
                }
            }
        }
        exits
    }

    fn outer(&mut self, root: PointId) -> Piece {
        let flow = Flow::new(root, |point| {
            let mut next = Vec::new();
            for transition in self.out(point) {
                match transition.op {
                    // What comes behind the block is reached by falling out of it, every other end by a `goto`.
                    Op::AtomicBegin => {
                        let exits = self.exits(self.to(transition));
                        next.extend(exits.into_iter().enumerate().map(|(n, p)| (p, n > 0)));
                    }
                    Op::AtomicEnd => {}
                    _ => next.push((self.to(transition), false)),
                }
            }
            next
        });
        self.piece(flow, false)
    }

    fn inner(&mut self, first: PointId) -> Piece {
        let flow = Flow::new(first, |point| {
            self.out(point)
                .iter()
                .filter(|t| t.op != Op::AtomicEnd)
                .map(|t| (self.to(t), false))
                .collect()
        });
        self.piece(flow, true)
    }

    fn piece(&mut self, flow: Flow, atomic: bool) -> Piece {
        self.pieces += 1;
        Piece {
            id: self.pieces - 1,
            flow,
            atomic,
            later: VecDeque::new(),
            later_seen: HashSet::new(),
        }
    }

    // ---- writing ----

    /// The whole piece, which ends where `follow` begins.
    fn write(&mut self, mut piece: Piece, root: PointId, follow: Follow) {
        self.tree(&mut piece, root, follow, 0);
        if piece.later.is_empty() {
            return;
        }
        match follow {
            Follow::AtomicEnd(point) => self.goto(OUTER, point),
            _ => self.text("return;"),
        }
        while let Some(point) = piece.later.pop_front() {
            self.tree(&mut piece, point, Follow::Other, 0);
        }
        if piece.atomic {
            // Nothing runs into the closing brace.
            self.text("assume 0;");
        }
    }

    /// The code of a point and of all that it dominates.
    fn tree(&mut self, piece: &mut Piece, point: PointId, follow: Follow, level: usize) {
        let mut point = point;
        loop {
            let joins = piece.flow.joins(point);
            let behind = joins.first().map_or(follow, |p| Follow::Point(*p));
            let tail = self.point(piece, point, behind, level);
            if let Some(next) = tail {
                if joins.is_empty() {
                    point = next;
                    continue;
                }
                self.subtree(piece, next, behind, level);
            }
            let Some((last, others)) = joins.split_last() else {
                return;
            };
            for (number, join) in others.iter().enumerate() {
                self.subtree(piece, *join, Follow::Point(joins[number + 1]), level);
            }
            point = *last;
        }
    }

    fn subtree(&mut self, piece: &mut Piece, point: PointId, follow: Follow, level: usize) {
        if level < MAX_DEPTH {
            return self.tree(piece, point, follow, level + 1);
        }
        self.flush();
        self.goto(piece.id, point);
        if piece.later_seen.insert(point) {
            piece.later.push_back(point);
        }
    }

    /// The statements of one point. If its code just goes on with a point that stands nowhere else, that point.
    fn point(
        &mut self,
        piece: &mut Piece,
        point: PointId,
        follow: Follow,
        level: usize,
    ) -> Option<PointId> {
        self.lines.push(Line::Label(piece.id, point));
        self.name_user_labels(piece.id, point);
        match self.out(point) {
            [] => {
                self.flush();
                if piece.atomic {
                    self.text("assume 0;");
                } else {
                    if self.labelled[point.index()] {
                        self.text("skip;");
                    }
                    self.end(follow);
                }
                None
            }
            [one] => self.single(piece, point, one, follow),
            [
                Transition {
                    op: Op::Assume(yes),
                    to: then,
                    ..
                },
                Transition {
                    op: Op::Assume(Expr::Unary(UnaryOp::Not, no)),
                    to: otherwise,
                    ..
                },
            ] if *yes == **no => {
                let (then, otherwise) = (self.stands[then.index()], self.stands[otherwise.index()]);
                self.if_or_while(piece, point, yes, (then, otherwise), follow, level)
            }
            several => {
                self.flush();
                let free = several.iter().all(|t| matches!(t.op, Op::Skip | Op::Jump));
                let word = if free { "choose" } else { "select" };
                for (number, transition) in several.iter().enumerate() {
                    self.text(match number {
                        0 => format!("{word} {{"),
                        _ => "} or {".to_string(),
                    });
                    if free {
                        self.branch(piece, point, self.to(transition), follow, level);
                        continue;
                    }
                    self.depth += 1;
                    // A way out of an `atomic` block is written in full, for the branch must not begin with anything else.
                    let follow = match transition.op {
                        Op::AtomicEnd => Follow::Other,
                        _ => follow,
                    };
                    if let Some(next) = self.single(piece, point, transition, follow) {
                        self.subtree(piece, next, follow, level);
                    }
                    self.depth -= 1;
                }
                self.text("}");
                None
            }
        }
    }

    /// Two complementary conditions.
    fn if_or_while(
        &mut self,
        piece: &mut Piece,
        point: PointId,
        condition: &RegisterExpr,
        (then, otherwise): (PointId, PointId),
        follow: Follow,
        level: usize,
    ) -> Option<PointId> {
        let (loads, begin) = self.take_pending(point, &[condition]);
        let condition = self.printer.condition(self.index, condition, &loads);
        let word = self.lines.len();
        self.text(format!("if {condition} {{"));
        self.branch(piece, point, then, follow, level);
        // A branch that leads back to where the statement begins makes it a loop.
        let back = (usize::MAX - piece.id, begin);
        let is_loop = match self.lines[word + 1..] {
            [.., Line::Label(target, at), Line::Text(depth, _)] => {
                (target, at) == back && depth == self.depth + 1 && !self.labelled[begin.index()]
            }
            _ => false,
        };
        if is_loop {
            self.lines.truncate(self.lines.len() - 2);
            self.lines[word] = Line::Text(self.depth, format!("while {condition} {{"));
            self.text("}");
            if let Some(count) = self.needed.get_mut(&(piece.id, begin)) {
                *count -= 1;
            }
            return self.arrive(piece, point, otherwise, follow);
        }
        self.text("} else {");
        let before = self.lines.len();
        self.branch(piece, point, otherwise, follow, level);
        if self.lines.len() == before {
            self.lines.pop();
        }
        self.text("}");
        None
    }

    /// A branch of an `if` or `choose`.
    fn branch(
        &mut self,
        piece: &mut Piece,
        from: PointId,
        to: PointId,
        follow: Follow,
        level: usize,
    ) {
        self.depth += 1;
        if let Some(next) = self.arrive(piece, from, to, follow) {
            self.subtree(piece, next, follow, level);
        }
        self.depth -= 1;
    }

    fn single(
        &mut self,
        piece: &mut Piece,
        from: PointId,
        transition: &Transition,
        follow: Follow,
    ) -> Option<PointId> {
        let to = self.to(transition);
        if let Op::Load {
            register,
            address,
            order,
        } = &transition.op
            && self.once[register.index()]
            && piece.flow.is_inline(from, to)
            && !self.labelled[to.index()]
        {
            let operands = transition.op.operands();
            let mine = self.split_pending(from, &operands);
            let load = self.printer.load(self.index, address, *order, &mine);
            self.begin.get_or_insert(from);
            self.pending.push((*register, load));
            return Some(to);
        }
        if matches!(
            transition.op,
            Op::Skip | Op::Jump | Op::Fence(_) | Op::AtomicBegin | Op::AtomicEnd
        ) {
            self.flush();
        }
        match &transition.op {
            Op::AtomicEnd if piece.atomic => {
                if follow != Follow::AtomicEnd(to) {
                    self.goto(OUTER, to);
                } else if self.labelled[from.index()] {
                    self.text("{ }");
                }
                None
            }
            Op::AtomicBegin if !piece.atomic => {
                let main = self.exits(to).first().copied();
                self.text("atomic {");
                self.depth += 1;
                let inner = self.inner(to);
                self.write(inner, to, main.map_or(Follow::Other, Follow::AtomicEnd));
                self.depth -= 1;
                self.text("}");
                main.and_then(|main| self.arrive(piece, from, main, follow))
            }
            // An end where no block is: no thread gets past it.
            Op::AtomicEnd => {
                self.text("assume 0;");
                None
            }
            op => {
                let operands = op.operands();
                // `r = x` would load into `r` itself.
                if let Op::Assign(_, Expr::Atom(_)) = op {
                    self.flush();
                }
                let (loads, _) = self.take_pending(from, &operands);
                let statement = self.printer.statement(self.index, op, &loads);
                self.text(format!("{statement};"));
                self.arrive(piece, from, to, follow)
            }
        }
    }

    /// Goes on at `to`: its code is to be written here (then it is returned), comes next anyway, or is gone to.
    fn arrive(
        &mut self,
        piece: &mut Piece,
        from: PointId,
        to: PointId,
        follow: Follow,
    ) -> Option<PointId> {
        if piece.flow.is_inline(from, to) {
            return Some(to);
        }
        if follow != Follow::Point(to) {
            self.goto(piece.id, to);
        }
        None
    }

    fn end(&mut self, follow: Follow) {
        if follow != Follow::End {
            self.text("return;");
        }
    }

    fn goto(&mut self, piece: usize, point: PointId) {
        if piece == OUTER && self.out(point).is_empty() && !self.labelled[point.index()] {
            return self.text("return;");
        }
        *self.needed.entry((piece, point)).or_default() += 1;
        let depth = self.depth;
        // The label's name is known when everything is written.
        self.lines.push(Line::Label(usize::MAX - piece, point));
        self.lines.push(Line::Text(depth, String::new()));
    }

    // ---- loads within statements ----

    /// Writes the pending loads as statements of their own.
    fn flush(&mut self) {
        self.begin = None;
        for (register, load) in std::mem::take(&mut self.pending) {
            let name = &self.printer.registers[self.index][register.index()];
            let line = format!("{name} = {};", load.text());
            self.text(line);
        }
    }

    /// The pending loads, all of which a statement at `point` uses in their order; and the point at which the statement then begins.
    fn take_pending(&mut self, point: PointId, operands: &[&RegisterExpr]) -> (Loads, PointId) {
        if !self.pending.is_empty() && self.usable(operands) != Some(self.pending.len()) {
            self.flush();
        }
        let begin = self.begin.take().unwrap_or(point);
        let pending = std::mem::take(&mut self.pending);
        self.folded.extend(pending.iter().map(|(r, _)| *r));
        (pending.into_iter().collect(), begin)
    }

    /// The last of the pending loads, which another load uses for its address.
    fn split_pending(&mut self, point: PointId, operands: &[&RegisterExpr]) -> Loads {
        let Some(count) = self.usable(operands) else {
            self.flush();
            self.begin = Some(point);
            return Loads::new();
        };
        let mine = self.pending.split_off(self.pending.len() - count);
        self.folded.extend(mine.iter().map(|(r, _)| *r));
        mine.into_iter().collect()
    }

    /// How many of the pending loads, from the last one, the expressions use: in the order in which they are evaluated, each when it is
    /// evaluated. `None` where that is not so.
    fn usable(&self, operands: &[&RegisterExpr]) -> Option<usize> {
        let mut used = Vec::new();
        for operand in operands {
            operand.for_each_atom(&mut |r| {
                if self.pending.iter().any(|(p, _)| p == r) {
                    used.push(*r);
                }
            });
        }
        let begin = self.pending.len().checked_sub(used.len())?;
        let same = self.pending[begin..].iter().map(|(r, _)| r).eq(&used);
        let simple = used.is_empty() || operands.iter().all(|e| is_simple(e));
        (same && simple).then_some(used.len())
    }

    // ---- labels ----

    fn name_user_labels(&mut self, piece: usize, point: PointId) {
        if !self.labelled[point.index()] {
            return;
        }
        for number in self.labels_at.get(&point).into_iter().flatten() {
            let name = self
                .label_names
                .fresh(&self.thread.labels[*number].name, "l");
            self.user_labels[*number].push(name.clone());
            self.names.entry((piece, point)).or_default().push(name);
        }
    }

    fn finish(mut self, text: &mut String) -> Vec<Vec<String>> {
        // Names that are made up come last, so that the user's stay as they are; they are numbered in the order of the text.
        let order: Vec<(usize, PointId)> = self
            .lines
            .iter()
            .filter_map(|line| match line {
                Line::Label(piece, point) if *piece <= self.pieces => Some((*piece, *point)),
                _ => None,
            })
            .collect();
        for key in order {
            let needed = self.needed.get(&key).is_some_and(|count| *count > 0);
            if needed && !self.names.contains_key(&key) {
                let name = self.label_names.fresh("L1", "L");
                self.names.insert(key, vec![name]);
            }
        }
        self.declarations(text);
        let mut pending = String::new();
        let mut goto = None;
        for line in &self.lines {
            match line {
                Line::Label(piece, point) if *piece > self.pieces => {
                    goto = Some((usize::MAX - piece, *point));
                }
                Line::Label(piece, point) => {
                    for name in self.names.get(&(*piece, *point)).into_iter().flatten() {
                        pending += &format!("{name}: ");
                    }
                }
                Line::Text(depth, statement) => {
                    let indent = "  ".repeat(*depth);
                    if !pending.is_empty() && statement.starts_with('}') {
                        *text += &format!("{indent}  {}skip;\n", std::mem::take(&mut pending));
                    }
                    *text += &indent;
                    *text += &std::mem::take(&mut pending);
                    match goto.take() {
                        None => *text += statement,
                        Some(target) => {
                            let name = self.names.get(&target).and_then(|n| n.first());
                            *text += &format!("goto {};", name.map_or("", |n| n.as_str()));
                        }
                    }
                    text.push('\n');
                }
            }
        }
        if !pending.is_empty() {
            *text += &format!("  {pending}skip;\n");
        }
        self.user_labels
    }
}

/// Registers without a name that are written by one load and read in one place, which is not a `never`.
fn registers_used_once(printer: &Printer<'_>, index: usize) -> Vec<bool> {
    let thread = &printer.program.threads[index];
    let mut loads = vec![0; thread.registers.len()];
    let mut writes = vec![0; thread.registers.len()];
    let mut reads = vec![0; thread.registers.len()];
    let mut last: Option<&Transition> = None;
    for transition in &thread.transitions {
        if let Some(register) = transition.op.target() {
            writes[register.index()] += 1;
            loads[register.index()] += matches!(transition.op, Op::Load { .. }) as usize;
        }
        // The two sides of an `if` are one expression in the text.
        let complement = match (last.map(|l| (l.from, &l.op)), &transition.op) {
            (Some((from, Op::Assume(yes))), Op::Assume(Expr::Unary(UnaryOp::Not, no))) => {
                from == transition.from && *yes == **no
            }
            _ => false,
        };
        if !complement {
            for operand in transition.op.operands() {
                operand.for_each_atom(&mut |r| reads[r.index()] += 1);
            }
        }
        last = Some(transition);
    }
    for condition in printer.program.nevers.iter().flat_map(|n| &n.conditions) {
        crate::equal::visit_atoms(condition, &mut |atom| {
            if let StateAtom::Register(copy, register) = atom
                && copy.thread.index() == index
            {
                reads[register.index()] += 2;
            }
        });
    }
    thread
        .registers
        .iter()
        .enumerate()
        .map(|(r, register)| {
            register.name.is_none()
                && (loads[r], writes[r], reads[r]) == (1, 1, 1)
                && thread.me != Some(RegisterId(r as u32))
        })
        .collect()
}

/// Whether a load in the expression happens in any case, and nothing can go wrong in it before the loads are done.
fn is_simple(e: &RegisterExpr) -> bool {
    match e {
        Expr::Const(_) | Expr::Atom(_) => true,
        Expr::Unary(_, operand) => is_simple(operand),
        Expr::Binary(op, left, right) => {
            !matches!(
                op,
                BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Divide
                    | BinaryOp::Remainder
                    | BinaryOp::ShiftLeft
                    | BinaryOp::ShiftRight
            ) && is_simple(left)
                && is_simple(right)
        }
        Expr::Element { .. } => false,
    }
}
