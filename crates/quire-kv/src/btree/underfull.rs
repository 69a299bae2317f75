//! When a leaf that has lost entries is worth merging with a neighbour.

use quire_format::row_page::{RowPage, space};

/// An underfull leaf is looked at when its number of entries is a multiple of this, or a power of two. Otherwise each
/// removal from a leaf whose neighbours do not help would look again.
const REMOVALS_BETWEEN_LOOKS: usize = 8;

/// Whether a leaf that has lost an entry, and is full with so many bytes, should be merged, if its neighbours permit.
pub(super) fn is_worth_a_look(leaf: &RowPage<'_>, full_bytes: usize) -> bool {
    let count = leaf.len();
    let is_time = count.is_multiple_of(REMOVALS_BETWEEN_LOOKS) || count.is_power_of_two();
    is_time && space::is_underfull(leaf, full_bytes)
}
