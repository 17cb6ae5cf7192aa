//! From the tree to a [`Program`]: declarations here, constant expressions in [`constant`], the code of threads in [`body`] and
//! [`value`], what a place is in [`shape`] and how it is accessed in [`place`], `never` in [`never`].

mod body;
mod constant;
mod never;
mod place;
mod shape;
mod value;

use rustc_hash::FxHashMap as HashMap;

use crate::expr::{Domain, Value};
use crate::program::{
    Copies, Language, Location, LocationId, Never, Place, PlaceId, PlaceKind, Program, RegisterId,
    Thread, ThreadId,
};
use crate::source::{Diagnostic, Source, Span};

use self::shape::{Shape, StructFacts};
use super::ast::*;
use super::diagnostics::Diagnostics;
use super::parser::shorten;

/// What a location takes of what may be made, with its name and its row in every table.
const NODES_OF_A_LOCATION: u64 = 2;

/// More locations than this are refused.
const MAX_LOCATIONS: usize = 1 << 22;

/// More copies of a thread than this are refused.
const MAX_COPIES: Value = 1_000_000;

/// The program that the tree means. Where something is wrong, `diagnostics` says so and the program is of no use.
pub(super) fn lower(
    source: &Source,
    ast: &Ast<'_>,
    domain: Option<Domain>,
    diagnostics: &mut Diagnostics,
) -> Program {
    let mut globals = Globals::new(source, ast, diagnostics);
    globals.constants(domain);
    globals.declare_structs();
    globals.locations();
    globals.name_functions();
    let threads = globals.threads();
    let nevers = globals.nevers(&threads);
    globals.warn_unused();
    Program {
        name: ast.name.map(|n| n.text.to_string()),
        source: source.clone(),
        language: Language::Pal,
        domain: globals.domain,
        locations: globals.locations,
        threads: threads.into_iter().map(|t| t.thread).collect(),
        nevers,
        places: globals.places,
        bounds: Vec::new(),
        faults: Vec::new(),
    }
}

/// What the whole file declares.
struct Globals<'a, 'd> {
    source: &'a Source,
    ast: &'a Ast<'a>,
    diagnostics: &'d mut Diagnostics,
    domain: Domain,
    consts: HashMap<&'a str, usize>,
    /// By index in [`Ast::consts`]: the value in 64 bits, for sizes and counts, and with the domain, for everything else.
    const_values: Vec<(Option<Value>, Option<Value>)>,
    struct_ids: HashMap<&'a str, usize>,
    structs: Vec<StructFacts<'a>>,
    shared: HashMap<&'a str, Shared>,
    /// What each name of [`Globals::shared`] stands for.
    shapes: Vec<Shape>,
    locations: Vec<Location>,
    functions: HashMap<&'a str, usize>,
    /// By index in [`Ast::fns`].
    function_facts: Vec<FunctionFacts<'a>>,
    thread_ids: HashMap<&'a str, usize>,
    places: Vec<Place>,
    place_ids: HashMap<(u32, PlaceKind), PlaceId>,
    /// Whether some expression has effects, by [`ExprId`]: 0 not looked at yet, 1 no, 2 yes.
    effects: Vec<u8>,
    /// Some address is computed: any location may be meant.
    pointers: bool,
    /// Statements of functions that were inlined so far.
    inlined: usize,
    /// There is more than there may be; this has been said.
    too_large: bool,
}

/// A declared location or array.
#[derive(Clone, Copy)]
struct Shared {
    first: LocationId,
    /// Of the first dimension. `None`: no array.
    length: Option<u32>,
    /// Whether it is a location, or an array of locations with one dimension.
    basic: bool,
    /// By index in [`Globals::shapes`].
    shape: usize,
    nonatomic: bool,
    mentioned: bool,
}

/// A thread, and what only a `never` wants to know.
struct LoweredThread<'a> {
    thread: Thread,
    /// The registers of the outermost block.
    outer: HashMap<&'a str, RegisterId>,
    /// The structs that they point to.
    outer_pointees: HashMap<&'a str, usize>,
}

#[derive(Default)]
struct FunctionFacts<'a> {
    called: bool,
    /// The names that are assigned to somewhere in the body.
    assigned: rustc_hash::FxHashSet<&'a str>,
}

