//! The row-group page: what each column of a row group is encoded with, where it lies, and its zones.
//!
//! The layout is in `STRUCTURE` below.
//! Integers and lists are those of the `wire` module, zones those of [`crate::zone`].
//!
//! The version says where the segments ([`crate::segment`]) are. In version 2 every column has pages, whose payloads, joined in
//! order, are its segment (DSM). In version 3 the row group has pages, whose payloads, joined in order, are its
//! *block*: the segments of all columns, one after the other and without gaps (PAX). Version 4 is version 2 where segments of strings refer to
//! shared dictionaries, which the table's root ([`crate::table_root`]) lists. A program writes the version that the row group needs, so
//! files without PAX tables and without shared dictionaries stay as they were.

mod block;

use quire_codec::correlated::{self, DIVISOR_DIGITS_MAX};
use quire_codec::{CodecId, Corrupt, PhysicalType, ROWS_MAX, VECTOR_VALUES};

use crate::catalog::read_codec;
use crate::document::{DiskStructure, StructureField};
use crate::page_numbers::{read_pages, write_pages};
use crate::relation::ColumnRelation;
use crate::volume::PageId;
use crate::wire::{WireItemReader, WireItemWriter};
use crate::zone::ZoneBounds;

/// Layout version of a row group whose columns have pages of their own.
pub const ROW_GROUP_VERSION: u8 = 2;

/// Layout version of a row group whose segments are in one block.
pub const BLOCK_ROW_GROUP_VERSION: u8 = 3;

/// Layout version of a row group whose columns have pages of their own, and some of them shared dictionaries.
pub const SHARED_ROW_GROUP_VERSION: u8 = 4;

/// Rows of a vector group: what has one zone and is scanned at a time.
pub const GROUP_ROWS: usize = 8 * VECTOR_VALUES;

/// Bytes that the metadata of a column takes at least.
const COLUMN_BYTES_MIN: usize = 8;

/// Largest number of rows of a row group.
pub const ROW_GROUP_ROWS: usize = ROWS_MAX;

const HAS_RUNNER_UP: u8 = 1;
const HAS_RELATION: u8 = 2;
/// Bits 2 to 4 of the flags are the [`Decision`].
const DECISION_SHIFT: u32 = 2;
const DECISION_MASK: u8 = 7 << DECISION_SHIFT;
/// Of version 3.
const HAS_ONE_ZONE: u8 = 1 << 5;
/// Of version 4.
const HAS_SHARED_DICTIONARY: u8 = 1 << 6;

pub(crate) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Row group (page kind 3)",
    about: "The segments of consecutive rows of a table, with their zones.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(
            0,
            "1",
            "version",
            "2: every column has pages; 3: the row group has; 4: as 2, and columns have shared dictionaries",
        ),
        StructureField::next("varint", "row_count", "1 to 131,072"),
        StructureField::next(
            "0 or list of varint",
            "block",
            "version 3: at least one page; their payloads, joined, are the segments of all columns in their order, without gaps",
        ),
        StructureField::next("list", "columns", "in declared order; for each:"),
        StructureField::next("1", "physical_type", "type of the encoded values"),
        StructureField::next("1", "codec", "as in the segment"),
        StructureField::next(
            "1",
            "flags",
            "bit 0: a runner-up follows; bit 1: a relation; bits 2 to 4: why this codec (0 analysed, 1 asked for, \
             2 as the row group before, 3 to 5 analysed since it looked different, took more, took less); bit 5, of version 3: the row \
             group has one vector group, whose zone is `zone`; bit 6, of version 4, which has it in at least one column: the segment refers \
             to a shared dictionary",
        ),
        StructureField::next(
            "0 or list of varint",
            "pages",
            "versions 2 and 4: their payloads, joined, are the segment, or the map segment of a map",
        ),
        StructureField::next(
            "varint",
            "encoded_bytes",
            "length of the segment; in version 3 it begins where that of the column before ends",
        ),
        StructureField::next(
            "varint",
            "raw_bytes",
            "what the values take as plain arrays",
        ),
        StructureField::next(
            "varint",
            "estimated_bytes",
            "what the chooser expected of the codec",
        ),
        StructureField::next("0 or 1", "runner_up", "the second-best codec"),
        StructureField::next(
            "0 or varint",
            "runner_up_bytes",
            "what the chooser expected of it",
        ),
        StructureField::next(
            "0 or 1",
            "relation",
            "1: the segment's values are added to those of column `first`; 2: to `first` + `second`; \
             3: to `first` - `second`; 4: to `first` * `second` / 10^`divisor_digits`, rounded; \
             5: a map from the values of `first`",
        ),
        StructureField::next(
            "0 or varint",
            "first",
            "another column, without relation; integers of 16 to 64 bits, or for a map a dictionary segment",
        ),
        StructureField::next(
            "0 or varint",
            "second",
            "of relations 2, 3 and 4: as `first`, which it may be",
        ),
        StructureField::next("0 or 1", "divisor_digits", "of relation 4: at most 18"),
        StructureField::next(
            "0 or 8",
            "dictionary",
            "fingerprint of the shared dictionary, one of the column's in the table's root; the column has strings, codec dictionary and no relation",
        ),
        StructureField::next(
            "zone",
            "zone",
            "bounds and NULLs of all rows, without reference",
        ),
        StructureField::next(
            "zones",
            "group_zones",
            "of every 8,192 rows; reference: the least value of `zone`; none with bit 5 of `flags`",
        ),
    ],
};

