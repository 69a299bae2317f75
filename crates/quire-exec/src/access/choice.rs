//! Which key is taken.
//!
//! What counts is how many rows are read, as the inner pages of the trees say without a row being read, and what reading one costs
//! ([`Prices`]): a row that an index leads to is looked up in the table by its key. All values of all columns of a key that is unique are one
//! row, whatever the pages say.

use std::sync::Arc;

use quire_tables::SqlType;
use quire_tables::row_table::KeyRange;
use quire_tables::{RowScanError, RowTable, ScanRowSource};

use super::column_test::{ColumnTest, Reading};
use super::price::Prices;
use super::ranges::{KeyRanges, ranges_of};
use super::value_set::ValueSet;
use crate::costs::CostModel;
use crate::plan::{Environment, Expression};

/// How the rows of a table are found.
#[derive(Clone, Debug)]
pub struct AccessChoice {
    /// The position of an index, if it is not the key of the rows.
    pub(crate) index: Option<usize>,
    pub(crate) ranges: Arc<[KeyRange]>,
    /// About how many rows are read.
    pub(crate) rows: f64,
    /// What that costs, in nanoseconds, without what becomes of rows that pass all conditions.
    pub(crate) cost_ns: f64,
    /// Of each condition, whether no row of the ranges needs to be tested for it.
    pub(crate) is_said: Vec<bool>,
}

/// What the conditions say of a column.
pub(super) struct ColumnPredicates<'e> {
    ordinal: usize,
    sql_type: SqlType,
    /// By the positions of conditions.
    tests: Vec<(usize, bool, ColumnTest<'e>)>,
}

/// The cheapest way to the rows of which all conditions are true, whose slots are the columns of these ordinals. Both executors
/// choose by it.
///
/// # Errors
/// Pages that cannot be read or are damaged.
pub fn choose(
    table: &RowTable,
    ordinals: &[usize],
    conditions: &[&Expression],
    environment: &Environment<'_>,
    costs: &CostModel,
) -> Result<AccessChoice, RowScanError> {
    let columns = columns_of(table, ordinals, conditions);
    let sets: Vec<(usize, ValueSet)> = columns
        .iter()
        .filter_map(|column| Some((column.ordinal, column.values(environment)?)))
        .collect();
    let set_of = |ordinal: usize| {
        let found = sets.iter().find(|(of, _)| *of == ordinal);
        found.map(|(_, set)| set.clone())
    };
    let mut ways = Vec::new();
    let keys = std::iter::once(None).chain((0..table.indexes().len()).map(Some));
    for index in keys {
        if let Some(found) = ranges_of(table, index, set_of) {
            ways.push(AccessChoice::of(table, index, found, conditions.len())?);
        }
    }
    let tested = tested_ordinals(ordinals, conditions);
    let near = Prices::in_memory(table, costs, &tested);
    // A few rows need no comparison with all, which would read pages to know how many these are.
    if let Some((mut choice, column_count)) = best_of(&ways, &near)
        && choice.cost_ns <= 4.0 * near.lookup_ns
    {
        choice.note_said(table, &columns, column_count, environment);
        return Ok(choice);
    }
    let prices = Prices::of(table, costs, &tested)?;
    let row_count = table.row_count_estimate()? as f64;
    let all_ns = row_count * prices.row_ns;
    Ok(match best_of(&ways, &prices) {
        Some((mut choice, column_count)) if choice.cost_ns <= all_ns => {
            choice.note_said(table, &columns, column_count, environment);
            choice
        }
        _ => AccessChoice {
            index: None,
            ranges: Arc::new([KeyRange::all()]),
            rows: row_count,
            cost_ns: all_ns,
            is_said: vec![false; conditions.len()],
        },
    })
}

/// Whether a condition restricts a single column, so that a key may lead to its rows.
pub fn is_of_columns(table: &RowTable, ordinals: &[usize], condition: &Expression) -> bool {
    !columns_of(table, ordinals, &[condition]).is_empty()
}

/// The cheapest of some ways, of those the one that uses most columns of its key.
fn best_of(ways: &[(AccessChoice, usize)], prices: &Prices) -> Option<(AccessChoice, usize)> {
    let mut best: Option<(f64, &(AccessChoice, usize))> = None;
    for way in ways {
        let cost_ns = way.0.priced(prices);
        let is_better = |(best_ns, best): &(f64, &(AccessChoice, usize))| {
            (cost_ns, usize::MAX - way.1) < (*best_ns, usize::MAX - best.1)
        };
        if best.as_ref().is_none_or(is_better) {
            best = Some((cost_ns, way));
        }
    }
    let (cost_ns, (choice, column_count)) = best?;
    let choice = AccessChoice {
        cost_ns,
        ..choice.clone()
    };
    Some((choice, *column_count))
}

