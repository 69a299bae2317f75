//! The thread that waits for connections that are silent, and for new ones.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token, Waker};

use super::conversation::{After, ClientConversation};
use super::workers::Workers;
use crate::net::{AdmissionSlot, ClientIdentity, origin_of};
use crate::server_state::ServerState;

const LISTENER: Token = Token(0);
const WAKER: Token = Token(1);
const FIRST_CONNECTION: usize = 2;

/// How often limits of time are looked at.
const TICK: Duration = Duration::from_millis(50);
/// How long accepting pauses when the process has no more files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How long the end of all connections is waited for.
const FAREWELL: Duration = Duration::from_secs(10);

/// Where there is no place left, a connection may begin its session as long as this, as far as others of its origin go. Where there
/// is, it has the time that the options give it.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a connection without a place waits for what the workers do with others whose sessions have not begun: only a silent one
/// can be ended in its favour. Nobody is accepted meanwhile.
const ARRIVAL_PATIENCE: Duration = Duration::from_millis(500);

/// A connection that was accepted and has no place yet.
struct Arrival {
    stream: TcpStream,
    address: SocketAddr,
    since: Instant,
}

/// A connection that is silent, until when it may be.
struct Silent {
    conversation: Box<ClientConversation>,
    until: Option<Instant>,
}

/// The poller's half that others see.
pub(crate) struct Doorbell {
    waker: Waker,
    returned: Mutex<Sender<Box<ClientConversation>>>,
    is_stopping: AtomicBool,
}

impl Doorbell {
    fn give_back(&self, conversation: Box<ClientConversation>) {
        let returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner);
        // Without a poller the server has ended, and the connection with it.
        if returned.send(conversation).is_ok() {
            self.ring();
        }
    }

    pub(crate) fn ring(&self) {
        // It fails when a ring is pending already.
        let _ = self.waker.wake();
    }

    pub(crate) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Release);
        self.ring();
    }
}

pub(crate) struct Poller {
    poll: Poll,
    listener: TcpListener,
    shared: Arc<ServerState>,
    doorbell: Arc<Doorbell>,
    returned: Receiver<Box<ClientConversation>>,
    silent: HashMap<Token, Silent>,
    /// Connections that are not listened to until their time is up.
    refused: Vec<Silent>,
    /// The connection that is next to get a place.
    arrival: Option<Arrival>,
    next_token: usize,
    workers: Arc<Workers>,
}

impl Poller {
    pub(crate) fn new(listener: TcpListener, shared: ServerState) -> io::Result<Self> {
        let poll = Poll::new()?;
        listener.set_nonblocking(true)?;
        let mut source = SourceFd(&listener.as_raw_fd());
        poll.registry()
            .register(&mut source, LISTENER, Interest::READABLE)?;
        let (sender, returned) = channel();
        let doorbell = Arc::new(Doorbell {
            waker: Waker::new(poll.registry(), WAKER)?,
            returned: Mutex::new(sender),
            is_stopping: AtomicBool::new(false),
        });
        Ok(Self {
            poll,
            listener,
            shared: Arc::new(shared),
            doorbell,
            returned,
            silent: HashMap::new(),
            refused: Vec::new(),
            arrival: None,
            next_token: FIRST_CONNECTION,
            workers: Arc::new(Workers::new()),
        })
    }

    pub(crate) fn doorbell(&self) -> Arc<Doorbell> {
        Arc::clone(&self.doorbell)
    }