impl<'a, 'd> Globals<'a, 'd> {
    fn new(source: &'a Source, ast: &'a Ast<'a>, diagnostics: &'d mut Diagnostics) -> Self {
        Globals {
            source,
            ast,
            diagnostics,
            domain: Domain::FULL,
            consts: HashMap::default(),
            const_values: vec![(None, None); ast.consts.len()],
            struct_ids: HashMap::default(),
            structs: Vec::new(),
            shared: HashMap::default(),
            shapes: Vec::new(),
            locations: Vec::new(),
            functions: HashMap::default(),
            function_facts: Vec::new(),
            thread_ids: HashMap::default(),
            places: Vec::new(),
            place_ids: HashMap::default(),
            effects: vec![0; ast.exprs.len()],
            pointers: false,
            inlined: 0,
            too_large: false,
        }
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn declared_twice(&mut self, name: Name<'_>, first: Span) {
        let diagnostic = Diagnostic::error(
            name.span,
            format!("`{}` is declared twice", shorten(name.text)),
        )
        .label("declared again here")
        .help(format!(
            "the first declaration is in line {}",
            self.line(first)
        ));
        self.error(diagnostic);
    }

    fn locations(&mut self) {
        let ast = self.ast;
        let mut first_spans: HashMap<&str, Span> = ast
            .consts
            .iter()
            .rev()
            .map(|c| (c.name.text, c.name.span))
            .collect();
        let mut initials = Vec::new();
        for decl in &ast.shared {
            if let Some(first) = first_spans.insert(decl.name.text, decl.name.span) {
                self.declared_twice(decl.name, first);
                continue;
            }
            let shape = self.declared_shape(decl);
            let elements = self.size(&shape) as usize;
            if self.locations.len() + elements > MAX_LOCATIONS {
                return self.too_many_locations(decl.name.span);
            }
            if !crate::meter::charge(elements as u64 * NODES_OF_A_LOCATION) {
                self.too_large = true;
                let message = "the program is too large for the limits that are set";
                let diagnostic = Diagnostic::error(decl.name.span, message);
                return self.error(diagnostic.label("with the locations of this"));
            }
            let first = LocationId(self.locations.len() as u32);
            self.shared.insert(
                decl.name.text,
                Shared {
                    first,
                    length: shape.length(),
                    basic: shape.is_basic(),
                    shape: self.shapes.len(),
                    nonatomic: decl.nonatomic,
                    mentioned: false,
                },
            );
            initials.push((first, decl));
            self.push_locations(decl.name.text, &shape, decl.name.span);
            self.shapes.push(shape);
        }
        self.struct_initials();
        // Initial values may be addresses of locations that are declared later.
        for (first, decl) in initials {
            self.initial_values(first, decl);
        }
    }

    fn initial_values(&mut self, first: LocationId, decl: &'a Decl<'a>) {
        let shape = self.shapes[self.shared[decl.name.text].shape].clone();
        if shape.of.is_some() {
            if !matches!(decl.initial, Initial::Zero) {
                self.error(
                    Diagnostic::error(decl.name.span, "a struct has no single initial value")
                        .label("declared here")
                        .help("its fields have initial values: `struct S { field = 1 }`"),
                );
            }
            return;
        }
        let count = self.size(&shape) as usize;
        let Some(values) = self.initial_list(decl, count, shape.length().is_some()) else {
            return;
        };
        for (location, value) in self.locations[first.index()..].iter_mut().zip(values) {
            location.initial = value;
        }
    }

    /// The initial values of so many locations, unless all are 0.
    fn initial_list(
        &mut self,
        decl: &Decl<'_>,
        count: usize,
        is_array: bool,
    ) -> Option<Vec<Value>> {
        match &decl.initial {
            Initial::Zero => None,
            Initial::One(value) => {
                let value = self.constant_value(*value).unwrap_or(0);
                Some(vec![self.domain.reduce(value); count])
            }
            Initial::List(values, span) => {
                let name = shorten(decl.name.text);
                if !is_array {
                    self.error(
                        Diagnostic::error(*span, format!("`{name}` is no array"))
                            .label("expected one value")
                            .help(format!(
                                "an array is declared with its size: `{name}[{}]`",
                                values.len()
                            )),
                    );
                    return None;
                }
                if values.len() != count {
                    self.error(
                        Diagnostic::error(
                            *span,
                            format!(
                                "`{name}` has {count} elements, but there are {} values",
                                values.len()
                            ),
                        )
                        .label(format!("expected {count} values")),
                    );
                }
                let mut list = Vec::with_capacity(count);
                for value in values {
                    let value = self.constant_value(*value).unwrap_or(0);
                    list.push(self.domain.reduce(value));
                }
                list.truncate(count);
                Some(list)
            }
        }
    }

    fn name_functions(&mut self) {
        let ast = self.ast;
        for (index, function) in ast.fns.iter().enumerate() {
            if let Some(first) = self.functions.get(function.name.text) {
                let first = ast.fns[*first].name.span;
                self.declared_twice(function.name, first);
            } else {
                self.functions.insert(function.name.text, index);
            }
            let mut seen: HashMap<&str, Span> = HashMap::default();
            for parameter in &function.parameters {
                let name = parameter.name;
                if let Some(first) = seen.insert(name.text, name.span) {
                    self.declared_twice(name, first);
                }
            }
            let mut facts = FunctionFacts::default();
            assigned_names(ast, &function.body, &mut facts.assigned);
            self.function_facts.push(facts);
        }
    }

    fn threads(&mut self) -> Vec<LoweredThread<'a>> {
        let ast = self.ast;
        let mut threads = Vec::with_capacity(ast.threads.len());
        for (index, item) in ast.threads.iter().enumerate() {
            if let Some(first) = self.thread_ids.get(item.name.text) {
                let first = ast.threads[*first].name.span;
                self.declared_twice(item.name, first);
            } else {
                self.thread_ids.insert(item.name.text, index);
            }
            let copies = match item.copies {
                CopiesItem::One => Copies::One,
                CopiesItem::Any => Copies::Any,
                CopiesItem::Number(number) => {
                    let copies = self.count(number, "a thread's number of copies");
                    Copies::Fixed(copies.unwrap_or(1))
                }
            };
            threads.push(body::thread(self, ThreadId(index as u32), item, copies));
        }
        // In code that never runs there is no place for a fence.
        let places = self.places.len();
        for index in 0..ast.fns.len() {
            if !self.function_facts[index].called {
                body::check_function(self, index);
            }
        }
        self.places.truncate(places);
        threads
    }

