//! `round` of floats to any number of places.
//!
//! DataFusion multiplies by a power of ten, rounds, and divides. Where the power or the product is beyond a double, that is NaN. A float
//! has no digits so far behind its point, and is less than a unit so far before it.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::FieldRef;
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float32Type, Float64Type, Int64Type,
};
use datafusion::common::Result;
use datafusion::functions::math::round::RoundFunc;
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature,
};

/// The function: DataFusion's, with results that it does not find.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct RoundFloats(RoundFunc);

impl RoundFloats {
    pub(super) fn new() -> Self {
        Self(RoundFunc::new())
    }
}

impl ScalarUDFImpl for RoundFloats {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.0.return_type(arg_types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        self.0.return_field_from_args(args)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arguments = args.args.clone();
        let rounded = self.0.invoke_with_args(args)?;
        let [value, places] = arguments.as_slice() else {
            return Ok(rounded);
        };
        if !rounded.data_type().is_floating() {
            return Ok(rounded);
        }
        let arrays = [value.clone(), places.clone(), rounded];
        let is_scalar = arrays
            .iter()
            .all(|array| matches!(array, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&arrays)?;
        let [value, places, rounded] = arrays.as_slice() else {
            return Ok(ColumnarValue::Array(arrays[0].clone()));
        };
        let repaired: ArrayRef = match rounded.data_type() {
            DataType::Float64 => repair::<Float64Type>(value, places, rounded)?,
            DataType::Float32 => repair::<Float32Type>(value, places, rounded)?,
            _ => Arc::clone(rounded),
        };
        Ok(match is_scalar {
            true => ColumnarValue::Scalar(datafusion::common::ScalarValue::try_from_array(
                &repaired, 0,
            )?),
            false => ColumnarValue::Array(repaired),
        })
    }

    fn output_ordering(&self, input: &[ExprProperties]) -> Result<SortProperties> {
        self.0.output_ordering(input)
    }
}

/// Where a finite value has become none: the value, or zero before the point.
fn repair<T>(value: &ArrayRef, places: &ArrayRef, rounded: &ArrayRef) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType,
    T::Native: Into<f64> + Default,
{
    let places = cast(places, &DataType::Int64)?;
    let (value, places) = (
        cast(value, &T::DATA_TYPE)?,
        places.as_primitive::<Int64Type>(),
    );
    let (value, rounded) = (value.as_primitive::<T>(), rounded.as_primitive::<T>());
    let rows = value.iter().zip(places).zip(rounded);
    let repaired = rows.map(
        |((value, places), rounded)| match (value, places, rounded) {
            (Some(value), Some(places), Some(rounded)) => {
                let is_lost = !rounded.into().is_finite() && value.into().is_finite();
                Some(match (is_lost, places > 0) {
                    (false, _) => rounded,
                    (true, true) => value,
                    (true, false) => T::Native::default(),
                })
            }
            (_, _, rounded) => rounded,
        },
    );
    Ok(Arc::new(repaired.collect::<PrimitiveArray<T>>()))
}
