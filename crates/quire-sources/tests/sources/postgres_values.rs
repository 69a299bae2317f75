//! Values of PostgreSQL in our types.

use arrow::datatypes::DataType;
use postgres::types::ToSql;

use crate::cells::{Cell, definition, int, or_null, real, rows, text, timestamp, try_rows, types};
use crate::postgres_server::server;
use crate::random::{SourceTestRandom, seed};

const CREATE: &str = "CREATE TABLE t (i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n numeric(30,6), any_n numeric, b bool, d date, ts timestamp, tz timestamptz, t text, v varchar(20), x bytea)";
const INSERT: &str = "INSERT INTO t VALUES ($1, $2, $3, $4, $5, ($6::text)::numeric, ($7::text)::numeric, $8, '1970-01-01'::date + $9::int4, \
        '1970-01-01'::timestamp + $10::int8 * interval '1 microsecond', '1970-01-01 00:00Z'::timestamptz + $10::int8 * interval '1 microsecond', $11, $12, $13)";

fn assert_same_rows(mut found: Vec<Vec<Cell>>, mut expected: Vec<Vec<Cell>>, seed: u64) {
    assert_eq!(found.len(), expected.len());
    // A small row may be put into a page before that of the last one.
    found.sort_by_cached_key(|row| format!("{row:?}"));
    expected.sort_by_cached_key(|row| format!("{row:?}"));
    for (row, expected) in found.iter().zip(&expected) {
        assert_eq!(row, expected, "seed {seed}");
    }
}

#[test]
fn random_rows_are_what_was_inserted() {
    let Some(server) = server() else { return };
    let seed = seed(21);
    let mut random = SourceTestRandom(seed);
    let (mut client, address) = server.database(CREATE);
    let mut transaction = client.transaction().unwrap();
    let insert = transaction.prepare(INSERT).unwrap();
    let mut expected = Vec::new();
    for _ in 0..10_000 {
        let i2 = random.maybe(|random| random.next() as i16);
        let i4 = random.maybe(|random| random.next() as i32);
        let i8 = random.maybe(|random| random.next() as i64);
        let f4 = random
            .maybe(|random| f32::from_bits(random.next() as u32))
            .filter(|value| !value.is_nan());
        let f8 = random
            .maybe(|random| f64::from_bits(random.next()))
            .filter(|value| !value.is_nan());
        let n = random
            .maybe(|random| i128::from(random.next() as i64) * i128::from(random.below(100_000)));
        let any = random.maybe(|random| random.next() as i64 >> random.below(60));
        let decimal = |value: i128| format!("{value}e-6");
        let (n_text, any_text) = (n.map(decimal), any.map(|any| format!("{any}e-3")));
        let b = random.maybe(|random| random.below(2) == 0);
        // From 4700 BC to the year 5000000.
        let day = random.maybe(|random| (random.below(1_830_000_000) as i32) - 2_430_000);
        let micros = random
            .maybe(|random| (random.below(9_000_000_000_000_000) as i64) - 4_000_000_000_000_000);
        let (t, v) = (
            random.maybe(|random| random.text(30)),
            random.maybe(|random| random.text(20)),
        );
        let x = random.maybe(|random| random.bytes(30));
        let values: [&(dyn ToSql + Sync); 13] = [
            &i2, &i4, &i8, &f4, &f8, &n_text, &any_text, &b, &day, &micros, &t, &v, &x,
        ];
        transaction.execute(&insert, &values).unwrap();
        expected.push(vec![
            or_null(i2, |value| int(value.into())),
            or_null(i4, |value| int(value.into())),
            or_null(i8, int),
            or_null(f4, |value| real(value.into())),
            or_null(f8, real),
            or_null(n, Cell::Decimal),
            or_null(any, |value| Cell::Decimal(value.into())),
            or_null(b, Cell::Bool),
            or_null(day, Cell::Date),
            or_null(micros, Cell::Time),
            or_null(micros, Cell::Time),
            or_null(t.as_deref(), text),
            or_null(v.as_deref(), text),
            or_null(x, Cell::Bytes),
        ]);
    }
    transaction.commit().unwrap();
    let database = quire_sources::SourceDatabase::open(&address).unwrap();
    let decimals = [DataType::Decimal128(30, 6), DataType::Decimal128(38, 3)];
    assert_eq!(
        types(&database, "t")[5..7],
        decimals,
        "19 digits need the longer decimal"
    );
    assert_eq!(
        types(&database, "t")[9..11],
        [timestamp(false), timestamp(true)]
    );
    assert_eq!(definition(&database, "t").notices, [""; 0]);
    assert_same_rows(rows(&database, "t"), expected, seed);
}

