//! Columns of numbers in as many bits as their range on the page needs.
//!
//! The transforms of Y. Qiao et al. move the bytes that numbers share next to each other, and leave the rest to the
//! block codec. Numbers that are evenly spread in a range that is no power of 256 keep bits that are neither repeated nor
//! noise to it. Here a number is stored as its distance from the smallest one of its column on the page, in the bits that the
//! largest distance needs; or its difference from the number before it is. The bits are kept from the block codec, to which
//! they are noise. Where size matters more than time, several distances are the digits of one number, which spares the part of a bit
//! that each of them would leave. A column whose bytes it is expected to shorten further is left to it, as in R2C-CLT.

use std::sync::OnceLock;

use quire_codec::Corrupt;

use crate::wire::{WireItemReader, WireItemWriter};

/// How a column is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnPackingMode {
    /// Its bytes, the first of all rows, then the second …, for the block codec.
    Planes,
    /// Distances from a base.
    Frame { base: i64, bits: u32 },
    /// The first number, and the distances of the differences from a base.
    Differences { first: i64, base: i64, bits: u32 },
    /// Distances from a base, all less than `radix`: as many as one word holds are its digits, the first the lowest.
    Digits { base: i64, radix: u64 },
}

const PLANES: u8 = 0xFF;
const DIFFERENCES: u8 = 0x80;
const DIGITS: u8 = 0xFE;

/// What a mode takes, in bits, as far as it is worth knowing.
const FRAME_BITS: usize = 32;
const DIFFERENCES_BITS: usize = 56;
const DIGITS_BITS: usize = 48;

/// Bits that the range of `numbers` needs, and its lower end.
fn range(numbers: impl Iterator<Item = i64>) -> (i64, u32) {
    let (mut least, mut most) = (i64::MAX, i64::MIN);
    for number in numbers {
        least = least.min(number);
        most = most.max(number);
    }
    if least <= most {
        (
            least,
            u64::BITS - (most.wrapping_sub(least) as u64).leading_zeros(),
        )
    } else {
        (0, 0)
    }
}

/// Most numbers of a page whose costs are looked up.
const KNOWN_COUNTS: usize = 1 << 13;

/// What it costs to learn bytes as they come, with the estimator of Krichevsky and Trofimov (1981): after `i` bytes of which
/// `c` were this one, it takes `log2((i + 128) / (c + 1/2))` bits. The entropy of so few bytes would promise too much.
struct AdaptiveByteCost {
    /// Sum of `log2(i + 128)` for the first bytes.
    all: Vec<f32>,
    /// Sum of `log2(c + 1/2)` for the first of equal bytes.
    equal: Vec<f32>,
}

fn costs() -> &'static AdaptiveByteCost {
    static COSTS: OnceLock<AdaptiveByteCost> = OnceLock::new();
    COSTS.get_or_init(|| {
        let sums = |start: f64| {
            let mut sum = 0.0;
            let sums = (0..KNOWN_COUNTS).map(|count| {
                let before = sum;
                sum += (count as f64 + start).log2();
                before as f32
            });
            sums.collect()
        };
        AdaptiveByteCost {
            all: sums(128.0),
            equal: sums(0.5),
        }
    })
}

/// Bits that a block codec is expected to leave of one byte of all numbers.
fn plane_bits(numbers: &[i64], byte: u32, has_entropy_coding: bool) -> f32 {
    let (mut counts, mut changes, mut before) = ([0_u16; 256], 0_u32, None);
    for number in numbers {
        let value = (number >> (8 * byte)) as u8;
        if let Some(count) = counts.get_mut(usize::from(value)) {
            *count = count.saturating_add(1);
        }
        changes += u32::from(before != Some(value));
        before = Some(value);
    }
    let costs = costs();
    let stored = match costs.all.get(numbers.len()) {
        Some(all) if has_entropy_coding => {
            let counts = counts.iter().filter(|count| **count > 0);
            let equal = counts.filter_map(|count| costs.equal.get(usize::from(*count)));
            all - equal.sum::<f32>()
        }
        _ => 8.0 * numbers.len() as f32,
    };
    // A run costs a reference and the byte it begins with.
    f32::min(stored, 24.0 * changes as f32)
}

