//! Limits of time and memory: as the user writes them, and as the machine has them.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `60s`, `1500ms`, `2m`, `1h 30m`; a bare number means seconds.
pub fn parse_timeout(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let seconds = text.parse::<f64>().ok();
    let duration = match seconds {
        Some(seconds) => Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())?,
        None => humantime::parse_duration(text)
            .map_err(|_| "write a time such as `60s`, `1500ms` or `2m`".to_owned())?,
    };
    if duration.is_zero() {
        return Err("a search needs more than no time at all".to_owned());
    }
    Ok(duration)
}

/// `8GiB`, `500M`, `2000000B`. A number alone is an error: 8 bytes are never meant, and what was meant is not known.
pub fn parse_memory(text: &str) -> Result<u64, String> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!(
            "an amount of memory needs a unit: `{text}GiB`, `{text}MiB` or `{text}B`"
        ));
    }
    let size = text
        .parse::<bytesize::ByteSize>()
        .map_err(|_| "write an amount of memory such as `8GiB` or `500M`".to_owned())?;
    if size.as_u64() == 0 {
        return Err("a search needs more than no memory at all".to_owned());
    }
    Ok(size.as_u64())
}

/// How much the process may hold, whatever the user says: nine tenths of what there is.
pub fn machine() -> Option<u64> {
    available().map(|bytes| bytes / 10 * 9)
}

/// What the process could hold in all: what it holds already and what the machine, the control group and the limit on address
/// space leave. `None` where the operating system does not tell.
fn available() -> Option<u64> {
    let own = held();
    let machine = field_in_kib(Path::new("/proc/meminfo"), "MemAvailable:").map(|free| free + own);
    [machine, control_group(own), address_space(own)]
        .into_iter()
        .flatten()
        .min()
}

/// What the process holds now; nothing where the operating system does not tell.
pub fn held() -> u64 {
    field_in_kib(Path::new("/proc/self/status"), "VmRSS:").unwrap_or(0)
}

/// A line such as `MemAvailable:   123 kB`, in bytes.
fn field_in_kib(path: &Path, name: &str) -> Option<u64> {
    let text = report_of_the_system(path)?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

/// What a file says that the operating system writes while it is read. Such files do not know their size; asking for much at once spares
/// many small reads, which a search of milliseconds would notice.
fn report_of_the_system(path: &Path) -> Option<String> {
    let mut text = Vec::with_capacity(1 << 13);
    std::fs::File::open(path)
        .ok()?
        .take(1 << 20)
        .read_to_end(&mut text)
        .ok()?;
    String::from_utf8(text).ok()
}

/// What the control groups that we are in leave, from the innermost to the root.
fn control_group(own: u64) -> Option<u64> {
    let membership = report_of_the_system(Path::new("/proc/self/cgroup"))?;
    let mut least = None;
    for line in membership.lines() {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next(), parts.next()?, parts.next()?);
        let (root, limit, used) = if controllers.is_empty() {
            ("/sys/fs/cgroup", "memory.max", "memory.current")
        } else if controllers.split(',').any(|c| c == "memory") {
            (
                "/sys/fs/cgroup/memory",
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
            )
        } else {
            continue;
        };
        let mut directory = PathBuf::from(format!("{root}{path}"));
        while directory.starts_with(root) {
            // Without a limit there is `max`, or a number beyond all memory: then it does not matter what is used.
            let limit = number_in(&directory.join(limit)).filter(|&limit| limit < 1 << 56);
            let rest = limit.and_then(|limit| {
                let used = number_in(&directory.join(used))?;
                Some(limit.saturating_sub(used) + own)
            });
            least = [least, rest].into_iter().flatten().min();
            if !directory.pop() {
                break;
            }
        }
    }
    least
}

fn number_in(path: &Path) -> Option<u64> {
    report_of_the_system(path)?.trim().parse().ok()
}

/// `ulimit -v`. Address space is used up faster than memory: stacks and arenas are reserved whole, and a table that grows is there twice.
fn address_space(own: u64) -> Option<u64> {
    let text = report_of_the_system(Path::new("/proc/self/limits"))?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    let reserved = field_in_kib(Path::new("/proc/self/status"), "VmSize:")?;
    Some((limit / 2).min(own + limit.saturating_sub(reserved) / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(parse_timeout("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(parse_timeout("1500ms"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_timeout("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(parse_timeout("5"), Ok(Duration::from_secs(5)));
        assert_eq!(parse_timeout("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["", "s", "-1", "0s", "1 parsec", "NaN", "1e300"] {
            assert!(parse_timeout(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_memory("8GiB"), Ok(8 << 30));
        assert_eq!(parse_memory("64 MiB"), Ok(64 << 20));
        assert_eq!(parse_memory("500M"), Ok(500_000_000));
        assert_eq!(parse_memory("1000B"), Ok(1000));
        for wrong in ["", "GiB", "-1", "0", "8 houses", "8", "1000"] {
            assert!(parse_memory(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_machine_leaves_something() {
        assert_ne!(machine(), Some(0));
    }
}
