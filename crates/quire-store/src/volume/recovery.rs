//! Starting: the newest superblock, the map it names, and the log since then.

use std::collections::VecDeque;

use quire_format::volume::{
    BLOCK_BYTES, FIRST_RUN_OFFSET, RunHeader, RunKind, SUPERBLOCK_BYTES, SUPERBLOCK_OFFSETS,
    Superblock,
};

use super::contents::{BatchEffect, VolumeContents};
use super::floors::Floors;
use super::free_space::{Extent, FreeSpace};
use super::log::{LogPosition, read_batch};
use super::map_chain::{self, StoredMap, StoredMapError, used_extents};
use super::options::VolumeOptions;
use super::placement::Space;
use super::rebuild;
use super::scan::BlockWindow;
use super::superblocks::{Superblocks, first_superblock};
use super::writer::{OLDER_VERSIONS_MIN, VolumeWriterState};
use crate::disk::{Disk, open_failed};
use crate::error::VolumeOpenError;

/// Writes the two superblocks of an empty volume.
///
/// A process killed in the middle leaves at most 8192 bytes of which neither half is a
/// superblock: that is a blank disk, and creation can start again.
pub(super) fn create(disk: &dyn Disk, options: &VolumeOptions) -> Result<(), VolumeOpenError> {
    if !is_blank(disk)? {
        return Err(VolumeOpenError::NotEmpty { file: disk.name() });
    }
    let superblock = first_superblock(options);
    let mut start = [0; FIRST_RUN_OFFSET as usize];
    for offset in SUPERBLOCK_OFFSETS {
        start[offset as usize..][..SUPERBLOCK_BYTES].copy_from_slice(&superblock.encode());
    }
    disk.write_at(&start, 0)
        .map_err(|source| open_failed(disk, "write to", source))?;
    disk.sync()
        .map_err(|source| open_failed(disk, "sync", source))
}

/// True when the disk never held a volume.
pub(super) fn is_blank(disk: &dyn Disk) -> Result<bool, VolumeOpenError> {
    let superblocks =
        Superblocks::read(disk).map_err(|source| open_failed(disk, "read", source))?;
    let disk_bytes = length(disk)?;
    Ok(superblocks.is_blank(disk_bytes))
}

/// Reads the volume into memory. Writes nothing. Also returns what the user should know.
pub(super) fn recover(
    disk: &dyn Disk,
) -> Result<(VolumeWriterState, Vec<String>), VolumeOpenError> {
    let mut notices = Vec::new();
    let superblocks =
        Superblocks::read(disk).map_err(|source| open_failed(disk, "read", source))?;
    let disk_bytes = length(disk)?;
    let superblock = superblocks.require(&disk.name(), disk_bytes)?;
    for (name, offset, what) in superblocks.damaged() {
        notices.push(format!(
            "superblock {name} at byte {offset} is damaged ({what}); the other one is used"
        ));
    }
    // A creation that was killed may leave a valid A and no B: there is nothing to be lost yet.
    if disk_bytes < superblock.data_end && superblock.data_end > FIRST_RUN_OFFSET {
        return Err(VolumeOpenError::Truncated {
            file: disk.name(),
            expected_bytes: superblock.data_end,
            actual_bytes: disk_bytes,
        });
    }
    let stored = load_map(disk, &superblock, disk_bytes, &mut notices)?;
    let mut recovery = Recovery::new(
        disk,
        superblock,
        stored,
        notices.len() > superblocks.damaged().len(),
    );
    if !superblock.clean {
        recovery.replay()?;
    }
    let writer = recovery.finish(superblocks.generations(), disk_bytes)?;
    Ok((writer, notices))
}

/// The stored map; when it is damaged, the same map from a scan, if the scan proves to have
/// found exactly what the superblock says.
fn load_map(
    disk: &dyn Disk,
    superblock: &Superblock,
    disk_bytes: u64,
    notices: &mut Vec<String>,
) -> Result<StoredMap, VolumeOpenError> {
    let loaded = map_chain::load(disk, superblock).and_then(|stored| {
        match used_extents(&stored.runs, &stored.chunks, disk_bytes) {
            Ok(_) => Ok(stored),
            Err((offset, what)) => Err(StoredMapError::Corrupt {
                offset,
                detail: what.to_owned(),
            }),
        }
    });
    let (offset, detail) = match loaded {
        Ok(stored) => return Ok(stored),
        Err(StoredMapError::Io(source)) => return Err(open_failed(disk, "read", source)),
        Err(StoredMapError::Corrupt { offset, detail }) => (offset, detail),
    };
    let scanned = rebuild::same_map_from_scan(disk, superblock);
    match scanned.map_err(|source| open_failed(disk, "read", source))? {
        Some(stored) => {
            notices.push(format!(
                "the page map is damaged at byte {offset} ({detail}); \
                 it was rebuilt from the page images, without loss"
            ));
            Ok(stored)
        }
        None => Err(VolumeOpenError::CorruptMap {
            file: disk.name(),
            offset,
            detail,
        }),
    }
}

struct Recovery<'a> {
    disk: &'a dyn Disk,
    superblock: Superblock,
    contents: VolumeContents,
    chunks: Vec<(Extent, u64)>,
    log_blocks: u64,
    leftovers: Vec<u64>,
    /// Runs of batches that no later batch calls durable, and the sequence of each.
    unproven: Vec<(u64, Extent)>,
    durable_commit: u64,
    needs_snapshot: bool,
}

