//! Paper 1, §3.3.1 and §4.3: what a store that can compress costs those who compress nothing.
//!
//! A tuple without compressed fields has its values at fixed places, its strings behind them. Its bytes are read by Quire's
//! layout, which could be one with compressed fields, and by a reader that knows fixed places only.

use crate::random::LabRandom;
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};
use quire_codec::Corrupt;
use quire_format::tuple::{TupleColumn, TupleCompression, TupleLayout, TupleType, TupleValue};
use std::hint::black_box;

const MONEY: TupleType = TupleType::Int128 { digits: 15 };
const DATE: TupleType = TupleType::Date { base_days: 8_000 };
/// Columns like those of `lineitem`.
const COLUMNS: [TupleType; 14] = [
    TupleType::Int32,
    TupleType::Int32,
    TupleType::Int32,
    TupleType::Int32,
    MONEY,
    MONEY,
    MONEY,
    MONEY,
    DATE,
    DATE,
    DATE,
    TupleType::Text,
    TupleType::Text,
    TupleType::Text,
];
/// Which columns are read one by one.
const WANTED: [(&str, usize); 5] = [
    ("first integer", 0),
    ("last integer", 3),
    ("a decimal", 5),
    ("last date", 10),
    ("last string", 13),
];
const ALL_COLUMNS: &str = "all columns";
const MODES: [&str; 7] = ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"];
const COMMENT: &str = "egular courts above the even theodolites nag blithely along the furiously";
/// Bytes that the length of a string takes.
const LENGTH_BYTES: usize = 4;

type LineitemRow = [TupleValue<'static>; COLUMNS.len()];

fn draw(random: &mut LabRandom) -> LineitemRow {
    let mut below = |limit| random.below(limit) as i64;
    let comment_bytes = 10 + below(34) as usize;
    [
        TupleValue::Integer(below(6_000_000)),
        TupleValue::Integer(below(200_000)),
        TupleValue::Integer(below(10_000)),
        TupleValue::Integer(1 + below(7)),
        TupleValue::Wide(i128::from(100 * below(50))),
        TupleValue::Wide(i128::from(below(10_000_000))),
        TupleValue::Wide(i128::from(below(11))),
        TupleValue::Wide(i128::from(below(9))),
        TupleValue::Integer(8_036 + below(2_526)),
        TupleValue::Integer(8_036 + below(2_526)),
        TupleValue::Integer(8_036 + below(2_526)),
        TupleValue::Bytes(MODES[below(7) as usize].as_bytes()),
        TupleValue::Bytes(MODES[below(7) as usize].as_bytes()),
        TupleValue::Bytes(&COMMENT.as_bytes()[..comment_bytes]),
    ]
}

/// What a reader takes of a value: all of a number, of a string how long it is and its first byte.
#[inline(always)]
fn taken(value: TupleValue<'_>) -> u64 {
    match value {
        TupleValue::Integer(value) => value as u64,
        TupleValue::Wide(value) => value as u64,
        TupleValue::Bytes(bytes) => {
            let first = bytes.first().copied().unwrap_or_default();
            bytes.len() as u64 ^ (u64::from(first) << 32)
        }
        _ => 0,
    }
}

/// How a value lies at its fixed place.
#[derive(Clone, Copy)]
enum FixedPlace {
    Four,
    Decimal,
    /// The length of the string; how many strings lie before it.
    String(usize),
}

/// Reads tuples that are never compressed.
struct FixedPlaces {
    /// For each column, where it lies.
    places: Vec<(FixedPlace, usize)>,
    /// Where the length of each string lies.
    lengths: Vec<usize>,
    /// Where the strings begin.
    strings_start: usize,
}

impl FixedPlaces {
    fn new() -> Self {
        let (mut places, mut lengths, mut offset) = (Vec::new(), Vec::new(), 0);
        for column in COLUMNS {
            let (place, bytes) = match column {
                TupleType::Int128 { .. } => (FixedPlace::Decimal, 8),
                TupleType::Text => {
                    lengths.push(offset);
                    (FixedPlace::String(lengths.len() - 1), LENGTH_BYTES)
                }
                _ => (FixedPlace::Four, 4),
            };
            places.push((place, offset));
            offset += bytes;
        }
        Self {
            places,
            lengths,
            strings_start: offset,
        }
    }

    #[inline]
    fn four(tuple: &[u8], at: usize) -> Option<i32> {
        let bytes = tuple.get(at..)?.first_chunk()?;
        Some(i32::from_le_bytes(*bytes))
    }

    /// The value of a column; nothing if the tuple is too short.
    #[inline]
    fn value<'a>(&self, tuple: &'a [u8], column: usize) -> Option<TupleValue<'a>> {
        let (place, at) = *self.places.get(column)?;
        Some(match place {
            FixedPlace::Four => TupleValue::Integer(Self::four(tuple, at)?.into()),
            FixedPlace::Decimal => {
                let bytes = tuple.get(at..)?.first_chunk()?;
                TupleValue::Wide(i64::from_le_bytes(*bytes).into())
            }
            FixedPlace::String(before) => {
                let mut start = self.strings_start;
                for length in self.lengths.get(..before)? {
                    start += usize::try_from(Self::four(tuple, *length)?).ok()?;
                }
                let bytes = usize::try_from(Self::four(tuple, at)?).ok()?;
                TupleValue::Bytes(tuple.get(start..start.checked_add(bytes)?)?)
            }
        })
    }
}

