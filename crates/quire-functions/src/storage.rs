//! Table functions that show what is stored and how well it compresses.
//!
//! `quire_storage('t')` has one row per column and row group of table t, one per shared dictionary, and one per tree of its changes; `quire_tables()` one row
//! per table.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::catalog::{MemTable, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::{DataFusionError, Result, ScalarValue, plan_err};
use datafusion::logical_expr::Expr;
use quire_tables::{
    ColumnTable, PageTransform, SharedDictionaryPointer, Snapshot, StorageFormat, TreeSize,
};

use quire_error::Error;

/// `quire_storage('table')`
pub struct StorageFunction(pub Snapshot);

/// `quire_tables()`
pub struct TablesFunction(pub Snapshot);

impl std::fmt::Debug for StorageFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("quire_storage")
    }
}

impl std::fmt::Debug for TablesFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("quire_tables")
    }
}

impl TableFunctionImpl for StorageFunction {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        let [Expr::Literal(value, _)] = args.exprs() else {
            return plan_err!("quire_storage takes the name of a table: quire_storage('t')");
        };
        let Some(Some(name)) = ScalarValue::try_as_str(value) else {
            return plan_err!("quire_storage takes the name of a table: quire_storage('t')");
        };
        let table = self.0.table(name).map_err(external)?;
        match table {
            Some(table) => storage_of(&self.0, &table),
            None if self.0.row_table(name).map_err(external)?.is_some() => {
                storage_of_rows(&self.0, name)
            }
            None => {
                let text = format!("table \"{name}\" does not exist");
                Err(Error::new("42P01", text).into())
            }
        }
    }
}

impl TableFunctionImpl for TablesFunction {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        if !args.exprs().is_empty() {
            return plan_err!("quire_tables takes no arguments");
        }
        let tables = self.0.tables().map_err(external)?;
        let total = |table: &ColumnTable, of: fn(&quire_tables::ColumnStatistics) -> u64| {
            let columns = 0..table.definition().columns.len();
            let columns = columns.filter_map(|column| table.statistics(column));
            columns.map(|statistics| of(&statistics)).sum::<u64>()
        };
        let mut rows = TableRowsBuilder::default();
        for table in &tables {
            let name = &table.definition().name;
            let sizes = self.0.tree_sizes(name).map_err(external)?;
            let pages: u64 = sizes.iter().map(|size| size.page_bytes).sum();
            let images: u64 = sizes.iter().map(|size| size.stored_bytes).sum();
            rows.table_name.push(name.clone());
            let has_blocks = table.definition().options.block_bytes.is_some();
            rows.storage.push(if has_blocks { "pax" } else { "column" });
            let row_count = table.row_count().map_err(Error::from)?;
            rows.row_count.push(integer(row_count));
            rows.raw_bytes
                .push(integer(total(table, |s| s.raw_bytes) + pages));
            rows.encoded_bytes
                .push(integer(total(table, |s| s.encoded_bytes) + images));
        }
        for table in self.0.row_tables().map_err(external)? {
            let name = &table.definition().name;
            let sizes = self.0.tree_sizes(name).map_err(external)?;
            rows.table_name.push(name.clone());
            rows.storage.push("row");
            rows.row_count
                .push(table.row_count_estimate().ok().and_then(integer));
            rows.raw_bytes
                .push(integer(sizes.iter().map(|size| size.page_bytes).sum()));
            rows.encoded_bytes
                .push(integer(sizes.iter().map(|size| size.stored_bytes).sum()));
        }
        let names = rows.table_name.iter().map(|name| Some(name.as_str()));
        let storage = rows.storage.iter().map(|storage| Some(*storage));
        table_of(vec![
            ("table_name", Arc::new(names.collect::<StringViewArray>())),
            ("row_count", integers(rows.row_count)),
            ("raw_bytes", integers(rows.raw_bytes)),
            ("encoded_bytes", integers(rows.encoded_bytes)),
            ("storage", Arc::new(storage.collect::<StringViewArray>())),
        ])
    }
}

/// `quire_pool()`: the pool of pages.
pub struct PoolFunction(pub Snapshot);

impl std::fmt::Debug for PoolFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("quire_pool")
    }
}

