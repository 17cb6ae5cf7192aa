//! Random programs, as text: a program that shows a mistake can then be read, and made smaller ([`crate::shrink`]).

use fastrand::Rng;
use std::fmt::Write;

/// A program as text in pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch {
    /// Declarations.
    pub declarations: Vec<String>,
    /// The threads.
    pub threads: Vec<ThreadSketch>,
    /// Conditions of `never`.
    pub nevers: Vec<String>,
}

/// A thread as text in pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSketch {
    /// Its name, with the number of copies: `t0`, `t0[2]`, `t0[*]`.
    pub head: String,
    /// The registers, declared at the beginning so that every statement stands on its own.
    pub registers: Vec<String>,
    /// The statements.
    pub body: Vec<Statement>,
}

/// A statement as text in pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Without a block.
    Simple(String),
    /// The text before the first block, and the blocks with the words between them: `if c`, `choose`, `atomic`, `while c`.
    Compound(String, Vec<Vec<Statement>>, &'static str),
}

impl std::fmt::Display for Sketch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for declaration in &self.declarations {
            writeln!(f, "{declaration}")?;
        }
        for thread in &self.threads {
            writeln!(f, "thread {} {{", thread.head)?;
            for register in &thread.registers {
                writeln!(f, "  let {register};")?;
            }
            let mut text = String::new();
            print(&thread.body, 1, &mut text);
            writeln!(f, "{text}}}")?;
        }
        for never in &self.nevers {
            writeln!(f, "never {never};")?;
        }
        Ok(())
    }
}

fn print(body: &[Statement], depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    for statement in body {
        match statement {
            Statement::Simple(line) => {
                let _ = writeln!(text, "{indent}{line}");
            }
            Statement::Compound(head, blocks, between) => {
                let _ = write!(text, "{indent}{head}");
                for (index, block) in blocks.iter().enumerate() {
                    let word = if index > 0 { between } else { "" };
                    let _ = writeln!(text, "{word} {{");
                    print(block, depth + 1, text);
                    let _ = write!(text, "{indent}}}");
                }
                text.push('\n');
            }
        }
    }
}

/// What kinds of programs are wanted.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The least and the most threads.
    pub threads: (usize, usize),
    /// The most accesses in total, in the text.
    pub accesses: usize,
    /// `atomic` blocks with several accesses to any locations.
    pub blocks: bool,
    /// `atomic` blocks that are read-modify-writes of one location.
    pub rmw_blocks: bool,
    /// Now and then an order that is not the default one.
    pub orders: bool,
    /// Most accesses and fences have an order that is drawn from all, and threads begin with the shapes of C++20's litmus tests.
    pub mixed: bool,
    /// Accesses (not only fences) may be `seqcst`, where orders are drawn from all.
    pub seqcst_accesses: bool,
    /// Fences may be `seqcst`, where orders are drawn from all.
    pub seqcst_fences: bool,
    /// `nonatomic` locations.
    pub nonatomic: bool,
    /// Pointers and computed indices.
    pub pointers: bool,
    /// Plain accesses of locations that are not declared `nonatomic`, as C and Rust may have them.
    pub plain: bool,
    /// Read-modify-writes as methods, also those that may fail for no reason and those with two orders; orders where a pointer leads; more accesses that are
    /// not atomic.
    pub methods: bool,
    /// `assert`, and `never` with labels, registers, memory and `deadlock`.
    pub properties: bool,
    /// `while`, `loop`: no brute force with traces then, and a `domain`.
    pub loops: bool,
    /// `thread t[*]`, and a `domain`.
    pub parameterised: bool,
    /// How often a statement is a loop that waits for something, in percent.
    pub spins: u32,
    /// How often two of the threads begin with a store and a load of each other's location, in percent.
    pub store_buffering: u32,
    /// How often a statement is a fence or a locked instruction, in percent.
    pub locked: u32,
}

