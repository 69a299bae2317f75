//! `avg` of integers and decimals, rounded once.
//!
//! DataFusion adds integers up as doubles, which are not exact beyond 2^53, and cuts the digits of a decimal mean off. Here both are
//! added up exactly. The mean of integers is the double nearest to it; that of DECIMAL(p,s) is a DECIMAL(p+4,s+4) (at most 38), and
//! rounds half away from zero, as PostgreSQL's digits do. Floats are added up by [`super::float_totals`].

mod accumulate;
mod groups;
mod mean;
mod merged;
mod prefixes;

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::functions_aggregate::average::Avg;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};

use self::mean::Mean;
use super::float_totals::FloatResult;
use super::frames::float_frame;

pub use self::merged::MergedAverage;
pub(super) use self::prefixes::mean_prefixes;

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct ExactAverage {
    inexact: Avg,
    signature: Signature,
    aliases: Vec<String>,
}

impl ExactAverage {
    pub(crate) fn new() -> Self {
        Self {
            inexact: Avg::new(),
            signature: Signature::user_defined(Volatility::Immutable),
            aliases: vec!["mean".to_owned()],
        }
    }
}

impl AggregateUDFImpl for ExactAverage {
    fn name(&self) -> &str {
        "avg"
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let [argument] = arg_types else {
            return plan_err!("No function matches avg with {} arguments", arg_types.len());
        };
        let averaged = match argument {
            DataType::Int8 | DataType::UInt8 => DataType::Int16,
            DataType::UInt16 => DataType::Int32,
            DataType::UInt32 => DataType::Int64,
            DataType::UInt64 => DataType::Decimal128(20, 0),
            DataType::Null | DataType::Float16 | DataType::Float32 => DataType::Float64,
            DataType::Decimal32(p, s) | DataType::Decimal64(p, s) => DataType::Decimal128(*p, *s),
            DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::Float64
            | DataType::Decimal128(..)
            | DataType::Decimal256(..)
            | DataType::Interval(_)
            | DataType::Duration(_) => argument.clone(),
            other => return plan_err!("No function matches avg({other})"),
        };
        Ok(vec![averaged])
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match arg_types {
            // Another aggregate takes its place when types are settled.
            [interval @ DataType::Interval(_)] => Ok(interval.clone()),
            _ => self.inexact.return_type(arg_types),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match Mean::of(args.expr_fields, &args.return_field) {
            Some(mean) if args.is_distinct => Ok(Box::new(accumulate::DistinctMean::new(mean))),
            Some(mean) => Ok(Box::new(accumulate::RunningMean::new(mean))),
            None => match FloatResult::Mean
                .accumulator(args.return_field.data_type(), args.is_distinct)
            {
                Some(floats) => Ok(floats),
                None => self.inexact.accumulator(args),
            },
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match Mean::of(args.expr_fields, &args.return_field) {
            Some(_) if args.is_distinct => {
                exec_err!("avg(DISTINCT) over a moving window frame is not supported")
            }
            Some(mean) => Ok(Box::new(accumulate::RunningMean::new(mean))),
            None => match float_frame(
                FloatResult::Mean,
                args.return_field.data_type(),
                args.is_distinct,
            )? {
                Some(floats) => Ok(floats),
                None => self.inexact.create_sliding_accumulator(args),
            },
        }
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let Some(mean) = Mean::of(args.input_fields, &args.return_field) else {
            let argument = args.return_field.data_type();
            return match FloatResult::state_fields(argument, args.name, args.is_distinct) {
                Some(fields) => Ok(fields),
                None => self.inexact.state_fields(args),
            };
        };
        if args.is_distinct {
            let item = Field::new_list_field(mean.value_type(), true);
            let list = Field::new_list(format_state_name(args.name, "avg distinct"), item, false);
            return Ok(vec![Arc::new(list)]);
        }
        Ok(mean::state_fields(mean, args.name))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        match Mean::of(args.expr_fields, &args.return_field) {
            Some(_) => !args.is_distinct,
            None if *args.return_field.data_type() == DataType::Float64 => !args.is_distinct,
            None => self.inexact.groups_accumulator_supported(args),
        }
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        match Mean::of(args.expr_fields, &args.return_field) {
            Some(mean) => Ok(Box::new(groups::GroupedMeans::new(mean))),
            None => match FloatResult::Mean.groups_accumulator(args.return_field.data_type()) {
                Some(floats) => Ok(floats),
                None => self.inexact.create_groups_accumulator(args),
            },
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}
