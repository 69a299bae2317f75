//! Does the Stress Test do what its description says?

use crate::loaded::{Loaded, assert_share, run, users};
use quire_workload::workloads::stress_test::StressTest;
use quire_workload::{SqlValue, Workload, WorkloadSession};

const SEED: u64 = 11;
const TRANSACTIONS: usize = 4_000;

#[test]
fn transactions_come_by_weight_and_rows_are_as_described() {
    println!("seed {SEED}");
    let workload = StressTest::new(SEED);
    let loaded = Loaded::new(&workload, true);
    assert_eq!(loaded.count("SELECT count(*) FROM stresstesttable"), 0);
    assert_eq!(loaded.violated(&workload), Vec::<String>::new());

    let mut session = loaded.session();
    let kinds = run(&mut users(&workload, 5), &mut session, TRANSACTIONS);
    for (kind, weight) in [15.0, 40.0, 30.0, 10.0].into_iter().enumerate() {
        let name = workload.kinds()[kind].name;
        assert_share(name, kinds[kind], TRANSACTIONS, weight / 95.0);
    }
    assert_eq!(session.queries as usize, kinds[1]);
    assert_eq!(session.changes as usize, kinds[0] + kinds[2] + kinds[3]);
    println!(
        "stress test: {} reads, {} writes, of which {:.0} % read",
        session.queries,
        session.changes,
        100.0 * session.queries as f64 / TRANSACTIONS as f64
    );
    assert_eq!(loaded.violated(&workload), Vec::<String>::new());

    let rows = session
        .query(
            "SELECT id, aint, afloat, asmallvarchar, abigvarchar, adate FROM stresstesttable",
            &[],
        )
        .unwrap();
    let deleted = kinds[0] - rows.len();
    assert!(deleted > 0 && deleted < kinds[3], "some are deleted twice");
    let letters = |value: &SqlValue, most: usize| {
        let text = value.as_text().unwrap();
        (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    for row in &rows {
        assert!(letters(&row[3], 10) && letters(&row[4], 999), "{row:?}");
        assert!(row[1].as_integer().unwrap() >= 1);
    }
    let short = rows
        .iter()
        .filter(|row| row[4].as_text().unwrap().len() <= 499);
    assert_share(
        "texts of up to 499 letters",
        short.count(),
        rows.len(),
        499.0 / 999.0,
    );
}

#[test]
fn damaged_rows_are_found() {
    let workload = StressTest::new(SEED);
    let loaded = Loaded::new(&workload, false);
    run(&mut users(&workload, 2), &mut loaded.session(), 400);
    let rows = "rows are those inserted less those deleted";
    let values = "rows are as they were inserted, with ids of the run";
    loaded.each_damage_is_found(
        &workload,
        &[
            ("DELETE FROM stresstesttable WHERE id = (SELECT min(id) FROM stresstesttable)", rows),
            ("INSERT INTO stresstesttable (id, aint) VALUES (100000, 1)", rows),
            ("UPDATE stresstesttable SET id = 100000 WHERE id = (SELECT min(id) FROM stresstesttable)", values),
            ("UPDATE stresstesttable SET aint = 0 WHERE id = (SELECT min(id) FROM stresstesttable)", values),
        ],
    );
}

#[test]
fn the_same_seed_gives_the_same_statements() {
    let statements = |seed| {
        let workload = StressTest::new(seed);
        let loaded = Loaded::new(&workload, true);
        let mut session = loaded.recording_session();
        run(&mut users(&workload, 3), &mut session, 300);
        session.texts
    };
    assert_eq!(statements(SEED), statements(SEED));
    assert_ne!(statements(SEED), statements(SEED + 1));
}