/// Consecutive rows of a table, stored column by column.
#[derive(Debug, Clone, PartialEq)]
pub struct RowGroup {
    /// Number of rows, 1 to [`ROW_GROUP_ROWS`].
    pub row_count: u64,
    /// Pages whose payloads, joined, are the segments of all columns in their order (PAX). Empty if every column has pages of
    /// its own.
    pub block: Vec<PageId>,
    /// One chunk per column of the table.
    pub columns: Vec<ColumnChunk>,
}

/// One column of a row group.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnChunk {
    /// Type of the encoded values.
    pub physical_type: PhysicalType,
    /// How the values are encoded.
    pub codec: CodecId,
    /// Pages whose payloads, joined, are the segment; none if the row group has a block. See [`RowGroup::column_pages`].
    pub pages: Vec<PageId>,
    /// Length of the segment.
    pub encoded_bytes: u64,
    /// What the values take as plain arrays.
    pub raw_bytes: u64,
    /// What the chooser expected the segment to take.
    pub estimated_bytes: u64,
    /// The second-best codec and what the chooser expected of it.
    pub runner_up: Option<(CodecId, u64)>,
    /// Why this codec.
    pub decision: Decision,
    /// What the values follow from besides the segment.
    pub relation: Option<ColumnRelation>,
    /// Fingerprint of the shared dictionary that the segment refers to. It is among those of the column in the table's root.
    pub dictionary: Option<u64>,
    /// Bounds of all rows.
    pub zone: ZoneBounds,
    /// Bounds of every [`GROUP_ROWS`] rows.
    pub group_zones: Vec<ZoneBounds>,
}

/// Why a column chunk has its codec.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Decision {
    /// The values were analysed: no row group was written before this one, or the last analysis was long ago.
    #[default]
    Analysed = 0,
    /// The user asked for it.
    Asked = 1,
    /// It is that of the row group before, whose values looked alike.
    Followed = 2,
    /// The values were analysed since they looked different from those of the row group before.
    Different = 3,
    /// They were analysed since they took more bytes a row than those of the row group before.
    Larger = 4,
    /// They were analysed since they took fewer bytes a row than those of the row group before.
    Smaller = 5,
}

impl Decision {
    /// Every decision, in the order of the stored number.
    pub const ALL: [Self; 6] = [
        Self::Analysed,
        Self::Asked,
        Self::Followed,
        Self::Different,
        Self::Larger,
        Self::Smaller,
    ];

    /// Lower-case name, as shown in SQL.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Analysed => "analysed",
            Self::Asked => "asked",
            Self::Followed => "followed",
            Self::Different => "different",
            Self::Larger => "larger",
            Self::Smaller => "smaller",
        }
    }
}

impl RowGroup {
    /// Number of vector groups, the last of which may be partial.
    pub fn group_count(&self) -> usize {
        (self.row_count as usize).div_ceil(GROUP_ROWS)
    }

    /// Rows of vector group `group`, 0 when there is no such group.
    pub fn group_rows(&self, group: usize) -> usize {
        group_rows(self.row_count as usize, group)
    }

