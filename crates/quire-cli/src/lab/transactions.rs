//! The figures of many users or threads at a time.

use std::time::Duration;

use quire_experiments::ColumnTablesSetup;
use quire_experiments::dual_format_system::{
    self, DualFormatSetup, DualFormatTransactions, transaction_figures,
};
use quire_experiments::file_system::{self, FileSystemSetup, TransactionScenario};
use quire_experiments::page_compression::{self, PageCompressionSetup};
use quire_experiments::tpcd::BenchmarkFailure;
use quire_lab::{EvaluatedWords, Figure};

use super::Benchmark;

/// Rows of the table of dual-format-system.
const ROWS: u64 = 100_000;
const ROWS_QUICK: u64 = 3_000;

/// Of file-system with --quick, and the pool of its database.
const SCALE_QUICK: f64 = 0.01;
const POOL_BYTES: usize = 64 << 20;

/// Of the rows of page-compression with --quick.
const QUICK_PART: u64 = 40;

type Measured = Result<Vec<Figure>, BenchmarkFailure>;

fn seconds(benchmark: &Benchmark, default: u64) -> Duration {
    Duration::from_secs(benchmark.seconds.unwrap_or(default))
}

/// Figure 11 of paper 3, and with transactions figures 10 and 1.
pub(super) fn dual_format(
    benchmark: &Benchmark,
    tables: ColumnTablesSetup,
    is_quick: bool,
    texts: &[&[u8]],
    progress: &mut dyn FnMut(&str),
) -> Measured {
    let joined = texts.concat();
    let text = (!texts.is_empty()).then_some(joined.as_slice());
    let rows = if is_quick { ROWS_QUICK } else { ROWS };
    let setup = DualFormatSetup {
        rows: benchmark.rows.unwrap_or(rows),
        words: EvaluatedWords::of(text).map_err(BenchmarkFailure::Words)?,
        folder: tables.folder,
        keeps_files: tables.has_files,
    };
    let clients = if is_quick {
        vec![2, 4]
    } else {
        vec![8, 16, 32]
    };
    let transactions = DualFormatTransactions {
        rows: u32::try_from(setup.rows).unwrap_or(u32::MAX),
        clients,
        measured: seconds(benchmark, if is_quick { 1 } else { 5 }),
        folder: setup.folder.join("transactions"),
        keeps_files: setup.keeps_files,
    };
    let mut figures = dual_format_system::figures(&setup, progress)?;
    if !transactions.measured.is_zero() {
        figures.extend(transaction_figures(&transactions, progress)?);
    }
    Ok(figures)
}

/// Tables 5 to 16 and figures 3 to 7 of paper 5.
pub(super) fn file_systems(
    benchmark: &Benchmark,
    tables: ColumnTablesSetup,
    is_quick: bool,
    progress: &mut dyn FnMut(&str),
) -> Measured {
    let scale = tables.scale;
    let measured = seconds(benchmark, if is_quick { 2 } else { 20 });
    let setup = FileSystemSetup {
        scenarios: TransactionScenario::ALL.to_vec(),
        scale: if is_quick {
            scale.min(SCALE_QUICK)
        } else {
            scale
        },
        users: benchmark.users,
        measured: measured.max(Duration::from_secs(1)),
        profile: file_system::disk_profile(&benchmark.disk)?,
        cache_bytes: POOL_BYTES,
        seed: 1,
        folder: tables.folder,
        keeps_files: tables.has_files,
    };
    file_system::figures(&setup, progress)
}

/// Tables IV to VIII and figures 6 to 9 of paper 4.
pub(super) fn compressed_pages(is_quick: bool, progress: &mut dyn FnMut(&str)) -> Measured {
    let mut setup = PageCompressionSetup::new(page_compression::service_records(1));
    if is_quick {
        setup = PageCompressionSetup {
            rows: setup.rows / QUICK_PART,
            read_pool_bytes: setup.read_pool_bytes / QUICK_PART as usize,
            inserted_rows: setup.inserted_rows / QUICK_PART,
            write_pool_bytes: setup.write_pool_bytes / 8,
            connections: vec![1, 4],
            ..setup
        };
    }
    let figures = page_compression::figures(&setup, progress);
    figures.map_err(|error| BenchmarkFailure::PageCompression(error.to_string()))
}
