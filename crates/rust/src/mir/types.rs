//! Types and paths.

use super::cursor::{Cursor, Names, Read};
use super::{FnPath, IntTy, Ty, Unknown};
use crate::scope::same_crate;
use std::rc::Rc;

/// The type that a text writes, such as the self type of an `impl`.
pub fn parse_type_text(text: &str) -> Result<Ty, Unknown> {
    let mut cursor = Cursor::new(text.trim(), 0, Names::NONE);
    let ty = cursor.ty()?;
    cursor.spaces();
    if cursor.rest.is_empty() {
        Ok(ty)
    } else {
        cursor.fail("the end of the type")
    }
}

/// The type that a single word names, if it is no path.
fn primitive(word: &str) -> Option<Ty> {
    let int = |bits, signed| Some(Ty::Int(IntTy { bits, signed }));
    match word {
        "bool" => Some(Ty::Int(IntTy::BOOL)),
        "char" => Some(Ty::Int(IntTy::CHAR)),
        "u32" => int(32, false),
        "u8" => int(8, false),
        "u16" => int(16, false),
        "u64" | "usize" => int(64, false),
        "u128" => int(128, false),
        "i8" => int(8, true),
        "i16" => int(16, true),
        "i32" => int(32, true),
        "i64" | "isize" => int(64, true),
        "i128" => int(128, true),
        "f16" => Some(Ty::Float(16)),
        "f32" => Some(Ty::Float(32)),
        "f64" => Some(Ty::Float(64)),
        "f128" => Some(Ty::Float(128)),
        "str" => Some(Ty::Str),
        _ => None,
    }
}

impl<'a> Cursor<'a> {
    /// A lifetime, if there is one.
    pub fn lifetime(&mut self) -> bool {
        if self.eat("'{erased}") || self.eat("'{") {
            return true;
        }
        if self.peek("'") {
            self.rest = &self.rest[1..];
            self.word();
            return true;
        }
        false
    }

    /// A type.
    pub fn ty(&mut self) -> Read<Ty> {
        self.spaces();
        if self.eat("&") {
            self.spaces();
            if self.lifetime() {
                self.spaces();
            }
            self.eat("mut ");
            return Ok(Ty::Ref(Rc::new(self.ty()?)));
        }
        if self.eat("*const ") || self.eat("*mut ") {
            return Ok(Ty::Ptr(Rc::new(self.ty()?)));
        }
        if self.eat("(") {
            let mut comma = true;
            let tys = self.list(")", |c| {
                let ty = c.ty()?;
                c.spaces();
                comma = c.peek(",");
                Ok(ty)
            })?;
            // `(dyn A + B)` is no tuple.
            return Ok(match <[Ty; 1]>::try_from(tys) {
                Ok([ty]) if !comma => ty,
                Ok([ty]) => Ty::Tuple(vec![ty]),
                Err(tys) => Ty::Tuple(tys),
            });
        }
        if self.eat("[") {
            let element = Rc::new(self.ty()?);
            self.spaces();
            if self.eat(";") {
                self.spaces();
                let length = Rc::new(self.generic_argument()?);
                self.spaces();
                self.expect("]")?;
                return Ok(Ty::Array(element, length));
            }
            self.expect("]")?;
            return Ok(Ty::Slice(element));
        }
        if self.eat("!") {
            return Ok(Ty::Never);
        }
        if self.eat("{closure@") {
            let place = self.until_closing('{', '}')?;
            return Ok(Ty::Closure(Rc::from(place), Rc::default()));
        }
        if self.peek("{") {
            self.rest = &self.rest[1..];
            let text = self.until_closing('{', '}')?;
            return Ok(Ty::Opaque(Rc::from(text)));
        }
        if self.eat("dyn ") {
            return Ok(Ty::Dyn(Rc::from(self.bounds())));
        }
        if self.eat("impl ") {
            // A parameter without a name.
            let name = format!("impl {}", self.bounds());
            return Ok(Ty::Adt(Rc::from(name), Vec::new()));
        }
        if self.eat("for<") {
            self.until_closing('<', '>')?;
            return self.ty();
        }
        for lead in ["unsafe ", "extern \"C\" ", "extern \"RustCall\" "] {
            self.eat(lead);
        }
        if self.eat("fn(") {
            self.until_closing('(', ')')?;
            if self.eat(" -> ") {
                self.ty()?;
            }
            if self.eat(" {") {
                let inside = self.until_closing('{', '}')?;
                let path = Cursor::new(inside, self.line, self.names).path()?;
                return Ok(Ty::FnDef(Rc::new(path)));
            }
            return Ok(Ty::FnPtr);
        }
        if self.peek("<") {
            let path = self.path()?;
            return Ok(match (path.qualified.clone(), path.segments.as_slice()) {
                (Some((ty, Some(trait_))), [(name, args)]) => {
                    Ty::Projection(Rc::new(ty), Rc::new(trait_), name.clone(), args.clone())
                }
                _ => Ty::Opaque(Rc::from(path.plain())),
            });
        }
        let path = self.path()?;
        if let [(word, args)] = path.segments.as_slice()
            && args.is_empty()
            && let Some(ty) = primitive(word.strip_prefix(self.names.prefix).unwrap_or(word))
        {
            return Ok(ty);
        }
        if path.segments.is_empty() {
            return self.fail("a type");
        }
        let args = path.segments.iter().flat_map(|(_, args)| args.clone());
        let mut args: Vec<Ty> = args.collect();
        let mut name = path.plain();
        // A single word may be a parameter: it gets the crate's name only where the crate has such a type.
        if path.segments.len() > 1 || !args.is_empty() || self.is_own(&name) {
            name = self.absolute(&name);
        }
        if let Some(scopes) = self.names.scopes {
            scopes.complete(&name, &mut args);
        }
        Ok(Ty::Adt(Rc::from(name), args))
    }

