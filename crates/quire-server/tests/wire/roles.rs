//! Roles, and who is let in.

use quire::Database;
use quire_server::{Authentication, Server, ServerOptions};

use crate::client::{connect, open, server, server_with, shown, startup};

fn roles(database: &Database) -> Vec<String> {
    let names = ["ada", "bob", "eve"].into_iter();
    names
        .filter(|name| database.role(name).is_some())
        .map(str::to_owned)
        .collect()
}

#[test]
fn roles_are_changed_in_transactions_and_stay() {
    let folder = std::env::temp_dir().join(format!("quire-roles-{}", std::process::id()));
    let _ = std::fs::remove_file(&folder);
    let database = Database::open(&folder).unwrap();
    let mut connection = database.connect();
    for sql in [
        "CREATE USER ada SUPERUSER PASSWORD 'one'",
        "CREATE ROLE bob",
        "BEGIN",
        "DROP ROLE ada",
        "CREATE ROLE eve",
        "ROLLBACK",
        "ALTER ROLE bob RENAME TO eve",
        "DROP ROLE IF EXISTS nobody",
    ] {
        connection.execute(sql).unwrap();
    }
    assert_eq!(roles(&database), ["ada", "eve"]);
    let before = database.role("ada").unwrap();
    drop((connection, database));
    let database = Database::open(&folder).unwrap();
    assert_eq!(database.role("ada").unwrap(), before);
    assert!(before.is_superuser && before.can_log_in && before.verifier.is_some());
    let eve = database.role("eve").unwrap();
    assert!(!eve.is_superuser && !eve.can_log_in && eve.verifier.is_none());
    assert!(database.has_login_role());
    drop(database);
    std::fs::remove_file(&folder).unwrap();
}

#[test]
fn what_roles_cannot_have_is_refused() {
    let database = Database::in_memory().unwrap();
    let mut connection = database.connect();
    connection.execute("CREATE ROLE ada").unwrap();
    for (sql, sqlstate) in [
        ("CREATE ROLE ada", "42710"),
        ("CREATE ROLE pg_ada", "42939"),
        ("CREATE ROLE bob CREATEDB", "0A000"),
        ("CREATE ROLE bob VALID UNTIL 'infinity'", "0A000"),
        ("CREATE ROLE bob IN ROLE ada", "0A000"),
        ("CREATE ROLE bob PASSWORD ''", "22023"),
        (
            "CREATE ROLE bob PASSWORD 'md5aabbccddeeff00112233445566778899'",
            "0A000",
        ),
        ("CREATE ROLE bob NONSENSE", "42601"),
        ("ALTER ROLE bob LOGIN", "42704"),
        ("ALTER ROLE ada SET search_path TO public", "0A000"),
        ("DROP ROLE bob", "42704"),
        ("GRANT SELECT ON t TO ada", "0A000"),
        ("REVOKE ALL ON t FROM ada", "0A000"),
    ] {
        let error = connection.execute(sql).unwrap_err();
        assert_eq!(error.sqlstate(), sqlstate, "{sql}: {error}");
    }
}

/// What the server says to a first packet of ada.
fn first_answer(server: &Server) -> Vec<u8> {
    let mut client = open(server);
    client.send_packet(&startup(0, &[("user", "ada")]));
    client.next().unwrap().body
}

const OK: [u8; 4] = [0; 4];
const SASL: &[u8] = b"\0\0\0\x0aSCRAM-SHA-256\0\0";

#[test]
fn passwords_are_asked_for_as_soon_as_there_is_one() {
    let server = server();
    assert_eq!(first_answer(&server), OK);
    let mut client = connect(&server);
    client.query("create role ada login");
    assert_eq!(first_answer(&server), OK);
    client.query("alter role ada superuser password 'secret'");
    assert_eq!(first_answer(&server), SASL);
    client.query("alter role ada nologin");
    assert_eq!(first_answer(&server), OK);

    for (authentication, expected) in [
        (Authentication::Trust, &OK[..]),
        (Authentication::Scram, SASL),
    ] {
        let server = server_with(ServerOptions {
            authentication,
            ..ServerOptions::default()
        });
        assert_eq!(first_answer(&server), expected);
    }
}

#[test]
fn whoever_does_not_answer_the_question_is_not_let_in() {
    let server = server_with(ServerOptions {
        authentication: Authentication::Scram,
        ..ServerOptions::default()
    });
    let sasl = |data: &[u8]| {
        let length = (data.len() as i32).to_be_bytes();
        let body = [b"SCRAM-SHA-256\0", &length[..], data].concat();
        [b"p", &(body.len() as i32 + 4).to_be_bytes()[..], &body].concat()
    };
    for (message, sqlstate) in [
        (b"Q\0\0\0\x0dselect 1\0".to_vec(), "08P01"),
        (b"p\0\0\0\x04".to_vec(), "08P01"),
        (b"p\x7f\xff\xff\xff".to_vec(), "54000"),
        (sasl(b"y"), "08P01"),
        (sasl(b"p=tls-server-end-point,,n=,r=abc"), "08P01"),
        (
            [sasl(b"n,,n=,r=abc"), sasl(b"n,,n=,r=abc")].concat(),
            "08P01",
        ),
    ] {
        let mut client = open(&server);
        client.send_packet(&startup(0, &[("user", "ada")]));
        assert_eq!(client.next().unwrap().body, SASL);
        client.send(std::slice::from_ref(&message));
        let answers = shown(&client.until_end());
        assert_eq!(
            answers.last().unwrap(),
            &format!("error {sqlstate}"),
            "{message:?}"
        );
        assert!(!answers.iter().any(|answer| answer.starts_with("ready")));
    }
}
