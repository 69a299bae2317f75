//! Giving space back: only what a durable checkpoint no longer names, and what no pin can see.

use std::sync::atomic::Ordering;

use quire_format::volume::BLOCK_BYTES;

use super::floors::{FloorBasis, Floors, closed_reserve_blocks};
use super::free_space::{Extent, USEFUL_HOLE};
use super::inner::{Volume, VolumeInner, WriterTurn};
use super::placement::Seat;
use super::writer::VolumeWriterState;
use crate::disk::is_full;
use crate::error::BatchWriteError;

/// This much more than the log may become stays free at the end of the file, unless the session ends: small commits
/// then go on where the log was before last.
const TAIL_BYTES_KEPT: u64 = 1 << 20;

/// On a full disk this share of what is alive is set aside for flushes, so that there need not be one for every few pages.
const FLUSHES_OF_LIVE: u64 = 64;

impl Volume {
    /// The disk could not make the file longer when that was last tried.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.inner.is_full()
    }

    /// Is there room in the file for some ordinary batches, and for all that is set aside?
    #[must_use]
    pub fn has_room(&self) -> bool {
        let space = &self.inner.lock_writer().space;
        space.lacking(space.floors.room_for_some()) == 0
    }

    /// Bytes of images that are set aside for a flush: see [`Volume::keep_flush_room`].
    #[must_use]
    pub fn flush_room_bytes(&self) -> u64 {
        let asked = self.inner.flush_room_bytes.load(Ordering::Relaxed);
        asked.max(self.inner.flush_room_kept_bytes.load(Ordering::Relaxed))
    }

    /// From now on the file has room for a flush of so many bytes of images; on a full disk for a 64th of what is alive at
    /// least, as soon as it has been cleaned. Waits for a batch in progress.
    ///
    /// # Errors
    /// [`BatchWriteError::ReadOnly`], [`BatchWriteError::Poisoned`], [`BatchWriteError::Io`].
    pub fn keep_flush_room(&self, bytes: u64) -> Result<(), BatchWriteError> {
        if self.inner.flush_room_bytes.load(Ordering::Relaxed) == bytes {
            return Ok(());
        }
        let _turn = WriterTurn::wait(&self.inner);
        self.inner.may_write()?;
        let before = self.inner.flush_room_bytes.swap(bytes, Ordering::Relaxed);
        let mut writer = self.inner.lock_writer();
        if bytes <= before || writer.space.tail.is_none() {
            return Ok(());
        }
        if writer.space.is_full {
            return self.inner.renew_reserve(&mut writer, Seat::Lowest);
        }
        writer.space.floors = self.inner.floors(&writer);
        let left = writer.space.floors.left_by_others();
        // When the disk is found full, the next commit is told.
        self.inner.make_room(&mut writer, left, 0).map(drop)
    }

    /// Notes that so many bytes of images were made of so many bytes of pages.
    pub(crate) fn note_images(&self, image_bytes: u64, page_bytes: u64) {
        let permille = image_bytes.saturating_mul(1_000).checked_div(page_bytes);
        if let Some(permille) = permille {
            let known = &self.inner.image_permille;
            known.store(permille.max(1), Ordering::Relaxed);
        }
    }

    /// About what the images of so many bytes of pages take, and a quarter more.
    pub(crate) fn image_bytes_of(&self, page_bytes: u64) -> u64 {
        self.inner.image_bytes_of(page_bytes)
    }
}

impl VolumeWriterState {
    /// Does most of the reserve go when the session ends? On a full disk it is all there is.
    pub(super) fn lets_reserve_go(&self) -> bool {
        (self.space.tail.is_none() || self.is_closing) && !self.space.is_full
    }

    fn floors(&self, flush_bytes: u64) -> Floors {
        Floors::new(FloorBasis {
            end: self.space.free.end(),
            live_bytes: self.contents.pages.live_bytes(),
            run_blocks: self.contents.runs.block_count(),
            map_blocks: self.whole_map_blocks(),
            flush_bytes,
        })
    }

    fn whole_map_blocks(&self) -> u64 {
        self.whole_map_bytes().div_ceil(BLOCK_BYTES)
    }
}

