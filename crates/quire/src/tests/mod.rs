//! Which statements are translated, and that their translations say the same: the naive interpreter's answers are compared with
//! DataFusion's, on small tables.
#![allow(clippy::unwrap_used)]

mod corpus;
mod tally;
mod tpch;

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::common::ScalarValue;
use datafusion::sql::sqlparser::ast::Statement;
use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_exec::plan::{Plan, PlanNode, PlanQuery};
use quire_planner::plan::{Untranslated, translate};
use quire_planner::scalar::{from_planned, is_text};
use quire_sql::parse::{ParsedCommand, parse};
use quire_tables::row_table::Value;
use quire_testkit::plan::{Row, Tables, answer};

use crate::outcome::Outcome;
use crate::sql::query;
use crate::{Connection, Database, DatabaseOptions};

/// A connection to an empty database.
fn connection() -> Connection {
    let options = DatabaseOptions {
        threads: 1,
        ..DatabaseOptions::default()
    };
    Database::in_memory_with(options).unwrap().connect()
}

/// A connection, and the rows of its tables as far as they have been asked for.
struct Fixture {
    connection: Connection,
    tables: Tables,
}

/// What became of a query.
enum Compared {
    /// The database has no answer either.
    Refused,
    Untranslated(Untranslated),
    /// Both answers are the same; or all there is to say is how many rows there are.
    Same,
    Different(String),
}

impl Fixture {
    fn new() -> Self {
        Self {
            connection: connection(),
            tables: HashMap::new(),
        }
    }

    /// Runs a statement that may change tables.
    fn run(&mut self, sql: &str) -> Result<(), Error> {
        self.tables.clear();
        rows_of(&mut self.connection, sql).map(drop)
    }

    /// The translation of a query; an error where there is no plan to translate.
    fn translated(&self, sql: &str) -> Result<Result<PlanQuery, Untranslated>, Error> {
        let ParsedCommand::Statement(statement, _) = parse(sql)? else {
            return Err(Error::new("42601", "no query"));
        };
        let Statement::Query(query) = *statement else {
            return Err(Error::new("42601", "no query"));
        };
        let session = Arc::clone(&self.connection.session);
        let token = CancelToken::default();
        self.connection.session.database.run(async move {
            let snapshot = session.snapshot().await?;
            let planned = query::plan(&session, snapshot, query, &token).await?;
            let optimized = planned.context.state.optimize(&planned.plan)?;
            let options = planned.context.state.config().options();
            Ok(translate(&optimized, options))
        })
    }

    /// Compares the naive answer with the database's.
    fn compare(&mut self, sql: &str) -> Compared {
        let Ok(expected) = rows_of(&mut self.connection, sql) else {
            return Compared::Refused;
        };
        let query = match self.translated(sql) {
            Ok(Ok(query)) => query,
            Ok(Err(untranslated)) => return Compared::Untranslated(untranslated),
            Err(_) => {
                // No query, but it has rows: it may have changed some.
                self.tables.clear();
                return Compared::Refused;
            }
        };
        for plan in query.values.iter().chain([&query.plan]) {
            self.read_tables(plan);
        }
        let found = match answer(&query, &self.tables, &[]) {
            Ok(found) => found,
            Err(error) => return Compared::Different(format!("{error:?}\n{query}")),
        };
        let (expected, found) = (written(&expected), written(&found));
        let is_cut = has_cut(&query.plan) || query.values.iter().any(has_cut);
        // Which of several rows that are alike to an order come first is open.
        if expected == found || (is_cut && expected.len() == found.len()) {
            return Compared::Same;
        }
        Compared::Different(format!("{query}expected {expected:?}\nfound    {found:?}"))
    }

    fn read_tables(&mut self, plan: &Plan) {
        if let PlanNode::Scan(scan) = &plan.node
            && !self.tables.contains_key(&scan.table)
        {
            let sql = format!("SELECT * FROM \"{}\"", scan.table);
            let rows = rows_of(&mut self.connection, &sql).unwrap();
            self.tables.insert(scan.table.clone(), rows);
        }
        for input in plan.node.inputs() {
            self.read_tables(input);
        }
    }
}

fn has_cut(plan: &Plan) -> bool {
    let is_cut = match &plan.node {
        PlanNode::Limit { .. } => true,
        PlanNode::Sort(sort) => sort.fetch.is_some(),
        _ => false,
    };
    is_cut || plan.node.inputs().into_iter().any(has_cut)
}

fn rows_of(connection: &mut Connection, sql: &str) -> Result<Vec<Row>, Error> {
    let mut found = Vec::new();
    if let Outcome::Rows(mut rows) = connection.execute(sql)? {
        while let Some(batch) = rows.next_batch()? {
            for row in 0..batch.num_rows() {
                found.push(row_of(&batch, row)?);
            }
        }
    }
    Ok(found)
}

fn row_of(batch: &RecordBatch, row: usize) -> Result<Row, Error> {
    let value = |column: &ArrayRef| {
        let value = ScalarValue::try_from_array(column, row)?;
        let is_text = is_text(&value.data_type());
        let scalar = from_planned(value).ok_or_else(|| Error::new("0A000", "a type of its own"))?;
        Ok(scalar.into_value(is_text)?)
    };
    batch.columns().iter().map(value).collect()
}

/// Rows in an order of their own; floats, whose last digits depend on the order of adding, rounded.
fn written(rows: &[Row]) -> Vec<String> {
    let value = |value: &Value| match value {
        Value::Double(value) => format!("{:.9e}", value + 0.0),
        Value::Real(value) => format!("{:.5e}", value + 0.0),
        other => format!("{other:?}"),
    };
    let row = |row: &Row| row.iter().map(value).collect::<Vec<_>>().join(" ");
    let mut written: Vec<String> = rows.iter().map(row).collect();
    written.sort();
    written
}

#[test]
fn a_plan_is_shown_with_the_names_of_its_columns() {
    let mut fixture = Fixture::new();
    fixture
        .run("CREATE TABLE sale (item INTEGER PRIMARY KEY, price DECIMAL(10,2), day DATE)")
        .unwrap();
    let sql = "EXPLAIN (ALGEBRA) SELECT day, sum(price) FROM sale WHERE item > 3 \
               GROUP BY day HAVING count(*) > 2 ORDER BY 2 DESC LIMIT 5";
    let rows = rows_of(&mut fixture.connection, sql).unwrap();
    let text: Vec<String> = rows.iter().map(|row| format!("{:?}", row[0])).collect();
    let text = text.join("\n");
    for part in [
        "first 5 by",
        "aggregate:",
        " by day",
        "scan sale: ",
        "item > 3",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let sql = "EXPLAIN (ALGEBRA) SELECT rank() OVER (ORDER BY item) FROM sale";
    let rows = rows_of(&mut fixture.connection, sql).unwrap();
    let expected = Value::Text("not translated: windowaggr".into());
    assert_eq!(rows, [[expected]]);
}
