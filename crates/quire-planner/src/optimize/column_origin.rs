//! Where the values of a plan's columns come from.

use datafusion::common::Column;
use datafusion::logical_expr::{Expr, LogicalPlan, TableScan};

/// The column of a scan whose values a column of a plan has. A plan may drop values, and may have NULL in their place.
pub(super) struct ColumnOrigin<'p> {
    pub(super) scan: &'p TableScan,
    pub(super) name: String,
    /// Whether a row of the scan may come several times.
    pub(super) is_repeated: bool,
}

/// `None` for what is computed, and where it is not known.
pub(super) fn column_origin<'p>(
    plan: &'p LogicalPlan,
    column: &Column,
) -> Option<ColumnOrigin<'p>> {
    let place = plan.schema().maybe_index_of_column(column)?;
    match plan {
        LogicalPlan::TableScan(scan) => Some(ColumnOrigin {
            scan,
            name: column.name.clone(),
            is_repeated: false,
        }),
        LogicalPlan::Filter(filter) => column_origin(&filter.input, column),
        LogicalPlan::SubqueryAlias(alias) => {
            let below = alias.input.schema().qualified_field(place);
            column_origin(&alias.input, &Column::from(below))
        }
        LogicalPlan::Projection(projection) => match projection.expr.get(place)? {
            Expr::Column(below) => column_origin(&projection.input, below),
            _ => None,
        },
        LogicalPlan::Join(join) => {
            let mut sides = [&join.left, &join.right].into_iter();
            let side = sides.find(|side| side.schema().has_column(column))?;
            let origin = column_origin(side, column)?;
            Some(ColumnOrigin {
                is_repeated: true,
                ..origin
            })
        }
        _ => None,
    }
}
