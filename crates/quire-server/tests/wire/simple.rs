//! `Query`.

use crate::client::{connect, query, server, shown};

#[test]
fn statements_of_one_text_follow_one_another() {
    let server = server();
    let mut client = connect(&server);
    let answers = client.query("create table t (a integer primary key, b text); insert into t values (1, 'x'), (2, null); select * from t order by a");
    let expected = [
        "done CREATE TABLE",
        "done INSERT 0 2",
        "columns a:23|b:25",
        "row 1|x",
        "row 2|NULL",
        "done SELECT 2",
        "ready I",
    ];
    assert_eq!(answers, expected);
    assert_eq!(client.query(""), ["empty", "ready I"]);
    assert_eq!(client.query(" ; -- nothing"), ["empty", "ready I"]);
}

#[test]
fn commands_have_their_tags() {
    let server = server();
    let mut client = connect(&server);
    client.query("create table t (a integer primary key, b integer)");
    for (sql, expected) in [
        (
            "insert into t values (1, 1), (2, 2) returning b",
            "done INSERT 0 2",
        ),
        ("update t set b = b + 1 returning a", "done UPDATE 2"),
        ("update t set b = 7 where a = 1", "done UPDATE 1"),
        (
            "update t set b = 7 where a = 1 returning b",
            "done UPDATE 1",
        ),
        ("delete from t where a = 9", "done DELETE 0"),
        ("delete from t where a = 1 returning *", "done DELETE 1"),
        ("select 1 where false", "done SELECT 0"),
        ("show application_name", "done SHOW"),
        ("explain select 1", "done EXPLAIN"),
        ("begin", "done BEGIN"),
        ("savepoint s", "done SAVEPOINT"),
        ("commit", "done COMMIT"),
        ("create index i on t (b)", "done CREATE INDEX"),
        ("drop table t", "done DROP TABLE"),
    ] {
        let answers = client.query(sql);
        assert_eq!(answers[answers.len() - 2], expected, "{sql}");
    }
}

#[test]
fn an_error_has_its_place_in_the_whole_text() {
    let server = server();
    let mut client = connect(&server);
    let sql = "select 'ä';\nselect 1;\n  insert\n into 5 values (1)";
    client.send(&[query(sql)]);
    let answers = client.until_ready();
    let error = answers.iter().find(|answer| answer.kind == 'E').unwrap();
    assert_eq!(error.field('S').unwrap(), "ERROR");
    assert_eq!(error.field('C').unwrap(), "42601");
    let place = sql.chars().position(|character| character == '5').unwrap() + 1;
    assert_eq!(error.field('P').unwrap(), place.to_string());

    client.send(&[query("select 1; select * from missing")]);
    let answers = client.until_ready();
    let words = shown(&answers);
    assert_eq!(words[words.len() - 2..], ["error 42P01", "ready I"]);
}

#[test]
fn what_clients_follow_is_told_when_it_changes() {
    let server = server();
    let mut client = connect(&server);
    let answers = client.query("set application_name = 'shop'");
    assert_eq!(
        answers,
        ["done SET", "setting application_name=shop", "ready I"]
    );
    assert_eq!(
        client.query("set application_name = 'shop'"),
        ["done SET", "ready I"]
    );
}

#[test]
fn many_rows_come_in_order() {
    let server = server();
    let mut client = connect(&server);
    let answers =
        client.query("select value, 'x' || value from generate_series(1, 50000) order by value");
    assert_eq!(answers.len(), 50_003);
    assert_eq!(answers[1], "row 1|x1");
    assert_eq!(answers[50_000], "row 50000|x50000");
    assert_eq!(answers[50_001], "done SELECT 50000");
}
