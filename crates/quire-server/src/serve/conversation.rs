//! One connection, from its first packet to its last.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::startup::{self, Circumstances, StartupOutcome};
use crate::auth::{Login, ScramStep};
use crate::failure::ServerFailure;
use crate::net::{
    AdmissionSlot, Channel, ClientIdentity, Newcomer, ReceiveBuffer, Sender, SocketFill, origin_of,
};
use crate::server_state::ServerState;
use crate::session::{ClientSession, SessionStop};
use crate::wire::Frontend;

/// How long a worker waits for what a client says next, before the poller does. Clients that work have asked again by then.
const LINGER: Duration = Duration::from_millis(20);
/// Kind and length of a message.
const HEADER_BYTES: usize = 5;
/// The first byte of TLS, which no packet begins with.
const TLS_HANDSHAKE: u8 = 0x16;
/// SQLSTATE of a proof that is wrong.
const WRONG_PASSWORD: &str = "28P01";
/// Largest message of a client that proves who it is.
const PROOF_BYTES_MAX: usize = 10_000;

/// What becomes of a connection that a worker has served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// It has nothing to say for now, or nobody listens to it.
    Silence,
    /// It has ended.
    End,
}

pub(super) struct ClientConversation {
    channel: Arc<Channel>,
    shared: Arc<ServerState>,
    input: ReceiveBuffer,
    sender: Sender,
    phase: ConversationPhase,
    began: Instant,
    /// None once it has been given to another connection.
    place: Option<AdmissionSlot>,
    client: ClientIdentity,
    origin: IpAddr,
    /// Until its session begins.
    newcomer: Option<Newcomer>,
    /// Something is to be sent as soon as there is nothing more to read.
    wants_flush: bool,
}

enum ConversationPhase {
    /// It has not said who it is.
    Opening,
    /// It is to prove it; with its first packet.
    Proving(Box<Login>, Vec<u8>),
    Open(Box<ClientSession>),
    /// It has given a wrong password once more, and is answered later.
    Refused(Box<ServerFailure>, Instant),
}

/// What is to be done after what was there has been answered.
enum ConversationStep {
    Read,
    Wait,
    End,
}

