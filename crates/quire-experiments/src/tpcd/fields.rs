//! What the paper's compression saves of each field, and what making tuples takes.

use std::sync::Arc;

use quire::{SqlType, Value};
use quire_format::tuple::{
    TupleColumn, TupleCompression, TupleDictionary, TupleLayout, TupleType, TupleValue,
};

use crate::tpcd::BenchmarkFailure;
use crate::tpcd::both::Both;
use crate::tpcd::machine::processor_time;
use crate::tpcd::schema::{SchemaColumn, columns};
use crate::tpcd::warehouse::Warehouse;

/// The tables that are compressed.
const COMPRESSED: [&str; 6] = [
    "lineitem", "orders", "partsupp", "part", "customer", "supplier",
];

/// About so many rows of a table are looked at.
const SAMPLED_ROWS: u64 = 20_000;
const ENCODING_ROUNDS: usize = 5;
/// As many fields of one column as fill bytes whatever bits their codes have.
const COPIES: usize = 8;
/// 2000-01-01.
const BASE_DAYS: i32 = 10_957;

/// How a field is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldTechnique {
    /// A number, null-suppressed.
    Number,
    /// `CHAR(n)`, whose blanks are left out and whose length is null-suppressed.
    Blanks,
    /// The length of a `VARCHAR`; its text is not compressed.
    Length,
    /// A flag with a code of a dictionary.
    Flag,
}

/// Bytes of the fields of a column, on the average.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FieldBytes {
    pub(crate) name: &'static str,
    pub(crate) technique: FieldTechnique,
    /// Compressed and not. Of a `VARCHAR` without the text.
    pub(crate) bytes: Both<f64>,
    pub(crate) row_count: u64,
}

/// A table, by some of its rows.
#[derive(Clone, Debug)]
pub(crate) struct TableFieldSample {
    pub(crate) name: &'static str,
    pub(crate) fields: Vec<FieldBytes>,
    /// Nanoseconds of our processor for making a tuple.
    pub(crate) tuple_ns: Both<f64>,
    pub(crate) row_count: u64,
}

/// Looks at the compressed tables of a warehouse.
///
/// # Errors
/// When they cannot be read, or are not what the schema says.
pub(crate) fn sampled(
    warehouse: &mut Warehouse,
) -> Result<Vec<TableFieldSample>, BenchmarkFailure> {
    let tables = COMPRESSED.into_iter();
    tables.map(|name| sampled_table(warehouse, name)).collect()
}

fn sampled_table(
    warehouse: &mut Warehouse,
    name: &'static str,
) -> Result<TableFieldSample, BenchmarkFailure> {
    let damaged = || BenchmarkFailure::Sample { table: name };
    let columns = columns(name);
    let row_count = warehouse.row_count(name)?;
    let rows = sampled_rows(warehouse, name, &columns, row_count)?.ok_or_else(damaged)?;
    let mut fields = Vec::new();
    let (mut packed, mut plain) = (Vec::new(), Vec::new());
    for (at, column) in columns.iter().enumerate() {
        let values = || rows.iter().filter_map(|row| row.get(at));
        let values = || values().map(Value::as_tuple_value);
        let compression = compression(column, values()).ok_or_else(damaged)?;
        packed.push(tuple_column(column, compression).ok_or_else(damaged)?);
        plain.push(tuple_column(column, uncompressed(column)).ok_or_else(damaged)?);
        if let Some(technique) = technique(column) {
            let layouts = [&packed, &plain].map(|of| one_column(of.last()));
            let [Some(packed), Some(plain)] = layouts else {
                return Err(damaged());
            };
            let bytes = field_bytes(technique, [&packed, &plain], values());
            fields.push(FieldBytes {
                name: column.name,
                technique,
                bytes: bytes.ok_or_else(damaged)?,
                row_count,
            });
        }
    }
    let tuple_ns = [packed, plain].map(|columns| tuple_ns(&columns, &rows));
    let [Some(packed_ns), Some(plain_ns)] = tuple_ns else {
        return Err(damaged());
    };
    Ok(TableFieldSample {
        name,
        fields,
        tuple_ns: [packed_ns, plain_ns],
        row_count,
    })
}

/// Some rows of all parts of a table; nothing if they are of other types.
fn sampled_rows(
    warehouse: &mut Warehouse,
    table: &str,
    columns: &[SchemaColumn],
    row_count: u64,
) -> Result<Option<Vec<Vec<Value>>>, BenchmarkFailure> {
    let step = (row_count / SAMPLED_ROWS).max(1);
    let (mut rows, mut number, mut is_as_said) = (Vec::new(), 0_u64, true);
    warehouse.batches(&format!("SELECT * FROM {table}"), |batch| {
        for at in 0..batch.num_rows() {
            number += 1;
            if !(number - 1).is_multiple_of(step) {
                continue;
            }
            let values = columns.iter().zip(batch.columns());
            let values: Option<Vec<Value>> = values
                .map(|(column, array)| Value::of_array(array.as_ref(), at, column.sql_type))
                .collect();
            is_as_said &= values.is_some();
            rows.extend(values);
        }
    })?;
    Ok((is_as_said && !rows.is_empty()).then_some(rows))
}

/// Nothing of a date, which the paper does not compress.
fn technique(column: &SchemaColumn) -> Option<FieldTechnique> {
    Some(match column.sql_type {
        SqlType::Date => return None,
        _ if column.is_flag() => FieldTechnique::Flag,
        SqlType::Char(_) => FieldTechnique::Blanks,
        SqlType::VarChar(_) => FieldTechnique::Length,
        _ => FieldTechnique::Number,
    })
}

