//! A random sequence of transactions, commits of the log beside them, cleanings, checkpoints and reopenings.

use std::sync::Arc;

use quire_engine::{AppendOptions, Engine, EngineOptions, WriteTransaction};
use quire_store::log::{Log, LogOptions};
use quire_store::{Durability, OpenMode, SimDisk, Volume, VolumeOptions};

use super::rows::{Contents, Tables, batch, definition, random_rows, replay_all};
use crate::random::Random;

/// A commit, and when it happened, in operations of the disk.
#[derive(Clone, Debug)]
pub(super) struct Commit {
    /// Before this many operations nothing of it may be seen.
    pub(super) started_at: usize,
    /// After this many all of it must be seen; `None` when it was never acknowledged.
    pub(super) acknowledged_at: Option<usize>,
    /// What there is after it.
    pub(super) contents: Arc<Contents>,
}

/// What a workload did.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// When the volume was there for sure.
    pub(super) created_at: Option<usize>,
    pub(super) commits: Vec<Commit>,
}

impl History {
    /// The states a crash after that many operations may leave.
    pub(super) fn allowed_at(&self, position: usize) -> Vec<Arc<Contents>> {
        let is_safe = |commit: &Commit| commit.acknowledged_at.is_some_and(|at| at <= position);
        let safe = self.commits.iter().rposition(is_safe);
        let mut allowed = vec![match safe {
            Some(index) => Arc::clone(&self.commits[index].contents),
            None => Arc::default(),
        }];
        let next = self.commits.get(safe.map_or(0, |index| index + 1));
        if let Some(commit) = next.filter(|commit| commit.started_at < position) {
            allowed.push(Arc::clone(&commit.contents));
        }
        allowed
    }
}

/// Options of the volumes, all repeatable from a seed.
pub(super) fn volume_options(seed: u64) -> VolumeOptions {
    VolumeOptions {
        cache_bytes: 1 << 20,
        salt_seed: Some(seed),
        ..VolumeOptions::default()
    }
}

/// Runs a workload until it ends or the disk fails.
pub(super) struct Workload {
    disk: Arc<SimDisk>,
    random: Random,
    contents: Contents,
    history: History,
    sessions: u64,
}

/// The handles of one session.
struct Opened {
    engine: Engine,
    log: Log,
}

impl Workload {
    pub(super) fn new(disk: Arc<SimDisk>, seed: u64) -> Self {
        let random = Random::new(seed);
        Workload {
            disk,
            random,
            contents: Contents::default(),
            history: History::default(),
            sessions: 0,
        }
    }

    pub(super) fn run(mut self) -> (History, Result<(), String>) {
        let result = self.steps();
        (self.history, result)
    }

    fn steps(&mut self) -> Result<(), String> {
        let mut opened = self.open()?;
        self.history.created_at = Some(self.disk.journal_len());
        for _ in 0..6 + self.random.below(10) {
            match self.random.below(13) {
                0 => drop(opened.engine.clean().map_err(text)?),
                1 => opened.engine.volume().checkpoint().map_err(text)?,
                2 => {
                    let volume = opened.engine.volume().clone();
                    drop(opened);
                    volume.close().map_err(text)?;
                    opened = self.open()?;
                }
                3 => self.log_commit(&opened.log)?,
                _ => self.transaction(&opened)?,
            }
        }
        Ok(())
    }

    fn open(&mut self) -> Result<Opened, String> {
        self.sessions += 1;
        let options = volume_options(self.random.next_u64().wrapping_add(self.sessions));
        let volume = if self.history.created_at.is_none() {
            Volume::create(self.disk.clone(), options)
        } else {
            Volume::open_with(self.disk.clone(), OpenMode::ReadWrite, options)
        };
        let volume = volume.map_err(text)?;
        // From a batch for every page to none but the last.
        let staging_bytes = [1, 600, 5_000, 4 << 20][self.random.below(4) as usize];
        let mut options = EngineOptions::default();
        options.staging_bytes = staging_bytes;
        // What happens must depend on the seed alone.
        options.mvcc.has_background_thread = false;
        options.pool.compression_threads = 0;
        let engine = Engine::open_with(volume.clone(), options).map_err(text)?;
        let log = Log::open(&volume, LogOptions::default()).map_err(text)?;
        let redo = replay_all(&log)?;
        assert_eq!(redo, self.contents.redo, "the log has changed");
        Ok(Opened { engine, log })
    }

    fn transaction(&mut self, opened: &Opened) -> Result<(), String> {
        let mut tables = self.contents.tables.clone();
        let mut transaction = opened.engine.begin().map_err(text)?;
        for _ in 0..1 + self.random.below(3) {
            let name = format!("table {}", self.random.below(3));
            let is_new = !tables.contains_key(&name);
            if is_new {
                let created = transaction.create_table(definition(&name));
                created.map_err(text)?;
                tables.insert(name, Vec::new());
            } else if self.random.chance(20) {
                transaction.drop_table(&name).map_err(text)?;
                tables.remove(&name);
            } else if self.random.chance(10) {
                transaction.mark_staging().map_err(text)?;
            } else {
                self.append(&mut transaction, &name, &mut tables)?;
            }
            if self.random.chance(20) {
                // Who commits rows does not wait for the transaction.
                self.log_commit(&opened.log)?;
            }
        }
        if self.random.chance(15) {
            return Ok(());
        }
        let redo = match self.random.chance(30) {
            true => self.contents.redo + 1,
            false => self.contents.redo,
        };
        self.commit(Contents { tables, redo }, |contents| {
            if redo == contents.redo {
                return transaction.commit().map(drop).map_err(text);
            }
            let record = redo.to_le_bytes();
            let commit = |batch| opened.log.commit_batch(batch, &record, Durability::Synced);
            transaction.commit_by(commit).map(drop).map_err(text)
        })
    }

    fn append(
        &mut self,
        transaction: &mut WriteTransaction,
        name: &str,
        tables: &mut Tables,
    ) -> Result<(), String> {
        let rows = random_rows(&mut self.random);
        // One worker and few bytes in a row group: runs repeat, and have several row groups.
        let options = AppendOptions {
            workers: Some(1),
            row_group_rows: 1 + self.random.below(200) as usize,
            ..AppendOptions::default()
        };
        let mut appender = transaction.appender_with(name, options).map_err(text)?;
        appender.append(&batch(&rows)?).map_err(text)?;
        appender.finish().map_err(text)?;
        tables.entry(name.to_owned()).or_default().extend(rows);
        Ok(())
    }

    /// A commit of row transactions.
    fn log_commit(&mut self, log: &Log) -> Result<(), String> {
        let contents = Contents {
            redo: self.contents.redo + 1,
            ..self.contents.clone()
        };
        let record = contents.redo.to_le_bytes();
        self.commit(contents, |_| {
            log.commit(&record, Durability::Synced)
                .map(drop)
                .map_err(text)
        })
    }

    /// Notes a commit and when it happens. `act` gets what was there before.
    fn commit(
        &mut self,
        contents: Contents,
        act: impl FnOnce(&Contents) -> Result<(), String>,
    ) -> Result<(), String> {
        self.history.commits.push(Commit {
            started_at: self.disk.journal_len(),
            acknowledged_at: None,
            contents: Arc::new(contents.clone()),
        });
        act(&self.contents)?;
        if let Some(commit) = self.history.commits.last_mut() {
            commit.acknowledged_at = Some(self.disk.journal_len());
        }
        self.contents = contents;
        Ok(())
    }
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
