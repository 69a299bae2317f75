//! The frame of one vector: base, width, and which values are exceptions.
//!
//! A value is stored as the low `width` bits of its distance from the base. The values that need more are
//! exceptions: their low bits are packed like all others, and their position and the bits above are kept
//! aside (`high_width` bits each). So an exception is undone by one addition, a vector without exceptions
//! has no second loop, and no exception is ever compulsory (Zukowski §6.2.7 needs those for its linked list).

use super::bitstream::stream_bytes;
use super::element::PackedLane;
use crate::VECTOR_VALUES;
pub(crate) use crate::kernel::exceptions::POSITION_BITS;
use crate::kernel::scan;

/// What the directory spends on a vector that has exceptions.
const EXCEPTION_DIRECTORY_BYTES: usize = 3;

/// Exceptions must make a vector smaller by at least one part in this, or they are not worth decoding.
const EXCEPTION_GAIN: usize = 32;

/// Values looked at to see whether the base should be above the minimum.
const SAMPLE_VALUES: usize = 32;

/// How one vector is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntFrame<L> {
    pub base: L,
    pub width: u8,
    /// 0 exactly when there are no exceptions.
    pub high_width: u8,
    pub exception_count: u16,
}

impl<L: PackedLane> IntFrame<L> {
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

    /// The frame of the same bits as numbers of another type of the same width.
    pub(crate) fn on_bits<M: PackedLane>(self) -> IntFrame<M> {
        IntFrame {
            base: M::from_bits(self.base.bits()),
            width: self.width,
            high_width: self.high_width,
            exception_count: self.exception_count,
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
    /// With the minimum as base the choice of width is exact. If a sample shows that most values lie close
    /// together and far above the minimum, the base is also tried at the lower end of where they lie, and
    /// values below it become exceptions as well (Zukowski §6.2.2).
    pub(crate) fn choose(values: &[L]) -> Self {
        if values.is_empty() {
            return Self::new(L::default(), 0, 0, 0);
        }
        let (low, high) = L::extremes(values);
        let full_width = bit_length(high.minus(low).bits());
        let plain = Self::new(low, full_width, full_width, 0);
        let mut best = Self::best_width(values, low, full_width, full_width, plain);
        if let Some(bulk) = Bulk::narrower_than(values, best.width.into()) {
            // Values below the base wrap around, so their high bits are as wide as the type.
            let base = L::least_from(values, bulk.low);
            best = Self::best_width(values, base, bulk.width, L::BITS, best);
        }
        let enough = plain.cost(values.len()) - plain.cost(values.len()) / EXCEPTION_GAIN;
        if best.cost(values.len()) <= enough {
            best
        } else {
            plain
        }
    }

    /// The smallest frame with that base and a width below `width_end`, or `best`. Narrower widths have no
    /// fewer exceptions, so the search ends when the exceptions alone cost more than the best frame found.
    fn best_width(
        values: &[L],
        base: L,
        width_end: usize,
        full_width: usize,
        mut best: Self,
    ) -> Self {
        if width_end == 0 {
            return best;
        }
        let mut lengths = [0; VECTOR_VALUES];
        L::bit_lengths(values, base, &mut lengths);
        for width in (0..width_end).rev() {
            let count = scan::longer_than(&lengths, width as u8);
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
}

/// Where most values of a vector lie.
struct Bulk<L> {
    /// Below the lowest of them, by no more than they are apart.
    low: L,
    /// More bits than their distances from `low` need, at most those of the type.
    width: usize,
}

impl<L: PackedLane> Bulk<L> {
    /// `None` unless most of a few values lie within a range two bits narrower than `width`.
    fn narrower_than(values: &[L], width: usize) -> Option<Self> {
        if width < 3 || values.len() < SAMPLE_VALUES {
            return None;
        }
        let step = values.len() / SAMPLE_VALUES;
        let mut sample: [L; SAMPLE_VALUES] = std::array::from_fn(|i| values[i * step]);
        sample.sort_unstable();
        let margin = SAMPLE_VALUES / 8;
        let low = sample[margin];
        let spread = sample[SAMPLE_VALUES - 1 - margin].minus(low);
        let spread_width = bit_length(spread.bits());
        let narrow = spread_width + 2 <= width;
        narrow.then(|| Self {
            low: low.minus_saturating(spread),
            width: (spread_width + 3).min(L::BITS),
        })
    }
}

/// Bits needed for `number`; 0 for 0.
pub(crate) const fn bit_length(number: u64) -> usize {
    (u64::BITS - number.leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use super::{Bulk, IntFrame, bit_length};

    /// A thousand values of `bits` bits around zero, and the ends of the type.
    fn bulk_and_extremes(bits: u32) -> Vec<i64> {
        let value = |row: u64| match row % 101 {
            7 => i64::MIN,
            9 => i64::MAX,
            _ => (row.wrapping_mul(0x9E37_79B9_7F4A_7C15) as i64) >> (64 - bits),
        };
        (0..1024).map(value).collect()
    }

    #[test]
    fn frames_of_bulks_of_any_width_stay_within_the_type() {
        for bits in 1..64 {
            let values = bulk_and_extremes(bits);
            let bulk = Bulk::narrower_than(&values, 64);
            assert!(bulk.is_none_or(|bulk| bulk.width <= 64), "{bits} bits");
            let frame = IntFrame::choose(&values);
            assert!(
                frame.width + frame.high_width <= 64,
                "{bits} bits: {frame:?}"
            );
            let far = |value: &&i64| {
                bit_length(value.wrapping_sub(frame.base) as u64) > frame.width.into()
            };
            let exceptions = values.iter().filter(far).count();
            assert_eq!(
                usize::from(frame.exception_count),
                exceptions,
                "{bits} bits: {frame:?}"
            );
        }
    }

    #[test]
    fn a_bulk_far_above_the_minimum_gets_its_own_base() {
        let frame = IntFrame::choose(&bulk_and_extremes(8));
        assert!(frame.width <= 9, "{frame:?}");
        assert_eq!(frame.exception_count, 2 * 11, "rows 7 and 9 of every 101");
    }
}
