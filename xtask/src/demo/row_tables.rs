//! The second half of the demonstration: the same tables by rows, their sizes, and what it takes to find one row.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use super::report::{Column, bytes_text, print_table, ratio_text, seconds_text};
use super::shell::{Shell, sql_text};
use super::{file_bytes, stored_bytes};
use crate::tpch::{self, Format};

/// Statements of a measurement: enough that the start of the shell does not count.
const LOOKUPS: u64 = 1000;
/// Column tables are not made for this.
const COLUMN_LOOKUPS: u64 = 50;
/// Keys of orders are spread: eight are used of every 32.
const ORDERS_PER_SCALE: f64 = 6_000_000.0;

/// Loads row tables and measures.
pub(super) fn run(
    root: &Path,
    columns: &Shell,
    rows: &Shell,
    folder: &Path,
    scale: f64,
) -> Result<(), String> {
    println!("\nThe same tables by rows, with their primary keys:");
    rows.run_file(&root.join("tests/tpch/row_schema.sql"))?;
    load(columns, rows, folder)?;
    println!("\nOne row by its key, in one connection:");
    let last_key = ORDERS_PER_SCALE * scale;
    let (column_seconds, row_seconds) = (
        seconds_each(columns, COLUMN_LOOKUPS, last_key)?,
        seconds_each(rows, LOOKUPS, last_key)?,
    );
    let table = [
        vec![
            "SELECT from row table".to_owned(),
            seconds_text(row_seconds),
        ],
        vec![
            "SELECT from column table".to_owned(),
            seconds_text(column_seconds),
        ],
    ];
    print_table(&[Column::Text("statement"), Column::Number("time")], &table);
    Ok(())
}

fn load(columns: &Shell, rows: &Shell, folder: &Path) -> Result<(), String> {
    let mut lines = Vec::new();
    for table in tpch::TABLES {
        let path = tpch::table_path(folder, table, Format::Csv);
        let started = Instant::now();
        rows.run(&format!(
            "COPY {table} FROM {}",
            sql_text(&path.to_string_lossy())
        ))?;
        let seconds = started.elapsed().as_secs_f64();
        rows.run("CHECKPOINT")?;
        let (by_rows, by_columns) = (stored_bytes(rows, table)?, stored_bytes(columns, table)?);
        lines.push(vec![
            table.to_owned(),
            bytes_text(by_columns),
            bytes_text(by_rows),
            ratio_text(by_rows, by_columns),
            seconds_text(seconds),
        ]);
    }
    let (by_rows, by_columns) = (file_bytes(&rows.database)?, file_bytes(&columns.database)?);
    lines.push(vec![
        "file".to_owned(),
        bytes_text(by_columns),
        bytes_text(by_rows),
        ratio_text(by_rows, by_columns),
        String::new(),
    ]);
    let header = [
        Column::Text("table"),
        Column::Number("by columns"),
        Column::Number("by rows"),
        Column::Number("ratio"),
        Column::Number("load"),
    ];
    print_table(&header, &lines);
    Ok(())
}

/// Time of one lookup of an order, of many that are spread over the table.
fn seconds_each(shell: &Shell, count: u64, last_key: f64) -> Result<f64, String> {
    let script = shell.database.with_extension("lookups.sql");
    let mut seconds = [0.0; 2];
    for (times, seconds) in [1, count].into_iter().zip(&mut seconds) {
        let mut text = String::new();
        for number in 0..times {
            // Writing to a String cannot fail.
            let key = (last_key / count as f64 * number as f64) as u64;
            let _ = writeln!(text, "SELECT * FROM orders WHERE o_orderkey = {key};");
        }
        std::fs::write(&script, text).map_err(|error| format!("{}: {error}", script.display()))?;
        let started = Instant::now();
        shell.run_file(&script)?;
        *seconds = started.elapsed().as_secs_f64();
    }
    Ok((seconds[1] - seconds[0]).max(0.0) / (count - 1) as f64)
}