/// Tuples that lie end to end.
struct EncodedTuples {
    layout: TupleLayout,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl EncodedTuples {
    fn new(rows: &[LineitemRow], compression: &TupleCompression) -> Result<Self, LabError> {
        let refused = |error: &dyn std::fmt::Display| LabError::Pages(error.to_string());
        let columns = COLUMNS.map(|column_type| TupleColumn {
            column_type,
            nullable: false,
            compression: compression.clone(),
        });
        let layout = TupleLayout::new(&columns).map_err(|error| refused(&error))?;
        let (mut bytes, mut ends) = (Vec::new(), vec![0]);
        for row in rows {
            layout
                .encode(row, &mut bytes)
                .map_err(|error| refused(&error))?;
            ends.push(bytes.len());
        }
        Ok(Self {
            layout,
            bytes,
            ends,
        })
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let ends = self.ends.windows(2);
        ends.map(|ends| self.bytes.get(ends[0]..ends[1]).unwrap_or_default())
    }

    /// Nanoseconds a tuple for each of [`WANTED`], and for all columns.
    fn reading_ns<'a>(
        &'a self,
        lab: &Lab,
        rows: &[LineitemRow],
        one: impl Fn(&'a [u8], usize) -> Result<u64, Corrupt>,
        all: impl Fn(&'a [u8], &mut [TupleValue<'a>]) -> Result<(), Corrupt>,
    ) -> Result<Vec<f64>, LabError> {
        let mut read = [TupleValue::Null; COLUMNS.len()];
        for (tuple, row) in self.iter().zip(rows) {
            all(tuple, &mut read)?;
            for (column, expected) in row.iter().enumerate() {
                if read[column] != *expected || one(tuple, column)? != taken(*expected) {
                    let codec = "a tuple".to_owned();
                    return Err(LabError::NotRestored { codec });
                }
            }
        }
        let mut times = Vec::new();
        for (_, column) in WANTED {
            times.push(lab.nanoseconds(|| {
                for tuple in self.iter() {
                    black_box(one(tuple, black_box(column))?);
                }
                Ok::<(), Corrupt>(())
            })?);
        }
        times.push(lab.nanoseconds(|| {
            for tuple in self.iter() {
                all(tuple, &mut read)?;
                black_box(&read);
            }
            Ok::<(), Corrupt>(())
        })?);
        Ok(times.into_iter().map(|ns| ns / rows.len() as f64).collect())
    }
}

/// Nanoseconds a tuple to read columns of it.
///
/// # Errors
/// When a tuple does not come back as it was written.
pub(crate) fn figure(lab: &Lab) -> Result<Figure, LabError> {
    let mut random = LabRandom(43);
    let rows: Vec<LineitemRow> = (0..lab.size(4_096, 256))
        .map(|_| draw(&mut random))
        .collect();
    let plain = EncodedTuples::new(&rows, &TupleCompression::None)?;
    let suppressed = EncodedTuples::new(&rows, &TupleCompression::NullSuppressed)?;
    let fixed = FixedPlaces::new();
    let cut_short = || Corrupt::new("tuple is shorter than its columns", 0);
    let by_places = plain.reading_ns(
        lab,
        &rows,
        |tuple, column| fixed.value(tuple, column).map(taken).ok_or_else(cut_short),
        |tuple, values| {
            for (column, value) in values.iter_mut().enumerate() {
                *value = fixed.value(tuple, column).ok_or_else(cut_short)?;
            }
            Ok(())
        },
    )?;
    let by_layout = |tuples: &EncodedTuples| {
        tuples.reading_ns(
            lab,
            &rows,
            |tuple, column| tuples.layout.field_with(tuple, column, taken),
            |tuple, values| tuples.layout.decode_all(tuple, values),
        )
    };
    let (uncompressed, compressed) = (by_layout(&plain)?, by_layout(&suppressed)?);
    let notes = vec![
        lab.machine().to_owned(),
        format!(
            "{} tuples of {} columns; fixed places: a reader that knows no compression; single columns are read as programs of the AVM read them",
            rows.len(),
            COLUMNS.len()
        ),
    ];
    let names = WANTED.map(|(name, _)| name).into_iter();
    Ok(Figure {
        stem: "uncompressed-tuples",
        title: "Reading tuples without compressed fields".to_owned(),
        paper: Paper::CompressedDatabases,
        number: "sections 3.3.1 and 4.3",
        chart: Chart::Bars,
        x: Axis::linear("columns", ""),
        y: Axis::linear("time a tuple", "ns"),
        positions: Positions::labels(names.chain([ALL_COLUMNS])),
        series: vec![
            Series::new("fixed places", SeriesOrigin::Measured, by_places),
            Series::new(
                "Quire, the same bytes",
                SeriesOrigin::Measured,
                uncompressed,
            ),
            Series::new("Quire, null-suppressed", SeriesOrigin::Measured, compressed),
        ],
        verdicts: Vec::new(),
        notes,
    })
}
