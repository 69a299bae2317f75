//! All points: a test of sysbench, a way to store pages, a number of clients.

use std::fs;
use std::path::Path;

use quire::DatabaseOptions;
use quire_device::DeviceSpecification;
use quire_workload::data::DataFolder;
use quire_workload::driver::WorkloadResult;
use quire_workload::workloads::KeyDistribution;
use quire_workload::workloads::sysbench::{
    RowOrder, Sysbench, SysbenchOptions, SysbenchTest, TableShape,
};

use super::DualFormatTransactions;
use crate::column_tables::ExperimentProgress;
use crate::dual_format_system::scenarios::PAGE_BYTES;
use crate::embedded_target::EmbeddedTarget;
use crate::tpcd::BenchmarkFailure;
use crate::transactions::TransactionRun;

/// The paper's drive: its times, and no compression, which would take processor time here.
const DRIVE: &str = "csd:off@csd-2021";

/// A row of numbers and a string, and what a leaf has beside it.
const ROW_BYTES: u64 = 200;

/// The paper's table is 16 times as large as its pool.
const POOL_SHARE: u64 = 16;
const POOL_BYTES_MIN: u64 = 2 << 20;

const SEED: u64 = 1;

/// How the pages of the table are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoredPages {
    /// Figure 10: whole pages in this order of their bytes, as `storage_format` calls it.
    Converted(&'static str),
    /// Figure 1: images that this codec has compressed.
    Compressed(&'static str),
}

impl StoredPages {
    /// The paper's scenarios; the first is what others are compared with.
    pub(super) const CONVERTED: [Self; 6] = [
        Self::Converted("none"),
        Self::Converted("r2c"),
        Self::Converted("rlt"),
        Self::Converted("clt"),
        Self::Converted("xor"),
        Self::Converted("xor_rlt"),
    ];

    /// Those of figure 1; the first is what others are compared with.
    pub(super) const COMPRESSED: [Self; 3] = [
        Self::Compressed("none"),
        Self::Compressed("lz4"),
        Self::Compressed("zlib"),
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Converted("none") => "rows",
            Self::Converted(name) | Self::Compressed(name) => name,
        }
    }

    fn folder(self) -> String {
        match self {
            Self::Converted(name) => format!("converted-{name}"),
            Self::Compressed(name) => format!("compressed-{name}"),
        }
    }

    fn table_options(self) -> String {
        let common = format!("page_size = {PAGE_BYTES}, compression = none");
        match self {
            Self::Converted(format) => format!(
                "WITH ({common}, page_codec = none, page_target_bytes = {PAGE_BYTES}, storage_format = {format})"
            ),
            Self::Compressed(codec) => {
                format!("WITH ({common}, page_codec = {codec}, storage_format = none)")
            }
        }
    }
}

/// The tests of figures 1 and 10.
pub(super) const TESTS: [(SysbenchTest, &str); 3] = [
    (SysbenchTest::WriteOnly, "write-only"),
    (SysbenchTest::ReadOnly, "read-only"),
    (SysbenchTest::ReadWrite, "read-write"),
];

/// One point.
#[derive(Clone, Debug)]
pub(super) struct TransactionPoint {
    pub(super) pages: StoredPages,
    pub(super) test: SysbenchTest,
    pub(super) clients: u32,
    pub(super) tps: f64,
    pub(super) latency_ms_mean: f64,
    /// System and user, of all cores.
    pub(super) processor_percent: f64,
}

