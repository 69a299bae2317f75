#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::*;
use arrow::compute::concat_batches;
use arrow::datatypes::*;
use parquet::arrow::ArrowWriter;

use super::*;
use crate::{AtomicFile, CopyControl, CopyError};

type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// A file that is removed when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("quire-parquet-{}-{number}.parquet", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn with(bytes: &[u8]) -> Self {
        let scratch = Self::new();
        std::fs::write(&scratch.0, bytes).unwrap();
        scratch
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn read_path(
    path: &std::path::Path,
    projection: Option<&[usize]>,
) -> Result<RecordBatch, CopyError> {
    let file = ParquetFile::open(path)?;
    let reader = file.read(projection, 2, &CopyControl::default())?;
    let all: Vec<usize> = (0..file.schema().fields().len()).collect();
    let schema = Arc::new(file.schema().project(projection.unwrap_or(&all)).unwrap());
    let batches = reader.collect::<Result<Vec<_>, _>>()?;
    Ok(concat_batches(&schema, &batches).unwrap())
}

fn read_bytes(bytes: &[u8]) -> Result<RecordBatch, CopyError> {
    read_path(&Scratch::with(bytes).0, None)
}

/// Bytes of a file written by the Parquet library itself.
fn foreign(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// Writes a batch, reads it back, and demands the same types and values.
pub fn assert_round_trip(batch: &RecordBatch) {
    let scratch = Scratch::new();
    let output = AtomicFile::create(&scratch.0).unwrap();
    let options = ParquetWriteOptions {
        row_group_rows: 10_000,
        ..ParquetWriteOptions::default()
    };
    let control = CopyControl::default();
    let schema = batch.schema();
    let mut writer = ParquetWriter::new(output, "x", &schema, options, control).unwrap();
    let mut start = 0;
    while start < batch.num_rows() {
        let rows = (batch.num_rows() - start).min(7_001);
        writer.write(&batch.slice(start, rows)).unwrap();
        start += rows;
    }
    let (output, row_count) = writer.finish().unwrap();
    output.commit().unwrap();
    assert_eq!(row_count, batch.num_rows() as u64);
    let back = read_path(&scratch.0, None).unwrap();
    assert!(back == *batch, "a value or type changed");
}

fn every_type() -> RecordBatch {
    let decimals = Decimal128Array::from(vec![Some(1250), None, Some(-(10i128.pow(38) - 1))]);
    let decimals = decimals.with_precision_and_scale(38, 2).unwrap();
    let times = TimestampMicrosecondArray::from(vec![Some(i64::MIN), None, Some(-1)]);
    let long = "ü".repeat(40);
    let bytes = [Some(&b"\x00\xff"[..]), None, Some(&[7u8; 40][..])];
    let columns: [ArrayRef; 12] = [
        Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
        Arc::new(Int16Array::from(vec![Some(-1), None, Some(i16::MAX)])),
        Arc::new(Int32Array::from(vec![Some(2), None, Some(i32::MIN)])),
        Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(0)])),
        Arc::new(Float32Array::from(vec![
            Some(0.1),
            None,
            Some(f32::INFINITY),
        ])),
        Arc::new(Float64Array::from(vec![Some(-0.0), None, Some(1e-300)])),
        Arc::new(decimals),
        Arc::new(Date32Array::from(vec![
            Some(-719_163),
            None,
            Some(2_932_897),
        ])),
        Arc::new(times.clone()),
        Arc::new(times.with_timezone("+00:00")),
        Arc::new(StringViewArray::from(vec![
            Some(""),
            None,
            Some(long.as_str()),
        ])),
        Arc::new(BinaryViewArray::from_iter(bytes)),
    ];
    let names: Vec<String> = (0..columns.len()).map(|n| format!("c{n}")).collect();
    let named = names
        .iter()
        .zip(columns)
        .map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(named).unwrap()
}

#[test]
fn every_type_comes_back() {
    assert_round_trip(&every_type());
    assert_round_trip(&every_type().slice(0, 0));
}

#[test]
fn row_groups_come_in_order() {
    let values: ArrayRef = Arc::new((0..100_000).map(Some).collect::<Int64Array>());
    let batch = RecordBatch::try_from_iter_with_nullable([("n", values, true)]).unwrap();
    assert_round_trip(&batch);
}

