//! `sum` that reports overflow.
//!
//! DataFusion's wraps around. This one adds in 128 bits and checks the total. Result types are
//! PostgreSQL's, with bounds where it has none: SMALLINT and INTEGER add up to a BIGINT, BIGINT to a
//! DECIMAL(38,0) (unless `quire_planner::optimize` knows that the values are small), DECIMAL(p,s) to a DECIMAL(min(38, p + 10), s). In 128 bits no order of adding
//! fails half-way when the total fits. Floats are added up by
//! [`super::float_totals`], REALs to a REAL; intervals have an aggregate of their own.

mod accumulate;
mod distinct;
mod groups;
mod prefixes;

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, Int16Array, Int32Array, Int64Array, PrimitiveArray,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Decimal128Type, Field, FieldRef, Int16Type, Int32Type, Int64Type,
};
use datafusion::common::{DataFusionError, Result, ScalarValue, exec_err, plan_err};
use datafusion::functions_aggregate::sum::Sum;
use datafusion::logical_expr::expr::AggregateFunctionParams;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, SetMonotonicity, Signature,
    Volatility, udaf_default_display_name, udaf_default_schema_name,
};
use quire_error::Error;

use super::float_totals::FloatResult;
use super::frames::float_frame;

pub(super) use self::prefixes::{advance_exact, sum_prefixes};

/// Digits that every 128-bit total is checked to have at most.
const MAX_DIGITS: u8 = 38;

/// What a sum adds up, which decides the type of the sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum SummedValues {
    Any,
    /// 64-bit values that stand for 32-bit ones: their sum is a BIGINT.
    Small,
    /// Partial sums or counts: their sum has their type.
    Sums,
}

/// The function. Its own name differs from `sum` because the optimizer takes apart functions of
/// that name into a sum of sums, which would not have the same type; statements call it `sum`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct CheckedSum {
    unchecked: Sum,
    summed: SummedValues,
    signature: Signature,
    aliases: Vec<String>,
}

impl CheckedSum {
    /// The sum that statements call.
    pub fn wide() -> Self {
        Self::new(SummedValues::Any)
    }

    /// The sum of 64-bit values that would have 32 bits in PostgreSQL.
    pub fn of_small() -> Self {
        Self::new(SummedValues::Small)
    }

    /// The sum of partial sums or counts.
    pub fn of_sums() -> Self {
        Self::new(SummedValues::Sums)
    }

    fn new(summed: SummedValues) -> Self {
        Self {
            unchecked: Sum::new(),
            summed,
            signature: Signature::user_defined(Volatility::Immutable),
            aliases: vec!["sum".to_owned()],
        }
    }
}

