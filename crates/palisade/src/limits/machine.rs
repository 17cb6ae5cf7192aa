//! How much memory the machine leaves, where the operating system tells.

use std::io::Read;
use std::path::{Path, PathBuf};

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
    fn the_machine_leaves_something() {
        assert_ne!(machine(), Some(0));
    }
}
