//! Random work on a volume, with a model at its side.

use std::collections::BTreeMap;
use std::sync::Arc;

use quire_store::{
    BatchWriteError, CATALOG_PAGE, CommitError, Disk, Durability, PageId, PageKind, Pin, SimDisk,
    Volume, VolumeOptions,
};

use super::model::{Acknowledgement, CommitHistory, State};
use super::verify::read_all;
use crate::random::TestRandom;

/// What a workload does.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadOptions {
    /// Steps: batches, checkpoints, cleanings and so on.
    pub step_count: u64,
    /// Most payloads are at most this long; one in 16 is up to 8 times as long.
    pub payload_bytes: u64,
}

impl Default for WorkloadOptions {
    fn default() -> Self {
        Self {
            step_count: 40,
            payload_bytes: 1500,
        }
    }
}

/// Small runs and an eager log, so that little work reaches every part of the code.
#[must_use]
pub fn volume_options(seed: u64) -> VolumeOptions {
    let mut random = TestRandom::new(seed ^ 0x5eed);
    VolumeOptions {
        cache_bytes: 64 << 10,
        growth_bytes: 16 << 10,
        checkpoint_log_bytes: [16 << 10, 64 << 10, 1 << 20][random.below(3) as usize],
        clean_dead_percent: [0, 50, 100][random.below(3) as usize],
        run_bytes: [4 << 10, 16 << 10, 64 << 10][random.below(3) as usize],
        salt_seed: Some(random.next_u64()),
        discards: random.chance(50),
    }
}

/// Random work on a volume on a simulated disk.
pub struct StoreWorkload {
    disk: Arc<SimDisk>,
    options: WorkloadOptions,
    volume_options: VolumeOptions,
    random: TestRandom,
    volume: Option<Volume>,
    state: State,
    pins: Vec<(Pin, State)>,
    history: CommitHistory,
}

/// Why a workload stopped before its end.
pub type Stopped = String;

impl StoreWorkload {
    /// Prepares the work that `seed` stands for, on a disk that holds a volume with `state`, or
    /// nothing.
    #[must_use]
    pub fn new(disk: Arc<SimDisk>, seed: u64, options: WorkloadOptions, state: State) -> Self {
        let history = CommitHistory {
            start: state.clone(),
            ..CommitHistory::default()
        };
        Self {
            disk,
            options,
            volume_options: volume_options(seed),
            random: TestRandom::new(seed),
            volume: None,
            state,
            pins: Vec::new(),
            history,
        }
    }

    /// Works until the end or until an operation fails. After a failure the volume is closed by dropping it.
    ///
    /// # Panics
    /// When the volume answers wrongly.
    pub fn run(mut self) -> (CommitHistory, Result<(), Stopped>) {
        let result = self.work();
        self.pins.clear();
        let volume = self.volume.take().filter(|_| result.is_ok());
        if volume.is_some_and(|volume| volume.close().is_ok()) {
            self.history.note_durable(self.disk.journal_len());
        }
        (self.history, result)
    }

