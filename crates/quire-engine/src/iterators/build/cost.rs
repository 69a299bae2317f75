//! What the nodes of a plan cost, by the tuple engine and by batches, in nanoseconds.

use std::rc::Rc;

use super::estimate::Estimate;
use super::{BuildError, Builder};
use crate::access::{Choice, Prices, decoding_ns};
use crate::avm::Trap;
use crate::costs::Cost;
use crate::plan::{Expression, Node, Plan};
use crate::rows::RowTable;
use crate::types::SqlType;

/// Rows that make another thread of batches worth it.
const ROWS_PER_THREAD: f64 = 32_768.0;

/// Expressions that are computed: columns are there already.
fn computed_count<'e>(expressions: impl IntoIterator<Item = &'e Expression>) -> f64 {
    let computed = expressions.into_iter();
    let computed = computed.filter(|one| !matches!(one, Expression::Column { .. }));
    computed.count() as f64
}

/// Whether a node gives its first rows before it has seen all of its input.
fn is_pipelined(plan: &Plan) -> bool {
    match &plan.node {
        Node::Scan(_) | Node::Values(_) => true,
        Node::Filter(input, _) | Node::Project(input, _) | Node::Limit { input, .. } => {
            is_pipelined(input)
        }
        Node::UnionAll(inputs) => inputs.iter().all(is_pipelined),
        Node::Join(_) | Node::Aggregate(_) | Node::Sort(_) | Node::Distinct(_) => false,
    }
}

/// Comparisons of a sort of so many rows, of which so many are wanted.
fn comparisons(rows: f64, wanted: f64) -> f64 {
    rows * wanted.clamp(2.0, rows.max(2.0)).log2()
}

