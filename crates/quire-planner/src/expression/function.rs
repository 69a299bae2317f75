//! Calls of functions whose code is the general path's: slow beside the rest, and exactly the same.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::common::config::ConfigOptions;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};
use quire_error::Error;
use quire_exec::plan::{EvaluationError, PlanScalar, ScalarFunction, ValueKind};

use super::super::scalar::{from_planned, to_planned};

/// A function of DataFusion's, for arguments of certain types.
#[derive(Debug)]
pub(super) struct PlannedFunction {
    pub(super) function: Arc<ScalarUDF>,
    pub(super) kind: ValueKind,
    pub(super) argument_fields: Vec<FieldRef>,
    pub(super) return_field: FieldRef,
    pub(super) options: Arc<ConfigOptions>,
}

impl PlannedFunction {
    fn result(&self, arguments: &[PlanScalar<'_>]) -> Result<PlanScalar<'static>, Error> {
        let argument = |(value, field): (&PlanScalar<'_>, &FieldRef)| {
            Ok(ColumnarValue::Scalar(to_planned(value, field.data_type())?))
        };
        let pairs = arguments.iter().zip(&self.argument_fields);
        let result = self.function.invoke_with_args(ScalarFunctionArgs {
            args: pairs.map(argument).collect::<Result<_, Error>>()?,
            arg_fields: self.argument_fields.clone(),
            number_rows: 1,
            return_field: Arc::clone(&self.return_field),
            config_options: Arc::clone(&self.options),
        })?;
        let value = match result {
            ColumnarValue::Scalar(value) => value,
            ColumnarValue::Array(array) => ScalarValue::try_from_array(&array, 0)?,
        };
        from_planned(value).ok_or_else(|| unknown(self.return_field.data_type()))
    }
}

impl ScalarFunction for PlannedFunction {
    fn name(&self) -> &str {
        self.function.name()
    }

    fn kind(&self) -> ValueKind {
        self.kind
    }

    fn call<'a>(&self, arguments: &[PlanScalar<'a>]) -> Result<PlanScalar<'a>, EvaluationError> {
        Ok(self.result(arguments)?)
    }
}

fn unknown(data_type: &DataType) -> Error {
    Error::new(
        "XX000",
        format!("internal error: a function returned a {data_type}"),
    )
}
