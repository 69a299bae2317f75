//! The figures that need whole databases.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::process;
use std::time::Duration;

use quire_experiments::avm;
use quire_experiments::bandwidth::{self, BandwidthSetup};
use quire_experiments::buffer_pool;
use quire_experiments::devices::{self, DevicesSetup};
use quire_experiments::dual_format_system::{
    self, DualFormatSetup, DualFormatTransactions, transaction_figures,
};
use quire_experiments::file_system::{self, FileSystemSetup, TransactionScenario};
use quire_experiments::page_compression::{self, PageCompressionSetup};
use quire_experiments::tpcd::BenchmarkFailure;
use quire_experiments::tpch::{self, TpchMachine, TpchSetup};
use quire_experiments::{ColumnLayout, ColumnTablesSetup};
use quire_lab::{EvaluatedWords, Figure};

use super::{Benchmark, LayoutName, MachineName, Topic};

/// Queries of a stream, as in the paper.
const QUERIES: usize = 300;
const QUERIES_QUICK: usize = 9;

/// Rows of the table of dual-format-system.
const ROWS: u64 = 100_000;
const ROWS_QUICK: u64 = 3_000;

/// Of file-system with --quick, and the pool of its database.
const SCALE_QUICK: f64 = 0.01;
const POOL_BYTES: usize = 64 << 20;

/// Of the rows of page-compression with --quick.
const QUICK_PART: u64 = 40;

/// Measures a topic. Without a folder of the user's its files are removed. `texts` are the user's.
pub(super) fn figures(
    topic: Topic,
    benchmark: &Benchmark,
    scale: f64,
    is_quick: bool,
    texts: &[&[u8]],
) -> Result<Vec<Figure>, BenchmarkFailure> {
    let temporary = env::temp_dir().join(format!("quire-experiments-{}", process::id()));
    let folder = benchmark.work.clone().unwrap_or_else(|| temporary.clone());
    let tables = ColumnTablesSetup {
        scale,
        rounds: if is_quick { 1 } else { benchmark.rounds },
        folder,
        has_files: benchmark.work.is_some(),
    };
    let mut progress = |what: &str| {
        // Nobody needs to know.
        let _ = writeln!(io::stderr(), "{what}");
    };
    let seconds = |default| Duration::from_secs(benchmark.seconds.unwrap_or(default));
    let figures = match topic {
        // Rounds of some milliseconds: the best of few is not yet the best.
        Topic::Avm => avm::figures(7 * tables.rounds.max(1)),
        Topic::Devices => {
            let setup = DevicesSetup { tables, is_quick };
            devices::figures(&setup, &mut progress)
        }
        Topic::Tpch => {
            let layouts = benchmark.layouts.iter();
            let setup = TpchSetup {
                tables,
                machines: tpch_machines(benchmark.machine),
                layouts: layouts.map(|name| layout(*name)).collect(),
            };
            tpch::figures(&setup, &mut progress)
        }
        Topic::Bandwidth => {
            let setup = BandwidthSetup {
                scale: tables.scale,
                streams_max: benchmark.streams,
                queries: if is_quick { QUERIES_QUICK } else { QUERIES },
                folder: tables.folder,
            };
            bandwidth::figures(&setup, &mut progress)
        }
        Topic::BufferPool => buffer_pool::figures(&tables, &mut progress),
        Topic::DualFormatSystem => {
            let joined = texts.concat();
            let text = (!texts.is_empty()).then_some(joined.as_slice());
            let setup = DualFormatSetup {
                rows: benchmark
                    .rows
                    .unwrap_or(if is_quick { ROWS_QUICK } else { ROWS }),
                words: EvaluatedWords::of(text).map_err(BenchmarkFailure::Words)?,
                folder: tables.folder,
                keeps_files: tables.has_files,
            };
            let transactions = DualFormatTransactions {
                rows: u32::try_from(setup.rows).unwrap_or(u32::MAX),
                clients: if is_quick {
                    vec![2, 4]
                } else {
                    vec![8, 16, 32]
                },
                measured: seconds(if is_quick { 1 } else { 5 }),
                folder: setup.folder.join("transactions"),
                keeps_files: setup.keeps_files,
            };
            let mut figures = dual_format_system::figures(&setup, &mut progress);
            if let (Ok(figures), false) = (&mut figures, transactions.measured.is_zero()) {
                figures.extend(transaction_figures(&transactions, &mut progress)?);
            }
            figures
        }
        Topic::FileSystem => {
            let setup = FileSystemSetup {
                scenarios: TransactionScenario::ALL.to_vec(),
                scale: if is_quick {
                    scale.min(SCALE_QUICK)
                } else {
                    scale
                },
                users: benchmark.users,
                measured: seconds(if is_quick { 2 } else { 20 }).max(Duration::from_secs(1)),
                profile: file_system::disk_profile(&benchmark.disk)?,
                cache_bytes: POOL_BYTES,
                seed: 1,
                folder: tables.folder,
                keeps_files: tables.has_files,
            };
            file_system::figures(&setup, &mut progress)
        }
        Topic::PageCompression => {
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
            page_compression::figures(&setup, &mut progress).map_err(BenchmarkFailure::from)
        }
        _ => return benchmark.figures(scale, is_quick),
    };
    if benchmark.work.is_none() {
        // What is left of it is in the folder for temporary files.
        let _ = fs::remove_dir_all(&temporary);
    }
    figures
}

fn tpch_machines(name: MachineName) -> Vec<TpchMachine> {
    match name {
        MachineName::Paper => vec![TpchMachine::Pentium4, TpchMachine::Opteron],
        MachineName::P4 => vec![TpchMachine::Pentium4],
        MachineName::Opteron => vec![TpchMachine::Opteron],
        MachineName::Own => vec![TpchMachine::Own],
    }
}

fn layout(name: LayoutName) -> ColumnLayout {
    match name {
        LayoutName::Dsm => ColumnLayout::Dsm,
        LayoutName::Pax => ColumnLayout::Pax,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use clap::{Args, Command, FromArgMatches};

    use super::{Benchmark, LayoutName, TpchMachine, tpch_machines};

    fn read(words: &[&str]) -> Benchmark {
        let command = Benchmark::augment_args(Command::new("lab"));
        let words = std::iter::once("lab").chain(words.iter().copied());
        let matches = command.try_get_matches_from(words).unwrap();
        Benchmark::from_arg_matches(&matches).unwrap()
    }

    #[test]
    fn all_layouts_on_the_machines_of_the_paper_unless_others_are_named() {
        let benchmark = read(&[]);
        assert_eq!(benchmark.layouts, [LayoutName::Dsm, LayoutName::Pax]);
        let machines = tpch_machines(benchmark.machine);
        assert_eq!(machines, [TpchMachine::Pentium4, TpchMachine::Opteron]);
        let benchmark = read(&["--layouts", "pax", "--machine", "p4"]);
        assert_eq!(benchmark.layouts, [LayoutName::Pax]);
        assert_eq!(tpch_machines(benchmark.machine), [TpchMachine::Pentium4]);
        let benchmark = read(&["--layouts", "pax,dsm"]);
        assert_eq!(benchmark.layouts, [LayoutName::Pax, LayoutName::Dsm]);
    }
}
