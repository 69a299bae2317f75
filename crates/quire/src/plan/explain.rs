//! `EXPLAIN (ALGEBRA)`: the query in the engine's algebra; `EXPLAIN (AVM)`: the iterators and programs that it becomes. Or why it has none.

use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::logical_expr::LogicalPlan;

use quire_engine::iterators::{TupleQuery, TupleQueryError};
use quire_engine::{RowTable, Snapshot};

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
    shown("algebra", &text)
}

/// The same for the iterators of the tuple engine and their programs.
pub(crate) fn programs(
    context: &StatementContext,
    plan: &LogicalPlan,
    snapshot: &Snapshot,
) -> Result<Outcome, Error> {
    let optimized = context.state.optimize(plan)?;
    let options = context.state.config().options();
    let tables = |name: &str| -> Option<Arc<RowTable>> { snapshot.row_table(name).ok()? };
    let text = match translate(&optimized, options) {
        Ok(query) => match TupleQuery::explained(&query, &tables) {
            Ok(text) => text,
            Err(TupleQueryError::Build(error)) => format!("left to batches: {error}"),
            Err(error) => return Err(error.into()),
        },
        Err(untranslated) => format!("left to batches: not translated: {untranslated}"),
    };
    shown("avm", &text)
}

fn shown(name: &str, text: &str) -> Result<Outcome, Error> {
    let schema = Schema::new(vec![Field::new(name, DataType::Utf8View, false)]);
    let lines = StringViewArray::from_iter_values(text.lines());
    let batch = RecordBatch::try_new(Arc::new(schema), vec![Arc::new(lines)])?;
    Ok(Outcome::Rows(Rows::ready(batch)))
}
