//! What pieces of work cost, in nanoseconds.
//!
//! Paper 1 §4.2 wants a cost model that knows what decoding a field costs. That depends on the machine, so the numbers can be measured
//! ([`calibrate()`]), kept as text ([`CostModel::to_text`]) and overridden one by one. Without either, [`CostModel::default`] are those of a machine of
//! 2020 or so: plans must not depend on what else a machine did while it was measured.

mod calibrate;
mod text;

pub use calibrate::calibrate;

use quire_codec::block::BlockCodecId;
use quire_tables::row_table::FieldDecoding;

/// One piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Cost {
    DecodePlain,
    DecodePlainText,
    DecodeSuppressed,
    DecodeSuppressedText,
    DecodeDictionary,
    DecodeFsstText,
    DecodeHuffmanText,
    DecodeKey,
    PageHit,
    PageReadSequential,
    PageReadRandom,
    UnpackNone,
    UnpackZle,
    UnpackLzjb,
    UnpackLz4,
    UnpackZlib,
    UnpackZstd,
    Row,
    Lookup,
    RangeStart,
    Compute,
    HashInsert,
    HashProbe,
    CacheMiss,
    Compare,
    KeepRow,
    Suppress,
    SpillWrite,
    SpillRead,
    SpillSeek,
    SpillPack,
    SpillUnpack,
    TupleStart,
    BatchStart,
    BatchNode,
    BatchRow,
    BatchField,
    BatchText,
    BatchCompute,
    BatchGroup,
    BatchHashRow,
}

impl From<FieldDecoding> for Cost {
    fn from(decoding: FieldDecoding) -> Self {
        match decoding {
            FieldDecoding::Plain => Self::DecodePlain,
            FieldDecoding::PlainText => Self::DecodePlainText,
            FieldDecoding::Suppressed => Self::DecodeSuppressed,
            FieldDecoding::SuppressedText => Self::DecodeSuppressedText,
            FieldDecoding::Dictionary => Self::DecodeDictionary,
            FieldDecoding::FsstText => Self::DecodeFsstText,
            FieldDecoding::HuffmanText => Self::DecodeHuffmanText,
            FieldDecoding::Key => Self::DecodeKey,
        }
    }
}

/// A cost with its name, what it is when nobody has measured it, and what it is of.
struct CostParameter {
    cost: Cost,
    name: &'static str,
    default_ns: f64,
    of: &'static str,
}

const fn known(cost: Cost, name: &'static str, default_ns: f64, of: &'static str) -> CostParameter {
    CostParameter {
        cost,
        name,
        default_ns,
        of,
    }
}

const COUNT: usize = 41;

