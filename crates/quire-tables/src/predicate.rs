//! What a scan asks of a filter.

use std::ops::RangeInclusive;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use quire_vector::{Comparison, KeySet};

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
    /// `None` keeps all. Asked while the scan runs, with one zone per vector group, when a row group is about to be read and perhaps
    /// before, when its pages are: a filter that tightens during the scan prunes what is still to come. It must not loosen: a row group
    /// that has been excluded once is not read.
    fn prune(&self, zones: &ZoneTable) -> Option<Vec<bool>>;

    /// Whether equal input gives equal output, for all inputs, within one [`Predicate::generation`].
    /// A predicate that says yes and reads one column may be evaluated on a dictionary's values
    /// once instead of on the rows.
    fn is_deterministic(&self) -> bool;

    /// Tests on stored integers that every row passes for which the predicate is true, in the present generation.
    fn stored_tests(&self) -> Option<Arc<StoredTests>> {
        None
    }

    /// Changes whenever the predicate's meaning does (dynamic filters); constant otherwise.
    fn generation(&self) -> u64 {
        0
    }
}

/// What a scan computes of a predicate by itself, without Arrow arrays.
#[derive(Debug)]
pub struct StoredTests {
    /// All of them have to be passed.
    pub tests: Vec<StoredTest>,
    /// Whether the predicate is true for each row that passes them; if not, it is evaluated on these rows.
    pub is_complete: bool,
}

/// A test of columns of 16, 32 or 64-bit integers as they are stored: dates in days, timestamps in microseconds, decimals without their point. A
/// row that is NULL in one of the columns does not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredTest {
    Range {
        column: usize,
        range: RangeInclusive<i64>,
    },
    Members {
        column: usize,
        set: Arc<KeySet>,
    },
    /// Both columns have the same type.
    Compared {
        left: usize,
        comparison: Comparison,
        right: usize,
    },
}

impl StoredTest {
    /// Whether the test is made before all that decodes more than one column.
    pub(crate) fn is_cheap(&self) -> bool {
        !matches!(self, StoredTest::Compared { .. })
    }
}
