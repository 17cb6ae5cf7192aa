//! What is done to one cache line of the visited set: comparing all its entries at once, and asking for it
//! before it is needed.
//!
//! This is the only place with unsafe code, because it is measurably worth it (the example `throughput`
//! under callgrind, and by the clock): the compiler makes five times as many instructions of the plain
//! loop, and there is no other way to ask for memory without waiting for it. On other architectures than
//! x86-64 plain code does the same. `cargo +nightly miri test -p palisade-explore --lib line` runs it under Miri
//! (where nothing is asked for early: Miri has no caches).
#![allow(unsafe_code)]

/// Entries in a cache line.
pub(crate) const SLOTS: usize = 16;

/// One bit for every entry that is `value` where `mask` has ones.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn equal(entries: &[u32; SLOTS], mask: u32, value: u32) -> u32 {
    use std::arch::x86_64::*;
    let four = entries.as_ptr().cast::<__m128i>();
    // SAFETY: SSE2, which all of this needs, is a part of the architecture. There are 16 entries of 4
    // bytes, so that four times 16 bytes may be read; `loadu` needs no alignment.
    unsafe {
        let mask = _mm_set1_epi32(mask as i32);
        let value = _mm_set1_epi32(value as i32);
        let compare = |i| {
            let entries = _mm_loadu_si128(four.add(i));
            _mm_cmpeq_epi32(_mm_and_si128(entries, mask), value)
        };
        let low = _mm_packs_epi32(compare(0), compare(1));
        let high = _mm_packs_epi32(compare(2), compare(3));
        _mm_movemask_epi8(_mm_packs_epi16(low, high)) as u32
    }
}

/// One bit for every entry that is `value` where `mask` has ones.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn equal(entries: &[u32; SLOTS], mask: u32, value: u32) -> u32 {
    plain_equal(entries, mask, value)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn plain_equal(entries: &[u32; SLOTS], mask: u32, value: u32) -> u32 {
    let bits = entries.iter().enumerate();
    bits.fold(0, |bits, (i, &entry)| {
        bits | (u32::from(entry & mask == value) << i)
    })
}

/// Asks for the cache line of `place`, which will soon be needed, without waiting for it.
#[inline(always)]
pub(crate) fn prefetch<T>(place: &T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: this changes nothing that a program can see, and would be allowed for any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(place).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = place;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_entries_are_compared() {
        let mut entries = [0; SLOTS];
        // Miri takes a second for a round.
        let rounds = if cfg!(miri) { 20 } else { 1000 };
        for round in 0_u32..rounds {
            for (i, entry) in entries.iter_mut().enumerate() {
                let x = (round * 16 + i as u32).wrapping_mul(0x9e37_79b9);
                *entry = (x >> 28 << 28) | (x & 3);
            }
            for (mask, value) in [
                (!0, entries[5]),
                (0xf000_0000, entries[3] & 0xf000_0000),
                (3, 2),
                (0, 0),
                (0, 1),
            ] {
                let expected = plain_equal(&entries, mask, value);
                assert_eq!(equal(&entries, mask, value), expected);
            }
            prefetch(&entries[0]);
        }
    }
}
