//! What a prepared statement on one row costs the thread that runs it, all data in memory: nanoseconds of a processor (best of some rounds),
//! allocations and bytes allocated. `cargo run --release -p quire --example statement_cost [PART OF A NAME]`.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};
use quire::{Connection, Database, Prepared, Value};

const ROWS: i64 = 200_000;
const ROUNDS: usize = 9;
const STATEMENTS: u64 = 50_000;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let database = Database::in_memory()?;
    let mut connection = database.connect();
    connection.execute("SET synchronous = 'off'")?;
    connection.execute(
        "CREATE TABLE t (id BIGINT PRIMARY KEY, k INTEGER NOT NULL, c TEXT NOT NULL, pad TEXT NOT NULL)",
    )?;
    fill(&mut connection)?;
    println!("statement           ns CPU   allocations   bytes");
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut select = connection.prepare("SELECT k FROM t WHERE id = $1")?;
    show("select a number", |_| read(&mut select, random.below(ROWS)))?;
    let mut select = connection.prepare("SELECT k, c, pad FROM t WHERE id = $1")?;
    show("select a row", |_| read(&mut select, random.below(ROWS)))?;
    let mut update = connection.prepare("UPDATE t SET k = k + 1 WHERE id = $1")?;
    show("update", |_| {
        change(&mut update, &[Value::Integer(random.below(ROWS))])
    })?;
    let mut insert = connection.prepare("INSERT INTO t VALUES ($1, $2, $3, $4)")?;
    let [c, pad] = texts(0);
    let mut values = [Value::Null, Value::Integer(1), c, pad];
    show("insert", |number| {
        values[0] = Value::Integer(ROWS + number as i64);
        change(&mut insert, &values)
    })?;
    let mut delete = connection.prepare("DELETE FROM t WHERE id = $1")?;
    show("delete", |number| {
        change(&mut delete, &[Value::Integer(ROWS + number as i64)])
    })?;
    let threads = std::thread::available_parallelism()?.get();
    if is_wanted("threads") {
        let rate = select_rate(&database, threads)?;
        println!("select a number, {threads} threads: {rate:.0} a second");
    }
    Ok(())
}

/// Best of some rounds.
fn select_rate(database: &Database, threads: usize) -> Result<f64, Failure> {
    let mut best: f64 = 0.0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads)
                .map(|thread| {
                    let mut connection = database.connect();
                    scope.spawn(move || -> Result<(), Failure> {
                        let mut select = connection.prepare("SELECT k FROM t WHERE id = $1")?;
                        let mut random = Random(1 + thread as u64);
                        (0..4 * STATEMENTS).try_for_each(|_| read(&mut select, random.below(ROWS)))
                    })
                })
                .collect();
            let mut ended = running.into_iter().map(|thread| thread.join());
            ended.try_for_each(|ended| ended.unwrap_or_else(|_| Err("a thread has died".into())))
        })?;
        let count = 4 * STATEMENTS * threads as u64;
        best = best.max(count as f64 / start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn texts(id: i64) -> [Value; 2] {
    let mut random = Random(id as u64 | 1);
    let mut digits = |length| -> Value {
        let digits = (0..length).map(|_| char::from(b'0' + random.below(10) as u8));
        Value::Text(digits.collect::<String>().into())
    };
    [digits(119), digits(59)]
}

fn fill(connection: &mut Connection) -> Result<(), Failure> {
    connection.execute("BEGIN")?;
    let mut insert = connection.prepare("INSERT INTO t VALUES ($1, $2, $3, $4)")?;
    for id in 0..ROWS {
        let [c, pad] = texts(id);
        insert.execute(&[Value::Integer(id), Value::Integer(id as i32 as i64), c, pad])?;
    }
    connection.execute("COMMIT")?;
    Ok(())
}

fn read(select: &mut Prepared, id: i64) -> Result<(), Failure> {
    let mut reply = select.execute(&[Value::Integer(id)])?;
    if reply.advance()? && !reply.value(0).is_null() {
        Ok(())
    } else {
        Err("a row is missing".into())
    }
}

fn change(statement: &mut Prepared, values: &[Value]) -> Result<(), Failure> {
    match statement.execute(values)?.rows_affected() {
        1 => Ok(()),
        _ => Err("a row is missing".into()),
    }
}

/// How long the calling thread has run. (What `/proc` says of it is brought up to date once a tick only.)
fn thread_time() -> Result<Duration, Failure> {
    Ok(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?.into())
}

fn is_wanted(name: &str) -> bool {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    name.contains(&wanted)
}

fn show(name: &str, mut statement: impl FnMut(u64) -> Result<(), Failure>) -> Result<(), Failure> {
    if !is_wanted(name) {
        return Ok(());
    }
    let mut number = 0;
    let mut best_ns = f64::INFINITY;
    for _ in 0..ROUNDS {
        let before = thread_time()?;
        for _ in 0..STATEMENTS {
            statement(number)?;
            number += 1;
        }
        let round = thread_time()? - before;
        best_ns = best_ns.min(round.as_nanos() as f64 / STATEMENTS as f64);
    }
    let mut result = Ok(());
    let counted = allocation_counter::measure(|| {
        for _ in 0..STATEMENTS {
            result = statement(number);
            number += 1;
        }
    });
    result?;
    println!(
        "{name:<18} {best_ns:8.0} {:13.2} {:7.0}",
        counted.count_total as f64 / STATEMENTS as f64,
        counted.bytes_total as f64 / STATEMENTS as f64
    );
    Ok(())
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as i64
    }
}
