//! Groups of rows with equal keys, found by a hash table.
//!
//! A batch of keys is hashed, then the buckets of many rows are loaded, then the keys of their groups are compared: vectorized primitives, as in
//! MonetDB/X100 (P. Boncz, M. Zukowski, N. Nes, CIDR 2005). No load waits for another row's, so that the processor has many cache misses in flight. The key of a
//! group lies in one place, word beside word, as a comparison needs all of it: M. Zukowski, N. Nes and P. Boncz, *DSM vs. NSM: CPU performance tradeoffs in
//! block-oriented query processing*, DaMoN 2008. A bucket is a cache line with the numbers of eight groups and the upper halves of their hashes, which are compared before a key is
//! touched. The upper bits of a hash number its bucket, so that a table grows in one pass along its buckets, without a look at the keys.

mod buckets;
mod hash;
mod key_rows;
mod text_arena;
mod touch;

use std::ops::Range;

pub use self::key_rows::{GroupLayout, KeyRows, TextBuffers};

use self::buckets::{ABSENT, Buckets, Probe};
use self::key_rows::{is_long, long_text};
use self::text_arena::TextArena;
use self::touch::touch;
use crate::joins::NO_KEY;

/// A table has no more groups: half of an entry is the number of one, and what numbers a bucket is in the other half.
pub const GROUPS_MAX: usize = 1 << 31;
/// Rows whose buckets are loaded before the first of their groups is looked at.
const ROWS_AHEAD: usize = 128;
/// A number of words or texts that is not known when the code is compiled.
const ANY: usize = usize::MAX;

/// Numbers the distinct keys of rows, in the order in which they come.
#[derive(Debug)]
pub struct GroupTable {
    layout: GroupLayout,
    buckets: Buckets,
    /// The words of the keys, group by group.
    keys: Vec<u64>,
    /// One for each text of a key.
    texts: Vec<TextArena>,
    group_count: usize,
}

/// The keys of all groups.
#[derive(Debug)]
pub struct GroupKeys {
    pub layout: GroupLayout,
    /// The words of the keys, group by group.
    pub words: Vec<u64>,
    /// What the views of long texts point into, for each text of a key.
    pub blocks: Vec<Vec<Vec<u8>>>,
    pub group_count: usize,
}

impl GroupKeys {
    /// A word of some groups.
    ///
    /// # Panics
    ///
    /// If keys have no word of that number, or if there are not so many groups.
    pub fn word(
        &self,
        word: usize,
        groups: Range<usize>,
    ) -> impl ExactSizeIterator<Item = u64> + Clone {
        let key_words = self.layout.words();
        assert!(word < key_words, "keys have {key_words} words");
        let words = &self.words[groups.start * key_words..groups.end * key_words];
        words.iter().skip(word).step_by(key_words).copied()
    }

    /// The views of the texts of number `text` of some groups.
    pub fn views(
        &self,
        text: usize,
        groups: Range<usize>,
    ) -> impl ExactSizeIterator<Item = u128> + Clone {
        let word = self.layout.fixed_words + 2 * text;
        let heads = self.word(word, groups.clone());
        let halves = heads.zip(self.word(word + 1, groups));
        halves.map(|(head, tail)| u128::from(head) | u128::from(tail) << 64)
    }
}

impl GroupTable {
    /// # Panics
    ///
    /// If keys have no words.
    pub fn new(layout: GroupLayout) -> Self {
        assert!(layout.words() > 0, "keys have words");
        Self {
            layout,
            buckets: Buckets::default(),
            keys: Vec::new(),
            texts: (0..layout.text_count)
                .map(|_| TextArena::default())
                .collect(),
            group_count: 0,
        }
    }

    pub fn group_count(&self) -> usize {
        self.group_count
    }

    /// What the table has allocated.
    pub fn allocated_bytes(&self) -> usize {
        let keys = self.keys.capacity() * size_of::<u64>();
        let texts = self
            .texts
            .iter()
            .map(TextArena::allocated_bytes)
            .sum::<usize>();
        self.buckets.allocated_bytes() + keys + texts
    }

