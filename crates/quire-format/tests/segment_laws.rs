//! The laws of the codecs, for whole segments: every codec, every type, NULLs in every pattern, and damage.
#![allow(clippy::unwrap_used)] // A test may panic: that is how it fails.

use std::ops::RangeInclusive;

use proptest::prelude::*;
use quire_codec::{
    BytesSlice, BytesVector, CodecId, CodecScalar, Corrupt, PhysicalType, RowGroupValues,
};
use quire_format::segment::{
    ChooseOptions, IntegerRuns, SegmentInput, SegmentReader, choose_and_encode, encode_segment,
};

/// A column, owned; strings as vectors.
#[derive(Clone, Debug)]
enum Column {
    Bool(Vec<bool>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int128(Vec<i128>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Bytes(BytesVector),
}

impl Column {
    /// A column of `physical_type` made of numbers.
    fn from_numbers(physical_type: PhysicalType, numbers: &[i64]) -> Self {
        match physical_type {
            PhysicalType::Bool => {
                Self::Bool(numbers.iter().map(|number| number % 3 == 0).collect())
            }
            PhysicalType::Int16 => {
                Self::Int16(numbers.iter().map(|&number| number as i16).collect())
            }
            PhysicalType::Int32 => {
                Self::Int32(numbers.iter().map(|&number| number as i32).collect())
            }
            PhysicalType::Int64 => Self::Int64(numbers.to_vec()),
            PhysicalType::Int128 => Self::Int128(
                numbers
                    .iter()
                    .map(|&number| i128::from(number) * 3)
                    .collect(),
            ),
            PhysicalType::Float32 => {
                Self::Float32(numbers.iter().map(|&number| number as f32 / 10.0).collect())
            }
            PhysicalType::Float64 => Self::Float64(
                numbers
                    .iter()
                    .map(|&number| number as f64 / 100.0)
                    .collect(),
            ),
            PhysicalType::Bytes => {
                let mut strings = BytesVector::new();
                for number in numbers {
                    strings.push(format!("text {number}").as_bytes()).unwrap();
                }
                Self::Bytes(strings)
            }
        }
    }

    fn values(&self) -> RowGroupValues<'_> {
        match self {
            Self::Bool(values) => RowGroupValues::Bool(values),
            Self::Int16(values) => RowGroupValues::Int16(values),
            Self::Int32(values) => RowGroupValues::Int32(values),
            Self::Int64(values) => RowGroupValues::Int64(values),
            Self::Int128(values) => RowGroupValues::Int128(values),
            Self::Float32(values) => RowGroupValues::Float32(values),
            Self::Float64(values) => RowGroupValues::Float64(values),
            Self::Bytes(values) => RowGroupValues::Bytes(values.as_slice()),
        }
    }

    fn scalar(&self, row: usize) -> CodecScalar {
        match self {
            Self::Bool(values) => CodecScalar::Bool(values[row]),
            Self::Int16(values) => CodecScalar::Int16(values[row]),
            Self::Int32(values) => CodecScalar::Int32(values[row]),
            Self::Int64(values) => CodecScalar::Int64(values[row]),
            Self::Int128(values) => CodecScalar::Int128(values[row]),
            Self::Float32(values) => CodecScalar::Float32(values[row]),
            Self::Float64(values) => CodecScalar::Float64(values[row]),
            Self::Bytes(values) => CodecScalar::Bytes(values.as_slice().get(row).to_vec()),
        }
    }
}

/// Decodes a vector of any type into scalars.
fn decode(reader: &mut SegmentReader, vector: usize) -> Result<Vec<CodecScalar>, Corrupt> {
    macro_rules! decode {
        ($method:ident, $zero:expr, $variant:ident) => {{
            let mut out = [$zero; 1024];
            let rows = reader.$method(vector, &mut out)?;
            Ok(out[..rows]
                .iter()
                .map(|&value| CodecScalar::$variant(value))
                .collect())
        }};
    }
    match reader.physical_type() {
        PhysicalType::Bool => decode!(decode_bool, false, Bool),
        PhysicalType::Int16 => decode!(decode_i16, 0i16, Int16),
        PhysicalType::Int32 => decode!(decode_i32, 0i32, Int32),
        PhysicalType::Int64 => decode!(decode_i64, 0i64, Int64),
        PhysicalType::Int128 => decode!(decode_i128, 0i128, Int128),
        PhysicalType::Float32 => decode!(decode_f32, 0f32, Float32),
        PhysicalType::Float64 => decode!(decode_f64, 0f64, Float64),
        PhysicalType::Bytes => {
            let mut out = BytesVector::new();
            out.push(b"rows before stay").unwrap();
            let rows = reader.decode_bytes(vector, &mut out)?;
            let slice: BytesSlice<'_> = out.as_slice();
            assert_eq!(slice.get(0), b"rows before stay");
            Ok((1..=rows)
                .map(|row| CodecScalar::Bytes(slice.get(row).to_vec()))
                .collect())
        }
    }
}

fn is_valid(validity: Option<&[u64]>, row: usize) -> bool {
    validity.is_none_or(|words| words[row / 64] >> (row % 64) & 1 != 0)
}

/// The value of an integer of 16 to 64 bits.
fn integer(scalar: &CodecScalar) -> Option<i64> {
    match scalar {
        CodecScalar::Int128(_) => None,
        _ => i64::try_from(scalar.as_integer()?).ok(),
    }
}

/// Runs, of integers under RLE alone, are the decoded values written shorter.
fn runs_agree(reader: &mut SegmentReader, vector: usize, scalars: &[CodecScalar], about: &str) {
    let integers: Option<Vec<i64>> = scalars.iter().map(integer).collect();
    let mut runs = IntegerRuns::default();
    let has_runs = reader.append_runs(vector, &mut runs).unwrap();
    let is_stored = integers.is_some() && reader.codec() == CodecId::Rle;
    assert_eq!(has_runs, is_stored, "{about}");
    assert_eq!(has_runs, !runs.values.is_empty(), "{about}");
    if has_runs {
        let runs = runs.values.iter().zip(&runs.lengths);
        let rows = runs.flat_map(|(value, length)| vec![*value; usize::from(*length)]);
        assert_eq!(Some(rows.collect()), integers, "{about}");
        assert!(
            reader
                .append_runs(reader.vector_count(), &mut IntegerRuns::default())
                .is_err(),
            "{about}"
        );
    }
}

/// The rows of a range are those whose decoded integers lie in it; other types have none.
fn ranges_agree(reader: &mut SegmentReader, vector: usize, scalars: &[CodecScalar], about: &str) {
    let mut mask = [0; 16];
    let integers: Option<Vec<i64>> = scalars.iter().map(integer).collect();
    let Some(integers) = integers else {
        let all = i64::MIN..=i64::MAX;
        assert!(
            reader.select_range(vector, all, &mut mask).is_err(),
            "{about}"
        );
        return;
    };
    let (one, other) = (integers[0], integers[integers.len() / 2]);
    let beyond = i64::from(i32::MAX) + 1;
    for range in [
        one..=one,
        one.min(other)..=one.max(other),
        i64::MIN..=one,
        other..=i64::MAX,
        i64::MIN..=i64::MAX,
        beyond..=i64::MAX,
        i64::MIN..=-beyond - 1,
        RangeInclusive::new(i64::MAX, i64::MIN),
    ] {
        let rows = reader.select_range(vector, range.clone(), &mut mask);
        assert_eq!(rows.unwrap(), integers.len(), "{about}");
        for (row, value) in integers.iter().enumerate() {
            let is_marked = mask[row / 64] >> (row % 64) & 1 == 1;
            assert_eq!(
                is_marked,
                range.contains(value),
                "{about}, {range:?}, row {row}"
            );
        }
    }
}

/// Single values, codes and strings of some rows are those of the vector. What follows other columns has none, but strings of some rows.
fn single_values_agree(
    reader: &mut SegmentReader,
    vector: usize,
    scalars: &[CodecScalar],
    about: &str,
) {
    let rows = [0, scalars.len() / 3, scalars.len() / 2, scalars.len() - 1];
    let first = vector * 1024;
    let mut codes = [0; 1024];
    let has_codes = reader.decode_codes(vector, &mut codes).is_ok();
    for row in rows {
        let value = match reader.physical_type() {
            PhysicalType::Bool => reader.value_bool(first + row).map(CodecScalar::Bool),
            PhysicalType::Int16 => reader.value_i16(first + row).map(CodecScalar::Int16),
            PhysicalType::Int32 => reader.value_i32(first + row).map(CodecScalar::Int32),
            PhysicalType::Int64 => reader.value_i64(first + row).map(CodecScalar::Int64),
            PhysicalType::Int128 => reader.value_i128(first + row).map(CodecScalar::Int128),
            PhysicalType::Float32 => reader.value_f32(first + row).map(CodecScalar::Float32),
            PhysicalType::Float64 => reader.value_f64(first + row).map(CodecScalar::Float64),
            PhysicalType::Bytes => {
                let mut out = BytesVector::new();
                let row = 8192 + row as u32;
                let read = reader.decode_byte_rows(vector, &[row], &mut out);
                read.map(|()| CodecScalar::Bytes(out.as_slice().get(0).to_vec()))
            }
        };
        let is_text = reader.physical_type() == PhysicalType::Bytes;
        match value {
            Ok(value) => assert_eq!(value, scalars[row], "{about}, row {row}"),
            Err(error) => assert!(
                reader.few_rows() == 0 && !is_text,
                "{about}, row {row}: {error}"
            ),
        }
        match reader.code(first + row) {
            Ok(code) => assert!(has_codes && code == codes[row], "{about}, row {row}"),
            Err(error) => assert_eq!(reader.few_codes(), 0, "{about}, row {row}: {error}"),
        }
    }
    assert!(reader.value_i64(reader.row_count()).is_err(), "{about}");
    assert!(reader.code(reader.row_count()).is_err(), "{about}");
}

/// Every row of `image` is that of `column`, and so it is once all of them have been decoded.
fn gives_back(image: &[u8], column: &Column, validity: Option<&[u64]>, about: &str) {
    let mut reader = SegmentReader::open(image.into()).unwrap();
    assert_eq!(reader.materialized_bytes(), None, "{about}");
    reads_back(&mut reader, column, validity, about);
    let mut materialized = reader.materialized().unwrap();
    assert_eq!(materialized.codec(), CodecId::Plain, "{about}");
    assert_eq!(materialized.dictionary_len(), None, "{about}");
    let about = format!("{about}, decoded as a whole");
    let bytes = buffer_bytes(column, validity);
    assert_eq!(materialized.materialized_bytes(), Some(bytes), "{about}");
    reads_back(&mut materialized, column, validity, &about);
    assert!(reader.values_in_memory().is_none(), "{about}");
    let shared = materialized.values_in_memory().unwrap();
    let mut another = shared.reader();
    assert_eq!(another.codec(), CodecId::Plain, "{about}");
    assert_eq!(another.null_count(), materialized.null_count(), "{about}");
    reads_back(&mut another, column, validity, &about);
    // Besides the values: a bit for each row of each vector, the last offset of strings, and the buffer itself.
    let masks = another.vector_count() * 128;
    assert!(
        (bytes..=bytes + masks + 1_024).contains(&shared.memory_bytes()),
        "{about}"
    );
}

/// What the values of a column take: strings only where they are not NULL, and four bytes for each row.
fn buffer_bytes(column: &Column, validity: Option<&[u64]>) -> usize {
    let row_count = column.values().len();
    match column {
        Column::Bytes(strings) => {
            let strings = strings.as_slice();
            let valid = (0..row_count).filter(|&row| is_valid(validity, row));
            valid.map(|row| strings.get(row).len()).sum::<usize>() + 4 * row_count
        }
        _ => {
            let width = column.values().physical_type().value_bytes();
            width.unwrap() * row_count
        }
    }
}

/// Every row of a segment is that of `column`, whole vectors and one by one.
fn reads_back(reader: &mut SegmentReader, column: &Column, validity: Option<&[u64]>, about: &str) {
    let row_count = column.values().len();
    assert_eq!(reader.row_count(), row_count, "{about}");
    assert_eq!(reader.vector_count(), row_count.div_ceil(1024), "{about}");
    let mut nulls = 0;
    for vector in 0..reader.vector_count() {
        let mut words = [0; 16];
        nulls += reader.validity(vector, &mut words).unwrap();
        let scalars = decode(reader, vector).unwrap();
        assert_eq!(scalars.len(), reader.vector_rows(vector), "{about}");
        for (index, scalar) in scalars.iter().enumerate() {
            let row = vector * 1024 + index;
            assert_eq!(
                is_valid(Some(&words), index),
                is_valid(validity, row),
                "{about}, row {row}"
            );
            if is_valid(validity, row) {
                assert_eq!(*scalar, column.scalar(row), "{about}, row {row}");
            }
        }
        let beyond = scalars.len()..1024;
        assert!(
            beyond
                .into_iter()
                .all(|index| !is_valid(Some(&words), index)),
            "{about}"
        );
        codes_agree(reader, vector, &scalars, about);
        single_values_agree(reader, vector, &scalars, about);
        ranges_agree(reader, vector, &scalars, about);
        runs_agree(reader, vector, &scalars, about);
    }
    assert_eq!(nulls, reader.null_count(), "{about}");
    for row in (0..row_count)
        .step_by(row_count / 40 + 1)
        .chain(row_count.checked_sub(1))
    {
        let expected = is_valid(validity, row).then(|| column.scalar(row));
        assert_eq!(reader.value(row).unwrap(), expected, "{about}, row {row}");
    }
    assert!(reader.value(row_count).is_err(), "{about}");
    assert!(
        reader
            .validity(reader.vector_count(), &mut [0; 16])
            .is_err(),
        "{about}"
    );
}

/// Where there is a dictionary, its codes say the same as the values.
fn codes_agree(reader: &mut SegmentReader, vector: usize, scalars: &[CodecScalar], about: &str) {
    let Some(length) = reader.dictionary_len() else {
        assert_ne!(reader.codec(), CodecId::Dictionary, "{about}");
        return;
    };
    let mut codes = [0; 1024];
    assert_eq!(
        reader.decode_codes(vector, &mut codes),
        Ok(scalars.len()),
        "{about}"
    );
    for (code, scalar) in codes.iter().zip(scalars) {
        assert!((*code as usize) < length, "{about}");
        assert_eq!(
            reader.dictionary_value(*code).as_ref(),
            Some(scalar),
            "{about}"
        );
        if let CodecScalar::Bytes(bytes) = scalar {
            assert_eq!(
                reader.dictionary_bytes(*code),
                Some(bytes.as_slice()),
                "{about}"
            );
        }
    }
}

/// Reads everything of bytes that may be anything.
fn read_all(image: &[u8]) {
    let Ok(mut reader) = SegmentReader::open(image.into()) else {
        return;
    };
    for vector in 0..reader.vector_count().min(4) {
        let _ = decode(&mut reader, vector);
        let _ = reader.validity(vector, &mut [0; 16]);
        let _ = reader.decode_codes(vector, &mut [0; 1024]);
    }
    for row in [0, 1, 1023, 1024, reader.row_count().saturating_sub(1)] {
        let _ = reader.value(row);
    }
    let _ = reader.dictionary_value(0);
    if let Ok(mut materialized) = reader.materialized() {
        assert_eq!(materialized.row_count(), reader.row_count());
        for vector in 0..materialized.vector_count() {
            let _ = materialized.validity(vector, &mut [0; 16]);
            decode(&mut materialized, vector).unwrap();
        }
    }
}

fn random(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state ^ *state >> 33
}

/// Name and words of NULL patterns.
fn validities(row_count: usize) -> Vec<(&'static str, Option<Vec<u64>>)> {
    let mut state = 7;
    let mut words = |make: &mut dyn FnMut(u64, usize) -> u64| {
        Some(
            (0..row_count.div_ceil(64))
                .map(|word| make(random(&mut state), word))
                .collect(),
        )
    };
    vec![
        ("no NULLs", None),
        ("none after all", words(&mut |_, _| u64::MAX)),
        ("all NULL", words(&mut |_, _| 0)),
        ("half", words(&mut |random, _| random)),
        ("few NULLs", words(&mut |random, _| !(1 << (random % 64)))),
        ("few values", words(&mut |random, _| 1 << (random % 64))),
        (
            "runs",
            words(&mut |_, word| if word / 3 % 2 == 0 { u64::MAX } else { 0 }),
        ),
        (
            "first vector NULL",
            words(&mut |_, word| if word < 16 { 0 } else { u64::MAX }),
        ),
    ]
}

fn number_columns(row_count: usize) -> Vec<(&'static str, Vec<i64>)> {
    let mut state = 3;
    let mut column = |make: &mut dyn FnMut(u64, usize) -> i64| {
        (0..row_count)
            .map(|row| make(random(&mut state), row))
            .collect::<Vec<i64>>()
    };
    vec![
        ("equal", column(&mut |_, _| 42)),
        ("ascending", column(&mut |_, row| row as i64 * 2)),
        (
            "few distinct",
            column(&mut |random, _| (random % 7) as i64 * 1001),
        ),
        ("anything", column(&mut |random, _| random as i64)),
        ("runs", column(&mut |_, row| row as i64 / 50)),
    ]
}

#[test]
fn every_codec_of_every_type_keeps_values_and_nulls() {
    for row_count in [0, 1, 63, 1000, 1024, 1025, 2300] {
        for (nulls, validity) in validities(row_count) {
            for (shape, numbers) in number_columns(row_count) {
                for physical_type in PhysicalType::ALL {
                    let column = Column::from_numbers(physical_type, &numbers);
                    let validity = validity.as_deref();
                    let input = SegmentInput {
                        values: column.values(),
                        validity,
                    };
                    for codec in CodecId::ALL
                        .into_iter()
                        .filter(|one| one.supports(physical_type))
                    {
                        let about =
                            format!("{codec} of {row_count} {physical_type}, {shape}, {nulls}");
                        match encode_segment(&input, codec) {
                            Ok(image) => gives_back(&image, &column, validity, &about),
                            Err(error) => assert_eq!(codec, CodecId::Constant, "{about}: {error}"),
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn the_chosen_codec_keeps_values_and_nulls_and_is_never_larger_than_plain() {
    for row_count in [1, 1024, 5000, 30_000] {
        for (nulls, validity) in validities(row_count) {
            for (shape, numbers) in number_columns(row_count) {
                for physical_type in PhysicalType::ALL {
                    let column = Column::from_numbers(physical_type, &numbers);
                    let validity = validity.as_deref();
                    let input = SegmentInput {
                        values: column.values(),
                        validity,
                    };
                    let (choice, image) =
                        choose_and_encode(&input, &ChooseOptions::default()).unwrap();
                    let about = format!("{} of {physical_type}, {shape}, {nulls}", choice.codec);
                    gives_back(&image, &column, validity, &about);
                    let plain = encode_segment(&input, CodecId::Plain).unwrap();
                    // The estimate of a sample may miss by a little.
                    assert!(image.len() <= plain.len() * 103 / 100, "{about}");
                }
            }
        }
    }
}

#[test]
fn cut_and_flipped_segments_are_read_without_a_panic() {
    let mut state = 99;
    for physical_type in PhysicalType::ALL {
        for (_, numbers) in number_columns(1500) {
            let column = Column::from_numbers(physical_type, &numbers);
            let words: Vec<u64> = (0..24)
                .map(|_| random(&mut state) | random(&mut state))
                .collect();
            let input = SegmentInput {
                values: column.values(),
                validity: Some(&words),
            };
            for codec in CodecId::ALL {
                let Ok(image) = encode_segment(&input, codec) else {
                    continue;
                };
                for length in (0..image.len()).step_by(image.len() / 60 + 1) {
                    let cut = SegmentReader::open(image[..length].into());
                    assert!(cut.is_err(), "{codec} of {physical_type} cut to {length}");
                }
                for _ in 0..60 {
                    let mut damaged = image.clone();
                    let reach = if random(&mut state).is_multiple_of(2) {
                        64
                    } else {
                        damaged.len()
                    };
                    let at = random(&mut state) as usize % reach.min(damaged.len());
                    damaged[at] ^= 1 << (random(&mut state) % 8);
                    read_all(&damaged);
                }
            }
        }
    }
}

#[test]
fn a_claim_of_many_rows_in_few_bytes_allocates_little() {
    // Width 0 and a constant can truly stand for a full row group; more rows than that are refused.
    let values = vec![9i64; 131_072];
    let input = SegmentInput {
        values: RowGroupValues::Int64(&values),
        validity: None,
    };
    for codec in [CodecId::Constant, CodecId::Pfor, CodecId::Dictionary] {
        let mut image = encode_segment(&input, codec).unwrap();
        assert!(image.len() < 1000, "{codec}: {}", image.len());
        assert_eq!(
            SegmentReader::open(image.clone().into())
                .unwrap()
                .row_count(),
            131_072
        );
        image[4..8].copy_from_slice(&131_073u32.to_le_bytes());
        assert!(SegmentReader::open(image.clone().into()).is_err());
        image[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(SegmentReader::open(image.into()).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_column_with_any_nulls_comes_back(
        rows in prop::collection::vec((any::<bool>(), prop_oneof![any::<i64>(), 0..9i64]), 0..1800),
    ) {
        let numbers: Vec<i64> = rows.iter().map(|row| row.1).collect();
        let mut words = vec![0u64; rows.len().div_ceil(64)];
        for (row, (valid, _)) in rows.iter().enumerate() {
            words[row / 64] |= u64::from(*valid) << (row % 64);
        }
        for physical_type in PhysicalType::ALL {
            let column = Column::from_numbers(physical_type, &numbers);
            let input = SegmentInput { values: column.values(), validity: Some(&words) };
            let (choice, image) = choose_and_encode(&input, &ChooseOptions::default()).unwrap();
            gives_back(&image, &column, Some(&words), choice.codec.name());
        }
    }

    #[test]
    fn any_bytes_after_a_header_are_read_without_a_panic(
        physical_type in 1..9u8,
        codec in 0..10u8,
        row_count in prop_oneof![0..10u32, 1000..1030u32, 0..131_072u32],
        payload in prop::collection::vec(prop_oneof![Just(0u8), 0..5u8, any::<u8>()], 0..300),
    ) {
        let mut image = vec![1, physical_type, codec, 0];
        image.extend(row_count.to_le_bytes());
        image.extend([0; 8]);
        image.extend((payload.len() as u32).to_le_bytes());
        image.extend(payload);
        read_all(&image);
    }
}
