//! `quire lab`: the figures of the papers, measured again on this machine, by topic or as one report.

mod databases;
mod report;
mod transactions;

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};

use clap::{Args, ValueEnum};
use quire_experiments::tpcd::{CommentCodes, Device, Setup, TpcdCompression};
use quire_lab::{Experiment, Figure, Lab, MeasureEffort, Paper, render};

use crate::exit_code;
use crate::shell::describe_plain;

/// What is measured, and where the figures go.
#[derive(Debug, Args)]
pub struct LabArguments {
    /// Which figures; with --report all of them, unless one is named
    #[arg(required_unless_present = "report")]
    pub topic: Option<Topic>,

    /// The texts to use: the documents of `postings` and `document-numbers`, one on each line, the words
    /// of `dual-format` and `dual-format-system`, the pages of `page-model`, or the strings of `transforms`, whose columns are each of
    /// one of the files;
    /// without any, and for a report of several topics, texts are made up
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Write each figure as .csv and .svg into this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "report")]
    pub out: Option<PathBuf>,

    /// Write one page of HTML with all figures, what the papers claim and whether it holds; takes
    /// hours, with --quick minutes. It is written anew after each topic
    #[arg(long, value_name = "PAGE")]
    pub report: Option<PathBuf>,

    /// Of a report: these topics alone, with commas between them
    #[arg(
        long,
        value_name = "TOPICS",
        value_delimiter = ',',
        hide_possible_values = true,
        requires = "report",
        conflicts_with = "topic"
    )]
    pub only: Vec<Topic>,

    /// Small samples and few rounds: the values mean little
    #[arg(long)]
    pub quick: bool,

    #[command(flatten)]
    benchmark: Benchmark,
}

const TPCH_MACHINES: &str = "--machine p4 and opteron are machines of tpch; say paper or own";

/// Size of tables where none is named: of one topic, and of a report that takes hours.
const TOPIC_SCALE: f64 = 0.1;
const REPORT_SCALE: f64 = 1.0;

/// Figures that are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Topic {
    /// PFOR, PFOR-DELTA and PDICT: figures 6.2, 6.4 to 6.7 and equation 6.1 of Zukowski
    Codecs,
    /// Page transforms: figures 4, 5, 7, 8 and 9 of Qiao et al.
    Transforms,
    /// The table of figure 11 of Qiao et al. in row pages
    DualFormat,
    /// The same table as whole databases on drives that compress: figures 1, 10 and 11 of Qiao et al.
    DualFormatSystem,
    /// Inverted files of word positions: table 6.2 of Zukowski and the query of its §6.4
    Postings,
    /// Inverted files of document numbers: the same codecs, and a query without a join
    DocumentNumbers,
    /// Decoding tables of compressed tuples: §3.3.3 of Westmann et al.
    LengthDecoding,
    /// Classic and extended iterators: §4.1.1 of Westmann et al.
    IteratorModels,
    /// Programs of the register machine: figures 5 and 6 and §4.1.2 of Westmann et al.
    Avm,
    /// TPC-D over compressed and uncompressed tables: tables 3, 4 and 5 of Westmann et al.
    Tpcd,
    /// Queries on devices of many bandwidths: equation 6.1 of Zukowski, measured
    Devices,
    /// TPC-H over compressed and uncompressed column tables: table 6.1 and figure 6.9 of Zukowski
    Tpch,
    /// Parallel streams of query 6 of TPC-H in memory: figure 6.8 of Zukowski
    Bandwidth,
    /// Compressed and uncompressed pages in the buffer pool: figure 6.1 of Zukowski
    BufferPool,
    /// Transactions on data sets that compress: tables 5 to 16 and figures 3 to 7 of Suharjito and Kurnadi
    FileSystem,
    /// Compressed pages on the solid-state disks of the paper: tables IV to VIII and figures 6 to 9 of Ma et al.
    PageCompression,
    /// The model of compressed pages in a buffer pool: table VII and figures 3 and 4 of Ma et al.
    PageModel,
}

