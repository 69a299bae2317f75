//! Many entries become an Arrow batch.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_buffer::Buffer;
use arrow_schema::SchemaRef;
use quire_codec::Corrupt;
use quire_format::tuple::TupleValue;

use super::error::RowError;
use super::layout::{RowLayout, RowLayoutColumn};
use super::sink::ColumnSink;
use crate::types::SqlType;

/// Rows after which a batch is full.
const BATCH_ROWS: usize = 8192;

/// A batch is decoded row by row when it has at least one part in so many of a tuple's columns.
const ROW_WISE_PART: usize = 2;

/// Bytes of entries after which a batch is full.
const BATCH_BYTES: usize = 16 << 20;

/// Gathers entries, and decodes the wanted columns of them together.
///
/// Entries are copied when they are handed in, one behind the other, so that whoever holds their page can let go of it. Strings of
/// more than 12 bytes stay in that copy: the views of the batch point into it.
///
/// The copy is kept for the next batch if no view needs it.
#[derive(Debug)]
pub struct BatchBuilder {
    layout: Arc<RowLayout>,
    /// The ordinal of each wanted column.
    projection: Vec<usize>,
    with_key: bool,
    schema: SchemaRef,
    /// Keys and tuples in turns.
    entries: Vec<u8>,
    ends: Vec<RowEnds>,
}

/// Where key and tuple of a row end.
#[derive(Clone, Copy, Debug)]
struct RowEnds {
    key: usize,
    tuple: usize,
}

impl BatchBuilder {
    /// A builder of batches with the columns `projection`, given by their ordinals, and, if `with_key`, behind them a `BinaryView`
    /// of the keys of the rows, by which they are found again. `schema` names them.
    ///
    /// # Errors
    /// A column that is not there, or whose Arrow type in `schema` is another.
    pub fn new(
        layout: Arc<RowLayout>,
        projection: &[usize],
        with_key: bool,
        schema: SchemaRef,
    ) -> Result<Self, RowError> {
        let expected = projection.len() + usize::from(with_key);
        let given = schema.fields().len();
        if given != expected {
            return Err(RowError::BatchColumns { given, expected });
        }
        let key = with_key.then_some(SqlType::Bytea);
        let types = projection.iter().map(|&ordinal| layout.sql_type(ordinal));
        let types = types.chain(key.map(Some));
        for (column, (sql_type, field)) in types.zip(schema.fields()).enumerate() {
            let sql_type = sql_type.ok_or(RowError::BatchColumns { given, expected })?;
            if *field.data_type() != sql_type.arrow_type() {
                return Err(RowError::Batch { column, sql_type });
            }
        }
        Ok(Self {
            layout,
            projection: projection.to_vec(),
            with_key,
            schema,
            entries: Vec::new(),
            ends: Vec::new(),
        })
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, key: &[u8], tuple: &[u8]) {
        self.entries.extend_from_slice(key);
        let key = self.entries.len();
        self.entries.extend_from_slice(tuple);
        let tuple = self.entries.len();
        self.ends.push(RowEnds { key, tuple });
    }

