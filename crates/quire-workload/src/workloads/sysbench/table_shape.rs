//! Which tables do the tests of sysbench run on, and what is in their rows?

use crate::workloads::english::sentences;
use crate::workloads::key_distribution::KeyChooser;
use crate::workloads::permutation::Permutation;
use crate::workloads::statements::integer;
use crate::{
    ColumnType, SeededRandom, SqlValue, WorkloadColumn, WorkloadIndex, WorkloadRowSink,
    WorkloadTable,
};
use std::io;
use std::sync::Arc;

/// The columns of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableShape {
    /// sysbench's: `id`, `k` with an index, `c` of 120 characters and `pad` of 60.
    Narrow,
    /// Of paper 3, section 5.1: `id`, 32 integers `c1` to `c32`, the first with an index, and a text `t` of 32 characters.
    Wide,
}

/// In which order the rows are generated, and so inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrder {
    /// By key, which leaves full leaves behind.
    Key,
    /// At random, which leaves leaves that are partly empty, as the ratios of paper 3, figure 11, need them.
    Random,
}

/// Values of the rows of one shape.
#[derive(Clone, Debug)]
pub struct SbtestRowValues {
    shape: TableShape,
    /// Of the integers of wide rows.
    centres: [i64; WIDE_INTEGERS],
    /// What texts of wide rows are pieces of.
    text: Arc<str>,
}

const WIDE_INTEGERS: usize = 32;
const TEXT_BYTES: usize = 1 << 20;
const PIECE_BYTES: usize = 32;

impl SbtestRowValues {
    /// The values of a seed: centres of the integers, and the text, are drawn once for all tables.
    pub fn new(shape: TableShape, seed: u64) -> Self {
        let mut random = SeededRandom::of_part(seed, u64::MAX);
        let text_bytes = match shape {
            TableShape::Narrow => 0,
            TableShape::Wide => TEXT_BYTES,
        };
        Self {
            shape,
            centres: std::array::from_fn(|_| random.between(1 << 8, 1 << 16)),
            text: sentences(text_bytes, &mut random).into(),
        }
    }

    pub fn shape(&self) -> TableShape {
        self.shape
    }

    /// A table, by its number from 1.
    pub fn table(&self, number: u32) -> WorkloadTable {
        let mut columns = vec![WorkloadColumn::new("id", ColumnType::Integer)];
        let indexed = match self.shape {
            TableShape::Narrow => {
                columns.extend(NARROW_COLUMNS);
                "k"
            }
            TableShape::Wide => {
                let column = |name| WorkloadColumn::new(name, ColumnType::Integer);
                columns.extend(WIDE_NAMES.map(column));
                columns.push(WorkloadColumn::new(
                    "t",
                    ColumnType::Char(PIECE_BYTES as u32),
                ));
                "c1"
            }
        };
        WorkloadTable {
            name: format!("sbtest{number}"),
            columns,
            primary_key: vec!["id"],
            indexes: vec![WorkloadIndex {
                name: format!("k_{number}"),
                columns: vec![indexed],
                unique: false,
            }],
        }
    }

    /// Generates the rows of a table with the keys from 1 to `count`; `indexed` chooses the values of `k`.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn generate(
        &self,
        count: i64,
        order: RowOrder,
        indexed: &KeyChooser,
        random: &mut SeededRandom,
        rows: &mut dyn WorkloadRowSink,
    ) -> io::Result<()> {
        let permutation = Permutation::new(count.max(1) as u64, random);
        for place in 0..count {
            let key = match order {
                RowOrder::Key => place + 1,
                RowOrder::Random => permutation.at(place as u64) as i64 + 1,
            };
            let k = indexed.choose(random);
            rows.row(&self.row(key, k, random))?;
        }
        Ok(())
    }

    /// A row; `k` is the value of the narrow table's index, drawn by the caller, as its distribution is that of keys.
    pub fn row(&self, key: i64, k: i64, random: &mut SeededRandom) -> Vec<SqlValue> {
        match self.shape {
            TableShape::Narrow => vec![
                integer(key),
                integer(k),
                SqlValue::Text(digit_groups(C_GROUPS, random)),
                SqlValue::Text(digit_groups(PAD_GROUPS, random)),
            ],
            TableShape::Wide => {
                let mut row = vec![integer(key)];
                row.extend(self.centres.map(|centre| near(centre, random)));
                row.push(self.unindexed_text(random));
                row
            }
        }
    }

    /// A new value for the text without an index: `c` or `t`.
    pub fn unindexed_text(&self, random: &mut SeededRandom) -> SqlValue {
        SqlValue::Text(match self.shape {
            TableShape::Narrow => digit_groups(C_GROUPS, random),
            TableShape::Wide => {
                let start = random.below((TEXT_BYTES - PIECE_BYTES + 1) as u64) as usize;
                self.text[start..start + PIECE_BYTES].to_owned()
            }
        })
    }
}

const C_GROUPS: usize = 10;
const PAD_GROUPS: usize = 5;

/// Groups of eleven random digits with dashes between them: 119 characters for `c`, 59 for `pad`, one less than their columns have.
fn digit_groups(groups: usize, random: &mut SeededRandom) -> String {
    let groups: Vec<String> = (0..groups).map(|_| random.digits(11)).collect();
    groups.join("-")
}

/// A value at most 10 % away from the centre. It is below 2^17, so that a signed column of four bytes holds what the paper keeps in an
/// unsigned one, also after the increments of a run.
fn near(centre: i64, random: &mut SeededRandom) -> SqlValue {
    integer(random.between(centre - centre / 10, centre + centre / 10))
}

const NARROW_COLUMNS: [WorkloadColumn; 3] = [
    WorkloadColumn::new("k", ColumnType::Integer),
    WorkloadColumn::new("c", ColumnType::Char(120)),
    WorkloadColumn::new("pad", ColumnType::Char(60)),
];

const WIDE_NAMES: [&str; WIDE_INTEGERS] = [
    "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11", "c12", "c13", "c14", "c15",
    "c16", "c17", "c18", "c19", "c20", "c21", "c22", "c23", "c24", "c25", "c26", "c27", "c28",
    "c29", "c30", "c31", "c32",
];
