//! Statements about the session: prepared statements and cursors under names of SQL, settings, arrays as parameters.

use crate::client::{
    Client, bind, bind_as, connect, describe, execute, message, parse, query, run, server, sync,
};

fn table() -> (quire_server::Server, Client) {
    let server = server();
    let mut client = connect(&server);
    client.query("create table t (id integer primary key, name text)");
    client.query("insert into t values (1, 'one'), (2, 'two'), (3, 'three')");
    (server, client)
}

#[test]
fn prepared_statements_have_names_in_sql() {
    let (_server, mut client) = table();
    let prepare = "prepare by_id (integer) as select name from t where id = $1";
    assert_eq!(client.query(prepare), ["done PREPARE", "ready I"]);
    assert_eq!(client.query(prepare), ["error 42P05", "ready I"]);
    let expected = ["columns name:25", "row two", "done SELECT 1", "ready I"];
    assert_eq!(client.query("execute by_id (1 + 1)"), expected);
    assert_eq!(client.query("execute by_id"), ["error 42601", "ready I"]);
    // What SQL has named can be bound, and the other way round.
    let bound = client.say(&run("by_id", &["3"]));
    assert_eq!(bound[2], "row three");
    client.say(&[parse("mine", "select count(*) from t", &[]), sync()]);
    assert_eq!(client.query("execute mine")[1], "row 3");
    client.query("prepare put as insert into t values ($1, $2)");
    let put = client.query("execute put (4, NULL); execute put (5, 'five')");
    assert_eq!(put, ["done INSERT 0 1", "done INSERT 0 1", "ready I"]);
    assert_eq!(client.query("execute by_id (4)")[1], "row NULL");
    assert_eq!(client.query("deallocate by_id")[0], "done DEALLOCATE");
    assert_eq!(
        client.query("execute by_id (1)"),
        ["error 26000", "ready I"]
    );
    assert_eq!(client.query("deallocate by_id")[0], "error 26000");
    assert_eq!(
        client.query("prepare x (nonsense) as select $1")[0],
        "error 42704"
    );
}

#[test]
fn cursors_give_rows_as_they_are_fetched() {
    let (_server, mut client) = table();
    let declare = "declare c cursor for select id from t order by id";
    assert_eq!(client.query(declare), ["error 25P01", "ready I"]);
    client.query("begin");
    assert_eq!(client.query(declare), ["done DECLARE CURSOR", "ready T"]);
    let one = ["columns id:23", "row 1", "done FETCH 1", "ready T"];
    assert_eq!(client.query("fetch c"), one);
    assert_eq!(
        client.query("move forward 1 in c"),
        ["done MOVE 1", "ready T"]
    );
    let rest = ["columns id:23", "row 3", "done FETCH 1", "ready T"];
    assert_eq!(client.query("fetch all from c"), rest);
    assert_eq!(client.query("fetch 5 c")[1], "done FETCH 0");
    assert_eq!(client.query("close c"), ["done CLOSE CURSOR", "ready T"]);
    assert_eq!(client.query("fetch c"), ["error 34000", "ready E"]);
    assert_eq!(client.query("fetch c"), ["error 25P02", "ready E"]);
    client.query("rollback");
    // Cursors end with their transaction.
    client.query("begin");
    client.query(declare);
    client.query("commit");
    client.query("begin");
    assert_eq!(client.query("fetch c")[0], "error 34000");
}

#[test]
fn cursors_are_declared_with_parameters_and_fetched_in_binary() {
    let (_server, mut client) = table();
    client.query("begin");
    let declared = client.say(&[
        parse(
            "",
            "declare c cursor for select id from t where id > $1 order by id",
            &[23],
        ),
        bind("", "", &["1"]),
        describe(b'P', ""),
        execute("", 0),
        sync(),
    ]);
    let expected = [
        "parsed",
        "bound",
        "no data",
        "done DECLARE CURSOR",
        "ready T",
    ];
    assert_eq!(declared, expected);
    client.send(&[
        parse("", "fetch forward 2 from c", &[]),
        bind_as("", "", [0, 1], &[]),
        describe(b'P', ""),
        execute("", 0),
        sync(),
    ]);
    let answers = client.until_ready();
    let row = answers.iter().find(|answer| answer.kind == 'D').unwrap();
    assert_eq!(row.values(), [Some(vec![0, 0, 0, 2])]);
    let columns = answers.iter().find(|answer| answer.kind == 'T').unwrap();
    assert!(
        columns.body.ends_with(&[0, 1]),
        "they are told to be binary"
    );
}

#[test]
fn a_statement_that_executes_itself_is_refused() {
    let server = server();
    let mut client = connect(&server);
    client.say(&[parse("a", "execute a", &[]), sync()]);
    let answers = client.say(&[describe(b'S', "a"), sync()]);
    assert_eq!(answers, ["parameters ", "no data", "ready I"]);
    let answers = client.say(&run("a", &[]));
    assert_eq!(answers[answers.len() - 2..], ["error 0A000", "ready I"]);
}

