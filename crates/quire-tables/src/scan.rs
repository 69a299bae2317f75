//! A scan: which rows of a table, which columns of them, and who reads what.
//!
//! Readers, one per thread, take vector groups (8,192 rows) from a shared [`cursor`]. A group whose zones no row
//! can pass is not read, nor one whose rows are all deleted. In the others the predicates are evaluated one after the other, each on
//! the rows that are left; the columns of the output are decoded last, for the vectors that still have rows, unless the scan decodes
//! whole segments ([`materialized`], [`pooled`]). Behind the row groups
//! come the rows of the [`delta`].

mod byte_arrays;
mod column;
mod column_image;
mod cursor;
mod decode_timer;
mod decode_turns;
mod delta;
mod dictionary;
mod integers;
mod materialized;
mod open_row_group;
mod piece;
mod pooled;
mod pooled_column;
mod read_ahead;
mod read_ahead_window;
mod reader;
mod row_group_requests;
mod runs;
mod selection;
mod shared_arrays;
mod stored_tests;
mod vector_groups;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::{Schema, SchemaRef};

use crate::error::ScanError;
use crate::predicate::Predicate;
use crate::rows::row_key_field;
use crate::scan_statistics::{ScanCounters, ScanStatistics};
use crate::table::ColumnTable;
use cursor::ScanCursor;
use decode_turns::DecodeTurns;
use quire_kv::progress::StatementWork;
pub(crate) use read_ahead::KnownPages;
use read_ahead::ScanPages;
pub use reader::ScanReader;
use shared_arrays::SharedArrays;
pub use vector_groups::{RowChunk, ScanStep, SelectedGroup};

/// What a scan reads.
#[derive(Clone)]
pub struct ScanOptions {
    /// Columns of the output, as indices into the definition; may repeat. The number of columns stands for the key of
    /// the row, a `BinaryView`. When it is empty the batches have no columns and say how many rows there are.
    pub projection: Vec<usize>,
    /// Conjuncts that every row of the output satisfies, evaluated in this order.
    pub predicates: Vec<Arc<dyn Predicate>>,
    /// Rows an output batch aims at. Batches of what survives predicates are joined until they have
    /// half as many; none has more than this and 8,192 rows together.
    pub batch_rows: usize,
    /// At most that many rows come out of all readers together.
    pub limit: Option<u64>,
    /// Number of readers that will share the scan; decides how finely the work is cut.
    pub readers: usize,
    /// Where the rows that it goes over and the bytes that it reads are counted.
    pub work: Option<Arc<StatementWork>>,
    /// Bytes that may be on their way from the disk, or wait to be read, at the same time; 0: pages are read when they are needed.
    pub read_ahead_bytes: u64,
    /// What is decoded at once; for comparisons.
    pub decompression: Decompression,
}

/// What a scan decodes at once, and where to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Decompression {
    /// A vector of a column when it is needed, into the processor's cache.
    #[default]
    IntoCache,
    /// All vectors of a column in a row group when the first of them is needed, into a buffer in memory, from which they are copied.
    IntoMemory,
    /// The same, into a buffer that the cache of the volume keeps instead of the stored pages, for other readers and later scans. A column that is
    /// in the cache is neither read nor decoded.
    IntoPool,
}

/// What a scan has on its way at most, unless the session says otherwise.
pub const READ_AHEAD_BYTES: u64 = 32 << 20;

impl Default for ScanOptions {
    fn default() -> Self {
        ScanOptions {
            projection: Vec::new(),
            predicates: Vec::new(),
            batch_rows: 8192,
            limit: None,
            readers: 1,
            work: None,
            read_ahead_bytes: READ_AHEAD_BYTES,
            decompression: Decompression::default(),
        }
    }
}

/// A running scan, shared by its readers: each row comes out of exactly one of them.
pub struct SharedTableScan {
    table: Arc<ColumnTable>,
    options: ScanOptions,
    schema: SchemaRef,
    /// Schemas of the batches that the predicates see.
    predicate_schemas: Vec<SchemaRef>,
    cursor: Mutex<ScanCursor>,
    /// Whether rows of row groups are deleted.
    has_deletions: bool,
    /// Rows that may still come out.
    rows_left: AtomicU64,
    counters: ScanCounters,
    pages: ScanPages,
    shared_arrays: SharedArrays,
    /// Which columns readers are decoding into the pool.
    decode_turns: DecodeTurns,
}

impl ColumnTable {
    /// Starts a scan, to be read through [`SharedTableScan::reader`].
    ///
    /// # Errors
    /// A column index is out of range; or pages with changes cannot be read or are damaged.
    pub fn scan(self: &Arc<Self>, options: ScanOptions) -> Result<Arc<SharedTableScan>, ScanError> {
        SharedTableScan::start(Arc::clone(self), options, 0..self.row_group_count(), true)
    }
}