    /// The row-group page's payload.
    pub fn encode(&self) -> Vec<u8> {
        let version = self.version();
        let mut writer = WireItemWriter::new(version);
        writer.varint(self.row_count);
        if version == BLOCK_ROW_GROUP_VERSION {
            write_pages(&mut writer, &self.block);
        }
        writer.varint(self.columns.len() as u64);
        for column in &self.columns {
            assert_eq!(
                column.group_zones.len(),
                self.group_count(),
                "one zone per vector group"
            );
            assert!(
                column.dictionary.is_none() || version == SHARED_ROW_GROUP_VERSION,
                "segments of a block refer to no shared dictionaries"
            );
            column.encode(version, &mut writer);
        }
        writer.finish()
    }

    /// Reads a row-group page's payload.
    ///
    /// # Errors
    /// Any payload that [`RowGroup::encode`] cannot have written.
    pub fn decode(payload: &[u8]) -> Result<Self, Corrupt> {
        let version = block::version_of(payload);
        let mut reader = WireItemReader::new(payload, version, "row group")?;
        let row_count = reader.varint()?;
        if row_count == 0 || row_count > ROW_GROUP_ROWS as u64 {
            return Err(reader.corrupt(format!("row group of {row_count} rows")));
        }
        let mut block = Vec::new();
        if version == BLOCK_ROW_GROUP_VERSION {
            block = read_pages(&mut reader)?;
        }
        let count = reader.count(COLUMN_BYTES_MIN)?;
        let mut columns = Vec::with_capacity(count);
        for _ in 0..count {
            columns.push(ColumnChunk::decode(version, row_count, &mut reader)?);
        }
        check_relations(&columns).map_err(|what| reader.corrupt(what))?;
        let row_group = RowGroup {
            row_count,
            block,
            columns,
        };
        if version == BLOCK_ROW_GROUP_VERSION {
            let checked = row_group.check_block();
            checked.map_err(|what| reader.corrupt(what))?;
        }
        if version != row_group.version() {
            return Err(reader.corrupt("row group without shared dictionaries"));
        }
        reader.finish()?;
        Ok(row_group)
    }
}

fn group_rows(row_count: usize, group: usize) -> usize {
    row_count
        .saturating_sub(group.saturating_mul(GROUP_ROWS))
        .min(GROUP_ROWS)
}

impl ColumnChunk {
    fn encode(&self, version: u8, writer: &mut WireItemWriter) {
        writer.byte(self.physical_type as u8);
        writer.byte(self.codec as u8);
        let runner_up = u8::from(self.runner_up.is_some()) * HAS_RUNNER_UP;
        let relation = u8::from(self.relation.is_some()) * HAS_RELATION;
        let has_one_zone = version == BLOCK_ROW_GROUP_VERSION && self.has_one_zone();
        let one_zone = if has_one_zone { HAS_ONE_ZONE } else { 0 };
        let decision = (self.decision as u8) << DECISION_SHIFT;
        let dictionary = u8::from(self.dictionary.is_some()) * HAS_SHARED_DICTIONARY;
        writer.byte(runner_up | relation | decision | one_zone | dictionary);
        if version != BLOCK_ROW_GROUP_VERSION {
            write_pages(writer, &self.pages);
        }
        writer.varint(self.encoded_bytes);
        writer.varint(self.raw_bytes);
        writer.varint(self.estimated_bytes);
        if let Some((codec, bytes)) = self.runner_up {
            writer.byte(codec as u8);
            writer.varint(bytes);
        }
        if let Some(relation) = self.relation {
            relation.encode(writer);
        }
        if let Some(fingerprint) = self.dictionary {
            writer.raw(&fingerprint.to_le_bytes());
        }
        self.zone.encode(None, writer);
        for zone in self.group_zones.iter().filter(|_| !has_one_zone) {
            zone.encode(self.zone.min.as_ref(), writer);
        }
    }

    /// Whether the zones of the vector groups say nothing that the zone of the row group does not.
    fn has_one_zone(&self) -> bool {
        matches!(self.group_zones.as_slice(), [zone] if *zone == self.zone)
    }

