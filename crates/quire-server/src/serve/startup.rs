//! How a session begins.

use std::sync::Arc;

use crate::auth::Login;
use crate::failure::ServerFailure;
use crate::net::Sender;
use crate::server_state::ServerState;
use crate::session::{ClientSession, SessionStop};
use crate::wire::{StartupPacket, StartupRequest};

/// Largest first packet.
const PACKET_BYTES_MAX: usize = 10_000;
/// The newest minor version of protocol 3 that is spoken here; there is no 3.1.
const NEWEST_MINOR: u16 = 2;
/// Secret bytes that a cancellation has to repeat, in protocol 3.0 and from 3.2 on.
const SECRET_BYTES: usize = 4;
const LONG_SECRET_BYTES: usize = 32;

/// Parameters of the first packet that are no settings.
const NO_SETTINGS: [&str; 4] = ["user", "database", "options", "replication"];

/// What came of a first packet.
pub(super) enum StartupOutcome {
    /// The client was told what it may do, and begins again.
    AskedAgain,
    /// It was told that TLS begins.
    Encrypting,
    /// It was asked for its proof.
    Proving(Box<Login>),
    /// Another statement was cancelled; the connection has no other purpose.
    Cancelled,
    Session(Box<ClientSession>),
}

/// The bytes of the first packet with its length, when it has come in full.
pub(super) fn packet_bytes(waiting: &[u8]) -> Result<Option<usize>, SessionStop> {
    let Some(length) = waiting.first_chunk::<4>() else {
        return Ok(None);
    };
    match usize::try_from(i32::from_be_bytes(*length)) {
        Ok(length) if (8..=PACKET_BYTES_MAX).contains(&length) => {
            Ok((waiting.len() >= length).then_some(length))
        }
        _ => Err(SessionStop::Failed(ServerFailure::fatal(
            "08P01",
            "invalid length of startup packet",
        ))),
    }
}

/// The connection that a first packet came on.
pub(super) struct Circumstances {
    /// How many bytes have come after it already.
    pub(super) behind: usize,
    /// There is no room for its session.
    pub(super) is_beyond: bool,
    pub(super) is_encrypted: bool,
}

/// Answers a first packet.
pub(super) fn begin(
    packet: &[u8],
    circumstances: &Circumstances,
    shared: &Arc<ServerState>,
    sender: &mut Sender,
) -> Result<StartupOutcome, SessionStop> {
    let opening = StartupRequest::read(packet)
        .map_err(|malformed| ServerFailure::fatal("08P01", malformed.to_string()))?;
    match opening {
        StartupRequest::Cancel { process_id, secret } => {
            shared.registry.cancel(process_id, secret);
            Ok(StartupOutcome::Cancelled)
        }
        StartupRequest::Tls | StartupRequest::GssEncryption => {
            if circumstances.is_encrypted {
                let text = "the connection is encrypted already";
                return Err(SessionStop::Failed(ServerFailure::fatal("08P01", text)));
            }
            if circumstances.behind > 0 {
                // Whoever sent them may be between the client and us.
                let text = "received unencrypted data after a request for encryption";
                return Err(SessionStop::Failed(ServerFailure::fatal("08P01", text)));
            }
            if shared.tls.is_some() && opening == StartupRequest::Tls {
                sender.output.bytes.push(b'S');
                return Ok(StartupOutcome::Encrypting);
            }
            sender.output.bytes.push(b'N');
            Ok(StartupOutcome::AskedAgain)
        }
        StartupRequest::Startup(packet) => {
            if circumstances.is_beyond {
                let failure = ServerFailure::fatal("53300", "sorry, too many clients already");
                return Err(SessionStop::Failed(failure.with_hint("Try again later.")));
            }
            introduce(&packet, circumstances.is_encrypted, shared, sender)
        }
    }
}

/// A client says who it is; it may have to prove it.
fn introduce(
    packet: &StartupPacket<'_>,
    is_encrypted: bool,
    shared: &Arc<ServerState>,
    sender: &mut Sender,
) -> Result<StartupOutcome, SessionStop> {
    check_packet(packet)?;
    if shared.requires_tls() && !is_encrypted {
        let failure = ServerFailure::fatal("28000", "connections without TLS are refused");
        return Err(SessionStop::Failed(
            failure.with_hint("Set sslmode=require."),
        ));
    }
    if !shared.requires_login() {
        return start(packet, false, shared, sender);
    }
    let tls = shared.tls.as_ref().filter(|_| is_encrypted);
    let certificate_hash = tls.and_then(|tls| tls.certificate_hash.clone());
    let user = packet.parameter("user").unwrap_or_default();
    let login = shared.begin_login(user, certificate_hash);
    negotiate(packet, sender);
    sender.output.authentication_sasl(login.mechanisms());
    Ok(StartupOutcome::Proving(Box::new(login)))
}

/// A client has proved who it is.
pub(super) fn proved(
    packet: &[u8],
    login: &Login,
    shared: &Arc<ServerState>,
    sender: &mut Sender,
) -> Result<StartupOutcome, SessionStop> {
    let user = login.user();
    if !shared
        .database
        .role(user)
        .is_some_and(|role| role.can_log_in)
    {
        let text = format!("role \"{user}\" is not permitted to log in");
        return Err(SessionStop::Failed(ServerFailure::fatal("28000", text)));
    }
    match StartupRequest::read(packet) {
        Ok(StartupRequest::Startup(packet)) => start(&packet, true, shared, sender),
        _ => Err(SessionStop::Broken),
    }
}

