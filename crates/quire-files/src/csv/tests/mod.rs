#![allow(clippy::unwrap_used)]

mod backslashes;
mod bad_input;
mod infer;
mod oracle;
mod shared_files;
mod sniffing;
mod values;
mod writing;

use std::io::Cursor;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use super::*;
use crate::{CopyControl, CopyError};

/// Random numbers that are the same in every run (xorshift64*).
pub(super) struct Random(pub u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 33) as usize % limit
    }
}

pub(super) fn schema(columns: &[(&str, DataType)]) -> SchemaRef {
    let field = |(name, data_type): &(&str, DataType)| Field::new(*name, data_type.clone(), true);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

pub(super) fn text_schema(columns: usize) -> SchemaRef {
    let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
    schema(
        &names
            .iter()
            .map(|name| (name.as_str(), DataType::Utf8View))
            .collect::<Vec<_>>(),
    )
}

pub(super) fn open(
    text: &[u8],
    options: &CsvOptions,
    declared: Option<&SchemaRef>,
) -> Result<CsvFile, CopyError> {
    let reader = Box::new(Cursor::new(text.to_vec()));
    CsvFile::from_reader(
        "test.csv",
        reader,
        options.clone(),
        declared.map(|s| s.as_ref()),
    )
}

pub(super) fn read(
    text: &[u8],
    options: &CsvOptions,
    declared: &SchemaRef,
) -> Result<RecordBatch, CopyError> {
    let control = CopyControl::default();
    let reader = open(text, options, Some(declared))?.read(declared, None, &control)?;
    let batches = reader.collect::<Result<Vec<_>, _>>()?;
    Ok(concat_batches(declared, &batches).unwrap())
}

/// Rows of a batch as CSV fields, by the writer: NULL is `None`.
pub(super) fn rows(batch: &RecordBatch) -> Vec<Vec<Option<String>>> {
    let options = CsvWriteOptions {
        header: false,
        ..CsvWriteOptions::default()
    };
    let control = CopyControl::default();
    let mut writer =
        CsvWriter::new(Vec::new(), "test", batch.schema_ref(), options, control).unwrap();
    writer.write(batch).unwrap();
    let (text, _) = writer.finish().unwrap();
    oracle::naive_records(&String::from_utf8(text).unwrap())
}

pub(super) fn no_header() -> CsvOptions {
    let delimiter = Delimiter::Byte(b',');
    CsvOptions {
        header: CsvFlag::No,
        delimiter,
        thread_count: 2,
        ..CsvOptions::default()
    }
}
