//! Memory: what was asked for, what the operating system counts, and what may still be taken.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

/// A walk that has not taken as much does not ask what the machine has, nor what the process holds.
const LITTLE: u64 = 1 << 20;
/// No limit is beyond this.
const MOST: u64 = i64::MAX as u64;

/// Says how many bytes a process may hold, where that is known.
type Machine = fn() -> Option<u64>;

/// There is no memory left to take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Full;

/// Bytes of resident memory of this process as the operating system counts them, where it tells.
pub fn resident_bytes() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        // The second number is resident pages. Pages have 4096 bytes on nearly all machines; where they
        // are larger (some ARM and POWER kernels), `VmRSS` is right but slower to read.
        // One short read: a walk of milliseconds would notice more.
        let mut statm = [0; 128];
        let len = std::io::Read::read(
            &mut std::fs::File::open("/proc/self/statm").ok()?,
            &mut statm,
        );
        let statm = std::str::from_utf8(statm.get(..len.ok()?)?).ok()?;
        let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
        if cfg!(target_arch = "x86_64") {
            return Some(pages * 4096);
        }
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes * 1024)
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// The memory that a walk may take. All growth is asked for here first.
///
/// Between two looks at what the operating system counts, memory in use is taken to be what it was at
/// the last look plus what was taken since.
pub(crate) struct Budget {
    limit: AtomicU64,
    /// Says another limit; asked at the first look, and again whenever twice as much is taken, or a sixteenth of the limit more: threads and their stacks take some of it.
    machine: Option<Machine>,
    ask_at: AtomicU64,
    /// There may be a limit: without one, memory is not measured.
    limited: bool,
    /// What is taken is only counted: the taker sees to it that it is not too much.
    counts: AtomicBool,
    /// So many quarters of the limit may be taken.
    quarters: u64,
    /// How much there is room for, whatever the operating system counts.
    said: Option<u64>,
    /// Bytes that the walk holds.
    taken: AtomicU64,
    /// What the operating system counted at the last look, minus what was taken then.
    rest: AtomicI64,
    /// Look again when this much is taken.
    look_at: AtomicU64,
    peak: AtomicU64,
}

impl Budget {
    pub(crate) fn new(limit: Option<u64>, machine: Option<Machine>) -> Budget {
        let look_at = match (limit, machine) {
            (None, None) => u64::MAX,
            // Nor is a small limit exceeded by more than errors between two looks amount to.
            (limit, _) => limit.map_or(LITTLE, |limit| LITTLE.min(limit / 128)),
        };
        Budget {
            limit: AtomicU64::new(limit.unwrap_or(u64::MAX)),
            limited: limit.is_some() || machine.is_some(),
            counts: AtomicBool::new(false),
            quarters: 4,
            said: None,
            machine,
            ask_at: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            rest: AtomicI64::new(0),
            look_at: AtomicU64::new(look_at),
            peak: AtomicU64::new(0),
        }
    }

    /// One that leaves half of the limit, for what comes when the rest is used up. There may be `said` how much room there is, whatever the limit.
    pub(crate) fn that_spares(
        limit: Option<u64>,
        machine: Option<Machine>,
        said: Option<u64>,
    ) -> Budget {
        Budget {
            quarters: 2,
            said,
            ..Budget::new(limit, machine)
        }
    }

    /// One without a limit that counts.
    pub(crate) fn that_counts() -> Budget {
        let budget = Budget::new(None, None);
        budget.only_count();
        budget
    }

    /// From now on, what is taken is only counted.
    pub(crate) fn only_count(&self) {
        self.counts.store(true, Relaxed);
    }

