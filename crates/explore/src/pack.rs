//! How a row is packed into words: which bits of which word belong to which component.

/// The place of one component.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// What the component's number is multiplied with in the [key](Layout::unpack) of a row.
    factor: u64,
    /// The largest number that fits.
    max: u32,
    /// The word, times 64, plus the bit in the word where the component starts.
    bit: u32,
}

impl Field {
    #[inline(always)]
    fn word(&self) -> usize {
        (self.bit / u64::BITS) as usize
    }

    #[inline(always)]
    fn shift(&self) -> u32 {
        self.bit % u64::BITS
    }
}

/// Where all the components are. No component straddles two words, so that reading and patching one is a
/// shift and a mask.
///
/// In memory at large a state takes [`Layout::bytes`]; while it is worked on, [`Layout::words`] words.
#[derive(Debug)]
pub(crate) struct Layout {
    fields: Box<[Field]>,
    words: usize,
    bytes: usize,
}

/// How packed rows become those of another packing.
#[derive(Debug)]
pub(crate) struct Conversion {
    /// By the word that they make.
    moves: Vec<Move>,
    /// For each word, where its moves end.
    ends: Vec<usize>,
}

/// Some bits of a word become a part of another word, turned by so many to the left.
#[derive(Clone, Copy, Debug)]
struct Move {
    from: usize,
    mask: u64,
    turn: u32,
}

impl Conversion {
    /// Converts one row.
    #[inline(always)]
    pub(crate) fn convert(&self, state: &[u64], words: &mut [u64]) {
        let mut begin = 0;
        for (word, &end) in words.iter_mut().zip(&self.ends) {
            let parts = self.moves[begin..end].iter();
            *word = parts.fold(0, |word, part| {
                word | (state[part.from] & part.mask).rotate_left(part.turn)
            });
            begin = end;
        }
        let ones = |words: &[u64]| words.iter().map(|word| word.count_ones()).sum::<u32>();
        debug_assert_eq!(ones(state), ones(words), "a layout that loses states");
    }
}

/// Bits that a number needs; none for 0, because a component that is always 0 needs no room.
pub(crate) fn bits_of(number: u32) -> u32 {
    u32::BITS - number.leading_zeros()
}

/// An odd multiplier for a component that has nothing to do with those of the others (splitmix64).
pub(crate) fn factor(component: usize) -> u64 {
    let mut z = (component as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) | 1
}

/// The hash of a row with this key. The key is a sum, so its low bits are poor: mix it once.
#[inline]
pub(crate) fn hash_of(key: u64) -> u64 {
    let product = u128::from(key ^ 0x2d35_8dcc_aa6c_78a5) * u128::from(0x8bb8_4b93_962e_acc9_u64);
    (product as u64) ^ ((product >> 64) as u64)
}

/// A word holds no more components; choosing among all would take too long where there are thousands.
const CHOICE: usize = u64::BITS as usize;

/// Chooses components that together fill a word as well as possible: only the last word is cut to what
/// is used, so what is unused in the others is lost.
fn fill_word(components: &[usize], bits: &[u32]) -> Vec<usize> {
    const FULL: usize = u64::BITS as usize;
    // For every sum that can be reached: the last component in it, as a position.
    let mut last: [Option<usize>; FULL + 1] = [None; FULL + 1];
    let mut reached = [false; FULL + 1];
    reached[0] = true;
    for (position, &component) in components.iter().enumerate() {
        let need = bits[component] as usize;
        for sum in (need..=FULL).rev() {
            if reached[sum - need] && !reached[sum] {
                reached[sum] = true;
                last[sum] = Some(position);
            }
        }
    }
    let mut sum = (0..=FULL).rev().find(|&sum| reached[sum]).unwrap_or(0);
    let mut chosen = Vec::new();
    // A sum was reached by its last component from a sum that had been reached by earlier ones.
    while let Some(position) = last[sum] {
        chosen.push(components[position]);
        sum -= bits[components[position]] as usize;
    }
    chosen
}