impl ClientConversation {
    pub(super) fn new(
        stream: TcpStream,
        address: SocketAddr,
        shared: Arc<ServerState>,
        place: AdmissionSlot,
    ) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LINGER))?;
        stream.set_write_timeout(Some(shared.options.write_timeout))?;
        let channel = Arc::new(Channel::new(stream));
        let origin = origin_of(address.ip());
        let newcomer = Some(shared.registry.newcomers.enter(origin));
        let client = ClientIdentity {
            address: Some(address),
            ..ClientIdentity::default()
        };
        Ok(Self {
            input: ReceiveBuffer::default(),
            sender: Sender::new(Arc::clone(&channel)),
            channel,
            shared,
            phase: ConversationPhase::Opening,
            began: Instant::now(),
            place: Some(place),
            client,
            origin,
            newcomer,
            wants_flush: false,
        })
    }

    pub(super) fn descriptor(&self) -> RawFd {
        self.channel.descriptor()
    }

    /// Answers what the client says, until it says nothing for a moment.
    pub(super) fn serve(&mut self) -> After {
        loop {
            if self.newcomer.is_some() && self.silent_until() <= Some(Instant::now()) {
                self.end_for_silence();
                return After::End;
            }
            match self.answer() {
                Ok(ConversationStep::Read) => {}
                Ok(ConversationStep::Wait) => return After::Silence,
                Ok(ConversationStep::End) => {
                    let _ = self.sender.flush();
                    return After::End;
                }
                Err(SessionStop::Failed(failure)) => {
                    self.note_end(&failure);
                    self.end_with(&failure);
                    return After::End;
                }
                Err(SessionStop::Broken) => return After::End,
            }
            match self.channel.receive(&mut self.input) {
                Ok(SocketFill::More) => {}
                Ok(SocketFill::Nothing) => return After::Silence,
                Ok(SocketFill::Closed) | Err(_) => {
                    if self.channel.is_stopped() {
                        self.end_with_server();
                    }
                    return After::End;
                }
            }
        }
    }

    /// Answers all that has come in full.
    fn answer(&mut self) -> Result<ConversationStep, SessionStop> {
        loop {
            let go_on = match &mut self.phase {
                ConversationPhase::Opening => self.open()?,
                ConversationPhase::Proving(..) => self.prove()?,
                ConversationPhase::Open(_) => self.continue_session()?,
                ConversationPhase::Refused(..) => return Ok(ConversationStep::Wait),
            };
            match go_on {
                InputProgress::Answered => {}
                InputProgress::Incomplete => break,
                InputProgress::Ended => return Ok(ConversationStep::End),
            }
        }
        if std::mem::take(&mut self.wants_flush) {
            self.sender.flush()?;
        }
        Ok(ConversationStep::Read)
    }

    fn open(&mut self) -> Result<InputProgress, SessionStop> {
        if self.begin_with_tls()? {
            return Ok(InputProgress::Answered);
        }
        let Some(length) = startup::packet_bytes(self.input.waiting())? else {
            return Ok(InputProgress::Incomplete);
        };
        let circumstances = Circumstances {
            behind: self.input.waiting().len() - length,
            is_beyond: self.place == Some(AdmissionSlot::Beyond),
            is_encrypted: self.channel.is_encrypted(),
        };
        let packet = self.input.slice(4..length).to_vec();
        self.client.set_from_startup(&packet);
        let begun = startup::begin(&packet, &circumstances, &self.shared, &mut self.sender)?;
        self.input.take(length);
        self.wants_flush = true;
        match begun {
            StartupOutcome::Encrypting => {
                // The answer is the last that is not encrypted.
                self.sender.flush()?;
                self.encrypt(false)?;
            }
            StartupOutcome::Proving(login) => {
                self.phase = ConversationPhase::Proving(login, packet)
            }
            StartupOutcome::Cancelled => return Ok(InputProgress::Ended),
            StartupOutcome::Session(session) => self.begin_session(session),
            StartupOutcome::AskedAgain => {}
        }
        Ok(InputProgress::Answered)
    }

    /// A client may begin with TLS itself.
    fn begin_with_tls(&mut self) -> Result<bool, SessionStop> {
        let is_new = !self.channel.is_encrypted() && self.shared.tls.is_some();
        let begins = is_new && self.input.waiting().first() == Some(&TLS_HANDSHAKE);
        if begins {
            self.encrypt(true)?;
        }
        Ok(begins)
    }

    /// From now on everything is encrypted. What has come already belongs to it only if the client `began` with TLS.
    fn encrypt(&mut self, began: bool) -> Result<(), SessionStop> {
        let Some(tls) = &self.shared.tls else {
            return Err(SessionStop::Broken);
        };
        let connection = tls.accept()?;
        self.channel.encrypt(connection, began)?;
        if began {
            self.channel.decrypt_waiting(&mut self.input)?;
        }
        Ok(())
    }

    fn prove(&mut self) -> Result<InputProgress, SessionStop> {
        let ConversationPhase::Proving(login, packet) = &mut self.phase else {
            return Ok(InputProgress::Ended);
        };
        let waiting = self.input.waiting();
        let Some((kind, length)) = header(waiting, PROOF_BYTES_MAX)? else {
            return Ok(InputProgress::Incomplete);
        };
        if kind != b'p' {
            let text = format!("expected SASL response, got message type {kind}");
            return Err(SessionStop::Failed(ServerFailure::fatal("08P01", text)));
        }
        let Some(body) = waiting.get(HEADER_BYTES..1 + length) else {
            return Ok(InputProgress::Incomplete);
        };
        let step = login.take(body);
        let step = match step {
            Err(failure) if failure.sqlstate == WRONG_PASSWORD => {
                return Ok(self.refuse_later(failure)?);
            }
            other => other?,
        };
        self.wants_flush = true;
        match step {
            ScramStep::Continue(answer) => {
                self.sender
                    .output
                    .authentication_step(false, answer.as_bytes());
                self.input.take(1 + length);
            }
            ScramStep::Proved(answer) => {
                self.sender
                    .output
                    .authentication_step(true, answer.as_bytes());
                let begun = startup::proved(packet, login, &self.shared, &mut self.sender)?;
                self.input.take(1 + length);
                if let StartupOutcome::Session(session) = begun {
                    let penalties = &self.shared.penalties;
                    penalties.forget(self.origin, &self.client.user);
                    self.begin_session(session);
                }
            }
        }
        Ok(InputProgress::Answered)
    }

    fn begin_session(&mut self, mut session: Box<ClientSession>) {
        let channel = Arc::clone(&self.channel);
        session.end_by(Arc::new(move || channel.stop_reading()));
        self.phase = ConversationPhase::Open(session);
        self.newcomer = None;
    }

    /// A wrong password is answered now if it is the first, and later if it is one of many. Meanwhile no thread waits.
    fn refuse_later(&mut self, failure: ServerFailure) -> Result<InputProgress, ServerFailure> {
        let now = Instant::now();
        let penalties = &self.shared.penalties;
        let delay = penalties.note(self.origin, &self.client.user, now);
        match now.checked_add(delay) {
            Some(until) if !delay.is_zero() => {
                self.note_end(&failure);
                self.phase = ConversationPhase::Refused(Box::new(failure), until);
                Ok(InputProgress::Answered)
            }
            _ => Err(failure),
        }
    }

    fn continue_session(&mut self) -> Result<InputProgress, SessionStop> {
        let ConversationPhase::Open(session) = &mut self.phase else {
            return Ok(InputProgress::Ended);
        };
        let waiting = self.input.waiting();
        let Some((kind, length)) = header(waiting, self.shared.options.message_bytes_max)? else {
            return Ok(InputProgress::Incomplete);
        };
        let total = 1 + length;
        let Some(body) = waiting.get(HEADER_BYTES..total) else {
            return Ok(InputProgress::Incomplete);
        };
        let follows = waiting.get(total).copied();
        if kind == b'X' {
            return Ok(InputProgress::Ended);
        }
        // Whether a statement is all of its transaction, or the first of several, is told by what follows.
        if kind == b'E' && follows.is_none() {
            return Ok(InputProgress::Incomplete);
        }
        self.wants_flush |= matches!(kind, b'Q' | b'S' | b'H' | b'F');
        match Frontend::read(kind, body) {
            Ok(message) => session.handle(message, follows, &mut self.sender)?,
            Err(malformed) => session.refuse(malformed.into(), kind, &mut self.sender)?,
        }
        self.input.take(total);
        Ok(InputProgress::Answered)
    }

    /// Until when the connection may say nothing.
    pub(super) fn silent_until(&self) -> Option<Instant> {
        match &self.phase {
            ConversationPhase::Opening | ConversationPhase::Proving(..) => {
                self.began.checked_add(self.shared.options.startup_timeout)
            }
            ConversationPhase::Open(session) => {
                Instant::now().checked_add(session.silence_limit()?)
            }
            ConversationPhase::Refused(_, until) => Some(*until),
        }
    }

    /// Ends the connection, whose time to say nothing, or to be told nothing, is over.
    pub(super) fn end_for_silence(&mut self) {
        match &self.phase {
            ConversationPhase::Opening | ConversationPhase::Proving(..) => {
                let log = &self.shared.log;
                log.note_client("login refused", "it took too long", &self.client);
            }
            ConversationPhase::Open(session) => {
                let failure = session.silence_failure();
                self.end_with(&failure);
            }
            ConversationPhase::Refused(failure, _) => {
                let failure = failure.as_ref().clone();
                self.end_with(&failure);
            }
        }
    }

    /// What its end is in the log.
    fn note_end(&self, failure: &ServerFailure) {
        let event = match (&self.phase, &*failure.sqlstate) {
            (_, "53300") => "connection refused",
            (ConversationPhase::Open(_), _) => "connection ended",
            _ => "login refused",
        };
        let reason = &failure.message;
        self.shared.log.note_client(event, reason, &self.client);
    }

    /// Whether nobody listens to it until its time is up.
    pub(super) fn is_refused(&self) -> bool {
        matches!(self.phase, ConversationPhase::Refused(..))
    }

    /// Where it comes from and how long it has been there, as long as no session of it has begun.
    pub(super) fn newcomer(&self) -> Option<(IpAddr, Instant)> {
        self.newcomer.as_ref().map(|_| (self.origin, self.began))
    }

    /// Makes room for another connection; this one is only to be dropped.
    pub(super) fn give_up_place(&mut self) {
        if let Some(place) = self.place.take() {
            self.shared.registry.leave(place);
            let reason = "its place was needed";
            let log = &self.shared.log;
            log.note_client("login refused", reason, &self.client);
        }
    }

    pub(super) fn end_with_server(&mut self) {
        let text = "terminating connection due to administrator command";
        self.end_with(&ServerFailure::fatal("57P01", text));
    }

    fn end_with(&mut self, failure: &ServerFailure) {
        self.sender.output.error(failure);
        let _ = self.sender.flush();
    }
}

