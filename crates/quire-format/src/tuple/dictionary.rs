//! Dictionaries of columns with few different values (paper 1 §3.2.3).

use std::cmp::Ordering;
use std::ops::Range;

use super::value::{TupleType, TupleValue};

/// Most bits of a dictionary code.
pub const CODE_BITS_MAX: u32 = 16;

/// The values of a column that is stored as codes of fixed width, as in the paper: the most values there can be, and so the
/// bits of a code, are known beforehand.
///
/// Entry `i` has code `i`; where the column is nullable, NULL has code 0 and entry `i` code `i + 1`. A longer dictionary
/// that starts with the same entries and has codes of as many bits reads the tuples of the shorter one.
#[derive(Clone, Debug)]
pub struct TupleDictionary {
    column_type: TupleType,
    code_bits: u32,
    entries: Vec<TupleDictionaryEntry>,
    strings: Vec<u8>,
    /// Indexes of the entries in the order of `compare`.
    sorted: Vec<u32>,
}

#[derive(Clone, Debug)]
enum TupleDictionaryEntry {
    Fixed(TupleValue<'static>),
    /// Where the bytes are.
    Bytes(Range<usize>),
}

/// Why there is no such dictionary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DictionaryError {
    #[error(
        "codes of {code_bits} bits, but at most {CODE_BITS_MAX} are possible; use null suppression"
    )]
    CodeBits { code_bits: u32 },
    #[error("{entries} values, but codes of {code_bits} bits tell {room} apart; use more bits")]
    TooMany {
        entries: usize,
        code_bits: u32,
        room: usize,
    },
    #[error("value {entry} is not one of {column_type:?}; NULL needs no entry")]
    WrongValue {
        entry: usize,
        column_type: TupleType,
    },
    #[error("value {entry} is there twice; keep the first")]
    Duplicate { entry: usize },
}

/// An order of the values of one type by what is stored, floats by their bits.
fn compare(left: TupleValue<'_>, right: TupleValue<'_>) -> Ordering {
    match (left, right) {
        (TupleValue::Bytes(left), TupleValue::Bytes(right)) => left.cmp(right),
        _ => number(left).cmp(&number(right)),
    }
}

fn number(value: TupleValue<'_>) -> i128 {
    match value {
        TupleValue::Null | TupleValue::Bytes(_) | TupleValue::Coded(_) => 0,
        TupleValue::Bool(value) => i128::from(value),
        TupleValue::Integer(value) => i128::from(value),
        TupleValue::Wide(value) => value,
        TupleValue::Float32(value) => i128::from(value.to_bits()),
        TupleValue::Float64(value) => i128::from(value.to_bits()),
    }
}

impl TupleDictionary {
    /// The dictionary of `values` of `column_type`, with codes of `code_bits` bits: 0 to [`CODE_BITS_MAX`].
    ///
    /// # Errors
    /// Values of another type, NULL, values that are there twice, and more values than codes.
    pub fn new(
        column_type: TupleType,
        code_bits: u32,
        values: &[TupleValue<'_>],
    ) -> Result<Self, DictionaryError> {
        if code_bits > CODE_BITS_MAX {
            return Err(DictionaryError::CodeBits { code_bits });
        }
        let mut dictionary = Self {
            column_type,
            code_bits,
            entries: Vec::with_capacity(values.len()),
            strings: Vec::new(),
            sorted: (0..values.len() as u32).collect(),
        };
        if !dictionary.has_room(values.len()) {
            return Err(DictionaryError::TooMany {
                entries: values.len(),
                code_bits,
                room: 1 << code_bits,
            });
        }
        for (entry, &value) in values.iter().enumerate() {
            if column_type.hold(value).is_err() {
                return Err(DictionaryError::WrongValue { entry, column_type });
            }
            dictionary.push(value);
        }
        dictionary.sort(values)?;
        Ok(dictionary)
    }

    fn push(&mut self, value: TupleValue<'_>) {
        let entry = match value {
            TupleValue::Bytes(bytes) => {
                let start = self.strings.len();
                self.strings.extend_from_slice(bytes);
                TupleDictionaryEntry::Bytes(start..self.strings.len())
            }
            // No type holds these.
            TupleValue::Null | TupleValue::Coded(_) => {
                TupleDictionaryEntry::Fixed(TupleValue::Null)
            }
            TupleValue::Bool(value) => TupleDictionaryEntry::Fixed(TupleValue::Bool(value)),
            TupleValue::Integer(value) => TupleDictionaryEntry::Fixed(TupleValue::Integer(value)),
            TupleValue::Wide(value) => TupleDictionaryEntry::Fixed(TupleValue::Wide(value)),
            TupleValue::Float32(value) => TupleDictionaryEntry::Fixed(TupleValue::Float32(value)),
            TupleValue::Float64(value) => TupleDictionaryEntry::Fixed(TupleValue::Float64(value)),
        };
        self.entries.push(entry);
    }

    fn sort(&mut self, values: &[TupleValue<'_>]) -> Result<(), DictionaryError> {
        let value = |&index: &u32| values.get(index as usize).copied().unwrap_or_default();
        self.sorted
            .sort_by(|left, right| compare(value(left), value(right)));
        let twice = self
            .sorted
            .windows(2)
            .find(|pair| compare(value(&pair[0]), value(&pair[1])) == Ordering::Equal);
        match twice {
            Some(pair) => Err(DictionaryError::Duplicate {
                entry: pair[1] as usize,
            }),
            None => Ok(()),
        }
    }

    /// Whether there are codes for `count` entries, NULL among them if it needs one.
    pub(super) fn has_room(&self, count: usize) -> bool {
        count <= 1 << self.code_bits
    }

    /// Number of entries, without NULL.
    pub fn entry_count(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn code_bits(&self) -> u32 {
        self.code_bits
    }

    pub(super) fn column_type(&self) -> TupleType {
        self.column_type
    }

    /// The value of entry `index`.
    #[inline]
    pub(super) fn entry(&self, index: usize) -> Option<TupleValue<'_>> {
        match self.entries.get(index)? {
            TupleDictionaryEntry::Fixed(value) => Some(*value),
            TupleDictionaryEntry::Bytes(range) => {
                self.strings.get(range.clone()).map(TupleValue::Bytes)
            }
        }
    }

    /// The entry of `value`, which is of the dictionary's type.
    pub(super) fn find(&self, value: TupleValue<'_>) -> Option<usize> {
        let at = self.sorted.binary_search_by(|&index| {
            let entry = self.entry(index as usize).unwrap_or_default();
            compare(entry, value)
        });
        self.sorted.get(at.ok()?).map(|&index| index as usize)
    }
}
