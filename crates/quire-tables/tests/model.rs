//! Random tables, appends, drops, aborts and reopenings, compared with a model that keeps plain arrays; random
//! scans, compared with a naive filter over the model.
#![allow(clippy::unwrap_used)]

#[path = "model/generate.rs"]
mod generate;
#[path = "model/predicates.rs"]
mod predicates;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, BooleanArray, RecordBatch};
use arrow::compute::{and, concat_batches, filter_record_batch};
use generate::{Random, TableModel};
use predicates::random_predicate;
use quire_store::{MemDisk, OpenMode, Volume, VolumeOptions};
use quire_tables::{
    AppendOptions, ColumnTable, Decompression, Engine, Predicate, READ_AHEAD_BYTES, ScanOptions,
};

struct World {
    random: Random,
    disk: Arc<MemDisk>,
    engine: Engine,
    tables: BTreeMap<String, TableModel>,
}

impl World {
    fn new(seed: u64) -> Self {
        let disk = Arc::new(MemDisk::new());
        let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
        let engine = Engine::open(volume).unwrap();
        World {
            random: Random::new(seed),
            disk,
            engine,
            tables: BTreeMap::new(),
        }
    }

    fn step(&mut self) {
        match self.random.below(10) {
            0..=5 => self.transaction(),
            6 => self.reopen(),
            7 => drop(self.engine.clean().unwrap()),
            _ => self.scans(),
        }
    }

    /// Some creates, drops and appends, then a commit or an abort.
    fn transaction(&mut self) {
        let mut tables = self.tables.clone();
        let before = self.engine.snapshot();
        let mut transaction = self.engine.begin().unwrap();
        for _ in 0..1 + self.random.below(3) {
            let name = format!("t{}", self.random.below(4));
            let is_new = !tables.contains_key(&name);
            if is_new {
                let model = TableModel::random(&mut self.random, &name);
                transaction.create_table(model.definition.clone()).unwrap();
                tables.insert(name, model);
            } else if self.random.below(6) == 0 {
                transaction.drop_table(&name).unwrap();
                tables.remove(&name);
            } else {
                let options = AppendOptions {
                    workers: Some(1 + self.random.below(3)),
                    row_group_rows: self.random.choose(&[100, 1_024, 9_000, 131_072]),
                    row_group_bytes: self.random.choose(&[10_000, 1 << 20, 128 << 20]),
                    ..AppendOptions::default()
                };
                let model = tables.get_mut(&name).unwrap();
                let mut appender = transaction.appender_with(&name, options).unwrap();
                let mut rows = 0;
                for _ in 0..self.random.below(4) {
                    let batch = model.append_random(&mut self.random);
                    rows += batch.num_rows() as u64;
                    appender.append(&batch).unwrap();
                }
                assert_eq!(appender.finish().unwrap(), rows);
            }
        }
        let inside = transaction.snapshot();
        check_tables(&inside.tables().unwrap(), &tables);
        if self.random.below(4) == 0 {
            drop(transaction);
        } else {
            transaction.commit().unwrap();
            check_tables(&before.tables().unwrap(), &self.tables);
            self.tables = tables;
        }
        check_tables(&self.engine.snapshot().tables().unwrap(), &self.tables);
    }

    fn reopen(&mut self) {
        let empty = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap();
        let old = std::mem::replace(&mut self.engine, Engine::open(empty).unwrap());
        old.volume().checkpoint().unwrap();
        drop(old);
        let volume = Volume::open(self.disk.clone(), OpenMode::ReadWrite).unwrap();
        let findings = Engine::check(&volume);
        assert!(findings.is_empty(), "{findings:?}");
        self.engine = Engine::open(volume).unwrap();
        check_tables(&self.engine.snapshot().tables().unwrap(), &self.tables);
    }

    fn scans(&mut self) {
        let snapshot = self.engine.snapshot();
        for model in self.tables.values() {
            let table = snapshot.table(&model.definition.name).unwrap().unwrap();
            check_statistics(&table, model);
            for _ in 0..6 {
                random_scan(&mut self.random, &table, model);
            }
        }
    }
}

/// The tables hold exactly the rows of the model, in its order.
fn check_tables(tables: &[Arc<ColumnTable>], models: &BTreeMap<String, TableModel>) {
    let names: Vec<_> = tables
        .iter()
        .map(|table| &table.definition().name)
        .collect();
    assert_eq!(names, models.keys().collect::<Vec<_>>());
    for (table, model) in tables.iter().zip(models.values()) {
        assert_eq!(**table.definition(), model.definition);
        assert_eq!(table.row_count().unwrap(), model.rows().num_rows() as u64);
        let projection = (0..model.definition.columns.len()).collect();
        let options = ScanOptions {
            projection,
            ..ScanOptions::default()
        };
        assert_eq!(read(table, options), model.rows());
    }
}