    /// Whether a word names something at the crate's root.
    fn is_own(&self, word: &str) -> bool {
        let root = self
            .names
            .scopes
            .and_then(|s| s.modules.get(self.names.home()));
        !self.names.prefix.is_empty() && root.is_some_and(|root| root.items.contains(word))
    }

    /// A path as every crate writes it.
    pub fn absolute(&self, path: &str) -> String {
        let words: Vec<&str> = crate::index::split_path(path);
        let (count, front) = self.front(&words);
        let mut whole = front;
        for word in &words[count..] {
            if !whole.is_empty() {
                whole.push_str("::");
            }
            whole.push_str(word);
        }
        whole
    }

    /// What stands for the first words of a path, and for how many.
    pub fn front(&self, words: &[&str]) -> (usize, String) {
        let first = words.first().copied().unwrap_or("");
        // A crate may have a module with the name of another crate, but for the standard library's.
        let home = self.names.home();
        let own = |scopes: &crate::scope::Scopes| {
            let root = match home.is_empty() {
                true => first.to_owned(),
                false => format!("{home}::{first}"),
            };
            scopes.modules.get(&root).is_some_and(|module| module.real)
        };
        let same = match first {
            "std" | "core" => same_crate(first),
            _ if words.len() > 1 && self.names.scopes.is_some_and(own) => None,
            _ => same_crate(first),
        };
        match same {
            // Newer compilers name the errors of `mpsc` after the module that they share.
            Some(name) if words.get(1..3) == Some(&["sync", "mpmc"]) && words.len() > 3 => {
                (3, format!("{name}::sync::mpsc"))
            }
            Some(name) if words.len() > 1 => (1, name.to_owned()),
            _ => {
                let known = self.names.scopes.and_then(|s| s.printed(home, words));
                known.unwrap_or_else(|| (0, home.to_owned()))
            }
        }
    }

