//! Random programs that can be written in every language that has memory orders: the same program as `.pal`, as C and as Rust. The front ends are
//! judged by each other, and by what is known of `.pal`.

use fastrand::Rng;
use std::fmt::Write;

/// The atomic locations of a program.
const ATOMIC: [&str; 3] = ["x", "y", "z"];
/// The nonatomic locations.
const PLAIN: [&str; 1] = ["d"];
/// The registers of a thread.
const REGISTERS: usize = 3;

/// A memory order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Order {
    fn in_pal(self) -> &'static str {
        ["relaxed", "acquire", "release", "acqrel", "seqcst"][self as usize]
    }

    fn in_c(self) -> &'static str {
        [
            "memory_order_relaxed",
            "memory_order_acquire",
            "memory_order_release",
            "memory_order_acq_rel",
            "memory_order_seq_cst",
        ][self as usize]
    }

    fn in_rust(self) -> &'static str {
        ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"][self as usize]
    }
}

/// Which read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Update {
    Add,
    Or,
    Swap,
}

/// A statement; registers and locations are numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Statement {
    Load(usize, usize, Order),
    Store(usize, Operand, Order),
    Update(Update, usize, usize, i32, Order),
    /// The register gets the value that was read.
    CompareExchange {
        register: usize,
        location: usize,
        expected: i32,
        new: i32,
        success: Order,
        failure: Order,
    },
    Fence(Order),
    PlainLoad(usize, usize),
    PlainStore(usize, Operand),
    /// A register compared with a number, and what is done in either case.
    If(usize, i32, Vec<Statement>, Vec<Statement>),
    /// Goes round until the location holds the number.
    Await(usize, i32, Order),
    /// Two registers do not have these values together.
    Assert((usize, i32), (usize, i32)),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    Number(i32),
    Register(usize),
}

impl std::fmt::Display for Operand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Operand::Number(number) => write!(f, "{number}"),
            Operand::Register(register) => write!(f, "r{register}"),
        }
    }
}

/// A program without a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wordless {
    threads: Vec<Vec<Statement>>,
}

/// A register, a location, the value expected and the new one, the orders of success and failure.
type CompareExchange = fn(usize, &str, (i32, i32), (Order, Order)) -> String;

/// How a language writes what all of them have.
struct Words {
    load: fn(&str, Order) -> String,
    store: fn(&str, Operand, Order) -> String,
    update: fn(Update, &str, i32, Order) -> String,
    compare_exchange: CompareExchange,
    fence: fn(Order) -> String,
    plain: fn(&str) -> String,
    condition: fn(String) -> String,
    assert: fn(String) -> String,
}

const PAL: Words = Words {
    load: |x, order| format!("{x}.load({})", order.in_pal()),
    store: |x, value, order| format!("{x}.store({value}, {});", order.in_pal()),
    update: |update, x, value, order| {
        let name = match update {
            Update::Add => "fetch_add",
            Update::Or => "fetch_or",
            Update::Swap => "swap",
        };
        format!("{x}.{name}({value}, {})", order.in_pal())
    },
    compare_exchange: |register, x, (old, new), (success, failure)| {
        let orders = (success.in_pal(), failure.in_pal());
        format!(
            "r{register} = {x}.compare_exchange({old}, {new}, {}, {});",
            orders.0, orders.1
        )
    },
    fence: |order| format!("fence({});", order.in_pal()),
    plain: |d| d.to_owned(),
    condition: |condition| condition,
    assert: |condition| format!("assert {condition};"),
};

const C: Words = Words {
    load: |x, order| format!("atomic_load_explicit(&{x}, {})", order.in_c()),
    store: |x, value, order| format!("atomic_store_explicit(&{x}, {value}, {});", order.in_c()),
    update: |update, x, value, order| {
        let name = match update {
            Update::Add => "atomic_fetch_add_explicit",
            Update::Or => "atomic_fetch_or_explicit",
            Update::Swap => "atomic_exchange_explicit",
        };
        format!("{name}(&{x}, {value}, {})", order.in_c())
    },
    compare_exchange: |register, x, (old, new), (success, failure)| {
        let orders = (success.in_c(), failure.in_c());
        format!(
            "r{register} = {old}; atomic_compare_exchange_strong_explicit(&{x}, &r{register}, {new}, {}, {});",
            orders.0, orders.1
        )
    },
    fence: |order| format!("atomic_thread_fence({});", order.in_c()),
    plain: |d| d.to_owned(),
    condition: |condition| format!("({condition})"),
    assert: |condition| format!("assert({condition});"),
};

