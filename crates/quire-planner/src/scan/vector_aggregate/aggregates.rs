//! The aggregates of an operator as totals of registers, and the partial states that they come to.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Date32Array, Decimal128Array, Decimal256Array, Int16Array, Int32Array, Int64Array,
    TimestampMicrosecondArray,
};
use datafusion::arrow::buffer::{NullBuffer, ScalarBuffer};
use datafusion::arrow::datatypes::{ArrowNativeType, DataType, TimeUnit, i256};
use datafusion::common::{Result, exec_datafusion_err};
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_expr::expressions::Literal;

use super::input::AggregateInput;
use super::program::{TypedRegister, VectorProgram};

/// What is known of the values of one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TotalKind {
    Count,
    Sum,
    Minimum,
    Maximum,
}

/// One total.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VectorTotal {
    pub(super) kind: TotalKind,
    /// What it is of; a count has none.
    pub(super) register: Option<usize>,
    /// Columns of the table that have NULLs, none of which may be NULL in a row that counts. Without one all rows count.
    pub(super) nullable: Vec<usize>,
}

/// How a partial state is made of a total.
#[derive(Clone, Copy, Debug)]
enum StateForm {
    Count,
    Sum,
    /// The count and the sum.
    Mean,
    Extreme,
}

/// All aggregates of an operator.
#[derive(Clone, Debug, Default)]
pub(super) struct VectorAggregates {
    pub(super) program: VectorProgram,
    pub(super) totals: Vec<VectorTotal>,
    states: Vec<(usize, StateForm)>,
    /// The largest absolute value that is summed up.
    pub(super) summand_max: i64,
}

/// The count and the value of a total in one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupTotal {
    pub(super) count: i64,
    /// Without a meaning where the count is zero.
    pub(super) value: i128,
}

/// Sums of this many rows have to fit 64 bits: those of a vector group.
const SUMMED_ROWS_MIN: i64 = 8192;

impl GroupTotal {
    /// Zero if no row had a value.
    fn value_or_zero(&self) -> i128 {
        if self.count > 0 { self.value } else { 0 }
    }
}

impl VectorAggregates {
    /// Takes in an aggregate. `None` if its states cannot be made of totals.
    pub(super) fn add(
        &mut self,
        input: &AggregateInput<'_>,
        aggregate: &AggregateFunctionExpr,
    ) -> Option<()> {
        let is_plain = !aggregate.is_distinct()
            && !aggregate.ignore_nulls()
            && aggregate.order_bys().is_empty();
        let arguments = aggregate.expressions();
        let [argument] = arguments.as_slice() else {
            return None;
        };
        let fields = aggregate.state_fields().ok().filter(|_| is_plain)?;
        let types: Vec<&DataType> = fields.iter().map(|field| field.data_type()).collect();
        let name = aggregate.fun().name();
        if name == "count" && types == [&DataType::Int64] {
            let constant = argument.downcast_ref::<Literal>();
            let total = match constant.filter(|literal| !literal.value().is_null()) {
                Some(_) => self.total(input, TotalKind::Count, None),
                None => {
                    let register = self.program.add(input, argument, input.top())?;
                    self.total(input, TotalKind::Count, Some(&register))
                }
            };
            self.states.push((total, StateForm::Count));
            return Some(());
        }
        let value = self.program.add(input, argument, input.top())?;
        let (kind, form) = match (name, types.as_slice()) {
            ("checked_sum", [DataType::Decimal128(_, scale)]) if *scale == scale_of(&value) => {
                (TotalKind::Sum, StateForm::Sum)
            }
            ("avg", [DataType::Int64, DataType::Decimal256(_, scale)])
                if *scale == scale_of(&value) =>
            {
                (TotalKind::Sum, StateForm::Mean)
            }
            ("min", [same]) if **same == value.data_type => {
                (TotalKind::Minimum, StateForm::Extreme)
            }
            ("max", [same]) if **same == value.data_type => {
                (TotalKind::Maximum, StateForm::Extreme)
            }
            _ => return None,
        };
        if kind == TotalKind::Sum {
            self.bound_summands(&value)?;
        }
        let total = self.total(input, kind, Some(&value));
        self.states.push((total, form));
        Some(())
    }

    fn bound_summands(&mut self, value: &TypedRegister) -> Option<()> {
        if !matches!(
            value.data_type,
            DataType::Int16 | DataType::Int32 | DataType::Int64 | DataType::Decimal128(..)
        ) {
            return None;
        }
        let largest = value
            .range
            .start()
            .unsigned_abs()
            .max(value.range.end().unsigned_abs());
        let largest = i64::try_from(largest).ok()?;
        self.summand_max = self.summand_max.max(largest);
        largest.checked_mul(SUMMED_ROWS_MIN).map(|_| ())
    }

