//! `point-queries FOLDER [ROWS] [SECONDS] [ROUNDS]`: prepared statements on single rows, on Quire and on SQLite (WAL), in turn, in
//! one process. Prints, for each kind of statement and each number of threads, statements per second and CPU time per statement
//! of both, the median of the rounds, and their ratio.
//!
//! Every thread has a connection of its own. Both make each change durable before they say that it is done
//! (`synchronous = full`), except where it says `off`.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use quire::{Database, DatabaseOptions, Value};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const THREAD_COUNTS: [usize; 2] = [1, 8];
/// Keys that are inserted are above those that are there.
static NEXT_KEY: AtomicI64 = AtomicI64::new(1 << 30);

const CREATE: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER NOT NULL, c TEXT NOT NULL, pad TEXT NOT NULL)";
const KINDS: [(&str, &str); 4] = [
    ("select", "SELECT c FROM t WHERE id = $1"),
    (
        "range of 100",
        "SELECT c FROM t WHERE id BETWEEN $1 AND $1 + 99",
    ),
    ("update", "UPDATE t SET k = k + 1 WHERE id = $1"),
    (
        "insert",
        "INSERT INTO t (id, k, c, pad) VALUES ($1, 1, 'some text', 'more')",
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((folder, numbers)) = arguments.split_first() else {
        eprintln!("usage: point-queries FOLDER [ROWS] [SECONDS] [ROUNDS]");
        return ExitCode::FAILURE;
    };
    match run(Path::new(folder), numbers) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("point-queries: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(folder: &Path, numbers: &[String]) -> Result<(), Failure> {
    let number = |index: usize, default: f64| numbers.get(index).map_or(Ok(default), |n| n.parse());
    let rows = number(0, 100_000.0)? as i64;
    let duration = Duration::from_secs_f64(number(1, 1.0)?);
    let rounds = number(2, 5.0)? as usize;
    let quire = open_quire(&folder.join("points.quire"), rows)?;
    let sqlite = folder.join("points.sqlite");
    fill_sqlite(&sqlite, rows)?;
    println!(
        "{rows} rows, {rounds} rounds of {} s",
        duration.as_secs_f64()
    );
    for synchronous in ["full", "off"] {
        for (kind, sql) in KINDS {
            let is_reading = sql.starts_with("SELECT");
            if is_reading && synchronous == "off" {
                continue;
            }
            for threads in THREAD_COUNTS {
                let mut ours = Vec::new();
                let mut theirs = Vec::new();
                for _ in 0..rounds {
                    let work = |stop: &AtomicBool, seed| {
                        run_quire(&quire, sql, synchronous, rows, stop, seed)
                    };
                    ours.push(round(threads, duration, &work)?);
                    let work = |stop: &AtomicBool, seed| {
                        run_sqlite(&sqlite, sql, synchronous, rows, stop, seed)
                    };
                    theirs.push(round(threads, duration, &work)?);
                }
                let (ours, theirs) = (median(ours), median(theirs));
                println!(
                    "{kind:>12} {threads} threads {:>9}: quire {:>9.0}/s {:>7.2} us CPU; sqlite {:>9.0}/s {:>7.2} us CPU; ratio {:.2}",
                    if is_reading { "" } else { synchronous },
                    ours.per_second,
                    ours.cpu_us,
                    theirs.per_second,
                    theirs.cpu_us,
                    ours.per_second / theirs.per_second
                );
            }
        }
    }
    Ok(())
}

/// What a round measured.
#[derive(Clone, Copy)]
struct MeasuredRound {
    per_second: f64,
    cpu_us: f64,
}

fn median(mut measured: Vec<MeasuredRound>) -> MeasuredRound {
    measured.sort_by(|left, right| left.per_second.total_cmp(&right.per_second));
    measured[measured.len() / 2]
}

/// Statements and the CPU time of their thread.
type Worked = (u64, Duration);

fn round(
    threads: usize,
    duration: Duration,
    work: &(dyn Fn(&AtomicBool, u64) -> Result<Worked, Failure> + Sync),
) -> Result<MeasuredRound, Failure> {
    let stop = AtomicBool::new(false);
    let start = Instant::now();
    let worked = std::thread::scope(|scope| {
        let stop = &stop;
        let workers: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(move || work(stop, thread as u64)))
            .collect();
        std::thread::sleep(duration);
        stop.store(true, Ordering::Relaxed);
        let joined = workers.into_iter().map(|worker| match worker.join() {
            Ok(worked) => worked,
            Err(_) => Err(Failure::from("a thread panicked")),
        });
        joined.collect::<Result<Vec<Worked>, Failure>>()
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let count: u64 = worked.iter().map(|(count, _)| count).sum();
    let cpu: Duration = worked.iter().map(|(_, cpu)| *cpu).sum();
    Ok(MeasuredRound {
        per_second: count as f64 / seconds,
        cpu_us: cpu.as_secs_f64() * 1e6 / count.max(1) as f64,
    })
}

/// Time that this thread has been on a CPU.
fn thread_cpu() -> Result<Duration, Failure> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text.split_whitespace().next().unwrap_or("0").parse()?;
    Ok(Duration::from_nanos(nanoseconds))
}

/// Keys in a random order (xorshift, Marsaglia 2003).
struct RandomKeys {
    state: u64,
    rows: i64,
    is_inserting: bool,
}

impl RandomKeys {
    fn new(sql: &str, rows: i64, seed: u64) -> Self {
        Self {
            state: 0x9e37_79b9_7f4a_7c15 ^ (seed + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9),
            rows,
            is_inserting: sql.starts_with("INSERT"),
        }
    }

    fn next(&mut self) -> i64 {
        if self.is_inserting {
            return NEXT_KEY.fetch_add(1, Ordering::Relaxed);
        }
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state % self.rows.unsigned_abs()).cast_signed()
    }
}

fn text_of(id: i64, length: usize) -> String {
    let digits = format!("{:011}-", (id.wrapping_mul(2_654_435_761)) & 0xff_ffff_ffff);
    digits
        .repeat(length.div_ceil(digits.len()))
        .chars()
        .take(length)
        .collect()
}

fn open_quire(path: &PathBuf, rows: i64) -> Result<Database, Failure> {
    let _ = std::fs::remove_file(path);
    let options = DatabaseOptions {
        threads: 2,
        ..DatabaseOptions::default()
    };
    let database = Database::open_with(path, options)?;
    let mut connection = database.connect();
    connection.execute(CREATE)?;
    let mut insert = connection.prepare("INSERT INTO t VALUES ($1, $2, $3, $4)")?;
    connection.execute("BEGIN")?;
    for id in 0..rows {
        insert.execute(&[
            Value::Integer(id),
            Value::Integer(id % 1000),
            Value::Text(text_of(id, 120).into()),
            Value::Text(text_of(id, 60).into()),
        ])?;
    }
    connection.execute("COMMIT")?;
    connection.execute("CHECKPOINT")?;
    Ok(database)
}

fn fill_sqlite(path: &PathBuf, rows: i64) -> Result<(), Failure> {
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
    }
    let mut connection = connect_sqlite(path, "off")?;
    connection.execute(CREATE, [])?;
    let transaction = connection.transaction()?;
    {
        let mut insert = transaction.prepare("INSERT INTO t VALUES ($1, $2, $3, $4)")?;
        for id in 0..rows {
            insert.execute((id, id % 1000, text_of(id, 120), text_of(id, 60)))?;
        }
    }
    transaction.commit()?;
    Ok(())
}

