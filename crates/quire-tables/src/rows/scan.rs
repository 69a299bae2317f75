//! Rows as Arrow batches.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use quire_kv::btree::Direction;
use quire_kv::mvcc::{BTreeScan, ReadView, TreeId};

use super::long_values::fetch_long;
use super::parts::RowParts;
use super::row_keys::RowKeys;
use crate::error::RowScanError;
use crate::row_table::{BatchBuilder, KeyRange};

/// The column that has the keys of rows.
pub(crate) fn row_key_field() -> Arc<Field> {
    Arc::new(Field::new("row key", DataType::BinaryView, false))
}

/// Rows of an index that are looked up together: a batch may have so many more than are full of bytes.
const LOOKUP_ROWS: usize = 64;

/// Which rows to read.
#[derive(Clone, Debug)]
pub enum ScanRowSource {
    /// Those with keys in these ranges, which ascend and do not overlap; in the order of the keys.
    Ranges(Arc<[KeyRange]>),
    /// Those that an index has in ranges of its keys, which ascend and do not overlap; in the order of the index.
    Index {
        /// Position among the table's indexes.
        index: usize,
        /// Keys of the index.
        ranges: Arc<[KeyRange]>,
    },
    /// Those with these keys, in this order. Keys without a row are left out.
    Keys(Arc<[Box<[u8]>]>),
}

impl ScanRowSource {
    /// Every row.
    pub fn all() -> Self {
        Self::range(KeyRange::all())
    }

    /// The rows with keys in one range.
    pub fn range(range: KeyRange) -> Self {
        Self::Ranges(Arc::new([range]))
    }

    /// The rows that an index has in one range of its keys.
    pub fn index(index: usize, range: KeyRange) -> Self {
        let ranges = Arc::new([range]);
        Self::Index { index, ranges }
    }
}

/// What to read, and how.
#[derive(Clone, Debug)]
pub struct RowScanOptions {
    /// Columns, as positions in the table's Arrow schema.
    pub projection: Vec<usize>,
    /// Whether the key of each row follows as a `BinaryView`.
    pub with_row_key: bool,
    /// Which rows.
    pub source: ScanRowSource,
    /// Which way, for ranges.
    pub direction: Direction,
    /// Most rows of a batch.
    pub batch_rows: usize,
}

/// A scan under way.
pub struct RowScan {
    parts: Arc<RowParts>,
    view: ReadView,
    builder: BatchBuilder,
    state: RowScanState,
    batch_rows: usize,
    schema: SchemaRef,
}

enum RowScanState {
    Ranges(RangesScan),
    Index {
        index: usize,
        scan: RangesScan,
        keys: RowKeys,
    },
    Keys {
        keys: Arc<[Box<[u8]>]>,
        next: usize,
    },
}

impl RowScan {
    pub(super) fn new(
        parts: Arc<RowParts>,
        view: ReadView,
        options: &RowScanOptions,
    ) -> Result<Self, RowScanError> {
        let live = parts.layout.live_ordinals();
        let ordinal = |position: &usize| {
            let found = live.get(*position).copied();
            found.ok_or(RowScanError::Column { index: *position })
        };
        let ordinals: Vec<usize> = options
            .projection
            .iter()
            .map(ordinal)
            .collect::<Result<_, _>>()?;
        let mut fields: Vec<Arc<Field>> = Vec::with_capacity(ordinals.len() + 1);
        for position in &options.projection {
            fields.push(Arc::clone(&parts.schema.fields()[*position]));
        }
        if options.with_row_key {
            fields.push(row_key_field());
        }
        let schema = Arc::new(Schema::new(fields));
        let layout = Arc::clone(&parts.layout);
        let builder =
            BatchBuilder::new(layout, &ordinals, options.with_row_key, Arc::clone(&schema))?;
        let state = match &options.source {
            ScanRowSource::Ranges(ranges) => RowScanState::Ranges(RangesScan::new(
                &view,
                parts.rows,
                ranges,
                options.direction,
            )?),
            ScanRowSource::Index { index, ranges } => {
                let found = parts.indexes.get(*index);
                let found = found.ok_or(RowScanError::Index { index: *index })?;
                RowScanState::Index {
                    index: *index,
                    scan: RangesScan::new(&view, found.tree, ranges, options.direction)?,
                    keys: RowKeys::default(),
                }
            }
            ScanRowSource::Keys(keys) => RowScanState::Keys {
                keys: Arc::clone(keys),
                next: 0,
            },
        };
        Ok(Self {
            parts,
            view,
            builder,
            state,
            batch_rows: options.batch_rows.max(1),
            schema,
        })
    }