    /// Bounds up to where they end, as text.
    fn bounds(&mut self) -> &'a str {
        let mut depth = 0i32;
        let mut before = ' ';
        let mut end = self.rest.len();
        for (at, c) in self.rest.char_indices() {
            // `<impl Trait as Trait>::…`
            if depth == 0 && self.rest[at..].starts_with(" as ") {
                end = at;
                break;
            }
            match c {
                // `dyn Trait (PointerCoercion(…))`
                '(' if before == ' ' && depth == 0 => {
                    end = at;
                    break;
                }
                '<' | '(' | '[' | '{' => depth += 1,
                '>' if before == '-' || before == '=' => {}
                '>' | ')' | ']' | '}' if depth == 0 => {
                    end = at;
                    break;
                }
                '>' | ')' | ']' | '}' => depth -= 1,
                ',' | ';' if depth == 0 => {
                    end = at;
                    break;
                }
                _ => {}
            }
            before = c;
        }
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        text.trim()
    }

    /// A type or a constant as a generic argument.
    fn generic_argument(&mut self) -> Read<Ty> {
        self.spaces();
        if self.eat("true") {
            return Ok(Ty::Const(1));
        }
        if self.eat("false") {
            return Ok(Ty::Const(0));
        }
        let digit = self.rest.trim_start_matches('-').as_bytes().first();
        if digit.is_some_and(u8::is_ascii_digit) {
            let value = self.number()?;
            // A suffix such as `_usize`.
            self.word();
            return Ok(Ty::Const(value));
        }
        self.ty()
    }

    /// Generic arguments behind `<`; lifetimes and bindings are left out.
    fn generic_arguments(&mut self) -> Read<Vec<Ty>> {
        let args = self.list(">", |c| {
            if c.lifetime() {
                return Ok(None);
            }
            // `Item = T`
            let before = c.rest;
            let word = c.word();
            c.spaces();
            if !word.is_empty() && c.eat("= ") {
                c.generic_argument()?;
                return Ok(None);
            }
            c.rest = before;
            c.generic_argument().map(Some)
        })?;
        Ok(args.into_iter().flatten().collect())
    }

    /// Whether `<impl …>` comes that is an argument, as in `Option::<impl Fn()>::take` and `call::<impl Fn()>`, and not the place of a function, as in `num::<impl u32>::MAX`.
    fn is_argument(&self, path: &FnPath) -> bool {
        let Some((last, _)) = path.segments.last() else {
            return false;
        };
        let of_type = last.starts_with(|first: char| first.is_ascii_uppercase());
        let mut behind = Cursor::new(self.rest, self.line, self.names);
        let ends = behind.eat("<impl ") && behind.until_closing('<', '>').is_ok();
        ends && (of_type || !behind.peek("::"))
    }

    /// A path of a type, function, constant or variant.
    pub fn path(&mut self) -> Read<FnPath> {
        let mut path = FnPath {
            qualified: None,
            segments: Vec::new(),
        };
        // `<impl u32>::MAX` is a path with an impl in it, `<impl Fn() as Fn<()>>::call` is qualified.
        let of_impl = self.rest.strip_prefix("<impl ").is_some_and(|rest| {
            let mut bounds = Cursor::new(rest, self.line, self.names);
            bounds.bounds();
            !bounds.rest.starts_with(" as ")
        });
        if self.peek("<") && !of_impl {
            self.rest = &self.rest[1..];
            let ty = self.ty()?;
            self.spaces();
            let trait_ = if self.eat("as ") {
                Some(self.ty()?)
            } else {
                None
            };
            self.spaces();
            self.expect(">")?;
            self.expect("::")?;
            path.qualified = Some((ty, trait_));
        }
        loop {
            if self.eat("<impl at ") {
                let place = self.until_closing('<', '>')?;
                let name = format!("<impl at {place}>");
                path.segments.push((Rc::from(name), Vec::new()));
            } else if !self.is_argument(&path) && self.eat("<impl ") {
                let ty = self.ty()?;
                self.spaces();
                if self.eat("for ") {
                    self.ty()?;
                }
                self.expect(">")?;
                path.segments.push((Rc::from("<impl>"), vec![ty]));
            } else if self.eat("{closure@") {
                let place = self.until_closing('{', '}')?;
                path.segments
                    .push((Rc::from(format!("{{closure@{place}}}")), Vec::new()));
            } else if self.eat("{") {
                let inside = self.until_closing('{', '}')?;
                path.segments
                    .push((Rc::from(format!("{{{inside}}}")), Vec::new()));
            } else if self.eat("<") {
                // `Vec::<u32>` and `Vec<u32>`
                let args = self.generic_arguments()?;
                match path.segments.last_mut() {
                    Some((_, last)) => last.extend(args),
                    None => return self.fail("a name before `<`"),
                }
            } else {
                let word = self.word();
                if word.is_empty() {
                    return self.fail("a name");
                }
                path.segments.push((Rc::from(word), Vec::new()));
                // `Fn(A) -> B` in bounds of types.
                if matches!(word, "Fn" | "FnMut" | "FnOnce") && self.eat("(") {
                    let inside = self.list(")", |c| c.ty())?;
                    if self.eat(" -> ") {
                        self.ty()?;
                    }
                    if let Some((_, last)) = path.segments.last_mut() {
                        last.push(Ty::Tuple(inside));
                    }
                }
            }
            if self.peek("<")
                && path
                    .segments
                    .last()
                    .is_some_and(|(n, _)| !n.starts_with('{'))
            {
                self.rest = &self.rest[1..];
                let args = self.generic_arguments()?;
                if let Some((_, last)) = path.segments.last_mut() {
                    last.extend(args);
                }
            }
            if !self.eat("::") {
                return Ok(path);
            }
        }
    }
}
