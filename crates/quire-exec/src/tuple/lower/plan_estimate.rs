//! The estimates of a plan, node by node; each is made once.

use std::rc::Rc;

use quire_tables::{RowStatistics, RowTable, distinct_drawn};

use super::base_scan::BaseScan;
use super::builder::Builder;
use super::estimate::{GROUPS, PlanCost, grouped, joined, widths};
use super::width::ColumnWidth;
use crate::access::{choose, rule, share};
use crate::avm::Trap;
use crate::plan::{Expression, Plan, PlanNode, PlanScalar};
use crate::tuple::LowerError;

impl Builder<'_> {
    pub(in crate::tuple) fn estimate(&self, plan: &Plan) -> Result<Rc<PlanCost>, LowerError> {
        let place = std::ptr::from_ref(plan) as usize;
        if let Some(known) = self.estimates.borrow().get(&place) {
            return Ok(Rc::clone(known));
        }
        let estimate = Rc::new(self.estimate_node(plan)?);
        let known = Rc::clone(&estimate);
        self.estimates.borrow_mut().insert(place, known);
        Ok(estimate)
    }

    fn estimate_node(&self, plan: &Plan) -> Result<PlanCost, LowerError> {
        if let Some(base) = BaseScan::of(plan) {
            return self.estimate_scan(&base);
        }
        if let PlanNode::Shared(shared) = &plan.node {
            return self.estimate_shared(plan, shared);
        }
        let inputs = plan.node.inputs().into_iter();
        let inputs = inputs.map(|input| self.estimate(input));
        let inputs = inputs.collect::<Result<Vec<Rc<PlanCost>>, _>>()?;
        let column_count = plan.columns.len();
        let (rows, distinct) = match (&plan.node, inputs.as_slice()) {
            (PlanNode::Join(join), [left, right]) => joined(join, left, right),
            (node, [input]) => self.of_input(node, input, column_count),
            (PlanNode::Values(rows), _) => (rows.len() as f64, vec![None; column_count]),
            (_, inputs) => (
                inputs.iter().map(|input| input.rows).sum(),
                vec![None; column_count],
            ),
        };
        let rows = rows.max(1.0);
        Ok(PlanCost {
            rows,
            cost_ns: self.node_ns(plan, &inputs, rows)?,
            batch_ns: self.batch_node_ns(plan, &inputs, rows),
            distinct,
            widths: widths(plan, &inputs),
        })
    }

    /// About how many groups there are.
    pub(super) fn grouped_rows(
        &self,
        groups: &[Expression],
        input: &Plan,
    ) -> Result<f64, LowerError> {
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
        node: &PlanNode,
        input: &PlanCost,
        column_count: usize,
    ) -> (f64, Vec<Option<f64>>) {
        let limited = |most: Option<u64>| {
            let rows = most.map_or(input.rows, |most| input.rows.min(most as f64));
            (rows, input.distinct_in(rows))
        };
        match node {
            PlanNode::Filter(_, condition) => {
                let rows = input.rows * rule(condition);
                (rows, input.distinct_in(rows))
            }
            PlanNode::Project(_, expressions) => {
                let distinct = expressions.iter().map(|one| input.distinct_of(one));
                (input.rows, distinct.collect())
            }
            PlanNode::Aggregate(aggregate) => grouped(aggregate, input),
            PlanNode::Distinct(_) => {
                let product = input.distinct.iter().copied().product::<Option<f64>>();
                let rows = product.unwrap_or(input.rows * GROUPS).min(input.rows);
                (rows, input.distinct.clone())
            }
            PlanNode::Sort(sort) => limited(sort.fetch),
            PlanNode::Limit { fetch, .. } => limited(self.known_count(fetch.as_ref())),
            _ => (input.rows, vec![None; column_count]),
        }
    }

    fn estimate_scan(&self, base: &BaseScan<'_>) -> Result<PlanCost, LowerError> {
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
        let width = |ordinal: &usize| ColumnWidth::of_column(table.layout(), &statistics, *ordinal);
        let (cost_ns, batch_ns) = self.scan_ns(&table, &ordinals, conditions, (&chosen, rows))?;
        Ok(PlanCost {
            rows,
            cost_ns,
            batch_ns,
            distinct: ordinals.iter().map(distinct).collect(),
            widths: ordinals.iter().map(width).collect(),
        })
    }

    /// What is known of a table, read once for a query.
    pub(super) fn statistics(&self, table: &RowTable) -> Result<Rc<RowStatistics>, LowerError> {
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
            Ok(PlanScalar::Integer(count)) => u64::try_from(count).ok(),
            _ => None,
        }
    }
}
