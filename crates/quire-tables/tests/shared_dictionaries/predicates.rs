//! Predicates on words, which are asked once per string of a dictionary.

use std::sync::Arc;

use crate::fixture::{Row, WORD, WORDS, World, groups_of};
use arrow::array::{AsArray, BooleanArray, RecordBatch};
use arrow::datatypes::Int64Type;
use quire_tables::{ColumnTable, Predicate, ScanError, ScanOptions, ZoneTable};

/// Whether a word passes, or why that cannot be said.
type Test = fn(Option<&str>) -> Result<bool, String>;

struct WordPredicate(Test);

impl Predicate for WordPredicate {
    fn columns(&self) -> &[usize] {
        &[WORD]
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray, String> {
        let words = batch.column(0).as_string_view().iter();
        let passes: Result<Vec<bool>, String> = words.map(self.0).collect();
        Ok(BooleanArray::from(passes?))
    }

    fn prune(&self, _: &ZoneTable) -> Option<Vec<bool>> {
        None
    }

    fn is_deterministic(&self) -> bool {
        true
    }
}

fn numbers_where(table: &Arc<ColumnTable>, test: Test) -> Result<Vec<i64>, ScanError> {
    let options = ScanOptions {
        projection: vec![0],
        predicates: vec![Arc::new(WordPredicate(test))],
        ..ScanOptions::default()
    };
    let mut reader = table.scan(options)?.reader();
    let mut found = Vec::new();
    while let Some(batch) = reader.next()? {
        found.extend(batch.column(0).as_primitive::<Int64Type>().values());
    }
    found.sort();
    Ok(found)
}

fn expected(rows: &[Row], test: Test) -> Vec<i64> {
    let passes = |row: &&Row| test(row.1.as_deref()) == Ok(true);
    rows.iter().filter(passes).map(|row| row.0).collect()
}

#[test]
fn predicates_select_the_rows_that_pass() {
    // The second and the third row group have words of their own behind those of the dictionary.
    let rows = groups_of(&[0..WORDS, 20..WORDS + 20, 50..WORDS + 50, 900..900 + WORDS]);
    let world = World::with(&rows).reopened();
    let tests: [Test; 6] = [
        |word| Ok(word.is_some_and(|word| word < "k")),
        |word| Ok(word.is_none_or(|word| word >= "y")),
        |word| Ok(word.is_some_and(|word| word.ends_with('e'))),
        |word| Ok(word.is_none()),
        |_| Ok(true),
        |_| Ok(false),
    ];
    for test in tests {
        let found = numbers_where(&world.table(), test).unwrap();
        assert_eq!(found, expected(&rows, test));
    }
}

/// Whether it is the word, which no row has, that the predicate cannot be asked about.
fn fails_on_the_first(word: Option<&str>) -> Result<bool, String> {
    let first = &crate::fixture::words(0..1)[0];
    match word {
        Some(word) if word == first => Err("not this word".to_owned()),
        word => Ok(word.is_some_and(|word| word < "k")),
    }
}

#[test]
fn a_word_that_no_row_has_any_more_does_not_fail() {
    // Only the first row group has the first word.
    let rows = groups_of(&[0..WORDS, 1..WORDS, 1..WORDS]);
    let world = World::with(&rows);
    let group = crate::fixture::GROUP as i64;
    assert!(matches!(
        numbers_where(&world.table(), fails_on_the_first),
        Err(ScanError::Predicate(_))
    ));
    world.delete(0..group);
    world.merge();
    let world = world.reopened();
    let table = world.table();
    assert_eq!(table.shared_dictionaries(WORD).len(), 1);
    assert_eq!(table.shared_dictionaries(WORD)[0].row_group_count, 2);
    let found = numbers_where(&world.table(), fails_on_the_first).unwrap();
    assert_eq!(found, expected(&rows[group as usize..], fails_on_the_first));
}
