//! One row group into segments and metadata pages.

use std::sync::Arc;

use quire_codec::{CodecId, EncodeError};
use quire_format::distinct_sketch::DistinctSketch;
use quire_format::row_group::{ColumnChunk, RowGroup};
use quire_format::segment::{Beneath, ChooseOptions, SegmentInput};
use quire_format::table_root::SharedDictionaryPointer;
use quire_format::zone::ZoneBounds;
use quire_store::{PageId, PageKind};

use super::column_values::ColumnValues;
use super::cutter::RowGroupRows;
use super::dictionaries::{DictionaryStorage, DictionaryTurn};
use super::follow::{UnwrittenColumn, encode_following};
use super::relations::ColumnRelations;
use super::statistics::statistics;
use crate::definition::{ColumnDefinition, TableDefinition};
use crate::error::TableAppendError;
use crate::page_cluster::PageCluster;
use crate::pages::{PageSource, TransactionPages};

/// Encodes the row groups of one append.
pub(super) struct Encoder {
    pub(super) definition: Arc<TableDefinition>,
    pages: Arc<TransactionPages>,
    source: Arc<PageSource>,
    beneath: Beneath,
}

/// A column of a row group, written unless it becomes part of a block.
pub(super) struct EncodedColumn {
    chunk: ColumnChunk,
    /// The segment, of a table that is kept in blocks.
    in_block: Vec<u8>,
    sketch: DistinctSketch,
    /// A shared dictionary that is new, to which the segment refers.
    brought: Option<SharedDictionaryPointer>,
    /// The segment, if other columns may be maps from this one: they are encoded next.
    pub(super) leading: Option<Arc<[u8]>>,
}

/// A row group, written.
pub(super) struct EncodedRowGroup {
    /// Its metadata.
    pub(super) pages: Vec<PageId>,
    pub(super) row_group: Arc<RowGroup>,
    /// One per column.
    pub(super) sketches: Vec<DistinctSketch>,
    /// Shared dictionaries that it has brought, each with its column.
    pub(super) dictionaries: Vec<(usize, SharedDictionaryPointer)>,
}

impl Encoder {
    pub(super) fn new(
        definition: Arc<TableDefinition>,
        pages: Arc<TransactionPages>,
        source: Arc<PageSource>,
        beneath: Beneath,
    ) -> Self {
        Encoder {
            definition,
            pages,
            source,
            beneath,
        }
    }

    /// Encodes and writes all columns of a row group, then its metadata.
    pub(super) fn encode_row_group(
        &self,
        rows: &RowGroupRows,
    ) -> Result<EncodedRowGroup, TableAppendError> {
        let columns = self.encode_columns(rows)?;
        self.write_row_group(rows.row_count, columns)
    }

    /// Length of the block that the rows would be, in bytes. Writes nothing, for a table that is kept in blocks.
    pub(super) fn encoded_bytes(&self, rows: &RowGroupRows) -> Result<u64, TableAppendError> {
        let columns = self.encode_columns(rows)?;
        let lengths = columns.iter().map(|column| column.chunk.encoded_bytes);
        Ok(lengths.sum())
    }

    /// Encodes all columns of a row group, and writes those that have pages of their own.
    fn encode_columns(&self, rows: &RowGroupRows) -> Result<Vec<EncodedColumn>, TableAppendError> {
        let count = self.definition.columns.len();
        let mut encoded: Vec<Option<EncodedColumn>> = (0..count).map(|_| None).collect();
        let relations = self.relations(rows);
        for column in (0..count).filter(|&column| !relations.is_map(column)) {
            let mut leader = self.encode_column(rows, column, None)?;
            if let Some(segment) = leader.leading.take() {
                for follower in relations.mapped_from(column) {
                    encoded[follower] = Some(self.encode_column(rows, follower, Some(&segment))?);
                }
            }
            encoded[column] = Some(leader);
        }
        Ok(encoded.into_iter().flatten().collect())
    }

    fn has_blocks(&self) -> bool {
        self.definition.options.block_bytes.is_some()
    }

