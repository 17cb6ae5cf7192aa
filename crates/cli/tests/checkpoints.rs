//! `--checkpoint` and `--resume`: a process that is killed at any moment has lost nothing but some time.

#![cfg(unix)]

#[allow(dead_code)]
mod common;

use common::{Moments, PALISADE, command, counting, run, text, timeless};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

/// An answer in JSON without time and memory, and without the note that says what it rests on.
fn told(output: &Output) -> serde_json::Value {
    let mut value = timeless(output);
    if let Some(notes) = value
        .get_mut("notes")
        .and_then(|notes| notes.as_array_mut())
    {
        notes.retain(|note| !note.to_string().contains("rests on the checkpoint"));
        if notes.is_empty() {
            value.as_object_mut().unwrap().remove("notes");
        }
    }
    value
}

/// Kills a question at random moments and goes on, until it has lived through. How often that was from a checkpoint.
fn kill_again_and_again(directory: &Path, question: &str, jobs: usize) -> u32 {
    let mut moments = Moments::new();
    let begin = Instant::now();
    let plain = told(&run(
        directory,
        &format!("{question} --jobs {jobs} --format json"),
    ));
    let time = begin.elapsed();
    let kept = directory.join("kept");
    let _ = std::fs::remove_file(&kept);
    let mut resumed = 0;
    for kills_left in (0..4).rev() {
        let mut line = format!(
            "{question} --jobs {jobs} --format json --checkpoint kept --checkpoint-every 1ms"
        );
        if kept.exists() {
            line.push_str(" --resume kept");
            resumed += 1;
        }
        let mut child = command(directory, &line).spawn().unwrap();
        if kills_left > 0 {
            std::thread::sleep(moments.within(time));
            child.kill().unwrap();
            child.wait().unwrap();
        } else {
            let output = child.wait_with_output().unwrap();
            assert_eq!(text(&output.stderr), "", "{line}");
            assert_eq!(told(&output), plain, "{line}");
        }
    }
    resumed
}

#[test]
fn killed_at_random_moments() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        std::fs::write(directory.path().join(name), text).unwrap();
    };
    write("small.pal", counting(4, ""));
    write("large.pal", counting(6, "never x == 5 && turn == 4;"));
    let mut resumed = 0;
    for question in [
        "check --model sc --criterion safe --all large.pal",
        "check --model sc --criterion drf --all large.pal",
        "check --criterion trf --no-static-filter large.pal",
        "check --criterion persistent --no-static-filter --abstract off large.pal",
        "check --criterion persistent --no-static-filter --abstract 1 small.pal",
        "check --criterion robust --no-static-filter small.pal",
        "check --model ra small.pal",
        "check --model ra --criterion all small.pal",
        "reach --model sc large.pal",
        "reach --model tso --no-static-filter small.pal",
        "reach --model tso --route buffers small.pal",
    ] {
        for jobs in [1, 2] {
            resumed += kill_again_and_again(directory.path(), question, jobs);
        }
    }
    println!("gone on from a checkpoint {resumed} times");
    assert!(resumed >= 10);
}

#[test]
fn a_little_time_again_and_again_is_enough() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("large.pal"), counting(6, "")).unwrap();
    let question = "check --model sc --criterion safe --format json large.pal";
    let begin = Instant::now();
    let plain = told(&run(directory.path(), question));
    let mut time = begin.elapsed().as_millis() / 4 + 50;
    let mut line = format!("{question} --checkpoint kept");
    let mut times = 0;
    loop {
        times += 1;
        assert!(times < 200, "it does not get anywhere");
        // Where others take the processor away, reading what is there may take all of the time.
        time += time / 10;
        let output = run(directory.path(), &format!("{line} --timeout {time}ms"));
        let answer = told(&output);
        if answer["verdict"] != "unknown" {
            assert_eq!(answer, plain);
            break;
        }
        assert_eq!(output.status.code(), Some(3));
        // Without `--checkpoint`, the file that it goes on from is the one that is written.
        line = format!("{question} --resume kept");
    }
    println!("{times} times");
}

