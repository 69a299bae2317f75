//! Which strings of row tables are padded: `CHAR(n)` where nothing is compressed.

use quire_codec::CodecId;
use quire_format::row_page::space;

use super::{ColumnDefinition, TableDefinition, TableStorage};
use crate::types::SqlType;

/// What a string that is not padded takes at least: its length, and as many bytes as say where it is stored.
const STRING_BYTES: usize = 4 + 8;

impl TableDefinition {
    /// Decides which strings of a row table are padded. A padded string takes its width whatever it is, so that strings are padded only as far
    /// as the longest key and the shortest values of all other columns still fit into an entry, and half of it is left for longer ones.
    pub(crate) fn choose_padding(&mut self) {
        let is_plain = self.storage == TableStorage::Row && !self.options.compresses_tuples;
        let entry_bytes = space::entry_bytes_max(self.options.page_bytes);
        let taken_bytes =
            self.string_key_bytes() + self.columns.iter().map(plain_bytes).sum::<usize>();
        let mut left_bytes = (entry_bytes / 2).min(entry_bytes.saturating_sub(taken_bytes));
        for column in &mut self.columns {
            let width = match (column.sql_type, column.compression) {
                // Its place stays, and takes no more than it has to.
                _ if column.is_dropped => None,
                (SqlType::Char(length), None | Some(CodecId::Plain)) if is_plain => {
                    u8::try_from(length).ok()
                }
                _ => None,
            };
            column.padded_bytes = width.filter(|width| usize::from(*width) <= left_bytes);
            left_bytes -= usize::from(column.padded_bytes.unwrap_or(0));
        }
    }

    /// The longest key, if strings may make it longer than its columns are in tuples.
    fn string_key_bytes(&self) -> usize {
        let mut parts = self.primary_key.iter().flat_map(|key| &key.columns);
        let is_string = |ordinal: usize| {
            let column = self.columns.get(ordinal);
            column.is_some_and(|column| {
                column.sql_type.is_text() || column.sql_type == SqlType::Bytea
            })
        };
        match parts.any(|part| is_string(part.column)) {
            true => space::key_bytes_max(self.options.page_bytes),
            false => 0,
        }
    }
}

/// What the shortest value of a column takes in a tuple that is not compressed, at most, with its bits.
fn plain_bytes(column: &ColumnDefinition) -> usize {
    1 + match column.sql_type {
        SqlType::Boolean => 1,
        SqlType::SmallInt => 2,
        SqlType::Integer | SqlType::Real | SqlType::Date => 4,
        SqlType::BigInt | SqlType::Double | SqlType::Timestamp | SqlType::TimestampTz => 8,
        SqlType::Decimal { .. } => 16,
        SqlType::Text | SqlType::VarChar(_) | SqlType::Char(_) | SqlType::Bytea => STRING_BYTES,
    }
}
