//! Where fences can be put into the user's text: before the statements that threads come to.

use crate::mir::SourceSpan;
use crate::program::Places;
use crate::run::build::Automaton;
use palisade_lang::{
    Op, Place, PlaceId, PlaceKind, Point, PointId, Span, Thread, ThreadId, Transition,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use syn::spanned::Spanned;

/// The statements of the first file.
#[derive(Default)]
pub struct Statements {
    /// Outer ones before those in them, with the function or closure that each is in.
    all: Vec<(Span, usize)>,
    /// Functions and closures, outer ones before those in them.
    bodies: Vec<Span>,
    /// The bodies that are being looked at.
    open: Vec<usize>,
}

fn span_of(node: &impl Spanned) -> Span {
    let range = node.span().byte_range();
    Span::new(range.start, range.end)
}

impl Statements {
    /// Those of a text; none where it cannot be parsed.
    pub fn new(text: &str) -> Self {
        let mut statements = Statements::default();
        if let Ok(file) = syn::parse_file(text) {
            syn::visit::Visit::visit_file(&mut statements, &file);
        }
        statements
    }

    fn inside(&mut self, body: Span, visit: impl FnOnce(&mut Self)) {
        self.open.push(self.bodies.len());
        self.bodies.push(body);
        visit(self);
        self.open.pop();
    }

    /// The statements that a place is in, within its function or closure, outer ones first.
    fn around(&self, place: Span) -> Vec<usize> {
        let has = |span: &Span| span.start <= place.start && place.end <= span.end;
        let Some(body) = self.bodies.iter().rposition(has) else {
            return Vec::new();
        };
        let mine = |(span, of): &(Span, usize)| *of == body && has(span);
        let all = self.all.iter().enumerate();
        all.filter(|(_, found)| mine(found))
            .map(|(at, _)| at)
            .collect()
    }
}

impl<'a> syn::visit::Visit<'a> for Statements {
    fn visit_item_fn(&mut self, found: &'a syn::ItemFn) {
        self.inside(span_of(&found.block), |s| {
            syn::visit::visit_item_fn(s, found)
        });
    }

    fn visit_impl_item_fn(&mut self, found: &'a syn::ImplItemFn) {
        self.inside(span_of(&found.block), |s| {
            syn::visit::visit_impl_item_fn(s, found)
        });
    }

    fn visit_trait_item_fn(&mut self, found: &'a syn::TraitItemFn) {
        let whole = span_of(found);
        self.inside(whole, |s| syn::visit::visit_trait_item_fn(s, found));
    }

    fn visit_expr_closure(&mut self, found: &'a syn::ExprClosure) {
        let body = span_of(&found.body);
        self.inside(body, |s| syn::visit::visit_expr_closure(s, found));
    }

    fn visit_stmt(&mut self, found: &'a syn::Stmt) {
        if let (Some(&body), false) = (self.open.last(), matches!(found, syn::Stmt::Item(_))) {
            self.all.push((span_of(found), body));
        }
        syn::visit::visit_stmt(self, found);
    }
}

/// Gives the threads of a program places for fences.
pub struct Placing<'a> {
    statements: &'a Statements,
    places: &'a Places<'a>,
    found: FxHashMap<*const Vec<SourceSpan>, Rc<Vec<usize>>>,
    /// For each thread and each point the statements that begin there, outer ones first, by the transitions that lead there.
    begins: Vec<(ThreadId, usize, Vec<usize>)>,
}

impl<'a> Placing<'a> {
    /// Nothing so far.
    pub fn new(statements: &'a Statements, places: &'a Places<'a>) -> Self {
        Placing {
            statements,
            places,
            found: FxHashMap::default(),
            begins: Vec::new(),
        }
    }

    fn around(&mut self, spans: &Rc<Vec<SourceSpan>>) -> Rc<Vec<usize>> {
        if let Some(found) = self.found.get(&Rc::as_ptr(spans)) {
            return found.clone();
        }
        let mut all: Vec<usize> = Vec::new();
        for place in spans.iter().filter_map(|span| self.places.find(span)) {
            all.extend(self.statements.around(place));
        }
        all.sort_unstable();
        all.dedup();
        let all = Rc::new(all);
        self.found.insert(Rc::as_ptr(spans), all.clone());
        all
    }

