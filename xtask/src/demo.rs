//! `cargo xtask demo`: what Quire does with TPC-H, or with a file of the reader's own, through the shell.

mod report;
mod row_tables;
mod shell;

use crate::tpch::{self, Format, Request};
use report::{Column, bytes_text, print_table, ratio_text, seconds_text};
use shell::{Shell, sql_name, sql_text};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Columns of the reader's own file that are summarised.
const SUMMARISED_COLUMNS_MAX: usize = 12;
/// The name that the reader's own file gets as a table.
const OWN_TABLE: &str = "data";

struct Options {
    scale: f64,
    data: Option<PathBuf>,
    with_columns: bool,
    work: PathBuf,
    quire: PathBuf,
}

/// Runs the demonstration with its command line.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let options = parse(arguments)?;
    fs::create_dir_all(&options.work)
        .map_err(|error| format!("{}: {error}", options.work.display()))?;
    match &options.data {
        Some(data) => own_file(&options, data),
        None => tpch_tables(root, &options),
    }
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let target = PathBuf::from(target);
    let mut options = Options {
        scale: 1.0,
        data: None,
        with_columns: false,
        work: target.join("demo"),
        quire: target.join("release").join("quire"),
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == "--columns" {
            options.with_columns = true;
            continue;
        }
        let value = arguments
            .next()
            .ok_or(format!("{argument} needs a value"))?;
        match argument.as_str() {
            "--scale" => options.scale = tpch::parse_positive(argument, value)?,
            "--data" => options.data = Some(PathBuf::from(value)),
            "--work" => options.work = PathBuf::from(value),
            "--quire" => options.quire = PathBuf::from(value),
            _ => return Err(format!("unknown option {argument}")),
        }
    }
    Ok(options)
}

/// A shell on a database file that does not exist yet.
fn fresh_shell(options: &Options, name: &str) -> Result<Shell, String> {
    let database = options.work.join(name);
    if database.exists() {
        fs::remove_file(&database).map_err(|error| format!("{}: {error}", database.display()))?;
    }
    Ok(Shell {
        program: options.quire.clone(),
        database,
    })
}

fn file_bytes(path: &Path) -> Result<u64, String> {
    fs::metadata(path)
        .map(|file| file.len())
        .map_err(|error| format!("{}: {error}", path.display()))
}

fn tpch_tables(root: &Path, options: &Options) -> Result<(), String> {
    let folder = options.work.join(format!("tpch-sf{}", options.scale));
    let request = Request {
        scale: options.scale,
        format: Format::Csv,
        output: folder.clone(),
        thread_count: 2,
    };
    if tpch::TABLES
        .iter()
        .all(|table| tpch::table_path(&folder, table, Format::Csv).exists())
    {
        println!(
            "TPC-H at scale {} lies in {}",
            options.scale,
            folder.display()
        );
    } else {
        println!(
            "Generating TPC-H at scale {} into {} …",
            options.scale,
            folder.display()
        );
        tpch::generate(&request)?;
    }
    let shell = fresh_shell(options, &format!("tpch-sf{}.quire", options.scale))?;
    let schema = root.join("tests/tpch/schema.sql");
    shell.run_file(&schema)?;
    load_tables(&shell, &folder)?;
    if options.with_columns {
        for table in tpch::TABLES {
            print_columns(&shell, table)?;
        }
    }
    run_queries(root, &shell)?;
    let rows = fresh_shell(options, &format!("tpch-rows-sf{}.quire", options.scale))?;
    row_tables::run(root, &shell, &rows, &folder, options.scale)
}

fn load_tables(shell: &Shell, folder: &Path) -> Result<(), String> {
    let mut rows = Vec::new();
    let (mut text_bytes, mut seconds) = (0, 0.0);
    for table in tpch::TABLES {
        let path = tpch::table_path(folder, table, Format::Csv);
        let started = Instant::now();
        shell.run(&format!(
            "COPY {table} FROM {}",
            sql_text(&path.to_string_lossy())
        ))?;
        let load_seconds = started.elapsed().as_secs_f64();
        let csv_bytes = file_bytes(&path)?;
        let row_count = shell.single_value(&format!("SELECT count(*) FROM {table}"))?;
        let table_bytes = stored_bytes(shell, table)?;
        text_bytes += csv_bytes;
        seconds += load_seconds;
        rows.push(vec![
            table.to_owned(),
            row_count,
            bytes_text(csv_bytes),
            bytes_text(table_bytes),
            ratio_text(csv_bytes, table_bytes),
            seconds_text(load_seconds),
        ]);
    }
    let database_bytes = file_bytes(&shell.database)?;
    rows.push(vec![
        "file".to_owned(),
        String::new(),
        bytes_text(text_bytes),
        bytes_text(database_bytes),
        ratio_text(text_bytes, database_bytes),
        seconds_text(seconds),
    ]);
    let columns = [
        Column::Text("table"),
        Column::Number("rows"),
        Column::Number("CSV"),
        Column::Number("Quire"),
        Column::Number("ratio"),
        Column::Number("load"),
    ];
    print_table(&columns, &rows);
    Ok(())
}

