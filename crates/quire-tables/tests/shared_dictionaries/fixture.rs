//! A table of numbers and words, and the naive twin of it: rows in a vector.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{Array, AsArray, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::Int64Type;
use quire_codec::CodecId;
use quire_kv::mvcc::{LockWait, RowLockMode, TransactionOptions};
use quire_store::{MemDisk, OpenMode, PageKind, Volume, VolumeOptions};
use quire_tables::{
    AppendOptions, ColumnDefinition, ColumnTable, Decompression, Engine, MergeOptions, RowGroup,
    ScanOptions, SqlType, TableDefinition, Transaction, WriteTransaction,
};

pub type Row = (i64, Option<String>);

pub const TABLE: &str = "t";

/// Column of the words.
pub const WORD: usize = 1;

/// Rows of a full row group.
pub const GROUP: usize = 4096;

/// Different words of a row group: 16 letters each, so that their dictionary takes more than 4 KiB.
pub const WORDS: usize = 600;

/// xorshift: the same on every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

/// Words `numbers` of a language that has no end.
pub fn words(numbers: std::ops::Range<usize>) -> Vec<String> {
    let word = |number: usize| {
        let mut random = Random::new(number as u64 + 1);
        (0..16)
            .map(|_| char::from(b'a' + random.below(26) as u8))
            .collect()
    };
    numbers.map(word).collect()
}

/// A row group of words, each of which occurs; one row of eleven is NULL.
pub fn group_of(words: &[String], first: i64) -> Vec<Row> {
    let mut random = Random::new(first as u64 + 7);
    let word = |row: usize| match row {
        row if row < words.len() => Some(words[row].clone()),
        row if row.is_multiple_of(11) => None,
        _ => Some(words[random.below(words.len())].clone()),
    };
    let words: Vec<_> = (0..GROUP).map(word).collect();
    (first..).zip(words).collect()
}

/// Row groups of the words that are given for each.
pub fn groups_of(words_of: &[std::ops::Range<usize>]) -> Vec<Row> {
    let groups = words_of.iter().cloned().enumerate();
    groups
        .flat_map(|(index, numbers)| group_of(&words(numbers), (index * GROUP) as i64))
        .collect()
}

pub fn definition(name: &str) -> TableDefinition {
    let columns = vec![
        ColumnDefinition::new("number", SqlType::BigInt),
        ColumnDefinition::new("word", SqlType::Text),
    ];
    TableDefinition::new(name, columns)
}

/// Whatever the chooser would take, words have dictionaries.
pub fn definition_with_dictionaries() -> TableDefinition {
    let mut definition = definition(TABLE);
    definition.columns[WORD].compression = Some(CodecId::Dictionary);
    definition
}

pub fn batch_of(rows: &[Row]) -> RecordBatch {
    let numbers = Int64Array::from_iter_values(rows.iter().map(|row| row.0));
    let words: StringViewArray = rows.iter().map(|row| row.1.as_deref()).collect();
    let schema = definition(TABLE).arrow_schema();
    RecordBatch::try_new(schema, vec![Arc::new(numbers), Arc::new(words)]).unwrap()
}

pub fn append_with(tables: &mut WriteTransaction, name: &str, rows: &[Row], workers: usize) {
    let options = AppendOptions {
        workers: Some(workers),
        row_group_rows: GROUP,
        ..AppendOptions::default()
    };
    let mut appender = tables.appender_with(name, options).unwrap();
    appender.append(&batch_of(rows)).unwrap();
    appender.finish().unwrap();
}

pub struct World {
    pub disk: Arc<MemDisk>,
    pub engine: Engine,
}

impl World {
    pub fn new(definition: TableDefinition) -> Self {
        let disk = Arc::new(MemDisk::new());
        let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
        let engine = Engine::open(volume).unwrap();
        let mut transaction = engine.begin().unwrap();
        transaction.create_table(definition).unwrap();
        transaction.commit().unwrap();
        World { disk, engine }
    }

    /// A table with these rows.
    pub fn with(rows: &[Row]) -> Self {
        let world = World::new(definition(TABLE));
        world.append(rows);
        world
    }

    pub fn append(&self, rows: &[Row]) {
        let mut transaction = self.engine.begin().unwrap();
        append_with(&mut transaction, TABLE, rows, 3);
        transaction.commit().unwrap();
    }

    pub fn transaction(&self) -> Transaction {
        self.engine.transaction(TransactionOptions::default())
    }

    pub fn table(&self) -> Arc<ColumnTable> {
        self.table_called(TABLE)
    }

    pub fn table_called(&self, name: &str) -> Arc<ColumnTable> {
        self.engine.snapshot().table(name).unwrap().unwrap()
    }

