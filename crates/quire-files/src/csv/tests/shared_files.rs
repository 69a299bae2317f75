//! Real files: types as a person would give them, and no value changed by a round trip.

use std::path::PathBuf;

use super::*;
use arrow::datatypes::TimeUnit;

/// The data directory, from `QUIRE_SHARED` or beside the repository. Without it the tests are
/// skipped; in CI only where the whole folder around it is missing.
fn data_directory() -> Option<PathBuf> {
    let beside = || PathBuf::from("../../../shared");
    let root = std::env::var_os("QUIRE_SHARED").map_or_else(beside, PathBuf::from);
    let data = root.join("data");
    if data.is_dir() {
        return Some(data);
    }
    assert!(
        std::env::var_os("CI").is_none() || !root.is_dir(),
        "{} is missing; set QUIRE_SHARED",
        data.display()
    );
    eprintln!("skipped: {} is missing; set QUIRE_SHARED", data.display());
    None
}

/// Whether two texts are the same value of a type. Numbers of a DOUBLE column may be spelled in
/// another way, and a time may have a blank instead of `T`; everything else must be identical.
pub(super) fn same_value(before: &str, after: &str, data_type: &DataType) -> bool {
    if before == after {
        return true;
    }
    match data_type {
        DataType::Float64 => match (before.parse::<f64>(), after.parse::<f64>()) {
            (Ok(before_value), Ok(after_value)) => {
                let significant = before.split(['e', 'E']).next().unwrap_or_default();
                let digits = significant.trim_start_matches(['-', '0', '.']);
                let digits = digits.bytes().filter(u8::is_ascii_digit).count();
                let zeros = significant.bytes().rev().filter(|b| *b != b'.');
                let zeros = zeros.take_while(|b| *b == b'0').count();
                before_value.to_bits() == after_value.to_bits()
                    && digits.saturating_sub(zeros) <= 17
            }
            _ => false,
        },
        DataType::Timestamp(_, None) => before.replacen('T', " ", 1) == after,
        DataType::Boolean => before.eq_ignore_ascii_case(after),
        // Zeros may be added to reach the column's scale.
        DataType::Decimal128(..) => {
            let added = after.strip_prefix(before).unwrap_or("x");
            let added = if before.contains('.') {
                added
            } else {
                added.trim_start_matches('.')
            };
            added.bytes().all(|b| b == b'0')
        }
        _ => false,
    }
}

fn read_all(path: &std::path::Path, options: &CsvOptions) -> (SchemaRef, RecordBatch) {
    let control = CopyControl::default();
    let file = CsvFile::open(path, options.clone(), None).unwrap();
    let schema = file.infer_schema(&control).unwrap();
    let batches: Vec<_> = file
        .read(&schema, None, &control)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let batch = concat_batches(&schema, &batches).unwrap();
    (schema, batch)
}

/// Reads a file, writes it, and compares field by field with what a naive parser sees.
fn round_trip(path: &std::path::Path, expected_types: &[DataType]) {
    let options = CsvOptions {
        chunk_bytes: 100_000,
        ..CsvOptions::default()
    };
    let (schema, batch) = read_all(path, &options);
    let types: Vec<_> = schema
        .fields()
        .iter()
        .map(|f| f.data_type().clone())
        .collect();
    assert_eq!(types, expected_types, "{}", path.display());
    let text = std::fs::read_to_string(path).unwrap();
    let mut expected = oracle::naive_records(&text).into_iter();
    let header: Vec<String> = expected
        .next()
        .unwrap()
        .into_iter()
        .map(Option::unwrap)
        .collect();
    let names: Vec<_> = schema.fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(names, header);
    let written = rows(&batch);
    assert_eq!(written.len(), expected.len());
    for (line, (before, after)) in expected.zip(&written).enumerate() {
        for ((before, after), data_type) in before.iter().zip(after).zip(&types) {
            let same = match (before, after) {
                (Some(before), Some(after)) => same_value(before, after, data_type),
                (before, after) => before == after,
            };
            assert!(
                same,
                "{} row {line}: {before:?} became {after:?}",
                path.display()
            );
        }
    }
    crate::parquet::tests::assert_round_trip(&batch);
}

const T: DataType = DataType::Utf8View;
const I: DataType = DataType::Int64;
const F: DataType = DataType::Float64;
const D: DataType = DataType::Date32;
const TS: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

#[test]
fn tables_keep_every_value() {
    let Some(data) = data_directory() else { return };
    let table = |name: &str, types: &[DataType]| round_trip(&data.join("tables").join(name), types);
    table("all_data.csv", &[T, T, T, T]);
    // Region and province codes have leading zeros.
    table(
        "covid_italy_province.csv",
        &[TS, T, T, T, T, T, T, F, F, I, T, T, T, T],
    );
    table(
        "data_aging_congress.csv",
        &[I, D, T, T, I, T, T, D, I, I, I, F, T],
    );
    table(
        "historical_RAPTOR_by_player.csv",
        &[T, T, I, I, I, F, F, F, F, F, F, F, F, F, F],
    );
    table(
        "marvel-wikia-data.csv",
        &[I, T, T, T, T, T, T, T, T, T, I, T, I],
    );
}

#[test]
fn series_keep_every_value() {
    let Some(data) = data_directory() else { return };
    round_trip(&data.join("timeseries/nab.csv"), &[T, TS, F]);
}

/// All string files with their text, without a byte order mark.
fn string_files(data: &std::path::Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(data.join("strings")).unwrap();
    let files: Vec<_> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.trim_start_matches('\u{feff}').to_owned();
            (path, text)
        })
        .collect();
    assert!(files.len() >= 19);
    files
}

#[test]
fn lines_of_text_keep_every_value() {
    let Some(data) = data_directory() else {
        return;
    };
    let declared = schema(&[("value", T)]);
    let options = CsvOptions {
        quote: None,
        chunk_bytes: 50_000,
        ..CsvOptions::default()
    };
    for (path, text) in string_files(&data) {
        let file = CsvFile::open(&path, options.clone(), Some(&declared)).unwrap();
        let batches = file.read(&declared, None, &CopyControl::default()).unwrap();
        let batches: Vec<_> = batches.map(Result::unwrap).collect();
        let batch = concat_batches(&declared, &batches).unwrap();
        let expected = text
            .lines()
            .map(|line| (!line.is_empty()).then(|| line.to_owned()));
        let read = rows(&batch).into_iter().map(|row| row[0].clone());
        assert!(read.eq(expected), "{}", path.display());
        crate::parquet::tests::assert_round_trip(&batch);
    }
}

#[test]
fn quoted_columns_of_text_keep_every_value() {
    let Some(data) = data_directory() else {
        return;
    };
    for (path, text) in string_files(&data) {
        let lines: Vec<&str> = text.split('\n').collect();
        let quoted = lines
            .iter()
            .map(|line| format!("\"{}\"\n", line.replace('"', "\"\"")));
        let csv: String = quoted.collect();
        let file = open(csv.as_bytes(), &CsvOptions::default(), None).unwrap();
        let schema = file.infer_schema(&CopyControl::default()).unwrap();
        assert_eq!(schema.fields().len(), 1);
        let field = schema.field(0);
        assert_eq!((field.name().as_str(), field.data_type()), ("column1", &T));
        let batch = read(csv.as_bytes(), &CsvOptions::default(), &schema).unwrap();
        let read = rows(&batch).into_iter().map(|row| row[0].clone());
        let expected = lines.iter().map(|line| Some((*line).to_owned()));
        assert!(read.eq(expected), "{}", path.display());
    }
}
