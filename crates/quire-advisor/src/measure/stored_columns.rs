//! What each segment of a written column table is made of.

use std::sync::Arc;

use quire_codec::{CodecId, PhysicalType};
use quire_format::relation::ColumnRelation;
use quire_format::segment::DictionarySegment;
use quire_store::Pin;
use quire_tables::{ColumnChunk, Engine, GROUP_ROWS, RowGroup};

use super::budget::Failure;

/// A column of a row group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredSegment {
    pub(crate) row_count: u64,
    pub(crate) codec: CodecId,
    pub(crate) physical_type: PhysicalType,
    /// Length of the segment.
    pub(crate) encoded_bytes: u64,
    /// Bytes of the strings of its dictionary as they are stored, if it has one of strings.
    pub(crate) dictionary_bytes: Option<u64>,
    /// How it follows from other columns.
    pub(crate) relation: Option<ColumnRelation>,
}

/// A row group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredRowGroup {
    pub(crate) row_count: u64,
    pub(crate) columns: Vec<StoredSegment>,
    /// Length of its metadata.
    pub(crate) metadata_bytes: u64,
    /// The part of them that each zone of 8,192 rows takes.
    pub(crate) zone_bytes: f64,
    /// Pages of its metadata and its segments.
    pub(crate) page_count: u64,
}

/// The row groups of the table of that name; none of a row table.
pub(super) fn stored_row_groups(
    engine: &Engine,
    name: &str,
) -> Result<Vec<StoredRowGroup>, Failure> {
    let Some(table) = engine.snapshot().table(name)? else {
        return Ok(Vec::new());
    };
    let pin = engine.volume().pin();
    let mut row_groups = Vec::new();
    for index in 0..table.row_group_count() {
        let row_group = table.row_group(index)?;
        let columns = row_group.columns.iter();
        let columns = columns.map(|chunk| stored_column(chunk, row_group.row_count, &pin));
        let metadata_bytes = row_group.encode().len() as u64;
        let column_pages = row_group.columns.iter().map(|chunk| chunk.pages.len());
        row_groups.push(StoredRowGroup {
            row_count: row_group.row_count,
            columns: columns.collect::<Result<_, _>>()?,
            metadata_bytes,
            zone_bytes: zone_bytes(&row_group, metadata_bytes),
            page_count: 1 + (row_group.block.len() + column_pages.sum::<usize>()) as u64,
        });
    }
    Ok(row_groups)
}

fn stored_column(chunk: &ColumnChunk, row_count: u64, pin: &Pin) -> Result<StoredSegment, Failure> {
    // Columns of a block have no pages of their own, and a map has no strings.
    let has_strings = chunk.codec == CodecId::Dictionary
        && chunk.physical_type == PhysicalType::Bytes
        && chunk.relation.is_none()
        && !chunk.pages.is_empty();
    let mut dictionary_bytes = None;
    if has_strings {
        let mut image = Vec::new();
        for page in &chunk.pages {
            image.extend_from_slice(&pin.read(*page)?);
        }
        let image: Arc<[u8]> = image.into();
        let segment = DictionarySegment::open(&image)?;
        dictionary_bytes = segment.map(|segment| segment.dictionary_bytes() as u64);
    }
    Ok(StoredSegment {
        row_count,
        codec: chunk.codec,
        physical_type: chunk.physical_type,
        encoded_bytes: chunk.encoded_bytes,
        dictionary_bytes,
        relation: chunk.relation,
    })
}

/// What the metadata is longer for each further zone: by the same with the first zone alone.
fn zone_bytes(row_group: &RowGroup, metadata_bytes: u64) -> f64 {
    let zones = (row_group.row_count as usize).div_ceil(GROUP_ROWS);
    if zones < 2 || !row_group.block.is_empty() {
        return 0.0;
    }
    let mut short = row_group.clone();
    short.row_count = GROUP_ROWS as u64;
    for column in &mut short.columns {
        column.group_zones.truncate(1);
    }
    let short_bytes = short.encode().len() as f64;
    (metadata_bytes as f64 - short_bytes).max(0.0) / (zones - 1) as f64
}
