//! `EXISTS` and `IN`, and `= ANY` and `<> ALL`, which are the same as `IN` and `NOT IN`.
//!
//! `x IN (SELECT y …)` is true if there is a row with `y = x`; else NULL if there is one for which the comparison is NULL, that is if
//! `y` is NULL, or `x` is NULL and there is any row; else false. As a condition of a filter it is a semi join, and `NOT IN` an anti
//! join that takes what is unknown for a match; elsewhere mark joins say which of the three it is.

use std::sync::Arc;

use datafusion::common::{JoinType, Result, ScalarValue};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison, SetQuantifier};
use datafusion::logical_expr::{
    Expr, ExprSchemable, FetchType, LogicalPlan, LogicalPlanBuilder, Operator, SkipType, lit, not,
    when,
};

use super::pull::{Pulled, or_unknown};
use super::rows::{WidenedRows, is_met, plan_of, reads_outer};
use super::scalar::{aggregated, first_column};
use super::{as_subquery, columns};

impl WidenedRows<'_> {
    /// A condition that every row must meet: rows that do not are left out at once, or by the condition that is returned.
    pub(super) fn restrict(&mut self, condition: Expr) -> Result<Option<Expr>> {
        match condition {
            Expr::Not(inner) => match as_membership(*inner) {
                Ok(mut found) => {
                    found.negated = !found.negated;
                    self.restrict_to_members(found)
                }
                Err(Expr::Exists(mut exists)) => {
                    exists.negated = !exists.negated;
                    self.restrict_to_existing(exists)
                }
                Err(inner) => self.replace(not(inner), true).map(Some),
            },
            Expr::Exists(exists) => self.restrict_to_existing(exists),
            other => match as_membership(other) {
                Ok(found) => self.restrict_to_members(found),
                Err(other) => self.replace(other, true).map(Some),
            },
        }
    }

    fn restrict_to_existing(&mut self, exists: Exists) -> Result<Option<Expr>> {
        let plan = any_rows(plan_of(exists.subquery.clone()))?;
        if !reads_outer(&plan) {
            return has_rows(plan, exists.negated).map(Some);
        }
        let pulled = self.pull(&plan)?;
        if pulled.having.is_some() || pulled.is_outer_row_alone() {
            return self.existence_of(pulled, exists.negated).map(Some);
        }
        let pulled = Pulled {
            outputs: Vec::new(),
            ..pulled
        };
        let pulled = pulled.renamed(self.plan.schema(), self.names)?;
        let join_type = if exists.negated {
            JoinType::LeftAnti
        } else {
            JoinType::LeftSemi
        };
        let conditions = self.resolve_all(pulled.conditions)?;
        self.join(pulled.plan, join_type, conditions)?;
        Ok(None)
    }

    /// `EXISTS` as a value. It is never NULL.
    pub(super) fn existence(&mut self, exists: Exists) -> Result<Expr> {
        let plan = any_rows(plan_of(exists.subquery))?;
        if !reads_outer(&plan) {
            return has_rows(plan, exists.negated);
        }
        let pulled = self.pull(&plan)?;
        self.existence_of(pulled, exists.negated)
    }

    fn existence_of(&mut self, pulled: Pulled, negated: bool) -> Result<Expr> {
        let exists = if pulled.having.is_some() || pulled.is_outer_row_alone() {
            match self.join_one_row(pulled)?.1 {
                Some(having) => is_met(having)?,
                None => lit(true),
            }
        } else {
            let pulled = Pulled {
                outputs: Vec::new(),
                ..pulled
            };
            let pulled = pulled.renamed(self.plan.schema(), self.names)?;
            let conditions = self.resolve_all(pulled.conditions)?;
            self.mark(pulled.plan, conditions)?
        };
        Ok(if negated { not(exists) } else { exists })
    }

    fn restrict_to_members(&mut self, found: InSubquery) -> Result<Option<Expr>> {
        let plan = plan_of(found.subquery.clone());
        let is_correlated = reads_outer(&plan);
        let pulled = self.pull(&plan)?;
        if pulled.having.is_some() || pulled.is_outer_row_alone() {
            return self.membership(found, true).map(Some);
        }
        let mut looked_for = self.replace(*found.expr, false)?;
        if found.negated && !is_correlated && !matches!(looked_for, Expr::Column(_)) {
            // What turns out to be constant would make a filter of the join's condition, and NULLs would not be seen any more.
            let rows = std::mem::take(&mut self.plan);
            let (rows, mut columns) = columns::computed(rows, vec![looked_for], self.names)?;
            self.plan = rows;
            looked_for = Expr::Column(columns.swap_remove(0));
        }
        let (members, comparison) = self.compared(looked_for, pulled)?;
        let mut conditions = members.conditions;
        if !found.negated {
            conditions.push(comparison);
            self.join(members.plan, JoinType::LeftSemi, conditions)?;
            return Ok(None);
        }
        let may_be_null = self.may_be_null(&comparison, &members.plan)?;
        let is_null_aware = may_be_null && !is_correlated;
        conditions.push(if may_be_null && is_correlated {
            or_unknown(comparison)
        } else {
            comparison
        });
        self.join(members.plan, JoinType::LeftAnti, conditions)?;
        if let LogicalPlan::Join(join) = &mut self.plan {
            join.null_aware = is_null_aware;
        }
        Ok(None)
    }

    /// `IN` as a value.
    pub(super) fn membership(&mut self, found: InSubquery, is_condition: bool) -> Result<Expr> {
        let looked_for = self.replace(*found.expr, false)?;
        let plan = plan_of(found.subquery);
        let is_correlated = reads_outer(&plan);
        let pulled = self.pull(&plan)?;
        let is_in = if pulled.having.is_some() || pulled.is_outer_row_alone() {
            let (mut outputs, having) = self.join_one_row(pulled)?;
            let comparison = looked_for.eq(outputs.swap_remove(0));
            match having {
                Some(having) => when(having, comparison).otherwise(lit(false))?,
                None => comparison,
            }
        } else {
            let (members, comparison) = self.compared(looked_for.clone(), pulled)?;
            let may_be_null = self.may_be_null(&comparison, &members.plan)?;
            let with = |condition: Expr| {
                let mut conditions = members.conditions.clone();
                conditions.push(condition);
                conditions
            };
            let is_there = self.mark(members.plan.clone(), with(comparison.clone()))?;
            if !may_be_null || is_condition && !found.negated {
                is_there
            } else {
                let is_unknown = if is_correlated {
                    self.mark(members.plan.clone(), with(is_unknown(comparison)))?
                } else {
                    unknown_in_all(&plan, looked_for)?
                };
                let unknown = Expr::Literal(ScalarValue::Boolean(None), None);
                when(is_there, lit(true))
                    .when(is_unknown, unknown)
                    .otherwise(lit(false))?
            }
        };
        Ok(if found.negated { not(is_in) } else { is_in })
    }

    /// The members under names of their own, and the comparison with one of them.
    fn compared(&self, looked_for: Expr, pulled: Pulled) -> Result<(Pulled, Expr)> {
        let mut pulled = pulled.renamed(self.plan.schema(), self.names)?;
        pulled.conditions = self.resolve_all(pulled.conditions)?;
        pulled.outputs = self.resolve_all(pulled.outputs)?;
        let comparison = looked_for.eq(pulled.outputs[0].clone());
        Ok((pulled, comparison))
    }

    fn may_be_null(&self, comparison: &Expr, members: &LogicalPlan) -> Result<bool> {
        let both = self.plan.schema().join(members.schema())?;
        Ok(comparison.nullable(&both).unwrap_or(true))
    }

    /// `ANY` and `ALL`.
    pub(super) fn comparison(&mut self, found: SetComparison, is_condition: bool) -> Result<Expr> {
        match as_membership(Expr::SetComparison(found)) {
            Ok(found) => self.membership(found, is_condition),
            Err(Expr::SetComparison(found)) => self.quantified(found),
            Err(other) => Ok(other),
        }
    }
}

