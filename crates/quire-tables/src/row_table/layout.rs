//! Where the columns of a row are: in the key, in the tuple, or in both.

use std::sync::Arc;

use quire_codec::text::StringCodes;
use quire_format::key::{KeyCode, KeyColumn, KeyLayout};
use quire_format::row_page::{PAGE_BYTES_ALLOWED, RowPageShape, space};
use quire_format::tuple::{
    ColumnAccess, DictionaryError, TupleColumn, TupleCompression, TupleDictionary, TupleLayout,
    TupleType, TupleValue,
};

use super::error::RowLayoutError;
use super::overflow_mark::{self, OVERFLOW_SUFFIX_BYTES};
use super::spec::{FieldStorage, RowColumn, RowLayoutSpec, RowSection, tuple_type};
use super::value::Value;
use crate::types::SqlType;

/// Ordinals have two bytes in the keys of overflow trees.
const COLUMNS_MAX: usize = 1 << 16;

/// One column, dropped or not.
#[derive(Clone, Debug)]
pub(super) struct RowLayoutColumn {
    pub(super) sql_type: SqlType,
    pub(super) nullable: bool,
    pub(super) dropped: bool,
    /// Its number in the key.
    pub(super) key: Option<usize>,
    /// Its number in the tuple, from where it is read if it is there.
    pub(super) tuple: Option<usize>,
    /// Whether the tuple may have a mark in place of its strings.
    pub(super) marked: bool,
    /// Bytes of a string that the tuple has in any case.
    pub(super) padded_bytes: usize,
    /// What keys have in place of its strings.
    pub(super) key_code: Option<KeyCode>,
    /// What new rows have in a column that was dropped.
    pub(super) filler: Value,
    pub(super) decoding: FieldDecoding,
}

/// How a value of a column is decoded. Each way has its own price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldDecoding {
    /// A number as it is.
    Plain,
    /// A string as it is.
    PlainText,
    /// A null-suppressed number.
    Suppressed,
    /// A null-suppressed string.
    SuppressedText,
    /// A code of a dictionary.
    Dictionary,
    /// A string in the codes of an FSST table.
    FsstText,
    /// A string in a Huffman code.
    HuffmanText,
    /// A part of the key.
    Key,
}

/// How the rows of one table are keys and tuples. Shared by everyone who works with the table; it changes only
/// with the table's definition.
#[derive(Clone, Debug)]
pub struct RowLayout {
    pub(super) columns: Vec<RowLayoutColumn>,
    pub(super) live: Vec<usize>,
    pub(super) tuple: TupleLayout,
    /// The ordinal of each column of the tuple, ascending.
    pub(super) tuple_ordinals: Vec<usize>,
    /// The columns of the tuple that hold `BYTEA`, whose first byte may have to be escaped.
    pub(super) escaped: Vec<usize>,
    /// None for numbered rows.
    pub(super) key: Option<KeyLayout>,
    /// The ordinal of each column of the key.
    pub(super) key_ordinals: Vec<usize>,
    pub(super) page_bytes: usize,
}

impl RowLayout {
    /// The layout of a description, which may come from bytes nobody vouches for.
    ///
    /// # Errors
    /// As the variants of [`RowLayoutError`] say.
    pub fn new(spec: &RowLayoutSpec) -> Result<Self, RowLayoutError> {
        let page_bytes = spec.page_bytes;
        if !PAGE_BYTES_ALLOWED.contains(&page_bytes) {
            return Err(RowLayoutError::PageBytes { page_bytes });
        }
        let column_count = spec.columns().count();
        if column_count >= COLUMNS_MAX {
            return Err(RowLayoutError::ColumnCount {
                columns: column_count,
            });
        }
        check_key(spec)?;
        let mut layout = Self {
            columns: columns(spec),
            live: Vec::new(),
            tuple: TupleLayout::new(&[])?,
            tuple_ordinals: Vec::new(),
            escaped: Vec::new(),
            key: key_layout(spec),
            key_ordinals: spec.primary_key.iter().map(|part| part.ordinal).collect(),
            page_bytes,
        };
        layout.number();
        layout.tuple = layout.tuple_layout(spec)?;
        Ok(layout)
    }

