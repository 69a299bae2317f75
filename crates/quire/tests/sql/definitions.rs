//! Definitions as SQL: what prints them makes them again.

use crate::support::{database, error, rows, value};

/// Everything a table can be declared to be, as it is printed.
const PARENT: &str = "CREATE TABLE parent (
    id SERIAL,
    code VARCHAR(5) DEFAULT 'none',
    \"Odd name\" BIGINT GENERATED ALWAYS AS IDENTITY (INCREMENT BY 5 START WITH 100 CACHE 3),
    CONSTRAINT parent_pkey PRIMARY KEY (id DESC, \"Odd name\"),
    CONSTRAINT parent_code_key UNIQUE (code),
    CONSTRAINT parent_id_check CHECK (id > 0)
) USING row WITH (compression = none, page_size = 8192, page_codec = zstd, page_codec_level = 5, storage_format = xor_rlt);
CREATE INDEX by_code ON parent (code DESC, id);";

const CHILD: &str = "CREATE TABLE child (
    parent_code VARCHAR(5) NOT NULL,
    CONSTRAINT child_parent_code_fkey FOREIGN KEY (parent_code) REFERENCES parent (code) ON DELETE CASCADE ON UPDATE RESTRICT
) USING row;";

const VIEW: &str =
    "CREATE VIEW codes (id, code) AS SELECT id, code FROM parent WHERE code <> 'none';";

#[test]
fn definitions_are_printed_as_they_can_be_declared() {
    let mut connection = database().connect();
    for statement in quire::Connection::statements(PARENT).unwrap() {
        rows(&mut connection, &statement);
    }
    rows(&mut connection, CHILD.trim_end_matches(';'));
    rows(&mut connection, VIEW);
    let text = |connection: &quire::Connection, name: &str| {
        connection.create_statement(name).unwrap().unwrap()
    };
    assert_eq!(text(&connection, "parent"), PARENT);
    assert_eq!(text(&connection, "child"), CHILD);
    assert_eq!(text(&connection, "codes"), VIEW);
    let again = database();
    let mut again = again.connect();
    for name in ["parent", "child", "codes"] {
        let text = text(&connection, name);
        for statement in quire::Connection::statements(&text).unwrap() {
            rows(&mut again, &statement);
        }
        assert_eq!(again.create_statement(name).unwrap().unwrap(), text);
    }
    assert_eq!(again.views().unwrap(), ["codes"]);
}

#[test]
fn sequences_are_printed_as_they_can_be_declared() {
    let mut connection = database().connect();
    for sql in [
        "CREATE SEQUENCE plain;",
        "CREATE SEQUENCE small AS SMALLINT INCREMENT BY -2 MINVALUE -9 MAXVALUE 7 START WITH 3 CACHE 4 CYCLE;",
        "CREATE SEQUENCE bounded MAXVALUE 10;",
    ] {
        rows(&mut connection, sql);
        let name = sql.split([' ', ';']).nth(2).unwrap();
        assert_eq!(
            connection.create_statement(name).unwrap().as_deref(),
            Some(sql)
        );
    }
}

#[test]
fn a_table_is_described_with_all_that_belongs_to_it() {
    let mut connection = database().connect();
    for statement in quire::Connection::statements(PARENT).unwrap() {
        rows(&mut connection, &statement);
    }
    rows(&mut connection, CHILD);
    let described = rows(&mut connection, "DESCRIBE parent");
    assert_eq!(described[0], ["id", "INTEGER", "NO", "NULL", "serial"]);
    assert_eq!(
        described[1],
        ["code", "VARCHAR(5)", "YES", "NULL", "'none'"]
    );
    let details = connection.table_details("parent").unwrap();
    assert_eq!(
        details,
        [
            "Indexes:",
            "    parent_pkey PRIMARY KEY (id DESC, \"Odd name\")",
            "    parent_code_key UNIQUE CONSTRAINT (code)",
            "    by_code (code DESC, id)",
            "Check constraints:",
            "    parent_id_check CHECK (id > 0)",
            "Referenced by:",
            "    TABLE child CONSTRAINT child_parent_code_fkey FOREIGN KEY (parent_code) REFERENCES parent (code) ON DELETE CASCADE ON UPDATE RESTRICT",
            "Options:",
            "    compression = none",
            "    page_size = 8192",
            "    page_codec = zstd",
            "    page_codec_level = 5",
            "    storage_format = xor_rlt",
        ]
    );
}

const PAX: &str = "CREATE TABLE reading (
    id BIGINT,
    note TEXT COMPRESSION fsst
) USING pax WITH (block_bytes = 32768);";

