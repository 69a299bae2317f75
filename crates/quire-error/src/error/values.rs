//! Errors of values that an expression computes, wherever it is computed.

use quire_exec::plan::VALUE_BYTES_MAX;

use super::Error;

impl Error {
    /// `21000`: a second row.
    pub fn more_than_one_row() -> Self {
        let text = "more than one row returned by a subquery used as an expression";
        Self::new("21000", text)
            .with_hint("Let its WHERE choose one row, add LIMIT 1, or aggregate, as max(x) does.")
    }

    /// `22003`: a result that the integer type of this name does not hold.
    pub fn integer_out_of_range(name: &str) -> Self {
        let text = format!("{name} out of range");
        let hint = "Cast an operand to a wider type, such as BIGINT or DECIMAL(38,0).";
        Self::new("22003", text).with_hint(hint)
    }

    /// `22003`: a result that no decimal holds.
    pub fn decimal_out_of_range() -> Self {
        let text = "decimal out of range: the result has more than 38 digits";
        let hint = "Cast operands to decimals with fewer digits, or to DOUBLE PRECISION.";
        Self::new("22003", text).with_hint(hint)
    }

    /// `54000`: a value that would be too long.
    pub fn value_too_large() -> Self {
        Self::new("54000", "the value is too large")
            .with_detail(format!("A value has at most {VALUE_BYTES_MAX} bytes."))
    }
}
