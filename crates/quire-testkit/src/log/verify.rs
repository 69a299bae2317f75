//! Is what a crash left of a log what it may leave?

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use quire_store::log::{LogOptions, LogSequence, VolumeLog};
use quire_store::{
    CATALOG_PAGE, Disk, Durability, OpenMode, PageKind, SimDisk, Volume, VolumeOptions,
};

use super::model::LogExpectation;
use crate::random::TestRandom;

/// Commits and their parts, as a replay hands them over.
pub type Replayed = Vec<(u64, Vec<Vec<u8>>)>;

/// A volume with its log, the last commit that is in the row tables, and what is to be redone on top. The page of the
/// catalog stands for the row tables: it holds the number of the last commit that they contain.
pub type OpenedLog = (Volume, VolumeLog, u64, Replayed);

/// Opens a volume and its log.
///
/// # Errors
/// The message of the volume or the log.
pub fn open_log(
    disk: Arc<dyn Disk>,
    options: &VolumeOptions,
    may_be_blank: bool,
) -> Result<OpenedLog, String> {
    let opened = if may_be_blank {
        Volume::open_or_create(disk, options.clone())
    } else {
        Volume::open_with(disk, OpenMode::ReadWrite, options.clone())
    };
    let volume = opened.map_err(|error| format!("open: {error}"))?;
    let log = VolumeLog::open(&volume, LogOptions::default());
    let log = log.map_err(|error| format!("open the log: {error}"))?;
    let applied = if volume.pin().contains(CATALOG_PAGE) {
        volume
            .read(CATALOG_PAGE)
            .map_err(|error| error.to_string())?
    } else {
        [0; 8].as_slice().into()
    };
    let applied = applied
        .first_chunk()
        .ok_or("the row tables are no number")?;
    let mut found: BTreeMap<u64, Vec<Vec<u8>>> = BTreeMap::new();
    let mut order = Vec::new();
    log.replay(|sequence, records| {
        order.push(sequence);
        let parts = found.entry(sequence.get()).or_default();
        parts.push(records.to_vec());
        Ok::<(), Infallible>(())
    })
    .map_err(|error| format!("replay: {error}"))?;
    if !order.is_sorted() {
        return Err("a replay goes back".to_owned());
    }
    let applied = u64::from_le_bytes(*applied);
    Ok((volume, log, applied, found.into_iter().collect()))
}

/// Opens what a crash left, compares it with the expectation, checks the volume, commits, truncates everything, and
/// proves that no page of the log is left over. Returns what to expect when this is hit by a crash as well, and the
/// disk, which has recorded everything that was written.
///
/// # Errors
/// What is wrong.
pub fn verify_log(
    image: Vec<u8>,
    options: &VolumeOptions,
    expectation: &LogExpectation,
    seed: u64,
) -> Result<(LogExpectation, Arc<SimDisk>), String> {
    let mut random = TestRandom::new(seed);
    let disk = Arc::new(SimDisk::recording(image));
    let options = VolumeOptions {
        salt_seed: Some(random.next_u64()),
        ..options.clone()
    };
    let (volume, log, applied, found) = open_log(disk.clone(), &options, expectation.may_be_blank)?;
    let last = expectation.compare(applied, &found)?;
    no_findings(&volume, true)?;
    let records = random.bytes(100);
    let sequence = log.commit(&records, Durability::Synced);
    let sequence = sequence.map_err(|error| format!("commit: {error}"))?;
    if sequence.get() != last + 1 {
        return Err(format!("commit {sequence} after commit {last}"));
    }
    truncate(&volume, &log, sequence)?;
    no_findings(&volume, false)?;
    let pin = volume.pin();
    let is_log = |page| pin.kind(page).is_ok_and(|kind| kind == PageKind::Log);
    if let Some(page) = pin.pages().into_iter().find(|page| is_log(*page)) {
        return Err(format!("page {page} of the log is left over"));
    }
    drop((pin, log, volume));
    let (_, log, applied, found) = open_log(disk.clone(), &options, false)?;
    if !found.is_empty() || applied != sequence.get() || log.last_sequence() != sequence {
        return Err("a truncated log is not empty".to_owned());
    }
    let mut again = expectation.clone();
    again.commits = found_commits(expectation, last);
    again
        .commits
        .insert(sequence.get(), Arc::new(vec![records]));
    (again.last_min, again.last_max) = (last, sequence.get());
    again.truncated_to.push(sequence.get());
    Ok((again, disk))
}

/// The known commits that are there.
fn found_commits(expectation: &LogExpectation, last: u64) -> BTreeMap<u64, super::model::Records> {
    let found = expectation.commits.range(..=last);
    found
        .map(|(sequence, records)| (*sequence, records.clone()))
        .collect()
}

/// A checkpoint of the row tables.
///
/// # Errors
/// The message of the volume.
pub fn truncate(volume: &Volume, log: &VolumeLog, up_to: LogSequence) -> Result<(), String> {
    let batch = volume.begin().map_err(|error| format!("begin: {error}"))?;
    let applied = up_to.get().to_le_bytes();
    batch
        .replace(CATALOG_PAGE, PageKind::Catalog, &applied)
        .and_then(|()| log.truncate(&batch, up_to))
        .map_err(|error| format!("truncate: {error}"))?;
    batch
        .commit()
        .map_err(|error| format!("checkpoint: {error}"))?;
    Ok(())
}

/// A crash may have torn a superblock; nothing else may be wrong.
fn no_findings(volume: &Volume, superblock_may_be_torn: bool) -> Result<(), String> {
    let is_allowed = |invariant| superblock_may_be_torn && invariant == "superblocks_are_whole";
    let findings = volume.check().findings;
    match findings
        .iter()
        .find(|finding| !is_allowed(finding.invariant))
    {
        Some(finding) => Err(format!("check: {finding}")),
        None => Ok(()),
    }
}
