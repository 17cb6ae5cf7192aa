//! What can be known about a thread's code without running it: where local runs must stop, which registers
//! are still needed, which accesses may still come.

use palisade_lang::{
    Address, BinaryOp, Expr, LabelRef, LocationId, Op, PointId, Program, RegisterId, StateAtom,
    Thread, ThreadId, UnaryOp,
};

use palisade_lang::targets::{Target, Targets};

use crate::Settings;

/// Locations as a set of 64 bits. Location `l` is bit `l mod 64`: with more locations a set says more than is true, never less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// What may be read.
    pub reads: u64,
    /// What may be written.
    pub writes: u64,
}

impl Footprint {
    /// Everything that either may touch.
    #[inline]
    pub fn union(self, other: Footprint) -> Footprint {
        Footprint {
            reads: self.reads | other.reads,
            writes: self.writes | other.writes,
        }
    }

    /// The locations that an address may mean, whatever the registers hold.
    pub fn of(address: &Address<RegisterId>) -> u64 {
        match address {
            Address::Direct(location) => Footprint::bit(*location),
            Address::Element { first, length, .. } => (0..(*length).min(64)).fold(0, |set, i| {
                set | Footprint::bit(LocationId(first.0.wrapping_add(i)))
            }),
            Address::Pointer(_) => u64::MAX,
        }
    }

    /// What both may touch in the same way.
    pub fn intersection(self, other: Footprint) -> Footprint {
        Footprint {
            reads: self.reads & other.reads,
            writes: self.writes & other.writes,
        }
    }

    /// Whether the two may touch the same location, one of them writing.
    #[inline]
    pub fn conflicts(self, other: Footprint) -> bool {
        self.writes & (other.reads | other.writes) != 0 || self.reads & other.writes != 0
    }

    /// The bit of a location.
    #[inline]
    pub fn bit(location: palisade_lang::LocationId) -> u64 {
        1 << (location.0 % 64)
    }
}

/// The static facts about one thread's code.
#[derive(Debug)]
pub(crate) struct Control {
    /// Where the transitions of each point begin; one entry more than points.
    first_transition: Vec<u32>,
    /// For each point, where a thread that arrives there really stands.
    pub behind_jumps: Vec<PointId>,
    /// Local runs stop here.
    pub stops: Vec<bool>,
    /// Local runs pause here when they have come round often enough: every cycle of local steps has such a point.
    pub pauses: Vec<bool>,
    /// Registers that may still be read, by point, in ascending order.
    pub live: Vec<Box<[RegisterId]>>,
    /// What the thread may access from here on.
    pub future: Vec<Footprint>,
    /// What the thread may access from wherever it stands, as long as it has not ended.
    pub always: Footprint,
    /// For points inside `atomic`: what it may access up to the end of the block.
    pub rest_of_block: Vec<Footprint>,
    /// A step from here may go back in the code (up to where it stops next).
    pub may_close_loop: Vec<bool>,
    /// A step from here (up to where it stops next) may change what a `never` says about this thread's position or registers.
    pub visible: Vec<bool>,
    /// Points that have a label which some `never` mentions.
    pub mentioned: Vec<bool>,
}

