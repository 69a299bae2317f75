//! A random sequence of transactions, commits of rows beside them, changes of column tables, merges, cleanings, checkpoints and
//! reopenings.

use std::sync::Arc;

use quire_kv::mvcc::TransactionOptions;
use quire_store::{OpenMode, SimDisk, Volume, VolumeOptions};
use quire_tables::{AppendOptions, Engine, EngineOptions, WriteTransaction};

use super::changes;
use super::rows::{
    EngineContents, REPEATED_WORDS_ROWS, Tables, batch, count_rows, definition, insert_row,
    random_rows, repeated_words,
};
use crate::random::TestRandom;

/// A commit, and when it happened, in operations of the disk.
#[derive(Clone, Debug)]
pub(super) struct EngineCommit {
    /// Before this many operations nothing of it may be seen.
    pub(super) started_at: usize,
    /// After this many all of it must be seen; `None` when it was never acknowledged.
    pub(super) acknowledged_at: Option<usize>,
    /// What there is after it.
    pub(super) contents: Arc<EngineContents>,
}

/// What a workload did.
#[derive(Clone, Debug, Default)]
pub(super) struct EngineHistory {
    /// When the volume was there for sure.
    pub(super) created_at: Option<usize>,
    pub(super) commits: Vec<EngineCommit>,
    /// Shared dictionaries that tables had after appends.
    pub(super) dictionaries: u64,
}

