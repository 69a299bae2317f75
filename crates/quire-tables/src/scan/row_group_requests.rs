//! What of a row group a scan asks for ahead.

use quire_format::row_group::RowGroup;
use quire_store::PageId;

/// What is known of a scan's columns before it has read a row group.
pub(super) struct ScanColumns {
    /// Those that are read first: of the filters, or of the output if there are none.
    pub(super) first: Vec<usize>,
    /// Columns of the output that no filter reads: they are opened where rows have passed the filters.
    pub(super) output_only: Vec<usize>,
}

/// A row group that no reader has begun, and the pages of it that are requested.
pub(super) struct RequestedRowGroup {
    pub(super) index: usize,
    pub(super) pages: Vec<PageId>,
    pub(super) bytes: u64,
    /// Zones say that no row of it can pass the filters.
    pub(super) is_excluded: bool,
}

impl ScanColumns {
    /// Columns may repeat. Numbers from `column_count` on stand for what is not read.
    pub(super) fn new(
        column_count: usize,
        filters: impl IntoIterator<Item = usize>,
        output: impl IntoIterator<Item = usize>,
    ) -> Self {
        let (mut first, mut output_only) = (Vec::new(), Vec::new());
        for column in filters {
            if column < column_count && !first.contains(&column) {
                first.push(column);
            }
        }
        for column in output {
            if column < column_count && !first.contains(&column) && !output_only.contains(&column) {
                output_only.push(column);
            }
        }
        if first.is_empty() {
            first = std::mem::take(&mut output_only);
        }
        ScanColumns { first, output_only }
    }
}

impl RequestedRowGroup {
    /// Nothing of it is requested.
    pub(super) fn excluded(index: usize) -> Self {
        RequestedRowGroup {
            index,
            pages: Vec::new(),
            bytes: 0,
            is_excluded: true,
        }
    }

    /// All pages of some columns and of those that they follow. Those of a row group with a block are the same for all columns.
    pub(super) fn of(
        index: usize,
        row_group: &RowGroup,
        columns: impl IntoIterator<Item = usize>,
    ) -> Self {
        let mut request = RequestedRowGroup {
            index,
            pages: Vec::new(),
            bytes: 0,
            is_excluded: false,
        };
        for column in with_references(row_group, columns) {
            request.pages.extend(row_group.column_pages(column));
            let bytes = row_group.column_image_bytes(column);
            request.bytes = request.bytes.saturating_add(bytes);
            if row_group.has_block() {
                break;
            }
        }
        request
    }
}

/// Some columns, each once, behind those that they follow.
fn with_references(row_group: &RowGroup, columns: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut needed: Vec<usize> = Vec::new();
    for column in columns {
        let chunk = row_group.columns.get(column);
        let relation = chunk.and_then(|chunk| chunk.relation);
        let (first, second) = relation.map_or((None, None), |relation| {
            let (first, second) = relation.references();
            (Some(first), second)
        });
        for one in first.into_iter().chain(second).chain([column]) {
            if !needed.contains(&one) {
                needed.push(one);
            }
        }
    }
    needed
}
