//! What the nodes of a plan cost, by the tuple engine and by batches, in nanoseconds.

use std::rc::Rc;

use quire_tables::RowTable;
use quire_tables::SqlType;

use super::builder::Builder;
use super::estimate::PlanCost;
use super::join_costs::{BATCH_WAITS, JoinCosts};
use super::relation_size::RelationSize;
use super::scan_cost::{TestedTable, computed_count, work_of};
use super::width::row_bytes;
use crate::access::{AccessChoice, Prices, rule};
use crate::avm::Trap;
use crate::costs::Cost;
use crate::plan::{Aggregate, Expression, Join, Plan, PlanNode};
use crate::tuple::LowerError;

/// Rows that make another thread of batches worth it.
const ROWS_PER_THREAD: f64 = 32_768.0;

/// Bytes of the total of a group.
const TOTAL_BYTES: f64 = 16.0;

/// Whether a node gives its first rows before it has seen all of its input.
fn is_pipelined(plan: &Plan) -> bool {
    match &plan.node {
        PlanNode::Scan(_) | PlanNode::Values(_) => true,
        PlanNode::Filter(input, _)
        | PlanNode::Project(input, _)
        | PlanNode::Limit { input, .. } => is_pipelined(input),
        PlanNode::UnionAll(inputs) => inputs.iter().all(is_pipelined),
        PlanNode::Join(_)
        | PlanNode::Aggregate(_)
        | PlanNode::Sort(_)
        | PlanNode::Distinct(_)
        | PlanNode::Shared(_)
        | PlanNode::Write(_) => false,
    }
}

/// Pairs that have the same keys, of which those that match are so many.
fn tried_pairs(join: &Join, matching: f64) -> f64 {
    matching
        / join
            .residual
            .iter()
            .map(rule)
            .product::<f64>()
            .max(f64::EPSILON)
}

/// Comparisons of a sort of so many rows, of which so many are wanted.
pub(super) fn comparisons(rows: f64, wanted: f64) -> f64 {
    rows * wanted.clamp(2.0, rows.max(2.0)).log2()
}

/// About how many bytes a row of each input has.
fn inputs_bytes(inputs: &[Rc<PlanCost>]) -> f64 {
    inputs.iter().map(|input| input.row_bytes()).sum()
}

/// About how many bytes the values of a group have: what it is of, and its totals.
pub(super) fn group_bytes(aggregate: &Aggregate, inputs: &[Rc<PlanCost>]) -> f64 {
    let groups = aggregate.groups.iter();
    let groups_bytes: f64 = match inputs {
        [input] => row_bytes(
            &groups
                .map(|group| input.width_of(group))
                .collect::<Vec<_>>(),
        ),
        _ => 0.0,
    };
    groups_bytes + aggregate.calls.len() as f64 * TOTAL_BYTES
}

/// Batches keep values as they are.
fn batch_values_bytes(plan: &Plan) -> f64 {
    plan.columns.len() as f64 * TOTAL_BYTES
}

