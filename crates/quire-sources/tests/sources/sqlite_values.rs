//! Values of SQLite in the types that hold them.

use arrow::datatypes::DataType;
use rusqlite::{Connection, params};

use crate::cells::{Cell, definition, int, or_null, real, rows, text, timestamp, try_rows, types};
use crate::folder::{SourceTestFolder, opened, sqlite};
use crate::random::{SourceTestRandom, seed};

const DAY_MICROSECONDS: i64 = 86_400_000_000;

fn declared_types() -> [DataType; 10] {
    [
        DataType::Int64,
        DataType::Int64,
        DataType::Boolean,
        DataType::Date32,
        timestamp(false),
        timestamp(true),
        DataType::Decimal128(12, 3),
        DataType::Float64,
        DataType::Utf8View,
        DataType::BinaryView,
    ]
}

/// A table whose values all fit their declarations. Days since 1970 have only the day of the month differ, so that the oracle is a sum.
#[test]
fn values_that_fit_have_the_declared_type() {
    let seed = seed(11);
    let mut random = SourceTestRandom(seed);
    let folder = SourceTestFolder::new();
    let path = folder.file("types.sqlite3");
    let mut connection = Connection::open(&path).unwrap();
    connection
        .execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, i BIGINT, b BOOLEAN, d DATE, ts DATETIME, z TIMESTAMPTZ, m DECIMAL(12,3), r DOUBLE, v VARCHAR(20), x BLOB)")
        .unwrap();
    let mut expected = Vec::new();
    let transaction = connection.transaction().unwrap();
    for id in 0..20_000_i64 {
        let i = random.maybe(|random| random.next() as i64);
        let b = random.maybe(|random| random.below(2) == 1);
        let day = random.maybe(|random| random.below(31) as i32);
        let micros = random.maybe(|random| random.below(DAY_MICROSECONDS as u64) as i64);
        let m = random.maybe(|random| random.below(2_000_000_000) as i64 - 1_000_000_000);
        let r = random
            .maybe(|random| f64::from_bits(random.next()))
            .filter(|r| !r.is_nan());
        let (v, x) = (
            random.maybe(|random| random.text(12)),
            random.maybe(|random| random.bytes(20)),
        );
        // 2000-01-01 is day 10,957.
        let date = day.map(|day| format!("2000-01-{:02}", day + 1));
        let moment = micros.map(|micros| {
            let (hour, minute) = (micros / 3_600_000_000, micros / 60_000_000 % 60);
            let (second, fraction) = (micros / 1_000_000 % 60, micros % 1_000_000);
            format!("2000-01-01 {hour:02}:{minute:02}:{second:02}.{fraction:06}")
        });
        let zoned = moment
            .as_ref()
            .map(|moment| format!("{}+02:00", moment.replace(' ', "T")));
        let decimal = m.map(|m| {
            format!(
                "{}{}.{:03}",
                if m < 0 { "-" } else { "" },
                m.abs() / 1000,
                m.abs() % 1000
            )
        });
        let sql = "INSERT INTO t VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        transaction
            .prepare(sql)
            .unwrap()
            .execute(params![id, i, b, date, moment, zoned, decimal, r, v, x])
            .unwrap();
        let start = 10_957 * DAY_MICROSECONDS;
        expected.push(vec![
            int(id),
            or_null(i, int),
            or_null(b, Cell::Bool),
            or_null(day, |day| Cell::Date(10_957 + day)),
            or_null(micros, |micros| Cell::Time(start + micros)),
            or_null(micros, |micros| Cell::Time(start + micros - 7_200_000_000)),
            or_null(m, |m| Cell::Decimal(m.into())),
            or_null(r, real),
            or_null(v.as_deref(), text),
            or_null(x, Cell::Bytes),
        ]);
    }
    transaction.commit().unwrap();
    let database = opened(&path);
    assert_eq!(types(&database, "t"), declared_types());
    assert_eq!(definition(&database, "t").notices, [""; 0]);
    assert_eq!(rows(&database, "t"), expected, "seed {seed}");
}

/// One column with these values, as SQL has them.
fn column(declaration: &str, values: &[&str]) -> (DataType, Vec<Cell>, Option<String>) {
    let values: Vec<String> = values.iter().map(|value| format!("({value})")).collect();
    let (_folder, database) = sqlite(&format!(
        "CREATE TABLE t (c {declaration}); INSERT INTO t VALUES {}",
        values.join(", ")
    ));
    let cells = rows(&database, "t")
        .into_iter()
        .map(|mut row| row.remove(0))
        .collect();
    let definition = definition(&database, "t");
    assert!(definition.notices.len() <= 1);
    (
        definition.columns[0].data_type.clone(),
        cells,
        definition.notices.first().cloned(),
    )
}

