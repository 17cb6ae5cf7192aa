//! Making a thread's automaton from structured code, for front ends.

use std::collections::HashMap;

use crate::program::{
    Copies, CopyNaming, Label, LabelId, Op, Place, PlaceId, PlaceKind, Point, PointId, Register,
    RegisterId, Thread, ThreadId, Transition,
};
use crate::source::Span;

/// A thread under construction.
pub struct ThreadBuilder {
    id: ThreadId,
    thread: Thread,
    registers: HashMap<String, RegisterId>,
}

impl ThreadBuilder {
    /// A thread with one point, where it begins.
    pub fn new(id: ThreadId, name: &str, span: Span) -> Self {
        ThreadBuilder {
            id,
            registers: HashMap::new(),
            thread: Thread {
                name: name.to_string(),
                copies: Copies::One,
                copy_naming: CopyNaming::Bracket,
                registers: Vec::new(),
                me: None,
                points: vec![Point {
                    name: None,
                    atomic: false,
                    place: None,
                    span,
                }],
                initial: PointId(0),
                transitions: Vec::new(),
                labels: Vec::new(),
                span,
            },
        }
    }

    /// Where the thread begins.
    pub fn initial(&self) -> PointId {
        self.thread.initial
    }

    /// Of this thread any number runs.
    pub fn any_number(&mut self) {
        self.thread.copies = Copies::Any;
    }

    /// A new point.
    pub fn point(&mut self, span: Span) -> PointId {
        self.thread.points.push(Point {
            name: None,
            atomic: false,
            place: None,
            span,
        });
        PointId(self.thread.points.len() as u32 - 1)
    }

    /// A point inside an `atomic` block.
    pub fn point_in_block(&mut self, span: Span) -> PointId {
        let point = self.point(span);
        self.thread.points[point.index()].atomic = true;
        point
    }

    /// An instruction between two points.
    pub fn edge(&mut self, from: PointId, to: PointId, op: Op, span: Span) {
        self.thread
            .transitions
            .push(Transition { from, to, op, span });
    }

    /// Where the last instruction has just set the nameless register `source` and led to `at`, makes it set `target` instead.
    pub fn retarget(&mut self, at: PointId, source: RegisterId, target: RegisterId) -> bool {
        if self.thread.registers[source.index()].name.is_some() {
            return false;
        }
        let Some(last) = self.thread.transitions.last_mut() else {
            return false;
        };
        let register = match &mut last.op {
            Op::Load { register, .. } => register,
            Op::Rmw {
                register: Some(register),
                ..
            } => register,
            _ => return false,
        };
        if last.to != at || *register != source {
            return false;
        }
        *register = target;
        true
    }

    /// One instruction to a new point.
    pub fn step(&mut self, from: PointId, op: Op, span: Span) -> PointId {
        let to = self.point(span);
        self.edge(from, to, op, span);
        to
    }

    /// A new register. Of several with one name, the last is found by it.
    pub fn register(&mut self, name: Option<&str>, span: Span) -> RegisterId {
        let id = RegisterId(self.thread.registers.len() as u32);
        self.thread.registers.push(Register {
            name: name.map(str::to_string),
            span,
        });
        if let Some(name) = name {
            self.registers.insert(name.to_string(), id);
        }
        id
    }

    /// The register with this name.
    pub fn register_named(&self, name: &str) -> Option<RegisterId> {
        self.registers.get(name).copied()
    }

    /// From here on the name stands for this register, or for none.
    pub fn bind(&mut self, name: &str, register: Option<RegisterId>) {
        match register {
            Some(register) => self.registers.insert(name.to_string(), register),
            None => self.registers.remove(name),
        };
    }

    /// The names of all registers that have one.
    pub fn register_names(&self) -> impl Iterator<Item = &str> {
        let registers = self.thread.registers.iter();
        registers.filter_map(|r| r.name.as_deref())
    }

    /// A label at a point.
    pub fn label(&mut self, name: &str, point: PointId, span: Span) -> LabelId {
        self.thread.labels.push(Label {
            name: name.to_string(),
            points: vec![point],
            span,
        });
        LabelId(self.thread.labels.len() as u32 - 1)
    }

    /// Says that a fence can be put here.
    pub fn place(
        &mut self,
        places: &mut Vec<Place>,
        point: PointId,
        kind: PlaceKind,
        name: Option<&str>,
        span: Span,
    ) {
        let entry = &mut self.thread.points[point.index()];
        entry.place = Some(PlaceId(places.len() as u32));
        entry.span = span;
        places.push(Place {
            thread: Some(self.id),
            kind,
            name: name.map(str::to_string),
            span,
        });
    }

    /// Says that a fence at a place that is known already can be put here, too.
    pub fn set_place(&mut self, point: PointId, place: PlaceId, span: Span) {
        let entry = &mut self.thread.points[point.index()];
        entry.place = Some(place);
        entry.span = span;
    }

    /// The statement that begins here is now known to its end.
    pub fn set_span(&mut self, point: PointId, span: Span) {
        self.thread.points[point.index()].span = span;
    }

    /// The finished thread, without the points that nothing leads to.
    pub fn finish(mut self) -> Thread {
        self.thread.sort_transitions();
        let thread = &self.thread;
        let mut reached = vec![false; thread.points.len()];
        reached[thread.initial.index()] = true;
        let mut todo = vec![thread.initial];
        while let Some(point) = todo.pop() {
            for transition in thread.outgoing(point) {
                if !std::mem::replace(&mut reached[transition.to.index()], true) {
                    todo.push(transition.to);
                }
            }
        }
        let mut numbers = Vec::with_capacity(reached.len());
        let mut count = 0;
        for reached in &reached {
            numbers.push(PointId(count));
            count += u32::from(*reached);
        }
        let mut thread = self.thread;
        let is_reached = |point: PointId| reached[point.index()];
        let number = |point: PointId| numbers[point.index()];
        thread.transitions.retain(|t| is_reached(t.from));
        for transition in &mut thread.transitions {
            transition.from = number(transition.from);
            transition.to = number(transition.to);
        }
        for label in &mut thread.labels {
            label.points.retain(|p| is_reached(*p));
            label.points.iter_mut().for_each(|p| *p = number(*p));
        }
        thread.initial = number(thread.initial);
        let mut index = 0;
        thread.points.retain(|_| {
            index += 1;
            reached[index - 1]
        });
        thread
    }
}