    /// How the columns of a row group may follow each other.
    pub(super) fn relations<'r>(&self, rows: &'r RowGroupRows) -> &'r ColumnRelations {
        let find = || ColumnRelations::find(&self.definition, rows);
        rows.relations.get_or_init(find)
    }

    /// Encodes one column of a row group, and writes it if it has pages of its own; `leader` is the segment of the column that it may be a map from.
    pub(super) fn encode_column(
        &self,
        rows: &RowGroupRows,
        index: usize,
        leader: Option<&Arc<[u8]>>,
    ) -> Result<EncodedColumn, TableAppendError> {
        let column = &self.definition.columns[index];
        let turn = rows.dictionaries.turn(index);
        let values = ColumnValues::collect(column.sql_type, &rows.batches, index)
            .ok_or_else(|| encode_error(column, "its text passes 4 GiB in one row group"))?;
        let statistics = statistics(&values, column.sql_type.is_text());
        let input = input_of(&values, rows);
        let relations = self.relations(rows);
        let leads = relations.mapped_from(index).next().is_some();
        let mut encoded = match relations.of(index) {
            Some(relation) => {
                rows.precedents.leave_none(index);
                encode_following(&self.definition, rows, relation, leader, &input)
                    .map_err(|error| encode_error(column, error))?
            }
            None => {
                let options = ChooseOptions {
                    beneath: self.beneath,
                    has_followers: leads,
                    ..ChooseOptions::default()
                };
                encode_alone(column, rows, index, options, &input)
                    .map_err(|error| encode_error(column, error))?
            }
        };
        let may_share = !leads && encoded.relation.is_none();
        let brought = match may_share && encoded.choice.codec == CodecId::Dictionary {
            true => self.share_dictionary(turn, rows, index, &mut encoded)?,
            false => {
                turn.pass_on();
                None
            }
        };
        let mut chunk = unwritten_chunk(column, &encoded, statistics.zone, statistics.group_zones);
        let segment = encoded.segment;
        if !self.has_blocks() {
            let cluster = PageCluster::Column(index);
            chunk.pages = self.pages.write(PageKind::Segment, cluster, &segment)?;
        }
        Ok(EncodedColumn {
            chunk,
            sketch: statistics.sketch,
            brought,
            leading: leads.then(|| segment.as_slice().into()),
            in_block: if self.has_blocks() {
                segment
            } else {
                Vec::new()
            },
        })
    }

    /// Has a dictionary segment refer to a shared dictionary, if one suits. Returns the dictionary if it is new.
    fn share_dictionary(
        &self,
        turn: DictionaryTurn<'_>,
        rows: &RowGroupRows,
        index: usize,
        encoded: &mut UnwrittenColumn,
    ) -> Result<Option<SharedDictionaryPointer>, TableAppendError> {
        if !turn.shares() {
            turn.pass_on();
            return Ok(None);
        }
        let storage = DictionaryStorage {
            source: &self.source,
            pages: &self.pages,
            definition: &self.definition,
        };
        let segment = encoded.segment.as_slice().into();
        // A column that was put off as a map has already said which dictionaries there are: the next row group would not find a new one.
        let may_bring = rows.is_full && !self.relations(rows).is_map(index);
        let Some(shared) = turn.share(&segment, may_bring, &storage)? else {
            return Ok(None);
        };
        encoded.segment = shared.segment;
        encoded.dictionary = Some(shared.fingerprint);
        Ok(shared.brought)
    }

    /// Writes the block of a row group, if its table is kept in blocks, and its metadata.
    pub(super) fn write_row_group(
        &self,
        row_count: usize,
        columns: Vec<EncodedColumn>,
    ) -> Result<EncodedRowGroup, TableAppendError> {
        let block = match self.has_blocks() {
            true => self.write_block(&columns)?,
            false => Vec::new(),
        };
        let mut dictionaries = Vec::new();
        let (mut chunks, mut sketches) = (Vec::new(), Vec::new());
        for (index, column) in columns.into_iter().enumerate() {
            dictionaries.extend(column.brought.map(|pointer| (index, pointer)));
            chunks.push(column.chunk);
            sketches.push(column.sketch);
        }
        let row_group = RowGroup {
            row_count: row_count as u64,
            block,
            columns: chunks,
        };
        let (kind, cluster) = (PageKind::RowGroup, PageCluster::RowGroups);
        let pages = self.pages.write(kind, cluster, &row_group.encode())?;
        Ok(EncodedRowGroup {
            pages,
            row_group: Arc::new(row_group),
            sketches,
            dictionaries,
        })
    }
}

impl Encoder {
    /// Writes the segments of all columns as one block.
    fn write_block(&self, columns: &[EncodedColumn]) -> Result<Vec<PageId>, TableAppendError> {
        let segments: Vec<_> = columns.iter().map(|one| one.in_block.as_slice()).collect();
        let (kind, cluster) = (PageKind::Segment, PageCluster::Blocks);
        Ok(self.pages.write(kind, cluster, &segments.concat())?)
    }
}

/// Encodes a column as the user asked for, or as the chooser does; `index` is that of the column in `rows`.
pub(super) fn encode_alone(
    column: &ColumnDefinition,
    rows: &RowGroupRows,
    index: usize,
    mut options: ChooseOptions,
    input: &SegmentInput<'_>,
) -> Result<UnwrittenColumn, EncodeError> {
    options.forced = column.compression;
    let mut decided = rows.precedents.encode(index, input, &options);
    if matches!(decided, Err(EncodeError::NotConstant)) {
        // Not every row group of a column declared constant need be.
        options.forced = None;
        decided = rows.precedents.encode(index, input, &options);
    }
    let decided = decided?;
    Ok(UnwrittenColumn {
        choice: decided.choice,
        segment: decided.segment,
        decision: decided.decision,
        relation: None,
        dictionary: None,
    })
}

/// What a row group says of an encoded column, without pages.
pub(super) fn unwritten_chunk(
    column: &ColumnDefinition,
    encoded: &UnwrittenColumn,
    zone: ZoneBounds,
    group_zones: Vec<ZoneBounds>,
) -> ColumnChunk {
    let choice = &encoded.choice;
    let runner_up = choice.runner_up;
    ColumnChunk {
        physical_type: column.sql_type.physical_type(),
        codec: choice.codec,
        pages: Vec::new(),
        encoded_bytes: encoded.segment.len() as u64,
        raw_bytes: choice.raw_bytes as u64,
        estimated_bytes: choice.estimated_bytes as u64,
        runner_up: runner_up.map(|(codec, bytes)| (codec, bytes as u64)),
        decision: encoded.decision,
        relation: encoded.relation,
        dictionary: encoded.dictionary,
        zone,
        group_zones,
    }
}

pub(super) fn input_of<'v>(values: &'v ColumnValues, rows: &RowGroupRows) -> SegmentInput<'v> {
    let input = SegmentInput {
        values: values.values(),
        validity: values.validity.as_deref(),
    };
    let (found, expected) = (input.values.len(), rows.row_count);
    assert_eq!(found, expected, "a column has the rows of its row group");
    input
}

pub(super) fn encode_error(column: &ColumnDefinition, what: impl ToString) -> TableAppendError {
    TableAppendError::Encode {
        column: column.name.clone(),
        what: what.to_string(),
    }
}
