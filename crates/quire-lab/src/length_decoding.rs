//! Paper 1, §3.3.3: where a compressed field of a tuple is, found naively and by decoding tables.
//!
//! The tuples are those of `lineitem` with all that the paper's techniques shorten: integers, decimals, dates and the lengths of strings. The naive way
//! decodes the length of every field before the wanted one; tables take a look-up for each length byte.

use std::convert::Infallible;
use std::hint::black_box;

use quire_codec::field::{FieldLayout, FieldSpan, FieldType, FieldValue, TupleField};

use crate::random::LabRandom;
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};

/// Fields of `lineitem` in their order, and below which number their values are.
pub(crate) const FIELDS: [(FieldType, u64); 16] = [
    (FieldType::Int32, 6_000_000),
    (FieldType::Int32, 200_000),
    (FieldType::Int32, 10_000),
    (FieldType::Int32, 7),
    (FieldType::Int64, 5_000),
    (FieldType::Int64, 10_000_000),
    (FieldType::Int64, 11),
    (FieldType::Int64, 9),
    (FieldType::UInt32, 1),
    (FieldType::UInt32, 1),
    (FieldType::Date { base_days: 8_000 }, 2_526),
    (FieldType::Date { base_days: 8_000 }, 2_526),
    (FieldType::Date { base_days: 8_000 }, 2_526),
    (FieldType::UInt32, 25),
    (FieldType::UInt32, 8),
    (FieldType::UInt32, 44),
];

const QUANTITY: usize = 4;
const PRICE: usize = 5;
const DISCOUNT: usize = 6;
const TAX: usize = 7;
const RETURNFLAG: usize = 8;
const LINESTATUS: usize = 9;
const SHIPDATE: usize = 10;

/// What is read of each tuple.
const WANTED: [(&str, &[usize]); 5] = [
    ("first field", &[0]),
    ("last field", &[15]),
    ("fields of Q6", &[SHIPDATE, DISCOUNT, QUANTITY, PRICE]),
    (
        "fields of Q1",
        &[
            SHIPDATE, RETURNFLAG, LINESTATUS, QUANTITY, PRICE, DISCOUNT, TAX,
        ],
    ),
    (
        "all fields",
        &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    ),
];

/// Where the length code of a field is.
#[derive(Clone, Copy)]
struct Code {
    field: TupleField,
    byte: usize,
    shift: u32,
}

/// The naive way: it knows where the codes are, and adds up lengths.
struct Naive {
    codes: Vec<Code>,
}

impl Naive {
    fn new(fields: &[TupleField]) -> Self {
        let (mut byte, mut used) = (0, 0);
        let mut codes: Vec<Code> = Vec::new();
        for field in fields {
            if used + field.code_bits() > u8::BITS {
                (byte, used) = (byte + 1, 0);
            }
            used += field.code_bits();
            // The first code of a byte is in its highest bits that are in use.
            for code in codes.iter_mut().filter(|code| code.byte == byte) {
                code.shift += field.code_bits();
            }
            let field = *field;
            codes.push(Code {
                field,
                byte,
                shift: 0,
            });
        }
        Self { codes }
    }

    #[inline]
    fn length(code: &Code, codes: &[u8]) -> u8 {
        let byte = codes.get(code.byte).copied().unwrap_or_default();
        let mask = (1 << code.field.code_bits()) - 1;
        let code_value = (byte >> code.shift) & mask;
        code.field.length_of(code_value).unwrap_or_default()
    }

    #[inline]
    fn place(&self, codes: &[u8], field: usize) -> Option<FieldSpan> {
        let mut offset = 0;
        let (before, wanted) = (self.codes.get(..field)?, self.codes.get(field)?);
        for code in before {
            offset += usize::from(Self::length(code, codes));
        }
        let length = Self::length(wanted, codes);
        Some(FieldSpan { offset, length })
    }
}

/// Tuples behind each other: their length codes, and their values.
struct LengthCodedTuples {
    layout: FieldLayout,
    naive: Naive,
    codes: Vec<u8>,
    values: Vec<u8>,
    ends: Vec<usize>,
}

impl LengthCodedTuples {
    fn new(count: usize) -> Result<Self, LabError> {
        let fields = FIELDS.map(|(field_type, _)| TupleField {
            field_type,
            nullable: false,
        });
        let layout = FieldLayout::new(&fields);
        let mut tuples = Self {
            naive: Naive::new(&fields),
            layout,
            codes: Vec::new(),
            values: Vec::new(),
            ends: Vec::new(),
        };
        let mut random = LabRandom(7);
        for _ in 0..count {
            let row = FIELDS.map(|(field_type, limit)| {
                let base = match field_type {
                    FieldType::Date { base_days } => i64::from(base_days),
                    _ => 1,
                };
                FieldValue::Integer(base + random.below(limit) as i64)
            });
            tuples.push(&row)?;
        }
        Ok(tuples)
    }

    fn push(&mut self, row: &[FieldValue]) -> Result<(), LabError> {
        let refused = |error: quire_codec::field::FieldError| LabError::Pages(error.to_string());
        let (codes, values) = (self.codes.len(), self.values.len());
        let value_bytes = self.layout.encoded_bytes(row).map_err(refused)?;
        self.codes.resize(codes + self.layout.code_bytes(), 0);
        self.values.resize(values + value_bytes, 0);
        let (_, codes) = self.codes.split_at_mut(codes);
        let (_, values) = self.values.split_at_mut(values);
        self.layout.encode(row, codes, values).map_err(refused)?;
        self.ends.push(self.values.len());
        Ok(())
    }

