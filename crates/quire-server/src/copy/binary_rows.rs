//! Rows in the binary format: how long each value is, and its bytes. They become columns of the table's types.

use quire::arrow::array::{RecordBatch, RecordBatchOptions};
use quire::arrow::datatypes::{Schema, SchemaRef};

use super::binary_column::BinaryColumn;
use super::outgoing::SIGNATURE;
use crate::failure::ServerFailure;

/// Bytes of a row that has not come in full.
const ROW_BYTES_MAX: usize = 64 << 20;
/// A batch is complete with so many rows, or bytes of values.
const BATCH_ROWS: usize = 8192;
const BATCH_BYTES: usize = 1 << 20;

/// What has come, piece by piece; pieces end anywhere.
pub(super) struct BinaryRows {
    schema: SchemaRef,
    columns: Vec<BinaryColumn>,
    /// Rows and bytes in `columns`.
    held_rows: usize,
    held_bytes: usize,
    /// The beginning of what has not come in full.
    waiting: Vec<u8>,
    row_count: u64,
    is_begun: bool,
    is_over: bool,
}

impl BinaryRows {
    pub(super) fn new(columns: &SchemaRef) -> Self {
        let fields = columns.fields().iter();
        // Whoever stores the rows says which of them has NULL where there must be none.
        let nullable = fields.map(|field| field.as_ref().clone().with_nullable(true));
        let schema = Schema::new(nullable.collect::<Vec<_>>());
        Self {
            columns: schema
                .fields()
                .iter()
                .map(|it| BinaryColumn::of(it.data_type(), BATCH_ROWS))
                .collect(),
            schema: schema.into(),
            held_rows: 0,
            held_bytes: 0,
            waiting: Vec::new(),
            row_count: 0,
            is_begun: false,
            is_over: false,
        }
    }

    /// Takes bytes; appends the batches that are complete.
    pub(super) fn take(
        &mut self,
        bytes: &[u8],
        ready: &mut Vec<RecordBatch>,
    ) -> Result<(), ServerFailure> {
        let mut all = std::mem::take(&mut self.waiting);
        all.extend_from_slice(bytes);
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            let taken = match (self.is_over, self.is_begun) {
                (true, _) => {
                    let text = "received copy data after EOF marker";
                    return Err(ServerFailure::error("22P04", text));
                }
                (false, false) => self.header(rest)?,
                (false, true) => self.tuple(rest)?,
            };
            let Some(behind) = taken.and_then(|taken| rest.get(taken..)) else {
                break;
            };
            rest = behind;
            if self.held_rows >= BATCH_ROWS || self.held_bytes >= BATCH_BYTES {
                ready.push(self.batch()?);
            }
        }
        if rest.len() > ROW_BYTES_MAX {
            return Err(too_long());
        }
        self.waiting = rest.to_vec();
        Ok(())
    }

    /// Nothing more comes; appends the last batch.
    pub(super) fn finish(&mut self, ready: &mut Vec<RecordBatch>) -> Result<(), ServerFailure> {
        if !self.is_over {
            let text = "unexpected EOF in COPY data";
            return Err(ServerFailure::error("22P04", text));
        }
        if self.held_rows > 0 {
            ready.push(self.batch()?);
        }
        Ok(())
    }

    /// The rows that are held, which it forgets.
    fn batch(&mut self) -> Result<RecordBatch, ServerFailure> {
        let columns = self.columns.iter_mut().map(BinaryColumn::finish).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.held_rows));
        (self.held_rows, self.held_bytes) = (0, 0);
        let schema = SchemaRef::clone(&self.schema);
        RecordBatch::try_new_with_options(schema, columns, &options)
            .map_err(|error| ServerFailure::error("XX000", error.to_string()))
    }

    /// How long the header is, if it has come in full.
    fn header(&mut self, bytes: &[u8]) -> Result<Option<usize>, ServerFailure> {
        let known = bytes.len().min(SIGNATURE.len());
        if bytes.get(..known) != SIGNATURE.get(..known) {
            let text = "COPY file signature not recognized";
            return Err(ServerFailure::error("22P04", text));
        }
        let Some(extension) = number_at(bytes, SIGNATURE.len() + 4) else {
            return Ok(None);
        };
        let extension = usize::try_from(extension).map_err(|_| invalid("header"))?;
        let total = SIGNATURE.len() + 8 + extension;
        if total > ROW_BYTES_MAX {
            return Err(invalid("header"));
        }
        if number_at(bytes, SIGNATURE.len()).is_some_and(|flags| flags & 0x0001_0000 != 0) {
            return Err(invalid("header: rows with numbers are not supported"));
        }
        self.is_begun = bytes.len() >= total;
        Ok(self.is_begun.then_some(total))
    }

    /// Takes a row, if it has come in full; returns how long it is.
    fn tuple(&mut self, bytes: &[u8]) -> Result<Option<usize>, ServerFailure> {
        let Some(count) = bytes.first_chunk::<2>() else {
            return Ok(None);
        };
        let count = i16::from_be_bytes(*count);
        if count == -1 {
            self.is_over = true;
            return Ok(Some(2));
        }
        if usize::try_from(count) != Ok(self.columns.len()) {
            let expected = self.columns.len();
            let text = format!("row field count is {count}, expected {expected}");
            return Err(self.at_row(ServerFailure::error("22P04", text)));
        }
        // Columns must not have a part of a row: first its end is found.
        let mut end = 2;
        for _ in 0..self.columns.len() {
            match value_at(bytes, end).map_err(|failure| self.at_row(failure))? {
                Some((_, behind)) => end = behind,
                None => return Ok(None),
            }
        }
        let mut at = 2;
        for index in 0..self.columns.len() {
            if let Some((value, behind)) = value_at(bytes, at)?
                && let Some(column) = self.columns.get_mut(index)
            {
                at = behind;
                let appended = column.append(value);
                appended.map_err(|error| {
                    self.at_row(ServerFailure::error(error.sqlstate(), error.to_string()))
                })?;
            }
        }
        debug_assert_eq!(at, end);
        self.held_rows += 1;
        self.held_bytes += end;
        self.row_count += 1;
        Ok(Some(end))
    }

    fn at_row(&self, mut failure: ServerFailure) -> ServerFailure {
        failure.message += &format!(" (row {} of COPY data)", self.row_count + 1);
        failure
    }
}

