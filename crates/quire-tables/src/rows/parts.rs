//! The trees of a row table, and what their bytes mean.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::SchemaRef;
use quire_codec::{CodecId, CodecScalar, Corrupt};
use quire_format::tuple::TupleValue;
use quire_kv::mvcc::TreeId;

use crate::definition::{ColumnDefinition, IndexDefinition, TableDefinition, TreeRecord, TreeRole};
use crate::error::RowScanError;
use crate::row_table::{
    FieldStorage, IndexColumn, IndexLayout, PrimaryKeyPart, RowBuffer, RowColumn, RowLayout,
    RowLayoutError, RowLayoutSpec, RowSection, Value, array_of_values,
};
use crate::types::SqlType;

/// What follows from the definition of a row table, or of the delta of a column table, and the trees it has. Shared by all states of the database in which the
/// table is defined so.
pub struct RowParts {
    pub(crate) id: u64,
    pub(crate) definition: Arc<TableDefinition>,
    /// The columns that SQL sees.
    pub(crate) schema: SchemaRef,
    pub(crate) layout: Arc<RowLayout>,
    pub(crate) rows: TreeId,
    pub(crate) overflow: Option<TreeId>,
    /// Rows of row groups that are gone, if this is the delta of a column table.
    pub(crate) deletions: Option<TreeId>,
    pub(crate) indexes: Vec<TableIndex>,
    /// For tables without primary key, the number of the next row; 0 as long as nobody has looked.
    next_row_id: Arc<AtomicU64>,
    pub(crate) trees: Vec<TreeRecord>,
}

/// The parts of all row tables, by name.
pub(crate) type AllRowParts = Arc<[Arc<RowParts>]>;

/// An index of a table.
pub struct TableIndex {
    /// Name, columns, uniqueness.
    pub definition: IndexDefinition,
    /// Its entries.
    pub layout: IndexLayout,
    pub(crate) tree: TreeId,
}

impl RowParts {
    pub(crate) fn new(
        id: u64,
        definition: Arc<TableDefinition>,
        trees: &[TreeRecord],
        next_row_id: Arc<AtomicU64>,
    ) -> Result<Self, RowLayoutError> {
        let layout = row_layout(&definition)?;
        let tree = |role: TreeRole| {
            let found = trees.iter().find(|tree| tree.role == role);
            found.map(|tree| TreeId::new(tree.id))
        };
        let index = |index: &IndexDefinition| {
            let columns: Vec<IndexColumn> = index.key.columns.iter().map(index_column).collect();
            Ok(TableIndex {
                layout: IndexLayout::new(&layout, &columns, index.is_unique)?,
                tree: tree(TreeRole::Index(index.id)).ok_or(RowLayoutError::Key { ordinal: 0 })?,
                definition: index.clone(),
            })
        };
        let indexes = definition.indexes.iter().map(index);
        Ok(Self {
            id,
            schema: definition.arrow_schema(),
            rows: tree(TreeRole::Rows)
                .or_else(|| tree(TreeRole::Delta))
                .ok_or(RowLayoutError::Key { ordinal: 0 })?,
            overflow: tree(TreeRole::Overflow),
            deletions: tree(TreeRole::Deletions),
            indexes: indexes.collect::<Result<Vec<_>, RowLayoutError>>()?,
            layout: Arc::new(layout),
            definition,
            next_row_id,
            trees: trees.to_vec(),
        })
    }

    /// Id of the table.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// What was declared.
    pub fn definition(&self) -> &Arc<TableDefinition> {
        &self.definition
    }

    /// How rows become bytes.
    pub fn layout(&self) -> &RowLayout {
        &self.layout
    }

    /// The number of the next row of a table without primary key; `newest` looks for the greatest there is.
    pub(crate) fn take_row_id<E>(&self, newest: impl FnOnce() -> Result<u64, E>) -> Result<u64, E> {
        if self.next_row_id.load(Ordering::Acquire) == 0 {
            let first = newest()? + 1;
            // Whoever comes second finds the first one's number.
            let _ =
                self.next_row_id
                    .compare_exchange(0, first, Ordering::AcqRel, Ordering::Acquire);
        }
        Ok(self.next_row_id.fetch_add(1, Ordering::AcqRel))
    }
}

impl RowParts {
    /// What is said of bytes of this table that mean nothing.
    pub fn corrupt_row(&self) -> impl FnOnce(Corrupt) -> RowScanError {
        let table = self.definition.name.clone();
        move |error| RowScanError::Corrupt(Corrupt::new(format!("table {table:?}: {error}"), 0))
    }

    /// What is said of an entry of the index of that name without its row.
    pub fn index_without_row(&self, index: &str) -> RowScanError {
        RowScanError::IndexWithoutRow {
            table: self.definition.name.clone(),
            index: index.to_owned(),
        }
    }

    /// The values of all columns of a row, by ordinal; those of dropped columns are NULL.
    pub(crate) fn owned_row<E: From<Corrupt>>(
        &self,
        key: &[u8],
        tuple: &[u8],
        fetch: impl FnMut(&[u8], &mut Vec<u8>) -> Result<bool, E>,
    ) -> Result<Vec<Value>, E> {
        let mut buffer = RowBuffer::default();
        let mut values = Vec::new();
        self.layout
            .decode_row(key, tuple, &mut buffer, fetch, &mut values)?;
        Ok(self.owned(&values)?)
    }