    /// The keys of the groups, by their numbers.
    pub fn into_keys(self) -> GroupKeys {
        GroupKeys {
            layout: self.layout,
            words: self.keys,
            blocks: self.texts.into_iter().map(TextArena::into_blocks).collect(),
            group_count: self.group_count,
        }
    }

    /// Appends the group of each row to `groups`. The rows have been hashed, always with the same seed; `buffers` are those of each text.
    ///
    /// # Panics
    ///
    /// If there are more than [`GROUPS_MAX`] groups.
    pub fn find(&mut self, rows: &KeyRows, buffers: &[TextBuffers<'_>], groups: &mut Vec<usize>) {
        groups.reserve(rows.row_count());
        // Most keys have few words, which are compared without a loop then.
        match (self.layout.fixed_words, self.layout.text_count) {
            (1, 0) => self.find_shaped::<1, 0>(rows, buffers, groups),
            (2, 0) => self.find_shaped::<2, 0>(rows, buffers, groups),
            (3, 0) => self.find_shaped::<3, 0>(rows, buffers, groups),
            (0, 1) => self.find_shaped::<0, 1>(rows, buffers, groups),
            (1, 1) => self.find_shaped::<1, 1>(rows, buffers, groups),
            (2, 1) => self.find_shaped::<2, 1>(rows, buffers, groups),
            (_, 0) => self.find_shaped::<ANY, 0>(rows, buffers, groups),
            _ => self.find_shaped::<ANY, ANY>(rows, buffers, groups),
        }
    }

    /// Appends the group of each row to `groups`, [`NO_KEY`] for one whose key no group has. Otherwise as [`Self::find`].
    pub fn look_up(&self, rows: &KeyRows, buffers: &[TextBuffers<'_>], groups: &mut Vec<u32>) {
        groups.reserve(rows.row_count());
        match (self.layout.fixed_words, self.layout.text_count) {
            (1, 0) => self.look_up_shaped::<1, 0>(rows, buffers, groups),
            (2, 0) => self.look_up_shaped::<2, 0>(rows, buffers, groups),
            (0, 1) => self.look_up_shaped::<0, 1>(rows, buffers, groups),
            _ => self.look_up_shaped::<ANY, ANY>(rows, buffers, groups),
        }
    }

    fn look_up_shaped<const FIXED: usize, const TEXTS: usize>(
        &self,
        rows: &KeyRows,
        buffers: &[TextBuffers<'_>],
        groups: &mut Vec<u32>,
    ) {
        let mut first = 0;
        let mut candidates = Candidates::default();
        for hashes in rows.hashes().chunks(ROWS_AHEAD) {
            let keys = self.compared::<FIXED, TEXTS>(rows, buffers, first, hashes, &mut candidates);
            for (row, hash) in hashes.iter().enumerate() {
                groups.push(match candidates.found(row) {
                    Some(group) => group as u32,
                    None if candidates.absent[row] => NO_KEY,
                    None => {
                        let key = keys.row(row, self.layout.words());
                        let probe = &mut self.buckets.probe(*hash);
                        let group = self.probed::<FIXED, TEXTS>(probe, &key);
                        group.map_or(NO_KEY, |group| group as u32)
                    }
                });
            }
            first += hashes.len();
        }
    }

    fn find_shaped<const FIXED: usize, const TEXTS: usize>(
        &mut self,
        rows: &KeyRows,
        buffers: &[TextBuffers<'_>],
        groups: &mut Vec<usize>,
    ) {
        let mut first = 0;
        let mut candidates = Candidates::default();
        for hashes in rows.hashes().chunks(ROWS_AHEAD) {
            let keys = self.compared::<FIXED, TEXTS>(rows, buffers, first, hashes, &mut candidates);
            for (row, hash) in hashes.iter().enumerate() {
                // A group keeps its number, so that a candidate stays right when groups have been added meanwhile.
                groups.push(match candidates.found(row) {
                    Some(group) => group,
                    None => {
                        let key = keys.row(row, self.layout.words());
                        self.find_or_add::<FIXED, TEXTS>(*hash, &key)
                    }
                });
            }
            first += hashes.len();
        }
    }

    /// The candidates of the rows from `first` on, which have these hashes, compared with the keys, which it returns.
    #[inline(always)]
    fn compared<'k, const FIXED: usize, const TEXTS: usize>(
        &self,
        rows: &'k KeyRows,
        buffers: &'k [TextBuffers<'k>],
        first: usize,
        hashes: &[u64],
        candidates: &mut Candidates,
    ) -> KeyBatch<'k> {
        candidates.load(hashes, &self.buckets);
        let keys = KeyBatch {
            words: rows.words_from(first),
            buffers,
        };
        self.compare::<FIXED, TEXTS>(&keys, hashes.len(), candidates);
        keys
    }

    /// Compares the keys of some rows with those of their candidates, word by word for all rows: what is not in a cache is on its way for
    /// many rows at once.
    #[inline(always)]
    fn compare<const FIXED: usize, const TEXTS: usize>(
        &self,
        keys: &KeyBatch<'_>,
        row_count: usize,
        candidates: &mut Candidates,
    ) {
        if self.group_count == 0 {
            return;
        }
        let fixed_words = known_or(FIXED, self.layout.fixed_words);
        let text_count = known_or(TEXTS, self.layout.text_count);
        let words = fixed_words + 2 * text_count;
        let rows = keys.words.chunks_exact(words).take(row_count);
        let Candidates {
            groups,
            differences,
            ..
        } = candidates;
        let known = groups[..row_count].iter();
        touch(known.map(|group| self.keys[*group as usize * words]));
        for ((row, group), difference) in rows.zip(&*groups).zip(&mut *differences) {
            let known = &self.keys[*group as usize * words..][..words];
            for word in 0..fixed_words {
                *difference |= known[word] ^ row[word];
            }
            for text in 0..text_count {
                let (head, tail) = (fixed_words + 2 * text, fixed_words + 2 * text + 1);
                // Of a long text the tail is its place, which is another one here.
                let differs = known[tail] ^ row[tail];
                let differs = if is_long(row[head]) { 0 } else { differs };
                *difference |= (known[head] ^ row[head]) | differs;
            }
        }
        for text in 0..text_count {
            self.compare_texts(text, keys, row_count, candidates);
        }
    }

    /// Compares the long texts of number `text`.
    fn compare_texts(
        &self,
        text: usize,
        keys: &KeyBatch<'_>,
        row_count: usize,
        candidates: &mut Candidates,
    ) {
        let words = self.layout.words();
        let head = self.layout.fixed_words + 2 * text;
        let rows = keys.words.chunks_exact(words).take(row_count);
        let texts = &self.texts[text];
        let mut found = [(0, &[][..]); ROWS_AHEAD];
        let mut found_count = 0;
        for (number, row) in rows.enumerate() {
            if let Some(group) = candidates.found(number)
                && let Some(text) = long_text(row[head], row[head + 1], &keys.buffers[text])
            {
                let place = self.keys[group * words + head + 1];
                found[found_count] = (number, texts.get(place, text.len()));
                found_count += 1;
            }
        }
        let found = &found[..found_count];
        touch(found.iter().map(|(_, known)| u64::from(known[0])));
        touch(
            found
                .iter()
                .map(|(_, known)| u64::from(known[known.len() - 1])),
        );
        for (number, known) in found {
            let row = &keys.words[number * words..][..words];
            let text = long_text(row[head], row[head + 1], &keys.buffers[text]);
            if text.is_none_or(|text| !hash::is_same_text(text, known)) {
                candidates.differences[*number] = 1;
            }
        }
    }

    #[inline(always)]
    fn has_key<const FIXED: usize, const TEXTS: usize>(
        &self,
        group: usize,
        key: &KeyRow<'_>,
    ) -> bool {
        let fixed_words = known_or(FIXED, self.layout.fixed_words);
        let text_count = known_or(TEXTS, self.layout.text_count);
        let words = fixed_words + 2 * text_count;
        let known = &self.keys[group * words..][..words];
        let row = &key.words[..words];
        if known[..fixed_words] != row[..fixed_words] {
            return false;
        }
        (0..text_count).all(|text| {
            let word = fixed_words + 2 * text;
            let (head, tail) = (row[word], row[word + 1]);
            known[word] == head
                && match long_text(head, tail, &key.buffers[text]) {
                    None => known[word + 1] == tail,
                    Some(bytes) => self.texts[text].get(known[word + 1], bytes.len()) == bytes,
                }
        })
    }

    /// The group with a key; `None` if there is none, and the probe is at a free entry.
    fn probed<const FIXED: usize, const TEXTS: usize>(
        &self,
        probe: &mut Probe,
        key: &KeyRow<'_>,
    ) -> Option<usize> {
        while let Some(group) = self.buckets.next(probe) {
            if self.has_key::<FIXED, TEXTS>(group, key) {
                return Some(group);
            }
        }
        None
    }

    fn find_or_add<const FIXED: usize, const TEXTS: usize>(
        &mut self,
        hash: u64,
        key: &KeyRow<'_>,
    ) -> usize {
        let mut probe = self.buckets.probe(hash);
        if let Some(group) = self.probed::<FIXED, TEXTS>(&mut probe, key) {
            return group;
        }
        let group = self.group_count;
        assert!(group < GROUPS_MAX, "groups have numbers of 31 bits");
        self.buckets.insert(&probe, group as u32);
        self.add(key);
        group
    }

    /// The key of a new group.
    fn add(&mut self, key: &KeyRow<'_>) {
        self.group_count += 1;
        let (fixed, texts) = key.words.split_at(self.layout.fixed_words);
        self.keys.extend_from_slice(fixed);
        let (texts, _) = texts.as_chunks::<2>();
        let texts = texts.iter().zip(key.buffers).zip(&mut self.texts);
        for ((&[head, tail], buffers), arena) in texts {
            let tail = match long_text(head, tail, buffers) {
                None => tail,
                Some(text) => arena.push(text),
            };
            self.keys.extend_from_slice(&[head, tail]);
        }
    }
}

/// The keys of some rows.
struct KeyBatch<'a> {
    words: &'a [u64],
    buffers: &'a [TextBuffers<'a>],
}

