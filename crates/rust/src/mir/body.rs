//! Bodies, statements and terminators.

use super::cursor::{Cursor, Names, Read, source_span};
use super::{
    Block, Body, BodyKind, Callee, Captures, Constant, FnPath, IntTy, Local, Operand, Place,
    Projection, Rvalue, SourceSpan, Statement, Terminator, Ty, Unit, Unknown,
};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Reads the MIR of a crate.
pub fn parse(text: &str, names: Names<'_>) -> Result<Unit, Unknown> {
    let mut unit = Unit::default();
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    let mut lines = text.lines().enumerate().peekable();
    let mut for_constants = false;
    let mut evaluated = rustc_hash::FxHashSet::default();
    while let Some((at, line)) = lines.next() {
        let number = at + 1;
        if line.starts_with("// MIR FOR CTFE") {
            for_constants = true;
            continue;
        }
        if line.is_empty() || line.starts_with("//") {
            continue;
        }
        if line.starts_with("alloc") {
            let name = line.split(' ').next().unwrap_or("");
            if let Some((_, rest)) = line.split_once("(static: ") {
                let path = rest.split([',', ')']).next().unwrap_or("");
                let path = Cursor::new("", number, names).absolute(path);
                let name = Rc::from(format!("{}{name}", names.prefix));
                unit.statics.push((name, Rc::from(path)));
            }
            let mut bytes = Vec::new();
            if line.ends_with('{') {
                for (_, line) in lines.by_ref() {
                    if line == "}" {
                        break;
                    }
                    read_bytes(line, &mut bytes);
                }
            }
            unit.bytes.push((Rc::from(name), bytes));
            continue;
        }
        let mut header = Cursor::new(line, number, names);
        let mut body = match read_header(&mut header) {
            Ok(body) => body,
            Err(unknown) if line.ends_with('{') => {
                // What has no name cannot be called; it matters only where something else is missing.
                unit.unknown.get_or_insert(unknown);
                skip_body(&mut lines);
                for_constants = false;
                continue;
            }
            Err(unknown) => return Err(unknown),
        };
        if !line.ends_with('{') {
            header.expect("const ")?;
            let value = header.constant()?;
            unit.constants.push((body.path.clone(), value.clone()));
            // What is printed as one value is a constant like others: impls and traits have it among their own.
            let result = Place {
                local: 0,
                projection: Vec::new(),
            };
            let assign = Statement::Assign(result, Rvalue::Use(Operand::Const(value)));
            body.blocks.push(Block {
                statements: vec![(assign, SourceSpan::default())],
                terminator: Some((Terminator::Return, SourceSpan::default())),
            });
        } else if let Err(unknown) = read_body(&mut lines, names, &mut body) {
            // It matters only if it is called.
            body.unknown = Some(unknown);
            skip_body(&mut lines);
        }
        if body.path == "main" && is_harness(&body) {
            continue;
        }
        // Closures are found by their places: a test and the constant that describes it have closures of the same path.
        let known = match body.path.ends_with('}') && !for_constants {
            true => None,
            false => places.get(&body.path).copied(),
        };
        match known {
            // A constant function appears twice: the second is for the compiler's own evaluation.
            Some(_) if for_constants => {}
            Some(at) if evaluated.remove(&at) => unit.bodies[at] = body,
            // The compiler describes a test in a constant of the same name.
            Some(at)
                if unit.bodies[at].kind == BodyKind::Constant
                    && body.kind == BodyKind::Function =>
            {
                unit.bodies[at] = body;
            }
            Some(at)
                if unit.bodies[at].kind == BodyKind::Function
                    && body.kind == BodyKind::Constant => {}
            Some(_) => unit.twice.push(body.path),
            None => {
                if for_constants {
                    evaluated.insert(unit.bodies.len());
                }
                places.insert(body.path.clone(), unit.bodies.len());
                unit.bodies.push(body);
            }
        }
        for_constants = false;
    }
    Ok(unit)
}

