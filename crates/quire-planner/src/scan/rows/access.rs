//! The way to the rows that filters leave: the primary key, an index, or all rows.

use std::ops::Bound;

use datafusion::common::{DataFusionError, Result};
use quire_error::Error;
use quire_exec::access::path_ns;
use quire_exec::costs::Costs;
use quire_tables::row_table::{ColumnRange, KeyRange, RowError, TupleValue};
use quire_tables::{RowScanError, RowSource, RowTable};

use super::conditions::{Condition, as_tuple_bound};

/// How to find rows, and how many are expected.
#[derive(Debug, Clone)]
pub(super) struct Access {
    pub(super) source: RowSource,
    pub(super) rows: u64,
}

/// Chooses the cheapest way, by the prices of the tuple engine's.
pub(super) fn choose(
    table: &RowTable,
    conditions: &[Option<Condition>],
    costs: &Costs,
) -> Result<Access> {
    let cost_ns = |source: &RowSource, rows: u64| {
        let cost_ns = path_ns(table, source, rows, costs);
        cost_ns.map_err(external)
    };
    let all = KeyRange::all();
    let table_rows = table
        .estimate(&RowSource::Range(all.clone()))
        .map_err(external)?;
    let mut best = Access {
        source: RowSource::Range(all),
        rows: table_rows,
    };
    let mut best_ns = cost_ns(&best.source, table_rows)?;
    let layout = table.layout();
    if let Some((equal, next)) = prefix(layout.key_ordinals(), conditions) {
        let range = layout.key_range(&equal, next).map_err(unfit)?;
        let source = RowSource::Range(range);
        let rows = if equal.len() == layout.key_ordinals().len() {
            1
        } else {
            table.estimate(&source).map_err(external)?
        };
        let way_ns = cost_ns(&source, rows)?;
        if rows < table_rows || way_ns <= best_ns {
            best_ns = way_ns;
            best = Access { source, rows };
        }
    }
    for (index, known) in table.indexes().iter().enumerate() {
        let ordinals = known.layout.ordinals();
        let Some((equal, next)) = prefix(ordinals, conditions) else {
            continue;
        };
        let is_one = known.layout.is_unique() && equal.len() == ordinals.len();
        let range = known.layout.range(&equal, next).map_err(unfit)?;
        let source = RowSource::Index { index, range };
        let rows = if is_one {
            1
        } else {
            table.estimate(&source).map_err(external)?
        };
        let way_ns = cost_ns(&source, rows)?;
        if way_ns < best_ns {
            best_ns = way_ns;
            best = Access { source, rows };
        }
    }
    Ok(best)
}

/// Values for the first columns of a key, and a range for the one behind them; nothing when the filters say nothing of the
/// first.
fn prefix<'c>(
    ordinals: &[usize],
    conditions: &'c [Option<Condition>],
) -> Option<(Vec<TupleValue<'c>>, ColumnRange<'c>)> {
    let mut equal = Vec::new();
    for ordinal in ordinals {
        match conditions.get(*ordinal)? {
            Some(Condition::Equal(value)) => equal.push(value.as_tuple_value()),
            Some(Condition::Between(low, high)) => {
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
