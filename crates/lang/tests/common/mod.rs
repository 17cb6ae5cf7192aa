//! Random `.pal` texts that use the whole language.

/// A small generator of random numbers: the same ones on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1))
    }

    fn next(&mut self) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }
}

/// What a statement may use where it stands.
#[derive(Clone)]
struct Scope {
    registers: Vec<String>,
    in_loop: bool,
    in_atomic: bool,
    /// The first function that may be called: functions call only later ones.
    function: usize,
    functions: usize,
    me: bool,
    /// The labels of the outermost block, which a `goto` can reach.
    labels: usize,
    depth: usize,
    fresh: usize,
}

/// A random program.
pub fn random_program(random: &mut Random) -> String {
    let mut text = String::new();
    if random.chance(20) {
        text += "program random;\n";
    }
    text += "const K = 2;\n";
    let domain = random.chance(30);
    if domain {
        text += "domain 32;\n";
    }
    text += &format!(
        "shared x, y = {}, a[3] = [0, K, 2], b[2] = 1;\nnonatomic shared d;\n",
        random.below(5)
    );
    text += "struct S { f, nonatomic g = 1, h[2] = [1, 2], n: *S }\nenum { ZERO, ONE }\nshared S s, S ps[2], grid[2][3] = 1;\n";
    let functions = random.below(3);
    for function in 0..functions {
        let mut scope = Scope {
            registers: vec!["p".into(), "q".into()],
            in_loop: false,
            in_atomic: false,
            function: function + 1,
            functions,
            me: false,
            labels: 0,
            depth: 2,
            fresh: 0,
        };
        text += &format!("fn f{function}(p, q) {{\n");
        if random.chance(50) {
            text += "  in: skip;\n";
        }
        block(random, &mut scope, 1, &mut text);
        if random.chance(60) {
            text += &format!("  return {};\n", expr(random, &scope, 2));
        }
        text += "}\n";
    }
    let threads = 1 + random.below(3);
    for thread in 0..threads {
        let (copies, me) = match random.below(6) {
            0 => ("[2]", true),
            1 => ("[*]", false),
            _ => ("", false),
        };
        let labels = 1 + random.below(2);
        let mut scope = Scope {
            registers: vec!["r".into()],
            in_loop: false,
            in_atomic: false,
            function: 0,
            functions,
            me,
            labels,
            depth: 3,
            fresh: 0,
        };
        text += &format!("thread t{thread}{copies} {{\n  let r;\n");
        for label in 0..labels {
            text += &format!("  l{label}: ");
            statement(random, &mut scope, 1, &mut text);
            block(random, &mut scope, 1, &mut text);
        }
        text += "}\n";
    }
    for _ in 0..random.below(3) {
        let thread = random.below(threads);
        let copied = text.contains(&format!("thread t{thread}["));
        let copy = if copied { "[0]" } else { "" };
        text += &match random.below(5) {
            0 => format!("never t{thread}{copy}@l0 && x == 1;\n"),
            1 => format!("never t{thread}@end || deadlock;\n"),
            2 => format!("never t{thread}{copy}.r + a[t{thread}{copy}.r] > *x - y;\n"),
            3 => format!("never !(t{thread}@l0) && b[1] == &a[1];\n"),
            _ => "never x == 1 && y == -1;\n".to_string(),
        };
    }
    text
}

fn block(random: &mut Random, scope: &mut Scope, indent: usize, text: &mut String) {
    for _ in 0..random.below(4) {
        *text += &"  ".repeat(indent);
        statement(random, scope, indent, text);
    }
}

fn inner(random: &mut Random, scope: &Scope, indent: usize, text: &mut String) {
    let mut scope = scope.clone();
    scope.depth = scope.depth.saturating_sub(1);
    *text += "{\n";
    block(random, &mut scope, indent + 1, text);
    *text += &"  ".repeat(indent);
    text.push('}');
}

