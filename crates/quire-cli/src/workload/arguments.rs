//! How `quire workload` is called.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use quire::DeviceSpecification;
use quire_workload::driver::{Arrivals, RunOptions};

use crate::shell::parse_bytes;

/// What is run, on which databases, and how.
#[derive(Debug, Args)]
pub struct WorkloadArguments {
    #[arg(value_enum)]
    pub workload: WorkloadName,

    /// The databases, with commas between them; each is made anew, measured, and removed. Servers are started for it, on a free port of this machine
    #[arg(
        long = "target",
        value_enum,
        value_name = "TARGETS",
        value_delimiter = ',',
        default_value = "embedded"
    )]
    pub targets: Vec<TargetName>,

    /// A server that runs already, as postgresql://user:password@host:port/database; the tables are made in it, and stay. May be given several times
    #[arg(long = "connect", value_name = "URL")]
    pub servers: Vec<String>,

    /// Size of the tables: warehouses of tpc-c, branches of tpc-b, hundred thousand rows of sysbench and baidu, gigabytes of order-entry
    #[arg(long, default_value = "1", value_parser = parse_scale)]
    pub scale: f64,

    /// Users at a time, each with a connection
    #[arg(long, default_value = "8", value_parser = clap::value_parser!(u32).range(1..=500))]
    pub users: u32,

    /// How long to measure
    #[arg(long, default_value = "30", value_name = "SECONDS", value_parser = parse_seconds)]
    pub seconds: Duration,

    /// How long the users work before that
    #[arg(long, default_value = "5", value_name = "SECONDS", value_parser = parse_seconds)]
    pub warm_up: Duration,

    /// How long a user waits between transactions: so many milliseconds, or from so many to so many, as in 1-10
    #[arg(long, value_name = "MS", value_parser = parse_think_time, conflicts_with = "rate")]
    pub think_time: Option<(Duration, Duration)>,

    /// Begin so many transactions a second, all users together, and measure each from when it was meant to begin, so that response times of
    /// several databases can be compared at equal load [default: as many as the users can]
    #[arg(long, value_name = "TPS")]
    pub rate: Option<f64>,

    /// How far apart they begin
    #[arg(long, value_enum, default_value = "poisson", requires = "rate")]
    pub arrivals: ArrivalsName,

    /// The same seed gives the same rows and transactions
    #[arg(long, default_value = "1")]
    pub seed: u64,

    /// Where the databases are made; may be a mounted data set [default: a temporary folder]
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// Where the rows are generated, and found again by the next run [default: a temporary folder]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// Memory for pages of each database
    #[arg(long, default_value = "128MiB", value_name = "BYTES", value_parser = parse_bytes)]
    pub cache: usize,

    /// Options of Quire's tables, such as "page_codec = zstd"
    #[arg(long, value_name = "OPTIONS", default_value = "")]
    pub table_options: String,

    /// embedded: keep the database on a device that compresses or is slow, as in zfs:lzjb:128k@sata-ssd
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceSpecification>,

    /// Count the processor time of this process, too, as that of a mount; may be given several times
    #[arg(long = "count-process", value_name = "PID")]
    pub other_processes: Vec<u32>,

    /// sysbench: tables
    #[arg(long, default_value = "1", value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub tables: u32,

    /// sysbench: the table of paper 3 with 32 numbers and a text
    #[arg(long)]
    pub wide: bool,

    /// sysbench and baidu-read: which rows; special is sysbench's: 1 % of them get 75 %
    #[arg(long, value_name = "HOW", value_parser = parse_distribution)]
    pub distribution: Option<DistributionName>,

    /// order-entry: the weights that paper 5 prints instead of Swingbench's
    #[arg(long)]
    pub paper_weights: bool,

    /// Check the workload's conditions of consistency, after the loading and after the run
    #[arg(long)]
    pub check: bool,

    /// Keep the databases
    #[arg(long, requires = "directory")]
    pub keep: bool,

    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write a page with plots
    #[arg(long, value_name = "PAGE")]
    pub html: Option<PathBuf>,
}