    /// Looks at a thread: which statements begin where.
    pub fn add(&mut self, id: ThreadId, automaton: &Automaton) {
        let mut at = vec![None; automaton.points];
        for edge in &automaton.edges {
            let around = self.around(&edge.spans);
            at[edge.from].get_or_insert(around);
        }
        for (number, edge) in automaton.edges.iter().enumerate() {
            let Some(to) = &at[edge.to] else { continue };
            let from = self.around(&edge.spans);
            let new: Vec<usize> = to.iter().copied().filter(|s| !from.contains(s)).collect();
            if !new.is_empty() {
                self.begins.push((id, number, new));
            }
        }
    }

    /// Puts the places into the threads, whose transitions are numbered as the edges of their automata.
    pub fn place(mut self, threads: &mut [Thread], automata: &[&Automaton]) -> Vec<Place> {
        self.without_same();
        let mut numbers: FxHashMap<usize, PlaceId> = FxHashMap::default();
        let mut places: Vec<Place> = Vec::new();
        let mut wanted: Vec<usize> = self
            .begins
            .iter()
            .flat_map(|(_, _, all)| all.clone())
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        for statement in wanted {
            numbers.insert(statement, PlaceId(places.len() as u32));
            let of = |(id, _, all): &(ThreadId, usize, Vec<usize>)| {
                all.contains(&statement).then_some(*id)
            };
            let owners: FxHashSet<ThreadId> = self.begins.iter().filter_map(of).collect();
            places.push(Place {
                thread: owners.iter().next().copied().filter(|_| owners.len() == 1),
                kind: PlaceKind::BeforeStatement,
                name: None,
                span: self.statements.all[statement].0,
            });
        }
        for (index, thread) in threads.iter_mut().enumerate() {
            let id = ThreadId(index as u32);
            let mut entries: FxHashMap<(usize, Vec<usize>), Vec<usize>> = FxHashMap::default();
            for (_, edge, all) in self.begins.iter().filter(|(of, ..)| *of == id) {
                let to = automata[index].edges[*edge].to;
                entries.entry((to, all.clone())).or_default().push(*edge);
            }
            let mut entries: Vec<_> = entries.into_iter().collect();
            entries.sort();
            for ((to, all), edges) in entries {
                // One point for each statement that begins, with nothing between them, before the point where the thread arrives; that itself, where nothing else
                // leads there.
                let span = thread.points[to].span;
                let mut next = PointId(to as u32);
                let arriving = automata[index].edges.iter().filter(|e| e.to == to);
                let own = arriving.count() == edges.len();
                for (depth, statement) in all.iter().rev().enumerate() {
                    if own && depth == 0 {
                        thread.points[to].place = Some(numbers[statement]);
                        continue;
                    }
                    let point = PointId(thread.points.len() as u32);
                    thread.points.push(Point {
                        name: None,
                        atomic: false,
                        place: Some(numbers[statement]),
                        span,
                    });
                    thread.transitions.push(Transition {
                        from: point,
                        to: next,
                        op: Op::Skip,
                        span,
                    });
                    next = point;
                }
                for edge in edges {
                    thread.transitions[edge].to = next;
                }
            }
        }
        places
    }

    /// Of statements that always begin together, the outer one is enough.
    fn without_same(&mut self) {
        let mut entries: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (number, (_, _, all)) in self.begins.iter().enumerate() {
            for statement in all {
                entries.entry(*statement).or_default().push(number);
            }
        }
        let mut kept: FxHashMap<&Vec<usize>, usize> = FxHashMap::default();
        let mut order: Vec<(&usize, &Vec<usize>)> = entries.iter().collect();
        order.sort();
        let mut same = FxHashSet::default();
        for (statement, numbers) in order {
            if kept.insert(numbers, *statement).is_some() {
                same.insert(*statement);
            }
        }
        for (_, _, all) in &mut self.begins {
            all.retain(|statement| !same.contains(statement));
        }
        self.begins.retain(|(_, _, all)| !all.is_empty());
    }
}
