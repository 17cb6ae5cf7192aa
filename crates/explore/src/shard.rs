//! One of the parts that the stored states are divided into: the states whose hash starts with the same
//! bits. A part is an append-only store of packed states, in the order in which they were found, and a
//! flat table of indices into it.
//!
//! Both are made of pages of about 32 KiB that never move: memory grows in small steps, and nothing is
//! ever held twice.

use crate::budget::{Budget, Full};
use crate::levels::SHARDS;
use crate::line::{SLOTS, equal, prefetch};
use crate::pack::{Layout, bits_of, hash_of};
use std::ops::Range;
use std::sync::Arc;

const PAGE_BYTES: usize = 1 << 15;

/// States of one batch whose memory accesses are overlapped; a bit for each.
const GROUP: usize = u32::BITS as usize;

/// The numbers of the bits that are set.
#[inline(always)]
fn bits(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (bit < u32::BITS).then_some(bit as usize)
    })
}

/// Packed states, one after the other.
struct Store {
    pages: Vec<Vec<u8>>,
    len: u32,
    /// A page has 2^`page_log` states.
    page_log: u32,
    bytes: usize,
    words: usize,
    last_mask: u64,
}

impl Store {
    fn new(layout: &Layout) -> Store {
        let bytes = layout.bytes();
        let words = layout.words();
        let page_log = (PAGE_BYTES / bytes).max(1).ilog2();
        Store {
            pages: Vec::new(),
            len: 0,
            page_log,
            bytes,
            words,
            last_mask: layout.last_mask(),
        }
    }

    /// Page and offset of a state.
    #[inline(always)]
    fn place(&self, index: u32) -> (usize, usize) {
        let page = (index >> self.page_log) as usize;
        let offset = (index & ((1 << self.page_log) - 1)) as usize * self.bytes;
        (page, offset)
    }

    /// The bytes of a state, followed by up to 7 that are not its own.
    #[inline(always)]
    fn slice(&self, index: u32, words: usize) -> &[u8] {
        let (page, offset) = self.place(index);
        &self.pages[page][offset..offset + 8 * words]
    }

    /// A byte of a state, to ask for it.
    #[inline(always)]
    fn first_byte(&self, index: u32) -> &u8 {
        let (page, offset) = self.place(index);
        &self.pages[page][offset]
    }

    #[inline(always)]
    fn read(&self, index: u32, out: &mut [u64]) {
        // Most states have one word or two, and then there is no need to count them.
        match out {
            [only] => *only = word_of(self.slice(index, 1)) & self.last_mask,
            [first, last] => {
                let (low, high) = self.slice(index, 2).split_at(8);
                *first = word_of(low);
                *last = word_of(high) & self.last_mask;
            }
            _ => {
                let bytes = self.slice(index, out.len());
                for (word, bytes) in out.iter_mut().zip(bytes.chunks_exact(8)) {
                    *word = word_of(bytes);
                }
                if let Some(last) = out.last_mut() {
                    *last &= self.last_mask;
                }
            }
        }
    }

    fn read_many(&self, range: Range<u32>, out: &mut Vec<u64>) {
        out.resize(range.len() * self.words, 0);
        for (index, state) in range.zip(out.chunks_exact_mut(self.words)) {
            self.read(index, state);
        }
    }

    /// Whether the state at `index` is `state`. Without branches: the caller overlaps many of these.
    #[inline(always)]
    fn equals(&self, index: u32, state: &[u64]) -> bool {
        let bytes = self.slice(index, state.len());
        let mut difference = 0;
        let last = state.len() - 1;
        for i in 0..last {
            difference |= word_of(&bytes[8 * i..8 * i + 8]) ^ state[i];
        }
        difference |= (word_of(&bytes[8 * last..8 * last + 8]) ^ state[last]) & self.last_mask;
        difference == 0
    }

