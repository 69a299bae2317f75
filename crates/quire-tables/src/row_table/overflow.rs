//! Long strings: the entries they are cut into.

use quire_codec::Corrupt;
use quire_format::tuple::TupleValue;

use super::encode::{EncodedRow, OverflowChunk};
use super::error::RowError;
use super::fit::VALUE_BYTES_MAX;
use super::layout::{RowLayout, RowLayoutColumn};
use super::overflow_mark::{MARK_BYTES, OVERFLOW_SUFFIX_BYTES, OverflowMark, StoredString, escape};

/// The key of a chunk in the overflow tree.
fn chunk_key(row_key: &[u8], ordinal: usize, number: usize, key: &mut Vec<u8>) {
    key.clear();
    key.extend_from_slice(row_key);
    key.extend_from_slice(&(ordinal as u16).to_be_bytes());
    key.extend_from_slice(&(number as u32).to_be_bytes());
}

impl RowLayout {
    /// Encodes a tuple of which strings must be escaped or cut out; the key is in `row`.
    pub(super) fn encode_rewritten(
        &self,
        values: &[TupleValue<'_>],
        row: &mut EncodedRow,
    ) -> Result<(), RowError> {
        let wrong = |error| RowError::value(error, &self.tuple_ordinals);
        let limit = self.entry_bytes_max();
        let chunk_bytes = limit - row.key.len() - OVERFLOW_SUFFIX_BYTES;
        let mut rewritten: Vec<Option<Vec<u8>>> = vec![None; values.len()];
        for &number in &self.escaped {
            if let (Some(TupleValue::Bytes(bytes)), Some(target)) =
                (values.get(number), rewritten.get_mut(number))
            {
                *target = escape(bytes);
            }
        }
        let mut cut_out = Vec::new();
        loop {
            let stored: Vec<TupleValue<'_>> = (values.iter().zip(&rewritten))
                .map(|(value, other)| other.as_deref().map_or(*value, TupleValue::Bytes))
                .collect();
            let bytes = row.key.len() + self.tuple.encoded_bytes(&stored).map_err(wrong)?;
            if bytes <= limit {
                row.tuple.clear();
                self.tuple.encode(&stored, &mut row.tuple).map_err(wrong)?;
                break;
            }
            let Some(number) = self.longest(&stored) else {
                return Err(RowError::RowTooLong { bytes, limit });
            };
            let mark = self.mark(number, values, chunk_bytes)?;
            if let Some(target) = rewritten.get_mut(number) {
                *target = Some(mark.encode());
            }
            cut_out.push(number);
        }
        for number in cut_out {
            self.cut(number, values, chunk_bytes, row);
        }
        Ok(())
    }

    /// The column with the longest string that a mark would make shorter.
    fn longest(&self, stored: &[TupleValue<'_>]) -> Option<usize> {
        let bytes = |number: &usize| match stored.get(*number) {
            // What has room in its column is not made shorter by a mark.
            Some(TupleValue::Bytes(bytes)) if bytes.len() > self.padded_bytes(*number) => {
                bytes.len()
            }
            _ => 0,
        };
        let marked = (0..stored.len()).filter(|&number| self.is_marked(number));
        marked.max_by_key(bytes).filter(|at| bytes(at) > MARK_BYTES)
    }

    fn is_marked(&self, number: usize) -> bool {
        let column = self.tuple_column(number);
        column.is_some_and(|column| column.marked)
    }

    fn padded_bytes(&self, number: usize) -> usize {
        let column = self.tuple_column(number);
        column.map_or(0, |column| column.padded_bytes)
    }

    fn tuple_column(&self, number: usize) -> Option<&RowLayoutColumn> {
        self.columns.get(*self.tuple_ordinals.get(number)?)
    }

    fn mark(
        &self,
        number: usize,
        values: &[TupleValue<'_>],
        chunk_bytes: usize,
    ) -> Result<OverflowMark, RowError> {
        let bytes = match values.get(number) {
            Some(TupleValue::Bytes(bytes)) => bytes.len(),
            _ => 0,
        };
        if bytes > VALUE_BYTES_MAX {
            return Err(RowError::ValueTooLong {
                column: self.tuple_ordinals.get(number).copied().unwrap_or(number),
                bytes,
                limit: VALUE_BYTES_MAX,
            });
        }
        Ok(OverflowMark {
            value_bytes: bytes as u32,
            chunk_bytes: chunk_bytes as u16,
        })
    }

    fn cut(
        &self,
        number: usize,
        values: &[TupleValue<'_>],
        chunk_bytes: usize,
        row: &mut EncodedRow,
    ) {
        let (Some(&ordinal), Some(TupleValue::Bytes(bytes))) =
            (self.tuple_ordinals.get(number), values.get(number))
        else {
            return;
        };
        for (index, chunk) in bytes.chunks(chunk_bytes).enumerate() {
            let mut key = Vec::with_capacity(row.key.len() + OVERFLOW_SUFFIX_BYTES);
            chunk_key(&row.key, ordinal, index, &mut key);
            row.chunks.push(OverflowChunk {
                key,
                bytes: chunk.to_vec(),
            });
        }
    }

    /// Appends the string of column `ordinal` that was cut out to `target`. `fetch` appends the value that the overflow
    /// tree has for a key, and says whether there is one.
    ///
    /// # Errors
    /// Those of `fetch`; [`Corrupt`] when a chunk is missing or has another length than it should.
    pub(crate) fn read_long<E: From<Corrupt>>(
        &self,
        row_key: &[u8],
        ordinal: usize,
        mark: OverflowMark,
        mut fetch: impl FnMut(&[u8], &mut Vec<u8>) -> Result<bool, E>,
        target: &mut Vec<u8>,
    ) -> Result<(), E> {
        let (start, mut key) = (target.len(), Vec::new());
        for number in 0..mark.chunk_count() {
            chunk_key(row_key, ordinal, number, &mut key);
            let found = fetch(&key, target)?;
            let end = (number + 1) * usize::from(mark.chunk_bytes);
            if !found || target.len() - start != end.min(mark.value_bytes()) {
                let what = format!(
                    "chunk {number} of a long value of column {ordinal} is missing or has another length"
                );
                return Err(Corrupt::new(what, 0).into());
            }
        }
        Ok(())
    }

    /// Hands the keys of all chunks of a row to `visit`: what must be removed from the overflow tree with the row.
    ///
    /// # Errors
    /// [`Corrupt`] when `tuple` is not what an encoder writes.
    pub fn visit_chunk_keys(
        &self,
        row_key: &[u8],
        tuple: &[u8],
        mut visit: impl FnMut(&[u8]),
    ) -> Result<(), Corrupt> {
        let mut key = Vec::new();
        for (number, &ordinal) in self.tuple_ordinals.iter().enumerate() {
            if !self.is_marked(number) {
                continue;
            }
            let TupleValue::Bytes(bytes) = self.tuple.field(tuple, number)? else {
                continue;
            };
            if let StoredString::CutOut(mark) = StoredString::read(bytes)? {
                for chunk in 0..mark.chunk_count() {
                    chunk_key(row_key, ordinal, chunk, &mut key);
                    visit(&key);
                }
            }
        }
        Ok(())
    }
}
