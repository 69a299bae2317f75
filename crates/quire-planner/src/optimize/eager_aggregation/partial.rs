//! Aggregates that can be split: a call below the join, and one above it that merges the partial results.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{AggregateUDF, Expr, ExprSchemable, LogicalPlan, lit, when};
use quire_functions::{CheckedSum, MergedAverage};

use super::sum_bounds::{is_bounded, is_sum_bounded};
use crate::scan::is_total_where;

/// An aggregate above a join, one side of which is aggregated below it.
pub(in crate::optimize) enum PartialAggregate {
    /// It reads the aggregated side: `calls` run below the join, `merge` above it.
    OfSide {
        calls: Vec<Expr>,
        merge: Expr,
        /// A group without rows of the side has the count 0, where the merging sum is NULL.
        is_count: bool,
    },
    /// It reads the other side and stays above the join: it does not depend on how often a row occurs.
    OfOther(Expr),
}

impl PartialAggregate {
    /// Splits `call`, which reads the columns of the join. `None` if partial results cannot be merged, if `call` could fail on a row without a match, or
    /// if NULLs that an outer join supplies could count for something.
    pub(in crate::optimize) fn of(
        call: Expr,
        place: usize,
        input: &LogicalPlan,
        is_null_supplied: bool,
    ) -> Result<Option<Self>> {
        let side = input.schema().as_ref();
        let Expr::AggregateFunction(function) = call.unalias() else {
            return Ok(None);
        };
        let name = function.func.name();
        let params = &function.params;
        if params.distinct || !params.order_by.is_empty() || params.null_treatment.is_some() {
            return Ok(None);
        }
        let is_extreme = matches!(name, "min" | "max");
        let expression = Expr::AggregateFunction(function.clone());
        if expression.is_volatile() {
            return Ok(None);
        }
        // Calls that differ above a projection may be the same below it, so each name has a number.
        let shown = expression.schema_name().to_string();
        let merged_name = format!("__merged_{place} {shown}");
        let columns = expression.column_refs();
        if !columns.iter().all(|column| side.has_column(column)) {
            let is_of_other = !columns.iter().any(|column| side.has_column(column));
            let merge = expression.alias(merged_name);
            return Ok((is_extreme && is_of_other).then_some(Self::OfOther(merge)));
        }
        let is_plain = |part: &Expr| matches!(part, Expr::Column(_));
        if !never_fails(&function, input)? || is_null_supplied && !params.args.iter().all(is_plain)
        {
            return Ok(None);
        }
        let Some((calls, merge)) = split(&function, &format!("{place} {shown}"), side)? else {
            return Ok(None);
        };
        Ok(Some(Self::OfSide {
            calls,
            merge: merge.alias(merged_name),
            is_count: name == "count",
        }))
    }

    pub(in crate::optimize) fn is_of_side(&self) -> bool {
        matches!(self, Self::OfSide { .. })
    }

    /// The aggregates below the join.
    pub(in crate::optimize) fn calls(&self) -> &[Expr] {
        match self {
            Self::OfSide { calls, .. } => calls,
            Self::OfOther(_) => &[],
        }
    }

    /// The aggregate above the join.
    pub(in crate::optimize) fn merge(&self) -> Expr {
        let (Self::OfSide { merge, .. } | Self::OfOther(merge)) = self;
        merge.clone()
    }

    /// The columns that the aggregate above the join reads.
    pub(in crate::optimize) fn merged_columns(&self) -> Vec<Column> {
        let (Self::OfSide { merge, .. } | Self::OfOther(merge)) = self;
        merge.column_refs().into_iter().cloned().collect()
    }

    /// The value of the original aggregate, from the column that the merging one returns.
    pub(in crate::optimize) fn result(&self, merged: Column) -> Result<Expr> {
        let merged = Expr::Column(merged);
        match self {
            // Not `coalesce`, which only the simplifier can replace: it may not run again after this rule.
            Self::OfSide { is_count: true, .. } => {
                when(merged.clone().is_null(), lit(0_i64)).otherwise(merged)
            }
            _ => Ok(merged),
        }
    }
}

