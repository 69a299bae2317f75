//! About how many rows plans have, and what making them costs.
//!
//! Scans are estimated by the inner pages of their trees and by what `ANALYZE` has found of their columns. Above them the rules of
//! Selinger et al. (SIGMOD 1979) follow how many distinct values a column has; where that is not known, a tenth of the rows are the
//! first of their group, and a join has as many rows as its larger input.

use std::rc::Rc;

use quire_tables::{RowStatistics, RowTable, distinct_drawn};

use super::relation::BaseScan;
use super::{BuildError, Builder};
use crate::access::{choose, rule, share};
use crate::avm::Trap;
use crate::plan::{Aggregate, Expression, Join, JoinKind, Node, Plan, Scalar};
use crate::tuple::QueryCosts;

/// Rows of a plan, and what making them costs, in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    pub(super) rows: f64,
    /// By these iterators, inputs included.
    pub(super) cost_ns: f64,
    /// By batches.
    pub(super) batch_ns: f64,
    /// Distinct values of each column, where they are known.
    distinct: Vec<Option<f64>>,
}

const GROUPS: f64 = 0.1;

/// No join finds fewer of the rows that it looks for partners of.
const PARTNERS_LEAST: f64 = 0.05;

impl Estimate {
    /// Distinct values of an expression, if it is a column of which that is known.
    fn distinct_of(&self, expression: &Expression) -> Option<f64> {
        match expression {
            Expression::Column { slot, .. } => self.distinct.get(*slot).copied().flatten(),
            Expression::Cast(_, inner) => self.distinct_of(inner),
            _ => None,
        }
    }

    /// Distinct values of several together, if they are known of each: at most one for each row.
    fn distinct_of_all<'e>(
        &self,
        expressions: impl IntoIterator<Item = &'e Expression>,
    ) -> Option<f64> {
        let each = expressions.into_iter().map(|one| self.distinct_of(one));
        let product = each.product::<Option<f64>>()?;
        Some(product.min(self.rows))
    }

    /// What is left of the distinct values in so many of the rows.
    fn distinct_in(&self, rows: f64) -> Vec<Option<f64>> {
        let drawn = |distinct: &Option<f64>| distinct.map(|it| distinct_drawn(it, self.rows, rows));
        self.distinct.iter().map(drawn).collect()
    }
}

