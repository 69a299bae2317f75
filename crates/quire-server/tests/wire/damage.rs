//! Conversations that somebody has damaged: the server answers or ends them, and no thread of it panics.
//!
//! `QUIRE_WIRE_CASES` says how many; a failure prints the seed, and `QUIRE_WIRE_SEED` begins with it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use quire_server::{Authentication, ServerOptions};

use crate::client::{connect, query, server_with, startup};

static PANICS: AtomicUsize = AtomicUsize::new(0);

fn number(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(default)
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind], &(body.len() as u32 + 4).to_be_bytes()[..], body].concat()
}

fn packet(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32 + 4).to_be_bytes()[..], body].concat()
}

/// Messages as clients send them, one after the other.
fn conversation(random: &mut Random, asks_for_proof: bool) -> Vec<Vec<u8>> {
    let mut parts = vec![packet(&startup(
        0,
        &[("user", "ada"), ("options", "-c a=b")],
    ))];
    if random.below(4) == 0 {
        parts.insert(0, packet(&80_877_103_u32.to_be_bytes()));
    }
    if asks_for_proof {
        let first = b"SCRAM-SHA-256\0\0\0\0\x0cn,,n=,r=abcd";
        parts.push(message(b'p', first));
        parts.push(message(b'p', b"c=biws,r=abcd,p=AAAA"));
    }
    let all = [
        query("select a, b from t"),
        query("begin; insert into t values (1, 'x'); rollback"),
        message(b'P', b"s\0select $1::integer + a from t\0\0\x01\0\0\0\x17"),
        message(
            b'B',
            b"p\0s\0\0\x01\0\x01\0\x01\0\0\0\x04\0\0\0\x07\0\x01\0\x01",
        ),
        message(b'D', b"Pp\0"),
        message(b'D', b"Ss\0"),
        message(b'E', b"p\0\0\0\0\x01"),
        message(b'C', b"Ss\0"),
        message(b'S', b""),
        message(b'H', b""),
        query("copy t from stdin"),
        message(b'd', b"1\tone\n2\ttwo\n"),
        message(b'd', b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x02"),
        message(b'c', b""),
        message(b'f', b"no\0"),
        query("copy t to stdout (format binary)"),
        query("copy t from stdin (format binary)"),
    ];
    for _ in 0..random.below(12) {
        parts.push(all[random.below(all.len())].clone());
    }
    parts
}

fn damage(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..random.below(6) {
        let at = random.below(bytes.len());
        match random.below(5) {
            0 => bytes[at] = random.below(256) as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes.insert(at, random.below(256) as u8),
            3 if bytes.len() > 1 => drop(bytes.remove(at)),
            _ => bytes[at] = [0, 0x7F, 0x80, 0xFF][random.below(4)],
        }
    }
}

#[test]
fn damaged_conversations_do_no_harm() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current()
            .name()
            .is_some_and(|name| name.starts_with("quire"))
        {
            PANICS.fetch_add(1, Ordering::SeqCst);
        }
        usual(panic);
    }));
    let seed = number("QUIRE_WIRE_SEED", 0x9E37_79B9_7F4A_7C15);
    let open = server_with(ServerOptions::default());
    let closed = server_with(ServerOptions {
        authentication: Authentication::Scram,
        ..ServerOptions::default()
    });
    let mut witness = connect(&open);
    witness.query("create table t (a integer, b text)");
    let mut random = Random(seed);
    for case in 0..number("QUIRE_WIRE_CASES", 300) {
        let state = random.0;
        let asks_for_proof = random.below(3) == 0;
        let parts = conversation(&mut random, asks_for_proof);
        let mut bytes = parts.concat();
        damage(&mut random, &mut bytes);
        let address = if asks_for_proof {
            closed.address()
        } else {
            open.address()
        };
        let mut stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(120)))
            .unwrap();
        // The server may have ended the connection already.
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answers = Vec::new();
        let _ = stream.read_to_end(&mut answers);
        assert_eq!(
            PANICS.load(Ordering::SeqCst),
            0,
            "case {case}, QUIRE_WIRE_SEED={state}"
        );
        if asks_for_proof {
            assert!(
                !answers.ends_with(b"Z\0\0\0\x05I"),
                "case {case}, QUIRE_WIRE_SEED={state}"
            );
        }
    }
    assert_eq!(witness.query("select 1")[1], "row 1");
}
