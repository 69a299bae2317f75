//! When the space of a page is free: the rule of snapshots and clones, which is ZFS's with page numbers as birth times.
//!
//! Pages are numbered in the order in which they are made, and a tree never gets a page back that it has lost. So a page belongs to a
//! piece of a data set's history without gaps, and its number says where that begins. Let the *boundary* of a snapshot be a number
//! above those of all pages that were there when it was taken, and below those of all later ones. When a tree loses a page,
//!
//! 1. and its number is not below the boundary of the newest snapshot, no snapshot has the page: it is free;
//! 2. otherwise the newest snapshot has it, and it is put on the data set's list of *dead pages*;
//! 3. unless its number is below the boundary of the snapshot of which the data set is a clone: then it is not its own.
//!
//! A new snapshot takes over the list. So the list of a snapshot has what the snapshot before has and this one has not. When a
//! snapshot goes, the list of its successor (the next snapshot, or the data set) has all pages that only the two before
//! it can have: those that are not below the boundary of the snapshot before were born after that, so nothing has them any more: they
//! are free. The others stay on the list, together with the list of the one that goes. A snapshot that has clones cannot go.
//!
//! When a clone is promoted, the snapshots up to its origin become the clone's, and the data set that had them becomes a clone of the newest of
//! these. Numbers and boundaries stay as they are, for they are those of the volume, not of a data set. What changes is whose the pages below the
//! boundary of that snapshot are: the promoted one lists from then on when it has lost them, between any two of its snapshots, and
//! the other one does not.

use quire_format::data_set::{DataSetDefinition, DeadPages};
use quire_store::{PageId, PageKind, WriteBatch};

use crate::error::DeviceStorageError;
use crate::tree::PageReader;

/// A list that has as many pages is not made longer.
const LIST_PAGES_WANTED: usize = 4096;

/// To whom the pages of a tree belong, by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Boundaries {
    /// Pages below it are the origin's, of which the data set is a clone; 0 if it is none.
    pub(crate) origin: u64,
    /// Pages below it are in the newest snapshot; that of the origin if there is no snapshot.
    pub(crate) snapshot: u64,
}

impl Boundaries {
    /// Those of a data set.
    pub(crate) fn of(set: &DataSetDefinition) -> Self {
        let origin = set.origin.map_or(0, |origin| origin.boundary);
        let newest = set.snapshots.last().map(|snapshot| snapshot.boundary);
        Self {
            origin,
            snapshot: newest.unwrap_or(origin),
        }
    }
}

/// Frees the pages that a tree has lost, or puts them on `lists`. Returns the bytes that became free.
pub(crate) fn bury(
    reader: &PageReader,
    batch: &WriteBatch,
    boundaries: Boundaries,
    pages: &[PageId],
    lists: &mut Vec<PageId>,
) -> Result<u64, DeviceStorageError> {
    let is_free = |page: &PageId| page.get() >= boundaries.snapshot;
    let freed = pages.iter().copied().filter(is_free);
    let freed_bytes = free(reader, batch, freed)?;
    let is_kept = |page: &PageId| (boundaries.origin..boundaries.snapshot).contains(&page.get());
    let mut kept: Vec<PageId> = pages.iter().copied().filter(is_kept).collect();
    if kept.is_empty() {
        return Ok(freed_bytes);
    }
    if let Some(last) = lists.last() {
        let mut list = reader.decoded(*last, DeadPages::decode)?.pages;
        if list.len() < LIST_PAGES_WANTED {
            let room = LIST_PAGES_WANTED - list.len();
            list.extend(kept.drain(..room.min(kept.len())));
            batch.replace(*last, PageKind::DeadPages, &encoded(list))?;
        }
    }
    lists.append(&mut write_lists(batch, &kept)?);
    Ok(freed_bytes)
}

/// New lists of dead pages.
pub(crate) fn write_lists(
    batch: &WriteBatch,
    pages: &[PageId],
) -> Result<Vec<PageId>, DeviceStorageError> {
    let parts = pages.chunks(LIST_PAGES_WANTED);
    let lists = parts.map(|part| batch.write(PageKind::DeadPages, &encoded(part.to_vec())));
    Ok(lists.collect::<Result<_, _>>()?)
}

/// What the pages on `lists` take that are not below `boundary`.
pub(crate) fn listed_bytes(
    reader: &PageReader,
    lists: &[PageId],
    boundary: u64,
) -> Result<u64, DeviceStorageError> {
    let mut bytes = 0;
    for list in lists {
        let pages = reader.decoded(*list, DeadPages::decode)?.pages;
        let pages = pages.into_iter().filter(|page| page.get() >= boundary);
        let each = pages.map(|page| u64::from(reader.pin.payload_bytes(page).unwrap_or(0)));
        bytes += each.sum::<u64>();
    }
    Ok(bytes)
}

/// What is left of a list of dead pages when the snapshot that had them goes: those below `boundary`, that of the snapshot before.
/// Returns whether anything is left, and the bytes that became free.
pub(crate) fn sift(
    reader: &PageReader,
    batch: &WriteBatch,
    list: PageId,
    boundary: u64,
) -> Result<(bool, u64), DeviceStorageError> {
    let pages = reader.decoded(list, DeadPages::decode)?.pages;
    let (kept, freed): (Vec<PageId>, Vec<PageId>) =
        pages.into_iter().partition(|page| page.get() < boundary);
    if freed.is_empty() {
        return Ok((true, 0));
    }
    let freed_bytes = free(reader, batch, freed.into_iter())?;
    if kept.is_empty() {
        batch.free(list)?;
        return Ok((false, freed_bytes));
    }
    batch.replace(list, PageKind::DeadPages, &encoded(kept))?;
    Ok((true, freed_bytes))
}

/// Takes the pages below `boundary` off `lists`: they are another data set's from now on.
pub(crate) fn disown(
    reader: &PageReader,
    batch: &WriteBatch,
    lists: &mut Vec<PageId>,
    boundary: u64,
) -> Result<(), DeviceStorageError> {
    let mut kept_lists = Vec::with_capacity(lists.len());
    for list in lists.drain(..) {
        let pages = reader.decoded(list, DeadPages::decode)?.pages;
        let listed = pages.len();
        let mut kept = pages;
        kept.retain(|page| page.get() >= boundary);
        if kept.is_empty() {
            batch.free(list)?;
            continue;
        }
        if kept.len() < listed {
            batch.replace(list, PageKind::DeadPages, &encoded(kept))?;
        }
        kept_lists.push(list);
    }
    *lists = kept_lists;
    Ok(())
}

fn free(
    reader: &PageReader,
    batch: &WriteBatch,
    pages: impl Iterator<Item = PageId>,
) -> Result<u64, DeviceStorageError> {
    let mut bytes = 0;
    for page in pages {
        bytes += u64::from(reader.pin.payload_bytes(page).unwrap_or(0));
        batch.free(page)?;
    }
    Ok(bytes)
}

fn encoded(mut pages: Vec<PageId>) -> Vec<u8> {
    pages.sort_unstable();
    DeadPages { pages }.encode()
}
