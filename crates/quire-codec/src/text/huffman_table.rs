//! A Huffman code of bytes that is kept, and strings that are coded with it one at a time: strings in the tuples of row tables, as
//! Westmann et al. have it (*The Implementation and Performance of Compressed Databases*, §3.2.2).
//!
//! Each of the 256 bytes has a word, of 1 to 15 bits. The table is their lengths, 4 bits each; the code is canonical ([`crate::huffman`]).
//!
//! The words of a string lie end to end, the highest bit of a byte first, and ones fill the last byte. That says where the string ends:
//! of 256 words at least one has 8 bits or more, the last word of a canonical code is the longest and all ones, so up to seven
//! ones are the beginning of that word and no word themselves. An end symbol would take a word in each string, 5 to 6 bits for strings
//! of 44 bytes, and a number of bits in use 3 bits; ones take nothing besides the rounding up that all three need.

use std::fmt;

use crate::Corrupt;
use crate::code_writer::CodeWriter;
use crate::huffman::CanonicalCode;

/// The longest word: its length takes 4 bits of the table.
const BITS_MAX: u32 = 15;
/// What an occurrence in the sample weighs. A byte that does not occur weighs 1, so that all of these together are worth less than one
/// occurrence.
const OCCURRENCE_WEIGHT: u64 = 256;
/// First bits of words that are looked up at once.
const LOOKUP_BITS: u32 = 12;
/// Words that a lookup finds at most.
const FOUND_MAX: u32 = 3;
/// Lookups from one load of 57 bits or more: three of short words, and one of a word of any length.
const LOOKUPS_A_LOAD: usize = 4;
/// Bytes that are written for a lookup, whatever it finds.
const WRITTEN_BYTES: usize = 4;

/// A Huffman code of the bytes of some strings.
///
/// ```
/// use quire_codec::text::HuffmanTable;
///
/// let table = HuffmanTable::train(&[b"furiously ironic deposits", b"carefully final packages"]);
/// let (mut codes, mut text) = (Vec::new(), Vec::new());
/// assert!(table.encode_if_shorter(b"ironic packages", &mut codes));
/// assert!(codes.len() <= 8);
/// table.decode(&codes, &mut text)?;
/// assert_eq!(text, b"ironic packages");
/// let again = HuffmanTable::from_bytes(&table.to_bytes())?;
/// assert_eq!(again, table);
/// # Ok::<(), quire_codec::Corrupt>(())
/// ```
#[derive(Clone)]
pub struct HuffmanTable {
    code: CanonicalCode,
    /// By byte: its word in the highest bits, and how many they are.
    words: Box<[(u16, u8); 256]>,
    /// Bits of the shortest word.
    shortest: u32,
    /// By the first bits: the words that are within them.
    found: Box<[FoundWords; 1 << LOOKUP_BITS]>,
}

impl PartialEq for HuffmanTable {
    fn eq(&self, other: &Self) -> bool {
        self.code.lengths() == other.code.lengths()
    }
}

impl Eq for HuffmanTable {}

impl fmt::Debug for HuffmanTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HuffmanTable")
            .field("lengths", &self.code.lengths())
            .finish_non_exhaustive()
    }
}

/// Up to [`FOUND_MAX`] words that some bits begin with: the bytes that they stand for from the lowest on, in 4 bits the sum of their
/// lengths, in the highest 4 how many they are. All is 0 where the first word is longer.
#[derive(Clone, Copy, Default)]
struct FoundWords(u32);

impl FoundWords {
    /// The words within the [`LOOKUP_BITS`] bits of `beginning`.
    fn new(code: &CanonicalCode, beginning: u32) -> Self {
        let (mut found, mut bits, mut count) = (0, 0, 0);
        while count < FOUND_MAX {
            let window = beginning << (u32::BITS - LOOKUP_BITS) << bits;
            let (byte, length) = word(code, window, 1);
            if bits + length > LOOKUP_BITS {
                break;
            }
            found |= u32::from(byte) << (8 * count);
            bits += length;
            count += 1;
        }
        Self(found | bits << 24 | count << 28)
    }

