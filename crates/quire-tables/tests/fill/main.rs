//! Tables that are filled from below are what inserting one row after the other makes of them.
#![allow(clippy::unwrap_used)]

mod fixture;
mod key_codes;
mod strings;

use std::sync::Arc;

use quire_kv::{mvcc::Isolation, mvcc::TransactionOptions};
use quire_store::disk::CrashImages;
use quire_store::{MemDisk, STAGING_PAGE, SimDisk};
use quire_tables::row_table::Value;
use quire_tables::{RowWriteError, ScanRowSource, Transaction, TransactionError};

use fixture::*;

#[test]
fn a_table_that_is_filled_is_as_if_rows_were_inserted_one_by_one() {
    for seed in 0..18 {
        let mut random = Random(seed);
        let (has_key, order) = (seed % 2 == 0, seed as usize / 2 % 3);
        let count = [3, 800, 22_000][seed as usize / 6];
        let made = rows(&mut random, count);
        let rows = ordered(&made, order, &mut random);
        let write_set_bytes = [300_000, 64 << 20][random.below(2)];
        let disk = Arc::new(MemDisk::new());
        let engine = engine_on(disk.clone(), write_set_bytes);
        let twin = engine_on(Arc::new(MemDisk::new()), 64 << 20);
        for engine in [&engine, &twin] {
            create(engine, definition(has_key));
        }
        let mut transaction = engine.transaction(TransactionOptions::default());
        assert_eq!(fill(&mut transaction, &rows).unwrap(), count as u64);
        assert_eq!(row_count(&transaction.snapshot()), count);
        assert_eq!(row_count(&engine.snapshot()), 0, "it is not committed");
        let mut one_by_one = twin.transaction(TransactionOptions::default());
        insert(&mut one_by_one, &rows).unwrap();
        one_by_one.commit().unwrap();
        let expected = all(&twin.snapshot());
        assert_eq!(all(&transaction.snapshot()), expected, "seed {seed}");
        transaction.commit().unwrap();
        assert_eq!(all(&engine.snapshot()), expected, "seed {seed}");
        no_findings(&engine);
        // The table can be changed, and is there again after the end of the process.
        let more = [
            Value::Integer(-1),
            Value::Integer(0),
            Value::Null,
            Value::Null,
        ];
        for engine in [&engine, &twin] {
            let mut transaction = engine.transaction(TransactionOptions::default());
            insert(&mut transaction, std::slice::from_ref(&more)).unwrap();
            transaction.commit().unwrap();
        }
        let expected = all(&twin.snapshot());
        assert_eq!(all(&engine.snapshot()), expected);
        let again = engine_on(Arc::new(MemDisk::from_bytes(disk.to_bytes())), 64 << 20);
        assert_eq!(all(&again.snapshot()), expected);
        no_findings(&again);
    }
}

fn told(error: &TransactionError) -> String {
    match error {
        TransactionError::Rows(error) => told_of_rows(error),
        other => panic!("{other}"),
    }
}

fn told_of_rows(error: &RowWriteError) -> String {
    match error {
        RowWriteError::Duplicate { detail, .. } => format!("{error}: {detail}"),
        other => panic!("{other}"),
    }
}

#[test]
fn a_violation_is_the_same_error_and_leaves_nothing() {
    for seed in 0..12 {
        let mut random = Random(100 + seed);
        let (order, count) = (seed as usize % 3, [50, 9_000][seed as usize % 2]);
        let mut made = rows(&mut random, count);
        let (one, other) = (random.below(count), random.below(count));
        if one == other {
            continue;
        }
        if seed % 2 == 0 {
            made[one][2] = Value::Text("the same".into());
            made[other][2] = Value::Text("the same".into());
        } else {
            let key = [made[other][0].clone(), made[other][1].clone()];
            made[one][..2].clone_from_slice(&key);
        }
        let rows = ordered(&made, order, &mut random);
        let engine = engine_on(Arc::new(MemDisk::new()), 300_000);
        create(&engine, definition(true));
        let pages = page_count(&engine);
        let mut transaction = engine.transaction(TransactionOptions::default());
        let expected = told_of_rows(&insert(&mut transaction, &rows).unwrap_err());
        drop(transaction);
        let mut transaction = engine.transaction(TransactionOptions::default());
        assert_eq!(told(&fill(&mut transaction, &rows).unwrap_err()), expected);
        drop(transaction);
        assert_eq!(row_count(&engine.snapshot()), 0);
        assert_eq!(page_count(&engine), pages, "seed {seed}");
        assert!(!engine.volume().pin().contains(STAGING_PAGE));
        no_findings(&engine);
    }
}

