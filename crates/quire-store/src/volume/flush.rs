//! Collecting images in a buffer and writing it as a run.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::{Arc, MutexGuard};

use quire_format::volume::{
    BLOCK_BYTES, IMAGE_HEADER_BYTES, ImageHeader, ImageKind, PageEntry, PageId, RUN_HEADER_BYTES,
    RunHeader, RunKind, checksum_append,
};

use super::Inner;
use super::batch::WriteBatch;
use super::floors::run_bytes_max;
use super::placement::{Need, Placement};
use super::writer::Writer;
use crate::disk::is_full;
use crate::error::WriteError;

/// Where the newest image of a page is that the batch wrote.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// At this position of the buffer.
    Buffered {
        position: usize,
        header: ImageHeader,
    },
    /// In the file, or on its way there.
    Placed(PageEntry),
}

/// The runs of a batch.
pub(super) struct BatchRuns {
    pub(super) sequence: u64,
    pub(super) after_commit: u64,
    /// Newest commit that was durable when the newest run was placed.
    durable_commit: u64,
    /// The buffer is written when it has reached this length: in a short file less than the options say.
    bytes_wanted: usize,
    bytes_wanted_max: usize,
    /// Not shorter than this: for copies on a full disk.
    bytes_wanted_min: usize,
    /// Starts with room for the header of the run.
    pub(super) buffer: Vec<u8>,
    buffered: Vec<(PageId, usize, ImageHeader)>,
    pub(super) places: HashMap<PageId, Place>,
    pub(super) placements: Vec<Placement>,
    pub(super) run_count: u32,
    pub(super) image_count: u64,
    pub(super) batch_checksum: u32,
    pub(super) written_bytes: u64,
    /// Runs that other threads are writing now.
    pub(super) in_flight: usize,
    pub(super) failed: bool,
}

impl BatchRuns {
    /// `end`: that of the file.
    pub(super) fn new(sequence: u64, after_commit: u64, bytes_wanted_max: usize, end: u64) -> Self {
        Self {
            sequence,
            after_commit,
            durable_commit: 0,
            bytes_wanted: bytes_wanted_max.min(run_bytes_max(end) as usize),
            bytes_wanted_max,
            bytes_wanted_min: 0,
            buffer: Vec::new(),
            buffered: Vec::new(),
            places: HashMap::new(),
            placements: Vec::new(),
            run_count: 0,
            image_count: 0,
            batch_checksum: 0,
            written_bytes: 0,
            in_flight: 0,
            failed: false,
        }
    }

    /// Runs become as long as this at least, and not longer than the options say.
    pub(super) fn want_runs_of(&mut self, bytes: u64) {
        self.bytes_wanted_min = self.bytes_wanted_max.min(bytes as usize);
        self.bytes_wanted = self.bytes_wanted.max(self.bytes_wanted_min);
    }

