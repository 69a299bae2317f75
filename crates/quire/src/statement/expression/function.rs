//! Calls of functions whose code is the general path's: slow beside the rest, and exactly the same.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::common::config::ConfigOptions;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF};

use super::super::scalar::Scalar;
use super::{Environment, Node, Row};
use crate::error::Error;

/// A function and its arguments.
#[derive(Debug, Clone)]
pub(in crate::statement) struct FunctionCall {
    pub(super) function: Arc<ScalarUDF>,
    pub(super) arguments: Vec<Node>,
    pub(super) argument_fields: Vec<FieldRef>,
    pub(super) return_field: FieldRef,
    pub(super) options: Arc<ConfigOptions>,
}

impl FunctionCall {
    pub(super) fn arguments(&self) -> impl Iterator<Item = &Node> {
        self.arguments.iter()
    }

    pub(super) fn evaluate<'a>(
        &'a self,
        row: Row<'a>,
        environment: &Environment<'a>,
    ) -> Result<Scalar<'a>, Error> {
        let argument = |(node, field): (&'a Node, &FieldRef)| {
            let value = node.evaluate(row, environment)?;
            Ok(ColumnarValue::Scalar(value.to_planned(field.data_type())?))
        };
        let pairs = self.arguments.iter().zip(&self.argument_fields);
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
        Scalar::from_planned(value).ok_or_else(|| unknown(self.return_field.data_type()))
    }
}

fn unknown(data_type: &DataType) -> Error {
    Error::new(
        "XX000",
        format!("internal error: a function returned a {data_type}"),
    )
}
