//! Whole rows of TPC-H `lineitem` (16 columns) one by one, from a modelled disk and nothing in memory but metadata: as a column table, as PAX
//! tables, and as a row table. Prints the bytes of the file, reads and milliseconds a row.
//!
//! `cargo run --release -p quire-tables --example pax_points -- [SCALE [ROWS]]`
//!
//! Waits for the modelled disk are added to the clock and not waited for. The time is that of this processor and those waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Decimal128Type, Int32Type, Int64Type};
use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_schema::DataType;
use quire_kv::mvcc::TransactionOptions;
use quire_store::disk::{DeviceClock, DeviceProfile, ThrottledDisk};
use quire_store::pool::PoolOptions;
use quire_store::{MemDisk, OpenMode, Volume, VolumeOptions};
use quire_tables::row_table::TupleValue;
use quire_tables::{
    ColumnDefinition, Engine, EngineOptions, Predicate, ScanOptions, SqlType, StoredTest,
    StoredTests, TableDefinition, ZoneTable,
};
use tpchgen::generators::LineItemGenerator;
use tpchgen_arrow::LineItemArrow;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const TABLE: &str = "lineitem";
const ORDER_KEY: usize = 0;
const LINE_NUMBER: usize = 3;
/// Less than one block: whatever is asked for is read.
const CACHE_BYTES: usize = 64 << 10;

/// Real time, and all that has been waited for.
#[derive(Debug)]
struct SkippingClock {
    start: Instant,
    skipped_ns: AtomicU64,
}

impl DeviceClock for SkippingClock {
    fn now(&self) -> Duration {
        self.start.elapsed() + Duration::from_nanos(self.skipped_ns.load(Ordering::Relaxed))
    }

    fn wait_until(&self, moment: Duration) {
        let rest = moment.saturating_sub(self.now());
        let rest_ns = u64::try_from(rest.as_nanos()).unwrap_or(u64::MAX);
        self.skipped_ns.fetch_add(rest_ns, Ordering::Relaxed);
    }
}

/// The key of a row.
#[derive(Clone, Copy)]
struct LineKey {
    order: i64,
    line: i32,
}

/// `l_orderkey = order AND l_linenumber = line`
struct IsLine(LineKey);

impl Predicate for IsLine {
    fn columns(&self) -> &[usize] {
        &[ORDER_KEY, LINE_NUMBER]
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray, String> {
        let orders = batch.column(0).as_primitive::<Int64Type>().values();
        let lines = batch.column(1).as_primitive::<Int32Type>().values();
        let rows = orders.iter().zip(lines);
        let is_line = |(order, line): (&i64, &i32)| *order == self.0.order && *line == self.0.line;
        Ok(rows.map(is_line).map(Some).collect())
    }

    fn prune(&self, zones: &ZoneTable) -> Option<Vec<bool>> {
        let (min, max) = (zones.min(ORDER_KEY)?, zones.max(ORDER_KEY)?);
        let (min, max) = (
            min.as_primitive::<Int64Type>(),
            max.as_primitive::<Int64Type>(),
        );
        let may_have = |zone: usize| {
            (min.is_null(zone) || min.value(zone) <= self.0.order)
                && (max.is_null(zone) || max.value(zone) >= self.0.order)
        };
        Some((0..zones.len()).map(may_have).collect())
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn stored_tests(&self) -> Option<Arc<StoredTests>> {
        let equal = |column, value: i64| StoredTest::Range {
            column,
            range: value..=value,
        };
        let tests = vec![
            equal(ORDER_KEY, self.0.order),
            equal(LINE_NUMBER, self.0.line.into()),
        ];
        Some(Arc::new(StoredTests {
            tests,
            is_complete: true,
        }))
    }
}

fn definition(batch: &RecordBatch) -> Result<TableDefinition, Failure> {
    let schema = batch.schema();
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
            other => return Err(Failure::from(format!("no SQL type for {other}"))),
        };
        Ok(ColumnDefinition {
            nullable: false,
            ..ColumnDefinition::new(field.name(), sql_type)
        })
    });
    Ok(TableDefinition::new(
        TABLE,
        columns.collect::<Result<_, _>>()?,
    ))
}

fn tuple_value(column: &dyn Array, row: usize) -> Result<TupleValue<'_>, Failure> {
    Ok(match column.data_type() {
        DataType::Int32 => {
            TupleValue::Integer(column.as_primitive::<Int32Type>().value(row).into())
        }
        DataType::Int64 => TupleValue::Integer(column.as_primitive::<Int64Type>().value(row)),
        DataType::Date32 => {
            TupleValue::Integer(column.as_primitive::<Date32Type>().value(row).into())
        }
        DataType::Decimal128(..) => {
            TupleValue::Wide(column.as_primitive::<Decimal128Type>().value(row))
        }
        DataType::Utf8View => TupleValue::Bytes(column.as_string_view().value(row).as_bytes()),
        other => return Err(format!("no value of {other}").into()),
    })
}

/// A file with the table.
fn file_of(definition: TableDefinition, batches: &[RecordBatch]) -> Result<Vec<u8>, Failure> {
    let disk = Arc::new(MemDisk::new());
    let volume = Volume::create(disk.clone(), VolumeOptions::default())?;
    let engine = Engine::open(volume)?;
    let mut transaction = engine.transaction(TransactionOptions::default());
    let has_keys = definition.primary_key.is_some();
    transaction.define(|tables| tables.create_table(definition))?;
    if has_keys {
        transaction.begin_statement();
        let snapshot = transaction.snapshot();
        let table = snapshot.row_table(TABLE)?.ok_or("no table")?;
        let fill = transaction.begin_fill(&table, &batches[..1])?;
        let mut fill = fill.ok_or("the table cannot be filled")?;
        for batch in batches {
            for row in 0..batch.num_rows() {
                let columns = batch.columns().iter();
                let values = columns.map(|column| tuple_value(column.as_ref(), row));
                fill.insert(&values.collect::<Result<Vec<_>, _>>()?)?;
            }
        }
        transaction.finish_fill(fill)?;
    } else {
        let mut appender = transaction.tables()?.appender(TABLE)?;
        for batch in batches {
            appender.append(batch)?;
        }
        appender.finish()?;
    }
    transaction.commit()?;
    engine.checkpoint()?;
    engine.clean()?;
    let volume = engine.volume().clone();
    drop(engine);
    volume.close()?;
    Ok(disk.to_bytes())
}