fn compression<'a>(
    column: &SchemaColumn,
    values: impl Iterator<Item = TupleValue<'a>>,
) -> Option<TupleCompression> {
    match technique(column) {
        None => Some(TupleCompression::None),
        Some(FieldTechnique::Flag) => {
            let mut entries: Vec<TupleValue<'_>> = Vec::new();
            for value in values {
                if !entries.contains(&value) {
                    entries.push(value);
                }
            }
            // One code is for other values.
            let code_bits = usize::BITS - entries.len().leading_zeros();
            let dictionary = TupleDictionary::new(TupleType::Text, code_bits, &entries).ok()?;
            Some(TupleCompression::OpenDictionary(Arc::new(dictionary)))
        }
        Some(_) => Some(TupleCompression::NullSuppressed),
    }
}

/// As rows of a table with `compression = none` have it: a `CHAR(n)` takes n bytes.
fn uncompressed(column: &SchemaColumn) -> TupleCompression {
    let width = match column.sql_type {
        SqlType::Char(length) => u8::try_from(length).ok(),
        _ => None,
    };
    width.map_or(TupleCompression::None, |bytes| TupleCompression::Padded {
        bytes,
    })
}

fn tuple_column(column: &SchemaColumn, compression: TupleCompression) -> Option<TupleColumn> {
    let column_type = match column.sql_type {
        SqlType::Integer => TupleType::Int32,
        SqlType::BigInt => TupleType::Int64,
        SqlType::Decimal { precision, .. } => TupleType::Int128 { digits: precision },
        SqlType::Date => TupleType::Date {
            base_days: BASE_DAYS,
        },
        SqlType::Char(_) | SqlType::VarChar(_) => TupleType::Text,
        _ => return None,
    };
    Some(TupleColumn {
        column_type,
        nullable: false,
        compression,
    })
}

fn one_column(column: Option<&TupleColumn>) -> Option<TupleLayout> {
    TupleLayout::new(&vec![column?.clone(); COPIES]).ok()
}

fn field_bytes<'a>(
    technique: FieldTechnique,
    layouts: Both<&TupleLayout>,
    values: impl Iterator<Item = TupleValue<'a>>,
) -> Option<Both<f64>> {
    let (mut sums, mut count) = ([0.0; 2], 0.0_f64);
    for value in values {
        let text_bytes = match (value, technique) {
            (TupleValue::Bytes(text), FieldTechnique::Length) => text.len() as f64,
            _ => 0.0,
        };
        for (sum, layout) in sums.iter_mut().zip(layouts) {
            let bytes = layout.encoded_bytes(&[value; COPIES]).ok()?;
            *sum += bytes as f64 / COPIES as f64 - text_bytes;
        }
        count += 1.0;
    }
    Some(sums.map(|sum| sum / count.max(1.0)))
}

/// The least processor time of some rounds, in nanoseconds a tuple.
fn tuple_ns(columns: &[TupleColumn], rows: &[Vec<Value>]) -> Option<f64> {
    let layout = TupleLayout::new(columns).ok()?;
    let mut best_ns = f64::INFINITY;
    let rows: Vec<Vec<TupleValue<'_>>> = rows
        .iter()
        .map(|row| row.iter().map(Value::as_tuple_value).collect())
        .collect();
    let mut tuple = Vec::new();
    for _ in 0..ENCODING_ROUNDS {
        let start = processor_time();
        for row in &rows {
            tuple.clear();
            layout.encode(row, &mut tuple).ok()?;
            std::hint::black_box(&tuple);
        }
        let ns = (processor_time().saturating_sub(start)).as_secs_f64() * 1e9;
        best_ns = best_ns.min(ns / rows.len().max(1) as f64);
    }
    Some(best_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(name: &str, sql_type: SqlType, values: &[TupleValue<'static>]) -> Both<f64> {
        let name: &'static str = match name {
            "flag" => "l_returnflag",
            _ => "l_comment",
        };
        let column = SchemaColumn { name, sql_type };
        let technique = technique(&column).expect("a technique");
        let compression = compression(&column, values.iter().copied()).expect("a compression");
        let layouts = [compression, uncompressed(&column)].map(|compression| {
            let column = tuple_column(&column, compression);
            one_column(column.as_ref()).expect("a layout")
        });
        let [packed, plain] = &layouts;
        field_bytes(technique, [packed, plain], values.iter().copied()).expect("bytes")
    }

    /// By hand, from section 3.2 of the paper: the bytes that matter, and the bits of the length code.
    #[test]
    fn fields_take_the_bytes_of_the_paper() {
        // Two bits say how many of 4 bytes are there.
        let numbers = [7, 700, 70_000].map(TupleValue::Integer);
        let [packed, plain] = bytes_of("", SqlType::Integer, &numbers);
        // 70,000 needs 3 bytes, 700 two, 7 one.
        assert_eq!((packed, plain), (2.0 + 0.25, 4.0));
        // A CHAR(25) that is not compressed takes 25 bytes.
        let texts = [TupleValue::Bytes(b"four")];
        let [packed, plain] = bytes_of("", SqlType::Char(25), &texts);
        assert!(packed < 6.0 && plain == 25.0, "{packed}");
        // Of a VARCHAR the length counts only.
        let [packed, plain] = bytes_of("", SqlType::VarChar(25), &texts);
        assert!(packed < 2.0 && plain == 4.0, "{packed}");
        // A code of 2 bits, of which a byte holds four, and a length code of 3, of which it holds two: there may be a value without a code.
        let flags = [b"A", b"N", b"R"].map(|flag| TupleValue::Bytes(flag));
        let [packed, plain] = bytes_of("flag", SqlType::Char(1), &flags);
        assert_eq!((packed, plain), (0.25 + 0.5, 1.0));
    }
}