    /// Rows since the last batch.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.ends.len()
    }

    /// Whether the batch should be finished: it has 8,192 rows or 16 MiB.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.ends.len() >= BATCH_ROWS || self.entries.len() >= BATCH_BYTES
    }

    /// The batch of the rows since the last one. `fetch` appends the value that the overflow tree has for a key, and says
    /// whether there is one; it is called only for long values of wanted columns.
    ///
    /// # Errors
    /// Those of `fetch`; [`Corrupt`] when an entry is not what an encoder writes as far as it is read, or text is not UTF-8.
    /// The rows are gone then.
    pub fn finish<E: From<Corrupt>>(
        &mut self,
        mut fetch: impl FnMut(&[u8], &mut Vec<u8>) -> Result<bool, E>,
    ) -> Result<RecordBatch, E> {
        let mut ends = std::mem::take(&mut self.ends);
        let mut entries = std::mem::take(&mut self.entries);
        let rows = BatchRows {
            entries: &entries,
            ends: &ends,
        };
        let sinks = self.decode(rows)?;
        let row_count = ends.len();
        let arrays = if sinks.iter().any(ColumnSink::needs_source) {
            // The next batch will take about as much.
            self.entries.reserve(entries.len());
            let source = Buffer::from_vec(entries);
            let rows = BatchRows {
                entries: &source,
                ends: &ends,
            };
            self.arrays(sinks, &source, rows, &mut fetch)?
        } else {
            let nothing = Buffer::from_vec(Vec::<u8>::new());
            let arrays = self.arrays(sinks, &nothing, rows, &mut fetch)?;
            entries.clear();
            self.entries = entries;
            arrays
        };
        ends.clear();
        self.ends = ends;
        let options = RecordBatchOptions::new().with_row_count(Some(row_count));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options);
        batch.map_err(|error| Corrupt::new(error.to_string(), 0).into())
    }

    /// A sink for each column of the batch, filled.
    fn decode(&self, rows: BatchRows<'_>) -> Result<Vec<ColumnSink>, Corrupt> {
        let sink = |column: &RowLayoutColumn| {
            ColumnSink::new(
                column.sql_type,
                rows.ends.len(),
                rows.entries,
                column.marked,
            )
        };
        let columns = self.projection.iter();
        let columns = columns.filter_map(|&ordinal| self.layout.columns.get(ordinal));
        let mut sinks: Vec<ColumnSink> = columns.map(sink).collect();
        self.decode_tuples(rows, &mut sinks)?;
        self.decode_keys(rows, &mut sinks)?;
        if self.with_key {
            let mut keys = ColumnSink::new(SqlType::Bytea, rows.ends.len(), rows.entries, false);
            rows.iter()
                .for_each(|(key, _)| keys.push(TupleValue::Bytes(key)));
            sinks.push(keys);
        }
        Ok(sinks)
    }

    /// Column by column where few are wanted: what is before a field in its tuple is then passed over for each. Where
    /// many are, row by row.
    fn decode_tuples(&self, rows: BatchRows<'_>, sinks: &mut [ColumnSink]) -> Result<(), Corrupt> {
        let layout = &*self.layout;
        let number = |&ordinal: &usize| layout.columns.get(ordinal).and_then(|column| column.tuple);
        let wanted = self.projection.iter().map(number);
        let wanted: Vec<(usize, &mut ColumnSink)> = (wanted.zip(sinks))
            .filter_map(|(number, sink)| Some((number?, sink)))
            .collect();
        if wanted.len() * ROW_WISE_PART < layout.tuple_ordinals.len() {
            for (number, sink) in wanted {
                let tuples = rows.iter().map(|(_, tuple)| tuple);
                layout
                    .tuple
                    .decode_column(tuples, number, |value| sink.push(value))?;
            }
            return Ok(());
        }
        let mut wanted = wanted;
        let mut values = vec![TupleValue::Null; layout.tuple_ordinals.len()];
        for (_, tuple) in rows.iter() {
            layout.tuple.decode_all(tuple, &mut values)?;
            for (number, sink) in &mut wanted {
                sink.push(values.get(*number).copied().unwrap_or_default());
            }
        }
        Ok(())
    }

    fn decode_keys(&self, rows: BatchRows<'_>, sinks: &mut [ColumnSink]) -> Result<(), Corrupt> {
        let layout = &*self.layout;
        let Some(key_layout) = &layout.key else {
            return Ok(());
        };
        let mut wanted: Vec<Vec<&mut ColumnSink>> = Vec::new();
        wanted.resize_with(layout.key_ordinals.len(), Vec::new);
        let mut any = false;
        for (ordinal, sink) in self.projection.iter().zip(sinks) {
            if let Some(column) = layout.columns.get(*ordinal)
                && column.tuple.is_none()
                && let Some(sinks) = column.key.and_then(|number| wanted.get_mut(number))
            {
                sinks.push(sink);
                any = true;
            }
        }
        if !any {
            return Ok(());
        }
        let mut scratch = Vec::new();
        for (key, _) in rows.iter() {
            key_layout.visit(key, &mut scratch, |number, value| {
                for sink in wanted.get_mut(number).into_iter().flatten() {
                    sink.push(value);
                }
            })?;
        }
        Ok(())
    }

    fn arrays<E: From<Corrupt>>(
        &self,
        sinks: Vec<ColumnSink>,
        source: &Buffer,
        rows: BatchRows<'_>,
        mut fetch: impl FnMut(&[u8], &mut Vec<u8>) -> Result<bool, E>,
    ) -> Result<Vec<ArrayRef>, E> {
        let mut arrays = Vec::with_capacity(sinks.len());
        let mut projection = self.projection.iter();
        for sink in sinks {
            // The column of keys comes last, and has no long values.
            let ordinal = projection.next().copied().unwrap_or_default();
            arrays.push(sink.finish(source, |row, mark| {
                let (key, _) = rows.row(row);
                let mut value = Vec::new();
                self.layout
                    .read_long(key, ordinal, mark, &mut fetch, &mut value)?;
                Ok::<_, E>(value)
            })?);
        }
        Ok(arrays)
    }
}

/// Entries one behind the other.
#[derive(Clone, Copy)]
struct BatchRows<'a> {
    entries: &'a [u8],
    ends: &'a [RowEnds],
}

impl<'a> BatchRows<'a> {
    /// Key and tuple of a row.
    #[inline]
    fn row(self, index: usize) -> (&'a [u8], &'a [u8]) {
        let before = index
            .checked_sub(1)
            .and_then(|before| self.ends.get(before));
        let start = before.map_or(0, |ends| ends.tuple);
        let ends = self.ends.get(index);
        let ends = ends.map_or([start, start], |ends| [ends.key, ends.tuple]);
        let key = self.entries.get(start..ends[0]);
        let tuple = self.entries.get(ends[0]..ends[1]);
        (key.unwrap_or_default(), tuple.unwrap_or_default())
    }

    #[inline]
    fn iter(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let mut start = 0;
        self.ends.iter().map(move |ends| {
            let key = self.entries.get(start..ends.key);
            let tuple = self.entries.get(ends.key..ends.tuple);
            start = ends.tuple;
            (key.unwrap_or_default(), tuple.unwrap_or_default())
        })
    }
}