fn statement(random: &mut Random, scope: &mut Scope, indent: usize, text: &mut String) {
    let kinds = if scope.depth == 0 { 16 } else { 25 };
    let register = scope.registers[random.below(scope.registers.len())].clone();
    match random.below(kinds) {
        0 => {
            scope.fresh += 1;
            let name = match random.chance(20) {
                true => register,
                false => format!("r{}{}", scope.depth, scope.fresh),
            };
            *text += &match random.chance(30) {
                true => format!("let {name};\n"),
                false => format!("let {name} = {};\n", expr(random, scope, 2)),
            };
            if !scope.registers.contains(&name) {
                scope.registers.push(name);
            }
        }
        1..=3 => *text += &format!("{register} = {};\n", expr(random, scope, 3)),
        4..=6 => {
            *text += &format!(
                "{} = {};\n",
                place(random, scope, true),
                expr(random, scope, 2)
            );
        }
        7 => {
            let orders = ["", ", relaxed", ", release", ", seqcst", ", nonatomic"];
            let order = random.pick(&orders);
            let place = place(random, scope, false);
            *text += &format!("{place}.store({}{order});\n", expr(random, scope, 1));
        }
        8 => *text += &format!("{};\n", rmw(random, scope)),
        9 => *text += &format!("{register} = {};\n", rmw(random, scope)),
        10 => {
            let (place, value) = (place(random, scope, false), expr(random, scope, 1));
            let order = random.pick(&["", ", seqcst"]);
            *text += &match random.chance(50) {
                true => format!("bcas({place}, ({value}), 1{order});\n"),
                false => format!(
                    "wait({place} {} ({value}){order});\n",
                    random.pick(&["==", "!=", "<", ">="])
                ),
            };
        }
        11 => *text += random.pick(&["fence;\n", "fence(acquire);\n", "skip;\n", "{ }\n"]),
        12 => *text += &format!("assume {};\n", expr(random, scope, 2)),
        13 => *text += &format!("assert {};\n", expr(random, scope, 2)),
        14 => {
            *text += match random.below(4) {
                0 if scope.in_loop => "break;\n",
                1 if scope.in_loop => "continue;\n",
                2 => "return;\n",
                _ if scope.labels > 0 => "goto l0;\n",
                _ => "skip;\n",
            };
        }
        15 if random.chance(70) => {
            let op = random.pick(&["+=", "-=", "&=", "|=", "^="]);
            let place = match random.chance(50) {
                true => register,
                false => place(random, scope, true),
            };
            *text += &format!("{place} {op} {};\n", expr(random, scope, 1));
        }
        15 => *text += &format!("{register} = {register};\n"),
        16..=18 => {
            *text += &format!("if {} ", expr(random, scope, 3));
            inner(random, scope, indent, text);
            if random.chance(30) {
                *text += &format!(" else if {} ", expr(random, scope, 2));
                inner(random, scope, indent, text);
            }
            if random.chance(50) {
                *text += " else ";
                inner(random, scope, indent, text);
            }
            text.push('\n');
        }
        19 | 20 => {
            let mut body = scope.clone();
            body.in_loop = true;
            *text += &match random.below(5) {
                0..=1 => format!("while {} ", expr(random, scope, 2)),
                2 => "for i in 0..3 ".to_string(),
                3 => format!(
                    "for i in {}..{} ",
                    expr(random, scope, 1),
                    expr(random, scope, 1)
                ),
                _ => "loop ".to_string(),
            };
            inner(random, &body, indent, text);
            text.push('\n');
        }
        21 | 22 => {
            *text += random.pick(&["choose ", "select "]);
            inner(random, scope, indent, text);
            for _ in 0..1 + random.below(2) {
                *text += " or ";
                inner(random, scope, indent, text);
            }
            text.push('\n');
        }
        _ => {
            let mut body = scope.clone();
            body.in_atomic = true;
            *text += "atomic ";
            inner(random, &body, indent, text);
            text.push('\n');
        }
    }
}

