//! Where the next run of the log goes.
//!
//! The header of a run says where the next run will be, so one block is always set aside for the
//! start of it: the *tail*. When the next run does not fit there, a link is written at the tail
//! that leads to a place where it does. The tail always lies inside the file, so that even on a
//! full disk the log can be continued; and one series of blocks, the *reserve*, is held back: for what
//! makes room, and for who cleans after it. See "A full disk" in the crate's README.

use quire_format::volume::BLOCK_BYTES;

use super::floors::{Floors, SHORT_RUN_BYTES};
use super::free_space::{Extent, FreeSpace, USEFUL_HOLE};

/// In a file shorter than this the reserve makes way for the log, so that no hole is left where it was.
const SHORT_FILE_BYTES: u64 = 2 << 20;

/// The free blocks, and the two places that are set aside.
pub(super) struct Space {
    pub(super) free: FreeSpace,
    /// Where the next run of the log will start; `None` between sessions.
    pub(super) tail: Option<u64>,
    pub(super) reserve: Extent,
    /// How long the reserve should be.
    pub(super) floors: Floors,
    /// The file could not be made longer when that was last tried.
    pub(super) is_full: bool,
}

/// A log of so many blocks fits between what is in use and a new reserve.
const LOG_BLOCKS: u64 = (1 << 20) / BLOCK_BYTES;

/// May a placement use the reserve?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// No; the file may grow.
    Ordinary,
    /// No, and the file does not grow: for what an ordinary placement found no room for.
    Inside,
    /// Yes, but for so many blocks, and the file does not grow: for what makes room.
    MakesRoom { left: u64 },
}

/// Where the reserve goes when it is chosen anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seat {
    /// Nowhere, if it is long enough: when it moves in a file that grows, it leaves a hole. Else behind everything, and behind
    /// room for the log if there is some, so that the end of the file is free when the session ends.
    Stays,
    /// Behind everything: the holes are for what is alive.
    AtEnd,
    /// As low as possible.
    Lowest,
}

/// Where a run of the log goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunPlacement {
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
    /// Where the reserve was: it may have made way, or been used.
    reserve_before: Extent,
}

impl RunPlacement {
    /// True when a link must lead from the old tail to the run.
    pub(super) fn needs_link(&self) -> bool {
        self.extent.start != self.tail_before
    }

    /// The block of the link that leads to the run, if any.
    pub(super) fn link(&self) -> Option<Extent> {
        self.needs_link().then_some(Extent {
            start: self.tail_before,
            count: 1,
        })
    }

    /// The link, if any, and the run.
    pub(super) fn runs(&self) -> impl Iterator<Item = Extent> {
        self.link().into_iter().chain([self.extent])
    }
}

