//! Queries of `WITH` that must be asked once, however often they are named.
//!
//! The planner puts the text of a `WITH` query wherever its name stands. Where the query calls a volatile function, every place would
//! have rows of its own, and `nextval` would be called for each. Such a query becomes a table whose rows are computed when the first
//! place reads them.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::sql::sqlparser::ast::{Cte, Expr, Query, Statement, With};
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_planner::optimize::SharedRows;
use quire_sql::names::{folded, last_part};
use quire_sql::parse::parse_query;
use quire_sql::walk::{for_each_expression, for_each_relation};
use quire_tables::Snapshot;

use super::query;
use crate::session::Session;

/// Functions with another value at each call, or with an effect.
const VOLATILE: [&str; 8] = [
    "clock_timestamp",
    "gen_random_uuid",
    "nextval",
    "random",
    "setval",
    "timeofday",
    "uuid",
    "uuidv4",
];

/// Makes tables of the queries of a statement's `WITH` that call such functions.
pub(super) async fn make_tables(
    session: &Session,
    snapshot: &Snapshot,
    statement: &mut Statement,
    tables: &mut HashMap<String, Arc<dyn TableProvider>>,
    token: &CancelToken,
) -> Result<(), Error> {
    let places = match statement {
        Statement::Query(query) => shared_places(query),
        _ => Vec::new(),
    };
    for place in places {
        let Statement::Query(query) = statement else {
            break;
        };
        let Some(with) = &mut query.with else { break };
        let alone = with_those_before(with, place);
        let known = tables.clone();
        let planned = query::plan_with(session, snapshot.clone(), alone, known, token);
        let planned = Box::pin(planned).await?;
        let rows = SharedRows::new(planned.context.state.clone(), planned.plan);
        let cte = &mut with.cte_tables[place];
        let name = format!("{}\u{1f}shared", folded(&cte.alias.name));
        cte.query = parse_query(&format!("SELECT * FROM \"{}\"", name.replace('"', "\"\"")))?;
        tables.insert(name, Arc::new(rows.table()?));
    }
    Ok(())
}

/// The places of the queries to share.
fn shared_places(query: &Query) -> Vec<usize> {
    let Some(with) = query.with.as_ref().filter(|with| !with.recursive) else {
        return Vec::new();
    };
    let is_shared = |cte: &Cte| {
        let mut is_volatile = false;
        for_each_expression(&cte.query, |expr| {
            if let Expr::Function(function) = expr {
                let name = last_part(&function.name);
                is_volatile |= name.is_some_and(|name| VOLATILE.contains(&name.as_str()));
            }
        });
        let name = folded(&cte.alias.name);
        let mut mentions = 0;
        for_each_relation(query, |relation| {
            mentions += usize::from(last_part(relation).is_some_and(|found| found == name));
        });
        // One that is named once may be named by another that is named twice.
        is_volatile && (mentions > 1 || with.cte_tables.len() > 1)
    };
    let ctes = with.cte_tables.iter().enumerate();
    let shared = ctes.filter(|(_, cte)| is_shared(cte));
    shared.map(|(place, _)| place).collect()
}

/// A query of `WITH` as a query of its own, which may name those before it.
fn with_those_before(with: &With, place: usize) -> Box<Query> {
    let mut query = with.cte_tables[place].query.clone();
    let mut before = with.clone();
    before.cte_tables.truncate(place);
    if let Some(own) = query.with.take() {
        before.recursive |= own.recursive;
        before.cte_tables.extend(own.cte_tables);
    }
    query.with = (!before.cte_tables.is_empty()).then_some(before);
    query
}
