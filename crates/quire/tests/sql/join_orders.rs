//! The order of joins must not show in an answer. It follows from what the executor's work costs, and so from compression.

use quire::{Connection, Database, DatabaseOptions};

use crate::support::{Folder, Random, connected, database, rows, sorted_rows, value};

const TABLES: usize = 8;

/// Tables `t0` to `t7` of growing size, whose columns a, b, c share a small set of values, so that
/// any two can be joined and most joins have matches.
fn tables() -> Database {
    let database = database();
    let mut connection = database.connect();
    for table in 0..TABLES {
        let size = 2 + table * table;
        rows(
            &mut connection,
            &format!("CREATE TABLE t{table} (a INTEGER, b INTEGER, c BIGINT, s TEXT)"),
        );
        rows(
            &mut connection,
            &format!(
                "INSERT INTO t{table} SELECT CASE WHEN i % 7 = 3 THEN NULL ELSE i % {} END, \
                 i % 5, i % 11, 's' || (i % 4) FROM generate_series(1, {size}) AS g(i)",
                3 + table
            ),
        );
    }
    database
}

fn connect(database: &Database, join_order: &str) -> Connection {
    let mut connection = database.connect();
    rows(
        &mut connection,
        &format!("SET quire.join_order = {join_order}"),
    );
    connection
}

/// A query over three to six tables: a spanning tree of equalities, perhaps a cycle, other
/// conditions, subqueries that become semi and anti joins, and sometimes an outer join inside.
fn random_query(random: &mut Random) -> String {
    let count = 3 + random.below(4);
    let tables: Vec<usize> = (0..count).map(|_| random.below(TABLES)).collect();
    let mut from: Vec<String> = Vec::new();
    let mut conditions: Vec<String> = Vec::new();
    for (alias, table) in tables.iter().enumerate() {
        if alias > 0 && random.below(6) == 0 {
            let before = random.below(alias);
            let last = from.pop().unwrap();
            from.push(format!(
                "{last} {} JOIN t{table} x{alias} ON x{}.a = x{alias}.a",
                random.pick(&["LEFT", "INNER"]),
                alias - 1
            ));
            let _ = before;
        } else {
            from.push(format!("t{table} x{alias}"));
            if alias > 0 {
                let other = random.below(alias);
                let (left, right) = (column(random), column(random));
                conditions.push(format!("x{other}.{left} = x{alias}.{right}"));
            }
        }
    }
    for _ in 0..random.below(4) {
        conditions.push(extra_condition(random, count));
    }
    let columns: Vec<String> = (0..count).map(|alias| format!("sum(x{alias}.c)")).collect();
    let filter = if conditions.is_empty() {
        String::new()
    } else {
        format!(" WHERE {}", conditions.join(" AND "))
    };
    format!(
        "SELECT count(*), {} FROM {}{filter}",
        columns.join(", "),
        from.join(", ")
    )
}

fn column(random: &mut Random) -> &'static str {
    random.pick(&["a", "b", "c"])
}

fn extra_condition(random: &mut Random, count: usize) -> String {
    let (x, y) = (random.below(count), random.below(count));
    let (left, right) = (column(random), column(random));
    let (table, value) = (random.below(TABLES), random.below(6));
    match random.below(8) {
        0 => format!("x{x}.{left} = x{y}.{right}"),
        1 => format!("x{x}.{left} < x{y}.{right}"),
        2 => format!("x{x}.{left} = {value}"),
        3 => format!("x{x}.s = 's{}'", value % 4),
        4 => format!("(x{x}.{left} = {value} OR x{y}.{right} = {value})"),
        5 => format!("x{x}.{left} IN (SELECT {right} FROM t{table} WHERE b <> {value})"),
        6 => format!("EXISTS (SELECT 1 FROM t{table} e WHERE e.{right} = x{x}.{left})"),
        _ => format!(
            "NOT EXISTS (SELECT 1 FROM t{table} e WHERE e.{right} = x{x}.{left} AND e.c > {value})"
        ),
    }
}

