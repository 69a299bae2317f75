//! Columns: new names for them, and what stands for them elsewhere.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::FieldRef;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, JoinConstraint, NullEquality, Result};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan, LogicalPlanBuilder, SortExpr};

/// Names that occur once in a statement.
#[derive(Debug, Default)]
pub(super) struct UniqueColumnNames {
    next: Cell<usize>,
}

impl UniqueColumnNames {
    pub(super) fn next(&self, prefix: &str) -> String {
        let number = self.next.get() + 1;
        self.next.set(number);
        format!("{prefix}_{number}")
    }
}

/// An outer column that a subquery reads.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OuterColumn {
    pub(super) field: FieldRef,
    pub(super) column: Column,
}

impl OuterColumn {
    pub(super) fn reference(&self) -> Expr {
        Expr::OuterReferenceColumn(Arc::clone(&self.field), self.column.clone())
    }
}

/// The columns of `outer` that expressions read from inside, each once.
pub(super) fn outer_columns<'e>(
    expressions: impl IntoIterator<Item = &'e Expr>,
    outer: &DFSchema,
) -> Result<Vec<OuterColumn>> {
    let mut found: Vec<OuterColumn> = Vec::new();
    for expression in expressions {
        expression.apply(|part| {
            if let Expr::OuterReferenceColumn(field, column) = part
                && outer.has_column(column)
                && !found.iter().any(|known| known.column == *column)
            {
                found.push(OuterColumn {
                    field: Arc::clone(field),
                    column: column.clone(),
                });
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    Ok(found)
}

/// `expression` with outer columns replaced by what `value` says; those of which it knows nothing stay.
pub(super) fn replace_outer(
    expression: Expr,
    value: impl Fn(&Column) -> Option<Expr>,
) -> Result<Expr> {
    let replaced = expression.transform_up(|part| {
        Ok(match &part {
            Expr::OuterReferenceColumn(_, column) => match value(column) {
                Some(value) => Transformed::yes(value),
                None => Transformed::no(part),
            },
            _ => Transformed::no(part),
        })
    })?;
    Ok(replaced.data)
}

/// What stands for the columns of a node.
#[derive(Debug, Default)]
pub(super) struct ColumnSubstitutes(HashMap<Column, Expr>);

impl ColumnSubstitutes {
    /// Also the columns of `schema`, one by one.
    pub(super) fn with(mut self, schema: &DFSchema, values: &[Expr]) -> Self {
        let columns = schema.columns().into_iter();
        self.0.extend(columns.zip(values.iter().cloned()));
        self
    }

    /// Each of `columns` as the value at its place.
    pub(super) fn of_columns(columns: &[Column], values: &[Expr]) -> Self {
        let columns = columns.iter().cloned();
        Self(columns.zip(values.iter().cloned()).collect())
    }

    pub(super) fn substitute(&self, expression: Expr) -> Result<Expr> {
        let replaced = expression.transform_down(|part| {
            Ok(match &part {
                Expr::Column(column) => match self.0.get(column) {
                    Some(value) => Transformed::new(value.clone(), true, TreeNodeRecursion::Jump),
                    None => Transformed::no(part),
                },
                _ => Transformed::no(part),
            })
        })?;
        Ok(replaced.data)
    }

    pub(super) fn substitute_all<'e>(
        &self,
        expressions: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<Vec<Expr>> {
        let expressions = expressions.into_iter();
        expressions
            .map(|expression| self.substitute(expression.clone()))
            .collect()
    }
}

/// The columns of a plan as expressions.
pub(in super::super) fn columns_of(plan: &LogicalPlan) -> Vec<Expr> {
    let columns = plan.schema().columns();
    columns.into_iter().map(Expr::Column).collect()
}

/// A join by conditions. NULL equals nothing.
pub(super) fn join(
    left: LogicalPlan,
    right: LogicalPlan,
    join_type: JoinType,
    conditions: Vec<Expr>,
) -> Result<LogicalPlan> {
    Ok(LogicalPlan::Join(Join::try_new(
        Arc::new(left),
        Arc::new(right),
        Vec::new(),
        conjunction(conditions),
        join_type,
        JoinConstraint::On,
        NullEquality::NullEqualsNothing,
        false,
    )?))
}

/// `plan` with the rows for which all conditions are true.
pub(super) fn filtered(plan: LogicalPlan, conditions: Vec<Expr>) -> Result<LogicalPlan> {
    match conjunction(conditions) {
        Some(condition) => LogicalPlanBuilder::from(plan).filter(condition)?.build(),
        None => Ok(plan),
    }
}

/// `plan` with more columns: what the expressions are there, those that are columns themselves as they are.
pub(super) fn computed(
    plan: LogicalPlan,
    expressions: Vec<Expr>,
    names: &UniqueColumnNames,
) -> Result<(LogicalPlan, Vec<Column>)> {
    let mut outputs = columns_of(&plan);
    let old_count = outputs.len();
    let mut columns = Vec::with_capacity(expressions.len());
    for expression in expressions {
        match expression {
            Expr::Column(column) => columns.push(column),
            expression => {
                let name = names.next("__value");
                outputs.push(expression.alias(&name));
                columns.push(Column::new_unqualified(name));
            }
        }
    }
    if outputs.len() == old_count {
        return Ok((plan, columns));
    }
    let plan = LogicalPlanBuilder::from(plan).project(outputs)?.build()?;
    Ok((plan, columns))
}

/// `plan` with its columns `outputs` under the names that `schema` has.
pub(in super::super) fn named_as(
    plan: LogicalPlan,
    outputs: Vec<Expr>,
    schema: &DFSchema,
) -> Result<LogicalPlan> {
    let named = outputs.into_iter().zip(schema.iter());
    let named = named.map(|(value, (relation, field))| match value {
        Expr::Column(column)
            if column.relation.as_ref() == relation && column.name == *field.name() =>
        {
            Expr::Column(column)
        }
        value => value.alias_qualified(relation.cloned(), field.name()),
    });
    LogicalPlanBuilder::from(plan)
        .project(named.collect::<Vec<_>>())?
        .build()
}

/// A key that comes again decides nothing, and DataFusion does not always take it. Keys that were simplified have kept their names.
pub(in super::super) fn each_once(mut order: Vec<SortExpr>) -> Vec<SortExpr> {
    let mut known: Vec<Expr> = Vec::with_capacity(order.len());
    order.retain(|key| {
        let key = key.expr.clone().unalias_nested().data;
        let is_new = !known.contains(&key);
        known.extend(is_new.then_some(key));
        is_new
    });
    order
}