impl SharedTableScan {
    pub(crate) fn start(
        table: Arc<ColumnTable>,
        options: ScanOptions,
        row_groups: impl IntoIterator<Item = usize>,
        with_delta: bool,
    ) -> Result<Arc<SharedTableScan>, ScanError> {
        SharedTableScan::start_with(table, options, row_groups, with_delta, None)
    }

    /// The same, where some pages have been read already.
    pub(crate) fn start_with(
        table: Arc<ColumnTable>,
        options: ScanOptions,
        row_groups: impl IntoIterator<Item = usize>,
        with_delta: bool,
        known: Option<KnownPages>,
    ) -> Result<Arc<SharedTableScan>, ScanError> {
        let schema = project(&table, &options.projection)?;
        let schemas = options
            .predicates
            .iter()
            .map(|one| project(&table, one.columns()));
        let predicate_schemas = schemas.collect::<Result<Vec<_>, _>>()?;
        let readers = options.readers.max(1);
        let (mut has_deletions, mut delta) = (false, Vec::new());
        if let Some(changes) = table.changes() {
            has_deletions = changes.has_deletions()?;
            if with_delta {
                delta = delta::parts(changes.delta(), readers)?;
            }
        }
        let filter_columns = options.predicates.iter().flat_map(|one| one.columns());
        let pools = options.decompression == Decompression::IntoPool;
        let pages = ScanPages::new(
            &table,
            (options.read_ahead_bytes, pools),
            filter_columns.copied(),
            options.projection.iter().copied(),
            known,
        );
        let cursor = ScanCursor::new(row_groups.into_iter().collect(), delta, readers);
        let scan = Arc::new(SharedTableScan {
            schema,
            predicate_schemas,
            cursor: Mutex::new(cursor),
            has_deletions,
            rows_left: AtomicU64::new(options.limit.unwrap_or(u64::MAX)),
            counters: ScanCounters::default(),
            pages,
            shared_arrays: SharedArrays::default(),
            decode_turns: DecodeTurns::default(),
            table,
            options,
        });
        // A scan with a limit may end in its first row group.
        if scan.options.limit.is_none() {
            let cursor = scan.cursor.lock();
            cursor.unwrap_or_else(PoisonError::into_inner).open(&scan);
        }
        Ok(scan)
    }

    /// Schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The table that is read.
    pub fn table(&self) -> &Arc<ColumnTable> {
        &self.table
    }

    /// A further reader. Any number may be made; together they read the table once.
    pub fn reader(self: &Arc<Self>) -> ScanReader {
        ScanReader::new(Arc::clone(self))
    }

    /// What the readers did so far. A reader reports when it has finished a piece of work.
    pub fn statistics(&self) -> ScanStatistics {
        self.counters.statistics(self.pages.disk_work())
    }

    /// How many of `rows` may come out; the rest is beyond the limit.
    fn reserve_rows(&self, rows: usize) -> usize {
        if self.options.limit.is_none() {
            return rows;
        }
        let take = |left: u64| Some(left - left.min(rows as u64));
        match self
            .rows_left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
        {
            Ok(left) | Err(left) => left.min(rows as u64) as usize,
        }
    }

    /// So many rows more are behind the readers, and so many bytes more have been read.
    fn note_read(&self, rows: u64, bytes: u64) {
        if let Some(work) = &self.options.work {
            work.note_read(rows, bytes);
        }
    }

    /// So many bytes of segments or dictionaries have been read.
    fn note_bytes(&self, bytes: u64) {
        self.counters.bytes_read.fetch_add(bytes, Ordering::Relaxed);
        self.note_read(0, bytes);
    }

    fn limit_reached(&self) -> bool {
        self.rows_left.load(Ordering::Relaxed) == 0
    }
}

impl Drop for SharedTableScan {
    fn drop(&mut self) {
        self.table.scan_totals().add(&self.statistics());
    }
}

fn project(table: &ColumnTable, columns: &[usize]) -> Result<SchemaRef, ScanError> {
    let fields = table.arrow_schema().fields();
    let field = |&index: &usize| match fields.get(index) {
        Some(field) => Ok(Arc::clone(field)),
        None if index == fields.len() => Ok(row_key_field()),
        None => Err(ScanError::Column {
            index,
            table: table.definition().name.clone(),
        }),
    };
    Ok(Arc::new(Schema::new(
        columns.iter().map(field).collect::<Result<Vec<_>, _>>()?,
    )))
}