/// The calls below the join, whose columns have names of their own, and the one above it that merges them. `None` if partial results cannot be merged.
fn split(
    function: &AggregateFunction,
    name: &str,
    side: &DFSchema,
) -> Result<Option<(Vec<Expr>, Expr)>> {
    let expression = || Expr::AggregateFunction(function.clone());
    let merging = match function.func.name() {
        "min" | "max" => Arc::clone(&function.func),
        "count" => sum_of_sums(),
        "avg" => return split_average(function, name, side).map(Some),
        _ if function.func.inner().is::<CheckedSum>()
            && !expression().get_type(side)?.is_floating() =>
        {
            sum_of_sums()
        }
        _ => return Ok(None),
    };
    let partial = Column::new_unqualified(format!("__partial_{name}"));
    let call = expression().alias(partial.name.clone());
    Ok(Some((
        vec![call],
        merging.call(vec![Expr::Column(partial)]),
    )))
}

/// A mean as a count and a sum.
fn split_average(
    function: &AggregateFunction,
    name: &str,
    side: &DFSchema,
) -> Result<(Vec<Expr>, Expr)> {
    let mean = Expr::AggregateFunction(function.clone()).get_type(side)?;
    let sum = Arc::new(AggregateUDF::from(CheckedSum::wide()));
    let partial = |func: Arc<AggregateUDF>, part: &str| {
        let params = function.params.clone();
        let call = Expr::AggregateFunction(AggregateFunction { func, params });
        let column = Column::new_unqualified(format!("__partial_{part}_{name}"));
        (call.alias(column.name.clone()), Expr::Column(column))
    };
    let (counting, count) = partial(count_udaf(), "count");
    let (summing, sum) = partial(sum, "sum");
    let merging = AggregateUDF::from(MergedAverage::new(mean));
    Ok((vec![counting, summing], merging.call(vec![count, sum])))
}

/// Adds up partial sums and counts without changing their type.
fn sum_of_sums() -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::from(CheckedSum::of_sums()))
}

/// Whether a call that reads the columns of `input` cannot raise an error, whatever rows of it there are: below a join it also gets those without a match.
pub(in crate::optimize) fn never_fails(
    call: &AggregateFunction,
    input: &LogicalPlan,
) -> Result<bool> {
    let (params, side) = (&call.params, input.schema().as_ref());
    let mut evaluated = params.args.iter().chain(params.filter.as_deref());
    if !evaluated.all(|part| expression_never_fails(part, input)) {
        return Ok(false);
    }
    let result = || Expr::AggregateFunction(call.clone()).get_type(side);
    Ok(match (call.func.name(), params.args.as_slice()) {
        ("count" | "min" | "max", _) => true,
        ("avg", [averaged]) => {
            let sum = AggregateUDF::from(CheckedSum::wide()).call(params.args.clone());
            has_all_means(&result()?) && can_be_summed(averaged, input, &sum.get_type(side)?)?
        }
        ("stddev" | "stddev_pop" | "var" | "var_pop", [Expr::Cast(cast)]) => {
            // The squares of such numbers are far from infinite.
            let values = cast.expr.get_type(side)?;
            values.is_integer() || values.is_decimal()
        }
        (_, [summed]) if call.func.inner().is::<CheckedSum>() => {
            can_be_summed(summed, input, &result()?)?
        }
        _ => false,
    })
}

/// The same of an expression.
pub(in crate::optimize) fn expression_never_fails(part: &Expr, input: &LogicalPlan) -> bool {
    is_total_where(part, input.schema(), &|part| is_bounded(part, input))
}

/// Whether a sum of `summed` values never overflows. Sums of floats are excluded: they may become infinite, and each sum of sums would be rounded
/// in another way.
fn can_be_summed(summed: &Expr, input: &LogicalPlan, sum: &DataType) -> Result<bool> {
    let values = summed.get_type(input.schema())?;
    let holds_any = match sum {
        DataType::Int64 => matches!(values, DataType::Int16 | DataType::Int32),
        DataType::Decimal128(precision, _) => {
            values.is_integer() || *precision < DECIMAL128_MAX_PRECISION
        }
        _ => false,
    };
    Ok(holds_any || is_sum_bounded(summed, input, sum))
}

/// Whether the mean of values of some type is of this type whatever they are.
fn has_all_means(mean: &DataType) -> bool {
    match mean {
        DataType::Float64 => true,
        DataType::Decimal128(precision, _) => *precision < DECIMAL128_MAX_PRECISION,
        _ => false,
    }
}
