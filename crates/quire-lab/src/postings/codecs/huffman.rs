//! A semi-static Huffman code over whole gaps, as the paper's `shuff`: one pass counts how often each gap
//! occurs, a second writes it with a code word of a length to match.
//!
//! As in A. Moffat, A. Turpin, *On the implementation of minimum redundancy prefix codes*, IEEE Transactions on
//! Communications 45(10), 1997, the code is canonical, so that lengths alone describe it, and a table of the
//! first bits decodes short words at once. The prelude is simpler than the one they describe later (48(4), 2000).
//!
//! | field | size |
//! |---|---|
//! | number of different gaps | 4 bytes, little endian |
//! | for each, ascending: difference from the one before (from -1 for the first) | Elias gamma |
//! | and the length of its code word, if there are at least two | 5 bits |
//! | the code words of the list, none if there is only one different gap | 1 to 31 bits each |
//! | bits of 0 up to a whole byte | |
//!
//! Bits fill bytes from the highest, numbers are written highest bit first.

use super::{GAPS_MAX, GapsError, PostingsCodec};
use quire_codec::huffman::{CanonicalCode, WORD_BITS_MAX};
use quire_codec::{Corrupt, ImageCursor};

/// The Huffman codec. It keeps no state: each list carries its code.
#[derive(Clone, Copy, Debug, Default)]
pub struct SemiStaticHuffman;

const LENGTH_BITS: u32 = 5;
/// Code words up to this length are decoded by one look-up.
const TABLE_BITS: u32 = 11;
/// Gaps decoded from one load of bits: so many words of the table, and a look-up behind them, fit into 57.
const GAPS_A_LOAD: usize = 4;

impl PostingsCodec for SemiStaticHuffman {
    fn name(&self) -> &'static str {
        "huffman"
    }

    fn encode(&self, gaps: &[u32], payload: &mut Vec<u8>) -> Result<(), GapsError> {
        let count = gaps.len();
        if count > GAPS_MAX {
            return Err(GapsError::TooMany { count });
        }
        let (different, frequencies) = frequencies(gaps);
        payload.extend_from_slice(&(different.len() as u32).to_le_bytes());
        let mut writer = HuffmanBitWriter::default();
        let code = match different.len() {
            0 | 1 => None,
            _ => Some(CanonicalCode::of_weights(&frequencies, WORD_BITS_MAX)),
        };
        let mut before = 0;
        for (index, &gap) in different.iter().enumerate() {
            writer.gamma(u64::from(gap) + 1 - before);
            before = u64::from(gap) + 1;
            if let Some(code) = &code {
                writer.write(code.lengths()[index].into(), LENGTH_BITS);
            }
        }
        if let Some(code) = &code {
            let (words, lengths) = (code.words(), code.lengths());
            let places = GapSymbolIndex::new(&different);
            for &gap in gaps {
                let symbol = places.of(gap);
                writer.write(words[symbol].into(), lengths[symbol].into());
            }
        }
        payload.append(&mut writer.finish());
        Ok(())
    }

    fn decode(&self, payload: &[u8], gaps: &mut [u32]) -> Result<(), Corrupt> {
        let mut cursor = ImageCursor::new(payload, 0..payload.len())?;
        let different = cursor.u32("number of different gaps")? as usize;
        if different > gaps.len() || (different == 0) != gaps.is_empty() {
            return Err(cursor.corrupt("Huffman code has not a gap for each word"));
        }
        let mut reader = HuffmanBitReader {
            bytes: payload,
            position: 8 * cursor.position(),
        };
        let (values, lengths) = read_prelude(&mut reader, different)?;
        match values[..] {
            [] => {}
            [only] => gaps.fill(only),
            _ => {
                let code = CanonicalCode::new(lengths)
                    .ok_or_else(|| reader.corrupt("lengths are no Huffman code"))?;
                decode_words(&mut reader, &GapWordTable::new(code, &values), gaps);
            }
        }
        reader.finish()
    }
}

/// The different gaps, ascending, and how often each occurs.
fn frequencies(gaps: &[u32]) -> (Vec<u32>, Vec<u64>) {
    let mut sorted = gaps.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b);
    runs.map(|run| (run[0], run.len() as u64)).unzip()
}

/// Finds the symbol of a gap: in a table where gaps are small, else by searching.
struct GapSymbolIndex<'a> {
    different: &'a [u32],
    direct: Vec<u32>,
}

impl<'a> GapSymbolIndex<'a> {
    const DIRECT_MAX: u32 = 1 << 20;

    fn new(different: &'a [u32]) -> Self {
        let largest = different.last().copied().unwrap_or(0).min(Self::DIRECT_MAX);
        let mut direct = vec![0; largest as usize + 1];
        for (symbol, &gap) in (0..).zip(different) {
            if gap <= largest {
                direct[gap as usize] = symbol;
            }
        }
        Self { different, direct }
    }

    /// `gap` is one of those that were counted.
    #[inline]
    fn of(&self, gap: u32) -> usize {
        match self.direct.get(gap as usize) {
            Some(&symbol) => symbol as usize,
            None => self.different.partition_point(|&other| other < gap),
        }
    }
}

/// The different gaps and the lengths of their words, without the latter if there are not two.
fn read_prelude(
    reader: &mut HuffmanBitReader<'_>,
    different: usize,
) -> Result<(Vec<u32>, Vec<u8>), Corrupt> {
    // Each takes at least a bit, so a short payload asks for little memory.
    if different > reader.remaining() {
        return Err(reader.corrupt("Huffman prelude is cut short"));
    }
    let mut values = Vec::with_capacity(different);
    let mut lengths = Vec::new();
    let mut next = 0u64;
    for _ in 0..different {
        let above = reader.gamma()?;
        let value = u32::try_from(next + above - 1);
        values.push(value.map_err(|_| reader.corrupt("Huffman prelude has a gap above 32 bits"))?);
        next += above;
        if different > 1 {
            lengths.push(reader.read(LENGTH_BITS)? as u8);
        }
    }
    Ok((values, lengths))
}

