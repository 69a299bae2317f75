//! What scans of row tables cost the tuple engine, in nanoseconds.

use quire_tables::{RowScanError, RowTable};

use crate::access::{AccessChoice, choose, decoding_ns};
use crate::costs::{Cost, CostModel};
use crate::plan::{Environment, Expression};

/// Work on a pattern beside that on a number.
const PATTERN_WORK: f64 = 4.0;

/// Work that expressions are: columns are there already.
pub(super) fn computed_count<'e>(expressions: impl IntoIterator<Item = &'e Expression>) -> f64 {
    let computed = expressions.into_iter();
    let computed = computed.filter(|one| !matches!(one, Expression::Column { .. }));
    computed.map(work_of).sum()
}

pub(super) fn work_of(expression: &Expression) -> f64 {
    match expression {
        Expression::Like(..) => PATTERN_WORK,
        _ => 1.0,
    }
}

/// How many of some conditions are looked at for a row: each is taken to be true of half of the rows.
fn tested_count(conditions: &[&Expression]) -> f64 {
    let share = |at: usize| 0.5_f64.powi(i32::try_from(at).unwrap_or(i32::MAX));
    let works = conditions.iter().enumerate();
    works.map(|(at, one)| work_of(one) * share(at)).sum()
}

/// A table whose rows are tested: the slots of the conditions are the columns of these ordinals.
#[derive(Clone, Copy)]
pub(super) struct TestedTable<'a> {
    pub(super) table: &'a RowTable,
    pub(super) ordinals: &'a [usize],
    pub(super) conditions: &'a [&'a Expression],
    pub(super) costs: &'a CostModel,
}

impl TestedTable<'_> {
    /// Reading the rows by this path, about so many of which pass, and decoding these columns of each that does.
    pub(super) fn scan_ns(self, chosen: &AccessChoice, rows: f64, asked: &[usize]) -> f64 {
        // What a condition reads is decoded by then, and part of the path's cost.
        let is_left = |ordinal: &usize| {
            let slot = self.ordinals.iter().position(|other| other == ordinal);
            let mut conditions = self.conditions.iter();
            slot.is_none_or(|slot| !conditions.any(|one| one.reads(slot)))
        };
        let left: Vec<usize> = asked.iter().copied().filter(is_left).collect();
        let tests = tested_count(self.conditions) * chosen.rows;
        chosen.cost_ns
            + rows * decoding_ns(self.table, self.costs, &left)
            + tests * self.costs.of(Cost::Compute)
    }
}

/// What a scan costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScanCost {
    pub ns: f64,
    /// Whether rows come in the order of the primary key.
    pub is_in_order: bool,
}

/// What the tuple engine takes to read those rows of a table of which conditions are true, by the cheapest path, and to decode the columns of
/// the ordinals `asked`. About `rows` are expected to pass; the slots of the conditions are the columns that the table has now.
///
/// # Errors
/// Pages that cannot be read or are damaged.
pub fn scan_cost(
    table: &RowTable,
    conditions: &[&Expression],
    (rows, asked): (f64, &[usize]),
    costs: &CostModel,
) -> Result<ScanCost, RowScanError> {
    let ordinals = table.layout().live_ordinals();
    // Of values of parameters nothing is known.
    let environment = Environment::new(&[]);
    let chosen = choose(table, ordinals, conditions, &environment, costs)?;
    let tested = TestedTable {
        table,
        ordinals,
        conditions,
        costs,
    };
    Ok(ScanCost {
        ns: tested.scan_ns(&chosen, rows, asked),
        is_in_order: chosen.is_in_order(),
    })
}
