//! How do the rows of a CSV file get into a table of MariaDB?
//!
//! `LOAD DATA` does not tell an empty text from NULL, so the rows are sent in a format of its own that does: fields with tabs between them,
//! `\N` for NULL.

use super::super::csv::CsvRecords;
use crate::WorkloadTable;
use mysql::prelude::Queryable;
use mysql::{Conn, LocalInfileHandler};
use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;

/// Why rows were not loaded.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    #[error("{0}")]
    Server(#[from] mysql::Error),
    #[error("the file cannot be read: {0}")]
    File(#[from] io::Error),
    #[error("it changed values of {table} to load them, first: {warning}")]
    Changed { table: String, warning: String },
}

/// Loads the rows of a CSV file.
pub(super) fn load_csv(
    connection: &mut Conn,
    table: &WorkloadTable,
    csv: &Path,
) -> Result<(), LoadError> {
    let mut rows = CsvRecords::new(BufReader::new(File::open(csv)?));
    connection.set_local_infile_handler(Some(LocalInfileHandler::new(move |_, output| {
        while let Some(fields) = rows.next_row()? {
            write_row(&fields, output)?;
        }
        Ok(())
    })));
    connection.query_drop("BEGIN")?;
    // The session has no backslashes as escapes: these texts are one character each.
    connection.query_drop(format!(
        "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {} CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\t' ESCAPED BY '\\' LINES TERMINATED BY '\n'",
        table.name
    ))?;
    // A local file is loaded as far as it goes: what does not fit is a warning. The connection closes with the error, and rolls back.
    let warning: Option<(String, u16, String)> = connection.query_first("SHOW WARNINGS")?;
    match warning {
        None => Ok(connection.query_drop("COMMIT")?),
        Some((_, _, warning)) => Err(LoadError::Changed {
            table: table.name.clone(),
            warning,
        }),
    }
}

fn write_row(fields: &[Option<String>], output: &mut impl Write) -> io::Result<()> {
    let mut row = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            row.push(b'\t');
        }
        match field {
            None => row.extend_from_slice(b"\\N"),
            Some(text) => {
                for byte in text.bytes() {
                    if matches!(byte, b'\\' | b'\t' | b'\n') {
                        row.push(b'\\');
                    }
                    row.push(byte);
                }
            }
        }
    }
    row.push(b'\n');
    output.write_all(&row)
}

#[cfg(test)]
mod tests {
    use super::write_row;

    #[test]
    fn what_separates_is_escaped() {
        let mut row = Vec::new();
        write_row(
            &[Some("a\tb\\\n".into()), None, Some(String::new())],
            &mut row,
        )
        .unwrap();
        assert_eq!(row, b"a\\\tb\\\\\\\n\t\\N\t\n");
    }
}
