//! Does Calling Circle have the rows, do the transactions and keep the conditions that its description says?

use crate::loaded::{Loaded, assert_share, rows_of, run, run_of_each_kind, users};
use quire_workload::workloads::calling_circle::CallingCircle;
use quire_workload::{Workload, WorkloadRows};
use std::collections::HashSet;

const SEED: u64 = 31;

#[test]
fn rows_are_as_described() {
    let workload = CallingCircle::new(0.001, SEED);
    let row_of = |table, index: usize| -> Vec<String> {
        rows_of(&workload, table)[index]
            .iter()
            .map(ToString::to_string)
            .collect()
    };
    let count = |table| rows_of(&workload, table).len();
    assert_eq!(count("dialcodes"), 1_002);
    assert_eq!(count("callpackages"), 10);
    assert_eq!(count("packageslots"), 100);
    assert_eq!(count("custaccounts"), 1_000);
    assert_eq!(count("custclis"), 1_000);
    assert_eq!(count("packageclis"), 10_000);
    let start = "1970-01-01 00:00:00.000000";
    let end = "4312-12-31 23:59:59.000000";
    assert_eq!(
        row_of("dialcodes", 0),
        ["-1", start, end, "INIT", "Unused", "Unused", "-1"]
    );
    assert_eq!(
        row_of("dialcodes", 1)[3..],
        ["INTL", "+44", "UK International Dial Code", ""]
    );
    assert_eq!(row_of("dialcodes", 2)[3..5], ["NATL", "01000"]);
    assert_eq!(row_of("dialcodes", 1_001)[4], "01999");
    assert_eq!(
        row_of("custaccounts", 0)[..5],
        ["15000000", start, end, "0000000015000000", "1234"]
    );
    assert_eq!(row_of("custaccounts", 999)[0], "25000499");
    // A line's region and digits are its account's last ones: 25,000,499 is called 01499 000499.
    assert_eq!(
        row_of("custclis", 999),
        [
            "25000499", start, end, "500", "000499", "0", "30", "10", "25000499"
        ]
    );
    // Slot 3 calls the region three further.
    assert_eq!(
        row_of("packageclis", 9_992),
        ["25000499", "3", start, end, "503", "000499"]
    );
}

#[test]
fn conditions_hold_before_and_after_some_hundred_transactions_of_each_kind() {
    println!("seed {SEED}");
    let workload = CallingCircle::new(0.001, SEED);
    let loaded = Loaded::new(&workload, true);
    assert_eq!(loaded.violated(&workload), Vec::<String>::new());
    run_of_each_kind(&workload, &mut loaded.session(), 100);
    assert_eq!(loaded.violated(&workload), Vec::<String>::new());
    let count = |sql: &str| loaded.count(sql);
    assert_eq!(count("SELECT count(*) FROM custaccounts"), 1_100);
    // The slots of new lines are filled, once each, which is no update and keeps no version.
    assert_eq!(
        count("SELECT count(*) FROM packageclis WHERE ccid >= 100000000"),
        1_000
    );
    assert_eq!(
        count("SELECT count(*) FROM packageclis WHERE ccid >= 100000000 AND dcid = -1"),
        0
    );
    assert_eq!(
        count("SELECT sum(ccupdates) FROM custclis WHERE ccid >= 100000000"),
        0
    );
    // Five to nine changes of 100 accounts: 7 on average with a deviation of √2.
    let kept = count("SELECT count(*) FROM packageclis WHERE ccid < 100000000") - 10_000;
    assert_eq!(kept, count("SELECT sum(ccupdates) FROM custclis"));
    assert_eq!(
        count("SELECT count(*) FROM custclis WHERE ccupdates BETWEEN 5 AND 9"),
        100
    );
    let deviation = (100.0_f64 * 2.0).sqrt();
    assert!(
        (kept as f64 - 700.0).abs() < 5.0 * deviation,
        "{kept} changes with seed {SEED}"
    );
    // A version ends a second before the next one begins, so closed ones fill the time from the start on.
    assert_eq!(
        count(
            "SELECT count(*) FROM packageclis a JOIN packageclis b ON b.ccid = a.ccid AND b.psid = a.psid \
             WHERE a.pcvalidto < b.pcvalidto AND datetime(a.pcvalidto, '+1 second') <> datetime(b.pcvalidfrom)"
        ),
        0
    );
}

