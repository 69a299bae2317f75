//! Rows from and to clients.

use crate::client::{Client, bind, connect, execute, message, parse, query, server, shown, sync};

fn table() -> (quire_server::Server, Client) {
    let server = server();
    let mut client = connect(&server);
    client
        .query("create table t (id integer primary key, name text, price decimal(10,2), day date)");
    (server, client)
}

fn data(bytes: &[u8]) -> Vec<u8> {
    message(b'd', bytes)
}

fn done() -> Vec<u8> {
    message(b'c', &[])
}

/// Copies rows in and says how it ended.
fn copied(client: &mut Client, sql: &str, pieces: &[&[u8]]) -> Vec<String> {
    let mut parts = vec![query(sql)];
    parts.extend(pieces.iter().map(|piece| data(piece)));
    parts.push(done());
    client.say(&parts)
}

/// The bytes that a copy gives.
fn taken(client: &mut Client, sql: &str) -> Vec<u8> {
    client.send(&[query(sql)]);
    let answers = client.until_ready();
    let data = answers.iter().filter(|answer| answer.kind == 'd');
    data.flat_map(|answer| answer.body.clone()).collect()
}

const ROWS: &str = "1\tAda\t1.50\t2024-02-29\n2\t\\N\t\\N\t\\N\n3\ta\\tb\\\\\t-0.25\t0001-01-01\n";
const CSV: &str = "1,Ada,1.50,2024-02-29\n2,,,\n3,a\tb\\,-0.25,0001-01-01\n";

#[test]
fn texts_come_in_and_go_out() {
    let (_server, mut client) = table();
    let bytes = ROWS.as_bytes();
    for pieces in [vec![bytes], bytes.chunks(7).collect::<Vec<_>>()] {
        client.query("truncate t");
        let answers = copied(&mut client, "copy t from stdin", &pieces);
        assert_eq!(answers, ["G", "done COPY 3", "ready I"]);
        assert_eq!(taken(&mut client, "copy t to stdout"), bytes);
    }
    assert_eq!(
        taken(
            &mut client,
            "copy (select id, name from t where id = 1) to stdout with (null 'x', delimiter '|')"
        ),
        b"1|Ada\n"
    );
}

#[test]
fn csv_comes_in_and_goes_out() {
    let (_server, mut client) = table();
    let answers = copied(&mut client, "copy t from stdin csv", &[CSV.as_bytes()]);
    assert_eq!(answers, ["G", "done COPY 3", "ready I"]);
    assert_eq!(taken(&mut client, "copy t to stdout csv"), CSV.as_bytes());
    client.query("truncate t");
    let answers = copied(
        &mut client,
        "copy t (name, id) from stdin with (format csv, header, delimiter ';', quote '''', null '-')",
        &[b"name;id\n'it''s;';7\n-;8\n'-';9\n"],
    );
    assert_eq!(answers, ["G", "done COPY 3", "ready I"]);
    assert_eq!(
        taken(
            &mut client,
            "copy (select id, name from t order by 1) to stdout (format csv, header, force_quote (name))"
        ),
        b"id,name\n7,\"it's;\"\n8,\n9,\"-\"\n"
    );
}

#[test]
fn binary_rows_come_back_as_they_were() {
    let (_server, mut client) = table();
    copied(&mut client, "copy t from stdin", &[ROWS.as_bytes()]);
    let binary = taken(&mut client, "copy t to stdout with (format binary)");
    assert!(binary.starts_with(b"PGCOPY\n\xFF\r\n\0"));
    client.query("truncate t");
    for piece in [binary.len(), 11, 1] {
        client.query("truncate t");
        let pieces: Vec<_> = binary.chunks(piece).collect();
        let answers = copied(&mut client, "copy t from stdin binary", &pieces);
        assert_eq!(answers, ["G", "done COPY 3", "ready I"]);
        assert_eq!(taken(&mut client, "copy t to stdout"), ROWS.as_bytes());
    }
    let broken = &binary[..binary.len() - 2];
    let answers = copied(&mut client, "copy t from stdin binary", &[broken]);
    assert_eq!(answers, ["G", "error 22P04", "ready I"]);
}

