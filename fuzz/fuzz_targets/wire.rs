//! Arbitrary bytes as what a client says to a server on loopback: it answers or ends the conversation; it does not panic, hang or
//! let anybody in without proof, and it still serves the next client.
//!
//! `cargo +nightly fuzz run --features wire wire`
//!
//! The first byte says whether the server wants passwords, and whether the rest is sent as it is or cut into messages with right
//! lengths, which gets further than lengths that a fuzzer has to guess.
#![no_main]
#![forbid(unsafe_code)]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::LazyLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use quire::Database;
use quire_server::{Authentication, Server, ServerOptions};

const ASKS_FOR_PROOF: u8 = 1;
const HAS_RAW_LENGTHS: u8 = 2;
const IS_LOGGED_IN: u8 = 4;

static OPEN: LazyLock<Server> = LazyLock::new(|| server(Authentication::Trust));
static CLOSED: LazyLock<Server> = LazyLock::new(|| server(Authentication::Scram));

fn server(authentication: Authentication) -> Server {
    let options = ServerOptions {
        listen: ([127, 0, 0, 1], 0).into(),
        statement_timeout: Some(Duration::from_secs(2)),
        authentication,
        ..ServerOptions::default()
    };
    let database = Database::in_memory().expect("a database in memory");
    let mut connection = database.connect();
    for statement in [
        "CREATE TABLE t (a INTEGER, b TEXT)",
        "INSERT INTO t VALUES (1, 'one'), (2, NULL)",
        "CREATE USER ada PASSWORD 'lovelace'",
    ] {
        connection.execute(statement).expect("a valid statement");
    }
    Server::start(database, options).expect("a free port")
}

fn startup() -> Vec<u8> {
    let body = b"\0\x03\0\0user\0ada\0\0";
    [&(body.len() as u32 + 4).to_be_bytes()[..], body].concat()
}

/// Kind, length in one byte, body; and so on.
fn with_right_lengths(bytes: &[u8]) -> Vec<u8> {
    let mut sent = Vec::with_capacity(bytes.len() * 2);
    let mut rest = bytes;
    while let [kind, length, after @ ..] = rest {
        let (body, after) = after.split_at(after.len().min(usize::from(*length)));
        sent.push(*kind);
        sent.extend((body.len() as u32 + 4).to_be_bytes());
        sent.extend(body);
        rest = after;
    }
    sent
}

/// What the server says until it ends the conversation.
fn answers_to(server: &Server, sent: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(server.address()).expect("the server accepts");
    let patience = Some(Duration::from_secs(30));
    stream.set_read_timeout(patience).expect("a valid timeout");
    // The server may have ended the conversation already.
    let _ = stream.write_all(sent);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answers = Vec::new();
    if let Err(error) = stream.read_to_end(&mut answers) {
        let is_over = error.kind() == std::io::ErrorKind::ConnectionReset;
        assert!(is_over, "no end within {patience:?}: {error}");
    }
    answers
}

fuzz_target!(|bytes: &[u8]| {
    let [flags, rest @ ..] = bytes else {
        return;
    };
    let mut sent = Vec::new();
    if flags & IS_LOGGED_IN != 0 {
        sent.extend(startup());
    }
    if flags & HAS_RAW_LENGTHS != 0 {
sent.extend(rest)
} else {
sent.extend(with_right_lengths(rest))
}
    if flags & ASKS_FOR_PROOF == 0 {
        answers_to(&OPEN, &sent);
        return;
    }
    let answers = answers_to(&CLOSED, &sent);
    let is_authenticated = answers.windows(9).any(|part| part == b"R\0\0\0\x08\0\0\0\0");
    assert!(!is_authenticated, "nobody has proved anything");
});
