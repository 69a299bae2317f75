//! What a sample of a row table's rows says of one of its columns.

use quire_codec::{Corrupt, PhysicalType};

use crate::document::{DiskStructure, StructureField};
use crate::row_group::read_physical_type;
use crate::wire::{WireItemReader, WireItemWriter};
use crate::zone::ZoneBounds;

const VERSION: u8 = 1;

pub(crate) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Column sample (value in the tree of samples)",
    about: "\
Written by `ANALYZE`. The key is the id of the table (8 bytes) and the ordinal of the column (4 bytes), both with the most \
significant byte first.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(0, "1", "version", "1"),
        StructureField::next("varint", "row_count", "rows of the table, estimated"),
        StructureField::next("varint", "read_row_count", "rows that were read"),
        StructureField::next("1", "physical_type", ""),
        StructureField::next(
            "varint",
            "value_bytes",
            "what the values that were read take as a plain array",
        ),
        StructureField::next(
            "varint",
            "distinct_estimate",
            "distinct values of the whole table",
        ),
        StructureField::next(
            "zone",
            "zone",
            "bounds and NULLs of the rows that were read, without a reference",
        ),
    ],
};

/// What is known of a column from some of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSample {
    /// Rows of the table when the sample was taken, estimated.
    pub row_count: u64,
    /// Rows that were read.
    pub read_row_count: u64,
    /// Type of the bounds.
    pub physical_type: PhysicalType,
    /// What the values that were read take as a plain array, in bytes.
    pub value_bytes: u64,
    /// Distinct values of the whole table, estimated; NULL is none.
    pub distinct_estimate: u64,
    /// Bounds and NULLs of the rows that were read.
    pub zone: ZoneBounds,
}

impl ColumnSample {
    /// The value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = WireItemWriter::new(VERSION);
        writer.varint(self.row_count);
        writer.varint(self.read_row_count);
        writer.byte(self.physical_type as u8);
        writer.varint(self.value_bytes);
        writer.varint(self.distinct_estimate);
        self.zone.encode(None, &mut writer);
        writer.finish()
    }

    /// Reads a value.
    ///
    /// # Errors
    /// [`Corrupt`] when it is not one.
    pub fn decode(bytes: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = WireItemReader::new(bytes, VERSION, "column sample")?;
        let (row_count, read_row_count) = (reader.varint()?, reader.varint()?);
        let physical_type = read_physical_type(&mut reader)?;
        let sample = Self {
            row_count,
            read_row_count,
            physical_type,
            value_bytes: reader.varint()?,
            distinct_estimate: reader.varint()?,
            zone: ZoneBounds::decode(physical_type, read_row_count, None, &mut reader)?,
        };
        reader.finish()?;
        Ok(sample)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use quire_codec::CodecScalar;

    use super::*;

    #[test]
    fn a_sample_comes_back_and_every_cut_is_an_error() {
        let sample = ColumnSample {
            row_count: 6_001_215,
            read_row_count: 65_536,
            physical_type: PhysicalType::Bytes,
            value_bytes: 1_700_000,
            distinct_estimate: 4_580_000,
            zone: ZoneBounds {
                min: Some(CodecScalar::Bytes(b" about the ironic".to_vec())),
                max: None,
                min_exact: true,
                max_exact: false,
                null_count: 65_000,
            },
        };
        let bytes = sample.encode();
        assert_eq!(ColumnSample::decode(&bytes), Ok(sample));
        for end in 0..bytes.len() {
            assert!(ColumnSample::decode(&bytes[..end]).is_err(), "{end}");
        }
        let mut other = bytes.clone();
        other[0] = 2;
        assert!(ColumnSample::decode(&other).is_err(), "another version");
        assert!(ColumnSample::decode(&[&bytes[..], &[0]].concat()).is_err());
    }
}