impl Layout {
    /// A layout in which component `i` has `bits[i]` bits.
    pub(crate) fn new(bits: &[u32]) -> Layout {
        let mut fields: Vec<Field> = (0..bits.len())
            .map(|component| Field {
                factor: factor(component),
                max: 0,
                bit: 0,
            })
            .collect();
        // A component without bits stays where it is, and is always 0.
        let mut rest = (0..bits.len()).filter(|&i| bits[i] > 0);
        let mut left: Vec<usize> = rest.by_ref().take(CHOICE).collect();
        let mut words = 0;
        let bytes = loop {
            let chosen = fill_word(&left, bits);
            left.retain(|component| !chosen.contains(component));
            left.extend(rest.by_ref().take(CHOICE - left.len()));
            let mut used = 0;
            for component in chosen {
                fields[component].bit = words as u32 * u64::BITS + used;
                fields[component].max = u32::MAX >> (u32::BITS - bits[component]);
                used += bits[component];
            }
            words += 1;
            if left.is_empty() {
                break (words - 1) * 8 + (used.div_ceil(8) as usize).max(1);
            }
        };
        Layout {
            fields: fields.into(),
            words,
            bytes,
        }
    }

    /// A layout in which packed rows, compared word by word, are in the order of their numbers, the components taken in this order: the same
    /// order for all bits that the components may have.
    pub(crate) fn ordered(order: &[usize], bits: &[u32]) -> Layout {
        let mut fields: Vec<Field> = (0..bits.len())
            .map(|component| Field {
                factor: factor(component),
                max: 0,
                bit: 0,
            })
            .collect();
        let mut words = 0;
        let mut used = 0;
        let mut order = order.iter().filter(|&&i| bits[i] > 0).peekable();
        while order.peek().is_some() {
            let mut members = Vec::new();
            used = 0;
            while let Some(&component) = order.next_if(|&&i| used + bits[i] <= u64::BITS) {
                members.push(component);
                used += bits[component];
            }
            // The last one is lowest.
            let mut bit = 0;
            for component in members.into_iter().rev() {
                fields[component].bit = words as u32 * u64::BITS + bit;
                fields[component].max = u32::MAX >> (u32::BITS - bits[component]);
                bit += bits[component];
            }
            words += 1;
        }
        let words = words.max(1);
        Layout {
            fields: fields.into(),
            words,
            bytes: (words - 1) * 8 + (used.div_ceil(8) as usize).max(1),
        }
    }

    /// An order of the components in which [ordered](Layout::ordered) rows take no more room than here.
    pub(crate) fn order(&self) -> Vec<usize> {
        let place = |component: &usize| {
            let field = &self.fields[*component];
            // Those without bits may get some later.
            (field.max == 0, field.word(), std::cmp::Reverse(field.bit))
        };
        let mut order: Vec<usize> = (0..self.fields.len()).collect();
        order.sort_by_key(place);
        order
    }

    /// A layout for rows that are kept as they are: nothing is ever packed by it.
    pub(crate) fn unused(width: usize) -> Layout {
        Layout::new(&vec![0; width])
    }

    /// Words of a state that is being worked on.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Bytes of a stored state; the last word is cut.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The bits of the last word that are stored.
    pub(crate) fn last_mask(&self) -> u64 {
        u64::MAX >> (8 * (self.words * 8 - self.bytes))
    }

    /// Number of components.
    pub(crate) fn width(&self) -> usize {
        self.fields.len()
    }

