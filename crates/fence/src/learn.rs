//! What a violation says about every choice of repairs that makes the criterion hold.
//!
//! A violation of the program with the repairs F is a run. Every other choice under which the program still has that run, and the run is still
//! wrong, is wrong too; what is learned is a clause that all those choices fail to meet, and F among them.

use palisade_check::{Criterion, Model, Witness};
use palisade_lang::never::mentions_deadlock;
use palisade_lang::{Instance, Op, Program, Repair, RmwAction, Span};
use palisade_memory::{EventKind, PatternKind};

use crate::candidates::Candidates;
use crate::cover::Clause;
use crate::execution::{Execution, Shows, Strength};
use crate::graph::{Changes, Graph};
use crate::passed::{Passed, steps_until};

/// What a violation of the program with the repairs `chosen` says. Nothing where its run cannot be followed.
pub(crate) fn learn(
    candidates: &Candidates,
    repaired: &Program,
    chosen: &[usize],
    witness: &Witness,
) -> Vec<Clause> {
    let copies;
    let program = match witness.copies {
        None => repaired,
        Some(number) => {
            copies = repaired.with_copies(number);
            &copies
        }
    };
    let lesson = Lesson {
        candidates,
        program,
        chosen,
        witness,
    };
    let clauses = match (witness.model, witness.criterion) {
        // Every program has its SC runs, whatever is fenced.
        (Model::Sc, Criterion::Safe | Criterion::Drf) => Some(vec![Clause::default()]),
        (Model::Tso, Criterion::Safe) => lesson.delayed_stores().map(|clause| vec![clause]),
        (Model::Ra, _) => lesson.release_acquire(),
        (Model::C20 | Model::Rc11, _) => lesson.orders(),
        (Model::Sc | Model::Tso, _) => lesson.delayed_store().map(|clause| vec![clause]),
    };
    let mut clauses = clauses.unwrap_or_default();
    for clause in &mut clauses {
        for part in [&mut clause.any, &mut clause.not_all] {
            part.sort();
            part.dedup();
        }
    }
    clauses.dedup();
    clauses.retain(|clause| !clause.is_met(chosen));
    clauses
}

struct Lesson<'a> {
    candidates: &'a Candidates,
    program: &'a Program,
    chosen: &'a [usize],
    witness: &'a Witness,
}

