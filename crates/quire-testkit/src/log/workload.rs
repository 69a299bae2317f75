//! Random commits, truncations and interruptions, with a model at their side.

use std::sync::Arc;

use quire_store::log::{LargeCommit, LogSequence, VolumeLog};
use quire_store::{
    BatchWriteError, CATALOG_PAGE, CommitError, Durability, PageKind, SimDisk, Volume,
    VolumeOptions, WriteBatch,
};

use super::model::{LogHistory, LoggedCommit, Truncation};
use super::verify::open_log;
use crate::random::TestRandom;
use crate::store::volume_options;

/// Random work on the log of a volume on a simulated disk.
///
/// The same seed gives the same steps. Which of the threads of a group comes first may differ.
pub struct LogWorkload {
    disk: Arc<SimDisk>,
    options: VolumeOptions,
    random: TestRandom,
    opened: Option<(Volume, VolumeLog)>,
    /// The last commit that the row tables contain.
    applied: u64,
    large: Vec<(LargeCommit, Vec<Vec<u8>>)>,
    history: LogHistory,
}

impl LogWorkload {
    /// Prepares the work that `seed` stands for, on an empty disk.
    #[must_use]
    pub fn new(disk: Arc<SimDisk>, seed: u64) -> Self {
        Self {
            disk,
            options: volume_options(seed),
            random: TestRandom::new(seed),
            opened: None,
            applied: 0,
            large: Vec::new(),
            history: LogHistory::default(),
        }
    }

    /// Works until the end or until an operation fails.
    pub fn run(mut self, step_count: u64) -> (LogHistory, Result<(), String>) {
        let result = self.work(step_count);
        self.large.clear();
        self.opened = None;
        (self.history, result)
    }

    fn work(&mut self, step_count: u64) -> Result<(), String> {
        self.reopen()?;
        self.history.created_at = Some(self.disk.journal_len());
        for _ in 0..step_count {
            match self.random.below(100) {
                0..45 => self.commit_from_threads(1)?,
                45..60 => {
                    let threads = 2 + self.random.below(3);
                    self.commit_from_threads(threads)?;
                }
                60..72 => self.truncate()?,
                72..86 => self.go_on_with_large()?,
                86..90 => self.write_other_pages()?,
                90..93 => self.volume()?.0.checkpoint().map_err(text)?,
                93..95 => drop(self.volume()?.0.clean().map_err(text)?),
                _ => self.reopen()?,
            }
        }
        Ok(())
    }

    fn volume(&self) -> Result<(Volume, VolumeLog), String> {
        self.opened
            .clone()
            .ok_or_else(|| "the volume is not open".to_owned())
    }

    /// Closes the volume, opens it and compares its log with the model.
    fn reopen(&mut self) -> Result<(), String> {
        self.large.clear();
        self.opened = None;
        let (volume, log, applied, found) = open_log(self.disk.clone(), &self.options, true)?;
        let behind = self.history.commits.range(self.applied + 1..);
        let is_same = behind
            .map(|(sequence, commit)| (*sequence, &*commit.records))
            .eq(found.iter().map(|(sequence, records)| (*sequence, records)));
        assert!(is_same && applied == self.applied, "the log has changed");
        self.opened = Some((volume, log));
        Ok(())
    }

    fn records(&mut self) -> Vec<u8> {
        let length = match self.random.below(16) {
            0 => self.random.below(12_000),
            1 => return vec![7; self.random.below(30_000) as usize],
            _ => self.random.below(200),
        };
        self.random.bytes(length as usize)
    }

    fn durability(&mut self) -> Durability {
        if self.random.chance(40) {
            Durability::Unsynced
        } else {
            Durability::Synced
        }
    }

    /// Commits from several threads at once. They begin while another batch has the turn, so most come in one group.
    fn commit_from_threads(&mut self, thread_count: u64) -> Result<(), String> {
        let (volume, log) = self.volume()?;
        let work: Vec<_> = (0..thread_count)
            .map(|_| (self.records(), self.durability()))
            .collect();
        let turn = match thread_count {
            1 => None,
            _ => Some(volume.begin().map_err(text)?),
        };
        let disk = &self.disk;
        let commit = |(records, durability): (Vec<u8>, Durability)| {
            let called_at = disk.journal_len();
            let result = log.commit(&records, durability);
            (
                called_at,
                result,
                disk.journal_len(),
                vec![records],
                durability,
            )
        };
        let results: Vec<_> = if turn.is_none() {
            work.into_iter().map(commit).collect()
        } else {
            std::thread::scope(|scope| {
                let commit = &commit;
                let threads: Vec<_> = work
                    .into_iter()
                    .map(|work| scope.spawn(move || commit(work)))
                    .collect();
                drop(turn);
                let joined = threads.into_iter().map(|thread| thread.join());
                joined.filter_map(Result::ok).collect()
            })
        };
        assert_eq!(results.len() as u64, thread_count, "a thread has panicked");
        let mut outcome = Ok(());
        for result in results {
            outcome = outcome.and(self.note(result));
        }
        outcome
    }

