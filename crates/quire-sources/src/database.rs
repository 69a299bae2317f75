//! A database of another program, whichever it is.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use quire_files::{CopyControl, CopyPhase, CopyProgress};

use crate::definition::{SourceTable, SourceTableDefinition, SourceTableName};
use crate::error::SourceError;
use crate::postgres::{PostgresDatabase, PostgresReader};
use crate::sample::SourceSample;
use crate::sqlite::{SqliteDatabase, SqliteReader};

/// A SQLite file or a database of a PostgreSQL server, as it was when it was opened.
///
/// Clones share the connection and the moment. All of it can be used from any thread, also from one that runs asynchronous tasks.
///
/// ```
/// use quire_files::CopyControl;
/// use quire_sources::SourceDatabase;
///
/// let folder = std::env::temp_dir().join(format!("quire-sources-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// let file = folder.join("app.sqlite");
/// rusqlite::Connection::open(&file)?.execute_batch(
///     "CREATE TABLE track (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price DECIMAL(6,2), released DATE);
///      INSERT INTO track VALUES (1, 'Koyunbaba', 0.99, '1985-06-01'), (2, 'Sunburst', 1.29, NULL);",
/// )?;
///
/// let database = SourceDatabase::open(&file.to_string_lossy())?;
/// let control = CopyControl::default();
/// let track = database.find("track")?;
/// let definition = database.definition(&track, &control)?;
/// assert_eq!(definition.primary_key, ["id"]);
/// assert_eq!(definition.columns[2].data_type, arrow::datatypes::DataType::Decimal128(6, 2));
///
/// let mut row_count = 0;
/// for batch in database.read(&track, Some(&[1, 2]), &control)? {
///     row_count += batch?.num_rows();
/// }
/// assert_eq!(row_count, 2);
/// # drop(database);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct SourceDatabase {
    kind: DatabaseKind,
}

#[derive(Debug, Clone)]
enum DatabaseKind {
    Sqlite(SqliteDatabase),
    Postgres(PostgresDatabase),
}

impl SourceDatabase {
    /// Whether `location` is the address of a server, or a file that begins as SQLite's do. A file that cannot be read is none.
    pub fn recognizes(location: &str) -> bool {
        crate::postgres::is_address(location) || crate::sqlite::is_sqlite_file(location)
    }

    /// Opens a SQLite file, whatever its suffix, or connects to `postgresql://user:password@host:port/database`.
    ///
    /// A SQLite file that is not in WAL mode cannot be written by others until the database is dropped; on a server nothing is locked
    /// but the tables' definitions, and old versions of rows are kept.
    ///
    /// # Errors
    /// A missing file, a file that is no SQLite file, damaged, or locked; a server that does not answer, refuses this user, demands TLS
    /// or is older than PostgreSQL 12.
    pub fn open(location: &str) -> Result<Self, SourceError> {
        let kind = if crate::postgres::is_address(location) {
            DatabaseKind::Postgres(PostgresDatabase::connect(location)?)
        } else {
            DatabaseKind::Sqlite(SqliteDatabase::open(location)?)
        };
        Ok(Self { kind })
    }

    /// The file as it was named, or the server's address without the password.
    pub fn name(&self) -> &str {
        match &self.kind {
            DatabaseKind::Sqlite(database) => database.name(),
            DatabaseKind::Postgres(database) => database.name(),
        }
    }

