//! Size and value distribution of one column.

use datafusion::common::ScalarValue;

/// One column's values.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnProfile {
    pub(crate) distinct_count: f64,
    /// Share of rows that are NULL, 0 to 1.
    pub(crate) null_fraction: f64,
    pub(crate) null_count: u64,
    pub(crate) min: Option<ScalarValue>,
    pub(crate) max: Option<ScalarValue>,
    /// Whether some row holds `min`, and some row `max`.
    pub(crate) bounds_are_exact: bool,
    /// Average bytes of a value as an Arrow array.
    pub(crate) value_bytes: f64,
    /// Average bytes of a value that a join keeps: of a row table as the tuple engine does, of a column table as an Arrow array.
    pub(crate) kept_bytes: f64,
}