impl Control {
    /// `targets` says what accesses by pointers may go to, where that is known.
    pub fn new(
        program: &Program,
        id: ThreadId,
        settings: &Settings,
        targets: Option<&Targets>,
    ) -> Self {
        let thread = program.thread(id);
        let points = thread.points.len();
        let mut first_transition = vec![0u32; points + 1];
        for transition in &thread.transitions {
            first_transition[transition.from.index() + 1] += 1;
        }
        for index in 0..points {
            first_transition[index + 1] += first_transition[index];
        }
        let behind_jumps: Vec<PointId> = (0..points)
            .map(|p| thread.behind_jumps(PointId(p as u32)))
            .collect();
        let mentioned = Mentioned::by_nevers(program, id, &behind_jumps);
        let mut control = Control {
            first_transition,
            behind_jumps,
            stops: Vec::new(),
            pauses: Vec::new(),
            live: Vec::new(),
            future: Vec::new(),
            always: Footprint::default(),
            rest_of_block: Vec::new(),
            may_close_loop: Vec::new(),
            visible: Vec::new(),
            mentioned: vec![false; points],
        };
        for label in &mentioned.labels {
            for point in &label.points {
                control.mentioned[point.index()] = true;
            }
        }
        control.stops = control.find_stops(thread, settings, &mentioned);
        control.visible = control.find_visible(thread, &mentioned);
        control.pauses = control.find_pauses(thread);
        control.live = control.find_live(thread, settings, &mentioned);
        let footprints: Vec<Footprint> = (thread.transitions.iter().enumerate())
            .map(|(index, transition)| {
                let target = targets.map(|t| t.of_transition(id.index(), index));
                static_footprint(&transition.op, target)
            })
            .collect();
        control.future = control.backward_footprints(thread, &footprints, |_, _| true);
        control.always = (0..points)
            .filter(|&p| !control.outgoing(PointId(p as u32)).is_empty())
            .map(|p| control.future[p])
            .reduce(Footprint::intersection)
            .unwrap_or_default();
        control.rest_of_block = control.backward_footprints(thread, &footprints, |from, _| {
            thread.points[from.index()].atomic
        });
        control.may_close_loop = control.find_loop_closers(thread);
        control
    }

    /// Indices of the transitions that leave a point.
    #[inline]
    pub fn outgoing(&self, point: PointId) -> std::ops::Range<usize> {
        self.first_transition[point.index()] as usize
            ..self.first_transition[point.index() + 1] as usize
    }

    /// Whether some step from here changes what a `never` says about this thread, as far as `matters` says (given whether a label
    /// was named, and whether it is named afterwards). What happens to a register that a `never` reads always matters.
    fn changes(
        &self,
        thread: &Thread,
        point: PointId,
        mentioned: &Mentioned,
        matters: impl Fn(&MentionedLabel, bool, bool) -> bool,
    ) -> bool {
        self.outgoing(point).any(|index| {
            let transition = &thread.transitions[index];
            let to = self.behind_jumps[transition.to.index()];
            let names = |label: &MentionedLabel, point| label.points.contains(&point);
            (mentioned.labels.iter())
                .any(|label| matters(label, names(label, point), names(label, to)))
                || transition
                    .op
                    .target()
                    .is_some_and(|r| mentioned.registers.contains(&r))
        })
    }

    /// A local run must stop where its next step could hide a state that a `never` forbids: where it gives up a position that makes
    /// some `never` true, or takes one that makes some `never` false. A step that can only make them true is run at once, because
    /// whatever others can reach beside the state before it, they can reach beside the state after it.
    fn find_stops(&self, thread: &Thread, settings: &Settings, mentioned: &Mentioned) -> Vec<bool> {
        let hides = |label: &MentionedLabel, before: bool, after: bool| {
            (label.can_make_true && before && !after) || (label.can_make_false && !before && after)
        };
        (0..thread.points.len())
            .map(|p| {
                let point = PointId(p as u32);
                let outgoing = &thread.transitions[self.outgoing(point)];
                !settings.local_steps
                    || mentioned.not_deadlock
                    || outgoing.is_empty()
                    || outgoing.iter().any(|t| !is_local(&t.op))
                    || self.changes(thread, point, mentioned, hides)
            })
            .collect()
    }

    fn find_visible(&self, thread: &Thread, mentioned: &Mentioned) -> Vec<bool> {
        let mut visible: Vec<bool> = (0..thread.points.len() as u32)
            .map(|p| {
                mentioned.not_deadlock
                    || self.changes(thread, PointId(p), mentioned, |_, before, after| {
                        before != after
                    })
            })
            .collect();
        self.spread_to_steps(thread, &mut visible);
        visible
    }

