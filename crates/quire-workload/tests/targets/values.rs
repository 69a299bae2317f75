//! Values of all types are what they were.

use crate::scratch::ScratchDirectory;
use quire_workload::{ColumnType, SqlValue, Target, WorkloadColumn, WorkloadRows, WorkloadTable};
use std::fmt::Write;

const COLUMNS: [WorkloadColumn; 10] = [
    WorkloadColumn::new("id", ColumnType::Integer),
    WorkloadColumn::nullable("small", ColumnType::SmallInteger),
    WorkloadColumn::nullable("whole", ColumnType::Integer),
    WorkloadColumn::nullable("big", ColumnType::BigInteger),
    WorkloadColumn::nullable(
        "amount",
        ColumnType::Decimal {
            precision: 12,
            scale: 2,
        },
    ),
    WorkloadColumn::nullable("share", ColumnType::Double),
    WorkloadColumn::nullable("code", ColumnType::Char(3)),
    WorkloadColumn::nullable("note", ColumnType::Varchar(60)),
    WorkloadColumn::nullable("day", ColumnType::Date),
    WorkloadColumn::nullable("moment", ColumnType::Timestamp),
];

fn table(name: &str) -> WorkloadTable {
    WorkloadTable {
        name: name.into(),
        columns: COLUMNS.to_vec(),
        primary_key: vec!["id"],
        indexes: vec![],
    }
}

/// Cents, a double, a code, a note, a day and a moment of a row.
type Others = (i64, f64, &'static str, &'static str, i32, i64);

/// Three integers and the others of each row. The days are those of `date -d @0 +%F` and the like: 1970-01-01, 1969-12-31, 2000-02-29,
/// 1900-01-01, 9999-12-31.
const ROWS: [([i64; 3], Others); 5] = [
    ([0, 0, 0], (0, 0.0, "abc", "", 0, 0)),
    (
        [-32_768, -2_147_483_648, i64::MIN],
        (-5, -1.5, "x'y", "it's \"quoted\", with a comma", -1, -1),
    ),
    (
        [32_767, 2_147_483_647, i64::MAX],
        (
            999_999_999_999,
            0.1,
            "ÄÖÜ",
            "line\nbreak\r\nand\ttab",
            11_016,
            951_782_400_000_001,
        ),
    ),
    (
        [-1, -1, -1],
        (
            -999_999_999_999,
            1e-7,
            "$1\\",
            "back\\slash \\N $1 ? %",
            -25_567,
            -2_208_988_800_000_000,
        ),
    ),
    (
        [1, 1, 1],
        (
            100,
            12_345.678,
            "NUL",
            "NULL",
            2_932_896,
            253_402_300_799_999_999,
        ),
    ),
];

/// A row of NULLs, then those of `ROWS`, with their numbers as keys.
pub fn rows() -> WorkloadRows {
    let mut rows = vec![vec![SqlValue::Null; COLUMNS.len()]];
    for (integers, (cents, double, code, note, day, moment)) in ROWS {
        let mut row = vec![SqlValue::Null];
        row.extend(integers.map(SqlValue::Integer));
        row.push(SqlValue::Decimal {
            unscaled: cents,
            scale: 2,
        });
        row.push(SqlValue::Double(double));
        row.extend([SqlValue::text(code), SqlValue::text(note)]);
        row.extend([SqlValue::Date(day), SqlValue::Timestamp(moment)]);
        rows.push(row);
    }
    for (key, row) in (1..).zip(&mut rows) {
        row[0] = SqlValue::Integer(key);
    }
    rows
}

/// As the trait asks for: NULL is empty, an empty text is not.
fn csv(rows: &WorkloadRows) -> String {
    let mut csv = String::new();
    for row in rows {
        let fields = row.iter().map(|value| match value {
            SqlValue::Text(text) => format!("\"{}\"", text.replace('"', "\"\"")),
            other => other.to_string(),
        });
        writeln!(csv, "{}", fields.collect::<Vec<_>>().join(",")).unwrap();
    }
    csv
}

fn stored(target: &dyn Target, table: &str) -> WorkloadRows {
    let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
    let query = format!("SELECT {} FROM {table} ORDER BY id", names.join(", "));
    target.connect().unwrap().query(&query, &[]).unwrap()
}

pub fn loaded_rows_are_those_of_the_file(target: &dyn Target) {
    let table = table("loaded");
    let directory = ScratchDirectory::new(&format!("csv-of-{}", target.name().replace(' ', "-")));
    let file = directory.path().join("rows.csv");
    std::fs::write(&file, csv(&rows())).unwrap();
    target.create_table(&table).unwrap();
    target.load(&table, &file).unwrap();
    assert_eq!(stored(target, "loaded"), rows());
}

pub fn inserted_rows_are_those_of_the_parameters(target: &dyn Target) {
    target.create_table(&table("inserted")).unwrap();
    let mut session = target.connect().unwrap();
    let insert = "INSERT INTO inserted VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    for row in rows() {
        assert_eq!(session.execute(insert, &row), Ok(1));
    }
    assert_eq!(stored(target, "inserted"), rows());
}

pub fn rows_are_found_by_each_of_their_values(target: &dyn Target) {
    let mut session = target.connect().unwrap();
    for row in rows().iter().skip(1) {
        for (column, value) in COLUMNS.iter().zip(row) {
            let query = format!(
                "SELECT id FROM inserted WHERE {} = $1 AND id = $2",
                column.name
            );
            let found = session.query(&query, &[value.clone(), row[0].clone()]);
            assert_eq!(
                found,
                Ok(vec![vec![row[0].clone()]]),
                "{} = {value}",
                column.name
            );
        }
    }
    let found = session
        .query(
            "SELECT id FROM inserted WHERE day < $1 ORDER BY day, id",
            &[SqlValue::Date(0)],
        )
        .unwrap();
    assert_eq!(found, [[SqlValue::Integer(5)], [SqlValue::Integer(3)]]);
}

pub fn totals_are_exact(target: &dyn Target) {
    let mut session = target.connect().unwrap();
    let totals = session.query("SELECT SUM(amount), COUNT(*), SUM(small), AVG(whole), MAX(note) FROM inserted WHERE id <> $1", &[SqlValue::Integer(2)]);
    let totals = totals.unwrap().remove(0);
    assert_eq!(totals[0].as_unscaled(2), Some(95));
    assert_eq!(totals[1].as_integer(), Some(5));
    assert_eq!(totals[2].as_integer(), Some(-1));
    // (-2147483648 + 2147483647 - 1 + 1) / 4 = -0.25
    let average = match totals[3] {
        SqlValue::Double(value) => value,
        SqlValue::Decimal { unscaled, scale } => unscaled as f64 / 10f64.powi(scale.into()),
        ref other => panic!("{other:?}"),
    };
    assert!((average + 0.25).abs() < 1e-9, "{average}");
    assert_eq!(totals[4], SqlValue::text("line\nbreak\r\nand\ttab"));
    let none = session.query(
        "SELECT SUM(amount), MAX(day) FROM inserted WHERE id < $1",
        &[SqlValue::Integer(0)],
    );
    assert_eq!(none, Ok(vec![vec![SqlValue::Null; 2]]));
}
