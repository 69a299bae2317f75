//! A random sequence of transactions, checkpoints, cleanings and reopenings, with a model beside it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quire_kv::{mvcc::Synchronous, mvcc::TransactionOptions};
use quire_store::{OpenMode, SimDisk, Volume};
use quire_tables::{Engine, Savepoint, Snapshot, Transaction};

use super::history::{DiskActivity, RowHistory};
use super::model::ModelState;
use super::options::{engine_options, volume_options};
use super::schema::Variant;
use super::session::{read_state, text};
use super::verify::the_log_is_empty;
use crate::random::TestRandom;

/// Runs until it ends or the disk fails.
pub(super) struct RowWorkload {
    disk: Arc<SimDisk>,
    pub(super) random: TestRandom,
    pub(super) variant: Variant,
    /// What is committed.
    pub(super) state: Arc<ModelState>,
    history: RowHistory,
    has_threads: bool,
    /// Of the last transaction.
    synchronous: Synchronous,
    sessions: u64,
    /// Absent while it is closed.
    engine: Option<Engine>,
    held: Option<(Snapshot, Arc<ModelState>)>,
}

/// A transaction, and what it must see.
pub(super) struct OpenWorkloadTransaction {
    pub(super) transaction: Transaction,
    pub(super) state: ModelState,
    pub(super) savepoints: Vec<(Savepoint, ModelState)>,
}

impl RowWorkload {
    pub(super) fn new(disk: Arc<SimDisk>, seed: u64, has_threads: bool) -> Self {
        let mut random = TestRandom::new(seed);
        Self {
            disk,
            variant: Variant::new(&mut random),
            random,
            state: Arc::default(),
            history: RowHistory::default(),
            has_threads,
            synchronous: Synchronous::Full,
            sessions: 0,
            engine: None,
            held: None,
        }
    }

    /// Goes on where a crash has left the database of another.
    pub(super) fn after_crash(
        disk: Arc<SimDisk>,
        seed: u64,
        variant: Variant,
        state: &Arc<ModelState>,
    ) -> Self {
        let mut workload = Self::new(disk, seed, false);
        workload.variant = variant;
        workload.state = Arc::clone(state);
        workload.history = RowHistory::of_state(state);
        workload
    }

    /// Does so many things.
    pub(super) fn run(&mut self, steps: u64) -> Result<(), String> {
        if self.engine.is_none() {
            self.open()?;
            let now = self.now();
            self.history.created_at.get_or_insert(now);
        }
        for _ in 0..steps {
            self.step()?;
        }
        self.release_snapshot()
    }

    /// The same after a failure that has taken nothing.
    pub(super) fn go_on(&mut self, steps: u64) -> Result<(), String> {
        if let Some(engine) = &self.engine {
            self.compare(&engine.snapshot(), &self.state, "after the failure")?;
            self.release_snapshot()?;
        }
        self.run(steps)
    }

    /// What has happened. The process ends here.
    pub(super) fn end(self) -> RowHistory {
        self.history
    }

    fn step(&mut self) -> Result<(), String> {
        let Some(engine) = self.engine.clone() else {
            // It could not be opened before.
            return self.open();
        };
        match self.random.below(27) {
            0 => {
                self.enter(DiskActivity::Cleaning);
                engine.clean().map_err(text)?;
                self.history.all_is_durable(self.now());
                Ok(())
            }
            1..4 => self.checkpoint(&engine),
            4 => {
                self.enter(DiskActivity::VolumeCheckpoint);
                engine.volume().checkpoint().map_err(text)?;
                self.history.written_is_durable(self.now());
                Ok(())
            }
            5 => self.reopen(engine),
            6 => {
                self.release_snapshot()?;
                self.held = Some((engine.snapshot(), Arc::clone(&self.state)));
                Ok(())
            }
            7 => {
                self.enter(DiskActivity::Statements);
                self.use_sequence(&engine)
            }
            8 | 9 => self.merge(&engine),
            _ => self.transaction(&engine),
        }
    }

    fn checkpoint(&mut self, engine: &Engine) -> Result<(), String> {
        self.enter(DiskActivity::Checkpoint);
        engine.checkpoint().map_err(text)?;
        self.history.all_is_durable(self.now());
        if self.has_threads {
            Ok(())
        } else {
            the_log_is_empty(engine)
        }
    }

    fn reopen(&mut self, engine: Engine) -> Result<(), String> {
        self.release_snapshot()?;
        self.enter(DiskActivity::Closing);
        let volume = engine.volume().clone();
        self.engine = None;
        drop(engine);
        self.history.all_is_written(self.now());
        if self.random.chance(50) {
            volume.close().map_err(text)?;
            self.history.all_is_durable(self.now());
        } else {
            drop(volume);
        }
        self.open()
    }

