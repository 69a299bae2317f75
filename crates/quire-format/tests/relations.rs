//! Columns that follow others read as themselves, whatever their types and NULLs; wrong bytes are errors.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use proptest::prelude::*;
use quire_codec::correlated::{self, Combination};
use quire_codec::{BytesVector, CodecId, CodecScalar, PhysicalType, RowGroupValues};
use quire_format::segment::{
    ChooseOptions, SegmentInput, SegmentReader, choose_and_encode, encode_map, encode_segment,
};

/// A column as the tests see it.
#[derive(Debug, Clone)]
struct Column {
    physical_type: PhysicalType,
    rows: Vec<Option<CodecScalar>>,
}

/// The same values as the encoders take them; NULL rows hold 0 or nothing.
struct Owned {
    int16: Vec<i16>,
    int32: Vec<i32>,
    int64: Vec<i64>,
    float64: Vec<f64>,
    bools: Vec<bool>,
    bytes: BytesVector,
    validity: Option<Vec<u64>>,
}

impl Column {
    fn owned(&self) -> Owned {
        let mut owned = Owned {
            int16: Vec::new(),
            int32: Vec::new(),
            int64: Vec::new(),
            float64: Vec::new(),
            bools: Vec::new(),
            bytes: BytesVector::new(),
            validity: None,
        };
        let mut words = vec![0_u64; self.rows.len().div_ceil(64)];
        for (row, value) in self.rows.iter().enumerate() {
            words[row / 64] |= u64::from(value.is_some()) << (row % 64);
            match (value, self.physical_type) {
                (Some(CodecScalar::Int16(value)), _) => owned.int16.push(*value),
                (Some(CodecScalar::Int32(value)), _) => owned.int32.push(*value),
                (Some(CodecScalar::Int64(value)), _) => owned.int64.push(*value),
                (Some(CodecScalar::Float64(value)), _) => owned.float64.push(*value),
                (Some(CodecScalar::Bool(value)), _) => owned.bools.push(*value),
                (Some(CodecScalar::Bytes(value)), _) => owned.bytes.push(value).unwrap(),
                // Anything may stand there, and must not matter.
                (None, PhysicalType::Int16) => owned.int16.push(77),
                (None, PhysicalType::Int32) => owned.int32.push(-77),
                (None, PhysicalType::Int64) => owned.int64.push(i64::MIN),
                (None, PhysicalType::Float64) => owned.float64.push(f64::NAN),
                (None, PhysicalType::Bool) => owned.bools.push(true),
                (None, _) => owned.bytes.push(b"?").unwrap(),
                other => panic!("{other:?}"),
            }
        }
        owned.validity = self.rows.contains(&None).then_some(words);
        owned
    }

    fn encode(&self) -> Arc<[u8]> {
        let owned = self.owned();
        let input = owned.input(self.physical_type);
        let encoded = choose_and_encode(&input, &ChooseOptions::default());
        encoded.unwrap().1.into()
    }
}

impl Owned {
    fn values(&self, physical_type: PhysicalType) -> RowGroupValues<'_> {
        match physical_type {
            PhysicalType::Int16 => RowGroupValues::Int16(&self.int16),
            PhysicalType::Int32 => RowGroupValues::Int32(&self.int32),
            PhysicalType::Int64 => RowGroupValues::Int64(&self.int64),
            PhysicalType::Float64 => RowGroupValues::Float64(&self.float64),
            PhysicalType::Bool => RowGroupValues::Bool(&self.bools),
            _ => RowGroupValues::Bytes(self.bytes.as_slice()),
        }
    }

    fn input(&self, physical_type: PhysicalType) -> SegmentInput<'_> {
        SegmentInput {
            values: self.values(physical_type),
            validity: self.validity.as_deref(),
        }
    }
}

fn scalar(physical_type: PhysicalType, value: i64) -> CodecScalar {
    match physical_type {
        PhysicalType::Int16 => CodecScalar::Int16(value as i16),
        PhysicalType::Int32 => CodecScalar::Int32(value as i32),
        PhysicalType::Int64 => CodecScalar::Int64(value),
        PhysicalType::Float64 => CodecScalar::Float64(value as f64 / 8.0),
        PhysicalType::Bool => CodecScalar::Bool(value % 2 == 0),
        _ => CodecScalar::Bytes(format!("value {value}").into_bytes()),
    }
}

