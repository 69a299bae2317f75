//! The keys of a batch, packed into words.

use super::hash;
use super::touch::touch;

/// A text of so many bytes is in its two words; the words of a longer one have its length, its first four bytes and its place.
const INLINE_BYTES: usize = 12;

/// How many words a key has: those of fixed width first, then two for each text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupLayout {
    pub fixed_words: usize,
    pub text_count: usize,
}

impl GroupLayout {
    /// Words of a key.
    pub fn words(&self) -> usize {
        self.fixed_words + 2 * self.text_count
    }
}

/// The bytes that the long texts of a column lie in.
pub type TextBuffers<'a> = Vec<&'a [u8]>;

/// The packed keys of the rows of a batch, row by row, and their hashes.
///
/// A text has Arrow's form of a view: its length in the lower half of the first word. Up to twelve bytes follow it, padded with zeros;
/// of a longer text its first four bytes, the number of a buffer and the offset in it.
#[derive(Clone, Debug)]
pub struct KeyRows {
    layout: GroupLayout,
    words: Vec<u64>,
    hashes: Vec<u64>,
}

impl KeyRows {
    pub fn new(layout: GroupLayout) -> Self {
        Self {
            layout,
            words: Vec::new(),
            hashes: Vec::new(),
        }
    }

    /// Begins a batch of so many rows, whose words are all 0.
    pub fn begin(&mut self, row_count: usize) {
        self.words.clear();
        self.words.resize(row_count * self.layout.words(), 0);
        self.hashes.clear();
        self.hashes.resize(row_count, 0);
    }

    pub fn row_count(&self) -> usize {
        self.hashes.len()
    }

    /// Changes a word of each row.
    ///
    /// # Panics
    ///
    /// If keys have no word of that number.
    #[inline]
    pub fn update<V>(
        &mut self,
        word: usize,
        values: impl Iterator<Item = V>,
        change: impl Fn(&mut u64, V),
    ) {
        let key_words = self.layout.words();
        assert!(word < key_words, "keys have {key_words} words");
        let words = self.words.get_mut(word..).unwrap_or_default().iter_mut();
        for (word, value) in words.step_by(key_words).zip(values) {
            change(word, value);
        }
    }

    /// Puts the views of the texts of number `text` into the keys; those of NULLs must be 0.
    pub fn put_texts(&mut self, text: usize, views: impl Iterator<Item = u128> + Clone) {
        let word = self.layout.fixed_words + 2 * text;
        self.update(word, views.clone(), |word, view| *word = view as u64);
        self.update(word + 1, views, |word, view| *word = (view >> 64) as u64);
    }

    /// Computes the hashes, once all words are there. `buffers` are those of each text. A random `seed` keeps whoever chooses the keys from
    /// giving many of them one hash.
    pub fn hash(&mut self, seed: u64, buffers: &[TextBuffers<'_>]) {
        let GroupLayout { fixed_words, .. } = self.layout;
        let key_words = self.layout.words().max(1);
        let rows = self.words.chunks_exact(key_words);
        if buffers.is_empty() {
            for (hash, row) in self.hashes.iter_mut().zip(rows) {
                *hash = row.iter().fold(seed, |hash, word| hash::mix(hash, *word));
            }
            return;
        }
        for (text, buffers) in buffers.iter().enumerate() {
            let head = fixed_words + 2 * text;
            let long = rows
                .clone()
                .filter_map(|row| long_text(row[head], row[head + 1], buffers));
            touch(long.map(|text| u64::from(text[0])));
        }
        for (hash, row) in self.hashes.iter_mut().zip(rows) {
            let (fixed, texts) = row.split_at(fixed_words);
            let of_fixed = fixed.iter().fold(seed, |hash, word| hash::mix(hash, *word));
            let (texts, _) = texts.as_chunks::<2>();
            let texts = texts.iter().zip(buffers);
            *hash = texts.fold(of_fixed, |hash, (&[head, tail], buffers)| {
                let tail = match long_text(head, tail, buffers) {
                    None => tail,
                    Some(text) => hash::of_text(seed, text),
                };
                hash::mix(hash::mix(hash, head), tail)
            });
        }
    }

    /// The words of the rows from one on.
    pub(super) fn words_from(&self, row: usize) -> &[u64] {
        &self.words[row * self.layout.words()..]
    }

    pub(super) fn hashes(&self) -> &[u64] {
        &self.hashes
    }
}

/// Whether a text is too long for its two words, of which `head` is the first.
#[inline(always)]
pub(super) fn is_long(head: u64) -> bool {
    head as u32 as usize > INLINE_BYTES
}

/// The text of two words, if it is too long for them.
#[inline(always)]
pub(super) fn long_text<'a>(head: u64, tail: u64, buffers: &[&'a [u8]]) -> Option<&'a [u8]> {
    if !is_long(head) {
        return None;
    }
    let len = head as u32 as usize;
    let (buffer, offset) = (tail as u32 as usize, (tail >> 32) as usize);
    Some(&buffers[buffer][offset..offset + len])
}