#[test]
fn projections_pick_and_order() {
    let bytes = foreign(vec![
        ("a", Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef),
        ("b", Arc::new(Int64Array::from(vec![3, 4]))),
        ("c", Arc::new(Int64Array::from(vec![5, 6]))),
    ]);
    let scratch = Scratch::with(&bytes);
    let batch = read_path(&scratch.0, Some(&[2, 0])).unwrap();
    assert_eq!(batch.schema().field(0).name(), "c");
    assert_eq!(
        batch.column(0).as_primitive::<Int64Type>().values(),
        &[5, 6]
    );
    assert_eq!(
        batch.column(1).as_primitive::<Int64Type>().values(),
        &[1, 2]
    );
    let file = ParquetFile::open(&scratch.0).unwrap();
    let mut reader = file.read(Some(&[]), 1, &CopyControl::default()).unwrap();
    assert_eq!(reader.next_batch().unwrap().unwrap().num_rows(), 2);
    assert!(file.read(Some(&[3]), 1, &CopyControl::default()).is_err());
}

fn whole(batch: &RecordBatch, name: &str) -> Vec<i64> {
    let array = arrow::compute::cast(&batch[name], &DataType::Int64);
    array.unwrap().as_primitive::<Int64Type>().values().to_vec()
}

#[test]
fn foreign_numbers_become_ours_without_changing_a_value() {
    let halves = Float16Array::from(vec![Half::from_f32(1.5), Half::from_f32(-2.0), Half::ONE]);
    let batch = read_bytes(&foreign(vec![
        (
            "i8",
            Arc::new(Int8Array::from(vec![-128, 0, 127])) as ArrayRef,
        ),
        ("u8", Arc::new(UInt8Array::from(vec![0, 1, 255]))),
        ("u16", Arc::new(UInt16Array::from(vec![0, 1, 65_535]))),
        ("u32", Arc::new(UInt32Array::from(vec![0, 1, u32::MAX]))),
        ("u64", Arc::new(UInt64Array::from(vec![0, 1, u64::MAX]))),
        ("f16", Arc::new(halves)),
    ]))
    .unwrap();
    assert_eq!(whole(&batch, "i8"), [-128, 0, 127]);
    assert_eq!(whole(&batch, "u8"), [0, 1, 255]);
    assert_eq!(whole(&batch, "u16"), [0, 1, 65_535]);
    assert_eq!(whole(&batch, "u32"), [0, 1, 4_294_967_295]);
    let u64s = batch["u64"].as_primitive::<Decimal128Type>().values();
    assert_eq!(u64s[2], 18_446_744_073_709_551_615);
    assert_eq!(
        batch["f16"].as_primitive::<Float32Type>().values(),
        &[1.5, -2.0, 1.0]
    );
}

#[test]
fn foreign_texts_become_ours() {
    let texts: DictionaryArray<Int32Type> = vec!["x", "y", "x"].into_iter().collect();
    let fixed = FixedSizeBinaryArray::try_from_iter([[1u8, 2], [3, 4], [5, 6]].iter()).unwrap();
    let batch = read_bytes(&foreign(vec![
        (
            "large",
            Arc::new(LargeStringArray::from(vec!["a", "b", "c"])) as ArrayRef,
        ),
        ("dictionary", Arc::new(texts)),
        ("fixed", Arc::new(fixed)),
    ]))
    .unwrap();
    assert_eq!(batch["large"].as_string_view().value(2), "c");
    assert_eq!(batch["dictionary"].as_string_view().value(2), "x");
    assert_eq!(batch["fixed"].as_binary_view().value(1), [3, 4]);
}