/// `IN`, or what is the same.
fn as_membership(expression: Expr) -> std::result::Result<InSubquery, Expr> {
    match expression {
        Expr::InSubquery(found) => Ok(found),
        Expr::SetComparison(SetComparison {
            expr,
            subquery,
            op: op @ (Operator::Eq | Operator::NotEq),
            quantifier,
        }) if (op == Operator::Eq) == (quantifier == SetQuantifier::Any) => Ok(InSubquery {
            expr,
            subquery,
            negated: op == Operator::NotEq,
        }),
        other => Err(other),
    }
}

/// Whether an equality is NULL.
fn is_unknown(comparison: Expr) -> Expr {
    match comparison {
        Expr::BinaryExpr(equality) => equality.left.is_null().or(equality.right.is_null()),
        other => other.is_null(),
    }
}

/// Whether the members are such that what is not among them is unknown, asked once for all rows.
fn unknown_in_all(plan: &LogicalPlan, looked_for: Expr) -> Result<Expr> {
    let nulls = columns::filtered(plan.clone(), vec![first_column(plan).is_null()])?;
    let has_null = has_rows(nulls, false)?;
    let has_any = has_rows(plan.clone(), false)?;
    Ok(has_null.or(looked_for.is_null().and(has_any)))
}

/// Whether a plan that reads nothing from outside has rows.
fn has_rows(plan: LogicalPlan, negated: bool) -> Result<Expr> {
    let first = LogicalPlanBuilder::from(plan).limit(0, Some(1))?.build()?;
    let counted = aggregated(first, vec![count(lit(1_i64))])?;
    let found = Expr::ScalarSubquery(as_subquery(counted));
    Ok(if negated {
        found.eq(lit(0_i64))
    } else {
        found.gt(lit(0_i64))
    })
}

/// The plan without what does not change whether there is a row.
fn any_rows(plan: LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Sort(sort) if sort.fetch.is_none() => {
            any_rows(Arc::unwrap_or_clone(sort.input))
        }
        LogicalPlan::Distinct(distinct) => any_rows(distinct.input().as_ref().clone()),
        LogicalPlan::Projection(projection) => any_rows(Arc::unwrap_or_clone(projection.input)),
        LogicalPlan::Limit(limit) => {
            let takes_first = matches!(limit.get_skip_type()?, SkipType::Literal(0))
                && matches!(limit.get_fetch_type()?, FetchType::Literal(Some(1..)));
            if takes_first {
                any_rows(Arc::unwrap_or_clone(limit.input))
            } else {
                Ok(LogicalPlan::Limit(limit))
            }
        }
        plan => Ok(plan),
    }
}
