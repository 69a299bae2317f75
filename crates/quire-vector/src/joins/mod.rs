//! What a hash join looks up: the number of a key, and the rows of the build side that have it.
//!
//! A key has a number below the count of distinct keys: of integers that lie close together by [`KeyRanks`], of others by
//! [`GroupTable`](crate::GroupTable). [`RowLists`] has the rows of each number, without chains: a row of the probe side reads a contiguous list.

mod key_ranks;
mod row_lists;

pub use self::key_ranks::KeyRanks;
pub use self::row_lists::{MatchCursor, RowLists};

/// In place of the number of a key that no row of the build side has.
pub const NO_KEY: u32 = u32::MAX;
