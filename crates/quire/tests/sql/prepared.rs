//! Statements on a few rows: run at once, and by way of a plan.

use quire::arrow::datatypes::DataType;
use quire::{Connection, Database, Error, Outcome, Reply, Value};

use crate::support::{Random, database, error, rows, try_rows};

const TABLE: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER NOT NULL DEFAULT 7, \
                     n DECIMAL(8,2), name VARCHAR(8), at DATE, CHECK (k < 1000), UNIQUE (name))";

/// What a statement did: its rows, or its tag.
fn answer(connection: &mut Connection, sql: &str) -> Result<Vec<Vec<String>>, Error> {
    match connection.execute(sql)? {
        Outcome::Done(done) => Ok(vec![vec![done.tag]]),
        Outcome::Rows(_) => unreachable!("rows are read with try_rows"),
    }
}

fn is_query(sql: &str) -> bool {
    sql.starts_with("SELECT") || sql.contains("RETURNING")
}

/// Runs a statement; rows are sorted unless it orders them.
fn outcome(connection: &mut Connection, sql: &str) -> Result<Vec<Vec<String>>, String> {
    let result = if is_query(sql) {
        try_rows(connection, sql)
    } else {
        answer(connection, sql)
    };
    let mut rows = result.map_err(|error| error.to_string())?;
    if !sql.contains("ORDER BY") {
        rows.sort();
    }
    Ok(rows)
}

/// A database whose statements take the general path only.
fn general_database() -> (Database, Connection) {
    let database = database();
    let mut connection = database.connect();
    connection
        .execute("SET quire.statement_path = off")
        .unwrap();
    (database, connection)
}

fn change(random: &mut Random) -> String {
    let (id, other) = (random.below(40), random.below(40));
    let name = format!("n{}", random.below(30));
    match random.below(16) {
        0 | 1 => format!("INSERT INTO t (id, n, name) VALUES ({id}, {other}.25, '{name}')"),
        2 => format!(
            "INSERT INTO t VALUES ({id}, {other}, NULL, NULL, '2024-02-{:02}')",
            1 + other % 28
        ),
        3 => format!("INSERT INTO t (id, k) VALUES ({id}, {other}), ({other}, 2000)"),
        4 => format!("INSERT INTO t (id, name) VALUES ({id}, '{name}') ON CONFLICT DO NOTHING"),
        5 => format!(
            "INSERT INTO t (id, name) VALUES ({id}, '{name}'), ({other}, NULL) ON CONFLICT (id) DO NOTHING RETURNING id, k"
        ),
        6 => format!("INSERT INTO t (id, name) VALUES ({id}, 'far too long a name')"),
        7 => format!("UPDATE t SET k = k + 1, n = n * 2 WHERE id = {id}"),
        8 => format!("UPDATE t SET name = '{name}' WHERE id = {id} RETURNING id, name, k"),
        9 => format!("UPDATE t SET k = k * 100 WHERE id BETWEEN {id} AND {other}"),
        10 => format!("UPDATE t SET id = {other} WHERE id = {id}"),
        11 => format!("UPDATE t SET k = NULL WHERE id = {id}"),
        12 => format!("UPDATE t SET n = n / (id - {other}) WHERE name = '{name}'"),
        13 => {
            format!("UPDATE t SET at = DATE '2024-01-01' WHERE id IN ({id}, {other}, 3) AND k > 5")
        }
        14 => format!("DELETE FROM t WHERE id = {id}"),
        _ => format!(
            "DELETE FROM t WHERE id BETWEEN {id} AND {} AND k % 2 = 0 RETURNING id",
            id + 2
        ),
    }
}