    #[inline(always)]
    fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The bytes; what follows them is to be overwritten.
    #[inline(always)]
    fn bytes(self) -> [u8; WRITTEN_BYTES] {
        self.0.to_le_bytes()
    }

    #[inline(always)]
    fn first(self) -> u8 {
        self.0 as u8
    }

    #[inline(always)]
    fn bits(self) -> u32 {
        self.0 >> 24 & 15
    }

    #[inline(always)]
    fn count(self) -> usize {
        (self.0 >> 28) as usize
    }
}

/// The byte of the word that `window` begins with, which has at least `shortest` bits, and the bits of the word.
#[inline]
fn word(code: &CanonicalCode, window: u32, shortest: u32) -> (u8, u32) {
    let (place, bits) = code.look_up(window, shortest);
    let symbol = code.symbols().get(place as usize);
    (symbol.copied().unwrap_or_default() as u8, bits)
}

/// What has been decoded.
struct DecodedText<'a> {
    /// The text, and at least [`WRITTEN_BYTES`] after it.
    room: &'a mut [u8],
    end: usize,
}

impl DecodedText<'_> {
    /// Writes the first `count` of `bytes`.
    #[inline(always)]
    fn push(&mut self, bytes: [u8; WRITTEN_BYTES], count: usize) {
        // There is room: no word is shorter than the shortest.
        let behind = self.room.get_mut(self.end..);
        if let Some(place) = behind.and_then(<[u8]>::first_chunk_mut) {
            *place = bytes;
        }
        self.end += count;
    }
}

impl HuffmanTable {
    /// The table for strings like those of `sample`: the same sample gives the same table. Every string can be coded.
    #[must_use]
    pub fn train(sample: &[&[u8]]) -> Self {
        let mut weights = [1; 256];
        for &byte in sample.iter().copied().flatten() {
            weights[usize::from(byte)] += OCCURRENCE_WEIGHT;
        }
        Self::of(CanonicalCode::of_weights(&weights, BITS_MAX))
    }

