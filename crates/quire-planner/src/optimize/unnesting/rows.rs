//! The outer rows, and what is joined to them in place of subqueries.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::expr::GroupingSet;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{
    BinaryExpr, Expr, JoinType, LogicalPlan, LogicalPlanBuilder, Operator, Subquery, lit, when,
};

use super::super::shared_rows::SharedPlan;
use super::columns::{self, UniqueColumnNames, columns_of, replace_outer};
use super::pull::{Pull, Pulled};
use super::{has_subquery, is_volatile_with_subqueries};

/// The rows of a plan with more and more columns.
pub(super) struct WidenedRows<'n> {
    /// Without joins: the rows whose values the subqueries read.
    outer: Arc<LogicalPlan>,
    pub(super) plan: LogicalPlan,
    pub(super) names: &'n UniqueColumnNames,
    /// What has been joined, with its value: a subquery that is written twice is joined once.
    known: Vec<(Expr, Expr)>,
}

impl<'n> WidenedRows<'n> {
    /// The subqueries may read the rows once more, and find the same.
    pub(super) fn new(outer: Arc<LogicalPlan>, names: &'n UniqueColumnNames) -> Result<Self> {
        let outer = SharedPlan::if_volatile(outer)?;
        Ok(Self {
            plan: outer.as_ref().clone(),
            outer,
            names,
            known: Vec::new(),
        })
    }

    /// The columns that the rows had before anything was joined.
    pub(super) fn own_columns(&self) -> Vec<Expr> {
        columns_of(&self.outer)
    }

    /// `expression` with a value of the joined rows for each subquery. Where it `is_condition`, NULL may become false.
    pub(super) fn replace(&mut self, expression: Expr, is_condition: bool) -> Result<Expr> {
        if !has_subquery(&expression) {
            return Ok(expression);
        }
        if !is_condition && let Some(value) = self.known_value(&expression)? {
            return Ok(value);
        }
        let key = expression.clone();
        let value = match expression {
            Expr::ScalarSubquery(subquery) => self.scalar(subquery)?,
            Expr::Exists(exists) => self.existence(exists)?,
            Expr::InSubquery(found) => self.membership(found, is_condition)?,
            Expr::SetComparison(found) => self.comparison(found, is_condition)?,
            Expr::BinaryExpr(BinaryExpr { left, op, right })
                if is_condition && matches!(op, Operator::And | Operator::Or) =>
            {
                let left = Box::new(self.replace(*left, true)?);
                let right = Box::new(self.replace(*right, true)?);
                return Ok(Expr::BinaryExpr(BinaryExpr { left, op, right }));
            }
            other => {
                let replaced =
                    other.map_children(|part| self.replace(part, false).map(Transformed::yes))?;
                return Ok(replaced.data);
            }
        };
        if !is_condition {
            self.known.push((key, value.clone()));
        }
        Ok(value)
    }

    /// What stands for the same expression elsewhere, unless each place of it has a value of its own.
    fn known_value(&self, expression: &Expr) -> Result<Option<Expr>> {
        let found = self.known.iter().find(|(known, _)| known == expression);
        Ok(match found {
            Some((_, value)) if !is_volatile_with_subqueries(expression)? => Some(value.clone()),
            _ => None,
        })
    }

    /// The same for expressions that keep their names.
    pub(super) fn replace_named(&mut self, expressions: Vec<Expr>) -> Result<Vec<Expr>> {
        let names = NamePreserver::new_for_projection();
        let mut replaced = Vec::with_capacity(expressions.len());
        for expression in expressions {
            replaced.push(match expression {
                Expr::GroupingSet(sets) => Expr::GroupingSet(self.replace_in_sets(sets)?),
                expression => {
                    let name = names.save(&expression);
                    name.restore(self.replace(expression, false)?)
                }
            });
        }
        Ok(replaced)
    }

    fn replace_in_sets(&mut self, sets: GroupingSet) -> Result<GroupingSet> {
        Ok(match sets {
            GroupingSet::Rollup(keys) => GroupingSet::Rollup(self.replace_named(keys)?),
            GroupingSet::Cube(keys) => GroupingSet::Cube(self.replace_named(keys)?),
            GroupingSet::GroupingSets(sets) => {
                let sets = sets.into_iter().map(|keys| self.replace_named(keys));
                GroupingSet::GroupingSets(sets.collect::<Result<_>>()?)
            }
        })
    }

    /// A subquery's rows in terms of the outer row.
    pub(super) fn pull(&self, plan: &LogicalPlan) -> Result<Pulled> {
        let pull = Pull {
            outer: &self.outer,
            names: self.names,
        };
        pull.pull(plan)
    }

    /// `expression` over the outer row and other columns, as one over the joined rows.
    pub(super) fn resolve(&self, expression: Expr) -> Result<Expr> {
        let schema = self.outer.schema();
        replace_outer(expression, |column| {
            let is_known = schema.has_column(column);
            is_known.then(|| Expr::Column(column.clone()))
        })
    }

