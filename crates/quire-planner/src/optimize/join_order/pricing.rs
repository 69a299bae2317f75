//! What the joins of a tree cost, in nanoseconds: by the tuple engine where it may run them, else by batches.
//!
//! The formulas are those by which the executors choose their own ways ([`JoinCosts`], [`TableLookUps`]). All that reads pages or walks plans is asked
//! once for each input; a pair of sides is arithmetic.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::TableProvider;
use datafusion::common::Column;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{Expr, LogicalPlan};
use quire_exec::access::TableLookUps;
use quire_exec::costs::CostModel;
use quire_exec::tuple::{BatchSide, JoinCosts, ScanCost, Workspace, batch_fields_ns};

use super::estimate::JoinEstimate;
use super::graph::JoinGraph;
use super::settings::OrderSettings;
use crate::optimize::row_sizes::value_bytes;
use crate::scan::{JoinedRows, RowTableProvider};

/// Costs of the joins of one tree.
#[derive(Debug)]
pub(super) struct JoinPricing {
    model: CostModel,
    /// The share of each join.
    workspace: Workspace,
    /// Whether the joins are those of the tuple engine.
    by_tuples: bool,
}

impl JoinPricing {
    pub(super) fn of(graph: &JoinGraph, settings: &OrderSettings) -> Self {
        let rights = graph.semi_joins.iter().map(|semi| &*semi.join.right);
        let mut plans = graph.inputs.iter().chain(rights);
        let by_tuples = settings.may_be_tuples && plans.all(reads_row_tables);
        Self::new(
            &settings.costs.model,
            settings.costs.memory_bytes,
            graph.inputs.len(),
            by_tuples,
        )
    }

    /// For the joins of so many inputs, which share the memory.
    pub(super) fn new(
        model: &CostModel,
        memory_bytes: usize,
        input_count: usize,
        by_tuples: bool,
    ) -> Self {
        let joins = input_count.saturating_sub(1).max(1);
        Self {
            model: *model,
            workspace: Workspace::of(memory_bytes / joins, model),
            by_tuples,
        }
    }

    /// A join that keeps the rows of one side, looks for those of the other, and makes so many pairs.
    pub(super) fn keeping_ns(&self, kept: BatchSide, looking: BatchSide, pairs: f64) -> f64 {
        let costs = JoinCosts::new(&self.model, &self.workspace);
        if self.by_tuples {
            costs.hashing_ns(kept.size, looking.size)
        } else {
            costs.batch_hashing_ns(kept, looking, pairs)
        }
    }

    /// A join side by side of two tables, by the keys of those classes that `is_joined` says; nothing unless both come in the order of these. They are
    /// the inputs `left` and `right`, and have `class_count` keys.
    pub(super) fn merging_ns(
        &self,
        (left, right): (&SearchInput, &SearchInput),
        class_count: usize,
        is_joined: impl Fn(usize) -> bool,
    ) -> Option<f64> {
        let sides = (left.access.as_ref()?, right.access.as_ref()?);
        if class_count == 0 || !sides.0.is_in_order_with(sides.1, class_count, is_joined) {
            return None;
        }
        let costs = JoinCosts::new(&self.model, &self.workspace);
        Some(costs.merging_ns(left.estimate.rows, right.estimate.rows, class_count))
    }
}

/// Whether a plan reads nothing but row tables.
fn reads_row_tables(plan: &LogicalPlan) -> bool {
    let mut is_of_rows = true;
    let visited = plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            let provider = source_as_provider(&scan.source)?;
            let provider: &Arc<dyn TableProvider> = &provider;
            let rows = provider.downcast_ref::<RowTableProvider>();
            is_of_rows &= rows.is_some_and(|rows| !rows.is_of_some_rows());
        }
        Ok(TreeNodeRecursion::Continue)
    });
    visited.is_ok() && is_of_rows
}

/// An input as the search sees it.
#[derive(Debug, Clone)]
pub(super) struct SearchInput {
    pub(super) estimate: JoinEstimate,
    /// Of a row: bytes that are kept, and nanoseconds of putting it into a batch.
    pub(super) row_bytes: f64,
    pub(super) fields_ns: f64,
    access: Option<InputAccess>,
}

/// How the rows of a table get into a join.
#[derive(Debug, Clone)]
struct InputAccess {
    /// Reading all that pass.
    scan: ScanCost,
    /// The primary key: ordinals, and whether each descends.
    primary_key: Vec<(usize, bool)>,
    look_ups: Arc<TableLookUps>,
    /// Columns that equal something outside: the number of the class of each, and its ordinal in the table.
    keys: Vec<(usize, usize)>,
}

