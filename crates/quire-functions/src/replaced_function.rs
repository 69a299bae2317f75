//! Functions of DataFusion with a calculation of ours: names, arguments and types stay what they are.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};

/// What is calculated in the place of a function.
pub(crate) trait OwnCalculation: Debug + Eq + Hash + Send + Sync + 'static {
    /// `inner` is DataFusion's function.
    fn calculate(&self, inner: &ScalarUDF, args: ScalarFunctionArgs) -> Result<ColumnarValue>;
}

/// Puts the calculation in the place of the function called `name`.
pub(crate) fn replace(
    state: &mut SessionState,
    name: &str,
    calculation: impl OwnCalculation,
) -> Result<()> {
    let inner = state.udf(name)?;
    let replaced = ReplacedFunction { inner, calculation };
    state.register_udf(ScalarUDF::from(replaced).into())?;
    Ok(())
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ReplacedFunction<C> {
    inner: Arc<ScalarUDF>,
    calculation: C,
}

impl<C: OwnCalculation> ScalarUDFImpl for ReplacedFunction<C> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arg_types)
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arg_types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.inner.return_field_from_args(args)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        self.calculation.calculate(&self.inner, args)
    }
}