fn connect_sqlite(path: &PathBuf, synchronous: &str) -> Result<rusqlite::Connection, Failure> {
    let connection = rusqlite::Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(30))?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "cache_size", -262_144)?;
    connection.pragma_update(None, "mmap_size", 1_i64 << 30)?;
    Ok(connection)
}

fn run_quire(
    database: &Database,
    sql: &str,
    synchronous: &str,
    rows: i64,
    stop: &AtomicBool,
    seed: u64,
) -> Result<Worked, Failure> {
    let mut connection = database.connect();
    connection.execute(&format!("SET synchronous = {synchronous}"))?;
    let mut statement = connection.prepare(sql)?;
    let mut keys = RandomKeys::new(sql, rows, seed);
    let (mut count, mut bytes) = (0, 0);
    let before = thread_cpu()?;
    while !stop.load(Ordering::Relaxed) {
        let mut reply = statement.execute(&[Value::Integer(keys.next())])?;
        while let Some(row) = reply.next_row()? {
            if let [Value::Text(text)] = row {
                bytes += text.len();
            }
        }
        count += 1;
    }
    std::hint::black_box(bytes);
    Ok((count, thread_cpu()?.saturating_sub(before)))
}

fn run_sqlite(
    path: &PathBuf,
    sql: &str,
    synchronous: &str,
    rows: i64,
    stop: &AtomicBool,
    seed: u64,
) -> Result<Worked, Failure> {
    let connection = connect_sqlite(path, synchronous)?;
    let mut statement = connection.prepare(sql)?;
    let mut keys = RandomKeys::new(sql, rows, seed);
    let (mut count, mut bytes) = (0, 0);
    let before = thread_cpu()?;
    while !stop.load(Ordering::Relaxed) {
        if statement.column_count() == 0 {
            statement.execute([keys.next()])?;
        } else {
            let mut found = statement.query([keys.next()])?;
            while let Some(row) = found.next()? {
                // As Quire does, each text is copied out.
                bytes += row.get::<_, String>(0)?.len();
            }
        }
        count += 1;
    }
    std::hint::black_box(bytes);
    Ok((count, thread_cpu()?.saturating_sub(before)))
}
