//! Random loads, insertions, changes, deletions, merges, savepoints, rollbacks and reopenings against rows in a vector. Snapshots
//! stay as they were, whatever happens after them.

use std::sync::Arc;

use quire_kv::mvcc::TransactionOptions;
use quire_store::{MemDisk, Volume, VolumeOptions};
use quire_tables::{Engine, MergeOptions, Snapshot, TableDefinition};

use crate::fixture::{
    Random, Row, TABLE, append, change, changeable, definition, engine_of, insert, keyed_rows,
    reopened, rows_of, table, transaction,
};

struct World {
    random: Random,
    disk: Arc<MemDisk>,
    engine: Engine,
    rows: Vec<Row>,
    next: i64,
    /// Snapshots, and what they had.
    kept: Vec<(Snapshot, Vec<Row>)>,
}

impl World {
    fn new(seed: u64, definition: TableDefinition) -> Self {
        let disk = Arc::new(MemDisk::new());
        World {
            random: Random::new(seed),
            engine: engine_of(&disk, definition),
            disk,
            rows: Vec::new(),
            next: 0,
            kept: Vec::new(),
        }
    }

    fn new_row(&mut self) -> Row {
        self.next += 1;
        let text = match self.random.below(20) {
            0 => None,
            // Longer than a page takes.
            1 => Some("long ".repeat(2_000 + self.random.below(3_000))),
            length => Some("x".repeat(length)),
        };
        (self.next, text)
    }

    fn new_rows(&mut self, count: usize) -> Vec<Row> {
        (0..count).map(|_| self.new_row()).collect()
    }

    fn step(&mut self) {
        match self.random.below(12) {
            0..=6 => self.change(),
            7 | 8 => self.merge(),
            9 => self.reopen(),
            10 => {
                let rows = sorted(&self.rows);
                self.kept.push((self.engine.snapshot(), rows));
            }
            _ => self.engine.checkpoint().unwrap(),
        }
        if self.kept.len() > 3 {
            self.kept.remove(0);
        }
        self.check();
    }

    fn check(&self) {
        let now = (self.engine.snapshot(), sorted(&self.rows));
        for (snapshot, rows) in self.kept.iter().chain([&now]) {
            let table = snapshot.table(TABLE).unwrap().unwrap();
            assert!(rows_of(&table) == *rows, "rows differ");
            assert_eq!(table.row_count().unwrap(), rows.len() as u64);
        }
        let findings = self.engine.check_rows();
        assert!(findings.is_empty(), "{findings:?}");
    }

    /// A transaction of several steps, with a savepoint; kept or not.
    fn change(&mut self) {
        let mut rows = self.rows.clone();
        let mut transaction = transaction(&self.engine);
        for _ in 0..1 + self.random.below(3) {
            let savepoint = transaction.savepoint();
            let before = rows.clone();
            self.step_of(&mut transaction, &mut rows);
            assert!(
                rows_of(&table(&transaction)) == sorted(&rows),
                "own changes differ"
            );
            if self.random.below(5) == 0 {
                transaction.roll_back_to(&savepoint);
                rows = before;
                assert!(
                    rows_of(&table(&transaction)) == sorted(&rows),
                    "going back differs"
                );
            }
        }
        if self.random.below(5) > 0 {
            transaction.commit().unwrap();
            self.rows = rows;
        }
    }

    fn step_of(&mut self, transaction: &mut quire_tables::Transaction, rows: &mut Vec<Row>) {
        match self.random.below(6) {
            0 => {
                let count = 1 + self.random.below(12_000);
                let new = self.new_rows(count);
                append(transaction, &new, 5_000);
                rows.extend(new);
            }
            1 => {
                let table = changeable(transaction);
                let count = self.random.below(60);
                for row in self.new_rows(count) {
                    insert(transaction, &table, &row);
                    rows.push(row);
                }
            }
            2 if self.random.below(6) == 0 => {
                transaction.truncate_table(TABLE).unwrap();
                rows.clear();
            }
            what => {
                let table = changeable(transaction);
                let share = [2, 10, 500][self.random.below(3)];
                for (key, row) in keyed_rows(&table) {
                    if self.random.below(share) > 0 {
                        continue;
                    }
                    let place = rows.iter().position(|known| known.0 == row.0).unwrap();
                    if what == 3 {
                        assert!(change(transaction, &table, &key, None));
                        rows.swap_remove(place);
                    } else {
                        let text = self.new_row().1;
                        rows[place].1 = text;
                        let row = rows[place].clone();
                        assert!(change(transaction, &table, &key, Some(&row)));
                    }
                }
            }
        }
        transaction.begin_statement();
    }

    fn merge(&mut self) {
        let deleted_share = [0.0, 0.0, 0.05, 0.4][self.random.below(4)];
        let mut transaction = self.engine.transaction(TransactionOptions::default());
        let options = MergeOptions {
            deleted_share,
            ..MergeOptions::default()
        };
        transaction.merge_changes(TABLE, options).unwrap();
        if self.random.below(4) == 0 {
            return;
        }
        transaction.commit().unwrap();
        let table = self.engine.snapshot().table(TABLE).unwrap().unwrap();
        if deleted_share == 0.0 {
            assert_eq!(table.stored_row_count(), self.rows.len() as u64);
            assert!(table.delta().is_none() && !table.is_changed().unwrap());
        }
    }

    /// With or without a checkpoint: then the log has the changes.
    fn reopen(&mut self) {
        self.kept.clear();
        if self.random.below(2) == 0 {
            self.engine.checkpoint().unwrap();
        }
        let empty = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap();
        drop(std::mem::replace(
            &mut self.engine,
            Engine::open(empty).unwrap(),
        ));
        self.engine = reopened(&self.disk);
        let findings = Engine::check(self.engine.volume());
        assert!(findings.is_empty(), "{findings:?}");
    }
}

fn sorted(rows: &[Row]) -> Vec<Row> {
    let mut rows = rows.to_vec();
    rows.sort();
    rows
}

#[test]
fn changes_are_those_of_the_model() {
    run(|_| definition());
}

#[test]
fn changes_of_pax_tables_are_those_of_the_model() {
    run(|seed| {
        let block_bytes = [16 << 10, 50_000, 1 << 20][seed as usize % 3];
        definition().in_blocks_of(block_bytes)
    });
}

fn run(definition: impl Fn(u64) -> TableDefinition) {
    let seeds = std::env::var("QUIRE_CHANGE_SEEDS").ok();
    let seeds: u64 = seeds.and_then(|text| text.parse().ok()).unwrap_or(6);
    for seed in 1..=seeds {
        println!("seed {seed}");
        let mut world = World::new(seed, definition(seed));
        for _ in 0..30 {
            world.step();
        }
    }
}