    /// Numbers the columns of the tuple.
    fn number(&mut self) {
        for (ordinal, column) in self.columns.iter_mut().enumerate() {
            if !column.dropped {
                self.live.push(ordinal);
            }
            if column.tuple.is_none() {
                continue;
            }
            let number = self.tuple_ordinals.len();
            column.tuple = Some(number);
            self.tuple_ordinals.push(ordinal);
            if column.marked && column.sql_type == SqlType::Bytea {
                self.escaped.push(number);
            }
        }
    }

    fn tuple_layout(&self, spec: &RowLayoutSpec) -> Result<TupleLayout, RowLayoutError> {
        let mut layout: Option<TupleLayout> = None;
        let mut first_ordinal = 0;
        for (number, section) in spec.sections.iter().enumerate() {
            let (columns, missing) = self.section(number, section, first_ordinal)?;
            first_ordinal += section.columns.len();
            let missing: Vec<_> = missing.iter().map(Value::as_tuple_value).collect();
            layout = Some(match layout {
                None => TupleLayout::new(&columns)?,
                Some(layout) => layout.extended(&columns, &missing)?,
            });
        }
        match layout {
            Some(layout) => Ok(layout),
            None => Ok(TupleLayout::new(&[])?),
        }
    }

    /// The columns of a section that are in tuples, and what is stored in them for older rows.
    fn section(
        &self,
        number: usize,
        section: &RowSection,
        first_ordinal: usize,
    ) -> Result<(Vec<TupleColumn>, Vec<Value>), RowLayoutError> {
        let expected = if number == 0 {
            0
        } else {
            section.columns.len()
        };
        if section.missing.len() != expected {
            return Err(RowLayoutError::Missing {
                section: number,
                columns: section.columns.len(),
                missing: section.missing.len(),
            });
        }
        let mut columns = Vec::with_capacity(section.columns.len());
        for (index, column) in section.columns.iter().enumerate() {
            let ordinal = first_ordinal + index;
            let place = self.columns.get(ordinal);
            if place.is_some_and(|place| place.tuple.is_some()) {
                columns.push(tuple_column(ordinal, column)?);
            }
        }
        let marked = |index: usize| {
            let column = self.columns.get(first_ordinal + index);
            column.is_some_and(|column| column.marked)
        };
        let missing = section.missing.iter().enumerate();
        let missing = missing.map(|(index, value)| match value {
            Value::Bytes(bytes) if marked(index) => match overflow_mark::escape(bytes) {
                Some(escaped) => Value::Bytes(escaped.into()),
                None => value.clone(),
            },
            _ => value.clone(),
        });
        Ok((columns, missing.collect()))
    }

    /// What the pool must know to store the leaves by columns ([`Pool::by_columns`](quire_store::pool::Pool::by_columns)). None for
    /// tuples without columns, and for more than there are places for; they are stored by rows.
    #[must_use]
    pub fn page_shape(&self) -> Option<RowPageShape> {
        self.tuple.page_shape().ok()
    }

    /// Number of ordinals: columns that were dropped count.
    #[must_use]
    pub fn column_count(&self) -> usize {
        self.columns.len()
    }

    /// Where the values of a column are in tuples, as far as [`TupleLayout::access`] tells; none for columns that are in the key.
    pub fn access(&self, ordinal: usize) -> Option<ColumnAccess> {
        let column = self.columns.get(ordinal)?;
        self.tuple.access(column.tuple?)
    }

    /// The type by which a column is held in tuples and keys.
    #[must_use]
    pub fn tuple_type(&self, ordinal: usize) -> Option<TupleType> {
        self.sql_type(ordinal).map(tuple_type)
    }

