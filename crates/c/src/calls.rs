//! Calls: of the program's functions, and of those that the language and its libraries have.

use crate::ast::*;
use crate::body::Body;
use crate::packed::is_packed;
use crate::types::{Done, fail, layout, resolved, scalars, sign, size};
use crate::value::{Place, Value, floating, without_casts};
use palisade_lang::{BinaryOp, Diagnostic, Expr as LangExpr, Order, Span};
use palisade_lower::{self as lower, Action, ArrayBlock, Atom, Cell, End, LocalId, ValueExpr};
use std::rc::Rc;

/// Functions without a meaning for concurrency: their arguments are evaluated, and they give 0.
const WITHOUT_EFFECT: &[&str] = &[
    "printf",
    "fprintf",
    "puts",
    "putchar",
    "fputs",
    "fflush",
    "perror",
    "strerror",
    "warn",
    "warnx",
    "sched_yield",
    "thrd_yield",
    "sleep",
    "usleep",
    "nanosleep",
    "thrd_sleep",
    "srand",
    "setbuf",
    "pthread_yield",
    "pthread_detach",
    "thrd_detach",
    "pthread_setconcurrency",
    "pthread_setaffinity_np",
    "pthread_attr_init",
    "pthread_attr_destroy",
    "pthread_attr_setdetachstate",
    "pthread_attr_setstacksize",
    "pthread_attr_setscope",
    "pthread_attr_setschedpolicy",
    "pthread_attr_setschedparam",
    "pthread_attr_setinheritsched",
    "pthread_attr_setaffinity_np",
    "pthread_setname_np",
    "pthread_setschedparam",
    "pthread_setcancelstate",
    "pthread_setcanceltype",
    "pthread_testcancel",
    "pthread_mutexattr_init",
    "pthread_mutexattr_destroy",
    "pthread_mutexattr_setpshared",
    "pthread_mutexattr_setprotocol",
    "pthread_condattr_init",
    "pthread_condattr_destroy",
    "pthread_condattr_setclock",
    "pthread_condattr_setpshared",
    "pthread_rwlockattr_init",
    "pthread_rwlockattr_destroy",
    "pthread_rwlockattr_setpshared",
    "pthread_rwlockattr_setkind_np",
    "pthread_barrierattr_init",
    "pthread_barrierattr_destroy",
    "pthread_barrierattr_setpshared",
    "sched_setaffinity",
    "__palisade_cpus",
    "fputc",
    "putc",
    "write",
    "vprintf",
    "vfprintf",
    "__builtin_prefetch",
    "__builtin_ia32_pause",
    "_mm_pause",
    "atomic_signal_fence",
    "__atomic_signal_fence",
    "__VERIFIER_hazptr_clear",
    "__VERIFIER_hazptr_free",
    "__VERIFIER_loop_begin",
    "__VERIFIER_loop_bound",
    "__VERIFIER_spin_start",
    "__VERIFIER_spin_end",
    "__VERIFIER_annotate_begin",
    "__VERIFIER_annotate_end",
    "__VERIFIER_method_begin",
    "__VERIFIER_method_end",
    "model_init_action",
    "model_print",
];

/// Where an atomic operation would not see what was stored as it was.
pub(crate) const OTHER_SIGN: &str =
    "an atomic number is used as one with another sign here, which is not supported";

impl Body<'_, '_> {
    /// A call; its value is nothing where it is not wanted.
    pub fn call(
        &mut self,
        callee: &Expr,
        arguments: &[Expr],
        wanted: bool,
        span: Span,
    ) -> Done<Value> {
        if let ExprKind::Name(name) = &callee.kind
            && self.variable(name).is_none()
        {
            if self.translator.definitions.contains_key(name) {
                // A body that the program has counts, whatever its name.
            } else if let Some(value) = self.builtin(name, arguments, wanted, span)? {
                return Ok(value);
            } else if let Some(plain) = name.strip_prefix("__builtin_")
                && !plain.starts_with("__builtin_")
            {
                // The compiler's own name for a function of the library.
                let plain = ExprKind::Name(plain.into());
                let callee = Expr::new(plain, callee.span);
                return self.call(&callee, arguments, wanted, span);
            } else if self.translator.global(name)?.is_none() {
                let mut error = Diagnostic::error(span, format!("`{name}` has no body here"));
                error = error.label("this call is not known");
                return Err(Box::new(error));
            }
        }
        let function = self.rvalue(callee)?;
        let ty = function.ty.pointee().map(|to| to.kind.clone());
        let Some(TypeKind::Function(ty)) = ty.as_deref() else {
            return fail(callee.span, "this is not a function");
        };
        let mut values = Vec::new();
        for (index, argument) in arguments.iter().enumerate() {
            let value = match ty.parameters.get(index) {
                Some(parameter) => {
                    let target = resolved(&parameter.ty, argument.span, self.translator)?;
                    self.rvalue_for(argument, &target)?
                }
                None => self.rvalue(argument)?,
            };
            values.push(value.expr);
        }
        let result = resolved(&ty.result, span, self.translator)?;
        // A struct comes back in memory of the caller.
        let mut returned = None;
        if result.record().is_some() {
            let memory = self.memory("result", &result.plain(), span)?;
            let address = LangExpr::Atom(Atom::AddressOf(memory));
            values.insert(0, address.clone());
            returned = Some(address);
        }
        let to = match result.is_void() || !wanted || returned.is_some() {
            true => None,
            false => Some(self.temporary(&result, span)),
        };
        let call = Action::Call {
            to,
            callee: function.expr,
            arguments: values,
        };
        // As the rules of SV-COMP have it, such a function is executed at once.
        let at_once =
            matches!(&callee.kind, ExprKind::Name(name) if name.starts_with("__VERIFIER_atomic_"));
        if at_once {
            self.emit(Action::AtomicBegin, span);
        }
        self.emit(call, span);
        if at_once {
            self.emit(Action::AtomicEnd, span);
        }
        let expr = match (to, returned) {
            (Some(to), _) => LangExpr::Atom(Atom::Local(to)),
            (None, Some(address)) => address,
            (None, None) => return Ok(Value::nothing()),
        };
        let ty = result.plain();
        Ok(Value { expr, ty })
    }

