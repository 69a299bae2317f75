//! The frame of one vector: base, width, and which values are exceptions.
//!
//! A value is stored as the low `width` bits of its distance from the base. The values that need more are
//! exceptions: their low bits are packed like all others, and their position and the bits above are kept
//! aside (`high_width` bits each). So an exception is undone by one addition, a vector without exceptions
//! has no second loop, and no exception is ever compulsory (Zukowski §6.2.7 needs those for its linked list).

use super::bitstream::stream_bytes;
use super::element::Lane;

/// Bits of a position within a vector.
pub(crate) const POSITION_BITS: usize = 10;

/// What the directory spends on a vector that has exceptions.
const EXCEPTION_DIRECTORY_BYTES: usize = 3;

/// Exceptions must make a vector smaller by at least one part in this, or they are not worth decoding.
const EXCEPTION_GAIN: usize = 32;

/// Values looked at to see whether the base should be above the minimum.
const SAMPLE_VALUES: usize = 32;

/// How one vector is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<L> {
    pub base: L,
    pub width: u8,
    /// 0 exactly when there are no exceptions.
    pub high_width: u8,
    pub exception_count: u16,
}

impl<L: Lane> Frame<L> {
    fn new(base: L, width: usize, full_width: usize, exception_count: usize) -> Self {
        let high_width = if exception_count == 0 {
            0
        } else {
            full_width - width
        };
        Self {
            base,
            width: width as u8,
            high_width: high_width as u8,
            exception_count: exception_count as u16,
        }
    }

    /// Bytes of the packed codes of `row_count` values.
    pub(crate) fn code_bytes(&self, row_count: usize) -> usize {
        stream_bytes(row_count, self.width.into())
    }

    /// Bytes of the exception positions, and of their high bits.
    pub(crate) fn exception_bytes(&self) -> (usize, usize) {
        let count = usize::from(self.exception_count);
        (
            stream_bytes(count, POSITION_BITS),
            stream_bytes(count, self.high_width.into()),
        )
    }

    /// Bytes of a vector of `row_count` values.
    pub(crate) fn bytes(&self, row_count: usize) -> usize {
        let (positions, highs) = self.exception_bytes();
        self.code_bytes(row_count) + positions + highs
    }

    fn cost(&self, row_count: usize) -> usize {
        let directory = if self.exception_count == 0 {
            0
        } else {
            EXCEPTION_DIRECTORY_BYTES
        };
        self.bytes(row_count) + directory
    }

    /// The smallest frame of `values`, at most 1,024 of them.
    ///
    /// With the minimum as base the choice of width is exact. Values far below the others want a base
    /// above the minimum; a sample tells whether that can save two bits or more, and if so the sorted
    /// values are searched as in the paper (§6.2.10).
    pub(crate) fn choose(values: &[L]) -> Self {
        if values.is_empty() {
            return Self::new(L::default(), 0, 0, 0);
        }
        let (low, high) = L::extremes(values);
        let full_width = bit_length(high.minus(low).bits());
        let plain = Self::new(low, full_width, full_width, 0);
        let above_minimum = Self::best_width(values, low, full_width, plain);
        let best = if sample_is_narrow(values, above_minimum.width.into()) {
            Self::best_base(values, above_minimum)
        } else {
            above_minimum
        };
        let enough = plain.cost(values.len()) - plain.cost(values.len()) / EXCEPTION_GAIN;
        if best.cost(values.len()) <= enough {
            best
        } else {
            plain
        }
    }

    /// The smallest frame with that base. Narrower widths have no fewer exceptions, so the search ends as
    /// soon as the exceptions alone cost more than the best frame found.
    fn best_width(values: &[L], base: L, full_width: usize, mut best: Self) -> Self {
        for width in (0..full_width).rev() {
            let count = L::at_least(values, base, 1 << width);
            let frame = Self::new(base, width, full_width, count);
            if frame.cost(values.len()) < best.cost(values.len()) {
                best = frame;
            }
            if stream_bytes(count, POSITION_BITS) >= best.cost(values.len()) {
                break;
            }
        }
        best
    }

    /// The smallest frame with any base: for each width the longest stretch of the sorted values that it
    /// covers. Values below the base wrap around, so their high bits are as wide as the type.
    fn best_base(values: &[L], mut best: Self) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        for width in (0..usize::from(best.width)).rev() {
            let (start, length) = longest_stretch(&sorted, 1 << width);
            let count = values.len() - length;
            let frame = Self::new(sorted[start], width, L::BITS, count);
            if frame.cost(values.len()) < best.cost(values.len()) {
                best = frame;
            }
            if stream_bytes(count, POSITION_BITS) >= best.cost(values.len()) {
                break;
            }
        }
        best
    }
}

/// Bits needed for `number`; 0 for 0.
pub(crate) const fn bit_length(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()) as usize
}

/// Whether most of a few values lie within a range two bits narrower than `width`.
fn sample_is_narrow<L: Lane>(values: &[L], width: usize) -> bool {
    if width < 3 || values.len() < SAMPLE_VALUES {
        return false;
    }
    let step = values.len() / SAMPLE_VALUES;
    let mut sample: [L; SAMPLE_VALUES] = std::array::from_fn(|i| values[i * step]);
    sample.sort_unstable();
    let margin = SAMPLE_VALUES / 8;
    let spread = sample[SAMPLE_VALUES - 1 - margin].minus(sample[margin]);
    bit_length(spread.bits()) + 2 <= width
}

/// Start and length of the longest stretch of `sorted` whose values differ by less than `range`
/// (`PFOR_ANALYZE_BITS` of the paper).
fn longest_stretch<L: Lane>(sorted: &[L], range: u64) -> (usize, usize) {
    let (mut start, mut length, mut low) = (0, 0, 0);
    for high in 0..sorted.len() {
        while sorted[high].minus(sorted[low]).bits() >= range {
            low += 1;
        }
        if high - low + 1 > length {
            (start, length) = (low, high - low + 1);
        }
    }
    (start, length)
}
