//! `SELECT`: rows of a range that pass the tests, or what is counted and summed of them.

use std::cmp::Ordering;
use std::collections::HashSet;

use quire_error::Error;
use quire_exec::plan::{Environment, Expression, PlanScalar, Row};
use quire_planner::aggregate::AggregateState;
use quire_tables::row_table::{TupleValue, Value};

use super::{RowRange, TableRows};
use crate::result_rows::{ResultRows, RowOf};
use crate::statement::compiled::{OutputSortKey, Select};

impl Select {
    /// The rows; nothing when too many would have to be read for them.
    pub(super) fn execute(
        &self,
        rows: &mut dyn TableRows,
        environment: &Environment<'_>,
    ) -> Result<Option<ResultRows>, Error> {
        let offset = count(self.offset.as_ref(), environment, "OFFSET")?.unwrap_or(0);
        let limit = count(self.limit.as_ref(), environment, "LIMIT")?;
        let window = SelectWindow {
            skipped: offset,
            end: limit.map(|limit| limit.saturating_add(offset)),
        };
        if !self.aggregates.is_empty() {
            return self.aggregate(rows, environment, window);
        }
        let is_ordered = self.sort.is_empty();
        let mut collector = SelectCollector {
            select: self,
            environment,
            window,
            is_cut: is_ordered,
            passed: 0,
            seen: self.is_distinct.then(HashSet::new),
            rows: ResultRows::default(),
        };
        if limit == Some(0) {
            return Ok(Some(collector.into_rows()));
        }
        let is_read = self.scan(rows, environment, &mut |row| collector.take(row))?;
        Ok(is_read.then(|| collector.into_rows()))
    }

    /// Visits the rows that pass all conditions; false when there are too many rows to be read.
    fn scan(
        &self,
        rows: &mut dyn TableRows,
        environment: &Environment<'_>,
        visit: &mut dyn FnMut(Row<'_>) -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        let (read_max, mut read) = (self.read_max.unwrap_or(usize::MAX), 0);
        self.access.for_each_range(environment, |bounds| {
            let mut goes_on = true;
            let range = RowRange {
                key: &self.access.key,
                bounds,
                is_reversed: self.is_reversed,
                wanted: &self.wanted,
            };
            let test = |row: Row<'_>| passes(&self.tests, row, environment);
            match self.lock {
                None => rows.scan(range, &mut |row| {
                    read += 1;
                    goes_on = read <= read_max;
                    if goes_on && test(row)? {
                        goes_on = visit(row)?;
                    }
                    Ok(goes_on)
                })?,
                Some(lock) => rows.scan_locked(range, lock, &test, &mut |row| {
                    if passes(&self.all_conditions, row, environment)? {
                        goes_on = visit(row)?;
                    }
                    Ok(goes_on)
                })?,
            }
            Ok(goes_on)
        })?;
        Ok(read <= read_max)
    }

    /// Adds what is shown of a row.
    pub(in crate::statement) fn show<'a>(
        &'a self,
        row: Row<'a>,
        environment: &Environment<'a>,
        rows: &mut ResultRows,
    ) -> Result<(), Error> {
        for output in &self.outputs {
            rows.push(output.node.evaluate(row, environment)?, output.is_text)?;
        }
        rows.row_count += 1;
        Ok(())
    }

    fn aggregate(
        &self,
        rows: &mut dyn TableRows,
        environment: &Environment<'_>,
        window: SelectWindow,
    ) -> Result<Option<ResultRows>, Error> {
        let mut running: Vec<AggregateState> = self
            .aggregates
            .iter()
            .map(|aggregate| aggregate.start())
            .collect();
        let is_read = self.scan(rows, environment, &mut |row| {
            for (aggregate, running) in self.aggregates.iter().zip(&mut running) {
                aggregate.add(running, row, environment)?;
            }
            Ok(true)
        })?;
        if !is_read {
            return Ok(None);
        }
        let pairs = self.aggregates.iter().zip(running);
        let totals = pairs.map(|(aggregate, running)| aggregate.finish(running));
        let totals = totals.collect::<Result<Vec<Value>, Error>>()?;
        let row: Vec<TupleValue<'_>> = totals.iter().map(Value::as_tuple_value).collect();
        let mut rows = ResultRows::default();
        if window.has(0) {
            self.show(&row, environment, &mut rows)?;
        }
        Ok(Some(rows))
    }
}

