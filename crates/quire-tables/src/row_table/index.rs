//! Entries of indexes.

use quire_codec::Corrupt;
use quire_format::key::{KeyColumn, KeyLayout};
use quire_format::row_page::space;
use quire_format::tuple::{TupleType, TupleValue};

use super::error::{RowError, RowLayoutError};
use super::layout::RowLayout;
use super::range::{ColumnRange, KeyRange};
use super::spec::tuple_type;

/// An index of more columns has its entries made in memory that is taken for that.
const FEW_COLUMNS: usize = 8;

/// A column of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexColumn {
    /// Ordinal of the column in its table.
    pub ordinal: usize,
    /// Whether larger values come first.
    pub descending: bool,
    /// Whether NULL is before all values, in either order, or after them.
    pub nulls_first: bool,
}

/// How rows are entries of an index.
///
/// The key of an entry is the columns of the index, then the key of the row; the value is empty. In a unique index the key of
/// a row without NULL in these columns is the columns alone, and the value is the key of the row: a
/// second row with the same values would be the same entry.
#[derive(Clone, Debug)]
pub struct IndexLayout {
    /// The columns, and one behind them that stands for the key of the row: so each column ends by itself.
    layout: KeyLayout,
    ordinals: Vec<usize>,
    unique: bool,
    key_bytes_max: usize,
}

/// Stands for the key of the row.
const TAIL: KeyColumn = KeyColumn {
    column_type: TupleType::Bool,
    nullable: false,
    descending: false,
    nulls_first: false,
};

impl IndexLayout {
    /// The layout of an index on the rows of `rows`.
    ///
    /// # Errors
    /// Columns that are not there, were dropped, or are there twice; no columns.
    pub fn new(
        rows: &RowLayout,
        columns: &[IndexColumn],
        unique: bool,
    ) -> Result<Self, RowLayoutError> {
        let mut key_columns = Vec::with_capacity(columns.len() + 1);
        let mut ordinals = Vec::with_capacity(columns.len());
        let mut codes = Vec::with_capacity(columns.len());
        for column in columns {
            let ordinal = column.ordinal;
            let found = rows.columns.get(ordinal).filter(|found| !found.dropped);
            let Some(found) = found.filter(|_| !ordinals.contains(&ordinal)) else {
                return Err(RowLayoutError::Key { ordinal });
            };
            ordinals.push(ordinal);
            codes.push(found.key_code.clone());
            key_columns.push(KeyColumn {
                column_type: tuple_type(found.sql_type),
                nullable: found.nullable,
                descending: column.descending,
                nulls_first: column.nulls_first,
            });
        }
        if ordinals.is_empty() {
            return Err(RowLayoutError::Key { ordinal: 0 });
        }
        key_columns.push(TAIL);
        Ok(Self {
            layout: KeyLayout::new(&key_columns).with_codes(codes),
            ordinals,
            unique,
            key_bytes_max: space::key_bytes_max(rows.page_bytes),
        })
    }

    /// The ordinals of the columns, in the order of the index.
    #[must_use]
    pub fn ordinals(&self) -> &[usize] {
        &self.ordinals
    }

    /// Whether two rows may not have the same values, NULL aside.
    #[must_use]
    pub fn is_unique(&self) -> bool {
        self.unique
    }

