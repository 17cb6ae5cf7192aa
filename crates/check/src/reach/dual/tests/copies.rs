//! Any number of copies.

use super::super::copies::{self, WithCopies};
use super::*;

/// What is said about all numbers of copies within so many looks, and where nothing can be reached the states of a certificate.
fn decide(program: &Program, detail: Detail, most: u64) -> (WithCopies, Vec<Vec<i64>>) {
    let options = Options {
        reductions: Reductions {
            dead_registers: true,
            // Certificates know every control point.
            local_steps: detail == Detail::Needed,
            ..Reductions::NONE
        },
        ..options()
    };
    let (mut looks, mut states) = (0, Vec::new());
    let mut stop = |_, _| {
        looks += 1;
        (looks > most).then(|| "enough".to_owned())
    };
    let end = copies::decide(program, &options, detail, &mut stop, &mut |search| {
        states = search.written();
    });
    (end, states)
}

/// Any number of copies against given numbers of them: what is said to be unsafe with so many is, and what is unsafe with a few is said to be.
#[test]
fn any_number_of_copies() {
    let shape = Shape {
        nonatomic: false,
        accesses: 4,
        locked: 15,
        store_buffering: 60,
        ..Shape::PARAMETERISED
    };
    let (mut safe, mut not_safe, mut with_basis) = (0, 0, 0);
    for seed in 0..2_500 {
        let text = palisade_testkit::random_sketch(seed, &shape).to_string();
        let base = program(&text);
        let mut looks = 0;
        let detail = [Detail::Needed, Detail::Little][seed as usize % 2];
        let mut stop = |_, _| {
            looks += 1;
            (looks > 200).then(|| "enough".to_owned())
        };
        let found = copies::decide(&base, &options(), detail, &mut stop, &mut |_| {});
        let with = |copies: u32| {
            let instance = base.with_copies(copies);
            let options = Options {
                most_states: Some(20_000),
                ..options()
            };
            crate::check(&instance, &options, &CONTROL).unwrap().verdict
        };
        match found {
            WithCopies::Safe(minimal) => {
                safe += 1;
                with_basis += u32::from(minimal > 0);
                let most = if seed % 8 == 0 { 4 } else { 2 };
                for copies in 1..=most {
                    assert_ne!(with(copies), Verdict::Violated, "{copies} copies\n{text}");
                }
            }
            WithCopies::Unsafe(copies) if copies <= 4 => {
                not_safe += 1;
                assert_ne!(with(copies), Verdict::Holds, "{copies} copies\n{text}");
            }
            _ => {}
        }
    }
    // Random programs that are safe hardly ever need the backward search for it: those below do.
    println!("{safe} safe, {with_basis} with a basis, {not_safe} not");
    assert!(safe > 300 && not_safe > 300);
}

/// Random programs in which the order of stores decides, which sets of messages do not know: where they are safe, only a backward basis shows that.
fn where_order_matters(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut draw = |n: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % n
    };
    let mut names = 0;
    let mut noise = |chance: u64| {
        names += 1;
        match chance {
            0 | 1 => "z = 1; ".to_owned(),
            2 => format!("let n{names} = z; "),
            3 => "fence; ".to_owned(),
            _ => String::new(),
        }
    };
    // Either may have it the wrong way round.
    let in_order = |swapped: bool, one: &str, between: &str, other: &str| match swapped {
        false => format!("{one} {between}{other} "),
        true => format!("{other} {between}{one} "),
    };
    let (before, between, behind) = (noise(draw(6)), noise(draw(6)), noise(draw(6)));
    let writes = in_order(draw(4) == 0, "x = 1;", &between, "y = 1;");
    let between = noise(draw(6));
    let reads = in_order(draw(4) == 0, "let s = y;", &between, "let u = x;");
    let (first, last) = (noise(draw(6)), noise(draw(6)));
    let body = match draw(3) {
        0 => format!(
            "thread t[*] {{ {before}{writes}{behind}}}\nthread r {{ {first}{reads}{last}}}\n\
             never r@end && r.s == 1 && r.u == 0;\n"
        ),
        1 => format!(
            "thread w {{ {before}{writes}{behind}}}\nthread t[*] {{ {first}{reads}{last}}}\n\
             never t[0]@end && t[0].s == 1 && t[0].u == 0;\n"
        ),
        _ => format!(
            "thread t[*] {{ {before}choose {{ x = 1; }} or {{ y = 1; }} {behind}}}\n\
             thread a {{ let s = y; {between}let u = x; }}\nthread b {{ let s = x; let u = y; }}\n\
             never a@end && b@end && a.s == 1 && a.u == 0 && b.s == 1 && b.u == {};\n",
            draw(2)
        ),
    };
    format!("domain 2;\nshared x, y, z;\n{body}")
}