    fn work(&mut self) -> Result<(), Stopped> {
        self.reopen()?;
        self.history.created_at = Some(self.disk.journal_len());
        for _ in 0..self.options.step_count {
            self.step()?;
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Stopped> {
        match self.random.below(100) {
            0..55 => self.batch(),
            55..63 => {
                let stored = self.volume()?.checkpoint();
                stored.map_err(|error| error.to_string())?;
                self.history.note_durable(self.disk.journal_len());
                Ok(())
            }
            63..69 => self
                .volume()?
                .clean()
                .map(drop)
                .map_err(|error| error.to_string()),
            69..77 => {
                self.pins.push((self.volume()?.pin(), self.state.clone()));
                Ok(())
            }
            77..87 => self.verify_pins(),
            87..92 => self.check(),
            92..96 => {
                self.pins.clear();
                self.volume()?.close().map_err(|error| error.to_string())?;
                self.history.note_durable(self.disk.journal_len());
                self.reopen()
            }
            _ => {
                self.pins.clear();
                self.reopen()
            }
        }
    }

    fn volume(&self) -> Result<Volume, Stopped> {
        self.volume
            .clone()
            .ok_or_else(|| "the volume is not open".to_owned())
    }

    fn reopen(&mut self) -> Result<(), Stopped> {
        self.volume = None;
        let disk: Arc<dyn Disk> = self.disk.clone();
        let opened = Volume::open_or_create(disk, self.volume_options.clone());
        self.volume = Some(opened.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn batch(&mut self) -> Result<(), Stopped> {
        let batch = self.volume()?.begin().map_err(|error| error.to_string())?;
        let mut state = BTreeMap::clone(&self.state);
        for _ in 0..self.random.below(8) {
            self.change(&batch, &mut state)
                .map_err(|error| error.to_string())?;
        }
        if self.random.chance(15) {
            return Ok(());
        }
        let state = Arc::new(state);
        self.history.commits.push(Acknowledgement {
            called_at: self.disk.journal_len(),
            returned_at: None,
            state: state.clone(),
        });
        let failed = |error: CommitError| error.to_string();
        let durability = if self.random.chance(30) {
            Durability::Unsynced
        } else {
            Durability::Synced
        };
        if let Err(error) = batch.commit_with(durability) {
            // A batch that could not be written is not in the volume, whatever happens later.
            if matches!(error, CommitError::Write(BatchWriteError::Full { .. })) {
                self.history.commits.pop();
            }
            return Err(failed(error));
        }
        if durability == Durability::Synced {
            self.history.note_durable(self.disk.journal_len());
        }
        self.state = state;
        Ok(())
    }

    fn change(
        &mut self,
        batch: &quire_store::WriteBatch,
        state: &mut BTreeMap<u64, Arc<Vec<u8>>>,
    ) -> Result<(), BatchWriteError> {
        let kind = PageKind::ALL[self.random.below(4) as usize];
        let victims: Vec<u64> = state.keys().copied().collect();
        let victim = victims
            .get(self.random.below(victims.len() as u64) as usize)
            .copied();
        match (self.random.below(10), victim.and_then(PageId::new)) {
            (5..8, Some(page)) => {
                let payload = self.payload();
                batch.replace(page, kind, &payload)?;
                state.insert(page.get(), Arc::new(payload));
            }
            (8.., Some(page)) if page != CATALOG_PAGE => {
                batch.free(page)?;
                state.remove(&page.get());
            }
            (0, _) => {
                let payload = self.payload();
                batch.replace(CATALOG_PAGE, PageKind::Catalog, &payload)?;
                state.insert(CATALOG_PAGE.get(), Arc::new(payload));
            }
            _ => {
                let payload = self.payload();
                let page = batch.write(kind, &payload)?;
                assert!(
                    state.insert(page.get(), Arc::new(payload)).is_none(),
                    "page given twice"
                );
            }
        }
        Ok(())
    }

    fn payload(&mut self) -> Vec<u8> {
        let factor = if self.random.below(16) == 0 { 8 } else { 1 };
        let length = self.random.below(self.options.payload_bytes * factor + 1);
        self.random.bytes(length as usize)
    }

    fn verify_pins(&mut self) -> Result<(), Stopped> {
        for (pin, state) in &self.pins {
            let found = read_all(pin)?;
            assert!(found == **state, "a pinned snapshot has changed");
        }
        if self.random.chance(50) {
            self.pins.clear();
        }
        let found = read_all(&self.volume()?.pin())?;
        assert!(
            found == *self.state,
            "the volume does not hold what was committed"
        );
        Ok(())
    }

    fn check(&mut self) -> Result<(), Stopped> {
        let volume = self.volume()?;
        // A superblock that a fault tore stays so until the first write.
        let may_be_torn = self.history.commits.is_empty();
        let is_allowed = |invariant| may_be_torn && invariant == "superblocks_are_whole";
        let findings = volume.check().findings;
        match findings
            .iter()
            .find(|finding| !is_allowed(finding.invariant))
        {
            Some(finding) => Err(format!("check: {finding}")),
            None => Ok(()),
        }
    }
}
