//! What is declared under a name: one location, an array of any dimensions, a struct. And which location a path such as `pool[i].next` or
//! `p->next` leads to.

use std::rc::Rc;

use rustc_hash::FxHashMap as HashMap;

use crate::expr::{Expr, Value};
use crate::program::{Location, LocationId};
use crate::source::{Diagnostic, Span};

use super::super::ast::*;
use super::super::parser::shorten;
use super::{Globals, MAX_LOCATIONS};

/// What a name or a part of it stands for.
#[derive(Clone)]
pub(super) struct Shape {
    /// The dimensions of the array, outermost first; those before `at` have got their index already.
    dims: Rc<[u32]>,
    at: usize,
    /// The struct that the elements are.
    pub of: Option<usize>,
    pub nonatomic: bool,
    /// The struct that the values point to.
    pub pointee: Option<usize>,
}

impl Shape {
    /// The length of the next dimension, if it is an array.
    pub fn length(&self) -> Option<u32> {
        self.dims.get(self.at).copied()
    }

    pub fn is_scalar(&self) -> bool {
        self.length().is_none() && self.of.is_none()
    }

    /// A location or an array of one dimension, as the first round of the language has them.
    pub fn is_basic(&self) -> bool {
        self.of.is_none() && self.dims.len() <= 1
    }

    fn struct_of(of: usize) -> Self {
        Shape {
            dims: Rc::new([]),
            at: 0,
            of: Some(of),
            nonatomic: false,
            pointee: None,
        }
    }
}

/// A declared struct.
pub(super) struct StructFacts<'a> {
    pub name: Name<'a>,
    fields: HashMap<&'a str, Field>,
    size: u32,
    /// The first location of every one that is declared.
    pub instances: Vec<LocationId>,
}

#[derive(Clone)]
struct Field {
    offset: u32,
    shape: Shape,
}

/// An index that is not known before the program runs.
pub(super) struct Term<A> {
    pub index: Expr<A>,
    pub length: u32,
    /// How many locations one step of the index is.
    pub stride: u32,
    /// Where the index is written.
    pub span: Span,
}

/// Where a path begins.
pub(super) enum Start<A> {
    Location(LocationId),
    /// At what the value points to: one of the structs of this kind.
    Pointer(Expr<A>, usize),
}

/// A place, as far as it has been read.
pub(super) struct Path<A> {
    pub start: Start<A>,
    /// What is added to the location of the start, apart from the terms.
    pub offset: u32,
    pub terms: Vec<Term<A>>,
    pub shape: Shape,
}

/// What a path needs to know from where it stands: in a thread's code, in a `never`, or in a constant.
pub(super) trait Reading<'a, 'd> {
    /// What an index is made of.
    type Atom;

    fn globals(&mut self) -> &mut Globals<'a, 'd>;

