//! Makes one database, fills it, and says what it takes.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use quire::{Connection, Database, DatabaseOptions, DeviceSpecification};
use quire_device::{
    DataSetCodec, DeviceKind, DeviceOpenOptions, DeviceStatistics, OpenedDevice, open_device,
};
use quire_lab::{
    EVALUATED_NUMBERS, EVALUATED_STRING_BYTES, EvaluatedRow, EvaluatedRows, evaluated_keys,
};
use quire_store::{Disk, FileDisk, OpenMode, Volume};

use crate::dual_format_system::DualFormatSetup;
use crate::dual_format_system::contents::DatabaseContents;
use crate::dual_format_system::scenarios::{EvaluatedDatabase, EvaluatedStorage, KeyOrder};
use crate::tpcd::BenchmarkFailure;
use crate::tpcd::warehouse::CsvAnswer;

/// Rows that a transaction inserts, by one statement.
const TRANSACTION_ROWS: usize = 250;

/// The pool has room for one page of so many, and at least for [`POOL_BYTES_MIN`]: pages are written while rows come, as in the paper.
const POOL_SHARE: u64 = 4;
const POOL_BYTES_MIN: usize = 4 << 20;

/// Bytes of a row in the pool, roughly.
const ROW_BYTES: u64 = 256;

/// What statements may use besides.
const MEMORY_BYTES: usize = 64 << 20;

/// The rows of all databases, and their keys in the order in which they come.
pub(crate) struct EvaluatedContent {
    rows: Vec<EvaluatedRow>,
    random_keys: Vec<u64>,
    /// What [`sums`] answers.
    sums: String,
}

impl EvaluatedContent {
    pub(crate) fn new(setup: &DualFormatSetup) -> Self {
        let count = usize::try_from(setup.rows).unwrap_or(usize::MAX);
        let rows: Vec<EvaluatedRow> = EvaluatedRows::new(&setup.words).take(count).collect();
        let random_keys = evaluated_keys(setup.rows);
        let keys: u64 = random_keys.iter().sum();
        let mut sums = format!("{},{keys}", rows.len());
        for column in 0..EVALUATED_NUMBERS {
            let numbers = rows.iter().filter_map(|row| row.numbers.get(column));
            let sum: u64 = numbers.map(|number| u64::from(*number)).sum();
            let _ = write!(sums, ",{sum}");
        }
        Self {
            rows,
            random_keys,
            sums,
        }
    }

    /// Rows with their keys, as they come.
    pub(crate) fn rows(&self, order: KeyOrder) -> Vec<(u64, &EvaluatedRow)> {
        let rows = self.random_keys.iter().copied().zip(&self.rows);
        match order {
            KeyOrder::Random => rows.collect(),
            KeyOrder::Ascending => (0..).zip(&self.rows).collect(),
        }
    }

    fn pool_bytes(&self) -> usize {
        let bytes = self.rows.len() as u64 * ROW_BYTES / POOL_SHARE;
        usize::try_from(bytes).map_or(usize::MAX, |bytes| bytes.max(POOL_BYTES_MIN))
    }
}

/// What one database takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DatabaseSize {
    /// Its pages.
    pub(crate) contents: DatabaseContents,
    /// Bytes that the drive stores of it; in a file those in use.
    pub(crate) stored_bytes: u64,
    /// What the drive says of itself; none of a file.
    pub(crate) drive: Option<DeviceStatistics>,
    /// Length of the file, of the drive or of the database.
    pub(crate) file_bytes: u64,
}

impl DatabaseSize {
    /// The drive's ratio: bytes that the database uses on it by those that it stores. Blocks of zeros that the database has written count.
    pub(crate) fn ratio(&self) -> f64 {
        self.contents.used_bytes as f64 / self.stored_bytes.max(1) as f64
    }
}

