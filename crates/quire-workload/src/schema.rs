//! The tables of a workload, without a dialect of SQL: each target writes the definitions in its own.

/// A table with its keys and indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadTable {
    pub name: String,
    pub columns: Vec<WorkloadColumn>,
    /// Names of the columns of the primary key, in its order; none for a table without one.
    pub primary_key: Vec<&'static str>,
    /// Made after the rows are loaded.
    pub indexes: Vec<WorkloadIndex>,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkloadColumn {
    pub name: &'static str,
    pub kind: ColumnType,
    pub nullable: bool,
}

impl WorkloadColumn {
    /// A column without NULLs.
    pub const fn new(name: &'static str, kind: ColumnType) -> Self {
        Self {
            name,
            kind,
            nullable: false,
        }
    }

    /// A column that may be NULL.
    pub const fn nullable(name: &'static str, kind: ColumnType) -> Self {
        Self {
            name,
            kind,
            nullable: true,
        }
    }
}

/// A type of SQL that all targets have, or have something in place of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    SmallInteger,
    Integer,
    BigInteger,
    Decimal {
        precision: u8,
        scale: u8,
    },
    Double,
    /// Padded with spaces where the target does so; workloads store texts of the whole length.
    Char(u32),
    Varchar(u32),
    Date,
    Timestamp,
}

/// An index of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadIndex {
    pub name: String,
    pub columns: Vec<&'static str>,
    pub unique: bool,
}