    fn decode(
        version: u8,
        row_count: u64,
        reader: &mut WireItemReader<'_>,
    ) -> Result<Self, Corrupt> {
        let physical_type = read_physical_type(reader)?;
        let codec = read_codec(reader)?;
        if !codec.supports(physical_type) {
            return Err(reader.corrupt(format!("codec {codec} of a {physical_type} column")));
        }
        let flags = reader.byte()?;
        let decision = Decision::ALL.get(usize::from((flags & DECISION_MASK) >> DECISION_SHIFT));
        let may_have_one_zone =
            version == BLOCK_ROW_GROUP_VERSION && row_count <= GROUP_ROWS as u64;
        let one_zone = if may_have_one_zone { HAS_ONE_ZONE } else { 0 };
        let may_share = version == SHARED_ROW_GROUP_VERSION
            && physical_type == PhysicalType::Bytes
            && codec == CodecId::Dictionary
            && flags & HAS_RELATION == 0;
        let shared = if may_share { HAS_SHARED_DICTIONARY } else { 0 };
        let known = HAS_RUNNER_UP | HAS_RELATION | DECISION_MASK | one_zone | shared;
        let Some(&decision) = decision.filter(|_| flags & !known == 0) else {
            return Err(reader.corrupt(format!("unknown column flags {flags:#04x}")));
        };
        let pages = match version {
            BLOCK_ROW_GROUP_VERSION => Vec::new(),
            _ => read_pages(reader)?,
        };
        let encoded_bytes = reader.varint()?;
        let raw_bytes = reader.varint()?;
        let estimated_bytes = reader.varint()?;
        let runner_up = if flags & HAS_RUNNER_UP != 0 {
            Some((read_codec(reader)?, reader.varint()?))
        } else {
            None
        };
        let relation = match flags & HAS_RELATION {
            0 => None,
            _ => Some(ColumnRelation::decode(reader)?),
        };
        let dictionary = match flags & HAS_SHARED_DICTIONARY {
            0 => None,
            _ => Some(u64::from_le_bytes(reader.array()?)),
        };
        let zone = ZoneBounds::decode(physical_type, row_count, None, reader)?;
        let group_zones = match flags & HAS_ONE_ZONE {
            0 => decode_group_zones(physical_type, row_count, &zone, reader)?,
            _ => vec![zone.clone()],
        };
        Ok(ColumnChunk {
            physical_type,
            codec,
            pages,
            encoded_bytes,
            raw_bytes,
            estimated_bytes,
            runner_up,
            decision,
            relation,
            dictionary,
            zone,
            group_zones,
        })
    }
}

/// What [`ColumnRelation`] promises, so that following references ends.
fn check_relations(columns: &[ColumnChunk]) -> Result<(), String> {
    for (index, column) in columns.iter().enumerate() {
        if let Some(relation) = column.relation
            && !is_possible(relation, index, columns)
        {
            return Err(format!("column {index} cannot follow {relation:?}"));
        }
    }
    Ok(())
}

/// Whether column `index` of a row group can have `relation`: its references are others, which have none.
fn is_possible(relation: ColumnRelation, index: usize, columns: &[ColumnChunk]) -> bool {
    let (first, second) = relation.references();
    let leads = |reference: usize| {
        let other = columns.get(reference).filter(|_| reference != index);
        other.filter(|other| other.relation.is_none())
    };
    let Some(other) = leads(first) else {
        return false;
    };
    let supports = |chunk: &ColumnChunk| correlated::is_supported(chunk.physical_type);
    match relation {
        // Maps are from the codes of a dictionary of the row group.
        ColumnRelation::Map(_) => {
            other.codec == CodecId::Dictionary && other.dictionary.is_none() || supports(other)
        }
        ColumnRelation::Product { divisor_digits, .. } if divisor_digits > DIVISOR_DIGITS_MAX => {
            false
        }
        _ => {
            supports(&columns[index])
                && supports(other)
                && second.is_none_or(|second| leads(second).is_some_and(supports))
        }
    }
}

fn decode_group_zones(
    physical_type: PhysicalType,
    row_count: u64,
    zone: &ZoneBounds,
    reader: &mut WireItemReader<'_>,
) -> Result<Vec<ZoneBounds>, Corrupt> {
    let groups = (row_count as usize).div_ceil(GROUP_ROWS);
    let mut zones = Vec::with_capacity(groups);
    for group in 0..groups {
        let rows = group_rows(row_count as usize, group) as u64;
        zones.push(ZoneBounds::decode(
            physical_type,
            rows,
            zone.min.as_ref(),
            reader,
        )?);
    }
    let nulls = zones.iter().map(|zone| zone.null_count).sum::<u64>();
    if nulls != zone.null_count {
        return Err(reader.corrupt("NULLs of the vector groups are not those of the row group"));
    }
    Ok(zones)
}

pub(crate) fn read_physical_type(reader: &mut WireItemReader<'_>) -> Result<PhysicalType, Corrupt> {
    let id = reader.byte()?;
    PhysicalType::from_u8(id).ok_or_else(|| reader.corrupt(format!("unknown physical type {id}")))
}
