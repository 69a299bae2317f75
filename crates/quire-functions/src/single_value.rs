//! The value of a subquery that must have one row at most.
//!
//! `quire_planner::optimize` makes an aggregate of such a subquery: [`PackedValue`] joins the first value and the number of rows, and
//! [`SingleValue`], around the subquery, takes the value out again or fails. Both are needed, for a subquery that reads the row
//! around it becomes a join with groups, and a group with two rows that no row asks for is no error.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StructArray};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::{is_null, nullif};
use datafusion::arrow::datatypes::{DataType, Field, Fields, Int64Type};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

use super::array_results::{are_single, result_of};
use quire_error::Error;

/// The function of a value and the number of rows it was taken from; NULL if they are none.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct PackedValue {
    signature: Signature,
}

impl Default for PackedValue {
    fn default() -> Self {
        Self::new()
    }
}

impl PackedValue {
    pub fn new() -> Self {
        Self {
            signature: Signature::any(2, Volatility::Immutable),
        }
    }
}

fn packed_fields(value: &DataType) -> Fields {
    Fields::from(vec![
        Field::new("value", value.clone(), true),
        Field::new("is_one_of_many", DataType::Boolean, true),
    ])
}

impl ScalarUDFImpl for PackedValue {
    fn name(&self) -> &str {
        "packed_value"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        Ok(DataType::Struct(packed_fields(&arg_types[0])))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_scalar = are_single(&args.args);
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [values, counts] = arrays.as_slice() else {
            return internal_err!("packed_value takes two arguments");
        };
        let Some(counts) = counts.as_primitive_opt::<Int64Type>() else {
            return internal_err!("packed_value counts rows in 64 bits");
        };
        let counts = || counts.iter().map(Option::unwrap_or_default);
        let is_one_of_many: BooleanArray = counts().map(|count| Some(count > 1)).collect();
        let is_there: NullBuffer = counts().map(|count| count > 0).collect();
        let columns: Vec<ArrayRef> = vec![Arc::clone(values), Arc::new(is_one_of_many)];
        let fields = packed_fields(values.data_type());
        let packed = StructArray::try_new(fields, columns, Some(is_there))?;
        result_of(Arc::new(packed), is_scalar)
    }
}

/// The function of a packed value: the value, or an error if it is one of several.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct SingleValue {
    signature: Signature,
}

impl Default for SingleValue {
    fn default() -> Self {
        Self::new()
    }
}

impl SingleValue {
    pub fn new() -> Self {
        Self {
            signature: Signature::any(1, Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for SingleValue {
    fn name(&self) -> &str {
        "single_value"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match &arg_types[0] {
            DataType::Struct(fields) if fields.len() == 2 => Ok(fields[0].data_type().clone()),
            other => internal_err!("single_value takes a packed value, not {other}"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_scalar = are_single(&args.args);
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let Some(packed) = arrays.first().and_then(|array| array.as_struct_opt()) else {
            return internal_err!("single_value takes a packed value");
        };
        let Some(is_one_of_many) = packed.column(1).as_boolean_opt() else {
            return internal_err!("single_value takes a packed value with its mark");
        };
        let is_failing = |row| packed.is_valid(row) && is_one_of_many.value(row);
        if (0..packed.len()).any(is_failing) {
            return Err(Error::more_than_one_row().into());
        }
        result_of(nullif(packed.column(0), &is_null(packed)?)?, is_scalar)
    }
}
