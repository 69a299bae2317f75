//! A target is filled: tables, rows, indexes, rest.

use super::error::WorkloadDataError;
use super::folder::DataFolder;
use crate::{Target, TargetError, Workload};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadStepKind {
    CreateTable,
    Load,
    CreateIndexes,
    Settle,
}

impl LoadStepKind {
    /// As a person reads it.
    pub fn name(self) -> &'static str {
        match self {
            Self::CreateTable => "create table",
            Self::Load => "load",
            Self::CreateIndexes => "create indexes",
            Self::Settle => "settle",
        }
    }
}

/// A step, how long it took, and how large the database was then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadStep {
    pub kind: LoadStepKind,
    /// Empty for a step that is about all tables.
    pub table: String,
    pub elapsed: Duration,
    /// Rows loaded; 0 for a step that loads none.
    pub rows: u64,
    /// Bytes of the file that was loaded; 0 for a step that loads none.
    pub csv_bytes: u64,
    /// Bytes of the target's files behind the step.
    pub stored_bytes: u64,
}

/// How a target was filled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadOutcome {
    /// In the order in which they were done.
    pub steps: Vec<LoadStep>,
}

impl LoadOutcome {
    /// What all steps took.
    pub fn elapsed(&self) -> Duration {
        self.steps.iter().map(|step| step.elapsed).sum()
    }

    /// Rows of all tables.
    pub fn rows(&self) -> u64 {
        self.steps.iter().map(|step| step.rows).sum()
    }

    /// Bytes of all files that were loaded.
    pub fn csv_bytes(&self) -> u64 {
        self.steps.iter().map(|step| step.csv_bytes).sum()
    }

    /// Bytes of the target's files behind the last step.
    pub fn stored_bytes(&self) -> u64 {
        self.steps.last().map_or(0, |step| step.stored_bytes)
    }
}

/// Makes all tables, loads all of them, makes all indexes, and brings the target to rest. `progress` is called with each step that is done, and
/// with the number of all steps; `cancel` ends the loading between two steps.
///
/// # Errors
/// When the folder has not all tables, or the target refuses.
pub fn load_tables(
    workload: &dyn Workload,
    folder: &DataFolder,
    target: &dyn Target,
    cancel: &AtomicBool,
    progress: &mut dyn FnMut(&LoadStep, usize),
) -> Result<LoadOutcome, WorkloadDataError> {
    let tables = workload.tables();
    let mut loading = TargetLoading {
        target,
        cancel,
        progress,
        steps_count: 3 * tables.len() + 1,
        outcome: LoadOutcome { steps: Vec::new() },
    };
    let files = tables.iter().map(|table| folder.csv(&table.name));
    let files: Vec<_> = files.collect::<Result<_, _>>()?;
    for table in &tables {
        loading.step(LoadStepKind::CreateTable, &table.name, (0, 0), || {
            target.create_table(table)
        })?;
    }
    for (table, csv) in tables.iter().zip(&files) {
        let size = folder.table(&table.name);
        let size = size.map_or((0, 0), |size| (size.rows, size.bytes));
        loading.step(LoadStepKind::Load, &table.name, size, || {
            target.load(table, csv)
        })?;
    }
    for table in &tables {
        loading.step(LoadStepKind::CreateIndexes, &table.name, (0, 0), || {
            target.create_indexes(table)
        })?;
    }
    loading.step(LoadStepKind::Settle, "", (0, 0), || target.settle())?;
    Ok(loading.outcome)
}

struct TargetLoading<'a> {
    target: &'a dyn Target,
    cancel: &'a AtomicBool,
    progress: &'a mut dyn FnMut(&LoadStep, usize),
    steps_count: usize,
    outcome: LoadOutcome,
}

impl TargetLoading<'_> {
    fn step(
        &mut self,
        kind: LoadStepKind,
        table: &str,
        (rows, csv_bytes): (u64, u64),
        work: impl FnOnce() -> Result<(), TargetError>,
    ) -> Result<(), WorkloadDataError> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(WorkloadDataError::Cancelled);
        }
        let start = Instant::now();
        work()?;
        let elapsed = start.elapsed();
        let step = LoadStep {
            kind,
            table: table.to_owned(),
            elapsed,
            rows,
            csv_bytes,
            stored_bytes: self.target.stored_bytes()?,
        };
        (self.progress)(&step, self.steps_count);
        self.outcome.steps.push(step);
        Ok(())
    }
}
