//! Paper 1, §3.3.3 and §5.3: all fields of a tuple written and read, by a table for each length byte and by a universal one.
//!
//! A universal table has an entry for each combination of length codes, so there is one for few fields only: for relation R of
//! the paper's §3.3.2, but not for all of `lineitem`.

use crate::length_decoding::FIELDS;
use crate::random::LabRandom;
use crate::{
    Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin, UniversalTable,
};
use quire_codec::Corrupt;
use quire_codec::field::{FieldError, FieldLayout, FieldType, FieldValue, TupleField};
use std::hint::black_box;

const POSITIONS: [&str; 4] = [
    "R, all fields",
    "R, last field",
    "lineitem, all fields",
    "lineitem, last field",
];

/// Rows, and what they become.
struct EncodedRows {
    layout: FieldLayout,
    universal: Option<UniversalTable>,
    rows: Vec<Vec<FieldValue>>,
    codes: Vec<u8>,
    values: Vec<u8>,
    /// Where the values of each row end.
    ends: Vec<usize>,
}

/// Relation R: integers and a double, of which some can be NULL.
fn relation_r() -> Vec<(TupleField, u64)> {
    let field = |field_type, nullable| TupleField {
        field_type,
        nullable,
    };
    let int = FieldType::Int32;
    vec![
        (field(int, true), 100),
        (field(int, true), 30_000),
        (field(FieldType::Double, false), 1_000),
        (field(int, true), 10_000_000),
        (field(int, true), 100),
        (field(int, false), 30_000),
    ]
}

fn lineitem() -> Vec<(TupleField, u64)> {
    let not_null = |field_type| TupleField {
        field_type,
        nullable: false,
    };
    FIELDS
        .map(|(field_type, limit)| (not_null(field_type), limit))
        .to_vec()
}

/// Below `limit`; of values that can be NULL every fifth is.
fn value(field: TupleField, limit: u64, random: &mut LabRandom) -> FieldValue {
    let number = random.below(limit) as i64;
    if field.nullable && random.below(5) == 0 {
        return FieldValue::Null;
    }
    match field.field_type {
        FieldType::Double => FieldValue::Double(number as f64 / 4.0),
        FieldType::Date { base_days } => FieldValue::Integer(i64::from(base_days) + number),
        _ => FieldValue::Integer(number),
    }
}

impl EncodedRows {
    fn new(fields: &[(TupleField, u64)], count: usize) -> Result<Self, FieldError> {
        let mut random = LabRandom(65);
        let layout_fields: Vec<TupleField> = fields.iter().map(|(field, _)| *field).collect();
        let draw = |_| {
            let row = fields.iter();
            row.map(|(field, limit)| value(*field, *limit, &mut random))
                .collect()
        };
        let mut encoded = Self {
            layout: FieldLayout::new(&layout_fields),
            universal: UniversalTable::new(&layout_fields),
            rows: (0..count).map(draw).collect(),
            codes: Vec::new(),
            values: Vec::new(),
            ends: Vec::new(),
        };
        for row in &encoded.rows {
            let before = encoded.ends.last().copied().unwrap_or_default();
            encoded
                .ends
                .push(before + encoded.layout.encoded_bytes(row)?);
        }
        let value_bytes = encoded.ends.last().copied().unwrap_or_default();
        encoded.codes = vec![0; count * encoded.layout.code_bytes()];
        encoded.values = vec![0; value_bytes];
        encoded.encode()?;
        Ok(encoded)
    }

    /// Writes all rows over what is there: their lengths first, as a table does that has to find room.
    fn encode(&mut self) -> Result<(), FieldError> {
        let mut rest = &mut self.values[..];
        let codes = self.codes.chunks_exact_mut(self.layout.code_bytes());
        for (row, codes) in self.rows.iter().zip(codes) {
            let (values, behind) = rest.split_at_mut(self.layout.encoded_bytes(row)?);
            self.layout.encode(row, codes, values)?;
            rest = behind;
        }
        Ok(())
    }

    /// Codes and values of each row.
    fn tuples(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let values = starts
            .zip(&self.ends)
            .map(|(start, end)| &self.values[start..*end]);
        self.codes
            .chunks_exact(self.layout.code_bytes())
            .zip(values)
    }

