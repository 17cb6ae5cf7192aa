//! The program's side of the states that were found: rows of locals and memory, packed to the bits that they need.

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// A table of rows. A row's number is its place in the table.
#[derive(Debug)]
pub struct Bases {
    packing: Packing,
    rows: Vec<u64>,
    numbers: HashTable<u32>,
    packed: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Packing {
    fields: Vec<Field>,
    words: usize,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    word: u32,
    shift: u32,
    bits: u32,
}

impl Packing {
    fn new(bits: &[u32]) -> Self {
        let mut fields = Vec::with_capacity(bits.len());
        let (mut word, mut shift) = (0, 0);
        for &bits in bits {
            if shift + bits > 64 {
                word += 1;
                shift = 0;
            }
            fields.push(Field { word, shift, bits });
            shift += bits;
        }
        Packing {
            fields,
            words: word as usize + 1,
        }
    }

    /// Packs a row; `false` if some number does not fit.
    #[inline]
    fn pack(&self, row: &[u32], packed: &mut [u64]) -> bool {
        packed.fill(0);
        let mut fits = true;
        for (field, &number) in self.fields.iter().zip(row) {
            fits &= u64::from(number) >> field.bits == 0;
            packed[field.word as usize] |= u64::from(number) << field.shift;
        }
        fits
    }

    #[inline]
    fn unpack(&self, packed: &[u64], row: &mut [u32]) {
        for (field, number) in self.fields.iter().zip(row) {
            *number = (packed[field.word as usize] >> field.shift & ((1 << field.bits) - 1)) as u32;
        }
    }
}

#[inline]
fn hash(packed: &[u64]) -> u64 {
    let mut hasher = FxHasher::default();
    for &word in packed {
        hasher.write_u64(word);
    }
    let hash = hasher.finish();
    // The table takes its buckets from the low bits and its tags from the high ones: both have to be good.
    (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Bases {
    /// An empty table for rows of this many components.
    pub fn new(width: usize) -> Self {
        let packing = Packing::new(&vec![2; width]);
        Bases {
            packed: vec![0; packing.words],
            packing,
            rows: Vec::new(),
            numbers: HashTable::new(),
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len() / self.packing.words
    }

    /// How many bytes the table takes.
    pub fn bytes(&self) -> u64 {
        (self.rows.capacity() * 8 + self.numbers.capacity() * 5) as u64
    }

    /// Writes the row with this number to `row`.
    #[inline]
    pub fn get(&self, number: u32, row: &mut [u32]) {
        let words = self.packing.words;
        self.packing
            .unpack(&self.rows[number as usize * words..][..words], row);
    }

    /// The number of a row; it is entered if it is new.
    #[inline]
    pub fn number(&mut self, row: &[u32]) -> u32 {
        while !self.packing.pack(row, &mut self.packed) {
            self.widen(row);
        }
        let words = self.packing.words;
        let (rows, packed) = (&self.rows, &self.packed[..]);
        let hash_of = |number: u32| hash(&rows[number as usize * words..][..words]);
        let hashed = hash(packed);
        let known = self.numbers.find(hashed, |&number| {
            rows[number as usize * words..][..words] == *packed
        });
        if let Some(&number) = known {
            return number;
        }
        let number = (rows.len() / words) as u32;
        self.numbers
            .insert_unique(hashed, number, |&number| hash_of(number));
        self.rows.extend_from_slice(&self.packed);
        number
    }

    /// Makes room for a row whose numbers are larger than any before.
    #[cold]
    fn widen(&mut self, row: &[u32]) {
        let bits: Vec<u32> = self
            .packing
            .fields
            .iter()
            .zip(row)
            .map(|(field, &number)| {
                let needed = 32 - number.leading_zeros();
                if needed > field.bits {
                    needed.max(field.bits + 1).min(32)
                } else {
                    field.bits
                }
            })
            .collect();
        let wider = Packing::new(&bits);
        let mut numbers = vec![0; bits.len()];
        let mut rows = vec![0; self.len() * wider.words];
        for (old, new) in self
            .rows
            .chunks_exact(self.packing.words)
            .zip(rows.chunks_exact_mut(wider.words))
        {
            self.packing.unpack(old, &mut numbers);
            wider.pack(&numbers, new);
        }
        self.packed = vec![0; wider.words];
        let hash_of = |number: u32| hash(&rows[number as usize * wider.words..][..wider.words]);
        self.numbers.clear();
        for number in 0..(rows.len() / wider.words) as u32 {
            self.numbers
                .insert_unique(hash_of(number), number, |&n| hash_of(n));
        }
        self.rows = rows;
        self.packing = wider;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_numbers_when_the_packing_widens() {
        let mut bases = Bases::new(3);
        let rows = [
            [0, 1, 2],
            [3, 3, 3],
            [4, 0, 0],
            [0, u32::MAX, 70_000],
            [9, 9, 9],
        ];
        for (number, row) in rows.iter().enumerate() {
            assert_eq!(bases.number(row), number as u32);
        }
        let mut found = [0; 3];
        for (number, row) in rows.iter().enumerate() {
            assert_eq!(bases.number(row), number as u32);
            bases.get(number as u32, &mut found);
            assert_eq!(found, *row);
        }
        assert_eq!(bases.len(), rows.len());
    }
}
