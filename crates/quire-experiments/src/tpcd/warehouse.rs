//! A database with the tables of TPC-D, on a machine.

use std::path::{Path, PathBuf};

use quire::arrow::array::RecordBatch;
use quire::arrow::util::display::{ArrayFormatter, FormatOptions};
use quire::{Connection, Database, DatabaseOptions, ExperimentOptions, Outcome};
use quire_store::OpenMode;

use crate::tpcd::data::{Files, TABLES};
use crate::tpcd::machine::{Device, Machine, Seconds, paper_costs};
use crate::tpcd::schema::{INDEXES, WarehouseStorage, definitions};
use crate::tpcd::{BenchmarkFailure, TpcdCompression};

/// Rows of an answer as CSV, with a line of names; NULL is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CsvAnswer {
    header: String,
    rows: Vec<String>,
}

impl CsvAnswer {
    /// Runs a statement.
    ///
    /// # Errors
    /// When it fails.
    pub(crate) fn of(connection: &mut Connection, sql: &str) -> Result<Self, BenchmarkFailure> {
        let mut answer = Self::default();
        if let Outcome::Rows(mut rows) = connection.execute(sql)? {
            let schema = rows.schema();
            let names = schema.fields().iter().map(|field| quoted(field.name()));
            answer.header = names.collect::<Vec<_>>().join(",");
            while let Some(batch) = rows.next_batch()? {
                answer.add(&batch)?;
            }
        }
        Ok(answer)
    }

    pub(crate) fn text(&self) -> String {
        let lines = std::iter::once(&self.header).chain(&self.rows);
        lines.flat_map(|line| [line.as_str(), "\n"]).collect()
    }

    /// Whether the rows are alike, in whichever order.
    pub(crate) fn has_rows_of(&self, other: &CsvAnswer) -> bool {
        let sorted = |answer: &CsvAnswer| {
            let mut rows = answer.rows.clone();
            rows.sort_unstable();
            rows
        };
        sorted(self) == sorted(other)
    }

    /// The fields of the first row, if none holds a comma.
    pub(crate) fn first_row(&self) -> Vec<&str> {
        self.rows
            .first()
            .map_or_else(Vec::new, |row| row.split(',').collect())
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<(), BenchmarkFailure> {
        let options = FormatOptions::default();
        let columns = batch.columns().iter();
        let columns: Vec<_> = columns
            .map(|column| ArrayFormatter::try_new(column, &options))
            .collect::<Result<_, _>>()?;
        for row in 0..batch.num_rows() {
            let fields = columns.iter().zip(batch.columns());
            let fields = fields.map(|(texts, column)| {
                if column.is_null(row) {
                    String::new()
                } else {
                    quoted(&texts.value(row).to_string())
                }
            });
            self.rows.push(fields.collect::<Vec<_>>().join(","));
        }
        Ok(())
    }
}

fn quoted(text: &str) -> String {
    if text.is_empty() || text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// How a database is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WarehouseOpening {
    pub(crate) device: Device,
    /// Seconds of the paper's processor for one of ours.
    pub(crate) slowness: f64,
    /// Bytes of the pool, and of what sorts and joins keep.
    pub(crate) memory_bytes: usize,
    /// How compressed tables are compressed.
    pub(crate) compression: TpcdCompression,
}

/// An open database.
pub(crate) struct Warehouse {
    machine: Machine,
    connection: Connection,
    path: PathBuf,
    compression: TpcdCompression,
}

impl Warehouse {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn open(path: &Path, opening: WarehouseOpening) -> Result<Self, BenchmarkFailure> {
        let machine = Machine::new(opening.device, opening.slowness);
        let options = DatabaseOptions {
            cache_bytes: opening.memory_bytes,
            memory_bytes: opening.memory_bytes,
            threads: 1,
            merges_in_background: false,
            ..DatabaseOptions::default()
        };
        let disk = machine.disk(path)?;
        let experiment = ExperimentOptions {
            temporary_disks: machine.temporary_disks(),
            finds_dictionaries: opening.compression == TpcdCompression::Auto,
        };
        let mode = OpenMode::ReadWrite;
        let database = Database::for_experiment(disk, mode, options, experiment)?;
        let mut warehouse = Self {
            machine,
            connection: database.connect(),
            path: path.to_owned(),
            compression: opening.compression,
        };
        warehouse.execute("SET engine = 'tuple'")?;
        if opening.device == Device::Paper {
            let costs = paper_costs(opening.slowness);
            warehouse.execute(&format!("SET costs = '{costs}'"))?;
        }
        Ok(warehouse)
    }