/// What users do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WorkloadName {
    /// Customers of a shop (Swingbench; paper 5)
    OrderEntry,
    /// Customers of a telephone company (Swingbench; paper 5)
    CallingCircle,
    /// Single rows of one table (Swingbench; paper 5)
    StressTest,
    /// sysbench's oltp_point_select
    SysbenchPointSelect,
    /// sysbench's oltp_read_only
    SysbenchReadOnly,
    /// sysbench's oltp_write_only
    SysbenchWriteOnly,
    /// sysbench's oltp_read_write
    SysbenchReadWrite,
    /// Rows of 612 bytes by their keys (paper 4)
    BaiduRead,
    /// Insertions of rows of 612 bytes, each user into six tables (paper 4)
    BaiduWrite,
    /// TPC-C; no TPC result
    TpcC,
    /// TPC-B; no TPC result
    TpcB,
}

/// A database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TargetName {
    /// Quire in this process
    Embedded,
    /// Quire's server
    Quire,
    /// PostgreSQL, if it is installed
    Postgresql,
    /// MariaDB with InnoDB, if it is installed
    Mariadb,
    /// The same with compressed tables (ROW_FORMAT=COMPRESSED)
    MariadbCompressed,
    /// SQLite in this process
    Sqlite,
}

/// How far apart transactions begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ArrivalsName {
    /// At random
    Poisson,
    /// Evenly
    Even,
}

/// Which rows are chosen how often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DistributionName {
    Uniform,
    Special,
    Zipf(f64),
}

impl WorkloadArguments {
    /// How the driver runs it.
    pub fn run_options(&self) -> RunOptions {
        RunOptions {
            users: self.users,
            warm_up: self.warm_up,
            measured: self.seconds,
            think_time: self.think_time.unwrap_or_default(),
            rate: self.rate,
            arrivals: match self.arrivals {
                ArrivalsName::Poisson => Arrivals::Poisson,
                ArrivalsName::Even => Arrivals::Even,
            },
            seed: self.seed,
            ..RunOptions::default()
        }
    }
}

fn parse_scale(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(scale) if scale > 0.0 && scale <= 10_000.0 => Ok(scale),
        _ => Err(format!("{text} is no number above 0, up to 10000")),
    }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| format!("{text} is no number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("{text} is no number of seconds"))
}

fn parse_think_time(text: &str) -> Result<(Duration, Duration), String> {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    let millis = |text: &str| {
        let parsed = text.trim().parse().map(Duration::from_millis);
        parsed.map_err(|_| format!("{text} is no number of milliseconds"))
    };
    Ok((millis(least)?, millis(most)?))
}

fn parse_distribution(text: &str) -> Result<DistributionName, String> {
    match text {
        "uniform" => Ok(DistributionName::Uniform),
        "special" => Ok(DistributionName::Special),
        _ => match text.strip_prefix("zipf:").map(str::parse) {
            Some(Ok(exponent)) if (0.0..=10.0).contains(&exponent) => {
                Ok(DistributionName::Zipf(exponent))
            }
            _ => Err("say uniform, special, or zipf:EXPONENT, as in zipf:0.9".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{DistributionName, parse_distribution, parse_scale, parse_think_time};
    use std::time::Duration;

    #[test]
    fn values_of_options() {
        let millis = Duration::from_millis;
        assert_eq!(parse_think_time("5"), Ok((millis(5), millis(5))));
        assert_eq!(parse_think_time("1-10"), Ok((millis(1), millis(10))));
        assert!(parse_think_time("a-1").is_err());
        assert_eq!(
            parse_distribution("zipf:0.9"),
            Ok(DistributionName::Zipf(0.9))
        );
        assert!(parse_distribution("zipf").is_err());
        assert!(parse_scale("0").is_err() && parse_scale("NaN").is_err());
    }
}
