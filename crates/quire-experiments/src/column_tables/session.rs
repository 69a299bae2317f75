//! An open database whose queries are measured.

use std::sync::Arc;
use std::time::Instant;

use quire::{Connection, Database, DatabaseOptions};
use quire_store::disk::{DeviceProfile, ThrottledDisk};
use quire_store::{Disk, OpenMode};

use crate::column_tables::DeviceWork;
use crate::tpcd::BenchmarkFailure;
use crate::tpcd::warehouse::CsvAnswer;

/// Pages and statements have as much memory as they need.
const ALL_BYTES: usize = 8 << 30;

/// Pages of columns have half of the cache as long as nothing shows that pages of row tables need less: that is what databases without such
/// tables begin with, and stay at.
const SHARES_OF_CACHE: usize = 2;

/// Options of a database that is read, by so many threads.
pub(super) fn reading(threads: usize) -> DatabaseOptions {
    DatabaseOptions {
        read_only: true,
        cache_bytes: ALL_BYTES,
        memory_bytes: ALL_BYTES,
        threads,
        merges_in_background: false,
        ..DatabaseOptions::default()
    }
}

/// Where a query has its values decompressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DecompressionTarget {
    /// A vector when it is needed, into the processor's cache: M⇒C.
    #[default]
    Cache,
    /// All values of a column in a row group, into memory: M⇒M.
    Memory,
    /// The same, into the cache instead of stored pages: the left side of figure 6.1.
    Pool,
}

impl DecompressionTarget {
    /// As the setting has it.
    fn setting(self) -> &'static str {
        match self {
            Self::Cache => "cache",
            Self::Memory => "memory",
            Self::Pool => "pool",
        }
    }
}

/// How a query is run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RunConditions {
    /// A device in front of the disk.
    pub(crate) device: Option<DeviceProfile>,
    pub(crate) decompression: DecompressionTarget,
    /// Bytes of the cache that pages of columns may take; all of them, if nothing is said.
    pub(crate) pool_bytes: Option<usize>,
    /// Whether the plan is made before the query begins: what planning reads is in memory then, and the time it takes does not count.
    pub(crate) is_planned: bool,
}

/// An open database. One thread runs its queries.
pub(crate) struct ColumnSession {
    connection: Connection,
    device: Option<Arc<ThrottledDisk>>,
    is_planned: bool,
}

/// What scans did, as `quire_scans()` counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ScanTotals {
    /// Length of the segments read, from memory or from disk.
    pub(crate) segment_bytes: f64,
    pub(crate) io_wait_seconds: f64,
    pub(crate) decode_seconds: f64,
    /// Length of the values that were decoded.
    pub(crate) decoded_bytes: f64,
}

/// What one run of a query took.
#[derive(Clone, Debug)]
pub(crate) struct QueryRun {
    pub(crate) answer: CsvAnswer,
    pub(crate) seconds: f64,
    pub(crate) scans: ScanTotals,
    pub(crate) device: DeviceWork,
}

/// A plan is made so often to see how long it takes.
const PLANNINGS: usize = 3;

/// What is left of a query that takes no longer than its plan.
const EXECUTION_SECONDS_MIN: f64 = 1e-6;

const TOTALS: &str = "SELECT sum(bytes_read), sum(io_wait_ns), sum(decode_ns), sum(decoded_bytes) FROM quire_scans()";

impl ColumnSession {
    pub(super) fn open(
        disk: Arc<dyn Disk>,
        conditions: RunConditions,
    ) -> Result<Self, BenchmarkFailure> {
        let device = conditions.device;
        let device = device.map(|profile| Arc::new(ThrottledDisk::new(Arc::clone(&disk), profile)));
        let disk = match &device {
            Some(device) => Arc::clone(device) as Arc<dyn Disk>,
            None => disk,
        };
        let mut options = reading(1);
        if let Some(pool_bytes) = conditions.pool_bytes {
            options.cache_bytes = pool_bytes * SHARES_OF_CACHE;
        }
        let database = Database::on_disk(disk, OpenMode::ReadOnly, options)?;
        let mut session = Self {
            connection: database.connect(),
            device,
            is_planned: conditions.is_planned,
        };
        session.execute("SET engine = 'batch'")?;
        let target = conditions.decompression.setting();
        session.execute(&format!("SET quire.decompression = '{target}'"))?;
        Ok(session)
    }

