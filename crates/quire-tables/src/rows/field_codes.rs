//! Which columns of a row table have their values in codes: some of the rows say.

use arrow_array::RecordBatch;
use quire_codec::CodecId;

use super::dictionaries::{self, ChosenDictionary};
use super::string_tables::{self, ChosenStringTable};
use crate::definition::{ColumnDefinition, TableDefinition, TableOptions, TableStorage};

/// Most bytes of the dictionaries and string tables of a table: they are in the catalog page.
const TABLE_BYTES_MAX: usize = 128 << 10;

/// Rows without which nothing is chosen.
const SAMPLE_ROWS_MIN: usize = 256;

/// Chooses the dictionaries and the string codes of the columns of a row table that is to be written, from some of its rows: batches of
/// the table's visible columns. Those it had are forgotten. `COMPRESSION dictionary`, `COMPRESSION fsst` and `COMPRESSION huffman` ask for
/// one however few rows there are, `COMPRESSION plain` forbids all; columns of the primary key have none. Where a column says nothing, it
/// gets what saves most, if anything pays, and if `finds` is true: a dictionary or an FSST table, since a Huffman code is neither smaller nor
/// faster on the columns that were tried.
pub fn choose_field_codes(definition: &mut TableDefinition, sample: &[RecordBatch], finds: bool) {
    let is_row_table = definition.storage == TableStorage::Row;
    let key = definition.primary_key.clone();
    let is_key = |ordinal: usize| {
        let mut parts = key.iter().flat_map(|key| &key.columns);
        parts.any(|part| part.column == ordinal)
    };
    let row_count: usize = sample.iter().map(RecordBatch::num_rows).sum();
    let options = definition.options;
    let mut choice = FieldCodeChoice {
        sample,
        options: &options,
        finds: finds && options.compresses_tuples && row_count >= SAMPLE_ROWS_MIN,
        left_bytes: TABLE_BYTES_MAX,
    };
    let mut position = 0;
    for (ordinal, column) in definition.columns.iter_mut().enumerate() {
        column.dictionary = None;
        column.string_codes = None;
        if column.is_dropped {
            continue;
        }
        if is_row_table && !is_key(ordinal) {
            choice.of_column(column, position);
        }
        position += 1;
    }
}

struct FieldCodeChoice<'a> {
    sample: &'a [RecordBatch],
    options: &'a TableOptions,
    /// Whether columns that say nothing may get codes.
    finds: bool,
    /// What dictionaries and tables may take yet.
    left_bytes: usize,
}

/// What a column gets.
enum FieldCodes {
    Dictionary(ChosenDictionary),
    Strings(ChosenStringTable),
}

impl FieldCodeChoice<'_> {
    fn of_column(&mut self, column: &mut ColumnDefinition, position: usize) {
        match self.chosen(column, position) {
            Some(FieldCodes::Dictionary(chosen)) => {
                self.left_bytes -= chosen.entry_bytes;
                column.dictionary = Some(chosen.dictionary);
            }
            Some(FieldCodes::Strings(chosen)) => {
                self.left_bytes -= chosen.table_bytes;
                column.string_codes = Some(chosen.codes);
            }
            None => {}
        }
    }

    fn chosen(&self, column: &ColumnDefinition, position: usize) -> Option<FieldCodes> {
        match column.compression {
            Some(CodecId::Dictionary) => self
                .dictionary(column, position)
                .map(FieldCodes::Dictionary),
            Some(codec @ (CodecId::Fsst | CodecId::Huffman)) => self
                .strings(codec, column, position)
                .map(FieldCodes::Strings),
            None if self.finds => {
                let dictionary = self.dictionary(column, position);
                let strings = self.strings(CodecId::Fsst, column, position);
                let least_bits = dictionary.as_ref().map_or(0.0, |chosen| chosen.gain_bits);
                match strings {
                    Some(strings) if strings.pays && strings.gain_bits > least_bits => {
                        Some(FieldCodes::Strings(strings))
                    }
                    _ => dictionary.map(FieldCodes::Dictionary),
                }
            }
            _ => None,
        }
    }

    fn dictionary(&self, column: &ColumnDefinition, position: usize) -> Option<ChosenDictionary> {
        dictionaries::best(column, self.sample, position, self.left_bytes)
    }

    fn strings(
        &self,
        codec: CodecId,
        column: &ColumnDefinition,
        position: usize,
    ) -> Option<ChosenStringTable> {
        let (sample, options) = (self.sample, self.options);
        let found = string_tables::trained(codec, column.sql_type, sample, position, options)?;
        (found.table_bytes <= self.left_bytes).then_some(found)
    }
}