#[test]
fn pax_tables_are_shown_as_such() {
    let mut connection = database().connect();
    rows(&mut connection, PAX);
    rows(&mut connection, "CREATE TABLE plain (id BIGINT)");
    rows(&mut connection, "CREATE TABLE whole (id BIGINT) USING pax");
    let shown = connection.create_statement("reading").unwrap();
    assert_eq!(shown.as_deref(), Some(PAX));
    let details = connection.table_details("reading").unwrap();
    assert_eq!(details, ["Options:", "    block_bytes = 32768"]);
    let whole = connection.create_statement("whole").unwrap().unwrap();
    assert!(
        whole.ends_with("USING pax WITH (block_bytes = 1048576);"),
        "{whole}"
    );
    let methods = "SELECT c.relname, am.amname, am.amtype FROM pg_catalog.pg_class c JOIN pg_catalog.pg_am am ON am.oid = c.relam \
         WHERE c.relname IN ('plain', 'reading') ORDER BY 1";
    assert_eq!(
        rows(&mut connection, methods),
        [["plain", "column", "t"], ["reading", "pax", "t"]]
    );
    let storage = "SELECT table_name, storage FROM quire_tables() ORDER BY 1";
    assert_eq!(
        rows(&mut connection, storage),
        [["plain", "column"], ["reading", "pax"], ["whole", "pax"]]
    );
}

/// Tables that say nothing are of the kind of the setting, unless they have a key.
#[test]
fn pax_can_be_the_kind_of_tables_that_say_nothing() {
    let mut connection = database().connect();
    rows(&mut connection, "SET default_table_access_method = 'pax'");
    rows(&mut connection, "CREATE TABLE silent (id INTEGER)");
    rows(
        &mut connection,
        "CREATE TABLE keyed (id INTEGER PRIMARY KEY)",
    );
    rows(&mut connection, "RESET default_table_access_method");
    rows(&mut connection, "CREATE TABLE usual (id INTEGER)");
    let storage = "SELECT table_name, storage FROM quire_tables() ORDER BY 1";
    assert_eq!(
        rows(&mut connection, storage),
        [["keyed", "row"], ["silent", "pax"], ["usual", "column"]]
    );
}

/// All connections see the threads that one has set; no transaction takes them back, `RESET` does; a role that is no superuser may not set them.
#[test]
fn compression_threads_are_those_of_the_database() {
    let options = quire::DatabaseOptions {
        compression_threads: Some(2),
        ..quire::DatabaseOptions::default()
    };
    let database = quire::Database::in_memory_with(options).unwrap();
    let (mut one, mut other) = (database.connect(), database.connect());
    let shown = |connection: &mut quire::Connection| rows(connection, "SHOW compression_threads");
    assert_eq!(shown(&mut one), [["2"]]);
    for statement in ["BEGIN", "SET compression_threads = 0", "ROLLBACK"] {
        rows(&mut one, statement);
    }
    assert_eq!(shown(&mut other), [["0"]]);
    rows(
        &mut other,
        "CREATE TABLE t (id INTEGER PRIMARY KEY, note TEXT)",
    );
    rows(
        &mut other,
        "INSERT INTO t SELECT i, repeat('ab', i % 500) FROM generate_series(1, 20000) AS g(i)",
    );
    rows(&mut other, "SET compression_threads = 3");
    rows(
        &mut other,
        "UPDATE t SET note = note || 'c' WHERE id % 3 = 0",
    );
    assert_eq!(
        rows(&mut one, "SELECT count(*) FROM t WHERE note LIKE '%c'"),
        [["6666"]]
    );
    for wrong in ["-1", "65", "'many'"] {
        let refused = error(&mut one, &format!("SET compression_threads = {wrong}"));
        assert_eq!(refused.sqlstate(), "22023", "{wrong}");
    }
    rows(&mut one, "RESET ALL");
    assert_eq!(shown(&mut one), [["3"]], "it belongs to no connection");
    rows(&mut one, "RESET compression_threads");
    assert_eq!(shown(&mut other), [["2"]]);
    rows(
        &mut one,
        "CREATE ROLE clerk LOGIN PASSWORD 'a long password'",
    );
    other.set_identity("clerk", "quire");
    other.restrict_to_role();
    for statement in [
        "SET compression_threads = 1",
        "RESET compression_threads",
        "SELECT set_config('compression_threads', '1', false)",
    ] {
        let refused = error(&mut other, statement);
        assert_eq!(refused.sqlstate(), "42501", "{statement}");
    }
    assert_eq!(shown(&mut one), [["2"]]);
}