    /// How a value of a column is decoded.
    #[must_use]
    pub fn decoding(&self, ordinal: usize) -> FieldDecoding {
        let column = self.columns.get(ordinal);
        column.map_or(FieldDecoding::Plain, |column| column.decoding)
    }

    /// The ordinals of the columns that were not dropped, ascending: the columns of the table as SQL sees it.
    #[must_use]
    pub fn live_ordinals(&self) -> &[usize] {
        &self.live
    }

    /// The ordinal under which the bytes of a row's key are read, behind those of all columns.
    #[must_use]
    pub fn row_key_ordinal(&self) -> usize {
        self.columns.len()
    }

    /// Whether the key of a row is needed to read these columns of it: some are in no tuple, and long values are found by it.
    #[must_use]
    pub fn needs_key(&self, ordinals: &[usize]) -> bool {
        let is_by_key = |ordinal: &usize| match self.columns.get(*ordinal) {
            Some(column) => column.tuple.is_none() || column.marked,
            None => true,
        };
        ordinals.iter().any(is_by_key)
    }

    /// The type of a column.
    #[must_use]
    pub fn sql_type(&self, ordinal: usize) -> Option<SqlType> {
        self.columns.get(ordinal).map(|column| column.sql_type)
    }

    /// The ordinals of the columns of the primary key, in its order; none for numbered rows.
    #[must_use]
    pub fn key_ordinals(&self) -> &[usize] {
        &self.key_ordinals
    }

    /// Whether rows are numbered by the caller.
    #[must_use]
    pub(crate) fn is_numbered(&self) -> bool {
        self.key.is_none()
    }

    /// Most bytes of a key: those of overflow trees are longer, and must fit too.
    #[must_use]
    pub fn key_bytes_max(&self) -> usize {
        space::key_bytes_max(self.page_bytes) - OVERFLOW_SUFFIX_BYTES
    }

    /// Most bytes of a key and its tuple. What takes more is cut out, if it is strings.
    #[must_use]
    pub fn entry_bytes_max(&self) -> usize {
        space::entry_bytes_max(self.page_bytes)
    }
}

fn check_key(spec: &RowLayoutSpec) -> Result<(), RowLayoutError> {
    let first = spec.sections.first();
    for (index, part) in spec.primary_key.iter().enumerate() {
        let ordinal = part.ordinal;
        let column = first.and_then(|section| section.columns.get(ordinal));
        let before = spec.primary_key.iter().take(index);
        if column.is_none_or(|column| column.dropped)
            || before.into_iter().any(|other| other.ordinal == ordinal)
        {
            return Err(RowLayoutError::Key { ordinal });
        }
    }
    Ok(())
}

fn key_column(column: &RowColumn, descending: bool) -> KeyColumn {
    KeyColumn {
        column_type: tuple_type(column.sql_type),
        nullable: false,
        descending,
        nulls_first: false,
    }
}

fn key_layout(spec: &RowLayoutSpec) -> Option<KeyLayout> {
    let first = spec.sections.first()?;
    let parts = spec.primary_key.iter().filter_map(|part| {
        let column = first.columns.get(part.ordinal)?;
        Some(key_column(column, part.descending))
    });
    let columns: Vec<KeyColumn> = parts.collect();
    let codes = spec.primary_key.iter().map(|part| {
        let column = first.columns.get(part.ordinal)?;
        let is_text = tuple_type(column.sql_type) == TupleType::Text;
        column.key_code.clone().filter(|_| is_text)
    });
    (!columns.is_empty()).then(|| KeyLayout::new(&columns).with_codes(codes.collect()))
}

