//! Rounds of a query, in memory and on a device.

use quire_store::disk::DeviceProfile;

use crate::column_tables::{LoadedColumns, QueryRun, RunConditions};
use crate::tpcd::BenchmarkFailure;

/// Runs in memory, the least that are measured.
const MEMORY_ROUNDS_MIN: usize = 5;

/// What a query took on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TimeOnDevice {
    pub(crate) seconds: f64,
    /// The least that the device needs for what was read.
    pub(crate) device_seconds: f64,
    pub(crate) disk_bytes: f64,
    pub(crate) io_wait_seconds: f64,
    pub(crate) decode_seconds: f64,
}

/// Runs a query with all its pages in memory.
pub(crate) fn run_in_memory(
    loaded: &LoadedColumns,
    conditions: RunConditions,
    sql: &str,
    rounds: usize,
) -> Result<QueryRun, BenchmarkFailure> {
    let mut session = loaded.open(conditions)?;
    // The pages come into memory.
    session.run(sql)?;
    let rounds = (0..rounds.max(MEMORY_ROUNDS_MIN)).map(|_| session.run(sql));
    middle(rounds.collect::<Result<_, _>>()?, sql)
}

/// Runs a query on a device, or on the disk as it is, with nothing in memory before each run.
pub(crate) fn run_cold(
    loaded: &LoadedColumns,
    conditions: RunConditions,
    sql: &str,
    rounds: usize,
) -> Result<QueryRun, BenchmarkFailure> {
    let rounds = (0..rounds.max(1)).map(|_| loaded.open(conditions)?.run(sql));
    middle(rounds.collect::<Result<_, _>>()?, sql)
}

/// The run in the middle, by its time.
fn middle(mut runs: Vec<QueryRun>, sql: &str) -> Result<QueryRun, BenchmarkFailure> {
    if runs.is_empty() {
        return Err(BenchmarkFailure::NoNumber {
            sql: sql.to_owned(),
        });
    }
    runs.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    let middle = runs.len() / 2;
    Ok(runs.swap_remove(middle))
}

impl TimeOnDevice {
    pub(crate) fn of(run: &QueryRun, profile: &DeviceProfile) -> Self {
        Self {
            seconds: run.seconds,
            device_seconds: run.device.seconds(profile),
            disk_bytes: run.device.read_bytes as f64,
            io_wait_seconds: run.scans.io_wait_seconds,
            decode_seconds: run.scans.decode_seconds,
        }
    }

    /// What the query took besides waiting for the device and decompression.
    pub(crate) fn processing_seconds(&self) -> f64 {
        (self.seconds - self.decode_seconds - self.io_wait_seconds).max(0.0)
    }

    /// What the device delivered when it was busy, in bytes a second.
    pub(crate) fn device_bandwidth(&self) -> f64 {
        self.disk_bytes / self.device_seconds.max(1e-9)
    }
}
