//! The domain: the distinct values of outer columns, for which a subquery is evaluated once each.

use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Operator, binary_expr};

use super::columns::{OuterColumn, UniqueColumnNames, replace_outer};

/// The distinct combinations of values that the outer rows have.
#[derive(Debug, Clone)]
pub(super) struct CorrelationDomain {
    pub(super) plan: LogicalPlan,
    columns: Vec<(OuterColumn, Column)>,
    is_nullable: bool,
}

impl CorrelationDomain {
    /// The values of `columns` in the rows of `outer`; one row if there are no columns.
    pub(super) fn of(
        outer: &LogicalPlan,
        columns: Vec<OuterColumn>,
        names: &UniqueColumnNames,
    ) -> Result<Self> {
        if columns.is_empty() {
            let plan = LogicalPlanBuilder::empty(true).build()?;
            return Ok(Self {
                plan,
                columns: Vec::new(),
                is_nullable: false,
            });
        }
        let relation = names.next("__outer");
        let name = |index: usize| format!("{relation}_{index}");
        let renamed = columns.iter().enumerate();
        let renamed =
            renamed.map(|(index, outer)| Expr::Column(outer.column.clone()).alias(name(index)));
        let values = 0..columns.len();
        let values = values.map(|index| Expr::Column(Column::new_unqualified(name(index))));
        let plan = LogicalPlanBuilder::from(outer.clone())
            .project(renamed)?
            .aggregate(values, Vec::<Expr>::new())?
            .alias(relation.clone())?
            .build()?;
        let columns = columns.into_iter().enumerate().map(|(index, outer)| {
            let value = Column::new(Some(relation.clone()), name(index));
            (outer, value)
        });
        let columns = columns.collect();
        let is_nullable = plan
            .schema()
            .fields()
            .iter()
            .any(|field| field.is_nullable());
        Ok(Self {
            plan,
            columns,
            is_nullable,
        })
    }

    /// `expression` with the domain's columns in place of the outer ones.
    pub(super) fn resolve(&self, expression: Expr) -> Result<Expr> {
        replace_outer(expression, |column| {
            let mut columns = self.columns.iter();
            let found = columns.find(|(outer, _)| outer.column == *column);
            found.map(|(_, value)| Expr::Column(value.clone()))
        })
    }

    pub(super) fn resolve_all(&self, expressions: Vec<Expr>) -> Result<Vec<Expr>> {
        let expressions = expressions.into_iter();
        expressions
            .map(|expression| self.resolve(expression))
            .collect()
    }

    /// The keys that bind rows beside the domain to the outer row.
    pub(super) fn keys(&self) -> Vec<CorrelatedKey> {
        let columns = self.columns.iter();
        let keys = columns.map(|(outer, value)| CorrelatedKey {
            outer: outer.reference(),
            inner: value.clone(),
            is_null_safe: self.is_nullable,
        });
        keys.collect()
    }
}

/// A column of a subquery's rows that equals an expression over the outer row.
#[derive(Debug, Clone)]
pub(super) struct CorrelatedKey {
    pub(super) outer: Expr,
    pub(super) inner: Column,
    /// Whether NULL equals NULL.
    pub(super) is_null_safe: bool,
}

impl CorrelatedKey {
    pub(super) fn condition(&self) -> Expr {
        equality(
            self.outer.clone(),
            Expr::Column(self.inner.clone()),
            self.is_null_safe,
        )
    }
}

pub(super) fn equality(left: Expr, right: Expr, is_null_safe: bool) -> Expr {
    let operator = if is_null_safe {
        Operator::IsNotDistinctFrom
    } else {
        Operator::Eq
    };
    binary_expr(left, operator, right)
}
