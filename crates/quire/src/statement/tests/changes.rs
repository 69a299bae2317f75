//! Insertions, updates and deletions over rows in memory.

use quire_error::Error;
use quire_exec::plan::Environment;
use quire_tables::row_table::Value;

use super::memory::MemoryRows;
use super::random::{Random, row};
use super::{compiled, table};
use crate::result_rows::ResultRows;
use crate::statement::execute::Executed;
use crate::statement::table::{DefaultValue, RowTableSchema};
use crate::value_ref::ValueRef;

fn rows() -> MemoryRows {
    let mut random = Random(7);
    MemoryRows {
        rows: (0..10).map(|id| row(&mut random, id)).collect(),
        keys: table().keys,
    }
}

fn run(
    table: &RowTableSchema,
    rows: &mut MemoryRows,
    sql: &str,
) -> Result<(u64, Vec<Value>), Error> {
    let statement =
        compiled(sql, table, Vec::new()).unwrap_or_else(|| panic!("not covered: {sql}"));
    match statement.execute(rows, &Environment::new(&[]))? {
        Executed::Changed(count, returned) => {
            let values = returned.iter().flat_map(ResultRows::values);
            Ok((count, values.map(ValueRef::to_value).collect()))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn updates_change_what_they_say() {
    let (table, mut rows) = (table(), rows());
    rows.rows[3][1] = Value::Integer(5);
    let sql = "UPDATE x SET s = s + 1, b = s, d = 1.255 WHERE id = 3 RETURNING id, s, b, d";
    let (count, returned) = run(&table, &mut rows, sql).unwrap();
    let expected = vec![
        Value::Integer(3),
        Value::Integer(6),
        Value::Integer(5),
        Value::Decimal(126.into()),
    ];
    assert_eq!((count, &returned), (1, &expected));
    assert_eq!(rows.rows[3][1], Value::Integer(6));
    let error = run(
        &table,
        &mut rows,
        "UPDATE x SET s = 40000 WHERE id IN (3, 4)",
    )
    .unwrap_err();
    assert_eq!(error.sqlstate(), "22003");
}

#[test]
fn deletions_take_what_is_meant() {
    let (table, mut rows) = (table(), rows());
    let sql = "DELETE FROM x WHERE id BETWEEN 2 AND 6 AND id % 2 = 0 RETURNING id";
    let (count, returned) = run(&table, &mut rows, sql).unwrap();
    assert_eq!(count, 3);
    assert_eq!(returned, [2, 4, 6].map(Value::Integer));
    assert_eq!(rows.rows.len(), 7);
}

#[test]
fn insertions_fill_in_defaults_and_are_checked() {
    let (mut table, mut rows) = (table(), rows());
    table.columns[1].default = DefaultValue::Expression("40 + 2".to_owned());
    table
        .checks
        .push(("x_b_check".to_owned(), "b > 0".to_owned()));
    let sql = "INSERT INTO x (id, b, t) VALUES (20, 1, 'a'), (21, NULL, DEFAULT) RETURNING s, t";
    let (count, returned) = run(&table, &mut rows, sql).unwrap();
    let expected = [
        Value::Integer(42),
        Value::Text("a".into()),
        Value::Integer(42),
        Value::Null,
    ];
    assert_eq!((count, returned.as_slice()), (2, expected.as_slice()));
    let error = run(&table, &mut rows, "INSERT INTO x (id, b) VALUES (30, -1)").unwrap_err();
    assert_eq!(error.sqlstate(), "23514");
    let error = run(&table, &mut rows, "INSERT INTO x (id) VALUES (20)").unwrap_err();
    assert_eq!(error.sqlstate(), "23505");
    let silent = "INSERT INTO x (id) VALUES (20), (40) ON CONFLICT DO NOTHING RETURNING id";
    assert_eq!(
        run(&table, &mut rows, silent).unwrap(),
        (1, vec![Value::Integer(40)])
    );
}

#[test]
fn a_row_that_is_there_is_updated() {
    let (mut table, mut rows) = (table(), rows());
    let check = ("x_b_check".to_owned(), "b > 0".to_owned());
    table.checks.push(check);
    rows.rows[3][1] = Value::Integer(5);
    let upsert = |s: i64, b: i64| {
        format!(
            "INSERT INTO x (id, s, b) VALUES (3, {s}, {b}) ON CONFLICT (id) \
             DO UPDATE SET s = x.s + excluded.s, b = excluded.b - 10 WHERE excluded.s <> 1 RETURNING id, s, b"
        )
    };
    let shown = [3, 12, 5].map(Value::Integer).to_vec();
    assert_eq!(run(&table, &mut rows, &upsert(7, 15)).unwrap(), (1, shown));
    assert_eq!(rows.rows[3][1], Value::Integer(12));
    // Left alone by its condition; refused by the check, as it was given and as it would be.
    assert_eq!(run(&table, &mut rows, &upsert(1, 15)).unwrap(), (0, vec![]));
    for b in [-1, 9] {
        let error = run(&table, &mut rows, &upsert(7, b)).unwrap_err();
        assert_eq!(error.sqlstate(), "23514");
    }
    assert_eq!(
        (rows.rows.len(), &rows.rows[3][1]),
        (10, &Value::Integer(12))
    );
    let new = "INSERT INTO x (id, s, b) VALUES (77, 1, 2) ON CONFLICT (id) DO UPDATE SET s = 0 RETURNING s";
    assert_eq!(
        run(&table, &mut rows, new).unwrap(),
        (1, vec![Value::Integer(1)])
    );
}
