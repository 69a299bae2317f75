//! The root of a volume, stored twice.

use quire_codec::Corrupt;
use thiserror::Error;

use super::map::ChunkPointer;
use super::page::{FIRST_FREE_PAGE, LAST_PAGE};
use super::{BLOCK_BYTES, FIRST_RUN_OFFSET, checksum, put, take};
use crate::document::{DiskStructure, StructureField};

/// First bytes of every Quire file. A line ending and an end-of-file mark show a file that was
/// sent as text.
pub const MAGIC: [u8; 8] = *b"QUIRE\r\n\x1a";

/// Version of the format that this program writes, and the highest it reads.
///
/// Version 2: runs say which commit was durable before them, for commits that are not synced at once; pages of the
/// log of row transactions.
pub const FORMAT_VERSION: u32 = 2;

/// The lowest version that this program reads. Version 1 was never released.
pub const FORMAT_VERSION_MIN: u32 = 2;

/// Length of a superblock. One sector: a device writes it whole or not at all.
pub const SUPERBLOCK_BYTES: usize = 512;

/// Where the two copies are.
pub const SUPERBLOCK_OFFSETS: [u64; 2] = [0, BLOCK_BYTES];

const VERSION: usize = 8;
const FLAGS: usize = 12;
const GENERATION: usize = 16;
const VOLUME: usize = 24;
const SALT: usize = 32;
const COMMIT_SEQUENCE: usize = 40;
const NEXT_SEQUENCE: usize = 48;
const NEXT_PAGE: usize = 56;
const LOG_START: usize = 64;
const MAP_OFFSET: usize = 72;
const MAP_CHECKSUM: usize = 80;
const MAP_CHUNKS: usize = 84;
const PAGE_COUNT: usize = 88;
const LIVE_BYTES: usize = 96;
const MAP_DIGEST: usize = 104;
const DATA_END: usize = 112;
const RESERVED: usize = 120;
const CHECKSUM: usize = 508;

const CLEAN: u32 = 1;

pub(super) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Superblock",
    about: "\
Stored at byte 0 (A) and at byte 4096 (B); the rest of each block means nothing. The valid copy with
the higher generation counts. A writer overwrites the copy that is invalid or older first, syncs,
then overwrites the other and syncs, and only then uses what the new generation permits: so a damaged
copy never hides anything. Magic, version and checksum keep their places in every later version.",
    fixed_bytes: Some(SUPERBLOCK_BYTES),
    fields: &[
        StructureField::at(0, "8", "magic", "`QUIRE`, CR, LF, 0x1A"),
        StructureField::at(VERSION, "4", "version", "format version, 2"),
        StructureField::at(FLAGS, "4", "flags", "bit 0, clean: no run follows `log_start`; others 0"),
        StructureField::at(GENERATION, "8", "generation", "grows by 1 with every new superblock"),
        StructureField::at(VOLUME, "8", "volume", "random, chosen when the file is created"),
        StructureField::at(SALT, "8", "salt", "random, new in every session; in every run of the log"),
        StructureField::at(COMMIT_SEQUENCE, "8", "commit_sequence", "newest commit that the map contains"),
        StructureField::at(NEXT_SEQUENCE, "8", "next_sequence", "lowest sequence no batch has used"),
        StructureField::at(NEXT_PAGE, "8", "next_page", "lowest page that was never given out, at least 16"),
        StructureField::at(LOG_START, "8", "log_start", "byte at which the first run of the log will be"),
        StructureField::at(MAP_OFFSET, "8", "map_offset", "run of the newest map chunk, 0 when none"),
        StructureField::at(MAP_CHECKSUM, "4", "map_checksum", "CRC32C of that chunk's payload"),
        StructureField::at(MAP_CHUNKS, "4", "map_chunks", "length of the chain of chunks"),
        StructureField::at(PAGE_COUNT, "8", "page_count", "pages in the map"),
        StructureField::at(LIVE_BYTES, "8", "live_bytes", "bytes of their images, headers included"),
        StructureField::at(MAP_DIGEST, "8", "map_digest", "XOR of the digests of the entries of the map"),
        StructureField::at(DATA_END, "8", "data_end", "the file is at least this long"),
        StructureField::at(RESERVED, "388", "reserved", "0"),
        StructureField::at(CHECKSUM, "4", "checksum", "CRC32C of the 508 bytes before it"),
    ],
};

/// The root of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// Grows by one with every new superblock.
    pub generation: u64,
    /// True when no run follows `log_start`.
    pub clean: bool,
    /// Random name of the volume.
    pub volume: u64,
    /// Random mark of the runs of this session.
    pub salt: u64,
    /// Newest commit that the map contains, 0 before the first.
    pub commit_sequence: u64,
    /// Lowest sequence that no batch has used.
    pub next_sequence: u64,
    /// Lowest page that was never given out.
    pub next_page: u64,
    /// Byte at which the first run of the log will be.
    pub log_start: u64,
    /// Newest chunk of the page map, and the length of the chain.
    pub map: Option<(ChunkPointer, u32)>,
    /// Pages in the map.
    pub page_count: u64,
    /// Bytes of their images, headers included.
    pub live_bytes: u64,
    /// XOR of the digests of the entries of the map.
    pub map_digest: u64,
    /// The file is at least this long.
    pub data_end: u64,
}

/// Why 512 bytes are not a usable superblock.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SuperblockError {
    /// They do not start with [`MAGIC`].
    #[error("no Quire magic")]
    Magic,
    /// The checksum does not match.
    #[error("its checksum does not match")]
    Checksum,
    /// A whole superblock of a format that this program does not read.
    #[error("format version {0}")]
    Version(u32),
    /// The checksum matches, the content is impossible.
    #[error(transparent)]
    Content(#[from] Corrupt),
}

