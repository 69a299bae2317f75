//! Runs as text: integers become blocks of 8 or 16 bytes that start with a fixed prefix and then the run.
//!
//! A block is one word or two, lower first, whose lowest byte comes first.

use super::RUN_BYTES_MAX;
use super::parts::{ShapeRun, symbol_bits};
use crate::kernel::digits::{self, TextPlacement};

pub(super) const BLOCK_BYTES: usize = 16;
const WORD_BYTES: usize = 8;
const SIXTEEN_ZEROS: u128 = 0x3030_3030_3030_3030_3030_3030_3030_3030;

/// How the integers of a run become text.
pub(super) struct RunWriter {
    kind: BlockTextKind,
    prefix: u128,
    prefix_bytes: usize,
    bytes_max: usize,
}

enum BlockTextKind {
    Decimal { digits: usize },
    Natural { digits_max: usize },
    Counted { digits_max: usize },
    Hexadecimal { digits: usize, gap: u64 },
    Symbols(Symbols),
}

/// Room for the blocks of some numbers: their words, and their lengths where these vary.
pub(super) struct RunBlocks<'a> {
    pub low: &'a mut [u64],
    pub high: &'a mut [u64],
    pub lengths: &'a mut [u8],
}

const fn ten_to(exponent: usize) -> u64 {
    10u64.pow(exponent as u32)
}

/// A number of at most 16 digits as 16 bytes of text.
fn digits_of_16(number: u64) -> u128 {
    let (high, low) = (number / ten_to(8), number % ten_to(8));
    let digits = u128::from(digits::digits_of_8(low)) << 64;
    digits | u128::from(digits::digits_of_8(high)) | SIXTEEN_ZEROS
}

struct Symbols {
    width: usize,
    bits: u32,
    /// Two symbols for two indices; 0 when one of them is not of the alphabet.
    pairs: Vec<u16>,
    /// One symbol for an index, or 0.
    singles: Vec<u8>,
}

impl Symbols {
    fn new(width: usize, alphabet: &[u8]) -> Self {
        let bits = symbol_bits(alphabet.len());
        let size = 1usize << bits;
        let single = |index: usize| alphabet.get(index).copied();
        let pair = |index: usize| match (single(index >> bits), single(index & (size - 1))) {
            (Some(first), Some(second)) => u16::from_le_bytes([first, second]),
            _ => 0,
        };
        Self {
            width,
            bits,
            pairs: (0..size * size).map(pair).collect(),
            singles: (0..size).map(|index| single(index).unwrap_or(0)).collect(),
        }
    }

    /// The text of a number, and whether all of it are symbols of the alphabet.
    fn text(&self, number: u64) -> (u128, bool) {
        let (mut text, mut rest, mut known) = (0u128, number, true);
        for _ in 0..self.width / 2 {
            let pair = self.pairs[rest as usize & (self.pairs.len() - 1)];
            known &= pair != 0;
            text = text << 16 | u128::from(pair);
            rest = rest.unbounded_shr(2 * self.bits);
        }
        if self.width % 2 == 1 {
            let single = self.singles[rest as usize & (self.singles.len() - 1)];
            known &= single != 0;
            text = text << 8 | u128::from(single);
            rest = rest.unbounded_shr(self.bits);
        }
        (text, known && rest == 0)
    }
}

fn kind_of(run: &ShapeRun) -> BlockTextKind {
    match run {
        ShapeRun::Decimal { digits } => BlockTextKind::Decimal { digits: *digits },
        ShapeRun::Natural { digits_max } => BlockTextKind::Natural {
            digits_max: *digits_max,
        },
        ShapeRun::Counted { digits_max } => BlockTextKind::Counted {
            digits_max: *digits_max,
        },
        ShapeRun::Symbols { width, alphabet } => match &alphabet[..] {
            b"0123456789abcdef" => BlockTextKind::Hexadecimal {
                digits: *width,
                gap: u64::from(b'a' - b'9' - 1),
            },
            b"0123456789ABCDEF" => BlockTextKind::Hexadecimal {
                digits: *width,
                gap: u64::from(b'A' - b'9' - 1),
            },
            _ => BlockTextKind::Symbols(Symbols::new(*width, alphabet)),
        },
    }
}

impl RunWriter {
    /// Puts `prefix` before every run; together they must not pass [`BLOCK_BYTES`].
    pub(super) fn new(run: &ShapeRun, prefix: &[u8]) -> Self {
        let bytes_max = prefix.len() + run.bytes_max();
        assert!(
            bytes_max <= BLOCK_BYTES,
            "prefix and run do not fit a block"
        );
        Self {
            kind: kind_of(run),
            prefix: block_of(prefix),
            prefix_bytes: prefix.len(),
            bytes_max,
        }
    }

    /// Length of every block, if they are equally long.
    pub(super) fn fixed_bytes(&self) -> Option<usize> {
        match &self.kind {
            BlockTextKind::Natural { .. } | BlockTextKind::Counted { .. } => None,
            _ => Some(self.bytes_max),
        }
    }