impl VolumeInner {
    /// Gives back the dead runs that nobody can need any more.
    ///
    /// Their headers are erased: a scan for a lost page map then finds the live runs only. The
    /// erasures need no sync of their own, for the next commit brings one before the space can
    /// be mistaken for anything.
    pub(super) fn release_dead(
        &self,
        writer: &mut VolumeWriterState,
    ) -> Result<(), BatchWriteError> {
        let limit = writer
            .superblock
            .commit_sequence
            .min(writer.oldest_pinned());
        let released = writer.contents.runs.take_dead(limit);
        if released.is_empty() {
            return Ok(());
        }
        self.forget_cached(&released);
        for extent in &released {
            writer.space.free.put(*extent);
        }
        self.note_undiscarded(writer, &released);
        self.erase(released.iter().map(|extent| extent.start))
    }

    /// Chooses the reserve anew and cuts a long free tail off the file. Called when the space
    /// changed for good: after a checkpoint.
    pub(super) fn tidy_end(&self, writer: &mut VolumeWriterState) -> Result<(), BatchWriteError> {
        let is_closed = writer.space.tail.is_none();
        let seat = if is_closed { Seat::Lowest } else { Seat::Stays };
        self.renew_reserve(writer, seat)?;
        let live_bytes = writer.contents.pages.live_bytes();
        let keeps_bytes = match (is_closed, writer.space.is_full) {
            (_, true) => writer.space.floors.room_for_some() * BLOCK_BYTES,
            (false, false) => {
                let keeps_bytes = TAIL_BYTES_KEPT + self.options.log_limit_bytes(live_bytes);
                keeps_bytes.max(writer.space.wanted_at_end() * BLOCK_BYTES)
            }
            (true, false) => 0,
        };
        self.cut_end(writer, keeps_bytes)
    }

    /// Chooses the reserve anew, as long as it should be, or as it can be on a full disk.
    pub(super) fn renew_reserve(
        &self,
        writer: &mut VolumeWriterState,
        seat: Seat,
    ) -> Result<(), BatchWriteError> {
        let end_before = writer.space.free.end();
        writer.space.floors = self.floors(writer);
        let wanted = self.wanted_reserve(writer);
        let seat = if writer.space.is_full {
            Seat::Lowest
        } else {
            seat
        };
        let Some(growth) = writer.space.choose_reserve(wanted, seat) else {
            return Ok(());
        };
        let zeros = vec![0; (growth.count * BLOCK_BYTES) as usize];
        match self.disk.write_at(&zeros, growth.start * BLOCK_BYTES) {
            Ok(()) => self.note_full(writer, false),
            Err(error) if is_full(&error) => {
                self.note_full(writer, true);
                writer.space.shrink_reserve(end_before);
                return self.cut_file(writer);
            }
            Err(error) => return Err(self.write_failed(error, 0)),
        }
        Ok(())
    }

    fn wanted_reserve(&self, writer: &VolumeWriterState) -> u64 {
        match writer.lets_reserve_go() {
            true => closed_reserve_blocks(writer.contents.pages.live_bytes()),
            false if writer.space.is_full => self.floors(writer).left_by_others(),
            false => self.floors(writer).left_by_flushes(),
        }
    }

    fn floors(&self, writer: &VolumeWriterState) -> Floors {
        let asked = self.flush_room_bytes.load(Ordering::Relaxed);
        let kept = if writer.space.is_full && asked > 0 {
            asked.max(writer.contents.pages.live_bytes() / FLUSHES_OF_LIVE)
        } else {
            asked
        };
        self.flush_room_kept_bytes.store(kept, Ordering::Relaxed);
        writer.floors(kept)
    }

    /// Has the reserve been used, or has the file outgrown it?
    pub(super) fn is_short(&self, writer: &VolumeWriterState) -> bool {
        writer.space.is_short(self.wanted_reserve(writer))
    }

    pub(super) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    pub(super) fn image_bytes_of(&self, page_bytes: u64) -> u64 {
        let permille = self.image_permille.load(Ordering::Relaxed);
        page_bytes.saturating_mul(permille) / 800
    }