impl TableFunctionImpl for PoolFunction {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        if !args.exprs().is_empty() {
            return plan_err!("quire_pool takes no arguments");
        }
        let stats = self.0.pool_stats().unwrap_or_default();
        let figures = [
            ("hot_hits", stats.hot_hits),
            ("warm_hits", stats.warm_hits),
            ("misses", stats.misses),
            ("leaf_hot_hits", stats.leaf_hot_hits),
            ("leaf_warm_hits", stats.leaf_warm_hits),
            ("leaf_misses", stats.leaf_misses),
            ("glances", stats.glances),
            ("evictions", stats.evictions),
            ("foreground_compressions", stats.foreground_compressions),
            ("background_compressions", stats.background_compressions),
            ("flush_compressions", stats.flush_compressions),
            ("appended_images", stats.appended_images),
            ("target_compressions", stats.target_compressions),
            ("target_failures", stats.target_failures),
            ("failure_splits", stats.failure_splits),
            ("advance_splits", stats.advance_splits),
            ("padding_bytes", stats.padding_bytes),
            ("budget_bytes", stats.budget_bytes),
            ("hot_target_bytes", stats.hot_target_bytes),
            ("hot_bytes", stats.hot_bytes),
            ("warm_bytes", stats.warm_bytes),
            ("dirty_bytes", stats.dirty_bytes),
            ("read_ns", stats.read_ns),
            ("decode_ns", stats.decode_ns),
            ("encode_ns", stats.encode_ns),
            ("read_ns_mean", stats.read_ns_mean),
            ("decode_ns_mean", stats.decode_ns_mean),
            ("leaf_access_ns_expected", stats.leaf_access_ns_expected()),
            ("leaf_access_ns_measured", stats.leaf_access_ns_measured()),
        ];
        figures_of(&figures)
    }
}

/// `quire_engine()`: what the tuple engine was asked since the database was opened.
#[derive(Debug)]
pub struct EngineFunction {
    pub asked: u64,
    pub left: u64,
}

impl TableFunctionImpl for EngineFunction {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        if !args.exprs().is_empty() {
            return plan_err!("quire_engine takes no arguments");
        }
        table_of(vec![
            ("tuple_queries", integers([integer(self.asked)])),
            ("left_to_batches", integers([integer(self.left)])),
        ])
    }
}

/// The columns of `quire_tables`, filled row by row.
#[derive(Default)]
struct TableRowsBuilder {
    table_name: Vec<String>,
    storage: Vec<&'static str>,
    row_count: Vec<Option<i64>>,
    raw_bytes: Vec<Option<i64>>,
    encoded_bytes: Vec<Option<i64>>,
}

/// One row for each tree of a row table.
fn storage_of_rows(snapshot: &Snapshot, name: &str) -> Result<Arc<dyn TableProvider>> {
    let sizes = snapshot.tree_sizes(name).map_err(external)?;
    let codec = snapshot
        .definition(name)
        .map(|definition| definition.options.page_codec.name());
    let transforms = snapshot.stored_transforms(name).map_err(external)?;
    let names = sizes.iter().map(|size| Some(size.name.as_str()));
    let codecs = sizes.iter().map(|_| codec);
    table_of(vec![
        ("tree", Arc::new(names.collect::<StringViewArray>())),
        ("codec", Arc::new(codecs.collect::<StringViewArray>())),
        (
            "page_count",
            integers(sizes.iter().map(|size| integer(size.page_count))),
        ),
        (
            "raw_bytes",
            integers(sizes.iter().map(|size| integer(size.page_bytes))),
        ),
        (
            "encoded_bytes",
            integers(sizes.iter().map(|size| integer(size.stored_bytes))),
        ),
        ("layer", layers(sizes.iter().map(|_| "row"))),
        ("storage_format", storage_formats(&transforms)),
    ])
}

/// How the bytes of most pages of each tree lie, as `storage_format` names it; nothing of a tree without pages.
fn storage_formats(transforms: &[Option<PageTransform>]) -> ArrayRef {
    let names = transforms.iter().map(|transform| {
        let format = StorageFormat::Fixed((*transform)?);
        Some(format.to_string())
    });
    Arc::new(names.collect::<StringViewArray>())
}

/// How the bytes of each row lie in the file.
fn layers(layers: impl IntoIterator<Item = &'static str>) -> ArrayRef {
    let layers = layers.into_iter().map(Some);
    Arc::new(layers.collect::<StringViewArray>())
}

fn external(error: quire_tables::EngineError) -> DataFusionError {
    Error::from(error).into()
}

/// The columns of `quire_storage`, filled row by row.
#[derive(Default)]
struct StorageRows {
    /// Nothing for a tree of changes.
    column_name: Vec<Option<String>>,
    row_group: Vec<Option<i64>>,
    codec: Vec<&'static str>,
    /// What columns follow from: `a`, `a + b`, `map of a`, or a shared dictionary; or which tree it is.
    reference: Vec<Option<String>>,
    row_count: Vec<Option<i64>>,
    null_count: Vec<Option<i64>>,
    raw_bytes: Vec<Option<i64>>,
    encoded_bytes: Vec<Option<i64>>,
    estimated_bytes: Vec<Option<i64>>,
    runner_up: Vec<Option<&'static str>>,
    runner_up_bytes: Vec<Option<i64>>,
    /// Why the codec was chosen.
    decision: Vec<Option<&'static str>>,
    /// `column`: segments in pages of their own; `pax`: segments in one block; `row`: a tree; `dictionary`: a shared dictionary.
    layer: Vec<&'static str>,
}

impl StorageRows {
    fn push_tree(&mut self, size: &TreeSize, codec: &'static str) {
        self.column_name.push(None);
        self.row_group.push(None);
        self.codec.push(codec);
        self.reference.push(Some(size.name.clone()));
        self.row_count.push(None);
        self.null_count.push(None);
        self.raw_bytes.push(integer(size.page_bytes));
        self.encoded_bytes.push(integer(size.stored_bytes));
        self.estimated_bytes.push(None);
        self.runner_up.push(None);
        self.runner_up_bytes.push(None);
        self.decision.push(None);
        self.layer.push("row");
    }

