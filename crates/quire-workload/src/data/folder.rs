//! A folder with the rows of all tables of a workload.

use super::csv::CsvRowSink;
use super::error::WorkloadDataError;
use super::stamp::{
    DATA_FORMAT_VERSION, DataIdentity, DataStamp, GeneratedTable, STAMP_BYTES_MAX, StampRead,
};
use crate::{SqlValue, Workload, WorkloadRowSink};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

const STAMP: &str = "workload-data.json";
/// Rows between two calls of the progress, and two looks for a cancellation.
const ROWS_PER_PROGRESS: u64 = 16_384;
const BUFFER_BYTES: usize = 1 << 18;

/// A folder with a CSV file for each table of a workload. Its stamp names the workload, the scale, the seed and the version of the format.
#[derive(Clone, Debug)]
pub struct DataFolder {
    path: PathBuf,
    stamp: DataStamp,
}

/// How far the generation is.
#[derive(Clone, Copy, Debug)]
pub struct GenerationProgress<'a> {
    pub table: &'a str,
    /// The place of the table among the tables, from 0.
    pub table_index: usize,
    pub table_count: usize,
    /// Rows of this table so far.
    pub rows: u64,
    /// Bytes of this table so far.
    pub bytes: u64,
}

impl DataFolder {
    /// Generates the tables that the folder does not have yet. A folder that does not exist is made; one that has all of them is opened. `cancel`
    /// ends the generation between two rows; tables that are complete then are kept.
    ///
    /// # Errors
    /// When the folder has other data or other files, or a file cannot be written.
    pub fn generate(
        path: &Path,
        workload: &dyn Workload,
        scale: f64,
        seed: u64,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(GenerationProgress<'_>),
    ) -> Result<Self, WorkloadDataError> {
        let wanted = DataIdentity {
            workload: workload.name().to_owned(),
            scale,
            seed,
        };
        fs::create_dir_all(path).map_err(|error| at(path, error))?;
        let mut folder = Self::begin(path, wanted)?;
        let tables = workload.tables();
        for (table_index, table) in tables.iter().enumerate() {
            if folder.table(&table.name).is_some() {
                continue;
            }
            let place = GenerationProgress {
                table: &table.name,
                table_index,
                table_count: tables.len(),
                rows: 0,
                bytes: 0,
            };
            let made = folder.write_table(workload, place, cancel, progress)?;
            folder.stamp.tables.push(made);
            folder.write_stamp()?;
        }
        folder.check_lengths()?;
        Ok(folder)
    }

    /// A file that `Target::load` reads.
    ///
    /// # Errors
    /// When the folder has no such table.
    pub fn csv(&self, table: &str) -> Result<PathBuf, WorkloadDataError> {
        match self.table(table) {
            Some(_) => Ok(self.csv_path(table)),
            None => Err(WorkloadDataError::NoTable {
                table: table.to_owned(),
            }),
        }
    }

    /// The file of a table, if the folder has it.
    pub fn table(&self, name: &str) -> Option<&GeneratedTable> {
        self.tables().iter().find(|table| table.name == name)
    }

    /// All files, in the order in which they were generated.
    pub fn tables(&self) -> &[GeneratedTable] {
        &self.stamp.tables
    }

    /// Of which workload, scale and seed the data is.
    pub fn identity(&self) -> &DataIdentity {
        &self.stamp.identity
    }

    /// The folder of this stamp; a new one if the folder is empty.
    fn begin(path: &Path, wanted: DataIdentity) -> Result<Self, WorkloadDataError> {
        if let Some(stamp) = read_stamp(path)? {
            if stamp.identity != wanted {
                return Err(WorkloadDataError::OtherData {
                    folder: path.to_owned(),
                    found: stamp.identity,
                    wanted,
                });
            }
            return Ok(Self {
                path: path.to_owned(),
                stamp,
            });
        }
        let mut entries = fs::read_dir(path).map_err(|error| at(path, error))?;
        if entries.next().is_some() {
            return Err(WorkloadDataError::ForeignFiles {
                folder: path.to_owned(),
            });
        }
        let folder = Self {
            path: path.to_owned(),
            stamp: DataStamp {
                identity: wanted,
                tables: Vec::new(),
            },
        };
        folder.write_stamp()?;
        Ok(folder)
    }

    fn csv_path(&self, table: &str) -> PathBuf {
        self.path.join(format!("{table}.csv"))
    }

    fn write_table(
        &self,
        workload: &dyn Workload,
        place: GenerationProgress<'_>,
        cancel: &AtomicBool,
        progress: &mut dyn FnMut(GenerationProgress<'_>),
    ) -> Result<GeneratedTable, WorkloadDataError> {
        let path = self.csv_path(place.table);
        let file = File::create(&path).map_err(|error| at(&path, error))?;
        let mut sink = ObservedSink {
            csv: CsvRowSink::new(BufWriter::with_capacity(BUFFER_BYTES, file)),
            place,
            cancel,
            progress,
        };
        let generated = workload.generate(place.table, &mut sink);
        if cancel.load(Ordering::Relaxed) {
            return Err(WorkloadDataError::Cancelled);
        }
        generated.map_err(|error| at(&path, error))?;
        sink.tell();
        let (rows, bytes) = (sink.csv.rows(), sink.csv.bytes());
        let file = sink.csv.into_inner().into_inner();
        let file = file.map_err(|error| at(&path, error.into_error()))?;
        // The stamp says that the file is complete: it must not reach the disk before the file.
        file.sync_all().map_err(|error| at(&path, error))?;
        Ok(GeneratedTable {
            name: place.table.to_owned(),
            rows,
            bytes,
        })
    }

    /// The stamp is replaced as a whole.
    fn write_stamp(&self) -> Result<(), WorkloadDataError> {
        let (path, new) = (self.path.join(STAMP), self.path.join("workload-data.new"));
        fs::write(&new, self.stamp.to_text()).map_err(|error| at(&new, error))?;
        fs::rename(&new, &path).map_err(|error| at(&path, error))
    }

    fn check_lengths(&self) -> Result<(), WorkloadDataError> {
        for table in self.tables() {
            let path = self.csv_path(&table.name);
            let found = fs::metadata(&path).map_err(|error| at(&path, error))?.len();
            if found != table.bytes {
                return Err(WorkloadDataError::Length {
                    path,
                    found,
                    wanted: table.bytes,
                });
            }
        }
        Ok(())
    }
}

fn read_stamp(folder: &Path) -> Result<Option<DataStamp>, WorkloadDataError> {
    let path = folder.join(STAMP);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(at(&path, error)),
    };
    let mut text = String::new();
    let read = file.take(STAMP_BYTES_MAX).read_to_string(&mut text);
    read.map_err(|error| at(&path, error))?;
    match DataStamp::read(&text) {
        Ok(StampRead::Stamp(stamp)) => Ok(Some(stamp)),
        Ok(StampRead::Version(found)) => Err(WorkloadDataError::OtherVersion {
            folder: folder.to_owned(),
            found,
            wanted: DATA_FORMAT_VERSION,
        }),
        Err(reason) => Err(WorkloadDataError::Stamp { path, reason }),
    }
}

fn at(path: &Path, error: io::Error) -> WorkloadDataError {
    WorkloadDataError::File {
        path: path.to_owned(),
        error,
    }
}

/// Writes rows, tells the progress, and ends when it is cancelled.
struct ObservedSink<'a> {
    csv: CsvRowSink<BufWriter<File>>,
    place: GenerationProgress<'a>,
    cancel: &'a AtomicBool,
    progress: &'a mut dyn FnMut(GenerationProgress<'_>),
}

impl ObservedSink<'_> {
    fn tell(&mut self) {
        (self.progress)(GenerationProgress {
            rows: self.csv.rows(),
            bytes: self.csv.bytes(),
            ..self.place
        });
    }
}

impl WorkloadRowSink for ObservedSink<'_> {
    fn row(&mut self, values: &[SqlValue]) -> io::Result<()> {
        if self.csv.rows().is_multiple_of(ROWS_PER_PROGRESS) {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(io::Error::other("cancelled"));
            }
            self.tell();
        }
        self.csv.row(values)
    }
}