    /// Nanoseconds a tuple to read all fields, and to read the last one, with `decode` and `value`.
    fn reading_ns(
        &self,
        lab: &Lab,
        decode: impl Fn(&[u8], &[u8], &mut [FieldValue]) -> Result<usize, Corrupt>,
        value: impl Fn(&[u8], &[u8], usize) -> Result<FieldValue, Corrupt>,
    ) -> Result<[f64; 2], LabError> {
        let mut row = vec![FieldValue::Null; self.layout.field_count()];
        let last = row.len().saturating_sub(1);
        for ((codes, values), written) in self.tuples().zip(&self.rows) {
            decode(codes, values, &mut row)?;
            if row != *written || value(codes, values, last)? != row[last] {
                let codec = "a tuple of compressed fields".to_owned();
                return Err(LabError::NotRestored { codec });
            }
        }
        let all = lab.nanoseconds(|| {
            for (codes, values) in self.tuples() {
                decode(codes, values, &mut row)?;
                black_box(&row);
            }
            Ok::<(), Corrupt>(())
        })?;
        let one = lab.nanoseconds(|| {
            for (codes, values) in self.tuples() {
                black_box(value(codes, values, last)?);
            }
            Ok::<(), Corrupt>(())
        })?;
        Ok([all, one].map(|ns| ns / self.rows.len() as f64))
    }
}

/// Nanoseconds a tuple to encode and to decode it.
///
/// # Errors
/// When a tuple does not come back as it was written.
pub(crate) fn figure(lab: &Lab) -> Result<Figure, LabError> {
    let count = lab.size(4_096, 256);
    let refused = |error: FieldError| LabError::Pages(error.to_string());
    let (mut encoding, mut tables, mut universal) = (Vec::new(), Vec::new(), Vec::new());
    for fields in [relation_r(), lineitem()] {
        let mut rows = EncodedRows::new(&fields, count).map_err(refused)?;
        let ns = lab.nanoseconds(|| rows.encode()).map_err(refused)?;
        encoding.extend([Some(ns / count as f64), None]);
        let layout = &rows.layout;
        let by_tables = rows.reading_ns(
            lab,
            |codes, values, row| layout.decode(codes, values, row),
            |codes, values, field| layout.value(codes, values, field),
        )?;
        tables.extend(by_tables.map(Some));
        let by_universal = match &rows.universal {
            Some(table) => rows
                .reading_ns(
                    lab,
                    |codes, values, row| table.decode(codes, values, row),
                    |codes, values, field| table.value(codes, values, field),
                )?
                .map(Some),
            None => [None; 2],
        };
        universal.extend(by_universal);
    }
    let notes = notes(lab, count, &encoding, &tables);
    let series = [
        ("encoding", encoding),
        ("decoding, a table for each length byte", tables),
        ("decoding, universal table", universal),
    ];
    Ok(Figure {
        stem: "whole-tuples",
        title: "Writing and reading the compressed fields of a tuple".to_owned(),
        paper: Paper::CompressedDatabases,
        number: "sections 3.3.3 and 5.3",
        chart: Chart::Bars,
        x: Axis::linear("relation", ""),
        y: Axis::linear("time a tuple", "ns"),
        positions: Positions::labels(POSITIONS),
        series: series
            .map(|(name, values)| Series {
                name: name.to_owned(),
                origin: SeriesOrigin::Measured,
                values,
            })
            .to_vec(),
        verdicts: Vec::new(),
        notes,
    })
}

fn notes(lab: &Lab, count: usize, encoding: &[Option<f64>], tables: &[Option<f64>]) -> Vec<String> {
    let mut notes = vec![
        lab.machine().to_owned(),
        format!(
            "{count} tuples; encoding finds the length of each field first, and then writes it; a universal table is made for \
             at most 16 bits of length codes, which lineitem passes"
        ),
    ];
    let both = encoding.iter().zip(tables).zip(POSITIONS);
    for ((encoding, decoding), position) in both {
        if let (Some(encoding), Some(decoding)) = (encoding, decoding) {
            notes.push(format!(
                "{position}: encoding takes {:.1} times as long as decoding (section 5.3: compressing costs much more)",
                encoding / decoding
            ));
        }
    }
    notes
}