impl Builder<'_> {
    /// A scan by the tuple engine and by batches, which decode all columns of each row that they read.
    pub(super) fn scan_ns(
        &self,
        table: &RowTable,
        ordinals: &[usize],
        conditions: &[&Expression],
        (chosen, rows): (&Choice, f64),
    ) -> Result<(f64, f64), BuildError> {
        let of = |cost| self.costs.of(cost);
        let is_tested = |slot: usize| conditions.iter().any(|one| one.reads(slot));
        let left = ordinals.iter().enumerate();
        let left = left.filter(|(slot, _)| !is_tested(*slot));
        let left: Vec<usize> = left.map(|(_, ordinal)| *ordinal).collect();
        let tests_ns = conditions.len() as f64 * chosen.rows;
        let tuple_ns = chosen.cost_ns
            + rows * decoding_ns(table, &self.costs, &left)
            + tests_ns * of(Cost::Compute);
        let is_text = |ordinal: &usize| {
            let sql_type = table.layout().sql_type(*ordinal);
            sql_type.is_some_and(|of| of.is_text() || of == SqlType::Bytea)
        };
        let fields = ordinals.iter().map(|ordinal| match is_text(ordinal) {
            true => of(Cost::BatchText),
            false => of(Cost::BatchField),
        });
        let row_ns = of(Cost::BatchRow) + fields.sum::<f64>();
        let prices = Prices::of(table, &self.costs, ordinals).map_err(Trap::from)?;
        let reading_ns = match chosen.index {
            Some(_) => prices.lookup_ns,
            None => prices.row_ns - of(Cost::Row),
        };
        let batch_ns = chosen.rows * (reading_ns + row_ns) + tests_ns * of(Cost::BatchCompute);
        let batch_ns = of(Cost::BatchNode) + batch_ns / self.threads(chosen.rows);
        Ok((tuple_ns, batch_ns))
    }

    /// How many threads of batches share the work on so many rows.
    fn threads(&self, rows: f64) -> f64 {
        (rows / ROWS_PER_THREAD)
            .ceil()
            .clamp(1.0, self.batch_threads)
    }

    /// A join that keeps some rows and looks for others.
    pub(super) fn hashing_ns(&self, kept: f64, looking: f64, columns: (usize, usize)) -> f64 {
        let kept_ns = self.costs.of(Cost::KeepRow) + self.costs.of(Cost::HashInsert);
        let spilling_ns = self.spilling_ns(kept, kept + looking, columns.0.max(columns.1));
        kept * kept_ns + looking * self.costs.of(Cost::HashProbe) + spilling_ns
    }

    /// A join of rows that come in order; of the right ones those of a key are kept.
    pub(super) fn merging_ns(&self, left: f64, right: f64) -> f64 {
        let compare_ns = self.costs.of(Cost::Compare);
        2.0 * left * compare_ns + right * (compare_ns + self.costs.of(Cost::KeepRow))
    }

    /// A node that makes so many rows, with its inputs.
    pub(super) fn node_ns(
        &self,
        plan: &Plan,
        inputs: &[Rc<Estimate>],
        rows: f64,
    ) -> Result<f64, BuildError> {
        let of = |cost| self.costs.of(cost);
        let inputs_ns: f64 = inputs.iter().map(|input| input.cost_ns).sum();
        let input_rows: f64 = inputs.iter().map(|input| input.rows).sum();
        Ok(match &plan.node {
            Node::Join(join) => {
                let pairs = rows * join.residual.iter().count() as f64;
                self.way(join)?.0 + pairs * of(Cost::Compute)
            }
            Node::Aggregate(aggregate) => {
                let finding_ns = match aggregate.groups.is_empty() {
                    true => 0.0,
                    false => input_rows * of(Cost::HashProbe) + rows * of(Cost::HashInsert),
                };
                let computed = aggregate.calls.len() as f64 + computed_count(&aggregate.groups);
                let values = aggregate.groups.len() + aggregate.calls.len();
                let spilling_ns = self.spilling_ns(rows, input_rows, values);
                inputs_ns + finding_ns + input_rows * computed * of(Cost::Compute) + spilling_ns
            }
            Node::Distinct(_) => {
                let spilling_ns = self.spilling_ns(rows, input_rows, plan.columns.len());
                let finding_ns = input_rows * of(Cost::HashProbe) + rows * of(Cost::HashInsert);
                inputs_ns + finding_ns + spilling_ns
            }
            Node::Sort(sort) => {
                let wanted = sort.fetch.map_or(input_rows, |fetch| fetch as f64);
                let kept = input_rows.min(wanted * 2.0);
                let spilling_ns = self.spilling_ns(kept, kept, plan.columns.len());
                let comparing_ns = comparisons(input_rows, wanted) * of(Cost::Compare);
                inputs_ns + input_rows * of(Cost::KeepRow) + comparing_ns + spilling_ns
            }
            Node::Filter(..) => inputs_ns + input_rows * of(Cost::Compute),
            Node::Project(_, expressions) => {
                inputs_ns + input_rows * computed_count(expressions) * of(Cost::Compute)
            }
            Node::Limit { input, .. } if is_pipelined(input) => {
                inputs_ns * (rows / input_rows.max(1.0)).min(1.0)
            }
            Node::Limit { .. } | Node::UnionAll(_) | Node::Values(_) | Node::Scan(_) => inputs_ns,
        })
    }

    /// The same by batches.
    pub(super) fn batch_node_ns(&self, plan: &Plan, inputs: &[Rc<Estimate>], rows: f64) -> f64 {
        let of = |cost| self.costs.of(cost);
        let inputs_ns: f64 = inputs.iter().map(|input| input.batch_ns).sum();
        let input_rows: f64 = inputs.iter().map(|input| input.rows).sum();
        let own_ns = match &plan.node {
            Node::Join(join) => {
                let pairs = rows * (1.0 + join.residual.iter().count() as f64);
                input_rows * of(Cost::BatchHashRow) + pairs * of(Cost::BatchCompute)
            }
            Node::Aggregate(aggregate) => {
                let group_ns = match aggregate.groups.is_empty() {
                    true => 0.0,
                    false => of(Cost::BatchGroup),
                };
                let computed = aggregate.calls.len() as f64 + computed_count(&aggregate.groups);
                input_rows * (group_ns + computed * of(Cost::BatchCompute))
            }
            Node::Distinct(_) => input_rows * of(Cost::BatchGroup),
            Node::Sort(sort) => {
                let wanted = sort.fetch.map_or(input_rows, |fetch| fetch as f64);
                let fields = plan.columns.len() as f64 * of(Cost::BatchCompute);
                comparisons(input_rows, wanted) * of(Cost::Compare) + input_rows * fields
            }
            Node::Filter(..) => input_rows * of(Cost::BatchCompute),
            Node::Project(_, expressions) => {
                input_rows * computed_count(expressions) * of(Cost::BatchCompute)
            }
            Node::Limit { input, .. } if is_pipelined(input) => {
                return inputs_ns * (rows / input_rows.max(1.0)).min(1.0);
            }
            Node::Limit { .. } | Node::UnionAll(_) | Node::Values(_) | Node::Scan(_) => 0.0,
        };
        inputs_ns + of(Cost::BatchNode) + own_ns / self.threads(input_rows)
    }
}
