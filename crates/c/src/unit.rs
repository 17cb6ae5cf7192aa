//! The program: its objects, and the functions that its entry needs.

use crate::ast::*;
use crate::body::Body;
use crate::init::is_same_aggregate;
use crate::packed::is_packed;
use crate::types::{Done, Lengths, cells, fail, layout, resolved};
use palisade_lang::{Diagnostic, Expr as LangExpr, Span};
use palisade_lower::{self as lower, Atom, Cell, FunctionId, ObjectId, ValueExpr};
use std::collections::HashMap;
use std::rc::Rc;

/// A program under translation.
pub(crate) struct Translator<'a> {
    pub ast: &'a Ast,
    pub objects: Vec<lower::Object>,
    /// Those that are needed, in the order in which they were mentioned.
    pub functions: Vec<Option<lower::Function>>,
    pub numbers: HashMap<Rc<str>, FunctionId>,
    pub globals: HashMap<Rc<str>, (ObjectId, Type)>,
    pub definitions: HashMap<Rc<str>, &'a Definition>,
    declared: HashMap<Rc<str>, &'a Declaration>,
    todo: Vec<(FunctionId, &'a Definition)>,
    pub warnings: Vec<Diagnostic>,
    /// How far apart the addresses of neighbouring cells are.
    pub stride: i64,
    /// The largest thing that a pointer points at which is followed, in cells.
    pub reach: i64,
    /// How far a computed pointer may be from where it was, in cells; 0 where none is computed.
    pub leap: i64,
    /// Pointers become numbers, or numbers pointers.
    pub uses_bits: bool,
    /// Numbers may be stored with one sign and read with another: see `Body::load_with`.
    pub mixes_signs: bool,
    /// Where an object of other scalars becomes a pointer to bytes that is kept …
    pub seen_as_bytes: Option<Span>,
    /// … and whether a pointer to bytes is followed anywhere.
    pub follows_bytes: bool,
    /// The names of the function that is being translated, with their types: `typeof` may ask for them.
    pub local_types: Vec<(Rc<str>, Type)>,
    /// Constants that the value of is being looked for.
    looking: Vec<Rc<str>>,
}

/// What a program becomes.
pub(crate) struct Translated {
    pub objects: Vec<lower::Object>,
    pub functions: Vec<lower::Function>,
    pub entry: FunctionId,
    pub warnings: Vec<Diagnostic>,
    pub stride: i64,
    pub reach: i64,
    pub leap: i64,
    uses_bits: bool,
    mixes_signs: bool,
}

/// Translates everything that `entry` needs.
pub(crate) fn translate(ast: &Ast, entry: &str, whole: Span) -> Done<Translated> {
    let translated = translate_with(ast, entry, whole, 1, false)?;
    let signs = translated.mixes_signs;
    match translated.uses_bits {
        // The low bits of addresses are free for the program, as those of aligned objects are.
        true => translate_with(ast, entry, whole, 16, signs),
        false if signs => translate_with(ast, entry, whole, 1, signs),
        false => Ok(translated),
    }
}

fn translate_with(
    ast: &Ast,
    entry: &str,
    whole: Span,
    stride: i64,
    mixes_signs: bool,
) -> Done<Translated> {
    let mut definitions = HashMap::new();
    for definition in &ast.definitions {
        definitions.insert(definition.name.clone(), definition);
    }
    let mut declared: HashMap<Rc<str>, &Declaration> = HashMap::new();
    for declaration in &ast.declarations {
        // The one with an initial value or a known length counts.
        let has_length =
            |declaration: &Declaration| !matches!(&*declaration.ty.kind, TypeKind::Array(_, None));
        let better = declared.get(&declaration.name).is_none_or(|old| {
            let longer = has_length(declaration) && !has_length(old);
            let extent = longer || has_length(declaration) == has_length(old) && old.is_extern;
            old.init.is_none() && (declaration.init.is_some() || extent)
        });
        if better {
            declared.insert(declaration.name.clone(), declaration);
        }
    }
    let mut translator = Translator {
        ast,
        objects: Vec::new(),
        functions: Vec::new(),
        numbers: HashMap::new(),
        globals: HashMap::new(),
        definitions,
        declared,
        todo: Vec::new(),
        warnings: Vec::new(),
        stride,
        reach: 1,
        leap: 0,
        uses_bits: false,
        mixes_signs,
        seen_as_bytes: None,
        follows_bytes: false,
        local_types: Vec::new(),
        looking: Vec::new(),
    };
    // CDSChecker's programs begin with another name.
    let found = translator.function(entry).or_else(|| match entry {
        "main" => translator.function("user_main"),
        _ => None,
    });
    let Some(entry) = found else {
        let mut error = Diagnostic::error(whole, format!("there is no function `{entry}`"));
        error = error.help("`--entry FN` says where the program begins");
        return Err(Box::new(error));
    };
    while let Some((number, definition)) = translator.todo.pop() {
        let function = Body::translate(&mut translator, definition)?;
        translator.functions[number.index()] = Some(function);
    }
    if let (Some(span), true) = (translator.seen_as_bytes, translator.follows_bytes) {
        return fail(span, "single bytes of other objects are not supported");
    }
    let functions = translator.functions.into_iter().flatten().collect();
    Ok(Translated {
        objects: translator.objects,
        functions,
        entry,
        warnings: translator.warnings,
        stride,
        reach: translator.reach,
        leap: translator.leap,
        uses_bits: translator.uses_bits,
        mixes_signs: translator.mixes_signs,
    })
}