/// In the order of [`Cost`].
const KNOWN: [CostParameter; COUNT] = [
    known(
        Cost::DecodePlain,
        "decode_plain",
        2.0,
        "a number as it is, of a tuple",
    ),
    known(
        Cost::DecodePlainText,
        "decode_plain_text",
        4.0,
        "a string as it is, of a tuple",
    ),
    known(
        Cost::DecodeSuppressed,
        "decode_suppressed",
        5.0,
        "a null-suppressed number, of a tuple",
    ),
    known(
        Cost::DecodeSuppressedText,
        "decode_suppressed_text",
        8.0,
        "a string with a null-suppressed length, of a tuple",
    ),
    known(
        Cost::DecodeDictionary,
        "decode_dictionary",
        5.0,
        "a value with a code of a dictionary, of a tuple",
    ),
    known(
        Cost::DecodeFsstText,
        "decode_fsst_text",
        40.0,
        "a string in codes of FSST, of a tuple",
    ),
    known(
        Cost::DecodeHuffmanText,
        "decode_huffman_text",
        110.0,
        "a string in a Huffman code, of a tuple",
    ),
    known(
        Cost::DecodeKey,
        "decode_key",
        20.0,
        "a value that is in the key of a row only",
    ),
    known(
        Cost::PageHit,
        "page_hit",
        300.0,
        "a page that is in the pool",
    ),
    known(
        Cost::PageReadSequential,
        "page_read_sequential",
        20_000.0,
        "a page from the disk, behind the one before",
    ),
    known(
        Cost::PageReadRandom,
        "page_read_random",
        80_000.0,
        "a page from the disk, anywhere",
    ),
    known(
        Cost::UnpackNone,
        "unpack_none",
        60.0,
        "a KiB of a page that is not compressed",
    ),
    known(
        Cost::UnpackZle,
        "unpack_zle",
        500.0,
        "a KiB of a page, of zle",
    ),
    known(
        Cost::UnpackLzjb,
        "unpack_lzjb",
        900.0,
        "a KiB of a page, of lzjb",
    ),
    known(
        Cost::UnpackLz4,
        "unpack_lz4",
        400.0,
        "a KiB of a page, of lz4 or lz4hc",
    ),
    known(
        Cost::UnpackZlib,
        "unpack_zlib",
        2_500.0,
        "a KiB of a page, of zlib",
    ),
    known(
        Cost::UnpackZstd,
        "unpack_zstd",
        1_000.0,
        "a KiB of a page, of zstd",
    ),
    known(Cost::Row, "row", 30.0, "a row that a scan reads"),
    known(
        Cost::Lookup,
        "lookup",
        600.0,
        "a row that is looked up by its key",
    ),
    known(
        Cost::RangeStart,
        "range_start",
        400.0,
        "the first row of a range of keys",
    ),
    known(Cost::Compute, "compute", 12.0, "an expression of a row"),
    known(
        Cost::HashInsert,
        "hash_insert",
        90.0,
        "a key that is put into a hash table",
    ),
    known(
        Cost::HashProbe,
        "hash_probe",
        50.0,
        "a key that is looked for in a hash table",
    ),
    known(
        Cost::CacheMiss,
        "cache_miss",
        90.0,
        "a place of memory that is in no cache",
    ),
    known(
        Cost::Compare,
        "compare",
        8.0,
        "a comparison of a sort or a merge",
    ),
    known(
        Cost::KeepRow,
        "keep_row",
        60.0,
        "a row that is kept as a tuple",
    ),
    known(
        Cost::Suppress,
        "suppress",
        6.0,
        "a value that is null-suppressed in a kept row",
    ),
    known(
        Cost::SpillWrite,
        "spill_write",
        1_500.0,
        "a KiB that is written into a temporary file",
    ),
    known(
        Cost::SpillRead,
        "spill_read",
        600.0,
        "a KiB that is read from a temporary file",
    ),
    known(
        Cost::SpillSeek,
        "spill_seek",
        1_000.0,
        "going to a block of a temporary file that is read",
    ),
    known(
        Cost::SpillPack,
        "spill_pack",
        1_600.0,
        "a KiB that is compressed for a temporary file, by lz4",
    ),
    known(
        Cost::SpillUnpack,
        "spill_unpack",
        400.0,
        "a KiB that is decompressed from a temporary file, by lz4",
    ),
    known(
        Cost::TupleStart,
        "tuple_start",
        60_000.0,
        "starting a query of the tuple engine",
    ),
    known(
        Cost::BatchStart,
        "batch_start",
        600_000.0,
        "starting a query of batches",
    ),
    known(
        Cost::BatchNode,
        "batch_node",
        60_000.0,
        "starting a node of a query of batches",
    ),
    known(
        Cost::BatchRow,
        "batch_row",
        40.0,
        "a row that batches are made of",
    ),
    known(
        Cost::BatchField,
        "batch_field",
        19.0,
        "a number that is put into a batch",
    ),
    known(
        Cost::BatchText,
        "batch_text",
        40.0,
        "a string that is put into a batch",
    ),
    known(
        Cost::BatchCompute,
        "batch_compute",
        6.5,
        "an expression of a row of a batch",
    ),
    known(
        Cost::BatchGroup,
        "batch_group",
        65.0,
        "a row of a batch that finds its group",
    ),
    known(
        Cost::BatchHashRow,
        "batch_hash_row",
        95.0,
        "a row of a batch that is put into, or looked for in a hash table",
    ),
];

/// No measurement and nobody who sets a cost may say less, or more.
const LEAST_NS: f64 = 0.001;
const MOST_NS: f64 = 1e12;

