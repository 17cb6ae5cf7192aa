//! `--hosts`: one question by several processes on this machine, with the answer of one; and when one of them ends, so do all, with a reason.

#![cfg(unix)]

#[allow(dead_code)]
mod common;

use common::{Moments, command, counting, text, told};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Output};
use std::time::{Duration, Instant};

/// Writes a list of so many processes, at addresses that nobody listens at.
fn list(directory: &Path, processes: usize) {
    let free: Vec<TcpListener> = (0..processes)
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    let lines: Vec<String> = free
        .iter()
        .map(|listener| listener.local_addr().unwrap().to_string())
        .collect();
    std::fs::write(directory.join("hosts"), lines.join("\n")).unwrap();
}

fn start(directory: &Path, line: &str) -> Child {
    command(directory, line).spawn().unwrap()
}

/// Starts all processes of a question.
fn start_all(directory: &Path, question: &str, processes: usize) -> Vec<Child> {
    list(directory, processes);
    (0..processes)
        .map(|process| {
            let own = question.replace("OWN", &process.to_string());
            start(
                directory,
                &format!("{own} --hosts hosts --process {process}"),
            )
        })
        .collect()
}

#[test]
fn the_answer_of_one_process() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("a.pal"), counting(6, "")).unwrap();
    let never = "never x == 5 && turn == 4 && flag[0] == 3;";
    std::fs::write(path.join("b.pal"), counting(6, never)).unwrap();
    for question in [
        "check --model sc --criterion safe a.pal --format json --jobs 1",
        "check --model sc --criterion safe b.pal --format json --jobs 2",
        "check --model tso --criterion robust b.pal --format json --jobs 1 --no-static-filter",
    ] {
        let alone = start(path, question).wait_with_output().unwrap();
        for (processes, more) in [(1, ""), (2, ""), (4, ""), (2, "--memory 24MiB --disk OWN")] {
            let line = format!("{question} {more}");
            let children = start_all(path, &line, processes);
            for (process, child) in children.into_iter().enumerate() {
                let output = child.wait_with_output().unwrap();
                assert_eq!(text(&output.stderr), "", "{line}");
                assert_eq!(output.status.code(), alone.status.code(), "{line}");
                match process {
                    0 => assert_eq!(told(&output), told(&alone), "{line} by {processes}"),
                    _ => assert_eq!(text(&output.stdout), ""),
                }
            }
        }
    }
}

/// Waits for an end, but not for ever.
fn end_of(mut child: Child) -> Output {
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            let output = child.wait_with_output().unwrap();
            panic!("it hangs: {}", text(&output.stderr));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn when_one_is_killed_the_others_say_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("a.pal"), counting(30, "")).unwrap();
    let question = "check --model sc --criterion safe a.pal --jobs 1";
    for (victim, after) in [(1, 30), (2, 150), (0, 400), (1, 900)] {
        let mut children = start_all(path, question, 3);
        std::thread::sleep(Duration::from_millis(after));
        children[victim].kill().unwrap();
        for (process, child) in children.into_iter().enumerate() {
            if process == victim {
                child.wait_with_output().unwrap();
                continue;
            }
            // Where it was killed before it had met the others, they wait for it: that takes long, and is another test's.
            if after < 100 {
                let mut child = child;
                child.kill().unwrap();
                child.wait().unwrap();
                continue;
            }
            let output = end_of(child);
            let (said, errors) = (text(&output.stdout), text(&output.stderr));
            assert_eq!(output.status.code(), Some(3), "{said} {errors}");
            assert_eq!(errors, "");
            if process == 0 {
                assert!(said.contains("process "), "{said}");
            }
        }
    }
}

/// Whether some process has written a part of a checkpoint.
fn has_parts(directory: &Path) -> bool {
    let files = std::fs::read_dir(directory).unwrap().flatten();
    files.into_iter().any(|file| {
        let name = file.file_name().into_string().unwrap();
        name.starts_with("kept.") && !name.ends_with(".part")
    })
}

