//! What a change would do, for `EXPLAIN`.

use datafusion::physical_plan::displayable;
use datafusion::sql::sqlparser::ast::Statement;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_sql::reject::not_supported;
use quire_tables::Snapshot;

use super::change_plan::ChangePlan;
use super::changed_rows::ChangedRows;
use super::{change, insert_rows};
use crate::session::{Session, StatementContext};

/// The plan of `INSERT`, `UPDATE` or `DELETE`, a line for each step.
pub(in crate::sql) async fn explain(
    session: &Session,
    snapshot: Snapshot,
    statement: Statement,
    with_programs: bool,
    token: &CancelToken,
) -> Result<String, Error> {
    let changed = match statement {
        Statement::Insert(insert) => {
            return insert_rows::explain(session, snapshot, &insert, with_programs, token).await;
        }
        Statement::Update(update) => ChangedRows::of_update(update, None)?,
        Statement::Delete(delete) => ChangedRows::of_delete(delete, None)?,
        _ => return Err(not_supported("EXPLAIN of such a statement")),
    };
    change::explain(session, snapshot, changed, with_programs, token).await
}

/// The plan of batches that find the rows.
pub(super) async fn of_batches(
    context: &StatementContext,
    planned: &ChangePlan,
    title: &str,
) -> Result<String, Error> {
    let physical = context.physical(&planned.plan).await?;
    let shown = displayable(physical.as_ref()).indent(false);
    Ok(format!("{title}\n{shown}"))
}
