//! What the first rows of a sort say about all others.
//!
//! As soon as a partition has as many rows as are wanted, only rows before the last one of these can be among the first of all. The condition is the filter
//! that the sort has promised to the scans below it: it passes over zones and rows there, and over rows here.

use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::{AsArray, BooleanArray, RecordBatch};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, DynamicFilterPhysicalExpr, is_not_null, is_null, lit,
};
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::sorts::sort::SortExec;

use super::job::SortJob;

/// The condition for a row to be before the last one that is wanted, of all partitions.
pub(super) struct SortBound {
    /// A [`DynamicFilterPhysicalExpr`].
    filter: Arc<dyn PhysicalExpr>,
    /// Held from the comparison with the condition until there is a new one.
    tightening: Mutex<()>,
}

impl SortBound {
    /// That of a sort with a limit.
    pub(super) fn of(sort: &SortExec) -> Option<Self> {
        let mut filters = sort.dynamic_expressions_produced().into_iter();
        let filter = filters.find(|filter| filter.is::<DynamicFilterPhysicalExpr>());
        filter
            .filter(|_| sort.fetch().is_some())
            .map(|filter| Self {
                filter,
                tightening: Mutex::new(()),
            })
    }

    fn filter(&self) -> Result<&DynamicFilterPhysicalExpr> {
        match self.filter.downcast_ref() {
            Some(filter) => Ok(filter),
            None => internal_err!("a sort makes a filter of {}", self.filter),
        }
    }

    /// The rows that may be among the first.
    pub(super) fn passing(&self, rows: &RecordBatch) -> Result<RecordBatch> {
        let condition = self.filter()?.current()?;
        let passing = condition.evaluate(rows)?.into_array(rows.num_rows())?;
        Ok(filter_record_batch(rows, passing.as_boolean())?)
    }

    /// Takes into account that `row`, a batch of one, is the last one of as many rows as are wanted.
    pub(super) fn tighten(&self, job: &SortJob, row: &RecordBatch) -> Result<()> {
        let keys = job.keys(row)?;
        let values = keys.iter().map(|key| ScalarValue::try_from_array(key, 0));
        let values = values.collect::<Result<Vec<_>>>()?;
        let keys = job.order.iter().zip(values);
        let condition = keys.rev().try_fold(None, |behind, (key, value)| {
            let is_equal = equal(key, &value)?;
            let is_before = before(key, value)?;
            // Where the key is equal, those behind it decide.
            Ok::<_, DataFusionError>(Some(match behind {
                Some(behind) => or(is_before, and(is_equal, behind)),
                None => is_before,
            }))
        })?;
        let _held = self
            .tightening
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Another partition may have found an earlier row.
        let known = self.filter()?.current()?.evaluate(row)?.into_array(1)?;
        let known: &BooleanArray = known.as_boolean();
        match condition {
            Some(condition) if known.has_true() => self.filter()?.update(condition),
            _ => Ok(()),
        }
    }
}

/// Whether a key comes before a value.
fn before(key: &PhysicalSortExpr, value: ScalarValue) -> Result<Arc<dyn PhysicalExpr>> {
    let nulls_first = key.options.nulls_first;
    if value.is_null() {
        return match nulls_first {
            true => Ok(lit(false)),
            false => is_not_null(Arc::clone(&key.expr)),
        };
    }
    let operator = match key.options.descending {
        true => Operator::Gt,
        false => Operator::Lt,
    };
    let is_before = compared(key, operator, value);
    match nulls_first {
        true => Ok(or(is_null(Arc::clone(&key.expr))?, is_before)),
        false => Ok(is_before),
    }
}

fn equal(key: &PhysicalSortExpr, value: &ScalarValue) -> Result<Arc<dyn PhysicalExpr>> {
    match value.is_null() {
        true => is_null(Arc::clone(&key.expr)),
        false => Ok(compared(key, Operator::Eq, value.clone())),
    }
}

fn compared(
    key: &PhysicalSortExpr,
    operator: Operator,
    value: ScalarValue,
) -> Arc<dyn PhysicalExpr> {
    Arc::new(BinaryExpr::new(Arc::clone(&key.expr), operator, lit(value)))
}

fn and(one: Arc<dyn PhysicalExpr>, other: Arc<dyn PhysicalExpr>) -> Arc<dyn PhysicalExpr> {
    Arc::new(BinaryExpr::new(one, Operator::And, other))
}

fn or(one: Arc<dyn PhysicalExpr>, other: Arc<dyn PhysicalExpr>) -> Arc<dyn PhysicalExpr> {
    Arc::new(BinaryExpr::new(one, Operator::Or, other))
}