    /// Whether blocks have two words.
    pub(super) fn is_long(&self) -> bool {
        self.bytes_max > WORD_BYTES
    }

    /// Whether a second integer per value tells its number of digits.
    pub(super) fn is_counted(&self) -> bool {
        matches!(self.kind, BlockTextKind::Counted { .. })
    }

    /// Text of `width` bytes at the end of its words goes behind the prefix.
    fn placement(&self, width: usize) -> TextPlacement {
        let words_bytes = if self.is_long() {
            BLOCK_BYTES
        } else {
            WORD_BYTES
        };
        let keep = !1u128
            .unbounded_shl(8 * self.prefix_bytes as u32)
            .wrapping_sub(1);
        TextPlacement {
            shift: 8 * (words_bytes - self.prefix_bytes - width) as u32,
            keep: [keep as u64, (keep >> 64) as u64],
            prefix: [self.prefix as u64, (self.prefix >> 64) as u64],
        }
    }

    /// Writes the block of each number, and its length if lengths vary. False when a number is none that the
    /// run can have. All slices are equally long; `counts` is only read if digits are counted.
    pub(super) fn write(&self, numbers: &[u64], counts: &[u64], blocks: RunBlocks<'_>) -> bool {
        let highest = numbers.iter().copied().max().unwrap_or(0);
        let valid = match &self.kind {
            BlockTextKind::Decimal { digits } => highest < ten_to(*digits),
            BlockTextKind::Natural { digits_max } => highest < ten_to(*digits_max),
            BlockTextKind::Counted { digits_max } => {
                numbers.iter().zip(counts).all(|(number, count)| {
                    (1..=*digits_max as u64).contains(count) && *number < ten_to(*count as usize)
                })
            }
            BlockTextKind::Hexadecimal { digits, .. } => {
                highest.unbounded_shr(4 * *digits as u32) == 0
            }
            BlockTextKind::Symbols(_) => true,
        };
        valid && self.write_checked(numbers, counts, blocks)
    }

    fn write_checked(&self, numbers: &[u64], counts: &[u64], blocks: RunBlocks<'_>) -> bool {
        let RunBlocks { low, high, lengths } = blocks;
        let long = self.is_long();
        match &self.kind {
            BlockTextKind::Decimal { digits } if long => {
                digits::place_decimals_long(numbers, &self.placement(*digits), low, high);
            }
            BlockTextKind::Decimal { digits } => {
                digits::place_decimals_short(numbers, &self.placement(*digits), low);
            }
            BlockTextKind::Hexadecimal { digits, gap } if long => {
                let placement = self.placement(*digits);
                digits::place_hexadecimals_long(numbers, *gap, &placement, low, high);
            }
            BlockTextKind::Hexadecimal { digits, gap } => {
                digits::place_hexadecimals_short(numbers, *gap, &self.placement(*digits), low);
            }
            BlockTextKind::Natural { .. } if !long => {
                let (bytes, prefix) = (self.prefix_bytes as u32, self.prefix as u64);
                digits::place_naturals_short(numbers, bytes, prefix, low, lengths);
            }
            BlockTextKind::Natural { .. } => {
                let digits_of = |number: u64| number.checked_ilog10().unwrap_or(0) as usize + 1;
                let digits = numbers.iter().map(|number| digits_of(*number));
                self.write_counted(numbers, digits, RunBlocks { low, high, lengths });
            }
            BlockTextKind::Counted { .. } => {
                let digits = counts.iter().map(|count| *count as usize);
                self.write_counted(numbers, digits, RunBlocks { low, high, lengths });
            }
            BlockTextKind::Symbols(symbols) => {
                let mut known = true;
                for ((number, low), high) in numbers.iter().zip(low).zip(high) {
                    let (text, all_known) = symbols.text(*number);
                    [*low, *high] = words_of(self.after_prefix(text));
                    known &= all_known;
                }
                return known;
            }
        }
        true
    }

    fn after_prefix(&self, text: u128) -> u128 {
        text << (8 * self.prefix_bytes) | self.prefix
    }

    fn write_counted(
        &self,
        numbers: &[u64],
        digits: impl Iterator<Item = usize>,
        blocks: RunBlocks<'_>,
    ) {
        let words = blocks.low.iter_mut().zip(blocks.high);
        let places = words.zip(blocks.lengths);
        for ((number, digits), ((low, high), length)) in numbers.iter().zip(digits).zip(places) {
            let text = digits_of_16(*number) >> (8 * (RUN_BYTES_MAX - digits));
            [*low, *high] = words_of(self.after_prefix(text));
            *length = (self.prefix_bytes + digits) as u8;
        }
    }
}

/// Both words of a block, lower first.
pub(super) fn words_of(block: u128) -> [u64; 2] {
    [block as u64, (block >> 64) as u64]
}