    fn open(&mut self) -> Result<(), String> {
        self.enter(DiskActivity::Opening);
        self.sessions += 1;
        let seed = self.random.next_u64().wrapping_add(self.sessions);
        let volume = if self.history.created_at.is_none() {
            Volume::create(self.disk.clone(), volume_options(seed))
        } else {
            Volume::open_with(self.disk.clone(), OpenMode::ReadWrite, volume_options(seed))
        };
        let options = engine_options(seed, self.has_threads);
        let engine = Engine::open_with(volume.map_err(text)?, options).map_err(text)?;
        self.compare(&engine.snapshot(), &self.state, "after reopening")?;
        self.engine = Some(engine);
        Ok(())
    }

    fn compare(&self, snapshot: &Snapshot, state: &ModelState, when: &str) -> Result<(), String> {
        let found = read_state(snapshot)?;
        if found == *state {
            return Ok(());
        }
        let (found, state) = (found.describe(), state.describe());
        Err(format!("{when}: found {found}, expected {state}"))
    }

    fn release_snapshot(&mut self) -> Result<(), String> {
        match self.held.take() {
            Some((snapshot, state)) => self.compare(&snapshot, &state, "an old snapshot"),
            None => Ok(()),
        }
    }

    fn transaction(&mut self, engine: &Engine) -> Result<(), String> {
        let synchronous = self.random_synchronous();
        let options = TransactionOptions {
            synchronous,
            ..TransactionOptions::default()
        };
        let mut open = OpenWorkloadTransaction {
            transaction: engine.transaction(options),
            state: ModelState::clone(&self.state),
            savepoints: Vec::new(),
        };
        for _ in 0..1 + self.random.below(4) {
            self.enter(DiskActivity::Statements);
            match self.random.below(17) {
                0 | 1 => self.change_definitions(&mut open)?,
                2 | 15 => self.change_load(&mut open)?,
                16 if self.random.chance(50) => self.fill(&mut open)?,
                16 => self.rewrite(&mut open)?,
                3 => {
                    let savepoint = open.transaction.savepoint();
                    open.savepoints.push((savepoint, open.state.clone()));
                }
                4 => self.roll_back(&mut open),
                5 if self.random.chance(30) => self.checkpoint(engine)?,
                6 => self.commit_beside(engine, &mut open)?,
                7 if self.random.chance(10) => self.insert_many(&mut open)?,
                _ => self.change_rows(&mut open)?,
            }
        }
        if self.random.chance(30) {
            open.transaction.begin_statement();
            self.compare(
                &open.transaction.snapshot(),
                &open.state,
                "in a transaction",
            )?;
        }
        if self.random.chance(12) {
            self.enter(DiskActivity::Statements);
            drop(open.transaction);
            return self.compare(&engine.snapshot(), &self.state, "after a rollback");
        }
        // What changes no rows is synced, whatever was asked for; noting less is right too.
        let durability = if open.state == *self.state {
            Synchronous::Off
        } else {
            synchronous
        };
        let OpenWorkloadTransaction {
            transaction, state, ..
        } = open;
        let has_threads = self.has_threads && self.random.chance(20);
        self.commit(state, durability, || {
            if has_threads {
                beside_checkpoints(engine, || transaction.commit().map_err(text))
            } else {
                transaction.commit().map_err(text)
            }
        })
    }

    fn roll_back(&mut self, open: &mut OpenWorkloadTransaction) {
        if open.savepoints.is_empty() {
            return;
        }
        let place = self.random.below(open.savepoints.len() as u64) as usize;
        open.savepoints.truncate(place + 1);
        let (savepoint, state) = &open.savepoints[place];
        open.transaction.roll_back_to(savepoint);
        open.state = state.clone();
    }

    /// Often as the time before: what several commits leave in memory has to be in order.
    pub(super) fn random_synchronous(&mut self) -> Synchronous {
        if self.random.chance(50) {
            self.synchronous = [
                Synchronous::Full,
                Synchronous::Full,
                Synchronous::Normal,
                Synchronous::Off,
            ][self.random.below(4) as usize];
        }
        self.synchronous
    }

    pub(super) fn enter(&mut self, activity: DiskActivity) {
        self.history.enter(self.now(), activity);
    }

    fn now(&self) -> usize {
        self.disk.journal_len()
    }

    /// Notes a commit and when it happens.
    pub(super) fn commit(
        &mut self,
        state: ModelState,
        durability: Synchronous,
        act: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), String> {
        let state = Arc::new(state);
        self.enter(DiskActivity::Commit);
        self.history.begin(self.now(), &state);
        act()?;
        self.history.returned();
        match durability {
            Synchronous::Full => self.history.all_is_durable(self.now()),
            Synchronous::Normal => self.history.all_is_written(self.now()),
            Synchronous::Off => {}
        }
        self.state = state;
        Ok(())
    }
}

/// Commits while checkpoints are made one after the other.
fn beside_checkpoints(
    engine: &Engine,
    commit: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let checkpoints = scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                engine.checkpoint().map_err(text)?;
            }
            Ok(())
        });
        let committed = commit();
        is_done.store(true, Ordering::Relaxed);
        let checkpointed = checkpoints.join();
        committed.and(checkpointed.unwrap_or_else(|_| Err("a checkpoint has panicked".to_owned())))
    })
}