    fn nevers(&mut self, threads: &[LoweredThread<'a>]) -> Vec<Never> {
        let ast = self.ast;
        ast.nevers
            .iter()
            .map(|(condition, span)| Never {
                conditions: vec![never::condition(self, threads, *condition)],
                span: *span,
            })
            .collect()
    }

    /// A number of elements or copies: evaluated in 64 bits, and small.
    fn count(&mut self, id: ExprId, what: &str) -> Option<u32> {
        let value = self.constant_count(id)?;
        if (0..=MAX_COPIES.max(MAX_LOCATIONS as Value)).contains(&value) {
            return Some(value as u32);
        }
        let span = self.ast.expr(id).span;
        self.error(
            Diagnostic::error(span, format!("{what} cannot be {value}"))
                .label(format!("this is {value}")),
        );
        None
    }

    /// The id of the place at `span`, which is the same in every inlined copy of a function.
    fn place(
        &mut self,
        thread: Option<ThreadId>,
        kind: PlaceKind,
        span: Span,
        name: Option<&str>,
    ) -> PlaceId {
        let places = &mut self.places;
        if thread.is_some() {
            // The statements of a thread are lowered once.
            places.push(Place {
                thread,
                kind,
                name: name.map(str::to_string),
                span,
            });
            return PlaceId(places.len() as u32 - 1);
        }
        *self.place_ids.entry((span.start, kind)).or_insert_with(|| {
            places.push(Place {
                thread,
                kind,
                name: name.map(str::to_string),
                span,
            });
            PlaceId(places.len() as u32 - 1)
        })
    }

    /// A mention of a shared name.
    fn shared(&mut self, name: &str) -> Option<Shared> {
        let shared = self.shared.get_mut(name)?;
        shared.mentioned = true;
        Some(*shared)
    }

    fn warn_unused(&mut self) {
        if self.pointers || self.diagnostics.has_errors() {
            return;
        }
        let ast = self.ast;
        for decl in &ast.shared {
            let name = decl.name.text;
            if self.shared.get(name).is_some_and(|s| !s.mentioned) {
                self.diagnostics.push(
                    Diagnostic::warning(
                        decl.name.span,
                        format!("`{}` is never used", shorten(name)),
                    )
                    .label("declared here"),
                );
            }
        }
    }
}

fn assigned_names<'a>(
    ast: &Ast<'a>,
    block: &Block<'a>,
    assigned: &mut rustc_hash::FxHashSet<&'a str>,
) {
    for stmt in &block.stmts {
        match &stmt.kind {
            StmtKind::Assign { place, .. } | StmtKind::Update { place, .. } => {
                if let ExprKind::Name(name) = ast.expr(*place).kind {
                    assigned.insert(name.text);
                }
            }
            StmtKind::Let { name, .. } | StmtKind::LetArray(name, _) => {
                assigned.insert(name.text);
            }
            kind => {
                if let StmtKind::For { name, .. } = kind {
                    assigned.insert(name.text);
                }
                for block in kind.blocks() {
                    assigned_names(ast, block, assigned);
                }
            }
        }
    }
}