#[test]
fn what_is_rolled_back_leaves_nothing() {
    let mut random = Random(7);
    let rows = rows(&mut random, 5_000);
    let engine = engine_on(Arc::new(MemDisk::new()), 300_000);
    create(&engine, definition(true));
    // A filled table is sampled. The samples are kept apart, and stay when the rows go.
    let mut transaction = engine.transaction(TransactionOptions::default());
    fill(&mut transaction, &rows[..2_000]).unwrap();
    transaction.commit().unwrap();
    empty(&engine);
    let pages = page_count(&engine);
    let mut transaction = engine.transaction(TransactionOptions::default());
    fill(&mut transaction, &rows).unwrap();
    drop(transaction);
    assert_eq!(page_count(&engine), pages);
    no_findings(&engine);

    let mut transaction = engine.transaction(TransactionOptions::default());
    let savepoint = transaction.savepoint();
    fill(&mut transaction, &rows).unwrap();
    transaction.roll_back_to(&savepoint);
    assert_eq!(row_count(&transaction.snapshot()), 0);
    fill(&mut transaction, &rows[..3_000]).unwrap();
    let savepoint = transaction.savepoint();
    insert(&mut transaction, &rows[3_000..]).unwrap();
    assert_eq!(row_count(&transaction.snapshot()), 5_000);
    transaction.roll_back_to(&savepoint);
    transaction.commit().unwrap();
    assert_eq!(row_count(&engine.snapshot()), 3_000);
    no_findings(&engine);

    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction.truncate_table("t").unwrap();
    fill(&mut transaction, &rows[..2_000]).unwrap();
    let savepoint = transaction.savepoint();
    transaction.truncate_table("t").unwrap();
    fill(&mut transaction, &rows).unwrap();
    transaction.roll_back_to(&savepoint);
    assert_eq!(row_count(&transaction.snapshot()), 2_000);
    transaction.commit().unwrap();
    assert_eq!(row_count(&engine.snapshot()), 2_000);
    no_findings(&engine);
    empty(&engine);
    assert_eq!(page_count(&engine), pages);
    no_findings(&engine);
}

fn empty(engine: &quire_tables::Engine) {
    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction.truncate_table("t").unwrap();
    transaction.commit().unwrap();
    // The first checkpoint frees the trees, the next transaction over tables forgets them.
    engine.checkpoint().unwrap();
}

#[test]
fn others_see_the_old_state_until_the_commit_and_older_snapshots_for_ever() {
    let mut random = Random(8);
    let rows = rows(&mut random, 2_000);
    let engine = engine_on(Arc::new(MemDisk::new()), 300_000);
    create(&engine, definition(true));
    let isolation = Isolation::RepeatableRead;
    let mut reader = engine.transaction(TransactionOptions {
        isolation,
        ..TransactionOptions::default()
    });
    reader.begin_statement();
    let before = engine.snapshot();
    let mut transaction = engine.transaction(TransactionOptions::default());
    fill(&mut transaction, &rows).unwrap();
    assert_eq!(row_count(&reader.snapshot()), 0);
    transaction.commit().unwrap();
    reader.begin_statement();
    assert_eq!(row_count(&reader.snapshot()), 0, "as of before");
    assert_eq!(row_count(&before), 0);
    engine.checkpoint().unwrap();
    reader.begin_statement();
    assert_eq!(row_count(&reader.snapshot()), 0);
    assert_eq!(row_count(&engine.snapshot()), 2_000);
    drop((reader, before));
    no_findings(&engine);
}