/// One process or several are killed at random moments, again and again, and as many as one likes go on.
#[test]
fn killed_at_random_moments() {
    let mut moments = Moments::new();
    let mut resumed = 0;
    let never = "never x == 6 && turn == 5 && flag[0] == 3;";
    for (program, question) in [
        (counting(7, ""), "check --model sc --criterion safe a.pal"),
        (
            counting(7, never),
            "check --model sc --criterion safe a.pal",
        ),
        (
            counting(5, ""),
            "check --model tso --criterion robust a.pal --no-static-filter",
        ),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        std::fs::write(path.join("a.pal"), program).unwrap();
        let question = format!("{question} --format json --jobs 1");
        let begin = Instant::now();
        let alone = start(path, &question).wait_with_output().unwrap();
        let time = begin.elapsed() * 2 + Duration::from_millis(100);
        let line = format!("{question} --checkpoint kept --checkpoint-every 1ms");
        for kills_left in (0..5).rev() {
            let processes = 1 + moments.below(3) as usize;
            let mut line = line.clone();
            if has_parts(path) {
                line.push_str(" --resume kept");
                resumed += 1;
            }
            let mut children = start_all(path, &line, processes);
            if kills_left > 0 {
                std::thread::sleep(moments.within(time));
                let victim = moments.below(processes as u64) as usize;
                children[victim].kill().unwrap();
                // The others may have been before the moment at which they meet, and would wait for long.
                std::thread::sleep(Duration::from_millis(moments.below(100)));
                for mut child in children {
                    child.kill().unwrap();
                    child.wait().unwrap();
                }
                continue;
            }
            for (process, child) in children.into_iter().enumerate() {
                let output = end_of(child);
                assert_eq!(text(&output.stderr), "", "{line}");
                assert_eq!(output.status.code(), alone.status.code(), "{line}");
                if process == 0 {
                    assert_eq!(told(&output), told(&alone), "{line} by {processes}");
                }
            }
        }
        // One process that knows of no others can go on as well.
        if has_parts(path) {
            let output = start(path, &format!("{question} --resume kept"));
            let output = output.wait_with_output().unwrap();
            assert_eq!(told(&output), told(&alone), "alone");
            let said = text(&output.stdout);
            assert!(said.contains("rests on the checkpoint"), "{said}");
        }
    }
    println!("gone on from a checkpoint {resumed} times");
    assert!(resumed >= 3, "{resumed}");
}

/// Parts that do not belong together are not taken for a checkpoint.
#[test]
fn parts_that_cannot_be_used() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("a.pal"), counting(6, "")).unwrap();
    let question = "check --model sc --criterion safe a.pal --jobs 1";
    let line = format!("{question} --checkpoint kept --checkpoint-every 1ms");
    for child in start_all(path, &line, 2) {
        assert_eq!(end_of(child).status.code(), Some(0));
    }
    assert!(path.join("kept.0").exists() && path.join("kept.1").exists());
    let resume = |line: &str| {
        let output = end_of(start(path, &format!("{line} --resume kept")));
        (
            output.status.code(),
            text(&output.stderr) + &text(&output.stdout),
        )
    };
    let other = "check --model sc --criterion drf a.pal";
    let (status, said) = resume(other);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("another question"), "{said}");
    for name in ["kept.1", "kept.1.old", "kept.1.part"] {
        let _ = std::fs::remove_file(path.join(name));
    }
    let (status, said) = resume(question);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("is not whole"), "{said}");
    std::fs::write(path.join("kept.0"), "palisade checkpoint 1\nrubbish").unwrap();
    let _ = std::fs::remove_file(path.join("kept.0.old"));
    let (status, said) = resume(question);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("is damaged"), "{said}");
    // What one process has written is its own.
    let line = format!("{question} --checkpoint whole --checkpoint-every 1ms");
    assert_eq!(end_of(start(path, &line)).status.code(), Some(0));
    for child in start_all(path, &format!("{question} --resume whole"), 2) {
        let output = end_of(child);
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn what_cannot_be_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("a.pal"), counting(3, "")).unwrap();
    let question = "check --model sc --criterion safe a.pal";
    // The other one is never started.
    list(path, 2);
    let lonely = start(
        path,
        &format!("{question} --hosts hosts --process 0 --timeout 1s"),
    );
    let output = end_of(lonely);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.contains("another process did not answer"), "{said}");
    for (more, complaint) in [
        ("--hosts hosts --process 2", "none of the 2"),
        ("--hosts nowhere --process 0", "cannot be read"),
        ("--hosts a.pal --process 0", "is not `host:port`"),
        ("--hosts hosts --process 0 b.pal", "one FILE"),
        ("--hosts hosts", "--process"),
    ] {
        let output = end_of(start(path, &format!("{question} {more}")));
        assert_eq!(output.status.code(), Some(2), "{more}");
        let said = text(&output.stderr);
        assert!(said.contains(complaint), "{more}: {said}");
    }
}
