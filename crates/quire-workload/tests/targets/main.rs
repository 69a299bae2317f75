//! Does every target do the same with the same statements?
//!
//! One set of laws for all of them. A server that is not installed is skipped with a printed line; `QUIRE` is the path of Quire's program.

#![allow(clippy::unwrap_used)]

mod changes;
mod conflicts;
mod definitions;
mod scratch;
mod transactions;
mod values;

use quire_workload::target::servers::{
    ServerSettings, start_mariadb, start_postgresql, start_quire,
};
use quire_workload::target::sqlite::SqliteTarget;
use quire_workload::{SqlValue, Target, TargetError};
use scratch::{ScratchDirectory, installed};
use std::path::{Path, PathBuf};

/// The laws that hold for every target.
fn keeps_the_laws(target: &dyn Target) {
    values::loaded_rows_are_those_of_the_file(target);
    values::inserted_rows_are_those_of_the_parameters(target);
    values::rows_are_found_by_each_of_their_values(target);
    values::totals_are_exact(target);
    changes::parameters_are_used_twice_and_out_of_order(target);
    changes::changed_rows_are_counted(target);
    changes::a_violated_key_fails_and_leaves_the_session_usable(target);
    changes::a_wrong_number_of_parameters_fails(target);
    transactions::what_is_rolled_back_is_gone(target);
    transactions::what_is_committed_is_seen_by_others(target);
    transactions::a_session_that_is_closed_rolls_back(target);
    conflicts::no_update_is_lost(target);
    definitions::a_wrong_file_is_refused(target);
    target.settle().unwrap();
    assert!(target.stored_bytes().unwrap() > 0);
}

/// Those of servers: started in a directory, stopped, and started there again.
fn is_a_server(
    start: impl Fn(&Path, &ServerSettings) -> Result<Box<dyn Target>, TargetError>,
    name: &str,
) {
    let directory = ScratchDirectory::new(name);
    let settings = ServerSettings {
        pool_bytes: 32 << 20,
        ..ServerSettings::default()
    };
    let target = start(directory.path(), &settings).unwrap();
    keeps_the_laws(&*target);
    conflicts::one_of_two_that_wait_for_each_other_runs_again(&*target);
    conflicts::it_takes_many_users(&*target, 100);
    let session = target.connect().unwrap();
    let processes = target.processes();
    assert!(!processes.is_empty());
    let is_there = |process: &u32| Path::new(&format!("/proc/{process}")).exists();
    assert!(processes.iter().all(is_there));
    drop(target);
    assert!(!processes.iter().any(is_there), "{name} is still there");
    drop(session);

    let target = start(directory.path(), &settings).unwrap();
    let count = target
        .connect()
        .unwrap()
        .query("SELECT COUNT(*) FROM loaded", &[])
        .unwrap();
    assert_eq!(count, [[SqlValue::Integer(values::rows().len() as i64)]]);
}

#[test]
fn sqlite() {
    let directory = ScratchDirectory::new("sqlite");
    let target = SqliteTarget::open(directory.path()).unwrap();
    keeps_the_laws(&target);
    assert!(target.processes().is_empty());
    assert_eq!(
        target.connect().unwrap().query(
            "SELECT id FROM loaded WHERE id = $1 FOR UPDATE",
            &[SqlValue::Integer(1)]
        ),
        Ok(vec![vec![SqlValue::Integer(1)]])
    );
}

#[test]
fn postgresql() {
    if installed("postgres", "/usr/lib/postgresql/*/bin") {
        is_a_server(
            |directory, settings| {
                Ok(Box::new(start_postgresql(
                    directory,
                    settings,
                    "WITH (fillfactor = 90)",
                )?))
            },
            "postgresql",
        );
    }
}

#[test]
fn mariadb() {
    if installed("mariadbd", "/usr/sbin") {
        is_a_server(
            |directory, settings| {
                Ok(Box::new(start_mariadb(
                    directory,
                    settings,
                    "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8",
                )?))
            },
            "mariadb",
        );
    }
}

#[test]
fn quire() {
    let Some(quire) = std::env::var_os("QUIRE")
        .map(PathBuf::from)
        .filter(|quire| quire.is_file())
    else {
        println!("skipped: QUIRE is not the path of Quire's program");
        return;
    };
    is_a_server(
        |directory, settings| {
            Ok(Box::new(start_quire(
                &quire,
                directory,
                settings,
                "WITH (page_codec = zstd)",
            )?))
        },
        "quire",
    );
}

#[test]
fn a_server_that_cannot_start_says_why() {
    let directory = ScratchDirectory::new("absent");
    let settings = ServerSettings::default();
    let absent = start_quire(Path::new("/nowhere/quire"), directory.path(), &settings, "");
    let message = absent.err().unwrap().to_string();
    assert!(
        message.starts_with("Quire does not start: /nowhere/quire"),
        "{message}"
    );
    let ends = start_quire(Path::new("/bin/false"), directory.path(), &settings, "");
    let message = ends.err().unwrap().to_string();
    assert!(message.contains("exit status: 1"), "{message}");
}
