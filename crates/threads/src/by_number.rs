//! Something for each of a few numbers, or of many.

use palisade_lang::Value;
use rustc_hash::FxHashMap;

/// A map from numbers, small in memory and fast where the numbers are few or small.
#[derive(Debug)]
pub(crate) enum ByNumber<T> {
    /// Few numbers are usual: a list is searched.
    Few(Vec<(Value, T)>),
    /// Many.
    Many(Box<Many<T>>),
}

#[derive(Debug)]
pub(crate) struct Many<T> {
    /// By number, from 0 on.
    small: Vec<Option<T>>,
    others: FxHashMap<Value, T>,
}

impl<T> Default for ByNumber<T> {
    fn default() -> Self {
        ByNumber::Few(Vec::new())
    }
}

impl<T: Copy> ByNumber<T> {
    const FEW: usize = 6;
    /// Numbers below this are small.
    const SMALL: usize = 256;

    fn small(number: Value) -> Option<usize> {
        usize::try_from(number).ok().filter(|&n| n < Self::SMALL)
    }

    /// What there is for a number.
    #[inline]
    pub(crate) fn find(&self, number: Value) -> Option<T> {
        match self {
            ByNumber::Few(few) => few
                .iter()
                .find(|entry| entry.0 == number)
                .map(|entry| entry.1),
            ByNumber::Many(many) => match Self::small(number) {
                Some(small) => many.small.get(small).copied().flatten(),
                None => many.others.get(&number).copied(),
            },
        }
    }

    /// Adds something for a number that there is nothing for yet.
    pub(crate) fn insert(&mut self, number: Value, item: T) {
        match self {
            ByNumber::Few(few) if few.len() < Self::FEW => few.push((number, item)),
            ByNumber::Few(few) => {
                let few = std::mem::take(few);
                *self = ByNumber::Many(Box::new(Many {
                    small: Vec::new(),
                    others: FxHashMap::default(),
                }));
                for (number, item) in few {
                    self.insert(number, item);
                }
                self.insert(number, item);
            }
            ByNumber::Many(many) => match Self::small(number) {
                Some(small) => {
                    if many.small.len() <= small {
                        many.small.resize(small + 1, None);
                    }
                    many.small[small] = Some(item);
                }
                None => {
                    many.others.insert(number, item);
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_found() {
        let numbers = [3, 0, -1, 255, 256, 1 << 40, 7, 8, Value::MIN, 100, 254];
        let mut map = ByNumber::default();
        for (count, &number) in numbers.iter().enumerate() {
            assert_eq!(map.find(number), None);
            map.insert(number, number);
            for &known in &numbers[..=count] {
                assert_eq!(map.find(known), Some(known));
            }
            assert_eq!(map.find(5), None);
            assert_eq!(map.find(257), None);
        }
    }
}
