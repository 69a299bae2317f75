//! Unions, `VALUES` and `UNNEST`.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, Union, Unnest, Values, lit, when,
};

use super::super::columns::{OuterColumn, columns_of, outer_columns};
use super::super::domain::CorrelatedKey;
use super::keyed::Keyed;
use super::{Pull, Pulled};

impl Pull<'_> {
    /// All inputs have the same keys: those that their equalities have in common, or the domain's.
    pub(super) fn union(&self, union: &Union) -> Result<Pulled> {
        let inputs = union.inputs.iter().map(|input| self.pull(input));
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let mut columns: Vec<OuterColumn> = Vec::new();
        for input in &inputs {
            for column in outer_columns(input.expressions(), self.outer.schema())? {
                if !columns.contains(&column) {
                    columns.push(column);
                }
            }
        }
        let inputs = inputs.into_iter();
        let inputs = inputs.map(|input| self.beside_domain(input, columns.clone()));
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let keys = inputs
            .first()
            .map_or(Vec::new(), |first| first.keys.clone());
        let is_null_safe = inputs
            .iter()
            .flat_map(|input| &input.keys)
            .any(|key| key.is_null_safe);
        let relation = self.names.next("__union");
        let inputs = inputs.into_iter().map(|input| labelled(input, &relation));
        let union = Union::try_new_with_loose_types(inputs.collect::<Result<_>>()?)?;
        let plan = LogicalPlan::Union(union);
        let mut outputs = columns_of(&plan);
        let key_columns = outputs.split_off(outputs.len() - keys.len());
        let conditions = keys
            .into_iter()
            .zip(key_columns)
            .map(|(key, column)| super::super::domain::equality(key.outer, column, is_null_safe));
        Ok(Pulled {
            conditions: conditions.collect(),
            plan,
            outputs,
            having: None,
        })
    }

    /// As many rows, and the column of their numbers, from 0.
    pub(super) fn numbers(&self, count: usize) -> Result<(LogicalPlan, Expr)> {
        let numbers = (0_i64..).take(count);
        let numbers =
            LogicalPlanBuilder::values(numbers.map(|number| vec![lit(number)]).collect())?;
        let name = self.names.next("__number");
        let number = columns_of(numbers.plan()).swap_remove(0);
        let plan = numbers.project([number.alias(&name)])?.build()?;
        let number = columns_of(&plan).swap_remove(0);
        Ok((plan, number))
    }

    /// Each row has a number, and a column is the expression of that row.
    pub(super) fn values(&self, values: &Values) -> Result<Pulled> {
        let (plan, number) = self.numbers(values.values.len())?;
        let column = |position: usize| {
            let mut rows = values.values.iter().map(|row| row[position].clone());
            let (Some(first), Some(second)) = (rows.next(), rows.next()) else {
                return Ok(values.values[0][position].clone());
            };
            let is_row = |index: i64| number.clone().eq(lit(index));
            let mut cases = when(is_row(0), first);
            cases = cases.when(is_row(1), second);
            for (index, value) in (2_i64..).zip(rows) {
                cases = cases.when(is_row(index), value);
            }
            cases.end()
        };
        let outputs = (0..values.schema.fields().len()).map(column);
        Ok(Pulled {
            outputs: outputs.collect::<Result<_>>()?,
            plan,
            conditions: Vec::new(),
            having: None,
        })
    }

    /// The input has its own names, so that the lists are found, and the keys behind them.
    pub(super) fn unnest(&self, unnest: &Unnest) -> Result<Pulled> {
        let keyed = self.keyed(self.pull(&unnest.input)?, &[])?;
        let schema = unnest.input.schema();
        let outputs = keyed.outputs.iter().zip(schema.iter());
        let mut columns: Vec<Expr> = outputs
            .map(|(output, (relation, field))| {
                output
                    .clone()
                    .alias_qualified(relation.cloned(), field.name())
            })
            .collect();
        let mut keys = Vec::with_capacity(keyed.keys.len());
        for key in &keyed.keys {
            let name = self.names.next("__key");
            columns.push(Expr::Column(key.inner.clone()).alias(&name));
            keys.push(CorrelatedKey {
                inner: datafusion::common::Column::new_unqualified(name),
                ..key.clone()
            });
        }
        let input = LogicalPlanBuilder::from(keyed.plan)
            .project(columns)?
            .build()?;
        let (exec, options) = (unnest.exec_columns.clone(), unnest.options.clone());
        let plan = LogicalPlan::Unnest(Unnest::try_new(Arc::new(input), exec, options)?);
        let mut outputs = columns_of(&plan);
        outputs.truncate(unnest.schema.fields().len());
        Ok(Pulled {
            plan,
            outputs,
            conditions: keys.iter().map(CorrelatedKey::condition).collect(),
            having: None,
        })
    }
}

/// The outputs and then the keys, under names by position.
fn labelled(keyed: Keyed, relation: &str) -> Result<Arc<LogicalPlan>> {
    let keys = keyed.key_columns();
    let columns = keyed.outputs.into_iter().chain(keys).enumerate();
    let columns = columns.map(|(index, column)| column.alias(format!("{relation}_{index}")));
    let plan = LogicalPlanBuilder::from(keyed.plan)
        .project(columns.collect::<Vec<_>>())?
        .build()?;
    Ok(Arc::new(plan))
}
