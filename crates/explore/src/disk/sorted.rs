//! Sorting packed states.

/// Sorts records of so many words by their words.
pub(crate) fn sort(records: Vec<u64>, stride: usize) -> Vec<u64> {
    match stride {
        1 => sort_arrays::<1>(records),
        2 => sort_arrays::<2>(records),
        3 => sort_arrays::<3>(records),
        4 => sort_arrays::<4>(records),
        5 => sort_arrays::<5>(records),
        _ => sort_any(&records, stride),
    }
}

fn sort_arrays<const N: usize>(records: Vec<u64>) -> Vec<u64> {
    let mut arrays: Vec<[u64; N]> = Vec::with_capacity(records.len() / N);
    arrays.extend(records.chunks_exact(N).map(|record| {
        let mut array = [0; N];
        array.copy_from_slice(record);
        array
    }));
    drop(records);
    arrays.sort_unstable();
    arrays.into_flattened()
}

fn sort_any(records: &[u64], stride: usize) -> Vec<u64> {
    let record = |i: &u32| &records[*i as usize * stride..][..stride];
    let mut order: Vec<u32> = (0..(records.len() / stride) as u32).collect();
    order.sort_unstable_by(|a, b| record(a).cmp(record(b)));
    order
        .iter()
        .flat_map(|i| record(i).iter().copied())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::hash_of;

    #[test]
    fn records_are_sorted_whole() {
        for stride in 1..9 {
            let words: Vec<u64> = (0..100 * stride as u64).map(|i| hash_of(i) % 5).collect();
            let mut expected: Vec<&[u64]> = words.chunks_exact(stride).collect();
            expected.sort();
            assert_eq!(sort(words.clone(), stride), expected.concat());
        }
    }
}
