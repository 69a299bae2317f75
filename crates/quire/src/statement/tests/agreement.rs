//! The same statements on both paths.

use quire_error::Error;
use quire_exec::plan::Environment;
use quire_tables::row_table::Value;

use super::memory::MemoryRows;
use super::random::{Random, condition, key_condition, number, row, string, written};
use super::{compiled, table, texts};
use crate::outcome::Outcome;
use crate::statement::execute::Executed;
use crate::{Connection, Database, DatabaseOptions};

const ROWS: i64 = 40;

/// Rows in memory, and a connection to a table with the same rows.
fn fixture(random: &mut Random) -> (MemoryRows, Connection) {
    let rows: Vec<Vec<Value>> = (0..ROWS).map(|id| row(random, id)).collect();
    let options = DatabaseOptions {
        threads: 1,
        ..DatabaseOptions::default()
    };
    let mut connection = Database::in_memory_with(options).unwrap().connect();
    let create = "CREATE TABLE x (id INTEGER NOT NULL, s SMALLINT, b BIGINT, d DECIMAL(10,2), \
                  f DOUBLE PRECISION, r REAL, t TEXT, v VARCHAR(10), day DATE, at TIMESTAMP, ok BOOLEAN)";
    connection.execute(create).unwrap();
    for row in &rows {
        let values = row
            .iter()
            .enumerate()
            .map(|(column, value)| written(value, column));
        let values = values.collect::<Vec<_>>().join(", ");
        let insert = format!("INSERT INTO x VALUES ({values})");
        connection
            .execute(&insert)
            .unwrap_or_else(|error| panic!("{insert}\n{error}"));
    }
    let keys = table().keys;
    (MemoryRows { rows, keys }, connection)
}

type Answer = Result<(Vec<String>, Vec<Vec<String>>), Error>;

fn general(connection: &mut Connection, sql: &str) -> Answer {
    let Outcome::Rows(mut rows) = connection.execute(sql)? else {
        panic!("{sql} has no rows");
    };
    let names = shown(&rows.schema());
    let mut batches = Vec::new();
    while let Some(batch) = rows.next_batch()? {
        batches.push(batch);
    }
    Ok((names, texts(&batches)))
}

fn shown(schema: &datafusion::arrow::datatypes::Schema) -> Vec<String> {
    let fields = schema.fields().iter();
    fields
        .map(|field| format!("{} {}", field.name(), field.data_type()))
        .collect()
}

/// The compiled path's answer; `None` when it does not cover the statement.
fn direct(rows: &mut MemoryRows, sql: &str) -> Option<Answer> {
    let statement = compiled(sql, &table(), Vec::new())?;
    let schema = statement.schema().unwrap().clone();
    Some(
        statement
            .execute(rows, &Environment::new(&[]))
            .map(|executed| match executed {
                Executed::Rows(rows) => {
                    (shown(&schema), texts(&[rows.to_batch(&schema, 0).unwrap()]))
                }
                other => panic!("{other:?}"),
            }),
    )
}

/// Compares both paths; says whether the statement was covered and had rows.
fn compare(rows: &mut MemoryRows, connection: &mut Connection, sql: &str, is_ordered: bool) -> u32 {
    let Some(direct) = direct(rows, sql) else {
        return 0;
    };
    match (direct, general(connection, sql)) {
        (Ok((names, mut rows)), Ok((expected_names, mut expected))) => {
            if !is_ordered {
                rows.sort();
                expected.sort();
            }
            assert_eq!((&names, &rows), (&expected_names, &expected), "{sql}");
            1
        }
        (Err(error), Err(expected)) => {
            assert_eq!(
                error.sqlstate(),
                expected.sqlstate(),
                "{sql}\n{error}\n{expected}"
            );
            1
        }
        // The general path computes whole batches: also what AND, OR or LIMIT would have left out.
        (Ok(_), Err(_)) => 1,
        (Err(error), Ok(_)) => panic!("{sql}\nfails only when compiled: {error}"),
    }
}

fn seeds() -> std::ops::Range<u64> {
    0..std::env::var("STATEMENT_SEEDS").map_or(3, |seeds| seeds.parse().unwrap())
}

#[test]
fn queries_agree() {
    for seed in seeds() {
        let mut random = Random(seed);
        let (mut rows, mut connection) = fixture(&mut random);
        let mut covered = 0;
        for _ in 0..150 {
            let items = (0..=random.below(2)).map(|_| match random.below(4) {
                0 => string(&mut random, 2),
                1 => condition(&mut random, 2),
                _ => number(&mut random, 2),
            });
            let items: Vec<String> = items.collect();
            let mut filter = key_condition(&mut random);
            if random.below(2) == 0 {
                filter = format!("{filter} AND {}", condition(&mut random, 2));
            }
            let sql = format!("SELECT id, {} FROM x WHERE {filter}", items.join(", "));
            covered += compare(&mut rows, &mut connection, &sql, false);
        }
        assert!(covered > 75, "only {covered} of 150 statements are covered");
    }
}

#[test]
fn orders_limits_and_aggregates_agree() {
    for seed in seeds() {
        let mut random = Random(seed + 1000);
        let (mut rows, mut connection) = fixture(&mut random);
        let mut covered = 0;
        for _ in 0..100 {
            let filter = key_condition(&mut random);
            let (limit, offset) = (random.below(9), random.below(4));
            let (sql, is_ordered) = match random.below(8) {
                0 => (
                    format!("SELECT * FROM x WHERE {filter} ORDER BY id DESC LIMIT {limit}"),
                    true,
                ),
                1 => (
                    format!("SELECT id, s, b FROM x WHERE {filter} ORDER BY s, b DESC, id"),
                    true,
                ),
                2 => (
                    format!(
                        "SELECT id FROM x WHERE {filter} ORDER BY s DESC, b, id LIMIT {limit} OFFSET {offset}"
                    ),
                    true,
                ),
                3 => (
                    format!("SELECT DISTINCT t FROM x WHERE {filter} ORDER BY t"),
                    true,
                ),
                4 => (format!("SELECT DISTINCT s, d FROM x WHERE {filter}"), false),
                5 => (
                    format!(
                        "SELECT count(*), count(t), sum(s), sum(b), sum(d), min(t), max(day) FROM x WHERE {filter}"
                    ),
                    true,
                ),
                6 => (
                    format!(
                        "SELECT sum(s * 2), min(d) + 1, max(b), count(*) % 3 FROM x WHERE {filter} AND {}",
                        condition(&mut random, 1)
                    ),
                    true,
                ),
                _ => (
                    format!(
                        "SELECT id, v AS t FROM x AS y WHERE {filter} ORDER BY t NULLS FIRST, id LIMIT {limit}"
                    ),
                    true,
                ),
            };
            covered += compare(&mut rows, &mut connection, &sql, is_ordered);
        }
        assert!(covered > 70, "only {covered} of 100 statements are covered");
    }
}
