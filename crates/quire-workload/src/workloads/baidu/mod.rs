//! The two tests of paper 4 (J. Ma et al., *Leveraging Page-Level Compression in MySQL – a Practice at Baidu*, sections VI-B and VI-C): rows are
//! read by key, and rows are inserted in random order of their keys.

mod record_text;

use super::key_distribution::{KeyChooser, KeyDistribution};
use super::permutation::Permutation;
use super::statements::{QueryResult, change_one, integer};
use crate::{
    ColumnType, ConditionOutcome, SeededRandom, SessionError, SqlValue, TransactionEnd,
    TransactionKind, User, Workload, WorkloadColumn, WorkloadRowSink, WorkloadSession,
    WorkloadTable, WorkloadTransaction,
};
pub use record_text::record_text;
use std::io;
use std::sync::Arc;

const RECORD_COLUMNS: [WorkloadColumn; 5] = [
    WorkloadColumn::new("id", ColumnType::BigInteger),
    WorkloadColumn::new("kind", ColumnType::Integer),
    WorkloadColumn::new("score", ColumnType::Integer),
    WorkloadColumn::new("changed", ColumnType::Integer),
    WorkloadColumn::new("content", ColumnType::Varchar(1_024)),
];

fn record_table(name: String) -> WorkloadTable {
    WorkloadTable {
        name,
        columns: RECORD_COLUMNS.to_vec(),
        primary_key: vec!["id"],
        indexes: Vec::new(),
    }
}

/// A row of 612 bytes in the mean: a key of 8 bytes, three integers of 4, and a text.
fn record(key: i64, random: &mut SeededRandom) -> Vec<SqlValue> {
    vec![
        integer(key),
        integer(random.between(0, 9)),
        integer(random.between(0, 1_000)),
        integer(1_377_000_000 + random.between(0, 1_000_000)),
        SqlValue::Text(record_text(random)),
    ]
}

fn no_such_table(table: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("{table} is no table of this workload; take one of Workload::tables"),
    )
}

/// The read test: rows of one table by their keys.
#[derive(Clone, Debug)]
pub struct BaiduRead {
    options: BaiduReadOptions,
    hot_keys: Arc<HotKeys>,
}

/// What is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaiduReadOptions {
    /// At least 1.
    pub rows: u32,
    /// The exponent of Zipf's distribution of the keys. [`super::zipf_exponent_of_share`] gives one for a hit rate, to begin with.
    pub exponent: f64,
    pub places: HotKeyPlaces,
    pub seed: u64,
}

/// Where the keys lie that are read most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HotKeyPlaces {
    /// The least keys, one beside the other in the pages of the table.
    Adjacent,
    /// Anywhere, so that hot rows share their pages with cold ones.
    Scattered,
}

#[derive(Debug)]
struct HotKeys {
    chooser: KeyChooser,
    /// From the rank to the key, if they are scattered.
    places: Option<Permutation>,
}

impl BaiduRead {
    pub fn new(options: BaiduReadOptions) -> Self {
        let rows = options.rows.max(1);
        let exponent = options.exponent.max(0.0);
        let mut random = SeededRandom::of_part(options.seed, u64::MAX);
        let places = match options.places {
            HotKeyPlaces::Adjacent => None,
            HotKeyPlaces::Scattered => Some(Permutation::new(u64::from(rows), &mut random)),
        };
        let chooser = KeyDistribution::Zipf { exponent }.over(u64::from(rows));
        Self {
            options: BaiduReadOptions { rows, ..options },
            hot_keys: Arc::new(HotKeys { chooser, places }),
        }
    }
}

impl HotKeys {
    fn choose(&self, random: &mut SeededRandom) -> i64 {
        let rank = self.chooser.choose(random);
        match &self.places {
            None => rank,
            Some(places) => places.at(rank as u64 - 1) as i64 + 1,
        }
    }
}

const READ_TABLE: &str = "records";
const READ_RECORD: &str = "SELECT kind, score, changed, content FROM records WHERE id = $1";