    /// Bytes that are taken.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Relaxed)
    }

    /// How many bytes may be held beside what is not accounted for here; `None` without a limit.
    pub(crate) fn room(&self) -> Option<u64> {
        if self.said.is_some() {
            return self.said;
        }
        self.look();
        let rest = self.rest.load(Relaxed).max(0) as u64;
        let limit = self.limit.load(Relaxed);
        (self.limited && limit < MOST).then(|| limit.saturating_sub(rest))
    }

    /// What may be held, now that it is not only counted.
    fn bound(&self) -> u64 {
        let limit = self.limit.load(Relaxed).min(MOST);
        limit / 4 * self.quarters
    }

    /// Looks at what is really in use, and returns it.
    pub(crate) fn look(&self) -> u64 {
        let taken = self.taken.load(Relaxed);
        let used = resident_bytes().unwrap_or(taken);
        self.rest.store(used as i64 - taken as i64, Relaxed);
        self.peak.fetch_max(used, Relaxed);
        used
    }

    /// Looks whether the limit is kept. The space has caches that are not accounted for.
    pub(crate) fn check(&self) -> Result<(), Full> {
        if !self.limited {
            return Ok(());
        }
        let taken = self.taken.load(Relaxed);
        if taken >= self.ask_at.load(Relaxed) {
            if let Some(limit) = self.machine.and_then(|machine| machine()) {
                self.limit.fetch_min(limit, Relaxed);
            }
            // A thread more, with its stack and what its allocator reserves, may take much of a small limit at once.
            let limit = self.limit.load(Relaxed);
            let step = taken.max(LITTLE).min((limit / 16).max(LITTLE));
            self.ask_at.store(taken.saturating_add(step), Relaxed);
        }
        let used = self.look();
        let limit = self.limit.load(Relaxed);
        // Errors between two looks stay below 1/128 of the limit.
        self.look_at
            .store(taken.saturating_add(limit / 128), Relaxed);
        let exceeds = match self.counts.load(Relaxed) {
            false => used > self.bound(),
            // Memory that was given back may still be counted as in use.
            true => used > limit.saturating_add(limit / 4),
        };
        match exceeds {
            true => Err(Full),
            false => Ok(()),
        }
    }

    /// Takes `bytes` if they are there.
    pub(crate) fn take(&self, bytes: usize) -> Result<(), Full> {
        let taken = self.taken.fetch_add(bytes as u64, Relaxed) + bytes as u64;
        if let Some(room) = self.said.filter(|_| !self.counts.load(Relaxed)) {
            if taken > room / 4 * self.quarters {
                self.give_back(bytes);
                return Err(Full);
            }
            return Ok(());
        }
        if !self.limited || self.counts.load(Relaxed) {
            return Ok(());
        }
        let exceeds = || taken as i64 + self.rest.load(Relaxed) > self.bound() as i64;
        if taken > self.look_at.load(Relaxed) || exceeds() {
            // What is being taken is not there yet; it must not be counted as a part of the rest.
            self.taken.fetch_sub(bytes as u64, Relaxed);
            let _ = self.check();
            self.taken.fetch_add(bytes as u64, Relaxed);
        }
        if exceeds() {
            self.give_back(bytes);
            return Err(Full);
        }
        Ok(())
    }

    /// Counts bytes that are held already.
    pub(crate) fn count(&self, bytes: usize) {
        self.taken.fetch_add(bytes as u64, Relaxed);
    }

    /// Gives back what was taken.
    pub(crate) fn give_back(&self, bytes: usize) {
        self.taken.fetch_sub(bytes as u64, Relaxed);
    }

    /// The most that was seen in use.
    pub(crate) fn peak(&self) -> u64 {
        self.look();
        self.peak.load(Relaxed)
    }

    /// A vector of `len` times `value`, accounted for.
    pub(crate) fn vector<T: Clone>(&self, len: usize, value: T) -> Result<Vec<T>, Full> {
        self.take(len * size_of::<T>())?;
        let mut vector = Vec::new();
        if vector.try_reserve_exact(len).is_err() {
            self.give_back(len * size_of::<T>());
            return Err(Full);
        }
        vector.resize(len, value);
        Ok(vector)
    }

    /// Drops a vector that was made by [`Budget::vector`].
    pub(crate) fn drop_vector<T>(&self, vector: Vec<T>) {
        self.give_back(vector.capacity() * size_of::<T>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_taken_beyond_the_limit() {
        let now = resident_bytes().unwrap_or(0);
        let budget = Budget::new(Some(now + (64 << 20)), None);
        let mut vectors = Vec::new();
        let full = loop {
            match budget.vector(1 << 20, 1_u8) {
                Ok(vector) => vectors.push(vector),
                Err(full) => break full,
            }
            assert!(vectors.len() <= 65);
        };
        assert_eq!(full, Full);
        assert!(budget.vector(usize::MAX / 2, 0_u8).is_err());
    }

    #[test]
    fn the_machine_is_asked_once_there_is_need() {
        static ASKED: AtomicU64 = AtomicU64::new(0);
        let machine: fn() -> Option<u64> = || {
            ASKED.fetch_add(1, Relaxed);
            Some(1)
        };
        for limit in [None, Some(u64::MAX)] {
            ASKED.store(0, Relaxed);
            let budget = Budget::new(limit, Some(machine));
            assert!(budget.vector(1000, 0_u8).is_ok());
            assert_eq!(ASKED.load(Relaxed), 0);
            assert_eq!(budget.vector(LITTLE as usize, 0_u8), Err(Full));
            assert_eq!(budget.vector(1, 0_u8), Err(Full));
            assert_eq!(budget.check(), Err(Full));
            assert_eq!(ASKED.load(Relaxed), 1);
        }
    }

    #[test]
    fn absurd_sizes_are_refused_without_a_limit() {
        let budget = Budget::new(None, None);
        assert!(budget.vector(usize::MAX / 4, 0_u8).is_err());
        assert_eq!(budget.vector(3, 7_u32), Ok(vec![7, 7, 7]));
    }
}
