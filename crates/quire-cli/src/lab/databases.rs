//! The figures that need whole databases.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::process;

use quire_experiments::bandwidth::{self, BandwidthSetup};
use quire_experiments::devices::{self, DevicesSetup};
use quire_experiments::tpcd::BenchmarkFailure;
use quire_experiments::tpch::{self, TpchSetup};
use quire_lab::Figure;

use super::{Benchmark, Topic};

/// Queries of a stream, as in the paper.
const QUERIES: usize = 300;
const QUERIES_QUICK: usize = 9;

/// Measures a topic. Without a folder of the user's its files are removed.
pub(super) fn figures(
    topic: Topic,
    benchmark: &Benchmark,
    is_quick: bool,
) -> Result<Vec<Figure>, BenchmarkFailure> {
    let temporary = env::temp_dir().join(format!("quire-experiments-{}", process::id()));
    let folder = benchmark.work.clone().unwrap_or_else(|| temporary.clone());
    let has_files = benchmark.work.is_some();
    let rounds = if is_quick { 1 } else { benchmark.rounds };
    let scale = benchmark.scale;
    let mut progress = |what: &str| {
        // Nobody needs to know.
        let _ = writeln!(io::stderr(), "{what}");
    };
    let figures = match topic {
        Topic::Devices => {
            let setup = DevicesSetup {
                scale,
                rounds,
                is_quick,
                folder,
                has_files,
            };
            devices::figures(&setup, &mut progress)
        }
        Topic::Tpch => {
            let setup = TpchSetup {
                scale,
                rounds,
                folder,
                has_files,
            };
            tpch::figures(&setup, &mut progress)
        }
        Topic::Bandwidth => {
            let setup = BandwidthSetup {
                scale,
                streams_max: benchmark.streams,
                queries: if is_quick { QUERIES_QUICK } else { QUERIES },
                folder,
            };
            bandwidth::figures(&setup, &mut progress)
        }
        _ => return benchmark.figures(is_quick),
    };
    if benchmark.work.is_none() {
        // What is left of it is in the folder for temporary files.
        let _ = fs::remove_dir_all(&temporary);
    }
    figures
}
