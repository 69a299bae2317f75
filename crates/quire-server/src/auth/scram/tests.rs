#![allow(clippy::unwrap_used)]
use quire::scram::DEFAULT_ITERATIONS;

use super::*;

/// The conversation of RFC 7677, section 3: user "user", password "pencil".
const CLIENT_FIRST: &str = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
const OWN_NONCE: &str = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
const SERVER_FIRST: &str =
    "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
const CLIENT_LAST: &str = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
    p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
const SERVER_LAST: &str = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

fn initial(mechanism: &str, message: &str) -> Vec<u8> {
    let length = (message.len() as i32).to_be_bytes();
    [mechanism.as_bytes(), &[0], &length, message.as_bytes()].concat()
}

fn login(is_known: bool, certificate_hash: Option<&[u8]>) -> Login {
    let salt = decode_base64("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
    let verifier = ScramVerifier::with_salt("pencil", &salt, DEFAULT_ITERATIONS);
    Login::new(
        "user",
        verifier,
        is_known,
        certificate_hash.map(<[u8]>::to_vec),
    )
}

fn challenged() -> Login {
    let mut login = login(true, None);
    let step = login.challenge(&initial(PLAIN, CLIENT_FIRST), OWN_NONCE);
    let Ok(ScramStep::Continue(answer)) = step else {
        panic!("not challenged")
    };
    assert_eq!(answer, SERVER_FIRST);
    login
}

fn sqlstate(step: Result<ScramStep, ServerFailure>) -> String {
    step.err().map_or("accepted".to_owned(), |failure| {
        failure.sqlstate.into_owned()
    })
}

#[test]
fn the_conversation_of_the_rfc() {
    match challenged().take(CLIENT_LAST.as_bytes()) {
        Ok(ScramStep::Proved(answer)) => assert_eq!(answer, SERVER_LAST),
        _ => panic!("not proved"),
    }
}

#[test]
fn what_is_wrong_is_refused_by_its_name() {
    let with = |from: &str, to: &str| CLIENT_LAST.replace(from, to);
    for (message, expected) in [
        (with("p=dHzb", "p=dHzc"), "28P01"),
        (with("k0,p=", "k1,p="), "08P01"),
        (with("c=biws", "c=eSws"), "28000"),
        (with("c=biws", "c=!"), "08P01"),
        (with("k0,p=", "k0,x=1,p="), "28P01"),
        (with("VQ=", "VQ=="), "08P01"),
    ] {
        assert_eq!(
            sqlstate(challenged().take(message.as_bytes())),
            expected,
            "{message}"
        );
    }
    // Nobody has this password, not even who knows it.
    let mut nobody = login(false, None);
    assert!(
        nobody
            .challenge(&initial(PLAIN, CLIENT_FIRST), OWN_NONCE)
            .is_ok()
    );
    assert_eq!(sqlstate(nobody.take(CLIENT_LAST.as_bytes())), "28P01");
}

#[test]
fn messages_that_are_cut_off_prove_nothing() {
    for length in 0..CLIENT_LAST.len() {
        let step = challenged().take(&CLIENT_LAST.as_bytes()[..length]);
        assert_ne!(sqlstate(step), "accepted", "{length}");
    }
    let whole = initial(PLAIN, CLIENT_FIRST);
    for length in 0..whole.len() {
        assert_eq!(
            sqlstate(login(true, None).take(&whole[..length])),
            "08P01",
            "{length}"
        );
    }
}

#[test]
fn no_bytes_are_a_reason_to_panic_or_to_believe() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    let mut damage = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        for _ in 0..=random() % 4 {
            let at = random() % bytes.len();
            bytes[at] = random() as u8;
        }
        bytes
    };
    let last = CLIENT_LAST.as_bytes();
    for _ in 0..5_000 {
        let mut asked = login(true, Some(b"hash"));
        let _ = asked.take(&damage(&initial(BOUND, "p=tls-server-end-point,,n=,r=abc")));
        let changed = damage(last);
        if changed != last {
            assert_ne!(
                sqlstate(challenged().take(&changed)),
                "accepted",
                "{changed:?}"
            );
        }
    }
}

#[test]
fn proofs_are_bound_to_the_connection() {
    let offered = login(true, Some(b"hash"));
    assert_eq!(offered.mechanisms(), [BOUND, PLAIN]);
    assert_eq!(login(true, None).mechanisms(), [PLAIN]);
    let begin = |mechanism, first: &str| {
        let mut login = login(true, Some(b"hash"));
        let step = login.challenge(&initial(mechanism, first), OWN_NONCE);
        sqlstate(step.map(|_| ScramStep::Proved(String::new())))
    };
    assert_eq!(begin(BOUND, "p=tls-server-end-point,,n=,r=abc"), "accepted");
    assert_eq!(begin(PLAIN, "n,,n=,r=abc"), "accepted");
    // Somebody in between has taken the better mechanism out of the offer.
    assert_eq!(begin(PLAIN, "y,,n=,r=abc"), "28000");
    assert_eq!(begin(BOUND, "p=tls-unique,,n=,r=abc"), "08P01");
    assert_eq!(begin(BOUND, "n,,n=,r=abc"), "08P01");
    assert_eq!(begin(PLAIN, "p=tls-server-end-point,,n=,r=abc"), "08P01");
    assert_eq!(begin(PLAIN, "n,a=ada,n=,r=abc"), "0A000");
    assert_eq!(begin(PLAIN, "n,,m=x,n=,r=abc"), "08P01");
    assert_eq!(begin("SCRAM-SHA-1", "n,,n=,r=abc"), "08P01");

    // The hash of another certificate.
    let mut login = login(true, Some(b"hash"));
    let first = initial(BOUND, "p=tls-server-end-point,,n=,r=abc");
    assert!(login.challenge(&first, "def").is_ok());
    let other = encode_base64(b"p=tls-server-end-point,,hast");
    let proof = encode_base64(&[0; KEY_BYTES]);
    let last = format!("c={other},r=abcdef,p={proof}");
    assert_eq!(sqlstate(login.take(last.as_bytes())), "28000");
    let same = encode_base64(b"p=tls-server-end-point,,hash");
    let last = format!("c={same},r=abcdef,p={proof}");
    assert_eq!(sqlstate(login.take(last.as_bytes())), "28P01");
}