fn query(random: &mut Random) -> String {
    let (id, other) = (random.below(40), random.below(40));
    match random.below(8) {
        0 => format!("SELECT * FROM t WHERE id = {id}"),
        1 => format!("SELECT name, k FROM t WHERE name = 'n{}'", other % 30),
        2 => format!("SELECT sum(k), count(*), max(n) FROM t WHERE id BETWEEN {id} AND {other}"),
        3 => format!("SELECT DISTINCT k FROM t WHERE id BETWEEN {id} AND 40 ORDER BY k"),
        4 => format!("SELECT id, n || '' FROM t WHERE id >= {id} ORDER BY id LIMIT 5 OFFSET 1"),
        5 => format!("SELECT id FROM t WHERE id < {id} ORDER BY id DESC LIMIT 3"),
        6 => {
            format!("SELECT id, at FROM t WHERE id IN ({id}, {other}, 5) AND (at IS NULL OR k > 3)")
        }
        _ => format!(
            "SELECT k FROM t WHERE name > 'n{}' AND name < 'n3' ORDER BY k, id",
            other % 10
        ),
    }
}

#[test]
fn both_paths_do_the_same() {
    for seed in 0..6 {
        let mut random = Random(seed);
        let direct_database = database();
        let mut direct = direct_database.connect();
        let (_general_database, mut general) = general_database();
        for connection in [&mut direct, &mut general] {
            connection.execute(TABLE).unwrap();
            connection
                .execute("CREATE INDEX t_k ON t (k, id DESC)")
                .unwrap();
        }
        let mut is_open = false;
        for _ in 0..120 {
            let sql = match random.below(12) {
                0 if !is_open => "BEGIN".to_owned(),
                0 => random.pick(&["COMMIT", "ROLLBACK"]).to_owned(),
                1..=7 => change(&mut random),
                _ => query(&mut random),
            };
            is_open = sql == "BEGIN" || (is_open && sql != "COMMIT" && sql != "ROLLBACK");
            let (left, right) = (outcome(&mut direct, &sql), outcome(&mut general, &sql));
            assert_eq!(left, right, "seed {seed}: {sql}");
        }
        let all = "SELECT * FROM t ORDER BY id";
        direct.execute("ROLLBACK").unwrap();
        general.execute("ROLLBACK").unwrap();
        assert_eq!(
            rows(&mut direct, all),
            rows(&mut general, all),
            "seed {seed}"
        );
    }
}

fn filled() -> (Database, Connection) {
    let database = database();
    let mut connection = database.connect();
    connection.execute(TABLE).unwrap();
    for id in 0..10 {
        let sql = format!(
            "INSERT INTO t VALUES ({id}, {}, {id}.5, 'n{id}', NULL)",
            id * id
        );
        connection.execute(&sql).unwrap();
    }
    (database, connection)
}

fn taken(mut reply: Reply) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    while let Some(row) = reply.next_row().unwrap() {
        rows.push(row.to_vec());
    }
    rows
}

fn integers(values: &[i64]) -> Vec<Value> {
    values.iter().copied().map(Value::Integer).collect()
}

#[test]
fn parameters_have_the_types_of_what_they_stand_beside() {
    let (_database, mut connection) = filled();
    let mut select = connection
        .prepare("SELECT id, k FROM t WHERE id BETWEEN ? AND ? AND n < ? ORDER BY id LIMIT ?")
        .unwrap();
    let types = [
        DataType::Int32,
        DataType::Int32,
        DataType::Decimal128(8, 2),
        DataType::Int64,
    ];
    assert_eq!(select.parameter_types(), types.map(Some));
    let values = [
        Value::Text("3".into()),
        Value::Integer(8),
        Value::Double(7.0),
        Value::Integer(2),
    ];
    let expected = vec![integers(&[3, 9]), integers(&[4, 16])];
    assert_eq!(taken(select.execute(&values).unwrap()), expected);
    let wrong = [
        Value::Text("x".into()),
        Value::Null,
        Value::Null,
        Value::Null,
    ];
    assert_eq!(select.execute(&wrong).unwrap_err().sqlstate(), "22P02");
    assert_eq!(select.execute(&[]).unwrap_err().sqlstate(), "08P01");
}