/// What closures capture, as the compiler prints it elsewhere: by the closure's place and the local that it is written to. `None` where several closures are written so.
pub fn read_captures(text: &str, names: Names<'_>) -> Captures {
    let mut found = Captures::default();
    for (at, line) in text.lines().enumerate() {
        if !line.contains(" = {closure@") {
            continue;
        }
        let mut cursor = Cursor::new(line.trim(), at + 1, names);
        let Ok(target) = cursor.place() else { continue };
        if !cursor.eat(" = ") {
            continue;
        }
        let (Ok(Ty::Closure(place, _)), Ok((_, operands))) = (cursor.ty(), cursor.fields()) else {
            continue;
        };
        found
            .entry((place, target.local))
            .and_modify(|known| {
                if known.as_ref() != Some(&operands) {
                    *known = None;
                }
            })
            .or_insert(Some(operands));
    }
    found
}

/// Goes on behind a body.
fn skip_body<'a>(lines: &mut impl Iterator<Item = (usize, &'a str)>) {
    let _ = lines.find(|(_, line)| *line == "}");
}

/// The `main` that the compiler makes for tests; a test may be called `main`, too.
fn is_harness(body: &Body) -> bool {
    body.blocks.iter().any(|block| {
        matches!(&block.terminator, Some((Terminator::Call(_, Callee::Path(path), ..), _))
            if path.plain() == "test::test_main_static")
    })
}

/// `0x10 │ 00 01 __ │ ...`, or without the offset.
fn read_bytes(line: &str, bytes: &mut Vec<u8>) {
    let parts: Vec<&str> = line.split('│').collect();
    let hexes = if parts.len() > 2 { parts[1] } else { parts[0] };
    for hex in hexes.split_whitespace() {
        bytes.push(u8::from_str_radix(hex, 16).unwrap_or(0));
    }
}

fn read_header(cursor: &mut Cursor<'_>) -> Read<Body> {
    let mut body = Body {
        path: String::new(),
        kind: BodyKind::Function,
        arguments: 0,
        locals: vec![Local {
            ty: Ty::Tuple(Vec::new()),
            name: None,
        }],
        blocks: Vec::new(),
        captures: Vec::new(),
        unknown: None,
    };
    if cursor.eat("fn ") {
        let path = cursor.path()?;
        body.path = cursor.absolute(&path.plain());
        cursor.expect("(")?;
        let arguments = cursor.list(")", |c| {
            c.local()?;
            c.expect(":")?;
            c.ty()
        })?;
        body.arguments = arguments.len();
        let argument = |ty| Local { ty, name: None };
        body.locals.extend(arguments.into_iter().map(argument));
        cursor.spaces();
        cursor.expect("->")?;
        body.locals[0].ty = cursor.ty()?;
        return Ok(body);
    }
    body.kind = if cursor.eat("static mut ") || cursor.eat("static ") {
        BodyKind::Static
    } else if cursor.eat("const ") || cursor.rest.contains("::{constant#") {
        // The constant of a block `const { … }` has no word in front of it.
        BodyKind::Constant
    } else {
        return cursor.fail("`fn`, `static` or `const`");
    };
    let path = cursor.path()?;
    body.path = cursor.absolute(&path.plain());
    if cursor.eat("[") {
        let number = cursor.number()?;
        cursor.expect("]")?;
        body.path = format!("{}[{number}]", body.path);
    }
    cursor.expect(":")?;
    body.locals[0].ty = cursor.ty()?;
    cursor.spaces();
    cursor.expect("=")?;
    cursor.spaces();
    Ok(body)
}

fn read_body<'a>(
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
    names: Names<'_>,
    body: &mut Body,
) -> Read<()> {
    let mut block: Option<usize> = None;
    for (at, line) in lines {
        if line == "}" {
            return Ok(());
        }
        let (code, span) = split_span(line);
        let code = code.trim();
        if code.is_empty() || code.starts_with("//") || code.starts_with("scope ") {
            continue;
        }
        let mut cursor = Cursor::new(code, at + 1, names);
        if code == "}" {
            block = None;
        } else if let Some(current) = block {
            let block = &mut body.blocks[current];
            if is_terminator(code) {
                let terminator = cursor.terminator()?;
                block.terminator = Some((terminator, span));
            } else {
                block.statements.push((cursor.statement()?, span));
            }
        } else if code.starts_with("bb") && code.ends_with('{') {
            cursor.expect("bb")?;
            let number = usize::try_from(cursor.number()?).unwrap_or(usize::MAX);
            if number != body.blocks.len() {
                return cursor.fail("blocks in order");
            }
            body.blocks.push(Block::default());
            block = Some(number);
        } else if cursor.eat("let ") {
            cursor.eat("mut ");
            let local = cursor.local()?;
            cursor.expect(":")?;
            let ty = cursor.ty()?;
            while body.locals.len() <= local {
                body.locals.push(Local {
                    ty: Ty::Tuple(Vec::new()),
                    name: None,
                });
            }
            body.locals[local].ty = ty;
        } else if cursor.eat("debug ") {
            read_debug(&mut cursor, body);
        } else {
            return cursor.fail("a declaration or a block");
        }
    }
    Ok(())
}

