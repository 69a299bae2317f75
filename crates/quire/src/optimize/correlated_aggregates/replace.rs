//! One subquery, as groups joined to the outer rows.

use std::sync::Arc;

use datafusion::common::alias::AliasGenerator;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, JoinConstraint, NullEquality, Result, ScalarValue};
use datafusion::logical_expr::{
    Aggregate, Expr, ExprSchemable, Join, JoinType, LogicalPlan, LogicalPlanBuilder, Subquery, lit,
    when,
};

use super::attach::{Attached, attach};

/// The outer rows with the subquery's groups beside them.
pub(super) struct Joined {
    pub(super) plan: LogicalPlan,
    /// The subquery's value for a row of `plan`.
    pub(super) value: Expr,
}

/// Joins the value of `subquery` for each of the rows `outer`, whose `columns` it reads, to `rows`,
/// which are `outer` with more columns.
pub(super) fn join(
    subquery: &Subquery,
    outer: &LogicalPlan,
    rows: &LogicalPlan,
    columns: &[Column],
    names: &Arc<AliasGenerator>,
) -> Result<Option<Joined>> {
    let Some(shape) = Shape::of(&subquery.subquery) else {
        return Ok(None);
    };
    let outer = distinct_values(outer, columns, names)?;
    let Some(input) = attach(&shape.aggregate.input, &outer)? else {
        return Ok(None);
    };
    let groups = Groups::new(shape.aggregate, input, names.next("__groups"))?;
    let value = shape.value(&groups, columns)?;
    Ok(Some(Joined {
        plan: groups.joined_to(rows, columns)?,
        value,
    }))
}

/// A subquery: expressions over one row of aggregates.
struct Shape<'p> {
    /// From the outermost down: what is computed, and when there is a row at all.
    above: Vec<&'p LogicalPlan>,
    aggregate: &'p Aggregate,
}

impl<'p> Shape<'p> {
    fn of(mut plan: &'p LogicalPlan) -> Option<Self> {
        let mut above = Vec::new();
        loop {
            match plan {
                LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty() => {
                    return Some(Self { above, aggregate });
                }
                LogicalPlan::Projection(projection) => {
                    above.push(plan);
                    plan = &projection.input;
                }
                LogicalPlan::Filter(filter) => {
                    above.push(plan);
                    plan = &filter.input;
                }
                _ => return None,
            }
        }
    }

    /// The subquery's value, computed from the columns of the joined groups.
    fn value(&self, groups: &Groups, columns: &[Column]) -> Result<Expr> {
        let mut condition: Option<Expr> = None;
        // Each column of the plan so far, as an expression over the joined rows.
        let mut known = groups.values(self.aggregate)?;
        for plan in self.above.iter().rev() {
            match plan {
                LogicalPlan::Filter(filter) => {
                    let holds = inline(&filter.predicate, &known, columns)?;
                    condition = Some(match condition {
                        Some(before) => before.and(holds),
                        None => holds,
                    });
                }
                LogicalPlan::Projection(projection) => {
                    let mut computed = Vec::with_capacity(projection.expr.len());
                    for (expression, column) in
                        projection.expr.iter().zip(projection.schema.columns())
                    {
                        computed.push((column, inline(expression, &known, columns)?));
                    }
                    known = computed;
                }
                _ => {}
            }
        }
        let value = known.swap_remove(0).1;
        match condition {
            Some(condition) => when(condition, value).end(),
            None => Ok(value),
        }
    }
}

/// `expression` with each column replaced by what it stands for.
fn inline(expression: &Expr, known: &[(Column, Expr)], outer: &[Column]) -> Result<Expr> {
    let inlined = expression.clone().transform_down(|part| {
        let replacement = match &part {
            Expr::Column(column) => known
                .iter()
                .find(|(name, _)| name == column)
                .map(|(_, value)| value.clone()),
            Expr::OuterReferenceColumn(_, column) if outer.contains(column) => {
                Some(Expr::Column(column.clone()))
            }
            _ => None,
        };
        Ok(match replacement {
            Some(value) => Transformed::new(
                value,
                true,
                datafusion::common::tree_node::TreeNodeRecursion::Jump,
            ),
            None => Transformed::no(part),
        })
    })?;
    Ok(inlined.data.unalias())
}