    /// The sum of the values that `place` finds.
    #[inline]
    fn sum(&self, wanted: &[usize], place: impl Fn(&[u8], usize) -> Option<FieldSpan>) -> i64 {
        let mut sum = 0_i64;
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let codes = self.codes.chunks_exact(self.layout.code_bytes());
        for ((start, end), codes) in starts.zip(&self.ends).zip(codes) {
            let values = self.values.get(start..*end).unwrap_or_default();
            for field in wanted {
                let value = place(codes, *field).map(|place| integer(values, place));
                sum = sum.wrapping_add(value.unwrap_or_default());
            }
        }
        sum
    }
}

/// The bytes of a field as an integer with a sign, the same for both ways.
#[inline]
fn integer(values: &[u8], place: FieldSpan) -> i64 {
    let length = usize::from(place.length);
    let bytes = values.get(place.offset..place.offset + length);
    let bytes = bytes.unwrap_or_default();
    let mut padded = [0; 8];
    if let Some(low) = padded.get_mut(..bytes.len()) {
        low.copy_from_slice(bytes);
    }
    let unused = 64 - 8 * bytes.len().clamp(1, 8) as u32;
    (i64::from_le_bytes(padded) << unused) >> unused
}

/// Nanoseconds a tuple for the wanted fields, found naively and by tables.
///
/// # Errors
/// When the two ways differ.
pub(crate) fn figures(lab: &Lab) -> Result<Vec<Figure>, LabError> {
    let count = lab.size(4_096, 256);
    let tuples = LengthCodedTuples::new(count)?;
    let (mut naive, mut tables) = (Vec::new(), Vec::new());
    for (name, wanted) in WANTED {
        let by_naive = |codes: &[u8], field| tuples.naive.place(codes, field);
        let by_tables = |codes: &[u8], field| tuples.layout.place(codes, field).ok();
        if tuples.sum(wanted, by_naive) != tuples.sum(wanted, by_tables) {
            let codec = format!("length decoding ({name})");
            return Err(LabError::NotRestored { codec });
        }
        let per_tuple = |sum: &dyn Fn() -> i64| {
            let nanoseconds = lab.nanoseconds(|| {
                black_box(sum());
                Ok::<(), Infallible>(())
            });
            nanoseconds.unwrap_or_default() / count as f64
        };
        naive.push(per_tuple(&|| tuples.sum(black_box(wanted), by_naive)));
        tables.push(per_tuple(&|| tuples.sum(black_box(wanted), by_tables)));
    }
    let ratio = naive
        .iter()
        .zip(&tables)
        .map(|(naive, tables)| naive / tables);
    let ratio = ratio.collect();
    let paper = WANTED.map(|(name, _)| name.contains('Q').then_some(3.0));
    let bytes = tuples.layout.code_bytes();
    Ok(vec![Figure {
        stem: "length-decoding",
        title: "Finding and reading compressed fields of a tuple of lineitem".to_owned(),
        paper: Paper::CompressedDatabases,
        number: "section 3.3.3",
        chart: Chart::Bars,
        x: Axis::linear("fields", ""),
        y: Axis::linear("time a tuple; ratio", "ns; times"),
        positions: Positions::labels(WANTED.map(|(name, _)| name)),
        series: vec![
            Series::new("naive", SeriesOrigin::Measured, naive),
            Series::new("decoding tables", SeriesOrigin::Measured, tables),
            Series::new("ratio", SeriesOrigin::Measured, ratio),
            Series::paper("the paper's ratio", paper.to_vec()),
        ],
        verdicts: Vec::new(),
        notes: vec![
            lab.machine().to_owned(),
            format!("{count} tuples of 16 compressed fields, {bytes} length bytes; every field is looked for anew, as a query does that reads some"),
            "the paper says of most queries of TPC-D that naive decoding triples the processor time of decompression (section 5.4)".to_owned(),
        ],
    }])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn both_ways_find_every_field_where_it_was_written() {
        let tuples = LengthCodedTuples::new(300).unwrap();
        let mut start = 0;
        let codes = tuples.codes.chunks_exact(tuples.layout.code_bytes());
        for (codes, end) in codes.zip(&tuples.ends) {
            let mut offset = 0;
            for field in 0..FIELDS.len() {
                let place = tuples.naive.place(codes, field).unwrap();
                assert_eq!(place.offset, offset);
                assert_eq!(tuples.layout.place(codes, field), Ok(place));
                offset += usize::from(place.length);
            }
            assert_eq!(start + offset, *end);
            start = *end;
        }
    }

    #[test]
    fn values_are_read_with_their_signs() {
        let place = |offset, length| FieldSpan { offset, length };
        let bytes = [0xFD, 0x10, 0x27, 0xFF];
        assert_eq!(integer(&bytes, place(0, 1)), -3);
        assert_eq!(integer(&bytes, place(1, 2)), 10_000);
        assert_eq!(integer(&bytes, place(1, 3)), -55_536);
    }
}