/// `debug x => _1;` names a local, `debug x => (*(_1.0: &T));` a captured variable.
fn read_debug(cursor: &mut Cursor<'_>, body: &mut Body) {
    let Some((name, what)) = cursor.rest.split_once(" => ") else {
        return;
    };
    let mut value = Cursor::new(what, cursor.line, cursor.names);
    let Ok(place) = value.place() else { return };
    let name: Rc<str> = Rc::from(name);
    if place.projection.is_empty() {
        while body.locals.len() <= place.local {
            body.locals.push(Local {
                ty: Ty::Tuple(Vec::new()),
                name: None,
            });
        }
        body.locals[place.local].name.get_or_insert(name);
    } else if place.local == 1 {
        let field = place.projection.iter().find_map(|step| match step {
            Projection::Field(field, _) => Some(*field),
            _ => None,
        });
        body.captures.extend(field.map(|field| (field, name)));
    }
}

fn split_span(line: &str) -> (&str, SourceSpan) {
    let Some(at) = line.rfind("// scope ") else {
        let end = line
            .rfind("// in scope")
            .or_else(|| line.rfind("// return place"));
        return (&line[..end.unwrap_or(line.len())], SourceSpan::default());
    };
    let place = line[at..].split_once(" at ").map_or("", |(_, place)| place);
    (&line[..at], source_span(place).unwrap_or_default())
}

fn is_terminator(code: &str) -> bool {
    const WORDS: [&str; 13] = [
        "goto ",
        "switchInt(",
        "return;",
        "unreachable;",
        "resume;",
        "terminate(",
        "abort;",
        "drop(",
        "assert(",
        "falseEdge ",
        "falseUnwind ",
        "asm!(",
        "tailcall ",
    ];
    WORDS.iter().any(|word| code.starts_with(word))
        || code.contains(") -> [return")
        || code.contains(") -> bb")
        || code.contains(") -> unwind")
        || code.contains(") -> [unwind")
        || code.starts_with("_") && code.contains("yield(")
}

