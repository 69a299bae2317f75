//! The way to the rows that filters leave: the primary key, an index, or all rows.

use std::ops::Bound;

use datafusion::common::{DataFusionError, Result};
use quire_error::Error;
use quire_exec::access::path_ns;
use quire_exec::costs::CostModel;
use quire_tables::row_table::{ColumnRange, KeyRange, RowError, TupleValue};
use quire_tables::{RowScanError, RowTable, ScanRowSource};

use super::conditions::{ColumnCondition, as_tuple_bound};

/// How to find rows, and how many are expected.
#[derive(Debug, Clone)]
pub(super) struct RowAccess {
    pub(super) source: ScanRowSource,
    pub(super) rows: u64,
}

/// Chooses the cheapest way, by the prices of the tuple engine's.
pub(super) fn choose(
    table: &RowTable,
    conditions: &[Option<ColumnCondition>],
    costs: &CostModel,
) -> Result<RowAccess> {
    let cost_ns = |source: &ScanRowSource, rows: u64| {
        let cost_ns = path_ns(table, source, rows, costs);
        cost_ns.map_err(external)
    };
    let all = KeyRange::all();
    let table_rows = table
        .estimate(&ScanRowSource::Range(all.clone()))
        .map_err(external)?;
    let mut best = RowAccess {
        source: ScanRowSource::Range(all),
        rows: table_rows,
    };
    let mut best_ns = cost_ns(&best.source, table_rows)?;
    let layout = table.layout();
    if let Some((equal, next)) = prefix(layout.key_ordinals(), conditions) {
        let range = layout.key_range(&equal, next).map_err(unfit)?;
        let source = ScanRowSource::Range(range);
        let rows = if equal.len() == layout.key_ordinals().len() {
            1
        } else {
            table.estimate(&source).map_err(external)?
        };
        let way_ns = cost_ns(&source, rows)?;
        if rows < table_rows || way_ns <= best_ns {
            best_ns = way_ns;
            best = RowAccess { source, rows };
        }
    }
    for (index, known) in table.indexes().iter().enumerate() {
        let ordinals = known.layout.ordinals();
        let Some((equal, next)) = prefix(ordinals, conditions) else {
            continue;
        };
        let is_one = known.layout.is_unique() && equal.len() == ordinals.len();
        let range = known.layout.range(&equal, next).map_err(unfit)?;
        let source = ScanRowSource::Index { index, range };
        let rows = if is_one {
            1
        } else {
            table.estimate(&source).map_err(external)?
        };
        let way_ns = cost_ns(&source, rows)?;
        if way_ns < best_ns {
            best_ns = way_ns;
            best = RowAccess { source, rows };
        }
    }
    Ok(best)
}

/// Values for the first columns of a key, and a range for the one behind them; nothing when the filters say nothing of the
/// first.
fn prefix<'c>(
    ordinals: &[usize],
    conditions: &'c [Option<ColumnCondition>],
) -> Option<(Vec<TupleValue<'c>>, ColumnRange<'c>)> {
    let mut equal = Vec::new();
    for ordinal in ordinals {
        match conditions.get(*ordinal)? {
            Some(ColumnCondition::Equal(value)) => equal.push(value.as_tuple_value()),
            Some(ColumnCondition::Between(low, high)) => {
                let range = ColumnRange::Between(as_tuple_bound(low), as_tuple_bound(high));
                let is_bounded = !matches!((low, high), (Bound::Unbounded, Bound::Unbounded));
                return is_bounded.then_some((equal, range));
            }
            None => break,
        }
    }
    (!equal.is_empty()).then_some((equal, ColumnRange::All))
}

pub(super) fn external(error: RowScanError) -> DataFusionError {
    DataFusionError::External(Box::new(Error::from(error)))
}

fn unfit(error: RowError) -> DataFusionError {
    external(RowScanError::from(error))
}