fn place(random: &mut Random, scope: &Scope, plain: bool) -> String {
    let index = |random: &mut Random| expr(random, scope, 1);
    match random.below(14) {
        8 => random
            .pick(&["s.f", "s.h[1]", "ps[1].f", "s.n", "grid[1][2]"])
            .into(),
        9 => format!("ps[{}].h[{}]", index(random), index(random)),
        10 => format!("grid[{}][{}]", index(random), index(random)),
        11 => format!("(&ps[{}])->{}", index(random), random.pick(&["f", "n"])),
        12 => random
            .pick(&["s.n->f", "s.n->n->h[1]", "ps[0].n->n"])
            .into(),
        13 if plain => random.pick(&["s.g", "ps[0].g", "s.n->g"]).into(),
        0 | 1 => "x".into(),
        2 | 3 => "y".into(),
        4 => format!("a[{}]", random.below(4)),
        5 => format!("b[{}]", expr(random, scope, 1)),
        6 if plain => "d".into(),
        _ => format!("*({})", expr(random, scope, 1)),
    }
}

fn rmw(random: &mut Random, scope: &Scope) -> String {
    let place = place(random, scope, false);
    let (first, second) = (expr(random, scope, 1), expr(random, scope, 1));
    let order = random.pick(&["", "", ", acquire", ", seqcst"]);
    match random.below(9) {
        6 => format!("({place}).swap({first}{order})"),
        7 => {
            let weak = random.pick(&["", "_weak"]);
            format!("({place}).compare_exchange{weak}({first}, {second}, acqrel, relaxed)")
        }
        8 => format!("({place}).fetch_sub({first}{order})"),
        0 => format!("cas({place}, {first}, {second}{order})"),
        4 => {
            let failure = random.pick(&["relaxed", "acquire", "seqcst"]);
            format!("cas({place}, {first}, {second}, acqrel, {failure})")
        }
        5 => {
            let function = random.pick(&["fetch_min", "fetch_max"]);
            format!("{function}({place}, {first}{order})")
        }
        1 => format!("fadd({place}, {first}{order})"),
        2 => format!("fetch_xor({place}, {first}{order})"),
        _ => format!("xchg({place}, {first}{order})"),
    }
}

fn expr(random: &mut Random, scope: &Scope, height: usize) -> String {
    if height > 0 && random.chance(60) {
        let (left, right) = (
            expr(random, scope, height - 1),
            expr(random, scope, height - 1),
        );
        return match random.below(10) {
            0 => format!("!({left})"),
            1 => format!("-({left})"),
            2 => format!("{left} && {right}"),
            3 => format!("({left} || {right})"),
            4 => format!("({left}) == ({right})"),
            _ => {
                let op = random.pick(&[
                    "*", "/", "%", "+", "-", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&",
                    "^", "|",
                ]);
                format!("({left} {op} {right})")
            }
        };
    }
    match random.below(16) {
        14 => random
            .pick(&["true", "null", "ONE", "&s", "&ps[1].h[0]"])
            .into(),
        15 => random.pick(&["s.f", "s.n->f", "grid[0][1]"]).into(),
        0..=2 => random.below(4).to_string(),
        3 => "-1".into(),
        4 => "K".into(),
        5..=7 => scope.registers[random.below(scope.registers.len())].clone(),
        8 => random.pick(&["x", "y", "a[1]", "d", "*x"]).into(),
        9 => format!(
            "x.load({})",
            random.pick(&["", "relaxed", "seqcst", "nonatomic"])
        ),
        10 if scope.me => "me".into(),
        11 if scope.function < scope.functions => {
            let function = scope.function + random.below(scope.functions - scope.function);
            let argument = scope.registers[random.below(scope.registers.len())].clone();
            format!("f{function}({argument}, {})", random.below(4))
        }
        12 => format!("&a[{}]", random.below(3)),
        13 => random
            .pick(&["&x", "&b[r_]", "&*1"])
            .replace("r_", &scope.registers[0]),
        _ => "x".into(),
    }
}
