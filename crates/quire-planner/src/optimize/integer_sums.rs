//! Which integers a `sum` adds up, as PostgreSQL counts their width.
//!
//! DataFusion reads every whole number as 64 bits, so that `sum(a * 2)` or `sum(CASE … THEN 1 ELSE
//! 0 END)` looks like the sum of BIGINTs, whose result is a decimal. PostgreSQL reads small numbers
//! as 32 bits. Here a sum whose columns and numbers all fit 32 bits is told to be a BIGINT. Runs
//! before types are settled, because afterwards a written cast and an added one look alike, and before they are checked: `#` knows
//! integers only.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::WindowFunctionDefinition;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    AggregateUDF, BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator,
};
use datafusion::optimizer::AnalyzerRule;

use quire_functions::CheckedSum;

/// Functions that return one of their arguments, or its absolute value.
const TRANSPARENT: [&str; 5] = ["abs", "coalesce", "greatest", "least", "nullif"];

/// The rule.
#[derive(Debug)]
pub(super) struct IntegerSums;

impl AnalyzerRule for IntegerSums {
    fn name(&self) -> &str {
        "integer_sums"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let mut is_changed = false;
        let narrowed = plan.transform_up_with_subqueries(|node| {
            let node = narrow_sums(node)?;
            is_changed |= node.transformed;
            // What is above must know.
            if is_changed {
                node.map_data(LogicalPlan::recompute_schema)
            } else {
                Ok(node)
            }
        })?;
        Ok(narrowed.data)
    }
}

fn narrow_sums(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let schema = merge_schema(&plan.inputs());
    plan.map_expressions(|expr| expr.transform_up(|part| Ok(narrow_sum(part, &schema))))
}

pub(super) fn narrow_sum(mut expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let (function, arguments) = match &mut expr {
        Expr::AggregateFunction(call) => (&mut call.func, &call.params.args),
        Expr::WindowFunction(call) => match &mut call.fun {
            WindowFunctionDefinition::AggregateUDF(function) => (function, &call.params.args),
            WindowFunctionDefinition::WindowUDF(_) => return Transformed::no(expr),
        },
        _ => return Transformed::no(expr),
    };
    let is_wide_sum =
        function.inner().is::<CheckedSum>() && **function == CheckedSum::wide().into();
    let is_small = arguments
        .first()
        .is_some_and(|argument| fits_32_bits(argument, schema));
    if !is_wide_sum || !is_small {
        return Transformed::no(expr);
    }
    *function = Arc::new(AggregateUDF::from(CheckedSum::of_small()));
    Transformed::yes(expr)
}

/// Whether PostgreSQL would compute `expr` with 32-bit integers.
fn fits_32_bits(expr: &Expr, schema: &DFSchema) -> bool {
    let fits = |part: &Expr| fits_32_bits(part, schema);
    match expr {
        Expr::Literal(ScalarValue::Int64(value), _) => {
            value.is_none_or(|value| i32::try_from(value).is_ok())
        }
        Expr::Alias(alias) => fits(&alias.expr),
        Expr::Negative(inner) => fits(inner),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let is_arithmetic = matches!(
                op,
                Operator::Plus
                    | Operator::Minus
                    | Operator::Multiply
                    | Operator::Divide
                    | Operator::Modulo
            );
            is_arithmetic && fits(left) && fits(right)
        }
        Expr::Case(case) => {
            let results = case.when_then_expr.iter().map(|(_, then)| then);
            results.chain(&case.else_expr).all(|result| fits(result))
        }
        Expr::ScalarFunction(function) if TRANSPARENT.contains(&function.name()) => {
            function.args.iter().all(fits)
        }
        other => matches!(
            other.get_type(schema),
            Ok(DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Null)
        ),
    }
}
