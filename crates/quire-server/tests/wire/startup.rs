//! The first packets.

use crate::client::{Client, connect, open, server, startup};

fn refused(mut client: Client, sqlstate: &str) {
    let answers = client.until_end();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0].field('S').unwrap(), "FATAL");
    assert_eq!(answers[0].field('C').unwrap(), sqlstate);
}

#[test]
fn a_session_is_introduced() {
    let server = server();
    let mut client = open(&server);
    client.send_packet(&startup(
        0,
        &[("user", "ada"), ("application_name", "test")],
    ));
    let answers = client.until_ready();
    let kinds: String = answers.iter().map(|answer| answer.kind).collect();
    assert!(kinds.starts_with("RS") && kinds.ends_with("SKZ"), "{kinds}");
    let settings: Vec<String> = crate::client::shown(&answers);
    for expected in [
        "setting server_encoding=UTF8",
        "setting client_encoding=UTF8",
        "setting integer_datetimes=on",
        "setting standard_conforming_strings=on",
        "setting DateStyle=ISO, MDY",
        "setting TimeZone=UTC",
        "setting application_name=test",
    ] {
        assert!(
            settings.iter().any(|setting| setting == expected),
            "{expected}: {settings:?}"
        );
    }
    assert_eq!(answers[0].body, [0; 4]);
    // Protocol 3.0 has secrets of four bytes.
    let key = answers.iter().find(|answer| answer.kind == 'K').unwrap();
    assert_eq!(key.body.len(), 8);
}

#[test]
fn versions_are_negotiated() {
    let server = server();
    let mut client = open(&server);
    client.send_packet(&startup(2, &[("user", "ada")]));
    let answers = client.until_ready();
    assert!(answers.iter().all(|answer| answer.kind != 'v'));
    let key = answers.iter().find(|answer| answer.kind == 'K').unwrap();
    assert_eq!(key.body.len(), 4 + 32);

    let mut client = open(&server);
    client.send_packet(&startup(9, &[("user", "ada"), ("_pq_.new", "1")]));
    let answers = client.until_ready();
    assert_eq!(answers[0].kind, 'v');
    assert_eq!(answers[0].body, b"\0\x03\0\x02\0\0\0\x01_pq_.new\0");

    let mut client = open(&server);
    client.send_packet(&[0, 2, 0, 0]);
    refused(client, "0A000");
}

#[test]
fn encryption_is_declined_and_the_session_begins_after() {
    let server = server();
    let mut client = open(&server);
    for code in [80_877_104_u32, 80_877_103] {
        client.send_packet(&code.to_be_bytes());
        let mut answer = [0];
        std::io::Read::read_exact(&mut client.stream, &mut answer).unwrap();
        assert_eq!(answer, *b"N");
    }
    client.send_packet(&startup(0, &[("user", "ada")]));
    client.until_ready();
    assert_eq!(client.query("select 1")[1], "row 1");
}

#[test]
fn bytes_behind_a_request_for_encryption_are_refused() {
    let server = server();
    let mut client = open(&server);
    let mut bytes = b"\0\0\0\x08\x04\xd2\x16\x2f".to_vec();
    bytes.extend(b"\0\0\0\x14\0\x03\0\0user\0ada\0\0\0");
    client.send(&[bytes]);
    refused(client, "08P01");
}

#[test]
fn wrong_packets_are_refused() {
    let server = server();
    for (packet, sqlstate) in [
        (startup(0, &[("database", "x")]), "28000"),
        (
            startup(0, &[("user", "ada"), ("replication", "true")]),
            "0A000",
        ),
        (startup(0, &[("user", "ada"), ("nonsense", "1")]), "42704"),
        (
            startup(0, &[("user", "ada"), ("options", "-c lock_timeout=soon")]),
            "22023",
        ),
        (b"\0\x03\0\0user\0ada".to_vec(), "08P01"),
    ] {
        let mut client = open(&server);
        client.send_packet(&packet);
        refused(client, sqlstate);
    }
    for length in [[0, 0, 0, 3], [0x7F, 0xFF, 0xFF, 0xFF], [0xFF; 4], *b"GET "] {
        let mut client = open(&server);
        client.send(&[length.to_vec()]);
        refused(client, "08P01");
    }
    // Others are served.
    assert_eq!(connect(&server).query("select 2")[1], "row 2");
}

#[test]
fn options_of_the_first_packet_are_settings() {
    let server = server();
    let mut client = open(&server);
    let options = "-c statement_timeout=5s -c search_path=public";
    client.send_packet(&startup(0, &[("user", "ada"), ("options", options)]));
    client.until_ready();
    assert_eq!(client.query("show statement_timeout")[1], "row 5s");
}
