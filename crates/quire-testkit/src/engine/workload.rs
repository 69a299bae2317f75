//! A random sequence of transactions, cleanings, checkpoints and reopenings.

use std::sync::Arc;

use quire_engine::{AppendOptions, Engine};
use quire_store::{OpenMode, SimDisk, Volume, VolumeOptions};

use super::rows::{Tables, batch, definition, random_rows};
use crate::random::Random;

/// A commit, and when it happened, in operations of the disk.
#[derive(Clone, Debug)]
pub(super) struct Commit {
    /// Before this many operations nothing of it may be seen.
    pub(super) started_at: usize,
    /// After this many all of it must be seen; `None` when it was never acknowledged.
    pub(super) acknowledged_at: Option<usize>,
    /// The tables after it.
    pub(super) tables: Arc<Tables>,
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
    pub(super) fn allowed_at(&self, position: usize) -> Vec<Arc<Tables>> {
        let is_safe = |commit: &Commit| commit.acknowledged_at.is_some_and(|at| at <= position);
        let safe = self.commits.iter().rposition(is_safe);
        let mut allowed = vec![match safe {
            Some(index) => Arc::clone(&self.commits[index].tables),
            None => Arc::default(),
        }];
        let next = self.commits.get(safe.map_or(0, |index| index + 1));
        if let Some(commit) = next.filter(|commit| commit.started_at < position) {
            allowed.push(Arc::clone(&commit.tables));
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
    tables: Tables,
    history: History,
    sessions: u64,
}

impl Workload {
    pub(super) fn new(disk: Arc<SimDisk>, seed: u64) -> Self {
        let random = Random::new(seed);
        Workload {
            disk,
            random,
            tables: Tables::new(),
            history: History::default(),
            sessions: 0,
        }
    }

    pub(super) fn run(mut self) -> (History, Result<(), String>) {
        let result = self.steps();
        (self.history, result)
    }

    fn steps(&mut self) -> Result<(), String> {
        let mut engine = self.open()?;
        self.history.created_at = Some(self.disk.journal_len());
        for _ in 0..6 + self.random.below(10) {
            match self.random.below(12) {
                0 => drop(engine.clean().map_err(|error| error.to_string())?),
                1 => engine
                    .volume()
                    .checkpoint()
                    .map_err(|error| error.to_string())?,
                2 => {
                    let volume = engine.volume().clone();
                    drop(engine);
                    volume.close().map_err(|error| error.to_string())?;
                    engine = self.open()?;
                }
                _ => self.transaction(&engine)?,
            }
        }
        Ok(())
    }

    fn open(&mut self) -> Result<Engine, String> {
        self.sessions += 1;
        let options = volume_options(self.random.next_u64().wrapping_add(self.sessions));
        let volume = if self.history.created_at.is_none() {
            Volume::create(self.disk.clone(), options)
        } else {
            Volume::open_with(self.disk.clone(), OpenMode::ReadWrite, options)
        };
        Engine::open(volume.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
    }

    fn transaction(&mut self, engine: &Engine) -> Result<(), String> {
        let mut tables = self.tables.clone();
        let mut transaction = engine.begin().map_err(|error| error.to_string())?;
        for _ in 0..1 + self.random.below(3) {
            let name = format!("table {}", self.random.below(3));
            let is_new = !tables.contains_key(&name);
            if is_new {
                let created = transaction.create_table(definition(&name));
                created.map_err(|error| error.to_string())?;
                tables.insert(name, Vec::new());
            } else if self.random.chance(20) {
                transaction
                    .drop_table(&name)
                    .map_err(|error| error.to_string())?;
                tables.remove(&name);
            } else {
                let rows = random_rows(&mut self.random);
                // One worker and few bytes in a row group: runs repeat, and have several row groups.
                let options = AppendOptions {
                    workers: Some(1),
                    row_group_rows: 1 + self.random.below(200) as usize,
                    ..AppendOptions::default()
                };
                let appender = transaction.appender_with(&name, options);
                let mut appender = appender.map_err(|error| error.to_string())?;
                appender
                    .append(&batch(&rows)?)
                    .map_err(|error| error.to_string())?;
                appender.finish().map_err(|error| error.to_string())?;
                tables.entry(name).or_default().extend(rows);
            }
        }
        if self.random.chance(15) {
            return Ok(());
        }
        let started_at = self.disk.journal_len();
        let committed = Arc::new(tables.clone());
        self.history.commits.push(Commit {
            started_at,
            acknowledged_at: None,
            tables: committed,
        });
        transaction.commit().map_err(|error| error.to_string())?;
        if let Some(commit) = self.history.commits.last_mut() {
            commit.acknowledged_at = Some(self.disk.journal_len());
        }
        self.tables = tables;
        Ok(())
    }
}