fn stored_bytes(shell: &Shell, table: &str) -> Result<u64, String> {
    let sql = format!(
        "SELECT sum(encoded_bytes) FROM quire_storage({})",
        sql_text(table)
    );
    let text = shell.single_value(&sql)?;
    text.parse()
        .map_err(|_| format!("quire_storage('{table}') says {text:?} bytes"))
}

/// Size and codecs of every column of a table.
fn print_columns(shell: &Shell, table: &str) -> Result<(), String> {
    println!("\n{table}, column by column:");
    shell.show(&format!(
        "SELECT column_name, string_agg(DISTINCT codec, ', ' ORDER BY codec) AS codecs, \
         sum(encoded_bytes) AS bytes, round(sum(raw_bytes) / (sum(encoded_bytes) * 1.0), 1) AS ratio_to_raw \
         FROM (SELECT column_name, codec || CASE WHEN reference NOT LIKE 'dictionary %' THEN ' after ' || reference ELSE '' END AS codec, \
         encoded_bytes, raw_bytes FROM quire_storage({})) AS chunks \
         GROUP BY column_name ORDER BY bytes DESC",
        sql_text(table)
    ))
}

fn run_queries(root: &Path, shell: &Shell) -> Result<(), String> {
    let start = Instant::now();
    shell.run("SELECT 1")?;
    let start_seconds = start.elapsed().as_secs_f64();
    let (mut rows, mut total) = (Vec::new(), 0.0);
    for number in 1..=22 {
        let path = root.join(format!("tests/tpch/queries/q{number:02}.sql"));
        let started = Instant::now();
        shell.run_file(&path)?;
        let seconds = started.elapsed().as_secs_f64();
        total += seconds;
        rows.push(vec![format!("Q{number}"), seconds_text(seconds)]);
    }
    rows.push(vec!["all".to_owned(), seconds_text(total)]);
    println!(
        "\nThe 22 queries, each in a shell of its own (starting one takes {}):",
        seconds_text(start_seconds)
    );
    print_table(&[Column::Text("query"), Column::Number("time")], &rows);
    println!(
        "\nAsk your own: {} {}",
        shell.program.display(),
        shell.database.display()
    );
    Ok(())
}

fn own_file(options: &Options, data: &Path) -> Result<(), String> {
    let source_bytes = file_bytes(data)?;
    let shell = fresh_shell(options, "own.quire")?;
    let started = Instant::now();
    shell.run(&format!(
        "CREATE TABLE {OWN_TABLE} AS SELECT * FROM {}",
        sql_text(&data.to_string_lossy())
    ))?;
    let load_seconds = started.elapsed().as_secs_f64();
    let (table_bytes, database_bytes) = (
        stored_bytes(&shell, OWN_TABLE)?,
        file_bytes(&shell.database)?,
    );
    print_table(
        &[
            Column::Text("what"),
            Column::Number("size"),
            Column::Number("ratio"),
        ],
        &[
            vec![
                data.display().to_string(),
                bytes_text(source_bytes),
                String::new(),
            ],
            vec![
                "compressed columns".to_owned(),
                bytes_text(table_bytes),
                ratio_text(source_bytes, table_bytes),
            ],
            vec![
                "database file".to_owned(),
                bytes_text(database_bytes),
                ratio_text(source_bytes, database_bytes),
            ],
        ],
    );
    println!("loaded in {}", seconds_text(load_seconds));
    print_columns(&shell, OWN_TABLE)?;
    summarise(&shell)?;
    println!(
        "\nAsk your own: {} {}",
        shell.program.display(),
        shell.database.display()
    );
    Ok(())
}

fn summarise(shell: &Shell) -> Result<(), String> {
    let names = shell.first_column(&format!(
        "SELECT column_name FROM information_schema.columns WHERE table_name = {} ORDER BY ordinal_position",
        sql_text(OWN_TABLE)
    ))?;
    let summaries: Vec<String> = names
        .iter()
        .take(SUMMARISED_COLUMNS_MAX)
        .map(|name| summary_query(name))
        .collect();
    let questions = [
        format!("SELECT count(*) AS rows FROM {OWN_TABLE}"),
        summaries.join(" UNION ALL "),
        frequent_values_query(names.first().map_or("", String::as_str)),
    ];
    for question in questions {
        println!();
        let started = Instant::now();
        shell.show(&question)?;
        println!("{}", seconds_text(started.elapsed().as_secs_f64()));
    }
    Ok(())
}

fn summary_query(column: &str) -> String {
    let (name, label) = (sql_name(column), sql_text(column));
    format!(
        "SELECT {label} AS column_name, count({name}) AS filled, count(DISTINCT {name}) AS distinct_values, \
         CAST(min({name}) AS TEXT) AS smallest, CAST(max({name}) AS TEXT) AS largest FROM {OWN_TABLE}"
    )
}

fn frequent_values_query(column: &str) -> String {
    let name = sql_name(column);
    format!(
        "SELECT {name}, count(*) AS rows FROM {OWN_TABLE} GROUP BY {name} ORDER BY rows DESC, {name} LIMIT 5"
    )
}
