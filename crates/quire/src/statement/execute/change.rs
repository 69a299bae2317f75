//! `INSERT`, `UPDATE` and `DELETE`.

use quire_engine::row_table::Value;

use super::select::passes;
use super::{Executed, NewRow, ResultRows, TableRows, view};
use crate::error::Error;
use crate::statement::compiled::{Change, Check, Insert, NewValue, Returning};
use crate::statement::expression::{Environment, Row};
use crate::statement::scalar::Scalar;

impl Insert {
    pub(super) fn execute(
        &self,
        rows: &mut dyn TableRows,
        environment: &Environment<'_>,
    ) -> Result<Executed, Error> {
        let mut returned = self.returning.as_ref().map(|_| ResultRows::empty());
        let mut count = 0;
        for row in &self.rows {
            let values = row.iter().map(|value| match value {
                NewValue::Given(output) => output.value(&[], environment),
                NewValue::Next(sequence) => rows.next_value(*sequence).map(Value::Integer),
            });
            let values = values.collect::<Result<Vec<Value>, Error>>()?;
            let shown = match (&self.returning, self.checks.is_empty()) {
                (None, true) => None,
                (returning, _) => {
                    let row = view(&values);
                    check(&self.checks, &row, environment)?;
                    let show = |returning: &Returning| returning.values(&row, environment);
                    returning.as_ref().map(show).transpose()?
                }
            };
            if rows.insert(values, self.conflict)? {
                count += 1;
                if let (Some(returned), Some(shown)) = (&mut returned, shown) {
                    returned.push(shown);
                }
            }
        }
        Ok(Executed::Changed(count, returned))
    }
}

impl Change {
    pub(super) fn execute(
        &self,
        rows: &mut dyn TableRows,
        environment: &Environment<'_>,
    ) -> Result<Executed, Error> {
        let mut returned = self.returning.as_ref().map(|_| ResultRows::empty());
        let mut count = 0;
        self.access.for_each_range(environment, |bounds| {
            let test = |row: Row<'_>| passes(&self.tests, row, environment);
            count += rows.change(&self.access.key, bounds, &test, &mut |row| {
                if !passes(&self.all_conditions, row, environment)? {
                    return Ok(NewRow::Kept);
                }
                let (new_row, shown) = self.new_row(row, environment)?;
                if let (Some(returned), Some(shown)) = (&mut returned, shown) {
                    returned.push(shown);
                }
                Ok(new_row)
            })?;
            Ok(true)
        })?;
        Ok(Executed::Changed(count, returned))
    }

    /// What becomes of a row, and what is shown of it.
    fn new_row(
        &self,
        row: Row<'_>,
        environment: &Environment<'_>,
    ) -> Result<(NewRow, Option<Vec<Value>>), Error> {
        let show = |row: Row<'_>| {
            let returning = self.returning.as_ref();
            returning
                .map(|returning| returning.values(row, environment))
                .transpose()
        };
        let Some(new_values) = &self.new_values else {
            return Ok((NewRow::Deleted, show(row)?));
        };
        let mut changed = row.to_vec();
        let mut values = Vec::with_capacity(new_values.len());
        for (column, output) in new_values {
            values.push((*column, output.value(row, environment)?));
        }
        for (column, value) in &values {
            if let Some(place) = changed.get_mut(*column) {
                *place = value.as_tuple_value();
            }
        }
        check(&self.checks, &changed, environment)?;
        let shown = show(&changed)?;
        Ok((NewRow::Changed(values), shown))
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

impl ResultRows {
    fn empty() -> Self {
        Self {
            values: Vec::new(),
            row_count: 0,
        }
    }

    fn push(&mut self, row: Vec<Value>) {
        self.values.extend(row);
        self.row_count += 1;
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