/// Where a number is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostSource {
    BuiltIn,
    Measured,
    Set,
}

/// A name that no cost has, or a number that none can be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    #[error("there is no cost {0:?}; SELECT name FROM quire_costs() lists them")]
    Name(String),
    #[error("{1:?} nanoseconds cannot be the cost {0}; give a number from 0.001 to 1e12")]
    Number(&'static str, String),
}

/// What each piece of work costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostModel {
    ns: [f64; COUNT],
    sources: [CostSource; COUNT],
}

impl Default for CostModel {
    fn default() -> Self {
        Self {
            ns: std::array::from_fn(|at| KNOWN[at].default_ns),
            sources: [CostSource::BuiltIn; COUNT],
        }
    }
}

/// A cost to be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownCost {
    /// As SQL calls it.
    pub name: &'static str,
    pub ns: f64,
    pub source: CostSource,
    /// What it is the cost of.
    pub of: &'static str,
}

impl CostModel {
    /// Nanoseconds of one.
    #[must_use]
    pub fn of(&self, cost: Cost) -> f64 {
        self.ns[cost as usize]
    }

    /// Sets a cost that SQL calls `name`.
    ///
    /// # Errors
    /// A name that no cost has; a number that is none, or none that work can take.
    pub fn set(&mut self, name: &str, number: &str) -> Result<(), CostError> {
        let found = KNOWN.iter().find(|known| known.name == name);
        let known = found.ok_or_else(|| CostError::Name(name.to_owned()))?;
        let ns = number.trim().parse().ok().filter(|ns| is_cost(*ns));
        let ns = ns.ok_or_else(|| CostError::Number(known.name, number.to_owned()))?;
        self.note(known.cost, ns, CostSource::Set);
        Ok(())
    }

    /// All of them.
    pub fn shown(&self) -> impl Iterator<Item = ShownCost> + '_ {
        KNOWN.iter().enumerate().map(|(at, known)| ShownCost {
            name: known.name,
            ns: self.ns[at],
            source: self.sources[at],
            of: known.of,
        })
    }

    fn note(&mut self, cost: Cost, ns: f64, source: CostSource) {
        let at = cost as usize;
        self.ns[at] = ns;
        self.sources[at] = source;
    }

    /// A KiB of a page that a codec has to unpack.
    #[must_use]
    pub(crate) fn unpack_ns(&self, codec: BlockCodecId) -> f64 {
        self.of(unpacking(codec))
    }
}

/// What decompressing pages of a codec is called.
fn unpacking(codec: BlockCodecId) -> Cost {
    match codec {
        BlockCodecId::None => Cost::UnpackNone,
        BlockCodecId::Zle => Cost::UnpackZle,
        BlockCodecId::Lzjb => Cost::UnpackLzjb,
        BlockCodecId::Lz4 | BlockCodecId::Lz4Hc => Cost::UnpackLz4,
        BlockCodecId::Zlib => Cost::UnpackZlib,
        BlockCodecId::Zstd => Cost::UnpackZstd,
    }
}

fn is_cost(ns: f64) -> bool {
    (LEAST_NS..=MOST_NS).contains(&ns)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn costs_are_listed_in_their_order_under_names_of_their_own() {
        let mut names = std::collections::BTreeSet::new();
        for (at, known) in KNOWN.iter().enumerate() {
            assert_eq!(known.cost as usize, at, "{}", known.name);
            assert!(names.insert(known.name), "{}", known.name);
            assert!(is_cost(known.default_ns));
        }
    }

    #[test]
    fn a_cost_is_set_by_its_name_and_no_other_changes() {
        let mut costs = CostModel::default();
        costs.set("lookup", "77.5").unwrap();
        assert_eq!(costs.of(Cost::Lookup), 77.5);
        let others = CostModel::default();
        let changed = costs.shown().zip(others.shown());
        assert_eq!(changed.filter(|(one, other)| one != other).count(), 1);
        assert_eq!(costs.set("look", "1"), Err(CostError::Name("look".into())));
        for number in ["", "much", "NaN", "-1", "0", "inf", "1e13"] {
            assert!(costs.set("lookup", number).is_err(), "{number}");
        }
    }
}