impl EngineHistory {
    /// The states a crash after that many operations may leave.
    pub(super) fn allowed_at(&self, position: usize) -> Vec<Arc<EngineContents>> {
        let is_safe =
            |commit: &EngineCommit| commit.acknowledged_at.is_some_and(|at| at <= position);
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

/// Options of the engines: what happens must depend on the seed alone.
pub(super) fn engine_options(staging_bytes: usize) -> EngineOptions {
    let mut options = EngineOptions {
        staging_bytes,
        ..EngineOptions::default()
    };
    options.mvcc.has_background_thread = false;
    options.pool.compression_threads = 0;
    options
}

/// Runs a workload until it ends or the disk fails.
pub(super) struct EngineWorkload {
    disk: Arc<SimDisk>,
    random: TestRandom,
    contents: EngineContents,
    history: EngineHistory,
    sessions: u64,
}

impl EngineWorkload {
    pub(super) fn new(disk: Arc<SimDisk>, seed: u64) -> Self {
        let random = TestRandom::new(seed);
        EngineWorkload {
            disk,
            random,
            contents: EngineContents::default(),
            history: EngineHistory::default(),
            sessions: 0,
        }
    }

    pub(super) fn run(mut self) -> (EngineHistory, Result<(), String>) {
        let result = self.steps();
        (self.history, result)
    }

    fn steps(&mut self) -> Result<(), String> {
        let mut engine = self.open()?;
        self.history.created_at = Some(self.disk.journal_len());
        for _ in 0..6 + self.random.below(10) {
            match self.random.below(17) {
                0 => drop(engine.clean().map_err(text)?),
                1 => engine.checkpoint().map_err(text)?,
                2 => {
                    let volume = engine.volume().clone();
                    drop(engine);
                    volume.close().map_err(text)?;
                    engine = self.open()?;
                }
                3 => self.commit_row(&engine)?,
                4..=6 => self.change_rows(&engine)?,
                7 => self.merge(&engine)?,
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
        let volume = volume.map_err(text)?;
        // From a batch for every page to none but the last.
        let staging_bytes = [1, 600, 5_000, 4 << 20][self.random.below(4) as usize];
        let engine = Engine::open_with(volume, engine_options(staging_bytes)).map_err(text)?;
        let row_count = count_rows(&engine.snapshot())?;
        assert_eq!(row_count, self.contents.row_count, "rows have changed");
        Ok(engine)
    }

    fn transaction(&mut self, engine: &Engine) -> Result<(), String> {
        let mut tables = self.contents.tables.clone();
        let mut transaction = engine.transaction(TransactionOptions::default());
        let half = transaction.tables().map_err(text)?;
        for _ in 0..1 + self.random.below(3) {
            let name = format!("table {}", self.random.below(3));
            let is_new = !tables.contains_key(&name);
            if is_new {
                half.create_table(definition(&name)).map_err(text)?;
                tables.insert(name, Vec::new());
            } else if self.random.chance(20) {
                half.drop_table(&name).map_err(text)?;
                tables.remove(&name);
            } else if self.random.chance(10) {
                half.mark_staging().map_err(text)?;
            } else {
                self.append(half, &name, &mut tables)?;
            }
            if self.random.chance(20) && self.contents.row_count > 0 {
                // Who commits rows does not wait for the transaction.
                self.commit_row(engine)?;
            }
        }
        if self.random.chance(15) {
            return Ok(());
        }
        let mut row_count = self.contents.row_count;
        if self.random.chance(30) {
            row_count += 1;
            insert_row(&mut transaction, row_count)?;
        }
        self.commit(EngineContents { tables, row_count }, || {
            transaction.commit().map_err(text)
        })
    }

    fn append(
        &mut self,
        transaction: &mut WriteTransaction,
        name: &str,
        tables: &mut Tables,
    ) -> Result<(), String> {
        let (rows, row_group_rows) = if self.random.chance(15) {
            (repeated_words(&mut self.random), REPEATED_WORDS_ROWS)
        } else {
            let rows = random_rows(&mut self.random);
            (rows, 1 + self.random.below(200) as usize)
        };
        // One worker and few bytes in a row group: runs repeat, and have several row groups.
        let options = AppendOptions {
            workers: Some(1),
            row_group_rows,
            ..AppendOptions::default()
        };
        let mut appender = transaction.appender_with(name, options).map_err(text)?;
        appender.append(&batch(&rows)?).map_err(text)?;
        appender.finish().map_err(text)?;
        let table = transaction.snapshot().table(name).map_err(text)?;
        let dictionaries = table.map_or(0, |table| table.shared_dictionaries(1).len());
        self.history.dictionaries += dictionaries as u64;
        tables.entry(name.to_owned()).or_default().extend(rows);
        Ok(())
    }

    /// Any of the column tables.
    fn some_table(&mut self) -> Option<String> {
        let names: Vec<&String> = self.contents.tables.keys().collect();
        let place = self.random.below(names.len().max(1) as u64);
        names.get(place as usize).map(|name| (*name).clone())
    }

    /// Rows of a column table change, and perhaps more are appended in the same transaction.
    fn change_rows(&mut self, engine: &Engine) -> Result<(), String> {
        let Some(name) = self.some_table() else {
            return Ok(());
        };
        let mut tables = self.contents.tables.clone();
        let mut transaction = engine.transaction(TransactionOptions::default());
        if self.random.chance(20) {
            let half = transaction.tables().map_err(text)?;
            self.append(half, &name, &mut tables)?;
            transaction.begin_statement();
        }
        let rows = tables.entry(name.clone()).or_default();
        changes::change_rows(&mut transaction, &mut self.random, &name, rows)?;
        if self.random.chance(10) {
            return Ok(());
        }
        let row_count = self.contents.row_count;
        self.commit(EngineContents { tables, row_count }, || {
            transaction.commit().map_err(text)
        })
    }

    /// Afterwards there are the same rows.
    fn merge(&mut self, engine: &Engine) -> Result<(), String> {
        let Some(name) = self.some_table() else {
            return Ok(());
        };
        let mut transaction = engine.transaction(TransactionOptions::default());
        changes::merge(&mut transaction, &mut self.random, &name)?;
        transaction.commit().map_err(text)
    }

    /// A commit of a transaction over rows.
    fn commit_row(&mut self, engine: &Engine) -> Result<(), String> {
        let contents = EngineContents {
            row_count: self.contents.row_count + 1,
            ..self.contents.clone()
        };
        let mut transaction = engine.transaction(TransactionOptions::default());
        insert_row(&mut transaction, contents.row_count)?;
        self.commit(contents, || transaction.commit().map_err(text))
    }

    /// Notes a commit and when it happens.
    fn commit(
        &mut self,
        mut contents: EngineContents,
        act: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        contents.tables.values_mut().for_each(|rows| rows.sort());
        self.history.commits.push(EngineCommit {
            started_at: self.disk.journal_len(),
            acknowledged_at: None,
            contents: Arc::new(contents.clone()),
        });
        act()?;
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
