//! Row tables: rows in a tree, and what belongs to a row in others.
//!
//! | module | answers |
//! |---|---|
//! | `parts` | which trees a table has, and what their bytes mean |
//! | `table` | a table as one statement sees it: one row, ranges of rows |
//! | `scan` | rows of a range, of an index, or by their keys, as Arrow batches |
//! | `row_keys` | keys of rows that an index has |
//! | `visit` | rows of a range or of an index one by one, with a few of their columns |
//! | `writer` | one row comes, changes or goes, with its entries in indexes and its long values; keys stay unique |
//! | `references` | foreign keys, at the end of a statement |
//! | `rows_with_values` | which rows have given values in given columns |
//! | `column_samples` | what `ANALYZE` has stored of a table |
//! | `sizes` | what its trees take in the file |
//! | `fill` | many rows into an empty table: trees built from below |
//! | `build` | an index on rows that are there |
//! | `key_codes` | which strings have order-preserving codes in keys |
//! | `field_codes` | which columns have their values in codes: `dictionaries`, `string_tables` |
//!
//! Transactions are those of `mvcc`: bytes by tree. What the bytes mean is `row_table`'s.

mod build;
pub(crate) mod column_samples;
mod dictionaries;
mod field_codes;
mod fill;
mod key_codes;
mod long_values;
mod parts;
mod references;
mod row_keys;
mod rows_with_values;
mod scan;
mod sizes;
mod statistics;
mod string_tables;
mod table;
mod visit;
mod writer;

pub(crate) use build::build_index;
pub use field_codes::choose_field_codes;
pub(crate) use fill::FillContext;
pub use fill::RowFill;
pub(crate) use key_codes::{
    SAMPLE_BYTES_MAX, choose_key_codes, columns_without_keys, trained as trained_key_code,
};
pub(crate) use parts::{AllRowParts, row_layout};
pub use parts::{RowParts, TableIndex};
pub(crate) use references::{NewestState, NewestTables, ReferenceChecks, is_referenced};
pub use row_keys::RowKeys;
pub(crate) use scan::row_key_field;
pub use scan::{RowScan, RowScanOptions, ScanRowSource};
pub use sizes::TreeSize;
pub use statistics::{RowColumnStatistics, RowStatistics, distinct_drawn};
pub use table::RowTable;
pub(crate) use visit::{VisitRow, show};
pub(crate) use writer::RowMemory;
pub use writer::{Insertion, KeyConflict, TableRowWriter};
