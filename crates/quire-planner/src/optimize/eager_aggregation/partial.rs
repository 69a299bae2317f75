//! Aggregates that can be split: a call below the join, and one above it that merges the partial results.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::{AggregateUDF, Expr, ExprSchemable, lit, when};
use quire_functions::CheckedSum;

use crate::scan::is_total;

/// An aggregate above a join, one side of which is aggregated below it.
pub(super) enum PartialAggregate {
    /// It reads the aggregated side: `call` runs below the join, `merge` above it.
    OfSide {
        call: Expr,
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
    pub(super) fn of(
        call: Expr,
        place: usize,
        side: &DFSchema,
        is_null_supplied: bool,
    ) -> Result<Option<Self>> {
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
        let mut evaluated = params.args.iter().chain(params.filter.as_deref());
        if !evaluated.all(|part| is_total(part, side)) {
            return Ok(None);
        }
        let is_plain = |part: &Expr| matches!(part, Expr::Column(_));
        if is_null_supplied && !params.args.iter().all(is_plain) {
            return Ok(None);
        }
        let merging = match name {
            "min" | "max" => Some(Arc::clone(&function.func)),
            "count" => Some(sum_of_sums()),
            _ if function.func.inner().is::<CheckedSum>() => {
                let summed = params.args.first().map(|part| part.get_type(side));
                can_be_summed(summed.transpose()?, &expression.get_type(side)?).then(sum_of_sums)
            }
            _ => None,
        };
        let is_count = name == "count";
        Ok(merging.map(|merging| {
            let partial = Column::new_unqualified(format!("__partial_{place} {shown}"));
            let call = expression.alias(partial.name.clone());
            let merge = merging.call(vec![Expr::Column(partial)]);
            Self::OfSide {
                call,
                merge: merge.alias(merged_name),
                is_count,
            }
        }))
    }

    pub(super) fn is_of_side(&self) -> bool {
        matches!(self, Self::OfSide { .. })
    }

    /// The aggregate below the join.
    pub(super) fn call(&self) -> Option<Expr> {
        match self {
            Self::OfSide { call, .. } => Some(call.clone()),
            Self::OfOther(_) => None,
        }
    }

    /// The aggregate above the join.
    pub(super) fn merge(&self) -> Expr {
        let (Self::OfSide { merge, .. } | Self::OfOther(merge)) = self;
        merge.clone()
    }

    /// The columns that the aggregate above the join reads.
    pub(super) fn merged_columns(&self) -> Vec<Column> {
        let (Self::OfSide { merge, .. } | Self::OfOther(merge)) = self;
        merge.column_refs().into_iter().cloned().collect()
    }

    /// The value of the original aggregate, from the column that the merging one returns.
    pub(super) fn result(&self, merged: Column) -> Result<Expr> {
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

/// Adds up partial sums and counts without changing their type.
fn sum_of_sums() -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::from(CheckedSum::of_sums()))
}

/// Whether a sum of `summed` values never overflows, so that rows without a match cannot raise an error. Sums of floats are excluded: they are computed
/// exactly and rounded once, which a sum of rounded sums is not.
fn can_be_summed(summed: Option<DataType>, sum: &DataType) -> bool {
    match (summed, sum) {
        (Some(summed), DataType::Int64) => matches!(summed, DataType::Int16 | DataType::Int32),
        (Some(summed), DataType::Decimal128(precision, _)) => {
            summed.is_integer() || *precision < DECIMAL128_MAX_PRECISION
        }
        _ => false,
    }
}
