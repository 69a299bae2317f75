//! A dictionary is there as long as a row group refers to it, and no longer.

use crate::fixture::{
    GROUP, Row, TABLE, WORD, WORDS, World, append_with, assert_counts, definition, group_of,
    groups_of, references, rows_of, words,
};
use quire_tables::{ColumnDefinition, NewColumnOrigin, TableDefinition};

/// Two row groups of the same words, and one of others.
fn world() -> (World, Vec<Row>) {
    let rows = groups_of(&[0..WORDS, 0..WORDS, 2000..2000 + WORDS]);
    let world = World::with(&rows).reopened();
    assert_eq!(world.table().shared_dictionaries(WORD).len(), 2);
    (world, rows)
}

#[test]
fn a_merge_frees_dictionaries_that_no_row_group_uses_any_more() {
    let (world, mut rows) = world();
    let group = GROUP as i64;
    let shared = references(&world.table())[0];
    world.delete(0..group);
    world.merge();
    rows.retain(|row| row.0 >= group);
    let world = world.reopened();
    // The second row group still refers to it.
    assert_eq!(references(&world.table())[0], shared);
    assert_counts(&world.table());
    assert_eq!(rows_of(&world.table()), rows);
    world.delete(group..2 * group);
    world.merge();
    rows.retain(|row| row.0 >= 2 * group);
    let world = world.reopened();
    assert_eq!(world.table().shared_dictionaries(WORD).len(), 1);
    assert!(!references(&world.table()).contains(&shared));
    assert_eq!(rows_of(&world.table()), rows);
    world.delete(2 * group..3 * group);
    world.merge();
    let world = world.reopened();
    assert_eq!(world.table().shared_dictionaries(WORD), []);
    assert_eq!(rows_of(&world.table()), []);
}

#[test]
fn row_groups_that_are_written_again_keep_their_rows() {
    let (world, mut rows) = world();
    // Some rows of each row group: all are written again, and bring dictionaries anew.
    for index in 0..3 {
        let first = (index * GROUP) as i64;
        world.delete(first + 100..first + 300);
        rows.retain(|row| !(first + 100..first + 300).contains(&row.0));
    }
    world.merge();
    let world = world.reopened();
    assert_counts(&world.table());
    assert_eq!(rows_of(&world.table()), rows);
}

#[test]
fn small_row_groups_that_are_absorbed_release_their_dictionary() {
    let (world, mut rows) = world();
    let mut first = (3 * GROUP) as i64;
    for count in [900, 1000, 3000, 4000] {
        let more = group_of(&words(0..WORDS), first)[..count].to_vec();
        first += count as i64;
        world.append(&more);
        rows.extend(more);
        world.check();
        assert_counts(&world.table());
    }
    let world = world.reopened();
    assert_eq!(rows_of(&world.table()), rows);
}

#[test]
fn a_dictionary_goes_with_its_column_and_with_its_table() {
    let (world, rows) = world();
    let pages = world.page_count();
    let mut transaction = world.transaction();
    let replaced = TableDefinition {
        columns: vec![ColumnDefinition::new(
            "number",
            definition(TABLE).columns[0].sql_type,
        )],
        ..definition(TABLE)
    };
    transaction
        .replace_columns(TABLE, replaced, &[NewColumnOrigin::Kept(0)])
        .unwrap();
    transaction.commit().unwrap();
    let world = world.reopened();
    // A segment of each row group, and two dictionaries.
    assert_eq!(world.page_count(), pages - 3 - 2);
    assert_eq!(world.table().row_count().unwrap(), rows.len() as u64);

    for truncates in [false, true] {
        let world = World::with(&rows);
        assert_eq!(world.segment_count(), 6 + 2, "dictionaries are among them");
        let mut transaction = world.transaction();
        match truncates {
            true => transaction.truncate_table(TABLE).unwrap(),
            false => transaction.drop_table(TABLE).unwrap(),
        }
        transaction.commit().unwrap();
        let world = world.reopened();
        assert_eq!(world.segment_count(), 0);
    }
}

#[test]
fn columns_that_stay_keep_their_dictionary() {
    let (world, rows) = world();
    let before = references(&world.table());
    let mut columns = definition(TABLE).columns;
    columns.push(ColumnDefinition::new(
        "more",
        definition(TABLE).columns[0].sql_type,
    ));
    let replaced = TableDefinition {
        columns,
        ..definition(TABLE)
    };
    let origins = [
        NewColumnOrigin::Kept(0),
        NewColumnOrigin::Kept(1),
        NewColumnOrigin::Same(None),
    ];
    let mut transaction = world.transaction();
    transaction
        .replace_columns(TABLE, replaced, &origins)
        .unwrap();
    transaction.commit().unwrap();
    let world = world.reopened();
    assert_eq!(references(&world.table()), before);
    assert_counts(&world.table());
    assert_eq!(rows_of(&world.table()), rows);
}

#[test]
fn what_is_taken_back_leaves_no_dictionary() {
    let (world, rows) = world();
    let pages = world.page_count();
    let more = groups_of(&[5000..5000 + WORDS, 5000..5000 + WORDS]);
    let mut transaction = world.engine.begin().unwrap();
    append_with(&mut transaction, TABLE, &more, 2);
    drop(transaction);
    world.check();
    assert_eq!(world.page_count(), pages);
    // To a point before an append, and then another one.
    let mut transaction = world.transaction();
    transaction.tables().unwrap();
    let point = transaction.savepoint();
    append_with(transaction.tables().unwrap(), TABLE, &more, 2);
    transaction.roll_back_to(&point);
    let others = group_of(&words(0..WORDS), (3 * GROUP) as i64);
    append_with(transaction.tables().unwrap(), TABLE, &others, 2);
    transaction.commit().unwrap();
    let world = world.reopened();
    assert_eq!(world.table().shared_dictionaries(WORD).len(), 2);
    assert_counts(&world.table());
    let rows: Vec<Row> = rows.into_iter().chain(others).collect();
    assert_eq!(rows_of(&world.table()), rows);
}

#[test]
fn snapshots_read_dictionaries_that_are_gone_since() {
    let (world, rows) = world();
    let before = world.table();
    world.delete(0..(3 * GROUP) as i64);
    world.merge();
    world.check();
    assert_eq!(world.table().shared_dictionaries(WORD), []);
    assert_eq!(rows_of(&before), rows);
}

#[test]
fn tables_that_are_filled_side_by_side_keep_their_own_dictionaries() {
    let world = World::new(definition(TABLE));
    let names = ["a", "b", "c"];
    let mut transaction = world.engine.begin().unwrap();
    for name in names {
        transaction.create_table(definition(name)).unwrap();
    }
    transaction.commit().unwrap();
    let rows = groups_of(&[0..WORDS, 0..WORDS, 0..WORDS]);
    std::thread::scope(|scope| {
        for name in names {
            let (world, rows) = (&world, &rows);
            scope.spawn(move || {
                for _ in 0..2 {
                    let mut transaction = world.transaction();
                    append_with(transaction.tables().unwrap(), name, rows, 2);
                    transaction.commit().unwrap();
                }
            });
        }
    });
    let world = world.reopened();
    let mut expected = [rows.clone(), rows].concat();
    expected.sort();
    for name in names {
        let table = world.table_called(name);
        let found = references(&table);
        assert!(found[0].is_some() && found.iter().all(|one| *one == found[0]));
        assert_eq!(table.shared_dictionaries(WORD)[0].row_group_count, 6);
        assert_eq!(rows_of(&table), expected);
    }
}
