//! Do the statements run unchanged on every server, and are they right when users work at once?
//!
//! A server that is not installed is skipped with a printed line; `QUIRE` is the path of Quire's program.

use crate::harness::{NONE, load, run, violated};
use quire_workload::target::servers::{
    ServerSettings, start_mariadb, start_postgresql, start_quire,
};
use quire_workload::workloads::KeyDistribution;
use quire_workload::workloads::baidu::{BaiduRead, BaiduReadOptions, BaiduWrite, HotKeyPlaces};
use quire_workload::workloads::sysbench::{Sysbench, SysbenchOptions, SysbenchTest, TableShape};
use quire_workload::workloads::tpc_b::TpcB;
use quire_workload::workloads::tpc_c::{TpcC, TpcCScale};
use quire_workload::{Target, TargetError, Workload};
use std::path::{Path, PathBuf};

const USERS: u32 = 4;

/// No two of them share a table. Users meet on few rows.
fn workloads() -> Vec<(Box<dyn Workload>, usize)> {
    let sysbench = SysbenchOptions {
        shape: TableShape::Wide,
        rows: 100,
        distribution: KeyDistribution::Uniform,
        ..SysbenchOptions::new(SysbenchTest::ReadWrite, 31)
    };
    let tpc_b = TpcB {
        accounts_of_branch: 100,
        ..TpcB::new(1, 32)
    };
    let read = BaiduReadOptions {
        rows: 200,
        exponent: 1.0,
        places: HotKeyPlaces::Scattered,
        seed: 33,
    };
    let write = BaiduWrite {
        users: USERS,
        rows_of_table: 10,
        seed: 34,
    };
    vec![
        (Box::new(TpcC::new(TpcCScale::reduced(1), 35)), 120),
        (Box::new(tpc_b), 60),
        (Box::new(Sysbench::new(sysbench)), 60),
        (Box::new(BaiduRead::new(read)), 60),
        (Box::new(write), 60),
    ]
}

fn runs_everything(
    name: &str,
    start: impl Fn(&Path, &ServerSettings) -> Result<Box<dyn Target>, TargetError>,
) {
    let folder = format!("quire-standard-workloads-{name}-{}", std::process::id());
    let directory = std::env::temp_dir().join(folder);
    std::fs::create_dir_all(&directory).unwrap();
    let settings = ServerSettings {
        pool_bytes: 32 << 20,
        ..ServerSettings::default()
    };
    let target = start(&directory, &settings).unwrap();
    for (workload, transactions) in workloads() {
        runs(workload.as_ref(), target.as_ref(), transactions);
    }
    drop(target);
    // A failing test reports its own error.
    let _ = std::fs::remove_dir_all(&directory);
}

fn runs(workload: &dyn Workload, target: &dyn Target, transactions: usize) {
    let name = workload.name();
    let csv_folder = std::env::temp_dir().join(format!("quire-rows-{}-{name}", std::process::id()));
    let csv_folder = csv_folder.with_extension(target.processes()[0].to_string());
    std::fs::create_dir_all(&csv_folder).unwrap();
    load(workload, target, &csv_folder);
    let _ = std::fs::remove_dir_all(&csv_folder);
    std::thread::scope(|scope| {
        for number in 0..USERS {
            scope.spawn(move || {
                let mut session = target.connect().unwrap();
                let mut user = workload.user(number);
                run(session.as_mut(), user.as_mut(), transactions)
            });
        }
    });
    let mut session = target.connect().unwrap();
    let outcomes = workload.check(session.as_mut()).unwrap();
    assert_eq!(
        violated(&outcomes),
        NONE,
        "{name} on {}: {outcomes:#?}",
        target.name()
    );
}

/// Whether a program is in the search path or in a folder of it.
fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    places.push("/usr/sbin".into());
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    places.extend(versions.map(|version| version.path().join("bin")));
    let is_there = places.iter().any(|place| place.join(program).is_file());
    if !is_there {
        println!("skipped: {program} is not installed");
    }
    is_there
}

#[test]
fn postgresql() {
    if is_installed("postgres") {
        runs_everything("postgresql", |directory, settings| {
            Ok(Box::new(start_postgresql(directory, settings, "")?))
        });
    }
}

#[test]
fn mariadb() {
    if is_installed("mariadbd") {
        runs_everything("mariadb", |directory, settings| {
            Ok(Box::new(start_mariadb(directory, settings, "")?))
        });
    }
}

#[test]
fn quire() {
    let quire = std::env::var_os("QUIRE").map(PathBuf::from);
    let Some(quire) = quire.filter(|quire| quire.is_file()) else {
        println!("skipped: QUIRE is not the path of Quire's program");
        return;
    };
    runs_everything("quire", |directory, settings| {
        Ok(Box::new(start_quire(&quire, directory, settings, "")?))
    });
}
