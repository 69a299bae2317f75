//! What does TPC-D look like on compressed and on uncompressed tables?
//!
//! Tables 3, 4 and 5 of T. Westmann et al., *The Implementation and Performance of Compressed Databases*, measured again: the sizes of the tables,
//! how long loading them takes, and how long queries and update functions do, by the tuple engine, over row tables whose tuples are
//! compressed and over others. [`figures`] has the result as figures of `quire-lab`.

mod benchmark;
mod both;
pub(crate) mod data;
mod fields;
pub(crate) mod machine;
mod paper;
pub(crate) mod queries;
mod report;
pub(crate) mod schema;
#[cfg(test)]
mod tests;
pub(crate) mod warehouse;

use std::path::PathBuf;

use quire_lab::Figure;

pub use machine::Device;

/// How the compressed tables are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TpcdCompression {
    /// As the paper's: integers, decimals and lengths of strings null-suppressed, dictionaries for the three flags, dates and all else as it is.
    Paper,
    /// The same, and comments in codes. The paper leaves long strings alone: they "would have resulted in high compression rates […] without
    /// paying the price for this compression as these fields are rarely used in the TPC-D queries" (section 5.1).
    PaperAndStrings(CommentCodes),
    /// As Quire does it unless something else is said: dates null-suppressed, too, and dictionaries and FSST tables wherever a sample says that
    /// they pay.
    Auto,
}

/// In which codes comments are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentCodes {
    /// Those of an FSST table.
    Fsst,
    /// A Huffman code, which the paper names (section 3.2.2).
    Huffman,
}

impl CommentCodes {
    /// As `COMPRESSION` calls them.
    pub(crate) const fn codec(self) -> &'static str {
        match self {
            Self::Fsst => "fsst",
            Self::Huffman => "huffman",
        }
    }
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Scale of the tables: 1 is the paper's gigabyte.
    pub scale: f64,
    /// On what.
    pub device: Device,
    /// How compressed tables are compressed.
    pub compression: TpcdCompression,
    /// Whether TPC-H's queries are run besides TPC-D's.
    pub with_tpch: bool,
    /// Whether tables have primary keys and indexes. Those of the paper have none.
    pub has_keys: bool,
    /// How often a query is run; the middle of its times counts.
    pub rounds: usize,
    /// Where rows, databases and answers are written. Rows that are there are taken as they are.
    pub folder: PathBuf,
}

/// Measures. `progress` is told what is done next.
///
/// # Errors
/// When files cannot be written, a statement fails, or compressed tables have other answers than uncompressed ones.
pub fn figures(
    setup: &Setup,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Figure>, BenchmarkFailure> {
    let results = benchmark::run(setup, progress)?;
    Ok(report::figures(setup, &results))
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchmarkFailure {
    #[error("a statement failed: {0}")]
    Statement(#[from] quire::Error),
    #[error("{0}; name a folder with room by --work")]
    File(#[from] std::io::Error),
    #[error("a result cannot be shown: {0}")]
    Result(#[from] quire::arrow::error::ArrowError),
    #[error("{sql} has no number as its answer; report this as a defect")]
    NoNumber { sql: String },
    #[error(
        "the answers of {query} over compressed and uncompressed tables differ; report this as a defect"
    )]
    Answers { query: &'static str },
    #[error("{table} has other rows than it should; report this as a defect")]
    Totals { table: &'static str },
    #[error("rows of {table} are not what its columns are; report this as a defect")]
    Sample { table: &'static str },
    #[error("EXPLAIN ANALYZE of {query} does not say what was done; report this as a defect")]
    Analysis { query: &'static str },
    #[error("expressions cannot be measured: {0}; report this as a defect")]
    Expressions(String),
    #[error("primitives cannot be measured: {0}")]
    Primitives(#[from] quire_lab::LabError),
    #[error("{0}")]
    Words(quire_lab::LabError),
    #[error("a drive cannot be had: {0}")]
    Drive(#[from] quire_device::DeviceOpenError),
    #[error(transparent)]
    Device(#[from] quire_device::DeviceSpecificationError),
    #[error(
        "there is no disk {name:?}; say none, or a name that docs/operations.md has, such as sata-ssd"
    )]
    NoProfile { name: String },
    #[error("rows of a workload: {0}")]
    WorkloadRows(#[from] quire_workload::data::WorkloadDataError),
    #[error("{0}")]
    Target(#[from] quire_workload::TargetError),
    #[error("transactions cannot be measured: {0}")]
    Transactions(#[from] quire_workload::driver::RunError),
    #[error("compressed pages cannot be measured: {0}")]
    PageCompression(String),
    #[error("codecs cannot be ranked: {0}")]
    Ranking(#[from] quire_decision::DecisionError),
    #[error("{file} is damaged: {what}; report this as a defect")]
    Damaged { file: String, what: String },
}
