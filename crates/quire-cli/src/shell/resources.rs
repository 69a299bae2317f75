//! What databases may use, as the command line says.

use quire::{DatabaseOptions, DeviceSpecification, PoolPolicy};

use super::quantities::parse_bytes;

/// What databases may use; `None` leaves it to the library.
#[derive(Debug, Clone, Copy, Default, PartialEq, clap::Args)]
pub struct Resources {
    /// Bytes of pages kept in memory
    /// [default: 20 % of the machine's or container's memory, 512 MiB at most]
    #[arg(long = "cache", value_name = "BYTES", value_parser = parse_bytes)]
    pub cache_bytes: Option<usize>,

    /// Memory that running statements may hold before they spill to temporary files
    /// [default: 60 % of the machine's or container's, less the cache]
    #[arg(long = "memory", value_name = "BYTES", value_parser = parse_bytes)]
    pub memory_bytes: Option<usize>,

    /// How rows' pages and their compressed images share the cache: tuned, by what is measured, or twins:PERCENT, so that so much is for
    /// pages, each of which keeps its image beside it
    #[arg(long = "pool", value_name = "POLICY", default_value = "tuned", value_parser = parse_pool_policy)]
    pub pool_policy: PoolPolicy,

    /// Threads that compress pages of row tables in the background; 0: whoever changes a page compresses it [default: half of the processors]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u8).range(0..=64))]
    pub compression_threads: Option<u8>,

    /// Threads that run statements [default: the processor's]
    #[arg(long, value_name = "COUNT", value_parser = parse_count)]
    pub threads: Option<usize>,

    /// Read and write the file past the system's page cache; --cache is then all the memory that its pages have
    #[arg(long)]
    pub direct_io: bool,

    /// Keep the database on a device that compresses what is written to it, as in csd:zlib or zfs:lzjb:128k: an experiment. The
    /// file is a volume with one data set then
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceSpecification>,
}

impl Resources {
    /// The library's options with what was asked for.
    pub fn options(self) -> DatabaseOptions {
        let defaults = DatabaseOptions::default();
        DatabaseOptions {
            cache_bytes: self.cache_bytes.unwrap_or(defaults.cache_bytes),
            memory_bytes: self.memory_bytes.unwrap_or(defaults.memory_bytes),
            pool_policy: self.pool_policy,
            compression_threads: self.compression_threads.map(usize::from),
            threads: self.threads.unwrap_or(defaults.threads),
            direct_io: self.direct_io,
            device: self.device,
            ..defaults
        }
    }
}

fn parse_pool_policy(text: &str) -> Result<PoolPolicy, String> {
    if text == "tuned" {
        return Ok(PoolPolicy::Tuned);
    }
    match text.strip_prefix("twins:").map(str::parse) {
        Some(Ok(uncompressed_percent @ 1..=100)) => Ok(PoolPolicy::Twins {
            uncompressed_percent,
        }),
        _ => Err("say tuned, or twins:PERCENT from twins:1 to twins:100".to_owned()),
    }
}

fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=1024) => Ok(count),
        _ => Err(format!("{text} is no number from 1 to 1024")),
    }
}
