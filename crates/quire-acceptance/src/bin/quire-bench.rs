//! `quire-bench DATABASE QUERIES RUNS`: the files of a folder, asked of a Quire database and of DataFusion over the same
//! rows in Arrow arrays in memory, in turn, in one process. Prints `query engine seconds …` lines.
//!
//! DataFusion gets the arrays as Quire decodes them (views for text, 64-bit keys, exact decimals), in batches of 8,192
//! rows dealt to as many partitions as there are threads, and the settings under which both plan alike.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use datafusion::arrow::array::RecordBatch;
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};
use quire::{Connection, Database, DatabaseOptions, Outcome};
use tokio::runtime::Runtime;

const THREADS: usize = 2;

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [database, queries, runs] = arguments.as_slice() else {
        eprintln!("usage: quire-bench DATABASE QUERIES RUNS");
        return ExitCode::FAILURE;
    };
    match compare(Path::new(database), Path::new(queries), runs) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quire-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(database: &Path, queries: &Path, runs: &str) -> Result<(), Failure> {
    let runs: usize = runs.parse()?;
    let options = DatabaseOptions {
        read_only: true,
        threads: THREADS,
        ..DatabaseOptions::default()
    };
    let mut quire = Database::open_with(database, options)?.connect();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()?;
    let datafusion = copy_into_datafusion(&mut quire)?;
    for path in query_files(queries)? {
        let sql = std::fs::read_to_string(&path)?;
        let name = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default();
        let rows = (
            count_quire(&mut quire, &sql)?,
            count_datafusion(&runtime, &datafusion, &sql)?,
        );
        if rows.0 != rows.1 {
            return Err(
                format!("{name}: Quire gives {} rows, DataFusion {}", rows.0, rows.1).into(),
            );
        }
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..runs {
            ours.push(seconds(|| count_quire(&mut quire, &sql))?);
            theirs.push(seconds(|| count_datafusion(&runtime, &datafusion, &sql))?);
        }
        println!(
            "{name} quire{}",
            ours.iter()
                .map(|time| format!(" {time:.6}"))
                .collect::<String>()
        );
        println!(
            "{name} datafusion{}",
            theirs
                .iter()
                .map(|time| format!(" {time:.6}"))
                .collect::<String>()
        );
    }
    Ok(())
}

fn seconds(work: impl FnOnce() -> Result<usize, Failure>) -> Result<f64, Failure> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed().as_secs_f64())
}

fn query_files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "sql") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn count_quire(connection: &mut Connection, sql: &str) -> Result<usize, Failure> {
    Ok(read_all(connection, sql)?
        .iter()
        .map(RecordBatch::num_rows)
        .sum())
}

fn read_all(connection: &mut Connection, sql: &str) -> Result<Vec<RecordBatch>, Failure> {
    let mut batches = Vec::new();
    if let Outcome::Rows(mut rows) = connection.execute(sql)? {
        while let Some(batch) = rows.next_batch()? {
            batches.push(batch);
        }
    }
    Ok(batches)
}

fn count_datafusion(
    runtime: &Runtime,
    context: &SessionContext,
    sql: &str,
) -> Result<usize, Failure> {
    let batches = runtime.block_on(async { context.sql(sql).await?.collect().await })?;
    Ok(batches.iter().map(RecordBatch::num_rows).sum())
}

/// Every table of the database as a table of Arrow arrays.
fn copy_into_datafusion(connection: &mut Connection) -> Result<SessionContext, Failure> {
    let mut config = SessionConfig::new().with_target_partitions(THREADS);
    config.options_mut().sql_parser.parse_float_as_decimal = true;
    let context = SessionContext::new_with_config(config);
    for table in connection.tables()? {
        let batches = read_all(connection, &format!("SELECT * FROM \"{}\"", table.name))?;
        let Some(schema) = batches.first().map(RecordBatch::schema) else {
            continue;
        };
        let mut partitions = vec![Vec::new(); THREADS];
        for (at, batch) in batches.into_iter().enumerate() {
            partitions[at % THREADS].push(batch);
        }
        context.register_table(
            table.name.as_str(),
            Arc::new(MemTable::try_new(schema, partitions)?),
        )?;
    }
    Ok(context)
}
