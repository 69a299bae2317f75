//! Nanoseconds per row of TPC-H `lineitem` as keys and tuples: `cargo run --release -p quire-tables --example
//! row_table_speed`. Each figure is the best of some rounds that are taken in turns. *Copy* is the peer: the time to
//! gather the same entries byte by byte into one buffer, which everything that reads them pays.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use quire_codec::Corrupt;
use quire_tables::SqlType;
use quire_tables::row_table::{
    BatchBuilder, ColumnArray, EncodedRow, FieldStorage, PrimaryKeyPart, RowBuffer, RowColumn,
    RowError, RowLayout, RowLayoutSpec, RowSection, TupleValue,
};
use tpchgen::generators::LineItemGenerator;
use tpchgen_arrow::LineItemArrow;

const ROUNDS: usize = 15;
const BATCH_ROWS: usize = 8192;

type Failure = Box<dyn std::error::Error>;
type Entry = (Vec<u8>, Vec<u8>);

fn main() -> Result<(), Failure> {
    let source = LineItemArrow::new(LineItemGenerator::new(0.01, 1, 1));
    let source = source.with_batch_size(BATCH_ROWS);
    let batches = source.take(4).collect::<Result<Vec<_>, _>>()?;
    println!(
        "{:36} {:>10} {:>10}",
        "ns a row, best round", "plain", "compressed"
    );
    let plain = Lineitem::new(&batches, FieldStorage::Plain)?.measure()?;
    let compressed = Lineitem::new(&batches, FieldStorage::NullSuppressed)?.measure()?;
    for ((what, plain), (_, compressed)) in plain.iter().zip(&compressed) {
        println!("{what:36} {plain:10.1} {compressed:10.1}");
    }
    Ok(())
}

struct Lineitem {
    layout: Arc<RowLayout>,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    entries: Vec<Entry>,
}

fn sql_type(data_type: &DataType) -> Result<SqlType, Failure> {
    Ok(match data_type {
        DataType::Int32 => SqlType::Integer,
        DataType::Int64 => SqlType::BigInt,
        DataType::Date32 => SqlType::Date,
        DataType::Utf8View => SqlType::Text,
        &DataType::Decimal128(precision, scale) => SqlType::Decimal {
            precision,
            scale: scale as u8,
        },
        other => return Err(format!("no SQL type for {other}").into()),
    })
}

impl Lineitem {
    fn new(batches: &[RecordBatch], storage: FieldStorage) -> Result<Self, Failure> {
        let schema = batches.first().ok_or("no rows")?.schema();
        let column = |field: &Arc<Field>| {
            Ok::<_, Failure>(RowColumn {
                sql_type: sql_type(field.data_type())?,
                nullable: false,
                storage: storage.clone(),
                key_code: None,
                dropped: false,
            })
        };
        let columns = schema.fields().iter().map(column);
        let key = |ordinal| PrimaryKeyPart {
            ordinal,
            descending: false,
        };
        // (l_orderkey, l_linenumber)
        let layout = RowLayout::new(&RowLayoutSpec {
            sections: vec![RowSection {
                columns: columns.collect::<Result<_, _>>()?,
                missing: Vec::new(),
            }],
            primary_key: vec![key(0), key(3)],
            page_bytes: 16 << 10,
        })?;
        let mut lineitem = Self {
            layout: Arc::new(layout),
            schema,
            batches: batches.to_vec(),
            entries: Vec::new(),
        };
        let mut entries = Vec::new();
        lineitem.encode(|row| entries.push((row.key.clone(), row.tuple.clone())))?;
        lineitem.entries = entries;
        Ok(lineitem)
    }