impl ColumnPackingMode {
    /// The mode for the numbers of a column of `width` bytes.
    pub(super) fn choose(numbers: &[i64], width: usize, has_entropy_coding: bool) -> Self {
        let count = numbers.len();
        let (base, bits) = range(numbers.iter().copied());
        let differences = numbers.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
        let (step, step_bits) = range(differences);
        let frame_bits = FRAME_BITS + bits as usize * count;
        let steps_bits = DIFFERENCES_BITS + step_bits as usize * count.saturating_sub(1);
        let planes = (0..width as u32).map(|byte| plane_bits(numbers, byte, has_entropy_coding));
        if planes.sum::<f32>() < frame_bits.min(steps_bits) as f32 {
            return Self::Planes;
        }
        match (numbers.first(), frame_bits <= steps_bits) {
            (Some(&first), false) => Self::Differences {
                first,
                base: step,
                bits: step_bits,
            },
            _ if has_entropy_coding => Self::frame_or_digits(numbers, base, bits),
            _ => Self::Frame { base, bits },
        }
    }

    fn frame_or_digits(numbers: &[i64], base: i64, bits: u32) -> Self {
        let frame = Self::Frame { base, bits };
        let most = numbers
            .iter()
            .map(|number| number.wrapping_sub(base) as u64);
        let radix = most.max().and_then(|most| most.checked_add(1));
        let Some(radix) = radix.filter(|radix| *radix >= RADIX_MIN) else {
            return frame;
        };
        let digits = Self::Digits { base, radix };
        let stored_bits = |mode: Self| mode.packed_bits(numbers.len());
        if stored_bits(digits) + DIGITS_BITS < stored_bits(frame) + FRAME_BITS {
            digits
        } else {
            frame
        }
    }

    pub(super) fn write(self, writer: &mut WireItemWriter) {
        match self {
            Self::Planes => writer.byte(PLANES),
            Self::Frame { base, bits } => {
                writer.byte(bits as u8);
                writer.signed(base.into());
            }
            Self::Differences { first, base, bits } => {
                writer.byte(DIFFERENCES | bits as u8);
                writer.signed(first.into());
                writer.signed(base.into());
            }
            Self::Digits { base, radix } => {
                writer.byte(DIGITS);
                writer.signed(base.into());
                writer.varint(radix);
            }
        }
    }

