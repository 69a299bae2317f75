//! Batches to text.

use super::*;
use crate::AtomicFile;
use arrow::array::*;
use std::io::Write;

fn written(batch: &RecordBatch, options: CsvWriteOptions) -> String {
    let control = CopyControl::default();
    let mut writer =
        CsvWriter::new(Vec::new(), "x.csv", batch.schema_ref(), options, control).unwrap();
    writer.write(batch).unwrap();
    let (text, row_count) = writer.finish().unwrap();
    assert_eq!(row_count, batch.num_rows() as u64);
    String::from_utf8(text).unwrap()
}

fn texts(values: &[Option<&str>]) -> RecordBatch {
    let array: ArrayRef = Arc::new(values.iter().copied().collect::<StringViewArray>());
    RecordBatch::try_from_iter_with_nullable([("t", array, true)]).unwrap()
}

#[test]
fn quotes_only_where_needed() {
    let values = [
        Some("a"),
        Some(""),
        None,
        Some("a,b"),
        Some("a\"b"),
        Some("a\nb"),
        Some("\r"),
    ];
    assert_eq!(
        written(&texts(&values), CsvWriteOptions::default()),
        "t\na\n\"\"\n\n\"a,b\"\n\"a\"\"b\"\n\"a\nb\"\n\"\r\"\n"
    );
    let options = CsvWriteOptions {
        delimiter: b';',
        quote: b'\'',
        escape: Some(b'\\'),
        header: false,
        null_string: "NULL".to_owned(),
        ..CsvWriteOptions::default()
    };
    let values = [
        Some("a;b"),
        Some("it's"),
        Some("a,b"),
        None,
        Some("NULL"),
        Some(""),
    ];
    assert_eq!(
        written(&texts(&values), options),
        "'a;b'\n'it\\'s'\na,b\nNULL\n'NULL'\n\n"
    );
}

#[test]
fn every_type_has_a_text() {
    let decimals = Decimal128Array::from(vec![1250])
        .with_precision_and_scale(6, 2)
        .unwrap();
    let batch = RecordBatch::try_from_iter([
        ("a", Arc::new(BooleanArray::from(vec![true])) as ArrayRef),
        ("b", Arc::new(Int16Array::from(vec![-1]))),
        ("c", Arc::new(Int32Array::from(vec![2]))),
        ("d", Arc::new(Int64Array::from(vec![i64::MIN]))),
        ("e", Arc::new(Float32Array::from(vec![0.5]))),
        ("f", Arc::new(Float64Array::from(vec![1e100]))),
        ("g", Arc::new(decimals)),
        ("h", Arc::new(Date32Array::from(vec![-1]))),
        ("i", Arc::new(TimestampMicrosecondArray::from(vec![1]))),
        (
            "j",
            Arc::new(TimestampMicrosecondArray::from(vec![1]).with_timezone("+00:00")),
        ),
        ("k", Arc::new(StringArray::from(vec!["x"]))),
        ("l", Arc::new(BinaryViewArray::from(vec![&b"\x00\xff"[..]]))),
    ])
    .unwrap();
    let options = CsvWriteOptions {
        header: false,
        ..CsvWriteOptions::default()
    };
    assert_eq!(
        written(&batch, options.clone()),
        "true,-1,2,-9223372036854775808,0.5,1e+100,12.50,1969-12-31,1970-01-01 00:00:00.000001,\
         1970-01-01 00:00:00.000001+00,x,\\x00ff\n"
    );
    // A delimiter that numbers contain forces quotes.
    let options = CsvWriteOptions {
        delimiter: b'-',
        ..options
    };
    assert!(written(&batch, options).starts_with("true-\"-1\"-2-"));
}

#[test]
fn what_is_written_is_read_back() {
    let values: Vec<Option<&str>> = vec![
        Some("plain"),
        Some(""),
        None,
        Some("\"quoted\""),
        Some(",\r\n"),
        Some("\u{feff}mark"),
        Some(" blank "),
        Some("a\"b"),
    ];
    let batch = texts(&values);
    let text = written(&batch, CsvWriteOptions::default());
    let options = CsvOptions {
        header: CsvFlag::Yes,
        ..no_header()
    };
    let back = read(text.as_bytes(), &options, &batch.schema()).unwrap();
    assert_eq!(back, batch);
}

#[test]
fn types_without_text_are_refused() {
    let schema = Schema::new(vec![Field::new("n", DataType::Null, true)]);
    let options = CsvWriteOptions::default();
    let writer = CsvWriter::new(Vec::new(), "x", &schema, options, CopyControl::default());
    let error = writer.map(|_| ()).unwrap_err().to_string();
    assert_eq!(error, "column \"n\" of type Null cannot be written as CSV");
}

#[test]
fn a_failed_export_leaves_nothing_and_a_finished_one_replaces() {
    let directory = std::env::temp_dir().join(format!("quire-atomic-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("out.csv");
    let listed = || std::fs::read_dir(&directory).unwrap().count();
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"one").unwrap();
    drop(file);
    assert_eq!(listed(), 0);
    for text in [&b"one"[..], b"two"] {
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(text).unwrap();
        file.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), text);
    }
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"three").unwrap();
    drop(file);
    assert_eq!(std::fs::read(&path).unwrap(), b"two");
    assert_eq!(listed(), 1);
    let error = AtomicFile::create(&directory).map(|_| ()).unwrap_err();
    assert!(matches!(error, CopyError::Directory { .. }));
    assert!(AtomicFile::create(&directory.join("missing/out.csv")).is_err());
    std::fs::remove_dir_all(&directory).unwrap();
}
