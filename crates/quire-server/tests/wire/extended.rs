//! `Parse` to `Sync`.

use crate::client::{
    bind, bind_as, connect, describe, execute, message, parse, query, run, server, sync,
};

const TABLE: &str = "create table t (id integer primary key, name text, price decimal(10,2))";
const ROWS: &str = "insert into t values (1, 'Ada', 1.5), (2, 'Bob', null), (3, 'Cy', 0.25)";

fn table() -> (quire_server::Server, crate::client::Client) {
    let server = server();
    let mut client = connect(&server);
    client.query(TABLE);
    client.query(ROWS);
    (server, client)
}

#[test]
fn a_statement_is_prepared_described_and_run() {
    let (_server, mut client) = table();
    let sql = "select name, price from t where id = $1";
    let answers = client.say(&[parse("s", sql, &[]), describe(b'S', "s"), sync()]);
    let expected = [
        "parsed",
        "parameters 23",
        "columns name:25|price:1700",
        "ready I",
    ];
    assert_eq!(answers, expected);
    for (id, row) in [("1", "row Ada|1.50"), ("2", "row Bob|NULL")] {
        let parts = run("s", &[id]);
        let expected = [
            "bound",
            "columns name:25|price:1700",
            row,
            "done SELECT 1",
            "ready I",
        ];
        assert_eq!(client.say(&parts), expected);
    }
    let parts = [bind("", "s", &["9"]), execute("", 0), sync()];
    assert_eq!(client.say(&parts), ["bound", "done SELECT 0", "ready I"]);
}

#[test]
fn changes_are_prepared_too() {
    let (_server, mut client) = table();
    let sql = "update t set price = $1 where id = $2";
    let answers = client.say(&[parse("u", sql, &[]), describe(b'S', "u"), sync()]);
    assert_eq!(
        answers,
        ["parsed", "parameters 1700|23", "no data", "ready I"]
    );
    let parts = run("u", &["9.995", "3"]);
    assert_eq!(
        client.say(&parts),
        ["bound", "no data", "done UPDATE 1", "ready I"]
    );
    assert_eq!(
        client.query("select price from t where id = 3")[1],
        "row 10.00"
    );
    let sql = "insert into t values ($1, $2) returning id, name";
    let parts = [
        parse("", sql, &[]),
        bind("", "", &["4", "Di"]),
        describe(b'P', ""),
        execute("", 0),
        sync(),
    ];
    let expected = [
        "parsed",
        "bound",
        "columns id:23|name:25",
        "row 4|Di",
        "done INSERT 0 1",
        "ready I",
    ];
    assert_eq!(client.say(&parts), expected);
}

#[test]
fn queries_that_are_not_compiled_are_described_without_running_twice() {
    let (_server, mut client) = table();
    let sql = "select a.name, count(*) as n from t a join t b on a.id <= b.id where b.id >= $1 group by a.name order by 1";
    let answers = client.say(&[parse("j", sql, &[]), describe(b'S', "j"), sync()]);
    assert_eq!(
        answers,
        ["parsed", "parameters 23", "columns name:25|n:20", "ready I"]
    );
    let parts = run("j", &["2"]);
    let expected = [
        "bound",
        "columns name:25|n:20",
        "row Ada|2",
        "row Bob|2",
        "row Cy|1",
        "done SELECT 3",
        "ready I",
    ];
    assert_eq!(client.say(&parts), expected);
    // The same without a name: it begins with its description.
    let parts = [
        parse("", sql, &[]),
        bind("", "", &["3"]),
        describe(b'P', ""),
        execute("", 0),
        sync(),
    ];
    let answers = client.say(&parts);
    assert_eq!(
        answers[3..],
        [
            "row Ada|1",
            "row Bob|1",
            "row Cy|1",
            "done SELECT 3",
            "ready I"
        ]
    );
}

#[test]
fn rows_come_in_portions() {
    let (_server, mut client) = table();
    client.query("begin");
    let sql = "select id from t order by id";
    let parts = [
        parse("", sql, &[]),
        bind("p", "", &[]),
        execute("p", 2),
        sync(),
    ];
    let expected = ["parsed", "bound", "row 1", "row 2", "suspended", "ready T"];
    assert_eq!(client.say(&parts), expected);
    // Another statement between portions.
    assert_eq!(client.query("select 7")[1], "row 7");
    assert_eq!(
        client.say(&[execute("p", 2), sync()]),
        ["row 3", "done SELECT 1", "ready T"]
    );
    assert_eq!(
        client.say(&[execute("p", 2), sync()]),
        ["done SELECT 0", "ready T"]
    );
    client.query("commit");
    assert_eq!(
        client.say(&[execute("p", 2), sync()]),
        ["error 34000", "ready I"]
    );
    // Without a transaction a portal ends with Sync.
    let parts = [
        parse("", sql, &[]),
        bind("p", "", &[]),
        execute("p", 1),
        sync(),
        execute("p", 1),
        sync(),
    ];
    client.send(&parts);
    client.until_ready();
    assert_eq!(
        crate::client::shown(&client.until_ready()),
        ["error 34000", "ready I"]
    );
}

#[test]
fn after_an_error_everything_is_read_past_until_sync() {
    let (_server, mut client) = table();
    let parts = [
        parse("", "select $1 / 0 from t", &[23]),
        bind("", "", &["5"]),
        execute("", 0),
        parse("", "select 1", &[]),
        query("select 2"),
        sync(),
    ];
    assert_eq!(
        client.say(&parts),
        ["parsed", "bound", "error 22012", "ready I"]
    );
    assert_eq!(client.query("select 3")[1], "row 3");
}

