//! Undoing the exceptions of a vector: all, those of a group of 128, or one.

use super::bitstream::{self, BitstreamReader};
use super::element::PackedLane;
use crate::kernel::exceptions::{self, Lists, POSITION_BITS};
use crate::{GROUP_VALUES, VECTOR_VALUES};

/// Adds the high bits of all exceptions to their values (`LOOP2` of Zukowski §6.2.4, without a chain to follow).
/// False when positions do not ascend or pass the `rows` of the vector.
pub(crate) fn patch<L: PackedLane>(
    lists: &Lists<'_>,
    rows: usize,
    out: &mut [L; VECTOR_VALUES],
) -> bool {
    let ascend = L::patch(lists, out).unwrap_or_else(|| patch_one_by_one(lists, out));
    ascend && (lists.count == 0 || position(lists, lists.count - 1) < rows)
}

fn patch_one_by_one<L: PackedLane>(lists: &Lists<'_>, out: &mut [L; VECTOR_VALUES]) -> bool {
    let mut positions = BitstreamReader::new(lists.positions, POSITION_BITS);
    let mut highs = BitstreamReader::new(lists.highs, lists.high_width);
    let (mut ascend, mut earliest) = (true, 0);
    for _ in 0..lists.count {
        let row = positions.read() as usize;
        let value = &mut out[row % VECTOR_VALUES];
        *value = value.plus(L::from_bits(highs.read() << lists.width));
        ascend &= row >= earliest;
        earliest = row + 1;
    }
    ascend
}

/// Adds the high bits of the exceptions among the 128 values of `group`.
pub(crate) fn patch_group<L: PackedLane>(
    lists: &Lists<'_>,
    group: usize,
    out: &mut [L; GROUP_VALUES],
) {
    if L::patch_group(lists, group, out).is_some() {
        return;
    }
    for place in first_from(lists, group * GROUP_VALUES)..lists.count {
        let row = position(lists, place);
        if row / GROUP_VALUES != group {
            break;
        }
        let value = &mut out[row % GROUP_VALUES];
        *value = value.plus(high(lists, place));
    }
}

/// The high bits of value `row` of the vector, in place: 0 unless it is an exception.
pub(crate) fn high_bits<L: PackedLane>(lists: &Lists<'_>, row: usize) -> L {
    let found = exceptions::find(lists, row).unwrap_or_else(|| {
        let place = first_from(lists, row);
        (place < lists.count && position(lists, place) == row).then_some(place)
    });
    found.map_or(L::default(), |place| high(lists, place))
}

fn position(lists: &Lists<'_>, place: usize) -> usize {
    bitstream::get(lists.positions, POSITION_BITS, place) as usize
}

fn high<L: PackedLane>(lists: &Lists<'_>, place: usize) -> L {
    L::from_bits(bitstream::get(lists.highs, lists.high_width, place) << lists.width)
}

/// Place of the first exception at `row` or after.
fn first_from(lists: &Lists<'_>, row: usize) -> usize {
    let (mut low, mut high) = (0, lists.count);
    while low < high {
        let middle = (low + high) / 2;
        if position(lists, middle) < row {
            low = middle + 1
        } else {
            high = middle
        }
    }
    low
}
