//! Changes of one table by several transactions, and merges beside them.

use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use quire_kv::mvcc::LockError;
use quire_kv::{
    mvcc::Isolation, mvcc::LockWait, mvcc::RowLockMode, mvcc::TableLockMode,
    mvcc::TransactionOptions, progress::Phase, progress::StatementWork,
};
use quire_store::MemDisk;
use quire_store::disk::{DiskCall, HookedDisk};
use quire_tables::{MergeOptions, RowWriteError};

use crate::fixture::{
    Row, TABLE, append, change, changeable, engine_on, insert, keyed_rows, reopened, rows_of,
    table, transaction,
};

/// What is done before each sync.
type BeforeSync = Box<dyn FnMut() + Send>;

fn numbered(count: i64) -> Vec<Row> {
    (0..count)
        .map(|number| (number, Some(format!("row {number}"))))
        .collect()
}

#[test]
fn whoever_waited_for_a_row_finds_where_it_has_gone() {
    let engine = engine_on(&Arc::new(MemDisk::new()));
    let mut setup = transaction(&engine);
    append(&mut setup, &numbered(10), 100);
    changeable(&mut setup);
    setup.commit().unwrap();

    let mut first = transaction(&engine);
    let mut second = transaction(&engine);
    let (own, other) = (table(&first), table(&second));
    let rows = keyed_rows(&own);
    let changed = (3, Some("changed".to_owned()));
    assert!(change(&mut first, &own, &rows[3].0, Some(&changed)));
    assert!(change(&mut first, &own, &rows[4].0, None));
    let keys = [rows[3].0.clone(), rows[4].0.clone()];
    let waiting = thread::spawn(move || {
        let found = keys.map(|key| change(&mut second, &other, &key, None));
        second.begin_statement();
        let keys = rows.iter().map(|(key, _)| key.as_slice().into());
        let keys: Vec<Box<[u8]>> = keys.collect();
        let moved = table(&second).moved_rows(&keys).unwrap();
        (found, moved, keyed_rows(&table(&second)))
    });
    thread::sleep(Duration::from_millis(50));
    first.commit().unwrap();
    let (found, moved, now) = waiting.join().unwrap();
    assert_eq!(found, [false, false]);
    // Of all rows only one is elsewhere: the deleted one is nowhere, the others are where they were.
    let [moved] = &*moved else {
        panic!("{moved:?}");
    };
    let place = now.iter().find(|(key, _)| key.as_slice() == &**moved);
    assert_eq!(place.unwrap().1, changed);
}

#[test]
fn later_levels_refuse_rows_that_others_have_changed() {
    let engine = engine_on(&Arc::new(MemDisk::new()));
    let mut setup = transaction(&engine);
    append(&mut setup, &numbered(10), 100);
    setup.commit().unwrap();
    let mut late = engine.transaction(TransactionOptions {
        isolation: Isolation::RepeatableRead,
        ..TransactionOptions::default()
    });
    let rows = keyed_rows(&table(&late));

    let mut first = transaction(&engine);
    let own = changeable(&mut first);
    assert!(change(&mut first, &own, &rows[3].0, None));
    first.commit().unwrap();

    // The snapshot is older than the trees, and the table is still the same.
    let own = changeable(&mut late);
    assert_eq!(rows_of(&own), numbered(10));
    let mut writer = late.row_writer(own.delta().unwrap().parts());
    let refused = writer.lock(&rows[3].0, RowLockMode::Exclusive, LockWait::Wait);
    assert!(matches!(
        refused,
        Err(RowWriteError::Lock(LockError::Conflict))
    ));
    assert!(late.is_current_column_table(&own));

    let mut merging = transaction(&engine);
    merging
        .merge_changes(TABLE, MergeOptions::default())
        .unwrap();
    merging.commit().unwrap();
    assert!(!late.is_current_column_table(&own));
    // The trees are gone, but not for who has seen them.
    engine.checkpoint().unwrap();
    late.begin_statement();
    assert_eq!(rows_of(&table(&late)), numbered(10));
}