impl Space {
    /// Places a run of `count` blocks; `None` when there is no room.
    ///
    /// Precondition: there is a tail.
    pub(super) fn place(&mut self, count: u64, need: Need) -> Option<RunPlacement> {
        let tail = self.tail?;
        let may_grow = need == Need::Ordinary;
        let end_before = self.free.end();
        let reserve_before = self.reserve;
        let makes_way = may_grow && self.reserve_is_in_the_way(tail, count);
        match need {
            Need::MakesRoom { left } => self.open_reserve(left),
            _ if makes_way => drop(self.lift_reserve()),
            _ => {}
        }
        let extent = if self.free.room_at(tail + 1, may_grow) >= count - 1 {
            self.free.take(Extent {
                start: tail + 1,
                count: count - 1,
            });
            Extent { start: tail, count }
        } else {
            match self.allocate(count, need) {
                Some(extent) => extent,
                None => {
                    self.restore_reserve(reserve_before);
                    return None;
                }
            }
        };
        let end_with_run = self.free.end();
        let Some(next) = self.allocate_tail(extent, need) else {
            self.give_back(extent, tail);
            self.restore_reserve(reserve_before);
            return None;
        };
        self.tail = Some(next);
        if makes_way {
            self.reserve = Extent {
                start: next + 1,
                count: reserve_before.count,
            };
            self.free.take(self.reserve);
        }
        Some(RunPlacement {
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

    pub(super) fn reserve_ends_a_short_file(&self) -> bool {
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
            (None, Need::MakesRoom { left }) if self.reserve.count > left => {
                self.open_reserve(left);
                return self.allocate(count, Need::Inside);
            }
            (None, Need::MakesRoom { .. }) => return None,
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
        let start = if need != Need::Ordinary {
            let longest = self.longest_hole()?;
            if self.free.room_at(after, false) >= longest.count.min(USEFUL_HOLE) {
                after
            } else {
                longest.start
            }
        } else if self.free.room_at(after, true) > 0 {
            after
        } else {
            self.free.first_fit(run.count).unwrap_or(self.free.end())
        };
        self.free.take(Extent { start, count: 1 });
        Some(start)
    }

    /// Takes a block for the tail of a log that starts anew.
    pub(super) fn allocate_first_tail(&mut self, need: Need) -> Option<Extent> {
        let longest = || self.longest_hole().map(|hole| hole.start);
        let useful = self.free.first_fit(USEFUL_HOLE);
        match useful.or_else(|| self.is_full.then(longest).flatten()) {
            Some(start) => {
                let extent = Extent { start, count: 1 };
                self.free.take(extent);
                Some(extent)
            }
            None => self.allocate(1, need),
        }
    }

    /// How many of so many blocks are not in the file. As long as it can be made longer, short holes do not count: a full disk
    /// has to be cleaned before these are of use.
    pub(super) fn lacking(&self, wanted: u64) -> u64 {
        let free = if self.is_full {
            self.free.free_count()
        } else {
            self.free.useful_count()
        };
        wanted.saturating_sub(free + self.reserve.count)
    }

    /// Of what is withheld, how many blocks have to lie at the end of the file.
    pub(super) fn wanted_at_end(&self) -> u64 {
        let at_end = self.free.tail().map_or(0, |tail| tail.count);
        self.lacking(self.floors.left_by_others() + at_end)
    }

    /// Undoes the newest placement.
    pub(super) fn undo(&mut self, placement: &RunPlacement) {
        self.free.put(Extent {
            start: placement.next,
            count: 1,
        });
        self.give_back(placement.extent, placement.tail_before);
        self.restore_reserve(placement.reserve_before);
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

    /// Sets aside again what was set aside before, all of which has been given back.
    pub(super) fn restore_reserve(&mut self, reserve: Extent) {
        self.lift_reserve();
        self.free.take(reserve);
        self.reserve = reserve;
    }

    /// Gives the reserve back but for its last `left` blocks. When it had to be used, a checkpoint chooses another.
    fn open_reserve(&mut self, left: u64) {
        let count = self.reserve.count.saturating_sub(left);
        let start = self.reserve.start;
        self.reserve.start += count;
        self.reserve.count -= count;
        self.free.put(Extent { start, count });
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

    /// Bytes of the longest run that finds a place without making the file longer: at the tail, unless there is little room.
    pub(super) fn run_room_bytes(&self, left: Option<u64>) -> u64 {
        let at_tail = self.room_bytes();
        if at_tail >= SHORT_RUN_BYTES {
            return at_tail;
        }
        let longest = self.longest_hole().map_or(0, |hole| hole.count);
        let opened = left.map_or(0, |left| self.reserve.count.saturating_sub(left));
        at_tail.max((longest.max(opened) * BLOCK_BYTES).saturating_sub(BLOCK_BYTES))
    }

    fn longest_hole(&self) -> Option<Extent> {
        self.free.extents().max_by_key(|extent| extent.count)
    }

    /// True when the reserve has been used, or the file has outgrown it.
    pub(super) fn is_short(&self, wanted: u64) -> bool {
        if self.is_full {
            self.reserve.count < self.floors.left_by_flushes()
        } else {
            self.reserve.count < wanted - wanted / 4
        }
    }

    /// The longest series of blocks once these are free as well, and the reserve.
    pub(super) fn longest_with(&self, extents: impl IntoIterator<Item = Extent>) -> u64 {
        let mut free = self.free.clone();
        free.put(self.reserve);
        extents.into_iter().for_each(|extent| free.put(extent));
        free.extents().map(|extent| extent.count).max().unwrap_or(0)
    }

    /// Chooses the reserve anew. Returns the blocks by which the file must grow for it.
    pub(super) fn choose_reserve(&mut self, wanted: u64, seat: Seat) -> Option<Extent> {
        let is_enough = (wanted - wanted / 4..=wanted + wanted / 2).contains(&self.reserve.count);
        if is_enough && seat == Seat::Stays {
            return None;
        }
        let before = self.lift_reserve().count;
        let count = if is_enough { before } else { wanted };
        let end = self.free.end();
        let end_of_use = self.end_of_use();
        let start = match seat {
            Seat::Stays => self.seat_behind(end_of_use, count),
            Seat::AtEnd => end_of_use,
            Seat::Lowest => self.free.first_fit(count).unwrap_or(end_of_use),
        };
        self.reserve = Extent { start, count };
        self.free.take(self.reserve);
        (self.free.end() > end).then(|| Extent {
            start: end,
            count: self.free.end() - end,
        })
    }

    /// Behind everything and room for a log, as long as that does not make the file longer; in a short file at its end.
    fn seat_behind(&self, end_of_use: u64, count: u64) -> u64 {
        let end = self.free.end();
        let last = end.saturating_sub(count).max(end_of_use);
        if end * BLOCK_BYTES < SHORT_FILE_BYTES {
            last
        } else {
            last.min(end_of_use + LOG_BLOCKS)
        }
    }

    /// The file did not grow: makes do with the longest series of free blocks.
    pub(super) fn shrink_reserve(&mut self, end: u64) {
        self.lift_reserve();
        self.free.cut_tail(end);
        if let Some(longest) = self.longest_hole() {
            let count = longest.count.min(self.floors.left_by_others());
            self.reserve = Extent { count, ..longest };
            self.free.take(self.reserve);
        }
    }

    /// Gives the reserve back. Returns where it was.
    pub(super) fn lift_reserve(&mut self) -> Extent {
        let reserve = std::mem::replace(&mut self.reserve, Extent { start: 0, count: 0 });
        self.free.put(reserve);
        reserve
    }
}