    /// Puts an image at the end of the buffer.
    pub(super) fn append(&mut self, header: &ImageHeader, payload: &[u8]) {
        if self.buffer.is_empty() {
            if self.run_count > 0 {
                // A second run: the batch is a long one.
                self.buffer
                    .reserve(self.bytes_wanted + self.bytes_wanted / 8 + payload.len());
            }
            self.buffer.resize(RUN_HEADER_BYTES, 0);
        }
        let position = self.buffer.len();
        let encoded = header.encode();
        self.buffer.extend_from_slice(&encoded);
        self.buffer.extend_from_slice(payload);
        if header.kind != ImageKind::Commit {
            self.image_count += 1;
            self.batch_checksum = checksum_append(self.batch_checksum, &encoded);
        }
        if let ImageKind::Page(page, _) = header.kind {
            self.buffered.push((page, position, *header));
            self.places.insert(
                page,
                Place::Buffered {
                    position,
                    header: *header,
                },
            );
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.buffer.len() >= self.bytes_wanted
    }

    /// The payload of an image that is still in the buffer.
    pub(super) fn buffered_payload(&self, position: usize, header: &ImageHeader) -> &[u8] {
        &self.buffer[position + IMAGE_HEADER_BYTES..][..header.payload_bytes as usize]
    }

    fn block_count(&self) -> u64 {
        (self.buffer.len() as u64).div_ceil(BLOCK_BYTES)
    }

    /// Makes the buffer a run at that place. The buffer is empty afterwards.
    fn seal(&mut self, placement: Placement, writer: &Writer) -> SealedRun {
        let salt = writer.superblock.salt;
        self.durable_commit = writer.durable_commit;
        let bytes_max = run_bytes_max(writer.space.free.end()) as usize;
        self.bytes_wanted = self
            .bytes_wanted_max
            .min(bytes_max)
            .max(self.bytes_wanted_min);
        let mut bytes = std::mem::take(&mut self.buffer);
        let offset = placement.extent.start * BLOCK_BYTES;
        let link = placement.needs_link().then(|| {
            let at = placement.tail_before * BLOCK_BYTES;
            (at, self.header(RunKind::Link, salt, at, offset, 0).encode())
        });
        let next = placement.next * BLOCK_BYTES;
        let body_bytes = (bytes.len() - RUN_HEADER_BYTES) as u32;
        let header = self.header(RunKind::Data, salt, offset, next, body_bytes);
        bytes[..RUN_HEADER_BYTES].copy_from_slice(&header.encode());
        let padded_bytes = placement.extent.count * BLOCK_BYTES;
        let grown = placement.grown.start * BLOCK_BYTES..placement.grown.end() * BLOCK_BYTES;
        let image_end = bytes.len();
        bytes.resize(padded_bytes as usize, 0);
        let pages = std::mem::take(&mut self.buffered);
        for (page, position, header) in &pages {
            let entry = PageEntry {
                page: *page,
                offset: offset + *position as u64,
                payload_bytes: header.payload_bytes,
                payload_checksum: header.payload_checksum,
            };
            self.places.insert(*page, Place::Placed(entry));
        }
        self.written_bytes += placement.extent.count * BLOCK_BYTES;
        self.placements.push(placement);
        SealedRun {
            link,
            offset,
            bytes,
            image_end,
            pages,
            grown: Some(grown).filter(|grown| !grown.is_empty()),
            placement,
        }
    }

    /// Takes the newest run back into the buffer.
    fn unseal(&mut self, sealed: SealedRun) {
        let SealedRun {
            mut bytes,
            image_end,
            pages,
            placement,
            ..
        } = sealed;
        self.placements.pop();
        self.run_count -= placement.runs().count() as u32;
        self.written_bytes -= placement.extent.count * BLOCK_BYTES;
        bytes.truncate(image_end);
        self.buffer = bytes;
        for (page, position, header) in &pages {
            let place = Place::Buffered {
                position: *position,
                header: *header,
            };
            self.places.insert(*page, place);
        }
        self.buffered = pages;
    }

    fn header(
        &mut self,
        kind: RunKind,
        salt: u64,
        offset: u64,
        next: u64,
        body_bytes: u32,
    ) -> RunHeader {
        let ordinal = self.run_count;
        self.run_count += 1;
        let Self {
            sequence,
            after_commit,
            durable_commit,
            ..
        } = *self;
        RunHeader {
            kind,
            ordinal,
            sequence,
            after_commit,
            durable_commit,
            salt,
            offset,
            next,
            body_bytes,
        }
    }
}

/// Everything that writing a run puts on disk.
struct SealedRun {
    /// Byte and content of the link that leads to it.
    link: Option<(u64, [u8; RUN_HEADER_BYTES])>,
    offset: u64,
    bytes: Vec<u8>,
    /// Where the padding begins.
    image_end: usize,
    pages: Vec<(PageId, usize, ImageHeader)>,
    placement: Placement,
    /// Bytes behind the run that must be made to exist: the next tail and what follows it.
    grown: Option<Range<u64>>,
}

impl SealedRun {
    /// Makes the next tail exist. The next run goes there: nobody may be able to place it before this returns,
    /// or the empty block could overwrite its beginning.
    fn make_tail(&mut self, inner: &Inner) -> io::Result<()> {
        match self.grown.take() {
            Some(bytes) => write_zeros(inner, &bytes),
            None => Ok(()),
        }
    }

    /// Makes the next tail part of the run's own write, when it is next to it and nobody else writes.
    fn absorb_tail(&mut self) {
        let end = self.offset + self.bytes.len() as u64;
        if let Some(new) = self.grown.take_if(|new| new.start == end) {
            self.bytes.resize((new.end - self.offset) as usize, 0);
        }
    }

    fn write(&self, inner: &Inner) -> io::Result<()> {
        let mut block = [0; BLOCK_BYTES as usize];
        if let Some(new) = &self.grown {
            write_zeros(inner, new)?;
        }
        inner.disk.write_at(&self.bytes, self.offset)?;
        if let Some((offset, header)) = &self.link {
            block[..RUN_HEADER_BYTES].copy_from_slice(header);
            inner.disk.write_at(&block, *offset)?;
        }
        Ok(())
    }
}

fn write_zeros(inner: &Inner, bytes: &Range<u64>) -> io::Result<()> {
    let zeros = vec![0; (bytes.end - bytes.start) as usize];
    inner.disk.write_at(&zeros, bytes.start)
}

impl WriteBatch {
    /// Writes the buffer while other threads go on filling a new one.
    pub(super) fn flush_shared<'a>(
        &'a self,
        mut runs: MutexGuard<'a, BatchRuns>,
    ) -> Result<(), WriteError> {
        let needed_bytes = runs.buffer.len() as u64;
        let mut sealed = {
            let mut writer = self.inner.lock_writer();
            let prepared = self.inner.begin_session(&mut writer);
            // Unless the disk is full, all is made up for with the last run of the batch.
            let may = prepared.and_then(|()| self.may_take(&mut writer, &runs));
            let placed = may.map(|may| {
                if may {
                    place(&mut writer, &runs, Need::Ordinary)
                } else {
                    None
                }
            });
            match placed {
                Ok(Some(placement)) => runs.seal(placement, &writer),
                Ok(None) => {
                    runs.failed = true;
                    return Err(self.full(needed_bytes));
                }
                Err(error) => {
                    runs.failed = true;
                    return Err(error);
                }
            }
        };
        let tail_made = sealed.make_tail(&self.inner);
        runs.in_flight += 1;
        drop(runs);
        let written = tail_made.and_then(|()| sealed.write(&self.inner));
        let mut runs = self.lock_runs();
        runs.in_flight -= 1;
        runs.failed |= written.is_err();
        drop(runs);
        self.drained.notify_all();
        if written.as_ref().is_err_and(is_full) {
            self.inner.note_full(&mut self.inner.lock_writer(), true);
        }
        written.map_err(|error| self.inner.write_failed(error, needed_bytes))
    }