    /// All tables and views that can be read, by name; without those of the database itself.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn tables(&self) -> Result<Vec<SourceTable>, SourceError> {
        match &self.kind {
            DatabaseKind::Sqlite(database) => database.tables(),
            DatabaseKind::Postgres(database) => database.tables(),
        }
    }

    /// The table that a person means by `text`: one of that name, else `schema.name` of a server, else one that differs in upper and
    /// lower case alone.
    ///
    /// # Errors
    /// There is none. The database cannot be read.
    pub fn find(&self, text: &str) -> Result<SourceTableName, SourceError> {
        let tables = self.tables()?;
        let names = || tables.iter().map(|table| &table.name);
        let exact = names().find(|name| name.schema.is_none() && name.name == text);
        let dotted = exact.or_else(|| names().find(|name| name.to_string() == text));
        let public = text
            .strip_prefix("public.")
            .filter(|_| matches!(self.kind, DatabaseKind::Postgres(_)));
        let public = dotted.or_else(|| {
            names().find(|name| name.schema.is_none() && Some(name.name.as_str()) == public)
        });
        let similar =
            public.or_else(|| names().find(|name| name.to_string().eq_ignore_ascii_case(text)));
        let found = similar.cloned();
        found.ok_or_else(|| SourceError::NoTable {
            database: self.name().into(),
            table: SourceTableName::new(text),
        })
    }

    /// Columns, keys and indexes. In SQLite the first call for a table reads all of it once, to see which types its values have; on a
    /// server the same is done for columns of type `numeric` without precision. Later calls have the answer ready.
    ///
    /// # Errors
    /// There is no such table; the database cannot be read; cancellation.
    pub fn definition(
        &self,
        table: &SourceTableName,
        control: &CopyControl,
    ) -> Result<Arc<SourceTableDefinition>, SourceError> {
        match &self.kind {
            DatabaseKind::Sqlite(database) => database.definition(table, control),
            DatabaseKind::Postgres(database) => database.definition(table, control),
        }
    }

    /// Streams all rows, of SQLite in the order of the key; with a projection only these columns, in this order.
    ///
    /// # Errors
    /// As [`Self::definition`]; a projection beyond the last column.
    pub fn read(
        &self,
        table: &SourceTableName,
        projection: Option<&[usize]>,
        control: &CopyControl,
    ) -> Result<SourceReader, SourceError> {
        let rows = match &self.kind {
            DatabaseKind::Sqlite(database) => {
                SourceRows::Sqlite(database.read(table, projection, control)?)
            }
            DatabaseKind::Postgres(database) => {
                SourceRows::Postgres(database.read(table, projection, control)?)
            }
        };
        Ok(SourceReader {
            rows,
            control: control.clone(),
            progress: CopyProgress {
                phase: CopyPhase::Reading,
                row_count: 0,
                bytes_done: 0,
                bytes_total: None,
            },
        })
    }

    /// Reads `rows_per_piece` consecutive rows from each of `piece_count` evenly spread places. A piece ends early at 16 MiB of texts.
    ///
    /// # Errors
    /// As [`Self::definition`], and those of a reader.
    pub fn sample(
        &self,
        table: &SourceTableName,
        piece_count: usize,
        rows_per_piece: usize,
        control: &CopyControl,
    ) -> Result<SourceSample, SourceError> {
        match &self.kind {
            DatabaseKind::Sqlite(database) => {
                database.sample(table, piece_count, rows_per_piece, control)
            }
            DatabaseKind::Postgres(database) => {
                database.sample(table, piece_count, rows_per_piece, control)
            }
        }
    }
}

/// Record batches of a table.
///
/// Memory: a batch of at most 8,192 rows, and of texts and byte strings about 16 MiB or one row; of a server, three more that wait.
#[derive(Debug)]
pub struct SourceReader {
    rows: SourceRows,
    control: CopyControl,
    progress: CopyProgress,
}

#[derive(Debug)]
enum SourceRows {
    Sqlite(SqliteReader),
    Postgres(PostgresReader),
}

impl SourceReader {
    /// Columns in the types of the batches.
    pub fn schema(&self) -> SchemaRef {
        match &self.rows {
            SourceRows::Sqlite(rows) => rows.schema(),
            SourceRows::Postgres(rows) => rows.schema(),
        }
    }

    /// The next batch of at most 8,192 rows; `None` at the end and after an error.
    ///
    /// # Errors
    /// A value that no type here can hold, damage, a broken connection, cancellation.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, SourceError> {
        let batch = match &mut self.rows {
            SourceRows::Sqlite(rows) => rows.next_batch()?,
            SourceRows::Postgres(rows) => rows.next_batch()?,
        };
        if let Some(batch) = &batch {
            self.progress.row_count += batch.num_rows() as u64;
            self.progress.bytes_done += batch.get_array_memory_size() as u64;
            self.control.report(self.progress);
        }
        Ok(batch)
    }
}

impl Iterator for SourceReader {
    type Item = Result<RecordBatch, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}