#[test]
fn a_merge_waits_for_writers_and_keeps_others_out() {
    let engine = engine_on(&Arc::new(MemDisk::new()));
    let mut setup = transaction(&engine);
    append(&mut setup, &numbered(100), 30);
    setup.commit().unwrap();

    let mut writing = transaction(&engine);
    let own = changeable(&mut writing);
    writing
        .lock_table(own.id(), TableLockMode::RowExclusive, LockWait::Wait)
        .unwrap();
    for (key, row) in keyed_rows(&own) {
        if row.0 % 2 == 0 {
            assert!(change(&mut writing, &own, &key, None));
        }
    }
    let mut skipping = transaction(&engine);
    let options = MergeOptions {
        wait: LockWait::Skip,
        ..MergeOptions::default()
    };
    let report = skipping.merge_changes(TABLE, options).unwrap();
    assert!(report.is_postponed);
    drop(skipping);
    writing.commit().unwrap();

    let reading = engine.snapshot();
    let mut merging = transaction(&engine);
    let report = merging
        .merge_changes(TABLE, MergeOptions::default())
        .unwrap();
    assert_eq!(
        (report.row_count, report.row_groups, report.deleted_rows),
        (50, 4, 50)
    );
    // Readers go on meanwhile, and later.
    let expected: Vec<Row> = numbered(100)
        .into_iter()
        .filter(|row| row.0 % 2 == 1)
        .collect();
    let before = reading.table(TABLE).unwrap().unwrap();
    assert_eq!(rows_of(&before), expected);
    let refused =
        transaction(&engine).lock_table(own.id(), TableLockMode::RowExclusive, LockWait::Skip);
    assert!(!refused.unwrap());
    merging.commit().unwrap();
    assert_eq!(rows_of(&before), expected);
    let after = engine.snapshot().table(TABLE).unwrap().unwrap();
    assert_eq!((rows_of(&after), after.row_group_count()), (expected, 1));
    assert!(after.statistics(0).unwrap().min_exact);
}

/// Only some row groups are written again: the entries of the others stay, those of the written ones go.
#[test]
fn a_merge_of_some_row_groups_keeps_the_deletions_of_others() {
    let disk = Arc::new(MemDisk::new());
    let engine = engine_on(&disk);
    let mut setup = transaction(&engine);
    append(&mut setup, &numbered(300), 100);
    let own = changeable(&mut setup);
    for (key, row) in keyed_rows(&own) {
        if row.0 == 7 || (100..150).contains(&row.0) {
            assert!(change(&mut setup, &own, &key, None));
        }
    }
    setup.commit().unwrap();
    let mut merging = transaction(&engine);
    let options = MergeOptions {
        deleted_share: 0.2,
        ..MergeOptions::default()
    };
    let report = merging.merge_changes(TABLE, options).unwrap();
    assert_eq!(
        (report.row_count, report.row_groups, report.deleted_rows),
        (50, 1, 50)
    );
    merging.commit().unwrap();
    drop((engine, own));
    let engine = reopened(&disk);
    let table = engine.snapshot().table(TABLE).unwrap().unwrap();
    let is_left = |row: &Row| row.0 != 7 && !(100..150).contains(&row.0);
    let expected: Vec<Row> = numbered(300).into_iter().filter(is_left).collect();
    assert_eq!(rows_of(&table), expected);
    assert_eq!(
        (table.stored_row_count(), table.row_count().unwrap()),
        (250, 249)
    );
    assert_eq!(engine.check_rows(), []);
}

#[test]
fn a_merge_counts_the_rows_it_goes_over() {
    let engine = engine_on(&Arc::new(MemDisk::new()));
    let mut setup = transaction(&engine);
    append(&mut setup, &numbered(300), 100);
    let own = changeable(&mut setup);
    for (key, row) in keyed_rows(&own) {
        if (100..150).contains(&row.0) {
            assert!(change(&mut setup, &own, &key, None));
        }
    }
    for number in 0..20 {
        insert(&mut setup, &own, &(1000 + number, None));
    }
    setup.commit().unwrap();
    let work = Arc::new(StatementWork::default());
    let mut merging = engine.transaction(TransactionOptions {
        work: Some(Arc::clone(&work)),
        ..TransactionOptions::default()
    });
    let report = merging.merge_changes(TABLE, MergeOptions::default());
    assert_eq!(report.unwrap().row_count, 50 + 20);
    let progress = work.progress().unwrap();
    assert_eq!(progress.phase, Phase::Merging);
    assert_eq!(progress.subject.as_deref(), Some(TABLE));
    // The row group that lost half of its rows, and the new rows.
    assert_eq!((progress.rows_done, progress.rows_total), (120, Some(120)));
    merging.commit().unwrap();
}