/// How experiments with databases are run.
#[derive(Debug, Args)]
pub struct Benchmark {
    /// Of databases: size of the tables; 1 is a gigabyte of rows [default: 0.1; of a report without --quick 1]
    #[arg(long, value_parser = parse_scale)]
    scale: Option<f64>,

    /// tpcd and tpch: the machine whose processor and disk decide the times
    #[arg(long, value_enum, default_value = "paper")]
    machine: MachineName,

    /// tpch: how columns are laid out
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["dsm", "pax"])]
    layouts: Vec<LayoutName>,

    /// tpcd: how tuples are compressed
    #[arg(long, value_enum, default_value = "paper")]
    compression: CompressionName,

    /// tpcd, with the paper's compression: comments in codes, too; of fsst unless another is named
    #[arg(
        long,
        value_enum,
        value_name = "CODES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "fsst"
    )]
    strings: Option<StringsName>,

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

    /// dual-format-system: rows of the table [default: 100000; with --quick 3000]
    #[arg(long, value_name = "COUNT", value_parser = parse_rows)]
    rows: Option<u64>,

    /// file-system: users at a time
    #[arg(long, default_value = "50", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=500))]
    users: u32,

    /// file-system and dual-format-system: how long transactions run on each data set, or at each point [default: 20 and 5; with --quick 2 and 1]; 0 leaves them out of dual-format-system
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(0..=3600))]
    seconds: Option<u64>,

    /// file-system: the disk below the data sets, as in disk-7200-rpm; none is this machine's
    #[arg(long, default_value = "disk-7200-rpm", value_name = "PROFILE")]
    disk: String,
}

/// On what `tpcd` and `tpch` are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MachineName {
    /// A processor and a disk as slow as the paper's; of tpch both of its machines
    Paper,
    /// tpch: the Pentium4 with twelve disks
    P4,
    /// tpch: the Opteron with four disks
    Opteron,
    /// This machine's processor; of tpcd its disk, of tpch an NVMe disk
    Own,
}

/// How `tpch` lays out columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LayoutName {
    /// Each column by itself
    Dsm,
    /// All columns of some rows in one block
    Pax,
}

/// How `tpcd` compresses tuples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompressionName {
    /// Numbers and lengths null-suppressed, dictionaries for three flags, dates as they are
    Paper,
    /// As Quire does it by itself
    Auto,
}

/// In which codes `tpcd` has comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StringsName {
    /// Symbols of up to 8 bytes
    Fsst,
    /// A Huffman code of bytes, which the paper names
    Huffman,
}

impl StringsName {
    fn codes(self) -> CommentCodes {
        match self {
            Self::Fsst => CommentCodes::Fsst,
            Self::Huffman => CommentCodes::Huffman,
        }
    }
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

fn parse_rows(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(rows) if (1..=100_000_000).contains(&rows) => Ok(rows),
        _ => Err(format!("{text} is no number from 1 to 100000000")),
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
            Self::PageModel => Some(Experiment::PageModel),
            Self::Avm
            | Self::Tpcd
            | Self::DualFormatSystem
            | Self::FileSystem
            | Self::PageCompression
            | Self::Devices
            | Self::Tpch
            | Self::Bandwidth
            | Self::BufferPool => None,
        }
    }

    /// Whose figures they are.
    fn paper(self) -> Paper {
        match self {
            Self::LengthDecoding | Self::IteratorModels | Self::Avm | Self::Tpcd => {
                Paper::CompressedDatabases
            }
            Self::Codecs
            | Self::Postings
            | Self::DocumentNumbers
            | Self::Devices
            | Self::Tpch
            | Self::Bandwidth
            | Self::BufferPool => Paper::SuperScalarCompression,
            Self::Transforms | Self::DualFormat | Self::DualFormatSystem => Paper::DualPageFormat,
            Self::PageModel | Self::PageCompression => Paper::PageCompression,
            Self::FileSystem => Paper::FileSystemCompression,
        }
    }
}