#[test]
fn nothing_is_kept_of_a_copy_that_fails() {
    let (_server, mut client) = table();
    let sql = "copy t from stdin";
    let mut row_of = |text: &str| {
        client.send(&[
            query(sql),
            data(b"7\tx\t1\t2024-01-01\n"),
            data(text.as_bytes()),
            done(),
        ]);
        let answers = client.until_ready();
        let error = answers.iter().find(|answer| answer.kind == 'E').unwrap();
        assert!(shown(&answers).contains(&"ready I".to_owned()));
        (error.field('C').unwrap(), error.field('M').unwrap())
    };
    let (state, text) = row_of("x\ty\t1\t2024-01-01\n");
    assert_eq!(state, "22P02");
    assert!(text.contains("line 2"), "{text}");
    assert_eq!(row_of("8\ty\n").0, "22P04");
    assert_eq!(row_of("7\ttwice\t1\t\\N\n").0, "23505");
    let answers = client.say(&[
        query(sql),
        data(b"1\ta\t1\t\\N\n"),
        message(b'f', b"no more\0"),
    ]);
    assert_eq!(answers, ["G", "error 57014", "ready I"]);
    assert_eq!(client.query("select count(*) from t")[1], "row 0");
    assert_eq!(client.query("copy missing from stdin")[0], "error 42P01");
    assert_eq!(
        client.query("copy t from stdin (format csv, quote ',')")[0],
        "error 22023"
    );
}

#[test]
fn data_that_is_no_copy_ends_it() {
    let (_server, mut client) = table();
    let not_signed: &[u8] = b"PGCOPX\n\xff\r\n\0\0\0\0\0\0\0\0\0";
    let sql = "copy t from stdin (format binary)";
    for is_inside in [false, true] {
        if is_inside {
            client.query("begin");
        }
        let answers = copied(&mut client, sql, &[not_signed]);
        let state = if is_inside { "ready E" } else { "ready I" };
        assert_eq!(answers[0], "G");
        assert!(answers[1].contains("22P04"), "{answers:?}");
        assert_eq!(answers[2], state);
    }
    client.query("rollback");
    let answers = client.say(&[
        parse("", sql, &[]),
        bind("", "", &[]),
        execute("", 0),
        data(not_signed),
        done(),
        sync(),
    ]);
    assert!(answers.iter().any(|answer| answer.contains("22P04")));
    assert_eq!(client.query("select count(*) from t")[1], "row 0");
}

#[test]
fn a_copy_is_part_of_its_transaction() {
    let (server, mut client) = table();
    client.query("begin");
    let answers = copied(&mut client, "copy t from stdin", &[b"1\ta\t1\t\\N\n"]);
    assert_eq!(answers, ["G", "done COPY 1", "ready T"]);
    let mut other = connect(&server);
    assert_eq!(other.query("select count(*) from t")[1], "row 0");
    client.query("commit");
    assert_eq!(other.query("select count(*) from t")[1], "row 1");
    client.query("begin");
    let answers = copied(&mut client, "copy t from stdin", &[b"1\ta\t1\t\\N\n"]);
    assert_eq!(answers[2..], ["ready E"]);
    client.query("rollback");
    // A client that vanishes leaves nothing.
    let mut lost = connect(&server);
    lost.send(&[query("copy t from stdin"), data(b"9\ta\t1\t\\N\n")]);
    assert_eq!(lost.next().unwrap().kind, 'G');
    drop(lost);
    assert_eq!(client.query("delete from t")[0], "done DELETE 1");
}

#[test]
fn the_extended_protocol_copies_too() {
    let (_server, mut client) = table();
    // As libpq does it: the first Sync goes ahead of the rows.
    client.send(&[
        parse("", "copy t from stdin", &[]),
        bind("", "", &[]),
        execute("", 0),
        sync(),
        data(b"1\ta\t1\t\\N\n"),
        done(),
        sync(),
    ]);
    let answers = shown(&client.until_ready());
    assert_eq!(answers, ["parsed", "bound", "G", "done COPY 1", "ready I"]);
    client.send(&[
        parse("", "copy t to stdout", &[]),
        bind("", "", &[]),
        execute("", 0),
        sync(),
    ]);
    let kinds: String = client
        .until_ready()
        .iter()
        .map(|answer| answer.kind)
        .collect();
    assert_eq!(kinds, "12HdcCZ");
}

#[test]
fn many_rows_pass_through_little_memory() {
    let (_server, mut client) = table();
    client.send(&[query("copy t from stdin")]);
    assert_eq!(client.next().unwrap().kind, 'G');
    let mut row = 0;
    for _ in 0..200 {
        let mut piece = String::new();
        for _ in 0..500 {
            piece += &format!("{row}\tname of {row}\t1.25\t2024-01-01\n");
            row += 1;
        }
        client.send(&[data(piece.as_bytes())]);
    }
    assert_eq!(client.say(&[done()]), ["done COPY 100000", "ready I"]);
    assert_eq!(
        client.query("select count(*), sum(id) from t")[1],
        "row 100000|4999950000"
    );
    let text = taken(&mut client, "copy t to stdout");
    assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), 100_000);
}
