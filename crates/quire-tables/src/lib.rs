//! Tables: what is in them, how rows get in, and how they come out again.
#![forbid(unsafe_code)]

mod append;
mod catalog;
mod check;
mod column_reads;
mod definition;
mod delta;
mod engine;
mod engine_options;
mod error;
mod key_order;
mod page_cluster;
mod pages;
mod predicate;
mod published;
mod rebase;
mod row_group_entry;
mod row_half;
pub mod row_table;
mod rows;
mod samples;
mod scalar_array;
mod scan;
mod scan_statistics;
mod sequences;
mod shared_dictionaries;
mod snapshot;
mod staging;
mod stagings;
mod sweep;
mod table;
mod transaction;
mod types;
mod unique_columns;
mod zone_table;

pub use append::AppendOptions;
pub use catalog::RowTableEntry;
pub use check::TableFinding;
pub use definition::{
    AddedColumn, BLOCK_BYTES_DEFAULT, CatalogKeyPart, CheckDefinition, ColumnDefinition,
    ColumnDictionary, ColumnSequence, ForeignKeyDefinition, GeneratedKind, IndexDefinition,
    KeyDefinition, PageTarget, ReferentialAction, RoleDefinition, SequenceDefinition,
    SequenceOwner, StorageFormat, TableDefinition, TableOptions, TableStorage, TreeRecord,
    TreeRole, ViewDefinition, default_name,
};
pub use engine::Engine;
pub use engine_options::EngineOptions;
pub use error::{
    DefinitionError, EngineError, MaintenanceError, RowScanError, RowWriteError, ScanError,
    SequenceError, TableAppendError, TransactionCommitError, TransactionError,
};
pub use predicate::{Predicate, StoredTest, StoredTests};
pub use quire_codec::block::BlockCodecId;
pub use quire_format::row_page::PageTransform;
pub use quire_format::{
    column_sample::ColumnSample,
    row_group::{ColumnChunk, Decision, GROUP_ROWS, ROW_GROUP_ROWS, RowGroup},
    segment::Beneath,
    table_root::SharedDictionaryPointer,
    zone::ZoneBounds,
};
pub use rows::{
    Insertion, KeyConflict, RowColumnStatistics, RowFill, RowKeys, RowParts, RowScan,
    RowScanOptions, RowStatistics, RowTable, ScanRowSource, TableIndex, TableRowWriter, TreeSize,
    choose_field_codes, distinct_drawn,
};
pub use samples::distinct_in_all;
pub use scan::{
    Decompression, READ_AHEAD_BYTES, RowChunk, ScanOptions, ScanReader, ScanStep, SelectedGroup,
    SharedTableScan,
};
pub use scan_statistics::{ScanStatistics, TableScanTotals};
pub use snapshot::Snapshot;
pub use table::{ColumnStatistics, ColumnTable, ColumnTableVersion};
pub use transaction::{
    Appender, MergeOptions, MergeReport, NewColumnOrigin, RowChanges, Savepoint, Transaction,
    WriteTransaction, can_copy_rows,
};
pub use types::SqlType;
pub use zone_table::ZoneTable;