    /// The declaration of a name.
    fn declared(&mut self, name: Name<'a>) -> Option<super::Shared>;

    /// The value of an index or a pointer.
    fn read(&mut self, id: ExprId) -> Option<Expr<Self::Atom>>;

    /// The struct that a register of this name points to.
    fn register_pointee(&mut self, id: ExprId) -> Option<usize>;
}

/// Follows a place from its beginning. What is wrong is reported.
pub(super) fn path<'a, 'd, R: Reading<'a, 'd>>(
    reading: &mut R,
    id: ExprId,
) -> Option<Path<R::Atom>> {
    let ast = reading.globals().ast;
    let expr = ast.expr(id);
    match expr.kind {
        ExprKind::Name(name) => named(reading, name),
        ExprKind::Index(name, index) => {
            let path = named(reading, name)?;
            element(reading, path, index, name.span)
        }
        ExprKind::Element(base, index) => {
            let path = self::path(reading, base)?;
            element(reading, path, index, ast.expr(base).span)
        }
        ExprKind::Member(name, index, member) => {
            let mut path = named(reading, name)?;
            if let Some(index) = index {
                path = element(reading, path, index, name.span)?;
            }
            field(reading, path, member)
        }
        ExprKind::Field(base, member) => {
            let path = self::path(reading, base)?;
            field(reading, path, member)
        }
        ExprKind::Arrow(pointer, member) => {
            let path = behind(reading, pointer, ast.expr(pointer).span)?;
            field(reading, path, member)
        }
        ExprKind::Deref(pointer) => behind(reading, pointer, expr.span),
        _ => {
            reading.globals().error(
                Diagnostic::error(expr.span, "this is no place in memory")
                    .label("expected the name of a shared place, or what a pointer leads to"),
            );
            None
        }
    }
}

fn named<'a, 'd, R: Reading<'a, 'd>>(reading: &mut R, name: Name<'a>) -> Option<Path<R::Atom>> {
    let shared = reading.declared(name)?;
    Some(Path {
        start: Start::Location(shared.first),
        offset: 0,
        terms: Vec::new(),
        shape: reading.globals().shapes[shared.shape].clone(),
    })
}

fn behind<'a, 'd, R: Reading<'a, 'd>>(
    reading: &mut R,
    pointer: ExprId,
    span: Span,
) -> Option<Path<R::Atom>> {
    let Some(of) = pointee(reading, pointer) else {
        // (The value may have errors of its own.)
        reading.read(pointer)?;
        let globals = reading.globals();
        let example = globals.structs.first().map_or("S", |s| s.name.text);
        let example = shorten(example);
        globals.error(
            Diagnostic::error(span, "it is not known what struct this points to")
                .label("expected a pointer to a struct")
                .help(format!(
                    "put it into a register that says so: `let p: *{example} = …;`"
                )),
        );
        return None;
    };
    let value = reading.read(pointer)?;
    reading.globals().pointers = true;
    Some(Path {
        start: Start::Pointer(value, of),
        offset: 0,
        terms: Vec::new(),
        shape: Shape::struct_of(of),
    })
}

/// The struct that the value of an expression points to.
pub(super) fn pointee<'a, 'd, R: Reading<'a, 'd>>(reading: &mut R, id: ExprId) -> Option<usize> {
    if let Some(of) = reading.register_pointee(id) {
        return Some(of);
    }
    match reading.globals().ast.expr(id).kind {
        ExprKind::AddressOf(place) => {
            let shape = shape_of(reading, place)?;
            shape.of.filter(|_| shape.length().is_none())
        }
        _ => shape_of(reading, id).filter(Shape::is_scalar)?.pointee,
    }
}

/// What a place is, by its declaration alone; nothing where it is no shared place, and nothing is reported.
fn shape_of<'a, 'd, R: Reading<'a, 'd>>(reading: &mut R, id: ExprId) -> Option<Shape> {
    fn element(mut shape: Shape) -> Option<Shape> {
        shape.length()?;
        shape.at += 1;
        Some(shape)
    }
    let globals = reading.globals();
    let declared = |name: &str| Some(globals.shapes[globals.shared.get(name)?.shape].clone());
    let (base, member) = match globals.ast.expr(id).kind {
        ExprKind::Name(name) => return declared(name.text),
        ExprKind::Index(name, _) => return element(declared(name.text)?),
        ExprKind::Element(base, _) => return element(shape_of(reading, base)?),
        ExprKind::Load(place, _) => return shape_of(reading, place),
        ExprKind::Member(name, None, member) => (declared(name.text)?, member),
        ExprKind::Member(name, Some(_), member) => (element(declared(name.text)?)?, member),
        ExprKind::Field(base, member) => (shape_of(reading, base)?, member),
        ExprKind::Arrow(pointer, member) => (Shape::struct_of(pointee(reading, pointer)?), member),
        ExprKind::Deref(pointer) => return pointee(reading, pointer).map(Shape::struct_of),
        _ => return None,
    };
    let of = base.of.filter(|_| base.length().is_none())?;
    let field = reading.globals().structs[of].fields.get(member.text)?;
    Some(field.shape.clone())
}

fn element<'a, 'd, R: Reading<'a, 'd>>(
    reading: &mut R,
    mut path: Path<R::Atom>,
    index: ExprId,
    span: Span,
) -> Option<Path<R::Atom>> {
    let value = reading.read(index);
    let globals = reading.globals();
    let Some(length) = path.shape.length() else {
        globals.error(
            Diagnostic::error(span, "this is no array and takes no index").label("no array"),
        );
        return None;
    };
    let value = value?;
    path.shape.at += 1;
    let stride = globals.size(&path.shape);
    let index_span = globals.ast.expr(index).span;
    match value.constant(globals.domain) {
        Some(constant) if (0..Value::from(length)).contains(&constant) => {
            path.offset += constant as u32 * stride;
            return Some(path);
        }
        Some(constant) => globals.error(
            Diagnostic::warning(
                index_span,
                format!("index {constant} is outside the array of {length} elements"),
            )
            .label(format!("expected 0 to {}", length - 1))
            .help("a run that gets here ends with an error of the program"),
        ),
        None => {}
    }
    path.terms.push(Term {
        index: value,
        length,
        stride,
        span: index_span,
    });
    Some(path)
}

fn field<'a, 'd, R: Reading<'a, 'd>>(
    reading: &mut R,
    mut path: Path<R::Atom>,
    member: Name<'a>,
) -> Option<Path<R::Atom>> {
    let globals = reading.globals();
    let Some(of) = path.shape.of.filter(|_| path.shape.length().is_none()) else {
        let what = match path.shape.length() {
            Some(_) => "an array, which needs an index first",
            None => "a single location, which has no fields",
        };
        globals.error(
            Diagnostic::error(
                member.span,
                format!("there is no `{}` in {what}", shorten(member.text)),
            )
            .label("expected a field of a struct"),
        );
        return None;
    };
    let found = globals.field(of, member)?;
    path.offset += found.offset;
    let nonatomic = path.shape.nonatomic || found.shape.nonatomic;
    path.shape = Shape {
        nonatomic,
        ..found.shape
    };
    Some(path)
}

impl Globals<'_, '_> {
    /// Reads the structs. Their sizes may use constants.
    pub(super) fn declare_structs(&mut self) {
        let ast = self.ast;
        for item in &ast.structs {
            if let Some(first) = self.struct_ids.get(item.name.text) {
                let first = self.structs[*first].name.span;
                self.declared_twice(item.name, first);
                continue;
            }
            self.struct_ids.insert(item.name.text, self.structs.len());
            self.structs.push(StructFacts {
                name: item.name,
                fields: HashMap::default(),
                size: 0,
                instances: Vec::new(),
            });
        }
        for item in &ast.structs {
            let id = self.struct_ids[item.name.text];
            if self.structs[id].size > 0 {
                continue;
            }
            let mut fields: HashMap<&str, Field> = HashMap::default();
            let mut spans: HashMap<&str, Span> = HashMap::default();
            let mut size = 0;
            for decl in &item.fields {
                if let Some(first) = spans.insert(decl.name.text, decl.name.span) {
                    self.declared_twice(decl.name, first);
                    continue;
                }
                let shape = self.declared_shape(decl);
                let field = Field {
                    offset: size,
                    shape,
                };
                size = (size + self.size(&field.shape)).min(MAX_LOCATIONS as u32);
                fields.insert(decl.name.text, field);
            }
            if item.fields.is_empty() {
                self.error(
                    Diagnostic::error(item.name.span, "a struct has at least one field")
                        .label("this one has none"),
                );
            }
            self.structs[id].fields = fields;
            self.structs[id].size = size.max(1);
        }
    }

