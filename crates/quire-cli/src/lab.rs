//! `quire lab EXPERIMENT`: the figures of the papers, measured again on this machine.

mod databases;

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};

use clap::{Args, ValueEnum};
use quire_experiments::tpcd::{Device, Setup, TpcdCompression};
use quire_lab::{Experiment, Figure, Lab, MeasureEffort, render};

use crate::exit_code;
use crate::shell::describe_plain;

/// Figures that are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Topic {
    /// PFOR, PFOR-DELTA and PDICT: figures 6.2, 6.4 to 6.7 and equation 6.1 of Zukowski
    Codecs,
    /// Page transforms: figures 4, 5, 7, 8 and 9 of Qiao et al.
    Transforms,
    /// The table of figure 11 of Qiao et al. in row pages
    DualFormat,
    /// Inverted files of word positions: table 6.2 of Zukowski and the query of its §6.4
    Postings,
    /// Inverted files of document numbers: the same codecs, and a query without a join
    DocumentNumbers,
    /// Decoding tables of compressed tuples: §3.3.3 of Westmann et al.
    LengthDecoding,
    /// Classic and extended iterators: §4.1.1 of Westmann et al.
    IteratorModels,
    /// TPC-D over compressed and uncompressed tables: tables 3, 4 and 5 of Westmann et al.
    Tpcd,
    /// Queries on devices of many bandwidths: equation 6.1 of Zukowski, measured
    Devices,
    /// TPC-H over compressed and uncompressed column tables: table 6.1 and figure 6.9 of Zukowski
    Tpch,
    /// Parallel streams of query 6 of TPC-H in memory: figure 6.8 of Zukowski
    Bandwidth,
}

/// How experiments with databases are run.
#[derive(Debug, Args)]
pub struct Benchmark {
    /// Of databases: size of the tables; 1 is a gigabyte of rows
    #[arg(long, default_value = "0.1", value_parser = parse_scale)]
    scale: f64,

    /// tpcd: the machine whose processor and disk decide the times
    #[arg(long, value_enum, default_value = "paper")]
    machine: MachineName,

    /// tpcd: how tuples are compressed
    #[arg(long, value_enum, default_value = "paper")]
    compression: CompressionName,

    /// tpcd: run the queries of TPC-H, too
    #[arg(long)]
    tpch: bool,

    /// tpcd: give the tables primary keys and indexes
    #[arg(long)]
    keys: bool,

    /// Of databases: how often each query is run; the middle of its times counts
    #[arg(long, default_value = "3", value_name = "COUNT")]
    rounds: usize,

    /// Of databases: keep rows, databases and answers in this folder [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,

    /// bandwidth: streams of queries at a time, from 1 to this
    #[arg(long, default_value = "4", value_name = "COUNT", value_parser = parse_streams)]
    streams: usize,
}

/// On what `tpcd` is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MachineName {
    /// A processor and a disk as slow as the paper's
    Paper,
    /// This machine's processor and disk
    Own,
}

/// How `tpcd` compresses tuples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompressionName {
    /// Numbers and lengths null-suppressed, dictionaries for three flags, dates as they are
    Paper,
    /// As Quire does it by itself
    Auto,
}

fn parse_scale(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(scale) if (0.001..=1_000.0).contains(&scale) => Ok(scale),
        _ => Err(format!("{text} is no number from 0.001 to 1000")),
    }
}

fn parse_streams(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(streams) if (1..=64).contains(&streams) => Ok(streams),
        _ => Err(format!("{text} is no number from 1 to 64")),
    }
}

impl Topic {
    /// The experiment of the laboratory; none of what needs databases.
    fn experiment(self) -> Option<Experiment> {
        match self {
            Self::Codecs => Some(Experiment::Codecs),
            Self::Transforms => Some(Experiment::Transforms),
            Self::DualFormat => Some(Experiment::DualFormat),
            Self::Postings => Some(Experiment::Postings),
            Self::DocumentNumbers => Some(Experiment::DocumentNumbers),
            Self::LengthDecoding => Some(Experiment::LengthDecoding),
            Self::IteratorModels => Some(Experiment::IteratorModels),
            Self::Tpcd | Self::Devices | Self::Tpch | Self::Bandwidth => None,
        }
    }
}

impl Benchmark {
    /// Runs it. Without a folder of the user's its files are removed.
    fn figures(
        &self,
        quick: bool,
    ) -> Result<Vec<Figure>, quire_experiments::tpcd::BenchmarkFailure> {
        let temporary = env::temp_dir().join(format!("quire-experiments-{}", process::id()));
        let setup = Setup {
            scale: self.scale,
            device: match self.machine {
                MachineName::Paper => Device::Paper,
                MachineName::Own => Device::Own,
            },
            compression: match self.compression {
                CompressionName::Paper => TpcdCompression::Paper,
                CompressionName::Auto => TpcdCompression::Auto,
            },
            with_tpch: self.tpch,
            has_keys: self.keys,
            rounds: if quick { 1 } else { self.rounds },
            folder: self.work.clone().unwrap_or_else(|| temporary.clone()),
        };
        let figures = quire_experiments::tpcd::figures(&setup, &mut |next| {
            // Nobody needs to know.
            let _ = writeln!(io::stderr(), "{next}");
        });
        if self.work.is_none() {
            // What is left of it is in the folder for temporary files.
            let _ = fs::remove_dir_all(&temporary);
        }
        figures
    }
}

/// Measures, and prints the figures or writes them into a folder.
pub fn run(
    topic: Topic,
    out: Option<&Path>,
    quick: bool,
    file: Option<&Path>,
    benchmark: &Benchmark,
) -> ExitCode {
    let text = match file.map(fs::read).transpose() {
        Ok(text) => text,
        Err(error) => {
            let name = file.map(Path::display);
            return trouble(&format!(
                "cannot read {}: {error}",
                name.map_or_else(String::new, |name| name.to_string())
            ));
        }
    };
    let effort = if quick {
        MeasureEffort::Quick
    } else {
        MeasureEffort::Full
    };
    let figures = match topic.experiment() {
        Some(experiment) => experiment
            .run(&Lab::new(effort), text.as_deref())
            .map_err(|error| error.to_string()),
        None => databases::figures(topic, benchmark, quick).map_err(|error| error.to_string()),
    };
    let figures = match figures {
        Ok(figures) => figures,
        Err(message) => return trouble(&message),
    };
    let written = match out {
        Some(folder) => match write_files(&figures, folder) {
            Ok(written) => written,
            Err(message) => return trouble(&message),
        },
        None => figures
            .iter()
            .map(render::text)
            .collect::<Vec<_>>()
            .join("\n"),
    };
    match io::stdout().write_all(written.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::from(exit_code::NOBODY_READS)
        }
        Err(error) => trouble(&format!("cannot write: {error}")),
    }
}

/// One CSV and one SVG file for each figure; returns their names, one on each line.
fn write_files(figures: &[Figure], folder: &Path) -> Result<String, String> {
    let failed =
        |path: &Path, error: io::Error| format!("cannot write {}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let mut names = String::new();
    for figure in figures {
        for (extension, content) in [("csv", render::csv(figure)), ("svg", render::svg(figure))] {
            let path: PathBuf = folder.join(format!("{}.{extension}", figure.stem));
            fs::write(&path, content).map_err(|error| failed(&path, error))?;
            names.push_str(&format!("{}\n", path.display()));
        }
    }
    Ok(names)
}

fn trouble(message: &str) -> ExitCode {
    let _ = io::stderr().write_all(describe_plain(message, None, false).as_bytes());
    ExitCode::from(exit_code::TROUBLE)
}
