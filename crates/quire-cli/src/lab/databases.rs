//! The figures that need whole databases.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::process;

use quire_experiments::avm;
use quire_experiments::bandwidth::{self, BandwidthSetup};
use quire_experiments::buffer_pool;
use quire_experiments::devices::{self, DevicesSetup};
use quire_experiments::tpcd::BenchmarkFailure;
use quire_experiments::tpch::{self, TpchMachine, TpchSetup};
use quire_experiments::{ColumnLayout, ColumnTablesSetup};
use quire_lab::Figure;

use super::{Benchmark, LayoutName, MachineName, Topic, transactions};

/// Queries of a stream, as in the paper.
const QUERIES: usize = 300;
const QUERIES_QUICK: usize = 9;

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
            transactions::dual_format(benchmark, tables, is_quick, texts, &mut progress)
        }
        Topic::FileSystem => transactions::file_systems(benchmark, tables, is_quick, &mut progress),
        Topic::PageCompression => transactions::compressed_pages(is_quick, &mut progress),
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