impl<'a> Recovery<'a> {
    fn new(
        disk: &'a dyn Disk,
        superblock: Superblock,
        stored: StoredMap,
        needs_snapshot: bool,
    ) -> Self {
        let contents = VolumeContents {
            pages: stored.pages,
            runs: stored.runs,
            commit_sequence: superblock.commit_sequence,
            next_sequence: superblock.next_sequence,
            next_page: superblock.next_page,
            ..VolumeContents::default()
        };
        let chunks = stored.chunks;
        let (log_blocks, leftovers, unproven) = (0, Vec::new(), Vec::new());
        Self {
            disk,
            superblock,
            contents,
            chunks,
            log_blocks,
            leftovers,
            unproven,
            durable_commit: superblock.commit_sequence,
            needs_snapshot,
        }
    }

    /// Applies what was committed after the checkpoint, and makes sure that nothing that was
    /// acknowledged is missing.
    fn replay(&mut self) -> Result<(), VolumeOpenError> {
        let mut offset = self.superblock.log_start;
        loop {
            let position = LogPosition {
                offset,
                salt: self.superblock.salt,
                after_commit: self.contents.commit_sequence,
                sequence_min: self.contents.next_sequence,
            };
            let batch = read_batch(self.disk, position);
            let Some(batch) = batch.map_err(|source| open_failed(self.disk, "read", source))?
            else {
                return self.search_free_space(offset);
            };
            self.log_blocks += batch.runs.iter().map(|run| run.count).sum::<u64>();
            offset = batch.next;
            self.durable_commit = self.durable_commit.max(batch.durable_commit);
            self.unproven
                .extend(batch.runs.iter().map(|run| (batch.sequence, *run)));
            let durable_commit = self.durable_commit;
            self.unproven
                .retain(|(sequence, _)| *sequence > durable_commit);
            let effect = BatchEffect {
                sequence: batch.sequence,
                next_page: batch.next_page,
                runs: &batch.runs,
                entries: &batch.entries,
                freed: &batch.freed,
            };
            self.contents.apply(&effect).map_err(|block| {
                self.corrupt_log(
                    block * BLOCK_BYTES,
                    "a run of the log lies over another run",
                )
            })?;
        }
    }

    /// The log ends at `log_end`. Was it longer once? A run says which commit was durable before it:
    /// when that is one that we do not have, something that was promised is lost. Runs of batches that
    /// were never finished, or lie behind a commit that was lost before it was durable, are remembered.
    fn search_free_space(&mut self, log_end: u64) -> Result<(), VolumeOpenError> {
        let disk_bytes = length(self.disk)?;
        let free = self.free_space(disk_bytes)?;
        let mut window = BlockWindow::new(self.disk, disk_bytes);
        for block in free.extents().flat_map(|extent| extent.start..extent.end()) {
            let found = window.run_header(block * BLOCK_BYTES);
            let Some(run) = found.map_err(|source| open_failed(self.disk, "read", source))? else {
                continue;
            };
            if run.kind == RunKind::Map {
                continue;
            }
            if self.proves_loss(&run) {
                return Err(self.corrupt_log(
                    log_end,
                    &format!(
                        "commit {} cannot be read, but the run at byte {} was written after it",
                        run.durable_commit, run.offset
                    ),
                ));
            }
            self.leftovers.push(block);
            self.contents.next_sequence = self.contents.next_sequence.max(run.sequence + 1);
        }
        Ok(())
    }

    fn proves_loss(&self, run: &RunHeader) -> bool {
        run.salt == self.superblock.salt && run.durable_commit > self.contents.commit_sequence
    }

    fn free_space(&self, disk_bytes: u64) -> Result<FreeSpace, VolumeOpenError> {
        let used = used_extents(&self.contents.runs, &self.chunks, disk_bytes);
        let used = used.map_err(|(offset, what)| self.corrupt_log(offset, what))?;
        Ok(FreeSpace::complement(used, disk_bytes / BLOCK_BYTES))
    }

    fn corrupt_log(&self, offset: u64, detail: &str) -> VolumeOpenError {
        VolumeOpenError::CorruptLog {
            file: self.disk.name(),
            offset,
            detail: detail.to_owned(),
        }
    }

    fn finish(
        self,
        generations: [Option<u64>; 2],
        disk_bytes: u64,
    ) -> Result<VolumeWriterState, VolumeOpenError> {
        let free = self.free_space(disk_bytes)?;
        Ok(VolumeWriterState {
            contents: self.contents,
            space: Space {
                free,
                tail: None,
                reserve: Extent { start: 0, count: 0 },
                floors: Floors::default(),
                is_full: false,
            },
            chunks: self.chunks,
            superblock: self.superblock,
            generations,
            log_blocks: self.log_blocks,
            leftovers: self.leftovers,
            unproven: self.unproven.into_iter().map(|(_, run)| run).collect(),
            durable_commit: self.durable_commit,
            end_at_begin: 0,
            is_closing: false,
            needs_snapshot: self.needs_snapshot,
            older: VecDeque::new(),
            older_limit: OLDER_VERSIONS_MIN,
            undiscarded: Vec::new(),
        })
    }
}

fn length(disk: &dyn Disk) -> Result<u64, VolumeOpenError> {
    disk.len()
        .map_err(|source| open_failed(disk, "read the length of", source))
}