#[test]
fn lines_are_not_updated_more_often_than_allowed() {
    println!("seed {SEED}");
    // Ten accounts, updated by 80 transactions: eight times five changes each at least.
    let workload = CallingCircle::new(0.00001, SEED);
    let loaded = Loaded::new(&workload, true);
    let mut session = loaded.session();
    run_of_each_kind(&workload, &mut session, 80);
    assert_eq!(loaded.violated(&workload), Vec::<String>::new());
    assert_eq!(
        loaded.count("SELECT count(*) FROM custclis WHERE ccid < 100000000 AND ccupdates = 30"),
        10
    );
}

#[test]
fn prepared_parameters_are_used_up() {
    println!("seed {SEED}");
    let workload = CallingCircle::new(0.001, SEED).prepared(80);
    let loaded = Loaded::new(&workload, true);
    let mut users = users(&workload, 4);
    let kinds = run(&mut users, &mut loaded.session(), 1_000);
    assert_eq!(kinds, [20, 80, 40]);
    assert!(users.iter_mut().all(|user| user.next().is_none()));
    assert_eq!(loaded.violated(&workload), Vec::<String>::new());
}

/// What damages rows, and which condition then fails.
fn damages_of_versions_and_lines() -> Vec<(String, String)> {
    let first_history = "(SELECT min(ccid) FROM packageclis WHERE pcvalidto < '4000-01-01')";
    vec![
        (
            format!(
                "UPDATE packageclis SET pcvalidto = '2013-01-01 00:00:00.000000' WHERE ccid = {first_history} AND psid = 1 AND pcvalidto < '4000-01-01'"
            ),
            "versions of each ccid, psid of packageclis do not overlap".into(),
        ),
        (
            format!(
                "UPDATE packageclis SET pcvalidfrom = '2013-01-01 00:00:00.000000' WHERE ccid = {first_history} AND psid = 1 AND pcvalidto < '4000-01-01'"
            ),
            "versions of each ccid, psid of packageclis do not overlap".into(),
        ),
        (
            format!(
                "DELETE FROM packageclis WHERE ccid = {first_history} AND psid = 1 AND pcvalidto > '4000-01-01'"
            ),
            "one version of each ccid, psid of packageclis is current".into(),
        ),
        (
            format!("DELETE FROM packageclis WHERE ccid = {first_history} AND psid = 1"),
            "every circle has ten slots".into(),
        ),
        (
            format!(
                "DELETE FROM packageclis WHERE ccid = {first_history} AND psid = 1 AND pcvalidto < '4000-01-01'"
            ),
            "a line has as many updates as its slots have old versions".into(),
        ),
        (
            "UPDATE custclis SET ccupdates = 31 WHERE ccid = 15000000".into(),
            "no line has more updates than allowed".into(),
        ),
        (
            "DELETE FROM custaccounts WHERE caid = 15000000".into(),
            "every line has an account".into(),
        ),
        (
            "DELETE FROM custclis WHERE ccid = 15000000".into(),
            "every slot has a line".into(),
        ),
        (
            "UPDATE custaccounts SET caname = '0000000015000001' WHERE caid = 15000000".into(),
            "keys caname, cavalidto of custaccounts are unique".into(),
        ),
    ]
}