    /// Makes the tables, loads and samples them; how long the load of each took.
    ///
    /// # Errors
    /// When a statement fails.
    pub(crate) fn load(
        &mut self,
        files: &Files,
        storage: WarehouseStorage,
        has_keys: bool,
    ) -> Result<Vec<(&'static str, Seconds)>, BenchmarkFailure> {
        for definition in definitions(storage, self.compression, has_keys) {
            self.execute(&definition)?;
        }
        let mut times = Vec::new();
        for table in TABLES {
            times.push((table, self.copy(table, &files.path(table))?));
        }
        for index in INDEXES.iter().filter(|_| has_keys) {
            self.execute(index)?;
        }
        // Without samples a join of customers and suppliers of one nation looks no larger than the customers.
        self.execute("ANALYZE")?;
        self.execute("CHECKPOINT")?;
        Ok(times)
    }

    /// Loads a file into a table.
    ///
    /// # Errors
    /// When it cannot be loaded.
    pub(crate) fn copy(&mut self, table: &str, file: &Path) -> Result<Seconds, BenchmarkFailure> {
        let file = file.display().to_string().replace('\'', "''");
        Ok(self.measured(&format!("COPY {table} FROM '{file}'"))?.1)
    }

    /// Runs a query and hands its rows to `take`, in batches.
    ///
    /// # Errors
    /// When it fails.
    pub(crate) fn batches(
        &mut self,
        sql: &str,
        mut take: impl FnMut(&RecordBatch),
    ) -> Result<Seconds, BenchmarkFailure> {
        let start = self.machine.moment();
        if let Outcome::Rows(mut rows) = self.connection.execute(sql)? {
            while let Some(batch) = rows.next_batch()? {
                take(&batch);
            }
        }
        Ok(self.machine.seconds_since(start))
    }

    /// Runs a statement.
    ///
    /// # Errors
    /// When it fails.
    pub(crate) fn execute(&mut self, sql: &str) -> Result<CsvAnswer, BenchmarkFailure> {
        CsvAnswer::of(&mut self.connection, sql)
    }

    /// The same, and how long it took.
    ///
    /// # Errors
    /// When it fails.
    pub(crate) fn measured(&mut self, sql: &str) -> Result<(CsvAnswer, Seconds), BenchmarkFailure> {
        let start = self.machine.moment();
        let answer = self.execute(sql)?;
        Ok((answer, self.machine.seconds_since(start)))
    }

    /// Queries that were not run by the tuple engine.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub(crate) fn queries_left(&mut self) -> Result<u64, BenchmarkFailure> {
        self.number("SELECT left_to_batches FROM quire_engine()")
    }

    /// The bytes of a table's pages.
    ///
    /// # Errors
    /// When they cannot be asked for.
    pub(crate) fn stored_bytes(&mut self, table: &str) -> Result<u64, BenchmarkFailure> {
        self.number(&format!(
            "SELECT encoded_bytes FROM quire_tables() WHERE table_name = '{table}'"
        ))
    }

    /// Rows of a table.
    ///
    /// # Errors
    /// When they cannot be counted.
    pub(crate) fn row_count(&mut self, table: &str) -> Result<u64, BenchmarkFailure> {
        self.number(&format!("SELECT count(*) FROM {table}"))
    }

    fn number(&mut self, sql: &str) -> Result<u64, BenchmarkFailure> {
        let answer = self.execute(sql)?;
        let number = answer
            .first_row()
            .first()
            .and_then(|text| text.parse().ok());
        number.ok_or_else(|| BenchmarkFailure::NoNumber {
            sql: sql.to_owned(),
        })
    }

    /// Closes the file and looks whether all in it is as it must be.
    ///
    /// # Errors
    /// When it is not.
    pub(crate) fn close_and_check(self) -> Result<(), BenchmarkFailure> {
        let path = self.path.clone();
        drop(self);
        let report = Database::check(&path)?;
        match report.findings.first() {
            None => Ok(()),
            Some(finding) => Err(BenchmarkFailure::Damaged {
                file: path.display().to_string(),
                what: finding.what.clone(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_are_quoted() {
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"a\""), "\"say \"\"a\"\"\"");
        assert_eq!(quoted(""), "\"\"");
        assert_eq!(quoted("plain"), "plain");
    }
}
