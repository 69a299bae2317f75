//! Values of every type, in both formats and directions.

use crate::client::{Client, bind_as, connect, describe, execute, parse, server, shown, sync};

const TABLE: &str = "create table t (id integer primary key, ok boolean, s smallint, i integer, b bigint, r real, d double precision, n decimal(38,10), day date, at timestamp, tz timestamptz, x text, v varchar(10), c char(5), y bytea)";

/// A column, what PostgreSQL 15 shows of a value, and its bytes by the documentation of the `_send` functions.
const VALUES: &[(&str, u32, &str, &[u8])] = &[
    ("ok", 16, "t", &[1]),
    ("ok", 16, "f", &[0]),
    ("s", 21, "-32768", &[0x80, 0]),
    ("i", 23, "2147483647", &[0x7F, 0xFF, 0xFF, 0xFF]),
    (
        "b",
        20,
        "-9223372036854775808",
        &[0x80, 0, 0, 0, 0, 0, 0, 0],
    ),
    ("r", 700, "1.5", &[0x3F, 0xC0, 0, 0]),
    ("r", 700, "NaN", &[0x7F, 0xC0, 0, 0]),
    ("d", 701, "-Infinity", &[0xFF, 0xF0, 0, 0, 0, 0, 0, 0]),
    (
        "d",
        701,
        "1e+20",
        &[0x44, 0x15, 0xAF, 0x1D, 0x78, 0xB5, 0x8C, 0x40],
    ),
    (
        "n",
        1700,
        "-12.5000000000",
        &[0, 2, 0, 0, 0x40, 0, 0, 10, 0, 12, 0x13, 0x88],
    ),
    (
        "n",
        1700,
        "0.0000000001",
        &[0, 1, 0xFF, 0xFD, 0, 0, 0, 10, 0, 100],
    ),
    ("day", 1082, "0001-01-01", &[0xFF, 0xF4, 0xDB, 0xF9]),
    ("day", 1082, "9999-12-31", &[0, 0x2C, 0x95, 0xD3]),
    (
        "at",
        1114,
        "2000-01-01 00:00:01",
        &[0, 0, 0, 0, 0, 0x0F, 0x42, 0x40],
    ),
    (
        "at",
        1114,
        "1999-12-31 23:59:59.5",
        &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xF8, 0x5E, 0xE0],
    ),
    ("tz", 1184, "2000-01-01 00:00:00+00", &[0; 8]),
    ("x", 25, "Käse", "Käse".as_bytes()),
    ("x", 25, "", b""),
    ("v", 25, "abc", b"abc"),
    ("c", 25, "ab", b"ab"),
    ("y", 17, "\\x00ff", &[0, 0xFF]),
    ("y", 17, "\\x", b""),
];

fn value_of(client: &mut Client, parts: &[Vec<u8>]) -> Option<Vec<u8>> {
    client.send(parts);
    let answers = client.until_ready();
    let row = answers.iter().find(|answer| answer.kind == 'D');
    row.unwrap_or_else(|| panic!("{:?}", shown(&answers)))
        .values()
        .remove(0)
}

#[test]
fn every_type_goes_in_and_out_in_both_formats() {
    let server = server();
    let mut client = connect(&server);
    assert_eq!(client.query(TABLE)[0], "done CREATE TABLE");
    let mut id = 0;
    for (column, oid, text, binary) in VALUES {
        for (format, bytes) in [(0, text.as_bytes()), (1, *binary)] {
            for declared in [0, *oid] {
                id += 1;
                let key = id.to_string();
                let insert =
                    format!("insert into t (id, {column}) values ({key}, $1) returning {column}");
                for (result, expected) in [(0, text.as_bytes()), (1, *binary)] {
                    let returned = value_of(
                        &mut client,
                        &[
                            parse("", &insert, &[declared]),
                            bind_as("", "", [format, result], &[Some(bytes)]),
                            execute("", 0),
                            sync(),
                        ],
                    );
                    assert_eq!(
                        returned.as_deref(),
                        Some(expected),
                        "{column} {text} {format} {declared}"
                    );
                    let select = format!("select {column} from t where id = $1");
                    let found = value_of(
                        &mut client,
                        &[
                            parse("", &select, &[]),
                            bind_as("", "", [0, result], &[Some(key.as_bytes())]),
                            execute("", 0),
                            sync(),
                        ],
                    );
                    assert_eq!(found.as_deref(), Some(expected), "{column} {text}");
                    client.query(&format!("delete from t where id = {key}"));
                }
            }
        }
    }
}