    /// A step runs on over points that are no stops: what they may do, it may do.
    fn spread_to_steps(&self, thread: &Thread, may: &mut [bool]) {
        let incoming = incoming_transitions(thread);
        let mut work: Vec<usize> = (0..may.len()).filter(|&p| may[p]).collect();
        while let Some(point) = work.pop() {
            let passed = !self.stops[point] || self.behind_jumps[point].index() != point;
            if passed {
                for &from in &incoming[point] {
                    if !may[from as usize] {
                        may[from as usize] = true;
                        work.push(from as usize);
                    }
                }
            }
        }
    }

    /// Every cycle of local steps needs a pause, or a local run might never end.
    fn find_pauses(&self, thread: &Thread) -> Vec<bool> {
        let points = thread.points.len();
        let mut pauses = vec![false; points];
        let retreating = retreating_edges(points, |p, visit| {
            if !self.stops[p] {
                for index in self.outgoing(PointId(p as u32)) {
                    visit(self.behind_jumps[thread.transitions[index].to.index()].index());
                }
            }
        });
        for (_, to) in retreating {
            pauses[to] = true;
        }
        pauses
    }

    fn find_live(
        &self,
        thread: &Thread,
        settings: &Settings,
        mentioned: &Mentioned,
    ) -> Vec<Box<[RegisterId]>> {
        let all: Box<[RegisterId]> = (0..thread.registers.len() as u32).map(RegisterId).collect();
        if !settings.dead_registers {
            return vec![all; thread.points.len()];
        }
        let words = thread.registers.len().div_ceil(64).max(1);
        let mut always = vec![0u64; words];
        for register in &mentioned.registers {
            always[register.index() / 64] |= 1 << (register.index() % 64);
        }
        let mut live = vec![always; thread.points.len()];
        let incoming = incoming_transitions(thread);
        let mut work: Vec<usize> = (0..thread.points.len()).rev().collect();
        let mut queued = vec![true; thread.points.len()];
        let mut needed = vec![0u64; words];
        while let Some(point) = work.pop() {
            queued[point] = false;
            for index in self.outgoing(PointId(point as u32)) {
                let transition = &thread.transitions[index];
                needed.copy_from_slice(&live[transition.to.index()]);
                if let Some(register) = transition.op.target()
                    && !mentioned.registers.contains(&register)
                {
                    needed[register.index() / 64] &= !(1 << (register.index() % 64));
                }
                transition.op.for_each_register(&mut |register| {
                    needed[register.index() / 64] |= 1 << (register.index() % 64);
                });
                let mut changed = false;
                for (word, &need) in live[point].iter_mut().zip(&needed) {
                    changed |= need & !*word != 0;
                    *word |= need;
                }
                if changed {
                    for &from in &incoming[point] {
                        if !queued[from as usize] {
                            queued[from as usize] = true;
                            work.push(from as usize);
                        }
                    }
                }
            }
        }
        live.iter()
            .map(|set| {
                all.iter()
                    .copied()
                    .filter(|r| set[r.index() / 64] >> (r.index() % 64) & 1 == 1)
                    .collect()
            })
            .collect()
    }

    /// For each point the union of the footprints of all transitions that can follow, over edges that `follow` allows.
    fn backward_footprints(
        &self,
        thread: &Thread,
        footprints: &[Footprint],
        follow: impl Fn(PointId, &Op) -> bool,
    ) -> Vec<Footprint> {
        let mut result = vec![Footprint::default(); thread.points.len()];
        let incoming = incoming_transitions(thread);
        let mut work: Vec<usize> = (0..thread.points.len()).rev().collect();
        while let Some(point) = work.pop() {
            let mut footprint = result[point];
            for index in self.outgoing(PointId(point as u32)) {
                let transition = &thread.transitions[index];
                if follow(transition.from, &transition.op) {
                    footprint = footprint
                        .union(footprints[index])
                        .union(result[transition.to.index()]);
                }
            }
            if footprint != result[point] {
                result[point] = footprint;
                work.extend(incoming[point].iter().map(|&from| from as usize));
            }
        }
        result
    }

