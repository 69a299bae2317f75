//! DataFusion's aggregate functions of floats, with what is wrong in them put right.
//!
//! * `min` and `max` of groups begin with the largest and smallest finite number, which infinities and NaN are beyond.
//! * Variances, covariances and regressions are added up by another algorithm than PostgreSQL's, and know no infinity.
//! * Those and `regr_count` of moving frames are moved by subtraction ([`super::frames`]).
//!
//! Everything else is left to the function.

mod extremes;
mod moments;
mod statistic;
mod statistic_rows;

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::functions_aggregate::all_default_aggregate_functions;
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::logical_expr::function::{
    AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs,
};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, GroupsAccumulator, ReversedUDAF,
    SetMonotonicity, Signature, StatisticsArgs,
};

use self::extremes::{FloatExtreme, GroupedExtremes};
use self::statistic::Statistic;
use self::statistic_rows::{GroupedMoments, RunningMoments, state_fields};
use super::frames::MergedFrame;

/// Functions of moving frames whose states are merged. None of them knows DISTINCT.
pub const STATISTICS: [&str; 16] = [
    "corr",
    "covar_pop",
    "covar_samp",
    "regr_avgx",
    "regr_avgy",
    "regr_count",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
    "stddev",
    "stddev_pop",
    "var",
    "var_pop",
];

/// Puts these functions in the place of DataFusion's.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    for function in all_default_aggregate_functions() {
        let repair = match function.name() {
            "min" => Repair::Extreme(FloatExtreme::Least),
            "max" => Repair::Extreme(FloatExtreme::Greatest),
            name if STATISTICS.contains(&name) => match Statistic::of(name) {
                Some(statistic) => Repair::Statistic(statistic),
                None => Repair::Frames,
            },
            _ => continue,
        };
        let repaired = FloatAggregate { function, repair };
        state.register_udaf(Arc::new(AggregateUDF::from(repaired)))?;
    }
    Ok(())
}

/// `min` as it is registered, for plans that the planner makes by itself.
pub fn least_udaf() -> Arc<AggregateUDF> {
    let repaired = FloatAggregate {
        function: min_udaf(),
        repair: Repair::Extreme(FloatExtreme::Least),
    };
    Arc::new(AggregateUDF::from(repaired))
}

/// The same of `max`.
pub fn greatest_udaf() -> Arc<AggregateUDF> {
    let repaired = FloatAggregate {
        function: max_udaf(),
        repair: Repair::Extreme(FloatExtreme::Greatest),
    };
    Arc::new(AggregateUDF::from(repaired))
}

/// What is wrong in a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Repair {
    Extreme(FloatExtreme),
    Frames,
    Statistic(Statistic),
}

/// A function, repaired.
#[derive(Debug, PartialEq, Eq, Hash)]
struct FloatAggregate {
    function: Arc<AggregateUDF>,
    repair: Repair,
}

impl FloatAggregate {
    /// The function itself. Its names of columns are those of DataFusion, which the functions of the trait give.
    fn inner(&self) -> &dyn AggregateUDFImpl {
        self.function.inner().as_ref()
    }
}

impl AggregateUDFImpl for FloatAggregate {
    fn name(&self) -> &str {
        self.inner().name()
    }

    fn aliases(&self) -> &[String] {
        self.inner().aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner().signature()
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner().coerce_types(arg_types)
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner().return_type(arg_types)
    }

    fn return_field(&self, arg_fields: &[FieldRef]) -> Result<FieldRef> {
        self.inner().return_field(arg_fields)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        match self.repair {
            Repair::Statistic(_) => Ok(state_fields(args.name)),
            Repair::Extreme(_) | Repair::Frames => self.inner().state_fields(args),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match self.repair {
            Repair::Statistic(_) if args.is_distinct => {
                exec_err!("{}(DISTINCT) is not supported here", self.name())
            }
            Repair::Statistic(statistic) => Ok(Box::new(RunningMoments::new(statistic))),
            Repair::Extreme(_) | Repair::Frames => self.inner().accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match self.repair {
            Repair::Extreme(_) => self.inner().create_sliding_accumulator(args),
            Repair::Frames => MergedFrame::accumulator(&self.function, &args),
            Repair::Statistic(_) => {
                let repaired = Self {
                    function: Arc::clone(&self.function),
                    repair: self.repair,
                };
                MergedFrame::accumulator(&Arc::new(AggregateUDF::from(repaired)), &args)
            }
        }
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        match self.repair {
            Repair::Statistic(_) => !args.is_distinct,
            Repair::Extreme(_) | Repair::Frames => self.inner().groups_accumulator_supported(args),
        }
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        match (self.repair, args.return_field.data_type()) {
            (Repair::Extreme(extreme), DataType::Float64) => {
                Ok(Box::new(GroupedExtremes::of_doubles(extreme)))
            }
            (Repair::Extreme(extreme), DataType::Float32) => {
                Ok(Box::new(GroupedExtremes::of_reals(extreme)))
            }
            (Repair::Statistic(statistic), _) => Ok(Box::new(GroupedMoments::new(statistic))),
            _ => self.inner().create_groups_accumulator(args),
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner().order_sensitivity()
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        self.inner().simplify()
    }

    fn is_nullable(&self) -> bool {
        self.inner().is_nullable()
    }

    fn is_descending(&self) -> Option<bool> {
        self.inner().is_descending()
    }

    fn value_from_stats(&self, args: &StatisticsArgs) -> Option<ScalarValue> {
        self.inner().value_from_stats(args)
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        self.inner().default_value(data_type)
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.inner().set_monotonicity(data_type)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner().documentation()
    }
}
