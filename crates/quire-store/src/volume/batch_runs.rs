//! The runs of a batch: images collected in a buffer, which becomes a run.

use std::collections::HashMap;
use std::io;
use std::ops::Range;

use quire_format::volume::{
    BLOCK_BYTES, IMAGE_HEADER_BYTES, ImageHeader, ImageKind, PageEntry, PageId, RUN_HEADER_BYTES,
    RunHeader, RunKind, checksum, checksum_append,
};

use super::floors::run_bytes_max;
use super::inner::VolumeInner;
use super::placement::RunPlacement;
use super::writer::VolumeWriterState;

/// Where the newest image of a page is that the batch wrote.
#[derive(Clone, Copy)]
pub(super) enum FlushedImage {
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
    /// Whether images of whole blocks begin at blocks.
    aligns_images: bool,
    buffered: Vec<(PageId, usize, ImageHeader)>,
    pub(super) places: HashMap<PageId, FlushedImage>,
    pub(super) placements: Vec<RunPlacement>,
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
            aligns_images: true,
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

    /// Images follow each other without gaps from now on. On a full disk, and when dead space is cleaned, a batch must not be longer than what it
    /// writes: what is set aside and what cleaning gains are calculated from the lengths of images.
    pub(super) fn pack_images(&mut self) {
        self.aligns_images = false;
    }

    /// Runs become as long as this at least, and not longer than the options say.
    pub(super) fn want_runs_of(&mut self, bytes: u64) {
        self.bytes_wanted_min = self.bytes_wanted_max.min(bytes as usize);
        self.bytes_wanted = self.bytes_wanted.max(self.bytes_wanted_min);
    }

    /// Puts an image at the end of the buffer; one of whole blocks at the beginning of a block, unless they are packed.
    pub(super) fn append(&mut self, header: &ImageHeader, payload: &[u8]) {
        if self.buffer.is_empty() {
            if self.run_count > 0 {
                // A second run: the batch is a long one.
                self.buffer
                    .reserve(self.bytes_wanted + self.bytes_wanted / 8 + payload.len());
            }
            self.buffer.resize(RUN_HEADER_BYTES, 0);
        }
        if self.aligns_images && header.image_bytes().is_multiple_of(BLOCK_BYTES as usize) {
            self.fill_block();
        }
        self.push(header, payload);
    }

    /// Puts a filler at the end of the buffer, unless a block ends there. Runs begin at blocks, so the position in the buffer decides.
    fn fill_block(&mut self) {
        let block_bytes = BLOCK_BYTES as usize;
        let position = self.buffer.len();
        let mut gap_bytes = position.next_multiple_of(block_bytes) - position;
        if gap_bytes == 0 {
            return;
        }
        if gap_bytes < IMAGE_HEADER_BYTES {
            gap_bytes += block_bytes;
        }
        let zeros = vec![0; gap_bytes - IMAGE_HEADER_BYTES];
        let filler = ImageHeader {
            kind: ImageKind::Filler,
            payload_bytes: zeros.len() as u32,
            sequence: self.sequence,
            payload_checksum: checksum(&zeros),
        };
        self.push(&filler, &zeros);
    }

    fn push(&mut self, header: &ImageHeader, payload: &[u8]) {
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
                FlushedImage::Buffered {
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

    pub(super) fn block_count(&self) -> u64 {
        (self.buffer.len() as u64).div_ceil(BLOCK_BYTES)
    }

    /// Makes the buffer a run at that place. The buffer is empty afterwards.
    pub(super) fn seal(
        &mut self,
        placement: RunPlacement,
        writer: &VolumeWriterState,
    ) -> SealedRun {
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
            self.places.insert(*page, FlushedImage::Placed(entry));
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
    pub(super) fn unseal(&mut self, sealed: SealedRun) {
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
            let place = FlushedImage::Buffered {
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
pub(super) struct SealedRun {
    /// Byte and content of the link that leads to it.
    link: Option<(u64, [u8; RUN_HEADER_BYTES])>,
    offset: u64,
    bytes: Vec<u8>,
    /// Where the padding begins.
    image_end: usize,
    pages: Vec<(PageId, usize, ImageHeader)>,
    placement: RunPlacement,
    /// Bytes behind the run that must be made to exist: the next tail and what follows it.
    grown: Option<Range<u64>>,
}

impl SealedRun {
    /// Makes the next tail exist. The next run goes there: nobody may be able to place it before this returns,
    /// or the empty block could overwrite its beginning.
    pub(super) fn make_tail(&mut self, inner: &VolumeInner) -> io::Result<()> {
        match self.grown.take() {
            Some(bytes) => write_zeros(inner, &bytes),
            None => Ok(()),
        }
    }

    /// Makes the next tail part of the run's own write, when it is next to it and nobody else writes.
    pub(super) fn absorb_tail(&mut self) {
        let end = self.offset + self.bytes.len() as u64;
        if let Some(new) = self.grown.take_if(|new| new.start == end) {
            self.bytes.resize((new.end - self.offset) as usize, 0);
        }
    }

    pub(super) fn write(&self, inner: &VolumeInner) -> io::Result<()> {
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

fn write_zeros(inner: &VolumeInner, bytes: &Range<u64>) -> io::Result<()> {
    let zeros = vec![0; (bytes.end - bytes.start) as usize];
    inner.disk.write_at(&zeros, bytes.start)
}