    pub(super) fn read(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        let signed = |reader: &mut WireItemReader<'_>| {
            let value = reader.signed()?;
            i64::try_from(value).map_err(|_| reader.corrupt("number of more than 64 bits"))
        };
        let byte = reader.byte()?;
        let bits = u32::from(byte & !DIFFERENCES);
        Ok(match byte {
            PLANES => Self::Planes,
            DIGITS => {
                let base = signed(reader)?;
                let radix = reader.varint()?;
                if radix < RADIX_MIN {
                    return Err(reader.corrupt("radix of a column"));
                }
                Self::Digits { base, radix }
            }
            _ if bits > u64::BITS => return Err(reader.corrupt("mode of a column")),
            _ if byte & DIFFERENCES == 0 => Self::Frame {
                base: signed(reader)?,
                bits,
            },
            _ => Self::Differences {
                first: signed(reader)?,
                base: signed(reader)?,
                bits,
            },
        })
    }

    /// Bits that `count` numbers take.
    pub(super) fn packed_bits(self, count: usize) -> usize {
        match self {
            Self::Planes => 0,
            Self::Frame { bits, .. } => bits as usize * count,
            Self::Differences { bits, .. } => bits as usize * count.saturating_sub(1),
            Self::Digits { radix, .. } => {
                let word = DigitWord::of(radix);
                let rest = word_bits(radix, count % word.digits);
                count / word.digits * word.bits as usize + rest as usize
            }
        }
    }

    /// Appends numbers whose mode this is.
    pub(super) fn pack(self, numbers: &[i64], packed: &mut PackedBitWriter) {
        match self {
            Self::Planes => {}
            Self::Frame { base, bits } => {
                for number in numbers {
                    packed.push(number.wrapping_sub(base) as u64, bits);
                }
            }
            Self::Differences { base, bits, .. } => {
                for pair in numbers.windows(2) {
                    let difference = pair[1].wrapping_sub(pair[0]);
                    packed.push(difference.wrapping_sub(base) as u64, bits);
                }
            }
            Self::Digits { base, radix } => {
                for numbers in numbers.chunks(DigitWord::of(radix).digits) {
                    let digits = numbers.iter().rev();
                    let digits = digits.map(|number| number.wrapping_sub(base) as u64);
                    let word = digits.fold(0, |word, digit| word * radix + digit);
                    packed.push(word, word_bits(radix, numbers.len()));
                }
            }
        }
    }

    /// Writes the next numbers to `numbers`. Of planes there are none.
    pub(super) fn unpack(self, numbers: &mut [i64], packed: &mut PackedBitReader<'_>) {
        match self {
            Self::Planes => {}
            Self::Frame { base, bits } => packed.fill(numbers, base, bits),
            Self::Differences { first, base, bits } => {
                let Some((start, differences)) = numbers.split_first_mut() else {
                    return;
                };
                *start = first;
                packed.fill(differences, base, bits);
                let mut before = first;
                for number in differences {
                    before = before.wrapping_add(*number);
                    *number = before;
                }
            }
            Self::Digits { base, radix } => {
                for numbers in numbers.chunks_mut(DigitWord::of(radix).digits) {
                    let bits = word_bits(radix, numbers.len());
                    unpack_digits(packed.next(bits), base, radix, numbers);
                }
            }
        }
    }
}

/// Least radix: smaller ones have less than a bit to gain, or none.
const RADIX_MIN: u64 = 3;

/// The digits that a word of 64 bits holds, and the bits they need.
struct DigitWord {
    digits: usize,
    bits: u32,
}

impl DigitWord {
    fn of(radix: u64) -> Self {
        let digits = u64::MAX.checked_ilog(radix).unwrap_or(1).max(1) as usize;
        Self {
            digits,
            bits: word_bits(radix, digits),
        }
    }
}

/// Bits of a word of so many digits, of which no word has too many.
fn word_bits(radix: u64, digits: usize) -> u32 {
    let values = (0..digits).try_fold(1_u64, |values, _| values.checked_mul(radix));
    values.map_or(u64::BITS, |values| u64::BITS - (values - 1).leading_zeros())
}

/// The digits of a word. Only the first division is one: what it leaves is less than 2^64 / radix if it is the word of a writer,
/// and such a number is divided exactly by a multiplication with the rounded reciprocal.
fn unpack_digits(word: u64, base: i64, radix: u64, numbers: &mut [i64]) {
    let reciprocal = u128::from(u64::MAX / radix + 1);
    let mut rest = word;
    for (index, number) in numbers.iter_mut().enumerate() {
        let quotient = match index {
            0 => rest / radix,
            _ => ((u128::from(rest) * reciprocal) >> u64::BITS) as u64,
        };
        let digit = rest.wrapping_sub(quotient.wrapping_mul(radix));
        *number = base.wrapping_add(digit as i64);
        rest = quotient;
    }
}

/// Bits one behind the other, the first in the lowest bits of the first byte.
#[derive(Debug, Default)]
pub(super) struct PackedBitWriter {
    bytes: Vec<u8>,
    pending: u128,
    pending_bits: u32,
}

impl PackedBitWriter {
    pub(super) fn push(&mut self, value: u64, bits: u32) {
        self.pending |= u128::from(value) << self.pending_bits;
        self.pending_bits += bits;
        if self.pending_bits >= u64::BITS {
            self.bytes
                .extend_from_slice(&(self.pending as u64).to_le_bytes());
            self.pending >>= u64::BITS;
            self.pending_bits -= u64::BITS;
        }
    }