    /// Whether the disk could make the file longer just now.
    pub(super) fn note_full(&self, writer: &mut VolumeWriterState, is_full: bool) {
        writer.space.is_full = is_full;
        self.is_full.store(is_full, Ordering::Relaxed);
    }

    /// Cuts the free tail off the file but for `keeps_bytes`.
    pub(super) fn cut_end(
        &self,
        writer: &mut VolumeWriterState,
        keeps_bytes: u64,
    ) -> Result<(), BatchWriteError> {
        if let Some(tail) = writer.space.free.tail() {
            let kept_end = tail.start + keeps_bytes / BLOCK_BYTES;
            writer.space.free.cut_tail(kept_end);
        }
        self.cut_file(writer)
    }

    /// Makes the file longer before a small run does, so that the syncs of many small commits need not store a new
    /// length. On a full disk the run has to find its place alone.
    pub(super) fn grow_ahead(
        &self,
        writer: &mut VolumeWriterState,
        run_blocks: u64,
    ) -> Result<(), BatchWriteError> {
        let count = self.blocks_ahead(writer, run_blocks);
        if count == 0 || !writer.space.must_grow(run_blocks) {
            return Ok(());
        }
        self.grow_by(writer, count)?;
        Ok(())
    }

    /// Makes the file longer until so many blocks can be had in it, and then by `ahead` blocks at least. False when the disk is full.
    pub(super) fn make_room(
        &self,
        writer: &mut VolumeWriterState,
        blocks: u64,
        ahead: u64,
    ) -> Result<bool, BatchWriteError> {
        match writer.space.lacking(blocks) {
            0 => Ok(true),
            lacking => self.grow_by(writer, lacking.max(ahead).max(USEFUL_HOLE)),
        }
    }

    /// By how much the file becomes longer for a small run; about so much that in a short file the reserve is part of it.
    pub(super) fn blocks_ahead(&self, writer: &VolumeWriterState, run_blocks: u64) -> u64 {
        let count = self.options.growth_blocks();
        if run_blocks > count / 4 {
            0
        } else {
            (count - count / 4).max(count.saturating_sub(writer.space.reserve.count))
        }
    }

    /// The disk was full: makes the file longer by so many blocks if that is possible now. When there is much more room than that the
    /// disk is full no longer.
    pub(super) fn grow_again(
        &self,
        writer: &mut VolumeWriterState,
        count: u64,
    ) -> Result<(), BatchWriteError> {
        let reserve = writer.space.floors.left_by_others();
        if self.grow_by(writer, count + reserve)? {
            self.note_full(writer, false);
            return self.renew_reserve(writer, Seat::AtEnd);
        }
        self.grow_by(writer, count)?;
        Ok(())
    }

    /// Makes the file longer, unless the disk is full.
    fn grow_by(&self, writer: &mut VolumeWriterState, count: u64) -> Result<bool, BatchWriteError> {
        let zeros = vec![0; (count * BLOCK_BYTES) as usize];
        let end_bytes = writer.space.free.end() * BLOCK_BYTES;
        match self.disk.write_at(&zeros, end_bytes) {
            Ok(()) => {
                writer.space.grow(count);
                Ok(true)
            }
            Err(error) if is_full(&error) => {
                self.note_full(writer, true);
                self.cut_file(writer)?;
                Ok(false)
            }
            Err(error) => Err(self.write_failed(error, 0)),
        }
    }

    /// Cuts off what lies behind the last block that counts.
    pub(super) fn cut_file(&self, writer: &VolumeWriterState) -> Result<(), BatchWriteError> {
        let end_bytes = writer.space.free.end() * BLOCK_BYTES;
        let disk_bytes = self
            .disk
            .len()
            .map_err(|error| self.failed("read the length of", error))?;
        if disk_bytes > end_bytes {
            let cut = self.disk.set_len(end_bytes);
            cut.map_err(|error| self.failed("shorten", error))?;
        }
        Ok(())
    }

    fn forget_cached(&self, released: &[Extent]) {
        let mut sorted = released.to_vec();
        sorted.sort_unstable();
        self.cache.forget(&|offset| {
            let block = offset / BLOCK_BYTES;
            let after = sorted.partition_point(|extent| extent.start <= block);
            after > 0 && block < sorted[after - 1].end()
        });
    }
}