const RUST: Words = Words {
    load: |x, order| format!("{}.load({})", x.to_uppercase(), order.in_rust()),
    store: |x, value, order| {
        let order = order.in_rust();
        format!("{}.store({value}, {order});", x.to_uppercase())
    },
    update: |update, x, value, order| {
        let name = match update {
            Update::Add => "fetch_add",
            Update::Or => "fetch_or",
            Update::Swap => "swap",
        };
        format!("{}.{name}({value}, {})", x.to_uppercase(), order.in_rust())
    },
    compare_exchange: |register, x, (old, new), (success, failure)| {
        let orders = (success.in_rust(), failure.in_rust());
        format!(
            "r{register} = match {}.compare_exchange({old}, {new}, {}, {}) {{ Ok(old) | Err(old) => old }};",
            x.to_uppercase(),
            orders.0,
            orders.1
        )
    },
    fence: |order| format!("fence({});", order.in_rust()),
    plain: |d| d.to_uppercase(),
    condition: |condition| condition,
    assert: |condition| format!("assert!({condition});"),
};

impl Wordless {
    /// A random program with two or three threads.
    pub fn random(seed: u64) -> Wordless {
        let mut rng = Rng::with_seed(seed);
        let threads = 2 + usize::from(rng.u8(..3) == 0);
        let size = if threads == 2 { 4 } else { 3 };
        // Programs about few locations have more to say.
        let locations = rng.usize(1..=ATOMIC.len());
        let threads = (0..threads)
            .map(|_| {
                let count = rng.usize(2..=size);
                let mut body: Vec<Statement> = (0..count)
                    .map(|_| statement(&mut rng, locations, 1))
                    .collect();
                if rng.u8(..3) == 0 {
                    let wrong = |rng: &mut Rng| (rng.usize(..REGISTERS), rng.i32(0..2));
                    body.push(Statement::Assert(wrong(&mut rng), wrong(&mut rng)));
                }
                body
            })
            .collect();
        Wordless { threads }
    }

    /// In Palisade's own language.
    pub fn in_pal(&self) -> String {
        let mut text = format!("shared {};\n", ATOMIC.join(", "));
        let _ = writeln!(text, "nonatomic shared {};", PLAIN.join(", "));
        for (t, body) in self.threads.iter().enumerate() {
            let _ = writeln!(text, "thread t{t} {{");
            for r in 0..REGISTERS {
                let _ = writeln!(text, "  let r{r} = 0;");
            }
            print(body, &PAL, 1, &mut text);
            text.push_str("}\n");
        }
        text
    }

    /// In C11, with POSIX threads.
    pub fn in_c(&self) -> String {
        let mut text =
            "#include <stdatomic.h>\n#include <pthread.h>\n#include <assert.h>\n".to_owned();
        let _ = writeln!(text, "atomic_int {};", ATOMIC.join(", "));
        let _ = writeln!(text, "int {};", PLAIN.join(", "));
        for (t, body) in self.threads.iter().enumerate() {
            let _ = writeln!(text, "static void *t{t}(void *unused) {{");
            for r in 0..REGISTERS {
                let _ = writeln!(text, "  int r{r} = 0;");
            }
            print(body, &C, 1, &mut text);
            text.push_str("  return 0;\n}\n");
        }
        text.push_str("int main(void) {\n");
        for t in 0..self.threads.len() {
            let _ = writeln!(text, "  pthread_t p{t}; pthread_create(&p{t}, 0, t{t}, 0);");
        }
        for t in 0..self.threads.len() {
            let _ = writeln!(text, "  pthread_join(p{t}, 0);");
        }
        text.push_str("  return 0;\n}\n");
        text
    }

    /// In Rust.
    pub fn in_rust(&self) -> String {
        let mut text = "#![allow(static_mut_refs, unused)]\nuse std::sync::atomic::{fence, AtomicI32, Ordering::*};\nuse std::thread;\n".to_owned();
        for x in ATOMIC {
            let _ = writeln!(
                text,
                "static {}: AtomicI32 = AtomicI32::new(0);",
                x.to_uppercase()
            );
        }
        for d in PLAIN {
            let _ = writeln!(text, "static mut {}: i32 = 0;", d.to_uppercase());
        }
        for (t, body) in self.threads.iter().enumerate() {
            let _ = writeln!(text, "fn t{t}() {{ unsafe {{");
            for r in 0..REGISTERS {
                let _ = writeln!(text, "  let mut r{r} = 0;");
            }
            print(body, &RUST, 1, &mut text);
            text.push_str("} }\n");
        }
        text.push_str("fn main() {\n");
        for t in 0..self.threads.len() {
            let _ = writeln!(text, "  let p{t} = thread::spawn(t{t});");
        }
        for t in 0..self.threads.len() {
            let _ = writeln!(text, "  p{t}.join().unwrap();");
        }
        text.push_str("}\n");
        text
    }

    /// Whether a thread may go round for ever.
    pub fn may_wait(&self) -> bool {
        fn waits(body: &[Statement]) -> bool {
            body.iter().any(|statement| match statement {
                Statement::Await(..) => true,
                Statement::If(_, _, then, otherwise) => waits(then) || waits(otherwise),
                _ => false,
            })
        }
        self.threads.iter().any(|body| waits(body))
    }