    /// Pushes numbers of at most 11 bits each, several at once.
    #[inline]
    pub(super) fn push_short(&mut self, numbers: impl Iterator<Item = u64>, bits: u32) {
        let (mut word, mut word_bits) = (0, 0);
        for number in numbers {
            word |= number << word_bits;
            word_bits += bits;
            if word_bits > SHORT_BITS - bits {
                self.push(word, word_bits);
                (word, word_bits) = (0, 0);
            }
        }
        self.push(word, word_bits);
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        let rest = self.pending.to_le_bytes();
        let bytes = self.pending_bits.div_ceil(8) as usize;
        self.bytes
            .extend_from_slice(rest.get(..bytes).unwrap_or_default());
        self.bytes
    }
}

/// Bits of eight bytes that are there wherever in the first byte they begin.
const SHORT_BITS: u32 = u64::BITS - 7;

/// Reads what [`PackedBitWriter`] wrote; behind the end there are zeros.
#[derive(Debug)]
pub(super) struct PackedBitReader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> PackedBitReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// Bits that were read.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// The next numbers, each with `base` added.
    fn fill(&mut self, numbers: &mut [i64], base: i64, bits: u32) {
        if bits == 0 {
            return numbers.fill(base);
        }
        let mask = u64::MAX >> (u64::BITS - bits);
        let (quick, slow) = numbers.split_at_mut(self.quick_count(bits).min(numbers.len()));
        let mut position = self.position;
        for number in quick {
            let word = self.bytes.get(position / 8..).and_then(<[u8]>::first_chunk);
            let word = word.map_or(0, |word| u64::from_le_bytes(*word));
            *number = (((word >> (position % 8)) & mask) as i64).wrapping_add(base);
            position += bits as usize;
        }
        self.position = position;
        for number in slow {
            *number = (self.next(bits) as i64).wrapping_add(base);
        }
    }

    /// How many of the next numbers are each within eight bytes that are there.
    fn quick_count(&self, bits: u32) -> usize {
        // It may begin in the last bit of the first byte.
        let is_narrow = bits <= u64::BITS - 7;
        match self.bytes.len().checked_sub(size_of::<u64>()) {
            Some(last) if is_narrow && last >= self.position / 8 => {
                (8 * last + 7 - self.position) / bits as usize + 1
            }
            _ => 0,
        }
    }

    /// The next `count` numbers of at most 11 bits each.
    #[inline]
    pub(super) fn for_each_short(&mut self, count: usize, bits: u32, mut each: impl FnMut(usize)) {
        let mask = (1_u64 << bits) - 1;
        let at_once = (SHORT_BITS / bits.max(1)) as usize;
        let mut left = count;
        while left >= at_once {
            let word = self.word(self.position / 8) >> (self.position % 8);
            for number in 0..at_once as u32 {
                each((word >> (number * bits) & mask) as usize);
            }
            self.position += at_once * bits as usize;
            left -= at_once;
        }
        for _ in 0..left {
            each(self.next(bits) as usize);
        }
    }

    #[inline]
    fn word(&self, at: usize) -> u64 {
        let rest = self.bytes.get(at..).unwrap_or_default();
        match rest.first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => (rest.iter().rev()).fold(0, |word, &byte| word << 8 | u64::from(byte)),
        }
    }

    #[inline]
    pub(super) fn next(&mut self, bits: u32) -> u64 {
        let (at, shift) = (self.position / 8, self.position as u32 % 8);
        self.position += bits as usize;
        let mut value = self.word(at) >> shift;
        if shift + bits > u64::BITS {
            value |= self.word(at + 8) << (u64::BITS - shift);
        }
        match bits {
            0 => 0,
            _ => value & (u64::MAX >> (u64::BITS - bits)),
        }
    }
}
