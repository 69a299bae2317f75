//! The two superblocks: reading the newer one, and replacing both without ever having none.

use std::io;

use quire_format::volume::{
    BLOCK_BYTES, FIRST_FREE_PAGE, FIRST_RUN_OFFSET, FORMAT_VERSION, FORMAT_VERSION_MIN, MAGIC,
    SUPERBLOCK_BYTES, SUPERBLOCK_OFFSETS, Superblock, SuperblockError,
};

use super::options::VolumeOptions;
use crate::disk::Disk;
use crate::error::VolumeOpenError;

/// Names of the copies, for messages.
pub(super) const COPY_NAMES: [&str; 2] = ["A", "B"];

/// What was found at the two places.
pub(super) struct Superblocks {
    copies: [Result<Superblock, SuperblockError>; 2],
    /// The first bytes of the disk.
    start: Vec<u8>,
}

impl Superblocks {
    /// Reads both copies. A disk that is too short reads as zeros.
    pub(super) fn read(disk: &dyn Disk) -> io::Result<Self> {
        let length = disk.len()?.min(FIRST_RUN_OFFSET) as usize;
        let mut start = vec![0; FIRST_RUN_OFFSET as usize];
        disk.read_at(&mut start[..length], 0)?;
        let copies = SUPERBLOCK_OFFSETS.map(|offset| {
            let mut sector = [0; SUPERBLOCK_BYTES];
            sector.copy_from_slice(&start[offset as usize..][..SUPERBLOCK_BYTES]);
            Superblock::decode(&sector)
        });
        start.truncate(length);
        Ok(Self { copies, start })
    }

    /// The valid copy with the higher generation.
    pub(super) fn newest(&self) -> Option<Superblock> {
        let valid = self.copies.iter().filter_map(|copy| copy.as_ref().ok());
        valid
            .max_by_key(|superblock| superblock.generation)
            .copied()
    }

    /// Generation of each copy, `None` where it is damaged.
    pub(super) fn generations(&self) -> [Option<u64>; 2] {
        [0, 1].map(|copy| {
            self.copies[copy]
                .as_ref()
                .ok()
                .map(|found| found.generation)
        })
    }

    /// The damaged copies: which, where, and what is wrong.
    pub(super) fn damaged(&self) -> Vec<(&'static str, u64, String)> {
        let damaged = |copy: usize| {
            let error = self.copies[copy].as_ref().err()?;
            Some((
                COPY_NAMES[copy],
                SUPERBLOCK_OFFSETS[copy],
                error.to_string(),
            ))
        };
        [0, 1].into_iter().filter_map(damaged).collect()
    }

    /// True for a disk that never held a volume: empty, or left by a creation that was killed.
    pub(super) fn is_blank(&self, disk_bytes: u64) -> bool {
        let is_creation = |offset: u64| {
            let rest = self.start.get(offset as usize..).unwrap_or_default();
            let head = &rest[..rest.len().min(MAGIC.len())];
            head.iter().all(|byte| *byte == 0) || MAGIC.starts_with(head)
        };
        let nothing_valid = self.copies.iter().all(Result::is_err);
        let all_zero = self.start.iter().all(|byte| *byte == 0);
        let half_written = self.start.starts_with(&MAGIC) || is_zero(&self.start, BLOCK_BYTES);
        disk_bytes <= FIRST_RUN_OFFSET
            && nothing_valid
            && (all_zero || half_written && SUPERBLOCK_OFFSETS.into_iter().all(is_creation))
    }

    /// The newest valid copy, or why there is none.
    pub(super) fn require(
        &self,
        file: &str,
        disk_bytes: u64,
    ) -> Result<Superblock, VolumeOpenError> {
        let file = || file.to_owned();
        // Another program may have left one copy that this one can read: its rules count.
        for copy in &self.copies {
            if let Err(SuperblockError::Version(found)) = copy {
                return Err(if *found < FORMAT_VERSION_MIN {
                    VolumeOpenError::OlderVersion {
                        file: file(),
                        found: *found,
                        oldest: FORMAT_VERSION_MIN,
                    }
                } else {
                    VolumeOpenError::NewerVersion {
                        file: file(),
                        found: *found,
                        supported: FORMAT_VERSION,
                    }
                });
            }
        }
        if let Some(newest) = self.newest() {
            return Ok(newest);
        }
        if self.is_blank(disk_bytes) {
            return Err(VolumeOpenError::Unfinished { file: file() });
        }
        let looks_like_quire = SUPERBLOCK_OFFSETS.into_iter().any(|offset| {
            self.start
                .get(offset as usize..)
                .is_some_and(|at| at.starts_with(&MAGIC))
        });
        if !looks_like_quire {
            let head = &self.start[..self.start.len().min(16)];
            let found = format!("\"{}\"", head.escape_ascii());
            return Err(VolumeOpenError::NotQuire {
                file: file(),
                found,
            });
        }
        let detail = self
            .damaged()
            .into_iter()
            .map(|(name, _, what)| format!("{name}: {what}"));
        let detail = detail.collect::<Vec<_>>().join("; ");
        Err(VolumeOpenError::CorruptSuperblocks {
            file: file(),
            detail,
        })
    }
}

fn is_zero(bytes: &[u8], length: u64) -> bool {
    bytes.iter().take(length as usize).all(|byte| *byte == 0)
}

/// Writes the superblock to both places, the damaged or older one first, with a sync after each:
/// at every moment one of them is valid, and when this returns both are the new one.
///
/// Everything the superblock names must be durable already.
pub(super) fn write_both(
    disk: &dyn Disk,
    superblock: &Superblock,
    generations: &mut [Option<u64>; 2],
) -> io::Result<()> {
    let mut block = [0; BLOCK_BYTES as usize];
    block[..SUPERBLOCK_BYTES].copy_from_slice(&superblock.encode());
    let first = usize::from(generations[1] < generations[0]);
    for copy in [first, 1 - first] {
        disk.write_at(&block, SUPERBLOCK_OFFSETS[copy])?;
        disk.sync()?;
        generations[copy] = Some(superblock.generation);
    }
    Ok(())
}

/// The superblock of a volume without pages.
pub(super) fn first_superblock(options: &VolumeOptions) -> Superblock {
    Superblock {
        generation: 1,
        clean: true,
        volume: options.fresh_mark(0),
        salt: options.fresh_mark(1),
        commit_sequence: 0,
        next_sequence: 1,
        next_page: FIRST_FREE_PAGE,
        log_start: FIRST_RUN_OFFSET,
        map: None,
        page_count: 0,
        live_bytes: 0,
        map_digest: 0,
        data_end: FIRST_RUN_OFFSET,
    }
}