    fn find_loop_closers(&self, thread: &Thread) -> Vec<bool> {
        let points = thread.points.len();
        let mut retreats = vec![false; points];
        for (from, _) in retreating_edges(points, |p, visit| {
            for index in self.outgoing(PointId(p as u32)) {
                visit(thread.transitions[index].to.index());
            }
        }) {
            retreats[from] = true;
        }
        self.spread_to_steps(thread, &mut retreats);
        retreats
    }
}

/// What the `never`s of the program say about one thread.
struct Mentioned {
    registers: Vec<RegisterId>,
    labels: Vec<MentionedLabel>,
    /// A `never` can be true because there is no deadlock: then every step may be the one that ends this.
    not_deadlock: bool,
}

/// A label that some `never` mentions.
struct MentionedLabel {
    label: LabelRef,
    /// The points that it names, behind jumps.
    points: Vec<PointId>,
    /// Standing there can make a `never` true.
    can_make_true: bool,
    /// Standing there can make a `never` false.
    can_make_false: bool,
}

impl Mentioned {
    fn by_nevers(program: &Program, id: ThreadId, behind_jumps: &[PointId]) -> Self {
        let mut mentioned = Mentioned {
            registers: Vec::new(),
            labels: Vec::new(),
            not_deadlock: false,
        };
        for condition in program.nevers.iter().flat_map(|n| &n.conditions) {
            let monotone = is_monotone(condition);
            // Each part with the sign with which it counts: under an odd number of `!` it counts the other way round.
            let mut work = vec![(condition, true)];
            while let Some((expr, positive)) = work.pop() {
                match expr {
                    Expr::Unary(UnaryOp::Not, operand) => work.push((operand, !positive)),
                    Expr::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
                        work.extend([(&**left, positive), (&**right, positive)]);
                    }
                    Expr::Atom(StateAtom::At(copy, label)) if copy.thread == id => {
                        let signs = (positive || !monotone, !positive || !monotone);
                        mentioned.add_label(program, id, behind_jumps, *label, signs);
                    }
                    Expr::Atom(StateAtom::Deadlock) => {
                        mentioned.not_deadlock |= !positive || !monotone;
                    }
                    // Inside anything else a label's truth is a number like any other.
                    other => visit_state_atoms([other], &mut |atom| match atom {
                        StateAtom::At(copy, label) if copy.thread == id => {
                            let both = (true, true);
                            mentioned.add_label(program, id, behind_jumps, *label, both);
                        }
                        StateAtom::Deadlock => mentioned.not_deadlock = true,
                        StateAtom::Register(copy, register)
                            if copy.thread == id && !mentioned.registers.contains(register) =>
                        {
                            mentioned.registers.push(*register);
                        }
                        _ => {}
                    }),
                }
            }
        }
        mentioned
    }

    fn add_label(
        &mut self,
        program: &Program,
        id: ThreadId,
        behind_jumps: &[PointId],
        label: LabelRef,
        (can_make_true, can_make_false): (bool, bool),
    ) {
        if let Some(known) = self.labels.iter_mut().find(|known| known.label == label) {
            known.can_make_true |= can_make_true;
            known.can_make_false |= can_make_false;
            return;
        }
        let thread = program.thread(id);
        let points = match label {
            LabelRef::Label(label) => thread.labels[label.index()]
                .points
                .iter()
                .map(|p| behind_jumps[p.index()])
                .collect(),
            LabelRef::End => (0..thread.points.len() as u32)
                .map(PointId)
                .filter(|&p| thread.is_end(p))
                .collect(),
        };
        self.labels.push(MentionedLabel {
            label,
            points,
            can_make_true,
            can_make_false,
        });
    }
}

