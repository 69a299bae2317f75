//! What the extremes of the rows so far say about all others.
//!
//! An aggregation without keys that has nothing but minima and maxima promises a filter to the scans below it: a row counts only if one of its values is
//! smaller than the minimum, or larger than the maximum, of all partitions so far. DataFusion's operator tightens it also for some of the aggregates
//! alone (`min(a)` beside `min(b + 0)`, or beside a `min(b)` that has met NULLs only), and loses the rows that the others want. Here nothing is
//! dropped before each aggregate is of a column and has a value.

use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::datatypes::Schema;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, DynamicFilterPhysicalExpr, lit};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;

/// The condition for a row to change one of the extremes, of all partitions.
pub(super) struct ExtremesBound {
    /// A [`DynamicFilterPhysicalExpr`].
    filter: Arc<dyn PhysicalExpr>,
    columns: Vec<ExtremeColumn>,
    /// The extreme of each column so far. The lock is held until the filter is that of these values, or a later one would be replaced by an earlier one.
    reached: Mutex<Vec<ScalarValue>>,
}

struct ExtremeColumn {
    column: Arc<dyn PhysicalExpr>,
    /// Which values are beyond the extreme.
    beyond: Operator,
}

impl ExtremesBound {
    /// That of an aggregation which has promised a filter, with a filter that lets all rows pass. Nothing if some rows matter to an aggregate whatever
    /// values the others have.
    pub(super) fn of(aggregate: &AggregateExec) -> Result<Option<Self>> {
        let mut filters = aggregate.dynamic_expressions_produced().into_iter();
        let Some(filter) = filters.find(|filter| filter.is::<DynamicFilterPhysicalExpr>()) else {
            return Ok(None);
        };
        let input = aggregate.input().schema();
        let columns = aggregate
            .aggr_expr()
            .iter()
            .map(|one| ExtremeColumn::of(one, &input));
        let Some(columns) = columns.collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let bound = Self {
            filter,
            reached: Mutex::new(vec![ScalarValue::Null; columns.len()]),
            columns,
        };
        // An operator that runs again, as a term of a recursion does, begins anew.
        bound.filter()?.update(lit(true))?;
        Ok(Some(bound))
    }

    fn filter(&self) -> Result<&DynamicFilterPhysicalExpr> {
        match self.filter.downcast_ref() {
            Some(filter) => Ok(filter),
            None => internal_err!("an aggregation makes a filter of {}", self.filter),
        }
    }

    /// Takes into account the extremes of a partition, one for each aggregate; NULL if it has met no value.
    pub(super) fn tighten(&self, extremes: &[ScalarValue]) -> Result<()> {
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        let mut has_changed = false;
        let columns = self.columns.iter().zip(extremes);
        for ((column, extreme), known) in columns.zip(reached.iter_mut()) {
            if column.is_beyond(extreme, known) {
                *known = extreme.clone();
                has_changed = true;
            }
        }
        if !has_changed || reached.iter().any(ScalarValue::is_null) {
            return Ok(());
        }
        let conditions = self.columns.iter().zip(reached.iter());
        let conditions = conditions.map(|(column, value)| column.beyond(value));
        match conditions.reduce(|one, other| Arc::new(BinaryExpr::new(one, Operator::Or, other))) {
            Some(condition) => self.filter()?.update(condition),
            None => Ok(()),
        }
    }
}

impl ExtremeColumn {
    fn of(aggregate: &AggregateFunctionExpr, input: &Schema) -> Option<Self> {
        let arguments = aggregate.expressions();
        let [column] = arguments.as_slice() else {
            return None;
        };
        // By name, as DataFusion decides whether it promises a filter: the functions are ours for some types.
        let beyond = match aggregate.fun().name() {
            "min" => Operator::Lt,
            "max" => Operator::Gt,
            _ => return None,
        };
        // Where NULL is within a list, the functions and the comparison of a filter do not agree.
        let is_ordered = !column.data_type(input).ok()?.is_nested();
        (column.is::<Column>() && is_ordered).then(|| Self {
            column: Arc::clone(column),
            beyond,
        })
    }

    /// Whether `extreme` is beyond the one `known` so far, if any.
    fn is_beyond(&self, extreme: &ScalarValue, known: &ScalarValue) -> bool {
        if extreme.is_null() || known.is_null() {
            return known.is_null() && !extreme.is_null();
        }
        let order = extreme.partial_cmp(known);
        order.is_some_and(|order| match self.beyond {
            Operator::Lt => order.is_lt(),
            _ => order.is_gt(),
        })
    }

    fn beyond(&self, value: &ScalarValue) -> Arc<dyn PhysicalExpr> {
        let column = Arc::clone(&self.column);
        Arc::new(BinaryExpr::new(column, self.beyond, lit(value.clone())))
    }
}
