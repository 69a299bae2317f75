//! Queries whose plan is known: see [`crate::plan_cache`].

use std::collections::HashMap;

use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::ast::Query;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_functions::ExecutorChoice;
use quire_planner::repeatable::{RepeatablePlan, SnapshotTable};
use quire_tables::Snapshot;

use super::planned_query::PlannedQuery;
use crate::plan_cache::{KnownPlan, PlanKey};
use crate::session::Session;

/// What a plan of the query depends on; `None` if none is to be kept.
pub(super) fn key_of(
    session: &Session,
    snapshot: &Snapshot,
    query: &Query,
    executor: ExecutorChoice,
) -> Option<PlanKey> {
    let is_kept = session.planner_options().plan_cache
        && executor != ExecutorChoice::Tuples
        && !session.has_external_tables();
    let settings = session.settings().planner_fingerprint();
    is_kept.then(|| PlanKey::new(query, settings, snapshot.schema_version()))
}

/// The query, planned for the tables of a snapshot; `None` if no plan is known for them. A transaction does not evict a plan that it cannot use, as it
/// may see its own rows, or old ones, and other sessions still use the plan.
pub(super) fn find(
    session: &Session,
    snapshot: &Snapshot,
    key: &PlanKey,
    is_in_transaction: bool,
    token: &CancelToken,
) -> Result<Option<PlannedQuery>, Error> {
    let plans = &session.database.plans;
    let Some(known) = plans.find(key) else {
        return Ok(None);
    };
    let table = |name: &str| {
        if let Some(table) = snapshot.row_table(name).map_err(Error::from)? {
            return Ok(Some(SnapshotTable::Rows(table)));
        }
        let table = snapshot.table(name).map_err(Error::from)?;
        Ok(table.map(SnapshotTable::Columns))
    };
    let Some(plan) = known.plan.bound(table, &session.planner_options())? else {
        if !is_in_transaction {
            plans.forget(key);
        }
        return Ok(None);
    };
    let mut context = session.statement_asking(snapshot.clone(), HashMap::new(), None, token)?;
    context.count_work(token.work());
    Ok(Some(PlannedQuery {
        context,
        plan,
        names: known.names.clone(),
        json: known.json.clone(),
    }))
}

/// Keeps the optimized plan of a query, if it will be the same again.
pub(super) fn keep(
    session: &Session,
    key: PlanKey,
    planned: &PlannedQuery,
    optimized: &LogicalPlan,
) -> Result<(), Error> {
    if let Some(plan) = RepeatablePlan::of(&planned.plan, optimized)? {
        session.database.plans.add(KnownPlan {
            key,
            plan,
            names: planned.names.clone(),
            json: planned.json.clone(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use quire_sql::parse::parse_query;

    use super::*;
    use crate::{Connection, Database};

    fn run(connection: &mut Connection, sql: &str) {
        if let crate::Outcome::Rows(mut rows) = connection.execute(sql).unwrap() {
            while rows.next_batch().unwrap().is_some() {}
        }
    }

    /// Whether a plan of the query is kept.
    fn is_kept(connection: &Connection, sql: &str) -> bool {
        let session = std::sync::Arc::clone(&connection.session);
        let database = std::sync::Arc::clone(&session.database);
        let query = parse_query(sql).unwrap();
        let kept = async move {
            let snapshot = session.snapshot().await?;
            let key = key_of(&session, &snapshot, &query, ExecutorChoice::Cheaper);
            Ok(key.is_some_and(|key| session.database.plans.find(&key).is_some()))
        };
        database.run(kept).unwrap()
    }

    #[test]
    fn plans_are_kept_as_long_as_they_mean_the_same() {
        let database = Database::in_memory().unwrap();
        let mut connection = database.connect();
        for (sql, expected) in [
            (
                "CREATE TABLE c AS SELECT i FROM generate_series(1, 9) AS g(i)",
                None,
            ),
            ("CREATE TABLE r (i INTEGER PRIMARY KEY)", None),
            ("SELECT count(*) FROM c", Some(true)),
            (
                "SELECT a.i FROM c AS a JOIN c AS b ON a.i = b.i + 1",
                Some(true),
            ),
            // Compiled by itself.
            ("SELECT count(*) FROM r", Some(false)),
            (
                "SELECT a.i FROM r AS a JOIN r AS b ON a.i = b.i",
                Some(true),
            ),
            ("SELECT c.i FROM c JOIN r ON c.i = r.i", Some(true)),
            ("SELECT max(i + random()) FROM c", Some(false)),
            ("SELECT now(), i FROM c", Some(false)),
            ("INSERT INTO c VALUES (10)", None),
            ("SELECT min(i) FROM c", Some(false)),
            ("VACUUM c", None),
            ("SELECT min(i) FROM c", Some(true)),
            ("BEGIN", None),
            ("SELECT min(i + 1) FROM c", Some(true)),
            ("CREATE VIEW v AS SELECT 1", None),
            ("SELECT min(i + 2) FROM c", Some(false)),
            ("ROLLBACK", None),
            ("SELECT min(i + 2) FROM c", Some(true)),
            ("BEGIN", None),
            ("INSERT INTO c VALUES (11)", None),
            ("SELECT min(i + 3) FROM c", Some(false)),
            ("ROLLBACK", None),
        ] {
            run(&mut connection, sql);
            if let Some(expected) = expected {
                assert_eq!(is_kept(&connection, sql), expected, "{sql}");
            }
        }
    }
}