/// Pages of row tables that name no codec have that of the setting, also those of copies; a level belongs to it.
#[test]
fn the_codec_of_pages_that_say_nothing_is_a_setting() {
    let mut connection = database().connect();
    let shown = |connection: &mut quire::Connection| rows(connection, "SHOW default_page_codec");
    assert_eq!(shown(&mut connection), [["lz4"]]);
    for statement in [
        "SET default_page_codec = 'zstd'",
        "CREATE TABLE keyed (id INTEGER PRIMARY KEY, note TEXT)",
        "CREATE TABLE silent (id INTEGER) USING row",
        "CREATE TABLE named (id INTEGER PRIMARY KEY) WITH (page_codec = lz4)",
        "CREATE TABLE levelled (id INTEGER PRIMARY KEY) WITH (page_codec_level = 19)",
        "CREATE TABLE selected USING row AS SELECT 1 AS id",
        "CREATE TABLE alike (LIKE named) USING row",
        "CREATE TABLE columns (id INTEGER) USING column",
    ] {
        rows(&mut connection, statement);
    }
    let unknown = error(&mut connection, "SET default_page_codec = 'magic'");
    assert_eq!(unknown.sqlstate(), "22023");
    rows(&mut connection, "RESET default_page_codec");
    // LZ4 has no such level.
    let level = "CREATE TABLE wrong (id INTEGER PRIMARY KEY) WITH (page_codec_level = 19)";
    assert_eq!(error(&mut connection, level).sqlstate(), "22023");
    rows(&mut connection, "CREATE TABLE later (id INTEGER) USING row");
    for (table, codec) in [
        ("keyed", "zstd"),
        ("silent", "zstd"),
        ("named", "lz4"),
        ("levelled", "zstd"),
        ("selected", "zstd"),
        ("alike", "zstd"),
        ("later", "lz4"),
    ] {
        let stored = format!("SELECT DISTINCT codec FROM quire_storage('{table}')");
        assert_eq!(rows(&mut connection, &stored), [[codec]], "{table}");
    }
}

/// `quire_storage` has the segments of a PAX table as it has those of a column table; blocks are of the length that is asked for.
#[test]
fn blocks_of_pax_tables_have_the_length_that_is_asked_for() {
    let mut connection = database().connect();
    rows(&mut connection, PAX);
    let fill = "INSERT INTO reading SELECT i * 7919 % 1000003, 'note ' || i * i FROM generate_series(1, 40000) AS g(i)";
    rows(&mut connection, fill);
    let blocks = "SELECT count(*), max(bytes) FROM (SELECT row_group, sum(encoded_bytes) AS bytes FROM quire_storage('reading') \
         GROUP BY row_group) AS blocks";
    let lengths = |connection: &mut quire::Connection| {
        let found = rows(connection, blocks);
        let number = |at: usize| found[0][at].parse::<u64>().unwrap();
        (number(0), number(1))
    };
    let (count, longest) = lengths(&mut connection);
    assert!(
        count > 3 && longest < 40_000,
        "{count} blocks of up to {longest} bytes"
    );
    let before = rows(
        &mut connection,
        "SELECT count(*), sum(id), min(note) FROM reading",
    );
    rows(
        &mut connection,
        "ALTER TABLE reading SET (block_bytes = 131072)",
    );
    let (fewer, longest) = lengths(&mut connection);
    assert!(
        fewer < count && longest > 40_000,
        "{fewer} blocks of up to {longest} bytes"
    );
    let after = rows(
        &mut connection,
        "SELECT count(*), sum(id), min(note) FROM reading",
    );
    assert_eq!(after, before);
    let codec =
        "SELECT DISTINCT codec, decision FROM quire_storage('reading') WHERE column_name = 'note'";
    assert_eq!(rows(&mut connection, codec), [["fsst", "asked"]]);
}

const HUFFMAN: &str = "CREATE TABLE remark (
    id INTEGER NOT NULL,
    note TEXT COMPRESSION huffman,
    short VARCHAR(20) COMPRESSION huffman
) USING row;";