    /// Reads what [`Self::to_bytes`] has written.
    ///
    /// # Errors
    /// Other than 128 bytes, and lengths that are not those of a code in which every bit pattern stands for something.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Corrupt> {
        if bytes.len() != 128 {
            let what = format!("Huffman table has {} bytes, not 128", bytes.len());
            return Err(Corrupt::new(what, 0));
        }
        let lengths = bytes.iter().flat_map(|pair| [pair & 15, pair >> 4]);
        match CanonicalCode::new(lengths.collect()) {
            Some(code) => Ok(Self::of(code)),
            None => Err(Corrupt::new("lengths are no Huffman code", 0)),
        }
    }

    /// Of the code of all bytes, with words of at most [`BITS_MAX`] bits.
    fn of(code: CanonicalCode) -> Self {
        let mut words = Box::new([(0, 0); 256]);
        for ((target, word), &bits) in words.iter_mut().zip(code.words()).zip(code.lengths()) {
            *target = ((word << (16 - u32::from(bits))) as u16, bits);
        }
        let mut found = Box::new([FoundWords::default(); 1 << LOOKUP_BITS]);
        for (beginning, target) in (0..).zip(found.iter_mut()) {
            *target = FoundWords::new(&code, beginning);
        }
        let shortest = code.lengths().iter().copied().min().unwrap_or(1);
        Self {
            words,
            shortest: shortest.into(),
            found,
            code,
        }
    }

    /// The table as bytes: the bits of the word of each byte, of two in one byte, of the lower in the low four bits. 128 bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let pairs = self.code.lengths().chunks(2);
        pairs
            .map(|pair| pair.iter().rev().fold(0, |byte, bits| byte << 4 | bits))
            .collect()
    }

    /// Appends the codes of `value` to `codes`, if they are fewer than its bytes; says whether they are.
    pub fn encode_if_shorter(&self, value: &[u8], codes: &mut Vec<u8>) -> bool {
        let words = value.iter().map(|&byte| self.words[usize::from(byte)]);
        let bit_count: usize = words.clone().map(|(_, bits)| usize::from(bits)).sum();
        if bit_count.div_ceil(8) >= value.len() {
            return false;
        }
        let mut writer = CodeWriter::new(codes);
        for (word, bits) in words {
            writer.push(u64::from(word) << 48, bits.into());
        }
        writer.finish_with_ones();
        true
    }

    /// Appends the string that `codes` stand for, which [`Self::encode_if_shorter`] has written. A byte of them stands for at most 8.
    ///
    /// # Errors
    /// Bits at the end that are neither a word nor up to seven ones; `text` is then as it was.
    #[inline]
    pub fn decode(&self, codes: &[u8], text: &mut Vec<u8>) -> Result<(), Corrupt> {
        let start = text.len();
        let count_max = 8 * codes.len() / self.shortest.max(1) as usize;
        text.resize(start + count_max + WRITTEN_BYTES, 0);
        let mut decoded = DecodedText {
            room: text,
            end: start,
        };
        let bit = self.decode_loads(codes, &mut decoded);
        let result = self.decode_rest(codes, bit, &mut decoded);
        let end = decoded.end;
        text.truncate(if result.is_ok() { end } else { start });
        result
    }

    /// Decodes as long as eight bytes can be loaded; returns the first bit behind the words.
    #[inline]
    fn decode_loads(&self, codes: &[u8], decoded: &mut DecodedText<'_>) -> usize {
        let mut bit = 0;
        while let Some(&loaded) = codes.get(bit / 8..).and_then(<[u8]>::first_chunk::<8>) {
            let mut window = u64::from_be_bytes(loaded) << (bit % 8);
            for _ in 0..LOOKUPS_A_LOAD {
                let found = self.found[(window >> (u64::BITS - LOOKUP_BITS)) as usize];
                if found.is_none() {
                    let (byte, bits) = self.long_word(window);
                    decoded.push([byte; WRITTEN_BYTES], 1);
                    bit += bits as usize;
                    // There may be too few bits left for another.
                    break;
                }
                decoded.push(found.bytes(), found.count());
                window <<= found.bits();
                bit += found.bits() as usize;
            }
        }
        bit
    }

    /// Decodes the bits from `bit` on, of less than eight bytes.
    #[inline]
    fn decode_rest(
        &self,
        codes: &[u8],
        bit: usize,
        decoded: &mut DecodedText<'_>,
    ) -> Result<(), Corrupt> {
        let rest = codes.get(bit / 8..).unwrap_or_default();
        // Ones follow the last byte.
        let mut loaded = [0xFF; 8];
        for (target, byte) in loaded.iter_mut().zip(rest) {
            *target = *byte;
        }
        let skipped = (bit % 8) as u32;
        let mut left = (8 * rest.len() as u32).saturating_sub(skipped);
        let mut window = !(!u64::from_be_bytes(loaded) << skipped);
        while left >= 8 || window.leading_ones() < left {
            let found = self.found[(window >> (u64::BITS - LOOKUP_BITS)) as usize];
            let bits = if found.is_none() {
                let (byte, bits) = self.long_word(window);
                decoded.push([byte; WRITTEN_BYTES], 1);
                bits
            } else if left >= LOOKUP_BITS {
                decoded.push(found.bytes(), found.count());
                found.bits()
            } else {
                // The others may be made of bits that are not there.
                decoded.push(found.bytes(), 1);
                u32::from(self.words[usize::from(found.first())].1)
            };
            left = left
                .checked_sub(bits)
                .ok_or_else(|| Corrupt::new("bits at the end are no word", bit / 8))?;
            window = !(!window << bits);
        }
        Ok(())
    }

    /// The byte of a word of more than [`LOOKUP_BITS`] bits, and its bits.
    #[cold]
    fn long_word(&self, window: u64) -> (u8, u32) {
        word(&self.code, (window >> 32) as u32, LOOKUP_BITS + 1)
    }
}