/// Makes the database, and measures it once it is closed.
///
/// # Errors
/// When it cannot be written, or has other rows than were inserted.
pub(crate) fn measured(
    database: &EvaluatedDatabase,
    content: &EvaluatedContent,
    path: &Path,
) -> Result<DatabaseSize, BenchmarkFailure> {
    let device = match database.storage {
        EvaluatedStorage::Drive(codec) => Some(open_drive(path, DataSetCodec::of(codec))?),
        EvaluatedStorage::Images(_) => None,
    };
    let disk: Arc<dyn Disk> = match &device {
        Some(device) => Arc::clone(&device.disk),
        None => Arc::new(FileDisk::open_or_create(path).map_err(quire::Error::from)?),
    };
    fill(database, content, Arc::clone(&disk))?;
    // What the closing checkpoint has discarded is durable, and counted, after this.
    disk.sync()?;
    let contents = contents(&disk)?;
    let drive = device
        .as_ref()
        .and_then(|device| device.monitor.statistics());
    drop((device, disk));
    Ok(DatabaseSize {
        contents,
        stored_bytes: drive.map_or(contents.used_bytes, |drive| drive.stored_bytes()),
        drive,
        file_bytes: fs::metadata(path)?.len(),
    })
}

pub(crate) fn open_drive(
    path: &Path,
    codec: DataSetCodec,
) -> Result<OpenedDevice, BenchmarkFailure> {
    let specification = DeviceSpecification {
        kind: DeviceKind::Drive { codec },
        throttle: None,
    };
    Ok(open_device(
        path,
        &specification,
        DeviceOpenOptions::default(),
    )?)
}

fn contents(disk: &Arc<dyn Disk>) -> Result<DatabaseContents, BenchmarkFailure> {
    let volume = Volume::open(Arc::clone(disk), OpenMode::ReadOnly);
    let volume = volume.map_err(|error| BenchmarkFailure::Damaged {
        file: disk.name(),
        what: error.to_string(),
    })?;
    DatabaseContents::of(&volume)
}

/// Makes the table, inserts its rows, compares their sums, and closes the database.
fn fill(
    database: &EvaluatedDatabase,
    content: &EvaluatedContent,
    disk: Arc<dyn Disk>,
) -> Result<(), BenchmarkFailure> {
    let mut connection = connect(disk, content.pool_bytes())?;
    // Nobody needs the rows after a failure, and what they take is the same.
    connection.execute("SET synchronous_commit = off")?;
    connection.execute(&table_definition(database))?;
    for rows in content.rows(database.order).chunks(TRANSACTION_ROWS) {
        connection.execute(&insertion(rows))?;
    }
    connection.execute("CHECKPOINT")?;
    let answer = CsvAnswer::of(&mut connection, &sums())?;
    if answer.first_row().join(",") == content.sums {
        Ok(())
    } else {
        Err(BenchmarkFailure::Totals { table: "t" })
    }
}

/// Opens the database; it is closed with the connection.
pub(crate) fn connect(
    disk: Arc<dyn Disk>,
    pool_bytes: usize,
) -> Result<Connection, BenchmarkFailure> {
    let options = DatabaseOptions {
        cache_bytes: pool_bytes,
        memory_bytes: MEMORY_BYTES,
        threads: 1,
        merges_in_background: false,
        ..DatabaseOptions::default()
    };
    let database = Database::on_disk(disk, OpenMode::ReadWrite, options)?;
    Ok(database.connect())
}

fn number_columns() -> impl Iterator<Item = String> {
    (1..=EVALUATED_NUMBERS).map(|number| format!("c{number}"))
}

fn table_definition(database: &EvaluatedDatabase) -> String {
    let numbers = number_columns().map(|column| format!("{column} INTEGER NOT NULL, "));
    format!(
        "CREATE TABLE t (id BIGINT PRIMARY KEY, {}t CHAR({EVALUATED_STRING_BYTES}) NOT NULL) WITH ({})",
        numbers.collect::<String>(),
        database.table_options()
    )
}

fn sums() -> String {
    let sums = number_columns().map(|column| format!(", sum({column})"));
    format!(
        "SELECT count(*), sum(id){} FROM t",
        sums.collect::<String>()
    )
}

fn insertion(rows: &[(u64, &EvaluatedRow)]) -> String {
    let mut sql = "INSERT INTO t VALUES ".to_owned();
    for (place, (key, row)) in rows.iter().enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        let _ = write!(sql, "{comma}({key}");
        for number in row.numbers {
            let _ = write!(sql, ", {number}");
        }
        // Letters and blanks.
        let _ = write!(sql, ", '{}')", row.string);
    }
    sql
}