/// Compares every row, and once more when all of them have been decoded.
fn assert_reads(reader: &mut SegmentReader, column: &Column) {
    assert_rows(reader, column);
    let mut materialized = reader.materialized().unwrap();
    assert_eq!(materialized.dictionary_len(), None);
    assert_rows(&mut materialized, column);
}

/// Reads every row by itself, and by the vector, and compares.
fn assert_rows(reader: &mut SegmentReader, column: &Column) {
    assert_eq!(reader.row_count(), column.rows.len());
    let nulls = column.rows.iter().filter(|row| row.is_none()).count();
    assert_eq!(reader.null_count(), nulls);
    for row in (0..column.rows.len()).step_by(37) {
        assert_eq!(reader.value(row).unwrap(), column.rows[row], "row {row}");
    }
    for (vector, expected) in column.rows.chunks(1024).enumerate() {
        let mut words = [0; 16];
        let nulls = reader.validity(vector, &mut words).unwrap();
        let decoded = decode(reader, vector);
        assert_eq!(decoded.len(), expected.len());
        for (row, expected) in expected.iter().enumerate() {
            let is_valid = words[row / 64] >> (row % 64) & 1 == 1;
            assert_eq!(is_valid, expected.is_some());
            if let Some(expected) = expected {
                assert_eq!(&decoded[row], expected, "row {row} of vector {vector}");
            }
        }
        assert_eq!(nulls, expected.iter().filter(|row| row.is_none()).count());
        assert_range(reader, vector, &decoded);
        if reader.dictionary_len().is_some() {
            assert_codes(reader, vector, expected);
        }
        assert_wanted(reader, vector, expected);
    }
}

/// The rows of a map whose codes pass are those whose values do; NULL does not.
fn assert_wanted(reader: &mut SegmentReader, vector: usize, expected: &[Option<CodecScalar>]) {
    let Some(wanted) = reader.values_where(|value| value % 3 == 0) else {
        return;
    };
    let mut mask = [u64::MAX; 16];
    let rows = reader.select_values(vector, &wanted, &mut mask);
    assert_eq!(rows, Ok(expected.len()));
    for (row, expected) in expected.iter().enumerate() {
        let integer = expected.as_ref().and_then(CodecScalar::as_integer);
        let is_wanted = integer.is_some_and(|integer| integer % 3 == 0);
        let is_marked = mask[row / 64] >> (row % 64) & 1 == 1;
        assert_eq!(is_marked, is_wanted, "row {row} of vector {vector}");
    }
}

/// The rows of a range of integers are those whose decoded values lie in it.
fn assert_range(reader: &mut SegmentReader, vector: usize, decoded: &[CodecScalar]) {
    let integer = |scalar: &CodecScalar| i64::try_from(scalar.as_integer()?).ok();
    let integers: Vec<i64> = decoded.iter().filter_map(integer).collect();
    let (Some(one), Some(other)) = (integers.first(), integers.last()) else {
        return;
    };
    let range = *one.min(other)..=*one.max(other);
    let mut mask = [0; 16];
    let rows = reader.select_range(vector, range.clone(), &mut mask);
    assert_eq!(rows, Ok(integers.len()));
    for (row, value) in integers.iter().enumerate() {
        let is_marked = mask[row / 64] >> (row % 64) & 1 == 1;
        assert_eq!(
            is_marked,
            range.contains(value),
            "row {row} of vector {vector}"
        );
    }
}

