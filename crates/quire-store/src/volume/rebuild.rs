//! The page map from the page images and commit records alone.

use std::collections::VecDeque;
use std::io;

use quire_format::volume::{BLOCK_BYTES, Superblock};

use super::contents::VolumeContents;
use super::floors::Floors;
use super::free_space::{Extent, FreeSpace};
use super::map_chain::{StoredMap, used_extents};
use super::options::VolumeOptions;
use super::page_map::PageMap;
use super::placement::Space;
use super::report::{Finding, RebuildReport};
use super::runs::LogRuns;
use super::scan::{FoundRun, LogScan};
use super::superblocks::{Superblocks, first_superblock};
use super::writer::{OLDER_VERSIONS_MIN, VolumeWriterState};
use crate::disk::{Disk, open_failed};
use crate::error::VolumeOpenError;

/// The map of the checkpoint that `superblock` describes, if a scan finds exactly it.
pub(super) fn same_map_from_scan(
    disk: &dyn Disk,
    superblock: &Superblock,
) -> io::Result<Option<StoredMap>> {
    let mut scan = LogScan::read(disk)?;
    scan.prove(superblock.commit_sequence);
    scan.runs
        .retain(|run| run.sequence <= superblock.commit_sequence);
    let (pages, runs) = resolve(&mut scan, superblock.commit_sequence);
    let is_same = pages.page_count() == superblock.page_count
        && pages.live_bytes() == superblock.live_bytes
        && pages.digest() == superblock.map_digest;
    Ok(is_same.then(|| StoredMap {
        pages,
        runs,
        chunks: Vec::new(),
    }))
}

/// A writer for what a scan finds. The caller must store it with a checkpoint.
pub(super) fn rebuild(
    disk: &dyn Disk,
    options: &VolumeOptions,
) -> Result<(VolumeWriterState, RebuildReport), VolumeOpenError> {
    let io_failed = |source| open_failed(disk, "read", source);
    let superblocks = Superblocks::read(disk).map_err(io_failed)?;
    let disk_bytes = disk.len().map_err(io_failed)?;
    let mut scan = LogScan::read(disk).map_err(io_failed)?;
    let newest = superblocks.newest();
    if scan.batches.is_empty() && newest.is_none() {
        let found = "no page image".to_owned();
        return Err(VolumeOpenError::NotQuire {
            file: disk.name(),
            found,
        });
    }
    let superblock = newest.unwrap_or_else(|| lost_superblock(options));
    let contents = contents(&mut scan, &superblock);
    let report = RebuildReport {
        findings: findings(&scan, &contents.pages),
        page_count: contents.pages.page_count(),
        commit_sequence: contents.commit_sequence,
    };
    let used = used_extents(&contents.runs, &[], disk_bytes).map_err(|(offset, what)| {
        VolumeOpenError::CorruptMap {
            file: disk.name(),
            offset,
            detail: what.to_owned(),
        }
    })?;
    let free = FreeSpace::complement(used, disk_bytes / BLOCK_BYTES);
    let unused = scan.runs.iter().map(|run| run.extent.start);
    let leftovers = unused
        .filter(|start| free.room_at(*start, false) > 0)
        .collect();
    let generation = scan.generation.max(superblock.generation);
    let writer = VolumeWriterState {
        contents,
        space: Space {
            free,
            tail: None,
            reserve: Extent { start: 0, count: 0 },
            floors: Floors::default(),
            is_full: false,
        },
        chunks: Vec::new(),
        superblock: Superblock {
            generation,
            map: None,
            ..superblock
        },
        generations: superblocks.generations(),
        log_blocks: 0,
        leftovers,
        unproven: Vec::new(),
        durable_commit: 0,
        end_at_begin: 0,
        is_closing: false,
        needs_snapshot: true,
        older: VecDeque::new(),
        older_limit: OLDER_VERSIONS_MIN,
        undiscarded: Vec::new(),
    };
    Ok((writer, report))
}

fn contents(scan: &mut LogScan, superblock: &Superblock) -> VolumeContents {
    scan.prove(superblock.commit_sequence);
    let committed = |sequence: &&u64| scan.is_committed(**sequence);
    let newest_commit = scan
        .batches
        .keys()
        .rev()
        .find(committed)
        .copied()
        .unwrap_or(0);
    let last_sequence = scan.batches.keys().last().copied().unwrap_or(0);
    let commit_sequence = newest_commit.max(scan.proven_commit);
    let (pages, runs) = resolve(scan, u64::MAX);
    VolumeContents {
        pages,
        runs,
        commit_sequence,
        next_sequence: last_sequence.max(commit_sequence) + 1,
        next_page: scan.next_page.max(superblock.next_page),
        ..VolumeContents::default()
    }
}

/// A stand-in for two superblocks that are gone.
fn lost_superblock(options: &VolumeOptions) -> Superblock {
    Superblock {
        generation: 0,
        salt: 0,
        ..first_superblock(options)
    }
}

/// Applies the committed batches up to `limit` in order. Where damaged runs overlap newer ones,
/// the newer ones count.
fn resolve(scan: &mut LogScan, limit: u64) -> (PageMap, LogRuns) {
    let mut runs = LogRuns::default();
    scan.runs
        .sort_by_key(|run| (std::cmp::Reverse(run.sequence), run.damage.is_some()));
    let counted = |run: &FoundRun| run.sequence <= limit && scan.is_committed(run.sequence);
    let mut accepted: Vec<&FoundRun> = scan
        .runs
        .iter()
        .filter(|run| counted(run) && runs.add(run.extent, true))
        .collect();
    accepted.sort_by_key(|run| (run.sequence, run.ordinal));
    let mut pages = PageMap::default();
    for batch in accepted.chunk_by(|left, right| left.sequence == right.sequence) {
        for entry in batch.iter().flat_map(|run| &run.entries) {
            pages.insert(*entry);
        }
        for range in batch.iter().flat_map(|run| &run.freed) {
            for entry in pages.range(*range) {
                pages.remove(entry.page);
            }
        }
    }
    pages.for_each(&mut |entry| {
        runs.add_image(&entry);
    });
    let empty = runs.iter().filter(|(_, run)| run.live_images == 0);
    for start in empty.map(|(extent, _)| extent.start).collect::<Vec<_>>() {
        runs.remove(start);
    }
    (pages, runs)
}

fn findings(scan: &LogScan, pages: &PageMap) -> Vec<Finding> {
    let mut findings = Vec::new();
    for run in &scan.runs {
        let is_live = run
            .entries
            .iter()
            .any(|entry| pages.get(entry.page) == Some(*entry));
        if let (Some((offset, what)), true) = (&run.damage, is_live) {
            findings.push(Finding {
                invariant: "images_are_whole",
                page: None,
                offset: Some(*offset),
                what: what.clone(),
                advice: "the page here is lost or an older image of it is used; \
                         restore it from a backup",
            });
        }
    }
    let newest = scan.batches.iter().next_back();
    if let Some((sequence, _)) = newest.filter(|(sequence, _)| !scan.is_committed(**sequence)) {
        findings.push(Finding {
            invariant: "batches_are_whole",
            page: None,
            offset: None,
            what: format!("batch {sequence} has no commit record, or runs of it are missing"),
            advice: "it was in progress when the program stopped, unless the file is damaged there",
        });
    }
    findings
}
