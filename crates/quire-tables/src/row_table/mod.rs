//! The data plane of a row table: rows of SQL values, or Arrow batches, become keys and tuples, and back.
//!
//! Nothing here reads or writes a page. The tree that holds the entries, and who may see them, is the business of others:
//! they hand in the bytes of entries, and take such bytes to store.
//!
//! | item | answers |
//! |---|---|
//! | [`RowLayoutSpec`] | what a layout is made of: plain data, for the catalog |
//! | [`RowLayout`] | a row ↔ the key and the tuple of its entry; what of it is stored aside |
//! | [`BatchBuilder`] | many entries → an Arrow batch of the wanted columns |
//! | [`IndexLayout`] | a row → its entry in an index, and an entry → the key of its row |
//! | [`KeyRange`] | the bytes between which all keys with certain values lie |
//! | [`Value`] | one value that is owned: small, ordered and hashed as SQL compares |
//!
//! # Where a column is
//!
//! A column of the primary key is in the key alone, except floats, whose keys do not give back every bit: they are in the
//! tuple as well. Without primary key, the key is a number that the caller gives each row, 8 bytes, highest first.
//! Columns are known by their ordinal, which never changes. An added column is appended; a dropped one
//! keeps its place, and rows written afterwards have NULL there (or zeros, if it cannot be NULL).
//!
//! # Long values
//!
//! An entry takes at most a quarter of a page. Where a row would take more, its longest strings are cut out of the tuple into
//! entries of an *overflow tree*, chunk by chunk:
//!
//! | bytes of its key | what |
//! |---|---|
//! | … | key of the row |
//! | 2 | ordinal of the column, highest byte first |
//! | 4 | number of the chunk from 0, highest byte first |
//!
//! The value of such an entry is the chunk. The tuple has a mark instead of the string:
//!
//! | bytes | what |
//! |---|---|
//! | 2 | FF 01 |
//! | 4 | length of the string, little endian |
//! | 2 | length of all chunks but the last, little endian |
//!
//! No UTF-8 starts with FF, so text needs nothing else. A `BYTEA` that starts with FF is stored behind FF 00.
//! Columns of the key and those with a dictionary are never cut out, nor marked.

mod arrays;
mod batch;
mod decode;
mod encode;
mod error;
mod fit;
mod index;
mod layout;
mod overflow;
mod overflow_mark;
mod range;
mod recycle;
mod sink;
mod spec;
mod value;

pub use arrays::ColumnArray;
pub use batch::BatchBuilder;
pub use decode::{RowBuffer, StoredValue};
pub use encode::{EncodedRow, OverflowChunk};
pub use error::{RowError, RowLayoutError};
pub use fit::fit;
pub use index::{IndexColumn, IndexLayout};
pub use layout::{FieldDecoding, RowLayout};
pub use overflow_mark::OverflowMark;
pub use quire_format::tuple::TupleValue;
pub use range::{ColumnRange, KeyRange};
pub use recycle::recycled;
pub use sink::array_of_values;
pub(crate) use spec::tuple_type;
pub use spec::{FieldStorage, PrimaryKeyPart, RowColumn, RowLayoutSpec, RowSection};
pub use value::{Decimal, Value, compare_floats};