/// The codes of a column are printed, described, kept while rows are written again, and refused where there are none.
#[test]
fn columns_of_row_tables_can_be_in_a_huffman_code() {
    let mut connection = database().connect();
    rows(&mut connection, HUFFMAN);
    rows(
        &mut connection,
        "INSERT INTO remark SELECT i, 'furiously ironic déjà-vu, number ' || i, 'note ' || i FROM generate_series(1, 2000) AS g(i)",
    );
    let all = "SELECT count(*), count(DISTINCT note), max(note), min(short) FROM remark";
    let expected = [[
        "2000",
        "2000",
        "furiously ironic déjà-vu, number 999",
        "note 1",
    ]];
    for sql in [
        "VACUUM FULL remark",
        "ALTER TABLE remark ADD PRIMARY KEY (id)",
        "ALTER TABLE remark SET (compression = none)",
        "ALTER TABLE remark ALTER COLUMN note SET NOT NULL",
    ] {
        assert_eq!(rows(&mut connection, all), expected, "before {sql}");
        rows(&mut connection, sql);
        let described = rows(&mut connection, "DESCRIBE remark");
        assert_eq!(described[1][3], "huffman", "{sql}");
        assert_eq!(described[2][3], "huffman", "{sql}");
    }
    assert_eq!(rows(&mut connection, all), expected);
    let shown = connection.create_statement("remark").unwrap().unwrap();
    assert!(
        shown.contains("note TEXT COMPRESSION huffman NOT NULL"),
        "{shown}"
    );
    for (sql, sqlstate, what) in [
        (
            "CREATE TABLE wrong (a TEXT COMPRESSION huffman) USING column",
            "0A000",
            "needs a row table",
        ),
        (
            "CREATE TABLE wrong (a TEXT COMPRESSION huffman) USING pax",
            "0A000",
            "needs a row table",
        ),
        (
            "CREATE TABLE wrong (a INTEGER COMPRESSION huffman) USING row",
            "42P16",
            "cannot store INTEGER",
        ),
        (
            "CREATE TABLE wrong (a BYTEA COMPRESSION huffman) USING row",
            "42P16",
            "cannot store BYTEA",
        ),
    ] {
        let refused = error(&mut connection, sql);
        assert_eq!(refused.sqlstate(), sqlstate, "{sql}");
        assert!(refused.to_string().contains(what), "{refused}");
    }
}

/// Another key, other types, other pages: the rows are written again, and nothing else changes.
#[test]
fn row_tables_can_be_rewritten() {
    let mut connection = database().connect();
    rows(&mut connection, "CREATE TABLE p (id INTEGER PRIMARY KEY)");
    rows(&mut connection, "INSERT INTO p VALUES (1), (2)");
    rows(
        &mut connection,
        "CREATE TABLE t (a INTEGER NOT NULL, b TEXT UNIQUE, c INTEGER REFERENCES p) USING row",
    );
    rows(
        &mut connection,
        "INSERT INTO t VALUES (2, '20', 1), (1, '10', 2)",
    );
    let all = "SELECT a, b, c FROM t ORDER BY a";
    let expected = [["1", "10", "2"], ["2", "20", "1"]];
    for sql in [
        "ALTER TABLE t ADD PRIMARY KEY (a DESC)",
        "ALTER TABLE t ALTER COLUMN b TYPE BIGINT USING CAST(b AS BIGINT)",
        "ALTER TABLE t SET (page_size = 4096, compression = none)",
        "ALTER TABLE t DROP CONSTRAINT t_pkey",
        "ALTER TABLE t ALTER COLUMN a DROP NOT NULL",
    ] {
        rows(&mut connection, sql);
        assert_eq!(rows(&mut connection, all), expected, "{sql}");
        let twice = error(&mut connection, "INSERT INTO t VALUES (3, 10, 1)");
        assert_eq!(twice.sqlstate(), "23505", "{sql}");
        let nowhere = error(&mut connection, "INSERT INTO t VALUES (3, 30, 9)");
        assert_eq!(nowhere.sqlstate(), "23503", "{sql}");
    }
    rows(&mut connection, "INSERT INTO t VALUES (NULL, 30, NULL)");
    assert_eq!(value(&mut connection, "SELECT count(*) FROM t"), "3");
    let null = error(&mut connection, "ALTER TABLE t ADD PRIMARY KEY (a)");
    assert_eq!(null.sqlstate(), "23502");
    rows(&mut connection, "ALTER TABLE t ADD COLUMN d BIGSERIAL");
    assert_eq!(
        rows(&mut connection, "SELECT count(DISTINCT d), min(d) FROM t"),
        [["3", "1"]]
    );
    rows(
        &mut connection,
        "DELETE FROM p WHERE id NOT IN (SELECT c FROM t WHERE c IS NOT NULL)",
    );
    assert_eq!(value(&mut connection, "SELECT count(*) FROM p"), "2");
}