#[test]
fn each_condition_fails_when_its_rows_are_damaged() {
    let workload = CallingCircle::new(0.0002, SEED);
    let loaded = Loaded::new(&workload, false);
    run_of_each_kind(&workload, &mut loaded.session(), 30);
    let mut damages = damages_of_versions_and_lines();
    for (table, of, from, to) in [
        ("custaccounts", "caid", "cavalidfrom", "cavalidto"),
        ("custclis", "ccid", "ccvalidfrom", "ccvalidto"),
    ] {
        damages.push((
            format!("UPDATE {table} SET {to} = '2012-01-01 00:00:00.000000' WHERE {of} = 15000000"),
            format!("one version of each {of} of {table} is current"),
        ));
        damages.push((
            format!(
                "UPDATE {table} SET {from} = '4400-01-01 00:00:00.000000' WHERE {of} = 15000000"
            ),
            format!("versions of each {of} of {table} do not overlap"),
        ));
    }
    for table in workload.tables() {
        damages.push((
            format!("INSERT INTO {0} SELECT * FROM {0} LIMIT 1", table.name),
            format!(
                "keys {} of {} are unique",
                table.primary_key.join(", "),
                table.name
            ),
        ));
    }
    let damages: Vec<(&str, &str)> = damages
        .iter()
        .map(|(damage, condition)| (damage.as_str(), condition.as_str()))
        .collect();
    loaded.each_damage_is_found(&workload, &damages);
    let names: HashSet<String> = loaded
        .check(&workload)
        .into_iter()
        .map(|outcome| outcome.name)
        .collect();
    let damaged: HashSet<String> = damages
        .iter()
        .map(|(_, condition)| (*condition).into())
        .collect();
    assert_eq!(names, damaged, "every condition is damaged once");
}

#[test]
fn steps_have_the_statements_that_are_described() {
    let workload = CallingCircle::new(0.001, SEED);
    let loaded = Loaded::new(&workload, true);
    let mut user = workload.user(0);
    let mut seen = [false; 3];
    while seen.contains(&false) {
        let mut transaction = user.next().unwrap();
        let mut session = loaded.recording_session();
        transaction.run(&mut session).unwrap();
        let slots = session
            .texts
            .iter()
            .filter(|text| text.starts_with("UPDATE packageclis"))
            .count() as u64;
        // Login 1, line 2, circle 11. A change: login, line, circle, dial code, 10 of the rule, circle.
        let change = 1 + 2 + 11 + 1 + 10 + 11;
        let (queries, changes) = match transaction.kind() {
            // Login, the dial code of the new line, line, circle, ten changes; an insert, a login, two inserts, and a login and an update each.
            0 => (1 + 1 + 2 + 11 + 10 * change, 1 + 1 + 2 + 10 * 2),
            // A change is a login, an insert, an update and a counted update.
            1 => (1 + 2 + 11 + slots * change, 1 + slots * 4),
            // A new history has ten versions.
            _ => (1 + 2 + 11, 1),
        };
        assert_eq!(
            (session.queries, session.changes),
            (queries, changes),
            "kind {}",
            transaction.kind()
        );
        assert!(match transaction.kind() {
            0 => slots == 10,
            1 => (5..=9).contains(&slots),
            _ => slots == 0,
        });
        seen[transaction.kind()] = true;
    }
}

#[test]
fn statements_that_read_and_write_are_counted() {
    let workload = CallingCircle::new(0.001, SEED);
    let loaded = Loaded::new(&workload, true);
    let mut session = loaded.session();
    let kinds = run(&mut users(&workload, 7), &mut session, 350);
    for (kind, weight) in [25.0, 100.0, 50.0].into_iter().enumerate() {
        assert_share(
            workload.kinds()[kind].name,
            kinds[kind],
            350,
            weight / 175.0,
        );
    }
    let all = session.queries + session.changes;
    println!(
        "calling circle, seed {SEED}: {} reads, {} writes, of which {:.0} % read",
        session.queries,
        session.changes,
        100.0 * session.queries as f64 / all as f64
    );
    assert_eq!(loaded.violated(&workload), Vec::<String>::new());
}

#[test]
fn the_same_seed_gives_the_same_rows_and_statements() {
    let statements = |seed| {
        let workload = CallingCircle::new(0.0002, seed);
        let generated: Vec<WorkloadRows> = workload
            .tables()
            .iter()
            .map(|table| rows_of(&workload, &table.name))
            .collect();
        let loaded = Loaded::new(&workload, true);
        let mut session = loaded.recording_session();
        run(&mut users(&workload, 3), &mut session, 60);
        (generated, session.texts)
    };
    assert!(
        statements(SEED) == statements(SEED),
        "seed {SEED} gives other statements the second time"
    );
    assert!(statements(SEED).1 != statements(SEED + 1).1);
}