fn decode(reader: &mut SegmentReader, vector: usize) -> Vec<CodecScalar> {
    macro_rules! decoded {
        ($decode:ident, $zero:expr, $variant:ident) => {{
            let mut out = [$zero; 1024];
            let rows = reader.$decode(vector, &mut out).unwrap();
            out[..rows]
                .iter()
                .map(|&one| CodecScalar::$variant(one))
                .collect()
        }};
    }
    match reader.physical_type() {
        PhysicalType::Int16 => decoded!(decode_i16, 0, Int16),
        PhysicalType::Int32 => decoded!(decode_i32, 0, Int32),
        PhysicalType::Int64 => decoded!(decode_i64, 0, Int64),
        PhysicalType::Float64 => decoded!(decode_f64, 0.0, Float64),
        PhysicalType::Bool => decoded!(decode_bool, false, Bool),
        _ => {
            let mut out = BytesVector::new();
            reader.decode_bytes(vector, &mut out).unwrap();
            let values = out.as_slice();
            values
                .iter()
                .map(|one| CodecScalar::Bytes(one.to_vec()))
                .collect()
        }
    }
}

fn assert_codes(reader: &mut SegmentReader, vector: usize, expected: &[Option<CodecScalar>]) {
    let mut codes = [0; 1024];
    let rows = reader.decode_codes(vector, &mut codes).unwrap();
    for (code, expected) in codes[..rows].iter().zip(expected) {
        assert!((*code as usize) < reader.dictionary_len().unwrap());
        if let Some(expected) = expected {
            assert!(reader.dictionary_is_valid(*code));
            assert_eq!(reader.dictionary_value(*code).as_ref(), Some(expected));
        }
    }
    let is_wanted = |code: u32| code % 3 == 1;
    let length = reader.dictionary_len().unwrap();
    let mut wanted = vec![0_u64; length.div_ceil(64)];
    for code in (0..length).filter(|&code| is_wanted(code as u32)) {
        wanted[code / 64] |= 1 << (code % 64);
    }
    let mut mask = [u64::MAX; 16];
    assert_eq!(reader.select_codes(vector, &wanted, &mut mask), Ok(rows));
    for (row, &code) in codes[..rows].iter().enumerate() {
        let is_marked = mask[row / 64] >> (row % 64) & 1 == 1;
        assert_eq!(is_marked, is_wanted(code), "row {row} of vector {vector}");
    }
}

fn integer_type() -> impl Strategy<Value = PhysicalType> {
    use PhysicalType::{Int16, Int32, Int64};
    prop_oneof![Just(Int16), Just(Int32), Just(Int64)]
}

fn any_type() -> impl Strategy<Value = PhysicalType> {
    use PhysicalType::{Bool, Bytes, Float64};
    prop_oneof![integer_type(), Just(Bool), Just(Float64), Just(Bytes)]
}

fn combination() -> impl Strategy<Value = Combination> {
    prop_oneof![
        Just(Combination::Same),
        Just(Combination::Sum),
        Just(Combination::Difference),
        (0..=18_u8).prop_map(|divisor_digits| Combination::Product { divisor_digits }),
    ]
}

/// Rows of that many numbers, each with NULLs in one row of `nulls`; 0 for none.
fn column(physical_type: PhysicalType, numbers: &[i64], nulls: usize) -> Column {
    let is_null = |row: usize| nulls > 0 && row % nulls == nulls / 2;
    let rows = numbers.iter().enumerate();
    Column {
        physical_type,
        rows: rows
            .map(|(row, &number)| (!is_null(row)).then(|| scalar(physical_type, number)))
            .collect(),
    }
}