/// The key of one row.
struct KeyRow<'a> {
    words: &'a [u64],
    buffers: &'a [TextBuffers<'a>],
}

impl<'a> KeyBatch<'a> {
    fn row(&self, row: usize, words: usize) -> KeyRow<'a> {
        KeyRow {
            words: &self.words[row * words..][..words],
            buffers: self.buffers,
        }
    }
}

/// The groups that rows may be in, by the entries of their hashes.
struct Candidates {
    groups: [u32; ROWS_AHEAD],
    /// Not 0 where the row is not in the group.
    differences: [u64; ROWS_AHEAD],
    /// Whether the row is in no group at all.
    absent: [bool; ROWS_AHEAD],
}

impl Default for Candidates {
    fn default() -> Self {
        Self {
            groups: [0; ROWS_AHEAD],
            differences: [0; ROWS_AHEAD],
            absent: [false; ROWS_AHEAD],
        }
    }
}

impl Candidates {
    fn load(&mut self, hashes: &[u64], buckets: &Buckets) {
        buckets.candidates(hashes, &mut self.groups[..hashes.len()]);
        let rows = self.groups.iter_mut().zip(&mut self.differences);
        for ((group, difference), absent) in rows.zip(&mut self.absent) {
            *absent = *group == ABSENT;
            let is_candidate = *group != 0 && !*absent;
            *difference = u64::from(!is_candidate);
            *group = if is_candidate { *group - 1 } else { 0 };
        }
    }

    #[inline(always)]
    fn found(&self, row: usize) -> Option<usize> {
        (self.differences[row] == 0).then_some(self.groups[row] as usize)
    }
}

#[inline(always)]
fn known_or(known: usize, other: usize) -> usize {
    if known == ANY { other } else { known }
}

#[cfg(test)]
mod tests;
