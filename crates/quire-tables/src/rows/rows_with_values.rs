//! The rows that have given values in given columns.

use quire_format::tuple::TupleValue;
use quire_kv::btree::Direction;

use super::scan::{RowScanOptions, ScanRowSource};
use super::table::RowTable;
use crate::error::RowWriteError;
use crate::row_table::{ColumnRange, Value};

impl RowTable {
    /// Keys of the rows that have these values, none of which is NULL, in the columns with these ordinals: by the primary key or an
    /// index that begins with the columns, else by looking at all rows.
    pub(crate) fn keys_of_rows_with(
        &self,
        columns: &[usize],
        values: &[Value],
        batch_rows: usize,
    ) -> Result<Vec<Box<[u8]>>, RowWriteError> {
        let live = self.parts.layout.live_ordinals();
        let positions = columns
            .iter()
            .filter_map(|column| live.binary_search(column).ok());
        let mut scan = self.scan(&RowScanOptions {
            projection: positions.collect(),
            with_row_key: true,
            source: self.source_of(columns, values)?,
            direction: Direction::Forward,
            batch_rows,
        })?;
        let mut found = Vec::new();
        while let Some(batch) = scan.next_batch()? {
            let (keys, arrays) = match batch.columns().split_last() {
                Some((keys, arrays)) => (keys, arrays),
                None => return Ok(found),
            };
            let keys = arrow_array::cast::AsArray::as_binary_view(keys);
            for row in 0..batch.num_rows() {
                let mut pairs = arrays.iter().zip(columns).zip(values);
                let is_equal = pairs.all(|((array, column), value)| {
                    let sql_type = self.parts.definition.columns[*column].sql_type;
                    Value::of_array(array, row, sql_type).as_ref() == Some(value)
                });
                if is_equal {
                    found.push(keys.value(row).into());
                }
            }
        }
        Ok(found)
    }

    /// Where rows with these values are, perhaps among others.
    fn source_of(
        &self,
        columns: &[usize],
        values: &[Value],
    ) -> Result<ScanRowSource, RowWriteError> {
        let layout = &self.parts.layout;
        if let Some(equal) = in_order(layout.key_ordinals(), columns, values) {
            return Ok(ScanRowSource::range(
                layout.key_range(&equal, ColumnRange::All)?,
            ));
        }
        for (index, known) in self.parts.indexes.iter().enumerate() {
            if let Some(equal) = in_order(known.layout.ordinals(), columns, values) {
                let range = known.layout.range(&equal, ColumnRange::All)?;
                return Ok(ScanRowSource::index(index, range));
            }
        }
        Ok(ScanRowSource::all())
    }
}

/// The values in the order of a key, if the key begins with these columns in any order.
fn in_order<'v>(
    key: &[usize],
    columns: &[usize],
    values: &'v [Value],
) -> Option<Vec<TupleValue<'v>>> {
    let first = key.get(..columns.len())?;
    let value = |ordinal: &usize| {
        let position = columns.iter().position(|column| column == ordinal)?;
        Some(values.get(position)?.as_tuple_value())
    };
    first.iter().map(value).collect()
}