#[test]
fn settings_go_back_to_those_of_the_beginning() {
    let server = server();
    let mut client = connect(&server);
    client.query("set statement_timeout = '5s'; set application_name = 'x'");
    client.query("reset statement_timeout");
    assert_eq!(client.query("show statement_timeout")[1], "row 0");
    assert_eq!(client.query("show application_name")[1], "row x");
    client.query("set application_name to default");
    assert_eq!(client.query("show application_name")[1], "row ");
    client.query("set application_name = 'y'; prepare p as select 1");
    let answers = client.query("discard all");
    let expected = ["done DISCARD ALL", "setting application_name", "ready I"];
    assert_eq!(answers, expected);
    assert_eq!(client.query("execute p")[0], "error 26000");
    assert_eq!(client.query("reset nonsense")[0], "error 42704");
    client.query("begin");
    assert_eq!(client.query("discard all")[0], "error 25001");
}

#[test]
fn the_reset_of_pools_runs() {
    let server = server();
    let mut client = connect(&server);
    let reset = "SELECT pg_advisory_unlock_all();\nCLOSE ALL;\nUNLISTEN *;\nRESET ALL;";
    let answers = client.query(reset);
    let expected = [
        "done CLOSE CURSOR ALL",
        "done UNLISTEN",
        "done RESET",
        "ready I",
    ];
    assert_eq!(answers[answers.len() - 4..], expected);
    assert_eq!(client.query("listen x; notify x")[0], "done LISTEN");
}

#[test]
fn arrays_are_parameters_in_both_formats() {
    let (_server, mut client) = table();
    client.say(&[
        parse(
            "any",
            "select name from t where id = any($1) order by id",
            &[],
        ),
        parse(
            "all",
            "select id from t where name <> all($1) order by id",
            &[],
        ),
        sync(),
    ]);
    let described = client.say(&[describe(b'S', "any"), describe(b'S', "all"), sync()]);
    // int4[] and text[]
    let expected = [
        "parameters 1007",
        "columns name:25",
        "parameters 1009",
        "columns id:23",
        "ready I",
    ];
    assert_eq!(described, expected);
    assert_eq!(
        client.say(&run("any", &["{3,1,NULL}"]))[2..4],
        ["row one", "row three"]
    );
    assert_eq!(client.say(&run("any", &["{}"]))[2], "done SELECT 0");
    assert_eq!(client.say(&run("all", &["{one,\"two\"}"]))[2], "row 3");
    assert_eq!(client.say(&run("all", &["{}"]))[4], "row 3");
    assert_eq!(client.say(&run("all", &["{one,NULL}"]))[2], "done SELECT 0");
    let binary = b"\0\0\0\x01\0\0\0\0\0\0\0\x17\0\0\0\x01\0\0\0\x01\0\0\0\x04\0\0\0\x02";
    let portal = bind_as("", "any", [1, 0], &[Some(binary)]);
    let answers = client.say(&[portal, execute("", 0), sync()]);
    assert_eq!(answers[1], "row two");
    for wrong in ["1", "{1", "{{1}}"] {
        let answers = client.say(&run("any", &[wrong]));
        assert_eq!(
            answers[answers.len() - 2..],
            ["error 22P02", "ready I"],
            "{wrong}"
        );
    }
    let changed = client.query("delete from t where id = any('{1,2}')");
    assert_eq!(changed[0], "done DELETE 2");
}

#[test]
fn statements_follow_a_copy_in_their_text() {
    let (_server, mut client) = table();
    let sql =
        "copy t from stdin; select count(*) from t; copy t from stdin; select count(*) from t";
    client.send(&[query(sql), message(b'd', b"4\tfour\n"), message(b'c', b"")]);
    client.send(&[message(b'd', b"5\tfive\n"), message(b'c', b"")]);
    let answers = client.until_ready();
    let expected = [
        "G",
        "done COPY 1",
        "columns count(*):20",
        "row 4",
        "done SELECT 1",
        "G",
        "done COPY 1",
        "columns count(*):20",
        "row 5",
        "done SELECT 1",
        "ready I",
    ];
    let answers = crate::client::shown(&answers);
    assert_eq!(answers.len(), expected.len(), "{answers:?}");
    assert_eq!(answers[3], "row 4");
    assert_eq!(answers[8], "row 5");
    // One that fails takes all before it along, for they are one transaction.
    client.send(&[query(sql), message(b'd', b"6\tsix\n"), message(b'c', b"")]);
    client.send(&[message(b'd', b"1\tone again\n"), message(b'c', b"")]);
    let answers = crate::client::shown(&client.until_ready());
    assert_eq!(answers[answers.len() - 2..], ["error 23505", "ready I"]);
    assert_eq!(client.query("select count(*) from t")[1], "row 5");
}
