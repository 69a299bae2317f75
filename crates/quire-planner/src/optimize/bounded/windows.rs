//! Windows over more rows than memory has room for.
//!
//! A window that goes along with sorted rows keeps a few of them between batches. Arrow's text arrays refer to the buffers that their texts
//! came in, so that these few would keep every buffer there has been. Texts that the window only passes on, or compares, go through it as
//! copies. A window that needs all rows first keeps them, which DataFusion does not count; here they are counted, so that the statement
//! fails cleanly.
//!
//! A frame that ends some distance before a row is taken for complete as soon as the row has come. Of a row whose key is NULL or infinite, it
//! ends with the last one that has the same key, and these may still be coming. Such a window gets all rows first.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::logical_expr::{WindowFrameBound, WindowFrameUnits};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::window::WindowExpr;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};

use super::holding::Holding;
use super::own_batches::own_batches;
use crate::optimize::row_sizes::RowSizes;

/// What the copies are. A partition may have more than 2 GiB of text.
const COPIED: DataType = DataType::LargeUtf8;

/// A window that counts what it keeps, and keeps no more than it needs.
pub(super) fn counted_window(
    plan: &Arc<dyn ExecutionPlan>,
    holding: Holding,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if plan.is::<WindowAggExec>() {
        return Ok(Some(counting(Arc::clone(plan))?));
    }
    Ok(match plan.downcast_ref::<BoundedWindowAggExec>() {
        Some(window) if has_late_ends(window)? => Some(counting(with_all_rows(window)?)?),
        Some(window) if is_large(window.input(), holding) => {
            Some(copying(Arc::clone(plan), window)?)
        }
        _ => None,
    })
}

/// Whether the rows of an operator may not fit into the memory of another one that holds them.
pub(in crate::optimize) fn is_large(input: &Arc<dyn ExecutionPlan>, holding: Holding) -> bool {
    let sizes = RowSizes::of(input.as_ref());
    let bytes = sizes
        .row_count
        .map(|rows| rows.saturating_mul(sizes.row_bytes));
    bytes.is_none_or(|bytes| bytes > holding.operator_bytes())
}

/// Whether a frame ends before its row, where all rows with the same key may belong to it.
fn has_late_ends(window: &BoundedWindowAggExec) -> Result<bool> {
    let schema = window.input().schema();
    for call in window.window_expr() {
        let frame = call.get_window_frame();
        let ends_before = frame.units == WindowFrameUnits::Range
            && matches!(frame.end_bound, WindowFrameBound::Preceding(_));
        if let ([key, ..], true) = (call.order_by(), ends_before)
            && (key.expr.nullable(&schema)? || key.expr.data_type(&schema)?.is_floating())
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The window as one that gets all rows of a partition first. Its input is partitioned and sorted.
fn with_all_rows(window: &BoundedWindowAggExec) -> Result<Arc<dyn ExecutionPlan>> {
    let (calls, input) = (window.window_expr().to_vec(), Arc::clone(window.input()));
    let can_repartition = !window.partition_keys().is_empty();
    Ok(Arc::new(WindowAggExec::try_new(
        calls,
        input,
        can_repartition,
    )?))
}

/// The window over counted rows.
fn counting(node: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let input = Arc::clone(node.children()[0]);
    let schema = input.schema();
    let counted = own_batches(input, schema, true)?;
    replace_children_if_necessary(node, vec![counted])
}

/// The window over rows whose texts are copies, and rows as they were above it.
fn copying(
    node: Arc<dyn ExecutionPlan>,
    window: &BoundedWindowAggExec,
) -> Result<Arc<dyn ExecutionPlan>> {
    let input = Arc::clone(window.input());
    let schema = input.schema();
    if !schema.fields().iter().any(|field| is_text(field)) {
        return Ok(node);
    }
    let within = if has_filter(window.window_expr()) {
        Arc::clone(&schema)
    } else {
        with_copies(&schema, &calculated_with(window.window_expr()))
    };
    // What cannot be a copy stays with its buffers, so it is counted.
    let has_others = within.fields().iter().any(|field| is_text(field));
    let copied = own_batches(input, within, has_others)?;
    let above = node.schema();
    let window = replace_children_if_necessary(node, vec![copied])?;
    own_batches(window, above, false)
}

fn is_text(field: &Field) -> bool {
    *field.data_type() == DataType::Utf8View
}

/// The same columns, texts among them as copies but for some.
fn with_copies(schema: &Schema, as_they_are: &HashSet<usize>) -> SchemaRef {
    let fields = schema.fields().iter().enumerate();
    let fields = fields.map(|(at, field)| {
        if is_text(field) && !as_they_are.contains(&at) {
            field.as_ref().clone().with_data_type(COPIED)
        } else {
            field.as_ref().clone()
        }
    });
    Arc::new(Schema::new_with_metadata(
        fields.collect::<Vec<_>>(),
        schema.metadata().clone(),
    ))
}

/// Columns that expressions calculate with: their types are settled. What is only compared may have another.
fn calculated_with(windows: &[Arc<dyn WindowExpr>]) -> HashSet<usize> {
    let mut columns = HashSet::new();
    for window in windows {
        let parts = window.all_expressions();
        let compared = parts
            .partition_by_exprs
            .into_iter()
            .chain(parts.order_by_exprs);
        let calculated = compared.filter(|expr| !expr.is::<Column>());
        for expr in calculated.chain(parts.args) {
            columns.extend(collect_columns(&expr).iter().map(Column::index));
        }
    }
    columns
}

/// Whether a condition says which rows a function takes. It cannot be seen in the expression but by its name.
fn has_filter(windows: &[Arc<dyn WindowExpr>]) -> bool {
    windows
        .iter()
        .any(|window| window.name().contains("FILTER"))
}
