//! Row groups that are copied as they are stored take their dictionaries along.

use crate::fixture::{
    Random, TABLE, WORD, World, assert_counts, definition, references, rows_of, words,
};
use quire_tables::{ROW_GROUP_ROWS, can_copy_rows};

#[test]
fn copies_have_dictionaries_of_their_own() {
    let words = words(0..800);
    let mut random = Random::new(5);
    let mut word = |row: usize| (!row.is_multiple_of(13)).then(|| words[random.below(800)].clone());
    let rows: Vec<_> = (0..2 * ROW_GROUP_ROWS + 500)
        .map(|row| (row as i64, word(row)))
        .collect();
    let world = World::new(definition(TABLE));
    let mut transaction = world.engine.begin().unwrap();
    let mut appender = transaction.appender(TABLE).unwrap();
    appender.append(&crate::fixture::batch_of(&rows)).unwrap();
    appender.finish().unwrap();
    transaction.commit().unwrap();
    let source = world.table();
    let before = references(&source);
    assert!(before[0].is_some() && before[1] == before[0]);
    let mut transaction = world.engine.begin().unwrap();
    transaction.create_table(definition("copy")).unwrap();
    assert!(can_copy_rows(&definition("copy"), &source, &[0, 1]));
    transaction
        .copy_rows("copy", &source, &[0, 1], None)
        .unwrap();
    transaction.commit().unwrap();
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
