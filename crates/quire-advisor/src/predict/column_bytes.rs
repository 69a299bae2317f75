//! What does the whole take as a column table, or in blocks?

use quire_format::relation::ColumnRelation;
use quire_format::volume::IMAGE_HEADER_BYTES;
use quire_tables::{AppendOptions, ROW_GROUP_ROWS};

use super::segment_growth::SegmentGrowth;
use super::whole_bytes::WholeBytes;
use crate::distinct_values::DistinctValues;
use crate::measure::{StoredRowGroup, StoredSegment, WrittenTable};
use crate::sampled_table::SampledTable;

/// Rows of a vector, by which blocks are cut.
const VECTOR_ROWS: u64 = 1_024;

/// What the columns of a table take, by rows.
pub(super) struct ColumnTableGrowth {
    columns: Vec<SegmentGrowth>,
    /// The first row group of the sample.
    measured: StoredRowGroup,
    /// Of the catalog, the root and what else there is once, in bytes.
    once_bytes: f64,
    /// Rows at which a row group is full.
    full_rows: u64,
}

/// Row groups of the whole.
struct RowGroupLengths {
    full: u64,
    full_count: u64,
    last: Option<u64>,
}

impl RowGroupLengths {
    fn new(rows: u64, full: u64) -> Self {
        let last = rows % full;
        Self {
            full,
            full_count: rows / full,
            last: (last > 0).then_some(last),
        }
    }

    fn sum(&self, bytes: impl Fn(u64) -> f64) -> f64 {
        self.full_count as f64 * bytes(self.full) + self.last.map_or(0.0, &bytes)
    }
}

impl ColumnTableGrowth {
    /// By the sample, by half of it, and with columns forced into dictionaries where these are known. `None` of a sample without rows.
    pub(super) fn new(
        sample: &SampledTable,
        whole: &WrittenTable,
        half: Option<&WrittenTable>,
        dictionaries: Option<&WrittenTable>,
    ) -> Option<Self> {
        let measured = whole.row_groups.first()?.clone();
        let distinct: Vec<DistinctValues> = (0..sample.columns.len())
            .map(|column| DistinctValues::of(sample, column))
            .collect();
        let column_of = |table: Option<&WrittenTable>, place: usize| {
            let row_group = table?.row_groups.first()?;
            row_group.columns.get(place).cloned()
        };
        let columns = measured.columns.iter().enumerate().map(|(place, column)| {
            let half = column_of(half, place);
            let growth = SegmentGrowth::of(
                column,
                half.as_ref(),
                of_leader(&distinct, place, column),
                sample.seam_count(),
            );
            match column_of(dictionaries, place) {
                Some(coded) if coded.relation.is_none() => {
                    let coded =
                        SegmentGrowth::of(&coded, None, &distinct[place], sample.seam_count());
                    SegmentGrowth::Shorter(Box::new(growth), Box::new(coded))
                }
                _ => growth,
            }
        });
        let columns = columns.collect();
        let groups = whole.row_groups.iter().map(StoredRowGroup::overhead_bytes);
        let once_bytes = whole.size.metadata_bytes as f64 - groups.sum::<f64>();
        Some(Self {
            columns,
            measured,
            once_bytes: once_bytes.max(0.0),
            full_rows: full_rows(sample),
        })
    }

    /// Bytes of the segments of a row group of so many rows.
    pub(super) fn row_group_bytes(&self, rows: u64) -> f64 {
        self.columns.iter().map(|column| column.bytes(rows)).sum()
    }

    /// Rows of a full row group, of which the whole may not have one.
    pub(super) fn full_rows(&self) -> u64 {
        self.full_rows
    }

    /// The whole as a column table.
    pub(super) fn as_columns(&self, rows: u64) -> WholeBytes {
        let lengths = RowGroupLengths::new(rows, self.full_rows);
        let segments = lengths.sum(|rows| self.row_group_bytes(rows));
        let mut others = vec![lengths.full; lengths.full_count.saturating_sub(1) as usize];
        others.extend(lengths.last.filter(|_| lengths.full_count > 0));
        let shared = self.columns.iter();
        let shared: f64 = shared
            .map(|column| column.shared_bytes(self.full_rows, &others))
            .sum();
        WholeBytes {
            data: segments - shared,
            metadata: self.once_bytes + lengths.sum(|rows| self.measured.overhead_bytes_of(rows)),
        }
    }

    /// Rows of a block of about so many bytes, by its segments; whole vectors where it has one.
    pub(super) fn block_rows(&self, block_bytes: usize) -> u64 {
        let (mut low, mut high) = (1, self.full_rows);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.row_group_bytes(middle) <= block_bytes as f64 {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        if low > VECTOR_ROWS {
            low - low % VECTOR_ROWS
        } else {
            low
        }
    }

    /// The whole in blocks. Where the sample has several, they say what a row takes; otherwise it follows from the columns.
    pub(super) fn as_blocks(
        &self,
        rows: u64,
        block_bytes: usize,
        written: &WrittenTable,
    ) -> WholeBytes {
        if let [full @ .., _] = written.row_groups.as_slice()
            && !full.is_empty()
        {
            let sum = |part: &dyn Fn(&StoredRowGroup) -> f64| full.iter().map(part).sum::<f64>();
            let share = rows as f64 / sum(&|group| group.row_count as f64).max(1.0);
            return WholeBytes {
                data: sum(&StoredRowGroup::segment_bytes) * share,
                metadata: self.once_bytes + sum(&StoredRowGroup::overhead_bytes) * share,
            };
        }
        let lengths = RowGroupLengths::new(rows, self.block_rows(block_bytes));
        WholeBytes {
            data: lengths.sum(|rows| self.row_group_bytes(rows)),
            metadata: self.once_bytes + lengths.sum(|rows| self.measured.overhead_bytes_of(rows)),
        }
    }
}

/// The different values of the column that this one is a map from, or of itself.
fn of_leader<'d>(
    distinct: &'d [DistinctValues],
    place: usize,
    column: &StoredSegment,
) -> &'d DistinctValues {
    match column.relation {
        Some(ColumnRelation::Map(leader)) => distinct.get(leader).unwrap_or(&distinct[place]),
        _ => &distinct[place],
    }
}

/// Rows at which a row group is closed, by number or by plain bytes.
fn full_rows(sample: &SampledTable) -> u64 {
    let row_bytes = sample.plain_bytes() / sample.sampled_rows().max(1);
    let by_bytes = AppendOptions::default().row_group_bytes as u64 / row_bytes.max(1);
    by_bytes.clamp(1, ROW_GROUP_ROWS as u64)
}

impl StoredRowGroup {
    fn segment_bytes(&self) -> f64 {
        self.columns
            .iter()
            .map(|column| column.encoded_bytes as f64)
            .sum()
    }

    /// Its metadata and the headers of its pages, in bytes.
    fn overhead_bytes(&self) -> f64 {
        self.metadata_bytes as f64 + self.page_count as f64 * IMAGE_HEADER_BYTES as f64
    }

    /// The same of one with so many rows, which has another number of zones.
    fn overhead_bytes_of(&self, rows: u64) -> f64 {
        let zones = rows.div_ceil(quire_tables::GROUP_ROWS as u64) as f64;
        let own = self.row_count.div_ceil(quire_tables::GROUP_ROWS as u64) as f64;
        self.overhead_bytes() + (zones - own) * self.zone_bytes
    }
}