#[test]
fn what_is_not_covered_runs_with_the_same_parameters() {
    let (_database, mut connection) = filled();
    let sql = "SELECT a.id, $2 FROM t a JOIN t b ON a.k = b.id WHERE a.id > $1 ORDER BY a.id";
    let mut join = connection.prepare(sql).unwrap();
    let rows = taken(
        join.execute(&[Value::Integer(0), Value::Text("it's".into())])
            .unwrap(),
    );
    let expected = |id| vec![Value::Integer(id), Value::Text("it's".into())];
    assert_eq!(rows, [expected(1), expected(2), expected(3)]);
    connection
        .execute("SET quire.statement_path = off")
        .unwrap();
    let mut select = connection.prepare("SELECT k FROM t WHERE id = $1").unwrap();
    assert_eq!(
        taken(select.execute(&integers(&[4])).unwrap()),
        [integers(&[16])]
    );
}

#[test]
fn prepared_statements_follow_the_schema() {
    let (_database, mut connection) = filled();
    let mut select = connection.prepare("SELECT * FROM t WHERE id = $1").unwrap();
    assert_eq!(taken(select.execute(&integers(&[1])).unwrap())[0].len(), 5);
    connection
        .execute("ALTER TABLE t ADD COLUMN more INTEGER DEFAULT 3")
        .unwrap();
    let rows = taken(select.execute(&integers(&[1])).unwrap());
    assert_eq!((rows[0].len(), &rows[0][5]), (6, &Value::Integer(3)));
    connection.execute("DROP TABLE t").unwrap();
    assert_eq!(
        select.execute(&integers(&[1])).unwrap_err().sqlstate(),
        "42P01"
    );
    connection
        .execute("CREATE TABLE t (id TEXT PRIMARY KEY)")
        .unwrap();
    assert!(taken(select.execute(&integers(&[1])).unwrap()).is_empty());
}

#[test]
fn transactions_hold_prepared_statements_together() {
    let (database, mut connection) = filled();
    let mut update = connection
        .prepare("UPDATE t SET k = k + $1 WHERE id = $2")
        .unwrap();
    let mut begin = connection.prepare("BEGIN").unwrap();
    let mut commit = connection.prepare("COMMIT").unwrap();
    begin.execute(&[]).unwrap();
    assert_eq!(
        update.execute(&integers(&[5, 2])).unwrap().rows_affected(),
        1
    );
    let k = "SELECT k FROM t WHERE id = 2";
    assert_eq!(rows(&mut connection, k), [["9"]]);
    assert_eq!(rows(&mut database.connect(), k), [["4"]]);
    commit.execute(&[]).unwrap();
    assert_eq!(rows(&mut database.connect(), k), [["9"]]);
    begin.execute(&[]).unwrap();
    assert_eq!(
        update
            .execute(&integers(&[5000, 2]))
            .unwrap_err()
            .sqlstate(),
        "23514"
    );
    assert_eq!(
        update.execute(&integers(&[5, 2])).unwrap_err().sqlstate(),
        "25P02"
    );
    commit.execute(&[]).unwrap();
    assert_eq!(rows(&mut connection, k), [["9"]]);
}

#[test]
fn locked_rows_are_waited_for_refused_or_skipped() {
    let (database, mut first) = filled();
    let mut second = database.connect();
    first.execute("BEGIN").unwrap();
    assert_eq!(
        rows(&mut first, "SELECT k FROM t WHERE id = 3 FOR UPDATE"),
        [["9"]]
    );
    let nowait = "SELECT k FROM t WHERE id = 3 FOR UPDATE NOWAIT";
    assert_eq!(error(&mut second, nowait).sqlstate(), "55P03");
    let skip = "SELECT id FROM t WHERE id BETWEEN 2 AND 4 FOR UPDATE SKIP LOCKED";
    assert_eq!(rows(&mut second, skip), [["2"], ["4"]]);
    first.execute("UPDATE t SET k = 99 WHERE id = 3").unwrap();
    let waiting = std::thread::spawn(move || {
        let sql = "UPDATE t SET k = k + 1 WHERE id = 3 RETURNING k";
        rows(&mut second, sql)
    });
    std::thread::sleep(std::time::Duration::from_millis(50));
    first.execute("COMMIT").unwrap();
    // Whether it waited or came late, it counts on from what was committed.
    assert_eq!(waiting.join().unwrap(), [["100"]]);
}
