//! sysbench's rows, statements and transactions.

use crate::harness::{
    LoadedDatabase, NONE, RecordingSession, assert_seeded, rows_of, run, violated,
};
use quire_workload::workloads::KeyDistribution;
use quire_workload::workloads::sysbench::{
    RowOrder, Sysbench, SysbenchOptions, SysbenchTest, TableShape,
};
use quire_workload::{SqlValue, Workload};

const TESTS: [SysbenchTest; 4] = [
    SysbenchTest::PointSelect,
    SysbenchTest::ReadOnly,
    SysbenchTest::WriteOnly,
    SysbenchTest::ReadWrite,
];

fn options(test: SysbenchTest, shape: TableShape) -> SysbenchOptions {
    SysbenchOptions {
        shape,
        tables: 2,
        rows: 300,
        ..SysbenchOptions::new(test, 6)
    }
}

fn integers(rows: &[Vec<SqlValue>], column: usize) -> Vec<i64> {
    rows.iter()
        .map(|row| row[column].as_integer().unwrap())
        .collect()
}

#[test]
fn narrow_rows_have_sysbenchs_format() {
    let workload = Sysbench::new(options(SysbenchTest::ReadWrite, TableShape::Narrow));
    for table in ["sbtest1", "sbtest2"] {
        let rows = rows_of(&workload, table);
        assert!(integers(&rows, 0).into_iter().eq(1..=300));
        for row in &rows {
            assert!((1..=300).contains(&row[1].as_integer().unwrap()));
            for (column, groups) in [(2, 10), (3, 5)] {
                let text = row[column].as_text().unwrap();
                let parts: Vec<&str> = text.split('-').collect();
                assert_eq!(parts.len(), groups);
                let is_group = |part: &&str| part.len() == 11 && part.parse::<u64>().is_ok();
                assert!(parts.iter().all(is_group), "{text}");
            }
        }
    }
    assert_ne!(rows_of(&workload, "sbtest1"), rows_of(&workload, "sbtest2"));
}

/// Paper 3: a centre for each column, uniform in 2^8 to 2^16, and values uniform within 10 % of it.
#[test]
fn wide_rows_are_those_of_paper_3() {
    let workload = Sysbench::new(SysbenchOptions {
        rows: 2_000,
        ..options(SysbenchTest::ReadWrite, TableShape::Wide)
    });
    let rows = rows_of(&workload, "sbtest1");
    assert_eq!(rows[0].len(), 34);
    let mut middles = Vec::new();
    for column in 1..=32 {
        let values = integers(&rows, column);
        let (least, most) = (*values.iter().min().unwrap(), *values.iter().max().unwrap());
        let middle = (least + most) / 2;
        assert!((250..=66_000).contains(&middle), "{middle}");
        let spread = (most - least) as f64 / middle as f64;
        assert!((0.18..=0.2).contains(&spread), "column {column}: {spread}");
        middles.push(middle);
    }
    middles.sort_unstable();
    assert!(middles[8] < 33_000 && middles[23] > 33_000, "{middles:?}");
    let texts: Vec<&str> = rows.iter().map(|row| row[33].as_text().unwrap()).collect();
    assert!(texts.iter().all(|text| text.len() == 32 && text.is_ascii()));
    let with_the = texts.iter().filter(|text| text.contains("the ")).count();
    assert!(with_the > 200, "English has `the` everywhere: {with_the}");
}

#[test]
fn rows_come_in_random_order_when_asked() {
    let workload = Sysbench::new(SysbenchOptions {
        row_order: RowOrder::Random,
        ..options(SysbenchTest::WriteOnly, TableShape::Wide)
    });
    let mut keys = integers(&rows_of(&workload, "sbtest2"), 0);
    let ascending = keys.windows(2).filter(|pair| pair[0] < pair[1]).count();
    assert!((120..180).contains(&ascending), "{ascending} of 299 ascend");
    keys.sort_unstable();
    assert!(keys.into_iter().eq(1..=300));
}

