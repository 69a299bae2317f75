//! Joins within a subquery.
//!
//! Conditions of an inner join's sides hold above it. Those of the side that an outer, semi, anti or mark join preserves do, too.
//! What the other side or the join's own condition reads of the outer row is brought in by the domain, on the preserved side.

use datafusion::common::NullEquality;
use datafusion::common::{JoinType, Result};
use datafusion::functions::expr_fn::coalesce;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Expr, Join, LogicalPlan};

use super::super::columns::{self, ColumnSubstitutes, columns_of, outer_columns};
use super::super::domain::{CorrelatedKey, equality};
use super::{Pull, Pulled};

impl Pull<'_> {
    pub(super) fn join(&self, join: &Join) -> Result<Pulled> {
        match join.join_type {
            JoinType::Inner => self.inner_join(join),
            JoinType::Full => self.full_join(join),
            JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti | JoinType::LeftMark => {
                self.preserving_join(join, &join.left, &join.right, join.join_type)
            }
            JoinType::Right | JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark => {
                self.preserving_join(join, &join.right, &join.left, join.join_type.swap())
            }
        }
    }

    fn inner_join(&self, join: &Join) -> Result<Pulled> {
        let left = self.rows_of(&join.left)?;
        let right = self.apart(&left, self.rows_of(&join.right)?)?;
        let known = ColumnSubstitutes::default()
            .with(join.left.schema(), &left.outputs)
            .with(join.right.schema(), &right.outputs);
        let (outer, own): (Vec<Expr>, Vec<Expr>) = known
            .substitute_all(&conditions_of(join))?
            .into_iter()
            .partition(|condition| self.reads(condition));
        Ok(Pulled {
            plan: columns::join(left.plan, right.plan, JoinType::Inner, own)?,
            outputs: [left.outputs, right.outputs].concat(),
            conditions: [left.conditions, right.conditions, outer].concat(),
            having: None,
        })
    }

    /// A join of the type `join_type` that preserves the rows of `preserved`.
    fn preserving_join(
        &self,
        join: &Join,
        preserved: &LogicalPlan,
        other: &LogicalPlan,
        join_type: JoinType,
    ) -> Result<Pulled> {
        let mut rows = self.rows_of(preserved)?;
        let others = self.rows_of(other)?;
        let mut others = match join_type {
            // The mark is a column of the other side's table, of which there may be more.
            JoinType::LeftMark => others.renamed(rows.plan.schema(), self.names)?,
            _ => self.apart(&rows, others)?,
        };
        if join_type == JoinType::Left {
            others = self.with_own_outputs(others)?;
        }
        let known = ColumnSubstitutes::default()
            .with(preserved.schema(), &rows.outputs)
            .with(other.schema(), &others.outputs);
        let mut conditions = known.substitute_all(&conditions_of(join))?;
        let mut is_null_aware = join.null_aware;
        let read = others.conditions.iter().chain(&conditions);
        if read.clone().any(|condition| self.reads(condition)) {
            if std::mem::take(&mut is_null_aware) {
                conditions = conditions.into_iter().map(or_unknown).collect();
            }
            conditions.extend(std::mem::take(&mut others.conditions));
            let all = rows.expressions().chain(&conditions);
            let columns = outer_columns(all, self.outer.schema())?;
            let keyed = self.beside_domain(rows, columns)?;
            conditions = keyed.resolve_all(conditions)?;
            rows = keyed.into_pulled();
        }
        let mut plan = columns::join(rows.plan, others.plan, join_type, conditions)?;
        if let LogicalPlan::Join(join) = &mut plan {
            join.null_aware = is_null_aware;
        }
        let outputs = match join_type {
            JoinType::Left if join.join_type == JoinType::Right => {
                [others.outputs, rows.outputs].concat()
            }
            JoinType::Left => [rows.outputs, others.outputs].concat(),
            JoinType::LeftMark => {
                rows.outputs.extend(columns_of(&plan).pop());
                rows.outputs
            }
            _ => rows.outputs,
        };
        Ok(Pulled {
            plan,
            outputs,
            conditions: rows.conditions,
            having: None,
        })
    }

    /// Both sides have the domain, and the one that a row has says which outer row it belongs to.
    fn full_join(&self, join: &Join) -> Result<Pulled> {
        let left = self.rows_of(&join.left)?;
        let right = self.apart(&left, self.rows_of(&join.right)?)?;
        let known = ColumnSubstitutes::default()
            .with(join.left.schema(), &left.outputs)
            .with(join.right.schema(), &right.outputs);
        let conditions = known.substitute_all(&conditions_of(join))?;
        let all = left.expressions().chain(right.expressions());
        let columns = outer_columns(all.chain(&conditions), self.outer.schema())?;
        let left = self.beside_domain(left, columns.clone())?;
        let right = self.beside_domain(right, columns)?;
        // The outputs of both sides are columns of their own now.
        let known = ColumnSubstitutes::default()
            .with(join.left.schema(), &left.outputs)
            .with(join.right.schema(), &right.outputs);
        let mut conditions = left.resolve_all(known.substitute_all(&conditions_of(join))?)?;
        let mut merged = Vec::with_capacity(left.keys.len());
        for (left, right) in left.key_columns().into_iter().zip(right.key_columns()) {
            conditions.push(equality(left.clone(), right.clone(), true));
            merged.push(coalesce(vec![left, right]));
        }
        let plan = columns::join(left.plan, right.plan, JoinType::Full, conditions)?;
        let (plan, columns) = columns::computed(plan, merged, self.names)?;
        let keys = left.keys.iter().zip(columns);
        let keys = keys.map(|(key, inner)| CorrelatedKey {
            inner,
            is_null_safe: true,
            ..key.clone()
        });
        Ok(Pulled {
            plan,
            outputs: [left.outputs, right.outputs].concat(),
            conditions: keys.map(|key| key.condition()).collect(),
            having: None,
        })
    }

    /// The rows of a side, with one that may be missing in its place.
    fn rows_of(&self, plan: &LogicalPlan) -> Result<Pulled> {
        let pulled = self.pull(plan)?;
        match pulled.having {
            None => Ok(pulled),
            Some(_) => Ok(self.keyed(pulled, &[])?.into_pulled()),
        }
    }

    /// The same with outputs that are columns, so that they are NULL where a row has no partner.
    pub(crate) fn with_own_outputs(&self, pulled: Pulled) -> Result<Pulled> {
        if pulled.outputs.iter().any(|output| self.reads(output)) {
            return Ok(self.keyed(pulled, &[])?.into_pulled());
        }
        let (plan, columns) = columns::computed(pulled.plan, pulled.outputs, self.names)?;
        Ok(Pulled {
            plan,
            outputs: columns.into_iter().map(Expr::Column).collect(),
            ..pulled
        })
    }

    /// `right` under other names, where some are those of `left`.
    fn apart(&self, left: &Pulled, right: Pulled) -> Result<Pulled> {
        match left.plan.schema().join(right.plan.schema()) {
            Ok(both) if both.check_names().is_ok() => Ok(right),
            _ => right.renamed(left.plan.schema(), self.names),
        }
    }
}

/// The keys and the filter of a join as conditions.
pub(crate) fn conditions_of(join: &Join) -> Vec<Expr> {
    let is_null_safe = join.null_equality == NullEquality::NullEqualsNull;
    let keys = join.on.iter();
    let keys = keys.map(|(left, right)| equality(left.clone(), right.clone(), is_null_safe));
    let filter = join.filter.iter().flat_map(split_conjunction).cloned();
    keys.chain(filter).collect()
}

/// Whether a comparison is true or unknown: what a join for `NOT IN` must take for a match.
pub(crate) fn or_unknown(condition: Expr) -> Expr {
    match condition {
        Expr::BinaryExpr(comparison) => {
            let (left, right) = (comparison.left.clone(), comparison.right.clone());
            Expr::BinaryExpr(comparison)
                .or(left.is_null())
                .or(right.is_null())
        }
        other => other.is_not_false(),
    }
}
