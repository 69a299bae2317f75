//! Everything that a scan asks of a column segment.
//!
//! Any call may fail on arbitrary bytes. Where both succeed, an answer computed on packed bits agrees with the decoded values.

#![forbid(unsafe_code)]

use std::ops::RangeInclusive;

use quire_codec::{BytesVector, CodecScalar, PhysicalType, RowMask};
use quire_format::segment::{IntegerRuns, SegmentReader};

const VECTOR_ROWS: usize = 1024;

/// Asks everything of every vector, and the value of some rows.
pub fn ask_all(reader: &mut SegmentReader, row_step: usize) {
    ask_dictionary(reader);
    for vector in 0..reader.vector_count() {
        let _ = reader.validity(vector, &mut [0; 16]);
        match integers(reader, vector) {
            Some(values) => ask_integers(reader, vector, &values),
            None => decode_others(reader, vector),
        }
        ask_codes(reader, vector);
    }
    for row in (0..reader.row_count()).step_by(row_step) {
        let _ = reader.value(row);
    }
}

fn is_marked(mask: &RowMask, row: usize) -> bool {
    mask[row / 64] >> (row % 64) & 1 == 1
}

/// The integers of a vector; nothing if they are of another type or cannot be decoded.
fn integers(reader: &mut SegmentReader, vector: usize) -> Option<Vec<i64>> {
    let mut values = [0_i64; VECTOR_ROWS];
    let rows = match reader.physical_type() {
        PhysicalType::Int16 => {
            let mut narrow = [0_i16; VECTOR_ROWS];
            let rows = reader.decode_i16(vector, &mut narrow).ok()?;
            values = narrow.map(i64::from);
            rows
        }
        PhysicalType::Int32 => {
            let mut narrow = [0_i32; VECTOR_ROWS];
            let rows = reader.decode_i32(vector, &mut narrow).ok()?;
            values = narrow.map(i64::from);
            rows
        }
        PhysicalType::Int64 => reader.decode_i64(vector, &mut values).ok()?,
        _ => return None,
    };
    Some(values[..rows].to_vec())
}

fn decode_others(reader: &mut SegmentReader, vector: usize) {
    let _ = match reader.physical_type() {
        PhysicalType::Bool => reader.decode_bool(vector, &mut [false; VECTOR_ROWS]),
        PhysicalType::Int128 => reader.decode_i128(vector, &mut [0; VECTOR_ROWS]),
        PhysicalType::Float32 => reader.decode_f32(vector, &mut [0.0; VECTOR_ROWS]),
        PhysicalType::Float64 => reader.decode_f64(vector, &mut [0.0; VECTOR_ROWS]),
        PhysicalType::Bytes => return ask_strings(reader, vector),
        PhysicalType::Int16 | PhysicalType::Int32 | PhysicalType::Int64 => return,
    };
}

/// Strings of some rows are those of the whole vector.
fn ask_strings(reader: &mut SegmentReader, vector: usize) {
    let (mut whole, mut some) = (BytesVector::new(), BytesVector::new());
    let count = reader.decode_bytes(vector, &mut whole);
    for rows in [&[0, 1, 500][..], &[0, 2, 4, 6, 8, 1023]] {
        some.clear();
        let read = reader.decode_byte_rows(vector, rows, &mut some);
        if let (Ok(count), Ok(())) = (&count, read) {
            assert!(rows.iter().all(|&row| (row as usize) < *count));
            let (whole, some) = (whole.as_slice(), some.as_slice());
            let mut rows = rows.iter().enumerate();
            assert!(rows.all(|(place, &row)| some.get(place) == whole.get(row as usize)));
        }
    }
}

fn ask_integers(reader: &mut SegmentReader, vector: usize, values: &[i64]) {
    let Some(&first) = values.first() else {
        return;
    };
    for range in [i64::MIN..=first, first..=first, 0..=i64::from(i16::MAX)] {
        ask_range(reader, vector, values, range);
    }
    let mut runs = IntegerRuns::default();
    if let Ok(true) = reader.append_runs(vector, &mut runs) {
        let of_runs = runs.values.iter().zip(&runs.lengths);
        let unrolled = of_runs.flat_map(|(value, length)| vec![*value; usize::from(*length)]);
        assert!(unrolled.eq(values.iter().copied()), "runs of vector {vector}");
    }
    let Some(wanted) = reader.values_where(|value| value <= first) else {
        return;
    };
    let mut mask = RowMask::default();
    if let Ok(rows) = reader.select_values(vector, &wanted, &mut mask) {
        assert_eq!(rows, values.len());
        // A NULL has an arbitrary value here, and passes nothing.
        let mut marked = (0..rows).filter(|row| is_marked(&mask, *row));
        assert!(marked.all(|row| values[row] <= first));
    }
}

fn ask_range(
    reader: &mut SegmentReader,
    vector: usize,
    values: &[i64],
    range: RangeInclusive<i64>,
) {
    let mut validity = [0; 16];
    let mut mask = RowMask::default();
    let (Ok(_), Ok(rows)) = (
        reader.validity(vector, &mut validity),
        reader.select_range(vector, range.clone(), &mut mask),
    ) else {
        return;
    };
    assert_eq!(rows, values.len());
    let valid = (0..rows).filter(|row| validity[row / 64] >> (row % 64) & 1 == 1);
    for row in valid {
        let passes = range.contains(&values[row]);
        assert_eq!(is_marked(&mask, row), passes, "row {row} of vector {vector}");
    }
}

fn ask_dictionary(reader: &SegmentReader) {
    let length = reader.dictionary_len().unwrap_or(0) as u32;
    // One beyond the end, too.
    for code in (0..=length).step_by(1 + length as usize / 100) {
        let bytes = reader.dictionary_bytes(code).map(<[u8]>::len);
        if let Some(CodecScalar::Bytes(value)) = reader.dictionary_value(code) {
            assert_eq!(bytes, Some(value.len()));
        }
        let _ = reader.dictionary_is_valid(code);
    }
}

fn ask_codes(reader: &mut SegmentReader, vector: usize) {
    let mut codes = [0; VECTOR_ROWS];
    let (Some(length), Ok(rows)) = (
        reader.dictionary_len(),
        reader.decode_codes(vector, &mut codes),
    ) else {
        return;
    };
    let codes = &codes[..rows];
    assert!(codes.iter().all(|code| (*code as usize) < length));
    let half = length as u32 / 2;
    let expect = |mask: &RowMask, passes: &dyn Fn(u32) -> bool| {
        let mut rows = codes.iter().enumerate();
        assert!(rows.all(|(row, code)| is_marked(mask, row) == passes(*code)));
    };
    // A scan has a bit for each code; one that knows fewer gets no row for the others.
    let wanted = vec![0x5555_5555_5555_5555; length.div_ceil(64)];
    let mut mask = RowMask::default();
    if reader.select_codes(vector, &wanted, &mut mask).is_ok() {
        expect(&mask, &|code| code % 2 == 0);
    }
    if let Ok(Some(_)) = reader.select_code_range(vector, half..length as u32, &mut mask) {
        expect(&mask, &|code| code >= half);
    }
}
