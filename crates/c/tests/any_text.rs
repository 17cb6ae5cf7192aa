//! Whatever the text is: a program, or a message with a place. Never a panic.

use std::path::Path;

/// Reads a text; what is wrong must have a message and a place in the text.
fn read(text: &str) -> Result<(), String> {
    let options = palisade_c::Options {
        read: |_| Err("there are no other files here".to_string()),
        ..palisade_c::Options::default()
    };
    match palisade_c::parse("test.c", text, &options) {
        Ok(_) => Ok(()),
        Err((source, errors)) => {
            let error = errors.first().expect("a refusal has a reason");
            assert!(!error.message.is_empty());
            assert!(error.span.start as usize <= source.whole_text().len());
            Err(format!(
                "{}: {}",
                source.place(error.span.start),
                error.message
            ))
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

#[test]
fn mutated_programs_are_read_or_refused() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/c");
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut texts: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(directory).expect("programs/c is part of the project") {
        let path = entry.expect("a readable directory").path();
        texts.push(std::fs::read_to_string(path).expect("a text"));
    }
    texts.sort();
    let (mut read_well, mut refused) = (0, 0);
    for _ in 0..3_000 {
        let text = &texts[random.below(texts.len())];
        let mut pieces: Vec<&str> = text
            .split_inclusive([' ', '(', ')', ';', ',', '\n'])
            .collect();
        for _ in 0..=random.below(3) {
            let at = random.below(pieces.len());
            match random.below(4) {
                0 => {
                    pieces.remove(at);
                }
                1 => pieces.insert(at, pieces[at]),
                2 => {
                    let other = random.below(pieces.len());
                    pieces.swap(at, other);
                }
                _ => {
                    const WORDS: &[&str] = &[
                        "{",
                        "}",
                        "(",
                        ")",
                        "0",
                        "-1",
                        "*",
                        "&",
                        "sizeof",
                        "int ",
                        "struct ",
                        "=",
                        "[",
                        "]",
                        "#",
                        "\\\n",
                        "\"",
                        "'",
                        "4294967295u",
                        "?",
                        ":",
                        "while",
                        "typedef ",
                        "x",
                    ];
                    pieces.insert(at, WORDS[random.below(WORDS.len())]);
                }
            }
            if pieces.is_empty() {
                break;
            }
        }
        match read(&pieces.concat()) {
            Ok(()) => read_well += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(read_well > 100 && refused > 100, "{read_well} {refused}");
}

#[test]
fn deep_and_long_texts_are_refused() {
    let deep = |open: &str, close: &str, times: usize| {
        let inner = format!("{}1{}", open.repeat(times), close.repeat(times));
        format!("int main() {{ int x = {inner}; return x; }}")
    };
    for text in [
        deep("(", ")", 100_000),
        deep("- ", "", 100_000),
        deep("!", "", 100_000),
        deep("1+", "", 100_000),
        deep("(1+", ")", 100_000),
        deep("({ 1;", " })", 10_000),
        deep("f(", ")", 10_000),
        format!("int main() {{ {} }}", "{".repeat(100_000)),
        format!("int main() {{ {} ; }}", "if (1) ".repeat(100_000)),
        format!("int {}x;", "*".repeat(100_000)),
        format!("int x{};", "[2]".repeat(100_000)),
        format!("int {}x{};", "(".repeat(50_000), ")".repeat(50_000)),
        "struct s { struct s inner; } x; int main() {}".to_string(),
        "#define a a a a a a a a\n#define b a b\nint main() { b }".to_string(),
        format!("{}int main() {{}}", "#if 1\n".repeat(1000)),
        "#define f(x) f(x) f(x)\nint main() { f(f(f(f(f(f(1)))))) }".to_string(),
    ] {
        let _ = read(&text);
    }
    // Each level doubles.
    let mut doubling = String::from("#define m0 1\n");
    for level in 1..40 {
        doubling += &format!("#define m{level} m{0} m{0}\n", level - 1);
    }
    doubling += "int main() { m39; }";
    assert!(read(&doubling).is_err());
}

#[test]
fn what_is_not_supported_is_named_with_its_place() {
    let main = |body: &str| format!("int main() {{\n  {body}\n}}");
    for (text, place, words) in [
        (main("float f = 1.5; return f > 1;"), "2:25", "floating"),
        (
            main("return unknown_function(1);"),
            "2:10",
            "`unknown_function` has no body here",
        ),
        (main("int x = y; return x;"), "2:11", "`y` is not known"),
        (main("goto *x;"), "2:8", "computed `goto`"),
        (main("asm volatile(\"cpuid\");"), "2:3", "assembly"),
        (
            "struct s { int a : 3; } x;\nint main() { return x.a; }".to_string(),
            "1:16",
            "bit-fields",
        ),
        (
            "#include \"other.h\"\nint main() {}".to_string(),
            "1:1",
            "`other.h`",
        ),
        (
            "int start() { return 0; }".to_string(),
            "1:1",
            "no function `main`",
        ),
        (main("int x = ;"), "2:11", "expected an expression"),
    ] {
        let error = read(&text).expect_err("it is not supported");
        assert!(
            error.starts_with(place) && error.contains(words),
            "{text}\n{error}"
        );
    }
}

/// Where memory lies is not known, so no answer may depend on it.
#[test]
fn the_order_of_a_pointer_and_a_number_is_refused() {
    let text = |condition: &str| {
        format!(
            "#include <assert.h>\nint x[2];\nint main(void) {{ assert({condition}); return 0; }}\n"
        )
    };
    let refused = read(&text("&x[0] >= 128")).expect_err("it is refused");
    assert!(
        refused.contains("where memory lies is not known"),
        "{refused}"
    );
    assert_eq!(read(&text("&x[0] < &x[1]")), Ok(()));
    assert_eq!(read(&text("&x[0] != 0")), Ok(()));
}

#[test]
fn what_sprintf_writes_is_not_guessed() {
    let text =
        "#include <stdio.h>\nint main(void) { char b[8]; sprintf(b, \"%d\", 3); return b[0]; }";
    let refused = read(text).expect_err("it is refused");
    assert!(refused.contains("`sprintf` has no body here"), "{refused}");
}

#[test]
fn a_file_with_a_beginning_of_its_own_is_another_program() {
    let options = palisade_c::Options {
        read: |path| match path.file_name().and_then(|name| name.to_str()) {
            Some("lock.h") => Ok("void abort(void); static int taken;".to_owned()),
            Some("lock.c") => {
                Ok("#include \"lock.h\"\nint main(void) { return taken; }".to_owned())
            }
            _ => Err("there is no such file".to_owned()),
        },
        ..palisade_c::Options::default()
    };
    let text = "#include \"lock.h\"\nint main(void) { taken = 1; return 0; }";
    let parsed = palisade_c::parse("client.c", text, &options);
    assert!(parsed.is_ok_and(|parsed| parsed.warnings.is_empty()));
}
