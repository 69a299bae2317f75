//! Aggregation: the values of each group in a vector, then what is computed of them.

use std::collections::{HashMap, HashSet};

use quire_exec::plan::{
    Aggregate, AggregateCall, AggregateFunction, AverageKind, PlanColumn, SumKind,
};
use quire_tables::row_table::Value;

use super::{Interpreter, NaiveError, Row};

impl Interpreter<'_> {
    pub(super) fn aggregate(
        &self,
        aggregate: &Aggregate,
        columns: &[PlanColumn],
    ) -> Result<Vec<Row>, NaiveError> {
        let mut groups: Vec<(Row, Vec<Row>)> = Vec::new();
        let mut places: HashMap<Row, usize> = HashMap::new();
        if aggregate.groups.is_empty() {
            groups.push((Vec::new(), Vec::new()));
            places.insert(Vec::new(), 0);
        }
        for row in self.rows(&aggregate.input)? {
            let key = self.values(&aggregate.groups, &row, columns)?;
            let place = *places.entry(key.clone()).or_insert(groups.len());
            if place == groups.len() {
                groups.push((key, Vec::new()));
            }
            groups[place].1.push(row);
        }
        let mut rows = Vec::new();
        for (mut row, members) in groups {
            let totals = columns.iter().skip(aggregate.groups.len());
            for (call, column) in aggregate.calls.iter().zip(totals) {
                row.push(self.total(call, &members, column.is_text())?);
            }
            rows.push(row);
        }
        Ok(rows)
    }

    fn total(
        &self,
        call: &AggregateCall,
        members: &[Row],
        is_text: bool,
    ) -> Result<Value, NaiveError> {
        let mut values = Vec::new();
        for row in members {
            if let Some(filter) = &call.filter
                && !self.is_true(filter, row)?
            {
                continue;
            }
            let value = match &call.argument {
                Some(argument) => self.value(argument, row, is_text)?,
                None => Value::Boolean(true),
            };
            if !value.is_null() {
                values.push(value);
            }
        }
        if call.is_distinct {
            let mut seen = HashSet::new();
            values.retain(|value| seen.insert(value.clone()));
        }
        if call.function == AggregateFunction::Count {
            let count = i64::try_from(values.len()).map_err(|_| NaiveError::Total)?;
            return Ok(Value::Integer(count));
        }
        if values.is_empty() {
            return Ok(Value::Null);
        }
        of_values(call.function, values).ok_or(NaiveError::Total)
    }
}

/// The total of at least one value; `None` when it does not fit.
fn of_values(function: AggregateFunction, values: Vec<Value>) -> Option<Value> {
    let count = values.len();
    let truths = || values.iter().map(|value| *value == Value::Boolean(true));
    let doubles = || values.iter().map(double).sum::<f64>();
    let digits = || {
        values
            .iter()
            .map(digits)
            .try_fold(0_i128, i128::checked_add)
    };
    let fitting = |total: i128, precision: u8| {
        let limit = 10_i128.pow(u32::from(precision));
        (-limit < total && total < limit).then(|| Value::Decimal(total.into()))
    };
    Some(match function {
        AggregateFunction::Count => Value::Integer(i64::try_from(count).ok()?),
        AggregateFunction::Min => values.into_iter().min()?,
        AggregateFunction::Max => values.into_iter().max()?,
        AggregateFunction::All => Value::Boolean(truths().all(|is_true| is_true)),
        AggregateFunction::Any => Value::Boolean(truths().any(|is_true| is_true)),
        AggregateFunction::Sum(SumKind::BigInt) => Value::Integer(i64::try_from(digits()?).ok()?),
        AggregateFunction::Sum(SumKind::Decimal { precision }) => fitting(digits()?, precision)?,
        AggregateFunction::Sum(SumKind::Double) => Value::Double(doubles()),
        AggregateFunction::Average(AverageKind::Double) => Value::Double(doubles() / count as f64),
        AggregateFunction::Average(AverageKind::Decimal { factor, precision }) => {
            let count = i128::try_from(count).ok()?;
            let twice = digits()?.checked_mul(factor)?.checked_mul(2)?;
            let nearest = (twice + twice.signum() * count) / (2 * count);
            fitting(nearest, precision)?
        }
        // Sums of few small integers are doubles.
        AggregateFunction::Average(AverageKind::Integer) => {
            Value::Double(digits()? as f64 / count as f64)
        }
    })
}

fn double(value: &Value) -> f64 {
    match value {
        Value::Double(value) => *value,
        _ => 0.0,
    }
}

fn digits(value: &Value) -> i128 {
    match value {
        Value::Integer(value) => i128::from(*value),
        Value::Decimal(value) => i128::from(*value),
        _ => 0,
    }
}
