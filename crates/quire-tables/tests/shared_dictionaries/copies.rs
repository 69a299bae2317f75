//! Row groups that are copied as they are stored take their dictionaries along.

use crate::fixture::{
    Random, Row, TABLE, WORD, World, assert_counts, batch_of, definition, references, rows_of,
    words,
};
use quire_store::PageKind;
use quire_tables::{ROW_GROUP_ROWS, can_copy_rows};

/// Two full row groups of 800 words, and some rows more.
fn many_rows() -> Vec<Row> {
    let words = words(0..800);
    let mut random = Random::new(5);
    let mut word = |row: usize| (!row.is_multiple_of(13)).then(|| words[random.below(800)].clone());
    (0..2 * ROW_GROUP_ROWS + 500)
        .map(|row| (row as i64, word(row)))
        .collect()
}

/// The rows in a table, and another one without rows.
fn world_of(rows: &[Row]) -> World {
    let world = World::new(definition(TABLE));
    let mut transaction = world.engine.begin().unwrap();
    let mut appender = transaction.appender(TABLE).unwrap();
    appender.append(&batch_of(rows)).unwrap();
    appender.finish().unwrap();
    transaction.create_table(definition("copy")).unwrap();
    transaction.commit().unwrap();
    world
}

/// Copies the rows.
fn copy(world: &World) -> Result<u64, String> {
    let source = world.table();
    let mut transaction = world.engine.begin().unwrap();
    let copied = transaction.copy_rows("copy", &source, &[0, 1], None);
    let count = copied.map_err(|error| error.to_string())?;
    transaction.commit().unwrap();
    Ok(count)
}

#[test]
fn copies_share_a_dictionary_that_the_table_has() {
    let rows = many_rows();
    let world = world_of(&rows);
    for _ in 0..2 {
        assert_eq!(copy(&world).unwrap(), rows.len() as u64);
    }
    let world = world.reopened();
    let table = world.table_called("copy");
    let shared = table.shared_dictionaries(WORD);
    assert_eq!(shared.len(), 1);
    assert_eq!(Some(shared[0].fingerprint), references(&world.table())[0]);
    assert_counts(&table);
    let mut expected = [rows.clone(), rows].concat();
    expected.sort();
    assert_eq!(rows_of(&table), expected);
}

#[test]
fn a_dictionary_that_the_table_has_is_compared() {
    let rows = many_rows();
    let world = world_of(&rows);
    copy(&world).unwrap();
    let page = world.table_called("copy").shared_dictionaries(WORD)[0].pages[0];
    let mut damaged = world.engine.volume().pin().read(page).unwrap().to_vec();
    damaged[5] ^= 1;
    let batch = world.engine.volume().begin().unwrap();
    batch.replace(page, PageKind::Segment, &damaged).unwrap();
    batch.commit().unwrap();
    // The codes of the source would mean nothing here.
    let error = copy(&world).unwrap_err();
    assert!(error.contains("shared dictionary"), "{error}");
    assert_eq!(rows_of(&world.table()), rows);
}

#[test]
fn copies_have_dictionaries_of_their_own() {
    let rows = many_rows();
    let world = world_of(&rows);
    let source = world.table();
    let before = references(&source);
    assert!(before[0].is_some() && before[1] == before[0]);
    assert!(can_copy_rows(&definition("copy"), &source, &[0, 1]));
    copy(&world).unwrap();
    drop(source);
    let world = world.reopened();
    let copy = world.table_called("copy");
    assert_eq!(references(&copy)[..2], before[..2]);
    assert_counts(&copy);
    let pages = |name: &str| {
        world.table_called(name).shared_dictionaries(WORD)[0]
            .pages
            .clone()
    };
    assert_ne!(pages("copy"), pages(TABLE));
    // The copy does not need the source.
    let mut transaction = world.engine.begin().unwrap();
    transaction.drop_table(TABLE).unwrap();
    transaction.commit().unwrap();
    let world = world.reopened();
    assert_eq!(rows_of(&world.table_called("copy")), rows);
}