#[test]
fn answers_do_not_depend_on_the_order_of_joins() {
    let database = tables();
    let mut written = connect(&database, "off");
    let mut chosen = connect(&database, "on");
    let mut random = Random(1);
    let mut matched = 0;
    for case in 0..150 {
        let sql = random_query(&mut random);
        let expected = sorted_rows(&mut written, &sql);
        assert_eq!(
            sorted_rows(&mut chosen, &sql),
            expected,
            "case {case}: {sql}"
        );
        matched += usize::from(expected[0][0] != "0");
    }
    assert!(
        matched > 50,
        "only {matched} queries return rows: they test nothing"
    );
}

#[test]
fn columns_keep_their_order_and_names() {
    let database = tables();
    let mut connection = connect(&database, "on");
    let sql = "SELECT * FROM t7 x, t1 y, t0 z WHERE x.b = y.b AND y.c = z.c ORDER BY 1, 2, 3, 4";
    let chosen = rows(&mut connection, sql);
    let mut connection = connect(&database, "off");
    assert_eq!(rows(&mut connection, sql), chosen);
    assert_eq!(chosen[0].len(), 12);
}

/// More tables than are tried exhaustively.
#[test]
fn wide_joins_are_ordered_too() {
    let database = tables();
    let names: Vec<String> = (0..14)
        .map(|alias| format!("t{} x{alias}", alias % 3))
        .collect();
    let joins: Vec<String> = (1..14).map(|alias| format!("x0.b = x{alias}.b")).collect();
    let sql = format!(
        "SELECT count(*), max(x13.c) FROM {} WHERE x0.b = 1 AND {}",
        names.join(", "),
        joins.join(" AND ")
    );
    let expected = rows(&mut connect(&database, "off"), &sql);
    assert_eq!(rows(&mut connect(&database, "on"), &sql), expected);
}

/// Two columns of one table that must both equal a third: the equality between them must not get
/// lost when one of the three is implied by the others.
#[test]
fn equalities_within_a_table_are_kept() {
    let database = tables();
    let sql = "SELECT count(*) FROM t5 x, t6 y, t7 z WHERE x.a = y.b AND x.b = y.b AND y.b = z.b";
    let expected = rows(&mut connect(&database, "off"), sql);
    assert_eq!(rows(&mut connect(&database, "on"), sql), expected);
    let by_hand = "SELECT count(*) FROM (SELECT * FROM t5 WHERE a = b) x JOIN t6 y ON x.b = y.b \
                   JOIN t7 z ON y.b = z.b";
    assert_eq!(rows(&mut connect(&database, "off"), by_hand), expected);
}

/// 40,000 items of 400 makers, in a table that is compressed and in one that is not, and the 8,000 sales of some of them.
fn create_items(connection: &mut Connection) {
    let counts: Vec<String> = (0..10).map(|at| format!("n{at} BIGINT NOT NULL")).collect();
    let values: Vec<String> = (0..10).map(|at| format!("i % {}", 7 + at)).collect();
    for (table, compression) in [("packed", "auto"), ("plain", "none")] {
        rows(
            connection,
            &format!(
                "CREATE TABLE {table} (id BIGINT PRIMARY KEY, maker BIGINT NOT NULL, {}) USING row \
                 WITH (page_size = 4096, page_codec = none, storage_format = none, compression = {compression})",
                counts.join(", ")
            ),
        );
        rows(
            connection,
            &format!(
                "INSERT INTO {table} SELECT i, i % 400, {} FROM generate_series(0, 39999) AS g(i)",
                values.join(", ")
            ),
        );
    }
    for sql in [
        "CREATE TABLE sale (id BIGINT PRIMARY KEY, item BIGINT NOT NULL) USING row",
        "CREATE TABLE maker (id BIGINT PRIMARY KEY, kind BIGINT NOT NULL) USING row",
        "INSERT INTO sale SELECT i, i * 7919 % 40000 FROM generate_series(1, 8000) AS g(i)",
        "INSERT INTO maker SELECT i, i % 40 FROM generate_series(0, 399) AS g(i)",
        "ANALYZE",
        "CHECKPOINT",
    ] {
        rows(connection, sql);
    }
}

