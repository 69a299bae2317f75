//! Aggregates that are computed of groups: a call over rows, and one that merges its results.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::{AggregateUDF, Expr, ExprSchemable, lit, when};
use quire_functions::CheckedSum;

use crate::scan::is_total;

/// What an aggregate over a join becomes when one side is grouped before.
pub(super) enum PartialAggregate {
    /// It is computed of rows of the side, and merged.
    OfSide {
        call: Expr,
        merge: Expr,
        /// Groups without rows of the side have 0, not NULL.
        is_count: bool,
    },
    /// It stays where it is: how often it meets a row of the other side does not matter.
    OfOther(Expr),
}

impl PartialAggregate {
    /// `call` reads the columns of the join. `None` if its result cannot be merged, if it could fail on a row that has no partner, or if it could
    /// be another one for a partner without a row of the side.
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
        // Two calls may have become the same, so each name has a number.
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

    /// The aggregate over the rows of the side.
    pub(super) fn call(&self) -> Option<Expr> {
        match self {
            Self::OfSide { call, .. } => Some(call.clone()),
            Self::OfOther(_) => None,
        }
    }

    /// The aggregate over the joined groups.
    pub(super) fn merge(&self) -> Expr {
        let (Self::OfSide { merge, .. } | Self::OfOther(merge)) = self;
        merge.clone()
    }

    /// The columns that it reads.
    pub(super) fn merged_columns(&self) -> Vec<Column> {
        let (Self::OfSide { merge, .. } | Self::OfOther(merge)) = self;
        merge.column_refs().into_iter().cloned().collect()
    }

    /// The value of the aggregate, of the column that the merge makes.
    pub(super) fn result(&self, merged: Column) -> Result<Expr> {
        let merged = Expr::Column(merged);
        match self {
            // No function: simplification, which replaces `coalesce`, may not come again.
            Self::OfSide { is_count: true, .. } => {
                when(merged.clone().is_null(), lit(0_i64)).otherwise(merged)
            }
            _ => Ok(merged),
        }
    }
}

/// Sums and counts are added up without a change of their type.
fn sum_of_sums() -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::from(CheckedSum::of_sums()))
}

/// Whether a sum of any rows that may exist has its type, so that the sum of rows without a partner does no harm. That of floats is computed exactly and
/// rounded once, which sums of rounded sums are not.
fn can_be_summed(summed: Option<DataType>, sum: &DataType) -> bool {
    match (summed, sum) {
        (Some(summed), DataType::Int64) => matches!(summed, DataType::Int16 | DataType::Int32),
        (Some(summed), DataType::Decimal128(precision, _)) => {
            summed.is_integer() || *precision < DECIMAL128_MAX_PRECISION
        }
        _ => false,
    }
}
