//! An empty row table is filled with many rows: its trees are built from below.
//!
//! The rows go into pages that nobody knows, which are staged ahead of the commit as those of column tables are. With the end of the
//! filling the table gets these trees in place of its empty ones, so that nothing is logged row by row, and nobody else sees a
//! row before the catalog is committed. Entries out of order are sorted first.

mod key_head;
mod page_writers;
mod runs;
mod sorter;
mod tree;

use std::sync::Arc;

use page_writers::PageWriters;
use quire_format::tuple::TupleValue;
use quire_kv::mvcc::{MvccOptions, TreeSpec};
use quire_kv::progress::{Phase, StatementWork};
use quire_store::pool::Pool;
use tree::{FillError, TreeFill};

use super::parts::RowParts;
use crate::definition::{TreeRecord, TreeRole};
use crate::error::{EngineError, RowWriteError};
use crate::pages::TransactionPages;
use crate::row_table::{EncodedRow, StoredValue, Value};

/// Where the pages of trees that are built go, and what they may take.
pub(crate) struct FillContext<'c> {
    pub(crate) pool: &'c Pool,
    pub(crate) pages: &'c Arc<TransactionPages>,
    pub(crate) options: &'c MvccOptions,
    /// Where entries are counted.
    pub(crate) work: Option<Arc<StatementWork>>,
}

impl FillContext<'_> {
    fn writers(&self) -> PageWriters {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        PageWriters::start(self.pool, self.pages, threads.min(16))
    }

    /// A tree that shares memory with others, `tree_count` in all.
    fn tree(&self, spec: &TreeSpec, tree_count: usize) -> TreeFill {
        let memory_bytes = self.options.write_set_bytes / tree_count.max(1);
        TreeFill::new(spec, memory_bytes, self.options.spill_directory.clone())
    }
}

/// Fills one table as part of a transaction. If a call fails, or this is dropped, what the statement has done must be rolled back.
pub struct RowFill {
    parts: Arc<RowParts>,
    writers: PageWriters,
    rows: TreeFill,
    overflow: TreeFill,
    /// In the order of the table's.
    indexes: Vec<TreeFill>,
    row_count: u64,
    work: Option<Arc<StatementWork>>,
    row: EncodedRow,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl RowFill {
    /// `spec` says how the pages of the tree with a role are kept.
    pub(crate) fn new(
        parts: &Arc<RowParts>,
        context: &FillContext<'_>,
        spec: impl Fn(TreeRole) -> Result<TreeSpec, EngineError>,
    ) -> Result<Self, EngineError> {
        let tree_count = 2 + parts.indexes.len();
        let tree = |role| Ok(context.tree(&spec(role)?, tree_count));
        let indexes = parts.indexes.iter();
        Ok(Self {
            parts: Arc::clone(parts),
            writers: context.writers(),
            rows: tree(TreeRole::Rows)?,
            overflow: tree(TreeRole::Overflow)?,
            indexes: indexes
                .map(|index| tree(TreeRole::Index(index.definition.id)))
                .collect::<Result<_, EngineError>>()?,
            row_count: 0,
            work: context.work.clone(),
            row: EncodedRow::default(),
            key: Vec::new(),
            value: Vec::new(),
        })
    }

    /// The table.
    pub fn parts(&self) -> &Arc<RowParts> {
        &self.parts
    }

    /// Adds a row, given its values by ordinal.
    ///
    /// # Errors
    /// Values that do not fit, a key that another row has (which may be found only at the end), and what writing may fail with.
    pub fn insert(&mut self, values: &[TupleValue<'_>]) -> Result<(), RowWriteError> {
        let Self {
            parts,
            writers,
            row,
            key,
            value,
            ..
        } = self;
        self.row_count += 1;
        parts.layout.encode_row(values, self.row_count, row)?;
        let pushed = self.rows.push(&row.key, &row.tuple, writers);
        pushed.map_err(|error| row_error(parts, error))?;
        for chunk in &row.chunks {
            let pushed = self.overflow.push(&chunk.key, &chunk.bytes, writers);
            pushed.map_err(|error| row_error(parts, error))?;
        }
        for (position, fill) in self.indexes.iter_mut().enumerate() {
            let layout = &parts.indexes[position].layout;
            layout.encode_entry(values, &row.key, key, value)?;
            let pushed = fill.push(key, value, writers);
            pushed.map_err(|error| index_error(parts, position, ALREADY_EXISTS, error))?;
        }
        Ok(())
    }

    /// Ends the trees of the table, whose numbers and roots these are. Returns those that have entries; they are in the volume.
    pub(crate) fn finish(
        self,
        trees: &[TreeRecord],
    ) -> Result<(Vec<TreeRecord>, u64), RowWriteError> {
        let (parts, writers, work) = (&self.parts, &self.writers, self.work.as_deref());
        let all_trees = [&self.rows, &self.overflow]
            .into_iter()
            .chain(&self.indexes);
        let rewritten = work.and_then(StatementWork::rewritten_table);
        let subject = rewritten.as_ref().unwrap_or(&parts.definition.name);
        begin_sorting(work, all_trees, subject);
        let mut filled = Vec::new();
        let mut note = |role: TreeRole, fill: TreeFill| -> Result<(), FillError> {
            let tree = trees.iter().find(|tree| tree.role == role);
            let tree = *tree.ok_or(EngineError::TransactionEnded)?;
            if fill.finish(tree.root, writers, work)? {
                filled.push(tree);
            }
            Ok(())
        };
        note(TreeRole::Rows, self.rows).map_err(|error| row_error(parts, error))?;
        note(TreeRole::Overflow, self.overflow).map_err(|error| row_error(parts, error))?;
        for (position, fill) in self.indexes.into_iter().enumerate() {
            let role = TreeRole::Index(parts.indexes[position].definition.id);
            note(role, fill)
                .map_err(|error| index_error(parts, position, ALREADY_EXISTS, error))?;
        }
        writers.drain()?;
        Ok((filled, self.row_count))
    }
}

/// Fills an index on rows that are there.
pub(super) struct IndexFill<'p> {
    parts: &'p RowParts,
    position: usize,
    writers: PageWriters,
    tree: TreeFill,
    work: Option<Arc<StatementWork>>,
}

impl<'p> IndexFill<'p> {
    pub(super) fn new(
        parts: &'p RowParts,
        position: usize,
        context: &FillContext<'_>,
        spec: &TreeSpec,
    ) -> Self {
        Self {
            parts,
            position,
            writers: context.writers(),
            tree: context.tree(spec, 1),
            work: context.work.clone(),
        }
    }

