//! Tables: what is in them, how rows get in, and how they come out again.
#![forbid(unsafe_code)]

mod append;
mod catalog;
mod check;
mod definition;
mod delta;
mod engine;
mod error;
mod pages;
mod predicate;
mod published;
mod rebase;
mod row_half;
pub mod row_table;
mod rows;
mod samples;
mod scalar_array;
mod scan;
mod sequences;
mod snapshot;
mod staging;
mod stagings;
mod sweep;
mod table;
mod transaction;
mod types;
mod zone_table;

pub use append::{AppendOptions, Appender};
pub use catalog::RowTableEntry;
pub use check::Finding;
pub use definition::{
    AddedColumn, CheckDefinition, ColumnDefinition, ColumnDictionary, ColumnSequence,
    ForeignKeyDefinition, GeneratedKind, IndexDefinition, KeyDefinition, KeyPart, PageTarget,
    ReferentialAction, RoleDefinition, SequenceDefinition, SequenceOwner, Storage, StorageFormat,
    TableDefinition, TableOptions, TreeRecord, TreeRole, ViewDefinition, default_name,
};
pub use delta::{MergeOptions, MergeReport};
pub use engine::{Engine, EngineOptions};
pub use error::{
    AppendError, DefinitionError, EngineError, MaintenanceError, ScanError, SequenceError,
    TransactionCommitError, TransactionError,
};
pub use predicate::Predicate;
pub use quire_codec::block::BlockCodecId;
pub use quire_format::{
    column_sample::ColumnSample,
    row_group::{ColumnChunk, Decision, GROUP_ROWS, ROW_GROUP_ROWS, RowGroup},
    segment::Beneath,
    zone::Zone,
};
pub use rows::{
    Conflict, Insertion, ReferenceChecks, RowColumnStatistics, RowFill, RowKeys, RowParts, RowScan,
    RowScanError, RowScanOptions, RowSource, RowStatistics, RowTable, RowWriteError, RowWriter,
    TableIndex, TreeSize, choose_dictionaries, distinct_drawn,
};
pub use scan::{Scan, ScanOptions, ScanReader, ScanStatistics};
pub use snapshot::Snapshot;
pub use table::{ColumnStatistics, ColumnTable};
pub use transaction::{Savepoint, Transaction, WriteTransaction};
pub use types::SqlType;
pub use zone_table::ZoneTable;
