//! The header of a run: what makes the log a chain.

use quire_codec::Corrupt;

use super::{BLOCK_BYTES, FIRST_RUN_OFFSET, MAX_RUN_BYTES, checksum, put, take};
use crate::document::{DiskStructure, StructureField};

/// Length of the header of a run.
pub const RUN_HEADER_BYTES: usize = 72;

const RUN_MAGIC: [u8; 8] = *b"QUIRErun";
const RUN_VERSION: u16 = 2;

const VERSION: usize = 8;
const KIND: usize = 10;
const RESERVED: usize = 11;
const ORDINAL: usize = 12;
const SEQUENCE: usize = 16;
const AFTER_COMMIT: usize = 24;
const SALT: usize = 32;
const OFFSET: usize = 40;
const NEXT: usize = 48;
const DURABLE_COMMIT: usize = 56;
const BODY_BYTES: usize = 64;
const CHECKSUM: usize = 68;

pub(super) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Run header",
    about: "\
At the start of every run. A reader of the log accepts a run only when offset, salt, sequence and
ordinal are the expected ones, so that nothing left over from earlier use of the space is taken for
new: `after_commit` orders the batches. A commit may be acknowledged before it is durable, so a hole in
the log is no proof of damage. `durable_commit` is: a run that names one which the log does not lead to
tells that something promised is missing.",
    fixed_bytes: Some(RUN_HEADER_BYTES),
    fields: &[
        StructureField::at(0, "8", "magic", "`QUIRErun`"),
        StructureField::at(VERSION, "2", "version", "2"),
        StructureField::at(KIND, "1", "kind", "1 data, 2 link (empty, only leads to `next`), 3 map chunk"),
        StructureField::at(RESERVED, "1", "reserved", "0"),
        StructureField::at(ORDINAL, "4", "ordinal", "position in its batch, from 0; 0 for a map chunk"),
        StructureField::at(SEQUENCE, "8", "sequence", "of its batch; a map chunk has its generation here"),
        StructureField::at(AFTER_COMMIT, "8", "after_commit", "newest commit before its batch"),
        StructureField::at(SALT, "8", "salt", "of the session"),
        StructureField::at(OFFSET, "8", "offset", "where this run is in the file"),
        StructureField::at(NEXT, "8", "next", "where the next run of the log will be; 0 for a map chunk"),
        StructureField::at(DURABLE_COMMIT, "8", "durable_commit", "newest commit known to be durable before"),
        StructureField::at(BODY_BYTES, "4", "body_bytes", "bytes of the images that follow"),
        StructureField::at(CHECKSUM, "4", "checksum", "CRC32C of the 68 bytes before it"),
    ],
};

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RunKind {
    /// Images of a batch.
    Data = 1,
    /// No images: the log goes on elsewhere.
    Link = 2,
    /// One chunk of the page map; not part of the log.
    Map = 3,
}

/// The header of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunHeader {
    /// What the run is for.
    pub kind: RunKind,
    /// Position in its batch, from 0.
    pub ordinal: u32,
    /// Sequence of its batch; the superblock generation for a map chunk.
    pub sequence: u64,
    /// Newest commit when the batch was begun.
    pub after_commit: u64,
    /// Newest commit that was known to be durable then; at most `after_commit`.
    pub durable_commit: u64,
    /// Mark of the session.
    pub salt: u64,
    /// Where the run is in the file.
    pub offset: u64,
    /// Where the next run of the log will be; 0 for a map chunk.
    pub next: u64,
    /// Bytes of images behind the header.
    pub body_bytes: u32,
}

impl RunHeader {
    /// The bytes to write.
    #[must_use]
    pub fn encode(&self) -> [u8; RUN_HEADER_BYTES] {
        let mut bytes = [0; RUN_HEADER_BYTES];
        put(&mut bytes, 0, RUN_MAGIC);
        put(&mut bytes, VERSION, RUN_VERSION.to_le_bytes());
        put(&mut bytes, KIND, [self.kind as u8]);
        put(&mut bytes, ORDINAL, self.ordinal.to_le_bytes());
        put(&mut bytes, SEQUENCE, self.sequence.to_le_bytes());
        put(&mut bytes, AFTER_COMMIT, self.after_commit.to_le_bytes());
        put(
            &mut bytes,
            DURABLE_COMMIT,
            self.durable_commit.to_le_bytes(),
        );
        put(&mut bytes, SALT, self.salt.to_le_bytes());
        put(&mut bytes, OFFSET, self.offset.to_le_bytes());
        put(&mut bytes, NEXT, self.next.to_le_bytes());
        put(&mut bytes, BODY_BYTES, self.body_bytes.to_le_bytes());
        let sum = checksum(&bytes[..CHECKSUM]);
        put(&mut bytes, CHECKSUM, sum.to_le_bytes());
        bytes
    }

