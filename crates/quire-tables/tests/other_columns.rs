//! Column tables that get other columns: rows are as they were, and so are the stored bytes of columns that stay.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Int32Array, Int64Array, RecordBatch, StringViewArray,
};
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use quire_codec::{CodecId, CodecScalar};
use quire_kv::mvcc::{LockWait, RowLockMode, TransactionOptions};
use quire_store::{MemDisk, OpenMode, Volume, VolumeOptions};
use quire_tables::row_table::TupleValue;
use quire_tables::{
    AppendOptions, ColumnDefinition, ColumnTable, Engine, NewColumnOrigin, RowGroup, ScanOptions,
    SqlType, TableDefinition, Transaction,
};

const ROWS: i64 = 7_000;
const ROW_GROUP_ROWS: usize = 3_000;

/// The second follows the first; the third is a map from neither.
fn columns() -> Vec<ColumnDefinition> {
    vec![
        ColumnDefinition::new("first", SqlType::BigInt),
        ColumnDefinition::new("second", SqlType::BigInt),
        ColumnDefinition::new("text", SqlType::Text),
    ]
}

fn definition() -> TableDefinition {
    TableDefinition::new("t", columns())
}

fn noise(row: i64) -> i64 {
    row.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed()) >> 24
}

fn first(row: i64) -> i64 {
    noise(row)
}

fn second(row: i64) -> i64 {
    noise(row) + row % 5
}

fn text(row: i64) -> Option<String> {
    (row % 9 > 0).then(|| format!("text {:x}", noise(row * 7) & 0xffff))
}

fn batch(rows: impl Iterator<Item = i64> + Clone) -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(rows.clone().map(first))),
        Arc::new(Int64Array::from_iter_values(rows.clone().map(second))),
        Arc::new(rows.map(text).collect::<StringViewArray>()),
    ];
    RecordBatch::try_new(definition().arrow_schema(), columns).unwrap()
}

struct World {
    disk: Arc<MemDisk>,
    engine: Engine,
}

impl World {
    fn new(definition: TableDefinition) -> Self {
        let disk = Arc::new(MemDisk::new());
        let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
        let engine = Engine::open(volume).unwrap();
        let mut transaction = engine.begin().unwrap();
        transaction.create_table(definition).unwrap();
        let options = AppendOptions {
            workers: Some(1),
            row_group_rows: ROW_GROUP_ROWS,
            ..AppendOptions::default()
        };
        let mut appender = transaction.appender_with("t", options).unwrap();
        appender.append(&batch(0..ROWS)).unwrap();
        appender.finish().unwrap();
        transaction.commit().unwrap();
        World { disk, engine }
    }

    fn transaction(&self) -> Transaction {
        self.engine.transaction(TransactionOptions::default())
    }

    fn table(&self) -> Arc<ColumnTable> {
        self.engine.snapshot().table("t").unwrap().unwrap()
    }

    fn row_groups(&self) -> Vec<Arc<RowGroup>> {
        let table = self.table();
        let indexes = 0..table.row_group_count();
        let row_group = |index| table.row_group(index).unwrap();
        indexes.map(row_group).collect()
    }

    fn replace(&self, columns: Vec<ColumnDefinition>, origins: &[NewColumnOrigin]) {
        let mut transaction = self.transaction();
        let definition = TableDefinition {
            columns,
            ..TableDefinition::clone(self.table().definition())
        };
        let replaced = transaction.replace_columns("t", definition, origins);
        replaced.unwrap();
        transaction.commit().unwrap();
    }

    /// All rows, after the file has been opened anew and found in order.
    fn rows(self) -> RecordBatch {
        assert_eq!(Engine::check(self.engine.volume()), Vec::new());
        drop(self.engine);
        let volume = Volume::open(self.disk.clone(), OpenMode::ReadWrite).unwrap();
        let engine = Engine::open(volume).unwrap();
        assert_eq!(Engine::check(engine.volume()), Vec::new());
        rows_of(&engine.snapshot().table("t").unwrap().unwrap())
    }
}

fn rows_of(table: &Arc<ColumnTable>) -> RecordBatch {
    let options = ScanOptions {
        projection: (0..table.definition().columns.len()).collect(),
        ..ScanOptions::default()
    };
    let scan = table.scan(options).unwrap();
    let mut reader = scan.reader();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next().unwrap() {
        batches.push(batch);
    }
    concat_batches(scan.schema(), &batches).unwrap()
}

fn assert_columns(found: &RecordBatch, expected: &[ArrayRef]) {
    assert_eq!(found.num_columns(), expected.len());
    for (found, expected) in found.columns().iter().zip(expected) {
        assert_eq!(found, expected);
    }
}

use NewColumnOrigin::{Kept, Same};