/// Whoever has waited for a merge must find what it has done: its lock goes when its tables are the newest, and not before. The
/// only row group is written again, so there are no deletions to keep: the merge changes no rows, and commits tables alone.
#[test]
fn a_merge_that_changes_no_rows_keeps_its_lock_until_it_is_committed() {
    let before_sync: Arc<Mutex<Option<BeforeSync>>> = Arc::default();
    let asked = Arc::clone(&before_sync);
    let ask = move |call| {
        if call == DiskCall::Sync
            && let Some(ask) = &mut *asked.lock().unwrap()
        {
            ask();
        }
    };
    let engine = engine_on(&Arc::new(HookedDisk::new(MemDisk::new(), ask)));
    let mut setup = transaction(&engine);
    append(&mut setup, &numbered(10), 100);
    let own = changeable(&mut setup);
    assert!(change(&mut setup, &own, &keyed_rows(&own)[4].0, None));
    setup.commit().unwrap();

    let mut merging = transaction(&engine);
    let options = MergeOptions::default();
    assert_eq!(merging.merge_changes(TABLE, options).unwrap().row_count, 9);
    let (mut other, id) = (transaction(&engine), own.id());
    let (sender, answers) = mpsc::channel();
    *before_sync.lock().unwrap() = Some(Box::new(move || {
        let locked = other.lock_table(id, TableLockMode::RowExclusive, LockWait::Skip);
        sender.send(locked.unwrap()).unwrap();
    }));
    merging.commit().unwrap();
    *before_sync.lock().unwrap() = None;
    let answers: Vec<bool> = answers.iter().collect();
    assert!(!answers.is_empty(), "the commit was synced");
    assert!(answers.iter().all(|is_locked| !is_locked), "{answers:?}");
    let merged = engine.snapshot().table(TABLE).unwrap().unwrap();
    assert_eq!((merged.row_group_count(), rows_of(&merged).len()), (1, 9));
}

/// Rows go from one number to another; their sum stays, whoever looks and whoever merges.
#[test]
fn changes_merges_and_readers_at_once() {
    let engine = engine_on(&Arc::new(MemDisk::new()));
    let rows: Vec<Row> = (0..500)
        .map(|number| (number, Some("1".to_owned())))
        .collect();
    let mut setup = transaction(&engine);
    append(&mut setup, &rows, 100);
    changeable(&mut setup);
    setup.commit().unwrap();
    thread::scope(|scope| {
        for thread in 0..2_i64 {
            let engine = &engine;
            scope.spawn(move || (0..40).for_each(|round| transfer(engine, thread, round)));
        }
        scope.spawn(|| {
            for _ in 0..15 {
                let mut merging = transaction(&engine);
                let options = MergeOptions {
                    deleted_share: 0.1,
                    ..MergeOptions::default()
                };
                merging.merge_changes(TABLE, options).unwrap();
                merging.commit().unwrap();
            }
        });
        for _ in 0..60 {
            let table = engine.snapshot().table(TABLE).unwrap().unwrap();
            assert_eq!(sum(&rows_of(&table)), 500);
        }
    });
    assert_eq!(engine.check_rows(), []);
}

fn sum(rows: &[Row]) -> i64 {
    rows.iter()
        .map(|row| row.1.as_deref().unwrap().parse::<i64>().unwrap())
        .sum()
}

/// Takes one from a row and gives it to another, or does nothing if somebody else was there first.
fn transfer(engine: &quire_tables::Engine, thread: i64, round: i64) {
    let mut own = transaction(engine);
    let id = table(&own).id();
    own.lock_table(id, TableLockMode::RowExclusive, LockWait::Wait)
        .unwrap();
    own.begin_statement();
    let table = changeable(&mut own);
    let rows = keyed_rows(&table);
    // Always the lower number first, so that nobody waits in a circle.
    for (number, by) in [(round * 3 % 250, -1), (250 + (round * 7 + thread) % 250, 1)] {
        let (key, row) = rows.iter().find(|(_, row)| row.0 == number).unwrap();
        let value = row.1.as_deref().unwrap().parse::<i64>().unwrap() + by;
        let row = (number, Some(value.to_string()));
        if !change(&mut own, &table, key, Some(&row)) {
            return;
        }
    }
    own.commit().unwrap();
}