    fn encode(&self, mut visit: impl FnMut(&EncodedRow)) -> Result<(), RowError> {
        let mut row = EncodedRow::default();
        for batch in &self.batches {
            let columns = batch.columns().iter().enumerate();
            let columns = columns.filter_map(|(ordinal, array)| {
                ColumnArray::new(self.layout.sql_type(ordinal)?, array.as_ref())
            });
            let columns: Vec<ColumnArray<'_>> = columns.collect();
            let mut values = vec![TupleValue::Null; columns.len()];
            for index in 0..batch.num_rows() {
                for (value, column) in values.iter_mut().zip(&columns) {
                    *value = column.value(index);
                }
                self.layout.encode_row(&values, 0, &mut row)?;
                visit(&row);
            }
        }
        Ok(())
    }

    fn decode(&self, projection: &[usize]) -> Result<(), Failure> {
        let fields = projection.iter().map(|&at| self.schema.field(at).clone());
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let layout = Arc::clone(&self.layout);
        let mut builder = BatchBuilder::new(layout, projection, false, schema)?;
        for (key, tuple) in &self.entries {
            builder.push(key, tuple);
            if builder.is_full() {
                black_box(builder.finish(nothing)?);
            }
        }
        black_box(builder.finish(nothing)?);
        Ok(())
    }

    fn copy(&self) {
        let mut bytes = Vec::new();
        for entries in self.entries.chunks(BATCH_ROWS) {
            bytes.clear();
            for (key, tuple) in entries {
                bytes.extend_from_slice(key);
                bytes.extend_from_slice(tuple);
            }
            black_box(&mut bytes);
        }
    }

    fn decode_rows(&self) -> Result<(), Corrupt> {
        for (key, tuple) in &self.entries {
            let (mut buffer, mut values) = (RowBuffer::default(), Vec::new());
            self.layout
                .decode_row(key, tuple, &mut buffer, nothing, &mut values)?;
            black_box(&values);
        }
        Ok(())
    }

    fn measure(&self) -> Result<Vec<(String, f64)>, Failure> {
        let all: Vec<usize> = (0..self.schema.fields().len()).collect();
        type Work<'a> = Box<dyn Fn() -> Result<(), Failure> + 'a>;
        let decode =
            |projection: Vec<usize>| -> Work<'_> { Box::new(move || self.decode(&projection)) };
        let works: Vec<(&str, Work<'_>)> = vec![
            (
                "copy",
                Box::new(|| {
                    self.copy();
                    Ok(())
                }),
            ),
            (
                "encode a batch",
                Box::new(|| {
                    Ok(self.encode(|row| {
                        black_box(row);
                    })?)
                }),
            ),
            ("decode to Arrow, all 16 columns", decode(all)),
            (
                "decode to Arrow, 8 numbers and dates",
                decode(vec![1, 4, 5, 6, 7, 10, 11, 12]),
            ),
            ("decode to Arrow, quantity, price", decode(vec![4, 5])),
            ("decode to Arrow, shipdate, comment", decode(vec![10, 15])),
            ("decode to Arrow, both keys", decode(vec![0, 3])),
            (
                "decode rows one by one",
                Box::new(|| Ok(self.decode_rows()?)),
            ),
        ];
        let mut best = vec![f64::INFINITY; works.len()];
        for _ in 0..ROUNDS {
            for ((_, work), best) in works.iter().zip(&mut best) {
                let start = Instant::now();
                work()?;
                let ns = start.elapsed().as_nanos() as f64 / self.entries.len() as f64;
                *best = best.min(ns);
            }
        }
        let bytes = |part: fn(&Entry) -> usize| {
            self.entries.iter().map(part).sum::<usize>() as f64 / self.entries.len() as f64
        };
        let mut results = vec![
            ("bytes of a key".to_owned(), bytes(|entry| entry.0.len())),
            ("bytes of a tuple".to_owned(), bytes(|entry| entry.1.len())),
        ];
        let names = works.iter().map(|(what, _)| (*what).to_owned());
        results.extend(names.zip(best));
        Ok(results)
    }
}

fn nothing(_: &[u8], _: &mut Vec<u8>) -> Result<bool, Corrupt> {
    Ok(false)
}
