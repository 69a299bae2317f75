//! What is advised on: some rows of a table or a file, and what is known of the whole.

use std::ops::Range;

use arrow_array::RecordBatch;
use quire_codec::PhysicalType;
use quire_tables::row_table::{ColumnArray, TupleValue};
use quire_tables::{ColumnDefinition, SqlType, TableDefinition};

use crate::choices::StorageChoice;
use crate::error::AdvisorError;

/// Rows of the shortest block that counts as a unit when distinct values are estimated.
const UNIT_ROWS_MIN: usize = 64;
/// Units into which a sample is cut, about.
const UNITS: usize = 32;
/// What a plain array takes beside the bytes of a string, in bytes: where it ends.
const STRING_END_BYTES: u64 = 4;

/// A column of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleColumn {
    /// Its name.
    pub name: String,
    /// Its type.
    pub sql_type: SqlType,
    /// Whether it may be NULL.
    pub is_nullable: bool,
}

/// How many rows the whole has, and how that is known.
#[derive(Clone, Debug, PartialEq)]
pub enum WholeRowCount {
    /// They were counted.
    Exact(u64),
    /// They were estimated.
    Estimated {
        /// About so many.
        rows: u64,
        /// By what, in words: "the length of the file and of its first 20,000 lines".
        source: String,
    },
}

impl WholeRowCount {
    /// The number of rows.
    pub fn rows(&self) -> u64 {
        match self {
            Self::Exact(rows) | Self::Estimated { rows, .. } => *rows,
        }
    }
}

/// How the rows of the sample were drawn.
///
/// Page codecs and run lengths live on neighbours, so rows that were drawn one by one say nothing of them: a sample is pieces of consecutive rows.
/// Rows of a row table with a primary key are neighbours in the order of that key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleDrawing {
    /// All rows there are.
    Whole,
    /// Pieces of consecutive rows from places all over the whole, one batch each. Pieces of 1,024 rows are good, of 8,192 better; many pieces say
    /// more of distinct values than few. A single piece from the beginning knows only small numbers and early dates.
    Pieces,
}

/// Whose rows they are, and how they are kept now.
#[derive(Clone, Debug, PartialEq)]
pub enum SampleOrigin {
    /// A table of the database.
    Table {
        /// What it is now: the comparison.
        current: StorageChoice,
        /// Whether it has keys, indexes or constraints that must stay: then it stays a row table.
        needs_rows: bool,
    },
    /// A file, which becomes a table. The comparison is a row table in which nothing is compressed.
    File {
        /// Its path, for `COPY`.
        path: String,
    },
}

/// Rows of a table or of a file, and facts of the whole.
#[derive(Clone, Debug)]
pub struct SampledTable {
    /// Name of the table, or of the one that the file becomes.
    pub name: String,
    /// Columns in their order.
    pub columns: Vec<SampleColumn>,
    /// The rows: batches of consecutive rows in the Arrow types of the columns.
    pub pieces: Vec<RecordBatch>,
    /// Rows of the whole.
    pub whole_rows: WholeRowCount,
    /// Places of the columns of the primary key, in its order; none without one.
    pub primary_key: Vec<usize>,
    /// How the rows were drawn.
    pub drawing: SampleDrawing,
    /// Whose they are.
    pub origin: SampleOrigin,
}

impl SampledTable {
    /// Whether columns, key and rows go together.
    ///
    /// # Errors
    /// [`AdvisorError::NoColumns`], [`AdvisorError::KeyColumn`], [`AdvisorError::PieceColumns`], [`AdvisorError::TooFewRows`].
    pub fn check(&self) -> Result<(), AdvisorError> {
        if self.columns.is_empty() {
            return Err(AdvisorError::NoColumns);
        }
        if let Some(&column) = self.primary_key.iter().find(|&&c| c >= self.columns.len()) {
            return Err(AdvisorError::KeyColumn {
                column,
                columns: self.columns.len(),
            });
        }
        for (piece, batch) in self.pieces.iter().enumerate() {
            let types = self.columns.iter().map(|column| column.sql_type);
            let fits = batch.num_columns() == self.columns.len()
                && (batch.columns().iter().zip(types))
                    .all(|(array, sql_type)| *array.data_type() == sql_type.arrow_type());
            if !fits {
                return Err(AdvisorError::PieceColumns { piece });
            }
        }
        let (sampled, whole) = (self.sampled_rows(), self.whole_rows.rows());
        let is_partial = self.drawing == SampleDrawing::Whole && sampled != whole;
        if whole < sampled || (sampled == 0 && whole > 0) || is_partial {
            return Err(AdvisorError::TooFewRows { sampled, whole });
        }
        Ok(())
    }