#[test]
fn values_that_are_no_columns_have_types_too() {
    let server = server();
    let mut client = connect(&server);
    for (sql, column, row) in [
        ("select 1", "columns Int64(1):20", "row 1"),
        ("select 1.50 as n", "columns n:1700", "row 1.50"),
        ("select null as a", "columns a:25", "row NULL"),
        (
            "select true as a, false as b",
            "columns a:16|b:16",
            "row t|f",
        ),
        ("select 'x' as a", "columns a:25", "row x"),
        (
            "select interval '1 month 2 days 3 seconds' as a",
            "columns a:1186",
            "row 1 mon 2 days 00:00:03",
        ),
        (
            "select make_array(1, null, 3) as a",
            "columns a:1016",
            "row {1,NULL,3}",
        ),
        (
            "select timestamp '2024-02-29 12:30:00' as a",
            "columns a:1114",
            "row 2024-02-29 12:30:00",
        ),
        (
            "select cast('12:30:00' as time) as a",
            "columns a:1083",
            "row 12:30:00",
        ),
    ] {
        let answers = client.query(sql);
        if sql != "select 1" {
            assert_eq!(answers[0], column, "{sql}");
        }
        assert_eq!(answers[1], row, "{sql}");
    }
}

#[test]
fn parameters_have_the_types_that_clients_and_statements_give() {
    let server = server();
    let mut client = connect(&server);
    client.query(TABLE);
    for (sql, declared, expected) in [
        ("select x from t where id = $1", vec![], "parameters 23"),
        ("select x from t where id = $1", vec![20], "parameters 20"),
        (
            "select x from t where n > $1 and at < $2",
            vec![],
            "parameters 1700|1114",
        ),
        ("select $1::int", vec![], "parameters 23"),
        ("select $1", vec![], "parameters 25"),
        ("select $1", vec![23], "parameters 23"),
        (
            "insert into t (id, y, tz) values ($1, $2, $3)",
            vec![],
            "parameters 23|17|1184",
        ),
        (
            "select a.id from t a, t b where a.id = b.id and b.b = $1",
            vec![],
            "parameters 20",
        ),
    ] {
        let answers = client.say(&[parse("", sql, &declared), describe(b'S', ""), sync()]);
        assert_eq!(answers[1], expected, "{sql} {declared:?}");
    }
}

#[test]
fn a_value_beyond_its_column_is_no_error_where_it_is_compared() {
    let server = server();
    let mut client = connect(&server);
    client.query(TABLE);
    client.query("insert into t (id, n) values (1, 1.5)");
    for (sql, oid, value, row) in [
        (
            "select count(*) from t where id = $1",
            20,
            "5000000000",
            "row 0",
        ),
        (
            "select count(*) from t where id < $1",
            20,
            "5000000000",
            "row 1",
        ),
        (
            "select count(*) from t where n = $1",
            1700,
            "1.50000000000001",
            "row 0",
        ),
        (
            "select count(*) from t where n < $1",
            1700,
            "1.50000000000001",
            "row 1",
        ),
        (
            "select $1",
            1700,
            "1234.56789012345678901234567890",
            "row 1234.56789012345678901234567890",
        ),
    ] {
        let parts = [
            parse("", sql, &[oid]),
            bind_as("", "", [0, 0], &[Some(value.as_bytes())]),
            execute("", 0),
            sync(),
        ];
        let answers = client.say(&parts);
        assert_eq!(answers[2], row, "{sql} {answers:?}");
    }
}

#[test]
fn nulls_have_no_bytes() {
    let server = server();
    let mut client = connect(&server);
    client.query(TABLE);
    let columns = [
        "ok", "s", "i", "b", "r", "d", "n", "day", "at", "tz", "x", "v", "c", "y",
    ];
    for (id, column) in columns.iter().enumerate() {
        let sql = format!("insert into t (id, {column}) values ({id}, $1) returning {column}");
        let parts = [
            parse("", &sql, &[]),
            bind_as("", "", [1, 1], &[None]),
            execute("", 0),
            sync(),
        ];
        assert_eq!(value_of(&mut client, &parts), None, "{column}");
    }
}
