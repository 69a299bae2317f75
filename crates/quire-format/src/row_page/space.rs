//! What fits, and when to split, merge, rebalance or compress again. Nothing outside of this file decides that.
//!
//! Hysteresis: a page is merged when it is less than a quarter full and both together fill at most three
//! quarters, so that neither the next insertion splits the result nor the next removal merges it. When both
//! together fill more, the neighbour is more than half full, and after rebalancing each is at least three eighths.
//!
//! With keys of at most an eighth of the page and entries of at most a quarter of what two such fences leave, a page
//! in the middle of a split always has room for another entry of any size on either side, and the result of a
//! split never has to be split again for the same entry.

use quire_codec::Corrupt;

use super::layout::{ROW_PAGE_HEADER_BYTES, SLOT_BYTES};
use super::read::RowPage;

/// Insertions at the end, one after the other, after which a page counts as appended to.
const APPEND_RUN_MIN: u16 = 8;

/// Sixteenths of the entries that stay left when a page is split that is appended to.
const APPEND_LEFT_SIXTEENTHS: usize = 15;

/// How far from the middle the separator may be chosen: this fraction of the bytes.
const MIDDLE_FRACTION: usize = 16;

/// The same at the end of a page that is appended to.
const END_FRACTION: usize = 32;

/// A modification log may take this fraction of its page.
const LOG_FRACTION: usize = 8;

/// Longest key, fences included, of a page of that length: an eighth.
#[must_use]
pub const fn key_bytes_max(page_bytes: usize) -> usize {
    page_bytes / 8
}

/// Most bytes of a key and its value together, so that four such entries fit between any two fences. A value that
/// does not fit beside its key has to be stored in overflow pages.
#[must_use]
pub const fn entry_bytes_max(page_bytes: usize) -> usize {
    (page_bytes - ROW_PAGE_HEADER_BYTES - 2 * key_bytes_max(page_bytes)) / 4 - SLOT_BYTES
}

/// Most bytes of the modification log of an image of a page of that length.
#[must_use]
pub const fn log_bytes_max(page_bytes: usize) -> usize {
    page_bytes / LOG_FRACTION
}

/// Whether an image should be compressed again before its log is full, which has `log_bytes` of `log_bytes_max`: what is left is less
/// than the largest operation so far (J. Ma et al., *Leveraging Page-Level Compression in MySQL*, §V-D).
#[must_use]
pub const fn should_recompress(
    log_bytes: usize,
    op_bytes_max: usize,
    log_bytes_max: usize,
) -> bool {
    log_bytes.saturating_add(op_bytes_max) > log_bytes_max
}

/// What to do about two neighbours of which one has lost entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Nothing: both are full enough.
    Leave,
    /// [`merge`](super::RowPageMut::merge) them.
    Merge,
    /// [`rebalance`](super::RowPageMut::rebalance) them.
    Rebalance,
}

/// What to do about the neighbours `left` and `right`, which have the same parent. A page is full when it has `full_bytes`, which
/// may be less than its length. Pages whose tuples have different layouts stay apart.
///
/// # Errors
/// A length that contradicts itself.
pub fn advise(
    left: &RowPage<'_>,
    right: &RowPage<'_>,
    full_bytes: usize,
) -> Result<Advice, Corrupt> {
    let full_enough = !is_underfull(left, full_bytes) && !is_underfull(right, full_bytes);
    if full_enough || left.layout() != right.layout() {
        return Ok(Advice::Leave);
    }
    let capacity = capacity(left, full_bytes);
    let merged = merged_bytes(left, right)? - ROW_PAGE_HEADER_BYTES;
    Ok(if merged <= capacity / 4 * 3 {
        Advice::Merge
    } else {
        Advice::Rebalance
    })
}

/// Whether less than a quarter of the page is in use, which is full when it has `full_bytes`, or its length.
#[must_use]
pub fn is_underfull(page: &RowPage<'_>, full_bytes: usize) -> bool {
    page.used_bytes() < capacity(page, full_bytes) / 4
}

fn capacity(page: &RowPage<'_>, full_bytes: usize) -> usize {
    full_bytes
        .min(page.page_bytes())
        .saturating_sub(ROW_PAGE_HEADER_BYTES)
}