/// A code ready to decode with.
struct GapWordTable {
    code: CanonicalCode,
    /// The gap of each word, in the order of the words.
    gaps: Vec<u32>,
    /// By the first bits: gap and length of the word; length 0 where it is longer.
    short: Vec<(u32, u32)>,
}

impl GapWordTable {
    fn new(code: CanonicalCode, values: &[u32]) -> Self {
        let symbols = code.symbols().iter();
        let gaps: Vec<u32> = symbols.map(|&symbol| values[symbol as usize]).collect();
        let mut short = Vec::with_capacity(1 << TABLE_BITS);
        for (&symbol, &gap) in code.symbols().iter().zip(&gaps) {
            let length = u32::from(code.lengths()[symbol as usize]);
            if length > TABLE_BITS {
                break;
            }
            // Words ascend, so each continues where the one before ended.
            short.extend(std::iter::repeat_n(
                (gap, length),
                1 << (TABLE_BITS - length),
            ));
        }
        short.resize(1 << TABLE_BITS, (0, 0));
        Self { code, gaps, short }
    }
}

/// Decodes a word for each of `gaps`. Bits behind the payload read as 0; the caller sees that they were read.
fn decode_words(reader: &mut HuffmanBitReader<'_>, table: &GapWordTable, gaps: &mut [u32]) {
    for group in gaps.chunks_mut(GAPS_A_LOAD) {
        let mut window = reader.window();
        for gap in group {
            let (short, mut length) = table.short[(window >> (64 - TABLE_BITS)) as usize];
            *gap = short;
            if length == 0 {
                window = reader.window();
                let (place, long) = table.code.look_up((window >> 32) as u32, TABLE_BITS + 1);
                *gap = table.gaps[place as usize];
                length = long;
            }
            reader.position += length as usize;
            window <<= length;
            if length > TABLE_BITS {
                window = reader.window();
            }
        }
    }
}

#[derive(Debug, Default)]
struct HuffmanBitWriter {
    bytes: Vec<u8>,
    /// Bits not written yet, in the upper end, and how many.
    held: u64,
    held_bits: u32,
}

impl HuffmanBitWriter {
    /// Writes the lowest `bits` of `value`, which has no others; at most 32.
    #[inline]
    fn write(&mut self, value: u64, bits: u32) {
        debug_assert!(bits <= 32 && value >> bits == 0);
        if bits == 0 {
            return;
        }
        self.held |= value << (64 - bits) >> self.held_bits;
        self.held_bits += bits;
        if self.held_bits >= 32 {
            self.bytes
                .extend_from_slice(&((self.held >> 32) as u32).to_be_bytes());
            self.held <<= 32;
            self.held_bits -= 32;
        }
    }

    /// Elias gamma: as many zeros as the number has bits behind its first, then the number; from 1 to 2^32.
    fn gamma(&mut self, number: u64) {
        let behind = number.ilog2();
        self.write(0, behind);
        self.write(1, 1);
        self.write(number & ((1 << behind) - 1), behind);
    }

    fn finish(mut self) -> Vec<u8> {
        let whole = self.held_bits.div_ceil(8) as usize;
        self.bytes
            .extend_from_slice(&self.held.to_be_bytes()[..whole]);
        self.bytes
    }
}

/// Reads bits; those behind the end are 0 until [`HuffmanBitReader::finish`] finds that they were read.
#[derive(Debug)]
struct HuffmanBitReader<'a> {
    bytes: &'a [u8],
    /// In bits.
    position: usize,
}

impl HuffmanBitReader<'_> {
    fn corrupt(&self, what: &'static str) -> Corrupt {
        Corrupt::new(what, (self.position / 8).min(self.bytes.len()))
    }

    fn remaining(&self) -> usize {
        (8 * self.bytes.len()).saturating_sub(self.position)
    }

    /// The next 57 bits or more, highest first.
    #[inline]
    fn window(&self) -> u64 {
        let rest = self.bytes.get(self.position / 8..).unwrap_or(&[]);
        let word = match rest.first_chunk::<8>() {
            Some(word) => *word,
            None => {
                let mut word = [0; 8];
                word[..rest.len()].copy_from_slice(rest);
                word
            }
        };
        u64::from_be_bytes(word) << (self.position % 8)
    }

    /// The next 1 to 57 bits.
    fn read(&mut self, bits: u32) -> Result<u64, Corrupt> {
        if bits as usize > self.remaining() {
            return Err(self.corrupt("Huffman prelude is cut short"));
        }
        let value = self.window() >> (64 - bits);
        self.position += bits as usize;
        Ok(value)
    }

    fn gamma(&mut self) -> Result<u64, Corrupt> {
        let behind = self.window().leading_zeros();
        if behind > 32 {
            return Err(self.corrupt("Huffman prelude has a gap above 32 bits"));
        }
        self.read(behind + 1)?;
        match behind {
            0 => Ok(1),
            _ => Ok(1 << behind | self.read(behind)?),
        }
    }

    fn finish(self) -> Result<(), Corrupt> {
        match (8 * self.bytes.len()).checked_sub(self.position) {
            None => Err(self.corrupt("Huffman words are cut short")),
            Some(bits) if bits >= 8 => Err(self.corrupt("bytes follow the Huffman words")),
            Some(0) => Ok(()),
            Some(bits) if self.window() >> (64 - bits) == 0 => Ok(()),
            Some(_) => Err(self.corrupt("bits follow the Huffman words")),
        }
    }
}
