//! What the first rows of a sort say about all others.
//!
//! As soon as a partition has as many rows as are wanted, only rows before the last one of these can be among the first of all. The condition is the filter
//! that the sort has promised to the scans below it: it passes over zones and rows there, and over rows here. Where the input is in the order of the first
//! keys, nothing is read behind the last row that these leave among the first.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::common::cast::as_boolean_array;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{
    BinaryExpr, DynamicFilterPhysicalExpr, is_not_null, is_null, lit,
};
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

/// The condition for a row to be before the last one that is wanted, of all partitions.
pub(super) struct SortBound {
    /// A [`DynamicFilterPhysicalExpr`].
    filter: Arc<dyn PhysicalExpr>,
    /// Of so many keys the input has the order.
    ordered_keys: usize,
    /// The condition that a row is not behind the last one that is wanted, by those keys; nothing as long as it is not known. The lock is held from the
    /// comparison with the filter until there is a new one.
    reached: Mutex<Option<Arc<dyn PhysicalExpr>>>,
}

impl SortBound {
    /// That of a sort with a limit.
    pub(super) fn of(sort: &SortExec) -> Result<Option<Self>> {
        let mut filters = sort.dynamic_expressions_produced().into_iter();
        let filter = filters.find(|filter| filter.is::<DynamicFilterPhysicalExpr>());
        let Some(filter) = filter.filter(|_| sort.fetch().is_some()) else {
            return Ok(None);
        };
        let known = sort.input().equivalence_properties();
        let (ordered, _) = known.extract_common_sort_prefix(sort.expr().clone())?;
        Ok(Some(Self {
            filter,
            ordered_keys: ordered.len(),
            reached: Mutex::default(),
        }))
    }

    /// Whether all rows behind those of this batch come after the last row that is wanted, as the input has the order of the first keys.
    pub(super) fn is_behind(&self, rows: &RecordBatch) -> Result<bool> {
        let reached = self.reached().clone();
        let Some(reached) = reached.filter(|_| rows.num_rows() > 0) else {
            return Ok(false);
        };
        let last = rows.slice(rows.num_rows() - 1, 1);
        let is_reached = reached.evaluate(&last)?.into_array(1)?;
        Ok(!is_reached.as_boolean().has_true())
    }

    fn reached(&self) -> MutexGuard<'_, Option<Arc<dyn PhysicalExpr>>> {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner)
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
        Ok(filter_record_batch(rows, as_boolean_array(&passing)?)?)
    }

    /// Takes into account that `row`, a batch of one, is the last one of as many rows as are wanted.
    pub(super) fn tighten(&self, order: &LexOrdering, row: &RecordBatch) -> Result<()> {
        // In the types of the keys: texts as views would not compare with other texts.
        let values = order.iter().map(|key| {
            let value = key.expr.evaluate(row)?.into_array(1)?;
            ScalarValue::try_from_array(&value, 0)
        });
        let values = values.collect::<Result<Vec<_>>>()?;
        let keys: Vec<_> = order.iter().zip(&values).collect();
        let mut reached = self.reached();
        // Another partition may have found an earlier row.
        let known = self.filter()?.current()?.evaluate(row)?.into_array(1)?;
        if !known.as_boolean().has_true() {
            return Ok(());
        }
        *reached = precedes(&keys[..self.ordered_keys], true)?;
        match precedes(&keys, false)? {
            Some(condition) => self.filter()?.update(condition),
            None => Ok(()),
        }
    }
}

/// Whether a row comes before one with these values, by all keys in turn, or also in its place. Nothing without keys.
fn precedes(
    keys: &[(&PhysicalSortExpr, &ScalarValue)],
    or_equal: bool,
) -> Result<Option<Arc<dyn PhysicalExpr>>> {
    let mut condition = None;
    for (key, value) in keys.iter().rev() {
        let is_before = before(key, value)?;
        let is_equal = equal(key, value)?;
        condition = Some(match condition {
            // Where the key is equal, those behind it decide.
            Some(behind) => or(is_before, and(is_equal, behind)),
            None if or_equal => or(is_before, is_equal),
            None => is_before,
        });
    }
    Ok(condition)
}

/// Whether a key comes before a value.
fn before(key: &PhysicalSortExpr, value: &ScalarValue) -> Result<Arc<dyn PhysicalExpr>> {
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
    let is_before = compared(key, operator, value.clone());
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
