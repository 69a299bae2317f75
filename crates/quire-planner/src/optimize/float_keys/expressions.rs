//! Expressions that compare.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Sort, WindowFunctionDefinition};
use datafusion::logical_expr::{
    BinaryExpr, Cast, Expr, ExprSchemable, LogicalPlan, Operator, Projection,
};

use quire_functions::FloatKey;

/// Functions that return one of their arguments, chosen by comparing them.
const CHOOSING: [&str; 3] = ["greatest", "least", "nullif"];

/// Aggregate functions that compare the values of their argument.
const COMPARING: [&str; 5] = ["max", "median", "min", "percentile_cont", "quantile_cont"];

/// Puts keys into the outermost operation of an expression, if it compares floats.
pub(crate) fn compare_by_keys(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let mut keys = FloatKeyRewriter {
        schema,
        has_changed: false,
    };
    match &mut expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(*op) => {
            keys.replace_all([left.as_mut(), right.as_mut()]);
        }
        Expr::Between(between) => {
            let bounds = [between.low.as_mut(), between.high.as_mut()];
            keys.replace_all(std::iter::once(between.expr.as_mut()).chain(bounds));
        }
        Expr::InList(list) => {
            keys.replace_all(std::iter::once(list.expr.as_mut()).chain(list.list.iter_mut()));
        }
        Expr::Case(case) => {
            if let Some(tested) = &mut case.expr {
                let pairs = case.when_then_expr.iter_mut();
                let values = pairs.map(|(when, _)| when.as_mut());
                keys.replace_all(std::iter::once(tested.as_mut()).chain(values));
            }
        }
        Expr::ScalarFunction(call) if CHOOSING.contains(&call.func.name()) => {
            keys.replace_all(&mut call.args);
        }
        Expr::AggregateFunction(call) => {
            if call.params.distinct || COMPARING.contains(&call.func.name()) {
                keys.replace_all(&mut call.params.args);
            }
            keys.replace_sorted(&mut call.params.order_by);
        }
        Expr::WindowFunction(call) => {
            let is_comparing = match &call.fun {
                WindowFunctionDefinition::AggregateUDF(function) => {
                    COMPARING.contains(&function.name())
                }
                WindowFunctionDefinition::WindowUDF(_) => false,
            };
            if call.params.distinct || is_comparing {
                keys.replace_all(&mut call.params.args);
            }
            keys.replace_all(&mut call.params.partition_by);
            keys.replace_sorted(&mut call.params.order_by);
        }
        _ => {}
    }
    Ok(if keys.has_changed {
        Transformed::yes(expr)
    } else {
        Transformed::no(expr)
    })
}

pub(crate) fn compares(operator: Operator) -> bool {
    use Operator::{Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq};
    matches!(
        operator,
        Eq | NotEq | Lt | LtEq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom
    )
}

/// Replaces floats by their keys.
pub(super) struct FloatKeyRewriter<'s> {
    pub(super) schema: &'s DFSchema,
    pub(super) has_changed: bool,
}

impl FloatKeyRewriter<'_> {
    fn replace_all<'e>(&mut self, parts: impl IntoIterator<Item = &'e mut Expr>) {
        parts.into_iter().for_each(|part| self.replace(part));
    }

    pub(super) fn replace_sorted(&mut self, sorted: &mut [Sort]) {
        self.replace_all(sorted.iter_mut().map(|sort| &mut sort.expr));
    }

    pub(super) fn replace(&mut self, part: &mut Expr) {
        if needs_key(part, self.schema) {
            *part = FloatKey::of(std::mem::take(part));
            self.has_changed = true;
        }
    }
}

/// Whether an expression may be another float than its key.
pub(super) fn needs_key(expr: &Expr, schema: &DFSchema) -> bool {
    let is_float = |expr: &Expr| {
        let data_type = expr.get_type(schema);
        data_type.is_ok_and(|data_type| matches!(data_type, DataType::Float32 | DataType::Float64))
    };
    match expr {
        Expr::Alias(alias) => needs_key(&alias.expr, schema),
        // Integers have one zero and no NaN. (Of those that not all are doubles, the function hides the cast, as `LossyCast` does.)
        Expr::Cast(Cast { expr: inner, .. }) => {
            let from = inner.get_type(schema);
            let is_exact = from.is_ok_and(|from| {
                matches!(from, DataType::Int8 | DataType::Int16 | DataType::Int32)
            });
            !is_exact && is_float(expr)
        }
        Expr::ScalarFunction(call) if call.func.name().starts_with("decimal_to_") => false,
        Expr::Literal(..) => is_float(expr) && FloatKey::of(expr.clone()) != *expr,
        _ => FloatKey::argument_of(expr).is_none() && is_float(expr),
    }
}

/// A plan whose floats are keys, under the same names; nothing if they are already.
pub(super) fn with_keys(plan: &LogicalPlan) -> Result<Option<LogicalPlan>> {
    let (input, outputs) = match plan {
        LogicalPlan::Projection(projection) => {
            (Arc::clone(&projection.input), projection.expr.clone())
        }
        other => {
            let columns = other.schema().columns().into_iter();
            let columns: Vec<Expr> = columns.map(Expr::Column).collect();
            (Arc::new(other.clone()), columns)
        }
    };
    if !outputs
        .iter()
        .any(|output| needs_key(output, input.schema()))
    {
        return Ok(None);
    }
    let outputs = outputs
        .into_iter()
        .map(|output| as_key(output, input.schema()));
    let projection = Projection::try_new(outputs.collect(), Arc::clone(&input))?;
    Ok(Some(LogicalPlan::Projection(projection)))
}

/// The key of an output column, under its name.
pub(super) fn as_key(output: Expr, schema: &DFSchema) -> Expr {
    if !needs_key(&output, schema) {
        return output;
    }
    let (relation, name) = output.qualified_name();
    FloatKey::of(output.unalias()).alias_qualified(relation, name)
}
