//! A value of a row, a parameter or a result.

use std::fmt;

/// A value of a row, a parameter or a result, as all targets have it.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    Null,
    Integer(i64),
    Double(f64),
    /// `unscaled` / 10^`scale`.
    Decimal {
        unscaled: i64,
        scale: u8,
    },
    Text(String),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since 1970-01-01 00:00:00, without a time zone.
    Timestamp(i64),
}

impl SqlValue {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The integer of a result; a decimal without a fraction counts as one, as sums of integers are decimals in some databases.
    pub fn as_integer(&self) -> Option<i64> {
        match *self {
            Self::Integer(value) => Some(value),
            Self::Decimal { unscaled, scale } => {
                let unit = 10i64.checked_pow(u32::from(scale))?;
                (unscaled % unit == 0).then_some(unscaled / unit)
            }
            _ => None,
        }
    }

    /// The value as a count of 10^-`scale`; `None` if it has more digits than that or is no number.
    pub fn as_unscaled(&self, scale: u8) -> Option<i64> {
        match *self {
            Self::Integer(value) => value.checked_mul(10i64.checked_pow(u32::from(scale))?),
            Self::Decimal {
                unscaled,
                scale: own,
            } if own <= scale => unscaled.checked_mul(10i64.checked_pow(u32::from(scale - own))?),
            Self::Decimal {
                unscaled,
                scale: own,
            } => {
                let unit = 10i64.checked_pow(u32::from(own - scale))?;
                (unscaled % unit == 0).then_some(unscaled / unit)
            }
            // SQLite has no decimals: it stores and sums them as doubles.
            Self::Double(value) => {
                let scaled = (value * 10f64.powi(i32::from(scale))).round();
                (scaled.abs() < 9e15).then_some(scaled as i64)
            }
            _ => None,
        }
    }

    /// The text of a result.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// As SQL writes the value without quotes, and CSV files have it; NULL is empty.
impl fmt::Display for SqlValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => Ok(()),
            Self::Integer(value) => write!(formatter, "{value}"),
            Self::Double(value) => write!(formatter, "{value}"),
            Self::Decimal { unscaled, scale: 0 } => write!(formatter, "{unscaled}"),
            Self::Decimal { unscaled, scale } => {
                let unit = 10u64.pow(u32::from(*scale));
                let (whole, part) = (
                    unscaled.unsigned_abs() / unit,
                    unscaled.unsigned_abs() % unit,
                );
                let sign = if *unscaled < 0 { "-" } else { "" };
                write!(
                    formatter,
                    "{sign}{whole}.{part:0width$}",
                    width = usize::from(*scale)
                )
            }
            Self::Text(text) => formatter.write_str(text),
            Self::Date(days) => {
                let (year, month, day) = civil(*days);
                write!(formatter, "{year:04}-{month:02}-{day:02}")
            }
            Self::Timestamp(micros) => {
                let day_micros = 86_400_000_000;
                let (year, month, day) = civil(micros.div_euclid(day_micros) as i32);
                let rest = micros.rem_euclid(day_micros);
                let seconds = rest / 1_000_000;
                write!(
                    formatter,
                    "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}.{:06}",
                    seconds / 3_600,
                    seconds / 60 % 60,
                    seconds % 60,
                    rest % 1_000_000
                )
            }
        }
    }
}

/// Year, month and day of a number of days since 1970-01-01, in the proleptic Gregorian calendar (H. Hinnant, *chrono-compatible low-level date
/// algorithms*).
fn civil(days: i32) -> (i32, u32, u32) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i32::from(month <= 2);
    (year, month as u32, day as u32)
}

#[cfg(test)]
mod tests {
    use super::SqlValue;

    #[test]
    fn values_are_written_as_sql_reads_them() {
        let written = |value: SqlValue| value.to_string();
        assert_eq!(written(SqlValue::Date(0)), "1970-01-01");
        assert_eq!(written(SqlValue::Date(11_016)), "2000-02-29");
        assert_eq!(written(SqlValue::Date(-1)), "1969-12-31");
        assert_eq!(
            written(SqlValue::Timestamp(-1)),
            "1969-12-31 23:59:59.999999"
        );
        let decimal = |unscaled, scale| written(SqlValue::Decimal { unscaled, scale });
        assert_eq!(decimal(-5, 2), "-0.05");
        assert_eq!(decimal(1_234, 2), "12.34");
        assert_eq!(decimal(7, 0), "7");
    }

    #[test]
    fn numbers_of_results_are_compared_at_one_scale() {
        let decimal = SqlValue::Decimal {
            unscaled: 1_250,
            scale: 3,
        };
        assert_eq!(decimal.as_unscaled(2), Some(125));
        assert_eq!(decimal.as_unscaled(1), None);
        assert_eq!(decimal.as_integer(), None);
        assert_eq!(SqlValue::Integer(3).as_unscaled(2), Some(300));
        assert_eq!(SqlValue::Double(1.25).as_unscaled(2), Some(125));
    }
}
