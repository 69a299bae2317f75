//! About how many rows plans have, and what making them costs.
//!
//! Scans are estimated by the inner pages of their trees. Above them are rules, the same for all tables: an equality is true of a tenth of
//! the rows, any other condition of a third; a tenth of the rows are the first of their group; a join has as many rows as its
//! larger input.

use super::relation::BaseScan;
use super::{BuildError, Builder};
use crate::access::choose;
use crate::avm::Trap;
use crate::plan::{Comparison, Expression, Join, JoinKind, Node, Plan, Scalar};

/// Rows of a plan, and what making them costs, in rows of a table that are read in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    pub(super) rows: f64,
    pub(super) cost: f64,
}

const GROUPS: f64 = 0.1;

/// Of which part of the rows a condition is true.
fn share(condition: &Expression) -> f64 {
    match condition {
        Expression::Compare(Comparison::Equal | Comparison::NotDistinct, _) => 0.1,
        Expression::And(sides) => sides.iter().map(share).product(),
        Expression::Or(sides) => sides.iter().map(share).sum::<f64>().min(1.0),
        _ => 1.0 / 3.0,
    }
}

impl Builder<'_> {
    pub(super) fn estimate(&self, plan: &Plan) -> Result<Estimate, BuildError> {
        let place = std::ptr::from_ref(plan) as usize;
        if let Some(known) = self.estimates.borrow().get(&place) {
            return Ok(*known);
        }
        let estimate = self.estimate_node(plan)?;
        self.estimates.borrow_mut().insert(place, estimate);
        Ok(estimate)
    }

    fn estimate_node(&self, plan: &Plan) -> Result<Estimate, BuildError> {
        if let Some(base) = BaseScan::of(plan) {
            return self.estimate_scan(&base);
        }
        let mut rows = Vec::new();
        let mut cost = 0.0;
        for input in plan.node.inputs() {
            let input = self.estimate(input)?;
            rows.push(input.rows);
            cost += input.cost + input.rows;
        }
        let first = rows.first().copied().unwrap_or_default();
        let limited = |most: Option<u64>| most.map_or(first, |most| first.min(most as f64));
        let rows = match &plan.node {
            Node::Scan(_) | Node::Project(..) => first,
            Node::Values(rows) => rows.len() as f64,
            Node::Filter(_, condition) => first * share(condition),
            Node::Join(join) => joined(join, &rows),
            Node::Aggregate(aggregate) if aggregate.groups.is_empty() => 1.0,
            Node::Aggregate(_) | Node::Distinct(_) => first * GROUPS,
            Node::Sort(sort) => limited(sort.fetch),
            Node::Limit { fetch, .. } => limited(self.known_count(fetch.as_ref())),
            Node::UnionAll(_) => rows.iter().sum(),
        };
        Ok(Estimate {
            rows: rows.max(1.0),
            cost,
        })
    }

    fn estimate_scan(&self, base: &BaseScan<'_>) -> Result<Estimate, BuildError> {
        let (table, ordinals) = self.table(base.scan)?;
        let chosen = choose(&table, &ordinals, &base.conditions, &self.environment);
        let chosen = chosen.map_err(Trap::from)?;
        let tested = base.conditions.iter().zip(&chosen.is_said);
        let shares = tested.filter(|(_, is_said)| !**is_said);
        let share: f64 = shares.map(|(condition, _)| share(condition)).product();
        Ok(Estimate {
            rows: (chosen.rows * share).max(1.0),
            cost: chosen.cost,
        })
    }

    fn known_count(&self, expression: Option<&Expression>) -> Option<u64> {
        match expression?.evaluate(&[], &self.environment) {
            Ok(Scalar::Integer(count)) => u64::try_from(count).ok(),
            _ => None,
        }
    }
}

fn joined(join: &Join, rows: &[f64]) -> f64 {
    let &[left, right] = rows else {
        return 1.0;
    };
    match join.kind {
        JoinKind::Semi | JoinKind::Anti => left / 2.0,
        JoinKind::Mark => left,
        _ if join.keys.is_empty() => left * right,
        _ => left.max(right),
    }
}