#[test]
fn segments_of_columns_that_stay_keep_their_pages() {
    let world = World::new(definition());
    let before = world.row_groups();
    assert_eq!(before.len(), 3);
    let pages = world.engine.volume().pin().pages().len();
    let mut columns = columns();
    let dropped = columns.remove(2);
    assert_eq!(dropped.name, "text");
    world.replace(columns, &[Kept(0), Kept(1)]);
    let after = world.row_groups();
    for (one, other) in before.iter().zip(&after) {
        assert_eq!(one.columns[..2], other.columns[..]);
    }
    // The text of each row group is gone from the file.
    let left = world.engine.volume().pin().pages().len();
    assert_eq!(left, pages - before.len());
    let bytes = |row_groups: &[Arc<RowGroup>], column: usize| -> u64 {
        let chunks = row_groups.iter().map(|one| &one.columns[column]);
        chunks.map(|chunk| chunk.encoded_bytes).sum()
    };
    let statistics = world.table().statistics(1).unwrap();
    assert_eq!(statistics.encoded_bytes, bytes(&after, 1));
    let expected = batch(0..ROWS);
    assert_columns(&world.rows(), &expected.columns()[..2]);
}

#[test]
fn a_column_that_follows_one_that_goes_is_encoded_alone() {
    let world = World::new(definition());
    let before = world.row_groups();
    let follower = before[0]
        .columns
        .iter()
        .position(|one| one.relation.is_some());
    let follower = follower.expect("one of the numbers follows the other");
    let followed = 1 - follower;
    let mut columns = columns();
    columns.remove(followed);
    world.replace(columns, &[Kept(follower), Kept(2)]);
    let after = world.row_groups();
    for (one, other) in before.iter().zip(&after) {
        assert_eq!(other.columns[0].relation, None);
        assert!(other.columns[0].encoded_bytes > one.columns[follower].encoded_bytes);
        assert_eq!(other.columns[1], one.columns[2]);
    }
    let statistics = world.table().statistics(0).unwrap();
    let bytes = after.iter().map(|one| one.columns[0].encoded_bytes);
    assert_eq!(statistics.encoded_bytes, bytes.sum::<u64>());
    let expected = batch(0..ROWS);
    let expected = [expected.column(follower), expected.column(2)].map(Arc::clone);
    assert_columns(&world.rows(), &expected);
}

#[test]
fn relations_follow_columns_to_their_new_places() {
    let world = World::new(definition());
    let columns = columns();
    let moved = [2, 1, 0].map(|place| columns[place].clone());
    world.replace(moved.to_vec(), &[Kept(2), Kept(1), Kept(0)]);
    let row_groups = world.row_groups();
    let relations = row_groups[0].columns.iter();
    assert_eq!(relations.filter(|one| one.relation.is_some()).count(), 1);
    let expected = batch(0..ROWS);
    let expected = [2, 1, 0].map(|place| Arc::clone(expected.column(place)));
    assert_columns(&world.rows(), &expected);
}

/// Columns with one value, in a table with pages for each column and in one with blocks.
#[test]
fn new_columns_have_one_value() {
    for definition in [definition(), definition().in_blocks_of(16 << 10)] {
        let world = World::new(definition);
        let before = world.row_groups();
        let mut columns = columns();
        columns.remove(0);
        columns.extend([
            ColumnDefinition::new("nothing", SqlType::Integer),
            ColumnDefinition {
                nullable: false,
                ..ColumnDefinition::new("seven", SqlType::Integer)
            },
            ColumnDefinition::new("word", SqlType::VarChar(9)),
        ]);
        let word = CodecScalar::Bytes("wörd".as_bytes().to_vec());
        let origins = [
            Kept(1),
            Kept(2),
            Same(None),
            Same(Some(CodecScalar::Int32(7))),
            Same(Some(word.clone())),
        ];
        world.replace(columns, &origins);
        let after = world.row_groups();
        assert_eq!(after.len(), before.len());
        for (one, other) in before.iter().zip(&after) {
            assert_eq!(one.has_block(), other.has_block());
            assert_eq!(one.columns[2].zone, other.columns[1].zone);
            assert_eq!(one.columns[2].encoded_bytes, other.columns[1].encoded_bytes);
            for column in 3..5 {
                assert_eq!(other.columns[column].codec, CodecId::Constant);
            }
        }
        let table = world.table();
        let statistics = table.statistics(2).unwrap();
        assert_eq!(statistics.null_count, ROWS as u64);
        let statistics = table.statistics(4).unwrap();
        assert_eq!(statistics.min, Some(word));
        assert_eq!(statistics.distinct_estimate, 1);
        let rows = ROWS as usize;
        let expected = batch(0..ROWS);
        let expected: Vec<ArrayRef> = vec![
            Arc::clone(expected.column(1)),
            Arc::clone(expected.column(2)),
            Arc::new(Int32Array::from(vec![None; rows])),
            Arc::new(Int32Array::from(vec![7; rows])),
            Arc::new(StringViewArray::from(vec!["wörd"; rows])),
        ];
        drop(table);
        assert_columns(&world.rows(), &expected);
    }
}