/// The defaults of oltp_common.lua.
#[test]
fn a_transaction_has_sysbenchs_statements() {
    let reads: &[(&str, usize)] = &[
        ("SELECT c FROM sbtestN WHERE id = $1", 10),
        ("SELECT c FROM sbtestN WHERE id BETWEEN $1 AND $2", 1),
        ("SELECT SUM(k) FROM sbtestN WHERE id BETWEEN $1 AND $2", 1),
        (
            "SELECT c FROM sbtestN WHERE id BETWEEN $1 AND $2 ORDER BY c",
            1,
        ),
        (
            "SELECT DISTINCT c FROM sbtestN WHERE id BETWEEN $1 AND $2 ORDER BY c",
            1,
        ),
    ];
    let writes: &[(&str, usize)] = &[
        ("UPDATE sbtestN SET k = k + 1 WHERE id = $1", 1),
        ("UPDATE sbtestN SET c = $1 WHERE id = $2", 1),
        ("DELETE FROM sbtestN WHERE id = $1", 1),
        (
            "INSERT INTO sbtestN (id, k, c, pad) VALUES ($1, $2, $3, $4)",
            1,
        ),
    ];
    let point: &[(&str, usize)] = &[("SELECT c FROM sbtestN WHERE id = $1", 1)];
    let begin: &[(&str, usize)] = &[("BEGIN", 1)];
    let commit: &[(&str, usize)] = &[("COMMIT", 1)];
    for (test, expected) in TESTS.into_iter().zip([
        point.to_vec(),
        [begin, reads, commit].concat(),
        [begin, writes, commit].concat(),
        [begin, reads, writes, commit].concat(),
    ]) {
        let workload = Sysbench::new(options(test, TableShape::Narrow));
        let session = RecordingSession::of_user(&workload, 0, 1);
        let mut found: Vec<(String, usize)> = Vec::new();
        for (sql, parameters) in &session.statements {
            if sql.contains("BETWEEN") {
                let bounds = integers(std::slice::from_ref(parameters), 1)[0]
                    - integers(std::slice::from_ref(parameters), 0)[0];
                assert_eq!(bounds, 99, "a range of 100 keys");
            }
            let sql = sql
                .replace("sbtest1", "sbtestN")
                .replace("sbtest2", "sbtestN");
            match found.last_mut().filter(|(last, _)| *last == sql) {
                Some((_, count)) => *count += 1,
                None => found.push((sql, 1)),
            }
        }
        let expected: Vec<_> = expected
            .iter()
            .map(|(sql, count)| ((*sql).to_owned(), *count))
            .collect();
        assert_eq!(found, expected, "{test:?}");
    }
}

#[test]
fn all_tests_run_on_both_shapes_and_keep_the_rows() {
    for shape in [TableShape::Narrow, TableShape::Wide] {
        for (number, test) in (0..).zip(TESTS) {
            let distributions = [
                KeyDistribution::Special,
                KeyDistribution::Uniform,
                KeyDistribution::Zipf { exponent: 0.8 },
            ];
            let workload = Sysbench::new(SysbenchOptions {
                distribution: distributions[number % 3],
                ..options(test, shape)
            });
            let database = LoadedDatabase::new(&workload);
            let mut session = database.session();
            for user in 0..2 {
                run(session.as_mut(), workload.user(user).as_mut(), 50);
            }
            let outcomes = workload.check(session.as_mut()).unwrap();
            assert_eq!(outcomes.len(), 2);
            assert_eq!(violated(&outcomes), NONE, "{test:?}: {outcomes:#?}");
            for damage in [
                "DELETE FROM sbtest2 WHERE id = 9",
                "UPDATE sbtest2 SET id = 301 WHERE id = 300",
            ] {
                session.begin().unwrap();
                assert_eq!(session.execute(damage, &[]).unwrap(), 1);
                assert_eq!(violated(&workload.check(session.as_mut()).unwrap()), [2]);
                session.rollback().unwrap();
            }
        }
    }
}

#[test]
fn a_seed_decides_rows_and_transactions() {
    for shape in [TableShape::Narrow, TableShape::Wide] {
        let workload = |seed| {
            Sysbench::new(SysbenchOptions {
                seed,
                ..options(SysbenchTest::ReadWrite, shape)
            })
        };
        assert_seeded(|seed| Box::new(workload(seed)), true);
    }
}