type ValueCase = (&'static str, &'static [&'static str], DataType, Vec<Cell>);

fn misfits_of_numbers() -> Vec<ValueCase> {
    vec![
        (
            "INTEGER",
            &["1", "'x'", "NULL"],
            DataType::Utf8View,
            vec![text("1"), text("x"), Cell::Null],
        ),
        (
            "INTEGER",
            &["1", "1.5"],
            DataType::Float64,
            vec![real(1.0), real(1.5)],
        ),
        (
            "INTEGER",
            &["9007199254740993", "1.5"],
            DataType::Utf8View,
            vec![text("9007199254740993"), text("1.5")],
        ),
        (
            "INTEGER",
            &["1", "x'00ff'", "'é'"],
            DataType::BinaryView,
            vec![
                Cell::Bytes(b"1".to_vec()),
                Cell::Bytes(vec![0, 255]),
                Cell::Bytes("é".into()),
            ],
        ),
        (
            "BOOLEAN",
            &["0", "7"],
            DataType::Int64,
            vec![int(0), int(7)],
        ),
        (
            "BOOLEAN",
            &["1", "'true'"],
            DataType::Utf8View,
            vec![text("1"), text("true")],
        ),
    ]
}

fn misfits_of_times_and_decimals() -> Vec<ValueCase> {
    vec![
        (
            "DATE",
            &["2460000.5", "2460001.5"],
            DataType::Float64,
            vec![real(2_460_000.5), real(2_460_001.5)],
        ),
        (
            "DATE",
            &["1700000000"],
            DataType::Int64,
            vec![int(1_700_000_000)],
        ),
        (
            "DATE",
            &["'1970-01-02'", "'1.2.1970'"],
            DataType::Utf8View,
            vec![text("1970-01-02"), text("1.2.1970")],
        ),
        (
            "DATE",
            &["'1970-01-02'", "'1970-01-01 00:00:01'"],
            timestamp(false),
            vec![Cell::Time(DAY_MICROSECONDS), Cell::Time(1_000_000)],
        ),
        (
            "DATETIME",
            &["'1970-01-01 00:00:01'", "'1970-01-01 00:00:01Z'"],
            DataType::Utf8View,
            vec![text("1970-01-01 00:00:01"), text("1970-01-01 00:00:01Z")],
        ),
        (
            "DATETIME",
            &["'1970-01-01 00:00:00.1234567'"],
            DataType::Utf8View,
            vec![text("1970-01-01 00:00:00.1234567")],
        ),
        (
            "DECIMAL(4,1)",
            &["0.25", "1"],
            DataType::Float64,
            vec![real(0.25), real(1.0)],
        ),
        ("DECIMAL(4,1)", &["1000"], DataType::Int64, vec![int(1000)]),
    ]
}

#[test]
fn values_that_do_not_fit_make_the_column_one_that_holds_them() {
    let cases = misfits_of_numbers()
        .into_iter()
        .chain(misfits_of_times_and_decimals());
    for (declaration, values, data_type, cells) in cases {
        let found = column(declaration, values);
        assert_eq!(
            (&found.0, &found.1),
            (&data_type, &cells),
            "{declaration} {values:?}"
        );
        let notice = found.2.expect("a notice says so");
        assert!(
            notice.contains("\"c\"") && notice.contains(declaration),
            "{notice}"
        );
    }
    let (_, _, notice) = column("INTEGER", &["1", "2", "'x'", "NULL"]);
    let expected =
        "column \"c\" is declared INTEGER but holds 2 integers and 1 text; it is read as TEXT";
    assert_eq!(notice.unwrap(), expected);
}

fn followed_values() -> Vec<ValueCase> {
    vec![
        (
            "",
            &["1", "NULL"],
            DataType::Int64,
            vec![int(1), Cell::Null],
        ),
        (
            "",
            &["1", "0.5"],
            DataType::Float64,
            vec![real(1.0), real(0.5)],
        ),
        ("", &["'a'"], DataType::Utf8View, vec![text("a")]),
        (
            "",
            &["x'61'"],
            DataType::BinaryView,
            vec![Cell::Bytes(b"a".to_vec())],
        ),
        ("", &["NULL"], DataType::Utf8View, vec![Cell::Null]),
        ("JSON", &["'{}'"], DataType::Utf8View, vec![text("{}")]),
        (
            "NUMERIC",
            &["1", "2"],
            DataType::Int64,
            vec![int(1), int(2)],
        ),
        (
            "NUMERIC",
            &["1", "2.5"],
            DataType::Float64,
            vec![real(1.0), real(2.5)],
        ),
        (
            "DATETIME",
            &["'1970-01-01T00:00:01+00:00'"],
            timestamp(true),
            vec![Cell::Time(1_000_000)],
        ),
        (
            "DATETIME",
            &["'1970-01-02'", "'1970-01-01 00:01'"],
            timestamp(false),
            vec![Cell::Time(DAY_MICROSECONDS), Cell::Time(60_000_000)],
        ),
        (
            "TIMESTAMPTZ",
            &["'1970-01-01 00:00:01'", "'1970-01-01 01:00:01+01'"],
            timestamp(true),
            vec![Cell::Time(1_000_000); 2],
        ),
        (
            "DECIMAL(38,2)",
            &["9223372036854775807", "0.07"],
            DataType::Decimal128(38, 2),
            vec![Cell::Decimal(i128::from(i64::MAX) * 100), Cell::Decimal(7)],
        ),
    ]
}

#[test]
fn types_that_follow_the_values_need_no_notice() {
    let cases = followed_values();
    for (declaration, values, data_type, cells) in cases {
        assert_eq!(
            column(declaration, values),
            (data_type, cells, None),
            "{declaration} {values:?}"
        );
    }
    // Without a declaration nothing is expected, but several kinds are worth a word.
    let mixed = column("", &["1", "'a'"]);
    assert_eq!(
        mixed.2.unwrap(),
        "column \"c\" has no declared type but holds 1 integer and 1 text; it is read as TEXT"
    );
}

#[test]
fn an_empty_table_has_the_declared_types() {
    let (_folder, database) = sqlite(
        "CREATE TABLE t (a INTEGER, b DATE, c DECIMAL(9,2), d, e NUMERIC, f BLOB, g TEXT, h BOOLEAN, i DATETIME)",
    );
    let expected = [
        DataType::Int64,
        DataType::Date32,
        DataType::Decimal128(9, 2),
        DataType::Utf8View,
        DataType::Float64,
        DataType::BinaryView,
        DataType::Utf8View,
        DataType::Boolean,
        timestamp(false),
    ];
    assert_eq!(types(&database, "t"), expected);
    assert_eq!(rows(&database, "t"), Vec::<Vec<Cell>>::new());
}

#[test]
fn a_text_that_is_none_is_an_error_with_its_place() {
    let (_folder, database) = sqlite(
        "CREATE TABLE t (a INTEGER, b TEXT); INSERT INTO t(rowid, a, b) VALUES (5, 1, 'good'), (17, 2, CAST(x'ff61' AS TEXT)), (18, 3, CAST(x'6100' AS TEXT));
         CREATE TABLE keyed (k TEXT, n INTEGER, b TEXT, PRIMARY KEY (k, n)) WITHOUT ROWID; INSERT INTO keyed VALUES ('x', 3, CAST(x'c3' AS TEXT));
         CREATE VIEW bytes AS SELECT rowid AS id, CAST(b AS BLOB) AS b FROM t",
    );
    let said = try_rows(&database, "t", None).unwrap_err().to_string();
    assert!(
        said.starts_with("table \"t\", rowid 17, column \"b\": the text is not valid UTF-8"),
        "{said}"
    );
    let said = try_rows(&database, "keyed", None).unwrap_err().to_string();
    assert!(
        said.starts_with("table \"keyed\", the row of key ('x', 3), column \"b\""),
        "{said}"
    );
    // What the message advises: leave the column out, or read bytes.
    assert_eq!(
        try_rows(&database, "t", Some(&[0])).unwrap(),
        [[int(1)], [int(2)], [int(3)]]
    );
    let bytes = |bytes: &[u8]| Cell::Bytes(bytes.to_vec());
    assert_eq!(
        rows(&database, "bytes"),
        [
            [int(5), bytes(b"good")],
            [int(17), bytes(b"\xffa")],
            [int(18), bytes(b"a\0")]
        ]
    );
    let (_folder, database) =
        sqlite("CREATE TABLE t (b TEXT); INSERT INTO t VALUES (CAST(x'6100' AS TEXT))");
    let said = try_rows(&database, "t", None).unwrap_err().to_string();
    assert!(
        said.contains("rowid 1, column \"b\": the text has a zero byte"),
        "{said}"
    );
}

#[test]
fn large_values_come_in_small_batches() {
    let folder = SourceTestFolder::new();
    let path = folder.file("large.db");
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch("CREATE TABLE t (id INTEGER PRIMARY KEY, x BLOB, v TEXT)")
        .unwrap();
    let large = "é".repeat(3 << 20);
    for id in 0..8_i64 {
        connection
            .execute(
                "INSERT INTO t VALUES (?1, zeroblob(7000000 + ?1), ?2)",
                params![id, large],
            )
            .unwrap();
    }
    let database = opened(&path);
    let mut reader = database
        .read(&database.find("t").unwrap(), None, &Default::default())
        .unwrap();
    let mut ids = 0;
    while let Some(batch) = reader.next_batch().unwrap() {
        // Each row has 13 MB; a batch is full above 16 MiB.
        assert!(batch.num_rows() <= 2, "{} rows", batch.num_rows());
        for row in crate::cells::rows_of(&batch) {
            assert_eq!(row[0], int(ids));
            assert_eq!(row[1], Cell::Bytes(vec![0; 7_000_000 + ids as usize]));
            assert_eq!(row[2], text(&large));
            ids += 1;
        }
    }
    assert_eq!(ids, 8);
}