    /// Adds an entry.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), RowWriteError> {
        let pushed = self.tree.push(key, value, &self.writers);
        pushed.map_err(|error| index_error(self.parts, self.position, IS_DUPLICATED, error))
    }

    /// Ends the tree; false when it has no entries, and no pages.
    pub(super) fn finish(self, tree: &TreeRecord) -> Result<bool, RowWriteError> {
        let work = self.work.as_deref();
        let index = self.parts.indexes.get(self.position);
        let name = index.map_or("", |index| &index.definition.key.name);
        begin_sorting(work, [&self.tree], name);
        let is_filled = self.tree.finish(tree.root, &self.writers, work);
        let is_filled = is_filled
            .map_err(|error| index_error(self.parts, self.position, IS_DUPLICATED, error))?;
        self.writers.drain()?;
        Ok(is_filled)
    }
}

/// Says how many entries will be put in order, if there are any.
fn begin_sorting<'t>(
    work: Option<&StatementWork>,
    trees: impl IntoIterator<Item = &'t TreeFill>,
    subject: &str,
) {
    let Some(work) = work else { return };
    let entries = trees.into_iter().map(TreeFill::unsorted_count).sum();
    if entries > 0 {
        work.begin(Phase::Sorting, Some(subject));
        work.foresee(Some(entries), 0);
    }
}

const ALREADY_EXISTS: &str = "already exists";
const IS_DUPLICATED: &str = "is duplicated";

/// What is wrong with a row's entry.
fn row_error(parts: &RowParts, error: FillError) -> RowWriteError {
    match error {
        FillError::Other(error) => error,
        FillError::Duplicate { key, value } => {
            let (definition, layout) = (&parts.definition, &parts.layout);
            let mut values = vec![Value::Null; definition.columns.len()];
            for &ordinal in layout.key_ordinals() {
                let mut scratch = Vec::new();
                if let Ok(StoredValue::Value(value)) =
                    layout.field(&key, &value, ordinal, &mut scratch)
                {
                    values[ordinal] = owned(parts, ordinal, value);
                }
            }
            let constraint = definition.primary_key.as_ref();
            let constraint = constraint.map(|key| key.name.clone());
            let columns = layout.key_ordinals();
            duplicate(parts, constraint, columns, &values, ALREADY_EXISTS)
        }
    }
}

/// What is wrong with an entry of an index.
fn index_error(parts: &RowParts, position: usize, what: &str, error: FillError) -> RowWriteError {
    let (key, index) = match (error, parts.indexes.get(position)) {
        (FillError::Other(error), _) => return error,
        (FillError::Duplicate { key, .. }, Some(index)) => (key, index),
        (FillError::Duplicate { .. }, None) => return EngineError::TransactionEnded.into(),
    };
    let mut values = vec![Value::Null; parts.definition.columns.len()];
    let ordinals = index.layout.ordinals();
    for (number, &ordinal) in ordinals.iter().enumerate() {
        let mut scratch = Vec::new();
        if let Ok(value) = index.layout.value_of(&key, number, &mut scratch) {
            values[ordinal] = owned(parts, ordinal, value);
        }
    }
    let constraint = Some(index.definition.key.name.clone());
    duplicate(parts, constraint, ordinals, &values, what)
}

fn owned(parts: &RowParts, ordinal: usize, value: TupleValue<'_>) -> Value {
    let sql_type = parts.definition.columns[ordinal].sql_type;
    Value::of_tuple_value(value, sql_type).unwrap_or_default()
}

fn duplicate(
    parts: &RowParts,
    constraint: Option<String>,
    columns: &[usize],
    values: &[Value],
    what: &str,
) -> RowWriteError {
    let values: Vec<TupleValue<'_>> = values.iter().map(Value::as_tuple_value).collect();
    RowWriteError::Duplicate {
        table: parts.definition.name.clone(),
        constraint: constraint.unwrap_or_default(),
        detail: format!("Key {} {what}.", parts.described(columns, &values)),
    }
}