impl LabArguments {
    /// What is measured, in this order.
    pub fn topics(&self) -> Vec<Topic> {
        let is_asked_for = |topic: &Topic| match self.topic {
            Some(only) => *topic == only,
            None => self.only.is_empty() || self.only.contains(topic),
        };
        let topics = Topic::value_variants().iter().copied();
        topics.filter(is_asked_for).collect()
    }

    /// The size of tables.
    fn scale(&self) -> f64 {
        let is_whole_report = self.report.is_some() && !self.quick;
        let default = if is_whole_report {
            REPORT_SCALE
        } else {
            TOPIC_SCALE
        };
        self.benchmark.scale.unwrap_or(default)
    }

    fn effort(&self) -> MeasureEffort {
        if self.quick {
            MeasureEffort::Quick
        } else {
            MeasureEffort::Full
        }
    }

    /// The texts of the user's.
    fn texts(&self) -> Result<Vec<Vec<u8>>, String> {
        let read = |file: &PathBuf| {
            fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))
        };
        self.files.iter().map(read).collect()
    }

    /// Measures the figures of a topic.
    fn figures(&self, topic: Topic, texts: &[Vec<u8>]) -> Result<Vec<Figure>, String> {
        let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        let figures = match topic.experiment() {
            Some(experiment) => experiment
                .run(&Lab::new(self.effort()), &texts)
                .map_err(|error| error.to_string())?,
            None if topic == Topic::Tpcd && self.benchmark.is_on_machine_of_tpch() => {
                return Err(TPCH_MACHINES.to_owned());
            }
            None => databases::figures(topic, &self.benchmark, self.scale(), self.quick, &texts)
                .map_err(|error| error.to_string())?,
        };
        Ok(figures)
    }
}

impl Benchmark {
    fn is_on_machine_of_tpch(&self) -> bool {
        matches!(self.machine, MachineName::P4 | MachineName::Opteron)
    }

    /// Runs it. Without a folder of the user's its files are removed.
    fn figures(
        &self,
        scale: f64,
        quick: bool,
    ) -> Result<Vec<Figure>, quire_experiments::tpcd::BenchmarkFailure> {
        let temporary = env::temp_dir().join(format!("quire-experiments-{}", process::id()));
        let setup = Setup {
            scale,
            device: match self.machine {
                MachineName::Own => Device::Own,
                MachineName::Paper | MachineName::P4 | MachineName::Opteron => Device::Paper,
            },
            compression: match (self.compression, self.strings) {
                (CompressionName::Paper, Some(strings)) => {
                    TpcdCompression::PaperAndStrings(strings.codes())
                }
                (CompressionName::Paper, None) => TpcdCompression::Paper,
                (CompressionName::Auto, _) => TpcdCompression::Auto,
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

/// Measures, and prints the figures, or writes them into a folder or as a page.
pub fn run(arguments: &LabArguments) -> ExitCode {
    let written = match &arguments.report {
        Some(page) => report::write(arguments, page).map(|()| String::new()),
        None => measured(arguments),
    };
    let written = match written {
        Ok(written) => written,
        Err(message) => return trouble(&message),
    };
    match io::stdout().write_all(written.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::from(exit_code::NOBODY_READS)
        }
        Err(error) => trouble(&format!("cannot write: {error}")),
    }
}

/// The figures as text, or the names of their files.
fn measured(arguments: &LabArguments) -> Result<String, String> {
    let texts = arguments.texts()?;
    let mut figures = Vec::new();
    for topic in arguments.topics() {
        figures.extend(arguments.figures(topic, &texts)?);
    }
    match &arguments.out {
        Some(folder) => write_files(&figures, folder),
        None => {
            let texts: Vec<String> = figures.iter().map(render::text).collect();
            Ok(texts.join("\n"))
        }
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