    /// Runs a statement.
    ///
    /// # Errors
    /// When it fails.
    pub(crate) fn execute(&mut self, sql: &str) -> Result<CsvAnswer, BenchmarkFailure> {
        CsvAnswer::of(&mut self.connection, sql)
    }

    /// Runs a query, and measures it.
    ///
    /// # Errors
    /// When it fails.
    pub(crate) fn run(&mut self, sql: &str) -> Result<QueryRun, BenchmarkFailure> {
        let planning_seconds = if self.is_planned {
            self.planning_seconds(sql)?
        } else {
            0.0
        };
        let scans_before = self.totals()?;
        let device_before = self.device_statistics();
        let start = Instant::now();
        let answer = self.execute(sql)?;
        let seconds = start.elapsed().as_secs_f64();
        let device = DeviceWork::between(&device_before, &self.device_statistics());
        let scans = self.totals()?.since(&scans_before);
        Ok(QueryRun {
            answer,
            seconds: (seconds - planning_seconds).max(EXECUTION_SECONDS_MIN),
            scans,
            device,
        })
    }

    /// The least time of some in which the plan is made. The first brings what planning reads into memory.
    fn planning_seconds(&mut self, sql: &str) -> Result<f64, BenchmarkFailure> {
        let sql = format!("EXPLAIN {sql}");
        let mut least = f64::INFINITY;
        for _ in 0..PLANNINGS {
            let start = Instant::now();
            self.execute(&sql)?;
            least = least.min(start.elapsed().as_secs_f64());
        }
        Ok(least)
    }

    fn device_statistics(&self) -> quire_store::disk::ThrottleStatistics {
        let device = self.device.as_ref();
        device.map(|device| device.statistics()).unwrap_or_default()
    }

    fn totals(&mut self) -> Result<ScanTotals, BenchmarkFailure> {
        let answer = self.execute(TOTALS)?;
        let numbers: Option<Vec<f64>> = answer
            .first_row()
            .iter()
            .map(|text| text.parse().ok())
            .collect();
        match numbers.as_deref() {
            Some([segment_bytes, io_wait_ns, decode_ns, decoded_bytes]) => Ok(ScanTotals {
                segment_bytes: *segment_bytes,
                io_wait_seconds: io_wait_ns / 1e9,
                decode_seconds: decode_ns / 1e9,
                decoded_bytes: *decoded_bytes,
            }),
            _ => Err(BenchmarkFailure::NoNumber {
                sql: TOTALS.to_owned(),
            }),
        }
    }
}

impl QueryRun {
    /// The same run on a processor that is so many times slower, and on a device that is, too.
    pub(crate) fn slowed(self, slowness: f64) -> Self {
        let ScanTotals {
            io_wait_seconds,
            decode_seconds,
            ..
        } = self.scans;
        Self {
            seconds: self.seconds * slowness,
            scans: ScanTotals {
                io_wait_seconds: io_wait_seconds * slowness,
                decode_seconds: decode_seconds * slowness,
                ..self.scans
            },
            device: self.device.slowed(slowness),
            answer: self.answer,
        }
    }
}

impl ScanTotals {
    fn since(&self, before: &Self) -> Self {
        Self {
            segment_bytes: self.segment_bytes - before.segment_bytes,
            io_wait_seconds: self.io_wait_seconds - before.io_wait_seconds,
            decode_seconds: self.decode_seconds - before.decode_seconds,
            decoded_bytes: self.decoded_bytes - before.decoded_bytes,
        }
    }
}