impl Cursor<'_> {
    /// `_5`
    fn local(&mut self) -> Read<usize> {
        self.expect("_")?;
        let number = self.number()?;
        usize::try_from(number).or_else(|_| self.fail("a local"))
    }

    /// `bb3`
    fn block(&mut self) -> Read<usize> {
        self.expect("bb")?;
        let number = self.number()?;
        usize::try_from(number).or_else(|_| self.fail("a block"))
    }

    /// A place.
    fn place(&mut self) -> Read<Place> {
        let mut place = if self.eat("(*") {
            let mut place = self.place()?;
            self.expect(")")?;
            place.projection.push(Projection::Deref);
            place
        } else if self.eat("*") {
            let mut place = self.place()?;
            place.projection.push(Projection::Deref);
            return Ok(place);
        } else if self.eat("(") {
            let mut place = self.place()?;
            self.spaces();
            if self.eat("as subtype ") {
                self.ty()?;
            } else if self.eat("as ") {
                let variant = if self.eat("variant#") {
                    Rc::from(format!("#{}", self.number()?))
                } else {
                    Rc::from(self.word())
                };
                place.projection.push(Projection::Downcast(variant));
            } else if self.eat(".") {
                let field = self.number()?;
                self.expect(":")?;
                let ty = self.ty()?;
                let field = usize::try_from(field).or_else(|_| self.fail("a field"))?;
                place.projection.push(Projection::Field(field, ty));
            }
            self.expect(")")?;
            place
        } else {
            Place {
                local: self.local()?,
                projection: Vec::new(),
            }
        };
        while self.eat("[") {
            if self.peek("_") {
                let local = self.local()?;
                place.projection.push(Projection::Index(local));
            } else {
                let start = if self.peek(":") { 0 } else { self.number()? };
                if self.eat(" of ") {
                    self.number()?;
                    let at = i64::try_from(start).or_else(|_| self.fail("an index"))?;
                    place.projection.push(Projection::ConstantIndex(at));
                } else {
                    // Of arrays, newer compilers write where it ends with two points.
                    if !self.eat("..") {
                        self.expect(":")?;
                    }
                    let end = if self.peek("]") { 0 } else { self.number()? };
                    let step = Projection::Subslice(start as u64, end as i64);
                    place.projection.push(step);
                }
            }
            self.expect("]")?;
        }
        Ok(place)
    }

    /// An operand.
    fn operand(&mut self) -> Read<Operand> {
        self.spaces();
        if self.eat("move ") {
            return Ok(Operand::Move(self.place()?));
        }
        if self.eat("copy ") {
            return Ok(Operand::Copy(self.place()?));
        }
        if self.eat("const ") {
            return Ok(Operand::Const(self.constant()?));
        }
        if self.peek("(")
            || self
                .rest
                .strip_prefix('_')
                .is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()))
        {
            return Ok(Operand::Copy(self.place()?));
        }
        // A function as an argument is printed as its path alone.
        let mut path = self.path()?;
        self.make_absolute(&mut path);
        Ok(Operand::Const(Constant::Path(Rc::new(path))))
    }

    /// A constant, behind `const`.
    fn constant(&mut self) -> Read<Constant> {
        if self.eat("true") {
            return Ok(Constant::Int(1, IntTy::BOOL));
        }
        if self.eat("false") {
            return Ok(Constant::Int(0, IntTy::BOOL));
        }
        if self.eat("()") {
            return Ok(Constant::Unit);
        }
        if self.peek("\"") || self.peek("b\"") {
            self.eat("b");
            return Ok(Constant::Text(Rc::from(unescape(&self.text('"')?))));
        }
        if self.peek("'") {
            let text = self.text('\'')?;
            let unescaped = unescape(&text);
            let code = unescaped.chars().next().map_or(0, |c| c as i128);
            return Ok(Constant::Int(code, IntTy::CHAR));
        }
        let digit = self.rest.trim_start_matches('-').as_bytes().first();
        if digit.is_some_and(u8::is_ascii_digit) {
            let before = self.rest;
            let value = self.number()?;
            if self.eat("_") {
                let line = self.line;
                let word = self.word();
                if let Ok(Ty::Int(int)) = Cursor::new(word, line, Names::NONE).ty() {
                    return Ok(Constant::Int(int.wrap(value), int));
                }
            }
            // A number with a fraction.
            let end = before
                .find([',', ')', ';', ' ', ']'])
                .unwrap_or(before.len());
            self.rest = &before[end..];
            return Ok(Constant::Other(Rc::from(&before[..end])));
        }
        if self.peek("{closure@") {
            let path = self.path()?;
            return Ok(Constant::Path(Rc::new(path)));
        }
        if self.eat("{") {
            let inside = self.until_closing('{', '}')?;
            if inside.starts_with("alloc") && !inside.contains('+') {
                let name = inside.split(':').next().unwrap_or(inside);
                let name = format!("{}{name}", self.names.prefix);
                return Ok(Constant::Alloc(Rc::from(name)));
            }
            return Ok(Constant::Other(Rc::from(inside)));
        }
        if self.eat("ZeroSized: ") {
            let ty = self.ty()?;
            return Ok(match ty {
                Ty::FnDef(path) => Constant::Path(path),
                Ty::Closure(place, _) => Constant::Path(Rc::new(FnPath {
                    qualified: None,
                    segments: vec![(Rc::from(format!("{{closure@{place}}}")), Vec::new())],
                })),
                ty => Constant::Other(Rc::from(format!("ZeroSized: {ty}"))),
            });
        }
        for (name, value, ty) in LIMITS {
            if self.eat(name) {
                return Ok(Constant::Int(*value, *ty));
            }
        }
        let before = self.rest;
        if let Ok(mut path) = self.path() {
            self.make_absolute(&mut path);
            if self.eat("[") {
                let number = self.number()?;
                self.expect("]")?;
                if let Some((name, _)) = path.segments.last_mut() {
                    *name = Rc::from(format!("{name}[{number}]"));
                }
                return Ok(Constant::Path(Rc::new(path)));
            }
            if !self.peek("(") && !self.peek(" {") {
                return Ok(Constant::Path(Rc::new(path)));
            }
        }
        // A value of a type with fields, printed whole.
        self.rest = before;
        let mut depth = 0i32;
        let end = before.char_indices().find(|(_, c)| {
            match c {
                '(' | '{' | '[' => depth += 1,
                ')' | '}' | ']' => depth -= 1,
                _ => {}
            }
            depth < 0 || depth == 0 && matches!(c, ',' | ';')
        });
        let end = end.map_or(before.len(), |(at, _)| at);
        self.rest = &before[end..];
        Ok(Constant::Other(Rc::from(&before[..end])))
    }

    /// Own paths get the crate's name, and the many names of the standard library become one.
    fn make_absolute(&self, path: &mut FnPath) {
        if path.qualified.is_some() {
            return;
        }
        let words: Vec<&str> = path.segments.iter().map(|(name, _)| &**name).collect();
        let (count, front) = self.front(&words);
        let mut segments: Vec<(Rc<str>, Vec<Ty>)> = Vec::new();
        if !front.is_empty() {
            let words = crate::index::split_path(&front);
            segments.extend(words.iter().map(|word| (Rc::from(*word), Vec::new())));
        }
        let replaced = path.segments[..count].iter();
        let args: Vec<Ty> = replaced.flat_map(|(_, args)| args.clone()).collect();
        if let Some((_, last)) = segments.last_mut() {
            *last = args;
        }
        segments.extend(path.segments[count..].iter().cloned());
        // A type in a path has all its arguments.
        if let Some(scopes) = self.names.scopes {
            let mut whole = String::new();
            for (name, args) in &mut segments {
                if !whole.is_empty() {
                    whole.push_str("::");
                }
                whole.push_str(name);
                scopes.complete(&whole, args);
            }
        }
        path.segments = segments;
    }

    /// A text in quotes, still escaped.
    fn text(&mut self, quote: char) -> Read<String> {
        let mut escaped = false;
        let mut end = None;
        for (at, c) in self.rest.char_indices().skip(1) {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == quote {
                end = Some(at);
                break;
            }
        }
        let Some(end) = end else {
            return self.fail("the end of a text");
        };
        let text = self.rest[1..end].to_owned();
        self.rest = &self.rest[end + 1..];
        Ok(text)
    }

    fn statement(&mut self) -> Read<Statement> {
        for (word, live) in [("StorageLive(", true), ("StorageDead(", false)] {
            if self.eat(word) {
                let local = self.local()?;
                return Ok(if live {
                    Statement::StorageLive(local)
                } else {
                    Statement::StorageDead(local)
                });
            }
        }
        const NOTHING: [&str; 11] = [
            "nop",
            "ConstEvalCounter",
            "FakeRead(",
            "PlaceMention(",
            "AscribeUserType(",
            "Retag",
            "Coverage",
            "BackwardIncompatibleDropHint",
            "assume(",
            "backward incompatible drop",
            "Deinit(",
        ];
        if NOTHING.iter().any(|word| self.peek(word)) {
            return Ok(Statement::Nop);
        }
        if self.eat("copy_nonoverlapping(") {
            self.expect("dst = ")?;
            let target = self.operand()?;
            self.expect(", src = ")?;
            let source = self.operand()?;
            self.expect(", count = ")?;
            let count = self.operand()?;
            return Ok(Statement::CopyNonOverlapping(target, source, count));
        }
        if self.eat("discriminant(") {
            let place = self.place()?;
            self.expect(") = ")?;
            return Ok(Statement::SetDiscriminant(place, self.number()?));
        }
        let place = self.place()?;
        self.expect(" = ")?;
        let rvalue = self.rvalue()?;
        self.spaces();
        self.expect(";")?;
        Ok(Statement::Assign(place, rvalue))
    }

    fn rvalue(&mut self) -> Read<Rvalue> {
        if self.eat("&/*tls*/ ") {
            let end = self.rest.find(';').unwrap_or(self.rest.len());
            let (name, rest) = self.rest.split_at(end);
            self.rest = rest;
            let name = name.trim().trim_start_matches("mut ");
            return Ok(Rvalue::ThreadLocal(Rc::from(self.absolute(name))));
        }
        for lead in [
            "&raw const ",
            "&raw mut ",
            "&mut ",
            "&fake shallow ",
            "&fake ",
            "&",
        ] {
            if self.eat(lead) {
                if self.lifetime() {
                    self.spaces();
                    self.eat("mut ");
                }
                self.eat("(fake) ");
                return Ok(Rvalue::Ref(self.place()?));
            }
        }
        if self.eat("deref_copy ") {
            return Ok(Rvalue::Use(Operand::Copy(self.place()?)));
        }
        if self.eat("wrap_binder!(") || self.eat("no_retag ") {
            return self.fail("a value without binders");
        }
        if self.peek("move ") || self.peek("copy ") || self.peek("const ") {
            let operand = self.operand()?;
            self.spaces();
            if self.eat("as ") {
                let ty = self.ty()?;
                self.spaces();
                self.expect("(")?;
                let kind = self.until_closing('(', ')')?;
                return Ok(Rvalue::Cast(operand, ty, Rc::from(kind)));
            }
            return Ok(Rvalue::Use(operand));
        }
        if self.eat("[") {
            if self.eat("]") {
                return Ok(Rvalue::Array(Vec::new()));
            }
            let first = self.operand()?;
            self.spaces();
            if self.eat(";") {
                self.spaces();
                let end = self.rest.rfind(']').unwrap_or(self.rest.len());
                let (length, rest) = self.rest.split_at(end);
                self.rest = rest;
                let length =
                    Cursor::new(length.trim_start_matches("const "), self.line, self.names)
                        .length()?;
                self.expect("]")?;
                return Ok(Rvalue::Repeat(first, length));
            }
            self.eat(",");
            let mut items = vec![first];
            items.extend(self.list("]", Cursor::operand)?);
            return Ok(Rvalue::Array(items));
        }
        if self.eat("(") {
            return Ok(Rvalue::Tuple(self.list(")", Cursor::operand)?));
        }
        if self.eat("discriminant(") {
            let place = self.place()?;
            self.expect(")")?;
            return Ok(Rvalue::Discriminant(place));
        }
        if !self.peek_aggregate("Len(") && self.eat("Len(") {
            let place = self.place()?;
            self.expect(")")?;
            return Ok(Rvalue::Len(place));
        }
        if self.peek("{closure@") {
            let ty = self.ty()?;
            let (names, operands) = self.fields()?;
            return Ok(Rvalue::Closure(ty, names, operands));
        }
        // An operator or an aggregate: an operator is a word with operands in parentheses.
        let before = self.rest;
        let word = self.word();
        if is_operator(word) && self.eat("(") {
            let of_values = self.peek_operand();
            if !of_values
                && matches!(
                    word,
                    "SizeOf"
                        | "AlignOf"
                        | "OffsetOf"
                        | "UbChecks"
                        | "ContractChecks"
                        | "RuntimeChecks"
                )
            {
                let end = self.rest.rfind(')').unwrap_or(self.rest.len());
                let (text, rest) = self.rest.split_at(end);
                self.rest = rest;
                let ty = Cursor::new(text, self.line, self.names).ty();
                self.expect(")")?;
                let ty = ty.unwrap_or(Ty::Never);
                return Ok(Rvalue::Nullary(Rc::from(word), ty));
            }
            let operands = self.list(")", Cursor::operand)?;
            // A tuple struct may have an operator's name: whether this is one, only the type of the target says.
            let word = Rc::from(word);
            match <[Operand; 2]>::try_from(operands) {
                Ok([left, right]) => return Ok(Rvalue::Binary(word, left, right)),
                Err(mut operands) if operands.len() == 1 => {
                    let only = operands
                        .pop()
                        .ok_or(())
                        .or_else(|()| self.fail("operands"))?;
                    return Ok(Rvalue::Unary(word, only));
                }
                Err(_) => {}
            }
        }
        self.rest = before;
        let mut path = self.path()?;
        self.make_absolute(&mut path);
        // A function as a pointer: `<T as Default>::default as fn() -> T (…)`.
        if self.eat(" as ") {
            let function = Operand::Const(Constant::Path(Rc::new(path)));
            let ty = self.ty()?;
            self.spaces();
            self.expect("(")?;
            let kind = self.until_closing('(', ')')?;
            return Ok(Rvalue::Cast(function, ty, Rc::from(kind)));
        }
        let (names, operands) = self.fields()?;
        Ok(Rvalue::Aggregate(Rc::new(path), names, operands))
    }

    fn peek_operand(&self) -> bool {
        ["copy ", "move ", "const "]
            .iter()
            .any(|word| self.peek(word))
    }

    /// Whether a value is made here of a type with this name, which is also a word of the compiler.
    fn peek_aggregate(&self, name: &str) -> bool {
        ["copy ", "move ", "const "]
            .iter()
            .any(|word| self.peek(&format!("{name}{word}")))
    }

    /// The length in `[x; n]`: a number or the name of a parameter.
    fn length(&mut self) -> Read<Ty> {
        let digit = self.rest.as_bytes().first();
        if digit.is_some_and(u8::is_ascii_digit) {
            return Ok(Ty::Const(self.number()?));
        }
        self.ty()
    }

    /// `{ x: a, y: b }`, `(a, b)`, or nothing.
    fn fields(&mut self) -> Read<(Vec<Rc<str>>, Vec<Operand>)> {
        if self.eat(" { ") {
            let fields = self.list("}", |c| {
                let name = Rc::from(c.word());
                c.expect(":")?;
                Ok((name, c.operand()?))
            })?;
            return Ok(fields.into_iter().unzip());
        }
        if self.eat("(") {
            return Ok((Vec::new(), self.list(")", Cursor::operand)?));
        }
        Ok((Vec::new(), Vec::new()))
    }

    /// `[return: bb1, unwind …]`, `bb1` or `unwind …`: where it goes on without a panic.
    fn successor(&mut self, word: &str) -> Read<Option<usize>> {
        if self.eat("[") {
            if self.eat(word) {
                self.expect(": ")?;
                return Ok(Some(self.block()?));
            }
            return Ok(None);
        }
        // `-> bb45` is where a call that never returns unwinds to.
        Ok(None)
    }

    /// Assembler that is known to be a full fence of x86, and does nothing else that threads see.
    fn asm_fence(&mut self) -> Option<Terminator> {
        let rest = self.rest.strip_prefix("asm!(\"")?;
        let (text, rest) = rest.split_once('"')?;
        let operands = rest
            .split_once(", options(")
            .map_or(rest, |(front, _)| front);
        let given = operands.matches(" _").count();
        let operand = match (text, given) {
            ("mfence", 0) => None,
            (text, 1) if text.starts_with("lock ") => {
                let at = operands
                    .find("move _")
                    .or_else(|| operands.find("copy _"))?;
                Some(
                    Cursor::new(&operands[at..], self.line, self.names)
                        .operand()
                        .ok()?,
                )
            }
            _ => return None,
        };
        let (_, next) = rest.rsplit_once("-> [return: ")?;
        let next = Cursor::new(next, self.line, self.names).block().ok()?;
        Some(Terminator::Asm(operand, next))
    }

    fn terminator(&mut self) -> Read<Terminator> {
        if self.eat("goto -> ")
            || self.eat("falseEdge -> [real: ")
            || self.eat("falseUnwind -> [real: ")
        {
            return Ok(Terminator::Goto(self.block()?));
        }
        if self.eat("return;") {
            return Ok(Terminator::Return);
        }
        if self.eat("unreachable;") {
            return Ok(Terminator::Unreachable);
        }
        if self.eat("resume;") || self.eat("terminate(") || self.eat("abort;") {
            return Ok(Terminator::Unwind);
        }
        if self.eat("switchInt(") {
            let operand = self.operand()?;
            self.expect(") -> [")?;
            let mut values = Vec::new();
            let mut otherwise = None;
            loop {
                if self.eat("otherwise: ") {
                    otherwise = Some(self.block()?);
                } else {
                    let value = self.number()?;
                    self.expect(": ")?;
                    values.push((value, self.block()?));
                }
                if !self.eat(", ") {
                    break;
                }
            }
            return Ok(Terminator::Switch(operand, values, otherwise));
        }
        if self.eat("drop(") {
            let place = self.place()?;
            self.expect(") -> ")?;
            if self.peek("bb") {
                return Ok(Terminator::Drop(place, self.block()?));
            }
            return match self.successor("return")? {
                Some(next) => Ok(Terminator::Drop(place, next)),
                None => self.fail("where it goes on"),
            };
        }
        if self.eat("assert(") {
            let expected = !self.eat("!");
            let operand = self.operand()?;
            let end = self.rest.rfind(") -> ").unwrap_or(0);
            let message = self.rest[..end].trim_start_matches(", ");
            let message = Rc::from(message.trim_matches('"'));
            self.rest = &self.rest[end..];
            self.expect(") -> ")?;
            return match self.successor("success")? {
                Some(next) => Ok(Terminator::Assert(operand, expected, message, next)),
                None => self.fail("where it goes on"),
            };
        }
        if let Some(fence) = self.asm_fence() {
            return Ok(fence);
        }
        if self.peek("asm!(") || self.peek("tailcall ") || !self.rest.contains(" = ") {
            return Ok(Terminator::Unsupported(Rc::from(self.rest)));
        }
        let place = self.place()?;
        self.expect(" = ")?;
        let callee = if self.peek("move ") || self.peek("copy ") {
            Callee::Value(self.operand()?)
        } else {
            self.eat("const ");
            let mut path = self.path()?;
            self.make_absolute(&mut path);
            Callee::Path(Rc::new(path))
        };
        self.expect("(")?;
        let arguments = self.list(")", Cursor::operand)?;
        self.expect(" -> ")?;
        let next = self.successor("return")?;
        Ok(Terminator::Call(place, callee, arguments, next))
    }
}

