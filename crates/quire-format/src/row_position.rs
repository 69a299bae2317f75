//! The key of a row of a row group, by which deletions name it.
//!
//! The layout is in `STRUCTURE` below. Rows of the delta have keys of 8 bytes, too, whose first bit is 0.

use crate::document::{DiskStructure, StructureField};
use crate::row_group::ROW_GROUP_ROWS;
use crate::table_root::ROW_GROUP_NUMBERS;

pub(crate) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Deletion (entry of the tree of deletions)",
    about: "\
A row of a row group that is deleted, or was changed and is in the delta now. The key is a number of 8 bytes with the most significant byte \
first: bit 63 is 1, bits 17 to 62 are the number of the row group, bits 0 to 16 the row within it. The delta is a tree of tuples \
whose keys are the numbers of its rows, from 1, written in the same way.",
    fixed_bytes: None,
    fields: &[
        StructureField::next("8", "key", "position of the row"),
        StructureField::next(
            "0 or 8",
            "value",
            "nothing, or the key of the row of the delta that took its place",
        ),
    ],
};

/// Length of the value of a deletion that is a change.
pub const MOVED_KEY_BYTES: usize = 8;

const ROW_BITS: u32 = ROW_GROUP_ROWS.trailing_zeros();
const IS_POSITION: u64 = 1 << 63;

/// Where a row is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowPosition {
    /// Number of the row group, not its place.
    pub row_group: u64,
    /// Row within it.
    pub row: u32,
}

impl RowPosition {
    /// The key of the row.
    ///
    /// # Panics
    /// There is no such position.
    #[must_use]
    pub fn key(self) -> [u8; 8] {
        assert!(
            self.row_group < ROW_GROUP_NUMBERS && (self.row as usize) < ROW_GROUP_ROWS,
            "a position fits its key"
        );
        (IS_POSITION | self.row_group << ROW_BITS | u64::from(self.row)).to_be_bytes()
    }

    /// The position of the row with this key; nothing for a row of the delta.
    #[must_use]
    pub fn of_key(key: &[u8]) -> Option<Self> {
        let bits = u64::from_be_bytes(key.try_into().ok()?);
        (bits & IS_POSITION != 0).then_some(Self {
            row_group: (bits & !IS_POSITION) >> ROW_BITS,
            row: (bits & (ROW_GROUP_ROWS as u64 - 1)) as u32,
        })
    }

    /// The first key of a row group, and the first behind it; no bytes: there is none behind it.
    #[must_use]
    pub fn range_of(row_group: u64) -> (Vec<u8>, Vec<u8>) {
        let first = |row_group| Self { row_group, row: 0 }.key().to_vec();
        let behind = row_group + 1;
        let high = if behind < ROW_GROUP_NUMBERS {
            first(behind)
        } else {
            Vec::new()
        };
        (first(row_group), high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_as_positions_and_come_back() {
        let last = ROW_GROUP_NUMBERS - 1;
        let mut before: Option<[u8; 8]> = None;
        for row_group in [0, 1, 2, 1 << 20, last] {
            for row in [0, 1, 8_191, 131_071] {
                let position = RowPosition { row_group, row };
                let key = position.key();
                assert_eq!(RowPosition::of_key(&key), Some(position));
                assert!(before.is_none_or(|before| before < key));
                before = Some(key);
                let (low, high) = RowPosition::range_of(row_group);
                assert!(
                    low.as_slice() <= &key[..] && (high.is_empty() || &key[..] < high.as_slice())
                );
            }
        }
        assert!(RowPosition::range_of(last).1.is_empty());
        for number in [1_u64, 7, u64::MAX >> 1] {
            assert_eq!(RowPosition::of_key(&number.to_be_bytes()), None);
        }
        assert_eq!(RowPosition::of_key(b"short"), None);
    }
}
