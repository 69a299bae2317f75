//! Columns that may be maps from others: whether they share is decided after the map.

use crate::fixture::{
    Random, Row, TABLE, WORD, WORDS, World, batch_of, definition, references, row_groups, rows_of,
    words,
};
use quire_codec::CodecId;
use quire_tables::AppendOptions;

/// Rows of a full row group: so many that codes take more than the cities.
const VISITS: usize = 32_768;

/// Visitors of a row group, a few more than there are cities.
const USERS: usize = WORDS + 100;

/// Row groups of visits, each to other cities: a visitor is always in the same one.
fn visits(group_count: usize) -> Vec<Row> {
    let mut random = Random::new(11);
    let mut rows = Vec::new();
    for group in 0..group_count {
        let cities = words(group * 1000..group * 1000 + WORDS);
        for row in 0..VISITS {
            let user = if row < USERS {
                row
            } else {
                random.below(USERS)
            };
            // Far apart: no list of cities by number of the visitor.
            let number = (user as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 2;
            rows.push((number.cast_signed(), Some(cities[user % WORDS].clone())));
        }
    }
    rows
}

/// The rows in a table whose visitors have this codec.
fn world_with(users: CodecId, rows: &[Row]) -> World {
    let mut definition = definition(TABLE);
    definition.columns[0].compression = Some(users);
    let world = World::new(definition);
    let options = AppendOptions {
        workers: Some(3),
        row_group_rows: VISITS,
        ..AppendOptions::default()
    };
    let mut transaction = world.engine.begin().unwrap();
    let mut appender = transaction.appender_with(TABLE, options).unwrap();
    appender.append(&batch_of(rows)).unwrap();
    appender.finish().unwrap();
    transaction.commit().unwrap();
    world
}

#[test]
fn a_column_whose_map_is_refused_brings_no_dictionary() {
    let mut rows = visits(5);
    // The sample proposes the map: it is made where the visitors have codes.
    let world = world_with(CodecId::Dictionary, &rows);
    for row_group in row_groups(&world.table()) {
        assert!(row_group.columns[WORD].relation.is_some());
    }
    // It is refused where they have none.
    let world = world_with(CodecId::Plain, &rows).reopened();
    let table = world.table();
    for row_group in row_groups(&table) {
        let chunk = &row_group.columns[WORD];
        assert_eq!((chunk.codec, chunk.relation), (CodecId::Dictionary, None));
    }
    // The next row group does not wait for it, so it would not know a new dictionary.
    assert_eq!(references(&table), [None; 5]);
    assert_eq!(table.shared_dictionaries(WORD), []);
    rows.sort();
    assert_eq!(rows_of(&table), rows);
}