/// Measures all points.
///
/// # Errors
/// When a database cannot be written, or a transaction fails.
pub(super) fn measured(
    setup: &DualFormatTransactions,
    progress: &mut ExperimentProgress<'_>,
) -> Result<Vec<TransactionPoint>, BenchmarkFailure> {
    let rows = progress.timed("rows", || {
        let workload = sysbench(setup, SysbenchTest::ReadOnly);
        run_of(setup, 1).rows(&workload, &setup.folder.join("rows"))
    })?;
    let mut points = Vec::new();
    for pages in StoredPages::CONVERTED {
        points.extend(of_pages(setup, pages, &setup.clients, &rows, progress)?);
    }
    // Figure 1 has the most clients only.
    let most = setup
        .clients
        .last()
        .copied()
        .into_iter()
        .collect::<Vec<_>>();
    for pages in StoredPages::COMPRESSED {
        points.extend(of_pages(setup, pages, &most, &rows, progress)?);
    }
    if !setup.keeps_files {
        fs::remove_dir_all(setup.folder.join("rows"))?;
    }
    Ok(points)
}

/// All tests on a database, those that change nothing first, so that these find it as it was loaded.
fn of_pages(
    setup: &DualFormatTransactions,
    pages: StoredPages,
    clients: &[u32],
    rows: &DataFolder,
    progress: &mut ExperimentProgress<'_>,
) -> Result<Vec<TransactionPoint>, BenchmarkFailure> {
    let directory = setup.folder.join(pages.folder());
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    let what = format!("{pages:?}, loading");
    let target = progress.timed(&what, || loaded(setup, pages, &directory, rows))?;
    let order = [
        SysbenchTest::ReadOnly,
        SysbenchTest::ReadWrite,
        SysbenchTest::WriteOnly,
    ];
    let mut points = Vec::new();
    for test in order {
        for &clients in clients {
            let workload = sysbench(setup, test);
            let what = format!("{pages:?}, {test:?}, {clients} clients");
            let result =
                progress.timed(&what, || run_of(setup, clients).run(&workload, &target))?;
            points.push(point(pages, test, clients, &result));
        }
    }
    drop(target);
    if !setup.keeps_files {
        fs::remove_dir_all(&directory)?;
    }
    Ok(points)
}

fn point(
    pages: StoredPages,
    test: SysbenchTest,
    clients: u32,
    result: &WorkloadResult,
) -> TransactionPoint {
    let processor = result.measurement.driver;
    let busy_s = processor.system_s + processor.user_s;
    TransactionPoint {
        pages,
        test,
        clients,
        tps: result.total.tps,
        latency_ms_mean: result.total.latency_us_mean / 1e3,
        processor_percent: result.measurement.percent(busy_s),
    }
}

fn run_of(setup: &DualFormatTransactions, clients: u32) -> TransactionRun {
    TransactionRun {
        scale: f64::from(setup.rows),
        seed: SEED,
        users: clients,
        measured: setup.measured,
    }
}

/// Rows come in random order, so that leaves are partly empty as in a database that has been in use.
fn sysbench(setup: &DualFormatTransactions, test: SysbenchTest) -> Sysbench {
    Sysbench::new(SysbenchOptions {
        shape: TableShape::Wide,
        rows: setup.rows,
        row_order: RowOrder::Random,
        distribution: KeyDistribution::Uniform,
        ..SysbenchOptions::new(test, SEED)
    })
}

fn loaded(
    setup: &DualFormatTransactions,
    pages: StoredPages,
    directory: &Path,
    rows: &DataFolder,
) -> Result<EmbeddedTarget, BenchmarkFailure> {
    let pool_bytes = u64::from(setup.rows) * ROW_BYTES / POOL_SHARE;
    let pool_bytes = usize::try_from(pool_bytes.max(POOL_BYTES_MIN)).unwrap_or(usize::MAX);
    let drive: DeviceSpecification = DRIVE.parse()?;
    let options = DatabaseOptions {
        cache_bytes: pool_bytes,
        ..DatabaseOptions::default()
    };
    let target = EmbeddedTarget::on_device(directory, &drive, options, &pages.table_options())?;
    let workload = sysbench(setup, SysbenchTest::ReadOnly);
    run_of(setup, 1).load(&workload, rows, &target)?;
    Ok(target)
}