/// Reads a row; returns how many columns it has.
fn read_row(engine: &Engine, key: LineKey) -> Result<usize, Failure> {
    let snapshot = engine.snapshot();
    if let Some(rows) = snapshot.row_table(TABLE)? {
        let values = [
            TupleValue::Integer(key.order),
            TupleValue::Integer(key.line.into()),
        ];
        let mut row_key = Vec::new();
        rows.layout().encode_key(&values, &mut row_key)?;
        let found = rows.get(&row_key, |tuple| tuple.len())?;
        return Ok(found.map_or(0, |_| rows.layout().column_count()));
    }
    let table = snapshot.table(TABLE)?.ok_or("no table")?;
    let options = ScanOptions {
        projection: (0..table.definition().columns.len()).collect(),
        predicates: vec![Arc::new(IsLine(key))],
        limit: Some(1),
        ..ScanOptions::default()
    };
    let scan = table.scan(options)?;
    let batch = scan.reader().next()?.ok_or("no row")?;
    Ok(batch.num_columns() * batch.num_rows())
}

/// Reads the rows from a disk of that profile; milliseconds and reads a row.
fn measure(file: &[u8], profile: DeviceProfile, keys: &[LineKey]) -> Result<(f64, f64), Failure> {
    let clock = Arc::new(SkippingClock {
        start: Instant::now(),
        skipped_ns: AtomicU64::new(0),
    });
    let disk = Arc::new(MemDisk::from_bytes(file.to_vec()));
    let disk = Arc::new(ThrottledDisk::with_clock(disk, profile, clock.clone()));
    let volume = Volume::open_with(
        disk.clone(),
        OpenMode::ReadOnly,
        VolumeOptions {
            cache_bytes: CACHE_BYTES,
            ..VolumeOptions::default()
        },
    )?;
    let options = EngineOptions {
        pool: PoolOptions {
            budget_bytes: CACHE_BYTES,
            ..PoolOptions::default()
        },
        ..EngineOptions::default()
    };
    let engine = Engine::open_with(volume, options)?;
    if let Some(table) = engine.snapshot().table(TABLE)? {
        for index in 0..table.row_group_count() {
            table.row_group(index)?;
        }
    }
    read_row(&engine, keys[0])?;
    let (start, before) = (clock.now(), disk.statistics());
    for key in keys {
        let columns = read_row(&engine, *key)?;
        if columns != 16 {
            return Err(format!("{columns} values of order {}", key.order).into());
        }
    }
    let count = keys.len() as f64;
    let elapsed = clock.now().saturating_sub(start);
    let reads = disk.statistics().reads - before.reads;
    Ok((elapsed.as_secs_f64() * 1e3 / count, reads as f64 / count))
}

/// Keys of rows, evenly spread in a scattered order.
fn some_keys(batches: &[RecordBatch], count: usize) -> Vec<LineKey> {
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let key = |number: usize| {
        let mut row = (number * 7_919 % count) * rows / count;
        let holds = |batch: &&RecordBatch| {
            let is_here = row < batch.num_rows();
            if !is_here {
                row -= batch.num_rows();
            }
            is_here
        };
        let batch = batches.iter().find(holds)?;
        Some(LineKey {
            order: batch
                .column(ORDER_KEY)
                .as_primitive::<Int64Type>()
                .value(row),
            line: batch
                .column(LINE_NUMBER)
                .as_primitive::<Int32Type>()
                .value(row),
        })
    };
    (0..count).filter_map(key).collect()
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let scale: f64 = arguments.next().map_or(Ok(0.1), |text| text.parse())?;
    let count: usize = arguments.next().map_or(Ok(1_000), |text| text.parse())?;
    let source = LineItemArrow::new(LineItemGenerator::new(scale, 1, 1));
    let batches: Vec<RecordBatch> = source.with_batch_size(8192).collect::<Result<_, _>>()?;
    let keys = some_keys(&batches, count);
    let columns = definition(&batches[0])?;
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    println!("{rows} rows, {} of them read", keys.len());
    println!(
        "{:14} {:>10} {:>9} {:>14} {:>14}",
        "table", "MB", "reads/row", "7,200 rpm ms", "NVMe ms"
    );
    for (name, definition) in [
        ("column", columns.clone()),
        ("pax, 1 MiB", columns.clone().in_blocks_of(1 << 20)),
        ("pax, 256 KiB", columns.clone().in_blocks_of(256 << 10)),
        ("pax, 64 KiB", columns.clone().in_blocks_of(64 << 10)),
        ("row", columns.clustered_by(&[ORDER_KEY, LINE_NUMBER])),
    ] {
        let file = file_of(definition, &batches)?;
        let (disk_ms, reads) = measure(&file, DeviceProfile::DISK_7200_RPM, &keys)?;
        let (nvme_ms, _) = measure(&file, DeviceProfile::NVME_SSD, &keys)?;
        let megabytes = file.len() as f64 / 1e6;
        println!("{name:14} {megabytes:10.2} {reads:9.2} {disk_ms:14.2} {nvme_ms:14.3}");
    }
    Ok(())
}
