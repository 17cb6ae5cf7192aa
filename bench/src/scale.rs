//! What it costs to have states elsewhere: the same walk in memory, on disk, and by two and four processes on this machine.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use bench::output::Table;
use bench::tool::{Finished, Palisade, run, times};

use crate::measure::{house, limit};

const PROGRAMS: &[&str] = &["bakery-3", "chase-lev", "dijkstra-5", "szymanski-5"];

/// A process that writes states to disk holds so many bytes whatever it walks.
const LEAST_MEMORY: u64 = 24 << 20;

/// How often each walk is measured: the one with the least time of processors counts.
const TIMES: usize = 3;

/// What a walk has cost, all its processes together.
struct Cost {
    /// What it says: verdict and numbers, which must be the same for all ways.
    told: String,
    states: u64,
    wall: f64,
    cpu: f64,
    bytes: u64,
}

/// Runs the processes of one walk, each with these arguments besides its own.
fn walk(
    palisade: &Palisade,
    file: &Path,
    common: &[String],
    own: &[Vec<String>],
    limit: Duration,
) -> Result<Cost, String> {
    let start = |own: &Vec<String>| {
        let mut command = Command::new(palisade.binary());
        command
            .args([
                "check",
                "--model",
                "sc",
                "--criterion",
                "safe",
                "--jobs",
                "1",
            ])
            .args(["--format", "json", "--timeout"])
            .arg(format!("{}s", limit.as_secs()))
            .args(common)
            .args(own)
            .arg(file);
        run(&mut command, limit + Duration::from_secs(30)).map_err(|error| error.to_string())
    };
    let finished: Vec<Result<Finished, String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = own
            .iter()
            .map(|own| scope.spawn(move || start(own)))
            .collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread
                .join()
                .unwrap_or_else(|_| Err("it panicked".to_owned()))
        };
        threads.into_iter().map(join).collect()
    });
    let finished: Vec<Finished> = finished.into_iter().collect::<Result<_, _>>()?;
    let first = finished.first().ok_or("there is no process")?;
    let line = first.output.lines().next().unwrap_or("null");
    let json: serde_json::Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let number = |name: &str| json["stats"][name].as_u64().unwrap_or(0);
    if json["verdict"] == "unknown" {
        return Err(json["reason"].to_string());
    }
    Ok(Cost {
        told: format!(
            "{} {} {}",
            json["verdict"],
            number("states"),
            number("transitions")
        ),
        states: number("states"),
        wall: first.seconds,
        cpu: finished.iter().map(|finished| finished.cpu_seconds).sum(),
        bytes: finished.iter().map(|finished| finished.peak_bytes).sum(),
    })
}

/// The cheapest of several walks; what is wrong with one is wrong with all.
fn cheapest(mut walk: impl FnMut() -> Result<Cost, String>) -> Result<Cost, String> {
    let costs: Vec<Cost> = (0..TIMES).map(|_| walk()).collect::<Result<_, _>>()?;
    if costs.iter().any(|cost| cost.told != costs[0].told) {
        return Err("it says something else each time".to_owned());
    }
    let by_cpu = costs.into_iter().min_by(|a, b| a.cpu.total_cmp(&b.cpu));
    by_cpu.ok_or_else(|| "it was not measured".to_owned())
}

/// A list of so many processes, at addresses that nobody listens at: what each of them needs.
fn hosts(directory: &Path, processes: usize) -> std::io::Result<Vec<Vec<String>>> {
    let mut lines = String::new();
    let mut free = Vec::new();
    for _ in 0..processes {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        lines += &format!("{}\n", listener.local_addr()?);
        free.push(listener);
    }
    let file = directory.join("hosts");
    std::fs::write(&file, lines)?;
    let file = file.display().to_string();
    let own = |process: usize| {
        let flags = ["--hosts", &file, "--process", &process.to_string()];
        flags.map(str::to_owned).to_vec()
    };
    Ok((0..processes).map(own).collect())
}

/// Prints the table and writes it as CSV. A number sets the limit in seconds for each walk.
pub fn table(palisade: &Palisade, arguments: &[String]) -> ExitCode {
    let mut table = Table::new(&[
        ("program", 14),
        ("where", 12),
        ("states", 10),
        ("seconds", 8),
        ("CPU s", 8),
        ("states/CPU s", 12),
        ("CPU ratio", 9),
        ("bytes/st", 8),
        ("bytes ratio", 11),
        ("remarks", 0),
    ]);
    let limit = limit(arguments, 300);
    let directory = std::env::temp_dir().join(format!("palisade-scale-{}", std::process::id()));
    if let Err(error) = std::fs::create_dir_all(&directory) {
        eprintln!("{}: {error}", directory.display());
        return ExitCode::FAILURE;
    }
    let mut fine = true;
    for program in PROGRAMS {
        let file: PathBuf = house(&format!("large/{program}"));
        let memory = cheapest(|| walk(palisade, &file, &[], &[vec![]], limit));
        // A quarter of the memory that it would need, and what a process needs in any case.
        let little = match &memory {
            Ok(cost) => (cost.bytes / 4).max(LEAST_MEMORY),
            Err(_) => LEAST_MEMORY,
        };
        let on_disk = [
            "--memory".to_owned(),
            format!("{little}B"),
            "--disk".to_owned(),
            directory.display().to_string(),
        ];
        let spread = |processes| {
            cheapest(|| {
                let own = hosts(&directory, processes).map_err(|error| error.to_string())?;
                walk(palisade, &file, &[], &own, limit)
            })
        };
        let disk = cheapest(|| walk(palisade, &file, &on_disk, &[vec![]], limit));
        let ways = [
            ("disk", disk),
            ("2 processes", spread(2)),
            ("4 processes", spread(4)),
        ];
        let base = memory
            .as_ref()
            .ok()
            .map(|cost| (cost.cpu, cost.bytes as f64, cost.told.clone()));
        for (way, cost) in std::iter::once(("memory", memory)).chain(ways) {
            let mut cells = vec![program.to_string(), way.to_owned()];
            match cost {
                Ok(cost) => {
                    let same = base.as_ref().is_some_and(|(_, _, told)| *told == cost.told);
                    fine &= same;
                    let bytes = cost.bytes as f64;
                    let ratios = base.as_ref();
                    let ratios = ratios.map(|base| [times(cost.cpu, base.0), times(bytes, base.1)]);
                    let [cpu_ratio, bytes_ratio] = ratios.unwrap_or_default();
                    cells.extend([
                        cost.states.to_string(),
                        format!("{:.2}", cost.wall),
                        format!("{:.2}", cost.cpu),
                        format!("{:.0}", cost.states as f64 / cost.cpu),
                        cpu_ratio,
                        format!("{:.1}", bytes / cost.states as f64),
                        bytes_ratio,
                        if same { "" } else { "another answer" }.to_owned(),
                    ]);
                }
                Err(why) => {
                    fine = false;
                    cells.extend(std::iter::repeat_n(String::new(), 7));
                    cells.push(why);
                }
            }
            table.row(&cells);
        }
    }
    let _ = std::fs::remove_dir_all(&directory);
    table.note(
        "disk: with a quarter of the memory, but no less than 24 MiB; bytes are resident memory, of all processes together; of three walks the one with the least CPU",
    );
    table.save("scale");
    ExitCode::from(u8::from(!fine))
}
