//! Operators that DataFusion's rule for simplification must not look into.
//!
//! - It makes `0.00` of `n * 0.00` where `n` is never NULL, and a zero of the type of `n` of `n % 1.0`. The product of a `DECIMAL(12, 2)` and a
//!   `DECIMAL(3, 2)` has four digits behind the point, and what compares it has been given that type: a plan with the zero shows other digits,
//!   or is refused.
//! - It strikes out pairs of equal operands of `#`, and asks of none whether it is NULL.
//!
//! Here the rule finds a function in place of the operator. It can compute it where both operands are known, and knows no more of it.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::compute::{cast, kernels::bitwise::bitwise_xor, kernels::numeric};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result, internal_err};
use datafusion::logical_expr::type_coercion::binary::BinaryTypeCoercer;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, ExprSchemable, LogicalPlan, Operator, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

use super::own_names::{keeping_names, schema_below};

type Rule = Arc<dyn OptimizerRule + Send + Sync>;

/// DataFusion's rule, which does not see such operators.
#[derive(Debug)]
pub(super) struct HiddenOperators(pub(super) Rule);

impl OptimizerRule for HiddenOperators {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        if !has_operator(&plan)? {
            return self.0.rewrite(plan, config);
        }
        let schema = schema_below(&plan)?;
        let hide = |part: Expr| {
            let Some(function) = HiddenOperator::of(&part, &schema) else {
                return Ok(Transformed::no(part));
            };
            let Expr::BinaryExpr(BinaryExpr { left, right, .. }) = part else {
                return internal_err!("an operator has two operands");
            };
            let call = ScalarUDF::from(function).call(vec![*left, *right]);
            Ok(Transformed::yes(call))
        };
        let hidden = keeping_names(plan, &hide)?;
        if !hidden.transformed {
            return self.0.rewrite(hidden.data, config);
        }
        self.0.rewrite(hidden.data, config)?.map_data(|plan| {
            let shown =
                plan.transform_up(|node| node.map_expressions(|expr| expr.transform_up(show)));
            Ok(shown?.data)
        })
    }
}

/// Whether an operator may have to be hidden. Most plans have none, and their names need not be kept.
fn has_operator(plan: &LogicalPlan) -> Result<bool> {
    let is_operator = |part: &Expr| match part {
        Expr::BinaryExpr(BinaryExpr { op, .. }) => matches!(
            op,
            Operator::Multiply | Operator::Modulo | Operator::BitwiseXor
        ),
        _ => false,
    };
    let mut has_operator = false;
    plan.apply_expressions(|expr| {
        has_operator |= expr.exists(|part| Ok(is_operator(part)))?;
        Ok(if has_operator {
            TreeNodeRecursion::Stop
        } else {
            TreeNodeRecursion::Continue
        })
    })?;
    Ok(has_operator)
}

/// The operator in place of the function.
fn show(part: Expr) -> Result<Transformed<Expr>> {
    let Expr::ScalarFunction(call) = &part else {
        return Ok(Transformed::no(part));
    };
    match (
        call.func.inner().downcast_ref::<HiddenOperator>(),
        call.args.as_slice(),
    ) {
        (Some(function), [left, right]) => Ok(Transformed::yes(function.operator_on(left, right))),
        _ => Ok(Transformed::no(part)),
    }
}

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
struct HiddenOperator {
    operator: Operator,
    signature: Signature,
}

impl HiddenOperator {
    /// What stands for an expression, if it has such an operator.
    fn of(expr: &Expr, schema: &DFSchema) -> Option<Self> {
        let Expr::BinaryExpr(BinaryExpr { op, .. }) = expr else {
            return None;
        };
        let is_hidden = match op {
            Operator::BitwiseXor => true,
            Operator::Multiply | Operator::Modulo => {
                matches!(expr.get_type(schema), Ok(DataType::Decimal128(..)))
            }
            _ => false,
        };
        is_hidden.then(|| Self {
            operator: *op,
            signature: Signature::any(2, Volatility::Immutable),
        })
    }

    fn operator_on(&self, left: &Expr, right: &Expr) -> Expr {
        let (left, right) = (Box::new(left.clone()), Box::new(right.clone()));
        Expr::BinaryExpr(BinaryExpr::new(left, self.operator, right))
    }
}

impl ScalarUDFImpl for HiddenOperator {
    fn name(&self) -> &str {
        "hidden_operator"
    }

    /// Columns keep their names.
    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        match args {
            [left, right] => Ok(self.operator_on(left, right).schema_name().to_string()),
            _ => internal_err!("an operator has two operands"),
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types {
            [left, right] => BinaryTypeCoercer::new(left, &self.operator, right).get_result_type(),
            _ => internal_err!("an operator has two operands"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let operands = ColumnarValue::values_to_arrays(&args.args)?;
        let [left, right] = operands.as_slice() else {
            return internal_err!("an operator has two operands");
        };
        let result = match self.operator {
            Operator::Modulo => numeric::rem(left, right)?,
            Operator::BitwiseXor => exclusive_or(left, right)?,
            _ => numeric::mul(left, right)?,
        };
        Ok(ColumnarValue::Array(cast(
            &result,
            args.return_field.data_type(),
        )?))
    }
}

/// Of integers of any width, as wide ones.
fn exclusive_or(left: &ArrayRef, right: &ArrayRef) -> Result<ArrayRef> {
    let [left, right] = [
        cast(left, &DataType::Int64)?,
        cast(right, &DataType::Int64)?,
    ];
    let [left, right] = [&left, &right].map(|side| side.as_primitive::<Int64Type>());
    Ok(Arc::new(bitwise_xor(left, right)?))
}