    /// Writes the entry of a row to `key` and `value`, given its values by ordinal, and its key. Says whether its key in the index
    /// is one that no other row may have: that of a unique index without NULL.
    ///
    /// # Errors
    /// Values that their columns do not hold; a key that is too long. What the buffers hold is then unspecified.
    pub fn encode_entry(
        &self,
        values: &[TupleValue<'_>],
        row_key: &[u8],
        key: &mut Vec<u8>,
        value: &mut Vec<u8>,
    ) -> Result<bool, RowError> {
        let of_row = |&ordinal: &usize| values.get(ordinal).copied().unwrap_or_default();
        let mut few = [TupleValue::Null; FEW_COLUMNS];
        let many: Vec<TupleValue<'_>>;
        let columns = match few.get_mut(..self.ordinals.len()) {
            Some(few) => {
                let places = few.iter_mut().zip(&self.ordinals);
                places.for_each(|(place, ordinal)| *place = of_row(ordinal));
                &*few
            }
            None => {
                many = self.ordinals.iter().map(of_row).collect();
                &many
            }
        };
        key.clear();
        value.clear();
        let encoded = self.layout.encode_prefix(columns, key);
        encoded.map_err(|error| RowError::value(error, &self.ordinals))?;
        let exclusive = self.unique && !columns.contains(&TupleValue::Null);
        let target = if exclusive { &mut *value } else { &mut *key };
        target.extend_from_slice(row_key);
        // In a unique index the key of the row is a value, but one that would be a key with NULL.
        let (bytes, limit) = (key.len() + value.len(), self.key_bytes_max);
        if bytes > limit {
            Err(RowError::KeyTooLong { bytes, limit })
        } else {
            Ok(exclusive)
        }
    }

    /// The key of the row that an entry stands for.
    ///
    /// # Errors
    /// [`Corrupt`] when the key of the entry is not what an encoder writes.
    pub fn row_key<'a>(
        &self,
        key: &'a [u8],
        value: &'a [u8],
        scratch: &mut Vec<u8>,
    ) -> Result<&'a [u8], Corrupt> {
        if !value.is_empty() {
            return Ok(value);
        }
        let (_, row_key) = self.layout.split(key, self.ordinals.len(), scratch)?;
        Ok(row_key)
    }

    /// What entries begin with that have what this one has in its first columns.
    pub fn prefix_of(&self, key: &[u8], column_count: usize) -> Result<Vec<u8>, Corrupt> {
        let (prefix, _) = self.layout.split(key, column_count, &mut Vec::new())?;
        Ok(prefix.to_vec())
    }

    /// The value of column number `column` of the index in the key of an entry.
    ///
    /// # Errors
    /// [`Corrupt`] when the key of the entry is not what an encoder writes.
    pub(crate) fn value_of<'a>(
        &self,
        key: &'a [u8],
        column: usize,
        scratch: &'a mut Vec<u8>,
    ) -> Result<TupleValue<'a>, Corrupt> {
        self.layout.field(key, column, scratch)
    }

    /// The entries of rows with the values `equal` in the first columns of the index (NULL means `IS NULL`), and `next` in the
    /// one after them.
    ///
    /// # Errors
    /// More values than columns, or values that their columns do not hold.
    pub fn range(
        &self,
        equal: &[TupleValue<'_>],
        next: ColumnRange<'_>,
    ) -> Result<KeyRange, RowError> {
        let given = equal.len() + usize::from(next != ColumnRange::All);
        let expected = self.ordinals.len();
        if given > expected {
            return Err(RowError::BatchColumns { given, expected });
        }
        let range = KeyRange::of(&self.layout, equal, next);
        range.map_err(|error| RowError::value(error, &self.ordinals))
    }
}

impl RowLayout {
    /// What keys begin with that have what this one has in its first columns.
    pub fn prefix_of(&self, key: &[u8], column_count: usize) -> Result<Vec<u8>, Corrupt> {
        match &self.key {
            Some(layout) => {
                let (prefix, _) = layout.split(key, column_count, &mut Vec::new())?;
                Ok(prefix.to_vec())
            }
            None => Ok(key.to_vec()),
        }
    }

    /// The keys of rows with the values `equal` in the first columns of the primary key, and `next` in the one after
    /// them. Where rows are numbered, all keys.
    ///
    /// # Errors
    /// More values than columns, or values that their columns do not hold.
    pub fn key_range(
        &self,
        equal: &[TupleValue<'_>],
        next: ColumnRange<'_>,
    ) -> Result<KeyRange, RowError> {
        let given = equal.len() + usize::from(next != ColumnRange::All);
        let expected = self.key_ordinals.len();
        if given > expected {
            return Err(RowError::BatchColumns { given, expected });
        }
        match &self.key {
            None => Ok(KeyRange::all()),
            Some(layout) => KeyRange::of(layout, equal, next)
                .map_err(|error| RowError::value(error, &self.key_ordinals)),
        }
    }
}