impl Superblock {
    /// The bytes to write.
    #[must_use]
    pub fn encode(&self) -> [u8; SUPERBLOCK_BYTES] {
        let mut bytes = [0; SUPERBLOCK_BYTES];
        let (map, chunks) = self.map.unwrap_or_default();
        put(&mut bytes, 0, MAGIC);
        put(&mut bytes, VERSION, FORMAT_VERSION.to_le_bytes());
        put(
            &mut bytes,
            FLAGS,
            (if self.clean { CLEAN } else { 0 }).to_le_bytes(),
        );
        put(&mut bytes, GENERATION, self.generation.to_le_bytes());
        put(&mut bytes, VOLUME, self.volume.to_le_bytes());
        put(&mut bytes, SALT, self.salt.to_le_bytes());
        put(
            &mut bytes,
            COMMIT_SEQUENCE,
            self.commit_sequence.to_le_bytes(),
        );
        put(&mut bytes, NEXT_SEQUENCE, self.next_sequence.to_le_bytes());
        put(&mut bytes, NEXT_PAGE, self.next_page.to_le_bytes());
        put(&mut bytes, LOG_START, self.log_start.to_le_bytes());
        put(&mut bytes, MAP_OFFSET, map.offset.to_le_bytes());
        put(&mut bytes, MAP_CHECKSUM, map.checksum.to_le_bytes());
        put(&mut bytes, MAP_CHUNKS, chunks.to_le_bytes());
        put(&mut bytes, PAGE_COUNT, self.page_count.to_le_bytes());
        put(&mut bytes, LIVE_BYTES, self.live_bytes.to_le_bytes());
        put(&mut bytes, MAP_DIGEST, self.map_digest.to_le_bytes());
        put(&mut bytes, DATA_END, self.data_end.to_le_bytes());
        let sum = checksum(&bytes[..CHECKSUM]);
        put(&mut bytes, CHECKSUM, sum.to_le_bytes());
        bytes
    }

    /// Reads what [`Superblock::encode`] wrote.
    ///
    /// # Errors
    /// See [`SuperblockError`].
    pub fn decode(bytes: &[u8; SUPERBLOCK_BYTES]) -> Result<Self, SuperblockError> {
        if take::<8>(bytes, 0) != MAGIC {
            return Err(SuperblockError::Magic);
        }
        if checksum(&bytes[..CHECKSUM]) != u32::from_le_bytes(take(bytes, CHECKSUM)) {
            return Err(SuperblockError::Checksum);
        }
        let version = u32::from_le_bytes(take(bytes, VERSION));
        if !(FORMAT_VERSION_MIN..=FORMAT_VERSION).contains(&version) {
            return Err(SuperblockError::Version(version));
        }
        let number = |offset| u64::from_le_bytes(take(bytes, offset));
        let map = ChunkPointer {
            offset: number(MAP_OFFSET),
            checksum: u32::from_le_bytes(take(bytes, MAP_CHECKSUM)),
        };
        let chunks = u32::from_le_bytes(take(bytes, MAP_CHUNKS));
        let flags = u32::from_le_bytes(take(bytes, FLAGS));
        let superblock = Self {
            generation: number(GENERATION),
            clean: flags & CLEAN != 0,
            volume: number(VOLUME),
            salt: number(SALT),
            commit_sequence: number(COMMIT_SEQUENCE),
            next_sequence: number(NEXT_SEQUENCE),
            next_page: number(NEXT_PAGE),
            log_start: number(LOG_START),
            map: (map.offset != 0).then_some((map, chunks)),
            page_count: number(PAGE_COUNT),
            live_bytes: number(LIVE_BYTES),
            map_digest: number(MAP_DIGEST),
            data_end: number(DATA_END),
        };
        superblock.validate(flags)?;
        Ok(superblock)
    }

    fn validate(&self, flags: u32) -> Result<(), Corrupt> {
        let is_run_offset = |offset: u64| {
            offset >= FIRST_RUN_OFFSET
                && offset.is_multiple_of(BLOCK_BYTES)
                && offset <= u64::MAX >> 8
        };
        let rules = [
            (flags & !CLEAN == 0, FLAGS, "unknown flag"),
            (
                self.generation < u64::MAX >> 8,
                GENERATION,
                "generation out of range",
            ),
            (
                self.next_sequence < u64::MAX >> 8,
                NEXT_SEQUENCE,
                "sequence out of range",
            ),
            (
                self.commit_sequence < self.next_sequence,
                COMMIT_SEQUENCE,
                "commit out of order",
            ),
            (
                self.next_page >= FIRST_FREE_PAGE,
                NEXT_PAGE,
                "next page is too low",
            ),
            (
                self.next_page <= LAST_PAGE + 1,
                NEXT_PAGE,
                "next page is too high",
            ),
            (
                is_run_offset(self.log_start),
                LOG_START,
                "log start is not a block",
            ),
            (
                self.map
                    .is_none_or(|(map, chunks)| is_run_offset(map.offset) && chunks > 0),
                MAP_OFFSET,
                "map offset is not a block",
            ),
            (
                self.data_end >= FIRST_RUN_OFFSET,
                DATA_END,
                "data end is too low",
            ),
        ];
        for (holds, offset, broken) in rules {
            if !holds {
                return Err(Corrupt::new(broken, offset));
            }
        }
        Ok(())
    }
}