/// Bytes of the page, header included, that `left` and `right` would be together.
pub(super) fn merged_bytes(left: &RowPage<'_>, right: &RowPage<'_>) -> Result<usize, Corrupt> {
    let (lower, upper) = (left.lower_fence(), right.upper_fence());
    let prefix_bytes = shared_bytes(lower, upper);
    let fixed = ROW_PAGE_HEADER_BYTES + lower.len() + upper.len();
    Ok(fixed + left.entry_bytes(prefix_bytes)? + right.entry_bytes(prefix_bytes)?)
}

/// Length of what both begin with.
pub(super) fn shared_bytes(one: &[u8], other: &[u8]) -> usize {
    one.iter()
        .zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}

/// Where the bytes of a new record can come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// The free space between slots and heap.
    Gap,
    /// That and the dead bytes.
    Compaction,
    /// Nowhere.
    Full,
}

pub(super) const fn room(gap_bytes: usize, dead_bytes: usize, needed_bytes: usize) -> Room {
    if needed_bytes <= gap_bytes {
        Room::Gap
    } else if needed_bytes <= gap_bytes + dead_bytes {
        Room::Compaction
    } else {
        Room::Full
    }
}

/// Bytes of the entries that may go left when a page is divided, and what must remain free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CutRegion {
    pub(super) from_bytes: usize,
    pub(super) ideal_bytes: usize,
    pub(super) to_bytes: usize,
    pub(super) prefers_short: bool,
    page_bytes_max: [usize; 2],
}

impl CutRegion {
    /// The middle; an entry of any size fits on either side afterwards.
    pub(super) fn middle(total_bytes: usize, page_bytes: usize) -> Self {
        let most = page_bytes - entry_bytes_max(page_bytes) - SLOT_BYTES;
        Self::around(total_bytes / 2, total_bytes / MIDDLE_FRACTION, [most, most])
    }

    /// The end; an entry of any size fits on the right side afterwards.
    pub(super) fn end(total_bytes: usize, page_bytes: usize) -> Self {
        let most = page_bytes - entry_bytes_max(page_bytes) - SLOT_BYTES;
        let ideal_bytes = total_bytes / 16 * APPEND_LEFT_SIXTEENTHS;
        Self::around(ideal_bytes, total_bytes / END_FRACTION, [page_bytes, most])
    }

    /// The middle of two pages; nothing but their entries has to fit.
    pub(super) fn rebalance(total_bytes: usize, page_bytes: usize) -> Self {
        Self::around(
            total_bytes / 2,
            total_bytes / MIDDLE_FRACTION,
            [page_bytes, page_bytes],
        )
    }

    fn around(ideal_bytes: usize, distance_bytes: usize, page_bytes_max: [usize; 2]) -> Self {
        Self {
            from_bytes: ideal_bytes.saturating_sub(distance_bytes),
            ideal_bytes,
            to_bytes: ideal_bytes + distance_bytes,
            prefers_short: true,
            page_bytes_max,
        }
    }

    /// The same, wherever it is nearest to where it should be.
    pub(super) fn anywhere(self) -> Self {
        Self {
            from_bytes: 0,
            to_bytes: usize::MAX,
            prefers_short: false,
            ..self
        }
    }

    /// Whether pages of these lengths, headers and fences included, leave what must remain free.
    pub(super) const fn allows(&self, left_page_bytes: usize, right_page_bytes: usize) -> bool {
        let [left_most, right_most] = self.page_bytes_max;
        left_page_bytes <= left_most && right_page_bytes <= right_most
    }
}

/// Whether a page that must be split for an entry behind all others is being appended to.
pub(super) const fn is_appended_to(append_run: u16) -> bool {
    append_run >= APPEND_RUN_MIN
}

/// Most bytes of a page that is built with that fill factor.
pub(super) const fn filled_bytes(page_bytes: usize, fill_percent: u8) -> usize {
    let percent = if fill_percent > 100 {
        100
    } else {
        fill_percent
    };
    page_bytes / 100 * percent as usize + page_bytes % 100 * percent as usize / 100
}
