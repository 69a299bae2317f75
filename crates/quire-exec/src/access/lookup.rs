//! Which key of a table a row of another relation can look up.

use quire_format::tuple::TupleValue;
use quire_kv::btree::Direction;
use quire_tables::SqlType;
use quire_tables::{RowScanError, RowTable};

use super::Prices;
use super::column_test::{decimal_limit, integer_bounds};

/// A key whose first columns are given by each row of another relation.
#[derive(Debug)]
pub(crate) struct IndexLookup {
    /// The position of an index, if it is not the key of the rows.
    pub(crate) index: Option<usize>,
    /// Which of the given values is that of each of the first columns.
    pub(crate) given: Vec<usize>,
    /// About how many rows are found each time.
    pub(crate) rows_each: f64,
    /// What that costs each time, in nanoseconds.
    pub(crate) cost_each_ns: f64,
}

/// The first row of a range that is looked up costs as much as so many that are found by a whole key.
const RANGE_LOOKUPS: f64 = 2.0;

/// Prefixes of keys that are looked at to say how many rows have one of them, and rows of each at most.
const SAMPLED_PREFIXES: usize = 4;
const SAMPLED_ROWS: usize = 64;

/// The cheapest lookup by columns of which values are given: their ordinals, none for what is no column.
pub(crate) fn lookup(
    table: &RowTable,
    given: &[Option<usize>],
    prices: &Prices,
) -> Result<Option<IndexLookup>, RowScanError> {
    let mut best: Option<IndexLookup> = None;
    let keys = std::iter::once(None).chain((0..table.indexes().len()).map(Some));
    for index in keys {
        let Some(found) = lookup_by(table, index, given, prices)? else {
            continue;
        };
        if best
            .as_ref()
            .is_none_or(|best| found.cost_each_ns < best.cost_each_ns)
        {
            best = Some(found);
        }
    }
    Ok(best)
}

fn lookup_by(
    table: &RowTable,
    index: Option<usize>,
    given: &[Option<usize>],
    prices: &Prices,
) -> Result<Option<IndexLookup>, RowScanError> {
    let position = |ordinal: &usize| {
        let mut given = given.iter();
        given.position(|given| has_exact_keys(table, *ordinal) && *given == Some(*ordinal))
    };
    let (ordinals, _) = key_of(table, index);
    let given: Vec<usize> = ordinals.iter().map_while(position).collect();
    let prefix = KeyPrefix::of(table, index, given.len())?;
    Ok(prefix.map(|prefix| IndexLookup {
        index,
        given,
        rows_each: prefix.rows_each,
        cost_each_ns: prefix.cost_each_ns(prices),
    }))
}

/// The columns of a key, and whether each of its values is that of one row.
pub(super) fn key_of(table: &RowTable, index: Option<usize>) -> (&[usize], bool) {
    match index.and_then(|index| table.indexes().get(index)) {
        Some(index) => (index.layout.ordinals(), index.layout.is_unique()),
        None => (table.layout().key_ordinals(), true),
    }
}

/// Whether keys of a column are equal where its values are. Keys have one zero and one NaN; values of a float may differ that have the same key.
pub(super) fn has_exact_keys(table: &RowTable, ordinal: usize) -> bool {
    let sql_type = table.layout().sql_type(ordinal);
    sql_type.is_some_and(|it| !matches!(it, SqlType::Real | SqlType::Double))
}

/// The first columns of a key, of which values are given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct KeyPrefix {
    /// Whether it is the key of an index: rows that it finds are looked up in the table.
    pub(super) is_of_index: bool,
    /// Whether no two rows have the same values in these columns.
    pub(super) is_single: bool,
    /// About how many rows have them.
    pub(super) rows_each: f64,
}

impl KeyPrefix {
    /// So many columns of a key; nothing of none.
    pub(super) fn of(
        table: &RowTable,
        index: Option<usize>,
        column_count: usize,
    ) -> Result<Option<Self>, RowScanError> {
        if column_count == 0 {
            return Ok(None);
        }
        let (ordinals, is_unique) = key_of(table, index);
        let is_single = is_unique && column_count == ordinals.len();
        Ok(Some(Self {
            is_of_index: index.is_some(),
            is_single,
            rows_each: if is_single {
                1.0
            } else {
                rows_of_prefix(table, index, column_count)?
            },
        }))
    }

    /// What it costs each time.
    pub(super) fn cost_each_ns(self, prices: &Prices) -> f64 {
        let start_ns = if self.is_single {
            prices.lookup_ns
        } else {
            RANGE_LOOKUPS * prices.lookup_ns
        };
        let row_ns = if self.is_of_index {
            prices.lookup_ns
        } else {
            prices.row_ns
        };
        start_ns + self.rows_each * row_ns
    }
}

/// About how many rows have the same values in the first columns of a key.
fn rows_of_prefix(
    table: &RowTable,
    index: Option<usize>,
    column_count: usize,
) -> Result<f64, RowScanError> {
    let found = index.and_then(|index| table.indexes().get(index));
    let tree = table.tree(index)?;
    let prefix_of = |key: &[u8]| {
        let prefix = match found {
            Some(index) => index.layout.prefix_of(key, column_count),
            None => table.layout().prefix_of(key, column_count),
        };
        prefix.map_err(table.parts().corrupt_row())
    };
    let borders = table.view().separators(tree, &[], &[], SAMPLED_PREFIXES)?;
    let (mut rows, mut prefixes) = (0_usize, 0_usize);
    for border in std::iter::once(Vec::new()).chain(borders) {
        let mut scan = table.view().scan(tree, &border, &[], Direction::Forward)?;
        let Some((key, _)) = scan.next_entry()? else {
            break;
        };
        let prefix = prefix_of(key)?;
        let mut scan = table.view().scan(tree, &prefix, &[], Direction::Forward)?;
        prefixes += 1;
        for _ in 0..SAMPLED_ROWS {
            match scan.next_entry()? {
                Some((key, _)) if key.starts_with(&prefix) => rows += 1,
                _ => break,
            }
        }
    }
    Ok(rows.max(1) as f64 / prefixes.max(1) as f64)
}

/// Whether a column can have a value, so that it can be looked up.
pub(crate) fn fits(value: &TupleValue<'_>, sql_type: SqlType) -> bool {
    match value {
        TupleValue::Integer(value) => integer_bounds(sql_type)
            .is_some_and(|(least, greatest)| (least..=greatest).contains(value)),
        TupleValue::Wide(value) => {
            decimal_limit(sql_type).is_some_and(|limit| -limit < *value && *value < limit)
        }
        _ => true,
    }
}