    #[inline(always)]
    fn push(&mut self, state: &[u64], budget: &Budget) -> Result<(), Full> {
        let (page, offset) = self.place(self.len);
        let end = offset + 8 * state.len();
        if self.pages.get(page).is_none_or(|page| page.len() < end) {
            self.grow(page, end, budget)?;
        }
        for (word, bytes) in state
            .iter()
            .zip(self.pages[page][offset..end].chunks_exact_mut(8))
        {
            // Of the last word, some bytes go where the next state will be.
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        self.len += 1;
        Ok(())
    }

    /// Makes room for `end` bytes in a page. Only the first page starts small: most walks are short.
    #[cold]
    fn grow(&mut self, page: usize, end: usize, budget: &Budget) -> Result<(), Full> {
        // Reading and writing whole words runs over the end of the last state.
        let full = (self.bytes << self.page_log) + 8;
        if page < self.pages.len() {
            let old = &self.pages[page];
            let mut new = budget.vector((2 * old.len()).max(end).min(full), 0)?;
            new[..old.len()].copy_from_slice(old);
            budget.drop_vector(std::mem::replace(&mut self.pages[page], new));
        } else {
            let size = if page == 0 {
                end.max(256).min(full)
            } else {
                full
            };
            self.pages.push(budget.vector(size, 0)?);
        }
        Ok(())
    }
}

#[inline(always)]
fn word_of(bytes: &[u8]) -> u64 {
    let mut array = [0; 8];
    array.copy_from_slice(bytes);
    u64::from_le_bytes(array)
}

/// A cache line of entries. Entries fill a bucket from the front; 0 is no entry.
type Bucket = [u32; SLOTS];

/// Two buckets that are neighbours in memory, which processors like to fetch together.
#[derive(Clone)]
#[repr(align(128))]
struct Pair([Bucket; 2]);

/// The first slot without an entry, in a bucket that has one.
#[inline(always)]
fn first_free(entries: &Bucket) -> usize {
    (equal(entries, u32::MAX, 0).trailing_zeros() % SLOTS as u32) as usize
}

/// Whether there is such a slot.
#[inline(always)]
fn has_room(entries: &Bucket) -> bool {
    entries[SLOTS - 1] == 0
}

/// The visited set: for every state an entry of 4 bytes, which holds the index of the state plus one in
/// its low bits and some bits of its hash, the tag, in the others.
///
/// The hash says in which bucket to start looking: as a number below 1, multiplied with the number of buckets. Behind the
/// point of that product is the tag; its highest bit says in which half of the bucket's states this one is. So a table that
/// doubles needs to know no more than its entries.
///
/// A full bucket overflows into the other one of its pair, and a full pair into the next one. Entries of states
/// that should be elsewhere are marked.
struct Table {
    pages: Vec<Vec<Pair>>,
    /// Number of buckets; even.
    buckets: u32,
    /// How many buckets the growth beyond [`SMALL`] leads to. It is different in every shard: they all have
    /// about the same number of states, and should not all be nearly empty at the same time.
    medium: u32,
    /// The bits of an entry that are the index.
    index_mask: u32,
}

const BUCKETS_PER_PAGE: u32 = (PAGE_BYTES / size_of::<Bucket>()) as u32;
/// Up to this many buckets a table is small: a power of two.
const SMALL: u32 = 32;
const PAIRS_PER_PAGE: u32 = BUCKETS_PER_PAGE / 2;
/// The bit of an entry that is not in the bucket where its hash says.
const ASTRAY: u32 = 1 << 31;

/// Where a state belongs, and what its entry has beside the index.
#[derive(Clone, Copy, Default)]
struct Home {
    bucket: u32,
    tag: u32,
}

impl Home {
    /// The tag that its entry has in a bucket.
    #[inline(always)]
    fn tag_in(self, bucket: u32) -> u32 {
        if bucket == self.bucket {
            self.tag
        } else {
            self.tag | ASTRAY
        }
    }
}

impl Table {
    /// How many states may be in a table of that many buckets. Seven of eight entries are used, and still
    /// few buckets are full.
    fn room(buckets: u64) -> u64 {
        buckets * SLOTS as u64 * 7 / 8
    }

    /// Bits 0..32 of a hash say where; the highest have chosen the shard.
    #[inline(always)]
    fn home(&self, hash: u64) -> Home {
        let product = (hash & 0xffff_ffff) * u64::from(self.buckets);
        Home {
            bucket: (product >> 32) as u32,
            tag: (product as u32 >> 1) & !self.index_mask,
        }
    }

    #[inline(always)]
    fn bucket(&self, bucket: u32) -> &Bucket {
        let page = &self.pages[(bucket / BUCKETS_PER_PAGE) as usize];
        &page[(bucket / 2 % PAIRS_PER_PAGE) as usize].0[(bucket % 2) as usize]
    }

    #[inline(always)]
    fn bucket_mut(&mut self, bucket: u32) -> &mut Bucket {
        let page = &mut self.pages[(bucket / BUCKETS_PER_PAGE) as usize];
        &mut page[(bucket / 2 % PAIRS_PER_PAGE) as usize].0[(bucket % 2) as usize]
    }

