//! Which blocks of the file nobody uses.

use std::collections::BTreeMap;

use quire_format::volume::{BLOCK_BYTES, FIRST_RUN_OFFSET};

/// First block that a run may use.
pub(super) const FIRST_RUN_BLOCK: u64 = FIRST_RUN_OFFSET / BLOCK_BYTES;

/// A hole of so many blocks takes any image of a row page, or some of a log.
pub(super) const USEFUL_HOLE: u64 = 16;

/// A series of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Extent {
    pub(super) start: u64,
    pub(super) count: u64,
}

impl Extent {
    pub(super) fn end(self) -> u64 {
        self.start + self.count
    }
}

/// The free blocks below `end`, and everything from `end` on.
#[derive(Clone, Debug)]
pub(super) struct FreeSpace {
    /// Start to length; never adjoining, never empty.
    extents: BTreeMap<u64, u64>,
    /// Of the extents, and of those that are useful.
    free_count: u64,
    useful_count: u64,
    /// Blocks of the file: nothing from here on has been written.
    end: u64,
}

impl FreeSpace {
    /// Everything below `end` that is not in `used`, which is ascending and without overlaps.
    pub(super) fn complement(used: impl IntoIterator<Item = Extent>, end: u64) -> Self {
        let mut free = Self {
            extents: BTreeMap::new(),
            free_count: 0,
            useful_count: 0,
            end: FIRST_RUN_BLOCK,
        };
        for extent in used {
            assert!(
                extent.start >= free.end,
                "two runs use block {}",
                extent.start
            );
            if extent.start > free.end {
                free.insert(free.end, extent.start - free.end);
            }
            free.end = extent.end();
        }
        if end > free.end {
            free.insert(free.end, end - free.end);
            free.end = end;
        }
        free
    }

    /// Blocks of the file.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Free blocks below the end.
    pub(super) fn free_count(&self) -> u64 {
        self.free_count
    }

    /// Those in useful holes.
    pub(super) fn useful_count(&self) -> u64 {
        self.useful_count
    }

    fn insert(&mut self, start: u64, count: u64) {
        self.extents.insert(start, count);
        self.free_count += count;
        self.useful_count += useful(count);
    }

    fn remove(&mut self, start: u64) -> Option<u64> {
        let count = self.extents.remove(&start)?;
        self.free_count -= count;
        self.useful_count -= useful(count);
        Some(count)
    }

