//! A condition on the columns of one schema as one on those of another.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;

/// Replaces every column of `expr`.
pub(super) fn map_columns(
    expr: &Arc<dyn PhysicalExpr>,
    map: impl Fn(&Column) -> Column,
) -> Result<Arc<dyn PhysicalExpr>> {
    let mapped = Arc::clone(expr).transform_down(|node| {
        Ok(match node.downcast_ref::<Column>() {
            Some(column) => Transformed::yes(Arc::new(map(column)) as Arc<dyn PhysicalExpr>),
            None => Transformed::no(node),
        })
    })?;
    Ok(mapped.data)
}