/// A value, `None` for NULL, and where the next one begins.
type ValueAt<'b> = (Option<&'b [u8]>, usize);

/// The value whose length is at `at`; nothing if it has not come in full.
fn value_at(bytes: &[u8], at: usize) -> Result<Option<ValueAt<'_>>, ServerFailure> {
    let Some(length) = number_at(bytes, at) else {
        return Ok(None);
    };
    let start = at + 4;
    let Ok(length) = usize::try_from(length) else {
        return match length {
            -1 => Ok(Some((None, start))),
            _ => Err(invalid("field size")),
        };
    };
    if length > ROW_BYTES_MAX {
        return Err(too_long());
    }
    let end = start + length;
    Ok(bytes.get(start..end).map(|value| (Some(value), end)))
}

fn too_long() -> ServerFailure {
    let text = format!("a row of COPY data is longer than {ROW_BYTES_MAX} bytes");
    ServerFailure::error("54000", text)
}

fn invalid(what: &str) -> ServerFailure {
    ServerFailure::error("22P04", format!("invalid COPY {what}"))
}

fn number_at(bytes: &[u8], at: usize) -> Option<i32> {
    let number = bytes.get(at..)?.first_chunk::<4>()?;
    Some(i32::from_be_bytes(*number))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use quire::arrow::array::{ArrayRef, Int32Array, StringViewArray};
    use quire::arrow::compute::concat_batches;
    use quire::arrow::datatypes::{DataType, Field};

    use super::*;

    fn rows_of(bytes: &[u8], piece_bytes: usize) -> Result<RecordBatch, ServerFailure> {
        let fields = vec![
            Field::new("a", DataType::Int32, false),
            Field::new("b", DataType::Utf8View, true),
        ];
        let mut rows = BinaryRows::new(&Arc::new(Schema::new(fields)));
        let mut ready = Vec::new();
        for piece in bytes.chunks(piece_bytes) {
            rows.take(piece, &mut ready)?;
        }
        rows.finish(&mut ready)?;
        Ok(concat_batches(&rows.schema, &ready).unwrap())
    }

    fn with_header(rows: &[u8]) -> Vec<u8> {
        [SIGNATURE.as_slice(), &[0; 8], rows].concat()
    }

    #[test]
    fn rows_become_columns_whatever_the_pieces_are() {
        let rows = [
            [0, 2, 0, 0, 0, 4, 0, 0, 0, 7, 0, 0, 0, 2, b'x', b'"'].as_slice(),
            &[0, 2, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0],
        ];
        let begun = with_header(&rows.concat());
        let whole = [begun.as_slice(), &[0xFF, 0xFF]].concat();
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(7), None]));
        let texts: ArrayRef = Arc::new(StringViewArray::from(vec!["x\"", ""]));
        for piece_bytes in 1..=whole.len() {
            let batch = rows_of(&whole, piece_bytes).unwrap();
            assert_eq!(batch.columns(), [Arc::clone(&numbers), Arc::clone(&texts)]);
        }
        // The end is missing, or something is behind it.
        assert!(rows_of(&begun, 3).is_err());
        assert!(rows_of(&[whole.as_slice(), &[0]].concat(), 3).is_err());
    }

    #[test]
    fn batches_are_bounded() {
        let row = [0, 2, 0, 0, 0, 4, 0, 0, 0, 7, 0, 0, 0, 1, b'x'];
        let bytes = with_header(&[row.repeat(BATCH_ROWS + 1), vec![0xFF, 0xFF]].concat());
        let fields = vec![
            Field::new("a", DataType::Int32, true),
            Field::new("b", DataType::Utf8View, true),
        ];
        let mut rows = BinaryRows::new(&Arc::new(Schema::new(fields)));
        let mut ready = Vec::new();
        rows.take(&bytes, &mut ready).unwrap();
        rows.finish(&mut ready).unwrap();
        let counts: Vec<_> = ready.iter().map(RecordBatch::num_rows).collect();
        assert_eq!(counts, [BATCH_ROWS, 1]);
    }

    #[test]
    fn wrong_bytes_are_errors() {
        for (wrong, sqlstate) in [
            (b"PGCOPX".to_vec(), "22P04"),
            (with_header(&[0, 3]), "22P04"),
            (
                with_header(&[0, 2, 0, 0, 0, 3, 1, 2, 3, 0xFF, 0xFF, 0xFF, 0xFF]),
                "22P03",
            ),
            (with_header(&[0, 2, 0xFF, 0xFF, 0xFF, 0xFE]), "22P04"),
            (with_header(&[0, 2, 0x7F, 0xFF, 0xFF, 0xFF]), "54000"),
        ] {
            let error = rows_of(&wrong, 5).unwrap_err();
            assert_eq!(error.sqlstate, sqlstate, "{wrong:?}");
        }
    }
}
