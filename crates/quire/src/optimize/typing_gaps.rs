//! What the planner cannot give types to, written so that it can.
//!
//! It orders no `RANGE` frame by bytes or intervals. Without an offset such a frame ends between groups of equal rows, as `GROUPS` does.
//! `length(bytes)` would count the letters of their text, and `nullif` compare the digits of decimals of two scales. Runs before types are
//! settled.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    Expr, ExprSchemable, LogicalPlan, ScalarUDF, WindowFrame, WindowFrameBound, WindowFrameUnits,
    when,
};
use datafusion::optimizer::AnalyzerRule;

use super::own_names::keeping_names;
use crate::functions::OctetLength;

/// The rule.
#[derive(Debug)]
pub(super) struct TypingGaps;

impl AnalyzerRule for TypingGaps {
    fn name(&self) -> &str {
        "typing_gaps"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let plan = plan.transform_up_with_subqueries(|node| {
            let schema = merge_schema(&node.inputs());
            keeping_names(node, &|part| Ok(fill(part, &schema)))?
                .map_data(LogicalPlan::recompute_schema)
        })?;
        Ok(plan.data)
    }
}

pub(super) fn fill(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let is_bytes = |expr: &Expr| expr.get_type(schema).is_ok_and(|found| found.is_binary());
    match expr {
        Expr::ScalarFunction(call)
            if call.name() == "character_length" && call.args.iter().all(is_bytes) =>
        {
            Transformed::yes(ScalarUDF::from(OctetLength::new()).call(call.args))
        }
        Expr::ScalarFunction(call) if call.name() == "nullif" => {
            match nullif_of_scales(&call.args, schema) {
                Some(chosen) => Transformed::yes(chosen),
                None => Transformed::no(Expr::ScalarFunction(call)),
            }
        }
        Expr::WindowFunction(mut call) => {
            let mut keys = call.params.order_by.iter();
            let is_unordered = keys.any(|key| {
                let key_type = key.expr.get_type(schema);
                key_type.is_ok_and(|found| has_no_range(&found))
            });
            match in_groups(&call.params.window_frame).filter(|_| is_unordered) {
                Some(frame) => {
                    call.params.window_frame = frame;
                    Transformed::yes(Expr::WindowFunction(call))
                }
                None => Transformed::no(Expr::WindowFunction(call)),
            }
        }
        other => Transformed::no(other),
    }
}

/// `nullif(a, b)` of a decimal and what has not the same scale: `CASE WHEN a = b THEN NULL ELSE a END`.
fn nullif_of_scales(arguments: &[Expr], schema: &DFSchema) -> Option<Expr> {
    let [value, other] = arguments else {
        return None;
    };
    let left = value.get_type(schema).ok()?;
    // A call may get another type with those of its arguments.
    let is_settled =
        !matches!(other, Expr::ScalarFunction(_)) && !matches!(value, Expr::ScalarFunction(_));
    let is_same = is_settled && other.get_type(schema).is_ok_and(|right| right == left);
    if !left.is_decimal() || is_same || value.is_volatile() {
        return None;
    }
    let null = Expr::Literal(ScalarValue::try_from(&left).ok()?, None);
    let is_same = value.clone().eq(other.clone());
    when(is_same, null).otherwise(value.clone()).ok()
}

fn has_no_range(data_type: &DataType) -> bool {
    data_type.is_binary() || matches!(data_type, DataType::Interval(_) | DataType::Duration(_))
}

/// The frame by groups of equal rows; nothing if it is none of values, or has an offset.
fn in_groups(frame: &WindowFrame) -> Option<WindowFrame> {
    if frame.units != WindowFrameUnits::Range {
        return None;
    }
    let unbounded = ScalarValue::UInt64(None);
    let bound = |bound: &WindowFrameBound| match bound {
        WindowFrameBound::CurrentRow => Some(WindowFrameBound::CurrentRow),
        WindowFrameBound::Preceding(offset) if offset.is_null() => {
            Some(WindowFrameBound::Preceding(unbounded.clone()))
        }
        WindowFrameBound::Following(offset) if offset.is_null() => {
            Some(WindowFrameBound::Following(unbounded.clone()))
        }
        _ => None,
    };
    let (start, end) = (bound(&frame.start_bound)?, bound(&frame.end_bound)?);
    Some(WindowFrame::new_bounds(
        WindowFrameUnits::Groups,
        start,
        end,
    ))
}
