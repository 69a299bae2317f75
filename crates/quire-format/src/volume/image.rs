//! The header of a page image: what makes an image self-describing.

use quire_codec::Corrupt;

use super::page::{PageId, PageKind};
use super::{MAX_PAYLOAD_BYTES, checksum, put, take};
use crate::document::{DiskStructure, StructureField};

/// Length of the header of an image.
pub const IMAGE_HEADER_BYTES: usize = 32;

const IMAGE_MAGIC: [u8; 2] = *b"Qi";

const KIND: usize = 2;
const VERSION: usize = 3;
const PAYLOAD_BYTES: usize = 4;
const PAGE: usize = 8;
const SEQUENCE: usize = 16;
const PAYLOAD_CHECKSUM: usize = 24;
const CHECKSUM: usize = 28;

const IMAGE_VERSION: u8 = 1;

pub(super) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Image header",
    about: "\
In front of every payload. The images of a run follow each other without gaps. An image whose length, header included, is a
multiple of 4,096 begins at such a multiple of the file: where the one before it ends earlier, a filler, an image of zeros that says
nothing, is between them. Copies made by cleaning, and images written on a full disk, begin anywhere: readers do not rely on it. The header's checksum covers the payload's, so both together cover every byte of
the image.",
    fixed_bytes: Some(IMAGE_HEADER_BYTES),
    fields: &[
        StructureField::at(0, "2", "magic", "`Qi`"),
        StructureField::at(
            KIND,
            "1",
            "kind",
            "1 catalog, 2 table, 3 row group, 4 segment, 5 log page, 6 log root, 7 row page, \
             8 staging mark, 9 list of dictionaries, 10 dictionary, 11 table of data sets, 12 head of a data set, 13 node of a data set, \
             14 record, 15 dead pages, 16 logged writes; 240 freed pages, \
             241 commit record, 242 map chunk, 243 filler",
        ),
        StructureField::at(VERSION, "1", "version", "1"),
        StructureField::at(PAYLOAD_BYTES, "4", "payload_bytes", "at most 4 MiB"),
        StructureField::at(
            PAGE,
            "8",
            "page",
            "whose image it is; 0 for kinds from 240 on",
        ),
        StructureField::at(
            SEQUENCE,
            "8",
            "sequence",
            "of the batch; a map chunk has its generation here",
        ),
        StructureField::at(
            PAYLOAD_CHECKSUM,
            "4",
            "payload_checksum",
            "CRC32C of the payload",
        ),
        StructureField::at(
            CHECKSUM,
            "4",
            "checksum",
            "CRC32C of the 28 bytes before it",
        ),
    ],
};

/// What an image holds: a page, or something of the volume's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    /// A page and what the rooms above call it.
    Page(PageId, PageKind),
    /// Pages that the batch freed.
    Freed,
    /// The end of a batch.
    Commit,
    /// A piece of the page map.
    MapChunk,
    /// Nothing: zeros, so that the next image begins at a block.
    Filler,
}

const FREED: u8 = 240;
const COMMIT: u8 = 241;
const MAP_CHUNK: u8 = 242;
const FILLER: u8 = 243;

/// The header of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageHeader {
    /// What the image holds.
    pub kind: ImageKind,
    /// Length of the payload.
    pub payload_bytes: u32,
    /// Sequence of the batch; the superblock generation for a map chunk.
    pub sequence: u64,
    /// CRC32C of the payload.
    pub payload_checksum: u32,
}

impl ImageHeader {
    /// The bytes to write.
    #[must_use]
    pub fn encode(&self) -> [u8; IMAGE_HEADER_BYTES] {
        let (kind, page) = match self.kind {
            ImageKind::Page(page, kind) => (kind as u8, page.get()),
            ImageKind::Freed => (FREED, 0),
            ImageKind::Commit => (COMMIT, 0),
            ImageKind::MapChunk => (MAP_CHUNK, 0),
            ImageKind::Filler => (FILLER, 0),
        };
        let mut bytes = [0; IMAGE_HEADER_BYTES];
        put(&mut bytes, 0, IMAGE_MAGIC);
        put(&mut bytes, KIND, [kind]);
        put(&mut bytes, VERSION, [IMAGE_VERSION]);
        put(&mut bytes, PAYLOAD_BYTES, self.payload_bytes.to_le_bytes());
        put(&mut bytes, PAGE, page.to_le_bytes());
        put(&mut bytes, SEQUENCE, self.sequence.to_le_bytes());
        put(
            &mut bytes,
            PAYLOAD_CHECKSUM,
            self.payload_checksum.to_le_bytes(),
        );
        let sum = checksum(&bytes[..CHECKSUM]);
        put(&mut bytes, CHECKSUM, sum.to_le_bytes());
        bytes
    }

    /// True when `bytes` start like an image: a cheap test before [`ImageHeader::decode`].
    #[must_use]
    pub fn may_start(bytes: &[u8]) -> bool {
        bytes.starts_with(&IMAGE_MAGIC)
    }

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    /// [`Corrupt`] when `bytes` are too short or not an image header.
    pub fn decode(bytes: &[u8]) -> Result<Self, Corrupt> {
        let bytes: &[u8; IMAGE_HEADER_BYTES] = bytes
            .first_chunk()
            .ok_or_else(|| Corrupt::new("image header is cut off", 0))?;
        if !bytes.starts_with(&IMAGE_MAGIC) {
            return Err(Corrupt::new("no image starts here", 0));
        }
        if checksum(&bytes[..CHECKSUM]) != u32::from_le_bytes(take(bytes, CHECKSUM)) {
            return Err(Corrupt::new(
                "the checksum of the image header does not match",
                CHECKSUM,
            ));
        }
        if bytes[VERSION] != IMAGE_VERSION {
            return Err(Corrupt::new(
                format!("image has version {}", bytes[VERSION]),
                VERSION,
            ));
        }
        let payload_bytes = u32::from_le_bytes(take(bytes, PAYLOAD_BYTES));
        if payload_bytes as usize > MAX_PAYLOAD_BYTES {
            return Err(Corrupt::new(
                "image is longer than any may be",
                PAYLOAD_BYTES,
            ));
        }
        Ok(Self {
            kind: decode_kind(bytes[KIND], u64::from_le_bytes(take(bytes, PAGE)))?,
            payload_bytes,
            sequence: u64::from_le_bytes(take(bytes, SEQUENCE)),
            payload_checksum: u32::from_le_bytes(take(bytes, PAYLOAD_CHECKSUM)),
        })
    }

    /// Bytes of header and payload.
    #[must_use]
    pub fn image_bytes(&self) -> usize {
        IMAGE_HEADER_BYTES + self.payload_bytes as usize
    }
}

fn decode_kind(kind: u8, page: u64) -> Result<ImageKind, Corrupt> {
    let own = match kind {
        FREED => ImageKind::Freed,
        COMMIT => ImageKind::Commit,
        MAP_CHUNK => ImageKind::MapChunk,
        FILLER => ImageKind::Filler,
        _ => {
            let kind = PageKind::from_u8(kind)
                .ok_or_else(|| Corrupt::new(format!("image of unknown kind {kind}"), KIND))?;
            let page = PageId::new(page)
                .ok_or_else(|| Corrupt::new(format!("no page can be called {page}"), PAGE))?;
            return Ok(ImageKind::Page(page, kind));
        }
    };
    if page != 0 {
        return Err(Corrupt::new(
            "an image of the volume's own names a page",
            PAGE,
        ));
    }
    Ok(own)
}
