//! How a column of a row group is told by others of its columns.

use quire_codec::Corrupt;
use quire_codec::correlated::{Combination, DIVISOR_DIGITS_MAX};

use crate::wire::{WireItemReader, WireItemWriter};

/// What the values of a column follow from, besides what its own pages hold. The columns, its *references*, are indices
/// into the row group; they have no relation themselves, so that reading a column opens three segments at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ColumnRelation {
    /// Integers: the pages hold what is left of the values of the column.
    Same(usize),
    /// Integers: what is left of one column and another.
    Sum(usize, usize),
    /// Integers: what is left of one column less another.
    Difference(usize, usize),
    /// Integers: what is left of one column times another, divided by a power of ten.
    Product {
        columns: (usize, usize),
        divisor_digits: u8,
    },
    /// Any type: the pages hold a map from the values of the column.
    Map(usize),
}

const SAME: u8 = 1;
const SUM: u8 = 2;
const DIFFERENCE: u8 = 3;
const PRODUCT: u8 = 4;
const MAP: u8 = 5;

impl ColumnRelation {
    /// The relation of integers to one reference, or two.
    pub fn combined(combination: Combination, first: usize, second: usize) -> Self {
        match combination {
            Combination::Same => ColumnRelation::Same(first),
            Combination::Sum => ColumnRelation::Sum(first, second),
            Combination::Difference => ColumnRelation::Difference(first, second),
            Combination::Product { divisor_digits } => ColumnRelation::Product {
                columns: (first, second),
                divisor_digits,
            },
        }
    }

    /// How integers are expected from the references; `None` for a map.
    pub fn combination(self) -> Option<Combination> {
        Some(match self {
            ColumnRelation::Same(_) => Combination::Same,
            ColumnRelation::Sum(..) => Combination::Sum,
            ColumnRelation::Difference(..) => Combination::Difference,
            ColumnRelation::Product { divisor_digits, .. } => {
                Combination::Product { divisor_digits }
            }
            ColumnRelation::Map(_) => return None,
        })
    }

    /// The references: one, or two, which may be the same.
    pub fn references(self) -> (usize, Option<usize>) {
        match self {
            ColumnRelation::Same(first) | ColumnRelation::Map(first) => (first, None),
            ColumnRelation::Sum(first, second) | ColumnRelation::Difference(first, second) => {
                (first, Some(second))
            }
            ColumnRelation::Product { columns, .. } => (columns.0, Some(columns.1)),
        }
    }

    /// The same relation where columns have other indices; `None` if a reference has none.
    #[must_use]
    pub fn renumbered(self, index_of: impl Fn(usize) -> Option<usize>) -> Option<Self> {
        Some(match self {
            ColumnRelation::Same(first) => ColumnRelation::Same(index_of(first)?),
            ColumnRelation::Sum(first, second) => {
                ColumnRelation::Sum(index_of(first)?, index_of(second)?)
            }
            ColumnRelation::Difference(first, second) => {
                ColumnRelation::Difference(index_of(first)?, index_of(second)?)
            }
            ColumnRelation::Product {
                columns: (first, second),
                divisor_digits,
            } => ColumnRelation::Product {
                columns: (index_of(first)?, index_of(second)?),
                divisor_digits,
            },
            ColumnRelation::Map(first) => ColumnRelation::Map(index_of(first)?),
        })
    }

    /// The relation as a formula, given the names of the columns: `a`, `a + b`, `a - b`, `a * b`, `a * b / 100`,
    /// `map of a`.
    pub fn formula<'a>(self, name: impl Fn(usize) -> &'a str) -> String {
        match self {
            ColumnRelation::Same(first) => name(first).to_owned(),
            ColumnRelation::Sum(first, second) => format!("{} + {}", name(first), name(second)),
            ColumnRelation::Difference(first, second) => {
                format!("{} - {}", name(first), name(second))
            }
            ColumnRelation::Product {
                columns,
                divisor_digits,
            } => {
                let divisor = 10_u64.pow(divisor_digits.min(DIVISOR_DIGITS_MAX).into());
                let divided = match divisor {
                    1 => String::new(),
                    _ => format!(" / {divisor}"),
                };
                format!("{} * {}{divided}", name(columns.0), name(columns.1))
            }
            ColumnRelation::Map(column) => format!("map of {}", name(column)),
        }
    }

    pub(crate) fn encode(self, writer: &mut WireItemWriter) {
        writer.byte(match self {
            ColumnRelation::Same(_) => SAME,
            ColumnRelation::Sum(..) => SUM,
            ColumnRelation::Difference(..) => DIFFERENCE,
            ColumnRelation::Product { .. } => PRODUCT,
            ColumnRelation::Map(_) => MAP,
        });
        let (first, second) = self.references();
        writer.varint(first as u64);
        if let Some(second) = second {
            writer.varint(second as u64);
        }
        if let ColumnRelation::Product { divisor_digits, .. } = self {
            writer.byte(divisor_digits);
        }
    }

    pub(crate) fn decode(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        let kind = reader.byte()?;
        let column = |reader: &mut WireItemReader<'_>| {
            let index = usize::try_from(reader.varint()?);
            index.map_err(|_| reader.corrupt("reference out of range"))
        };
        let first = column(reader)?;
        Ok(match kind {
            SAME => ColumnRelation::Same(first),
            SUM => ColumnRelation::Sum(first, column(reader)?),
            DIFFERENCE => ColumnRelation::Difference(first, column(reader)?),
            PRODUCT => ColumnRelation::Product {
                columns: (first, column(reader)?),
                divisor_digits: reader.byte()?,
            },
            MAP => ColumnRelation::Map(first),
            _ => return Err(reader.corrupt(format!("unknown relation {kind}"))),
        })
    }
}
