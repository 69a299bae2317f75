//! `cargo xtask tpch`: the eight TPC-H tables of any scale as text, the same bytes on every machine.
//!
//! A table is cut into parts which the generator can start at independently. Threads take parts in order, write each
//! into memory, and one writer puts them into the file in order.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;
use tpchgen::{csv, generators};

/// Table names, largest first.
pub const TABLES: [&str; 8] = [
    "lineitem", "orders", "partsupp", "customer", "part", "supplier", "nation", "region",
];
/// Parts of lineitem at scale 1: about 16 MB of text each.
const PARTS_PER_SCALE: f64 = 48.0;
/// Finished parts that wait for the writer.
const QUEUED_PARTS_MAX: usize = 2;

/// How the rows are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Commas, a header line, text quoted where it can hold a comma.
    Csv,
    /// The format of `dbgen`: bars, also after the last field, no header.
    Tbl,
}

/// What to write and where.
pub struct Request {
    pub scale: f64,
    pub format: Format,
    pub output: PathBuf,
    pub thread_count: usize,
}

/// Runs the chore with its command line.
pub fn run(options: &[String]) -> Result<(), String> {
    let mut request = Request {
        scale: 1.0,
        format: Format::Csv,
        output: PathBuf::new(),
        thread_count: 2,
    };
    let mut options = options.iter();
    while let Some(option) = options.next() {
        let value = options.next().ok_or(format!("{option} needs a value"))?;
        match option.as_str() {
            "--scale" => request.scale = parse_positive(option, value)?,
            "--threads" => request.thread_count = parse_positive(option, value)? as usize,
            "--output" => request.output = PathBuf::from(value),
            "--format" if value == "csv" => request.format = Format::Csv,
            "--format" if value == "tbl" => request.format = Format::Tbl,
            _ => return Err(format!("unknown option {option} {value}")),
        }
    }
    if request.output.as_os_str().is_empty() {
        return Err("--output DIR is missing".to_owned());
    }
    let started = Instant::now();
    let bytes = generate(&request)?;
    println!(
        "TPC-H scale {}: {bytes} bytes in {:.1} s",
        request.scale,
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

/// A number above zero.
pub fn parse_positive(option: &str, value: &str) -> Result<f64, String> {
    let number = value
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("{option} {value}: expected a number above zero"))
}

/// Writes all tables and returns their size in bytes. A file has its final name only when it is complete.
pub fn generate(request: &Request) -> Result<u64, String> {
    fs::create_dir_all(&request.output)
        .map_err(|error| format!("{}: {error}", request.output.display()))?;
    let mut bytes = 0;
    for table in TABLES {
        let path = table_path(&request.output, table, request.format);
        let unfinished = path.with_extension("unfinished");
        bytes += write_table(table, request, &unfinished)
            .and_then(|bytes| fs::rename(&unfinished, &path).map(|()| bytes))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(bytes)
}

/// Where the file of a table lies.
pub fn table_path(output: &Path, table: &str, format: Format) -> PathBuf {
    output
        .join(table)
        .with_extension(if format == Format::Csv { "csv" } else { "tbl" })
}

fn part_count(table: &str, scale: f64) -> i32 {
    let parts = match table {
        "lineitem" => PARTS_PER_SCALE * scale,
        "orders" | "partsupp" => PARTS_PER_SCALE * scale / 4.0,
        "customer" | "part" => PARTS_PER_SCALE * scale / 24.0,
        _ => 1.0,
    };
    parts.ceil().clamp(1.0, 1e6) as i32
}

fn write_table(table: &str, request: &Request, path: &Path) -> std::io::Result<u64> {
    let parts = part_count(table, request.scale);
    let next_part = AtomicI32::new(1);
    let mut file = BufWriter::new(File::create(path)?);
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(QUEUED_PARTS_MAX);
        for _ in 0..request.thread_count {
            let (sender, next_part) = (sender.clone(), &next_part);
            scope.spawn(move || {
                loop {
                    let part = next_part.fetch_add(1, Ordering::Relaxed);
                    if part > parts
                        || sender
                            .send((part, part_text(table, request, part, parts)))
                            .is_err()
                    {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let (mut wanted, mut bytes) = (1, 0);
        for (part, text) in receiver {
            waiting.insert(part, text?);
            while let Some(text) = waiting.remove(&wanted) {
                file.write_all(&text)?;
                bytes += text.len() as u64;
                wanted += 1;
            }
        }
        file.flush()?;
        Ok(bytes)
    })
}

/// The text of one part of one table: its generator, and the wrapper that writes its rows as CSV.
macro_rules! part_text {
    ($request:expr, $part:expr, $parts:expr, $generator:ident, $csv:ident) => {{
        let rows = generators::$generator::new($request.scale, $part, $parts);
        let header = ($part == 1).then(csv::$csv::header);
        text_of(rows.iter(), $request.format, header, csv::$csv::new)
    }};
}

fn part_text(table: &str, request: &Request, part: i32, parts: i32) -> std::io::Result<Vec<u8>> {
    match table {
        "lineitem" => part_text!(request, part, parts, LineItemGenerator, LineItemCsv),
        "orders" => part_text!(request, part, parts, OrderGenerator, OrderCsv),
        "partsupp" => part_text!(request, part, parts, PartSuppGenerator, PartSuppCsv),
        "customer" => part_text!(request, part, parts, CustomerGenerator, CustomerCsv),
        "part" => part_text!(request, part, parts, PartGenerator, PartCsv),
        "supplier" => part_text!(request, part, parts, SupplierGenerator, SupplierCsv),
        "nation" => part_text!(request, part, parts, NationGenerator, NationCsv),
        _ => part_text!(request, part, parts, RegionGenerator, RegionCsv),
    }
}

/// The rows as text. A row displays itself in `dbgen` format; `as_csv` wraps it for the other one.
fn text_of<Row: Display, Csv: Display>(
    rows: impl Iterator<Item = Row>,
    format: Format,
    header: Option<&str>,
    as_csv: impl Fn(Row) -> Csv,
) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    if let Some(header) = header.filter(|_| format == Format::Csv) {
        writeln!(text, "{header}")?;
    }
    for row in rows {
        match format {
            Format::Csv => writeln!(text, "{}", as_csv(row))?,
            Format::Tbl => writeln!(text, "{row}")?,
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generated(name: &str, scale: f64, format: Format, thread_count: usize) -> Vec<Vec<u8>> {
        let output = std::env::temp_dir().join(format!("xtask-tpch-{}-{name}", std::process::id()));
        let request = Request {
            scale,
            format,
            output: output.clone(),
            thread_count,
        };
        generate(&request).unwrap();
        let files = TABLES
            .iter()
            .map(|table| fs::read(table_path(&output, table, format)).unwrap())
            .collect();
        fs::remove_dir_all(&output).unwrap();
        files
    }

    #[test]
    fn the_bytes_do_not_depend_on_the_threads() {
        let one = generated("one", 0.05, Format::Csv, 1);
        let three = generated("three", 0.05, Format::Csv, 3);
        assert!(one == three);
    }

    #[test]
    fn row_counts_are_those_of_the_specification() {
        let files = generated("counts", 0.01, Format::Csv, 2);
        let lines: Vec<usize> = files
            .iter()
            .map(|file| file.iter().filter(|byte| **byte == b'\n').count())
            .collect();
        // Specification 4.2.5: at scale 0.01 orders, partsupp, customer, part and supplier have 15000, 8000, 1500, 2000
        // and 100 rows; nation and region are fixed. A header comes on top.
        assert_eq!(lines[1..], [15001, 8001, 1501, 2001, 101, 26, 6]);
    }

    #[test]
    fn bars_end_every_field() {
        let files = generated("bars", 0.01, Format::Tbl, 2);
        let region = String::from_utf8(files[7].clone()).unwrap();
        assert!(region.starts_with("0|AFRICA|"));
        assert!(
            region
                .lines()
                .all(|line| line.ends_with('|') && line.matches('|').count() == 3)
        );
    }
}