    /// The struct of that name.
    pub(super) fn struct_named(&mut self, name: Name<'_>) -> Option<usize> {
        if let Some(&id) = self.struct_ids.get(name.text) {
            return Some(id);
        }
        if !self.ast.incomplete {
            let mut diagnostic = Diagnostic::error(
                name.span,
                format!("there is no struct `{}`", shorten(name.text)),
            )
            .label("not declared");
            diagnostic.help = self
                .diagnostics
                .suggest(name.text, self.struct_ids.keys().copied());
            self.error(diagnostic);
        }
        None
    }

    /// What a declaration says.
    pub(super) fn declared_shape(&mut self, decl: &Decl<'_>) -> Shape {
        let ast = self.ast;
        let mut dims = Vec::with_capacity(decl.sizes.len());
        let mut all: u64 = 1;
        for &size in &decl.sizes {
            let length = match self.count(size, "an array's number of elements") {
                Some(0) => {
                    let span = ast.expr(size).span;
                    self.error(
                        Diagnostic::error(span, "an array has at least one element")
                            .label("this is 0"),
                    );
                    1
                }
                Some(length) => length,
                None => 1,
            };
            all = all.saturating_mul(u64::from(length));
            if all > MAX_LOCATIONS as u64 {
                self.too_many_locations(decl.name.span);
                dims.push(1);
                break;
            }
            dims.push(length);
        }
        Shape {
            dims: dims.into(),
            at: 0,
            of: decl.of.and_then(|name| self.struct_named(name)),
            nonatomic: decl.nonatomic,
            pointee: decl.pointee.and_then(|name| self.struct_named(name)),
        }
    }