/// The columns that conditions read.
fn tested_ordinals(ordinals: &[usize], conditions: &[&Expression]) -> Vec<usize> {
    let ordinals = ordinals.iter().enumerate();
    let tested = ordinals.filter(|(slot, _)| conditions.iter().any(|one| one.reads(*slot)));
    tested.map(|(_, ordinal)| *ordinal).collect()
}

pub(super) fn columns_of<'e>(
    table: &RowTable,
    ordinals: &[usize],
    conditions: &[&'e Expression],
) -> Vec<ColumnPredicates<'e>> {
    let column = |(slot, ordinal): (usize, &usize)| {
        let sql_type = table.layout().sql_type(*ordinal)?;
        // Keys have one zero and one NaN, comparisons may not.
        if matches!(sql_type, SqlType::Real | SqlType::Double) {
            return None;
        }
        let read = |(position, condition): (usize, &&'e Expression)| {
            let Reading { test, is_exact } = Reading::of(condition, slot)?;
            Some((position, is_exact, test))
        };
        let tests: Vec<_> = conditions.iter().enumerate().filter_map(read).collect();
        (!tests.is_empty()).then_some(ColumnPredicates {
            ordinal: *ordinal,
            sql_type,
            tests,
        })
    };
    ordinals.iter().enumerate().filter_map(column).collect()
}

impl ColumnPredicates<'_> {
    pub(super) fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// The positions of the conditions that say nothing else.
    pub(super) fn exact_positions(&self) -> impl Iterator<Item = usize> {
        let exact = self.tests.iter().filter(|(_, is_exact, _)| *is_exact);
        exact.map(|(position, ..)| *position)
    }

    pub(super) fn values(&self, environment: &Environment<'_>) -> Option<ValueSet> {
        let sets = self.tests.iter();
        let sets = sets.filter_map(|(.., test)| test.values(self.sql_type, environment));
        let all = sets.reduce(|left, right| left.and(&right))?;
        (!all.is_everything()).then_some(all)
    }
}

impl AccessChoice {
    fn of(
        table: &RowTable,
        index: Option<usize>,
        found: KeyRanges,
        condition_count: usize,
    ) -> Result<(Self, usize), RowScanError> {
        let (column_count, is_unique) = match index.and_then(|index| table.indexes().get(index)) {
            Some(index) => (index.layout.ordinals().len(), index.layout.is_unique()),
            None => (table.layout().key_ordinals().len(), true),
        };
        let is_single = is_unique && found.are_points && found.column_count == column_count;
        let ranges: Arc<[KeyRange]> = found.ranges.into();
        let rows = if is_single {
            ranges.len() as f64
        } else {
            table.estimate(&source_of(index, &ranges))? as f64
        };
        let choice = Self {
            index,
            ranges,
            rows,
            cost_ns: 0.0,
            is_said: vec![false; condition_count],
        };
        Ok((choice, found.column_count))
    }

    /// The rows that are read, for a scan.
    pub fn source(&self) -> ScanRowSource {
        source_of(self.index, &self.ranges)
    }

    /// Whether they come in the order of the primary key.
    pub(crate) fn is_in_order(&self) -> bool {
        self.index.is_none()
    }

    /// About how many rows are read.
    pub fn row_estimate(&self) -> u64 {
        self.rows.round() as u64
    }

    /// What it costs.
    fn priced(&self, prices: &Prices) -> f64 {
        let row_ns = match self.index {
            Some(_) => prices.lookup_ns,
            None => prices.row_ns,
        };
        self.ranges.len() as f64 * prices.range_ns + self.rows * row_ns
    }

    /// Notes the conditions that say no more than the ranges.
    fn note_said(
        &mut self,
        table: &RowTable,
        columns: &[ColumnPredicates<'_>],
        column_count: usize,
        environment: &Environment<'_>,
    ) {
        let ordinals = match self.index.and_then(|index| table.indexes().get(index)) {
            Some(index) => index.layout.ordinals(),
            None => table.layout().key_ordinals(),
        };
        let decides = |column: &&ColumnPredicates<'_>| {
            let mut deciding = ordinals.iter().take(column_count);
            deciding.any(|ordinal| *ordinal == column.ordinal)
        };
        for column in columns.iter().filter(decides) {
            for (position, is_exact, test) in &column.tests {
                let is_known = || test.values(column.sql_type, environment).is_some();
                if let Some(is_said) = self.is_said.get_mut(*position)
                    && *is_exact
                    && is_known()
                {
                    *is_said = true;
                }
            }
        }
    }
}

fn source_of(index: Option<usize>, ranges: &Arc<[KeyRange]>) -> ScanRowSource {
    let ranges = Arc::clone(ranges);
    match index {
        None => ScanRowSource::Ranges(ranges),
        Some(index) => ScanRowSource::Index { index, ranges },
    }
}