    fn note(
        &mut self,
        (called_at, result, returned_at, records, durability): (
            usize,
            Result<LogSequence, CommitError>,
            usize,
            Vec<Vec<u8>>,
            Durability,
        ),
    ) -> Result<(), String> {
        let records = Arc::new(records);
        let error = match result {
            Ok(sequence) => {
                let commit = LoggedCommit {
                    called_at,
                    returned_at,
                    is_synced: durability == Durability::Synced,
                    records,
                };
                let before = self.history.commits.insert(sequence.get(), commit);
                assert!(before.is_none(), "commit {sequence} was made twice");
                return Ok(());
            }
            Err(error) => error,
        };
        if !matches!(error, CommitError::Write(BatchWriteError::Full { .. })) {
            self.history.unknown.push((called_at, records));
        }
        Err(error.to_string())
    }

    /// A checkpoint of the row tables up to some commit; sometimes one that is given up.
    fn truncate(&mut self) -> Result<(), String> {
        let (volume, log) = self.volume()?;
        let last = log.last_sequence().get();
        let up_to = self.applied + self.random.below(last - self.applied + 1);
        let batch = volume.begin().map_err(text)?;
        let applied = up_to.to_le_bytes();
        batch
            .replace(CATALOG_PAGE, PageKind::Catalog, &applied)
            .map_err(text)?;
        log.truncate(&batch, LogSequence::new(up_to))
            .map_err(text)?;
        if self.random.chance(20) {
            return Ok(());
        }
        self.history.truncations.push(Truncation {
            up_to,
            called_at: self.disk.journal_len(),
            returned_at: None,
        });
        batch.commit().map_err(text)?;
        self.applied = up_to;
        if let Some(truncation) = self.history.truncations.last_mut() {
            truncation.returned_at = Some(self.disk.journal_len());
        }
        Ok(())
    }

    /// Begins a large transaction, or adds to one, or ends one, well or badly.
    fn go_on_with_large(&mut self) -> Result<(), String> {
        let (_, log) = self.volume()?;
        if self.large.is_empty() || self.random.chance(30) {
            self.large.push((log.begin_large(), Vec::new()));
        }
        let at = self.random.below(self.large.len() as u64) as usize;
        let records = self.records();
        if self.random.chance(50) {
            let (large, parts) = &mut self.large[at];
            large.append(&records).map_err(text)?;
            parts.push(records);
            return Ok(());
        }
        let (large, mut parts) = self.large.swap_remove(at);
        if self.random.chance(30) {
            return Ok(());
        }
        let durability = self.durability();
        let called_at = self.disk.journal_len();
        let result = if self.random.chance(30) {
            large.commit_batch(self.other_pages()?, &records, durability)
        } else {
            large.commit(&records, durability)
        };
        parts.push(records);
        self.note((
            called_at,
            result,
            self.disk.journal_len(),
            parts,
            durability,
        ))
    }

    /// A batch of pages that are not the log's, sometimes with a commit.
    fn write_other_pages(&mut self) -> Result<(), String> {
        let batch = self.other_pages()?;
        let durability = self.durability();
        if self.random.chance(50) {
            return batch.commit_with(durability).map(drop).map_err(text);
        }
        let records = self.records();
        let called_at = self.disk.journal_len();
        let (_, log) = self.volume()?;
        let result = log.commit_batch(batch, &records, durability);
        let returned_at = self.disk.journal_len();
        self.note((called_at, result, returned_at, vec![records], durability))
    }

    fn other_pages(&mut self) -> Result<WriteBatch, String> {
        let batch = self.volume()?.0.begin().map_err(text)?;
        for _ in 0..1 + self.random.below(3) {
            let length = self.random.below(3_000) as usize;
            let payload = self.random.bytes(length);
            batch.write(PageKind::Segment, &payload).map_err(text)?;
        }
        Ok(batch)
    }
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
