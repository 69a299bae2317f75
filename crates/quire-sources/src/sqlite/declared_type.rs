//! What a column's declared type says about its values: SQLite's rules of affinity, and the types that people mean by the names.

use arrow::datatypes::{DataType, TimeUnit};

/// What a declaration asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeclaredType {
    Integer,
    Real,
    Boolean,
    Date,
    /// `zoned` if the declaration says that values are moments.
    Timestamp {
        zoned: bool,
    },
    Decimal {
        precision: u8,
        scale: u8,
    },
    /// Numbers of either kind.
    Number,
    Text,
    Blob,
    /// No declaration, or one that names no type known here.
    Any,
}

const DIGITS_MAX: u8 = 38;

impl DeclaredType {
    /// The meaning of a declaration such as `VARCHAR(20)`. Names that people mean come first, then SQLite's rules in their order
    /// (*Datatypes in SQLite*, §3.1).
    pub(super) fn of(declaration: &str) -> Self {
        let upper = declaration.to_ascii_uppercase();
        let (name, arguments) = match upper.split_once('(') {
            Some((name, rest)) => (
                name.trim(),
                rest.split_once(')')
                    .map_or(rest, |(arguments, _)| arguments),
            ),
            None => (upper.trim(), ""),
        };
        match name {
            "BOOLEAN" | "BOOL" => return Self::Boolean,
            "DATE" => return Self::Date,
            "DATETIME" | "TIMESTAMP" => {
                let zoned = upper.contains("WITH TIME ZONE");
                return Self::Timestamp { zoned };
            }
            "TIMESTAMP WITHOUT TIME ZONE" => return Self::Timestamp { zoned: false },
            "TIMESTAMPTZ" | "TIMESTAMP WITH TIME ZONE" | "DATETIMEOFFSET" => {
                return Self::Timestamp { zoned: true };
            }
            "DECIMAL" | "NUMERIC" | "DEC" | "NUMBER" => {
                return decimal(arguments).unwrap_or(Self::Number);
            }
            _ => {}
        }
        let has = |parts: &[&str]| parts.iter().any(|part| upper.contains(part));
        if has(&["INT"]) {
            Self::Integer
        } else if has(&["CHAR", "CLOB", "TEXT"]) {
            Self::Text
        } else if has(&["BLOB"]) {
            Self::Blob
        } else if has(&["REAL", "FLOA", "DOUB"]) {
            Self::Real
        } else {
            Self::Any
        }
    }

    /// The type of the arrays when all values fit, and of a column without values.
    pub(super) fn data_type(self) -> DataType {
        match self {
            Self::Integer => DataType::Int64,
            Self::Real | Self::Number => DataType::Float64,
            Self::Boolean => DataType::Boolean,
            Self::Date => DataType::Date32,
            Self::Timestamp { zoned } => timestamp(zoned),
            Self::Decimal { precision, scale } => DataType::Decimal128(precision, scale as i8),
            Self::Text | Self::Any => DataType::Utf8View,
            Self::Blob => DataType::BinaryView,
        }
    }

    /// Whether texts have to be read to know whether they fit.
    pub(super) fn depends_on_texts(self) -> bool {
        matches!(self, Self::Date | Self::Timestamp { .. })
    }
}

/// A timestamp of microseconds, as a moment or as a clock shows it.
pub(super) fn timestamp(zoned: bool) -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, zoned.then(|| "+00:00".into()))
}

/// `precision` or `precision, scale`.
fn decimal(arguments: &str) -> Option<DeclaredType> {
    let mut numbers = arguments
        .split(',')
        .map(|number| number.trim().parse::<u8>());
    let precision = numbers.next()?.ok()?;
    let scale = numbers.next().map_or(Ok(0), |scale| scale).ok()?;
    let is_type =
        (1..=DIGITS_MAX).contains(&precision) && scale <= precision && numbers.next().is_none();
    is_type.then_some(DeclaredType::Decimal { precision, scale })
}

#[cfg(test)]
mod tests {
    use super::DeclaredType::{
        self, Any, Blob, Boolean, Date, Decimal, Integer, Number, Real, Text, Timestamp,
    };

    const CASES: [(&[&str], DeclaredType); 13] = [
        (
            &[
                "INT",
                "INTEGER",
                "TINYINT",
                "SMALLINT",
                "MEDIUMINT",
                "BIGINT",
                "UNSIGNED BIG INT",
                "INT2",
                "INT8",
            ],
            Integer,
        ),
        (
            &[
                "CHARACTER(20)",
                "VARCHAR(255)",
                "VARYING CHARACTER(255)",
                "NCHAR(55)",
                "NATIVE CHARACTER(70)",
                "NVARCHAR(100)",
                "TEXT",
                "CLOB",
            ],
            Text,
        ),
        (&["BLOB", "TINYBLOB"], Blob),
        (&["REAL", "DOUBLE", "DOUBLE PRECISION", "FLOAT"], Real),
        (
            &[
                "NUMERIC",
                "DECIMAL",
                "NUMERIC(0)",
                "DECIMAL(40,2)",
                "DECIMAL(2,3)",
                "DECIMAL(a)",
            ],
            Number,
        ),
        (&["BOOLEAN", "bool"], Boolean),
        (&["DATE", " date "], Date),
        (
            &[
                "DATETIME",
                "TIMESTAMP",
                "timestamp(6)",
                "TIMESTAMP WITHOUT TIME ZONE",
            ],
            Timestamp { zoned: false },
        ),
        (
            &[
                "TIMESTAMPTZ",
                "TIMESTAMP WITH TIME ZONE",
                "TIMESTAMP(3) WITH TIME ZONE",
            ],
            Timestamp { zoned: true },
        ),
        (
            &["DECIMAL(10,2)", "numeric ( 10 , 2 )"],
            Decimal {
                precision: 10,
                scale: 2,
            },
        ),
        (
            &["DECIMAL(10)"],
            Decimal {
                precision: 10,
                scale: 0,
            },
        ),
        (&["", "JSON", "UUID", "STRING", "ANY"], Any),
        // SQLite's own examples of names that mislead.
        (&["FLOATING POINT", "CHARINT"], Integer),
    ];

    // The first five lines are the table in section 3.1.1 of SQLite's document on types, but for the names that we refine.
    #[test]
    fn declarations_mean_what_sqlite_and_people_mean() {
        for (declarations, meaning) in CASES {
            for declaration in declarations {
                assert_eq!(DeclaredType::of(declaration), meaning, "{declaration}");
            }
        }
    }
}