impl SearchInput {
    /// Those of a graph, in its order.
    pub(super) fn all_of(
        graph: &JoinGraph,
        estimates: Vec<JoinEstimate>,
        pricing: &JoinPricing,
        settings: &OrderSettings,
    ) -> Vec<Self> {
        let inputs = estimates.into_iter().enumerate();
        let inputs = inputs.map(|(number, estimate)| {
            let input = Self::read(&graph.inputs[number], estimate, &pricing.model, settings);
            let access = pricing
                .by_tuples
                .then(|| InputAccess::of(graph, number, &input.estimate, &pricing.model));
            Self {
                access: access.flatten(),
                ..input
            }
        });
        inputs.collect()
    }

    /// One whose rows are read, not looked up.
    fn read(
        plan: &LogicalPlan,
        estimate: JoinEstimate,
        model: &CostModel,
        settings: &OrderSettings,
    ) -> Self {
        let (mut row_bytes, mut number_count, mut text_count) = (0.0, 0, 0);
        for (qualifier, field) in plan.schema().iter() {
            let column = Column::new(qualifier.cloned(), field.name());
            if !settings.is_asked(&column) {
                continue;
            }
            let by_type = || value_bytes(field.data_type()) as f64;
            row_bytes += estimate.kept_bytes(&column).unwrap_or_else(by_type);
            let is_bit = *field.data_type() == DataType::Boolean;
            match field.data_type().primitive_width() {
                Some(_) => number_count += 1,
                // Its width is less than a byte, but it is put into a batch as a number is.
                None if is_bit => number_count += 1,
                None => text_count += 1,
            }
        }
        Self {
            estimate,
            row_bytes,
            fields_ns: batch_fields_ns(model, number_count, text_count),
            access: None,
        }
    }

    #[cfg(test)]
    pub(super) fn of_bytes(estimate: JoinEstimate, row_bytes: f64, fields_ns: f64) -> Self {
        Self {
            estimate,
            row_bytes,
            fields_ns,
            access: None,
        }
    }

    /// What is left of the input when a semi join is applied to it, whose rows cannot be looked up.
    pub(super) fn reduced(self, share: f64) -> Self {
        Self {
            estimate: self.estimate.scaled(share),
            access: None,
            ..self
        }
    }

    /// What its own rows cost, where they may be looked up instead.
    pub(super) fn scan_ns(&self) -> f64 {
        self.access.as_ref().map_or(0.0, |access| access.scan.ns)
    }

    /// Looking up its rows so many times by the columns of those classes that `is_given` says; nothing where that cannot be done.
    pub(super) fn looking_up_ns(
        &self,
        look_ups: f64,
        is_given: impl Fn(usize) -> bool,
    ) -> Option<f64> {
        let access = self.access.as_ref()?;
        let is_given = |ordinal: usize| {
            let mut keys = access.keys.iter();
            keys.any(|(class, of)| *of == ordinal && is_given(*class))
        };
        let each_ns = access.look_ups.cost_each_ns(is_given, look_ups)?;
        Some(look_ups * each_ns)
    }
}

impl InputAccess {
    /// Nothing where the input is more than a table, has no key that begins with a column of a join, or cannot be read.
    fn of(
        graph: &JoinGraph,
        number: usize,
        estimate: &JoinEstimate,
        model: &CostModel,
    ) -> Option<Self> {
        let plan = &graph.inputs[number];
        let rows = JoinedRows::of(plan)?;
        let schema = plan.schema();
        let ordinal = |expr: &Expr| {
            let place = schema.index_of_column(expr.try_as_col()?).ok()?;
            rows.ordinal(place)
        };
        let classes = graph.classes.iter().enumerate();
        let keys = classes.flat_map(|(class, equal)| {
            let own = equal.members.iter().filter(|(input, _)| *input == number);
            own.filter_map(move |(_, expr)| Some((class, ordinal(expr)?)))
        });
        let keys: Vec<(usize, usize)> = keys.collect();
        let ordinals: Vec<usize> = keys.iter().map(|(_, ordinal)| *ordinal).collect();
        // What cannot be read is found by the scan.
        let look_ups = rows.look_ups(&ordinals, model).ok().flatten()?;
        Some(Self {
            scan: rows.scan_cost(estimate.rows, model).ok()?,
            primary_key: rows.primary_key(),
            look_ups,
            keys,
        })
    }

    /// Whether both come in an order whose first columns are equal, class by class, for so many classes.
    fn is_in_order_with(
        &self,
        other: &Self,
        class_count: usize,
        is_joined: impl Fn(usize) -> bool,
    ) -> bool {
        let columns = self.primary_key.iter().zip(&other.primary_key);
        let is_equal = |(own, others): &(&(usize, bool), &(usize, bool))| {
            let mut keys = self.keys.iter();
            let is_key = |class: usize| is_joined(class) && other.keys.contains(&(class, others.0));
            own.1 == others.1 && keys.any(|(class, of)| *of == own.0 && is_key(*class))
        };
        let equal_count = columns.take_while(is_equal).count();
        self.scan.is_in_order && other.scan.is_in_order && equal_count >= class_count
    }
}