fn check_packet(packet: &StartupPacket<'_>) -> Result<(), SessionStop> {
    if packet.major != 3 {
        let (major, minor) = (packet.major, packet.minor);
        let text =
            format!("unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.2");
        return Err(SessionStop::Failed(ServerFailure::fatal("0A000", text)));
    }
    if packet.parameter("user").is_none_or(str::is_empty) {
        let text = "no PostgreSQL user name specified in startup packet";
        return Err(SessionStop::Failed(ServerFailure::fatal("28000", text)));
    }
    if packet
        .parameter("replication")
        .is_some_and(|value| !is_off(value))
    {
        return Err(SessionStop::Failed(ServerFailure::fatal(
            "0A000",
            "replication is not supported",
        )));
    }
    Ok(())
}

/// Tells a client of versions and options that are not known here.
fn negotiate(packet: &StartupPacket<'_>, sender: &mut Sender) {
    let unknown = packet.parameters.iter().map(|(name, _)| *name);
    let unknown: Vec<&str> = unknown.filter(|name| name.starts_with("_pq_.")).collect();
    if packet.minor > NEWEST_MINOR || !unknown.is_empty() {
        sender
            .output
            .negotiate_version(packet.minor.min(NEWEST_MINOR), &unknown);
    }
}

/// Begins the session of a client, which has proved who it is or need not.
fn start(
    packet: &StartupPacket<'_>,
    is_proved: bool,
    shared: &Arc<ServerState>,
    sender: &mut Sender,
) -> Result<StartupOutcome, SessionStop> {
    let mut connection = shared.database.connect();
    let user = packet.parameter("user").unwrap_or_default();
    connection.set_identity(user, packet.parameter("database").unwrap_or(user));
    if is_proved || shared.database.role(user).is_some() {
        connection.restrict_to_role();
    }
    if let Some(limit) = shared.options.statement_timeout {
        let limit = format!("{}ms", limit.as_millis());
        connection
            .set_setting("statement_timeout", &limit)
            .map_err(ServerFailure::from)?;
    }
    for (name, value) in settings(packet)? {
        connection.set_setting(&name, &value).map_err(|error| {
            let mut failure = ServerFailure::from(error);
            failure.severity = crate::failure::Severity::Fatal;
            failure
        })?;
    }
    connection.keep_settings();
    if !is_proved {
        negotiate(packet, sender);
    }
    let mut secret = vec![
        0;
        if packet.minor >= 2 {
            LONG_SECRET_BYTES
        } else {
            SECRET_BYTES
        }
    ];
    getrandom::fill(&mut secret).map_err(|error| {
        ServerFailure::fatal("XX000", format!("there are no random numbers: {error}"))
    })?;
    sender.output.authentication_ok();
    // Numbers of connections are those of PostgreSQL's processes, which have 22 bits.
    let process_id = i32::try_from(connection.number()).unwrap_or(i32::MAX);
    let peer = shared
        .registry
        .add(process_id, secret.clone(), connection.cancel_handle());
    let session = ClientSession::begin(connection, Arc::clone(shared), peer, sender);
    sender.output.backend_key(process_id, &secret);
    sender.output.ready(b'I');
    Ok(StartupOutcome::Session(Box::new(session)))
}

fn is_off(value: &str) -> bool {
    ["false", "off", "no", "0"].contains(&value.to_ascii_lowercase().as_str())
}

/// The settings that a client wants from the beginning.
fn settings(packet: &StartupPacket<'_>) -> Result<Vec<(String, String)>, ServerFailure> {
    let mut settings = match packet.parameter("options") {
        Some(options) => options_of(options)?,
        None => Vec::new(),
    };
    for (name, value) in &packet.parameters {
        if !NO_SETTINGS.contains(name) && !name.starts_with("_pq_.") {
            settings.push(((*name).to_owned(), (*value).to_owned()));
        }
    }
    Ok(settings)
}

/// What `-c name=value` and `--name=value` say; a backslash keeps a blank within a value.
fn options_of(text: &str) -> Result<Vec<(String, String)>, ServerFailure> {
    let mut settings = Vec::new();
    let mut words = words_of(text).into_iter();
    while let Some(word) = words.next() {
        let assignment = match (word.strip_prefix("-c"), word.strip_prefix("--")) {
            (Some(""), _) => words.next().unwrap_or_default(),
            (Some(rest), _) | (None, Some(rest)) => rest.to_owned(),
            (None, None) => word,
        };
        let Some((name, value)) = assignment.split_once('=') else {
            let text = format!("invalid command-line argument for server process: {assignment}");
            return Err(ServerFailure::fatal("42601", text));
        };
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(settings)
}

fn words_of(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character.is_ascii_whitespace() {
            words.push(String::new());
        } else if let Some(word) = words.last_mut() {
            word.extend(if character == '\\' {
                characters.next()
            } else {
                Some(character)
            });
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn options_are_settings() {
        let found = options_of("-c a=1  --lock-timeout=2s -cb=x\\ y").unwrap();
        let expected = [("a", "1"), ("lock_timeout", "2s"), ("b", "x y")];
        let found: Vec<_> = found
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        assert_eq!(found, expected);
        assert!(options_of("-c nonsense").is_err());
        assert!(options_of("").unwrap().is_empty());
    }

    #[test]
    fn packets_of_wrong_lengths_are_refused() {
        assert_eq!(packet_bytes(&[0, 0, 0]).unwrap(), None);
        assert_eq!(packet_bytes(&[0, 0, 0, 9, 1, 2, 3, 4]).unwrap(), None);
        assert_eq!(packet_bytes(&[0, 0, 0, 8, 1, 2, 3, 4]).unwrap(), Some(8));
        for wrong in [[0, 0, 0, 7], [0, 0, 0x27, 0x11], [0xFF, 0xFF, 0xFF, 0xFF]] {
            assert!(packet_bytes(&wrong).is_err(), "{wrong:?}");
        }
    }
}