impl AggregateUDFImpl for CheckedSum {
    fn name(&self) -> &str {
        "checked_sum"
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn schema_name(&self, params: &AggregateFunctionParams) -> Result<String> {
        Ok(as_called(&udaf_default_schema_name(self, params)?))
    }

    fn display_name(&self, params: &AggregateFunctionParams) -> Result<String> {
        Ok(as_called(&udaf_default_display_name(self, params)?))
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let [argument] = arg_types else {
            return plan_err!("No function matches sum with {} arguments", arg_types.len());
        };
        let summed = match argument {
            DataType::Int8 | DataType::UInt8 => DataType::Int16,
            DataType::UInt16 => DataType::Int32,
            DataType::UInt32 | DataType::Null => DataType::Int64,
            DataType::UInt64 => DataType::Decimal128(20, 0),
            DataType::Float16 => DataType::Float32,
            DataType::Decimal32(p, s) | DataType::Decimal64(p, s) => DataType::Decimal128(*p, *s),
            DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::Float32
            | DataType::Float64
            | DataType::Decimal128(..)
            | DataType::Decimal256(..)
            | DataType::Interval(_)
            | DataType::Duration(_) => argument.clone(),
            other => return plan_err!("No function matches sum({other})"),
        };
        Ok(vec![summed])
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types {
            [DataType::Int16 | DataType::Int32] => Ok(DataType::Int64),
            [same @ DataType::Decimal128(..)] if self.summed == SummedValues::Sums => {
                Ok(same.clone())
            }
            [DataType::Int64] if self.summed == SummedValues::Any => {
                Ok(DataType::Decimal128(MAX_DIGITS, 0))
            }
            // Another aggregate takes the place of that of intervals when types are settled.
            [same @ (DataType::Interval(_) | DataType::Float32)] => Ok(same.clone()),
            _ => self.unchecked.return_type(arg_types),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match SumTotal::of(args.return_field.data_type()) {
            Some(total) if args.is_distinct => Ok(Box::new(distinct::DistinctSum::new(total))),
            Some(total) => Ok(Box::new(accumulate::RunningSum::new(total))),
            None => match FloatResult::Sum
                .accumulator(args.return_field.data_type(), args.is_distinct)
            {
                Some(floats) => Ok(floats),
                None => self.unchecked.accumulator(args),
            },
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match SumTotal::of(args.return_field.data_type()) {
            Some(_) if args.is_distinct => {
                exec_err!("sum(DISTINCT) over a moving window frame is not supported")
            }
            Some(total) => Ok(Box::new(accumulate::RunningSum::new(total))),
            None => match float_frame(
                FloatResult::Sum,
                args.return_field.data_type(),
                args.is_distinct,
            )? {
                Some(floats) => Ok(floats),
                None => self.unchecked.create_sliding_accumulator(args),
            },
        }
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let Some(total) = SumTotal::of(args.return_field.data_type()) else {
            let argument = args.return_field.data_type();
            return match FloatResult::state_fields(argument, args.name, args.is_distinct) {
                Some(fields) => Ok(fields),
                None => self.unchecked.state_fields(args),
            };
        };
        let field: Field = if args.is_distinct {
            let item = Field::new_list_field(total.state_type(), true);
            Field::new_list(format_state_name(args.name, "sum distinct"), item, false)
        } else {
            Field::new(
                format_state_name(args.name, "sum"),
                total.state_type(),
                true,
            )
        };
        Ok(vec![field.into()])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        match SumTotal::of(args.return_field.data_type()) {
            Some(total) => Ok(Box::new(groups::GroupedSums::new(total))),
            None => match FloatResult::Sum.groups_accumulator(args.return_field.data_type()) {
                Some(floats) => Ok(floats),
                None => self.unchecked.create_groups_accumulator(args),
            },
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.unchecked.set_monotonicity(data_type)
    }
}

/// A name as statements know it.
fn as_called(name: &str) -> String {
    name.replacen("checked_sum", "sum", 1)
}

/// What a checked sum adds up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SumTotal {
    BigInt,
    Decimal { precision: u8, scale: i8 },
}

impl SumTotal {
    fn of(result: &DataType) -> Option<Self> {
        match result {
            DataType::Int64 => Some(SumTotal::BigInt),
            DataType::Decimal128(precision, scale) => Some(SumTotal::Decimal {
                precision: *precision,
                scale: *scale,
            }),
            _ => None,
        }
    }

    /// Type in which partial sums travel.
    fn state_type(self) -> DataType {
        match self {
            SumTotal::BigInt => DataType::Decimal128(MAX_DIGITS, 0),
            SumTotal::Decimal { scale, .. } => DataType::Decimal128(MAX_DIGITS, scale),
        }
    }

    fn result_array(self, sums: Vec<i128>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let is_valid = |row: usize| nulls.as_ref().is_none_or(|n| n.is_valid(row));
        match self {
            SumTotal::BigInt => {
                let narrow = sums
                    .iter()
                    .enumerate()
                    .map(|(row, sum)| match i64::try_from(*sum) {
                        Ok(value) => Ok(value),
                        Err(_) if !is_valid(row) => Ok(0),
                        Err(_) => Err(self.overflow()),
                    });
                let values = narrow.collect::<Result<Vec<i64>>>()?;
                Ok(Arc::new(Int64Array::new(values.into(), nulls)))
            }
            SumTotal::Decimal { precision, scale } => {
                let limit = 10_u128.pow(u32::from(precision));
                let fits =
                    |(row, sum): (usize, &i128)| !is_valid(row) || sum.unsigned_abs() < limit;
                if !sums.iter().enumerate().all(fits) {
                    return Err(self.overflow());
                }
                let array = Decimal128Array::new(sums.into(), nulls);
                Ok(Arc::new(array.with_precision_and_scale(precision, scale)?))
            }
        }
    }

    fn state_array(self, sums: Vec<i128>, nulls: Option<NullBuffer>) -> ArrayRef {
        Arc::new(Decimal128Array::new(sums.into(), nulls).with_data_type(self.state_type()))
    }

    fn state_scalar(self, sum: Option<i128>) -> ScalarValue {
        let scale = match self {
            SumTotal::BigInt => 0,
            SumTotal::Decimal { scale, .. } => scale,
        };
        ScalarValue::Decimal128(sum, MAX_DIGITS, scale)
    }

    fn result_scalar(self, sum: Option<i128>) -> Result<ScalarValue> {
        let nulls = sum.is_none().then(|| NullBuffer::new_null(1));
        let array = self.result_array(vec![sum.unwrap_or(0)], nulls)?;
        ScalarValue::try_from_array(&array, 0)
    }

    fn overflow(self) -> DataFusionError {
        let error = match self {
            SumTotal::BigInt => Error::new("22003", "bigint out of range in sum"),
            SumTotal::Decimal { precision, .. } => {
                Error::new("22003", format!("sum has more than {precision} digits"))
            }
        };
        error.into()
    }

    fn add(self, left: i128, right: i128) -> Result<i128> {
        left.checked_add(right).ok_or_else(|| self.overflow())
    }
}

/// A column to add up, as 128-bit integers.
pub(super) enum Inputs<'a> {
    Int16(&'a Int16Array),
    Int32(&'a Int32Array),
    Int64(&'a Int64Array),
    Decimal(&'a Decimal128Array),
}

impl<'a> Inputs<'a> {
    /// A column of the summed type, or partial sums.
    pub(super) fn of(array: &'a ArrayRef) -> Result<Self> {
        match array.data_type() {
            DataType::Int16 => Ok(Inputs::Int16(array.as_primitive::<Int16Type>())),
            DataType::Int32 => Ok(Inputs::Int32(array.as_primitive::<Int32Type>())),
            DataType::Int64 => Ok(Inputs::Int64(array.as_primitive::<Int64Type>())),
            DataType::Decimal128(_, _) => {
                Ok(Inputs::Decimal(array.as_primitive::<Decimal128Type>()))
            }
            other => exec_err!("sum cannot add values of type {other}"),
        }
    }

    /// Calls `visit` with the row and value of every value that is not NULL.
    pub(super) fn for_each_value(
        &self,
        visit: impl FnMut(usize, i128) -> Result<()>,
    ) -> Result<()> {
        match self {
            Inputs::Int16(array) => for_each_value(array, visit),
            Inputs::Int32(array) => for_each_value(array, visit),
            Inputs::Int64(array) => for_each_value(array, visit),
            Inputs::Decimal(array) => for_each_value(array, visit),
        }
    }
}

fn for_each_value<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    mut visit: impl FnMut(usize, i128) -> Result<()>,
) -> Result<()>
where
    i128: From<T::Native>,
{
    let values = array.values();
    match array.nulls() {
        None => {
            let mut rows = values.iter().enumerate();
            rows.try_for_each(|(row, value)| visit(row, i128::from(*value)))
        }
        Some(nulls) => nulls
            .valid_indices()
            .try_for_each(|row| visit(row, i128::from(values[row]))),
    }
}