#[test]
fn names_and_counts_are_checked() {
    let (_server, mut client) = table();
    client.say(&[parse("s", "select name from t where id = $1", &[]), sync()]);
    for (part, sqlstate) in [
        (parse("s", "select 1", &[]), "42P05"),
        (parse("x", "selec 1", &[]), "42601"),
        (bind("", "none", &[]), "26000"),
        (bind("", "s", &[]), "08P01"),
        (bind("", "s", &["1", "2"]), "08P01"),
        (bind("", "s", &["one"]), "22P02"),
        (bind_as("", "s", [1, 0], &[Some(&[1])]), "22P03"),
        (bind_as("", "s", [7, 0], &[Some(&[1])]), "08P01"),
        (describe(b'S', "none"), "26000"),
        (describe(b'P', "none"), "34000"),
        (describe(b'X', "s"), "08P01"),
        (execute("none", 0), "34000"),
        (message(b'B', b"\0s\0\0\0"), "08P01"),
        (message(b'F', b"what"), "0A000"),
    ] {
        let is_call = part[0] == b'F';
        client.send(&[part.clone(), sync()]);
        let mut answers = crate::client::shown(&client.until_ready());
        if is_call {
            answers.extend(
                crate::client::shown(&client.until_ready())
                    .into_iter()
                    .filter(|answer| !answer.starts_with("ready")),
            );
        }
        assert_eq!(
            answers,
            [format!("error {sqlstate}"), "ready I".to_owned()],
            "{part:?}"
        );
    }
    // Closing what is not there is no error; what was there is gone.
    let close = |name: &str| message(b'C', format!("S{name}\0").as_bytes());
    assert_eq!(
        client.say(&[close("none"), close("s"), sync()]),
        ["closed", "closed", "ready I"]
    );
    assert_eq!(
        client.say(&[bind("", "s", &["1"]), sync()]),
        ["error 26000", "ready I"]
    );
}

#[test]
fn an_empty_statement_is_nothing() {
    let (_server, mut client) = table();
    let parts = [
        parse("", "", &[]),
        bind("", "", &[]),
        describe(b'P', ""),
        execute("", 0),
        sync(),
    ];
    assert_eq!(
        client.say(&parts),
        ["parsed", "bound", "no data", "empty", "ready I"]
    );
}

#[test]
fn a_statement_whose_columns_have_changed_is_refused_once() {
    let (_server, mut client) = table();
    client.say(&[
        parse("s", "select * from t where id = $1", &[]),
        describe(b'S', "s"),
        sync(),
    ]);
    client.query("alter table t add column more integer");
    let run = [bind("", "s", &["1"]), execute("", 0), sync()];
    assert_eq!(client.say(&run), ["bound", "error 0A000", "ready I"]);
    let again = [
        parse("r", "select * from t where id = $1", &[]),
        bind("", "r", &["1"]),
        execute("", 0),
        sync(),
    ];
    assert_eq!(
        client.say(&again),
        [
            "parsed",
            "bound",
            "row 1|Ada|1.50|NULL",
            "done SELECT 1",
            "ready I"
        ]
    );
}

#[test]
fn many_statements_are_answered_in_their_order() {
    let (_server, mut client) = table();
    client.say(&[parse("s", "select id from t where id = $1", &[]), sync()]);
    let mut parts = Vec::new();
    for id in ["1", "2", "3"].repeat(200) {
        parts.extend([bind("", "s", &[id]), execute("", 0), sync()]);
    }
    client.send(&parts);
    for id in ["1", "2", "3"].repeat(200) {
        let answers = crate::client::shown(&client.until_ready());
        assert_eq!(
            answers,
            [
                "bound".to_owned(),
                format!("row {id}"),
                "done SELECT 1".to_owned(),
                "ready I".to_owned()
            ]
        );
    }
}

#[test]
fn messages_may_come_in_pieces() {
    let (_server, mut client) = table();
    let bytes = [
        parse("", "select name from t where id = $1", &[]),
        bind("", "", &["2"]),
        execute("", 0),
        sync(),
    ]
    .concat();
    for byte in bytes {
        client.send(&[vec![byte]]);
        std::thread::yield_now();
    }
    let answers = crate::client::shown(&client.until_ready());
    assert_eq!(
        answers,
        ["parsed", "bound", "row Bob", "done SELECT 1", "ready I"]
    );
}

#[test]
fn statements_are_deallocated_by_sql_too() {
    let (_server, mut client) = table();
    for name in ["a", "B"] {
        client.say(&[parse(name, "select 1", &[]), sync()]);
    }
    assert_eq!(client.query("deallocate a"), ["done DEALLOCATE", "ready I"]);
    assert_eq!(client.query("deallocate a"), ["error 26000", "ready I"]);
    let parts = [
        parse("", "deallocate all", &[]),
        bind("", "", &[]),
        describe(b'P', ""),
        execute("", 0),
        sync(),
    ];
    assert_eq!(
        client.say(&parts),
        [
            "parsed",
            "bound",
            "no data",
            "done DEALLOCATE ALL",
            "ready I"
        ]
    );
    assert_eq!(
        client.say(&[bind("", "B", &[]), sync()]),
        ["error 26000", "ready I"]
    );
}
