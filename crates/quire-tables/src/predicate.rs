//! What a scan asks of a filter.

use arrow_array::{BooleanArray, RecordBatch};

use crate::zone_table::ZoneTable;

/// One conjunct of a filter. Rows for which every predicate of a scan is true come out of it.
pub trait Predicate: Send + Sync {
    /// Columns of the table that the predicate reads, as indices into the table's definition.
    /// May repeat nothing; the order is the order of the columns in [`Predicate::evaluate`].
    fn columns(&self) -> &[usize];

    /// Evaluates the predicate on some rows: `batch` holds exactly [`Predicate::columns`], in that
    /// order and under their names. Returns one value per row; NULL counts as false.
    /// The scan chooses which rows and how many: not every row of the table is asked for, and
    /// the distinct values of a dictionary may be asked for instead of rows.
    ///
    /// # Errors
    /// The text of an error ends the scan as [`crate::ScanError::Predicate`].
    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray, String>;

    /// Which zones can hold a row for which the predicate is true: `false` skips the zone.
    /// `None` keeps all. Asked once per row group while the scan runs, with one zone per vector
    /// group, so a filter that tightens during the scan prunes what is still to come.
    fn prune(&self, zones: &ZoneTable) -> Option<Vec<bool>>;

    /// Whether equal input gives equal output, for all inputs, within one [`Predicate::generation`].
    /// A predicate that says yes and reads one column may be evaluated on a dictionary's values
    /// once instead of on the rows.
    fn is_deterministic(&self) -> bool;

    /// Changes whenever the predicate's meaning does (dynamic filters); constant otherwise.
    fn generation(&self) -> u64 {
        0
    }
}
