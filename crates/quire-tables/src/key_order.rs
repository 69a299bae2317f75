//! Whether the rows of a table lie in the order of a column, as far as few of its zones tell.

use quire_codec::CodecScalar;
use quire_format::row_group::RowGroup;

use crate::table::ColumnTable;

/// So many row groups are looked at, evenly spread.
const SAMPLED_ROW_GROUPS: usize = 4;

impl ColumnTable {
    /// Whether rows seem to lie in the order of an integer column. A guess for planning: rows of other row groups may lie elsewhere, and
    /// those of a zone in any order. False if rows have changed since they were stored, and where metadata cannot be read.
    pub fn seems_in_order_of(&self, column: usize) -> bool {
        if self.is_changed().unwrap_or(true) {
            return false;
        }
        let last = self.row_group_count().saturating_sub(1);
        let sampled =
            (0..SAMPLED_ROW_GROUPS).map(|number| last * number / (SAMPLED_ROW_GROUPS - 1));
        let mut sampled: Vec<usize> = sampled.collect();
        sampled.dedup();
        let mut end = None;
        sampled.into_iter().all(|index| {
            let row_group = self.row_group(index);
            row_group.is_ok_and(|row_group| zones_ascend(&row_group, column, &mut end))
        })
    }
}

/// Whether each zone begins where the one before it has ended, or behind that. `end` is that of the last zone.
fn zones_ascend(row_group: &RowGroup, column: usize, end: &mut Option<i128>) -> bool {
    let integer = |bound: &Option<CodecScalar>| bound.as_ref()?.as_integer();
    let Some(chunk) = row_group.columns.get(column) else {
        return false;
    };
    chunk.group_zones.iter().all(|zone| {
        let (Some(min), Some(max)) = (integer(&zone.min), integer(&zone.max)) else {
            return false;
        };
        let ascends = end.is_none_or(|end| end <= min);
        *end = Some(max);
        ascends
    })
}