    fn total(
        &mut self,
        input: &AggregateInput<'_>,
        kind: TotalKind,
        value: Option<&TypedRegister>,
    ) -> usize {
        let mut nullable = Vec::new();
        if let Some(value) = value {
            self.program.add_columns(value.register, &mut nullable);
        }
        nullable.retain(|column| input.has_nulls(*column));
        let register = value.map(|value| value.register);
        let total = VectorTotal {
            kind,
            register: register.filter(|_| kind != TotalKind::Count),
            nullable,
        };
        if let Some(known) = self.totals.iter().position(|known| *known == total) {
            return known;
        }
        self.totals.push(total);
        self.totals.len() - 1
    }

    /// How many rows may be summed up in 64 bits.
    pub(super) fn summed_rows(&self) -> usize {
        usize::try_from(i64::MAX / self.summand_max.max(1)).unwrap_or(usize::MAX)
    }

    /// The partial states of groups, as arrays of these types. `totals` has each total of all groups.
    pub(super) fn states(
        &self,
        totals: &[&[GroupTotal]],
        types: &[&DataType],
    ) -> Result<Vec<ArrayRef>> {
        let mut types = types.iter();
        let mut arrays = Vec::new();
        let mut push = |values: Vec<i128>, nulls: Option<NullBuffer>| -> Result<()> {
            let data_type = types.next();
            let array = data_type.and_then(|one| integer_array(one, values, nulls));
            arrays.push(array.ok_or_else(|| exec_datafusion_err!("no such partial state"))?);
            Ok(())
        };
        for (total, form) in &self.states {
            let totals = totals.get(*total).copied().unwrap_or_default();
            let counts = || totals.iter().map(|one| i128::from(one.count)).collect();
            let values = totals.iter().map(GroupTotal::value_or_zero).collect();
            match form {
                StateForm::Count => push(counts(), None)?,
                StateForm::Sum | StateForm::Extreme => push(values, nulls_of(totals))?,
                StateForm::Mean => {
                    push(counts(), None)?;
                    push(values, None)?;
                }
            }
        }
        Ok(arrays)
    }
}

/// Digits behind the point.
fn scale_of(value: &TypedRegister) -> i8 {
    match value.data_type {
        DataType::Decimal128(_, scale) => scale,
        _ => 0,
    }
}

/// Which groups have no value; nothing if all have one.
fn nulls_of(totals: &[GroupTotal]) -> Option<NullBuffer> {
    let has_value = |total: &GroupTotal| total.count > 0;
    let all_have = totals.iter().all(has_value);
    (!all_have).then(|| totals.iter().map(has_value).collect())
}

/// Stored integers as an array of a type; `None` if it has no such values. Those in the place of NULLs are zero.
pub(super) fn integer_array(
    data_type: &DataType,
    values: Vec<i128>,
    nulls: Option<NullBuffer>,
) -> Option<ArrayRef> {
    fn narrow<T: ArrowNativeType + TryFrom<i128>>(values: &[i128]) -> Option<ScalarBuffer<T>> {
        let values = values.iter().map(|value| T::try_from(*value).ok());
        values.collect::<Option<Vec<T>>>().map(ScalarBuffer::from)
    }
    Some(match data_type {
        DataType::Int16 => Arc::new(Int16Array::new(narrow(&values)?, nulls)),
        DataType::Int32 => Arc::new(Int32Array::new(narrow(&values)?, nulls)),
        DataType::Int64 => Arc::new(Int64Array::new(narrow(&values)?, nulls)),
        DataType::Date32 => Arc::new(Date32Array::new(narrow(&values)?, nulls)),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            let array = TimestampMicrosecondArray::new(narrow(&values)?, nulls);
            Arc::new(array.with_timezone_opt(zone.clone()))
        }
        DataType::Decimal128(precision, scale) => {
            let array = Decimal128Array::new(values.into(), nulls);
            Arc::new(array.with_precision_and_scale(*precision, *scale).ok()?)
        }
        DataType::Decimal256(precision, scale) => {
            let wide = values.into_iter().map(i256::from_i128);
            let array = Decimal256Array::new(wide.collect::<Vec<_>>().into(), nulls);
            Arc::new(array.with_precision_and_scale(*precision, *scale).ok()?)
        }
        _ => return None,
    })
}