impl<'a> Translator<'a> {
    /// The number of a function with a body.
    pub fn function(&mut self, name: &str) -> Option<FunctionId> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        let definition = *self.definitions.get(name)?;
        let number = FunctionId(self.functions.len() as u32);
        self.functions.push(None);
        self.numbers.insert(definition.name.clone(), number);
        self.todo.push((number, definition));
        Some(number)
    }

    /// The type of a function that is declared.
    pub fn function_type(&self, name: &str) -> Option<Rc<FunctionType>> {
        if let Some(definition) = self.definitions.get(name) {
            return Some(definition.ty.clone());
        }
        match &*self.declared.get(name)?.ty.kind {
            TypeKind::Function(ty) => Some(ty.clone()),
            _ => None,
        }
    }

    /// An object that is declared outside functions.
    pub fn global(&mut self, name: &str) -> Done<Option<(ObjectId, Type)>> {
        if let Some(found) = self.globals.get(name) {
            return Ok(Some(found.clone()));
        }
        let Some(declaration) = self.declared.get(name).copied() else {
            return Ok(None);
        };
        if matches!(&*declaration.ty.kind, TypeKind::Function(_)) {
            return Ok(None);
        }
        let object = self.add_object(declaration, name)?;
        Ok(Some(object))
    }

    /// An object with static storage; it is known by its name before its initial value is looked at.
    fn add_object(&mut self, declaration: &Declaration, name: &str) -> Done<(ObjectId, Type)> {
        // It may be a function that mentions it first: the names of that function mean nothing here.
        let around = std::mem::take(&mut self.local_types);
        let object = self.object_of(declaration, name);
        self.local_types = around;
        if object.is_err() {
            // Who asks once more, after an attempt, must not get one without its value.
            self.globals.remove(&declaration.name);
        }
        object
    }

    fn object_of(&mut self, declaration: &Declaration, name: &str) -> Done<(ObjectId, Type)> {
        let span = declaration.span;
        let ty = self.with_length(&declaration.ty, declaration.init.as_deref(), span)?;
        let (object, ty) = self.new_object(name, ty, declaration.thread_local, span)?;
        self.globals
            .insert(declaration.name.clone(), (object, ty.clone()));
        if let Some(init) = &declaration.init {
            self.initialise(object, &ty, init)?;
        }
        Ok((object, ty))
    }

    /// A new object with static storage, all 0.
    pub fn new_object(
        &mut self,
        name: &str,
        ty: Type,
        thread_local: bool,
        span: Span,
    ) -> Done<(ObjectId, Type)> {
        let mut cells = Vec::new();
        layout(&ty, "", span, self, &mut cells)?;
        let object = ObjectId(self.objects.len() as u32);
        self.objects.push(lower::Object {
            name: name.to_string(),
            cells,
            thread_local,
            span,
        });
        Ok((object, ty))
    }

    /// The number of an element, in an initial value.
    pub fn element(&mut self, expr: &Expr) -> Done<u64> {
        match self.integer(expr)? {
            Some(index) if (0..1 << 32).contains(&index) => Ok(index as u64),
            _ => fail(expr.span, "this must be the number of an element"),
        }
    }

    /// An array whose length its initial value says.
    pub fn with_length(&mut self, ty: &Type, init: Option<&Init>, span: Span) -> Done<Type> {
        let ty = resolved(ty, span, self)?;
        let TypeKind::Array(element, None) = &*ty.kind else {
            return Ok(ty);
        };
        // `int a[] = (int[]) {1, 2}`, as GNU C has it.
        let init = match init {
            Some(Init::Expr(Expr {
                kind: ExprKind::Compound(literal, inner),
                ..
            })) if is_same_aggregate(&ty, literal) => Some(&**inner),
            other => other,
        };
        let length = match init {
            Some(Init::List(entries, _)) => {
                let mut next = 0;
                let mut most = 0;
                for (designators, _) in entries {
                    if let Some(Designator::Index(at) | Designator::Range(_, at)) =
                        designators.first()
                    {
                        next = self.element(at)?;
                    }
                    next += 1;
                    most = most.max(next);
                }
                let is_scalar = resolved(element, span, self)?.is_scalar();
                let flat = |(at, init): &(Vec<Designator>, Init)| {
                    at.is_empty() && matches!(init, Init::Expr(_))
                };
                match !is_scalar && entries.iter().any(flat) {
                    // Without the inner brackets, several values are for one element.
                    true => self.elements_of(element, most, init, span)?,
                    false => most,
                }
            }
            Some(Init::Expr(Expr {
                kind: ExprKind::String(text),
                ..
            })) => text.len() as u64 + 1,
            _ => 0,
        };
        let length = Expr::new(ExprKind::Int(length as i64, Type::int(64, false)), span);
        let kind = TypeKind::Array(element.clone(), Some(Rc::new(length)));
        Ok(Type {
            kind: Rc::new(kind),
            ..ty
        })
    }

    /// How many elements an initial value is for, at most so many.
    fn elements_of(
        &mut self,
        element: &Type,
        most: u64,
        init: Option<&Init>,
        span: Span,
    ) -> Done<u64> {
        let each = cells(element, span, self)?;
        let (Some(init), false) = (init, each == 0) else {
            return Ok(most);
        };
        let length = Expr::new(ExprKind::Int(most as i64, Type::int(64, false)), span);
        let array = Type::new(TypeKind::Array(element.clone(), Some(Rc::new(length))));
        let mut values = Vec::new();
        crate::init::values(self, &array, init, 0, &mut values)?;
        let last = values.iter().map(|(cell, ..)| cell / each + 1).max();
        Ok(last.unwrap_or(most))
    }

    /// Sets the initial values of an object: constants and addresses.
    pub fn initialise(&mut self, object: ObjectId, ty: &Type, init: &Init) -> Done<()> {
        let mut values = Vec::new();
        crate::init::values(self, ty, init, 0, &mut values)?;
        for (cell, target, expr) in values {
            let span = expr.span;
            let value = match &expr.kind {
                ExprKind::Compound(_, init) if is_packed(&target, span, self)? => {
                    crate::packed::initial(self, &target, init, span)?
                }
                // The value of a struct is its address here, and what it holds is not looked up.
                _ if target.record().is_some() => None,
                _ => self.constant(&expr, Some(&target))?,
            };
            let Some(value) = value else {
                return fail(span, "this initial value is not a constant");
            };
            let cells: &mut Vec<Cell> = &mut self.objects[object.index()].cells;
            if let Some(cell) = cells.get_mut(cell as usize) {
                cell.initial = value;
            }
        }
        Ok(())
    }

    /// The value of an expression that needs no steps; converted to the type.
    pub fn constant(&mut self, expr: &Expr, target: Option<&Type>) -> Done<Option<ValueExpr>> {
        let mut body = Body::scratch(self);
        let value = match target {
            Some(target) => body.rvalue_for(expr, target)?,
            None => body.rvalue(expr)?,
        };
        let mut known = !body.has_steps();
        value.expr.for_each_atom(&mut |atom| {
            known &= matches!(atom, Atom::Object(_) | Atom::Function(_));
        });
        Ok(known.then_some(value.expr))
    }

    /// The value of an integer constant; names of `const` objects count.
    pub fn integer(&mut self, expr: &Expr) -> Done<Option<i64>> {
        if let ExprKind::Name(name) = &expr.kind
            && let Some(declaration) = self.declared.get(name).copied()
            && declaration.ty.constant
            && let Some(init) = &declaration.init
            && let Init::Expr(value) = &**init
            && !self.looking.contains(name)
        {
            self.looking.push(name.clone());
            let value = self.integer(value);
            self.looking.pop();
            return value;
        }
        Ok(match self.constant(expr, None)? {
            Some(LangExpr::Const(value)) => Some(value),
            _ => None,
        })
    }

    /// The number of cells of a type, as an offset.
    pub fn cell_count(&mut self, ty: &Type, span: Span) -> Done<i64> {
        Ok(cells(ty, span, self)? as i64)
    }
}

impl Lengths for Translator<'_> {
    fn length(&mut self, expr: &Rc<Expr>) -> Done<u64> {
        match self.integer(expr)? {
            Some(length) if length >= 0 => Ok(length as u64),
            Some(_) => fail(expr.span, "the length of an array is negative"),
            None => fail(
                expr.span,
                "an array whose length is not a constant is not supported",
            ),
        }
    }

    fn type_of(&mut self, expr: Option<&Rc<Expr>>, span: Span) -> Done<Type> {
        match expr {
            Some(expr) => {
                let mut body = Body::scratch(self);
                body.type_of(expr)
            }
            None => fail(span, "`__auto_type` needs an initial value"),
        }
    }

    fn mixes_signs(&mut self) {
        self.mixes_signs = true;
    }

    fn ast(&self) -> &Ast {
        self.ast
    }
}
