//! Which values a column really has, and which type holds all of them.
//!
//! SQLite stores any value in any column. A column has its declared type here if every value fits; otherwise the narrowest of BIGINT,
//! DOUBLE PRECISION, TEXT and BYTEA that changes none, and a notice says so.

use arrow::datatypes::DataType;
use rusqlite::types::ValueRef;

use quire_text::iso_time_form::IsoTimeForm;
use quire_text::type_name::sql_name;

use super::declared_type::{DeclaredType, timestamp};
use super::values::decimal_of;

/// Up to here every whole number is a double.
const EXACT_INTEGERS: u64 = 1 << f64::MANTISSA_DIGITS;

/// Counts of a column's values by what they are.
#[derive(Debug, Clone)]
pub(super) struct SqliteColumnProfile {
    declared: DeclaredType,
    integers: u64,
    reals: u64,
    texts: u64,
    blobs: u64,
    /// Integers other than 0 and 1.
    beyond_boolean: u64,
    /// Integers that no double equals.
    beyond_double: u64,
    /// Numbers that the declared decimal does not hold exactly.
    beyond_decimal: u64,
    dates: u64,
    timestamps: u64,
    zoned: u64,
}

impl SqliteColumnProfile {
    pub(super) fn new(declared: DeclaredType) -> Self {
        Self {
            declared,
            integers: 0,
            reals: 0,
            texts: 0,
            blobs: 0,
            beyond_boolean: 0,
            beyond_double: 0,
            beyond_decimal: 0,
            dates: 0,
            timestamps: 0,
            zoned: 0,
        }
    }

    /// What to ask SQLite for. The pages of a text or a byte string are read only if its content matters.
    pub(super) fn expression(&self, column: &str) -> String {
        if self.declared.depends_on_texts() {
            column.to_owned()
        } else {
            format!(
                "CASE typeof({column}) WHEN 'text' THEN '' WHEN 'blob' THEN x'' ELSE {column} END"
            )
        }
    }

    pub(super) fn add(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => {}
            ValueRef::Integer(integer) => {
                self.integers += 1;
                self.beyond_boolean += u64::from(!matches!(integer, 0 | 1));
                self.beyond_double += u64::from(integer.unsigned_abs() > EXACT_INTEGERS);
                self.add_to_decimals(value);
            }
            ValueRef::Real(_) => {
                self.reals += 1;
                self.add_to_decimals(value);
            }
            ValueRef::Text(text) => {
                self.texts += 1;
                if self.declared.depends_on_texts() {
                    self.add_time(text);
                }
            }
            ValueRef::Blob(_) => self.blobs += 1,
        }
    }

    fn add_to_decimals(&mut self, value: ValueRef<'_>) {
        if let DeclaredType::Decimal { precision, scale } = self.declared {
            self.beyond_decimal += u64::from(decimal_of(value, precision, scale).is_none());
        }
    }

    fn add_time(&mut self, text: &[u8]) {
        match IsoTimeForm::of(text) {
            Some(IsoTimeForm::Date) => self.dates += 1,
            Some(IsoTimeForm::Timestamp) => self.timestamps += 1,
            Some(IsoTimeForm::ZonedTimestamp) => self.zoned += 1,
            None => {}
        }
    }

    fn values(&self) -> u64 {
        self.integers + self.reals + self.texts + self.blobs
    }

    /// The column's type, and what to say if it is not the declared one.
    pub(super) fn resolve(&self, column: &str, declaration: &str) -> (DataType, Option<String>) {
        let data_type = if self.values() == 0 {
            self.declared.data_type()
        } else {
            self.fitting().unwrap_or_else(|| self.stored())
        };
        (
            data_type.clone(),
            self.notice(&data_type, column, declaration),
        )
    }

    /// The declared type, if it holds all values.
    fn fitting(&self) -> Option<DataType> {
        let all = self.values();
        let fits = match self.declared {
            DeclaredType::Integer => self.integers == all,
            DeclaredType::Real => self.reals + self.integers == all && self.beyond_double == 0,
            DeclaredType::Boolean => self.integers == all && self.beyond_boolean == 0,
            DeclaredType::Date => self.dates == all,
            DeclaredType::Timestamp { zoned: false } => {
                return match (self.zoned, self.dates + self.timestamps) {
                    (0, times) if times == all => Some(timestamp(false)),
                    (times, 0) if times == all => Some(timestamp(true)),
                    _ => None,
                };
            }
            // A time without zone is UTC, as for SQLite's own functions.
            DeclaredType::Timestamp { zoned: true } => {
                self.dates + self.timestamps + self.zoned == all
            }
            DeclaredType::Decimal { .. } => {
                self.integers + self.reals == all && self.beyond_decimal == 0
            }
            DeclaredType::Number | DeclaredType::Any => false,
            DeclaredType::Text => self.texts == all,
            DeclaredType::Blob => self.blobs == all,
        };
        fits.then(|| self.declared.data_type())
    }

    /// The type of the values as they are stored.
    fn stored(&self) -> DataType {
        let all = self.values();
        if self.blobs > 0 {
            DataType::BinaryView
        } else if self.declared == DeclaredType::Date && self.dates + self.timestamps == all {
            timestamp(false)
        } else if self.declared == DeclaredType::Date && self.zoned == all {
            timestamp(true)
        } else if self.texts > 0 {
            DataType::Utf8View
        } else if self.reals == 0 {
            DataType::Int64
        } else if self.beyond_double == 0 {
            DataType::Float64
        } else {
            DataType::Utf8View
        }
    }

    fn notice(&self, data_type: &DataType, column: &str, declaration: &str) -> Option<String> {
        let kinds = [self.integers + self.reals, self.texts, self.blobs]
            .iter()
            .filter(|&&count| count > 0)
            .count();
        let is_expected = match self.declared {
            // Whatever is there is what the declaration asks for, unless it is of several kinds.
            DeclaredType::Any => kinds <= 1,
            DeclaredType::Number => matches!(data_type, DataType::Int64 | DataType::Float64),
            // A zone in every value is no surprise to who wrote them.
            DeclaredType::Timestamp { .. } => matches!(data_type, DataType::Timestamp(..)),
            _ => *data_type == self.declared.data_type(),
        };
        if is_expected {
            return None;
        }
        let declared = if declaration.is_empty() {
            "has no declared type".to_owned()
        } else {
            format!("is declared {declaration}")
        };
        Some(format!(
            "column \"{column}\" {declared} but holds {}; it is read as {}",
            self.holdings(),
            sql_name(data_type)
        ))
    }

    /// Such as `3 integers and 1 text`.
    fn holdings(&self) -> String {
        let counts = [
            (self.integers, "integer"),
            (self.reals, "real number"),
            (self.texts, "text"),
            (self.blobs, "byte string"),
        ];
        let present = counts.iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = present
            .map(|(count, word)| format!("{count} {word}{}", if *count == 1 { "" } else { "s" }))
            .collect();
        words.join(" and ")
    }
}