impl Drop for ClientConversation {
    fn drop(&mut self) {
        // The session's transaction is rolled back before somebody else may come.
        self.phase = ConversationPhase::Opening;
        self.channel.end();
        if let Some(place) = self.place {
            self.shared.registry.leave(place);
        }
    }
}

/// How far the bytes that have come reach.
enum InputProgress {
    Answered,
    Incomplete,
    Ended,
}

/// Kind and length of the next message, when that much has come.
fn header(waiting: &[u8], most: usize) -> Result<Option<(u8, usize)>, SessionStop> {
    let Some((kind, rest)) = waiting.split_first() else {
        return Ok(None);
    };
    if !Frontend::is_known(*kind) {
        let text = format!("invalid frontend message type {kind}");
        return Err(SessionStop::Failed(ServerFailure::fatal("08P01", text)));
    }
    let Some(length) = rest.first_chunk::<4>() else {
        return Ok(None);
    };
    match usize::try_from(i32::from_be_bytes(*length)) {
        Ok(length) if (4..=most).contains(&length) => Ok(Some((*kind, length))),
        Ok(length) if length > most => {
            let text = format!("a message of {length} bytes is too large");
            let failure = ServerFailure::fatal("54000", text);
            let hint = format!("Messages may have {most} bytes.");
            Err(SessionStop::Failed(failure.with_hint(hint)))
        }
        _ => Err(SessionStop::Failed(ServerFailure::fatal(
            "08P01",
            "invalid message length",
        ))),
    }
}
