//! Every type under every codec that can hold it answers like the plain one.
//!
//! `COMPRESSION name` forces a codec; `quire_storage` proves that it was used. The values have shapes that suit each
//! codec and shapes that do not: a codec that is a bad choice still has to be a right one.
#![allow(clippy::unwrap_used)]

use quire::arrow::util::display::{ArrayFormatter, FormatOptions};
use quire::{Connection, Database, Outcome};
use quire_codec::{CodecId, PhysicalType};

/// Rows of a table: more than one row group, the last vector partly filled.
const ROWS: usize = 140_001;

/// SQL types with their physical type, and expressions over `value` (1 to `ROWS`) that give their values.
const TYPES: [(&str, PhysicalType, &[&str]); 11] = [
    (
        "BOOLEAN",
        PhysicalType::Bool,
        &["value % 3 = 0", "value < 70000", "true"],
    ),
    (
        "SMALLINT",
        PhysicalType::Int16,
        &[
            "value % 200 - 100",
            "7",
            "value / 5000",
            "value * 7919 % 65536 - 32768",
        ],
    ),
    (
        "INTEGER",
        PhysicalType::Int32,
        &["value", "value / 1000", "value * 7919 % 1000003", "-5"],
    ),
    (
        "BIGINT",
        PhysicalType::Int64,
        &[
            "value * 1000000007",
            "CASE WHEN value % 1000 = 0 THEN 9223372036854775807 - value ELSE value % 16 END",
            "0",
        ],
    ),
    (
        "REAL",
        PhysicalType::Float32,
        &["value % 100 / 4.0", "value * 0.1", "1.5"],
    ),
    (
        "DOUBLE PRECISION",
        PhysicalType::Float64,
        &[
            "value % 1000 / 100.0",
            "sqrt(value)",
            "-value / 8.0",
            "0.25",
        ],
    ),
    (
        "DECIMAL(12,2)",
        PhysicalType::Int64,
        &["value % 5000 / 100.0", "value * 3.07", "1.00"],
    ),
    (
        "DECIMAL(38,4)",
        PhysicalType::Int128,
        &["value * 12345678901234567890.5", "value % 7", "-1"],
    ),
    (
        "DATE",
        PhysicalType::Int32,
        &["DATE '1992-01-01' + CAST(value % 2500 AS INTEGER)"],
    ),
    (
        "TIMESTAMP",
        PhysicalType::Int64,
        &["to_timestamp_micros(1704067200000000 + value * 60000000)"],
    ),
    (
        "TEXT",
        PhysicalType::Bytes,
        &[
            "'row number ' || value",
            "CASE value % 4 WHEN 0 THEN 'north' WHEN 1 THEN 'east' WHEN 2 THEN '' ELSE 'süd' END",
            "repeat(chr(CAST(65 + value % 26 AS INTEGER)), CAST(value % 40 AS INTEGER))",
            "'same'",
        ],
    ),
];

/// Questions about a table; the answers must not depend on the codec.
const QUESTIONS: [&str; 7] = [
    "SELECT count(*), count(v), count(DISTINCT v), min(v), max(v) FROM {t}",
    "SELECT id, v FROM {t} WHERE id % 997 = 0 ORDER BY id",
    "SELECT count(*), sum(id) FROM {t} WHERE v = (SELECT v FROM {t} WHERE id = 70001)",
    "SELECT count(*), sum(id) FROM {t} WHERE v > (SELECT v FROM {t} WHERE id = 1024)",
    "SELECT count(*), sum(id) FROM {t} WHERE v IS NULL",
    "SELECT id, v FROM {t} WHERE id BETWEEN 131070 AND 131075 ORDER BY id",
    "SELECT v, count(*) FROM {t} WHERE id <= 3000 GROUP BY v ORDER BY v LIMIT 50",
];

fn run(connection: &mut Connection, sql: &str) -> Vec<String> {
    let outcome = connection
        .execute(sql)
        .unwrap_or_else(|error| panic!("{sql}\n{error}"));
    let Outcome::Rows(mut rows) = outcome else {
        return Vec::new();
    };
    let options = FormatOptions::default().with_null("NULL");
    let mut lines = Vec::new();
    while let Some(batch) = rows
        .next_batch()
        .unwrap_or_else(|error| panic!("{sql}\n{error}"))
    {
        let columns = batch.columns().iter();
        let columns: Vec<_> = columns
            .map(|column| ArrayFormatter::try_new(column, &options).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            let fields: Vec<String> = columns
                .iter()
                .map(|column| column.value(row).to_string())
                .collect();
            lines.push(fields.join("|"));
        }
    }
    lines
}

fn answers(connection: &mut Connection, table: &str) -> Vec<Vec<String>> {
    QUESTIONS
        .iter()
        .map(|question| run(connection, &question.replace("{t}", table)))
        .collect()
}

/// Makes a table whose column `v` has the codec; `nulls` is the distance between NULLs.
fn fill(
    connection: &mut Connection,
    table: &str,
    sql_type: &str,
    codec: CodecId,
    expression: &str,
    nulls: usize,
) {
    let name = codec.name();
    run(
        connection,
        &format!("CREATE TABLE {table} (id INTEGER NOT NULL, v {sql_type} COMPRESSION {name})"),
    );
    run(
        connection,
        &format!(
            "INSERT INTO {table} SELECT value, CAST(CASE WHEN value % {nulls} <> 1 THEN {expression} END AS {sql_type}) \
             FROM generate_series(1, {ROWS})"
        ),
    );
    let used =
        format!("SELECT DISTINCT codec FROM quire_storage('{table}') WHERE column_name = 'v'");
    assert_eq!(run(connection, &used), [name], "{sql_type} {expression}");
}

fn compare(sql_type: &str, physical: PhysicalType, expression: &str, nulls: usize) {
    let database = Database::in_memory().unwrap();
    let mut connection = database.connect();
    fill(
        &mut connection,
        "plain",
        sql_type,
        CodecId::Plain,
        expression,
        nulls,
    );
    let counted = run(&mut connection, "SELECT count(*), sum(id) FROM plain");
    assert_eq!(counted, [format!("{ROWS}|{}", ROWS * (ROWS + 1) / 2)]);
    let expected = answers(&mut connection, "plain");
    let is_constant = |codec| codec == CodecId::Constant;
    for codec in CodecId::ALL
        .into_iter()
        .filter(|codec| codec.supports(physical))
    {
        let holds_any_values = !is_constant(codec) || !expression.contains("value");
        if codec != CodecId::Plain && holds_any_values {
            fill(&mut connection, "coded", sql_type, codec, expression, nulls);
            let found = answers(&mut connection, "coded");
            for (at, question) in QUESTIONS.iter().enumerate() {
                assert!(
                    found[at] == expected[at],
                    "{sql_type} {codec:?} {expression}: {question}"
                );
            }
            run(&mut connection, "DROP TABLE coded");
        }
    }
}

#[test]
fn every_codec_answers_like_the_plain_one() {
    for (sql_type, physical, expressions) in TYPES {
        for (at, expression) in expressions.iter().enumerate() {
            // NULLs every third row, rarely, and never in turn.
            compare(sql_type, physical, expression, [3, 9000, ROWS + 2][at % 3]);
        }
    }
}
