//! What goes wrong around the command: memory, disks, files, signals. It must end with a clear word and the right exit status.

#![cfg(unix)]

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const PALISADE: &str = env!("CARGO_BIN_EXE_palisade");

/// Has more states than anybody waits for.
// Threads that differ, so that none of them can be exchanged.
const ENDLESS: &str = "shared x[4];
thread a { let n; loop { n = (n + 1) % 100; x[0] = n; } }
thread b { let n; loop { n = (n + 1) % 101; x[1] = n; } }
thread c { let n; loop { n = (n + 1) % 102; x[2] = n; } }
thread d { let n; loop { n = (n + 1) % 103; x[3] = n; } }
";
const HOLDS: &str = "shared x;\nthread a { x = 1; }\nthread b { x = 2; }\n";
const SB: &str = "shared x, y;\nthread a { x = 1; let r = y; }\nthread b { y = 1; let s = x; }\n";

fn scratch(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(directory.path().join(name), content).unwrap();
    }
    directory
}

/// Runs a line of shell in a directory, with `$P` for the command.
fn sh(directory: &Path, line: &str) -> Output {
    Command::new("sh")
        .args(["-c", line])
        .current_dir(directory)
        .env("P", PALISADE)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The exit status; a test fails where a signal ended the command, or where it fell over.
#[track_caller]
fn code(output: &Output) -> i32 {
    let stderr = text(&output.stderr);
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert_eq!(output.status.signal(), None, "{stderr}");
    output.status.code().unwrap()
}

fn listed(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    names.sort();
    names
}

#[test]
fn out_of_memory_is_unknown() {
    let directory = scratch(&[("endless.pal", ENDLESS.as_bytes())]);
    // In some of these there is no room for another thread.
    for kib in [60_000, 100_000, 150_000, 150_000, 300_000] {
        let line = format!(
            "ulimit -v {kib}; exec $P check --model sc --criterion safe --jobs 2 --timeout 120s endless.pal"
        );
        let output = sh(directory.path(), &line);
        assert_eq!(code(&output), 3, "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("memory limit"));
    }
}

/// The most memory that a check takes, in bytes as the operating system counts them. It must stop because of its limit.
#[cfg(target_os = "linux")]
fn peak_of_a_check(file: &Path, jobs: &str, limit: &str) -> u64 {
    let mut child = Command::new(PALISADE)
        .args(["check", "--model", "sc", "--criterion", "safe"])
        .args(["--timeout", "600s", "--jobs", jobs, "--memory", limit])
        .arg(file)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        // The last look is at a process that gives everything back, which takes longer than a look.
        let status = std::fs::read_to_string(&status_file).unwrap_or_default();
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        let kib = line.and_then(|l| l.split_whitespace().next()?.parse().ok());
        peak = kib.unwrap_or(0).max(peak);
        if let Some(status) = child.try_wait().unwrap() {
            assert_eq!(status.code(), Some(3), "{} {limit}", file.display());
            return peak << 10;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_memory_limit_is_kept() {
    let counts_in_memory = "shared x;\nthread a { while x < 1000000000 { x = x + 1; } }\n";
    let counts_in_a_register =
        "shared x, y;\nthread a { let r; loop { r = r + 1; x = r; } }\nthread b { y = 1; }\n";
    let directory = scratch(&[
        ("wide.pal", ENDLESS.as_bytes()),
        ("memory.pal", counts_in_memory.as_bytes()),
        ("register.pal", counts_in_a_register.as_bytes()),
    ]);
    for (file, jobs, megabytes) in [
        ("wide.pal", "1", 100),
        ("wide.pal", "2", 150),
        ("memory.pal", "1", 100),
        ("memory.pal", "2", 200),
        ("register.pal", "1", 100),
        ("register.pal", "1", 200),
        ("register.pal", "2", 200),
    ] {
        let limit = megabytes * 1_000_000;
        let peak = peak_of_a_check(
            &directory.path().join(file),
            jobs,
            &format!("{megabytes}MB"),
        );
        assert!(
            peak <= limit / 10 * 11 && peak >= limit / 10 * 7,
            "{file}, {jobs} threads: {peak} bytes of {limit}"
        );
    }
}

#[test]
fn a_full_disk_leaves_files_as_they_were() {
    if !Path::new("/dev/full").exists() {
        println!("there is no /dev/full here");
        return;
    }
    let directory = scratch(&[("holds.pal", HOLDS.as_bytes()), ("sb.pal", SB.as_bytes())]);
    for line in [
        "$P check --certificate /dev/full --criterion robust holds.pal",
        "$P check holds.pal > /dev/full",
        "$P check --format json holds.pal > /dev/full",
        "$P export --to pal holds.pal > /dev/full",
    ] {
        let output = sh(directory.path(), line);
        assert_eq!(code(&output), 2, "{line}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains("written"), "{line}");
    }
    // No more than so many blocks may be written to a file, as on a disk that is full.
    std::fs::write(directory.path().join("cert"), "old").unwrap();
    let large = format!("// {}\n{SB}", "long ".repeat(20_000));
    std::fs::write(directory.path().join("large.pal"), &large).unwrap();
    let before = listed(directory.path());
    let limited = "trap '' XFSZ; ulimit -f 1;";
    let line = format!("{limited} exec $P fence --write large.pal > /dev/null");
    let output = sh(directory.path(), &line);
    assert_eq!(code(&output), 2, "{}", text(&output.stderr));
    let now = std::fs::read_to_string(directory.path().join("large.pal")).unwrap();
    assert_eq!(now, large);
    let many = "shared x, y;\nthread t[4] { x = 1; x = 2; x = 3; x = 4; x = 5; x = 6; }\n";
    std::fs::write(directory.path().join("holds.pal"), many).unwrap();
    let line = format!(
        "{limited} exec $P check --certificate cert --model sc --criterion safe holds.pal > /dev/null"
    );
    let output = sh(directory.path(), &line);
    assert_eq!(code(&output), 2, "{}", text(&output.stderr));
    let now = std::fs::read_to_string(directory.path().join("cert")).unwrap();
    assert_eq!(now, "old");
    assert_eq!(listed(directory.path()), before);
}

#[test]
fn files_that_cannot_be_read() {
    let directory = scratch(&[
        ("binary.pal", &[0x7f, b'E', b'L', b'F', 0, 0xff, 0xfe, 0x80]),
        ("zeros.pal", &[0; 1000]),
        ("empty.pal", b""),
        ("holds.pal", HOLDS.as_bytes()),
    ]);
    std::fs::create_dir(directory.path().join("folder.pal")).unwrap();
    for file in [
        "binary.pal",
        "zeros.pal",
        "missing.pal",
        "folder.pal",
        "a\nb",
    ] {
        let output = sh(directory.path(), &format!("$P check '{file}'"));
        assert_eq!(code(&output), 2, "{file}");
        assert!(!output.stderr.is_empty(), "{file}");
    }
    let output = sh(directory.path(), "$P check empty.pal");
    assert!(matches!(code(&output), 0 | 2));
    for certificate in ["binary.pal", "zeros.pal", "empty.pal", "missing", "."] {
        let output = sh(
            directory.path(),
            &format!("$P validate holds.pal {certificate}"),
        );
        assert_eq!(code(&output), 2, "{certificate}");
    }
}

#[test]
fn endless_input_has_an_end() {
    let directory = scratch(&[]);
    for line in [
        "$P check /dev/zero",
        "yes | $P check -",
        "mkfifo pipe.pal; (yes > pipe.pal 2> /dev/null) & $P check pipe.pal; e=$?; wait; exit $e",
    ] {
        let output = sh(directory.path(), line);
        assert_eq!(code(&output), 2, "{line}");
        let stderr = text(&output.stderr);
        assert!(stderr.contains("too large"), "{line}: {stderr}");
    }
}

#[test]
fn a_thousand_files_in_one_call() {
    let directory = scratch(&[]);
    for number in 0..1000 {
        let name = directory.path().join(format!("p{number:04}.pal"));
        std::fs::write(name, HOLDS).unwrap();
    }
    let output = sh(directory.path(), "$P check --jobs 1 --format json *.pal");
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let stdout = text(&output.stdout);
    assert_eq!(stdout.lines().count(), 1000);
    for (number, line) in stdout.lines().enumerate() {
        assert!(line.contains(&format!("\"p{number:04}.pal\"")), "{line}");
        assert!(line.contains("\"holds\""), "{line}");
    }
}

#[test]
fn signals_end_a_search_cleanly() {
    let directory = scratch(&[("endless.pal", ENDLESS.as_bytes())]);
    for signal in ["INT", "TERM", "HUP"] {
        let child = Command::new(PALISADE)
            .args([
                "check",
                "--model",
                "sc",
                "--criterion",
                "safe",
                "--timeout",
                "300s",
            ])
            .args(["--memory", "1GiB", "--format", "json", "endless.pal"])
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        let sent = Command::new("kill")
            .args([&format!("-{signal}"), &child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), 3, "{signal}: {}", text(&output.stderr));
        assert!(text(&output.stdout).contains("\"unknown\""));
    }
}

#[test]
fn nobody_reads_the_rest() {
    let directory = scratch(&[("sb.pal", SB.as_bytes())]);
    let mut child = Command::new(PALISADE)
        .args(["check", "--format", "json"])
        .args(vec!["sb.pal"; 200])
        .current_dir(directory.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut first = [0; 10];
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 3);
    assert_eq!(text(&output.stderr), "");
}

/// A control group of our own with this much memory, if we may make one.
struct ControlGroup(PathBuf);

impl ControlGroup {
    fn new(bytes: u64) -> Option<Self> {
        let name = format!("palisade-test-{}", std::process::id());
        // The first version of control groups, and the second.
        for (root, limit) in [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ] {
            let group = Path::new(root).join(&name);
            if std::fs::create_dir(&group).is_err() {
                continue;
            }
            let group = ControlGroup(group);
            let there = group.0.join("cgroup.procs").exists() && group.0.join(limit).exists();
            if there && std::fs::write(group.0.join(limit), bytes.to_string()).is_ok() {
                return Some(group);
            }
        }
        None
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn out_of_memory_in_a_control_group_is_unknown() {
    let Some(group) = ControlGroup::new(80 << 20) else {
        println!("no control group can be made here: its limit is not tested");
        return;
    };
    let directory = scratch(&[("endless.pal", ENDLESS.as_bytes())]);
    let procs = group.0.join("cgroup.procs");
    // Others who leave less memory than that in all cannot be helped.
    for question in [
        "--model sc --criterion safe",
        "--model ra --no-suspects --no-static-filter",
    ] {
        let line = format!(
            "echo $$ > '{}' || exit 77; exec $P check {question} --jobs 2 --timeout 300s endless.pal",
            procs.display()
        );
        let output = sh(directory.path(), &line);
        if output.status.code() == Some(77) {
            println!("no process can be put into a control group here: its limit is not tested");
            return;
        }
        assert_eq!(code(&output), 3, "{}", text(&output.stderr));
        let stdout = text(&output.stdout);
        assert!(stdout.contains("memory limit"), "{stdout}");
    }
}

/// A disk of so many bytes, if we may mount one.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new(bytes: usize) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"])
            .arg(directory.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let mounted = mounted.is_ok_and(|status| status.success());
        mounted.then_some(SmallDisk(directory))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn everything_that_is_written_is_written_whole_or_not_at_all() {
    let long = "// a long story\n".repeat(2000);
    let large = format!("{long}{SB}");
    let lines = [
        ("fence --write large.pal", "large.pal"),
        ("report -o old.html large.pal", "old.html"),
        ("check --picture old.svg large.pal", "old.svg"),
        ("check --picture old.html large.pal", "old.html"),
        ("check --picture old.dot large.pal", "old.dot"),
        (
            "check --certificate old.cert --model sc --criterion safe many.pal",
            "old.cert",
        ),
    ];
    let many = "shared x;\nthread t[4] { x = 1; x = 2; x = 3; x = 4; x = 5; x = 6; }\n";
    let prepare = |directory: &Path| {
        for name in ["old.html", "old.svg", "old.dot", "old.cert"] {
            std::fs::write(directory.join(name), "old").unwrap();
        }
        std::fs::write(directory.join("large.pal"), &large).unwrap();
        std::fs::write(directory.join("many.pal"), many).unwrap();
    };
    let check = |directory: &Path, before: &str| {
        for (line, file) in &lines {
            let names = listed(directory);
            let content = std::fs::read(directory.join(file)).unwrap();
            let output = sh(directory, &format!("{before} $P {line} > /dev/null"));
            assert_eq!(code(&output), 2, "{line}: {}", text(&output.stderr));
            let stderr = text(&output.stderr);
            assert!(stderr.contains("cannot be written"), "{line}: {stderr}");
            assert_eq!(std::fs::read(directory.join(file)).unwrap(), content);
            // Nothing is left lying around either.
            let names_now: Vec<PathBuf> = listed(directory);
            assert_eq!(names_now, names, "{line}");
        }
    };
    // No process may write more than so many blocks to a file.
    let directory = scratch(&[]);
    prepare(directory.path());
    check(directory.path(), "trap '' XFSZ; ulimit -f 1; exec");
    // A disk without room. Where none can be mounted, the above is near enough.
    let Some(disk) = SmallDisk::new(256 << 10) else {
        println!("no small disk can be mounted here");
        return;
    };
    prepare(disk.0.path());
    let full = std::fs::write(disk.0.path().join("rest"), vec![1; 1 << 20]);
    assert!(full.is_err(), "the disk is not as small as it should be");
    check(disk.0.path(), "exec");
}

#[test]
fn killed_while_writing() {
    let directory = scratch(&[]);
    let long = "// a long story\n".repeat(100_000);
    let before = format!("{long}{SB}");
    let path = directory.path().join("a.pal");
    let mut replaced = false;
    for round in 0..12_u64 {
        std::fs::write(&path, &before).unwrap();
        let mut child = Command::new(PALISADE)
            .args(["fence", "--write", "a.pal"])
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        if round < 11 {
            std::thread::sleep(Duration::from_millis(round * 15));
            let _ = child.kill();
        }
        child.wait().unwrap();
        let now = std::fs::read_to_string(&path).unwrap();
        let whole = now.starts_with(&long) && now.ends_with("}\n") && now.contains("fence;");
        assert!(now == before || whole, "half a program");
        replaced = whole;
    }
    assert!(replaced, "the last one was left alone");
}

#[test]
fn files_without_permission() {
    use std::os::unix::fs::PermissionsExt;
    let directory = scratch(&[("a.pal", HOLDS.as_bytes()), ("b.pal", HOLDS.as_bytes())]);
    let secret = directory.path().join("a.pal");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&secret).is_ok() {
        println!("this user may read everything: permissions are not tested");
        return;
    }
    let output = sh(directory.path(), "$P check --format json a.pal b.pal");
    assert_eq!(code(&output), 2);
    let stdout = text(&output.stdout);
    assert_eq!(stdout.lines().count(), 2);
    assert!(stdout.lines().next().unwrap().contains("cannot be read"));
    assert!(stdout.lines().nth(1).unwrap().contains("\"holds\""));
}

#[test]
fn somebody_who_waits_for_input_can_be_told_to_stop() {
    for arguments in [
        &["check", "-"][..],
        &["validate", "/dev/null", "-"],
        &["reach", "-"],
    ] {
        let mut child = Command::new(PALISADE)
            .args(arguments)
            // Nothing ever comes, and it does not end.
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(200));
        let sent = Command::new("kill")
            .args(["-TERM", &child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        let input = child.stdin.take();
        let status = child.wait().unwrap();
        drop(input);
        assert!(!status.success(), "{arguments:?}");
    }
}

/// Functions that call each other: some thousand bytes that stand for two to the power of twenty statements.
fn doubling() -> String {
    let sum = vec!["a"; 400].join("+");
    let mut text = format!("shared x;\nfn f0(a) {{ x = {sum}; }}\n");
    for level in 1..20 {
        text += &format!("fn f{level}(a) {{ f{0}(a); f{0}(a); }}\n", level - 1);
    }
    text
}

/// Runs a line, and says how long it took.
fn timed(directory: &Path, line: &str) -> (Output, Duration) {
    let begin = std::time::Instant::now();
    let output = sh(directory, line);
    (output, begin.elapsed())
}

#[test]
fn what_comes_before_the_search_counts() {
    let called = doubling() + "thread t { f19(x); }\n";
    let expected = format!("// expect tso robust: holds\n{called}");
    let uncalled = doubling() + "thread t { x = 1; }\n";
    let threads = "shared x;\nthread t[4000] { x = me; let r = x; }\n";
    let array = "shared x[1000000];\nthread t { x[1] = 1; }\n";
    let directory = scratch(&[
        ("called.pal", called.as_bytes()),
        ("expected.pal", expected.as_bytes()),
        ("uncalled.pal", uncalled.as_bytes()),
        ("threads.pal", threads.as_bytes()),
        ("array.pal", array.as_bytes()),
    ]);
    let limits = "--timeout 2s --memory 200MiB";
    for command in ["check", "reach", "fence"] {
        let line =
            format!("ulimit -v 2000000; exec $P {command} {limits} --format json called.pal");
        let (output, time) = timed(directory.path(), &line);
        assert_eq!(code(&output), 3, "{command} {}", text(&output.stderr));
        assert!(text(&output.stdout).contains("\"unknown\""), "{command}");
        assert!(time < Duration::from_secs(20), "{command} {time:?}");
    }
    // The question follows from the program, and is not looked for without limits.
    let line = format!("ulimit -v 2000000; exec $P check {limits} --certificate c called.pal");
    let (output, time) = timed(directory.path(), &line);
    assert_eq!(code(&output), 3, "{}", text(&output.stderr));
    assert!(time < Duration::from_secs(20), "{time:?}");
    let line = format!("ulimit -v 2000000; exec $P test {limits} expected.pal");
    let (output, time) = timed(directory.path(), &line);
    assert_eq!(code(&output), 1, "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("not decided"));
    assert!(time < Duration::from_secs(20), "{time:?}");
    let line = format!("ulimit -v 2000000; exec $P export {limits} --to pal called.pal");
    assert_eq!(code(&sh(directory.path(), &line)), 3);
    let line = format!("ulimit -v 2000000; exec $P report {limits} -o page.html called.pal");
    assert_eq!(code(&sh(directory.path(), &line)), 2);
    // No function that is not called is expanded.
    let line = format!("ulimit -v 2000000; exec $P check {limits} uncalled.pal");
    assert_eq!(code(&sh(directory.path(), &line)), 0);
    for file in ["threads.pal", "array.pal"] {
        let (output, time) = timed(directory.path(), &format!("$P check {limits} {file}"));
        assert!([0, 1, 3].contains(&code(&output)), "{file}");
        assert!(time < Duration::from_secs(20), "{file} {time:?}");
    }
    // Ctrl-C is heard.
    let line = "$P check called.pal & sleep 0.3; kill -INT $!; wait $!";
    let (output, time) = timed(directory.path(), line);
    assert!([2, 3].contains(&code(&output)));
    assert!(time < Duration::from_secs(20), "{time:?}");
}

#[test]
fn a_pipe_that_nobody_writes_to_is_not_waited_for() {
    let directory = scratch(&[]);
    let line = "mkfifo pipe && exec $P check --from pal --timeout 1s pipe";
    let (output, time) = timed(directory.path(), line);
    assert_eq!(code(&output), 3, "{}", text(&output.stderr));
    assert!(time < Duration::from_secs(20), "{time:?}");
    let (output, time) = timed(directory.path(), "exec $P test --timeout 1s pipe");
    assert_eq!(code(&output), 2, "{}", text(&output.stderr));
    assert!(time < Duration::from_secs(20), "{time:?}");
    let (output, time) = timed(directory.path(), "exec $P validate --timeout 1s pipe pipe");
    assert_eq!(code(&output), 2, "{}", text(&output.stderr));
    assert!(time < Duration::from_secs(20), "{time:?}");
}

/// The shortest difference between two large texts is not worth minutes.
#[test]
fn the_difference_of_large_texts_is_shown_in_time() {
    let lines = "if x == 1 { x = 1; } else ".repeat(20_000);
    let program = format!("shared x;\nthread t {{ {lines} {{ x = 2; }} }}\n");
    let directory = scratch(&[("long.pal", program.as_bytes())]);
    let (output, time) = timed(directory.path(), "exec $P fmt --check long.pal > out");
    assert_eq!(code(&output), 1, "{}", text(&output.stderr));
    assert!(time < Duration::from_secs(20), "{time:?}");
}

/// Functions that call each other in a long row are not called recursive.
#[test]
fn a_long_row_of_calls_is_called_by_its_name() {
    let mut program = "#include <stdatomic.h>\n#include <pthread.h>\natomic_int x;\n\
        static int f0(int a) { atomic_store(&x, a); return a; }\n"
        .to_owned();
    for i in 1..400 {
        program += &format!("static int f{i}(int a) {{ return f{}(a); }}\n", i - 1);
    }
    program += "void *t(void *a) { f399(1); return 0; }\n\
        int main(void) { pthread_t p; pthread_create(&p, 0, t, 0); return atomic_load(&x); }\n";
    let directory = scratch(&[("row.c", program.as_bytes())]);
    let output = sh(directory.path(), "$P check --timeout 60s row.c");
    assert_eq!(code(&output), 3, "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.contains("calls are nested more than"), "{said}");
    assert!(!said.contains("calls itself"), "{said}");
}

#[test]
fn a_small_stack_is_enough() {
    let nested = |open: &str, close: &str, depth: usize| {
        format!(
            "// expect tso robust: holds\nshared x;\nthread t {{ {} x = 1; {} }}\n",
            open.repeat(depth),
            close.repeat(depth)
        )
    };
    let blocks = nested("if x == 0 {", "}", 480);
    let parens = format!(
        "shared x;\nthread t {{ x = {}1{}; }}\n",
        "(".repeat(240),
        ")".repeat(240)
    );
    let directory = scratch(&[
        ("blocks.pal", blocks.as_bytes()),
        ("parens.pal", parens.as_bytes()),
    ]);
    for file in ["blocks.pal", "parens.pal"] {
        for command in [
            "check --timeout 20s",
            "export --to pal",
            "reach --timeout 20s",
            "test --timeout 20s",
        ] {
            let output = sh(
                directory.path(),
                &format!("ulimit -s 256; exec $P {command} {file}"),
            );
            assert!([0, 1, 2, 3].contains(&code(&output)), "{command} {file}");
        }
    }
}

#[test]
fn a_file_that_may_not_grow_is_not_left_behind() {
    let directory = scratch(&[(
        "larger.pal",
        b"shared x[3];\nthread t[3] { let n; while n < 3 { n = n + 1; fadd(x[me], 1); fence; } }\n",
    )]);
    let line = "ulimit -f 1; exec $P check --certificate c larger.pal";
    let output = sh(directory.path(), line);
    assert_eq!(code(&output), 2, "{}", text(&output.stderr));
    assert_eq!(listed(directory.path()).len(), 1);
}

#[test]
fn a_small_certificate_of_a_large_program_is_too_large() {
    // What is known of each location by each location's message is quadratic.
    let program = "shared x[60000];\nthread t { x[1] = 1; }\n";
    let directory = scratch(&[("large.pal", program.as_bytes())]);
    let line = "$P check --model ra --criterion safe --timeout 5s --certificate c large.pal; \
                ulimit -v 4000000; exec $P validate --model ra --criterion safe --timeout 5s --memory 64MiB large.pal c";
    let (output, time) = timed(directory.path(), line);
    assert!([0, 1, 2].contains(&code(&output)));
    assert!(time < Duration::from_secs(60), "{time:?}");
}

/// A million locations are not made where they have no room.
#[cfg(target_os = "linux")]
#[test]
fn large_arrays_keep_the_memory_limit() {
    let program = "shared a[1000000];\nthread p { a[5] = 1; let r = a[7]; }\n";
    let directory = scratch(&[("array.pal", program.as_bytes())]);
    let peak = peak_of_a_check(&directory.path().join("array.pal"), "1", "200MiB");
    assert!(peak <= 200 << 20, "{peak}");
}

/// Whether there is such a process, and it has not ended.
fn is_alive(pid: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = state.rsplit(')').next().unwrap_or_default().trim_start();
    !state.is_empty() && !state.starts_with('Z')
}

/// The compiler that reads Rust for us has limits, too, and does not go on when nobody waits for it.
#[test]
#[cfg(target_os = "linux")]
fn the_compiler_keeps_limits_and_is_not_left_behind() {
    use std::os::unix::fs::PermissionsExt;
    let directory = scratch(&[
        ("main.rs", b"fn main() {}\n"),
        ("slow", b"#!/bin/sh\necho $$ >pid\nexec sleep 1000\n"),
        ("large", b"#!/bin/sh\necho $$ >pid\nexec tail /dev/zero\n"),
    ]);
    std::fs::create_dir(directory.path().join("scratch")).unwrap();
    for (rustc, limits, reason) in [
        ("slow", "--timeout 1s", "time limit"),
        ("large", "--timeout 60s --memory 200MiB", "memory limit"),
    ] {
        let path = directory.path().join(rustc);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let line = format!("TMPDIR=$PWD/scratch RUSTC=./{rustc} exec $P check {limits} main.rs");
        let output = sh(directory.path(), &line);
        assert_eq!(code(&output), 3, "{rustc}: {}", text(&output.stderr));
        let said = text(&output.stdout);
        assert!(said.contains(reason), "{rustc}: {said}");
        let pid = std::fs::read_to_string(directory.path().join("pid")).unwrap();
        assert!(!is_alive(pid.trim()), "{rustc} goes on");
        assert_eq!(listed(&directory.path().join("scratch")).len(), 0);
    }
}