/// Up to 16 bytes as a block, filled up with zeros.
pub(super) fn block_of(bytes: &[u8]) -> u128 {
    let mut block = [0u8; BLOCK_BYTES];
    block[..bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(block)
}

#[cfg(test)]
mod tests {
    use super::{RunBlocks, RunWriter, ShapeRun, ten_to};

    /// What `run` makes of one number after the prefix.
    fn text(run: &ShapeRun, prefix: &str, number: u64, count: u64) -> Option<String> {
        let writer = RunWriter::new(run, prefix.as_bytes());
        let (mut low, mut high, mut lengths) = ([u64::MAX], [u64::MAX], [255]);
        let blocks = RunBlocks {
            low: &mut low,
            high: &mut high,
            lengths: &mut lengths,
        };
        if !writer.write(&[number], &[count], blocks) {
            return None;
        }
        let length = writer.fixed_bytes().unwrap_or(usize::from(lengths[0]));
        let words = [low[0].to_le_bytes(), high[0].to_le_bytes()].concat();
        assert!(writer.is_long() || length <= 8);
        Some(String::from_utf8(words[..length].to_vec()).unwrap())
    }

    /// Prefixes that a run of `width` bytes can have.
    fn prefixes(width: usize) -> impl Iterator<Item = &'static str> {
        (0..=16 - width).map(|length| &"<prefix--------"[..length.min(15)])
    }

    #[test]
    fn decimals_of_every_width_keep_their_zeros() {
        for digits in 1..=16 {
            let run = ShapeRun::Decimal { digits };
            for prefix in prefixes(digits) {
                for number in [0, 1, 7, 42, 99, 12_345, 10_000_000, 99_999_999, u64::MAX] {
                    let number = number % ten_to(digits);
                    let expected = format!("{prefix}{number:0digits$}");
                    assert_eq!(text(&run, prefix, number, 0), Some(expected));
                }
            }
            assert_eq!(text(&run, "", ten_to(digits), 0), None);
        }
    }

    #[test]
    fn every_number_of_four_digits_within_eight() {
        let run = ShapeRun::Decimal { digits: 8 };
        for number in (0..10_000).flat_map(|n| [n, n * 10_000, n * 10_001]) {
            assert_eq!(text(&run, "", number, 0), Some(format!("{number:08}")));
        }
    }

    #[test]
    fn naturals_and_counted_digits_have_their_lengths() {
        let mut number = 3u64;
        for digits_max in 1..=16usize {
            let last = ten_to(digits_max) - 1;
            let (natural, counted) = (
                ShapeRun::Natural { digits_max },
                ShapeRun::Counted { digits_max },
            );
            for prefix in prefixes(digits_max) {
                for one in [number % ten_to(digits_max), last, last / 9, last / 2, 0] {
                    let expected = format!("{prefix}{one}");
                    assert_eq!(text(&natural, prefix, one, 0), Some(expected));
                    let expected = format!("{prefix}{one:0digits_max$}");
                    assert_eq!(
                        text(&counted, prefix, one, digits_max as u64),
                        Some(expected)
                    );
                }
            }
            assert_eq!(text(&natural, "", last + 1, 0), None);
            for (one, count) in [(last + 1, digits_max), (0, 0), (0, digits_max + 1)] {
                assert_eq!(text(&counted, "", one, count as u64), None);
            }
            number = number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99);
        }
    }

    #[test]
    fn hexadecimal_digits_of_both_cases() {
        for width in 1..=16usize {
            let run = |alphabet: &[u8]| ShapeRun::Symbols {
                width,
                alphabet: alphabet.to_vec(),
            };
            let (lower, upper) = (run(b"0123456789abcdef"), run(b"0123456789ABCDEF"));
            let mask = u64::MAX >> (64 - 4 * width);
            for prefix in prefixes(width) {
                for number in [0x0123_4567_89ab_cdef, u64::MAX, 0xfedc_ba98_7654_3210, 0] {
                    let number = number & mask;
                    let expected = format!("{prefix}{number:0width$x}");
                    assert_eq!(text(&lower, prefix, number, 0), Some(expected));
                    let expected = format!("{prefix}{number:0width$X}");
                    assert_eq!(text(&upper, prefix, number, 0), Some(expected));
                }
            }
            if width < 16 {
                assert_eq!(text(&lower, "", mask + 1, 0), None);
            }
        }
    }

    #[test]
    fn symbols_are_looked_up_and_unknown_ones_refused() {
        let three = ShapeRun::Symbols {
            width: 3,
            alphabet: b"xyz".to_vec(),
        };
        assert_eq!(text(&three, "#", 0b01_10_00, 0), Some("#yzx".into()));
        for unknown in [0b11_00_00, 0b00_11_00, 0b00_00_11, 1 << 6] {
            assert_eq!(text(&three, "#", unknown, 0), None);
        }
        let sixteen = ShapeRun::Symbols {
            width: 16,
            alphabet: b"ACGT".to_vec(),
        };
        let letters = text(&sixteen, "", 0b11_10_01_00, 0);
        assert_eq!(letters, Some("AAAAAAAAAAAATGCA".into()));
    }
}