impl Builder<'_> {
    pub(super) fn estimate(&self, plan: &Plan) -> Result<Rc<Estimate>, BuildError> {
        let place = std::ptr::from_ref(plan) as usize;
        if let Some(known) = self.estimates.borrow().get(&place) {
            return Ok(Rc::clone(known));
        }
        let estimate = Rc::new(self.estimate_node(plan)?);
        let known = Rc::clone(&estimate);
        self.estimates.borrow_mut().insert(place, known);
        Ok(estimate)
    }

    /// What a plan costs, and how many rows it has.
    pub(in crate::tuple) fn costs_of(&self, plan: &Plan) -> Result<QueryCosts, BuildError> {
        let estimate = self.estimate(plan)?;
        Ok(QueryCosts {
            tuple_ns: estimate.cost_ns,
            batch_ns: estimate.batch_ns,
            row_count: estimate.rows,
        })
    }

    fn estimate_node(&self, plan: &Plan) -> Result<Estimate, BuildError> {
        if let Some(base) = BaseScan::of(plan) {
            return self.estimate_scan(&base);
        }
        let inputs = plan.node.inputs().into_iter();
        let inputs = inputs.map(|input| self.estimate(input));
        let inputs = inputs.collect::<Result<Vec<Rc<Estimate>>, _>>()?;
        let column_count = plan.columns.len();
        let (rows, distinct) = match (&plan.node, inputs.as_slice()) {
            (Node::Join(join), [left, right]) => joined(join, left, right),
            (node, [input]) => self.of_input(node, input, column_count),
            (Node::Values(rows), _) => (rows.len() as f64, vec![None; column_count]),
            (_, inputs) => (
                inputs.iter().map(|input| input.rows).sum(),
                vec![None; column_count],
            ),
        };
        let rows = rows.max(1.0);
        Ok(Estimate {
            rows,
            cost_ns: self.node_ns(plan, &inputs, rows)?,
            batch_ns: self.batch_node_ns(plan, &inputs, rows),
            distinct,
        })
    }

    /// About how many groups there are.
    pub(super) fn grouped_rows(
        &self,
        groups: &[Expression],
        input: &Plan,
    ) -> Result<f64, BuildError> {
        let input = self.estimate(input)?;
        if groups.is_empty() {
            return Ok(1.0);
        }
        let rows = input.distinct_of_all(groups);
        Ok(rows.unwrap_or(input.rows * GROUPS).max(1.0))
    }

    /// Rows and distinct values of what has one input.
    fn of_input(
        &self,
        node: &Node,
        input: &Estimate,
        column_count: usize,
    ) -> (f64, Vec<Option<f64>>) {
        let limited = |most: Option<u64>| {
            let rows = most.map_or(input.rows, |most| input.rows.min(most as f64));
            (rows, input.distinct_in(rows))
        };
        match node {
            Node::Filter(_, condition) => {
                let rows = input.rows * rule(condition);
                (rows, input.distinct_in(rows))
            }
            Node::Project(_, expressions) => {
                let distinct = expressions.iter().map(|one| input.distinct_of(one));
                (input.rows, distinct.collect())
            }
            Node::Aggregate(aggregate) => grouped(aggregate, input),
            Node::Distinct(_) => {
                let product = input.distinct.iter().copied().product::<Option<f64>>();
                let rows = product.unwrap_or(input.rows * GROUPS).min(input.rows);
                (rows, input.distinct.clone())
            }
            Node::Sort(sort) => limited(sort.fetch),
            Node::Limit { fetch, .. } => limited(self.known_count(fetch.as_ref())),
            _ => (input.rows, vec![None; column_count]),
        }
    }

    fn estimate_scan(&self, base: &BaseScan<'_>) -> Result<Estimate, BuildError> {
        let (table, ordinals) = self.table(base.scan)?;
        let conditions = base.conditions.as_slice();
        let chosen = choose(
            &table,
            &ordinals,
            conditions,
            &self.environment,
            &self.costs,
        );
        let chosen = chosen.map_err(Trap::from)?;
        let statistics = self.statistics(&table)?;
        // What the path says is counted by the tree.
        let tested = conditions.iter().zip(&chosen.is_said);
        let tested = tested.filter(|(_, is_said)| !**is_said);
        let tested: Vec<&Expression> = tested.map(|(condition, _)| *condition).collect();
        let share = share(&table, &statistics, &ordinals, &tested, &self.environment);
        let rows = (chosen.rows.min(statistics.row_count.max(1.0)) * share).max(1.0);
        let distinct = |ordinal: &usize| {
            let known = statistics.column(*ordinal)?.distinct_count;
            Some(distinct_drawn(known, statistics.row_count, rows))
        };
        let (cost_ns, batch_ns) = self.scan_ns(&table, &ordinals, conditions, (&chosen, rows))?;
        Ok(Estimate {
            rows,
            cost_ns,
            batch_ns,
            distinct: ordinals.iter().map(distinct).collect(),
        })
    }

    /// What is known of a table, read once for a query.
    fn statistics(&self, table: &RowTable) -> Result<Rc<RowStatistics>, BuildError> {
        if let Some(known) = self.statistics.borrow().get(&table.id()) {
            return Ok(Rc::clone(known));
        }
        let statistics = Rc::new(table.statistics().map_err(Trap::from)?);
        let known = Rc::clone(&statistics);
        self.statistics.borrow_mut().insert(table.id(), known);
        Ok(statistics)
    }

    fn known_count(&self, expression: Option<&Expression>) -> Option<u64> {
        match expression?.evaluate(&[], &self.environment) {
            Ok(Scalar::Integer(count)) => u64::try_from(count).ok(),
            _ => None,
        }
    }
}

/// The groups of an aggregate: its first columns.
fn grouped(aggregate: &Aggregate, input: &Estimate) -> (f64, Vec<Option<f64>>) {
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

fn joined(join: &Join, left: &Estimate, right: &Estimate) -> (f64, Vec<Option<f64>>) {
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