/// The columns as far as they are known without numbers: `tuple` says only whether there is one.
fn columns(spec: &RowLayoutSpec) -> Vec<RowLayoutColumn> {
    let column = |(ordinal, column): (usize, &RowColumn)| {
        let key = spec
            .primary_key
            .iter()
            .position(|part| part.ordinal == ordinal);
        let only_in_key = key.is_some() && key_column(column, false).is_exact();
        let is_string = matches!(
            tuple_type(column.sql_type),
            TupleType::Text | TupleType::Bytes
        );
        RowLayoutColumn {
            sql_type: column.sql_type,
            nullable: column.nullable && key.is_none(),
            dropped: column.dropped,
            key,
            tuple: (!only_in_key).then_some(0),
            marked: is_string && !only_in_key,
            key_code: column.key_code.clone().filter(|_| is_string),
            padded_bytes: match column.storage {
                FieldStorage::Padded { bytes } => bytes.into(),
                _ => 0,
            },
            filler: filler(column),
            decoding: if only_in_key {
                FieldDecoding::Key
            } else {
                decoding(&column.storage, is_string)
            },
        }
    };
    spec.columns().enumerate().map(column).collect()
}

fn decoding(storage: &FieldStorage, is_string: bool) -> FieldDecoding {
    match (storage, is_string) {
        (FieldStorage::Plain, false) => FieldDecoding::Plain,
        (FieldStorage::Plain, true) | (FieldStorage::Padded { .. }, _) => FieldDecoding::PlainText,
        (FieldStorage::NullSuppressed, false) => FieldDecoding::Suppressed,
        (FieldStorage::NullSuppressed, true) => FieldDecoding::SuppressedText,
        (FieldStorage::Dictionary { .. }, _) => FieldDecoding::Dictionary,
        (FieldStorage::StringCodes(codes), _) => match **codes {
            StringCodes::Fsst(_) => FieldDecoding::FsstText,
            StringCodes::Huffman(_) => FieldDecoding::HuffmanText,
        },
    }
}

/// What new rows have in a dropped column.
fn filler(column: &RowColumn) -> Value {
    if column.nullable {
        return Value::Null;
    }
    if let FieldStorage::Dictionary { entries, .. } = &column.storage {
        return entries.first().cloned().unwrap_or_default();
    }
    match tuple_type(column.sql_type) {
        TupleType::Bool => Value::Boolean(false),
        TupleType::Int128 { .. } => Value::Decimal(0.into()),
        TupleType::Float32 => Value::Real(0.0),
        TupleType::Float64 => Value::Double(0.0),
        TupleType::Text | TupleType::Bytes => Value::Bytes(Box::default()),
        TupleType::Int16
        | TupleType::Int32
        | TupleType::Int64
        | TupleType::Date { .. }
        | TupleType::Timestamp => Value::Integer(0),
    }
}

fn tuple_column(ordinal: usize, column: &RowColumn) -> Result<TupleColumn, RowLayoutError> {
    let column_type = tuple_type(column.sql_type);
    let compression = match &column.storage {
        FieldStorage::Plain => TupleCompression::None,
        FieldStorage::NullSuppressed => TupleCompression::NullSuppressed,
        FieldStorage::StringCodes(codes) => TupleCompression::StringCodes(Arc::clone(codes)),
        FieldStorage::Padded { bytes } => TupleCompression::Padded { bytes: *bytes },
        FieldStorage::Dictionary { code_bits, entries } => {
            let entries: Vec<TupleValue<'_>> = entries.iter().map(Value::as_tuple_value).collect();
            let is_mark = |value: &TupleValue<'_>| matches!(value, TupleValue::Bytes([0xFF, ..]));
            if let Some(entry) = entries.iter().position(is_mark) {
                let source = DictionaryError::WrongValue { entry, column_type };
                return Err(RowLayoutError::Dictionary { ordinal, source });
            }
            let dictionary = TupleDictionary::new(column_type, *code_bits, &entries);
            let dictionary =
                dictionary.map_err(|source| RowLayoutError::Dictionary { ordinal, source })?;
            TupleCompression::OpenDictionary(Arc::new(dictionary))
        }
    };
    Ok(TupleColumn {
        column_type,
        nullable: column.nullable,
        compression,
    })
}