    /// Nothing is lost, missing or miscounted, now and after the file has been opened anew.
    pub fn reopened(self) -> Self {
        self.check();
        let World { disk, engine } = self;
        drop(engine);
        let volume = Volume::open(disk.clone(), OpenMode::ReadWrite).unwrap();
        let engine = Engine::open(volume).unwrap();
        let world = World { disk, engine };
        world.check();
        world
    }

    pub fn check(&self) {
        assert_eq!(Engine::check(self.engine.volume()), Vec::new());
    }

    /// Deletes the rows with these numbers.
    pub fn delete(&self, numbers: std::ops::Range<i64>) {
        let mut transaction = self.transaction();
        if self.table().delta().is_none() {
            assert!(transaction.prepare_changes(TABLE).unwrap());
        }
        let table = transaction.snapshot().table(TABLE).unwrap().unwrap();
        let options = ScanOptions {
            projection: vec![2, 0],
            ..ScanOptions::default()
        };
        let mut reader = table.scan(options).unwrap().reader();
        let mut keys = Vec::new();
        while let Some(batch) = reader.next().unwrap() {
            let found = batch.column(1).as_primitive::<Int64Type>().values().iter();
            let all = batch.column(0).as_binary_view().iter().flatten();
            let wanted = all.zip(found).filter(|(_, one)| numbers.contains(*one));
            keys.extend(wanted.map(|(key, _)| key.to_vec()));
        }
        let mut writer = transaction.row_writer(table.delta().unwrap().parts());
        for key in keys {
            let locked = writer.lock(&key, RowLockMode::Exclusive, LockWait::Wait);
            assert_eq!(locked.unwrap(), Some(true));
            writer.delete(&key).unwrap();
        }
        transaction.commit().unwrap();
    }

    /// Writes row groups with deletions anew.
    pub fn merge(&self) {
        let mut transaction = self.transaction();
        transaction
            .merge_changes(TABLE, MergeOptions::default())
            .unwrap();
        transaction.commit().unwrap();
    }

    pub fn page_count(&self) -> usize {
        self.engine.volume().pin().pages().len()
    }

    /// Pages with segments and dictionaries.
    pub fn segment_count(&self) -> usize {
        let pin = self.engine.volume().pin();
        let pages = pin.pages().into_iter();
        let kinds = pages.map(|page| pin.kind(page).unwrap());
        kinds.filter(|kind| *kind == PageKind::Segment).count()
    }
}

/// All rows, sorted.
pub fn rows_of(table: &Arc<ColumnTable>) -> Vec<Row> {
    rows_decompressed(table, Decompression::IntoCache)
}

/// All rows, sorted, decompressed in this way.
pub fn rows_decompressed(table: &Arc<ColumnTable>, decompression: Decompression) -> Vec<Row> {
    let options = ScanOptions {
        projection: vec![0, WORD],
        readers: 2,
        decompression,
        ..ScanOptions::default()
    };
    let scan = table.scan(options).unwrap();
    let mut rows = Vec::new();
    for mut reader in [scan.reader(), scan.reader()] {
        while let Some(batch) = reader.next().unwrap() {
            let numbers = batch.column(0).as_primitive::<Int64Type>();
            let words = batch.column(1).as_string_view();
            for row in 0..batch.num_rows() {
                let word = words.is_valid(row).then(|| words.value(row).to_owned());
                rows.push((numbers.value(row), word));
            }
        }
    }
    rows.sort();
    rows
}

pub fn row_groups(table: &ColumnTable) -> Vec<Arc<RowGroup>> {
    let indexes = 0..table.row_group_count();
    indexes
        .map(|index| table.row_group(index).unwrap())
        .collect()
}

/// The dictionary that each row group refers to.
pub fn references(table: &ColumnTable) -> Vec<Option<u64>> {
    let row_groups = row_groups(table);
    let chunks = row_groups.iter().map(|row_group| &row_group.columns[WORD]);
    chunks
        .inspect(|chunk| {
            assert!(chunk.dictionary.is_none() || chunk.codec == CodecId::Dictionary);
        })
        .map(|chunk| chunk.dictionary)
        .collect()
}

/// What the root must say: how many row groups refer to each dictionary.
pub fn assert_counts(table: &ColumnTable) {
    let mut counts = BTreeMap::new();
    for fingerprint in references(table).into_iter().flatten() {
        *counts.entry(fingerprint).or_insert(0) += 1;
    }
    let stored = table.shared_dictionaries(WORD).iter();
    let stored: BTreeMap<_, _> = stored
        .map(|one| (one.fingerprint, one.row_group_count))
        .collect();
    assert_eq!(stored, counts);
}

/// The distinct words of each row group.
pub fn distinct_words(rows: &[Row]) -> Vec<BTreeSet<String>> {
    let groups = rows.chunks(GROUP);
    let words = |rows: &[Row]| rows.iter().filter_map(|row| row.1.clone()).collect();
    groups.map(words).collect()
}
