//! A folder of data is generated once, refused for other data, and fills a target.

use crate::fake::{FakeTarget, ScriptedWorkload};
use quire_workload::SqlValue;
use quire_workload::data::{DataFolder, LoadStepKind, WorkloadDataError, load_tables};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// A folder that is removed.
struct TestFolder(PathBuf);

impl TestFolder {
    fn new(name: &str) -> Self {
        let name = format!("quire-workload-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

static GO_ON: AtomicBool = AtomicBool::new(false);

fn workload(rows: i64) -> ScriptedWorkload {
    let row = |id| vec![SqlValue::Integer(id), SqlValue::Null];
    ScriptedWorkload {
        rows: (0..rows).map(row).collect(),
        ..ScriptedWorkload::new(&[], 0)
    }
}

#[test]
fn data_is_generated_once_and_loaded_in_order() {
    let folder = TestFolder::new("once");
    let workload = workload(3);
    let mut told = Vec::new();
    let data = DataFolder::generate(&folder.0, &workload, 0.5, 9, &GO_ON, &mut |progress| {
        told.push((
            progress.table.to_owned(),
            progress.table_index,
            progress.rows,
        ));
    });
    let data = data.unwrap();
    assert_eq!(told.last(), Some(&("two".to_owned(), 1, 6)));
    let read = |table| fs::read_to_string(data.csv(table).unwrap()).unwrap();
    assert_eq!(read("one"), "0,\n1,\n2,\n");
    assert_eq!(
        data.table("two").map(|table| (table.rows, table.bytes)),
        Some((6, 18))
    );

    // Nothing is generated again, by whom there are no rows to have.
    let again = self::workload(0);
    let again = DataFolder::generate(&folder.0, &again, 0.5, 9, &GO_ON, &mut |_| {
        panic!("generated again")
    });
    assert_eq!(again.unwrap().tables(), data.tables());

    let target = FakeTarget::default();
    let mut steps = 0;
    let loaded = load_tables(&workload, &data, &target, &GO_ON, &mut |_, count| {
        steps += 1;
        assert_eq!(count, 7);
    });
    let loaded = loaded.unwrap();
    let asked = target.asked.steps.lock().unwrap().join(", ");
    assert_eq!(
        asked,
        "create one, create two, load one 3, load two 6, index one, index two, settle"
    );
    assert_eq!((steps, loaded.steps.len()), (7, 7));
    assert_eq!((loaded.rows(), loaded.csv_bytes()), (9, 27));
    assert_eq!(loaded.stored_bytes(), 1_000);
    assert_eq!(loaded.steps[6].kind, LoadStepKind::Settle);
}

#[test]
fn a_folder_of_other_data_is_refused_and_kept() {
    let folder = TestFolder::new("other");
    let generate = |scale, seed| {
        DataFolder::generate(&folder.0, &workload(1), scale, seed, &GO_ON, &mut |_| {})
    };
    generate(1.0, 9).unwrap();
    for (scale, seed) in [(2.0, 9), (1.0, 8)] {
        let error = generate(scale, seed).unwrap_err();
        let message = error.to_string();
        assert!(
            matches!(error, WorkloadDataError::OtherData { .. }),
            "{message}"
        );
        assert!(message.contains("scripted, scale 1, seed 9"), "{message}");
    }
    generate(1.0, 9).unwrap();
}

#[test]
fn a_folder_with_other_files_is_refused() {
    let folder = TestFolder::new("foreign");
    fs::create_dir_all(&folder.0).unwrap();
    fs::write(folder.0.join("letter.txt"), "x").unwrap();
    let error = DataFolder::generate(&folder.0, &workload(1), 1.0, 9, &GO_ON, &mut |_| {});
    assert!(matches!(error, Err(WorkloadDataError::ForeignFiles { .. })));
}

#[test]
fn a_stamp_that_is_broken_and_a_file_that_is_cut_are_refused() {
    let folder = TestFolder::new("broken");
    let generate = || DataFolder::generate(&folder.0, &workload(2), 1.0, 9, &GO_ON, &mut |_| {});
    let csv = generate().unwrap().csv("two").unwrap();
    fs::write(&csv, "0,\n").unwrap();
    assert!(matches!(
        generate(),
        Err(WorkloadDataError::Length { found: 3, .. })
    ));
    let stamp = folder.0.join("workload-data.json");
    fs::write(&stamp, "{\"format_version\": 99}").unwrap();
    assert!(matches!(
        generate(),
        Err(WorkloadDataError::OtherVersion { found: 99, .. })
    ));
    fs::write(&stamp, "{").unwrap();
    assert!(matches!(generate(), Err(WorkloadDataError::Stamp { .. })));
}

#[test]
fn what_a_cancellation_left_out_is_generated_by_the_next_call() {
    let folder = TestFolder::new("cancelled");
    let cancel = AtomicBool::new(false);
    let workload = workload(20_000);
    let cancelled = DataFolder::generate(&folder.0, &workload, 1.0, 9, &cancel, &mut |progress| {
        let is_within_second = progress.table == "two" && progress.rows > 0;
        cancel.fetch_or(is_within_second, Ordering::Relaxed);
    });
    assert!(matches!(cancelled, Err(WorkloadDataError::Cancelled)));
    let data = DataFolder::generate(&folder.0, &workload, 1.0, 9, &GO_ON, &mut |progress| {
        assert_eq!(progress.table, "two");
    });
    assert_eq!(
        data.unwrap().table("two").map(|table| table.rows),
        Some(40_000)
    );
}
