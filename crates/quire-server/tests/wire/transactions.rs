//! Transactions, said and unsaid.

use crate::client::{bind, connect, execute, parse, server, sync};

#[test]
fn a_transaction_has_its_letter() {
    let server = server();
    let mut client = connect(&server);
    client.query("create table t (a integer primary key)");
    assert_eq!(client.query("begin"), ["done BEGIN", "ready T"]);
    assert_eq!(
        client.query("begin"),
        ["notice 25001", "done BEGIN", "ready T"]
    );
    assert_eq!(client.query("select nonsense"), ["error 42703", "ready E"]);
    assert_eq!(client.query("select 1"), ["error 25P02", "ready E"]);
    assert_eq!(client.query("commit"), ["done ROLLBACK", "ready I"]);
    assert_eq!(
        client.query("commit"),
        ["notice 25P01", "done COMMIT", "ready I"]
    );
    // A message that is wrong in itself fails the transaction too.
    client.query("begin");
    let parts = [
        parse("", "select a from t where a = $1", &[]),
        bind("", "", &["x"]),
        sync(),
    ];
    assert_eq!(client.say(&parts), ["parsed", "error 22P02", "ready E"]);
    assert_eq!(client.query("rollback"), ["done ROLLBACK", "ready I"]);
    client.query("begin");
    assert_eq!(client.query("select 'open"), ["error 42601", "ready E"]);
    assert_eq!(client.query("rollback"), ["done ROLLBACK", "ready I"]);
}

#[test]
fn statements_of_one_text_are_one_transaction() {
    let server = server();
    let mut client = connect(&server);
    client.query("create table t (a integer primary key)");
    let answers = client.query("insert into t values (1); insert into t values (1)");
    assert_eq!(answers, ["done INSERT 0 1", "error 23505", "ready I"]);
    assert_eq!(client.query("select count(*) from t")[1], "row 0");
    // What COMMIT within the text has kept stays.
    let answers =
        client.query("insert into t values (1); commit; insert into t values (2); select 1/0");
    assert_eq!(answers[..2], ["done INSERT 0 1", "notice 25P01"]);
    assert_eq!(answers[answers.len() - 1], "ready I");
    assert_eq!(
        client.query("select a from t")[1..3],
        ["row 1", "done SELECT 1"]
    );
    // BEGIN within the text makes the transaction the client's.
    let answers = client.query("insert into t values (3); begin; insert into t values (4)");
    assert_eq!(answers[answers.len() - 1], "ready T");
    assert_eq!(client.query("rollback"), ["done ROLLBACK", "ready I"]);
    assert_eq!(client.query("select count(*) from t")[1], "row 1");
}

#[test]
fn statements_before_one_sync_are_one_transaction() {
    let server = server();
    let mut client = connect(&server);
    client.query("create table t (a integer primary key)");
    let insert = |value: &str| {
        [
            parse("", "insert into t values ($1)", &[]),
            bind("", "", &[value]),
            execute("", 0),
        ]
        .concat()
    };
    let answers = client.say(&[insert("1"), insert("2"), insert("1"), insert("3"), sync()]);
    let last = &answers[answers.len() - 2..];
    assert_eq!(last, ["error 23505", "ready I"]);
    assert_eq!(client.query("select count(*) from t")[1], "row 0");
    let answers = client.say(&[insert("1"), insert("2"), sync()]);
    assert_eq!(answers[answers.len() - 1], "ready I");
    assert_eq!(connect(&server).query("select count(*) from t")[1], "row 2");
}

#[test]
fn a_client_that_vanishes_leaves_nothing() {
    let server = server();
    let mut client = connect(&server);
    client.query("create table t (a integer primary key)");
    client.query("insert into t values (1)");
    let mut vanishing = connect(&server);
    vanishing.query("begin");
    assert_eq!(vanishing.query("update t set a = 2")[0], "done UPDATE 1");
    drop(vanishing);
    // It waits for the lock of the other, which goes with its connection.
    assert_eq!(
        client.query("update t set a = 3 where a = 1")[0],
        "done UPDATE 1"
    );
    assert_eq!(client.query("select a from t")[1], "row 3");
}

#[test]
fn conflicts_have_the_codes_that_clients_try_again_on() {
    let server = server();
    let (mut one, mut two) = (connect(&server), connect(&server));
    one.query("create table t (a integer primary key, b integer not null)");
    one.query("insert into t values (1, 1), (2, 2)");
    for client in [&mut one, &mut two] {
        client.query("begin isolation level repeatable read");
        client.query("select * from t");
    }
    one.query("update t set b = 5 where a = 1");
    one.query("commit");
    assert_eq!(
        two.query("update t set b = 6 where a = 1"),
        ["error 40001", "ready E"]
    );
    two.query("rollback");
    assert_eq!(
        one.query("insert into t values (1, 1)"),
        ["error 23505", "ready I"]
    );
    assert_eq!(
        one.query("insert into t values (9, null)"),
        ["error 23502", "ready I"]
    );
    assert_eq!(
        one.query("select * from missing"),
        ["error 42P01", "ready I"]
    );
}