fn is_operator(word: &str) -> bool {
    const OPERATORS: [&str; 38] = [
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Rem",
        "BitXor",
        "BitAnd",
        "BitOr",
        "Shl",
        "Shr",
        "Eq",
        "Lt",
        "Le",
        "Ne",
        "Ge",
        "Gt",
        "Cmp",
        "Offset",
        "AddUnchecked",
        "SubUnchecked",
        "MulUnchecked",
        "ShlUnchecked",
        "ShrUnchecked",
        "AddWithOverflow",
        "SubWithOverflow",
        "MulWithOverflow",
        "Not",
        "Neg",
        "PtrMetadata",
        "SizeOf",
        "AlignOf",
        "OffsetOf",
        "UbChecks",
        "ContractChecks",
        "CheckedAdd",
        "CheckedSub",
        "CheckedMul",
        "RuntimeChecks",
    ];
    OPERATORS.contains(&word)
}

/// A text without its escapes. Bytes that are no ASCII make it one that is not known.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('0') => out.push('\0'),
            Some('x') => {
                let digits: String = rest.by_ref().take(2).collect();
                match u8::from_str_radix(&digits, 16) {
                    Ok(byte) if byte.is_ascii() => out.push(char::from(byte)),
                    _ => out.push_str(&format!("\0\\x{digits}")),
                }
            }
            Some('u') => {
                let digits = rest.by_ref().skip(1).take_while(|c| *c != '}');
                let code = u32::from_str_radix(&digits.collect::<String>(), 16);
                out.push(code.ok().and_then(char::from_u32).unwrap_or('\0'));
            }
            Some(c) => out.push(c),
            None => {}
        }
    }
    out
}

