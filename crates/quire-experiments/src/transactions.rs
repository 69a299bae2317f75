//! What experiments with transactions have in common: rows are generated once and loaded into each database, and users work for a while.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use quire_workload::data::{DataFolder, load_tables};
use quire_workload::driver::{RunOptions, WorkloadDriver, WorkloadResult};
use quire_workload::{Target, Workload};

use crate::tpcd::BenchmarkFailure;

/// Of the measured time, before it.
const WARM_UP_SHARE: u32 = 10;

/// How users work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransactionRun {
    pub(crate) scale: f64,
    pub(crate) seed: u64,
    pub(crate) users: u32,
    /// Behind a tenth of it as warm-up.
    pub(crate) measured: Duration,
}

impl TransactionRun {
    /// The rows of a workload in a folder.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(crate) fn rows(
        &self,
        workload: &dyn Workload,
        folder: &Path,
    ) -> Result<DataFolder, BenchmarkFailure> {
        let go_on = AtomicBool::new(false);
        let (scale, seed) = (self.scale, self.seed);
        let rows = DataFolder::generate(folder, workload, scale, seed, &go_on, &mut |_| {})?;
        Ok(rows)
    }

    /// Makes and fills the tables.
    ///
    /// # Errors
    /// When the database refuses.
    pub(crate) fn load(
        &self,
        workload: &dyn Workload,
        rows: &DataFolder,
        target: &dyn Target,
    ) -> Result<(), BenchmarkFailure> {
        let go_on = AtomicBool::new(false);
        load_tables(workload, rows, target, &go_on, &mut |_, _| {})?;
        Ok(())
    }

    /// Lets users work.
    ///
    /// # Errors
    /// When a transaction fails.
    pub(crate) fn run(
        &self,
        workload: &dyn Workload,
        target: &dyn Target,
    ) -> Result<WorkloadResult, BenchmarkFailure> {
        let go_on = AtomicBool::new(false);
        let driver = WorkloadDriver {
            workload,
            target,
            scale: self.scale,
            seed: self.seed,
            other_processes: Vec::new(),
            cancel: &go_on,
        };
        let options = RunOptions {
            users: self.users,
            warm_up: self.measured / WARM_UP_SHARE,
            measured: self.measured,
            seed: self.seed,
            ..RunOptions::default()
        };
        Ok(driver.run(&options, &mut |_| {})?)
    }
}