/// Each combination of values of `columns` in `plan`, once.
fn distinct_values(
    plan: &LogicalPlan,
    columns: &[Column],
    names: &Arc<AliasGenerator>,
) -> Result<Attached> {
    let relation = names.next("__outer");
    let name = |index: usize| format!("{relation}_{index}");
    let renamed = columns.iter().enumerate();
    let renamed = renamed.map(|(index, column)| Expr::Column(column.clone()).alias(name(index)));
    let values = (0..columns.len()).map(|index| Expr::Column(Column::new_unqualified(name(index))));
    let plan = LogicalPlanBuilder::from(plan.clone())
        .project(renamed)?
        .aggregate(values, Vec::<Expr>::new())?
        .alias(relation.clone())?
        .build()?;
    let values = columns.iter().enumerate().map(|(index, column)| {
        let value = Column::new(Some(relation.clone()), name(index));
        (column.clone(), value)
    });
    Ok(Attached {
        values: values.collect(),
        plan,
    })
}

/// One row of aggregates for each combination of outer values that has any rows.
struct Groups {
    relation: String,
    plan: LogicalPlan,
    /// How many outer values lead each row; then come the aggregates, then a mark that says that the row is there.
    keys_count: usize,
}

impl Groups {
    fn new(aggregate: &Aggregate, input: Attached, relation: String) -> Result<Self> {
        let mut aggregates = Vec::with_capacity(aggregate.aggr_expr.len());
        for expression in &aggregate.aggr_expr {
            aggregates.push(input.resolve(expression.clone())?);
        }
        let keys: Vec<Expr> = input.value_columns().collect();
        let keys_count = keys.len();
        let grouped = LogicalPlanBuilder::from(input.plan)
            .aggregate(keys, aggregates)?
            .build()?;
        let columns = grouped.schema().columns().into_iter().enumerate();
        let mut named: Vec<Expr> = columns
            .map(|(index, column)| Expr::Column(column).alias(name(&relation, index)))
            .collect();
        named.push(lit(true).alias(name(&relation, named.len())));
        let plan = LogicalPlanBuilder::from(grouped)
            .project(named)?
            .alias(relation.clone())?
            .build()?;
        Ok(Self {
            relation,
            plan,
            keys_count,
        })
    }

    fn column(&self, index: usize) -> Expr {
        let name = name(&self.relation, index);
        Expr::Column(Column::new(Some(self.relation.clone()), name))
    }

    /// Each aggregate's column in the subquery, with its value over the joined rows.
    fn values(&self, aggregate: &Aggregate) -> Result<Vec<(Column, Expr)>> {
        let mark = self.column(self.keys_count + aggregate.aggr_expr.len());
        let mut values = Vec::with_capacity(aggregate.aggr_expr.len());
        for (index, column) in aggregate.schema.columns().into_iter().enumerate() {
            let value = self.column(self.keys_count + index);
            let of_no_rows = of_no_rows(&aggregate.aggr_expr[index], aggregate)?;
            let value = if of_no_rows.is_null() {
                value
            } else {
                when(mark.clone(), value).otherwise(Expr::Literal(of_no_rows, None))?
            };
            values.push((column, value));
        }
        Ok(values)
    }

    /// `rows` with their groups beside them. NULL is a value like others here: a subquery over rows
    /// of NULL has a value.
    fn joined_to(self, rows: &LogicalPlan, columns: &[Column]) -> Result<LogicalPlan> {
        let keys = columns.iter().enumerate();
        let on = keys.map(|(index, column)| (Expr::Column(column.clone()), self.column(index)));
        let on = on.collect();
        Ok(LogicalPlan::Join(Join::try_new(
            Arc::new(rows.clone()),
            Arc::new(self.plan),
            on,
            None,
            JoinType::Left,
            JoinConstraint::On,
            NullEquality::NullEqualsNull,
            false,
        )?))
    }
}

fn name(relation: &str, index: usize) -> String {
    format!("{relation}_{index}")
}

fn of_no_rows(expression: &Expr, aggregate: &Aggregate) -> Result<ScalarValue> {
    let data_type = expression.get_type(aggregate.input.schema())?;
    match expression {
        Expr::AggregateFunction(call) => call.func.default_value(&data_type),
        Expr::Alias(alias) => of_no_rows(&alias.expr, aggregate),
        _ => ScalarValue::try_from(&data_type),
    }
}