/// The same where nearly every safe program needs the backward basis.
#[test]
fn any_number_of_copies_where_order_matters() {
    let (mut by_basis, mut not_safe, mut open) = (0, 0, 0);
    for seed in 0..120 {
        let text = where_order_matters(seed);
        let base = program(&text);
        let with = |copies: u32| {
            let options = Options {
                most_states: Some(20_000),
                ..options()
            };
            let instance = base.with_copies(copies);
            crate::check(&instance, &options, &CONTROL).unwrap().verdict
        };
        let (found, _) = decide(&base, Detail::Needed, 100);
        let (again, states) = decide(&base, Detail::All, 100);
        match (found, again) {
            (WithCopies::Safe(_), WithCopies::Safe(minimal)) => {
                assert_eq!(minimal, states.iter().filter(|s| s[0] == 1).count());
                by_basis += u32::from(minimal > 0);
                for copies in 1..=3 {
                    assert_ne!(with(copies), Verdict::Violated, "{copies} copies\n{text}");
                }
            }
            (WithCopies::Unsafe(copies), WithCopies::Unsafe(_)) => {
                not_safe += 1;
                assert_ne!(with(copies), Verdict::Holds, "{copies} copies\n{text}");
            }
            (WithCopies::Stopped(_), _) | (_, WithCopies::Stopped(_)) => open += 1,
            (found, again) => panic!("{found:?}, {again:?}\n{text}"),
        }
    }
    println!("{by_basis} safe by a basis, {not_safe} not safe, {open} not known");
    assert!(by_basis >= 20 && not_safe >= 20);
}

/// What is found is a certificate, and its basis is needed; without some of it, or changed, it is none.
#[test]
fn its_configurations_are_a_certificate() {
    let claim = Claim {
        proof: Proof::LoadBuffers,
        ..Claim::new(Model::Tso, Criterion::Safe)
    };
    let (mut valid, mut with_basis, mut rejected) = (0, 0, 0);
    for number in 0..60 {
        let text = where_order_matters(number);
        let program = &program(&text);
        let detail = [Detail::All, Detail::Little][usize::from(number % 8 == 0)];
        let (WithCopies::Safe(_), states) = decide(program, detail, 50) else {
            continue;
        };
        let judged = |states: &[Vec<i64>]| {
            let mut sorter = Sorter::default();
            for state in states {
                let mut bytes = Vec::new();
                encode(state, &mut bytes);
                sorter.push(&bytes).unwrap();
            }
            let mut file = Vec::new();
            let header = Header::new(program, claim);
            write(&header, &mut sorter.finish().unwrap(), &mut file).unwrap();
            palisade_validate::validate_certificate(program, ASKED, || Reader::new(&file[..]))
        };
        let whole = judged(&states);
        assert!(whole.is_ok(), "{detail:?} {whole:?}\n{text}");
        valid += 1;
        let nodes: Vec<Vec<i64>> = states.iter().filter(|s| s[0] == 0).cloned().collect();
        if nodes.len() < states.len() {
            with_basis += 1;
            assert!(judged(&nodes).is_err(), "{text}");
        }
        // Each node is needed, and each minimal configuration.
        for missing in (0..states.len()).step_by(states.len() / 3 + 1) {
            let mut fewer = states.clone();
            let removed = fewer.remove(missing);
            assert!(judged(&fewer).is_err(), "without {removed:?}\n{text}");
            rejected += 1;
        }
        // No change makes the judge fall over.
        if number % 16 != 0 {
            continue;
        }
        for at in 0..states[0].len() {
            let mut other = states.clone();
            other[0][at] = other[0][at].wrapping_add([1, -1, i64::MIN][number as usize / 16 % 3]);
            let _ = judged(&other);
        }
    }
    println!("{valid} valid, {with_basis} with a basis, {rejected} rejected");
    assert!(valid >= 10 && with_basis >= 10);
}

/// By hand, with any number of threads.
#[test]
fn any_number_of_copies_by_hand() {
    for (text, copies) in [
        // Store buffering among copies.
        (
            "domain 3; shared x, y; thread t[*] { let r; choose { x = 1; r = y; a: skip; } or { y = 1; r = x; b: skip; } }
             never t[0]@a && t[1]@b && t[0].r == 0 && t[1].r == 0;",
            Some(2),
        ),
        (
            "domain 3; shared x, y; thread t[*] { let r; choose { x = 1; fence; r = y; a: skip; } or { y = 1; fence; r = x; b: skip; } }
             never t[0]@a && t[1]@b && t[0].r == 0 && t[1].r == 0;",
            None,
        ),
        // Not robust, and safe: the order of stores is kept, and the message that is read comes from any of them.
        (
            "domain 2; shared x, y, z; thread t[*] { let q; z = 1; q = x; x = 1; y = 1; } thread r { let s = y; let u = x; }
             never r@end && r.s == 1 && r.u == 0;",
            None,
        ),
        // The lock is released by a plain store, and two are never inside.
        (
            "domain 2; shared l, n; thread t[*] { loop { bcas(l, 0, 1); cs: n = 1; l = 0; } } never t[0]@cs && t[1]@cs;",
            None,
        ),
        // Three are needed.
        (
            "domain 4; shared n; thread t[*] { let r = fadd(n, 1); assert r != 2; }",
            Some(3),
        ),
    ] {
        for detail in [Detail::Needed, Detail::All, Detail::Little] {
            let (found, _) = decide(&program(text), detail, u64::MAX);
            match copies {
                Some(copies) => assert_eq!(found, WithCopies::Unsafe(copies), "{detail:?}: {text}"),
                None => assert!(matches!(found, WithCopies::Safe(_)), "{found:?}: {text}"),
            }
        }
    }
}