    /// Programs that are one statement smaller.
    pub fn smaller(&self) -> Vec<Wordless> {
        let mut all = Vec::new();
        for t in 0..self.threads.len() {
            if self.threads.len() > 1 {
                let mut fewer = self.clone();
                fewer.threads.remove(t);
                all.push(fewer);
            }
            for s in 0..self.threads[t].len() {
                let mut fewer = self.clone();
                let removed = fewer.threads[t].remove(s);
                all.push(fewer.clone());
                if let Statement::If(_, _, then, otherwise) = removed {
                    for inner in [then, otherwise] {
                        let mut flat = fewer.clone();
                        flat.threads[t].splice(s..s, inner);
                        all.push(flat);
                    }
                }
            }
        }
        all
    }
}

fn statement(rng: &mut Rng, locations: usize, depth: u32) -> Statement {
    use Order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    let register = rng.usize(..REGISTERS);
    let location = rng.usize(..locations);
    let number = rng.i32(1..3);
    let operand = match rng.u8(..4) {
        0 => Operand::Register(rng.usize(..REGISTERS)),
        _ => Operand::Number(number),
    };
    let mut of = |orders: &[Order]| orders[rng.usize(..orders.len())];
    let (reading, writing) = (
        of(&[Relaxed, Acquire, SeqCst]),
        of(&[Relaxed, Release, SeqCst]),
    );
    let both = of(&[Relaxed, Acquire, Release, AcqRel, SeqCst]);
    let fence = of(&[Acquire, Release, AcqRel, SeqCst]);
    match rng.u8(..if depth > 0 { 24 } else { 20 }) {
        0..=4 => Statement::Load(register, location, reading),
        5..=9 => Statement::Store(location, operand, writing),
        10 => Statement::Update(Update::Add, register, location, 1, both),
        11 => Statement::Update(Update::Or, register, location, number, both),
        12 => Statement::Update(Update::Swap, register, location, number, both),
        13..=14 => Statement::CompareExchange {
            register,
            location,
            expected: rng.i32(0..2),
            new: number,
            success: both,
            failure: reading,
        },
        15 => Statement::Fence(fence),
        16 => Statement::PlainLoad(register, rng.usize(..PLAIN.len())),
        17..=18 => Statement::PlainStore(rng.usize(..PLAIN.len()), operand),
        19 => Statement::Await(location, number, reading),
        _ => {
            let mut inner = |count: usize| {
                let count = rng.usize(..=count);
                (0..count)
                    .map(|_| statement(rng, locations, depth - 1))
                    .collect::<Vec<_>>()
            };
            let (then, otherwise) = (inner(2), inner(1));
            Statement::If(register, rng.i32(0..2), then, otherwise)
        }
    }
}

fn print(body: &[Statement], words: &Words, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    for statement in body {
        text.push_str(&indent);
        match statement {
            Statement::Load(register, location, order) => {
                let value = (words.load)(ATOMIC[*location], *order);
                let _ = writeln!(text, "r{register} = {value};");
            }
            Statement::Store(location, value, order) => {
                text.push_str(&(words.store)(ATOMIC[*location], *value, *order));
                text.push('\n');
            }
            Statement::Update(update, register, location, value, order) => {
                let value = (words.update)(*update, ATOMIC[*location], *value, *order);
                let _ = writeln!(text, "r{register} = {value};");
            }
            Statement::CompareExchange {
                register,
                location,
                expected,
                new,
                success,
                failure,
            } => {
                let (values, orders) = ((*expected, *new), (*success, *failure));
                let line = (words.compare_exchange)(*register, ATOMIC[*location], values, orders);
                text.push_str(&line);
                text.push('\n');
            }
            Statement::Fence(order) => {
                text.push_str(&(words.fence)(*order));
                text.push('\n');
            }
            Statement::PlainLoad(register, location) => {
                let _ = writeln!(text, "r{register} = {};", (words.plain)(PLAIN[*location]));
            }
            Statement::PlainStore(location, value) => {
                let _ = writeln!(text, "{} = {value};", (words.plain)(PLAIN[*location]));
            }
            Statement::If(register, number, then, otherwise) => {
                let condition = (words.condition)(format!("r{register} == {number}"));
                let _ = writeln!(text, "if {condition} {{");
                print(then, words, depth + 1, text);
                let _ = writeln!(text, "{indent}}} else {{");
                print(otherwise, words, depth + 1, text);
                let _ = writeln!(text, "{indent}}}");
            }
            Statement::Await(location, number, order) => {
                let value = (words.load)(ATOMIC[*location], *order);
                let condition = (words.condition)(format!("{value} != {number}"));
                let _ = writeln!(text, "while {condition} {{ }}");
            }
            Statement::Assert((a, one), (b, other)) => {
                let condition = format!("r{a} != {one} || r{b} != {other}");
                let _ = writeln!(text, "{}", (words.assert)(condition));
            }
        }
    }
}
