//! What a change would do, for `EXPLAIN`.

use datafusion::sql::sqlparser::ast::Statement;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_exec::explained::ExplainedOperator;
use quire_sql::reject::not_supported;
use quire_tables::Snapshot;

use super::changed_rows::ChangedRows;
use super::{change, insert_rows};
use crate::session::Session;

/// The plan of `INSERT`, `UPDATE` or `DELETE`.
pub(in crate::sql) async fn explain(
    session: &Session,
    snapshot: Snapshot,
    statement: Statement,
    with_programs: bool,
    token: &CancelToken,
) -> Result<ExplainedOperator, Error> {
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
