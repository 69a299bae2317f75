//! Where the next run of the log goes.
//!
//! The header of a run says where the next run will be, so one block is always set aside for the
//! start of it: the *tail*. When the next run does not fit there, a link is written at the tail
//! that leads to a place where it does. The tail always lies inside the file, so that even on a
//! full disk the log can be continued; and a few blocks, the *reserve*, are held back for batches
//! that free more than they write.

use quire_format::volume::BLOCK_BYTES;

use super::free_space::{Extent, FreeSpace};

const RESERVE_BYTES_MIN: u64 = 32 << 10;
const RESERVE_BYTES_MAX: u64 = 1 << 20;

/// In a file shorter than this the reserve makes way for the log, so that no hole is left where it was.
const SHORT_FILE_BYTES: u64 = 2 << 20;

/// A file that ends its session with less alive keeps no reserve: it would be much of the file.
pub(super) const RESERVED_LIVE_BYTES_MIN: u64 = 1 << 20;

/// The free blocks, and the two places that are set aside.
pub(super) struct Space {
    pub(super) free: FreeSpace,
    /// Where the next run of the log will start; `None` between sessions.
    pub(super) tail: Option<u64>,
    pub(super) reserve: Extent,
}

/// May a placement use the reserve?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// No; the file may grow.
    Ordinary,
    /// No, and the file does not grow: for what an ordinary placement found no room for.
    Inside,
    /// Yes, and the file does not grow: for what makes room.
    MakesRoom,
}

/// Where a run of the log goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    /// The tail before. A link is needed there unless the run starts there.
    pub(super) tail_before: u64,
    pub(super) extent: Extent,
    /// The tail after.
    pub(super) next: u64,
    /// What lies behind the run and the old end of the file and must be written to exist: the tail after, and a
    /// reserve that made way.
    pub(super) grown: Extent,
    /// Blocks of the file before.
    end_before: u64,
    /// Where the reserve was, if it made way.
    reserve_before: Option<Extent>,
}

impl Placement {
    /// True when a link must lead from the old tail to the run.
    pub(super) fn needs_link(&self) -> bool {
        self.extent.start != self.tail_before
    }

    /// The link, if any, and the run.
    pub(super) fn runs(&self) -> impl Iterator<Item = Extent> {
        let link = Extent {
            start: self.tail_before,
            count: 1,
        };
        self.needs_link()
            .then_some(link)
            .into_iter()
            .chain([self.extent])
    }
}

impl Space {
    /// Places a run of `count` blocks; `None` when there is no room.
    ///
    /// Precondition: there is a tail.
    pub(super) fn place(&mut self, count: u64, need: Need) -> Option<Placement> {
        let tail = self.tail?;
        let may_grow = need == Need::Ordinary;
        let end_before = self.free.end();
        let reserve_before =
            (may_grow && self.reserve_is_in_the_way(tail, count)).then(|| self.lift_reserve());
        let extent = if self.free.room_at(tail + 1, may_grow) >= count - 1 {
            self.free.take(Extent {
                start: tail + 1,
                count: count - 1,
            });
            Extent { start: tail, count }
        } else {
            self.allocate(count, need)?
        };
        let end_with_run = self.free.end();
        let Some(next) = self.allocate_tail(extent, need) else {
            self.give_back(extent, tail);
            return None;
        };
        self.tail = Some(next);
        if let Some(lifted) = reserve_before {
            self.reserve = Extent {
                start: next + 1,
                count: lifted.count,
            };
            self.free.take(self.reserve);
        }
        Some(Placement {
            tail_before: tail,
            extent,
            next,
            grown: Extent {
                start: end_with_run,
                count: self.free.end() - end_with_run,
            },
            end_before,
            reserve_before,
        })
    }

    /// Notes that the file has `count` more blocks. A reserve at the end of a short file stays at the end.
    pub(super) fn grow(&mut self, count: u64) {
        let moves = self.reserve_ends_a_short_file();
        self.free.grow(count);
        if moves {
            let lifted = self.lift_reserve();
            let start = self.free.end() - lifted.count;
            self.reserve = Extent { start, ..lifted };
            self.free.take(self.reserve);
        }
    }

    fn reserve_ends_a_short_file(&self) -> bool {
        let end = self.free.end();
        end * BLOCK_BYTES < SHORT_FILE_BYTES && self.reserve.count > 0 && self.reserve.end() == end
    }

    /// Does the reserve lie at the end of a short file, where a run goes that fits nowhere else?
    fn reserve_is_in_the_way(&self, tail: u64, count: u64) -> bool {
        self.reserve_ends_a_short_file()
            && self.free.room_at(tail + 1, false) <= count
            && self.free.first_fit(count).is_none()
    }

    /// Takes `count` blocks anywhere.
    pub(super) fn allocate(&mut self, count: u64, need: Need) -> Option<Extent> {
        let start = match (self.free.first_fit(count), need) {
            (Some(start), _) => start,
            (None, Need::Ordinary) => self.end_of_use(),
            (None, Need::Inside) => return None,
            (None, Need::MakesRoom) => return self.take_reserve(count),
        };
        let extent = Extent { start, count };
        self.free.take(extent);
        Some(extent)
    }