    /// Every free extent, ascending.
    pub(super) fn extents(&self) -> impl Iterator<Item = Extent> + '_ {
        self.extents
            .iter()
            .map(|(&start, &count)| Extent { start, count })
    }

    /// The parts of `extent` that are free, ascending.
    pub(super) fn within(&self, extent: Extent) -> impl Iterator<Item = Extent> + '_ {
        let before = self.extents.range(..extent.start).next_back();
        let inside = self.extents.range(extent.start..extent.end());
        before
            .into_iter()
            .chain(inside)
            .filter_map(move |(&first, &count)| {
                let start = first.max(extent.start);
                let count = (first + count).min(extent.end()).checked_sub(start)?;
                (count > 0).then_some(Extent { start, count })
            })
    }

    /// How many blocks are free from `start` on without a gap. `may_grow` counts those behind
    /// the end of the file as well.
    pub(super) fn room_at(&self, start: u64, may_grow: bool) -> u64 {
        let room = match self.extents.range(..=start).next_back() {
            Some((&first, &count)) if first + count > start => first + count - start,
            _ => 0,
        };
        if may_grow && start + room == self.end {
            u64::MAX - start
        } else {
            room
        }
    }

    /// The lowest free extent inside the file that has `count` blocks: its start.
    pub(super) fn first_fit(&self, count: u64) -> Option<u64> {
        self.extents()
            .find(|extent| extent.count >= count)
            .map(|extent| extent.start)
    }

    /// Takes the blocks, which must be free; the file grows when they lie behind its end.
    pub(super) fn take(&mut self, extent: Extent) {
        if extent.count == 0 {
            return;
        }
        assert!(
            self.room_at(extent.start, true) >= extent.count,
            "{extent:?} is not free"
        );
        if let Some((&first, &count)) = self.extents.range(..=extent.start).next_back()
            && first + count > extent.start
        {
            self.remove(first);
            if first < extent.start {
                self.insert(first, extent.start - first);
            }
            if first + count > extent.end() {
                self.insert(extent.end(), first + count - extent.end());
            }
        }
        self.end = self.end.max(extent.end());
    }

    /// Gives blocks back.
    pub(super) fn put(&mut self, extent: Extent) {
        if extent.count == 0 {
            return;
        }
        let Extent { mut start, .. } = extent;
        let mut end = extent.end();
        assert!(
            end <= self.end,
            "{extent:?} lies behind the end of the file"
        );
        if let Some((&first, &count)) = self.extents.range(..end).next_back() {
            assert!(first + count <= start, "{extent:?} is free already");
            if first + count == start {
                self.remove(first);
                start = first;
            }
        }
        if let Some(count) = self.remove(end) {
            end += count;
        }
        self.insert(start, end - start);
    }

    /// Blocks were added to the file, and are free.
    pub(super) fn grow(&mut self, count: u64) {
        let start = self.end;
        self.end += count;
        self.put(Extent { start, count });
    }

    /// The free extent at the end of the file.
    pub(super) fn tail(&self) -> Option<Extent> {
        let (&start, &count) = self.extents.last_key_value()?;
        (start + count == self.end).then_some(Extent { start, count })
    }

    /// Cuts free blocks off the end of the file, down to block `end` at the lowest.
    pub(super) fn cut_tail(&mut self, end: u64) {
        if let Some(tail) = self.tail() {
            self.remove(tail.start);
            self.end = tail.start.max(end.min(tail.end()));
            if self.end > tail.start {
                self.insert(tail.start, self.end - tail.start);
            }
        }
    }
}

fn useful(count: u64) -> u64 {
    if count >= USEFUL_HOLE { count } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes and gives back at random; a vector of flags is the oracle.
    #[test]
    fn behaves_like_a_vector_of_flags() {
        let mut free = FreeSpace::complement([Extent { start: 4, count: 3 }], 40);
        let mut used = vec![false; 4096];
        used[..2].fill(true);
        used[4..7].fill(true);
        let mut held = vec![Extent { start: 4, count: 3 }];
        let mut random = 7_u64;
        for _ in 0..20_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let count = 1 + (random >> 40) % 9;
            if random >> 63 == 0 && !held.is_empty() {
                let extent = held.swap_remove((random >> 33) as usize % held.len());
                free.put(extent);
                used[extent.start as usize..extent.end() as usize].fill(false);
            } else if free.end() < 4_000 || free.first_fit(count).is_some() {
                let start = free.first_fit(count).unwrap_or(free.end());
                let expected = (0..used.len() - count as usize)
                    .find(|&at| used[at..at + count as usize].iter().all(|used| !used));
                assert!(start == free.end() || expected == Some(start as usize));
                let extent = Extent { start, count };
                free.take(extent);
                used[start as usize..extent.end() as usize].fill(true);
                held.push(extent);
            }
            let end = free.end() as usize;
            let free_count = used[..end].iter().filter(|used| !**used).count();
            assert_eq!(free.free_count(), free_count as u64);
            let holes = used[..end].split(|used| *used).map(<[bool]>::len);
            let useful_count: usize = holes.filter(|count| *count as u64 >= USEFUL_HOLE).sum();
            assert_eq!(free.useful_count(), useful_count as u64);
        }
        let last = used
            .iter()
            .rposition(|used| *used)
            .map_or(0, |at| at as u64 + 1);
        free.cut_tail(0);
        assert_eq!(free.end(), last);
    }

    #[test]
    #[should_panic(expected = "is free already")]
    fn blocks_are_not_given_back_twice() {
        let mut free = FreeSpace::complement([Extent { start: 4, count: 3 }], 40);
        free.put(Extent { start: 6, count: 1 });
        free.put(Extent { start: 6, count: 1 });
    }
}
