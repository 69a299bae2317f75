//! Bytes of a small alphabet in as many bits as it needs: a few of them are the digits of one short word.
//!
//! Ten digits need 3.32 bits each. Alone in a code they take 4, by Huffman's 3.4, three of them in a word of 10 bits 3.33. A word is
//! undone by one look into a table, whatever the alphabet, and words of one column have one length, so any of them can be found.

use quire_codec::Corrupt;

use super::packed::{PackedBitReader, PackedBitWriter};

/// Most symbols of an alphabet: with more a byte has nothing to save.
const SYMBOLS_MAX: usize = 128;

/// Longest word: its table stays in the first-level cache.
const WORD_BITS_MAX: u32 = 11;

/// Words that a table has room for.
const TABLE_WORDS: usize = 1 << WORD_BITS_MAX;

/// Most symbols of a word: a table has them in eight bytes.
const WORD_SYMBOLS_MAX: usize = 8;

/// How many symbols a word has, and the bits that their values need.
#[derive(Clone, Copy)]
struct AlphabetWord {
    symbols: usize,
    bits: u32,
}

/// Bits of a word of so many symbols.
const fn word_bits(radix: usize, symbols: usize) -> u32 {
    let (mut values, mut count) = (1_usize, 0);
    while count < symbols {
        values *= radix;
        count += 1;
    }
    usize::BITS - (values - 1).leading_zeros()
}

impl AlphabetWord {
    /// The fewest bits for each symbol; of those the most symbols. What is stored hangs on this.
    const fn of(radix: usize) -> Self {
        let mut best = Self {
            symbols: 1,
            bits: word_bits(radix, 1),
        };
        let mut symbols = 2;
        while symbols <= WORD_SYMBOLS_MAX && word_bits(radix, symbols) <= WORD_BITS_MAX {
            let bits = word_bits(radix, symbols);
            if bits as usize * best.symbols <= best.bits as usize * symbols {
                best = Self { symbols, bits };
            }
            symbols += 1;
        }
        best
    }
}

/// The words of all alphabets, by the number of symbols.
static WORDS: [AlphabetWord; SYMBOLS_MAX + 1] = {
    let mut words = [AlphabetWord {
        symbols: 8,
        bits: 0,
    }; SYMBOLS_MAX + 1];
    let mut radix = 2;
    while radix <= SYMBOLS_MAX {
        words[radix] = AlphabetWord::of(radix);
        radix += 1;
    }
    words
};

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    pub(super) fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// The bytes, ascending.
    pub(super) fn bytes(&self) -> impl Iterator<Item = u8> {
        let has = |byte: &u8| self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1;
        (0..=u8::MAX).filter(has)
    }

    /// Bits that each of its bytes takes in words; none if there are too many of them.
    pub(super) fn symbol_bits(&self) -> Option<f32> {
        let word = WORDS.get(self.len())?;
        Some(word.bits as f32 / word.symbols as f32)
    }
}

/// Two bytes or more, of which texts consist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alphabet {
    symbols: Vec<u8>,
}

impl Alphabet {
    /// None if there are too few of them, or too many.
    pub(super) fn of(bytes: &ByteSet) -> Option<Self> {
        Self::new(bytes.bytes().collect())
    }

    /// From ascending symbols.
    pub(super) fn new(symbols: Vec<u8>) -> Option<Self> {
        let is_ascending = symbols.is_sorted_by(|left, right| left < right);
        let is_alphabet = is_ascending && (2..=SYMBOLS_MAX).contains(&symbols.len());
        is_alphabet.then_some(Self { symbols })
    }

    pub(super) fn symbols(&self) -> &[u8] {
        &self.symbols
    }

    fn word(&self) -> AlphabetWord {
        WORDS[self.symbols.len()]
    }

    /// Bits that `count` symbols take.
    pub(super) fn packed_bits(&self, count: usize) -> usize {
        let word = self.word();
        let rest = word_bits(self.symbols.len(), count % word.symbols);
        count / word.symbols * word.bits as usize + rest as usize
    }

    /// Appends bytes that are of the alphabet.
    pub(super) fn pack(&self, bytes: &[u8], packed: &mut PackedBitWriter) {
        let mut codes = [0_u8; 256];
        for (code, symbol) in self.symbols.iter().enumerate() {
            codes[usize::from(*symbol)] = code as u8;
        }
        let (radix, word) = (self.symbols.len() as u64, self.word());
        let value = |bytes: &[u8]| {
            let digits = bytes.iter().rev().map(|byte| codes[usize::from(*byte)]);
            digits.fold(0, |value, digit| value * radix + u64::from(digit))
        };
        let words = bytes.chunks_exact(word.symbols);
        let rest = words.remainder();
        // What is most common, so that its steps are known when this is compiled.
        match word.symbols {
            2 => packed.push_short(words.map(|bytes| value(&bytes[..2])), word.bits),
            3 => packed.push_short(words.map(|bytes| value(&bytes[..3])), word.bits),
            _ => packed.push_short(words.map(value), word.bits),
        }
        packed.push(value(rest), word_bits(self.symbols.len(), rest.len()));
    }

    /// The symbols of every word, the first in the lowest byte, and how many words there are.
    fn table(&self, word: AlphabetWord) -> (Box<[[u8; WORD_SYMBOLS_MAX]; TABLE_WORDS]>, usize) {
        let radix = self.symbols.len();
        let words = (0..word.symbols).fold(1, |words, _| words * radix);
        let mut table = Box::new([[self.symbols[0]; WORD_SYMBOLS_MAX]; TABLE_WORDS]);
        for start in (0..words).step_by(radix) {
            let higher = u64::from_le_bytes(table[start / radix]) << 8;
            for (entry, symbol) in table[start..].iter_mut().zip(&self.symbols) {
                *entry = (higher | u64::from(*symbol)).to_le_bytes();
            }
        }
        (table, words)
    }

    /// The next `count` symbols, and some bytes that mean nothing.
    pub(super) fn unpack(
        &self,
        count: usize,
        packed: &mut PackedBitReader<'_>,
    ) -> Result<Vec<u8>, Corrupt> {
        let word = self.word();
        let (table, words) = self.table(word);
        // Of every word eight bytes are written, of which the next overwrites those that are none.
        let mut bytes = vec![0; count + WORD_SYMBOLS_MAX];
        let (whole, rest) = (count / word.symbols, count % word.symbols);
        let (mut at, mut highest) = (0, 0);
        let mut put = |value: usize, symbols: usize| {
            highest = highest.max(value);
            let target = bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut);
            if let Some(target) = target {
                *target = table[value % TABLE_WORDS];
            }
            at += symbols;
        };
        packed.for_each_short(whole, word.bits, |value| put(value, word.symbols));
        put(
            packed.next(word_bits(self.symbols.len(), rest)) as usize,
            rest,
        );
        if highest < words {
            Ok(bytes)
        } else {
            Err(Corrupt::new("word of a packed text", 0))
        }
    }
}