impl Builder<'_> {
    /// A scan by the tuple engine and by batches, which decode all columns of each row that they read.
    pub(super) fn scan_ns(
        &self,
        table: &RowTable,
        ordinals: &[usize],
        conditions: &[&Expression],
        (chosen, rows): (&AccessChoice, f64),
    ) -> Result<(f64, f64), LowerError> {
        let of = |cost| self.costs.of(cost);
        let tested = TestedTable {
            table,
            ordinals,
            conditions,
            costs: &self.costs,
        };
        let tuple_ns = tested.scan_ns(chosen, rows, ordinals);
        let is_text = |ordinal: &usize| {
            let sql_type = table.layout().sql_type(*ordinal);
            sql_type.is_some_and(|of| of.is_text() || of == SqlType::Bytea)
        };
        let fields = ordinals.iter().map(|ordinal| {
            if is_text(ordinal) {
                of(Cost::BatchText)
            } else {
                of(Cost::BatchField)
            }
        });
        let row_ns = of(Cost::BatchRow) + fields.sum::<f64>();
        let prices = Prices::of(table, &self.costs, ordinals).map_err(Trap::from)?;
        let reading_ns = match chosen.index {
            Some(_) => prices.lookup_ns,
            None => prices.row_ns - of(Cost::Row),
        };
        let batch_tests = computed_count(conditions.iter().copied()) * chosen.rows;
        let batch_ns = chosen.rows * (reading_ns + row_ns) + batch_tests * of(Cost::BatchCompute);
        let batch_ns = of(Cost::BatchNode) + batch_ns / self.threads(chosen.rows);
        Ok((tuple_ns, batch_ns))
    }

    /// How many threads of batches share the work on so many rows.
    fn threads(&self, rows: f64) -> f64 {
        (rows / ROWS_PER_THREAD)
            .ceil()
            .clamp(1.0, self.batch_threads)
    }

    /// What joins cost beside their inputs.
    pub(super) fn join_costs(&self) -> JoinCosts<'_> {
        JoinCosts::new(&self.costs, &self.workspace)
    }

    /// How long finding one of so many keys waits for memory, if what belongs to a key has so many bytes.
    fn waiting_ns(&self, keys: f64, values_bytes: f64) -> f64 {
        self.join_costs().waiting_ns(keys, values_bytes)
    }

    /// Finding the groups of rows.
    fn grouping_ns(&self, input_rows: f64, groups: f64, values_bytes: f64) -> f64 {
        let finding_ns = self.costs.of(Cost::HashProbe) + self.waiting_ns(groups, values_bytes);
        input_rows * finding_ns + groups * self.costs.of(Cost::HashInsert)
    }

    /// A node that makes so many rows, with its inputs.
    pub(super) fn node_ns(
        &self,
        plan: &Plan,
        inputs: &[Rc<PlanCost>],
        rows: f64,
    ) -> Result<f64, LowerError> {
        let of = |cost| self.costs.of(cost);
        let inputs_ns: f64 = inputs.iter().map(|input| input.cost_ns).sum();
        let input_rows: f64 = inputs.iter().map(|input| input.rows).sum();
        Ok(match &plan.node {
            PlanNode::Join(join) => {
                let tests = tried_pairs(join, rows) * computed_count(&join.residual);
                self.way(join)?.0 + tests * of(Cost::Compute)
            }
            PlanNode::Aggregate(aggregate) => {
                let group_bytes = group_bytes(aggregate, inputs);
                let finding_ns = if aggregate.groups.is_empty() {
                    0.0
                } else {
                    self.grouping_ns(input_rows, rows, group_bytes)
                };
                let computed = aggregate.calls.len() as f64 + computed_count(&aggregate.groups);
                let spilled = (input_rows, inputs_bytes(inputs));
                let spilling_ns = self.spilling_ns((rows, group_bytes), spilled);
                inputs_ns + finding_ns + input_rows * computed * of(Cost::Compute) + spilling_ns
            }
            PlanNode::Distinct(_) => {
                let bytes = inputs_bytes(inputs);
                let spilling_ns = self.spilling_ns((rows, bytes), (input_rows, bytes));
                inputs_ns + self.grouping_ns(input_rows, rows, bytes) + spilling_ns
            }
            PlanNode::Sort(sort) => match self.wanted_merge_of(sort)? {
                Some(wanted) => wanted.cost_ns,
                None => inputs_ns + self.sort_ns(sort, input_rows, inputs_bytes(inputs)),
            },
            PlanNode::Filter(_, condition) => {
                inputs_ns + input_rows * work_of(condition) * of(Cost::Compute)
            }
            PlanNode::Project(_, expressions) => {
                inputs_ns + input_rows * computed_count(expressions) * of(Cost::Compute)
            }
            PlanNode::Limit { input, .. } if is_pipelined(input) => {
                inputs_ns * (rows / input_rows.max(1.0)).min(1.0)
            }
            // Writing costs what it costs, whoever has found the rows; what is shared is estimated elsewhere.
            PlanNode::Limit { .. }
            | PlanNode::UnionAll(_)
            | PlanNode::Shared(_)
            | PlanNode::Values(_)
            | PlanNode::Scan(_)
            | PlanNode::Write(_) => inputs_ns,
        })
    }

    /// The same by batches.
    pub(super) fn batch_node_ns(&self, plan: &Plan, inputs: &[Rc<PlanCost>], rows: f64) -> f64 {
        let of = |cost| self.costs.of(cost);
        let inputs_ns: f64 = inputs.iter().map(|input| input.batch_ns).sum();
        let input_rows: f64 = inputs.iter().map(|input| input.rows).sum();
        let own_ns = match &plan.node {
            PlanNode::Join(join) => {
                let pairs = tried_pairs(join, rows) * (1.0 + computed_count(&join.residual));
                let kept = inputs.iter().map(|input| input.rows);
                let kept = RelationSize {
                    rows: kept.fold(input_rows, f64::min),
                    row_bytes: batch_values_bytes(plan),
                };
                // Scans of row tables know nothing of the keys of other sides.
                let looking = input_rows - kept.rows;
                let costs = self.join_costs();
                costs.batch_finding_ns(kept, (looking, looking), pairs)
            }
            PlanNode::Aggregate(aggregate) => {
                let group_ns = if aggregate.groups.is_empty() {
                    0.0
                } else {
                    let waiting_ns = self.waiting_ns(rows, batch_values_bytes(plan));
                    of(Cost::BatchGroup) + BATCH_WAITS * waiting_ns
                };
                let computed = aggregate.calls.len() as f64 + computed_count(&aggregate.groups);
                input_rows * (group_ns + computed * of(Cost::BatchCompute))
            }
            PlanNode::Distinct(_) => {
                let waiting_ns = BATCH_WAITS * self.waiting_ns(rows, batch_values_bytes(plan));
                input_rows * (of(Cost::BatchGroup) + waiting_ns)
            }
            PlanNode::Sort(sort) => {
                let wanted = sort.fetch.map_or(input_rows, |fetch| fetch as f64);
                let fields = plan.columns.len() as f64 * of(Cost::BatchCompute);
                comparisons(input_rows, wanted) * of(Cost::Compare) + input_rows * fields
            }
            PlanNode::Filter(_, condition) => {
                input_rows * work_of(condition) * of(Cost::BatchCompute)
            }
            PlanNode::Project(_, expressions) => {
                input_rows * computed_count(expressions) * of(Cost::BatchCompute)
            }
            PlanNode::Limit { input, .. } if is_pipelined(input) => {
                return inputs_ns * (rows / input_rows.max(1.0)).min(1.0);
            }
            PlanNode::Limit { .. }
            | PlanNode::UnionAll(_)
            | PlanNode::Shared(_)
            | PlanNode::Values(_)
            | PlanNode::Scan(_)
            | PlanNode::Write(_) => 0.0,
        };
        inputs_ns + of(Cost::BatchNode) + own_ns / self.threads(input_rows)
    }
}
