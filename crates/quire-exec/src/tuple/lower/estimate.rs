//! About how many rows plans have, and what making them costs.
//!
//! Scans are estimated by the inner pages of their trees and by what `ANALYZE` has found of their columns. Above them the rules of
//! Selinger et al. (SIGMOD 1979) follow how many distinct values a column has; where that is not known, a tenth of the rows are the
//! first of their group, and a join has as many rows as its larger input.

use std::rc::Rc;

use quire_tables::distinct_drawn;

use super::relation_size::RelationSize;
use super::width::{ColumnWidth, row_bytes};
use crate::access::rule;
use crate::plan::{Aggregate, Expression, Join, JoinKind, Plan, PlanNode, ValueKind};

/// Rows of a plan, and what making them costs, in nanoseconds.
#[derive(Clone, Debug)]
pub(in crate::tuple) struct PlanCost {
    pub(in crate::tuple) rows: f64,
    /// By these iterators, inputs included.
    pub(in crate::tuple) cost_ns: f64,
    /// By batches.
    pub(in crate::tuple) batch_ns: f64,
    /// Distinct values of each column, where they are known.
    pub(super) distinct: Vec<Option<f64>>,
    /// About how many bytes a value of each column takes.
    pub(super) widths: Vec<ColumnWidth>,
}

pub(super) const GROUPS: f64 = 0.1;

/// No join finds fewer of the rows that it looks for partners of.
const PARTNERS_LEAST: f64 = 0.05;

impl PlanCost {
    /// About how many bytes a row of all columns takes that is kept.
    pub(super) fn row_bytes(&self) -> f64 {
        row_bytes(&self.widths)
    }

    pub(super) fn size(&self) -> RelationSize {
        RelationSize {
            rows: self.rows,
            row_bytes: self.row_bytes(),
        }
    }

    pub(super) fn width_of(&self, expression: &Expression) -> ColumnWidth {
        let known = match expression {
            Expression::Column { slot, .. } => self.widths.get(*slot).copied(),
            _ => None,
        };
        known.unwrap_or_else(|| ColumnWidth::of_kind(expression.kind()))
    }

    /// Distinct values of an expression, if it is a column of which that is known.
    pub(super) fn distinct_of(&self, expression: &Expression) -> Option<f64> {
        match expression {
            Expression::Column { slot, .. } => self.distinct.get(*slot).copied().flatten(),
            Expression::Cast(_, inner) => self.distinct_of(inner),
            _ => None,
        }
    }

    /// Distinct values of several together, if they are known of each: at most one for each row.
    pub(super) fn distinct_of_all<'e>(
        &self,
        expressions: impl IntoIterator<Item = &'e Expression>,
    ) -> Option<f64> {
        let each = expressions.into_iter().map(|one| self.distinct_of(one));
        let product = each.product::<Option<f64>>()?;
        Some(product.min(self.rows))
    }

    /// What is left of the distinct values in so many of the rows.
    pub(super) fn distinct_in(&self, rows: f64) -> Vec<Option<f64>> {
        let drawn = |distinct: &Option<f64>| distinct.map(|it| distinct_drawn(it, self.rows, rows));
        self.distinct.iter().map(drawn).collect()
    }
}

/// About how many bytes a value of each column of a plan takes: of one that is only passed on as many as in the input.
pub(super) fn widths(plan: &Plan, inputs: &[Rc<PlanCost>]) -> Vec<ColumnWidth> {
    let mut widths: Vec<ColumnWidth> = match (&plan.node, inputs) {
        (
            PlanNode::Filter(..)
            | PlanNode::Sort(_)
            | PlanNode::Limit { .. }
            | PlanNode::Distinct(_),
            [input],
        ) => input.widths.clone(),
        (PlanNode::Project(_, expressions), [input]) => {
            let widths = expressions.iter();
            widths.map(|one| input.width_of(one)).collect()
        }
        (PlanNode::Aggregate(aggregate), [input]) => {
            let groups = aggregate.groups.iter();
            groups.map(|group| input.width_of(group)).collect()
        }
        (PlanNode::Join(join), [left, right]) if join.kind.shows_right() => {
            [left.widths.as_slice(), &right.widths].concat()
        }
        (PlanNode::Join(_), [left, _]) => left.widths.clone(),
        _ => Vec::new(),
    };
    // Of those that are computed nothing is known.
    widths.truncate(plan.columns.len());
    let computed = plan.columns.iter().skip(widths.len());
    let computed = computed.map(|column| column.kind().unwrap_or(ValueKind::Boolean));
    widths.extend(computed.map(ColumnWidth::of_kind));
    widths
}

/// The groups of an aggregate: its first columns.
pub(super) fn grouped(aggregate: &Aggregate, input: &PlanCost) -> (f64, Vec<Option<f64>>) {
    let unknown = aggregate.calls.iter().map(|_| None);
    if aggregate.groups.is_empty() {
        return (1.0, unknown.collect());
    }
    let rows = input.distinct_of_all(&aggregate.groups);
    let rows = rows.unwrap_or(input.rows * GROUPS);
    let distinct = aggregate.groups.iter();
    let distinct = distinct.map(|group| Some(input.distinct_of(group)?.min(rows)));
    (rows, distinct.chain(unknown).collect())
}

pub(super) fn joined(join: &Join, left: &PlanCost, right: &PlanCost) -> (f64, Vec<Option<f64>>) {
    let left_distinct = left.distinct_of_all(join.keys.iter().map(|key| &key.left));
    let right_distinct = right.distinct_of_all(join.keys.iter().map(|key| &key.right));
    let residual: f64 = join.residual.iter().map(rule).product();
    let all = left.rows * right.rows * residual;
    // Every value of the side that has fewer is believed to be among those of the other.
    let pairs = match (left_distinct, right_distinct) {
        _ if join.keys.is_empty() => all,
        (None, None) => left.rows.max(right.rows) * residual,
        (one, other) => {
            let greater = one.unwrap_or(1.0).max(other.unwrap_or(1.0));
            all / greater.max(1.0)
        }
    };
    let with_partner = match (left_distinct, right_distinct) {
        (Some(one), Some(other)) => (other / one.max(1.0)).clamp(PARTNERS_LEAST, 1.0) * residual,
        _ => 0.5,
    };
    let rows = match join.kind {
        JoinKind::Inner => pairs,
        JoinKind::Left => pairs.max(left.rows),
        JoinKind::Right => pairs.max(right.rows),
        JoinKind::Full => pairs.max(left.rows).max(right.rows),
        JoinKind::Semi => left.rows * with_partner,
        JoinKind::Anti => left.rows * (1.0 - with_partner).max(PARTNERS_LEAST),
        JoinKind::Mark => left.rows,
    };
    let mut distinct = left.distinct_in(rows.min(left.rows));
    match join.kind {
        JoinKind::Semi | JoinKind::Anti => {}
        JoinKind::Mark => distinct.push(None),
        _ => distinct.extend(right.distinct_in(rows.min(right.rows))),
    }
    (rows, distinct)
}