    /// Schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next rows; `None` behind the last.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged. The scan cannot go on then.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, RowScanError> {
        while self.builder.row_count() < self.batch_rows && !self.builder.is_full() {
            let is_there = match &mut self.state {
                RowScanState::Ranges(ranges) => {
                    push_leaf(&mut ranges.scan, &mut self.builder, self.batch_rows)?
                        || ranges.advance(&self.view)?
                }
                RowScanState::Index { index, scan, keys } => {
                    let room = self.batch_rows - self.builder.row_count();
                    let (ranges, room) = (scan, room.min(LOOKUP_ROWS));
                    let has_keys = keys.read(&mut ranges.scan, *index, &self.parts, room)?;
                    for row_key in keys.iter() {
                        if !push_row(&self.view, self.parts.rows, row_key, &mut self.builder)? {
                            let name = &self.parts.indexes[*index].definition.key.name;
                            return Err(self.parts.index_without_row(name));
                        }
                    }
                    has_keys || ranges.advance(&self.view)?
                }
                RowScanState::Keys { keys, next } => match keys.get(*next) {
                    None => false,
                    Some(key) => {
                        *next += 1;
                        push_row(&self.view, self.parts.rows, key, &mut self.builder)?;
                        true
                    }
                },
            };
            if !is_there {
                break;
            }
        }
        if self.builder.row_count() == 0 {
            return Ok(None);
        }
        let (view, overflow) = (&self.view, self.parts.overflow);
        let fetch = |key: &[u8], target: &mut Vec<u8>| fetch_long(view, overflow, key, target);
        Ok(Some(self.builder.finish(fetch)?))
    }
}

/// A scan of a tree between the bounds of one range after the other.
struct RangesScan {
    scan: BTreeScan,
    tree: TreeId,
    ranges: Arc<[KeyRange]>,
    /// Which of them have not been begun.
    left: std::ops::Range<usize>,
    direction: Direction,
}

impl RangesScan {
    fn new(
        view: &ReadView,
        tree: TreeId,
        ranges: &Arc<[KeyRange]>,
        direction: Direction,
    ) -> Result<Self, RowScanError> {
        let mut left = 0..ranges.len();
        let none = KeyRange::none();
        let first = next_range(ranges, &mut left, direction).unwrap_or(&none);
        Ok(Self {
            scan: begin(view, tree, first, direction)?,
            tree,
            ranges: Arc::clone(ranges),
            left,
            direction,
        })
    }

    /// Begins the next range; false behind the last one.
    fn advance(&mut self, view: &ReadView) -> Result<bool, RowScanError> {
        let Some(range) = next_range(&self.ranges, &mut self.left, self.direction) else {
            return Ok(false);
        };
        self.scan = begin(view, self.tree, range, self.direction)?;
        Ok(true)
    }
}

fn next_range<'r>(
    ranges: &'r [KeyRange],
    left: &mut std::ops::Range<usize>,
    direction: Direction,
) -> Option<&'r KeyRange> {
    let next = match direction {
        Direction::Forward => left.next(),
        Direction::Backward => left.next_back(),
    };
    ranges.get(next?)
}

fn begin(
    view: &ReadView,
    tree: TreeId,
    range: &KeyRange,
    direction: Direction,
) -> Result<BTreeScan, RowScanError> {
    // A high bound without bytes is none for the tree, so an empty range gets bounds of its own.
    let (low, high): (&[u8], &[u8]) = if range.is_empty() {
        (&[0], &[0])
    } else {
        (&range.low, range.high.as_deref().unwrap_or_default())
    };
    Ok(view.scan(tree, low, high, direction)?)
}

/// Adds rows of the next leaf, at most so many that the batch is full; false behind the last leaf.
fn push_leaf(
    scan: &mut BTreeScan,
    builder: &mut BatchBuilder,
    batch_rows: usize,
) -> Result<bool, RowScanError> {
    Ok(scan.next_leaf(|key, value| {
        builder.push(key, value);
        if builder.row_count() < batch_rows && !builder.is_full() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?)
}

fn push_row(
    view: &ReadView,
    tree: TreeId,
    key: &[u8],
    builder: &mut BatchBuilder,
) -> Result<bool, RowScanError> {
    let found = view.get(tree, key, |tuple| builder.push(key, tuple))?;
    Ok(found.is_some())
}
