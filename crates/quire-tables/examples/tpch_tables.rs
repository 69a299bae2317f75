//! Appends generated TPC-H tables to a file, shows what each column became, and times scans of every column.
//!
//! `cargo run --release -p quire-tables --example tpch_tables -- FILE [SCALE [TABLE …]]`
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use quire_store::{FileDisk, Volume, VolumeOptions};
use quire_tables::{ColumnDefinition, ColumnTable, Engine, ScanOptions, SqlType, TableDefinition};
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};
use tpchgen_arrow::{
    CustomerArrow, LineItemArrow, NationArrow, OrderArrow, PartArrow, PartSuppArrow, RegionArrow,
    SupplierArrow,
};

const TABLES: [&str; 8] = [
    "region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem",
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments
        .next()
        .expect("usage: tpch_tables FILE [SCALE [TABLE …]]");
    let scale: f64 = arguments.next().map_or(1.0, |scale| scale.parse().unwrap());
    let mut tables: Vec<String> = arguments.collect();
    if tables.is_empty() {
        tables = TABLES.map(str::to_owned).to_vec();
    }
    let _ = std::fs::remove_file(&path);
    let disk = FileDisk::open_or_create(&path).unwrap();
    let options = VolumeOptions {
        cache_bytes: 1 << 30,
        ..VolumeOptions::default()
    };
    let volume = Volume::create(Arc::new(disk), options).unwrap();
    let engine = Engine::open(volume).unwrap();
    let mut append_time = Duration::ZERO;
    for name in &tables {
        let batches = generate(name, scale)
            .collect::<Result<Vec<_>, _>>()
            .unwrap();
        append_time += append(&engine, name, &batches);
        print_columns(&engine.snapshot().table(name).unwrap().unwrap());
    }
    println!(
        "all appends {append_time:.2?}, {} bytes",
        std::fs::metadata(&path).unwrap().len()
    );
    for name in &tables {
        time_scans(&engine.snapshot().table(name).unwrap().unwrap());
    }
}

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>;

fn generate(name: &str, scale: f64) -> Batches {
    const ROWS: usize = 8192;
    match name {
        "region" => Box::new(RegionArrow::new(RegionGenerator::new(scale, 1, 1))),
        "nation" => Box::new(NationArrow::new(NationGenerator::new(scale, 1, 1))),
        "supplier" => {
            Box::new(SupplierArrow::new(SupplierGenerator::new(scale, 1, 1)).with_batch_size(ROWS))
        }
        "customer" => {
            Box::new(CustomerArrow::new(CustomerGenerator::new(scale, 1, 1)).with_batch_size(ROWS))
        }
        "part" => Box::new(PartArrow::new(PartGenerator::new(scale, 1, 1)).with_batch_size(ROWS)),
        "partsupp" => {
            Box::new(PartSuppArrow::new(PartSuppGenerator::new(scale, 1, 1)).with_batch_size(ROWS))
        }
        "orders" => {
            Box::new(OrderArrow::new(OrderGenerator::new(scale, 1, 1)).with_batch_size(ROWS))
        }
        "lineitem" => {
            Box::new(LineItemArrow::new(LineItemGenerator::new(scale, 1, 1)).with_batch_size(ROWS))
        }
        other => panic!("no table {other}"),
    }
}

fn definition(name: &str, schema: &SchemaRef) -> TableDefinition {
    let columns = schema.fields().iter().map(|field| {
        let sql_type = match field.data_type() {
            DataType::Int32 => SqlType::Integer,
            DataType::Int64 => SqlType::BigInt,
            DataType::Date32 => SqlType::Date,
            DataType::Utf8View => SqlType::Text,
            &DataType::Decimal128(precision, scale) => SqlType::Decimal {
                precision,
                scale: scale as u8,
            },
            other => panic!("no SQL type for {other}"),
        };
        ColumnDefinition {
            nullable: false,
            ..ColumnDefinition::new(field.name(), sql_type)
        }
    });
    TableDefinition::new(name, columns.collect())
}

fn append(engine: &Engine, name: &str, batches: &[RecordBatch]) -> Duration {
    let start = Instant::now();
    let mut transaction = engine.begin().unwrap();
    transaction
        .create_table(definition(name, &batches[0].schema()))
        .unwrap();
    let mut appender = transaction.appender(name).unwrap();
    for batch in batches {
        appender.append(batch).unwrap();
    }
    let rows = appender.finish().unwrap();
    transaction.commit().unwrap();
    let elapsed = start.elapsed();
    let rate = rows as f64 / elapsed.as_secs_f64() / 1e6;
    println!("{name}: {rows} rows in {elapsed:.2?}, {rate:.2} million rows/s");
    elapsed
}

fn print_columns(table: &ColumnTable) {
    let rows = table.stored_row_count() as f64;
    let (mut raw, mut encoded, mut metadata) = (0, 0, 0);
    for (index, column) in table.definition().columns.iter().enumerate() {
        let statistics = table.statistics(index).unwrap();
        let mut codecs: BTreeMap<String, usize> = BTreeMap::new();
        let mut estimated = 0;
        for row_group in 0..table.row_group_count() {
            let chunk = &table.row_group(row_group).unwrap().columns[index];
            *codecs.entry(chunk.codec.name().to_owned()).or_default() += 1;
            estimated += chunk.estimated_bytes;
        }
        println!(
            "  {:16} {:10} {:6.2} -> {:5.2} bytes/row  estimate {:+5.1} %  about {:8} distinct  {codecs:?}",
            column.name,
            statistics.encoded_bytes,
            statistics.raw_bytes as f64 / rows,
            statistics.encoded_bytes as f64 / rows,
            100.0 * (estimated as f64 / statistics.encoded_bytes as f64 - 1.0),
            statistics.distinct_estimate,
        );
        raw += statistics.raw_bytes;
        encoded += statistics.encoded_bytes;
    }
    for row_group in 0..table.row_group_count() {
        metadata += table.row_group(row_group).unwrap().encode().len();
    }
    println!("  raw {raw}, encoded {encoded}, row-group metadata {metadata} bytes");
}

/// Best of three scans by one reader.
fn time_scans(table: &Arc<ColumnTable>) {
    let columns = &table.definition().columns;
    let rows = table.stored_row_count() as f64;
    for (index, column) in columns.iter().enumerate() {
        let best = (0..3).map(|_| scan(table, vec![index])).min().unwrap();
        let nanoseconds = best.as_nanos() as f64 / rows;
        println!(
            "{:16} {nanoseconds:6.2} ns/value  {}",
            column.name, column.sql_type
        );
    }
    let best = (0..3)
        .map(|_| scan(table, (0..columns.len()).collect()))
        .min()
        .unwrap();
    println!(
        "{:16} {:6.2} ns/row",
        table.definition().name,
        best.as_nanos() as f64 / rows
    );
}

fn scan(table: &Arc<ColumnTable>, projection: Vec<usize>) -> Duration {
    let start = Instant::now();
    let scan = table
        .scan(ScanOptions {
            projection,
            ..ScanOptions::default()
        })
        .unwrap();
    let mut reader = scan.reader();
    let mut rows = 0;
    while let Some(batch) = reader.next().unwrap() {
        rows += batch.num_rows() as u64;
    }
    assert_eq!(rows, table.stored_row_count());
    start.elapsed()
}
