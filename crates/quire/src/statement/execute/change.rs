//! `INSERT`, `UPDATE` and `DELETE`.

use quire_engine::plan::{Environment, Row, Scalar};
use quire_engine::row_table::{TupleValue, Value};

use super::select::passes;
use super::{Executed, Inserted, NewRow, NewRows, ResultRows, TableRows};
use crate::error::Error;
use crate::statement::compiled::{Change, Check, Conflict, Insert, NewValue, Output, Returning};

impl Insert {
    pub(in crate::statement) fn execute(
        &self,
        rows: &mut dyn NewRows,
        environment: &Environment<'_>,
    ) -> Result<Executed, Error> {
        let mut returned = self.returning.as_ref().map(|_| ResultRows::default());
        let mut count = 0;
        for row in &self.rows {
            let values = row.iter().map(|value| match value {
                NewValue::Given(output) => output.scalar(&[], environment),
                NewValue::Next(sequence) => rows.next_value(*sequence).map(Scalar::Integer),
            });
            let values = values.collect::<Result<Vec<Scalar<'_>>, Error>>()?;
            let row: Vec<TupleValue<'_>> = values.iter().map(Scalar::as_tuple_value).collect();
            let mut shown = match (&self.returning, self.checks.is_empty()) {
                (None, true) => None,
                (returning, _) => {
                    check(&self.checks, &row, environment)?;
                    let show = |returning: &Returning| returning.values(&row, environment);
                    returning.as_ref().map(show).transpose()?
                }
            };
            let inserted = rows.insert(&row, &self.conflict, &mut |there| {
                let (new_row, shown_of_it) = self.updated(there, &row, environment)?;
                shown = shown_of_it;
                Ok(new_row)
            })?;
            if inserted != Inserted::LeftOut {
                count += 1;
                if let (Some(returned), Some(shown)) = (&mut returned, shown) {
                    returned.push_row(&shown);
                }
            }
        }
        Ok(Executed::Changed(count, returned))
    }

    /// What becomes of a row that is there when `excluded` was to be inserted, and what is shown of it.
    fn updated(
        &self,
        there: Row<'_>,
        excluded: Row<'_>,
        environment: &Environment<'_>,
    ) -> Result<(NewRow, Option<Vec<Value>>), Error> {
        let both = [there, excluded].concat();
        match &self.conflict {
            Conflict::Update(_, update) if passes(&update.conditions, &both, environment)? => {
                let values = new_values(&update.new_values, &both, environment)?;
                let returning = self.returning.as_ref();
                changed_row(there, values, &self.checks, returning, environment)
            }
            _ => Ok((NewRow::Kept, None)),
        }
    }
}

impl Change {
    pub(super) fn execute(
        &self,
        rows: &mut dyn TableRows,
        environment: &Environment<'_>,
    ) -> Result<Executed, Error> {
        let mut returned = self.returning.as_ref().map(|_| ResultRows::default());
        let mut count = 0;
        self.access.for_each_range(environment, |bounds| {
            let test = |row: Row<'_>| passes(&self.tests, row, environment);
            count += rows.change(&self.access.key, bounds, &test, &mut |row| {
                self.decide(row, environment, &mut returned)
            })?;
            Ok(true)
        })?;
        Ok(Executed::Changed(count, returned))
    }

    /// What becomes of a row that is locked; what is shown of it is added to `returned`.
    pub(in crate::statement) fn decide(
        &self,
        row: Row<'_>,
        environment: &Environment<'_>,
        returned: &mut Option<ResultRows>,
    ) -> Result<NewRow, Error> {
        if !passes(&self.all_conditions, row, environment)? {
            return Ok(NewRow::Kept);
        }
        let (new_row, shown) = self.new_row(row, environment)?;
        if let (Some(returned), Some(shown)) = (returned, shown) {
            returned.push_row(&shown);
        }
        Ok(new_row)
    }

    /// What becomes of a row, and what is shown of it.
    fn new_row(
        &self,
        row: Row<'_>,
        environment: &Environment<'_>,
    ) -> Result<(NewRow, Option<Vec<Value>>), Error> {
        let returning = self.returning.as_ref();
        match &self.new_values {
            None => {
                let show = |returning: &Returning| returning.values(row, environment);
                Ok((NewRow::Deleted, returning.map(show).transpose()?))
            }
            Some(outputs) => {
                let values = new_values(outputs, row, environment)?;
                changed_row(row, values, &self.checks, returning, environment)
            }
        }
    }
}

/// Columns with their new values.
fn new_values(
    outputs: &[(usize, Output)],
    row: Row<'_>,
    environment: &Environment<'_>,
) -> Result<Vec<(usize, Value)>, Error> {
    let mut values = Vec::with_capacity(outputs.len());
    for (column, output) in outputs {
        values.push((*column, output.value(row, environment)?));
    }
    Ok(values)
}

/// A row with some new values, which must satisfy the checks, and what is shown of it.
fn changed_row(
    row: Row<'_>,
    values: Vec<(usize, Value)>,
    checks: &[Check],
    returning: Option<&Returning>,
    environment: &Environment<'_>,
) -> Result<(NewRow, Option<Vec<Value>>), Error> {
    if checks.is_empty() && returning.is_none() {
        return Ok((NewRow::Changed(values), None));
    }
    let mut changed = row.to_vec();
    for (column, value) in &values {
        if let Some(place) = changed.get_mut(*column) {
            *place = value.as_tuple_value();
        }
    }
    check(checks, &changed, environment)?;
    let show = |returning: &Returning| returning.values(&changed, environment);
    let shown = returning.map(show).transpose()?;
    Ok((NewRow::Changed(values), shown))
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
fn check(checks: &[Check], row: Row<'_>, environment: &Environment<'_>) -> Result<(), Error> {
    for check in checks {
        if check.condition.evaluate(row, environment)? == Scalar::Boolean(false) {
            return Err(check.violation.clone());
        }
    }
    Ok(())
}
