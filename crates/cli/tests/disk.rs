//! `--disk`: larger than memory, with the same answer; nothing is left behind; a process that is killed at any moment can go on.
//!
//! `PALISADE_KILLS=100 cargo test -p palisade --test disk kill` kills more often.

#![cfg(unix)]

#[allow(dead_code)]
mod common;

use common::{PALISADE, command, counting, run, text, told};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

fn left_in(directory: &Path) -> Vec<String> {
    let entries = directory.read_dir().unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn the_same_answer_with_little_memory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("a.pal"), counting(11, "")).unwrap();
    let never = "never x == 10 && turn == 9 && flag[0] == 8;";
    std::fs::write(path.join("b.pal"), counting(10, never)).unwrap();
    for question in [
        "check --model sc --criterion safe a.pal",
        "check --model sc --criterion safe b.pal",
        "reach --model sc b.pal",
    ] {
        let plain = run(path, &format!("{question} --format json"));
        for jobs in [1, 2] {
            let little = format!("{question} --jobs {jobs} --format json --memory 20MiB");
            let line = format!("{little} --disk walk/states");
            let output = run(path, &line);
            assert_eq!(text(&output.stderr), "", "{line}");
            assert_eq!(output.status.code(), plain.status.code(), "{line}");
            assert_eq!(told(&output), told(&plain), "{line}");
            assert!(left_in(&path.join("walk/states")).is_empty());
            if question.ends_with("a.pal") {
                let without = told(&run(path, &little));
                assert_eq!(without["verdict"], "unknown");
            }
        }
    }
}

#[test]
fn a_full_disk_is_said_and_nothing_is_left() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("a.pal"), counting(11, "")).unwrap();
    let line = "trap '' XFSZ; ulimit -f 64; exec $P check --model sc --criterion safe a.pal --memory 20MiB --disk walk";
    let output = Command::new("sh")
        .args(["-c", line])
        .env("P", PALISADE)
        .current_dir(path)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.contains("no room left on the disk"), "{said}");
    assert!(left_in(&path.join("walk")).is_empty());
    std::fs::write(path.join("file"), "").unwrap();
    let output = run(path, "check a.pal --disk file");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--disk"));
}

/// Moments to kill at, different each time.
struct Moments(u64);

impl Moments {
    fn new() -> Self {
        let now = std::time::SystemTime::now();
        let since = now.duration_since(std::time::UNIX_EPOCH).unwrap();
        Moments(since.as_nanos() as u64 | 1)
    }

    /// Up to so long.
    fn within(&mut self, time: Duration) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        time.mul_f64((self.0 % 1000) as f64 / 1000.)
    }
}

#[test]
fn killed_at_random_moments() {
    let kills = std::env::var("PALISADE_KILLS").ok();
    let kills: u32 = kills.and_then(|kills| kills.parse().ok()).unwrap_or(6);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(
        path.join("a.pal"),
        counting(11, "never x == 9 && turn == 7;"),
    )
    .unwrap();
    let question =
        "check --model sc --criterion safe --all a.pal --format json --memory 20MiB --disk walk";
    let begin = Instant::now();
    let plain = told(&run(path, question));
    let time = begin.elapsed();
    let mut moments = Moments::new();
    let (mut killed, mut resumed, mut finished) = (0, 0, 0);
    let kept = path.join("kept");
    while killed < kills || finished == 0 {
        let jobs = 1 + killed % 2;
        let mut line =
            format!("{question} --jobs {jobs} --checkpoint kept --checkpoint-every 20ms");
        if kept.exists() {
            line.push_str(" --resume kept");
            resumed += 1;
        }
        let mut child = command(path, &line).spawn().unwrap();
        std::thread::sleep(moments.within(time));
        let over = killed >= kills || child.try_wait().unwrap().is_some();
        if !over {
            child.kill().unwrap();
            child.wait().unwrap();
            killed += 1;
            continue;
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(text(&output.stderr), "", "{line}");
        assert_eq!(told(&output), plain, "{line}");
        finished += 1;
        std::fs::remove_file(&kept).unwrap();
    }
    println!("killed {killed} times, gone on {resumed} times, finished {finished} times");
    assert!(resumed > 0);
    // What a process has left that was killed before its first checkpoint is removed by the next one.
    run(path, question);
    let left = left_in(&path.join("walk"));
    let kept_ones = left.iter().filter(|name| {
        let mark = path.join("walk").join(name).join("kept-for-a-checkpoint");
        !mark.exists()
    });
    assert_eq!(kept_ones.count(), 0, "{left:?}");
}