fn as_wide(column: &Column) -> Vec<i64> {
    let wide = |value: &Option<CodecScalar>| match value {
        None => 0,
        Some(value) => value.as_integer().unwrap() as i64,
    };
    column.rows.iter().map(wide).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn residuals_and_references_are_the_column(
        numbers in prop::collection::vec(any::<(i64, i64, i64)>(), 1..2500),
        types in (integer_type(), integer_type(), integer_type()),
        nulls in (0_usize..5, 0_usize..5, 0_usize..5),
        combination in combination(),
    ) {
        let pick = |of: fn(&(i64, i64, i64)) -> i64| numbers.iter().map(of).collect::<Vec<_>>();
        let own = column(types.0, &pick(|row| row.0), nulls.0);
        let first = column(types.1, &pick(|row| row.1 >> 20), nulls.1);
        let second = column(types.2, &pick(|row| row.2), nulls.2);
        let mut expected = as_wide(&first);
        combination.apply(&mut expected, &as_wide(&second));
        let owned = own.owned();
        let left = correlated::residuals(&owned.values(types.0), &expected).unwrap();
        let input = SegmentInput {
            values: left.values(),
            validity: owned.validity.as_deref(),
        };
        let (_, image) = choose_and_encode(&input, &ChooseOptions::default()).unwrap();
        let open = |image: Arc<[u8]>| SegmentReader::open(image).unwrap();
        let second = (combination.reference_count() == 2).then(|| open(second.encode()));
        let reader = open(image.into()).combined(combination, &open(first.encode()), second.as_ref());
        let mut reader = reader.unwrap();
        prop_assert_eq!(reader.dictionary_len(), None);
        assert_reads(&mut reader, &own);
    }

    #[test]
    fn a_map_and_its_reference_are_the_column(
        picks in prop::collection::vec((0_i64..60, 0_u8..200, any::<u8>()), 200..3000),
        types in (any_type(), any_type()),
        nulls in (0_usize..90, 0_i64..20),
        codec in prop_oneof![Just(None), Just(Some(CodecId::Dictionary)), Just(Some(CodecId::Rle))],
        run_rows in 1_usize..40,
        breaks_are_null: bool,
    ) {
        let keys = (0..picks.len()).map(|row| picks[row / run_rows].0 * 7 - 50);
        let keys: Vec<i64> = keys.collect();
        // Not all of it NULL. Without NULLs, tests of a map look at the runs of its reference.
        let has_no_nulls = nulls.0 == 1 || nulls.0 % 2 == 0;
        let reference = column(types.0, &keys, if has_no_nulls { 0 } else { nulls.0 });
        let rows = picks.iter().zip(&reference.rows).map(|((_, breaks, other), key)| {
            // What belongs to a key, to NULL too, and rarely something else or nothing.
            let told = match key {
                None => -1,
                Some(CodecScalar::Bool(value)) => i64::from(*value),
                Some(key) => format!("{key:?}").bytes().map(i64::from).sum(),
            };
            let value = if *breaks == 0 { i64::from(*other) } else { told };
            let is_null = (value % 20 == nulls.1 && nulls.1 > 0) || (*breaks == 0 && breaks_are_null);
            (!is_null).then(|| scalar(types.1, value))
        });
        let own = Column { physical_type: types.1, rows: rows.collect() };
        let image: Arc<[u8]> = match codec.filter(|codec| codec.supports(types.0)) {
            Some(codec) => {
                let owned = reference.owned();
                let image = encode_segment(&owned.input(types.0), codec);
                image.unwrap().into()
            }
            None => reference.encode(),
        };
        let open = || SegmentReader::open(Arc::clone(&image)).unwrap();
        let owned = own.owned();
        let made = encode_map(&owned.input(types.1), &mut open()).unwrap();
        let can_lead = open().dictionary_len().is_some() || correlated::is_supported(types.0);
        prop_assert_eq!(made.is_some(), can_lead);
        if let Some(made) = made {
            let (map, leader) = (made.image.into(), open());
            // Both have what they look up in common, and read on their own.
            for _ in 0..2 {
                let mut reader = SegmentReader::open_map(&map, &leader).unwrap();
                prop_assert_eq!(reader.codec(), made.codec);
                assert_reads(&mut reader, &own);
            }
        }
    }
}

fn dictionary(rows: usize) -> Arc<[u8]> {
    let numbers: Vec<i64> = (0..rows as i64).map(|row| row * row % 31).collect();
    let reference = column(PhysicalType::Int32, &numbers, 10);
    let owned = reference.owned();
    let image = encode_segment(&owned.input(PhysicalType::Int32), CodecId::Dictionary);
    image.unwrap().into()
}