#[test]
fn foreign_times_become_ours_without_changing_a_value() {
    let day = 86_400_000;
    let zoned = TimestampMillisecondArray::from(vec![0, 1, 2]).with_timezone("+02:00");
    let times = vec![0, 3_661_000_001, 86_399_500_000];
    let batch = read_bytes(&foreign(vec![
        (
            "date64",
            Arc::new(Date64Array::from(vec![0, day, -day])) as ArrayRef,
        ),
        (
            "seconds",
            Arc::new(TimestampSecondArray::from(vec![0, 1, -1])),
        ),
        (
            "ms",
            Arc::new(TimestampMillisecondArray::from(vec![0, 1, -1])),
        ),
        (
            "ns",
            Arc::new(TimestampNanosecondArray::from(vec![0, 1_000, -5_000])),
        ),
        ("zone", Arc::new(zoned)),
        ("time", Arc::new(Time64MicrosecondArray::from(times))),
    ]))
    .unwrap();
    assert_eq!(
        batch["date64"].as_primitive::<Date32Type>().values(),
        &[0, 1, -1]
    );
    let microseconds = |name: &str| {
        batch[name]
            .as_primitive::<TimestampMicrosecondType>()
            .values()
            .to_vec()
    };
    assert_eq!(microseconds("seconds"), [0, 1_000_000, -1_000_000]);
    assert_eq!(microseconds("ms"), [0, 1_000, -1_000]);
    assert_eq!(microseconds("ns"), [0, 1, -5]);
    assert_eq!(microseconds("zone"), [0, 1_000, 2_000]);
    let zone = batch["zone"].data_type().clone();
    assert_eq!(
        zone,
        DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into()))
    );
    let times: Vec<_> = batch["time"].as_string_view().iter().flatten().collect();
    assert_eq!(times, ["00:00:00", "01:01:01.000001", "23:59:59.5"]);
}

#[test]
fn what_would_lose_or_has_no_type_is_refused_by_name() {
    let error = |column: ArrayRef| read_bytes(&foreign(vec![("c", column)])).unwrap_err();
    let shown = |error: CopyError| {
        let text = error.to_string();
        text[text.find("column").unwrap()..].to_owned()
    };
    let nanoseconds = Arc::new(TimestampNanosecondArray::from(vec![0, 1_001]));
    assert_eq!(
        shown(error(nanoseconds)),
        "column \"c\": timestamp 1001 ns since 1970 has digits beyond microseconds, which \
         TIMESTAMP would lose; round the column before"
    );
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)])]);
    assert_eq!(
        shown(error(Arc::new(list))),
        "column \"c\": is nested (a list, struct or map); flatten it before"
    );
    let wide = Decimal256Array::from(vec![i256::ONE])
        .with_precision_and_scale(50, 2)
        .unwrap();
    assert_eq!(
        shown(error(Arc::new(wide))),
        "column \"c\": Decimal256(50, 2) has more than 38 digits; cast the column before"
    );
}

#[test]
fn files_that_are_no_parquet_files_are_refused() {
    let missing = ParquetFile::open("no/such/file.parquet".as_ref())
        .map(|_| ())
        .unwrap_err();
    assert_eq!(missing.sqlstate(), "58P01");
    let directory = ParquetFile::open(&std::env::temp_dir())
        .map(|_| ())
        .unwrap_err();
    assert!(matches!(directory, CopyError::Directory { .. }));
    assert!(matches!(read_bytes(b""), Err(CopyError::Empty { .. })));
    for bytes in [&b"a,b\n1,2\n"[..], b"PAR1", b"PAR1PAR1", &[0; 100]] {
        let text = read_bytes(bytes).unwrap_err().to_string();
        assert!(
            text.contains(".parquet\": not a Parquet file, truncated or damaged: "),
            "{text}"
        );
    }
}

fn small_file() -> Vec<u8> {
    let numbers: Int64Array = (0..300).map(|n| (n % 7 > 0).then_some(n)).collect();
    let texts: StringArray = (0..300).map(|n| Some(format!("text {}", n % 50))).collect();
    foreign(vec![
        ("n", Arc::new(numbers) as ArrayRef),
        ("t", Arc::new(texts)),
    ])
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let bytes = small_file();
    for length in 0..bytes.len() {
        assert!(read_bytes(&bytes[..length]).is_err(), "cut at {length}");
    }
}

#[test]
fn changed_bytes_give_an_answer_or_an_error_but_no_panic() {
    let bytes = small_file();
    for position in 0..bytes.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[position] ^= change;
            // A flipped bit of a value is no error: the pages carry no checksum.
            let _ = read_bytes(&changed);
        }
    }
}