/// All rows that one reader gives.
fn read(table: &Arc<ColumnTable>, options: ScanOptions) -> RecordBatch {
    let scan = table.scan(options).unwrap();
    let mut reader = scan.reader();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next().unwrap() {
        assert!(batch.num_rows() > 0);
        batches.push(batch);
    }
    concat_batches(scan.schema(), &batches).unwrap()
}

fn check_statistics(table: &ColumnTable, model: &TableModel) {
    let rows = model.rows();
    let mut group_rows = 0;
    for index in 0..table.row_group_count() {
        group_rows += table.row_group(index).unwrap().row_count;
    }
    assert_eq!(group_rows, rows.num_rows() as u64);
    for (column, array) in rows.columns().iter().enumerate() {
        let statistics = table.statistics(column).unwrap();
        assert_eq!(statistics.null_count, array.null_count() as u64);
        let texts: std::collections::HashSet<String> = (0..array.len())
            .filter(|&row| array.is_valid(row))
            .map(|row| format!("{:?}", array.slice(row, 1)))
            .collect();
        let exact = texts.len() as f64;
        let estimate = statistics.distinct_estimate as f64;
        // Debug output of floats and NaN is one text per value too, but for the two zeros.
        let slack = if exact <= 500.0 { 1.0 } else { 0.07 * exact };
        assert!(
            (estimate - exact).abs() <= slack,
            "{estimate} distinct, really {exact}"
        );
    }
}

fn random_scan(random: &mut Random, table: &Arc<ColumnTable>, model: &TableModel) {
    let columns = model.definition.columns.len();
    let projection: Vec<usize> = (0..random.below(5))
        .map(|_| random.below(columns))
        .collect();
    let predicates: Vec<Arc<dyn Predicate>> = (0..random.below(4))
        .map(|_| random_predicate(random, model))
        .collect();
    let limit = (random.below(4) == 0).then(|| random.below(3_000) as u64);
    let expected = naive(model, &projection, &predicates);
    let options = ScanOptions {
        projection,
        predicates,
        batch_rows: random.choose(&[1, 1_000, 8_192, 50_000]),
        limit,
        readers: 1 + random.below(3),
        work: None,
        read_ahead_bytes: random.choose(&[0, 10_000, READ_AHEAD_BYTES]),
        decompression: random.choose(&[
            Decompression::IntoCache,
            Decompression::IntoMemory,
            Decompression::IntoPool,
        ]),
    };
    let single = read(
        table,
        ScanOptions {
            readers: 1,
            ..options.clone()
        },
    );
    let count = limit.map_or(expected.num_rows(), |limit| {
        expected.num_rows().min(limit as usize)
    });
    assert_eq!(single, expected.slice(0, count), "{:?}", model.definition);

    let readers = options.readers;
    let scan = table.scan(options).unwrap();
    let batches: Vec<RecordBatch> = std::thread::scope(|scope| {
        let run = |mut reader: quire_tables::ScanReader| {
            let mut batches = Vec::new();
            while let Some(batch) = reader.next().unwrap() {
                batches.push(batch);
            }
            batches
        };
        let threads: Vec<_> = (0..readers)
            .map(|_| {
                let reader = scan.reader();
                scope.spawn(move || run(reader))
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    let found = concat_batches(scan.schema(), &batches).unwrap();
    assert_eq!(found.num_rows(), count);
    assert_eq!(scan.statistics().rows, count as u64);
    if limit.is_none() && count < 2_000 {
        assert_eq!(sorted_rows(&found), sorted_rows(&expected));
    }
}

fn sorted_rows(batch: &RecordBatch) -> Vec<String> {
    let row = |row| format!("{:?}", batch.slice(row, 1).columns());
    let mut rows: Vec<String> = (0..batch.num_rows()).map(row).collect();
    rows.sort();
    rows
}

/// Every predicate on every row.
fn naive(
    model: &TableModel,
    projection: &[usize],
    predicates: &[Arc<dyn Predicate>],
) -> RecordBatch {
    let rows = model.rows();
    let mut kept = BooleanArray::from(vec![true; rows.num_rows()]);
    for predicate in predicates {
        let result = predicate
            .evaluate(&rows.project(predicate.columns()).unwrap())
            .unwrap();
        let result = (0..result.len()).map(|row| result.is_valid(row) && result.value(row));
        kept = and(&kept, &result.collect::<Vec<_>>().into()).unwrap();
    }
    filter_record_batch(&rows.project(projection).unwrap(), &kept).unwrap()
}

fn run(seeds: std::ops::Range<u64>, steps: usize) {
    for seed in seeds {
        let mut world = World::new(seed);
        for _ in 0..steps {
            world.step();
        }
        world.scans();
        world.reopen();
    }
}

#[test]
fn tables_are_what_was_appended_first_half() {
    run(0..30, 12);
}

#[test]
fn tables_are_what_was_appended_second_half() {
    run(30..60, 12);
}
