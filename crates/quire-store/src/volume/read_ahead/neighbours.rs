//! Which pages are read with one request, and how.

use std::ops::Range;
use std::sync::Arc;

use quire_format::volume::{IMAGE_HEADER_BYTES, PageEntry, checksum};

use crate::disk::Disk;

/// A request is at most this long, unless a single page is longer.
pub(super) const REQUEST_BYTES_MAX: u64 = 2 << 20;

/// So many bytes between two images are read and thrown away rather than asked for around.
pub(super) const GAP_BYTES_MAX: u64 = 32 << 10;

/// What one request brought.
pub(super) struct NeighboursRead {
    /// Bytes that were read, gaps included; 0 when the disk failed.
    pub(super) bytes: u64,
    /// The payload of each page that is as it was written, in the order of the pages.
    pub(super) payloads: Vec<Option<Arc<[u8]>>>,
}

/// Where the payload of a page is; nothing when no file is that long.
fn payload_range(entry: &PageEntry) -> Option<Range<u64>> {
    let start = entry.offset.checked_add(IMAGE_HEADER_BYTES as u64)?;
    Some(start..start.checked_add(u64::from(entry.payload_bytes))?)
}

/// Cuts pages that are sorted by offset into those that are read with one request each.
pub(super) fn neighbours(entries: &[PageEntry]) -> Vec<&[PageEntry]> {
    let (mut requests, mut rest) = (Vec::new(), entries);
    while let Some(first) = rest.first() {
        let pairs = rest.windows(2);
        let joined = pairs.take_while(|pair| joins(first, &pair[0], &pair[1]));
        let (request, after) = rest.split_at(joined.count() + 1);
        requests.push(request);
        rest = after;
    }
    requests
}

/// Whether the request that begins with `first` and has come to `last` goes on to `next`.
fn joins(first: &PageEntry, last: &PageEntry, next: &PageEntry) -> bool {
    let ranges = (
        payload_range(first),
        payload_range(last),
        payload_range(next),
    );
    let (Some(first), Some(last), Some(following)) = ranges else {
        return false;
    };
    let gap_bytes = next.offset.checked_sub(last.end);
    let request_bytes = following.end.checked_sub(first.start);
    gap_bytes.is_some_and(|bytes| bytes <= GAP_BYTES_MAX)
        && request_bytes.is_some_and(|bytes| bytes <= REQUEST_BYTES_MAX)
}

/// Reads pages that [`neighbours`] has put together.
pub(super) fn read_neighbours(disk: &dyn Disk, entries: &[PageEntry]) -> NeighboursRead {
    let read = match entries {
        [] => None,
        [entry] => read_one(disk, entry),
        [first, .., last] => read_several(disk, entries, first, last),
    };
    read.unwrap_or_else(|| NeighboursRead {
        bytes: 0,
        payloads: vec![None; entries.len()],
    })
}

/// Without a copy.
fn read_one(disk: &dyn Disk, entry: &PageEntry) -> Option<NeighboursRead> {
    let range = payload_range(entry)?;
    let mut payload: Arc<[u8]> = std::iter::repeat_n(0, entry.payload_bytes as usize).collect();
    disk.read_scattered_at(Arc::get_mut(&mut payload)?, range.start)
        .ok()?;
    let is_sound = checksum(&payload) == entry.payload_checksum;
    Some(NeighboursRead {
        bytes: u64::from(entry.payload_bytes),
        payloads: vec![is_sound.then_some(payload)],
    })
}

fn read_several(
    disk: &dyn Disk,
    entries: &[PageEntry],
    first: &PageEntry,
    last: &PageEntry,
) -> Option<NeighboursRead> {
    let start = payload_range(first)?.start;
    let bytes = payload_range(last)?.end.checked_sub(start)?;
    if bytes > REQUEST_BYTES_MAX {
        return None;
    }
    let mut buffer = vec![0; bytes as usize];
    disk.read_scattered_at(&mut buffer, start).ok()?;
    let payload = |entry: &PageEntry| {
        let range = payload_range(entry)?;
        let from = usize::try_from(range.start.checked_sub(start)?).ok()?;
        let to = usize::try_from(range.end.checked_sub(start)?).ok()?;
        let payload = buffer.get(from..to)?;
        (checksum(payload) == entry.payload_checksum).then(|| Arc::from(payload))
    };
    Some(NeighboursRead {
        bytes,
        payloads: entries.iter().map(payload).collect(),
    })
}
