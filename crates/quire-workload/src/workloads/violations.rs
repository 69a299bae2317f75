//! Does a condition of consistency hold, and if not, which rows violate it?

use crate::{ConditionOutcome, SessionError, SqlValue, WorkloadSession};

/// A condition that holds if a query finds no rows. The query has a limit of its own.
pub(super) fn none_found(
    session: &mut dyn WorkloadSession,
    name: impl Into<String>,
    sql: &str,
    parameters: &[SqlValue],
) -> Result<ConditionOutcome, SessionError> {
    let rows = session.query(sql, parameters)?;
    let shown: Vec<String> = rows
        .iter()
        .map(|row| {
            let values: Vec<String> = row.iter().map(SqlValue::to_string).collect();
            format!("({})", values.join(", "))
        })
        .collect();
    let finding = if rows.is_empty() {
        "no row violates it".into()
    } else {
        format!("violated by {}", shown.join(", "))
    };
    Ok(ConditionOutcome {
        name: name.into(),
        holds: rows.is_empty(),
        finding,
    })
}

/// The condition that no two rows of a table have the same key.
pub(super) fn unique_keys(
    session: &mut dyn WorkloadSession,
    table: &str,
    key: &[&'static str],
) -> Result<ConditionOutcome, SessionError> {
    let columns = key.join(", ");
    let sql = format!(
        "SELECT {columns}, count(*) FROM {table} GROUP BY {columns} HAVING count(*) > 1 LIMIT 3"
    );
    none_found(
        session,
        format!("keys {columns} of {table} are unique"),
        &sql,
        &[],
    )
}

/// The condition that two numbers are the same.
pub(super) fn equal(name: &str, found: i64, expected: i64) -> ConditionOutcome {
    ConditionOutcome {
        name: name.into(),
        holds: found == expected,
        finding: format!("{found} for {expected}"),
    }
}