/// Names that constants of primitive types are printed with.
const LIMITS: &[(&str, i128, IntTy)] = &[
    (
        "u8::MAX",
        u8::MAX as i128,
        IntTy {
            bits: 8,
            signed: false,
        },
    ),
    (
        "u16::MAX",
        u16::MAX as i128,
        IntTy {
            bits: 16,
            signed: false,
        },
    ),
    (
        "u32::MAX",
        u32::MAX as i128,
        IntTy {
            bits: 32,
            signed: false,
        },
    ),
    ("u64::MAX", u64::MAX as i128, IntTy::USIZE),
    ("usize::MAX", u64::MAX as i128, IntTy::USIZE),
    (
        "i8::MAX",
        i8::MAX as i128,
        IntTy {
            bits: 8,
            signed: true,
        },
    ),
    (
        "i8::MIN",
        i8::MIN as i128,
        IntTy {
            bits: 8,
            signed: true,
        },
    ),
    (
        "i16::MAX",
        i16::MAX as i128,
        IntTy {
            bits: 16,
            signed: true,
        },
    ),
    (
        "i16::MIN",
        i16::MIN as i128,
        IntTy {
            bits: 16,
            signed: true,
        },
    ),
    (
        "i32::MAX",
        i32::MAX as i128,
        IntTy {
            bits: 32,
            signed: true,
        },
    ),
    (
        "i32::MIN",
        i32::MIN as i128,
        IntTy {
            bits: 32,
            signed: true,
        },
    ),
    ("i64::MAX", i64::MAX as i128, IntTy::ISIZE),
    ("i64::MIN", i64::MIN as i128, IntTy::ISIZE),
    ("isize::MAX", i64::MAX as i128, IntTy::ISIZE),
    ("isize::MIN", i64::MIN as i128, IntTy::ISIZE),
];