/// A map with integers for keys, NULLs and exceptions, and one of codes; each with its reference.
fn maps() -> [(Vec<u8>, Arc<[u8]>); 2] {
    let numbers: Vec<i64> = (0..3000).map(|row| row * row % 31).collect();
    let told: Vec<i64> = (0..3000)
        .map(|row| match row {
            _ if row % 500 == 77 => 1000 + row,
            // Where the reference is NULL.
            _ if row % 10 == 5 => 3,
            _ => row * row % 31 / 2,
        })
        .collect();
    let own = column(PhysicalType::Bytes, &told, 900);
    let input = own.owned();
    let reference = column(PhysicalType::Int32, &numbers, 10);
    let owned = reference.owned();
    [CodecId::Pfor, CodecId::Dictionary].map(|codec| {
        let image: Arc<[u8]> = encode_segment(&owned.input(PhysicalType::Int32), codec)
            .unwrap()
            .into();
        let mut reader = SegmentReader::open(Arc::clone(&image)).unwrap();
        let map = encode_map(&input.input(PhysicalType::Bytes), &mut reader).unwrap();
        (map.unwrap().image, image)
    })
}

/// A map of integers with NULLs and exceptions, whose reference stores runs.
fn map_of_runs() -> (Vec<u8>, Arc<[u8]>) {
    let numbers: Vec<i64> = (0..3000).map(|row| row / 20).collect();
    let told = numbers.iter().zip(0..).map(|(number, row)| match row {
        _ if row % 500 == 77 => 1000 + row,
        _ => number % 9,
    });
    let own = column(PhysicalType::Int32, &told.collect::<Vec<_>>(), 900);
    let reference = column(PhysicalType::Int64, &numbers, 0);
    let owned = reference.owned();
    let image = encode_segment(&owned.input(PhysicalType::Int64), CodecId::Rle);
    let image: Arc<[u8]> = image.unwrap().into();
    let mut reader = SegmentReader::open(Arc::clone(&image)).unwrap();
    let map = encode_map(&own.owned().input(PhysicalType::Int32), &mut reader).unwrap();
    (map.unwrap().image, image)
}

#[test]
fn a_rule_that_many_rows_break_is_no_map() {
    let numbers: Vec<i64> = (0..3000).map(|row| row % 5).collect();
    let keys = column(PhysicalType::Int32, &numbers, 0).encode();
    let random: Vec<i64> = (0..3000).map(|row| row * 7919 % 13).collect();
    let own = column(PhysicalType::Int64, &random, 0).owned();
    let input = own.input(PhysicalType::Int64);
    let mut reader = SegmentReader::open(keys).unwrap();
    assert!(encode_map(&input, &mut reader).unwrap().is_none());
    // As many values as rows tell everything, and save nothing.
    let unique: Vec<i64> = (0..3000).collect();
    let unique = column(PhysicalType::Int32, &unique, 0).encode();
    let mut reader = SegmentReader::open(unique).unwrap();
    assert!(encode_map(&input, &mut reader).unwrap().is_none());
}

#[test]
fn a_map_opens_with_its_own_reference_only() {
    for (map, reference) in maps() {
        let map: Arc<[u8]> = map.into();
        let open = |image: &Arc<[u8]>| SegmentReader::open(Arc::clone(image)).unwrap();
        let mapped = || SegmentReader::open_map(&map, &open(&reference));
        assert!(mapped().is_ok());
        assert!(SegmentReader::open_map(&map, &open(&dictionary(2999))).is_err());
        assert!(SegmentReader::open_map(&map, &mapped().unwrap()).is_err());
        let text = column(PhysicalType::Bytes, &(0..3000).collect::<Vec<_>>(), 0).encode();
        let other = SegmentReader::open_map(&map, &open(&text));
        // By integers it opens, the values being checked as they are read; strings are none.
        let decoded = other.and_then(|mut other| other.decode_codes(0, &mut [0; 1024]));
        assert!(decoded.is_err());
        let residuals = open(&column(PhysicalType::Int32, &vec![1; 3000], 0).encode());
        let same = Combination::Same;
        assert!(residuals.combined(same, &mapped().unwrap(), None).is_err());
    }
}