/// Whether `&&`, `||` and `!` mean in this condition what they mean in logic. A condition whose evaluation goes wrong is
/// false as a whole, so a part that becomes true can make the whole false, if it lets something be evaluated that goes wrong.
fn is_monotone(condition: &Expr<StateAtom>) -> bool {
    let mut work = vec![condition];
    while let Some(expr) = work.pop() {
        match expr {
            Expr::Const(_) => {}
            Expr::Unary(UnaryOp::Not, operand) => work.push(operand),
            Expr::Binary(
                BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Equal
                | BinaryOp::NotEqual
                | BinaryOp::Less
                | BinaryOp::LessEqual
                | BinaryOp::Greater
                | BinaryOp::GreaterEqual,
                left,
                right,
            ) => work.extend([&**left, &**right]),
            Expr::Atom(StateAtom::Memory(address)) => {
                if !matches!(**address, Address::Direct(_)) {
                    return false;
                }
            }
            Expr::Atom(_) => {}
            Expr::Unary(..) | Expr::Binary(..) | Expr::Element { .. } => return false,
        }
    }
    true
}

/// Calls `visit` for every atom of some conditions, also those inside addresses.
pub fn visit_state_atoms<'e>(
    conditions: impl IntoIterator<Item = &'e Expr<StateAtom>>,
    visit: &mut impl FnMut(&StateAtom),
) {
    let mut work: Vec<&Expr<StateAtom>> = conditions.into_iter().collect();
    while let Some(expr) = work.pop() {
        match expr {
            Expr::Const(_) => {}
            Expr::Unary(_, operand) => work.push(operand),
            Expr::Binary(_, left, right) => work.extend([&**left, &**right]),
            Expr::Element { index, .. } => work.push(index),
            Expr::Atom(atom) => {
                visit(atom);
                if let StateAtom::Memory(address) = atom {
                    match &**address {
                        Address::Direct(_) => {}
                        Address::Element { index, .. } => work.push(index),
                        Address::Pointer(pointer) => work.push(pointer),
                    }
                }
            }
        }
    }
}

/// Whether an instruction touches neither memory nor anything that another thread could notice.
pub(crate) fn is_local(op: &Op) -> bool {
    matches!(
        op,
        Op::Skip | Op::Jump | Op::Assign(..) | Op::Assume(_) | Op::Assert(_)
    )
}

/// What an instruction may touch, whatever the registers hold.
fn static_footprint(op: &Op, target: Option<&Target>) -> Footprint {
    let Some(address) = op.address() else {
        return Footprint::default();
    };
    let locations = match target {
        Some(target) => {
            let bits = target.locations.iter().map(|l| Footprint::bit(*l));
            bits.fold(0, |set, bit| set | bit)
        }
        None => Footprint::of(address),
    };
    let (reads, writes) = match op {
        Op::Load { .. } | Op::Wait { .. } => (locations, 0),
        Op::Store { .. } => (0, locations),
        _ => (locations, locations),
    };
    Footprint { reads, writes }
}

fn incoming_transitions(thread: &Thread) -> Vec<Vec<u32>> {
    let mut incoming = vec![Vec::new(); thread.points.len()];
    for transition in &thread.transitions {
        incoming[transition.to.index()].push(transition.from.0);
    }
    incoming
}

/// The edges that go back to a node on the stack of a depth-first search: every cycle has one.
/// Iterative, because code can be long.
fn retreating_edges(
    nodes: usize,
    successors: impl Fn(usize, &mut dyn FnMut(usize)),
) -> Vec<(usize, usize)> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        OnStack,
        Done,
    }
    let mut marks = vec![Mark::New; nodes];
    let mut retreating = Vec::new();
    let mut stack: Vec<(usize, Vec<usize>)> = Vec::new();
    let list = |node: usize| {
        let mut targets = Vec::new();
        successors(node, &mut |to| targets.push(to));
        targets.reverse();
        targets
    };
    for root in 0..nodes {
        if marks[root] != Mark::New {
            continue;
        }
        marks[root] = Mark::OnStack;
        stack.push((root, list(root)));
        while let Some((node, targets)) = stack.last_mut() {
            let node = *node;
            match targets.pop() {
                None => {
                    marks[node] = Mark::Done;
                    stack.pop();
                }
                Some(to) => match marks[to] {
                    Mark::New => {
                        marks[to] = Mark::OnStack;
                        stack.push((to, list(to)));
                    }
                    Mark::OnStack => retreating.push((node, to)),
                    Mark::Done => {}
                },
            }
        }
    }
    retreating
}