impl Shape {
    /// For questions about SC runs.
    pub const SC: Shape = Shape {
        threads: (2, 4),
        accesses: 8,
        blocks: true,
        rmw_blocks: false,
        orders: true,
        mixed: false,
        seqcst_accesses: true,
        seqcst_fences: true,
        nonatomic: true,
        pointers: true,
        plain: false,
        methods: false,
        properties: true,
        loops: false,
        parameterised: false,
        spins: 0,
        store_buffering: 20,
        locked: 30,
    };
    /// For questions about TSO runs.
    pub const TSO: Shape = Shape {
        properties: false,
        store_buffering: 45,
        locked: 22,
        ..Shape::SC
    };
    /// For questions about TSO runs that ask for properties.
    pub const TSO_REACH: Shape = Shape {
        properties: true,
        accesses: 7,
        ..Shape::TSO
    };
    /// For questions about RA.
    pub const RA: Shape = Shape {
        blocks: false,
        rmw_blocks: true,
        orders: false,
        locked: 25,
        store_buffering: 45,
        ..Shape::TSO
    };
    /// For questions about C++20: all orders mixed.
    pub const C20: Shape = Shape {
        mixed: true,
        accesses: 7,
        locked: 30,
        store_buffering: 70,
        ..Shape::RA
    };
    /// The same with all that can be written in C++ and Rust.
    pub const C20_METHODS: Shape = Shape {
        methods: true,
        plain: true,
        locked: 45,
        ..Shape::C20
    };
    /// For questions about RC11, where only fences are `seqcst`.
    pub const RC11: Shape = Shape {
        seqcst_accesses: false,
        ..Shape::C20
    };
    /// The same with loops.
    pub const C20_LOOPS: Shape = Shape {
        threads: (2, 3),
        loops: true,
        ..Shape::C20
    };
    /// Programs with loops (and a small domain, so that their SC states are finite).
    pub const LOOPS: Shape = Shape {
        threads: (2, 3),
        loops: true,
        properties: true,
        ..Shape::TSO
    };
    /// Programs with any number of threads.
    pub const PARAMETERISED: Shape = Shape {
        threads: (1, 2),
        accesses: 5,
        loops: true,
        parameterised: true,
        properties: true,
        store_buffering: 45,
        locked: 25,
        ..Shape::SC
    };
    /// The same for questions about C++20.
    pub const PARAMETERISED_C20: Shape = Shape {
        mixed: true,
        ..Shape::PARAMETERISED_RA
    };
    /// The same for questions about RA.
    pub const PARAMETERISED_RA: Shape = Shape {
        blocks: false,
        rmw_blocks: true,
        orders: false,
        ..Shape::PARAMETERISED
    };
}

/// A random program. The same seed and shape give the same program.
pub fn random_sketch(seed: u64, shape: &Shape) -> Sketch {
    // Neighbouring seeds shall give programs that have nothing in common.
    let rng = Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995);
    Generator {
        rng,
        shape,
        locations: Vec::new(),
        nonatomic: Vec::new(),
        array: None,
        pointers: shape.pointers,
        budget: 0,
        labels: Vec::new(),
    }
    .sketch()
}

struct Generator<'s> {
    rng: Rng,
    shape: &'s Shape,
    locations: Vec<String>,
    nonatomic: Vec<String>,
    array: Option<String>,
    /// Whether addresses are taken: they must fit the domain.
    pointers: bool,
    /// Accesses left.
    budget: usize,
    /// Labels so far: thread's name and label.
    labels: Vec<(String, String)>,
}

const REGISTERS: [&str; 3] = ["r0", "r1", "p"];
const LOAD_ORDERS: &[&str] = &["relaxed", "acquire", "seqcst"];
const UPDATE_ORDERS: &[&str] = &["relaxed", "acquire", "release", "acqrel", "seqcst"];

