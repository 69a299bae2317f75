//! What a server bears.

use std::time::{Duration, Instant};

use quire::Database;
use quire_server::{Server, ServerError, ServerOptions};

use crate::client::{Client, connect, open, query, server, server_with, shown, startup};

#[test]
fn only_this_machine_is_listened_to() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:5432"] {
        let options = ServerOptions {
            listen: address.parse().unwrap(),
            ..ServerOptions::default()
        };
        let refused = Server::start(Database::in_memory().unwrap(), options).unwrap_err();
        assert!(matches!(refused, ServerError::Exposed { .. }), "{refused}");
    }
}

#[test]
fn connections_are_counted() {
    let server = server_with(ServerOptions {
        connections_max: 2,
        ..ServerOptions::default()
    });
    let (one, mut two) = (connect(&server), connect(&server));
    let mut third = open(&server);
    third.send_packet(&startup(0, &[("user", "ada")]));
    assert_eq!(shown(&third.until_end()), ["error 53300"]);
    assert_eq!(two.query("select 1")[1], "row 1");
    drop(one);
    // Its place is free as soon as the server has seen it go.
    let mut next = loop {
        let mut next = open(&server);
        next.send_packet(&startup(0, &[("user", "ada")]));
        if next.next().unwrap().kind == 'R' {
            break next;
        }
    };
    next.until_ready();
}

#[test]
fn large_messages_are_refused_before_they_come() {
    let server = server_with(ServerOptions {
        message_bytes_max: 100_000,
        ..ServerOptions::default()
    });
    let mut client = connect(&server);
    let text = "x".repeat(90_000);
    assert_eq!(
        client.query(&format!("select length('{text}')"))[1],
        "row 90000"
    );
    client.send(&[b"Q\0\x01\x86\xa1".to_vec()]);
    assert_eq!(shown(&client.until_end()), ["error 54000"]);
    for wrong in [
        b"Q\0\0\0\x03".as_slice(),
        b"Q\xff\xff\xff\xff",
        b"z\0\0\0\x04",
    ] {
        let mut client = connect(&server);
        client.send(&[wrong.to_vec()]);
        assert_eq!(shown(&client.until_end()), ["error 08P01"]);
    }
}

#[test]
fn a_client_must_say_who_it_is() {
    let server = server_with(ServerOptions {
        startup_timeout: Duration::from_millis(100),
        ..ServerOptions::default()
    });
    let (mut silent, mut slow) = (open(&server), open(&server));
    slow.send(&[vec![0, 0, 0, 50]]);
    assert!(silent.until_end().is_empty());
    assert!(slow.until_end().is_empty());
    let mut client = connect(&server);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(client.query("select 1")[1], "row 1");
}

/// A table with a row that `holder` keeps from being changed.
fn locked_row(server: &Server) -> Client {
    let mut holder = connect(server);
    holder.query("create table t (a integer primary key, b integer)");
    holder.query("insert into t values (1, 0)");
    holder.query("begin");
    assert_eq!(holder.query("update t set b = 1")[0], "done UPDATE 1");
    holder
}

/// It waits as long as the row is locked.
const LONG: &str = "update t set b = b + 1 where a = 1";

#[test]
fn statements_have_their_time() {
    let server = server();
    let _holder = locked_row(&server);
    let mut client = connect(&server);
    client.query("set statement_timeout = '100ms'");
    client.send(&[query(LONG)]);
    let answers = client.until_ready();
    assert_eq!(answers[answers.len() - 2].field('C').unwrap(), "57014");
    let text = answers[answers.len() - 2].field('M').unwrap();
    assert_eq!(text, "canceling statement due to statement timeout");
    client.query("set statement_timeout = 0");
    assert_eq!(client.query("select 1")[1], "row 1");
}

#[test]
fn another_connection_cancels_with_the_secret() {
    let server = server();
    let _holder = locked_row(&server);
    let mut client = connect(&server);
    client.send(&[query(LONG)]);
    let cancel = |secret: &[u8]| {
        let mut packet = 80_877_102_u32.to_be_bytes().to_vec();
        packet.extend(client.process_id.to_be_bytes());
        packet.extend(secret);
        let mut canceller = open(&server);
        canceller.send_packet(&packet);
        assert!(canceller.until_end().is_empty());
    };
    std::thread::sleep(Duration::from_millis(300));
    cancel(&[1, 2, 3, 4]);
    std::thread::sleep(Duration::from_millis(100));
    cancel(&client.secret.clone());
    let answers = client.until_ready();
    assert_eq!(shown(&answers), ["error 57014", "ready I"]);
    assert_eq!(client.query("select 1")[1], "row 1");
}

#[test]
fn a_transaction_may_not_sleep_for_ever() {
    let server = server();
    let mut client = connect(&server);
    client.query("create table t (a integer primary key)");
    client.query("set idle_in_transaction_session_timeout = '100ms'");
    client.query("begin");
    client.query("insert into t values (1)");
    assert_eq!(shown(&client.until_end()), ["error 25P03"]);
    let mut other = connect(&server);
    other.query("set idle_session_timeout = '100ms'");
    assert_eq!(shown(&other.until_end()), ["error 57P05"]);
}

#[test]
fn silent_connections_hold_no_thread() {
    let server = server();
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let mut clients: Vec<_> = (0..200).map(|_| connect(&server)).collect();
    let began = Instant::now();
    // Other tests of this process have threads as well, but not a hundred.
    while threads() > 100 {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(100));
    }
    for client in &mut clients {
        assert_eq!(client.query("select 1")[1], "row 1");
    }
}

#[test]
fn waiting_statements_do_not_keep_others_from_their_thread() {
    let server = server();
    let mut holder = locked_row(&server);
    let mut waiting: Vec<_> = (0..100).map(|_| connect(&server)).collect();
    for client in &mut waiting {
        client.send(&[query("update t set b = b + 1")]);
    }
    // Long enough for the holder to have been given to the poller.
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(holder.query("commit"), ["done COMMIT", "ready I"]);
    for client in &mut waiting {
        assert_eq!(shown(&client.until_ready()), ["done UPDATE 1", "ready I"]);
    }
    assert_eq!(holder.query("select b from t")[1], "row 101");
}

#[test]
fn a_server_that_stops_says_so() {
    let server = server();
    let mut holder = locked_row(&server);
    let (mut idle, mut busy) = (connect(&server), connect(&server));
    busy.send(&[query(LONG)]);
    std::thread::sleep(Duration::from_millis(300));
    server.stop();
    assert_eq!(shown(&idle.until_end()), ["error 57P01"]);
    assert_eq!(shown(&holder.until_end()), ["error 57P01"]);
    let last = shown(&busy.until_end());
    // Its statement was cancelled, unless the lock was free before that; then the connection ended.
    assert_eq!(last[last.len() - 2..], ["ready I", "error 57P01"]);
}

#[test]
fn statements_that_are_nested_deeply_are_refused() {
    let server = server();
    let mut client = connect(&server);
    for sql in [
        format!("select {}1{}", "(".repeat(10_000), ")".repeat(10_000)),
        format!("select {}1", "- ".repeat(10_000)),
        format!("select {} true", "not ".repeat(10_000)),
    ] {
        let answers = client.query(&sql);
        assert!(answers[0].starts_with("error"), "{}", answers[0]);
    }
    assert_eq!(client.query("select 1")[1], "row 1");
}
