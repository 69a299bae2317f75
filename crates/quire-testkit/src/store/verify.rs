//! Is what a crash left what it may leave?

use std::collections::BTreeMap;
use std::sync::Arc;

use quire_store::{
    Disk, MemDisk, OpenMode, PageKind, Pin, SimDisk, Volume, VolumeOpenError, VolumeOptions,
};

use super::model::State;
use crate::random::TestRandom;

/// What must hold after a crash.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The volume has one of these states.
    pub allowed: Vec<State>,
    /// The crash may have hit the creation, so there may be no volume at all.
    pub may_be_blank: bool,
}

impl Expectation {
    /// Which of the allowed states is on a disk.
    ///
    /// # Errors
    /// That none is, or the message of the volume.
    pub fn state_of(&self, disk: &Arc<SimDisk>) -> Result<State, String> {
        let bytes = disk.to_bytes();
        let disk: Arc<dyn Disk> = Arc::new(MemDisk::from_bytes(bytes));
        let found = match Volume::open(disk, OpenMode::ReadOnly) {
            Ok(volume) => read_all(&volume.pin())?,
            Err(VolumeOpenError::Unfinished { .. }) if self.may_be_blank => BTreeMap::new(),
            Err(error) => return Err(format!("open: {error}")),
        };
        let state = self.allowed.iter().find(|state| ***state == found);
        Ok(state
            .ok_or_else(|| describe_difference(&found, &self.allowed))?
            .clone())
    }
}

/// Every page of a snapshot.
///
/// # Errors
/// The message of the volume.
pub fn read_all(pin: &Pin) -> Result<BTreeMap<u64, Arc<Vec<u8>>>, String> {
    let read = |page: quire_store::PageId| {
        let payload = pin.read(page).map_err(|error| error.to_string())?;
        Ok((page.get(), Arc::new(payload.to_vec())))
    };
    pin.pages().into_iter().map(read).collect()
}

/// Opens what a crash left, compares it with the expectation, checks every invariant, writes to
/// it, and opens it again. Returns the state found and the disk after that, which has recorded
/// everything that was written.
///
/// # Errors
/// What is wrong.
pub fn verify_recovery(
    image: Vec<u8>,
    options: &VolumeOptions,
    expectation: &Expectation,
    seed: u64,
) -> Result<(State, Arc<SimDisk>), String> {
    let mut random = TestRandom::new(seed);
    let may_be_blank = expectation.may_be_blank;
    if random.chance(10) {
        opens_read_only_without_a_trace(&image, expectation)?;
    }
    let disk = Arc::new(SimDisk::recording(image));
    let options = VolumeOptions {
        salt_seed: Some(random.next_u64()),
        ..options.clone()
    };
    let volume = open(&disk, &options, may_be_blank)?;
    let found = read_all(&volume.pin())?;
    let state = expectation.allowed.iter().find(|state| ***state == found);
    let state = state
        .ok_or_else(|| describe_difference(&found, &expectation.allowed))?
        .clone();
    no_findings(&volume, true)?;
    let written = write_something(&volume, &state, &mut random)?;
    no_findings(&volume, false)?;
    if random.chance(50) {
        volume.close().map_err(|error| format!("close: {error}"))?;
    } else {
        drop(volume);
    }
    let again = open(&disk, &options, false)?;
    if read_all(&again.pin())? != *written {
        return Err("what was written after the recovery is not there".to_owned());
    }
    Ok((state, disk))
}

fn open(
    disk: &Arc<SimDisk>,
    options: &VolumeOptions,
    may_be_blank: bool,
) -> Result<Volume, String> {
    let disk: Arc<dyn Disk> = disk.clone();
    let opened = if may_be_blank {
        Volume::open_or_create(disk, options.clone())
    } else {
        Volume::open_with(disk, OpenMode::ReadWrite, options.clone())
    };
    opened.map_err(|error| format!("open: {error}"))
}

fn opens_read_only_without_a_trace(image: &[u8], expectation: &Expectation) -> Result<(), String> {
    let disk = Arc::new(MemDisk::from_bytes(image.to_vec()));
    match Volume::open(disk.clone(), OpenMode::ReadOnly) {
        Ok(volume) => {
            let found = read_all(&volume.pin())?;
            if !expectation.allowed.iter().any(|state| **state == found) {
                return Err("read-only: a state that may not be".to_owned());
            }
        }
        Err(VolumeOpenError::Unfinished { .. }) if expectation.may_be_blank => {}
        Err(error) => return Err(format!("open read-only: {error}")),
    }
    if disk.to_bytes() != image {
        return Err("a read-only open has written".to_owned());
    }
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

fn write_something(
    volume: &Volume,
    state: &State,
    random: &mut TestRandom,
) -> Result<State, String> {
    let mut state = BTreeMap::clone(state);
    let batch = volume.begin().map_err(|error| format!("begin: {error}"))?;
    let length = random.below(20_000) as usize;
    let payload = random.bytes(length);
    let page = batch
        .write(PageKind::Segment, &payload)
        .map_err(|error| error.to_string())?;
    if state.insert(page.get(), Arc::new(payload)).is_some() {
        return Err(format!("page {page} was given out twice"));
    }
    batch.commit().map_err(|error| format!("commit: {error}"))?;
    match random.below(3) {
        0 => volume
            .checkpoint()
            .map_err(|error| format!("checkpoint: {error}"))?,
        1 => volume
            .clean()
            .map(drop)
            .map_err(|error| format!("clean: {error}"))?,
        _ => {}
    }
    Ok(Arc::new(state))
}

fn describe_difference(found: &BTreeMap<u64, Arc<Vec<u8>>>, allowed: &[State]) -> String {
    let mut text = format!("the volume has {} pages; ", found.len());
    for state in allowed {
        let pages: Vec<_> = state.keys().chain(found.keys()).collect();
        let differs = |page: &&&u64| state.get(**page) != found.get(**page);
        let mut wrong: Vec<_> = pages.iter().filter(differs).map(|page| **page).collect();
        wrong.sort_unstable();
        wrong.dedup();
        text += &format!(
            "against a state with {} pages it differs in {wrong:?}; ",
            state.len()
        );
    }
    text
}