    fn push_dictionary(&mut self, column: &str, dictionary: &SharedDictionaryPointer) {
        self.column_name.push(Some(column.to_owned()));
        self.row_group.push(None);
        self.codec.push("dictionary");
        self.reference
            .push(Some(dictionary_name(dictionary.fingerprint)));
        self.row_count.push(None);
        self.null_count.push(None);
        // The values count with the rows.
        self.raw_bytes.push(Some(0));
        self.encoded_bytes.push(integer(dictionary.stored_bytes));
        self.estimated_bytes.push(None);
        self.runner_up.push(None);
        self.runner_up_bytes.push(None);
        self.decision.push(None);
        self.layer.push("dictionary");
    }
}

/// What a shared dictionary is called, by its fingerprint.
fn dictionary_name(fingerprint: u64) -> String {
    format!("dictionary {fingerprint:016x}")
}

fn storage_of(snapshot: &Snapshot, table: &ColumnTable) -> Result<Arc<dyn TableProvider>> {
    let mut rows = StorageRows::default();
    for group_index in 0..table.row_group_count() {
        let group = table.row_group(group_index).map_err(external)?;
        for (chunk, column) in group.columns.iter().zip(&table.definition().columns) {
            rows.column_name.push(Some(column.name.clone()));
            rows.row_group.push(integer(group_index as u64));
            rows.codec.push(chunk.codec.name());
            let name = |index: usize| {
                let column = table.definition().columns.get(index);
                column.map_or("", |column| column.name.as_str())
            };
            let formula = chunk.relation.map(|relation| relation.formula(name));
            rows.reference
                .push(formula.or_else(|| chunk.dictionary.map(dictionary_name)));
            rows.row_count.push(integer(group.row_count));
            rows.null_count.push(integer(chunk.zone.null_count));
            rows.raw_bytes.push(integer(chunk.raw_bytes));
            rows.encoded_bytes.push(integer(chunk.encoded_bytes));
            rows.estimated_bytes.push(integer(chunk.estimated_bytes));
            rows.runner_up
                .push(chunk.runner_up.map(|(codec, _)| codec.name()));
            rows.runner_up_bytes
                .push(chunk.runner_up.and_then(|(_, bytes)| integer(bytes)));
            rows.decision.push(Some(chunk.decision.name()));
            let is_in_block = group.has_block();
            rows.layer.push(if is_in_block { "pax" } else { "column" });
        }
    }
    for (index, column) in table.definition().columns.iter().enumerate() {
        for dictionary in table.shared_dictionaries(index) {
            rows.push_dictionary(&column.name, dictionary);
        }
    }
    let sizes = snapshot.tree_sizes(&table.definition().name);
    for size in sizes.map_err(external)? {
        rows.push_tree(&size, table.definition().options.page_codec.name());
    }
    let text = |values: Vec<Option<&str>>| Arc::new(StringViewArray::from(values)) as ArrayRef;
    table_of(vec![
        (
            "column_name",
            text(rows.column_name.iter().map(Option::as_deref).collect()),
        ),
        ("row_group", integers(rows.row_group)),
        ("codec", text(rows.codec.into_iter().map(Some).collect())),
        (
            "reference",
            text(rows.reference.iter().map(Option::as_deref).collect()),
        ),
        ("row_count", integers(rows.row_count)),
        ("null_count", integers(rows.null_count)),
        ("raw_bytes", integers(rows.raw_bytes)),
        ("encoded_bytes", integers(rows.encoded_bytes)),
        ("estimated_bytes", integers(rows.estimated_bytes)),
        ("runner_up", text(rows.runner_up)),
        ("runner_up_bytes", integers(rows.runner_up_bytes)),
        ("decision", text(rows.decision)),
        ("layer", layers(rows.layer)),
    ])
}

pub(crate) fn integer(value: u64) -> Option<i64> {
    i64::try_from(value).ok()
}

pub(crate) fn integers(values: impl IntoIterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<Int64Array>())
}

/// Names and values.
pub(super) fn figures_of(figures: &[(&str, u64)]) -> Result<Arc<dyn TableProvider>> {
    let names = figures.iter().map(|(name, _)| Some(*name));
    let values = figures.iter().map(|(_, value)| integer(*value));
    table_of(vec![
        ("name", Arc::new(names.collect::<StringViewArray>())),
        ("value", integers(values)),
    ])
}

pub fn table_of(columns: Vec<(&str, ArrayRef)>) -> Result<Arc<dyn TableProvider>> {
    let field = |(name, array): &(&str, ArrayRef)| {
        let data_type: DataType = array.data_type().clone();
        Field::new(*name, data_type, true)
    };
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)?;
    Ok(Arc::new(MemTable::try_new(schema, vec![vec![batch]])?))
}
