//! An expression under a name that says all of it.
//!
//! DataFusion names the columns of groups, aggregates and windows after their expressions, and leaves out what it takes to be of no
//! interest: casts, the order of operators, the text of subqueries. Then `sum(x)` and `sum(x::INTEGER)` are one name, and the second
//! is refused. While a statement is planned, `quire_sql::expression_names` puts this function around such parts, and
//! `quire_planner::optimize::without_own_names` takes it away again; the names stay.

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{
    Cast, ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature,
    Volatility,
};

/// Separates a name from the number that makes it unique inside a plan. A control character, so that no name that a person writes
/// contains it.
pub const SUFFIX_MARK: char = '\u{1f}';

/// The function: its value is its argument. A second one tells subqueries apart, whose text is in no name.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct OwnName {
    signature: Signature,
}

impl OwnName {
    /// What the planner finds it by; no name that a person writes contains the control character.
    pub const NAME: &'static str = "\u{1f}own_name";

    pub(crate) fn new() -> Self {
        Self {
            signature: Signature::variadic_any(Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for OwnName {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(match args {
            [Expr::Cast(Cast { expr, field })] => {
                format!("CAST({} AS {})", expr.schema_name(), field.data_type())
            }
            [operand] => format!("({})", operand.schema_name()),
            [subquery, text] => format!("({} {text})", subquery.schema_name()),
            _ => return internal_err!("own_name takes one argument or two"),
        })
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        Ok(arg_types[0].clone())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        Ok(FieldRef::clone(&args.arg_fields[0]))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.into_iter().next() {
            Some(value) => Ok(value),
            None => internal_err!("own_name takes one argument"),
        }
    }
}
