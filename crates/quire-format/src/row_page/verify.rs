//! What must hold in a row page, one function for each invariant.
//!
//! [`RowPage::trusted`] has checked already that version, kind and flags are known, and that header, slots,
//! heap and fences follow each other within the page.

use std::cmp::Ordering;

use quire_codec::Corrupt;

use super::child::ChildPointer;
use super::layout::{TreePageKind, head_of, slot_offset};
use super::read::RowPage;
use super::space::{self, shared_bytes};

impl<'a> RowPage<'a> {
    /// A page from bytes that nobody vouches for. Everything that must hold is checked, in time proportional to
    /// the number of slots and the length of the keys.
    ///
    /// # Errors
    /// The first thing found that is wrong.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Corrupt> {
        let page = Self::trusted(bytes)?;
        every_invariant(&page)?;
        Ok(page)
    }
}

pub(super) fn every_invariant(page: &RowPage<'_>) -> Result<(), Corrupt> {
    fences_are_short_and_ascend(page)?;
    prefix_is_what_the_fences_share(page)?;
    lengths_are_within_limits(page)?;
    records_lie_in_the_heap_and_apart(page)?;
    heads_are_those_of_the_keys(page)?;
    keys_ascend(page)?;
    keys_lie_between_the_fences(page)?;
    if page.kind() == TreePageKind::Inner {
        children_are_pages(page)?;
        first_child_is_under_the_lower_fence(page)?;
    }
    Ok(())
}

fn fences_are_short_and_ascend(page: &RowPage<'_>) -> Result<(), Corrupt> {
    let (lower, upper) = (page.lower_fence(), page.upper_fence());
    if !fences_are_legal(page.page_bytes(), lower, upper) {
        return Err(Corrupt::new(
            "fences are too long or do not ascend",
            page.heap_end(),
        ));
    }
    Ok(())
}

/// Whether a page of that length may have these fences.
pub(super) fn fences_are_legal(page_bytes: usize, lower: &[u8], upper: &[u8]) -> bool {
    let most = space::key_bytes_max(page_bytes);
    lower.len().max(upper.len()) <= most && (upper.is_empty() || lower < upper)
}

fn prefix_is_what_the_fences_share(page: &RowPage<'_>) -> Result<(), Corrupt> {
    let shared = shared_bytes(page.lower_fence(), page.upper_fence());
    if page.prefix().len() != shared {
        let what = format!(
            "prefix of {} bytes, fences share {shared}",
            page.prefix().len()
        );
        return Err(Corrupt::new(what, 0));
    }
    Ok(())
}

fn lengths_are_within_limits(page: &RowPage<'_>) -> Result<(), Corrupt> {
    let key_most = space::key_bytes_max(page.page_bytes());
    let entry_most = space::entry_bytes_max(page.page_bytes());
    for index in 0..page.len() {
        let slot = page.slot(index)?;
        let key_bytes = page.prefix().len() + usize::from(slot.key_bytes);
        if key_bytes > key_most || key_bytes + usize::from(slot.value_bytes) > entry_most {
            let what = format!("entry {index} is longer than the page permits");
            return Err(Corrupt::new(what, slot_offset(index)));
        }
    }
    Ok(())
}

/// Every byte of the heap belongs to one record or is counted as dead.
fn records_lie_in_the_heap_and_apart(page: &RowPage<'_>) -> Result<(), Corrupt> {
    let (heap_start, heap_end) = (page.header().heap_start as usize, page.heap_end());
    let mut taken = UsedBytes::new();
    let mut live_bytes = 0;
    for index in 0..page.len() {
        let slot = page.slot(index)?;
        let (start, length) = (usize::from(slot.offset), slot.record_bytes());
        let place_is_right = match length {
            0 => start == 0,
            _ => start >= heap_start && start + length <= heap_end && taken.take(start, length),
        };
        if !place_is_right {
            let what = format!("record of entry {index} is outside of the heap or in another");
            return Err(Corrupt::new(what, slot_offset(index)));
        }
        live_bytes += length;
    }
    if live_bytes + page.dead_bytes() != heap_end - heap_start {
        let what = format!(
            "heap of {} bytes has {live_bytes} in records and {} dead",
            heap_end - heap_start,
            page.dead_bytes()
        );
        return Err(Corrupt::new(what, heap_start));
    }
    Ok(())
}

/// Bytes of a page that are known to be in use.
struct UsedBytes([u64; 1024]);

impl UsedBytes {
    fn new() -> Self {
        Self([0; 1024])
    }

    /// Takes bytes of a page of at most 64 KiB; whether all of them were free.
    fn take(&mut self, start: usize, length: usize) -> bool {
        let (mut at, end) = (start, start + length);
        while at < end {
            let bits = (64 - at % 64).min(end - at);
            let mask = (u64::MAX >> (64 - bits)) << (at % 64);
            match self.0.get_mut(at / 64) {
                Some(word) if *word & mask == 0 => *word |= mask,
                _ => return false,
            }
            at += bits;
        }
        true
    }
}

fn heads_are_those_of_the_keys(page: &RowPage<'_>) -> Result<(), Corrupt> {
    for index in 0..page.len() {
        if page.slot(index)?.head != head_of(page.suffix(index)?) {
            let what = format!("head of entry {index} is not that of its key");
            return Err(Corrupt::new(what, slot_offset(index)));
        }
    }
    Ok(())
}

fn keys_ascend(page: &RowPage<'_>) -> Result<(), Corrupt> {
    for index in 1..page.len() {
        if page.suffix(index - 1)?.cmp(page.suffix(index)?) != Ordering::Less {
            let what = format!("key of entry {index} is not greater than the one before");
            return Err(Corrupt::new(what, slot_offset(index)));
        }
    }
    Ok(())
}

/// As keys ascend and all begin with the prefix, it is enough to look at the rest of the first and the last.
fn keys_lie_between_the_fences(page: &RowPage<'_>) -> Result<(), Corrupt> {
    let Some(last) = page.len().checked_sub(1) else {
        return Ok(());
    };
    let prefix_bytes = page.prefix().len();
    let lower = page.lower_fence().get(prefix_bytes..).unwrap_or_default();
    let upper = page.upper_fence().get(prefix_bytes..).unwrap_or_default();
    let below = page.suffix(0)? < lower;
    let above = !upper.is_empty() && page.suffix(last)? >= upper;
    if below || above {
        let index = if below { 0 } else { last };
        let what = format!("key of entry {index} is outside of the fences");
        return Err(Corrupt::new(what, slot_offset(index)));
    }
    Ok(())
}

fn children_are_pages(page: &RowPage<'_>) -> Result<(), Corrupt> {
    for index in 0..page.len() {
        let entry = page.entry(index)?;
        if entry.overflow || ChildPointer::page(entry.value).is_err() {
            let what = format!("value of entry {index} is no number of a page");
            return Err(Corrupt::new(what, slot_offset(index)));
        }
    }
    Ok(())
}

/// A page that was just made has no child yet.
fn first_child_is_under_the_lower_fence(page: &RowPage<'_>) -> Result<(), Corrupt> {
    let Some(first) = page.entries().next().transpose()? else {
        return Ok(());
    };
    if first.key() != page.lower_fence() {
        let what = "first key of an inner page is not its lower fence";
        return Err(Corrupt::new(what, slot_offset(0)));
    }
    Ok(())
}
