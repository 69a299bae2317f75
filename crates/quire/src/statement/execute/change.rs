//! `INSERT`, `UPDATE` and `DELETE`.

use std::mem::take;

use quire_error::Error;
use quire_exec::plan::{Environment, PlanScalar, Row};
use quire_tables::row_table::{TupleValue, Value, recycled};

use super::select::passes;
use super::{Apply, Executed, Inserted, NewRow, NewRows, TableRows};
use crate::result_rows::ResultRows;
use crate::statement::compiled::{
    CompiledChange, CompiledCheck, CompiledInsert, ConflictAction, NewValue, OutputColumn,
    Returning,
};
use crate::statement::memory::GivenValues;

impl CompiledInsert {
    pub(in crate::statement) fn execute(
        &self,
        rows: &mut dyn NewRows,
        environment: &Environment<'_>,
        given: &mut GivenValues,
    ) -> Result<Executed, Error> {
        let mut returned = self.returning.as_ref().map(|_| ResultRows::default());
        let mut count = 0;
        for row in &self.rows {
            let mut scalars: Vec<PlanScalar<'_>> = recycled(take(&mut given.scalars));
            for value in row {
                scalars.push(match value {
                    NewValue::Given(output) => output.scalar(&[], environment)?,
                    NewValue::Next(sequence) => PlanScalar::Integer(rows.next_value(*sequence)?),
                });
            }
            let mut row: Vec<TupleValue<'_>> = recycled(take(&mut given.row));
            row.extend(scalars.iter().map(PlanScalar::as_tuple_value));
            if let Some(shown) = self.insert(&row, rows, environment)? {
                count += 1;
                if let (Some(returned), Some(shown)) = (&mut returned, shown) {
                    returned.push_row(&shown);
                }
            }
            given.row = recycled(row);
            given.scalars = recycled(scalars);
        }
        Ok(Executed::Changed(count, returned))
    }

    /// Inserts a row, and gives what is shown of it; `None` when it is left out.
    fn insert(
        &self,
        row: Row<'_>,
        rows: &mut dyn NewRows,
        environment: &Environment<'_>,
    ) -> Result<Option<Option<Vec<Value>>>, Error> {
        let mut shown = match (&self.returning, self.checks.is_empty()) {
            (None, true) => None,
            (returning, _) => {
                check(&self.checks, row, environment)?;
                let show = |returning: &Returning| returning.values(row, environment);
                returning.as_ref().map(show).transpose()?
            }
        };
        let inserted = rows.insert(row, &self.conflict, &mut |there, apply| {
            let updated = self.update(there, row, environment, apply)?;
            let is_updated = updated.is_some();
            shown = updated.flatten();
            Ok(is_updated)
        })?;
        Ok((inserted != Inserted::LeftOut).then_some(shown))
    }

    /// Does what is to be done to a row that is there when `excluded` was to be inserted, and gives what is shown of it; `None` when
    /// it is kept.
    fn update(
        &self,
        there: Row<'_>,
        excluded: Row<'_>,
        environment: &Environment<'_>,
        apply: Apply<'_>,
    ) -> Result<Option<Option<Vec<Value>>>, Error> {
        let both = [there, excluded].concat();
        match &self.conflict {
            ConflictAction::Update(_, update)
                if passes(&update.conditions, &both, environment)? =>
            {
                let new_row = Updated {
                    outputs: &update.new_values,
                    checks: &self.checks,
                    returning: self.returning.as_ref(),
                };
                let given = &mut GivenValues::default();
                let shown = new_row.give(there, &both, environment, given, apply);
                shown.map(Some)
            }
            _ => Ok(None),
        }
    }
}

impl CompiledChange {
    pub(super) fn execute(
        &self,
        rows: &mut dyn TableRows,
        environment: &Environment<'_>,
        given: &mut GivenValues,
    ) -> Result<Executed, Error> {
        let mut returned = self.returning.as_ref().map(|_| ResultRows::default());
        let mut count = 0;
        self.access.for_each_range(environment, |bounds| {
            let test = |row: Row<'_>| passes(&self.tests, row, environment);
            count += rows.change(&self.access.key, bounds, &test, &mut |row, apply| {
                self.decide(row, environment, given, &mut returned, apply)
            })?;
            Ok(true)
        })?;
        Ok(Executed::Changed(count, returned))
    }

    /// Does what is to become of a row that is locked; what is shown of it is added to `returned`. False when it is kept.
    pub(in crate::statement) fn decide(
        &self,
        row: Row<'_>,
        environment: &Environment<'_>,
        given: &mut GivenValues,
        returned: &mut Option<ResultRows>,
        apply: Apply<'_>,
    ) -> Result<bool, Error> {
        if !passes(&self.all_conditions, row, environment)? {
            return Ok(false);
        }
        let shown = match &self.new_values {
            None => {
                let returning = self.returning.as_ref();
                let show = |returning: &Returning| returning.values(row, environment);
                let shown = returning.map(show).transpose()?;
                apply(NewRow::Deleted)?;
                shown
            }
            Some(outputs) => {
                let new_row = Updated {
                    outputs,
                    checks: &self.checks,
                    returning: self.returning.as_ref(),
                };
                new_row.give(row, row, environment, given, apply)?
            }
        };
        if let (Some(returned), Some(shown)) = (returned, shown) {
            returned.push_row(&shown);
        }
        Ok(true)
    }
}

/// What an update makes of a row.
struct Updated<'s> {
    /// Columns with their new values.
    outputs: &'s [(usize, OutputColumn)],
    checks: &'s [CompiledCheck],
    returning: Option<&'s Returning>,
}

impl Updated<'_> {
    /// Gives a row its new values, which are calculated from `seen` and must satisfy the checks. Returns what is shown of it.
    fn give(
        &self,
        row: Row<'_>,
        seen: Row<'_>,
        environment: &Environment<'_>,
        given: &mut GivenValues,
        apply: Apply<'_>,
    ) -> Result<Option<Vec<Value>>, Error> {
        let mut scalars: Vec<PlanScalar<'_>> = recycled(take(&mut given.scalars));
        for (_, output) in self.outputs {
            scalars.push(output.scalar(seen, environment)?);
        }
        let mut columns: Vec<(usize, TupleValue<'_>)> = recycled(take(&mut given.columns));
        let numbers = self.outputs.iter().map(|(column, _)| *column);
        columns.extend(numbers.zip(scalars.iter().map(PlanScalar::as_tuple_value)));
        let shown = match (self.checks.is_empty(), self.returning) {
            (true, None) => None,
            (_, returning) => {
                let mut changed = row.to_vec();
                for (column, value) in &columns {
                    if let Some(place) = changed.get_mut(*column) {
                        *place = *value;
                    }
                }
                check(self.checks, &changed, environment)?;
                let show = |returning: &Returning| returning.values(&changed, environment);
                returning.map(show).transpose()?
            }
        };
        apply(NewRow::Changed(&columns))?;
        given.columns = recycled(columns);
        given.scalars = recycled(scalars);
        Ok(shown)
    }
}

impl Returning {
    fn values(&self, row: Row<'_>, environment: &Environment<'_>) -> Result<Vec<Value>, Error> {
        self.outputs
            .iter()
            .map(|output| output.value(row, environment))
            .collect()
    }
}

/// A row must not make a CHECK false; unknown is good enough.
fn check(
    checks: &[CompiledCheck],
    row: Row<'_>,
    environment: &Environment<'_>,
) -> Result<(), Error> {
    for check in checks {
        if check.condition.evaluate(row, environment)? == PlanScalar::Boolean(false) {
            return Err(check.violation.clone());
        }
    }
    Ok(())
}
