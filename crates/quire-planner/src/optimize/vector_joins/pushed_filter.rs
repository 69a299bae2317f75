//! What a join tells the scans of its probe side: which keys its build side has.
//!
//! Bounds for zones, and the keys themselves: a short list, as scans look it up in dictionaries and zones, or the index of the join. Scans that
//! have a record of the keys by bits ([`crate::scan::BuildKeyRecord`]) ask neither.

use std::fmt::{self, Display, Formatter};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch};
use datafusion::arrow::compute::{filter, is_not_null};
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::{Result, internal_err};
use datafusion::execution::TaskContext;
use datafusion::functions_aggregate::min_max::{MaxAccumulator, MinAccumulator};
use datafusion::logical_expr::{Accumulator, ColumnarValue, Operator};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{
    BinaryExpr, DynamicFilterPhysicalExpr, InListExpr, lit,
};
use datafusion::physical_expr_common::utils::evaluate_expressions_to_arrays;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::HashJoinExec;
use quire_vector::NO_KEY;

use super::join_index::JoinIndex;

/// Makes the keys of the build side known, if the join has a filter for it.
pub(super) fn push_filter(
    join: &HashJoinExec,
    index: &Arc<JoinIndex>,
    values: &[ArrayRef],
    context: &TaskContext,
) -> Result<()> {
    // The order of lists with NULL in them is another one for the bounds than for a filter.
    if values.iter().any(|values| values.data_type().is_nested()) {
        return Ok(());
    }
    let produced = join.dynamic_expressions_produced();
    let [pushed] = produced.as_slice() else {
        return Ok(());
    };
    let Some(pushed) = pushed.downcast_ref::<DynamicFilterPhysicalExpr>() else {
        return internal_err!("a join makes a filter of {pushed}");
    };
    let keys: Vec<_> = join.on().iter().map(|(_, key)| Arc::clone(key)).collect();
    let known = match index.key_count {
        0 => lit(false),
        _ => known_keys(&keys, &join.right().schema(), index, values, context)?,
    };
    pushed.update(known)?;
    pushed.mark_complete();
    Ok(())
}

/// Whether `keys`, of rows of this schema, are among the keys of the index, which has those of `values`.
pub(super) fn known_keys(
    keys: &[Arc<dyn PhysicalExpr>],
    schema: &Schema,
    index: &Arc<JoinIndex>,
    values: &[ArrayRef],
    context: &TaskContext,
) -> Result<Arc<dyn PhysicalExpr>> {
    let membership = membership(keys, schema, index, values, context)?;
    let bounds = keys.iter().zip(values);
    let bounds = bounds.map(|(key, values)| between(key, values));
    bounds
        .rev()
        .try_fold(membership, |all, bounds| Ok(and(bounds?, all)))
}

fn membership(
    keys: &[Arc<dyn PhysicalExpr>],
    schema: &Schema,
    index: &Arc<JoinIndex>,
    values: &[ArrayRef],
    context: &TaskContext,
) -> Result<Arc<dyn PhysicalExpr>> {
    let options = &context.session_config().options().optimizer;
    if let ([key], [values]) = (keys, values)
        && values.len() <= options.hash_join_inlist_pushdown_max_distinct_values
        && values.get_array_memory_size() <= options.hash_join_inlist_pushdown_max_size
    {
        let known = filter(values, &is_not_null(values)?)?;
        let list = InListExpr::try_new_from_array(Arc::clone(key), known, false, schema)?;
        return Ok(Arc::new(list));
    }
    Ok(Arc::new(KeyLookup {
        keys: keys.to_vec(),
        index: Arc::clone(index),
    }))
}

fn between(key: &Arc<dyn PhysicalExpr>, values: &ArrayRef) -> Result<Arc<dyn PhysicalExpr>> {
    let values = std::slice::from_ref(values);
    let mut first = MinAccumulator::try_new(values[0].data_type())?;
    let mut last = MaxAccumulator::try_new(values[0].data_type())?;
    first.update_batch(values)?;
    last.update_batch(values)?;
    let compared = |operator, bound| {
        let key = Arc::clone(key);
        Arc::new(BinaryExpr::new(key, operator, lit(bound))) as Arc<dyn PhysicalExpr>
    };
    Ok(and(
        compared(Operator::GtEq, first.evaluate()?),
        compared(Operator::LtEq, last.evaluate()?),
    ))
}

fn and(left: Arc<dyn PhysicalExpr>, right: Arc<dyn PhysicalExpr>) -> Arc<dyn PhysicalExpr> {
    Arc::new(BinaryExpr::new(left, Operator::And, right))
}

/// Whether the build side of a join has the keys of a row.
struct KeyLookup {
    keys: Vec<Arc<dyn PhysicalExpr>>,
    index: Arc<JoinIndex>,
}

impl fmt::Debug for KeyLookup {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyLookup").field(&self.keys).finish()
    }
}

impl Display for KeyLookup {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("hash_lookup")
    }
}

impl PartialEq for KeyLookup {
    fn eq(&self, other: &Self) -> bool {
        self.keys == other.keys && Arc::ptr_eq(&self.index, &other.index)
    }
}

impl Eq for KeyLookup {}

impl Hash for KeyLookup {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.keys.hash(state);
        Arc::as_ptr(&self.index).hash(state);
    }
}

impl PhysicalExpr for KeyLookup {
    fn data_type(&self, _: &Schema) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn nullable(&self, _: &Schema) -> Result<bool> {
        Ok(false)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let values = evaluate_expressions_to_arrays(&self.keys, batch)?;
        let mut numbers = Vec::new();
        self.index
            .look_up(&values, batch.num_rows(), &mut numbers)?;
        let is_known = numbers.iter().map(|number| Some(*number != NO_KEY));
        let is_known = is_known.collect::<BooleanArray>();
        Ok(ColumnarValue::Array(Arc::new(is_known)))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        self.keys.iter().collect()
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Arc::new(Self {
            keys: children,
            index: Arc::clone(&self.index),
        }))
    }

    fn fmt_sql(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("hash_lookup")
    }
}