    /// One bit for every entry with this tag; also for those after the last one, if the tag is 0.
    #[inline(always)]
    fn matches(&self, entries: &Bucket, tag: u32) -> u32 {
        equal(entries, !self.index_mask, tag)
    }

    /// Adds an entry that is known to be new.
    #[inline(always)]
    fn add(&mut self, home: Home, index: u32) {
        let mut bucket = home.bucket;
        loop {
            let entries = self.bucket_mut(bucket);
            if has_room(entries) {
                entries[first_free(entries)] = home.tag_in(bucket) | (index + 1);
                return;
            }
            bucket = self.after(bucket, home.bucket);
        }
    }

    /// Makes the table as large as its pages are by now, twice as large as it was: what was in a bucket is in one of two now. Entries that were astray
    /// are taken out; their indices.
    fn double(&mut self) -> Vec<u32> {
        let mut astray = Vec::new();
        let old_mask = self.index_mask;
        self.index_mask = 2 * old_mask + 1;
        // From the end: there is always room behind what is still to be moved.
        for bucket in (0..self.buckets).rev() {
            let entries = *self.bucket(bucket);
            let mut halves = Pair([[0; SLOTS]; 2]);
            let mut used = [0; 2];
            for entry in entries.into_iter().take_while(|&entry| entry != 0) {
                let index = entry & old_mask;
                if entry & ASTRAY != 0 {
                    astray.push(index - 1);
                    continue;
                }
                // The highest bit of the tag says which half.
                let half = (entry >> 30) as usize;
                let tag = (entry & !old_mask) << 1 & !ASTRAY;
                halves.0[half][used[half] % SLOTS] = tag | index;
                used[half] += 1;
            }
            let page = &mut self.pages[(bucket / PAIRS_PER_PAGE) as usize];
            page[(bucket % PAIRS_PER_PAGE) as usize] = halves;
        }
        self.buckets *= 2;
        astray
    }

    /// Where to look after `bucket`, for what belongs into `home`. There is always a bucket with room
    /// before this comes back to the first pair.
    #[inline(always)]
    fn after(&self, bucket: u32, home: u32) -> u32 {
        if bucket == home {
            return bucket ^ 1;
        }
        let next = if bucket == home ^ 1 {
            (bucket | 1) + 1
        } else {
            bucket + 1
        };
        if next == self.buckets { 0 } else { next }
    }

    /// The entry among those of a bucket that is the most likely to have this tag.
    #[inline(always)]
    fn candidate(&self, entries: &Bucket, tag: u32) -> Option<u32> {
        let matches = self.matches(entries, tag);
        if matches == 0 {
            return None;
        }
        let entry = entries[(matches.trailing_zeros() % SLOTS as u32) as usize];
        (entry & self.index_mask).checked_sub(1)
    }
}

/// States whose hash starts with the same bits.
pub(crate) struct Shard {
    layout: Arc<Layout>,
    store: Store,
    table: Table,
}

impl Shard {
    /// An empty shard; `number` says which.
    pub(crate) fn new(layout: Arc<Layout>, number: u32) -> Shard {
        let store = Store::new(&layout);
        let table = Table {
            pages: Vec::new(),
            buckets: 0,
            medium: 2 * SMALL + 2 * (number % SHARDS as u32 * SMALL / SHARDS as u32),
            index_mask: 0,
        };
        Shard {
            layout,
            store,
            table,
        }
    }

    /// Number of states.
    pub(crate) fn len(&self) -> u32 {
        self.store.len
    }

    /// How the states in here are packed.
    pub(crate) fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> u64 {
        let store: usize = self.store.pages.iter().map(Vec::capacity).sum();
        let table: usize = self.table.pages.iter().map(Vec::capacity).sum();
        (store + table * size_of::<Pair>()) as u64
    }

    /// Reads states, packed, one after the other.
    pub(crate) fn read(&self, range: Range<u32>, out: &mut Vec<u64>) {
        self.store.read_many(range, out);
    }

    /// Whether this state is here.
    pub(crate) fn contains(&self, hash: u64, state: &[u64]) -> bool {
        self.store.len > 0 && self.find(self.table.home(hash), state).is_ok()
    }

