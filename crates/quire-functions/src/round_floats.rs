//! `round` of floats: halves to even, and to any number of places.
//!
//! DataFusion rounds halves away from zero; PostgreSQL rounds those of floats to even, as casts to integers do. To round to some places,
//! DataFusion multiplies by a power of ten, rounds, and divides. Where the power or the product is beyond a double, that is NaN. A float
//! has no digits so far behind its point, and is less than a unit so far before it.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Field, FieldRef, Float32Type, Float64Type, Int64Type,
};
use datafusion::common::{Result, internal_err};
use datafusion::functions::math::round;
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};

use super::array_results::{are_single, result_of};

/// The function: DataFusion's, with results that it does not find.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct RoundFloats {
    inner: Arc<ScalarUDF>,
    signature: Signature,
}

impl RoundFloats {
    pub(super) fn new() -> Self {
        Self {
            inner: round(),
            signature: Signature::user_defined(Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for RoundFloats {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Places stay as they are. The type of a rounded decimal depends on them where they are a literal, and a cast of one is none: the
    /// type would change as soon as the cast is folded.
    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let fields = arg_types.iter().enumerate();
        let fields = fields.map(|(index, data_type)| {
            Arc::new(Field::new(format!("{index}"), data_type.clone(), true))
        });
        let fields = fields.collect::<Vec<_>>();
        let coerced = fields_with_udf(&fields, self.inner.as_ref())?;
        let mut types: Vec<DataType> = coerced
            .iter()
            .map(|field| field.data_type().clone())
            .collect();
        if let ([_, places], [_, coerced]) = (arg_types, types.as_mut_slice())
            && places.is_integer()
        {
            coerced.clone_from(places);
        }
        Ok(types)
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arg_types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        self.inner.return_field_from_args(args)
    }

    fn invoke_with_args(&self, mut args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        if let Some(places) = args.args.get_mut(1) {
            *places = places.cast_to(&DataType::Int32, None)?;
        }
        let is_single = are_single(&args.args);
        let is_float = args.return_field.data_type().is_floating();
        let arguments = args.args.clone();
        let result = match arguments.as_slice() {
            [value] if is_float => {
                let rows = if is_single { 1 } else { args.number_rows };
                round_to_even(&value.to_array(rows)?)?
            }
            [value, places] if is_float => {
                let rounded = self.inner.invoke_with_args(args)?;
                let all = [value.clone(), places.clone(), rounded];
                repaired(&ColumnarValue::values_to_arrays(&all)?)?
            }
            _ => return self.inner.invoke_with_args(args),
        };
        result_of(result, is_single)
    }

    fn output_ordering(&self, input: &[ExprProperties]) -> Result<SortProperties> {
        self.inner.output_ordering(input)
    }
}

fn round_to_even(value: &ArrayRef) -> Result<ArrayRef> {
    Ok(match value.data_type() {
        DataType::Float64 => {
            let doubles = value.as_primitive::<Float64Type>();
            Arc::new(doubles.unary::<_, Float64Type>(f64::round_ties_even))
        }
        DataType::Float32 => {
            let reals = value.as_primitive::<Float32Type>();
            Arc::new(reals.unary::<_, Float32Type>(f32::round_ties_even))
        }
        other => return internal_err!("round to even takes no {other}"),
    })
}

/// The results of value, places and what DataFusion makes of them.
fn repaired(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [value, places, rounded] = arrays else {
        return internal_err!("round takes a value and places");
    };
    match rounded.data_type() {
        DataType::Float64 => repair::<Float64Type>(value, places, rounded),
        DataType::Float32 => repair::<Float32Type>(value, places, rounded),
        _ => Ok(Arc::clone(rounded)),
    }
}

/// What is not finite stays as it is. Where a finite value has become none: the value, or zero before the point.
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
                let (is_finite, is_found) = (value.into().is_finite(), rounded.into().is_finite());
                Some(match (is_finite && is_found, is_finite && places <= 0) {
                    (true, _) => rounded,
                    (false, true) => T::Native::default(),
                    (false, false) => value,
                })
            }
            (_, _, rounded) => rounded,
        },
    );
    Ok(Arc::new(repaired.collect::<PrimitiveArray<T>>()))
}
