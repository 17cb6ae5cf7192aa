//! `palisade fmt`: the same program, written in one way.

mod common;

use common::{Random, random_program};
use palisade_lang::pal::format;
use palisade_lang::{ParseOptions, Program, Source, parse, same_program};
use std::path::Path;

fn formatted(text: &str) -> String {
    let once = format(text).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let twice = format(&once).unwrap_or_else(|errors| panic!("{errors:?}\n{once}"));
    let mut lines = once.lines().zip(twice.lines());
    if let Some(at) = lines.position(|(one, two)| one != two) {
        let around = |text: &str| -> String {
            let lines: Vec<&str> = text.lines().collect();
            lines[at.saturating_sub(3)..lines.len().min(at + 3)].join("\n")
        };
        panic!(
            "formatting again changes\n{}\ninto\n{}\nof\n{text}",
            around(&once),
            around(&twice)
        );
    }
    assert_eq!(once, twice);
    once
}

fn read(text: &str) -> Program {
    let source = Source::new("test.pal", text);
    match parse(&source, &ParseOptions::default()) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("{errors:?}\n{text}"),
    }
}

fn same(text: &str) {
    let new = formatted(text);
    if let Err(difference) = same_program(&read(text), &read(&new)) {
        panic!("{difference}\n{text}\n{new}");
    }
}

#[test]
fn every_program_of_the_project_stays_what_it_is() {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let mut count = 0;
    for directory in std::fs::read_dir(programs).unwrap() {
        let Ok(files) = std::fs::read_dir(directory.unwrap().path()) else {
            continue;
        };
        for file in files {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|e| e == "pal") {
                let text = std::fs::read_to_string(&path).unwrap();
                match text.contains("include \"") {
                    true => drop(formatted(&text)),
                    false => same(&text),
                }
                count += 1;
            }
        }
    }
    assert!(count > 200, "{count}");
}

/// The text with other space between its words, and comments in strange places.
fn scrambled(text: &str, seed: u64) -> String {
    let mut state = seed | 1;
    let mut next = |most: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % most
    };
    let mut out = String::new();
    for c in text.chars() {
        let space = c.is_whitespace();
        if space && next(3) == 0 || (!space && "{};(,".contains(out.chars().last().unwrap_or(' ')))
        {
            match next(12) {
                0 => out.push_str("\n\n\n"),
                1 => out.push_str(" // a comment\n"),
                2 => out.push_str(" /* one */ "),
                3 => out.push_str("\n/* two\n     lines */\n"),
                4 => out.push('\n'),
                5 => out.push_str("   \t "),
                6 => out.push_str("\n   // own line\n"),
                7 => out.push_str(" // first\n // second\n"),
                _ => {}
            }
        }
        out.push(if space && next(4) == 0 { '\n' } else { c });
    }
    out
}

#[test]
fn random_programs_stay_what_they_are_however_they_were_written() {
    let mut read_as_programs = 0;
    for seed in 0..2000 {
        let text = random_program(&mut Random::new(seed));
        for text in [scrambled(&text, seed * 77 + 5), text] {
            // Some are refused for what they mean; their form is right all the same.
            let source = Source::new("test.pal", &*text);
            match parse(&source, &ParseOptions::default()) {
                Ok(_) => {
                    same(&text);
                    read_as_programs += 1;
                }
                Err(_) => drop(formatted(&text)),
            }
        }
    }
    assert!(read_as_programs > 2000, "{read_as_programs}");
}

#[test]
fn it_looks_as_people_write() {
    let text = "\
program   demo ;
struct Node{next,value=- 1}
enum {IDLE,
BUSY}
shared Node pool[ 4 ] , head=null,grid[2][3];   // the pool


// a comment
fn pop ( s :*Node ) { let p:* Node = s; return p -> next ; }
thread t [2]
{ // opens

  let a = - 1; let b=a*-a&3; // two
                             // and below
  cs :
    skip;
  if(a==b&&!a) {fence( seqcst );}
  else { grid[me][1]+=1; }
  if a == 1 {
    b = 2; } else if b { b = 3; }
  for i in -1..3 { head.compare_exchange( 0,&pool[0] ,acqrel , acquire); }
  while a
     && b { }
  choose { skip; } or { *p = cas(head,1,2); head=1; head=2; head=3; head=4; head=5; head=6; head = 7; }
  /* inline */ skip; /* after */
  assert(a == b); assert (a) == b;

}
never t[0]@cs&&t[1] @ cs ;
";
    let wanted = "\
program demo;
struct Node { next, value = -1 }
enum {
  IDLE,
  BUSY
}
shared Node pool[4], head = null, grid[2][3];  // the pool

// a comment
fn pop(s: *Node) { let p: *Node = s; return p->next; }
thread t[2] {  // opens
  let a = -1;
  let b = a * -a & 3;  // two
                       // and below
  cs: skip;
  if (a == b && !a) { fence(seqcst); } else { grid[me][1] += 1; }
  if a == 1 {
    b = 2;
  } else if b {
    b = 3;
  }
  for i in -1..3 { head.compare_exchange(0, &pool[0], acqrel, acquire); }
  while a
      && b { }
  choose {
    skip;
  } or {
    *p = cas(head, 1, 2);
    head = 1;
    head = 2;
    head = 3;
    head = 4;
    head = 5;
    head = 6;
    head = 7;
  }
  /* inline */ skip;  /* after */
  assert(a == b);
  assert (a) == b;
}
never t[0]@cs && t[1]@cs;
";
    assert_eq!(formatted(text), wanted);
}

#[test]
fn line_ends_and_files_without_a_last_one() {
    assert_eq!(
        formatted("shared x;\r\nthread t { x=1; }"),
        "shared x;\r\nthread t { x = 1; }\r\n"
    );
    assert_eq!(formatted("// only this"), "// only this\n");
    assert_eq!(formatted(""), "");
    assert_eq!(formatted("\u{feff}shared  x;"), "\u{feff}shared x;\n");
}

#[test]
fn what_is_no_program_is_left_alone() {
    assert!(format("thread t { x = ; }").is_err());
    assert!(format("thread t { /* ").is_err());
    assert!(format(&"{".repeat(100_000)).is_err());
    // What is not declared is another matter.
    assert!(format("include \"there.pal\"; thread t { x = 1; }").is_ok());
}