    /// A state with this hash will be looked for soon, in a shard that has some.
    pub(crate) fn expect(&self, hash: u64) {
        prefetch(self.table.bucket(self.table.home(hash).bucket));
    }

    /// Inserts a batch of records, each a hash and the words of a state.
    pub(crate) fn insert(&mut self, records: &[u64], budget: &Budget) -> Result<(), Full> {
        // Loops over words are unrolled for the common sizes.
        match self.store.words {
            1 => self.insert_words::<1>(records, budget),
            2 => self.insert_words::<2>(records, budget),
            3 => self.insert_words::<3>(records, budget),
            4 => self.insert_words::<4>(records, budget),
            _ => self.insert_words::<0>(records, budget),
        }
    }

    /// `W` is the number of words of a state, or 0 if it is not known when this is compiled.
    fn insert_words<const W: usize>(
        &mut self,
        records: &[u64],
        budget: &Budget,
    ) -> Result<(), Full> {
        let words = if W == 0 { self.store.words } else { W };
        let stride = words + 1;
        self.reserve(records.len() / stride, budget)?;
        for group in records.chunks(GROUP * stride) {
            // What is read here is probably in no cache, so it is asked for some time before it is
            // needed. First the buckets of all records.
            let mut homes = [Home::default(); GROUP];
            for (record, home) in group.chunks_exact(stride).zip(&mut homes) {
                *home = self.table.home(record[0]);
                prefetch(self.table.bucket(home.bucket));
            }
            // Then the states that entries there point to, or the other buckets of the pairs.
            let mut candidates = [0_u32; GROUP];
            let mut first = 0_u32;
            let mut overflown = 0_u32;
            let mut open = 0_u32;
            for (i, home) in homes[..group.len() / stride].iter().enumerate() {
                let entries = self.table.bucket(home.bucket);
                if let Some(candidate) = self.table.candidate(entries, home.tag) {
                    prefetch(self.store.first_byte(candidate));
                    candidates[i] = candidate;
                    first |= 1 << i;
                } else if has_room(entries) {
                    open |= 1 << i;
                } else {
                    prefetch(self.table.bucket(home.bucket ^ 1));
                    overflown |= 1 << i;
                }
            }
            let state = |i: usize| &group[i * stride + 1..(i + 1) * stride];
            let mut second = 0_u32;
            for i in bits(overflown) {
                let entries = self.table.bucket(homes[i].bucket ^ 1);
                if let Some(candidate) = self.table.candidate(entries, homes[i].tag | ASTRAY) {
                    prefetch(self.store.first_byte(candidate));
                    candidates[i] = candidate;
                    second |= 1 << i;
                } else {
                    open |= 1 << i;
                }
            }
            for i in bits(first).chain(bits(second)) {
                if !self.store.equals(candidates[i], state(i)) {
                    open |= 1 << i;
                }
            }
            // What was not found at once is probably new.
            for i in bits(open) {
                if let Err((bucket, slot)) = self.find(homes[i], state(i)) {
                    let entry = homes[i].tag_in(bucket) | (self.store.len + 1);
                    self.store.push(state(i), budget)?;
                    self.table.bucket_mut(bucket)[slot] = entry;
                }
            }
        }
        Ok(())
    }

    /// The index of a state, or the place for its entry.
    #[inline(always)]
    fn find(&self, home: Home, state: &[u64]) -> Result<u32, (u32, usize)> {
        let mut bucket = home.bucket;
        loop {
            let entries = self.table.bucket(bucket);
            let mut matches = self.table.matches(entries, home.tag_in(bucket));
            while matches != 0 {
                let entry = entries[(matches.trailing_zeros() % SLOTS as u32) as usize];
                if entry == 0 {
                    break;
                }
                let index = (entry & self.table.index_mask) - 1;
                if self.store.equals(index, state) {
                    return Ok(index);
                }
                matches &= matches - 1;
            }
            if has_room(entries) {
                return Err((bucket, first_free(entries)));
            }
            bucket = self.table.after(bucket, home.bucket);
        }
    }

    /// Makes room for that many new states in the table.
    fn reserve(&mut self, new: usize, budget: &Budget) -> Result<(), Full> {
        let need = u64::from(self.store.len) + new as u64;
        if need <= Table::room(u64::from(self.table.buckets)) {
            return Ok(());
        }
        self.grow_table(need, budget)
    }

