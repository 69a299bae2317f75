//! Aggregates of intervals: totals, averages, and the shortest and longest by length.

use std::cmp::Ordering;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, IntervalMonthDayNanoType};
use datafusion::common::{Result, ScalarValue, exec_err, plan_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, Signature, Volatility};
use quire_text::temporal::Interval;

use super::out_of_range;
use super::value::{TimeKind, of_arrow, to_arrow};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum IntervalAggregateKind {
    Sum,
    Average,
    Shortest,
    Longest,
}

/// One of them.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct IntervalAggregate {
    which: IntervalAggregateKind,
    signature: Signature,
}

impl IntervalAggregate {
    /// The aggregate of intervals for one that statements call by this name.
    pub fn named(name: &str) -> Option<Self> {
        let which = match name {
            "sum" | "checked_sum" => IntervalAggregateKind::Sum,
            "avg" => IntervalAggregateKind::Average,
            "min" => IntervalAggregateKind::Shortest,
            "max" => IntervalAggregateKind::Longest,
            _ => return None,
        };
        Some(Self {
            which,
            signature: Signature::user_defined(Volatility::Immutable),
        })
    }
}

impl AggregateUDFImpl for IntervalAggregate {
    fn name(&self) -> &str {
        match self.which {
            IntervalAggregateKind::Sum => "interval_sum",
            IntervalAggregateKind::Average => "interval_avg",
            IntervalAggregateKind::Shortest => "interval_min",
            IntervalAggregateKind::Longest => "interval_max",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        match types {
            [DataType::Interval(_)] => Ok(vec![TimeKind::Interval.data_type()]),
            _ => plan_err!("{} takes an interval", self.name()),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(TimeKind::Interval.data_type())
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Accumulated::new(self.which)))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let name = |part| format_state_name(args.name, part);
        Ok(vec![
            Field::new(name("interval"), TimeKind::Interval.data_type(), true).into(),
            Field::new(name("count"), DataType::Int64, true).into(),
        ])
    }
}

#[derive(Debug)]
struct Accumulated {
    which: IntervalAggregateKind,
    value: Option<Interval>,
    count: i64,
}

impl Accumulated {
    fn new(which: IntervalAggregateKind) -> Self {
        Self {
            which,
            value: None,
            count: 0,
        }
    }

    fn add(&mut self, array: &ArrayRef) -> Result<()> {
        let values = array.as_primitive::<IntervalMonthDayNanoType>();
        for value in values.iter().flatten() {
            let next = of_arrow(value);
            let Some(known) = self.value else {
                self.value = Some(next);
                continue;
            };
            let combined = match (self.which, next.compare(known)) {
                (IntervalAggregateKind::Sum | IntervalAggregateKind::Average, _) => {
                    known.plus(next)
                }
                // Of equal ones it is the last.
                (IntervalAggregateKind::Shortest, Ordering::Less | Ordering::Equal)
                | (IntervalAggregateKind::Longest, Ordering::Greater | Ordering::Equal) => {
                    Some(next)
                }
                _ => Some(known),
            };
            self.value = Some(combined.ok_or_else(|| out_of_range(TimeKind::Interval))?);
        }
        Ok(())
    }

    fn scalar(value: Option<Interval>) -> Result<ScalarValue> {
        let value = value.map(to_arrow).transpose()?;
        Ok(ScalarValue::IntervalMonthDayNano(value))
    }
}

impl Accumulator for Accumulated {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let [array] = values else {
            return exec_err!("an aggregate of intervals takes one argument");
        };
        self.count += (array.len() - array.null_count()) as i64;
        self.add(array)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let value = match (self.which, self.value) {
            (IntervalAggregateKind::Average, Some(total)) => {
                let average = total.divided(self.count as f64);
                Some(average.ok_or_else(|| out_of_range(TimeKind::Interval))?)
            }
            (_, value) => value,
        };
        Self::scalar(value)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![
            Self::scalar(self.value)?,
            ScalarValue::Int64(Some(self.count)),
        ])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [values, counts] = states else {
            return exec_err!("an aggregate of intervals has two parts");
        };
        let counts = counts.as_primitive::<datafusion::arrow::datatypes::Int64Type>();
        self.count += counts.iter().flatten().sum::<i64>();
        self.add(values)
    }
}