    pub(super) fn resolve_all(&self, expressions: Vec<Expr>) -> Result<Vec<Expr>> {
        let expressions = expressions.into_iter();
        expressions
            .map(|expression| self.resolve(expression))
            .collect()
    }

    /// Joins the rows of a subquery for a semi, anti or mark join, in which only conditions read them.
    pub(super) fn join(
        &mut self,
        plan: LogicalPlan,
        join_type: JoinType,
        conditions: Vec<Expr>,
    ) -> Result<()> {
        let left = std::mem::take(&mut self.plan);
        self.plan = columns::join(left, plan, join_type, conditions)?;
        Ok(())
    }

    /// Whether there is a row that meets the conditions, as a column.
    pub(super) fn mark(&mut self, plan: LogicalPlan, conditions: Vec<Expr>) -> Result<Expr> {
        // Each mark has a name of its own.
        let relation = self.names.next("__mark");
        let columns = plan.schema().columns();
        let plan = LogicalPlanBuilder::from(plan)
            .alias(relation.clone())?
            .build()?;
        let known = columns::ColumnSubstitutes::of_columns(&columns, &columns_of(&plan));
        self.join(plan, JoinType::LeftMark, known.substitute_all(&conditions)?)?;
        Ok(Expr::Column(Column::new(Some(relation), "mark")))
    }

    /// Arithmetic over aggregates is done once for each group, not for each row that asks for it.
    fn with_plain_arithmetic(&self, mut pulled: Pulled) -> Result<Pulled> {
        for output in &mut pulled.outputs {
            if !output.column_refs().is_empty() && is_plain_arithmetic(output) {
                let plan = std::mem::take(&mut pulled.plan);
                let (plan, mut columns) =
                    columns::computed(plan, vec![output.clone()], self.names)?;
                pulled.plan = plan;
                *output = Expr::Column(columns.swap_remove(0));
            }
        }
        Ok(pulled)
    }

    /// Where there may be no row, and an output does not become NULL with its column: a column that says whether there is one.
    fn with_mark(&self, mut pulled: Pulled) -> Result<Pulled> {
        let mut outputs = pulled.outputs.iter();
        let are_columns = outputs.all(|output| matches!(output, Expr::Column(_)));
        if are_columns || pulled.having.is_some() || pulled.has_a_row() {
            return Ok(pulled);
        }
        let plan = std::mem::take(&mut pulled.plan);
        let (plan, mut marks) = columns::computed(plan, vec![lit(true)], self.names)?;
        pulled.plan = plan;
        pulled.having = Some(vec![Expr::Column(marks.swap_remove(0)).is_not_null()]);
        Ok(pulled)
    }

    /// Joins a subquery of one row at most, and gives its columns and the condition under which it has a row. Without a row, the
    /// columns say nothing.
    pub(super) fn join_one_row(&mut self, pulled: Pulled) -> Result<(Vec<Expr>, Option<Expr>)> {
        let mut having = Vec::new();
        let pulled = if pulled.is_outer_row_alone() {
            having.extend(pulled.conditions.iter().cloned());
            pulled
        } else {
            let pulled = self.with_plain_arithmetic(pulled)?;
            let pulled = self.with_mark(pulled)?;
            let pulled = pulled.renamed(self.plan.schema(), self.names)?;
            let conditions = self.resolve_all(pulled.conditions.clone())?;
            self.join(pulled.plan.clone(), JoinType::Left, conditions)?;
            pulled
        };
        having.extend(pulled.having.into_iter().flatten());
        let outputs = self.resolve_all(pulled.outputs)?;
        Ok((outputs, conjunction(self.resolve_all(having)?)))
    }
}

/// Whether an expression is NULL wherever its column is, and computed for one row as well as for another.
fn is_plain_arithmetic(expression: &Expr) -> bool {
    match expression {
        Expr::Column(_) | Expr::Literal(..) => true,
        Expr::Cast(cast) => cast.field.data_type().is_numeric() && is_plain_arithmetic(&cast.expr),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            matches!(op, Operator::Plus | Operator::Minus | Operator::Multiply)
                && is_plain_arithmetic(left)
                && is_plain_arithmetic(right)
        }
        _ => false,
    }
}

/// `condition`, or false where it is NULL.
pub(super) fn is_met(condition: Expr) -> Result<Expr> {
    when(condition, lit(true)).otherwise(lit(false))
}

/// Whether a plan reads rows further out, too.
pub(super) fn reads_outer(plan: &LogicalPlan) -> bool {
    !plan.all_out_ref_exprs().is_empty()
}

/// The plan of a subquery, without an order that says nothing.
pub(super) fn plan_of(subquery: Subquery) -> LogicalPlan {
    match Arc::unwrap_or_clone(subquery.subquery) {
        LogicalPlan::Sort(sort) if sort.fetch.is_none() => Arc::unwrap_or_clone(sort.input),
        plan => plan,
    }
}
