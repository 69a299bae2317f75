//! What can go wrong with another database, said with file or server, table and column. No message has a password.

use std::io;
use std::sync::Arc;

use quire_files::CopyError;

use crate::definition::SourceTableName;

/// An error of opening or reading another database; its text says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The operating system refused something.
    #[error("cannot {action} \"{file}\": {source}")]
    Io {
        /// What was attempted: "open", "read".
        action: &'static str,
        /// The file as the user named it.
        file: Arc<str>,
        /// The system's answer.
        source: io::Error,
    },
    /// The location is neither a SQLite file nor an address of a PostgreSQL server.
    #[error(
        "\"{file}\" is no SQLite file: it does not begin with \"SQLite format 3\"; name a SQLite file, or postgresql://user@host/database"
    )]
    NotADatabase {
        /// The file as the user named it.
        file: Arc<str>,
    },
    /// An address that names no server; it is not repeated, because it may have a password.
    #[error("the address of the PostgreSQL server is wrong: {problem}")]
    Address {
        /// What is wrong and what to do.
        problem: String,
    },
    /// A SQLite file with wrong bytes.
    #[error(
        "\"{file}\" is damaged: {detail}; restore it from a copy, or save what can be read with sqlite3's .recover"
    )]
    Damaged {
        /// The file as the user named it.
        file: Arc<str>,
        /// What SQLite says.
        detail: String,
    },
    /// Another program has the SQLite file for itself.
    #[error(
        "\"{file}\" is locked by another program; try again when that has ended its transaction"
    )]
    Locked {
        /// The file as the user named it.
        file: Arc<str>,
    },
    /// A SQLite file that needs a program which may write it.
    #[error(
        "\"{file}\" was left in the middle of a transaction ({detail}); open it once with the program it belongs to, which repairs it"
    )]
    Unrecovered {
        /// The file as the user named it.
        file: Arc<str>,
        /// What SQLite says.
        detail: String,
    },
    /// The read transaction has ended, so that the rest would be of another moment.
    #[error(
        "the view of \"{file}\" ended with a statement that was cancelled or failed; open the file again"
    )]
    SnapshotLost {
        /// The file as the user named it.
        file: Arc<str>,
    },
    /// Anything else that SQLite refuses.
    #[error("\"{file}\": SQLite says: {detail}; check it with sqlite3")]
    Sqlite {
        /// The file as the user named it.
        file: Arc<str>,
        /// What SQLite says.
        detail: String,
    },
    /// No connection.
    #[error(
        "cannot connect to {server}: {detail}; check address, user and password, and whether the server runs"
    )]
    Connect {
        /// The server without the password.
        server: Arc<str>,
        /// What the server or the system says.
        detail: String,
    },
    /// The server wants an encrypted connection, or the address does.
    #[error(
        "{server} demands TLS ({detail}), which is not supported here; allow this client a plain connection in pg_hba.conf, or go through a tunnel, and use sslmode=disable"
    )]
    TlsRequired {
        /// The server without the password.
        server: Arc<str>,
        /// Who demands it.
        detail: String,
    },
    /// A server from before the catalogs that are read here.
    #[error("{server} is PostgreSQL {version}; version 12 or later is needed")]
    ServerTooOld {
        /// The server without the password.
        server: Arc<str>,
        /// Its version, as it says.
        version: String,
    },
    /// The server refused a query, or the connection broke.
    #[error("{server}: {detail}; check the server's log and the rights of this user")]
    Postgres {
        /// The server without the password.
        server: Arc<str>,
        /// What the server says.
        detail: String,
    },
    /// There is no such table, or none that this user may read.
    #[error("{database} has no table \"{table}\"; its tables are listed by tables()")]
    NoTable {
        /// File or server.
        database: Arc<str>,
        /// The name asked for.
        table: SourceTableName,
    },
    /// A projection beyond the last column.
    #[error(
        "table \"{table}\" has {column_count} columns; there is no column at position {index}, counted from 0"
    )]
    NoColumn {
        /// The table.
        table: SourceTableName,
        /// The position asked for, from 0.
        index: usize,
        /// Columns the table has.
        column_count: usize,
    },
    /// A value that no type here can hold.
    #[error("table \"{table}\", {row}, column \"{column}\": {problem}")]
    Value {
        /// The table.
        table: SourceTableName,
        /// Which row, such as `rowid 17` or `row 3 of what is read`.
        row: String,
        /// The column.
        column: String,
        /// What is wrong and what to do.
        problem: String,
    },
    /// The server sends what is no binary COPY.
    #[error(
        "{server} sends wrong bytes for table \"{table}\": {problem}; report it with the server's version"
    )]
    Protocol {
        /// The server without the password.
        server: Arc<str>,
        /// The table.
        table: SourceTableName,
        /// What is wrong.
        problem: String,
    },
    /// The statement was cancelled.
    #[error("canceled by the user")]
    Cancelled,
    /// A defect of Quire itself; the other database may be fine.
    #[error("internal error while reading {database}: {detail}; please report it")]
    Internal {
        /// File or server.
        database: Arc<str>,
        /// What happened.
        detail: String,
    },
}

impl SourceError {
    /// The SQLSTATE that PostgreSQL gives for the same failure.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "58P01",
                io::ErrorKind::PermissionDenied => "42501",
                _ => "58030",
            },
            Self::NotADatabase { .. } => "42809",
            Self::Address { .. } => "22023",
            Self::Damaged { .. } => "XX001",
            Self::Locked { .. } => "55P03",
            Self::Unrecovered { .. } | Self::SnapshotLost { .. } => "55000",
            Self::Sqlite { .. } | Self::Postgres { .. } => "HV000",
            Self::Connect { .. } | Self::TlsRequired { .. } => "08001",
            Self::ServerTooOld { .. } => "0A000",
            Self::NoTable { .. } => "42P01",
            Self::NoColumn { .. } => "42703",
            Self::Value { .. } => "22000",
            Self::Protocol { .. } => "08P01",
            Self::Cancelled => "57014",
            Self::Internal { .. } => "XX000",
        }
    }
}

/// Of a copy's errors only [`CopyError::Cancelled`] comes from a control.
pub(crate) fn stopped(_: CopyError) -> SourceError {
    SourceError::Cancelled
}