impl Workload for BaiduRead {
    fn name(&self) -> &'static str {
        "baidu-read"
    }

    fn about(&self) -> &'static str {
        "paper 4, section VI-B: rows of 612 bytes by their keys, some much more often than others"
    }

    fn tables(&self) -> Vec<WorkloadTable> {
        vec![record_table(READ_TABLE.to_owned())]
    }

    fn generate(&self, table: &str, rows: &mut dyn WorkloadRowSink) -> io::Result<()> {
        if table != READ_TABLE {
            return Err(no_such_table(table));
        }
        let mut random = SeededRandom::of_part(self.options.seed, 1);
        (1..=i64::from(self.options.rows)).try_for_each(|key| rows.row(&record(key, &mut random)))
    }

    fn kinds(&self) -> Vec<TransactionKind> {
        vec![TransactionKind {
            name: "read",
            weight: 1,
            reads_only: true,
        }]
    }

    fn user(&self, number: u32) -> Box<dyn User> {
        let part = 1 << 63 | u64::from(number);
        Box::new(RecordReader {
            hot_keys: Arc::clone(&self.hot_keys),
            random: SeededRandom::of_part(self.options.seed, part),
        })
    }
}

struct RecordReader {
    hot_keys: Arc<HotKeys>,
    random: SeededRandom,
}

impl User for RecordReader {
    fn next(&mut self) -> Option<Box<dyn WorkloadTransaction>> {
        let key = self.hot_keys.choose(&mut self.random);
        Some(Box::new(ReadRecord { key }))
    }
}

struct ReadRecord {
    key: i64,
}

impl WorkloadTransaction for ReadRecord {
    fn kind(&self) -> usize {
        0
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        QueryResult::of_existing(session, READ_RECORD, &[integer(self.key)])?;
        Ok(TransactionEnd::Committed)
    }
}

/// The write test: each user inserts into tables of its own, in random order of the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaiduWrite {
    /// Users that have tables. Others have nothing to do.
    pub users: u32,
    /// Rows that a user inserts into each of its tables until it has no more.
    pub rows_of_table: u32,
    pub seed: u64,
}

pub const TABLES_OF_USER: u32 = 6;

fn write_table(user: u32, table: u32) -> String {
    format!("records_{user}_{table}")
}

impl Workload for BaiduWrite {
    fn name(&self) -> &'static str {
        "baidu-write"
    }

    fn about(&self) -> &'static str {
        "paper 4, section VI-C: each user inserts rows of 612 bytes into its 6 tables, in random order"
    }

    fn tables(&self) -> Vec<WorkloadTable> {
        let tables_of = |user| (0..TABLES_OF_USER).map(move |table| write_table(user, table));
        (0..self.users)
            .flat_map(tables_of)
            .map(record_table)
            .collect()
    }

    /// The tables are empty at first.
    fn generate(&self, table: &str, _: &mut dyn WorkloadRowSink) -> io::Result<()> {
        let is_known = self.tables().iter().any(|known| known.name == table);
        if is_known {
            Ok(())
        } else {
            Err(no_such_table(table))
        }
    }

    fn kinds(&self) -> Vec<TransactionKind> {
        vec![TransactionKind {
            name: "insert",
            weight: 1,
            reads_only: false,
        }]
    }

    fn user(&self, number: u32) -> Box<dyn User> {
        let mut random = SeededRandom::of_part(self.seed, 1 << 63 | u64::from(number));
        let is_known = number < self.users;
        let rows = u64::from(if is_known { self.rows_of_table } else { 0 });
        let statements = std::array::from_fn(|table| {
            let table = write_table(number, table as u32);
            let sql = format!(
                "INSERT INTO {table} (id, kind, score, changed, content) VALUES ($1, $2, $3, $4, $5)"
            );
            Arc::from(sql)
        });
        let order = Permutation::new(rows.max(1), &mut random);
        Box::new(RecordWriter {
            statements,
            order,
            random,
            inserted: 0,
            inserts: rows * u64::from(TABLES_OF_USER),
        })
    }

    /// The keys of each table lie between 1 and the number of rows.
    fn check(
        &self,
        session: &mut dyn WorkloadSession,
    ) -> Result<Vec<ConditionOutcome>, SessionError> {
        let rows = i64::from(self.rows_of_table);
        let mut outcomes = Vec::new();
        for table in self.tables() {
            let sql = format!("SELECT COUNT(*), MIN(id), MAX(id) FROM {}", table.name);
            let found = QueryResult::of_existing(session, &sql, &[])?;
            let count = found.integer(0, 0)?;
            let least = found.nullable_integer(0, 1)?.unwrap_or(1);
            let most = found.nullable_integer(0, 2)?.unwrap_or(rows);
            outcomes.push(ConditionOutcome {
                name: format!("{} has keys from 1 to {rows}", table.name),
                holds: least >= 1 && most <= rows,
                finding: format!("{count} rows with keys from {least} to {most}"),
            });
        }
        Ok(outcomes)
    }
}

