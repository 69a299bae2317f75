//! What is kept of a row.

use std::fmt;

use quire_format::tuple::{TupleColumn, TupleCompression, TupleType};

use crate::avm::{Register, Tuple};
use crate::plan::ValueKind;

/// How the values of a kind are held in a temporary, if nothing else is known of them.
pub(super) fn tuple_type(kind: ValueKind) -> TupleType {
    match kind {
        ValueKind::Boolean => TupleType::Bool,
        ValueKind::Integer => TupleType::Int64,
        ValueKind::Decimal => TupleType::Int128 { digits: 38 },
        ValueKind::Real => TupleType::Float32,
        ValueKind::Double => TupleType::Float64,
        ValueKind::Bytes => TupleType::Bytes,
    }
}

/// A value that is kept.
#[derive(Clone, Debug)]
pub struct KeptValue {
    /// What `EXPLAIN` calls it.
    pub name: String,
    /// Where it is when the row is kept.
    pub register: Register,
    /// How it is held: a type that has all values that the register may have.
    pub column_type: TupleType,
    /// Whether it is null-suppressed: smaller, and dearer to write and to read.
    pub is_suppressed: bool,
}

impl KeptValue {
    /// Its column in the layout of the values.
    pub(super) fn column(&self) -> TupleColumn {
        TupleColumn {
            column_type: self.column_type,
            nullable: true,
            compression: if self.is_suppressed {
                TupleCompression::NullSuppressed
            } else {
                TupleCompression::None
            },
        }
    }
}

/// A tuple that is kept as it is, compressed if its table is.
#[derive(Clone, Debug)]
pub struct KeptTuple {
    /// Where it is when the row is kept.
    pub from: Tuple,
    /// The register that points to it while the kept row is the present one: its attributes are those of `from`.
    pub to: Tuple,
    /// Whether its key is kept, too.
    pub with_key: bool,
}

/// What is kept of a row, and the registers that point to it.
#[derive(Clone, Debug)]
pub struct KeptRowShape {
    /// Attributes of `register` read these by their positions.
    pub values: Vec<KeptValue>,
    pub register: Tuple,
    pub tuples: Vec<KeptTuple>,
}

impl KeptRowShape {
    /// Values only, of the types that registers have.
    #[must_use]
    pub fn of_values(columns: &[Register], register: Tuple, are_suppressed: bool) -> Self {
        let value = |(position, column): (usize, &Register)| KeptValue {
            name: format!("column {}", position + 1),
            register: *column,
            column_type: tuple_type(column.kind()),
            is_suppressed: are_suppressed,
        };
        Self {
            values: columns.iter().enumerate().map(value).collect(),
            register,
            tuples: Vec::new(),
        }
    }
}

/// As `EXPLAIN` shows it: `t0 as it is in t3; day compressed, price plain in t4`.
impl fmt::Display for KeptRowShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, tuple) in self.tuples.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            let key = if tuple.with_key { " with its key" } else { "" };
            let (from, to) = (tuple.from.0, tuple.to.0);
            write!(f, "{separator}t{from} as it is{key} in t{to}")?;
        }
        if self.values.is_empty() && self.tuples.is_empty() {
            return f.write_str("nothing");
        }
        for (position, value) in self.values.iter().enumerate() {
            let separator = match (position, self.tuples.is_empty()) {
                (0, true) => "",
                (0, false) => "; ",
                _ => ", ",
            };
            let form = if value.is_suppressed {
                "compressed"
            } else {
                "plain"
            };
            write!(f, "{separator}{} {form}", value.name)?;
        }
        if self.values.is_empty() {
            return Ok(());
        }
        write!(f, " in t{}", self.register.0)
    }
}