    /// Writes the buffer when nobody else uses the batch; may fall back to the reserve.
    pub(super) fn flush_alone(&self, runs: &mut BatchRuns) -> Result<(), WriteError> {
        let mut writer = self.inner.lock_writer();
        let result = self.inner.begin_session(&mut writer);
        let result = result.and_then(|()| {
            if self.makes_room(runs) {
                Ok(())
            } else {
                self.inner.grow_ahead(&mut writer, runs.block_count())
            }
        });
        let result = result.and_then(|()| self.write_alone(&mut writer, runs));
        runs.failed |= result.is_err();
        result
    }

    fn write_alone(&self, writer: &mut Writer, runs: &mut BatchRuns) -> Result<(), WriteError> {
        let needed_bytes = runs.buffer.len() as u64;
        let left = self.left_of_reserve(runs, &writer.space);
        // What is copied to make the file shorter goes into its holes, if it can.
        let needs = if self.is_cleaning {
            [Need::Inside, Need::Ordinary]
        } else {
            [Need::Ordinary, Need::Inside]
        };
        let makes_room = left.map(|left| Need::MakesRoom { left });
        // On a full disk it goes into the reserve in long runs, not into short holes.
        let needs = if self.is_cleaning && writer.space.is_full {
            &needs[..0]
        } else {
            &needs[..]
        };
        let mut failure = self.full(needed_bytes);
        for need in needs.iter().copied().chain(makes_room) {
            if !self.may_take(writer, runs)? {
                continue;
            }
            let Some(placement) = place(writer, runs, need) else {
                continue;
            };
            if !self.leaves_enough(writer, runs)? {
                writer.space.undo(&placement);
                continue;
            }
            let mut sealed = runs.seal(placement, writer);
            sealed.absorb_tail();
            let Err(error) = sealed.write(&self.inner) else {
                return Ok(());
            };
            if !is_full(&error) {
                return Err(self.inner.write_failed(error, needed_bytes));
            }
            writer.space.undo(&placement);
            self.inner.note_full(writer, true);
            runs.unseal(sealed);
            failure = self.inner.write_failed(error, needed_bytes);
        }
        Err(failure)
    }

    /// On a full disk every batch leaves what those need that make more room than it does.
    fn may_take(&self, writer: &mut Writer, runs: &BatchRuns) -> Result<bool, WriteError> {
        if !writer.space.is_full {
            return Ok(true);
        }
        let wanted = runs.block_count() + 1 + self.blocks_left(runs, &writer.space);
        let lacking = writer.space.lacking(wanted);
        if lacking > 0 {
            // The disk may not be full any more.
            self.inner.grow_again(writer, lacking)?;
        }
        Ok(writer.space.lacking(wanted) == 0)
    }

    /// A run has been placed. As long as the disk is not full the file is made longer until it has what the batch has to leave; false
    /// when that is not possible.
    fn leaves_enough(&self, writer: &mut Writer, runs: &BatchRuns) -> Result<bool, WriteError> {
        if writer.space.is_full {
            return Ok(true);
        }
        let left = self.blocks_left(runs, &writer.space);
        let ahead = self.inner.blocks_ahead(writer, runs.block_count());
        self.inner.make_room(writer, left, ahead)
    }

    /// On a full disk: writes the buffer if it would not find a place together with another image.
    pub(super) fn fit_into_hole(
        &self,
        runs: &mut BatchRuns,
        payload_bytes: usize,
    ) -> Result<(), WriteError> {
        let room_bytes = {
            let writer = self.inner.lock_writer();
            let left = self.left_of_reserve(runs, &writer.space);
            writer.space.run_room_bytes(left)
        };
        let with_image = (runs.buffer.len() + IMAGE_HEADER_BYTES + payload_bytes) as u64;
        if !runs.buffer.is_empty() && with_image > room_bytes {
            self.flush_alone(runs)
        } else {
            Ok(())
        }
    }

    fn full(&self, needed_bytes: u64) -> WriteError {
        WriteError::Full {
            file: Arc::clone(&self.inner.file),
            needed_bytes,
        }
    }
}

fn place(writer: &mut Writer, runs: &BatchRuns, need: Need) -> Option<Placement> {
    writer.space.place(runs.block_count(), need)
}
