//! Appends CSV files with a header to a file, one table each, and shows what each column became, and what it follows.
//!
//! `cargo run --release -p quire-tables --example csv_tables -- FILE CSV …`
//!
//! A column is of integers, dates, times or numbers if all its fields are, else of text; empty fields are NULL.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{Array, ArrayRef, RecordBatch, StringViewArray};
use arrow::compute::cast;
use quire_store::{FileDisk, Volume, VolumeOptions};
use quire_tables::{ColumnDefinition, ColumnTable, Engine, SqlType, TableDefinition};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("usage: csv_tables FILE CSV …");
    let _ = std::fs::remove_file(&path);
    let disk = FileDisk::open_or_create(&path).unwrap();
    let volume = Volume::create(Arc::new(disk), VolumeOptions::default()).unwrap();
    let engine = Engine::open(volume).unwrap();
    for csv in arguments {
        let name = std::path::Path::new(&csv).file_stem().unwrap();
        let name = name.to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&csv).unwrap();
        let (definition, batch) = table_of(&name, &text);
        let start = Instant::now();
        let mut transaction = engine.begin().unwrap();
        transaction.create_table(definition).unwrap();
        let mut appender = transaction.appender(&name).unwrap();
        for row in (0..batch.num_rows()).step_by(8192) {
            let piece = batch.slice(row, 8192.min(batch.num_rows() - row));
            appender.append(&piece).unwrap();
        }
        let rows = appender.finish().unwrap();
        transaction.commit().unwrap();
        println!("{name}: {rows} rows in {:.2?}", start.elapsed());
        print_columns(&engine.snapshot().table(&name).unwrap().unwrap());
    }
    for finding in Engine::check(engine.volume()) {
        println!("{finding}");
    }
}

fn print_columns(table: &ColumnTable) {
    let columns = &table.definition().columns;
    let (mut all, mut all_alone) = (0, 0);
    for (index, column) in columns.iter().enumerate() {
        let (mut bytes, mut alone) = (0, 0);
        let mut told: Vec<String> = Vec::new();
        for row_group in 0..table.row_group_count() {
            let chunk = &table.row_group(row_group).unwrap().columns[index];
            let name = |column: usize| columns[column].name.as_str();
            let formula = chunk.relation.map(|relation| relation.formula(name));
            told.push(formula.unwrap_or_else(|| chunk.codec.name().to_owned()));
            bytes += chunk.encoded_bytes;
            alone += match (chunk.relation, chunk.runner_up) {
                (Some(_), Some((_, bytes))) => bytes,
                _ => chunk.encoded_bytes,
            };
        }
        println!(
            "  {:26} {:10} {bytes:10} bytes, alone {alone:10}  {told:?}",
            column.name,
            column.sql_type.to_string()
        );
        all += bytes;
        all_alone += alone;
    }
    println!("  all {all} bytes, alone {all_alone}");
}

fn table_of(name: &str, text: &str) -> (TableDefinition, RecordBatch) {
    let mut records = records(text).into_iter();
    let names = records.next().unwrap();
    let mut fields: Vec<Vec<Option<String>>> = names.iter().map(|_| Vec::new()).collect();
    for record in records {
        for (column, field) in fields.iter_mut().zip(record) {
            column.push(Some(field).filter(|field| !field.is_empty()));
        }
    }
    let mut columns = Vec::new();
    let mut arrays = Vec::new();
    for (name, fields) in names.into_iter().zip(fields) {
        let (sql_type, array) = typed(&StringViewArray::from(fields));
        arrays.push(array);
        columns.push(ColumnDefinition::new(name, sql_type));
    }
    let definition = TableDefinition::new(name, columns);
    let batch = RecordBatch::try_new(definition.arrow_schema(), arrays).unwrap();
    (definition, batch)
}

/// The first type that all fields can be cast to.
fn typed(fields: &StringViewArray) -> (SqlType, ArrayRef) {
    let has_zeros = |field: &str| field.len() > 1 && field.starts_with('0') && !field.contains('.');
    let is_code = fields.iter().flatten().any(has_zeros);
    let money = SqlType::Decimal {
        precision: 15,
        scale: 2,
    };
    let has_cents = |field: &str| {
        field
            .split_once('.')
            .is_none_or(|(_, cents)| cents.len() == 2)
    };
    let is_money = fields.iter().flatten().all(has_cents);
    let mut types = vec![
        SqlType::Integer,
        SqlType::BigInt,
        SqlType::Date,
        SqlType::Timestamp,
    ];
    if is_money {
        types.push(money);
    }
    types.push(SqlType::Double);
    for sql_type in types {
        let nulls = fields.iter().filter(Option::is_none).count();
        let is_possible = !is_code || matches!(sql_type, SqlType::Date | SqlType::Timestamp);
        if let Ok(array) = cast(fields, &sql_type.arrow_type())
            && array.null_count() == nulls
            && is_possible
            && nulls < fields.len()
        {
            return (sql_type, array);
        }
    }
    (SqlType::Text, Arc::new(fields.clone()))
}

/// Fields between commas, quoted ones with doubled quotes.
fn records(text: &str) -> Vec<Vec<String>> {
    let mut records = Vec::new();
    let mut record = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    let mut characters = text.chars().filter(|one| *one != '\r').peekable();
    while let Some(character) = characters.next() {
        match (character, quoted) {
            ('"', true) if characters.peek() == Some(&'"') => field.extend(characters.next()),
            ('"', _) => quoted = !quoted,
            (',', false) => record.push(std::mem::take(&mut field)),
            ('\n', false) => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            _ => field.push(character),
        }
    }
    records
}