#[test]
fn frequent_values_have_codes_from_the_first_row_on() {
    let mut random = Random(3);
    let rows = rows(&mut random, 2_000);
    let engine = engine_on(Arc::new(MemDisk::new()), 300_000);
    create(&engine, definition(true));
    let codes = || {
        let snapshot = engine.snapshot();
        let columns = snapshot.definition("t").unwrap().columns.iter();
        let has_codes = columns.map(|column| column.dictionary.is_some());
        has_codes.collect::<Vec<_>>()
    };
    let mut transaction = engine.transaction(TransactionOptions::default());
    fill(&mut transaction, &rows).unwrap();
    drop(transaction);
    assert_eq!(codes(), [false; 4], "rolled back");
    let mut transaction = engine.transaction(TransactionOptions::default());
    fill(&mut transaction, &rows).unwrap();
    transaction.commit().unwrap();
    // d has 40 values, and some that are too long for codes; c is another in each row; a and b are the key.
    assert_eq!(codes(), [false, false, false, true]);
    let mut transaction = engine.transaction(TransactionOptions::default());
    let more = [
        Value::Integer(-1),
        Value::Integer(0),
        Value::Null,
        Value::Text("no code".into()),
    ];
    insert(&mut transaction, &[more]).unwrap();
    transaction.commit().unwrap();
    let found = scan(&engine.snapshot(), ScanRowSource::all(), false);
    assert_eq!(found.num_rows(), rows.len() + 1);
    no_findings(&engine);
}

/// Nobody else knows it, so nobody sees how its rows came.
#[test]
fn a_table_of_the_same_transaction_is_filled_at_any_isolation() {
    let mut random = Random(4);
    let rows = rows(&mut random, 700);
    for isolation in [
        Isolation::ReadCommitted,
        Isolation::RepeatableRead,
        Isolation::Serializable,
    ] {
        let disk = Arc::new(MemDisk::new());
        let engine = engine_on(disk.clone(), 300_000);
        let mut transaction = engine.transaction(TransactionOptions {
            isolation,
            ..TransactionOptions::default()
        });
        transaction
            .define(|tables| tables.create_table(definition(true)))
            .unwrap();
        assert_eq!(fill(&mut transaction, &rows).unwrap(), 700);
        assert_eq!(row_count(&transaction.snapshot()), 700);
        let one = [
            Value::Integer(-1),
            Value::Integer(0),
            Value::Null,
            Value::Null,
        ];
        insert(&mut transaction, &[one]).unwrap();
        assert_eq!(row_count(&transaction.snapshot()), 701);
        transaction.commit().unwrap();
        no_findings(&engine);
        drop(engine);
        assert_eq!(row_count(&engine_on(disk, 300_000).snapshot()), 701);
    }
}

#[test]
fn a_table_is_not_filled_where_that_would_be_seen() {
    let mut random = Random(9);
    let rows = rows(&mut random, 100);
    let engine = engine_on(Arc::new(MemDisk::new()), 300_000);
    create(&engine, definition(true));
    let begins = |transaction: &mut Transaction| {
        let table = transaction.snapshot().row_table("t").unwrap().unwrap();
        transaction.begin_fill(&table, &[]).unwrap().is_some()
    };
    let of = |isolation| {
        engine.transaction(TransactionOptions {
            isolation,
            ..TransactionOptions::default()
        })
    };
    assert!(!begins(&mut of(Isolation::RepeatableRead)));
    assert!(!begins(&mut of(Isolation::Serializable)));
    // Another has changed the table.
    let mut other = of(Isolation::ReadCommitted);
    let table = other.snapshot().row_table("t").unwrap().unwrap();
    let (mode, wait) = (
        quire_kv::mvcc::TableLockMode::RowExclusive,
        quire_kv::mvcc::LockWait::Wait,
    );
    assert!(other.lock_table(table.id(), mode, wait).unwrap());
    assert!(!begins(&mut of(Isolation::ReadCommitted)));
    drop(other);
    // Another defines something.
    let mut other = of(Isolation::ReadCommitted);
    other.define(|_| Ok(())).unwrap();
    assert!(!begins(&mut of(Isolation::ReadCommitted)));
    drop(other);
    assert!(begins(&mut of(Isolation::ReadCommitted)));
    // Rows are there.
    let mut transaction = of(Isolation::ReadCommitted);
    insert(&mut transaction, &rows).unwrap();
    assert!(!begins(&mut transaction));
    transaction.commit().unwrap();
    assert!(!begins(&mut of(Isolation::ReadCommitted)));
}

