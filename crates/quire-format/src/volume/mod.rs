//! The bytes of a volume: the one file in which pages live.
//!
//! ```text
//! byte 0      superblock A                      where the map and the log are
//! byte 4096   superblock B                      the same, one step older or equal
//! byte 8192   run │ run │ free │ run │ …        each starts at a multiple of 4096
//!
//! run         run header │ image │ image │ … │ (zeros up to the next block)
//! image       image header │ payload
//! ```
//!
//! A run is written in one piece. The runs of the log form a chain: each header says where the
//! next run will be. A batch is a series of runs with one sequence number, and it counts only
//! when its last run ends with a commit record and every run before it is whole.

mod commit;
mod image;
mod map;
mod page;
mod run;
mod superblock;

pub use commit::{CommitRecord, FreedPages, PageRange};
pub use image::{IMAGE_HEADER_BYTES, ImageHeader, ImageKind};
pub use map::{CHUNK_ITEMS_MAX, ChunkPointer, MapChunk, PageEntry, RunExtent};
pub use page::{
    CATALOG_PAGE, DICTIONARY_LIST_PAGE, FIRST_FREE_PAGE, LAST_PAGE, LOG_ROOT_PAGE, PageId,
    PageKind, STAGING_PAGE,
};
pub use run::{RUN_HEADER_BYTES, RunHeader, RunKind};
pub use superblock::{
    FORMAT_VERSION, FORMAT_VERSION_MIN, MAGIC, SUPERBLOCK_BYTES, SUPERBLOCK_OFFSETS, Superblock,
    SuperblockError,
};

use crate::document::DiskStructure;

/// Runs start at multiples of this many bytes.
pub const BLOCK_BYTES: u64 = 4096;

/// Where the first run may start.
pub const FIRST_RUN_OFFSET: u64 = 2 * BLOCK_BYTES;

/// Largest payload of one page.
pub const MAX_PAYLOAD_BYTES: usize = 4 << 20;

/// Largest run, header included. It bounds what a reader allocates for one.
pub const MAX_RUN_BYTES: usize = 8 << 20;

/// The structures of this module, for the format document.
pub(crate) const STRUCTURES: &[&DiskStructure] = &[
    &OVERVIEW,
    &superblock::STRUCTURE,
    &run::STRUCTURE,
    &image::STRUCTURE,
    &commit::FREED_STRUCTURE,
    &commit::COMMIT_STRUCTURE,
    &map::STRUCTURE,
];

const OVERVIEW: DiskStructure = DiskStructure {
    name: "Volume",
    about: "\
The file is divided into blocks of 4096 bytes. Blocks 0 and 1 are the superblocks A and B. From
block 2 on there are runs and free blocks. A run starts at a block, has a header and images, and is
padded to the end of its last block; the padding means nothing. What free blocks hold means nothing.

Nothing that is in use is overwritten, except the superblocks. The page map says where the newest
image of each page is; it is stored as a chain of map chunks, the newest of which the superblock
names. Commits after that are in the log: the chain of runs that begins at `log_start`.",
    fixed_bytes: None,
    fields: &[],
};

/// CRC32C of `bytes`.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes)
}

/// CRC32C of what `checksum` covers, followed by `bytes`.
#[must_use]
pub fn checksum_append(checksum: u32, bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(checksum, bytes)
}

fn put<const N: usize>(target: &mut [u8], offset: usize, value: [u8; N]) {
    target[offset..offset + N].copy_from_slice(&value);
}

fn take<const N: usize>(source: &[u8], offset: usize) -> [u8; N] {
    let mut value = [0; N];
    value.copy_from_slice(&source[offset..offset + N]);
    value
}

#[cfg(test)]
mod tests;