    pub(super) fn too_many_locations(&mut self, span: Span) {
        self.error(
            Diagnostic::error(
                span,
                format!("there are more than {MAX_LOCATIONS} locations"),
            )
            .label("up to here"),
        );
    }

    /// How many locations it has.
    pub(super) fn size(&self, shape: &Shape) -> u32 {
        let elements = shape.dims[shape.at..].iter();
        let elements = elements.fold(1_u64, |all, d| all.saturating_mul(u64::from(*d)));
        let one = shape.of.map_or(1, |of| self.structs[of].size);
        let all = elements.saturating_mul(u64::from(one));
        all.min(MAX_LOCATIONS as u64 + 1) as u32
    }

    fn field(&mut self, of: usize, member: Name<'_>) -> Option<Field> {
        if let Some(field) = self.structs[of].fields.get(member.text) {
            return Some(field.clone());
        }
        let name = shorten(self.structs[of].name.text);
        let mut diagnostic = Diagnostic::error(
            member.span,
            format!(
                "the struct `{name}` has no field `{}`",
                shorten(member.text)
            ),
        )
        .label("no such field");
        diagnostic.help = self
            .diagnostics
            .suggest(member.text, self.structs[of].fields.keys().copied());
        self.error(diagnostic);
        None
    }

    /// The locations of a declaration, with their names.
    pub(super) fn push_locations(&mut self, name: &str, shape: &Shape, span: Span) {
        let dims = &shape.dims[shape.at..];
        if let Some((&length, _)) = dims.split_first() {
            let row = (dims.len() == 1 && shape.of.is_none())
                .then_some((LocationId(self.locations.len() as u32), length));
            let mut inner = shape.clone();
            inner.at += 1;
            for index in 0..length {
                let name = format!("{name}[{index}]");
                match row {
                    Some(_) => self.push_location(name, shape.nonatomic, row, span),
                    None => self.push_locations(&name, &inner, span),
                }
            }
            return;
        }
        let Some(of) = shape.of else {
            return self.push_location(name.to_string(), shape.nonatomic, None, span);
        };
        let first = LocationId(self.locations.len() as u32);
        self.structs[of].instances.push(first);
        let mut fields: Vec<(&str, Field)> = self.structs[of]
            .fields
            .iter()
            .map(|(name, field)| (*name, field.clone()))
            .collect();
        fields.sort_by_key(|(_, field)| field.offset);
        for (member, mut field) in fields {
            field.shape.nonatomic |= shape.nonatomic;
            self.push_locations(&format!("{name}.{member}"), &field.shape, span);
        }
    }

    fn push_location(
        &mut self,
        name: String,
        nonatomic: bool,
        array: Option<(LocationId, u32)>,
        span: Span,
    ) {
        self.locations.push(Location {
            name,
            address: self.locations.len() as Value + 1,
            initial: 0,
            nonatomic,
            array,
            span,
        });
    }

    /// The initial values of the fields of every struct of this kind.
    pub(super) fn struct_initials(&mut self) {
        let ast = self.ast;
        for item in &ast.structs {
            let Some(&id) = self.struct_ids.get(item.name.text) else {
                continue;
            };
            for decl in &item.fields {
                let Some(field) = self.structs[id].fields.get(decl.name.text).cloned() else {
                    continue;
                };
                let count = self.size(&field.shape) as usize;
                let Some(values) = self.initial_list(decl, count, field.shape.length().is_some())
                else {
                    continue;
                };
                for instance in self.structs[id].instances.clone() {
                    let first = instance.index() + field.offset as usize;
                    for (index, value) in values.iter().enumerate() {
                        if let Some(location) = self.locations.get_mut(first + index) {
                            location.initial = *value;
                        }
                    }
                }
            }
        }
    }
}