    /// Values by ordinal, owned.
    ///
    /// # Errors
    /// Text that is not UTF-8.
    pub fn owned(&self, values: &[TupleValue<'_>]) -> Result<Vec<Value>, Corrupt> {
        let typed = values.iter().zip(&self.definition.columns);
        typed
            .map(|(value, column)| Value::of_tuple_value(*value, column.sql_type))
            .collect()
    }

    /// Columns and their values as error messages show them: `(a, b)=(1, x)`.
    pub(crate) fn described(&self, columns: &[usize], values: &[TupleValue<'_>]) -> String {
        let columns = columns.iter().filter_map(|column| {
            let definition = self.definition.columns.get(*column)?;
            let value = values.get(*column).copied().unwrap_or_default();
            Some((definition.name.as_str(), shown(definition.sql_type, value)))
        });
        let (names, values): (Vec<_>, Vec<_>) = columns.unzip();
        format!("({})=({})", names.join(", "), values.join(", "))
    }
}

/// A value as text, through Arrow, so that it looks as in results.
fn shown(sql_type: SqlType, value: TupleValue<'_>) -> String {
    let array = array_of_values(sql_type, [value]);
    let shown = array.ok().and_then(|array| {
        let options = FormatOptions::default().with_null("null");
        let formatter = ArrayFormatter::try_new(array.as_ref(), &options).ok()?;
        Some(formatter.value(0).to_string())
    });
    shown.unwrap_or_else(|| "?".to_owned())
}

/// A value that the catalog keeps.
fn value_of_scalar(scalar: Option<&CodecScalar>, sql_type: SqlType) -> Value {
    match scalar {
        None => Value::Null,
        Some(CodecScalar::Bool(value)) => Value::Boolean(*value),
        Some(CodecScalar::Int16(value)) => Value::Integer(i64::from(*value)),
        Some(CodecScalar::Int32(value)) => Value::Integer(i64::from(*value)),
        Some(CodecScalar::Int64(value)) if matches!(sql_type, SqlType::Decimal { .. }) => {
            Value::Decimal(i128::from(*value).into())
        }
        Some(CodecScalar::Int64(value)) => Value::Integer(*value),
        Some(CodecScalar::Int128(value)) => Value::Decimal((*value).into()),
        Some(CodecScalar::Float32(value)) => Value::Real(*value),
        Some(CodecScalar::Float64(value)) => Value::Double(*value),
        Some(CodecScalar::Bytes(bytes)) if sql_type.is_text() => {
            Value::Text(String::from_utf8_lossy(bytes).into())
        }
        Some(CodecScalar::Bytes(bytes)) => Value::Bytes(bytes.as_slice().into()),
    }
}

fn index_column(part: &crate::definition::CatalogKeyPart) -> IndexColumn {
    IndexColumn {
        ordinal: part.column,
        descending: part.is_descending,
        // As in PostgreSQL: NULL is greater than all values.
        nulls_first: part.is_descending,
    }
}

/// How the rows of a table become bytes.
pub(crate) fn row_layout(definition: &TableDefinition) -> Result<RowLayout, RowLayoutError> {
    RowLayout::new(&layout_spec(definition))
}

/// How rows have the values of a column: as the table says, unless the column says something else.
fn field_storage(column: &ColumnDefinition, compresses: bool) -> FieldStorage {
    match (&column.dictionary, &column.string_codes, column.compression) {
        (_, _, Some(CodecId::Plain)) => plain(column),
        (None, Some(codes), _) => FieldStorage::StringCodes(Arc::clone(codes)),
        (Some(dictionary), _, _) => FieldStorage::Dictionary {
            code_bits: u32::from(dictionary.code_bits),
            entries: (dictionary.entries.iter())
                .map(|entry| value_of_scalar(Some(entry), column.sql_type))
                .collect(),
        },
        (None, None, _) if compresses => FieldStorage::NullSuppressed,
        (None, None, _) => plain(column),
    }
}

fn plain(column: &ColumnDefinition) -> FieldStorage {
    match column.padded_bytes {
        Some(bytes) => FieldStorage::Padded { bytes },
        None => FieldStorage::Plain,
    }
}

/// What the layout of the rows is made of.
fn layout_spec(definition: &TableDefinition) -> RowLayoutSpec {
    let compresses = definition.options.compresses_tuples;
    let mut sections = vec![RowSection {
        columns: Vec::new(),
        missing: Vec::new(),
    }];
    for column in &definition.columns {
        let row_column = RowColumn {
            sql_type: column.sql_type,
            nullable: column.stores_null,
            storage: field_storage(column, compresses),
            key_code: column.key_code.clone(),
            dropped: column.is_dropped,
        };
        if let Some(added) = &column.added {
            // Columns that came one after the other have a section each.
            sections.push(RowSection {
                columns: vec![row_column],
                missing: vec![value_of_scalar(added.missing.as_ref(), column.sql_type)],
            });
        } else if let [section] = sections.as_mut_slice() {
            section.columns.push(row_column);
        }
    }
    let key = definition.primary_key.iter().flat_map(|key| &key.columns);
    let primary_key = key.map(|part| PrimaryKeyPart {
        ordinal: part.column,
        descending: part.is_descending,
    });
    RowLayoutSpec {
        sections,
        primary_key: primary_key.collect(),
        page_bytes: definition.options.page_bytes,
    }
}