    /// Enlarges the table: to the double, again and again, but for one growth (see `Table::medium`) after which all states are entered anew:
    /// the store has all that is needed for it.
    #[cold]
    fn grow_table(&mut self, need: u64, budget: &Budget) -> Result<(), Full> {
        let medium = u64::from(self.table.medium);
        while Table::room(u64::from(self.table.buckets)) < need {
            let mut buckets = u64::from(self.table.buckets);
            let doubles = buckets != 0 && buckets != u64::from(SMALL);
            buckets = match buckets {
                0 if need <= Table::room(u64::from(SMALL)) => 2,
                0 => medium,
                _ if doubles => 2 * buckets,
                _ => medium,
            };
            // 28 bits of index leave 3 for the tag; in all shards that is 4 billion states.
            if Table::room(buckets) >= 1 << 28 {
                return Err(Full);
            }
            self.add_pages(buckets as u32, budget)?;
            if doubles {
                let astray = self.table.double();
                self.enter(astray.into_iter());
            } else {
                let empty = Pair([[0; SLOTS]; 2]);
                for page in &mut self.table.pages {
                    page.fill(empty.clone());
                }
                self.table.buckets = buckets as u32;
                let room = Table::room(buckets);
                self.table.index_mask = u32::MAX >> room.leading_zeros().saturating_sub(32);
                self.enter(0..self.store.len);
            }
        }
        Ok(())
    }

    /// Gives the table pages for that many buckets; what is there stays. Without memory for that, nothing changes.
    fn add_pages(&mut self, buckets: u32, budget: &Budget) -> Result<(), Full> {
        let empty = Pair([[0; SLOTS]; 2]);
        // A first page that is smaller than a page is replaced, others are kept.
        let pages = &mut self.table.pages;
        let first = (buckets.min(BUCKETS_PER_PAGE) / 2) as usize;
        let first = match pages.first() {
            Some(page) if page.len() == first => None,
            _ => Some(budget.vector(first, empty.clone())?),
        };
        let mut more = Vec::new();
        for _ in pages.len().max(1)..buckets.div_ceil(BUCKETS_PER_PAGE) as usize {
            match budget.vector(PAIRS_PER_PAGE as usize, empty.clone()) {
                Ok(page) => more.push(page),
                Err(full) => {
                    first
                        .into_iter()
                        .chain(more)
                        .for_each(|page| budget.drop_vector(page));
                    return Err(full);
                }
            }
        }
        if let Some(mut first) = first {
            match pages.first_mut() {
                Some(old) => {
                    first[..old.len()].clone_from_slice(old);
                    budget.drop_vector(std::mem::replace(old, first));
                }
                None => pages.push(first),
            }
        }
        pages.append(&mut more);
        Ok(())
    }

    /// Adds entries for states that have none.
    fn enter(&mut self, indices: impl Iterator<Item = u32>) {
        let mut state = vec![0; self.store.words];
        for index in indices {
            self.store.read(index, &mut state);
            let home = self.table.home(hash_of(self.layout.key(&state)));
            self.table.add(home, index);
        }
    }

    /// Packs all states anew; the table stays as it is. If there is no memory for that, nothing changes.
    pub(crate) fn repack(&mut self, layout: &Arc<Layout>, budget: &Budget) -> Result<(), Full> {
        let mut store = Store::new(layout);
        let mut old = vec![0; self.store.words];
        let mut new = vec![0; store.words];
        let conversion = self.layout.conversion(layout);
        for index in 0..self.store.len {
            self.store.read(index, &mut old);
            conversion.convert(&old, &mut new);
            if let Err(full) = store.push(&new, budget) {
                store
                    .pages
                    .into_iter()
                    .for_each(|page| budget.drop_vector(page));
                return Err(full);
            }
        }
        let old = std::mem::replace(&mut self.store, store);
        old.pages
            .into_iter()
            .for_each(|page| budget.drop_vector(page));
        self.layout = Arc::clone(layout);
        Ok(())
    }