#[test]
fn maps_of_one_reference_keep_their_own_keys() {
    let runs = |step: i64| {
        let numbers: Vec<i64> = (0..3000).map(|row| row / 20 * step).collect();
        let reference = column(PhysicalType::Int64, &numbers, 0);
        let image = encode_segment(&reference.owned().input(PhysicalType::Int64), CodecId::Rle);
        SegmentReader::open(image.unwrap().into()).unwrap()
    };
    let map_of = |of: fn(i64) -> i64, reference: &mut SegmentReader| {
        let told: Vec<i64> = (0..3000).map(|row| of(row / 20)).collect();
        let own = column(PhysicalType::Int32, &told, 0);
        let map = encode_map(&own.owned().input(PhysicalType::Int32), reference);
        let image: Arc<[u8]> = map.unwrap().unwrap().image.into();
        (image, own)
    };
    let (mut leader, mut other) = (runs(1), runs(2));
    let (first, second) = (
        map_of(|key| key % 7, &mut leader),
        map_of(|key| -key, &mut leader),
    );
    let (stranger, _) = map_of(|key| key, &mut other);
    let mut readers =
        [&first, &second].map(|(map, _)| SegmentReader::open_map(map, &leader).unwrap());
    assert!(SegmentReader::open_map(&stranger, &leader).is_err());
    for (reader, (_, own)) in readers.iter_mut().zip([&first, &second]) {
        assert_reads(reader, own);
    }
    // The other way round: what fails leaves nothing behind.
    let leader = runs(1);
    assert!(SegmentReader::open_map(&stranger, &leader).is_err());
    assert_reads(
        &mut SegmentReader::open_map(&second.0, &leader).unwrap(),
        &second.1,
    );
}

#[test]
fn references_of_residuals_are_checked() {
    let open = |physical_type, rows: usize| {
        let numbers: Vec<i64> = (0..rows as i64).collect();
        SegmentReader::open(column(physical_type, &numbers, 0).encode()).unwrap()
    };
    use PhysicalType::{Bytes, Float64, Int32, Int64};
    let own = || open(Int64, 100);
    let sum = |first, second: Option<SegmentReader>| {
        own().combined(Combination::Sum, &first, second.as_ref())
    };
    assert!(sum(open(Int32, 100), Some(open(Int64, 100))).is_ok());
    assert!(sum(open(Int32, 100), None).is_err());
    assert!(sum(open(Int32, 99), Some(open(Int64, 100))).is_err());
    assert!(sum(open(Int32, 100), Some(open(Int64, 101))).is_err());
    assert!(sum(open(Bytes, 100), Some(open(Int64, 100))).is_err());
    let follows = || sum(open(Int32, 100), Some(open(Int32, 100))).unwrap();
    assert!(sum(follows(), Some(open(Int64, 100))).is_err());
    let same = Combination::Same;
    assert!(
        own()
            .combined(same, &open(Int64, 100), Some(&own()))
            .is_err()
    );
    assert!(follows().combined(same, &own(), None).is_err());
    assert!(open(Float64, 100).combined(same, &own(), None).is_err());
}

#[test]
fn damaged_maps_never_panic() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random as usize
    };
    for (map, reference) in maps().into_iter().chain([map_of_runs()]) {
        let read = |bytes: &[u8]| -> Result<(), quire_codec::Corrupt> {
            let reference = SegmentReader::open(Arc::clone(&reference))?;
            let mut reader = SegmentReader::open_map(&bytes.into(), &reference)?;
            let wanted = reader.values_where(|value| value > 3);
            for vector in 0..reader.vector_count() {
                match &wanted {
                    Some(wanted) => reader.select_values(vector, wanted, &mut [0; 16])?,
                    None => reader.decode_bytes(vector, &mut BytesVector::new())?,
                };
                reader.validity(vector, &mut [0; 16])?;
            }
            reader.value(2999).map(drop)
        };
        assert_eq!(read(&map), Ok(()));
        for length in 0..map.len() {
            assert!(read(&map[..length]).is_err(), "prefix of {length} bytes");
        }
        assert!(read(&[map.as_slice(), &[0]].concat()).is_err());
        // Every byte of the header counts, but for the number of NULLs, which `check` counts.
        for position in 0..28 {
            let mut damaged = map.clone();
            damaged[position] ^= 0x41;
            assert!(position == 8 || read(&damaged).is_err(), "byte {position}");
        }
        for _ in 0..4000 {
            let mut damaged = map.clone();
            for _ in 0..1 + next() % 3 {
                let position = next() % damaged.len();
                damaged[position] = next() as u8;
            }
            let _ = read(&damaged);
        }
    }
}
