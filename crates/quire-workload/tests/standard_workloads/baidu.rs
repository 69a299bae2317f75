//! The tests of paper 4 on SQLite.

use crate::harness::{
    LoadedDatabase, NONE, RecordingSession, assert_seeded, rows_of, run, violated,
};
use quire_workload::Workload;
use quire_workload::workloads::baidu::{BaiduRead, BaiduReadOptions, BaiduWrite, HotKeyPlaces};
use std::collections::HashMap;

fn read(places: HotKeyPlaces, seed: u64) -> BaiduRead {
    BaiduRead::new(BaiduReadOptions {
        rows: 1_000,
        exponent: 1.0,
        places,
        seed,
    })
}

fn write(seed: u64) -> BaiduWrite {
    BaiduWrite {
        users: 2,
        rows_of_table: 40,
        seed,
    }
}

#[test]
fn rows_are_read_by_their_keys_some_more_often() {
    for places in [HotKeyPlaces::Adjacent, HotKeyPlaces::Scattered] {
        let workload = read(places, 8);
        let database = LoadedDatabase::new(&workload);
        let mut session = database.session();
        assert_eq!(
            run(session.as_mut(), workload.user(0).as_mut(), 300).len(),
            300
        );
        let session = RecordingSession::of_user(&workload, 0, 20_000);
        let mut counts: HashMap<i64, usize> = HashMap::new();
        for (_, parameters) in &session.statements {
            *counts
                .entry(parameters[0].as_integer().unwrap())
                .or_default() += 1;
        }
        let (hottest, count) = counts.iter().max_by_key(|(_, count)| **count).unwrap();
        // The first of 1,000 ranks has 1 / H(1000) = 13.4 %.
        assert!((2_480..2_880).contains(count), "{count}");
        assert_eq!(*hottest == 1, places == HotKeyPlaces::Adjacent);
        assert!(counts.keys().all(|key| (1..=1_000).contains(key)));
    }
}

#[test]
fn each_user_fills_its_six_tables_in_random_order_and_is_done() {
    let workload = write(9);
    assert_eq!(workload.tables().len(), 12);
    let database = LoadedDatabase::new(&workload);
    let mut session = database.session();
    for number in 0..2 {
        let ends = run(session.as_mut(), workload.user(number).as_mut(), usize::MAX);
        assert_eq!(ends.len(), 6 * 40);
    }
    assert!(workload.user(2).next().is_none());
    for table in workload.tables() {
        let name = &table.name;
        let of = |what: &str| database.integer(&format!("SELECT {what} FROM {name}"));
        assert_eq!(
            (of("COUNT(*)"), of("MIN(id)"), of("MAX(id)")),
            (40, 1, 40),
            "{name}"
        );
    }
    let keys: Vec<i64> = RecordingSession::of_user(&workload, 0, 240)
        .statements
        .iter()
        .step_by(6)
        .map(|(_, row)| row[0].as_integer().unwrap())
        .collect();
    let ascending = keys.windows(2).filter(|pair| pair[0] < pair[1]).count();
    assert!((8..32).contains(&ascending), "{keys:?}");
    assert_eq!(violated(&workload.check(session.as_mut()).unwrap()), NONE);
    session
        .execute("UPDATE records_0_1 SET id = 41 WHERE id = 40", &[])
        .unwrap();
    assert_eq!(violated(&workload.check(session.as_mut()).unwrap()), [2]);
}

#[test]
fn a_seed_decides_rows_and_transactions() {
    assert_seeded(|seed| Box::new(read(HotKeyPlaces::Scattered, seed)), true);
    assert_seeded(|seed| Box::new(write(seed)), false);
    assert!(rows_of(&write(1), "records_0_0").is_empty());
}