    /// Where the free tail of the file starts.
    fn end_of_use(&self) -> u64 {
        let tail = self.free.tail();
        tail.map_or(self.free.end(), |tail| tail.start)
    }

    /// Takes the block for the tail behind a run: the next one if it is free; else the start of
    /// a hole as large as that run, for runs of a batch tend to be alike; else a new block.
    fn allocate_tail(&mut self, run: Extent, need: Need) -> Option<u64> {
        let after = run.end();
        let start = if self.free.room_at(after, need == Need::Ordinary) > 0 {
            after
        } else if need != Need::Ordinary {
            return self.allocate(1, need).map(|extent| extent.start);
        } else {
            self.free.first_fit(run.count).unwrap_or(self.free.end())
        };
        self.free.take(Extent { start, count: 1 });
        Some(start)
    }

    /// Takes a block for the tail of a log that starts anew.
    pub(super) fn allocate_first_tail(&mut self, need: Need) -> Option<Extent> {
        const USEFUL_HOLE: u64 = 16;
        match self.free.first_fit(USEFUL_HOLE) {
            Some(start) => {
                let extent = Extent { start, count: 1 };
                self.free.take(extent);
                Some(extent)
            }
            None => self.allocate(1, need),
        }
    }

    /// Undoes the newest placement.
    pub(super) fn undo(&mut self, placement: &Placement) {
        if placement.reserve_before.is_some() {
            self.lift_reserve();
        }
        self.free.put(Extent {
            start: placement.next,
            count: 1,
        });
        self.give_back(placement.extent, placement.tail_before);
        if let Some(reserve) = placement.reserve_before {
            self.reserve = reserve;
            self.free.take(reserve);
        }
        self.free.cut_tail(placement.end_before);
        self.tail = Some(placement.tail_before);
    }

    /// Gives a run back, but not the block of the tail.
    fn give_back(&mut self, extent: Extent, tail: u64) {
        let skip = u64::from(extent.start == tail);
        self.free.put(Extent {
            start: extent.start + skip,
            count: extent.count - skip,
        });
    }

    fn take_reserve(&mut self, count: u64) -> Option<Extent> {
        let rest = self.reserve.count.checked_sub(count)?;
        let taken = Extent {
            start: self.reserve.start,
            count,
        };
        self.reserve = Extent {
            start: taken.end(),
            count: rest,
        };
        Some(taken)
    }

    /// Would [`Space::place`] make the file longer for a run of `count` blocks?
    pub(super) fn must_grow(&self, count: u64) -> bool {
        self.tail.is_some_and(|tail| {
            let room = self.free.room_at(tail + 1, false);
            let is_last = tail + 1 + room == self.free.end();
            room < count && (is_last || self.free.first_fit(count).is_none())
        })
    }

    /// Bytes that fit at the tail without a link and without making the file longer.
    pub(super) fn room_bytes(&self) -> u64 {
        self.tail.map_or(0, |tail| {
            (1 + self.free.room_at(tail + 1, false)) * BLOCK_BYTES
        })
    }

    /// True when the reserve has been used.
    pub(super) fn is_short(&self) -> bool {
        Self::is_too_short(self.reserve.count)
    }

    fn is_too_short(block_count: u64) -> bool {
        block_count * BLOCK_BYTES < RESERVE_BYTES_MIN
    }

    /// Chooses the reserve anew, as low in the file as possible. Returns the blocks by which the
    /// file must grow for it. Its length changes seldom: in a file that grows each change leaves a hole.
    pub(super) fn choose_reserve(&mut self, live_bytes: u64) -> Option<Extent> {
        let wanted_bytes = (live_bytes / 128).clamp(RESERVE_BYTES_MIN, RESERVE_BYTES_MAX);
        let wanted = wanted_bytes / BLOCK_BYTES;
        let before = self.lift_reserve().count;
        let count = match (wanted / 4..=wanted).contains(&before) && !Self::is_too_short(before) {
            true => before,
            false => wanted,
        };
        let end = self.free.end();
        let start = self
            .free
            .first_fit(count)
            .unwrap_or_else(|| self.end_of_use());
        self.reserve = Extent { start, count };
        self.free.take(self.reserve);
        (self.free.end() > end).then(|| Extent {
            start: end,
            count: self.free.end() - end,
        })
    }

    /// The file did not grow: makes do with the longest series of free blocks.
    pub(super) fn shrink_reserve(&mut self, end: u64) {
        self.lift_reserve();
        self.free.cut_tail(end);
        if let Some(longest) = self.free.extents().max_by_key(|extent| extent.count) {
            self.free.take(longest);
            self.reserve = longest;
        }
    }

    /// Gives the reserve back. Returns where it was.
    pub(super) fn lift_reserve(&mut self) -> Extent {
        let reserve = std::mem::replace(&mut self.reserve, Extent { start: 0, count: 0 });
        self.free.put(reserve);
        reserve
    }
}