struct RecordWriter {
    statements: [Arc<str>; TABLES_OF_USER as usize],
    order: Permutation,
    random: SeededRandom,
    inserted: u64,
    inserts: u64,
}

impl User for RecordWriter {
    /// The tables take turns.
    fn next(&mut self) -> Option<Box<dyn WorkloadTransaction>> {
        if self.inserted == self.inserts {
            return None;
        }
        let tables = u64::from(TABLES_OF_USER);
        let key = self.order.at(self.inserted / tables) as i64 + 1;
        let statement = &self.statements[(self.inserted % tables) as usize];
        self.inserted += 1;
        Some(Box::new(InsertRecord {
            statement: Arc::clone(statement),
            row: record(key, &mut self.random),
        }))
    }
}

struct InsertRecord {
    statement: Arc<str>,
    row: Vec<SqlValue>,
}

impl WorkloadTransaction for InsertRecord {
    fn kind(&self) -> usize {
        0
    }

    fn run(&mut self, session: &mut dyn WorkloadSession) -> Result<TransactionEnd, SessionError> {
        change_one(session, &self.statement, &self.row)?;
        Ok(TransactionEnd::Committed)
    }
}

#[cfg(test)]
mod tests {
    use super::record;
    use crate::{SeededRandom, SqlValue};
    use quire_codec::block::{BlockCodecId, BlockOptions, open};

    const PIECE_BYTES: usize = 16 << 10;

    /// Records as bytes: integers of 8 and 4 bytes, and texts.
    fn raw_data(records: i64, seed: u64) -> Vec<u8> {
        let mut random = SeededRandom::new(seed);
        let mut bytes = Vec::new();
        for key in 1..=records {
            for (column, value) in record(key, &mut random).into_iter().enumerate() {
                match value {
                    SqlValue::Integer(value) if column == 0 => {
                        bytes.extend_from_slice(&value.to_le_bytes());
                    }
                    SqlValue::Integer(value) => {
                        bytes.extend_from_slice(&(value as i32).to_le_bytes());
                    }
                    SqlValue::Text(text) => bytes.extend_from_slice(text.as_bytes()),
                    other => panic!("{other:?}"),
                }
            }
        }
        bytes
    }

    fn ratio(codec: BlockCodecId, level: Option<i32>, bytes: &[u8]) -> f64 {
        let options = BlockOptions {
            level,
            ..BlockOptions::default()
        };
        let mut codec = open(codec, &options).unwrap();
        let mut output = vec![0; 2 * PIECE_BYTES];
        let pieces = bytes.chunks_exact(PIECE_BYTES);
        let raw = pieces.len() * PIECE_BYTES;
        let limit = output.len();
        let small: usize = pieces
            .map(|piece| codec.compress(piece, &mut output, limit).unwrap())
            .sum();
        small as f64 / raw as f64
    }

    #[test]
    fn records_have_612_bytes_in_the_mean() {
        let mean = raw_data(10_000, 1).len() as f64 / 10_000.0;
        assert!((mean - 612.0).abs() < 3.0, "{mean}");
    }

    /// Table III of the paper: 0.24 and 0.30.
    #[test]
    fn text_compresses_as_baidus_does() {
        for seed in [1, 2] {
            let bytes = raw_data(2_000, seed);
            let zlib = ratio(BlockCodecId::Zlib, Some(6), &bytes);
            let lz4hc = ratio(BlockCodecId::Lz4Hc, None, &bytes);
            assert!((zlib - 0.24).abs() < 0.02, "seed {seed}: zlib {zlib}");
            assert!((lz4hc - 0.30).abs() < 0.02, "seed {seed}: lz4hc {lz4hc}");
        }
    }
}
