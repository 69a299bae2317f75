//! What the planner cannot give types to, written so that it can.
//!
//! It orders no `RANGE` frame by bytes or intervals. Without an offset such a frame ends between groups of equal rows, as `GROUPS` does.
//! `length(bytes)` would count the letters of their text, `nullif` compare the digits of decimals of two scales, `string_agg` make text of bytes,
//! `concat` write booleans out and join arrays, `lead` and `lag` cut a default to the type of the values, and percentiles
//! of REALs be REALs. Runs before types are settled.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{AggregateFunction, WindowFunction};
use datafusion::logical_expr::type_coercion::binary::type_union_resolution;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    AggregateUDF, Case, Expr, ExprSchemable, LogicalPlan, ScalarUDF, WindowFrame, WindowFrameBound,
    WindowFrameUnits, cast, lit, when,
};
use quire_functions::{JoinedBytes, NestedText, OctetLength};

use super::own_names::keeping_names;

pub(super) fn fill_node(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let schema = merge_schema(&node.inputs());
    keeping_names(node, &|part| Ok(fill(part, &schema)))?.map_data(LogicalPlan::recompute_schema)
}

pub(super) fn fill(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let is_bytes = |expr: &Expr| expr.get_type(schema).is_ok_and(|found| found.is_binary());
    match expr {
        Expr::ScalarFunction(call)
            if call.name() == "character_length" && call.args.iter().all(is_bytes) =>
        {
            Transformed::yes(ScalarUDF::from(OctetLength::default()).call(call.args))
        }
        Expr::ScalarFunction(call) if call.name() == "nullif" => {
            match nullif_of_scales(&call.args, schema) {
                Some(chosen) => Transformed::yes(chosen),
                None => Transformed::no(Expr::ScalarFunction(call)),
            }
        }
        Expr::ScalarFunction(mut call) if ["concat", "concat_ws"].contains(&call.name()) => {
            let is_boolean = |expr: &Expr| matches!(expr.get_type(schema), Ok(DataType::Boolean));
            let is_nested = |expr: &Expr| {
                expr.get_type(schema)
                    .is_ok_and(|found| NestedText::is_needed_for(&found))
            };
            let mut is_changed = false;
            for argument in &mut call.args {
                if is_boolean(argument) {
                    *argument = letter(std::mem::take(argument));
                } else if is_nested(argument) {
                    *argument = cast(std::mem::take(argument), DataType::Utf8View);
                } else {
                    continue;
                }
                is_changed = true;
            }
            let call = Expr::ScalarFunction(call);
            Transformed::new_transformed(call, is_changed)
        }
        Expr::AggregateFunction(mut call)
            if call.func.name() == "string_agg"
                && call.params.args.first().is_some_and(is_bytes) =>
        {
            call.func = Arc::new(AggregateUDF::from(JoinedBytes::default()));
            Transformed::yes(Expr::AggregateFunction(call))
        }
        Expr::AggregateFunction(mut call)
            if ["percentile_cont", "median"].contains(&call.func.name()) =>
        {
            let is_changed = as_doubles(&mut call, schema);
            Transformed::new_transformed(Expr::AggregateFunction(call), is_changed)
        }
        Expr::WindowFunction(mut call) => {
            let is_widened = widen_default(&mut call, schema);
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
                None => Transformed::new_transformed(Expr::WindowFunction(call), is_widened),
            }
        }
        other => Transformed::no(other),
    }
}

/// Makes doubles of the REALs that an aggregate is of and sorted by.
fn as_doubles(call: &mut AggregateFunction, schema: &DFSchema) -> bool {
    let is_real = |expr: &Expr| matches!(expr.get_type(schema), Ok(DataType::Float32));
    let values = call.params.args.iter_mut().take(1);
    let keys = call.params.order_by.iter_mut().map(|key| &mut key.expr);
    let mut is_changed = false;
    for value in values.chain(keys).filter(|value| is_real(value)) {
        *value = cast(std::mem::take(value), DataType::Float64);
        is_changed = true;
    }
    is_changed
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

/// A boolean as `t` or `f`.
fn letter(expr: Expr) -> Expr {
    Expr::Case(Case {
        expr: Some(Box::new(expr)),
        when_then_expr: [(true, "t"), (false, "f")]
            .map(|(value, letter)| (Box::new(lit(value)), Box::new(lit(letter))))
            .into(),
        else_expr: None,
    })
}

/// Gives the values and the default of `lead` and `lag` the type that both fit.
fn widen_default(call: &mut WindowFunction, schema: &DFSchema) -> bool {
    let is_moved = ["lead", "lag"].contains(&call.fun.name());
    let [value, _, default] = call.params.args.as_mut_slice() else {
        return false;
    };
    let (Ok(value_type), Ok(default_type)) = (value.get_type(schema), default.get_type(schema))
    else {
        return false;
    };
    let is_fraction = |data_type: &DataType| data_type.is_numeric() && !data_type.is_integer();
    let are_numbers = value_type.is_numeric() && is_fraction(&default_type);
    if !is_moved || !are_numbers || value_type == default_type {
        return false;
    }
    let Some(common) = type_union_resolution(&[value_type, default_type]) else {
        return false;
    };
    for side in [value, default] {
        *side = cast(std::mem::take(side), common.clone());
    }
    true
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
