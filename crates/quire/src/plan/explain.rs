//! `EXPLAIN (ALGEBRA)`: the query in the engine's algebra, or why it has none.

use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::logical_expr::LogicalPlan;

use super::translate;
use crate::error::Error;
use crate::outcome::{Outcome, Rows};
use crate::session::StatementContext;

/// A line per row.
pub(crate) fn explained(context: &StatementContext, plan: &LogicalPlan) -> Result<Outcome, Error> {
    let optimized = context.state.optimize(plan)?;
    let options = context.state.config().options();
    let text = match translate(&optimized, options) {
        Ok(query) => query.to_string(),
        Err(untranslated) => format!("not translated: {untranslated}"),
    };
    let schema = Schema::new(vec![Field::new("algebra", DataType::Utf8View, false)]);
    let lines = StringViewArray::from_iter_values(text.lines());
    let batch = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(lines)])?;
    Ok(Outcome::Rows(Rows::ready(batch)))
}
