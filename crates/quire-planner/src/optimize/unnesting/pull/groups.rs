//! Aggregates and `DISTINCT`: the keys are group keys, too.
//!
//! Without groups, an aggregate has a row even of no rows. Grouped by the keys it has none where no row fits, so that the
//! outer row has to be joined by an outer join, and gets what the aggregates say of no rows ([`Pulled::having`]).

use std::sync::Arc;

use datafusion::common::{Result, ScalarValue, not_impl_err};
use datafusion::functions::expr_fn::coalesce;
use datafusion::logical_expr::expr::GroupingSet;
use datafusion::logical_expr::utils::grouping_set_to_exprlist;
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, ExprSchemable, JoinType, LogicalPlan, LogicalPlanBuilder, cast, lit,
};

use super::super::columns::{self, ColumnSubstitutes, columns_of};
use super::super::domain::CorrelatedKey;
use super::keyed::Keyed;
use super::{Pull, Pulled};

impl Pull<'_> {
    pub(super) fn aggregate(&self, aggregate: &Aggregate) -> Result<Pulled> {
        if let Some(call) = aggregate
            .aggr_expr
            .iter()
            .find(|call| self.is_of_outer_rows(call))
        {
            return not_impl_err!(
                "{call} in a subquery, which is an aggregate of the query around it"
            );
        }
        let input = self.pull(&aggregate.input)?;
        let above: Vec<Expr> = aggregate
            .group_expr
            .iter()
            .chain(&aggregate.aggr_expr)
            .cloned()
            .collect();
        let before = ColumnSubstitutes::default().with(aggregate.input.schema(), &input.outputs);
        let read = before.substitute_all(&above)?;
        let keyed = self.keyed(input, &read.iter().collect::<Vec<_>>())?;
        let known = ColumnSubstitutes::default().with(aggregate.input.schema(), &keyed.outputs);
        let groups = keyed.resolve_all(known.substitute_all(&aggregate.group_expr)?)?;
        let aggregates = keyed.resolve_all(known.substitute_all(&aggregate.aggr_expr)?)?;
        if let [Expr::GroupingSet(sets)] = groups.as_slice() {
            return self.grouping_sets(aggregate, keyed, sets.clone(), aggregates);
        }
        self.grouped(aggregate, keyed, groups, aggregates)
    }

    /// Whether all columns that an aggregate reads are outer ones: in SQL it is an aggregate of the outer query then.
    fn is_of_outer_rows(&self, call: &Expr) -> bool {
        self.reads(call) && call.column_refs().is_empty()
    }

    fn grouped(
        &self,
        aggregate: &Aggregate,
        keyed: Keyed,
        groups: Vec<Expr>,
        aggregates: Vec<Expr>,
    ) -> Result<Pulled> {
        let mut all: Vec<Expr> = Vec::new();
        for key in keyed.key_columns().into_iter().chain(groups.clone()) {
            if !all.contains(&key) {
                all.push(key);
            }
        }
        let position = |key: &Expr| all.iter().position(|known| known == key);
        let positions: Vec<usize> = groups.iter().filter_map(position).collect();
        let key_positions: Vec<usize> = keyed.key_columns().iter().filter_map(position).collect();
        let group_count = all.len();
        let plan = Aggregate::try_new(Arc::new(keyed.plan), all, aggregates)?;
        let plan = LogicalPlan::Aggregate(plan);
        let outputs = columns_of(&plan);
        let keys = keyed.keys.iter().zip(key_positions);
        let keys = keys.map(|(key, position)| at(key, &outputs[position]));
        let conditions = keys.collect();
        let values = &outputs[group_count..];
        let group_values = positions.iter().map(|position| outputs[*position].clone());
        if !aggregate.group_expr.is_empty() {
            return Ok(Pulled {
                outputs: group_values.chain(values.iter().cloned()).collect(),
                plan,
                conditions,
                having: None,
            });
        }
        let pairs = aggregate.aggr_expr.iter().zip(values);
        let outputs = pairs.map(|(call, value)| or_of_no_rows(aggregate, call, value.clone()));
        Ok(Pulled {
            outputs: outputs.collect::<Result<_>>()?,
            plan,
            conditions,
            having: Some(Vec::new()),
        })
    }

    /// Each set has the keys. One without any other column makes a row even of no rows: it is joined to the domain. Of several such
    /// sets each makes one.
    fn grouping_sets(
        &self,
        aggregate: &Aggregate,
        keyed: Keyed,
        sets: GroupingSet,
        aggregates: Vec<Expr>,
    ) -> Result<Pulled> {
        let empty_count = match &sets {
            GroupingSet::Rollup(_) | GroupingSet::Cube(_) => 1,
            GroupingSet::GroupingSets(sets) => sets.iter().filter(|set| set.is_empty()).count(),
        };
        let has_empty_set = empty_count > 0;
        // A set may leave out a column that is a key, too: the key is a column of its own.
        let copies = keyed.key_columns().into_iter();
        let copies = copies.map(|key| key.alias("__key")).collect();
        let (plan, keys) = columns::computed(keyed.plan, copies, self.names)?;
        let mut groups: Vec<Expr> = keys.into_iter().map(Expr::Column).collect();
        let key_count = groups.len();
        groups.push(Expr::GroupingSet(sets));
        let old_count = grouping_set_to_exprlist(&aggregate.group_expr)?.len();
        let plan = Aggregate::try_new(Arc::new(plan), groups, aggregates)?;
        let plan = LogicalPlan::Aggregate(plan);
        let columns = columns_of(&plan);
        let keys = keyed.keys.iter().zip(&columns);
        let conditions = keys.map(|(key, column)| at(key, column)).collect();
        let mut outputs = Vec::with_capacity(columns.len() - key_count);
        let fields = aggregate.schema.fields();
        for (position, (value, field)) in columns[key_count..].iter().zip(fields).enumerate() {
            let value = if value.get_type(plan.schema())? == *field.data_type() {
                value.clone()
            } else {
                cast(value.clone(), field.data_type().clone())
            };
            outputs.push(match position.checked_sub(old_count + 1) {
                _ if !has_empty_set => value,
                None if position < old_count => value,
                None => {
                    let all_left_out = ScalarValue::UInt64(Some(!(u64::MAX << old_count.min(63))));
                    let id = all_left_out.cast_to(field.data_type())?;
                    coalesce(vec![value, Expr::Literal(id, None)])
                }
                Some(call) => or_of_no_rows(aggregate, &aggregate.aggr_expr[call], value)?,
            });
        }
        let pulled = Pulled {
            plan,
            outputs,
            conditions,
            having: has_empty_set.then(Vec::new),
        };
        if !has_empty_set {
            return Ok(pulled);
        }
        // Not one row, but one at least: with the domain the missing ones are there.
        let mut keyed = self.keyed(pulled, &[])?;
        if empty_count > 1 {
            let which_set = &columns[key_count + old_count];
            keyed.plan = self.missing_for_each(keyed.plan, which_set, empty_count)?;
        }
        Ok(keyed.into_pulled())
    }

    /// The rows, those without a set `count` times.
    fn missing_for_each(
        &self,
        plan: LogicalPlan,
        which_set: &Expr,
        count: usize,
    ) -> Result<LogicalPlan> {
        let (numbers, number) = self.numbers(count)?;
        let is_wanted = number.eq(lit(0_i64)).or(which_set.clone().is_null());
        columns::join(plan, numbers, JoinType::Inner, vec![is_wanted])
    }

    pub(super) fn distinct(&self, distinct: &Distinct) -> Result<Pulled> {
        let input = match distinct {
            Distinct::On(on) => return self.first_of_each(on),
            Distinct::All(input) => self.pull(input)?,
        };
        if input.having.is_some() {
            return Ok(input);
        }
        let mut keyed = self.keyed(input, &[])?;
        let mut columns = keyed.outputs.clone();
        for key in keyed.key_columns() {
            if !columns.contains(&key) {
                columns.push(key);
            }
        }
        keyed.plan = LogicalPlanBuilder::from(keyed.plan)
            .project(columns)?
            .distinct()?
            .build()?;
        Ok(keyed.into_pulled())
    }
}

/// The key's condition, by another column.
fn at(key: &CorrelatedKey, column: &Expr) -> Expr {
    super::super::domain::equality(key.outer.clone(), column.clone(), key.is_null_safe)
}

/// The aggregate's value, and for rows that are not there what it says of none.
fn or_of_no_rows(aggregate: &Aggregate, call: &Expr, value: Expr) -> Result<Expr> {
    let of_no_rows = of_no_rows(call, aggregate)?;
    Ok(if of_no_rows.is_null() {
        value
    } else {
        // What is not NULL of no rows is NULL of none.
        coalesce(vec![value, Expr::Literal(of_no_rows, None)])
    })
}

fn of_no_rows(call: &Expr, aggregate: &Aggregate) -> Result<ScalarValue> {
    match call {
        Expr::AggregateFunction(function) => {
            let data_type = call.get_type(aggregate.input.schema())?;
            function.func.default_value(&data_type)
        }
        Expr::Alias(alias) => of_no_rows(&alias.expr, aggregate),
        _ => Ok(ScalarValue::Null),
    }
}