    /// Arguments of a function that does nothing with them here: they are read as those of any other.
    pub fn passed(&mut self, arguments: &[Expr]) -> Done<()> {
        for argument in arguments {
            match &argument.kind {
                ExprKind::String(_) | ExprKind::Float => {}
                // Whatever it becomes: nothing is done with it.
                ExprKind::Cast(_, inner) if matches!(inner.kind, ExprKind::Call(..)) => {
                    self.effect(inner)?;
                }
                ExprKind::Name(_) | ExprKind::Member(..)
                    if self.type_of(argument).is_ok_and(|ty| ty.is_scalar()) =>
                {
                    self.rvalue(argument)?;
                }
                _ => self.effect(argument)?,
            }
        }
        Ok(())
    }

    /// An argument that must be there.
    pub fn argument<'e>(&self, arguments: &'e [Expr], index: usize, span: Span) -> Done<&'e Expr> {
        match arguments.get(index) {
            Some(argument) => Ok(argument),
            None => fail(span, format!("this call needs {} arguments", index + 1)),
        }
    }

    /// The place that a pointer leads to, and the type of what is there. `&x` is the place of x, also where x is a register.
    pub fn pointed(&mut self, pointer: &Expr) -> Done<(Place, Type)> {
        match &pointer.kind {
            ExprKind::Unary(Unary::AddressOf, operand) => self.place(operand),
            ExprKind::Cast(ty, inner)
                if self.type_of(inner).is_ok_and(|ty| ty.is_pointer_like()) =>
            {
                let ty = resolved(ty, pointer.span, self.translator)?;
                let (place, found) = self.pointed(inner)?;
                match ty.pointee() {
                    Some(to) if !to.is_void() => {
                        let to = resolved(to, pointer.span, self.translator)?;
                        self.looked_at_as(&found, &to, pointer.span)?;
                        Ok((place, to))
                    }
                    _ => Ok((place, found)),
                }
            }
            _ => {
                let value = self.rvalue(pointer)?;
                let Some(to) = value.ty.pointee() else {
                    return fail(pointer.span, "this is not a pointer");
                };
                let to = resolved(to, pointer.span, self.translator)?;
                Ok((Place::Memory(value.expr), to))
            }
        }
    }

    /// An atomic object that a pointer leads to, a struct as a whole or a scalar: its address and its type.
    pub fn atomic_object(&mut self, pointer: &Expr) -> Done<(ValueExpr, Type)> {
        if let (Place::Memory(address), ty) = self.pointed(pointer)?
            && is_packed(&ty, pointer.span, self.translator)?
        {
            return Ok((address, ty));
        }
        self.atomic(pointer)
    }

    /// An atomic object that a pointer leads to: its address and its scalar type.
    pub fn atomic(&mut self, pointer: &Expr) -> Done<(ValueExpr, Type)> {
        let (place, ty) = self.pointed(pointer)?;
        let Place::Memory(address) = place else {
            return fail(pointer.span, "this variable has no address");
        };
        if let ExprKind::Cast(_, inner) = &pointer.kind {
            // What is there is compared as it is.
            let (_, found) = self.pointed(inner)?;
            if let (Some(one), Some(other)) = (sign(&found), sign(&ty))
                && one != other
            {
                return fail(pointer.span, OTHER_SIGN);
            }
        }
        let mut ty = ty;
        // A struct of one scalar, such as `atomic_flag`.
        while let Some(id) = ty.record() {
            let count = self.translator.cell_count(&ty, pointer.span)?;
            let record = &self.translator.ast.records[id.0 as usize];
            match record.fields.as_deref() {
                Some([only]) if count == 1 => ty = only.ty.clone(),
                _ => {
                    let message = match ty.atomic {
                        true => {
                            "this operation on an atomic struct of more than one scalar is not supported"
                        }
                        false => {
                            "this struct of more than one scalar is not `_Atomic`: atomic operations on it are not supported"
                        }
                    };
                    return fail(pointer.span, message);
                }
            }
            ty = resolved(&ty, pointer.span, self.translator)?;
        }
        if let TypeKind::Array(element, _) = &*ty.kind {
            ty = element.clone();
        }
        if ty.is_void() {
            return fail(pointer.span, "the type behind this pointer is not known");
        }
        if !ty.is_scalar() {
            return fail(pointer.span, "this is no scalar");
        }
        Ok((address, ty))
    }

    /// Memory that is allocated, where the expression is a call that does that: it has the type that the place wants.
    pub fn allocation(&mut self, expr: &Expr, target: Option<&Type>) -> Done<Option<Value>> {
        let (callee, arguments) = match &expr.kind {
            ExprKind::Cast(ty, inner) => {
                let ty = resolved(ty, expr.span, self.translator)?;
                let useful = ty.pointee().is_some_and(|to| !to.is_void());
                return match useful {
                    true => self.allocation(inner, Some(&ty)),
                    false => self.allocation(inner, target),
                };
            }
            ExprKind::Call(callee, arguments) => (callee, arguments),
            _ => return Ok(None),
        };
        let ExprKind::Name(name) = &callee.kind else {
            return Ok(None);
        };
        if self.translator.definitions.contains_key(name) || self.variable(name).is_some() {
            return Ok(None);
        }
        let span = expr.span;
        let plain = name.strip_prefix("__builtin_").unwrap_or(name);
        let (sizes, zeroed): (&[Expr], bool) = match (plain, arguments.as_slice()) {
            ("malloc" | "__VERIFIER_hp_alloc", [size]) => (std::slice::from_ref(size), false),
            ("alloca", [size]) => (std::slice::from_ref(size), false),
            ("aligned_alloc" | "memalign", [alignment, size]) => {
                // Where the program looks at the bits of addresses, they have the alignment that every object has, and no other.
                let stride = self.translator.stride;
                let alignment = self.rvalue(alignment)?;
                if stride > 1 && !matches!(alignment.expr, LangExpr::Const(n) if n <= stride) {
                    return fail(
                        span,
                        "memory with this alignment is not supported where bits of pointers are looked at",
                    );
                }
                (std::slice::from_ref(size), false)
            }
            ("calloc", [_, _]) => (arguments, true),
            _ => return Ok(None),
        };
        let mut total = Value::int(1);
        let mut named = None;
        for size in sizes {
            named = named.or(self.sized_type(size)?);
            let factor = self.rvalue_for(size, &Type::int(64, true))?;
            total.expr = lower::binary(BinaryOp::Multiply, total.expr, factor.expr);
        }
        let wanted = target
            .and_then(Type::pointee)
            .filter(|to| !to.is_void() && !matches!(&*to.kind, TypeKind::Int { bits: 8, .. }));
        let ty = match (wanted, named) {
            (Some(ty), _) => ty.clone(),
            (None, Some(ty)) => ty,
            (None, None) => match target.and_then(Type::pointee) {
                Some(ty) if !ty.is_void() => ty.clone(),
                _ => return fail(span, "what this memory will hold is not known"),
            },
        };
        let ty = resolved(&ty, span, self.translator)?;
        let (each, _) = size(&ty, span, self.translator)?;
        let LangExpr::Const(bytes) = total.expr else {
            return self.allocate_array(total.expr, each, ty, zeroed, span);
        };
        let bytes = u64::try_from(bytes).unwrap_or(0);
        let mut cells = Vec::new();
        if let Some((name, element)) = self.flexible(&ty) {
            layout(&ty, "", span, self.translator, &mut cells)?;
            let (one, _) = size(&element, span, self.translator)?;
            let count = bytes.saturating_sub(each) / one.max(1);
            let length = Expr::new(ExprKind::Int(count as i64, Type::int(64, false)), span);
            let array = Type::new(TypeKind::Array(element, Some(length.into())));
            layout(
                &array,
                &format!(".{name}"),
                span,
                self.translator,
                &mut cells,
            )?;
            return Ok(Some(self.allocate(ty, cells, zeroed, span)));
        }
        let count = bytes / each.max(1);
        if count == 0 || bytes % each.max(1) != 0 {
            return fail(span, "this memory does not fit what it will hold");
        }
        match count {
            1 => layout(&ty, "", span, self.translator, &mut cells)?,
            count => {
                let length = Expr::new(ExprKind::Int(count as i64, Type::int(64, false)), span);
                let array = TypeKind::Array(ty.clone(), Some(length.into()));
                layout(&Type::new(array), "", span, self.translator, &mut cells)?;
            }
        }
        Ok(Some(self.allocate(ty, cells, zeroed, span)))
    }

    /// The name and the elements of the last member of a struct, where that is an array without a length.
    fn flexible(&self, ty: &Type) -> Option<(Rc<str>, Type)> {
        let record = &self.translator.ast.records[ty.record()?.0 as usize];
        let last = record.fields.as_deref().and_then(<[Field]>::last)?;
        match &*last.ty.kind {
            TypeKind::Array(element, None) => Some((last.name.clone()?, element.clone())),
            _ => None,
        }
    }

    fn allocate(&mut self, ty: Type, cells: Vec<Cell>, zeroed: bool, span: Span) -> Value {
        let pointer = Type::pointer(ty.clone());
        let to = self.temporary(&pointer, span);
        let name = ty.describe(self.translator.ast);
        let total = cells.len() as i64;
        let allocate = Action::Allocate { to, name, cells };
        self.emit(allocate, span);
        let address = LangExpr::Atom(Atom::Local(to));
        if zeroed {
            for cell in 0..total {
                let address = self.behind(address.clone(), cell);
                let store = Action::Store {
                    address,
                    value: LangExpr::Const(0),
                    order: Order::NonAtomic,
                };
                self.emit(store, span);
            }
        }
        Value {
            expr: address,
            ty: pointer,
        }
    }

    /// Memory of a size that is computed: it must be known where the program's beginning has been run.
    fn allocate_array(
        &mut self,
        bytes: ValueExpr,
        each: u64,
        ty: Type,
        zeroed: bool,
        span: Span,
    ) -> Done<Option<Value>> {
        let mut block = ArrayBlock::default();
        let (bytes, each) = match self.flexible(&ty) {
            Some((name, element)) => {
                layout(&ty, "", span, self.translator, &mut block.head)?;
                layout(&element, "", span, self.translator, &mut block.element)?;
                block.array = format!(".{name}");
                let (one, _) = size(&element, span, self.translator)?;
                let head = LangExpr::Const(each as i64);
                (lower::binary(BinaryOp::Subtract, bytes, head), one)
            }
            None => {
                layout(&ty, "", span, self.translator, &mut block.element)?;
                (bytes, each)
            }
        };
        let pointer = Type::pointer(ty.clone());
        let to = self.temporary(&pointer, span);
        let each = LangExpr::Const(each.max(1) as i64);
        let allocate = Action::AllocateArray {
            to,
            name: ty.describe(self.translator.ast),
            block,
            count: lower::binary(BinaryOp::Divide, bytes, each),
            zeroed,
        };
        self.emit(allocate, span);
        Ok(Some(Value {
            expr: LangExpr::Atom(Atom::Local(to)),
            ty: pointer,
        }))
    }

    /// The value of an expression that is known now, without its effects.
    fn translator_integer(&mut self, expr: &Expr) -> Done<Option<i64>> {
        // `sizeof *p` needs the function's names.
        let before = self.mark();
        let value = self.rvalue(expr);
        let unchanged = self.is_at(&before);
        self.take_back(before);
        match value?.expr {
            LangExpr::Const(value) if unchanged => Ok(Some(value)),
            _ => self.translator.integer(expr),
        }
    }

    /// The type in the first `sizeof` of an expression.
    fn sized_type(&mut self, expr: &Expr) -> Done<Option<Type>> {
        Ok(match &expr.kind {
            ExprKind::SizeOfType(ty) => Some(ty.clone()),
            ExprKind::SizeOf(inner) => Some(self.type_of(inner)?),
            ExprKind::Binary(_, left, right) => match self.sized_type(left)? {
                Some(ty) => Some(ty),
                None => self.sized_type(right)?,
            },
            ExprKind::Cast(_, inner) => self.sized_type(inner)?,
            _ => None,
        })
    }

    /// A function of the language or its libraries; `None` where there is none of that name.
    fn builtin(
        &mut self,
        name: &str,
        arguments: &[Expr],
        wanted: bool,
        span: Span,
    ) -> Done<Option<Value>> {
        if let Some(value) = self.atomic_builtin(name, arguments, wanted, span)? {
            return Ok(Some(value));
        }
        if wanted && matches!(name, "printf" | "fprintf" | "vprintf" | "vfprintf") {
            // How many characters it were. As with a floating-point number, nothing can depend on it.
            self.passed(arguments)?;
            return Ok(Some(floating()));
        }
        if WITHOUT_EFFECT.contains(&name) {
            self.passed(arguments)?;
            return Ok(Some(Value::int(0)));
        }
        let value = match name {
            "__palisade_assert" | "__VERIFIER_assert" | "assert" | "model_assert" => {
                let condition = self.rvalue(self.argument(arguments, 0, span)?)?;
                if !condition.ty.is_scalar() {
                    return fail(span, "this is no condition");
                }
                self.emit(Action::Assert(condition.expr), span);
                Value::nothing()
            }
            "__VERIFIER_assume"
            | "__ESBMC_assume"
            | "__CPROVER_assume"
            | "assume"
            | "__VERIFIER_assume_internal" => {
                let condition = self.rvalue(self.argument(arguments, 0, span)?)?;
                self.emit(Action::Assume(condition.expr), span);
                Value::nothing()
            }
            "__VERIFIER_error" | "reach_error" | "__assert_fail" | "__VERIFIER_assert_fail" => {
                self.emit(Action::Assert(LangExpr::Const(0)), span);
                Value::nothing()
            }
            "abort"
            | "exit"
            | "_Exit"
            | "_exit"
            | "quick_exit"
            | "err"
            | "errx"
            | "__builtin_unreachable"
            | "__builtin_trap" => {
                self.passed(arguments)?;
                self.finish(End::Stop, span);
                Value::nothing()
            }
            "__VERIFIER_atomic_begin" => {
                self.emit(Action::AtomicBegin, span);
                Value::nothing()
            }
            "__VERIFIER_atomic_end" => {
                self.emit(Action::AtomicEnd, span);
                Value::nothing()
            }
            "__VERIFIER_thread_create" | "__VERIFIER_thread_create_symmetric" => {
                self.create(arguments, None, 1, 2, span)?
            }
            "__VERIFIER_spawn" | "__VERIFIER_spawn_symmetric" => {
                self.create(arguments, None, 0, 1, span)?
            }
            "pthread_self" | "thrd_current" | "__VERIFIER_thread_self" | "__VERIFIER_tid" => {
                let ty = Type::int(64, false);
                let to = self.temporary(&ty, span);
                self.emit(Action::ThisThread(to), span);
                Value {
                    expr: LangExpr::Atom(Atom::Local(to)),
                    ty,
                }
            }
            "pthread_equal" | "thrd_equal" => {
                let left = self.rvalue(self.argument(arguments, 0, span)?)?;
                let right = self.rvalue(self.argument(arguments, 1, span)?)?;
                self.combine(BinaryOp::Equal, left, right, span)?
            }
            "__VERIFIER_hazptr_retire" => {
                let message = "memory that is retired is not given back, so its reuse is not seen";
                self.note(message, span);
                self.effect(self.argument(arguments, 0, span)?)?;
                Value::nothing()
            }
            "__VERIFIER_opt_begin" => self.nondeterministic("__VERIFIER_nondet_bool", span),
            "pthread_create" => self.create(arguments, Some(0), 2, 3, span)?,
            "thrd_create" => self.create(arguments, Some(0), 1, 2, span)?,
            "__VERIFIER_join" | "__VERIFIER_join_symmetric" | "__VERIFIER_thread_join" => {
                self.join_for_value(arguments, span)?
            }
            "pthread_join" | "thrd_join" => self.join(arguments, span)?,
            "pthread_exit" | "thrd_exit" => {
                let value = self.rvalue(self.argument(arguments, 0, span)?)?;
                self.finish(End::Finish(Some(value.expr)), span);
                Value::nothing()
            }
            "malloc" | "calloc" | "aligned_alloc" | "memalign" | "alloca" | "__builtin_alloca" => {
                let call = Expr::new(
                    ExprKind::Call(
                        Box::new(Expr::new(ExprKind::Name(name.into()), span)),
                        arguments.to_vec(),
                    ),
                    span,
                );
                match self.allocation(&call, None)? {
                    Some(value) => value,
                    None => return fail(span, format!("this call of `{name}` is not supported")),
                }
            }
            "free" => {
                let address = self.rvalue(self.argument(arguments, 0, span)?)?;
                self.emit(Action::Free(address.expr), span);
                Value::nothing()
            }
            "__builtin_expect" | "__builtin_expect_with_probability" => {
                let value = self.rvalue(self.argument(arguments, 0, span)?)?;
                match arguments.get(1..) {
                    // What is expected is computed, too.
                    Some([expected, ..]) if !matches!(expected.kind, ExprKind::Int(..)) => {
                        let value = self.kept(value, span);
                        self.effect(expected)?;
                        value
                    }
                    _ => value,
                }
            }
            // Nothing is evaluated.
            "__builtin_constant_p" => Value::int(0),
            "posix_memalign" => self.aligned_to(arguments, span)?,
            "time" | "clock" | "clock_gettime" | "gettimeofday" | "timespec_get" => {
                self.read_clock(name, arguments, span)?
            }
            "__builtin_assume_aligned" => self.rvalue(self.argument(arguments, 0, span)?)?,
            "memset" => self.fill_memory(arguments, span)?,
            "memcpy" | "memmove" | "__builtin_memcpy" => self.copy_memory(arguments, span)?,
            "memcmp" => {
                for argument in arguments.iter().take(2) {
                    let before = self.mark();
                    let found = self.pointed_memory(argument);
                    self.take_back(before);
                    let mut ty = found?.1;
                    while let TypeKind::Array(element, _) = &*ty.kind {
                        ty = element.clone();
                    }
                    if !matches!(&*ty.kind, TypeKind::Int { bits: 8, .. }) {
                        let message = "the bytes of objects other than texts are not compared";
                        return fail(argument.span, message);
                    }
                }
                let compare = ExprKind::Name("__palisade_compare_bytes".into());
                self.call(&Expr::new(compare, span), arguments, wanted, span)?
            }
            "syscall" => self.system_call(arguments, span)?,
            _ if name.starts_with("__VERIFIER_nondet_") || name == "nondet_int" => {
                self.nondeterministic(name, span)
            }
            _ => return self.library(name, arguments, span),
        };
        Ok(Some(value))
    }

    pub fn nondeterministic(&mut self, name: &str, span: Span) -> Value {
        let is_bool = name.ends_with("_bool");
        let ty = match name.ends_with("_uint") || name.ends_with("_unsigned") {
            true => Type::int(32, false),
            false => Type::int(32, true),
        };
        let register = self.temporary(&ty, span);
        let chosen = LangExpr::Atom(Atom::Local(register));
        match is_bool {
            true => self.emit(Action::Choose(register, vec![0, 1]), span),
            false => {
                self.emit(Action::Choose(register, vec![0, 1, 2, 3, 4]), span);
                let last = LangExpr::Const(4);
                let fine = lower::binary(BinaryOp::Less, chosen.clone(), last);
                self.bound_unless(
                    fine,
                    "any number is possible here, and 0 to 3 are tried",
                    span,
                );
            }
        }
        Value { expr: chosen, ty }
    }

    /// `posix_memalign`: memory for what the pointer is for to which the first argument leads.
    fn aligned_to(&mut self, arguments: &[Expr], span: Span) -> Done<Value> {
        let pointer = without_casts(self.argument(arguments, 0, span)?);
        let (place, ty) = self.pointed(pointer)?;
        let name = ExprKind::Name("aligned_alloc".into());
        let sizes = arguments.iter().skip(1).cloned().collect();
        let call = ExprKind::Call(Box::new(Expr::new(name, span)), sizes);
        let Some(value) = self.allocation(&Expr::new(call, span), Some(&ty))? else {
            return fail(span, "what this memory will hold is not known");
        };
        let value = self.convert(value, &ty, span)?;
        self.store(&place, &ty, value, Order::NonAtomic, span)?;
        Ok(Value::int(0))
    }

    /// A clock stands still here: what is done with the time is how long something took, or until when something waits.
    fn read_clock(&mut self, name: &str, arguments: &[Expr], span: Span) -> Done<Value> {
        self.note(
            "clocks stand still: the time that is read is always 0",
            span,
        );
        let into = arguments.get(usize::from(name == "clock_gettime"));
        let into = into.filter(|into| self.translator.integer(into).ok().flatten() != Some(0));
        if let Some(into) = into {
            let (place, ty) = self.pointed(into)?;
            if ty.record().is_none() {
                let time = self.convert(floating(), &ty, span)?;
                self.store(&place, &ty, time, Order::NonAtomic, span)?;
            } else if let Place::Memory(address) = place {
                for cell in 0..self.translator.cell_count(&ty, span)? {
                    let store = Action::Store {
                        address: self.behind(address.clone(), cell),
                        value: LangExpr::Const(0),
                        order: Order::NonAtomic,
                    };
                    self.emit(store, span);
                }
            }
        }
        if matches!(name, "time" | "clock") {
            return Ok(floating());
        }
        // What `timespec_get` was asked for is what it gives back.
        Ok(Value::int(i64::from(name == "timespec_get")))
    }

    fn create(
        &mut self,
        arguments: &[Expr],
        handle: Option<usize>,
        function: usize,
        argument: usize,
        span: Span,
    ) -> Done<Value> {
        let place = match handle {
            Some(index) => Some(self.pointed(self.argument(arguments, index, span)?)?),
            None => None,
        };
        let callee = self.rvalue(self.argument(arguments, function, span)?)?;
        let value = match arguments.get(argument) {
            Some(argument) => self.rvalue(argument)?,
            None => Value::int(0),
        };
        let ty = Type::int(64, false);
        let to = self.temporary(&ty, span);
        let spawn = Action::Spawn {
            handle: Some(to),
            callee: callee.expr,
            arguments: vec![value.expr],
        };
        self.emit(spawn, span);
        let handle = Value {
            expr: LangExpr::Atom(Atom::Local(to)),
            ty: ty.clone(),
        };
        match place {
            Some((place, found)) if found.is_scalar() => {
                self.store(&place, &found, handle, Order::NonAtomic, span)?;
                Ok(Value::int(0))
            }
            Some((Place::Memory(address), _)) => {
                let place = Place::Memory(address);
                self.store(&place, &ty, handle, Order::NonAtomic, span)?;
                Ok(Value::int(0))
            }
            Some(_) => fail(span, "the handle of a thread needs a place"),
            None => Ok(handle),
        }
    }

    /// A join whose value is what the thread returned.
    fn join_for_value(&mut self, arguments: &[Expr], span: Span) -> Done<Value> {
        let handle = self.rvalue(self.argument(arguments, 0, span)?)?.expr;
        let ty = Type::pointer(Type::new(TypeKind::Void));
        let to = self.temporary(&ty, span);
        let join = Action::Join {
            handle,
            to: Some(to),
        };
        self.emit(join, span);
        Ok(Value {
            expr: LangExpr::Atom(Atom::Local(to)),
            ty,
        })
    }

    fn join(&mut self, arguments: &[Expr], span: Span) -> Done<Value> {
        let handle = self.rvalue(self.argument(arguments, 0, span)?)?;
        let null = match arguments.get(1) {
            Some(result) => self.translator.integer(result).ok().flatten() == Some(0),
            None => true,
        };
        let pointer = Type::pointer(Type::new(TypeKind::Void));
        let to: Option<LocalId> = match null {
            true => None,
            false => Some(self.temporary(&pointer, span)),
        };
        let join = Action::Join {
            handle: handle.expr,
            to,
        };
        if let (Some(to), Some(result)) = (to, arguments.get(1)) {
            let (place, ty) = self.pointed(result)?;
            self.emit(join, span);
            let value = Value {
                expr: LangExpr::Atom(Atom::Local(to)),
                ty: pointer,
            };
            let value = self.convert(value, &ty, span)?;
            self.store(&place, &ty, value, Order::NonAtomic, span)?;
        } else {
            self.emit(join, span);
        }
        Ok(Value::int(0))
    }

    /// How many cells so many bytes of this type are.
    fn extent(&mut self, ty: &Type, bytes: &Expr) -> Done<i64> {
        let span = bytes.span;
        let Some(total) = self.translator_integer(bytes)? else {
            return fail(span, "a size that is not a constant is not supported");
        };
        let (each, _) = size(ty, span, self.translator)?;
        let cells = self.translator.cell_count(ty, span)?;
        match each > 0 && total % each as i64 == 0 {
            true => Ok(total / each as i64 * cells),
            false => fail(span, "this size does not fit what the pointer leads to"),
        }
    }

    /// What a pointer to memory leads to, whichever pointer to bytes it becomes on the way: `(char *)&x` is all of x.
    fn pointed_memory(&mut self, pointer: &Expr) -> Done<(Place, Type)> {
        let mut pointer = pointer;
        while let ExprKind::Cast(_, inner) = &pointer.kind
            && self.is_view(pointer)?
        {
            pointer = inner;
        }
        let (place, mut ty) = self.pointed(pointer)?;
        let mut inner = &ty;
        while let TypeKind::Array(element, _) = &*inner.kind {
            inner = element;
        }
        if matches!(&*inner.kind, TypeKind::Int { bits: 8, .. }) {
            // It may have been another object before.
            self.translator.follows_bytes = true;
        }
        ty = resolved(&ty, pointer.span, self.translator)?;
        Ok((place, ty))
    }

    fn fill_memory(&mut self, arguments: &[Expr], span: Span) -> Done<Value> {
        let target = self.argument(arguments, 0, span)?;
        let (place, ty) = self.pointed_memory(target)?;
        let size = self.argument(arguments, 2, span)?;
        let ty = match (ty.is_void(), self.sized_type(size)?) {
            (false, _) => ty,
            (true, Some(named)) => resolved(&named, span, self.translator)?,
            (true, None) => return fail(span, "what is in this memory is not known"),
        };
        let value = self.argument(arguments, 1, span)?;
        let byte = matches!(&*ty.kind, TypeKind::Int { bits: 8, .. });
        let value = match self.translator_integer(value)? {
            Some(0) => LangExpr::Const(0),
            _ if byte => {
                let value = self.rvalue_for(value, &ty)?;
                self.kept(value, span).expr
            }
            _ => return fail(span, "`memset` of anything but 0 is not supported"),
        };
        let cells = self.extent(&ty, size)?;
        let Place::Memory(address) = place else {
            if let Place::Register(register) = place {
                self.emit(Action::Assign(register, value), span);
            }
            return Ok(Value::nothing());
        };
        for cell in 0..cells {
            let store = Action::Store {
                address: self.behind(address.clone(), cell),
                value: value.clone(),
                order: Order::NonAtomic,
            };
            self.emit(store, span);
        }
        Ok(Value {
            expr: address,
            ty: Type::pointer(ty),
        })
    }

    /// Whether what is copied has scalars of the same sizes in the same order as what it is copied to, as far as that is known.
    fn is_same_shape(&mut self, to: &Type, from: &Type, span: Span) -> Done<bool> {
        let is_byte = matches!(&*to.kind, TypeKind::Int { bits: 8, .. });
        if to.is_void() || from.is_void() {
            return Ok(!to.is_void() && !is_byte);
        }
        let (mut sizes, mut signs) = (Vec::new(), Vec::new());
        for ty in [to, from] {
            let ty = resolved(ty, span, self.translator)?;
            let mut all = Vec::new();
            scalars(&ty, span, self.translator, &mut all)?;
            let mut own = Vec::new();
            for scalar in &all {
                let packed = is_packed(scalar, span, self.translator)?;
                let floating = matches!(&*scalar.kind, TypeKind::Float(_));
                own.push((size(scalar, span, self.translator)?.0, packed, floating));
            }
            sizes.push(own);
            signs.push(all.iter().map(sign).collect::<Vec<_>>());
        }
        let both = signs[0].iter().zip(&signs[1]);
        self.translator.mixes_signs |= both.into_iter().any(|(one, other)| one != other);
        // One of them may be an element of an array of the others.
        let (short, long) = match sizes[0].len() <= sizes[1].len() {
            true => (&sizes[0], &sizes[1]),
            false => (&sizes[1], &sizes[0]),
        };
        Ok(long
            .iter()
            .zip(short.iter().cycle())
            .all(|(one, other)| one == other))
    }

    fn copy_memory(&mut self, arguments: &[Expr], span: Span) -> Done<Value> {
        let (to, ty) = self.pointed_memory(self.argument(arguments, 0, span)?)?;
        let (from, source) = self.pointed_memory(self.argument(arguments, 1, span)?)?;
        if !self.is_same_shape(&ty, &source, span)? {
            return fail(
                span,
                "memory is copied between objects of different shapes, or of a shape that is not known here: that is not supported",
            );
        }
        let cells = self.extent(&ty, self.argument(arguments, 2, span)?)?;
        let (Place::Memory(to), Place::Memory(from)) = (to, from) else {
            return fail(span, "this copy is not supported");
        };
        let mut values = Vec::new();
        for cell in 0..cells {
            let register = self.temporary(&Type::int(64, true), span);
            let load = Action::Peek {
                to: register,
                address: self.behind(from.clone(), cell),
            };
            self.emit(load, span);
            values.push(register);
        }
        for (cell, register) in values.into_iter().enumerate() {
            let store = Action::Store {
                address: self.behind(to.clone(), cell as i64),
                value: LangExpr::Atom(Atom::Local(register)),
                order: Order::NonAtomic,
            };
            self.emit(store, span);
        }
        Ok(Value {
            expr: to,
            ty: Type::pointer(ty),
        })
    }

    /// `syscall`: a futex, whose wait may end at any time.
    fn system_call(&mut self, arguments: &[Expr], span: Span) -> Done<Value> {
        const FUTEX: i64 = 202;
        const WAIT: i64 = 0;
        const WAKE: i64 = 1;
        const WAIT_BITSET: i64 = 9;
        const WAKE_BITSET: i64 = 10;
        let number = self.translator_integer(self.argument(arguments, 0, span)?)?;
        if number != Some(FUTEX) {
            return fail(span, "of system calls, only `SYS_futex` is supported");
        }
        // Which operation may be a parameter: the one that it is in each call is known when calls are inlined.
        let operation = self.argument(arguments, 2, span)?;
        let operation = match self.translator_integer(operation)? {
            Some(known) => LangExpr::Const(known),
            None => {
                let value = self.rvalue(operation)?;
                self.kept(value, span).expr
            }
        };
        let kind = lower::binary(BinaryOp::BitAnd, operation, LangExpr::Const(127));
        if let LangExpr::Const(kind) = kind {
            return match kind {
                WAIT | WAIT_BITSET => self.futex_wait(arguments, span),
                WAKE | WAKE_BITSET => Ok(self.futex_wake(span)),
                _ => fail(span, "of futexes, only waiting and waking are supported"),
            };
        }
        let ty = Type::int(64, true);
        let result = self.temporary(&ty, span);
        let after = self.block(span);
        for (numbers, waits) in [([WAIT, WAIT_BITSET], true), ([WAKE, WAKE_BITSET], false)] {
            let (this, next) = (self.block(span), self.block(span));
            let [first, second] = numbers.map(|number| {
                lower::binary(BinaryOp::Equal, kind.clone(), LangExpr::Const(number))
            });
            let either = lower::binary(BinaryOp::Or, first, second);
            self.finish(End::Branch(either, this, next), span);
            self.begin(this);
            let value = match waits {
                true => self.futex_wait(arguments, span)?,
                false => self.futex_wake(span),
            };
            self.emit(Action::Assign(result, value.expr), span);
            self.finish(End::Goto(after), span);
            self.begin(next);
        }
        let message = "of futexes, only waiting and waking are followed".to_owned();
        self.emit(Action::Bound(message), span);
        self.finish(End::Stop, span);
        self.begin(after);
        Ok(Value {
            expr: LangExpr::Atom(Atom::Local(result)),
            ty,
        })
    }

    /// 0 where it waited, -1 where it did not.
    fn futex_wait(&mut self, arguments: &[Expr], span: Span) -> Done<Value> {
        let (address, ty) = self.atomic(self.argument(arguments, 1, span)?)?;
        let expected = self.rvalue_for(self.argument(arguments, 3, span)?, &ty)?;
        let to = self.temporary(&ty, span);
        let order = Order::Relaxed;
        self.emit(Action::Load { to, address, order }, span);
        let read = LangExpr::Atom(Atom::Local(to));
        let equal = lower::binary(BinaryOp::Equal, read, expected.expr);
        Ok(Value {
            expr: lower::binary(BinaryOp::Add, equal, LangExpr::Const(-1)),
            ty: Type::int(64, true),
        })
    }

    /// How many threads were woken.
    fn futex_wake(&mut self, span: Span) -> Value {
        let ty = Type::int(64, true);
        let register = self.temporary(&ty, span);
        self.emit(Action::Choose(register, vec![0, 1]), span);
        Value {
            expr: LangExpr::Atom(Atom::Local(register)),
            ty,
        }
    }
}