#[test]
fn an_index_on_rows_that_are_there_is_built_from_below() {
    let mut random = Random(10);
    let mut rows = rows(&mut random, 20_000);
    let engine = engine_on(Arc::new(MemDisk::new()), 300_000);
    let mut without = definition(true);
    let indexes = std::mem::take(&mut without.indexes);
    create(&engine, without);
    let mut transaction = engine.transaction(TransactionOptions::default());
    fill(&mut transaction, &rows).unwrap();
    for index in &indexes {
        transaction.create_index("t", index.clone()).unwrap();
    }
    transaction.commit().unwrap();
    let twin = engine_on(Arc::new(MemDisk::new()), 64 << 20);
    create(&twin, definition(true));
    let mut transaction = twin.transaction(TransactionOptions::default());
    insert(&mut transaction, &rows).unwrap();
    transaction.commit().unwrap();
    assert_eq!(all(&engine.snapshot()), all(&twin.snapshot()));
    no_findings(&engine);

    rows[17][2] = Value::Text("twice".into());
    rows[19_000][2] = Value::Text("twice".into());
    let engine = engine_on(Arc::new(MemDisk::new()), 300_000);
    let mut without = definition(true);
    without.indexes.clear();
    create(&engine, without);
    let mut transaction = engine.transaction(TransactionOptions::default());
    fill(&mut transaction, &rows).unwrap();
    transaction.commit().unwrap();
    let pages = page_count(&engine);
    let mut transaction = engine.transaction(TransactionOptions::default());
    let error = transaction
        .create_index("t", indexes[0].clone())
        .unwrap_err();
    assert!(
        told(&error).ends_with("Key (c)=(twice) is duplicated."),
        "{}",
        told(&error)
    );
    drop(transaction);
    assert_eq!(page_count(&engine), pages);
    no_findings(&engine);
}

#[test]
fn a_crash_leaves_all_or_nothing() {
    let mut random = Random(11);
    let rows = rows(&mut random, 1_500);
    let disk = Arc::new(SimDisk::recording(Vec::new()));
    let created_at;
    {
        let engine = engine_on(disk.clone(), 100_000);
        create(&engine, definition(true));
        engine.checkpoint().unwrap();
        created_at = disk.journal().len();
        let mut transaction = engine.transaction(TransactionOptions::default());
        fill(&mut transaction, &rows[..1_000]).unwrap();
        transaction.commit().unwrap();
        let mut transaction = engine.transaction(TransactionOptions::default());
        insert(&mut transaction, &rows[1_000..]).unwrap();
        transaction.commit().unwrap();
        engine.checkpoint().unwrap();
    }
    let journal = disk.journal();
    let mut crashes = CrashImages::new(Vec::new(), &journal);
    let mut seen = [false; 3];
    while crashes.advance() {
        if crashes.position() < created_at {
            continue;
        }
        let image = crashes.image(random.next());
        let engine = engine_on(Arc::new(MemDisk::from_bytes(image)), 100_000);
        let count = row_count(&engine.snapshot());
        let place = [0, 1_000, 1_500].iter().position(|known| *known == count);
        seen[place.unwrap_or_else(|| panic!("{count} rows"))] = true;
        no_findings(&engine);
        let staged = engine.volume().pin().contains(STAGING_PAGE);
        assert!(!staged, "what was staged has been swept");
    }
    assert_eq!(seen, [true; 3]);
}