impl Lesson<'_> {
    /// What a running thread did up to an event, or to its last one.
    fn steps(&self, instance: &Instance, until: Option<usize>) -> Option<Vec<Passed>> {
        let events = &self.witness.events;
        let last = || {
            events
                .iter()
                .rposition(|e| e.thread == instance.name && e.kind != EventKind::Local)
        };
        match until.or_else(last) {
            Some(until) => steps_until(self.program, self.witness, instance, until),
            None => Some(Vec::new()),
        }
    }

    fn op(&self, instance: &Instance, step: &Passed) -> &Op {
        &self.program.thread(instance.thread).transitions[step.transition].op
    }

    /// The repairs that show in a step, chosen or not, of the kinds that are wanted.
    fn repairs_at(
        &self,
        instance: &Instance,
        step: &Passed,
        wanted: impl Fn(Repair) -> bool,
    ) -> Vec<usize> {
        let thread = self.program.thread(instance.thread);
        let transition = &thread.transitions[step.transition];
        let place = thread.points[step.point.index()].place;
        let all = self.candidates.all.iter().enumerate();
        all.filter(|(_, candidate)| wanted(candidate.repair))
            .filter(|(_, candidate)| match candidate.repair {
                Repair::Fence(fence) => Some(fence) == place,
                other => other.changes(transition),
            })
            .map(|(index, _)| index)
            .collect()
    }

    /// TSO: one thread's store waits in its buffer while a later load of that thread is executed. Whatever else is fenced, the run stays possible and
    /// wrong as long as nothing makes the thread wait between the two.
    ///
    /// Read-modify-writes are not only fences: they are other events. Outside those two accesses and what lies between them,
    /// buffers are empty whenever a store is executed, so a store or load that becomes a read-modify-write is possible there as well, reads the same
    /// value and leaves the same value behind; and it comes after everything that the store or load came after, and before everything that
    /// it came before. So that does not help. But one that has been chosen may be what makes the run wrong: the
    /// clause is also met by leaving one of those out. (An exchange makes no cycle that the store does not make.)
    fn delayed_store(&self) -> Option<Clause> {
        let (store, load) = self.store_and_load()?;
        let name = &self.witness.events.get(load)?.thread;
        let instances = self.program.instances();
        let pivot = instances.iter().find(|i| i.name == *name)?;
        let steps = self.steps(pivot, Some(load))?;
        let begin = steps.iter().position(|s| s.event == Some(store))?;
        let mut any = Vec::new();
        for (at, step) in steps.iter().enumerate().skip(begin) {
            let (first, last) = (at == begin, step.event == Some(load));
            any.extend(self.repairs_at(pivot, step, |repair| match repair {
                // Before the store is too early.
                Repair::Fence(_) | Repair::Keep(_) => !first,
                Repair::SeqCst(_) => !last,
                Repair::Rmw(_) => true,
            }));
        }
        let mut not_all = Vec::new();
        let has_rmws = self.candidates.all.iter();
        if has_rmws
            .map(|c| c.repair)
            .any(|repair| matches!(repair, Repair::Rmw(_)))
        {
            // The other accesses of a pattern must be what they are.
            let others = match &self.witness.pattern {
                Some(pattern) => pattern.events.get(2..).unwrap_or_default(),
                None => &[],
            };
            for instance in &instances {
                for step in self.steps(instance, None)? {
                    let here =
                        self.repairs_at(instance, &step, |repair| matches!(repair, Repair::Rmw(_)));
                    let may_be_needed =
                        self.witness.pattern.is_some() || !is_exchange(self.op(instance, &step));
                    for repair in here {
                        if self.chosen.contains(&repair) {
                            if !may_be_needed {
                                continue;
                            }
                            not_all.push(repair);
                        } else if step.event.is_some_and(|event| others.contains(&event)) {
                            any.push(repair);
                        }
                    }
                }
            }
        }
        any.retain(|repair| !self.chosen.contains(repair));
        Some(Clause { any, not_all })
    }

    /// TSO, where it is not a cycle that is wrong but what has happened: the run stays possible as long as no thread has to wait, at a moment when its buffer
    /// is not empty, for its buffer to become empty. With other read-modify-writes it is another run.
    fn delayed_stores(&self) -> Option<Clause> {
        let events = &self.witness.events;
        let (mut any, mut not_all) = (Vec::new(), Vec::new());
        for instance in &self.program.instances() {
            // How many stores wait before each event.
            let mut waiting = Vec::new();
            let mut now = 0usize;
            for event in events {
                waiting.push(now);
                match event.kind {
                    _ if event.thread != instance.name => {}
                    EventKind::Issue => now += 1,
                    EventKind::Flush => now = now.saturating_sub(1),
                    _ => {}
                }
            }
            let mut after = None;
            let steps = self.steps(instance, None)?;
            for (at, step) in steps.iter().enumerate() {
                let begin = after.map_or(0, |event: usize| event + 1);
                // Behind the last event it can wait: at the end all buffers are empty.
                let end = steps[at..].iter().find_map(|s| s.event);
                let must_wait = end.is_some_and(|end| (begin..=end).all(|e| waiting[e] > 0));
                for repair in self.repairs_at(instance, step, |_| true) {
                    match self.candidates.all[repair].repair {
                        Repair::Rmw(_) if self.chosen.contains(&repair) => not_all.push(repair),
                        Repair::Rmw(_) | Repair::SeqCst(_) => any.push(repair),
                        Repair::Fence(_) | Repair::Keep(_) if must_wait => any.push(repair),
                        Repair::Fence(_) | Repair::Keep(_) => {}
                    }
                }
                after = step.event.or(after);
            }
        }
        any.retain(|repair| !self.chosen.contains(repair));
        Some(Clause { any, not_all })
    }

    /// The delayed store and the load that overtakes it, by event indices.
    fn store_and_load(&self) -> Option<(usize, usize)> {
        if let Some(pattern) = &self.witness.pattern {
            // Fragile: [e1, e, …]; triangular race: [store, load, …].
            return match (self.witness.criterion, &pattern.events[..]) {
                (Criterion::Persistent | Criterion::Trf, [store, load, ..]) => {
                    Some((*store, *load))
                }
                _ => None,
            };
        }
        // A TSO run: the first store that waits in its buffer while its thread loads, and the last load before it leaves.
        let events = &self.witness.events;
        events.iter().enumerate().find_map(|(flush, event)| {
            let issue = event.issue.filter(|_| event.kind == EventKind::Flush)?;
            let load = (issue..flush)
                .rev()
                .find(|&i| events[i].thread == event.thread && events[i].kind == EventKind::Load)?;
            Some((issue, load))
        })
    }

    /// Release/acquire: fences are events, read-modify-writes of a location of their own, so more of them may be worse; and so is everything that
    /// becomes a read-modify-write.
    ///
    /// Take the execution graph of the run. With fewer fences and read-modify-writes it has fewer edges of happens-before (and fewer writes that
    /// nothing may come between), so what release/acquire allows it allows with fewer of them, too. With more of them it has
    /// more edges, and a cycle stays a cycle. So, for a set S of repairs on the run that contains the chosen ones: if the graph with S is
    /// still allowed, it is a violation for all choices that have the repairs that its cycle needs and, of those on the run, only such of
    /// S. The larger S is, the more is learned: it grows greedily, once for each thread, whose own repairs then come last.
    ///
    /// Where it is not a cycle that is wrong but what has happened, no repair is needed for it.
    ///
    /// The cycle needs a fence where it goes in or out by another edge than program order, and likewise a load that became a
    /// read-modify-write. A store that became one it does not need: the other edges that it has as a load, it has as a store.
    fn release_acquire(&self) -> Option<Vec<Clause>> {
        let mut instances = self.program.instances();
        let events = &self.witness.events;
        instances.retain(|i| events.iter().any(|e| e.thread == i.name));
        let is_chosen = |repair: &usize| self.chosen.contains(repair);
        // Where each repair is on the run.
        let mut passes: Vec<(usize, Pass)> = Vec::new();
        let mut needed = Vec::new();
        for (thread, instance) in instances.iter().enumerate() {
            let mut after = None;
            let steps = self.steps(instance, None)?;
            for (at, step) in steps.iter().enumerate() {
                let before = steps[at..].iter().find_map(|s| s.event);
                let in_cycle = step.event.is_some_and(|event| self.is_in_cycle(event));
                for repair in self.repairs_at(instance, step, |_| true) {
                    if is_chosen(&repair) && in_cycle && !is_exchange(self.op(instance, step)) {
                        needed.push(repair);
                    }
                    let pass = Pass {
                        thread,
                        after,
                        before: before.unwrap_or(events.len()),
                        event: step.event,
                    };
                    passes.push((repair, pass));
                }
                after = step.event.or(after);
            }
        }
        let mut passed: Vec<usize> = passes.iter().map(|(repair, _)| *repair).collect();
        passed.sort();
        passed.dedup();
        let names: Vec<&str> = instances.iter().map(|i| i.name.as_str()).collect();
        let nothing = Changes::default();
        let graph = match Graph::new(self.program, self.witness, &names) {
            Some(graph) if self.stays_wrong() && graph.is_allowed(&nothing) => graph,
            // A race, or something that is not looked at more closely.
            _ => return Some(vec![self.whole_run(&passed)]),
        };
        let mut clauses = Vec::new();
        for last in 0..instances.len() {
            let is_late = |repair: &usize| {
                let mut of = passes.iter().filter(|(r, _)| r == repair);
                of.any(|(_, pass)| pass.thread == last)
            };
            let (late, early): (Vec<usize>, Vec<usize>) = passed
                .iter()
                .copied()
                .filter(|repair| !is_chosen(repair))
                .partition(is_late);
            let mut changes = Changes::default();
            let mut any = Vec::new();
            for repair in early.into_iter().chain(late) {
                let of = passes.iter().filter(|(r, _)| *r == repair);
                let is_rmw = matches!(self.candidates.all[repair].repair, Repair::Rmw(_));
                match with_all(&graph, &changes, is_rmw, of.map(|(_, pass)| pass)) {
                    Some(grown) => changes = grown,
                    None => any.push(repair),
                }
            }
            clauses.push(Clause {
                any,
                not_all: needed.clone(),
            });
        }
        if clauses.is_empty() {
            // It is wrong before anything has happened.
            clauses.push(Clause::default());
        }
        Some(clauses)
    }

    /// What the run says where it is not looked at more closely: another choice among the repairs on it is another run.
    fn whole_run(&self, passed: &[usize]) -> Clause {
        let is_chosen = |repair: &usize| self.chosen.contains(repair);
        Clause {
            any: passed.iter().copied().filter(|r| !is_chosen(r)).collect(),
            not_all: passed.iter().copied().filter(is_chosen).collect(),
        }
    }

    /// Whether the run, as long as the model has it, is wrong whatever is fenced: it is not, where two accesses race only because nothing orders
    /// them, or where it matters that no thread can go on.
    fn stays_wrong(&self) -> bool {
        match &self.witness.pattern {
            None => true,
            Some(pattern) if pattern.kind == PatternKind::Error => true,
            Some(pattern) if pattern.kind == PatternKind::Never => !mentions_deadlock(self.program),
            Some(_) => false,
        }
    }

    /// C++20 and RC11: the stronger, the fewer graphs (see `execution`).
    fn orders(&self) -> Option<Vec<Clause>> {
        let is_chosen = |repair: usize| self.chosen.contains(&repair);
        let repair = |repair: usize| self.candidates.all[repair].repair;
        let shows = |instance: &Instance, step: &Passed, _: bool| {
            let of = self.repairs_at(instance, step, |_| true).into_iter();
            let shown = |index: usize| match repair(index) {
                Repair::Fence(_) if !is_chosen(index) => Shows::Before(index),
                _ => Shows::Here(index),
            };
            of.map(shown).collect()
        };
        let execution = Execution::new(self.program, self.witness, &shows)?;
        let passed = execution.choices();
        // What a load that adds 0 writes is one more write in the graph.
        let adds_nothing = |&index: &usize| match repair(index) {
            Repair::Rmw(span) => !self.stores().any(|store| store == span),
            _ => false,
        };
        let deadlock = self.witness.pattern.as_ref().is_some_and(|pattern| {
            pattern.kind == PatternKind::Never && mentions_deadlock(self.program)
        });
        if deadlock || passed.iter().any(adds_nothing) {
            return Some(vec![self.whole_run(&passed)]);
        }
        let level = |index: usize| match repair(index) {
            Repair::Fence(_) | Repair::Keep(_) => Strength::FULL,
            Repair::SeqCst(_) => Strength::RELEASE.with(Strength::SEQCST),
            Repair::Rmw(_) => Strength::ACQREL.with(Strength::EXCHANGE),
        };
        let start: Vec<Strength> = (0..self.candidates.all.len())
            .map(|index| match is_chosen(index) {
                true => level(index),
                false => Strength::NONE,
            })
            .collect();
        if !execution.is_violation(&|choice| start[choice]) {
            return None;
        }
        let clauses = execution.orders().into_iter().map(|order| {
            let strongest = execution.strongest(&start, &|index| vec![level(index)], &order);
            let is_left = |index: &usize| strongest[*index] == Strength::NONE;
            Clause {
                any: passed.iter().copied().filter(is_left).collect(),
                not_all: Vec::new(),
            }
        });
        let mut clauses: Vec<Clause> = clauses.collect();
        if clauses.is_empty() {
            // Nothing on the run can be changed.
            clauses.push(Clause::default());
        }
        Some(clauses)
    }

    /// The spans of stores, those that have become exchanges included.
    fn stores(&self) -> impl Iterator<Item = Span> {
        let all = self.program.threads.iter().flat_map(|t| &t.transitions);
        let is_store = |op: &Op| matches!(op, Op::Store { .. }) || is_exchange(op);
        all.filter(move |t| is_store(&t.op)).map(|t| t.span)
    }

    /// Whether the cycle goes over an edge other than program order at this event.
    fn is_in_cycle(&self, event: usize) -> bool {
        self.witness.edges.iter().any(|edge| {
            edge.relation != palisade_memory::RelationName::Po
                && (edge.from == event || edge.to == event)
        })
    }
}

fn is_exchange(op: &Op) -> bool {
    let Op::Rmw { action, .. } = op else {
        return false;
    };
    matches!(action, RmwAction::Exchange(_))
}

/// Where a repair is on a run.
struct Pass {
    thread: usize,
    /// Behind this event of its thread …
    after: Option<usize>,
    /// … and before this one.
    before: usize,
    /// The event itself, for an access.
    event: Option<usize>,
}

/// The changes and one more for each pass, fences somewhere where the graph is still allowed.
fn with_all<'p>(
    graph: &Graph,
    changes: &Changes,
    is_rmw: bool,
    passes: impl Iterator<Item = &'p Pass>,
) -> Option<Changes> {
    let mut changes = changes.clone();
    for pass in passes {
        if is_rmw {
            changes.rmws.push(pass.event?);
            continue;
        }
        let first = pass.after.map_or(0, |event| event + 1);
        let slot = (first..=pass.before).rev().find(|&slot| {
            changes.fences.push((slot, pass.thread));
            let allowed = graph.is_allowed(&changes);
            changes.fences.pop();
            allowed
        })?;
        changes.fences.push((slot, pass.thread));
    }
    (!is_rmw || graph.is_allowed(&changes)).then_some(changes)
}