    /// Bits of every component.
    pub(crate) fn bits(&self) -> impl Iterator<Item = u32> + '_ {
        self.fields.iter().map(|field| bits_of(field.max))
    }

    /// Unpacks `words` into `row` and returns the key of the row.
    ///
    /// The key is the sum of all components, each multiplied with its own factor. It does not depend on
    /// the layout, so places that follow from it survive a change of the layout; and it follows from
    /// the key of a similar row by adding what is different.
    #[inline]
    pub(crate) fn unpack(&self, words: &[u64], row: &mut [u32]) -> u64 {
        // Most states have one word or two, and then there is no need to look which one it is, or where.
        match *words {
            [word] => self.unpack_from(|_| word, row),
            [low, high] => self.unpack_from(|bit| if bit < u64::BITS { low } else { high }, row),
            _ => self.unpack_from(|bit| words[(bit / u64::BITS) as usize], row),
        }
    }

    #[inline(always)]
    fn unpack_from(&self, word_of: impl Fn(u32) -> u64, row: &mut [u32]) -> u64 {
        let mut key = 0_u64;
        for (field, number) in self.fields.iter().zip(row) {
            *number = (word_of(field.bit) >> field.shift()) as u32 & field.max;
            key = key.wrapping_add(field.factor.wrapping_mul(u64::from(*number)));
        }
        key
    }

    /// How packed rows become those of another packing, whose components are all as wide as the rows need.
    pub(crate) fn conversion(&self, other: &Layout) -> Conversion {
        let mut moves: Vec<Vec<Move>> = vec![Vec::new(); other.words];
        for (from, to) in self.fields.iter().zip(&other.fields) {
            let part = Move {
                from: from.word(),
                mask: u64::from(from.max.min(to.max)) << from.shift(),
                turn: to.shift().wrapping_sub(from.shift()) % u64::BITS,
            };
            if part.mask == 0 {
                continue;
            }
            // Components that stay neighbours move together.
            let together = |m: &&mut Move| (m.from, m.turn) == (part.from, part.turn);
            let moves = &mut moves[to.word()];
            match moves.iter_mut().find(together) {
                Some(others) => others.mask |= part.mask,
                None => moves.push(part),
            }
        }
        let ends = moves.iter().scan(0, |end, moves| {
            *end += moves.len();
            Some(*end)
        });
        Conversion {
            ends: ends.collect(),
            moves: moves.concat(),
        }
    }

    /// The key of a packed row.
    #[inline]
    pub(crate) fn key(&self, words: &[u64]) -> u64 {
        let mut key = 0_u64;
        for field in &self.fields {
            let number = (words[field.word()] >> field.shift()) as u32 & field.max;
            key = key.wrapping_add(field.factor.wrapping_mul(u64::from(number)));
        }
        key
    }

    /// The key of a row.
    pub(crate) fn row_key(&self, row: &[u32]) -> u64 {
        self.fields
            .iter()
            .zip(row)
            .fold(0, |key: u64, (field, &number)| {
                key.wrapping_add(field.factor.wrapping_mul(u64::from(number)))
            })
    }

    /// Packs `row` into `words` (which are all 0) and returns the key; none if a number does not fit.
    #[inline]
    pub(crate) fn pack(&self, row: &[u32], words: &mut [u64]) -> Option<u64> {
        let mut key = 0_u64;
        let mut fits = true;
        for (field, &number) in self.fields.iter().zip(row) {
            fits &= number <= field.max;
            words[field.word()] |= u64::from(number & field.max) << field.shift();
            key = key.wrapping_add(field.factor.wrapping_mul(u64::from(number)));
        }
        fits.then_some(key)
    }

    /// Whether a number fits.
    pub(crate) fn fits(&self, component: usize, number: u32) -> bool {
        number <= self.fields[component].max
    }

    /// Changes one component of a packed row with this key and returns the new key; none, and nothing
    /// changed, if the number does not fit.
    #[inline(always)]
    pub(crate) fn patch(
        &self,
        words: &mut [u64],
        key: u64,
        component: usize,
        number: u32,
    ) -> Option<u64> {
        let field = &self.fields[component];
        if number > field.max {
            return None;
        }
        let word = &mut words[field.word()];
        let old = (*word >> field.shift()) & u64::from(field.max);
        // What is added to the component is added to the word at its place: it carries into no other component.
        let more = u64::from(number).wrapping_sub(old);
        *word = word.wrapping_add(more << field.shift());
        Some(key.wrapping_add(field.factor.wrapping_mul(more)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_component_has_its_own_bits() {
        for bits in [
            vec![],
            vec![0],
            vec![32, 32, 0],
            vec![1; 64],
            vec![1; 65],
            vec![3, 0, 7, 32, 31, 5, 0, 1, 1, 17],
            vec![33 - 1; 9],
        ] {
            let layout = Layout::new(&bits);
            assert_eq!(layout.bits().collect::<Vec<_>>(), bits);
            assert!(layout.bytes() * 8 >= bits.iter().sum::<u32>() as usize);
            assert!(layout.bytes() <= layout.words() * 8);
            for component in 0..bits.len() {
                let mut row = vec![0; bits.len()];
                row[component] = ((1_u64 << bits[component]) - 1) as u32;
                let mut words = vec![0; layout.words()];
                let key = layout.pack(&row, &mut words).unwrap();
                assert_eq!(words[layout.words() - 1] & !layout.last_mask(), 0);
                assert_eq!(layout.key(&words), key);
                let mut back = vec![9; bits.len()];
                assert_eq!(layout.unpack(&words, &mut back), key);
                assert_eq!(back, row);
                let mut patched = vec![0; layout.words()];
                let patched_key = layout.patch(&mut patched, 0, component, row[component]);
                assert_eq!(patched_key, Some(key));
                assert_eq!(patched, words);
                if bits[component] < 32 {
                    row[component] += 1;
                    assert_eq!(layout.pack(&row, &mut vec![0; layout.words()]), None);
                    assert_eq!(
                        layout.patch(&mut patched, key, component, row[component]),
                        None
                    );
                    assert_eq!(patched, words);
                }
            }
        }
    }

    #[test]
    fn little_is_wasted() {
        // 20 components of 5 and 3 bits: 80 bits are 10 bytes.
        let bits: Vec<u32> = (0..20).map(|i| if i % 2 == 0 { 5 } else { 3 }).collect();
        assert_eq!(Layout::new(&bits).bytes(), 10);
        assert_eq!(Layout::new(&[32, 32, 32]).bytes(), 12);
        assert_eq!(Layout::new(&[0, 0]).bytes(), 1);
    }

    #[test]
    fn the_key_does_not_depend_on_the_layout() {
        let row = [3, 0, 100, 7];
        let narrow = Layout::new(&[2, 0, 7, 3]);
        let wide = Layout::new(&[32, 9, 20, 31]);
        let mut a = vec![0; narrow.words()];
        let mut b = vec![0; wide.words()];
        assert_eq!(narrow.pack(&row, &mut a), wide.pack(&row, &mut b));
        let mut converted = vec![0; wide.words()];
        narrow.conversion(&wide).convert(&a, &mut converted);
        assert_eq!(converted, b);
    }

    #[test]
    fn the_order_of_packed_rows_does_not_depend_on_bits() {
        let mut random = 7_u64;
        let mut next = |below: u32| {
            random = hash_of(random.wrapping_add(1));
            (random >> 32) as u32 % below
        };
        for width in [1, 2, 7, 30] {
            let need: Vec<u32> = (0..width).map(|_| next(20)).collect();
            let order = Layout::new(&need).order();
            let narrow = Layout::ordered(&order, &need);
            assert!(narrow.bytes() <= Layout::new(&need).bytes());
            let bits: Vec<u32> = need.iter().map(|need| need + next(10)).collect();
            let wide = Layout::ordered(&order, &bits);
            let mut rows: Vec<Vec<u32>> = (0..100)
                .map(|_| need.iter().map(|&need| next(1 << need) % 7).collect())
                .collect();
            let by_order = |row: &Vec<u32>| -> Vec<u32> { order.iter().map(|&i| row[i]).collect() };
            rows.sort_by_key(by_order);
            for layout in [narrow, wide] {
                let packed = rows.iter().map(|row| {
                    let mut words = vec![0; layout.words()];
                    assert!(layout.pack(row, &mut words).is_some());
                    assert_eq!(words[layout.words() - 1] & !layout.last_mask(), 0);
                    words
                });
                assert!(packed.collect::<Vec<_>>().is_sorted());
            }
        }
    }

    #[test]
    fn conversions_keep_every_component() {
        let mut random = 1_u64;
        let mut next = |below: u32| {
            random = hash_of(random.wrapping_add(1));
            (random >> 32) as u32 % below
        };
        for width in [1, 3, 9, 20, 70] {
            for _ in 0..100 {
                // What the numbers need, and two packings with room for them.
                let need: Vec<u32> = (0..width).map(|_| next(17)).collect();
                let mut layout = || {
                    let bits: Vec<u32> = need.iter().map(|need| need + next(16)).collect();
                    Layout::new(&bits)
                };
                let (one, other) = (layout(), layout());
                let row: Vec<u32> = need.iter().map(|&need| next(1 << need)).collect();
                let mut words = vec![0; one.words()];
                let key = one.pack(&row, &mut words);
                // Whatever was there is overwritten.
                let mut converted = vec![u64::MAX; other.words()];
                one.conversion(&other).convert(&words, &mut converted);
                let mut expected = vec![0; other.words()];
                assert_eq!(other.pack(&row, &mut expected), key);
                assert_eq!(converted, expected);
            }
        }
    }
}
