//! Monitors by number: each is stored once, packed to the bits that it has.

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// The table.
#[derive(Debug)]
pub struct MonitorTable {
    /// How many bits of each word of a monitor are used.
    widths: Box<[u32]>,
    /// Words of a packed monitor.
    words: usize,
    rows: Vec<u64>,
    numbers: HashTable<u32>,
    packed: Vec<u64>,
}

fn hash(row: &[u64]) -> u64 {
    let mut hasher = FxHasher::default();
    for &word in row {
        hasher.write_u64(word);
    }
    let hash = hasher.finish();
    (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl MonitorTable {
    /// An empty table of monitors whose words have so many bits.
    pub fn new(widths: Vec<u32>) -> Self {
        let bits: u64 = widths.iter().map(|&width| u64::from(width)).sum();
        let words = bits.div_ceil(64).max(1) as usize;
        MonitorTable {
            widths: widths.into(),
            words,
            rows: Vec::new(),
            numbers: HashTable::new(),
            packed: vec![0; words],
        }
    }

    /// How many bytes the table takes.
    pub fn bytes(&self) -> u64 {
        (self.rows.capacity() * 8 + self.numbers.capacity() * 5) as u64
    }

    fn packed(&self, number: u32) -> &[u64] {
        &self.rows[number as usize * self.words..][..self.words]
    }

    /// The monitor with this number.
    pub fn get(&self, number: u32, monitor: &mut Vec<u64>) {
        monitor.clear();
        let packed = self.packed(number);
        let (mut word, mut shift) = (0, 0);
        for &width in &self.widths {
            let mask = u64::MAX >> (64 - width);
            let mut bits = packed[word] >> shift;
            if shift + width > 64 {
                bits |= packed[word + 1] << (64 - shift);
            }
            monitor.push(bits & mask);
            shift += width;
            if shift >= 64 {
                shift -= 64;
                word += 1;
            }
        }
    }

    /// The number of a monitor; it is entered if it is new.
    pub fn number(&mut self, monitor: &[u64]) -> u32 {
        self.packed.fill(0);
        let (mut word, mut shift) = (0, 0);
        for (&width, &bits) in self.widths.iter().zip(monitor) {
            self.packed[word] |= bits << shift;
            if shift + width > 64 {
                self.packed[word + 1] |= bits >> (64 - shift);
            }
            shift += width;
            if shift >= 64 {
                shift -= 64;
                word += 1;
            }
        }
        let words = self.words;
        let rows = &self.rows;
        let packed = &self.packed[..];
        let get = |number: u32| &rows[number as usize * words..][..words];
        let hashed = hash(packed);
        if let Some(&number) = self.numbers.find(hashed, |&n| get(n) == packed) {
            return number;
        }
        let number = (rows.len() / words) as u32;
        self.numbers
            .insert_unique(hashed, number, |&n| hash(get(n)));
        self.rows.extend_from_slice(&self.packed);
        number
    }

    /// Whether `a` has all the bits of `b`.
    #[inline]
    pub fn covers(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.packed(a), self.packed(b));
        a.iter().zip(b).all(|(a, b)| b & !a == 0)
    }

    /// The first word of the packed monitor.
    #[inline]
    pub fn first_word(&self, number: u32) -> u64 {
        self.packed(number)[0]
    }

    /// How many bits a monitor has.
    pub fn weight(&self, number: u32) -> u32 {
        self.packed(number).iter().map(|w| w.count_ones()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monitors_come_back_as_they_were() {
        let mut table = MonitorTable::new(vec![3, 64, 1, 60, 7]);
        let monitors = [
            vec![5, u64::MAX, 1, (1 << 60) - 1, 127],
            vec![0, 1 << 63, 0, 1 << 59, 64],
            vec![7, 0, 1, 1, 1],
        ];
        for (number, monitor) in monitors.iter().enumerate() {
            assert_eq!(table.number(monitor), number as u32);
        }
        let mut found = Vec::new();
        for (number, monitor) in monitors.iter().enumerate() {
            table.get(number as u32, &mut found);
            assert_eq!(found, *monitor);
            assert_eq!(table.number(monitor), number as u32);
        }
        assert!(table.covers(0, 1) && !table.covers(1, 0) && !table.covers(0, 2));
    }
}
