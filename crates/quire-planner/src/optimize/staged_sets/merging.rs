//! The second stage: the states of all groups, once for each set, merged.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{
    AggregateExec, AggregateMode, PhysicalGroupBy, evaluate_group_by,
};

/// The aggregation of states that have the keys and the number of a set: a plain one, which can spill.
pub(super) fn merging(
    aggregate: &AggregateExec,
    states: Arc<dyn ExecutionPlan>,
) -> Result<AggregateExec> {
    AggregateExec::try_new(
        AggregateMode::PartialReduce,
        aggregate.group_expr().as_final(),
        aggregate.aggr_expr().to_vec(),
        vec![None; aggregate.aggr_expr().len()],
        states,
        aggregate.input_schema(),
    )
}

/// Makes states of the sets of those of the groups of all keys.
pub(super) struct SetExpansion {
    /// The sets, of keys that come first in the states.
    sets: PhysicalGroupBy,
    /// The keys, the number of the set, and the states.
    schema: SchemaRef,
}

impl SetExpansion {
    pub(super) fn new(aggregate: &AggregateExec) -> Self {
        let group_by = aggregate.group_expr();
        let keys = group_by.expr().iter().enumerate();
        let keys = keys.map(|(position, (_, name))| {
            let key = Arc::new(Column::new(name, position)) as Arc<dyn PhysicalExpr>;
            (key, name.clone())
        });
        Self {
            sets: PhysicalGroupBy::new(
                keys.collect(),
                group_by.null_expr().to_vec(),
                group_by.groups().to_vec(),
                true,
            ),
            schema: aggregate.schema(),
        }
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The groups of a batch, once for each set.
    pub(super) fn expand(&self, groups: &RecordBatch) -> Result<Vec<RecordBatch>> {
        let states = groups.columns().iter().skip(self.sets.expr().len());
        let sets = evaluate_group_by(&self.sets, groups)?.into_iter();
        let batches = sets.map(|mut columns| {
            columns.extend(states.clone().map(Arc::clone));
            Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
        });
        batches.collect()
    }
}