#[test]
fn checkpoints_that_cannot_be_used() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("a.pal"), counting(5, "")).unwrap();
    std::fs::write(path.join("b.pal"), counting(4, "")).unwrap();
    let question = "check --model sc --criterion safe";
    let made = run(
        path,
        &format!("{question} a.pal --checkpoint kept --checkpoint-every 1ms"),
    );
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let whole = std::fs::read(path.join("kept")).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    std::fs::write(path.join("damaged"), &damaged).unwrap();
    std::fs::write(path.join("cut"), &whole[..whole.len() / 3]).unwrap();
    std::fs::write(path.join("short"), &whole[..30]).unwrap();
    std::fs::write(path.join("empty"), "").unwrap();
    let line_end = whole.iter().position(|b| *b == b'\n').unwrap();
    let other_version = [
        &whole[..line_end],
        b"\nversion 0.0.0",
        &whole[line_end..whole.len() - 32],
    ]
    .concat();
    std::fs::write(path.join("other"), &other_version).unwrap();
    for (line, said) in [
        (format!("{question} b.pal --resume kept"), "another program"),
        (
            "check --model sc --criterion drf a.pal --resume kept".to_owned(),
            "another question",
        ),
        (
            format!("{question} --no-symmetry a.pal --resume kept"),
            "another question",
        ),
        (
            "reach --model sc a.pal --resume kept".to_owned(),
            "another question",
        ),
        (format!("{question} a.pal --resume damaged"), "is damaged"),
        (format!("{question} a.pal --resume cut"), "is damaged"),
        (format!("{question} a.pal --resume short"), "is damaged"),
        (format!("{question} a.pal --resume other"), "is damaged"),
        (format!("{question} a.pal --resume empty"), "no checkpoint"),
        (format!("{question} a.pal --resume a.pal"), "no checkpoint"),
        (
            format!("{question} a.pal --resume nowhere"),
            "cannot be read",
        ),
        (format!("{question} a.pal --resume ."), "cannot be"),
        (
            format!("{question} a.pal --checkpoint no/where"),
            "cannot be written",
        ),
        (
            format!("{question} a.pal b.pal --checkpoint kept"),
            "one FILE",
        ),
        (
            "check --model ra --no-suspects a.pal --checkpoint kept".to_owned(),
            "--no-suspects",
        ),
        ("fence a.pal --checkpoint kept".to_owned(), "unexpected"),
    ] {
        let output = run(path, &line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        let stderr = text(&output.stderr);
        assert!(stderr.contains(said), "{line}: {stderr}");
        for part in ["nowhere", "nowhere.part", "kept.part"] {
            assert!(!path.join(part).exists(), "{line}");
        }
    }
    // Nothing has touched the good one, and it goes on.
    assert_eq!(std::fs::read(path.join("kept")).unwrap(), whole);
    let output = run(path, &format!("{question} a.pal --resume kept --jobs 2"));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn a_full_disk_costs_the_checkpoint_and_not_the_answer() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("a.pal"), counting(6, "")).unwrap();
    std::fs::write(path.join("kept"), "old").unwrap();
    let line = "trap '' XFSZ; ulimit -f 4; exec $P check --model sc --criterion safe a.pal --checkpoint kept --checkpoint-every 1ms";
    let output = Command::new("sh")
        .args(["-c", line])
        .env("P", PALISADE)
        .current_dir(path)
        .output()
        .unwrap();
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("warning: the checkpoint `kept` cannot be written"));
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    let kept = std::fs::read(path.join("kept")).unwrap();
    // The first ones are small enough.
    assert!(kept == b"old" || kept.starts_with(b"palisade checkpoint"));
    assert!(!path.join("kept.part").exists());
}

/// A checkpoint is not a proof. Whoever can compute a hash can write one; then it is no checkpoint, or the answer says what it rests on.
#[test]
fn a_forged_checkpoint() {
    use sha2::{Digest, Sha256};
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("a.pal"), counting(5, "")).unwrap();
    let question = "check --model sc --criterion safe a.pal";
    let line = format!("{question} --checkpoint kept --checkpoint-every 1ms");
    assert_eq!(run(path, &line).status.code(), Some(0));
    let whole = std::fs::read(path.join("kept")).unwrap();
    let content = whole.len() - 32;
    let begin = whole.windows(2).position(|w| w == b"\n\n").unwrap() + 2;
    let (mut refused, mut believed) = (0, 0);
    for number in 0..40 {
        let mut forged = whole[..content].to_vec();
        let at = begin + (content - begin) * number / 40;
        forged[at] = forged[at].wrapping_add(1 + number as u8 % 7);
        let digest = Sha256::digest(&forged);
        forged.extend_from_slice(&digest);
        std::fs::write(path.join("forged"), &forged).unwrap();
        let output = run(
            path,
            &format!("{question} --timeout 20s --resume forged --checkpoint other"),
        );
        let (said, complaint) = (text(&output.stdout), text(&output.stderr));
        assert!(!complaint.contains("panicked") && !complaint.contains("went wrong"));
        match output.status.code() {
            Some(2) => refused += 1,
            _ => {
                assert!(said.contains("rests on the checkpoint `forged`"), "{said}");
                believed += 1;
            }
        }
    }
    println!("{refused} refused, {believed} believed");
    assert!(refused > 5, "{refused}");
    let output = run(path, &format!("{question} --resume kept --format json"));
    assert!(text(&output.stdout).contains("rests on the checkpoint"));
    // A certificate does not rest on one.
    let output = run(path, &format!("{question} --resume kept --certificate c"));
    assert_eq!(output.status.code(), Some(2));
    assert!(!path.join("c").exists());
}