#[test]
fn types_that_are_not_ours_are_read_as_text_with_a_notice() {
    let Some(server) = server() else { return };
    let database = server.source(
        "CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE DOMAIN positive AS int4 CHECK (VALUE > 0); CREATE DOMAIN price AS numeric(7,2) NOT NULL;
         CREATE TABLE t (u uuid, j json, jb jsonb, i inet, m mood, ti time, iv interval, a int4[], r int4range, big numeric(50,2));
         INSERT INTO t VALUES ('12345678-1234-1234-1234-123456789abc', '{\"a\":  1}', '{\"a\":  1}', '10.0.0.1', 'happy', '12:30', '1 day 2 hours', '{1,NULL,3}', '[1,5)', 1.5);
         CREATE TABLE plain (c char(5), n name, q \"char\", p positive, k price, big numeric); INSERT INTO plain VALUES ('ab', 'name', 'q', 7, 12.5, 0.5)",
    );
    let values = [
        "12345678-1234-1234-1234-123456789abc",
        "{\"a\":  1}",
        "{\"a\": 1}",
        // The cast adds the bits of the mask.
        "10.0.0.1/32",
        "happy",
        "12:30:00",
        "1 day 02:00:00",
        "{1,NULL,3}",
        "[1,5)",
        "1.50",
    ];
    assert_eq!(rows(&database, "t"), [values.map(text)]);
    let notices = &definition(&database, "t").notices;
    assert_eq!(notices.len(), values.len());
    assert_eq!(
        notices[4],
        "column \"m\" is of type mood; it is read as its text"
    );
    let plain = [
        text("ab"),
        text("name"),
        text("q"),
        int(7),
        Cell::Decimal(1250),
        Cell::Decimal(5),
    ];
    assert_eq!(rows(&database, "plain"), [plain]);
    assert_eq!(definition(&database, "plain").notices, [""; 0]);
    assert!(!definition(&database, "plain").columns[4].is_nullable);
}

#[test]
fn numbers_without_precision_get_what_they_need() {
    let Some(server) = server() else { return };
    let cases = [
        ("", DataType::Decimal128(38, 10)),
        ("(1), (-12.5), (NULL)", DataType::Decimal128(18, 1)),
        ("(0.00)", DataType::Decimal128(18, 2)),
        ("(1e20), (0.001)", DataType::Decimal128(38, 3)),
        ("(1e37)", DataType::Decimal128(38, 0)),
        ("(1e38)", DataType::Utf8View),
        ("('NaN'), (2.5)", DataType::Decimal128(18, 1)),
    ];
    let mut statements = String::new();
    for (number, (values, _)) in cases.iter().enumerate() {
        statements += &format!("CREATE TABLE t{number} (n numeric);");
        if !values.is_empty() {
            statements += &format!("INSERT INTO t{number} VALUES {values};");
        }
    }
    let database = server.source(&statements);
    for (number, (values, data_type)) in cases.iter().enumerate() {
        assert_eq!(
            types(&database, &format!("t{number}")),
            std::slice::from_ref(data_type),
            "{values}"
        );
    }
    assert_eq!(
        rows(&database, "t1"),
        [[Cell::Decimal(10)], [Cell::Decimal(-125)], [Cell::Null]]
    );
    assert_eq!(
        rows(&database, "t5"),
        [[text(&format!("1{}", "0".repeat(38)))]]
    );
    assert!(definition(&database, "t5").notices[0].contains("more digits than DECIMAL(38,0)"));
}

#[test]
fn what_no_type_holds_is_an_error_that_says_so() {
    let Some(server) = server() else { return };
    let cases = [
        ("numeric(5,2)", "'NaN'", "the number is NaN"),
        ("numeric", "'NaN'", "the number is NaN"),
        ("numeric", "'-Infinity'", "the number is infinity"),
        ("date", "'infinity'", "the value is infinity"),
        ("timestamp", "'-infinity'", "the value is infinity"),
        (
            "timestamptz",
            "'294276-12-31 00:00Z'",
            "later than the year 294246",
        ),
    ];
    let mut statements = String::new();
    for (number, (data_type, value, _)) in cases.iter().enumerate() {
        statements += &format!(
            "CREATE TABLE t{number} (i int4, c {data_type}); INSERT INTO t{number} VALUES (1, NULL), (2, {value});"
        );
    }
    let database = server.source(&statements);
    for (number, (_, value, problem)) in cases.iter().enumerate() {
        let said = try_rows(&database, &format!("t{number}"), None)
            .unwrap_err()
            .to_string();
        let place = format!("table \"t{number}\", row 2 of those read, column \"c\": ");
        assert!(
            said.starts_with(&place) && said.contains(problem),
            "{value}: {said}"
        );
        assert_eq!(
            try_rows(&database, &format!("t{number}"), Some(&[0]))
                .unwrap()
                .len(),
            2
        );
    }
    let floats = server.source(
        "CREATE TABLE t (f float8); INSERT INTO t VALUES ('Infinity'), ('-Infinity'), ('-0')",
    );
    assert_eq!(
        rows(&floats, "t"),
        [
            [real(f64::INFINITY)],
            [real(f64::NEG_INFINITY)],
            [real(-0.0)]
        ]
    );
}