    /// True when `bytes` start like a run: a cheap test before [`RunHeader::decode`].
    #[must_use]
    pub fn may_start(bytes: &[u8]) -> bool {
        bytes.starts_with(&RUN_MAGIC)
    }

    /// Reads the header of the run at byte `offset` of the file.
    ///
    /// # Errors
    /// [`Corrupt`] when `bytes` are too short, not a run header, or the header of another place.
    pub fn decode(bytes: &[u8], offset: u64) -> Result<Self, Corrupt> {
        let bytes: &[u8; RUN_HEADER_BYTES] = bytes
            .first_chunk()
            .ok_or_else(|| Corrupt::new("run header is cut off", 0))?;
        if !Self::may_start(bytes) {
            return Err(Corrupt::new("no run starts here", 0));
        }
        if checksum(&bytes[..CHECKSUM]) != u32::from_le_bytes(take(bytes, CHECKSUM)) {
            return Err(Corrupt::new(
                "the checksum of the run header does not match",
                CHECKSUM,
            ));
        }
        let version = u16::from_le_bytes(take(bytes, VERSION));
        if version != RUN_VERSION {
            return Err(Corrupt::new(format!("run has version {version}"), VERSION));
        }
        let kind = match bytes[KIND] {
            1 => RunKind::Data,
            2 => RunKind::Link,
            3 => RunKind::Map,
            other => return Err(Corrupt::new(format!("run of unknown kind {other}"), KIND)),
        };
        let number = |offset| u64::from_le_bytes(take(bytes, offset));
        let header = Self {
            kind,
            ordinal: u32::from_le_bytes(take(bytes, ORDINAL)),
            sequence: number(SEQUENCE),
            after_commit: number(AFTER_COMMIT),
            durable_commit: number(DURABLE_COMMIT),
            salt: number(SALT),
            offset: number(OFFSET),
            next: number(NEXT),
            body_bytes: u32::from_le_bytes(take(bytes, BODY_BYTES)),
        };
        header.validate(offset)?;
        Ok(header)
    }

    fn validate(&self, offset: u64) -> Result<(), Corrupt> {
        if self.offset != offset {
            let what = format!("this run belongs to byte {}, not to {offset}", self.offset);
            return Err(Corrupt::new(what, OFFSET));
        }
        if self.body_bytes as usize > MAX_RUN_BYTES - RUN_HEADER_BYTES {
            return Err(Corrupt::new(
                "run is longer than any run may be",
                BODY_BYTES,
            ));
        }
        if self.sequence >= u64::MAX >> 8 || self.after_commit >= u64::MAX >> 8 {
            return Err(Corrupt::new("sequence out of range", SEQUENCE));
        }
        if self.durable_commit > self.after_commit {
            return Err(Corrupt::new(
                "a commit is durable that was not made",
                DURABLE_COMMIT,
            ));
        }
        let is_block = self.next.is_multiple_of(BLOCK_BYTES) && self.next <= u64::MAX >> 8;
        if self.kind != RunKind::Map && (self.next < FIRST_RUN_OFFSET || !is_block) {
            return Err(Corrupt::new("the next run is not at a block", NEXT));
        }
        Ok(())
    }

    /// Bytes of header and images, without the padding.
    #[must_use]
    pub fn run_bytes(&self) -> usize {
        RUN_HEADER_BYTES + self.body_bytes as usize
    }

    /// Blocks that the run occupies.
    #[must_use]
    pub fn block_count(&self) -> u64 {
        (self.run_bytes() as u64).div_ceil(BLOCK_BYTES)
    }
}