/// Whether all conditions are true of a row.
pub(in crate::statement) fn passes<'a>(
    conditions: &'a [Expression],
    row: Row<'a>,
    environment: &Environment<'a>,
) -> Result<bool, Error> {
    for condition in conditions {
        if condition.evaluate(row, environment)? != PlanScalar::Boolean(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The value of `LIMIT` or `OFFSET`; NULL is none.
fn count(
    node: Option<&Expression>,
    environment: &Environment<'_>,
    clause: &str,
) -> Result<Option<usize>, Error> {
    let Some(node) = node else {
        return Ok(None);
    };
    match node.evaluate(&[], environment)? {
        PlanScalar::Integer(count) => match usize::try_from(count) {
            Ok(count) => Ok(Some(count)),
            Err(_) => {
                let sqlstate = if clause == "LIMIT" { "2201W" } else { "2201X" };
                Err(Error::new(
                    sqlstate,
                    format!("{clause} must not be negative"),
                ))
            }
        },
        _ => Ok(None),
    }
}

/// Which of the rows are wanted, counted from 0.
#[derive(Debug, Clone, Copy)]
struct SelectWindow {
    skipped: usize,
    end: Option<usize>,
}

impl SelectWindow {
    fn has(self, row: usize) -> bool {
        row >= self.skipped && self.end.is_none_or(|end| row < end)
    }
}

/// The rows so far.
struct SelectCollector<'a> {
    select: &'a Select,
    environment: &'a Environment<'a>,
    window: SelectWindow,
    /// Whether rows outside the window need not be kept.
    is_cut: bool,
    passed: usize,
    seen: Option<HashSet<Vec<Value>>>,
    rows: ResultRows,
}

impl SelectCollector<'_> {
    /// Takes a row; says whether more are wanted.
    fn take(&mut self, row: Row<'_>) -> Result<bool, Error> {
        let outputs = &self.select.outputs;
        let is_skipped = self.is_cut && self.passed < self.window.skipped;
        if let Some(seen) = &mut self.seen {
            let values = outputs
                .iter()
                .map(|output| output.value(row, self.environment));
            let values = values.collect::<Result<Vec<_>, Error>>()?;
            if seen.contains(&values) {
                return Ok(true);
            }
            if !is_skipped {
                self.rows.push_row(&values);
            }
            seen.insert(values);
        } else if !is_skipped {
            self.select.show(row, self.environment, &mut self.rows)?;
        }
        self.passed += 1;
        Ok(!self.is_cut || self.window.end.is_none_or(|end| self.passed < end))
    }

    /// The rows, in order and as far as they are wanted.
    fn into_rows(mut self) -> ResultRows {
        let widths = (self.select.outputs.len(), self.select.shown);
        let SelectWindow { skipped, end } = self.window;
        if !self.is_cut {
            let wanted = skipped..end.unwrap_or(usize::MAX);
            let order = |left: RowOf<'_>, right: RowOf<'_>| compare(&self.select.sort, left, right);
            self.rows.arrange(widths, wanted, order);
        } else if widths.0 > widths.1 {
            let as_they_are = |_: RowOf<'_>, _: RowOf<'_>| Ordering::Equal;
            self.rows.arrange(widths, 0..usize::MAX, as_they_are);
        }
        self.rows
    }
}

fn compare(keys: &[OutputSortKey], left: RowOf<'_>, right: RowOf<'_>) -> Ordering {
    for key in keys {
        let (left, right) = (left.value(key.output), right.value(key.output));
        let order = match (left.is_null(), right.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) if key.nulls_first => Ordering::Less,
            (true, false) => Ordering::Greater,
            (false, true) if key.nulls_first => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let left = PlanScalar::from(left.as_tuple_value());
                let order = left.compare(&right.as_tuple_value().into());
                if key.is_descending {
                    order.reverse()
                } else {
                    order
                }
            }
        };
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}
