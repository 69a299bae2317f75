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

/// An open database. One thread runs its queries.
pub(crate) struct ColumnSession {
    connection: Connection,
    device: Option<Arc<ThrottledDisk>>,
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

const TOTALS: &str = "SELECT sum(bytes_read), sum(io_wait_ns), sum(decode_ns), sum(decoded_bytes) FROM quire_scans()";

impl ColumnSession {
    pub(super) fn open(
        disk: Arc<dyn Disk>,
        slowed: Option<DeviceProfile>,
    ) -> Result<Self, BenchmarkFailure> {
        let device = slowed.map(|profile| Arc::new(ThrottledDisk::new(Arc::clone(&disk), profile)));
        let disk = match &device {
            Some(device) => Arc::clone(device) as Arc<dyn Disk>,
            None => disk,
        };
        let database = Database::on_disk(disk, OpenMode::ReadOnly, reading(1))?;
        let mut session = Self {
            connection: database.connect(),
            device,
        };
        session.execute("SET engine = 'batch'")?;
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
        let scans_before = self.totals()?;
        let device_before = self.device_statistics();
        let start = Instant::now();
        let answer = self.execute(sql)?;
        let seconds = start.elapsed().as_secs_f64();
        let device = DeviceWork::between(&device_before, &self.device_statistics());
        let scans = self.totals()?.since(&scans_before);
        Ok(QueryRun {
            answer,
            seconds,
            scans,
            device,
        })
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