/// Deletes some rows of the last row group, and inserts one into the delta.
fn change(transaction: &mut Transaction) -> Vec<i64> {
    assert!(transaction.prepare_changes("t").unwrap());
    let table = transaction.snapshot().table("t").unwrap().unwrap();
    let options = ScanOptions {
        projection: vec![3],
        ..ScanOptions::default()
    };
    let scan = table.scan(options).unwrap();
    let mut reader = scan.reader();
    let mut keys = Vec::new();
    while let Some(batch) = reader.next().unwrap() {
        let array = batch.column(0).as_binary_view();
        keys.extend((0..array.len()).map(|row| array.value(row).to_vec()));
    }
    let mut writer = transaction.row_writer(table.delta().unwrap().parts());
    let deleted = |row: i64| row % 100 == 3 && row >= 6_000;
    for row in (0..ROWS).filter(|&row| deleted(row)) {
        let key = &keys[row as usize];
        let locked = writer.lock(key, RowLockMode::Exclusive, LockWait::Wait);
        assert_eq!(locked.unwrap(), Some(true));
        writer.delete(key).unwrap();
    }
    let text = text(ROWS).unwrap();
    let values = [
        TupleValue::Integer(first(ROWS)),
        TupleValue::Integer(second(ROWS)),
        TupleValue::Bytes(text.as_bytes()),
    ];
    writer.insert(&values).unwrap();
    drop(writer);
    transaction.begin_statement();
    (0..=ROWS).filter(|&row| !deleted(row)).collect()
}

fn sorted_numbers(found: &RecordBatch, column: usize) -> Vec<i64> {
    let numbers = found.column(column).as_primitive::<Int64Type>();
    let mut numbers = numbers.values().to_vec();
    numbers.sort_unstable();
    numbers
}

/// What was changed before, by another transaction or by the same, is merged; who has an older snapshot sees no difference. The last row group has fewer
/// rows than those before it, so that they are not written together with it.
#[test]
fn changes_are_merged_and_unchanged_row_groups_stay() {
    for in_one_transaction in [false, true] {
        let world = World::new(definition());
        let before = world.row_groups();
        let mut transaction = world.transaction();
        let rows = change(&mut transaction);
        if !in_one_transaction {
            transaction.commit().unwrap();
            transaction = world.transaction();
        }
        let older = world.engine.snapshot();
        let older = older.table("t").unwrap().unwrap();
        let older_rows = rows_of(&older);
        let mut columns = columns();
        columns.remove(2);
        let definition = TableDefinition {
            columns,
            ..definition()
        };
        let replaced = transaction.replace_columns("t", definition, &[Kept(0), Kept(1)]);
        replaced.unwrap();
        transaction.commit().unwrap();
        let table = world.table();
        assert!(table.delta().is_none());
        let stayed = world.row_groups().into_iter();
        let is_one_before = |one: &Arc<RowGroup>| {
            let mut before = before.iter();
            before.any(|before| one.columns[..] == before.columns[..2])
        };
        assert_eq!(stayed.filter(is_one_before).count(), 2);
        let mut expected: Vec<i64> = rows.iter().map(|&row| second(row)).collect();
        expected.sort_unstable();
        assert_eq!(sorted_numbers(&rows_of(&table), 1), expected);
        assert_eq!(rows_of(&older), older_rows);
        drop((table, older));
        assert_eq!(sorted_numbers(&world.rows(), 1), expected);
    }
}

#[test]
fn what_is_rolled_back_leaves_the_table_as_it_was() {
    let world = World::new(definition());
    let before = world.row_groups();
    let mut transaction = world.transaction();
    let savepoint = transaction.savepoint();
    let mut columns = columns();
    columns.pop();
    let definition = TableDefinition {
        columns,
        ..definition()
    };
    let replaced = transaction.replace_columns("t", definition.clone(), &[Kept(0), Kept(1)]);
    replaced.unwrap();
    transaction.roll_back_to(&savepoint);
    let replaced = transaction.replace_columns("t", definition, &[Kept(0), Kept(1)]);
    replaced.unwrap();
    drop(transaction);
    assert_eq!(world.row_groups(), before);
    let expected = batch(0..ROWS);
    assert_columns(&world.rows(), expected.columns());
}

#[test]
fn origins_that_do_not_fit_are_refused() {
    let world = World::new(definition());
    let with = |origins: &[NewColumnOrigin], columns: Vec<ColumnDefinition>| {
        let definition = TableDefinition {
            columns,
            ..definition()
        };
        let mut transaction = world.transaction();
        let replaced = transaction.replace_columns("t", definition, origins);
        assert!(replaced.is_err(), "{origins:?}");
    };
    with(&[Kept(0)], columns());
    with(&[Kept(0), Kept(0), Kept(2)], columns());
    with(&[Kept(0), Kept(1), Kept(3)], columns());
    with(&[Kept(0), Kept(2), Kept(1)], columns());
    with(
        &[Kept(0), Kept(1), Same(Some(CodecScalar::Int64(1)))],
        columns(),
    );
    let mut not_null = columns();
    not_null[1].nullable = false;
    with(&[Kept(0), Same(None), Kept(2)], not_null.clone());
    with(&[Kept(0), Kept(1), Kept(2)], not_null);
    // A text that would make row groups longer than loads do.
    let long = CodecScalar::Bytes(vec![b'x'; 1025]);
    assert_eq!(NewColumnOrigin::same(Some(long)), None);
    let expected = batch(0..ROWS);
    assert_columns(&world.rows(), expected.columns());
}