    /// Rows of the sample.
    pub fn sampled_rows(&self) -> u64 {
        self.pieces
            .iter()
            .map(|piece| piece.num_rows() as u64)
            .sum()
    }

    /// What the sample takes as plain arrays, in bytes: every value in the width of its type, a string with 4 bytes for where it ends. It is the unit
    /// of all bandwidths here.
    pub fn plain_bytes(&self) -> u64 {
        (0..self.columns.len())
            .map(|column| self.column_plain_bytes(column))
            .sum()
    }

    fn column_plain_bytes(&self, column: usize) -> u64 {
        let sql_type = self.columns[column].sql_type;
        let width = match sql_type.physical_type() {
            PhysicalType::Bytes => None,
            PhysicalType::Bool => Some(1),
            physical => physical.value_bytes(),
        };
        if let Some(width) = width {
            return width as u64 * self.sampled_rows();
        }
        self.values(column)
            .map(|value| match value {
                TupleValue::Bytes(bytes) => bytes.len() as u64 + STRING_END_BYTES,
                _ => STRING_END_BYTES,
            })
            .sum()
    }

    /// The values of a column, row by row.
    pub(crate) fn values(&self, column: usize) -> impl Iterator<Item = TupleValue<'_>> {
        let sql_type = self.columns[column].sql_type;
        self.pieces.iter().flat_map(move |piece| {
            let array = ColumnArray::new(sql_type, piece.column(column).as_ref());
            let rows = 0..piece.num_rows();
            rows.map(move |row| array.map_or(TupleValue::Null, |array| array.value(row)))
        })
    }

    /// Blocks of consecutive rows of about one length, none across two pieces: each a piece and the rows in it.
    pub(crate) fn units(&self) -> Vec<(usize, Range<usize>)> {
        let wanted = (self.sampled_rows() as usize / UNITS).max(UNIT_ROWS_MIN);
        let mut units = Vec::new();
        for (piece, batch) in self.pieces.iter().enumerate() {
            let rows = batch.num_rows();
            // At least a half of what is wanted, so that no unit is a few rows at the end of a piece.
            let count = (rows + wanted / 2).checked_div(wanted).unwrap_or(0).max(1);
            let border = |at: usize| rows * at / count;
            units.extend((0..count).map(|at| (piece, border(at)..border(at + 1))));
        }
        units
    }

    /// The first half of each piece: so many seams between pieces as the sample has, and half as many rows. `None` where a half has no rows.
    pub(crate) fn first_halves(&self) -> Option<Vec<RecordBatch>> {
        let halves = self.pieces.iter();
        let halves: Vec<RecordBatch> = halves
            .map(|piece| piece.slice(0, piece.num_rows() / 2))
            .collect();
        halves
            .iter()
            .any(|half| half.num_rows() > 0)
            .then_some(halves)
    }

    /// Places where rows follow each other that are no neighbours in the whole.
    pub(crate) fn seam_count(&self) -> usize {
        self.pieces.len().saturating_sub(1)
    }

    /// The table as a choice keeps it. Tables that are not row tables have no key.
    pub(crate) fn definition(&self, choice: &StorageChoice) -> TableDefinition {
        let columns = self.columns.iter().enumerate().map(|(place, column)| {
            let is_key = choice.is_rows() && self.primary_key.contains(&place);
            ColumnDefinition {
                nullable: column.is_nullable && !is_key,
                stores_null: column.is_nullable && !is_key,
                compression: choice.column_codec(column.sql_type),
                ..ColumnDefinition::new(column.name.clone(), column.sql_type)
            }
        });
        let mut definition = TableDefinition::new(self.name.clone(), columns.collect());
        if choice.is_rows() && !self.primary_key.is_empty() {
            definition = definition.clustered_by(&self.primary_key);
        }
        definition.storage = choice.storage();
        definition.options = *choice.options();
        definition
    }

    /// What the whole takes as plain arrays, in bytes, by the mean row of the sample.
    pub fn whole_plain_bytes(&self) -> f64 {
        let row_bytes = self.plain_bytes() as f64 / self.sampled_rows().max(1) as f64;
        row_bytes * self.whole_rows.rows() as f64
    }
}