impl Generator<'_> {
    fn chance(&mut self, percent: u32) -> bool {
        self.rng.u32(0..100) < percent
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.rng.usize(0..items.len())].clone()
    }

    fn sketch(mut self) -> Sketch {
        let mut declarations = Vec::new();
        if self.shape.loops || self.shape.parameterised || self.chance(15) {
            let size = self.pick(&[2, 2, 3, 4, 7]);
            self.pointers &= size == 7;
            declarations.push(format!("domain {size};"));
        }
        let scalars = if self.chance(25) { 3 } else { 2 };
        for name in ["x", "y", "z"].into_iter().take(scalars) {
            let initial = if self.chance(10) { " = 1" } else { "" };
            declarations.push(format!("shared {name}{initial};"));
            self.locations.push(name.to_string());
        }
        if self.shape.pointers && self.chance(25) {
            declarations.push("shared a[2];".to_string());
            self.array = Some("a".to_string());
            if self.locations.len() > 2 || self.chance(50) {
                self.locations.pop();
                declarations
                    .retain(|d| !d.starts_with(&format!("shared {}", ["y", "z"][scalars - 2])));
            }
        }
        if self.shape.nonatomic && self.chance(20) {
            declarations.push("nonatomic shared n;".to_string());
            self.nonatomic.push("n".to_string());
        }
        let (least, most) = self.shape.threads;
        let mut count = least;
        while count < most && self.chance(35) {
            count += 1;
        }
        // Mostly a few accesses: large programs are slow by brute force, and small ones already show most mistakes.
        self.budget = self.rng.usize(3..=self.shape.accesses);
        if self.chance(30) {
            self.budget = self.shape.accesses;
        }
        let seeded = self.chance(self.shape.store_buffering)
            && (count >= 2 || self.shape.parameterised)
            && self.locations.len() >= 2;
        let mut threads = Vec::new();
        let litmus = match self.shape.mixed && seeded && count >= 2 {
            true => self.litmus(count),
            false => Vec::new(),
        };
        for index in 0..count {
            let mut seed = litmus.get(index).cloned();
            if seeded && seed.is_none() && index < 2 {
                seed = Some(Vec::new());
            }
            threads.push(self.thread(index, count, seed));
        }
        let mut nevers = Vec::new();
        let heads: Vec<String> = (threads.iter())
            .map(|t: &ThreadSketch| t.head.clone())
            .collect();
        if self.shape.properties {
            for _ in 0..self.rng.usize(0..3) {
                nevers.push(self.never(&heads));
            }
        }
        Sketch {
            declarations,
            threads,
            nevers,
        }
    }

    /// A thread. With a seed that is not empty it begins with that, with one that is empty as a side of store buffering.
    fn thread(&mut self, index: usize, count: usize, seed: Option<Vec<Statement>>) -> ThreadSketch {
        let name = format!("t{index}");
        let mut head = name.clone();
        if self.shape.parameterised && (index == 0 || self.chance(40)) {
            head = format!("{name}[*]");
        } else if count <= 3 && index == 0 && self.chance(20) {
            head = format!("{name}[2]");
        }
        let mut body = Vec::new();
        let mut share = (self.budget / (count - index)).max(1);
        if head.ends_with("[2]") {
            // Its accesses are there twice.
            self.budget = self.budget.saturating_sub(share / 2);
            share = (share / 2).max(1);
        }
        if self.chance(30) {
            share = (share + 1).min(self.budget);
        }
        let rest = self.budget.saturating_sub(share);
        self.budget = share;
        if let Some(seed) = seed
            && self.budget >= 2
        {
            if !seed.is_empty() {
                body.extend(seed);
            } else if count == 1 {
                // Copies of the only thread are both sides.
                let sides = [0, 1].map(|side| {
                    let mut body = Vec::new();
                    self.store_and_load(&name, side, &mut body);
                    body
                });
                body.push(Statement::Compound(
                    "choose".to_string(),
                    sides.into(),
                    " or",
                ));
            } else {
                self.store_and_load(&name, index, &mut body);
            }
            self.budget = self.budget.saturating_sub(2);
        }
        let mut guard = 0;
        while self.budget > 0 && guard < 12 {
            guard += 1;
            let statement = self.statement(&name, 0, false);
            body.push(statement);
        }
        self.budget += rest;
        if self.shape.loops && self.chance(50) {
            body = vec![Statement::Compound("loop".to_string(), vec![body], "")];
        }
        ThreadSketch {
            head,
            registers: REGISTERS.iter().map(ToString::to_string).collect(),
            body,
        }
    }

    /// One side of store buffering.
    fn store_and_load(&mut self, thread: &str, side: usize, body: &mut Vec<Statement>) {
        let (mine, other) = (
            self.locations[side % 2].clone(),
            self.locations[1 - side % 2].clone(),
        );
        let value = self.value();
        if self.chance(15) {
            self.filler(thread, body);
        }
        body.push(Statement::Simple(format!("{mine} = {value};")));
        if self.chance(20) {
            self.filler(thread, body);
        }
        body.push(Statement::Simple(match self.rng.u32(0..6) {
            0 => format!(
                "wait({other} {} {});",
                if self.rng.bool() { "==" } else { "!=" },
                self.rng.u32(0..2)
            ),
            _ => format!("r0 = {other};"),
        }));
    }

    /// The first statements of the threads of a litmus test, with orders that are drawn, and fences now and then.
    fn litmus(&mut self, threads: usize) -> Vec<Vec<Statement>> {
        let (x, y) = (self.locations[0].clone(), self.locations[1].clone());
        let data = self.nonatomic.first().cloned();
        match self.rng.u32(0..if threads > 2 { 8 } else { 5 }) {
            // SB and 2+2W
            0 | 1 => vec![
                vec![self.write_of(&x), self.read_of(&y)],
                vec![self.write_of(&y), self.read_of(&x)],
            ],
            2 => vec![
                vec![self.write_of(&x), self.write_of(&y)],
                vec![self.write_of(&y), self.write_of(&x)],
            ],
            // MP, with plain data where there are some
            3 | 4 => {
                let (store, guarded) = match &data {
                    Some(data) => (
                        Statement::Simple(format!("{data} = 1;")),
                        Statement::Simple(format!("r1 = {data};")),
                    ),
                    None => (self.write_of(&x), self.read_of(&x)),
                };
                let mut sender = vec![store];
                self.maybe_fence(&mut sender);
                sender.push(self.write_of(&y));
                let mut guard = vec![self.read_of(&y)];
                let mut inside = Vec::new();
                self.maybe_fence(&mut inside);
                inside.push(guarded);
                guard.push(Statement::Compound(
                    "if r0 != 0".to_string(),
                    vec![inside],
                    "",
                ));
                vec![sender, guard]
            }
            // IRIW, as far as there are threads, and WRC
            5 | 6 => vec![
                vec![self.read_of(&x), self.read_of(&y)],
                vec![self.read_of(&y), self.read_of(&x)],
                vec![self.write_of(&x)],
                vec![self.write_of(&y)],
            ],
            _ => vec![
                vec![self.write_of(&x), self.write_of(&y)],
                vec![self.read_of(&y), self.write_of(&x)],
                vec![self.write_of(&y), self.read_of(&x)],
            ],
        }
    }

    /// A write of a location: mostly a store, now and then a read-modify-write.
    fn write_of(&mut self, place: &str) -> Statement {
        if self.chance(15) {
            let order = self.order(UPDATE_ORDERS);
            return Statement::Simple(format!("fadd({place}, 1{order});"));
        }
        let order = self.store_order();
        let value = self.rng.u32(1..4);
        Statement::Simple(format!("{place}.store({value}, {order});"))
    }

    fn read_of(&mut self, place: &str) -> Statement {
        let order = self.load_order();
        Statement::Simple(format!("r0 = {place}.load({order});"))
    }

    fn maybe_fence(&mut self, body: &mut Vec<Statement>) {
        if self.chance(40) {
            let order = self.fence_order();
            body.push(Statement::Simple(format!("fence({order});")));
        }
    }

    fn store_order(&mut self) -> &'static str {
        if self.is_plain() {
            return "nonatomic";
        }
        self.drawn(&[
            "relaxed", "relaxed", "release", "release", "seqcst", "seqcst",
        ])
    }

    /// Whether an access of an atomic location is a plain one, as C and Rust may have it.
    fn is_plain(&mut self) -> bool {
        self.shape.plain && self.chance(12)
    }

    fn load_order(&mut self) -> &'static str {
        if self.is_plain() {
            return "nonatomic";
        }
        self.drawn(&[
            "relaxed", "relaxed", "acquire", "acquire", "seqcst", "seqcst",
        ])
    }

    fn fence_order(&mut self) -> &'static str {
        match self.pick(&["acquire", "release", "acqrel", "seqcst", "seqcst"]) {
            "seqcst" if !self.shape.seqcst_fences => "acqrel",
            order => order,
        }
    }

    /// One of these orders, but `seqcst` only where accesses may have it.
    fn drawn(&mut self, orders: &[&'static str]) -> &'static str {
        let order = self.pick(orders);
        match order {
            "seqcst" if !self.shape.seqcst_accesses => orders[0],
            _ => order,
        }
    }

    /// Something without an access.
    fn filler(&mut self, thread: &str, body: &mut Vec<Statement>) {
        let line = match self.rng.u32(0..8) {
            0 | 1 if self.shape.mixed => format!("fence({});", self.fence_order()),
            0 => "fence;".to_string(),
            1 => "fence(acqrel);".to_string(),
            2 => format!("r1 = {};", self.value()),
            3 if self.shape.properties => self.label(thread),
            4 => format!("assume r{} == {};", self.rng.u32(0..2), self.rng.u32(0..2)),
            _ => "skip;".to_string(),
        };
        body.push(Statement::Simple(line));
    }

    fn label(&mut self, thread: &str) -> String {
        let label = format!("l{}", self.labels.len());
        self.labels.push((thread.to_string(), label.clone()));
        format!("{label}: skip;")
    }

    fn statement(&mut self, thread: &str, depth: usize, in_block: bool) -> Statement {
        if self.budget == 0 {
            let mut body = Vec::new();
            self.filler(thread, &mut body);
            return body.remove(0);
        }
        if self.shape.spins > 0 && depth < 2 && !in_block && self.chance(self.shape.spins) {
            return self.spin(thread, depth);
        }
        let kind = self.rng.u32(0..100);
        let locked = self.shape.locked;
        if kind < locked {
            return self.locked_statement(thread, in_block);
        }
        let rest = (kind - locked) * 100 / (100 - locked);
        match rest {
            0..36 => {
                let place = self.place(true);
                self.store(&place)
            }
            36..72 => self.load(),
            72..78 => {
                let place = self.place(false);
                self.spend();
                let relation = self.pick(&["==", "!=", "<", ">="]);
                let order = self.order(LOAD_ORDERS);
                Statement::Simple(format!(
                    "wait({place} {relation} {}{order});",
                    self.rng.u32(0..3)
                ))
            }
            78..87 if depth < 2 => {
                let mut head = format!("if {}", self.condition());
                if self.chance(20) {
                    let place = self.place(true);
                    self.spend();
                    let and = if self.rng.bool() { "&&" } else { "||" };
                    head = format!("if r0 == 0 {and} {place} == {}", self.rng.u32(0..2));
                }
                let mut blocks = vec![self.block(thread, depth + 1, 2, in_block)];
                if self.chance(40) {
                    blocks.push(self.block(thread, depth + 1, 1, in_block));
                }
                Statement::Compound(head, blocks, " else")
            }
            87..92 if depth < 2 => {
                let blocks = (0..2)
                    .map(|_| self.block(thread, depth + 1, 2, in_block))
                    .collect();
                Statement::Compound("choose".to_string(), blocks, " or")
            }
            92..94 if self.shape.loops && depth < 2 && !in_block => {
                let head = format!("while {}", self.condition());
                let block = self.block(thread, depth + 1, 2, in_block);
                Statement::Compound(head, vec![block], "")
            }
            94..96 if self.shape.properties => {
                Statement::Simple(format!("assert {};", self.condition()))
            }
            96..98 if self.pointers => {
                let target = match &self.array {
                    Some(_) if self.rng.bool() => "a[r0 & 1]".to_string(),
                    _ => self.any_name(),
                };
                Statement::Simple(format!("p = &{target};"))
            }
            _ => {
                let mut body = Vec::new();
                self.filler(thread, &mut body);
                body.remove(0)
            }
        }
    }

    /// A loop that is left once something has been read; now and then with something else in it.
    fn spin(&mut self, thread: &str, depth: usize) -> Statement {
        let register = self.pick(&["r0", "r1"]);
        let value = self.rng.u32(0..2);
        let (read, relation) = match self.rng.u32(0..5) {
            0 => {
                self.spend();
                let (place, order) = (self.place(false), self.order(UPDATE_ORDERS));
                (format!("{register} = xchg({place}, {value}{order});"), "!=")
            }
            1 => {
                self.spend();
                let (place, order) = (self.place(false), self.order(UPDATE_ORDERS));
                let other = self.value();
                let cas = format!("{register} = cas({place}, {value}, {other}{order});");
                (cas, "==")
            }
            _ => {
                self.spend();
                let place = self.place(false);
                let read = match self.draws_order(&place) {
                    true => format!("{register} = {place}.load({});", self.load_order()),
                    false => format!("{register} = {place};"),
                };
                (read, self.pick(&["==", "==", "!="]))
            }
        };
        let mut body = vec![Statement::Simple(read)];
        if self.chance(25) {
            body.push(self.statement(thread, depth + 1, false));
        }
        let out = format!("if {register} {relation} {value} {{ break; }}");
        let at = if self.chance(70) { body.len() } else { 1 };
        body.insert(at, Statement::Simple(out));
        Statement::Compound("loop".to_string(), vec![body], "")
    }

    fn block(&mut self, thread: &str, depth: usize, most: usize, in_block: bool) -> Vec<Statement> {
        let count = self.rng.usize(1..=most);
        (0..count)
            .map(|_| self.statement(thread, depth, in_block))
            .collect()
    }

    fn locked_statement(&mut self, thread: &str, in_block: bool) -> Statement {
        let place = self.place(false);
        if self.shape.methods && !in_block && self.chance(60) {
            self.spend();
            return self.method(&place);
        }
        let (a, b) = (self.value(), self.value());
        let register = self.pick(&["r0 = ", "r1 = ", ""]);
        let order = self.order(UPDATE_ORDERS);
        let kind = self.rng.u32(0..10);
        let makes_block = self.shape.blocks && !in_block && (5..=7).contains(&kind);
        if kind < 8 && !makes_block {
            self.spend();
        }
        match kind {
            0 if self.shape.orders && self.chance(10) => {
                let failure = self.pick(&["relaxed", "acquire", "seqcst"]);
                let success = self.pick(&["acqrel", "relaxed", "seqcst"]);
                Statement::Simple(format!(
                    "{register}cas({place}, {a}, {b}, {success}, {failure});"
                ))
            }
            0 | 1 => Statement::Simple(format!("{register}cas({place}, {a}, {b}{order});")),
            2 if self.chance(25) => {
                let function = self.pick(&["fetch_min", "fetch_max", "fetch_xor"]);
                Statement::Simple(format!("{register}{function}({place}, {b}{order});"))
            }
            2 => Statement::Simple(format!("{register}fadd({place}, {b}{order});")),
            3 => Statement::Simple(format!("{register}xchg({place}, {b}{order});")),
            4 => Statement::Simple(format!("bcas({place}, {a}, {b}{order});")),
            _ if makes_block => {
                let block = self.block(thread, 1, 3, true);
                Statement::Compound("atomic".to_string(), vec![block], "")
            }
            5..=7 if self.shape.rmw_blocks && !in_block => self.rmw_block(),
            5..=7 => Statement::Simple(format!("{register}xchg({place}, {a}{order});")),
            _ => {
                if self.rng.bool() {
                    self.spend();
                }
                match self.shape.mixed {
                    true => Statement::Simple(format!("fence({});", self.fence_order())),
                    false => Statement::Simple("fence;".to_string()),
                }
            }
        }
    }

    /// A read-modify-write as a method, or something that waits.
    fn method(&mut self, place: &str) -> Statement {
        let place = match place.starts_with('*') {
            true => format!("({place})"),
            false => place.to_string(),
        };
        let register = self.pick(&["r0 = ", "r1 = ", ""]);
        let (a, b) = (self.value(), self.value());
        let order = self.drawn(UPDATE_ORDERS);
        let failure = self.drawn(LOAD_ORDERS);
        let line = match self.rng.u32(0..8) {
            0 | 1 => {
                let exchange = self.pick(&["compare_exchange", "compare_exchange_weak"]);
                format!("{register}{place}.{exchange}({a}, {b}, {order}, {failure});")
            }
            2 => format!("{register}{place}.compare_exchange_weak({a}, {b}, {order});"),
            3 => format!("bcas({place}, {a}, {b}, {order});"),
            4 => {
                let relation = self.pick(&["==", "!=", "<", ">="]);
                format!("wait({place} {relation} {b}, {failure});")
            }
            5 => format!("{register}{place}.swap({b}, {order});"),
            _ => {
                let function = self.pick(&["add", "sub", "and", "or", "xor", "max", "min"]);
                format!("{register}{place}.fetch_{function}({b}, {order});")
            }
        };
        Statement::Simple(line)
    }

    /// An `atomic` block that reads one location first and accesses no other.
    fn rmw_block(&mut self) -> Statement {
        let place = self.pick(&self.locations.clone());
        self.spend();
        let simple = |text: String| Statement::Simple(text);
        let value = self.value();
        let mut block = vec![simple(format!("r0 = {place};"))];
        match self.rng.u32(0..5) {
            0 => block.push(simple(format!("{place} = r0 + 1;"))),
            1 => {
                let store = simple(format!("{place} = {value};"));
                block.push(Statement::Compound(
                    format!("if {}", self.condition()),
                    vec![vec![store]],
                    "",
                ));
            }
            2 => {
                block.push(simple(format!("assume {};", self.condition())));
                block.push(simple(format!("{place} = {value};")));
            }
            3 => {
                block.push(simple(format!("{place} = {value};")));
                block.push(simple(format!("r1 = {place};")));
                block.push(simple(format!("{place} = r1 + 1;")));
            }
            _ => block = vec![simple(format!("r0 = cas({place}, {value}, 1);"))],
        }
        Statement::Compound("atomic".to_string(), vec![block], "")
    }

    fn store(&mut self, place: &str) -> Statement {
        self.spend();
        let value = self.value();
        if self.shape.methods && place.starts_with('*') {
            let order = self.store_order();
            return Statement::Simple(format!("({place}).store({value}, {order});"));
        }
        if self.draws_order(place) {
            let order = self.store_order();
            return Statement::Simple(format!("{place}.store({value}, {order});"));
        }
        if self.shape.orders
            && self.chance(12)
            && !place.starts_with('*')
            && !self.nonatomic.iter().any(|n| n == place)
        {
            let order = self.pick(&["relaxed", "release", "seqcst", "seqcst"]);
            return Statement::Simple(format!("{place}.store({value}, {order});"));
        }
        Statement::Simple(format!("{place} = {value};"))
    }

    fn load(&mut self) -> Statement {
        self.spend();
        let place = self.place(true);
        let register = self.pick(&["r0", "r1", "r0", "r1", "p"]);
        if self.shape.methods && place.starts_with('*') {
            let order = self.load_order();
            return Statement::Simple(format!("{register} = ({place}).load({order});"));
        }
        if self.draws_order(&place) {
            let order = self.load_order();
            return Statement::Simple(format!("{register} = {place}.load({order});"));
        }
        if self.shape.orders
            && self.chance(8)
            && !place.starts_with('*')
            && !self.nonatomic.contains(&place)
        {
            let order = self.pick(&["relaxed", "acquire", "seqcst"]);
            return Statement::Simple(format!("{register} = {place}.load({order});"));
        }
        Statement::Simple(format!("{register} = {place};"))
    }

    fn spend(&mut self) {
        self.budget = self.budget.saturating_sub(1);
    }

    /// Whether an access of this place gets an order that is drawn from all.
    fn draws_order(&mut self, place: &str) -> bool {
        let fits = !place.starts_with('*') && !self.nonatomic.iter().any(|n| n == place);
        self.shape.mixed && fits && self.chance(90)
    }

    fn order(&mut self, orders: &[&'static str]) -> String {
        if self.shape.mixed {
            return match self.chance(90) {
                true => format!(", {}", self.drawn(orders)),
                false => String::new(),
            };
        }
        if self.shape.orders && self.chance(10) {
            format!(", {}", self.pick(orders))
        } else {
            String::new()
        }
    }

    /// A place; `plain` ones may be `nonatomic`.
    fn place(&mut self, plain: bool) -> String {
        // Where it is not protected, a plain access is a race: too many of them would hide everything else.
        let often = match (self.shape.mixed, self.shape.methods) {
            (_, true) => 15,
            (true, _) => 6,
            _ => 35,
        };
        if plain && !self.nonatomic.is_empty() && self.chance(often) {
            return self.pick(&self.nonatomic.clone());
        }
        let by_pointer = if self.shape.methods { 20 } else { 6 };
        if self.pointers && self.chance(by_pointer) {
            let name = self.any_name();
            // A pointer that was never set leads nowhere, and one that was may lead to a nonatomic location: both are errors that are
            // wanted now and then.
            return self.pick(&[
                "*p".to_string(),
                format!("*(&{name})"),
                "*(p + 1)".to_string(),
            ]);
        }
        match self.array.is_some() {
            true if self.chance(45) => self
                .pick(&["a[0]", "a[1]", "a[r0 & 1]", "a[r1]", "a[1 - r0]"])
                .to_string(),
            _ => self.pick(&self.locations.clone()),
        }
    }

    fn any_name(&mut self) -> String {
        let mut names = self.locations.clone();
        names.extend(self.nonatomic.iter().cloned());
        self.pick(&names)
    }

    fn value(&mut self) -> String {
        self.pick(&["0", "1", "1", "1", "2", "2", "r0", "r1", "r0 + 1", "1 - r1"])
            .to_string()
    }

    fn condition(&mut self) -> String {
        self.pick(&[
            "r0 == 0",
            "r0 == 1",
            "r1 == 1",
            "r0 != r1",
            "r0 < 2",
            "!(r1 == 0)",
            "r0 == 0 && r1 == 0",
            "1 / r0 == 1",
        ])
        .to_string()
    }

    fn never(&mut self, heads: &[String]) -> String {
        let copy = |head: &str, rng: &mut Rng| match head.split_once('[') {
            None => head.to_string(),
            Some((name, _)) => format!("{name}[{}]", rng.u32(0..2)),
        };
        let mut parts = Vec::new();
        for _ in 0..self.rng.usize(1..=3) {
            let head = self.pick(heads);
            let thread = copy(&head, &mut self.rng);
            let part = match self.rng.u32(0..6) {
                0 if !self.labels.is_empty() => {
                    let (name, label) = self.pick(&self.labels.clone());
                    format!("{name}@{label}")
                }
                0 | 1 => format!("{thread}@end"),
                // One copy may lead to an error where another does not.
                2 if self.chance(12) => format!("1 / {thread}.r{} == 1", self.rng.u32(0..2)),
                3 if self.array.is_some() && self.chance(50) => {
                    format!(
                        "a[{thread}.r{}] == {}",
                        self.rng.u32(0..2),
                        self.rng.u32(0..2)
                    )
                }
                3 if self.pointers && self.chance(8) => format!("*({thread}.p) == 1"),
                2 | 3 => format!("{thread}.r{} == {}", self.rng.u32(0..2), self.rng.u32(0..3)),
                4 => format!(
                    "{} == {}",
                    self.pick(&self.locations.clone()),
                    self.rng.u32(0..3)
                ),
                _ if self.chance(20) => "deadlock".to_string(),
                _ => format!("{thread}@end"),
            };
            // A search may merge steps towards what is forbidden, but not those away from it: both have to occur.
            parts.push(match self.chance(20) {
                true => format!("!({part})"),
                false => part,
            });
        }
        if self.chance(10) {
            let location = self.pick(&self.locations.clone());
            parts.push(format!("1 / {location} == 1"));
        }
        // (`&&` binds tighter than `||`.)
        let mut condition = parts.remove(0);
        let usual = if self.chance(20) { " || " } else { " && " };
        for part in parts {
            let connective = match self.chance(10) {
                true => self.pick(&[" || ", " && "]),
                false => usual,
            };
            condition += connective;
            condition += &part;
        }
        condition
    }
}