    /// Serves until it is told to stop.
    pub(crate) fn run(mut self) {
        let mut events = Events::with_capacity(256);
        while !self.doorbell.is_stopping.load(Ordering::Acquire) {
            match self.poll.poll(&mut events, self.pause()) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // Nothing can be served any more.
                Err(_) => break,
            }
            let tokens: Vec<Token> = events.iter().map(|event| event.token()).collect();
            for token in tokens {
                match token {
                    LISTENER => self.accept(),
                    WAKER => {}
                    token => self.wake(token),
                }
            }
            self.take_back();
            if self.arrival.is_some() {
                self.accept();
            }
            self.end_late();
        }
        self.say_farewell();
    }

    fn pause(&self) -> Option<Duration> {
        let has_limits = self.arrival.is_some()
            || !self.refused.is_empty()
            || self.silent.values().any(|silent| silent.until.is_some());
        has_limits.then_some(TICK)
    }

    /// Accepts all that wait, as far as there are places. The listener's event comes once: whoever leaves this loop with connections
    /// that wait comes back to it.
    fn accept(&mut self) {
        while let Some(arrival) = self.arrival.take().or_else(|| self.next_arrival()) {
            if let Some(place) = self.place_for(arrival.address) {
                self.begin(arrival, place);
            } else if arrival.since.elapsed() < ARRIVAL_PATIENCE && self.have_workers_newcomers() {
                self.arrival = Some(arrival);
                return;
            } else if let Some(place) = self.shared.registry.admit(self.sessions_max()) {
                self.begin(arrival, place);
            } else {
                self.turn_away(&arrival);
            }
        }
    }

    fn next_arrival(&mut self) -> Option<Arrival> {
        loop {
            match self.listener.accept() {
                Ok((stream, address)) => {
                    let since = Instant::now();
                    return Some(Arrival {
                        stream,
                        address,
                        since,
                    });
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                // No more files, most likely; connections that end make room.
                Err(_) => {
                    std::thread::sleep(ACCEPT_PAUSE);
                    let mut source = SourceFd(&self.listener.as_raw_fd());
                    let registry = self.poll.registry();
                    let _ = registry.reregister(&mut source, LISTENER, Interest::READABLE);
                    return None;
                }
            }
        }
    }

    fn begin(&self, arrival: Arrival, place: AdmissionSlot) {
        let shared = Arc::clone(&self.shared);
        match ClientConversation::new(arrival.stream, arrival.address, shared, place) {
            Ok(conversation) => self.serve(Box::new(conversation)),
            Err(_) => self.shared.registry.leave(place),
        }
    }

    fn turn_away(&self, arrival: &Arrival) {
        let client = ClientIdentity {
            address: Some(arrival.address),
            ..ClientIdentity::default()
        };
        let log = &self.shared.log;
        log.note_client("connection closed", "there is no place left", &client);
    }

    fn sessions_max(&self) -> usize {
        self.shared.options.connections_max
    }

    /// A place for the session of a connection that comes, if need be that of another one whose session has not begun.
    fn place_for(&mut self, address: SocketAddr) -> Option<AdmissionSlot> {
        let free = self.shared.registry.admit(self.sessions_max());
        if free == Some(AdmissionSlot::Session) {
            return free;
        }
        if let Some(beyond) = free {
            self.shared.registry.leave(beyond);
        }
        let may_come = self.end_newcomer(origin_of(address.ip()));
        let registry = &self.shared.registry;
        may_come.then(|| registry.admit(self.sessions_max()))?
    }

    /// Whether workers have connections whose session has not begun, none of which [`Self::end_newcomer`] finds.
    fn have_workers_newcomers(&self) -> bool {
        let silent = self.silent.values().chain(&self.refused);
        let silent = silent.filter(|silent| silent.conversation.newcomer().is_some());
        silent.count() < self.shared.registry.newcomers.total()
    }

    /// Ends a connection whose session has not begun, in favour of one from `origin`: one that has been refused already, or the
    /// oldest of the origin that has most of them, if it has more than the newcomer's, or has been there for too long.
    fn end_newcomer(&mut self, origin: IpAddr) -> bool {
        if let Some(refused) = self.refused.pop() {
            self.end_early(refused.conversation);
            return true;
        }
        let newcomers = &self.shared.registry.newcomers;
        let own = newcomers.count(origin);
        let candidates = self.silent.iter().filter_map(|(token, silent)| {
            let (from, began) = silent.conversation.newcomer()?;
            let is_old = began.elapsed() > PATIENCE;
            let count = newcomers.count(from);
            (is_old || count > own + 1).then_some((count, Reverse(began), *token))
        });
        let chosen = candidates.max_by_key(|(count, began, _)| (*count, *began));
        let Some(silent) = chosen.and_then(|(_, _, token)| self.silent.remove(&token)) else {
            return false;
        };
        let mut source = SourceFd(&silent.conversation.descriptor());
        let _ = self.poll.registry().deregister(&mut source);
        self.end_early(silent.conversation);
        true
    }

    fn end_early(&self, mut conversation: Box<ClientConversation>) {
        conversation.give_up_place();
        // It may have to be told that its encryption ends.
        self.workers.run(Box::new(move || drop(conversation)));
    }

    /// A silent connection has something to say.
    fn wake(&mut self, token: Token) {
        if let Some(silent) = self.silent.remove(&token) {
            let mut source = SourceFd(&silent.conversation.descriptor());
            let _ = self.poll.registry().deregister(&mut source);
            self.serve(silent.conversation);
        }
    }

    fn serve(&self, mut conversation: Box<ClientConversation>) {
        let doorbell = Arc::clone(&self.doorbell);
        self.workers.run(Box::new(move || {
            // A panic is an error of ours; it ends this connection and no other.
            let after = catch_unwind(AssertUnwindSafe(|| conversation.serve()));
            if let Ok(After::Silence) = after {
                doorbell.give_back(conversation);
            }
        }));
    }

    fn take_back(&mut self) {
        while let Ok(conversation) = self.returned.try_recv() {
            if conversation.is_refused() {
                let until = conversation.silent_until();
                self.refused.push(Silent {
                    conversation,
                    until,
                });
                continue;
            }
            let token = Token(self.next_token);
            // So many that none is still in use when they begin again.
            self.next_token = self.next_token.checked_add(1).unwrap_or(FIRST_CONNECTION);
            let mut source = SourceFd(&conversation.descriptor());
            let registered = self
                .poll
                .registry()
                .register(&mut source, token, Interest::READABLE);
            if registered.is_ok() {
                let until = conversation.silent_until();
                let silent = Silent {
                    conversation,
                    until,
                };
                self.silent.insert(token, silent);
            }
        }
    }

    /// Ends connections that have been silent for too long.
    fn end_late(&mut self) {
        let now = Instant::now();
        let is_late = |silent: &Silent| silent.until.is_some_and(|until| until <= now);
        let late = self.silent.iter().filter(|(_, silent)| is_late(silent));
        let tokens: Vec<Token> = late.map(|(token, _)| *token).collect();
        for token in tokens {
            if let Some(mut silent) = self.silent.remove(&token) {
                let mut source = SourceFd(&silent.conversation.descriptor());
                let _ = self.poll.registry().deregister(&mut source);
                self.workers
                    .run(Box::new(move || silent.conversation.end_for_silence()));
            }
        }
        for mut refused in self.refused.extract_if(.., |refused| is_late(refused)) {
            self.workers
                .run(Box::new(move || refused.conversation.end_for_silence()));
        }
    }

    /// Tells everybody that the server ends, and waits until all have been told.
    fn say_farewell(mut self) {
        self.shared.registry.cancel_all();
        self.take_back();
        self.refused.clear();
        for (_, mut silent) in self.silent.drain() {
            self.workers
                .run(Box::new(move || silent.conversation.end_with_server()));
        }
        let began = Instant::now();
        while self.shared.registry.connection_count() > 0 && began.elapsed() < FAREWELL {
            self.shared.registry.cancel_all();
            if let Ok(mut conversation) = self.returned.recv_timeout(TICK) {
                conversation.end_with_server();
            }
        }
    }
}