/// How many joins stand above the scan of a table: inputs are below what reads them, and further in.
fn joins_above(plan: &[String], table: &str) -> usize {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let scan = format!("scan of {table}");
    let mut lines = plan.iter().rev();
    let line = lines.find(|line| line.trim_start().starts_with(&scan));
    let line = line.unwrap_or_else(|| panic!("{scan} in\n{}", plan.join("\n")));
    let (mut below, mut joins) = (indent(line), 0);
    for line in lines {
        if indent(line) < below {
            below = indent(line);
            joins += usize::from(line.trim_start().starts_with("join "));
        }
    }
    joins
}

/// The example of paper 1, §4.2: which method and which order are best follows from compression. A row takes 3 µs, as on a slow processor, so that reading all items
/// takes 120 ms; sales take 24 ms, makers 1 ms, keeping and finding rows in memory 2 or 3.
///
/// The pool takes one and a half times the compressed items. They are looked up for the 8,000 sales: each of their pages, 300 to 600, is
/// read once for 80 µs, 24 to 48 ms, and each look-up takes 3.6 µs besides, 29 ms: with the sales about 90 ms. Beginning with makers and items takes 150.
///
/// The plain items have at least half as many pages again as the pool. Once it is full, a third of the look-ups or more read a page: 8,000 take at least 200 ms,
/// with the sales 224. Reading all items takes 150 ms in any order; that of makers and items is tried first.
#[test]
fn compression_decides_the_methods_and_the_order_of_joins() {
    let folder = Folder::new();
    let path = folder.path("items.quire");
    let database = Database::open(&path).unwrap();
    let mut connection = database.connect();
    create_items(&mut connection);
    let mut bytes_of = |table: &str| -> usize {
        let sql = format!("SELECT raw_bytes FROM quire_tables() WHERE table_name = '{table}'");
        value(&mut connection, &sql).parse().unwrap()
    };
    let (packed_bytes, plain_bytes) = (bytes_of("packed"), bytes_of("plain"));
    drop((connection, database));
    let cache_bytes = packed_bytes / 2 * 3;
    assert!(
        plain_bytes > cache_bytes / 2 * 3,
        "{packed_bytes} {plain_bytes}"
    );
    let options = DatabaseOptions {
        cache_bytes,
        threads: 2,
        ..DatabaseOptions::default()
    };
    let database = Database::open_with(&path, options).unwrap();
    let settings = [
        "SET quire.statement_path = off",
        "SET engine = 'tuple'",
        "SET costs = 'row = 3000'",
    ];
    let mut connection = connected(&database, &settings);
    let query = |items: &str| {
        format!(
            "SELECT s.id, i.n3, z.kind FROM sale AS s JOIN {items} AS i ON s.item = i.id \
             JOIN maker AS z ON i.maker = z.id WHERE z.kind = 3"
        )
    };
    let mut plan_of = |items: &str| {
        let sql = format!("EXPLAIN {}", query(items));
        rows(&mut connection, &sql).concat()
    };
    let (packed, plain) = (plan_of("packed"), plan_of("plain"));
    let (shown, shown_plain) = (packed.join("\n"), plain.join("\n"));
    let looking_up = "join by looking up 1 columns of packed by packed_pkey";
    assert!(shown.contains(looking_up), "{shown}");
    assert!(!shown_plain.contains("looking up"), "{shown_plain}");
    assert!(shown_plain.contains("join by hashing"), "{shown_plain}");
    // Sales and items first, or makers and items.
    let orders = [(&packed, 2, 1), (&plain, 1, 2)];
    for (plan, above_sales, above_makers) in orders {
        assert_eq!(joins_above(plan, "sale"), above_sales, "{plan:#?}");
        assert_eq!(joins_above(plan, "maker"), above_makers, "{plan:#?}");
    }
    // Makers of that kind are every 40th, and 7,919 is one less than a multiple of 40: each 40th sale is of one of their items.
    let answer = sorted_rows(&mut connection, &query("packed"));
    assert_eq!(answer.len(), 200);
    assert_eq!(sorted_rows(&mut connection, &query("plain")), answer);
    let mut batches = connected(&database, &["SET engine = 'batch'"]);
    assert_eq!(sorted_rows(&mut batches, &query("packed")), answer);
}