    /// Raises `bits` to the bits that the numbers of every component need.
    pub(crate) fn measure(&self, bits: &mut [u32]) {
        // What is a one in any number needs its bit: no need to look at numbers one by one.
        let mut ones = vec![0; self.store.words];
        let mut state = vec![0; self.store.words];
        for index in 0..self.store.len {
            self.store.read(index, &mut state);
            for (ones, word) in ones.iter_mut().zip(&state) {
                *ones |= word;
            }
        }
        let mut row = vec![0; bits.len()];
        self.layout.unpack(&ones, &mut row);
        for (bits, &ones) in bits.iter_mut().zip(&row) {
            *bits = bits_of(ones).max(*bits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn record(layout: &Layout, row: &[u32], hash: impl Fn(u64) -> u64) -> Vec<u64> {
        let mut words = vec![0; layout.words()];
        let key = layout.pack(row, &mut words).unwrap();
        [&[hash(hash_of(key))], &words[..]].concat()
    }

    /// Rows that differ, with many repetitions.
    fn rows(count: u32, width: usize) -> impl Iterator<Item = Vec<u32>> {
        (0..count).map(move |i| {
            let number = i.wrapping_mul(0x9e37_79b9) >> 16;
            (0..width as u32)
                .map(|component| (number >> (component % 16)) & 0xff)
                .collect()
        })
    }

    #[test]
    fn states_are_inserted_once() {
        for width in [1, 2, 9, 20, 40, 70] {
            let layout = Arc::new(Layout::new(&vec![8; width]));
            let budget = Budget::new(None, None);
            let mut shard = Shard::new(Arc::clone(&layout), width as u32);
            let mut expected = HashSet::new();
            let mut batch = Vec::new();
            for (i, row) in rows(60_000, width).enumerate() {
                batch.extend(record(&layout, &row, |hash| hash));
                expected.insert(row);
                if i % 97 == 0 {
                    shard.insert(&batch, &budget).unwrap();
                    batch.clear();
                    assert_eq!(shard.len() as usize, expected.len());
                }
            }
            shard.insert(&batch, &budget).unwrap();
            let mut words = Vec::new();
            shard.read(0..shard.len(), &mut words);
            let mut row = vec![0; width];
            let stored: HashSet<Vec<u32>> = words
                .chunks_exact(layout.words())
                .map(|words| {
                    layout.unpack(words, &mut row);
                    row.clone()
                })
                .collect();
            assert_eq!(stored, expected);

            // In another packing, everything is where it was.
            let wide = Arc::new(Layout::new(&vec![11; width]));
            shard.repack(&wide, &budget).unwrap();
            for row in &expected {
                let record = record(&wide, row, |hash| hash);
                assert!(shard.contains(record[0], &record[1..]));
            }
            let unknown = record(&wide, &vec![1025; width], |hash| hash);
            assert!(!shard.contains(unknown[0], &unknown[1..]));
        }
    }

    /// Exactness must not rest on hashes: here nearly all of them are equal, and so are the tags.
    #[test]
    fn equal_hashes_are_no_problem() {
        for bits_left in [0, 1, 3] {
            let layout = Arc::new(Layout::new(&[8, 8, 8]));
            let budget = Budget::new(None, None);
            let mut shard = Shard::new(Arc::clone(&layout), 0);
            // The table must not grow, because it would take the real hashes.
            shard.reserve(5000, &budget).unwrap();
            let poor = |hash: u64| hash & ((1 << bits_left) - 1);
            let mut expected = HashSet::new();
            for row in rows(2000, 3) {
                shard.insert(&record(&layout, &row, poor), &budget).unwrap();
                expected.insert(row);
                assert_eq!(shard.len() as usize, expected.len());
            }
            for row in &expected {
                let record = record(&layout, row, poor);
                assert!(shard.contains(record[0], &record[1..]));
            }
        }
    }

    #[test]
    fn without_memory_a_shard_stays_as_it_is() {
        let layout = Arc::new(Layout::new(&[16, 16]));
        let mut shard = Shard::new(Arc::clone(&layout), 0);
        let plenty = Budget::new(None, None);
        let insert = |shard: &mut Shard, range: Range<u32>, budget: &Budget| {
            let records = range.flat_map(|i| record(&layout, &[i, i ^ 5], |hash| hash));
            shard.insert(&records.collect::<Vec<_>>(), budget)
        };
        insert(&mut shard, 0..3000, &plenty).unwrap();
        let nothing = Budget::new(Some(0), None);
        assert_eq!(insert(&mut shard, 3000..60_000, &nothing), Err(Full));
        let wide = Arc::new(Layout::new(&[32, 32]));
        assert_eq!(shard.repack(&wide, &nothing), Err(Full));
        for i in 0..3000 {
            let record = record(&layout, &[i, i ^ 5], |hash| hash);
            assert!(shard.contains(record[0], &record[1..]));
        }
        insert(&mut shard, 0..60_000, &plenty).unwrap();
        assert_eq!(shard.len(), 60_000);
    }
}
